//! Integration tests of sparse matrices and their products, one module each, in one binary.

mod common;
mod complex;
mod multiply;
mod stored;
mod streamed;
mod sums;
