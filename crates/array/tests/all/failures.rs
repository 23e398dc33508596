//! Devices that fail, full disks and damaged bytes while arrays are computed and stored: an error or the right result,
//! and nothing left behind.

use outcore_array::kernel::{Binary, Fold};
use outcore_array::{Array, ElementType, Goal, ImageGoal, ImageSource, InMemory, NpySource, compute};
use outcore_array::{Distribution, Random};
use outcore_image::{Error, MANIFEST, Result};
use outcore_io::Runtime;
use outcore_io::backend::{Faults, Sim};
use outcore_testkit::runtime_under;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROWS: u64 = 20_000;
const COLUMNS: u64 = 12;

/// A runtime on a device that fails by a plan.
fn runtime_on(sim: Arc<Sim>) -> Runtime {
    runtime_under(2, 32 << 20, Some(sim))
}

/// A runtime on a device that never fails; what is synced there waits for no disk.
fn runtime() -> Runtime {
    runtime_on(Arc::new(Sim::new(Faults::default())))
}

fn normal(rows: u64, columns: u64, seed: u64) -> Array {
    Array::random(vec![rows, columns], Random { distribution: Distribution::Normal, seed }).unwrap()
}

fn store(runtime: &Runtime, array: &Array, path: &Path) {
    let (array, path) = (array.clone(), path.to_owned());
    let image = ImageGoal { array, path, replace: true, names: None, made_by: "a test" };
    compute(runtime, &[Goal::Image(image)]).unwrap();
}

/// Opens an image, or a file of NumPy's.
fn open(runtime: &Runtime, path: &Path) -> Result<Array> {
    if path.extension().is_some_and(|ending| ending == "npy") {
        return Array::from_source(Arc::new(NpySource::open(runtime, path)?));
    }
    Array::from_source(Arc::new(ImageSource::open(runtime, path)?))
}

fn bits(values: &[InMemory]) -> Vec<Vec<u8>> {
    values.iter().map(InMemory::to_vec).collect()
}

fn all_of(path: &Path) -> Vec<u8> {
    let runtime = runtime();
    let array = open(&runtime, path).unwrap();
    compute(&runtime, &[Goal::Value(array)]).unwrap().values[0].to_vec()
}

/// A folder with the same array in an image and in files of NumPy's, by rows and by columns.
struct Given {
    folder: tempfile::TempDir,
}

const SOURCES: [&str; 3] = ["x.oc", "rows.npy", "columns.npy"];

