//! Folds of rows by functions of the user: sketches, factors, sums of a model, and anything with mergeable states.
//!
//! *Order.* Every partition of rows begins with a state of its own, to which its blocks are added in their order.
//! States are merged in the order of the partitions, which do not depend on the number of workers or the memory: so
//! neither does a result, even if merging is not associative.

use crate::array::{Along, Array, Operation, Requests, cannot_stream, two_long_axes};
use crate::block::{Block, Register};
use crate::kernel::{Values, ValuesMut};
use crate::memory::Memory;
use crate::plan::{Known, Plan, Request, View, Wanted};
use crate::sink::{Partial, Reduction, Room, Sink, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;
use std::any::Any;
use std::sync::Arc;

/// Adjacent rows of the operands of a [`RowFold`].
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

/// A [`RowFold`] whose states may be of any type.
trait AnyRowFold: Send + Sync {
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

/// Rows of some operands, folded by a user's function.
struct FoldOfRows {
    fold: Arc<dyn AnyRowFold>,
    operands: Vec<Array>,
}

impl Operation for FoldOfRows {
    fn name(&self) -> String {
        self.fold.name().to_owned()
    }

    fn operands(&self) -> Vec<&Array> {
        self.operands.iter().collect()
    }

    fn pass_axis(&self, _array: &Array) -> Option<Along> {
        Some(Along::Folded(0))
    }

    fn can_stream(&self, _array: &Array, _axis: usize) -> bool {
        false
    }

    fn folded_requests(&self, _axis: usize) -> Requests<'_> {
        self.operands.iter().map(|operand| (operand, Some(0))).collect()
    }

    fn plan(&self, array: &Array, _plan: &mut Plan, _request: Request, _known: &Known) -> Result<View> {
        Err(cannot_stream(array))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, _axis: usize, known: &Known) -> Result<Sink> {
        let first = plan.wanted(&self.operands[0], &[], 0, known)?;
        let others = self.operands[1..].iter().map(|operand| Ok(plan.wanted(operand, &[], 0, known)?.0));
        let others = others.collect::<Result<_>>()?;
        Ok(Sink::reduced(array, first, AllRows { fold: Arc::clone(&self.fold), others }))
    }
}

/// All rows of the sink's vectors and of others.
struct AllRows {
    fold: Arc<dyn AnyRowFold>,
    others: Vec<Wanted>,
}

impl Reduction for AllRows {
    fn name(&self) -> &str {
        "fold of rows"
    }

    fn others(&self) -> &[Wanted] {
        &self.others
    }

    fn needs_buffers(&self) -> bool {
        true
    }

    fn partial_bytes(&self, _sink: &Sink, partition_rows: u64) -> u64 {
        self.fold.state_bytes(partition_rows)
    }

    fn begin(&self, _sink: &Sink) -> Box<dyn Partial> {
        Box::new(FoldedRows { fold: Arc::clone(&self.fold), state: self.fold.begin() })
    }
}

/// The state of the rows so far.
struct FoldedRows {
    fold: Arc<dyn AnyRowFold>,
    state: Box<dyn Any + Send>,
}

impl Partial for FoldedRows {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, _registers: &mut [Register]) -> Result<()> {
        let columns = |wanted: &Wanted| block.vectors(&wanted.view, wanted.sizes.iter().product());
        let operands = sink.wanted().map(columns).collect();
        self.fold.add(self.state.as_mut(), &RowBlock { first_row: block.first_row, rows: block.rows, operands })
    }

    fn close(&mut self, _sink: &Sink) -> Result<()> {
        self.fold.close(self.state.as_mut())
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        self.fold.merge(self.state.as_mut(), same::<FoldedRows>(next).state)
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        let mut room = Room::new(budget, sink.element, &sink.shape)?;
        let to = ValuesMut::from_bytes(sink.element, room.bytes_mut());
        self.fold.finish(self.state, to)?;
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
                return Err(two_long_axes());
            }
        }
        if rows.is_none() {
            return Err(Error::Usage("expected vectors or matrices to fold, found no operand".to_owned()));
        }
        let (shape, element) = (RowFold::shape(&fold), RowFold::element(&fold));
        assert_eq!(shape.iter().product::<u64>(), RowFold::results(&fold) as u64, "a shape of all results");
        Array::computed(FoldOfRows { fold: Arc::new(fold), operands: operands.to_vec() }, shape, element, None)
    }
}
