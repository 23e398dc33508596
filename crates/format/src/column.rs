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

use crate::block::{BLOCK, block_bytes, width};
use crate::error::Result;
use crate::flags::DELTA;
use crate::page::{HEADER_BYTES, Origin, PAGE_BYTES, Page, PageBytes};
pub use crate::series::MAX_VALUES;
use crate::series::{Draft, Series, read_blocks, write_blocks};

/// Appends the values of a column page to `out`.
///
/// # Errors
/// Widths or counts that do not fit.
pub fn decode(page: &Page<'_>, out: &mut Vec<u64>) -> Result<()> {
    let mut before = page.base();
    if page.flags() & DELTA == 0 {
        return read_blocks(page, |block| out.extend(block.iter().map(|&value| value.wrapping_add(before))));
    }
    read_blocks(page, |block| {
        out.extend(block.iter().map(|&distance| {
            before = before.wrapping_add(distance);
            before
        }));
    })
}

/// Packs values into pages.
pub struct ColumnWriter {
    series: Series,
    signed: bool,
}

impl ColumnWriter {
    /// A writer whose first page has number 0. `signed` says how values compare, for choosing a base.
    pub fn new(origin: Origin, signed: bool) -> Self {
        ColumnWriter { series: Series::new(origin, 0), signed }
    }

    /// Sets the ordinal of the first value.
    pub fn starting_at(mut self, first: u64) -> Self {
        self.series.first = first;
        self
    }

    /// Appends a value. Every full page is passed to `emit` with the ordinal of its first value.
    pub fn push(&mut self, value: u64, emit: impl FnMut(u64, &PageBytes)) {
        self.series.push(value, |waiting| draft(waiting, self.signed), emit);
    }

    /// Writes the remaining values.
    pub fn finish(mut self, emit: impl FnMut(u64, &PageBytes)) {
        self.series.close_down_to(1, |waiting| draft(waiting, self.signed), emit);
    }
}

/// A page of as many of the waiting values as fit.
fn draft(waiting: &[u64], signed: bool) -> Draft {
    let plain = fitting_plain(waiting, signed);
    let delta = fitting_delta(waiting);
    let mut bytes = Vec::with_capacity(PAGE_BYTES);
    if delta > plain {
        let mut before = waiting[0];
        write_blocks(&waiting[..delta], &mut bytes, |value| value.wrapping_sub(std::mem::replace(&mut before, value)));
        return Draft { count: delta, flags: DELTA, base: waiting[0], bytes };
    }
    let base = least(&waiting[..plain], signed);
    write_blocks(&waiting[..plain], &mut bytes, |value| value.wrapping_sub(base));
    Draft { count: plain, flags: 0, base, bytes }
}

fn least(values: &[u64], signed: bool) -> u64 {
    let order = |value: u64| if signed { value ^ (1 << 63) } else { value };
    values.iter().copied().min_by_key(|&value| order(value)).unwrap_or(0)
}

/// Number of values that fit as distances from the smallest of them.
fn fitting_plain(values: &[u64], signed: bool) -> usize {
    // The base falls as values are added, so sizes are computed for a growing prefix, by doubling, then by bisection.
    let fits = |count: usize| {
        let base = least(&values[..count], signed);
        let blocks = values[..count].chunks(BLOCK).map(|block| {
            let all = block.iter().fold(0, |all, value| all | value.wrapping_sub(base));
            block_bytes(block.len(), width(all))
        });
        blocks.sum::<usize>() <= PAGE_BYTES - HEADER_BYTES
    };
    largest(values.len().min(MAX_VALUES), fits)
}

/// Number of values that fit as distances from each other.
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

/// The largest number in `0..=most` that fits. If a number fits, so do all smaller ones, and 256 always fits.
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
    use outcore_testkit::random_word;

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
                let word = random_word(&mut state);
                word ^ (word >> 31)
            })
            .collect();
        assert_eq!(round_trip(&noise, false), 100_000usize.div_ceil(504));
        round_trip(&[0, u64::MAX, 1, u64::MAX - 1, 1 << 63], true);
    }
}
