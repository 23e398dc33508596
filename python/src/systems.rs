//! Systems of linear equations, and preconditioners of the user's.

use crate::columns::{keep, set_aside};
use crate::errors::usage;
use crate::exit::attached;
use crate::linalg::facts;
use crate::matrix::PyMatrix;
use crate::runtime::run_sampled;
use numpy::{PyArray1, PyReadonlyArray1};
use outcore::linalg::{METHODS, Preconditioner, SolveOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// See `outcore.linalg.cg` and the other solvers: the vector, and the facts of the run. A preconditioner is "jacobi",
/// or a function of Python's from a vector to a vector.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (method, matrix, b, *, rtol, atol, maxiter, x0, restart, preconditioner))]
pub fn solve<'py>(
    py: Python<'py>,
    method: &str,
    matrix: &PyMatrix,
    b: PyReadonlyArray1<'py, f64>,
    rtol: f64,
    atol: f64,
    maxiter: Option<u64>,
    x0: Option<PyReadonlyArray1<'py, f64>>,
    restart: usize,
    preconditioner: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let known = METHODS.iter().find(|(name, _)| *name == method);
    let &(_, solve) = known.ok_or_else(|| usage(py, format!("expected a method, found '{method}'")))?;
    let is_jacobi =
        preconditioner.as_ref().is_some_and(|given| given.extract::<&str>().is_ok_and(|name| name == "jacobi"));
    let multiply = preconditioner.map(Bound::unbind);
    let multiply = multiply.map(|function| move |vector: &mut [f64]| approximate(&function, matrix, vector));
    let preconditioner = match &multiply {
        None => Preconditioner::None,
        Some(_) if is_jacobi => Preconditioner::Jacobi,
        Some(multiply) => Preconditioner::Function(multiply),
    };
    let (b, x0) = (b.as_slice()?, x0.as_ref().map(|x0| x0.as_slice()).transpose()?);
    let options = SolveOptions { rtol, atol, max_iterations: maxiter, x0, restart, preconditioner };
    let sparse = matrix.for_operation(py);
    let graph = sparse.graph();
    let (found, samples) = run_sampled(py, graph.runtime(), || solve(&sparse, b, &options))?;
    let facts = facts(py, graph, found.products, (&found.stats, samples))?;
    facts.set_item("residual", found.residual)?;
    facts.set_item("residual_bound", found.residual_bound)?;
    facts.set_item("converged", found.converged)?;
    facts.set_item("stopped_by", found.stopped_by.name())?;
    facts.set_item("iterations", found.iterations)?;
    facts.set_item("residuals", PyArray1::from_slice(py, &found.residuals))?;
    let reservation = set_aside(py, graph.image(), "a solution as a NumPy array", 8 * found.x.len() as u64)?;
    let x = PyArray1::from_slice(py, &found.x);
    keep(x.as_any(), reservation)?;
    facts.set_item("x", x)?;
    Ok(facts)
}

/// Replaces a vector by the product that a preconditioner of the user's makes of it: of an array with the same numbers,
/// whose memory is set aside for as long as it lives.
fn approximate(function: &Py<PyAny>, matrix: &PyMatrix, vector: &mut [f64]) -> outcore::Result<()> {
    let called = attached(|py| {
        let (image, purpose) = (matrix.matrix.graph().image(), "a vector for a preconditioner as a NumPy array");
        let reservation = set_aside(py, image, purpose, 8 * vector.len() as u64)?;
        let given = PyArray1::from_slice(py, vector);
        keep(given.as_any(), reservation)?;
        let product: PyReadonlyArray1<'_, f64> = function.bind(py).call1((given,))?.extract()?;
        vector.copy_from_slice(product.as_slice()?);
        Ok(())
    });
    called.map_err(outcore::Error::custom)
}
