//! Eigenvalues of Hermitian matrices beside closed forms, and beside those of real matrices with the same spectrum.

use crate::common::{Entries, bits, import_text, matrix, options, random, runtime, with_matrix_of};
use outcore_linalg::internal::{MOST_WIDTH, Parts, add_product, check_hermitian_pairs, complex_dots, dots};
use outcore_linalg::{EigshOptions, HermitianPairs, Which, c64, eigsh, eigsh_complex};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

const ENDS: [Which; 3] = [Which::LargestMagnitude, Which::LargestAlgebraic, Which::SmallestAlgebraic];

fn unit(angle: f64) -> c64 {
    c64::new(angle.cos(), angle.sin())
}

/// A matrix as its entries on and below the diagonal; or all of them, of one that need not be Hermitian.
struct Complex {
    rows: u64,
    entries: BTreeMap<(u64, u64), c64>,
    symmetry: &'static str,
}

impl Complex {
    fn new(rows: u64) -> Self {
        Complex { rows, entries: BTreeMap::new(), symmetry: "hermitian" }
    }

    /// Adds an entry, and its conjugate on the other side.
    fn add(&mut self, row: u64, column: u64, value: c64) {
        let value = if row < column { value.conj() } else { value };
        self.entries.insert((row.max(column), row.min(column)), value);
    }

    fn random(rows: u64, count: u64) -> Self {
        let (mut state, mut given) = (rows + count, Complex::new(rows));
        let mut part = |below| random(&mut state, below);
        for _ in 0..count {
            let (row, column) = (part(rows), part(rows));
            let [re, im] = [0; 2].map(|_| part(2001) as f64 / 1000.0 - 1.0);
            given.add(row, column, c64::new(re, if row == column { 0.0 } else { im }));
        }
        given
    }

    /// A real symmetric matrix between a diagonal of units and its inverse: it has the same eigenvalues.
    fn turned(real: &Entries, angle: f64) -> Self {
        let mut given = Complex::new(real.rows);
        for (&(row, column), &value) in &real.entries {
            let turn =
                if row == column { 0.0 } else { angle * ((row * row % 97) as f64 - (column * column % 97) as f64) };
            given.add(row, column, value * unit(turn));
        }
        given
    }

    /// Edges of a ring, each with an angle, and what stands on the diagonal.
    fn ring(rows: u64, diagonal: f64, steps: &[(u64, c64)]) -> Self {
        let mut given = Complex::new(rows);
        for row in 0..rows {
            given.add(row, row, c64::new(diagonal, 0.0));
            steps.iter().for_each(|&(step, value)| given.add((row + step) % rows, row, value));
        }
        given
    }

    fn image(&self, folder: &Path) -> PathBuf {
        let mut text = format!("%%MatrixMarket matrix coordinate complex {}\n", self.symmetry);
        text += &format!("{} {} {}\n", self.rows, self.rows, self.entries.len());
        for ((row, column), value) in &self.entries {
            text += &format!("{} {} {:?} {:?}\n", row + 1, column + 1, value.re, value.im);
        }
        import_text(folder, &text)
    }

    /// The product with some columns, term by term.
    fn multiply(&self, factor: &[c64], columns: usize) -> Vec<c64> {
        let mut product = vec![c64::new(0.0, 0.0); factor.len()];
        let mut add = |row: u64, column: u64, value: c64| {
            for k in 0..columns {
                product[row as usize * columns + k] += value * factor[column as usize * columns + k];
            }
        };
        for (&(row, column), &value) in &self.entries {
            add(row, column, value);
            if row != column {
                add(column, row, value.conj());
            }
        }
        product
    }
}

/// The vectors, checked: orthonormal, and with the residuals that are said.
fn checked(given: &Complex, found: &HermitianPairs) -> Vec<c64> {
    let (rows, count) = found.vectors.shape();
    let mut vectors = vec![c64::new(f64::NAN, 0.0); rows * count];
    found.vectors.write(&mut vectors).unwrap();
    let products = given.multiply(&vectors, count);
    for i in 0..count {
        for k in 0..=i {
            let dot: c64 = (0..rows).map(|row| vectors[row * count + i].conj() * vectors[row * count + k]).sum();
            let unit = if i == k { 1.0 } else { 0.0 };
            assert!((dot.re - unit).hypot(dot.im) < 1e-12, "vectors {i} and {k}: {dot}");
        }
        let error = |row: usize| {
            let left = products[row * count + i] - vectors[row * count + i] * found.values[i];
            left.re.powi(2) + left.im.powi(2)
        };
        let residual = (0..rows).map(error).sum::<f64>().sqrt();
        assert!((residual - found.residuals[i]).abs() <= 1e-12, "{residual} {}", found.residuals[i]);
        assert!(residual <= found.residual_bound, "pair {i} of {:?}: {residual}", found.values);
    }
    assert!(found.values.len() == count && found.converged == count && found.values.is_sorted());
    vectors
}

