//! PageRank by products with a sparse matrix, with one, two or three vectors in memory.
//!
//! *Idea.* An entry in row i and column j is an edge from i to j, along which i gives a share of its rank. A step is a
//! product of the transpose with the vector of ranks over the sums of rows, the *factor*, and then one sweep over rows,
//! which makes new ranks of the product, and of these the next factor. Ranks themselves are not stored: they are the
//! factor times the sum of the row, or 1 where that is 0. Sums of rows are a product too, with ones.
//!
//! *Vectors.* The factor is picked at random, so it is in memory. The product and the sums of rows are read and written
//! from start to end: each is in memory if there is room, or in a temporary file. Zheng calls these SEM-1vec, SEM-2vec
//! and SEM-3vec. The bits are the same.
//!
//! *Sums* over rows are those of stripes in their order (`tall/mod.rs`).
//!
//! *Cost.* A pass over the columns per step, and one over the rows for their sums; by values one more, for the least of
//! them. Per row 8 bytes for each vector in memory, and 8 of the disk for each of the others. A step reads the sums if
//! they are in the file, and writes and reads the product if it is.
//!
//! The rules and the fixed point are those of PageRank as a graph algorithm (`algo/src/kernels/ranks/pulling.rs`),
//! which keeps sums of rows as degrees and makes the next factor where a list ends. It extrapolates, for it has the
//! ranks of two iterations before; here their place is taken by a single factor.
//!
//! Page, Brin, Motwani and Winograd, *The PageRank citation ranking*, 1999; Zheng, *FlashX: massive data analysis using
//! fast I/O*, 2016, sections 4.4.1 and 4.5.3.1.

use crate::declare::values_bytes;
use crate::operator::{Costs, column_pages, require_real, square_rows};
use crate::tall::Space;
use crate::tall::basis::{Basis, Room, per_worker, temporary_folder};
use crate::tall::vectors::Vectors;
use outcore_algo::{Dangling, Stop, StoppedBy};
use outcore_image::{Error, Result, Stats, require_disk};
use outcore_io::{Buffer, lock};
use outcore_matrix::{Operand, Semiring, SparseMatrix, StoredFile, StoredProduct, StoredTarget};
use std::ops::Range;
use std::sync::Mutex;

const PURPOSE: &str = "vectors of PageRank";
/// Rows that a worker reads of a file at once.
const PIECE_ROWS: usize = 1 << 13;
/// Ranks over sums of rows are finite between these.
const SUMS: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// Options of PageRank.
#[derive(Clone, Copy, Debug)]
pub struct RankOptions<'a> {
    /// The probability of following an edge rather than jumping anywhere.
    pub alpha: f64,
    /// Stop when the residual, the sum of absolute changes, is below this; 0 makes exactly `max_iterations` iterations.
    pub tol: f64,
    /// The bound of the residual: `tol`, or `tol` times the number of rows.
    pub stop: Stop,
    /// The most iterations.
    pub max_iterations: u32,
    /// Treatment of the rank of rows without entries, or with a sum of 0.
    pub dangling: Dangling,
    /// Whether entries count by their values. Otherwise all are the same, and no value is read.
    pub weights: bool,
    /// Weights of the targets of jumps: a number for each row, in the order of ids. Uniform by default.
    pub personalization: Option<&'a [f64]>,
    /// Number of vectors in memory, from 1 to 3; by default as many as fit.
    pub vectors: Option<usize>,
}

impl Default for RankOptions<'_> {
    fn default() -> Self {
        RankOptions {
            alpha: 0.85,
            tol: 1e-8,
            stop: Stop::Residual,
            max_iterations: 200,
            dangling: Dangling::Networkx,
            weights: true,
            personalization: None,
            vectors: None,
        }
    }
}

/// Ranks, and how they converged.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ranks {
    /// One column.
    pub ranks: Vectors,
    /// Number of iterations.
    pub iterations: u32,
    /// The sum of the absolute changes in the last iteration. Ranks are at most alpha / (1 - alpha) times that away
    /// from exact ones, in all.
    pub residual: f64,
    /// Reason for the end of the iterations: whether ranks converged, and by which rule.
    pub stopped_by: StoppedBy,
    /// Number of vectors in memory.
    pub vectors: usize,
    /// Bytes written to temporary files.
    pub temporary_bytes_written: u64,
    /// Bytes read from them.
    pub temporary_bytes_read: u64,
    /// Number of vectors multiplied.
    pub products: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Computes the PageRank of every row of a square matrix, whose entry in row i and column j is an edge from i to j. It
