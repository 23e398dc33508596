//! Columns of numbers as elements of a dense array, whatever the types of both are.
//!
//! Nothing is lost without a word: a number that the type of the elements does not hold is refused, but that real ones
//! round to the nearest. Where nobody asked for real ones, the first whole number that they round is told. A missing
//! value is NaN, and is refused where elements have none.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use outcore_format::ElementType;
use outcore_image::Error;
use outcore_ingest::parts::{each_integer, each_real, is_integer, is_real};
use outcore_io::{Budget, Buffer as Memory, Result, lock};
use std::path::Path;
use std::sync::Mutex;

/// A type of elements, as numbers become some of it.
pub(crate) trait Number: Copy {
    /// The element that stands for a missing value; `None` if the type has none.
    const MISSING: Option<Self>;
    /// The element that is this whole number, or nearest to it.
    fn of_whole(whole: i128) -> Option<Self>;
    /// The element for a real number.
    fn of_real(real: f64) -> Option<Self>;
    fn put(self, to: &mut [u8]);
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            const MISSING: Option<Self> = None;

            #[inline(always)]
            fn of_whole(whole: i128) -> Option<Self> {
                whole.try_into().ok()
            }

            fn of_real(real: f64) -> Option<Self> {
                let whole = real as i128;
                if whole as f64 == real { Self::of_whole(whole) } else { None }
            }

