//! Functions of two arguments over vectors, or over a vector and a value.

use super::function::Binary;
use super::math;
use super::simd::{Loop, widest};
use super::values::{Argument, Element, Side, ValuesMut};
use outcore_format::ElementType;
use std::marker::PhantomData;

/// A function of two arguments of a type.
pub(super) trait Apply<T> {
    type Out: Element;
    /// Whether a loop over the function is vectorised, so that compiling it for several processors is worth it.
    const IN_VECTORS: bool = true;
    /// Whether the arguments may be swapped.
    const COMMUTES: bool = false;

    fn apply(a: T, b: T) -> Self::Out;
}

struct Vectors<'a, T, F: Apply<T>> {
    a: &'a [T],
    b: &'a [T],
    to: &'a mut [F::Out],
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T>> Loop for Vectors<'_, T, F> {
    type Output = ();
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    fn run(self) {
        for ((to, &a), &b) in self.to.iter_mut().zip(self.a).zip(self.b) {
            *to = F::apply(a, b);
        }
    }
}

struct WithScalar<'a, T, F: Apply<T>, const SCALAR_FIRST: bool> {
    vector: &'a [T],
    scalar: T,
    to: &'a mut [F::Out],
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T>, const SCALAR_FIRST: bool> Loop for WithScalar<'_, T, F, SCALAR_FIRST> {
    type Output = ();
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    fn run(self) {
        let scalar = self.scalar;
        for (to, &x) in self.to.iter_mut().zip(self.vector) {
            *to = if SCALAR_FIRST { F::apply(scalar, x) } else { F::apply(x, scalar) };
        }
    }
}

fn zip<F: Apply<T>, T: Element>(a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    let (a, b, to) = (Side::<T>::of(a), Side::<T>::of(b), F::Out::slice_mut(to));
    a.check(to.len());
    b.check(to.len());
    let function = PhantomData::<F>;
    if !F::IN_VECTORS {
        return call_each(F::apply, a, b, to);
    }
    match (a, b) {
        (Side::Vector(a), Side::Vector(b)) => widest(Vectors { a, b, to, function }),
        (Side::Scalar(scalar), Side::Vector(vector)) if !F::COMMUTES => {
            widest(WithScalar::<_, F, true> { vector, scalar, to, function });
        }
        (Side::Vector(vector), Side::Scalar(scalar)) | (Side::Scalar(scalar), Side::Vector(vector)) => {
            widest(WithScalar::<_, F, false> { vector, scalar, to, function });
        }
        (Side::Scalar(a), Side::Scalar(b)) => to.fill(F::apply(a, b)),
    }
}

/// Calls a function for each pair of elements: all functions that are not vectorised share this loop.
#[inline(never)]
fn call_each<T: Element, Out>(function: fn(T, T) -> Out, a: Side<'_, T>, b: Side<'_, T>, to: &mut [Out]) {
    to.iter_mut().enumerate().for_each(|(i, to)| *to = function(a.at(i), b.at(i)));
}

/// Declares functions as types, with the names of [`Binary`]; the last three are terms of sums (`statistics.rs`).
pub(super) mod function {
    macro_rules! functions {
        ($($name:ident)*) => { $(pub(crate) struct $name;)* };
    }
    functions! {
        Add Subtract Multiply Divide FloorDivide Remainder Pow Atan2 Hypot Copysign Nextafter Logaddexp Maximum Minimum
        Equal Less LessEqual BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift
        SquaredDifference AbsoluteDifference IsDifferent
    }
}

/// Defines a function for some types: `commutes` says that arguments may be swapped, `calls` that it is not vectorised.
macro_rules! define {
    (commutes $name:ident($a:ident, $b:ident: $($type:ty),*) $body:expr) => {
        $(define!(@ $name, $type, $type, true, true, $a, $b, $body);)*
    };
    (calls $name:ident($a:ident, $b:ident: $($type:ty),*) $body:expr) => {
        $(define!(@ $name, $type, $type, false, false, $a, $b, $body);)*
    };
    (compares $commutes:literal $name:ident($a:ident, $b:ident: $($type:ty),*) $body:expr) => {
        $(define!(@ $name, $type, u8, true, $commutes, $a, $b, u8::from($body));)*
    };
    ($name:ident($a:ident, $b:ident: $($type:ty),*) $body:expr) => {
        $(define!(@ $name, $type, $type, true, false, $a, $b, $body);)*
    };
    (@ $name:ident, $type:ty, $out:ty, $in_vectors:literal, $commutes:literal, $a:ident, $b:ident, $body:expr) => {
        impl Apply<$type> for function::$name {
            type Out = $out;
            const IN_VECTORS: bool = $in_vectors;
            const COMMUTES: bool = $commutes;

            #[inline(always)]
            fn apply($a: $type, $b: $type) -> $out {
                $body
            }
        }
    };
}

