//! The first lines of a Matrix Market file: layout, kind of values, symmetry, size.
//!
//! ```text
//! %%MatrixMarket matrix coordinate|array pattern|integer|real|complex general|symmetric|skew-symmetric|hermitian
//! %%GraphBLAS type int8_t             (optional; narrows the values)
//! % comments
//! rows columns entries                (an array has no entries)
//! ```
//!
//! Some programs write the banner with one `%`, or below other comments: it is read there too.
//!
//! A file without the banner is recognized by its first two lines: `n n entries` and triplets, or `n n` and one value a
//! line.
//! Format: Boisvert, Pozo and Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996; the type line is
//! SuiteSparse:GraphBLAS's (LAGraph, `LAGraph_MMRead`).

use crate::batch::bad_record;
use crate::text::blocks::Lines;
use crate::text::number::{Fields, is_blank, lines};
use crate::text::sample::end_of_line;
use crate::text::source::data_lines;
use outcore_image::{Error, Result};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `row column [value]` a line.
    Coordinate,
    /// One value a line, column by column.
    Array,
}

/// The relation of the upper triangle to the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symmetry {
    General,
    Symmetric,
    Skew,
    /// Complex values whose upper triangle has the conjugates.
    Hermitian,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    Pattern,
    /// Whole numbers in this range.
    Integer {
        min: i64,
        max: i64,
    },
    /// Whole numbers from 0 up to `u64::MAX`, handed on as reals.
    Unsigned64,
    Real,
    /// Complex numbers, as two real ones.
    Complex,
}

/// A matrix that an image can be made of: of a graph, if it is square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatrixHeader {
    pub(crate) layout: Layout,
    pub(crate) symmetry: Symmetry,
    pub(crate) values: Values,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) entries: u64,
}

struct Banner {
    layout: Layout,
    symmetry: Symmetry,
    values: Values,
}

impl MatrixHeader {
    pub(crate) fn is_square(&self) -> bool {
        self.rows == self.columns
    }

    /// Whether entries off the diagonal stand for another one each.
    pub(crate) fn mirrors(&self) -> bool {
        matches!(self.symmetry, Symmetry::Skew | Symmetry::Hermitian)
    }
}

/// Reads the header from the first block, and finds where the first entry starts in it; `None` if the file is a list of
/// pairs without any header. Where no matrix is asked for but a graph, it has to be square.
pub(crate) fn read_header(first: &Lines, path: &Path, is_matrix: bool) -> Result<Option<(MatrixHeader, usize)>> {
    let unlike = lines(&first.bytes).next().filter(|line| line.starts_with(b"%%")).map(|line| (0, line));
    match banner(&first.bytes).or(unlike) {
        Some((place, line)) => {
            let declared = read_banner(&first.bytes, (first.first_line + place, line), path, is_matrix)?;
            read_size(first, path, &declared, is_matrix)
        }
        None => guess(first, path, is_matrix),
    }
}

/// The banner among the comments at the front of a text, and the number of its line from 0.
pub(crate) fn banner(text: &[u8]) -> Option<(u64, &[u8])> {
    let is_comment = |line: &[u8]| Fields::new(line).first_byte().is_none_or(|first| first == b'%');
    (0u64..).zip(lines(text)).take_while(|(_, line)| is_comment(line)).find(|(_, line)| is_banner(line))
}

/// Whether a comment is a banner. One that only speaks of the format has a blank behind its sign and goes on otherwise.
fn is_banner(line: &[u8]) -> bool {
    let Some(from) = line.iter().position(|byte| *byte != b'%' && !is_blank(*byte)) else { return false };
    let mut words = Fields::new(&line[from..]);
    let is_next = |words: &mut Fields<'_>, name| words.token().is_some_and(|word| word.eq_ignore_ascii_case(name));
    from > 0 && is_next(&mut words, b"matrixmarket") && (line[from - 1] == b'%' || is_next(&mut words, b"matrix"))
}

