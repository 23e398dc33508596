//! Functions of elements that Numba compiled: they are called as C functions over vectors, without the interpreter's
//! lock.
//!
//! **Invariant:** the address that `element_function` is given is that of a [`Loop`] over as many operands as it is
//! given, of their types, whose results are of the type that it is given; `element_fold` is given that of an [`Adder`]
//! of elements of its operand's type to results of the type that it is given, and that of a [`Loop`] over two of these.
//! `python/outcore/_numba.py` compiles such. Code stays in memory as long as the object that it is given with, which
//! the expression keeps.

#![allow(unsafe_code)]

use crate::array::{PyExpression, element, scalar};
use crate::exit::attached;
use outcore::array::kernel::{Scalar, Values, ValuesMut};
use outcore::array::{Array, ElementFold, ElementFunction};
use outcore::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::null;
use std::sync::Arc;

/// Computes results from elements of operands; the arguments are the number of results, the results, the operands, and
/// the number of operands. Returns 0 unless the function raised an exception.
type Loop = unsafe extern "C" fn(usize, *mut c_void, *const *const c_void, usize) -> i32;

/// Adds elements of vectors to results, see `ElementFold::add`. The arguments are the number of results, the results,
/// the vectors, their number, their length, and labels, which only functions compiled for them read. Returns 0, or 1
/// more than the number of elements that were added before the function raised an exception.
type Adder = unsafe extern "C" fn(usize, *mut c_void, *const *const c_void, usize, usize, *const i64) -> i64;

/// A function that was compiled: its name, its address, the object that keeps its code in memory, and what calls it as
/// Python for the elements of vectors.
type Function = (String, usize, Py<PyAny>, Py<PyAny>);

/// A function of elements, and what keeps its code in memory.
struct Compiled {
    name: String,
    each: Loop,
    _code: Py<PyAny>,
    /// Calls the function as Python for the elements of operands, to raise its exception once more.
    again: Py<PyAny>,
}

impl Compiled {
    fn new((name, address, code, again): Function) -> Self {
        // SAFETY: this module's invariant; addresses of functions are not zero.
        Compiled { name, each: unsafe { transmute::<usize, Loop>(address) }, _code: code, again }
    }
}

/// The exception that a function raised for one of these elements.
fn raised(name: &str, again: &Py<PyAny>, operands: &[Values<'_>]) -> Error {
    let raised = attached(|py| {
        let vectors: Vec<_> = operands.iter().map(|operand| PyBytes::new(py, operand.bytes())).collect();
        again.call1(py, (vectors,)).map(|_| ())
    });
    let silent = || PyRuntimeError::new_err(format!("{name} raised an exception, and none when called again"));
    Error::custom(raised.err().unwrap_or_else(silent))
}

fn pointers(operands: &[Values<'_>]) -> Vec<*const c_void> {
    operands.iter().map(|operand| operand.bytes().as_ptr().cast()).collect()
}

impl ElementFunction for Compiled {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, operands: &[Values<'_>], results: ValuesMut<'_>) -> Result<()> {
        let count = results.len();
        let results = results.into_bytes().as_mut_ptr().cast();
        // SAFETY: this module's invariant; there are as many elements of every operand as results.
        match unsafe { (self.each)(count, results, pointers(operands).as_ptr(), operands.len()) } {
            0 => Ok(()),
            _ => Err(raised(&self.name, &self.again, operands)),
        }
    }
}

/// A fold of elements: a function that adds an element to a result, and one that merges two results.
struct CompiledFold {
    name: String,
    initial: Scalar,
    each: Adder,
    _code: Py<PyAny>,
    again: Py<PyAny>,
    merge: Compiled,
}

impl ElementFold for CompiledFold {
    fn name(&self) -> &str {
        &self.name
    }

    fn initial(&self) -> Scalar {
        self.initial
    }

    fn add(&self, vectors: &[Values<'_>], labels: Option<&[i64]>, mut results: ValuesMut<'_>) -> Result<()> {
        let (rows, groups) = (vectors.first().map_or(0, Values::len), results.len());
        match labels {
            Some(labels) => assert!(labels.len() == rows && labels.iter().all(|&label| (label as usize) < groups)),
            None => assert_eq!(groups, 1, "one result without labels"),
        }
        let places = labels.map_or(null(), <[i64]>::as_ptr);
        let to = results.reborrow().into_bytes().as_mut_ptr().cast();
        // SAFETY: this module's invariant; vectors are of one length, labels below the number of results.
        let code = unsafe { (self.each)(groups, to, pointers(vectors).as_ptr(), vectors.len(), rows, places) };
        if code == 0 {
            return Ok(());
        }
        // The result is the one that the function was called with.
        let (row, column) = ((code - 1) as usize / vectors.len(), (code - 1) as usize % vectors.len());
        let result = results.as_values().slice(labels.map_or(0, |labels| labels[row] as usize), 1);
        Err(raised(&self.name, &self.again, &[result, vectors[column].slice(row, 1)]))
    }

    fn merge(&self, before: Values<'_>, behind: Values<'_>, results: ValuesMut<'_>) -> Result<()> {
        self.merge.call(&[before, behind], results)
    }
}

/// The array of the results of a compiled function of elements, see `outcore.array.apply`.
#[pyfunction]
pub fn element_function(
    py: Python<'_>,
    function: Function,
    operands: Vec<PyExpression>,
    dtype: &str,
) -> PyResult<PyExpression> {
    let operands: Vec<Array> = operands.into_iter().map(|operand| operand.array).collect();
    PyExpression::of(py, Array::user(Arc::new(Compiled::new(function)), &operands, element(py, dtype)?))
}

/// The array of folded elements, see `outcore.array.reduce`: along an axis, all of them if there is none, or rows by
/// their labels, which are those of this number of groups.
#[pyfunction]
#[pyo3(signature = (function, merge, initial, dtype, operand, axis, labels=None))]
#[allow(clippy::too_many_arguments)]
pub fn element_fold(
    py: Python<'_>,
    function: Function,
    merge: Function,
    initial: &Bound<'_, PyAny>,
    dtype: &str,
    operand: &PyExpression,
    axis: Option<usize>,
    labels: Option<(PyExpression, u64)>,
) -> PyResult<PyExpression> {
    let (name, address, code, again) = function;
    let initial = scalar(initial, element(py, dtype)?)?;
    // SAFETY: this module's invariant; addresses of functions are not zero.
    let each = unsafe { transmute::<usize, Adder>(address) };
    let fold = Arc::new(CompiledFold { name, initial, each, _code: code, again, merge: Compiled::new(merge) });
    let array = match labels {
        Some((labels, groups)) => operand.array.group_fold_elements(fold, &labels.array, groups),
        None => operand.array.fold_elements(fold, axis),
    };
    PyExpression::of(py, array)
}
