//! Products of complex matrices on disk, beside those of an obvious program, and with themselves.

use crate::common::{bits, import_file, numbers, product, random, runtime};
use outcore_graph::import::{Duplicates, ImportOptions, ImportReport, InputOptions, OrderChoice, import, open};
use outcore_graph::{Direction, Graph, PAGE_BYTES, check, export};
use outcore_image::{Error, ImageFile, ImageOptions, Result, read_manifest};
use outcore_ingest::Choice;
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Runtime, RuntimeOptions, backend};
use outcore_matrix::{MOST_COLUMNS, Operand, Semiring, SparseMatrix};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const OPERANDS: [Operand; 3] = [Operand::Matrix, Operand::Transpose, Operand::Adjoint];

type Complex = [f64; 2];

fn add(one: Complex, other: Complex) -> Complex {
    [one[0] + other[0], one[1] + other[1]]
}

fn multiply(one: Complex, other: Complex) -> Complex {
    [one[0] * other[0] - one[1] * other[1], one[0] * other[1] + one[1] * other[0]]
}

fn conjugate(number: Complex) -> Complex {
    [number[0], -number[1]]
}

/// A file of a complex matrix, and the entries that it means; small whole numbers, so that sums are exact in any order.
struct Given {
    rows: u64,
    columns: u64,
    text: String,
    entries: BTreeMap<(u64, u64), Complex>,
}

impl Given {
    /// Some entries anywhere, several at some places, and a full row and column.
    fn new(symmetry: &str, rows: u64, columns: u64, count: u64) -> Self {
        let mut state = rows + count;
        let mut lines = Vec::new();
        let mut entries = BTreeMap::new();
        for i in 0..count {
            let places =
                [(random(&mut state, rows), random(&mut state, columns)), (3 % rows, i % columns), (i % rows, 0)];
            for (row, column) in &places[..if rows.min(columns) > 100 { 3 } else { 1 }] {
                let (row, column) =
                    if symmetry == "general" { (*row, *column) } else { (*row.max(column), *row.min(column)) };
                // Parts are 0 more often than other numbers.
                let mut parts = [0; 2].map(|_: i32| random(&mut state, 12) as f64 - 5.0);
                parts.iter_mut().for_each(|part| *part = if *part > 4.0 { 0.0 } else { *part });
                match symmetry {
                    "skew-symmetric" if row == column => continue,
                    "hermitian" if row == column => parts[1] = 0.0,
                    _ => {}
                }
                lines.push(format!("{} {} {} {}\n", row + 1, column + 1, parts[0], parts[1]));
                let mut enter = |place, value| {
                    let sum = entries.entry(place).or_insert([0.0; 2]);
                    *sum = add(*sum, value);
                };
                enter((row, column), parts);
                if row != column {
                    match symmetry {
                        "symmetric" => enter((column, row), parts),
                        "hermitian" => enter((column, row), conjugate(parts)),
                        "skew-symmetric" => enter((column, row), parts.map(|part| -part)),
                        _ => {}
                    }
                }
            }
        }
        let head = format!("%%MatrixMarket matrix coordinate complex {symmetry}\n{rows} {columns} {}\n", lines.len());
        Given { rows, columns, text: head + &lines.concat(), entries }
    }

    fn image(&self, folder: &Path, order: OrderChoice) -> PathBuf {
        let image = folder.join(format!("{order:?}.oc"));
        import_text(&runtime(2, None), folder, &self.text, &image, order).unwrap();
        image
    }

    /// The product, term by term.
    fn multiply(&self, operand: Operand, factor: &[f64], columns: usize) -> Vec<f64> {
        let factor = factor.as_chunks::<2>().0;
        let rows = if operand == Operand::Matrix { self.rows } else { self.columns };
        let mut product = vec![[0.0; 2]; rows as usize * columns];
        for (&(row, column), &value) in &self.entries {
            let (row, column, value) = match operand {
                Operand::Matrix => (row, column, value),
                Operand::Transpose => (column, row, value),
                Operand::Adjoint => (column, row, conjugate(value)),
            };
            for k in 0..columns {
                let sum = &mut product[row as usize * columns + k];
                *sum = add(*sum, multiply(value, factor[column as usize * columns + k]));
            }
        }
        product.as_flattened().to_vec()
    }
}