/// has the rules, the defaults and the fixed point of `outcore::pagerank`.
///
/// *Cost.* A pass over the columns per iteration, and one over the rows before, by values two. 8 bytes per row for each
/// of one, two or three vectors in memory, and at least a few hundred KiB per worker.
///
/// # Errors
/// A matrix that is not square; options that cannot be; values that are negative, or whose sum in a row is neither 0
/// nor from 1e-200 to 1e200; too little memory for one vector; a page that cannot be read or is damaged; a full disk; a
/// request to stop. Ranks that have not converged are no error.
pub fn pagerank(matrix: &SparseMatrix, options: &RankOptions<'_>) -> Result<Ranks> {
    let rows = check(matrix, options)?;
    let by_values = options.weights && matrix.has_values();
    let space = Space { runtime: matrix.graph().runtime().clone(), rows, width: 1, is_complex: false };
    let vectors = choose(matrix, &space, options.vectors, by_values)?;
    let mut costs = Costs::by_values(matrix, "PageRank", by_values);
    let _weights = if by_values { Some(matrix.keep_values(Operand::Transpose)?) } else { None };
    let mut walk = Walk::new(matrix, options, space.clone(), vectors, by_values)?;
    walk.begin(&mut costs)?;
    let threshold = options.stop.threshold(options.tol, rows as u64);
    while rows > 0 && walk.iterations < options.max_iterations && walk.residual() >= threshold {
        walk.step(&mut costs)?;
    }
    let (iterations, residual) = (walk.iterations, walk.residual());
    let stopped_by = options.stop.outcome(options.tol, rows as u64, residual);
    let (factor, [temporary_bytes_written, temporary_bytes_read]) = walk.ranks()?;
    let room = Room { folder: temporary_folder(matrix.graph()), left_bytes: 0 };
    let mut basis = Basis::new(space, room, 1)?;
    basis.push(factor);
    let mut stats = costs.stats.finish(matrix.graph().runtime(), column_pages(matrix, by_values));
    stats.stopped_by = Some(stopped_by.name());
    Ok(Ranks {
        ranks: Vectors::new(basis, matrix, 1, Operand::Matrix),
        iterations,
        residual,
        stopped_by,
        vectors,
        temporary_bytes_written,
        temporary_bytes_read,
        products: costs.products,
        stats,
    })
}

/// Refuses what cannot be; says how many rows there are.
fn check(matrix: &SparseMatrix, options: &RankOptions<'_>) -> Result<usize> {
    let rows = square_rows(matrix)?;
    require_real(matrix)?;
    let usage = |text: String| Err(Error::Usage(text));
    if !(0.0..=1.0).contains(&options.alpha) {
        return usage(format!("expected alpha between 0 and 1, found {}", options.alpha));
    }
    if options.tol.is_nan() || options.tol < 0.0 {
        return usage(format!("expected a tolerance of at least 0, found {}", options.tol));
    }
    if let Some(vectors) = options.vectors.filter(|vectors| !(1..=3).contains(vectors)) {
        return usage(format!("expected 1, 2 or 3 vectors in memory, found {vectors}"));
    }
    let Some(numbers) = options.personalization else { return Ok(rows) };
    if numbers.len() != rows {
        return usage(format!("expected {rows} numbers for where jumps go to, found {}", numbers.len()));
    }
    let wrong = |number: &f64| !(*number >= 0.0 && number.is_finite());
    if let Some(row) = numbers.iter().position(wrong) {
        let found = numbers[row];
        return usage(format!("expected numbers of 0 or more for where jumps go to, found {found} in row {row}"));
    }
    let sum: f64 = numbers.iter().sum();
    if rows > 0 && !SUMS.contains(&sum) {
        return usage(format!("expected a sum from 1e-200 to 1e200 for where jumps go to, found {sum}"));
    }
    Ok(rows)
}

/// Number of vectors in memory: the requested one, or as many as fit.
fn choose(matrix: &SparseMatrix, space: &Space, given: Option<usize>, by_values: bool) -> Result<usize> {
    let (graph, workers) = (matrix.graph(), space.runtime.threads() as u64);
    let more_bytes = if by_values { values_bytes(matrix) } else { 0 };
    let bytes = |vectors: usize| {
        let files = 3 - vectors as u64;
        let on_the_way = if files > 0 { StoredFile::state_bytes(matrix) } else { 0 };
        let streaming = on_the_way + 8 * workers * files * PIECE_ROWS.min(space.rows) as u64;
        // In the end there is one vector, which may have to get to a file.
        vectors as u64 * space.block_bytes() + streaming.max(Basis::pieces_bytes(space)) + more_bytes
    };
    let available_bytes = space.runtime.budget().available_bytes();
    let vectors = given.unwrap_or_else(|| (2..=3).rev().find(|&count| bytes(count) <= available_bytes).unwrap_or(1));
    graph.make_room(PURPOSE, bytes(vectors))?;
    let disk_bytes = (3 - vectors as u64) * space.block_bytes();
    let (backend, folder) = (space.runtime.backend(), temporary_folder(graph));
    require_disk(backend, "temporary files of PageRank", disk_bytes, disk_bytes, &folder)?;
    Ok(vectors)
}

