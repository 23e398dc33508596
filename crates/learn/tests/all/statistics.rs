//! Statistics against what a few lines in memory find.

use crate::common::*;
use outcore_array::kernel::{Binary, Scalar};
use outcore_array::{Array, ElementType};
use outcore_learn::*;

fn number(number: f32) -> Array {
    Array::scalar(Scalar::Float32(number))
}

fn column(numbers: &[f64], p: usize, column: usize) -> Vec<f64> {
    numbers.iter().skip(column).step_by(p).copied().collect()
}

fn mean(numbers: &[f64]) -> f64 {
    let first = numbers[0];
    first + numbers.iter().map(|own| own - first).sum::<f64>() / numbers.len() as f64
}

fn naive_covariance(numbers: &[f64], p: usize, shares: &[f64], correction: f64) -> Vec<f64> {
    let weight: f64 = shares.iter().sum();
    let centred: Vec<Vec<f64>> = (0..p)
        .map(|i| {
            let own = column(numbers, p, i);
            let first = own[0];
            let mean = first + own.iter().zip(shares).map(|(v, s)| s * (v - first)).sum::<f64>() / weight;
            own.iter().map(|value| value - mean).collect()
        })
        .collect();
    let sum = |i: usize, k: usize| -> f64 {
        centred[i].iter().zip(&centred[k]).zip(shares).map(|((a, b), s)| a * b * s).sum()
    };
    (0..p * p).map(|at| sum(at / p, at % p) / (weight - correction)).collect()
}

