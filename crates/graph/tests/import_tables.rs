//! Parquet and Arrow files: the same image from any number of workers, within the limit, or refused with the numbers.

mod given;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use given::files;
use outcore_graph::import::{
    Attributes, ImportOptions, InputOptions, OrderChoice, Source, advise, check_memory, from_batches, import, open,
};
use outcore_image::Error;
use outcore_io::{Progress, Runtime, RuntimeOptions, Unit, bytes_text, parse_bytes, peak_memory_bytes};
use outcore_testkit::{random, runtime_under};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A limit beside what the process holds: tests that run at the same time hold something too.
fn options(threads: usize, budget_mib: u64) -> RuntimeOptions {
    RuntimeOptions {
        threads: Some(threads),
        memory_bytes: Some((9 + budget_mib) << 20),
        beside_process: true,
        ..RuntimeOptions::default()
    }
}

/// Random edges whose weights say where in the table they stand.
fn table(rows: usize, vertices: u64, strings: bool) -> RecordBatch {
    let mut state = rows as u64;
    let mut ids = || -> ArrayRef {
        let mut numbers = (0..rows).map(|_| random(&mut state) % vertices * 7);
        if strings {
            Arc::new(StringArray::from_iter_values(numbers.map(|number| format!("vertex {number}"))))
        } else {
            Arc::new(Int64Array::from_iter_values((&mut numbers).map(|number| number as i64)))
        }
    };
    let (source, target) = (ids(), ids());
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64 / 2.0)));
    RecordBatch::try_from_iter([("weight", weights), ("target", target), ("source", source)]).unwrap()
}

fn write(path: &Path, tables: &[RecordBatch], properties: WriterPropertiesBuilder) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, tables[0].schema(), Some(properties.build())).unwrap();
    tables.iter().for_each(|table| writer.write(table).unwrap());
    writer.close().unwrap();
}

fn write_arrow(path: &Path, tables: &[RecordBatch], compression: Option<CompressionType>) {
    let file = std::fs::File::create(path).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &tables[0].schema(), options).unwrap();
    tables.iter().for_each(|table| writer.write(table).unwrap());
    writer.finish().unwrap();
}

fn groups_of(rows: usize) -> WriterPropertiesBuilder {
    WriterProperties::builder().set_max_row_group_row_count(Some(rows))
}

fn opened(runtime: &Runtime, paths: &[PathBuf]) -> Source {
    open(runtime, paths, &InputOptions::default()).unwrap()
}

#[test]
fn row_groups_make_the_same_image_in_any_order_of_decoding() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    for strings in [false, true] {
        // Many duplicates, of which the first in the file stays: its weight shows the order.
        let tables = [table(130_000, 300, strings), table(70_001, 300, strings)];
        let paths = ["one.parquet", "two.parquet"].map(|name| directory.path().join(name));
        write(&paths[0], &tables[..1], groups_of(17_000));
        write(&paths[1], &tables[1..], groups_of(70_000));
        let options_of_import = ImportOptions { order: OrderChoice::Input, replace: true, ..ImportOptions::default() };
        let make = |threads: usize, budget_mib: u64, source: &mut dyn FnMut(&Runtime) -> Source| {
            let runtime = Runtime::new(options(threads, budget_mib)).unwrap();
            let report = import(&runtime, source(&runtime), &image, &options_of_import).unwrap();
            assert_eq!(report.manifest.import.edges_read, 200_001);
            let mut files = files(&image);
            let manifest = files.remove(Path::new("manifest.json")).unwrap();
            (files, manifest)
        };
        let schema = tables[0].schema();
        let arrow = directory.path().join("both.arrow");
        write_arrow(&arrow, &tables, None);
        let mut rows = Some(RecordBatchIterator::new(tables.map(Ok), schema));
        let (expected, _) = make(1, 400, &mut |_| {
            from_batches(Box::new(rows.take().unwrap()), "both", &InputOptions::default()).unwrap()
        });
        // The manifest names the format.
        let mut manifests = [None, None];
        for (threads, budget_mib) in [(1, 400), (2, 400), (3, 400), (5, 400), (1, 16), (3, 40)] {
            for (paths, manifest) in [&paths[..], std::slice::from_ref(&arrow)].iter().zip(&mut manifests) {
                if paths.len() == 1 && budget_mib == 16 {
                    // There is a batch of 3 MB.
                    continue;
                }
                let (found, found_manifest) = make(threads, budget_mib, &mut |runtime| opened(runtime, paths));
                let case = format!("{paths:?}, {threads} threads, {budget_mib} MiB, strings: {strings}");
                assert!(expected == found, "{case}");
                assert_eq!(*manifest.get_or_insert_with(|| found_manifest.clone()), found_manifest, "{case}");
            }
        }
    }
}

