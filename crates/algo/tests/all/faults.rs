//! A device that fails, flips bits, tears pages or reads short: an error that says where, or the right answer, never a
//! wrong one.

use crate::engine::*;
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use outcore_image::Error;
use outcore_io::backend::{Faults, Sim};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No algorithm here makes more operations than this.
const MOST_OPERATIONS: u64 = 2000;

/// A part with hubs, and a long cycle beside it, whose lists components must read.
fn image(directory: &Path, directed: bool) -> PathBuf {
    let (most, cycle) = (4000u64, 10_007);
    let mut edges: Vec<(u32, u32)> =
        (0..50_000).map(|i| ((mix(i) % most) as u32, (mix(!i) % most / (1 + i % 9)) as u32)).collect();
    edges.extend((0..cycle).map(|v| (4000 + v, 4000 + (v + 4001) % cycle)));
    let given = Given { weighted: true, ..Given::new(4000 + cycle, edges, directed) };
    given.image(directory, OrderChoice::Input)
}

/// Opens an image on a device with faults; opening does not count as an operation of the device.
fn open_on(image: &Path, threads: usize, faults: Faults) -> (Graph, Arc<Sim>) {
    let sim = Arc::new(Sim::new(faults).asleep());
    let graph = open(image, threads, Some(sim.clone()), Some(0));
    sim.wake();
    (graph, sim)
}

/// Short reads turn the few reads of a small graph into many operations.
fn faults(seed: u64) -> Faults {
    Faults { seed, short_reads_percent: 50, ..Faults::default() }
}

/// Hands a directed and an undirected image, every algorithm, and its right answer to `check`.
fn for_every_answer(check: impl Fn(&Path, Sample, &[u64])) {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let image = image(directory.path(), directed);
        let whole = open(&image, 1, None, None);
        for sample in Sample::all() {
            check(&image, sample, &sample.answer(&whole, 1).unwrap());
        }
    }
}

/// Lets one operation go wrong, as `faults` says: for probes each of the first, then fewer and fewer, until an
/// algorithm does not make so many; for other samples five, spread over the run. The answer is right or the error is
/// what `check` expects. Returns the number of errors and of operations tried.
fn at_every_operation(
    (image, sample, expected): (&Path, Sample, &[u64]),
    threads: usize,
    faults: impl Fn(u64) -> Faults,
    check: impl Fn(Error, &str),
) -> (u64, u64) {
    let (mut errors, mut tried) = (0, 0);
    // The operations of a run without the fault.
    let operations = {
        let (graph, sim) = open_on(image, threads, faults(u64::MAX));
        same(expected, &sample.answer(&graph, 1).unwrap(), &format!("{sample:?}"));
        sim.operations()
    };
    let mut k = 0;
    while k < MOST_OPERATIONS {
        let what = format!("{sample:?}, {threads} threads, operation {k}");
        let (graph, sim) = open_on(image, threads, faults(k));
        match sample.answer(&graph, 1) {
            Ok(found) => {
                same(expected, &found, &what);
                if sim.operations() <= k {
                    return (errors, tried);
                }
            }
            Err(error) => {
                errors += 1;
                check(error, &what);
                // The device works again, and the graph is as good as new.
                same(expected, &sample.answer(&graph, 1).unwrap(), &what);
            }
        }
        tried += 1;
        k += if sample.is_probe() { 1 + k / 8 } else { (operations / 4).max(1) };
    }
    panic!("{sample:?} makes more than {MOST_OPERATIONS} operations");
}

#[test]
fn the_kth_operation_fails_and_then_the_answer_is_right() {
    let probes = Sample::all().filter(|sample| sample.is_probe()).count();
    assert!(probes == PROBES.len() || is_soak(), "{probes} probes");
    let tried = Cell::new(0);
    for_every_answer(|image, sample, expected| {
        for threads in [1, 2] {
            let fails = |k| Faults { fail_at: Some(k), ..faults(3) };
            let found = at_every_operation((image, sample, expected), threads, fails, |error, what| {
                let text = error.to_string();
                assert!(matches!(error, Error::File { .. }), "{what}: {text}");
                // An index is read as a whole.
                let place = text.contains(".pages") && text.contains("at byte") || text.contains(".index");
                assert!(place, "{what}: {text}");
            });
            assert!(found.0 == found.1 && found.1 > 0, "{sample:?}: {found:?}, a failure was swallowed");
            tried.set(tried.get() + found.1);
        }
    });
    // Two images, one and two threads.
    assert!(tried.get() > 4 * 3 * Sample::all().count() as u64, "{} operations failed", tried.get());
}

#[test]
fn damaged_reads_are_refused_or_do_not_matter() {
    for_every_answer(|image, sample, expected| {
        for flip in [true, false] {
            let chosen = |wanted: bool, k| (wanted == flip).then_some(k);
            // No short reads: bytes of a page that is read again would not show the damage.
            let damages =
                |k| Faults { seed: k, flip_at: chosen(true, k), tear_at: chosen(false, k), ..Faults::default() };
            let (refused, _) = at_every_operation((image, sample, expected), 1, damages, check_damage);
            assert!(refused >= 1, "{sample:?}: damage was noticed {refused} times, flips: {flip}");
        }
    });
}

/// Damage is reported with the page in which it is.
fn check_damage(error: Error, what: &str) {
    let Error::Corrupt { path, offset_bytes, expected, found } = error else { panic!("{what}: {error}") };
    let name = path.to_string_lossy();
    assert!(name.ends_with(".pages"), "{what}: {name}");
    let pages = std::fs::metadata(&path).unwrap().len() / 4096;
    assert!(offset_bytes / 4096 < pages, "{what}: at {offset_bytes} of {pages} pages of {name}");
    assert!(expected.contains(&format!("page {}", offset_bytes / 4096)), "{what}: {expected}");
    assert!(!found.is_empty());
}

#[test]
fn short_and_reordered_reads_change_nothing() {
    for_every_answer(|image, sample, expected| {
        for seed in 0..if sample.is_probe() { 20 } else { 3 } {
            let (graph, _) = open_on(image, 1 + seed as usize % 3, faults(seed));
            let found = sample.answer(&graph, 1).unwrap();
            same(expected, &found, &format!("{sample:?}, seed {seed}"));
        }
    });
}
