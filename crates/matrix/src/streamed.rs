//! Products whose factor or result, or both, are in files, larger than memory.
//!
//! *Vertical partitioning.* A pass has as many columns of the factor in memory as there is room for, in the order of
//! the image, and finishes as many columns of the product, row by row, which go to a file (`product_file.rs`). Columns
//! in memory are better than a page cache of the same size: with E bytes of the sparse matrix and M of memory, of which
//! M' hold columns of the factor, F bytes in all, `F / M' (E - (M - M'))` bytes are read, the least for M' = M.
//!
//! *The factor.* Columns that lie together are read once. Of rows, a pass would read all to have some columns; so, if
//! there are more than two passes, the first one, which reads everything, puts the columns of the others into panels in
//! a temporary file. Two passes read it twice: as many bytes, and none of them written.
//!
//! *Cost.* `8 n` bytes per column of a pass; 4 per row of the factor, if the image is not in the order of ids;
//! beside that up to a megabyte per worker, and a sixteenth of the memory for rows on their way.
//!
//! Zheng, *FlashX: massive data analysis using fast I/O*, 2016, sections 4.3.1 and 4.3.6.

use crate::dense::{DenseFile, PieceBuffers};
use crate::product_file::{Bands, MOST_PASSES, Output, Placing, ProductFile, Rows, write_bands};
use crate::semiring::Semiring;
use crate::sparse::{Given, MultiplyPlan, Operand, PURPOSE, Side, Source, SparseMatrix, Target, check_semiring};
use outcore_graph::{PAGE_BYTES, vertex_map};
use outcore_image::{Error, Result, Stats, StatsBuilder, require_disk};
use outcore_io::buffer::{raw_bytes, shared};
use outcore_io::{AtomicF64, Buffer, Runtime, Spill};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Precision of the memory that is enough for a product.
const PLANNED_STEP_BYTES: u64 = 16 << 10;
/// The least and the most bytes of a piece of the factor that a worker reads.
const PIECE_BYTES: Range<u64> = 16 << 10..256 << 10;

/// A dense matrix to be multiplied.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum DenseFactor<'a> {
    /// Numbers in memory, row by row.
    Numbers {
        /// The numbers: two for each complex one.
        numbers: &'a [f64],
        /// Number of columns.
        columns: usize,
        /// Whether they are complex. If the sparse matrix is, they must be.
        is_complex: bool,
    },
    /// A file. If the sparse matrix is complex, numbers of any kind become complex ones.
    File(&'a DenseFile),
    /// Real numbers that are not there yet, to plan with.
    Planned {
        /// Number of rows.
        rows: u64,
        /// Number of columns.
        columns: usize,
        /// Whether they will be in a file, by columns, and not in memory.
        in_file: bool,
    },
}

/// Destination of a product.
#[derive(Debug)]
#[non_exhaustive]
pub enum DenseProduct<'a> {
    /// Numbers in memory, row by row, two for each complex one.
    Numbers(&'a mut [f64]),
    /// A file.
    File(&'a ProductFile),
}

/// A product in a file that is complete, but does not have its name yet, so that it can be verified first.
pub struct UnnamedProduct {
    output: Output,
    cost: StreamedProduct,
}

impl std::fmt::Debug for UnnamedProduct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UnnamedProduct").field("cost", &self.cost).finish_non_exhaustive()
    }
}

impl UnnamedProduct {
    /// Statistics of the product.
    pub fn cost(&self) -> &StreamedProduct {
        &self.cost
    }

    /// Whether rows are in the order of the image, as in temporary files, and not in that of ids.
    pub fn is_as_stored(&self) -> bool {
        self.output.placing().as_stored
    }

    /// The numbers, to be read.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn numbers(&self, runtime: &Runtime) -> Result<DenseFile> {
        self.output.numbers(runtime)
    }

    /// Copies adjacent rows of a temporary file, in the order of the image, row by row; complex numbers are two each.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    ///
    /// # Panics
    /// The product is in another file; room for other numbers than those of the rows.
    pub fn copy_rows(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        self.output.copy_rows(rows, numbers)
    }

    /// Gives a new file its name. A temporary one has none, and vanishes.
    ///
    /// # Errors
    /// Errors of the operating system; then there is no new file.
    pub fn commit(self) -> Result<StreamedProduct> {
        self.output.commit()?;
        Ok(self.cost)
    }
}

