//! Models against closed forms and naive iterations in memory.

use crate::common::*;
use outcore_array::{Array, ElementType};
use outcore_learn::*;

/// A Gram matrix of rows: `a^T a`.
fn gram(rows: &[f64], p: usize) -> Vec<f64> {
    (0..p * p).map(|at| rows.chunks_exact(p).map(|row| row[at / p] * row[at % p]).sum()).collect()
}

#[test]
fn components_diagonalise_and_solvers_agree() {
    for far in [0.0, 1e9] {
        let (n, p) = (3000, 4);
        let noise = normal(1, n * p);
        let scale = [5.0, 3.0, 1.0, 0.1];
        let numbers: Vec<f64> = noise.iter().enumerate().map(|(at, v)| v * scale[at % p] + far).collect();
        let x = array(&numbers, &[n, p]);
        let options = |solver| PcaOptions { components: Some(2), solver };
        let one = pca(&runtime(2), &x, &options(PcaSolver::Covariance)).unwrap();
        let other = pca(&runtime(2), &x, &options(PcaSolver::Tsqr)).unwrap();
        let tolerance = if far > 0.0 { 1e-6 } else { 1e-10 };
        for (one, other) in [
            (&one.components, &other.components),
            (&one.explained_variance, &other.explained_variance),
            (&one.explained_variance_ratio, &other.explained_variance_ratio),
        ] {
            assert_close(one, other, tolerance);
        }
        assert_close(&[one.noise_variance], &[other.noise_variance], tolerance);
        // Places along components have the variances, and are not correlated.
        let places = values(&runtime(2), &one.transform(&x).unwrap());
        let squares: Vec<f64> = gram(&places, 2).iter().map(|sum| sum / (n - 1) as f64).collect();
        let expected = [one.explained_variance[0], 0.0, 0.0, one.explained_variance[1]];
        assert_close(&squares, &expected, tolerance * 10.0);
        assert_same_bits(|runtime| pca(runtime, &x, &options(PcaSolver::Tsqr)).unwrap().components);
        assert_same_bits(|runtime| pca(runtime, &x, &options(PcaSolver::Covariance)).unwrap().components);
        for solver in [PcaSolver::Covariance, PcaSolver::Tsqr] {
            let svd = truncated_svd(&runtime(2), &x, &TruncatedSvdOptions { components: 1, solver }).unwrap();
            let places = values(&runtime(2), &svd.transform(&x).unwrap());
            assert_close(&[gram(&places, 1)[0].sqrt()], &svd.singular_values, 1e-9);
        }
    }
}

#[test]
fn tsqr_finds_small_singular_values() {
    // The second column is the first one and noise of 1e-10.
    let (n, noise) = (2000, normal(2, 4000));
    let numbers: Vec<f64> = noise.chunks_exact(2).flat_map(|v| [v[0], v[0] + 1e-10 * v[1]]).collect();
    let found = pca(&runtime(2), &array(&numbers, &[n, 2]), &PcaOptions { solver: PcaSolver::Tsqr, components: None });
    let small = found.unwrap().singular_values[1];
    let expected = 1e-10 * (n as f64 / 2.0).sqrt();
    assert!((0.9..1.1).contains(&(small / expected)), "{small} {expected}");
}

#[test]
fn linear_models_meet_the_normal_equations() {
    for (far, tolerance) in [(0.0, 1e-10), (1e6, 1e-7)] {
        let (n, p) = (2500, 3);
        let numbers: Vec<f64> = normal(3, n * p).iter().map(|v| v + far).collect();
        let noise = normal(4, n);
        let weights: Vec<f64> = (0..n).map(|row| (row % 4) as f64).collect();
        let row = |at: usize| &numbers[at * p..(at + 1) * p];
        let y = |at: usize| [2.0 * row(at)[0] - row(at)[1] + 3.0, row(at)[2] + noise[at]];
        let targets: Vec<f64> = (0..n).flat_map(y).collect();
        let (x, t, shares) = (array(&numbers, &[n, p]), array(&targets, &[n, 2]), vector(&weights));
        let options = LinearRegressionOptions { weights: Some(&shares), ..LinearRegressionOptions::default() };
        let model = linear_regression(&runtime(2), &x, &t, &options).unwrap();
        assert_close(&model.coefficients[..3], &[2.0, -1.0, 0.0], tolerance);
        assert_eq!(model.rank, 3);
        assert_close(&model.r2[..1], &[1.0], tolerance);
        // Weighted residuals are orthogonal to all columns and to ones.
        let predicted = values(&runtime(2), &model.predict(&x).unwrap());
        for column in 0..4 {
            let of = |at: usize| if column < 3 { row(at)[column] - far } else { 1.0 };
            let residual = |at: usize| weights[at] * (targets[2 * at + 1] - predicted[2 * at + 1]);
            let sum: f64 = (0..n).map(|at| of(at) * residual(at)).sum();
            assert!(sum.abs() / n as f64 <= tolerance, "{column}: {sum}");
        }
        assert_same_bits(|runtime| linear_regression(runtime, &x, &t, &options).unwrap().coefficients);
    }
}