/// A vector that is written and read from start to end.
enum Store {
    Memory(Buffer<f64>),
    File(StoredFile),
}

impl Store {
    /// One in memory, if it is to be there.
    fn new(matrix: &SparseMatrix, space: &Space, in_memory: bool) -> Result<Self> {
        Ok(match in_memory {
            true => Store::Memory(Buffer::zeroed(space.runtime.budget(), PURPOSE, space.rows)?),
            false => Store::File(StoredFile::create(matrix, space.rows, 1)?),
        })
    }

    fn target(&mut self) -> StoredTarget<'_> {
        match self {
            Store::Memory(numbers) => StoredTarget::Memory(numbers),
            Store::File(file) => StoredTarget::File(file),
        }
    }

    /// Some numbers, which are read into the buffer if they are not in memory.
    fn piece<'b>(&'b self, rows: Range<usize>, buffer: &'b mut [f64]) -> Result<&'b [f64]> {
        match self {
            Store::Memory(numbers) => Ok(&numbers[rows]),
            Store::File(file) => {
                let buffer = &mut buffer[..rows.len()];
                file.read(rows, buffer)?;
                Ok(buffer)
            }
        }
    }

    fn written_bytes(&self) -> u64 {
        if let Store::File(file) = self { file.written_bytes() } else { 0 }
    }

    /// Whether it is in a file, as a number.
    fn files(&self) -> u64 {
        u64::from(matches!(self, Store::File(_)))
    }
}

/// Between two iterations.
struct Walk<'a, 'o> {
    matrix: &'a SparseMatrix,
    options: &'o RankOptions<'o>,
    space: Space,
    by_values: bool,
    /// Ranks over the sums of their rows.
    factor: Buffer<f64>,
    product: Store,
    sums: Store,
    buffers: Vec<Mutex<Buffer<f64>>>,
    /// Divisor of the weights of jumps.
    jumps: f64,
    /// The rank of all rows with a sum of 0.
    dangling: f64,
    /// Whether iterations spread it.
    spread: bool,
    /// The sum of absolute changes in the last iteration, before ranks are scaled.
    change: f64,
    iterations: u32,
    read_bytes: u64,
}

impl<'a, 'o> Walk<'a, 'o> {
    fn new(
        matrix: &'a SparseMatrix,
        options: &'o RankOptions<'o>,
        space: Space,
        vectors: usize,
        by_values: bool,
    ) -> Result<Self> {
        Ok(Walk {
            matrix,
            options,
            by_values,
            factor: Buffer::zeroed(space.runtime.budget(), PURPOSE, space.rows)?,
            product: Store::new(matrix, &space, vectors > 1)?,
            sums: Store::new(matrix, &space, vectors > 2)?,
            buffers: per_worker(&space, "pieces of vectors", (3 - vectors) * PIECE_ROWS.min(space.rows))?,
            jumps: options.personalization.map_or(1.0, |numbers| numbers.iter().sum()),
            dangling: 0.0,
            spread: options.dangling.spreads(options.alpha, options.tol, matrix.graph().is_directed()),
            change: if space.rows == 0 { 0.0 } else { f64::INFINITY },
            iterations: 0,
            read_bytes: 0,
            space,
        })
    }

    /// The factor from the ranks of the iterations to those of the rule.
    fn scale(&self) -> f64 {
        if self.spread { self.options.dangling.factor(self.options.alpha, self.dangling) } else { 1.0 }
    }

    fn residual(&self) -> f64 {
        self.change * self.scale()
    }

    fn how(&self, operand: Operand) -> StoredProduct {
        StoredProduct { semiring: Semiring::PlusTimes, operand, by_values: self.by_values }
    }

