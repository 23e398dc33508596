//! Weights, means and sums of squared deviations of columns, for each of some classes: what scalers, naive Bayes and
//! the starts of iterative models need.
//!
//! *Idea.* Every block is summed about its own means, which two sweeps over vectors in the cache take; sets of rows are
//! joined as Chan, Golub and LeVeque have it (*Updating formulae and a pairwise algorithm for computing sample
//! variances*, 1979), so that means far from 0 do no harm. *Cost.* One pass; `k (2 p + 1)` numbers.

use crate::common::{classes, columns, finite, no_overflow, operands, put, reals, weights};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// The fold: operands are observations, then labels if there are several classes, then weights.
pub(crate) struct ClassMoments {
    pub columns: usize,
    /// Number of classes; none if all rows are of one.
    pub classes: Option<usize>,
    pub is_weighted: bool,
}

/// The moments of every class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// The sum of weights of every class.
    pub weights: Vec<f64>,
    /// Class by class, of every column.
    pub means: Vec<f64>,
    /// Sums of squared deviations, in the same order.
    pub squares: Vec<f64>,
    room: (Vec<usize>, Vec<f64>),
}

impl Classes {
    fn new(classes: usize, columns: usize) -> Self {
        let numbers = vec![0.0; classes * columns];
        Classes { weights: vec![0.0; classes], means: numbers.clone(), squares: numbers, room: Default::default() }
    }

    /// The moments that a pass found.
    pub fn of(numbers: &[f64], classes: usize) -> Result<Self> {
        no_overflow(numbers)?;
        let (weights, rest) = numbers.split_at(classes);
        let (means, squares) = rest.split_at(rest.len() / 2);
        let (weights, means, squares) = (weights.to_vec(), means.to_vec(), squares.to_vec());
        Ok(Classes { weights, means, squares, room: Default::default() })
    }

    fn join(&mut self, other: &Classes) {
        let columns = self.means.len() / self.weights.len();
        for class in 0..self.weights.len() {
            let (own, next) = (self.weights[class], other.weights[class]);
            if next == 0.0 {
                continue;
            }
            let (all, share) = (own + next, next / (own + next));
            for place in class * columns..(class + 1) * columns {
                let distance = other.means[place] - self.means[place];
                self.squares[place] += other.squares[place] + distance * distance * (own * share);
                // The first rows leave no rounding.
                self.means[place] = if own == 0.0 { other.means[place] } else { self.means[place] + distance * share };
            }
            self.weights[class] = all;
        }
    }

    /// The moments of all classes together.
    pub fn together(&self) -> Classes {
        let columns = self.means.len() / self.weights.len();
        let mut all = Classes::new(1, columns);
        for class in 0..self.weights.len() {
            let place = class * columns..(class + 1) * columns;
            let (means, squares) = (self.means[place.clone()].to_vec(), self.squares[place].to_vec());
            all.join(&Classes { weights: vec![self.weights[class]], means, squares, room: Default::default() });
        }
        all
    }
}

impl ClassMoments {
    /// The fold of observations without classes.
    pub fn of(x: &Array, own_weights: Option<&Array>) -> Result<Array> {
        let fold = ClassMoments { columns: columns(x), classes: None, is_weighted: own_weights.is_some() };
        Array::fold_rows(fold, &operands(x, None, own_weights)?)
    }

    fn count(&self) -> usize {
        self.classes.unwrap_or(1)
    }
}

impl RowFold for ClassMoments {
    type State = Classes;

    fn name(&self) -> &str {
        "moments by class"
    }

    fn results(&self) -> usize {
        self.count() * (2 * self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        16 * self.results() as u64 + (24 << 9)
    }

    fn begin(&self) -> Classes {
        Classes::new(self.count(), self.columns)
    }

    fn add(&self, state: &mut Classes, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (mut labels, mut shares) = std::mem::take(&mut state.room);
        match self.classes {
            Some(count) => classes(block, 1, count, &mut labels)?,
            None => {
                labels.clear();
                labels.resize(block.rows, 0);
            }
        }
        let own = weights(block, self.is_weighted.then_some(block.operands.len() - 1))?;
        shares.clear();
        match own {
            Some(own) => shares.extend_from_slice(own),
            None => shares.resize(block.rows, 1.0),
        }
        let (count, columns) = (self.count(), self.columns);
        let mut part = Classes::new(count, columns);
        labels.iter().zip(&shares).for_each(|(&class, share)| part.weights[class] += share);
        let mut sums = vec![0.0; count];
        for (column, values) in block.operands[0].iter().enumerate() {
            let values = reals(values);
            // About the first value, so that sums round as little as deviations do.
            let first = values[0];
            sums.fill(0.0);
            let rows = || values.iter().zip(&labels).zip(&shares);
            match count {
                1 => sums[0] = rows().map(|((value, _), share)| (value - first) * share).sum(),
                _ => rows().for_each(|((value, &class), share)| sums[class] += (value - first) * share),
            }
            for (class, sum) in sums.iter().enumerate().filter(|&(class, _)| part.weights[class] > 0.0) {
                part.means[class * columns + column] = first + sum / part.weights[class];
            }
            sums.fill(0.0);
            let square = |value: f64, class: usize, share: f64| {
                let distance = value - part.means[class * columns + column];
                distance * distance * share
            };
            match count {
                1 => sums[0] = rows().map(|((&value, _), &share)| square(value, 0, share)).sum(),
                _ => rows().for_each(|((&value, &class), &share)| sums[class] += square(value, class, share)),
            }
            (0..count).for_each(|class| part.squares[class * columns + column] = sums[class]);
        }
        state.join(&part);
        state.room = (labels, shares);
        Ok(())
    }

    fn merge(&self, state: &mut Classes, next: Classes) -> Result<()> {
        state.join(&next);
        Ok(())
    }

    fn finish(&self, state: Classes, result: ValuesMut<'_>) -> Result<()> {
        put(&[state.weights, state.means, state.squares].concat(), result)
    }
}
