//! Encoding: sorted records of one partition become pages of lists, degrees, hubs and weights, complex ones in two
//! columns.
//!
//! Pages are made as if the partition were the first of the image and given their places when it is its turn
//! (`lists.rs`), so that workers can encode partitions at the same time.

use super::options::Duplicates;
use super::order::Bucket;
use super::page_file::wrong_value;
use super::partition::parts;
use super::places::PLACE_TYPE;
use outcore_format::column::ColumnWriter;
use outcore_format::values::ValueWriter;
use outcore_format::{ListWriter, Order, Origin, PageBytes, PageStart, ValueType};
use outcore_image::Result;
use outcore_io::buffer::Raw;
use outcore_io::sort::Record;
use outcore_io::{Buffer, Runtime};

/// Number of neighbours after which they are passed on to the pages, so that no list need be in memory as a whole.
const PART: usize = 1 << 14;
/// The most pages that one step can fill: a list part, or one value for each column.
const STEP_PAGES: usize = 384;
/// Memory of the writers of one encoder in bytes, without their pages.
pub(super) const WRITERS_BYTES: u64 = 3 << 20;
/// The fewest pages of an encoder.
pub(super) const LEAST_PAGES: usize = 2 * STEP_PAGES;

pub(super) trait Entry: Record + Raw {
    /// Whether it has a weight.
    const WEIGHTED: bool;
    /// The weight, in 64 bits, and what goes to the column beside it.
    fn weight(&self) -> [u64; 2];
    /// Whether it comes before another one: by its ends, then by its place in the input or, if it has none, its weight.
    fn before(&self, other: &Self) -> bool;
    fn words(entries: &mut [Self]) -> &mut [u64];
    /// Puts entries with the same ends, which are neighbours already, into that order.
    fn order_equals(entries: &mut [Self]);
}

impl Entry for u64 {
    const WEIGHTED: bool = false;

    fn weight(&self) -> [u64; 2] {
        [0; 2]
    }

    fn before(&self, other: &Self) -> bool {
        self < other
    }

    fn words(entries: &mut [Self]) -> &mut [u64] {
        entries
    }

    fn order_equals(_: &mut [Self]) {}
}

/// A key, a weight, and maybe the edge's place in the input, and the weight's imaginary part. The last of them goes to
/// the column beside the weights.
impl<const WORDS: usize> Entry for [u64; WORDS] {
    const WEIGHTED: bool = true;

    #[inline]
    fn weight(&self) -> [u64; 2] {
        [self[1], self[WORDS - 1]]
    }

    fn before(&self, other: &Self) -> bool {
        (self[0], self[WORDS.min(3) - 1]) < (other[0], other[WORDS.min(3) - 1])
    }

    fn words(entries: &mut [Self]) -> &mut [u64] {
        entries.as_flattened_mut()
    }

    fn order_equals(entries: &mut [Self]) {
        for equals in entries.chunk_by_mut(|one, other| one[0] == other[0]) {
            if equals.len() > 1 {
                equals.sort_unstable_by_key(|entry| entry[WORDS.min(3) - 1]);
            }
        }
    }
}

/// The files that one direction of a graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Target {
    Lists,
    Degree,
    Hub,
    Weight,
    Beside,
}

/// Values of a column beside the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    Imaginary,
    /// The places of the edges in the input, by which their attributes are found.
    Places,
}

#[derive(Clone, Copy)]
pub(super) struct Encoding {
    pub origins: [Origin; 5],
    pub directed: bool,
    pub order: Order,
    pub duplicates: Duplicates,
    pub weights: Option<ValueType>,
    pub beside: Option<Beside>,
}

/// Counts of lists, and edges that an import refuses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListStats {
    pub entries: u64,
    /// Edges: of the two entries of an edge without direction, one counts.
    pub edges: u64,
    /// Edges with the ends of an earlier one, whether or not they stay.
    pub duplicates: u64,
    /// Duplicates whose weight is not that of the earlier one.
    pub differing: u64,
    pub self_loops: u64,
    pub max_degree: u64,
    /// An edge that is there twice, where that is an error.
    pub forbidden: Option<(u32, u32)>,
    /// An edge whose duplicates have a sum of weights that does not fit.
    pub overflow: Option<(u32, u32)>,
}

/// Pages that wait for their turn.
pub(super) struct Pages {
    pages: Buffer<PageBytes>,
    tags: Vec<Tag>,
}

/// The entry of a page in the index.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    pub target: Target,
    pub key: u64,
    /// The number of entries of the partition before a page of lists.
    pub first_entry: u64,
}

impl Pages {
    fn push(&mut self, target: Target, key: u64, page: &PageBytes) {
        self.put(Tag { target, key, first_entry: 0 }, page);
    }

    fn push_lists(&mut self, start: PageStart, page: &PageBytes) {
        self.put(Tag { target: Target::Lists, key: start.key(), first_entry: start.first_entry }, page);
    }

    fn put(&mut self, tag: Tag, page: &PageBytes) {
        self.pages[self.tags.len()] = *page;
        self.tags.push(tag);
    }

    fn is_full(&self) -> bool {
        self.tags.len() + STEP_PAGES > self.pages.len()
    }

