//! A guide to a page of lists: positions of lists at equal distances, so that a few lists can be decoded without the
//! others.
//!
//! Lists have no fixed size, so the position of a list follows from the lengths and widths of all lists before it. A
//! guide stores that position for lists at equal distances, a multiple of sixteen. From such a [`Mark`] on, lists are
//! skipped by their lengths and the width bytes of their gaps alone, and only requested lists are decoded: that reads a
//! few hundred bytes of the page instead of all.
//!
//! Making a guide reads all lengths and all widths, and refuses the same pages as the full decoder, except for
//! neighbours that the image does not have: these are detected in the lists that are decoded. A mark of another page
//! gives an error or other lists, never neighbours that the image does not have.

use crate::block::{BLOCK, block_bytes};
use crate::error::{Error, Result};
use crate::flags::{BEGINS_EARLIER, ENDS_LATER, PARALLEL, RELATIVE};
use crate::list::{
    LENGTH_BITS, Lists, MAX_NEIGHBOURS, Shape, check_offset, check_vertices, empty_part, neighbour_error, unfold,
};
use crate::page::{HEADER_BYTES, PAGE_BYTES, Page, PageBytes};
use std::ops::Range;

/// Largest number of marks of a guide.
pub const MOST_MARKS: usize = 64;

/// Positions of lists in a page.
#[derive(Clone, Debug)]
pub struct Guide {
    /// Number of lists from one mark to the next.
    pub stride: usize,
    /// A mark for the list at place 0, one for that at place `stride`, and so on.
    pub marks: [Mark; MOST_MARKS],
    /// Number of marks.
    pub count: usize,
}

/// Position of one list in its page, the first of sixteen whose lengths are a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Offset of the block of its length.
    lengths_at: u16,
    /// Offset of the block that holds its first neighbour, or that of the next list that has one.
    firsts_at: u16,
    /// Number of values of that block that belong to lists before it.
    firsts_passed: u8,
    /// Offset of its gaps.
    gaps_at: u16,
    /// Number of neighbours of all lists before it.
    edges: u16,
}

// Offsets in a page, ends included, take 13 bits; the number of neighbours of a page takes 16.
const _: () = assert!(PAGE_BYTES < 1 << 13 && MAX_NEIGHBOURS < 1 << 16);

impl Mark {
    /// The mark in one word.
    pub fn word(self) -> u64 {
        let [lengths_at, firsts_at, gaps_at, edges] =
            [self.lengths_at, self.firsts_at, self.gaps_at, self.edges].map(u64::from);
        lengths_at | firsts_at << 13 | gaps_at << 26 | edges << 39 | u64::from(self.firsts_passed) << 55
    }

    /// The mark of a word.
    pub fn of_word(word: u64) -> Self {
        let place = |shift: u32| (word >> shift) as u16 & 0x1fff;
        Mark {
            lengths_at: place(0),
            firsts_at: place(13),
            gaps_at: place(26),
            edges: (word >> 39) as u16,
            firsts_passed: (word >> 55) as u8 % BLOCK as u8,
        }
    }

    /// Number of neighbours of all lists before it.
    pub fn edges(self) -> usize {
        usize::from(self.edges)
    }
}

impl Guide {
    /// Distance of marks in a page of `lists` lists.
    pub fn stride_of(lists: usize) -> usize {
        lists.div_ceil(BLOCK).div_ceil(MOST_MARKS).max(1) * BLOCK
    }

