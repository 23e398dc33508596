//! A graph: an image, opened.
//!
//! Opening reads the manifest and the page indexes, about nine bits per page; lists and columns stay on the device. A
//! graph keeps one set of read buffers per worker, and gives what is left of the memory limit to its page cache, from
//! which it goes back as soon as an algorithm needs it for its state.

use crate::decode::{DECODER_BYTES, Decoder};
use crate::error::{Error, Result};
use crate::image::{ImageFile, ImageFiles};
use crate::stats::SweepStats;
use crate::weights::WeightColumn;
use outcore_format::{Index, ListFile, Manifest, Origin, PAGE_BYTES, Shape};
use outcore_io::plan::{MEASURED_FROM_PAGES, USUAL_GAP_PAGES, measure_gap};
use outcore_io::{DataFile, PageCache, Reader, Reservation, Runtime, lock};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The largest ring of read buffers of a worker.
const MAX_RING_BYTES: u64 = 4 << 20;
/// The smallest: room for one unit of pages.
const MIN_RING_BYTES: u64 = outcore_io::plan::UNIT_PAGES * PAGE_BYTES as u64;
/// The rings of all workers take this share of the memory.
const RING_SHARE: u64 = 8;
/// What an open graph holds besides, as the ledger calls it.
const INDEX_PURPOSE: &str = "the page indexes and decoders";

/// Which lists: those of out-neighbours or those of in-neighbours.
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
    /// The other one.
    pub fn reversed(self) -> Self {
        match self {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        }
    }
}

/// Which lists are visited, and whether with the weights beside them; a [`Direction`] alone is without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// Which lists.
    pub direction: Direction,
    /// Whether the weights of the edges are read too.
    pub weights: bool,
}

impl From<Direction> for Edges {
    fn from(direction: Direction) -> Self {
        Edges { direction, weights: false }
    }
}

/// How a graph is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphOptions {
    /// The most memory that the page cache takes; `None` takes all that the limit leaves.
    pub cache_bytes: Option<u64>,
}

/// An image, opened.
pub struct Graph {
    runtime: Arc<Runtime>,
    path: PathBuf,
    image: ImageFiles,
    /// Those of out-neighbours and those of in-neighbours, which are the same where edges have no direction; without
    /// their indexes once the graph is closed.
    lists: Mutex<[Arc<Lists>; 2]>,
    options: GraphOptions,
    workers: Mutex<Vec<Worker>>,
    cache: Mutex<Option<Arc<PageCache>>>,
    closed: AtomicBool,
    /// What the ring of a worker takes.
    ring_bytes: u64,
    /// The longest gap between pages that is read over, once it was measured.
    merge_gap: OnceLock<u32>,
    /// The workers' decoders.
    decoders: Reservation,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut graph = f.debug_struct("Graph");
        graph.field("path", &self.path).field("vertices", &self.vertices()).field("edges", &self.edges());
        graph.field("directed", &self.is_directed()).finish_non_exhaustive()
    }
}

/// The pages of one direction.
pub(crate) struct Lists {
    pub index: Index,
    pub file: usize,
    pub origin: Origin,
    pub pages: u64,
    /// The weights beside them, from when they are asked for until the memory is needed.
    pub weights: Mutex<Option<Arc<WeightColumn>>>,
    /// The index.
    _reservation: Option<Reservation>,
}

impl Lists {
    /// The same lists of a closed graph, which nobody reads.
    fn closed(&self) -> Self {
        let Lists { file, origin, .. } = *self;
        Lists { index: Index::default(), file, origin, pages: 0, weights: Mutex::default(), _reservation: None }
    }
}

/// What one worker reads and decodes with.
pub(crate) struct Worker {
    pub reader: Reader,
    pub decoder: Decoder,
    /// The file and the page that the decoder holds.
    pub decoded: Option<(usize, u64)>,
}

/// The workers of a graph while an operation has them. They go back when it ends, be it by an error or by a panic in a
/// function of the caller's.
struct LentWorkers<'g> {
    graph: &'g Graph,
    slots: Vec<Mutex<Option<Worker>>>,
    /// An operation that failed: all give up.
    stop: AtomicBool,
}

