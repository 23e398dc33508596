//! Dense arrays larger than memory: lazy expressions, evaluated in one pass.

mod kernel;
