//! Eigenvalues of sparse matrices larger than memory, over products that read them pass by pass.
//!
//! [`eigsh`] finds eigenpairs of a symmetric matrix, [`eigs`] those of any square one. Vectors are in memory as far as there is room, otherwise in a
//! temporary file (`basis.rs`); small dense matrices inside belong to the library faer. What is common to all: vectors
//! in the order of the image, in blocks of a few columns, row by row (`tall.rs`); sums over rows in an order that depends
//! on their number alone.

mod basis;
mod eigs;
mod eigsh;
mod kernels;
mod krylov_schur;
mod lanczos;
mod operator;
mod orthonormal;
mod schur;
mod tall;
mod vectors;

pub use eigs::{ComplexPairs, EigsOptions, Spectrum, eigs};
pub use eigsh::{Eigenpairs, EigshOptions, Which, eigsh};
pub use faer::c64;
pub use vectors::{ComplexVectors, Vectors};