#[test]
fn dependent_columns_have_the_least_norm_and_ridge_shrinks() {
    let noise = normal(5, 1000);
    let numbers: Vec<f64> = noise.iter().flat_map(|&v| [v, v, 4.0]).collect();
    let x = array(&numbers, &[1000, 3]);
    let y = vector(&noise.iter().map(|v| 3.0 * v + 1.0).collect::<Vec<_>>());
    let model = linear_regression(&runtime(2), &x, &y, &LinearRegressionOptions::default()).unwrap();
    assert_close(&model.coefficients, &[1.5, 1.5, 0.0], 1e-9);
    assert_eq!((model.rank, model.is_vector), (1, true));
    assert_eq!(model.predict(&x).unwrap().shape(), [1000]);
    // Columns that depend on each other but for 1e-10, whose squares rounding loses, and weights.
    let (noise, weights) = (normal(6, 4000), vector(&(0..2000).map(|row| f64::from(row % 3)).collect::<Vec<_>>()));
    let near: Vec<f64> = noise.chunks_exact(2).flat_map(|v| [v[0], v[0] + 1e-10 * v[1]]).collect();
    let y = vector(&near.chunks_exact(2).map(|row| 2.0 * row[0] - row[1] + 7.0).collect::<Vec<_>>());
    for weights in [None, Some(&weights)] {
        let options = LinearRegressionOptions { weights, ..LinearRegressionOptions::default() };
        let model = linear_regression(&runtime(2), &array(&near, &[2000, 2]), &y, &options).unwrap();
        assert_eq!(model.rank, 2);
        assert_close(&model.coefficients, &[2.0, -1.0], 1e-4);
        assert_close(&model.intercept, &[7.0], 1e-9);
    }
    // One column, no intercept: sum x y / (sum x^2 + alpha).
    let noise = normal(5, 1000);
    let y = vector(&noise.iter().map(|v| 3.0 * v + 1.0).collect::<Vec<_>>());
    let (xx, xy): (f64, f64) = (noise.iter().map(|v| v * v).sum(), noise.iter().map(|v| v * (3.0 * v + 1.0)).sum());
    let options = RidgeOptions { alpha: 100.0, intercept: false, weights: None };
    let model = ridge(&runtime(2), &vector(&noise), &y, &options).unwrap();
    assert_close(&model.coefficients, &[xy / (xx + 100.0)], 1e-10);
    let one = linear_regression(&runtime(1), &array(&[1.0, 2.0], &[1, 2]), &vector(&[5.0]), &Default::default());
    assert_close(&one.unwrap().intercept, &[5.0], 1e-12);
}

fn naive_lloyd(rows: &[f64], p: usize, centres: &mut [f64]) -> f64 {
    let k = centres.len() / p;
    let mut before = Vec::new();
    loop {
        let square =
            |row: &[f64], c: usize| -> f64 { row.iter().zip(&centres[c * p..]).map(|(a, b)| (a - b) * (a - b)).sum() };
        let nearest =
            |row: &[f64]| (0..k).map(|c| square(row, c)).enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let labels: Vec<usize> = rows.chunks_exact(p).map(|row| nearest(row).0).collect();
        let inertia = rows.chunks_exact(p).map(|row| nearest(row).1).sum();
        if labels == before {
            return inertia;
        }
        for c in 0..k {
            let own: Vec<&[f64]> =
                rows.chunks_exact(p).zip(&labels).filter(|own| *own.1 == c).map(|own| own.0).collect();
            for i in (0..p).filter(|_| !own.is_empty()) {
                centres[c * p + i] = own.iter().map(|row| row[i]).sum::<f64>() / own.len() as f64;
            }
        }
        before = labels;
    }
}

