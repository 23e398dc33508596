//! Weights beside lists: where those of a page of lists lie, and how they reach its visitor.
//!
//! Weights are the first column of values, and the second one too if they are complex: then it holds imaginary parts.
//! Value `i` of a column belongs to entry `i` of the lists. How many entries
//! lie before each page of lists, and before each page of values, two indexes say, of some 13 bits per page: so the
//! values of a page of lists are read at the same time as the page. A sweep takes pages in batches whose weights fit a
//! small buffer: first the weights of the batch are decoded, then its lists are visited beside them.

use crate::engine::graph::{Direction, DirectionLists, Edges, Graph};
use crate::engine::sweep::push_page;
use outcore_format::list::MAX_NEIGHBOURS;
use outcore_format::{Attribute, Index, Lists, Manifest, Origin, ValueDomain, WeightKind, values};
use outcore_image::{Arrived, Error, ImageFile, ImageOptions, Result, UnitPages};
use outcore_io::plan::UNIT_PAGES;
use outcore_io::{Reclaim, Reservation, lock};
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

/// Number of weights that a worker has room for: those of the fullest page, or of some dozens of usual pages.
pub(crate) const BATCH_WEIGHTS: usize = 1 << 16;
const _: () = assert!(MAX_NEIGHBOURS <= BATCH_WEIGHTS);
/// Memory of a worker for one column of weights, in bytes: a batch, and a page that is being decoded.
pub(crate) const WORKER_BYTES: u64 = 8 * (BATCH_WEIGHTS + values::MAX_VALUES + 16) as u64;

/// The name of weights that are used where none is given, as in NetworkX.
const USUAL_NAME: &str = "weight";

/// The weights of edges that lie side by side; none where they were not asked for.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    bits: &'a [u64],
    /// The imaginary parts, if weights are complex, and otherwise none.
    imaginary: &'a [u64],
    kind: WeightKind,
}

/// The weight of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Weight {
    /// There is none, or it was not asked for.
    None,
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
}

impl<'a> Weights<'a> {
    pub(crate) const NONE: Weights<'static> = Weights { bits: &[], imaginary: &[], kind: WeightKind::I64 };

    pub(crate) fn new(bits: &'a [u64], kind: WeightKind) -> Self {
        Weights { bits, imaginary: &[], kind }
    }

    /// Whether weights were asked for and there are edges.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The weights in 64 bits each: integers in two's complement, or real numbers; of complex weights the real parts.
    pub fn bits(&self) -> &'a [u64] {
        self.bits
    }

    /// The imaginary parts of complex weights, real numbers in 64 bits each; none where weights are not complex.
    pub fn imaginary_bits(&self) -> &'a [u64] {
        self.imaginary
    }

    /// Their kind.
    pub fn kind(&self) -> WeightKind {
        self.kind
    }

    /// Weight `i` as a real number. Integers beyond 2^53 are rounded.
    ///
    /// # Panics
    /// If there is no weight `i`.
    #[inline]
    pub fn real(&self, i: usize) -> f64 {
        self.kind.real(self.bits[i])
    }

    /// Weight `i`, if there are weights.
    ///
    /// # Panics
    /// If there are weights, but none of index `i`.
    pub fn at(&self, i: usize) -> Weight {
        match (self.bits, self.imaginary, self.kind) {
            ([], ..) => Weight::None,
            (bits, [], WeightKind::I64) => Weight::Integer(bits[i] as i64),
            (bits, [], WeightKind::F64) => Weight::Real(f64::from_bits(bits[i])),
            (bits, imaginary, _) => Weight::Complex(f64::from_bits(bits[i]), f64::from_bits(imaginary[i])),
        }
    }

    /// The weights of a range of edges; none if there are none.
    #[inline]
    pub fn part(&self, edges: Range<usize>) -> Self {
        let part = |bits: &'a [u64]| if bits.is_empty() { bits } else { &bits[edges.clone()] };
        Weights { bits: part(self.bits), imaginary: part(self.imaginary), kind: self.kind }
    }
}

/// The weights beside the lists of one direction.
pub(crate) struct WeightColumn {
    /// Their column of values, or two: real parts and imaginary ones.
    columns: Vec<ValueFile>,
    weight_kind: WeightKind,
    /// Number of entries before every page of the lists.
    before: Index,
    entries: u64,
    reservation: Reservation,
}

