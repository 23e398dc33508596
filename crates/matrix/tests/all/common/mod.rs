//! Helpers of the matrix tests.
#![allow(dead_code)]

use outcore_graph::Graph;
use outcore_graph::import::{Duplicates, ImportOptions, ImportReport, InputOptions, OrderChoice, import, open};
use outcore_image::{ImageOptions, Result};
use outcore_io::{Runtime, RuntimeOptions};
use outcore_matrix::{Operand, Semiring, SparseMatrix};
pub use outcore_testkit::{bits, random_below as random};
use std::path::Path;

/// A runtime whose limit is its own, whatever other tests of this process hold.
pub fn runtime(threads: usize, memory_bytes: Option<u64>) -> Runtime {
    let options = RuntimeOptions { threads: Some(threads), memory_bytes, ..RuntimeOptions::default() };
    Runtime::new(RuntimeOptions { beside_process: memory_bytes.is_some(), ..options }).unwrap()
}

pub fn import_file(runtime: &Runtime, file: &Path, image: &Path, order: OrderChoice) -> Result<ImportReport> {
    let source = open(runtime, &[file.to_owned()], &InputOptions { is_matrix: true, ..InputOptions::default() })?;
    let duplicates = Duplicates::Sum;
    let options = ImportOptions { duplicates, order, replace: true, allow_empty: true, ..ImportOptions::default() };
    import(runtime, source, image, &options)
}

pub fn matrix(runtime: &Runtime, image: &Path, values: bool) -> SparseMatrix {
    SparseMatrix::new(&Graph::open(runtime, image, ImageOptions::default()).unwrap(), values).unwrap()
}

/// This number of small whole numbers.
pub fn numbers(count: u64) -> Vec<f64> {
    (0..count).map(|i| ((i * 31 + i / 7) % 17) as f64 - 5.0).collect()
}

/// The product, where every number of a dense matrix is two if the matrix is complex.
pub fn product(
    matrix: &SparseMatrix,
    semiring: Semiring,
    operand: Operand,
    factor: &[f64],
    columns: usize,
) -> Vec<f64> {
    let (rows, inner) = matrix.shape();
    let rows = if operand == Operand::Matrix { rows } else { inner } as usize;
    let mut product = vec![f64::NAN; rows * columns * if matrix.is_complex() { 2 } else { 1 }];
    matrix.multiply(semiring, operand, factor, columns, &mut product).unwrap();
    product
}