#[test]
fn kmeans_iterates_as_lloyd_does() {
    for far in [0.0, 1e6] {
        let numbers: Vec<f64> =
            blobs(6, 4000, &[&[0.0, 0.0], &[3.0, 0.0], &[0.0, 4.0]], 1.0).iter().map(|v| v + far).collect();
        let x = array(&numbers, &[4000, 2]);
        let mut centres: Vec<f64> = [0.1, 0.2, 1.0, 1.0, 2.0, 2.0].iter().map(|v| v + far).collect();
        let start = centres.clone();
        let options = KMeansOptions {
            clusters: 3,
            start: KMeansStart::Centres(&start),
            tolerance: 0.0,
            ..KMeansOptions::default()
        };
        let found = kmeans(&runtime(2), &x, &options).unwrap();
        let inertia = naive_lloyd(&numbers, 2, &mut centres);
        assert!(found.converged);
        assert_close(&found.centres, &centres, 1e-9);
        assert_close(&[found.inertia], &[inertia], 1e-9);
        let labels = values(&runtime(2), &found.predict(&x).unwrap());
        let count = |c: f64| labels.iter().filter(|label| **label == c).count() as f64;
        assert_eq!(found.counts, [count(0.0), count(1.0), count(2.0)]);
        assert_same_bits(|runtime| {
            let found = kmeans(runtime, &x, &KMeansOptions { clusters: 3, ..KMeansOptions::default() }).unwrap();
            [found.centres, vec![found.inertia]].concat()
        });
    }
}

/// Tiles of rows, chunks of columns and groups of centres that are not full, with rows that count several times.
#[test]
fn kmeans_of_any_shape_sums_what_is_next_to_a_centre() {
    for (rows, p, k) in [(1, 1, 1), (17, 3, 2), (1033, 4, 3), (515, 8, 4), (700, 13, 5), (2000, 17, 11)] {
        let numbers = uniform(rows as u64, rows * p);
        let times: Vec<f64> = (0..rows).map(|row| (row % 3 + 1) as f64).collect();
        let repeated: Vec<f64> = numbers
            .chunks_exact(p)
            .zip(&times)
            .flat_map(|(row, &times)| (0..times as usize).flat_map(|_| row.to_vec()))
            .collect();
        let start = numbers[..k * p].to_vec();
        let (x, weights) = (array(&numbers, &[rows, p]), vector(&times));
        let options = KMeansOptions {
            clusters: k,
            start: KMeansStart::Centres(&start),
            tolerance: 0.0,
            weights: Some(&weights),
            ..KMeansOptions::default()
        };
        let found = kmeans(&runtime(2), &x, &options).unwrap();
        let mut centres = start.clone();
        let inertia = naive_lloyd(&repeated, p, &mut centres);
        assert!(found.converged, "{rows} x {p}, {k} clusters");
        assert_close(&found.centres, &centres, 1e-9);
        assert_close(&[found.inertia], &[inertia], 1e-9);
        assert_eq!(found.counts.iter().sum::<f64>(), times.iter().sum::<f64>());
    }
}

/// A centre that is far away has a square in whose rounding all other distances would be lost.
#[test]
fn kmeans_finds_the_next_centres_beside_one_that_is_far() {
    for (k, far) in [(8, 1e6), (8, 1e9), (8, 1e12), (70, 1e9)] {
        let (rows, p) = (3000, 3);
        let mut numbers = normal(9, rows * p);
        numbers.extend([far, 0.0, 0.0]);
        let x = array(&numbers, &[rows + 1, p]);
        for is_given in [false, true] {
            let mut start = numbers[..k * p].to_vec();
            if is_given {
                start[(k - 1) * p..].copy_from_slice(&numbers[rows * p..]);
            }
            let options = KMeansOptions {
                clusters: k,
                start: KMeansStart::Centres(&start),
                tolerance: 0.0,
                ..KMeansOptions::default()
            };
            let found = kmeans(&runtime(2), &x, &options).unwrap();
            let labels = values(&runtime(2), &found.predict(&x).unwrap());
            let mut inertia = 0.0;
            for (row, label) in numbers.chunks_exact(p).zip(&labels) {
                let square = |centre: &[f64]| row.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                let least = found.centres.chunks_exact(p).map(square).fold(f64::INFINITY, f64::min);
                let own = square(&found.centres[*label as usize * p..][..p]);
                assert!(own <= least * (1.0 + 1e-12), "{k} centres, {far}: {own}, {least}");
                inertia += least;
            }
            let count = |c: usize| labels.iter().filter(|label| **label == c as f64).count() as f64;
            assert_eq!(found.counts, (0..k).map(count).collect::<Vec<_>>(), "{k} centres, {far}");
            // Rows less a shift are rounded where that is large.
            assert_close(&[found.inertia], &[inertia], if far > 1e9 { 1e-3 } else { 1e-6 });
        }
    }
}

