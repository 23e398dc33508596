//! Integration tests of solvers, one module each, in one binary.

mod bellman_ford;
mod checkpoint;
mod common;
mod declarations;
mod eigs;
mod eigsh;
mod embedding;
mod expm;
mod hermitian;
mod inner;
mod limits;
mod nmf;
mod owned;
mod pagerank;
mod svds;
mod systems;
