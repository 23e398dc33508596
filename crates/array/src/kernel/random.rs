//! Random vectors whose element `i` depends on the seed and on `i` only, so that any part can be made at any time.
//!
//! The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
//! ten rounds turn a counter of 128 bits and a key of 64 bits, the seed, into 128 random bits. Two words of the counter
//! are the number `c` of the pair of elements `2 c` and `2 c + 1`, one is that of the distribution, and one comes from
//! the number of columns: so arrays of one seed but of other distributions or columns are independent.

use super::math;
use super::simd::{Loop, widest};

/// Counters that are computed at once: enough for the vectors of any processor.
const BLOCK: usize = 32;

/// The seed of random elements, and the number of the columns of their array, which tells streams of a seed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The seed.
    pub seed: u64,
    /// Number of columns; of more than 2^32 the low bits count.
    pub columns: u64,
}

impl Stream {
    /// The stream of a vector.
    pub fn of(seed: u64) -> Self {
        Stream { seed, columns: 1 }
    }
}

/// Ten rounds. Words of 32 bits are each in 64 bits, so that a processor multiplies several at once.
#[inline(always)]
pub fn philox(counter: [u64; 4], seed: u64) -> [u64; 4] {
    const LOW: u64 = 0xffff_ffff;
    let [mut a, mut b, mut c, mut d] = counter;
    let (mut key, mut other_key) = (seed & LOW, seed >> 32);
    for _ in 0..10 {
        let (first, second) = ((a & LOW) * 0xd251_1f53, (c & LOW) * 0xcd9e_8d57);
        (a, b, c, d) = ((second >> 32) ^ b ^ key, second & LOW, (first >> 32) ^ d ^ other_key, first & LOW);
        key = (key + 0x9e37_79b9) & LOW;
        other_key = (other_key + 0xbb67_ae85) & LOW;
    }
    [a, b, c, d]
}

/// A way to make elements out of random numbers.
trait Make {
    type Out: Copy + Default;
    /// The number of the distribution.
    const DISTRIBUTION: u64;

    fn make(&self, numbers: [u64; 2]) -> [Self::Out; 2];
}

struct Fill<'a, M: Make> {
    stream: Stream,
    first: u64,
    to: &'a mut [M::Out],
    make: M,
}

impl<M: Make> Loop for Fill<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut index, mut to) = (self.first, self.to);
        let columns = self.stream.columns.wrapping_sub(1) & 0xffff_ffff;
        while !to.is_empty() {
            let first = index / 2;
            let mut made = [[M::Out::default(); 2]; BLOCK];
            for (i, made) in (0..).zip(&mut made) {
                let counter = first.wrapping_add(i);
                let [a, b, c, d] =
                    philox([counter & 0xffff_ffff, counter >> 32, M::DISTRIBUTION, columns], self.stream.seed);
                *made = self.make.make([a | (b << 32), c | (d << 32)]);
            }
            let made = &made.as_flattened()[(index % 2) as usize..];
            let len = made.len().min(to.len());
            let (now, later) = to.split_at_mut(len);
            now.copy_from_slice(&made[..len]);
            (index, to) = (index.wrapping_add(len as u64), later);
        }
    }
}

/// The highest 53 bits as a number from 0 to below 1.
#[inline(always)]
fn unit(bits: u64) -> f64 {
    const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
    // Two exact conversions of halves: one of 64 bits is slow where vectors do not have it.
    let (high, low) = (bits >> 32, (bits >> 11) & 0x1f_ffff);
    let number = |x: u64| f64::from_bits(0x4330_0000_0000_0000 | x) - 4503599627370496.0;
    (number(high) * (1u64 << 21) as f64 + number(low)) * SCALE
}

/// Defines how a distribution makes elements of a type.
macro_rules! make {
    ($name:ident, $distribution:literal -> $out:ty: |$self:ident, $numbers:pat_param| $body:expr) => {
        impl Make for $name {
            type Out = $out;
            const DISTRIBUTION: u64 = $distribution;

            #[inline(always)]
            fn make(&$self, $numbers: [u64; 2]) -> [$out; 2] {
                $body
            }
        }
    };
}

struct Uniform;
make!(Uniform, 0 -> f64: |self, numbers| numbers.map(unit));

struct Normal;
make!(Normal, 1 -> f64: |self, [a, b]| {
    let radius = (-2.0 * math::log(1.0 - unit(a))).sqrt();
    let (sine, cosine) = math::sin_cos_turn(unit(b));
    [radius * cosine, radius * sine]
});

struct Exponential;
make!(Exponential, 2 -> f64: |self, [a, b]| [0.0 - math::log(1.0 - unit(a)), 0.0 - math::log(1.0 - unit(b))]);

struct Integers {
    low: i64,
    /// Number of elements to choose from.
    count: u64,
}
make!(Integers, 3 -> i64: |self, numbers| {
    numbers.map(|x| self.low.wrapping_add(((u128::from(x) * u128::from(self.count)) >> 64) as i64))
});

struct Bernoulli {
    probability: f64,
}
make!(Bernoulli, 4 -> u8: |self, numbers| numbers.map(|x| u8::from(unit(x) < self.probability)));

/// Fills a vector with elements `first` and so on of a stream: uniform in `[0, 1)`, of 53 random bits.
pub fn random_uniform(stream: Stream, first: u64, to: &mut [f64]) {
    widest(Fill { stream, first, to, make: Uniform });
}

/// Fills a vector with elements `first` and so on of a stream: normal with mean 0 and variance 1, elements
/// `2 c` and `2 c + 1` of the same pair of uniform numbers (Box and Muller 1958).
pub fn random_normal(stream: Stream, first: u64, to: &mut [f64]) {
    widest(Fill { stream, first, to, make: Normal });
}

/// Fills a vector with elements `first` and so on of a stream: exponential with mean 1.
pub fn random_exponential(stream: Stream, first: u64, to: &mut [f64]) {
    widest(Fill { stream, first, to, make: Exponential });
}

/// Fills a vector with elements `first` and so on of a stream: whole numbers from `low` to below `high`. Of
/// `n` numbers the most likely and the least likely one differ by a part of `n / 2^64`.
///
/// # Panics
/// If there is no such number.
pub fn random_integers(stream: Stream, first: u64, low: i64, high: i64, to: &mut [i64]) {
    assert!(low < high, "random numbers from {low} to below {high}");
    let make = Integers { low, count: high.wrapping_sub(low) as u64 };
    widest(Fill { stream, first, to, make });
}

/// Fills a vector of booleans with elements `first` and so on of a stream: true with a probability.
pub fn random_bernoulli(stream: Stream, first: u64, probability: f64, to: &mut [u8]) {
    widest(Fill { stream, first, to, make: Bernoulli { probability } });
}
