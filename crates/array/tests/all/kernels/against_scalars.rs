//! Each function of one and of two arguments, of each type, against a naive one.

use super::*;

/// Expected result of a function, as the bits of its type: NaN is one value.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Whole(i128),
    Real(f64),
    /// As a real number, but for some of its last places.
    Near(f64, u64),
}
use Expected::*;

fn bool(value: bool) -> Expected {
    Whole(value.into())
}

/// The naive function of a whole number; what is wider than the type wraps.
fn whole_unary(function: Unary, x: i128) -> Expected {
    Whole(match function {
        Unary::Abs => x.abs(),
        Unary::Negative => -x,
        Unary::Positive | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round => x,
        Unary::Square => x.wrapping_mul(x),
        Unary::Sign => x.signum(),
        Unary::Isnan | Unary::Isinf => 0,
        Unary::Isfinite => 1,
        Unary::BitwiseInvert => !x,
        other => unreachable!("{}", other.name()),
    })
}

fn real_unary(function: Unary, x: f64) -> Expected {
    match function {
        Unary::Abs => Real(if x.is_sign_negative() { -x } else { x }),
        Unary::Negative => Real(-x),
        Unary::Positive => Real(x),
        Unary::Square => Real(x * x),
        Unary::Sqrt => Real(x.sqrt()),
        Unary::Exp => Near(x.exp(), 1),
        Unary::Expm1 => Near(x.exp_m1(), 2),
        Unary::Log => Near(x.ln(), 1),
        Unary::Log1p => Near(x.ln_1p(), 2),
        Unary::Log2 => Near(x.log2(), 2),
        Unary::Log10 => Near(x.log10(), 2),
        Unary::Sin => Near(x.sin(), 1),
        Unary::Cos => Near(x.cos(), 1),
        Unary::Tan => Near(x.tan(), 2),
        Unary::Asin => Near(x.asin(), 2),
        Unary::Acos => Near(x.acos(), 2),
        Unary::Atan => Near(x.atan(), 2),
        Unary::Sinh => Near(x.sinh(), 3),
        Unary::Cosh => Near(x.cosh(), 3),
        Unary::Tanh => Near(x.tanh(), 3),
        Unary::Asinh => Near(libm::asinh(x), 3),
        Unary::Acosh if x < 1.0 => Real(f64::NAN),
        Unary::Acosh => Near(libm::acosh(x), 3),
        Unary::Atanh => Near(libm::atanh(x), 3),
        Unary::Floor => Real(x.floor()),
        Unary::Ceil => Real(x.ceil()),
        Unary::Trunc => Real(x.trunc()),
        Unary::Round => Real(libm::rint(x)),
        Unary::Sign => Real(match x.partial_cmp(&0.0) {
            None => f64::NAN,
            Some(order) => f64::from(order as i8),
        }),
        Unary::Signbit => bool(x.to_bits() >> 63 == 1),
        Unary::Isnan => bool(x.is_nan()),
        Unary::Isinf => bool(x.abs() == f64::INFINITY),
        Unary::Isfinite => bool(x.abs() < f64::INFINITY),
        Unary::Reciprocal => Real(1.0 / x),
        other => unreachable!("{}", other.name()),
    }
}

/// The naive function of whole numbers of some bits.
fn whole_binary(function: Binary, a: i128, b: i128, bits: i128) -> Expected {
    let is_in = (0..bits).contains(&b);
    Whole(match function {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a.wrapping_mul(b),
        Binary::FloorDivide if b == 0 => 0,
        Binary::FloorDivide => {
            (a - a.rem_euclid(b.abs())) / b.abs() * if b < 0 { 0 } else { 1 } + negative_quotient(a, b)
        }
        Binary::Remainder if b == 0 => 0,
        Binary::Remainder => ((a % b) + b) % b,
        Binary::Pow => (0..b.clamp(0, 300)).fold(1, |power: i128, _| power.wrapping_mul(a)),
        Binary::Maximum => a.max(b),
        Binary::Minimum => a.min(b),
        Binary::Equal => (a == b).into(),
        Binary::NotEqual => (a != b).into(),
        Binary::Less => (a < b).into(),
        Binary::LessEqual => (a <= b).into(),
        Binary::Greater => (a > b).into(),
        Binary::GreaterEqual => (a >= b).into(),
        Binary::BitwiseAnd => a & b,
        Binary::BitwiseOr => a | b,
        Binary::BitwiseXor => a ^ b,
        Binary::BitwiseLeftShift => {
            if is_in {
                a << b
            } else {
                0
            }
        }
        Binary::BitwiseRightShift if is_in => a >> b,
        Binary::BitwiseRightShift => {
            if a < 0 {
                -1
            } else {
                0
            }
        }
        other => unreachable!("{}", other.name()),
    })
}

