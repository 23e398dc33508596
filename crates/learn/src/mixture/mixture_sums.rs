//! The fold of an iteration of a mixture: weights, deviations and their products for each component.
//!
//! *Cost.* `n k p^2` multiplications if covariances are full; `k p^2` numbers.

use crate::common::{Room, add_half, dot, finite, pack, reals, sum_rows, total};
use crate::mixture::components::centre;
use crate::mixture::gaussian_mixture::CovarianceType;
use outcore_array::{Array, RowBlock};
use outcore_image::Result;

/// The fold: operands are observations, responsibilities, and logarithms of densities.
pub(crate) struct Sums {
    pub columns: usize,
    pub kind: CovarianceType,
    /// Means that deviations are taken from.
    pub means: Vec<f64>,
}

impl Sums {
    /// The sums, lazily: of the logarithms of densities, and of each component the weights, deviations and products.
    pub fn lazy(self, operands: &[Array]) -> Result<Array> {
        let (p, k) = (self.columns, self.means.len() / self.columns);
        let products = match self.kind {
            CovarianceType::Spherical => k * p,
            kind => kind.numbers(k, p),
        };
        let results = 1 + k + k * p + products;
        sum_rows("gaussian mixture", results, 2 * 508 * p, operands, move |sums, room, block| {
            self.add(sums, room, block)
        })
    }

    fn add(&self, sums: &mut [f64], (own, scaled): &mut Room, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (p, k, n) = (self.columns, self.means.len() / self.columns, block.rows);
        let (bound, rest) = sums.split_first_mut().expect("a bound");
        let (shares, rest) = rest.split_at_mut(k);
        let (deviations, products) = rest.split_at_mut(k * p);
        *bound += total(reals(&block.operands[2][0]));
        for c in 0..k {
            let (share, means) = (reals(&block.operands[1][c]), &self.means[c * p..(c + 1) * p]);
            shares[c] += total(share);
            pack(&block.operands[0], Some(means), own);
            for (sum, column) in deviations[c * p..(c + 1) * p].iter_mut().zip(own.chunks_exact(n)) {
                *sum += dot(column, share);
            }
            if matches!(self.kind, CovarianceType::Tied) {
                continue;
            }
            scaled.clear();
            for column in own.chunks_exact(n) {
                scaled.extend(column.iter().zip(share).map(|(value, share)| value * share));
            }
            match self.kind {
                CovarianceType::Tied => unreachable!("products of tied covariances are those of all rows"),
                CovarianceType::Full => add_half(own, scaled, n, &mut products[c * p * p..(c + 1) * p * p]),
                CovarianceType::Diagonal | CovarianceType::Spherical => {
                    let pairs = own.chunks_exact(n).zip(scaled.chunks_exact(n));
                    let squares = pairs.map(|(own, scaled)| dot(own, scaled));
                    products[c * p..(c + 1) * p].iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
                }
            }
        }
        if self.kind == CovarianceType::Tied {
            pack(&block.operands[0], Some(&centre(&self.means, p)), own);
            add_half(own, own, n, products);
        }
        Ok(())
    }
}
