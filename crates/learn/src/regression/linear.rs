//! Linear models: least squares, and with a penalty on the squares of coefficients.
//!
//! *Idea.* The normal equations of centred data, from the co-moments of variables and targets (`co_moments.rs`), by a
//! Cholesky factor of the matrix that is scaled to a diagonal of ones. If that is nearly singular, what squaring loses
//! matters: a second pass finds the R factor of the columns (`tsqr.rs`), and its singular vectors give the solution of
//! the least norm. Directions whose singular values are below `16 p eps` of the greatest one are left out, and those
//! that rounding explains: of elements around 10^6 it leaves some 10^-9. *Cost.* One pass, `n (p + t)^2`
//! multiplications; the second one takes four times as many. `(p + t)^2` numbers.

use crate::common::{Costs, array, columns, finite_rows, matrix, usage, vector};
use crate::declare::{
    Data, FIT_INTERCEPT, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable, TARGET, rows_shape,
};
use crate::decomposition::pca::projected;
use crate::decomposition::tsqr::{self, Factor};
use crate::moments::co_moments::Moments;
use crate::phases::{Phase, bytes_of, require};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use outcore_array::Array;
use outcore_array::kernel::{Binary, Unary};
use outcore_declare::{Fact, OptionValues, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_io::Runtime;

/// Least squared pivot of a matrix with a diagonal of ones; below it columns are nearly linearly dependent. Normal
/// equations lose as many digits as the pivot has: with this one coefficients have nine or more.
const LEAST_PIVOT: f64 = 1e-5;

/// Options of [`linear_regression`].
#[derive(Clone, Copy, Debug)]
pub struct LinearRegressionOptions<'a> {
    /// Whether there is an intercept.
    pub intercept: bool,
    /// The weights of rows (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for LinearRegressionOptions<'_> {
    fn default() -> Self {
        LinearRegressionOptions { intercept: true, weights: None }
    }
}

/// Options of [`ridge`].
#[derive(Clone, Copy, Debug)]
pub struct RidgeOptions<'a> {
    /// Factor of the squared coefficients in the penalty.
    pub alpha: f64,
    /// Whether there is an intercept, which is not penalised.
    pub intercept: bool,
    /// The weights of rows (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for RidgeOptions<'_> {
    fn default() -> Self {
        RidgeOptions { alpha: 1.0, intercept: true, weights: None }
    }
}

/// A linear model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinearModel {
    /// For every target the coefficients of all columns, row by row (`t x p`).
    pub coefficients: Vec<f64>,
    /// For every target the intercept.
    pub intercept: Vec<f64>,
    /// Rank of the data; less than `p` if columns are linearly dependent.
    pub rank: usize,
    /// The fraction of every target's variance that the model explains; 1 for a constant target.
    pub r2: Vec<f64>,
    /// The means of the columns, which predictions are computed about.
    pub mean: Vec<f64>,
    /// Whether the targets were a vector, so that predictions are one.
    pub is_vector: bool,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The linear model of `y` (`n` or `n x t`) by `x` (`n x p`) of least squares; of several the one of the least norm.
/// One pass; a second one where columns nearly depend on each other.
///
/// # Errors
/// NaN or infinite elements; not as many rows; weights below 0, or all 0.
pub fn linear_regression(
    runtime: &Runtime,
    x: &Array,
    y: &Array,
    options: &LinearRegressionOptions<'_>,
) -> Result<LinearModel> {
    let LinearRegressionOptions { intercept, weights } = *options;
    ridge(runtime, x, y, &RidgeOptions { alpha: 0.0, intercept, weights })
}

