//! The real Schur form of a small dense matrix, with chosen eigenvalues first.
//!
//! `A = Z T Z^T`, where `Z` is orthogonal and `T` has blocks on its diagonal and zeros below: one row for a real
//! eigenvalue, two for a conjugate pair. The first columns of `Z` up to the end of a block span a space that `A` maps
//! into itself, so what is kept of a subspace is real and as accurate as `A` itself, even where eigenvectors are nearly
//! parallel.
//!
//! *How.* Reflections bring the matrix to Hessenberg form, then Francis' implicit double shifts bring entries below the
//! diagonal to zero. Adjacent blocks change places by reflections of the space that belongs to the second. Entries that
//! are small beside the whole matrix count as zero. About `25 n^3` operations.
//!
//! Golub and Van Loan, *Matrix Computations*, 4th edition, 2013, sections 7.4 to 7.6; Bai and Demmel, *On swapping
//! diagonal blocks in real Schur form*, Linear Algebra and its Applications 1993.

use crate::tall::{power_of_two, uniform};
use faer::linalg::solvers::Solve;
use faer::{Mat, c64};
use outcore_image::Result;
use outcore_io::CancelFlag;
use std::ops::Range;

/// Double shifts per row after which the eigenvalues have not been found, as LAPACK has it: usually it takes two or
/// three.
const MOST_SHIFTS: usize = 30;
/// The least number of rows that this counts.
const LEAST_ROWS: usize = 10;
/// Double shifts without an eigenvalue after which one takes other numbers than eigenvalues of the last rows.
const EXCEPTIONAL: usize = 10;
/// Beginnings: the first with the matrix, further ones with a random reflection of it.
const MOST_BEGINNINGS: u64 = 4;
/// Diagonal entries that are less than this part of the matrix say nothing of how exact it is.
const SMALL_DIAGONAL: f64 = 1.0 / 16.0;
/// Largest remainder below the diagonal after a swap of blocks, in units of rounding.
const MOST_SWAP_ERRORS: f64 = 20.0;
/// Vectors that grow beyond this are scaled down.
const LARGE: f64 = 1e100;

/// A matrix as `Z T Z^T`.
pub struct Schur {
    /// The columns of `T`.
    form: Vec<Vec<f64>>,
    /// The columns of `Z`.
    vectors: Vec<Vec<f64>>,
    /// Factor that the form is multiplied by.
    scale: f64,
    scratch: Vec<f64>,
}

impl Schur {
    /// The Schur form, or nothing if entries are not finite or shifts do not converge. A request to stop is heard, as
    /// by all that takes long.
    pub fn new(matrix: &Mat<f64>, cancel: &CancelFlag) -> Result<Option<Self>> {
        let size = matrix.nrows();
        let entries = (0..size * size).map(|at| matrix[(at % size, at / size)]);
        if !entries.clone().all(f64::is_finite) {
            return Ok(None);
        }
        let scale = power_of_two(entries.fold(0.0, |most, entry| entry.abs().max(most)));
        for beginning in 0..MOST_BEGINNINGS {
            let column = |k: usize| (0..size).map(|i| matrix[(i, k)] / scale).collect();
            let unit = |k: usize| (0..size).map(|i| if i == k { 1.0 } else { 0.0 }).collect();
            let (form, vectors) = ((0..size).map(column).collect(), (0..size).map(unit).collect());
            let mut schur = Schur { form, vectors, scale, scratch: vec![0.0; size] };
            if beginning > 0 {
                schur.reflect(0, &(0..size as u64).map(|row| uniform(beginning, row)).collect::<Vec<_>>());
            }
            schur.hessenberg(cancel)?;
            if schur.triangular(cancel)? {
                return Ok(Some(schur));
            }
        }
        Ok(None)
    }

    fn size(&self) -> usize {
        self.form.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.form[column][row]
    }

