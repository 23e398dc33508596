//! Products of sparse matrices with dense arrays.
//!
//! *Idea.* Semi-external, as in `crates/matrix`: the dense factor is in memory as a whole, computed by earlier rounds,
//! and a pass reads the product. If the rows of the matrix are in the order of ids and the factor has at most
//! [`MOST_COLUMNS`] columns, the product never exists as a whole: a pass covers *stretches* of rows, multiplies those,
//! and computes the results from them (`pass.rs`), so that the matrix is read once per pass. Otherwise a round of its
//! own puts the product into memory or into a temporary file. A factor that is too large for memory is put into a
//! temporary file, by columns, and read panel by panel.
//!
//! *Bits.* Rows of the product have those of [`SparseMatrix::multiply`], and partitions of rows are the same however
//! the product is there: so results do not depend on the limit.
//!
//! Zheng, *FlashX: massive data analysis using fast I/O*, 2016, sections 4.3 and 5.3.

use crate::array::{Along, Array, Long, Op, Operation, Requests, cannot_stream};
use crate::explain::ExplainedPass;
use crate::kernel::Scalar;
use crate::memory::InMemory;
use crate::npy::NpySource;
use crate::plan::{BLOCK_ROWS, Known, Plan, Request, View};
use crate::source::{ArraySource, Landed, MemoryReader, NoRows, RowsInMemory, SourceReader};
use outcore_format::{ElementType, PAGE_BYTES};
use outcore_image::{Error, Result, StatsBuilder, SweepStats};
use outcore_io::{Buffer as Large, Runtime};
use outcore_matrix::{
    DenseFactor, DenseFile, DenseLayout, DenseProduct, MOST_COLUMNS, Operand, ProductFile, Semiring, SparseMatrix,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A sparse matrix, and the array that it is multiplied by.
#[derive(Clone)]
pub(crate) struct SparseProduct {
    matrix: Arc<SparseMatrix>,
    operand: Operand,
    /// Real numbers. Those of a product that is multiplied row by row have as many columns as kernels multiply.
    pub factor: Array,
    /// The product's own columns.
    columns: u64,
}

/// The factor of a product, computed.
pub(crate) enum Factor<'a> {
    Memory(InMemory),
    File(&'a DenseFile),
}

impl Array {
    /// The product of a sparse matrix of real numbers, or its transpose, with a vector or a matrix, in float64. It is
    /// streamed along its rows, and each pass over it is one over the sparse matrix.
    ///
    /// # Errors
    /// Shapes that do not fit; a matrix of complex numbers.
    pub fn sparse_product(matrix: &Arc<SparseMatrix>, operand: Operand, factor: &Array) -> Result<Self> {
        let (rows, inner) = match (operand, matrix.shape()) {
            (Operand::Matrix, shape) => shape,
            (Operand::Transpose | Operand::Adjoint, (rows, columns)) => (columns, rows),
        };
        if matrix.is_complex() {
            let advice = "multiply it by arrays of NumPy's, or files";
            return Err(Error::Usage(format!(
                "expected a sparse matrix of real numbers, found a matrix of complex numbers; {advice}"
            )));
        }
        if !(1..=2).contains(&factor.axes()) || factor.shape()[0] != inner {
            let expected = format!("a vector or a matrix of {inner} rows to multiply a matrix of {rows} x {inner}");
            return Err(Error::Usage(format!("expected {expected}, found shape {:?}", factor.shape())));
        }
        let is_vector = factor.axes() == 1;
        let mut factor = factor.cast(ElementType::Float64)?;
        if is_vector {
            factor = factor.with_axis(1)?;
        }
        if let Op::Memory(memory) = factor.op()
            && !memory.is_row_major()
        {
            // It is multiplied row by row: a pass makes a copy, which counts.
            factor = factor.recast()?;
        }
        let columns = factor.shape()[1];
        let shape = vec![rows, columns];
        let product = if rows * inner * columns == 0 {
            // There are no terms.
            Array::full(shape, Scalar::Float64(0.0))?
        } else {
            let width = columns.next_power_of_two();
            if matrix.is_in_order() && width <= MOST_COLUMNS as u64 && width > columns {
                let beyond = Array::full(vec![inner, width - columns], Scalar::Float64(0.0))?;
                factor = Array::join(&[factor, beyond], 1)?;
            }
            let operands = vec![factor.clone()];
            let product = SparseProduct { matrix: Arc::clone(matrix), operand, factor, columns };
            let long = Some(Long { axis: 0, is_fixed: true });
            Array::computed((product.name(), product), operands, shape, ElementType::Float64, long)?
        };
        if is_vector { product.without_axis(1) } else { Ok(product) }
    }
}

impl Operation for SparseProduct {
    fn pass_axis(&self, _array: &Array) -> Option<Along> {
        Some(Along::Own(0))
    }

    fn can_stream(&self, _array: &Array, axis: usize) -> bool {
        axis == 0
    }

    /// The factor of a product is known before its rows are.
    fn requests<'a>(&self, _array: &'a Array, _axis: usize) -> Requests<'a> {
        Vec::new()
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let source = known.products.get(&array.id()).ok_or_else(|| cannot_stream(array))?;
        plan.rows_of(array, source, request)
    }
}

