//! Rows of elements to column vectors, and back.
//!
//! Squares of 8 by 8 elements are read into registers and the first level of the cache, and written from there: so each
//! cache line of either side is touched at once.
#![allow(clippy::needless_range_loop)] // why: squares are indexed by row and by column

use super::simd::{Loop, widest};
use super::values::{Values, ValuesMut};
use bytemuck::Pod;
use outcore_format::ElementType;

/// Byte layout of rows of elements, which need no alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMajor {
    /// The number of rows.
    pub rows: usize,
    /// The number of elements of a row, which lie one after the other.
    pub columns: usize,
    /// The distance between rows in bytes.
    pub row_stride_bytes: usize,
    /// Whether the most significant byte of an element comes first.
    pub is_big_endian: bool,
}

impl RowMajor {
    /// Rows of elements in the byte order of the processor.
    pub(crate) fn native(rows: usize, columns: usize, row_stride_bytes: usize) -> Self {
        RowMajor { rows, columns, row_stride_bytes, is_big_endian: cfg!(target_endian = "big") }
    }

    /// The bytes that the rows cover.
    fn len_bytes(&self, element_bytes: usize) -> usize {
        match self.rows {
            0 => 0,
            rows => (rows - 1) * self.row_stride_bytes + self.columns * element_bytes,
        }
    }
}

/// Rows and columns of a square.
const SIDE: usize = 8;

/// An element as its bits.
trait Bits: Pod {
    fn read(bytes: &[u8]) -> Self;
    fn swapped(self) -> Self;
}

macro_rules! bits {
    ($($type:ty)*) => {$(
        impl Bits for $type {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_ne_bytes(bytes.try_into().expect("the bytes of an element"))
            }

            #[inline(always)]
            fn swapped(self) -> Self {
                self.swap_bytes()
            }
        }
    )*};
}
bits!(u8 u16 u32 u64);

/// A transposition of square tiles, from rows to columns or back.
trait Squares {
    /// Moves the element of a row and a column.
    fn one(&mut self, row: usize, column: usize);
    /// Moves the square that begins there.
    fn square(&mut self, row: usize, column: usize);
}

/// Moves all elements: whole squares, and then the remaining ones.
#[inline(always)]
fn move_all(mut squares: impl Squares, rows: usize, columns: usize) {
    let (whole_rows, whole_columns) = (rows / SIDE * SIDE, columns / SIDE * SIDE);
    // Squares go along rows, whose bytes lie together: so these are read, or written, once and in order.
    for row in (0..whole_rows).step_by(SIDE) {
        for column in (0..whole_columns).step_by(SIDE) {
            squares.square(row, column);
        }
        for column in whole_columns..columns {
            for row in row..row + SIDE {
                squares.one(row, column);
            }
        }
    }
    for row in whole_rows..rows {
        for column in 0..columns {
            squares.one(row, column);
        }
    }
}

struct ToColumns<'a, T, const SWAP: bool> {
    from: &'a [u8],
    shape: RowMajor,
    to: &'a mut [T],
    column_stride: usize,
}

impl<T: Bits, const SWAP: bool> Squares for ToColumns<'_, T, SWAP> {
    #[inline(always)]
    fn one(&mut self, row: usize, column: usize) {
        let start = row * self.shape.row_stride_bytes + column * size_of::<T>();
        let bits = T::read(&self.from[start..start + size_of::<T>()]);
        self.to[column * self.column_stride + row] = if SWAP { bits.swapped() } else { bits };
    }

    #[inline(always)]
    fn square(&mut self, row: usize, column: usize) {
        let size = size_of::<T>();
        let square: [[T; SIDE]; SIDE] = std::array::from_fn(|i| {
            let start = (row + i) * self.shape.row_stride_bytes + column * size;
            let bytes = &self.from[start..start + SIDE * size];
            std::array::from_fn(|k| T::read(&bytes[k * size..(k + 1) * size]))
        });
        for k in 0..SIDE {
            let start = (column + k) * self.column_stride + row;
            let to: &mut [T; SIDE] = (&mut self.to[start..start + SIDE]).try_into().expect("a side");
            *to = std::array::from_fn(|i| if SWAP { square[i][k].swapped() } else { square[i][k] });
        }
    }
}

impl<T: Bits, const SWAP: bool> Loop for ToColumns<'_, T, SWAP> {
    type Output = ();
    const HAS_AVX512: bool = !SWAP;

    #[inline(always)]
    fn run(self) {
        let RowMajor { rows, columns, .. } = self.shape;
        move_all(self, rows, columns);
    }
}

