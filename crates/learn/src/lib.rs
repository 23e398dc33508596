//! Statistics and models of arrays larger than memory.
//!
//! Each is a function with its options and its result, which has `stats`: what was read, in how many passes. Data are
//! `n x p` arrays with observations along the first, long axis; numbers are computed with in float64. Passes are folds
//! of rows ([`outcore_array::RowFold`]), whose states are merged in an order that does not depend on the number of
//! workers: results have the same bits on any of them. What predicts or transforms is a lazy array.
#![forbid(unsafe_code)]

mod class_moments;
mod co_moments;
mod common;
mod components;
mod covariance;
mod describe;
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
mod scaler;
mod seeding;
mod steps;
mod tsqr;

pub use covariance::{Correlation, Covariance, CovarianceOptions, correlation, covariance};
pub use describe::{Description, describe};
pub use gaussian_mixture::{CovarianceType, GaussianMixture, GaussianMixtureOptions, MixtureStart, gaussian_mixture};
pub use gaussian_nb::{GaussianNb, GaussianNbOptions, gaussian_nb};
pub use histogram::{Histogram, HistogramOptions, histogram};
pub use kmeans::{KMeans, KMeansOptions, KMeansStart, kmeans};
pub use linear::{LinearModel, LinearRegressionOptions, RidgeOptions, linear_regression, ridge};
pub use logistic::{LogisticRegression, LogisticRegressionOptions, logistic_regression};
pub use pca::{Pca, PcaOptions, PcaSolver, TruncatedSvd, TruncatedSvdOptions, pca, truncated_svd};
pub use quantiles::{Quantiles, QuantilesOptions, quantiles};
pub use scaler::{StandardScaler, StandardScalerOptions, standard_scaler};