    /// Makes the guide of a page.
    ///
    /// # Errors
    /// Lengths or widths that do not fit, as in the full decoder.
    pub fn of(page: &Page<'_>, shape: Shape) -> Result<Self> {
        check_vertices(page, shape)?;
        let count = page.count();
        let mut guide = Guide { stride: Self::stride_of(count), marks: [Mark::default(); MOST_MARKS], count: 0 };
        let mut walk = Walk::from_start(page);
        let (mut place, mut outer) = (0, [0; 2]);
        while place < count {
            if place % guide.stride == 0 {
                guide.marks[guide.count] = walk.mark();
                guide.count += 1;
            }
            let lengths = walk.lengths((count - place).min(BLOCK))?;
            walk.pass(&lengths, lengths.count)?;
            if place == 0 {
                outer[0] = lengths.get(0);
            }
            place += lengths.count;
            outer[1] = lengths.get(lengths.count - 1);
        }
        check_offset(page.base(), page.flags() & BEGINS_EARLIER != 0)?;
        for (flag, length) in [BEGINS_EARLIER, ENDS_LATER].into_iter().zip(outer) {
            if page.flags() & flag != 0 && length == 0 {
                return Err(empty_part(flag == BEGINS_EARLIER));
            }
        }
        walk.finish()?;
        Ok(guide)
    }

    /// The last mark at or before a list, and the index of the list that it marks.
    #[inline]
    pub fn mark_before(&self, place: usize) -> (Mark, usize) {
        let mark = place / self.stride;
        (self.marks[mark.min(MOST_MARKS - 1)], mark * self.stride)
    }
}

/// Decodes the lists at adjacent places of a page into `out`, as if the page held no others.
///
/// `mark` is that of the list at place `marked`, which is at or before the first of them.
///
/// # Errors
/// Lists that the page does not have, or lengths, widths or neighbours that do not fit.
pub fn decode_lists(
    page: &Page<'_>,
    shape: Shape,
    (mark, marked): (Mark, usize),
    places: Range<usize>,
    out: &mut Lists,
) -> Result<()> {
    let count = page.count();
    check_vertices(page, shape)?;
    if marked > places.start || places.end > count || !marked.is_multiple_of(BLOCK) {
        return Err(Error::new(6, format!("lists {places:?} behind {marked}"), format!("{count} lists")));
    }
    out.first_vertex = page.first() + places.start as u64;
    out.offset = if places.start == 0 { page.base() } else { 0 };
    out.begins_earlier = places.start == 0 && page.flags() & BEGINS_EARLIER != 0;
    out.ends_later = places.end == count && page.flags() & ENDS_LATER != 0;
    out.count = places.len();
    at_least(&mut out.ends, out.count + 1);
    out.ends[0] = 0;
    let mut walk = Walk::from_mark(page, mark);
    let (mut block, mut done, mut largest) = (marked, 0, 0);
    while block < places.end {
        let lengths = walk.lengths((count - block).min(BLOCK))?;
        let wanted = places.start.saturating_sub(block).min(lengths.count)..lengths.count.min(places.end - block);
        walk.pass(&lengths, wanted.start)?;
        for lane in wanted {
            let (start, length) = (out.ends[done] as usize, lengths.get(lane) as usize);
            if length > 0 {
                walk.take(length)?;
                at_least(&mut out.neighbours, start + length);
                let vertex = (page.first() as u32).wrapping_add((block + lane) as u32);
                largest = largest.max(walk.list(vertex, &mut out.neighbours[start..start + length])?);
            }
            done += 1;
            out.ends[done] = (start + length) as u32;
        }
        block += lengths.count;
    }
    out.check_parts()?;
    if u64::from(largest) >= shape.vertices && out.edges() > 0 {
        return Err(neighbour_error(largest, shape));
    }
    Ok(())
}

/// Grows a buffer to at least this length.
#[inline]
fn at_least(buffer: &mut Vec<u32>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
}

/// A block of lengths.
struct Lengths<'a> {
    bytes: &'a PageBytes,
    /// Offset of its values, and the first eight bytes of them.
    from: usize,
    word: u64,
    width_bits: u32,
    count: usize,
}

impl Lengths<'_> {
    #[inline(always)]
    fn get(&self, lane: usize) -> u32 {
        if self.width_bits <= 4 {
            // All sixteen lie in one word.
            return (self.word >> (lane as u32 * self.width_bits)) as u32 & ((1 << self.width_bits) - 1);
        }
        value_at(self.bytes, self.from, lane, self.width_bits)
    }
}

