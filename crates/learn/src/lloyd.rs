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
        let mut squares = vec![0.0; block.rows];
        for (column, values) in block.operands[0].iter().enumerate() {
            for (row, (&value, &label)) in reals(values).iter().zip(&labels).enumerate() {
                let distance = value - self.centres[label * p + column];
                squares[row] += distance * distance;
                state.sums[label * p + column] += shares.map_or(value, |shares| shares[row] * value);
            }
        }
        for (row, (&square, &label)) in squares.iter().zip(&labels).enumerate() {
            let share = shares.map_or(1.0, |shares| shares[row]);
            state.inertia += share * square;
            state.counts[label] += share;
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