/// The quotient by a divisor below 0 rounded down.
fn negative_quotient(a: i128, b: i128) -> i128 {
    if b > 0 { 0 } else { (-a - (-a).rem_euclid(-b)) / -b }
}

fn real_binary(function: Binary, a: f64, b: f64) -> Expected {
    let has_nan = a.is_nan() || b.is_nan();
    match function {
        Binary::Add => Real(a + b),
        Binary::Subtract => Real(a - b),
        Binary::Multiply => Real(a * b),
        Binary::Divide => Real(a / b),
        Binary::Pow => Near(a.powf(b), 1),
        Binary::Atan2 => Near(a.atan2(b), 2),
        Binary::Hypot => Near(a.hypot(b), 1),
        Binary::Copysign => Real(a.copysign(b)),
        Binary::Logaddexp if a == b => Real(a + std::f64::consts::LN_2),
        Binary::Logaddexp if has_nan => Real(f64::NAN),
        Binary::Logaddexp => Near(a.max(b) + (-(a - b).abs()).exp().ln_1p(), 2),
        Binary::Maximum if has_nan => Real(f64::NAN),
        Binary::Minimum if has_nan => Real(f64::NAN),
        Binary::Maximum => Real(if a == b { a } else { a.max(b) }),
        Binary::Minimum => Real(if a == b { a } else { a.min(b) }),
        Binary::Equal => bool(a == b),
        Binary::NotEqual => bool(a != b),
        Binary::Less => bool(a < b),
        Binary::LessEqual => bool(a <= b),
        Binary::Greater => bool(a > b),
        Binary::GreaterEqual => bool(a >= b),
        other => unreachable!("{}", other.name()),
    }
}

/// A value as a whole number.
fn whole(value: Scalar) -> i128 {
    match value {
        Scalar::UInt64(x) => x.into(),
        other => match other.cast(ElementType::Int64) {
            Scalar::Int64(x) => x.into(),
            _ => unreachable!(),
        },
    }
}

fn check(found: Scalar, expected: Expected, what: &str) {
    let is_right = match (found, expected) {
        (Scalar::Float64(x), Real(y)) => distance(x, y) == 0,
        (Scalar::Float32(x), Real(y)) => f32::same(x, y as f32),
        (Scalar::Float64(x), Near(y, places)) => distance(x, y) <= places,
        (Scalar::Float32(x), Near(y, places)) => {
            let room = (y.abs() * f64::from(f32::EPSILON)).max(f64::from(f32::from_bits(1)));
            f32::same(x, y as f32) || (f64::from(x) - y).abs() <= places as f64 * room
        }
        (found, Whole(y)) => {
            let bits = found.element().bytes() * 8;
            (whole(found) ^ y) << (128 - bits) == 0
        }
        _ => false,
    };
    assert!(is_right, "{what}: {found:?} where {expected:?} is due");
}

fn unary_of<T: Edges>() {
    for &function in Unary::ALL {
        let Some(result) = function.result(T::TYPE) else { continue };
        for (len, mut x) in LENGTHS.map(|len| (len, T::vector(len, len as u64))) {
            let edges = T::edges();
            x.iter_mut().zip(&edges).for_each(|(x, edge)| *x = *edge);
            let mut bytes = vec![0u64; len];
            let mut to =
                ValuesMut::from_bytes(result, &mut bytemuck::cast_slice_mut(&mut bytes)[..len * result.bytes()]);
            unary(function, T::values(&x), to.reborrow());
            for (i, &x) in x.iter().enumerate() {
                let expected = match T::TYPE.is_real() {
                    true => real_unary(function, x.scalar().to_f64()),
                    false => whole_unary(function, whole(x.scalar())),
                };
                check(to.as_values().get(i), expected, &format!("{}({:?})", function.name(), x.scalar()));
            }
        }
    }
}

