//! Non-negative factors beside an obvious dense program, in memory and on disk.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_image::Result;
use outcore_ingest::Choice;
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Backend, Runtime, RuntimeOptions};
use outcore_linalg::{Nmf, NmfOptions, Solver, Vectors, nmf};
use std::path::Path;
use std::sync::Arc;

const SOLVERS: [Solver; 2] = [Solver::Hals, Solver::MultiplicativeUpdates];

fn options(n_components: usize, solver: Solver, max_iterations: u64) -> NmfOptions {
    NmfOptions { n_components, solver, max_iterations, tol: 0.0, ..NmfOptions::default() }
}

/// Random entries that are not negative; of a matrix with more than three rows and columns some are empty, and one row
/// is full.
fn given(rows: u64, columns: u64, count: u64) -> Entries {
    let (mut state, mut given) = (rows * 1000 + columns + count, Entries::new(rows, columns));
    let pick =
        |state: &mut u64, below: u64| if below > 3 { 3 * random(state, below / 3) } else { random(state, below) };
    let value = |state: &mut u64| random(state, 2000) as f64 / 1000.0;
    for _ in 0..count {
        let place = (pick(&mut state, rows), pick(&mut state, columns));
        given.add(place.0, place.1, value(&mut state));
    }
    if rows > 3 && columns > 3 && count > 0 {
        (0..columns).filter(|column| column % 5 != 1).for_each(|column| given.add(2, column, value(&mut state)));
    }
    given
}

/// The product of non-negative factors, with zeros among them.
fn product_of_factors(rows: u64, columns: u64, rank: u64) -> Entries {
    let (mut state, mut given) = (rows + rank, Entries::new(rows, columns));
    let mut factor = |rows: u64| -> Vec<f64> {
        (0..rows * rank).map(|_| random(&mut state, 100).saturating_sub(60) as f64 / 10.0).collect()
    };
    let (w, h) = (factor(rows), factor(columns));
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let dot = |i: u64| w[(row * rank + i) as usize] * h[(column * rank + i) as usize];
        let value: f64 = (0..rank).map(dot).sum();
        if value > 0.0 {
            given.add(row, column, value);
        }
    }
    given
}

/// The factors, checked: as many numbers as there should be, none negative.
fn factors(found: &Nmf) -> [Vec<f64>; 2] {
    [&found.w, &found.h_transposed].map(|vectors| numbers(vectors).unwrap())
}

fn numbers(vectors: &Vectors) -> Result<Vec<f64>> {
    let (rows, columns) = vectors.shape();
    let mut numbers = vec![f64::NAN; rows * columns];
    vectors.write(&mut numbers)?;
    assert!(numbers.iter().all(|&number| (0.0..f64::INFINITY).contains(&number)));
    Ok(numbers)
}

/// The sum of the squares of `A - W H`, entry by entry.
fn loss(given: &Entries, [w, h]: &[Vec<f64>; 2], k: usize) -> f64 {
    let mut dense = vec![0.0; (given.rows * given.columns) as usize];
    given.entries.iter().for_each(|(&(row, column), &value)| dense[(row * given.columns + column) as usize] = value);
    let row = |i: usize| &w[i * k..(i + 1) * k];
    let column = |i: usize| &h[i * k..(i + 1) * k];
    let columns = given.columns as usize;
    let dot = |at: usize| row(at / columns).iter().zip(column(at % columns)).map(|(a, b)| a * b).sum::<f64>();
    dense.iter().enumerate().map(|(at, value)| (value - dot(at)).powi(2)).sum()
}

/// Runs, and checks the losses; returns the last.
fn checked(given: &Entries, image: &Path, options: &NmfOptions) -> f64 {
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, image, true);
    let squares: f64 = given.entries.values().map(|value| value * value).sum();
    let found = nmf(&matrix, options).unwrap();
    let k = options.n_components;
    let name = format!("{} x {}, {k}, {}", given.rows, given.columns, options.solver.name());
    assert_eq!(found.w.shape(), (given.rows as usize, k));
    assert_eq!(found.h_transposed.shape(), (given.columns as usize, k));
    assert_eq!(found.losses.len() as u64, found.iterations + 1);
    let found_loss = *found.losses.last().unwrap();
    let expected = loss(given, &factors(&found), k);
    assert!((found_loss - expected).abs() <= 1e-12 * squares, "{name}: {found_loss} {expected}");
    if options.alpha_w == 0.0 && options.alpha_h == 0.0 {
        let grows = found.losses.windows(2).position(|pair| pair[1] > pair[0] + 1e-12 * squares);
        assert_eq!(grows, None, "{name}: {:?}", found.losses);
    }
    found_loss
}

