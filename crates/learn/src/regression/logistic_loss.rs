//! The fold of logistic regression: loss, gradient and second derivatives of all rows.
//!
//! *Idea.* All is computed in vectors of a block's rows: scores of some rows at a time in registers, and one
//! exponential function per score, of a number that is not above 0, from which both the probability and the loss
//! follow. *Cost.* With `m = k (p + 1)` parameters `2 n m` multiplications, and `n m^2 / 2` for second derivatives;
//! `m^2` numbers.

use crate::common::{Room, add, add_half, add_product, classes, dot, finite, mirror, reals, sum_rows, total, weights};
use outcore_array::kernel::{self, Loop, Unary, Values, ValuesMut, widest};
use outcore_array::{Array, RowBlock};
use outcore_image::Result;

/// The fold: operands are observations, labels, and then weights.
pub(crate) struct Loss {
    /// 1 for two classes, else how many classes there are.
    pub rows: usize,
    /// The parameters of a row.
    pub width: usize,
    pub shift: Vec<f64>,
    pub scale: Vec<f64>,
    pub place: Vec<f64>,
    pub is_newton: bool,
    pub is_weighted: bool,
}

impl Loss {
    /// The sums, lazily: the loss, its gradient, and the lower blocks of the second derivatives.
    pub fn lazy(self, operands: &[Array]) -> Result<Array> {
        let size = self.place.len();
        let results = 1 + size + if self.is_newton { size * size } else { 0 };
        let room = 508 * (2 * self.width + 2 * self.rows + 6) + self.width * self.width;
        sum_rows("logistic loss", results, room, operands, move |sums, room, block| self.add(sums, room, block))
    }

    fn add(&self, sums: &mut [f64], (values, scores): &mut Room, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (n, width, size) = (block.rows, self.width, self.place.len());
        let (count, mut labels) = (if self.rows == 1 { 2 } else { self.rows }, Vec::new());
        classes(block, 1, count, &mut labels)?;
        let shares = weights(block, self.is_weighted.then_some(2))?;
        scaled(block, (&self.shift, &self.scale), width, values);
        // The scores become probabilities.
        score(values, &self.place, n, scores);
        let (loss, rest) = sums.split_first_mut().expect("a loss");
        *loss += match self.rows {
            1 => probability(scores, &labels, shares),
            _ => probabilities(scores, &labels, shares),
        };
        let mut errors = scores.clone();
        for (row, &label) in labels.iter().enumerate() {
            match self.rows {
                1 => errors[row] -= label as f64,
                _ => errors[label * n + row] -= 1.0,
            }
        }
        if let Some(shares) = shares {
            errors.chunks_exact_mut(n).for_each(|errors| scale(errors, shares));
        }
        let (gradient, hessian) = rest.split_at_mut(size);
        match self.rows {
            1 => gradient.iter_mut().zip(values.chunks_exact(n)).for_each(|(to, column)| *to += dot(column, &errors)),
            _ => add_product(&errors, values, n, gradient),
        }
        if self.is_newton {
            self.add_hessian(hessian, values, scores, shares);
        }
        Ok(())
    }

    /// Adds the lower blocks of the second derivatives.
    fn add_hessian(&self, hessian: &mut [f64], values: &[f64], scores: &[f64], shares: Option<&[f64]>) {
        let (width, size) = (self.width, self.place.len());
        let n = scores.len() / self.rows;
        let (mut factors, mut scaled, mut part) = (vec![0.0; n], vec![0.0; n * width], vec![0.0; width * width]);
        for one in 0..self.rows {
            for other in 0..=one {
                let pairs = scores[one * n..][..n].iter().zip(&scores[other * n..][..n]);
                for (factor, (own, next)) in factors.iter_mut().zip(pairs) {
                    *factor = if one == other { own * (1.0 - own) } else { -own * next };
                }
                if let Some(shares) = shares {
                    scale(&mut factors, shares);
                }
                for (to, from) in scaled.chunks_exact_mut(n).zip(values.chunks_exact(n)) {
                    to.iter_mut().zip(from).zip(&factors).for_each(|((to, from), factor)| *to = from * factor);
                }
                part.fill(0.0);
                // The product is symmetric.
                add_half(values, &scaled, n, &mut part);
                mirror(&mut part, width);
                for (i, part) in part.chunks_exact(width).enumerate() {
                    add(&mut hessian[(one * width + i) * size + other * width..][..width], part);
                }
            }
        }
    }
}

