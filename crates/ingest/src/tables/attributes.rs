//! Attributes: columns of a table beside the ends of edges, or beside ids of vertices, which an import keeps.
//!
//! A parser hands over their values as numbers or strings, whatever the input holds them as: true and false are 1 and
//! 0, dates are days since 1970, times what their unit counts since then. In text a column whose first lines are all
//! dates, or times of one form, as ISO 8601 has them, holds these.

use crate::text::columns::Field;
use crate::text::number::{Integer, integer, is_exactly, is_missing, is_padded, is_whole, real, trim};
use crate::text::times::{Moment, kind_of_moments};
use outcore_format::AttributeKind;
use std::borrow::Cow;

/// Whole numbers up to this size are real numbers of 64 bits, too.
const MOST_EXACT: u64 = 1 << 53;

/// The columns that are kept as attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attributes {
    /// None.
    #[default]
    None,
    /// All that have names and are neither ids nor weights.
    All,
    /// These, by their names or their numbers from 1.
    Named(Vec<String>),
}

/// An attribute that an input has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeField {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: AttributeKind,
}

/// The name of a kind, with an example where values have a form that is not plain.
pub(crate) fn form(kind: &AttributeKind) -> String {
    match kind {
        AttributeKind::Date => format!("{}, such as 2024-02-29", kind.name()),
        AttributeKind::Timestamp { .. } => format!("{}, such as 2024-02-29 18:30", kind.name()),
        _ => kind.name().to_owned(),
    }
}

/// As [`form`], for a value that is none of the kind.
pub(crate) fn expected_form(kind: &AttributeKind, found: &[u8]) -> String {
    match kind {
        AttributeKind::Real if is_whole(trim(found)) => {
            format!("{}, which whole numbers beyond 2^53 are only if none is rounded", kind.name())
        }
        _ => form(kind),
    }
}

/// The values of an attribute, one for each edge, or each vertex, of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValues {
    /// Numbers in 64 bits: real numbers by their bits, all others in two's complement.
    Words(Vec<u64>),
    /// Strings, one after the other: string `i` ends at `ends[i]`.
    Text {
        /// All strings without separators.
        bytes: Vec<u8>,
        /// End of each string, in bytes.
        ends: Vec<u32>,
    },
    /// All of this number are missing.
    Missing(usize),
}

impl AttributeValues {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            AttributeValues::Words(words) => words.len(),
            AttributeValues::Text { ends, .. } => ends.len(),
            AttributeValues::Missing(count) => *count,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column of values, and where there are none: then the value is 0, or the empty string.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeColumn {
    /// The values.
    pub values: AttributeValues,
    /// Whether each is missing; empty if none is.
    pub missing: Vec<bool>,
}

impl AttributeColumn {
    pub(crate) fn new(kind: &AttributeKind) -> Self {
        let values = match kind {
            AttributeKind::String => AttributeValues::Text { bytes: Vec::new(), ends: Vec::new() },
            _ => AttributeValues::Words(Vec::new()),
        };
        AttributeColumn { values, missing: Vec::new() }
    }

    /// Values that are all missing, in no memory.
    pub(crate) fn all_missing(count: usize) -> Self {
        AttributeColumn { values: AttributeValues::Missing(count), missing: Vec::new() }
    }

    /// Whether some values may be missing.
    pub fn has_missing(&self) -> bool {
        matches!(self.values, AttributeValues::Missing(_)) || !self.missing.is_empty()
    }

    /// The column with a value in every place, as columns of that kind have them.
    pub fn filled(&self, kind: &AttributeKind) -> Cow<'_, Self> {
        let AttributeValues::Missing(count) = self.values else { return Cow::Borrowed(self) };
        let values = match kind {
            AttributeKind::String => AttributeValues::Text { bytes: Vec::new(), ends: vec![0; count] },
            _ => AttributeValues::Words(vec![0; count]),
        };
        Cow::Owned(AttributeColumn { values, missing: vec![true; count] })
    }

    /// The values of a column of one kind as those of another one: whole numbers as real ones that equal them, strings
    /// as what they say. The error has the place of a value that is none of the kind, and the value.
    pub(crate) fn widened(self, own: &AttributeKind, kind: &AttributeKind) -> Result<Self, (u64, String)> {
        let is_missing = |row: usize| self.missing.get(row) == Some(&true);
        match (&self.values, own, kind) {
            _ if own == kind => Ok(self),
            (AttributeValues::Words(words), AttributeKind::Integer, AttributeKind::Real) => {
                let real = |(row, &word): (usize, &u64)| match word as i64 {
                    _ if is_missing(row) => Ok(0),
                    value if value.unsigned_abs() <= MOST_EXACT => Ok((value as f64).to_bits()),
                    value => Err((row as u64, value.to_string())),
                };
                let words = words.iter().enumerate().map(real).collect::<Result<_, _>>()?;
                Ok(AttributeColumn { values: AttributeValues::Words(words), missing: self.missing })
            }
            (AttributeValues::Text { bytes, ends }, ..) => {
                let (mut column, mut start) = (AttributeColumn::new(kind), 0);
                for (row, &end) in ends.iter().enumerate() {
                    let text = String::from_utf8_lossy(&bytes[start..end as usize]);
                    start = end as usize;
                    let value = (!is_missing(row)).then_some(&*text);
                    if !column.push_value(kind, value) {
                        return Err((row as u64, format!("`{text}`")));
                    }
                }
                Ok(column)
            }
            _ => Err((0, format!("values as {}", own.name()))),
        }
    }

