//! Scaling of columns to mean 0 and variance 1.
//!
//! *Cost.* One pass (`class_moments.rs`); `2 p` numbers.

use crate::common::{Costs, array, finite_rows, matrix, positive};
use crate::moments::class_moments::{ClassMoments, Classes};
use crate::moments::co_moments::NOISE;
use outcore_array::Array;
use outcore_array::kernel::Binary;
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Options of [`standard_scaler`].
#[derive(Clone, Copy, Debug)]
pub struct StandardScalerOptions<'a> {
    /// Whether means are subtracted.
    pub with_mean: bool,
    /// Whether columns are divided by their deviations.
    pub with_deviation: bool,
    /// Weight of each row, as a number of rows (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for StandardScalerOptions<'_> {
    fn default() -> Self {
        StandardScalerOptions { with_mean: true, with_deviation: true, weights: None }
    }
}

/// Means, variances and scales of columns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StandardScaler {
    /// The means.
    pub mean: Vec<f64>,
    /// The variances, by the count.
    pub variance: Vec<f64>,
    /// The square roots of the variances; 1 of columns that are constant, up to rounding.
    pub scale: Vec<f64>,
    /// Whether means are subtracted.
    pub with_mean: bool,
    /// Whether columns are divided by their deviations.
    pub with_deviation: bool,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Finds the means and scales of the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// NaN or infinite elements; weights below 0, or all 0.
pub fn standard_scaler(runtime: &Runtime, x: &Array, options: &StandardScalerOptions<'_>) -> Result<StandardScaler> {
    let x = matrix(x)?;
    let mut costs = Costs::default();
    let moments = Classes::of(&costs.one(runtime, ClassMoments::of(&x, options.weights)?)?, 1)?;
    let weight = positive(moments.weights[0])?;
    let variance: Vec<f64> = moments.squares.iter().map(|square| square / weight).collect();
    // A column is constant if its variance is within the rounding of its mean: moments here are exact to that, whatever
    // the number of rows. (scikit-learn's rule grows with it.)
    let pairs = variance.iter().zip(&moments.means);
    let scale = pairs.map(|(&v, &mean)| if v.sqrt() <= NOISE * mean.abs() { 1.0 } else { v.sqrt() }).collect();
    let StandardScalerOptions { with_mean, with_deviation, .. } = *options;
    Ok(StandardScaler { mean: moments.means, variance, scale, with_mean, with_deviation, stats: costs.finish(None) })
}

impl StandardScaler {
    /// The scaled observations, lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn transform(&self, x: &Array) -> Result<Array> {
        let mut x = finite_rows(x)?;
        let p = self.mean.len();
        if self.with_mean {
            x = x.binary(Binary::Subtract, &array(&self.mean, &[p]))?;
        }
        if self.with_deviation {
            x = x.binary(Binary::Divide, &array(&self.scale, &[p]))?;
        }
        Ok(x)
    }
}