#[test]
fn losses_never_grow_and_are_those_of_a_dense_program() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, columns, count) in [(1, 40, 30), (40, 1, 30), (1, 1, 1), (60, 45, 0), (90, 400, 2500), (500, 70, 3000)] {
        let given = given(rows, columns, count);
        let image = given.image(folder.path(), false);
        for k in [1, 2, 3, 5, 8, 16, 33, 64] {
            for solver in SOLVERS {
                let least = checked(&given, &image, &options(k, solver, 12));
                if rows == 1 || columns == 1 {
                    let squares: f64 = given.entries.values().map(|value| value * value).sum();
                    assert!(least <= 1e-10 * squares, "{rows} x {columns} {k} {solver:?}: {least}");
                }
            }
        }
    }
}

/// Reference updates, number by number.
fn dense_program(given: &Entries, start: [Vec<f64>; 2], options: &NmfOptions) -> [Vec<f64>; 2] {
    let (m, n, k) = (given.rows as usize, given.columns as usize, options.n_components);
    let [mut w, mut h] = start;
    let step = |is_w: bool, free: &mut [f64], fixed: &[f64]| {
        let mut product = vec![0.0; free.len()];
        for (&(row, column), &value) in &given.entries {
            let (row, column) = if is_w { (row, column) } else { (column, row) };
            (0..k).for_each(|i| product[row as usize * k + i] += value * fixed[column as usize * k + i]);
        }
        let (alpha, size) = if is_w { (options.alpha_w, n) } else { (options.alpha_h, m) };
        let push = alpha * size as f64 * options.l1_ratio;
        let shift = alpha * size as f64 * (1.0 - options.l1_ratio);
        let dot = |i: usize, j: usize| fixed.chunks(k).map(|row| row[i] * row[j]).sum::<f64>();
        let gram: Vec<f64> =
            (0..k * k).map(|at| dot(at / k, at % k) + if at / k == at % k { shift } else { 0.0 }).collect();
        for (row, product) in free.chunks_mut(k).zip(product.chunks(k)) {
            let old = row.to_vec();
            for i in 0..k {
                let by = |row: &[f64]| (0..k).map(|j| row[j] * gram[i * k + j]).sum::<f64>() + push;
                row[i] = match options.solver {
                    Solver::Hals if gram[i * k + i] == 0.0 => row[i],
                    Solver::Hals => (row[i] - (by(row) - product[i]) / gram[i * k + i]).max(0.0),
                    Solver::MultiplicativeUpdates if by(&old) == 0.0 => 0.0,
                    Solver::MultiplicativeUpdates => row[i] * product[i] / by(&old),
                    solver => panic!("{solver:?} has no steps"),
                };
            }
        }
    };
    for _ in 0..options.max_iterations {
        step(true, &mut w, &h);
        step(false, &mut h, &w);
    }
    [w, h]
}

#[test]
fn factors_are_those_of_a_dense_program() {
    let folder = tempfile::tempdir().unwrap();
    let given = given(70, 110, 1500);
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
    for (k, alpha_w, alpha_h, l1_ratio) in [(3, 0.0, 0.0, 0.0), (11, 1e-3, 2e-3, 0.3), (20, 2e-3, 1e-3, 1.0)] {
        for solver in SOLVERS {
            let penalties = NmfOptions { alpha_w, alpha_h, l1_ratio, ..options(k, solver, 1) };
            let start = factors(&nmf(&matrix, &penalties).unwrap());
            let more = NmfOptions { max_iterations: 6, ..penalties };
            let found = factors(&nmf(&matrix, &more).unwrap());
            let expected = dense_program(&given, start, &NmfOptions { max_iterations: 5, ..more });
            for (found, expected) in found.iter().zip(&expected) {
                let far = found.iter().zip(expected).position(|(a, b)| (a - b).abs() > 1e-9 * (1.0 + b.abs()));
                assert_eq!(far, None, "{k} {solver:?}");
            }
        }
    }
}