    /// The square root of the sum of all squares.
    fn norm(&self) -> f64 {
        self.form.iter().flatten().map(|entry| entry * entry).sum::<f64>().sqrt()
    }

    /// Reflects rows and columns from `first` on by the mirror that is orthogonal to `normal`. The rows have zeros in
    /// all columns that lie before `first - 1`, and the columns in all rows behind the next.
    fn reflect(&mut self, first: usize, normal: &[f64]) {
        let (size, rows) = (self.size(), first..first + normal.len());
        let factor = 2.0 / normal.iter().map(|number| number * number).sum::<f64>();
        for column in &mut self.form[first.saturating_sub(1)..] {
            let part = &mut column[rows.clone()];
            let share = factor * part.iter().zip(normal).map(|(entry, number)| entry * number).sum::<f64>();
            part.iter_mut().zip(normal).for_each(|(entry, number)| *entry -= share * number);
        }
        let below = size.min(rows.end + 1);
        for (columns, count) in [(&mut self.form, below), (&mut self.vectors, size)] {
            let (Some(columns), sums) = (columns.get_mut(rows.clone()), &mut self.scratch[..count]) else { continue };
            sums.fill(0.0);
            for (column, number) in columns.iter().zip(normal) {
                sums.iter_mut().zip(column).for_each(|(sum, entry)| *sum += factor * number * entry);
            }
            for (column, number) in columns.iter_mut().zip(normal) {
                column.iter_mut().zip(&*sums).for_each(|(entry, sum)| *entry -= number * sum);
            }
        }
    }

    /// Makes entries below the first subdiagonal zero.
    fn hessenberg(&mut self, cancel: &CancelFlag) -> Result<()> {
        for column in 0..self.size().saturating_sub(2) {
            cancel.check()?;
            if let Some(normal) = mirror(&self.form[column][column + 1..]) {
                self.reflect(column + 1, &normal);
                self.form[column][column + 2..].fill(0.0);
            }
        }
        Ok(())
    }

    /// Makes entries below the diagonal zero, but for conjugate pairs; says whether that was possible.
    fn triangular(&mut self, cancel: &CancelFlag) -> Result<bool> {
        let (least, mut end, mut shifts) = (SMALL_DIAGONAL * self.norm(), self.size(), 0);
        let mut left = MOST_SHIFTS * self.size().max(LEAST_ROWS);
        while end > 0 {
            cancel.check()?;
            let mut start = end - 1;
            while start > 0 {
                let beside = self.at(start - 1, start - 1).abs() + self.at(start, start).abs();
                if self.at(start, start - 1).abs() <= f64::EPSILON * beside.max(least) {
                    self.form[start - 1][start] = 0.0;
                    break;
                }
                start -= 1;
            }
            if end - start > 2 {
                if left == 0 {
                    return Ok(false);
                }
                (shifts, left) = (shifts + 1, left - 1);
                self.double_shift(start..end, shifts);
                continue;
            }
            if end - start == 2 {
                self.split(start);
            }
            (end, shifts) = (start, 0);
        }
        Ok(true)
    }

