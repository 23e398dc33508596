//! Eigenpairs of a symmetric operator by a block Lanczos method with thick restarts.
//!
//! *Idea.* A step multiplies the last block of a basis, takes away what lies in the basis, and makes the rest
//! orthonormal: the next block. The operator's projection on the basis is a small matrix; its eigenpairs are
//! approximations, whose residuals are known from the last block alone. When the basis is full it is replaced by the
//! best approximations, and continues behind them.
//!
//! *Orthogonality.* In exact arithmetic only the last two blocks matter. With rounding others creep back, at a rate
//! that a recurrence foretells from the small matrix; only when that reaches [`SEMIORTHOGONAL`] the whole basis is read
//! and taken away, in this step and the next. Eigenvalues keep all their digits so (Simon 1984), and a basis on disk is
//! rarely read.
//!
//! *Missed copies.* A block of b columns sees at most b copies of a repeated eigenvalue. So when all wanted pairs have
//! converged and b of them are equal, they are locked, and the method begins again with a random block orthogonal to
//! them, until a bound for random starts says that nothing was missed ([`MISSED_PROBABILITY`]), or what was missed has
//! converged too.
//!
//! *Missed ends.* A Ritz value may rest on an eigenvalue while the approximation of a more wanted one is still behind
//! it. So the iteration ends only when the best value behind the wanted ones is known as well, at either end of the
//! spectrum if both are wanted: its residual is a small part ([`UNWANTED_RESIDUAL`]) of its distance.
//!
//! Grimes, Lewis and Simon, *A shifted block Lanczos algorithm*, SIAM J. Matrix Anal. 1994; Wu and Simon,
//! *Thick-restart Lanczos*, SIAM J. Matrix Anal. 2000; Kuczyński and Woźniakowski, *Estimating the largest eigenvalue
//! by the power and Lanczos algorithms with a random start*, SIAM J. Matrix Anal. 1992.

use crate::checkpoint::{Blocks, Checkpoint, Resumable, Words, resume, save_if_due};
use crate::operator::Operator;
use crate::spectral::Limit;
use crate::spectral::iteration::Iteration;
use crate::spectral::small::{greatest, small_eigen};
use crate::spectral::symmetric::Which;
use crate::tall::basis::Basis;
use crate::tall::kernels::{MOST_WIDTH, Square};
use crate::tall::orthonormal::{ROUNDING, inverse, orthonormalize, product, random};
use crate::tall::{ZERO, added, entries, magnitude, square_at};
use faer::Mat;
use outcore_image::Result;
use outcore_io::Buffer;
use std::path::Path;

/// Vectors stay orthogonal to this: what is taken away later is missing from the small matrix, and thus in the
/// residuals, which are small beside the greatest eigenvalue if the wanted ones are.
const SEMIORTHOGONAL: f64 = 1e-12;
/// The smallest tolerance of the iteration, in units of the greatest eigenvalue.
const LEAST_TOLERANCE: f64 = 1e-14;
/// The share of the tolerance for residuals by the small matrix; the rest is for those that it does not contain.
const TOLERANCE_SHARE: f64 = 0.5;
/// Limit of dot products with locked vectors: this multiple of the relative residual, at most [`MOST_LOCKED_DOT`].
const LOCKED_DOT_PER_RESIDUAL: f64 = 1e4;
const MOST_LOCKED_DOT: f64 = 1e-4;
/// Orthogonality of vectors directly after a projection.
const ORTHOGONAL: f64 = 2e-15;
/// Least length that a vector of length 1 keeps when it is orthogonalized again; below it the vector is rounding.
const LEAST_REMAINDER: f64 = 0.5;
/// Eigenvalues that are no further apart, in units of the greatest, may be one that is repeated.
const EQUAL_DISTANCE: f64 = 1e-5;
/// The residual of a value that is not wanted, in units of its distance from the last that is.
const UNWANTED_RESIDUAL: f64 = 1e-3;
/// The probability that a wanted eigenvalue is missed, per column of a block.
const MISSED_PROBABILITY: f64 = 1e-3;

/// Goal of the iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Columns of the basis per vector: 2 for a complex one, whose eigenvalue then counts twice.
    pub parts: usize,
    /// Number of pairs.
    pub count: usize,
    pub which: Which,
    /// The greatest residual of a pair, in units of the wanted value's magnitude; no less than rounding allows.
    pub tolerance: f64,
    /// Whether the operator's eigenvalues are the squares of the wanted values.
    pub is_of_squares: bool,
    pub most_columns: usize,
    pub most_restarts: u64,
    pub seed: u64,
}