#[test]
fn products_of_factors_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, columns, rank) in [(60, 90, 1), (90, 60, 3), (120, 40, 5)] {
        let given = product_of_factors(rows, columns, rank);
        let squares: f64 = given.entries.values().map(|value| value * value).sum();
        let image = given.image(folder.path(), false);
        for (solver, good) in [(Solver::Hals, 1e-12), (Solver::MultiplicativeUpdates, 1e-4)] {
            let least = checked(&given, &image, &options(rank as usize, solver, 500)) / squares;
            println!("rank {rank}, {}: {least:e}", solver.name());
            assert!(least < good, "{rows} x {columns}, rank {rank}, {solver:?}: {least:e}");
        }
    }
}

#[test]
fn it_ends_when_it_is_good_enough() {
    let folder = tempfile::tempdir().unwrap();
    let given = given(300, 200, 4000);
    let runtime = runtime(2, None);
    let matrix = matrix(&runtime, &given.image(folder.path(), false), true);
    for solver in SOLVERS {
        let run = |tol| nmf(&matrix, &NmfOptions { tol, ..options(4, solver, 200) }).unwrap();
        let (rough, fine, never) = (run(1e-1), run(1e-2), run(0.0));
        println!("{solver:?}: {} and {} iterations", rough.iterations, fine.iterations);
        assert!(rough.converged && fine.converged && rough.iterations <= fine.iterations, "{solver:?}");
        assert!(fine.iterations < 200 && never.iterations == 200 && !never.converged, "{solver:?}");
        // Two passes for each iteration, and one for the norm.
        assert_eq!(fine.products, 2 * 4 * fine.iterations);
        assert_eq!(fine.stats.steps.len() as u64, 2 * fine.iterations + 1);
        // Other random numbers find other factors.
        let other = nmf(&matrix, &NmfOptions { tol: 1e-2, seed: 1, ..options(4, solver, 200) }).unwrap();
        assert!(factors(&other) != factors(&fine));
    }
    // Nothing at all.
    let empty = Entries::new(30, 20);
    let matrix = crate::common::matrix(&runtime, &empty.image(folder.path(), false), true);
    for solver in SOLVERS {
        let found = nmf(&matrix, &options(3, solver, 200)).unwrap();
        assert!(found.converged && found.losses.iter().all(|&loss| loss == 0.0), "{solver:?}");
    }
}

#[test]
fn matrices_without_rows_or_values_have_factors() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for (rows, columns) in [(0, 0), (0, 7), (7, 0)] {
        let matrix = matrix(&runtime, &Entries::new(rows, columns).image(folder.path(), false), true);
        for solver in SOLVERS {
            let found = nmf(&matrix, &options(2, solver, 20)).unwrap();
            assert_eq!(factors(&found).map(|numbers| numbers.len() as u64), [2 * rows, 2 * columns]);
        }
    }
    // A graph, whose entries are ones.
    let grid = Entries::grid(12, 17);
    let matrix = matrix(&runtime, &grid.image(folder.path(), true), false);
    let found = nmf(&matrix, &options(9, Solver::Hals, 30)).unwrap();
    let expected = loss(&grid.expanded(), &factors(&found), 9);
    assert!((found.losses[30] - expected).abs() < 1e-10, "{} {expected}", found.losses[30]);
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let given = given(30_000, 60_000, 200_000);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), false);
    for (k, solver) in [(33, Solver::Hals), (33, Solver::MultiplicativeUpdates), (5, Solver::Hals)] {
        let mut expected: Option<[Vec<u64>; 3]> = None;
        // The factors and the product of 33 columns take 40 MB: limits with room for all, some and none of it.
        for (threads, memory) in [(1, None), (2, None), (3, Some(48 << 20)), (2, Some(36 << 20)), (1, Some(24 << 20))] {
            let runtime = runtime(threads, memory);
            let matrix = matrix(&runtime, &image, true);
            let mut found = nmf(&matrix, &options(k, solver, 4)).unwrap();
            let [w, h] = factors(&found);
            let bits = [bits(&w), bits(&h), bits(&found.losses)];
            assert!(*expected.get_or_insert(bits.clone()) == bits, "{k} {solver:?} {threads} {memory:?}");
            // A run that leaves memory has the same result.
            found.w.leave(u64::MAX).unwrap();
            found.h_transposed.leave(u64::MAX).unwrap();
            assert!(factors(&found) == [w, h]);
            println!("{k} {solver:?} {memory:?}: {} products", found.stats.steps.len() - 1);
        }
    }
}

