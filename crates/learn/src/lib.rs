//! Statistics and models of arrays larger than memory.
//!
//! Each is a function with its options and its result, which has `stats`: what was read, in how many passes. Data are
//! `n x p` arrays with observations along the first, long axis; numbers are computed with in float64. Passes are folds
//! of rows ([`outcore_array::RowFold`]), whose states are merged in an order that does not depend on the number of
//! workers: results have the same bits on any of them. What predicts or transforms is a lazy array.
#![forbid(unsafe_code)]

mod bounds;
mod class_moments;
mod classes;
mod co_moments;
mod common;
mod components;
mod covariance;
mod declare;
mod describe;
mod finite;
mod gaussian_mixture;
mod gaussian_nb;
mod histogram;
mod kmeans;
mod linear;
mod lloyd;
mod logistic;
mod logistic_loss;
mod mixture_sums;
mod pca;
mod quantiles;
mod rows;
mod scaler;
mod seeding;
mod steps;
mod tsqr;

pub use classes::{Labels, classes_of, named};
pub use co_moments::co_moments;
pub use covariance::{Correlation, Covariance, CovarianceOptions, correlation, covariance};
pub use declare::{Data, Declaration, Found, Plan, Run, Table};
pub use describe::{Description, describe, figures};
pub use finite::finite_rows;
pub use gaussian_mixture::{
    CovarianceType, GaussianMixture, GaussianMixtureOptions, MixtureStart, gaussian_mixture, mixture_logs,
};
pub use gaussian_nb::{GaussianNb, GaussianNbOptions, gaussian_nb, joint_log_likelihood};
pub use histogram::{Histogram, HistogramOptions, bins, histogram};
pub use kmeans::{KMeans, KMeansOptions, KMeansStart, kmeans};
pub use linear::{LinearModel, LinearRegressionOptions, RidgeOptions, linear_regression, ridge};
pub use logistic::{LogisticRegression, LogisticRegressionOptions, logistic_regression};
pub use pca::{Pca, PcaOptions, PcaSolver, TruncatedSvd, TruncatedSvdOptions, pca, truncated_svd};
pub use quantiles::{Quantiles, QuantilesOptions, quantiles, sketched};
pub use rows::{for_each_rows, save};
pub use scaler::{StandardScaler, StandardScalerOptions, standard_scaler};

/// All statistics and models of the shell, in the order in which it lists them.
pub static STATISTICS: &[&Declaration] = &[
    &describe::DESCRIBE,
    &covariance::COV,
    &covariance::CORR,
    &histogram::HISTOGRAM,
    &quantiles::QUANTILES,
    &pca::PCA,
    &pca::SVD,
    &kmeans::KMEANS,
    &gaussian_mixture::GMM,
    &linear::REGRESSION,
    &linear::RIDGE,
    &logistic::LOGISTIC,
    &gaussian_nb::GAUSSIAN_NB,
];
