//! Functions of one argument over vectors.

use super::convert::cast;
use super::function::Unary;
use super::math;
use super::simd::{Loop, widest};
use super::values::{Element, Values, ValuesMut};
use outcore_format::ElementType;
use std::marker::PhantomData;

/// A function of one argument of a type.
trait Apply<T> {
    type Out: Element;
    /// Whether a loop over the function is vectorised, so that compiling it for several processors is worth it.
    const IN_VECTORS: bool = true;
    /// Whether there are arguments that `apply` is wrong for.
    const HAS_HARD: bool = false;

    fn apply(x: T) -> Self::Out;

    /// Whether `apply` is wrong for an argument.
    #[inline(always)]
    fn is_hard(_x: T) -> bool {
        false
    }

    /// The function for an argument that is hard.
    #[inline(always)]
    fn apply_hard(x: T) -> Self::Out {
        Self::apply(x)
    }
}

struct Map<'a, T, F: Apply<T>> {
    x: &'a [T],
    to: &'a mut [F::Out],
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T>> Loop for Map<'_, T, F> {
    type Output = ();
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    fn run(self) {
        for (to, &x) in self.to.iter_mut().zip(self.x) {
            *to = F::apply(x);
        }
    }
}

/// Whether there is an argument that is hard.
struct HasHard<'a, T, F> {
    x: &'a [T],
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T>> Loop for HasHard<'_, T, F> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.x.iter().fold(false, |has_hard, &x| has_hard | F::is_hard(x))
    }
}

fn map<F: Apply<T>, T: Element>(x: &[T], to: ValuesMut<'_>) {
    let to = F::Out::slice_mut(to);
    assert_eq!(x.len(), to.len(), "vectors of one operation have one length");
    if !F::IN_VECTORS {
        return call_each(F::apply, x, to);
    }
    widest(Map::<T, F> { x, to: &mut *to, function: PhantomData });
    if F::HAS_HARD && widest(HasHard::<T, F> { x, function: PhantomData }) {
        to.iter_mut().zip(x).filter(|(_, x)| F::is_hard(**x)).for_each(|(to, &x)| *to = F::apply_hard(x));
    }
}

/// Calls a function for each element: all functions that are not vectorised share this loop.
#[inline(never)]
fn call_each<T: Element, Out>(function: fn(T) -> Out, x: &[T], to: &mut [Out]) {
    to.iter_mut().zip(x).for_each(|(to, &x)| *to = function(x));
}

/// Declares functions as types, with the names of [`Unary`].
mod function {
    macro_rules! functions {
        ($($name:ident)*) => { $(pub(super) struct $name;)* };
    }
    functions! {
        Abs Negative Square Sqrt Exp Expm1 Log Log1p Log2 Log10 Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh
        Asinh Acosh Atanh Floor Ceil Trunc Round Sign Signbit Isnan Isinf Isfinite LogicalNot BitwiseInvert Reciprocal
    }
}

/// Defines a function for some types; `calls` says that it is not vectorised.
macro_rules! define {
    ($name:ident($x:ident: $($type:ty),*) $body:expr) => {
        $(define!(@ $name, $type, $type, true, $x, $body);)*
    };
    ($name:ident($x:ident: $($type:ty),*) -> bool $body:expr) => {
        $(define!(@ $name, $type, u8, true, $x, u8::from($body));)*
    };
    (calls $name:ident, $double:path, $single:path) => {
        define!(@ $name, f64, f64, false, x, $double(x));
        define!(@ $name, f32, f32, false, x, $single(x));
    };
    (@ $name:ident, $type:ty, $out:ty, $in_vectors:literal, $x:ident, $body:expr) => {
        impl Apply<$type> for function::$name {
            type Out = $out;
            const IN_VECTORS: bool = $in_vectors;

            #[inline(always)]
            fn apply($x: $type) -> $out {
                $body
            }
        }
    };
}