/// Finds eigenvalues and compares them with those that are known; returns how many vectors were multiplied.
fn compare(given: &Complex, mut known: Vec<f64>, options: &EigshOptions) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(&runtime(2, None), &given.image(folder.path()), true);
    let found = eigsh_complex(&matrix, options).unwrap();
    checked(given, &found);
    // Values of the same magnitude may take each other's places.
    let key = |value: f64| match options.which {
        Which::LargestMagnitude => value.abs(),
        Which::LargestAlgebraic => value,
        Which::SmallestAlgebraic => -value,
        Which::SmallestMagnitude => -value.abs(),
        which => panic!("{which:?} has no key"),
    };
    let descending = |values: &mut Vec<f64>| values.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    descending(&mut known);
    let mut values = found.values.clone();
    descending(&mut values);
    assert_eq!(values.len(), options.k);
    let scale = known.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    for (&found, &known) in values.iter().zip(&known) {
        assert!((key(found) - key(known)).abs() <= options.tol.max(1e-11) * scale, "{values:?} {known}");
    }
    found.products
}

#[test]
fn known_spectra_are_found() {
    let mut steps = 0;
    for (block, which) in [1, 2, 4].into_iter().flat_map(|block| ENDS.map(|which| (block, which))) {
        let options = EigshOptions { block, which, ..options(5) };
        // A Hermitian circulant: the Fourier transform of its first column.
        let row = [(1, c64::new(0.3, -0.8)), (2, c64::new(-0.5, 0.25)), (9, c64::new(0.0, 1.0))];
        let value = |m: u64| {
            let term =
                |&(step, value): &(u64, c64)| 2.0 * (value * unit(-2.0 * PI * (step * m % 500) as f64 / 500.0)).re;
            1.5 + row.iter().map(term).sum::<f64>()
        };
        compare(&Complex::ring(500, 1.5, &row), (0..500).map(value).collect(), &options);
        // The Laplacian of a cycle that a magnetic flux of 0.7 goes through, in steps that are the same for all edges.
        for rows in [40, 300] {
            let value = |m: u64| 2.0 - 2.0 * ((2.0 * PI * m as f64 + 0.7) / rows as f64).cos();
            let edges = [(1, -unit(0.7 / rows as f64))];
            compare(&Complex::ring(rows, 2.0, &edges), (0..rows).map(value).collect(), &options);
        }
        steps += 1;
    }
    assert_eq!(steps, 9);
}

#[test]
fn repeated_eigenvalues_are_found_as_often_as_they_are_there() {
    let choose = |n: u64, k: u64| (0..k).fold(1, |count, i| count * (n - i) / (i + 1)) as usize;
    let known: Vec<f64> = (0..=10).flat_map(|i| vec![10.0 - 2.0 * i as f64; choose(10, i)]).collect();
    let cube = Complex::turned(&Entries::hypercube(10), 0.37);
    for block in [1, 2, 4] {
        for (which, seed) in ENDS.into_iter().zip(0..) {
            compare(&cube, known.clone(), &EigshOptions { block, which, seed, ..options(14) });
        }
    }
    // A projection onto one vector, times 3: fewer vectors than a block has.
    let mut ones = Entries::new(300, 300);
    (0..300).for_each(|row| (0..=row).for_each(|column| ones.add_both(&[(row, column, 0.01)])));
    let mut known = vec![0.0; 300];
    known[0] = 3.0;
    for (block, which) in [1, 4].into_iter().flat_map(|block| ENDS.map(|which| (block, which))) {
        compare(&Complex::turned(&ones, 0.2), known.clone(), &EigshOptions { block, which, ..options(5) });
    }
}