#[test]
fn describe_finds_extremes_moments_and_norms() {
    let (n, p) = (3001, 3);
    let mut numbers = normal(1, n * p);
    numbers.iter_mut().step_by(7).for_each(|value| *value = 0.0);
    let found = describe(&runtime(2), &array(&numbers, &[n, p])).unwrap();
    assert_eq!(found.count, n as u64);
    for i in 0..p {
        let own = column(&numbers, p, i);
        assert_eq!(found.min[i], own.iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(found.max[i], own.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let l2 = own.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert_close(&[found.mean[i], found.l2[i]], &[mean(&own), l2], 1e-12);
        assert_close(&[found.l1[i]], &[own.iter().map(|v| v.abs()).sum()], 1e-12);
        assert_eq!(found.nonzeros[i], own.iter().filter(|v| **v != 0.0).count() as u64);
    }
    let expected = naive_covariance(&numbers, p, &vec![1.0; n], 1.0);
    assert_close(&found.deviation, &[expected[0], expected[4], expected[8]].map(f64::sqrt), 1e-12);
    let one = describe(&runtime(2), &array(&[2.0, -3.0], &[1, 2])).unwrap();
    assert_eq!((one.mean, one.l1), (vec![2.0, -3.0], vec![2.0, 3.0]));
}

/// Several partitions, of which some have what is no finite number in a column.
#[test]
fn describe_leaves_nan_out_and_keeps_infinities() {
    let (n, p) = (70_003, 4);
    let mut numbers: Vec<f64> = normal(3, n * p).iter().map(|value| value + 1e6).collect();
    numbers[40_000 * p + 1] = f64::NAN;
    numbers[69_999 * p + 2] = f64::NEG_INFINITY;
    numbers[p + 2] = 0.0;
    let x = array(&numbers, &[n, p]);
    let found = describe(&runtime(2), &x).unwrap();
    let own = column(&numbers, p, 3);
    let deviation = (own.iter().map(|v| (v - mean(&own)).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt();
    assert_close(&[found.mean[3], found.deviation[3]], &[mean(&own), deviation], 1e-9);
    // One value is missing: the others are described as if it were not there.
    assert_eq!(found.missing, [0, 1, 0, 0]);
    let some: Vec<f64> = column(&numbers, p, 1).into_iter().filter(|value| !value.is_nan()).collect();
    let deviation_of =
        |own: &[f64]| (own.iter().map(|v| (v - mean(own)).powi(2)).sum::<f64>() / (own.len() - 1) as f64).sqrt();
    assert_eq!(found.min[1], some.iter().copied().fold(f64::INFINITY, f64::min));
    assert_eq!(found.max[1], some.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    assert_close(&[found.mean[1], found.deviation[1]], &[mean(&some), deviation_of(&some)], 1e-9);
    assert_close(&[found.l1[1]], &[some.iter().map(|v| v.abs()).sum()], 1e-9);
    assert_eq!((found.min[2], found.mean[2], found.l1[2], found.l2[2]), {
        let infinity = f64::INFINITY;
        (-infinity, -infinity, infinity, infinity)
    });
    assert_eq!(found.max[2], column(&numbers, p, 2).into_iter().fold(f64::NEG_INFINITY, f64::max));
    assert!(found.deviation[2].is_nan());
    assert_eq!(found.nonzeros, [n, n - 1, n - 1, n].map(|count| count as u64));
    let narrow = x.cast(ElementType::Float32).unwrap();
    let of_narrow = values(&runtime(1), &figures(&narrow).unwrap()[3]);
    assert_close(&of_narrow[3..], &[deviation], 1e-2);
    assert_same_bits(|runtime| {
        let found = describe(runtime, &x).unwrap();
        [found.min, found.max, found.mean, found.deviation, found.l1, found.l2].concat()
    });
}

/// Columns without any number, and with a single one; read along their rows, and across them.
#[test]
fn columns_of_missing_values_have_no_figures_but_their_count() {
    let nan = f64::NAN;
    let rows = [[nan, 2.0, 1.0], [nan, nan, -3.0], [nan, nan, nan]].concat();
    let x = array(&rows, &[3, 3]);
    let across = [[nan, nan, nan], [2.0, nan, nan], [1.0, -3.0, nan]].concat();
    let across = array(&across, &[3, 3]).permute(&[1, 0]).unwrap();
    for x in [x, across] {
        let found = describe(&runtime(2), &x).unwrap();
        assert_eq!((found.count, &found.missing, &found.nonzeros), (3, &vec![3, 2, 1], &vec![0, 1, 2]));
        for figure in [&found.min, &found.max, &found.mean, &found.deviation] {
            assert!(figure[0].is_nan(), "{figure:?}");
        }
        assert!(found.deviation[1].is_nan());
        assert_eq!([found.min[1], found.max[1], found.mean[1], found.mean[2]], [2.0, 2.0, 2.0, -1.0]);
        assert_close(&found.deviation[2..], &[8.0f64.sqrt()], 1e-12);
        assert_eq!((&found.l1, found.l2[1], found.l2[0]), (&vec![0.0, 2.0, 4.0], 2.0, 0.0));
    }
}

/// Squares of float32 that float32 does not hold.
#[test]
fn co_moments_of_float32_neither_overflow_nor_vanish() {
    for scale in [1e-30, 1.0, 1e30] {
        let numbers: Vec<f64> = normal(5, 4000 * 2).iter().map(|value| f64::from(value.to_owned() as f32)).collect();
        let narrow = array(&numbers, &[4000, 2]).cast(ElementType::Float32).unwrap();
        let scaled = narrow.binary(Binary::Multiply, &number(scale as f32)).unwrap();
        let found = values(&runtime(2), &co_moments(&scaled).unwrap());
        let expected: Vec<f64> =
            naive_covariance(&numbers, 2, &[1.0; 4000], 0.0).iter().map(|own| own * 4000.0 * scale * scale).collect();
        let parts: Vec<f64> = found.iter().map(|found| found / (expected[0] * expected[3]).sqrt()).collect();
        let wanted: Vec<f64> = expected.iter().map(|own| own / (expected[0] * expected[3]).sqrt()).collect();
        for (part, wanted) in parts.iter().zip(wanted) {
            assert!((part - wanted).abs() < 1e-6, "{scale}: {part}, {wanted}");
        }
    }
}

#[test]
fn covariances_do_not_mind_means_far_from_zero() {
    for (n, p, far) in [(2, 1, 0.0), (5000, 4, 0.0), (5000, 4, 1e9), (40_000, 3, -1e6)] {
        let numbers: Vec<f64> = normal(2, n * p).iter().map(|value| value + far).collect();
        let x = array(&numbers, &[n, p]);
        let found = covariance(&runtime(2), &x, &CovarianceOptions::default()).unwrap();
        let tolerance = if far == 1e9 { 1e-6 } else { 1e-9 };
        assert_close(&found.covariance, &naive_covariance(&numbers, p, &vec![1.0; n], 1.0), tolerance);
        // Weights count rows, and 0 leaves them out.
        let shares: Vec<f64> = (0..n).map(|row| (row % 3) as f64).collect();
        let weights = vector(&shares);
        let options = CovarianceOptions { weights: Some(&weights), correction: 0.0 };
        let found = covariance(&runtime(2), &x, &options).unwrap();
        assert_close(&found.covariance, &naive_covariance(&numbers, p, &shares, 0.0), tolerance);
        assert_same_bits(|runtime| covariance(runtime, &x, &options).unwrap().covariance);
    }
}

#[test]
fn lazy_co_moments_take_float32_and_spread_nan() {
    let (n, p) = (3000, 5);
    for far in [0.0, 1e4] {
        let mut numbers: Vec<f64> = normal(7, n * p).iter().map(|value| f64::from((value + far) as f32)).collect();
        let x = array(&numbers, &[n, p]);
        let sums = |x: &Array| values(&runtime(2), &co_moments(x).unwrap());
        let expected: Vec<f64> =
            naive_covariance(&numbers, p, &vec![1.0; n], 0.0).iter().map(|own| own * n as f64).collect();
        assert_close(&sums(&x), &expected, 1e-9);
        assert_close(&sums(&x.cast(ElementType::Float32).unwrap()), &expected, 1e-4);
        assert_same_bits(|runtime| values(runtime, &co_moments(&x.cast(ElementType::Float32).unwrap()).unwrap()));
        numbers[7] = f64::NAN;
        let found = sums(&array(&numbers, &[n, p]));
        let is_nan: Vec<bool> = found.iter().map(|sum| sum.is_nan()).collect();
        assert_eq!(is_nan, (0..p * p).map(|at| at / p == 2 || at % p == 2).collect::<Vec<_>>());
    }
    assert!(co_moments(&vector(&[1.0])).is_err());
}

#[test]
fn rows_come_in_their_order_and_errors_end_them() {
    let (n, p) = (70_000, 2);
    let numbers = normal(8, n * p);
    let x = array(&numbers, &[n, p]);
    for threads in [1, 3] {
        let mut found = Vec::new();
        for_each_rows(&runtime(threads), &x, &mut |block| {
            let number = |column: &[u8], row: usize| f64::from_ne_bytes(column.as_chunks().0[row]);
            (0..block[0].len() / 8).for_each(|row| found.extend(block.iter().map(|column| number(column, row))));
            Ok(())
        })
        .unwrap();
        assert_eq!(found, numbers);
        let mut blocks = 0;
        let refused = for_each_rows(&runtime(threads), &x, &mut |_| {
            blocks += 1;
            Err(outcore_image::Error::Usage("enough".to_owned()))
        });
        assert_eq!((refused.unwrap_err().to_string(), blocks), ("enough".to_owned(), 1));
    }
}

#[test]
fn classes_are_whole_numbers_that_occur() {
    let found = classes_of(&runtime(2), &vector(&[7.0, -2.0, 7.0, 3.0])).unwrap();
    assert_eq!(found.classes, [-2.0, 3.0, 7.0]);
    assert_eq!(values(&runtime(2), &found.numbers), [2.0, 0.0, 2.0, 1.0]);
    assert_eq!(values(&runtime(2), &named(&found.classes, &found.numbers).unwrap()), [7.0, -2.0, 7.0, 3.0]);
    for bad in [&[0.5, 1.0][..], &[0.0, 65536.0], &[1e300, 1.0], &[f64::NAN, 1.0], &[f64::INFINITY, 1.0], &[]] {
        assert!(classes_of(&runtime(2), &vector(bad)).is_err(), "{bad:?}");
    }
}

#[test]
fn correlations_are_within_one() {
    let noise = normal(3, 2000);
    let numbers: Vec<f64> = noise.iter().flat_map(|&v| [v, -2.0 * v + 1.0, 5.0]).collect();
    let found = correlation(&runtime(2), &array(&numbers, &[2000, 3]), None).unwrap();
    assert_close(&found.correlation[..2], &[1.0, -1.0], 1e-12);
    assert!(found.correlation[2].is_nan() && found.correlation[8].is_nan());
}

#[test]
fn what_is_not_finite_is_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut numbers = normal(4, 4000);
        numbers[3001] = bad;
        let x = array(&numbers, &[2000, 2]);
        let text = covariance(&runtime(2), &x, &CovarianceOptions::default()).unwrap_err().to_string();
        assert!(text.contains("column 1") && text.contains("finite"), "{text}");
        assert!(pca(&runtime(2), &x, &PcaOptions { solver: PcaSolver::Tsqr, ..PcaOptions::default() }).is_err());
        assert!(kmeans(&runtime(2), &x, &KMeansOptions::default()).is_err());
        let centres = vec![0.0; 16];
        let start = KMeansStart::Centres(&centres);
        assert!(kmeans(&runtime(2), &x, &KMeansOptions { start, ..KMeansOptions::default() }).is_err());
        assert!(gaussian_mixture(&runtime(2), &x, &GaussianMixtureOptions::default()).is_err());
        assert!(standard_scaler(&runtime(2), &x, &StandardScalerOptions::default()).is_err());
        assert!(quantiles(&runtime(2), &x, &[0.5], &QuantilesOptions::default()).is_err());
        let labels = vector(&(0..2000).map(|row| (row % 2) as f64).collect::<Vec<_>>());
        assert!(gaussian_nb(&runtime(2), &x, &labels, 2, &GaussianNbOptions::default()).is_err());
        assert!(logistic_regression(&runtime(2), &x, &labels, 2, &LogisticRegressionOptions::default()).is_err());
        assert!(linear_regression(&runtime(2), &x, &labels, &LinearRegressionOptions::default()).is_err());
        let weights = vector(&vec![bad; 2000]);
        let clean = array(&normal(4, 4000), &[2000, 2]);
        let options = CovarianceOptions { weights: Some(&weights), ..CovarianceOptions::default() };
        assert!(covariance(&runtime(2), &clean, &options).is_err());
    }
    let huge = array(&[1e200, -1e200, 1e200, 3.0], &[4, 1]);
    assert!(covariance(&runtime(1), &huge, &CovarianceOptions::default()).is_err());
    let zero = vector(&[0.0; 4]);
    let options = CovarianceOptions { weights: Some(&zero), ..CovarianceOptions::default() };
    assert!(covariance(&runtime(1), &array(&[1.0, 2.0, 3.0, 4.0], &[4, 1]), &options).is_err());
}

#[test]
fn histograms_count_as_numpy_does() {
    let numbers = [0.0, 1.0, 1.0, 2.0, 3.0, -1.0, 3.5, f64::NAN];
    let found = histogram(&runtime(2), &vector(&numbers), &[0.0, 1.0, 2.0, 3.0], &HistogramOptions::default()).unwrap();
    assert_eq!((found.counts, found.outside), (vec![1.0, 2.0, 2.0], vec![3.0]));
    assert!(histogram(&runtime(2), &vector(&numbers), &[1.0, 0.0], &HistogramOptions::default()).is_err());
}

#[test]
fn quantiles_are_exact_or_within_the_bound() {
    let probabilities = [0.0, 0.01, 0.25, 0.5, 0.9, 1.0];
    let kinds: [fn(f64) -> f64; 4] = [|v| v, |v| -v, |_| 3.0, |v| (v * 5.0).floor()];
    for (n, error) in [(1, 0.1), (7, 0.1), (3000, 1e-3), (200_000, 0.02), (200_000, 0.002)] {
        for (kind, of) in kinds.iter().enumerate() {
            let mut numbers: Vec<f64> = uniform(5, n).into_iter().map(of).collect();
            if kind == 1 {
                numbers.sort_by(f64::total_cmp);
            }
            let x = vector(&numbers);
            let options = QuantilesOptions { error };
            let found = quantiles(&runtime(2), &x, &probabilities, &options).unwrap();
            assert!(found.rank_error as f64 <= error * n as f64 + 1.0, "{n}: {}", found.rank_error);
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            for (&probability, &value) in probabilities.iter().zip(&found.quantiles) {
                let rank = probability * (n - 1) as f64;
                let low = (rank.floor() as usize).saturating_sub(found.rank_error as usize);
                let high = (rank.ceil() as usize + found.rank_error as usize).min(n - 1);
                assert!(sorted[low] <= value && value <= sorted[high], "{n} {kind}: {value} of {probability}");
            }
            assert_same_bits(|runtime| quantiles(runtime, &x, &probabilities, &options).unwrap().quantiles);
        }
    }
}

#[test]
fn scalers_make_mean_zero_and_variance_one() {
    let numbers: Vec<f64> = normal(6, 9000).chunks_exact(3).flat_map(|v| [3.0 * v[0] + 1e6, v[1], 7.5]).collect();
    let x = array(&numbers, &[3000, 3]);
    let scaler = standard_scaler(&runtime(2), &x, &StandardScalerOptions::default()).unwrap();
    assert_eq!(scaler.scale[2], 1.0);
    let scaled = scaler.transform(&x).unwrap();
    let found = describe(&runtime(2), &scaled).unwrap();
    assert_close(&found.mean, &[0.0; 3], 1e-9);
    assert_close(&found.deviation, &[3000.0f64 / 2999.0, 3000.0 / 2999.0, 0.0].map(f64::sqrt), 1e-9);
}

/// Numbers that are no sums of powers of 2, in several blocks.
#[test]
fn constant_columns_have_no_covariance_and_no_correlation() {
    let n = 5000;
    let numbers: Vec<f64> = normal(21, n).iter().flat_map(|&v| [0.1, v, 0.3, 1e6 + 0.1, v + 1e3]).collect();
    let x = array(&numbers, &[n, 5]);
    let weights = vector(&(0..n).map(|row| (row % 3) as f64 + 0.1).collect::<Vec<_>>());
    for weights in [None, Some(&weights)] {
        let options = CovarianceOptions { weights, ..CovarianceOptions::default() };
        let found = covariance(&runtime(2), &x, &options).unwrap().covariance;
        let correlated = correlation(&runtime(2), &x, weights).unwrap().correlation;
        for (i, k) in (0..25).map(|place| (place / 5, place % 5)) {
            if [i, k].iter().any(|column| [0, 2, 3].contains(column)) {
                if weights.is_none() {
                    assert_eq!(found[5 * i + k], 0.0, "{i} {k}");
                }
                assert!(correlated[5 * i + k].is_nan(), "{i} {k}: {}", correlated[5 * i + k]);
            } else {
                assert_close(&[correlated[5 * i + k]], &[1.0], 1e-9);
            }
        }
    }
}

#[test]
fn the_least_and_the_greatest_value_are_quantiles() {
    let n = 400_000;
    let numbers = normal(22, 2 * n);
    let x = array(&numbers, &[n, 2]);
    let options = QuantilesOptions { error: 0.01 };
    let found = quantiles(&runtime(2), &x, &[0.0, 0.5, 1.0], &options).unwrap();
    assert!(found.rank_error > 0);
    for column in 0..2 {
        let own = || numbers.iter().skip(column).step_by(2).copied();
        assert_eq!(found.quantiles[column], own().fold(f64::INFINITY, f64::min));
        assert_eq!(found.quantiles[4 + column], own().fold(f64::NEG_INFINITY, f64::max));
    }
}

/// Deviations that are far above the rounding of the mean, however many rows there are.
#[test]
fn columns_far_from_zero_are_scaled() {
    let n = 40_000;
    let numbers: Vec<f64> = normal(23, n).iter().flat_map(|&v| [1e9 + 1e-3 * v, 1e9 + 0.1]).collect();
    let x = array(&numbers, &[n, 2]);
    let scaler = standard_scaler(&runtime(2), &x, &StandardScalerOptions::default()).unwrap();
    assert_close(&[scaler.scale[0] * 1e3], &[1.0], 0.02);
    assert_eq!(scaler.scale[1], 1.0);
}
