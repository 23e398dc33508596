//! Products of sparse matrices on disk, beside those of an obvious program, and with themselves.

use crate::common::{bits, import_file, matrix, numbers, product, random, runtime};
use outcore_format::Manifest;
use outcore_format::column::ColumnWriter;
use outcore_graph::generate::{GenerateOptions, GeneratedWeights, Shape, source};
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, OrderChoice, import, open};
use outcore_graph::{Direction, Graph, check, export};
use outcore_image::{Error, ImageFile, ImageOptions, MANIFEST, StatsBuilder};
use outcore_ingest::Choice;
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Runtime, RuntimeOptions, backend};
use outcore_matrix::{MOST_COLUMNS, Operand, Semiring, SparseMatrix};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A matrix as its entries, small whole numbers, so that sums are exact in any order.
struct Given {
    rows: u64,
    columns: u64,
    entries: BTreeMap<(u64, u64), f64>,
    symmetric: bool,
}

impl Given {
    /// Some entries anywhere, and a full row and column.
    fn new(size: u64, count: u64, symmetric: bool) -> Self {
        Given::rectangular(size, size, count, symmetric)
    }

    fn rectangular(rows: u64, columns: u64, count: u64, symmetric: bool) -> Self {
        let mut state = rows + count;
        let mut entries = BTreeMap::new();
        let full = |i: u64| match rows.min(columns) > 100 {
            true => [(3, i % columns), (i % rows, 5)],
            false => [(0, 0); 2],
        };
        for i in 0..count {
            let place = (random(&mut state, rows), random(&mut state, columns));
            for (row, column) in [place].into_iter().chain(full(i)) {
                let (row, column) = if symmetric && column > row { (column, row) } else { (row, column) };
                entries.insert((row, column), random(&mut state, 9) as f64 - 3.0);
            }
        }
        Given { rows, columns, entries, symmetric }
    }

    fn image(&self, folder: &Path, kind: &str, order: OrderChoice) -> PathBuf {
        let symmetry = if self.symmetric { "symmetric" } else { "general" };
        let mut text = format!("%%MatrixMarket matrix coordinate {kind} {symmetry}\n");
        text += &format!("{} {} {}\n", self.rows, self.columns, self.entries.len());
        for ((row, column), value) in &self.entries {
            match kind {
                "pattern" => text += &format!("{} {}\n", row + 1, column + 1),
                "real" => text += &format!("{} {} {value:.1}\n", row + 1, column + 1),
                _ => text += &format!("{} {} {value}\n", row + 1, column + 1),
            }
        }
        let file = folder.join("given.mtx");
        std::fs::write(&file, text).unwrap();
        let image = folder.join(format!("{kind}-{symmetry}-{order:?}.oc"));
        import_file(&runtime(2, None), &file, &image, order).unwrap();
        image
    }

    /// The product, term by term.
    fn multiply(&self, semiring: Semiring, operand: Operand, ones: bool, factor: &[f64], columns: usize) -> Vec<f64> {
        let nothing = match semiring {
            Semiring::MinPlus => f64::INFINITY,
            Semiring::MaxTimes => f64::NEG_INFINITY,
            _ => 0.0,
        };
        let rows = if operand == Operand::Matrix { self.rows } else { self.columns };
        let mut product = vec![nothing; rows as usize * columns];
        let mut add = |row: u64, column: u64, value: f64| {
            for k in 0..columns {
                let (sum, x) = (&mut product[row as usize * columns + k], factor[column as usize * columns + k]);
                *sum = match semiring {
                    Semiring::PlusTimes => *sum + value * x,
                    Semiring::MinPlus => sum.min(value + x),
                    Semiring::OrAnd => f64::from(u8::from(*sum == 1.0 || value != 0.0 && x != 0.0)),
                    Semiring::MaxTimes => sum.max(value * x),
                    Semiring::PlusFirst => *sum + value,
                    semiring => panic!("{semiring:?} has no sums"),
                };
            }
        };
        for (&(row, column), &value) in &self.entries {
            let value = if ones { 1.0 } else { value };
            let (row, column) = if operand == Operand::Matrix { (row, column) } else { (column, row) };
            add(row, column, value);
            if self.symmetric && row != column {
                add(column, row, value);
            }
        }
        product
    }
}

