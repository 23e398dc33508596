//! Tables: their rows, their greatest rows, and their files.

use crate::common;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use common::{Model, ModelIds, Random, open};
use outcore_format::Order;
use outcore_graph::Graph;
use outcore_image::Error;
use outcore_io::Buffer;
use outcore_table::{Column, ColumnKind, Table};
use std::path::Path;
use std::sync::Arc;

/// A table with a column of every kind, and its rows as text: what a CSV file holds.
fn sample(graph: &Graph, model: &Model) -> (Table, Vec<Vec<String>>) {
    let vertices = model.vertices;
    let budget = graph.runtime().budget();
    let numbers = || Buffer::<u32>::zeroed(budget, "test", vertices).unwrap();
    let (mut number, mut level, mut parent, mut component) = (numbers(), numbers(), numbers(), numbers());
    let mut real = Buffer::<f64>::zeroed(budget, "test", vertices).unwrap();
    let mut count = Buffer::<u64>::zeroed(budget, "test", vertices).unwrap();
    let mut signed = Buffer::<i64>::zeroed(budget, "test", vertices).unwrap();
    let places = model.places();
    let mut random = Random(9);
    // Three components: vertices by their number modulo three; the smallest place of each is its name.
    let smallest = |vertex: usize| (vertex % 3..vertices).step_by(3).map(|member| places[member]).min().unwrap();
    let names: Vec<String> = (0..3.min(vertices)).map(|i| model.id(smallest(i))).collect();
    let mut rows = Vec::new();
    for vertex in 0..vertices {
        let value = random.below(1000) as f64 / 8.0 - 50.0;
        real[vertex] = value;
        number[vertex] = vertex as u32 % 5;
        count[vertex] = i64::MAX as u64 - random.below(50);
        signed[vertex] = vertex as i64 % 7 - 3;
        component[vertex] = vertex as u32 % 3;
        let (mut level_text, mut parent_text) = (String::new(), String::new());
        if vertex % 4 != 1 {
            level[vertex] = vertex as u32 / 2 + 1;
            parent[vertex] = !(vertex as u32 / 2);
            level_text = (vertex / 2).to_string();
            parent_text = model.id(places[vertex / 2]);
        }
        rows.push(vec![
            model.id(places[vertex]),
            format!("{value:?}"),
            (vertex % 5).to_string(),
            count[vertex].to_string(),
            level_text,
            parent_text,
            names[vertex % 3].clone(),
            signed[vertex].to_string(),
        ]);
    }
    let columns = vec![
        ("real".to_owned(), Column::Real(Arc::new(real))),
        ("number".to_owned(), Column::Number(Arc::new(number))),
        ("count".to_owned(), Column::Count(Arc::new(count))),
        ("level".to_owned(), Column::Level(Arc::new(level))),
        ("parent".to_owned(), Column::Vertex(Arc::new(parent))),
        ("component".to_owned(), Column::Component(Arc::new(component))),
        ("signed".to_owned(), Column::Signed(Arc::new(signed))),
    ];
    (graph.table(columns), rows)
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        _ => column.as_string::<i32>().value(row).to_owned(),
    }
}

fn cells(batch: &RecordBatch) -> Vec<Vec<String>> {
    (0..batch.num_rows()).map(|row| batch.columns().iter().map(|column| cell(column, row)).collect()).collect()
}

fn models(vertices: usize) -> Vec<Model> {
    let mut models = Vec::new();
    for order in [Order::Input, Order::Degree] {
        for ids in
            [ModelIds::Range(10), Model::sparse_ids(vertices), Model::signed_ids(vertices), Model::text_ids(vertices)]
        {
            models.push(Model::random(3, vertices, vertices, true, true).with_ids(ids).with_order(order));
        }
    }
    models
}

