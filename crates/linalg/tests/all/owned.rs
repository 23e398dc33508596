//! Results and options belong to whoever has them: threads and tasks may hold them.

use crate::common::{Entries, matrix, runtime};
use outcore_image::Result;
use outcore_linalg::{
    BellmanFord, BellmanFordOptions, ComplexPairs, ComplexVectors, Dense, Eigenpairs, EigsOptions, EigshOptions,
    Embedding, ExpmMultiply, HermitianPairs, Nmf, NmfOptions, RandomizedSvd, RandomizedSvdOptions, RankOptions, Ranks,
    Solution, SolveOptions, SolverFinding, SpectralEmbedding, SpectralEmbeddingOptions, Svd, SvdsOptions, Vectors,
    eigsh,
};

fn is_send<T: Send + 'static>() {}

#[test]
fn results_and_options_can_be_sent() {
    is_send::<(Eigenpairs, HermitianPairs, ComplexPairs, Svd, SpectralEmbedding, Embedding, Vectors, ComplexVectors)>();
    is_send::<(RandomizedSvd, Nmf, Ranks, Solution, BellmanFord, ExpmMultiply, SolverFinding, Dense)>();
    is_send::<(EigshOptions, EigsOptions, SvdsOptions, SpectralEmbeddingOptions, RandomizedSvdOptions, NmfOptions)>();
    is_send::<(RankOptions<'static>, BellmanFordOptions, SolveOptions<'static>)>();
}

/// Opens a matrix, and returns what is computed of it.
fn pairs(folder: &std::path::Path) -> Result<Eigenpairs> {
    let matrix = matrix(&runtime(2, None), &Entries::hypercube(6).image(folder, true), true);
    eigsh(&matrix, &EigshOptions { k: 1, ..EigshOptions::default() })
}

#[test]
fn eigenvectors_outlive_their_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let found = pairs(folder.path()).unwrap();
    let vector = std::thread::spawn(move || {
        let mut vector = vec![0.0; 64];
        found.vectors.write(&mut vector).map(|()| (found.values[0], vector))
    });
    let (value, vector) = vector.join().unwrap().unwrap();
    assert!((value - 6.0).abs() < 1e-12, "{value}");
    assert!(vector.iter().all(|entry| (entry.abs() - 0.125).abs() < 1e-12), "{vector:?}");
}
