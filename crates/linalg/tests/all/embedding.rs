//! Spectral embeddings beside closed forms and what an obvious program makes of the Laplacian.

use crate::common::{Entries, bits, matrix, random, runtime};
use outcore_linalg::{Laplacian, SpectralEmbedding, SpectralEmbeddingOptions, spectral_embedding};
use std::f64::consts::PI;

const NORMALISED: Laplacian = Laplacian { norm_laplacian: true, drop_first: true };

fn options(k: usize) -> SpectralEmbeddingOptions {
    SpectralEmbeddingOptions { k, ..SpectralEmbeddingOptions::default() }
}

fn written(found: &SpectralEmbedding) -> Vec<f64> {
    let (rows, count) = found.vectors.shape();
    let mut numbers = vec![f64::NAN; rows * count];
    found.vectors.write(&mut numbers).unwrap();
    numbers
}

/// Checks that columns solve `(D - W) x = w D x`, or without D, and that they have the lengths and signs of theirs.
fn check(given: &Entries, found: &SpectralEmbedding, options: &SpectralEmbeddingOptions) -> Vec<f64> {
    let (rows, count) = found.vectors.shape();
    let numbers = written(found);
    let mut without_loops = Entries::new(given.rows, given.columns);
    let all = given.expanded().entries;
    without_loops.entries = all.into_iter().filter(|((row, column), _)| row != column).collect();
    let degrees = without_loops.multiply(&vec![1.0; rows], 1);
    let most = degrees.iter().fold(1.0f64, |most, &degree| most.max(degree));
    let masses: Vec<f64> = match options.which.norm_laplacian {
        true => degrees.iter().map(|&degree| if degree == 0.0 { 1.0 } else { degree }).collect(),
        false => vec![1.0; rows],
    };
    let products = without_loops.multiply(&numbers, count);
    assert_eq!((count, found.converged), (options.k, count + usize::from(options.which.drop_first)));
    assert!(found.values.is_sorted() && found.residuals.len() == count && found.values.len() == count);
    for k in 0..count {
        let column = |numbers: &[f64]| (0..rows).map(|row| numbers[row * count + k]).collect::<Vec<_>>();
        let (x, product, value) = (column(&numbers), column(&products), found.values[k]);
        for row in 0..rows {
            // Isolated vertices have the eigenvalue 1 of the normalised Laplacian.
            let degree = if options.which.norm_laplacian { masses[row] } else { degrees[row] };
            let error = degree * x[row] - product[row] - value * masses[row] * x[row];
            assert!(error.abs() <= 1e-10 * most, "column {k} with {value}: {error} in row {row}");
        }
        let length: f64 = (0..rows).map(|row| masses[row] * x[row] * x[row]).sum();
        assert!((length - 1.0).abs() < 1e-11, "{length}");
        let extreme = x.iter().fold(0.0f64, |most, &number| if number.abs() > most.abs() { number } else { most });
        assert!(extreme > 0.0);
    }
    numbers
}

fn compare(given: &Entries, known: Option<&[f64]>, options: &SpectralEmbeddingOptions) {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(&runtime(2, None), &given.image(folder.path(), true), true);
    let found = spectral_embedding(&matrix, options).unwrap();
    check(given, &found, options);
    for (found, known) in found.values.iter().zip(known.into_iter().flatten()) {
        assert!((found - known).abs() < 1e-11, "{found} {known}");
    }
}

#[test]
fn rings_hypercubes_and_paths_have_known_spectra() {
    let mut ring = Entries::new(600, 600);
    ring.add_both(&(0..600).map(|i| (i, (i + 1) % 600, 2.0)).collect::<Vec<_>>());
    // Loops change nothing.
    (0..600).step_by(7).for_each(|i| ring.add(i, i, i as f64));
    let ring_values: Vec<f64> = (1..=8).map(|i| 1.0 - (2.0 * PI * (i / 2) as f64 / 600.0).cos()).collect();
    let cube_values: Vec<f64> = [vec![0.0], vec![0.2; 10], vec![0.4; 4]].concat();
    for block in [1, 2, 4] {
        compare(&ring, Some(&ring_values[1..]), &SpectralEmbeddingOptions { block, ..options(7) });
        let all =
            SpectralEmbeddingOptions { which: Laplacian { drop_first: false, ..NORMALISED }, block, ..options(8) };
        compare(&ring, Some(&ring_values), &all);
        compare(&Entries::hypercube(10), Some(&cube_values[1..]), &SpectralEmbeddingOptions { block, ..options(14) });
    }
    let plain = SpectralEmbeddingOptions { which: Laplacian { norm_laplacian: false, ..NORMALISED }, ..options(5) };
    let cube_values: Vec<f64> = vec![2.0; 5];
    compare(&Entries::hypercube(10), Some(&cube_values), &plain);
    let path_values: Vec<f64> = (1..=5).map(|i| 2.0 - 2.0 * (PI * i as f64 / 400.0).cos()).collect();
    compare(&Entries::grid(1, 400), Some(&path_values), &plain);
}