/// A column of values beside the lists of one direction.
struct ValueFile {
    /// Its place among the image's files.
    file: usize,
    origin: Origin,
    domain: ValueDomain,
    /// Number of values before every page of the column.
    index: Index,
}

/// Page indexes of weights, cached in memory: see [`Graph::keep_weights`].
#[must_use = "weights are kept as long as this lives"]
pub struct KeptWeights {
    _columns: Vec<Arc<WeightColumn>>,
}

impl std::fmt::Debug for KeptWeights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptWeights").finish_non_exhaustive()
    }
}

impl Graph {
    /// The name of the edges' weights in the input, if there are any that algorithms count with: complex values are no
    /// weights.
    pub fn weight_name(&self) -> Option<&str> {
        self.manifest().weights().filter(|_| !self.is_complex()).map(|weights| weights.name.as_str())
    }

    /// Whether the values of the edges are complex numbers: the graph is a complex matrix.
    pub fn is_complex(&self) -> bool {
        self.manifest().complex
    }

    /// Whether edges have weights of that name.
    ///
    /// # Errors
    /// There are weights, or none, but not those that were asked for by `name`; nothing if none were asked for by name.
    pub fn has_weights(&self, name: Option<&str>) -> Result<bool> {
        let stored = self.weight_name();
        match (name, stored) {
            (None, stored) => Ok(stored == Some(USUAL_NAME)),
            (Some(name), Some(stored)) if name == stored => Ok(true),
            (Some(name), stored) => {
                let attributes = &self.manifest().attributes;
                if let Some(attribute) = attributes.iter().find(|attribute| attribute.name == name) {
                    let why = match attribute.missing {
                        _ if !attribute.kind.is_number() => "is no number",
                        Some(_) => "is missing for some edges",
                        None => "is not finite for some edges",
                    };
                    let found = format!("the attribute `{name}`, which {why} ({})", attribute.kind.name());
                    let image = self.path().display();
                    return Err(Error::Unsuitable(format!(
                        "expected weights that are finite numbers for all edges of {image}, found {found}"
                    )));
                }
                let without = if self.is_complex() { "edges with complex values" } else { "edges without weights" };
                let found = stored.map_or(without.to_owned(), |stored| format!("those of `{stored}`"));
                let numbers = self.manifest().attributes.iter().filter(|attribute| attribute.counts);
                let numbers: Vec<&str> = numbers.map(|attribute| attribute.name.as_str()).collect();
                let others = match numbers.is_empty() {
                    true => String::new(),
                    false => format!("; attributes that are numbers for every edge: {}", numbers.join(", ")),
                };
                let path = self.path().display();
                Err(Error::Unsuitable(format!("expected weights `{name}` in {path}, found {found}{others}")))
            }
        }
    }

    /// The graph with the numbers of an attribute as its weights, or with its own weights by their name, read from the
    /// same files. Nothing if edges have neither weights of that name nor an attribute that is a finite number for all
    /// of them.
    ///
    /// # Errors
    /// A graph that was closed; otherwise as for [`Graph::open`].
    pub fn weighing(&self, name: &str) -> Result<Option<Graph>> {
        let is_named = |attribute: &&Attribute| attribute.name == name && attribute.counts;
        let weighed_by = self.manifest().attributes.iter().find(is_named).map(|attribute| attribute.column);
        if weighed_by.is_none() && self.manifest().own_weights().is_none_or(|weights| weights.name != name) {
            return Ok(None);
        }
        let options = ImageOptions { weighed_by, ..self.image().options() };
        Graph::of_image(self.image().opened_again(options)?).map(Some)
    }

    /// Kind of the edges' weights.
    ///
    /// # Errors
    /// There are none, or they are of a type that no algorithm counts with.
    pub fn weight_kind(&self) -> Result<WeightKind> {
        let unsuitable =
            |found: &str| Err(Error::Unsuitable(format!("expected edges with {found} in {}", self.path().display())));
        match self.manifest().weights().map(|column| column.kind.weight_kind()) {
            Some(_) if self.is_complex() => {
                unsuitable("weights that are whole numbers with a sign or real numbers, found complex numbers")
            }
            Some(Some(kind)) => Ok(kind),
            Some(None) => unsuitable("weights that are whole numbers with a sign or real numbers, found u64"),
            None => {
                let image = self.path().display();
                Err(Error::Unsuitable(format!("expected edges with weights, found none in {image}")))
            }
        }
    }

