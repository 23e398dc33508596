//! Mixtures of normal distributions, by expectation maximisation.
//!
//! *Idea.* With the precision of a component as `P P^T`, the density of a row is that of the squares of `(x - mean)
//! P`: of all components by one product, less a common shift, so that numbers far from 0 do not cancel.
//! Responsibilities are a lazy array of these, and a fold of rows and responsibilities sums weights, deviations from
//! the means so far, and their products. *Cost.* One pass per iteration: `n k p^2` multiplications twice if
//! covariances are full; `k p^2` numbers per partition, and `k p` per row of a block. A start by k-means takes its
//! passes and one more.
//!
//! Dempster, Laird, Rubin, *Maximum likelihood from incomplete data via the EM algorithm*, J. Royal Stat. Soc. B
//! 1977.

use crate::clusters::kmeans::{self, KMeansOptions, kmeans};
use crate::clusters::lloyd::squared_distances;
use crate::common::{Costs, columns, finite_rows, matrix, no_overflow, scalar, usage};
use crate::declare::{
    Data, N_INIT, PROBA, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable, numbered, rows_shape,
    unconverged,
};
use crate::gaussian_nb::{log_sum_exp, softmax};
use crate::mixture::components::{Components, inverses, stand_in};
use crate::mixture::mixture_sums::Sums;
use crate::phases::{Phase, bytes_of, require, require_own};
use outcore_array::kernel::{Binary, Scalar};
use outcore_array::{Array, ElementType};
use outcore_declare::{Choice, DefaultValue, Fact, Kind, OptionValues, Parameter};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Type of the components' covariances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CovarianceType {
    /// Each component a matrix of its own (`k x p x p`).
    #[default]
    Full,
    /// All the same matrix (`p x p`).
    Tied,
    /// Each component variances of its own (`k x p`).
    Diagonal,
    /// Each component one variance (`k`).
    Spherical,
}

impl Choice for CovarianceType {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (CovarianceType::Full, "full", "Each component a matrix of its own"),
        (CovarianceType::Tied, "tied", "All the same matrix"),
        (CovarianceType::Diagonal, "diag", "Each component variances of its own"),
        (CovarianceType::Spherical, "spherical", "Each component one variance"),
    ];
}

outcore_declare::from_names!(CovarianceType);

/// Start of the iterations.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MixtureStart<'a> {
    /// At the clusters of k-means.
    KMeans,
    /// At these components.
    Given {
        /// The weights (`k`).
        weights: &'a [f64],
        /// The means (`k x p`).
        means: &'a [f64],
        /// The inverses of covariances, in the shape of the type.
        precisions: &'a [f64],
    },
}

/// Options of [`gaussian_mixture`].
#[derive(Clone, Copy, Debug)]
pub struct GaussianMixtureOptions<'a> {
    /// Number of components.
    pub components: usize,
    /// Type of the covariances.
    pub covariance: CovarianceType,
    /// Start of the iterations.
    pub start: MixtureStart<'a>,
    /// Number of starts; the best result is returned.
    pub starts: usize,
    /// The most iterations of each.
    pub max_iterations: usize,
    /// The iterations end if the mean log-likelihood changes by less.
    pub tolerance: f64,
    /// Regularization added to variances.
    pub regularisation: f64,
    /// Random seed.
    pub seed: u64,
}

impl Default for GaussianMixtureOptions<'_> {
    fn default() -> Self {
        GaussianMixtureOptions {
            components: 1,
            covariance: CovarianceType::Full,
            start: MixtureStart::KMeans,
            starts: 1,
            max_iterations: 100,
            tolerance: 1e-3,
            regularisation: 1e-6,
            seed: 0,
        }
    }
}

/// A mixture of normal distributions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GaussianMixture {
    /// Type of the components' covariances.
    pub covariance: CovarianceType,
    /// The weights of components; they add up to 1.
    pub weights: Vec<f64>,
    /// The means, row by row (`k x p`).
    pub means: Vec<f64>,
    /// The covariances, in the shape of the type.
    pub covariances: Vec<f64>,
    /// Upper triangular `P` of which the inverse of the covariance is `P P^T`; square roots where it is diagonal.
    pub precisions_cholesky: Vec<f64>,
    /// Whether the log-likelihood hardly changed at the end.
    pub converged: bool,
    /// Number of iterations of the best start.
    pub iterations: usize,
    /// The mean log-likelihood of rows before the last change of components.
    pub lower_bound: f64,
    /// The value of `lower_bound` for every iteration.
    pub lower_bounds: Vec<f64>,
    /// Statistics of all starts together.
    pub stats: Stats,
}

