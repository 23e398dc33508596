//! Outcore within a program of its user: hooks, errors and panics of the program, and several imports at once.

use outcore::arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use outcore::arrow::schema::ArrowError;
use outcore::import::{ImportOptions, InputOptions, Source, from_batches, from_edges, import};
use outcore::{DegreeCentralityOptions, Error, ErrorKind, Graph, Result, Runtime, RuntimeOptions, degree_centrality};
use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Mutex};

const ROWS: i64 = 20_000;

fn runtime(memory_bytes: u64) -> Runtime {
    let options = RuntimeOptions { memory_bytes: Some(memory_bytes), beside_process: true, ..Default::default() };
    Runtime::new(RuntimeOptions { threads: Some(2), ..options }).unwrap()
}

fn batch(first: i64) -> RecordBatch {
    let column = |of: &dyn Fn(i64) -> i64| Arc::new((first..first + ROWS).map(of).collect::<Int64Array>()) as ArrayRef;
    RecordBatch::try_from_iter([("source", column(&|row| row)), ("target", column(&|row| row * 7 % ROWS))]).unwrap()
}

type Outcome = std::result::Result<(), ArrowError>;

/// Three batches, before each of which `work` runs.
fn reader(mut work: impl FnMut() -> Outcome + Send + 'static) -> Box<dyn RecordBatchReader + Send> {
    let batches = (0..3).map(move |place| work().map(|()| batch(place * ROWS)));
    Box::new(RecordBatchIterator::new(batches, batch(0).schema()))
}

fn read(runtime: &Runtime, work: impl FnMut() -> Outcome + Send + 'static) -> Result<Graph> {
    let source = from_batches(reader(work), "rows", &InputOptions::default())?;
    Graph::in_memory(runtime, source, &ImportOptions::default())
}

#[test]
fn panics_of_the_users_reader_reach_the_users_hook() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let before = take_hook();
    set_hook(Box::new(move |panic| noted.lock().unwrap().push(panic.to_string())));
    let runtime = runtime(64 << 20);
    read(&runtime, || Ok(())).unwrap();
    let outcome = catch_unwind(AssertUnwindSafe(|| read(&runtime, || panic!("a reader of mine"))));
    set_hook(before);
    assert!(outcome.is_err(), "a panic of the user's code goes on");
    assert!(seen.lock().unwrap().iter().any(|text| text.contains("a reader of mine")), "{seen:?}");
    read(&runtime, || Ok(())).unwrap();
}

#[test]
fn errors_of_the_users_reader_come_back_as_they_were() {
    #[derive(Debug)]
    struct Mine(u32);
    impl std::fmt::Display for Mine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "queue {} is gone", self.0)
        }
    }
    impl std::error::Error for Mine {}
    let error = read(&runtime(64 << 20), || Err(ArrowError::ExternalError(Box::new(Mine(7))))).unwrap_err();
    let Error::Custom(error) = error else { panic!("{error:?}") };
    assert_eq!(error.downcast_ref::<Mine>().map(|mine| mine.0), Some(7));
    // Errors of other kinds of Arrow's.
    let lost = || Err(ArrowError::IoError("lost".to_owned(), std::io::ErrorKind::ConnectionReset.into()));
    let error = read(&runtime(64 << 20), lost).unwrap_err();
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::ConnectionReset), "{error:?}");
    let error = read(&runtime(64 << 20), || Err(ArrowError::ParseError("line 3".to_owned()))).unwrap_err();
    let Error::Custom(error) = error else { panic!("{error:?}") };
    assert!(matches!(error.downcast_ref(), Some(ArrowError::ParseError(text)) if text == "line 3"), "{error:?}");
}

