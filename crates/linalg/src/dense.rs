//! Dense matrices that solvers found, on their way into files and arrays.

use crate::spectral::embedded::Embedding;
use crate::tall::vectors::{ComplexVectors, Parts, Vectors};
use outcore_image::{Error, Result};
use outcore_io::Array;
use outcore_matrix::{Operand, SparseMatrix, UnnamedProduct};
use outcore_table::{DenseRows, DenseShape, write_dense};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A dense matrix that was found: a row for each row of the matrix, or for each column.
#[derive(Debug)]
pub struct Dense<'a> {
    /// Shape and names of rows and columns.
    pub shape: DenseShape,
    matrix: &'a SparseMatrix,
    side: Operand,
    store: Store<'a>,
}

/// Storage of the numbers.
#[derive(Debug)]
enum Store<'a> {
    Vectors(Vectors<'a>),
    Complex(ComplexVectors<'a>),
    /// Matrices stored one after the other, with rows in the order of the ids; side by side in the result.
    Held(Array<f64>, usize),
    /// An embedding, and the sign of each column.
    Embedding(Box<Embedding<'a>>, Vec<f64>),
    /// In a temporary file, in the order of the image.
    Product(UnnamedProduct),
    /// In the file that it goes to, which has no name yet.
    Written(UnnamedProduct, PathBuf),
}

/// Numbers that are read together in a sweep over all rows.
const NUMBERS: usize = 1 << 16;

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

    /// A result from matrices stored one after the other, with rows in the order of ids.
    pub(crate) fn held(numbers: Array<f64>, count: usize, matrix: &'a SparseMatrix, shape: DenseShape) -> Dense<'a> {
        Dense { shape, matrix, side: Operand::Matrix, store: Store::Held(numbers, count) }
    }

    pub(crate) fn embedding(
        embedding: Embedding<'a>,
        signs: Vec<f64>,
        matrix: &'a SparseMatrix,
        shape: DenseShape,
    ) -> Dense<'a> {
        Dense { shape, matrix, side: Operand::Matrix, store: Store::Embedding(Box::new(embedding), signs) }
    }

    /// A product in a temporary file, or in the file that is given, as [`Dense::write`] must be later.
    pub(crate) fn product(
        product: UnnamedProduct,
        output: Option<PathBuf>,
        matrix: &'a SparseMatrix,
        side: Operand,
        shape: DenseShape,
    ) -> Dense<'a> {
        let store = match output {
            Some(output) => Store::Written(product, output),
            None => Store::Product(product),
        };
        Dense { shape, matrix, side, store }
    }

    /// Writes it to a file, in the format that its name ends in: tables have a column of ids, and a `.npy` file has the
    /// numbers alone, with rows in the order of the ids.
    ///
    /// # Errors
    /// Those of [`write_dense`]; a file other than the one that a product was already written to.
    pub fn write(mut self, output: &Path) -> Result<()> {
        let image = self.matrix.graph().image();
        let bytes = self.shape.output_bytes(image, output)?;
        self.leave(bytes)?;
        match self.store {
            Store::Written(_, there) if there != output => {
                let text = format!("expected the product to go to {}, found {}", there.display(), output.display());
                Err(Error::Usage(text))
            }
            Store::Written(product, _) => product.commit().map(drop),
            _ => write_dense(image, &self.shape, &self, output),
        }
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
            Store::Held(..) | Store::Product(_) | Store::Written(..) => Ok(()),
        }
    }

    /// Copies all numbers row by row, with rows in the order of ids; the parts of complex ones are side by side.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn copy_to(&self, numbers: &mut [f64]) -> Result<()> {
        let (rows, count) = (self.rows(), self.shape.names.len());
        if numbers.len() != rows * count {
            return Err(Error::Usage(format!("expected room for {rows} x {count} numbers, found {}", numbers.len())));
        }
        self.copy_by_id(0..rows, numbers)
    }

    /// Number of rows.
    fn rows(&self) -> usize {
        (self.shape.vertices.end - self.shape.vertices.start) as usize
    }

    /// Calls `work` with every row: its place in the order of ids, and its numbers.
    fn for_each_row(&self, mut work: impl FnMut(usize, &[f64])) -> Result<()> {
        let count = self.shape.names.len().max(1);
        let (all, runtime) = (self.rows(), self.matrix.graph().runtime());
        let step = (NUMBERS / count).max(1).min(all.max(1));
        let mut part = Array::zeroed(runtime.budget(), "rows of a result", step * count)?;
        for first in (0..all).step_by(step) {
            runtime.cancel().check()?;
            let rows = first..all.min(first + step);
            let part = &mut part[..rows.len() * count];
            self.by_vertex(rows.clone(), part)?;
            rows.zip(part.chunks_exact(count)).for_each(|(row, numbers)| work(self.place_at(row), numbers));
        }
        Ok(())
    }

    /// Copies a row, in the order of the ids, of matrices stored one after the other.
    fn copy_held(&self, held: &[f64], count: usize, row: usize, numbers: &mut [f64]) {
        let width = numbers.len() / count.max(1);
        for (one, numbers) in held.chunks_exact((held.len() / count.max(1)).max(1)).zip(numbers.chunks_exact_mut(width))
        {
            numbers.copy_from_slice(&one[row * width..][..width]);
        }
    }

    /// Copies some rows, in the order of ids, by a sweep over all of them unless they are held in that order.
    fn copy_by_id(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = self.shape.names.len();
        let start = |row: usize| (row - rows.start) * count;
        match &self.store {
            Store::Held(held, matrices) => {
                for (row, numbers) in rows.zip(numbers.chunks_exact_mut(count.max(1))) {
                    self.copy_held(held, *matrices, row, numbers);
                }
                Ok(())
            }
            Store::Product(_) | Store::Embedding(..) => self.for_each_row(|row, found| {
                if rows.contains(&row) {
                    numbers[start(row)..][..count].copy_from_slice(found);
                }
            }),
            Store::Written(..) => unreachable!("a product in its place is not written again"),
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
            Store::Product(product) => product.copy_rows(rows, numbers),
            Store::Written(..) => unreachable!("a product in its place is not written again"),
            Store::Embedding(embedding, signs) => embedding.copy_rows(signs, rows, numbers),
            Store::Held(held, matrices) => {
                for (row, numbers) in rows.zip(numbers.chunks_exact_mut(count.max(1))) {
                    self.copy_held(held, *matrices, self.place_at(row), numbers);
                }
                Ok(())
            }
        }
    }

    fn by_id(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        match &self.store {
            Store::Held(..) => self.copy_by_id(rows, numbers),
            _ if self.is_in_order() => self.by_vertex(rows, numbers),
            _ => self.copy_by_id(rows, numbers),
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
