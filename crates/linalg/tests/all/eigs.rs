//! Eigenvalues of unsymmetric matrices beside closed forms, on disk and in memory.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_graph::import::{self, ImportOptions, InputOptions};
use outcore_linalg::{ComplexPairs, EigsOptions, EigshOptions, SolveOptions, Spectrum, c64, eigs, eigsh, gmres};
use std::f64::consts::PI;

const PARTS: [Spectrum; 5] = [
    Spectrum::LargestMagnitude,
    Spectrum::LargestReal,
    Spectrum::SmallestReal,
    Spectrum::LargestImaginary,
    Spectrum::SmallestImaginary,
];

/// The ends of a spectrum that a subspace finds soon.
const ENDS: [Spectrum; 3] = [Spectrum::LargestReal, Spectrum::SmallestReal, Spectrum::LargestImaginary];

fn options(k: usize) -> EigsOptions {
    EigsOptions { k, ..EigsOptions::default() }
}

fn key(part: Spectrum, value: c64) -> f64 {
    match part {
        Spectrum::LargestMagnitude => value.norm(),
        Spectrum::LargestReal => value.re,
        Spectrum::SmallestReal => -value.re,
        Spectrum::LargestImaginary => value.im.abs(),
        Spectrum::SmallestImaginary => -value.im.abs(),
        part => panic!("{part:?} has no key"),
    }
}

/// The vectors, checked: of length 1, conjugate in pairs, and with the residuals that are said.
fn checked(given: &Entries, found: &mut ComplexPairs, part: Spectrum) -> Vec<f64> {
    let (rows, count) = found.vectors.shape();
    let mut vectors = vec![c64::new(f64::NAN, f64::NAN); rows * count];
    found.vectors.write(&mut vectors).unwrap();
    let numbers: Vec<f64> = vectors.iter().flat_map(|number| [number.re, number.im]).collect();
    let products = given.multiply(&numbers, 2 * count);
    for (i, &value) in found.values.iter().enumerate() {
        let length = (0..rows).map(|row| vectors[row * count + i].norm_sqr()).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 1e-13, "vector {i}: {length}");
        let product = |row: usize| c64::new(products[2 * (row * count + i)], products[2 * (row * count + i) + 1]);
        let error = |row: usize| (product(row) - value * vectors[row * count + i]).norm_sqr();
        let residual = (0..rows).map(error).sum::<f64>().sqrt();
        let bound = found.residual_bound;
        assert!((residual - found.residuals[i]).abs() <= 0.1 * bound, "{residual} {}", found.residuals[i]);
        assert!(residual <= bound, "pair {i} of {:?}: {residual} of {bound}", found.values);
        assert!(i == 0 || key(part, found.values[i - 1]) >= key(part, value));
        if value.im < 0.0 {
            assert!(found.values[i - 1] == value.conj());
            assert!((0..rows).all(|row| vectors[row * count + i - 1] == vectors[row * count + i].conj()));
        }
        assert!(value.im != 0.0 || (0..rows).all(|row| vectors[row * count + i].im == 0.0));
    }
    assert!(found.converged == count);
    numbers
}

#[test]
fn forms_of_whole_numbers_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let mut state = 3;
    for seed in 0..8 {
        let mut given = Entries::new(512, 512);
        for row in 0..512 {
            let whole = (0..4).map(|_| random(&mut state, 6) as f64).sum::<f64>() - 10.0;
            given.add(row, row, whole);
            for _ in 0..3 {
                let column = row + random(&mut state, 512 - row);
                given.entries.entry((row, column)).or_insert(random(&mut state, 1000) as f64 / 1000.0);
            }
        }
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        for which in [Spectrum::LargestImaginary, Spectrum::SmallestReal] {
            // Nearly parallel vectors, which may not converge, are no failure.
            let found = eigs(&matrix, &EigsOptions { which, max_iterations: 30, seed, ..options(2) }).unwrap();
            assert!(found.values.len() >= 2 && found.residuals.iter().all(|residual| residual.is_finite()));
        }
    }
}

