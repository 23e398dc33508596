//! Singular values beside those of dense matrices.

use crate::common::{Entries, bits, matrix, runtime};
use faer::Mat;
use outcore_linalg::{RandomizedSvdOptions, Svd, SvdsOptions, Vectors, randomized_svd, svds};

/// All singular values, in descending order.
fn dense(given: &Entries, center: bool) -> Vec<f64> {
    let mut full = Mat::<f64>::zeros(given.rows as usize, given.columns as usize);
    given.expanded().entries.iter().for_each(|(&(row, column), &value)| full[(row as usize, column as usize)] = value);
    if center {
        for column in 0..full.ncols() {
            let mean = (0..full.nrows()).map(|row| full[(row, column)]).sum::<f64>() / full.nrows() as f64;
            (0..full.nrows()).for_each(|row| full[(row, column)] -= mean);
        }
    }
    full.singular_values().unwrap()
}

fn numbers(vectors: &Vectors) -> Vec<f64> {
    let (rows, count) = vectors.shape();
    let mut numbers = vec![f64::NAN; rows * count];
    vectors.write(&mut numbers).unwrap();
    for i in 0..count {
        for k in 0..=i {
            let dot: f64 = (0..rows).map(|row| numbers[row * count + i] * numbers[row * count + k]).sum();
            assert!((dot - f64::from(u8::from(i == k))).abs() < 1e-12, "vectors {i} and {k}: {dot}");
        }
    }
    numbers
}

/// The vectors, which belong to each other and to the values.
fn checked(given: &Entries, found: &Svd) -> (Vec<f64>, Vec<f64>) {
    let (left, right, count) = (numbers(&found.vectors.left), numbers(&found.vectors.right), found.values.len());
    let (forward, backward) = (given.multiply(&right, count), given.transposed().multiply(&left, count));
    let length = |product: &[f64], vectors: &[f64], i: usize| {
        let rows = product.chunks(count).zip(vectors.chunks(count));
        rows.map(|(product, vector)| (product[i] - found.values[i] * vector[i]).powi(2)).sum::<f64>().sqrt()
    };
    for i in 0..count {
        let residual = length(&forward, &left, i).max(length(&backward, &right, i));
        assert!(residual <= found.residual_bound + 1e-300, "pair {i} of {:?}: {residual}", found.values);
        assert!((residual - found.residuals[i]).abs() <= 1e-12 * found.values[0], "{:?}", found.residuals);
    }
    assert!(found.converged == count && found.values.is_sorted_by(|a, b| a >= b));
    (left, right)
}

fn shapes() -> Vec<Entries> {
    let mut given = vec![Entries::new(5, 3), Entries::new(1, 1), Entries::new(1000, 700)];
    for (rows, columns, count) in
        [(1, 7, 5), (7, 1, 5), (60, 40, 300), (40, 60, 300), (900, 700, 5000), (700, 1500, 4000)]
    {
        given.push(Entries::random(rows, columns, count, false));
    }
    // One full row and column, in nothing else; two equal halves, so that every value is there twice.
    let mut cross = Entries::new(800, 600);
    (0..600).for_each(|column| cross.add(3, column, 1.0));
    (0..800).for_each(|row| cross.add(row, 5, 1.0));
    let mut twice = Entries::new(800, 800);
    for (&(row, column), &value) in &Entries::random(400, 400, 3000, false).entries {
        twice.add(row, column, value);
        twice.add(row + 400, column + 400, value);
    }
    given.extend([cross, twice]);
    given
}

#[test]
fn values_are_those_of_the_dense_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for given in shapes() {
        let known = dense(&given, false);
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        for block in [1, 2, 4] {
            let options = SvdsOptions { k: known.len().min(6), block, ..SvdsOptions::default() };
            let found = svds(&matrix, &options).unwrap();
            checked(&given, &found);
            for (found, known) in found.values.iter().zip(&known) {
                assert!((found - known).abs() <= 1e-12 * known.max(1.0), "{found} {known}");
            }
        }
    }
}

/// The product of orthonormal columns, a diagonal matrix of these values, and orthonormal rows.
fn of_values(rows: u64, columns: u64, values: &[f64]) -> Entries {
    let side = |size: u64| {
        let count = values.len();
        let random = Entries::random(size, count as u64, 40 * size, false).entries;
        let full = Mat::from_fn(size as usize, count, |i, k| {
            random.get(&(i as u64, k as u64)).copied().unwrap_or(0.5) + if i % count == k { 1.0 } else { 0.0 }
        });
        full.qr().compute_thin_Q()
    };
    let (left, right) = (side(rows), side(columns));
    let mut given = Entries::new(rows, columns);
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let term = |i: usize| left[(row as usize, i)] * values[i] * right[(column as usize, i)];
        given.add(row, column, (0..values.len()).map(term).sum());
    }
    given
}

#[test]
fn small_values_are_as_exact_as_great_ones() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let values: Vec<f64> = (0..12).map(|i| 10.0f64.powi(-i)).collect();
    // Solved as dense, and with a subspace.
    for (rows, columns) in [(200, 150), (150, 200), (500, 400)] {
        let given = of_values(rows, columns, &values);
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        for (k, block) in [(12, 2), (9, 1), (7, 4)] {
            let found = svds(&matrix, &SvdsOptions { k, block, ..SvdsOptions::default() }).unwrap();
            checked(&given, &found);
            for ((found, known), residual) in found.values.iter().zip(&values).zip(&found.residuals) {
                assert!((found - known).abs() <= 1e-14, "{rows} {block}: {found} {known}");
                assert!(*residual <= 1e-13f64.max(1e-5 * known), "{rows} {block}: {residual} of {known}");
            }
        }
    }
}

