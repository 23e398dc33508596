//! The engine's part of `outcore.ml`: models that are fitted, and densities of rows. What else predicts and transforms
//! is made of arrays there.

use crate::array::PyExpression;
use crate::import::choose;
use crate::page::PyRun;
use crate::runtime::{Limits, run_sampled, settings};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use outcore::array::Array;
use outcore::io::Sample;
use outcore::learn::{
    self, GaussianMixtureOptions, GaussianNbOptions, KMeansOptions, KMeansStart, LinearModel, LinearRegressionOptions,
    LogisticRegressionOptions, MixtureStart, PcaOptions, RidgeOptions, StandardScalerOptions, TruncatedSvdOptions,
};
use outcore::{Result, Runtime, Stats};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Numbers of Python's, row by row, whatever shape they stand for.
type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// The facts of a model, which `outcore.ml` gives their names and shapes.
struct Facts<'py>(Bound<'py, PyDict>);

impl<'py> Facts<'py> {
    fn set(&self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<&Self> {
        self.0.set_item(name, value)?;
        Ok(self)
    }

    /// A vector.
    fn vector(&self, name: &str, numbers: &[f64]) -> PyResult<&Self> {
        self.set(name, PyArray1::from_slice(self.0.py(), numbers))
    }

    /// A matrix of this number of rows.
    fn matrix(&self, name: &str, numbers: &[f64], rows: usize) -> PyResult<&Self> {
        let array = PyArray1::from_slice(self.0.py(), numbers).reshape([rows, numbers.len() / rows.max(1)])?;
        self.set(name, array)
    }

    /// Directions of data, and how long they are along them.
    fn directions(&self, components: &[f64], singular_values: &[f64]) -> PyResult<&Self> {
        self.matrix("components", components, singular_values.len())?.vector("singular_values", singular_values)
    }

    /// Variances along directions, and their shares.
    fn variances(&self, variances: &[f64], ratios: &[f64]) -> PyResult<&Self> {
        self.vector("explained_variance", variances)?.vector("explained_variance_ratio", ratios)
    }
}

/// A fit that has ended, for the facts of its model.
struct Fit {
    runtime: Runtime,
    samples: Vec<Sample>,
}

impl Fit {
    /// The facts of a model of this cost.
    fn facts<'py>(self, py: Python<'py>, stats: &Stats) -> PyResult<Facts<'py>> {
        let facts = PyDict::new(py);
        facts.set_item("stats", crate::to_dict(py, stats)?)?;
        facts.set_item("run", PyRun::of_arrays(&self.runtime, stats.clone(), self.samples))?;
        Ok(Facts(facts))
    }
}

/// Fits a model under limits; `names` beside these are those of the columns.
fn fitted<T: Send>(
    py: Python<'_>,
    options: &Bound<'_, PyDict>,
    fit: impl FnOnce(&Runtime) -> Result<T> + Send,
) -> PyResult<(T, Fit)> {
    let names = options.get_item("names")?.map_or(Ok(None), |names| names.extract::<Option<Vec<String>>>())?;
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    let named = |error| learn::with_names(error, &names.unwrap_or_default());
    let (found, samples) = run_sampled(py, &runtime, || fit(&runtime).map_err(named))?;
    Ok((found, Fit { runtime, samples }))
}

fn array(given: &Option<PyExpression>) -> Option<&Array> {
    given.as_ref().map(|given| &given.array)
}

fn numbers(given: Option<Numbers<'_>>) -> PyResult<Option<Vec<f64>>> {
    Ok(given.map(|given| given.as_slice().map(<[f64]>::to_vec)).transpose()?)
}

/// See `outcore.ml.KMeans`: centres, and the facts of the fit.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (x, options, *, clusters, centres, rounds, starts, max_iter, tol, seed, weights))]
pub fn kmeans<'py>(
    py: Python<'py>,
    x: &PyExpression,
    options: &Bound<'py, PyDict>,
    clusters: usize,
    centres: Option<Numbers<'py>>,
    rounds: usize,
    starts: usize,
    max_iter: usize,
    tol: f64,
    seed: u64,
    weights: Option<PyExpression>,
) -> PyResult<Bound<'py, PyDict>> {
    let centres = numbers(centres)?;
    let start = centres.as_deref().map_or(KMeansStart::Parallel { rounds }, KMeansStart::Centres);
    let weights = array(&weights);
    let own = KMeansOptions { clusters, start, starts, max_iterations: max_iter, tolerance: tol, seed, weights };
    let (found, fit) = fitted(py, options, |runtime| learn::kmeans(runtime, &x.array, &own))?;
    let facts = fit.facts(py, &found.stats)?;
    facts.matrix("centres", &found.centres, clusters)?.vector("counts", &found.counts)?;
    facts.set("inertia", found.inertia)?.set("iterations", found.iterations)?.set("converged", found.converged)?;
    Ok(facts.0)
}