    /// A step with both eigenvalues of the last two rows as shifts; with others, by turns from the first rows and from
    /// the last, where a number of such shifts did not lead anywhere.
    fn double_shift(&mut self, rows: Range<usize>, shifts: usize) {
        let last = rows.end - 1;
        let (mut one, mut other) = (self.at(last, last), self.at(last - 1, last - 1));
        let mut product = self.at(last, last - 1) * self.at(last - 1, last);
        if shifts.is_multiple_of(EXCEPTIONAL) {
            let row = if shifts.is_multiple_of(2 * EXCEPTIONAL) { rows.start } else { last };
            let beside = if row == last { last - 2 } else { row };
            let size = self.at(beside + 1, beside).abs() + self.at(beside + 2, beside + 1).abs();
            let shift = self.at(row, row) + 0.75 * size;
            (one, other, product) = (shift, shift, -0.4375 * size * size);
        }
        let first_column = |row: usize| {
            let (at, below) = (self.at(row, row), self.at(row + 1, row));
            let first = ((one - at) * (other - at) - product) / below + self.at(row, row + 1);
            [first, self.at(row + 1, row + 1) - at - (one - at) - (other - at), self.at(row + 2, row + 1)]
        };
        // A step may begin behind two entries whose product is nothing.
        let mut from = last - 2;
        while from > rows.start {
            let [x, y, z] = first_column(from);
            let beside: f64 = (from - 1..=from + 1).map(|row| self.at(row, row).abs()).sum();
            if self.at(from, from - 1).abs() * (y.abs() + z.abs()) <= f64::EPSILON * x.abs() * beside {
                break;
            }
            from -= 1;
        }
        let mut bulge = first_column(from).to_vec();
        for row in from..last {
            let count = (rows.end - row).min(3);
            if row > from {
                bulge = self.form[row - 1][row..row + count].to_vec();
            }
            if let Some(normal) = mirror(&bulge) {
                self.reflect(row, &normal);
            }
            if row > rows.start {
                self.form[row - 1][row + 1..row + count].fill(0.0);
            }
        }
    }

    /// Makes two blocks of two rows if they have real eigenvalues.
    fn split(&mut self, row: usize) {
        let [a, b, c, d] = self.two_rows(row);
        let half = (a - d) / 2.0;
        let discriminant = half * half + b * c;
        if c == 0.0 || discriminant < 0.0 {
            return;
        }
        let root = if half < 0.0 { -discriminant.sqrt() } else { discriminant.sqrt() };
        if let Some(normal) = mirror(&[half + root, c]) {
            self.reflect(row, &normal);
        }
        self.form[row][row + 1] = 0.0;
    }

    fn two_rows(&self, row: usize) -> [f64; 4] {
        [self.at(row, row), self.at(row, row + 1), self.at(row + 1, row), self.at(row + 1, row + 1)]
    }

    /// Number of rows of the block that begins here.
    pub fn rows_at(&self, row: usize) -> usize {
        if row + 1 < self.size() && self.at(row + 1, row) != 0.0 { 2 } else { 1 }
    }

    /// The eigenvalue of the block that begins here, unscaled; of a pair that with the positive imaginary part.
    fn unscaled_value(&self, row: usize) -> c64 {
        if self.rows_at(row) == 1 {
            return c64::new(self.at(row, row), 0.0);
        }
        let [a, b, c, d] = self.two_rows(row);
        let half = (a - d) / 2.0;
        // Slightly other than what it was when the block was found: but nothing was split.
        c64::new((a + d) / 2.0, (-(half * half + b * c)).max(0.0).sqrt())
    }

    /// The eigenvalue of the block that begins here; of a pair that with the positive imaginary part.
    pub fn value(&self, row: usize) -> c64 {
        self.unscaled_value(row) * self.scale
    }

    /// The greatest magnitude of an eigenvalue.
    pub fn largest(&self) -> f64 {
        self.blocks(self.size()).into_iter().map(|row| self.value(row).norm()).fold(0.0, f64::max)
    }

