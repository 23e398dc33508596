//! Casts of vectors to another type, and a choice between two vectors.
#![allow(clippy::unnecessary_cast)] // why: macros cast any type to any other

use super::math;
use super::simd::{Loop, widest};
use super::values::{Argument, Element, Scalar, Side, Values, ValuesMut, each};
use bytemuck::Pod;

/// Whole numbers out of real ones with the results of `as`, by instructions that exist for vectors.
trait FromReal {
    fn from_real(x: f64) -> Self;
}

macro_rules! from_real {
    ($($type:ty)*) => {$(
        impl FromReal for $type {
            #[inline(always)]
            fn from_real(x: f64) -> Self {
                math::to_whole(x, <$type>::MIN as f64, <$type>::MAX as f64) as $type
            }
        }
    )*};
}
from_real!(i8 i16 i32 u8 u16 u32);

impl FromReal for i64 {
    #[inline(always)]
    fn from_real(x: f64) -> Self {
        math::to_i64(x)
    }
}

impl FromReal for u64 {
    #[inline(always)]
    fn from_real(x: f64) -> Self {
        math::to_u64(x)
    }
}

struct Convert<'a, From, To, F: Fn(From) -> To> {
    x: &'a [From],
    to: &'a mut [To],
    convert: F,
}

impl<From: Element, To: Element, F: Fn(From) -> To> Loop for Convert<'_, From, To, F> {
    type Output = ();
    const HAS_AVX512: bool = From::HAS_AVX512 || To::HAS_AVX512;

    #[inline(always)]
    fn run(self) {
        for (to, &x) in self.to.iter_mut().zip(self.x) {
            *to = (self.convert)(x);
        }
    }
}

fn convert<From: Element, To: Element>(x: &[From], to: &mut [To], convert: impl Fn(From) -> To) {
    assert_eq!(x.len(), to.len(), "vectors of one operation have one length");
    widest(Convert { x, to, convert });
}

/// Writes elements as ones of another type, as NumPy's `astype` does: whole numbers wrap; real numbers lose what is
/// behind the point, those that are too great or too small for the type become its greatest or least value, and NaN
/// becomes 0; a boolean is whether the element differs from 0.
///
/// # Panics
/// If the lengths differ.
pub fn cast(x: Values<'_>, to: ValuesMut<'_>) {
    if x.element() == to.element() {
        return copy(Argument::Vector(x), to);
    }
    match (x, to) {
        (x, ValuesMut::Bool(to)) => is_set(x, to),
        (Values::Float32(x), ValuesMut::Float64(to)) => convert(x, to, f64::from),
        (Values::Float64(x), ValuesMut::Float32(to)) => convert(x, to, |x| x as f32),
        (Values::Float32(x), to) => real_to_whole(x, to),
        (Values::Float64(x), to) => real_to_whole(x, to),
        (Values::Bool(x), to) => whole(Values::UInt8(x), to),
        (x, to) => whole(x, to),
    }
}

fn is_set(x: Values<'_>, to: &mut [u8]) {
    match x.unsigned() {
        Values::UInt8(x) => convert(x, to, |x| u8::from(x.is_set())),
        Values::UInt16(x) => convert(x, to, |x| u8::from(x.is_set())),
        Values::UInt32(x) => convert(x, to, |x| u8::from(x.is_set())),
        Values::UInt64(x) => convert(x, to, |x| u8::from(x.is_set())),
        Values::Float32(x) => convert(x, to, |x| u8::from(x.is_set())),
        Values::Float64(x) => convert(x, to, |x| u8::from(x.is_set())),
        _ => unreachable!("booleans are copied, and whole numbers have no sign here"),
    }
}

fn real_to_whole<T: Element + Into<f64>>(x: &[T], to: ValuesMut<'_>) {
    match to {
        ValuesMut::Int8(to) => convert(x, to, |x| i8::from_real(x.into())),
        ValuesMut::Int16(to) => convert(x, to, |x| i16::from_real(x.into())),
        ValuesMut::Int32(to) => convert(x, to, |x| i32::from_real(x.into())),
        ValuesMut::Int64(to) => convert(x, to, |x| i64::from_real(x.into())),
        ValuesMut::UInt8(to) => convert(x, to, |x| u8::from_real(x.into())),
        ValuesMut::UInt16(to) => convert(x, to, |x| u16::from_real(x.into())),
        ValuesMut::UInt32(to) => convert(x, to, |x| u32::from_real(x.into())),
        ValuesMut::UInt64(to) => convert(x, to, |x| u64::from_real(x.into())),
        _ => unreachable!("real numbers and booleans have functions of their own"),
    }
}