impl Goal {
    /// The checkpoint of a run, if it has a folder for one. A resumed run may have another limit of restarts.
    pub fn checkpoint<'a>(
        &self,
        operator: &dyn Operator<'a>,
        folder: Option<&Path>,
        solver: &str,
        block: usize,
    ) -> Result<Option<Checkpoint<'a>>> {
        let &Goal { parts, which, tolerance, seed, .. } = self;
        let (count, most_columns) = (self.count / parts, self.most_columns / parts);
        let run = format!(
            "{solver}, k {count}, {}, tol {tolerance:e}, ncv {most_columns}, block {block}, seed {seed}",
            which.checkpoint_name()
        );
        Checkpoint::open(operator, folder, &run)
    }

    /// The residual with which an eigenvalue has converged, if the greatest is `scale`. For a square it is that of the
    /// wanted value, its root, times that root: the same part of either.
    fn limit(&self, value: f64, scale: f64) -> f64 {
        let rounding = if self.is_of_squares { 2.0 * ROUNDING } else { LEAST_TOLERANCE };
        Limit { relative: self.tolerance, rounding: rounding * scale }.of(value.abs())
    }

    /// The part of that limit for the residual that the small matrix has.
    fn floor(&self, value: f64, scale: f64) -> f64 {
        TOLERANCE_SHARE * self.limit(value, scale)
    }
}

/// Approximations of eigenpairs, best first.
pub(crate) struct Ritz {
    pub values: Vec<f64>,
    /// In terms of the basis, a column each.
    pub vectors: Mat<f64>,
    /// The lengths of the residuals, as far as the small matrix knows them.
    pub residuals: Vec<f64>,
    /// Whether the iteration made sure that no wanted pair is missing.
    pub is_complete: bool,
}

pub(crate) struct Lanczos<'o, 'a> {
    pub iteration: Iteration<'o, 'a>,
    pub basis: Basis,
    goal: Goal,
    /// The operator's projection on the basis, and its last block's part in the next.
    projection: Mat<f64>,
    /// Marks the columns of the basis that are vectors; the others fill up a block.
    live: Vec<bool>,
    /// For each column the length of the residual that the small matrix does not contain: that of locked vectors.
    hidden: Vec<f64>,
    /// Estimated dot products of all vectors with the last block but one, and with the last.
    before: Mat<f64>,
    now: Mat<f64>,
    /// Number of coming steps that orthogonalize against all blocks.
    forced: u64,
    /// Whether the basis was restarted since its last random block: then steps are no longer those of a random start.
    is_restarted: bool,
}

impl<'o, 'a> Lanczos<'o, 'a> {
    pub fn new(operator: &'o dyn Operator<'a>, basis: Basis, goal: Goal) -> Self {
        let (size, width) = (goal.most_columns + 2 * basis.space.width, basis.space.width);
        Lanczos {
            iteration: Iteration::new(operator, goal.seed),
            goal,
            projection: Mat::zeros(size, size),
            live: Vec::new(),
            hidden: Vec::new(),
            before: Mat::zeros(size, width),
            now: Mat::zeros(size, width),
            forced: 0,
            is_restarted: false,
            basis,
        }
    }

    fn width(&self) -> usize {
        self.basis.space.width
    }

    /// Columns of the basis but for the last block, which is not multiplied yet.
    fn columns(&self) -> usize {
        (self.basis.len() - 1) * self.width()
    }

    /// Appends a random block, which the small matrix does not couple to the blocks before it.
    fn begin(&mut self, mut block: Buffer<f64>) -> Result<()> {
        let seed = self.iteration.next_seed();
        random(&self.basis, &mut block, seed)?;
        self.append(block);
        self.iteration.steps = 0;
        self.is_restarted = false;
        Ok(())
    }

    /// Appends a block that is orthogonal to all others.
    fn append(&mut self, block: Buffer<f64>) {
        let (width, known) = (self.width(), self.basis.len() * self.width());
        self.basis.push(block);
        self.live.truncate(known);
        self.live.resize(known + width, true);
        self.hidden.truncate(known);
        self.hidden.resize(known + width, 0.0);
        self.before = std::mem::replace(&mut self.now, Mat::zeros(self.projection.nrows(), width));
        (0..known).for_each(|row| (0..width).for_each(|column| self.now[(row, column)] = ORTHOGONAL));
        (0..width).for_each(|column| self.now[(known + column, column)] = 1.0);
    }

