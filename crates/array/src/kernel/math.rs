//! Exponentials, logarithms, sines and cosines, and functions composed of them, that a compiler can vectorise: no
//! branches, no tables, no calls.
//!
//! Arguments are reduced, and polynomials evaluated, as in Sun's fdlibm (`e_exp.c`, `e_log.c`, `k_sin.c`, `k_cos.c`,
//! `e_rem_pio2.c`; K. C. Ng, 1993) and in FreeBSD's `e_log2.c` and `e_log10.c`, from which the coefficients are. Over
//! millions of values results are at most 1 number off those of the C library, for `expm1`, `log10`, `sinh` and `cosh`
//! 2 and for `tanh` 3. Sums and products are rounded apart: so the bits are the same on every processor. Values of
//! `f32` are computed in `f64`.
#![allow(clippy::excessive_precision)] // why: coefficients as they are published

/// Added to a small number, this leaves its nearest whole number in the low bits.
const MAGIC: f64 = 6755399441055744.0;
const LN2_HIGH: f64 = 6.93147180369123816490e-01;
const LN2_LOW: f64 = 1.90821492927058770002e-10;

/// The nearest whole number of one below 2^51, as a number and as bits of which the low 32 count.
#[inline(always)]
fn nearest(x: f64) -> (f64, u64) {
    let moved = x + MAGIC;
    (moved - MAGIC, moved.to_bits())
}

/// The exponential function less 1 of what `k` times the logarithm of 2 leaves of a number, and the bits of `k`.
#[inline(always)]
fn exp_parts(x: f64) -> (f64, f64, u64) {
    let (k, bits) = nearest(x * std::f64::consts::LOG2_E);
    let (high, low) = (x - k * LN2_HIGH, k * LN2_LOW);
    let r = high - low;
    let t = r * r;
    let p = 4.13813679705723846039e-08;
    let p = -1.65339022054652515390e-06 + t * p;
    let p = 6.61375632143793436117e-05 + t * p;
    let p = -2.77777777770155933842e-03 + t * p;
    let p = 1.66666666666666019037e-01 + t * p;
    let c = r - t * p;
    (r * c / (2.0 - c) - low, high, bits)
}

/// 2 to the power of a number from -1022 on, of which the low bits count.
#[inline(always)]
fn power(k: u64) -> f64 {
    f64::from_bits(k.wrapping_add(1023) << 52)
}

/// A number times 2 to the power of the low 32 bits, which are from -2100 to 2000. It is multiplied twice, each time by
/// a normal number: so results below these are rounded once.
#[inline(always)]
fn scaled(x: f64, bits: u64) -> f64 {
    let biased = bits.wrapping_add(1 << 12) & 0xffff_ffff;
    let half = biased >> 1;
    x * power(half.wrapping_sub(1 << 11)) * power((biased - half).wrapping_sub(1 << 11))
}

/// The exponential function.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Past these bounds the result is infinite or 0 anyway; NaN passes.
    let bounded = if x > 710.0 { 710.0 } else { x };
    let bounded = if bounded < -746.0 { -746.0 } else { bounded };
    let (low, high, bits) = exp_parts(bounded);
    scaled(1.0 + (low + high), bits)
}

/// The exponential function less 1.
#[inline(always)]
pub(crate) fn expm1(x: f64) -> f64 {
    // Below these bounds it is -1.
    let bounded = if x > 710.0 { 710.0 } else { x };
    let bounded = if bounded < -40.0 { -40.0 } else { bounded };
    let (low, high, bits) = exp_parts(bounded);
    // 2^k (e^r - 1) + 2^k - 1; for a k above 60, 2^-k is below the precision.
    let k = (bits & 0xffff_ffff) as u32 as i32;
    let k = if k > 60 { 60 } else { k };
    let y = scaled((low + high) + (1.0 - power(k.wrapping_neg() as i64 as u64)), bits);
    // The sign of zero stays.
    if x == 0.0 { x } else { y }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    let size = x.abs();
    let bounded = if size > 22.0 { 22.0 } else { size };
    let t = expm1(2.0 * bounded);
    let y = if size < 1.0 { t / (t + 2.0) } else { 1.0 - 2.0 / (t + 2.0) };
    y.copysign(x)
}

/// Beyond this size [`sinh`] and [`cosh`] are wrong.
pub(crate) const MOST_HYPERBOLIC: f64 = 709.0;