/// Finds eigenvalues and compares them with those that are known, by what is asked for.
fn compare(given: &Entries, known: &[c64], options: &[EigsOptions]) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
    let scale = known.iter().fold(0.0f64, |most, value| most.max(value.norm()));
    for options in options {
        let mut found = eigs(&matrix, options).unwrap();
        checked(given, &mut found, options.which);
        println!("{} rows, {options:?}: {} products, {} restarts", given.rows, found.products, found.restarts);
        let mut keys: Vec<f64> = known.iter().map(|&value| key(options.which, value)).collect();
        keys.sort_by(|a, b| b.total_cmp(a));
        assert!(found.values.len() == options.k);
        for (&value, known_key) in found.values.iter().zip(keys) {
            let found_key = key(options.which, value);
            assert!((found_key - known_key).abs() <= 1e-11 * scale, "{:?}: {value} {known_key}", options.which);
            let nearest = known.iter().map(|other| (other - value).norm()).fold(f64::INFINITY, f64::min);
            assert!(nearest <= 1e-11 * scale, "{:?}: {value} is {nearest} away", options.which);
        }
    }
}

/// All parts of a spectrum, and some numbers of eigenvalues.
fn all(parts: &[Spectrum], counts: &[usize]) -> Vec<EigsOptions> {
    let with = |&k: &usize| parts.iter().map(move |&which| EigsOptions { which, ..options(k) });
    counts.iter().flat_map(with).collect()
}

/// Rotations in planes: eigenvalues `re +- i im`.
fn rotations(values: &[c64]) -> Entries {
    let mut given = Entries::new(2 * values.len() as u64, 2 * values.len() as u64);
    for (i, value) in (0u64..).zip(values) {
        [(2 * i, 2 * i), (2 * i + 1, 2 * i + 1)].iter().for_each(|&(row, column)| given.add(row, column, value.re));
        given.add(2 * i, 2 * i + 1, value.im);
        given.add(2 * i + 1, 2 * i, -value.im);
    }
    given
}

fn with_conjugates(values: &[c64]) -> Vec<c64> {
    values.iter().flat_map(|value| [*value, value.conj()]).collect()
}

#[test]
fn a_directed_cycle_has_roots_of_unity() {
    for rows in [1u64, 2, 3, 4, 7, 100, 300] {
        let mut cycle = Entries::new(rows, rows);
        (0..rows).for_each(|i| cycle.add(i, (i + 1) % rows, 1.0));
        let root = |i: u64| c64::from_polar(1.0, 2.0 * PI * i as f64 / rows as f64);
        let known: Vec<c64> = (0..rows).map(root).collect();
        let counts: Vec<usize> = [1, 2, 5].into_iter().filter(|&k| k <= rows as usize).collect();
        match rows {
            // All have the same magnitude, and those that are nearly real are no end of the spectrum.
            300 => compare(&cycle, &known, &all(&ENDS, &[2, 5])),
            _ => compare(&cycle, &known, &all(&PARTS, &counts)),
        }
    }
}

#[test]
fn known_spectra_are_found() {
    // Rotations with few that stand out, and double ones.
    let mut values: Vec<c64> = (0..400).map(|i| c64::new((i as f64).sin(), 0.5 * (3.0 * i as f64).cos())).collect();
    values.extend([c64::new(1.5, 2.0), c64::new(1.5, 2.0), c64::new(-2.0, 1.0), c64::new(2.2, -0.3)]);
    let known = with_conjugates(&values);
    compare(&rotations(&values), &known, &all(&PARTS[..4], &[1, 3, 4, 6]));
    // Above the diagonal anything.
    let (rows, mut state) = (1000u64, 1);
    let mut triangular = Entries::new(rows, rows);
    let value = |i: u64| if i < 20 { 3.0 - 0.1 * i as f64 } else { (i as f64).cos() };
    (0..rows).for_each(|i| triangular.add(i, i, value(i)));
    for _ in 0..3000 {
        let (row, column) = (random(&mut state, rows), random(&mut state, rows));
        if row < column {
            triangular.add(row, column, 0.3);
        }
    }
    let known: Vec<c64> = (0..rows).map(|i| c64::new(value(i), 0.0)).collect();
    compare(&triangular, &known, &all(&PARTS[..2], &[7]));
}