/// Says when reading begins.
struct Reading;

impl Progress for Reading {
    fn start(&self, name: &str, _: Unit, _: Option<u64>) {
        panic!("{name} begins");
    }

    fn advance(&self, _: u64) {}

    fn finish(&self) {}
}

#[test]
fn pages_that_do_not_fit_are_refused_before_anything_is_decoded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.parquet");
    let properties = groups_of(2_000_000)
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX);
    write(&path, &[table(2_000_000, 1000, false)], properties);
    let runtime = RuntimeOptions { progress: Some(Arc::new(Reading)), ..options(2, 80) };
    let runtime = Runtime::new(runtime).unwrap();
    let source = opened(&runtime, std::slice::from_ref(&path));
    // Three columns of one page, packed as much as not at all: 16 MB each way.
    let needed = source.facts().block_bytes;
    assert!((90 << 20..100 << 20).contains(&needed), "{needed}");
    let image = directory.path().join("graph.oc");
    let error =
        import(&runtime, source, &image, &ImportOptions { replace: true, ..ImportOptions::default() }).unwrap_err();
    let Error::Memory { needed_bytes: import_bytes, .. } = error else { panic!("{error}") };
    let text = error.to_string();
    assert!(text.contains("smaller row groups") && text.contains(&bytes_text(needed)), "{text}");
    // The memory that the error asks for is enough.
    let runtime = Runtime::new(options(2, import_bytes.div_ceil(1 << 20))).unwrap();
    import(&runtime, opened(&runtime, &[path]), &image, &ImportOptions { replace: true, ..ImportOptions::default() })
        .unwrap();
}

