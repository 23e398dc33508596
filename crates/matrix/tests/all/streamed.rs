//! Products with dense matrices in files: the bits are those of products in memory; passes, bytes and memory are what
//! the plan says.

use crate::common::{bits, import_file, matrix, product, random, runtime};
use outcore_graph::Graph;
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{ImportOptions, OrderChoice, import};
use outcore_image::{Error, ImageOptions};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Backend, Runtime, RuntimeOptions, backend, current_memory_bytes, peak_memory_bytes};
use outcore_matrix::{
    DenseFactor, DenseFile, DenseLayout, DenseProduct, Operand, ProductFile, Semiring, SparseMatrix, StreamedProduct,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Numbers that any rounding shows in.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| 1.0 / (i as f64 + 3.7) - 0.01).collect()
}

/// Writes a .npy file in rows.
fn save(path: &Path, element: &str, shape: &[usize], bytes: &[u8]) {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let text = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': ({},), }}\n", sizes.join(", "));
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(bytes);
    std::fs::write(path, file).unwrap();
}

fn save_numbers(path: &Path, columns: usize, numbers: &[f64]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    save(path, "<f8", &[numbers.len() / columns.max(1), columns], &bytes);
}

/// The numbers of a .npy file that a product was written to.
fn load(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let head = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(head % 64 == 0 && bytes[..head].ends_with(b"\n"));
    bytes[head..].as_chunks().0.iter().map(|&number| f64::from_le_bytes(number)).collect()
}

fn new_file(path: &Path) -> ProductFile {
    ProductFile::New { path: path.to_owned(), is_vector: false }
}

/// The product of a factor in a file, in another file.
fn streamed(matrix: &SparseMatrix, operand: Operand, factor: &Path, output: &Path) -> StreamedProduct {
    let factor = DenseFile::open(matrix.graph().runtime(), factor).unwrap();
    let output = new_file(output);
    matrix
        .multiply_streamed(Semiring::PlusTimes, operand, DenseFactor::File(&factor), DenseProduct::File(&output))
        .unwrap()
}

/// A rectangular matrix, with an empty row and column, and lists that span pages.
fn image(folder: &Path, rows: u64, columns: u64, kind: &str, order: OrderChoice) -> PathBuf {
    let (mut state, mut text) = (rows, format!("%%MatrixMarket matrix coordinate {kind} general\n"));
    let count = 6 * rows;
    text += &format!("{rows} {columns} {}\n", count + columns - 1);
    let mut entry = |row: u64, column: u64, state: &mut u64| {
        let mut value = || random(state, 1000) as f64 / 7.0 - 60.0;
        let (one, other) = (value(), value());
        match kind {
            "complex" => text += &format!("{row} {column} {one} {other}\n"),
            _ => text += &format!("{row} {column} {one}\n"),
        }
    };
    for _ in 0..count {
        let (row, column) = (random(&mut state, rows - 1) + 2, random(&mut state, columns - 1) + 1);
        entry(row, column, &mut state);
    }
    (1..columns).for_each(|column| entry(3, column, &mut state));
    let (file, image) = (folder.join("given.mtx"), folder.join(format!("{kind}-{rows}-{columns}-{order:?}.oc")));
    std::fs::write(&file, text).unwrap();
    import_file(&runtime(2, None), &file, &image, order).unwrap();
    image
}

/// Leaves so little that a product has about as many columns in a pass: what indexes of values take, and a bit.
fn few_columns(matrix: &SparseMatrix, operand: Operand, columns: usize) -> outcore_io::Reservation {
    let least = matrix.plan(operand, 1, 0).unwrap().state_bytes;
    let (rows, inner) = matrix.shape();
    let inner = if operand == Operand::Matrix { inner } else { rows };
    let column_bytes = if matrix.is_complex() { 16 } else { 8 } * inner;
    leave(matrix.graph().runtime(), least + (800 << 10) + (columns - 1) as u64 * column_bytes)
}

/// Leaves this much of a budget.
fn leave(runtime: &Runtime, most_bytes: u64) -> outcore_io::Reservation {
    let free = runtime.budget().available_bytes();
    runtime.budget().reserve("what others hold", free - most_bytes).unwrap()
}

