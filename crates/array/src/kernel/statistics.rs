//! Counts, means and deviations of a vector, and sums of products and distances over pairs of vectors.

use super::binary::{Apply, function};
use super::fold::fold_in_lanes;
use super::simd::{Loop, widest};
use super::values::{Argument, Element, Side, Values, ValuesMut};
use outcore_format::ElementType;
use std::marker::PhantomData;

/// The number, the mean and the sum of squared deviations from the mean of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Number of values.
    pub count: f64,
    /// Their mean; 0 if there are none.
    pub mean: f64,
    /// The sum of the squares of their deviations from the mean.
    pub m2: f64,
}

impl Moments {
    /// The moments of two sets of numbers together (Chan, Golub, LeVeque 1979).
    pub fn merge(self, other: Moments) -> Moments {
        if self.count == 0.0 {
            return other;
        }
        if other.count == 0.0 {
            return self;
        }
        let count = self.count + other.count;
        let delta = other.mean - self.mean;
        Moments {
            count,
            mean: self.mean + delta * (other.count / count),
            m2: self.m2 + other.m2 + delta * delta * (self.count * other.count / count),
        }
    }
}

struct Sweeps<'a, T> {
    x: &'a [T],
}

impl<T: Element + Into<f64>> Loop for Sweeps<'_, T> {
    type Output = Moments;

    #[inline(always)]
    fn run(self) -> Moments {
        let count = self.x.len() as f64;
        let sum = fold_in_lanes(self.x, 0.0, |x| x.into(), |a, b| a + b);
        let mean = sum / count;
        let square = |x: T| {
            let deviation: f64 = x.into() - mean;
            deviation * deviation
        };
        Moments { count, mean, m2: fold_in_lanes(self.x, 0.0, square, |a, b| a + b) }
    }
}

/// The moments of a vector of real numbers, computed in `f64` by two sweeps, each in the order that `fold.rs` fixes.
///
/// # Panics
/// If the elements are not real numbers.
pub fn moments(x: Values<'_>) -> Moments {
    match x {
        x if x.is_empty() => Moments::default(),
        Values::Float32(x) => widest(Sweeps { x }),
        Values::Float64(x) => widest(Sweeps { x }),
        other => panic!("moments of {}", other.element().name()),
    }
}

/// Elements that are counted in numbers of their own size, as many at a time as these can count.
const COUNTED: usize = 128;

struct Count<'a, T> {
    x: &'a [T],
}

impl<T: Element> Loop for Count<'_, T> {
    type Output = i64;
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    fn run(self) -> i64 {
        let chunks = self.x.chunks(COUNTED);
        match size_of::<T>() {
            1 => chunks.map(|x| i64::from(x.iter().fold(0u8, |n, x| n + u8::from(x.is_set())))).sum(),
            2 => chunks.map(|x| i64::from(x.iter().fold(0u16, |n, x| n + u16::from(x.is_set())))).sum(),
            4 => chunks.map(|x| i64::from(x.iter().fold(0u32, |n, x| n + u32::from(x.is_set())))).sum(),
            _ => self.x.iter().fold(0, |n, x| n + i64::from(x.is_set())),
        }
    }
}

/// The number of elements that differ from 0; NaN does.
pub fn count_nonzero(x: Values<'_>) -> i64 {
    match x.unsigned() {
        Values::Bool(x) | Values::UInt8(x) => widest(Count { x }),
        Values::UInt16(x) => widest(Count { x }),
        Values::UInt32(x) => widest(Count { x }),
        Values::UInt64(x) => widest(Count { x }),
        Values::Float32(x) => widest(Count { x }),
        Values::Float64(x) => widest(Count { x }),
        _ => unreachable!("whole numbers have no sign here"),
    }
}

struct AddTerms<'a, T, B, F> {
    a: &'a [T],
    b: B,
    to: &'a mut [T],
    function: PhantomData<F>,
}

impl<T, F> Loop for AddTerms<'_, T, &[T], F>
where
    T: Element + std::ops::AddAssign,
    F: Apply<T, Out = T>,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((to, &a), &b) in self.to.iter_mut().zip(self.a).zip(self.b) {
            *to += F::apply(a, b);
        }
    }
}

/// One factor for the whole vector.
struct Same<T>(T);

impl<T, F> Loop for AddTerms<'_, T, Same<T>, F>
where
    T: Element + std::ops::AddAssign,
    F: Apply<T, Out = T>,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Same(b) = self.b;
        for (to, &a) in self.to.iter_mut().zip(self.a) {
            *to += F::apply(a, b);
        }
    }
}

/// Adds terms, which are the same if their arguments are swapped.
fn add_terms<F, T>(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>)
where
    T: Element + std::ops::AddAssign,
    F: Apply<T, Out = T>,
{
    let (a, b, to) = (Side::<T>::of(a), Side::<T>::of(b), T::slice_mut(to));
    a.check(to.len());
    b.check(to.len());
    let function = PhantomData::<F>;
    match (a, b) {
        (Side::Vector(a), Side::Vector(b)) => widest(AddTerms { a, b, to, function }),
        (Side::Vector(a), Side::Scalar(b)) | (Side::Scalar(b), Side::Vector(a)) => {
            widest(AddTerms { a, b: Same(b), to, function });
        }
        (Side::Scalar(a), Side::Scalar(b)) => to.iter_mut().for_each(|to| *to += F::apply(a, b)),
    }
}

fn add_real_terms<F>(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>)
where
    F: Apply<f32, Out = f32> + Apply<f64, Out = f64>,
{
    let element = to.element();
    assert!(a.element() == element && b.element() == element, "operands have the type of the sums");
    match element {
        ElementType::Float32 => add_terms::<F, f32>(a, b, to),
        ElementType::Float64 => add_terms::<F, f64>(a, b, to),
        other => panic!("sums of {} where real numbers are due", other.name()),
    }
}

/// Adds products of real numbers: `to[i] += a[i] * b[i]`, rounded twice.
///
/// # Panics
/// If the types are not the same, or not of real numbers, or the lengths differ.
pub fn accumulate_product(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    add_real_terms::<function::Multiply>(a, b, to);
}

/// Adds squares of differences of real numbers: `to[i] += (a[i] - b[i])^2`.
///
/// # Panics
/// As [`accumulate_product`].
pub fn accumulate_squared_difference(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    add_real_terms::<function::SquaredDifference>(a, b, to);
}

/// Adds sizes of differences of real numbers: `to[i] += |a[i] - b[i]|`.
///
/// # Panics
/// As [`accumulate_product`].
pub fn accumulate_absolute_difference(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    add_real_terms::<function::AbsoluteDifference>(a, b, to);
}

/// Counts real numbers that differ: `to[i] += 1` where `a[i] != b[i]`.
///
/// # Panics
/// As [`accumulate_product`].
pub fn accumulate_not_equal(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    add_real_terms::<function::IsDifferent>(a, b, to);
}
