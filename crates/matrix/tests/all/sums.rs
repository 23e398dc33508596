//! Sums over entries, beside those of an obvious program.

use crate::common::{matrix, random, runtime};
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, OrderChoice, import, open};
use outcore_graph::{Direction, Graph};
use outcore_image::{ImageOptions, StatsBuilder};
use outcore_io::Runtime;
use outcore_matrix::EntrySums;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn image(file: &Path, is_matrix: bool, options: &ImportOptions) -> PathBuf {
    let (runtime, image) = (runtime(2, None), file.with_extension("oc"));
    let source = open(&runtime, &[file.to_owned()], &InputOptions { is_matrix, ..InputOptions::default() }).unwrap();
    import(&runtime, source, &image, options).unwrap();
    image
}

fn sums(runtime: &Runtime, image: &Path, values: bool) -> EntrySums {
    let matrix = matrix(runtime, image, values);
    let mut stats = StatsBuilder::start();
    let sums = matrix.entry_sums(&mut stats).unwrap();
    assert_eq!(matrix.sum_of_squares().unwrap().to_bits(), sums.sum_of_squares.to_bits());
    sums
}

#[test]
fn sums_are_those_of_an_obvious_program() {
    let folder = tempfile::tempdir().unwrap();
    let (file, runtime) = (folder.path().join("given.mtx"), runtime(2, None));
    for (rows, columns, count, is_symmetric) in
        [(1, 1, 0, false), (0, 0, 0, false), (5000, 300, 60_000, false), (9, 9, 30, true), (4000, 4000, 90_000, true)]
    {
        // Small whole numbers, whose sums are exact in any order, and a full row.
        let (mut entries, mut state) = (BTreeMap::new(), rows + count);
        for i in 0..count {
            for (row, column) in [(random(&mut state, rows), random(&mut state, columns)), (rows - 1, i % columns)] {
                let place = if is_symmetric { (row.max(column), row.min(column)) } else { (row, column) };
                entries.insert(place, random(&mut state, 9) as f64 - 3.0);
            }
        }
        for kind in ["real", "pattern"] {
            let symmetry = if is_symmetric { "symmetric" } else { "general" };
            let mut text = format!("%%MatrixMarket matrix coordinate {kind} {symmetry}\n");
            text += &format!("{rows} {columns} {}\n", entries.len());
            let mut expected = EntrySums::default();
            for (&(row, column), &value) in &entries {
                let value = if kind == "real" { value } else { 1.0 };
                let copies = if is_symmetric && row != column { 2.0 } else { 1.0 };
                expected.sum += copies * value;
                expected.sum_of_squares += copies * value * value;
                expected.least = expected.least.min(value);
                expected.greatest = expected.greatest.max(value.abs());
                let value = if kind == "real" { format!("{value:?}") } else { String::new() };
                text += &format!("{} {} {value}\n", row + 1, column + 1);
            }
            std::fs::write(&file, text).unwrap();
            for order in [OrderChoice::Degree, OrderChoice::Input] {
                let options = ImportOptions { order, replace: true, allow_empty: true, ..ImportOptions::default() };
                let image = image(&file, true, &options);
                assert_eq!(sums(&runtime, &image, kind == "real"), expected, "{rows} x {columns} {kind} {order:?}");
            }
        }
    }
}

#[test]
fn parallel_edges_are_one_entry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("given.wel");
    let (mut places, mut text, mut state) = (BTreeMap::<(u64, u64), f64>::new(), String::new(), 7);
    let mut least = f64::INFINITY;
    for i in 0..120_000u64 {
        // A vertex whose list spans units, with an edge that spans pages, and others with few edges.
        let (from, to) = match i % 3 {
            0 => (0, 5),
            1 => (0, random(&mut state, 3000)),
            _ => (random(&mut state, 3000), random(&mut state, 3000)),
        };
        let value = random(&mut state, 1 << 20) as f64 - 1000.0;
        *places.entry((from, to)).or_default() += value;
        least = least.min(value);
        text += &format!("{from} {to} {value}\n");
    }
    std::fs::write(&file, text).unwrap();
    let keep = ImportOptions { duplicates: Duplicates::Keep, directed: Some(true), ..ImportOptions::default() };
    let image = image(&file, false, &keep);
    let graph = Graph::open(&runtime(1, None), &image, ImageOptions::default()).unwrap();
    assert!(graph.manifest().parallel_edges && !graph.lists_over_pages(Direction::Out).is_empty());
    let found = sums(&runtime(2, None), &image, true);
    assert_eq!((found.sum, found.least), (places.values().sum(), least));
    let expected: f64 = places.values().map(|value| value * value).sum();
    assert!((found.sum_of_squares / expected - 1.0).abs() < 1e-13, "{} {expected}", found.sum_of_squares);
    for (threads, memory_bytes) in [(1, None), (3, Some(32 << 20)), (8, None)] {
        let again = sums(&runtime(threads, memory_bytes), &image, true);
        assert_eq!(again.sum_of_squares.to_bits(), found.sum_of_squares.to_bits(), "{threads}");
        assert_eq!(again, found);
    }
}
