//! When an import fails there is no image and nothing else, and an older image is as it was.

use crate::given;

use given::{Given, Id, files, open};
use outcore_graph::import::{Duplicates, ImportOptions, OrderChoice, import};
use outcore_image::Error;
use outcore_io::backend::{Faults, Posix, Sim};
use outcore_io::{Backend, CancelFlag, Progress, Runtime, RuntimeOptions, Unit};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

fn options(threads: usize) -> RuntimeOptions {
    RuntimeOptions {
        threads: Some(threads),
        memory_bytes: Some(64 << 20),
        beside_process: true,
        ..RuntimeOptions::default()
    }
}

fn edge(source: i128, target: i128) -> (Id, Id) {
    (Id::Integer(source), Id::Integer(target))
}

fn graph(seed: i128) -> Given {
    let edges: Vec<(Id, Id)> = (0..60).map(|i| edge(i * i * seed % 31, i * 7 % 23)).collect();
    let weights = Some((0..60).map(f64::from).collect());
    Given { edges, weights, block_edges: 25, ..Given::default() }
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Imports with a device that misbehaves; returns whether it succeeded, after checking that failure left nothing.
fn import_with(faults: Faults, directory: &Path, replaces: bool, order: OrderChoice) -> bool {
    let path = directory.join("graph.oc");
    let before = replaces.then(|| files(&path));
    let runtime = Runtime::new(RuntimeOptions { backend: Some(Arc::new(Sim::new(faults.clone()))), ..options(1) });
    let import_options = ImportOptions { order, replace: replaces, ..ImportOptions::default() };
    match import(&runtime.unwrap(), graph(5).source(), &path, &import_options) {
        Ok(_) => {
            assert_eq!(open(&path).manifest.import.edges_read, 60);
            true
        }
        Err(error) => {
            assert!(matches!(error, Error::File { .. }), "{error}");
            assert_eq!(path.exists(), replaces, "{faults:?}");
            if let Some(before) = before {
                assert!(files(&path) == before, "{faults:?}");
            }
            assert_eq!(names(directory), if replaces { vec!["graph.oc"] } else { vec![] }, "{faults:?}");
            false
        }
    }
}

#[test]
fn the_failure_of_any_operation_leaves_nothing_behind() {
    for (replaces, order) in [
        (false, OrderChoice::Auto),
        (true, OrderChoice::Degree),
        (true, OrderChoice::Input),
        (false, OrderChoice::Near),
    ] {
        let directory = tempfile::tempdir().unwrap();
        if replaces {
            let runtime = Runtime::new(options(1)).unwrap();
            let path = directory.path().join("graph.oc");
            import(&runtime, graph(3).source(), &path, &ImportOptions::default()).unwrap();
        }
        let mut failed = 0;
        while !import_with(Faults { fail_at: Some(failed), ..Faults::default() }, directory.path(), replaces, order) {
            failed += 1;
        }
        println!("{failed} operations failed, one at a time");
        assert!(failed > 30, "{failed}");
    }
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = 0;
    while !import_with(
        Faults { full_after_bytes: Some(bytes), ..Faults::default() },
        directory.path(),
        false,
        OrderChoice::Auto,
    ) {
        bytes += 777;
    }
    assert!(bytes > 10_000, "{bytes}");
}

/// Asks to stop at the k-th report of progress.
struct Stopper {
    flag: OnceLock<CancelFlag>,
    left: AtomicU64,
}

impl Stopper {
    fn step(&self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0
            && let Some(flag) = self.flag.get()
        {
            flag.cancel();
        }
    }
}

impl Progress for Stopper {
    fn start(&self, _: &str, _: Unit, _: Option<u64>) {
        self.step();
    }

    fn advance(&self, _: u64) {
        self.step();
    }

    fn finish(&self) {}
}

#[test]
fn a_request_to_stop_leaves_nothing_behind() {
    for threads in [1, 3] {
        for k in 0.. {
            let directory = tempfile::tempdir().unwrap();
            let stopper = Arc::new(Stopper { flag: OnceLock::new(), left: AtomicU64::new(k) });
            let runtime = Runtime::new(RuntimeOptions { progress: Some(stopper.clone()), ..options(threads) }).unwrap();
            stopper.flag.get_or_init(|| runtime.cancel().clone());
            let result =
                import(&runtime, graph(5).source(), &directory.path().join("graph.oc"), &ImportOptions::default());
            if !runtime.cancel().is_cancelled() {
                assert!(result.is_ok() && k > 5, "{k}");
                break;
            }
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Cancelled), "{error}");
            assert_eq!(names(directory.path()), Vec::<String>::new(), "{k}");
        }
    }
}

