//! Principal components and singular vectors, from covariances or from a QR factor.

pub(crate) mod pca;
pub(crate) mod tsqr;