/// See `outcore.ml.GaussianMixture`: its components. A start is weights, means and precisions.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (x, options, *, components, covariance, start, starts, max_iter, tol, regularisation, seed))]
pub fn gaussian_mixture<'py>(
    py: Python<'py>,
    x: &PyExpression,
    options: &Bound<'py, PyDict>,
    components: usize,
    covariance: &str,
    start: Option<(Numbers<'py>, Numbers<'py>, Numbers<'py>)>,
    starts: usize,
    max_iter: usize,
    tol: f64,
    regularisation: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let covariance = choose(py, "covariance_type", covariance)?;
    let given = match start {
        None => None,
        Some((weights, means, precisions)) => {
            Some((weights.as_slice()?.to_vec(), means.as_slice()?.to_vec(), precisions.as_slice()?.to_vec()))
        }
    };
    let start = match &given {
        None => MixtureStart::KMeans,
        Some((weights, means, precisions)) => MixtureStart::Given { weights, means, precisions },
    };
    let (max_iterations, tolerance) = (max_iter, tol);
    let own = GaussianMixtureOptions {
        components,
        covariance,
        start,
        starts,
        max_iterations,
        tolerance,
        regularisation,
        seed,
    };
    let (found, fit) = fitted(py, options, |runtime| learn::gaussian_mixture(runtime, &x.array, &own))?;
    let facts = fit.facts(py, &found.stats)?;
    facts.vector("weights", &found.weights)?.matrix("means", &found.means, components)?;
    facts.vector("covariances", &found.covariances)?.vector("precisions_cholesky", &found.precisions_cholesky)?;
    facts.set("converged", found.converged)?.set("iterations", found.iterations)?;
    facts.set("lower_bound", found.lower_bound)?.vector("lower_bounds", &found.lower_bounds)?;
    Ok(facts.0)
}

/// The logarithms of densities times weights, of rows and components, `(n, k)`.
#[pyfunction]
#[pyo3(signature = (x, *, covariance, weights, means, precisions_cholesky))]
pub fn mixture_logs(
    py: Python<'_>,
    x: &PyExpression,
    covariance: &str,
    weights: Numbers<'_>,
    means: Numbers<'_>,
    precisions_cholesky: Numbers<'_>,
) -> PyResult<PyExpression> {
    let kind = choose(py, "covariance_type", covariance)?;
    let (weights, means, factors) = (weights.as_slice()?, means.as_slice()?, precisions_cholesky.as_slice()?);
    PyExpression::of(py, learn::mixture_logs(&x.array, kind, weights, means, factors))
}

/// See `outcore.ml.PCA`: components and variances.
#[pyfunction]
#[pyo3(signature = (x, options, *, components, solver))]
pub fn pca<'py>(
    py: Python<'py>,
    x: &PyExpression,
    options: &Bound<'py, PyDict>,
    components: Option<usize>,
    solver: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let own = PcaOptions { components, solver: choose(py, "solver", solver)? };
    let (found, fit) = fitted(py, options, |runtime| learn::pca(runtime, &x.array, &own))?;
    let facts = fit.facts(py, &found.stats)?;
    facts.directions(&found.components, &found.singular_values)?;
    facts.variances(&found.explained_variance, &found.explained_variance_ratio)?;
    facts.vector("mean", &found.mean)?.set("noise_variance", found.noise_variance)?;
    Ok(facts.0)
}

/// See `outcore.ml.TruncatedSVD`: right singular vectors, and variances along them.
#[pyfunction]
#[pyo3(signature = (x, options, *, components, solver))]
pub fn truncated_svd<'py>(
    py: Python<'py>,
    x: &PyExpression,
    options: &Bound<'py, PyDict>,
    components: usize,
    solver: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let own = TruncatedSvdOptions { components, solver: choose(py, "solver", solver)? };
    let (found, fit) = fitted(py, options, |runtime| learn::truncated_svd(runtime, &x.array, &own))?;
    let facts = fit.facts(py, &found.stats)?;
    facts.directions(&found.components, &found.singular_values)?;
    facts.variances(&found.explained_variance, &found.explained_variance_ratio)?;
    Ok(facts.0)
}

fn linear<'py>(py: Python<'py>, found: &LinearModel, fit: Fit) -> PyResult<Bound<'py, PyDict>> {
    let facts = fit.facts(py, &found.stats)?;
    facts.matrix("coefficients", &found.coefficients, found.intercept.len())?.vector("intercept", &found.intercept)?;
    facts.set("rank", found.rank)?.vector("r2", &found.r2)?;
    Ok(facts.0)
}