fn read_banner(bytes: &[u8], (number, line): (u64, &[u8]), path: &Path, is_matrix: bool) -> Result<Banner> {
    let lower = line.to_ascii_lowercase();
    let bare = lower.trim_ascii_start();
    let signs = bare.iter().take_while(|byte| **byte == b'%').count();
    let mut fields = Fields::new(&bare[signs..]);
    let words: Vec<&[u8]> = std::iter::from_fn(|| fields.token()).collect();
    let wrong = |expected: &str| bad_record(path, number, expected, line);
    let [b"matrixmarket", object, layout, field, symmetry] = words[..] else {
        return Err(wrong("`%%MatrixMarket matrix LAYOUT FIELD SYMMETRY`"));
    };
    if object != b"matrix" {
        return Err(wrong("the object `matrix`"));
    }
    let layout = match layout {
        b"coordinate" => Layout::Coordinate,
        b"array" => Layout::Array,
        _ => return Err(wrong("`coordinate` or `array`")),
    };
    let values = match field {
        b"pattern" => Values::Pattern,
        b"integer" => Values::Integer { min: i64::MIN, max: i64::MAX },
        b"real" | b"double" => Values::Real,
        b"complex" if is_matrix => Values::Complex,
        b"complex" => {
            let advice = "complex numbers cannot be weights: import a matrix, not a graph, or write the pattern or the \
                          absolute values";
            return Err(wrong("a pattern, integer or real matrix").advise(advice));
        }
        _ => {
            return Err(wrong("the field `pattern`, `integer`, `real`, `double` or `complex`"));
        }
    };
    let symmetry = match symmetry {
        b"general" => Symmetry::General,
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" => Symmetry::Skew,
        b"hermitian" if values == Values::Complex => Symmetry::Hermitian,
        b"hermitian" => {
            return Err(wrong("a matrix that is not complex; `hermitian` is for complex ones"));
        }
        _ => {
            return Err(wrong("`general`, `symmetric`, `skew-symmetric` or `hermitian`"));
        }
    };
    if values == Values::Pattern && (layout == Layout::Array || symmetry == Symmetry::Skew) {
        return Err(wrong("a combination that exists: a pattern is `coordinate` and not skew-symmetric"));
    }
    let values = narrow(values, bytes, path)?;
    let is_unsigned = matches!(values, Values::Integer { min: 0, .. } | Values::Unsigned64);
    if symmetry == Symmetry::Skew && is_unsigned {
        return Err(wrong("a signed type, since a skew-symmetric matrix holds each value with both signs"));
    }
    Ok(Banner { layout, symmetry, values })
}

/// Applies the line `%%GraphBLAS type TYPE`, if there is one among the comments.
fn narrow(values: Values, bytes: &[u8], path: &Path) -> Result<Values> {
    let mut narrowed = values;
    for (number, line) in (1u64..).zip(lines(bytes)).skip(1) {
        if Fields::new(line).first_byte().is_some_and(|b| b != b'%') {
            break;
        }
        let lower = line.to_ascii_lowercase();
        let Some(rest) = lower.strip_prefix(b"%%graphblas") else {
            continue;
        };
        let mut fields = Fields::new(rest);
        if fields.token() != Some(b"type") {
            continue;
        }
        let name: Vec<&[u8]> = std::iter::from_fn(|| fields.token()).collect();
        let typed = named_type(&name.join(&b' ')).ok_or_else(|| {
            let expected = "a GraphBLAS type: bool, int8_t to int64_t, uint8_t to uint64_t, float, double, or complex";
            bad_record(path, number, expected, line)
        })?;
        if values != Values::Pattern {
            let is_complex = values == Values::Complex;
            let expected = if is_complex { "the type of complex values" } else { "the type of real or integer values" };
            let fits = is_complex == (typed == Values::Complex);
            narrowed = if fits { typed } else { return Err(bad_record(path, number, expected, line)) };
        }
    }
    Ok(narrowed)
}

fn named_type(name: &[u8]) -> Option<Values> {
    let integer = |min: i64, max: i64| Some(Values::Integer { min, max });
    match name {
        b"bool" => integer(0, 1),
        b"int8_t" => integer(i8::MIN as i64, i8::MAX as i64),
        b"int16_t" => integer(i16::MIN as i64, i16::MAX as i64),
        b"int32_t" => integer(i32::MIN as i64, i32::MAX as i64),
        b"int64_t" => integer(i64::MIN, i64::MAX),
        b"uint8_t" => integer(0, u8::MAX as i64),
        b"uint16_t" => integer(0, u16::MAX as i64),
        b"uint32_t" => integer(0, u32::MAX as i64),
        b"uint64_t" => Some(Values::Unsigned64),
        b"float" | b"double" => Some(Values::Real),
        b"float complex" | b"double complex" => Some(Values::Complex),
        _ => None,
    }
}

