//! Verifiers refuse what is wrong, and small dense matrices have real Schur forms.

use crate::common::with_matrix_of;
use faer::Mat;
use outcore_ingest::Choice;
use outcore_io::CancelFlag;
use outcore_linalg::internal::{
    MOST_WIDTH, Multiplying, Schur, TILE_ROWS, add_product, check_complex_pairs, check_eigenpairs, check_exponential,
    check_factors, check_laplacian, check_orthonormal, check_singular, check_solution, multiply,
};
use outcore_linalg::{
    EigsOptions, EigshOptions, Laplacian, NmfOptions, SolveOptions, SpectralEmbedding, SpectralEmbeddingOptions,
    SvdsOptions, cg, eigs, eigsh, expm_multiply, nmf, spectral_embedding, svds,
};
use outcore_matrix::{DenseFile, Operand, Semiring, SparseMatrix};

/// A path whose entries rise, on the diagonal too; with more columns than rows, or a square one.
fn with_matrix(columns: usize, work: impl FnOnce(&SparseMatrix)) {
    let entries: Vec<_> = (1..=40)
        .flat_map(|i| [(i, i, 50.0 + i as f64), (i, i + 1, 1.0 + i as f64 / 9.0), (i + 1, i, 1.0 + i as f64 / 9.0)])
        .filter(|&(row, column, _)| row <= 40 && column <= columns)
        .collect();
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n40 {columns} {}\n", entries.len());
    entries.iter().for_each(|(row, column, value)| text += &format!("{row} {column} {value}\n"));
    with_matrix_of(&text, work);
}

#[test]
fn eigenpairs_that_are_wrong_are_found() {
    with_matrix(40, |matrix| {
        let mut found = eigsh(matrix, &EigshOptions { k: 3, ..EigshOptions::default() }).unwrap();
        let (values, residuals) = (found.values.clone(), found.residuals.clone());
        check_eigenpairs(matrix, &values, &mut found.vectors, &residuals).unwrap();
        let wrong = [values[0], values[1] * (1.0 + 1e-9), values[2]];
        check_eigenpairs(matrix, &wrong, &mut found.vectors, &residuals).unwrap_err();
        let wrong = [residuals[0], residuals[1], 1e-6];
        check_eigenpairs(matrix, &values, &mut found.vectors, &wrong).unwrap_err();
        let mut found = eigs(matrix, &EigsOptions { k: 3, ..EigsOptions::default() }).unwrap();
        let (mut values, residuals) = (found.values.clone(), found.residuals.clone());
        check_complex_pairs(matrix, &values, &mut found.vectors, &residuals).unwrap();
        values[2].re += 1e-6;
        check_complex_pairs(matrix, &values, &mut found.vectors, &residuals).unwrap_err();
    });
}

#[test]
fn singular_values_factors_and_solutions_that_are_wrong_are_found() {
    with_matrix(55, |matrix| {
        let found = svds(matrix, &SvdsOptions { k: 3, ..SvdsOptions::default() }).unwrap();
        let sides = [&found.vectors.left, &found.vectors.right];
        let check = |values: &[f64], sides| {
            check_singular(matrix, Operand::Transpose, values, sides, |i| found.residuals[i], None)
        };
        check(&found.values, sides).unwrap();
        check(&found.values.iter().map(|value| value * (1.0 - 1e-8)).collect::<Vec<_>>(), sides).unwrap_err();
        check_orthonormal(&found.vectors.left, matrix).unwrap();
        let mut found = nmf(matrix, &NmfOptions { max_iterations: 5, ..NmfOptions::default() }).unwrap();
        let loss = found.losses[found.losses.len() - 1];
        check_factors(matrix, &mut found.w, &mut found.h_transposed, loss).unwrap();
        check_factors(matrix, &mut found.w, &mut found.h_transposed, loss * (1.0 + 1e-6)).unwrap_err();
        // Factors are not orthonormal.
        check_orthonormal(&found.w, matrix).unwrap_err();
    });
    with_matrix(40, |matrix| {
        let b = vec![1.0; 40];
        let mut found = cg(matrix, &b, &SolveOptions::default()).unwrap();
        check_solution(matrix, &found.x, &b, found.residual).unwrap();
        found.x[7] += 1e-6;
        check_solution(matrix, &found.x, &b, found.residual).unwrap_err();
    });
}