#[test]
fn rows_come_under_the_users_ids_again_and_again() {
    for model in models(70_001) {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&model.write(directory.path()), 1);
        let (table, expected) = sample(&graph, &model);
        let free = graph.runtime().budget().available_bytes();
        for _ in 0..2 {
            let reader = table.reader().unwrap();
            assert_eq!(reader.schema(), table.schema());
            let rows: Vec<_> = reader.flat_map(|batch| cells(&batch.unwrap())).collect();
            let wrong = rows.iter().zip(&expected).position(|(row, expected)| row != expected);
            assert_eq!(wrong.map(|i| (&rows[i], &expected[i])), None);
            assert_eq!(rows.len(), expected.len());
        }
        assert_eq!(graph.runtime().budget().available_bytes(), free, "memory is given back");
    }
}

/// Writes the components of pairs of vertices while `left_bytes` of memory are there; whether that was possible.
fn writes_pairs_within(graph: &Graph, left_bytes: u64, output: &Path) -> bool {
    let budget = graph.runtime().budget();
    let _others = budget.reserve("others", budget.available_bytes() - left_bytes).unwrap();
    let is_promised = graph.check_output(output, &[ColumnKind::Component]).is_ok();
    let outcome = Buffer::<u32>::zeroed(budget, "test", graph.vertices() as usize).and_then(|mut all| {
        all.iter_mut().zip(0..).for_each(|(component, vertex)| *component = vertex & !1);
        graph.table(vec![("component".to_owned(), Column::Component(Arc::new(all)))]).write(output)
    });
    match outcome {
        Ok(()) => true,
        Err(Error::Memory { .. }) if !is_promised => false,
        Err(error) => panic!("{left_bytes} bytes, promised to be enough: {error}"),
    }
}

#[test]
fn a_larger_limit_never_fails_where_a_smaller_one_is_enough() {
    let vertices = 150_000;
    for (ids, ending) in [(Model::sparse_ids(vertices), "parquet"), (Model::text_ids(vertices), "csv")] {
        let model = Model::random(3, vertices, vertices, true, true).with_ids(ids).with_order(Order::Degree);
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&model.write(directory.path()), 1);
        let (first, other) = (directory.path().join(format!("a.{ending}")), directory.path().join("b.csv"));
        let enough_bytes = graph.output_bytes(&first, &[ColumnKind::Component]).unwrap() + (2 << 20);
        assert!(writes_pairs_within(&graph, enough_bytes, &first));
        let (expected, mut enough) = (std::fs::read(&first).unwrap(), 0);
        let steps = |below_bytes: u64| (0..below_bytes).rev().step_by(192 << 10);
        for left_bytes in steps(enough_bytes) {
            let path = if enough == 0 { first.clone() } else { other.with_extension(ending) };
            if !writes_pairs_within(&graph, left_bytes, &path) {
                // From here on nothing is enough.
                assert!(
                    steps(left_bytes).all(|bytes| !writes_pairs_within(&graph, bytes, &path)),
                    "below {left_bytes}"
                );
                break;
            }
            assert!(std::fs::read(&path).unwrap() == expected, "with {left_bytes} bytes");
            enough += 1;
        }
        assert!(enough > 10, "only {enough} limits were enough");
    }
}

#[test]
fn rows_that_name_long_ids_come_in_small_batches() {
    let vertices = 3000;
    let ids = (0..vertices).map(|i| format!("{i:04}{}", if i < 300 { "x".repeat(9000) } else { String::new() }));
    let model = Model::random(3, vertices, 50, true, true).with_ids(ModelIds::Text(ids.collect()));
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 1);
    let (table, expected) = sample(&graph, &model);
    let batches: Vec<_> = table.reader().unwrap().map(|batch| batch.unwrap()).collect();
    assert!(batches.iter().all(|batch| batch.get_array_memory_size() < 8 << 20));
    let rows: Vec<_> = batches.iter().flat_map(cells).collect();
    assert!(rows == expected);
}

