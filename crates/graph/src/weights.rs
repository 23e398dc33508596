//! Weights beside lists: where those of a page of lists lie, and how they come to its visitor.
//!
//! Value `i` of the column of weights belongs to entry `i` of the lists. So that the weights of a page can be read at
//! the same time as the page, a graph learns the first entry of every page when weights are first asked for, in one
//! pass over the pages that does not decode them. Then a sweep takes pages in batches whose weights fit a small buffer:
//! first the weights of the batch are decoded, then its lists are visited beside them.

use crate::graph::{Direction, Graph, Lists};
use crate::ordered::list_file;
use outcore_format::list::MAX_NEIGHBOURS;
use outcore_format::{Index, Lists as DecodedLists, Origin, PAGE_BYTES, PageBytes, WeightKind, column};
use outcore_image::{Error, ImageFile, Result, SweepStats};
use outcore_io::plan::UNIT_PAGES;
use outcore_io::{Array, Reservation, lock};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A worker has room for so many weights: those of one page, and of some dozens of usual ones.
pub(crate) const BATCH_WEIGHTS: usize = 1 << 16;
const _: () = assert!(MAX_NEIGHBOURS <= BATCH_WEIGHTS);
/// What that takes, with a page that is being decoded.
const WORKER_BYTES: u64 = 8 * (BATCH_WEIGHTS + column::MAX_VALUES + 16) as u64;

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
        match self.kind {
            WeightKind::I64 => self.bits[i] as i64 as f64,
            WeightKind::F64 => f64::from_bits(self.bits[i]),
        }
    }

    /// Those of some of the edges; none if there are none.
    #[inline]
    pub(crate) fn part(&self, edges: Range<usize>) -> Self {
        Weights { bits: if self.bits.is_empty() { self.bits } else { &self.bits[edges] }, kind: self.kind }
    }
}

/// The column of weights beside the lists of one direction.
pub(crate) struct WeightColumn {
    pub file: usize,
    pub origin: Origin,
    kind: WeightKind,
    /// The first value of every page of the column.
    index: Index,
    /// The first entry of every page of the lists.
    first_edges: Array<AtomicU64>,
    entries: u64,
    _workers: Reservation,
}

