//! Eigenvalues and factors of sparse matrices larger than memory, over products that read them pass by pass.
//!
//! [`eigsh`] finds eigenpairs of a symmetric matrix, [`eigs`] those of any square one, [`nmf`] non-negative factors
//! (`panels.rs` holds them). Vectors are in memory as far as there is room, otherwise in a temporary file (`basis.rs`);
//! small dense matrices inside belong to the library faer, but for a real Schur form with its parts in order, which it
//! does not offer (`schur.rs`). What is common to all: vectors in the order of the image, in blocks of a few columns,
//! row by row (`tall.rs`); sums over rows in an order that depends on their number alone.

mod basis;
mod eigs;
mod eigsh;
mod kernels;
mod krylov_schur;
mod lanczos;
mod nmf;
mod operator;
mod orthonormal;
mod panels;
mod randomized;
mod schur;
mod svds;
mod tall;
mod vectors;

pub use eigs::{ComplexPairs, EigsOptions, Spectrum, eigs};
pub use eigsh::{Eigenpairs, EigshOptions, Which, eigsh};
pub use faer::c64;
pub use nmf::{MOST_COMPONENTS, Nmf, NmfOptions, Solver, nmf};
pub use randomized::{RandomizedSvd, RandomizedSvdOptions, randomized_svd};
pub use svds::{Svd, SvdsOptions, svds};
pub use vectors::{ComplexVectors, Vectors};
