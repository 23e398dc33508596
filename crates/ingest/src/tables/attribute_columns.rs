//! The columns of an input that are kept as attributes, and the values of those of a table.

use crate::batch::InputOptions;
use crate::column_names::{column_asked, column_if_any};
use crate::condition::refused;
use crate::conditions::END_NAMES;
use crate::tables::attributes::{AttributeColumn, AttributeField, AttributeValues, Attributes};
use crate::tables::values::{column_names, each_integer, each_real, is_integer, is_real, kind_name, texts_of};
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

const DAY_MILLISECONDS: i64 = 86_400_000;

/// The attribute kind of an Arrow type; `None` if it cannot be kept.
pub fn kind_of(kind: &DataType) -> Option<AttributeKind> {
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
    if names.is_empty() {
        // An empty file among others.
        return Ok(Vec::new());
    }
    let is_free = |column: &usize| !used.contains(&Some(*column));
    let all = || (0..names.len()).filter(|column| is_free(column) && !names[*column].is_empty()).collect();
    let mut columns = match &options.attributes {
        _ if options.of_vertices => all(),
        Attributes::None => Vec::new(),
        Attributes::All => all(),
        Attributes::Named(asked) => {
            let mut columns = Vec::new();
            for asked in asked {
                let column = match options.united {
                    None => column_asked(path, "attributes", asked, names)?,
                    Some(_) => match column_if_any(path, "attributes", asked, names)? {
                        Some(column) => column,
                        None => continue,
                    },
                };
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
        let column = match column_asked(path, "where", &condition.column, names) {
            // Formats without names of columns call them so.
            Err(_) if condition.column == "weight" && used.get(2).is_some_and(Option::is_some) => continue,
            Err(_) if END_NAMES.contains(&condition.column.as_str()) => continue,
            Err(_) if condition.of_vertices().is_some() => {
                let expected = "a column of the edges, since conditions on vertices are for images: import without it \
                                first, and then the image with it";
                return Err(refused(&condition.column, expected));
            }
            Err(_) if options.united.is_some() && column_if_any(path, "where", &condition.column, names)?.is_none() => {
                continue;
            }
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
            // A column without values may have some in another file.
            None if options.united.is_some() && schema.field(column).data_type() == &DataType::Null => {}
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
                let found = format!("a date {} days from 1970 in row {row}", days as i64);
                return Err(Error::input(path, Some(row), expected, found)
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
}