fn import_text(runtime: &Runtime, folder: &Path, text: &str, image: &Path, order: OrderChoice) -> Result<ImportReport> {
    let file = folder.join("given.mtx");
    std::fs::write(&file, text).unwrap();
    import_file(runtime, &file, image, order)
}

fn matrix(runtime: &Runtime, image: &Path) -> SparseMatrix {
    crate::common::matrix(runtime, image, true)
}

/// A factor of complex whole numbers, with this number of rows and columns.
fn factor(rows: u64, columns: usize) -> Vec<f64> {
    numbers(rows * 2 * columns as u64)
}

#[test]
fn products_are_those_of_an_obvious_program() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for symmetry in ["general", "symmetric", "hermitian", "skew-symmetric"] {
        for (size, count) in [(1, 2), (7, 40), (3000, 30_000)] {
            let given = Given::new(symmetry, size, size, count);
            for order in [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
                let matrix = matrix(&runtime, &given.image(folder.path(), order));
                assert!(matrix.is_complex() && matrix.graph().is_complex());
                assert_eq!((matrix.shape(), matrix.is_symmetric()), ((size, size), symmetry == "symmetric"));
                assert_eq!(matrix.entries(), given.entries.len() as u64, "{symmetry} {size}");
                check(matrix.graph()).unwrap();
                let mut diagonal = vec![f64::NAN; 2 * size as usize];
                matrix.write_diagonal(&mut diagonal).unwrap();
                let expected = (0..size).flat_map(|i| given.entries.get(&(i, i)).copied().unwrap_or_default());
                assert!(diagonal.into_iter().eq(expected), "{symmetry} {size} {order:?}");
                for columns in [1, 2, 3, 5, 16, 17] {
                    let factor = factor(size, columns);
                    for operand in OPERANDS {
                        let found = product(&matrix, Semiring::PlusTimes, operand, &factor, columns);
                        let expected = given.multiply(operand, &factor, columns);
                        assert!(found == expected, "{symmetry} {size} {order:?} {columns} {operand:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn rectangular_ones_are_exported_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for (rows, columns) in [(1, 7), (9, 1), (4000, 300), (200, 3000)] {
        let given = Given::new("general", rows, columns, 20_000.min(2 * rows * columns));
        for order in [OrderChoice::Degree, OrderChoice::Auto] {
            let one = matrix(&runtime, &given.image(folder.path(), order));
            assert_eq!(one.shape(), (rows, columns));
            check(one.graph()).unwrap();
            let file = folder.path().join("exported.mtx");
            export(one.graph(), &file).unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.starts_with("%%MatrixMarket matrix coordinate complex general\n"), "{text}");
            let again = folder.path().join("again.oc");
            import_file(&runtime, &file, &again, order).unwrap();
            for matrix in [one, matrix(&runtime, &again)] {
                for operand in OPERANDS {
                    let inner = if operand == Operand::Matrix { columns } else { rows };
                    let factor = factor(inner, 3);
                    let expected = given.multiply(operand, &factor, 3);
                    assert!(
                        product(&matrix, Semiring::PlusTimes, operand, &factor, 3) == expected,
                        "{rows} x {columns} {operand:?}"
                    );
                }
            }
        }
    }
    // An undirected image comes back as a symmetric matrix.
    let given = Given::new("symmetric", 50, 50, 300);
    let one = matrix(&runtime, &given.image(folder.path(), OrderChoice::Degree));
    let file = folder.path().join("symmetric.mtx.gz");
    export(one.graph(), &file).unwrap();
    let again = folder.path().join("again.oc");
    import_file(&runtime, &file, &again, OrderChoice::Input).unwrap();
    let (factor, again) = (factor(50, 2), matrix(&runtime, &again));
    assert!(again.is_symmetric());
    assert!(
        product(&again, Semiring::PlusTimes, Operand::Matrix, &factor, 2)
            == given.multiply(Operand::Matrix, &factor, 2)
    );
}

#[test]
fn empty_matrices_have_products_and_zeros_are_entries() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let image = folder.path().join("empty.oc");
    for size in [0u64, 1, 300] {
        let text = format!("%%MatrixMarket matrix coordinate complex general\n{size} {} 0\n", size / 3);
        import_text(&runtime, folder.path(), &text, &image, OrderChoice::Auto).unwrap();
        let matrix = matrix(&runtime, &image);
        assert!(matrix.is_complex() && check(matrix.graph()).is_ok());
        for columns in [1, 9] {
            let found = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &factor(size / 3, columns), columns);
            assert!(found.len() as u64 == 2 * size * columns as u64 && found.iter().all(|&sum| sum == 0.0));
        }
    }
    // Entries that are 0, or come to 0, stay; a dense matrix has none where it is 0.
    let sparse = "%%MatrixMarket matrix coordinate complex general\n2 2 4\n1 1 0 0\n1 2 1 -2\n1 2 -1 2\n2 2 0 3\n";
    let dense = "%%MatrixMarket matrix array complex general\n2 2\n0 0\n1 0\n0 0\n0 2\n";
    for (text, entries) in [(sparse, 3), (dense, 2)] {
        import_text(&runtime, folder.path(), text, &image, OrderChoice::Input).unwrap();
        assert_eq!(matrix(&runtime, &image).entries(), entries);
    }
}

#[test]
fn bits_are_the_same_for_all_threads_limits_back_ends_and_numbers_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    // Some rows and columns are long, so that their lists span pages; values are anything but whole.
    let (rows, count) = (40_000u64, 90_000u64);
    let mut text = format!("%%MatrixMarket matrix coordinate complex general\n{rows} {rows} {count}\n");
    let mut state = 1;
    for i in 0..count {
        let (long, any, other) = (i % 2, random(&mut state, rows), random(&mut state, rows));
        let (row, column) = [(long, any), (any, long), (any, other)][i as usize % 3];
        text += &format!("{} {} {:?} {:?}\n", row + 1, column + 1, 1.0 / (i as f64 + 2.3), (i as f64).sin());
    }
    let image = folder.path().join("a.oc");
    import_text(&runtime(2, None), folder.path(), &text, &image, OrderChoice::Degree).unwrap();
    // Its files do not depend on the source of the import.
    for (threads, limit) in [(1, 24), (3, 64)] {
        let other = folder.path().join("b.oc");
        import_text(&runtime(threads, Some(limit << 20)), folder.path(), &text, &other, OrderChoice::Degree).unwrap();
        for file in ["out.pages", "edges/out_0.pages", "edges/out_1.pages", "edges/in_1.pages", "edges/in_1.index"] {
            let [one, other] = [&image, &other].map(|image| std::fs::read(image.join(file)).unwrap());
            assert!(one == other, "{file}");
        }
    }
    let columns = 3;
    let factor: Vec<f64> = (0..rows as usize * 2 * columns).map(|i| 1.0 / (i as f64 + 3.7)).collect();
    let whole = matrix(&runtime(1, None), &image);
    for direction in [Direction::Out, Direction::In] {
        assert!(whole.graph().lists_over_pages(direction).len() > 1, "lists that span pages");
    }
    for operand in OPERANDS {
        let expected = product(&whole, Semiring::PlusTimes, operand, &factor, columns);
        for (threads, limit, backend) in [(1, 24, "auto"), (2, 24, "posix"), (8, 48, "auto")] {
            let options = RuntimeOptions {
                threads: Some(threads),
                memory_bytes: Some(limit << 20),
                beside_process: true,
                backend: Some(backend::by_name(backend).unwrap()),
                ..RuntimeOptions::default()
            };
            let matrix = matrix(&Runtime::new(options).unwrap(), &image);
            let found = product(&matrix, Semiring::PlusTimes, operand, &factor, columns);
            assert!(bits(&found) == bits(&expected), "{threads} {limit} {backend} {operand:?}");
        }
        for column in 0..columns {
            let pick = |all: &[f64]| {
                let parts = all.as_chunks::<2>().0.iter().skip(column).step_by(columns);
                parts.flatten().copied().collect::<Vec<_>>()
            };
            let found = product(&whole, Semiring::PlusTimes, operand, &pick(&factor), 1);
            assert!(bits(&found) == bits(&pick(&expected)), "column {column} {operand:?}");
        }
    }
}

