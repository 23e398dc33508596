//! Statistics and models of arrays larger than memory.
//!
//! Each is a function with its options and its result, which has `stats`: what was read, in how many passes. Data are
//! `n x p` arrays with observations along the first, long axis; numbers are computed with in float64. Passes are folds
//! of rows ([`RowFold`](outcore_array::RowFold)), whose states are merged in an order that does not depend on the
//! number of workers: results have the same bits on any of them. What predicts or transforms is a lazy array.
#![forbid(unsafe_code)]

mod classes;
mod clusters;
mod common;
mod declare;
mod decomposition;
mod gaussian_nb;
mod mixture;
mod moments;
mod phases;
mod regression;
mod rows;
mod scaler;
mod statistics;

pub use classes::{Labels, classes_of, named};
pub use clusters::kmeans::{KMeans, KMeansOptions, KMeansStart, kmeans};
pub use common::{finite_rows, with_names};
pub use declare::{Data, NAMES, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticRun, StatisticTable};
pub use decomposition::pca::{Pca, PcaOptions, PcaSolver, TruncatedSvd, TruncatedSvdOptions, pca, truncated_svd};
pub use gaussian_nb::{GaussianNb, GaussianNbOptions, gaussian_nb, joint_log_likelihood};
pub use mixture::gaussian_mixture::{
    CovarianceType, GaussianMixture, GaussianMixtureOptions, MixtureStart, gaussian_mixture, mixture_logs,
};
pub use moments::co_moments::co_moments;
pub use phases::Phase;
pub use regression::linear::{LinearModel, LinearRegressionOptions, RidgeOptions, linear_regression, ridge};
pub use regression::logistic::{LogisticRegression, LogisticRegressionOptions, logistic_regression};
pub use rows::{for_each_rows, save};
pub use scaler::{StandardScaler, StandardScalerOptions, standard_scaler};
pub use statistics::covariance::{Correlation, Covariance, CovarianceOptions, correlation, covariance};
pub use statistics::describe::{Description, describe, figures};
pub use statistics::histogram::{Histogram, HistogramOptions, bins, histogram};
pub use statistics::quantiles::{Quantiles, QuantilesOptions, quantiles, sketched};

/// All statistics and models of the shell, in the order in which it lists them.
pub static STATISTICS: &[&StatisticDeclaration] = &[
    &statistics::describe::DESCRIBE,
    &statistics::covariance::COV,
    &statistics::covariance::CORR,
    &statistics::histogram::HISTOGRAM,
    &statistics::quantiles::QUANTILES,
    &decomposition::pca::PCA,
    &decomposition::pca::SVD,
    &clusters::kmeans::KMEANS,
    &mixture::gaussian_mixture::GMM,
    &regression::linear::REGRESSION,
    &regression::linear::RIDGE,
    &regression::logistic::LOGISTIC,
    &gaussian_nb::GAUSSIAN_NB,
];