#[test]
fn exponentials_and_embeddings_that_are_wrong_are_found() {
    with_matrix(40, |matrix| {
        let (b, times): (Vec<f64>, _) = ((0..80).map(f64::from).collect(), [-0.01, 0.02, 0.05]);
        let mut results = vec![0.0; 240];
        expm_multiply(matrix, &b, 2, &times, &mut results).unwrap();
        let steps = [(1, true, 0.02), (2, false, 0.05 - 0.02), (0, true, -0.01)];
        check_exponential(matrix, &b, 2, &steps, &results).unwrap();
        for place in [0, 100, 239] {
            let mut wrong = results.clone();
            let most = results.iter().fold(0.0f64, |most, number| most.max(number.abs()));
            wrong[place] += 1e-6 * most;
            check_exponential(matrix, &b, 2, &steps, &wrong).unwrap_err();
        }
        for norm_laplacian in [true, false] {
            let options = SpectralEmbeddingOptions {
                k: 3,
                which: Laplacian { norm_laplacian, drop_first: true },
                ..Default::default()
            };
            let mut found = spectral_embedding(matrix, &options).unwrap();
            let SpectralEmbedding { values: eigenvalues, residuals, vectors, .. } = &mut found;
            let vectors = &mut vectors.vectors;
            check_laplacian(matrix, norm_laplacian, eigenvalues, vectors, residuals).unwrap();
            check_laplacian(matrix, !norm_laplacian, eigenvalues, vectors, residuals).unwrap_err();
            eigenvalues[1] += 1e-6;
            check_laplacian(matrix, norm_laplacian, eigenvalues, vectors, residuals).unwrap_err();
        }
    });
}

/// More columns than are compared one by one: sums of products are compared by a combination of all.
const COLUMNS: usize = 40;

fn save(path: &std::path::Path, numbers: &[f64]) {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': (3, {COLUMNS}), }}\n");
    let start = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(path, [start, numbers].concat()).unwrap();
}

#[test]
fn products_that_are_wrong_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let [dense, there] = ["x.npy", "y.npy"].map(|name| folder.path().join(name));
    let text = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 3 0.5\n2 3 -1\n3 1 4\n";
    let numbers: Vec<f64> = (0..3 * COLUMNS).map(|i| 1.0 + (i * 7 % 11) as f64).collect();
    save(&dense, &numbers);
    with_matrix_of(text, |matrix| {
        let runtime = matrix.graph().runtime();
        for &(semiring, ..) in Semiring::ALL {
            for operand in [Operand::Matrix, Operand::Transpose] {
                let factor = DenseFile::open(runtime, &dense).unwrap();
                let planned = Multiplying { semiring, operand, factor, is_complex: false, output: None };
                let mut product = vec![f64::NAN; 3 * COLUMNS];
                matrix.multiply(semiring, operand, &numbers, COLUMNS, &mut product).unwrap();
                let check = |product: &[f64]| {
                    save(&there, product);
                    planned.check(matrix, &DenseFile::open(runtime, &there).unwrap(), false)
                };
                check(&product).unwrap();
                for place in [0, 1, COLUMNS + 1, 3 * COLUMNS - 1] {
                    for wrong in [f64::NAN, f64::INFINITY, 1e-3] {
                        let mut product = product.clone();
                        product[place] = if product[place] == wrong { 7.0 } else { wrong };
                        check(&product).unwrap_err();
                    }
                }
            }
        }
    });
}

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
}

/// Matrices of all kinds.
fn matrices() -> Vec<Mat<f64>> {
    let (mut state, mut all) = (1, Vec::new());
    for size in [1, 2, 3, 4, 5, 8, 30, 120] {
        all.push(Mat::from_fn(size, size, |_, _| random(&mut state)));
        all.push(Mat::from_fn(size, size, |_, _| if random(&mut state) > 0.9 { 1.0 } else { 0.0 }));
        all.push(Mat::from_fn(size, size, |i, k| random(&mut state) * 10f64.powi((i + k) as i32 % 40 - 20)));
        all.push(Mat::from_fn(size, size, |i, k| if k == i + 1 { 1.0 } else { 0.0 }));
        all.push(Mat::from_fn(size, size, |i, k| if k == (i + 1) % size { 1.0 } else { 0.0 }));
        all.push(Mat::from_fn(size, size, |i, k| if k == (i + 3) % size { -1e200 } else { 0.0 }));
        all.push(Mat::from_fn(size, size, |i, k| if i <= k { random(&mut state) } else { 0.0 }));
        let turn = [1.0, 2.0, -2.0];
        all.push(Mat::from_fn(size, size, |i, k| if i / 2 == k / 2 { turn[(i + 2 - k) % 3] } else { 0.0 }));
        all.push(Mat::from_fn(size, size, |i, k| ((i * k) as f64).sin() + i as f64 - k as f64));
        all.push(Mat::from_fn(size, size, |i, k| if i == k { 1.0 + 1e-13 * i as f64 } else { 0.0 }));
        all.push(Mat::zeros(size, size));
    }
    // With many repeated eigenvalues, and vectors that are parallel.
    for number in 0..3000 {
        let size = 1 + number % 11;
        all.push(Mat::from_fn(size, size, |_, _| (1.7 * random(&mut state)).trunc()));
    }
    all
}

