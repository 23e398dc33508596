//! The sizes of a Parquet file's metadata and pages, looked at before any of them is unpacked.
//!
//! The metadata name every column of every row group, wanted or not; a wide file of small groups has more of them than
//! data. They are counted in the encoded form, which is a tenth as large.
//!
//! Every page begins with a header in Thrift's compact form, whose fields 2 and 3 say how large the page is unpacked
//! and packed. The library that reads pages takes memory for what field 2 says, up to 2 GiB, so a file of 500 bytes
//! could ask for gigabytes. Here headers alone are read, one small read per page of the columns wanted: they tell what
//! decoding will take and how many rows to decode at a time, and larger pages than any writer makes are refused.
//!
//! Format: the Thrift compact protocol and `parquet.thrift` of the Apache Parquet format, version 2.

use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::file::reader::ChunkReader;

/// Memory of the reader of a column beside its pages; more where these are compressed with zstd.
const READER_BYTES: u64 = 10 << 10;
const ZSTD_READER_BYTES: u64 = 100 << 10;
/// Writers make pages of about 1 MiB; a page larger than this is damaged.
const MOST_PAGE_BYTES: i64 = 256 << 20;
/// Headers hold the least and the greatest value of a page, so that one of strings may be long; how much of a page is
/// read for its header.
const HEADER_READ_BYTES: [usize; 2] = [4 << 10, 4 << 20];
/// The strings of the rows that are decoded at a time take about this much, or two pages.
const MOST_TEXT_BYTES: u64 = 2 << 20;
/// Strings of which each says how much of the one before it begins with.
const DELTA_BYTE_ARRAY: i64 = 7;
/// Structures within structures; headers need three.
const MOST_DEPTH: u32 = 8;

/// The end of a Parquet file, after the length of its metadata.
const MAGIC: &[u8] = b"PAR1";

/// Length of the encoded metadata at the end of a file, in bytes; `None` if it does not end as a Parquet file.
pub(crate) fn encoded_metadata_bytes<R: ChunkReader>(reader: &R) -> Option<u64> {
    let tail = reader.get_bytes(reader.len().checked_sub(8)?, 8).ok()?;
    let len = u64::from(u32::from_le_bytes(*tail.first_chunk()?));
    (tail.ends_with(MAGIC) && len + 8 <= reader.len()).then_some(len)
}

/// Memory of the decoded metadata, in bytes: an entry for every row group and every column in it. `None` if they are
/// damaged.
pub(crate) fn decoded_metadata_bytes<R: ChunkReader>(reader: &R, encoded_bytes: u64) -> Option<u64> {
    let bytes = reader.get_bytes(reader.len().checked_sub(8 + encoded_bytes)?, encoded_bytes as usize).ok()?;
    let mut thrift = Thrift { bytes: &bytes, at: 0 };
    let (mut groups, mut chunks) = (0, 0);
    let mut field = 0;
    while let Some((number, kind)) = thrift.field(&mut field)? {
        if (number, kind) != (4, 9) {
            thrift.skip(kind, MOST_DEPTH)?;
            continue;
        }
        for _ in 0..thrift.list()?.1 {
            groups += 1;
            let mut field = 0;
            while let Some((number, kind)) = thrift.field(&mut field)? {
                if (number, kind) != (1, 9) {
                    thrift.skip(kind, MOST_DEPTH)?;
                    continue;
                }
                let (kind, count) = thrift.list()?;
                for _ in 0..count {
                    thrift.skip(kind, MOST_DEPTH)?;
                    chunks += 1;
                }
            }
        }
    }
    Some(groups * size_of::<RowGroupMetaData>() as u64 + chunks * size_of::<ColumnChunkMetaData>() as u64)
}

/// Memory and batch size of decoding a file.
pub(crate) struct Decoding {
    /// Largest memory of a row group, for the wanted columns.
    pub(crate) len_bytes: u64,
    pub(crate) rows: usize,
}