define!(commutes Add(a, b: u8, u16, u32, u64) a.wrapping_add(b));
define!(commutes Add(a, b: f32, f64) a + b);
define!(Subtract(a, b: u8, u16, u32, u64) a.wrapping_sub(b));
define!(Subtract(a, b: f32, f64) a - b);
define!(commutes Multiply(a, b: u8, u16, u32, u64) a.wrapping_mul(b));
define!(commutes Multiply(a, b: f32, f64) a * b);
define!(Divide(a, b: f32, f64) a / b);
define!(SquaredDifference(a, b: f32, f64) (a - b) * (a - b));
define!(AbsoluteDifference(a, b: f32, f64) (a - b).abs());
define!(IsDifferent(a, b: f32, f64) if a != b { 1.0 } else { 0.0 });
define!(commutes Maximum(a, b: i8, i16, i32, i64, u8, u16, u32, u64) a.max(b));
define!(commutes Minimum(a, b: i8, i16, i32, i64, u8, u16, u32, u64) a.min(b));
define!(Maximum(a, b: f32, f64) if a >= b || a.is_nan() { a } else { b });
define!(Minimum(a, b: f32, f64) if a <= b || a.is_nan() { a } else { b });
define!(compares true Equal(a, b: u8, u16, u32, u64, f32, f64) a == b);
define!(compares false Less(a, b: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64) a < b);
define!(compares false LessEqual(a, b: f32, f64) a <= b);
define!(commutes BitwiseAnd(a, b: u8, u16, u32, u64) a & b);
define!(commutes BitwiseOr(a, b: u8, u16, u32, u64) a | b);
define!(commutes BitwiseXor(a, b: u8, u16, u32, u64) a ^ b);
define!(Copysign(a, b: f32, f64) a.copysign(b));
define!(calls Hypot(a, b: f32) libm::hypotf(a, b));
define!(calls Hypot(a, b: f64) libm::hypot(a, b));
define!(calls Atan2(a, b: f32) libm::atan2f(a, b));
define!(calls Atan2(a, b: f64) libm::atan2(a, b));
define!(calls Nextafter(a, b: f32) libm::nextafterf(a, b));
define!(calls Nextafter(a, b: f64) libm::nextafter(a, b));
define!(Logaddexp(a, b: f32) log_add_exp(f64::from(a), f64::from(b)) as f32);
define!(Logaddexp(a, b: f64) log_add_exp(a, b));
// A square is rounded once, as in NumPy.
define!(calls Pow(a, b: f32) if b == 2.0 { a * a } else { libm::powf(a, b) });
define!(calls Pow(a, b: f64) if b == 2.0 { a * a } else { libm::pow(a, b) });

/// Defines left shifts of whole numbers without sign.
macro_rules! define_left_shift {
    ($($type:ty)*) => {$(
        define!(BitwiseLeftShift(a, b: $type) if b < <$type>::BITS as $type { a.wrapping_shl(b as u32) } else { 0 });
    )*};
}
define_left_shift!(u8 u16 u32 u64);

/// Defines right shifts and powers of whole numbers.
macro_rules! define_whole {
    ($($type:ty, $unsigned:ty, $signed:ident;)*) => {$(
        define!(BitwiseRightShift(a, b: $type) {
            let most = <$type>::BITS as $unsigned - 1;
            let by = (b as $unsigned).min(most);
            let moved = a.wrapping_shr(by as u32);
            if $signed || b as $unsigned <= most { moved } else { 0 }
        });
        define!(calls Pow(a, b: $type) {
            let (mut base, mut exponent, mut power) = (a, b.max(0), 1 as $type);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    power = power.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                exponent >>= 1;
            }
            power
        });
    )*};
}
define_whole! {
    i8, u8, true; i16, u16, true; i32, u32, true; i64, u64, true;
    u8, u8, false; u16, u16, false; u32, u32, false; u64, u64, false;
}
define!(calls FloorDivide(a, b: u8, u16, u32, u64) a.checked_div(b).unwrap_or(0));
define!(calls Remainder(a, b: u8, u16, u32, u64) a.checked_rem(b).unwrap_or(0));
define!(calls FloorDivide(a, b: i8, i16, i32, i64) {
    if b == 0 {
        0
    } else {
        let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
        if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient }
    }
});
define!(calls Remainder(a, b: i8, i16, i32, i64) {
    if b == 0 {
        0
    } else {
        let rest = a.wrapping_rem(b);
        if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
    }
});
// As in NumPy (`npy_divmod`): the dividend without the remainder is divided, so that the quotient is nearly whole.
define!(calls FloorDivide(a, b: f32, f64) {
    if b == 0.0 {
        a / b
    } else {
        let rest = a % b;
        let quotient = (a - rest) / b;
        let quotient = if rest != 0.0 && (b < 0.0) != (rest < 0.0) { quotient - 1.0 } else { quotient };
        let down = quotient.floor();
        if quotient == 0.0 {
            (a / b) * 0.0
        } else if quotient - down > 0.5 {
            down + 1.0
        } else {
            down
        }
    }
});
define!(calls Remainder(a, b: f32, f64) {
    let rest = a % b;
    if b == 0.0 {
        rest
    } else if rest == 0.0 {
        rest.copysign(b)
    } else if (b < 0.0) != (rest < 0.0) {
        rest + b
    } else {
        rest
    }
});