#[test]
fn the_greatest_rows_are_those_that_sorting_finds() {
    for model in models(5000) {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&model.write(directory.path()), 1);
        let (table, rows) = sample(&graph, &model);
        let places = model.places();
        for (column, name) in [(1, "real"), (2, "number"), (3, "count"), (4, "level"), (7, "signed")] {
            let mut order: Vec<usize> = (0..rows.len()).filter(|&vertex| !rows[vertex][column].is_empty()).collect();
            // Ids rise with their places, so among equals the smaller place comes first.
            order.sort_by(|&a, &b| {
                let value = |vertex: usize| rows[vertex][column].as_str();
                let by_value = match column {
                    3 => value(b).parse::<u64>().unwrap().cmp(&value(a).parse().unwrap()),
                    _ => value(b).parse::<f64>().unwrap().total_cmp(&value(a).parse().unwrap()),
                };
                by_value.then(places[a].cmp(&places[b]))
            });
            for k in [0, 1, 10, 1700, 100_000] {
                let top = cells(&table.top(k, name).unwrap());
                let expected: Vec<_> = order.iter().take(k).map(|&vertex| rows[vertex].clone()).collect();
                assert_eq!(top, expected, "{k} by {name} of {:?}", model.order);
            }
        }
        for vertex in [0, 1, 4999] {
            let row = cells(&table.row(&rows[vertex][0]).unwrap());
            assert_eq!(row, [rows[vertex].clone()], "in order {:?}", model.order);
        }
        assert!(matches!(table.row("no such id"), Err(Error::NoId { .. })));
        for wrong in ["parent", "component", "vertex", "rank"] {
            let text = table.top(1, wrong).unwrap_err().to_string();
            assert!(text.contains(&format!("`{wrong}`")) && text.contains("`real`, `number`"), "{text}");
        }
        let unranked = graph.table(vec![table.columns()[5].clone()]);
        for wrong in ["component", "rank"] {
            let text = unranked.top(1, wrong).unwrap_err().to_string();
            assert!(text.ends_with(&format!("`{wrong}`; none of its columns can rank this table")), "{text}");
        }
    }
}

fn csv_of(rows: &[Vec<String>], nulls: &[usize]) -> String {
    let mut text = String::from("vertex,real,number,count,level,parent,component,signed\n");
    for row in rows {
        let quote = |(i, cell): (usize, &String)| match cell.contains([',', '"', ' '])
            || cell.is_empty() && !nulls.contains(&i)
        {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        text.push_str(&row.iter().enumerate().map(quote).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

fn decompressed(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().unwrap().to_str().unwrap() {
        "gz" => std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text).unwrap(),
        "zst" => std::io::Read::read_to_string(&mut zstd::Decoder::new(&bytes[..]).unwrap(), &mut text).unwrap(),
        _ => return String::from_utf8(bytes).unwrap(),
    };
    text
}

#[test]
fn files_hold_the_rows() {
    let odd = ["", "a b", "a,b", "say \"hi\"", "é"].map(str::to_owned).to_vec();
    let odd = Model::random(3, 5, 4, true, false).with_ids(ModelIds::Text(odd));
    // Some are no real number: a column that may have missing values cannot hold them in a NumPy file.
    let huge = ModelIds::Unsigned((0..1000).map(|i| (1 << 53) - 500 + i).collect());
    let huge = Model::random(3, 1000, 4, true, false).with_ids(huge);
    for model in models(3000).into_iter().chain([odd, huge]) {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&model.write(directory.path()), 1);
        let (table, rows) = sample(&graph, &model);
        let csv = csv_of(
            &rows,
            &[4].iter().chain(if rows[0][0].is_empty() { &[][..] } else { &[5] }).copied().collect::<Vec<_>>(),
        );
        for ending in ["csv", "csv.gz", "csv.zst"] {
            let path = directory.path().join(format!("table.{ending}"));
            table.write(&path).unwrap();
            let text = decompressed(&path);
            if rows[0][0].is_empty() {
                // The parent of vertex 1 is missing, that of vertex 0 is the empty id: only quotes tell them apart.
                assert!(
                    text.lines().nth(1).unwrap().starts_with("\"\",")
                        && text.contains(",0,\"\",")
                        && text.contains(",,,"),
                    "{text}"
                );
            } else {
                assert!(text == csv, "{ending}");
            }
        }
        let path = directory.path().join("table.parquet");
        table.write(&path).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        assert_eq!(reader.schema().fields(), table.schema().fields());
        let read: Vec<_> = reader.build().unwrap().flat_map(|batch| cells(&batch.unwrap())).collect();
        assert!(read == rows);
        let path = directory.path().join("table.arrow");
        table.write(&path).unwrap();
        let reader = arrow_ipc::reader::FileReader::try_new(std::fs::File::open(&path).unwrap(), None).unwrap();
        assert!(reader.flat_map(|batch| cells(&batch.unwrap())).collect::<Vec<_>>() == rows);
        check_npy(&table, &model, &rows, directory.path());
        let names = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_str().unwrap().contains("partial")));
    }
}

