//! Folds, extremes, moments and counts against naive ones.

use super::*;

/// Folds two elements.
fn step<T: Edges>(fold: Fold, a: T, b: T) -> T {
    let function = match fold {
        Fold::Sum => Binary::Add,
        Fold::Product => Binary::Multiply,
        Fold::Min => Binary::Minimum,
        _ => Binary::Maximum,
    };
    let mut to = [T::default()];
    let operands = [a, b].map(|x| Argument::Scalar(x.scalar()));
    binary(function, operands[0], operands[1], T::values_mut(&mut to));
    to[0]
}

/// The order that `fold.rs` documents, naively.
fn in_order<T: Edges>(fold: Fold, x: &[T], start: T) -> T {
    let step = |a, b| step(fold, a, b);
    let whole = x.len() / 32 * 32;
    let lane = |lane: usize| {
        let terms: Vec<T> = (0..whole).filter(|i| i % 32 == lane).map(|i| x[i]).collect();
        terms[1..].iter().fold(terms[0], |sum, &x| step(sum, x))
    };
    let mut total = start;
    if whole > 0 {
        let mut lanes: Vec<T> = (0..32).map(lane).collect();
        while lanes.len() > 1 {
            let (first, second) = lanes.split_at(lanes.len() / 2);
            lanes = first.iter().zip(second).map(|(&a, &b)| step(a, b)).collect();
        }
        total = step(total, lanes[0]);
    }
    x[whole..].iter().fold(total, |total, &x| step(total, x))
}

fn folds_of<T: Edges>() {
    for fold in [Fold::Sum, Fold::Product, Fold::Min, Fold::Max] {
        assert_eq!((fold.result(T::TYPE), fold.result(ElementType::Bool)), (Some(T::TYPE), None));
        for (len, seed) in LENGTHS.into_iter().flat_map(|len| [(len, 1), (len, 2), (len, 3)]) {
            // Without infinities and the like for the first seed, so that digits count.
            let x = match seed {
                1 => (0..len).map(|i| T::from_scalar(Scalar::Float64(1.0 / (i + 3) as f64 + (i % 3) as f64))).collect(),
                seed => T::vector(len, seed),
            };
            let start = T::from_scalar(identity(fold, T::TYPE));
            let expected = in_order(fold, &x, start);
            let found = T::from_scalar(reduce(fold, T::values(&x), start.scalar()));
            // The sign of an extreme zero is not fixed.
            let is_zero = matches!(fold, Fold::Min | Fold::Max) && found == expected;
            assert!(T::same(found, expected) || is_zero, "{} {len}: {found:?} {expected:?}", fold.name());
            let y = T::vector(len, seed + 10);
            let mut to = y.clone();
            accumulate(fold, T::values(&x), T::values_mut(&mut to));
            for i in 0..len {
                assert!(T::same(to[i], step(fold, y[i], x[i])), "{} {:?} {:?}", fold.name(), y[i], x[i]);
            }
        }
    }
    arguments_of::<T>();
}

fn arguments_of<T: Edges>() {
    for (len, seed) in LENGTHS[1..].iter().flat_map(|&len| [(len, 4), (len, 5), (len, 6)]) {
        let mut x = T::vector(len + 1, seed);
        x[0] = T::default();
        if seed == 4 {
            x.retain(|x| !x.scalar().to_f64().is_nan());
        }
        for is_max in [false, true] {
            #[expect(clippy::eq_op)]
            let best = (0..x.len()).reduce(|best, i| {
                let better = if is_max { x[i] > x[best] } else { x[i] < x[best] };
                if x[best] == x[best] && (better || x[i] != x[i]) { i } else { best }
            });
            let (value, index) = arg_reduce(is_max, T::values(&x));
            assert_eq!(Some(index), best, "{:?}", T::TYPE);
            assert!(T::same(T::from_scalar(value), x[index]));
        }
    }
    for is_max in [false, true] {
        let rows: Vec<Vec<T>> = (0..5).map(|row| T::vector(77, row + 20)).collect();
        let (mut best, mut best_index) = (rows[0].clone(), vec![0; 77]);
        for (i, row) in (1..).zip(&rows[1..]) {
            arg_accumulate(is_max, i, T::values(row), T::values_mut(&mut best), &mut best_index);
        }
        for column in 0..77 {
            let x: Vec<T> = rows.iter().map(|row| row[column]).collect();
            let (value, index) = arg_reduce(is_max, T::values(&x));
            assert_eq!(best_index[column], index as i64);
            assert!(T::same(best[column], T::from_scalar(value)));
        }
    }
}

#[test]
fn folds_keep_the_order_that_is_documented() {
    for_each_number!(folds_of);
}