/// The linear model of `y` (`n` or `n x t`) by `x` (`n x p`) with the least sum of squared residuals and `alpha` times
/// squared coefficients. One pass; a second one where columns nearly depend on each other, beside the penalty too.
///
/// # Errors
/// As [`linear_regression`]; an alpha below 0.
pub fn ridge(runtime: &Runtime, x: &Array, y: &Array, options: &RidgeOptions<'_>) -> Result<LinearModel> {
    let is_vector = y.axes() == 1;
    let (x, y) = (matrix(x)?, matrix(y)?);
    if x.shape()[0] != y.shape()[0] {
        return usage(format!("expected targets of {} rows, found {}", x.shape()[0], y.shape()[0]));
    }
    if !(options.alpha >= 0.0 && options.alpha.is_finite()) {
        return usage(format!("expected alpha from 0 on, found {}", options.alpha));
    }
    let (p, t) = (columns(&x), columns(&y));
    require(runtime, "linear regression", &phases(&x, &y, options.weights)?)?;
    let _memory = runtime.budget().reserve("factors of p x p numbers", own_bytes(p + t))?;
    let mut costs = Costs::default();
    let found = costs.one(runtime, Moments::lazy(&x, Some(&y), options.weights)?)?;
    let mut moments = Moments::of(&found, p + t)?;
    if !options.intercept {
        for (place, sum) in moments.sums.iter_mut().enumerate() {
            *sum += moments.weight * moments.means[place / (p + t)] * moments.means[place % (p + t)];
        }
        moments.means.fill(0.0);
    }
    let sums = |i: usize, k: usize| moments.sums[i * (p + t) + k];
    let gram = Mat::from_fn(p, p, |i, k| sums(i, k) + if i == k { options.alpha } else { 0.0 });
    let right = Mat::from_fn(p, t, |i, k| sums(i, p + k));
    let noise = moments.noise()[..p].to_vec();
    let is_constant = |i: usize| options.alpha == 0.0 && sums(i, i).sqrt() <= noise[i];
    let (solution, rank) = match solved(&gram, &right).filter(|_| !(0..p).any(is_constant)) {
        Some(solution) => (solution, p),
        None => {
            let factor = factor(&x, &y, options.weights, &moments.means)?;
            let r = Factor::of(&costs.one(runtime, factor)?, p + t)?.r;
            // Centring lowers the rank of the rows by 1.
            let most = x.shape()[0].saturating_sub(u64::from(options.intercept));
            least_norm(r, &noise, options.alpha, most as usize)?
        }
    };
    let coefficients: Vec<f64> = (0..t).flat_map(|k| (0..p).map(move |i| (i, k))).map(|at| solution[at]).collect();
    let rows = coefficients.chunks_exact(p).enumerate();
    let at_mean = |own: &[f64]| own.iter().zip(&moments.means).map(|(w, mean)| w * mean).sum::<f64>();
    let intercept = rows.clone().map(|(k, own)| moments.means[p + k] - at_mean(own)).collect();
    let r2 = rows.map(|(k, own)| {
        let product = |i: usize| (0..p).map(|j| sums(i, j) * own[j]).sum::<f64>();
        let explained: f64 = (0..p).map(|i| own[i] * (2.0 * sums(i, p + k) - product(i))).sum();
        let all = sums(p + k, p + k);
        // A constant target is predicted exactly.
        if all == 0.0 { 1.0 } else { explained / all }
    });
    let (r2, mean) = (r2.collect(), moments.means[..p].to_vec());
    Ok(LinearModel { coefficients, intercept, rank, r2, mean, is_vector, stats: costs.finish(None) })
}

/// The solution of a positive definite system; none if it is nearly singular.
fn solved(gram: &Mat<f64>, right: &Mat<f64>) -> Option<Mat<f64>> {
    let p = gram.nrows();
    let scale: Vec<f64> = (0..p).map(|i| gram[(i, i)].sqrt()).collect();
    if !scale.iter().all(|&scale| scale > 0.0) {
        return None;
    }
    let factor = Mat::from_fn(p, p, |i, k| gram[(i, k)] / scale[i] / scale[k]).llt(Side::Lower).ok()?;
    let pivots = (0..p).map(|i| factor.L()[(i, i)].powi(2));
    if pivots.fold(f64::INFINITY, f64::min) <= LEAST_PIVOT {
        return None;
    }
    let solution = factor.solve(Mat::from_fn(p, right.ncols(), |i, k| right[(i, k)] / scale[i]));
    Some(Mat::from_fn(p, right.ncols(), |i, k| solution[(i, k)] / scale[i]))
}

/// The phases of a fit: the moments, and the factor of columns that nearly depend on each other.
fn phases(x: &Array, y: &Array, weights: Option<&Array>) -> Result<Vec<Phase>> {
    let all = columns(x) + columns(y);
    let passes = [Moments::lazy(x, Some(y), weights)?, factor(x, y, weights, &vec![0.0; all])?];
    Ok(passes.map(|pass| Phase::pass(vec![pass], own_bytes(all))).to_vec())
}

/// Memory of the moments and factors of `all` columns and targets.
fn own_bytes(all: usize) -> u64 {
    bytes_of(80, &[all, all])
}

/// The R factor of columns and targets less their means, lazily.
fn factor(x: &Array, y: &Array, weights: Option<&Array>, means: &[f64]) -> Result<Array> {
    let mut rows = Array::join(&[x.clone(), y.clone()], 1)?.binary(Binary::Subtract, &array(means, &[means.len()]))?;
    if let Some(weights) = weights {
        let roots = vector(x, weights, "weights")?.unary(Unary::Sqrt)?.with_axis(1)?;
        rows = rows.binary(Binary::Multiply, &roots)?;
    }
    tsqr::lazy(&rows, false)
}

