//! Eigenvalues beside closed forms, on disk and in memory.

use crate::common::{Entries, bits, matrix, options, random, runtime};
use outcore_io::{Progress, Runtime, RuntimeOptions, Unit};
use outcore_linalg::{Eigenpairs, EigsOptions, EigshOptions, Spectrum, SvdsOptions, Which, eigs, eigsh, svds};
use outcore_matrix::SparseMatrix;
use std::f64::consts::PI;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The vectors, checked: orthonormal, and with the residuals that are said.
fn checked(given: &Entries, found: &mut Eigenpairs) -> Vec<f64> {
    let (rows, count) = found.vectors.shape();
    let mut vectors = vec![f64::NAN; rows * count];
    found.vectors.write(&mut vectors).unwrap();
    let products = given.multiply(&vectors, count);
    for i in 0..count {
        for k in 0..=i {
            let dot: f64 = (0..rows).map(|row| vectors[row * count + i] * vectors[row * count + k]).sum();
            let unit = if i == k { 1.0 } else { 0.0 };
            assert!((dot - unit).abs() < 1e-12, "vectors {i} and {k}: {dot}");
        }
        let error = |row: usize| (products[row * count + i] - found.values[i] * vectors[row * count + i]).powi(2);
        let residual = (0..rows).map(error).sum::<f64>().sqrt();
        assert!((residual - found.residuals[i]).abs() <= 1e-12, "{residual} {}", found.residuals[i]);
        assert!(residual <= found.residual_bound, "pair {i} of {:?}: {residual}", found.values);
    }
    assert!(found.converged == count && found.values.is_sorted());
    vectors
}

/// Finds eigenvalues and compares them with those that are known.
fn compare(given: &Entries, mut known: Vec<f64>, options: &EigshOptions) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &given.image(folder.path(), true), true);
    let mut found = eigsh(&matrix, options).unwrap();
    let vectors = checked(given, &mut found);
    match options.which {
        Which::LargestMagnitude => known.sort_by(|a, b| b.abs().total_cmp(&a.abs())),
        Which::LargestAlgebraic => known.sort_by(|a, b| b.total_cmp(a)),
        Which::SmallestAlgebraic => known.sort_by(f64::total_cmp),
        Which::SmallestMagnitude => known.sort_by(|a, b| a.abs().total_cmp(&b.abs())),
        which => panic!("{which:?} has no order"),
    }
    let scale = known.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    // Values of the same magnitude may take each other's places.
    let is_by_magnitude = [Which::LargestMagnitude, Which::SmallestMagnitude].contains(&options.which);
    let key = |value: f64| if is_by_magnitude { value.abs() } else { value };
    let sorted = |values: &[f64]| {
        let mut keys: Vec<f64> = values.iter().map(|&value| key(value)).collect();
        keys.sort_by(f64::total_cmp);
        keys
    };
    for (found, known) in sorted(&found.values).iter().zip(sorted(&known[..options.k])) {
        assert!((found - known).abs() <= options.tol.max(1e-11) * scale, "{found} {known}");
    }
    vectors
}

const ENDS: [Which; 3] = [Which::LargestMagnitude, Which::LargestAlgebraic, Which::SmallestAlgebraic];

#[test]
fn known_spectra_are_found() {
    for block in [1, 2, 4, 8] {
        for which in ENDS {
            let options = EigshOptions { block, which, ..options(6) };
            // A grid with sides of different lengths, and its double eigenvalues where they are the same.
            for (height, width) in [(40, 31), (30, 30)] {
                let known = |i, k| {
                    2.0 * (PI * i as f64 / (height as f64 + 1.0)).cos()
                        + 2.0 * (PI * k as f64 / (width as f64 + 1.0)).cos()
                };
                let known = (1..=height).flat_map(|i| (1..=width).map(move |k| known(i, k))).collect();
                compare(&Entries::grid(height, width), known, &options);
            }
        }
    }
}