impl SparseProduct {
    /// The name in plans.
    fn name(&self) -> String {
        let transposed = if self.operand == Operand::Matrix { "" } else { ".T" };
        format!("{}{transposed} @", self.matrix.graph().path().display())
    }

    fn rows(&self) -> u64 {
        let (rows, columns) = self.matrix.shape();
        if self.operand == Operand::Matrix { rows } else { columns }
    }

    /// The pages that one pass over the matrix reads.
    pub fn pages(&self) -> u64 {
        self.matrix.pages_per_pass(self.operand)
    }

    fn width(&self) -> u64 {
        self.factor.shape()[1]
    }

    /// Whether the factor fits into half of the free memory.
    pub fn has_room(&self, available_bytes: u64) -> bool {
        2 * 8 * self.factor.count() <= available_bytes
    }

    /// The matrix.
    pub fn matrix(&self) -> &SparseMatrix {
        &self.matrix
    }

    /// A name for a temporary file for the factor.
    pub fn factor_path(&self) -> PathBuf {
        self.matrix.graph().image().temporary_path("factor")
    }

    /// Whether passes multiply rows as they need them, with the factor in memory.
    fn is_by_rows(&self) -> bool {
        self.matrix.is_in_order() && self.width() <= MOST_COLUMNS as u64
    }

    /// The bytes of memory that the whole product takes, and whether it is to be in memory.
    fn placing(&self, available_bytes: u64) -> (u64, bool) {
        let bytes = 8 * self.rows() * self.width();
        (bytes, 4 * bytes <= available_bytes)
    }

    /// The source of the product for passes that multiply rows as they need them.
    pub fn by_rows(&self, factor: InMemory) -> Option<ProductSource> {
        self.is_by_rows().then(|| self.source(ProductPlace::ByRows { factor }))
    }

    /// Computes the whole product: the source that passes read, and its cost.
    ///
    /// # Errors
    /// Too little memory for a column of the factor; a full disk; a page that cannot be read or is damaged; a request
    /// to stop.
    pub fn store(&self, runtime: &Runtime, factor: Factor<'_>) -> Result<(ProductSource, SweepStats)> {
        let columns = self.width() as usize;
        let given = match &factor {
            Factor::Memory(memory) => {
                DenseFactor::Numbers { numbers: memory.slice::<f64>(), columns, is_complex: false }
            }
            Factor::File(file) => DenseFactor::File(file),
        };
        let (semiring, operand, matrix) = (Semiring::PlusTimes, self.operand, self.matrix.stopped_by(runtime.cancel()));
        let (place, cost) = if self.placing(runtime.budget().available_bytes()).1 {
            let mut numbers = Large::<f64>::zeroed(runtime.budget(), "a product", self.rows() as usize * columns)?;
            let product = DenseProduct::Numbers(&mut numbers);
            let cost = matrix.multiply_streamed(semiring, operand, given, product)?;
            (ProductPlace::InMemory(self.in_memory(0, numbers)), cost)
        } else {
            let place = ProductFile::Temporary { as_stored: false };
            let made = matrix.multiply_to_file(semiring, operand, given, &place)?;
            let file = made.numbers(runtime)?;
            // The columns of the product alone.
            let layout = DenseLayout { columns: self.columns, ..file.layout().clone() };
            (ProductPlace::File(Box::new(NpySource::of_part(&file, layout)?)), made.cost().clone())
        };
        let mut sweep = cost.stats.total;
        sweep.bytes_read += cost.factor_bytes_read;
        Ok((self.source(place), sweep))
    }

    /// The plan of [`SparseProduct::store`] beside `held_bytes` of earlier results, and the source that passes will
    /// read.
    pub fn explain(&self, runtime: &Runtime, in_file: bool, held_bytes: u64) -> Result<(ExplainedPass, ProductSource)> {
        let (bytes, is_in_memory) = self.placing(runtime.budget().available_bytes().saturating_sub(held_bytes));
        let own_budget = self.matrix.graph().runtime().budget();
        let planned = runtime.budget().is_of_same_memory(own_budget).then(|| self.matrix.planned_in(runtime));
        let (matrix, [rows, columns]) =
            (planned.as_ref().unwrap_or(&self.matrix), [self.factor.shape()[0], self.width()]);
        let factor = DenseFactor::Planned { rows, columns: columns as usize, in_file };
        let output = (!is_in_memory).then_some(ProductFile::Temporary { as_stored: false });
        let result_bytes = if is_in_memory { bytes } else { 0 };
        let plan = matrix.plan_streamed(self.operand, factor, output.as_ref(), held_bytes + result_bytes)?;
        let memory_bytes = plan.state_bytes - held_bytes - result_bytes;
        let passes = format!("{} {}", plan.passes, if plan.passes == 1 { "pass" } else { "passes" });
        let mut reads = vec![(format!("{} ({passes})", self.name()), plan.bytes_per_pass * plan.passes)];
        if in_file {
            reads.push(("a temporary file with the factor".to_owned(), 8 * self.factor.count()));
        }
        let place = if is_in_memory { "memory" } else { "a temporary file" };
        let shape = [self.rows(), self.columns];
        let pass = ExplainedPass {
            rows: self.rows(),
            partition_rows: self.rows(),
            reads,
            steps: Vec::new(),
            results: vec![(format!("product in {place} float64 {shape:?}"), Vec::new())],
            memory_bytes,
            result_bytes,
        };
        Ok((pass, self.source(ProductPlace::Planned { is_file: !is_in_memory })))
    }