#[test]
fn chunks_of_ids_in_no_order_count_in_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    // Ids that hardly come twice, for which there is the least dictionary: a chunk has some thousand edges.
    let first = table(20_000, u64::MAX / 7, false);
    let schema = first.schema();
    let batches = (0..1 << 20)
        .map(move |number| Ok(if number == 0 { first.clone() } else { table(20_000 + number, u64::MAX / 7, false) }));
    let runtime = Runtime::new(options(1, 8)).unwrap();
    let source = from_batches(Box::new(RecordBatchIterator::new(batches, schema)), "edges", &InputOptions::default());
    let error = import(&runtime, source.unwrap(), &image, &ImportOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("chunks of edges whose ids a dictionary holds") && error.contains("raise the limit"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn more_batches_with_attributes_than_have_places_are_refused_while_they_come() {
    let directory = tempfile::tempdir().unwrap();
    let ends = Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let columns = ["source", "target", "note"].map(|name| (name, Arc::clone(&ends)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let (schema, all, read) = (batch.schema(), 1 << 21, Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&read);
    let batches = (0..all).map(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(batch.clone())
    });
    let input = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let source = from_batches(Box::new(RecordBatchIterator::new(batches, schema)), "edges", &input);
    let runtime = Runtime::new(options(1, 24)).unwrap();
    let error = import(&runtime, source.unwrap(), &directory.path().join("graph.oc"), &ImportOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("the places of all batches of rows with the attributes note"), "{error}");
    let read = read.load(Ordering::Relaxed);
    assert!(read < all / 2, "refused after {read} of {all} batches");
}

/// Counts the steps that begin, and how far they come together.
#[derive(Default)]
struct Steps {
    begun: AtomicU64,
    amount: AtomicU64,
}

impl Progress for Steps {
    fn start(&self, _: &str, _: Unit, _: Option<u64>) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        if self.begun.load(Ordering::Relaxed) == 1 {
            self.amount.fetch_add(amount, Ordering::Relaxed);
        }
    }

    fn finish(&self) {}
}

#[test]
fn a_limit_is_enough_or_refused_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    let paths = ["numbers.parquet", "strings.parquet", "numbers.arrow", "strings.arrow"];
    let paths = paths.map(|name| directory.path().join(name));
    for (strings, files) in [(false, [&paths[0], &paths[2]]), (true, [&paths[1], &paths[3]])] {
        let tables = [(); 3].map(|()| table(40_000, 30_000, strings));
        write(files[0], &tables, groups_of(30_000));
        write_arrow(files[1], &tables, Some(CompressionType::ZSTD));
    }
    for path in &paths {
        let (mut enough, mut refused) = (0, 0);
        for below_mib in (0..58).step_by(2) {
            let steps = Arc::new(Steps::default());
            let runtime = RuntimeOptions { progress: Some(steps.clone()), ..options(3, 58 - below_mib) };
            let runtime = Runtime::new(runtime).unwrap();
            let source = open(&runtime, std::slice::from_ref(path), &InputOptions::default());
            match source.and_then(|source| {
                import(&runtime, source, &image, &ImportOptions { replace: true, ..ImportOptions::default() })
            }) {
                Ok(report) => {
                    let case = format!("{}, {below_mib} MiB below", path.display());
                    assert_eq!((report.manifest.import.edges_read, refused), (120_000, 0), "{case}");
                    let input_bytes = path.metadata().unwrap().len();
                    let read_bytes = steps.amount.load(Ordering::Relaxed);
                    // Bytes behind the last batch of an Arrow file are no part of a block.
                    assert!((input_bytes / 100 * 99..=input_bytes).contains(&read_bytes), "{case}: {read_bytes}");
                    enough += 1;
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("raise the limit to at least"), "{text}");
                    assert_eq!(steps.begun.load(Ordering::Relaxed), 0, "{below_mib} MiB below: {text}");
                    refused += 1;
                }
            }
        }
        println!("{}: {enough} limits were enough, {refused} were not", path.display());
        assert!(enough > 10 && refused > 2, "{enough} limits were enough, {refused} were not");
    }
}

