//! Options that take one of few named values, as `outcore-declare` defines them.

pub use outcore_declare::Choice;
