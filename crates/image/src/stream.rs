//! Streams: the pages of one file in order, the values of a column in order, the bytes of a text in order.
//!
//! If an answer needs order (ids, output, export), one worker reads ahead with a small ring of its own, so a stream
//! takes [`STREAM_BYTES`] for any size of the file, and streams of several files run side by side. Every page is
//! verified, and must continue where the one before it ended.

use crate::files::corrupt;
use crate::image::Image;
use crate::{Error, Result};
use outcore_format::{HEADER_BYTES, ImageFile, Index, Origin, PAGE_BYTES, PageBytes, ValueDomain, column, text};
use outcore_io::{DataFile, ReadAhead, Reader, Reservation, Runtime};
use std::ops::Range;
use std::sync::Arc;

/// Number of pages of one read.
const EXTENT_PAGES: u64 = 16;
const EXTENT_BYTES: usize = EXTENT_PAGES as usize * PAGE_BYTES;
/// The ring of read buffers for reading ahead.
const AHEAD: ReadAhead = ReadAhead { extents: 4, extent_bytes: EXTENT_BYTES };
const RING_BYTES: usize = AHEAD.extents * AHEAD.extent_bytes;
/// Room for the values of one page.
const VALUES_BYTES: u64 = 8 * (column::MAX_VALUES as u64 + 1);
/// The memory that a stream takes.
pub const STREAM_BYTES: u64 = (RING_BYTES + EXTENT_BYTES) as u64 + VALUES_BYTES;

/// The pages of a file, or of a part of it, in order.
pub struct PageStream {
    runtime: Runtime,
    data: Arc<DataFile>,
    origin: Origin,
    reader: Reader,
    /// Pages whose reads have not begun.
    unread: Range<u64>,
    /// The current extent: its bytes, the number of its next page, and the offset of that page.
    extent: Vec<u8>,
    page: u64,
    at: usize,
    _reservation: Reservation,
}

impl PageStream {
    /// The given pages of a file, or as many of them as the file has.
    ///
    /// # Errors
    /// An image without that file, or no memory.
    pub fn new(image: &Image, file: ImageFile, pages: Range<u64>) -> Result<Self> {
        let missing = || Error::damaged(file.path(image.path()), 0, "a file of pages", "none in the manifest");
        let place = image.file(file).ok_or_else(missing)?;
        image.make_room("reading a column", STREAM_BYTES)?;
        let runtime = image.runtime().clone();
        let budget = runtime.budget();
        let data = Arc::clone(image.data_file(place));
        let reservation = budget.reserve("reading a column", STREAM_BYTES - RING_BYTES as u64)?;
        let reader = Reader::ahead(&runtime, &data, AHEAD)?;
        let mut stream = PageStream {
            data,
            origin: file.origin(image.manifest().image_id),
            reader,
            unread: 0..0,
            extent: Vec::new(),
            page: 0,
            at: 0,
            _reservation: reservation,
            runtime,
        };
        stream.seek(pages);
        Ok(stream)
    }

    /// Goes on with other pages of the file, or as many of them as it has. Reads under way are abandoned.
    pub fn seek(&mut self, pages: Range<u64>) {
        self.reader.clear();
        self.extent.clear();
        self.at = 0;
        self.page = pages.start;
        self.unread = pages.start..pages.end.min(self.data.len_bytes() / PAGE_BYTES as u64);
    }

    /// The next page and its number; `None` after the last one. The bytes are not verified.
    ///
    /// # Errors
    /// A read that fails, or a request to stop.
    pub fn page(&mut self) -> Result<Option<(u64, &PageBytes)>> {
        if self.at == self.extent.len() && !self.next_extent()? {
            return Ok(None);
        }
        let (pages, _) = self.extent[self.at..].as_chunks::<PAGE_BYTES>();
        self.at += PAGE_BYTES;
        self.page += 1;
        Ok(Some((self.page - 1, &pages[0])))
    }

    fn next_extent(&mut self) -> Result<bool> {
        self.runtime.cancel().check()?;
        while !self.unread.is_empty() {
            let pages = EXTENT_PAGES.min(self.unread.end - self.unread.start);
            let offset = self.unread.start * PAGE_BYTES as u64;
            if !self.reader.push(0, offset, pages as usize * PAGE_BYTES, 0)? {
                break;
            }
            self.unread.start += pages;
        }
        self.reader.submit()?;
        self.extent.clear();
        self.at = 0;
        let Some(extent) = self.reader.next()? else { return Ok(false) };
        self.extent.extend_from_slice(extent.bytes);
        Ok(true)
    }

    /// The seed of the checksums of the pages.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The error for bad bytes in a page.
    pub fn corrupt(&self, page: u64, error: outcore_format::Error) -> Error {
        corrupt(self.data.path(), page * PAGE_BYTES as u64, error)
    }

    /// The error for a file that ends too early or too late.
    pub fn bad_end(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::damaged(self.data.path(), self.page * PAGE_BYTES as u64, expected, found)
    }
}

