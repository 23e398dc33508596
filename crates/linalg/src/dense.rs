//! Dense results of solvers, on their way into files and arrays.

use crate::spectral::embedding::Embedding;
use crate::tall::vectors::{ComplexVectors, Parts, Vectors};
use crate::tall::{check_room, for_each_row};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use outcore_matrix::{Operand, SparseMatrix, UnnamedProduct};
use outcore_table::{DenseHeader, DenseRows, write_dense};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A dense result: a row for each row of the matrix, or for each column.
#[derive(Debug)]
pub struct Dense {
    /// Shape and names of rows and columns.
    pub shape: DenseHeader,
    matrix: SparseMatrix,
    side: Operand,
    store: Store,
}

/// Storage of the numbers.
#[derive(Debug)]
pub(crate) enum Store {
    Vectors(Vectors),
    Complex(ComplexVectors),
    /// Matrices stored one after the other, with rows in the order of the ids; side by side in the result.
    Ordered(Buffer<f64>, usize),
    /// An embedding, and the sign of each column.
    Embedding(Box<Embedding>, Vec<f64>),
    /// In a temporary file, in the order of the image.
    Product(UnnamedProduct),
    /// In the file that it goes to, which has no name yet; [`Dense::write`] must name it later.
    Written(UnnamedProduct, PathBuf),
}

impl Dense {
    pub(crate) fn new(matrix: &SparseMatrix, side: Operand, shape: DenseHeader, store: Store) -> Self {
        Dense { shape, matrix: matrix.clone(), side, store }
    }

    /// Writes it to a file, in the format that its name ends in: tables have a column of ids, and a `.npy` file has the
    /// numbers alone, with rows in the order of the ids.
    ///
    /// # Errors
    /// Those of [`write_dense`]; a file other than the one that a product was already written to.
    pub fn write(mut self, output: &Path) -> Result<()> {
        let bytes = self.shape.output_bytes(self.matrix.graph().image(), output)?;
        self.leave(bytes)?;
        let image = self.matrix.graph().image();
        match self.store {
            Store::Written(_, there) if there != output => {
                let text = format!("expected the product to go to {}, found {}", there.display(), output.display());
                Err(Error::Usage(text))
            }
            Store::Written(product, _) => product.commit().map(drop),
            _ => write_dense(image, &self.shape, &self, output),
        }
    }

    /// Writes results to their files, one after the other. What waits, or is written, goes to the temporary file as far
    /// as memory is needed.
    ///
    /// # Errors
    /// Those of [`Dense::write`].
    pub fn write_all(results: impl IntoIterator<Item = (Self, PathBuf)>) -> Result<()> {
        let mut results: Vec<_> = results.into_iter().collect();
        while !results.is_empty() {
            let (dense, output) = results.remove(0);
            let bytes = dense.shape.output_bytes(dense.matrix.graph().image(), &output)?;
            results.iter_mut().try_for_each(|(waiting, _)| waiting.leave(bytes))?;
            dense.write(&output)?;
        }
        Ok(())
    }

