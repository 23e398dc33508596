//! The functions of one and of two arguments: names, and the types that they take and give.
//!
//! Types follow the Python array API standard (2024.12): a function accepts only the types for which the standard
//! defines it, and both arguments of a function have one type. [`promote`] is the standard's table; [`promote_mixed`]
//! extends it to missing entries, as NumPy does.

use outcore_format::ElementType;

/// Declares functions with their names.
macro_rules! named {
    ($(#[$doc:meta])* $enum:ident: $($variant:ident = $name:literal, $text:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum {
            $(#[doc = $text] $variant,)*
        }

        impl $enum {
            /// All of them.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            /// The name in the array API.
            pub fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)*
                }
            }

            /// The function of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                $enum::ALL.iter().copied().find(|function| function.name() == name)
            }
        }
    };
}
pub(crate) use named;

named! {
    /// A function of one argument.
    Unary:
    Abs = "abs", "The absolute value; that of the least whole number is itself.";
    Negative = "negative", "The value with the other sign; whole numbers wrap.";
    Positive = "positive", "The value itself.";
    Square = "square", "The value times itself.";
    Sqrt = "sqrt", "The square root.";
    Exp = "exp", "The exponential function.";
    Expm1 = "expm1", "The exponential function less 1.";
    Log = "log", "The natural logarithm.";
    Log1p = "log1p", "The natural logarithm of 1 and the value.";
    Log2 = "log2", "The logarithm to base 2.";
    Log10 = "log10", "The logarithm to base 10.";
    Sin = "sin", "The sine.";
    Cos = "cos", "The cosine.";
    Tan = "tan", "The tangent.";
    Asin = "asin", "The angle of a sine.";
    Acos = "acos", "The angle of a cosine.";
    Atan = "atan", "The angle of a tangent.";
    Sinh = "sinh", "The hyperbolic sine.";
    Cosh = "cosh", "The hyperbolic cosine.";
    Tanh = "tanh", "The hyperbolic tangent.";
    Asinh = "asinh", "The inverse of the hyperbolic sine.";
    Acosh = "acosh", "The inverse of the hyperbolic cosine.";
    Atanh = "atanh", "The inverse of the hyperbolic tangent.";
    Floor = "floor", "The greatest whole number that is not greater.";
    Ceil = "ceil", "The least whole number that is not less.";
    Trunc = "trunc", "The whole part.";
    Round = "round", "The nearest whole number, of two the even one.";
    Sign = "sign", "-1, 0 or 1; NaN of NaN.";
    Signbit = "signbit", "Whether the sign bit is set.";
    Isnan = "isnan", "Whether the value is no number.";
    Isinf = "isinf", "Whether the value is infinite.";
    Isfinite = "isfinite", "Whether the value is a finite number.";
    LogicalNot = "logical_not", "Whether the value is false.";
    BitwiseInvert = "bitwise_invert", "All bits the other way round; of a boolean its one bit.";
    Reciprocal = "reciprocal", "1 divided by the value.";
}

named! {
    /// A function of two arguments.
    Binary:
    Add = "add", "The sum; whole numbers wrap.";
    Subtract = "subtract", "The difference; whole numbers wrap.";
    Multiply = "multiply", "The product; whole numbers wrap.";
    Divide = "divide", "The quotient of real numbers.";
    FloorDivide = "floor_divide", "The quotient rounded down; 0 of a whole number divided by 0.";
    Remainder = "remainder", "Remainder of `floor_divide`, with the sign of the divisor; 0 for a whole divisor of 0.";
    Pow = "pow", "The power; whole numbers wrap, and have exponents from 0 on.";
    Atan2 = "atan2", "The angle of the point whose ordinate is the first argument.";
    Hypot = "hypot", "The length of the hypotenuse.";
    Copysign = "copysign", "The first value with the sign of the second.";
    Nextafter = "nextafter", "The next number from the first towards the second.";
    Logaddexp = "logaddexp", "The logarithm of the sum of the exponentials.";
    Maximum = "maximum", "The greater one; NaN if either is.";
    Minimum = "minimum", "The lesser one; NaN if either is.";
    Equal = "equal", "Whether the values are equal.";
    NotEqual = "not_equal", "Whether the values differ.";
    Less = "less", "Whether the first is less.";
    LessEqual = "less_equal", "Whether the first is less or equal.";
    Greater = "greater", "Whether the first is greater.";
    GreaterEqual = "greater_equal", "Whether the first is greater or equal.";
    LogicalAnd = "logical_and", "Whether both are true.";
    LogicalOr = "logical_or", "Whether one is true.";
    LogicalXor = "logical_xor", "Whether exactly one is true.";
    BitwiseAnd = "bitwise_and", "The bits set in both.";
    BitwiseOr = "bitwise_or", "The bits set in either.";
    BitwiseXor = "bitwise_xor", "The bits set in exactly one.";
    BitwiseLeftShift = "bitwise_left_shift", "Bits moved up; 0 if by the width or more, or by less than 0.";
    BitwiseRightShift = "bitwise_right_shift", "Bits moved down, with the sign; as by the width - 1 if by more or less.";
}