#[test]
fn kmeans_finds_blobs_and_survives_what_is_odd() {
    let far: Vec<Vec<f64>> = (0..8).map(|c| vec![100.0 * c as f64, 50.0 * (c % 3) as f64]).collect();
    let centres: Vec<&[f64]> = far.iter().map(Vec::as_slice).collect();
    let x = array(&blobs(7, 8000, &centres, 1.0), &[8000, 2]);
    for seed in 0..4 {
        let found = kmeans(&runtime(2), &x, &KMeansOptions { seed, ..KMeansOptions::default() }).unwrap();
        assert!(found.inertia < 8000.0 * 2.2, "{}", found.inertia);
    }
    // More clusters than distinct rows.
    let numbers: Vec<f64> = (0..600).map(|row| (row % 3) as f64).collect();
    let found = kmeans(&runtime(2), &vector(&numbers), &KMeansOptions { clusters: 5, ..KMeansOptions::default() });
    assert_close(&[found.unwrap().inertia], &[0.0], 1e-12);
    // A centre without rows goes to the farthest one.
    let numbers = [0.0, 0.1, 0.2, 10.0, 10.1, 50.0];
    let start = KMeansStart::Centres(&[0.0, 10.0, 1000.0]);
    let options = KMeansOptions { clusters: 3, start, ..KMeansOptions::default() };
    let found = kmeans(&runtime(2), &vector(&numbers), &options).unwrap();
    assert_close(&found.centres, &[0.1, 10.05, 50.0], 1e-12);
    assert!(kmeans(&runtime(1), &vector(&[1.0]), &options).is_err());
    // A row of weight 0 is none, and one of weight 3 is three.
    let weights = vector(&[1.0, 3.0, 1.0, 1.0, 1.0, 0.0]);
    let start = KMeansStart::Centres(&[0.0, 10.0]);
    let options = KMeansOptions { clusters: 2, start, weights: Some(&weights), ..KMeansOptions::default() };
    let found = kmeans(&runtime(2), &vector(&numbers), &options).unwrap();
    assert_close(&found.centres, &[0.1, 10.05], 1e-12);
    assert_close(&found.counts, &[5.0, 2.0], 1e-12);
}

#[test]
fn mixtures_find_what_data_were_made_of() {
    use CovarianceType::*;
    for far in [0.0, 1e6] {
        let centres: [&[f64]; 2] = [&[far, far], &[far + 8.0, far + 2.0]];
        let numbers = blobs(8, 6000, &centres, 1.0);
        let x = array(&numbers, &[6000, 2]);
        for covariance in [Full, Tied, Diagonal, Spherical] {
            let options = GaussianMixtureOptions { components: 2, covariance, ..Default::default() };
            let found = gaussian_mixture(&runtime(2), &x, &options).unwrap();
            assert!(found.converged, "{far} {covariance:?} {:?}", found.lower_bounds);
            assert!(found.lower_bounds.windows(2).all(|pair| pair[1] >= pair[0] - 1e-6), "{:?}", found.lower_bounds);
            assert_close(&found.weights, &[0.5, 0.5], 0.02);
            let first = usize::from(found.means[0] > found.means[2]);
            let means: Vec<f64> = found.means.iter().map(|mean| mean - far).collect();
            assert_close(&means[2 * first..2 * first + 2], &[0.0, 0.0], 0.1);
            let diagonal = if covariance == Spherical { 0..2 } else { 0..1 };
            diagonal.for_each(|at| assert_close(&[found.covariances[at]], &[1.0], 0.06));
            let shares = values(&runtime(2), &found.predict_proba(&x).unwrap());
            shares.chunks_exact(2).for_each(|own| assert_close(&[own[0] + own[1]], &[1.0], 1e-12));
            assert_same_bits(|runtime| gaussian_mixture(runtime, &x, &options).unwrap().means);
        }
    }
}