/// Casts whole numbers to numbers. Whether the result has a sign does not matter for its bits, nor whether the argument
/// has one if the result is not wider.
fn whole(x: Values<'_>, to: ValuesMut<'_>) {
    let is_wider = to.element().is_real() || to.element().bytes() > x.element().bytes();
    let (x, to) = (if is_wider { x } else { x.unsigned() }, to.unsigned());
    if x.element() == to.element() {
        return copy(Argument::Vector(x), to);
    }
    macro_rules! from {
        ($to:expr, $type:ty, $($source:ident)*) => {
            match x {
                $(Values::$source(x) => convert(x, $to, |x| x as $type),)*
                _ => unreachable!("an argument of this type is copied"),
            }
        };
    }
    match to {
        ValuesMut::UInt8(to) => from!(to, u8, UInt16 UInt32 UInt64),
        ValuesMut::UInt16(to) => from!(to, u16, Int8 UInt8 UInt32 UInt64),
        ValuesMut::UInt32(to) => from!(to, u32, Int8 UInt8 Int16 UInt16 UInt64),
        ValuesMut::UInt64(to) => from!(to, u64, Int8 UInt8 Int16 UInt16 Int32 UInt32),
        ValuesMut::Float32(to) => from!(to, f32, Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64),
        ValuesMut::Float64(to) => from!(to, f64, Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64),
        _ => unreachable!("whole numbers have no sign here"),
    }
}

struct Choose<'a, A, B, T> {
    condition: &'a [u8],
    a: A,
    b: B,
    to: &'a mut [T],
}

impl<T: Pod, A: Fn(usize) -> T, B: Fn(usize) -> T> Loop for Choose<'_, A, B, T> {
    type Output = ();
    const HAS_AVX512: bool = size_of::<T>() == 8;

    #[inline(always)]
    fn run(self) {
        for (i, (to, &condition)) in self.to.iter_mut().zip(self.condition).enumerate() {
            let (a, b) = ((self.a)(i), (self.b)(i));
            *to = if condition != 0 { a } else { b };
        }
    }
}

/// Chooses between two operands: `to[i] = if condition[i] { a[i] } else { b[i] }`.
///
/// # Panics
/// If the condition is no boolean, `a`, `b` and `to` have different types, or the lengths differ.
pub fn select(condition: Argument<'_>, a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    let element = to.element();
    assert!(a.element() == element && b.element() == element, "operands of a choice have the type of the result");
    let condition = match condition {
        Argument::Vector(Values::Bool(condition)) => condition,
        Argument::Scalar(Scalar::Bool(condition)) => return copy(if condition != 0 { a } else { b }, to),
        other => panic!("a condition of {} where bool is due", other.element().name()),
    };
    // Only the bits matter, so types of one size share a loop.
    match element.bytes() {
        1 => choose::<u8>(condition, a, b, to),
        2 => choose::<u16>(condition, a, b, to),
        4 => choose::<u32>(condition, a, b, to),
        _ => choose::<u64>(condition, a, b, to),
    }
}

/// Writes an operand to a vector of its type.
fn copy(from: Argument<'_>, mut to: ValuesMut<'_>) {
    match from {
        Argument::Vector(from) => to.into_bytes().copy_from_slice(from.bytes()),
        Argument::Scalar(value) => to.fill(value),
    }
}

fn choose<T: Pod>(condition: &[u8], a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    let to = bytemuck::cast_slice_mut::<u8, T>(to.into_bytes());
    let (a, b) = (bits::<T>(a), bits::<T>(b));
    a.check(to.len());
    b.check(to.len());
    assert_eq!(condition.len(), to.len(), "vectors of one operation have one length");
    match (a, b) {
        (Side::Vector(a), Side::Vector(b)) => choose_of(condition, a, b, to),
        (Side::Vector(a), Side::Scalar(b)) => widest(Choose { condition, a: |i: usize| a[i], b: |_| b, to }),
        (Side::Scalar(a), Side::Vector(b)) => widest(Choose { condition, a: |_| a, b: |i: usize| b[i], to }),
        (Side::Scalar(a), Side::Scalar(b)) => widest(Choose { condition, a: |_| a, b: |_| b, to }),
    }
}

fn choose_of<T: Pod>(condition: &[u8], a: &[T], b: &[T], to: &mut [T]) {
    widest(Choose { condition, a: |i: usize| a[i], b: |i: usize| b[i], to });
}

/// The bits of an operand.
fn bits<T: Pod>(operand: Argument<'_>) -> Side<'_, T> {
    match operand {
        Argument::Vector(values) => Side::Vector(bytemuck::cast_slice(values.bytes())),
        Argument::Scalar(value) => Side::Scalar(each!(Scalar, value, x => bits_of(x))),
    }
}

fn bits_of<From: Element, To: Pod>(value: From) -> To {
    bytemuck::pod_read_unaligned(bytemuck::bytes_of(&value))
}