#[test]
fn gephis_type_is_the_direction_of_tables_too() {
    let directory = tempfile::tempdir().unwrap();
    let (parquet, arrow) = (directory.path().join("g.parquet"), directory.path().join("g.arrow"));
    let table = |kinds: &[Option<&str>], packed: bool, strings: bool| {
        let count = kinds.len() as i64;
        let ids = |from: i64| -> ArrayRef {
            match strings {
                true => Arc::new(StringArray::from_iter_values((from..from + count).map(|id| format!("v{id}")))),
                false => Arc::new(Int64Array::from_iter_values(from..from + count)),
            }
        };
        let kinds: ArrayRef = match packed {
            true => Arc::new(kinds.iter().copied().collect::<DictionaryArray<Int32Type>>()),
            false => Arc::new(StringArray::from(kinds.to_vec())),
        };
        RecordBatch::try_from_iter([("Type", kinds), ("Source", ids(0)), ("Target", ids(1))]).unwrap()
    };
    let runtime = Runtime::new(options(2, 64)).unwrap();
    let made = |rows: &RecordBatch| {
        write(&parquet, &[rows.slice(0, 0), rows.clone()], groups_of(30_000));
        write_arrow(&arrow, &[rows.slice(0, 0), rows.clone()], None);
        let frame = RecordBatchIterator::new([Ok(rows.slice(0, 0)), Ok(rows.clone())], rows.schema());
        let sources = [
            open(&runtime, std::slice::from_ref(&parquet), &InputOptions::default()),
            open(&runtime, std::slice::from_ref(&arrow), &InputOptions::default()),
            from_batches(Box::new(frame), "the frame", &InputOptions::default()),
        ];
        let image = directory.path().join("g.oc");
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        sources.map(|source| import(&runtime, source.unwrap(), &image, &options).map(|report| report.manifest))
    };
    for (packed, strings) in [(false, false), (true, false), (false, true), (true, true)] {
        let rows = |kind| vec![Some(kind); 70_000];
        for (kind, directed) in [("Undirected", false), ("directed", true)] {
            for manifest in made(&table(&rows(kind), packed, strings)) {
                let manifest = manifest.unwrap();
                assert_eq!((manifest.directed, manifest.edges), (directed, 70_000), "{kind} {packed} {strings}");
                assert_eq!(manifest.import.direction_from.as_deref(), Some("the column `Type`"));
            }
        }
        for (row, other) in [(1, Some("Undirected")), (65_000, Some("Undirected")), (65_000, None)] {
            let mut kinds = rows("Directed");
            kinds[row] = other;
            for outcome in made(&table(&kinds, packed, strings)) {
                let error = outcome.unwrap_err().to_string();
                let expected = format!(":{row}: expected `Directed` in column `Type`, as above");
                assert!(error.contains(&expected) && error.contains("apart"), "{error}");
            }
        }
        // A column of that name that says something else says no direction.
        for other in [Some("friend"), None] {
            let mut kinds = rows("Undirected");
            kinds[0] = other;
            for manifest in made(&table(&kinds, packed, strings)) {
                assert!(manifest.unwrap().directed, "{other:?} {packed} {strings}");
            }
        }
    }
}

#[test]
fn options_of_text_are_refused_for_tables() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.parquet");
    let rows = table(10, 10, false);
    write(&path, std::slice::from_ref(&rows), groups_of(10));
    let runtime = Runtime::new(options(1, 64)).unwrap();
    for (option, input) in [
        ("--header", InputOptions { header: Some(true), ..InputOptions::default() }),
        ("--delimiter", InputOptions { delimiter: Some("tab".into()), ..InputOptions::default() }),
        ("--comment", InputOptions { comment: Some("#".into()), ..InputOptions::default() }),
    ] {
        let frame = RecordBatchIterator::new([Ok(rows.clone())], rows.schema());
        for source in
            [open(&runtime, std::slice::from_ref(&path), &input), from_batches(Box::new(frame), "the frame", &input)]
        {
            let error = source.expect_err(option).to_string();
            assert!(error.starts_with(&format!("{option}: expected")) && error.contains("text"), "{error}");
        }
    }
}

#[test]
fn parts_with_ids_of_two_kinds_are_refused_with_advice() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a.parquet", "b.parquet"].map(|name| directory.path().join(name));
    write(&paths[0], &[table(10, 10, false)], groups_of(10));
    write(&paths[1], &[table(10, 10, true)], groups_of(10));
    let runtime = Runtime::new(options(1, 64)).unwrap();
    let error = open(&runtime, &paths, &InputOptions::default()).err().unwrap().to_string();
    assert!(error.contains("cast the columns of ids to one type") && !error.contains("--ids"), "{error}");
}

