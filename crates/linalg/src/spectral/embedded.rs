//! The rows of a spectral embedding, as they are written.

use crate::tall::vectors::Vectors;
use outcore_image::{Error, Result};
use outcore_io::Array;
use outcore_matrix::SparseMatrix;
use std::ops::Range;

/// Numbers that are processed together.
const NUMBERS: usize = 1 << 16;

/// The rows of a spectral embedding.
#[derive(Debug)]
pub struct Embedding<'a> {
    /// Eigenvectors of length 1, the last one first.
    #[doc(hidden)]
    pub vectors: Vectors<'a>,
    /// Factor of each row, in the order of the image; none if the Laplacian is not normalised.
    pub(crate) scale: Option<Array<f64>>,
    pub(crate) matrix: &'a SparseMatrix,
}

impl Embedding<'_> {
    /// Number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.vectors.shape()
    }

    /// Makes this much memory free, if it can, by moving vectors to the temporary file.
    ///
    /// # Errors
    /// A full disk.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        self.vectors.leave(bytes)
    }

    /// Writes the embedding row by row, with rows in the order of ids and columns in that of eigenvalues. The entry of
    /// greatest magnitude of a column, the first of several, is positive.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn write(&self, numbers: &mut [f64]) -> Result<()> {
        let (rows, count) = self.shape();
        if numbers.len() != rows * count {
            return Err(Error::Usage(format!("expected room for {rows} x {count} numbers, found {}", numbers.len())));
        }
        let signs = self.signs()?;
        self.for_each_row(&signs, |row, found| numbers[row * count..][..count].copy_from_slice(found))
    }

    /// Copies adjacent rows, in the order of the image, row by row.
    pub(crate) fn copy_rows(&self, signs: &[f64], rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = signs.len();
        self.vectors.copy_rows(rows.clone(), 0..count, numbers)?;
        for (place, row) in rows.zip(numbers.chunks_exact_mut(count)) {
            let factor = self.scale.as_ref().map_or(1.0, |scale| scale[place]);
            row.reverse();
            row.iter_mut().zip(signs).for_each(|(number, sign)| *number *= factor * sign);
        }
        Ok(())
    }

    /// Sign of each column, 1 or -1, that makes its entry of greatest magnitude positive; of several such entries the
    /// first row in the order of ids counts.
    pub(crate) fn signs(&self) -> Result<Vec<f64>> {
        let mut extremes = vec![(0.0f64, usize::MAX); self.shape().1];
        self.for_each_row(&vec![1.0; extremes.len()], |row, found| {
            for (extreme, &number) in extremes.iter_mut().zip(found) {
                let (most, first) = (extreme.0.abs(), extreme.1);
                if number.abs() > most || number.abs() == most && row < first {
                    *extreme = (number, row);
                }
            }
        })?;
        Ok(extremes.iter().map(|(extreme, _)| if *extreme < 0.0 { -1.0 } else { 1.0 }).collect())
    }

    /// Calls `work` with every row: its place in the order of ids, and its numbers.
    fn for_each_row(&self, signs: &[f64], mut work: impl FnMut(usize, &[f64])) -> Result<()> {
        let ((all, count), runtime) = (self.shape(), self.matrix.graph().runtime());
        let step = (NUMBERS / count).max(1).min(all.max(1));
        let mut part = Array::zeroed(runtime.budget(), "rows of an embedding", step * count)?;
        for first in (0..all).step_by(step) {
            runtime.cancel().check()?;
            let rows = first..all.min(first + step);
            let part = &mut part[..rows.len() * count];
            self.copy_rows(signs, rows.clone(), part)?;
            rows.zip(part.chunks_exact(count)).for_each(|(row, found)| work(self.matrix.row_at(row), found));
        }
        Ok(())
    }
}
