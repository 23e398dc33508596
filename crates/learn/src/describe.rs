//! What the columns of an array are like: extremes, means, spreads, norms.
//!
//! *Idea.* All are folds of the engine's own, computed together. *Cost.* One pass; 10 numbers per column. NaN spreads
//! to the results of its column.

use crate::common::{Costs, matrix};
use crate::declare::{Data, Declaration, Fact, Found, Plan, Table};
use outcore_algo::Values;
use outcore_array::kernel::{Fold, Unary};
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
    /// The standard deviations, by the count less 1; NaN of a single row.
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

/// The arrays that describe every column of a vector or matrix, lazily: the least and greatest elements, in the type of
/// the array; means, standard deviations by the count less 1, sums of absolute values and square roots of sums of
/// squares, in its type or float64; counts of what differs from 0.
///
/// # Errors
/// An array without rows; elements of bool.
pub fn figures(x: &Array) -> Result<[Array; 7]> {
    let real = if x.element().is_real() { x.clone() } else { x.cast(ElementType::Float64)? };
    let sum = |array: Array| array.fold(Fold::Sum, &[0], false);
    Ok([
        x.fold(Fold::Min, &[0], false)?,
        x.fold(Fold::Max, &[0], false)?,
        x.mean(&[0], false)?,
        x.deviation(&[0], 1.0, false)?,
        sum(real.unary(Unary::Abs)?)?,
        sum(real.unary(Unary::Square)?)?.unary(Unary::Sqrt)?,
        sum(x.cast(ElementType::Bool)?)?,
    ])
}

/// Describes the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// An array that is no vector or matrix, or is empty; what [`outcore_array::compute`] refuses.
pub fn describe(runtime: &Arc<Runtime>, x: &Array) -> Result<Description> {
    let x = matrix(x)?;
    let mut all = figures(&x)?;
    all[6] = all[6].cast(ElementType::Float64)?;
    let mut costs = Costs::default();
    let found = costs.compute(runtime, &all)?;
    let [min, max, mean, deviation, l1, l2, nonzeros] = <[Vec<f64>; 7]>::try_from(found).expect("seven results");
    let nonzeros = nonzeros.iter().map(|&count| count as u64).collect();
    let (count, stats) = (x.shape()[0], costs.finish(None));
    Ok(Description { count, min, max, mean, deviation, l1, l2, nonzeros, stats })
}

/// The command of the shell.
pub(crate) const DESCRIBE: Declaration = Declaration {
    name: "describe",
    aliases: &[],
    summary: "Extremes, mean, standard deviation, norms and non-zeros of every column, in one pass",
    options: &[],
    output: "a row for each column",
    must_converge: false,
    plan,
};

fn plan(data: &Data, _: Values) -> Result<Plan> {
    const FIGURES: [&str; 7] = ["min", "max", "mean", "std", "l1", "l2", "nonzeros"];
    let (x, columns) = (data.array.clone(), data.names.clone());
    let table = move |figures| Table {
        labels: ("column", columns.clone()),
        names: FIGURES.map(str::to_owned).to_vec(),
        columns: figures,
    };
    let (pass, output) = (figures(&matrix(&x)?)?.to_vec(), table(Vec::new()).shape());
    let run = move |runtime: &Arc<Runtime>| -> Result<Found> {
        let found = describe(runtime, &x)?;
        let nonzeros = found.nonzeros.iter().map(|&count| count as f64).collect();
        let table = table(vec![found.min, found.max, found.mean, found.deviation, found.l1, found.l2, nonzeros]);
        let mut facts = vec![("rows", Fact::Whole(found.count)), ("columns", Fact::Names(table.labels.1.clone()))];
        facts.extend(FIGURES.into_iter().zip(table.columns.iter().map(|column| Fact::vector(column))));
        let (lines, stats) = (vec![format!("{} rows", found.count)], found.stats);
        Ok(Found { lines, table, facts, rows: None, unconverged: None, stats })
    };
    let columns = data.names.clone();
    Ok(Plan { pass, passes: "1".to_owned(), output, rows: None, columns, run: Box::new(run) })
}
