//! Attributes: columns of a table beside the ends of edges, or beside ids of vertices, which an import keeps.
//!
//! A parser hands over their values as numbers or strings, whatever the input holds them as: true and false are 1 and
//! 0, dates are days since 1970, times what their unit counts since then.

use crate::batch::InputOptions;
use crate::column_names::column_asked;
use crate::tables::table::{column_names, kind_name};
use crate::tables::values::{each_integer, each_real, is_integer, is_real, texts_of};
use crate::text::columns::Field;
use crate::text::number::{Integer, integer, is_missing, is_padded, real, trim};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema, TimeUnit as ArrowUnit};
use outcore_format::{AttributeKind, MAX_ATTRIBUTES, TimeUnit};
use outcore_image::{Error, Result};
use std::path::Path;

/// Milliseconds of a day.
const DAY_MILLISECONDS: i64 = 86_400_000;

/// Which columns are kept as attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
}

impl AttributeValues {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            AttributeValues::Words(words) => words.len(),
            AttributeValues::Text { ends, .. } => ends.len(),
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
    /// No values of a kind.
    pub(crate) fn new(kind: &AttributeKind) -> Self {
        let values = match kind {
            AttributeKind::String => AttributeValues::Text { bytes: Vec::new(), ends: Vec::new() },
            _ => AttributeValues::Words(Vec::new()),
        };
        AttributeColumn { values, missing: Vec::new() }
    }

