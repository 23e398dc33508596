//! Systems of linear equations, whose residuals an obvious program computes again.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_image::{Error, Result};
use outcore_linalg::{Preconditioner, Solution, SolveEnd, SolveOptions, bicgstab, cg, gmres, minres};
use outcore_matrix::{Operand, SparseMatrix};
use std::sync::atomic::{AtomicU64, Ordering};

type Method = fn(&SparseMatrix, &[f64], &SolveOptions<'_>) -> Result<Solution>;
const METHODS: [(&str, Method); 4] = [("cg", cg), ("minres", minres), ("gmres", gmres), ("bicgstab", bicgstab)];
const JACOBI: SolveOptions<'_> = SolveOptions { preconditioner: Preconditioner::Jacobi, ..STRICT };
/// Most digits that there are.
const STRICT: SolveOptions<'_> = SolveOptions {
    rtol: 1e-10,
    atol: 0.0,
    max_iterations: None,
    x0: None,
    restart: 20,
    preconditioner: Preconditioner::None,
};

/// A matrix, whose images are in a folder of their own.
struct Case {
    given: Entries,
    matrix: SparseMatrix,
    _folder: tempfile::TempDir,
}

fn case(given: Entries, is_symmetric: bool) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(&runtime(2, None), &given.image(folder.path(), is_symmetric), true);
    Case { given, matrix, _folder: folder }
}

impl Case {
    /// Solves a system and looks whether everything that is said of the solution is true.
    fn solve(&self, method: Method, b: &[f64], options: &SolveOptions<'_>) -> Solution {
        let found = method(&self.matrix, b, options).unwrap();
        let product = self.given.multiply(&found.x, 1);
        let residual = length(&product.iter().zip(b).map(|(product, b)| b - product).collect::<Vec<_>>());
        let rounding = 1e-13 * (length(b) + length(&product) + found.residual);
        assert!((residual - found.residual).abs() <= rounding, "{residual} {}", found.residual);
        let bound = (options.rtol * length(b)).max(options.atol);
        assert!((found.residual_bound - bound).abs() <= 1e-12 * bound);
        assert_eq!(found.converged, found.residual <= found.residual_bound);
        assert_eq!(found.converged, found.stopped_by == SolveEnd::Residual);
        assert_eq!(found.residuals.last(), Some(&found.residual));
        assert_eq!(found.residuals.len() as u64, found.iterations + 1);
        found
    }

    /// Solves a system with a known solution; returns the number of iterations.
    fn compare(&self, method: Method, known: &[f64], tolerance: f64, options: &SolveOptions<'_>) -> u64 {
        let found = self.solve(method, &self.given.multiply(known, 1), options);
        assert!(found.converged, "{:?} after {}: {}", found.stopped_by, found.iterations, found.residual);
        let error = length(&found.x.iter().zip(known).map(|(x, known)| x - known).collect::<Vec<_>>());
        assert!(error <= tolerance * length(known), "{error} of {}", length(known));
        found.iterations
    }
}

fn length(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum::<f64>().sqrt()
}

fn vector(rows: u64) -> Vec<f64> {
    let mut state = rows;
    (0..rows).map(|_| random(&mut state, 2001) as f64 / 1000.0 - 1.0).collect()
}

/// The Laplace operator on a grid.
fn poisson(height: u64, width: u64) -> Entries {
    let mut given = Entries::grid(height, width);
    given.entries.values_mut().for_each(|value| *value = -1.0);
    (0..given.rows).for_each(|row| given.add(row, row, 4.0));
    given
}

/// A symmetric matrix with diagonal entries that are as large as all others of their rows, and `more`.
fn dominant(rows: u64, count: u64, more: impl Fn(u64) -> f64) -> Entries {
    let mut given = Entries::random(rows, rows, count, true);
    given.entries.retain(|(row, column), _| row != column);
    let mut sums = vec![0.0; rows as usize];
    for (&(row, column), value) in &given.entries {
        sums[row as usize] += value.abs();
        sums[column as usize] += value.abs();
    }
    (0..rows).for_each(|row| given.add(row, row, sums[row as usize] + more(row)));
    given
}

/// Products per iteration.
fn products_of(name: &str) -> u64 {
    if name == "bicgstab" { 2 } else { 1 }
}

/// A path, whose circle is not closed.
fn cycle(rows: u64) -> Entries {
    let mut given = Entries::new(rows, rows);
    (0..rows).for_each(|row| given.add(row, (row + 1) % rows, 1.0));
    given
}

