//! A graph: an image, opened, whose pages hold lists.
//!
//! Opening reads the manifest and the page indexes, about nine bits per page; lists and columns stay on the device. An
//! open graph keeps a decoder per worker beside what its [`Image`] keeps.

use crate::engine::decode::Decoder;
use crate::engine::few::PinnedPages;
use crate::engine::guides::Slots;
use crate::engine::weights::{WeightColumn, worker_bytes};
use crate::import::{ImportOptions, Source, import_into_memory};
use crate::look::id_cache::{GraphIds, IdCache};
use outcore_format::{Index, ListFile, Manifest, Origin, Shape};
use outcore_image::{Error, Image, ImageFile, ImageOptions, Result, SweepStats};
use outcore_io::{Buffer, Progress, Reclaim, Reservation, Runtime, lock};
use outcore_table::{Column, ColumnKind, Id, Table};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The purpose of the memory of an open graph beside its cache, as the budget names it.
const INDEX_PURPOSE: &str = "the page indexes and decoders";

/// The direction of lists: those of out-neighbours or those of in-neighbours.
///
/// Where edges have no direction both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Lists of the vertices that edges lead to.
    Out,
    /// Lists of the vertices that edges come from.
    In,
}

impl Direction {
    /// The opposite direction.
    pub fn reversed(self) -> Self {
        match self {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        }
    }
}

/// The lists that are visited, with or without the weights beside them; a [`Direction`] alone is without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The direction of the lists.
    pub direction: Direction,
    /// Whether the weights of the edges are read too.
    pub weights: bool,
    /// Whether they may be complex: otherwise a graph with complex values has no weights. Loops over whole lists
    /// ([`Graph::lists`]) do not hand imaginary parts on.
    pub complex: bool,
}

impl Edges {
    /// The lists of a direction, perhaps with weights, which are not complex.
    pub fn new(direction: Direction, weights: bool) -> Self {
        Edges { direction, weights, complex: false }
    }
}

impl From<Direction> for Edges {
    fn from(direction: Direction) -> Self {
        Edges::new(direction, false)
    }
}

/// Number of small steps that read after which the pages around a missing one are read with it: there will be more.
const LONE_STEPS: u32 = 16;

/// A graph: an image, opened, and what it has as one, as one operation has it. [`Graph::for_operation`] makes one for
/// another operation.
#[derive(Clone)]
pub struct Graph {
    image: Arc<Image>,
    opened: Arc<Opened>,
}

/// Shared by the operations on an open graph.
struct Opened {
    image: Arc<Image>,
    /// Lists of out-neighbours and lists of in-neighbours, which are the same where edges have no direction; without
    /// their indexes once the graph is closed.
    lists: Mutex<[Arc<DirectionLists>; 2]>,
    decoders: Decoders,
    /// Locations of lists in pages that small steps visit again, if there is a table of them.
    guides: Mutex<Option<Arc<Slots>>>,
    /// All ids, from the first look into the graph until their memory is needed.
    id_cache: Arc<IdCache>,
    /// Number of small steps that had to read since the cache was last filled.
    reading_steps: AtomicU32,
    /// Whether single vertices were looked at, or an algorithm has filled the cache.
    has_looked: AtomicBool,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut graph = f.debug_struct("Graph");
        graph.field("path", &self.path()).field("vertices", &self.vertices()).field("edges", &self.edges());
        graph.field("directed", &self.is_directed()).finish_non_exhaustive()
    }
}

/// The lists of one direction: the pages that hold them, and how they are found.
pub(crate) struct DirectionLists {
    pub index: Index,
    pub file: usize,
    pub origin: Origin,
    pub pages: u64,
    /// The weights beside them, from when they are asked for until the memory is needed.
    pub weights: Mutex<Option<Arc<WeightColumn>>>,
    pub(crate) _reservation: Option<Reservation>,
}

impl DirectionLists {
    /// The lists of a closed graph, which are not read any more.
    fn closed(&self) -> Self {
        let DirectionLists { file, origin, .. } = *self;
        DirectionLists {
            index: Index::default(),
            file,
            origin,
            pages: 0,
            weights: Mutex::default(),
            _reservation: None,
        }
    }
}

/// Results keep the image open, to read ids from; it needs neither workers nor the cache for that.
impl Drop for Opened {
    fn drop(&mut self) {
        self.close();
    }
}

/// The decoders of an open graph, one per worker, while no worker has them.
struct Decoders {
    idle: Mutex<Vec<Decoding>>,
    each_bytes: u64,
    reservation: Reservation,
}