/// The hyperbolic sine of a number whose size is at most [`MOST_HYPERBOLIC`].
#[inline(always)]
pub(crate) fn sinh(x: f64) -> f64 {
    let t = expm1(x.abs());
    let small = 2.0 * t - t * t / (t + 1.0);
    let large = t + t / (t + 1.0);
    (0.5 * if t < 1.0 { small } else { large }).copysign(x)
}

/// The hyperbolic cosine of a number whose size is at most [`MOST_HYPERBOLIC`].
#[inline(always)]
pub(crate) fn cosh(x: f64) -> f64 {
    let t = exp(x.abs());
    0.5 * t + 0.5 / t
}

/// A number above 0 as `2^k (1 + f)`, where `1 + f` is near 1, and the logarithm of that as `f - half_square + rest`.
struct LogParts {
    k: f64,
    f: f64,
    half_square: f64,
    rest: f64,
}

#[inline(always)]
fn log_parts(x: f64) -> LogParts {
    // Numbers below the normal ones are made normal.
    let is_small = x < f64::MIN_POSITIVE;
    let scaled = if is_small { x * 18014398509481984.0 } else { x };
    let correction = if is_small { 54.0 } else { 0.0 };
    // sqrt(1/2) < 1 + f < sqrt(2). The bits of k are biased, so that they are never below 0.
    let bits = scaled.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - 0x3fe6_a09e_0000_0000);
    let exponent = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - 4503599627370496.0;
    let k = exponent - 1023.0 - correction;
    let f = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(0x3fe6_a09e_0000_0000)) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    let odd = 1.818357216161805012e-01 + w * 1.479819860511658591e-01;
    let odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * odd));
    LogParts { k, f, half_square, rest: s * (half_square + (odd + even)) }
}

/// The logarithm of a number, unless there is none: that of 0, of infinity, and of what is no number or below 0.
#[inline(always)]
fn log_or_special(x: f64, y: f64) -> f64 {
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn log(x: f64) -> f64 {
    let LogParts { k, f, half_square, rest } = log_parts(x);
    log_or_special(x, k * LN2_HIGH - ((half_square - (rest + k * LN2_LOW)) - f))
}

/// The natural logarithm of 1 and a number.
#[inline(always)]
pub(crate) fn log1p(x: f64) -> f64 {
    let u = 1.0 + x;
    // The rounding error of the sum, times the derivative.
    let y = log(u) - ((u - 1.0) - x) / u;
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == -1.0 { f64::NEG_INFINITY } else { y };
    if x == 0.0 { x } else { y }
}

/// The logarithm to a base: the inverse of the base's and the base's of 2 are in two parts each.
#[inline(always)]
fn log_to_base(x: f64, inverse: (f64, f64), of_2: (f64, f64)) -> f64 {
    let LogParts { k, f, half_square, rest } = log_parts(x);
    // Half of the bits, whose products are exact.
    let high = f64::from_bits((f - half_square).to_bits() & 0xffff_ffff_0000_0000);
    let low = (f - high) - half_square + rest;
    let main = high * inverse.0;
    let other = k * of_2.1 + (low + high) * inverse.1 + low * inverse.0;
    let whole = k * of_2.0;
    let sum = whole + main;
    log_or_special(x, (other + ((whole - sum) + main)) + sum)
}

/// The logarithm to base 2.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    log_to_base(x, (1.44269504072144627571e+00, 1.67517131648865118353e-10), (1.0, 0.0))
}

/// The logarithm to base 10.
#[inline(always)]
pub(crate) fn log10(x: f64) -> f64 {
    let inverse = (4.34294481878168880939e-01, 2.50829467116452752298e-11);
    log_to_base(x, inverse, (3.01029995663611771306e-01, 3.69423907715893078616e-13))
}

/// The sine of `x + low`, of at most a quarter of pi.
#[inline(always)]
fn sine(x: f64, low: f64) -> f64 {
    let z = x * x;
    let w = z * z;
    let r = 8.33333333332248946124e-03
        + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06)
        + z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    let v = z * x;
    x - ((z * (0.5 * low - v * r) - low) - v * -1.66666666666666324348e-01)
}