#[test]
fn a_grid_has_the_solution_that_is_known() {
    let case = case(poisson(60, 41), true);
    let iterations = METHODS.map(|(_, method)| {
        // Tall systems of GMRES converge with many vectors only.
        let options = SolveOptions { restart: 200, ..STRICT };
        case.compare(method, &vector(60 * 41), 1e-7, &options)
    });
    assert!(iterations.iter().all(|&iterations| (30..400).contains(&iterations)), "{iterations:?}");
    // Fewer vectors find it too, with more iterations.
    let short = case.compare(gmres, &vector(60 * 41), 1e-7, &STRICT);
    assert!(short > iterations[2], "{short} {iterations:?}");
}

#[test]
fn every_iteration_is_a_product_or_two() {
    let case = case(poisson(30, 30), true);
    let b = vector(900);
    for (name, method) in METHODS {
        let found = case.solve(method, &b, &SolveOptions { restart: 900, ..STRICT });
        // The last iteration may end after its first product.
        let is_half = name == "bicgstab" && found.products == 2 * found.iterations;
        assert!(is_half || found.products == products_of(name) * found.iterations + 1, "{name}");
        // A pass of `minres` shows the rounding of products.
        let passes = found.products + u64::from(name == "minres");
        assert_eq!(found.stats.total.pages_wanted, passes * case.matrix.pages_per_pass(Operand::Matrix));
        // Residuals of methods that make them minimal never grow.
        let falls = found.residuals.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6));
        assert!(falls || ["cg", "bicgstab"].contains(&name), "{name}");
        // From the solution nothing is to be done, and from near it less.
        let x0 = Some(&found.x[..]);
        let again = case.solve(method, &b, &SolveOptions { x0, rtol: 2e-10, ..STRICT });
        assert_eq!((again.iterations, again.products), (0, 1), "{name}");
        assert!(bits(&again.x) == bits(&found.x), "{name}");
        let near: Vec<f64> = found.x.iter().map(|x| x + 1e-9).collect();
        let again = case.solve(method, &b, &SolveOptions { x0: Some(&near), restart: 900, ..STRICT });
        assert!(again.converged && again.iterations > 0 && again.iterations < found.iterations, "{name}");
    }
}

#[test]
fn random_systems_have_small_residuals() {
    let definite = case(dominant(3000, 20_000, |_| 0.5), true);
    for (_, method) in METHODS {
        definite.compare(method, &vector(3000), 1e-8, &STRICT);
        definite.compare(method, &vector(3000), 1e-8, &JACOBI);
    }
    // The matrix has equally many eigenvalues above and below 0.
    let mut signs = dominant(3000, 20_000, |_| 0.5);
    for ((row, column), value) in &mut signs.entries {
        *value *= if row == column && row % 2 == 0 { -1.0 } else { 1.0 };
    }
    let indefinite = case(signs, true);
    indefinite.compare(minres, &vector(3000), 1e-8, &STRICT);
    indefinite.compare(minres, &vector(3000), 1e-8, &JACOBI);
    let refused = cg(&indefinite.matrix, &vector(3000), &STRICT).unwrap_err().to_string();
    assert!(refused.contains("expected a positive definite matrix") && refused.contains("p^T A p = -"), "{refused}");
    let refused = cg(&indefinite.matrix, &vector(3000), &JACOBI).unwrap_err().to_string();
    assert!(refused.contains("expected numbers greater than 0 on the diagonal of"), "{refused}");
    // Symmetric, though it is not stored so.
    let expanded = case(dominant(3000, 20_000, |_| 0.5).expanded(), false);
    assert!(!expanded.matrix.is_symmetric());
    expanded.compare(cg, &vector(3000), 1e-8, &STRICT);

    let mut unsymmetric = Entries::random(3000, 3000, 20_000, false);
    (0..3000).for_each(|row| unsymmetric.add(row, row, 9.0));
    let unsymmetric = case(unsymmetric, false);
    for restart in [3, 20, 3000] {
        unsymmetric.compare(gmres, &vector(3000), 1e-8, &SolveOptions { restart, ..STRICT });
        unsymmetric.compare(gmres, &vector(3000), 1e-8, &SolveOptions { restart, ..JACOBI });
    }
    unsymmetric.compare(bicgstab, &vector(3000), 1e-8, &STRICT);
    unsymmetric.compare(bicgstab, &vector(3000), 1e-8, &JACOBI);
    for method in [cg, minres] {
        let refused = method(&unsymmetric.matrix, &vector(3000), &STRICT).unwrap_err().to_string();
        assert!(refused.contains("expected a symmetric matrix"), "{refused}");
    }
}

