//! Naive Bayes with normally distributed columns.
//!
//! *Cost.* One pass (`class_moments.rs`); `k (2 p + 1)` numbers. As scikit-learn's `GaussianNB`: to all variances
//! `smoothing` times the greatest variance of a column is added.

use crate::classes::{Labels, classes_of, named};
use crate::common::{Costs, columns, finite_rows, matrix, operands, positive, scalar, usage, vector};
use crate::declare::{
    Data, PROBA, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable, TARGET, rows_shape,
};
use crate::mixture::components::{Components, stand_in};
use crate::mixture::gaussian_mixture::CovarianceType;
use crate::moments::class_moments::{ClassMoments, Classes};
use crate::phases::{Phase, bytes_of, require, require_own};
use outcore_array::Array;
use outcore_array::kernel::{Binary, Fold, Unary};
use outcore_declare::{Fact, OptionValues, Parameter};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Options of [`gaussian_nb`].
#[derive(Clone, Copy, Debug)]
pub struct GaussianNbOptions<'a> {
    /// The part of the greatest variance that is added to all.
    pub smoothing: f64,
    /// The probabilities of classes; `None` takes their frequencies.
    pub priors: Option<&'a [f64]>,
    /// Weight of each row, as a number of rows (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for GaussianNbOptions<'_> {
    fn default() -> Self {
        GaussianNbOptions { smoothing: 1e-9, priors: None, weights: None }
    }
}

/// The distributions of classes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GaussianNb {
    /// Number of rows of each class, or the sums of their weights.
    pub counts: Vec<f64>,
    /// The probabilities of classes.
    pub priors: Vec<f64>,
    /// Class by class the means (`k x p`).
    pub means: Vec<f64>,
    /// Class by class the variances (`k x p`), smoothing included.
    pub variances: Vec<f64>,
    /// Smoothing added to variances.
    pub epsilon: f64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The distribution of the columns of `x` (`n x p`) in every class of `labels` (`n`, from 0 to below `classes`). One
/// pass.
///
/// # Errors
/// NaN or infinite elements; labels of no class; a class without rows; priors that are not as many as classes, or do
/// not add up to 1.
pub fn gaussian_nb(
    runtime: &Runtime,
    x: &Array,
    labels: &Array,
    classes: usize,
    options: &GaussianNbOptions<'_>,
) -> Result<GaussianNb> {
    let x = matrix(x)?;
    if classes == 0 {
        return usage("expected one class or more, found none");
    }
    let operands = operands(&x, Some(&vector(&x, labels, "labels")?), options.weights)?;
    let own_bytes = bytes_of(64, &[classes, 2 * columns(&x) + 1]);
    require_own(runtime, "naive Bayes", own_bytes)?;
    let fold = ClassMoments { columns: columns(&x), classes: Some(classes), is_weighted: options.weights.is_some() };
    let mut costs = Costs::default();
    let pass = Array::fold_rows(fold, &operands)?;
    require(runtime, "naive Bayes", &[Phase::pass(vec![pass.clone()], own_bytes)])?;
    let found = Classes::of(&costs.one(runtime, pass)?, classes)?;
    let all = found.together();
    let weight = positive(all.weights[0])?;
    let priors = match options.priors {
        None => found.weights.iter().map(|own| own / weight).collect(),
        Some(priors) => {
            let sum: f64 = priors.iter().sum();
            if priors.len() != classes || (sum - 1.0).abs() > 1e-8 || priors.iter().any(|prior| *prior < 0.0) {
                return usage(format!("expected {classes} priors that add up to 1, found {priors:?}"));
            }
            priors.to_vec()
        }
    };
    if let Some(class) = found.weights.iter().position(|own| *own == 0.0) {
        return usage(format!("expected rows of every class, found none of class {class}"));
    }
    let epsilon = options.smoothing * all.squares.iter().map(|square| square / weight).fold(0.0, f64::max);
    let p = columns(&x);
    let squares = found.squares.iter().enumerate();
    let variances = squares.map(|(place, square)| square / found.weights[place / p] + epsilon).collect();
    let (counts, means) = (found.weights, found.means);
    Ok(GaussianNb { counts, priors, means, variances, epsilon, stats: costs.finish(None) })
}

/// The logarithms of the joint probabilities of observations and classes (`n x k`), lazily, of what a [`GaussianNb`]
/// says of its classes.
///
/// # Errors
/// Another number of columns.
pub fn joint_log_likelihood(x: &Array, priors: &[f64], means: &[f64], variances: &[f64]) -> Result<Array> {
    let (x, k) = (matrix(x)?, priors.len());
    let p = columns(&x);
    if p * k != means.len() || means.len() != variances.len() {
        return usage(format!("expected {} columns, found {p}", means.len() / k.max(1)));
    }
    // A mixture with variances of its own for each component, whose rows less the means are squared: expanded squares
    // would lose what is small beside them.
    let (kind, factors) = (CovarianceType::Diagonal, variances.iter().map(|variance| 1.0 / variance.sqrt()).collect());
    let (weights, means) = (priors.to_vec(), means.to_vec());
    Components { kind, weights, means, covariances: Vec::new(), precisions_cholesky: factors }.logs(&x)
}

