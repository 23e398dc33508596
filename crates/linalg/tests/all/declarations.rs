//! Declarations: their defaults are those of Rust.

use outcore_declare::{DefaultValue, Parameter};
use outcore_linalg::{
    EigsOptions, EigshOptions, NmfOptions, RandomizedSvdOptions, SOLVERS, SolveOptions, SpectralEmbeddingOptions,
    SvdsOptions,
};

/// The default of an option, as a text.
fn default_of(solver: &str, option: &str) -> String {
    let solver = SOLVERS.iter().find(|declared| declared.name == solver).unwrap();
    let found: &Parameter = solver.options.iter().find(|declared| declared.name == option).unwrap();
    match found.default {
        DefaultValue::Whole(value) => value.to_string(),
        DefaultValue::Real(value) => value.to_string(),
        DefaultValue::Flag(value) => value.to_string(),
        DefaultValue::Name(name) => name.to_owned(),
        DefaultValue::None => "none".to_owned(),
        DefaultValue::Required => "required".to_owned(),
    }
}

#[test]
fn defaults_are_those_of_rust() {
    let none = |option: Option<usize>| if option.is_none() { "none".to_owned() } else { "some".to_owned() };
    let eigsh = EigshOptions::default();
    let eigs = EigsOptions::default();
    let svds = SvdsOptions::default();
    let randomized = RandomizedSvdOptions::default();
    let embedding = SpectralEmbeddingOptions::default();
    let nmf = NmfOptions::default();
    let solve = SolveOptions::default();
    for (solver, option, expected) in [
        ("eigsh", "k", eigsh.k.to_string()),
        ("eigsh", "tol", eigsh.tol.to_string()),
        ("eigsh", "ncv", none(eigsh.ncv)),
        ("eigsh", "block", eigsh.block.to_string()),
        ("eigsh", "maxiter", eigsh.max_iterations.to_string()),
        ("eigsh", "seed", eigsh.seed.to_string()),
        ("eigs", "k", eigs.k.to_string()),
        ("eigs", "maxiter", eigs.max_iterations.to_string()),
        ("spectral_embedding", "n_components", embedding.k.to_string()),
        ("spectral_embedding", "norm_laplacian", embedding.which.norm_laplacian.to_string()),
        ("spectral_embedding", "drop_first", embedding.which.drop_first.to_string()),
        ("spectral_embedding", "tol", embedding.tol.to_string()),
        ("spectral_embedding", "ncv", none(embedding.ncv)),
        ("spectral_embedding", "block", embedding.block.to_string()),
        ("spectral_embedding", "maxiter", embedding.max_iterations.to_string()),
        ("spectral_embedding", "seed", embedding.seed.to_string()),
        ("svds", "k", svds.k.to_string()),
        ("svds", "block", svds.block.to_string()),
        ("randomized_svd", "passes", randomized.passes.to_string()),
        ("randomized_svd", "n_oversamples", randomized.oversamples.to_string()),
        ("randomized_svd", "center", randomized.center.to_string()),
        ("nmf", "n_components", nmf.n_components.to_string()),
        ("nmf", "tol", nmf.tol.to_string()),
        ("nmf", "max_iter", nmf.max_iterations.to_string()),
        ("nmf", "l1_ratio", nmf.l1_ratio.to_string()),
        ("cg", "rtol", solve.rtol.to_string()),
        ("minres", "atol", solve.atol.to_string()),
        ("gmres", "restart", solve.restart.to_string()),
    ] {
        assert_eq!(default_of(solver, option), expected, "{solver} {option}");
    }
}
