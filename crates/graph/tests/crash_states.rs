//! A power failure at any moment leaves the old image, the new one, or a clear absence; and what was said to be done is
//! done. All states that `sim` knows are looked at, and every sync is shown to be needed: without it a state is wrong.
//!
//! Targets may be in any state that a process that runs on sees at some moment; from the return of the last operation
//! on only what was made may be there. Images are compared byte by byte, and every one that may be there is opened and
//! checked.

mod given;

use given::{Given, Id};
use outcore_format::ElementType;
use outcore_graph::generate::{self, GenerateOptions};
use outcore_graph::import::{ImportOptions, import};
use outcore_graph::{Graph, check, export};
use outcore_image::{AnyManifest, DenseHead, DenseImage, DenseWriter, read_any_manifest};
use outcore_image::{Error, ImageOptions, write_file};
use outcore_io::backend::{Backend, CrashStates, Faults, Operation, Sim, State, Trace};
use outcore_io::{Buffer, Runtime, RuntimeOptions};
use outcore_table::Column;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const IMAGE: &str = "graph.oc";
/// The least number of states that are looked at.
const LEAST_STATES: u64 = 20_000;

fn runtime(backend: Option<Arc<dyn Backend>>) -> Runtime {
    let options = RuntimeOptions {
        memory_bytes: Some(64 << 20),
        beside_process: true,
        threads: Some(1),
        backend,
        ..Default::default()
    };
    Runtime::new(options).unwrap()
}

/// A graph whose image has all kinds of files: columns of ids and of weights, both directions.
fn given(seed: usize) -> Given {
    let id = |i: usize| Id::Text(format!("vertex {i}"));
    Given {
        edges: (0..90).map(|i| (id(i * i * seed % 31), id(i * 7 % 23))).collect(),
        weights: Some((0..90).map(|i| (i * seed) as f64 / 2.0).collect()),
        strings: true,
        block_edges: 25,
        ..Given::default()
    }
}

fn import_into(runtime: &Runtime, seed: usize, directory: &Path) -> outcore_image::Result<()> {
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    import(runtime, given(seed).source(), &directory.join(IMAGE), &options).map(drop)
}

/// Stores an array of six pages by the writer that results of computations are stored with.
fn store_into(runtime: &Runtime, seed: u64, directory: &Path) -> outcore_image::Result<()> {
    let (element, made_by) = (ElementType::Int16, Some("persist".to_owned()));
    let head = DenseHead { element, rows: 5000, columns: 2, dimensions: 2, names: None, made_by };
    let writer = DenseWriter::create(runtime, &directory.join(IMAGE), head, true)?;
    let shape = writer.manifest().shape();
    let mut worker = writer.worker()?;
    for place in (0..shape.pages()).map(|page| shape.place(page)) {
        let rows = place.first_row..place.first_row + place.rows as u64;
        let values: Vec<u8> = rows.flat_map(|row| ((row * seed + place.column) as u16).to_le_bytes()).collect();
        worker.put(place.first_row, place.column, &values)?;
    }
    worker.finish()?;
    writer.commit()
}

/// Opens an image and checks all of it.
fn open_and_check(image: &Path) -> outcore_image::Result<()> {
    if let AnyManifest::Array(_) = read_any_manifest(&outcore_io::backend::best(), image)? {
        return DenseImage::open(&runtime(None), image)?.check().map(drop);
    }
    let graph = Graph::open(&runtime(None), image, ImageOptions::default())?;
    check(&graph).map(drop)
}

/// A directory under way: what is done to it is recorded.
struct Stage {
    directory: TempDir,
    sim: Arc<Sim>,
    targets: Vec<&'static str>,
}