    fn square(&self, row: usize, column: usize) -> Square {
        square_at(&self.projection, self.width(), row, column)
    }

    fn set_square(&mut self, row: usize, column: usize, square: &Square) {
        let width = self.width();
        for (i, k) in entries(width) {
            self.projection[(row * width + i, column * width + k)] = square[i][k];
            self.projection[(column * width + k, row * width + i)] = square[i][k];
        }
    }

    /// A step: multiplies the last block, and appends the part of the product that lies outside of the basis.
    fn extend(&mut self) -> Result<()> {
        let (last, width) = (self.basis.len() - 1, self.width());
        let mut next = self.basis.fresh()?;
        self.iteration.operator.apply(self.basis.last(), width, &mut next)?;
        let lengths = self.basis.space.dots(&next, &next)?;
        self.iteration.norm =
            (0..width).map(|column| lengths[column][column].sqrt()).fold(self.iteration.norm, f64::max);
        let coupled = (0..last).find(|&block| self.square(block, last) != ZERO).unwrap_or(last);
        let known: Vec<Square> = (coupled..last).map(|block| self.square(block, last)).collect();
        self.basis.subtract(coupled..last, &known, &mut next)?;
        let mut diagonal = self.basis.project_out(last..last + 1, &mut next)?[0];
        // A second projection removes what rounding left.
        let first = if self.forced > 0 { 0 } else { last };
        let again = self.basis.project_out(first..last + 1, &mut next)?;
        diagonal = added(&diagonal, &again[last - first]);
        let mut symmetric = ZERO;
        entries(width).for_each(|(i, k)| symmetric[i][k] = (diagonal[i][k] + diagonal[k][i]) / 2.0);
        self.set_square(last, last, &symmetric);
        let seed = self.iteration.next_seed();
        let floor = ROUNDING * self.iteration.norm;
        let factor = orthonormalize(&self.basis, last + 1, &mut next, floor, seed)?;
        if !factor.finite {
            return Err(self.iteration.operator.too_large());
        }
        let (mut upper, mut is_new) = (factor.upper, factor.replaced);
        let estimate = if is_new || self.forced > 0 { None } else { Some(self.foretell(last, &upper)) };
        let was_forced = std::mem::take(&mut self.forced);
        let is_lost = estimate.as_ref().is_some_and(|estimate| self.is_lost(estimate));
        if is_lost {
            self.basis.project_out(0..last + 1, &mut next)?;
            let again = orthonormalize(&self.basis, last + 1, &mut next, LEAST_REMAINDER, seed)?;
            upper = product(&again.upper, &upper, width);
            is_new = again.replaced;
        }
        // Components removed from one block return from the next: two consecutive blocks are orthogonalized.
        self.forced = match was_forced {
            0 => u64::from(is_lost || is_new),
            more => more - 1,
        };
        self.set_square(last + 1, last, &upper);
        self.append(next);
        if let Some(estimate) = estimate.filter(|_| !is_lost) {
            for row in 0..last * width {
                (0..width).for_each(|column| self.now[(row, column)] = estimate[(row, column)]);
            }
        }
        self.iteration.steps += u64::from(!self.is_restarted);
        Ok(())
    }

    /// Whether a block whose dot products with all vectors are these is too far from orthogonal. What was locked with a
    /// residual comes back with every product: such vectors are taken away later, for it does no harm to the residuals,
    /// as the last products are with all wanted vectors together.
    fn is_lost(&self, estimate: &Mat<f64>) -> bool {
        (0..estimate.nrows()).filter(|&row| self.live[row]).any(|row| {
            let bound = (LOCKED_DOT_PER_RESIDUAL * self.hidden[row] / self.iteration.norm)
                .clamp(SEMIORTHOGONAL, MOST_LOCKED_DOT);
            (0..estimate.ncols())
                .any(|column| estimate[(row, column)].is_nan() || estimate[(row, column)].abs() >= bound)
        })
    }

