//! Kinds of operations on arrays, one a file: operands, axes along which it can be streamed, steps in a plan, and the
//! computation in a block or over a pass.
//!
//! A new kind is a struct that implements `Operation` (`array.rs`) for arrays and `StepOperation` (`plan.rs`) for
//! vectors; if a pass folds all rows, its partial results implement `Partial` (`sink.rs`). Nothing else names it.
//! Arrays and steps of plans have the operands, so one struct serves both.

mod arg;
mod check;
mod cumulative;
mod distances;
pub(crate) mod element_fold;
pub(crate) mod elementwise;
mod fold;
mod gather;
pub(crate) mod generated;
mod group_fold;
mod join;
mod matmul;
mod reshape;
pub(crate) mod row_fold;
pub(crate) mod sparse;
mod squared_deviations;
pub(crate) mod view;
