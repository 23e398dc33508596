//! Weights beside lists: where those of a page of lists lie, and how they come to its visitor.
//!
//! Weights are the first column of values. Value `i` of a column belongs to entry `i` of the lists. How many entries
//! lie before each page of lists, and before each page of values, two indexes say, of some 13 bits per page: so the
//! values of a page of lists are read at the same time as the page. A sweep takes pages in batches whose weights fit a
//! small buffer: first the weights of the batch are decoded, then its lists are visited beside them.

use crate::graph::{Direction, Graph, Lists};
use crate::ordered::list_file;
use outcore_format::list::MAX_NEIGHBOURS;
use outcore_format::{Index, Lists as DecodedLists, Origin, PageBytes, ValueType, WeightKind, values};
use outcore_image::{Error, ImageFile, Result};
use outcore_io::plan::UNIT_PAGES;
use outcore_io::{Reservation, Spare, lock};
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

/// A worker has room for so many weights: those of one page, and of some dozens of usual ones.
pub(crate) const BATCH_WEIGHTS: usize = 1 << 16;
const _: () = assert!(MAX_NEIGHBOURS <= BATCH_WEIGHTS);
/// What that takes, with a page that is being decoded.
pub(crate) const WORKER_BYTES: u64 = 8 * (BATCH_WEIGHTS + values::MAX_VALUES + 16) as u64;

/// The name of weights that are used where none is given, as in NetworkX.
const USUAL_NAME: &str = "weight";

/// The weights of edges that lie side by side; none where they were not asked for.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    bits: &'a [u64],
    kind: WeightKind,
}

impl<'a> Weights<'a> {
    pub(crate) const NONE: Weights<'static> = Weights { bits: &[], kind: WeightKind::I64 };

    pub(crate) fn new(bits: &'a [u64], kind: WeightKind) -> Self {
        Weights { bits, kind }
    }

    /// Whether weights were asked for and there are edges.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The weights in 64 bits each: integers in two's complement, or real numbers.
    pub fn bits(&self) -> &'a [u64] {
        self.bits
    }

    /// What they are.
    pub fn kind(&self) -> WeightKind {
        self.kind
    }

    /// One of the weights as a real number. Integers beyond 2^53 are rounded.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn real(&self, i: usize) -> f64 {
        self.kind.real(self.bits[i])
    }

    /// Those of some of the edges; none if there are none.
    #[inline]
    pub fn part(&self, edges: Range<usize>) -> Self {
        Weights { bits: if self.bits.is_empty() { self.bits } else { &self.bits[edges] }, kind: self.kind }
    }
}

/// The column of weights beside the lists of one direction.
pub(crate) struct WeightColumn {
    pub file: usize,
    pub origin: Origin,
    kind: ValueType,
    weight_kind: WeightKind,
    /// How many values lie before every page of the column.
    index: Index,
    /// How many entries lie before every page of the lists.
    before: Index,
    entries: u64,
    held: Reservation,
}

/// What is known of weights, kept in memory: see [`Graph::keep_weights`].
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
    /// The name of the edges' weights in the input, if there are any.
    pub fn weight_name(&self) -> Option<&str> {
        self.manifest().weights().map(|weights| weights.name.as_str())
    }

    /// Whether edges have weights of that name.
    ///
    /// # Errors
    /// There are weights, or none, but not those that were asked for by `name`; nothing if none were asked for by name.
    pub fn has_weights(&self, name: Option<&str>) -> Result<bool> {
        let found = self.weight_name();
        match (name, found) {
            (None, found) => Ok(found == Some(USUAL_NAME)),
            (Some(name), Some(found)) if name == found => Ok(true),
            (Some(name), found) => {
                let found = found.map_or("edges without weights".to_owned(), |found| format!("those of `{found}`"));
                Err(Error::Unsuitable(format!("expected weights `{name}` in {}, found {found}", self.path().display())))
            }
        }
    }

    /// What the edges' weights are.
    ///
    /// # Errors
    /// There are none, or they are of a type that no algorithm counts with.
    pub fn weight_kind(&self) -> Result<WeightKind> {
        let unsuitable =
            |found: &str| Err(Error::Unsuitable(format!("expected edges with {found} in {}", self.path().display())));
        match self.manifest().weights().map(|column| column.kind.weight_kind()) {
            Some(Some(kind)) => Ok(kind),
            Some(None) => unsuitable("weights that are whole numbers with a sign or real numbers, found u64"),
            None => {
                let image = self.path().display();
                Err(Error::Unsuitable(format!("expected edges with weights, found none in {image}")))
            }
        }
    }

    /// How many pages the weights beside the lists of a direction have.
    pub fn weight_pages(&self, direction: Direction) -> u64 {
        self.manifest().weights().map_or(0, |_| self.file_pages(weight_file(self, direction)))
    }

    /// The memory that reading weights beside lists takes, in bytes, from when they are first asked for until the graph
    /// is closed, or the memory is needed between two operations.
    pub fn weight_bytes(&self, direction: Direction) -> u64 {
        let indexes = weight_indexes(self, direction).map(|file| self.index_bytes_of(file));
        2 * indexes.iter().sum::<u64>() + self.runtime().threads() as u64 * WORKER_BYTES
    }

    /// Keeps what is known of the weights beside lists in memory until the answer is dropped; without that it may be
    /// given back between two sweeps. An algorithm that sweeps over weights again and again asks for it in the
    /// beginning, with `directions` empty if it reads no weights.
    ///
    /// # Errors
    /// There are no weights, too little memory ([`Graph::weight_bytes`]), an index that cannot be read or is damaged.
    pub fn keep_weights(&self, directions: &[Direction]) -> Result<KeptWeights> {
        let columns = directions.iter().map(|&direction| self.weight_column(direction));
        Ok(KeptWeights { _columns: columns.collect::<Result<_>>()? })
    }

    /// The column of weights.
    pub(crate) fn weight_column(&self, direction: Direction) -> Result<Arc<WeightColumn>> {
        let lists = self.open_lists(direction)?;
        let mut column = lock(&lists.weights);
        match &*column {
            Some(column) => Ok(Arc::clone(column)),
            None => Ok(Arc::clone(column.insert(Arc::new(WeightColumn::open(self, direction)?)))),
        }
    }
}