    /// Computes the sums of rows, and the first factor, of ranks that are all the same.
    fn begin(&mut self, costs: &mut Costs) -> Result<()> {
        if self.space.rows == 0 {
            return Ok(());
        }
        let image = self.matrix.graph().path().display();
        if self.by_values {
            let least = self.matrix.entry_sums(&mut costs.stats)?.least;
            if least < 0.0 {
                let text = format!("expected entries of 0 or more for PageRank in {image}, found {least}");
                return Err(Error::Unsuitable(text));
            }
        }
        self.factor.fill(1.0);
        let how = self.how(Operand::Matrix);
        self.matrix.multiply_stored(how, &self.factor, 1, self.sums.target(), &mut costs.stats)?;
        costs.count(1);
        let rank = 1.0 / self.space.rows as f64;
        let [dangling, wrong] = self.sweep(false, |_, factor, _, sums, [dangling, wrong]| {
            for (factor, &sum) in factor.iter_mut().zip(sums) {
                if sum == 0.0 {
                    *dangling += 1.0;
                } else if !SUMS.contains(&sum) {
                    *wrong += 1.0;
                }
                *factor = rank / divisor(sum);
            }
        })?;
        if wrong > 0.0 {
            let text = format!("sums of rows for PageRank from 1e-200 to 1e200, or 0, in {image}");
            return Err(Error::Unsuitable(format!("expected {text}, found others in {wrong} rows")));
        }
        self.dangling = dangling * rank;
        Ok(())
    }

    /// An iteration: a product, and a sweep over rows.
    fn step(&mut self, costs: &mut Costs) -> Result<()> {
        let how = self.how(Operand::Transpose);
        self.matrix.multiply_stored(how, &self.factor, 1, self.product.target(), &mut costs.stats)?;
        costs.count(1);
        let RankOptions { alpha, personalization, .. } = *self.options;
        let spread = if self.spread { self.dangling } else { 0.0 };
        // Rank from jumps: the total, and the share of each row if jumps are uniform.
        let jumped = alpha * spread + (1.0 - alpha);
        let (even, jumps, matrix) = (1.0 / self.space.rows as f64, self.jumps, self.matrix);
        let is_first = self.iterations == 0;
        let [change, dangling] = self.sweep(true, |rows, factor, product, sums, [change, dangling]| {
            for (((row, factor), &gathered), &sum) in rows.zip(factor).zip(product).zip(sums) {
                let share = personalization.map_or(even, |numbers| numbers[matrix.row_at(row)] / jumps);
                let before = if is_first { even } else { *factor * divisor(sum) };
                let rank = jumped * share + alpha * gathered;
                *change += (rank - before).abs();
                *dangling += if sum == 0.0 { rank } else { 0.0 };
                *factor = rank / divisor(sum);
            }
        })?;
        self.change = change;
        self.dangling = dangling;
        self.iterations += 1;
        Ok(())
    }

    /// Changes the factor in one pass over the vectors: calls `work` with some rows, the numbers of the factor, of the
    /// product if it is wanted, and of the sums of rows, and with sums that it adds to. Returns these.
    fn sweep<const N: usize>(
        &mut self,
        with_product: bool,
        work: impl Fn(Range<usize>, &mut [f64], &[f64], &[f64], &mut [f64; N]) + Sync,
    ) -> Result<[f64; N]> {
        let Walk { space, product, sums, buffers, factor, .. } = self;
        let parts = space.stripes_of(factor, |worker, rows, factor| {
            let (first, mut totals) = (rows.start, [0.0; N]);
            let mut buffer = lock(&buffers[worker]);
            for piece in space.pieces(rows, PIECE_ROWS) {
                let factor = &mut factor[piece.start - first..piece.end - first];
                let place = (product.files() as usize * PIECE_ROWS).min(buffer.len());
                let (one, other) = buffer.split_at_mut(place.min(space.rows));
                let product = if with_product { product.piece(piece.clone(), one)? } else { &[] };
                work(piece.clone(), factor, product, sums.piece(piece, other)?, &mut totals);
            }
            Ok(totals)
        })?;
        let files = sums.files() + if with_product { product.files() } else { 0 };
        self.read_bytes += files * space.block_bytes();
        Ok(parts.iter().fold([0.0; N], |total, part| std::array::from_fn(|i| total[i] + part[i])))
    }

    /// Makes ranks of the factor; says how many bytes were written to files, and read from them.
    fn ranks(mut self) -> Result<(Buffer<f64>, [u64; 2])> {
        let even = 1.0 / self.space.rows as f64;
        let (is_first, scale) = (self.iterations == 0, self.scale());
        let [] = self.sweep(false, |_, factor, _, sums, []| {
            for (factor, &sum) in factor.iter_mut().zip(sums) {
                *factor = scale * if is_first { even } else { *factor * divisor(sum) };
            }
        })?;
        let written_bytes = self.product.written_bytes() + self.sums.written_bytes();
        Ok((self.factor, [written_bytes, self.read_bytes]))
    }
}

/// Divisor of the rank of a row with this sum.
#[inline]
fn divisor(sum: f64) -> f64 {
    if sum == 0.0 { 1.0 } else { sum }
}