fn factor(rows: u64, columns: usize) -> Vec<f64> {
    numbers(rows * columns as u64)
}

#[test]
fn products_are_those_of_an_obvious_program() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for (size, count, symmetric) in [(1, 1, false), (7, 20, false), (5000, 60_000, false), (4000, 40_000, true)] {
        let given = Given::new(size, count, symmetric);
        for (kind, order) in [
            ("integer", OrderChoice::Degree),
            ("real", OrderChoice::Input),
            ("pattern", OrderChoice::Degree),
            ("real", OrderChoice::Near),
        ] {
            let image = given.image(folder.path(), kind, order);
            let matrix = matrix(&runtime, &image, kind != "pattern");
            assert_eq!((matrix.shape(), matrix.is_symmetric()), ((size, size), symmetric));
            for columns in [1, 2, 3, 4, 7, 8, 20, 32, 35] {
                let factor = factor(size, columns);
                for operand in [Operand::Matrix, Operand::Transpose] {
                    let found = product(&matrix, Semiring::PlusTimes, operand, &factor, columns);
                    let expected = given.multiply(Semiring::PlusTimes, operand, kind == "pattern", &factor, columns);
                    assert!(found == expected, "{size} {kind} {order:?} {columns} {operand:?}");
                }
            }
        }
    }
}

#[test]
fn rectangular_matrices_have_rows_and_columns_apart() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for (rows, columns) in [(1, 7), (9, 1), (4000, 300), (200, 9000)] {
        let given = Given::rectangular(rows, columns, 40_000.min(2 * rows * columns), false);
        for (kind, order) in
            [("real", OrderChoice::Degree), ("pattern", OrderChoice::Input), ("integer", OrderChoice::Auto)]
        {
            let image = given.image(folder.path(), kind, order);
            let matrix = matrix(&runtime, &image, kind != "pattern");
            assert_eq!(matrix.shape(), (rows, columns));
            assert_eq!(matrix.entries(), given.entries.len() as u64);
            check(matrix.graph()).unwrap();
            for width in [1, 3, 8] {
                for (operand, inner) in [(Operand::Matrix, columns), (Operand::Transpose, rows)] {
                    let factor = factor(inner, width);
                    let expected = given.multiply(Semiring::PlusTimes, operand, kind == "pattern", &factor, width);
                    let found = product(&matrix, Semiring::PlusTimes, operand, &factor, width);
                    assert!(found == expected, "{rows} x {columns} {kind} {order:?} {width} {operand:?}");
                }
            }
            // The export is the same matrix.
            let file = folder.path().join("exported.mtx");
            export(matrix.graph(), &file).unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            let size = text.lines().find(|line| !line.starts_with('%')).unwrap();
            assert_eq!(size, format!("{rows} {columns} {}", given.entries.len()));
            let source = open(&runtime, &[file], &InputOptions { is_matrix: true, ..InputOptions::default() });
            let again = folder.path().join("again.oc");
            let options = ImportOptions { order, replace: true, ..ImportOptions::default() };
            import(&runtime, source.unwrap(), &again, &options).unwrap();
            let again = self::matrix(&runtime, &again, kind != "pattern");
            let factor = factor(columns, 2);
            let [one, other] =
                [&matrix, &again].map(|matrix| product(matrix, Semiring::PlusTimes, Operand::Matrix, &factor, 2));
            assert!(one == other);
        }
    }
}

/// Changes the manifest of an image.
fn edit_manifest(image: &Path, edit: impl FnOnce(&mut Manifest)) -> Manifest {
    let mut manifest = outcore_image::read_manifest(&backend::best(), image).unwrap();
    edit(&mut manifest);
    std::fs::write(image.join(MANIFEST), manifest.to_bytes()).unwrap();
    manifest
}