struct ToRows<'a, T, const SWAP: bool> {
    from: &'a [T],
    column_stride: usize,
    shape: RowMajor,
    to: &'a mut [u8],
}

impl<T: Bits, const SWAP: bool> Squares for ToRows<'_, T, SWAP> {
    #[inline(always)]
    fn one(&mut self, row: usize, column: usize) {
        let bits = self.from[column * self.column_stride + row];
        let bits = if SWAP { bits.swapped() } else { bits };
        let start = row * self.shape.row_stride_bytes + column * size_of::<T>();
        self.to[start..start + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&bits));
    }

    #[inline(always)]
    fn square(&mut self, row: usize, column: usize) {
        let size = size_of::<T>();
        let square: [[T; SIDE]; SIDE] = std::array::from_fn(|k| {
            let start = (column + k) * self.column_stride + row;
            self.from[start..start + SIDE].try_into().expect("a side")
        });
        for i in 0..SIDE {
            let start = (row + i) * self.shape.row_stride_bytes + column * size;
            let to = &mut self.to[start..start + SIDE * size];
            for k in 0..SIDE {
                let bits = if SWAP { square[k][i].swapped() } else { square[k][i] };
                to[k * size..(k + 1) * size].copy_from_slice(bytemuck::bytes_of(&bits));
            }
        }
    }
}

impl<T: Bits, const SWAP: bool> Loop for ToRows<'_, T, SWAP> {
    type Output = ();
    const HAS_AVX512: bool = !SWAP;

    #[inline(always)]
    fn run(self) {
        let RowMajor { rows, columns, .. } = self.shape;
        move_all(self, rows, columns);
    }
}

/// Writes rows of elements to column vectors, which start `column_stride` elements apart. Any byte of a boolean but 0
/// becomes 1.
///
/// # Panics
/// If rows or columns reach past the ends of `from` or `to`, or columns are longer than their distance.
pub fn transpose(from: &[u8], shape: RowMajor, to: ValuesMut<'_>, column_stride: usize) {
    let element = to.element();
    check(shape, from.len(), element.bytes(), to.len(), column_stride);
    let to = to.into_bytes();
    match element.bytes() {
        1 => to_columns::<u8>(from, shape, to, column_stride),
        2 => to_columns::<u16>(from, shape, to, column_stride),
        4 => to_columns::<u32>(from, shape, to, column_stride),
        _ => to_columns::<u64>(from, shape, to, column_stride),
    }
    if element == ElementType::Bool {
        let columns = to.chunks_mut(column_stride.max(1)).take(shape.columns);
        columns.for_each(|column| column[..shape.rows].iter_mut().for_each(|x| *x = u8::from(*x != 0)));
    }
}

/// Writes column vectors, which start `column_stride` elements apart, to rows of elements. Bytes between rows stay.
///
/// # Panics
/// As [`transpose`].
pub fn transpose_back(from: Values<'_>, column_stride: usize, shape: RowMajor, to: &mut [u8]) {
    let element_bytes = from.element().bytes();
    check(shape, to.len(), element_bytes, from.len(), column_stride);
    let from = from.bytes();
    match element_bytes {
        1 => to_rows::<u8>(from, column_stride, shape, to),
        2 => to_rows::<u16>(from, column_stride, shape, to),
        4 => to_rows::<u32>(from, column_stride, shape, to),
        _ => to_rows::<u64>(from, column_stride, shape, to),
    }
}

fn check(shape: RowMajor, len_bytes: usize, element_bytes: usize, len: usize, column_stride: usize) {
    assert!(shape.len_bytes(element_bytes) <= len_bytes, "rows reach past the end of their bytes");
    assert!(shape.rows <= column_stride || shape.columns <= 1, "columns overlap");
    let needed = shape.columns.checked_sub(1).map_or(0, |last| last * column_stride + shape.rows);
    assert!(needed <= len, "columns reach past the end of their vector");
}

fn to_columns<T: Bits>(from: &[u8], shape: RowMajor, to: &mut [u8], column_stride: usize) {
    let to = bytemuck::cast_slice_mut(to);
    match shape.is_big_endian == cfg!(target_endian = "big") {
        true => widest(ToColumns::<T, false> { from, shape, to, column_stride }),
        false => widest(ToColumns::<T, true> { from, shape, to, column_stride }),
    }
}

fn to_rows<T: Bits>(from: &[u8], column_stride: usize, shape: RowMajor, to: &mut [u8]) {
    let from = bytemuck::cast_slice(from);
    match shape.is_big_endian == cfg!(target_endian = "big") {
        true => widest(ToRows::<T, false> { from, column_stride, shape, to }),
        false => widest(ToRows::<T, true> { from, column_stride, shape, to }),
    }
}