impl<'g> LentWorkers<'g> {
    fn take(graph: &'g Graph) -> Result<Self> {
        let workers = std::mem::take(&mut *lock(&graph.workers));
        if workers.is_empty() {
            return Err(Error::Busy);
        }
        let slots = workers.into_iter().map(|worker| Mutex::new(Some(worker))).collect();
        Ok(LentWorkers { graph, slots, stop: AtomicBool::new(false) })
    }

    fn slot(&self, number: usize) -> Option<MutexGuard<'_, Option<Worker>>> {
        self.slots.get(number).map(|slot| lock(slot))
    }

    fn worker(&self, number: usize) -> Option<LentWorker<'_, 'g>> {
        let worker = self.slot(number)?.take()?;
        Some(LentWorker { lent: self, number, worker: Some(worker) })
    }
}

impl Drop for LentWorkers<'_> {
    fn drop(&mut self) {
        let workers = (0..self.slots.len()).filter_map(|number| self.slot(number)?.take()).collect();
        *lock(&self.graph.workers) = workers;
        if self.graph.is_closed() {
            self.graph.close();
        }
    }
}

/// One of them.
struct LentWorker<'l, 'g> {
    lent: &'l LentWorkers<'g>,
    number: usize,
    /// There until it goes back.
    worker: Option<Worker>,
}

impl LentWorker<'_, '_> {
    fn get(&mut self) -> &mut Worker {
        self.worker.as_mut().expect("a worker goes back only when this is dropped")
    }
}

impl Drop for LentWorker<'_, '_> {
    fn drop(&mut self) {
        let Some(mut worker) = self.worker.take() else { return };
        if std::thread::panicking() {
            self.lent.stop.store(true, Ordering::Relaxed);
        }
        if self.lent.stop.load(Ordering::Relaxed) {
            worker.reader.clear();
        }
        if let Some(mut slot) = self.lent.slot(self.number) {
            *slot = Some(worker);
        }
    }
}

impl Worker {
    fn new(runtime: &Runtime, image: &ImageFiles, ring_bytes: u64) -> Result<Self> {
        let open: Vec<_> = image.pages().iter().map(|(_, file)| Arc::clone(file)).collect();
        let reader = Reader::new(runtime, &open, ring_bytes as usize)?;
        Ok(Worker { reader, decoder: Decoder::default(), decoded: None })
    }

    /// What was read since the last call.
    pub fn take_stats(&mut self) -> SweepStats {
        let stats = self.reader.take_stats();
        SweepStats {
            seconds_io_wait: stats.wait_ns as f64 / 1e9,
            requests: stats.requests,
            bytes_read: stats.read_bytes,
            pages_read: stats.read_bytes / PAGE_BYTES as u64,
            ..SweepStats::default()
        }
    }
}

impl Graph {
    /// Opens an image.
    ///
    /// # Errors
    /// A path that is no image, a manifest or index that is damaged, files of the wrong size, or too little memory for
    /// the indexes and read buffers.
    pub fn open(runtime: &Arc<Runtime>, path: impl AsRef<Path>, options: GraphOptions) -> Result<Self> {
        let path = path.as_ref();
        let image = ImageFiles::open(runtime, path)?;
        let manifest = image.manifest();
        let runtime = &Arc::new(runtime.in_name_of(&path.display().to_string()));
        let budget = runtime.budget();
        // An index is read whole, then decoded; neither happens before there is memory for both.
        let in_pages = manifest.in_lists.as_ref().map_or(0, |lists| lists.pages);
        let reading_bytes = image.index_reading_bytes(ImageFile::OutLists, manifest.out_lists.pages)
            + image.index_reading_bytes(ImageFile::InLists, in_pages);
        let reading = budget.reserve("reading the page indexes", reading_bytes)?;
        let mut out = open_lists(&image, ImageFile::OutLists, &manifest.out_lists)?;
        let mut in_ = match &manifest.in_lists {
            Some(lists) => Some(open_lists(&image, ImageFile::InLists, lists)?),
            None => None,
        };
        drop(reading);
        for lists in [Some(&mut out), in_.as_mut()].into_iter().flatten() {
            lists._reservation = Some(budget.reserve(INDEX_PURPOSE, lists.index.memory_bytes())?);
        }
        let threads = runtime.threads() as u64;
        let decoders = budget.reserve(INDEX_PURPOSE, threads * DECODER_BYTES)?;
        let out = Arc::new(out);
        let lists = [Arc::clone(&out), in_.map_or(out, Arc::new)];
        let share = budget.available_bytes() / RING_SHARE / threads;
        let ring = (share / MIN_RING_BYTES * MIN_RING_BYTES).clamp(MIN_RING_BYTES, MAX_RING_BYTES);
        let worker = |_| Worker::new(runtime, &image, ring);
        let workers = (0..threads).map(worker).collect::<Result<Vec<_>>>()?;
        Ok(Graph {
            runtime: Arc::clone(runtime),
            path: path.to_owned(),
            image,
            lists: Mutex::new(lists),
            options,
            workers: Mutex::new(workers),
            cache: Mutex::new(None),
            closed: AtomicBool::new(false),
            ring_bytes: ring,
            merge_gap: OnceLock::new(),
            decoders,
        })
    }