#[test]
fn products_are_as_many_as_with_a_real_matrix_of_the_same_spectrum() {
    let folder = tempfile::tempdir().unwrap();
    let mut ratios = Vec::new();
    for (name, real) in [
        ("grid of 40 x 31", Entries::grid(40, 31)),
        ("grid of 30 x 30", Entries::grid(30, 30)),
        ("random, 3000 rows", Entries::random(3000, 3000, 20_000, true)),
        ("hypercube of dimension 10", Entries::hypercube(10)),
    ] {
        for (which, block) in [(ENDS[0], 1), (ENDS[1], 2), (ENDS[2], 4)] {
            let options = EigshOptions { block, which, tol: 1e-10, ..options(8) };
            let known = matrix(&runtime(2, None), &real.image(folder.path(), true), true);
            let known = eigsh(&known, &options).unwrap();
            let turned = Complex::turned(&real, 0.37);
            let complex = matrix(&runtime(2, None), &turned.image(folder.path()), true);
            let found = eigsh_complex(&complex, &options).unwrap();
            checked(&turned, &found);
            let scale = known.values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
            found.values.iter().zip(&known.values).for_each(|(a, b)| {
                let [a, b] = if which == Which::LargestMagnitude { [a.abs(), b.abs()] } else { [*a, *b] };
                assert!((a - b).abs() <= 1e-9 * scale, "{:?} {:?}", found.values, known.values);
            });
            println!("{name}, {which:?}, block {block}: {} products, real {}", found.products, known.products);
            ratios.push(found.products as f64 / known.products as f64);
        }
    }
    // The real copies of a complex eigenvector are not computed one by one.
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean < 1.15 && ratios.iter().all(|&ratio| ratio < 1.5), "{mean} {ratios:?}");
}

#[test]
fn real_numbers_may_be_stored_as_complex_ones() {
    let folder = tempfile::tempdir().unwrap();
    for rows in [30, 900] {
        let real = Entries::random(rows, rows, 4 * rows, true);
        let values = {
            let matrix = matrix(&runtime(2, None), &real.image(folder.path(), true), true);
            eigsh(&matrix, &options(6)).unwrap().values
        };
        let mut given = Complex::turned(&real, 0.0);
        let check = |given: &Complex, is_symmetric: bool| {
            let matrix = matrix(&runtime(2, None), &given.image(folder.path()), true);
            assert!(matrix.is_complex() && matrix.is_symmetric() == is_symmetric);
            let found = eigsh_complex(&matrix, &options(6)).unwrap();
            checked(given, &found);
            found.values.iter().zip(&values).for_each(|(a, b)| assert!((a - b).abs() < 1e-11 * b.abs()));
        };
        check(&given, false);
        // Stored once, as a symmetric matrix: that is Hermitian if it is real.
        given.symmetry = "symmetric";
        check(&given, true);
    }
}

#[test]
fn matrices_with_few_rows_or_entries_are_solved() {
    for rows in [1u64, 2, 3, 50, 700] {
        let k = (rows as usize).min(5);
        for block in [1, 2, 4] {
            let options = EigshOptions { block, ..options(k) };
            compare(&Complex::new(rows), vec![0.0; rows as usize], &options);
            let mut star = Complex::new(rows);
            (1..rows).for_each(|i| star.add(0, i, unit(i as f64)));
            let mut known = vec![0.0; rows as usize];
            if rows > 1 {
                (known[0], known[1]) = (((rows - 1) as f64).sqrt(), -((rows - 1) as f64).sqrt());
            }
            compare(&star, known, &options);
            let mut one = Complex::new(rows);
            one.add(rows / 2, rows / 2, c64::new(-7.5, 0.0));
            let mut known = vec![0.0; rows as usize];
            known[0] = -7.5;
            compare(&one, known, &options);
            let mut diagonal = Complex::new(rows);
            let value = |i: u64| if i < 4 { 1.0 + 1e-9 * i as f64 } else { 0.5 * i as f64 / rows as f64 };
            (0..rows).for_each(|i| diagonal.add(i, i, c64::new(value(i), 0.0)));
            compare(&diagonal, (0..rows).map(value).collect(), &EigshOptions { k: k.min(4), ..options });
        }
    }
}

