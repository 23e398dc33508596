//! Arrow streams to and from Python, by the Arrow PyCapsule interface:
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
#![allow(unsafe_code)]

use crate::errors::usage;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// The name of the capsule of a stream in the interface.
const STREAM: &CStr = c"arrow_array_stream";

/// The batches of an object that has `__arrow_c_stream__`.
///
/// # Errors
/// The exception of the method, or a capsule that holds no stream.
pub fn import(rows: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let capsule = rows.call_method0("__arrow_c_stream__").map_err(|error| unreadable(rows, error))?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the name says that the capsule holds a stream, and the producer vouches for it. The stream is moved out:
    // what stays is marked as released, so the capsule's destructor leaves it alone.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
    let reader = reader.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Box::new(reader))
}

/// The error for a table with columns that no Arrow type holds, such as objects of several types.
fn unreadable(rows: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = rows.py();
    let is_of_values = error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyOverflowError>(py);
    if !is_of_values {
        return error;
    }
    let kind = rows.get_type().name().map_or_else(|_| "table".to_owned(), |name| name.to_string());
    let text = format!(
        "expected columns of one type each in the {kind}, found one that no Arrow type holds: {}; convert it first, for \
         example with astype()",
        error.value(py)
    );
    let raised = usage(py, text);
    raised.set_cause(py, Some(error));
    raised
}

/// The result of `__arrow_c_stream__`: a capsule that hands batches over. Consumers that request another schema convert
/// what they get, as the interface allows.
///
/// # Errors
/// No memory for the capsule.
pub fn export<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
    _requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
