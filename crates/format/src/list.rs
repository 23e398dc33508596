//! Pages of lists: the neighbours of consecutive vertices.
//!
//! ```text
//!   section 0   lengths   one per list in this page, as blocks
//!   section 1   firsts    the first neighbour of every list that is not empty, as blocks
//!   section 2   gaps      for every list in turn, the distances between its neighbours, as blocks of its own
//! ```
//!
//! Lists are sorted. A gap is the distance to the neighbour before, minus one (the distance itself if the image keeps
//! parallel edges). A first neighbour is stored as it is, or, if that is shorter for the page as a whole, as its
//! distance from the list's own vertex, folded so that small distances of either sign are small numbers.
//!
//! A list that does not fit continues in the next page, where it starts anew with a first neighbour; `flags` of both
//! pages mark that. Vertex 5 with neighbours 3, 4, 9 gives length 3, first 3, gaps 0, 4.

use crate::block::{BLOCK, block_bytes, read_block, sequence_bytes, width, write_sequence};
use crate::error::{Error, Result};
use crate::flags::{BEGINS_EARLIER, ENDS_LATER, PARALLEL, RELATIVE};
use crate::page::{HEADER_BYTES, Header, Origin, PAGE_BYTES, Page, PageBytes, build};

/// Largest number of lists of a page: sixteen empty ones take one byte.
pub const MAX_LISTS: usize = (PAGE_BYTES - HEADER_BYTES) * BLOCK;
/// Largest number of neighbours of a page.
pub const MAX_NEIGHBOURS: usize = (PAGE_BYTES - HEADER_BYTES) * BLOCK;

/// Widest block of lengths: the length of a page's list fits this many bits.
pub const LENGTH_BITS: u32 = 17;
/// Room for the sections of a page.
const ROOM_BYTES: usize = PAGE_BYTES - HEADER_BYTES;
/// Lists shorter than this are never split over two pages, so that one read finds them.
const WHOLE_BYTES: usize = 64;

/// The lists of one page, decoded.
///
/// List `i` belongs to vertex `first_vertex + i` and holds `neighbours[ends[i]..ends[i + 1]]`.
#[derive(Debug, Default)]
pub struct Lists {
    /// The vertex of the first list.
    pub first_vertex: u64,
    /// Number of entries of the first list in earlier pages.
    pub offset: u64,
    /// The first list began in an earlier page.
    pub begins_earlier: bool,
    /// The last list goes on in the next page.
    pub ends_later: bool,
    /// Ends of lists in `neighbours`, one more than there are lists; the first is 0. As a buffer it may be longer:
    /// `count` bounds the valid part.
    pub ends: Vec<u32>,
    /// The neighbours of all lists; a buffer that may be longer than its valid part.
    pub neighbours: Vec<u32>,
    /// Number of lists.
    pub count: usize,
}

impl Lists {
    /// The neighbours of list `i`.
    #[inline]
    pub fn list(&self, i: usize) -> &[u32] {
        &self.neighbours[self.ends[i] as usize..self.ends[i + 1] as usize]
    }

    /// Number of neighbours of all lists.
    pub fn edges(&self) -> usize {
        self.ends[self.count] as usize
    }

    /// Checks the parts of lists that cross the ends of the page: there is a list, and it has neighbours on both sides.
    ///
    /// # Errors
    /// An empty part, from which a reader would conclude that its list ends.
    #[inline]
    #[doc(hidden)]
    pub fn check_parts(&self) -> Result<()> {
        check_offset(self.offset, self.begins_earlier)?;
        let parts = [(self.begins_earlier, self.count.min(1), true), (self.ends_later, self.count, false)];
        for (crosses, end, is_first) in parts {
            if crosses && (end == 0 || self.ends[end] == self.ends[end - 1]) {
                return Err(empty_part(is_first));
            }
        }
        Ok(())
    }
}