#[test]
fn jacobi_repairs_a_diagonal_that_is_badly_scaled() {
    let scale = |row: u64| 10f64.powi((row * 7 % 9) as i32 - 4);
    let mut given = dominant(2000, 8000, |_| 0.1);
    given.entries.iter_mut().for_each(|((row, column), value)| *value *= scale(*row) * scale(*column));
    let case = case(given, true);
    let b: Vec<f64> = (0..2000).map(|row| scale(row) * (1.0 + row as f64 / 1000.0)).collect();
    for (name, method) in METHODS {
        let options = SolveOptions { rtol: 1e-8, max_iterations: Some(2000), ..STRICT };
        let plain = case.solve(method, &b, &options);
        let jacobi = case.solve(method, &b, &SolveOptions { preconditioner: Preconditioner::Jacobi, ..options });
        assert!(jacobi.converged, "{name} {:?} {}", jacobi.stopped_by, jacobi.residual);
        assert!(4 * jacobi.iterations < plain.iterations, "{name} {} {}", jacobi.iterations, plain.iterations);
    }
}

#[test]
fn singular_systems_end_at_the_least_residual() {
    // The Laplace matrix of a graph, whose rows add up to 0: b can be reached if its numbers do, too.
    let case = case(dominant(500, 3000, |_| 0.0), true);
    let mut laplace = dominant(500, 3000, |_| 0.0);
    laplace.entries.iter_mut().filter(|((row, column), _)| row != column).for_each(|(_, value)| *value = -value.abs());
    let laplace = self::case(laplace, true);
    for (name, method) in METHODS {
        let b = laplace.given.multiply(&vector(500), 1);
        assert!(laplace.solve(method, &b, &STRICT).converged, "{name}");
        let b = case.given.multiply(&vector(500), 1);
        assert!(case.solve(method, &b, &SolveOptions { max_iterations: Some(20_000), ..JACOBI }).converged, "{name}");
    }
    // For an unreachable right-hand side the residual is its constant part.
    let b: Vec<f64> = laplace.given.multiply(&vector(500), 1).iter().map(|b| b + 0.01).collect();
    let found = laplace.solve(minres, &b, &STRICT);
    assert_eq!(found.stopped_by, SolveEnd::Stagnation);
    assert!((found.residual - 0.01 * 500f64.sqrt()).abs() < 1e-8, "{}", found.residual);
    // It is the shortest vector: the null vector is that of ones.
    let length = |x: &[f64]| x.iter().map(|number| number * number).sum::<f64>().sqrt();
    let mean = found.x.iter().sum::<f64>() / 500.0;
    assert!(mean.abs() <= 1e-9 * length(&found.x), "{mean} of {}", length(&found.x));
    let found = laplace.solve(gmres, &b, &SolveOptions { restart: 100, max_iterations: Some(50), ..STRICT });
    assert!(!found.converged && (found.residual - 0.01 * 500f64.sqrt()).abs() < 1e-6, "{}", found.residual);
    assert!(length(&found.x) < 1e6, "{}", length(&found.x));
    // A chain whose last row is empty, and a diagonal with a zero.
    let (mut chain, mut diagonal) = (Entries::new(300, 300), Entries::new(300, 300));
    for row in 0..299 {
        chain.add(row, row + 1, 1.0 + row as f64 / 300.0);
        diagonal.add(row, row, 1.0 + row as f64 / 300.0);
    }
    for given in [chain, diagonal] {
        let singular = self::case(given, false);
        for restart in [20, 50, 300] {
            let options = SolveOptions { restart, max_iterations: Some(60), ..STRICT };
            let found = singular.solve(gmres, &vector(300), &options);
            assert!(!found.converged && length(&found.x) < 1e14 * length(&vector(300)), "{}", length(&found.x));
        }
    }
}

#[test]
fn a_right_hand_side_that_is_a_null_vector_leaves_zeros() {
    // Products of the Laplace matrix of a complete graph with ones are rounding, products with a tiny matrix are not.
    for unit in [1.0, 0.1, 1.0 / 3.0] {
        let mut complete = Entries::new(6, 6);
        for (row, column) in (0..6).flat_map(|row| (0..=row).map(move |column| (row, column))) {
            complete.add_both(&[(row, column, if row == column { 5.0 * unit } else { -unit })]);
        }
        let case = case(complete, true);
        for options in [STRICT, JACOBI] {
            let found = case.solve(minres, &[1.0; 6], &options);
            assert_eq!(found.stopped_by, SolveEnd::Stagnation);
            assert!(length(&found.x) < 1e-9 && (found.residual - 6f64.sqrt()).abs() < 1e-12, "{:?}", &found.x[..]);
        }
        let found = case.solve(gmres, &[1.0; 6], &STRICT);
        assert!(!found.converged && length(&found.x) < 1e-9, "{:?}", &found.x[..]);
    }
}

#[test]
fn products_that_vanish_in_squares_are_refused() {
    for scale in [1e-200, 1e-310] {
        let mut given = poisson(3, 3);
        given.entries.values_mut().for_each(|value| *value *= scale);
        let case = case(given, true);
        for method in [minres as Method, gmres, bicgstab] {
            let refused = method(&case.matrix, &[1.0; 9], &STRICT).unwrap_err().to_string();
            assert!(refused.contains("multiply the matrix by a number first"), "{scale}: {refused}");
        }
    }
}

