//! Numbers and strings in columns of tables, whatever their width, also behind dictionaries.
//!
//! Decimals without a fraction are integers; others are real numbers, each the one of 64 bits that is nearest, as if it
//! were read from text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, DecimalType, Float16Type, Float32Type, Float64Type,
};
use arrow_array::{Array, ArrayAccessor, downcast_integer_array};
use arrow_schema::{DataType, Schema};

/// The powers of ten that a real number holds exactly.
const EXACT_POWERS_OF_TEN: i8 = 22;
/// The integers up to this are all real numbers.
const MOST_EXACT_INTEGER: u128 = 1 << 53;

/// Whether [`each_integer`] reads columns of this type.
pub fn is_integer(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(kind, DataType::Decimal32(_, 0) | DataType::Decimal64(_, 0) | DataType::Decimal128(_, 0))
}

/// Whether [`each_real`] reads columns of this type.
pub fn is_real(kind: &DataType) -> bool {
    let is_decimal = matches!(kind, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..));
    kind.is_floating() || is_decimal && !is_integer(kind)
}

/// Whether [`complex_numbers`] reads columns of this type: two real numbers of 64 bits in each row.
pub(crate) fn is_complex(kind: &DataType) -> bool {
    matches!(kind, DataType::FixedSizeList(part, 2) if *part.data_type() == DataType::Float64)
}

/// The values of a column of complex numbers without nulls, or nothing if it is none.
pub(crate) fn complex_numbers(column: &dyn Array) -> Option<Vec<[f64; 2]>> {
    let parts = column.as_fixed_size_list_opt().filter(|_| is_complex(column.data_type()))?.values();
    let parts = Some(parts.as_primitive::<Float64Type>()).filter(|parts| parts.null_count() == 0)?;
    Some(parts.values().as_chunks::<2>().0.to_vec())
}

/// Calls `visit` with every value of a column of integers, in order; the slots of nulls count as values.
///
/// `false` says that the column holds something else: then nothing was visited.
pub fn each_integer(column: &dyn Array, visit: impl FnMut(i128)) -> bool {
    if !matches!(column.data_type(), DataType::Dictionary(..)) {
        return plain_integers(column, visit);
    }
    let mut values = Vec::new();
    let known = plain_integers(column.as_any_dictionary().values(), |value| values.push(value));
    each_key(column, &values, visit);
    known
}

fn plain_integers(column: &dyn Array, mut visit: impl FnMut(i128)) -> bool {
    match column.data_type() {
        DataType::Decimal32(_, 0) => each_decimal::<Decimal32Type>(column, visit),
        DataType::Decimal64(_, 0) => each_decimal::<Decimal64Type>(column, visit),
        DataType::Decimal128(_, 0) => each_decimal::<Decimal128Type>(column, visit),
        _ => downcast_integer_array!(
            column => column.values().iter().for_each(|&value| visit(value.into())),
            _ => return false,
        ),
    }
    true
}

fn each_decimal<T: DecimalType<Native: Into<i128>>>(column: &dyn Array, mut visit: impl FnMut(i128)) {
    column.as_primitive::<T>().values().iter().for_each(|&value| visit(value.into()));
}

/// Calls `visit` with every value of a column of real numbers, in order.
///
/// `false` says that the column holds something else: then nothing was visited.
pub fn each_real(column: &dyn Array, visit: impl FnMut(f64)) -> bool {
    if !matches!(column.data_type(), DataType::Dictionary(..)) {
        return plain_reals(column, visit);
    }
    let mut values = Vec::new();
    let known = plain_reals(column.as_any_dictionary().values(), |value| values.push(value));
    each_key(column, &values, visit);
    known
}