/// Checks the number of entries of the first list in earlier pages.
#[inline]
pub(crate) fn check_offset(offset: u64, begins_earlier: bool) -> Result<()> {
    match (begins_earlier, offset) {
        (true, 0) => Err(Error::new(16, "entries of the first list in earlier pages", "0")),
        (false, 1..) => Err(Error::new(16, "no entry of the first list in an earlier page", offset.to_string())),
        _ => Ok(()),
    }
}

/// The error for a list that crosses an end of the page without a neighbour in it.
#[cold]
pub(crate) fn empty_part(is_first: bool) -> Error {
    let (list, page) = if is_first { ("first", "an earlier") } else { ("last", "the next") };
    Error::new(5, format!("a neighbour in the {list} list, which has others in {page} page"), "0")
}

/// Facts about an image that all of its list pages share.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The number of vertices: every neighbour is below it.
    pub vertices: u64,
    /// Whether lists may name a neighbour more than once.
    pub parallel: bool,
}

/// Decodes a page of lists, without SIMD. `outcore-graph` has a faster equivalent.
///
/// # Errors
/// Lengths, widths or neighbours that do not fit.
pub fn decode(page: &Page<'_>, shape: Shape, out: &mut Lists) -> Result<()> {
    let count = page.count();
    let first_vertex = page.first();
    check_vertices(page, shape)?;
    out.first_vertex = first_vertex;
    out.offset = page.base();
    out.begins_earlier = page.flags() & BEGINS_EARLIER != 0;
    out.ends_later = page.flags() & ENDS_LATER != 0;
    out.count = count;
    out.ends.clear();
    out.ends.push(0);
    out.neighbours.clear();
    let lengths = read_sequence(page.section(0), count, LENGTH_BITS, HEADER_BYTES)?;
    let filled = lengths.iter().filter(|&&length| length > 0).count();
    let firsts = read_sequence(page.section(1), filled, 32, page.section_end(0))?;
    let mut firsts = firsts.into_iter();
    let step = u32::from(page.flags() & PARALLEL == 0);
    let relative = page.flags() & RELATIVE != 0;
    let mut gaps = Cursor { bytes: page.section(2), at: 0, base: page.section_end(1) };
    for (i, &length) in lengths.iter().enumerate() {
        if length > 0 {
            let sum = out.neighbours.len() + length as usize;
            if sum > MAX_NEIGHBOURS {
                let found = format!("{sum} in {} lists", i + 1);
                return Err(Error::new(32, format!("at most {MAX_NEIGHBOURS} neighbours in a page"), found));
            }
            let stored = firsts.next().unwrap_or(0);
            let vertex = first_vertex as u32 + i as u32;
            let first = if relative { unfold(stored, vertex) } else { stored };
            gaps.list(first, length as usize - 1, step, &mut out.neighbours)?;
        }
        out.ends.push(out.neighbours.len() as u32);
    }
    gaps.finish()?;
    out.check_parts()?;
    if let Some(&bad) = out.neighbours.iter().find(|&&neighbour| u64::from(neighbour) >= shape.vertices) {
        return Err(neighbour_error(bad, shape));
    }
    Ok(())
}

/// Checks that a page's vertices are within the image, that its edges can be counted, and that its kind of gaps is the
/// image's.
///
/// # Errors
/// Vertices beyond the image, an ordinal that would overflow, or a flag that contradicts the image.
pub fn check_vertices(page: &Page<'_>, shape: Shape) -> Result<()> {
    let count = page.count() as u64;
    if page.first() > shape.vertices || count > shape.vertices - page.first() {
        let found = format!("{count} from {}", page.first());
        return Err(Error::new(8, format!("vertices below {}", shape.vertices), found));
    }
    if page.base() > u64::MAX - MAX_NEIGHBOURS as u64 {
        let most = u64::MAX - MAX_NEIGHBOURS as u64;
        return Err(Error::new(16, format!("at most {most} entries before the page"), page.base().to_string()));
    }
    if (page.flags() & PARALLEL != 0) != shape.parallel {
        let expected = match shape.parallel {
            true => "flags with 0x08, since the image keeps parallel edges",
            false => "flags without 0x08, since the image keeps no parallel edges",
        };
        return Err(Error::new(5, expected, format!("flags {:#04x}", page.flags())));
    }
    Ok(())
}

