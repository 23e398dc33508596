//! Types of elements, values and folds by their names in Python.

use crate::errors::usage;
use outcore::array::ElementType;
use outcore::array::kernel::{Fold, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// The type of elements that is called so.
pub fn element(py: Python<'_>, name: &str) -> PyResult<ElementType> {
    ElementType::from_name(name).ok_or_else(|| usage(py, format!("expected a type of numbers, found {name}")))
}

/// A value of Python's as one of the type.
pub fn scalar(value: &Bound<'_, PyAny>, element: ElementType) -> PyResult<Scalar> {
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Scalar::Bool(u8::from(value.is_true())).cast(element));
    }
    if value.is_instance_of::<PyInt>() {
        let out = |_| {
            let text = format!("expected a number that {} holds, found {value}", element.name());
            pyo3::exceptions::PyOverflowError::new_err(text)
        };
        return match element {
            ElementType::UInt64 => Ok(Scalar::UInt64(value.extract::<u64>().map_err(out)?)),
            ElementType::Float32 | ElementType::Float64 => Ok(Scalar::Float64(value.extract::<f64>()?).cast(element)),
            _ => {
                let wide = Scalar::Int64(value.extract::<i64>().map_err(out)?);
                let narrow = wide.cast(element);
                match element == ElementType::Bool || narrow.cast(ElementType::Int64) == wide {
                    true => Ok(narrow),
                    false => Err(out(pyo3::exceptions::PyOverflowError::new_err(""))),
                }
            }
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float64(value.extract::<f64>()?).cast(element));
    }
    Err(usage(value.py(), format!("expected a number, found {value}")))
}

/// The fold that is called so.
pub fn fold(py: Python<'_>, name: &str) -> PyResult<Fold> {
    Fold::from_name(name).ok_or_else(|| usage(py, format!("expected sum, prod, min, max, any or all, found {name}")))
}