#[test]
fn batches_that_do_not_fit_are_refused_as_they_arrive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.arrow");
    let image = directory.path().join("graph.oc");
    // A message of 24 MB.
    write_arrow(&path, &[table(1_000_000, 1000, false)], None);
    let runtime = Runtime::new(options(2, 20)).unwrap();
    let text = open(&runtime, std::slice::from_ref(&path), &InputOptions::default()).err().unwrap().to_string();
    assert!(text.contains("smaller batches") && text.contains("raise the limit to at least"), "{text}");
    // The first batch says nothing of the second.
    write_arrow(&path, &[table(1000, 1000, false), table(1_000_000, 1000, false)], None);
    for (budget_mib, fits) in [(30, false), (2000, true)] {
        let runtime = Runtime::new(options(2, budget_mib)).unwrap();
        let source = opened(&runtime, std::slice::from_ref(&path));
        match import(&runtime, source, &image, &ImportOptions { replace: true, ..ImportOptions::default() }) {
            Ok(report) => assert!(fits && report.manifest.import.edges_read == 1_001_000),
            Err(error) => assert!(!fits && error.to_string().contains("smaller batches"), "{error}"),
        }
    }
}

#[test]
fn the_limit_that_a_refusal_advises_is_enough() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let image = at("graph.oc");
    // A batch of 24 MB alone, packed, and behind a small one; row groups of that size; and long ids.
    write_arrow(&at("one.arrow"), &[table(1_000_000, 1000, false)], None);
    write_arrow(&at("packed.arrow"), &[table(1_000_000, 1000, true)], Some(CompressionType::ZSTD));
    write_arrow(&at("later.arrow"), &[table(1000, 1000, false), table(1_000_000, 1000, false)], None);
    let pages = |properties: WriterPropertiesBuilder| {
        properties
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(8 << 20)
            .set_data_page_row_count_limit(1 << 30)
    };
    write(&at("numbers.parquet"), &[table(1_000_000, 1000, false)], pages(groups_of(1_000_000)));
    write(&at("strings.parquet"), &[table(1_000_000, 1000, true)], pages(groups_of(1_000_000)));
    for name in ["one.arrow", "packed.arrow", "later.arrow", "numbers.parquet", "strings.parquet"] {
        let paths = [at(name)];
        let made = |limits: &RuntimeOptions| {
            let plan = |bytes| {
                let runtime = Runtime::new(RuntimeOptions { memory_bytes: Some(bytes), ..limits.clone() })?;
                check_memory(&runtime, open(&runtime, &paths, &InputOptions::default())?.facts())
            };
            let runtime = Runtime::new(limits.clone()).map_err(|error| advise(error, limits).planned_again(plan))?;
            let source = open(&runtime, &paths, &InputOptions::default())?;
            import(&runtime, source, &image, &ImportOptions { replace: true, ..ImportOptions::default() })
        };
        for threads in [1, 2, 5] {
            // A batch behind the first one is not known beforehand.
            let mibs: &[u64] = if name == "later.arrow" { &[30] } else { &[1, 7, 14, 20, 30] };
            for &mib in mibs {
                let limits = |bytes: u64| RuntimeOptions {
                    memory_bytes: Some(bytes),
                    beside_process: true,
                    threads: Some(threads),
                    ..RuntimeOptions::default()
                };
                let text = match made(&limits(mib << 20)) {
                    Ok(_) => panic!("{name} in {mib} MiB"),
                    Err(error) => error.to_string(),
                };
                let advised = parse_bytes(text.rsplit("at least ").next().unwrap()).unwrap();
                let again = made(&limits(advised));
                let edges = again.unwrap_or_else(|error| panic!("{name}, {threads} threads: {text}; {error}")).manifest;
                assert!(edges.import.edges_read >= 1_000_000 && advised < 4 << 30, "{text}");
            }
        }
    }
}

