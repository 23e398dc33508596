//! The extension module of the Python package: the facade, with the interpreter's lock released while it works.
//!
//! Defaults, docstrings and the conversion of inputs are in `python/outcore`; everything else is here and below.
#![deny(unsafe_code)]

mod algorithms;
mod array;
mod chunks;
mod columns;
mod command;
mod convert;
mod dense_files;
mod element;
mod errors;
mod exit;
mod generate;
mod graph;
mod import;
mod learn;
mod linalg;
mod matrix;
mod page;
mod products;
mod program;
mod progress;
mod result;
mod runtime;
mod stream;
mod systems;
mod views;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;

/// A value that serialises to a JSON object, as a dict.
fn to_dict<'py>(py: Python<'py>, facts: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(facts).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// The extension module behind `outcore`.
#[pymodule]
mod _outcore {
    use pyo3::prelude::*;

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    /// The prefixes of ids of the two sides of a graph.
    #[pymodule_export]
    const SIDES: (&str, &str) = (outcore::import::SIDES[0], outcore::import::SIDES[1]);
    #[pymodule_export]
    use super::algorithms::{
        AlgorithmResult, algorithms, bytes_text, estimate, is_bipartite, parse_bytes, run_algorithm,
    };
    #[pymodule_export]
    use super::array::{PyExpression, compute_arrays, explain_arrays, import_array, save_array};
    #[pymodule_export]
    use super::dense_files::{dense_shape, multiply_streamed, plan_streamed};
    #[pymodule_export]
    use super::element::{element_fold, element_function};
    #[pymodule_export]
    use super::generate::generate;
    #[pymodule_export]
    use super::graph::PyGraph;
    #[pymodule_export]
    use super::import::{import_files, import_part, import_several, import_tables};
    #[pymodule_export]
    use super::learn::{
        gaussian_mixture, gaussian_nb, joint_log_likelihood, kmeans, linear_regression, logistic_regression,
        mixture_logs, pca, ridge, standard_scaler, truncated_svd,
    };
    #[pymodule_export]
    use super::linalg::{run_solver, solvers};
    #[pymodule_export]
    use super::matrix::PyMatrix;
    #[pymodule_export]
    use super::page::PyRun;
    #[pymodule_export]
    use super::products::{expm_multiply, rank_rows, shortest_paths};
    #[pymodule_export]
    use super::program::{ProgramResult, program_raised, program_symbols, vertex_program};
    #[pymodule_export]
    use super::result::PyTable;
    #[pymodule_export]
    use super::runtime::PyRuntime;
    #[pymodule_export]
    use super::systems::solve;
    #[pymodule_export]
    use super::views::{PyDegrees, PyEdges, PyNodes};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        outcore::io::hide_guarded_panics();
        super::exit::register(module.py())
    }
}