/// The values of a column, or of a part of it, in order.
pub struct ColumnStream {
    pages: PageStream,
    /// Type and rule of values beside lists and of attributes; columns of vertices have none.
    domain: Option<ValueDomain>,
    /// The values of the current page, and the number of those that have been taken.
    values: Vec<u64>,
    position: usize,
    /// The page that they come from.
    page: u64,
    /// The ordinal after the page's last value, and after the last value of the stream.
    read: u64,
    end: u64,
    /// Number of values of the first page that precede the stream's first one.
    skipped: u64,
    /// The number of values of the whole column, and the index of its pages, if it has one.
    count: u64,
    index: Option<Arc<Index>>,
}

impl ColumnStream {
    /// All `count` values of a column.
    ///
    /// # Errors
    /// An image without that column, or no memory.
    pub fn new(image: &Image, file: ImageFile, count: u64) -> Result<Self> {
        ColumnStream::over(image, file, 0..u64::MAX, count)
    }

    /// The values of pages of a column of `count` values, of which the first has the ordinal 0.
    fn over(image: &Image, file: ImageFile, pages: Range<u64>, count: u64) -> Result<Self> {
        Ok(ColumnStream {
            page: pages.start,
            pages: PageStream::new(image, file, pages)?,
            domain: image.manifest().domain(file),
            values: Vec::new(),
            position: 0,
            read: 0,
            end: count,
            skipped: 0,
            count,
            index: None,
        })
    }

    /// The values with ordinals in `range` of a column of `count` values with an index of first ordinals.
    ///
    /// # Errors
    /// An image without that column, an index that does not reach it, or no memory.
    pub fn part(image: &Image, file: ImageFile, index: &Arc<Index>, range: Range<u64>, count: u64) -> Result<Self> {
        let mut stream = ColumnStream::over(image, file, 0..0, count)?;
        stream.seek(index, range);
        Ok(stream)
    }

    /// Goes on with the values with ordinals in `range`, as [`part`](ColumnStream::part) of the same column does,
    /// without opening it again.
    pub fn seek(&mut self, index: &Arc<Index>, range: Range<u64>) {
        let first = index.last_at_most(range.start).filter(|_| !range.is_empty());
        let (pages, read) = match first {
            Some(page) => (page..index.last_at_most(range.end - 1).unwrap_or(page) + 1, index.get(page)),
            None => (0..0, range.start),
        };
        self.page = pages.start;
        self.pages.seek(pages);
        self.values.clear();
        self.position = 0;
        (self.read, self.end, self.skipped) = (read, range.end, range.start - read);
        self.index = Some(Arc::clone(index));
    }

    /// The next values, at most `most`, without taking them; empty at the end of the column.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged, a column that is too short or too long, or a request to stop.
    pub fn peek(&mut self, most: usize) -> Result<&[u64]> {
        while self.position == self.values.len() {
            if self.read >= self.end {
                if let Some((page, _)) = self.pages.page()? {
                    let expected = format!("the end of the column after {} values", self.end);
                    let found = format!("page {page} behind them");
                    return Err(self.pages.corrupt(page, outcore_format::Error::new(0, expected, found)));
                }
                return Ok(&[]);
            }
            self.next_page()?;
        }
        let end = self.values.len().min(self.position.saturating_add(most));
        Ok(&self.values[self.position..end])
    }

    /// Takes `count` of the values that [`peek`](ColumnStream::peek) showed.
    pub fn take(&mut self, count: usize) {
        self.position += count;
        debug_assert!(self.position <= self.values.len());
    }

    /// Takes exactly `count` values and appends them to `out`.
    ///
    /// # Errors
    /// As for [`peek`](ColumnStream::peek); a column that ends before.
    pub fn take_into(&mut self, count: usize, out: &mut Vec<u64>) -> Result<()> {
        self.take_each(count, |values| out.extend_from_slice(values))
    }

    /// Takes exactly `count` values; `visit` receives them, some at a time.
    ///
    /// # Errors
    /// As for [`take_into`](ColumnStream::take_into).
    pub fn take_each(&mut self, mut count: usize, mut visit: impl FnMut(&[u64])) -> Result<()> {
        while count > 0 {
            let values = self.peek(count)?;
            let len = values.len();
            visit(values);
            if len == 0 {
                return Err(self.bad_end());
            }
            self.take(len);
            count -= len;
        }
        Ok(())
    }

    /// Takes the next value.
    ///
    /// # Errors
    /// As for [`take_into`](ColumnStream::take_into).
    pub fn value(&mut self) -> Result<u64> {
        match self.peek(1)?.first() {
            Some(&value) => {
                self.take(1);
                Ok(value)
            }
            None => Err(self.bad_end()),
        }
    }

    /// The error for a column that ends too early.
    pub fn bad_end(&self) -> Error {
        self.pages.bad_end(format!("more than {} values", self.end), "the end of the column")
    }

