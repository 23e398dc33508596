//! Logistic regression without a penalty: whether classes are separable is known by how the data are made.

use crate::common::*;
use outcore_learn::*;

/// Rows of whole numbers, and their sums of columns times 1, -1, 2 and so on.
fn rows(seed: u64, n: usize, p: usize) -> (Vec<f64>, Vec<f64>) {
    let numbers: Vec<f64> = uniform(seed, n * p).iter().map(|number| (7.0 * number).floor() - 3.0).collect();
    let factor = |column: usize| if column.is_multiple_of(2) { 1.0 + column as f64 } else { -1.0 };
    let sums = numbers.chunks_exact(p).map(|row| row.iter().enumerate().map(|(i, x)| factor(i) * x).sum()).collect();
    (numbers, sums)
}

/// Appends rows of several classes that are the same.
fn append(numbers: &mut Vec<f64>, labels: &mut Vec<f64>, row: &[f64], classes: usize) {
    for class in 0..classes {
        numbers.extend_from_slice(row);
        labels.push(class as f64);
    }
}

fn fit(numbers: &[f64], labels: &[f64], classes: usize) -> LogisticRegression {
    let x = array(numbers, &[labels.len(), numbers.len() / labels.len()]);
    let options = LogisticRegressionOptions { c: f64::INFINITY, ..LogisticRegressionOptions::default() };
    logistic_regression(&runtime(2), &x, &vector(labels), classes, &options).unwrap()
}

#[test]
fn classes_with_rows_on_the_hyperplane_are_separable() {
    for seed in 0..30 {
        let (n, p, classes) = (20 + 10 * seed as usize, 1 + seed as usize % 3, 2 + seed as usize % 2);
        let (mut numbers, sums) = rows(seed, n, p);
        // Above the hyperplane is one class, below it are the others.
        let label = |(row, sum): (usize, &f64)| if *sum > 0.0 { 0.0 } else { (1 + row % (classes - 1)) as f64 };
        let mut labels: Vec<f64> = sums.iter().enumerate().map(label).collect();
        append(&mut numbers, &mut labels, &vec![0.0; p], classes);
        let found = fit(&numbers, &labels, classes);
        assert!(found.is_separable, "{seed}: {n} x {p}, {classes} classes, {} steps", found.iterations);
    }
    // A group of which all rows are of one class.
    let numbers: Vec<f64> = (0..40).map(|row| f64::from(u8::from(row % 4 == 0))).collect();
    let labels: Vec<f64> = (0..40).map(|row| f64::from(u8::from(row % 4 == 0 || row % 3 == 0))).collect();
    assert!(fit(&numbers, &labels, 2).is_separable);
}

#[test]
fn overlapping_classes_are_not_separable() {
    for seed in 0..60 {
        let (n, p, classes) = (10 + 10 * seed as usize, 1 + seed as usize % 4, 2 + seed as usize % 2);
        let (mut numbers, sums) = rows(100 + seed, n, p);
        // Classes that are nearly apart, with the same rows in all of them, which lie on no hyperplane.
        let last = classes as f64 - 1.0;
        let mut labels: Vec<f64> = sums.iter().map(|sum| (sum / 3.0 + 1.0).floor().clamp(0.0, last)).collect();
        for corner in 0..=p {
            let row: Vec<f64> = (0..p).map(|column| if column == corner { 0.5 } else { 0.0 }).collect();
            append(&mut numbers, &mut labels, &row, classes);
        }
        let found = fit(&numbers, &labels, classes);
        assert!(found.converged && !found.is_separable, "{seed}: {n} x {p}, {classes} classes, {}", found.converged);
        // The moments, the first point and each step; then a pass says that there is an optimum.
        let passes = found.stats.steps.len();
        assert!(passes <= found.iterations + 6, "{seed}: {passes} passes, {} steps", found.iterations);
    }
}

#[test]
fn many_parameters_are_separable_where_the_model_separates() {
    let (n, p) = (400, 201);
    let numbers = normal(5, n * p);
    let labels: Vec<f64> = numbers.chunks_exact(p).map(|row| f64::from(u8::from(row[0] > 0.0))).collect();
    assert!(fit(&numbers, &labels, 2).is_separable);
}

fn is_send<T: Send + 'static>() {}

#[test]
fn results_and_options_can_be_sent() {
    is_send::<(LogisticRegression, LinearModel, KMeans, GaussianMixture, GaussianNb, Pca, TruncatedSvd)>();
    is_send::<(StandardScaler, Covariance, Correlation, Description, Histogram, Quantiles, Labels)>();
    is_send::<(LogisticRegressionOptions<'static>, LinearRegressionOptions<'static>, RidgeOptions<'static>)>();
    is_send::<(KMeansOptions<'static>, GaussianMixtureOptions<'static>, GaussianNbOptions<'static>)>();
    is_send::<(PcaOptions, TruncatedSvdOptions, CovarianceOptions, HistogramOptions, QuantilesOptions)>();
}
