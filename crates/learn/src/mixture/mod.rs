//! Gaussian mixtures: expectation maximisation, its sums over rows, and densities of components.

pub(crate) mod components;
pub(crate) mod gaussian_mixture;
pub(crate) mod mixture_sums;
