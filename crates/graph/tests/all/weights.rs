//! Weights beside lists: every edge comes with its own, whoever reads it, from wherever, in whatever batches.

use crate::common;

use common::{Model, Random, runtime};
use outcore_format::{Index, WeightKind, index_bytes};
use outcore_graph::{Bitmap, Direction, Edges, Frontier, Graph, ListPart, scan};
use outcore_image::{Error, ImageFile, ImageOptions, SweepStats};
use outcore_io::backend::{Faults, Sim};
use std::path::Path;

/// The neighbours of a list and the weights beside them.
type Pairs = Vec<(u32, f64)>;

fn with_weights(direction: Direction) -> Edges {
    Edges::new(direction, true)
}

/// Visits a frontier with weights and puts the parts of lists in order.
fn seen(graph: &Graph, direction: Direction, frontier: Frontier<'_>) -> Result<(Vec<(u32, Pairs)>, SweepStats), Error> {
    let visit = |seen: &mut Vec<(u64, u32, Pairs)>, list: ListPart<'_>| {
        assert!(list.neighbours.is_empty() || list.weights.bits().len() == list.neighbours.len());
        let pairs = list.neighbours.iter().enumerate().map(|(i, &neighbour)| (neighbour, list.weights.real(i)));
        seen.push((list.offset, list.vertex, pairs.collect()));
    };
    let (workers, stats) = scan(graph, with_weights(direction), frontier, Vec::new, visit)?;
    let mut parts: Vec<_> = workers.into_iter().flatten().collect();
    parts.sort_by_key(|&(offset, vertex, _)| (vertex, offset));
    let mut lists: Vec<(u32, Pairs)> = Vec::new();
    for (_, vertex, pairs) in parts {
        match lists.last_mut() {
            Some((last, all)) if *last == vertex => all.extend(pairs),
            _ => lists.push((vertex, pairs)),
        }
    }
    Ok((lists, stats))
}

fn model(directed: bool, kind: WeightKind) -> Model {
    Model::random(11, 30_000, 400_000, directed, true).with_weights(kind)
}

fn open(image: &Path, threads: usize, cache_bytes: u64) -> Graph {
    let graph = Graph::open(
        &runtime(threads),
        image,
        ImageOptions { cache_bytes: Some(cache_bytes), ..ImageOptions::default() },
    )
    .unwrap();
    graph.fill_cache().unwrap();
    graph
}

#[test]
fn every_edge_has_its_weight_in_every_frontier() {
    for (directed, kind) in [(true, WeightKind::F64), (false, WeightKind::I64)] {
        let (model, directory) = (model(directed, kind), tempfile::tempdir().unwrap());
        let image = model.write(directory.path());
        let mut random = Random(3);
        for (threads, cache_bytes) in [(1, 0), (2, 1 << 20), (3, 1 << 28)] {
            let graph = open(&image, threads, cache_bytes);
            for direction in [Direction::Out, Direction::In] {
                let expected: Vec<_> = (0..).zip(model.lists(direction)).collect();
                let longest = expected.iter().map(|(_, list)| list.len()).max();
                assert!(
                    longest > Some(9000) || direction == Direction::In,
                    "a list of several pages, found {longest:?}"
                );
                for round in 0..2 {
                    let (found, stats) = seen(&graph, direction, Frontier::All).unwrap();
                    assert!(found == expected, "{directed} {kind:?} {threads} threads");
                    let pages = graph.pages(direction) + graph.weight_pages(direction);
                    // Nothing is read before; where batches meet, a page of weights is wanted twice.
                    assert!((pages..=pages + pages / 8 + 4).contains(&stats.pages_wanted), "{stats:?}");
                    let cached = round > 0 && cache_bytes == 1 << 28;
                    // Some sets of the cache are full before others are.
                    assert!(!cached || stats.pages_read <= pages / 10, "{stats:?} of {pages}");
                }
                for share in [3, 50, 5000] {
                    let set = Bitmap::new(graph.runtime().budget(), "a test", graph.vertices()).unwrap();
                    let chosen: Vec<u32> = (0..30_000).filter(|_| random.below(share) == 0).collect();
                    chosen.iter().for_each(|&vertex| assert!(set.insert(vertex)));
                    let expected: Vec<_> = chosen.iter().map(|&v| expected[v as usize].clone()).collect();
                    assert!(seen(&graph, direction, Frontier::List(&chosen)).unwrap().0 == expected);
                    assert!(seen(&graph, direction, Frontier::Set(&set)).unwrap().0 == expected);
                }
            }
        }
    }
}

