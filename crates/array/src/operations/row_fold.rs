//! Folds of rows by functions of the user: sketches, factors, sums of a model, and anything with mergeable states.
//!
//! *Order.* Every partition of rows begins with a state of its own, to which its blocks are added in their order.
//! States are merged in the order of the partitions, which do not depend on the number of workers or the memory: so
//! neither does a result, even if merging is not associative.

use crate::array::{Along, Array, Operation, two_long_axes};
use crate::block::{Block, Register};
use crate::kernel::{Values, ValuesMut};
use crate::memory::InMemory;
use crate::plan::{Known, Plan, Wanted};
use crate::sink::{Partial, Room, Sink, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;
use std::sync::Arc;

/// Adjacent rows of the operands of a [`RowFold`].
#[derive(Debug)]
pub struct RowBlock<'a> {
    /// The number of the first row.
    pub first_row: u64,
    /// Number of rows.
    pub rows: usize,
    /// The columns of every operand; a vector has one.
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

    /// The shape of the result: by default that of a vector.
    fn shape(&self) -> Vec<u64> {
        vec![self.results() as u64]
    }

    /// The type of the elements of the result.
    fn element(&self) -> ElementType {
        ElementType::Float64
    }

    /// Memory of a state to which a partition of `rows` rows was added.
    fn state_bytes(&self, rows: u64) -> u64;

    /// Memory of a state of a partition of `rows` rows that is closed, and waits to be merged.
    fn closed_bytes(&self, rows: u64) -> u64 {
        self.state_bytes(rows)
    }

    /// Number of rows from which on a state is worth being made and merged: partitions have about as many, as long as
    /// these take no more than 16 MiB.
    fn least_rows(&self) -> u64 {
        0
    }

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

    /// Adds the state of the rows that follow.
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

/// Rows of some operands, folded by a user's function.
struct FoldOfRows<F>(Arc<F>);

impl<F: RowFold> Operation for FoldOfRows<F> {
    fn pass_axis(&self, _array: &Array) -> Option<Along> {
        Some(Along::Folded(0))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, _axis: usize, known: &Known) -> Result<Sink> {
        let first = plan.wanted(&array.operands()[0], &[], 0, known)?;
        let others = array.operands()[1..].iter().map(|operand| Ok(plan.wanted(operand, &[], 0, known)?.0));
        let others = others.collect::<Result<_>>()?;
        let (fold, own, closed) = (Arc::clone(&self.0), Arc::clone(&self.0), Arc::clone(&self.0));
        let bytes = move |_: &Sink, partition_rows: u64| own.state_bytes(partition_rows);
        let begin = move |_: &Sink| FoldedRows { fold: Arc::clone(&fold), state: fold.begin() };
        let sink = Sink::folded(array, "fold of rows", first, bytes, begin).with_others(others, true);
        let sink = sink.with_waiting_bytes(move |_, partition_rows| closed.closed_bytes(partition_rows));
        Ok(Sink { least_rows: self.0.least_rows(), ..sink })
    }
}

/// The state of the rows so far.
struct FoldedRows<F: RowFold> {
    fold: Arc<F>,
    state: F::State,
}

impl<F: RowFold> Partial for FoldedRows<F> {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, _registers: &mut [Register]) -> Result<()> {
        let columns = |wanted: &Wanted| block.vectors(&wanted.view, wanted.sizes.iter().product());
        let operands = sink.wanted().map(columns).collect();
        self.fold.add(&mut self.state, &RowBlock { first_row: block.first_row, rows: block.rows, operands })
    }

    fn close(&mut self) -> Result<()> {
        self.fold.close(&mut self.state)
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        self.fold.merge(&mut self.state, same::<FoldedRows<F>>(next).state)
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory> {
        let mut room = Room::new(budget, sink.element, &sink.shape)?;
        self.fold.finish(self.state, ValuesMut::from_bytes(sink.element, room.bytes_mut()))?;
        Ok(room.into_memory(sink.element, &sink.shape))
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
                let shape = operand.shape();
                return Err(Error::Usage(format!(
                    "expected a vector or a matrix of {rows} rows, found shape {shape:?}"
                )));
            }
            if operand.long().is_some_and(|long| long.axis != 0 && long.is_fixed) {
                return Err(two_long_axes(operands));
            }
        }
        if rows.is_none() {
            return Err(Error::Usage("expected vectors or matrices to fold, found no operand".to_owned()));
        }
        let (name, shape, element) = (fold.name().to_owned(), fold.shape(), fold.element());
        assert_eq!(shape.iter().product::<u64>(), fold.results() as u64, "a shape of all results");
        Array::computed((name, FoldOfRows(Arc::new(fold))), operands.to_vec(), shape, element, None)
    }
}
