//! Edge maps as a user of the crate writes them: a search, and shortest paths over weights.

use crate::common;

use common::{Model, open};
use outcore_format::{Order, WeightKind};
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{ImportOptions, import};
use outcore_graph::{Bitmap, Decision, Direction, EdgeMap, EdgeMapper, Graph, Way};
use outcore_image::ImageOptions;
use outcore_io::{AtomicF64, Runtime, RuntimeOptions};
use std::sync::atomic::{AtomicU32, Ordering};

/// The level of every vertex, by whatever way is cheaper.
struct Levels {
    levels: Vec<AtomicU32>,
    now: AtomicU32,
    /// Vertices that updates refuse.
    is_closed: fn(u32) -> bool,
}

impl EdgeMap for Levels {
    fn decide(&self, target: u32, _active: &Bitmap) -> Decision {
        let reached = self.levels[target as usize].load(Ordering::Relaxed) != u32::MAX;
        if reached { Decision::Never } else { Decision::Read }
    }

    fn update(&self, _source: u32, target: u32) -> bool {
        if (self.is_closed)(target) {
            return false;
        }
        let next = self.now.load(Ordering::Relaxed) + 1;
        let level = self.levels[target as usize].fetch_min(next, Ordering::Relaxed);
        level >= next
    }
}

#[test]
fn a_map_reaches_what_a_search_in_memory_does_and_goes_both_ways() {
    let is_closed = |vertex: u32| vertex % 7 == 3;
    for directed in [true, false] {
        let model = Model::random(3, 30_000, 400_000, directed, false).with_order(Order::Degree);
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let lists = model.lists(Direction::Out);
        let mut expected = vec![u32::MAX; lists.len()];
        expected[5] = 0;
        let mut front = vec![5u32];
        for level in 1.. {
            let next: Vec<u32> = front.iter().flat_map(|&v| &lists[v as usize]).map(|&(v, _)| v).collect();
            front = next.into_iter().filter(|&v| expected[v as usize] == u32::MAX && !is_closed(v)).collect();
            front.iter().for_each(|&v| expected[v as usize] = level);
            if front.is_empty() {
                break;
            }
        }
        for threads in [1, 3] {
            let graph = open(&image, threads);
            let levels: Vec<AtomicU32> = lists.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
            levels[5].store(0, Ordering::Relaxed);
            let map = Levels { levels, now: AtomicU32::new(0), is_closed };
            let mut mapper = EdgeMapper::new(&graph, 5).unwrap();
            let (mut ways, mut entered) = (Vec::new(), 0);
            while mapper.active() > 0 {
                entered += mapper.active();
                ways.push(mapper.step(&map).unwrap().way);
                map.now.fetch_add(1, Ordering::Relaxed);
            }
            let found: Vec<u32> = map.levels.iter().map(|level| level.load(Ordering::Relaxed)).collect();
            assert!(found == expected, "directed {directed}, {threads} threads");
            assert_eq!(entered, found.iter().filter(|&&level| level != u32::MAX).count() as u64);
            assert!(ways.contains(&Way::Push) && ways.contains(&Way::Pull), "{ways:?}");
        }
    }
}

#[test]
fn wide_frontiers_of_short_lists_push() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("grid.oc");
    let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
    let grid = GenerateOptions { shape: Shape::Grid, scale: 20, ..GenerateOptions::default() };
    import(&runtime, source(&grid).unwrap(), &image, &ImportOptions::default()).unwrap();
    let graph = Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
    let levels = (0..graph.vertices()).map(|_| AtomicU32::new(u32::MAX)).collect();
    let map = Levels { levels, now: AtomicU32::new(0), is_closed: |_| false };
    let mut mapper = EdgeMapper::new(&graph, 0).unwrap();
    map.levels[0].store(0, Ordering::Relaxed);
    // From each page, four neighbours of a vertex or two are pushed; to pull, most pages would be read in every step.
    for level in 0..600 {
        assert!(mapper.active() > level / 2);
        assert_eq!(mapper.step(&map).unwrap().way, Way::Push, "level {level}");
        map.now.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn weights_come_with_the_edges_of_a_step() {
    for kind in [WeightKind::I64, WeightKind::F64] {
        let model = Model::random(4, 5000, 30_000, true, false).with_weights(kind);
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let lists = model.lists(Direction::Out);
        // Distances by the largest weight on the way, which may be negative.
        let mut expected = vec![f64::INFINITY; lists.len()];
        expected[1] = f64::NEG_INFINITY;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (vertex, list) in lists.iter().enumerate() {
                for &(target, weight) in list {
                    let through = expected[vertex].max(weight);
                    if expected[vertex] < f64::INFINITY && through < expected[target as usize] {
                        expected[target as usize] = through;
                        changed = true;
                    }
                }
            }
        }
        let graph = open(&image, 3);
        let distances: Vec<AtomicF64> = lists.iter().map(|_| AtomicF64::from(f64::INFINITY)).collect();
        distances[1].store(f64::NEG_INFINITY);
        let mut mapper = EdgeMapper::new(&graph, 1).unwrap();
        while mapper.active() > 0 {
            mapper
                .weighted_step(|source, target, weight, next| {
                    let through = distances[source as usize].load().max(weight);
                    if distances[target as usize].lower(through) {
                        next.activate(target);
                    }
                })
                .unwrap();
        }
        let found: Vec<f64> = distances.iter().map(AtomicF64::load).collect();
        assert!(found == expected, "{kind:?}");
        assert!(expected.iter().filter(|distance| distance.is_finite()).count() > 1000);
    }
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&Model::random(4, 50, 300, true, false).write(directory.path()), 1);
    let error = EdgeMapper::new(&graph, 1).unwrap().weighted_step(|_, _, _, _| ()).unwrap_err().to_string();
    assert!(error.contains("weights"), "{error}");
}