    /// Number of pages of the weights beside the lists of a direction.
    pub fn weight_pages(&self, direction: Direction) -> u64 {
        let columns = 0..self.manifest().weight_columns();
        columns.map(|column| self.image().file_pages(value_file(self, direction, column))).sum()
    }

    /// The memory that reading weights beside lists takes, in bytes, from when they are first asked for until the graph
    /// is closed, or the memory is needed between two operations.
    pub fn weight_bytes(&self, direction: Direction) -> u64 {
        let files = weight_indexes(self, direction);
        let indexes: u64 = files.into_iter().map(|file| self.image().index_bytes_of(file)).sum();
        2 * indexes + self.runtime().threads() as u64 * worker_bytes(self.manifest())
    }

    /// Keeps the page indexes of the weights beside lists in memory until the returned guard is dropped; without it
    /// they may be given back between two sweeps. An algorithm that sweeps over weights again and again calls this
    /// first, with `directions` empty if it reads no weights.
    ///
    /// # Errors
    /// There are no weights, too little memory ([`Graph::weight_bytes`]), an index that cannot be read or is damaged.
    pub fn keep_weights(&self, directions: &[Direction]) -> Result<KeptWeights> {
        let columns = directions.iter().map(|&direction| self.weight_column(Edges::new(direction, true)));
        Ok(KeptWeights { _columns: columns.collect::<Result<_>>()? })
    }

    /// Keeps the page indexes of weights in memory as [`Graph::keep_weights`] does, also of the complex values of a
    /// matrix, which no graph algorithm reads.
    ///
    /// # Errors
    /// As with [`Graph::keep_weights`].
    pub fn keep_values(&self, direction: Direction) -> Result<KeptWeights> {
        let column = self.weight_column(Edges { direction, weights: true, complex: true })?;
        Ok(KeptWeights { _columns: vec![column] })
    }

    /// The weights, which are not complex unless `edges` says so.
    pub(crate) fn weight_column(&self, Edges { direction, complex, .. }: Edges) -> Result<Arc<WeightColumn>> {
        if !complex {
            self.weight_kind()?;
        }
        let lists = self.open_lists(direction)?;
        let mut column = lock(&lists.weights);
        match &*column {
            Some(column) => Ok(Arc::clone(column)),
            None => Ok(Arc::clone(column.insert(Arc::new(WeightColumn::open(self, direction)?)))),
        }
    }
}

/// The page indexes of the weights beside the lists are given back unless a sweep uses them; the next use of the
/// weights reads them again.
impl Reclaim for DirectionLists {
    fn reclaimable_bytes(&self) -> u64 {
        self.unread_weights().and_then(|column| Some(column.as_ref()?.reservation.bytes())).unwrap_or(0)
    }

    fn reclaim(&self) {
        if let Some(mut column) = self.unread_weights() {
            *column = None;
        }
    }
}

impl DirectionLists {
    /// The column of weights, unless a sweep uses it. The holder of the lock may be the one that needs the memory.
    fn unread_weights(&self) -> Option<MutexGuard<'_, Option<Arc<WeightColumn>>>> {
        let column = self.weights.try_lock().ok()?;
        column.as_ref().is_none_or(|column| Arc::strong_count(column) == 1).then_some(column)
    }
}

/// Memory that a worker takes for weights, if there are any.
pub(crate) fn worker_bytes(manifest: &Manifest) -> u64 {
    manifest.weight_columns() as u64 * WORKER_BYTES
}

/// The file of a column of the weights beside the lists of a direction.
fn value_file(graph: &Graph, direction: Direction, column: usize) -> ImageFile {
    let column = graph.manifest().first_weight_column() + column;
    ImageFile::values(column, graph.has_in_files(direction))
}

/// The files whose indexes say where weights lie: the lists' entries, and the weights.
fn weight_indexes(graph: &Graph, direction: Direction) -> Vec<ImageFile> {
    let incoming = graph.has_in_files(direction);
    let columns = 0..graph.manifest().weight_columns();
    let entries = if incoming { ImageFile::IN_ENTRIES } else { ImageFile::OUT_ENTRIES };
    std::iter::once(entries).chain(columns.map(|column| value_file(graph, direction, column))).collect()
}

