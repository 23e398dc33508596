//! Small steps: what they do not do, and that they visit the same lists as all other sweeps.

use crate::common;

use common::{Model, ModelIds, Random, open, open_with, runtime};
use outcore_format::Order;
use outcore_graph::{Direction, EdgeMapper, Frontier, Graph, ListFold, ListPart, Way, fold, scan, scan_pages};
use outcore_image::{Error, ImageOptions};
use outcore_io::backend::{Faults, Sim};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A grid, and a vertex that every third vertex has an edge to, if it is asked for: its list spans pages.
fn grid(side: usize, hub: bool, directed: bool) -> Model {
    let mut edges = Vec::new();
    for v in 0..side * side {
        edges.extend((v % side + 1 < side).then_some((v as u32, v as u32 + 1, 1.0)));
        edges.extend((v / side + 1 < side).then_some((v as u32, (v + side) as u32, 1.0)));
        if hub && v % 3 == 0 {
            let ends = (v as u32, (side * side) as u32);
            edges.push(if directed && v % 2 == 0 { (ends.1, ends.0, 1.0) } else { (ends.0, ends.1, 1.0) });
        }
    }
    edges.sort_by_key(|edge| (edge.0, edge.1));
    let vertices = side * side + usize::from(hub);
    Model { ids: ModelIds::Range(0), vertices, edges, directed, weights: None, order: Order::Input }
}

/// Opens an image and reads all of it into the cache.
fn open_cached(image: &std::path::Path, threads: usize) -> Graph {
    let graph = open(image, threads);
    graph.fill_cache().unwrap();
    for &direction in graph.directions() {
        scan(&graph, direction, Frontier::All, || (), |(), _| ()).unwrap();
    }
    graph
}

/// Vertices in rising order: far apart, side by side, and nearly all of some pages.
fn frontier(random: &mut Random, vertices: usize, round: usize) -> Vec<u32> {
    let count = [1, 3, 60, 400, 3000][round % 5];
    let mut list: Vec<u32> = (0..count).map(|_| random.below(vertices as u64) as u32).collect();
    if round.is_multiple_of(3) {
        let first = random.below(vertices as u64 - 500) as u32;
        list.extend(first..first + [1, 7, 400][round % 9 / 3]);
        list.push(vertices as u32 - 1);
    }
    list.sort_unstable();
    list.dedup();
    list
}

#[test]
fn a_small_step_stays_on_its_thread_and_reads_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let model = grid(150, false, false);
    let graph = open_cached(&model.write(directory.path()), 4);
    let lists = model.lists(Direction::Out);
    let mut random = Random(1);
    for count in [0, 1, 10, 100, 500] {
        let mut list: Vec<u32> = (0..count).map(|_| random.below(22_500) as u32).collect();
        list.sort_unstable();
        list.dedup();
        let (states, caller) = (AtomicUsize::new(0), std::thread::current().id());
        let make = || {
            states.fetch_add(1, Ordering::Relaxed);
            0
        };
        let (found, stats) = scan(&graph, Direction::Out, Frontier::List(&list), make, |sum, part| {
            assert_eq!(std::thread::current().id(), caller);
            *sum += part.neighbours.len();
        })
        .unwrap();
        assert_eq!(states.into_inner(), 1, "a state for every worker");
        assert_eq!(found, [list.iter().map(|&vertex| lists[vertex as usize].len()).sum::<usize>()]);
        assert_eq!((stats.requests, stats.pages_read, stats.bytes_read), (0, 0, 0));
        let pages = Frontier::List(&list).pages(&graph, Direction::Out);
        assert_eq!((stats.pages_wanted, stats.cache_hits), (pages, pages));
    }
}

