//! Products with rows in the order of the image, as solvers multiply: nothing is put in another order.
//!
//! A product is in memory, or in a temporary file that is written from start to end, nearly: workers finish rows in the
//! order of the image, each its own run of them. So one vector is in memory where a product of two needs room for one.
//!
//! Zheng, *FlashX: massive data analysis using fast I/O*, 2016, section 4.4.1.

use crate::product_file::{Bands, Output, ProductFile, Rows};
use crate::semiring::Semiring;
use crate::sparse::{Given, MOST_COLUMNS, Operand, Side, Source, SparseMatrix, Target};
use outcore_image::{Error, Result, StatsBuilder};
use outcore_io::buffer::shared;
use std::ops::Range;

/// Semiring and operand of a product.
#[derive(Clone, Copy, Debug)]
pub struct StoredProduct {
    /// The semiring.
    pub semiring: Semiring,
    /// The operand.
    pub operand: Operand,
    /// Whether entries count by their values. Otherwise each is 1, and no value is read.
    pub by_values: bool,
}

/// Destination of a product in the order of the image.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoredTarget<'a> {
    /// Numbers in memory, row by row.
    Memory(&'a mut [f64]),
    /// A temporary file.
    File(&'a StoredFile),
}

/// A temporary file with rows in the order of the image. It has no name, and vanishes when it is dropped.
pub struct StoredFile {
    output: Output,
    rows: usize,
    columns: usize,
}

impl std::fmt::Debug for StoredFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredFile[{} x {}]", self.rows, self.columns)
    }
}

impl StoredFile {
    /// An empty file for these numbers of rows and columns: beside the image, or in the folder set in the runtime.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn create(matrix: &SparseMatrix, rows: usize, columns: usize) -> Result<Self> {
        let (graph, file) = (matrix.graph(), ProductFile::Temporary { as_stored: true });
        Ok(StoredFile { output: Output::open(graph, &file, rows, columns, 1)?, rows, columns })
    }

    /// The memory that rows take on their way to it.
    pub fn state_bytes(matrix: &SparseMatrix) -> u64 {
        Bands::direct(matrix.graph().runtime(), 0, 1).state_bytes()
    }

    /// Reads adjacent rows that were written.
    ///
    /// # Errors
    /// Errors of the operating system.
    ///
    /// # Panics
    /// `numbers` has another length than these rows.
    pub fn read(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        self.output.copy_rows(rows, numbers)
    }

    /// Number of bytes written so far.
    pub fn written_bytes(&self) -> u64 {
        self.output.written_bytes()
    }
}

impl SparseMatrix {
    /// [`SparseMatrix::multiply_stored`] for sums of products in memory.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::multiply`].
    pub fn multiply_as_stored(
        &self,
        operand: Operand,
        factor: &[f64],
        columns: usize,
        product: &mut [f64],
        stats: &mut StatsBuilder,
    ) -> Result<()> {
        let how = StoredProduct { semiring: Semiring::PlusTimes, operand, by_values: true };
        self.multiply_stored(how, factor, columns, StoredTarget::Memory(product), stats)
    }

    /// Some adjacent rows of a product, where these are in the order of the image: row by row, for at most
    /// [`MOST_COLUMNS`] columns of real numbers. Only the pages that hold these rows are read. The bits are those of
    /// [`SparseMatrix::multiply`]. If columns are a power of two, the factor is not copied.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::multiply`]; rows that are not in the order of the image; complex numbers.
    pub fn multiply_rows(
        &self,
        operand: Operand,
        rows: Range<usize>,
        factor: &[f64],
        columns: usize,
        product: &mut [f64],
        stats: &mut StatsBuilder,
    ) -> Result<()> {
        let (_, all, inner) = self.rows_of(operand);
        let fits =
            rows.end <= all.count && product.len() == rows.len() * columns && factor.len() == inner.count * columns;
        if !fits || columns > MOST_COLUMNS || self.is_complex() || self.places().is_some() {
            let expected =
                format!("rows of {} in the order of the image, of at most {MOST_COLUMNS} columns", all.count);
            let found =
                format!("rows {rows:?} of {columns} columns, with {} and {} numbers", factor.len(), product.len());
            return Err(Error::Usage(format!("expected {expected}, found {found}")));
        }
        let (factor, only) = (Source::Memory(factor), Some(Side { first: rows.start, count: rows.len() }));
        let given = Given { factor, columns, places: None, product_places: None, by_values: true, only };
        let product = Target::Memory(shared(product));
        self.multiply_given(Semiring::PlusTimes, operand, given, product, MOST_COLUMNS, stats)
    }

    /// The product with a dense matrix, with the rows of both in the order of the image, in one pass, for at most
    /// [`MOST_COLUMNS`] columns, half as many complex ones: solvers multiply so. If columns are a power of two, nothing
    /// is copied. The bits are the same in memory and in a file.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::multiply`]; complex values without `by_values`; a full disk.
    pub fn multiply_stored(
        &self,
        how: StoredProduct,
        factor: &[f64],
        columns: usize,
        product: StoredTarget<'_>,
        stats: &mut StatsBuilder,
    ) -> Result<()> {
        let StoredProduct { semiring, operand, by_values } = how;
        if self.is_complex() && !by_values {
            return Err(Error::Usage("expected real values to be left out, found complex ones".to_owned()));
        }
        let most = MOST_COLUMNS / self.parts();
        let numbers = match &product {
            StoredTarget::Memory(numbers) => numbers.len(),
            StoredTarget::File(file) => file.rows * file.columns,
        };
        self.check_shapes(semiring, operand, factor, columns, numbers)?;
        let columns = columns * self.parts();
        if let StoredTarget::File(file) = &product
            && file.columns != columns
        {
            let expected = format!("a file for {columns} columns of numbers");
            return Err(Error::Usage(format!("expected {expected}, found one for {}", file.columns)));
        }
        let factor = Source::Memory(factor);
        let given = Given { factor, columns, places: None, product_places: None, by_values, only: None };
        match product {
            StoredTarget::Memory(numbers) => {
                self.multiply_given(semiring, operand, given, Target::Memory(shared(numbers)), most, stats)
            }
            StoredTarget::File(file) => {
                let runtime = self.graph().runtime();
                let rows = Rows::new(runtime, &file.output, Bands::direct(runtime, file.rows, columns), None)?;
                self.multiply_given(semiring, operand, given, Target::Rows(&rows), most, stats)
            }
        }
    }
}
