//! Means of columns and the sums of products of their deviations: what covariances, principal components and linear
//! models are made of.
//!
//! *Idea.* Every block is centred by its own means and multiplied with itself; sets of rows are joined as Chan, Golub
//! and LeVeque have it (1979, see `class_moments.rs`), so that means far from 0 do no harm. A row of weight `w` counts
//! as `w` rows. *Cost.* One pass, `n p^2` multiplications; `p^2` numbers per partition.

use crate::common::{
    add, add_half, add_square, columns, finite, mirror, no_overflow, operands, pack, positive, weights,
};
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// The fold: operands are matrices of observations, whose columns count on, and then weights.
pub(crate) struct CoMoments {
    pub columns: usize,
    pub matrices: usize,
    pub is_weighted: bool,
}

/// Means and co-moments.
pub(crate) struct Moments {
    pub weight: f64,
    /// How many rows have a weight that is not 0.
    pub count: f64,
    pub means: Vec<f64>,
    /// Row by row; of a state only the lower half.
    pub sums: Vec<f64>,
    room: (Vec<f64>, Vec<f64>),
}

impl Moments {
    fn new(columns: usize) -> Self {
        let (means, sums) = (vec![0.0; columns], vec![0.0; columns * columns]);
        Moments { weight: 0.0, count: 0.0, means, sums, room: Default::default() }
    }

    /// The moments that a pass found.
    pub fn of(numbers: &[f64], columns: usize) -> Result<Self> {
        no_overflow(numbers)?;
        let (means, sums) = numbers[2..].split_at(columns);
        let mut sums = sums.to_vec();
        mirror(&mut sums, columns);
        let weight = positive(numbers[0])?;
        Ok(Moments { weight, count: numbers[1], means: means.to_vec(), sums, room: Default::default() })
    }

    /// The lazy moments of observations.
    pub fn lazy(x: &Array, targets: Option<&Array>, own_weights: Option<&Array>) -> Result<Array> {
        let mut all = operands(x, own_weights)?;
        let mut count = columns(x);
        if let Some(targets) = targets {
            count += columns(targets);
            all.insert(1, targets.clone());
        }
        let matrices = 1 + usize::from(targets.is_some());
        Array::fold_rows(CoMoments { columns: count, matrices, is_weighted: own_weights.is_some() }, &all)
    }

    /// What two sets of rows have together, of which the sums of products are added already.
    fn join(&mut self, weight: f64, count: f64, means: &[f64]) {
        self.count += count;
        if weight == 0.0 {
            return;
        }
        if self.weight == 0.0 {
            self.weight = weight;
            self.means.copy_from_slice(means);
            return;
        }
        let share = weight / (self.weight + weight);
        let distances: Vec<f64> = means.iter().zip(&self.means).map(|(next, own)| next - own).collect();
        for (row, &distance) in distances.iter().enumerate() {
            let scaled = distance * (self.weight * share);
            let sums = &mut self.sums[row * distances.len()..][..=row];
            sums.iter_mut().zip(&distances).for_each(|(sum, &other)| *sum += scaled * other);
        }
        self.means.iter_mut().zip(&distances).for_each(|(mean, &distance)| *mean += distance * share);
        self.weight += weight;
    }
}

/// Centres the columns of a packed block by their own means, which it returns, and scales rows by their weights.
pub(crate) fn centre(packed: &mut [f64], rows: usize, shares: Option<&[f64]>, weight: f64, means: &mut Vec<f64>) {
    means.clear();
    for column in packed.chunks_exact_mut(rows) {
        let first = column[0];
        let sum: f64 = match shares {
            None => column.iter().map(|value| value - first).sum(),
            Some(shares) => column.iter().zip(shares).map(|(value, share)| (value - first) * share).sum(),
        };
        let mean = if weight > 0.0 { first + sum / weight } else { first };
        column.iter_mut().for_each(|value| *value -= mean);
        means.push(mean);
    }
}

impl RowFold for CoMoments {
    type State = Moments;

    fn name(&self) -> &str {
        "co-moments"
    }

    fn results(&self) -> usize {
        2 + self.columns * (self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        8 * (self.results() + 2 * 508 * self.columns) as u64
    }

    fn begin(&self) -> Moments {
        Moments::new(self.columns)
    }

    fn add(&self, state: &mut Moments, block: &RowBlock<'_>) -> Result<()> {
        (0..self.matrices).try_for_each(|operand| finite(block, operand))?;
        let shares = weights(block, self.is_weighted.then_some(self.matrices))?;
        let (mut packed, mut scaled) = std::mem::take(&mut state.room);
        pack(&block.operands[..self.matrices].concat(), None, &mut packed);
        let mut means = Vec::with_capacity(self.columns);
        match shares {
            None => {
                centre(&mut packed, block.rows, None, block.rows as f64, &mut means);
                add_square(&packed, block.rows, &mut state.sums);
                state.join(block.rows as f64, block.rows as f64, &means);
            }
            Some(shares) => {
                let weight = shares.iter().sum();
                centre(&mut packed, block.rows, Some(shares), weight, &mut means);
                scaled.clear();
                for column in packed.chunks_exact(block.rows) {
                    scaled.extend(column.iter().zip(shares).map(|(value, share)| value * share));
                }
                add_half(&packed, &scaled, block.rows, &mut state.sums);
                let count = shares.iter().filter(|share| **share > 0.0).count();
                state.join(weight, count as f64, &means);
            }
        }
        state.room = (packed, scaled);
        Ok(())
    }

    fn close(&self, state: &mut Moments) -> Result<()> {
        state.room = Default::default();
        Ok(())
    }

    fn merge(&self, state: &mut Moments, next: Moments) -> Result<()> {
        add(&mut state.sums, &next.sums);
        state.join(next.weight, next.count, &next.means);
        Ok(())
    }

    fn finish(&self, state: Moments) -> Result<Vec<f64>> {
        Ok([vec![state.weight, state.count], state.means, state.sums].concat())
    }
}
