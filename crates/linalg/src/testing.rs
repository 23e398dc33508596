//! A matrix for unit tests.

use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, import, open};
use outcore_graph::{Graph, GraphOptions};
use outcore_io::{Runtime, RuntimeOptions};
use outcore_matrix::SparseMatrix;
use std::io::Write;
use std::sync::Arc;

/// Calls `work` with the matrix of a Matrix Market file.
pub(crate) fn with_matrix_of(text: &str, work: impl FnOnce(&SparseMatrix)) {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("m.oc");
    let mut file = tempfile::Builder::new().suffix(".mtx").tempfile_in(&folder).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let runtime = Arc::new(Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap());
    let input = InputOptions { is_matrix: true, ..InputOptions::default() };
    let options = ImportOptions { duplicates: Duplicates::Sum, ..ImportOptions::default() };
    import(&runtime, open(&runtime, &[file.path().to_owned()], &input).unwrap(), &image, &options).unwrap();
    let graph = Graph::open(&runtime, &image, GraphOptions::default()).unwrap();
    work(&SparseMatrix::new(Arc::new(graph), true).unwrap());
}
