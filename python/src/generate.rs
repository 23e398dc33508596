//! Generated graphs, as images or as files of edges.

use crate::import::choose;
use crate::runtime::{Limits, run, settings};
use outcore::generate::{GenerateOptions, source, write};
use outcore::import::{ImportOptions, ImportSummary, import};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::path::PathBuf;

/// The keyword arguments of `outcore.generate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GenerateSettings {
    scale: u32,
    edge_factor: u64,
    seed: u64,
    weights: Option<String>,
    directed: Option<bool>,
    order: String,
    replace: bool,
    limits: Limits,
}

/// See `outcore.generate`.
#[pyfunction]
pub fn generate<'py>(
    py: Python<'py>,
    shape: &str,
    output: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings: GenerateSettings = settings(options)?;
    let (scale, edge_factor, seed) = (settings.scale, settings.edge_factor, settings.seed);
    let weights = settings.weights.as_deref().map(|name| choose(py, "weights", name)).transpose()?;
    let shape = choose(py, "shape", shape)?;
    let options = GenerateOptions { shape, scale, edge_factor, seed, weights };
    let order = choose(py, "order", &settings.order)?;
    let (directed, replace) = (settings.directed, settings.replace);
    let imported = ImportOptions { directed, order, replace, ..ImportOptions::default() };
    let runtime = settings.limits.runtime(py)?;
    if output.extension().is_some_and(|ending| ending == "oc") {
        let outcome =
            run(py, &runtime, || import(&runtime, source(&options)?, &output, &imported).map(ImportSummary::of));
        return crate::to_dict(py, &outcome?);
    }
    let written = run(py, &runtime, || write(&runtime, &options, &imported, &output))?;
    crate::to_dict(py, &json!({ "edges": written.edges, "bytes": written.bytes }))
}
