//! Folds of rows that sum moments: of columns by class, and of pairs of columns.

pub(crate) mod class_moments;
pub(crate) mod co_moments;
pub(crate) mod pivot;
pub(crate) mod products;
