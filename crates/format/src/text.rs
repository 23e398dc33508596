//! Text: the bytes of all strings of a column, one after the other, as pages of up to 4064 bytes.
//!
//! A column of numbers of its own holds the end of each string.

use crate::error::{Error, Result};
use crate::page::{HEADER_BYTES, Header, Origin, PAGE_BYTES, Page, PageBytes, build};

/// Bytes in every page but the last.
pub const TEXT_BYTES: usize = PAGE_BYTES - HEADER_BYTES;

/// The bytes of a text page.
///
/// # Errors
/// A count that differs from the section's size.
pub fn decode<'a>(page: &Page<'a>) -> Result<&'a [u8]> {
    let bytes = page.section(0);
    if bytes.len() != page.count() {
        return Err(Error::new(6, format!("{} bytes", bytes.len()), page.count().to_string()));
    }
    Ok(bytes)
}

/// Packs bytes into pages.
pub struct TextWriter {
    origin: Origin,
    page_number: u64,
    waiting: Vec<u8>,
}

impl TextWriter {
    /// A writer whose first page has number 0.
    pub fn new(origin: Origin) -> Self {
        TextWriter { origin, page_number: 0, waiting: Vec::new() }
    }

    /// Appends bytes. Every full page is passed to `emit`.
    pub fn push(&mut self, bytes: &[u8], mut emit: impl FnMut(&PageBytes)) {
        self.waiting.extend_from_slice(bytes);
        let mut start = 0;
        while self.waiting.len() - start >= TEXT_BYTES {
            let end = start + TEXT_BYTES;
            emit(&Self::page(&self.origin, self.page_number, &self.waiting[start..end]));
            self.page_number += 1;
            start = end;
        }
        self.waiting.drain(..start);
    }

    /// Writes the remaining bytes.
    pub fn finish(self, mut emit: impl FnMut(&PageBytes)) {
        if !self.waiting.is_empty() {
            emit(&Self::page(&self.origin, self.page_number, &self.waiting));
        }
    }

    fn page(origin: &Origin, page_number: u64, bytes: &[u8]) -> Box<PageBytes> {
        let header = Header { flags: 0, count: bytes.len() as u16, first: page_number * TEXT_BYTES as u64, base: 0 };
        build(origin, page_number, header, &[bytes])
    }
}
