//! Pages of dense arrays: the elements of one column in a group of rows.
//!
//! ```text
//!   count       the rows of the group          section 0   their elements, little-endian, each at its own width
//!   first       the first row of the group
//!   base        the column
//! ```
//!
//! An array of `rows` times `columns` elements is cut into groups of as many rows as a page has room for elements; only
//! the last group has fewer. Page `group * columns + column` holds the elements of that column in the rows of that
//! group. The location of an element therefore follows from its row and column, rows of all columns are adjacent on the
//! device, and in memory the elements of a column are a slice: 508 of 8 bytes, 1016 of 4, 2032 of 2, or 4064 of 1.

use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::page::{HEADER_BYTES, Header, Origin, PAGE_BYTES, Page, PageBytes, fill};
use std::ops::Range;

/// Bytes of elements in every page of a full group.
pub const GROUP_BYTES: usize = PAGE_BYTES - HEADER_BYTES;

/// The rows of a group.
pub const fn rows_per_page(element: ElementType) -> usize {
    GROUP_BYTES / element.bytes()
}

/// Element type and size of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseShape {
    /// The type of the elements.
    pub element: ElementType,
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
}

/// The part of an array that a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DensePlace {
    /// The page's number in its file.
    pub page_number: u64,
    /// The first row of the group.
    pub first_row: u64,
    /// The column.
    pub column: u64,
    /// Number of rows.
    pub rows: usize,
}

impl DenseShape {
    /// The rows of every group but the last, which may have fewer.
    pub fn rows_per_page(&self) -> u64 {
        rows_per_page(self.element) as u64
    }

    /// Number of groups of rows.
    pub fn groups(&self) -> u64 {
        self.rows.div_ceil(self.rows_per_page())
    }

    /// Number of pages.
    ///
    /// # Panics
    /// If the number exceeds that of any file; a checked manifest has no such shape.
    pub fn pages(&self) -> u64 {
        self.groups().checked_mul(self.columns).expect("an array of so many pages was refused")
    }

    /// The page that holds an element.
    pub fn page_of(&self, row: u64, column: u64) -> u64 {
        row / self.rows_per_page() * self.columns + column
    }

    /// The pages of a group, one for every column.
    pub fn pages_of(&self, group: u64) -> Range<u64> {
        group * self.columns..(group + 1) * self.columns
    }

    /// The part of the array in a page.
    pub fn place(&self, page_number: u64) -> DensePlace {
        let (group, column) = (page_number / self.columns, page_number % self.columns);
        self.place_of(group, column)
    }

    /// The part of the array in the page of a group and column.
    pub fn place_of(&self, group: u64, column: u64) -> DensePlace {
        let first_row = group * self.rows_per_page();
        let rows = self.rows.saturating_sub(first_row).min(self.rows_per_page()) as usize;
        DensePlace { page_number: group * self.columns + column, first_row, column, rows }
    }
}

/// Builds and seals the page of a place in existing memory. Nothing is allocated.
///
/// # Panics
/// If the number of elements differs from the rows of the place, or elements are invalid for their type: a bug of the
/// caller.
pub fn build(origin: &Origin, element: ElementType, place: &DensePlace, payload: &[u8], page: &mut PageBytes) {
    assert_eq!(payload.len(), place.rows * element.bytes(), "the elements of {place:?}");
    assert!(first_unsound(element, payload).is_none(), "elements of type {}", element.name());
    let header = Header { flags: 0, count: place.rows as u16, first: place.first_row, base: place.column };
    fill(origin, place.page_number, header, &[payload], page);
}

/// The elements of a verified page that is expected to hold those of a place.
///
/// # Errors
/// Another first row, number of rows, column or number of bytes.
pub fn payload<'a>(page: &Page<'a>, element: ElementType, place: &DensePlace) -> Result<&'a [u8]> {
    let wrong = |offset_bytes, expected: String, found: u64| Err(Error::new(offset_bytes, expected, found.to_string()));
    if page.count() != place.rows {
        return wrong(6, format!("{} rows", place.rows), page.count() as u64);
    }
    if page.first() != place.first_row {
        return wrong(8, format!("first row {}", place.first_row), page.first());
    }
    if page.base() != place.column {
        return wrong(16, format!("column {}", place.column), page.base());
    }
    let bytes = page.section(0);
    if bytes.len() != place.rows * element.bytes() {
        let expected = format!("{} elements of {} bytes", place.rows, element.bytes());
        return wrong(24, expected, bytes.len() as u64);
    }
    Ok(bytes)
}

/// Verifies a page that was read from its place, with all of its contents, and returns its elements.
///
/// # Errors
/// As for [`Origin::verify`] and [`payload`]; bytes that are invalid for the type.
pub fn verify<'a>(origin: &Origin, element: ElementType, place: &DensePlace, bytes: &'a PageBytes) -> Result<&'a [u8]> {
    let payload = payload(&origin.verify(place.page_number, bytes)?, element, place)?;
    match first_unsound(element, payload) {
        None => Ok(payload),
        Some(at) => {
            Err(Error::new((HEADER_BYTES + at) as u64, "0 or 1 for an element of type bool", payload[at].to_string()))
        }
    }
}