#[test]
fn companions_of_polynomials() {
    // x^n = 1/2 x^(n-1) + 2 has its roots near those of 2.
    for rows in [10u64, 12, 15] {
        let mut companion = Entries::new(rows, rows);
        (1..rows).for_each(|i| companion.add(i, i - 1, 1.0));
        companion.add(0, rows - 1, 2.0);
        companion.add(rows - 1, rows - 1, 0.5);
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime(2, None);
        let matrix = matrix(&runtime, &companion.image(folder.path(), false), true);
        let mut found = eigs(&matrix, &options(rows as usize)).unwrap();
        checked(&companion, &mut found, Spectrum::LargestMagnitude);
        for x in &found.values {
            assert!((x.powi(rows as i32) - x.powi(rows as i32 - 1) / 2.0 - 2.0).norm() < 1e-11, "{x}");
        }
        assert!(found.values.iter().product::<c64>().re * if rows % 2 == 0 { -1.0 } else { 1.0 } - 2.0 < 1e-11);
    }
}

#[test]
fn a_walk_has_eigenvalue_one() {
    let (rows, mut state) = (2000u64, 5);
    let mut walk = Entries::new(rows, rows);
    for from in 0..rows {
        let mut to: Vec<u64> = (0..3).map(|_| random(&mut state, rows)).collect();
        to.sort_unstable();
        to.dedup();
        to.iter().for_each(|&column| walk.add(column, from, 1.0 / to.len() as f64));
    }
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &walk.image(folder.path(), false), true);
    for which in [Spectrum::LargestMagnitude, Spectrum::LargestReal] {
        let mut found = eigs(&matrix, &EigsOptions { which, ..options(1) }).unwrap();
        let vector = checked(&walk, &mut found, which);
        assert!((found.values[0] - 1.0).norm() < 1e-12);
        let sum: f64 = vector.iter().step_by(2).sum();
        assert!(vector.iter().step_by(2).all(|&share| share / sum > -1e-12));
    }
}

#[test]
fn skew_symmetric_matrices_have_imaginary_eigenvalues() {
    for rows in [50u64, 700] {
        // A path with directions.
        let mut path = Entries::new(rows, rows);
        for i in 1..rows {
            path.add(i - 1, i, 1.0);
            path.add(i, i - 1, -1.0);
        }
        let known = |i: u64| c64::new(0.0, 2.0 * (PI * i as f64 / (rows as f64 + 1.0)).cos());
        let known: Vec<c64> = (1..=rows).map(known).collect();
        compare(&path, &known, &all(&[Spectrum::LargestMagnitude, Spectrum::LargestImaginary], &[6]));
    }
}

#[test]
fn nilpotent_matrices_have_small_residuals() {
    for (rows, length) in [(1u64, 1), (5, 5), (30, 30), (200, 200), (900, 3), (900, 900)] {
        let mut blocks = Entries::new(rows, rows);
        (1..rows).filter(|i| i % length != 0).for_each(|i| blocks.add(i - 1, i, 1.0));
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime(2, None);
        let matrix = matrix(&runtime, &blocks.image(folder.path(), false), true);
        for k in [1, 4, 30] {
            if k <= rows as usize && length < 900 {
                let mut found = eigs(&matrix, &options(k)).unwrap();
                checked(&blocks, &mut found, Spectrum::LargestMagnitude);
                let most = if length == 3 { 1e-4 } else { 1.0 };
                assert!(found.values.iter().all(|value| value.norm() < most), "{:?}", found.values);
            }
        }
        if length == 900 {
            // A subspace knows nothing of such: it says so, after so many restarts.
            let found = eigs(&matrix, &EigsOptions { max_iterations: 3, ncv: Some(20), ..options(3) }).unwrap();
            assert!(found.converged == 3 || found.residuals.iter().any(|&residual| residual > found.residual_bound));
        }
    }
}