#[test]
fn small_steps_that_read_again_and_again_read_what_lies_around() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&grid(300, false, false).write(directory.path()), 1);
    let step = |vertex: u32| {
        let (found, stats) = scan(
            &graph,
            Direction::Out,
            Frontier::List(&[vertex]),
            || 0,
            |sum, part| {
                *sum += part.neighbours.len();
            },
        )
        .unwrap();
        assert_eq!(found.iter().sum::<usize>(), if vertex == 0 { 2 } else { 4 });
        stats
    };
    let pages = graph.pages(Direction::Out);
    assert!(pages > 128, "{pages} pages");
    for round in 0..2 {
        graph.fill_cache().unwrap();
        let read: Vec<u64> = (1..299).map(|row| step(row * 300 + row).pages_read).collect();
        assert!(read[..16].iter().all(|&read| read <= 2), "a few steps read what they want: {read:?}");
        assert_eq!(read.iter().sum::<u64>() >= pages - 64 && round == 0, round == 0, "{read:?}");
        assert!(read.iter().sum::<u64>() <= pages, "no page twice: {read:?}");
        assert!(round == 0 || read.iter().all(|&read| read == 0), "all are cached");
        let requests = read.iter().filter(|&&read| read > 0).count();
        assert!(requests as u64 <= 16 + pages / 64 + 2, "{requests} steps had to read");
    }
}

#[test]
fn images_that_are_swept_in_turn_do_not_throw_each_other_out() {
    let directory = tempfile::tempdir().unwrap();
    let images = ["one", "other"].map(|name| {
        let folder = directory.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        grid(500, false, false).write(&folder)
    });
    let runtime = runtime(2);
    let graphs = images.map(|image| Graph::open(&runtime, image, ImageOptions::default()).unwrap());
    let pages = graphs[0].pages(Direction::Out);
    graphs.iter().for_each(|graph| graph.fill_cache().unwrap());
    // Room for about half of the pages of both.
    let all = runtime.budget().available_bytes();
    let _rest = runtime.budget().reserve("all but the cache", all - pages * 4096).unwrap();
    let cached = graphs[0].image().cache_bytes() / 4096;
    assert!(cached > pages * 7 / 8 && cached <= pages, "{cached} pages of {pages}");
    let pass = |graph: &Graph| scan(graph, Direction::Out, Frontier::All, || (), |(), _| ()).unwrap().1.cache_hits;
    for round in 0..4 {
        let hits = graphs.each_ref().map(pass);
        // Both have most of their parts, though together they do not fill sets evenly.
        assert!(round < 2 || hits.iter().all(|&hits| hits > cached / 4), "round {round}: {hits:?} of {cached}");
    }
}

#[test]
fn damaged_pages_are_never_cached() {
    let directory = tempfile::tempdir().unwrap();
    let image = grid(300, false, false).write(directory.path());
    let sum = |graph: &Graph, frontier: Frontier<'_>| {
        let add = |sum: &mut u64, list: ListPart<'_>| {
            *sum += list.neighbours.iter().map(|&v| u64::from(list.vertex) * u64::from(v)).sum::<u64>();
        };
        scan(graph, Direction::Out, frontier, || 0, add).map(|(sums, _)| sums.iter().sum::<u64>())
    };
    let intact = open(&image, 1);
    let (expected, mut refused) = (sum(&intact, Frontier::All).unwrap(), 0);
    // The first steps read the page that they want, later ones what lies around it too.
    for k in 0..24 {
        let graph = open_with(&image, Sim::new(Faults { seed: k, flip_at: Some(k), ..Faults::default() }));
        graph.fill_cache().unwrap();
        for vertex in (1..299).map(|row| row * 300 + row) {
            let one = sum(&intact, Frontier::List(&[vertex])).unwrap();
            let found = sum(&graph, Frontier::List(&[vertex])).or_else(|error| {
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                refused += 1;
                sum(&graph, Frontier::List(&[vertex]))
            });
            assert_eq!(found.unwrap(), one, "operation {k}, vertex {vertex}");
        }
        assert_eq!(sum(&graph, Frontier::All).unwrap(), expected, "operation {k}");
    }
    assert!((16..24).contains(&refused), "{refused} pages were wanted and damaged, the others were read around them");
}