#[test]
fn columns_that_memory_has_no_room_for_take_further_passes_which_read_each_page_once() {
    let folder = tempfile::tempdir().unwrap();
    let given = Given::new("general", 60_000, 60_000, 70_000);
    let image = given.image(folder.path(), OrderChoice::Degree);
    let runtime = runtime(2, Some(96 << 20));
    let graph =
        Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() }).unwrap();
    let matrix = SparseMatrix::new(&graph, true).unwrap();
    let keeps = matrix.graph().weight_bytes(Direction::Out);
    let pages = matrix.graph().pages(Direction::Out) + matrix.graph().weight_pages(Direction::Out);
    assert!(matrix.graph().weight_pages(Direction::Out) >= 2 * 8 * matrix.entries() / 4096);
    // One complex column takes 938 KiB.
    for (most_bytes, columns, per_pass, passes) in
        [(16 << 20, 20, 16, 2), (16 << 20, 3, 4, 1), (4 << 20, 9, 4, 3), (1 << 20, 2, 1, 2)]
    {
        let free = runtime.budget().available_bytes();
        let _taken = runtime.budget().reserve("what others hold", free - most_bytes - keeps).unwrap();
        let plan = matrix.plan(Operand::Matrix, columns, 0).unwrap();
        assert_eq!((plan.columns_per_pass, plan.passes), (per_pass, passes), "{columns} columns");
        assert!(plan.state_bytes <= most_bytes + keeps && per_pass <= MOST_COLUMNS / 2);
        let factor = factor(60_000, columns);
        let mut product = vec![0.0; factor.len()];
        let stats = matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor, columns, &mut product).unwrap();
        // A page of values that belong to two units is wanted by both.
        let wanted = stats.total.pages_wanted;
        assert!((passes * pages..passes * (pages + pages / 8)).contains(&wanted), "{wanted} of {passes} x {pages}");
        assert!(product == given.multiply(Operand::Matrix, &factor, columns));
    }
}

