//! Eigenvalues of an unsymmetric operator by the Krylov-Schur method.
//!
//! *Idea.* A step multiplies the last vector of a basis, takes away what lies in the basis, and makes the rest the next
//! vector (Arnoldi's method). The operator's projection on the basis is a small matrix. Its Schur form, with the wanted
//! eigenvalues first, says which space is kept when the basis is full: from `A V = V H + v b^T` and `H Z = Z T` follows
//! `A (V Z) = (V Z) T + v (b^T Z)`, and so for the first columns alone. The method continues behind them.
//!
//! *Real numbers.* The form is the real one, and pairs of conjugate eigenvalues are kept or left as a whole: so all
//! vectors are real.
//!
//! *Converged.* The residual of the wanted space is `v (b^T Z)`, in its first columns, and no eigenvector in it has a
//! longer one. That is asked of the space, not of single vectors: where these are nearly parallel it is still known.
//!
//! *Missed copies.* One vector sees one copy of a repeated eigenvalue. So when all wanted ones have converged, their
//! space is locked, and the method begins again with a random vector orthogonal to it, until the best eigenvalue behind
//! that space is known: it is as exact as the others, or its residual is a small part ([`UNWANTED_RESIDUAL`]) of what
//! it is behind them. One that is wanted more than those that are locked takes their place, and the method begins once
//! more. So a copy is missed only if the method misses the best eigenvalue that its start vector sees. No bound is
//! known for unsymmetric matrices that would say more.
//!
//! Stewart, *A Krylov-Schur algorithm for large eigenproblems*, SIAM J. Matrix Anal. 2001.

use crate::checkpoint::{Blocks, Checkpoint, Resumable, Words, resume, save_if_due};
use crate::operator::Operator;
use crate::spectral::eigs::Spectrum;
use crate::spectral::iteration::Iteration;
use crate::spectral::schur::Schur;
use crate::spectral::small::greatest;
use crate::tall::basis::Basis;
use crate::tall::orthonormal::{ROUNDING, orthonormalize, random};
use faer::Mat;
use outcore_image::Result;
use outcore_io::{Buffer, CancelFlag};

/// Number of convergence checks while a basis fills.
const LOOKS: usize = 8;
/// Least number of steps between two convergence checks.
const LEAST_STEPS: usize = 8;
/// The residual of an eigenvalue that is not wanted, in units of how much less it is wanted than the last that is.
const UNWANTED_RESIDUAL: f64 = 1e-2;

/// Goal of the iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub count: usize,
    pub which: Spectrum,
    /// The greatest residual of a pair, in units of its eigenvalue's magnitude.
    pub tolerance: f64,
    /// The least residual that is asked for, in lengths of the longest product or the greatest eigenvalue.
    pub least_tolerance: f64,
    pub most_columns: usize,
    pub most_restarts: u64,
    pub seed: u64,
}

pub(crate) struct KrylovSchur<'o, 'a> {
    pub iteration: Iteration<'o, 'a>,
    pub basis: Basis,
    goal: Goal,
    /// The operator's projection on the basis. The row of the last vector couples it to the others.
    projection: Mat<f64>,
}

impl<'o, 'a> KrylovSchur<'o, 'a> {
    pub fn new(operator: &'o dyn Operator<'a>, basis: Basis, goal: Goal) -> Self {
        let projection = Mat::zeros(goal.most_columns + 1, goal.most_columns + 1);
        KrylovSchur { iteration: Iteration::new(operator, goal.seed), basis, goal, projection }
    }

    /// Columns of the basis but for the last, which is not multiplied yet.
    fn columns(&self) -> usize {
        self.basis.len() - 1
    }

    fn cancel(&self) -> &CancelFlag {
        self.basis.space.runtime.cancel()
    }

    /// Appends a random vector, to which nothing of the small matrix is coupled.
    fn begin(&mut self) -> Result<()> {
        let seed = self.iteration.next_seed();
        let mut vector = self.basis.fresh()?;
        random(&self.basis, &mut vector, seed)?;
        self.basis.push(vector);
        self.iteration.steps = 0;
        Ok(())
    }