#[test]
fn compressed_batches_are_counted_before_they_are_unpacked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("packed.arrow");
    // A few KB that become 48 MB: nothing could be unpacked in the budget, whose error tells what it would have taken.
    let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; 3_000_000]));
    let batch = RecordBatch::try_from_iter([("source", zeros.clone()), ("target", zeros)]).unwrap();
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        write_arrow(&path, std::slice::from_ref(&batch), Some(compression));
        assert!(path.metadata().unwrap().len() < 1 << 20);
        let runtime = Runtime::new(options(2, 40)).unwrap();
        let text = open(&runtime, std::slice::from_ref(&path), &InputOptions::default()).err().unwrap().to_string();
        assert!(text.contains("needs 45.8 MiB") && text.contains("smaller batches"), "{text}");
        let runtime = Runtime::new(options(2, 120)).unwrap();
        let source = opened(&runtime, std::slice::from_ref(&path));
        assert!((48_000_000..49_000_000).contains(&source.facts().block_bytes));
        let report = import(
            &runtime,
            source,
            &directory.path().join("graph.oc"),
            &ImportOptions { replace: true, ..ImportOptions::default() },
        )
        .unwrap();
        assert_eq!(report.manifest.import.edges_read, 3_000_000);
    }
}

#[test]
fn dictionaries_are_counted_for_as_long_as_they_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("packed.arrows");
    // Dictionaries of 1 MB of text, which grow by one another or take each other's place.
    let batch = |first: usize, count: usize| {
        let names: Vec<String> = (first..first + count).map(|i| format!("{i:01000}")).collect();
        let ids: ArrayRef =
            Arc::new(names.iter().map(|name| Some(name.as_str())).collect::<DictionaryArray<Int32Type>>());
        RecordBatch::try_from_iter([("source", ids.clone()), ("target", ids)]).unwrap()
    };
    // Two columns, of which each has a dictionary.
    let cases = [
        (DictionaryHandling::Delta, [batch(0, 1000), batch(0, 2000), batch(0, 3000)], 6_000_000..6_200_000),
        (DictionaryHandling::Resend, [batch(0, 1000), batch(5000, 1000), batch(9000, 1000)], 2_000_000..2_100_000),
    ];
    for (handling, batches, kept_bytes) in cases {
        let options_of_stream = IpcWriteOptions::default()
            .with_dictionary_handling(handling)
            .try_with_compression(Some(CompressionType::ZSTD))
            .unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut stream = StreamWriter::try_new_with_options(file, &batches[0].schema(), options_of_stream).unwrap();
        batches.iter().for_each(|batch| stream.write(batch).unwrap());
        stream.finish().unwrap();
        let runtime = Runtime::new(options(1, 100)).unwrap();
        let available_bytes = runtime.budget().available_bytes();
        let mut source = opened(&runtime, std::slice::from_ref(&path));
        for _ in &batches {
            drop(source.next_block().unwrap().unwrap());
        }
        let found_bytes = available_bytes - runtime.budget().available_bytes();
        assert!(kept_bytes.contains(&found_bytes), "{handling:?}: {found_bytes}");
        drop(source);
        assert_eq!(runtime.budget().available_bytes(), available_bytes);
    }
}

/// Not a test of its own: the process whose memory the next test looks at.
#[test]
#[ignore = "is run by the next test, in a process of its own"]
fn child() {
    let Some(path) = std::env::var_os("OUTCORE_TEST_TABLE").map(PathBuf::from) else { return };
    let memory_bytes = Some(std::env::var("OUTCORE_TEST_LIMIT_MIB").unwrap().parse::<u64>().unwrap() << 20);
    let options = RuntimeOptions { threads: Some(2), memory_bytes, ..RuntimeOptions::default() };
    let image = path.with_extension("oc");
    let runtime = Runtime::new(options).unwrap();
    let options_of_import = ImportOptions { replace: true, ..ImportOptions::default() };
    let source = open(&runtime, &[path], &InputOptions::default());
    match source.and_then(|source| import(&runtime, source, &image, &options_of_import)) {
        Ok(report) => println!("outcome edges {}", report.manifest.import.edges_read),
        Err(error) => println!("outcome {error}"),
    }
    println!("peak {}", peak_memory_bytes());
}

/// Imports a table in a process with a limit, which the process must not exceed.
fn stays_under(path: &Path, limit_mib: u64, rows: usize) {
    assert_eq!(outcome_under(path, limit_mib), format!("edges {rows}"));
}