#[test]
fn an_image_with_edges_that_lead_elsewhere_than_to_columns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let given = Given::new(300, 2000, false);
    let image = given.image(folder.path(), "pattern", OrderChoice::Input);
    let mut manifest = edit_manifest(&image, |manifest| manifest.rows = Some(100));
    let open_graph = || Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
    let rule = "expected edges from rows to columns";
    let refused = SparseMatrix::new(&open_graph(), false).unwrap_err().to_string();
    assert!(refused.contains(rule), "{refused}");
    let refused = check(&open_graph()).unwrap_err().to_string();
    assert!(refused.contains(rule), "{refused}");
    // Degrees that lie: products look at the edges themselves.
    for (file, pages) in [
        (ImageFile::OUT_DEGREE, &mut manifest.out_lists.degree_pages),
        (ImageFile::IN_DEGREE, &mut manifest.in_lists.as_mut().unwrap().degree_pages),
    ] {
        let (mut bytes, mut writer) = (Vec::new(), ColumnWriter::new(file.origin(manifest.image_id), false));
        (0..300).for_each(|_| writer.push(0, |_, page| bytes.extend_from_slice(page)));
        writer.finish(|_, page| bytes.extend_from_slice(page));
        *pages = bytes.len() as u64 / 4096;
        std::fs::write(file.path(&image), bytes).unwrap();
    }
    std::fs::write(image.join(MANIFEST), manifest.to_bytes()).unwrap();
    let matrix = matrix(&runtime, &image, false);
    assert_eq!(matrix.shape(), (100, 200));
    for columns in [1, 4] {
        for (operand, rows, inner) in [(Operand::Matrix, 100, 200), (Operand::Transpose, 200, 100)] {
            let mut product = vec![0.0; rows * columns];
            let factor = factor(inner, columns);
            let refused = matrix.multiply(Semiring::PlusTimes, operand, &factor, columns, &mut product);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(rule), "{refused}");
        }
    }
    assert!(matches!(check(matrix.graph()), Err(Error::Corrupt { .. })));
}

#[test]
fn a_matrix_with_too_few_or_too_many_rows_is_refused_when_it_is_opened() {
    for rows in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let (file, image) = (folder.path().join("m.mtx"), folder.path().join("m.oc"));
        std::fs::write(&file, "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n").unwrap();
        import_file(&runtime(1, None), &file, &image, OrderChoice::Input).unwrap();
        edit_manifest(&image, |manifest| manifest.rows = Some(rows));
        let graph = Graph::open(&runtime(1, None), &image, ImageOptions::default()).unwrap();
        let error = SparseMatrix::new(&graph, true).unwrap_err().to_string();
        assert!(error.contains("expected edges from rows to columns"), "{error}");
    }
}

#[test]
fn other_semirings_add_and_multiply_in_their_way() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(3, None);
    let given = Given::new(3000, 9000, false);
    for (kind, columns) in [("integer", 1), ("real", 5), ("pattern", 2), ("integer", 16)] {
        let image = given.image(folder.path(), kind, OrderChoice::Degree);
        let (matrix, factor) = (matrix(&runtime, &image, kind != "pattern"), factor(given.rows, columns));
        for &(semiring, name, _) in Semiring::ALL {
            for operand in [Operand::Matrix, Operand::Transpose] {
                let expected = given.multiply(semiring, operand, kind == "pattern", &factor, columns);
                assert!(product(&matrix, semiring, operand, &factor, columns) == expected, "{name} {kind}");
            }
        }
    }
    // NaN is kept by minimum and maximum.
    let matrix = matrix(&runtime, &given.image(folder.path(), "integer", OrderChoice::Input), true);
    let mut factor = factor(given.rows, 1);
    factor[17] = f64::NAN;
    for semiring in [Semiring::PlusTimes, Semiring::MinPlus, Semiring::MaxTimes] {
        assert!(product(&matrix, semiring, Operand::Matrix, &factor, 1)[3].is_nan(), "{semiring:?}");
    }
}