    /// A step: multiplies the last vector, and appends the part of the product that lies outside of the basis.
    fn extend(&mut self) -> Result<()> {
        let last = self.columns();
        let mut next = self.basis.fresh()?;
        self.iteration.operator.apply(self.basis.last(), 1, &mut next)?;
        let shares = self.basis.project_out(0..last + 1, &mut next)?;
        // A second projection removes what rounding left.
        let again = self.basis.project_out(0..last + 1, &mut next)?;
        let shares = shares.iter().zip(&again).map(|(one, more)| one[0][0] + more[0][0]);
        shares.enumerate().for_each(|(row, share)| self.projection[(row, last)] = share);
        let known = self.projection.col(last).get(..last + 1).norm_l2();
        let seed = self.iteration.next_seed();
        let factor = orthonormalize(&self.basis, last + 1, &mut next, ROUNDING * self.iteration.norm.max(known), seed)?;
        if !factor.finite {
            return Err(self.iteration.operator.too_large());
        }
        let length = factor.upper[0][0];
        self.iteration.norm = self.iteration.norm.max(known.hypot(length));
        self.couple(&[&vec![0.0; last], &[length][..]].concat());
        self.basis.push(next);
        self.iteration.steps += 1;
        Ok(())
    }

    /// Sets the row of the small matrix that couples the next vector to the others.
    fn couple(&mut self, row: &[f64]) {
        let next = row.len();
        row.iter().enumerate().for_each(|(column, &entry)| self.projection[(next, column)] = entry);
    }

    /// The small matrix's Schur form, with the wanted eigenvalues first, and how the last vector is coupled to it.
    fn schur(&self, count: usize) -> Result<(Schur, Vec<f64>)> {
        let size = self.columns();
        let small = self.projection.get(..size, ..size).to_owned();
        let mut schur =
            Schur::new(&small, self.cancel())?.ok_or_else(|| self.iteration.operator.breakdown(greatest(&small)))?;
        schur.sort(count, self.cancel(), |one, other| self.goal.which.is_before(one, other))?;
        let coupling = self.coupling(&schur);
        Ok((schur, coupling))
    }

    fn coupling(&self, schur: &Schur) -> Vec<f64> {
        let size = self.columns();
        let row = self.projection.row(size).get(..size) * schur.space(size);
        row.iter().copied().collect()
    }

    /// Sort keys of the wanted eigenvalues.
    fn keys(&self, schur: &Schur, wanted: usize) -> Vec<f64> {
        let twice = |row: usize| std::iter::repeat_n(self.goal.which.key(schur.value(row)), schur.rows_at(row));
        schur.blocks(wanted).into_iter().flat_map(twice).take(self.goal.count).collect()
    }

    /// Whether the best eigenvalue behind the first ones is known well enough to say that it is not one of them.
    fn is_behind(&self, schur: &mut Schur, wanted: usize, floor: f64) -> Result<bool> {
        if wanted == self.columns() {
            return Ok(false);
        }
        schur.sort(wanted + 1, self.cancel(), |one, other| self.goal.which.is_before(one, other))?;
        let end = schur.end_of_block(wanted + 1);
        let residual = length(&self.coupling(schur)[..end]);
        let key = |&row: &usize| self.goal.which.key(schur.value(row));
        let least = schur.blocks(wanted).iter().map(key).reduce(f64::min);
        let behind = schur.blocks(self.columns()).into_iter().filter(|&row| row >= wanted);
        let best = behind.map(|row| key(&row)).fold(key(&wanted), f64::max);
        if best - key(&wanted) > floor {
            // Rounding kept the most wanted of these blocks from moving to the front.
            return Ok(false);
        }
        let gap = least.unwrap_or(f64::INFINITY) - best;
        Ok(residual <= floor.max(UNWANTED_RESIDUAL * gap))
    }

    /// Keeps the first vectors of a Schur form, whose space has converged, and begins again behind them.
    fn lock(&mut self, schur: &Schur, count: usize) -> Result<()> {
        if let Some(last) = self.keep(schur, count)? {
            self.basis.give_back(last);
        }
        self.begin()
    }