#[test]
fn one_component_is_the_normal_distribution() {
    let numbers = normal(9, 4000);
    let x = array(&numbers, &[2000, 2]);
    let options = GaussianMixtureOptions { regularisation: 0.0, ..GaussianMixtureOptions::default() };
    let found = gaussian_mixture(&runtime(2), &x, &options).unwrap();
    let expected = covariance(&runtime(2), &x, &CovarianceOptions { correction: 0.0, weights: None }).unwrap();
    assert_close(&found.covariances, &expected.covariance, 1e-10);
    assert_close(&found.means, &expected.mean, 1e-10);
    let [a, b, _, d] = <[f64; 4]>::try_from(expected.covariance).unwrap();
    let det = a * d - b * b;
    let (u, v) = (numbers[0] - found.means[0], numbers[1] - found.means[1]);
    let square = (d * u * u - 2.0 * b * u * v + a * v * v) / det;
    let log = -0.5 * (square + det.ln()) - std::f64::consts::TAU.ln();
    assert_close(&values(&runtime(2), &found.score_samples(&x).unwrap())[..1], &[log], 1e-10);
    let start = MixtureStart::Given { weights: &[1.0], means: &[5.0, 5.0], precisions: &[1.0, 0.0, 0.0, 1.0] };
    let given = gaussian_mixture(&runtime(2), &x, &GaussianMixtureOptions { start, ..options }).unwrap();
    assert_close(&given.covariances, &found.covariances, 1e-9);
}

#[test]
fn mixtures_that_are_not_positive_definite_are_refused_with_the_value() {
    let refused = |options: GaussianMixtureOptions<'_>| {
        let constant = array(&[3.0; 20], &[10, 2]);
        let options = GaussianMixtureOptions { regularisation: 0.0, ..options };
        gaussian_mixture(&runtime(1), &constant, &options).unwrap_err().to_string()
    };
    for covariance in [CovarianceType::Full, CovarianceType::Tied] {
        let error = refused(GaussianMixtureOptions { covariance, ..Default::default() });
        assert!(error.ends_with("found the least eigenvalue 0; add more to variances (reg_covar)"), "{error}");
    }
    for covariance in [CovarianceType::Diagonal, CovarianceType::Spherical] {
        let error = refused(GaussianMixtureOptions { covariance, ..Default::default() });
        assert!(error.ends_with("found the variance 0; add more to variances (reg_covar)"), "{error}");
    }
    let start = MixtureStart::Given { weights: &[1.0], means: &[5.0, 5.0], precisions: &[1.0, 0.0, 0.0, -2.0] };
    let error = refused(GaussianMixtureOptions { start, ..Default::default() });
    assert_eq!(error, "expected precisions that are positive definite, found the least eigenvalue -2");
}

#[test]
fn logistic_models_are_minima() {
    let (n, p) = (3000, 2);
    let noise = uniform(11, n);
    for far in [0.0, 1e5] {
        let numbers: Vec<f64> = normal(10, n * p).iter().map(|v| v + far).collect();
        let x = array(&numbers, &[n, p]);
        for classes in [2, 3] {
            let score = |row: &[f64]| 2.0 * (row[0] - far) - (row[1] - far);
            let label = |(row, u): (&[f64], &f64)| {
                let share = 1.0 / (1.0 + (-score(row)).exp());
                f64::from(u32::from(*u < share) + u32::from(classes == 3 && *u < share * 0.5))
            };
            let labels: Vec<f64> = numbers.chunks_exact(p).zip(&noise).map(label).collect();
            let y = vector(&labels).cast(ElementType::Int64).unwrap();
            let options = LogisticRegressionOptions { c: 2.0, tolerance: 1e-9, ..Default::default() };
            let model = logistic_regression(&runtime(2), &x, &y, classes, &options).unwrap();
            assert!(model.converged, "{classes} {far}");
            // The gradient of the loss and the penalty vanishes.
            let shares = values(&runtime(2), &model.predict_proba(&x).unwrap());
            for c in 0..model.intercept.len() {
                let class = if classes == 2 { 1 } else { c };
                let error =
                    |row: usize| shares[row * classes + class] - f64::from(u8::from(labels[row] == class as f64));
                let sum: f64 = (0..n).map(error).sum();
                assert!(sum.abs() / n as f64 <= 1e-7, "{sum}");
                for i in 0..p {
                    let sum: f64 = (0..n).map(|row| error(row) * (numbers[row * p + i] - far)).sum();
                    let gradient = sum + model.coefficients[c * p + i] / 2.0;
                    assert!(gradient.abs() / n as f64 <= 1e-7, "{gradient}");
                }
            }
            let predicted = values(&runtime(2), &model.predict(&x).unwrap());
            let right = predicted.iter().zip(&labels).filter(|(a, b)| a == b).count();
            assert!(right > n / 2);
            assert_same_bits(|runtime| logistic_regression(runtime, &x, &y, classes, &options).unwrap().coefficients);
        }
    }
}