    fn push_missing(&mut self) {
        let before = self.values.len();
        self.missing.resize(before, false);
        self.missing.push(true);
        match &mut self.values {
            AttributeValues::Words(words) => words.push(0),
            AttributeValues::Text { bytes, ends } => ends.push(bytes.len() as u32),
            AttributeValues::Missing(count) => *count += 1,
        }
    }

    /// Appends what a field of a line says: nothing if it is empty, or if it is a usual sign for that where no strings
    /// are. False if it is none of the kind, or too long.
    pub(crate) fn push_field(&mut self, kind: &AttributeKind, field: Field<'_>) -> bool {
        let token = trim(field.raw);
        let is_string = *kind == AttributeKind::String;
        if is_string && token.is_empty() && !field.quoted || !is_string && is_missing(token) {
            self.push_missing();
            return true;
        }
        let is_known = match (&mut self.values, kind) {
            (AttributeValues::Missing(_), _) => false,
            (AttributeValues::Text { bytes, ends }, _) => {
                let before = bytes.len();
                field.push_to(bytes);
                let end = u32::try_from(bytes.len());
                ends.extend(end);
                end.is_ok() && std::str::from_utf8(&bytes[before..]).is_ok()
            }
            (AttributeValues::Words(words), AttributeKind::Real) => {
                let found = real_or_infinite(token).filter(|&number| !has_zeros(token) && equals(token, number));
                words.extend(found.map(f64::to_bits));
                found.is_some()
            }
            (AttributeValues::Words(words), AttributeKind::Boolean) => {
                words.extend(boolean(token).map(u64::from));
                boolean(token).is_some()
            }
            (AttributeValues::Words(words), AttributeKind::Date | AttributeKind::Timestamp { .. }) => {
                let found = Moment::of(token).and_then(|moment| moment.word(kind));
                words.extend(found.map(|found| found as u64));
                found.is_some()
            }
            (AttributeValues::Words(words), _) => {
                let found = integer(token).and_then(Integer::signed).filter(|_| !is_padded(token));
                words.extend(found.map(|found| found as u64));
                found.is_some()
            }
        };
        if !self.missing.is_empty() {
            self.missing.push(false);
        }
        is_known
    }

    /// Appends a value as its text, if there is one. False if it is none of the kind, or too long.
    pub(crate) fn push_value(&mut self, kind: &AttributeKind, value: Option<&str>) -> bool {
        let Some(text) = value else {
            self.push_missing();
            return true;
        };
        let AttributeValues::Text { bytes, ends } = &mut self.values else {
            return self.push_field(kind, Field { raw: text.as_bytes(), quoted: false });
        };
        bytes.extend_from_slice(text.as_bytes());
        let end = u32::try_from(bytes.len());
        ends.extend(end);
        if !self.missing.is_empty() {
            self.missing.push(false);
        }
        end.is_ok()
    }

    /// Removes the values without a mark.
    pub(crate) fn retain(&mut self, marks: &[bool]) {
        match &mut self.values {
            AttributeValues::Words(words) => retain(words, marks),
            AttributeValues::Text { bytes, ends } => retain_text(bytes, ends, marks, 1),
            AttributeValues::Missing(count) => *count = marks.iter().filter(|mark| **mark).count(),
        }
        if !self.missing.is_empty() {
            retain(&mut self.missing, marks);
        }
    }
}

/// A real number, or an infinite one as programs write it.
fn real_or_infinite(token: &[u8]) -> Option<f64> {
    let (sign, size) = match token {
        [b'-', rest @ ..] => (-1.0, rest),
        _ => (1.0, token),
    };
    let is_infinite = ["inf", "infinity"].iter().any(|word| size.eq_ignore_ascii_case(word.as_bytes()));
    if is_infinite { Some(sign * f64::INFINITY) } else { real(token) }
}

/// Whether a real number is what a token says: a whole one may not be rounded.
fn equals(token: &[u8], number: f64) -> bool {
    !is_whole(token) || fits(token) && is_exactly(token, number)
}

/// Whether a number may be a real one: a whole number by its digits is none if 64 bits do not hold it.
fn fits(token: &[u8]) -> bool {
    let are_digits = token.strip_prefix(b"-").unwrap_or(token).iter().all(u8::is_ascii_digit);
    !are_digits || integer(token).and_then(Integer::signed).is_some()
}

