//! Arrow streams to and from Python, by the Arrow PyCapsule interface:
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
#![allow(unsafe_code)]

use crate::errors::usage;
use crate::exit::UnderWay;
use crate::runtime::run;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use outcore::Runtime;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::thread::{ThreadId, current};

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
    let reader = reader.map_err(|error| {
        let text = format!("expected columns of types that Arrow has, found others: {error}; cast or drop them");
        usage(rows.py(), text)
    })?;
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
    (reader, runtime): (impl RecordBatchReader + Send + 'static, Runtime),
    _requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = Interruptible { reader, runtime, thread: current().id() };
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// The frame that a library makes of an object with `__arrow_c_stream__`. Errors cross the interface as text: the
/// library's error about a stream that Ctrl-C ended is replaced by `KeyboardInterrupt`.
///
/// # Errors
/// The exception of the library, or the interruption.
pub fn into_frame<'py>(rows: &Bound<'py, PyAny>, library: &str, class: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = rows.py();
    py.import(library)?.call_method1(class, (rows,)).map_err(|error| {
        let is_interrupted = error.to_string().contains("KeyboardInterrupt");
        if is_interrupted { PyKeyboardInterrupt::new_err(()) } else { error }
    })
}

/// Batches that a signal ends, if the thread that asked for the stream reads it, as on the main thread: the reader
/// raises an error of its own with the name of the exception. Another thread does not take the interpreter's lock,
/// whose holder may wait for it.
struct Interruptible<R> {
    reader: R,
    /// That of the operation alone.
    runtime: Runtime,
    thread: ThreadId,
}

impl<R: RecordBatchReader + Send> Iterator for Interruptible<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Interruptible { reader, runtime, thread } = self;
        if current().id() != *thread {
            return reader.next();
        }
        let batch = attached_anew(|py| {
            let read = py.check_signals().and_then(|()| run(py, runtime, || Ok(reader.next())));
            read.map_err(|error| error.to_string())
        });
        batch.unwrap_or_else(|text| Some(Err(ArrowError::ExternalError(text.into()))))
    }
}

/// Calls Python from whatever reads a stream: it may have released the interpreter's lock below a method of ours, which
/// PyO3 does not see. So no object of Python's may leave `call`.
fn attached_anew<T>(call: impl FnOnce(Python<'_>) -> Result<T, String>) -> Result<T, String> {
    /// Releases the lock, also behind a panic.
    struct Attached(ffi::PyGILState_STATE);

    impl Drop for Attached {
        fn drop(&mut self) {
            // SAFETY: it is dropped on the thread that took the lock, which is then as it was.
            unsafe { ffi::PyGILState_Release(self.0) }
        }
    }

    let Ok(_under_way) = UnderWay::enter() else { return Err("the interpreter is ending".to_owned()) };
    // SAFETY: the interpreter runs until `_under_way` is dropped, behind `_attached`, and a thread may take its lock
    // whether it holds it or not.
    let _attached = Attached(unsafe { ffi::PyGILState_Ensure() });
    // SAFETY: the lock is held until `_attached` is dropped, which is behind the call.
    call(unsafe { Python::assume_attached() })
}

impl<R: RecordBatchReader + Send> RecordBatchReader for Interruptible<R> {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}
