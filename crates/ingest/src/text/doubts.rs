//! Comments that may be rows: a sign such as `#` may also be the start of an id or of a text.

use crate::text::blocks::Lines;
use crate::text::columns::{Columns, Comments, Skipped, begins_with_word, split};
use crate::text::number::{self, integer, lines, trim};
use crate::text::sample::has_columns;

/// Rules that tell comments apart that may be rows.
#[derive(Clone, Copy)]
pub(crate) struct Doubts {
    /// Nobody said what begins comments.
    pub(crate) is_guessed: bool,
    /// The number of the first line that is no comment: the one above it may name the columns.
    pub(crate) first_line: u64,
}

impl Doubts {
    /// Whether a comment may be a row: its sign is the start of a word, it has as many columns as the rows, and ends
    /// and a weight in them.
    pub(crate) fn has(self, number: u64, line: &[u8], columns: &Columns) -> bool {
        if !self.is_guessed || number + 1 == self.first_line || !begins_with_word(line) {
            return false;
        }
        let mut fields = Vec::new();
        let is_cut = split(line, columns.separator, columns.count + 2, &mut fields).is_ok();
        let is_id = |column: usize| match columns.strings {
            true => !fields[column].is_empty(),
            false => integer(trim(fields[column].raw)).is_some(),
        };
        let is_weight = |column: usize| number::weight(trim(fields[column].raw)).is_some();
        is_cut
            && has_columns(&fields, columns.count)
            && is_id(columns.source)
            && is_id(columns.target)
            && columns.weight.is_none_or(is_weight)
    }
}

/// Counts the comments in a block up to a place in it.
pub(crate) fn count_comments(
    first: &Lines,
    end: usize,
    (comments, skipped): (&Comments, &Skipped),
    is_doubtful: impl Fn(u64, &[u8]) -> bool,
) {
    for (number, line) in (first.first_line..).zip(lines(&first.bytes[..end])) {
        if comments.has(line) {
            skipped.add(number, line, is_doubtful(number, line));
        }
    }
}