#[test]
fn repeated_eigenvalues_are_found_as_often_as_they_are_there() {
    let choose = |n: u64, k: u64| (0..k).fold(1, |count, i| count * (n - i) / (i + 1)) as usize;
    // The hypercube's d - 2 i, as often as i of d can be chosen.
    let known: Vec<f64> = (0..=10).flat_map(|i| vec![10.0 - 2.0 * i as f64; choose(10, i)]).collect();
    for block in [1, 2, 4] {
        for which in ENDS {
            compare(&Entries::hypercube(10), known.clone(), &EigshOptions { block, which, ..options(14) });
        }
    }
    for seed in 0..6 {
        let options = EigshOptions { seed, block: [1, 2, 4, 8][seed as usize % 4], ..options(14) };
        compare(&Entries::hypercube(10), known.clone(), &options);
    }
    // Fewer vectors than a block has.
    let mut ones = Entries::new(300, 300);
    (0..300).for_each(|row| (0..=row).for_each(|column| ones.add_both(&[(row, column, 0.01)])));
    for block in [2, 8] {
        let mut known = vec![0.0; 300];
        known[0] = 3.0;
        for which in ENDS {
            compare(&ones, known.clone(), &EigshOptions { block, which, ..options(5) });
        }
    }
    // Many copies of one small graph.
    let known: Vec<f64> = (0..300).flat_map(|_| [2.0f64.sqrt(), 0.0, -(2.0f64.sqrt()), 0.0]).collect();
    let mut copies = Entries::new(1200, 1200);
    (0..300).for_each(|i| copies.add_both(&[(4 * i, 4 * i + 1, 1.0), (4 * i, 4 * i + 2, 1.0)]));
    compare(&copies, known, &EigshOptions { which: Which::LargestAlgebraic, ..options(9) });
}

#[test]
fn few_columns_miss_no_wanted_pair() {
    let mut state = 5;
    for trial in 0..60 {
        // Few values at either end, with gaps of all sizes between them.
        let normal =
            |state: &mut u64| (0..6).map(|_| random(state, 1 << 20) as f64 / (1 << 20) as f64).sum::<f64>() - 3.0;
        let values: Vec<f64> = (0..300).map(|_| normal(&mut state)).collect();
        for which in ENDS {
            let options = EigshOptions { which, ncv: Some(14), seed: trial, ..options(8) };
            compare(&Entries::diagonal(&values), values.clone(), &options);
        }
    }
}

#[test]
fn pairs_that_restarts_end_before_all_is_known_are_not_complete() {
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime(2, None));
    // The other end is crowded, and its best value is nearly wanted.
    let values: Vec<f64> = (0..400).map(|i| if i < 4 { 10.0 - i as f64 } else { i as f64 / 1e3 - 7.0038 }).collect();
    let matrix = matrix(&runtime, &Entries::diagonal(&values).image(folder.path(), true), true);
    let run = |max_iterations| eigsh(&matrix, &EigshOptions { ncv: Some(12), max_iterations, ..options(4) }).unwrap();
    assert!(run(1000).is_complete);
    assert!((0..60).map(run).any(|found| found.converged == 4 && !found.is_complete));
}

#[test]
fn the_tolerance_is_that_of_each_value() {
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime(2, None));
    let mut path = Entries::new(400, 400);
    (0..400).for_each(|i| path.add_both(&[(i, i, 2.0), (i, (i + 1).min(399), if i == 399 { 2.0 } else { -1.0 })]));
    let matrix = matrix(&runtime, &path.image(folder.path(), true), true);
    for which in [Which::SmallestAlgebraic, Which::SmallestMagnitude] {
        let found = eigsh(&matrix, &EigshOptions { which, tol: 1e-4, ..options(3) }).unwrap();
        for (i, value) in (1..).zip(&found.values) {
            let known = 2.0 - 2.0 * (PI * i as f64 / 401.0).cos();
            assert!((value - known).abs() <= 1e-4 * known, "{value} {known}");
        }
        assert!(found.converged == 3 && found.residuals[0] <= 1e-4 * found.values[0]);
    }
}

#[test]
fn matrices_that_are_not_symmetric_are_refused_by_place() {
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime(2, None));
    let refusal = |given: &Entries| {
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        eigsh(&matrix, &options(2)).map(|found| found.converged).map_err(|error| error.to_string())
    };
    let mut given = Entries::grid(20, 30).expanded();
    assert!(refusal(&given).is_ok());
    given.add(5, 6, 1.0 + 1e-11);
    let refused = refusal(&given).unwrap_err();
    assert!(refused.contains("symmetric matrix in") && refused.contains("which differ by 1.000e-11"), "{refused}");
    assert!(refused.contains("in row 5 and column 6") && refused.contains("in row 6 and column 5"), "{refused}");
    // A small block beside large numbers.
    given.add(5, 6, 1.5);
    given.add(599, 599, 1e12);
    assert!(refusal(&given).unwrap_err().contains("which differ by 5.000e-1"));
    // The rounding of numbers that cancel is no difference.
    given.add(5, 6, 1.0 + 1e-5);
    assert!(refusal(&given).is_ok());
}