/// The mixture of `components` normal distributions that is likeliest for the rows of `x` (`n x p`). One pass per
/// iteration, and those for the start.
///
/// # Errors
/// NaN or infinite elements; no component, or more than rows; a start of another shape; covariances that are not
/// positive definite in spite of the regularisation.
pub fn gaussian_mixture(runtime: &Runtime, x: &Array, options: &GaussianMixtureOptions<'_>) -> Result<GaussianMixture> {
    let x = matrix(x)?;
    let (rows, k) = (x.shape()[0], options.components);
    if k == 0 || k as u64 > rows {
        return usage(format!("expected 1 to {rows} components, as many as rows at most, found {k}"));
    }
    require(runtime, "a mixture", &phases(runtime, &x, options)?)?;
    let _memory = runtime.budget().reserve("components of a mixture", own_bytes(options, columns(&x)))?;
    let mut costs = Costs::default();
    let mut best: Option<(Components, Vec<f64>, bool)> = None;
    let starts = if matches!(options.start, MixtureStart::Given { .. }) { 1 } else { options.starts.max(1) };
    for start in 0..starts as u64 {
        let mut components = Components::start(runtime, &x, options, start, &mut costs)?;
        let (mut bounds, mut converged) = (Vec::<f64>::new(), false);
        while bounds.len() < options.max_iterations.max(1) && !converged {
            let logs = components.logs(&x)?;
            let fold = Sums { columns: columns(&x), kind: options.covariance, means: components.means.clone() };
            let operands = [x.clone(), softmax(&logs)?, log_sum_exp(&logs)?];
            let found = costs.one(runtime, fold.lazy(&operands)?)?;
            no_overflow(&found)?;
            let bound = found[0] / rows as f64;
            components = components.maximised(&found[1..], options.regularisation)?;
            converged = bounds.last().is_some_and(|before| (bound - before).abs() < options.tolerance);
            bounds.push(bound);
        }
        if best.as_ref().is_none_or(|(_, before, _)| bounds.last() > before.last()) {
            best = Some((components, bounds, converged));
        }
    }
    let (found, lower_bounds, converged) = best.expect("a start");
    Ok(GaussianMixture {
        covariance: found.kind,
        weights: found.weights,
        means: found.means,
        covariances: found.covariances,
        precisions_cholesky: found.precisions_cholesky,
        converged,
        iterations: lower_bounds.len(),
        lower_bound: lower_bounds.last().copied().unwrap_or(f64::NEG_INFINITY),
        lower_bounds,
        stats: costs.finish(Some(if converged { "residual" } else { "iterations" })),
    })
}

/// The phases of a fit: those of k-means, the sums of its clusters, and an iteration.
fn phases(runtime: &Runtime, x: &Array, options: &GaussianMixtureOptions<'_>) -> Result<Vec<Phase>> {
    let (p, k, kind) = (columns(x), options.components, options.covariance);
    let own_bytes = own_bytes(options, p);
    require_own(runtime, "a mixture", own_bytes)?;
    let sums = |operands: [Array; 3]| -> Result<Phase> {
        let fold = Sums { columns: p, kind, means: vec![0.0; k * p] };
        Ok(Phase::pass(vec![fold.lazy(&operands)?], own_bytes))
    };
    let logs = stand_in(x, kind, k)?;
    let mut phases = vec![sums([x.clone(), softmax(&logs)?, log_sum_exp(&logs)?])?];
    if matches!(options.start, MixtureStart::KMeans) {
        let clusters = KMeansOptions { clusters: k, ..KMeansOptions::default() };
        let of_clusters = kmeans::phases(runtime, x, &clusters)?.into_iter();
        phases.extend(of_clusters.map(|phase| Phase { own_bytes: phase.own_bytes.saturating_add(own_bytes), ..phase }));
        let labels = squared_distances(x, vec![0.0; k * p])?.arg(false, Some(1), false)?;
        phases.push(sums(shares(x, &labels, k)?)?);
    }
    Ok(phases)
}