#[test]
fn operations_without_complex_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let image = Given::new("general", 7, 7, 20).image(folder.path(), OrderChoice::Input);
    let complex = matrix(&runtime, &image);
    for &(semiring, name, _) in Semiring::ALL {
        let found = complex.multiply(semiring, Operand::Matrix, &[1.0; 14], 1, &mut [0.0; 14]);
        assert_eq!(found.is_ok(), semiring == Semiring::PlusTimes, "{name}");
    }
    for (factor, product) in [(7, 7), (14, 7), (28, 14)] {
        let mut product = vec![0.0; product];
        let found = complex.multiply(Semiring::PlusTimes, Operand::Matrix, &vec![0.0; factor], 1, &mut product);
        assert!(matches!(found, Err(Error::Usage(_))), "{found:?}");
    }
    // Complex values are no weights.
    let graph = complex.graph();
    assert!(graph.weight_kind().unwrap_err().to_string().contains("complex"));
    assert!(graph.weight_name().is_none() && !graph.has_weights(None).unwrap());
    assert!(graph.has_weights(Some("value")).unwrap_err().to_string().contains("complex"));
    assert!(graph.keep_weights(&[Direction::Out]).is_err());
    let refused = export(graph, folder.path().join("graph.csv")).unwrap_err().to_string();
    assert!(refused.contains(".mtx"), "{refused}");
    assert_eq!((graph.info().weight_type, graph.info().weights.as_deref()), (Some("complex"), Some("value")));
    // Without values it is a matrix of ones.
    let ones = SparseMatrix::new(graph, false).unwrap();
    assert!(!ones.is_complex());
    ones.multiply(Semiring::MinPlus, Operand::Matrix, &[1.0; 7], 1, &mut [0.0; 7]).unwrap();

    let banner = "%%MatrixMarket matrix coordinate complex";
    for (text, expected) in [
        (format!("{banner} general\n2 2 1\n1 2 0.5\n"), "a real and an imaginary part"),
        (format!("{banner} general\n2 2 1\n1 2 0.5 1 2\n"), "the end of the line"),
        (format!("{banner} general\n2 2 2\n1 2 0.5 1\n1 1 0 nan\n"), ":4: expected"),
        (format!("{banner} general\n2 2 2\n1 2 0 1\n1 2 inf 0\n"), ":4: expected"),
        (format!("{banner} general\n2 2 2\n1 2 0 1e308\n1 2 0 1e308\n"), "sums fit"),
        (format!("{banner} hermitian\n2 2 1\n2 2 1 1\n"), "Hermitian"),
        (format!("{banner} hermitian\n2 3 1\n2 1 1 1\n"), "square"),
        (format!("{banner} skew-symmetric\n2 2 1\n2 2 1 1\n"), "skew-symmetric"),
        (format!("{banner} general\n%%GraphBLAS type double\n2 2 1\n2 2 1 1\n"), "complex values"),
        ("%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 2 1\n".to_owned(), "hermitian"),
    ] {
        let refused = import_text(&runtime, folder.path(), &text, &image, OrderChoice::Input).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    let file = folder.path().join("given.mtx");
    std::fs::write(&file, format!("{banner} general\n2 2 2\n1 2 0 1\n1 2 2 1\n")).unwrap();
    let as_graph = open(&runtime, std::slice::from_ref(&file), &InputOptions::default());
    assert!(as_graph.is_err_and(|error| error.to_string().contains("complex numbers cannot be weights")));
    for duplicates in [Duplicates::Min, Duplicates::Max, Duplicates::Error] {
        let input = InputOptions { is_matrix: true, ..InputOptions::default() };
        let source = open(&runtime, std::slice::from_ref(&file), &input).unwrap();
        let options = ImportOptions { duplicates, replace: true, ..ImportOptions::default() };
        assert!(import(&runtime, source, &image, &options).is_err(), "{duplicates:?}");
    }
    // The image is what it was.
    assert_eq!(matrix(&runtime, &image).shape(), (7, 7));
}