#[test]
fn the_diagonal_is_that_of_the_entries() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for (size, count, symmetric) in
        [(0, 0, false), (1, 1, false), (7, 40, false), (5000, 60_000, false), (300, 40_000, true)]
    {
        let mut given = Given::new(size.max(1), count, symmetric);
        given.rows = size;
        given.columns = size;
        // A list over many pages, in the midst of which the vertex itself is.
        given.entries.extend((0..size).filter(|i| i % 3 != 1).map(|i| ((i, i), i as f64 - 70.0)));
        for (kind, order) in
            [("real", OrderChoice::Degree), ("integer", OrderChoice::Input), ("pattern", OrderChoice::Auto)]
        {
            let matrix = matrix(&runtime, &given.image(folder.path(), kind, order), kind != "pattern");
            let mut stats = StatsBuilder::start();
            let diagonal = matrix.diagonal(&mut stats).unwrap();
            assert_eq!(diagonal.len() as u64, size);
            for (place, &found) in diagonal.iter().enumerate() {
                let row = matrix.row_at(place) as u64;
                let entry = given.entries.get(&(row, row)).map(|&value| if kind == "pattern" { 1.0 } else { value });
                assert_eq!(found, entry.unwrap_or(0.0), "row {row} of {size}, {kind}");
            }
            let mut by_id = vec![f64::NAN; size as usize];
            matrix.write_diagonal(&mut by_id).unwrap();
            assert!((0..size as usize).all(|place| by_id[matrix.row_at(place)] == diagonal[place]));
            let pages = matrix.pages_per_pass(Operand::Matrix);
            // Pages of values that several workers need are read by each of them.
            let wanted = stats.finish(&runtime, pages).total.pages_wanted;
            assert!(wanted == pages || kind != "pattern" && wanted > pages, "{wanted} of {pages}");
        }
    }
    // Entries at one place that an image keeps apart.
    let file = folder.path().join("twice.csv");
    std::fs::write(&file, "source,target,weight\n0,0,2.5\n0,1,7\n0,0,-1\n1,0,3\n1,1,4\n0,0,8\n").unwrap();
    let source = open(&self::runtime(2, None), &[file], &InputOptions::default()).unwrap();
    let image = folder.path().join("twice.oc");
    let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
    import(&self::runtime(2, None), source, &image, &options).unwrap();
    for (values, expected) in [(true, 9.5 + 4.0), (false, 3.0 + 1.0)] {
        let diagonal = matrix(&runtime, &image, values).diagonal(&mut StatsBuilder::start()).unwrap();
        assert_eq!(diagonal.iter().sum::<f64>(), expected);
    }
    let wide = Given::rectangular(5, 7, 10, false).image(folder.path(), "pattern", OrderChoice::Input);
    let refused = matrix(&runtime, &wide, false).diagonal(&mut StatsBuilder::start()).unwrap_err();
    assert!(refused.to_string().contains("expected a square matrix, found one of 5 x 7"));
    let refused = matrix(&runtime, &wide, false).write_diagonal(&mut [0.0; 7]).unwrap_err();
    assert!(refused.to_string().contains("expected room for 5 numbers, found 7"));
    for (rows, columns) in [(1, 7), (9, 1), (4000, 300), (200, 9000)] {
        let mut given = Given::rectangular(rows, columns, 40_000.min(2 * rows * columns), false);
        given.entries.extend((0..rows.min(columns)).filter(|i| i % 3 != 1).map(|i| ((i, i), i as f64 - 70.0)));
        for order in [OrderChoice::Degree, OrderChoice::Input] {
            let matrix = matrix(&runtime, &given.image(folder.path(), "real", order), true);
            let mut found = vec![f64::NAN; rows.min(columns) as usize];
            matrix.write_diagonal(&mut found).unwrap();
            let expected = (0..rows.min(columns)).map(|i| given.entries.get(&(i, i)).copied().unwrap_or(0.0));
            assert!(found.iter().copied().eq(expected), "{rows} x {columns} {order:?}");
        }
    }
}