#[test]
fn cycles_go_on_while_the_true_residual_falls() {
    // The recurrence of a cycle falls below the tolerance a little before the residual does.
    let mut given = Entries::new(100, 100);
    for row in 0..100 {
        given.add_both(&[(row, row, 2.0), (row, row.saturating_sub(1), if row > 0 { -1.0 } else { 0.0 })]);
    }
    let case = case(given, true);
    for b in [vector(100), (0..100).map(|row| (row as f64).sin()).collect()] {
        for rtol in [1e-11, 1e-12, 3e-13, 1e-13, 5e-14] {
            let found = case.solve(gmres, &b, &SolveOptions { rtol, ..SolveOptions::default() });
            assert!(found.converged, "{rtol}: {} {:?}", found.residual, found.stopped_by);
        }
    }
}

#[test]
fn an_eigenvector_of_a_small_eigenvalue_stays_in_the_solution() {
    let mut given = Entries::new(2, 2);
    given.add(0, 0, 1.0);
    given.add(1, 1, 1e-8);
    let found = case(given, true).solve(minres, &[1.0, 1e-6], &SolveOptions { x0: Some(&[0.0, 99.0]), ..STRICT });
    assert!(found.residual < 1.1e-8 && (98.0..101.0).contains(&found.x[1]), "{} {:?}", found.residual, &found.x[..]);
}

#[test]
fn matrices_with_few_rows_or_entries_are_solved() {
    for rows in [0u64, 1, 2, 700] {
        let nothing = case(Entries::new(rows, rows), true);
        let mut diagonal = Entries::new(rows, rows);
        (0..rows).for_each(|row| diagonal.add(row, row, 1.0 + row as f64 % 5.0));
        let diagonal = case(diagonal, true);
        for (name, method) in METHODS {
            // Nothing to be done.
            let (zeros, ones) = (vec![0.0; rows as usize], vec![1.0; rows as usize]);
            for case in [&nothing, &diagonal] {
                let found = case.solve(method, &zeros, &SolveOptions { x0: Some(&ones), ..STRICT });
                assert!(found.converged && bits(&found.x) == bits(&zeros), "{name}");
                assert_eq!((found.iterations, found.products, &found.residuals[..]), (0, 0, &[0.0][..]));
            }
            // There are no more iterations than distinct eigenvalues.
            for options in [STRICT, JACOBI] {
                let found = diagonal.solve(method, &vector(rows), &options);
                assert!(found.converged && found.iterations <= 6.min(rows), "{name} {}", found.iterations);
            }
            if rows == 0 {
                continue;
            }
            // Nothing that could be done.
            match method(&nothing.matrix, &ones, &STRICT) {
                Ok(found) => {
                    assert!(name != "cg" && bits(&found.x) == bits(&zeros), "{name}");
                    assert_eq!(found.stopped_by, SolveEnd::Stagnation);
                    assert!((found.residual - (rows as f64).sqrt()).abs() < 1e-12);
                }
                Err(error) => assert!(name == "cg" && error.to_string().contains("p^T A p = 0"), "{error}"),
            }
            let refused = method(&nothing.matrix, &ones, &JACOBI).unwrap_err().to_string();
            assert!(refused.contains("on the diagonal of") && refused.contains("found 0 in row"), "{refused}");
        }
    }
}

#[test]
fn unconverged_solutions_are_reported_as_such() {
    let case = case(poisson(40, 40), true);
    let b = vector(1600);
    for (name, method) in METHODS {
        for max_iterations in [0, 1, 3] {
            let found =
                case.solve(method, &b, &SolveOptions { max_iterations: Some(max_iterations), restart: 5, ..STRICT });
            assert_eq!(found.stopped_by, SolveEnd::Iterations, "{name} {max_iterations}");
            assert_eq!(found.iterations, if name == "gmres" { 5 * max_iterations } else { max_iterations });
            assert!(found.residual < length(&b) || max_iterations == 0, "{name} {max_iterations}");
        }
        // More digits than there are.
        let found = case.solve(method, &b, &SolveOptions { rtol: 0.0, restart: 200, ..STRICT });
        assert_eq!(found.stopped_by, SolveEnd::Stagnation, "{name}");
        assert!(found.residual < 1e-13 * length(&b), "{name} {}", found.residual);
        // A bound that is met at once.
        assert_eq!(case.solve(method, &b, &SolveOptions { atol: 1e9, ..STRICT }).iterations, 0);
    }
    // A circle takes as many vectors as it has rows: before that nothing is won.
    let (rows, mut b) = (50, vec![0.0; 50]);
    b[0] = 1.0;
    let case = self::case(cycle(rows), false);
    let found = case.solve(gmres, &b, &STRICT);
    assert_eq!((found.stopped_by, found.iterations), (SolveEnd::Stagnation, 20));
    assert_eq!(case.solve(gmres, &b, &SolveOptions { restart: 50, ..STRICT }).iterations, 50);
}

