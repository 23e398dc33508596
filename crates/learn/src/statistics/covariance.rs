//! Covariances and correlations of columns.
//!
//! *Idea.* Co-moments (`co_moments.rs`) by the sum of weights less the degrees of freedom. *Cost.* One pass; `p^2`
//! numbers.

use crate::common::{Costs, columns, matrix, usage};
use crate::declare::{Data, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable};
use crate::moments::co_moments::Moments;
use crate::phases::{Phase, bytes_of, require};
use outcore_array::Array;
use outcore_declare::{Fact, OptionValues, Parameter};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Options of [`covariance`].
#[derive(Clone, Copy, Debug)]
pub struct CovarianceOptions<'a> {
    /// Number subtracted from the sum of weights, or from the count.
    pub correction: f64,
    /// Weight of each row, as a number of rows (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for CovarianceOptions<'_> {
    fn default() -> Self {
        CovarianceOptions { correction: 1.0, weights: None }
    }
}

/// The covariances of all columns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Covariance {
    /// `p x p`, row by row.
    pub covariance: Vec<f64>,
    /// The means of the columns.
    pub mean: Vec<f64>,
    /// The count of rows, or the sum of their weights.
    pub weight: f64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The correlations of all columns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Correlation {
    /// `p x p`, row by row; NaN of columns that are constant, up to rounding.
    pub correlation: Vec<f64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The covariances of the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// NaN or infinite elements; weights below 0, or all 0; not more weight than the correction.
pub fn covariance(runtime: &Runtime, x: &Array, options: &CovarianceOptions<'_>) -> Result<Covariance> {
    let (moments, stats) = moments(runtime, x, options.weights)?;
    let divisor = moments.weight - options.correction;
    if divisor <= 0.0 {
        let correction = options.correction;
        return usage(format!("expected more observations than {correction}, found a weight of {}", moments.weight));
    }
    let covariance = moments.sums.iter().map(|sum| sum / divisor).collect();
    Ok(Covariance { covariance, mean: moments.means, weight: moments.weight, stats })
}

/// The correlations (Pearson) of the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// NaN or infinite elements; weights below 0, or all 0.
pub fn correlation(runtime: &Runtime, x: &Array, weights: Option<&Array>) -> Result<Correlation> {
    let (moments, stats) = moments(runtime, x, weights)?;
    let columns = moments.means.len();
    // A column that is constant, up to rounding, has no correlation.
    let noise = moments.noise();
    let scale = |i: usize| Some(moments.sums[i * (columns + 1)].sqrt()).filter(|scale| *scale > noise[i]);
    let scale: Vec<f64> = (0..columns).map(|i| scale(i).unwrap_or(f64::NAN)).collect();
    let mut correlation = moments.sums;
    for (place, value) in correlation.iter_mut().enumerate() {
        let (row, column) = (place / columns, place % columns);
        // By one after the other, for the product may overflow.
        *value = (*value / scale[row] / scale[column]).clamp(-1.0, 1.0);
        if row == column && scale[row] > 0.0 {
            *value = 1.0;
        }
    }
    Ok(Correlation { correlation, stats })
}

fn moments(runtime: &Runtime, x: &Array, weights: Option<&Array>) -> Result<(Moments, Stats)> {
    let x = matrix(x)?;
    let pass = Moments::lazy(&x, None, weights)?;
    require(runtime, "covariances", &[Phase::pass(vec![pass.clone()], bytes_of(24, &[columns(&x), columns(&x)]))])?;
    let mut costs = Costs::default();
    let found = costs.one(runtime, pass)?;
    Ok((Moments::of(&found, columns(&x))?, costs.finish(None)))
}

pub(crate) static COV: StatisticDeclaration = StatisticDeclaration {
    aliases: &["covariance"],
    options: &[Parameter::real("correction", 1.0, "What the count of rows is lessened by")],
    ..StatisticDeclaration::new(
        "cov",
        "Covariances of all columns, in one pass",
        "the covariances: a row and a column for each column",
        |data, values| {
            let correction = values.real("correction");
            square(data, "covariance", move |runtime, x| {
                let found = covariance(runtime, x, &CovarianceOptions { correction, weights: None })?;
                Ok((found.covariance, found.stats))
            })
        },
    )
};
pub(crate) static CORR: StatisticDeclaration = StatisticDeclaration {
    aliases: &["corrcoef", "correlation"],
    ..StatisticDeclaration::new(
        "corr",
        "Correlations (Pearson) of all columns, in one pass",
        "the correlations: a row and a column for each column",
        |data, _: OptionValues| {
            square(data, "correlation", |runtime, x| {
                let found = correlation(runtime, x, None)?;
                Ok((found.correlation, found.stats))
            })
        },
    )
};

fn square(
    data: &Data,
    name: &'static str,
    of: impl Fn(&Runtime, &Array) -> Result<(Vec<f64>, Stats)> + 'static,
) -> Result<StatisticPlan> {
    let (x, names, rows) = (data.array.clone(), data.names.clone(), data.rows());
    let own = names.clone();
    let table = move |numbers: &[f64]| StatisticTable::of_rows(("column", own.clone()), own.clone(), numbers);
    let (pass, output) = (Moments::lazy(&matrix(&x)?, None, None)?, table(&[]).shape());
    let result_bytes = bytes_of(24, &[names.len(), names.len()]);
    let phases = vec![Phase::pass(vec![pass], result_bytes)];
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let (numbers, stats) = of(runtime, &x)?;
        let table = table(&numbers);
        let columns = Fact::Names(table.names.clone());
        let facts =
            vec![("rows", Fact::Whole(rows)), ("columns", columns), (name, Fact::matrix(&numbers, table.names.len()))];
        let lines = vec![format!("{name} of {rows} rows")];
        Ok(StatisticFinding { lines, table, facts, rows: None, unconverged: None, stats })
    };
    Ok(StatisticPlan {
        phases,
        result_bytes,
        passes: "1".to_owned(),
        output,
        rows: None,
        columns: names,
        run: Box::new(run),
    })
}