#[test]
fn many_parameters_take_lbfgs() {
    let (n, p) = (1500, 210);
    let numbers = normal(12, n * p);
    let labels: Vec<f64> = numbers.chunks_exact(p).map(|row| f64::from(u8::from(row[0] + row[1] > 0.3))).collect();
    let (x, y) = (array(&numbers, &[n, p]), vector(&labels));
    let options = LogisticRegressionOptions { c: 0.01, max_iterations: 200, ..Default::default() };
    let model = logistic_regression(&runtime(2), &x, &y, 2, &options).unwrap();
    assert!(model.converged, "{:?}", model.stats.stopped_by);
    assert!(model.coefficients[0] > 0.1 && model.coefficients[5].abs() < 0.2);
    assert!(logistic_regression(&runtime(2), &x, &y, 1, &options).is_err());
    let bad = vector(&vec![2.0; n]);
    assert!(logistic_regression(&runtime(2), &x, &bad, 2, &options).is_err());
}

#[test]
fn naive_bayes_finds_classes() {
    for far in [0.0, 1e9] {
        let numbers = blobs(13, 2000, &[&[far, far], &[far + 6.0, far - 6.0]], 1.0);
        let labels: Vec<f64> = (0..2000).map(|row| (row % 2) as f64).collect();
        let (x, y) = (array(&numbers, &[2000, 2]), vector(&labels));
        let model = gaussian_nb(&runtime(2), &x, &y, 2, &GaussianNbOptions::default()).unwrap();
        assert_close(&model.variances, &[1.0; 4], 0.1);
        assert_eq!(model.counts, [1000.0, 1000.0]);
        assert_eq!(values(&runtime(2), &model.predict(&x).unwrap()), labels);
        let own: Vec<f64> = numbers.iter().step_by(4).copied().collect();
        let mean = own[0] + own.iter().map(|v| v - own[0]).sum::<f64>() / 1000.0;
        assert_close(&[model.means[0]], &[mean], 1e-14);
        assert_same_bits(|runtime| gaussian_nb(runtime, &x, &y, 2, &GaussianNbOptions::default()).unwrap().variances);
        assert!(gaussian_nb(&runtime(2), &x, &y, 3, &GaussianNbOptions::default()).is_err());
    }
}

#[test]
fn rows_that_are_not_finite_are_refused() {
    let rows = normal(9, 3000);
    let x = array(&rows, &[1500, 2]);
    let (runtime, options) = (runtime(2), KMeansOptions { clusters: 2, ..KMeansOptions::default() });
    let model = kmeans(&runtime, &x, &options).unwrap();
    let labels = values(&runtime, &model.predict(&x).unwrap());
    assert!(labels.iter().all(|&label| label == 0.0 || label == 1.0));
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut rows = rows.clone();
        rows[2001] = wrong;
        let goal = outcore_array::Goal::Value(model.predict(&array(&rows, &[1500, 2])).unwrap());
        let error = outcore_array::compute(&runtime, &[goal]).unwrap_err().to_string();
        assert!(error.contains("expected finite numbers"), "{error}");
    }
}