#[test]
fn an_ill_conditioned_system_is_not_left_where_it_began() {
    // The square of the Laplace matrix of a path: its eigenvalues are (2 - 2 cos(k pi / 201))^2, from 6e-8 to 16.
    let (rows, condition) = (200, 2.7e8);
    let mut given = Entries::new(rows, rows);
    for row in 0..rows {
        let is_end = row == 0 || row + 1 == rows;
        given.add_both(&[(row, row, if is_end { 5.0 } else { 6.0 })]);
        (1..=2.min(row)).for_each(|back| given.add_both(&[(row, row - back, if back == 1 { -4.0 } else { 1.0 })]));
    }
    let case = case(given, true);
    let third = |vector: &mut [f64]| {
        vector.iter_mut().for_each(|number| *number /= 3.0);
        Ok(())
    };
    let mut first = vec![0.0; rows as usize];
    first[0] = 1.0;
    for (name, b) in [
        ("ones", vec![1.0; rows as usize]),
        ("first", first),
        ("random", vector(rows)),
        ("a product", case.given.multiply(&vector(rows), 1)),
    ] {
        for preconditioner in [Preconditioner::None, Preconditioner::Jacobi, Preconditioner::Function(&third)] {
            let found = bicgstab(&case.matrix, &b, &SolveOptions { rtol: 1e-8, preconditioner, ..STRICT }).unwrap();
            let product = case.given.multiply(&found.x, 1);
            let residual = length(&product.iter().zip(&b).map(|(product, b)| b - product).collect::<Vec<_>>());
            let rounding = 100.0 * f64::EPSILON * 16.0 * length(&found.x);
            assert!((residual - found.residual).abs() <= rounding, "{residual} {}", found.residual);
            assert_eq!(found.converged, found.residual <= 1e-8 * length(&b));
            let text = format!("{name} {preconditioner:?} {:?}: {}", found.stopped_by, found.residual / length(&b));
            assert!(found.residual < 0.1 * length(&b), "{text}");
            // The true residual differs from the recurrence by the rounding of A x, where x was at most as long as the
            // greatest residual times the inverse.
            let least = found.residuals.iter().copied().fold(f64::INFINITY, f64::min);
            let most = found.residuals.iter().copied().fold(0.0, f64::max);
            assert!(found.residual <= 2.0 * least + f64::EPSILON * condition * most, "{text}, {least} {most}");
        }
    }
}

#[test]
fn limits_of_iterations_are_those_that_are_made() {
    // Without a solution methods end at a step that they do not make.
    for rows in [6, 50, 300] {
        let case = case(laplacian(1, rows, 0), true);
        let mut first = vec![0.0; rows as usize];
        first[0] = 1.0;
        for (name, method) in [("cg", cg as Method), ("minres", minres)] {
            for b in [&first, &vector(rows)] {
                let all = case.solve(method, b, &STRICT);
                assert_eq!(all.stopped_by, SolveEnd::Stagnation, "{name} {rows}");
                for limit in all.iterations.saturating_sub(2)..all.iterations + 4 {
                    let found = case.solve(method, b, &SolveOptions { max_iterations: Some(limit), ..STRICT });
                    let expected = match limit <= all.iterations {
                        true => (SolveEnd::Iterations, limit),
                        false => (SolveEnd::Stagnation, all.iterations),
                    };
                    assert_eq!((found.stopped_by, found.iterations), expected, "{name} {rows} {limit}");
                }
            }
        }
    }
}

