//! Parts of algorithms by themselves, and sums that rounding must not touch.

use crate::engine::*;
use outcore_algo::internal::{COUNTED, by_counting, by_sorting};
use outcore_algo::{DegreeCentralityOptions, DegreeEdges, degree_centrality};
use outcore_graph::import::OrderChoice;
use outcore_io::{Budget, Buffer};
use outcore_testkit::random_below;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

#[test]
fn whole_centralities_have_no_rounding_error() {
    // Three edges to each of 49 others are 3, and 3 * 49 * (1 / 49) is not. So it is with 345 numbers of others.
    let is_rounded = |&others: &u32| {
        let share = 1.0 / f64::from(others);
        (0..4).any(|times| f64::from(times * others) * share != f64::from(times))
    };
    let rounded: Vec<u32> = (4..2000).filter(is_rounded).collect();
    assert_eq!((rounded.len(), &rounded[..6]), (345, &[49, 91, 93, 98, 99, 103][..]));
    let directory = tempfile::tempdir().unwrap();
    for others in (4..7).chain(rounded.into_iter().step_by(23)) {
        // As many edges as there are others, so many times, to the last vertex.
        let edges = (0..4).flat_map(|times| (0..times * others).map(move |_| (times, others)));
        let given = Given { parallel: true, ..Given::new(others + 1, edges.collect(), true) };
        let graph = open(&given.image(directory.path(), OrderChoice::Input), 1, None, Some(0));
        let found = degree_centrality(&graph, &DegreeCentralityOptions { edges: DegreeEdges::Out }).unwrap();
        same(&[0.0, 1.0, 2.0, 3.0, 0.0], &found.centralities[..5], &format!("{others} others"));
    }
}

#[test]
fn counting_and_sorting_find_the_smallest_most_frequent_label() {
    let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
    let mut counter = Buffer::zeroed(&budget, "test", 2 * COUNTED).unwrap();
    let mut state = 1u64;
    let mut draw = |below: u64| random_below(&mut state, below);
    for round in 0..2000 {
        let (count, below) = (1 + draw(1 << (round % 12)), 1 + draw(1 << (round % 9)));
        // The greatest label that there can be, too.
        let values: Vec<u32> = (0..count).map(|_| u32::MAX - 1 - draw(below) as u32 * 4096).collect();
        let mut counts = BTreeMap::new();
        values.iter().for_each(|&value| *counts.entry(value).or_insert(0) += 1);
        let expected = counts.iter().rev().max_by_key(|(_, count)| **count).map(|(&value, _)| value);
        let labels = || values.iter().map(|&value| AtomicU32::new(value)).collect::<Vec<_>>();
        assert_eq!(expected, Some(by_counting(&mut labels(), &mut counter)));
        assert_eq!(expected, by_sorting(&mut labels()));
        assert!(counter.iter().all(|place| *place == [0; 2]));
    }
}
