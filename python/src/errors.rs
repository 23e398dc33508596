//! Exceptions: the error tree of the engine, as classes of `outcore._errors`.

use crate::runtime::holders_dict;
use outcore::Error;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Turns the engine's errors into exceptions, and texts about options into `UsageError`.
pub fn raise(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = match error.into() {
        // An exception of the user's function is raised unchanged.
        Error::Custom(custom) => match custom.downcast::<PyErr>() {
            Ok(raised) => return *raised,
            Err(custom) => match custom.downcast::<Error>() {
                Ok(error) => return raise(py, *error),
                Err(custom) => Error::Custom(custom),
            },
        },
        error => error,
    };
    let text = in_python(py, error.to_string());
    let class = match &error {
        Error::Cancelled => return PyKeyboardInterrupt::new_err(text),
        Error::Index(_) => return PyIndexError::new_err(text),
        // As Python's own `threading` has it.
        Error::ThreadRefused { .. } => return PyRuntimeError::new_err(text),
        Error::File { .. } | Error::StreamFailed { .. } => "FileError",
        Error::Memory { .. } | Error::MemoryRefused { .. } => "MemoryLimitError",
        Error::Corrupt { .. } => "CorruptImageError",
        Error::Input { .. } => "InputError",
        Error::Verification { .. } => "VerificationError",
        Error::NoImage { .. } => "NoImageError",
        Error::Exists { .. } => "ImageExistsError",
        Error::NoId { .. } | Error::NoVertex { .. } => "NoVertexError",
        Error::DiskSpace { .. } => "DiskSpaceError",
        // All other errors are requests that cannot be answered.
        _ => "UsageError",
    };
    // Only a broken installation lacks the classes; then that is what is raised.
    with_fields(py, class, &error, &text).map_or_else(|broken| broken, PyErr::from_value)
}

/// An exception whose attributes are the members of the error as JSON, by their names.
fn with_fields<'py>(py: Python<'py>, class: &str, error: &Error, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let made = match error {
        Error::File { path, operation, offset_bytes, source } => {
            let path = path.to_string_lossy();
            file_error(py, &path, operation, *offset_bytes, source)?
        }
        _ => exception(py, class, text)?,
    };
    let members = crate::to_dict(py, error)?.cast_into::<PyDict>()?;
    members.del_item("message")?;
    if let Error::Memory { holders, .. } = error {
        members.set_item("holders", holders_dict(py, holders)?)?;
    }
    for (name, value) in members {
        let value = match value.extract::<String>() {
            Ok(value) if name.eq("advice")? || name.eq("expected")? || name.eq("found")? => {
                in_python(py, value).into_pyobject(py)?.into_any()
            }
            _ => value,
        };
        made.setattr(name.cast::<PyString>()?, value)?;
    }
    Ok(made)
}

/// A text in which options are called as in Python.
fn in_python(py: Python<'_>, text: String) -> String {
    let translated = || py.import("outcore._errors")?.call_method1("in_python", (&text,))?.extract();
    if text.contains("--") { translated().unwrap_or(text) } else { text }
}

/// A `UsageError` with this text.
pub fn usage(py: Python<'_>, text: impl Into<String>) -> PyErr {
    raise(py, Error::Usage(text.into()))
}

/// An exception of the class with this name.
pub fn exception<'py>(py: Python<'py>, class: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("outcore._errors")?.getattr(class)?.call1((text,))
}

/// A `FileError`, which is a `FileNotFoundError` and the like by its number.
fn file_error<'py>(
    py: Python<'py>,
    path: &str,
    operation: &str,
    offset_bytes: Option<u64>,
    source: &std::io::Error,
) -> PyResult<Bound<'py, PyAny>> {
    let place = offset_bytes.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    let class = py.import("outcore._errors")?.getattr("FileError")?;
    match source.raw_os_error() {
        Some(number) => {
            let text = source.to_string();
            let reason = text.split(" (os error").next().unwrap_or_default();
            class.call1((number, format!("cannot {operation}{place}: {reason}"), path))
        }
        None => class.call1((format!("cannot {operation} {path}{place}: {source}"),)),
    }
}