/// Sparse matrices with a small diagonal, for which the residuals of stabilized biconjugate gradients rise and fall.
fn rough(seed: u64) -> Entries {
    let mut given = Entries::new(100, 100);
    let mut state = seed;
    // A sum of twelve uniform numbers is nearly normal.
    let mut normal = || (0..12).map(|_| random(&mut state, 1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
    let values: Vec<f64> = (0..400).map(|_| normal()).collect();
    for value in values {
        given.add(random(&mut state, 100), random(&mut state, 100), value);
    }
    (0..100).for_each(|row| given.add(row, row, 1.5));
    given
}

#[test]
fn biconjugate_gradients_begin_again_where_they_break_down() {
    let (mut restarts, mut unsolved) = (0, Vec::new());
    for seed in 0..40 {
        let found = case(rough(seed), false).solve(bicgstab, &[1.0; 100], &SolveOptions { rtol: 1e-8, ..STRICT });
        restarts += u64::from(found.products > 2 * found.iterations + 1);
        if !found.converged {
            unsolved.push((seed, found.stopped_by, found.residual));
        }
    }
    assert!(restarts > 4 && unsolved.len() <= 1, "{restarts} {unsolved:?}");
    // The first product is orthogonal to the right-hand side: only another shadow leads on.
    let mut b = vec![0.0; 12];
    b[0] = 1.0;
    let mut given = cycle(12);
    (0..12).for_each(|row| given.add(row, (row + 2) % 12, 0.4));
    assert!(case(given, false).solve(bicgstab, &b, &STRICT).converged);
}

#[test]
fn biconjugate_gradients_return_the_best_vector() {
    let options = SolveOptions { rtol: 1e-8, ..STRICT };
    for seed in 0..10 {
        let case = case(rough(seed), false);
        let all = case.solve(bicgstab, &[1.0; 100], &options);
        let mut least = f64::INFINITY;
        for max_iterations in (0..all.iterations).step_by(7) {
            let found =
                case.solve(bicgstab, &[1.0; 100], &SolveOptions { max_iterations: Some(max_iterations), ..options });
            assert_eq!((found.stopped_by, found.iterations), (SolveEnd::Iterations, max_iterations));
            assert!(found.residual <= least * 1.000_001, "{seed} {max_iterations}: {} {least}", found.residual);
            least = found.residual;
        }
        assert!(least < 10.0, "{seed}: {least}");
    }
    // Once the diagonal's part is solved, every step makes the residual greater, and every second run makes none.
    let mut given = Entries::new(6, 6);
    (0..4).for_each(|row| given.add(row, row, 1.0));
    given.add(4, 5, 1.0);
    given.add(5, 4, -1.0);
    let found = case(given, false).solve(bicgstab, &[1.0, 1.0, 1.0, 1.0, 1e-8, 1e-8], &STRICT);
    let least = found.residuals.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(found.residual <= least * 1.000_001, "{} {least}", found.residual);
}

#[test]
fn divergence_is_no_error() {
    // Singular matrices, with right-hand sides that have solutions.
    let nilpotent: &[(u64, u64)] = &[(2, 0), (2, 1), (2, 2), (3, 1), (3, 2)];
    let pattern: &[(u64, u64)] = &[(0, 1), (3, 2), (6, 2), (0, 3), (6, 3), (1, 4), (4, 5), (1, 6)];
    for (rows, ones) in [(4, nilpotent), (7, pattern)] {
        let mut given = Entries::new(rows, rows);
        ones.iter().for_each(|&(row, column)| given.add(row, column, 1.0));
        let (b, case) = (given.multiply(&vec![1.0; rows as usize], 1), case(given, false));
        for max_iterations in [None, Some(1), Some(2), Some(1000)] {
            let found = case.solve(bicgstab, &b, &SolveOptions { max_iterations, ..STRICT });
            assert!(found.residual <= length(&b), "{max_iterations:?} {}", found.residual);
            assert!(found.x.iter().all(|x| x.abs() < 1e100), "{max_iterations:?} {:?}", &found.x[..]);
        }
    }
}

#[test]
fn numbers_near_the_ends_of_their_range() {
    let scaled_by = |numbers: &[f64], power: i32| numbers.iter().map(|x| x * 2f64.powi(power)).collect::<Vec<_>>();
    let case = case(poisson(20, 20), true);
    let mut large = poisson(20, 20);
    large.entries.values_mut().for_each(|value| *value *= 1e130);
    let large = self::case(large, true);
    for (_, method) in METHODS {
        let plain = case.solve(method, &vector(400), &STRICT);
        for power in [-1000, -600, 600, 1000] {
            let found = method(&case.matrix, &scaled_by(&vector(400), power), &STRICT).unwrap();
            assert!(found.converged && bits(&found.x) == bits(&scaled_by(&plain.x, power)), "{power}");
        }
        // The solution leaves the range of numbers, on either side.
        for (matrix, b) in [(&case.matrix, f64::MAX), (&large.matrix, 1e-180)] {
            let refused = method(matrix, &[b; 400], &STRICT).unwrap_err().to_string();
            assert!(refused.contains("expected a solution whose greatest number is from"), "{refused}");
        }
        // A start that is far away.
        let (b, x0) = (scaled_by(&vector(400), -600), vector(400));
        let found = method(&case.matrix, &b, &SolveOptions { x0: Some(&x0), ..STRICT }).unwrap();
        let error = found.x.iter().zip(scaled_by(&plain.x, -600)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(found.converged && error < 1e-7 * 2f64.powi(-600), "{error}");
        let far = SolveOptions { x0: Some(&x0), ..STRICT };
        let refused = method(&case.matrix, &scaled_by(&vector(400), -1000), &far).unwrap_err().to_string();
        assert!(refused.contains("expected numbers in x0"), "{refused}");
    }
    // Squares of products vanish: no answer is worse than none.
    for scale in [1e-160, 1e-170, 1e-300] {
        let mut given = poisson(20, 20);
        given.entries.values_mut().for_each(|value| *value *= scale);
        let case = self::case(given, true);
        for (_, method) in METHODS {
            let b: Vec<f64> = vector(400).iter().map(|x| x * scale).collect();
            match method(&case.matrix, &b, &STRICT) {
                Ok(found) => {
                    let start = found.residuals[0];
                    assert!(found.residual <= start, "{scale}: {} {start}", found.residual);
                }
                Err(error) => assert!(error.to_string().contains("next to zero"), "{error}"),
            }
        }
    }
    let mut given = poisson(20, 20);
    given.add_both(&[(7, 7, f64::MAX), (7, 8, f64::MAX), (7, 6, f64::MAX)]);
    let case = self::case(given, true);
    for (_, method) in METHODS {
        let refused = method(&case.matrix, &vector(400), &STRICT).unwrap_err().to_string();
        assert!(refused.contains("expected products whose squares are finite"), "{refused}");
    }
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let mut given = dominant(60_000, 120_000, |row| 0.01 + (row % 5) as f64);
    given.add(3, 3, 2000.0);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), true);
    let b = vector(60_000);
    for (name, method) in METHODS {
        for preconditioner in [Preconditioner::None, Preconditioner::Jacobi] {
            let mut expected: Option<(Vec<u64>, Vec<u64>)> = None;
            // Limits that have room for few of the vectors of 480 KB of GMRES, and none.
            for (threads, memory) in [(1, None), (2, None), (3, Some(36 << 20)), (2, Some(28 << 20))] {
                let runtime = runtime(threads, memory);
                let matrix = matrix(&runtime, &image, true);
                let options = SolveOptions { preconditioner, restart: 60, ..STRICT };
                let found = method(&matrix, &b, &options).unwrap();
                assert!(found.converged, "{name}");
                let found = (bits(&found.x), bits(&found.residuals));
                assert!(*expected.get_or_insert(found.clone()) == found, "{name} {threads} {memory:?}");
            }
        }
    }
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let square = case(poisson(3, 3), true);
    let wide = case(Entries::random(5, 7, 10, false), false);
    let b = vector(9);
    for (_, method) in METHODS {
        let refusal = |case: &Case, b: &[f64], options: &SolveOptions<'_>| {
            method(&case.matrix, b, options).unwrap_err().to_string()
        };
        assert!(refusal(&wide, &b[..5], &STRICT).contains("expected a square matrix, found one of 5 x 7"));
        let refused = refusal(&square, &b[..8], &STRICT);
        assert!(refused.contains("expected 9 numbers in b for a matrix of 9 x 9, found 8"), "{refused}");
        let refused = refusal(&square, &b, &SolveOptions { x0: Some(&[0.0; 10]), ..STRICT });
        assert!(refused.contains("expected 9 numbers in x0 for a matrix of 9 x 9, found 10"), "{refused}");
        let mut wrong = b.clone();
        wrong[6] = f64::NAN;
        assert!(refusal(&square, &wrong, &STRICT).contains("expected finite numbers in b, found NaN in row 6"));
        wrong[2] = f64::INFINITY;
        let refused = refusal(&square, &b, &SolveOptions { x0: Some(&wrong), ..STRICT });
        assert!(refused.contains("expected finite numbers in x0, found inf in row 2"), "{refused}");
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(
                refusal(&square, &b, &SolveOptions { rtol: wrong, ..STRICT }).contains("expected rtol of 0 or more")
            );
            assert!(
                refusal(&square, &b, &SolveOptions { atol: wrong, ..STRICT }).contains("expected atol of 0 or more")
            );
        }
        assert!(refusal(&square, &b, &SolveOptions { restart: 0, ..STRICT }).contains("expected restart of 1 or more"));
    }
}