/// Locations of the weights beside the lists of a direction.
pub(crate) struct WeightIndexes {
    /// Number of entries before every page of the lists.
    pub before: Index,
    /// The columns of the weights, and how many values lie before every page of them.
    pub columns: Vec<(ImageFile, Index)>,
}

/// Reads where the weights beside the lists of a direction lie.
pub(crate) fn read_weight_indexes(graph: &Graph, direction: Direction) -> Result<WeightIndexes> {
    let files = weight_indexes(graph, direction);
    let indexes = graph.image().read_indexes(&files, "reading the indexes of weights")?;
    // Every page is read if the index has places for all of them among the entries.
    let entries = graph.manifest().out_lists.entries;
    for (&file, index) in files.iter().zip(&indexes) {
        let last = index.len().checked_sub(1).map(|page| index.get(page));
        let first = (!index.is_empty()).then(|| index.get(0));
        // A page of values has one at least; pages of empty lists have no entry.
        let last_fits = last.is_none_or(|last| last < entries || (last == entries && file == files[0]));
        if first.unwrap_or(0) != 0 || !last_fits || (first.is_none() && entries > 0) {
            let (expected, found) =
                (format!("pages that begin at 0 and below {entries}"), format!("{first:?}..{last:?}"));
            return Err(Error::damaged(graph.image().index_path(file), 0, expected, found));
        }
    }
    let mut indexes = indexes.into_iter();
    let before = indexes.next().unwrap_or_default();
    Ok(WeightIndexes { before, columns: files.into_iter().skip(1).zip(indexes).collect() })
}

impl WeightColumn {
    fn open(graph: &Graph, direction: Direction) -> Result<Self> {
        let (manifest, is_complex) = (graph.manifest(), graph.is_complex());
        let weight_kind = if is_complex { WeightKind::F64 } else { graph.weight_kind()? };
        graph.image().make_room("weights of edges", graph.weight_bytes(direction))?;
        let WeightIndexes { before, columns } = read_weight_indexes(graph, direction)?;
        let workers = graph.runtime().threads() as u64 * worker_bytes(manifest);
        let indexes = columns.iter().map(|(_, index)| index).chain([&before]);
        let bytes = workers + indexes.map(Index::memory_bytes).sum::<u64>();
        let reservation = graph.runtime().budget().reserve("weights of edges", bytes)?;
        let column = |(file, index): (ImageFile, Index)| {
            let domain = manifest.domain(file)?;
            Some(ValueFile { file: graph.image().file(file)?, origin: file.origin(manifest.image_id), domain, index })
        };
        let (columns, entries) = (columns.into_iter().filter_map(column).collect(), manifest.out_lists.entries);
        Ok(WeightColumn { columns, weight_kind, before, entries, reservation })
    }

    /// The column that a file of the image holds.
    pub fn column_of(&self, file: usize) -> Option<usize> {
        self.columns.iter().position(|column| column.file == file)
    }

    /// The entries in a page of lists: no more than a page can have, whatever the index says.
    pub fn edges(&self, page: u64) -> Range<u64> {
        let before = |page: u64| if page < self.before.len() { self.before.get(page) } else { self.entries };
        let (start, end) = (before(page), before(page + 1));
        start..end.clamp(start, start.saturating_add(MAX_NEIGHBOURS as u64))
    }

    /// The first of the wanted pages of a unit of lists: as many as a worker has room for the weights of.
    pub fn edges_of(&self, unit: u64, wanted: u64) -> (u64, Vec<Range<u64>>) {
        let (mut pages, mut ranges, mut count) = (0, Vec::<Range<u64>>::new(), 0);
        let mut remaining = wanted;
        while remaining != 0 {
            let edges = self.edges(unit * UNIT_PAGES + u64::from(remaining.trailing_zeros()));
            count += edges.end - edges.start;
            if count > BATCH_WEIGHTS as u64 {
                break;
            }
            pages |= remaining & remaining.wrapping_neg();
            remaining &= remaining - 1;
            match ranges.last_mut() {
                Some(last) if last.end == edges.start => last.end = edges.end,
                _ => ranges.push(edges),
            }
        }
        ranges.retain(|range| !range.is_empty());
        (pages, ranges)
    }

