//! What the columns of an array are like: extremes, means, spreads, norms.
//!
//! *Idea.* All are folds of the engine's own, computed together. *Cost.* One pass; 10 numbers per column. NaN spreads
//! to the results of its column.

use crate::common::{Costs, array, columns, matrix};
use outcore_array::kernel::{Binary, Fold, Unary};
use outcore_array::{Array, ElementType};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;
use std::sync::Arc;

/// Statistics of every column of a matrix.
#[derive(Clone, Debug)]
pub struct Description {
    /// How many rows there are.
    pub count: u64,
    /// The least elements.
    pub min: Vec<f64>,
    /// The greatest elements.
    pub max: Vec<f64>,
    /// The means.
    pub mean: Vec<f64>,
    /// The variances, by the count less 1; NaN of a single row.
    pub variance: Vec<f64>,
    /// The standard deviations, which are the square roots of the variances.
    pub deviation: Vec<f64>,
    /// The sums of absolute values.
    pub l1: Vec<f64>,
    /// The square roots of sums of squares.
    pub l2: Vec<f64>,
    /// How many elements differ from 0.
    pub nonzeros: Vec<u64>,
    /// What it cost.
    pub stats: Stats,
}

/// Describes the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// An array that is no vector or matrix, or is empty; what [`outcore_array::compute`] refuses.
pub fn describe(runtime: &Arc<Runtime>, x: &Array) -> Result<Description> {
    let x = matrix(x)?;
    let rows = x.shape()[0];
    let fold = |array: &Array, fold: Fold| array.fold(fold, &[0], false)?.reshape(&[columns(&x) as u64]);
    let is_set = x.binary(Binary::NotEqual, &array(&[0.0], &[]))?.cast(ElementType::Float64)?;
    let all = [
        fold(&x, Fold::Min)?,
        fold(&x, Fold::Max)?,
        x.mean(&[0], false)?,
        x.variance(&[0], 1.0, false)?,
        fold(&x.unary(Unary::Abs)?, Fold::Sum)?,
        fold(&x.unary(Unary::Square)?, Fold::Sum)?,
        fold(&is_set, Fold::Sum)?,
    ];
    let mut costs = Costs::default();
    let found = costs.compute(runtime, &all)?;
    let [min, max, mean, variance, l1, squares, nonzeros] = <[Vec<f64>; 7]>::try_from(found).expect("seven results");
    let root = |numbers: &[f64]| numbers.iter().map(|number| number.sqrt()).collect::<Vec<_>>();
    let (deviation, l2) = (root(&variance), root(&squares));
    let nonzeros = nonzeros.iter().map(|&count| count as u64).collect();
    let stats = costs.finish(None);
    Ok(Description { count: rows, min, max, mean, variance, deviation, l1, l2, nonzeros, stats })
}