/// What is known of the weights beside the lists is given back unless somebody reads them; it is learnt again when they
/// are next asked for.
impl Spare for Lists {
    fn spare_bytes(&self) -> u64 {
        self.unread_weights().and_then(|column| Some(column.as_ref()?.held.bytes())).unwrap_or(0)
    }

    fn give_back(&self) {
        if let Some(mut column) = self.unread_weights() {
            *column = None;
        }
    }
}

impl Lists {
    /// The column of weights, unless somebody reads it. Whoever holds the lock may be the one who needs the memory.
    fn unread_weights(&self) -> Option<MutexGuard<'_, Option<Arc<WeightColumn>>>> {
        let column = self.weights.try_lock().ok()?;
        column.as_ref().is_none_or(|column| Arc::strong_count(column) == 1).then_some(column)
    }
}

/// The file of the weights beside the lists of a direction.
fn weight_file(graph: &Graph, direction: Direction) -> ImageFile {
    ImageFile::values(0, list_file(graph, direction) == ImageFile::IN_LISTS)
}

/// The files whose indexes say where weights lie: the weights, and the lists' entries.
fn weight_indexes(graph: &Graph, direction: Direction) -> [ImageFile; 2] {
    let file = weight_file(graph, direction);
    [
        file,
        if list_file(graph, direction) == ImageFile::IN_LISTS { ImageFile::IN_ENTRIES } else { ImageFile::OUT_ENTRIES },
    ]
}

/// Where the weights beside the lists of a direction lie: their file, their index, and that of the lists' entries.
pub(crate) fn read_weight_indexes(graph: &Graph, direction: Direction) -> Result<(ImageFile, [Index; 2])> {
    let files = weight_indexes(graph, direction);
    let mut indexes = graph.read_indexes(&files, "reading the indexes of weights")?.into_iter();
    let indexes = [indexes.next().unwrap_or_default(), indexes.next().unwrap_or_default()];
    // Every page is read if the index has places for all of them among the entries.
    let entries = graph.manifest().out_lists.entries;
    for (file, index) in files.into_iter().zip(&indexes) {
        let last = index.len().checked_sub(1).map(|page| index.get(page));
        let first = (!index.is_empty()).then(|| index.get(0));
        // A page of values has one at least; pages of empty lists have no entry.
        let last_fits = last.is_none_or(|last| last < entries || (last == entries && file != files[0]));
        if first.unwrap_or(0) != 0 || !last_fits || (first.is_none() && entries > 0) {
            let (expected, found) =
                (format!("pages that begin at 0 and below {entries}"), format!("{first:?}..{last:?}"));
            return Err(Error::Corrupt { path: graph.index_path(file), offset_bytes: 0, expected, found });
        }
    }
    Ok((files[0], indexes))
}

impl WeightColumn {
    fn open(graph: &Graph, direction: Direction) -> Result<Self> {
        let weight_kind = graph.weight_kind()?;
        let kind = graph.manifest().weights().map_or(ValueType::I64, |column| column.kind);
        graph.image().make_room("weights of edges", graph.weight_bytes(direction))?;
        let (file, [index, before]) = read_weight_indexes(graph, direction)?;
        let workers = graph.runtime().threads() as u64 * WORKER_BYTES;
        let held_bytes = workers + index.memory_bytes() + before.memory_bytes();
        let held = graph.runtime().budget().reserve("weights of edges", held_bytes)?;
        let (origin, entries) = (file.origin(graph.manifest().image_id), graph.manifest().out_lists.entries);
        let place = graph.file(file).unwrap_or_default();
        Ok(WeightColumn { file: place, origin, kind, weight_kind, index, before, entries, held })
    }