#[test]
fn functions_of_one_argument_are_those_of_scalars() {
    for_each_number!(unary_of);
}

/// Operands of a length: vectors, and values.
fn forms<T: Edges>(a: &[T], b: &[T], i: usize) -> [(Vec<T>, Vec<T>, [bool; 2]); 4] {
    let same = |x: T| vec![x; a.len()];
    [
        (a.to_vec(), b.to_vec(), [false, false]),
        (a.to_vec(), same(b[i]), [false, true]),
        (same(a[i]), b.to_vec(), [true, false]),
        (same(a[i]), same(b[i]), [true, true]),
    ]
}

fn binary_of<T: Edges>() {
    let edges = T::edges();
    let mut pairs: (Vec<T>, Vec<T>) = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).unzip();
    pairs.0.extend(T::vector(508, 1));
    pairs.1.extend(T::vector(508, 2));
    for &function in Binary::ALL {
        let Some(result) = function.result(T::TYPE) else { continue };
        let lens = LENGTHS.into_iter().skip(1).chain([pairs.0.len()]);
        for len in lens {
            for (a, b, is_scalar) in forms(&pairs.0[..len], &pairs.1[..len], len * 3 / 4) {
                let operand = |x: &'static [T], is_scalar| match is_scalar {
                    true => Argument::Scalar(x[0].scalar()),
                    false => Argument::Vector(T::values(x)),
                };
                let (a, b): (&'static [T], &'static [T]) = (a.leak(), b.leak());
                let mut bytes = vec![0u64; len];
                let bytes = &mut bytemuck::cast_slice_mut(&mut bytes)[..len * result.bytes()];
                let mut to = ValuesMut::from_bytes(result, bytes);
                binary(function, operand(a, is_scalar[0]), operand(b, is_scalar[1]), to.reborrow());
                for i in 0..len {
                    check_binary(function, a[i], b[i], to.as_values().get(i));
                }
            }
        }
    }
}

fn check_binary<T: Edges>(function: Binary, a: T, b: T, found: Scalar) {
    let what = format!("{}({:?}, {:?})", function.name(), a.scalar(), b.scalar());
    let (bits, is_real) = (T::TYPE.bytes() as i128 * 8, T::TYPE.is_real());
    let special = matches!(function, Binary::FloorDivide | Binary::Remainder | Binary::Nextafter) && is_real;
    if special {
        return check_special(function, a.scalar(), b.scalar(), found, &what);
    }
    if is_real {
        let (x, y) = (a.scalar().to_f64(), b.scalar().to_f64());
        return check(found, real_binary(function, x, y), &what);
    }
    let (a, b) = (whole(a.scalar()), whole(b.scalar()));
    if function != Binary::Pow || b <= 300 {
        check(found, whole_binary(function, a, b, bits), &what);
    }
}