#[test]
fn folds_of_nothing_and_of_booleans() {
    assert_eq!(identity(Fold::Min, ElementType::Int16), Scalar::Int16(i16::MAX));
    assert_eq!(identity(Fold::Max, ElementType::Int64), Scalar::Int64(i64::MIN));
    assert_eq!(identity(Fold::Max, ElementType::UInt8), Scalar::UInt8(0));
    assert_eq!(identity(Fold::Min, ElementType::UInt64), Scalar::UInt64(u64::MAX));
    assert_eq!(identity(Fold::Min, ElementType::Float32), Scalar::Float32(f32::INFINITY));
    assert_eq!(identity(Fold::All, ElementType::Bool), Scalar::Bool(1));
    assert_eq!(identity(Fold::Product, ElementType::Int8), Scalar::Int8(1));
    for len in LENGTHS {
        for place in 0..len.min(20) {
            let mut x = vec![0; len];
            x[place] = 1;
            assert_eq!(reduce(Fold::Any, Values::Bool(&x), Scalar::Bool(0)), Scalar::Bool(1));
            assert_eq!(count_nonzero(Values::Bool(&x)), 1);
            x.iter_mut().for_each(|x| *x ^= 1);
            assert_eq!(reduce(Fold::All, Values::Bool(&x), Scalar::Bool(1)), Scalar::Bool(0));
            let mut to = vec![1; len];
            accumulate(Fold::All, Values::Bool(&x), ValuesMut::Bool(&mut to));
            assert_eq!(to, x);
        }
        assert_eq!(reduce(Fold::Any, Values::Bool(&vec![0; len]), Scalar::Bool(0)), Scalar::Bool(0));
        assert_eq!(reduce(Fold::All, Values::Bool(&vec![1; len]), Scalar::Bool(1)), Scalar::Bool(1));
    }
}

fn counts_of<T: Edges>() {
    for len in LENGTHS {
        let x = T::vector(len, 9);
        let expected = x.iter().filter(|&&x| x != T::default()).count();
        assert_eq!(count_nonzero(T::values(&x)), expected as i64);
    }
    assert_eq!(count_nonzero(T::values(&[T::from_scalar(Scalar::UInt8(1)); 5000])), 5000);
}

#[test]
fn counts_are_those_of_a_filter() {
    for_each_number!(counts_of);
}

#[test]
fn moments_of_parts_make_those_of_the_whole() {
    let x: Vec<f64> = (0..3000).map(|i| 1e6 + f64::from(i * i % 1009)).collect();
    let mean = x.iter().sum::<f64>() / 3000.0;
    let m2: f64 = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    for len in [1, 7, 8, 9, 508, 3000] {
        let parts = x.chunks(len).map(|x| moments(Values::Float64(x)));
        let single = single.chunks(len).map(|x| moments(Values::Float32(x)));
        for found in [parts.fold(Moments::default(), Moments::merge), single.fold(Moments::default(), Moments::merge)] {
            assert_eq!(found.count, 3000.0);
            assert!((found.mean / mean - 1.0).abs() < 1e-14 && (found.m2 / m2 - 1.0).abs() < 1e-12, "{found:?}");
        }
    }
    assert_eq!(moments(Values::Float64(&[])), Moments::default());
    assert_eq!(moments(Values::Float32(&[2.5])), Moments { count: 1.0, mean: 2.5, m2: 0.0 });
}

#[test]
fn terms_are_added_to_sums() {
    type Add = fn(Argument<'_>, Argument<'_>, ValuesMut<'_>);
    type Term = fn(f64, f64) -> f64;
    let cases: [(Add, Term); 4] = [
        (accumulate_product, |a, b| a * b),
        (accumulate_squared_difference, |a, b| (a - b) * (a - b)),
        (accumulate_absolute_difference, |a, b| (a - b).abs()),
        (accumulate_not_equal, |a, b| f64::from(u8::from(a != b))),
    ];
    for len in LENGTHS {
        let (x, y, z) = (f64::vector(len, 1), f64::vector(len, 2), f64::vector(len, 3));
        for (add, term) in cases {
            for form in 0..4 {
                let a =
                    if form & 1 == 0 { Argument::Vector(Values::Float64(&x)) } else { Argument::Scalar(0.1.scalar()) };
                let b =
                    if form & 2 == 0 { Argument::Vector(Values::Float64(&y)) } else { Argument::Scalar(3.7.scalar()) };
                let mut to = z.clone();
                add(a, b, ValuesMut::Float64(&mut to));
                for i in 0..len {
                    let (a, b) = (if form & 1 == 0 { x[i] } else { 0.1 }, if form & 2 == 0 { y[i] } else { 3.7 });
                    assert!(f64::same(to[i], z[i] + term(a, b)), "{a} {b} {form}");
                }
            }
        }
    }
    let mut to = [1f32, 2.0];
    let a = Argument::Vector(Values::Float32(&[3.0, 4.0]));
    accumulate_product(a, a, ValuesMut::Float32(&mut to));
    assert_eq!(to, [10.0, 18.0]);
}