/// The solution of least squares with the least norm, and its rank, from the R factor of columns and targets; with
/// `alpha` times squared coefficients, that of the sum. Of columns no more than their `noise` is known to be rounding.
fn least_norm(mut r: Mat<f64>, noise: &[f64], alpha: f64, most: usize) -> Result<(Mat<f64>, usize)> {
    let (p, all) = (noise.len(), r.ncols());
    let failed = |error| Error::Usage(format!("expected columns whose singular values can be found, found {error:?}"));
    for (i, &noise) in noise.iter().enumerate() {
        if alpha == 0.0 && r.submatrix(0, i, p, 1).norm_l2() <= noise {
            (0..p).for_each(|row| r[(row, i)] = 0.0);
        }
    }
    let left = r.submatrix(0, 0, p, p);
    let svd = left.svd().map_err(failed)?;
    let values = svd.S().column_vector();
    // Directions in which all columns together are no more than rounding.
    let known = Mat::from_fn(p, p, |row, i| if noise[i] > 0.0 { left[(row, i)] / noise[i] } else { 0.0 });
    let known = known.svd().map_err(failed)?;
    let known = known.S().column_vector().iter().filter(|&&value| value > (p as f64).sqrt()).count();
    let least = values[0] * (16 * p) as f64 * f64::EPSILON;
    let rank = match alpha {
        0.0 => (0..p).filter(|&k| values[k] > least).count().min(known).min(most),
        _ => (0..p).filter(|&k| values[k] > 0.0).count(),
    };
    let inner = svd.U().subcols(0, rank).transpose() * r.submatrix(0, p, p, all - p);
    let inner = Mat::from_fn(rank, all - p, |i, k| inner[(i, k)] * (values[i] / (values[i] * values[i] + alpha)));
    Ok((svd.V().subcols(0, rank) * &inner, rank))
}

/// The intercept and the terms of all columns, for each row of `coefficients` (`n x t`), lazily. Products are computed
/// about `shift`, so that numbers far from 0 do not cancel.
pub(crate) fn linear_terms(x: &Array, shift: &[f64], coefficients: &[f64], intercept: &[f64]) -> Result<Array> {
    let p = shift.len();
    let at_shift = |(row, intercept): (&[f64], &f64)| {
        intercept + row.iter().zip(shift).map(|(own, shift)| own * shift).sum::<f64>()
    };
    let at_shift: Vec<f64> = coefficients.chunks_exact(p).zip(intercept).map(at_shift).collect();
    let shifted = finite_rows(x)?.binary(Binary::Subtract, &array(shift, &[p]))?;
    projected(&shifted, coefficients, p)?.binary(Binary::Add, &array(&at_shift, &[at_shift.len()]))
}

impl LinearModel {
    /// The targets of observations (`n`, or `n x t`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict(&self, x: &Array) -> Result<Array> {
        let all = linear_terms(x, &self.mean, &self.coefficients, &self.intercept)?;
        if self.is_vector { all.without_axis(1) } else { Ok(all) }
    }
}

pub(crate) static REGRESSION: StatisticDeclaration = StatisticDeclaration {
    aliases: &["linear_regression"],
    options: &[TARGET, FIT_INTERCEPT],
    ..StatisticDeclaration::new(
        "regression",
        "Linear regression of a column by all others, by least squares, in one pass",
        "the prediction of every row",
        |data, values| plan(data, &values, 0.0),
    )
};
pub(crate) static RIDGE: StatisticDeclaration = StatisticDeclaration {
    options: &[
        TARGET,
        Parameter::real("alpha", 1.0, "What the squares of coefficients are multiplied by"),
        FIT_INTERCEPT,
    ],
    ..StatisticDeclaration::new(
        "ridge",
        "Linear regression with a penalty on the squares of coefficients, in one pass",
        "the prediction of every row",
        |data, values| plan(data, &values, values.real("alpha")),
    )
};

fn plan(data: &Data, values: &OptionValues, alpha: f64) -> Result<StatisticPlan> {
    let target = values.some_name("target").unwrap_or_default();
    let (own, y) = data.split(target)?;
    let (x, columns, rows, intercept) = (matrix(&own.array)?, own.names, data.rows(), values.flag("fit_intercept"));
    let phases = phases(&x, &matrix(&y)?, None)?;
    let result_bytes = bytes_of(64, &[columns.len() + 1]);
    let (p, fitted, names) = (columns.len(), columns.clone(), vec!["prediction".to_owned()]);
    let written = projected(&x.binary(Binary::Subtract, &array(&vec![0.0; p], &[p]))?, &vec![0.0; p], p)?;
    let output = rows_shape(data, names.clone(), false);
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let found = ridge(runtime, &x, &y, &RidgeOptions { alpha, intercept, weights: None })?;
        let (offset, r2) = (if intercept { found.intercept[0] } else { 0.0 }, found.r2[0]);
        let labels = columns.iter().cloned().chain(["(intercept)".to_owned()]).collect();
        let table = StatisticTable {
            labels: ("column", labels),
            names: vec!["coefficient".to_owned()],
            columns: vec![found.coefficients.iter().copied().chain([offset]).collect()],
        };
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(columns.clone())),
            ("coef", Fact::vector(&found.coefficients)),
            ("intercept", Fact::Real(offset)),
            ("rank", Fact::Whole(found.rank as u64)),
            ("r2", Fact::Real(r2)),
        ];
        let lines = vec![format!("{rows} rows, rank {}, R^2 {r2}", found.rank)];
        let rows = Some((found.predict(&x)?, names.clone()));
        Ok(StatisticFinding { lines, table, facts, rows, unconverged: None, stats: found.stats })
    };
    let passes = "1, one more where columns nearly depend on each other, and one to write predictions";
    let (passes, rows) = (passes.to_owned(), Some(written));
    Ok(StatisticPlan { phases, result_bytes, passes, output, rows, columns: fitted, run: Box::new(run) })
}
