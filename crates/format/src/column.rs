//! Columns: one value per vertex or per edge, as pages of blocks.
//!
//! ```text
//!   section 0   values, less the page's base, as blocks of up to 64-bit numbers;
//!               with flag DELTA the distances between successive values, the first one from the base
//! ```
//!
//! A page takes as many values as fit. Numbers below zero are in two's complement: distances wrap, so they work
//! for all 64-bit types alike. Real numbers are stored by their bits. The writer takes the shorter of the two forms
//! for every page: a rising column (ids, offsets) costs a few bits per value, a constant one nothing.

use crate::block::{BLOCK, block_bytes, read_block, width, write_block};
use crate::error::{Error, Result};
use crate::page::{HEADER_BYTES, Header, Origin, PAGE_BYTES, Page, PageBytes, build};

/// Values are distances between successive ones.
pub const DELTA: u8 = 1;
/// The most values in a page.
pub const MAX_VALUES: usize = u16::MAX as usize;

/// Appends the values of a column page to `out`.
///
/// # Errors
/// Widths or counts that do not fit.
pub fn decode(page: &Page<'_>, out: &mut Vec<u64>) -> Result<()> {
    let bytes = page.section(0);
    let mut left = page.count();
    if left > bytes.len() * BLOCK {
        return Err(Error::new(6, "as many values as the page has room for", left.to_string()));
    }
    let delta = page.flags() & DELTA != 0;
    let mut before = page.base();
    let mut block = [0; BLOCK];
    let mut at = 0;
    while left > 0 {
        let take = left.min(BLOCK);
        at += read_block(&bytes[at..], take, 64, &mut block).map_err(|mut error| {
            error.offset_bytes += (HEADER_BYTES + at) as u64;
            error
        })?;
        if delta {
            out.extend(block[..take].iter().map(|&distance| {
                before = before.wrapping_add(distance);
                before
            }));
        } else {
            out.extend(block[..take].iter().map(|&value| value.wrapping_add(before)));
        }
        left -= take;
    }
    if at != bytes.len() {
        return Err(Error::new(
            (HEADER_BYTES + at) as u64,
            "the end of the values",
            format!("{} more bytes", bytes.len() - at),
        ));
    }
    Ok(())
}

/// Packs values into pages.
pub struct ColumnWriter {
    origin: Origin,
    signed: bool,
    page_number: u64,
    first: u64,
    values: Vec<u64>,
}

impl ColumnWriter {
    /// A writer whose first page has number 0. `signed` says how values compare, for choosing a base.
    pub fn new(origin: Origin, signed: bool) -> Self {
        ColumnWriter { origin, signed, page_number: 0, first: 0, values: Vec::new() }
    }

