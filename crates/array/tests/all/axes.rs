//! Folds over axes: the number of the best of all elements, and sums of float32 that are added in float64.

use outcore_array::kernel::{Binary, Fold, Unary};
use outcore_array::{Array, AxisPart, Bytes, ElementType, Goal, InMemory, compute};
use outcore_testkit::runtime_under;
use std::sync::Arc;

fn array(numbers: &[f64], shape: &[u64]) -> Array {
    let words: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    Array::from_memory(InMemory::new(Arc::new(words) as Arc<dyn Bytes>, ElementType::Float64, shape.to_vec()))
}

fn bytes(threads: usize, array: &Array) -> Vec<u8> {
    let runtime = runtime_under(threads, 160 << 20, None);
    compute(&runtime, &[Goal::Value(array.clone())]).unwrap().values[0].to_vec()
}

/// The number of the first of the greatest, or of the first NaN.
fn best(numbers: &[f64], is_max: bool) -> i64 {
    let is_better = |one: f64, other: f64| if is_max { one > other } else { one < other };
    let nan = numbers.iter().position(|number| number.is_nan());
    let best = || (1..numbers.len()).fold(0, |best, i| if is_better(numbers[i], numbers[best]) { i } else { best });
    nan.unwrap_or_else(best) as i64
}

/// Equal elements in several partitions, columns and rows; NaN behind them; matrices that are long along either axis.
#[test]
fn the_best_of_all_elements_is_the_first_one_row_by_row() {
    for (n, p) in [(1, 1), (3, 5), (2000, 7), (70_000, 3), (3, 50_000)] {
        let mut numbers: Vec<f64> = (0..n * p).map(|i| ((i * 7919) % 1000) as f64).collect();
        for round in 0..2 {
            let transposed: Vec<f64> = (0..n * p).map(|place| numbers[place % n * p + place / n]).collect();
            let x = array(&numbers, &[n as u64, p as u64]);
            for is_max in [false, true] {
                let cases = [
                    (x.clone(), &numbers),
                    (x.permute(&[1, 0]).unwrap(), &transposed),
                    (x.unary(Unary::Negative).unwrap().unary(Unary::Negative).unwrap(), &numbers),
                    (x.reshape(&[n as u64, 1, p as u64]).unwrap(), &numbers),
                ];
                for (place, (array, numbers)) in cases.iter().enumerate() {
                    for threads in [1, 3] {
                        let found = array.arg(is_max, None, false).unwrap();
                        assert_eq!(found.shape(), [0u64; 0]);
                        let expected = best(numbers, is_max).to_ne_bytes();
                        assert_eq!(bytes(threads, &found), expected, "{n} {p} {is_max} {place} {round}");
                    }
                }
                assert_eq!(x.arg(is_max, None, true).unwrap().shape(), [1, 1]);
            }
            numbers[n * p * 2 / 3] = f64::NAN;
            numbers[n * p - 1] = f64::NAN;
        }
    }
    assert!(array(&[], &[0, 3]).arg(true, None, false).is_err());
}

/// Sums of float32 along columns, and sums of squares, of products and of differences, and distances.
#[test]
fn sums_of_float32_over_columns_round_once() {
    let (n, p) = (600usize, 4000usize);
    let numbers: Vec<f64> = (0..n * p).map(|i| f64::from(0.1f32 + ((i * 7919) % 1000) as f32 * 1e-3)).collect();
    let x = array(&numbers, &[n as u64, p as u64]).cast(ElementType::Float32).unwrap();
    let points = array(&numbers[..2 * p], &[1, 2, p as u64]).cast(ElementType::Float32).unwrap();
    let range = |start: i64, step: i64, count: usize| Some(AxisPart::Range { start, step, count: count as u64 });
    let y = x.slice(&[range(n as i64 - 1, -1, n), range(0, 1, p)]).unwrap();
    let sum = |array: Array| array.fold(Fold::Sum, &[1], false).unwrap();
    let difference = x.binary(Binary::Subtract, &y).unwrap();
    let (row, other) = (|i: usize| &numbers[i * p..][..p], |i: usize| &numbers[(n - 1 - i) * p..][..p]);
    let exact =
        |of: &dyn Fn(f64, f64) -> f64, i: usize| -> f64 { row(i).iter().zip(other(i)).map(|(&a, &b)| of(a, b)).sum() };
    type Term<'a> = &'a dyn Fn(f64, f64) -> f64;
    let cases: [(Array, Term<'_>); 4] = [
        (sum(x.clone()), &|a, _| a),
        (sum(x.binary(Binary::Multiply, &y).unwrap()), &|a, b| f64::from(a as f32 * b as f32)),
        (sum(difference.unary(Unary::Square).unwrap()), &|a, b| f64::from((a as f32 - b as f32).powi(2))),
        (sum(difference.unary(Unary::Abs).unwrap()), &|a, b| f64::from((a as f32 - b as f32).abs())),
    ];
    let check = |found: f32, expected: f64| {
        assert!((f64::from(found) - expected).abs() <= 1e-7 * expected.abs(), "expected {expected}, found {found}");
    };
    for (array, of) in cases {
        assert_eq!(array.element(), ElementType::Float32);
        for (i, found) in bytes(2, &array).as_chunks::<4>().0.iter().enumerate() {
            check(f32::from_ne_bytes(*found), exact(of, i));
        }
    }
    let differences = x.with_axis(1).unwrap().binary(Binary::Subtract, &points).unwrap();
    let distances = differences.unary(Unary::Square).unwrap().fold(Fold::Sum, &[2], false).unwrap();
    for (place, found) in bytes(2, &distances).as_chunks::<4>().0.iter().enumerate() {
        let pairs = row(place / 2).iter().zip(row(place % 2));
        check(f32::from_ne_bytes(*found), pairs.map(|(&a, &b)| f64::from((a as f32 - b as f32).powi(2))).sum());
    }
}

/// Axes that are not there, and axes that are named twice, are refused by every function that takes them.
#[test]
fn axes_that_are_not_there_are_refused() {
    let x = array(&[1.0; 12], &[3, 4]);
    for wrong in [vec![2], vec![0, 2], vec![usize::MAX], vec![0, 0], vec![1, 0, 1]] {
        let found = [
            x.fold(Fold::Sum, &wrong, false),
            x.fold(Fold::Max, &wrong, true),
            x.mean(&wrong, false),
            x.variance(&wrong, 1.0, false),
            x.deviation(&wrong, 0.0, true),
        ];
        let expected = if wrong.iter().all(|&axis| axis < 2) { "every axis once" } else { "an array of 2 axes" };
        for one in found {
            let text = one.expect_err("an axis is refused").to_string();
            assert!(text.contains(expected), "{wrong:?}: {text}");
        }
    }
    for wrong in [2, 3, usize::MAX] {
        assert!(x.arg(true, Some(wrong), false).is_err());
        assert!(x.cumulative(Fold::Sum, wrong).is_err());
        assert!(x.without_axis(wrong).is_err());
        assert!(x.with_axis(wrong).is_ok() == (wrong == 2), "{wrong}");
        assert!(Array::join(&[x.clone(), x.clone()], wrong).is_err());
    }
    assert_eq!(x.fold(Fold::Sum, &[1, 0], false).unwrap().shape(), &[] as &[u64]);
}
