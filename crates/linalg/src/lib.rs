//! Eigenvalues and factors of sparse matrices larger than memory, over products that read them pass by pass.
//!
//! [`eigsh`] finds eigenpairs of a symmetric matrix, [`nmf`] non-negative factors (`panels.rs` holds them). Vectors
//! are in memory as far as there is room, otherwise in a temporary file (`basis.rs`); small dense matrices inside
//! belong to the library faer. What is common to all: vectors in the order of the image, in blocks of a few columns,
//! row by row (`tall.rs`); sums over rows in an order that depends on their number alone.

mod basis;
mod eigsh;
mod kernels;
mod lanczos;
mod nmf;
mod operator;
mod orthonormal;
mod panels;
mod randomized;
mod svds;
mod tall;
mod vectors;

pub use eigsh::{Eigenpairs, EigshOptions, Which, eigsh};
pub use nmf::{MOST_COMPONENTS, Nmf, NmfOptions, Solver, nmf};
pub use randomized::{RandomizedSvd, RandomizedSvdOptions, randomized_svd};
pub use svds::{Svd, SvdsOptions, svds};
pub use vectors::Vectors;