#[test]
fn short_reads_change_nothing_and_damaged_weights_are_refused() {
    let (model, directory) = (model(true, WeightKind::F64), tempfile::tempdir().unwrap());
    let image = model.write(directory.path());
    let expected: Vec<_> = (0..).zip(model.lists(Direction::In)).collect();
    for seed in 0..5 {
        let faults = Faults { seed, short_reads_percent: 30, ..Faults::default() };
        let graph = common::open_with(&image, Sim::new(faults));
        assert!(seen(&graph, Direction::In, Frontier::All).unwrap().0 == expected);
    }
    let path = image.join("edges/in_0.pages");
    let whole = std::fs::read(&path).unwrap();
    for page in [0, 100, whole.len() / 4096 - 1] {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 1234] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        match seen(&open(&image, 2, 0), Direction::In, Frontier::All) {
            Err(Error::Corrupt { path: found, offset_bytes, .. }) => {
                assert_eq!((found, offset_bytes), (path.clone(), page as u64 * 4096));
            }
            other => panic!("{:?}", other.map(|(lists, _)| lists.len())),
        }
    }
}

#[test]
fn weights_that_are_not_there_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let image = Model::random(1, 100, 300, true, false).write(directory.path());
    let graph = open(&image, 1, 0);
    let error = seen(&graph, Direction::Out, Frontier::All).unwrap_err().to_string();
    assert!(error.contains("expected edges with weights, found none"), "{error}");
    assert!(!graph.has_weights(None).unwrap());
    let error = graph.has_weights(Some("cost")).unwrap_err().to_string();
    assert!(error.contains("`cost`") && error.contains("without weights"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    let graph = open(
        &Model::random(1, 100, 300, true, false).empty().with_weights(WeightKind::I64).write(directory.path()),
        1,
        0,
    );
    assert!(graph.has_weights(None).unwrap() && graph.has_weights(Some("weight")).unwrap());
    assert!(seen(&graph, Direction::In, Frontier::All).unwrap().0.is_empty());
}

#[test]
fn what_weights_hold_is_given_back_when_memory_is_needed_and_all_is_when_the_graph_is_closed() {
    let (model, directory) = (model(true, WeightKind::I64), tempfile::tempdir().unwrap());
    let (image, runtime) = (model.write(directory.path()), runtime(2));
    let budget = runtime.budget();
    let empty = budget.available_bytes();
    let graph =
        Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() }).unwrap();
    let opened = budget.available_bytes();
    let (expected, first) = seen(&graph, Direction::Out, Frontier::All).unwrap();
    let used_bytes = opened - budget.free_bytes();
    assert!(used_bytes > 0 && used_bytes <= graph.weight_bytes(Direction::Out), "{used_bytes} bytes");
    assert_eq!(budget.available_bytes(), opened, "nobody reads it");
    graph.make_room("what is free", opened - used_bytes).unwrap();
    assert_eq!(opened - budget.free_bytes(), used_bytes, "there was enough without it");
    let (again, second) = seen(&graph, Direction::Out, Frontier::All).unwrap();
    assert!(again == expected && second.pages_read == first.pages_read, "no pass over the lists comes before");
    // Nobody takes them away from who reads them.
    let visit = |refused: &mut bool, _: ListPart<'_>| *refused |= graph.make_room("all", opened).is_err();
    let (refused, _) = scan(&graph, with_weights(Direction::Out), Frontier::All, || false, visit).unwrap();
    assert!(refused.contains(&true) && opened - budget.free_bytes() == used_bytes);
    graph.make_room("all", opened).unwrap();
    assert_eq!(budget.free_bytes(), opened);
    assert!(seen(&graph, Direction::Out, Frontier::All).unwrap().0 == expected);
    assert!(opened - budget.free_bytes() == used_bytes, "and what was held is held again");
    graph.close();
    assert_eq!(budget.available_bytes(), empty, "held: {:?}", budget.holders());
    let error = seen(&graph, Direction::Out, Frontier::List(&[1, 2])).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
}

#[test]
fn an_index_of_entries_that_does_not_fit_the_lists_is_refused() {
    let (model, directory) = (model(true, WeightKind::I64), tempfile::tempdir().unwrap());
    let image = model.write(directory.path());
    let (file, origin) = (ImageFile::OUT_ENTRIES, ImageFile::OUT_ENTRIES.origin(common::IMAGE_ID));
    let bytes = std::fs::read(file.path(&image)).unwrap();
    let right: Vec<u64> = Index::from_bytes(&origin, &bytes).unwrap().iter_from(0).collect();
    let edges = graph_edges(&image);
    let moved = |by: u64| right.iter().map(|&key| if key > 0 { key + by } else { 0 }).collect::<Vec<_>>();
    let short = right.iter().map(|&key| key.min(right[3])).collect();
    for wrong in [moved(1), moved(edges), short, vec![edges; right.len()]] {
        std::fs::write(file.path(&image), index_bytes(&origin, &wrong)).unwrap();
        for threads in [1, 2] {
            let error = seen(&open(&image, threads, 0), Direction::Out, Frontier::All).expect_err("a wrong index");
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        }
    }
}

fn graph_edges(image: &Path) -> u64 {
    outcore_image::read_manifest(&outcore_io::backend::best(), image).unwrap().edges
}