#[test]
fn a_function_is_a_preconditioner() {
    let scale = |row: u64| 10f64.powi((row * 7 % 9) as i32 - 4);
    let mut given = dominant(2000, 8000, |_| 0.1);
    given.entries.iter_mut().for_each(|((row, column), value)| *value *= scale(*row) * scale(*column));
    let diagonal: Vec<f64> = (0..2000).map(|row| given.entries[&(row, row)]).collect();
    let case = case(given, true);
    let b: Vec<f64> = (0..2000).map(|row| scale(row) * (1.0 + row as f64 / 1000.0)).collect();
    let calls = AtomicU64::new(0);
    let divide = |vector: &mut [f64]| {
        calls.fetch_add(1, Ordering::Relaxed);
        vector.iter_mut().zip(&diagonal).for_each(|(number, entry)| *number /= entry);
        Ok(())
    };
    for (name, method) in METHODS {
        let options = SolveOptions { rtol: 1e-8, preconditioner: Preconditioner::Function(&divide), ..STRICT };
        calls.store(0, Ordering::Relaxed);
        let found = case.solve(method, &b, &options);
        let jacobi = case.solve(method, &b, &SolveOptions { preconditioner: Preconditioner::Jacobi, ..options });
        assert!(found.converged && found.iterations.abs_diff(jacobi.iterations) <= 2, "{name} {}", found.iterations);
        let more = calls.load(Ordering::Relaxed).abs_diff(products_of(name) * found.iterations);
        assert!(more <= 3 + found.iterations.div_ceil(20), "{name} {more}");
        for count in 0..4 {
            let left = AtomicU64::new(count);
            let fails = |vector: &mut [f64]| match left.load(Ordering::Relaxed) {
                0 => Err(Error::Usage("words of its own".to_owned())),
                count => {
                    left.store(count - 1, Ordering::Relaxed);
                    divide(vector)
                }
            };
            let options = SolveOptions { preconditioner: Preconditioner::Function(&fails), ..options };
            assert_eq!(method(&case.matrix, &b, &options).unwrap_err().to_string(), "words of its own", "{name}");
        }
    }
    for (one, other, expected) in [
        (1.0, 2.0, "expected a symmetric preconditioner M"),
        (-1.0, -1.0, "expected a positive definite preconditioner M"),
        (0.0, 0.0, "expected a positive definite preconditioner M"),
        (1.0, f64::NAN, "expected finite numbers from the preconditioner, found NaN in row 0"),
    ] {
        let wrong = |vector: &mut [f64]| {
            (1..vector.len()).for_each(|row| vector[row - 1] = one * vector[row - 1] + (other - one) * vector[row]);
            vector[1999] *= one;
            Ok(())
        };
        for (name, method) in &METHODS[..2] {
            let options = SolveOptions { preconditioner: Preconditioner::Function(&wrong), ..STRICT };
            let refused = method(&case.matrix, &b, &options).unwrap_err().to_string();
            assert!(refused.contains(expected), "{name} {refused}");
        }
    }
}

