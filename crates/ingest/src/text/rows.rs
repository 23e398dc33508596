//! Which separator cuts the first lines of a file into columns.

use crate::batch::bad_record;
use crate::text::blocks::Lines;
use crate::text::columns::{Field, Separator, split};
use crate::text::number::{Fields, is_blank, real, trim};
use outcore_image::Result;
use std::path::Path;

const TAB: Separator = Separator::Byte(b'\t');
/// The separators of CSV, the least ambiguous first: a comma also stands in numbers.
const CSV: [u8; 3] = [b';', b',', b'|'];

/// Data lines, to be cut.
pub struct RowCounts<'a> {
    lines: &'a [&'a [u8]],
}

impl<'a> RowCounts<'a> {
    /// Data lines whose separator is sought.
    pub fn new(lines: &'a [&'a [u8]]) -> Self {
        RowCounts { lines }
    }

    /// The separator of these lines, which are data lines of the block `first`.
    ///
    /// # Errors
    /// Lines that two separators cut into different columns.
    pub fn separator(&self, first: &Lines, path: &Path) -> Result<Separator> {
        let with = |byte: u8| self.lines.iter().filter(|line| has_outside_quotes(line, byte)).count();
        let tabs = with(b'\t');
        let is_blank_head = self.lines.first().is_some_and(|line| !has_outside_quotes(line, b'\t'));
        if tabs > 0 && is_blank_head && self.is_table(Separator::Blanks) && self.is_numeric() {
            // A size `n m` between blanks, and edges between tabs.
            return Ok(Separator::Blanks);
        }
        if tabs > 0 && self.is_table(TAB) {
            return Ok(TAB);
        }
        if tabs > 0 && !(self.is_table(Separator::Blanks) && self.is_numeric()) {
            if 2 * tabs > self.lines.len() {
                return Ok(TAB);
            }
            let line = self.lines.iter().find(|line| has_outside_quotes(line, b'\t')).copied().unwrap_or_default();
            return Err(bad_record(
                path,
                line_of(first, line),
                "tabs between the columns of every line, or of none",
                line,
            )
            .advise("say --delimiter tab or --delimiter blanks"));
        }
        let all = || CSV.into_iter().filter(|&byte| !self.lines.is_empty() && with(byte) == self.lines.len());
        let most = || CSV.into_iter().filter(|&byte| with(byte) > 0 && 2 * with(byte) >= self.lines.len());
        let found = all().find(|&byte| self.is_table(Separator::Byte(byte))).or_else(|| all().next());
        let Some(byte) = found.or_else(|| most().next()) else { return Ok(Separator::Blanks) };
        if let Some(line) = self.lines.iter().find(|line| holds_several_numbers(line, byte)) {
            let expected = format!("one value between `{}`", byte as char);
            return Err(bad_record(path, line_of(first, line), &expected, line)
                .advise("say --delimiter comma, semicolon or blanks; numbers are written with a point"));
        }
        Ok(Separator::Byte(byte))
    }

    /// Whether the separator cuts all lines, the first apart, into the same number of columns, at least two.
    fn is_table(&self, separator: Separator) -> bool {
        let mut fields = Vec::new();
        let mut counts = self.lines.iter().skip(usize::from(self.lines.len() > 1)).map(|line| {
            let cut = split(line, separator, usize::MAX, &mut fields);
            let hollow = fields.iter().rev().skip(1).any(Field::is_empty);
            (cut.is_ok() && !hollow).then_some(fields.len())
        });
        let Some(Some(count)) = counts.next() else { return false };
        count >= 2 && counts.all(|other| other == Some(count))
    }

    /// Whether there is nothing but numbers between blanks.
    fn is_numeric(&self) -> bool {
        let is_numeric = |line: &&[u8]| {
            let mut fields = Fields::new(line);
            std::iter::from_fn(|| fields.token()).all(|token| real(token).is_some())
        };
        self.lines.iter().skip(usize::from(self.lines.len() > 1)).all(is_numeric)
    }
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