#[test]
fn magnitudes_are_those_of_the_entries() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for (rows, columns, symmetric) in [(1, 1, false), (300, 300, true), (4000, 300, false), (200, 9000, false)] {
        let given = Given::rectangular(rows, columns, 30_000.min(2 * rows * columns), symmetric);
        for (kind, order) in [("real", OrderChoice::Degree), ("pattern", OrderChoice::Input)] {
            let matrix = matrix(&runtime, &given.image(folder.path(), kind, order), kind != "pattern");
            for operand in [Operand::Matrix, Operand::Transpose] {
                let (count, inner) = if operand == Operand::Matrix { (rows, columns) } else { (columns, rows) };
                let (row_at, column_at): (&dyn Fn(usize) -> usize, &dyn Fn(usize) -> usize) = match operand {
                    Operand::Matrix => (&|i| matrix.row_at(i), &|i| matrix.column_at(i)),
                    _ => (&|i| matrix.column_at(i), &|i| matrix.row_at(i)),
                };
                let mut expected = vec![0.0; count as usize];
                for (&(row, column), &value) in &given.entries {
                    let mut add = |row: u64, column: u64| {
                        let (row, column) = if operand == Operand::Matrix { (row, column) } else { (column, row) };
                        let magnitude = if kind == "pattern" { 1.0 } else { value.abs() };
                        expected[row as usize] += magnitude * (column % 5) as f64;
                    };
                    add(row, column);
                    if symmetric && row != column {
                        add(column, row);
                    }
                }
                let factor: Vec<f64> = (0..inner as usize).map(|place| (column_at(place) % 5) as f64).collect();
                let (mut product, mut stats) = (vec![f64::NAN; count as usize], StatsBuilder::start());
                matrix.multiply_magnitudes_as_stored(operand, &factor, &mut product, &mut stats).unwrap();
                assert!(
                    (0..count as usize).all(|place| product[place] == expected[row_at(place)]),
                    "{kind} {operand:?}"
                );
                let refused = matrix.multiply_magnitudes_as_stored(operand, &factor[1..], &mut product, &mut stats);
                assert!(refused.unwrap_err().to_string().contains("expected numbers for a matrix of"));
            }
        }
    }
}

#[test]
fn bits_are_the_same_for_all_threads_limits_back_ends_and_numbers_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("k.oc");
    let options = GenerateOptions {
        shape: Shape::Kronecker,
        scale: 13,
        edge_factor: 40,
        seed: 3,
        weights: Some(GeneratedWeights::Unit),
    };
    let with = ImportOptions { order: OrderChoice::Degree, ..ImportOptions::default() };
    import(&runtime(2, None), source(&options).unwrap(), &image, &with).unwrap();
    let (rows, columns) = (1 << 13, 6);
    let factor: Vec<f64> = (0..rows * columns).map(|i| 1.0 / (i as f64 + 3.7)).collect();
    let whole = matrix(&runtime(1, None), &image, true);
    for operand in [Operand::Matrix, Operand::Transpose] {
        let expected = product(&whole, Semiring::PlusTimes, operand, &factor, columns);
        assert!(whole.graph().lists_over_pages(Direction::Out).len() > 3, "lists that span pages");
        for (threads, limit, backend) in [(1, 24, "auto"), (2, 24, "posix"), (8, 40, "auto")] {
            let options = RuntimeOptions {
                threads: Some(threads),
                memory_bytes: Some(limit << 20),
                beside_process: true,
                backend: Some(backend::by_name(backend).unwrap()),
                ..RuntimeOptions::default()
            };
            let runtime = Runtime::new(options).unwrap();
            let matrix = matrix(&runtime, &image, true);
            let found = product(&matrix, Semiring::PlusTimes, operand, &factor, columns);
            assert!(bits(&found) == bits(&expected), "{threads} {limit} {backend}");
        }
        for column in 0..columns {
            let pick = |all: &[f64]| all.iter().skip(column).step_by(columns).copied().collect::<Vec<_>>();
            let found = product(&whole, Semiring::PlusTimes, operand, &pick(&factor), 1);
            assert!(bits(&found) == bits(&pick(&expected)), "column {column}");
        }
    }
}