#[test]
fn the_limit_that_a_refused_file_advises_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("rows.oc");
    let edges = from_edges((0..400_000u32).map(|row| (row, row + 1))).unwrap();
    import(&runtime(256 << 20), edges, &image, &ImportOptions::default()).unwrap();
    let write = |memory_bytes: u64, name: &str, is_sorted: bool| -> Result<()> {
        let graph = Graph::open(&runtime(memory_bytes), &image, Default::default())?;
        let table = degree_centrality(&graph, &DegreeCentralityOptions::default())?.into_table(&graph)?;
        let table = if is_sorted { table.sorted("degree_centrality", true)? } else { table };
        table.write(folder.path().join(name))
    };
    for name in ["ranks.parquet", "ranks.arrow", "ranks.csv", "ranks.csv.gz", "ranks.csv.zst", "ranks.jsonl"] {
        for is_sorted in [false, true] {
            // The first limit under which all but the file has room.
            let refusal = (10..100).find_map(|mib| match write(mib << 20, name, is_sorted) {
                Err(Error::Memory { purpose, .. }) if purpose != "writing a table" => None,
                other => Some(other),
            });
            let advised = refusal.unwrap().unwrap_err().advised_bytes().unwrap();
            write(advised, name, is_sorted).unwrap_or_else(|error| panic!("{name} {is_sorted} {advised}: {error}"));
        }
    }
}

#[test]
fn a_cause_is_shown_once() {
    let long = "x".repeat(300);
    let error = Graph::open(&runtime(64 << 20), long, Default::default()).unwrap_err();
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        texts.push(cause.to_string());
        source = cause.source();
    }
    let shown = texts.join("; ");
    assert_eq!(shown.matches("os error").count(), 1, "{shown}");
}

#[test]
fn imports_at_once_take_turns_for_the_memory() {
    let runtime = runtime(40 << 20);
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for place in 0..6 {
            let (runtime, image) = (&runtime, folder.path().join(format!("{place}.oc")));
            scope.spawn(move || {
                let source = from_batches(reader(|| Ok(())), "rows", &InputOptions::default()).unwrap();
                let report = import(runtime, source, &image, &ImportOptions::default()).unwrap();
                assert_eq!(report.manifest.edges, 3 * ROWS as u64);
            });
        }
    });
}

#[test]
fn rows_of_an_import_may_come_from_another_import() {
    let runtime = runtime(64 << 20);
    let within = runtime.clone();
    let graph = read(&runtime, move || {
        let graph = read(&within, || Ok(())).map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
        assert_eq!(graph.edges(), 3 * ROWS as u64);
        Ok(())
    });
    assert_eq!(graph.unwrap().edges(), 3 * ROWS as u64);
}

#[test]
fn edges_of_an_iterator_are_imported() {
    let runtime = runtime(64 << 20);
    let graph = |source: Result<Source>| Graph::in_memory(&runtime, source.unwrap(), &Default::default()).unwrap();
    let chain = graph(from_edges((0_u32..30_000).map(|vertex| (vertex, vertex + 1))));
    assert_eq!((chain.vertices(), chain.edges(), chain.manifest().weights().is_some()), (30_001, 30_000, false));
    let names =
        graph(from_edges(vec![("ada".to_owned(), "bob".to_owned(), 1.5), ("bob".to_owned(), "cy".to_owned(), 2.0)]));
    assert_eq!((names.vertices(), names.edges(), names.manifest().weights().is_some()), (3, 2, true));
    let far = graph(from_edges([(-5_i64, i64::MAX, 7_u32)]));
    assert_eq!((far.vertices(), far.id(0).unwrap().to_string()), (2, "-5".to_owned()));
    let source = from_edges([(1_u64, 2, f64::NAN)]).unwrap();
    let error = Graph::in_memory(&runtime, source, &Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    let empty = Graph::in_memory(&runtime, from_edges(Vec::<(u32, u32)>::new()).unwrap(), &Default::default());
    assert_eq!(empty.unwrap().vertices(), 0);
}

#[test]
fn kinds_of_errors_are_matched() {
    let error = Graph::open(&runtime(64 << 20), "/nowhere/web.oc", Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
}