/// Outcome of the import of a table in a process with a limit, which the process must not exceed.
fn outcome_under(path: &Path, limit_mib: u64) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .env("OUTCORE_TEST_TABLE", path)
        .env("OUTCORE_TEST_LIMIT_MIB", limit_mib.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{text}{}", String::from_utf8_lossy(&child.stderr));
    let value_of =
        |what: &str| text.lines().find_map(|line| line.split_once(what)).unwrap_or_else(|| panic!("{text}")).1;
    let (outcome, peak) = (value_of("outcome "), value_of("peak "));
    let peak: u64 = peak.trim().parse().unwrap();
    println!("limit {limit_mib} MiB, peak {} MiB", peak >> 20);
    assert!(peak <= limit_mib << 20, "limit {limit_mib} MiB, peak {peak} bytes: {outcome}");
    outcome.to_owned()
}

#[test]
fn a_row_group_larger_than_the_limit_stays_under_it() {
    let directory = tempfile::tempdir().unwrap();
    let arrow = directory.path().join("large.arrow");
    let batch = table(300_000, 100_000, false);
    for compression in [None, Some(CompressionType::LZ4_FRAME)] {
        write_arrow(&arrow, &vec![batch.clone(); 6], compression);
        for limit_mib in [64, 80, 128, 200] {
            stays_under(&arrow, limit_mib, 1_800_000);
        }
    }
    // 48 MB without strings.
    for (strings, limit_mib) in [(false, 40), (false, 64), (true, 48)] {
        let path = directory.path().join("large.parquet");
        write(&path, &[table(2_000_000, 500_000, strings)], groups_of(2_000_000));
        stays_under(&path, limit_mib, 2_000_000);
    }
}

#[test]
fn metadata_of_wide_files_are_refused_or_stay_under_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    // 400 columns that nobody wants, in 500 row groups of two rows: the metadata are a hundred times the data that are
    // wanted.
    let column = || -> ArrayRef { Arc::new(Int64Array::from_iter_values(0..1000)) };
    let mut columns = vec![("source".to_owned(), column()), ("target".to_owned(), column())];
    columns.extend((0..400).map(|i| (format!("feature {i}"), column())));
    let wide = directory.path().join("wide.parquet");
    write(&wide, &[RecordBatch::try_from_iter(columns).unwrap()], groups_of(2));
    let runtime = Runtime::new(options(2, 40)).unwrap();
    let text = open(&runtime, std::slice::from_ref(&wide), &InputOptions::default()).err().unwrap().to_string();
    assert!(text.contains("the metadata of") && text.contains("larger row groups"), "{text}");
    stays_under(&wide, 200, 1000);
    let groups = directory.path().join("groups.parquet");
    write(&groups, &[table(40_000, 1000, false)], groups_of(5));
    stays_under(&groups, 64, 40_000);
}

#[test]
fn long_strings_in_dictionaries_stay_under_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    // 120 MB of ids, of which there are 2000: some 200 KB.
    let names: Vec<String> = (0..2000).map(|i| format!("https://example.org/{i:0100}")).collect();
    let mut state = 7;
    let mut ids = || -> ArrayRef {
        let picked = (0..500_000).map(|_| Some(names[random(&mut state) as usize % names.len()].as_str()));
        Arc::new(picked.collect::<DictionaryArray<Int32Type>>())
    };
    let table = RecordBatch::try_from_iter([("source", ids()), ("target", ids())]).unwrap();
    let paths = ["dictionary.parquet", "dictionary.arrow"].map(|name| directory.path().join(name));
    write(&paths[0], std::slice::from_ref(&table), groups_of(250_000));
    write_arrow(&paths[1], std::slice::from_ref(&table), None);
    for path in &paths {
        stays_under(path, 32, 500_000);
    }
}