impl Stage {
    fn new(faults: Faults, targets: &[&'static str], prepare: impl Fn(&Path)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        prepare(directory.path());
        let sim = Arc::new(Sim::recording(faults, directory.path()).unwrap());
        Stage { directory, sim, targets: targets.to_vec() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn runtime(&self) -> Runtime {
        runtime(Some(Arc::clone(&self.sim) as Arc<dyn Backend>))
    }

    fn import(&self, seed: usize) -> outcore_image::Result<()> {
        import_into(&self.runtime(), seed, self.directory.path())
    }

    fn store(&self, seed: u64) -> outcore_image::Result<()> {
        store_into(&self.runtime(), seed, self.directory.path())
    }

    /// The process ends, and another one goes on with other faults.
    fn restart(&mut self, faults: Faults) {
        self.sim = Arc::new(self.sim.again(faults));
    }

    /// The recorded operations and the states they allow; `promised`: the last one returned and said that it is done.
    fn finish(&self, promised: bool) -> Scene {
        let trace = self.sim.trace().unwrap();
        let length = trace.operations().len();
        let mut seen = Vec::new();
        let mut states = CrashStates::new(&trace).subsets(0);
        for done in 0..=length {
            // Everything that was done is there: the second of all states.
            let mut now = Vec::new();
            let mut number = 0;
            states.visit(done, |state| {
                now = self.targets.iter().map(|target| state.fingerprint(Path::new(target))).collect();
                number += 1;
                number < 2
            });
            seen.push(now);
        }
        let promise = promised.then(|| (length, seen[length].clone()));
        let targets = self.targets.clone();
        Scene { allowed: seen, targets, promise, syncs: self.sim.syncs(), trace: trace.clone() }
    }
}

/// Operations on a directory, and the states that are allowed afterwards.
struct Scene {
    trace: Trace,
    targets: Vec<&'static str>,
    /// Fingerprints of the targets after every number of operations.
    allowed: Vec<Vec<Option<u64>>>,
    /// From which number of operations on they are what they are at the end.
    promise: Option<(usize, Vec<Option<u64>>)>,
    syncs: u64,
}

impl Scene {
    /// Whether a state may not be after so many operations. Targets are looked at together: an older file beside a
    /// newer one may be wrong though both are whole.
    fn is_wrong(&self, done: usize, state: &State) -> bool {
        let found: Vec<_> = self.targets.iter().map(|target| state.fingerprint(Path::new(target))).collect();
        match &self.promise {
            Some((from, last)) if done >= *from => found != *last,
            _ if self.allowed[..=done].contains(&found) => {
                // Where names cannot be exchanged an image has none for a moment; it lies beside, whole.
                let is_gone = found[0].is_none() && self.allowed[0][0].is_some();
                is_gone && !self.lies_beside(state)
            }
            _ => true,
        }
    }

    /// Whether the old image is whole, and has a name by which the next import knows it.
    fn lies_beside(&self, state: &State) -> bool {
        let mut beside = state.paths().filter(|path| path.to_string_lossy().ends_with(".outcore-replaced"));
        beside.any(|path| state.fingerprint(path) == self.allowed[0][0])
    }

    /// Looks at all states from a number of operations on; returns how many there are, and how many that are different.
    fn assert_sound(&self, name: &str, from: usize, subsets: u64) -> (u64, u64) {
        let mut states = CrashStates::new(&self.trace).subsets(subsets);
        let (mut count, mut distinct, mut opened) = (0, HashSet::new(), HashSet::new());
        for done in from..=self.trace.operations().len() {
            count += states.visit(done, |state| {
                if !distinct.insert((done, state.fingerprint(Path::new("")))) {
                    return true;
                }
                assert!(!self.is_wrong(done, state), "{name}: {}", state.story());
                let image = state.fingerprint(Path::new(IMAGE));
                if image.is_some() && opened.insert(image) {
                    open_state(state).unwrap();
                }
                true
            });
        }
        let distinct: HashSet<_> = distinct.into_iter().map(|(_, state)| state).collect();
        (count, distinct.len() as u64)
    }

    /// Whether a user can tell that some state is wrong: an output that is another one, an image that is lost, or one
    /// that does not open, or that `check` refuses.
    fn has_wrong_state(&self) -> bool {
        let mut states = CrashStates::new(&self.trace).subsets(4);
        let mut tried = HashSet::new();
        // Late failures are wrong most often.
        (0..=self.trace.operations().len()).rev().any(|done| {
            let mut is_wrong = false;
            states.visit(done, |state| {
                is_wrong = self.is_wrong(done, state)
                    && match state.fingerprint(Path::new(IMAGE)) {
                        None => true,
                        // An image of before is sound, but it is not the one that was said to be there.
                        image if self.allowed.iter().any(|seen| seen[0] == image) => true,
                        image => tried.insert(image) && open_state(state).is_err(),
                    };
                !is_wrong
            });
            is_wrong
        })
    }
}

fn open_state(state: &State) -> outcore_image::Result<()> {
    let directory = tempfile::tempdir().unwrap();
    state.write(Path::new(IMAGE), directory.path()).unwrap();
    open_and_check(&directory.path().join(IMAGE))
}

fn old_image(directory: &Path) {
    import_into(&runtime(None), 1, directory).unwrap();
}

fn new_image(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &[IMAGE], |_| ());
    stage.import(3).unwrap();
    stage.finish(true)
}

fn replaced_image(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &[IMAGE], old_image);
    stage.import(3).unwrap();
    stage.finish(true)
}

fn replaced_without_exchange(faults: Faults) -> Scene {
    replaced_image(Faults { no_exchange: true, ..faults })
}

fn new_array(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &[IMAGE], |_| ());
    stage.store(3).unwrap();
    stage.finish(true)
}

