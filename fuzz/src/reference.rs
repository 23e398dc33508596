//! Arrays in memory as NumPy has them, computed element by element and in the plainest way: what expressions over
//! [`outcore_array::Array`] are compared with.
//!
//! Elements are whole numbers or float64. float32 is rounded after every step: float64 has more than twice its digits,
//! so that sums, products, quotients and roots are rounded as if they had been computed in float32.

use outcore_array::ElementType;
use outcore_array::kernel::{Binary, Fold, Unary};

/// An element: of bool, 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Whole(i128),
    Real(f64),
}

/// An array, row by row.
#[derive(Clone, Debug)]
pub struct Reference {
    pub element: ElementType,
    pub shape: Vec<usize>,
    pub numbers: Vec<Number>,
    /// Tolerance of each element, where sums are rounded in an order of their own.
    pub tolerance: f64,
}

/// The type of both.
pub fn promote(one: ElementType, other: ElementType) -> ElementType {
    use ElementType::*;
    let (wide, small) = (one.bytes().max(other.bytes()), one.bytes().min(other.bytes()));
    match (one, other) {
        (one, other) if one == other => one,
        (Bool, other) | (other, Bool) => other,
        (one, other) if one.is_real() && other.is_real() => Float64,
        (real, whole) | (whole, real) if real.is_real() => {
            if real == Float32 && whole.bytes() <= 2 {
                Float32
            } else {
                Float64
            }
        }
        (one, other) if one.is_signed() == other.is_signed() => {
            if wide == one.bytes() {
                one
            } else {
                other
            }
        }
        (signed, unsigned) | (unsigned, signed) if signed.is_signed() => {
            if signed.bytes() > unsigned.bytes() {
                return signed;
            }
            debug_assert!(small <= wide);
            match unsigned.bytes() {
                1 => Int16,
                2 => Int32,
                4 => Int64,
                _ => Float64,
            }
        }
        _ => unreachable!("two types of whole numbers"),
    }
}

/// A whole number in so many bits.
fn wrap(element: ElementType, value: i128) -> Number {
    let bits = 8 * element.bytes() as u32;
    let low = value & ((1i128 << bits) - 1);
    let is_negative = element.is_signed() && low >> (bits - 1) != 0;
    Number::Whole(if is_negative { low - (1i128 << bits) } else { low })
}

/// The least and the greatest whole number of a type.
fn limits(element: ElementType) -> (i128, i128) {
    let bits = 8 * element.bytes() as u32;
    if element.is_signed() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) }
}

fn rounded(element: ElementType, value: f64) -> Number {
    Number::Real(if element == ElementType::Float32 { f64::from(value as f32) } else { value })
}

/// A number as another type.
pub fn cast(number: Number, to: ElementType) -> Number {
    match (number, to) {
        (Number::Whole(value), ElementType::Bool) => Number::Whole(i128::from(value != 0)),
        (Number::Real(value), ElementType::Bool) => Number::Whole(i128::from(value != 0.0)),
        (Number::Whole(value), ElementType::Float32) => Number::Real(f64::from(value as f32)),
        (Number::Whole(value), ElementType::Float64) => Number::Real(value as f64),
        (Number::Real(value), to) if to.is_real() => rounded(to, value),
        (Number::Whole(value), to) => wrap(to, value),
        (Number::Real(value), to) => {
            let (least, most) = limits(to);
            Number::Whole((value as i128).clamp(least, most))
        }
    }
}

fn truth(value: bool) -> Option<Number> {
    Some(Number::Whole(i128::from(value)))
}

/// A function of one number, as far as there is one here.
fn unary(function: Unary, of: ElementType, x: Number) -> Option<Number> {
    match x {
        Number::Whole(x) => match function {
            Unary::Abs => Some(wrap(of, x.abs())),
            Unary::Negative => Some(wrap(of, -x)),
            Unary::Square => Some(wrap(of, x.wrapping_mul(x))),
            Unary::Positive | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round => Some(Number::Whole(x)),
            Unary::Sign => Some(Number::Whole(x.signum())),
            Unary::Isnan | Unary::Isinf => truth(false),
            Unary::Isfinite => truth(true),
            Unary::LogicalNot => truth(x == 0),
            Unary::BitwiseInvert if of == ElementType::Bool => truth(x == 0),
            Unary::BitwiseInvert => Some(wrap(of, !x)),
            _ => None,
        },
        Number::Real(x) => {
            let value = match function {
                Unary::Abs => x.abs(),
                Unary::Negative => -x,
                Unary::Positive => x,
                Unary::Square => x * x,
                Unary::Sqrt => x.sqrt(),
                Unary::Floor => x.floor(),
                Unary::Ceil => x.ceil(),
                Unary::Trunc => x.trunc(),
                Unary::Round => x.round_ties_even(),
                Unary::Reciprocal => 1.0 / x,
                Unary::Sign if x > 0.0 => 1.0,
                Unary::Sign if x < 0.0 => -1.0,
                Unary::Sign => x + 0.0,
                Unary::Isnan => return truth(x.is_nan()),
                Unary::Isinf => return truth(x.is_infinite()),
                Unary::Isfinite => return truth(x.is_finite()),
                Unary::Signbit => return truth(x.is_sign_negative() && !x.is_nan()),
                _ => return None,
            };
            Some(rounded(of, value))
        }
    }
}