/// Whether a number has a sign or zeros in front that nobody writes before numbers: `00.5`, `+7`.
fn has_zeros(token: &[u8]) -> bool {
    matches!(token.strip_prefix(b"-").unwrap_or(token), [b'+', ..] | [b'0', b'0'..=b'9', ..])
}

fn boolean(token: &[u8]) -> Option<bool> {
    match token {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// Whether no field of a column of text has a value.
pub(crate) fn are_missing<'a>(mut fields: impl Iterator<Item = Field<'a>>) -> bool {
    fields.all(|field| is_missing(field.raw))
}

/// The kind of a column of text: strings, unless all fields that are not missing are of one other kind.
pub(crate) fn kind_of_fields<'a>(fields: impl Iterator<Item = Field<'a>> + Clone) -> AttributeKind {
    let all = fields.filter(|field| !is_missing(field.raw)).map(|field| trim(field.raw));
    let mut tokens = all.clone().peekable();
    let is_empty = tokens.peek().is_none();
    let mut are = [!is_empty; 3];
    for token in tokens {
        are[0] &= integer(token).and_then(Integer::signed).is_some() && !is_padded(token);
        // Digits that no integer of 64 bits holds would be rounded.
        are[1] &= real_or_infinite(token).is_some() && !has_zeros(token) && fits(token);
        are[2] &= boolean(token).is_some();
    }
    match are {
        [true, ..] => AttributeKind::Integer,
        [_, true, _] => AttributeKind::Real,
        [_, _, true] => AttributeKind::Boolean,
        _ => kind_of_moments(all).unwrap_or(AttributeKind::String),
    }
}

/// Removes the values without a mark.
pub(crate) fn retain<T>(values: &mut Vec<T>, marks: &[bool]) {
    let mut each = marks.iter();
    values.retain(|_| each.next() == Some(&true));
}

/// Removes the strings without a mark, of which each is for `group` strings.
pub(crate) fn retain_text(bytes: &mut Vec<u8>, ends: &mut Vec<u32>, marks: &[bool], group: usize) {
    let (mut start, mut end, mut count) = (0, 0, 0);
    for (place, &mark) in marks.iter().enumerate() {
        for string in group * place..group * (place + 1) {
            let next = ends[string] as usize;
            if mark {
                bytes.copy_within(start..next, end);
                end += next - start;
                ends[count] = end as u32;
                count += 1;
            }
            start = next;
        }
    }
    bytes.truncate(end);
    ends.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    fn words(column: &AttributeColumn) -> Vec<i64> {
        let AttributeValues::Words(words) = &column.values else { panic!("strings") };
        words.iter().map(|&word| word as i64).collect()
    }

    #[test]
    fn fields_of_lines_are_missing_where_they_are_empty() {
        let field = |raw| Field { raw, quoted: false };
        let mut column = AttributeColumn::new(&AttributeKind::Integer);
        for (text, is_known) in [("7", true), (" ", true), ("-2", true), ("NA", true), ("x", false)] {
            assert_eq!(column.push_field(&AttributeKind::Integer, field(text.as_bytes())), is_known, "{text}");
        }
        assert_eq!(words(&column), [7, 0, -2, 0]);
        assert_eq!(column.missing[..4], [false, true, false, true]);
        assert!(!column.push_field(&AttributeKind::Integer, field(b"9223372036854775808")));
        let mut column = AttributeColumn::new(&AttributeKind::String);
        assert!(column.push_field(&AttributeKind::String, field(b"NA")));
        assert!(column.push_field(&AttributeKind::String, Field { raw: b"", quoted: true }));
        assert!(column.missing.is_empty());
        assert!(!column.push_field(&AttributeKind::String, field(b"\xff")));
    }

    #[test]
    fn the_kind_of_a_column_of_text_is_that_of_all_its_fields() {
        let kind = |texts: &[&'static str]| {
            kind_of_fields(texts.iter().map(|text| Field { raw: text.as_bytes(), quoted: false }))
        };
        assert_eq!(kind(&["1", "", "-7", "NA"]), AttributeKind::Integer);
        assert_eq!(kind(&["1", "2.5"]), AttributeKind::Real);
        assert_eq!(kind(&["0.5", "1e-5", ".5", "-0.25"]), AttributeKind::Real);
        assert_eq!(kind(&["true", "False"]), AttributeKind::Boolean);
        assert_eq!(kind(&["2024-02-29", "", "1969-12-31"]), AttributeKind::Date);
        let times = AttributeKind::Timestamp { unit: outcore_format::TimeUnit::Microsecond, zone: None };
        assert_eq!(kind(&["2025-03-15 18:00:00", "NA", "2025-03-15T12:00"]), times);
        for texts in
            [&["12345678901234567890", "1"][..], &["1", "x"], &["007", "1"], &["00.5"], &["", ""], &[], &["true", "1"]]
                .into_iter()
                .chain([&["2024-02-29", "soon"][..], &["2024-02-29", "2024-02-29 10:00"]])
        {
            assert_eq!(kind(texts), AttributeKind::String, "{texts:?}");
        }
    }
}