define!(Abs(x: i8, i16, i32, i64) x.wrapping_abs());
define!(Abs(x: f32, f64) x.abs());
define!(Negative(x: u8, u16, u32, u64) x.wrapping_neg());
define!(Negative(x: f32, f64) -x);
define!(Square(x: u8, u16, u32, u64) x.wrapping_mul(x));
define!(Square(x: f32, f64) x * x);
define!(Sign(x: i8) i8::from(x > 0) - i8::from(x < 0));
define!(Sign(x: i16) i16::from(x > 0) - i16::from(x < 0));
define!(Sign(x: i32) i32::from(x > 0) - i32::from(x < 0));
define!(Sign(x: i64) i64::from(x > 0) - i64::from(x < 0));
define!(Sign(x: u8, u16, u32, u64) x.min(1));
define!(Sign(x: f32, f64) if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x + 0.0 });
define!(BitwiseInvert(x: u8, u16, u32, u64) !x);
define!(LogicalNot(x: u8) u8::from(x == 0));
define!(Sqrt(x: f32, f64) x.sqrt());
define!(Reciprocal(x: f32, f64) 1.0 / x);
define!(Floor(x: f32, f64) x.floor());
define!(Ceil(x: f32, f64) x.ceil());
define!(Trunc(x: f32, f64) x.trunc());
define!(Round(x: f32, f64) x.round_ties_even());
define!(Signbit(x: f32, f64) -> bool x.is_sign_negative());
define!(Isnan(x: f32, f64) -> bool x.is_nan());
define!(Isinf(x: f32, f64) -> bool x.is_infinite());
define!(Isfinite(x: f32, f64) -> bool x.is_finite());
define!(Exp(x: f64) math::exp(x));
define!(Log(x: f64) math::log(x));
define!(Expm1(x: f64) math::expm1(x));
define!(Log1p(x: f64) math::log1p(x));
define!(Log2(x: f64) math::log2(x));
define!(Log10(x: f64) math::log10(x));
define!(calls Tan, libm::tan, libm::tanf);
define!(calls Asin, libm::asin, libm::asinf);
define!(calls Acos, libm::acos, libm::acosf);
define!(calls Atan, libm::atan, libm::atanf);
define!(Tanh(x: f64) math::tanh(x));
define!(calls Asinh, libm::asinh, libm::asinhf);
define!(calls Acosh, acosh, acosh_single);
define!(calls Atanh, libm::atanh, libm::atanhf);

fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The library's own answers numbers below 0.
fn acosh_single(x: f32) -> f32 {
    if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
}

/// Defines a function that a library computes for arguments above a size.
macro_rules! define_up_to {
    ($most:path, $name:ident, $short:path, $long:path) => {
        impl Apply<f64> for function::$name {
            type Out = f64;
            const HAS_HARD: bool = true;

            #[inline(always)]
            fn apply(x: f64) -> f64 {
                $short(x)
            }

            #[inline(always)]
            fn is_hard(x: f64) -> bool {
                x.abs() > $most
            }

            fn apply_hard(x: f64) -> f64 {
                $long(x)
            }
        }
    };
}
define_up_to!(math::MOST_ANGLE, Sin, math::sin, libm::sin);
define_up_to!(math::MOST_ANGLE, Cos, math::cos, libm::cos);
define_up_to!(math::MOST_HYPERBOLIC, Sinh, math::sinh, libm::sinh);
define_up_to!(math::MOST_HYPERBOLIC, Cosh, math::cosh, libm::cosh);

/// Calls the loop of a function.
macro_rules! route {
    ($function:expr, $x:expr, $to:expr, $($name:ident)*) => {
        match $function {
            $(Unary::$name => map::<function::$name, _>($x, $to),)*
            other => panic!("{} does not take this type", other.name()),
        }
    };
}

/// Calls the loop of a function that real numbers of both types have.
macro_rules! route_real {
    ($function:expr, $x:expr, $to:expr) => {
        route!(
            $function, $x, $to,
            Abs Negative Square Sqrt Tan Asin Acos Atan Asinh Acosh Atanh Floor Ceil Trunc Round Sign Signbit Isnan
            Isinf Isfinite Reciprocal
        )
    };
}