/// A function of two numbers of one type, as far as there is one here.
fn binary(function: Binary, of: ElementType, a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Number::Whole(a), Number::Whole(b)) => {
            let value = match function {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a.wrapping_mul(b),
                Binary::FloorDivide if b == 0 => 0,
                Binary::FloorDivide => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
                Binary::Remainder if b == 0 => 0,
                Binary::Remainder => (a % b + b) % b,
                Binary::Maximum => a.max(b),
                Binary::Minimum => a.min(b),
                Binary::BitwiseAnd | Binary::LogicalAnd => a & b,
                Binary::BitwiseOr | Binary::LogicalOr => a | b,
                Binary::BitwiseXor | Binary::LogicalXor => a ^ b,
                _ => return compare(function, a, b),
            };
            Some(wrap(of, value))
        }
        (Number::Real(a), Number::Real(b)) => {
            let value = match function {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a * b,
                Binary::Divide => a / b,
                Binary::Maximum | Binary::Minimum if a.is_nan() || b.is_nan() => f64::NAN,
                Binary::Maximum => a.max(b),
                Binary::Minimum => a.min(b),
                _ => return compare(function, a, b),
            };
            Some(rounded(of, value))
        }
        _ => unreachable!("numbers of one type"),
    }
}

fn compare<T: PartialOrd>(function: Binary, a: T, b: T) -> Option<Number> {
    truth(match function {
        Binary::Equal => a == b,
        Binary::NotEqual => a != b,
        Binary::Less => a < b,
        Binary::LessEqual => a <= b,
        Binary::Greater => a > b,
        Binary::GreaterEqual => a >= b,
        _ => return None,
    })
}

/// The sum of terms, and how far another order may be off; nothing where another order may overflow.
fn sum(element: ElementType, terms: &[Number]) -> Option<(Number, f64)> {
    if !element.is_real() {
        let whole = |number: &Number| if let Number::Whole(value) = number { *value } else { 0 };
        return Some((wrap(element, terms.iter().map(whole).sum()), 0.0));
    }
    let reals: Vec<f64> = terms.iter().map(|term| if let Number::Real(value) = term { *value } else { 0.0 }).collect();
    let size: f64 = reals.iter().filter(|term| term.is_finite()).map(|term| term.abs()).sum();
    let (digits, most) = if element == ElementType::Float32 { (24, 1e30) } else { (53, 1e300) };
    if size > most {
        return None;
    }
    // Any order gives the same where all partial sums are multiples of one small number, and not too great.
    let scale = f64::from(1 << 12);
    let is_exact = size * scale < 2f64.powi(digits) && reals.iter().all(|term| (term * scale).fract() == 0.0);
    let has_others = reals.iter().any(|term| !term.is_finite());
    let tolerance = if is_exact || has_others { 0.0 } else { size * terms.len() as f64 * 2f64.powi(1 - digits) };
    Some((rounded(element, reals.iter().sum()), if size == 0.0 { 0.0 } else { tolerance }))
}

impl Reference {
    fn of(element: ElementType, shape: Vec<usize>, numbers: Vec<Number>) -> Self {
        assert_eq!(shape.iter().product::<usize>(), numbers.len(), "{shape:?}");
        Reference { element, shape, numbers, tolerance: 0.0 }
    }

    /// An array whose elements are a function of their place, row by row.
    pub fn new(element: ElementType, shape: Vec<usize>, number: impl Fn(usize) -> Number) -> Self {
        let count = shape.iter().product();
        Reference::of(element, shape, (0..count).map(number).collect())
    }

    /// Converts the elements to another type.
    pub fn cast(&self, to: ElementType) -> Self {
        Reference::of(to, self.shape.clone(), self.numbers.iter().map(|&number| cast(number, to)).collect())
    }