#[test]
fn of_a_page_the_wanted_lists_alone_are_decoded() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open_cached(&grid(150, false, false).write(directory.path()), 2);
    assert!(graph.pages(Direction::Out) < 60, "hundreds of lists in a page");
    let decoded = |list: &[u32]| {
        let count = |sum: &mut usize, lists: &outcore_format::Lists, _: outcore_graph::Weights<'_>| *sum += lists.count;
        let (counts, _) = scan_pages(&graph, Direction::Out, Frontier::List(list), || 0, count).unwrap();
        counts.iter().sum::<usize>()
    };
    let far: Vec<u32> = (0..40).map(|i| i * 555).collect();
    // Behind other pages: the page that was decoded last stays decoded.
    assert_eq!(decoded(&far), far.len());
    assert_eq!(decoded(&[7, 8, 9, 200]), 4);
    // More vertices than a small step has.
    let many: Vec<u32> = (0..1200).map(|i| i * 18).collect();
    assert_eq!(decoded(&many), many.len());
    // Most lists of a page: all of them are decoded, once.
    let all: Vec<u32> = (1..300).collect();
    assert!((all.len()..1500).contains(&decoded(&all)));
}

#[test]
fn the_same_lists_are_visited_whatever_is_cached() {
    let directory = tempfile::tempdir().unwrap();
    for (hub, directed) in [(false, false), (true, false), (true, true)] {
        let model = grid(120, hub, directed);
        let image = model.write(directory.path());
        for (threads, cache_bytes) in [(1, Some(0)), (1, None), (3, Some(40 << 10)), (3, None)] {
            let graph = Graph::open(&runtime(threads), &image, ImageOptions { cache_bytes, ..ImageOptions::default() })
                .unwrap();
            graph.fill_cache().unwrap();
            let mut random = Random(5);
            for round in 0..60 {
                let list = frontier(&mut random, model.vertices, round);
                for &direction in graph.directions() {
                    visits_lists_of(&graph, &model, direction, &list);
                }
            }
        }
    }
}

/// Compares what a scan and a fold over the lists of vertices visit with the model.
fn visits_lists_of(graph: &Graph, model: &Model, direction: Direction, list: &[u32]) {
    let lists = model.lists(direction);
    let visit = |parts: &mut Vec<_>, part: ListPart<'_>| {
        parts.push((part.vertex, part.offset, part.neighbours.to_vec(), part.begins_earlier, part.ends_later));
    };
    let (parts, stats) = scan(graph, direction, Frontier::List(list), Vec::new, visit).unwrap();
    let mut parts = parts.concat();
    parts.sort_unstable();
    let mut vertices: Vec<u32> = parts.iter().map(|part| part.0).collect();
    vertices.dedup();
    assert_eq!(vertices, list);
    for parts in parts.chunk_by(|a, b| a.0 == b.0) {
        let vertex = parts[0].0 as usize;
        assert_eq!(parts[0].1, 0);
        assert!(!parts[0].3 && !parts[parts.len() - 1].4);
        for pair in parts.windows(2) {
            assert!(pair[0].4 && pair[1].3 && pair[0].1 + pair[0].2.len() as u64 == pair[1].1);
        }
        let neighbours = parts.iter().flat_map(|part| &part.2);
        assert!(neighbours.eq(lists[vertex].iter().map(|(neighbour, _)| neighbour)), "{vertex}");
    }
    assert_eq!(stats.pages_wanted, Frontier::List(list).pages(graph, direction));
    let sums = Sums(Mutex::default());
    let ((), _) = fold(graph, direction, Frontier::List(list), &sums).unwrap();
    let mut sums = sums.0.into_inner().unwrap();
    sums.sort_unstable();
    let sum = |&vertex: &u32| (vertex, lists[vertex as usize].iter().map(|&(v, _)| u64::from(v)).sum::<u64>());
    assert_eq!(sums, list.iter().map(sum).collect::<Vec<_>>());
}

