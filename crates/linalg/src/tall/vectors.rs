//! Resulting vectors: in memory or in a temporary file, until they are written where the user wants them.

use crate::tall::basis::Basis;
use crate::tall::panels::Panels;
use crate::tall::{Space, check_room};
use faer::c64;
use outcore_image::Result;
use outcore_matrix::{Operand, SparseMatrix};
use std::ops::Range;

/// Some columns with as many rows as a matrix has rows, or columns.
pub struct Vectors {
    store: Store,
    matrix: SparseMatrix,
    count: usize,
    /// Whether rows are those of the matrix or of its transpose.
    side: Operand,
}

/// Storage of the columns.
enum Store {
    Basis(Basis),
    Panels(Panels),
}

impl std::fmt::Debug for Vectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, count) = self.shape();
        write!(f, "Vectors[{rows} x {count}]")
    }
}

impl Vectors {
    pub(crate) fn new(mut basis: Basis, matrix: &SparseMatrix, count: usize, side: Operand) -> Self {
        basis.finish();
        Vectors { store: Store::Basis(basis), matrix: matrix.clone(), count, side }
    }

    pub(crate) fn of_panels(panels: Panels, matrix: &SparseMatrix, side: Operand) -> Self {
        Vectors { count: panels.layout.columns, store: Store::Panels(panels), matrix: matrix.clone(), side }
    }

    fn space(&self) -> &Space {
        match &self.store {
            Store::Basis(basis) => &basis.space,
            Store::Panels(panels) => &panels.space,
        }
    }

    /// Number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.space().rows, self.count)
    }

    /// Makes this much memory free, if it can, by moving vectors to the temporary file.
    ///
    /// # Errors
    /// A full disk.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        match &mut self.store {
            Store::Basis(basis) => basis.leave(bytes),
            Store::Panels(panels) => panels.leave(bytes),
        }
    }

    /// Writes all numbers row by row, with rows in the order of ids.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn write(&self, numbers: &mut [f64]) -> Result<()> {
        let count = self.count;
        check_room(self.shape(), numbers.len())?;
        self.for_each_row(|row, columns, values| numbers[row * count..][columns].copy_from_slice(values))
    }

    /// Copies some columns of adjacent rows, row by row; rows are in the order of the image.
    pub(crate) fn copy_rows(&self, rows: Range<usize>, columns: Range<usize>, copy: &mut [f64]) -> Result<()> {
        match &self.store {
            Store::Basis(basis) => basis.copy_rows(rows, &columns, copy),
            Store::Panels(panels) => panels.copy_rows(rows, &columns, copy),
        }
    }

    /// Calls `work` with a row, in the order of ids, some adjacent columns, and the numbers that are there.
    pub(crate) fn for_each_row(&self, mut work: impl FnMut(usize, Range<usize>, &[f64])) -> Result<()> {
        let mut put = |rows: Range<usize>, columns: Range<usize>, width: usize, piece: &[f64]| {
            for (row, values) in rows.zip(piece.chunks_exact(width)) {
                work(self.matrix.row_of(self.side, row), columns.clone(), &values[..columns.len()]);
            }
            self.space().runtime.cancel().check()
        };
        let width = self.space().width;
        match &self.store {
            Store::Basis(basis) => basis.for_each_piece(|rows, block, piece| {
                put(rows, block * width..self.count.min((block + 1) * width), width, piece)
            }),
            Store::Panels(panels) => panels.for_each_piece(put),
        }
    }
}

/// Resulting complex vectors, in the same places: conjugate pairs share their columns.
#[derive(Debug)]
pub struct ComplexVectors {
    parts: Vectors,
    columns: Vec<Parts>,
}

/// Location of the parts of a complex vector.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// The column of the real part.
    pub re: usize,
    /// Factor of the column of imaginary parts: 0 for a real vector, which has none; 1, or -1 for the conjugate.
    pub sign: f64,
}

impl ComplexVectors {
    pub(crate) fn new(parts: Vectors, columns: Vec<Parts>) -> Self {
        ComplexVectors { parts, columns }
    }

    /// Other complex vectors that are made of these parts.
    #[doc(hidden)]
    pub fn with_columns(self, columns: Vec<Parts>) -> Self {
        ComplexVectors { columns, ..self }
    }

    /// Number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.parts.shape().0, self.columns.len())
    }

    /// Makes this much memory free, if it can, by moving vectors to the temporary file.
    ///
    /// # Errors
    /// A full disk.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        self.parts.leave(bytes)
    }

    /// The real vectors that are the parts, and the location of the parts of each complex vector.
    pub(crate) fn parts(&self) -> (&Vectors, &[Parts]) {
        (&self.parts, &self.columns)
    }

    /// Writes all numbers row by row, with rows in the order of ids.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn write(&self, numbers: &mut [c64]) -> Result<()> {
        let count = self.columns.len();
        check_room(self.shape(), numbers.len())?;
        numbers.fill(c64::new(0.0, 0.0));
        self.parts.for_each_row(|row, part, values| {
            let numbers = &mut numbers[row * count..][..count];
            for (number, &Parts { re, sign }) in numbers.iter_mut().zip(&self.columns) {
                if part.contains(&re) {
                    number.re = values[re - part.start];
                }
                if sign != 0.0 && part.contains(&(re + 1)) {
                    number.im = sign * values[re + 1 - part.start];
                }
            }
        })
    }
}