    /// First rows of the diagonal blocks among the leading rows.
    pub fn blocks(&self, rows: usize) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut row = 0;
        while row < rows {
            starts.push(row);
            row += self.rows_at(row);
        }
        starts
    }

    /// The end of the block that holds the last of the first `rows` rows; 0 if there are none.
    pub fn end_of_block(&self, rows: usize) -> usize {
        self.blocks(rows).last().map_or(0, |&row| row + self.rows_at(row))
    }

    /// Moves the eigenvalues that come first by `is_before` to the first `rows` rows, as far as rounding allows.
    pub fn sort(&mut self, rows: usize, cancel: &CancelFlag, is_before: impl Fn(c64, c64) -> bool) -> Result<()> {
        let mut to = 0;
        while to < rows {
            cancel.check()?;
            let mut starts = self.blocks(self.size());
            starts.retain(|&start| start >= to);
            let best = |best: usize, &start: &usize| match is_before(self.value(start), self.value(best)) {
                true => start,
                false => best,
            };
            let mut from = starts.iter().fold(to, best);
            while let Some(&before) = starts.iter().rev().find(|&&start| start < from) {
                // Blocks that cannot be exchanged are nearly equal: the other one continues.
                self.swap(before);
                from = before;
            }
            to += self.rows_at(to);
        }
        Ok(())
    }

    /// Exchanges the block that begins here with the next, unless rounding would change their eigenvalues.
    fn swap(&mut self, row: usize) {
        let first = self.rows_at(row);
        let second = self.rows_at(row + first);
        let size = first + second;
        // The space of the second block is that of the columns `[X; 1]`, where `A X - X B = -C`.
        let entry = |i: usize, k: usize| self.at(row + i, row + k);
        let equations = Mat::from_fn(first * second, first * second, |equation, unknown| {
            let ((i, k), (m, n)) = ((equation % first, equation / first), (unknown % first, unknown / first));
            let left = if k == n { entry(i, m) } else { 0.0 };
            let right = if i == m { entry(first + n, first + k) } else { 0.0 };
            left - right
        });
        let known = Mat::from_fn(first * second, 1, |equation, _| -entry(equation % first, first + equation / first));
        let solution = equations.full_piv_lu().solve(&known);
        let column = |k: usize| -> Vec<f64> {
            let unit = (0..second).map(|i| if i == k { 1.0 } else { 0.0 });
            (0..first).map(|i| solution[(k * first + i, 0)]).chain(unit).collect()
        };
        let mut columns: Vec<Vec<f64>> = (0..second).map(column).collect();
        if !columns.iter().flatten().all(|number| number.abs() < 1.0 / f64::EPSILON) {
            return;
        }
        let block = (0..size).map(|k| (0..size).map(|i| entry(i, k)).collect()).collect();
        let mut attempt = Schur { form: block, vectors: Vec::new(), scale: 1.0, scratch: vec![0.0; size] };
        let norm = attempt.norm();
        let mut normals = Vec::new();
        for k in 0..second {
            let Some(normal) = mirror(&columns[k][k..]) else { continue };
            if let Some(next) = columns.get_mut(k + 1) {
                let squares = normal.iter().map(|number| number * number).sum::<f64>();
                let share = 2.0 / squares * next[k..].iter().zip(&normal).map(|(a, b)| a * b).sum::<f64>();
                next[k..].iter_mut().zip(&normal).for_each(|(entry, number)| *entry -= share * number);
            }
            attempt.reflect(k, &normal);
            normals.push((k, normal));
        }
        let below = attempt.form[..second].iter().flat_map(|column| &column[second..]);
        let left = below.fold(0.0f64, |most, entry| most.max(entry.abs()));
        if left > MOST_SWAP_ERRORS * f64::EPSILON * norm {
            return;
        }
        normals.iter().for_each(|(k, normal)| self.reflect(row + k, normal));
        self.form[row..row + second].iter_mut().for_each(|column| column[row + second..row + size].fill(0.0));
        [(row, second), (row + second, first)]
            .iter()
            .filter(|(_, rows)| *rows == 2)
            .for_each(|&(at, _)| self.split(at));
    }

    /// The first columns of `Z`.
    pub fn space(&self, columns: usize) -> Mat<f64> {
        Mat::from_fn(self.size(), columns, |row, column| self.vectors[column][row])
    }

    /// The first rows and columns of `T`.
    pub fn front(&self, rows: usize) -> Mat<f64> {
        Mat::from_fn(rows, rows, |row, column| self.at(row, column) * self.scale)
    }

    /// The eigenvectors of the first blocks, in terms of the first columns of `Z`: a column for a real eigenvalue, the
    /// real and the imaginary part for a pair. Each has length 1.
    pub fn eigenvectors(&self, rows: usize, cancel: &CancelFlag) -> Result<Mat<f64>> {
        let mut vectors = Mat::zeros(rows, rows);
        let least = f64::EPSILON * self.norm().max(1.0);
        for start in self.blocks(rows) {
            cancel.check()?;
            let vector = self.eigenvector(start, least);
            for (row, number) in vector.iter().enumerate() {
                vectors[(row, start)] = number.re;
                if self.rows_at(start) == 2 {
                    vectors[(row, start + 1)] = number.im;
                }
            }
        }
        Ok(vectors)
    }

    /// The eigenvector of a block; differences of eigenvalues below `least` are taken for that.
    fn eigenvector(&self, start: usize, least: f64) -> Vec<c64> {
        let value = self.unscaled_value(start);
        let one = c64::new(1.0, 0.0);
        let own = match self.rows_at(start) {
            1 => vec![one],
            _ => vec![value - self.at(start + 1, start + 1), one * self.at(start + 1, start)],
        };
        // The right-hand side first, the solution afterwards.
        let mut vector = vec![c64::new(0.0, 0.0); start];
        let take = |vector: &mut [c64], column: usize, number: c64| {
            vector.iter_mut().zip(&self.form[column]).for_each(|(left, &entry)| *left -= number * entry);
        };
        own.iter().enumerate().for_each(|(i, &number)| take(&mut vector, start + i, number));
        vector.extend(own);
        for &row in self.blocks(start).iter().rev() {
            if self.rows_at(row) == 1 {
                vector[row] /= away(self.at(row, row) - value, least);
            } else {
                let [a, b, c, d] = self.two_rows(row);
                let square = [[a - value, one * b], [one * c, d - value]];
                [vector[row], vector[row + 1]] = solve(&square, [vector[row], vector[row + 1]], least);
                let number = vector[row + 1];
                take(&mut vector[..row], row + 1, number);
            }
            let number = vector[row];
            take(&mut vector[..row], row, number);
            let largest = vector.iter().fold(0.0f64, |most, number| most.max(number.norm()));
            if largest > LARGE {
                vector.iter_mut().for_each(|number| *number /= largest);
            }
        }
        let largest = vector.iter().fold(0.0f64, |most, number| most.max(number.norm()));
        vector.iter_mut().for_each(|number| *number /= largest);
        let length = vector.iter().map(|number| number.norm_sqr()).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|number| *number /= length);
        vector
    }
}