/// Weights of 0 or more, with loops, some components and vertices without edges.
fn scattered(rows: u64, count: u64) -> Entries {
    let (mut given, mut state) = (Entries::new(rows, rows), rows);
    for _ in 0..count {
        let part = random(&mut state, 3) * (rows / 4);
        let (row, column) = (part + random(&mut state, rows / 4), part + random(&mut state, rows / 4));
        given.add_both(&[(row, column, random(&mut state, 2000) as f64 / 1000.0)]);
    }
    given
}

#[test]
fn weights_loops_components_and_lone_vertices() {
    for (rows, count) in [(40, 60), (200, 900), (2000, 30_000)] {
        let given = scattered(rows, count);
        for norm_laplacian in [true, false] {
            for drop_first in [true, false] {
                compare(
                    &given,
                    None,
                    &SpectralEmbeddingOptions { which: Laplacian { norm_laplacian, drop_first }, ..options(6) },
                );
            }
        }
    }
    // Three components and 500 single vertices.
    let zeros = |count: usize| vec![0.0; count];
    let all = SpectralEmbeddingOptions { which: Laplacian { drop_first: false, ..NORMALISED }, ..options(3) };
    compare(&scattered(2000, 30_000), Some(&zeros(3)), &all);
    let plain = SpectralEmbeddingOptions { which: Laplacian { norm_laplacian: false, ..all.which }, k: 12, ..all };
    compare(&scattered(2000, 30_000), Some(&zeros(12)), &plain);
    // No edges at all, but for loops.
    for rows in [1, 2, 300] {
        let mut loops = Entries::new(rows, rows);
        (0..rows).for_each(|row| loops.add_both(&[(row, row, 0.1)]));
        for given in [Entries::new(rows, rows), loops] {
            for (norm_laplacian, value) in [(true, 1.0), (false, 0.0)] {
                let one =
                    SpectralEmbeddingOptions { which: Laplacian { norm_laplacian, drop_first: false }, ..options(1) };
                compare(&given, Some(&[value]), &one);
            }
        }
    }
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let given = scattered(60_000, 200_000);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path(), true);
    let mut expected = None;
    for (threads, memory) in [(1, None), (2, None), (3, Some(36 << 20)), (2, Some(28 << 20))] {
        let matrix = matrix(&runtime(threads, memory), &image, true);
        let options = SpectralEmbeddingOptions { ncv: Some(60), tol: 1e-6, ..options(4) };
        let mut found = spectral_embedding(&matrix, &options).unwrap();
        found.vectors.leave(1 << 40).unwrap();
        let found = (bits(&written(&found)), bits(&found.values), bits(&found.residuals), found.products);
        assert!(*expected.get_or_insert_with(|| found.clone()) == found, "{threads} {memory:?}");
    }
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |given: &Entries, is_symmetric: bool, options: &SpectralEmbeddingOptions| {
        let matrix = matrix(&runtime(2, None), &given.image(folder.path(), is_symmetric), true);
        spectral_embedding(&matrix, options).unwrap_err().to_string()
    };
    let path = Entries::grid(1, 400);
    let expected = "expected from 1 to 399 columns beside the first eigenvector, found 400";
    assert_eq!(refusal(&path, true, &options(400)), expected);
    let all = SpectralEmbeddingOptions { which: Laplacian { drop_first: false, ..NORMALISED }, ..options(0) };
    assert_eq!(refusal(&path, true, &all), "expected from 1 to 400 columns, found 0");
    let expected = "expected a graph of 2 vertices or more to embed, found 1";
    assert_eq!(refusal(&Entries::new(1, 1), true, &options(1)), expected);
    let mut negative = Entries::grid(1, 400);
    negative.add(7, 3, -0.5);
    let expected = "expected weights of 0 or more in";
    assert!(refusal(&negative, true, &options(3)).contains(expected), "{}", refusal(&negative, true, &options(3)));
    let mut skew = path.expanded();
    skew.add(3, 9, 1.0);
    assert!(refusal(&skew, false, &options(3)).contains("expected a symmetric matrix"));
    assert!(refusal(&Entries::new(5, 7), false, &options(3)).contains("expected a square matrix"));
    let mut large = Entries::new(3, 3);
    large.add_both(&[(1, 0, 1e308), (2, 0, 1e308)]);
    assert!(refusal(&large, true, &options(1)).contains("finite numbers, found larger ones"));
    assert!(refusal(&path, true, &SpectralEmbeddingOptions { block: 3, ..options(3) }).contains("expected a block"));
}
