//! Arrays under other axes: slices, transposes, broadcasts, new axes. Nothing is computed or copied.

use super::elementwise::broadcast;
use crate::array::{Array, Long, Op, Operation, Requests};
use crate::kernel::Scalar;
use crate::plan::{Known, Plan, Request, Rows, View};
use outcore_image::{Error, Result};

/// The elements of an array under other axes; axes of the array that none leads to have the index `fixed`.
struct Reindexed {
    axes: Vec<ViewAxis>,
    fixed: Vec<i64>,
}

/// An axis of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ViewAxis {
    /// The operand's axis; none for an axis along which all elements are equal.
    axis: Option<usize>,
    /// The operand's index for index 0, and the distance to that for the next index.
    start: i64,
    step: i64,
}

/// A part of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxisPart {
    /// One index; the axis is removed.
    Index(i64),
    /// `count` indices, `step` apart.
    Range {
        /// The first one.
        start: i64,
        /// Distance of successive indices.
        step: i64,
        /// Number of indices.
        count: u64,
    },
}

impl Operation for Reindexed {
    fn requests<'a>(&self, array: &'a Array, axis: usize) -> Requests<'a> {
        vec![(&array.operands()[0], self.axes[axis].axis)]
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let (input, Reindexed { axes, fixed }) = (&array.operands()[0], self);
        let inner = match request.axis.map(|axis| axes[axis]) {
            // All rows of an axis of size 1 are its only one.
            Some(ViewAxis { axis: Some(axis), start, step }) if input.shape()[axis] != 1 => {
                let rows = request.rows;
                Request { axis: Some(axis), rows: Rows { start: start + step * rows.start, step: step * rows.step } }
            }
            _ => Request::WHOLE,
        };
        let view = plan.add_all(input, inner, known)?;
        let mut offset = view.offset;
        for (axis, &index) in fixed.iter().enumerate() {
            if !axes.iter().any(|view| view.axis == Some(axis)) {
                offset += index as isize * view.strides[axis];
            }
        }
        let mut own_strides = Vec::new();
        for (axis, view_axis) in axes.iter().enumerate() {
            let stride = view_axis.axis.map_or(0, |axis| view.strides[axis]);
            if Some(axis) == request.axis {
                continue;
            }
            offset += view_axis.start as isize * stride;
            own_strides.push(view_axis.step as isize * stride);
        }
        Ok(View { step: view.step, offset, strides: own_strides })
    }
}

impl Array {
    /// The elements under other axes, see [`ViewAxis`].
    fn view(&self, axes: Vec<ViewAxis>, shape: Vec<u64>, fixed: Vec<i64>) -> Result<Self> {
        let long = self.long().and_then(|long| {
            let axis = axes.iter().position(|axis| axis.axis == Some(long.axis))?;
            Some(Long { axis, ..long })
        });
        Array::computed(("view", Reindexed { axes, fixed }), vec![self.clone()], shape, self.element(), long)
    }

    /// The axes in another order, where `None` stands for a new axis of size 1.
    fn reordered(&self, order: impl Iterator<Item = Option<usize>>) -> Result<Self> {
        let view = |axis: Option<usize>| ViewAxis { axis, start: 0, step: i64::from(axis.is_some()) };
        let (axes, shape) = order.map(|axis| (view(axis), axis.map_or(1, |own| self.shape()[own]))).unzip();
        self.view(axes, shape, vec![0; self.axes()])
    }