#[test]
fn a_subspace_that_is_restarted_or_kept_finds_the_same() {
    let given = Complex::random(3000, 20_000);
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(&runtime(2, None), &given.image(folder.path()), true);
    let found = eigsh_complex(&matrix, &EigshOptions { ncv: Some(900), ..options(8) }).unwrap();
    checked(&given, &found);
    assert_eq!(found.restarts, 0);
    let few = EigshOptions { ncv: Some(24), ..options(8) };
    let again = eigsh_complex(&matrix, &few).unwrap();
    let vectors = checked(&given, &again);
    assert!(again.restarts > 2, "{}", again.restarts);
    found.values.iter().zip(&again.values).for_each(|(a, b)| assert!((a - b).abs() < 1e-11 * a.abs()));
    // A resumed run has the same bits and the same number of products, two for comparing the matrices excepted.
    let saved = EigshOptions { checkpoint: Some(folder.path().join("kept")), max_iterations: 2, ..few.clone() };
    let cut = eigsh_complex(&matrix, &saved).unwrap();
    assert!(cut.converged < 8 && cut.residuals.iter().any(|&residual| residual > cut.residual_bound));
    let whole = eigsh_complex(&matrix, &EigshOptions { max_iterations: 1000, ..saved.clone() }).unwrap();
    assert_eq!(bits(&whole.values), bits(&again.values));
    assert!(checked(&given, &whole) == vectors);
    // It is of another run for other options.
    let error = eigsh_complex(&matrix, &EigshOptions { k: 7, ..saved }).unwrap_err().to_string();
    assert!(error.contains("eigsh of complex numbers"), "{error}");
}

#[test]
fn bits_depend_on_nothing_but_the_options() {
    let given = Complex::random(50_000, 250_000);
    let folder = tempfile::tempdir().unwrap();
    let image = given.image(folder.path());
    let mut expected = None;
    // A limit that has room for few of the 60 vectors of 800 KB, and none.
    for (threads, memory) in [(1, None), (2, None), (3, Some(40 << 20)), (2, Some(32 << 20))] {
        let matrix = matrix(&runtime(threads, memory), &image, true);
        let options = EigshOptions { ncv: Some(60), ..options(5) };
        let found = eigsh_complex(&matrix, &options).unwrap();
        let vectors = checked(&given, &found);
        let parts: Vec<f64> = vectors.iter().flat_map(|number| [number.re, number.im]).collect();
        let found = (bits(&found.values), bits(&parts), found.products);
        assert!(*expected.get_or_insert(found.clone()) == found, "{threads} {memory:?}");
    }
}

#[test]
fn impossible_options_and_unsuitable_matrices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let refusal = |given: &Complex, options: &EigshOptions| {
        let matrix = matrix(&runtime, &given.image(folder.path()), true);
        eigsh_complex(&matrix, options).unwrap_err().to_string()
    };
    for rows in [30, 900] {
        let mut random = Complex::random(rows, 4 * rows);
        assert!(
            refusal(&random, &EigshOptions { block: 8, ..options(3) }).contains("1, 2 or 4 complex columns, found 8")
        );
        assert!(refusal(&random, &EigshOptions { block: 3, ..options(3) }).contains("found 3"));
        let nearest = EigshOptions { which: Which::SmallestMagnitude, ..options(3) };
        assert!(rows == 30 || refusal(&random, &nearest).contains("matrix of 900 rows, found SM"));
        assert!(refusal(&random, &options(0)).contains(&format!("expected k from 1 to {rows}")));
        assert!(refusal(&random, &EigshOptions { ncv: Some(8), ..options(3) }).contains("expected ncv of at least 9"));
        assert!(refusal(&random, &EigshOptions { tol: -1.0, ..options(3) }).contains("found -1"));
        random.symmetry = "general";
        assert!(refusal(&random, &options(3)).contains("expected a Hermitian matrix"));
        // One that is its transpose, not its adjoint.
        random.symmetry = "symmetric";
        assert!(refusal(&random, &options(3)).contains("expected a Hermitian matrix"));
        // One entry that is off by a little, and one imaginary number on the diagonal.
        let mut near = Complex { symmetry: "general", ..Complex::turned(&Entries::grid(1, rows).expanded(), 0.3) };
        let lower = std::mem::take(&mut near.entries);
        for (&(row, column), &value) in &lower {
            near.entries.insert((row, column), value);
            near.entries.insert((column, row), value.conj());
        }
        let matrix = matrix(&runtime, &near.image(folder.path()), true);
        assert_eq!(eigsh_complex(&matrix, &options(3)).unwrap().converged, 3);
        near.entries.insert((5, 5), c64::new(1.0, 1e-3));
        assert!(refusal(&near, &options(3)).contains("expected a Hermitian matrix"));
        let mut large = Complex::ring(rows, 2.0, &[(1, unit(0.3))]);
        (6..9).for_each(|column| large.add(7, column, c64::new(f64::MAX, 0.0)));
        assert!(refusal(&large, &options(3)).contains("expected products whose squares are finite"));
    }
    let wide = "%%MatrixMarket matrix coordinate complex general\n5 7 1\n1 2 0.5 1\n";
    let wide = matrix(&runtime, &import_text(folder.path(), wide), true);
    let error = eigsh_complex(&wide, &options(3)).unwrap_err().to_string();
    assert!(error.contains("expected a square matrix, found one of 5 x 7"), "{error}");
    // Each has its own.
    let complex = matrix(&runtime, &Complex::random(90, 400).image(folder.path()), true);
    assert!(eigsh(&complex, &options(3)).unwrap_err().to_string().contains("found complex ones"));
    let real = matrix(&runtime, &Entries::grid(1, 90).image(folder.path(), true), true);
    assert!(eigsh_complex(&real, &options(3)).unwrap_err().to_string().contains("found real ones"));
}

