//! Pages: 4096 bytes with a header and a checksum.
//!
//! ```text
//!    0  checksum      u32   crc32c of bytes 4..4096, seeded with image id, page number, kind and file
//!    4  kind          u8    1 out-lists, 2 in-lists, 3 column, 4 text, 5 values, 6 dense
//!    5  flags         u8    by kind
//!    6  count         u16   lists, values or bytes in this page
//!    8  first         u64   first vertex, value, byte or row
//!   16  base          u64   lists: entries of the first list in earlier pages; columns: what is added to every value;
//!                           dense: the column
//!   24  section[3]    u16   where sections end, by kind
//!   30  zero          u16
//!   32  content       then zero
//! ```
//!
//! Numbers are little-endian. The seed ties a page to its image, its file and its number: a page of another location,
//! or of an older image, fails its checksum like one with a flipped bit.

use crate::error::{Error, Result};
use crate::flags::{BEGINS_EARLIER, DELTA, ENDS_LATER, PACKED, PARALLEL, RELATIVE};

/// The size of a page in bytes.
pub const PAGE_BYTES: usize = 4096;
/// The size of a page's header in bytes.
pub const HEADER_BYTES: usize = 32;
/// The bytes of a page.
pub type PageBytes = [u8; PAGE_BYTES];

/// The kind of a page's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Lists of out-neighbours, or of neighbours where edges have no direction.
    OutLists = 1,
    /// Lists of in-neighbours.
    InLists = 2,
    /// Values of a column.
    Column = 3,
    /// Bytes of strings.
    Text = 4,
    /// Values beside the entries of lists.
    Values = 5,
    /// Elements of a dense array: rows of one column.
    Dense = 6,
}

/// The image and the file of pages: the seed of their checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The image's id (`docs/decisions/0008-image-id.md`).
    pub image_id: u64,
    /// The kind of the file's pages.
    pub kind: Kind,
    /// The file's number in `docs/format.md`.
    pub file: u16,
}

impl Origin {
    /// The checksum of a page at its place.
    pub fn checksum(&self, page_number: u64, bytes: &PageBytes) -> u32 {
        let mut seed = [0u8; 20];
        seed[..8].copy_from_slice(&self.image_id.to_le_bytes());
        seed[8..16].copy_from_slice(&page_number.to_le_bytes());
        seed[16] = self.kind as u8;
        seed[17..19].copy_from_slice(&self.file.to_le_bytes());
        crc32c::crc32c_append(crc32c::crc32c(&seed), &bytes[4..])
    }

    /// Gives a page its final place: raises its first item, and seals it under its number.
    ///
    /// Pages that several workers make concurrently are first written as if each worker's were the first of the file.
    pub fn place(&self, page_number: u64, add_first: u64, bytes: &mut PageBytes) {
        let first = read_u64(bytes, 8).wrapping_add(add_first);
        bytes[8..16].copy_from_slice(&first.to_le_bytes());
        let checksum = self.checksum(page_number, bytes);
        bytes[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Checks a page's checksum, kind, flags, reserved bytes and section ends, that unused sections are empty, and that
    /// all bytes behind the last section are zero.
    ///
    /// # Errors
    /// The first of these that is wrong, with what was expected and found.
    pub fn verify<'a>(&self, page_number: u64, bytes: &'a PageBytes) -> Result<Page<'a>> {
        let stored = read_u32(bytes, 0);
        let computed = self.checksum(page_number, bytes);
        if stored != computed {
            let expected = format!("page {page_number} with checksum {computed:08x}");
            return Err(Error::new(0, expected, format!("{stored:08x}")));
        }
        let page = self.trust(bytes)?;
        let end = page.section_end(2);
        if matches!(self.kind, Kind::Column | Kind::Text | Kind::Values | Kind::Dense) {
            let used = page.section_end(0);
            if let Some(section) = (1..3).find(|&section| page.section_end(section) != used) {
                let at = 24 + 2 * section as u64;
                let found = page.section_end(section).to_string();
                return Err(Error::new(at, format!("an empty section, which ends at {used}"), found));
            }
        }
        if self.kind == Kind::Text && page.base() != 0 {
            return Err(Error::new(16, "zero", page.base().to_string()));
        }
        match bytes[end..].iter().position(|&byte| byte != 0) {
            None => Ok(page),
            Some(behind) => {
                let found = format!("{:#04x}", bytes[end + behind]);
                Err(Error::new((end + behind) as u64, "zero behind the last section", found))
            }
        }
    }