/// A decoder, and what a worker knows beside it.
#[derive(Default)]
pub(crate) struct Decoding {
    pub decoder: Decoder,
    /// The file and the page that the decoder holds.
    pub decoded: Option<(usize, u64)>,
    /// The pages of the small sweep that is under way.
    pub pinned: PinnedPages,
}

impl Decoding {
    fn new(entries: u64) -> Self {
        Decoding { decoder: Decoder::for_entries(entries), ..Decoding::default() }
    }
}

/// A decoder while a worker has it.
pub(crate) struct LentDecoder<'g> {
    graph: &'g Opened,
    pub decoding: Decoding,
}

impl Drop for LentDecoder<'_> {
    fn drop(&mut self) {
        let mut idle = lock(&self.graph.decoders.idle);
        // More are there only while operations run at the same time.
        if idle.len() < self.graph.image.runtime().threads() {
            idle.push(std::mem::take(&mut self.decoding));
        }
        drop(idle);
        if self.graph.image.is_closed() {
            self.graph.close();
        }
    }
}

impl Decoders {
    /// Gives the memory of those back that no worker has.
    fn clear(&self) {
        let idle = std::mem::take(&mut *lock(&self.idle));
        self.reservation.shrink(idle.len() as u64 * self.each_bytes);
    }
}

