//! Rows of a table in memory, which an array of indices picks.

use crate::array::{Array, Operation, Requests, cannot_stream, no_function};
use crate::block::{Register, flat_of, register};
use crate::kernel::{Argument, Scalar, Values, ValuesMut};
use crate::memory::InMemory;
use crate::plan::{Known, Plan, Request, Step, StepOperation, VectorPlace, View, Visits};
use outcore_format::ElementType;
use outcore_image::{Error, Result};

/// Rows of the first operand, a table, which the second one, indices, picks.
struct Gather;

impl Operation for Gather {
    fn can_stream(&self, array: &Array, axis: usize) -> bool {
        axis < array.operands()[1].axes()
    }

    fn requests<'a>(&self, array: &'a Array, axis: usize) -> Requests<'a> {
        let [table, index] = array.operands() else { unreachable!("a table and indices") };
        vec![(table, None), (index, Some(axis).filter(|&axis| axis < index.axes()))]
    }

    fn has_table(&self) -> bool {
        true
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let [table, index] = array.operands() else { unreachable!("a table and indices") };
        if request.axis.is_some_and(|axis| axis >= index.axes()) {
            return Err(cannot_stream(array));
        }
        let index = plan.add(index, request, known)?;
        Ok(plan.push(array, request, vec![index], RowsOf(known.operand(table)?.packed())))
    }
}

/// Rows of a table in memory, which the vectors of a view pick.
struct RowsOf(InMemory);

impl RowsOf {
    /// Number of axes of the index that are outer ones; the table's other axes follow.
    fn index_axes(&self, axes: usize) -> usize {
        axes + 1 - self.0.shape().len()
    }
}

impl StepOperation for RowsOf {
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        let (sizes, columns) = step.shape.split_at(self.index_axes(step.shape.len()));
        // The indices are looked at for every column of the table.
        let visits = if columns.iter().product::<usize>() > 1 { 2 } else { 1 };
        vec![(&step.views[0], sizes.to_vec()); visits]
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let (slot, rest) = register(registers);
        let (own, column) = at.index.split_at(self.index_axes(at.index.len()));
        pick(&self.0, at.block.fetch(&at.step.views[0], own, slot, rest)?, column, to)
    }
}

/// Writes the elements of a column of a table that indices pick.
fn pick(table: &InMemory, index: Argument<'_>, column: &[usize], to: ValuesMut<'_>) -> Result<()> {
    let rows = table.shape()[0];
    let sizes: Vec<usize> = table.shape()[1..].iter().map(|&size| size as usize).collect();
    let (width, column) = (sizes.iter().product::<usize>(), flat_of(column, &sizes));
    let size = table.element().bytes();
    let element = |place: i64| match place >= 0 && (place as u64) < rows {
        true => Ok(table.at(((place as usize * width + column) * size) as isize)),
        false => Err(Error::Index(format!("expected an index below {rows} of axis 0, found {place}"))),
    };
    let bytes = to.into_bytes();
    match index {
        Argument::Scalar(Scalar::Int64(place)) => {
            let element = element(place)?;
            bytes.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(element));
        }
        Argument::Vector(Values::Int64(places)) => {
            for (&place, to) in places.iter().zip(bytes.chunks_exact_mut(size)) {
                to.copy_from_slice(element(place)?);
            }
        }
        _ => unreachable!("indices are int64"),
    }
    Ok(())
}

impl Array {
    /// Rows of this array, a table in memory, which indices from 0 on pick: an array of the indices' axes and then the
    /// table's other ones.
    ///
    /// # Errors
    /// Indices that are no whole numbers; a table without axes.
    pub fn gather(&self, index: &Array) -> Result<Self> {
        if !index.element().is_signed() && !index.element().is_unsigned() {
            return Err(no_function("take", index.element()));
        }
        let Some((&rows, others)) = self.shape().split_first() else {
            return Err(Error::Usage("expected an array with axes to take from, found a single value".to_owned()));
        };
        if rows == 0 && index.count() > 0 {
            return Err(Error::Index("expected an index of an axis with elements, found an axis of size 0".to_owned()));
        }
        let mut shape = index.shape().to_vec();
        shape.extend(others);
        let index = index.cast(ElementType::Int64)?;
        let long = index.long();
        Array::computed(("take", Gather), vec![self.clone(), index], shape, self.element(), long)
    }
}