/// Plans decoding the wanted columns, at most `most_rows` rows at a time.
///
/// A column has a page as it lies in the file, that page unpacked, the page before it and a dictionary in memory, or
/// its whole content if it has fewer pages. Numbers are copied from there; strings stay in their pages until the rows
/// are parsed, so all pages of the rows count. If strings are long, these are many pages, and fewer rows are decoded at
/// a time. The same holds if a string may share the beginning of the one before it, for then each may be as long as a
/// page: there they may take `room_bytes`.
pub(crate) fn decoding<R: ChunkReader>(
    reader: &R,
    metadata: &ParquetMetaData,
    mask: &ProjectionMask,
    most_rows: usize,
    room_bytes: u64,
) -> Result<Decoding, String> {
    let (mut most_bytes, mut rows) = (0, most_rows);
    let mut all_pages = Vec::new();
    for group in metadata.row_groups() {
        let mut group_bytes = 0;
        all_pages.clear();
        for (_, column) in group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf)) {
            let is_text = column.column_type() == Type::BYTE_ARRAY;
            let mut pages = Pages::default();
            group_bytes += chunk_bytes(reader, column, &mut pages)?;
            let room_bytes = if pages.are_shared { room_bytes.max(MOST_TEXT_BYTES) } else { MOST_TEXT_BYTES };
            while is_text && rows > 1 && pages.holding(rows) > 2 * pages.largest_bytes + room_bytes {
                rows /= 2;
            }
            all_pages.extend(is_text.then_some(pages));
        }
        most_bytes = most_bytes.max(group_bytes + all_pages.iter().map(|pages| pages.holding(rows)).sum::<u64>());
    }
    Ok(Decoding { len_bytes: most_bytes, rows })
}

/// Memory for decoding a column of numbers, except its rows, and the places of its pages in every row group, with which
/// the reader skips pages without reading their headers. `None` if the pages do not add up to the rows of the group:
/// decoding then reports the error.
pub fn placed_pages<R: ChunkReader>(
    reader: &R,
    metadata: &ParquetMetaData,
    leaf: usize,
) -> Result<(u64, Vec<Option<OffsetIndexMetaData>>), String> {
    let (mut most_bytes, mut places) = (0, Vec::new());
    for group in metadata.row_groups() {
        let mut pages = Pages::default();
        let column = group.columns().get(leaf).ok_or("a row group without a column")?;
        most_bytes = most_bytes.max(chunk_bytes(reader, column, &mut pages)?);
        let is_whole = u64::try_from(group.num_rows()) == Ok(pages.rows);
        pages.places.shrink_to_fit();
        let own = OffsetIndexMetaData { page_locations: pages.places, unencoded_byte_array_data_bytes: None };
        places.push(Some(own).filter(|_| is_whole));
    }
    Ok((most_bytes, places))
}

/// Memory for decoding a column of a row group, except its rows.
fn chunk_bytes<R: ChunkReader>(reader: &R, column: &ColumnChunkMetaData, pages: &mut Pages) -> Result<u64, String> {
    let (start, len) = column.byte_range();
    let end = start.checked_add(len).filter(|&end| end <= reader.len());
    let end = end.ok_or_else(|| format!("a column of {len} bytes from byte {start}, beyond the file's end"))?;
    let codec_bytes = if matches!(column.compression(), Compression::ZSTD(_)) { ZSTD_READER_BYTES } else { 0 };
    Ok(READER_BYTES + codec_bytes + column_bytes(reader, start, end, pages)?)
}

/// The pages of a column that hold values, and how large they are unpacked.
#[derive(Default)]
struct Pages {
    /// Rows and bytes of each.
    pages: Vec<(u64, u64)>,
    largest_bytes: u64,
    /// Strings may share the beginnings of others.
    are_shared: bool,
    places: Vec<PageLocation>,
    rows: u64,
}