    /// The array with its axes in another order.
    ///
    /// # Errors
    /// An order that is not a permutation of all axes.
    pub fn permute(&self, order: &[usize]) -> Result<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.axes()) {
            let expected = format!("expected the axes below {} in some order", self.axes());
            return Err(Error::Usage(format!("{expected}, found {order:?}")));
        }
        self.reordered(order.iter().copied().map(Some))
    }

    /// Parts of the axes: of every axis a start, a step and a count, or a single index, which removes the axis; `None`
    /// stands for a new axis of size 1.
    ///
    /// # Errors
    /// Indices beyond the axes.
    pub fn slice(&self, parts: &[Option<AxisPart>]) -> Result<Self> {
        if let Some(row) = self.row_of_two(parts)? {
            return Ok(row);
        }
        let (mut axes, mut shape, mut fixed) = (Vec::new(), Vec::new(), vec![0; self.axes()]);
        let mut own = 0;
        for part in parts {
            let Some(part) = part else {
                axes.push(ViewAxis { axis: None, start: 0, step: 0 });
                shape.push(1);
                continue;
            };
            let size = *self.shape().get(own).ok_or_else(|| {
                let count = parts.iter().flatten().count();
                Error::Usage(format!("expected indices for {} axes, found {count}", self.axes()))
            })?;
            let is_within = |index: i128| (0..i128::from(size)).contains(&index);
            let beyond =
                |index: i128| Error::Usage(format!("expected an index below {size} of axis {own}, found {index}"));
            match *part {
                AxisPart::Index(index) if !is_within(index.into()) => return Err(beyond(index.into())),
                AxisPart::Index(index) => fixed[own] = index,
                AxisPart::Range { start, step, count } => {
                    let (first, step_count) = (i128::from(start), i128::from(count.saturating_sub(1)));
                    let last = first + i128::from(step) * step_count;
                    if count > 0 && !(is_within(first) && is_within(last)) {
                        return Err(beyond(if is_within(first) { last } else { first }));
                    }
                    // A step that is never made may be of any size.
                    let step = if count > 1 { step } else { 1 };
                    axes.push(ViewAxis { axis: Some(own), start, step });
                    shape.push(count);
                }
            }
            own += 1;
        }
        if own != self.axes() {
            return Err(Error::Usage(format!("expected indices for {} axes, found {own}", self.axes())));
        }
        if shape.contains(&0) {
            // Nothing is read for no elements.
            return Array::full(shape, Scalar::Int64(0).cast(self.element()));
        }
        self.view(axes, shape, fixed)
    }

    /// A part of one row, as a part of two rows: arrays of one row are not streamed, those of two are. `None` if the
    /// part has more rows, or the array lies in memory.
    fn row_of_two(&self, parts: &[Option<AxisPart>]) -> Result<Option<Self>> {
        let Some(long) = self.long().filter(|_| !matches!(self.op(), Op::Memory(_))) else { return Ok(None) };
        let place = (0..parts.len()).filter(|&place| parts[place].is_some()).nth(long.axis);
        let (place, row) = match place.map(|place| (place, parts[place])) {
            Some((place, Some(AxisPart::Index(row) | AxisPart::Range { start: row, count: 1, .. }))) => (place, row),
            _ => return Ok(None),
        };
        let rows = self.shape()[long.axis] as i64;
        if rows <= 2 || !(0..rows).contains(&row) {
            return Ok(None);
        }
        let start = row.min(rows - 2);
        let all = self.shape().iter().map(|&count| Some(AxisPart::Range { start: 0, step: 1, count }));
        let mut two: Vec<Option<AxisPart>> = all.collect();
        two[long.axis] = Some(AxisPart::Range { start, step: 1, count: 2 });
        let mut one = parts.to_vec();
        one[place] = Some(match parts[place] {
            Some(AxisPart::Range { step, count, .. }) => AxisPart::Range { start: row - start, step, count },
            _ => AxisPart::Index(row - start),
        });
        self.slice(&two)?.slice(&one).map(Some)
    }

    /// The elements repeated along axes of size 1 and along new first axes.
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn broadcast_to(&self, shape: &[u64]) -> Result<Self> {
        if broadcast(&[self.shape(), shape])? != shape {
            return Err(Error::Usage(format!(
                "expected a shape that {:?} broadcasts to, found {shape:?}",
                self.shape()
            )));
        }
        let new = shape.len() - self.axes();
        let axis = |axis: usize| {
            let own = axis.checked_sub(new).filter(|&own| self.shape()[own] == shape[axis]);
            ViewAxis { axis: own, start: 0, step: i64::from(own.is_some()) }
        };
        let axes = (0..shape.len()).map(axis).collect();
        self.view(axes, shape.to_vec(), vec![0; self.axes()])
    }

    /// The result of an operation that removed some axes, with these axes of size 1 if `keep`.
    pub(crate) fn with_axes(self, axes: &[usize], keep: bool) -> Result<Self> {
        if !keep {
            return Ok(self);
        }
        let mut own = 0..self.axes();
        let all = 0..self.axes() + axes.len();
        self.reordered(all.map(|axis| if axes.contains(&axis) { None } else { own.next() }))
    }

    /// Removes an axis of size 1.
    ///
    /// # Errors
    /// An axis that is not there, or of another size.
    pub fn without_axis(&self, axis: usize) -> Result<Self> {
        self.check_axes(&[axis])?;
        if self.shape()[axis] != 1 {
            let size = self.shape()[axis];
            return Err(Error::Usage(format!("expected size 1 of axis {axis}, found {size}")));
        }
        self.reordered((0..self.axes()).filter(|&own| own != axis).map(Some))
    }

    /// Inserts a new axis of size 1.
    ///
    /// # Errors
    /// A place behind the last axis; too many axes.
    pub fn with_axis(&self, axis: usize) -> Result<Self> {
        if axis > self.axes() {
            let all = self.axes();
            return Err(Error::Usage(format!("expected a place among {all} axes, or behind them, found {axis}")));
        }
        self.clone().with_axes(&[axis], true)
    }
}