    /// The dot products of all vectors with the next block, as the recurrence has them: both sides of
    /// `next upper = A last - last diagonal - before coupling`, multiplied by all vectors, whose products with the
    /// operator the small matrix knows.
    fn foretell(&self, last: usize, upper: &Square) -> Mat<f64> {
        let (width, size) = (self.width(), (last + 1) * self.width());
        let inverse = inverse(upper, width);
        let diagonal = self.square(last, last);
        let coupling = if last == 0 { ZERO } else { self.square(last - 1, last) };
        let mut estimate = Mat::zeros(size, width);
        let part = self.projection.submatrix(0, 0, size, size) * self.now.submatrix(0, 0, size, width);
        for row in 0..size {
            let noise = (ORTHOGONAL * self.iteration.norm).max(self.hidden[row]);
            let mut line = [0.0; MOST_WIDTH];
            for (column, entry) in line.iter_mut().enumerate().take(width) {
                let known: f64 = (0..width)
                    .map(|i| self.now[(row, i)] * diagonal[i][column] + self.before[(row, i)] * coupling[i][column])
                    .sum();
                let left = part[(row, column)] - known;
                *entry = left + if left < 0.0 { -noise } else { noise };
            }
            for column in 0..width {
                estimate[(row, column)] = (0..=column).map(|i| line[i] * inverse[i][column]).sum();
            }
        }
        // The last block was just projected out.
        for row in last * width..size {
            (0..width).for_each(|column| estimate[(row, column)] = ORTHOGONAL);
        }
        estimate
    }

    /// Approximations from all but the last block.
    pub fn ritz(&self) -> Result<Ritz> {
        let (size, width) = (self.columns(), self.width());
        let live: Vec<usize> = (0..size).filter(|&column| self.live[column]).collect();
        let small = Mat::from_fn(live.len(), live.len(), |i, k| self.projection[(live[i], live[k])]);
        let (values, vectors) = small_eigen(&self.basis.space, &small)
            .ok_or_else(|| self.iteration.operator.breakdown(greatest(&small)))?;
        let mut order: Vec<usize> = (0..live.len()).collect();
        order.sort_by(|&a, &b| self.goal.which.key(values[b]).total_cmp(&self.goal.which.key(values[a])));
        let mut sorted = Mat::zeros(size, live.len());
        for (to, &from) in order.iter().enumerate() {
            live.iter().enumerate().for_each(|(i, &row)| sorted[(row, to)] = vectors[(i, from)]);
        }
        let next = self.square(self.basis.len() - 1, self.basis.len() - 2);
        let residual = |column: usize| {
            let part = |i: usize| (0..width).map(|k| next[i][k] * sorted[(size - width + k, column)]).sum::<f64>();
            (0..width).map(|i| part(i).powi(2)).sum::<f64>().sqrt()
        };
        let residuals = (0..live.len()).map(residual).collect();
        let values = order.iter().map(|&i| values[i]).collect();
        Ok(Ritz { values, vectors: sorted, residuals, is_complete: false })
    }

    /// Keeps the best approximations only, at least this number of them, and continues behind them.
    fn restart(&mut self, ritz: &Ritz, keep: usize) -> Result<()> {
        let width = self.width();
        let retained = self.retained(ritz, keep.next_multiple_of(width));
        let blocks = retained.len() / width;
        let (size, next) = (self.columns(), self.square(self.basis.len() - 1, self.basis.len() - 2));
        let Some(mut block) = self.basis.pop() else { unreachable!("the last block is in memory") };
        let vectors = Mat::from_fn(size, retained.len(), |row, column| ritz.vectors[(row, retained[column])]);
        self.basis.rotate(&vectors)?;
        let hidden = self.hidden_by(&vectors);
        self.clear(&retained.iter().map(|&column| ritz.values[column]).collect::<Vec<_>>(), hidden);
        // Remove rounding and the overlap of the old vectors.
        self.basis.project_out(0..blocks, &mut block)?;
        let seed = self.iteration.next_seed();
        let upper = orthonormalize(&self.basis, blocks, &mut block, LEAST_REMAINDER, seed)?.upper;
        let next = product(&upper, &next, width);
        self.append(block);
        for to in 0..blocks {
            let mut coupling = ZERO;
            for (i, k) in entries(width) {
                let vector = |row: usize| vectors[(size - width + row, to * width + k)];
                coupling[i][k] = (0..width).map(|row| next[i][row] * vector(row)).sum();
            }
            self.set_square(blocks, to, &coupling);
        }
        self.forced = 2;
        self.is_restarted = true;
        self.iteration.restarts += 1;
        Ok(())
    }

