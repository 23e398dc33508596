//! Eigenvalues and linear systems of sparse matrices larger than memory, over products that read them pass by pass.
//!
//! [`eigsh`] finds eigenpairs of a symmetric matrix; [`cg`], [`minres`] and [`gmres`] solve systems of equations.
//! Vectors are in memory, those of subspaces as far as there is room, otherwise in a temporary file (`basis.rs`); small
//! dense matrices inside belong to the library faer. What is common to all: vectors in the order of the image, in blocks
//! of a few columns, row by row (`tall.rs`); sums over rows in an order that depends on their number alone.

mod basis;
mod cg;
mod eigsh;
mod gmres;
mod kernels;
mod lanczos;
mod minres;
mod operator;
mod orthonormal;
mod systems;
mod tall;
mod vectors;

pub use eigsh::{Eigenpairs, EigshOptions, Which, eigsh};
pub use systems::{Preconditioner, Solution, SolveOptions, StoppedBy, cg, gmres, minres};
pub use vectors::Vectors;