impl Pages {
    /// The most bytes of adjacent pages that so many adjacent rows lie in, and of strings that lie in none.
    fn holding(&self, rows: usize) -> u64 {
        let (mut most_bytes, mut held_bytes, mut held_rows) = (0, 0, 0);
        let mut first = 0;
        for (last, (page_rows, page_bytes)) in self.pages.iter().enumerate() {
            held_rows += page_rows;
            held_bytes += page_bytes;
            // The last row of the first page and the first row of the last one lie so far apart.
            while first < last && held_rows - self.pages[first].0 - page_rows + 2 > rows as u64 {
                held_rows -= self.pages[first].0;
                held_bytes -= self.pages[first].1;
                first += 1;
            }
            most_bytes = most_bytes.max(held_bytes);
        }
        // No string is longer than what its page has of all of them.
        let shared_bytes = if self.are_shared { self.largest_bytes.saturating_mul(rows as u64) } else { 0 };
        most_bytes.saturating_add(shared_bytes)
    }
}

fn column_bytes<R: ChunkReader>(reader: &R, mut at: u64, end: u64, pages: &mut Pages) -> Result<u64, String> {
    let (mut packed_bytes, mut unpacked_bytes, mut content_bytes) = (0, 0, 0);
    while at < end {
        let header = read_header(reader, at, end)?.ok_or_else(|| format!("no page header at byte {at}"))?;
        for bytes in [header.unpacked_bytes, header.packed_bytes] {
            if !(0..=MOST_PAGE_BYTES).contains(&bytes) {
                return Err(format!("a page of {bytes} bytes at byte {at}"));
            }
        }
        let start = at;
        // Both are small and not below zero.
        at += header.len_bytes as u64 + header.packed_bytes as u64;
        packed_bytes = packed_bytes.max(header.packed_bytes as u64);
        unpacked_bytes = unpacked_bytes.max(header.unpacked_bytes as u64);
        content_bytes += header.unpacked_bytes as u64;
        if let Some(rows) = header.rows {
            let place = (start as i64, (at - start) as i32, pages.rows as i64);
            let (offset, compressed_page_size, first_row_index) = place;
            pages.places.push(PageLocation { offset, compressed_page_size, first_row_index });
            pages.rows = pages.rows.saturating_add(rows);
            pages.pages.push((rows.max(1), header.unpacked_bytes as u64));
            pages.largest_bytes = pages.largest_bytes.max(header.unpacked_bytes as u64);
            pages.are_shared |= header.are_shared;
        }
    }
    Ok(packed_bytes + content_bytes.min(3 * unpacked_bytes))
}

/// Sizes from the header of a page, and the size of the header.
struct PageHeader {
    /// Number of rows with a value in the page, if it is no dictionary; columns of ids and weights hold no lists.
    rows: Option<u64>,
    are_shared: bool,
    unpacked_bytes: i64,
    packed_bytes: i64,
    len_bytes: usize,
}

fn read_header<R: ChunkReader>(reader: &R, at: u64, end: u64) -> Result<Option<PageHeader>, String> {
    for most in HEADER_READ_BYTES {
        let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(most);
        let bytes = reader.get_bytes(at, len).map_err(|error| error.to_string())?;
        if let Some(header) = parse_header(&bytes) {
            return Ok(Some(header));
        }
        if len < most {
            break;
        }
    }
    Ok(None)
}

fn parse_header(bytes: &[u8]) -> Option<PageHeader> {
    let mut thrift = Thrift { bytes, at: 0 };
    let (mut unpacked, mut packed, mut rows, mut encoding) = (None, None, None, 0);
    let mut field = 0;
    while let Some((number, kind)) = thrift.field(&mut field)? {
        match (number, kind) {
            (2, 5) => unpacked = Some(thrift.signed()?),
            (3, 5) => packed = Some(thrift.signed()?),
            // Data pages of version 1 and 2: the number of values first, the encoding second or fourth.
            (5 | 8, 12) => {
                let numbers = thrift.first_numbers()?;
                rows = Some(numbers[0]);
                encoding = numbers[if number == 5 { 1 } else { 3 }];
            }
            _ => thrift.skip(kind, MOST_DEPTH)?,
        }
    }
    let rows = rows.map(|rows| u64::try_from(rows).unwrap_or(0));
    let are_shared = encoding == DELTA_BYTE_ARRAY;
    Some(PageHeader { rows, are_shared, unpacked_bytes: unpacked?, packed_bytes: packed?, len_bytes: thrift.at })
}

struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let folded = self.unsigned()?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// The next field's number and type; nothing at the end of the structure.
    #[allow(clippy::option_option)]
    fn field(&mut self, before: &mut i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        let number = match byte >> 4 {
            0 => self.signed()?,
            step => before.checked_add(i64::from(step))?,
        };
        *before = number;
        Some(Some((number, byte & 15)))
    }

    /// The numbers in fields 1 to 4 of a structure, zero where there is none.
    fn first_numbers(&mut self) -> Option<[i64; 4]> {
        let (mut found, mut field) = ([0; 4], 0);
        while let Some((number, kind)) = self.field(&mut field)? {
            match (number, kind) {
                // The library takes integers of any width for each other.
                (1..=4, 4..=6) => found[number as usize - 1] = self.signed()?,
                _ => self.skip(kind, MOST_DEPTH)?,
            }
        }
        Some(found)
    }

    fn list(&mut self) -> Option<(u8, u64)> {
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 { self.unsigned()? } else { u64::from(byte >> 4) };
        Some((byte & 15, count))
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // The type of a truth value says which it is.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.unsigned()?),
            7 => self.pass(8)?,
            8 => {
                let len = self.unsigned()?;
                self.pass(len)?;
            }
            9 | 10 => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    // In a list even a truth value takes a byte, so that a long list needs as many bytes.
                    if matches!(kind, 1 | 2) { self.pass(1)? } else { self.skip(kind, depth)? }
                }
            }
            12 => {
                let mut field = 0;
                while let Some((_, kind)) = self.field(&mut field)? {
                    self.skip(kind, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn pass(&mut self, len: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(len).ok()?)?;
        self.at = (end <= self.bytes.len()).then_some(end)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_in_as_many_pages_as_they_touch() {
        let pages = vec![(10, 5), (10, 7), (1, 100), (10, 7)];
        let mut pages = Pages { pages, largest_bytes: 100, ..Pages::default() };
        for (rows, expected) in [(1, 100), (2, 107), (3, 114), (12, 114), (13, 119), (1000, 119)] {
            assert_eq!(pages.holding(rows), expected, "{rows} rows");
        }
        assert_eq!(Pages::default().holding(8), 0);
        pages.are_shared = true;
        assert_eq!((pages.holding(1), pages.holding(12)), (200, 1314));
    }

    #[test]
    fn headers_are_read_past_what_they_hold_besides() {
        // Type 0, 48 bytes unpacked, 44 packed, a structure with a string and a list, the end.
        let header = [0x15, 0, 0x15, 96, 0x15, 88, 0x2c, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0, 0];
        let found = parse_header(&[&header[..], b"content"].concat()).unwrap();
        assert_eq!((found.unpacked_bytes, found.packed_bytes, found.len_bytes), (48, 44, header.len()));
        for end in 0..header.len() {
            assert!(parse_header(&header[..end]).is_none(), "{end}");
        }
        // The header of a page of 100 values.
        let header = [0x15, 0, 0x15, 96, 0x15, 88, 0x2c, 0x15, 0xc8, 1, 0x15, 0, 0, 0];
        let found = parse_header(&header).unwrap();
        assert_eq!((found.rows, found.are_shared), (Some(100), false));
        // Pages of version 1 and 2 with strings that share beginnings: encoding 7 in field 2 and in field 4.
        for header in [
            &[0x15, 0, 0x15, 96, 0x15, 88, 0x2c, 0x15, 6, 0x15, 14, 0, 0][..],
            &[0x15, 6, 0x15, 96, 0x15, 88, 0x5c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 14, 0, 0],
        ] {
            let found = parse_header(header).unwrap();
            assert_eq!((found.rows, found.are_shared), (Some(3), true));
        }
        assert!(parse_header(&[0x1c; 40]).is_none(), "structures without end");
        assert!(parse_header(&[0x15, 0, 0]).is_none(), "no sizes");
        assert!(parse_header(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0]).is_none());
    }
}