/// Writes the columns of a block, shifted and scaled, and one of ones for the intercept if `width` has it.
pub(crate) fn scaled(block: &RowBlock<'_>, (shift, scale): (&[f64], &[f64]), width: usize, values: &mut Vec<f64>) {
    values.clear();
    for (own, (shift, scale)) in block.operands[0].iter().zip(shift.iter().zip(scale)) {
        values.extend(reals(own).iter().map(|value| (value - shift) * scale));
    }
    values.resize(block.rows * width, 1.0);
}

/// Writes the scores of `n` observations, given by columns, for every row of parameters.
pub(crate) fn score(values: &[f64], place: &[f64], n: usize, scores: &mut Vec<f64>) {
    let width = values.len() / n;
    scores.clear();
    scores.resize(place.len() / width * n, 0.0);
    for (to, place) in scores.chunks_exact_mut(n).zip(place.chunks_exact(width)) {
        widest(Scores { values, place, to });
    }
}

/// Multiplies numbers by others.
fn scale(numbers: &mut [f64], factors: &[f64]) {
    numbers.iter_mut().zip(factors).for_each(|(number, factor)| *number *= factor);
}

/// The scores of observations, given by columns, for a row of parameters.
struct Scores<'a> {
    values: &'a [f64],
    place: &'a [f64],
    to: &'a mut [f64],
}

impl Scores<'_> {
    #[inline(always)]
    fn rows<const R: usize>(&mut self, rows: std::ops::Range<usize>) {
        let n = self.to.len();
        for first in rows.step_by(R) {
            let mut sums = [0.0; R];
            for (column, own) in self.place.iter().enumerate() {
                let values: &[f64; R] = self.values[column * n + first..][..R].try_into().expect("as many rows");
                for i in 0..R {
                    sums[i] += own * values[i];
                }
            }
            self.to[first..first + R].copy_from_slice(&sums);
        }
    }
}

impl Loop for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        const ROWS: usize = 16;
        let n = self.to.len();
        let whole = n / ROWS * ROWS;
        self.rows::<ROWS>(0..whole);
        self.rows::<1>(whole..n);
    }
}

/// A function of all numbers.
fn mapped(function: Unary, numbers: &[f64]) -> Vec<f64> {
    let mut to = vec![0.0; numbers.len()];
    kernel::unary(function, Values::Float64(numbers), ValuesMut::Float64(&mut to));
    to
}

/// The sum of losses, times weights.
fn weighted(losses: &[f64], shares: Option<&[f64]>) -> f64 {
    shares.map_or_else(|| total(losses), |shares| dot(losses, shares))
}

/// Makes scores of two classes probabilities of class 1, and returns the loss.
fn probability(scores: &mut [f64], labels: &[usize], shares: Option<&[f64]>) -> f64 {
    let powers: Vec<f64> = scores.iter().map(|score| -score.abs()).collect();
    let powers = mapped(Unary::Exp, &powers);
    let mut losses = mapped(Unary::Log1p, &powers);
    for (((score, power), &label), loss) in scores.iter_mut().zip(&powers).zip(labels).zip(&mut losses) {
        let signed = if label == 1 { -*score } else { *score };
        *loss += if signed > 0.0 { signed } else { 0.0 };
        *score = if *score < 0.0 { *power } else { 1.0 } / (1.0 + power);
    }
    weighted(&losses, shares)
}

/// Makes scores, class by class, probabilities, and returns the loss.
fn probabilities(scores: &mut [f64], labels: &[usize], shares: Option<&[f64]>) -> f64 {
    let n = labels.len();
    let mut most = scores[..n].to_vec();
    for scores in scores.chunks_exact(n).skip(1) {
        most.iter_mut().zip(scores).for_each(|(most, &score)| *most = if score > *most { score } else { *most });
    }
    let mut sums = vec![0.0; n];
    let mut own = vec![0.0; n];
    for (class, scores) in scores.chunks_exact_mut(n).enumerate() {
        scores.iter_mut().zip(&most).for_each(|(score, most)| *score -= most);
        for (row, own) in own.iter_mut().enumerate().filter(|&(row, _)| labels[row] == class) {
            *own = scores[row];
        }
        scores.copy_from_slice(&mapped(Unary::Exp, scores));
        add(&mut sums, scores);
    }
    let mut losses = mapped(Unary::Log, &sums);
    losses.iter_mut().zip(&own).for_each(|(loss, own)| *loss -= own);
    for scores in scores.chunks_exact_mut(n) {
        scores.iter_mut().zip(&sums).for_each(|(score, sum)| *score /= sum);
    }
    weighted(&losses, shares)
}
