//! Folds of rows against sums in twice the precision: of data far from 0, that drift, that jump behind the first rows,
//! and of more rows than a pivot serves.

use crate::common::*;
use outcore_array::ElementType;
use outcore_learn::*;

/// A sum in twice the precision of float64 (Knuth's two-sum).
#[derive(Clone, Copy, Default)]
struct Exact(f64, f64);

impl Exact {
    fn add(&mut self, value: f64) {
        let sum = self.0 + value;
        let part = sum - self.0;
        self.1 += (self.0 - (sum - part)) + (value - part);
        self.0 = sum;
    }

    fn of(values: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Exact::default();
        values.for_each(|value| sum.add(value));
        sum.0 + sum.1
    }
}

/// The mean of numbers, in two parts.
fn exact_mean(numbers: &[f64], shares: &[f64]) -> (f64, f64) {
    let weight = Exact::of(shares.iter().copied());
    let about = |mean: f64| Exact::of(numbers.iter().zip(shares).map(|(x, share)| (x - mean) * share)) / weight;
    let first = numbers[0] + about(numbers[0]);
    let low = about(first);
    let high = first + low;
    (high, low - (high - first))
}

/// The sum of products of deviations from the means.
fn exact_products(left: &[f64], right: &[f64], shares: &[f64]) -> f64 {
    let (one, other) = (exact_mean(left, shares), exact_mean(right, shares));
    let terms = left.iter().zip(right).zip(shares);
    Exact::of(terms.map(|((x, y), share)| ((x - one.0) - one.1) * ((y - other.0) - other.1) * share))
}

/// Columns of `n` rows: of many kinds of numbers, each more than a mean of a few first rows tells.
fn columns(n: usize, p: usize) -> Vec<Vec<f64>> {
    let noise = normal(31, n * p);
    let own = |kind: usize, row: usize, noise: f64| match kind {
        0 => noise,
        1 => 1e8 + noise,
        2 => -1e6 + 1e-3 * noise,
        // Numbers that drift, and that jump behind the first rows.
        3 => row as f64 + noise,
        4 => {
            if row < 600 {
                1e6
            } else {
                noise
            }
        }
        5 => {
            if row < 3 {
                1e9 + noise
            } else {
                1e3 * noise
            }
        }
        6 => 0.1,
        _ => {
            if row.is_multiple_of(5) {
                0.0
            } else {
                noise.abs()
            }
        }
    };
    (0..p).map(|column| (0..n).map(|row| own(column % 8, row, noise[row * p + column])).collect()).collect()
}