/// The number, or `least` if the number is nearer to zero.
fn away(number: c64, least: f64) -> c64 {
    if number.norm() < least { c64::new(least, 0.0) } else { number }
}

/// Solves two equations; pivots below `least` are taken for that.
fn solve(square: &[[c64; 2]; 2], right: [c64; 2], least: f64) -> [c64; 2] {
    let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let larger = |one: (usize, usize), other: (usize, usize)| match square[other.0][other.1].norm() {
        norm if norm > square[one.0][one.1].norm() => other,
        _ => one,
    };
    let (row, column) = places.into_iter().fold((0, 0), larger);
    let pivot = away(square[row][column], least);
    let ratio = square[1 - row][column] / pivot;
    let last = away(square[1 - row][1 - column] - ratio * square[row][1 - column], least);
    let mut solution = [(right[1 - row] - ratio * right[row]) / last; 2];
    solution[column] = (right[row] - square[row][1 - column] * solution[1 - column]) / pivot;
    solution
}

/// The normal of the mirror that makes all entries behind the first zero, unless they are.
fn mirror(entries: &[f64]) -> Option<Vec<f64>> {
    let largest = entries.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
    if entries[1..].iter().all(|&entry| entry == 0.0) {
        return None;
    }
    let mut normal: Vec<f64> = entries.iter().map(|entry| entry / largest).collect();
    let length = normal.iter().map(|number| number * number).sum::<f64>().sqrt();
    normal[0] += if normal[0] < 0.0 { -length } else { length };
    Some(normal)
}
