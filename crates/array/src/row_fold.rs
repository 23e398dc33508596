//! Folds of rows by functions of the user: sketches, factors, sums of a model, and anything with mergeable states.
//!
//! *Order.* Every partition of rows begins with a state of its own, to which its blocks are added in their order.
//! States are merged in the order of the partitions, which do not depend on the number of workers or the memory: so
//! neither does a result, even if merging is not associative.

use crate::array::{Array, Op};
use crate::elementwise::two_long_axes;
use crate::kernel::{Values, ValuesMut};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use std::any::Any;
use std::sync::Arc;

/// Adjacent rows of the operands of a [`RowFold`].
pub struct RowBlock<'a> {
    /// The first one.
    pub first_row: u64,
    /// Number of rows.
    pub rows: usize,
    /// Of every operand its columns; one of a vector.
    pub operands: Vec<Vec<Values<'a>>>,
}

/// A fold of the rows of vectors and matrices into an array. A panic in it is resumed in the thread that computes.
pub trait RowFold: Send + Sync + 'static {
    /// The partial result of some rows.
    type State: Send + 'static;

    /// Its name, for plans and errors.
    fn name(&self) -> &str;

    /// Number of elements of the result.
    fn results(&self) -> usize;

    /// Its shape, if it is no vector.
    fn shape(&self) -> Vec<u64> {
        vec![self.results() as u64]
    }

    /// The type of its elements.
    fn element(&self) -> ElementType {
        ElementType::Float64
    }

    /// Memory of a state to which a partition of `rows` rows was added.
    fn state_bytes(&self, rows: u64) -> u64;

    /// The state of no rows.
    fn begin(&self) -> Self::State;

    /// Adds rows that follow those which were added before.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn add(&self, state: &mut Self::State, block: &RowBlock<'_>) -> Result<()>;

    /// Makes a state ready to be merged, after the last rows of a partition. Workers do that at the same time, whereas
    /// states are merged one after the other.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn close(&self, _state: &mut Self::State) -> Result<()> {
        Ok(())
    }

    /// Adds the state of the rows behind.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn merge(&self, state: &mut Self::State, next: Self::State) -> Result<()>;

    /// Writes the result, row by row, into zeros of its type.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn finish(&self, state: Self::State, result: ValuesMut<'_>) -> Result<()>;
}

/// A [`RowFold`] whose states may be of any type.
pub(crate) trait AnyRowFold: Send + Sync {
    fn name(&self) -> &str;
    fn state_bytes(&self, rows: u64) -> u64;
    fn begin(&self) -> Box<dyn Any + Send>;
    fn add(&self, state: &mut (dyn Any + Send), block: &RowBlock<'_>) -> Result<()>;
    fn close(&self, state: &mut (dyn Any + Send)) -> Result<()>;
    fn merge(&self, state: &mut (dyn Any + Send), next: Box<dyn Any + Send>) -> Result<()>;
    fn finish(&self, state: Box<dyn Any + Send>, result: ValuesMut<'_>) -> Result<()>;
}

const OWN: &str = "states of one fold are of one type";

impl<T: RowFold> AnyRowFold for T {
    fn name(&self) -> &str {
        RowFold::name(self)
    }

    fn state_bytes(&self, rows: u64) -> u64 {
        RowFold::state_bytes(self, rows)
    }

    fn begin(&self) -> Box<dyn Any + Send> {
        Box::new(RowFold::begin(self))
    }

    fn add(&self, state: &mut (dyn Any + Send), block: &RowBlock<'_>) -> Result<()> {
        RowFold::add(self, state.downcast_mut().expect(OWN), block)
    }

    fn close(&self, state: &mut (dyn Any + Send)) -> Result<()> {
        RowFold::close(self, state.downcast_mut().expect(OWN))
    }

    fn merge(&self, state: &mut (dyn Any + Send), next: Box<dyn Any + Send>) -> Result<()> {
        RowFold::merge(self, state.downcast_mut().expect(OWN), *next.downcast().expect(OWN))
    }

    fn finish(&self, state: Box<dyn Any + Send>, result: ValuesMut<'_>) -> Result<()> {
        RowFold::finish(self, *state.downcast().expect(OWN), result)
    }
}

impl Array {
    /// The rows of vectors and matrices folded by a user's function, in one pass along their first axis.
    ///
    /// # Errors
    /// No operand; operands that have not as many rows as the first one, or more than two axes; an operand that is read
    /// along another axis.
    pub fn fold_rows<F: RowFold>(fold: F, operands: &[Array]) -> Result<Self> {
        let rows = operands.first().and_then(|first| first.shape().first().copied());
        for operand in operands {
            if operand.axes() > 2 || operand.shape().first().copied() != rows {
                let rows = rows.unwrap_or(0);
                let found = operand.shape();
                return Err(Error::Usage(format!(
                    "expected a vector or a matrix of {rows} rows, found shape {found:?}"
                )));
            }
            if operand.long().is_some_and(|long| long.axis != 0 && long.is_fixed) {
                return Err(two_long_axes());
            }
        }
        if rows.is_none() {
            return Err(Error::Usage("expected vectors or matrices to fold".to_owned()));
        }
        let (shape, element) = (RowFold::shape(&fold), RowFold::element(&fold));
        assert_eq!(shape.iter().product::<u64>(), RowFold::results(&fold) as u64, "a shape of all results");
        Array::of(Op::RowFold(Arc::new(fold), operands.to_vec()), shape, element, None)
    }
}