/// The elements of a page that [`verify`] accepted before.
#[inline]
pub fn trusted(bytes: &PageBytes) -> &[u8] {
    let end = usize::from(u16::from_le_bytes([bytes[24], bytes[25]]));
    &bytes[HEADER_BYTES..end]
}

/// Offset of the first byte that is invalid for the type.
fn first_unsound(element: ElementType, payload: &[u8]) -> Option<usize> {
    // Any bit but the lowest of a byte shows in the bitwise OR of all bytes, which needs no branch per byte.
    if element != ElementType::Bool || payload.iter().fold(0, |all, byte| all | byte) <= 1 {
        return None;
    }
    payload.iter().position(|&byte| byte > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::ImageFile;

    const IMAGE_ID: u64 = 7;

    fn page_of(shape: &DenseShape, page_number: u64, payload: &[u8]) -> Box<PageBytes> {
        // The previous contents of the memory must not matter.
        let mut page = Box::new([0xa5; PAGE_BYTES]);
        build(&ImageFile::DENSE.origin(IMAGE_ID), shape.element, &shape.place(page_number), payload, &mut page);
        page
    }

    #[test]
    fn every_element_has_one_place() {
        for element in ElementType::ALL {
            let full = rows_per_page(element) as u64;
            assert_eq!(full as usize * element.bytes(), GROUP_BYTES);
            for rows in [0, 1, full - 1, full, full + 1, 3 * full] {
                for columns in [0, 1, 2, 5] {
                    let shape = DenseShape { element, rows, columns };
                    let mut next = 0;
                    for group in 0..shape.groups() {
                        assert_eq!(shape.pages_of(group).start, next);
                        for column in 0..columns {
                            let place = shape.place(next);
                            assert_eq!(place, shape.place_of(group, column));
                            assert_eq!((place.first_row, place.column), (group * full, column));
                            assert_eq!(place.rows as u64, full.min(rows - group * full));
                            let last = place.first_row + place.rows as u64 - 1;
                            assert_eq!([place.first_row, last].map(|row| shape.page_of(row, column)), [next, next]);
                            next += 1;
                        }
                    }
                    assert_eq!(next, shape.pages());
                }
            }
        }
    }

    #[test]
    fn elements_come_back_and_no_page_passes_for_another() {
        for element in ElementType::ALL {
            let full = rows_per_page(element) as u64;
            let shape = DenseShape { element, rows: full + 3, columns: 3 };
            let origin = ImageFile::DENSE.origin(IMAGE_ID);
            for number in 0..shape.pages() {
                let place = shape.place(number);
                let bytes: Vec<u8> = (0..place.rows * element.bytes()).map(|i| (i % 2) as u8).collect();
                let page = page_of(&shape, number, &bytes);
                assert_eq!(verify(&origin, element, &place, &page).unwrap(), bytes);
                assert_eq!(trusted(&page), bytes);
                for other in (0..shape.pages()).filter(|&other| other != number) {
                    let place = shape.place(other);
                    assert!(verify(&origin, element, &place, &page).unwrap_err().expected.contains("checksum"));
                    // Even with a right checksum.
                    let mut moved = *page;
                    origin.place(other, 0, &mut moved);
                    assert!(verify(&origin, element, &place, &moved).is_err());
                }
                assert!(verify(&ImageFile::DENSE.origin(8), element, &place, &page).is_err());
            }
        }
    }

    #[test]
    fn every_part_of_a_page_is_checked() {
        let shape = DenseShape { element: ElementType::Bool, rows: 10, columns: 2 };
        let origin = ImageFile::DENSE.origin(IMAGE_ID);
        let place = shape.place(1);
        let good = page_of(&shape, 1, &[1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        for (at, byte, expected) in [
            (5, 1, "flags among 0x00"),
            (6, 9, "10 rows"),
            (8, 1, "first row 0"),
            (16, 0, "column 1"),
            (24, 41, "an empty section"),
            (28, 43, "an empty section"),
            (30, 1, "zero"),
            (40, 2, "0 or 1"),
            (42, 1, "zero behind"),
        ] {
            let mut page = *good;
            page[at] = byte;
            origin.place(1, 0, &mut page);
            let error = verify(&origin, shape.element, &place, &page).unwrap_err();
            assert!(error.expected.contains(expected), "{at}: {error}");
        }
        let mut shorter = *good;
        [24, 26, 28].iter().for_each(|&at| shorter[at] = 41);
        shorter[41] = 0;
        origin.place(1, 0, &mut shorter);
        let error = verify(&origin, shape.element, &place, &shorter).unwrap_err();
        assert_eq!((error.offset_bytes, error.expected.as_str()), (24, "10 elements of 1 bytes"));
        // All bytes are valid for other types.
        let shape = DenseShape { element: ElementType::UInt8, ..shape };
        let page = page_of(&shape, 1, &[255; 10]);
        assert_eq!(verify(&origin, shape.element, &place, &page).unwrap(), [255; 10]);
    }

    #[test]
    #[should_panic(expected = "elements of type bool")]
    fn what_is_no_element_is_never_written() {
        page_of(&DenseShape { element: ElementType::Bool, rows: 2, columns: 1 }, 0, &[1, 2]);
    }
}