#[test]
fn bad_input_is_reported_where_it_is_first() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = Runtime::new(options(4)).unwrap();
    let edges: Vec<(Id, Id)> = (0..1000).map(|i| edge(i, i + 1)).collect();
    for bad_block in [0, 17, 99] {
        let given = Given { edges: edges.clone(), block_edges: 10, bad_block: Some(bad_block), ..Given::default() };
        let path = directory.path().join("graph.oc");
        let error = import(&runtime, given.source(), &path, &ImportOptions::default()).unwrap_err().to_string();
        assert_eq!(error, format!("by hand:{bad_block}: expected an edge, found nothing"));
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
fn inputs_that_contradict_themselves_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let refuse = |given: Given, options_: ImportOptions, expected: &str| {
        let runtime = Runtime::new(options(2)).unwrap();
        let error = import(&runtime, given.source(), &path, &options_).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(names(directory.path()), Vec::<String>::new());
    };
    let both_signs = vec![edge(-1, 5), edge(3, i128::from(u64::MAX))];
    refuse(Given { edges: both_signs, ..Given::default() }, ImportOptions::default(), "--ids string");
    let twice = vec![edge(4, 900), edge(900, 4), edge(900, 4)];
    let error = ImportOptions { duplicates: Duplicates::Error, ..ImportOptions::default() };
    refuse(Given { edges: twice, ..Given::default() }, error.clone(), "between 900 and 4");
    let mirrored = vec![edge(-4, 900), edge(900, -4)];
    let undirected = ImportOptions { directed: Some(false), ..error };
    refuse(Given { edges: mirrored, ..Given::default() }, undirected, "between -4 and 900");
    let sum = ImportOptions { duplicates: Duplicates::Sum, ..ImportOptions::default() };
    let weights = Some(vec![9e18, 9e18]);
    let large = Given { edges: vec![edge(1, 2); 2], weights, integer_weights: true, ..Given::default() };
    refuse(large, sum.clone(), "sum does not");
    let weights = Some(vec![f64::MAX, f64::MAX]);
    refuse(Given { edges: vec![edge(1, 2); 2], weights, ..Given::default() }, sum, "sum does not");
    for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let weights = Some(vec![1.5, weight]);
        let infinite = Given { edges: vec![edge(1, 2); 2], weights, ..Given::default() };
        refuse(infinite, ImportOptions::default(), "by hand: expected weights that are finite numbers");
    }
    let many = Given { declared: Some((0, 1 << 32)), ..Given::default() };
    refuse(many, ImportOptions::default(), "at most 4294967295 vertices");
    let far = Given { declared: Some((u64::MAX, 2)), ..Given::default() };
    refuse(far, ImportOptions::default(), "correct the header");
}

#[test]
fn only_images_are_replaced_and_only_with_the_option() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = Runtime::new(options(2)).unwrap();
    let import_to = |path: &Path, replace: bool| {
        let options = ImportOptions { replace, ..ImportOptions::default() };
        import(&runtime, graph(5).source(), path, &options).map(|report| report.manifest)
    };
    let path = directory.path().join("graph.oc");
    std::fs::write(&path, "precious").unwrap();
    assert!(import_to(&path, true).unwrap_err().to_string().contains("in the way"));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("manifest.json"), "{}").unwrap();
    assert!(import_to(&path, true).unwrap_err().to_string().contains("in the way"));
    assert_eq!(names(&path), ["manifest.json"]);
    std::fs::remove_dir_all(&path).unwrap();
    let missing = directory.path().join("missing").join("graph.oc");
    assert!(matches!(import_to(&missing, false), Err(Error::File { .. })));
    import_to(&path, false).unwrap();
    let before = files(&path);
    let error = import_to(&path, false).unwrap_err().to_string();
    assert!(error.contains("graph.oc is there already") && error.contains("--replace"), "{error}");
    assert_eq!(files(&path), before);
    import_to(&path, true).unwrap();
    let link = directory.path().join("link.oc");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(import_to(&link, false).unwrap_err().to_string().contains("--replace"));
    import_to(&link, true).unwrap();
    assert!(link.is_symlink());
    assert_eq!(open(&link).manifest.import.edges_read, 60);
    assert_eq!(names(directory.path()), ["graph.oc", "link.oc"]);
}

#[test]
fn existing_images_and_full_disks_are_refused_before_the_input_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let refuse = |given: &Given, expected: &str| {
        // The input cannot even be parsed, which nobody notices.
        let given = Given { bad_block: Some(0), ..given.clone() };
        let runtime = Runtime::new(options(2)).unwrap();
        let error = import(&runtime, given.source(), &path, &ImportOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let many = Given { declared: Some((0, 1 << 32)), ..graph(5) };
    refuse(&many, "at most 4294967295 vertices");
    assert_eq!(names(directory.path()), Vec::<String>::new());
    import(&Runtime::new(options(2)).unwrap(), graph(5).source(), &path, &ImportOptions::default()).unwrap();
    refuse(&graph(5), "--replace");
    assert_eq!(names(directory.path()), ["graph.oc"]);
}

#[test]
fn files_of_killed_imports_are_removed_and_those_of_running_ones_stay() {
    let directory = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    // The leftovers of an image of another name, too.
    let [dead, alive, empty] = ["a", "b", "c"].map(|x| format!(".day{x}.oc.000000000000000{x}.outcore-partial"));
    for name in [&dead, &alive] {
        std::fs::create_dir_all(directory.path().join(name).join("columns")).unwrap();
    }
    std::fs::create_dir(directory.path().join(&empty)).unwrap();
    std::fs::create_dir_all(temporary.path().join(&dead)).unwrap();
    let lock = Posix.lock(&directory.path().join(&alive)).unwrap().unwrap();
    let runtime = RuntimeOptions { temporary: Some(temporary.path().to_owned()), ..options(2) };
    let path = directory.path().join("graph.oc");
    let runtime = Runtime::new(runtime).unwrap();
    let report = import(&runtime, graph(5).source(), &path, &ImportOptions::default()).unwrap();
    let places = [directory.path().join(&dead), directory.path().join(&empty), temporary.path().join(&dead)];
    let notes = places.map(|path| format!("Removed {}, which a killed process had left.", path.display()));
    assert_eq!(report.notes[..3], notes);
    assert_eq!(names(directory.path()), [alive.as_str(), "graph.oc"]);
    assert_eq!(names(temporary.path()), Vec::<String>::new());
    drop(lock);
}
