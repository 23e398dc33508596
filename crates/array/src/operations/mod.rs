//! Shapes of operations on arrays, one a file: the operands, when it can be streamed, its steps in a plan, and how a
//! block or a pass computes it.
//!
//! A new shape is a struct that implements `Operation` (`array.rs`) for arrays and `Compute` (`plan.rs`) for vectors; if
//! it folds all rows of a pass also `Reduction` (`sink.rs`). Nothing else names it.

mod arg;
mod check;
mod cumulative;
mod distances;
pub(crate) mod element_fold;
mod elementwise;
mod fold;
mod gather;
mod generated;
mod group_fold;
mod join;
mod matmul;
mod product;
pub(crate) mod random;
mod reshape;
pub(crate) mod row_fold;
pub(crate) mod sparse;
mod squared_deviations;
pub(crate) mod user;
pub(crate) mod view;