#[test]
fn bits_are_those_in_memory_for_all_limits_orders_and_operands() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    for (kind, rows, columns, order) in [
        ("real", 20_000, 9000, OrderChoice::Input),
        ("real", 9000, 20_000, OrderChoice::Degree),
        ("complex", 9000, 9000, OrderChoice::Degree),
    ] {
        let image = image(folder.path(), rows, columns, kind, order);
        let whole = matrix(&runtime(2, None), &image, true);
        let parts = if kind == "complex" { 2 } else { 1 };
        for operand in [Operand::Matrix, Operand::Transpose, Operand::Adjoint] {
            let inner = if operand == Operand::Matrix { columns } else { rows } as usize;
            for width in [0, 1, 3, 16, 37] {
                let factor = numbers(inner * width * parts);
                let expected = product(&whole, Semiring::PlusTimes, operand, &factor, width);
                let bytes: Vec<u8> = factor.iter().flat_map(|number| number.to_le_bytes()).collect();
                save(&one, if parts == 2 { "<c16" } else { "<f8" }, &[inner, width], &bytes);
                for (threads, columns, backend) in [(2, 1, "auto"), (1, 4, "posix"), (3, 64, "auto")] {
                    let options = RuntimeOptions {
                        threads: Some(threads),
                        memory_bytes: Some(64 << 20),
                        beside_process: true,
                        backend: Some(backend::by_name(backend).unwrap()),
                        ..RuntimeOptions::default()
                    };
                    let runtime = Runtime::new(options).unwrap();
                    let matrix = matrix(&runtime, &image, true);
                    let _taken = few_columns(&matrix, operand, columns);
                    let cost = streamed(&matrix, operand, &one, &other);
                    let passes = cost.stats.total.pages_wanted / matrix.pages_per_pass(operand);
                    assert!(width < 37 || columns == 64 || passes >= 3, "{passes} passes");
                    assert!(bits(&load(&other)) == bits(&expected), "{kind} {order:?} {operand:?} {width} {columns}");
                }
            }
        }
    }
}

#[test]
fn passes_and_bytes_are_those_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let options = GenerateOptions { shape: Shape::Uniform, scale: 16, edge_factor: 8, seed: 3, weights: None };
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let (image, with) =
            (folder.path().join("u.oc"), ImportOptions { order, replace: true, ..ImportOptions::default() });
        import(&runtime(2, None), source(&options).unwrap(), &image, &with).unwrap();
        let in_order = order == OrderChoice::Input;
        let runtime = runtime(2, Some(96 << 20));
        let graph =
            Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() }).unwrap();
        let matrix = SparseMatrix::new(&graph, false).unwrap();
        let rows = matrix.shape().0 as usize;
        // One column takes 512 kiB.
        for (most_bytes, columns, per_pass) in
            [(40 << 20, 32, 32), (7 << 19, 32, 4), (15 << 17, 7, 2), (7 << 20, 16, 8)]
        {
            let _taken = leave(&runtime, most_bytes);
            let factor = numbers(rows * columns);
            save_numbers(&one, columns, &factor);
            let file = DenseFile::open(&runtime, &one).unwrap();
            let output = new_file(&other);
            let plan = matrix.plan_streamed(Operand::Matrix, DenseFactor::File(&file), Some(&output), 0).unwrap();
            let passes = columns.div_ceil(per_pass) as u64;
            assert_eq!((plan.columns_per_pass, plan.passes), (per_pass, passes), "{most_bytes} {columns}");
            assert!(plan.state_bytes <= most_bytes);
            let cost = streamed(&matrix, Operand::Matrix, &one, &other);
            assert_eq!(cost.stats.total.bytes_read, passes * plan.bytes_per_pass);
            let bytes = 8 * (rows * columns) as u64;
            assert_eq!((plan.product_bytes, cost.product_bytes_written), (bytes, bytes));
            // Rows are read twice at most: two passes read all of them, three or more read panels. What no pass wants
            // behind the last row of a piece is not read.
            let expected = if passes == 2 { 2 * bytes } else { bytes };
            assert_eq!(plan.factor_bytes, expected);
            let found = cost.factor_bytes_read;
            assert!(found == expected || passes == 2 && found < expected && found > expected - expected / 500);
            let panels = if passes > 2 { 8 * (rows * (columns - per_pass)) as u64 } else { 0 };
            let heads = if in_order { 0 } else { 8 * rows as u64 * passes };
            let distributed = if in_order && passes == 1 { 0 } else { bytes + heads };
            let (found, expected) = (cost.temporary_bytes_written, panels + distributed);
            assert_eq!(plan.temporary_bytes, expected);
            // Rows that happen to be adjacent share a head; runs of many rows have few.
            assert!(found >= expected.saturating_sub(heads) && found <= expected + bytes / 50, "{found}, {expected}");
            let expected = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &factor, columns);
            assert!(bits(&load(&other)) == bits(&expected));
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "temporary files have no names");
}