/// The sum of every vertex's neighbours.
struct Sums(Mutex<Vec<(u32, u64)>>);

impl ListFold for Sums {
    type Value = u64;
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> u64 {
        list.neighbours.iter().map(|&v| u64::from(v)).sum()
    }

    fn merge(&self, before: u64, after: u64) -> u64 {
        before + after
    }

    fn finish(&self, vertex: u32, value: Option<u64>, (): &mut ()) {
        self.0.lock().unwrap().push((vertex, value.unwrap_or(0)));
    }
}

#[test]
fn a_small_step_goes_on_within_another_and_gives_all_back() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open_cached(&grid(100, false, false).write(directory.path()), 2);
    let one = Frontier::List(&[77]);
    let nested = |(): &mut (), _: ListPart<'_>| scan(&graph, Direction::Out, one, || (), |(), _| ()).map(drop);
    scan(&graph, Direction::Out, one, || (), nested).unwrap();
    let panic = |(): &mut (), part: ListPart<'_>| assert!(part.neighbours.is_empty(), "by intention");
    let panics = || scan(&graph, Direction::Out, one, || (), panic);
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    let again = |sum: &mut usize, part: ListPart<'_>| *sum += part.neighbours.len();
    assert_eq!(scan(&graph, Direction::Out, one, || 0, again).unwrap().0, [3]);
    graph.runtime().cancel().cancel();
    assert!(scan(&graph, Direction::Out, one, || 0, again).is_err());
    graph.runtime().cancel().reset();
    // Closed while a step is under way: it ends, and nothing comes after it.
    scan(&graph, Direction::Out, one, || (), |(), _: ListPart<'_>| graph.close()).unwrap();
    assert!(matches!(scan(&graph, Direction::Out, one, || 0, again), Err(Error::Closed { .. })));
}

#[test]
fn places_of_lists_are_set_aside_when_a_graph_with_many_lists_in_a_page_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let cached = |graph: &Graph| {
        let holders = graph.runtime().budget().holders();
        holders.iter().any(|holder| holder.name.contains("places of lists"))
    };
    let graph = open_cached(&grid(150, false, false).write(directory.path()), 2);
    assert!(cached(&graph));
    graph.close();
    assert!(!cached(&graph));
    let dense = Model::random(5, 500, 60_000, false, true);
    assert!(!cached(&open_cached(&dense.write(directory.path()), 2)));
}

#[test]
fn a_search_on_a_grid_pushes_without_a_look_at_all_vertices() {
    let directory = tempfile::tempdir().unwrap();
    let (side, looks) = (400, AtomicU64::new(0));
    let graph = open_cached(&grid(side, false, false).write(directory.path()), 2);
    let budget = graph.runtime().budget();
    let seen = outcore_graph::Bitmap::new(budget, "test", (side * side) as u64).unwrap();
    struct Search<'a>(&'a outcore_graph::Bitmap, &'a AtomicU64);
    impl outcore_graph::EdgeMap for Search<'_> {
        fn decide(&self, target: u32, _: &outcore_graph::Bitmap) -> outcore_graph::Decision {
            self.1.fetch_add(1, Ordering::Relaxed);
            if self.0.contains(target) { outcore_graph::Decision::Never } else { outcore_graph::Decision::Read }
        }

        fn update(&self, _: u32, target: u32) -> bool {
            self.0.insert(target)
        }
    }
    seen.insert(0);
    let mut mapper = EdgeMapper::new(&graph, 0).unwrap();
    let mut reached = 1;
    for level in 0..2 * side as u64 - 1 {
        assert_eq!(mapper.active(), (level + 1).min(2 * side as u64 - 1 - level));
        let step = mapper.step(&Search(&seen, &looks)).unwrap();
        assert_eq!((step.way, step.sweep.requests), (Way::Push, 0));
        reached += mapper.active();
    }
    assert_eq!((reached, mapper.active(), looks.into_inner()), ((side * side) as u64, 0, 0));
}