    /// The entries in a page of lists: no more than a page can have, whatever the index says.
    pub fn edges(&self, page: u64) -> Range<u64> {
        let before = |page: u64| if page < self.before.len() { self.before.get(page) } else { self.entries };
        let (start, end) = (before(page), before(page + 1));
        start..end.clamp(start, start.saturating_add(MAX_NEIGHBOURS as u64))
    }

    /// As many of the wanted pages of a unit of lists, from the first on, as a worker has room for the weights of.
    pub fn edges_of(&self, unit: u64, wanted: u64) -> (u64, Vec<Range<u64>>) {
        let (mut pages, mut ranges, mut count) = (0, Vec::<Range<u64>>::new(), 0);
        let mut left = wanted;
        while left != 0 {
            let edges = self.edges(unit * UNIT_PAGES + u64::from(left.trailing_zeros()));
            count += edges.end - edges.start;
            if count > BATCH_WEIGHTS as u64 {
                break;
            }
            pages |= left & left.wrapping_neg();
            left &= left - 1;
            match ranges.last_mut() {
                Some(last) if last.end == edges.start => last.end = edges.end,
                _ => ranges.push(edges),
            }
        }
        ranges.retain(|range| !range.is_empty());
        (pages, ranges)
    }

    /// The units and pages of the column that hold the weights of edges.
    pub fn units(&self, edges: &[Range<u64>]) -> Vec<(u64, u64)> {
        let mut units: Vec<(u64, u64)> = Vec::new();
        for range in edges {
            let page_of = |edge| self.index.last_at_most(edge).unwrap_or_default();
            for page in page_of(range.start)..=page_of(range.end - 1) {
                let (unit, bit) = (page / UNIT_PAGES, 1 << (page % UNIT_PAGES));
                match units.last_mut() {
                    Some((last, mask)) if *last == unit => *mask |= bit,
                    _ => units.push((unit, bit)),
                }
            }
        }
        units
    }
}

/// One worker's weights: those of the batch that is being visited.
pub(crate) struct BatchWeights {
    /// The edges whose weights they are.
    edges: Vec<Range<u64>>,
    values: Vec<u64>,
    /// How many of them belong to pages that were visited.
    taken: usize,
    /// The values of the page that is being decoded.
    page: Vec<u64>,
}

impl BatchWeights {
    /// Room for a batch, if there are weights.
    pub fn new(column: Option<&WeightColumn>) -> Self {
        let room = |count: usize| Vec::with_capacity(if column.is_some() { count } else { 0 });
        BatchWeights { edges: Vec::new(), values: room(BATCH_WEIGHTS), taken: 0, page: room(values::MAX_VALUES + 16) }
    }

    /// Forgets the batch before: the next one is of these pages of a unit.
    pub fn begin(&mut self, column: &WeightColumn, unit: u64, pages: u64) {
        self.edges = column.edges_of(unit, pages).1;
        self.values.clear();
        self.taken = 0;
    }

    /// Takes what a page of the column has for the batch, whose edges are given.
    pub fn take_page(
        &mut self,
        column: &WeightColumn,
        number: u64,
        bytes: &PageBytes,
        verified: bool,
    ) -> outcore_format::Result<()> {
        let page = if verified { column.origin.trust(bytes) } else { column.origin.verify(number, bytes) }?;
        self.page.clear();
        values::decode(&page, column.kind, &mut self.page)?;
        let first = column.index.get(number);
        let end = if number + 1 < column.index.len() { column.index.get(number + 1) } else { column.entries };
        if page.first() != first || self.page.len() as u64 != end - first {
            let found = format!("{} from {}", self.page.len(), page.first());
            return Err(outcore_format::Error::new(8, format!("weights {first} to below {end}"), found));
        }
        for range in &self.edges {
            let (from, to) = (range.start.max(first), range.end.min(end));
            if from < to {
                self.values.extend_from_slice(&self.page[(from - first) as usize..(to - first) as usize]);
            }
        }
        Ok(())
    }

    /// The weights beside the next page of lists.
    pub fn next(
        &mut self,
        column: &WeightColumn,
        number: u64,
        lists: &DecodedLists,
    ) -> outcore_format::Result<Weights<'_>> {
        let edges = column.edges(number);
        if edges.end - edges.start != lists.edges() as u64 {
            let expected = format!("{} entries, as the next page begins at {}", edges.end - edges.start, edges.end);
            return Err(outcore_format::Error::new(16, expected, lists.edges().to_string()));
        }
        let bits = &self.values[self.taken..self.taken + lists.edges()];
        self.taken += bits.len();
        Ok(Weights { bits, kind: column.weight_kind })
    }
}