    /// The approximations that a restart keeps. Of those behind the wanted ones, whole vectors by turns from both ends
    /// if both are wanted: an end of which nothing is kept would have to be found anew after every restart.
    fn retained(&self, ritz: &Ritz, count: usize) -> Vec<usize> {
        let (wanted, parts) = (self.goal.count, self.goal.parts);
        if self.goal.which != Which::LargestMagnitude {
            return (0..count).collect();
        }
        let behind = (wanted..ritz.values.len()).step_by(parts);
        let (above, below): (Vec<_>, Vec<_>) = behind.partition(|&column| ritz.values[column] > 0.0);
        let (mut above, mut below) = (above.into_iter(), below.into_iter());
        let mut retained: Vec<usize> = (0..wanted).collect();
        while retained.len() < count.min(ritz.values.len()) {
            for end in [&mut above, &mut below] {
                retained.extend(end.next().into_iter().flat_map(|column| column..column + parts));
            }
        }
        retained.truncate(count);
        retained
    }

    /// Locks the best approximations, which have converged, and begins again behind them.
    fn lock(&mut self, ritz: &Ritz, count: usize) -> Result<()> {
        let (width, size) = (self.width(), self.columns());
        let keep = count.next_multiple_of(width);
        let Some(block) = self.basis.pop() else { unreachable!("the last block is in memory") };
        let vectors = Mat::from_fn(size, keep, |row, column| match column < count {
            true => ritz.vectors[(row, column)],
            false => 0.0,
        });
        self.basis.rotate(&vectors)?;
        let mut hidden = self.hidden_by(&vectors);
        hidden.iter_mut().zip(&ritz.residuals[..count]).for_each(|(hidden, seen)| *hidden = hidden.hypot(*seen));
        self.clear(&ritz.values[..count], hidden);
        self.forced = 2;
        self.begin(block)
    }

    /// For each combination of the basis the length of the residual that the small matrix does not contain.
    fn hidden_by(&self, vectors: &Mat<f64>) -> Vec<f64> {
        let part = |column: usize, row: usize| (self.hidden[row] * vectors[(row, column)]).powi(2);
        (0..vectors.ncols()).map(|i| (0..vectors.nrows()).map(|row| part(i, row)).sum::<f64>().sqrt()).collect()
    }

    /// Replaces the small matrix by the diagonal one of these eigenvalues; `hidden` are the residuals of their vectors.
    fn clear(&mut self, values: &[f64], hidden: Vec<f64>) {
        let (size, width) = (self.projection.nrows(), self.width());
        self.projection = Mat::zeros(size, size);
        self.now = Mat::zeros(size, width);
        values.iter().enumerate().for_each(|(i, &value)| self.projection[(i, i)] = value);
        self.live = (0..hidden.len()).map(|column| column < values.len()).collect();
        self.hidden = hidden;
    }

    /// Runs until all wanted pairs have converged and none is missed, or there were too many restarts; returns the best
    /// approximations. Begins with a random block, or at the checkpoint.
    pub fn run(&mut self, mut checkpoint: Option<Checkpoint<'a>>) -> Result<Ritz> {
        let Goal { count, most_columns, most_restarts, .. } = self.goal;
        if !resume(&mut checkpoint, self)? {
            let block = self.basis.fresh()?;
            self.begin(block)?;
        }
        loop {
            save_if_due(&mut checkpoint, self)?;
            self.extend()?;
            let is_full = self.columns() + self.width() > most_columns;
            if self.columns() <= count.max(self.iteration.locked.len())
                || (self.basis.len().is_multiple_of(2) && !is_full)
            {
                continue;
            }
            let ritz = self.ritz()?;
            let scale = self.scale(&ritz);
            let has_converged = |i: usize| ritz.residuals[i] <= self.goal.floor(ritz.values[i], scale);
            let converged = (0..count).take_while(|&i| has_converged(i)).count();
            if converged == count {
                let wanted = &ritz.values[..count];
                let (crowd, is_behind) = (self.least_crowd(wanted, scale), self.is_behind(&ritz, scale));
                let is_known = self.iteration.is_locked(wanted, |value| self.goal.limit(value, scale));
                let is_complete = match crowd {
                    None => is_behind,
                    Some(crowd) => is_known && (is_behind || self.is_complete(&ritz, crowd)),
                };
                if is_complete {
                    return Ok(Ritz { is_complete, ..ritz });
                }
                if crowd.is_some() && is_behind && !is_known {
                    self.lock(&ritz, count)?;
                    self.iteration.locked = wanted.to_vec();
                    continue;
                }
            }
            if is_full {
                if self.iteration.restarts >= most_restarts {
                    return Ok(ritz);
                }
                self.restart(&ritz, count + (self.columns() - count) * 2 / 5)?;
            }
        }
    }

