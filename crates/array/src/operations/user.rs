//! Functions that users wrote, which may panic.

use crate::kernel::{Values, ValuesMut};
use outcore_image::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A function of several vectors of elements that a user wrote. If it panics, that is an error with its name.
pub trait ElementFunction: Send + Sync {
    /// Its name, for plans and errors.
    fn name(&self) -> &str;

    /// Computes a vector of results from as many elements of every operand.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn call(&self, operands: &[Values<'_>], results: ValuesMut<'_>) -> Result<()>;
}

/// Calls a user's function. If it panics, that is an error with its name.
pub(crate) fn caught(name: &str, call: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Err(Error::Usage(format!("expected {name} to return, found that it panicked: {text}")))
    })
}
