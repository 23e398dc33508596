//! Results have the same bits at every level of vector instructions. The level is that of the process, so this test is
//! alone in its program.

// Levels are compared with each other, and with nothing else.
#[allow(dead_code)]
#[path = "all/kernels/elements.rs"]
mod elements;

use elements::Edges;
use outcore_array::ElementType;
use outcore_array::kernel::*;
use outcore_io::simd::{Simd, limit};

/// Adds the bits of a vector to those that are compared, NaN as one value.
fn keep<T: Edges>(bits: &mut Vec<u8>, x: &[T]) {
    for &x in x {
        #[expect(clippy::eq_op)]
        match x == x {
            true => bits.extend(bytemuck::bytes_of(&x)),
            false => bits.push(0xff),
        }
    }
}

fn all_of<T: Edges>(bits: &mut Vec<u8>) {
    let (x, y) = (T::vector(507, 1), T::vector(507, 2));
    let (a, b) = (T::values(&x), T::values(&y));
    let mut to = vec![T::default(); 507];
    for function in Unary::ALL.iter().filter(|function| function.result(T::TYPE) == Some(T::TYPE)) {
        unary(*function, a, T::values_mut(&mut to));
        keep(bits, &to);
    }
    for function in Binary::ALL.iter().filter(|function| function.result(T::TYPE) == Some(T::TYPE)) {
        for b in [Argument::Vector(b), Argument::Scalar(b.get(100))] {
            binary(*function, Argument::Vector(a), b, T::values_mut(&mut to));
            keep(bits, &to);
            binary(*function, b, Argument::Vector(a), T::values_mut(&mut to));
            keep(bits, &to);
        }
    }
    for fold in [Fold::Sum, Fold::Product, Fold::Min, Fold::Max] {
        keep(bits, &[T::from_scalar(reduce(fold, a.slice(60, 400), identity(fold, T::TYPE)))]);
        let x: Vec<T> = (0..507).map(|i| T::from_scalar(Scalar::Float64(0.3 + 1.0 / (i + 1) as f64))).collect();
        keep(bits, &[T::from_scalar(reduce(fold, T::values(&x), identity(fold, T::TYPE)))]);
    }
    for element in ElementType::ALL {
        let mut to = vec![0u64; 507];
        let to = &mut bytemuck::cast_slice_mut(&mut to)[..507 * element.bytes()];
        cast(a, ValuesMut::from_bytes(element, to));
        match element {
            ElementType::Float32 => keep(bits, bytemuck::cast_slice::<u8, f32>(to)),
            ElementType::Float64 => keep(bits, bytemuck::cast_slice::<u8, f64>(to)),
            _ => keep(bits, to),
        }
    }
}

fn everything() -> Vec<u8> {
    let mut bits = Vec::new();
    macro_rules! all {
        ($($type:ty)*) => { $(all_of::<$type>(&mut bits);)* };
    }
    all!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    let mut to = vec![0.0; 1000];
    random_normal(Stream::of(5), 3, &mut to);
    keep(&mut bits, &to);
    let moments = moments(Values::Float64(&to));
    keep(&mut bits, &[moments.mean, moments.m2]);
    random_exponential(Stream::of(5), 3, &mut to);
    keep(&mut bits, &to);
    random_uniform(Stream::of(5), 3, &mut to);
    keep(&mut bits, &to);
    bits
}

#[test]
fn results_have_the_same_bits_at_every_level() {
    let widest = everything();
    for level in [Simd::Baseline, Simd::Avx2] {
        limit(level);
        let found = everything();
        let first = (0..widest.len()).find(|&i| found.get(i) != widest.get(i));
        assert_eq!((first, found.len()), (None, widest.len()), "{level:?}");
    }
}
