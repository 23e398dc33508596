//! Tall matrices: as many rows as a sparse one, and a few columns, row by row in memory.
//!
//! Sums over their rows are those of *stripes*, adjacent rows that one worker takes at a time, added up in their order.
//! Stripes depend on the number of rows alone, so the bits do not depend on threads.

pub(crate) mod basis;
pub(crate) mod complex;
pub(crate) mod kernels;
pub(crate) mod orthonormal;
pub(crate) mod panels;
pub(crate) mod vectors;

use crate::tall::complex::complex_dots;
use crate::tall::kernels::{MOST_WIDTH, Square, add_product, dots, transform};
use faer::Mat;
use outcore_image::{Error, Result};
use outcore_io::{Buffer, Runtime, SPLIT_MIX_STEP, lock, split_mix};
use outcore_table::SWEPT_NUMBERS;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers of a stripe that are worked on together: they stay in the processor's cache.
const PIECE_NUMBERS: usize = 1 << 16;
/// Numbers of a stripe that one step of [`Space::update`] works on: those of several blocks stay in the nearest cache.
pub(crate) const FEW_NUMBERS: usize = 1 << 11;
/// About the most stripes that rows are split into: each keeps sums of its own.
const MOST_STRIPES: usize = 256;
/// Numbers that are worth a worker of their own.
const LEAST_TASK_NUMBERS: usize = 1 << 16;

/// Shape of blocks: `rows` rows and `width` columns.
#[derive(Clone)]
pub(crate) struct Space {
    pub runtime: Runtime,
    pub rows: usize,
    /// 1, 2, 4 or 8.
    pub width: usize,
    /// Whether two columns are the parts of a complex one.
    pub is_complex: bool,
}

pub(crate) const ZERO: Square = [[0.0; MOST_WIDTH]; MOST_WIDTH];

/// Rows and columns of the entries of a small square matrix, row by row.
pub(crate) fn entries(width: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..width * width).map(move |at| (at / width, at % width))
}

/// A block of a small matrix, which has blocks of this width.
pub(crate) fn square_at(matrix: &Mat<f64>, width: usize, row: usize, column: usize) -> Square {
    let mut square = ZERO;
    entries(width).for_each(|(i, k)| square[i][k] = matrix[(row * width + i, column * width + k)]);
    square
}

/// Writes a block of a small matrix, as far as the matrix reaches.
pub(crate) fn set_square(matrix: &mut Mat<f64>, width: usize, row: usize, column: usize, square: &Square) {
    let places = entries(width).map(|(i, k)| (row * width + i, column * width + k, square[i][k]));
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    places.filter(|&(i, k, _)| i < rows && k < columns).for_each(|(i, k, entry)| matrix[(i, k)] = entry);
}

impl Space {
    pub fn numbers(&self) -> usize {
        self.rows * self.width
    }

    pub fn block_bytes(&self) -> u64 {
        8 * self.numbers() as u64
    }

    /// A block of zeros.
    pub fn zeros(&self, purpose: &str) -> Result<Buffer<f64>> {
        Buffer::zeroed(self.runtime.budget(), purpose, self.numbers())
    }

    /// Number of rows processed together.
    pub fn piece_rows(&self) -> usize {
        PIECE_NUMBERS / self.width
    }

    fn stripe_rows(&self) -> usize {
        self.rows.div_ceil(MOST_STRIPES).next_multiple_of(self.piece_rows())
    }

    /// Upper bound of the number of stripes, for these rows or fewer.
    pub fn most_stripes(&self) -> usize {
        MOST_STRIPES.min(self.rows.div_ceil(self.piece_rows()))
    }

    pub fn pieces(&self, rows: Range<usize>, step: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let end = rows.end;
        rows.step_by(step).map(move |start| start..end.min(start + step))
    }

    /// Calls `work` with a worker's number and the rows of every stripe; returns what it returns in their order.
    pub fn stripes<T: Send>(&self, work: impl Fn(usize, Range<usize>) -> Result<T> + Sync) -> Result<Vec<T>> {
        let step = self.stripe_rows().max(1);
        self.tasks(self.rows.div_ceil(step), |worker, stripe| {
            work(worker, stripe * step..self.rows.min((stripe + 1) * step))
        })
    }

