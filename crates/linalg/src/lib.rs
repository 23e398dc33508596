//! Eigenvalues, factors and linear systems of sparse matrices larger than memory, over products that read them pass by
//! pass.
//!
//! [`eigsh`] finds eigenpairs of a symmetric matrix, [`eigs`] those of any square one, [`spectral_embedding`] those of
//! a graph's Laplacian, [`svds`] and [`randomized_svd`] singular values, [`nmf`] non-negative factors; [`cg`],
//! [`minres`], [`gmres`] and [`bicgstab`] solve systems of equations, [`expm_multiply`] multiplies by a matrix's
//! exponential, [`pagerank`] ranks rows, [`bellman_ford`] finds lengths of shortest paths. What is common to all:
//! vectors are in the order of the image, in blocks of a few columns, row by row (`tall.rs`), in memory as far as there
//! is room and otherwise in a temporary file (`basis.rs`, `panels.rs`), but those of `cg`, `minres`, `bicgstab`,
//! `expm_multiply` and `bellman_ford`, which are in memory. Sums over rows are in an order that depends on their number
//! alone. Small dense matrices inside belong to the library faer, but for a real Schur form with its parts in order,
//! which it does not offer (`schur.rs`). [`SOLVERS`] declares solvers for users outside of Rust, and `verify.rs` checks
//! what they find by products that are computed in another way.

mod basis;
mod bellman_ford;
mod bicgstab;
mod cg;
mod checkpoint;
mod declare;
mod dense;
mod eigs;
mod eigsh;
mod embedding;
mod expm;
mod gmres;
mod hermitian;
mod inverse;
mod iteration;
mod kernels;
mod krylov_schur;
mod lanczos;
mod minres;
mod multiply;
mod nearest;
mod nmf;
mod operator;
mod orthonormal;
mod pagerank;
mod panels;
mod randomized;
mod schur;
mod solve;
mod spectral;
mod svds;
mod systems;
mod tall;
mod vectors;
mod verify;

pub use bellman_ford::{BellmanFord, BellmanFordOptions, bellman_ford};
pub use bicgstab::bicgstab;
pub use cg::cg;
pub use declare::{Declaration, Found, Given, Kept, Needs, SolverPlan, Traffic};
pub use dense::Dense;
pub use eigs::{EigsOptions, Spectrum, eigs};
pub use eigsh::{EigshOptions, Which, eigsh};
pub use embedding::{Embedding, Laplacian, SpectralEmbedding, SpectralEmbeddingOptions, spectral_embedding};
pub use expm::{ExpmMultiply, expm_multiply};
pub use faer::c64;
pub use gmres::gmres;
pub use hermitian::eigsh_complex;
pub use inverse::Preconditioner;
pub use minres::minres;
pub use nmf::{MOST_COMPONENTS, Nmf, NmfOptions, Solver, nmf};
pub use pagerank::{RankOptions, Ranks, pagerank};
pub use randomized::{RandomizedSvd, RandomizedSvdOptions, randomized_svd};
pub use spectral::{ComplexPairs, Eigenpairs, HermitianPairs, SpectralOptions, SpectralPairs};
pub use svds::{SingularVectors, Svd, SvdsOptions, svds};
pub use systems::{Solution, Solve, SolveOptions, StoppedBy};
pub use vectors::{ComplexVectors, Vectors};

/// Items for this crate's tests only; they change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::expm::{ENOUGH, Norms, Plan};
    pub use crate::hermitian::complex_dots;
    pub use crate::kernels::{MOST_WIDTH, Square, add_product, dots};
    pub use crate::multiply::Multiplying;
    pub use crate::schur::Schur;
    pub use crate::vectors::Parts;
    pub use crate::verify::{
        check_complex_pairs, check_eigenpairs, check_exponential, check_factors, check_hermitian_pairs,
        check_laplacian, check_orthonormal, check_singular, check_solution,
    };
}

/// All solvers, and the product, as users call them from outside: see `declare.rs`.
pub static SOLVERS: &[&Declaration] = &[
    &multiply::MULTIPLY,
    &eigsh::EIGSH,
    &eigs::EIGS,
    &embedding::SPECTRAL_EMBEDDING,
    &svds::SVDS,
    &randomized::RANDOMIZED_SVD,
    &nmf::NMF,
    &expm::EXPM_MULTIPLY,
    &cg::CG,
    &minres::MINRES,
    &gmres::GMRES,
    &bicgstab::BICGSTAB,
];

/// The methods of linear systems, by the names of their functions.
pub static METHODS: &[(&str, Solve)] = &[("cg", cg), ("minres", minres), ("gmres", gmres), ("bicgstab", bicgstab)];