    pub fn unary(&self, function: Unary) -> Option<Self> {
        let element = function.result(self.element)?;
        let numbers = self.numbers.iter().map(|&x| unary(function, self.element, x)).collect::<Option<_>>()?;
        Some(Reference::of(element, self.shape.clone(), numbers))
    }

    pub fn binary(&self, function: Binary, other: &Self) -> Option<Self> {
        let both = promote(self.element, other.element);
        let element = function.result(both)?;
        let shape = broadcast(&self.shape, &other.shape)?;
        let (a, b) = (self.cast(both).broadcast_to(&shape)?, other.cast(both).broadcast_to(&shape)?);
        let pairs = a.numbers.iter().zip(&b.numbers);
        let numbers = pairs.map(|(&a, &b)| binary(function, both, a, b)).collect::<Option<_>>()?;
        Some(Reference::of(element, shape, numbers))
    }

    /// Elements of `left` where this is true.
    pub fn select(&self, left: &Self, right: &Self) -> Option<Self> {
        let element = promote(left.element, right.element);
        let shape = broadcast(&broadcast(&self.shape, &left.shape)?, &right.shape)?;
        let condition = self.broadcast_to(&shape)?;
        let (left, right) = (left.cast(element).broadcast_to(&shape)?, right.cast(element).broadcast_to(&shape)?);
        let numbers = condition.numbers.iter().enumerate();
        let numbers = numbers.map(|(i, &is)| if is == Number::Whole(1) { left.numbers[i] } else { right.numbers[i] });
        Some(Reference::of(element, shape, numbers.collect()))
    }

    /// The elements under another shape, each from the place that a function of its index gives.
    pub fn view(&self, shape: Vec<usize>, place: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let count: usize = shape.iter().product();
        let index = |i| place(&index_of(i, &shape));
        let at = |index: Vec<usize>| index.iter().zip(&self.shape).fold(0, |at, (i, size)| at * size + i);
        let numbers = (0..count).map(|i| self.numbers[at(index(i))]).collect();
        Reference::of(self.element, shape, numbers)
    }

    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Self> {
        let new = shape.len().checked_sub(self.shape.len())?;
        let fits = self.shape.iter().zip(&shape[new..]).all(|(&own, &size)| own == size || own == 1);
        let place = |index: &[usize]| {
            index[new..].iter().zip(&self.shape).map(|(&i, &size)| if size == 1 { 0 } else { i }).collect()
        };
        fits.then(|| self.view(shape.to_vec(), place))
    }

    pub fn reshape(&self, shape: Vec<usize>) -> Self {
        Reference::of(self.element, shape, self.numbers.clone())
    }

    /// The elements along one axis, of every line along it; and the shape without it.
    fn lines(&self, axis: usize) -> (Vec<Vec<Number>>, Vec<usize>) {
        let mut shape = self.shape.clone();
        let size = shape.remove(axis);
        let others = Reference::new(self.element, shape.clone(), |_| Number::Whole(0));
        let line = |i: usize| {
            let index = index_of(i, &shape);
            let at = |k: usize| {
                let mut index = index.clone();
                index.insert(axis, k);
                index.iter().zip(&self.shape).fold(0, |at, (i, size)| at * size + i)
            };
            (0..size).map(|k| self.numbers[at(k)]).collect()
        };
        ((0..others.numbers.len()).map(line).collect(), shape)
    }

    /// The elements along an axis, folded; nothing where the result depends on the order, or there is none.
    pub fn fold(&self, fold: Fold, axis: usize) -> Option<Self> {
        let element = match (fold, self.element) {
            (Fold::Sum | Fold::Product, kind) if kind.is_unsigned() => ElementType::UInt64,
            (Fold::Sum | Fold::Product, kind) if !kind.is_real() => ElementType::Int64,
            (Fold::Product, _) => return None,
            (Fold::Any | Fold::All, _) => ElementType::Bool,
            (_, ElementType::Bool) => return None,
            (_, kind) => kind,
        };
        let (lines, shape) = self.cast(element).lines(axis);
        if self.shape[axis] == 0 && matches!(fold, Fold::Min | Fold::Max) {
            return None;
        }
        let mut tolerance = 0.0f64;
        let one = |line: &Vec<Number>| {
            let fold_with =
                |function, first| line.iter().try_fold(first, |all, &next| binary(function, element, all, next));
            match fold {
                Fold::Sum => {
                    let (number, off) = sum(element, line)?;
                    tolerance = tolerance.max(off);
                    Some(number)
                }
                Fold::Product => fold_with(Binary::Multiply, Number::Whole(1)),
                Fold::Min => fold_with(Binary::Minimum, line[0]),
                Fold::Max => fold_with(Binary::Maximum, line[0]),
                Fold::Any => truth(line.contains(&Number::Whole(1))),
                Fold::All => truth(!line.contains(&Number::Whole(0))),
                fold => panic!("{fold:?} has no reference"),
            }
        };
        let numbers = lines.iter().map(one).collect::<Option<_>>()?;
        Some(Reference { tolerance, ..Reference::of(element, shape, numbers) })
    }