impl Given {
    fn new() -> Self {
        let given = Given { folder: tempfile::tempdir().unwrap() };
        let x = normal(ROWS, COLUMNS, 1);
        store(&runtime(), &x, &given.path("x.oc"));
        let rows = all_of(&given.path("x.oc"));
        let element = |row: u64, column: u64| rows[(row * COLUMNS + column) as usize * 8..][..8].to_vec();
        let columns = (0..COLUMNS).flat_map(|column| (0..ROWS).flat_map(move |row| element(row, column)));
        for (name, by_columns, bytes) in
            [("rows.npy", "False", rows.clone()), ("columns.npy", "True", columns.collect())]
        {
            let shape = format!("'shape': ({ROWS}, {COLUMNS})");
            let head = format!("{{'descr': '<f8', 'fortran_order': {by_columns}, {shape}, }}\n");
            let len = (head.len() as u16).to_le_bytes();
            let file = [b"\x93NUMPY\x01\0".as_slice(), &len, head.as_bytes(), &bytes].concat();
            std::fs::write(given.path(name), file).unwrap();
        }
        given
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts an older image at the target, or makes sure that there is none.
    fn prepare(&self, old: Option<&Array>) -> Option<Vec<u8>> {
        let target = self.path("y.oc");
        let _ = std::fs::remove_dir_all(&target);
        old.map(|old| {
            store(&runtime(), old, &target);
            all_of(&target)
        })
    }

    /// Computes a sum over a source, and stores twice the source, on a device.
    fn run(&self, source: &str, sim: &Arc<Sim>, replace: bool) -> Result<Vec<Vec<u8>>> {
        let runtime = runtime_on(Arc::clone(sim));
        let available_bytes = runtime.budget().available_bytes();
        let outcome = open(&runtime, &self.path(source)).and_then(|x| {
            let sum = x.fold(Fold::Sum, &[0], false)?;
            let (array, path) = (x.binary(Binary::Add, &x)?, self.path("y.oc"));
            let image = ImageGoal { array, path, replace, names: None, made_by: "a test" };
            Ok(bits(&compute(&runtime, &[Goal::Value(sum), Goal::Image(image)])?.values))
        });
        assert_eq!(runtime.budget().available_bytes(), available_bytes, "{source}: memory is given back");
        outcome
    }

    /// Nothing is in the folder but the sources and the image, if there is to be one: `hidden` says how many leftovers
    /// may lie beside them, which could not be removed.
    fn assert_nothing_left(&self, has_image: bool, hidden: usize, what: &str) {
        let names = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let (left, mut there): (Vec<String>, Vec<String>) =
            names.map(|name| name.into_string().unwrap()).partition(|name| name.starts_with('.'));
        there.sort();
        let mut expected: Vec<&str> = SOURCES.to_vec();
        expected.extend(has_image.then_some("y.oc"));
        expected.sort_unstable();
        assert_eq!(there, expected, "{what}");
        assert!(left.len() <= hidden, "{what}: {left:?}");
    }
}

#[test]
fn the_kth_failure_is_an_error_and_leaves_nothing() {
    let (given, old) = (Given::new(), normal(3000, 2, 9));
    let expected = given.run("x.oc", &Arc::new(Sim::new(Faults::default())), true).unwrap();
    let doubled = all_of(&given.path("y.oc"));
    for (source, replace) in [("x.oc", false), ("x.oc", true), ("rows.npy", true), ("columns.npy", false)] {
        let mut failed = 0;
        for k in 0.. {
            let before = given.prepare(replace.then_some(&old));
            let faults =
                Faults { fail_at: Some(k), short_reads_percent: 20, short_writes_percent: 20, ..Faults::default() };
            let sim = Arc::new(Sim::new(Faults { seed: k, ..faults }));
            let outcome = given.run(source, &sim, replace);
            let (has_failed, what) = (sim.operations() > k, format!("{source}, replace {replace}, operation {k}"));
            given.assert_nothing_left(replace || outcome.is_ok(), usize::from(has_failed), &what);
            match outcome {
                Ok(found) => {
                    // A failure to remove the old image need not be reported.
                    assert!(!has_failed || replace, "{what}: nobody said that it failed");
                    assert_eq!(found, expected, "{what}");
                    assert!(all_of(&given.path("y.oc")) == doubled, "{what}");
                }
                Err(error) => {
                    assert!(matches!(error, Error::File { .. }), "{what}: {error}");
                    assert!(error.to_string().contains("Input/output error"), "{what}: {error}");
                    failed += 1;
                    if let Some(before) = before {
                        assert!(all_of(&given.path("y.oc")) == before, "{what}");
                    }
                }
            }
            if !has_failed {
                assert_eq!(sim.unsynced(), Vec::<PathBuf>::new(), "{what}");
                break;
            }
        }
        println!("{source}, replace {replace}: {failed} operations failed, one at a time");
        assert!(failed >= 18, "only {failed} operations");
    }
}

#[test]
fn a_disk_that_is_full_after_any_number_of_bytes_leaves_nothing() {
    let (given, old) = (Given::new(), normal(3000, 2, 9));
    given.prepare(None);
    // 480 pages and the manifest.
    let most = 480 * 4096 + 200;
    for full_after_bytes in (0..most).step_by(300_001).chain([most - 1, 1, 4095, 4096]) {
        for (source, replace) in [("x.oc", false), ("rows.npy", true)] {
            let before = given.prepare(replace.then_some(&old));
            let faults = Faults { full_after_bytes: Some(full_after_bytes), ..Faults::default() };
            let what = format!("{source}, replace {replace}, full after {full_after_bytes} bytes");
            let sim = Arc::new(Sim::new(Faults { short_writes_percent: 30, seed: full_after_bytes, ..faults }));
            let error = given.run(source, &sim, replace).expect_err(&what).to_string();
            assert!(error.contains("No space left"), "{what}: {error}");
            given.assert_nothing_left(replace, 0, &what);
            assert!(before.is_none_or(|before| all_of(&given.path("y.oc")) == before), "{what}");
        }
    }
}

#[test]
fn damage_on_the_way_from_the_device_is_never_a_wrong_result() {
    let given = Given::new();
    let expected = given.run("x.oc", &Arc::new(Sim::new(Faults::default())), false).unwrap();
    let (mut refused, mut right) = (0, 0);
    for (k, is_torn) in (0..8).flat_map(|k| [(k, false), (k, true)]) {
        given.prepare(None);
        let (flip_at, tear_at) = if is_torn { (None, Some(k)) } else { (Some(k), None) };
        let sim = Arc::new(Sim::new(Faults { flip_at, tear_at, seed: k, ..Faults::default() }));
        match given.run("x.oc", &sim, false) {
            Ok(found) => {
                assert_eq!(found, expected, "{k}");
                right += 1;
            }
            Err(Error::Corrupt { .. }) => refused += 1,
            Err(error) => panic!("{k}: {error}"),
        }
    }
    println!("{refused} reads were damaged and refused, {right} runs had none");
    assert!(refused >= 2 && right >= 2, "{refused} refused, {right} right");
}

/// Sums of some columns, an extreme and a product: nothing that needs all pages but the last one.
fn results(runtime: &Runtime, path: &Path) -> Result<Vec<Result<Vec<u8>>>> {
    let x = open(runtime, path)?;
    let row = outcore_array::AxisPart::Range { start: 0, step: 1, count: x.shape()[0] };
    let column = |column| x.slice(&[Some(row), Some(outcore_array::AxisPart::Index(column))]);
    let goals = [
        column(0)?.cast(ElementType::Int64)?.fold(Fold::Sum, &[0], false)?,
        column(1)?.cast(ElementType::Int64)?.fold(Fold::Max, &[0], false)?,
        x.cast(ElementType::Float64)?.permute(&[1, 0])?.matmul(&x.cast(ElementType::Float64)?)?,
        x.clone(),
    ];
    Ok(goals.into_iter().map(|goal| Ok(compute(runtime, &[Goal::Value(goal)])?.values[0].to_vec())).collect())
}

#[test]
fn every_flipped_byte_of_an_image_is_found_by_a_check_and_never_gives_a_wrong_result() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    for (element, rows) in [(ElementType::Bool, 4070), (ElementType::Int16, 30), (ElementType::Float64, 509)] {
        let path = folder.path().join(element.name());
        let scaled = normal(rows, 2, 4).binary(Binary::Multiply, &normal(rows, 2, 5)).unwrap();
        store(&runtime, &scaled.cast(element).unwrap(), &path);
        let expected: Vec<Vec<u8>> = results(&runtime, &path).unwrap().into_iter().map(Result::unwrap).collect();
        let mut refused = 0;
        for name in [MANIFEST, "values.pages"] {
            let good = std::fs::read(path.join(name)).unwrap();
            // All bytes of the manifest and of the heads of pages, and a sample of the others.
            for at in (0..good.len()).filter(|at| name == MANIFEST || at % 4096 < 33 || at % 509 == 0) {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << (at % 8);
                std::fs::write(path.join(name), &bytes).unwrap();
                let what = format!("{}, byte {at} of {name}", element.name());
                let checked = ImageSource::open(&runtime, &path).and_then(|source| source.image().check());
                assert!(checked.expect_err(&what).to_string().contains(name), "{what}");
                let Ok(found) = results(&runtime, &path) else { continue };
                for (found, expected) in found.into_iter().zip(&expected) {
                    match found {
                        Ok(found) => assert!(found == *expected, "{what}"),
                        Err(error) => {
                            assert!(matches!(error, Error::Corrupt { .. }), "{what}: {error}");
                            refused += 1;
                        }
                    }
                }
            }
            std::fs::write(path.join(name), &good).unwrap();
        }
        assert!(refused > 50, "{}: {refused} results were refused", element.name());
    }
}
