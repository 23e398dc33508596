//! Pages of runs whose results are objects of Python's: solvers, models and imports.

use crate::result::report_of;
use crate::runtime::run;
use outcore::import::{ImportEstimate, ImportSummary};
use outcore::io::Sample;
use outcore::report::{self, OptionText, Planned, Report, SomeRows, Summary};
use outcore::{Graph, Runtime, Stats};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The estimate, the cost and the samples of a run.
pub type Measured = (Planned, Stats, Vec<Sample>);

/// The name, the value and the default of an option, and whether it was given.
type Shown = (String, String, Option<String>, bool);

/// A title, the names of columns, and rows of text.
type Rows = (String, Vec<String>, Vec<Vec<String>>);

/// A run, for its page: input, estimate, cost and samples. `outcore._graphs.report` adds call, options and result.
#[pyclass(frozen, name = "Run", module = "outcore._outcore")]
pub struct PyRun {
    report: Report,
    /// Writes the page. It shows no progress, whose function may refer to the result.
    runtime: Runtime,
}

impl PyRun {
    fn new(runtime: &Runtime, report: Report) -> Self {
        PyRun { report, runtime: runtime.for_operation(None) }
    }

    /// A run over an image.
    pub fn of_graph(graph: &Graph, measured: Measured) -> Self {
        PyRun::new(graph.runtime(), report_of(graph, "", Vec::new(), measured, Summary::default()))
    }

    /// A run over arrays; [`PyRun::over`] says which.
    pub fn of_arrays(runtime: &Runtime, stats: Stats, samples: Vec<Sample>) -> Self {
        let report = Report {
            name: String::new(),
            input: "arrays".to_owned(),
            call: String::new(),
            options: Vec::new(),
            facts: Map::new(),
            plan: Planned::default(),
            result: Summary::default(),
            ended: report::now(),
            stats,
            samples,
        };
        PyRun::new(runtime, report)
    }

    /// An import of inputs that are called `name`, unless they are files alone.
    pub fn of_import(
        runtime: &Runtime,
        name: Option<String>,
        (summary, needs): (&ImportSummary, &ImportEstimate),
        samples: Vec<Sample>,
    ) -> Self {
        let report = report::of_import(runtime, summary, needs, samples);
        let input = name.unwrap_or_else(|| report.input.clone());
        PyRun::new(runtime, Report { input, ..report })
    }
}

#[pymethods]
impl PyRun {
    /// The path of the input, or words for it.
    #[getter]
    fn input(&self) -> &str {
        &self.report.input
    }

    /// The run over an array of this shape.
    fn over(&self, shape: Vec<u64>) -> Self {
        let sizes: Vec<_> = shape.iter().map(u64::to_string).collect();
        let facts = ["rows", "columns"].into_iter().zip(shape);
        let facts = facts.map(|(name, size)| (name.to_owned(), Value::from(size))).collect();
        let report = Report { input: format!("an array of {}", sizes.join(" x ")), facts, ..self.report.clone() };
        PyRun { report, runtime: self.runtime.clone() }
    }

    /// The run, whose page has these lines about the result.
    fn with_lines(&self, lines: Vec<String>) -> Self {
        let mut report = self.report.clone();
        report.result.lines = lines;
        PyRun { report, runtime: self.runtime.clone() }
    }

    /// The page in HTML, which is written to `path` if there is one. `called` is the name of what was
    /// run, and the call; `attributes` is a JSON object.
    #[pyo3(signature = (called, options, attributes, tables, path))]
    fn page(
        &self,
        py: Python<'_>,
        called: (String, String),
        options: Vec<Shown>,
        attributes: &str,
        tables: Vec<Rows>,
        path: Option<PathBuf>,
    ) -> PyResult<String> {
        let (name, call) = called;
        let mut report = Report { name, call: report::cut(call), ..self.report.clone() };
        let option =
            |(name, value, default, is_given): Shown| OptionText { default, is_given, ..OptionText::new(&name, value) };
        report.options = options.into_iter().map(option).collect();
        report.options.sort_by_key(|option| !option.is_given);
        let attributes: Map<String, Value> =
            serde_json::from_str(attributes).map_err(|error| PyValueError::new_err(error.to_string()))?;
        report.result.attributes.extend(attributes);
        let rows = |(title, columns, rows): Rows| SomeRows { title, columns, rows };
        report.result.tables.extend(tables.into_iter().map(rows));
        let html = py.detach(|| report::page(&report));
        if let Some(path) = path {
            run(py, &self.runtime, || outcore::front_ends::write_file(&self.runtime, &path, html.as_bytes()))?;
        }
        Ok(html)
    }
}
