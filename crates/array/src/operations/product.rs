//! Products of matrices, of blocks of rows: by `faer`, a library of the kind of BLAS, on one thread.
//!
//! A block of a tall matrix is vectors of adjacent elements, one per column, so it is a matrix in columns.

use crate::kernel::{Element, Values};
use crate::memory::Memory;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use outcore_format::ElementType;

/// Real numbers that are multiplied, and whose sums are computed in float64.
pub(crate) trait Real: faer::traits::ComplexField + Element {
    const ONE: Self;
    fn wide(self) -> f64;
}

impl Real for f64 {
    const ONE: Self = 1.0;

    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    const ONE: Self = 1.0;

    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// Vectors as a matrix in columns, one behind the other.
pub(crate) fn packed<T: Real>(vectors: &[Values<'_>], rows: usize, room: &mut Vec<T>) {
    room.clear();
    for &vector in vectors {
        room.extend_from_slice(&T::slice(vector)[..rows]);
    }
}

/// The product of vectors with a matrix that lies row by row in memory. It has `shape.0` rows and `shape.1` columns,
/// which begin `width` elements behind each other.
pub(crate) fn tall_by_small(
    element: ElementType,
    left: &[Values<'_>],
    right: &Memory,
    shape: (usize, usize),
    to: &mut [u8],
    width: usize,
) {
    match element {
        ElementType::Float64 => tall_by_small_of::<f64>(left, right, shape, to, width),
        ElementType::Float32 => tall_by_small_of::<f32>(left, right, shape, to, width),
        _ => unreachable!("matrices of real numbers are multiplied"),
    }
}

fn tall_by_small_of<T: Real>(
    left: &[Values<'_>],
    right: &Memory,
    (rows, columns): (usize, usize),
    to: &mut [u8],
    width: usize,
) {
    let (inner, mut room) = (left.len(), Vec::new());
    packed::<T>(left, rows, &mut room);
    let left = MatRef::from_column_major_slice(&room, rows, inner);
    let right = MatRef::from_row_major_slice(right.slice::<T>(), inner, columns);
    let to: &mut [T] = bytemuck::cast_slice_mut(&mut to[..columns * width * size_of::<T>()]);
    let to = MatMut::from_column_major_slice_with_stride_mut(to, rows, columns, width);
    matmul(to, Accum::Replace, left, right, T::ONE, Par::Seq);
}

/// Adds the product of the transpose of some vectors with others to sums, row by row.
pub(crate) fn add_transposed_product<T: Real>(
    left: &[T],
    right: &[T],
    rows: usize,
    sums: &mut [f64],
    room: &mut Vec<T>,
) {
    let (p, q) = (left.len() / rows, right.len() / rows);
    room.resize(p * q, T::zeroed());
    let left = MatRef::from_column_major_slice(left, rows, p);
    let right = MatRef::from_column_major_slice(right, rows, q);
    let product = MatMut::from_row_major_slice_mut(room, p, q);
    matmul(product, Accum::Replace, left.transpose(), right, T::ONE, Par::Seq);
    sums.iter_mut().zip(room.iter()).for_each(|(sum, term)| *sum += term.wide());
}