/// Statistics of a product with files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StreamedProduct {
    /// The passes over the sparse matrix.
    pub stats: Stats,
    /// Bytes read of the factor's file.
    pub factor_bytes_read: u64,
    /// Bytes written to the product's file.
    pub product_bytes_written: u64,
    /// Bytes written to temporary files; they were read again.
    pub temporary_bytes_written: u64,
}

/// Plan of a product with files.
struct Job<'a> {
    operand: Operand,
    rows: Side,
    inner: Side,
    /// Columns of numbers, and how many of them an element has.
    columns: usize,
    parts: usize,
    file: Option<&'a DenseFile>,
    plan: MultiplyPlan,
    /// Columns of numbers of a pass.
    width: usize,
    piece_bytes: usize,
    bands: Option<Bands>,
    panels: bool,
}

impl DenseFactor<'_> {
    /// Refuses a factor that is there to plan with.
    fn check_there(&self) -> Result<()> {
        match self {
            DenseFactor::Planned { .. } => {
                Err(Error::Usage("expected a factor with numbers to multiply, found one to plan with".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn shape(&self) -> (u64, usize, bool) {
        match *self {
            DenseFactor::File(file) => (file.shape().0, file.shape().1 as usize, file.is_complex()),
            DenseFactor::Planned { rows, columns, .. } => (rows, columns, false),
            DenseFactor::Numbers { numbers, columns, is_complex } => {
                let row = columns * if is_complex { 2 } else { 1 };
                (numbers.len().checked_div(row).unwrap_or(0) as u64, columns, is_complex)
            }
        }
    }
}

impl SparseMatrix {
    /// Plans a product by [`SparseMatrix::multiply_streamed`] in the memory that is free now, less `taken_bytes` for
    /// other uses. `output` is the file of the product, if it goes to one.
    ///
    /// # Errors
    /// Shapes that do not fit; there is no room for one column.
    pub fn plan_streamed(
        &self,
        operand: Operand,
        factor: DenseFactor<'_>,
        output: Option<&ProductFile>,
        taken_bytes: u64,
    ) -> Result<MultiplyPlan> {
        Ok(self.job(operand, factor, output.map(ProductFile::placing).transpose()?, taken_bytes)?.plan)
    }

    /// About the least memory that is enough for a product by [`SparseMatrix::multiply_streamed`].
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn least_streamed_bytes(
        &self,
        operand: Operand,
        factor: DenseFactor<'_>,
        output: Option<&ProductFile>,
    ) -> Result<u64> {
        let placing = output.map(ProductFile::placing).transpose()?;
        Ok(self.task(operand, factor, placing)?.least_bytes())
    }

    /// Writes the product with a dense matrix to a file or to memory, where the factor is in a file or in memory: those
    /// in files may be larger than memory. The bits are those of [`SparseMatrix::multiply`].
    ///
    /// A product that is not as the image is ordered, or that takes several passes, is put together in a temporary file
    /// first, and so are the columns of a factor in rows, if there are more than two passes: beside the image, or where
    /// the runtime says.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::multiply`]; a file that cannot be read or written; a full disk. No new file exists
    /// after an error.
    pub fn multiply_streamed(
        &self,
        semiring: Semiring,
        operand: Operand,
        factor: DenseFactor<'_>,
        product: DenseProduct<'_>,
    ) -> Result<StreamedProduct> {
        factor.check_there()?;
        let numbers = match product {
            DenseProduct::File(file) => return self.multiply_to_file(semiring, operand, factor, file)?.commit(),
            DenseProduct::Numbers(numbers) => numbers,
        };
        check_semiring(semiring, self.is_complex() || factor.shape().2)?;
        let mut stats = self.begin();
        let job = self.job(operand, factor, None, 0)?;
        if numbers.len() != job.rows.count * job.columns {
            let expected = format!("{} x {} numbers for the product", job.rows.count, job.columns);
            return Err(Error::Usage(format!("expected {expected}, found {}", numbers.len())));
        }
        let target = Target::Memory(shared(numbers));
        let factor_bytes = self.multiply_job(semiring, &job, factor, target, self.places(), &mut stats)?;
        Ok(self.cost(&job, stats, factor_bytes, [0, 0]))
    }

    /// Multiplies into a file that does not have its final name yet.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::multiply_streamed`].
    pub fn multiply_to_file(
        &self,
        semiring: Semiring,
        operand: Operand,
        factor: DenseFactor<'_>,
        product: &ProductFile,
    ) -> Result<UnnamedProduct> {
        factor.check_there()?;
        check_semiring(semiring, self.is_complex() || factor.shape().2)?;
        let (mut stats, graph) = (self.begin(), self.graph());
        // A product that fits neither memory nor the file is refused before a file is created.
        let Job { rows, columns, parts, .. } = self.job(operand, factor, Some(Placing::default()), 0)?;
        let output = Output::open(graph, product, rows.count, columns, parts)?;
        let placing = output.placing();
        let job = self.job(operand, factor, Some(placing), 0)?;
        self.require_disk(&job, product)?;
        let Some(bands) = job.bands else { unreachable!("a product in a file has bands") };
        let places = self.places().filter(|_| !placing.as_stored);
        let streams = if bands.is_direct { None } else { Some(bands.streams(graph)?) };
        let rows = Rows::new(graph.runtime(), &output, bands, streams.as_ref())?;
        let factor_bytes = self.multiply_job(semiring, &job, factor, Target::Rows(&rows), places, &mut stats)?;
        let chains = rows.finish()?;
        let temporary_bytes = match &streams {
            Some(streams) => write_bands(graph.runtime(), &output, bands, streams, &chains)?,
            None => 0,
        };
        let cost = self.cost(&job, stats, factor_bytes, [output.written_bytes(), temporary_bytes]);
        Ok(UnnamedProduct { output, cost })
    }

    /// Starts the statistics of a product.
    fn begin(&self) -> StatsBuilder {
        let mut stats = StatsBuilder::start();
        let weights = self.graph().manifest().weights().filter(|_| self.has_values());
        stats.weights(weights.map(|weights| weights.name.as_str()));
        stats
    }

    /// Statistics of a product: bytes of the factor that were read and kept in a temporary file, and bytes that were
    /// written to the product's file and to its temporary one.
    fn cost(&self, job: &Job<'_>, stats: StatsBuilder, factor: [u64; 2], product: [u64; 2]) -> StreamedProduct {
        StreamedProduct {
            stats: stats.finish(self.graph().runtime(), job.plan.bytes_per_pass / PAGE_BYTES),
            factor_bytes_read: factor[0],
            product_bytes_written: product[0],
            temporary_bytes_written: product[1] + factor[1],
        }
    }

    /// All passes of a product. Returns the bytes of the factor that were read, and those that were kept in a temporary
    /// file.
    fn multiply_job(
        &self,
        semiring: Semiring,
        job: &Job<'_>,
        factor: DenseFactor<'_>,
        target: Target<'_, '_>,
        product_places: Option<&Buffer<u32>>,
        stats: &mut StatsBuilder,
    ) -> Result<[u64; 2]> {
        let panels = if job.panels { Some(job.panels(self)?) } else { None };
        let read_before = job.file.map_or(0, DenseFile::read_bytes);
        let from_file = job.file.map(|file| job.factor(self, file, panels.as_ref())).transpose()?;
        let source = match (&from_file, factor) {
            (Some(from_file), _) => Source::File(from_file),
            (None, DenseFactor::Numbers { numbers, .. }) => Source::Memory(numbers),
            (None, DenseFactor::File(_)) => unreachable!("a job has the file of its factor"),
            (None, DenseFactor::Planned { .. }) => unreachable!("a factor that is multiplied is there"),
        };
        let (columns, places) = (job.columns, self.places());
        let given = Given { factor: source, columns, places, product_places, by_values: true, only: None };
        self.multiply_given(semiring, job.operand, given, target, job.plan.columns_per_pass, stats)?;
        let read_bytes = job.file.map_or(0, DenseFile::read_bytes) - read_before;
        Ok([read_bytes, from_file.map_or(0, |factor| factor.panel_bytes.into_inner())])
    }

    /// The product, if its shapes fit.
    fn task<'a>(&self, operand: Operand, factor: DenseFactor<'a>, output: Option<Placing>) -> Result<Task<'_, 'a>> {
        let ((_, rows, inner), (found_rows, columns, is_complex)) = (self.rows_of(operand), factor.shape());
        let is_empty = matches!(factor, DenseFactor::Numbers { columns: 0, .. });
        let numbers = if let DenseFactor::Numbers { numbers, .. } = factor { numbers.len() } else { 0 };
        let parts = if is_complex { 2 } else { self.parts() };
        let widened = matches!(factor, DenseFactor::Numbers { .. }) && self.is_complex() && !is_complex;
        let ragged = numbers % (columns * parts).max(1) != 0;
        if found_rows != inner.count as u64 && !is_empty || widened || ragged {
            let expected = format!("{} rows to multiply a matrix of {} x {}", inner.count, rows.count, inner.count);
            let found = if widened { "real numbers for a complex matrix".to_owned() } else { found_rows.to_string() };
            return Err(Error::Usage(format!("expected {expected}, found {found}")));
        }
        Ok(Task { matrix: self, operand, rows, inner, columns: columns * parts, parts, factor, output })
    }

    fn job<'a>(
        &self,
        operand: Operand,
        factor: DenseFactor<'a>,
        output: Option<Placing>,
        taken_bytes: u64,
    ) -> Result<Job<'a>> {
        let task = self.task(operand, factor, output)?;
        let available_bytes = self.graph().runtime().budget().available_bytes().saturating_sub(taken_bytes);
        let mut job = task.within(available_bytes);
        if job.plan.state_bytes > available_bytes {
            let least_bytes = task.least_bytes();
            self.graph().make_room(PURPOSE, taken_bytes.saturating_add(least_bytes))?;
            job = task.within(least_bytes);
        }
        job.plan.state_bytes += taken_bytes;
        if job.plan.passes as usize >= MOST_PASSES {
            return Err(Error::Usage(format!("expected fewer than {MOST_PASSES} passes, found {}", job.plan.passes)));
        }
        Ok(job)
    }

    /// An error if there is not enough space for the product, or for temporary files.
    fn require_disk(&self, job: &Job<'_>, given: &ProductFile) -> Result<()> {
        let MultiplyPlan { product_bytes, mut temporary_bytes, .. } = job.plan;
        let (backend, folder) = (self.graph().runtime().backend(), outcore_io::folder);
        match given {
            ProductFile::New { path, .. } => {
                require_disk(backend, "a product in a file", product_bytes, product_bytes, folder(path))?;
            }
            ProductFile::Temporary { .. } => temporary_bytes += product_bytes,
            ProductFile::Part { .. } => {}
        }
        let temporary = self.graph().image().temporary_path("product");
        require_disk(backend, "temporary files of a product", temporary_bytes, temporary_bytes, folder(&temporary))
    }
}

/// A product that is to be planned.
struct Task<'m, 'a> {
    matrix: &'m SparseMatrix,
    operand: Operand,
    rows: Side,
    inner: Side,
    /// Columns of numbers, and how many of them an element has.
    columns: usize,
    parts: usize,
    factor: DenseFactor<'a>,
    output: Option<Placing>,
}

impl<'a> Task<'_, 'a> {
    /// The product in this memory. If it has no room for a column, the plan is that of one, and needs more.
    fn within(&self, available_bytes: u64) -> Job<'a> {
        let &Task { matrix, operand, rows, inner, columns, parts, factor, output } = self;
        let runtime = matrix.graph().runtime();
        let file = if let DenseFactor::File(file) = factor { Some(file) } else { None };
        let is_streamed = matches!(factor, DenseFactor::File(_) | DenseFactor::Planned { in_file: true, .. });
        let piece_bytes = available_bytes / 64 / runtime.threads() as u64;
        let piece_bytes = piece_bytes.clamp(PIECE_BYTES.start, PIECE_BYTES.end) as usize & !63;
        let in_order = matrix.places().is_none();
        let reading_bytes = match is_streamed {
            true => PieceBuffers::bytes(runtime, piece_bytes) + if in_order { 0 } else { 4 * inner.count as u64 },
            false => 0,
        };
        let plan = |bands: Option<Bands>| {
            let beside_bytes = reading_bytes + bands.map_or(0, |bands| bands.state_bytes());
            let columns_bytes = available_bytes.saturating_sub(beside_bytes);
            let plan = matrix.plan_within(operand, columns / matrix.parts(), columns_bytes);
            MultiplyPlan { state_bytes: plan.state_bytes + beside_bytes, ..plan }
        };
        let banded = output.map(|_| Bands::new(runtime, rows.count, columns, available_bytes));
        let Placing { by_columns, as_stored } = output.unwrap_or_default();
        let as_stored = as_stored || in_order;
        let direct = banded.filter(|_| as_stored && !by_columns).map(|bands| Bands { is_direct: true, ..bands });
        let (mut bands, mut job_plan) = match direct.map(|direct| (direct, plan(Some(direct)))) {
            Some((direct, plan)) if plan.passes <= 1 && plan.state_bytes <= available_bytes => (Some(direct), plan),
            _ => (banded, plan(banded)),
        };
        let width = job_plan.columns_per_pass * matrix.parts();
        bands = bands.map(|bands| Bands { pass_columns: width.min(columns.max(1)), ..bands });
        let panels = file.is_some_and(|file| !file.by_columns()) && job_plan.passes > 2;
        job_plan.factor_bytes = file.map_or(0, |file| {
            let halves = parts > width && file.is_complex();
            let times = if file.by_columns() { 1 + u64::from(halves) } else { job_plan.passes };
            file.len_bytes() * if panels { 1 } else { times }
        });
        job_plan.product_bytes = if output.is_some() { 8 * (rows.count * columns) as u64 } else { 0 };
        let panel_bytes = if panels { 8 * (inner.count * (columns - width)) as u64 } else { 0 };
        job_plan.temporary_bytes = panel_bytes + bands.map_or(0, |bands| bands.temporary_bytes(as_stored));
        Job { operand, rows, inner, columns, parts, file, plan: job_plan, width, piece_bytes, bands, panels }
    }

    /// About the least memory that is enough: for one column, and buffers that grow with what there is.
    fn least_bytes(&self) -> u64 {
        let is_enough = |bytes: u64| self.within(bytes).plan.state_bytes <= bytes;
        let mut enough_bytes = 1 << 20;
        while !is_enough(enough_bytes) && enough_bytes < 1 << 62 {
            enough_bytes *= 2;
        }
        let mut too_little = 0;
        while enough_bytes - too_little > PLANNED_STEP_BYTES {
            let middle = too_little.midpoint(enough_bytes);
            *(if is_enough(middle) { &mut enough_bytes } else { &mut too_little }) = middle;
        }
        enough_bytes
    }
}

