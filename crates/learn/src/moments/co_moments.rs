//! Means of columns and the sums of products of their deviations: what covariances, principal components and linear
//! models are made of.
//!
//! *Idea.* Every block is centred by its own means and multiplied with itself; sets of rows are joined as Chan, Golub
//! and LeVeque have it (1979, see `class_moments.rs`), so that means far from 0 do no harm. A row of weight `w` counts
//! as `w` rows. Of a matrix of float32 blocks are multiplied in float32, and added up in float64: sums are right to
//! some 10^-7 of the deviations of both columns. *Cost.* One pass, `n p^2` multiplications, half of which symmetry
//! saves; `p^2` numbers per partition.

use crate::common::{
    add, add_half, add_square_by_float32, columns, finite, mirror, no_overflow, operands, pack, positive, put, total,
    weights,
};
use outcore_array::kernel::{Values, ValuesMut};
use outcore_array::{Array, ElementType, Part, RowBlock, RowFold};
use outcore_image::Result;

/// The fold: operands are matrices of observations, whose columns count on, and then weights.
pub(crate) struct CoMoments {
    pub columns: usize,
    pub matrices: usize,
    pub is_weighted: bool,
    /// Whether NaN and infinities spread to the results of their columns; otherwise they are refused.
    pub spreads_nan: bool,
}

/// Folded moments of some rows, and buffers for a block.
pub(crate) struct Folded {
    /// The sum of weights, the means, and the lower half of the sums of products.
    numbers: Vec<f64>,
    columns: usize,
    room: Room,
}

/// Packed rows, the same scaled by weights, and columns and products of float32.
type Room = (Vec<f64>, Vec<f64>, Narrow);
type Narrow = (Vec<f32>, Vec<f32>);

pub(crate) struct Moments {
    pub weight: f64,
    pub means: Vec<f64>,
    /// Row by row.
    pub sums: Vec<f64>,
}

/// The sums of products of deviations of columns from their means, `p x p`, of a matrix of `n x p`, lazily. One pass.
/// NaN and infinities spread to the results of their columns.
///
/// # Errors
/// Anything else than a matrix; one that is streamed along its columns.
pub fn co_moments(x: &Array) -> Result<Array> {
    let &[_, p] = x.shape() else {
        return crate::common::usage(format!("expected a matrix, found {} axes", x.axes()));
    };
    let x = if x.element() == ElementType::Float32 { x.clone() } else { x.cast(ElementType::Float64)? };
    let fold = CoMoments { columns: p as usize, matrices: 1, is_weighted: false, spreads_nan: true };
    let sums = Part::Range { start: 1 + p as i64, step: 1, count: p * p };
    Array::fold_rows(fold, &[x])?.slice(&[Some(sums)])?.reshape(&[p, p])
}

/// Largest norm, relative to that of the column, that rounding leaves of a constant column less its mean.
pub(crate) const NOISE: f64 = 64.0 * f64::EPSILON;

impl Moments {
    /// The norm that rounding alone may leave of each column less its mean.
    pub fn noise(&self) -> Vec<f64> {
        let p = self.means.len();
        let square = |i: usize| self.sums[i * (p + 1)] + self.weight * self.means[i].powi(2);
        (0..p).map(|i| NOISE * square(i).sqrt()).collect()
    }

    /// The moments that a pass found.
    pub fn of(numbers: &[f64], columns: usize) -> Result<Self> {
        no_overflow(numbers)?;
        let (means, sums) = numbers[1..].split_at(columns);
        Ok(Moments { weight: positive(numbers[0])?, means: means.to_vec(), sums: sums.to_vec() })
    }

    /// The lazy moments of observations.
    pub fn lazy(x: &Array, targets: Option<&Array>, own_weights: Option<&Array>) -> Result<Array> {
        let (matrices, is_weighted) = (1 + usize::from(targets.is_some()), own_weights.is_some());
        let columns = columns(x) + targets.map_or(0, columns);
        let fold = CoMoments { columns, matrices, is_weighted, spreads_nan: false };
        Array::fold_rows(fold, &operands(x, targets, own_weights)?)
    }
}

impl Folded {
    fn sums(&mut self) -> &mut [f64] {
        &mut self.numbers[1 + self.columns..]
    }