fn check_npy(table: &Table, model: &Model, rows: &[Vec<String>], directory: &Path) {
    let path = directory.join("table.npy");
    let outcome = table.write(&path);
    if let ModelIds::Text(_) = model.ids {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("strings") && text.contains(".parquet") && !path.exists(), "{text}");
        return;
    }
    let exact = |text: &String| text.is_empty() || text.parse::<i128>().unwrap().unsigned_abs() <= 1 << 53;
    if let Some(row) = rows.iter().find(|row| !exact(&row[5])) {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("column parent") && text.contains(&row[5]) && !path.exists(), "{text}");
        return;
    }
    outcome.unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let header_bytes = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = std::str::from_utf8(&bytes[10..header_bytes]).unwrap();
    let id = if table.schema().field(0).data_type() == &DataType::UInt64 { "<u8" } else { "<i8" };
    let fields = format!(
        "[('vertex', '{id}'), ('real', '<f8'), ('number', '<i8'), ('count', '<i8'), ('level', '<f8'), ('parent', '<f8'), \
         ('component', '{id}'), ('signed', '<i8'), ]"
    );
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00") && header_bytes.is_multiple_of(64) && header.ends_with('\n'));
    assert!(header.contains(&fields) && header.contains(&format!("'shape': ({},)", rows.len())), "{header}");
    let (records, rest) = bytes[header_bytes..].as_chunks::<64>();
    assert!(rest.is_empty() && records.len() == rows.len());
    for (record, row) in records.iter().zip(rows) {
        let word = |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
        let id = |value: u64| if id == "<u8" { value.to_string() } else { (value as i64).to_string() };
        // Missing is not a number, and nothing else is.
        let maybe = |value: u64| match f64::from_bits(value) {
            value if value.is_nan() => String::new(),
            value => format!("{}", value as i64),
        };
        let read = vec![
            id(word(0)),
            format!("{:?}", f64::from_bits(word(8))),
            word(16).to_string(),
            word(24).to_string(),
            maybe(word(32)),
            maybe(word(40)),
            id(word(48)),
            (word(56) as i64).to_string(),
        ];
        assert_eq!(&read, row);
    }
}