    /// The key of the equal values that are wanted least, of those of which copies may be missing: as many at least as
    /// a block has columns, and not those of the last wanted value.
    fn least_crowd(&self, wanted: &[f64], scale: f64) -> Option<f64> {
        let (width, apart) = (self.width(), scale * EQUAL_DISTANCE.max(10.0 * self.goal.tolerance));
        let least =
            |values: &[f64]| values.iter().map(|&value| self.goal.which.key(value)).fold(f64::INFINITY, f64::min);
        let (last, most) = (least(wanted), (width / self.goal.parts) as f64 * apart);
        let beyond = last + self.goal.limit(last, scale);
        let mut sorted = wanted.to_vec();
        sorted.sort_by(f64::total_cmp);
        let crowds = sorted.windows(width).filter(|crowd| crowd[width - 1] - crowd[0] <= most);
        crowds.map(least).filter(|&key| key > beyond).reduce(f64::min)
    }

    /// The greatest magnitude of an eigenvalue, as far as it is known.
    pub fn scale(&self, ritz: &Ritz) -> f64 {
        self.iteration.norm.max(magnitude(&ritz.values))
    }

    /// Whether the best value behind the wanted ones, at both ends if both are wanted, is known well enough to say that
    /// no wanted one is hidden there.
    fn is_behind(&self, ritz: &Ritz, scale: f64) -> bool {
        let Goal { count, which, .. } = self.goal;
        let last = which.key(ritz.values[count - 1]);
        let floor = self.goal.limit(last, scale);
        let is_known = |column: usize| {
            let distance = last - which.key(ritz.values[column]);
            ritz.residuals[column] <= floor.max(UNWANTED_RESIDUAL * distance)
        };
        let first_of = |is_above: bool| (count..ritz.values.len()).find(|&at| (ritz.values[at] > 0.0) == is_above);
        let known = match which {
            Which::LargestMagnitude => [first_of(true), first_of(false)],
            _ => [Some(count).filter(|&at| at < ritz.values.len()), None],
        };
        known.iter().any(Option::is_some) && known.into_iter().flatten().all(is_known)
    }

    /// Whether the bound for random starts says that no eigenvalue was missed whose sort key is at least `last`. It
    /// counts the steps up to the first restart: later approximations are at least as near as those of that time.
    fn is_complete(&self, ritz: &Ritz, last: f64) -> bool {
        let Goal { count, which, .. } = self.goal;
        let Some(&rest) = ritz.values.get(count) else { return false };
        let key = |at: usize| which.key(ritz.values[at]) - ritz.residuals[at];
        let least = match which {
            Which::LargestMagnitude => -last,
            _ => (0..ritz.values.len()).map(key).fold(f64::INFINITY, f64::min),
        };
        let gap = ((last - which.key(rest)) / (last - least)).clamp(0.0, 1.0);
        let rows = self.basis.space.rows as f64;
        let steps = (2 * self.iteration.steps).saturating_sub(1);
        let bound = 1.648 * rows.sqrt() * (-gap.sqrt() * steps as f64).exp();
        bound <= MISSED_PROBABILITY
    }
}

impl Resumable for Lanczos<'_, '_> {
    fn blocks(&mut self) -> &mut dyn Blocks {
        &mut self.basis
    }

    fn state(&mut self, words: &mut Words) -> Option<()> {
        let iteration = &mut self.iteration;
        iteration.products(words)?;
        [&mut self.forced, &mut iteration.seed, &mut iteration.steps, &mut iteration.restarts]
            .into_iter()
            .try_for_each(|word| words.word(word))?;
        words.number(&mut iteration.norm)?;
        [&mut self.projection, &mut self.before, &mut self.now]
            .into_iter()
            .try_for_each(|matrix| words.matrix(matrix))?;
        let mut is_restarted = u64::from(self.is_restarted);
        words.word(&mut is_restarted)?;
        self.is_restarted = is_restarted != 0;
        let mut live = self.live.iter().map(|&is_live| f64::from(u8::from(is_live))).collect();
        [&mut live, &mut self.hidden, &mut iteration.locked].into_iter().try_for_each(|numbers| words.list(numbers))?;
        self.live = live.iter().map(|&is_live| is_live != 0.0).collect();
        (self.live.len() == self.basis.len() * self.width()).then_some(())
    }
}