impl GaussianNb {
    /// The logarithms of the joint probabilities of observations and classes (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn joint_log_likelihood(&self, x: &Array) -> Result<Array> {
        joint_log_likelihood(&finite_rows(x)?, &self.priors, &self.means, &self.variances)
    }

    /// The likeliest classes (`n`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict(&self, x: &Array) -> Result<Array> {
        self.joint_log_likelihood(x)?.arg(true, Some(1), false)
    }

    /// The probabilities of classes (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict_proba(&self, x: &Array) -> Result<Array> {
        softmax(&self.joint_log_likelihood(x)?)
    }
}

/// The logarithms of sums of exponentials of rows (`n x 1`), lazily.
pub(crate) fn log_sum_exp(logs: &Array) -> Result<Array> {
    let most = logs.fold(Fold::Max, &[1], true)?;
    // The difference of rows that are all -inf would be NaN.
    let most = most.binary(Binary::Maximum, &scalar(f64::MIN))?;
    let sum = logs.binary(Binary::Subtract, &most)?.unary(Unary::Exp)?.fold(Fold::Sum, &[1], true)?;
    sum.unary(Unary::Log)?.binary(Binary::Add, &most)
}

/// Rows as probabilities, lazily.
pub(crate) fn softmax(logs: &Array) -> Result<Array> {
    logs.binary(Binary::Subtract, &log_sum_exp(logs)?)?.unary(Unary::Exp)
}

pub(crate) static GAUSSIAN_NB: StatisticDeclaration = StatisticDeclaration {
    aliases: &["naive_bayes"],
    options: &[
        TARGET,
        Parameter::real(
            "var_smoothing",
            1e-9,
            "The part of the greatest variance of a column that is added to all variances",
        ),
        PROBA,
    ],
    ..StatisticDeclaration::new(
        "gaussian_nb",
        "Naive Bayes with normal distributions, of classes that are whole numbers of a column; in one pass",
        "the likeliest class of every row",
        plan,
    )
};

fn plan(data: &Data, values: OptionValues) -> Result<StatisticPlan> {
    let (own, y) = data.split(values.some_name("target").unwrap_or_default())?;
    let (x, columns, rows, proba) = (matrix(&own.array)?, own.names, data.rows(), values.flag("proba"));
    let smoothing = values.real("var_smoothing");
    // The number of classes is not known yet.
    let fold = ClassMoments { columns: columns.len(), classes: Some(2), is_weighted: false };
    let pass = vec![Array::fold_rows(fold, &[x.clone(), vector(&x, &y, "labels")?])?];
    let result_bytes = bytes_of(128, &[2 * columns.len() + 1]);
    let phases = vec![Phase::pass(pass, result_bytes)];
    let (output, fitted) = (rows_shape(data, vec!["class".to_owned()], false), columns.clone());
    let scores = stand_in(&x, CovarianceType::Diagonal, 2)?;
    let written = if proba { softmax(&scores)? } else { scores.arg(true, Some(1), false)? };
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let Labels { classes, numbers, stats } = classes_of(runtime, &y)?;
        let options = GaussianNbOptions { smoothing, ..GaussianNbOptions::default() };
        let found = gaussian_nb(runtime, &x, &numbers, classes.len(), &options)?;
        let mut costs = Costs::default();
        costs.include(found.stats.clone());
        costs.include(stats);
        let (k, all) = (classes.len(), classes.iter().map(f64::to_string).collect::<Vec<_>>());
        let mut table = StatisticTable::of_rows(("class", all.clone()), columns.clone(), &found.means);
        table.columns.splice(0..0, [found.counts.clone(), found.priors.clone()]);
        table.names.splice(0..0, ["count", "prior"].map(str::to_owned));
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(columns.clone())),
            ("classes", Fact::vector(&classes)),
            ("class_count", Fact::vector(&found.counts)),
            ("class_prior", Fact::vector(&found.priors)),
            ("theta", Fact::matrix(&found.means, k)),
            ("var", Fact::matrix(&found.variances, k)),
            ("epsilon", Fact::Real(found.epsilon)),
        ];
        let lines = vec![format!("{k} classes of {rows} rows")];
        let rows = match proba {
            true => (found.predict_proba(&x)?, all),
            false => (named(&classes, &found.predict(&x)?)?, vec!["class".to_owned()]),
        };
        Ok(StatisticFinding { lines, table, facts, rows: Some(rows), unconverged: None, stats: costs.finish(None) })
    };
    let passes = "2 over the target, 1, and one to write rows".to_owned();
    Ok(StatisticPlan { phases, result_bytes, passes, output, rows: Some(written), columns: fitted, run: Box::new(run) })
}