    /// The files of the columns.
    pub fn files(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.file).collect()
    }

    /// The units and pages of the columns that hold the weights of edges.
    pub fn units(&self, edges: &[Range<u64>]) -> Vec<UnitPages> {
        let units = |column: &ValueFile| {
            let (file, units) = (column.file, column.units(edges));
            units.into_iter().map(move |(unit, wanted)| UnitPages { file, unit, wanted })
        };
        self.columns.iter().flat_map(units).collect()
    }
}

impl ValueFile {
    /// The units and pages of the column that hold the values of edges.
    fn units(&self, edges: &[Range<u64>]) -> Vec<(u64, u64)> {
        let mut units: Vec<(u64, u64)> = Vec::new();
        for range in edges {
            let page_of = |edge| self.index.last_at_most(edge).unwrap_or_default();
            (page_of(range.start)..=page_of(range.end - 1)).for_each(|page| push_page(&mut units, page));
        }
        units
    }
}

/// One worker's weights: those of the batch that is being visited.
pub(crate) struct BatchWeights {
    /// The edges whose weights they are.
    edges: Vec<Range<u64>>,
    /// The values of each column, none where there is no second one.
    values: [Vec<u64>; 2],
    /// Number of those that belong to visited pages.
    visited: usize,
    /// The values of the page that is being decoded.
    page: Vec<u64>,
}

impl BatchWeights {
    /// Room for a batch, if there are weights.
    pub fn new(column: Option<&WeightColumn>) -> Self {
        let columns = column.map_or(0, |column| column.columns.len());
        let room = |count: usize, is_there: bool| Vec::with_capacity(if is_there { count } else { 0 });
        let values = [0, 1].map(|column| room(BATCH_WEIGHTS, column < columns));
        BatchWeights { edges: Vec::new(), values, visited: 0, page: room(values::MAX_VALUES + 16, columns > 0) }
    }

    /// Forgets the batch before: the next one is of these pages of a unit.
    pub fn begin(&mut self, column: &WeightColumn, unit: u64, pages: u64) {
        self.edges = column.edges_of(unit, pages).1;
        self.values.iter_mut().for_each(Vec::clear);
        self.visited = 0;
    }

    /// Takes what a page of one of the columns has for the batch, whose edges are given.
    pub fn take_page(
        &mut self,
        weights: &WeightColumn,
        place: usize,
        Arrived { number, bytes, verified, .. }: Arrived<'_>,
    ) -> outcore_format::Result<()> {
        let column = &weights.columns[place];
        let page = if verified { column.origin.trust(bytes) } else { column.origin.verify(number, bytes) }?;
        self.page.clear();
        column.domain.decode(&page, &mut self.page)?;
        let first = column.index.get(number);
        let end = if number + 1 < column.index.len() { column.index.get(number + 1) } else { weights.entries };
        if page.first() != first || self.page.len() as u64 != end - first {
            let found = format!("{} from {}", self.page.len(), page.first());
            return Err(outcore_format::Error::new(8, format!("weights {first} to below {end}"), found));
        }
        for range in &self.edges {
            let (from, to) = (range.start.max(first), range.end.min(end));
            if from < to {
                self.values[place].extend_from_slice(&self.page[(from - first) as usize..(to - first) as usize]);
            }
        }
        Ok(())
    }

    /// The weights beside the next page of lists.
    pub fn next(&mut self, column: &WeightColumn, number: u64, lists: &Lists) -> outcore_format::Result<Weights<'_>> {
        let edges = column.edges(number);
        if edges.end - edges.start != lists.edges() as u64 {
            let expected = format!("{} entries, as the next page begins at {}", edges.end - edges.start, edges.end);
            return Err(outcore_format::Error::new(16, expected, lists.edges().to_string()));
        }
        let range = self.visited..self.visited + lists.edges();
        self.visited = range.end;
        let [bits, imaginary] = &self.values;
        let imaginary = if column.columns.len() > 1 { &imaginary[range.clone()] } else { &[] };
        Ok(Weights { bits: &bits[range], imaginary, kind: column.weight_kind })
    }
}
