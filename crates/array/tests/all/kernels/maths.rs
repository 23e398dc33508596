//! Exponentials, logarithms, sines and cosines against those of the C library, on many values.

use super::*;

/// The most numbers that lie between a function and that of the C library, over numbers made of random bits.
fn most_distance(function: Unary, reference: fn(f64) -> f64, make: impl Fn(u64) -> f64, count: usize) -> u64 {
    let mut noise = Noise(99);
    let mut to = vec![0.0; 508];
    let mut most = 0;
    for _ in 0..count / 508 {
        let x: Vec<f64> = (0..508).map(|_| make(noise.next())).collect();
        unary(function, Values::Float64(&x), ValuesMut::Float64(&mut to));
        for (&x, &y) in x.iter().zip(&to) {
            most = most.max(distance(reference(x), y));
        }
    }
    most
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

type Reference = fn(f64) -> f64;
type Make = fn(u64) -> f64;

#[test]
fn functions_are_near_those_of_the_c_library() {
    let any: fn(u64) -> f64 = f64::from_bits;
    let count = 1_000_000;
    let cases: [(Unary, Reference, Make, u64); 17] = [
        (Unary::Exp, f64::exp, |bits| unit(bits) * 1500.0 - 760.0, 1),
        (Unary::Exp, f64::exp, |bits| unit(bits) * 2.0 - 1.0, 1),
        (Unary::Expm1, f64::exp_m1, |bits| unit(bits) * 1500.0 - 760.0, 1),
        (Unary::Expm1, f64::exp_m1, |bits| unit(bits) * 2.0 - 1.0, 2),
        (Unary::Log, f64::ln, any, 1),
        (Unary::Log, f64::ln, |bits| unit(bits) * 2.0, 1),
        (Unary::Log1p, f64::ln_1p, any, 1),
        (Unary::Log1p, f64::ln_1p, |bits| unit(bits) * 2.0 - 1.0, 2),
        (Unary::Log2, f64::log2, any, 1),
        (Unary::Log2, f64::log2, |bits| unit(bits) * 2.0, 1),
        (Unary::Log10, f64::log10, |bits| unit(bits) * 2000.0, 2),
        (Unary::Sin, f64::sin, |bits| unit(bits) * 20.0 - 10.0, 1),
        (Unary::Sin, f64::sin, |bits| unit(bits) * 1.2e6 - 6e5, 1),
        (Unary::Cos, f64::cos, |bits| unit(bits) * 1.2e6 - 6e5, 1),
        (Unary::Tanh, f64::tanh, |bits| unit(bits) * 50.0 - 25.0, 3),
        (Unary::Sinh, f64::sinh, |bits| unit(bits) * 10.0 - 5.0, 2),
        (Unary::Cosh, f64::cosh, |bits| unit(bits) * 1430.0 - 715.0, 2),
    ];
    let mut faults = 0;
    for (i, (function, reference, make, places)) in cases.into_iter().enumerate() {
        let most = most_distance(function, reference, make, count);
        println!("case {i}: {} is {most} places off, at most {places}", function.name());
        faults += usize::from(most > places);
    }
    assert_eq!(faults, 0, "functions that are too far off");
    for (function, reference) in [(Unary::Exp, f64::exp as Reference), (Unary::Sin, f64::sin)] {
        assert!(most_distance(function, reference, any, count) <= 1, "{}", function.name());
    }
}

#[test]
fn random_elements_depend_on_seed_and_index_only() {
    let mut whole = vec![0.0; 1000];
    for make in [random_uniform, random_normal, random_exponential] {
        make(Stream::of(42), 0, &mut whole);
        for (first, len) in [(0, 1), (1, 1), (1, 508), (63, 64), (64, 65), (491, 509)] {
            let mut part = vec![0.0; len];
            make(Stream::of(42), first as u64, &mut part);
            assert_eq!(part, whole[first..first + len]);
        }
        let mut other = vec![0.0; 1000];
        make(Stream::of(43), 0, &mut other);
        assert!(whole.iter().zip(&other).all(|(a, b)| a != b));
    }
    // Distributions and columns have streams of their own.
    let [uniform, normal, exponential, columns] = [random_uniform, random_normal, random_exponential, random_uniform]
        .map(|make: fn(Stream, u64, &mut [f64])| {
            make(Stream { seed: 42, columns: 3 }, 0, &mut whole);
            whole.clone()
        });
    random_uniform(Stream::of(42), 0, &mut whole);
    assert_eq!(uniform, columns);
    assert!(whole.iter().zip(&uniform).all(|(a, b)| a != b));
    assert!(uniform.iter().zip(&exponential).all(|(a, b)| (-(1.0 - a).ln() - b).abs() > 1e-15));
    assert!(normal.iter().zip(&uniform).all(|(a, b)| a != b));
    let (mut integers, mut part) = (vec![0; 1000], vec![0; 500]);
    random_integers(Stream::of(42), 0, -3, 4, &mut integers);
    random_integers(Stream::of(42), 333, -3, 4, &mut part);
    assert_eq!(part, integers[333..833]);
    let mut end = [0.0; 4];
    random_uniform(Stream::of(42), u64::MAX - 1, &mut end);
}

#[test]
fn random_elements_have_their_distributions() {
    let mut x = vec![0.0; 1_000_000];
    let statistics = |x: &[f64]| {
        let found = moments(Values::Float64(x));
        (found.mean, found.m2 / found.count)
    };
    type Random = fn(Stream, u64, &mut [f64]);
    let cases: [(Random, f64, f64, f64); 3] = [
        (random_uniform, 0.5, 1.0 / 12.0, 0.0),
        (random_normal, 0.0, 1.0, f64::NEG_INFINITY),
        (random_exponential, 1.0, 1.0, 0.0),
    ];
    for (make, mean, variance, least) in cases {
        make(Stream::of(7), 12345, &mut x);
        let (found, found_variance) = statistics(&x);
        assert!((found - mean).abs() < 5e-3 && (found_variance - variance).abs() < 1e-2, "{found} {found_variance}");
        assert!(x.iter().all(|x| x.is_finite() && *x >= least));
    }
    random_normal(Stream::of(7), 0, &mut x);
    let beyond = x.iter().filter(|x| x.abs() > 1.959964).count() as f64 / 1e6;
    assert!((beyond - 0.05).abs() < 1e-3, "{beyond}");
    let mut integers = vec![0; 700_000];
    random_integers(Stream::of(1), 0, -3, 4, &mut integers);
    for value in -3..4 {
        let count = integers.iter().filter(|&&x| x == value).count();
        assert!(count.abs_diff(100_000) < 1500, "{value}: {count}");
    }
    random_integers(Stream::of(1), 0, i64::MIN, i64::MAX, &mut integers);
    assert!(integers.iter().any(|&x| x < -(1 << 62)) && integers.iter().any(|&x| x > 1 << 62));
    let mut bool = vec![0; 1_000_000];
    random_bernoulli(Stream::of(1), 0, 0.3, &mut bool);
    assert!((count_nonzero(Values::Bool(&bool)) - 300_000).abs() < 2500);
    random_bernoulli(Stream::of(1), 0, 0.0, &mut bool);
    assert_eq!(count_nonzero(Values::Bool(&bool)), 0);
    random_bernoulli(Stream::of(1), 0, 1.0, &mut bool);
    assert_eq!(count_nonzero(Values::Bool(&bool)), 1_000_000);
}