#[test]
fn passes_are_counted_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (n, p) = (1 << 20, 32);
    let random = outcore_array::Random { distribution: outcore_array::Distribution::Normal, seed: 3 };
    let path = on_disk(folder.path(), "x.oc", &Array::random(vec![n, p], random).unwrap());
    // 256 MiB of data.
    let runtime = runtime_under(2, 32 << 20, None);
    let x = open(&runtime, &path);
    let y = x.slice(&[
        Some(outcore_array::AxisPart::Range { start: 0, step: 1, count: n }),
        Some(outcore_array::AxisPart::Index(0)),
    ]);
    let y =
        y.unwrap().binary(outcore_array::kernel::Binary::Greater, &vector(&[0.0]).without_axis(0).unwrap()).unwrap();
    // Cached data is not read again.
    let check = |name: &str, stats: outcore_image::Stats, expected: usize| {
        assert_eq!(stats.steps.len(), expected, "{name}: passes");
        let passes = stats.passes;
        assert!((0.85 * expected as f64..expected as f64 + 0.01).contains(&passes), "{name}: read {passes} times");
    };
    check("describe", describe(&runtime, &x).unwrap().stats, 1);
    check("covariance", covariance(&runtime, &x, &CovarianceOptions::default()).unwrap().stats, 1);
    for solver in [PcaSolver::Covariance, PcaSolver::Tsqr] {
        check("pca", pca(&runtime, &x, &PcaOptions { components: None, solver }).unwrap().stats, 1);
    }
    {
        let runtime = runtime_under(1, 32 << 20, None);
        let found = quantiles(&runtime, &open(&runtime, &path), &[0.5], &QuantilesOptions { error: 0.1 }).unwrap();
        check("quantiles", found.stats, 1);
    }
    check("linear", linear_regression(&runtime, &x, &y, &Default::default()).unwrap().stats, 1);
    check("bayes", gaussian_nb(&runtime, &x, &y, 2, &Default::default()).unwrap().stats, 1);
    check("scaler", standard_scaler(&runtime, &x, &Default::default()).unwrap().stats, 1);
    let options = KMeansOptions { clusters: 4, max_iterations: 3, tolerance: 0.0, ..Default::default() };
    // Rounds, moments, shares; three iterations; the last sum of squares.
    check("k-means", kmeans(&runtime, &x, &options).unwrap().stats, 7 + 3 + 1);
    let options = GaussianMixtureOptions {
        components: 2,
        max_iterations: 2,
        tolerance: 0.0,
        start: MixtureStart::Given {
            weights: &[0.5, 0.5],
            means: &(0..64).map(|at| at as f64 / 64.0).collect::<Vec<_>>(),
            precisions: &[1.0; 64],
        },
        covariance: CovarianceType::Diagonal,
        ..Default::default()
    };
    check("mixture", gaussian_mixture(&runtime, &x, &options).unwrap().stats, 2);
    let options = LogisticRegressionOptions { c: 1e-4, ..Default::default() };
    let model = logistic_regression(&runtime, &x, &y, 2, &options).unwrap();
    check("logistic", model.stats, 2 + model.iterations);
}

#[test]
fn columns_near_each_other_leave_coefficients_their_digits() {
    for (n, apart) in [(2000, 1e-3), (2000, 1e-4), (2000, 5e-6), (2000, 3e-6)] {
        let noise = normal(11, 2 * n);
        let numbers: Vec<f64> = noise.chunks_exact(2).flat_map(|v| [v[0], v[0] + apart * v[1]]).collect();
        let y: Vec<f64> = numbers.chunks_exact(2).map(|row| 2.0 * row[0] - row[1] + 7.0).collect();
        let (x, y) = (array(&numbers, &[n, 2]), vector(&y));
        let model = linear_regression(&runtime(2), &x, &y, &LinearRegressionOptions::default()).unwrap();
        assert_close(&model.coefficients, &[2.0, -1.0], 1e-9);
        // A penalty of next to nothing, which the factor takes as well.
        let options = RidgeOptions { alpha: 1e-12, intercept: true, weights: None };
        assert_close(&ridge(&runtime(2), &x, &y, &options).unwrap().coefficients, &[2.0, -1.0], 1e-3);
    }
}

/// Rows in a plane, around means that are not 0: what is left of the other directions is rounding.
#[test]
fn components_that_rounding_explains_have_no_variance() {
    let (n, p) = (3000, 6);
    for far in [0.0, 1e4] {
        let (places, directions) = (normal(12, 2 * n), normal(13, 2 * p));
        let at = |row: usize, column: usize| {
            far + places[2 * row] * directions[column] + places[2 * row + 1] * directions[p + column]
        };
        let numbers: Vec<f64> = (0..n * p).map(|i| at(i / p, i % p)).collect();
        for solver in [PcaSolver::Covariance, PcaSolver::Tsqr] {
            let options = PcaOptions { components: None, solver };
            let found = pca(&runtime(2), &array(&numbers, &[n, p]), &options).unwrap();
            assert!(found.explained_variance[..2].iter().all(|variance| *variance > 0.1));
            assert_eq!(found.explained_variance[2..], [0.0; 4], "{far} {solver:?}");
        }
    }
    // Columns of units far apart are not rounding to a factor, whose errors are those of each column.
    let numbers: Vec<f64> = normal(14, 2 * n).chunks_exact(2).flat_map(|v| [1e9 * v[0], v[1]]).collect();
    let options = PcaOptions { components: None, solver: PcaSolver::Tsqr };
    let found = pca(&runtime(2), &array(&numbers, &[n, 2]), &options).unwrap();
    assert_close(&[found.explained_variance[1]], &[1.0], 0.1);
}