/// The error for a neighbour that the image does not have.
pub fn neighbour_error(neighbour: u32, shape: Shape) -> Error {
    Error::new(32, format!("neighbours below {}", shape.vertices), neighbour.to_string())
}

fn read_sequence(bytes: &[u8], count: usize, max_width_bits: u32, base: usize) -> Result<Vec<u32>> {
    if count > bytes.len() * BLOCK {
        return Err(Error::new(base as u64, format!("{count} values"), format!("a section of {} bytes", bytes.len())));
    }
    let mut values = Vec::with_capacity(count);
    let mut cursor = Cursor { bytes, at: 0, base };
    let mut block = [0; BLOCK];
    while values.len() < count {
        let take = (count - values.len()).min(BLOCK);
        cursor.block(take, max_width_bits, &mut block)?;
        values.extend(block[..take].iter().map(|&value| value as u32));
    }
    cursor.finish()?;
    Ok(values)
}

/// A position in a section.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
}

impl Cursor<'_> {
    fn block(&mut self, count: usize, max_width_bits: u32, out: &mut [u64; BLOCK]) -> Result<()> {
        let size = read_block(&self.bytes[self.at..], count, max_width_bits, out).map_err(|mut error| {
            error.offset_bytes += (self.base + self.at) as u64;
            error
        })?;
        self.at += size;
        Ok(())
    }

    fn list(&mut self, first: u32, mut gaps: usize, step: u32, out: &mut Vec<u32>) -> Result<()> {
        let mut neighbour = first;
        out.push(neighbour);
        let mut block = [0; BLOCK];
        while gaps > 0 {
            let take = gaps.min(BLOCK);
            self.block(take, 32, &mut block)?;
            for &gap in &block[..take] {
                neighbour = neighbour.wrapping_add(gap as u32).wrapping_add(step);
                out.push(neighbour);
            }
            gaps -= take;
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        let found = format!("{} more bytes", self.bytes.len() - self.at);
        Err(Error::new((self.base + self.at) as u64, "the end of a section", found))
    }
}

/// The distance from `vertex` to `neighbour` as an unsigned number: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
#[inline]
pub fn fold(neighbour: u32, vertex: u32) -> u32 {
    let distance = neighbour.wrapping_sub(vertex) as i32;
    ((distance << 1) ^ (distance >> 31)) as u32
}

/// The inverse of [`fold`].
#[inline]
pub fn unfold(folded: u32, vertex: u32) -> u32 {
    let distance = (folded >> 1) as i32 ^ -((folded & 1) as i32);
    vertex.wrapping_add(distance as u32)
}

/// The first list and entry of a finished page: its entry in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageStart {
    /// The vertex of the page's first list.
    pub first_vertex: u64,
    /// That list began in an earlier page.
    pub begins_earlier: bool,
    /// Number of entries in the writer's pages before this one.
    pub first_entry: u64,
}

impl PageStart {
    /// The entry as the index stores it: twice the vertex, plus one for a list that began earlier.
    pub fn key(&self) -> u64 {
        2 * self.first_vertex + u64::from(self.begins_earlier)
    }
}

/// Packs the lists of consecutive vertices into pages.
pub struct ListWriter {
    origin: Origin,
    parallel: bool,
    page_number: u64,
    first_vertex: u64,
    /// Number of entries in the pages before.
    first_entry: u64,
    edges: u64,
    begins_earlier: bool,
    /// Number of entries of the first list in the pages before.
    offset: u64,
    /// Number of entries of the current list in this page and those before.
    written: u64,
    lengths: Section,
    absolute: Section,
    relative: Section,
    gaps: Vec<u8>,
    list: Vec<u32>,
    /// Buffered neighbours of a partial list that are in no page yet.
    buffered: Vec<u32>,
}