#[test]
fn factors_of_all_types_and_orders_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let image = image(folder.path(), 500, 400, "real", OrderChoice::Degree);
    let matrix = matrix(&runtime(2, Some(64 << 20)), &image, true);
    let (inner, columns) = (400, 5);
    let small: Vec<i64> = (0..inner * columns).map(|i| (i * 31 % 17) as i64).collect();
    let real: Vec<f64> = small.iter().map(|&number| number as f64).collect();
    let expected = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &real, columns);
    macro_rules! check {
        ($element:expr, $kind:ty, $bytes:ident) => {
            let bytes: Vec<u8> = small.iter().flat_map(|&number| (number as $kind).$bytes()).collect();
            save(&one, $element, &[inner, columns], &bytes);
            streamed(&matrix, Operand::Matrix, &one, &other);
            assert!(bits(&load(&other)) == bits(&expected), "{}", $element);
        };
    }
    check!("|i1", i8, to_le_bytes);
    check!("|u1", u8, to_le_bytes);
    check!("<i2", i16, to_le_bytes);
    check!(">i2", i16, to_be_bytes);
    check!("<u2", u16, to_le_bytes);
    check!(">i4", i32, to_be_bytes);
    check!("<u4", u32, to_le_bytes);
    check!("<i8", i64, to_le_bytes);
    check!(">u8", u64, to_be_bytes);
    check!("<f4", f32, to_le_bytes);
    check!(">f4", f32, to_be_bytes);
    check!("<f8", f64, to_le_bytes);
    check!(">f8", f64, to_be_bytes);
    // Complex numbers, whose parts are columns of their own; a vector; what is not a number.
    for (element, width) in [("<c8", 4), ("<c16", 8)] {
        let bytes = small.iter().flat_map(|&number| match width {
            4 => [(number as f32).to_le_bytes(), (number as f32 * -2.0).to_le_bytes()].concat(),
            _ => [(number as f64).to_le_bytes(), (number as f64 * -2.0).to_le_bytes()].concat(),
        });
        save(&one, element, &[inner, columns], &bytes.collect::<Vec<u8>>());
        streamed(&matrix, Operand::Matrix, &one, &other);
        let found = load(&other);
        let part = |part: usize| found.iter().skip(part).step_by(2).copied().collect::<Vec<_>>();
        assert!(bits(&part(0)) == bits(&expected));
        assert!(part(1).iter().zip(&expected).all(|(&found, &expected)| found == -2.0 * expected));
    }
    let mut vector = real[..inner].to_vec();
    vector[7] = f64::NAN;
    save(&one, "<f8", &[inner], &vector.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>());
    let output = ProductFile::New { path: other.clone(), is_vector: true };
    let file = DenseFile::open(matrix.graph().runtime(), &one).unwrap();
    assert!(file.is_vector() && file.shape() == (400, 1));
    let factor = DenseFactor::File(&file);
    for semiring in [Semiring::PlusTimes, Semiring::MinPlus, Semiring::OrAnd, Semiring::MaxTimes, Semiring::PlusFirst] {
        matrix.multiply_streamed(semiring, Operand::Matrix, factor, DenseProduct::File(&output)).unwrap();
        let expected = product(&matrix, semiring, Operand::Matrix, &vector, 1);
        assert!(bits(&load(&other)) == bits(&expected));
        assert!(std::fs::read(&other).unwrap().windows(19).any(|text| text == b"'shape': (500,), }\x20"));
    }
}

#[test]
fn columns_that_lie_together_are_read_once_and_written_where_they_belong() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("x"), folder.path().join("y"));
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let image = image(folder.path(), 17_000, 16_000, "real", order);
        let runtime = runtime(2, Some(64 << 20));
        let matrix = matrix(&runtime, &image, true);
        let (rows, inner, columns) = (17_000, 16_000, 19);
        let factor = numbers(inner * columns);
        let expected = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &factor, columns);
        // Every second column of a matrix in columns, behind 24 other bytes; the product goes to every third.
        let mut bytes = vec![0xee; 24 + 8 * inner * columns * 2];
        for (i, number) in factor.iter().enumerate() {
            let at = 24 + 8 * (i / columns + i % columns * 2 * inner);
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        std::fs::write(&one, bytes).unwrap();
        let before = vec![0x77; 8 + 8 * rows * columns * 3];
        std::fs::write(&other, &before).unwrap();
        let by_columns = |offset_bytes, rows: usize, step: u64| DenseLayout {
            offset_bytes,
            rows: rows as u64,
            columns: columns as u64,
            row_bytes: 8,
            column_bytes: 8 * rows as u64 * step,
            element: "<f8".to_owned(),
        };
        let file = DenseFile::open_part(&runtime, &one, by_columns(24, inner, 2)).unwrap();
        let output = ProductFile::Part { path: other.clone(), layout: by_columns(8, rows, 3) };
        let _taken = few_columns(&matrix, Operand::Matrix, 4);
        let (factor, product) = (DenseFactor::File(&file), DenseProduct::File(&output));
        let cost = matrix.multiply_streamed(Semiring::PlusTimes, Operand::Matrix, factor, product).unwrap();
        assert_eq!(cost.factor_bytes_read, 8 * (inner * columns) as u64);
        assert_eq!(cost.product_bytes_written, 8 * (rows * columns) as u64);
        let found = std::fs::read(&other).unwrap();
        assert_eq!(found.len(), before.len());
        let mut places = vec![false; found.len()];
        for (i, number) in expected.iter().enumerate() {
            let at = 8 + 8 * (i / columns + i % columns * 3 * rows);
            assert_eq!(found[at..at + 8], number.to_le_bytes());
            places[at..at + 8].fill(true);
        }
        assert!(found.iter().zip(places).all(|(&byte, is_product)| is_product || byte == 0x77));
    }
}

