//! The sample of a text file: its first data lines, and what may be concluded from their fields.
//!
//! Every text format decides by at most [`SAMPLE_LINES`] lines. Edge lists (`detect.rs`) and tables of numbers have the
//! fields in common; adjacency lists and JSON lines take the lines alone. What concerns a single token is in
//! `number.rs`.

use crate::batch::{InputOptions, bad_record};
use crate::text::columns::{Comments, Field, Separator, split};
use crate::text::number::{Quoting, lines, record_end, trim};
use crate::text::separator::most_common;
use outcore_image::{Error, Result};
use std::path::Path;

pub(crate) const SAMPLE_LINES: usize = 1000;

/// The first data lines of a text, which begins with the line of the number `first_line`, and their numbers.
pub fn first_lines(first_line: u64, text: &[u8], is_data: impl Fn(&[u8]) -> bool) -> Vec<(u64, &[u8])> {
    (first_line..).zip(lines(text)).filter(|(_, line)| is_data(line)).take(SAMPLE_LINES).collect()
}

/// The fields of the first data lines of a block.
pub struct Sample<'a> {
    /// The file, for messages.
    pub path: &'a Path,
    /// The number of the block's first line.
    pub first_line: u64,
    pub(crate) separator: Separator,
    pub(crate) comments: Comments,
    /// The number of the line in the block, from 0, and its columns.
    pub rows: Vec<(u64, Vec<Field<'a>>)>,
    /// Number of columns below which an empty last one counts.
    least_columns: usize,
}

impl<'a> Sample<'a> {
    /// Cuts the first data lines of a block, which are numbered from 0, into at most `most_columns` columns.
    ///
    /// # Errors
    /// A field whose quotes do not end where the field does.
    pub fn cut(
        (path, first_line): (&'a Path, u64),
        all: impl Iterator<Item = (u64, &'a [u8])>,
        (separator, comments): (Separator, Comments),
        (least_columns, most_columns): (usize, usize),
    ) -> Result<Self> {
        let data = all.filter(|(_, line)| comments.is_data(line));
        let mut rows = Vec::new();
        for (skipped, line) in data.take(SAMPLE_LINES) {
            let mut fields = Vec::new();
            split(line, separator, most_columns, &mut fields)
                .map_err(|expected| bad_record(path, first_line + skipped, expected, line))?;
            rows.push((skipped, fields));
        }
        Ok(Sample { path, first_line, separator, comments, rows, least_columns })
    }

    /// The number of the line of a row.
    pub fn line(&self, row: usize) -> u64 {
        self.first_line + self.rows[row].0
    }

    /// Number of columns of the lines after the first.
    pub fn width(&self) -> usize {
        self.count(usize::from(self.rows.len() > 1))
    }

    /// Number of columns of most lines, without a last one that is empty on all lines of that width.
    pub(crate) fn count(&self, skipped: usize) -> usize {
        let body = &self.rows[skipped.min(self.rows.len())..];
        let body = if body.is_empty() { &self.rows[..] } else { body };
        let count = most_common(body.iter().map(|(_, fields)| fields.len()));
        let mut wide = self.rows.iter().filter(|(_, fields)| fields.len() == count);
        let hollow = count > self.least_columns
            && wide.all(|(_, fields)| fields[count - 1].is_empty() && !fields[count - 1].quoted);
        count - usize::from(hollow)
    }
}

/// The content of a field that names a column.
pub fn name_of(field: &Field<'_>) -> String {
    String::from_utf8_lossy(trim(&field.content())).into_owned()
}

/// The start of comments, as far as the file's name and the options tell.
pub fn first_comments(path: &Path, options: &InputOptions) -> Result<Comments> {
    if let Some(asked) = options.comment.as_deref() {
        return Comments::named(asked);
    }
    Ok(if is_called_csv(path) { Comments::none() } else { Comments::usual() })
}

/// Whether a line tells spreadsheets the separator: `sep=;`.
pub fn is_separator_line(line: &[u8]) -> bool {
    let bare = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    matches!(bare, [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', b',' | b';' | b'|' | b'\t'])
}

/// Whether the name says that commas stand between columns: `.csv`, also with `.gz` or the like behind it.
pub fn is_called_csv(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.split('.').skip(1).any(|part| part == "csv")
}

/// The start of comments, now that the separator is known.
pub fn settled_comments(guess: Comments, separator: Separator, asked: Option<&str>) -> Comments {
    match separator {
        _ if asked.is_some() => guess,
        Separator::Blanks => Comments::usual(),
        separator if separator.is_csv() => Comments::none(),
        _ => guess,
    }
}

/// Whether a line has so many columns; an empty one at its end does not count.
#[inline]
pub fn has_columns(fields: &[Field<'_>], count: usize) -> bool {
    let is_hollow = || fields[count].is_empty() && !fields[count].quoted;
    fields.len() == count || fields.len() == count + 1 && is_hollow()
}

/// The direction that a value of a column `Type` means.
pub(crate) fn says_directed(value: &[u8]) -> Option<bool> {
    match trim(value).to_ascii_lowercase().as_slice() {
        b"directed" => Some(true),
        b"undirected" => Some(false),
        _ => None,
    }
}

/// A row whose column `Type` says another direction than those above.
pub(crate) fn other_direction(path: &Path, row: u64, directed: bool, column: &str, found: &[u8]) -> Error {
    let kind = if directed { "Directed" } else { "Undirected" };
    bad_record(path, row, &format!("`{kind}` in {column}, as above"), found)
        .advise("a graph has edges of one kind: import the directed and the undirected edges apart")
}

/// An id with leading zeros, or a plus, where ids are integers because they look so.
pub(crate) fn padded_id(path: &Path, line: u64, id: &[u8]) -> Error {
    bad_record(path, line, "integer ids without leading zeros or a plus", id)
        .advise("--ids integer reads 007 as 7, --ids string keeps them apart")
}

/// End of the record that begins on this line, counted from 0.
pub(crate) fn end_of_record(bytes: &[u8], number: u64, quoting: Quoting) -> usize {
    let start = number.checked_sub(1).map_or(0, |before| end_of_line(bytes, before));
    record_end(&bytes[start..], quoting).map_or(bytes.len(), |end| start + end)
}

/// End of this line, counted from 0.
pub fn end_of_line(bytes: &[u8], number: u64) -> usize {
    let end = memchr::memchr_iter(b'\n', bytes).nth(number as usize);
    end.map_or(bytes.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of columns of lines between commas, of which tables have `least` or more.
    fn count(text: &str, least: usize) -> usize {
        let cut = (Separator::Byte(b','), Comments::none());
        let all = (0u64..).zip(lines(text.as_bytes()));
        Sample::cut((Path::new("x.csv"), 1), all, cut, (least, 1024)).unwrap().width()
    }

    #[test]
    fn an_empty_last_column_counts_where_too_few_would_be_left() {
        assert_eq!((count("a,b,\n1,2,\n", 2), count("a,b,\n1,2,\n", 1)), (2, 2));
        assert_eq!((count("a,\n1,\n", 2), count("a,\n1,\n", 1)), (2, 1));
        assert_eq!(count("1,2,\n3,4,5\n", 1), 3, "a value in the last column");
        assert_eq!(count("1,2,\"\"\n3,4,\"\"\n", 1), 3, "a value in quotes");
        assert_eq!(count("1,2,\n3,4,\n3,4,\n5,6,,\n", 1), 2, "a line of another width does not fill it");
    }
}
