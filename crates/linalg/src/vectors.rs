//! Vectors that were found: in memory or in a temporary file, until they are written where the user wants them.

use crate::basis::Basis;
use outcore_graph::{Error, Result};
use outcore_matrix::{Operand, SparseMatrix};

/// Some columns with as many rows as a matrix has rows, or columns.
pub struct Vectors<'a> {
    basis: Basis<'a>,
    matrix: &'a SparseMatrix,
    count: usize,
    /// Whether rows are those of the matrix or of its transpose.
    side: Operand,
}

impl std::fmt::Debug for Vectors<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vectors[{} x {}]", self.basis.space.rows, self.count)
    }
}

impl<'a> Vectors<'a> {
    pub(crate) fn new(basis: Basis<'a>, matrix: &'a SparseMatrix, count: usize, side: Operand) -> Self {
        Vectors { basis, matrix, count, side }
    }

    /// How many rows and columns there are.
    pub fn shape(&self) -> (usize, usize) {
        (self.basis.space.rows, self.count)
    }

    /// Makes this much memory free, if it can, by moving vectors to the temporary file.
    ///
    /// # Errors
    /// A full disk.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        self.basis.leave(bytes)
    }

    /// Writes all numbers row by row, with rows in the order of ids.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn write(&self, numbers: &mut [f64]) -> Result<()> {
        let (rows, count) = self.shape();
        if numbers.len() != rows * count {
            return Err(Error::Usage(format!("expected room for {rows} x {count} numbers, found {}", numbers.len())));
        }
        let width = self.basis.space.width;
        self.basis.for_each_piece(|rows, block, piece| {
            let columns = block * width..count.min((block + 1) * width);
            for (row, found) in rows.zip(piece.chunks_exact(width)) {
                let place = match self.side {
                    Operand::Matrix => self.matrix.row_at(row),
                    Operand::Transpose | Operand::Adjoint => self.matrix.column_at(row),
                };
                numbers[place * count..][columns.clone()].copy_from_slice(&found[..columns.len()]);
            }
            self.basis.space.runtime.cancel().check().map_err(Error::from)
        })
    }
}
