//! Exceptions: the error tree of the engine, as classes of `outcore._errors`.

use crate::runtime::holders_dict;
use outcore::Error;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyOSError, PyRuntimeError};
use pyo3::prelude::*;

/// Turns the engine's errors into exceptions, and texts about options into `UsageError`.
pub fn raise(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = in_python(py, error.to_string());
    // Only a broken installation lacks the classes; then that is what is raised.
    let made = match error {
        Error::Cancelled => return PyKeyboardInterrupt::new_err(text),
        Error::Index(_) => return PyIndexError::new_err(text),
        // As Python's own `threading` has it.
        Error::ThreadRefused { .. } => return PyRuntimeError::new_err(text),
        Error::File { path, operation, offset_bytes, source } => {
            return file_error(&path.to_string_lossy(), operation, offset_bytes, &source);
        }
        Error::Memory { needed_bytes, available_bytes, limit_bytes, holders, .. } => {
            exception(py, "MemoryLimitError", &text).and_then(|error| {
                error.setattr("needed_bytes", needed_bytes)?;
                error.setattr("available_bytes", available_bytes)?;
                error.setattr("limit_bytes", limit_bytes)?;
                error.setattr("holders", holders_dict(py, &holders)?)?;
                Ok(error)
            })
        }
        Error::MemoryRefused { needed_bytes, .. } => exception(py, "MemoryLimitError", &text).and_then(|error| {
            error.setattr("needed_bytes", needed_bytes)?;
            Ok(error)
        }),
        Error::Corrupt { path, offset_bytes, .. } => exception(py, "CorruptImageError", &text).and_then(|error| {
            error.setattr("path", path.to_string_lossy())?;
            error.setattr("offset_bytes", offset_bytes)?;
            Ok(error)
        }),
        Error::Input { path, line, .. } => exception(py, "InputError", &text).and_then(|error| {
            error.setattr("path", path.to_string_lossy())?;
            error.setattr("line", line)?;
            Ok(error)
        }),
        Error::Verification { expected, found } => exception(py, "VerificationError", &text).and_then(|error| {
            error.setattr("expected", expected)?;
            error.setattr("found", found)?;
            Ok(error)
        }),
        Error::NoImage { .. } => exception(py, "NoImageError", &text),
        Error::Exists { .. } => exception(py, "ImageExistsError", &text),
        Error::NoId { .. } | Error::NoVertex { .. } => exception(py, "NoVertexError", &text),
        Error::DiskSpace { needed_bytes, free_bytes, .. } => exception(py, "DiskSpaceError", &text).and_then(|error| {
            error.setattr("needed_bytes", needed_bytes)?;
            error.setattr("free_bytes", free_bytes)?;
            Ok(error)
        }),
        // An exception of the user's function is raised unchanged.
        Error::Custom(custom) => match custom.downcast::<PyErr>() {
            Ok(raised) => return *raised,
            Err(custom) => match custom.downcast::<Error>() {
                Ok(error) => return raise(py, *error),
                Err(_) => exception(py, "UsageError", &text),
            },
        },
        // As a file that was closed.
        Error::StreamFailed { .. } => return PyOSError::new_err(text),
        // All other errors are requests that cannot be answered.
        _ => exception(py, "UsageError", &text),
    };
    made.map_or_else(|broken| broken, PyErr::from_value)
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

/// An `OSError`; Python makes it a `FileNotFoundError` and the like by its number.
fn file_error(path: &str, operation: &str, offset_bytes: Option<u64>, source: &std::io::Error) -> PyErr {
    let place = offset_bytes.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    match source.raw_os_error() {
        Some(number) => {
            let text = source.to_string();
            let reason = text.split(" (os error").next().unwrap_or_default();
            PyOSError::new_err((number, format!("cannot {operation}{place}: {reason}"), path.to_owned()))
        }
        None => PyOSError::new_err(format!("cannot {operation} {path}{place}: {source}")),
    }
}
