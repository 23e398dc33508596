//! The engine's part of `outcore.array`, whose arrays are classes of Python's.

mod compute;
mod expression;
mod memory;

pub use compute::{compute_arrays, explain_arrays, import_array, save_array};
pub use expression::{PyExpression, element, scalar};