fn replaced_array(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &[IMAGE], |directory| store_into(&runtime(None), 1, directory).unwrap());
    stage.store(3).unwrap();
    stage.finish(true)
}

/// An array that takes the place of a graph, whose files lie in folders.
fn array_for_graph(faults: Faults) -> Scene {
    let stage = Stage::new(Faults { no_exchange: true, ..faults }, &[IMAGE], old_image);
    stage.store(3).unwrap();
    stage.finish(true)
}

fn written_file(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &["stats.json"], |path| std::fs::write(path.join("stats.json"), "old").unwrap());
    write_file(&stage.runtime(), &stage.path("stats.json"), &[b'x'; 5000]).unwrap();
    stage.finish(true)
}

/// An import whose last sync, which makes the new name durable, fails: the names are exchanged back.
fn failed_sync(faults: Faults) -> Scene {
    let fail_at = Some(kill_points().1);
    let stage = Stage::new(Faults { fail_at, ..faults }, &[IMAGE], old_image);
    let error = stage.import(3).unwrap_err().to_string();
    assert!(error.contains("cannot sync"), "{error}");
    stage.finish(false)
}

/// An image elsewhere, and a graph that is open with the device of a stage.
fn graph_for(stage: &Stage) -> (TempDir, Graph) {
    let directory = tempfile::tempdir().unwrap();
    old_image(directory.path());
    let graph = Graph::open(&stage.runtime(), directory.path().join(IMAGE), ImageOptions::default()).unwrap();
    (directory, graph)
}

fn output(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &["ranks.csv"], |path| std::fs::write(path.join("ranks.csv"), "old").unwrap());
    let (_image, graph) = graph_for(&stage);
    let ranks = Buffer::<f64>::zeroed(graph.runtime().budget(), "test", graph.vertices() as usize).unwrap();
    let columns = vec![("rank".to_owned(), Column::Real(Arc::new(ranks)))];
    graph.table(columns).write(stage.path("ranks.csv")).unwrap();
    stage.finish(true)
}

fn exported(faults: Faults) -> Scene {
    // The file of vertices that an earlier export left beside is removed.
    let stage = Stage::new(faults, &["g.csv", "g.csv.vertices"], |path| {
        ["g.csv", "g.csv.vertices"].iter().for_each(|name| std::fs::write(path.join(name), "old").unwrap());
    });
    let (_image, graph) = graph_for(&stage);
    export(&graph, stage.path("g.csv")).unwrap();
    assert!(!stage.path("g.csv.vertices").exists());
    stage.finish(true)
}

