//! Functions of one argument over vectors.

use super::function::Unary;
use super::math;
use super::simd::{Loop, widest};
use super::values::{Element, Values, ValuesMut};
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
    let work = Map::<T, F> { x, to: &mut *to, function: PhantomData };
    if F::IN_VECTORS {
        widest(work)
    } else {
        work.run()
    }
    if F::HAS_HARD && widest(HasHard::<T, F> { x, function: PhantomData }) {
        to.iter_mut().zip(x).filter(|(_, x)| F::is_hard(**x)).for_each(|(to, &x)| *to = F::apply_hard(x));
    }
}

/// Declares functions as types, with the names of [`Unary`].
mod function {
    macro_rules! functions {
        ($($name:ident)*) => { $(pub(super) struct $name;)* };
    }
    functions! {
        Abs Negative Positive Square Sqrt Exp Expm1 Log Log1p Log2 Log10 Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh
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
define!(Negative(x: i8, i16, i32, i64, u8, u16, u32, u64) x.wrapping_neg());
define!(Negative(x: f32, f64) -x);
define!(Positive(x: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64) x);
define!(Square(x: i8, i16, i32, i64, u8, u16, u32, u64) x.wrapping_mul(x));
define!(Square(x: f32, f64) x * x);
define!(Sign(x: i8) i8::from(x > 0) - i8::from(x < 0));
define!(Sign(x: i16) i16::from(x > 0) - i16::from(x < 0));
define!(Sign(x: i32) i32::from(x > 0) - i32::from(x < 0));
define!(Sign(x: i64) i64::from(x > 0) - i64::from(x < 0));
define!(Sign(x: u8, u16, u32, u64) x.min(1));
define!(Sign(x: f32, f64) if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x + 0.0 });
define!(BitwiseInvert(x: i8, i16, i32, i64, u8, u16, u32, u64) !x);
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
define!(Exp(x: f32) math::exp(f64::from(x)) as f32);
define!(Log(x: f64) math::log(x));
define!(Log(x: f32) math::log(f64::from(x)) as f32);
define!(Expm1(x: f64) math::expm1(x));
define!(Expm1(x: f32) math::expm1(f64::from(x)) as f32);
define!(Log1p(x: f64) math::log1p(x));
define!(Log1p(x: f32) math::log1p(f64::from(x)) as f32);
define!(Log2(x: f64) math::log2(x));
define!(Log2(x: f32) math::log2(f64::from(x)) as f32);
define!(Log10(x: f64) math::log10(x));
define!(Log10(x: f32) math::log10(f64::from(x)) as f32);
define!(calls Tan, libm::tan, libm::tanf);
define!(calls Asin, libm::asin, libm::asinf);
define!(calls Acos, libm::acos, libm::acosf);
define!(calls Atan, libm::atan, libm::atanf);
define!(Tanh(x: f64) math::tanh(x));
define!(Tanh(x: f32) math::tanh(f64::from(x)) as f32);
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

/// Defines a function whose arguments past a size are left to a library.
macro_rules! define_up_to {
    ($most:path, $name:ident, $short:path, $long:path, $($type:ty),*) => {$(
        impl Apply<$type> for function::$name {
            type Out = $type;
            const HAS_HARD: bool = true;

            #[inline(always)]
            fn apply(x: $type) -> $type {
                $short(f64::from(x)) as $type
            }

            #[inline(always)]
            fn is_hard(x: $type) -> bool {
                f64::from(x.abs()) > $most
            }

            fn apply_hard(x: $type) -> $type {
                $long(f64::from(x)) as $type
            }
        }
    )*};
}
define_up_to!(math::MOST_ANGLE, Sin, math::sin, libm::sin, f32, f64);
define_up_to!(math::MOST_ANGLE, Cos, math::cos, libm::cos, f32, f64);
define_up_to!(math::MOST_HYPERBOLIC, Sinh, math::sinh, libm::sinh, f32, f64);
define_up_to!(math::MOST_HYPERBOLIC, Cosh, math::cosh, libm::cosh, f32, f64);

/// Calls the loop of a function.
macro_rules! route {
    ($function:expr, $x:expr, $to:expr, $($name:ident)*) => {
        match $function {
            $(Unary::$name => map::<function::$name, _>($x, $to),)*
            other => panic!("{} does not take this type", other.name()),
        }
    };
}

/// Calls the loop of a function of whole numbers; what all whole numbers are needs no loop.
macro_rules! route_whole {
    ($function:expr, $x:expr, $to:expr, $($name:ident)*) => {
        match $function {
            Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round => map::<function::Positive, _>($x, $to),
            Unary::Isnan | Unary::Isinf => fill_bool($to, $x.len(), 0),
            Unary::Isfinite => fill_bool($to, $x.len(), 1),
            function => route!(function, $x, $to, $($name)*),
        }
    };
}

fn fill_bool(to: ValuesMut<'_>, len: usize, value: u8) {
    let to = u8::slice_mut(to);
    assert_eq!(to.len(), len, "vectors of one operation have one length");
    to.fill(value);
}

macro_rules! route_signed {
    ($function:expr, $x:expr, $to:expr) => {
        route_whole!($function, $x, $to, Abs Negative Positive Square Sign BitwiseInvert)
    };
}

macro_rules! route_unsigned {
    ($function:expr, $x:expr, $to:expr) => {
        match $function {
            Unary::Abs => map::<function::Positive, _>($x, $to),
            function => route_whole!(function, $x, $to, Negative Positive Square Sign BitwiseInvert),
        }
    };
}

macro_rules! route_real {
    ($function:expr, $x:expr, $to:expr) => {
        route!(
            $function, $x, $to,
            Abs Negative Positive Square Sqrt Exp Expm1 Log Log1p Log2 Log10 Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh
            Asinh Acosh Atanh Floor Ceil Trunc Round Sign Signbit Isnan Isinf Isfinite Reciprocal
        )
    };
}

/// Computes a function of each element: `to[i] = function(x[i])`.
///
/// # Panics
/// If the function does not take the type, `to` does not have the type of its result, or the lengths differ.
pub fn unary(function: Unary, x: Values<'_>, to: ValuesMut<'_>) {
    match x {
        Values::Bool(x) => match function {
            Unary::LogicalNot | Unary::BitwiseInvert => map::<function::LogicalNot, _>(x, to),
            other => panic!("{} does not take booleans", other.name()),
        },
        Values::Int8(x) => route_signed!(function, x, to),
        Values::Int16(x) => route_signed!(function, x, to),
        Values::Int32(x) => route_signed!(function, x, to),
        Values::Int64(x) => route_signed!(function, x, to),
        Values::UInt8(x) => route_unsigned!(function, x, to),
        Values::UInt16(x) => route_unsigned!(function, x, to),
        Values::UInt32(x) => route_unsigned!(function, x, to),
        Values::UInt64(x) => route_unsigned!(function, x, to),
        Values::Float32(x) => route_real!(function, x, to),
        Values::Float64(x) => route_real!(function, x, to),
    }
}