/// The Laplace matrix of a graph: a path, a grid or a circle with chords.
fn laplacian(height: u64, width: u64, chords: u64) -> Entries {
    let mut given = Entries::grid(height, width);
    let mut state = height * width;
    for _ in 0..chords {
        let (one, other) = (random(&mut state, given.rows), random(&mut state, given.rows));
        if one != other {
            given.add_both(&[(one, other, 1.0)]);
        }
    }
    let mut degrees = vec![0.0; given.rows as usize];
    for ((row, column), value) in &mut given.entries {
        *value = -1.0;
        [*row, *column].iter().for_each(|&end| degrees[end as usize] += 1.0);
    }
    (0..).zip(&degrees).for_each(|(row, &degree)| given.add(row, row, degree));
    given
}

#[test]
fn vectors_of_systems_without_a_solution_have_a_reasonable_size() {
    let mut cases: Vec<(String, Entries, bool)> =
        [(1, 5, 0), (1, 6, 0), (1, 50, 0), (1, 300, 0), (10, 10, 0), (30, 21, 0), (15, 16, 80)]
            .map(|(height, width, chords)| {
                (format!("laplacian {height} x {width} + {chords}"), laplacian(height, width, chords), true)
            })
            .into();
    for seed in 0..6 {
        // Singular ones: some rows are empty.
        let mut given = rough(seed);
        given.entries.retain(|&(row, _), _| row % 10 != seed);
        cases.push((format!("rough {seed}"), given, false));
    }
    for (name, given, is_symmetric) in cases {
        let case = case(given, is_symmetric);
        let rows = case.given.rows;
        let mut first = vec![0.0; rows as usize];
        first[0] = 1.0;
        let near_null = vector(rows).iter().map(|number| 1.0 + 0.1 * number).collect();
        for (right, b) in
            [("first", first), ("random", vector(rows)), ("near null", near_null), ("ones", vec![1.0; rows as usize])]
        {
            for (method_name, method) in [("cg", cg as Method), ("bicgstab", bicgstab)] {
                if method_name == "cg" && !is_symmetric {
                    continue;
                }
                let text = format!("{method_name} {name} {right}");
                let found = match method(&case.matrix, &b, &STRICT) {
                    Err(error) => {
                        let is_null = right == "ones" && error.to_string().contains("p^T A p");
                        assert!(is_null, "{text}: {error}");
                        continue;
                    }
                    Ok(_) => case.solve(method, &b, &STRICT),
                };
                // Some right-hand sides of the others have a solution.
                assert!(!found.converged || !is_symmetric, "{text}");
                if found.converged {
                    continue;
                }
                assert!(found.residual <= length(&b) * (1.0 + 1e-12), "{text}: {} {}", found.residual, length(&b));
                assert!(length(&found.x) <= 1e10 * length(&b), "{text}: {}", length(&found.x));
            }
        }
    }
}
