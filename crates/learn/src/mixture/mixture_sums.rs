//! The fold of an iteration of a mixture: weights, deviations and their products for each component.
//!
//! *Cost.* `n k p^2` multiplications if covariances are full; `k p^2` numbers.

use crate::common::{add, add_half, finite, pack, put, reals};
use crate::mixture::components::tied_centre;
use crate::mixture::gaussian_mixture::CovarianceType;
use outcore_array::kernel::ValuesMut;
use outcore_array::{RowBlock, RowFold};
use outcore_image::Result;

/// The fold: operands are observations, responsibilities, and logarithms of densities.
pub(crate) struct Sums {
    pub columns: usize,
    pub kind: CovarianceType,
    /// Means that deviations are taken from.
    pub means: Vec<f64>,
}

/// Sums, and buffers for a block.
pub(crate) struct State {
    sums: Vec<f64>,
    room: (Vec<f64>, Vec<f64>),
}

impl RowFold for Sums {
    type State = State;

    fn name(&self) -> &str {
        "gaussian mixture"
    }

    fn results(&self) -> usize {
        let (p, k) = (self.columns, self.means.len() / self.columns);
        let products = match self.kind {
            CovarianceType::Spherical => k * p,
            kind => kind.numbers(k, p),
        };
        1 + k + k * p + products
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        8 * (self.results() + 2 * 508 * self.columns) as u64
    }

    fn begin(&self) -> State {
        State { sums: vec![0.0; self.results()], room: Default::default() }
    }

    fn add(&self, state: &mut State, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (p, k, n) = (self.columns, self.means.len() / self.columns, block.rows);
        let (bound, rest) = state.sums.split_first_mut().expect("a bound");
        let (shares, rest) = rest.split_at_mut(k);
        let (deviations, products) = rest.split_at_mut(k * p);
        let (own, scaled) = &mut state.room;
        *bound += reals(&block.operands[2][0]).iter().sum::<f64>();
        for c in 0..k {
            let (share, means) = (reals(&block.operands[1][c]), &self.means[c * p..(c + 1) * p]);
            shares[c] += share.iter().sum::<f64>();
            pack(&block.operands[0], Some(means), own);
            scaled.clear();
            for column in own.chunks_exact(n) {
                scaled.extend(column.iter().zip(share).map(|(value, share)| value * share));
            }
            for (sum, column) in deviations[c * p..(c + 1) * p].iter_mut().zip(scaled.chunks_exact(n)) {
                *sum += column.iter().sum::<f64>();
            }
            match self.kind {
                CovarianceType::Full => add_half(own, scaled, n, &mut products[c * p * p..(c + 1) * p * p]),
                CovarianceType::Tied => {}
                CovarianceType::Diagonal | CovarianceType::Spherical => {
                    let pairs = own.chunks_exact(n).zip(scaled.chunks_exact(n));
                    let squares = pairs.map(|(own, scaled)| own.iter().zip(scaled).map(|(a, b)| a * b).sum::<f64>());
                    products[c * p..(c + 1) * p].iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
                }
            }
        }
        if self.kind == CovarianceType::Tied {
            pack(&block.operands[0], Some(&tied_centre(&self.means, p)), own);
            add_half(own, own, n, products);
        }
        Ok(())
    }

    fn close(&self, state: &mut State) -> Result<()> {
        state.room = Default::default();
        Ok(())
    }

    fn merge(&self, state: &mut State, next: State) -> Result<()> {
        add(&mut state.sums, &next.sums);
        Ok(())
    }

    fn finish(&self, state: State, result: ValuesMut<'_>) -> Result<()> {
        put(&state.sums, result)
    }
}