    /// Checks the header alone: for a page that was verified when it was read.
    ///
    /// # Errors
    /// A kind, flags, reserved bytes or section ends that do not fit.
    pub fn trust<'a>(&self, bytes: &'a PageBytes) -> Result<Page<'a>> {
        if bytes[4] != self.kind as u8 {
            return Err(Error::new(4, format!("page kind {}", self.kind as u8), bytes[4].to_string()));
        }
        let known_flags = match self.kind {
            Kind::OutLists | Kind::InLists => BEGINS_EARLIER | ENDS_LATER | RELATIVE | PARALLEL,
            Kind::Column => DELTA,
            Kind::Text | Kind::Dense => 0,
            Kind::Values => PACKED,
        };
        if bytes[5] & !known_flags != 0 {
            return Err(Error::new(5, format!("flags among {known_flags:#04x}"), format!("{:#04x}", bytes[5])));
        }
        if read_u16(bytes, 30) != 0 {
            return Err(Error::new(30, "zero", read_u16(bytes, 30).to_string()));
        }
        let page = Page { bytes };
        let mut start = HEADER_BYTES;
        for section in 0..3 {
            let end = page.section_end(section);
            if end < start || end > PAGE_BYTES {
                let (at, expected) = (24 + 2 * section as u64, format!("a section end in {start}..={PAGE_BYTES}"));
                return Err(Error::new(at, expected, end.to_string()));
            }
            start = end;
        }
        Ok(page)
    }
}

/// A page whose header was checked.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a PageBytes,
}

impl<'a> Page<'a> {
    /// All bytes of the page.
    pub fn bytes(&self) -> &'a PageBytes {
        self.bytes
    }

    /// Flags; their meaning depends on the kind.
    pub fn flags(&self) -> u8 {
        self.bytes[5]
    }

    /// Number of lists, values, bytes or rows of the page.
    pub fn count(&self) -> usize {
        usize::from(read_u16(self.bytes, 6))
    }

    /// The first vertex, value, byte or row.
    pub fn first(&self) -> u64 {
        read_u64(self.bytes, 8)
    }

    /// The number of entries of the first list in earlier pages, the base of a column's values, or the column.
    pub fn base(&self) -> u64 {
        read_u64(self.bytes, 16)
    }

    /// End of section 0, 1 or 2, counted from the page's first byte.
    pub fn section_end(&self, section: usize) -> usize {
        usize::from(read_u16(self.bytes, 24 + 2 * section))
    }

    /// The bytes of section 0, 1 or 2.
    pub fn section(&self, section: usize) -> &'a [u8] {
        let start = match section {
            0 => HEADER_BYTES,
            _ => self.section_end(section - 1),
        };
        &self.bytes[start..self.section_end(section)]
    }
}

/// A page's header before it is encoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Header {
    pub flags: u8,
    pub count: u16,
    pub first: u64,
    pub base: u64,
}

/// Makes a page of a header and up to three sections.
pub(crate) fn build(origin: &Origin, page_number: u64, header: Header, sections: &[&[u8]]) -> Box<PageBytes> {
    let mut bytes = Box::new([0u8; PAGE_BYTES]);
    fill(origin, page_number, header, sections, &mut bytes);
    bytes
}

/// Makes a page in existing memory, with any previous contents.
pub(crate) fn fill(origin: &Origin, page_number: u64, header: Header, sections: &[&[u8]], bytes: &mut PageBytes) {
    bytes[4] = origin.kind as u8;
    bytes[5] = header.flags;
    bytes[6..8].copy_from_slice(&header.count.to_le_bytes());
    bytes[8..16].copy_from_slice(&header.first.to_le_bytes());
    bytes[16..24].copy_from_slice(&header.base.to_le_bytes());
    let mut end = HEADER_BYTES;
    for section in 0..3 {
        if let Some(content) = sections.get(section) {
            bytes[end..end + content.len()].copy_from_slice(content);
            end += content.len();
        }
        bytes[24 + 2 * section..26 + 2 * section].copy_from_slice(&(end as u16).to_le_bytes());
    }
    bytes[30..HEADER_BYTES].fill(0);
    bytes[end..].fill(0);
    let checksum = origin.checksum(page_number, bytes);
    bytes[..4].copy_from_slice(&checksum.to_le_bytes());
}

pub(crate) fn read_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes"))
}

pub(crate) fn read_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes"))
}