/// Memory of the components of a fit: those before and after a step, the best ones, sums, and factors in a pass.
fn own_bytes(options: &GaussianMixtureOptions<'_>, p: usize) -> u64 {
    let k = options.components;
    let covariances = match options.covariance {
        CovarianceType::Full => bytes_of(72, &[k, p, p]),
        CovarianceType::Tied => bytes_of(72, &[p, p]),
        CovarianceType::Diagonal | CovarianceType::Spherical => 0,
    };
    covariances.saturating_add(bytes_of(96, &[k, p + 1]))
}

/// Operands of the sums of clusters: rows, 1 for the cluster of each and 0 for the others, and zeros.
fn shares(x: &Array, labels: &Array, k: usize) -> Result<[Array; 3]> {
    let numbers = Array::range(Scalar::Float64(0.0), Scalar::Float64(1.0), k as u64)?;
    let labels = labels.with_axis(1)?.cast(ElementType::Float64)?;
    let shares = labels.binary(Binary::Equal, &numbers)?.cast(ElementType::Float64)?;
    Ok([x.clone(), shares, labels.binary(Binary::Multiply, &scalar(0.0))?])
}

impl Components {
    fn start(
        runtime: &Runtime,
        x: &Array,
        options: &GaussianMixtureOptions<'_>,
        start: u64,
        costs: &mut Costs,
    ) -> Result<Self> {
        let (p, k, kind) = (columns(x), options.components, options.covariance);
        if let MixtureStart::Given { weights, means, precisions } = options.start {
            let expected = kind.numbers(k, p);
            if weights.len() != k || means.len() != k * p || precisions.len() != expected {
                let found = format!("{}, {} and {}", weights.len(), means.len(), precisions.len());
                return usage(format!("expected {k} weights, {} means, {expected} precisions, found {found}", k * p));
            }
            let covariances = inverses(kind, precisions, p)?;
            let (weights, means) = (weights.to_vec(), means.to_vec());
            return Components { kind, weights, means, covariances, precisions_cholesky: Vec::new() }.factored(p);
        }
        let seed = options.seed.wrapping_add(start << 40);
        let clusters = kmeans(runtime, x, &KMeansOptions { clusters: k, seed, ..KMeansOptions::default() })?;
        let fold = Sums { columns: p, kind, means: clusters.centres.clone() };
        let found = costs.one(runtime, fold.lazy(&shares(x, &clusters.predict(x)?, k)?)?)?;
        costs.include(clusters.stats);
        no_overflow(&found)?;
        let (weights, means) = (vec![0.0; k], clusters.centres);
        let begin = Components { kind, weights, means, covariances: Vec::new(), precisions_cholesky: Vec::new() };
        begin.maximised(&found[1..], options.regularisation)
    }
}

impl CovarianceType {
    /// The shape of the covariances of `k` components of `p` columns.
    fn shape(self, k: usize, p: usize) -> Vec<usize> {
        match self {
            CovarianceType::Full => vec![k, p, p],
            CovarianceType::Tied => vec![p, p],
            CovarianceType::Diagonal => vec![k, p],
            CovarianceType::Spherical => vec![k],
        }
    }

    /// Count of numbers in the covariances.
    pub(crate) fn numbers(self, k: usize, p: usize) -> usize {
        self.shape(k, p).iter().product()
    }
}

/// The logarithms of densities times weights, of rows and components (`n x k`), lazily, of what a [`GaussianMixture`]
/// says of its components.
///
/// # Errors
/// Other numbers of columns or components.
pub fn mixture_logs(
    x: &Array,
    kind: CovarianceType,
    weights: &[f64],
    means: &[f64],
    precisions_cholesky: &[f64],
) -> Result<Array> {
    let (x, k) = (matrix(x)?, weights.len());
    let p = columns(&x);
    if p * k != means.len() || precisions_cholesky.len() != kind.numbers(k, p) {
        return usage(format!("expected {} columns, found {p}", means.len() / k.max(1)));
    }
    let (weights, means, precisions_cholesky) = (weights.to_vec(), means.to_vec(), precisions_cholesky.to_vec());
    Components { kind, weights, means, covariances: Vec::new(), precisions_cholesky }.logs(&x)
}

impl GaussianMixture {
    fn logs(&self, x: &Array) -> Result<Array> {
        mixture_logs(&finite_rows(x)?, self.covariance, &self.weights, &self.means, &self.precisions_cholesky)
    }