    /// Calls `work` with a worker's number and the number of every task; returns what it returns in their order.
    pub fn tasks<T: Send>(&self, count: usize, work: impl Fn(usize, usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        let next = AtomicUsize::new(0);
        let results = self.runtime.run_on(count, |worker| {
            let mut results = Vec::new();
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= count {
                    return Ok::<_, Error>(results);
                }
                self.runtime.cancel().check()?;
                results.push((task, work(worker, task)?));
            }
        })?;
        let mut results: Vec<_> = results.into_iter().flatten().collect();
        results.sort_unstable_by_key(|&(task, _)| task);
        Ok(results.into_iter().map(|(_, value)| value).collect())
    }

    /// Number of tasks that the work on a stripe is worth which reads this number of numbers per row: more than one
    /// where there are fewer stripes than workers.
    pub fn tasks_per_stripe(&self, numbers_per_row: usize) -> usize {
        let stripes = self.rows.div_ceil(self.stripe_rows().max(1)).max(1);
        let worth = self.rows.div_ceil(stripes) * numbers_per_row / LEAST_TASK_NUMBERS;
        self.runtime.threads().div_ceil(stripes).min(worth).max(1)
    }

    /// Calls `work` as [`Space::stripes`] does, with the numbers of each stripe of a block, which it may change.
    pub fn stripes_of<T: Send>(
        &self,
        block: &mut [f64],
        work: impl Fn(usize, Range<usize>, &mut [f64]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let step = self.stripe_rows();
        let parts: Vec<_> = block.chunks_mut((step * self.width).max(1)).map(Mutex::new).collect();
        self.stripes(|worker, rows| work(worker, rows.clone(), &mut lock(&parts[rows.start / step])))
    }

    /// Changes a block whose rows do not depend on each other: calls `work` with a worker's number, and the rows and
    /// the numbers of every part. `tasks` parts make a stripe.
    pub fn parts_of(
        &self,
        block: &mut [f64],
        tasks: usize,
        work: impl Fn(usize, Range<usize>, &mut [f64]) -> Result<()> + Sync,
    ) -> Result<()> {
        let step = self.stripe_rows().min(self.rows).div_ceil(tasks).max(1);
        let parts: Vec<_> = block.chunks_mut(step * self.width).map(Mutex::new).collect();
        self.tasks(parts.len(), |worker, part| {
            work(worker, part * step..self.rows.min((part + 1) * step), &mut lock(&parts[part]))
        })?;
        Ok(())
    }

    /// Changes a block: calls `work` with the rows and the numbers of every stripe.
    pub fn change(&self, block: &mut [f64], work: impl Fn(Range<usize>, &mut [f64]) + Sync) -> Result<()> {
        self.stripes_of(block, |_, rows, numbers| {
            work(rows, numbers);
            Ok(())
        })?;
        Ok(())
    }

    /// Changes several blocks in one pass over memory: calls `work` with a few rows, the numbers of the blocks in them,
    /// and sums that it adds to. Returns the sums.
    pub fn update<const BLOCKS: usize, const SUMS: usize>(
        &self,
        blocks: [&mut [f64]; BLOCKS],
        work: impl Fn(Range<usize>, [&mut [f64]; BLOCKS], &mut [f64; SUMS]) + Sync,
    ) -> Result<[f64; SUMS]> {
        let step = self.stripe_rows().max(1);
        let mut parts = blocks.map(|block| block.chunks_mut(step * self.width));
        let stripe = |_| Mutex::new(parts.each_mut().map(|parts| parts.next().unwrap_or_default()));
        let stripes: Vec<_> = (0..self.rows.div_ceil(step)).map(stripe).collect();
        let sums = self.stripes(|_, rows| {
            let (first, mut sums) = (rows.start, [0.0; SUMS]);
            let mut parts = lock(&stripes[first / step]);
            for few in self.pieces(rows, FEW_NUMBERS / self.width) {
                let place = self.place(&(few.start - first..few.end - first));
                work(few, parts.each_mut().map(|part| &mut part[place.clone()]), &mut sums);
            }
            Ok(sums)
        })?;
        Ok(sums.iter().fold([0.0; SUMS], |sum, part| std::array::from_fn(|i| sum[i] + part[i])))
    }

    /// Rows per stripe, and a default value for each stripe.
    pub fn empty_stripes<T: Default>(&self) -> (usize, Vec<T>) {
        let step = self.stripe_rows().max(1);
        (step, (0..self.rows.div_ceil(step)).map(|_| T::default()).collect())
    }

    /// Range of some rows in a block.
    pub fn place(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start * self.width..rows.end * self.width
    }

    /// Sums of dot products as a small matrix: of complex columns its squares are complex numbers, as `complex.rs`
    /// has them.
    pub fn finished(&self, sums: Square) -> Square {
        if self.is_complex { complex_dots(&sums) } else { sums }
    }

    /// The dot products of the columns of two blocks.
    pub fn dots(&self, left: &[f64], right: &[f64]) -> Result<Square> {
        let sums = self.stripes(|_, rows| {
            let mut sums = ZERO;
            for piece in self.pieces(rows, self.piece_rows()) {
                let place = self.place(&piece);
                dots(self.width, &left[place.clone()], &right[place], &mut sums);
            }
            Ok(sums)
        })?;
        Ok(self.finished(sums.iter().fold(ZERO, |sum, part| added(&sum, part))))
    }

    /// Adds a product of a block with a small matrix to another block.
    pub fn add_product(&self, factor: &[f64], square: &Square, sum: &mut [f64]) -> Result<()> {
        self.change(sum, |rows, sum| add_product(self.width, &factor[self.place(&rows)], square, sum))
    }

    pub fn transform(&self, block: &mut [f64], square: &Square) -> Result<()> {
        self.change(block, |_, numbers| transform(self.width, numbers, square))
    }

    /// Fills columns with random numbers of mean 0 and variance `1 / rows`, which `seed` and their places decide.
    pub fn randomize(&self, block: &mut [f64], columns: impl Fn(usize) -> bool + Sync, seed: u64) -> Result<()> {
        let scale = (3.0 / self.rows as f64).sqrt();
        self.change(block, |rows, block| {
            for (row, numbers) in rows.zip(block.chunks_exact_mut(self.width)) {
                for (column, number) in numbers.iter_mut().enumerate().filter(|&(column, _)| columns(column)) {
                    *number = scale * uniform(seed, (row * MOST_WIDTH + column) as u64);
                }
            }
        })
    }
}

/// Calls `work` with the place and the numbers of every row of a tall matrix. `copy` copies adjacent rows, which have
/// `count` numbers each; [`SWEPT_NUMBERS`] are in memory together.
pub(crate) fn for_each_row(
    runtime: &Runtime,
    purpose: &str,
    (rows, count): (usize, usize),
    copy: impl Fn(Range<usize>, &mut [f64]) -> Result<()>,
    mut work: impl FnMut(usize, &[f64]) -> Result<()>,
) -> Result<()> {
    let step = (SWEPT_NUMBERS / count.max(1)).max(1).min(rows.max(1));
    let mut numbers = Buffer::zeroed(runtime.budget(), purpose, step * count)?;
    for first in (0..rows).step_by(step) {
        runtime.cancel().check()?;
        let rows = first..rows.min(first + step);
        let numbers = &mut numbers[..rows.len() * count];
        copy(rows.clone(), numbers)?;
        rows.zip(numbers.chunks_exact(count)).try_for_each(|(row, numbers)| work(row, numbers))?;
    }
    Ok(())
}

/// Refuses an array unless it has room for just these rows and columns.
pub(crate) fn check_room((rows, columns): (usize, usize), numbers: usize) -> Result<()> {
    match numbers == rows * columns {
        true => Ok(()),
        false => Err(Error::Usage(format!("expected room for {rows} x {columns} numbers, found {numbers}"))),
    }
}

/// Copies those of some columns that rows have which begin with the column `first`.
pub(crate) fn pick(numbers: &[f64], first: usize, width: usize, columns: &Range<usize>, copy: &mut [f64]) {
    let range = columns.start.max(first)..columns.end.min(first + width);
    for (row, copy) in numbers.chunks_exact(width).zip(copy.chunks_exact_mut(columns.len())) {
        let from = &row[range.start - first..range.end - first];
        copy[range.start - columns.start..range.end - columns.start].copy_from_slice(from);
    }
}

/// The dot product of a few numbers.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = ZERO;
    dots(1, left, right, &mut sums);
    sums[0][0]
}

pub(crate) fn added(one: &Square, other: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|k| one[i][k] + other[i][k]))
}

/// A number between -1 and 1 that looks random, of a seed and a place.
pub(crate) fn uniform(seed: u64, place: u64) -> f64 {
    let state = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(place.wrapping_mul(SPLIT_MIX_STEP));
    (split_mix(state) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The greatest magnitude of some values.
pub(crate) fn magnitude(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// The greatest power of two that is not greater than a magnitude, as far as numbers have all their digits. To divide
/// by it changes none.
pub(crate) fn power_of_two(magnitude: f64) -> f64 {
    f64::from_bits(magnitude.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE)
}