    /// Merges the moments of two sets of rows, whose sums of products are already added.
    fn join(&mut self, weight: f64, means: &[f64]) {
        let (head, rest) = self.numbers.split_at_mut(1);
        let (own_means, sums) = rest.split_at_mut(self.columns);
        if weight == 0.0 {
            return;
        }
        let own = head[0];
        head[0] += weight;
        if own == 0.0 {
            own_means.copy_from_slice(means);
            return;
        }
        let share = weight / head[0];
        let distances: Vec<f64> = means.iter().zip(&*own_means).map(|(next, own)| next - own).collect();
        for (row, &distance) in distances.iter().enumerate() {
            let scaled = distance * (own * share);
            let sums = &mut sums[row * distances.len()..][..=row];
            sums.iter_mut().zip(&distances).for_each(|(sum, &other)| *sum += scaled * other);
        }
        own_means.iter_mut().zip(&distances).for_each(|(mean, &distance)| *mean += distance * share);
    }
}

/// Centres the columns of a packed block by their own means, which it returns, and scales rows by their weights.
pub(crate) fn centre(packed: &mut [f64], rows: usize, shares: Option<&[f64]>, weight: f64, means: &mut Vec<f64>) {
    means.clear();
    for column in packed.chunks_exact_mut(rows) {
        // About the first value, so that of a constant column nothing is left.
        let first = column[0];
        let Some(shares) = shares else {
            let mean = first + total_less(column, first) / weight;
            column.iter_mut().for_each(|value| *value -= mean);
            // Correction for the rounding of the mean.
            means.push(mean + total(column) / weight);
            continue;
        };
        let sum: f64 = column.iter().zip(shares).map(|(value, share)| (value - first) * share).sum();
        let mean = if weight > 0.0 { first + sum / weight } else { first };
        column.iter_mut().for_each(|value| *value -= mean);
        means.push(mean);
    }
}

/// The sum of values, each less a number.
fn total_less(values: &[f64], less: f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value - less);
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|value| value - less).sum::<f64>()
}

impl RowFold for CoMoments {
    type State = Folded;

    fn name(&self) -> &str {
        "co-moments"
    }

    fn results(&self) -> usize {
        1 + self.columns * (self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        // Room for float32 takes as much as that for scaled rows, and a product.
        8 * (self.results() + 2 * 508 * self.columns) as u64 + 4 * (self.columns * self.columns) as u64
    }

    fn begin(&self) -> Folded {
        Folded { numbers: vec![0.0; self.results()], columns: self.columns, room: Default::default() }
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        if !self.spreads_nan {
            (0..self.matrices).try_for_each(|operand| finite(block, operand))?;
        }
        let shares = weights(block, self.is_weighted.then_some(self.matrices))?;
        let (mut packed, mut scaled, mut narrow) = std::mem::take(&mut state.room);
        let all = block.operands[..self.matrices].concat();
        pack(&all, None, &mut packed);
        let (rows, mut means) = (block.rows, Vec::with_capacity(self.columns));
        match shares {
            None => {
                centre(&mut packed, rows, None, rows as f64, &mut means);
                if matches!(all.first(), Some(Values::Float32(_))) {
                    add_square_by_float32(&packed, rows, state.sums(), &mut narrow);
                } else {
                    add_half(&packed, &packed, rows, state.sums());
                }
                state.join(rows as f64, &means);
            }
            Some(shares) => {
                let weight = shares.iter().sum();
                centre(&mut packed, rows, Some(shares), weight, &mut means);
                scaled.clear();
                for column in packed.chunks_exact(rows) {
                    scaled.extend(column.iter().zip(shares).map(|(value, share)| value * share));
                }
                add_half(&packed, &scaled, rows, state.sums());
                state.join(weight, &means);
            }
        }
        state.room = (packed, scaled, narrow);
        Ok(())
    }

    fn close(&self, state: &mut Folded) -> Result<()> {
        state.room = Default::default();
        Ok(())
    }

    fn merge(&self, state: &mut Folded, mut next: Folded) -> Result<()> {
        add(state.sums(), next.sums());
        state.join(next.numbers[0], &next.numbers[1..=self.columns]);
        Ok(())
    }

    fn finish(&self, mut state: Folded, result: ValuesMut<'_>) -> Result<()> {
        mirror(state.sums(), self.columns);
        put(&state.numbers, result)
    }
}