#[test]
fn a_device_that_fails_gives_an_error_or_the_right_factors() {
    let given = given(30_000, 60_000, 20_000);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), false);
    let options = options(16, Solver::Hals, 1);
    let expected = factors(&nmf(&matrix(&runtime(2, None), &image, true), &options).unwrap());
    let (mut errors, mut right) = (0, 0);
    // Operations of the image, of panels that are read and written, and one that there is not.
    for fail_at in (0..10).chain((10..200).step_by(10)).chain([100_000]) {
        let sim = Arc::new(Sim::new(Faults { fail_at: Some(fail_at), ..Faults::default() }).asleep());
        let backend: Arc<dyn Backend> = sim.clone();
        let memory = RuntimeOptions { memory_bytes: Some(28 << 20), beside_process: true, ..RuntimeOptions::default() };
        let with = RuntimeOptions { threads: Some(2), backend: Some(backend), ..memory };
        let matrix = matrix(&Runtime::new(with).unwrap(), &image, true);
        sim.wake();
        match nmf(&matrix, &options).and_then(|found| Ok([numbers(&found.w)?, numbers(&found.h_transposed)?])) {
            Ok(found) => {
                assert!(found == expected, "operation {fail_at}");
                right += 1;
            }
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 20 && right > 0, "{errors} errors, {right} right factors");
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let small = runtime(2, None);
    let refusal = |given: &Entries, options: &NmfOptions| {
        let matrix = matrix(&small, &given.image(folder.path(), false), true);
        nmf(&matrix, options).unwrap_err().to_string()
    };
    let good = given(30, 40, 200);
    let usual = NmfOptions::default();
    for k in [0, 65] {
        let refused = refusal(&good, &NmfOptions { n_components: k, ..usual.clone() });
        assert!(refused.contains(&format!("expected n_components from 1 to 64, found {k}")), "{refused}");
    }
    for (options, text) in [
        (NmfOptions { tol: f64::NAN, ..usual.clone() }, "expected tol from 0 to 1, found NaN"),
        (NmfOptions { max_iterations: 0, ..usual.clone() }, "expected max_iter of at least 1"),
        (NmfOptions { alpha_w: -1.0, ..usual.clone() }, "expected alpha_w of at least 0, found -1"),
        (NmfOptions { alpha_h: f64::INFINITY, ..usual.clone() }, "expected alpha_h of at least 0, found inf"),
        (NmfOptions { l1_ratio: 1.5, ..usual.clone() }, "expected l1_ratio from 0 to 1, found 1.5"),
    ] {
        let refused = refusal(&good, &options);
        assert!(refused.contains(text), "{refused}");
    }
    let mut negative = given(30, 40, 200);
    negative.add(7, 9, -0.25);
    let refused = refusal(&negative, &usual);
    assert!(
        refused.contains("expected entries that are not negative") && refused.ends_with("found -0.25"),
        "{refused}"
    );
    let mut huge = given(30, 40, 200);
    huge.add(7, 9, f64::MAX);
    for solver in SOLVERS {
        let refused = refusal(&huge, &NmfOptions { solver, ..usual.clone() });
        assert!(refused.contains("expected products whose squares are finite"), "{refused}");
    }
    // No room for one column of each factor.
    let tall = Entries::random(2_000_000, 30, 0, false);
    let tight = runtime(1, Some(24 << 20));
    let matrix = matrix(&tight, &tall.image(folder.path(), false), true);
    let refused = nmf(&matrix, &usual).unwrap_err().to_string();
    assert!(refused.contains("non-negative factors"), "{refused}");
}