    /// The same writer, whose first value has the ordinal `first`.
    pub fn starting_at(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// Appends a value. Every page that gets full goes to `emit` with the ordinal of its first value.
    pub fn push(&mut self, value: u64, mut emit: impl FnMut(u64, &PageBytes)) {
        self.values.push(value);
        if self.values.len() >= MAX_VALUES {
            self.close_down_to(MAX_VALUES / 8, &mut emit);
        }
    }

    /// Writes what is left.
    pub fn finish(mut self, mut emit: impl FnMut(u64, &PageBytes)) {
        self.close_down_to(1, &mut emit);
    }

    /// Writes pages while at least `least` values wait.
    fn close_down_to(&mut self, least: usize, emit: &mut impl FnMut(u64, &PageBytes)) {
        let mut start = 0;
        while self.values.len() - start >= least {
            start += self.close(start, emit);
        }
        self.values.drain(..start);
    }

    /// Writes one page of as many of the waiting values as fit; returns how many.
    fn close(&mut self, start: usize, emit: &mut impl FnMut(u64, &PageBytes)) -> usize {
        let waiting = &self.values[start..];
        let plain = self.fitting_plain(waiting);
        let delta = fitting_delta(waiting);
        let (count, use_delta) = if delta > plain { (delta, true) } else { (plain, false) };
        let values = &waiting[..count];
        let base = if use_delta { values[0] } else { self.least(values) };
        let mut bytes = Vec::with_capacity(PAGE_BYTES);
        let mut before = base;
        let mut block = [0u64; BLOCK];
        for chunk in values.chunks(BLOCK) {
            let mut all = 0;
            for (slot, &value) in block.iter_mut().zip(chunk) {
                *slot = value.wrapping_sub(before);
                all |= *slot;
                if use_delta {
                    before = value;
                }
            }
            write_block(&block[..chunk.len()], width(all), &mut bytes);
        }
        let header = Header { flags: if use_delta { DELTA } else { 0 }, count: count as u16, first: self.first, base };
        let page = build(&self.origin, self.page_number, header, &[&bytes]);
        emit(self.first, &page);
        self.page_number += 1;
        self.first += count as u64;
        count
    }

    fn order(&self, value: u64) -> u64 {
        if self.signed { value ^ (1 << 63) } else { value }
    }

    fn least(&self, values: &[u64]) -> u64 {
        values.iter().copied().min_by_key(|&value| self.order(value)).unwrap_or(0)
    }

    /// How many values fit as distances from the least of them.
    fn fitting_plain(&self, values: &[u64]) -> usize {
        // The base falls as values are added, so sizes are reckoned for a growing prefix, doubling, then by halving.
        let fits = |count: usize| {
            let base = self.least(&values[..count]);
            let bytes: usize = values[..count]
                .chunks(BLOCK)
                .map(|block| {
                    let all = block.iter().fold(0, |all, value| all | value.wrapping_sub(base));
                    block_bytes(block.len(), width(all))
                })
                .sum();
            bytes <= PAGE_BYTES - HEADER_BYTES
        };
        largest(values.len().min(MAX_VALUES), fits)
    }
}

/// How many values fit as distances from each other.
fn fitting_delta(values: &[u64]) -> usize {
    let most = values.len().min(MAX_VALUES);
    let mut used = 0;
    let mut before = values[0];
    for (i, block) in values[..most].chunks(BLOCK).enumerate() {
        let mut all = 0;
        for &value in block {
            all |= value.wrapping_sub(before);
            before = value;
        }
        used += block_bytes(block.len(), width(all));
        if used > PAGE_BYTES - HEADER_BYTES {
            return i * BLOCK;
        }
    }
    most
}

/// The largest number in `0..=most` that fits, where what fits shrinks no smaller number.
fn largest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut reach = 256.min(most);
    while reach < most && fits((2 * reach).min(most)) {
        reach = (2 * reach).min(most);
    }
    let (mut good, mut bad) = (reach, (2 * reach).min(most) + 1);
    while good + 1 < bad {
        let middle = good + (bad - good) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Kind;

    const ORIGIN: Origin = Origin { image_id: 7, kind: Kind::Column, file: 3 };

    fn round_trip(values: &[u64], signed: bool) -> usize {
        let mut pages = Vec::new();
        let mut writer = ColumnWriter::new(ORIGIN, signed);
        for &value in values {
            writer.push(value, |first, page| pages.push((first, Box::new(*page))));
        }
        writer.finish(|first, page| pages.push((first, Box::new(*page))));
        let mut back = Vec::new();
        for (i, (first, bytes)) in pages.iter().enumerate() {
            assert_eq!(*first, back.len() as u64);
            let page = ORIGIN.verify(i as u64, bytes).unwrap();
            decode(&page, &mut back).unwrap();
        }
        assert_eq!(back, values);
        pages.len()
    }

    #[test]
    fn values_come_back_and_regular_ones_are_small() {
        assert_eq!(round_trip(&[], false), 0);
        assert_eq!(round_trip(&[u64::MAX], false), 1);
        assert_eq!(round_trip(&vec![42; 65_000], false), 1);
        // 254 blocks of sixteen distances of one bit
        assert_eq!(round_trip(&(0..20_000u64).collect::<Vec<_>>(), false), 1);
        let signed: Vec<u64> = (0..3000i64).map(|i| ((i * 7919) % 200 - 100) as u64).collect();
        assert_eq!(round_trip(&signed, true), 1);
        let mut state = 9u64;
        let noise: Vec<u64> = (0..100_000)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                state ^ (state >> 31)
            })
            .collect();
        assert_eq!(round_trip(&noise, false), 100_000usize.div_ceil(504));
        round_trip(&[0, u64::MAX, 1, u64::MAX - 1, 1 << 63], true);
    }
}
