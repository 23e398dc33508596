//! Eigenvalues, factors and linear systems of sparse matrices larger than memory, over products that read them pass by
//! pass.
//!
//! [`eigsh`] finds eigenpairs of a symmetric matrix, [`eigs`] those of any square one, [`spectral_embedding`] those of
//! a graph's Laplacian, [`svds`] and [`randomized_svd`] singular values, [`nmf`] non-negative factors; [`cg`],
//! [`minres`], [`gmres`] and [`bicgstab`] solve systems of equations, [`expm_multiply`] multiplies by a matrix's
//! exponential, [`pagerank`] ranks rows, [`bellman_ford`] finds lengths of shortest paths. What is common to all:
//! vectors are in the order of the image, in blocks of a few columns, row by row (`tall`), in memory as far as there is
//! room and otherwise in a temporary file (`tall/basis.rs`, `tall/panels.rs`), but those of `cg`, `minres`, `bicgstab`,
//! `expm_multiply` and `bellman_ford`, which are in memory. Sums over rows are in an order that depends on their number
//! alone. Small dense matrices inside belong to the library faer, but for a real Schur form with its parts in order,
//! which it does not offer (`spectral/schur.rs`). [`SOLVERS`] declares solvers for users outside of Rust, and
//! `verify.rs` checks what they find by products that are computed in another way.

mod bellman_ford;
mod checkpoint;
mod declare;
mod dense;
mod expm;
mod multiply;
mod nmf;
mod operator;
mod pagerank;
mod spectral;
mod systems;
mod tall;
mod verify;

pub use bellman_ford::{BellmanFord, BellmanFordOptions, bellman_ford};
pub use declare::{Needs, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, StoredVectors, Traffic};
pub use dense::Dense;
pub use expm::{ExpmMultiply, expm_multiply};
pub use faer::c64;
pub use nmf::{MOST_COMPONENTS, Nmf, NmfOptions, Solver, nmf};
pub use pagerank::{RankOptions, Ranks, pagerank};
pub use spectral::eigs::{EigsOptions, Spectrum, eigs};
pub use spectral::eigsh::eigsh;
pub use spectral::embedding::{Embedding, Laplacian, SpectralEmbedding, SpectralEmbeddingOptions, spectral_embedding};
pub use spectral::hermitian::eigsh_complex;
pub use spectral::randomized::{RandomizedSvd, RandomizedSvdOptions, randomized_svd};
pub use spectral::svds::{SingularVectors, Svd, SvdsOptions, svds};
pub use spectral::symmetric::{EigshOptions, Which};
pub use spectral::{ComplexPairs, Eigenpairs, HermitianPairs, SpectralOptions, SpectralPairs};
pub use systems::bicgstab::bicgstab;
pub use systems::cg::cg;
pub use systems::gmres::gmres;
pub use systems::inverse::Preconditioner;
pub use systems::minres::minres;
pub use systems::system::SolveOptions;
pub use systems::{Solution, Solve, SolveEnd};
pub use tall::vectors::{ComplexVectors, Vectors};

/// Items for this crate's tests only; they change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::expm::norms::{ENOUGH, Norms, Plan};
    pub use crate::multiply::Multiplying;
    pub use crate::spectral::schur::Schur;
    pub use crate::tall::complex::complex_dots;
    pub use crate::tall::kernels::{MOST_WIDTH, Square, TILE_ROWS, add_product, dots, multiply};
    pub use crate::tall::vectors::Parts;
    pub use crate::verify::{
        check_complex_pairs, check_eigenpairs, check_exponential, check_factors, check_hermitian_pairs,
        check_laplacian, check_orthonormal, check_singular, check_solution,
    };
}

/// Declarations of the product and all solvers but `pagerank` and `bellman_ford`, for which Python has functions of its
/// own: see `declare.rs`.
pub static SOLVERS: &[&SolverDeclaration] = &[
    &multiply::MULTIPLY,
    &spectral::eigsh::EIGSH,
    &spectral::eigs::EIGS,
    &spectral::embedding::SPECTRAL_EMBEDDING,
    &spectral::svds::SVDS,
    &spectral::randomized::RANDOMIZED_SVD,
    &nmf::NMF,
    &expm::EXPM_MULTIPLY,
    &systems::cg::CG,
    &systems::minres::MINRES,
    &systems::gmres::GMRES,
    &systems::bicgstab::BICGSTAB,
];

/// The methods of linear systems, by the names of their functions.
pub static METHODS: &[(&str, Solve)] = &[("cg", cg), ("minres", minres), ("gmres", gmres), ("bicgstab", bicgstab)];