    /// Keeps the first vectors of a Schur form. The last vector is taken out of the basis.
    fn keep(&mut self, schur: &Schur, count: usize) -> Result<Option<Buffer<f64>>> {
        let last = self.basis.pop();
        self.basis.rotate(&schur.space(count))?;
        self.projection.fill(0.0);
        self.projection.get_mut(..count, ..count).copy_from(schur.front(count));
        Ok(last)
    }

    /// Keeps the best of the basis, and continues behind it.
    fn restart(&mut self, mut schur: Schur, wanted: usize) -> Result<()> {
        let size = self.columns();
        let mut keep = wanted + (size - wanted) / 2;
        schur.sort(keep, self.cancel(), |one, other| self.goal.which.is_before(one, other))?;
        // A pair at the end may fill the basis again.
        while schur.end_of_block(keep) == size {
            keep -= 1;
        }
        let count = schur.end_of_block(keep);
        let coupling = self.coupling(&schur);
        let Some(mut last) = self.keep(&schur, count)? else { unreachable!("the last vector is in memory") };
        // Remove what rounding added.
        self.basis.project_out(0..count, &mut last)?;
        let seed = self.iteration.next_seed();
        let length = orthonormalize(&self.basis, count, &mut last, 0.0, seed)?.upper[0][0];
        self.couple(&coupling[..count].iter().map(|entry| entry * length).collect::<Vec<_>>());
        self.basis.push(last);
        self.iteration.restarts += 1;
        Ok(())
    }

    /// Runs until all wanted eigenvalues have converged and none is wanted more, or there were too many restarts.
    /// Returns the Schur form, how many rows of it are wanted, one more if the last has a conjugate, and whether none
    /// is wanted more. Begins with a random vector, or at the checkpoint.
    pub fn run(&mut self, mut checkpoint: Option<Checkpoint<'a>>) -> Result<(Schur, usize, bool)> {
        let Goal { count, most_columns, most_restarts, tolerance, least_tolerance, .. } = self.goal;
        let between = LEAST_STEPS.max(most_columns / LOOKS);
        if !resume(&mut checkpoint, self)? {
            self.begin()?;
        }
        loop {
            save_if_due(&mut checkpoint, self)?;
            self.extend()?;
            let (size, is_full) = (self.columns(), self.columns() == most_columns);
            if size <= count || !(is_full || self.iteration.steps.is_multiple_of(between as u64)) {
                continue;
            }
            let (mut schur, coupling) = self.schur(count)?;
            let wanted = schur.end_of_block(count);
            let magnitudes = schur.blocks(wanted).into_iter().map(|row| schur.value(row).norm());
            let rounding = least_tolerance * self.iteration.norm.max(schur.largest());
            let floor = (tolerance * magnitudes.fold(f64::INFINITY, f64::min)).max(rounding);
            if length(&coupling[..wanted]) <= floor {
                let keys = self.keys(&schur, wanted);
                let is_known = self.iteration.is_locked(&keys, |_| floor);
                if is_known && self.is_behind(&mut schur, wanted, floor)? {
                    return Ok((schur, wanted, true));
                }
                if !is_known && (self.iteration.locked.is_empty() || self.iteration.restarts < most_restarts) {
                    self.iteration.restarts += u64::from(!self.iteration.locked.is_empty());
                    self.lock(&schur, wanted)?;
                    self.iteration.locked = keys;
                    continue;
                }
            }
            if is_full {
                if self.iteration.restarts >= most_restarts {
                    return Ok((schur, wanted, false));
                }
                self.restart(schur, wanted)?;
            }
        }
    }
}

impl Resumable for KrylovSchur<'_, '_> {
    fn blocks(&mut self) -> &mut dyn Blocks {
        &mut self.basis
    }

    fn state(&mut self, words: &mut Words) -> Option<()> {
        let iteration = &mut self.iteration;
        iteration.products(words)?;
        [&mut iteration.seed, &mut iteration.restarts, &mut iteration.steps]
            .into_iter()
            .try_for_each(|word| words.word(word))?;
        words.number(&mut iteration.norm)?;
        words.matrix(&mut self.projection)?;
        words.list(&mut iteration.locked)
    }
}

fn length(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum::<f64>().sqrt()
}