impl Graph {
    /// Opens an image.
    ///
    /// # Errors
    /// A path that is no image, a manifest or index that is damaged, files of the wrong size, or too little memory for
    /// the indexes and read buffers.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>, options: ImageOptions) -> Result<Self> {
        Graph::of_image(Image::open(runtime, path, options)?)
    }

    /// Imports the edges of a source into memory, under the runtime's limit: an image like any other, of the same
    /// bytes per edge, in files that have no names. [`Graph::save`] gives it one. All of it is given back with the
    /// graph and its results.
    ///
    /// The first of several edges that have the same ends stays, unless [`ImportOptions::duplicates`] says otherwise.
    /// The notes of the import go to the runtime, whose [`take_notes`](Runtime::take_notes) returns them;
    /// [`import_into_memory`] returns the whole report.
    ///
    /// # Errors
    /// As for [`import`](crate::import::import) and [`Graph::open`]; too little memory for the image.
    pub fn in_memory(runtime: &Runtime, source: Source, options: &ImportOptions) -> Result<Self> {
        let (graph, report) = import_into_memory(runtime, source, options)?;
        report.notes.into_iter().for_each(|note| runtime.note(note));
        Ok(graph)
    }

    /// Writes the graph to `path` as an image, a directory, which appears only when it is complete. An image of that
    /// name is replaced if `replace`; anything else of that name is an error.
    ///
    /// # Errors
    /// Something that has the name already; an image that was replaced, removed or written to since it was opened,
    /// whose kind is [`Missing`](outcore_image::ErrorKind::Missing); a full disk, a file that cannot be read, a request
    /// to stop. Nothing is left behind then, and an older image stays.
    pub fn save(&self, path: impl AsRef<Path>, replace: bool) -> Result<()> {
        self.image.save(path.as_ref(), replace)
    }

    /// The graph of an image without workers.
    pub(crate) fn of_image(image: Image) -> Result<Self> {
        let files: &[ImageFile] = match &image.manifest().in_lists {
            Some(_) => &[ImageFile::OUT_LISTS, ImageFile::IN_LISTS],
            None => &[ImageFile::OUT_LISTS],
        };
        let indexes = image.read_indexes(files, "reading the page indexes")?;
        let open = |(&file, index)| open_lists(&image, file, index);
        let mut lists = files.iter().zip(indexes).map(open).collect::<Result<Vec<_>>>()?.into_iter();
        let out = lists.next().expect("a graph has lists of out-neighbours");
        let in_ = lists.next().unwrap_or_else(|| Arc::clone(&out));
        let lists_pages = out.pages + if Arc::ptr_eq(&out, &in_) { 0 } else { in_.pages };
        let threads = image.runtime().threads();
        let entries = image.manifest().out_lists.entries;
        let each_bytes = Decoder::bytes(entries, image.manifest().vertices);
        let reservation = image.runtime().budget().reserve(INDEX_PURPOSE, threads as u64 * each_bytes)?;
        let idle = Mutex::new((0..threads).map(|_| Decoding::new(entries)).collect());
        let guides = Mutex::new(Slots::new(&image, lists_pages)?);
        image.add_workers(each_bytes + worker_bytes(image.manifest()))?;
        let (image, lists) = (Arc::new(image), Mutex::new([out, in_]));
        let id_cache = Arc::new(IdCache::default());
        let owner: Weak<dyn Reclaim> = Arc::downgrade(&id_cache) as Weak<IdCache>;
        image.runtime().budget().add_reclaim(owner);
        let (decoders, reading_steps) = (Decoders { idle, each_bytes, reservation }, AtomicU32::new(0));
        let (shared, has_looked) = (Arc::new(image.for_operation(None)), AtomicBool::new(false));
        let opened = Opened { image: shared, lists, decoders, guides, id_cache, reading_steps, has_looked };
        Ok(Graph { image, opened: Arc::new(opened) })
    }

    /// The graph for one operation, which is stopped on its own and shows its progress to `progress` alone. Operations
    /// share the page cache, the read buffers and all else that an open graph has; the last handle closes it.
    #[must_use]
    pub fn for_operation(&self, progress: Option<Arc<dyn Progress>>) -> Self {
        self.with_runtime(self.runtime().for_operation(progress))
    }

    /// The graph for work of a runtime that was made of its own, such as [`Runtime::stopped_by`].
    #[must_use]
    pub fn with_runtime(&self, runtime: Runtime) -> Self {
        Graph { image: Arc::new(self.image.with_runtime(runtime)), opened: Arc::clone(&self.opened) }
    }

    /// The image, which results hold on to.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Limits, workers and back end.
    pub fn runtime(&self) -> &Runtime {
        self.image.runtime()
    }

    /// The description of the image.
    pub fn manifest(&self) -> &Manifest {
        self.image.manifest()
    }

    /// The directory of the image.
    pub fn path(&self) -> &Path {
        self.image.path()
    }

    /// Bytes of all files of the image.
    pub fn image_bytes(&self) -> u64 {
        self.image.image_bytes()
    }

    /// Refuses a number that no vertex has.
    ///
    /// # Errors
    /// [`Error::NoVertex`].
    pub fn check_vertex(&self, vertex: u32) -> Result<()> {
        self.image.check_vertex(vertex)
    }

    /// Fails in a process that forked from the one that opened the graph.
    ///
    /// # Errors
    /// [`Error::OtherProcess`].
    pub fn check_process(&self) -> Result<()> {
        self.image.check_process()
    }

    /// Checks that an operation can reserve `bytes`, from the page cache if no other memory is free.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers and the largest holders.
    pub fn make_room(&self, purpose: &str, bytes: u64) -> Result<()> {
        self.image.make_room(purpose, bytes)
    }

    /// Reserves memory for an operation, from the page cache if none is free.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers and the largest holders.
    pub fn reserve(&self, purpose: &str, bytes: u64) -> Result<Reservation> {
        self.image.reserve(purpose, bytes)
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.image.is_closed()
    }

    /// A table of these columns under the ids of the graph's vertices.
    ///
    /// # Panics
    /// If a column has not one value per vertex.
    pub fn table(&self, columns: Vec<(String, Column)>) -> Table {
        Table::new(Arc::clone(&self.image), columns)
    }

    /// Refuses a file of results that cannot be written, before the work is done whose results it is for.
    ///
    /// # Errors
    /// Those of [`Table::write`]; an older file at the path stays untouched.
    pub fn check_output(&self, output: impl AsRef<Path>, columns: &[ColumnKind]) -> Result<()> {
        outcore_table::check_output(self.image(), output.as_ref(), columns)
    }

    /// The memory that a result of such columns takes while it is written to this file: its values, ids where columns
    /// name vertices, and what its format takes for so many rows.
    ///
    /// # Errors
    /// An ending that is not that of a format.
    pub fn output_bytes(&self, output: &Path, columns: &[ColumnKind]) -> Result<u64> {
        outcore_table::output_bytes(self.image(), output, columns)
    }

    /// All ids in memory, for many look-ups: 8 bytes per vertex and the text of strings, and 4 for their order unless
    /// vertices are numbered in it. Nothing of that is given back while the result or a copy of it lives.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged, or no memory.
    pub fn ids(&self) -> Result<GraphIds> {
        let ids = self.id_cache().read(self.image())?;
        Ok(GraphIds::new(Arc::clone(&self.image), ids))
    }

    /// The vertices of ids that are written as text. One pass over the id column for all, unless ids are a range.
    ///
    /// # Errors
    /// [`Error::NoId`] for one that no vertex has; a column that cannot be read or is damaged.
    pub fn vertices_of(&self, ids: &[impl AsRef<str>]) -> Result<Vec<u32>> {
        outcore_table::vertices_of(self.image(), ids)
    }

    /// The id of a vertex, for messages: a pass over the id column. For many of them, [`Graph::ids`].
    ///
    /// # Errors
    /// A vertex that is not there, or a column that cannot be read or is damaged.
    pub fn id(&self, vertex: u32) -> Result<Id<String>> {
        Ok(self.ids_of(&[vertex])?.remove(0))
    }

    /// The ids of some vertices, in the order in which they are given. A pass over the id column at most, and some 64
    /// bytes for each of them.
    ///
    /// # Errors
    /// A vertex that is not there, a column that cannot be read or is damaged, or no memory.
    pub fn ids_of(&self, vertices: &[u32]) -> Result<Vec<Id<String>>> {
        outcore_table::ids_of(self.image(), vertices)
    }

    /// All vertices in the order of their ids, or nothing if they are numbered in that order. Takes 4 bytes per vertex;
    /// while it is made, [`Graph::by_id_bytes`].
    ///
    /// # Errors
    /// A column that cannot be read or is damaged, or no memory.
    pub fn by_id(&self) -> Result<Option<Buffer<u32>>> {
        outcore_table::by_id(self.image())
    }

    /// The memory that [`Graph::by_id`] takes while it works.
    pub fn by_id_bytes(&self) -> u64 {
        outcore_table::by_id_bytes(self.image())
    }

    /// Counts a small step that has to read; returns whether there were at least `LONE_STEPS` before.
    pub(crate) fn reads_again(&self) -> bool {
        self.opened.reading_steps.fetch_add(1, Ordering::Relaxed) >= LONE_STEPS
    }

    /// The ids, from the first look into the graph until their memory is needed.
    pub(crate) fn id_cache(&self) -> &IdCache {
        &self.opened.id_cache
    }

    /// Locations of lists in pages that small steps visit again, if there is a table of them.
    pub(crate) fn guides(&self) -> Option<Arc<Slots>> {
        lock(&self.opened.guides).clone()
    }

    /// A decoder for a worker, whose memory was set aside with the worker's.
    pub(crate) fn decoder(&self) -> LentDecoder<'_> {
        let idle = lock(&self.opened.decoders.idle).pop();
        let decoding = idle.unwrap_or_else(|| Decoding::new(self.manifest().out_lists.entries));
        LentDecoder { graph: &self.opened, decoding }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u64 {
        self.manifest().vertices
    }

    /// The number of edges; one without direction counts once.
    pub fn edges(&self) -> u64 {
        self.manifest().edges
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.manifest().directed
    }

    /// The directions whose lists together hold every edge of a vertex.
    pub fn directions(&self) -> &'static [Direction] {
        if self.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
    }

    /// Number of pages of the lists of one direction.
    pub fn pages(&self, direction: Direction) -> u64 {
        self.list_facts(direction).pages
    }

    /// The vertices whose lists begin in some pages, and how many pages these lists lie in. All pages together have all
    /// vertices.
    pub fn begun_in(&self, direction: Direction, pages: Range<u64>) -> (Range<u32>, u64) {
        let (lists, end) = (self.list_pages(direction), 2 * self.vertices());
        let last = pages.end.min(lists.pages);
        let pages = pages.start.min(last)..last;
        let key = |page| if page < lists.pages { lists.index.get(page).min(end) } else { end };
        let begun = |page| if page == 0 { 0 } else { key(page).div_ceil(2) as u32 };
        let (vertices, next) = (begun(pages.start)..begun(pages.end), key(pages.end));
        // The last list goes on in all pages that begin with it.
        let goes_on = !vertices.is_empty() && next % 2 == 1;
        let more =
            if goes_on { (pages.end..lists.pages).take_while(|&page| key(page) == next).count() as u64 } else { 0 };
        (vertices, pages.end - pages.start + more)
    }

    /// The vertices whose lists span pages, in rising order: at most one per page.
    pub fn lists_over_pages(&self, direction: Direction) -> Vec<u32> {
        let lists = self.list_pages(direction);
        let continued = lists.index.iter_from(0).filter(|key| key % 2 == 1).map(|key| (key / 2) as u32);
        let mut vertices: Vec<u32> = continued.collect();
        vertices.dedup();
        vertices
    }

    /// The file that holds the lists of a direction.
    pub(crate) fn list_file(&self, direction: Direction) -> ImageFile {
        if self.has_in_files(direction) { ImageFile::IN_LISTS } else { ImageFile::OUT_LISTS }
    }

    /// Whether lists of in-neighbours are asked for, and the graph has such beside those of out-neighbours.
    pub(crate) fn has_in_files(&self, direction: Direction) -> bool {
        direction == Direction::In && self.is_directed()
    }

    /// Number of pages of all lists that hold a vertex's edges.
    pub fn all_pages(&self) -> u64 {
        self.directions().iter().map(|&direction| self.pages(direction)).sum()
    }

    /// The memory that the page indexes take, in bytes; none once the graph is closed.
    pub fn index_bytes(&self) -> u64 {
        self.directions().iter().map(|&direction| self.list_pages(direction).index.memory_bytes()).sum()
    }

    /// The lists of a direction. Their index and weights stay in memory as long as the result lives.
    pub(crate) fn list_pages(&self, direction: Direction) -> Arc<DirectionLists> {
        let [out, in_] = &*lock(&self.opened.lists);
        Arc::clone(if direction == Direction::Out { out } else { in_ })
    }

    /// The lists of a direction, to be read: those of a closed graph would look as if there were none.
    pub(crate) fn open_lists(&self, direction: Direction) -> Result<Arc<DirectionLists>> {
        let lists = self.list_pages(direction);
        // The image is closed before the lists are.
        if self.is_closed() { Err(Error::Closed { path: self.path().to_owned() }) } else { Ok(lists) }
    }

    /// Facts of the manifest about the lists of a direction.
    pub(crate) fn list_facts(&self, direction: Direction) -> &ListFile {
        match (direction, &self.manifest().in_lists) {
            (Direction::In, Some(lists)) => lists,
            _ => &self.manifest().out_lists,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { vertices: self.manifest().vertices, parallel: self.manifest().parallel_edges }
    }

    /// The longest gap between wanted pages of lists that is read over, and what measuring it read, if that was done
    /// now.
    pub(crate) fn merge_gap(&self, direction: Direction) -> Result<(u32, SweepStats)> {
        self.image.merge_gap(self.list_pages(direction).file)
    }

    /// Gives the free memory under the limit to the page cache, or an equal share if other graphs of the runtime have
    /// all of it in theirs.
    ///
    /// Algorithms call this once their state is allocated. What they allocate later, the cache gives back.
    ///
    /// # Errors
    /// The machine has less memory than the limit says; a request to stop while pages move to a larger cache.
    pub fn fill_cache(&self) -> Result<()> {
        self.opened.reading_steps.store(0, Ordering::Relaxed);
        self.opened.has_looked.store(true, Ordering::Relaxed);
        let manifest = self.manifest();
        let columns = manifest.values.iter().skip(manifest.first_weight_column()).take(manifest.weight_columns());
        let weights: u64 = columns.map(|column| column.out_pages + column.in_pages).sum();
        self.image.fill_cache(self.all_pages() + weights)
    }

    /// Fills the cache before the first look at a single vertex, as algorithms do: others will follow.
    ///
    /// # Errors
    /// As with [`Graph::fill_cache`].
    pub(crate) fn begin_looks(&self) -> Result<()> {
        if self.opened.has_looked.load(Ordering::Relaxed) { Ok(()) } else { self.fill_cache() }
    }

    /// Gives back the page cache, the read buffers, the indexes and what is known of weights, as soon as no operation
    /// uses them. Tables of results stay usable; they read ids with buffers of their own. Nothing else reads the graph
    /// from then on.
    pub fn close(&self) {
        self.opened.close();
    }
}