            #[inline(always)]
            fn put(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
whole_numbers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! real_numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            const MISSING: Option<Self> = Some(<$type>::NAN);

            #[inline(always)]
            fn of_whole(whole: i128) -> Option<Self> {
                Some(whole as $type)
            }

            #[inline(always)]
            fn of_real(real: f64) -> Option<Self> {
                Some(real as $type).filter(|own| own.is_finite() || !real.is_finite())
            }

            #[inline(always)]
            fn put(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
real_numbers!(f32 f64);

/// A boolean, as a byte of 1 or 0.
#[derive(Clone, Copy)]
pub(crate) struct Truth(u8);

impl Number for Truth {
    const MISSING: Option<Self> = None;

    fn of_whole(whole: i128) -> Option<Self> {
        u8::try_from(whole).ok().filter(|&whole| whole <= 1).map(Truth)
    }

    fn of_real(real: f64) -> Option<Self> {
        u8::of_real(real).and_then(|whole| Truth::of_whole(whole.into()))
    }

    fn put(self, to: &mut [u8]) {
        to[0] = self.0;
    }
}

/// Evaluates an expression for the type of Rust that holds elements of a type.
macro_rules! by_element {
    (@ $element:expr, $type:ident, $body:expr, $($variant:ident($rust:ty))*) => {
        match $element {
            $(ElementType::$variant => {
                type $type = $rust;
                $body
            })*
        }
    };
    ($element:expr, $type:ident => $body:expr) => {
        by_element!(@ $element, $type, $body, Bool($crate::number_columns::Truth) Int8(i8) Int16(i16) Int32(i32) Int64(i64) UInt8(u8) UInt16(u16)
            UInt32(u32) UInt64(u64) Float32(f32) Float64(f64))
    };
}
pub(crate) use by_element;

/// Rows of numbers, column by column.
#[derive(Debug)]
pub struct NumberValues {
    rows: usize,
    bytes: Memory<u8>,
    stride_bytes: usize,
    element_bytes: usize,
}

impl NumberValues {
    /// Room for so many rows.
    pub(crate) fn new(budget: &Budget, element: ElementType, columns: usize, rows: usize) -> Result<Self> {
        let stride_bytes = rows * element.bytes();
        let bytes = Memory::zeroed(budget, "rows of numbers", columns.saturating_mul(stride_bytes))?;
        Ok(NumberValues { rows, bytes, stride_bytes, element_bytes: element.bytes() })
    }

    /// Says that there are fewer rows than there is room for.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The elements of a column.
    pub fn column(&self, column: usize) -> &[u8] {
        &self.bytes[column * self.stride_bytes..][..self.rows * self.element_bytes]
    }

    /// Room for those of a column.
    pub(crate) fn column_mut(&mut self, column: usize) -> &mut [u8] {
        let len = self.rows * self.element_bytes;
        &mut self.bytes[column * self.stride_bytes..][..len]
    }

    #[inline]
    pub(crate) fn put<T: Number>(&mut self, row: usize, column: usize, value: T) {
        value.put(&mut self.bytes[column * self.stride_bytes + row * size_of::<T>()..][..size_of::<T>()]);
    }
}

/// The first whole number that float64 rounded, as workers find them.
#[derive(Debug, Default)]
pub(crate) struct Rounded(Mutex<Option<((u64, usize), String)>>);

impl Rounded {
    /// Takes such a number, which stands in this line or row, in the column of this number; `told` says both.
    pub(crate) fn see(&self, place: (u64, usize), told: impl FnOnce() -> String) {
        let mut first = lock(&self.0);
        if first.as_ref().is_none_or(|(before, _)| place < *before) {
            *first = Some((place, told()));
        }
    }

    /// The note, once.
    pub(crate) fn take_note(&self) -> Option<String> {
        let first = lock(&self.0).take();
        first.map(|(_, first)| {
            format!(
                "Whole numbers beyond 2^53 were rounded to float64, the first of them {first}: an array of int64 or \
                 uint64 holds them, if all its columns are of whole numbers."
            )
        })
    }
}

/// A value that is no element.
pub(crate) enum NoElement {
    Missing,
    /// A number that elements do not hold.
    Other(String),
}

/// The error for what is no element, in this row of the column of this name; `is_in_place` says that the file is not
/// being imported.
pub(crate) fn refused(
    path: &Path,
    (name, element): (&str, ElementType),
    row: u64,
    found: NoElement,
    is_in_place: bool,
) -> Error {
    let element = element.name();
    let (expected, found, advice) = match found {
        NoElement::Missing => {
            let expected = format!("a value in column `{name}`, for {element} has none that is missing");
            let import = if is_in_place { "an import with " } else { "" };
            (expected, format!("null in row {row}"), format!("{import}--dtype float64 makes NaN of it"))
        }
        NoElement::Other(number) => {
            let expected = format!("a number in column `{name}` that {element} holds");
            let give = if is_in_place { "import it with" } else { "give the array" };
            (expected, format!("{number} in row {row}"), format!("{give} another type, such as --dtype float64"))
        }
    };
    Error::input(path, Some(row), expected, found).advise(format!("{advice}; rows count from 0"))
}

/// The type of elements that holds a column's numbers, if it has numbers or booleans.
pub(crate) fn element_of(kind: &DataType) -> Option<ElementType> {
    Some(match kind {
        DataType::Boolean => ElementType::Bool,
        DataType::Int8 => ElementType::Int8,
        DataType::Int16 => ElementType::Int16,
        DataType::Int32 => ElementType::Int32,
        DataType::Int64 => ElementType::Int64,
        DataType::UInt8 => ElementType::UInt8,
        DataType::UInt16 => ElementType::UInt16,
        DataType::UInt32 => ElementType::UInt32,
        DataType::UInt64 => ElementType::UInt64,
        DataType::Float16 | DataType::Float32 => ElementType::Float32,
        DataType::Dictionary(_, values) => return element_of(values).filter(|&element| element != ElementType::Bool),
        // A column without any value has no other type.
        DataType::Null => ElementType::Float64,
        kind if is_integer(kind) => ElementType::Int64,
        kind if is_real(kind) => ElementType::Float64,
        _ => return None,
    })
}

/// Writes a column as elements of `element`; an error is the row of what is none.
pub(crate) fn fill(
    column: &dyn Array,
    element: ElementType,
    to: &mut [u8],
) -> std::result::Result<(), (usize, NoElement)> {
    by_element!(element, T => fill_as::<T>(column, to))
}

/// Takes the whole numbers of a column that float64 rounds; `row` is that of the first, `name` is what the column is
/// called.
pub(crate) fn see_rounded(column: &dyn Array, rounded: &Rounded, (row, place): (u64, usize), name: &str) {
    if !matches!(element_of(column.data_type()), Some(ElementType::Int64 | ElementType::UInt64)) {
        return;
    }
    let nulls = column.logical_nulls();
    let mut at = 0;
    each_integer(column, |whole| {
        if whole as f64 as i128 != whole && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at)) {
            let row = row + at as u64;
            rounded.see((row, place), || format!("{whole} in row {row} of column `{name}`"));
        }
        at += 1;
    });
}

fn fill_as<T: Number>(column: &dyn Array, to: &mut [u8]) -> std::result::Result<(), (usize, NoElement)> {
    // Nulls may be in a dictionary's values, hence the logical ones.
    let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    if let (Some(nulls), None) = (&nulls, T::MISSING) {
        let row = nulls.iter().position(|is_valid| !is_valid).unwrap_or(0);
        return Err((row, NoElement::Missing));
    }
    let mut places = to.chunks_exact_mut(size_of::<T>());
    let (mut row, mut refused) = (0, None);
    let mut take = |value: Option<T>, text: &dyn Fn() -> String| {
        match (places.next(), value) {
            (Some(place), Some(value)) => value.put(place),
            _ => _ = refused.get_or_insert_with(|| (row, NoElement::Other(text()))),
        }
        row += 1;
    };
    if let Some(truths) = column.as_boolean_opt() {
        truths.values().iter().for_each(|is_true| take(T::of_whole(is_true.into()), &|| is_true.to_string()));
    } else if !each_integer(column, |whole| take(T::of_whole(whole), &|| whole.to_string())) {
        each_real(column, |real| take(T::of_real(real), &|| real.to_string()));
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    if let (Some(nulls), Some(missing)) = (nulls, T::MISSING) {
        let places = to.chunks_exact_mut(size_of::<T>()).zip(nulls.iter());
        places.filter(|(_, is_valid)| !is_valid).for_each(|(place, _)| missing.put(place));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int8Type;
    use arrow_array::{BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, UInt64Array};

    fn filled(column: &dyn Array, element: ElementType) -> std::result::Result<Vec<u8>, (usize, String)> {
        let mut bytes = vec![0; column.len() * element.bytes()];
        match fill(column, element, &mut bytes) {
            Ok(()) => Ok(bytes),
            Err((row, NoElement::Missing)) => Err((row, "missing".to_owned())),
            Err((row, NoElement::Other(text))) => Err((row, text)),
        }
    }

    fn reals(column: &dyn Array) -> Vec<f64> {
        let bytes = filled(column, ElementType::Float64).unwrap();
        bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
    }

    #[test]
    fn numbers_are_kept_or_refused() {
        let wide = Int64Array::from(vec![127, -128, 128]);
        assert_eq!(filled(&wide, ElementType::Int8), Err((2, "128".to_owned())));
        assert_eq!(filled(&wide.slice(0, 2), ElementType::Int8), Ok(vec![127, 128]));
        assert_eq!(filled(&wide, ElementType::UInt64), Err((1, "-128".to_owned())));
        let huge = UInt64Array::from(vec![u64::MAX, 0]);
        assert_eq!(filled(&huge, ElementType::Int64), Err((0, u64::MAX.to_string())));
        assert_eq!(reals(&huge), [u64::MAX as f64, 0.0]);
        for (real, element) in [
            (9_223_372_036_854_775_808.0, ElementType::Int64),
            (1.5, ElementType::Int64),
            (f64::NAN, ElementType::UInt8),
            (f64::INFINITY, ElementType::UInt64),
            (-1.0, ElementType::Bool),
            (2.0, ElementType::Bool),
        ] {
            assert_eq!(filled(&Float64Array::from(vec![0.0, real]), element), Err((1, real.to_string())));
        }
        let exact = Float64Array::from(vec![1.0, -0.0]);
        assert_eq!(filled(&exact, ElementType::Bool), Ok(vec![1, 0]));
        assert_eq!(filled(&exact, ElementType::UInt16), Ok(vec![1, 0, 0, 0]));
        assert_eq!(filled(&BooleanArray::from(vec![true, false]), ElementType::Int8), Ok(vec![1, 0]));
        let wide = Float64Array::from(vec![f64::INFINITY, 3.4e38, -1e39]);
        assert_eq!(filled(&wide, ElementType::Float32), Err((2, wide.value(2).to_string())));
        assert!(filled(&wide.slice(0, 2), ElementType::Float32).is_ok());
        let decimals = Decimal128Array::from(vec![10, -25]).with_precision_and_scale(5, 1).unwrap();
        assert_eq!(reals(&decimals), [1.0, -2.5]);
    }

    #[test]
    fn what_is_missing_is_nan() {
        let some = Int64Array::from(vec![Some(7), None, Some(i64::MAX)]);
        let found = reals(&some);
        assert!(found[0] == 7.0 && found[1].is_nan() && found[2] == i64::MAX as f64);
        assert_eq!(filled(&some, ElementType::Int64), Err((1, "missing".to_owned())));
        let values = Int64Array::from(vec![Some(5), None]);
        let keys = arrow_array::PrimitiveArray::<Int8Type>::from(vec![Some(0), Some(1), None, Some(0)]);
        let found = reals(&DictionaryArray::new(keys, std::sync::Arc::new(values)));
        assert!(found[0] == 5.0 && found[1].is_nan() && found[2].is_nan() && found[3] == 5.0);
        assert!(reals(&arrow_array::NullArray::new(2)).iter().all(|real| real.is_nan()));
        let truths = BooleanArray::from(vec![Some(true), None]);
        assert!(reals(&truths)[0] == 1.0 && reals(&truths)[1].is_nan());
        assert!(filled(&truths, ElementType::Bool).is_err());
    }
}