/// The cosine of `x + low`, of at most a quarter of pi.
#[inline(always)]
fn cosine(x: f64, low: f64) -> f64 {
    let z = x * x;
    let w = z * z;
    let r = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05))
        + w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    let half = 0.5 * z;
    let w = 1.0 - half;
    w + (((1.0 - w) - half) + (z * r - x * low))
}

/// Beyond this size [`sin`] and [`cos`] are wrong.
pub(crate) const MOST_ANGLE: f64 = 500_000.0;

/// The sine and the cosine of `x + low` turned by a number of quarters, of which the low bits count.
#[inline(always)]
fn turned(x: f64, low: f64, quarters: u64) -> (f64, f64) {
    let (s, c) = (sine(x, low).to_bits(), cosine(x, low).to_bits());
    let is_odd = (quarters & 1).wrapping_neg();
    let swapped = (s ^ c) & is_odd;
    let negative = |quarters: u64| (quarters & 2) << 62;
    let sine = (s ^ swapped) ^ negative(quarters);
    let cosine = (c ^ swapped) ^ negative(quarters.wrapping_add(1));
    (f64::from_bits(sine), f64::from_bits(cosine))
}

/// The remainder of an angle by quarters of a turn, as the sum of two numbers, and the number of quarters.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64, u64) {
    let (n, bits) = nearest(x * std::f64::consts::FRAC_2_PI);
    // A half of pi in parts of 33 bits, whose products with n are exact, and what is left.
    let (first, second, third, rest) = (
        1.57079632673412561417e+00,
        6.07710050630396597660e-11,
        2.02226624871116645580e-21,
        8.47842766036889956997e-32,
    );
    let t = x - n * first;
    let r = t - n * second;
    let w = n * second - (t - r);
    let t = r;
    let w2 = n * third + w;
    let r = t - w2;
    let w = n * rest - ((t - r) - w2);
    let y = r - w;
    (y, (r - y) - w, bits)
}

/// The sine of an angle whose size is at most [`MOST_ANGLE`].
#[inline(always)]
pub(crate) fn sin(x: f64) -> f64 {
    let (y, low, quadrant) = reduced(x);
    let value = turned(y, low, quadrant).0;
    // The sign of zero stays.
    if x == 0.0 { x } else { value }
}

/// The cosine of an angle whose size is at most [`MOST_ANGLE`].
#[inline(always)]
pub(crate) fn cos(x: f64) -> f64 {
    let (y, low, quadrant) = reduced(x);
    turned(y, low, quadrant).1
}

/// The sine and the cosine of a part of a turn from 0 to 1.
#[inline(always)]
pub(crate) fn sin_cos_turn(turn: f64) -> (f64, f64) {
    let (quarters, quadrant) = nearest(turn * 4.0);
    turned((turn * 4.0 - quarters) * std::f64::consts::FRAC_PI_2, 0.0, quadrant)
}

/// The whole part of a number, or what is nearest to it of a range of at most 32 bits; 0 of NaN.
#[inline(always)]
pub(crate) fn to_whole(x: f64, least: f64, most: f64) -> u64 {
    let bounded = if x > most { most } else { x };
    let bounded = if bounded < least { least } else { bounded };
    let bounded = if x.is_nan() { 0.0 } else { bounded };
    nearest(bounded.trunc()).1
}

/// The size of the whole part of a number below 2^64.
#[inline(always)]
fn size(x: f64) -> u64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    let mantissa = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    // One of the two shifts is by 0; by 63 or more nothing is left.
    let (up, down) = (exponent.saturating_sub(1075).min(63), 1075u64.saturating_sub(exponent).min(63));
    (mantissa << up) >> down
}

/// The whole part of a number, or what is nearest to it; 0 of NaN.
#[inline(always)]
pub(crate) fn to_i64(x: f64) -> i64 {
    let size = size(x) as i64;
    let value = if x < 0.0 { size.wrapping_neg() } else { size };
    let value = if x >= 9223372036854775808.0 { i64::MAX } else { value };
    let value = if x <= -9223372036854775808.0 { i64::MIN } else { value };
    if x.is_nan() { 0 } else { value }
}

/// The whole part of a number, or what is nearest to it; 0 of NaN.
#[inline(always)]
pub(crate) fn to_u64(x: f64) -> u64 {
    let value = if x >= 18446744073709551616.0 { u64::MAX } else { size(x) };
    if x >= 0.0 { value } else { 0 }
}