#[test]
fn cancellation_stops_the_schur_form() {
    let cancel = CancelFlag::default();
    let matrix = Mat::from_fn(30, 30, |i, k| ((i * k) as f64).sin());
    let mut schur = Schur::new(&matrix, &cancel).unwrap().unwrap();
    cancel.cancel();
    assert!(Schur::new(&matrix, &cancel).is_err() && schur.eigenvectors(30, &cancel).is_err());
    assert!(schur.sort(30, &cancel, |a, b| a.re > b.re).is_err());
}

#[test]
fn a_form_is_that_of_the_matrix_in_any_order() {
    for (number, matrix) in matrices().iter().enumerate() {
        let size = matrix.nrows();
        let norm = matrix.norm_max().max(f64::MIN_POSITIVE) * (size as f64).sqrt();
        let cancel = CancelFlag::default();
        let mut schur = Schur::new(matrix, &cancel).unwrap().unwrap();
        for sign in [0.0, 1.0, -1.0] {
            if sign != 0.0 {
                schur.sort(size, &cancel, |a, b| sign * a.re > sign * b.re).unwrap();
                let values: Vec<f64> = schur.blocks(size).iter().map(|&row| sign * schur.value(row).re).collect();
                // Rounding decides the order of those whose vectors are parallel.
                let is_sorted = values.windows(2).all(|pair| pair[0] >= pair[1] - 1e-2 * norm);
                assert!(is_sorted, "matrix {number}: {values:?}");
            }
            let (form, space) = (schur.front(size), schur.space(size));
            let unit = space.transpose() * &space - Mat::<f64>::identity(size, size);
            assert!(unit.norm_max() < 1e-12, "matrix {number}");
            let error = (matrix * &space - &space * &form).norm_max();
            assert!(error <= 1e-13 * norm, "matrix {number} of {size}: {error}");
            assert!((0..size).all(|k| (k + 2..size).all(|i| form[(i, k)] == 0.0)));
            let vectors = &space * schur.eigenvectors(size, &cancel).unwrap();
            for row in schur.blocks(size) {
                let value = schur.value(row);
                let (re, im) = (vectors.col(row), vectors.col((row + 1).min(size - 1)));
                let error = match value.im == 0.0 {
                    true => (matrix * re - value.re * re).norm_max(),
                    false => (matrix * re - (value.re * re - value.im * im)).norm_max(),
                };
                assert!(error <= 1e-12 * norm, "matrix {number} of {size}, {value}: {error}");
            }
        }
    }
}

/// Blocks times a small matrix, a tile of rows and a strip of columns at a time, and block by block.
#[test]
fn products_by_tiles_have_the_bits_of_products_by_blocks() {
    let mut state = 7;
    let mut numbers = |count: usize| -> Vec<f64> {
        (0..count).map(|_| random(&mut state) * 10f64.powf(20.0 * random(&mut state))).collect()
    };
    for (width, blocks) in [1, 2, 4, 8].into_iter().flat_map(|width| [1, 3, 20].map(|blocks| (width, blocks))) {
        let (columns, strip_columns) = (width * blocks, [4, 8]);
        let rows = numbers(TILE_ROWS * columns);
        let tile: Vec<f64> = (0..columns)
            .flat_map(|column| (0..TILE_ROWS).map(move |row| (row, column)))
            .map(|(row, column)| rows[column / width * TILE_ROWS * width + row * width + column % width])
            .collect();
        for strip_columns in strip_columns {
            let strip = numbers(columns * strip_columns);
            let mut product = vec![f64::NAN; TILE_ROWS * strip_columns];
            multiply(strip_columns, &tile, &strip, &mut product);
            for first in
                (0..strip_columns).step_by(width.min(strip_columns)).filter(|first| first + width <= strip_columns)
            {
                let mut sum = vec![0.0; TILE_ROWS * width];
                for (block, rows) in rows.chunks_exact(TILE_ROWS * width).enumerate() {
                    let mut square = [[0.0; MOST_WIDTH]; MOST_WIDTH];
                    for (i, k) in (0..width).flat_map(|i| (0..width).map(move |k| (i, k))) {
                        square[i][k] = strip[(block * width + i) * strip_columns + first + k];
                    }
                    add_product(width, rows, &square, &mut sum);
                }
                for (row, k) in (0..TILE_ROWS).flat_map(|row| (0..width).map(move |k| (row, k))) {
                    let (one, other) = (product[(first + k) * TILE_ROWS + row], sum[row * width + k]);
                    assert_eq!(one.to_bits(), other.to_bits(), "{width} {blocks} {strip_columns}: {one} {other}");
                }
            }
        }
    }
}