    /// What the image is.
    pub fn manifest(&self) -> &Manifest {
        self.image.manifest()
    }

    /// Where the image lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path for a temporary file: beside the image, unless the user said where.
    pub(crate) fn temporary_path(&self, what: &str) -> PathBuf {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".outcore-{}-{number}.{what}", std::process::id());
        match self.runtime.temporary() {
            Some(directory) => directory.join(name),
            None => self.path.with_file_name(name),
        }
    }

    /// Memory limit, workers and back end.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
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

    /// How many pages the lists of one direction have.
    pub fn pages(&self, direction: Direction) -> u64 {
        self.list_facts(direction).pages
    }

    /// The vertices whose lists begin in some pages, and how many pages these lists lie in. All pages together have all
    /// vertices.
    pub fn begun_in(&self, direction: Direction, pages: Range<u64>) -> (Range<u32>, u64) {
        let (lists, end) = (self.list_pages(direction), 2 * self.vertices());
        let key = |page| if page < lists.pages { lists.index.get(page).min(end) } else { end };
        let begun = |page| if page == 0 { 0 } else { key(page).div_ceil(2) as u32 };
        let (vertices, next) = (begun(pages.start)..begun(pages.end), key(pages.end));
        // The last list goes on in all pages that begin with it.
        let goes_on = !vertices.is_empty() && next % 2 == 1;
        let more =
            if goes_on { (pages.end..lists.pages).take_while(|&page| key(page) == next).count() as u64 } else { 0 };
        (vertices, pages.end - pages.start + more)
    }

    /// How many pages all lists have that hold a vertex's edges.
    pub fn all_pages(&self) -> u64 {
        self.directions().iter().map(|&direction| self.pages(direction)).sum()
    }

    /// The size of everything in the image, in bytes.
    pub fn image_bytes(&self) -> u64 {
        self.image.bytes()
    }

    /// The image's open files.
    pub(crate) fn image(&self) -> &ImageFiles {
        &self.image
    }

    /// The memory that the page indexes take, in bytes; none once the graph is closed.
    pub fn index_bytes(&self) -> u64 {
        self.directions().iter().map(|&direction| self.list_pages(direction).index.memory_bytes()).sum()
    }

    /// The lists of a direction. Whoever holds them keeps their index and weights in memory.
    pub(crate) fn list_pages(&self, direction: Direction) -> Arc<Lists> {
        let [out, in_] = &*lock(&self.lists);
        Arc::clone(if direction == Direction::Out { out } else { in_ })
    }

    /// What the manifest says of the lists of a direction.
    pub(crate) fn list_facts(&self, direction: Direction) -> &ListFile {
        match (direction, &self.manifest().in_lists) {
            (Direction::In, Some(lists)) => lists,
            _ => &self.manifest().out_lists,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { vertices: self.manifest().vertices, parallel: self.manifest().parallel_edges }
    }

    /// The place of a file among the readers' files.
    pub(crate) fn file(&self, file: ImageFile) -> Option<usize> {
        self.image.pages().iter().position(|(name, _)| *name == file)
    }

    /// The open file at a place among the readers' files.
    pub(crate) fn data_file(&self, place: usize) -> &Arc<DataFile> {
        &self.image.pages()[place].1
    }

    /// A worker beside those of the graph, with a ring of its own.
    pub(crate) fn new_worker(&self, ring_bytes: u64) -> Result<Worker> {
        Worker::new(&self.runtime, &self.image, ring_bytes)
    }

    /// Runs `work` on at most `most` workers with their buffers, and adds up what they read.
    ///
    /// # Errors
    /// Another operation that has the workers ([`Error::Busy`]), or the error of the first worker that failed; then the
    /// reads of all are given up.
    pub(crate) fn with_workers<T: Send>(
        &self,
        most: usize,
        work: impl Fn(&mut Worker, &AtomicBool) -> Result<T> + Sync,
    ) -> Result<(Vec<T>, SweepStats)> {
        self.check_process()?;
        if self.is_closed() {
            return Err(Error::Closed { path: self.path.clone() });
        }
        let lent = LentWorkers::take(self)?;
        let outcome = self.runtime.run_on(most, |number| {
            let Some(mut worker) = lent.worker(number) else { return Err(Error::Busy) };
            let result = work(worker.get(), &lent.stop);
            if result.is_err() {
                lent.stop.store(true, Ordering::Relaxed);
            }
            let stats = worker.get().take_stats();
            result.map(|value| (value, stats))
        });
        drop(lent);
        let mut total = SweepStats::default();
        let mut values = Vec::new();
        for (value, stats) in outcome? {
            values.push(value);
            total.add(&stats);
        }
        Ok((values, total))
    }

    /// The longest gap between wanted pages that is read over: measured on the image's device when it is first asked
    /// for, if the image is large enough for that to matter. And what the measurement read.
    pub(crate) fn merge_gap(&self, direction: Direction) -> Result<(u32, SweepStats)> {
        let lists = self.list_pages(direction);
        if let Some(&gap) = self.merge_gap.get() {
            return Ok((gap, SweepStats::default()));
        }
        if lists.pages < MEASURED_FROM_PAGES {
            return Ok((USUAL_GAP_PAGES, SweepStats::default()));
        }
        let measure =
            |worker: &mut Worker, _: &AtomicBool| Ok(measure_gap(&mut worker.reader, lists.file, lists.pages)?);
        let (measured, stats) = self.with_workers(1, measure)?;
        Ok((*self.merge_gap.get_or_init(|| measured[0]), stats))
    }

    /// The page cache, if there is one.
    pub(crate) fn cache(&self) -> Option<Arc<PageCache>> {
        lock(&self.cache).clone()
    }

    /// The memory that the page cache takes now, and gives up when it is needed.
    pub fn cache_bytes(&self) -> u64 {
        self.cache().map_or(0, |cache| cache.memory_bytes())
    }

    /// Makes sure that so much memory can be reserved; page caches give up what is missing when it is. If that is not
    /// enough, the graph gives back at once what it knows of weights that no operation reads.
    ///
    /// Algorithms call this with all that their state needs, before they allocate any of it.
    ///
    /// # Errors
    /// [`outcore_io::Error::Memory`] with the numbers, and who holds the rest.
    pub fn make_room(&self, purpose: &str, bytes: u64) -> Result<()> {
        // Where weights lie is learnt again when they are next asked for.
        if self.runtime.budget().available_bytes() < bytes {
            self.directions().iter().for_each(|&direction| self.list_pages(direction).forget_weights());
        }
        self.check_room(purpose, bytes)
    }

    /// An error unless so much memory can be reserved.
    pub(crate) fn check_room(&self, purpose: &str, bytes: u64) -> Result<()> {
        let advise = |error| match error {
            outcore_io::Error::Memory { needed_bytes, available_bytes, purpose, limit_bytes, holders, .. } => {
                let advised_bytes = limit_bytes.saturating_add(self.more_bytes(needed_bytes - available_bytes));
                outcore_io::Error::Memory {
                    purpose,
                    needed_bytes,
                    available_bytes,
                    limit_bytes,
                    advised_bytes,
                    holders,
                }
            }
            other => other,
        };
        Ok(self.runtime.budget().require(purpose, bytes).map_err(advise)?)
    }

    /// By how much the limit must rise for so much more to be available: under a larger limit a graph has larger read
    /// buffers too.
    pub fn more_bytes(&self, missing_bytes: u64) -> u64 {
        let threads = self.runtime.threads() as u64;
        let most = threads * (MAX_RING_BYTES - self.ring_bytes);
        let grown = missing_bytes.saturating_add(threads * MIN_RING_BYTES).div_ceil(RING_SHARE - 1);
        missing_bytes.saturating_add(most.min(grown.saturating_add(threads * MIN_RING_BYTES)))
    }

    /// Gives what is left under the limit to the page cache; if other graphs of the runtime have all of it in theirs,
    /// an equal share.
    ///
    /// Algorithms call this once their state is allocated. What they allocate later, the cache gives back.
    ///
    /// # Errors
    /// The machine has less memory than the limit says.
    pub fn fill_cache(&self) -> Result<()> {
        self.check_process()?;
        let mut slot = lock(&self.cache);
        if self.is_closed() {
            return Ok(());
        }
        let weights = self.manifest().weights.as_ref().map_or(0, |weights| weights.out_pages + weights.in_pages);
        let pages = self.all_pages() + weights;
        // Room for all lists and weights and some more, for files do not fill sets evenly.
        let wanted = (pages + pages / 4 + 64) * (PAGE_BYTES as u64 + 64);
        let wanted = wanted.min(self.options.cache_bytes.unwrap_or(u64::MAX));
        let budget = self.runtime.budget();
        let room = budget.room_for_cache(wanted, slot.as_ref());
        if let Some(cache) = &*slot {
            cache.grow(room);
            let (has, free) = (cache.memory_bytes(), budget.free_bytes());
            // A cache that was made when there was little memory makes place for one that is twice as large.
            if has < cache.most_bytes() || wanted < 2 * has || free < has {
                return Ok(());
            }
            *slot = None;
        }
        *slot = PageCache::new(budget, wanted.min(budget.free_bytes()))?;
        Ok(())
    }

    /// Gives back the page cache, the read buffers, the indexes and what is known of weights, as soon as no operation
    /// uses them. Tables of results stay usable; they read ids with buffers of their own. Nothing else reads the graph
    /// from then on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        if self.check_process().is_ok() {
            *lock(&self.cache) = None;
            for lists in &mut *lock(&self.lists) {
                *lists = Arc::new(lists.closed());
            }
            let idle = std::mem::take(&mut *lock(&self.workers));
            self.decoders.shrink(idle.len() as u64 * DECODER_BYTES);
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// An error in another process than the one that opened the graph: locks, threads and rings of a fork are those of
    /// nobody.
    fn check_process(&self) -> Result<()> {
        Ok(self.runtime.budget().check_process()?)
    }
}

fn open_lists(image: &ImageFiles, file: ImageFile, lists: &ListFile) -> Result<Lists> {
    let (manifest, origin) = (image.manifest(), file.origin(image.manifest().image_id));
    let index = image.read_index(file, lists.pages)?;
    let path = image.index_path(file);
    let corrupt =
        |expected: String, found: String| Error::Corrupt { path: path.clone(), offset_bytes: 0, expected, found };
    let last = index.len().checked_sub(1).map_or(0, |page| index.get(page) / 2);
    if last >= manifest.vertices.max(1) || (!index.is_empty() && index.get(0) != 0) {
        return Err(corrupt(format!("pages from vertex 0 to below {}", manifest.vertices), format!("up to {last}")));
    }
    let place = image.pages().iter().position(|(name, _)| *name == file).unwrap_or_default();
    Ok(Lists { index, file: place, origin, pages: lists.pages, weights: Mutex::default(), _reservation: None })
}