#[test]
fn hubs_round_more() {
    for (rim, leaves) in [(0.0, 10_000), (0.0, 50_000), (1.0, 30_000)] {
        let wheel = Entries::wheel(leaves, rim);
        // The hub and all leaves alike.
        let known = rim + (rim * rim + leaves as f64).sqrt();
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime(2, None);
        let matrix = matrix(&runtime, &wheel.image(folder.path(), true), true);
        let found = eigsh(&matrix, &EigshOptions { which: Which::LargestAlgebraic, ..options(1) }).unwrap();
        assert!(found.converged == 1 && (found.values[0] - known).abs() <= 1e-12 * known, "{:?}", found.residuals);
        let found = svds(&matrix, &SvdsOptions { k: 1, ..SvdsOptions::default() }).unwrap();
        assert!(found.converged == 1 && (found.values[0] - known).abs() <= 1e-12 * known, "{:?}", found.residuals);
        let options = EigsOptions { k: 1, which: Spectrum::LargestReal, ..EigsOptions::default() };
        let found = eigs(&matrix, &options).unwrap();
        assert!(found.converged == 1 && (found.values[0].re - known).abs() <= 1e-12 * known, "{:?}", found.residuals);
    }
}

#[test]
fn eigenvalues_next_to_zero() {
    let diagonal = Entries::diagonal;
    let side = |size: usize| (1..=size).map(move |i| 2.0 * (PI * i as f64 / (size as f64 + 1.0)).cos());
    let known: Vec<f64> = side(17).flat_map(|i| side(20).map(move |k| i + k)).collect();
    for block in [1, 2, 4] {
        // Some of them have the same magnitude and either sign; of the last pair one is wanted, or none, or both.
        for k in [4, 5, 6] {
            let options = EigshOptions { block, tol: 1e-9, which: Which::SmallestMagnitude, ..options(k) };
            compare(&Entries::grid(17, 20), known.clone(), &options);
        }
        let options = EigshOptions { block, tol: 1e-9, which: Which::SmallestMagnitude, ..options(5) };
        // All on one side of zero, or all but a few that hardly are not, or on both sides.
        for sign in [1.0, -1.0] {
            let mut values: Vec<f64> = (1..=600).map(|i| sign * (i as f64).sqrt()).collect();
            compare(&diagonal(&values), values.clone(), &options);
            values[0] = -sign * 1e-4;
            values[1] = -sign * 2e-4;
            compare(&diagonal(&values), values.clone(), &options);
            values[599] = -sign * 20.0;
            compare(&diagonal(&values), values.clone(), &options);
        }
    }
    // As often as they are there, and solved as dense.
    let choose = |n: u64, k: u64| (0..k).fold(1, |count, i| count * (n - i) / (i + 1)) as usize;
    for dimension in [6, 9, 10, 11] {
        let copies = |i| vec![dimension as f64 - 2.0 * i as f64; choose(dimension, i)];
        let known: Vec<f64> = (0..=dimension).flat_map(copies).collect();
        let options = EigshOptions { which: Which::SmallestMagnitude, ..options(14) };
        compare(&Entries::hypercube(dimension), known, &options);
    }
    // Eigenvalues of either sign are close, but for the last digits of the square.
    let mut values: Vec<f64> = (0..200).flat_map(|i| [1.0 + i as f64 / 199.0, -1.0 - i as f64 / 199.0]).collect();
    values.extend([0.5, 0.5, 0.5, -0.5001, -0.5001, -0.5001]);
    for k in [1, 3, 4, 6] {
        compare(&diagonal(&values), values.clone(), &EigshOptions { which: Which::SmallestMagnitude, ..options(k) });
    }
    // Any mixture of vectors of either sign is one of the square.
    for (block, k) in [(1, 2), (2, 1), (2, 5), (4, 6)] {
        let values: Vec<f64> = (0..260).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        compare(&diagonal(&values), values, &EigshOptions { block, which: Which::SmallestMagnitude, ..options(k) });
    }
    compare(
        &diagonal(&[-3.0, 1.0, 2.0]),
        vec![-3.0, 1.0, 2.0],
        &EigshOptions { which: Which::SmallestMagnitude, ..options(1) },
    );
}