/// Results that are defined by a property rather than by a formula in `f64`.
fn check_special(function: Binary, a: Scalar, b: Scalar, found: Scalar, what: &str) {
    let (x, y, z) = (a.to_f64(), b.to_f64(), found.to_f64());
    match function {
        Binary::Nextafter => {
            let (from, to) = (a.to_f64(), b.to_f64());
            match a {
                _ if from.is_nan() || to.is_nan() => assert!(z.is_nan(), "{what}: {found:?}"),
                _ if from == to => assert_eq!(z.to_bits(), to.to_bits(), "{what}: {found:?}"),
                Scalar::Float64(a) => assert_eq!(z, if to > from { a.next_up() } else { a.next_down() }, "{what}"),
                Scalar::Float32(a) => {
                    assert_eq!(z, f64::from(if to > from { a.next_up() } else { a.next_down() }), "{what}");
                }
                _ => unreachable!(),
            }
        }
        Binary::Remainder if x.is_finite() && y.is_finite() && y != 0.0 => {
            assert!(z.abs() <= y.abs() && z.is_sign_negative() == y.is_sign_negative(), "{what}: {found:?}");
            let rest = libm::fmod(x, y);
            let rest = if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest };
            assert_eq!(if matches!(a, Scalar::Float32(_)) { rest as f32 as f64 } else { rest }, z, "{what}");
        }
        Binary::Remainder if x.is_finite() && y.is_infinite() => {
            let expected = if x == 0.0 {
                0f64.copysign(y)
            } else if (x < 0.0) == (y < 0.0) {
                x
            } else {
                y
            };
            assert_eq!(z.to_bits(), expected.to_bits(), "{what}: {found:?}");
        }
        Binary::Remainder => assert!(z.is_nan(), "{what}: {found:?}"),
        _ if y == 0.0 => assert_eq!(distance(x / y, z), 0, "{what}: {found:?}"),
        _ if x.is_nan() || y.is_nan() || x.is_infinite() => assert!(z.is_nan(), "{what}: {found:?}"),
        _ if y.is_infinite() => {
            let expected = if x == 0.0 {
                x / y
            } else if (x < 0.0) == (y < 0.0) {
                0.0
            } else {
                -1.0
            };
            assert_eq!(z.to_bits(), expected.to_bits(), "{what}: {found:?}");
        }
        _ => {
            assert!(z == z.floor() || z.is_infinite(), "{what}: {found:?}");
            let quotient = if matches!(a, Scalar::Float32(_)) { (x as f32 / y as f32).into() } else { x / y };
            assert!(
                quotient == z || (z - quotient.floor()).abs() <= 1.0f64.max(quotient.abs() * 1e-6),
                "{what}: {found:?}"
            );
        }
    }
}

#[test]
fn functions_of_two_arguments_are_those_of_scalars() {
    for_each_number!(binary_of);
}

/// Results of NumPy 2 for zeros, infinities and near misses.
#[test]
fn quotients_and_remainders_of_real_numbers_are_those_of_numpy() {
    let cases = [
        (1.0, 0.1, 9.0, 0.09999999999999995),
        (-1.0, 3.0, -1.0, 2.0),
        (1.0, -3.0, -1.0, -2.0),
        (-0.0, 3.0, -0.0, 0.0),
        (0.0, -3.0, -0.0, -0.0),
        (6.0, -3.0, -2.0, -0.0),
        (1.0, 0.0, f64::INFINITY, f64::NAN),
        (-1.0, 0.0, f64::NEG_INFINITY, f64::NAN),
        (0.0, 0.0, f64::NAN, f64::NAN),
        (f64::INFINITY, 2.0, f64::NAN, f64::NAN),
        (-1.0, f64::INFINITY, -1.0, f64::INFINITY),
    ];
    for (a, b, quotient, rest) in cases {
        let (x, y) = ([a], [b]);
        let operands = [Argument::Vector(Values::Float64(&x)), Argument::Vector(Values::Float64(&y))];
        for (function, expected) in [(Binary::FloorDivide, quotient), (Binary::Remainder, rest)] {
            let mut to = [7.0];
            binary(function, operands[0], operands[1], ValuesMut::Float64(&mut to));
            assert!(f64::same(to[0], expected), "{}({a}, {b}) = {} where {expected} is due", function.name(), to[0]);
        }
    }
}

#[test]
fn functions_of_booleans() {
    let (a, b) = ([0, 0, 1, 1], [0, 1, 0, 1]);
    let cases = [
        (&[Binary::LogicalAnd, Binary::BitwiseAnd][..], [0, 0, 0, 1]),
        (&[Binary::LogicalOr, Binary::BitwiseOr], [0, 1, 1, 1]),
        (&[Binary::LogicalXor, Binary::BitwiseXor, Binary::NotEqual], [0, 1, 1, 0]),
        (&[Binary::Equal], [1, 0, 0, 1]),
    ];
    for (functions, expected) in cases {
        for &function in functions {
            assert_eq!(function.result(ElementType::Bool), Some(ElementType::Bool));
            let mut to = [7; 4];
            let operands = [&a, &b].map(|x| Argument::Vector(Values::Bool(x)));
            binary(function, operands[0], operands[1], ValuesMut::Bool(&mut to));
            assert_eq!(to, expected, "{}", function.name());
        }
    }
    for function in [Unary::LogicalNot, Unary::BitwiseInvert] {
        let mut to = [7; 4];
        unary(function, Values::Bool(&a), ValuesMut::Bool(&mut to));
        assert_eq!(to, [1, 1, 0, 0]);
    }
}
