//! Logistic regression without a penalty: whether classes are separable is known by how the data are made.

use crate::common::*;
use outcore_declare::{Fact, OptionValues, Value, named};
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

const PLAIN: LogisticRegressionOptions<'_> = LogisticRegressionOptions {
    c: f64::INFINITY,
    intercept: true,
    max_iterations: 100,
    tolerance: 1e-6,
    weights: None,
};

fn fit_with(
    numbers: &[f64],
    labels: &[f64],
    classes: usize,
    options: &LogisticRegressionOptions<'_>,
) -> LogisticRegression {
    let x = array(numbers, &[labels.len(), numbers.len() / labels.len()]);
    logistic_regression(&runtime(2), &x, &vector(labels), classes, options).unwrap()
}

fn fit(numbers: &[f64], labels: &[f64], classes: usize) -> LogisticRegression {
    fit_with(numbers, labels, classes, &PLAIN)
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

/// An observation of up to two columns and the intercept's 1, with the sign of its class.
type Row = [i128; 3];

fn cross(a: Row, b: Row) -> Row {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Whether products with some direction are 0 or more for all rows, and above 0 for one, without rounding. If there is
/// one, there is one at an edge of their cone: orthogonal to two rows, or in the span of all if that has fewer axes.
fn are_separated(rows: &[Row]) -> bool {
    let dot = |a: Row, b: Row| (0..3).map(|i| a[i] * b[i]).sum::<i128>();
    let pairs = || rows.iter().flat_map(|&a| rows.iter().map(move |&b| cross(a, b)));
    let mut edges =
        rows.iter().copied().chain(pairs()).chain(pairs().flat_map(|a| rows.iter().map(move |&b| cross(a, b))));
    edges.any(|edge| {
        let products: Vec<i128> = rows.iter().map(|&row| dot(row, edge)).collect();
        let is_one_sided = products.iter().all(|&x| x >= 0) || products.iter().all(|&x| x <= 0);
        is_one_sided && products.iter().any(|&x| x != 0)
    })
}

/// Observations of whole numbers with their labels, and their rows; the greatest is about `most`.
fn observations(seed: u64, most: i32) -> (Vec<f64>, Vec<f64>, Vec<Row>) {
    let draws: Vec<usize> = uniform(1000 + seed, 64).iter().map(|number| (420.0 * number) as usize).collect();
    let (n, p) = (3 + draws[0] % 7, 1 + draws[1] % 2);
    let (mut numbers, mut labels, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for own in draws[2..].chunks_exact(6).take(n) {
        let is_far = own[3] % 4 == 0;
        let mut row = [0, 0, 1];
        for (column, to) in row[..p].iter_mut().enumerate() {
            *to = (own[column] % 7) as i128 - 3;
            *to *= if is_far { 10i128.pow((own[4] % (most as usize + 1)) as u32) } else { 1 };
        }
        // Most labels follow the first column.
        let label = if own[5] % 3 == 0 { own[2] % 2 == 0 } else { row[0] > 0 };
        numbers.extend(row[..p].iter().map(|&number| number as f64));
        labels.push(f64::from(u8::from(label)));
        rows.push(row.map(|number| if label { number } else { -number }));
    }
    (numbers, labels, rows)
}

#[test]
fn whole_numbers_are_separable_where_exact_arithmetic_says_so() {
    let mut counts = [0; 2];
    for seed in 0..400 {
        let (numbers, labels, rows) = observations(seed, 0);
        let expected = are_separated(&rows);
        let found = fit(&numbers, &labels, 2);
        assert_eq!(found.is_separable, expected, "{seed}: {numbers:?} {labels:?}, {} steps", found.iterations);
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn rows_far_out_do_not_hide_that_others_overlap() {
    for seed in 0..600 {
        let (numbers, labels, rows) = observations(seed, 8);
        let expected = are_separated(&rows);
        let found = fit(&numbers, &labels, 2);
        assert!(expected || !found.is_separable, "{seed}: {numbers:?} {labels:?}, {} steps", found.iterations);
    }
    // One row at 10^8 on the side of the other class: its margin is 10^8 times those of all others.
    for scale in [1e4, 1e6, 1e8, 1e9] {
        for (far, label) in [(scale, 0.0), (-scale, 1.0), (scale, 1.0), (-scale, 0.0)] {
            let numbers: Vec<f64> = (0..12).map(f64::from).chain([far]).collect();
            let labels: Vec<f64> =
                [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1].map(f64::from).into_iter().chain([label]).collect();
            let found = fit(&numbers, &labels, 2);
            assert!(!found.is_separable, "{far} {label}: {} steps, {:?}", found.iterations, found.coefficients);
        }
    }
}

#[test]
fn one_class_is_separated_by_the_intercept() {
    let numbers = normal(7, 60);
    let (zeros, ones) = (vec![0.0; 30], vec![1.0; 30]);
    let without = LogisticRegressionOptions { intercept: false, ..PLAIN };
    for labels in [&zeros, &ones] {
        assert!(fit(&numbers, labels, 2).is_separable);
        // A column of the same number is no other direction.
        assert!(fit(&[5.0; 30], labels, 2).is_separable);
        assert!(!fit_with(&numbers, labels, 2, &without).is_separable);
        let distances: Vec<f64> = numbers.iter().map(|x| x.abs()).collect();
        assert!(fit_with(&distances, labels, 2, &without).is_separable);
    }
    // The third class has no rows, or none of a weight above 0; the others overlap.
    let numbers: Vec<f64> = (0..40).map(|row| f64::from(row / 4)).collect();
    let mut labels: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
    assert!(!fit(&numbers, &labels, 2).is_separable);
    assert!(fit(&numbers, &labels, 3).is_separable);
    labels[17] = 2.0;
    labels[30] = 2.0;
    let weights: Vec<f64> = labels.iter().map(|&label| f64::from(u8::from(label < 2.0))).collect();
    let weights = vector(&weights);
    assert!(!fit(&numbers, &labels, 3).is_separable);
    assert!(
        fit_with(&numbers, &labels, 3, &LogisticRegressionOptions { weights: Some(&weights), ..PLAIN }).is_separable
    );
}

#[test]
fn one_column_separates_whatever_its_unit_and_its_zero() {
    for (unit, zero) in [(1.0, 0.0), (1e-8, 0.0), (1e8, 0.0), (1.0, 1e6), (1e-3, 1e3), (1e8, -1e12)] {
        for place in 0..3 {
            let mut numbers = normal(9, 300);
            let labels: Vec<f64> = (0..100).map(|row| f64::from(u8::from(row % 3 == 0))).collect();
            let mut set = |row: usize, number: f64| numbers[3 * row + place] = zero + unit * number;
            (0..100).for_each(|row| set(row, if row % 3 == 0 { 1.0 + row as f64 } else { -1.0 - row as f64 }));
            assert!(fit(&numbers, &labels, 2).is_separable, "{unit} {zero}");
            // One row of either class on the hyperplane.
            let mut set = |row: usize, number: f64| numbers[3 * row + place] = zero + unit * number;
            set(0, 0.0);
            set(1, 0.0);
            assert!(fit(&numbers, &labels, 2).is_separable, "{unit} {zero}");
            // Rows on the other side.
            (0..100).for_each(|row| numbers[3 * row + place] = zero + unit * if row % 3 == 0 { 1.0 } else { -1.0 });
            let mut overlapping = labels.clone();
            (0..40).for_each(|row| overlapping[row] = 1.0 - overlapping[row]);
            assert!(!fit(&numbers, &overlapping, 2).is_separable, "{unit} {zero}");
        }
    }
}

#[test]
fn rows_that_repeat_count_as_one_does_and_rows_of_weight_0_do_not() {
    let numbers: Vec<f64> = normal(11, 80);
    let labels: Vec<f64> = numbers.chunks_exact(2).map(|row| f64::from(u8::from(row[0] + row[1] > 0.0))).collect();
    let mut both = numbers.repeat(2);
    let mut repeated = labels.repeat(2);
    assert!(fit(&both, &repeated, 2).is_separable);
    // All rows in either class: no column says anything.
    (0..40).for_each(|row| repeated[row] = 1.0 - repeated[row]);
    let found = fit(&both, &repeated, 2);
    assert!(found.converged && !found.is_separable && found.coefficients.iter().all(|own| own.abs() < 1e-6));
    // Three rows within the other class.
    both.truncate(80);
    both.extend_from_slice(&[9.0, 9.0, 1.0, 7.0, 8.0, 0.5]);
    let labels: Vec<f64> = labels.into_iter().chain([0.0; 3]).collect();
    for (weight, expected) in [(0.0, true), (1e-6, false), (1.0, false)] {
        let weights: Vec<f64> = (0..43).map(|row| if row < 40 { 1.0 } else { weight }).collect();
        let options = LogisticRegressionOptions { weights: Some(&vector(&weights)), ..PLAIN };
        let found = fit_with(&both, &labels, 2, &options);
        assert_eq!(found.is_separable, expected, "{weight}: {} steps", found.iterations);
    }
}

#[test]
fn explained_passes_are_those_that_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2);
    // Classes overlap; are apart, but for a row of either class on the hyperplane; overlap beside a row far out.
    let row = |x: i32, is_one: bool| [f64::from(x), f64::from(u8::from(is_one))];
    let apart = (-20..20).map(|x| row(x, x >= 0)).chain([row(0, false)]);
    let far = [1, 2, 4, 5, 8].into_iter().map(|x| row(x, false)).chain([3, 6, 7, 9].map(|x| row(x, true)));
    let cases: [Vec<f64>; 3] = [
        (-20..20).flat_map(|x| row(x, x % 3 == 0)).collect(),
        apart.flatten().collect(),
        far.chain([row(100_000_000, false)]).flatten().collect(),
    ];
    let mut checks = Vec::new();
    for (case, numbers) in cases.iter().enumerate() {
        let path = on_disk(folder.path(), &format!("{case}.oc"), &array(numbers, &[numbers.len() / 2, 2]));
        let (data, logistic) = (Data::open(&runtime, &path).unwrap(), named(STATISTICS, "logistic").unwrap());
        for c in [1.0, f64::INFINITY] {
            let given = vec![("target", Value::Name("2".to_owned())), ("c", Value::Real(c))];
            let plan = (logistic.plan)(&data, OptionValues::new(logistic, given).unwrap()).unwrap();
            let found = plan.find(&runtime).unwrap();
            let steps = found.facts.iter().find_map(|(name, fact)| match fact {
                Fact::Whole(steps) if *name == "n_iter" => Some(*steps as usize),
                _ => None,
            });
            let more = found.stats.steps.len() - 4 - steps.unwrap();
            let all = "2 over the target, 2, and 1 for each of up to 100 steps or more, if one is shortened";
            let check = if c.is_infinite() { "; 1 to 21 that look whether classes are separable" } else { "" };
            assert_eq!(plan.passes, format!("{all}{check}; one to write rows"));
            assert_eq!(plan.phases.len(), if c.is_infinite() { 3 } else { 2 });
            match c.is_infinite() {
                true => checks.push(more),
                false => assert!(more == 0 || case == 2, "{case}: {more}"),
            }
        }
    }
    assert!(checks[..2] == [1, 1] && (2..=21).contains(&checks[2]), "{checks:?}");
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
