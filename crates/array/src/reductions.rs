//! Sums, products of matrices and other operations in which several elements become one.

use crate::array::{Array, Long, Op, ViewAxis};
use crate::check::Check;
use crate::elementwise::{no_function, two_long_axes};
use crate::kernel::{Binary, Fold, Scalar, Unary};
use outcore_format::ElementType;
use outcore_image::{Error, Result};

impl Array {
    /// The long axis after some axes are removed.
    fn long_without(&self, axes: &[usize]) -> Option<Long> {
        let long = self.long().filter(|long| !axes.contains(&long.axis))?;
        let before = axes.iter().filter(|&&axis| axis < long.axis).count();
        Some(Long { axis: long.axis - before, ..long })
    }

    fn shape_without(&self, axes: &[usize]) -> Vec<u64> {
        let kept = (0..self.axes()).filter(|axis| !axes.contains(axis));
        kept.map(|axis| self.shape()[axis]).collect()
    }

    /// Some axes, each once, in order; all of them where none are named.
    ///
    /// # Errors
    /// An axis that is not there, or twice.
    pub fn axes_of(&self, axes: Option<&[i64]>) -> Result<Vec<usize>> {
        let all = self.axes() as i64;
        let Some(axes) = axes else { return Ok((0..self.axes()).collect()) };
        let own = |&axis: &i64| match axis {
            0.. if axis < all => Ok(axis as usize),
            ..0 if axis >= -all => Ok((axis + all) as usize),
            _ => Err(Error::Usage(format!("expected an axis of an array of {all} axes, found {axis}"))),
        };
        let mut found = axes.iter().map(own).collect::<Result<Vec<_>>>()?;
        found.sort_unstable();
        if found.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::Usage(format!("expected every axis once, found {axes:?}")));
        }
        Ok(found)
    }

    /// The result of an operation that some axes are gone from, with these axes again, of size 1.
    fn with_axes(self, axes: &[usize], keep: bool) -> Result<Self> {
        if !keep {
            return Ok(self);
        }
        let (mut views, mut shape, mut own) = (Vec::new(), Vec::new(), 0);
        for axis in 0..self.axes() + axes.len() {
            if axes.contains(&axis) {
                views.push(ViewAxis { axis: None, start: 0, step: 0 });
                shape.push(1);
            } else {
                views.push(ViewAxis { axis: Some(own), start: 0, step: 1 });
                shape.push(self.shape()[own]);
                own += 1;
            }
        }
        let fixed = vec![0; self.axes()];
        self.view(views, shape, fixed)
    }

    /// The elements in the type that a fold adds them up in.
    fn to_fold(&self, fold: Fold) -> Result<Self> {
        match (fold, self.element()) {
            (Fold::Sum | Fold::Product, kind) if kind.is_signed() || kind == ElementType::Bool => {
                self.cast(ElementType::Int64)
            }
            (Fold::Sum | Fold::Product, kind) if kind.is_unsigned() => self.cast(ElementType::UInt64),
            (Fold::Any | Fold::All, kind) if kind != ElementType::Bool => self.cast(ElementType::Bool),
            (Fold::Min | Fold::Max, ElementType::Bool) => Err(no_function(fold.name(), ElementType::Bool)),
            _ => Ok(self.clone()),
        }
    }

    /// Elements along some axes, folded into one: sums of whole numbers are of 64 bits, all others keep their type.
    ///
    /// # Errors
    /// An axis that is not there; a fold that elements of this type do not have; the least of nothing.
    pub fn fold(&self, fold: Fold, axes: &[usize], keep_axes: bool) -> Result<Self> {
        let input = self.to_fold(fold)?;
        let folded: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        if folded == 0 && matches!(fold, Fold::Min | Fold::Max) {
            return Err(Error::Usage(format!("expected elements for {}, found none", fold.name())));
        }
        let (shape, long, element) = (input.shape_without(axes), input.long_without(axes), input.element());
        let result = match axes.is_empty() {
            true => input,
            false => Array::of(Op::Fold { fold, input, axes: axes.to_vec() }, shape, element, long)?,
        };
        result.with_axes(axes, keep_axes)
    }

    /// The mean along some axes, of real numbers; whole ones become float64.
    ///
    /// # Errors
    /// An axis that is not there.
    pub fn mean(&self, axes: &[usize], keep_axes: bool) -> Result<Self> {
        let real = self.to_real()?;
        let count: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        let count = Array::scalar(Scalar::Float64(count as f64).cast(real.element()));
        real.fold(Fold::Sum, axes, keep_axes)?.binary(Binary::Divide, &count)
    }

    /// The array, if it is of real numbers, or as float64.
    pub(crate) fn to_real(&self) -> Result<Self> {
        if self.element().is_real() { Ok(self.clone()) } else { self.cast(ElementType::Float64) }
    }

    /// The variance along some axes: the sum of squared distances from the mean, by the count less `correction`. One
    /// pass; computed in float64, in parts that are merged (Chan, Golub, LeVeque, *Updating formulae and a pairwise
    /// algorithm for computing sample variances*, 1979), so that a mean far from 0 does no harm.
    ///
    /// # Errors
    /// An axis that is not there.
    pub fn variance(&self, axes: &[usize], correction: f64, keep_axes: bool) -> Result<Self> {
        let real = self.to_real()?;
        let (shape, long) = (real.shape_without(axes), real.long_without(axes));
        let count: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        let divisor = Array::scalar(Scalar::Float64((count as f64 - correction).max(0.0)));
        let kind = real.element();
        let op = Op::SquaredDeviations { input: real, axes: axes.to_vec() };
        let sum = Array::of(op, shape, ElementType::Float64, long)?;
        sum.binary(Binary::Divide, &divisor)?.cast(kind)?.with_axes(axes, keep_axes)
    }

    /// The square root of the variance.
    ///
    /// # Errors
    /// An axis that is not there.
    pub fn deviation(&self, axes: &[usize], correction: f64, keep_axes: bool) -> Result<Self> {
        self.variance(axes, correction, keep_axes)?.unary(Unary::Sqrt)
    }

    /// Index of the largest (or smallest) element along an axis; the first of equal ones, and of NaN.
    ///
    /// # Errors
    /// An axis that is not there, or has no element; elements of bool.
    pub fn arg(&self, is_max: bool, axis: usize, keep_axis: bool) -> Result<Self> {
        let name = if is_max { "argmax" } else { "argmin" };
        if self.element() == ElementType::Bool {
            return Err(no_function(name, ElementType::Bool));
        }
        if self.shape()[axis] == 0 {
            return Err(Error::Usage(format!("expected elements for {name}, found none")));
        }
        let (shape, long) = (self.shape_without(&[axis]), self.long_without(&[axis]));
        let op = Op::Arg { is_max, input: self.clone(), axis };
        Array::of(op, shape, ElementType::Int64, long)?.with_axes(&[axis], keep_axis)
    }

    /// Sums or products of an element and all before it along an axis.
    ///
    /// # Errors
    /// The long axis of an array in a file.
    pub fn cumulative(&self, fold: Fold, axis: usize) -> Result<Self> {
        let input = match self.element() {
            kind if kind.is_signed() || kind == ElementType::Bool => self.cast(ElementType::Int64)?,
            kind if kind.is_unsigned() => self.cast(ElementType::UInt64)?,
            _ => self.clone(),
        };
        let long = match input.long() {
            Some(long) if long.axis == axis && long.is_fixed => {
                let expected = "expected another axis than the long one, along which the file is read";
                return Err(Error::Usage(format!("{expected}, for cumulative results")));
            }
            long => long.filter(|long| long.axis != axis),
        };
        let (shape, element) = (input.shape().to_vec(), input.element());
        Array::of(Op::Cumulative { fold, input, axis }, shape, element, long)
    }

    /// The product of two matrices, of two stacks of them, or of vectors, as NumPy's `matmul` has it. Real matrices are
    /// multiplied by a library of the kind of BLAS.
    ///
    /// # Errors
    /// Shapes that do not fit; arrays in files that are streamed along axes that do not meet.
    pub fn matmul(&self, other: &Array) -> Result<Self> {
        if self.axes() == 0 || other.axes() == 0 {
            return Err(Error::Usage("expected arrays with axes to multiply".to_owned()));
        }
        let both = self.promoted(other);
        if both == ElementType::Bool {
            return Err(no_function("matmul", both));
        }
        let (mut left, mut right) = (self.cast(both)?, other.cast(both)?);
        let (is_row, is_column) = (left.axes() == 1, right.axes() == 1);
        if is_row {
            left = left.with_axes(&[0], true)?;
        }
        if is_column {
            right = right.with_axes(&[1], true)?;
        }
        let (inner, rows) = (left.shape()[left.axes() - 1], right.shape()[right.axes() - 2]);
        if inner != rows {
            let (left, right) = (self.shape(), other.shape());
            return Err(Error::Usage(format!(
                "expected matrices that can be multiplied, found {left:?} and {right:?}"
            )));
        }
        let product = match (left.axes(), right.axes()) {
            (2, 2) if both.is_real() => left.matrix_product(&right)?,
            _ => left.stack_product(&right)?,
        };
        let last = product.axes();
        match (is_row, is_column) {
            (false, false) => Ok(product),
            (true, true) => product.without_axis(last - 2)?.without_axis(last - 2),
            (true, false) => product.without_axis(last - 2),
            (false, true) => product.without_axis(last - 1),
        }
    }

    /// Removes an axis of size 1.
    ///
    /// # Errors
    /// An axis of another size.
    pub fn without_axis(&self, axis: usize) -> Result<Self> {
        if self.shape()[axis] != 1 {
            let size = self.shape()[axis];
            return Err(Error::Usage(format!("expected size 1 of axis {axis}, found {size}")));
        }
        let own = (0..self.axes()).filter(|&own| own != axis);
        let axes = own.map(|own| ViewAxis { axis: Some(own), start: 0, step: 1 }).collect();
        self.view(axes, self.shape_without(&[axis]), vec![0; self.axes()])
    }

    /// Inserts a new axis of size 1.
    ///
    /// # Errors
    /// Too many axes.
    pub fn with_axis(&self, axis: usize) -> Result<Self> {
        self.clone().with_axes(&[axis], true)
    }

    /// The product of two real matrices.
    fn matrix_product(&self, other: &Array) -> Result<Self> {
        let shape = vec![self.shape()[0], other.shape()[1]];
        let is_inner = |array: &Array, inner: usize| array.long().filter(|long| long.axis == inner);
        let is_outer = |array: &Array, inner: usize| array.long().filter(|long| long.axis != inner);
        let long = match (is_outer(self, 1), is_outer(other, 0), is_inner(self, 1), is_inner(other, 0)) {
            // The sum runs over the long axis of one of them, and the other one is in memory or streamed as well.
            (left, right, inner_left, inner_right) if inner_left.or(inner_right).is_some() => {
                let is_fixed = |long: Option<Long>| long.is_some_and(|long| long.is_fixed);
                match (is_fixed(left) || is_fixed(right), is_fixed(inner_left) || is_fixed(inner_right)) {
                    (true, true) => return Err(two_long_axes()),
                    (true, false) => left.or(right),
                    // Both in memory: what is longer is streamed, so that a tall matrix times a small one stays lazy.
                    (false, false) => [(left, self.shape()[0]), (right, other.shape()[1])]
                        .into_iter()
                        .find_map(|(long, size)| long.filter(|_| size >= self.shape()[1])),
                    (false, true) => None,
                }
            }
            (Some(left), Some(right), ..) if left.is_fixed && right.is_fixed => return Err(two_long_axes()),
            (Some(left), Some(right), ..) => Some(if right.is_fixed { right } else { left }),
            (left, right, ..) => left.or(right),
        };
        Array::of(Op::MatMul(self.clone(), other.clone()), shape, self.element(), long)
    }

    /// The products of stacks of matrices, or of matrices of whole numbers: sums of products of elements.
    fn stack_product(&self, other: &Array) -> Result<Self> {
        let left = self.with_axis(self.axes())?;
        let right = other.with_axis(other.axes() - 2)?;
        let products = left.binary(Binary::Multiply, &right)?;
        let inner = products.axes() - 2;
        let sum = products.fold(Fold::Sum, &[inner], false)?;
        sum.cast(self.element())
    }

    /// The generalised product of a matrix of `n x p` with one of `p x q`: elements of rows and columns go into pairs
    /// by `pair`, and these are folded. One of the two is in memory.
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn inner(&self, other: &Array, pair: Binary, fold: Fold) -> Result<Self> {
        if self.axes() != 2 || other.axes() != 2 || self.shape()[1] != other.shape()[0] {
            let (left, right) = (self.shape(), other.shape());
            return Err(Error::Usage(format!(
                "expected matrices that can be multiplied, found {left:?} and {right:?}"
            )));
        }
        self.with_axis(2)?.binary(pair, &other.with_axis(0)?)?.fold(fold, &[1], false)
    }

    /// Rows folded by their labels: row `k` of the result is made of the rows whose label is `k`, of `groups` groups.
    /// A label out of range is an error when it is computed, which names the first one.
    ///
    /// # Errors
    /// Labels that are no whole numbers, or not as many as rows; rows that lie across the long axis of a file; a fold
    /// that elements of this type do not have.
    pub fn group_fold(&self, fold: Fold, labels: &Array, groups: u64) -> Result<Self> {
        let labels = self.checked_labels(labels, groups)?;
        let input = self.to_fold(fold)?;
        let mut shape = vec![groups];
        shape.extend(&self.shape()[1..]);
        let element = input.element();
        Array::of(Op::GroupFold { fold, input, labels, groups }, shape, element, None)
    }

    /// Labels of the rows, which are checked when they are computed.
    ///
    /// # Errors
    /// Labels that are no whole numbers, or not as many as rows; rows that lie across the long axis of a file.
    pub(crate) fn checked_labels(&self, labels: &Array, groups: u64) -> Result<Self> {
        let Some(&rows) = self.shape().first() else {
            return Err(Error::Usage("expected an array with rows to group".to_owned()));
        };
        if labels.shape() != [rows] || !(labels.element().is_signed() || labels.element().is_unsigned()) {
            let (found, kind) = (labels.shape(), labels.element().name());
            let advice =
                if labels.element().is_real() { "; astype(\"int64\") makes whole numbers of them" } else { "" };
            return Err(Error::Usage(format!(
                "expected {rows} labels of whole numbers, found {found:?} of {kind}{advice}"
            )));
        }
        if self.long().is_some_and(|long| long.axis != 0 && long.is_fixed) {
            return Err(Error::Usage(
                "expected labels along the long axis, along which the file is read, or labels in memory, found lazy \
                 ones along another axis; compute() them first"
                    .to_owned(),
            ));
        }
        labels.checked(Check::Label { groups }, ElementType::Int64)
    }
}