impl Unary {
    /// The type of the result for an argument of a type; `None` if the function does not take that.
    pub fn result(self, of: ElementType) -> Option<ElementType> {
        use Unary::*;
        let (is_bool, is_real) = (of == ElementType::Bool, of.is_real());
        match self {
            Abs | Negative | Positive | Square | Floor | Ceil | Trunc | Round | Sign => (!is_bool).then_some(of),
            Sqrt | Exp | Expm1 | Log | Log1p | Log2 | Log10 | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh
            | Tanh | Asinh | Acosh | Atanh | Reciprocal => is_real.then_some(of),
            Signbit => is_real.then_some(ElementType::Bool),
            Isnan | Isinf | Isfinite => (!is_bool).then_some(ElementType::Bool),
            LogicalNot => is_bool.then_some(of),
            BitwiseInvert => (!is_real).then_some(of),
        }
    }
}

impl Binary {
    /// The type of the result for two arguments of a type; `None` if the function does not take that.
    pub fn result(self, of: ElementType) -> Option<ElementType> {
        use Binary::*;
        let (is_bool, is_real) = (of == ElementType::Bool, of.is_real());
        match self {
            Add | Subtract | Multiply | FloorDivide | Remainder | Pow | Maximum | Minimum => (!is_bool).then_some(of),
            Divide | Atan2 | Hypot | Copysign | Nextafter | Logaddexp => is_real.then_some(of),
            Equal | NotEqual => Some(ElementType::Bool),
            Less | LessEqual | Greater | GreaterEqual => (!is_bool).then_some(ElementType::Bool),
            LogicalAnd | LogicalOr | LogicalXor => is_bool.then_some(of),
            BitwiseAnd | BitwiseOr | BitwiseXor => (!is_real).then_some(of),
            BitwiseLeftShift | BitwiseRightShift => (!is_real && !is_bool).then_some(of),
        }
    }
}

/// The common type of two, by the table of the array API. There is none for `uint64` with whole numbers that have a
/// sign, for whole with real numbers, and for booleans with numbers.
pub fn promote(a: ElementType, b: ElementType) -> Option<ElementType> {
    use outcore_format::ElementType::*;
    if a == b {
        return Some(a);
    }
    let large = if a.bytes() <= b.bytes() { b } else { a };
    let both = |is: fn(ElementType) -> bool| is(a) && is(b);
    if both(ElementType::is_real) || both(ElementType::is_signed) || both(ElementType::is_unsigned) {
        return Some(large);
    }
    if a.is_real() || b.is_real() || a == Bool || b == Bool {
        return None;
    }
    let unsigned = if a.is_unsigned() { a } else { b };
    match unsigned.bytes() {
        bytes if bytes < large.bytes() => Some(large),
        1 => Some(Int16),
        2 => Some(Int32),
        4 => Some(Int64),
        _ => None,
    }
}

/// The common type of two, where the array API has none by the rules of NumPy: `float64` for `uint64` with whole
/// numbers that have a sign; of whole and real numbers `float32` only for `float32` with those of 8 and 16 bits, and
/// otherwise `float64`; of booleans and numbers that of the numbers.
pub fn promote_mixed(a: ElementType, b: ElementType) -> ElementType {
    use outcore_format::ElementType::*;
    promote(a, b).unwrap_or_else(|| match (a, b) {
        (Bool, other) | (other, Bool) => other,
        (Float32, whole) | (whole, Float32) if whole.bytes() <= 2 => Float32,
        _ => Float64,
    })
}
