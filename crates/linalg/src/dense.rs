//! Dense matrices that solvers found, on their way into files.

use crate::vectors::{ComplexVectors, Parts, Vectors};
use outcore_graph::{DenseRows, DenseShape, Result, write_dense};
use outcore_io::Array;
use outcore_matrix::{Operand, SparseMatrix};
use std::ops::Range;
use std::path::Path;

/// A dense matrix that was found: a row for each row of the matrix, or for each column.
#[derive(Debug)]
pub struct Dense<'a> {
    /// What rows and columns are.
    pub shape: DenseShape,
    matrix: &'a SparseMatrix,
    side: Operand,
    store: Store<'a>,
}

/// Where its numbers are.
#[derive(Debug)]
enum Store<'a> {
    Vectors(Vectors<'a>),
    Complex(ComplexVectors<'a>),
    /// In the order of the ids.
    Held(Array<f64>),
}

impl<'a> Dense<'a> {
    pub(crate) fn of_vectors(
        vectors: Vectors<'a>,
        matrix: &'a SparseMatrix,
        side: Operand,
        shape: DenseShape,
    ) -> Dense<'a> {
        Dense { shape, matrix, side, store: Store::Vectors(vectors) }
    }

    pub(crate) fn of_complex(vectors: ComplexVectors<'a>, matrix: &'a SparseMatrix, shape: DenseShape) -> Dense<'a> {
        Dense { shape, matrix, side: Operand::Matrix, store: Store::Complex(vectors) }
    }

    /// Rows are in the order of ids.
    pub(crate) fn held(numbers: Array<f64>, matrix: &'a SparseMatrix, side: Operand, shape: DenseShape) -> Dense<'a> {
        Dense { shape, matrix, side, store: Store::Held(numbers) }
    }

    /// Writes it to a file, in the format that its name ends in: tables have a column of ids, and a `.npy` file has the
    /// numbers alone, with rows in the order of the ids.
    ///
    /// # Errors
    /// As with [`write_dense`].
    pub fn write(&mut self, output: &Path) -> Result<()> {
        let image = self.matrix.graph().image();
        let bytes = self.shape.output_bytes(image);
        match &mut self.store {
            Store::Vectors(vectors) => vectors.leave(bytes)?,
            Store::Complex(vectors) => vectors.leave(bytes)?,
            Store::Held(_) => {}
        }
        write_dense(image, &self.shape, self, output)
    }

    fn place_at(&self, row: usize) -> usize {
        match self.side {
            Operand::Matrix => self.matrix.row_at(row),
            Operand::Transpose | Operand::Adjoint => self.matrix.column_at(row),
        }
    }
}

impl DenseRows for Dense<'_> {
    fn by_vertex(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = self.shape.names.len();
        match &self.store {
            Store::Vectors(vectors) => vectors.copy_rows(rows, 0..count, numbers),
            Store::Complex(vectors) => {
                let (parts, columns) = vectors.parts();
                let width = parts.shape().1;
                let budget = self.matrix.graph().runtime().budget();
                let mut copy = Array::zeroed(budget, "parts of complex vectors", rows.len() * width)?;
                parts.copy_rows(rows, 0..width, &mut copy)?;
                for (row, numbers) in copy.chunks_exact(width.max(1)).zip(numbers.chunks_exact_mut(count)) {
                    put_complex(columns, 0..width, row, numbers);
                }
                Ok(())
            }
            Store::Held(held) => {
                for (row, numbers) in rows.zip(numbers.chunks_exact_mut(count.max(1))) {
                    let start = self.place_at(row) * count;
                    numbers.copy_from_slice(&held[start..start + count]);
                }
                Ok(())
            }
        }
    }

    fn by_id(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = self.shape.names.len();
        let start = |row: usize| (row - rows.start) * count;
        match &self.store {
            Store::Held(held) => {
                numbers.copy_from_slice(&held[rows.start * count..rows.end * count]);
                Ok(())
            }
            _ if self.is_in_order() => self.by_vertex(rows, numbers),
            Store::Vectors(vectors) => vectors.for_each_row(|row, columns, found| {
                if rows.contains(&row) {
                    numbers[start(row)..][columns].copy_from_slice(found);
                }
            }),
            Store::Complex(vectors) => {
                let (parts, columns) = vectors.parts();
                numbers.fill(0.0);
                parts.for_each_row(|row, part, found| {
                    if rows.contains(&row) {
                        put_complex(columns, part, found, &mut numbers[start(row)..][..count]);
                    }
                })
            }
        }
    }

    fn is_in_order(&self) -> bool {
        self.matrix.is_in_order()
    }
}

/// Puts a row of parts, of which some adjacent ones are given, to where they are in a row of complex numbers.
fn put_complex(columns: &[Parts], part: Range<usize>, found: &[f64], numbers: &mut [f64]) {
    for (number, &Parts { re, sign }) in numbers.chunks_exact_mut(2).zip(columns) {
        if part.contains(&re) {
            number[0] = found[re - part.start];
        }
        if sign == 0.0 {
            number[1] = 0.0;
        } else if part.contains(&(re + 1)) {
            number[1] = sign * found[re + 1 - part.start];
        }
    }
}