    /// Hands out all pages with what their indexes say, and forgets them.
    pub(super) fn drain(&mut self, mut take: impl FnMut(Tag, &mut PageBytes) -> Result<()>) -> Result<()> {
        for (page, tag) in self.pages.iter_mut().zip(self.tags.drain(..)) {
            take(tag, page)?;
        }
        Ok(())
    }
}

/// Turns the sorted entries of one partition into pages.
pub(super) struct Encoder<'a> {
    encoding: &'a Encoding,
    first_vertex: u64,
    buckets: &'a [Bucket],
    pub pages: Pages,
    writers: Option<Writers>,
    /// The vertex whose list is being gathered.
    vertex: u64,
    list: Vec<u32>,
    degree: u64,
    hub: Option<(u8, u32)>,
    /// The last entry's first word and the weight so far.
    last: Option<u64>,
    weight: [u64; 2],
    pub stats: ListStats,
}

struct Writers {
    lists: ListWriter,
    degree: ColumnWriter,
    hub: ColumnWriter,
    weight: Option<ValueWriter>,
    beside: Option<ValueWriter>,
}

impl<'a> Encoder<'a> {
    /// An encoder with room for `pages` pages, without a partition yet.
    pub(super) fn new(runtime: &Runtime, encoding: &'a Encoding, pages: usize) -> Result<Self> {
        let pages = Buffer::zeroed(runtime.budget(), "encoding lists", pages.max(LEAST_PAGES))?;
        Ok(Encoder {
            encoding,
            first_vertex: 0,
            buckets: &[],
            pages: Pages { pages, tags: Vec::new() },
            writers: None,
            vertex: 0,
            list: Vec::with_capacity(PART),
            degree: 0,
            hub: None,
            last: None,
            weight: [0; 2],
            stats: ListStats::default(),
        })
    }

    pub(super) fn begin(&mut self, first_vertex: u64, buckets: &'a [Bucket]) {
        self.first_vertex = first_vertex;
        self.vertex = first_vertex;
        self.buckets = buckets;
        self.stats = ListStats::default();
        self.begin_bucket();
    }

    fn begin_bucket(&mut self) {
        let Encoding { origins, duplicates, weights, beside, .. } = self.encoding;
        let values = |origin, kind| ValueWriter::new(origin, kind, self.stats.entries);
        let parallel = *duplicates == Duplicates::Keep;
        self.writers = Some(Writers {
            lists: ListWriter::new(origins[0], parallel, 0, self.vertex, self.stats.entries),
            degree: ColumnWriter::new(origins[1], false).starting_at(self.vertex),
            hub: ColumnWriter::new(origins[2], false).starting_at(self.vertex),
            weight: weights.map(|kind| values(origins[3], kind)),
            beside: beside.map(|beside| {
                values(origins[4], if beside == Beside::Imaginary { ValueType::F64 } else { PLACE_TYPE })
            }),
        });
    }

