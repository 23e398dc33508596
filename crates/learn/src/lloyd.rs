//! The fold of an iteration of k-means: counts and sums of the rows next to each centre, and squared distances.
//!
//! *Cost.* `n p` additions and as many multiplications; `k (p + 1)` numbers.

use crate::common::{add, array, classes, columns, finite, reals, weights};
use crate::pca::projected;
use outcore_array::kernel::Binary;
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// Squared distances of rows from centres, less the squares of the rows (`n x k`), lazily.
pub(crate) fn scores(shifted: &Array, centres: &[f64]) -> Result<Array> {
    let p = columns(shifted);
    let doubled: Vec<f64> = centres.iter().map(|centre| -2.0 * centre).collect();
    let squares: Vec<f64> =
        centres.chunks_exact(p).map(|centre| centre.iter().map(|value| value * value).sum()).collect();
    projected(shifted, &doubled, p)?.binary(Binary::Add, &array(&squares, &[squares.len()]))
}

/// The fold of an iteration: operands are rows less the shift, labels, and then weights.
pub(crate) struct Lloyd {
    pub columns: usize,
    pub centres: Vec<f64>,
    pub is_weighted: bool,
}

/// So many rows are made rows of adjacent elements at a time: sums of a centre are then added to together, and an
/// addition does not wait for the one before, as it does where most rows of a column have the same label.
const TILE_ROWS: usize = 16;

/// The squared distance of a row from a centre, in eight fixed lanes.
fn squared_distance(row: &[f64], centre: &[f64]) -> f64 {
    let (chunks, rest) = row.as_chunks::<8>();
    let (centre_chunks, centre_rest) = centre.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (chunk, centre) in chunks.iter().zip(centre_chunks) {
        for lane in 0..8 {
            let distance = chunk[lane] - centre[lane];
            lanes[lane] += distance * distance;
        }
    }
    for ((lane, value), centre) in lanes.iter_mut().zip(rest).zip(centre_rest) {
        *lane += (value - centre) * (value - centre);
    }
    lanes.iter().sum()
}

/// What is next to each centre.
#[derive(Clone, PartialEq)]
pub(crate) struct Sums {
    pub inertia: f64,
    pub counts: Vec<f64>,
    pub sums: Vec<f64>,
}

impl RowFold for Lloyd {
    type State = Sums;

    fn name(&self) -> &str {
        "k-means"
    }

    fn results(&self) -> usize {
        1 + self.centres.len() / self.columns + self.centres.len()
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn begin(&self) -> Sums {
        let (counts, sums) = (vec![0.0; self.centres.len() / self.columns], vec![0.0; self.centres.len()]);
        Sums { inertia: 0.0, counts, sums }
    }

    fn add(&self, state: &mut Sums, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (p, mut labels) = (self.columns, Vec::with_capacity(block.rows));
        classes(block, 1, state.counts.len(), &mut labels)?;
        let shares = weights(block, self.is_weighted.then_some(2))?;
        let columns: Vec<&[f64]> = block.operands[0].iter().map(reals).collect();
        let mut tile = vec![0.0; TILE_ROWS * p];
        for first in (0..block.rows).step_by(TILE_ROWS) {
            let rows = first..block.rows.min(first + TILE_ROWS);
            for (column, values) in columns.iter().enumerate() {
                let places = tile[column..].iter_mut().step_by(p);
                places.zip(&values[rows.clone()]).for_each(|(place, &value)| *place = value);
            }
            for (row, own) in rows.zip(tile.chunks_exact(p)) {
                let (label, share) = (labels[row], shares.map_or(1.0, |shares| shares[row]));
                let places = label * p..(label + 1) * p;
                state.inertia += share * squared_distance(own, &self.centres[places.clone()]);
                state.counts[label] += share;
                let sums = state.sums[places].iter_mut().zip(own);
                match shares {
                    None => sums.for_each(|(sum, value)| *sum += value),
                    Some(_) => sums.for_each(|(sum, value)| *sum += share * value),
                }
            }
        }
        Ok(())
    }

    fn merge(&self, state: &mut Sums, next: Sums) -> Result<()> {
        state.inertia += next.inertia;
        add(&mut state.counts, &next.counts);
        add(&mut state.sums, &next.sums);
        Ok(())
    }

    fn finish(&self, state: Sums) -> Result<Vec<f64>> {
        Ok([vec![state.inertia], state.counts, state.sums].concat())
    }
}