/// A position in a page from which lists are skipped or decoded.
struct Walk<'a> {
    bytes: &'a PageBytes,
    /// Ends of the sections.
    ends: [usize; 3],
    lengths_at: usize,
    gaps_at: usize,
    /// Offset of the block of first neighbours, and the number of its values that belong to earlier lists.
    firsts_at: usize,
    firsts_passed: usize,
    edges: usize,
    relative: bool,
    step: u32,
}

impl<'a> Walk<'a> {
    fn from_start(page: &Page<'a>) -> Self {
        let start = Mark {
            lengths_at: HEADER_BYTES as u16,
            firsts_at: page.section_end(0) as u16,
            gaps_at: page.section_end(1) as u16,
            ..Mark::default()
        };
        Self::from_mark(page, start)
    }

    #[inline]
    fn from_mark(page: &Page<'a>, mark: Mark) -> Self {
        Walk {
            bytes: page.bytes(),
            ends: [page.section_end(0), page.section_end(1), page.section_end(2)],
            lengths_at: usize::from(mark.lengths_at),
            gaps_at: usize::from(mark.gaps_at),
            firsts_at: usize::from(mark.firsts_at),
            firsts_passed: usize::from(mark.firsts_passed),
            edges: usize::from(mark.edges),
            relative: page.flags() & RELATIVE != 0,
            step: u32::from(page.flags() & PARALLEL == 0),
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            lengths_at: self.lengths_at as u16,
            firsts_at: self.firsts_at as u16,
            firsts_passed: self.firsts_passed as u8,
            gaps_at: self.gaps_at as u16,
            edges: self.edges as u16,
        }
    }

    /// The width of the block of `count` values at an offset before `end`, and the offset of its end.
    #[inline(always)]
    fn block(&self, at: usize, count: usize, most_bits: u32, end: usize) -> Result<(u32, usize)> {
        let width_bits = match self.bytes.get(at) {
            Some(&width) if at < end => u32::from(width),
            _ => return Err(bad(at, "a block", "the end of a section")),
        };
        let next = at + block_bytes(count, width_bits);
        if width_bits > most_bits || next > end {
            return Err(bad(at, "a block that fits its section", "a wider one"));
        }
        Ok((width_bits, next))
    }

