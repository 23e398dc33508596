//! Small dense matrices: projections of operators, and operators of few rows as a whole.

use crate::operator::Operator;
use crate::spectral::lanczos::Goal;
use crate::spectral::symmetric::Subspace;
use crate::tall::basis::Basis;
use crate::tall::{Space, magnitude, power_of_two};
use faer::traits::ComplexField;
use faer::traits::math_utils::{conj, real};
use faer::{Mat, Side, c64};
use outcore_image::Result;
use std::ops::{Add, Div};

/// Matrices with at most this number of rows are solved as dense ones.
pub(crate) const DENSE_ROWS: usize = 256;
/// Dense matrices that are in memory at once.
pub(crate) const DENSE_COPIES: u64 = 6;
/// Copies of a projection on the returned vectors, or of its singular value decomposition.
pub(crate) const SMALL_COPIES: u64 = 14;

/// An entry of a small matrix that may be complex.
pub(crate) trait Entry: ComplexField<Real = f64> + Copy + Add<Output = Self> + Div<f64, Output = Self> {
    /// Numbers in a block that an entry takes.
    const PARTS: usize;

    fn from_parts(parts: &[f64]) -> Self;

    fn write_parts(self, parts: &mut [f64]);

    fn magnitude(self) -> f64;
}

impl Entry for f64 {
    const PARTS: usize = 1;

    fn from_parts(parts: &[f64]) -> Self {
        parts[0]
    }

    fn write_parts(self, parts: &mut [f64]) {
        parts[0] = self;
    }

    fn magnitude(self) -> f64 {
        self.abs()
    }
}

impl Entry for c64 {
    const PARTS: usize = 2;

    fn from_parts(parts: &[f64]) -> Self {
        c64::new(parts[0], parts[1])
    }

    fn write_parts(self, parts: &mut [f64]) {
        parts.copy_from_slice(&[self.re, self.im]);
    }

    fn magnitude(self) -> f64 {
        self.norm()
    }
}

/// Bytes of dense square matrices of this size.
pub(crate) fn dense_bytes(copies: u64, size: usize) -> u64 {
    copies * 8 * (size as u64).pow(2)
}

/// The matrix extended by zeros to a larger size.
pub(crate) fn padded(small: &Mat<f64>, size: usize) -> Mat<f64> {
    let count = small.nrows();
    Mat::from_fn(size, size, |i, k| if i < count && k < count { small[(i, k)] } else { 0.0 })
}

/// A small matrix divided by a power of two, and that power: faer's eigenvalues and singular values of matrices of more
/// than 128 rows are right only where the greatest entries are near 1.
fn near_one<T: Entry>(small: &Mat<T>) -> (Mat<T>, f64) {
    let entries = small.col_iter().flat_map(|column| column.iter());
    let unit = power_of_two(entries.fold(0.0, |most, &entry| entry.magnitude().max(most)));
    (Mat::from_fn(small.nrows(), small.ncols(), |i, k| small[(i, k)] / unit), unit)
}

/// The greatest magnitude of an entry; not a number if one is none.
pub(crate) fn greatest<T: Entry>(small: &Mat<T>) -> f64 {
    let magnitudes = small.col_iter().flat_map(|column| column.iter()).map(|&entry| entry.magnitude());
    magnitudes.fold(0.0, |most: f64, entry| if most.is_nan() || entry <= most { most } else { entry })
}

/// Eigenvalues and eigenvectors of a small symmetric or Hermitian matrix, or nothing if they are too large for numbers.
fn eigen<T: Entry>(small: &Mat<T>) -> Option<(Vec<f64>, Mat<T>)> {
    let (scaled, unit) = near_one(small);
    let eigen = scaled.self_adjoint_eigen(Side::Lower).ok()?;
    let values: Vec<f64> = eigen.S().column_vector().iter().map(|value| real(value) * unit).collect();
    values.iter().all(|value| value.is_finite()).then(|| (values, eigen.U().to_owned()))
}