impl<'a> Job<'a> {
    fn panels(&self, matrix: &SparseMatrix) -> Result<Spill> {
        let path = matrix.graph().image().temporary_path("factor");
        Spill::create(matrix.graph().runtime().backend(), &path)
    }

    fn factor(
        &self,
        matrix: &'a SparseMatrix,
        file: &'a DenseFile,
        panels: Option<&'a Spill>,
    ) -> Result<FileFactor<'a>> {
        let (&Job { inner, columns, parts, width, .. }, runtime) = (self, matrix.graph().runtime());
        let (buffers, panel_bytes) = (PieceBuffers::new(runtime, self.piece_bytes)?, AtomicU64::new(0));
        let vertices = matrix.places().map(|places| vertices(runtime, places, inner)).transpose()?;
        Ok(FileFactor { runtime, file, inner, vertices, columns, parts, width, buffers, panels, panel_bytes })
    }
}

/// Position in the image of each row, rows in the order of ids.
fn vertices(runtime: &Runtime, places: &[u32], Side { first, count }: Side) -> Result<Buffer<u32>> {
    let mut vertices = Buffer::zeroed(runtime.budget(), "rows of vertices", count)?;
    for (&place, vertex) in places[first..first + count].iter().zip(0..) {
        vertices[place as usize - first] = vertex;
    }
    Ok(vertices)
}

