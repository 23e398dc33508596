//! Numbers in columns of tables, whatever their width, also behind dictionaries.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, downcast_integer_array};
use arrow_schema::DataType;

/// Calls `visit` with every value of a column of integers, in order; the slots of nulls count as values.
///
/// `false` says that the column holds something else: then nothing was visited.
pub(super) fn each_integer(column: &dyn Array, visit: impl FnMut(i128)) -> bool {
    if !matches!(column.data_type(), DataType::Dictionary(..)) {
        return plain_integers(column, visit);
    }
    let mut values = Vec::new();
    let known = plain_integers(column.as_any_dictionary().values(), |value| values.push(value));
    each_key(column, &values, visit);
    known
}

fn plain_integers(column: &dyn Array, mut visit: impl FnMut(i128)) -> bool {
    downcast_integer_array!(
        column => column.values().iter().for_each(|&value| visit(value.into())),
        _ => return false,
    );
    true
}

/// Calls `visit` with every value of a column of floating-point numbers, in order.
///
/// `false` says that the column holds something else: then nothing was visited.
pub(super) fn each_real(column: &dyn Array, visit: impl FnMut(f64)) -> bool {
    if !matches!(column.data_type(), DataType::Dictionary(..)) {
        return plain_reals(column, visit);
    }
    let mut values = Vec::new();
    let known = plain_reals(column.as_any_dictionary().values(), |value| values.push(value));
    each_key(column, &values, visit);
    known
}

fn plain_reals(column: &dyn Array, mut visit: impl FnMut(f64)) -> bool {
    match column.data_type() {
        DataType::Float64 => column.as_primitive::<Float64Type>().values().iter().for_each(|&value| visit(value)),
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().values().iter().for_each(|&value| visit(value.into()));
        }
        DataType::Float16 => {
            column.as_primitive::<Float16Type>().values().iter().for_each(|&value| visit(value.into()));
        }
        _ => return false,
    }
    true
}

/// Calls `visit` with the dictionary's value for every key of a column.
fn each_key<T: Copy>(column: &dyn Array, values: &[T], visit: impl FnMut(T)) {
    if !values.is_empty() {
        column.as_any_dictionary().normalized_keys().into_iter().map(|key| values[key]).for_each(visit);
    }
}