impl ListWriter {
    /// A writer whose first page has number `page_number` and starts with `first_vertex`, after `first_entry` entries.
    pub fn new(origin: Origin, parallel: bool, page_number: u64, first_vertex: u64, first_entry: u64) -> Self {
        ListWriter {
            origin,
            parallel,
            page_number,
            first_vertex,
            first_entry,
            edges: 0,
            begins_earlier: false,
            offset: 0,
            written: 0,
            lengths: Section::default(),
            absolute: Section::default(),
            relative: Section::default(),
            gaps: Vec::new(),
            list: Vec::new(),
            buffered: Vec::new(),
        }
    }

    /// Appends a part of the next vertex's list that is not its end; `push` appends the last part.
    ///
    /// The pages equal those of one `push` of the whole list, but the list is never in memory as a whole.
    pub fn push_part(&mut self, neighbours: &[u32], mut emit: impl FnMut(PageStart, &PageBytes)) {
        let mut buffered = std::mem::take(&mut self.buffered);
        buffered.extend_from_slice(neighbours);
        let mut start = 0;
        // No page takes more neighbours than this, so the list is known to continue in another page.
        while buffered.len() - start > MAX_NEIGHBOURS {
            start += self.push_some(&buffered[start..], &mut emit);
        }
        buffered.drain(..start);
        self.buffered = buffered;
    }

    /// Appends the list of the next vertex: sorted, strictly so unless the image keeps parallel edges.
    ///
    /// Every full page is passed to `emit`, with its index entry.
    pub fn push(&mut self, neighbours: &[u32], mut emit: impl FnMut(PageStart, &PageBytes)) {
        if self.buffered.is_empty() {
            return self.push_all(neighbours, &mut emit);
        }
        let mut buffered = std::mem::take(&mut self.buffered);
        buffered.extend_from_slice(neighbours);
        self.push_all(&buffered, &mut emit);
        buffered.clear();
        self.buffered = buffered;
    }

    fn push_all(&mut self, mut rest: &[u32], emit: &mut impl FnMut(PageStart, &PageBytes)) {
        loop {
            let vertex = self.next_vertex();
            if self.fitting(vertex, rest) == Some(rest.len()) {
                self.written = 0;
                return self.add(vertex, rest);
            }
            rest = &rest[self.push_some(rest, emit)..];
        }
    }

    /// Closes a page before a list, or within one that does not fit; returns the number of neighbours that it took.
    fn push_some(&mut self, list: &[u32], emit: &mut impl FnMut(PageStart, &PageBytes)) -> usize {
        let vertex = self.next_vertex();
        let fits = self.fitting(vertex, list);
        if let Some(fits) = fits {
            self.add(vertex, &list[..fits]);
            self.written += fits as u64;
        }
        self.close(fits.is_some(), emit);
        fits.unwrap_or(0)
    }

    fn next_vertex(&self) -> u32 {
        (self.first_vertex + self.lengths.values.len() as u64) as u32
    }

    /// Writes the last page, if it holds anything.
    pub fn finish(mut self, mut emit: impl FnMut(PageStart, &PageBytes)) {
        if !self.lengths.values.is_empty() {
            self.close(false, &mut emit);
        }
    }

    fn used(&self, lengths: usize, absolute: usize, relative: usize, gaps: usize) -> usize {
        lengths + absolute.min(relative) + gaps
    }

