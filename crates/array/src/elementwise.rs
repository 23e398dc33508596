//! Functions of elements: their types, shapes by broadcasting, and the axis along which they are streamed.

use crate::array::{Array, ElementFunction, Long, Op, ViewAxis};
use crate::check::{Check, negative_exponent};
use crate::kernel::{Binary, Scalar, Unary, promote_mixed};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use std::sync::Arc;

/// The shape of arrays that are broadcast to each other: of every axis, counted from the last one, the size that is not
/// 1.
pub(crate) fn broadcast(shapes: &[&[u64]]) -> Result<Vec<u64>> {
    let axes = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![1; axes];
    for shape in shapes {
        for (size, &other) in result.iter_mut().rev().zip(shape.iter().rev()) {
            match (*size, other) {
                (1, other) => *size = other,
                (_, 1) => {}
                (size, other) if size == other => {}
                _ => {
                    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
                    let found = shapes.join(" and ");
                    return Err(Error::Usage(format!("expected shapes that can be broadcast, found {found}")));
                }
            }
        }
    }
    Ok(result)
}

/// The axis along which a function of operands is streamed, which are broadcast to `axes` axes.
fn long_of(operands: &[&Array], axes: usize) -> Result<Option<Long>> {
    let mut found: Option<Long> = None;
    for operand in operands {
        let Some(long) = operand.long() else { continue };
        let long = Long { axis: long.axis + axes - operand.axes(), ..long };
        found = Some(match found {
            None => long,
            Some(other) if other.axis == long.axis => Long { is_fixed: other.is_fixed || long.is_fixed, ..long },
            Some(other) if !long.is_fixed => other,
            Some(other) if !other.is_fixed => long,
            Some(_) => return Err(two_long_axes()),
        });
    }
    Ok(found)
}

/// The axis of another shape of the same elements that is an axis of this one, element by element: it is as long, and
/// as many elements lie before it.
pub(crate) fn kept_axis(shape: &[u64], axis: usize, other: &[u64]) -> Option<usize> {
    let before = |sizes: &[u64]| sizes.iter().product::<u64>();
    let (size, first) = (shape[axis], before(&shape[..axis]));
    (0..other.len()).find(|&own| other[own] == size && before(&other[..own]) == first)
}

/// The error for operands of which each is streamed along an axis of its own.
pub(crate) fn two_long_axes() -> Error {
    Error::Usage(
        "expected operands whose long axes, along which they are read from files, are the same axis of the result; \
         compute one of them first, if it fits into memory"
            .to_owned(),
    )
}

impl Array {
    /// The elements converted to another type: values out of range as in NumPy's `astype`, except that real numbers are
    /// saturated to the range of integers, and NaN is 0.
    ///
    /// # Errors
    /// None at present.
    pub fn cast(&self, element: ElementType) -> Result<Self> {
        if element == self.element() {
            return Ok(self.clone());
        }
        Array::of(Op::Cast(self.clone()), self.shape().to_vec(), element, self.long())
    }

    /// A function of every element.
    ///
    /// # Errors
    /// A function that elements of this type do not have.
    pub fn unary(&self, function: Unary) -> Result<Self> {
        let Some(element) = function.result(self.element()) else {
            return Err(no_function(function.name(), self.element()));
        };
        Array::of(Op::Unary(function, self.clone()), self.shape().to_vec(), element, self.long())
    }

    /// A function of the elements of two arrays, which are broadcast to each other and become the type that both
    /// promote to.
    ///
    /// # Errors
    /// Shapes that do not fit, a function that elements of this type do not have, or two arrays in files whose long
    /// axes differ.
    pub fn binary(&self, function: Binary, other: &Array) -> Result<Self> {
        let both = self.promoted(other);
        // The square has the same elements, and more is known of it: sums of squares are computed at once.
        if let (Binary::Pow, Op::Full(exponent), []) = (function, other.op(), other.shape())
            && exponent.to_f64() == 2.0
            && both == self.element()
        {
            return self.unary(Unary::Square);
        }
        let Some(element) = function.result(both) else { return Err(no_function(function.name(), both)) };
        let shape = broadcast(&[self.shape(), other.shape()])?;
        let (left, mut right) = (self.cast(both)?, other.cast(both)?);
        if function == Binary::Pow && both.is_signed() && other.element().is_signed() {
            right = match other.op() {
                Op::Full(exponent) if exponent.to_f64() < 0.0 && shape.iter().all(|&size| size > 0) => {
                    return Err(negative_exponent(&exponent.to_string()));
                }
                Op::Full(_) => right,
                _ => right.checked(Check::Exponent, both)?,
            };
        }
        let long = long_of(&[&left, &right], shape.len())?;
        Array::of(Op::Binary(function, left, right), shape, element, long)
    }