    /// Appends entries; together with those before, they are sorted. `flush` makes room for pages.
    pub(super) fn feed<E: Entry>(
        &mut self,
        entries: &[E],
        flush: &mut impl FnMut(&mut Pages) -> Result<()>,
    ) -> Result<()> {
        let keep = self.encoding.duplicates == Duplicates::Keep;
        let by_degree = self.encoding.order == Order::Degree;
        for entry in entries {
            let key = entry.key();
            let (offset, neighbour, class) = parts(key);
            if self.last == Some(key) {
                self.note_duplicate(neighbour, entry.weight());
                if !keep {
                    self.duplicate(neighbour, entry.weight());
                    continue;
                }
            }
            self.end_entry::<E>()?;
            let vertex = self.first_vertex + offset;
            while self.vertex < vertex {
                self.end_vertex(flush)?;
            }
            self.last = Some(key);
            self.weight = entry.weight();
            self.list.push(neighbour);
            self.stats.edges += u64::from(self.encoding.directed || u64::from(neighbour) >= vertex);
            self.stats.self_loops += u64::from(u64::from(neighbour) == vertex);
            let better = match self.hub {
                None => true,
                Some((best, _)) => !by_degree && class > best,
            };
            if better && u64::from(neighbour) != vertex {
                self.hub = Some((class, neighbour));
            }
            if self.list.len() == PART {
                self.part(flush)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn end_entry<E: Entry>(&mut self) -> Result<()> {
        if E::WEIGHTED && self.last.is_some() {
            let (Some(Writers { weight, beside, .. }), pages) = (&mut self.writers, &mut self.pages) else {
                return Ok(());
            };
            let columns = [(Target::Weight, weight), (Target::Beside, beside)];
            for ((target, writer), value) in columns.into_iter().zip(self.weight) {
                if let Some(writer) = writer {
                    writer.push(value, |first, page| pages.push(target, first, page)).map_err(wrong_value)?;
                }
            }
        }
        Ok(())
    }

    /// Number of parts of a weight: two if it is complex.
    fn weight_parts(&self) -> usize {
        1 + usize::from(self.encoding.beside == Some(Beside::Imaginary))
    }

    /// Counts an edge with the ends of the last one: of the two entries of an edge without direction, one.
    #[cold]
    fn note_duplicate(&mut self, neighbour: u32, weight: [u64; 2]) {
        if self.encoding.directed || u64::from(neighbour) >= self.vertex {
            let parts = self.weight_parts();
            self.stats.duplicates += 1;
            self.stats.differing +=
                u64::from(self.encoding.weights.is_some() && self.weight[..parts] != weight[..parts]);
        }
    }

    /// Combines a further edge with the last one, whose ends it has.
    #[cold]
    fn duplicate(&mut self, neighbour: u32, weight: [u64; 2]) {
        if self.encoding.duplicates == Duplicates::Last {
            self.weight = weight;
            return;
        }
        let parts = self.weight_parts();
        for (part, weight) in weight.into_iter().enumerate().take(parts) {
            self.combine(part, neighbour, weight);
        }
    }

    /// Combines a part of the last weight with that of a duplicate.
    fn combine(&mut self, part: usize, neighbour: u32, weight: u64) {
        let real = self.encoding.weights.is_some_and(ValueType::is_real);
        let (one, other) = (self.weight[part], weight);
        let (one_real, other_real) = (f64::from_bits(one), f64::from_bits(other));
        let edge = (self.vertex as u32, neighbour);
        let mut has_no_sum = false;
        self.weight[part] = match self.encoding.duplicates {
            Duplicates::First | Duplicates::Last | Duplicates::Keep => one,
            Duplicates::Sum if real => (one_real + other_real).to_bits(),
            Duplicates::Min if real => one_real.min(other_real).to_bits(),
            Duplicates::Max if real => one_real.max(other_real).to_bits(),
            Duplicates::Sum => {
                let (sum, overflow) = (one as i64).overflowing_add(other as i64);
                has_no_sum |= overflow;
                sum as u64
            }
            Duplicates::Min => (one as i64).min(other as i64) as u64,
            Duplicates::Max => (one as i64).max(other as i64) as u64,
            Duplicates::Error => {
                self.stats.forbidden = Some(self.stats.forbidden.map_or(edge, |before| before.min(edge)));
                one
            }
        };
        // All weights are finite, and their sum may be beyond the range.
        has_no_sum |= real && !f64::from_bits(self.weight[part]).is_finite();
        if has_no_sum {
            self.stats.overflow = Some(self.stats.overflow.map_or(edge, |before| before.min(edge)));
        }
    }

    /// Passes on a part of a long list.
    fn part(&mut self, flush: &mut impl FnMut(&mut Pages) -> Result<()>) -> Result<()> {
        if self.pages.is_full() {
            flush(&mut self.pages)?;
        }
        if let Some(writers) = &mut self.writers {
            writers.lists.push_part(&self.list, |start, page| self.pages.push_lists(start, page));
        }
        self.degree += self.list.len() as u64;
        self.stats.entries += self.list.len() as u64;
        self.list.clear();
        Ok(())
    }

    fn end_vertex(&mut self, flush: &mut impl FnMut(&mut Pages) -> Result<()>) -> Result<()> {
        if self.pages.is_full() {
            flush(&mut self.pages)?;
        }
        self.stats.entries += self.list.len() as u64;
        self.degree += self.list.len() as u64;
        self.stats.max_degree = self.stats.max_degree.max(self.degree);
        let hub = self.hub.map_or(self.vertex, |(_, hub)| u64::from(hub));
        let Encoder { writers: Some(writers), pages, .. } = self else { return Ok(()) };
        writers.lists.push(&self.list, |start, page| pages.push_lists(start, page));
        writers.degree.push(self.degree, |first, page| pages.push(Target::Degree, first, page));
        writers.hub.push(hub, |first, page| pages.push(Target::Hub, first, page));
        self.list.clear();
        self.degree = 0;
        self.hub = None;
        self.last = None;
        self.vertex += 1;
        if self.buckets.first().is_some_and(|bucket| bucket.end_vertex == self.vertex) {
            self.end_bucket();
            self.buckets = &self.buckets[1..];
            if !self.buckets.is_empty() {
                self.begin_bucket();
            }
        }
        Ok(())
    }

    fn end_bucket(&mut self) {
        let Some(Writers { lists, degree, hub, weight, beside }) = self.writers.take() else { return };
        let pages = &mut self.pages;
        lists.finish(|start, page| pages.push_lists(start, page));
        degree.finish(|first, page| pages.push(Target::Degree, first, page));
        hub.finish(|first, page| pages.push(Target::Hub, first, page));
        for (target, values) in [(Target::Weight, weight), (Target::Beside, beside)] {
            if let Some(values) = values {
                values.finish(|first, page| pages.push(target, first, page));
            }
        }
    }

    /// Ends the partition: vertices without entries follow up to its end.
    pub(super) fn end<E: Entry>(
        &mut self,
        end_vertex: u64,
        flush: &mut impl FnMut(&mut Pages) -> Result<()>,
    ) -> Result<()> {
        self.end_entry::<E>()?;
        while self.vertex < end_vertex {
            self.end_vertex(flush)?;
        }
        flush(&mut self.pages)
    }
}