#[test]
fn matrices_with_few_rows_or_entries_are_solved() {
    for rows in [1u64, 2, 3, 50, 1500] {
        let k = (rows as usize).min(5);
        let n = rows as usize;
        let wanted = all(&PARTS, &[k]);
        compare(&Entries::new(rows, rows), &vec![c64::new(0.0, 0.0); n], &wanted);
        let mut unit = Entries::new(rows, rows);
        (0..rows).for_each(|i| unit.add(i, i, -3.0));
        compare(&unit, &vec![c64::new(-3.0, 0.0); n], &wanted);
        let mut one = Entries::new(rows, rows);
        one.add(rows / 2, rows / 2, -7.5);
        let mut known = vec![c64::new(0.0, 0.0); n];
        known[0].re = -7.5;
        compare(&one, &known, &wanted);
        // A quarter turn, among zeros.
        if rows > 1 {
            let mut turn = Entries::new(rows, rows);
            turn.add(0, 1, 1.0);
            turn.add(1, 0, -1.0);
            let mut known = vec![c64::new(0.0, 0.0); n];
            (known[0].im, known[1].im) = (1.0, -1.0);
            // Half of a pair is that with the positive imaginary part.
            compare(&turn, &known, &all(&PARTS[..1], &[k, 1]));
        }
    }
}

#[test]
fn copies_are_found_where_eigenvalues_are_close() {
    // Cycles: each root of unity as often as there are cycles, and one vector sees it once.
    for (cycles, length) in [(2u64, 130u64), (3, 90), (2, 260), (5, 61)] {
        let rows = cycles * length;
        let mut turns = Entries::new(rows, rows);
        (0..rows).for_each(|i| turns.add(i, i - i % length + (i + 1) % length, 1.0));
        let root = |i: u64| c64::from_polar(1.0, 2.0 * PI * (i % length) as f64 / length as f64);
        let known: Vec<c64> = (0..rows).map(root).collect();
        let seeds = (0..5).flat_map(|seed| all(&ENDS, &[1, 2, 4]).into_iter().map(move |o| EigsOptions { seed, ..o }));
        compare(&turns, &known, &seeds.collect::<Vec<_>>());
    }
}

#[test]
fn copies_of_eigenvalues_are_found() {
    // Permutations: many turns of three.
    let rows = 1200u64;
    let mut turns = Entries::new(rows, rows);
    (0..rows).for_each(|i| turns.add(i, i - i % 3 + (i + 1) % 3, 1.0));
    let third = c64::from_polar(1.0, 2.0 * PI / 3.0);
    let known: Vec<c64> = (0..rows / 3).flat_map(|_| [c64::new(1.0, 0.0), third, third.conj()]).collect();
    compare(&turns, &known, &all(&PARTS, &[8]));
    // Five of the same among others, each with a vector of its own.
    let mut given = Entries::new(rows, rows);
    for i in 0..rows {
        given.add(i, i, if i % 240 == 7 { 2.0 } else { (i as f64).sin() });
        given.add(i, (i + 1) % rows, 0.2);
    }
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
    let mut found = eigs(&matrix, &options(7)).unwrap();
    checked(&given, &mut found, Spectrum::LargestMagnitude);
    assert!(found.values[..5].iter().all(|value| (value - 2.0).norm() < 0.2), "{:?}", found.values);
    assert!(found.values[5].norm() < 1.5, "{:?}", found.values);
}

#[test]
fn symmetric_matrices_have_the_same_as_with_eigsh() {
    for given in [Entries::random(200, 200, 900, true), Entries::random(2000, 2000, 9000, true), Entries::grid(30, 31)]
    {
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime(2, None);
        let matrix = matrix(&runtime, &given.image(folder.path(), true), true);
        let expected = eigsh(&matrix, &EigshOptions { k: 8, ..EigshOptions::default() }).unwrap();
        let mut found = eigs(&matrix, &options(8)).unwrap();
        checked(&given, &mut found, Spectrum::LargestMagnitude);
        let mut values: Vec<f64> = found.values.iter().map(|value| value.norm()).collect();
        let mut known: Vec<f64> = expected.values.iter().map(|value| value.abs()).collect();
        values.sort_by(f64::total_cmp);
        known.sort_by(f64::total_cmp);
        println!("{} products, {} restarts", found.products, found.restarts);
        values.iter().zip(&known).for_each(|(a, b)| assert!((a - b).abs() < 1e-11 * b.abs(), "{values:?} {known:?}"));
    }
}

