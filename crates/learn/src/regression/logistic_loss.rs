//! The fold of logistic regression: loss, gradient and second derivatives of all rows.
//!
//! *Cost.* With `m = k (p + 1)` parameters `2 n m` multiplications, and `n m^2 / 2` for second derivatives; `m^2`
//! numbers.

use crate::common::{add, add_product, classes, finite, pack, sum_rows, weights};
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
        let room = 508 * (2 * self.width + 2 * self.rows);
        sum_rows("logistic loss", results, room, operands, move |sums, _, block| self.add(sums, block))
    }

    fn add(&self, sums: &mut [f64], block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (n, width, size) = (block.rows, self.width, self.place.len());
        let count = if self.rows == 1 { 2 } else { self.rows };
        let (mut labels, mut values) = (Vec::new(), Vec::new());
        classes(block, 1, count, &mut labels)?;
        let shares = weights(block, self.is_weighted.then_some(2))?;
        let share = |row: usize| shares.map_or(1.0, |shares| shares[row]);
        pack(&block.operands[0], Some(&self.shift), &mut values);
        for (column, scale) in values.chunks_exact_mut(n).zip(&self.scale) {
            column.iter_mut().for_each(|value| *value *= scale);
        }
        values.resize(n * width, 1.0);
        // The scores of all observations for every row of parameters.
        let mut scores = vec![0.0; n * self.rows];
        for (scores, place) in scores.chunks_exact_mut(n).zip(self.place.chunks_exact(width)) {
            for (column, own) in values.chunks_exact(n).zip(place) {
                scores.iter_mut().zip(column).for_each(|(score, value)| *score += own * value);
            }
        }
        let (loss, rest) = sums.split_first_mut().expect("a loss");
        // Scores become probabilities.
        for (row, &label) in labels.iter().enumerate() {
            if self.rows == 1 {
                let score = scores[row];
                let signed = if label == 1 { -score } else { score };
                *loss += share(row) * (signed.max(0.0) + (-signed.abs()).exp().ln_1p());
                scores[row] = 1.0 / (1.0 + (-score).exp());
                continue;
            }
            let own = || (0..self.rows).map(|class| class * n + row);
            let most = own().map(|at| scores[at]).fold(f64::MIN, f64::max);
            let sum: f64 = own().map(|at| (scores[at] - most).exp()).sum();
            *loss += share(row) * (sum.ln() + most - scores[label * n + row]);
            own().for_each(|at| scores[at] = (scores[at] - most).exp() / sum);
        }
        let mut errors = scores.clone();
        for (row, &label) in labels.iter().enumerate() {
            match self.rows {
                1 => errors[row] -= label as f64,
                _ => errors[label * n + row] -= 1.0,
            }
            (0..self.rows).for_each(|class| errors[class * n + row] *= share(row));
        }
        let (gradient, hessian) = rest.split_at_mut(size);
        add_product(&errors, &values, n, gradient);
        if self.is_newton {
            let (mut scaled, mut part) = (vec![0.0; n * width], vec![0.0; width * width]);
            for one in 0..self.rows {
                for other in 0..=one {
                    for (at, factor) in errors[..n].iter_mut().enumerate() {
                        let (own, next) = (scores[one * n + at], scores[other * n + at]);
                        *factor = share(at) * if one == other { own * (1.0 - own) } else { -own * next };
                    }
                    for (to, from) in scaled.chunks_exact_mut(n).zip(values.chunks_exact(n)) {
                        to.iter_mut().zip(from).zip(&errors).for_each(|((to, from), factor)| *to = from * factor);
                    }
                    part.fill(0.0);
                    add_product(&values, &scaled, n, &mut part);
                    for (i, part) in part.chunks_exact(width).enumerate() {
                        add(&mut hessian[(one * width + i) * size + other * width..][..width], part);
                    }
                }
            }
        }
        Ok(())
    }
}