#[test]
fn columns_that_memory_has_no_room_for_take_further_passes_which_read_each_page_once() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("u.oc");
    let options = GenerateOptions { shape: Shape::Uniform, scale: 16, edge_factor: 8, seed: 3, weights: None };
    import(&runtime(2, None), source(&options).unwrap(), &image, &ImportOptions::default()).unwrap();
    // One column takes 512 kiB.
    let runtime = runtime(2, Some(96 << 20));
    let no_cache = ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() };
    let graph = Graph::open(&runtime, &image, no_cache).unwrap();
    let matrix = SparseMatrix::new(&graph, false).unwrap();
    let rows = matrix.shape().0;
    let leave = |most_bytes: u64| {
        let free = runtime.budget().available_bytes();
        runtime.budget().reserve("what others hold", free - most_bytes).unwrap()
    };
    for (most_bytes, columns, per_pass, passes) in
        [(8 << 20, 10, 16, 1), (8 << 20, 33, 16, 3), (5 << 20, 32, 8, 4), (600 << 10, 3, 1, 3)]
    {
        let _taken = leave(most_bytes);
        let plan = matrix.plan(Operand::Matrix, columns, 0).unwrap();
        assert_eq!((plan.columns_per_pass, plan.passes), (per_pass, passes), "{columns} columns");
        assert!(plan.state_bytes <= most_bytes && per_pass <= MOST_COLUMNS);
        let less = matrix.plan(Operand::Matrix, columns, most_bytes / 2);
        assert!(less.map_or(per_pass == 1, |less| less.passes > passes || less.columns_per_pass < per_pass));
        let factor = factor(rows, columns);
        let mut product = vec![0.0; factor.len()];
        let stats = matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor, columns, &mut product).unwrap();
        assert_eq!(stats.total.pages_wanted, passes * matrix.graph().pages(Direction::Out));
        assert_eq!(stats.total.pages_read, stats.total.pages_wanted);
        assert_eq!(stats.passes, passes as f64);
    }
    let _taken = leave(400 << 10);
    let refused =
        matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor(rows, 1), 1, &mut vec![0.0; rows as usize]);
    assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
}

#[test]
fn unsuitable_factors_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    let image = Given::new(7, 20, false).image(folder.path(), "pattern", OrderChoice::Input);
    let graph = Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
    assert!(SparseMatrix::new(&graph, true).is_err(), "there are no values");
    let matrix = SparseMatrix::new(&graph, false).unwrap();
    for (factor, columns, product) in [(6, 1, 7), (7, 1, 8), (14, 1, 7), (14, 3, 14)] {
        let mut product = vec![0.0; product];
        let refused = matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &vec![0.0; factor], columns, &mut product);
        assert!(matches!(refused, Err(Error::Usage(_))), "{refused:?}");
    }
    // No columns at all are a product, too.
    matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &[], 0, &mut []).unwrap();
    graph.close();
    let closed = matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &[0.0; 7], 1, &mut [0.0; 7]);
    assert!(matches!(closed, Err(Error::Closed { .. })), "{closed:?}");
}

#[test]
fn empty_matrices_have_products() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(2, None);
    for size in [0, 1, 300] {
        let given = Given { rows: size, columns: size / 3, entries: BTreeMap::new(), symmetric: false };
        let matrix = matrix(&runtime, &given.image(folder.path(), "real", OrderChoice::Auto), true);
        for columns in [1, 9] {
            let found = product(&matrix, Semiring::PlusTimes, Operand::Matrix, &factor(size / 3, columns), columns);
            assert!(found.len() as u64 == size * columns as u64 && found.iter().all(|&sum| sum == 0.0));
        }
    }
}

#[test]
fn a_device_that_fails_gives_an_error_or_the_right_product() {
    let folder = tempfile::tempdir().unwrap();
    let given = Given::new(3000, 30_000, false);
    let image = given.image(folder.path(), "real", OrderChoice::Degree);
    let factor = factor(given.rows, 3);
    let expected = given.multiply(Semiring::PlusTimes, Operand::Matrix, false, &factor, 3);
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
            let runtime = Runtime::new(options).unwrap();
            let graph = Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() })
                .unwrap();
            let matrix = SparseMatrix::new(&graph, true).unwrap();
            sim.wake();
            let mut found = vec![0.0; expected.len()];
            match matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor, 3, &mut found) {
                Ok(_) => {
                    assert!(found == expected, "operation {k}");
                    right += 1;
                }
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors >= 5 && right > 0, "{errors} errors, {right} right products");
}

