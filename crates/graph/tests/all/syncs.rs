//! Files that an operation has said to be there outlast a power failure: `sim` notes those written and not synced.

use crate::common;
use crate::given;

use common::{Model, runtime_under};
use given::{Given, Id};
use outcore_format::WeightKind;
use outcore_graph::generate::{self, GenerateOptions};
use outcore_graph::import::{ImportOptions, import};
use outcore_graph::{Graph, export};
use outcore_image::{ImageOptions, write_file};
use outcore_io::backend::{Backend, Faults, Location, Open, Sim};
use outcore_io::{Buffer, DataFile, Runtime};
use outcore_table::Column;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MEMORY_BYTES: u64 = 64 << 20;

fn sim() -> (Arc<Sim>, Runtime) {
    let sim = Arc::new(Sim::new(Faults::default()));
    let runtime = runtime_under(2, MEMORY_BYTES, Some(Arc::clone(&sim) as Arc<dyn Backend>));
    (sim, runtime)
}

const NOTHING: [PathBuf; 0] = [];

/// A graph whose image has all kinds of files: columns of ids and of weights, both directions.
fn given() -> Given {
    let id = |i: usize| Id::Text(format!("vertex {i}"));
    Given {
        edges: (0..90).map(|i| (id(i * i % 31), id(i * 7 % 23))).collect(),
        weights: Some((0..90).map(f64::from).collect()),
        strings: true,
        block_edges: 25,
        ..Given::default()
    }
}

#[test]
fn images_are_synced_whole_before_they_get_their_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let (sim, runtime) = sim();
    for replace in [false, true] {
        import(&runtime, given().source(), &path, &ImportOptions { replace, ..ImportOptions::default() }).unwrap();
        assert_eq!(sim.unsynced(), NOTHING, "replace: {replace}");
    }
    assert!(["columns", "edges"].iter().all(|name| path.join(name).read_dir().unwrap().count() > 0));
}

#[test]
fn files_are_synced_before_they_get_their_name() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let image = Model::random(3, 500, 2000, true, false).with_weights(WeightKind::F64).write(directory.path());
    let written = |name: &str, write: &dyn Fn(&Runtime, &Path)| {
        let (sim, runtime) = sim();
        write(&runtime, &files.join(name));
        assert_eq!(sim.unsynced(), NOTHING, "{name}");
        assert!(std::fs::metadata(files.join(name)).unwrap().len() > 0, "{name}");
    };
    let options = GenerateOptions { scale: 8, ..GenerateOptions::default() };
    for name in ["g.el", "g.csv.gz", "g.txt.zst", "g.graph500"] {
        written(name, &|runtime, path| {
            assert!(generate::write(runtime, &options, &ImportOptions::default(), path).unwrap().bytes > 0)
        });
    }
    written("stats.json", &|runtime, path| write_file(runtime, path, b"{}").unwrap());
    let open = |runtime: &Runtime| Graph::open(runtime, &image, ImageOptions::default()).unwrap();
    for name in ["e.txt", "e.csv.gz", "e.mtx.zst", "e.parquet", "e.e"] {
        written(name, &|runtime, path| drop(export(&open(runtime), path).unwrap()));
    }
    for name in ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.npy", "t.arrow"] {
        written(name, &|runtime, path| {
            let ranks = Buffer::<f64>::zeroed(runtime.budget(), "test", 500).unwrap();
            let columns = vec![("rank".to_owned(), Column::Real(Arc::new(ranks)))];
            open(runtime).table(columns).write(path).unwrap();
        });
    }
}

#[test]
fn a_missing_sync_is_detected() {
    let directory = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| directory.path().join(name));
    let (sim, runtime) = sim();
    let backend = runtime.backend();
    let output = DataFile::open_as(backend, Location::at(&from), Open::Create).unwrap();
    assert_eq!(sim.unsynced(), [directory.path().to_owned(), from.clone()]);
    output.sync().unwrap();
    output.write_at(b"more", 0).unwrap();
    let renamed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| backend.rename(&from, &to)));
    assert!(renamed.is_err() && from.exists(), "it was written behind the sync");
    output.sync().unwrap();
    backend.rename(&from, &to).unwrap();
    assert_eq!(sim.unsynced(), [directory.path().to_owned()]);
    backend.sync_directory(directory.path()).unwrap();
    assert_eq!(sim.unsynced(), NOTHING);
}
