//! Memory that the engine and NumPy share: arrays of NumPy read in place, and results handed over without a copy.
#![allow(unsafe_code)]

use crate::errors::usage;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use outcore::array::{Bytes, ElementType, InMemory};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The memory of a NumPy array, which is looked at in place.
pub fn borrowed(given: &Bound<'_, PyUntypedArray>, element: ElementType) -> PyResult<InMemory> {
    let py = given.py();
    let shape: Vec<u64> = given.shape().iter().map(|&size| size as u64).collect();
    let strides = given.strides().to_vec();
    let address: usize = given.as_any().getattr("ctypes")?.getattr("data")?.extract()?;
    // Where the first and the last element are, whatever the signs of the distances.
    let (mut least, mut most) = (0isize, 0isize);
    if given.len() > 0 {
        for (&size, &stride) in given.shape().iter().zip(&strides) {
            let reach = (size as isize - 1) * stride;
            (least, most) = (least + reach.min(0), most + reach.max(0));
        }
    }
    let len = if given.len() == 0 { 0 } else { (most - least) as usize + element.bytes() };
    if !address.is_multiple_of(element.bytes()) || strides.iter().any(|stride| stride % element.bytes() as isize != 0) {
        return Err(usage(py, "expected an array whose elements are aligned"));
    }
    let start = address.wrapping_add_signed(least) as *const u8;
    let start = if len == 0 { std::ptr::NonNull::<u64>::dangling().as_ptr().cast() } else { start };
    let bytes = Arc::new(Borrowed { start, len, _owner: given.as_any().clone().unbind() });
    Ok(InMemory::strided(bytes, -least as usize, element, shape, strides))
}

/// The memory of a NumPy array, which is kept as long as an expression refers to it.
struct Borrowed {
    start: *const u8,
    len: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the memory is only read, and the owner is only dropped, which pyo3 allows from any thread.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Bytes for Borrowed {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the owner keeps the memory. That nobody writes it while results are computed is what the
        // documentation asks of users, as NumPy does of whoever releases the interpreter's lock.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// A result in the engine's memory, as NumPy asks for it.
#[pyclass(frozen, module = "outcore._outcore")]
pub struct EngineMemory {
    pub memory: InMemory,
}

#[pymethods]
impl EngineMemory {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        let shape = pyo3::types::PyTuple::new(py, self.memory.shape())?;
        interface.set_item("shape", shape)?;
        interface.set_item("typestr", numpy_name(self.memory.element()))?;
        interface.set_item("data", (self.memory.address(), false))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

fn numpy_name(element: ElementType) -> &'static str {
    match element {
        ElementType::Bool => "|b1",
        ElementType::Int8 => "|i1",
        ElementType::Int16 => "=i2",
        ElementType::Int32 => "=i4",
        ElementType::Int64 => "=i8",
        ElementType::UInt8 => "|u1",
        ElementType::UInt16 => "=u2",
        ElementType::UInt32 => "=u4",
        ElementType::UInt64 => "=u8",
        ElementType::Float32 => "=f4",
        ElementType::Float64 => "=f8",
    }
}