#[test]
fn a_random_projection_comes_near() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for mut given in shapes() {
        // Values that stand out, as those have that a projection is for.
        for i in 0..given.rows.min(given.columns).min(4) {
            given.add(i, i, 100.0 - 10.0 * i as f64);
        }
        let image = given.image(folder.path(), false);
        let matrix = matrix(&runtime, &image, true);
        for center in [false, true] {
            let known = dense(&given, center);
            for passes in [2, 6] {
                let options = RandomizedSvdOptions { k: known.len().min(4), passes, center, ..Default::default() };
                let found = randomized_svd(&matrix, &options).unwrap();
                let (left, right) = (numbers(&found.left), numbers(&found.right));
                if given.rows.min(given.columns) > 100 {
                    assert_eq!(found.stats.steps.len(), passes + 1 + usize::from(center));
                }
                assert_eq!(
                    (left.len(), right.len()),
                    (given.rows as usize * options.k, given.columns as usize * options.k)
                );
                let tolerance = if passes == 2 { 0.1 } else { 1e-4 };
                for (found, known) in found.values.iter().zip(&known) {
                    assert!((found - known).abs() <= tolerance * known + 1e-12, "{passes} {found} {known}");
                }
                assert_eq!(found.means.is_some(), center);
            }
        }
    }
}

#[test]
fn a_random_projection_of_flat_values_says_how_near_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let given = Entries::random(1200, 1000, 10_000, false);
    let known = dense(&given, false);
    let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
    for (passes, tolerance) in [(2, 0.4), (4, 0.15), (6, 0.06), (20, 1e-3)] {
        let options = RandomizedSvdOptions { k: 10, passes, ..Default::default() };
        let found = randomized_svd(&matrix, &options).unwrap();
        let (left, right) = (numbers(&found.left), numbers(&found.right));
        let product = given.multiply(&right, 10);
        for i in 0..10 {
            let rows = product.chunks(10).zip(left.chunks(10));
            let square: f64 = rows.map(|(product, left)| (product[i] - found.values[i] * left[i]).powi(2)).sum();
            assert!((square.sqrt() - found.residuals[i]).abs() <= 1e-12 * known[0], "{passes}: {:?}", found.residuals);
            let distance = (found.values[i] - known[i]).abs();
            assert!(distance <= tolerance * known[i], "{passes}: {} {}", found.values[i], known[i]);
            // There is a value within the residual.
            assert!(known.iter().any(|value| (value - found.values[i]).abs() <= found.residuals[i] + 1e-12));
        }
    }
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let given = Entries::random(50_000, 70_000, 300_000, false);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), false);
    let mut expected: Option<Vec<Vec<u64>>> = None;
    for (threads, memory) in [(1, None), (2, None), (3, Some(60 << 20)), (2, Some(48 << 20))] {
        let runtime = runtime(threads, memory);
        let matrix = matrix(&runtime, &image, true);
        let found = svds(&matrix, &SvdsOptions { k: 3, ncv: Some(40), ..SvdsOptions::default() }).unwrap();
        let (left, right) = checked(&given, &found);
        let values = found.values.clone();
        drop(found);
        let options = RandomizedSvdOptions { k: 5, oversamples: 27, center: true, ..Default::default() };
        let near = randomized_svd(&matrix, &options).unwrap();
        let all = [&values, &left, &right, &near.values, &numbers(&near.left), &numbers(&near.right)];
        let all = all.map(|numbers| bits(numbers)).to_vec();
        assert!(*expected.get_or_insert(all.clone()) == all, "{threads} {memory:?}");
    }
}

#[test]
fn numbers_whose_squares_vanish_are_refused() {
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime(2, None));
    for (rows, columns) in [(30, 20), (20, 30), (900, 700)] {
        let options = SvdsOptions { k: 2, tol: 1e-6, ..SvdsOptions::default() };
        for scale in [1e-75, 1e-170, 1e-200, 1e-300, 1e-320] {
            let mut given = Entries::random(rows, columns, 3 * rows, false);
            given.entries.values_mut().for_each(|value| *value *= scale);
            let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
            let refused = svds(&matrix, &options).unwrap_err().to_string();
            assert!(refused.contains("multiply the matrix by a number first"), "{scale}: {refused}");
        }
        // A single entry is not seen by most vectors.
        let mut given = Entries::new(rows, columns);
        given.add(7, 11, 1e-300);
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        assert!(svds(&matrix, &options).unwrap_err().to_string().contains("multiply the matrix by a number first"));
    }
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let given = Entries::random(50, 30, 200, false);
    let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
    for k in [0, 31] {
        let refused = svds(&matrix, &SvdsOptions { k, ..SvdsOptions::default() }).unwrap_err().to_string();
        assert!(refused.contains("expected k from 1 to 30"), "{refused}");
        let refused =
            randomized_svd(&matrix, &RandomizedSvdOptions { k, ..Default::default() }).unwrap_err().to_string();
        assert!(refused.contains("expected k from 1 to 30"), "{refused}");
    }
    for passes in [0, 1, 3] {
        let options = RandomizedSvdOptions { passes, ..Default::default() };
        assert!(
            randomized_svd(&matrix, &options).unwrap_err().to_string().contains("expected an even number of passes")
        );
    }
}
