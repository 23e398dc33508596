//! Results have the same bits whichever vector instructions the processor has. Instructions are limited for the whole
//! process, so this test is alone in its program.

use outcore::generate::{GenerateOptions, GeneratedWeights, source};
use outcore::import::ImportOptions;
use outcore::io::simd::{Simd, limit};
use outcore::linalg::{EigshOptions, eigsh};
use outcore::matrix::{Operand, Semiring, SparseMatrix};
use outcore::{
    BfsOptions, Graph, PageRankOptions, Result, Runtime, RuntimeOptions, SsspOptions, TrianglesOptions, bfs, pagerank,
    sssp, triangles,
};

/// The bits of results of kernels that have several forms.
fn everything(graph: &Graph) -> Result<Vec<(&'static str, Vec<u64>)>> {
    let matrix = SparseMatrix::new(graph, true)?;
    let rows = graph.vertices() as usize;
    let mut found = Vec::new();
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect();
    found.push(("pagerank", bits(&pagerank(graph, &PageRankOptions::default())?.ranks)));
    let levels = bfs(graph, &BfsOptions::default())?;
    found.push(("bfs", levels.levels().map(|level| level.map_or(u64::MAX, u64::from)).collect()));
    let paths = sssp(graph, &SsspOptions::default())?;
    found.push(("sssp", paths.distances().map(|distance| distance.map_or(u64::MAX, f64::to_bits)).collect()));
    found.push(("triangles", triangles(graph, &TrianglesOptions::default())?.counts.to_vec()));
    for columns in [1, 3, 8, 16] {
        let factor: Vec<f64> = (0..rows * columns).map(|i| 1.0 / (i + 3) as f64).collect();
        let mut product = vec![0.0; rows * columns];
        matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor, columns, &mut product)?;
        found.push(("multiply", bits(&product)));
    }
    for block in [1, 2, 8] {
        let pairs = eigsh(&matrix, &EigshOptions { k: 4, block, ..EigshOptions::default() })?;
        found.push(("eigsh", bits(&pairs.values)));
    }
    Ok(found)
}

#[test]
fn results_have_the_same_bits_at_every_level() {
    let options = RuntimeOptions { memory_bytes: Some(256 << 20), beside_process: true, ..Default::default() };
    let runtime = Runtime::new(options).unwrap();
    let weights = Some(GeneratedWeights::Uniform);
    let generated = source(&GenerateOptions { scale: 10, weights, ..Default::default() }).unwrap();
    let directed = ImportOptions { directed: Some(false), ..Default::default() };
    let graph = Graph::in_memory(&runtime, generated, &directed).unwrap();
    let widest = everything(&graph).unwrap();
    for level in [Simd::Baseline, Simd::Avx2] {
        limit(level);
        for (wide, found) in widest.iter().zip(everything(&graph).unwrap()) {
            assert!(*wide == found, "{} with {level:?}", found.0);
        }
    }
}