fn generated(faults: Faults) -> Scene {
    let stage = Stage::new(faults, &["g.el"], |path| std::fs::write(path.join("g.el"), "old").unwrap());
    let options = GenerateOptions { scale: 6, ..GenerateOptions::default() };
    generate::write(&stage.runtime(), &options, &ImportOptions::default(), &stage.path("g.el")).unwrap();
    stage.finish(true)
}

/// An import that is killed between giving the new image its name and making that durable, and the next one.
fn killed(faults: Faults) -> Scene {
    killed_at(kill_points().1, Faults::default(), faults).0
}

/// An import that is killed while the old image has no name, where names cannot be exchanged, and the next one.
fn killed_without_exchange(faults: Faults) -> Scene {
    let no_exchange = Faults { no_exchange: true, ..Faults::default() };
    killed_at(kill_points_of(no_exchange.clone()).1, no_exchange, Faults { no_exchange: true, ..faults }).0
}

/// An import that is killed and the next one, where the syncs of the killed import are those that are forgotten.
fn forgetful_and_killed(faults: Faults) -> Scene {
    let (scene, syncs) = killed_at(kill_points().1, faults, Faults::default());
    Scene { syncs, ..scene }
}

/// How many operations an import makes that replaces an image, and which follows the exchange of names.
fn kill_points() -> (u64, u64) {
    kill_points_of(Faults::default())
}

/// How many operations such an import makes with faults, and which follows the exchange of names or, where names
/// cannot be exchanged, the moment when the old image has none.
fn kill_points_of(faults: Faults) -> (u64, u64) {
    let stage = Stage::new(faults, &[IMAGE], old_image);
    stage.import(3).unwrap();
    let operations = stage.sim.operations();
    let trace = stage.sim.trace().unwrap();
    let is_exchange = |operation: &Operation| {
        matches!(operation, Operation::Exchange { .. }) || matches!(operation, Operation::Rename { .. })
    };
    let exchange = trace.operations().iter().position(is_exchange);
    // Behind the exchange there are changes only, which are all in the trace.
    (operations, operations - (trace.operations().len() - exchange.unwrap() - 1) as u64)
}

/// Also returns how many syncs the killed import asked for.
fn killed_at(kill: u64, faults: Faults, next_faults: Faults) -> (Scene, u64) {
    let mut stage = Stage::new(Faults { dead_from: Some(kill), ..faults }, &[IMAGE], old_image);
    // An import that is killed while the old image is removed has said that the new one is there.
    let _ = stage.import(3);
    let syncs = stage.sim.syncs();
    stage.restart(next_faults);
    stage.import(5).unwrap();
    (stage.finish(true), syncs)
}

type Maker = fn(Faults) -> Scene;
const SCENES: [(&str, Maker); 13] = [
    ("a new image", new_image),
    ("a replaced image", replaced_image),
    ("a replaced image where names cannot be exchanged", replaced_without_exchange),
    ("a new array", new_array),
    ("a replaced array", replaced_array),
    ("an array in the place of a graph where names cannot be exchanged", array_for_graph),
    ("a small file", written_file),
    ("an output", output),
    ("an export", exported),
    ("a generated graph", generated),
    ("an import whose last sync fails", failed_sync),
    ("an import after one that was killed", killed),
    ("the same, by the syncs of the killed one", forgetful_and_killed),
];

/// The sync before leftovers are removed is needed only where the old image is one of them, and here it is not.
const PUT_BACK: (&str, Maker) =
    ("an import after one that was killed where names cannot be exchanged", killed_without_exchange);