#[test]
fn ids_of_megabytes_stay_under_the_limit_or_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let long = |i: usize, len: usize| format!("{i}{}", "x".repeat(len));
    let table_of = |ids: Vec<String>| {
        let targets: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().rev()));
        let sources: ArrayRef = Arc::new(StringArray::from_iter_values(ids));
        RecordBatch::try_from_iter([("source", sources), ("target", targets)]).unwrap()
    };
    let paths = ["long.parquet", "long.arrow"].map(|name| directory.path().join(name));
    let packed = || WriterProperties::builder().set_compression(Compression::SNAPPY);
    // The limit allows for the batches, but not for the ids: of them, every run that is merged has one in memory.
    let table = table_of((0..6).map(|i| long(i, 3 << 20)).collect());
    write(&paths[0], std::slice::from_ref(&table), packed());
    write_arrow(&paths[1], std::slice::from_ref(&table), None);
    for path in &paths {
        let text = outcome_under(path, 100);
        let refusal = text.contains("expected an id of at most 1") && text.contains("found 3 MiB in row 0");
        assert!(refusal && text.contains("higher memory limit"), "{text}");
        stays_under(path, 300, 6);
    }
    let table = table_of((0..6).map(|i| long(i, 20 << 20)).collect());
    write(&paths[0], std::slice::from_ref(&table), packed());
    write_arrow(&paths[1], std::slice::from_ref(&table), None);
    for (path, expected) in paths.iter().zip(["an import of a table of which", "a batch of"]) {
        let text = outcome_under(path, 64);
        assert!(text.contains(expected) && text.contains("raise the limit to at least"), "{text}");
    }
    // One row after the other, since every row is a page.
    let table = table_of((0..200).map(|i| long(i, 600_000)).collect());
    write(
        &paths[0],
        &[table],
        packed().set_dictionary_enabled(false).set_data_page_row_count_limit(1).set_write_batch_size(1),
    );
    stays_under(&paths[0], 64, 200);
    // Two gigabytes of ids, of which there are eight.
    let names: Vec<String> = (0..8).map(|i| long(i, 500_000)).collect();
    let ids: ArrayRef =
        Arc::new((0..2000).map(|i| Some(names[i * i % 8].as_str())).collect::<DictionaryArray<Int32Type>>());
    let table = RecordBatch::try_from_iter([("source", ids.clone()), ("target", ids)]).unwrap();
    write(&paths[0], &[table], packed().set_dictionary_page_size_limit(8 << 20));
    stays_under(&paths[0], 64, 2000);
}

/// Batches of a row each are many; the limit that a refusal advises is enough, and a tenth less is not.
#[test]
fn small_batches_need_little_memory_and_are_refused_with_what_they_need() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("g.oc");
    let schema = Arc::new(Schema::new(
        ["source", "target", "x"].map(|name| Field::new(name, DataType::Int64, false)).to_vec(), //
    ));
    let imported = |batches: i64, bytes: u64| {
        let own = Arc::clone(&schema);
        let batch = move |row: i64| {
            let column = |value: i64| Arc::new(Int64Array::from(vec![value])) as ArrayRef;
            RecordBatch::try_new(Arc::clone(&own), vec![column(row % 999), column(row % 1009), column(row)])
        };
        let rows = RecordBatchIterator::new((0..batches).map(batch), Arc::clone(&schema));
        let options = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
        let runtime = runtime_under(1, bytes, None);
        let before = runtime.budget().limit_bytes() - bytes;
        let how = ImportOptions { replace: true, order: OrderChoice::Input, ..ImportOptions::default() };
        let done = from_batches(Box::new(rows), "rows", &options).and_then(|source| {
            import(&runtime, source, &image, &how) //
        });
        done.map(drop).map_err(|error| error.advised_bytes().expect("a refusal of memory") - before)
    };
    assert_eq!(imported(200_000, 28 << 20), Ok(()));
    let advised = imported(700_000, 28 << 20).unwrap_err();
    assert_eq!(imported(700_000, advised), Ok(()), "{advised}");
    assert!(imported(700_000, advised / 10 * 9).is_err(), "{advised}");
}