/// A random matrix with few eigenvalues beyond the others.
fn with_outliers(rows: u64, count: u64) -> Entries {
    let mut given = Entries::random(rows, rows, count, false);
    for i in 0..4 {
        given.add(2 * i, 2 * i + 1, 6.0 - 0.5 * i as f64);
        given.add(2 * i + 1, 2 * i, -5.0 + 0.4 * i as f64);
        given.add(rows - 1 - i, rows - 1 - i, 4.7 - 0.3 * i as f64);
    }
    given
}

#[test]
fn random_matrices_have_the_same_as_dense_ones() {
    let given = Entries::random(400, 400, 2400, false);
    let mut dense = faer::Mat::zeros(400, 400);
    given.entries.iter().for_each(|(&(row, column), &value)| dense[(row as usize, column as usize)] = value);
    let known = dense.eigenvalues().unwrap();
    // Eigenvalues that are nearly real are no end of the spectrum.
    for ncv in [30, 50, 120] {
        let with = |options| EigsOptions { ncv: Some(ncv), ..options };
        compare(&given, &known, &all(&PARTS[..4], &[5]).into_iter().map(with).collect::<Vec<_>>());
    }
    compare(&given, &known, &all(&PARTS, &[100]));
    let full = Entries::random(60, 60, 3600, false);
    let dense = faer::Mat::from_fn(60, 60, |row, column| {
        full.entries.get(&(row as u64, column as u64)).map_or(0.0, |&value| value)
    });
    compare(&full, &dense.eigenvalues().unwrap(), &all(&PARTS, &[1, 30, 60]));
}

#[test]
fn a_subspace_that_is_restarted_finds_the_same() {
    let crowded = Entries::random(3000, 3000, 9000, false);
    for (given, narrow) in [(with_outliers(3000, 20_000), 24), (crowded, 60)] {
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime(2, None);
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        let mut expected: Option<Vec<c64>> = None;
        for (ncv, seed) in [(700, 0), (narrow, 0), (narrow, 1)] {
            let mut found = eigs(&matrix, &EigsOptions { ncv: Some(ncv), seed, ..options(6) }).unwrap();
            checked(&given, &mut found, Spectrum::LargestMagnitude);
            println!("ncv {ncv}: {} products, {} restarts, {:?}", found.products, found.restarts, found.values);
            assert!((ncv == 700) == (found.restarts == 0));
            let expected = expected.get_or_insert(found.values.clone());
            expected.iter().zip(&found.values).for_each(|(a, b)| assert!((a - b).norm() < 1e-11 * a.norm()));
        }
        let loose = EigsOptions { tol: 1e-4, ncv: Some(60), ..options(6) };
        let mut found = eigs(&matrix, &loose).unwrap();
        checked(&given, &mut found, Spectrum::LargestMagnitude);
        println!("loose: {} products", found.products);
        // Unconverged pairs are reported as such.
        let cut = eigs(&matrix, &EigsOptions { ncv: Some(20), max_iterations: 1, ..options(6) }).unwrap();
        assert!(cut.converged < 6 && cut.residuals.iter().any(|&residual| residual > cut.residual_bound));
    }
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let given = with_outliers(60_000, 300_000);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), false);
    let mut expected: Option<(Vec<u64>, Vec<u64>)> = None;
    // A limit that has room for few of the 40 vectors of 480 KB, and none.
    for (threads, memory) in [(1, None), (2, None), (3, Some(36 << 20)), (2, Some(28 << 20))] {
        let runtime = runtime(threads, memory);
        let matrix = matrix(&runtime, &image, true);
        let mut found = eigs(&matrix, &EigsOptions { ncv: Some(40), ..options(5) }).unwrap();
        let vectors = checked(&given, &mut found, Spectrum::LargestMagnitude);
        println!("{} products, {} restarts, {:?}", found.products, found.restarts, found.values);
        let values: Vec<f64> = found.values.iter().flat_map(|value| [value.re, value.im]).collect();
        let found = (bits(&values), bits(&vectors));
        assert!(*expected.get_or_insert(found.clone()) == found, "{threads} {memory:?}");
    }
}