#[test]
fn squares_are_complex_numbers() {
    // Two rows of four complex columns each, and the products of all columns by hand.
    let number = |seed: usize| ((seed * 37 + 11) % 101) as f64 / 7.0 - 5.0;
    let rows = |seed: usize| -> Vec<[f64; MOST_WIDTH]> {
        (0..2).map(|row| std::array::from_fn(|i| number(seed + row * MOST_WIDTH + i))).collect()
    };
    let (left, right) = (rows(3), rows(50));
    let mut sums = [[0.0; MOST_WIDTH]; MOST_WIDTH];
    dots(MOST_WIDTH, left.as_flattened(), right.as_flattened(), &mut sums);
    let found = complex_dots(&sums);
    for (i, k) in (0..16).map(|at| (at / 4, at % 4)) {
        let part = |row: &[f64; MOST_WIDTH], i: usize| c64::new(row[2 * i], row[2 * i + 1]);
        let expected: c64 = left.iter().zip(&right).map(|(a, b)| part(a, i).conj() * part(b, k)).sum();
        let square = [[expected.re, expected.im], [-expected.im, expected.re]];
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert!((found[2 * i + row][2 * k + column] - square[row][column]).abs() < 1e-12);
        }
    }
    // A row of parts times a square are the parts of the product.
    let mut sum = [0.0; 2];
    let square = [[2.0, -3.0], [3.0, 2.0]].map(|[a, b]| [a, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let mut whole = [[0.0; MOST_WIDTH]; MOST_WIDTH];
    whole[..2].copy_from_slice(&square);
    add_product(2, &[5.0, 7.0], &whole, &mut sum);
    let expected = c64::new(5.0, 7.0) * c64::new(2.0, -3.0);
    assert_eq!(sum, [expected.re, expected.im]);
}

#[test]
fn eigenpairs_that_are_wrong_are_found() {
    let mut text = "%%MatrixMarket matrix coordinate complex hermitian\n40 40 79\n".to_owned();
    (1..=40).for_each(|i| text += &format!("{i} {i} {} 0\n", 50.0 + f64::from(i)));
    (2..=40).for_each(|i| text += &format!("{i} {} {} {}\n", i - 1, f64::from(i).sin(), f64::from(i).cos()));
    with_matrix_of(&text, |matrix| {
        let mut found = eigsh_complex(matrix, &EigshOptions { k: 3, ..EigshOptions::default() }).unwrap();
        let (values, residuals) = (found.values.clone(), found.residuals.clone());
        check_hermitian_pairs(matrix, &values, &mut found.vectors, &residuals).unwrap();
        let wrong = [values[0], values[1] * (1.0 + 1e-9), values[2]];
        check_hermitian_pairs(matrix, &wrong, &mut found.vectors, &residuals).unwrap_err();
        let wrong = [residuals[0], residuals[1], 1e-6];
        check_hermitian_pairs(matrix, &values, &mut found.vectors, &wrong).unwrap_err();
        // A repeated vector is not orthonormal, though both residuals are right.
        let HermitianPairs { vectors, .. } = found;
        let mut twice = vectors.with_columns(vec![Parts { re: 0, sign: 1.0 }; 2]);
        let (values, residuals) = ([values[0]; 2], [residuals[0]; 2]);
        let error = check_hermitian_pairs(matrix, &values, &mut twice, &residuals).unwrap_err().to_string();
        assert!(error.contains("a dot product of 0 for the vectors 0 and 1"), "{error}");
    });
}