/// The logarithm of the sum of two exponentials, without branches.
#[inline(always)]
fn log_add_exp(a: f64, b: f64) -> f64 {
    let greater = if a >= b { a } else { b };
    let y = greater + math::log1p(math::exp(-(a - b).abs()));
    // Equal infinities have no difference.
    if a == b { a + std::f64::consts::LN_2 } else { y }
}

/// Calls the loop of a function.
macro_rules! route {
    ($type:ty, $function:expr, $a:expr, $b:expr, $to:expr, $($name:ident)*) => {
        match $function {
            $(Binary::$name => zip::<function::$name, $type>($a, $b, $to),)*
            other => panic!("{} does not take {}", other.name(), <$type>::TYPE.name()),
        }
    };
}

macro_rules! route_signed {
    ($type:ty, $function:expr, $a:expr, $b:expr, $to:expr) => {
        route!($type, $function, $a, $b, $to, FloorDivide Remainder Pow Maximum Minimum Less BitwiseRightShift)
    };
}

macro_rules! route_unsigned {
    ($type:ty, $function:expr, $a:expr, $b:expr, $to:expr) => {
        route!(
            $type, $function, $a, $b, $to,
            Add Subtract Multiply FloorDivide Remainder Pow Maximum Minimum Equal Less
            BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift
        )
    };
}

macro_rules! route_real {
    ($type:ty, $function:expr, $a:expr, $b:expr, $to:expr) => {
        route!(
            $type, $function, $a, $b, $to,
            Add Subtract Multiply Divide FloorDivide Remainder Pow Atan2 Hypot Copysign Nextafter Logaddexp
            Maximum Minimum Equal Less LessEqual
        )
    };
}

/// Whether the bits of the result are the same for whole numbers with and without sign.
fn ignores_sign(function: Binary) -> bool {
    use Binary::*;
    matches!(function, Add | Subtract | Multiply | Equal | BitwiseAnd | BitwiseOr | BitwiseXor | BitwiseLeftShift)
}

/// Computes a function of pairs of elements: `to[i] = function(a[i], b[i])`.
///
/// # Panics
/// If the operands have different types, the function does not take their type, `to` does not have the type of its
/// result, or the lengths differ.
pub fn binary(function: Binary, a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    let element = a.element();
    assert_eq!(element, b.element(), "operands of {} have one type", function.name());
    match (function, element) {
        (_, ElementType::Bool) => return binary_bool(function, a, b, to),
        (Binary::NotEqual, _) => return negated(Binary::Equal, a, b, to),
        (Binary::Greater, _) => return binary(Binary::Less, b, a, to),
        (Binary::GreaterEqual, _) => return binary(Binary::LessEqual, b, a, to),
        // Real numbers that are not ordered are neither less nor greater.
        (Binary::LessEqual, _) if !element.is_real() => return negated(Binary::Less, b, a, to),
        (_, _) if element.is_signed() && ignores_sign(function) => {
            return binary(function, a.unsigned(), b.unsigned(), to.unsigned());
        }
        _ => {}
    }
    match element {
        ElementType::Bool => unreachable!("booleans are computed above"),
        ElementType::Int8 => route_signed!(i8, function, a, b, to),
        ElementType::Int16 => route_signed!(i16, function, a, b, to),
        ElementType::Int32 => route_signed!(i32, function, a, b, to),
        ElementType::Int64 => route_signed!(i64, function, a, b, to),
        ElementType::UInt8 => route_unsigned!(u8, function, a, b, to),
        ElementType::UInt16 => route_unsigned!(u16, function, a, b, to),
        ElementType::UInt32 => route_unsigned!(u32, function, a, b, to),
        ElementType::UInt64 => route_unsigned!(u64, function, a, b, to),
        ElementType::Float32 => route_real!(f32, function, a, b, to),
        ElementType::Float64 => route_real!(f64, function, a, b, to),
    }
}

/// Computes where a comparison is false.
fn negated(function: Binary, a: Argument<'_>, b: Argument<'_>, mut to: ValuesMut<'_>) {
    binary(function, a, b, to.reborrow());
    u8::slice_mut(to).iter_mut().for_each(|x| *x ^= 1);
}

fn binary_bool(function: Binary, a: Argument<'_>, b: Argument<'_>, to: ValuesMut<'_>) {
    use Binary::*;
    match function {
        LogicalAnd | BitwiseAnd => zip::<function::BitwiseAnd, u8>(a, b, to),
        LogicalOr | BitwiseOr => zip::<function::BitwiseOr, u8>(a, b, to),
        LogicalXor | BitwiseXor | NotEqual => zip::<function::BitwiseXor, u8>(a, b, to),
        Equal => zip::<function::Equal, u8>(a, b, to),
        other => panic!("{} does not take booleans", other.name()),
    }
}