    fn push_missing(&mut self) {
        let before = self.values.len();
        self.missing.resize(before, false);
        self.missing.push(true);
        match &mut self.values {
            AttributeValues::Words(words) => words.push(0),
            AttributeValues::Text { bytes, ends } => ends.push(bytes.len() as u32),
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
            (AttributeValues::Text { bytes, ends }, _) => {
                let before = bytes.len();
                field.push_to(bytes);
                let end = u32::try_from(bytes.len());
                ends.extend(end);
                end.is_ok() && std::str::from_utf8(&bytes[before..]).is_ok()
            }
            (AttributeValues::Words(words), AttributeKind::Real) => {
                let found = real_or_infinite(token).filter(|_| !has_zeros(token) && is_exact(token));
                words.extend(found.map(f64::to_bits));
                found.is_some()
            }
            (AttributeValues::Words(words), AttributeKind::Boolean) => {
                words.extend(boolean(token).map(u64::from));
                boolean(token).is_some()
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
}

impl AttributeColumn {
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

/// Whether a number may be a real one: a whole number by its digits is none if 64 bits do not hold it.
fn is_exact(token: &[u8]) -> bool {
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

/// The kind of a column of text: strings, unless all fields that are not missing are of one other kind.
pub(crate) fn kind_of_fields<'a>(fields: impl Iterator<Item = Field<'a>> + Clone) -> AttributeKind {
    let mut tokens = fields.filter(|field| !is_missing(field.raw)).map(|field| trim(field.raw)).peekable();
    let is_empty = tokens.peek().is_none();
    let mut are = [!is_empty; 3];
    for token in tokens {
        are[0] &= integer(token).and_then(Integer::signed).is_some() && !is_padded(token);
        // Digits that no integer of 64 bits holds would be rounded.
        are[1] &= real_or_infinite(token).is_some() && !has_zeros(token) && is_exact(token);
        are[2] &= boolean(token).is_some();
    }
    match are {
        [true, ..] => AttributeKind::Integer,
        [_, true, _] => AttributeKind::Real,
        [_, _, true] => AttributeKind::Boolean,
        _ => AttributeKind::String,
    }
}

/// The attribute kind of an Arrow type; `None` if it cannot be kept.
fn kind_of(kind: &DataType) -> Option<AttributeKind> {
    match kind {
        DataType::Dictionary(_, values) => kind_of(values).filter(|kind| {
            matches!(kind, AttributeKind::Integer | AttributeKind::Real | AttributeKind::String) //
        }),
        DataType::Boolean => Some(AttributeKind::Boolean),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(AttributeKind::String),
        DataType::Date32 | DataType::Date64 => Some(AttributeKind::Date),
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                ArrowUnit::Second => TimeUnit::Second,
                ArrowUnit::Millisecond => TimeUnit::Millisecond,
                ArrowUnit::Microsecond => TimeUnit::Microsecond,
                ArrowUnit::Nanosecond => TimeUnit::Nanosecond,
            };
            Some(AttributeKind::Timestamp { unit, zone: zone.as_ref().map(|zone| zone.to_string()) })
        }
        kind if is_integer(kind) => Some(AttributeKind::Integer),
        kind if is_real(kind) => Some(AttributeKind::Real),
        _ => None,
    }
}

/// The columns that are kept: those that options ask for, of `names`, of which some are used for something else.
///
/// # Errors
/// A column that there is none of, that is used already, or that is asked for twice; too many.
pub(crate) fn asked_columns(
    options: &InputOptions,
    names: &[&str],
    used: &[Option<usize>],
    path: &Path,
) -> Result<Vec<usize>> {
    let is_free = |column: &usize| !used.contains(&Some(*column));
    let mut columns = match &options.attributes {
        _ if options.of_vertices => (0..names.len()).filter(is_free).collect(),
        Attributes::None => Vec::new(),
        Attributes::All => (0..names.len()).filter(is_free).collect(),
        Attributes::Named(asked) => {
            let mut columns = Vec::new();
            for asked in asked {
                let column = column_asked("attributes", asked, names)?;
                if !is_free(&column) || columns.contains(&column) {
                    let why = if is_free(&column) { "is named twice" } else { "holds ids, weights or directions" };
                    return Err(Error::Usage(format!("--attributes {asked}: that column {why}")));
                }
                columns.push(column);
            }
            columns
        }
    };
    for condition in &options.conditions {
        // Columns that conditions compare are read, too; the weights are read anyway.
        let column = match column_asked("where", &condition.column, names) {
            // Formats without names of columns call them so.
            Err(_) if condition.column == "weight" && used.get(2).is_some_and(Option::is_some) => continue,
            column => column?,
        };
        if is_free(&column) && !columns.contains(&column) {
            columns.push(column);
        }
    }
    if columns.len() > MAX_ATTRIBUTES {
        let found = format!("{} columns", columns.len());
        return Err(Error::input(path, None, format!("at most {MAX_ATTRIBUTES} attributes"), found)
            .advise("name those that you need: --attributes NAME,NAME"));
    }
    Ok(columns)
}

/// The columns that are kept, and what they hold.
pub(crate) fn find_attributes(
    schema: &Schema,
    path: &Path,
    options: &InputOptions,
    used: &[Option<usize>],
) -> Result<Vec<(usize, AttributeField)>> {
    let mut found: Vec<(usize, AttributeField)> = Vec::new();
    for column in asked_columns(options, &column_names(schema), used, path)? {
        let name = schema.field(column).name();
        match kind_of(schema.field(column).data_type()) {
            Some(kind) => found.push((column, AttributeField { name: name.clone(), kind })),
            // Columns that cannot be kept are listed among those that are not read.
            None if options.attributes == Attributes::All => {}
            None => {
                let expected = format!("numbers, strings, booleans, dates or times in the column `{name}`");
                let kind = kind_name(schema.field(column).data_type());
                return Err(Error::input(path, None, expected, kind).advise("leave it out of --attributes, or cast it"));
            }
        }
    }
    Ok(found)
}

/// The values of a column of a table, whose first row has the number `first_record`.
///
/// # Errors
/// Whole numbers beyond 64 bits with a sign; strings that are too long together.
pub(crate) fn column_of(
    column: &ArrayRef,
    field: &AttributeField,
    path: &Path,
    first_record: u64,
) -> Result<AttributeColumn> {
    let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let missing: Vec<bool> = nulls.iter().flat_map(|nulls| nulls.iter().map(|is_valid| !is_valid)).collect();
    let mut values = match &field.kind {
        AttributeKind::String => {
            let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(column.len()));
            for text in texts_of(column) {
                bytes.extend_from_slice(text.as_bytes());
                let expected = format!("strings of less than 4 GiB in `{}`", field.name);
                let len = bytes.len();
                let found = || format!("{len} bytes");
                let end = u32::try_from(len);
                ends.push(end.map_err(|_| Error::input(path, Some(first_record), expected, found()))?);
            }
            AttributeValues::Text { bytes, ends }
        }
        AttributeKind::Boolean => AttributeValues::Words(column.as_boolean().values().iter().map(u64::from).collect()),
        AttributeKind::Real => {
            let mut words = Vec::with_capacity(column.len());
            each_real(column, |value| words.push(value.to_bits()));
            AttributeValues::Words(words)
        }
        AttributeKind::Date | AttributeKind::Timestamp { .. } => {
            let words = times_of(column);
            let is_beyond = |&(row, &day): &(usize, &u64)| {
                i32::try_from(day as i64).is_err() && missing.get(row) != Some(&true) //
            };
            let beyond = words.iter().enumerate().find(is_beyond).filter(|_| field.kind == AttributeKind::Date);
            if let Some((place, &days)) = beyond {
                let row = first_record + place as u64;
                let expected = format!("dates of 32 bits in column `{}`", field.name);
                return Err(Error::input(
                    path,
                    Some(row),
                    expected,
                    format!("a date {} days from 1970 in row {row}", days as i64),
                )
                .advise("cast the column to timestamps or to integers, or leave it out; rows count from 0"));
            }
            AttributeValues::Words(words)
        }
        AttributeKind::Integer => {
            let (mut words, mut wide) = (Vec::with_capacity(column.len()), None);
            each_integer(column, |value| {
                if i64::try_from(value).is_err() && !missing.get(words.len()).is_some_and(|&missing| missing) {
                    wide.get_or_insert((words.len() as u64, value));
                }
                words.push(value as u64);
            });
            if let Some((place, value)) = wide {
                let row = first_record + place;
                let expected = format!("integers up to {} in column `{}`", i64::MAX, field.name);
                return Err(Error::input(path, Some(row), expected, format!("{value} in row {row}"))
                    .advise("cast the column to float64 or to strings, or leave it out; rows count from 0"));
            }
            AttributeValues::Words(words)
        }
    };
    if let AttributeValues::Words(words) = &mut values {
        // A dictionary without values has keys that are all missing.
        words.resize(column.len(), 0);
        words.iter_mut().zip(&missing).filter(|(_, missing)| **missing).for_each(|(word, _)| *word = 0);
    }
    Ok(AttributeColumn { values, missing })
}

fn times_of(column: &ArrayRef) -> Vec<u64> {
    let words = |values: &[i64]| values.iter().map(|&value| value as u64).collect();
    match column.data_type() {
        DataType::Date32 => {
            column.as_primitive::<Date32Type>().values().iter().map(|&day| i64::from(day) as u64).collect()
        }
        DataType::Date64 => {
            let values = column.as_primitive::<Date64Type>().values();
            values.iter().map(|&time| time.div_euclid(DAY_MILLISECONDS) as u64).collect()
        }
        DataType::Timestamp(ArrowUnit::Second, _) => words(column.as_primitive::<TimestampSecondType>().values()),
        DataType::Timestamp(ArrowUnit::Millisecond, _) => {
            words(column.as_primitive::<TimestampMillisecondType>().values())
        }
        DataType::Timestamp(ArrowUnit::Microsecond, _) => {
            words(column.as_primitive::<TimestampMicrosecondType>().values())
        }
        _ => words(column.as_primitive::<TimestampNanosecondType>().values()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        BooleanArray, Date32Array, Date64Array, DictionaryArray, Float32Array, Int8Array, StringArray,
        TimestampMicrosecondArray, UInt64Array, types::Int32Type,
    };
    use std::sync::Arc;

    fn read(column: ArrayRef) -> AttributeColumn {
        let field = AttributeField { name: "a".into(), kind: kind_of(column.data_type()).unwrap() };
        column_of(&column, &field, Path::new("t"), 0).unwrap()
    }

    fn words(column: &AttributeColumn) -> Vec<i64> {
        let AttributeValues::Words(words) = &column.values else { panic!("strings") };
        words.iter().map(|&word| word as i64).collect()
    }

    #[test]
    fn values_of_every_kind_are_read_with_those_that_are_missing() {
        let found = read(Arc::new(Int8Array::from(vec![Some(-3), None, Some(7)])));
        assert_eq!((words(&found), found.missing), (vec![-3, 0, 7], vec![false, true, false]));
        let found = read(Arc::new(BooleanArray::from(vec![true, false])));
        assert_eq!((words(&found), found.missing), (vec![1, 0], vec![]));
        assert_eq!(words(&read(Arc::new(Date32Array::from(vec![-1, 20_000])))), [-1, 20_000]);
        assert_eq!(words(&read(Arc::new(Date64Array::from(vec![-1, DAY_MILLISECONDS])))), [-1, 1]);
        assert_eq!(words(&read(Arc::new(TimestampMicrosecondArray::from(vec![-5])))), [-5]);
        let found = read(Arc::new(Float32Array::from(vec![0.5])));
        assert_eq!(words(&found), [0.5f64.to_bits() as i64]);
        let found = read(Arc::new(StringArray::from(vec![Some("é"), None, Some("")])));
        assert_eq!(found.values, AttributeValues::Text { bytes: "é".into(), ends: vec![2, 2, 2] });
        assert_eq!(found.missing, [false, true, false]);
        let dictionary: DictionaryArray<Int32Type> = [Some("b"), None, Some("b")].into_iter().collect();
        let found = read(Arc::new(dictionary));
        assert_eq!(found.values, AttributeValues::Text { bytes: "bb".into(), ends: vec![1, 1, 2] });
        // The bits in the place of a missing value do not matter; a value beyond `i64` is refused.
        let wide = UInt64Array::new(vec![u64::MAX, 1].into(), Some(vec![false, true].into()));
        assert_eq!(words(&read(Arc::new(wide))), [0, 1]);
        let field = AttributeField { name: "a".into(), kind: AttributeKind::Integer };
        let wide: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX]));
        let error = column_of(&wide, &field, Path::new("t"), 5).unwrap_err().to_string();
        assert!(error.contains("18446744073709551615 in row 6"), "{error}");
        assert_eq!(kind_of(&DataType::Binary), None);
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
        for texts in
            [&["12345678901234567890", "1"][..], &["1", "x"], &["007", "1"], &["00.5"], &["", ""], &[], &["true", "1"]]
        {
            assert_eq!(kind(texts), AttributeKind::String, "{texts:?}");
        }
    }
}