#[test]
fn every_crash_state_is_the_old_image_the_new_one_or_a_clear_error() {
    let (mut states, mut distinct) = (0, 0);
    for (name, make) in SCENES[..12].iter().chain(&[PUT_BACK]) {
        let scene = make(Faults::default());
        let (all, different) = scene.assert_sound(name, 0, 64);
        println!(
            "{name}: {} operations, {} syncs, {all} states, {different} different",
            scene.trace.operations().len(),
            scene.syncs
        );
        if !name.starts_with("a new ") && !name.contains("cannot be exchanged") && scene.targets.len() == 1 {
            assert!(scene.allowed.iter().all(|seen| seen[0].is_some()), "{name}: there is a target at any moment");
        }
        states += all;
        distinct += different;
    }
    println!("{states} states after a power failure, {distinct} different: all sound");
    assert!(states >= LEAST_STATES && distinct >= LEAST_STATES / 2, "{states} states, {distinct} different");
}

#[test]
fn without_any_sync_some_state_is_wrong() {
    for (name, make) in SCENES {
        let syncs = make(Faults::default()).syncs;
        for forgotten in 0..syncs {
            let scene = make(Faults { forget_sync: Some(forgotten), ..Faults::default() });
            assert!(scene.has_wrong_state(), "{name}: nothing is wrong without sync {forgotten} of {syncs}");
        }
        println!("{name}: each of {syncs} syncs is needed");
    }
}

#[test]
fn a_failure_or_a_kill_before_a_power_failure_damages_nothing() {
    let (operations, _) = kill_points();
    let (mut states, tried) = (0, 40);
    for k in operations - tried..operations {
        let stage = Stage::new(Faults { fail_at: Some(k), ..Faults::default() }, &[IMAGE], old_image);
        let promised = stage.import(3).is_ok();
        let scene = stage.finish(promised);
        let from = scene.trace.operations().len().saturating_sub(25);
        states += scene.assert_sound(&format!("operation {k} failed"), from, 4).0;
        let (scene, _) = killed_at(k, Faults::default(), Faults::default());
        states += scene.assert_sound(&format!("killed at operation {k}"), 0, 2).0;
    }
    println!("{states} states after {tried} failures and {tried} kills: all sound");
}

/// Calls `visit` with the directory of every fortieth state that a power failure could leave of a replaced image.
fn visit_replaced(faults: Faults, mut visit: impl FnMut(&State, &Path)) {
    let scene = replaced_image(faults);
    let mut states = CrashStates::new(&scene.trace).subsets(1);
    let mut distinct = HashSet::new();
    for done in 0..=scene.trace.operations().len() {
        states.visit(done, |state| {
            let is_gone = state.fingerprint(Path::new(IMAGE)).is_none();
            if distinct.insert(state.fingerprint(Path::new(""))) && (is_gone || distinct.len() % 40 == 1) {
                let directory = tempfile::tempdir().unwrap();
                state.write(Path::new(""), directory.path()).unwrap();
                visit(state, directory.path());
            }
            true
        });
    }
}

#[test]
fn the_next_import_removes_what_a_power_failure_left() {
    for no_exchange in [false, true] {
        let mut tried = 0;
        visit_replaced(Faults { no_exchange, ..Faults::default() }, |state, directory| {
            import_into(&runtime(None), 7, directory).unwrap();
            let names: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, [IMAGE], "{}", state.story());
            open_and_check(&directory.join(IMAGE)).unwrap();
            tried += 1;
        });
        println!("{tried} states were imported over");
        assert!(tried > 5);
    }
}

#[test]
fn an_image_that_lies_beside_its_name_gets_it_back() {
    let mut put_back = 0;
    visit_replaced(Faults { no_exchange: true, ..Faults::default() }, |state, directory| {
        let is_gone = !directory.join(IMAGE).exists();
        // It may not be replaced, so the import does nothing but that.
        let imported = import(&runtime(None), given(7).source(), &directory.join(IMAGE), &ImportOptions::default());
        assert!(matches!(imported, Err(Error::Exists { is_image: true, .. })), "{}", state.story());
        open_and_check(&directory.join(IMAGE)).unwrap();
        put_back += u64::from(is_gone);
    });
    println!("{put_back} images were put back");
    assert!(put_back > 0);
}