    /// Number of the list's neighbours that fit this page: all, or the first and some full blocks of gaps; `None` if
    /// the list has to start in the next page.
    fn fitting(&self, vertex: u32, list: &[u32]) -> Option<usize> {
        let lengths = self.lengths.bytes_with(list.len().min(MAX_NEIGHBOURS) as u32);
        if list.is_empty() {
            let used = self.used(lengths, self.absolute.bytes, self.relative.bytes, self.gaps.len());
            return (used <= ROOM_BYTES).then_some(0);
        }
        let absolute = self.absolute.bytes_with(list[0]);
        let relative = self.relative.bytes_with(fold(list[0], vertex));
        let before = self.used(lengths, absolute, relative, self.gaps.len());
        let step = u32::from(!self.parallel);
        let mut used = before;
        let mut count = 1;
        let mut fits = if used <= ROOM_BYTES { 1 } else { 0 };
        while count < list.len() && fits == count {
            let end = (count + BLOCK).min(list.len());
            let widest = (count..end).fold(0, |all, i| all | (list[i] - list[i - 1] - step));
            used += block_bytes(end - count, width(u64::from(widest)));
            count = end;
            if used <= ROOM_BYTES {
                fits = count;
            }
        }
        let split = fits < list.len();
        let empty = self.lengths.values.is_empty();
        if split && !empty && (fits < 1 + BLOCK || used - before < WHOLE_BYTES) {
            return None;
        }
        Some(fits)
    }

    fn add(&mut self, vertex: u32, list: &[u32]) {
        self.lengths.push(list.len() as u32);
        let Some(&first) = list.first() else { return };
        self.absolute.push(first);
        self.relative.push(fold(first, vertex));
        let step = u32::from(!self.parallel);
        self.list.clear();
        self.list.extend(list.windows(2).map(|pair| pair[1] - pair[0] - step));
        write_sequence(&self.list, &mut self.gaps);
        self.edges += list.len() as u64;
    }

    fn close(&mut self, ends_later: bool, emit: &mut impl FnMut(PageStart, &PageBytes)) {
        let relative = self.relative.bytes < self.absolute.bytes;
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        let flags = flag(BEGINS_EARLIER, self.begins_earlier)
            | flag(ENDS_LATER, ends_later)
            | flag(RELATIVE, relative)
            | flag(PARALLEL, self.parallel);
        let (mut lengths, mut firsts) = (Vec::new(), Vec::new());
        write_sequence(&self.lengths.values, &mut lengths);
        let chosen = if relative { &self.relative } else { &self.absolute };
        write_sequence(&chosen.values, &mut firsts);
        let header =
            Header { flags, count: self.lengths.values.len() as u16, first: self.first_vertex, base: self.offset };
        let page = build(&self.origin, self.page_number, header, &[&lengths, &firsts, &self.gaps]);
        let start = PageStart {
            first_vertex: self.first_vertex,
            begins_earlier: self.begins_earlier,
            first_entry: self.first_entry,
        };
        emit(start, &page);
        self.page_number += 1;
        self.first_vertex += self.lengths.values.len() as u64 - u64::from(ends_later);
        self.first_entry += self.edges;
        self.edges = 0;
        self.begins_earlier = ends_later;
        self.offset = if ends_later { self.written } else { 0 };
        [&mut self.lengths, &mut self.absolute, &mut self.relative].into_iter().for_each(Section::clear);
        self.gaps.clear();
    }
}

/// A sequence of values and its size as blocks, updated incrementally.
#[derive(Default)]
struct Section {
    values: Vec<u32>,
    bytes: usize,
    closed_bytes: usize,
}

impl Section {
    fn open_block(&self) -> &[u32] {
        &self.values[self.values.len() / BLOCK * BLOCK..]
    }

    fn bytes_with(&self, value: u32) -> usize {
        let open = self.open_block();
        let widest = open.iter().fold(value, |all, value| all | value);
        self.closed_bytes + block_bytes(open.len() + 1, width(u64::from(widest)))
    }

    fn push(&mut self, value: u32) {
        self.bytes = self.bytes_with(value);
        self.values.push(value);
        if self.values.len().is_multiple_of(BLOCK) {
            self.closed_bytes = self.bytes;
        }
        debug_assert!(self.values.len() > 64 || self.bytes == sequence_bytes(&self.values));
    }

    fn clear(&mut self) {
        self.values.clear();
        self.bytes = 0;
        self.closed_bytes = 0;
    }
}