fn read_size(first: &Lines, path: &Path, banner: &Banner, is_matrix: bool) -> Result<Option<(MatrixHeader, usize)>> {
    let expected = match banner.layout {
        Layout::Coordinate => "a line `rows columns entries`",
        Layout::Array => "a line `rows columns`",
    };
    let Some((skipped, line)) = data_lines(&first.bytes).next() else {
        return Err(Error::input(path, None, expected, "the end of the comments")
            .advise("the file is truncated, or has more than 1 MiB of comments, which may be left out"));
    };
    let number = first.first_line + skipped;
    let numbers = numbers_of(line);
    let (rows, columns, entries) = match (banner.layout, numbers.as_deref()) {
        (Layout::Coordinate, Some(&[rows, columns, entries])) => (rows, columns, Some(entries)),
        (Layout::Array, Some(&[rows, columns])) => (rows, columns, None),
        _ => return Err(bad_record(path, number, expected, line)),
    };
    check_size([rows, columns], is_matrix && banner.symmetry == Symmetry::General, path, number)?;
    let entries = entries.or_else(|| dense_entries([rows, columns], banner.symmetry));
    let entries = entries.ok_or_else(|| bad_record(path, number, "a smaller matrix", line))?;
    let Banner { layout, symmetry, values } = *banner;
    let header = MatrixHeader { layout, symmetry, values, rows, columns, entries };
    Ok(Some((header, end_of_line(&first.bytes, skipped))))
}

/// The header of a file without a banner, by its first lines.
fn guess(first: &Lines, path: &Path, is_matrix: bool) -> Result<Option<(MatrixHeader, usize)>> {
    let mut data = data_lines(&first.bytes);
    let (skipped, line) = data.next().unwrap_or((0, b""));
    let number = first.first_line + skipped;
    let next_columns = data.next().map_or(0, |(_, next)| columns_of(next));
    let numbers = numbers_of(line);
    let (layout, [rows, columns], entries, values) = match (numbers.as_deref(), next_columns) {
        (Some(&[rows, columns, entries]), 0 | 2 | 3) => {
            let values = if next_columns == 3 { Values::Real } else { Values::Pattern };
            (Layout::Coordinate, [rows, columns], Some(entries), values)
        }
        (Some(&[rows, columns]), 1) => {
            (Layout::Array, [rows, columns], dense_entries([rows, columns], Symmetry::General), Values::Real)
        }
        (Some(&[_, _]), 0 | 2) => return Ok(None),
        _ => {
            let expected = "`%%MatrixMarket`, or a size and entries without it, or pairs";
            return Err(bad_record(path, number, expected, line).advise("is it a Matrix Market file? see --format"));
        }
    };
    check_size([rows, columns], is_matrix, path, number)?;
    let entries = entries.ok_or_else(|| bad_record(path, number, "a smaller matrix", line))?;
    let header = MatrixHeader { layout, symmetry: Symmetry::General, values, rows, columns, entries };
    Ok(Some((header, end_of_line(&first.bytes, skipped))))
}

fn check_size([rows, columns]: [u64; 2], may_be_rectangular: bool, path: &Path, number: u64) -> Result<()> {
    if rows != columns && !may_be_rectangular {
        let found = format!("a rectangular matrix of {rows} x {columns}");
        let advice = "a graph has as many columns as rows, and so has what is symmetric; a general matrix may have others, \
                      where it is imported as a matrix";
        return Err(Error::input(path, Some(number), "a square matrix", found).advise(advice));
    }
    if rows.checked_add(columns).is_none_or(|sum| sum == u64::MAX) {
        let found = format!("{rows} rows and {columns} columns");
        return Err(Error::input(path, Some(number), "fewer rows and columns", found));
    }
    Ok(())
}

/// Number of stored values of an array of this size.
fn dense_entries([rows, columns]: [u64; 2], symmetry: Symmetry) -> Option<u64> {
    let (rows, columns) = (rows as u128, columns as u128);
    let entries = match symmetry {
        Symmetry::General => rows * columns,
        Symmetry::Symmetric | Symmetry::Hermitian => rows * (rows + 1) / 2,
        Symmetry::Skew => rows * rows.saturating_sub(1) / 2,
    };
    u64::try_from(entries).ok()
}

/// The whole numbers of a line of at most three, or nothing if it holds anything else.
fn numbers_of(line: &[u8]) -> Option<Vec<u64>> {
    let mut fields = Fields::new(line);
    let mut numbers = Vec::new();
    while !fields.is_empty() {
        if numbers.len() == 3 {
            return None;
        }
        numbers.push(fields.unsigned()?);
    }
    Some(numbers)
}

/// The number of columns, or 4 if there are more.
fn columns_of(line: &[u8]) -> usize {
    let mut fields = Fields::new(line);
    (0..4).take_while(|_| fields.token().is_some()).count()
}
