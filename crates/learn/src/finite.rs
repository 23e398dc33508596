//! The rows that a model is applied to, lazily: as a fit refuses NaN and infinities, so do these rows when they are
//! computed. Without that the likeliest class of NaN would be class 0.

use crate::common::{are_finite, matrix, reals, usage};
use outcore_array::kernel::{Values, ValuesMut};
use outcore_array::{Array, ElementFunction, ElementType};
use outcore_image::Result;
use std::sync::Arc;

struct Finite;

impl ElementFunction for Finite {
    fn name(&self) -> &str {
        "finite"
    }

    fn call(&self, operands: &[Values<'_>], results: ValuesMut<'_>) -> Result<()> {
        let values = reals(&operands[0]);
        if !are_finite(values) {
            return usage("expected finite numbers in rows that a model is applied to, found NaN or an infinity");
        }
        if let ValuesMut::Float64(results) = results {
            results.copy_from_slice(values);
        }
        Ok(())
    }
}

/// A matrix of observations as float64, lazily. NaN or an infinity is an error when it is computed.
///
/// # Errors
/// Another number of axes; no row or no column.
pub fn finite_rows(x: &Array) -> Result<Array> {
    let rows = matrix(x)?;
    match x.element() {
        ElementType::Float32 | ElementType::Float64 => Array::user(Arc::new(Finite), &[rows], ElementType::Float64),
        _ => Ok(rows),
    }
}