#[test]
fn numbers_whose_squares_vanish_are_refused() {
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime(2, None));
    for (rows, scale) in [(20, 1e-120), (20, 1e-200), (900, 1e-120), (900, 1e-200), (900, 1e-165)] {
        let mut given = Entries::grid(1, rows);
        given.entries.values_mut().for_each(|value| *value *= scale);
        let matrix = matrix(&runtime, &given.image(folder.path(), true), true);
        match eigsh(&matrix, &EigshOptions { tol: 1e-6, ..options(2) }) {
            Ok(found) => assert!(scale == 1e-120 && found.values[1] > 1.9 * scale && found.residuals[1] > 0.0),
            Err(error) => assert!(scale < 1e-120 && error.to_string().contains("multiply the matrix by"), "{error}"),
        }
    }
}

#[test]
fn a_loose_tolerance_finds_as_many() {
    let side = |size: u32| (1..=size).map(move |i| 2.0 * (PI * f64::from(i) / (f64::from(size) + 1.0)).cos());
    for (height, width) in [(20, 40), (30, 30)] {
        let known: Vec<f64> = side(height).flat_map(|i| side(width).map(move |k| i + k)).collect();
        for (seed, tol) in (1..4).flat_map(|seed| [1e-2, 1e-3, 1e-6].map(|tol| (seed, tol))) {
            for (block, k) in [(1, 4), (1, 8), (2, 4), (2, 8), (4, 13)] {
                let options = EigshOptions { tol, block, seed, which: ENDS[seed as usize % 3], ..options(k) };
                compare(&Entries::grid(height.into(), width.into()), known.clone(), &options);
            }
        }
    }
}

#[test]
fn a_second_start_is_made_only_where_copies_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let products = |values: &[f64]| {
        let mut given = Entries::new(2000, 2000);
        let rest = |i: usize| 1.0 / (i + 1) as f64;
        (0..2000).for_each(|i| given.add(i as u64, i as u64, values.get(i).copied().unwrap_or(rest(i))));
        let matrix = matrix(&runtime, &given.image(folder.path(), true), true);
        let mut found = eigsh(&matrix, &EigshOptions { tol: 1e-10, ..options(6) }).unwrap();
        checked(&given, &mut found);
        assert!(found.values.iter().rev().zip(values).all(|(a, b)| (a - b).abs() < 1e-8));
        found.products
    };
    let once = products(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0]);
    // Copies of the last one are not wanted.
    assert!(products(&[9.0, 8.0, 7.0, 6.0, 5.0, 5.0, 5.0]) <= once + 8);
    let twice = products(&[9.0, 8.0, 8.0, 6.0, 5.0, 4.0]);
    assert!(once + 8 < twice && twice < 2 * once, "{once} {twice}");
}

#[test]
fn matrices_with_few_rows_or_entries_are_solved() {
    // Nothing at all, a star, one value, a diagonal of clusters; few rows, and more than are solved as dense ones.
    for rows in [1u64, 2, 3, 50, 1500] {
        let k = (rows as usize).min(5);
        for block in [1, 2, 8] {
            compare(&Entries::new(rows, rows), vec![0.0; rows as usize], &EigshOptions { block, ..options(k) });
            let mut star = Entries::new(rows, rows);
            star.add_both(&(1..rows).map(|i| (0, i, 1.0)).collect::<Vec<_>>());
            let mut known = vec![0.0; rows as usize];
            if rows > 1 {
                (known[0], known[1]) = (((rows - 1) as f64).sqrt(), -((rows - 1) as f64).sqrt());
            }
            compare(&star, known, &EigshOptions { block, ..options(k) });
            let mut diagonal = Entries::new(rows, rows);
            let value = |i: u64| if i < 4 { 1.0 + 1e-9 * i as f64 } else { 0.5 * i as f64 / rows as f64 };
            (0..rows).for_each(|i| diagonal.add(i, i, value(i)));
            compare(&diagonal, (0..rows).map(value).collect(), &EigshOptions { block, ..options(k.min(4)) });
            let mut one = Entries::new(rows, rows);
            one.add(rows / 2, rows / 2, -7.5);
            let mut known = vec![0.0; rows as usize];
            known[0] = -7.5;
            compare(&one, known, &EigshOptions { block, ..options(k) });
        }
    }
}