    /// Rows of the product in memory, from row `first` on.
    fn in_memory(&self, first: u64, numbers: Large<f64>) -> RowsInMemory<Large<f64>> {
        let (element, columns, width) = (ElementType::Float64, self.columns as usize, self.width() as usize);
        let (row_bytes, is_big_endian) = (8 * width, cfg!(target_endian = "big"));
        RowsInMemory { first, element, columns, row_bytes, is_big_endian, is_vector: width == 1, numbers }
    }

    fn source(&self, place: ProductPlace) -> ProductSource {
        ProductSource { product: self.clone(), shape: [self.rows(), self.columns], place }
    }
}

/// A product, as passes read it.
pub(crate) struct ProductSource {
    product: SparseProduct,
    shape: [u64; 2],
    place: ProductPlace,
}

enum ProductPlace {
    /// Rows are multiplied as they are needed.
    ByRows {
        factor: InMemory,
    },
    InMemory(RowsInMemory<Large<f64>>),
    /// In a temporary file.
    File(Box<NpySource>),
    /// It will be in memory or in a temporary file.
    Planned {
        is_file: bool,
    },
}

impl ArraySource for ProductSource {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> ElementType {
        ElementType::Float64
    }

    fn describe(&self) -> String {
        let name = self.product.name();
        match self.place {
            ProductPlace::ByRows { .. } => format!("{name} (1 pass, the product is not stored)"),
            ProductPlace::InMemory(_) | ProductPlace::Planned { is_file: false } => format!("{name} (in memory)"),
            ProductPlace::File(_) | ProductPlace::Planned { is_file: true } => format!("{name} (in a temporary file)"),
        }
    }

    fn unit_rows(&self) -> u64 {
        BLOCK_ROWS as u64
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        8 * rows * self.shape[1]
    }

    fn read_bytes(&self, rows: Range<u64>) -> u64 {
        match self.place {
            ProductPlace::ByRows { .. } => {
                let bytes = u128::from(self.product.pages() * PAGE_BYTES as u64);
                let before = |row: u64| (bytes * u128::from(row) / u128::from(self.shape[0])) as u64;
                before(rows.end) - before(rows.start)
            }
            ProductPlace::InMemory(_) | ProductPlace::Planned { is_file: false } => 0,
            ProductPlace::File(_) | ProductPlace::Planned { is_file: true } => {
                8 * (rows.end - rows.start) * self.product.width()
            }
        }
    }

    fn computed_bytes(&self, rows: u64) -> u64 {
        match self.place {
            ProductPlace::ByRows { .. } => 8 * rows.min(self.shape[0]) * self.product.width(),
            _ => 0,
        }
    }

    fn compute_rows(&self, runtime: &Runtime, rows: Range<u64>) -> Result<Option<(Box<dyn Landed>, SweepStats)>> {
        let ProductPlace::ByRows { factor } = &self.place else { return Ok(None) };
        let SparseProduct { matrix, operand, .. } = &self.product;
        let (columns, count) = (self.product.width() as usize, (rows.end - rows.start) as usize);
        let mut numbers = Large::<f64>::zeroed(runtime.budget(), "rows of a product", count * columns)?;
        let mut stats = StatsBuilder::start();
        let own = rows.start as usize..rows.end as usize;
        let matrix = matrix.stopped_by(runtime.cancel());
        matrix.multiply_rows(*operand, own, factor.slice::<f64>(), columns, &mut numbers, &mut stats)?;
        let rows = self.product.in_memory(rows.start, numbers);
        Ok(Some((Box::new(rows), stats.finish(runtime, 1).total)))
    }

    fn reader<'a>(&'a self, runtime: &Runtime, most_rows: u64, depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        match &self.place {
            ProductPlace::File(file) => file.reader(runtime, most_rows, depth),
            ProductPlace::InMemory(rows) => Ok(Box::new(MemoryReader(rows))),
            // Rows are multiplied before they are read: a stretch needs none of these.
            ProductPlace::ByRows { .. } | ProductPlace::Planned { .. } => Ok(Box::new(MemoryReader(&NoRows))),
        }
    }

    fn reader_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        match &self.place {
            ProductPlace::File(file) => file.reader_bytes(most_rows, depth),
            ProductPlace::Planned { is_file: true } => {
                depth as u64 * self.read_bytes(0..most_rows).next_multiple_of(4096)
            }
            _ => 0,
        }
    }
}