fn rows_of(columns: &[Vec<f64>]) -> Vec<f64> {
    (0..columns[0].len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

/// The error that is allowed of squared deviations: a part of themselves, and what the rounding of means far from 0
/// leaves where parts are joined.
fn bound(square: f64, mean: f64, n: usize) -> f64 {
    let rounding = 2.0 * f64::EPSILON * mean.abs();
    1e-12 * square + rounding * (square * n as f64).sqrt() + n as f64 * rounding * rounding
}

/// Asserts that a mean is right to a part of itself and of the deviation.
#[track_caller]
fn assert_mean(found: f64, expected: f64, deviation: f64) {
    let bound = 1e-13 * (expected.abs() + deviation);
    assert!((found - expected).abs() <= bound, "expected {expected}, found {found}");
}

#[track_caller]
fn assert_square(found: f64, expected: f64, mean: f64, n: usize) {
    assert!((found - expected).abs() <= bound(expected, mean, n), "expected {expected}, found {found}");
}

#[test]
fn figures_are_those_of_sums_in_twice_the_precision() {
    for (n, p) in [(70_003, 8), (200_000, 1), (3, 8), (508, 3)] {
        let columns = columns(n, p);
        let x = array(&rows_of(&columns), &[n, p]);
        let found = describe(&runtime(2), &x).unwrap();
        for (i, own) in columns.iter().enumerate() {
            let (mean, _) = exact_mean(own, &vec![1.0; n]);
            assert_mean(found.mean[i], mean, found.deviation[i]);
            let square = found.deviation[i].powi(2) * (n - 1) as f64;
            assert_square(square, exact_products(own, own, &vec![1.0; n]), mean, n);
            let l2 = Exact::of(own.iter().map(|x| x * x)).sqrt();
            assert_close(&[found.l2[i] / l2], &[1.0], 1e-13);
            assert_close(&[found.l1[i] / Exact::of(own.iter().map(|x| x.abs()))], &[1.0], 1e-13);
        }
        assert_same_bits(|runtime| {
            let found = describe(runtime, &x).unwrap();
            [found.mean, found.deviation, found.l1, found.l2].concat()
        });
    }
}

#[test]
fn covariances_are_those_of_sums_in_twice_the_precision() {
    // By squares in registers, the last one partly filled, and by a product of all columns.
    for (n, p) in [(70_003, 8), (20_000, 5), (300, 64), (3000, 65), (7, 3)] {
        let columns = columns(n, p);
        let x = array(&rows_of(&columns), &[n, p]);
        let shares: Vec<f64> = (0..n).map(|row| (row % 4) as f64 * 0.5).collect();
        let weights = vector(&shares);
        for (weights, shares) in [(None, &vec![1.0; n]), (Some(&weights), &shares)] {
            let options = CovarianceOptions { weights, correction: 0.0 };
            let found = covariance(&runtime(2), &x, &options).unwrap();
            let weight: f64 = shares.iter().sum();
            for (i, k) in (0..p * p).map(|place| (place / p, place % p)).filter(|(i, k)| k <= i && i - k < 9) {
                let expected = |i: usize, k: usize| exact_products(&columns[i], &columns[k], shares);
                let part = |i: usize| bound(expected(i, i), exact_mean(&columns[i], shares).0, n);
                let [own, other] = [i, k].map(|i| expected(i, i).sqrt() + part(i).sqrt());
                let bound = part(i) * other / own.max(f64::MIN_POSITIVE) + part(k) * own / other.max(f64::MIN_POSITIVE);
                let sum = found.covariance[i * p + k] * weight;
                assert!((sum - expected(i, k)).abs() <= bound, "{i} {k}: expected {}, found {sum}", expected(i, k));
                assert_eq!(found.covariance[i * p + k], found.covariance[k * p + i]);
            }
            assert_same_bits(|runtime| covariance(runtime, &x, &options).unwrap().covariance);
        }
    }
}

/// Scales of one class with and without weights, and classes: few, some without rows in many blocks, and many.
#[test]
fn moments_of_classes_are_those_of_sums_in_twice_the_precision() {
    let (n, p) = (70_003, 8);
    let columns = columns(n, p);
    let x = array(&rows_of(&columns), &[n, p]);
    let shares: Vec<f64> = (0..n).map(|row| (row % 7) as f64 * 0.5).collect();
    let weights = vector(&shares);
    for (weights, shares) in [(None, &vec![1.0; n]), (Some(&weights), &shares)] {
        let weight: f64 = shares.iter().sum();
        let options = StandardScalerOptions { weights, ..StandardScalerOptions::default() };
        let found = standard_scaler(&runtime(2), &x, &options).unwrap();
        for (i, own) in columns.iter().enumerate() {
            let (mean, _) = exact_mean(own, shares);
            assert_mean(found.mean[i], mean, found.variance[i].sqrt());
            assert_square(found.variance[i] * weight, exact_products(own, own, shares), mean, n);
        }
        assert_same_bits(|runtime| standard_scaler(runtime, &x, &options).unwrap().variance);
        for classes in [2, 16, 17] {
            // Class 1 begins late and is rare.
            let other = |row: usize| Some(row % (classes - 1)).filter(|&own| own > 0).map_or(0, |own| own + 1);
            let class = |row: usize| if row > 50_000 && row.is_multiple_of(701) { 1 } else { other(row) };
            let labels: Vec<f64> = (0..n).map(|row| class(row) as f64).collect();
            let options = GaussianNbOptions { weights, smoothing: 1e-20, ..GaussianNbOptions::default() };
            let found = gaussian_nb(&runtime(2), &x, &vector(&labels), classes, &options).unwrap();
            for own_class in [0, 1] {
                let own = |i: usize| -> (Vec<f64>, Vec<f64>) {
                    let rows = (0..n).filter(|&row| labels[row] == own_class as f64);
                    rows.map(|row| (columns[i][row], shares[row])).unzip()
                };
                for i in 0..p {
                    let (numbers, shares) = own(i);
                    let mean = exact_mean(&numbers, &shares).0;
                    assert_mean(found.means[own_class * p + i], mean, found.variances[own_class * p + i].sqrt());
                    let weight: f64 = shares.iter().sum();
                    let square = (found.variances[own_class * p + i] - found.epsilon) * weight;
                    let expected = exact_products(&numbers, &numbers, &shares);
                    let bound = bound(expected, mean, n) + 1e-15 * (found.epsilon + expected) * weight;
                    assert!((square - expected).abs() <= bound, "{classes} {own_class} {i}: {square}, {expected}");
                }
            }
        }
    }
}

/// Blocks of float32 are multiplied about their own means.
#[test]
fn co_moments_of_float32_that_drift_lose_no_more_than_those_that_do_not() {
    let n = 70_000;
    let columns: Vec<Vec<f64>> =
        columns(n, 4).iter().map(|own| own.iter().map(|&x| f64::from(x as f32)).collect()).collect();
    let x = array(&rows_of(&columns), &[n, 4]);
    let found = values(&runtime(2), &co_moments(&x.cast(ElementType::Float32).unwrap()).unwrap());
    for (i, k) in (0..16).map(|place| (place / 4, place % 4)) {
        let expected = |i: usize, k: usize| exact_products(&columns[i], &columns[k], &vec![1.0; n]);
        let bound = 1e-6 * (expected(i, i) * expected(k, k)).sqrt();
        assert!((found[i * 4 + k] - expected(i, k)).abs() <= bound, "{i} {k}");
    }
}