#[test]
fn a_part_of_the_image_stays_in_the_cache_and_later_products_read_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("u.oc");
    let options = GenerateOptions { shape: Shape::Uniform, scale: 15, edge_factor: 60, seed: 3, weights: None };
    import(&runtime(2, None), source(&options).unwrap(), &image, &ImportOptions::default()).unwrap();
    let runtime = runtime(2, Some(96 << 20));
    for cache_bytes in [1 << 19, 1 << 20] {
        let graph =
            Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(cache_bytes), ..ImageOptions::default() })
                .unwrap();
        let matrix = SparseMatrix::new(&graph, false).unwrap();
        let rows = matrix.shape().0 as usize;
        let (factor, mut product) = (factor(rows as u64, 1), vec![0.0; rows]);
        let mut multiply = || {
            let found = matrix.multiply(Semiring::PlusTimes, Operand::Matrix, &factor, 1, &mut product);
            found.unwrap().total
        };
        let pages = matrix.pages_per_pass(Operand::Matrix);
        assert_eq!(multiply().pages_read, pages);
        let cached = matrix.graph().image().cache().unwrap().capacity_pages();
        assert!(pages > 2 * cached && cached > 100, "{cached} of {pages} pages");
        for _ in 0..4 {
            let sweep = multiply();
            assert_eq!((sweep.pages_wanted, sweep.cache_hits + sweep.pages_read), (pages, pages));
            assert!(sweep.cache_hits <= cached && sweep.cache_hits >= cached - cached / 20, "{sweep:?} of {cached}");
        }
    }
}

#[test]
fn rows_and_columns_have_ids_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (file, image) = (folder.path().join("r.csv"), folder.path().join("r.oc"));
    std::fs::write(&file, "user,item,weight\nbo,1,5\nann,7,2\nbo,7,1\nbo,1,0.5\n").unwrap();
    let sides = Some(outcore_graph::import::SIDES.map(str::to_owned));
    let options = InputOptions { is_matrix: true, bipartite: sides, ..InputOptions::default() };
    let konect = folder.path().join("out.ratings");
    let import_as = |options: &InputOptions, order| {
        let path = if options.bipartite.is_some() { &file } else { &konect };
        let source = open(&self::runtime(2, None), std::slice::from_ref(path), options)?;
        let how = ImportOptions { duplicates: Duplicates::Sum, order, replace: true, ..ImportOptions::default() };
        import(&self::runtime(2, None), source, &image, &how)
    };
    let manifest = import_as(&options, OrderChoice::Auto).unwrap().manifest;
    assert_eq!((manifest.rows, manifest.vertices, manifest.directed), (Some(2), 4, true));
    let own = matrix(&self::runtime(2, None), &image, true);
    check(own.graph()).unwrap();
    assert_eq!(own.shape(), (2, 2));
    // Rows are ann and bo, columns 1 and 7.
    assert_eq!(product(&own, Semiring::PlusTimes, Operand::Matrix, &[1.0, 10.0], 1), [20.0, 15.5]);
    assert_eq!(product(&own, Semiring::PlusTimes, Operand::Transpose, &[1.0, 10.0], 1), [55.0, 12.0]);
    for (directed, prefixes, order, said) in [
        (None, ["u:", "i:"], OrderChoice::Auto, "expected no prefixes for a matrix"),
        (Some(false), ["left:", "right:"], OrderChoice::Auto, "found one that is symmetric"),
        (None, ["left:", "right:"], OrderChoice::Degree, "expected --order input or auto for a matrix"),
    ] {
        let bipartite = Some(prefixes.map(str::to_owned));
        let error = import_as(&InputOptions { directed, bipartite, ..options.clone() }, order).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // KONECT's first line says it.
    std::fs::write(&konect, "% bip weighted\n1 1 5\n1 2 3\n2 1 4\n3 1 1\n").unwrap();
    let manifest = import_as(&InputOptions { is_matrix: true, ..InputOptions::default() }, OrderChoice::Auto).unwrap();
    assert_eq!((manifest.manifest.rows, manifest.manifest.vertices), (Some(3), 5));
}