impl Graph {
    /// The name of the edges' weights in the input, if there are any.
    pub fn weight_name(&self) -> Option<&str> {
        self.manifest().weights.as_ref().map(|weights| weights.name.as_str())
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
    /// There are none.
    pub fn weight_kind(&self) -> Result<WeightKind> {
        match &self.manifest().weights {
            Some(column) => Ok(column.kind),
            None => {
                let image = self.path().display();
                Err(Error::Unsuitable(format!("expected edges with weights, found none in {image}")))
            }
        }
    }

    /// How many pages the weights beside the lists of a direction have.
    pub fn weight_pages(&self, direction: Direction) -> u64 {
        let weights = self.manifest().weights.as_ref();
        weights.map_or(0, |weights| match weight_file(self, direction) {
            ImageFile::InWeight => weights.in_pages,
            _ => weights.out_pages,
        })
    }

    /// The memory that reading weights beside lists takes, in bytes, from when they are first asked for until the graph
    /// is closed, or [`Graph::make_room`] needs it between two operations.
    pub fn weight_bytes(&self, direction: Direction) -> u64 {
        let index = self.index_bytes_of(weight_file(self, direction));
        8 * self.pages(direction) + index + self.runtime().threads() as u64 * WORKER_BYTES
    }

    /// The column of weights, and what it cost to prepare it if that was done now.
    pub(crate) fn weight_column(&self, direction: Direction) -> Result<(Arc<WeightColumn>, SweepStats)> {
        let lists = self.list_pages(direction);
        if let Some(column) = &*lock(&lists.weights) {
            return Ok((Arc::clone(column), SweepStats::default()));
        }
        let (column, stats) = WeightColumn::prepare(self, direction)?;
        Ok((Arc::clone(lock(&lists.weights).insert(Arc::new(column))), stats))
    }
}

impl Lists {
    /// Gives back what is known of the weights beside the lists, unless somebody reads them.
    pub fn forget_weights(&self) {
        let mut weights = lock(&self.weights);
        if weights.as_ref().is_some_and(|column| Arc::strong_count(column) == 1) {
            *weights = None;
        }
    }
}

/// The file of the weights beside the lists of a direction.
fn weight_file(graph: &Graph, direction: Direction) -> ImageFile {
    match list_file(graph, direction) {
        ImageFile::InLists => ImageFile::InWeight,
        _ => ImageFile::OutWeight,
    }
}

/// Reads the index of the weights beside the lists of a direction.
pub(crate) fn read_weight_index(graph: &Graph, direction: Direction) -> Result<(ImageFile, WeightKind, Index)> {
    let kind = graph.weight_kind()?;
    let file = weight_file(graph, direction);
    let index = graph.read_indexes(&[file], "reading the index of weights")?.remove(0);
    // Every page of the column is read if the index has places for all of them among the edges.
    let entries = graph.manifest().out_lists.entries;
    let first = (!index.is_empty()).then(|| index.get(0));
    let last = index.len().checked_sub(1).map(|page| index.get(page));
    if first.unwrap_or(0) != 0 || last.is_some_and(|last| last >= entries) || (first.is_none() && entries > 0) {
        let path = graph.index_path(file);
        let (expected, found) = (format!("pages that begin at 0 and below {entries}"), format!("{first:?}..{last:?}"));
        return Err(Error::Corrupt { path, offset_bytes: 0, expected, found });
    }
    Ok((file, kind, index))
}

impl WeightColumn {
    fn prepare(graph: &Graph, direction: Direction) -> Result<(Self, SweepStats)> {
        graph.image().make_room("weights of edges", graph.weight_bytes(direction))?;
        let (file, kind, index) = read_weight_index(graph, direction)?;
        let (budget, lists) = (graph.runtime().budget(), graph.list_pages(direction));
        let workers = graph.runtime().threads() as u64 * WORKER_BYTES;
        let workers = budget.reserve("weights of edges", workers + index.memory_bytes())?;
        let first_edges = Array::<AtomicU64>::zeroed(budget, "first edges of pages", lists.pages as usize)?;
        let stats = graph.read_pages(list_file(graph, direction), |number, bytes, (): &mut ()| {
            first_edges[number as usize].store(lists.origin.verify(number, bytes)?.base(), Ordering::Relaxed);
            Ok(())
        })?;
        let place = graph.file(file).unwrap_or_default();
        let (origin, entries) = (file.origin(graph.manifest().image_id), graph.manifest().out_lists.entries);
        let column = WeightColumn { file: place, origin, kind, index, first_edges, entries, _workers: workers };
        for page in 0..lists.pages {
            let edges = column.edges(page);
            if (page == 0 && edges.start != 0)
                || edges.end < edges.start
                || edges.end - edges.start > MAX_NEIGHBOURS as u64
            {
                let expected = "pages of lists whose first edges rise from 0";
                let error = outcore_format::Error::new(16, expected, format!("{edges:?}"));
                let path = graph.data_file(lists.file).path();
                return Err(Error::corrupt(path, page * PAGE_BYTES as u64, error));
            }
        }
        Ok((column, stats))
    }

    /// The edges in a page of lists.
    pub fn edges(&self, page: u64) -> Range<u64> {
        let first =
            |page: u64| self.first_edges.get(page as usize).map_or(self.entries, |edge| edge.load(Ordering::Relaxed));
        first(page)..first(page + 1)
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
pub(crate) struct Batch {
    /// The edges whose weights they are.
    edges: Vec<Range<u64>>,
    values: Vec<u64>,
    /// How many of them belong to pages that were visited.
    taken: usize,
    /// The values of the page that is being decoded.
    page: Vec<u64>,
}

impl Batch {
    /// Room for a batch, if there are weights.
    pub fn new(column: Option<&WeightColumn>) -> Self {
        let room = |count: usize| Vec::with_capacity(if column.is_some() { count } else { 0 });
        Batch { edges: Vec::new(), values: room(BATCH_WEIGHTS), taken: 0, page: room(column::MAX_VALUES + 16) }
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
        column::decode(&page, &mut self.page)?;
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
        let (expected, found) = (column.edges(number), lists.first_edge..lists.first_edge + lists.edges() as u64);
        if expected != found {
            let expected = format!("edges {expected:?}, as the next page says");
            return Err(outcore_format::Error::new(16, expected, format!("{found:?}")));
        }
        let bits = &self.values[self.taken..self.taken + lists.edges()];
        self.taken += bits.len();
        Ok(Weights { bits, kind: column.kind })
    }
}
