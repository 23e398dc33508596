//! Elements that tests of the functions of vectors take, and how these are compared.

use outcore_array::kernel::{Element, Scalar, Values, ValuesMut};

/// Lengths of vectors: around the lanes, and around what the interpreter uses.
pub const LENGTHS: [usize; 10] = [0, 1, 7, 8, 9, 31, 32, 33, 507, 508];

/// Numbers that are anything: a xorshift generator (Marsaglia 2003).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Values at the edges of a type.
pub trait Edges: Element + std::fmt::Debug {
    fn edges() -> Vec<Self>;

    /// Edges first, then anything.
    fn vector(len: usize, seed: u64) -> Vec<Self> {
        let mut noise = Noise(seed * 2 + 1);
        let edges = Self::edges();
        let mut any = || match noise.next() % 2 {
            0 => edges[(noise.next() % edges.len() as u64) as usize],
            _ => Self::from_scalar(Scalar::Float64((noise.next() % 2001) as f64 / 8.0 - 125.0)),
        };
        let vector: Vec<Self> = (0..len).map(|_| any()).collect();
        vector
    }

    fn values(x: &[Self]) -> Values<'_> {
        Values::from_bytes(Self::TYPE, bytemuck::cast_slice(x))
    }

    fn values_mut(x: &mut [Self]) -> ValuesMut<'_> {
        ValuesMut::from_bytes(Self::TYPE, bytemuck::cast_slice_mut(x))
    }

    /// Whether two values have the same bits, or are both NaN.
    #[expect(clippy::eq_op)]
    fn same(a: Self, b: Self) -> bool {
        bytemuck::bytes_of(&a) == bytemuck::bytes_of(&b) || a != a && b != b
    }
}

macro_rules! edges {
    ($($type:ty)*) => {$(
        impl Edges for $type {
            fn edges() -> Vec<$type> {
                let half = <$type>::BITS as $type / 2;
                let wide = <$type>::BITS as $type;
                let (min, max) = (<$type>::MIN, <$type>::MAX);
                vec![0, 1, (0 as $type).wrapping_sub(1), 2, 3, 7, min, max, min + 1, max - 1, half, wide, wide - 1, wide + 1]
            }
        }
    )*};
}
edges!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! real_edges {
    ($($type:ty)*) => {$(
        impl Edges for $type {
            fn edges() -> Vec<$type> {
                let (tiny, most) = (<$type>::MIN_POSITIVE, <$type>::MAX);
                let mut edges = vec![
                    0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 1e-5, 10.0, 88.8, 127.5, 128.0, 255.0, 256.0, 65535.9, 1e9, 3e9,
                    9.3e18, 1.9e19, tiny, tiny / 3.0, most, <$type>::INFINITY, <$type>::EPSILON, 4503599627370497.5,
                    1.0 - <$type>::EPSILON, 700000.0, std::f64::consts::PI as $type,
                ];
                edges.extend(edges.clone().iter().map(|x| -x));
                edges.push(<$type>::NAN);
                edges
            }
        }
    )*};
}
real_edges!(f32 f64);

/// Upper bound of the number of values of a type between two; 0 for equal bits or two NaN.
pub fn distance(a: f64, b: f64) -> u64 {
    let place = |x: f64| match x.to_bits() as i64 {
        bits if bits < 0 => i64::MIN.wrapping_sub(bits),
        bits => bits,
    };
    if a.is_nan() && b.is_nan() {
        return 0;
    }
    if a.is_nan() || b.is_nan() { u64::MAX } else { place(a).abs_diff(place(b)) }
}