    /// Index of the first greatest or least element, or of the first NaN.
    pub fn arg(&self, is_max: bool, axis: usize) -> Option<Self> {
        if self.element == ElementType::Bool || self.shape[axis] == 0 {
            return None;
        }
        let (lines, shape) = self.lines(axis);
        let is_nan = |number: &Number| matches!(number, Number::Real(value) if value.is_nan());
        let is_better = |new: &Number, old: &Number| match (new, old) {
            (Number::Real(new), Number::Real(old)) => {
                if is_max {
                    new > old
                } else {
                    new < old
                }
            }
            (Number::Whole(new), Number::Whole(old)) => {
                if is_max {
                    new > old
                } else {
                    new < old
                }
            }
            _ => unreachable!("numbers of one type"),
        };
        let place = |line: &Vec<Number>| {
            let first = line.iter().position(is_nan);
            first.unwrap_or_else(|| {
                (1..line.len()).fold(0, |best, i| if is_better(&line[i], &line[best]) { i } else { best })
            })
        };
        let numbers = lines.iter().map(|line| Number::Whole(place(line) as i128)).collect();
        Some(Reference::of(ElementType::Int64, shape, numbers))
    }

    /// The product of two matrices.
    pub fn matmul(&self, other: &Self) -> Option<Self> {
        let both = promote(self.element, other.element);
        let (&[rows, inner], &[others, columns]) = (&self.shape[..], &other.shape[..]) else { return None };
        if inner != others || both == ElementType::Bool {
            return None;
        }
        let (left, right) = (self.cast(both), other.cast(both));
        let (mut numbers, mut tolerance) = (Vec::new(), 0.0f64);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            // Products of float32 are exact in float64.
            let wide = if both.is_real() { ElementType::Float64 } else { both };
            let pair = |k: usize| (left.numbers[row * inner + k], right.numbers[k * columns + column]);
            let terms: Option<Vec<Number>> =
                (0..inner).map(pair).map(|(a, b)| binary(Binary::Multiply, wide, a, b)).collect();
            let (number, off) = sum(both, &terms?)?;
            tolerance = tolerance.max(off);
            numbers.push(number);
        }
        Some(Reference { tolerance, ..Reference::of(both, vec![rows, columns], numbers) })
    }

    /// Rows that indices pick, of which all are there.
    pub fn gather(&self, index: &Self) -> Option<Self> {
        let (&rows, others) = self.shape.split_first()?;
        let count: usize = others.iter().product();
        let mut numbers = Vec::new();
        for number in &index.numbers {
            let Number::Whole(row) = *number else { return None };
            let row = usize::try_from(row).ok().filter(|&row| row < rows)?;
            numbers.extend_from_slice(&self.numbers[row * count..][..count]);
        }
        Some(Reference::of(self.element, [&index.shape, others].concat(), numbers))
    }

    /// Two arrays behind each other.
    pub fn join(&self, other: &Self) -> Option<Self> {
        let ((&rows, own), (&others, theirs)) = (self.shape.split_first()?, other.shape.split_first()?);
        let element = promote(self.element, other.element);
        let numbers = [self.cast(element).numbers, other.cast(element).numbers].concat();
        (own == theirs).then(|| Reference::of(element, [&[rows + others], own].concat(), numbers))
    }
}

/// The shape of two arrays that are broadcast to each other.
pub fn broadcast(one: &[usize], other: &[usize]) -> Option<Vec<usize>> {
    let axes = one.len().max(other.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(axes).map_or(1, |own| shape[own]);
    (0..axes)
        .map(|axis| match (size(one, axis), size(other, axis)) {
            (1, size) | (size, 1) => Some(size),
            (size, other) => (size == other).then_some(size),
        })
        .collect()
}

/// The indices of the element at a place, row by row.
fn index_of(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        *i = place % size;
        place /= size;
    }
    index
}