    /// The likeliest components of rows (`n`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict(&self, x: &Array) -> Result<Array> {
        self.logs(x)?.arg(true, Some(1), false)
    }

    /// The probabilities of components (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict_proba(&self, x: &Array) -> Result<Array> {
        softmax(&self.logs(x)?)
    }

    /// The logarithms of densities of rows (`n`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn score_samples(&self, x: &Array) -> Result<Array> {
        log_sum_exp(&self.logs(x)?)?.without_axis(1)
    }
}

pub(crate) static GMM: StatisticDeclaration = StatisticDeclaration {
    aliases: &["gaussian_mixture"],
    options: &[
        Parameter::count("n_components", 1, "How many components"),
        Parameter::new(
            "covariance_type",
            Kind::choice::<CovarianceType>(),
            DefaultValue::Name("full"),
            "What covariances components have",
        ),
        Parameter::real("tol", 1e-3, "It ends when the mean log-likelihood changes by less"),
        Parameter::real("reg_covar", 1e-6, "What is added to variances"),
        Parameter::count("max_iter", 100, "The most iterations"),
        N_INIT,
        Parameter::SEED,
        PROBA,
    ],
    must_converge: true,
    ..StatisticDeclaration::new(
        "gmm",
        "A mixture of normal distributions by expectation maximisation, one pass per iteration",
        "the number of every row's likeliest component",
        plan,
    )
};

fn plan(data: &Data, values: OptionValues) -> Result<StatisticPlan> {
    let (x, columns, rows) = (matrix(&data.array)?, data.names.clone(), data.rows());
    let options = GaussianMixtureOptions {
        components: values.size("n_components"),
        covariance: values.choice("covariance_type"),
        start: MixtureStart::KMeans,
        starts: values.size("n_init"),
        max_iterations: values.size("max_iter"),
        tolerance: values.real("tol"),
        regularisation: values.real("reg_covar"),
        seed: values.whole("seed"),
    };
    let GaussianMixtureOptions { components: k, covariance, starts, max_iterations, .. } = options;
    let (p, proba) = (columns.len(), values.flag("proba"));
    let shape = covariance.shape(k, p);
    if k as u64 > rows {
        return usage(format!("expected 1 to {rows} components, as many as rows at most, found {k}"));
    }
    let phases = phases(&data.runtime, &x, &options)?;
    let result_bytes = bytes_of(64, &[covariance.numbers(k, p) + k * (p + 1)]);
    let logs = stand_in(&x, covariance, k)?;
    let names = if proba { numbered("component", k) } else { vec!["label".to_owned()] };
    let (output, fitted) = (rows_shape(data, names.clone(), !proba), columns.clone());
    let written = if proba { softmax(&logs)? } else { logs.arg(true, Some(1), false)? };
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let found = gaussian_mixture(runtime, &x, &options)?;
        let mut table = StatisticTable::of_rows(("component", numbered("", k)), columns.clone(), &found.means);
        table.columns.insert(0, found.weights.clone());
        table.names.insert(0, "weight".to_owned());
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(columns.clone())),
            ("weights", Fact::vector(&found.weights)),
            ("means", Fact::matrix(&found.means, k)),
            ("covariances", Fact::Array(found.covariances.clone(), shape.clone())),
            ("precisions_cholesky", Fact::Array(found.precisions_cholesky.clone(), shape.clone())),
            ("lower_bound", Fact::Real(found.lower_bound)),
            ("n_iter", Fact::Whole(found.iterations as u64)),
            ("converged", Fact::Flag(found.converged)),
        ];
        let (iterations, bound) = (found.iterations, found.lower_bound);
        let lines =
            vec![format!("{k} components of {rows} rows, mean log-likelihood {bound}, {iterations} iterations")];
        let likely = if proba { found.predict_proba(&x)? } else { found.predict(&x)? };
        let (rows, unconverged) = (Some((likely, names.clone())), unconverged(found.converged, iterations));
        Ok(StatisticFinding { lines, table, facts, rows, unconverged, stats: found.stats })
    };
    let all = format!("those of k-means, 1, and up to {max_iterations} iterations");
    let passes = format!("{all}, for each of {starts} starts; one to write rows");
    Ok(StatisticPlan { phases, result_bytes, passes, output, rows: Some(written), columns: fitted, run: Box::new(run) })
}