#[test]
fn damage_of_either_part_is_found_and_a_device_that_fails_gives_an_error_or_the_right_product() {
    let folder = tempfile::tempdir().unwrap();
    let given = Given::new("hermitian", 3000, 3000, 20_000);
    let image = given.image(folder.path(), OrderChoice::Degree);
    let factor = factor(given.rows, 2);
    let expected = given.multiply(Operand::Matrix, &factor, 2);
    let (mut errors, mut right) = (0, 0);
    for flipped in [true, false] {
        for k in 0..60 {
            let faults = Faults { seed: k, short_reads_percent: 50, ..Faults::default() };
            let faults = match flipped {
                true => Faults { flip_at: Some(k), ..faults },
                false => Faults { fail_at: Some(k), ..faults },
            };
            let sim = Arc::new(Sim::new(faults).asleep());
            let backend: Arc<dyn outcore_io::Backend> = sim.clone();
            let options = RuntimeOptions { threads: Some(2), backend: Some(backend), ..RuntimeOptions::default() };
            let graph = Graph::open(
                &Runtime::new(options).unwrap(),
                &image,
                ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() },
            );
            let matrix = SparseMatrix::new(&graph.unwrap(), true).unwrap();
            sim.wake();
            let mut found = vec![0.0; expected.len()];
            match matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor, 2, &mut found) {
                Ok(_) => {
                    assert!(found == expected, "operation {k}");
                    right += 1;
                }
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors >= 5 && right > 0, "{errors} errors, {right} right products");
    // One bit of a page of either column.
    let runtime = runtime(2, None);
    for file in ["edges/out_1.pages", "edges/in_0.pages"] {
        let path = image.join(file);
        let bytes = std::fs::read(&path).unwrap();
        let mut damaged = bytes.clone();
        damaged[5000] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let found = check(matrix(&runtime, &image).graph());
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{found:?}");
        std::fs::write(&path, bytes).unwrap();
    }
    // An imaginary part that is another one in the other direction, in a page with the right checksum.
    let (path, origin) = (image.join("edges/out_1.pages"), ImageFile::values(1, false));
    let origin = origin.origin(read_manifest(&outcore_io::backend::best(), &image).unwrap().image_id);
    let bytes = std::fs::read(&path).unwrap();
    let mut changed = bytes.clone();
    let page = &mut changed.as_chunks_mut::<{ PAGE_BYTES as usize }>().0[0];
    page[40] ^= 1;
    let checksum = origin.checksum(0, page);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(&path, changed).unwrap();
    let found = check(matrix(&runtime, &image).graph()).unwrap_err().to_string();
    assert!(found.contains("the edges of the out-lists"), "{found}");
    std::fs::write(&path, bytes).unwrap();
    check(matrix(&runtime, &image).graph()).unwrap();
}