#[test]
fn files_and_arrays_in_memory_go_together() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let image = image(folder.path(), 300, 300, "real", OrderChoice::Degree);
    let matrix = matrix(&runtime(2, Some(64 << 20)), &image, true);
    let factor = numbers(300 * 40);
    let expected = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &factor, 40);
    save_numbers(&one, 40, &factor);
    let file = DenseFile::open(matrix.graph().runtime(), &one).unwrap();
    let mut found = vec![0.0; expected.len()];
    let multiply = |factor: DenseFactor<'_>, product: DenseProduct<'_>| {
        matrix.multiply_streamed(Semiring::PlusTimes, Operand::Matrix, factor, product)
    };
    multiply(DenseFactor::File(&file), DenseProduct::Numbers(&mut found)).unwrap();
    assert!(bits(&found) == bits(&expected));
    let in_memory = |numbers| DenseFactor::Numbers { numbers, columns: 40, is_complex: false };
    multiply(in_memory(&factor), DenseProduct::File(&new_file(&other))).unwrap();
    assert!(bits(&load(&other)) == bits(&expected));
    // The file of the factor, whole until the product has its name.
    multiply(DenseFactor::File(&file), DenseProduct::File(&new_file(&one))).unwrap();
    assert!(bits(&load(&one)) == bits(&expected));
    for (refused, message) in [
        (multiply(in_memory(&factor[1..]), DenseProduct::Numbers(&mut found)), "expected 300 rows"),
        (multiply(in_memory(&factor[40..]), DenseProduct::Numbers(&mut found)), "expected 300 rows"),
        (multiply(in_memory(&factor), DenseProduct::Numbers(&mut found[1..])), "numbers for the product"),
        (multiply(in_memory(&factor), DenseProduct::File(&new_file(&folder.path().join("no/y.npy")))), "cannot create"),
        (multiply(in_memory(&factor), DenseProduct::File(&new_file(folder.path()))), "expected the name of a file"),
        (multiply(in_memory(&factor), DenseProduct::File(&new_file(&image.join("y.npy")))), "within an image"),
        (
            matrix.multiply_streamed(
                Semiring::MinPlus,
                Operand::Matrix,
                DenseFactor::Numbers { numbers: &factor, columns: 20, is_complex: true },
                DenseProduct::Numbers(&mut [0.0; 300 * 40]),
            ),
            "expected the semiring plus-times",
        ),
    ] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
    }
    let layout = |element: &str, rows| DenseLayout {
        offset_bytes: 128,
        rows,
        columns: 40,
        row_bytes: 320,
        column_bytes: 8,
        element: element.to_owned(),
    };
    for (layout, message) in [
        (layout("<i8", 300), "room for 300 x 40 elements of <f8"),
        (layout("<f8", 299), "room for 300 x 40 elements of <f8"),
        (layout("<U8", 300), "a type of numbers"),
        (DenseLayout { offset_bytes: 136, ..layout("<f8", 300) }, "bytes for the product"),
        (DenseLayout { column_bytes: 12, ..layout("<f8", 300) }, "rows or columns of adjacent elements"),
    ] {
        let part = ProductFile::Part { path: one.clone(), layout };
        let refused = multiply(in_memory(&factor), DenseProduct::File(&part)).unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
    }
    let long = std::fs::read(&one).unwrap();
    std::fs::write(&one, &long[..long.len() - 1]).unwrap();
    let refused = DenseFile::open(matrix.graph().runtime(), &one).unwrap_err();
    assert!(
        matches!(refused, Error::Input { .. }) && refused.to_string().contains("96128 bytes for 300 x 40"),
        "{refused}"
    );
}

