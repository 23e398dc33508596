//! Formats of sparse matrices and of bare pairs of numbers, read as graphs.
//!
//! Entry (i, j) of a matrix is an edge from vertex i to vertex j.

pub(crate) mod binary;
pub(crate) mod gap_serialized;
pub(crate) mod matrix_header;
pub(crate) mod matrix_market;