    /// Makes this much memory free, if it can, by moving vectors to the temporary file.
    ///
    /// # Errors
    /// A full disk.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        match &mut self.store {
            Store::Vectors(vectors) => vectors.leave(bytes),
            Store::Complex(vectors) => vectors.leave(bytes),
            Store::Embedding(embedding, _) => embedding.leave(bytes),
            Store::Ordered(..) | Store::Product(_) | Store::Written(..) => Ok(()),
        }
    }

    /// Copies all numbers row by row, with rows in the order of ids; the parts of complex ones are side by side.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn copy_to(&self, numbers: &mut [f64]) -> Result<()> {
        let rows = self.matrix.shape_of(self.side).0;
        check_room((rows, self.shape.names.len()), numbers.len())?;
        self.copy_by_id(0..rows, numbers)
    }

    /// Copies a row, in the order of the ids, of matrices stored one after the other.
    fn copy_ordered(all: &[f64], count: usize, row: usize, numbers: &mut [f64]) {
        let (width, size) = (numbers.len() / count.max(1), all.len() / count.max(1));
        for (one, numbers) in all.chunks_exact(size.max(1)).zip(numbers.chunks_exact_mut(width)) {
            numbers.copy_from_slice(&one[row * width..][..width]);
        }
    }

    /// Copies some rows, in the order of ids, by a sweep over all of them unless they are stored in that order.
    fn copy_by_id(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = self.shape.names.len();
        let start = |row: usize| (row - rows.start) * count;
        match &self.store {
            Store::Ordered(all, matrices) => {
                for (row, numbers) in rows.zip(numbers.chunks_exact_mut(count.max(1))) {
                    Self::copy_ordered(all, *matrices, row, numbers);
                }
                Ok(())
            }
            Store::Product(_) | Store::Embedding(..) => {
                let all = self.matrix.shape_of(self.side).0;
                let (runtime, copy) =
                    (self.matrix.graph().runtime(), |rows, part: &mut [f64]| self.by_vertex(rows, part));
                for_each_row(runtime, "rows of a result", (all, count), copy, |place, values| {
                    let row = self.matrix.row_of(self.side, place);
                    if rows.contains(&row) {
                        numbers[start(row)..][..count].copy_from_slice(values);
                    }
                    Ok(())
                })
            }
            Store::Written(..) => unreachable!("a product in its place is not written again"),
            Store::Vectors(vectors) => vectors.for_each_row(|row, columns, values| {
                if rows.contains(&row) {
                    numbers[start(row)..][columns].copy_from_slice(values);
                }
            }),
            Store::Complex(vectors) => {
                let (parts, columns) = vectors.parts();
                numbers.fill(0.0);
                parts.for_each_row(|row, part, values| {
                    if rows.contains(&row) {
                        put_complex(columns, part, values, &mut numbers[start(row)..][..count]);
                    }
                })
            }
        }
    }
}

impl DenseRows for Dense {
    fn by_vertex(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = self.shape.names.len();
        match &self.store {
            Store::Vectors(vectors) => vectors.copy_rows(rows, 0..count, numbers),
            Store::Complex(vectors) => {
                let (parts, columns) = vectors.parts();
                let width = parts.shape().1;
                let budget = self.matrix.graph().runtime().budget();
                let mut copy = Buffer::zeroed(budget, "parts of complex vectors", rows.len() * width)?;
                parts.copy_rows(rows, 0..width, &mut copy)?;
                for (row, numbers) in copy.chunks_exact(width.max(1)).zip(numbers.chunks_exact_mut(count)) {
                    put_complex(columns, 0..width, row, numbers);
                }
                Ok(())
            }
            Store::Product(product) => product.copy_rows(rows, numbers),
            Store::Written(..) => unreachable!("a product in its place is not written again"),
            Store::Embedding(embedding, signs) => embedding.copy_rows(signs, rows, numbers),
            Store::Ordered(all, matrices) => {
                for (place, numbers) in rows.zip(numbers.chunks_exact_mut(count.max(1))) {
                    Self::copy_ordered(all, *matrices, self.matrix.row_of(self.side, place), numbers);
                }
                Ok(())
            }
        }
    }

    fn by_id(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        match matches!(self.store, Store::Ordered(..)) || !self.is_in_order() {
            true => self.copy_by_id(rows, numbers),
            false => self.by_vertex(rows, numbers),
        }
    }

    fn is_in_order(&self) -> bool {
        self.matrix.is_in_order()
    }
}

/// Puts a row of parts, of which some adjacent ones are given, to where they are in a row of complex numbers.
fn put_complex(columns: &[Parts], part: Range<usize>, values: &[f64], numbers: &mut [f64]) {
    for (number, &Parts { re, sign }) in numbers.chunks_exact_mut(2).zip(columns) {
        if part.contains(&re) {
            number[0] = values[re - part.start];
        }
        if sign == 0.0 {
            number[1] = 0.0;
        } else if part.contains(&(re + 1)) {
            number[1] = sign * values[re + 1 - part.start];
        }
    }
}
