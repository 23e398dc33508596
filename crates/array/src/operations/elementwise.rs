//! Functions of elements: their types, shapes by broadcasting, and the axis along which they are streamed.

use super::check::{Check, negative_exponent};
use crate::array::{Array, Long, Op, Operation, no_function, two_long_axes};
use crate::block::{Register, assign, register};
use crate::kernel::{self, Binary, Unary, Values, ValuesMut, promote_mixed};
use crate::plan::{Known, Plan, Request, StepOperation, VectorPlace, View};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A function of the elements of some operands, which are broadcast to each other.
pub(crate) struct Elementwise(pub Function);

/// A function of elements.
#[derive(Clone)]
pub(crate) enum Function {
    /// The element in the type of the result.
    Cast,
    Unary(Unary),
    /// The element, which must be in a range.
    Check(Check),
    Binary(Binary),
    /// The element of the second operand where the first is true, of the third elsewhere.
    Select,
    User(Arc<dyn ElementFunction>),
}

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

impl Function {
    /// The name in plans.
    fn name(&self) -> &str {
        match self {
            Function::Cast => "astype",
            Function::Unary(function) => function.name(),
            Function::Check(check) => check.name(),
            Function::Binary(function) => function.name(),
            Function::Select => "where",
            Function::User(function) => function.name(),
        }
    }
}

impl Operation for Elementwise {
    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let views = array.operands().iter().map(|operand| plan.operand(operand, array.axes(), request, known));
        let views = views.collect::<Result<_>>()?;
        Ok(plan.push(array, request, views, Elementwise(self.0.clone())))
    }
}

impl StepOperation for Elementwise {
    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        match (&self.0, &step.views[..]) {
            (Function::Cast, [input]) => {
                let (slot, rest) = register(registers);
                assign(block.fetch(input, index, slot, rest)?, to);
            }
            (Function::Unary(function), [input]) => {
                let (slot, rest) = register(registers);
                kernel::unary(*function, block.fetch_vector(input, index, slot, rest)?, to);
            }
            (Function::Check(check), [input]) => {
                let (slot, rest) = register(registers);
                check.vector(block.fetch_vector(input, index, slot, rest)?, to, block.first_row)?;
            }
            (Function::Binary(function), [left, right]) => {
                let (slot, rest) = register(registers);
                let left = block.fetch(left, index, slot, rest)?;
                let (slot, rest) = register(rest);
                kernel::binary(*function, left, block.fetch(right, index, slot, rest)?, to);
            }
            (Function::Select, [condition, left, right]) => {
                let (slot, rest) = register(registers);
                let condition = block.fetch(condition, index, slot, rest)?;
                let (slot, rest) = register(rest);
                let left = block.fetch(left, index, slot, rest)?;
                let (slot, rest) = register(rest);
                kernel::select(condition, left, block.fetch(right, index, slot, rest)?, to);
            }
            (Function::User(function), operands) => {
                // Every operand has a register of its own.
                let (mut values, mut registers) = (Vec::with_capacity(operands.len()), registers);
                for view in operands {
                    let (slot, rest) = register(registers);
                    values.push(block.fetch_vector(view, index, slot, rest)?);
                    registers = rest;
                }
                caught(function.name(), || function.call(&values, to))?;
            }
            _ => unreachable!("a function of as many operands"),
        }
        Ok(())
    }
}

impl Array {
    /// A function of operands that are broadcast to `shape`.
    fn elementwise(function: Function, operands: Vec<Array>, shape: Vec<u64>, element: ElementType) -> Result<Self> {
        let long = long_of(&operands, shape.len())?;
        Array::computed((function.name().to_owned(), Elementwise(function)), operands, shape, element, long)
    }

    /// A function of every element of this array.
    fn mapped(&self, function: Function, element: ElementType) -> Result<Self> {
        Array::elementwise(function, vec![self.clone()], self.shape().to_vec(), element)
    }

    /// The elements converted to another type: values out of range as in NumPy's `astype`, except that real numbers are
    /// saturated to the range of integers, and NaN is 0.
    ///
    /// # Errors
    /// None at present.
    pub fn cast(&self, element: ElementType) -> Result<Self> {
        if element == self.element() {
            return Ok(self.clone());
        }
        self.mapped(Function::Cast, element)
    }

    /// The elements in the same type, which a pass computes row by row.
    pub(crate) fn recast(&self) -> Result<Self> {
        self.mapped(Function::Cast, self.element())
    }

    /// A function of every element.
    ///
    /// # Errors
    /// A function that elements of this type do not have.
    pub fn unary(&self, function: Unary) -> Result<Self> {
        let Some(element) = function.result(self.element()) else {
            return Err(no_function(function.name(), self.element()));
        };
        self.mapped(Function::Unary(function), element)
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
        Array::elementwise(Function::Binary(function), vec![left, right], shape, element)
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
        Array::elementwise(Function::Select, vec![self.clone(), left, right], shape, element)
    }

    /// A user's function of the elements of arrays, which are broadcast to each other and keep their types.
    ///
    /// # Errors
    /// Shapes that do not fit, or two arrays in files whose long axes differ.
    pub fn user(function: Arc<dyn ElementFunction>, operands: &[Array], element: ElementType) -> Result<Self> {
        let shapes: Vec<&[u64]> = operands.iter().map(Array::shape).collect();
        let shape = broadcast(&shapes)?;
        Array::elementwise(Function::User(function), operands.to_vec(), shape, element)
    }

    pub(crate) fn checked(&self, check: Check, element: ElementType) -> Result<Self> {
        self.mapped(Function::Check(check), element)
    }

    /// Indices of an axis of this size, from 0 on in int64, of ones that may be counted from its end. Those beyond it
    /// are an [`Error::Index`] when they are computed.
    ///
    /// # Errors
    /// Indices that are no whole numbers.
    pub fn indices(&self, size: u64, axis: usize) -> Result<Self> {
        if !self.element().is_signed() && !self.element().is_unsigned() {
            return Err(no_function("take", self.element()));
        }
        self.checked(Check::Index { size, axis }, ElementType::Int64)
    }
}

/// The shape of arrays that are broadcast to each other: along every axis, counted from the last one, the size of those
/// arrays whose size is not 1.
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
                    let shapes = shapes.join(" and ");
                    return Err(Error::Usage(format!("expected shapes that can be broadcast, found {shapes}")));
                }
            }
        }
    }
    Ok(result)
}

/// The long axis of a function of operands that are broadcast to `axes` axes.
pub(crate) fn long_of(operands: &[Array], axes: usize) -> Result<Option<Long>> {
    let mut common: Option<Long> = None;
    for operand in operands {
        let Some(long) = operand.long() else { continue };
        let long = Long { axis: long.axis + axes - operand.axes(), ..long };
        common = Some(match common {
            None => long,
            Some(other) if other.axis == long.axis => Long { is_fixed: other.is_fixed || long.is_fixed, ..long },
            Some(other) if !long.is_fixed => other,
            Some(other) if !other.is_fixed => long,
            Some(_) => return Err(two_long_axes(operands)),
        });
    }
    Ok(common)
}