/// Eigenvalues and eigenvectors of a small matrix that belongs to a space. If that is complex, so is the matrix: then
/// each value is there twice, and the vectors are squares.
pub(crate) fn small_eigen(space: &Space, small: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    if !space.is_complex {
        return eigen(small);
    }
    let count = small.nrows() / 2;
    let complex = Mat::from_fn(count, count, |i, k| c64::new(small[(2 * i, 2 * k)], small[(2 * i, 2 * k + 1)]));
    let (values, vectors) = eigen(&complex)?;
    let squares = Mat::from_fn(2 * count, 2 * count, |i, k| {
        let number = vectors[(i / 2, k / 2)];
        match (i % 2, k % 2) {
            (0, 1) => number.im,
            (1, 0) => -number.im,
            _ => number.re,
        }
    });
    Some((values.into_iter().flat_map(|value| [value; 2]).collect(), squares))
}

/// The singular value decomposition of a small matrix, values in descending order: left vectors, values, right vectors.
pub(crate) fn small_svd(small: &Mat<f64>) -> Option<(Mat<f64>, Vec<f64>, Mat<f64>)> {
    let (scaled, unit) = near_one(small);
    let svd = scaled.svd().ok()?;
    let values: Vec<f64> = svd.S().column_vector().iter().map(|value| value * unit).collect();
    values.iter().all(|value| value.is_finite()).then(|| (svd.U().to_owned(), values, svd.V().to_owned()))
}

/// The entries of an operator with few rows.
pub(crate) fn entries<T: Entry>(operator: &dyn Operator<'_>, basis: &mut Basis) -> Result<Mat<T>> {
    let (rows, width) = (basis.space.rows, basis.space.width);
    let (mut unit, mut product) = (basis.fresh()?, basis.fresh()?);
    let mut matrix = Mat::zeros(rows, rows);
    for first in (0..rows).step_by(width / T::PARTS) {
        unit.fill(0.0);
        let columns = first..rows.min(first + width / T::PARTS);
        columns.clone().enumerate().for_each(|(i, column)| unit[column * width + i * T::PARTS] = 1.0);
        operator.apply(&unit, width, &mut product)?;
        for (row, numbers) in product.chunks_exact(width).enumerate() {
            for (column, parts) in columns.clone().zip(numbers.chunks_exact(T::PARTS)) {
                matrix[(row, column)] = T::from_parts(parts);
            }
        }
    }
    basis.give_back(unit);
    basis.give_back(product);
    Ok(matrix)
}

/// The wanted eigenvectors of a symmetric or Hermitian operator with few rows.
pub(crate) fn dense<T: Entry>(operator: &dyn Operator<'_>, mut basis: Basis, goal: &Goal) -> Result<Subspace> {
    let Space { rows, width, runtime, .. } = basis.space.clone();
    let _reservation = runtime.budget().reserve("a dense matrix", dense_bytes(DENSE_COPIES * T::PARTS as u64, rows))?;
    let matrix = entries::<T>(operator, &mut basis)?;
    let half = |i: usize, k: usize| matrix[(i, k)] / 2.0;
    let symmetric = Mat::from_fn(rows, rows, |i, k| half(i, k) + conj(&half(k, i)));
    let (values, vectors) = eigen(&symmetric).ok_or_else(|| operator.breakdown(greatest(&symmetric)))?;
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| goal.which.key(values[b]).total_cmp(&goal.which.key(values[a])));
    order.truncate(goal.count / T::PARTS);
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    for columns in order.chunks(width / T::PARTS) {
        let mut block = basis.fresh()?;
        block.fill(0.0);
        for (row, numbers) in block.chunks_exact_mut(width).enumerate() {
            for (parts, &column) in numbers.chunks_exact_mut(T::PARTS).zip(columns) {
                vectors[(row, column)].write_parts(parts);
            }
        }
        basis.push(block);
    }
    Ok(Subspace { basis, scale: magnitude(&values), restarts: 0, is_complete: true })
}