#[test]
fn a_device_that_fails_or_is_full_leaves_no_file_and_the_old_one_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
    let image = image(folder.path(), 20_000, 20_000, "real", OrderChoice::Degree);
    let factor = numbers(20_000 * 9);
    save_numbers(&one, 9, &factor);
    let expected = product(&matrix(&runtime(2, None), &image, true), Semiring::PlusTimes, Operand::Matrix, &factor, 9);
    let (mut failed, mut done) = (0, 0);
    let faults = (0..80).map(|k| Faults { seed: k, fail_at: Some(7 * k), ..Faults::default() });
    let full = (0..40).map(|k| Faults { seed: k, full_after_bytes: Some(120_000 * k), ..Faults::default() });
    for faults in faults.chain(full) {
        std::fs::write(&other, "old").unwrap();
        let sim = Arc::new(Sim::new(faults).asleep());
        let backend: Arc<dyn Backend> = sim.clone();
        let memory_bytes = Some(64 << 20);
        let options =
            RuntimeOptions { threads: Some(2), memory_bytes, backend: Some(backend), ..RuntimeOptions::default() };
        let runtime = Runtime::new(RuntimeOptions { beside_process: true, ..options }).unwrap();
        let graph =
            Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() }).unwrap();
        let matrix = SparseMatrix::new(&graph, true).unwrap();
        let _taken = few_columns(&matrix, Operand::Matrix, 2);
        sim.wake();
        let multiply = || {
            let file = DenseFile::open(&runtime, &one)?;
            let output = new_file(&other);
            let (factor, product) = (DenseFactor::File(&file), DenseProduct::File(&output));
            matrix.multiply_streamed(Semiring::PlusTimes, Operand::Matrix, factor, product)
        };
        match multiply() {
            Ok(_) => {
                assert!(bits(&load(&other)) == bits(&expected));
                done += 1;
            }
            // A rename is done before the directory is synced.
            Err(_) if std::fs::read(&other).unwrap() != b"old" => assert!(bits(&load(&other)) == bits(&expected)),
            Err(_) => failed += 1,
        }
    }
    assert!(failed > 30 && done > 10, "{failed} failed, {done} done");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.len() <= 5 && left.iter().all(|name| !name.to_string_lossy().contains("product")), "{left:?}");
}

/// Environment variable with the folder of the child process.
const CHILD: &str = "OUTCORE_TEST_STREAMED";
const LIMIT_BYTES: u64 = 32 << 20;

#[test]
#[ignore = "what a_factor_and_a_product_of_eight_times_the_limit runs in a process of its own"]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let folder = PathBuf::from(folder);
    let before = current_memory_bytes();
    let runtime = runtime(2, Some(LIMIT_BYTES));
    let graph =
        Graph::open(&runtime, folder.join("k.oc"), ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() })
            .unwrap();
    let matrix = SparseMatrix::new(&graph, false).unwrap();
    let cost = streamed(&matrix, Operand::Matrix, &folder.join("x.npy"), &folder.join("y.npy"));
    let bytes = std::fs::metadata(folder.join("x.npy")).unwrap().len();
    assert!(bytes >= 8 * LIMIT_BYTES && cost.product_bytes_written >= 8 * LIMIT_BYTES);
    assert!(cost.stats.passes >= 2.0, "{}", cost.stats.passes);
    println!("peak {} of {before}, {} passes", peak_memory_bytes() - before, cost.stats.passes);
}

#[test]
fn a_factor_and_a_product_of_eight_times_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let options = GenerateOptions { shape: Shape::Kronecker, scale: 16, edge_factor: 8, seed: 5, weights: None };
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let image = folder.path().join("k.oc");
        let with = ImportOptions { order, replace: true, ..ImportOptions::default() };
        import(&runtime(2, None), source(&options).unwrap(), &image, &with).unwrap();
        let matrix = matrix(&runtime(2, None), &image, false);
        let rows = matrix.shape().0 as usize;
        let columns = (8 * LIMIT_BYTES as usize).div_ceil(8 * rows);
        let factor = numbers(rows * columns);
        save_numbers(&folder.path().join("x.npy"), columns, &factor);
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "streamed::child", "--ignored", "--nocapture", "--test-threads=1"])
            .env(CHILD, folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
        let peak = text.split_once("peak ").unwrap().1.split_once(' ').unwrap().0.parse::<u64>().unwrap();
        assert!(peak <= LIMIT_BYTES, "{text}");
        let expected = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &factor, columns);
        assert!(bits(&load(&folder.path().join("y.npy"))) == bits(&expected));
    }
}