#[test]
fn a_subspace_that_is_restarted_finds_the_same() {
    let given = Entries::random(3000, 3000, 20_000, true);
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &given.image(folder.path(), true), true);
    let mut found = eigsh(&matrix, &EigshOptions { ncv: Some(900), ..options(8) }).unwrap();
    checked(&given, &mut found);
    assert_eq!(found.restarts, 0);
    let mut again = eigsh(&matrix, &EigshOptions { ncv: Some(20), ..options(8) }).unwrap();
    checked(&given, &mut again);
    assert!(again.restarts > 2, "{}", again.restarts);
    found.values.iter().zip(&again.values).for_each(|(a, b)| assert!((a - b).abs() < 1e-11 * a.abs()));
    // Unconverged pairs are reported as such.
    let cut = eigsh(&matrix, &EigshOptions { ncv: Some(20), max_iterations: 1, ..options(8) }).unwrap();
    assert!(cut.converged < 8 && cut.residuals.iter().any(|&residual| residual > cut.residual_bound));
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let given = Entries::random(60_000, 60_000, 300_000, true);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), true);
    let mut expected: Option<(Vec<u64>, Vec<u64>)> = None;
    // A limit that has room for few of the 110 vectors of 480 KB, and none.
    for (threads, memory) in [(1, None), (2, None), (3, Some(36 << 20)), (2, Some(28 << 20))] {
        let runtime = runtime(threads, memory);
        let matrix: SparseMatrix = matrix(&runtime, &image, true);
        let options = EigshOptions { ncv: Some(60), ..options(5) };
        let mut found = eigsh(&matrix, &options).unwrap();
        let vectors = checked(&given, &mut found);
        let found = (bits(&found.values), bits(&vectors));
        assert!(*expected.get_or_insert(found.clone()) == found, "{threads} {memory:?}");
    }
}

/// Counts what it is told.
#[derive(Default)]
struct Counts([AtomicU64; 3]);

impl Progress for Counts {
    fn start(&self, name: &str, unit: Unit, total: Option<u64>) {
        assert!(name == "eigsh" && unit == Unit::Products && total.is_none());
        self.0[0].fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.0[1].fetch_add(amount, Ordering::Relaxed);
    }

    fn finish(&self) {
        self.0[2].fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn progress_counts_products() {
    let folder = tempfile::tempdir().unwrap();
    let image = Entries::grid(40, 31).image(folder.path(), true);
    let counts = Arc::new(Counts::default());
    let options = RuntimeOptions { progress: Some(counts.clone()), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    let found = eigsh(&matrix(&runtime, &image, true), &crate::common::options(4)).unwrap().products;
    let reported = counts.0.each_ref().map(|count| count.load(Ordering::Relaxed));
    assert_eq!(reported, [1, found, 1]);
}

#[test]
fn any_pair_is_near_enough_for_a_tolerance_of_one() {
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime(2, None));
    let matrix = matrix(&runtime, &Entries::grid(30, 30).image(folder.path(), true), true);
    let found = eigsh(&matrix, &EigshOptions { tol: 1.0, ..options(3) }).unwrap();
    assert_eq!((found.converged, found.values.len()), (3, 3));
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let refusal = |given: &Entries, is_symmetric: bool, options: &EigshOptions| {
        let matrix = matrix(&runtime, &given.image(folder.path(), is_symmetric), true);
        eigsh(&matrix, options).unwrap_err().to_string()
    };
    let random = Entries::random(900, 900, 4000, false);
    assert!(refusal(&random, false, &options(3)).contains("expected a symmetric matrix"));
    let wide = Entries::random(5, 7, 10, false);
    assert!(refusal(&wide, false, &options(3)).contains("expected a square matrix, found one of 5 x 7"));
    let path = Entries::grid(1, 900);
    assert!(refusal(&path, true, &options(0)).contains("expected k from 1 to 900"));
    assert!(refusal(&path, true, &options(901)).contains("found 901"));
    assert!(refusal(&path, true, &EigshOptions { ncv: Some(8), ..options(3) }).contains("expected ncv of at least 9"));
    assert!(refusal(&path, true, &EigshOptions { block: 3, ..options(3) }).contains("found 3"));
    assert!(refusal(&path, true, &EigshOptions { tol: 1.1, ..options(3) }).contains("tol from 0 to 1, found 1.1"));
    assert!(refusal(&path, true, &EigshOptions { tol: -1.0, ..options(3) }).contains("found -1"));
    for rows in [900, 30] {
        let mut given = Entries::grid(1, rows);
        given.add_both(&[(7, 7, f64::MAX), (7, 8, f64::MAX), (7, 6, f64::MAX)]);
        assert!(refusal(&given, true, &options(3)).contains("expected products whose squares are finite"));
    }
    // A matrix that is symmetric, though it is not stored as one.
    let given = Entries::random(900, 900, 4000, true);
    let matrix = matrix(&runtime, &given.expanded().image(folder.path(), false), true);
    assert!(!matrix.is_symmetric());
    checked(&given, &mut eigsh(&matrix, &options(3)).unwrap());
}
