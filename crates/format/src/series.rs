//! Series: consecutive numbers in pages of blocks, shared by columns and by values beside lists.

use crate::block::{BLOCK, read_block, width, write_block};
use crate::error::{Error, Result};
use crate::page::{HEADER_BYTES, Header, Origin, Page, PageBytes, build};

/// The most values in a page.
pub const MAX_VALUES: usize = u16::MAX as usize;

/// Calls `visit` with the numbers of every block of a page's first section.
///
/// # Errors
/// Widths or counts that do not fit.
pub(crate) fn read_blocks(page: &Page<'_>, mut visit: impl FnMut(&[u64])) -> Result<()> {
    let bytes = page.section(0);
    let mut remaining = page.count();
    if remaining > bytes.len() * BLOCK {
        return Err(Error::new(6, "as many values as the page has room for", remaining.to_string()));
    }
    let (mut block, mut at) = ([0; BLOCK], 0);
    while remaining > 0 {
        let take = remaining.min(BLOCK);
        at += read_block(&bytes[at..], take, 64, &mut block).map_err(|mut error| {
            error.offset_bytes += (HEADER_BYTES + at) as u64;
            error
        })?;
        visit(&block[..take]);
        remaining -= take;
    }
    if at != bytes.len() {
        let found = format!("{} more bytes", bytes.len() - at);
        return Err(Error::new((HEADER_BYTES + at) as u64, "the end of the values", found));
    }
    Ok(())
}

/// Appends numbers as blocks, each transformed by `less`.
pub(crate) fn write_blocks(values: &[u64], bytes: &mut Vec<u8>, mut less: impl FnMut(u64) -> u64) {
    let mut block = [0u64; BLOCK];
    for values in values.chunks(BLOCK) {
        let mut all = 0;
        for (slot, &value) in block.iter_mut().zip(values) {
            *slot = less(value);
            all |= *slot;
        }
        write_block(&block[..values.len()], width(all), bytes);
    }
}

/// A page that is not sealed yet: its number of values, and its header's flags and base.
pub(crate) struct Draft {
    pub count: usize,
    pub flags: u8,
    pub base: u64,
    pub bytes: Vec<u8>,
}

/// Values that wait for their pages.
pub(crate) struct Series {
    origin: Origin,
    page_number: u64,
    /// The ordinal of the first waiting value.
    pub first: u64,
    values: Vec<u64>,
}

impl Series {
    /// A series whose first page has number 0 and whose first value has the ordinal `first`.
    pub fn new(origin: Origin, first: u64) -> Self {
        Series { origin, page_number: 0, first, values: Vec::new() }
    }

    /// Appends a value. `draft` makes a page of as many of the waiting values as fit; every full page is passed to
    /// `emit` with the ordinal of its first value.
    pub fn push(&mut self, value: u64, draft: impl Fn(&[u64]) -> Draft, emit: impl FnMut(u64, &PageBytes)) {
        self.values.push(value);
        if self.values.len() >= MAX_VALUES {
            self.close_down_to(MAX_VALUES / 8, draft, emit);
        }
    }

    /// Number of waiting values.
    pub fn waiting(&self) -> usize {
        self.values.len()
    }

    /// Writes pages while at least `least` values wait.
    pub fn close_down_to(
        &mut self,
        least: usize,
        draft: impl Fn(&[u64]) -> Draft,
        mut emit: impl FnMut(u64, &PageBytes),
    ) {
        let mut start = 0;
        while self.values.len() - start >= least {
            let Draft { count, flags, base, bytes } = draft(&self.values[start..]);
            let header = Header { flags, count: count as u16, first: self.first, base };
            emit(self.first, &build(&self.origin, self.page_number, header, &[&bytes]));
            self.page_number += 1;
            self.first += count as u64;
            start += count;
        }
        self.values.drain(..start);
    }
}