impl Opened {
    fn close(&self) {
        self.image.close();
        if self.image.check_process().is_ok() {
            for lists in &mut *lock(&self.lists) {
                *lists = Arc::new(lists.closed());
            }
            self.decoders.clear();
            *lock(&self.guides) = None;
            self.id_cache.forget();
        }
    }
}

fn open_lists(image: &Image, file: ImageFile, index: Index) -> Result<Arc<DirectionLists>> {
    let origin = file.origin(image.manifest().image_id);
    let vertices = image.manifest().vertices;
    let last = index.len().checked_sub(1).map_or(0, |page| index.get(page) / 2);
    if last >= vertices.max(1) || (!index.is_empty() && index.get(0) != 0) {
        let (expected, found) = (format!("pages from vertex 0 to below {vertices}"), format!("up to {last}"));
        return Err(Error::damaged(image.index_path(file), 0, expected, found));
    }
    let reservation = image.runtime().budget().reserve(INDEX_PURPOSE, index.memory_bytes())?;
    let (place, pages) = (image.file(file).unwrap_or_default(), index.len());
    let weights = Mutex::default();
    let lists =
        Arc::new(DirectionLists { index, file: place, origin, pages, weights, _reservation: Some(reservation) });
    let owner: Weak<dyn Reclaim> = Arc::downgrade(&lists) as Weak<DirectionLists>;
    image.runtime().budget().add_reclaim(owner);
    Ok(lists)
}