fn plain_reals(column: &dyn Array, mut visit: impl FnMut(f64)) -> bool {
    match *column.data_type() {
        DataType::Float64 => column.as_primitive::<Float64Type>().values().iter().for_each(|&value| visit(value)),
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().values().iter().for_each(|&value| visit(value.into()));
        }
        DataType::Float16 => {
            column.as_primitive::<Float16Type>().values().iter().for_each(|&value| visit(value.into()));
        }
        DataType::Decimal32(_, scale) => each_decimal::<Decimal32Type>(column, |value| visit(real(value, scale))),
        DataType::Decimal64(_, scale) => each_decimal::<Decimal64Type>(column, |value| visit(real(value, scale))),
        DataType::Decimal128(_, scale) => each_decimal::<Decimal128Type>(column, |value| visit(real(value, scale))),
        _ => return false,
    }
    true
}

/// The real number nearest to `value / 10^scale`.
fn real(value: i128, scale: i8) -> f64 {
    if value.unsigned_abs() <= MOST_EXACT_INTEGER && (0..=EXACT_POWERS_OF_TEN).contains(&scale) {
        // Both are exact, so that there is one rounding.
        return value as f64 / 10f64.powi(scale.into());
    }
    let exponent = -i32::from(scale);
    format!("{value}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// Calls `visit` with the dictionary's value for every key of a column.
fn each_key<T: Copy>(column: &dyn Array, values: &[T], visit: impl FnMut(T)) {
    if !values.is_empty() {
        column.as_any_dictionary().normalized_keys().into_iter().map(|key| values[key]).for_each(visit);
    }
}

/// The strings in these rows of a column as they lie there, also if they lie in a dictionary; nothing for a column of
/// another kind.
pub(crate) fn strings_of<'a>(column: &'a dyn Array, rows: &[usize]) -> Option<Vec<&'a str>> {
    fn pick<'a>(array: impl ArrayAccessor<Item = &'a str>, rows: &[usize]) -> Vec<&'a str> {
        rows.iter().map(|&row| array.value(row)).collect()
    }
    match column.data_type() {
        DataType::Utf8 => Some(pick(column.as_string::<i32>(), rows)),
        DataType::LargeUtf8 => Some(pick(column.as_string::<i64>(), rows)),
        DataType::Utf8View => Some(pick(column.as_string_view(), rows)),
        DataType::Dictionary(..) if rows.is_empty() => Some(Vec::new()),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let keys = dictionary.normalized_keys();
            let rows: Vec<usize> = rows.iter().map(|&row| keys[row]).collect();
            strings_of(dictionary.values(), &rows)
        }
        _ => None,
    }
}

/// The strings of a column, empty where there is none.
pub(crate) fn texts_of(column: &dyn Array) -> Vec<&str> {
    let nulls = column.logical_nulls();
    let rows: Vec<usize> =
        (0..column.len()).filter(|&row| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))).collect();
    let mut texts = vec![""; column.len()];
    let found = strings_of(column, &rows).unwrap_or_default();
    rows.into_iter().zip(found).for_each(|(row, text)| texts[row] = text);
    texts
}

pub(crate) fn column_names(schema: &Schema) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

pub(crate) fn kind_name(kind: &DataType) -> String {
    match kind {
        DataType::Null => "no values of one type".to_owned(),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_nearest_real_numbers() {
        let cases = [(10, 2, "0.10"), (-123_456_789, 4, "-12345.6789"), (1, 23, "1e-23"), (7, -3, "7000")];
        for (value, scale, text) in cases {
            assert_eq!(real(value, scale), text.parse::<f64>().unwrap(), "{text}");
        }
        let long = 12_345_678_901_234_567_890_123_456_789;
        assert_eq!(real(long, 9), "12345678901234567890.123456789".parse::<f64>().unwrap());
        assert_eq!(real(i128::MIN, 0), i128::MIN as f64);
        // The library's power of ten is exact for all of those that are used.
        for scale in 0..=EXACT_POWERS_OF_TEN {
            assert_eq!(10f64.powi(scale.into()), format!("1e{scale}").parse::<f64>().unwrap());
        }
    }
}
