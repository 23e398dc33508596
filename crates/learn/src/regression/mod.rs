//! Linear and logistic regression.

pub(crate) mod linear;
pub(crate) mod logistic;
pub(crate) mod logistic_loss;
pub(crate) mod separation;
pub(crate) mod steps;