/// See `outcore.ml.LinearRegression`: coefficients and intercepts of all targets.
#[pyfunction]
#[pyo3(signature = (x, y, options, *, intercept, weights))]
pub fn linear_regression<'py>(
    py: Python<'py>,
    x: &PyExpression,
    y: &PyExpression,
    options: &Bound<'py, PyDict>,
    intercept: bool,
    weights: Option<PyExpression>,
) -> PyResult<Bound<'py, PyDict>> {
    let own = LinearRegressionOptions { intercept, weights: array(&weights) };
    let (found, fit) = fitted(py, options, |runtime| learn::linear_regression(runtime, &x.array, &y.array, &own))?;
    linear(py, &found, fit)
}

/// See `outcore.ml.Ridge`: coefficients and intercepts of all targets.
#[pyfunction]
#[pyo3(signature = (x, y, options, *, alpha, intercept, weights))]
pub fn ridge<'py>(
    py: Python<'py>,
    x: &PyExpression,
    y: &PyExpression,
    options: &Bound<'py, PyDict>,
    alpha: f64,
    intercept: bool,
    weights: Option<PyExpression>,
) -> PyResult<Bound<'py, PyDict>> {
    let own = RidgeOptions { alpha, intercept, weights: array(&weights) };
    let (found, fit) = fitted(py, options, |runtime| learn::ridge(runtime, &x.array, &y.array, &own))?;
    linear(py, &found, fit)
}

/// See `outcore.ml.LogisticRegression`: coefficients of one class of two, or of all.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (x, labels, options, *, classes, c, intercept, max_iter, tol, weights))]
pub fn logistic_regression<'py>(
    py: Python<'py>,
    x: &PyExpression,
    labels: &PyExpression,
    options: &Bound<'py, PyDict>,
    classes: usize,
    c: f64,
    intercept: bool,
    max_iter: usize,
    tol: f64,
    weights: Option<PyExpression>,
) -> PyResult<Bound<'py, PyDict>> {
    let weights = array(&weights);
    let own = LogisticRegressionOptions { c, intercept, max_iterations: max_iter, tolerance: tol, weights };
    let fit = |runtime: &_| learn::logistic_regression(runtime, &x.array, &labels.array, classes, &own);
    let (found, fit) = fitted(py, options, fit)?;
    let facts = fit.facts(py, &found.stats)?;
    facts.matrix("coefficients", &found.coefficients, found.intercept.len())?.vector("intercept", &found.intercept)?;
    facts.set("iterations", found.iterations)?.set("converged", found.converged)?.set("loss", found.loss)?;
    facts.set("is_separable", found.is_separable)?;
    Ok(facts.0)
}

/// See `outcore.ml.GaussianNB`: means and variances of classes.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (x, labels, options, *, classes, smoothing, priors, weights))]
pub fn gaussian_nb<'py>(
    py: Python<'py>,
    x: &PyExpression,
    labels: &PyExpression,
    options: &Bound<'py, PyDict>,
    classes: usize,
    smoothing: f64,
    priors: Option<Numbers<'py>>,
    weights: Option<PyExpression>,
) -> PyResult<Bound<'py, PyDict>> {
    let priors = numbers(priors)?;
    let own = GaussianNbOptions { smoothing, priors: priors.as_deref(), weights: array(&weights) };
    let fit = |runtime: &_| learn::gaussian_nb(runtime, &x.array, &labels.array, classes, &own);
    let (found, fit) = fitted(py, options, fit)?;
    let facts = fit.facts(py, &found.stats)?;
    facts.vector("counts", &found.counts)?.vector("priors", &found.priors)?;
    facts.matrix("means", &found.means, classes)?.matrix("variances", &found.variances, classes)?;
    facts.set("epsilon", found.epsilon)?;
    Ok(facts.0)
}

/// The logarithms of the joint probabilities of rows and classes, `(n, k)`.
#[pyfunction]
#[pyo3(signature = (x, *, priors, means, variances))]
pub fn joint_log_likelihood(
    py: Python<'_>,
    x: &PyExpression,
    priors: Numbers<'_>,
    means: Numbers<'_>,
    variances: Numbers<'_>,
) -> PyResult<PyExpression> {
    let (priors, means, variances) = (priors.as_slice()?, means.as_slice()?, variances.as_slice()?);
    PyExpression::of(py, learn::joint_log_likelihood(&x.array, priors, means, variances))
}

/// See `outcore.ml.StandardScaler`: means, variances and deviations of columns.
#[pyfunction]
#[pyo3(signature = (x, options, *, weights))]
pub fn standard_scaler<'py>(
    py: Python<'py>,
    x: &PyExpression,
    options: &Bound<'py, PyDict>,
    weights: Option<PyExpression>,
) -> PyResult<Bound<'py, PyDict>> {
    let own = StandardScalerOptions { weights: array(&weights), ..StandardScalerOptions::default() };
    let (found, fit) = fitted(py, options, |runtime| learn::standard_scaler(runtime, &x.array, &own))?;
    let facts = fit.facts(py, &found.stats)?;
    facts.vector("mean", &found.mean)?.vector("variance", &found.variance)?.vector("scale", &found.scale)?;
    Ok(facts.0)
}
