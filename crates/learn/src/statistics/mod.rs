//! Statistics of columns.

pub(crate) mod covariance;
pub(crate) mod describe;
pub(crate) mod histogram;
pub(crate) mod quantiles;