#[test]
fn a_file_is_complete_or_absent() {
    let model = Model::random(3, 2000, 2000, false, true);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let files = directory.path().join("files");
    std::fs::create_dir(&files).unwrap();
    for ending in ["csv", "csv.gz", "csv.zst", "parquet", "npy", "arrow"] {
        let path = files.join(format!("table.{ending}"));
        let mut failures = 0;
        for fail_at in 0.. {
            std::fs::write(&path, "old").unwrap();
            let faults = outcore_io::backend::Faults { fail_at: Some(fail_at), ..Default::default() };
            let graph = common::open_with(&image, outcore_io::backend::Sim::new(faults));
            let (table, _) = sample(&graph, &model);
            let outcome = table.write(&path);
            let names = std::fs::read_dir(&files).unwrap().count();
            let Err(error) = outcome else {
                // An older file that cannot be removed is left to the next one.
                assert!(names <= 2 && std::fs::read(&path).unwrap() != b"old", "{ending} {fail_at}");
                break;
            };
            assert_eq!(names, 1, "nothing else is left: {ending} {fail_at}");
            assert_eq!(std::fs::read(&path).unwrap(), b"old", "{ending} {fail_at}");
            assert!(matches!(error, Error::File { .. }), "{ending} {fail_at}: {error}");
            failures += 1;
        }
        assert!(failures >= 5, "create, write, sync, rename, sync of the folder: {failures}");
        std::fs::write(&path, "old").unwrap();
        let faults = outcore_io::backend::Faults { full_after_bytes: Some(1000), ..Default::default() };
        let graph = common::open_with(&image, outcore_io::backend::Sim::new(faults));
        let (table, _) = sample(&graph, &model);
        let text = table.write(&path).unwrap_err().to_string();
        assert!(text.contains("No space left") && text.contains(path.to_str().unwrap()), "{ending}: {text}");
        graph.runtime().cancel().cancel();
        assert!(matches!(table.write(&path), Err(Error::Cancelled)), "{ending}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(&files).unwrap().count(), 1);
        std::fs::remove_file(&path).unwrap();
    }
    let graph = open(&image, 1);
    let (table, _) = sample(&graph, &model);
    for wrong in ["table", "table.txt", "table.parquet.gz", ".csv.gz.gz", "table.csv.bz2"] {
        let text = table.write(files.join(wrong)).unwrap_err().to_string();
        assert!(text.contains(outcore_table::OUTPUT_ENDINGS), "{text}");
    }
    std::fs::create_dir(files.join("directory.csv")).unwrap();
    assert!(matches!(table.write(files.join("directory.csv")), Err(Error::Usage(_))));
    assert!(matches!(table.write(files.join("missing/table.csv")), Err(Error::File { .. })));
}

#[test]
fn the_header_of_a_numpy_file_holds_any_names() {
    let directory = tempfile::tempdir().unwrap();
    let model = Model::random(3, 5, 8, false, false);
    let graph = open(&model.write(directory.path()), 1);
    let path = directory.path().join("table.npy");
    let ascii = |count: usize| (0..count).map(|i| format!("{i:02}{}", "x".repeat(998))).collect::<Vec<_>>();
    let texts = |i: usize, text: &str| [ascii(i), vec![text.to_owned()]].concat();
    // Version 1 has room for 65,535 bytes.
    for (names, version) in [(ascii(1), 1), (ascii(64), 1), (ascii(65), 2), (texts(1, "größe"), 3)] {
        let column = |i: usize| Column::Real(Arc::new(filled(&graph, i as f64)));
        let columns = names.iter().enumerate().map(|(i, name)| (name.clone(), column(i))).collect();
        graph.table(columns).write(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((&bytes[..6], &bytes[6..8]), (&b"\x93NUMPY"[..], &[version, 0][..]));
        let length_bytes = if version == 1 { 2 } else { 4 };
        let mut length = [0; 8];
        length[..length_bytes].copy_from_slice(&bytes[8..8 + length_bytes]);
        let start = 8 + length_bytes + u64::from_le_bytes(length) as usize;
        assert!(start.is_multiple_of(64) && bytes[start - 1] == b'\n');
        let header = std::str::from_utf8(&bytes[8 + length_bytes..start]).unwrap();
        assert!(names.iter().all(|name| header.contains(&format!("('{name}', '<f8')"))));
        let rows = &bytes[start..];
        assert_eq!(rows.len(), 5 * 8 * (1 + names.len()));
        let last = f64::from_le_bytes(rows[rows.len() - 8..].try_into().unwrap());
        assert_eq!(last, (names.len() - 1) as f64);
    }
}

/// A value for every vertex, always the same.
fn filled(graph: &Graph, value: f64) -> Buffer<f64> {
    let mut values = Buffer::<f64>::zeroed(graph.runtime().budget(), "test", graph.vertices() as usize).unwrap();
    values.fill(value);
    values
}