/// A factor in a file, of which each pass takes some columns.
pub(crate) struct FileFactor<'a> {
    runtime: &'a Runtime,
    file: &'a DenseFile,
    inner: Side,
    /// Position in the image of each row of the file, if the image is in another order.
    vertices: Option<Buffer<u32>>,
    columns: usize,
    parts: usize,
    /// Columns of numbers of a pass.
    width: usize,
    buffers: PieceBuffers,
    /// Temporary file of the columns of later passes, if there is one; the first pass fills it.
    panels: Option<&'a Spill>,
    panel_bytes: AtomicU64,
}

impl FileFactor<'_> {
    /// Reads some columns, side by side, with rows in the order of vertices, and zeros up to the width.
    pub fn load(&self, range: Range<usize>, width: usize, numbers: &[AtomicF64]) -> Result<()> {
        let (runtime, buffers, vertices) = (self.runtime, &self.buffers, self.vertices.as_deref());
        if range.len() < width {
            vertex_map(runtime, self.inner.count as u64, |rows| {
                let rows = numbers[rows.start * width..rows.end * width].chunks_exact(width);
                rows.for_each(|row| row[range.len()..].iter().for_each(|to| to.store(0.0)));
                Ok(())
            })?;
        }
        let take = |first: usize, rows: Range<usize>, columns: Range<usize>, piece: &[f64]| {
            let wanted = range.start.max(columns.start)..range.end.min(columns.end);
            let skip = wanted.start.saturating_sub(columns.start);
            for (row, found) in rows.zip(piece.chunks_exact(columns.len())) {
                let to = vertices.map_or(row, |vertices| vertices[row] as usize) * width;
                let to = &numbers[to + wanted.start.min(wanted.end) - first..to + wanted.end - first];
                to.iter().zip(&found[skip..]).for_each(|(to, &number)| to.store(number));
            }
        };
        match self.panels {
            Some(panels) if range.start > 0 => {
                let (start, count) = (range.start, range.len());
                let panel = DenseFile::temporary(panels, self.panel_offset(start), self.inner.count, count)?;
                panel.for_each_piece(runtime, buffers, 0..count, 1, |rows, columns, piece, _| {
                    take(start, rows, columns.start + start..columns.end + start, piece);
                    Ok(())
                })
            }
            Some(panels) => {
                self.file.for_each_piece(runtime, buffers, 0..self.columns, self.parts, |rows, columns, piece, room| {
                    self.fill_panels(panels, &rows, &columns, piece, room)?;
                    if columns.start < range.end {
                        take(0, rows, columns, piece);
                    }
                    Ok(())
                })
            }
            None => self.file.for_each_piece(runtime, buffers, range.clone(), self.parts, |rows, columns, piece, _| {
                take(range.start, rows, columns, piece);
                Ok(())
            }),
        }
    }

    /// Offset in bytes of the panel whose first column this is.
    fn panel_offset(&self, column: usize) -> u64 {
        8 * (self.inner.count * (column - self.width)) as u64
    }

    /// Writes the columns of a piece that belong to later passes to their panels.
    fn fill_panels(
        &self,
        panels: &Spill,
        rows: &Range<usize>,
        columns: &Range<usize>,
        piece: &[f64],
        room: &mut [f64],
    ) -> Result<()> {
        for start in (self.width..self.columns).step_by(self.width) {
            let panel = start..self.columns.min(start + self.width);
            let wanted = panel.start.max(columns.start)..panel.end.min(columns.end);
            if wanted.is_empty() {
                continue;
            }
            let count = rows.len() * wanted.len();
            let lines = piece.chunks_exact(columns.len()).zip(room.chunks_exact_mut(wanted.len()));
            lines.for_each(|(from, to)| to.copy_from_slice(&from[wanted.start - columns.start..][..wanted.len()]));
            // A piece that has only some columns of a panel has one row.
            assert!(wanted.len() == panel.len() || rows.len() == 1, "pieces have whole rows, or one");
            let place = rows.start * panel.len() + wanted.start - panel.start;
            panels.write(raw_bytes(&room[..count]), self.panel_offset(start) + 8 * place as u64)?;
            self.panel_bytes.fetch_add(8 * count as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}