    /// The type that elements of both arrays become: that of the array API, and NumPy's where that has none.
    pub fn promoted(&self, other: &Array) -> ElementType {
        promote_mixed(self.element(), other.element())
    }

    /// Elements of `left` where this array of bool is true, and of `right` elsewhere.
    ///
    /// # Errors
    /// A condition whose type is not bool, and the errors of [`Array::binary`].
    pub fn select(&self, left: &Array, right: &Array) -> Result<Self> {
        if self.element() != ElementType::Bool {
            return Err(no_function("where", self.element()));
        }
        let element = left.promoted(right);
        let shape = broadcast(&[self.shape(), left.shape(), right.shape()])?;
        let (left, right) = (left.cast(element)?, right.cast(element)?);
        let long = long_of(&[self, &left, &right], shape.len())?;
        Array::of(Op::Select(self.clone(), left, right), shape, element, long)
    }

    /// A user's function of the elements of arrays, which are broadcast to each other and keep their types.
    ///
    /// # Errors
    /// Shapes that do not fit, or two arrays in files whose long axes differ.
    pub fn user(function: Arc<dyn ElementFunction>, operands: &[Array], element: ElementType) -> Result<Self> {
        let shapes: Vec<&[u64]> = operands.iter().map(Array::shape).collect();
        let shape = broadcast(&shapes)?;
        let long = long_of(&operands.iter().collect::<Vec<_>>(), shape.len())?;
        Array::of(Op::User(function, operands.to_vec()), shape, element, long)
    }

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
            return Err(Error::Usage("expected an array with axes to take from".to_owned()));
        };
        if rows == 0 && index.count() > 0 {
            return Err(Error::Index("expected an index of an axis with elements, found one without any".to_owned()));
        }
        let mut shape = index.shape().to_vec();
        shape.extend(others);
        let index = index.cast(ElementType::Int64)?;
        let long = index.long();
        Array::of(Op::Gather { table: self.clone(), index }, shape, self.element(), long)
    }

    /// The elements under other axes, see [`ViewAxis`].
    pub(crate) fn view(&self, axes: Vec<ViewAxis>, shape: Vec<u64>, fixed: Vec<i64>) -> Result<Self> {
        let long = self.long().and_then(|long| {
            let axis = axes.iter().position(|axis| axis.axis == Some(long.axis))?;
            Some(Long { axis, ..long })
        });
        let input = self.clone();
        Array::of(Op::View { input, axes, fixed }, shape, self.element(), long)
    }

    /// The array with its axes in another order.
    ///
    /// # Errors
    /// An order that is not a permutation of all axes.
    pub fn permute(&self, order: &[usize]) -> Result<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted != (0..self.axes()).collect::<Vec<_>>() {
            let expected = format!("expected the axes below {} in some order", self.axes());
            return Err(Error::Usage(format!("{expected}, found {order:?}")));
        }
        let axes = order.iter().map(|&axis| ViewAxis { axis: Some(axis), start: 0, step: 1 }).collect();
        let shape = order.iter().map(|&axis| self.shape()[axis]).collect();
        self.view(axes, shape, vec![0; self.axes()])
    }

    /// Parts of the axes: of every axis a start, a step and a count, or a single index, which the result has no axis
    /// for; `None` stands for a new axis of size 1.
    ///
    /// # Errors
    /// Indices beyond the axes.
    pub fn slice(&self, parts: &[Option<Part>]) -> Result<Self> {
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
            let size = *self
                .shape()
                .get(own)
                .ok_or_else(|| Error::Usage(format!("expected indices for {} axes, found more", self.axes())))?;
            let is_within = |index: i64| index >= 0 && (index as u64) < size;
            let beyond =
                |index: i64| Error::Usage(format!("expected an index below {size} of axis {own}, found {index}"));
            match *part {
                Part::Index(index) if !is_within(index) => return Err(beyond(index)),
                Part::Index(index) => fixed[own] = index,
                Part::Range { start, step, count } => {
                    let last = start + step * (count.max(1) as i64 - 1);
                    if count > 0 && !(is_within(start) && is_within(last)) {
                        return Err(beyond(if is_within(start) { last } else { start }));
                    }
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

    /// A part of one row: what has one row is not streamed, so it is a part of two rows, which are. Nothing if the part
    /// has more rows, or the array lies in memory, where any part is at hand.
    fn row_of_two(&self, parts: &[Option<Part>]) -> Result<Option<Self>> {
        let Some(long) = self.long().filter(|_| !matches!(self.op(), Op::Memory(_))) else { return Ok(None) };
        let place = (0..parts.len()).filter(|&place| parts[place].is_some()).nth(long.axis);
        let (place, row) = match place.map(|place| (place, parts[place])) {
            Some((place, Some(Part::Index(row) | Part::Range { start: row, count: 1, .. }))) => (place, row),
            _ => return Ok(None),
        };
        let rows = self.shape()[long.axis] as i64;
        if rows <= 2 || !(0..rows).contains(&row) {
            return Ok(None);
        }
        let start = row.min(rows - 2);
        let all = self.shape().iter().map(|&count| Some(Part::Range { start: 0, step: 1, count }));
        let mut two: Vec<Option<Part>> = all.collect();
        two[long.axis] = Some(Part::Range { start, step: 1, count: 2 });
        let mut one = parts.to_vec();
        one[place] = Some(match parts[place] {
            Some(Part::Range { step, count, .. }) => Part::Range { start: row - start, step, count },
            _ => Part::Index(row - start),
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

    /// The elements, row by row, in another shape.
    ///
    /// # Errors
    /// A shape of another count; one in which the long axis of an array in a file is no axis of its own.
    pub fn reshape(&self, shape: &[u64]) -> Result<Self> {
        let count = shape.iter().try_fold(1u64, |count, &size| count.checked_mul(size));
        if count != Some(self.count()) {
            let found = format!("expected a shape of {} elements", self.count());
            return Err(Error::Usage(format!("{found}, found {shape:?}")));
        }
        if shape == self.shape() {
            return Ok(self.clone());
        }
        let long = match self.long() {
            None => None,
            Some(long) => {
                let axis = kept_axis(self.shape(), long.axis, shape);
                match axis {
                    Some(axis) => Some(Long { axis, ..long }),
                    None if long.is_fixed => {
                        let expected = "expected a shape that keeps the long axis, along which the file is read";
                        return Err(Error::Usage(format!("{expected}, found {shape:?}")));
                    }
                    None => None,
                }
            }
        };
        Array::of(Op::Reshape(self.clone()), shape.to_vec(), self.element(), long)
    }

    /// Arrays behind each other along an axis.
    ///
    /// # Errors
    /// No array; shapes that differ in other axes; long axes that differ.
    pub fn join(inputs: &[Array], axis: usize) -> Result<Self> {
        let Some(first) = inputs.first() else {
            return Err(Error::Usage("expected arrays to join, found none".to_owned()));
        };
        let mut element = first.element();
        for other in inputs {
            let others =
                |shape: &[u64]| shape.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &s)| s).collect();
            let (expected, found): (Vec<u64>, Vec<u64>) = (others(first.shape()), others(other.shape()));
            if expected != found || axis >= first.axes() || first.axes() != other.axes() {
                let (first, other) = (first.shape(), other.shape());
                return Err(Error::Usage(format!(
                    "expected shapes alike but for axis {axis}, found {first:?}, {other:?}"
                )));
            }
            element = promote_mixed(element, other.element());
        }
        let inputs = inputs.iter().map(|input| input.cast(element)).collect::<Result<Vec<_>>>()?;
        let mut shape = first.shape().to_vec();
        shape[axis] = inputs.iter().map(|input| input.shape()[axis]).sum();
        let long = long_of(&inputs.iter().collect::<Vec<_>>(), shape.len())?;
        Array::of(Op::Join { inputs, axis }, shape, element, long)
    }
}

/// A part of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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

/// The error for a function that a type does not have.
pub(crate) fn no_function(name: &str, element: ElementType) -> Error {
    Error::Usage(format!("expected elements of a type that {name} is for, found {}", element.name()))
}
