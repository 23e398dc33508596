//! The separator that cuts the first lines of a file into columns.

use crate::batch::bad_record;
use crate::text::blocks::Lines;
use crate::text::columns::{Field, Separator, split};
use crate::text::number::{Fields, is_blank, real, trim};
use outcore_image::Result;
use std::path::Path;

const TAB: Separator = Separator::Byte(b'\t');
/// The separators of CSV, the least ambiguous first: a comma also stands in numbers.
const CSV: [u8; 3] = [b';', b',', b'|'];

/// The separator of rows, which are data lines of the block `first`.
///
/// # Errors
/// Lines that two separators cut into different columns.
pub fn separator_of(rows: &[&[u8]], first: &Lines, path: &Path) -> Result<Separator> {
    let with = |byte: u8| rows.iter().filter(|line| has_outside_quotes(line, byte)).count();
    let tabs = with(b'\t');
    let is_blank_head = rows.first().is_some_and(|line| !has_outside_quotes(line, b'\t'));
    if tabs > 0 && is_blank_head && is_table(rows, Separator::Blanks) && is_numeric(rows) {
        // A size `n m` between blanks, and edges between tabs.
        return Ok(Separator::Blanks);
    }
    if tabs > 0 && is_table(rows, TAB) {
        return Ok(TAB);
    }
    if tabs > 0 && !(is_table(rows, Separator::Blanks) && is_numeric(rows)) {
        // Columns in quotes that do not end are refused, with their line, when they are cut.
        let has_open_quote = || rows.iter().any(|line| split(line, TAB, usize::MAX, &mut Vec::new()).is_err());
        if 2 * tabs > rows.len() || has_open_quote() {
            return Ok(TAB);
        }
        let line = rows.iter().find(|line| has_outside_quotes(line, b'\t')).copied().unwrap_or_default();
        return Err(bad_record(path, line_of(first, line), "tabs between the columns of every line, or of none", line)
            .advise("say --delimiter tab or --delimiter blanks"));
    }
    let all = || CSV.into_iter().filter(|&byte| !rows.is_empty() && with(byte) == rows.len());
    let most = || CSV.into_iter().filter(|&byte| with(byte) > 0 && 2 * with(byte) >= rows.len());
    let found = all().find(|&byte| is_table(rows, Separator::Byte(byte))).or_else(|| all().next());
    let Some(byte) = found.or_else(|| most().next()) else { return Ok(Separator::Blanks) };
    if let Some(line) = rows.iter().find(|line| holds_several_numbers(line, byte)) {
        let expected = format!("one value between `{}`", byte as char);
        return Err(bad_record(path, line_of(first, line), &expected, line)
            .advise("say --delimiter comma, semicolon or blanks; numbers are written with a point"));
    }
    Ok(Separator::Byte(byte))
}

/// Whether the separator cuts all lines, the first apart, into the same number of columns, at least two.
fn is_table(rows: &[&[u8]], separator: Separator) -> bool {
    let mut fields = Vec::new();
    let mut counts = rows.iter().skip(usize::from(rows.len() > 1)).map(|line| {
        let cut = split(line, separator, usize::MAX, &mut fields);
        let hollow = fields.iter().rev().skip(1).any(Field::is_empty);
        (cut.is_ok() && !hollow).then_some(fields.len())
    });
    let Some(Some(count)) = counts.next() else { return false };
    count >= 2 && counts.all(|other| other == Some(count))
}

/// Whether there is nothing but numbers between blanks.
fn is_numeric(rows: &[&[u8]]) -> bool {
    let is_numeric = |line: &&[u8]| {
        let mut fields = Fields::new(line);
        std::iter::from_fn(|| fields.token()).all(|token| real(token).is_some())
    };
    rows.iter().skip(usize::from(rows.len() > 1)).all(is_numeric)
}

/// The number that most lines have.
pub(crate) fn most_common(counts: impl Iterator<Item = usize>) -> usize {
    let mut sorted: Vec<usize> = counts.collect();
    sorted.sort_unstable();
    let groups = sorted.chunk_by(|one, other| one == other);
    groups.max_by_key(|group| group.len()).map_or(0, |group| group[0])
}

fn line_of(first: &Lines, line: &[u8]) -> u64 {
    let before = line.as_ptr() as usize - first.bytes.as_ptr() as usize;
    first.first_line + memchr::memchr_iter(b'\n', &first.bytes[..before]).count() as u64
}

fn has_outside_quotes(line: &[u8], wanted: u8) -> bool {
    let mut quoted = false;
    line.iter().any(|&byte| {
        quoted ^= byte == b'"';
        byte == wanted && !quoted
    })
}

/// Whether a column holds several numbers with blanks between them: then the columns were to be cut there.
fn holds_several_numbers(line: &[u8], separator: u8) -> bool {
    line.split(|&byte| byte == separator).any(|field| {
        let field = trim(field);
        let mut tokens = Fields::new(field);
        field.iter().any(|b| is_blank(*b)) && std::iter::from_fn(|| tokens.token()).all(|token| real(token).is_some())
    })
}