    /// The error for a value that has just been taken or shown.
    pub fn bad_value(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        self.pages.corrupt(self.page, outcore_format::Error::new(HEADER_BYTES as u64, expected, found))
    }

    fn next_page(&mut self) -> Result<()> {
        self.values.clear();
        self.position = 0;
        let (read, end, origin) = (self.read, self.end, self.pages.origin);
        let Some((number, bytes)) = self.pages.page()? else {
            return Err(self.pages.bad_end(format!("{end} values"), format!("{read} values")));
        };
        let (values, index, count, domain) = (&mut self.values, &self.index, self.count, self.domain);
        let outcome = origin.verify(number, bytes).and_then(|page| {
            match domain {
                Some(domain) => domain.decode(&page, values)?,
                None => column::decode(&page, values)?,
            }
            let found = || format!("{} from {}", values.len(), page.first());
            if page.first() != read || values.is_empty() {
                return Err(outcore_format::Error::new(8, format!("values from {read} on"), found()));
            }
            if values.len() as u64 > count.saturating_sub(read) {
                return Err(outcore_format::Error::new(6, format!("no more than {count} values"), found()));
            }
            match index {
                Some(index) if number >= index.len() => {
                    Err(outcore_format::Error::new(8, format!("{} pages, as the index has", index.len()), found()))
                }
                Some(index) if index.get(number) != read => {
                    let expected = format!("values from {} on, as the index says", index.get(number));
                    Err(outcore_format::Error::new(8, expected, found()))
                }
                _ => Ok(()),
            }
        });
        outcome.map_err(|error| self.pages.corrupt(number, error))?;
        self.page = number;
        self.read += self.values.len() as u64;
        let skipped = self.skipped.min(self.values.len() as u64);
        self.position = skipped as usize;
        self.skipped -= skipped;
        // A part of a column may end within a page.
        if self.read > self.end {
            self.values.truncate(self.values.len() - (self.read - self.end) as usize);
        }
        Ok(())
    }
}

/// The bytes of a text, in order.
pub struct TextStream {
    pages: PageStream,
    bytes: Vec<u8>,
    position: usize,
    read: u64,
}

impl TextStream {
    /// All of a text.
    ///
    /// # Errors
    /// An image without that text, or no memory.
    pub fn new(image: &Image, file: ImageFile) -> Result<Self> {
        let pages = PageStream::new(image, file, 0..u64::MAX)?;
        Ok(TextStream { pages, bytes: Vec::new(), position: 0, read: 0 })
    }

    /// Takes exactly `count` bytes and appends them to `out`.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged, a text that is too short, or a request to stop.
    pub fn take_into(&mut self, mut count: u64, out: &mut Vec<u8>) -> Result<()> {
        while count > 0 {
            if self.position == self.bytes.len() && !self.next_page()? {
                return Err(self.pages.bad_end(format!("{count} more bytes of text"), "the end of the text"));
            }
            let len = count.min((self.bytes.len() - self.position) as u64) as usize;
            out.extend_from_slice(&self.bytes[self.position..self.position + len]);
            self.position += len;
            count -= len as u64;
        }
        Ok(())
    }

    /// Checks that the text ends here.
    ///
    /// # Errors
    /// More text, or a page that cannot be read or is damaged.
    pub fn finish(&mut self) -> Result<()> {
        if self.position < self.bytes.len() || self.next_page()? {
            let more = self.bytes.len() - self.position;
            return Err(self.pages.bad_end("the end of the text", format!("at least {more} more bytes")));
        }
        Ok(())
    }

    /// The error for bad bytes at an offset of the text.
    pub fn bad_text(&self, at: u64, expected: &str, found: impl Into<String>) -> Error {
        let (page, within) = (at / text::TEXT_BYTES as u64, at % text::TEXT_BYTES as u64);
        self.pages.corrupt(page, outcore_format::Error::new(HEADER_BYTES as u64 + within, expected, found))
    }

    /// The error for bytes from `begin` on of which only the first `valid` are UTF-8.
    pub fn bad_utf8(&self, begin: u64, noun: &str, bytes: &[u8], valid: usize) -> Error {
        let found = format!("byte {:#04x} behind {valid} bytes of it", bytes[valid]);
        self.bad_text(begin + valid as u64, &format!("{noun} in UTF-8"), found)
    }

    fn next_page(&mut self) -> Result<bool> {
        self.bytes.clear();
        self.position = 0;
        let (read, origin) = (self.read, self.pages.origin);
        let Some((number, bytes)) = self.pages.page()? else { return Ok(false) };
        let into = &mut self.bytes;
        let outcome = origin.verify(number, bytes).and_then(|page| {
            into.extend_from_slice(text::decode(&page)?);
            if page.first() != read || into.is_empty() {
                let found = format!("{} from {}", into.len(), page.first());
                return Err(outcore_format::Error::new(8, format!("bytes from {read} on"), found));
            }
            Ok(())
        });
        outcome.map_err(|error| self.pages.corrupt(number, error))?;
        self.read += self.bytes.len() as u64;
        Ok(true)
    }
}