/// Calls the loop of a function that is computed in `f64`.
macro_rules! route_double {
    ($function:expr, $x:expr, $to:expr) => {
        route!($function, $x, $to, Exp Expm1 Log Log1p Log2 Log10 Sin Cos Sinh Cosh Tanh)
    };
}

fn fill_bool(to: ValuesMut<'_>, len: usize, value: u8) {
    let to = u8::slice_mut(to);
    assert_eq!(to.len(), len, "vectors of one operation have one length");
    to.fill(value);
}

/// Copies the elements.
fn copy(x: Values<'_>, to: ValuesMut<'_>) {
    assert!(x.element() == to.element() && x.len() == to.len(), "vectors of one operation have one type and length");
    to.into_bytes().copy_from_slice(x.bytes());
}

/// Elements that are computed in `f64` at once.
const WIDE: usize = 256;

/// Computes a function of `f32` in `f64`, and rounds the results.
fn in_double(function: Unary, x: &[f32], to: ValuesMut<'_>) {
    let to = f32::slice_mut(to);
    assert_eq!(x.len(), to.len(), "vectors of one operation have one length");
    let (mut wide, mut results) = ([0.0f64; WIDE], [0.0f64; WIDE]);
    for (x, to) in x.chunks(WIDE).zip(to.chunks_mut(WIDE)) {
        let (wide, results) = (&mut wide[..x.len()], &mut results[..x.len()]);
        cast(Values::Float32(x), ValuesMut::Float64(wide));
        route_double!(function, wide, ValuesMut::Float64(results));
        cast(Values::Float64(results), ValuesMut::Float32(to));
    }
}

/// Computes a function of each element: `to[i] = function(x[i])`.
///
/// # Panics
/// If the function does not take the type, `to` does not have the type of its result, or the lengths differ.
pub fn unary(function: Unary, x: Values<'_>, to: ValuesMut<'_>) {
    use Unary::*;
    let element = x.element();
    if element == ElementType::Bool {
        return match function {
            LogicalNot | BitwiseInvert => map::<function::LogicalNot, _>(u8::slice(x), to),
            other => panic!("{} does not take booleans", other.name()),
        };
    }
    match function {
        Positive => return copy(x, to),
        Floor | Ceil | Trunc | Round if !element.is_real() => return copy(x, to),
        Abs if element.is_unsigned() => return copy(x, to),
        Isnan | Isinf if !element.is_real() => return fill_bool(to, x.len(), 0),
        Isfinite if !element.is_real() => return fill_bool(to, x.len(), 1),
        // These have the same bits for whole numbers with and without sign.
        Negative | Square | BitwiseInvert if element.is_signed() => {
            return unary(function, x.unsigned(), to.unsigned());
        }
        _ => {}
    }
    match x {
        Values::Bool(_) => unreachable!("booleans are computed above"),
        Values::Int8(x) => route!(function, x, to, Abs Sign),
        Values::Int16(x) => route!(function, x, to, Abs Sign),
        Values::Int32(x) => route!(function, x, to, Abs Sign),
        Values::Int64(x) => route!(function, x, to, Abs Sign),
        Values::UInt8(x) => route!(function, x, to, Negative Square Sign BitwiseInvert),
        Values::UInt16(x) => route!(function, x, to, Negative Square Sign BitwiseInvert),
        Values::UInt32(x) => route!(function, x, to, Negative Square Sign BitwiseInvert),
        Values::UInt64(x) => route!(function, x, to, Negative Square Sign BitwiseInvert),
        Values::Float32(x) => match function {
            Exp | Expm1 | Log | Log1p | Log2 | Log10 | Sin | Cos | Sinh | Cosh | Tanh => in_double(function, x, to),
            function => route_real!(function, x, to),
        },
        Values::Float64(x) => match function {
            Exp | Expm1 | Log | Log1p | Log2 | Log10 | Sin | Cos | Sinh | Cosh | Tanh => route_double!(function, x, to),
            function => route_real!(function, x, to),
        },
    }
}
