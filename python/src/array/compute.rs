//! Arrays computed together, explained, saved, and imported from tables.

use super::expression::{PyExpression, element};
use super::memory::EngineMemory;
use crate::chunks::{Raised, or_raised, reader};
use crate::page::PyRun;
use crate::runtime::{Limits, run, run_sampled, settings};
use outcore::array::{self, ArrayImportOptions, Goal, ImageGoal, NumberOptions, NumberTable, compute, explain};
use outcore::learn;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Largest result, in bytes, that is copied into an array of Python's own.
const SMALL_BYTES: usize = 1 << 16;

/// Options for the import of a table as an image of an array.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct TableSettings {
    columns: Option<Vec<String>>,
    dtype: Option<String>,
    delimiter: Option<String>,
    header: Option<bool>,
    comment: Option<String>,
    replace: bool,
    limits: Limits,
}

/// Makes an image of an array of a file, or of a table that is called `name`.
#[pyfunction]
#[pyo3(signature = (path, table, name, image, options))]
pub fn import_array<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    table: Option<Bound<'py, PyAny>>,
    name: &str,
    image: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let TableSettings { columns, dtype, delimiter, header, comment, replace, limits } = settings(options)?;
    let element = dtype.map(|name| element(py, &name)).transpose()?;
    let numbers = NumberOptions { columns, delimiter, header, comment };
    let options = ArrayImportOptions { numbers, element, replace };
    let runtime = limits.runtime(py)?;
    let raised = Raised::default();
    let table = table.map(|table| reader(&table, &raised)).transpose()?;
    let outcome = run(py, &runtime, || match (table, path) {
        (Some(table), _) => {
            let table = NumberTable::from_batches(table, name, &options.numbers)?;
            array::import_array(&runtime, table, &image, &options)
        }
        (None, path) => array::import_array_file(&runtime, &path.unwrap_or_default(), &image, &options),
    });
    crate::to_dict(py, &or_raised(outcome, &raised)?)
}

/// An array, where its image goes, whether it may replace another one, and the names of its columns.
type ImageOf = (PyExpression, PathBuf, bool, Option<Vec<String>>);

fn goals(values: Vec<PyExpression>, images: Vec<ImageOf>) -> Vec<Goal> {
    let values = values.into_iter().map(|value| Goal::Value(value.array));
    let images = images.into_iter().map(|(array, path, replace, names)| {
        Goal::Image(ImageGoal { array: array.array, path, replace, names, made_by: "persist" })
    });
    values.chain(images).collect()
}

/// The rows of a pass, the files that it reads and how many bytes of each, its memory and that of its results.
type PassOf = (u64, Vec<(String, u64)>, u64, u64);

/// The plan of [`compute_arrays`]: as text, as a drawing, and pass by pass.
#[pyfunction]
pub fn explain_arrays(
    py: Python<'_>,
    values: Vec<PyExpression>,
    images: Vec<ImageOf>,
    options: &Bound<'_, PyDict>,
) -> PyResult<(String, String, Vec<PassOf>)> {
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    let goals = goals(values, images);
    let explained = run(py, &runtime, || explain(&runtime, &goals))?;
    let (text, svg) = (explained.to_string(), explained.svg());
    let passes = explained.passes.into_iter().map(|pass| (pass.rows, pass.reads, pass.memory_bytes, pass.result_bytes));
    Ok((text, svg, passes.collect()))
}

/// Computes arrays together: some as NumPy arrays, others as images. Returns the results, the statistics, and
/// the run for a page.
#[pyfunction]
pub fn compute_arrays<'py>(
    py: Python<'py>,
    values: Vec<PyExpression>,
    images: Vec<ImageOf>,
    options: &Bound<'py, PyDict>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>, PyRun)> {
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    let goals = goals(values, images);
    let (computed, samples) = run_sampled(py, &runtime, || compute(&runtime, &goals))?;
    let numpy = py.import("numpy")?;
    let mut values = Vec::new();
    for (place, value) in computed.values.iter().enumerate() {
        let is_shared = computed.values[..place].iter().any(|other| other.address() == value.address());
        let value = value.clone().owned();
        let own = Bound::new(py, EngineMemory { memory: value.clone() })?;
        let array = numpy.call_method1("asarray", (own,))?;
        let is_small = value.len_bytes() <= SMALL_BYTES;
        values.push(if is_small || is_shared { array.call_method0("copy")? } else { array });
    }
    let stats = crate::to_dict(py, &computed.stats)?;
    Ok((values, stats, PyRun::of_arrays(&runtime, computed.stats, samples)))
}

/// Writes an array to a file, see `outcore.array.save`.
#[pyfunction]
pub fn save_array(
    py: Python<'_>,
    array: &PyExpression,
    path: PathBuf,
    names: Option<Vec<String>>,
    options: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    run(py, &runtime, || learn::save(&runtime, &array.array, names, &path).map(drop))
}