#[test]
fn the_least_subspace_is_enough_to_go_on() {
    let mut turns = Entries::new(600, 600);
    (0..600).for_each(|i| turns.add(i, i - i % 200 + (i + 1) % 200, 1.0));
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &turns.image(folder.path(), false), true);
    for (k, which) in (1..8).flat_map(|k| PARTS.map(|which| (k, which))) {
        for (ncv, seed) in [(k + 3, 0), (k + 3, 1), (k + 4, 0)] {
            let found =
                eigs(&matrix, &EigsOptions { ncv: Some(ncv), which, seed, max_iterations: 30, ..options(k) }).unwrap();
            assert!(found.values.len() == k, "{which:?} {ncv}");
        }
    }
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let refusal = |given: &Entries, options: &EigsOptions| {
        let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
        eigs(&matrix, options).unwrap_err().to_string()
    };
    let wide = Entries::random(5, 7, 10, false);
    assert!(refusal(&wide, &options(3)).contains("expected a square matrix, found one of 5 x 7"));
    let given = Entries::random(900, 900, 4000, false);
    assert!(refusal(&given, &options(0)).contains("expected k from 1 to 900"));
    assert!(refusal(&given, &options(901)).contains("found 901"));
    assert!(refusal(&given, &EigsOptions { ncv: Some(5), ..options(3) }).contains("expected ncv of at least 6"));
    assert!(refusal(&given, &EigsOptions { tol: f64::NAN, ..options(3) }).contains("found NaN"));
    assert!(refusal(&given, &EigsOptions { block: 2, ..options(3) }).contains("expected a block of 1 column"));
    for rows in [900, 30] {
        let mut given = Entries::random(rows, rows, 4 * rows, false);
        (0..rows).for_each(|column| [7, 8].iter().for_each(|&row| given.add(row, column, f64::MAX)));
        assert!(refusal(&given, &options(3)).contains("expected products whose squares are finite"));
        // Squares of residuals are beyond the range of numbers, too.
        for scale in [1e170, 1e200] {
            let mut given = Entries::random(rows, rows, 4 * rows, false);
            given.entries.values_mut().for_each(|value| *value *= scale);
            let refused = refusal(&given, &options(3));
            assert!(refused.contains("expected products whose squares are finite"), "{scale}: {refused}");
        }
    }
    assert_eq!(Spectrum::from_name("SI").unwrap(), Spectrum::SmallestImaginary);
    let names = "expected one of LM, LR, SR, LI, SI for which, found";
    assert!(Spectrum::from_name("SM").unwrap_err().to_string().contains(&format!("{names} \"SM\" (eigenvalues near")));
    assert!(Spectrum::from_name("XX").unwrap_err().to_string().contains(names));
}

#[test]
fn square_matrices_whose_rows_are_other_vertices_than_their_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, file, image) = (runtime(1, None), folder.path().join("edges.txt"), folder.path().join("apart.oc"));
    std::fs::write(&file, "1 4\n2 5\n3 6\n1 5\n").unwrap();
    let source = import::open(&runtime, &[file], &InputOptions::default()).unwrap();
    let options = ImportOptions { rows: Some(3), directed: Some(true), ..ImportOptions::default() };
    import::import(&runtime, source, &image, &options).unwrap();
    let apart = matrix(&runtime, &image, false);
    assert_eq!(apart.shape(), (3, 3));
    let refusals = [
        eigs(&apart, &EigsOptions { k: 1, ..EigsOptions::default() }).map(|_| ()),
        eigsh(&apart, &EigshOptions { k: 1, ..EigshOptions::default() }).map(|_| ()),
        gmres(&apart, &[1.0; 3], &SolveOptions::default()).map(|_| ()),
    ];
    for refusal in refusals {
        let text = refusal.unwrap_err().to_string();
        assert!(text.contains("found one of 3 x 3 that is stored as a rectangular one"), "{text}");
    }
}