    /// The lengths of the next lists.
    #[inline(always)]
    fn lengths(&mut self, count: usize) -> Result<Lengths<'a>> {
        let (width_bits, next) = self.block(self.lengths_at, count, LENGTH_BITS, self.ends[0])?;
        let from = self.lengths_at + 1;
        self.lengths_at = next;
        Ok(Lengths { bytes: self.bytes, from, word: word_at(self.bytes, from), width_bits, count })
    }

    /// Skips the first `count` lists of a block.
    #[inline(always)]
    fn pass(&mut self, lengths: &Lengths<'_>, count: usize) -> Result<()> {
        let (mut filled, mut sum, mut widest, mut at) = (0, 0, 0, self.gaps_at);
        let bytes = self.bytes;
        let mut block = |gaps: usize| {
            let width_bits = *bytes.get(at)?;
            widest = widest.max(width_bits);
            at += block_bytes(gaps, u32::from(width_bits));
            Some(())
        };
        let mut go_on = Some(());
        if lengths.width_bits <= 4 {
            // No list has more than one block of gaps: this loop bounds the speed on grids and roads.
            let mut word = lengths.word;
            for _ in 0..count {
                let length = word as usize & ((1 << lengths.width_bits) - 1);
                word >>= lengths.width_bits;
                filled += usize::from(length > 0);
                sum += length;
                if length > 1 {
                    go_on = go_on.and(block(length - 1));
                }
            }
        } else {
            for lane in 0..count {
                let length = lengths.get(lane) as usize;
                filled += usize::from(length > 0);
                sum += length;
                let mut gaps = length.saturating_sub(1);
                while gaps > 0 && go_on.is_some() {
                    go_on = block(gaps.min(BLOCK));
                    gaps = gaps.saturating_sub(BLOCK);
                }
            }
        }
        if go_on.is_none() || widest > 32 || at > self.ends[2] {
            return Err(bad(self.gaps_at, "blocks of gaps that fit their section", "wider ones"));
        }
        self.gaps_at = at;
        self.take(sum)?;
        self.pass_firsts(filled)
    }

    /// Counts neighbours.
    #[inline(always)]
    fn take(&mut self, count: usize) -> Result<()> {
        self.edges += count;
        if self.edges > MAX_NEIGHBOURS {
            return Err(bad(HEADER_BYTES, "as many neighbours as fit into a page", &self.edges.to_string()));
        }
        Ok(())
    }

    /// Skips the first neighbours of at most sixteen lists.
    #[inline(always)]
    fn pass_firsts(&mut self, count: usize) -> Result<()> {
        self.firsts_passed += count;
        if self.firsts_passed >= BLOCK {
            self.firsts_at = self.block(self.firsts_at, BLOCK, 32, self.ends[1])?.1;
            self.firsts_passed -= BLOCK;
        }
        Ok(())
    }

    /// Decodes a list that is not empty; returns its largest neighbour.
    #[inline]
    fn list(&mut self, vertex: u32, out: &mut [u32]) -> Result<u32> {
        let lane = self.firsts_passed;
        let (width_bits, _) = self.block(self.firsts_at, lane + 1, 32, self.ends[1])?;
        let stored = value_at(self.bytes, self.firsts_at + 1, lane, width_bits);
        self.pass_firsts(1)?;
        let mut neighbour = if self.relative { unfold(stored, vertex) } else { stored };
        let mut largest = neighbour;
        let Some((first, rest)) = out.split_first_mut() else { return Ok(0) };
        *first = neighbour;
        for block in rest.chunks_mut(BLOCK) {
            let (width_bits, next) = self.block(self.gaps_at, block.len(), 32, self.ends[2])?;
            let (from, step) = (self.gaps_at + 1, self.step);
            // Hostile gaps may make neighbours wrap around: each of them is checked.
            let mut next_one = |slot: &mut u32, gap: u32| {
                neighbour = neighbour.wrapping_add(gap).wrapping_add(step);
                largest = largest.max(neighbour);
                *slot = neighbour;
            };
            if block.len() * width_bits as usize <= 64 {
                let (mut word, mask) = (word_at(self.bytes, from), ((1u64 << width_bits) - 1) as u32);
                for slot in block {
                    next_one(slot, word as u32 & mask);
                    word >>= width_bits;
                }
            } else {
                for (lane, slot) in block.iter_mut().enumerate() {
                    next_one(slot, value_at(self.bytes, from, lane, width_bits));
                }
            }
            self.gaps_at = next;
        }
        Ok(largest)
    }

    /// Checks that the page's sections end here.
    fn finish(&self) -> Result<()> {
        let firsts = match self.firsts_passed {
            0 => self.firsts_at,
            count => self.block(self.firsts_at, count, 32, self.ends[1])?.1,
        };
        for (at, end) in [self.lengths_at, firsts, self.gaps_at].into_iter().zip(self.ends) {
            if at != end {
                return Err(bad(at, "the end of a section", &format!("{} more bytes", end.abs_diff(at))));
            }
        }
        Ok(())
    }
}

#[cold]
fn bad(at: usize, expected: &str, found: &str) -> Error {
    Error::new(at as u64, expected, found)
}

/// The value of a lane of a block whose values begin at an offset, and which ends within the page.
#[inline(always)]
fn value_at(bytes: &PageBytes, from: usize, lane: usize, width_bits: u32) -> u32 {
    let bit = lane * width_bits as usize;
    let mask = ((1u64 << width_bits) - 1) as u32;
    (word_at(bytes, from + bit / 8) >> (bit % 8)) as u32 & mask
}

/// The eight bytes at an offset as a number; zeros behind the end of the page.
#[inline(always)]
fn word_at(bytes: &PageBytes, at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(word) => u64::from_le_bytes(*word),
        None => last_word(bytes, at),
    }
}

#[cold]
fn last_word(bytes: &PageBytes, at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
