//! Functions of elements that Numba compiled: they are called as C functions over vectors, without the interpreter's
//! lock.
//!
//! **Invariant:** the address that `element_function` is given is that of a [`Loop`] over as many operands as it is
//! given, of their types, whose results are of the type that it is given: `python/outcore/_numba.py` compiles such. Its
//! code stays in memory as long as the object that it is given with, which the expression keeps.

#![allow(unsafe_code)]

use crate::array::PyExpression;
use crate::errors::usage;
use crate::exit::attached;
use outcore::array::kernel::{Values, ValuesMut};
use outcore::array::{Array, ElementFunction, ElementType};
use outcore::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::c_void;
use std::mem::transmute;
use std::sync::Arc;

/// Computes so many results of as many elements of every operand; 0 unless the function raised an exception.
type Loop = unsafe extern "C" fn(usize, *mut c_void, *const *const c_void) -> i32;

/// A function of elements, and what keeps its code in memory.
struct Compiled {
    name: String,
    each: Loop,
    _code: Py<PyAny>,
    /// Calls the function as Python for the elements of operands, to raise its exception once more.
    again: Py<PyAny>,
}

impl Compiled {
    /// The exception that the function raised for one of these elements.
    fn error(&self, operands: &[Values<'_>]) -> Error {
        let raised = attached(|py| {
            let vectors: Vec<_> = operands.iter().map(|operand| PyBytes::new(py, operand.bytes())).collect();
            self.again.call1(py, (vectors,)).map(|_| ())
        });
        let silent =
            || PyRuntimeError::new_err(format!("{} raised an exception, and none when called again", self.name));
        Error::custom(raised.err().unwrap_or_else(silent))
    }
}

impl ElementFunction for Compiled {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, operands: &[Values<'_>], results: ValuesMut<'_>) -> Result<()> {
        let count = results.len();
        let pointers: Vec<*const c_void> = operands.iter().map(|operand| operand.bytes().as_ptr().cast()).collect();
        let results = results.into_bytes().as_mut_ptr().cast();
        // SAFETY: this module's invariant; there are as many elements of every operand as results.
        match unsafe { (self.each)(count, results, pointers.as_ptr()) } {
            0 => Ok(()),
            _ => Err(self.error(operands)),
        }
    }
}

/// An array of what a compiled function of the elements of arrays returns, see `outcore.array.apply`. `code` is its
/// address, and the object that keeps it.
#[pyfunction]
pub fn element_function(
    py: Python<'_>,
    name: String,
    code: (usize, Py<PyAny>),
    again: Py<PyAny>,
    operands: Vec<PyExpression>,
    dtype: &str,
) -> PyResult<PyExpression> {
    let result = ElementType::from_name(dtype).ok_or_else(|| usage(py, format!("expected a type, found {dtype}")))?;
    // SAFETY: this module's invariant; addresses of functions are not zero.
    let each = unsafe { transmute::<usize, Loop>(code.0) };
    let function = Arc::new(Compiled { name, each, _code: code.1, again });
    let operands: Vec<Array> = operands.into_iter().map(|operand| operand.array).collect();
    PyExpression::of(py, Array::user(function, &operands, result))
}