#[test]
fn components_of_tiny_numbers_are_found_or_refused() {
    let (n, p) = (1000, 3);
    let numbers = |scale: f64| -> Vec<f64> {
        normal(15, n * p).iter().enumerate().map(|(i, v)| v * scale * [3.0, 2.0, 1.0][i % p]).collect()
    };
    for solver in [PcaSolver::Covariance, PcaSolver::Tsqr] {
        let options = PcaOptions { components: None, solver };
        let of = |scale: f64| pca(&runtime(2), &array(&numbers(scale), &[n, p]), &options);
        let expected = of(1.0).unwrap();
        for scale in [1e-140, 1e-100, 1e100, 1e140] {
            let found = of(scale).unwrap();
            let values: Vec<f64> = found.singular_values.iter().map(|value| value / scale).collect();
            assert_close(&values, &expected.singular_values, 1e-9);
            assert_close(&found.components, &expected.components, 1e-9);
        }
        match of(1e-160) {
            Ok(found) => {
                let values: Vec<f64> = found.singular_values.iter().map(|value| value / 1e-160).collect();
                assert_close(&values, &expected.singular_values, 1e-9);
            }
            Err(error) => assert!(error.to_string().contains("scale them"), "{error}"),
        }
    }
}

/// Classes whose means differ by five deviations at a distance of 10^7 from the others.
#[test]
fn naive_bayes_tells_near_classes_far_from_others_apart() {
    let n = 3000;
    let means = [0.0, 1e7, 1e7 + 0.05];
    let noise = normal(16, n);
    let numbers: Vec<f64> = (0..n).map(|row| means[row % 3] + 0.01 * noise[row]).collect();
    let labels: Vec<f64> = (0..n).map(|row| (row % 3) as f64).collect();
    let (x, y) = (array(&numbers, &[n, 1]), vector(&labels));
    let options = GaussianNbOptions { smoothing: 1e-20, ..GaussianNbOptions::default() };
    let found = gaussian_nb(&runtime(2), &x, &y, 3, &options).unwrap();
    let predicted = values(&runtime(2), &found.predict(&x).unwrap());
    let right = predicted.iter().zip(&labels).filter(|(own, label)| own == label).count();
    assert!(right as f64 > 0.99 * n as f64, "{right} of {n}");
}

/// Without a penalty there is an optimum only where classes overlap.
#[test]
fn separable_classes_without_penalty_are_told() {
    let n = 900;
    for (classes, gap, is_separable) in [(2, 20.0, true), (3, 20.0, true), (2, 1.0, false), (3, 1.0, false)] {
        let noise = normal(17, n);
        let numbers: Vec<f64> = (0..n).map(|row| gap * (row % classes) as f64 + noise[row]).collect();
        let labels = vector(&(0..n).map(|row| (row % classes) as f64).collect::<Vec<_>>());
        let x = array(&numbers, &[n, 1]);
        for c in [f64::INFINITY, 1.0] {
            let options = LogisticRegressionOptions { c, ..LogisticRegressionOptions::default() };
            let runtime = runtime(2);
            let found = logistic_regression(&runtime, &x, &labels, classes, &options).unwrap();
            let expected = is_separable && c.is_infinite();
            assert_eq!(found.is_separable, expected, "{classes} classes, {gap} apart, {c}");
        }
    }
    // A row of the other class counts only if it has a weight.
    let x = vector(&[0.0, 1.0, 2.0, 3.0, 0.5]);
    let labels = vector(&[0.0, 0.0, 1.0, 1.0, 1.0]);
    for (weight, is_separable) in [(0.0, true), (1.0, false)] {
        let weights = vector(&[1.0, 1.0, 1.0, 1.0, weight]);
        let options = LogisticRegressionOptions { c: f64::INFINITY, weights: Some(&weights), ..Default::default() };
        let found = logistic_regression(&runtime(1), &x, &labels, 2, &options).unwrap();
        assert_eq!(found.is_separable, is_separable, "{weight}");
    }
}

#[test]
fn errors_name_the_columns() {
    let x = array(&[1.0, 2.0, 3.0, f64::NAN], &[2, 2]);
    let options = KMeansOptions { clusters: 1, ..KMeansOptions::default() };
    let error = || kmeans(&runtime(1), &x, &options).unwrap_err();
    let named = with_names(error(), &["a", "b"].map(str::to_owned)).to_string();
    assert!(named.contains("in column `b`, rows 0 to 1"), "{named}");
    assert!(with_names(error(), &[]).to_string().contains("in column 1, rows 0 to 1"));
}
