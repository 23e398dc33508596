//! Loops over lists, as a user of the crate writes them: every list of the frontier, whole, in order, whatever pages it
//! spans.

use crate::common;

use common::{Model, Random, open, open_under, runtime};
use outcore_format::{Order, WeightKind};
use outcore_graph::{Bitmap, Direction, Edges, Frontier, Graph, List};
use outcore_image::{Error, ImageOptions, Result};
use outcore_io::backend::{Faults, Sim};

/// A list: the vertex, its neighbours and their weights.
type Whole = (u32, Vec<(u32, f64)>);

fn looped(graph: &Graph, edges: Edges, frontier: Frontier<'_>) -> Result<Vec<Whole>> {
    let mut all = Vec::new();
    for list in graph.lists(edges, frontier) {
        let (vertex, neighbours) = list?;
        let weights = neighbours.weights();
        assert!(!edges.weights || weights.bits().len() == neighbours.len());
        let weight = |i| if edges.weights { weights.real(i) } else { 0.0 };
        all.push((vertex, neighbours.iter().enumerate().map(|(i, &neighbour)| (neighbour, weight(i))).collect()));
    }
    Ok(all)
}

fn in_parallel(graph: &Graph, edges: Edges, frontier: Frontier<'_>) -> Result<Vec<Whole>> {
    let visit = |all: &mut Vec<Whole>, list: List<'_>| {
        let weight = |i| if edges.weights { list.weights.real(i) } else { 0.0 };
        all.push((list.vertex, list.neighbours.iter().enumerate().map(|(i, &other)| (other, weight(i))).collect()));
    };
    let (workers, _) = graph.lists(edges, frontier).par_for_each(Vec::new, visit)?;
    let mut all: Vec<Whole> = workers.into_iter().flatten().collect();
    all.sort_by_key(|list| list.0);
    Ok(all)
}

/// Compares both ways with the model, over all vertices and some.
fn compare(graph: &Graph, model: &Model, direction: Direction, weights: bool) {
    let edges = Edges::new(direction, weights);
    let mut expected: Vec<Whole> = (0..).zip(model.lists(direction)).collect();
    if !weights {
        expected.iter_mut().flat_map(|(_, list)| list).for_each(|(_, weight)| *weight = 0.0);
    }
    let mut random = Random(5);
    for share in [1, 2, 40, 3000] {
        let chosen: Vec<u32> = (0..model.vertices as u32).filter(|&v| v < 2 || random.below(share) == 0).collect();
        let set = Bitmap::new(graph.runtime().budget(), "a test", graph.vertices()).unwrap();
        chosen.iter().for_each(|&vertex| assert!(set.insert(vertex)));
        let expected: Vec<Whole> = chosen.iter().map(|&v| expected[v as usize].clone()).collect();
        let all = (share == 1).then_some(Frontier::All);
        let whole = Frontier::Part { set: &set, first: 0, end: graph.vertices() as u32 };
        for frontier in all.into_iter().chain([Frontier::List(&chosen), Frontier::Set(&set), whole]) {
            assert!(looped(graph, edges, frontier).unwrap() == expected, "loop, {direction:?}, one of {share}");
            assert!(
                in_parallel(graph, edges, frontier).unwrap() == expected,
                "parallel, {direction:?}, one of {share}"
            );
        }
    }
    let count = model.vertices as u32;
    let odd = Bitmap::new(graph.runtime().budget(), "a test", graph.vertices()).unwrap();
    (1..count).step_by(2).for_each(|vertex| assert!(odd.insert(vertex)));
    for (first, end) in [(0, count), (0, 1), (7, 7), (1, count / 2), (count / 2, count / 2 + 1), (count - 1, count)] {
        let expected = &expected[first as usize..end as usize];
        let frontier = Frontier::Range { first, end };
        assert!(looped(graph, edges, frontier).unwrap() == expected, "loop, {direction:?}, {first}..{end}");
        assert!(in_parallel(graph, edges, frontier).unwrap() == expected, "parallel, {direction:?}, {first}..{end}");
        assert!(frontier.pages(graph, direction) <= graph.pages(direction));
        let part = Frontier::Part { set: &odd, first, end };
        let expected: Vec<Whole> = expected.iter().filter(|list| list.0 % 2 == 1).cloned().collect();
        assert!(looped(graph, edges, part).unwrap() == expected, "loop, {direction:?}, odd ones of {first}..{end}");
        assert!(in_parallel(graph, edges, part).unwrap() == expected, "parallel, odd ones of {first}..{end}");
        assert!(part.pages(graph, direction) <= frontier.pages(graph, direction));
    }
}

#[test]
fn loops_see_every_list_of_the_frontier() {
    for (directed, order) in [(true, Order::Input), (false, Order::Degree)] {
        let model = Model::random(7, 20_000, 200_000, directed, true).with_order(order).with_weights(WeightKind::I64);
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        for threads in [1, 3] {
            let graph = open(&image, threads);
            for (direction, weights) in [(Direction::Out, true), (Direction::In, false)] {
                compare(&graph, &model, direction, weights);
            }
        }
    }
}

/// Two hubs with every fourth vertex, and lists of one or two besides.
fn hubs(vertices: u32) -> Model {
    let mut model = Model::random(1, 10, 0, true, false);
    let mut random = Random(9);
    let spread: Vec<u32> = (2..vertices).filter(|_| random.below(4) == 0).collect();
    let edge = |i: usize, v: u32| (i as u32, v, f64::from(v % 10));
    model.edges = (0..2).flat_map(|i| spread.iter().map(move |&v| edge(i, v))).collect();
    model.edges.extend((2..vertices).step_by(1000).map(|v| (v, v - 1, 1.0)));
    model.vertices = vertices as usize;
    model.with_weights(WeightKind::F64)
}

#[test]
fn lists_of_more_than_a_unit_of_pages_come_whole() {
    let model = hubs(3_000_000);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let weighted: Vec<Whole> = (0..).zip(model.lists(Direction::Out)).collect();
    let mut plain = weighted.clone();
    plain.iter_mut().flat_map(|(_, list)| list).for_each(|(_, weight)| *weight = 0.0);
    for threads in [1, 2, 8] {
        let graph = open_under(&image, threads, 300 << 20);
        assert!(graph.pages(Direction::Out) > 150, "found {}", graph.pages(Direction::Out));
        let chosen = [0, 1, 1002, 1003];
        for weights in [false, true] {
            let edges = Edges::new(Direction::Out, weights);
            let expected = if weights { &weighted } else { &plain };
            assert!(&in_parallel(&graph, edges, Frontier::All).unwrap() == expected, "{threads} threads");
            assert!(&looped(&graph, edges, Frontier::All).unwrap() == expected);
            for (first, end) in [(0, 1), (1, 2), (1, 2000), (1000, 1001)] {
                let some = &expected[first as usize..end as usize];
                let frontier = Frontier::Range { first, end };
                assert!(looped(&graph, edges, frontier).unwrap() == some, "{threads} threads, {first}..{end}");
                assert!(in_parallel(&graph, edges, frontier).unwrap() == some);
                assert!(frontier.pages(&graph, Direction::Out) < graph.pages(Direction::Out));
            }
            let some: Vec<Whole> = chosen.iter().map(|&v| expected[v as usize].clone()).collect();
            assert!(looped(&graph, edges, Frontier::List(&chosen)).unwrap() == some);
            assert!(in_parallel(&graph, edges, Frontier::List(&chosen)).unwrap() == some);
        }
    }
}

#[test]
fn lists_that_span_pages_are_reserved_while_they_are_put_together() {
    let model = hubs(3_000_000);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    for threads in [1, 3] {
        let graph = open_under(&image, threads, 300 << 20);
        let free_bytes = graph.runtime().budget().available_bytes();
        let taken_bytes = || {
            let holders = graph.runtime().budget().holders();
            let parts = holders.iter().filter(|holder| holder.name.contains("lists that span pages"));
            parts.map(|holder| holder.bytes).sum::<u64>()
        };
        let visit = |_: &mut (), list: List<'_>| {
            let (taken_bytes, bytes) = (taken_bytes(), 12 * list.neighbours.len() as u64);
            // Parts of the other hub may be there too, with what is made ready for more of them.
            assert!(bytes < 1 << 20 || taken_bytes >= bytes, "{taken_bytes} for a list of {bytes}");
        };
        graph.lists(Edges::new(Direction::Out, true), Frontier::All).par_for_each(|| (), visit).unwrap();
        assert_eq!(graph.runtime().budget().available_bytes(), free_bytes);
        // Lists of one page need none.
        let few = |_: &mut (), _: List<'_>| assert_eq!(taken_bytes(), 0);
        let frontier = Frontier::Range { first: 2000, end: 2_000_000 };
        graph.lists(Edges::new(Direction::Out, true), frontier).par_for_each(|| (), few).unwrap();
    }
}

#[test]
fn lists_may_be_kept_and_loops_nested() {
    let model = Model::random(3, 3000, 40_000, false, false);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 2);
    let expected = model.lists(Direction::Out);
    let lists: Vec<_> = graph.lists(Direction::Out, Frontier::All).into_iter().map(|list| list.unwrap()).collect();
    for (vertex, neighbours) in &lists {
        assert!(neighbours.iter().eq(expected[*vertex as usize].iter().map(|(neighbour, _)| neighbour)));
        assert!(neighbours.weights().is_empty());
    }
    // Wedges that are closed, counted by a loop in a loop.
    let mut closed = 0;
    for list in graph.lists(Direction::Out, Frontier::List(&[0, 1, 2])) {
        let (_, neighbours) = list.unwrap();
        for other in graph.lists(Direction::Out, Frontier::List(&neighbours)) {
            closed += other.unwrap().1.iter().filter(|third| neighbours.binary_search(third).is_ok()).count();
        }
    }
    let has = |a: usize, b: u32| expected[a].binary_search_by_key(&b, |&(neighbour, _)| neighbour).is_ok();
    let wedges = (0..3).flat_map(|v: usize| expected[v].iter().map(move |&(u, _)| (v, u)));
    let by_hand: usize =
        wedges.map(|(v, u)| expected[u as usize].iter().filter(|&&(third, _)| has(v, third)).count()).sum();
    assert_eq!(closed, by_hand);
    let mut lists = graph.lists(Direction::Out, Frontier::All).into_iter();
    assert!(lists.by_ref().all(|list| list.is_ok()) && lists.next().is_none());
    assert_eq!(lists.stats().pages_wanted, graph.pages(Direction::Out));
}

#[test]
fn failures_end_a_loop_and_limits_are_refused_at_its_beginning() {
    let model = hubs(1_000_000);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let plain = Edges::from(Direction::Out);
    for k in 0..1000 {
        let graph = common::open_with(
            &image,
            Sim::new(Faults { fail_at: Some(k), short_reads_percent: 50, ..Faults::default() }),
        );
        let mut lists = graph.lists(plain, Frontier::All).into_iter();
        match lists.find_map(Result::err) {
            Some(Error::File { .. }) => assert!(lists.next().is_none(), "operation {k}"),
            Some(other) => panic!("operation {k}: {other}"),
            None => {
                assert!(k > 3, "only {k} operations");
                break;
            }
        }
    }
    let graph = open_under(&image, 2, 12 << 20);
    let _all = graph.runtime().budget().reserve("a test", graph.runtime().budget().available_bytes() - 1000).unwrap();
    for found in [looped(&graph, plain, Frontier::All), in_parallel(&graph, plain, Frontier::All)] {
        let error = found.unwrap_err().to_string();
        assert!(error.contains("list") && error.contains("memory"), "{error}");
    }
    let directory = tempfile::tempdir().unwrap();
    let empty = Model::random(1, 10, 0, true, false).empty().write(directory.path());
    let graph = Graph::open(&runtime(1), &empty, ImageOptions::default()).unwrap();
    assert!(looped(&graph, plain, Frontier::All).unwrap().is_empty());
    assert!(in_parallel(&graph, plain, Frontier::All).unwrap().is_empty());
}

/// Memory of lists that a loop handed out, as the budget names it.
fn handed_out_bytes(graph: &Graph) -> u64 {
    let holders = graph.runtime().budget().holders();
    holders.iter().filter(|holder| holder.name.starts_with("lists of a loop")).map(|holder| holder.bytes).sum()
}

#[test]
fn lists_that_are_kept_are_reserved_until_they_are_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let model = Model::random(3, 40_000, 900_000, true, false);
    let image = model.write(directory.path());
    let graph = open(&image, 1);
    // Whole batches stay in memory for one list of each.
    let mut all = graph.lists(Direction::Out, Frontier::All).into_iter();
    let mut some: Vec<_> = all.by_ref().map(|list| list.unwrap().1).step_by(100).collect();
    let least_bytes = 4 * model.edges.len() as u64;
    assert!(handed_out_bytes(&graph) >= least_bytes / 2, "{} of {least_bytes}", handed_out_bytes(&graph));
    drop(all);
    assert!(handed_out_bytes(&graph) >= least_bytes, "{} of {least_bytes}", handed_out_bytes(&graph));
    let other = std::thread::scope(|scope| {
        let last = some.pop().unwrap();
        scope.spawn(move || (last.len(), last)).join().unwrap().1
    });
    some.clear();
    assert!(handed_out_bytes(&graph) < least_bytes);
    drop(other);
    assert_eq!(handed_out_bytes(&graph), 0);
    // Without room for them the loop ends with an error, and what is dropped at once takes none.
    let graph = open_under(&image, 1, 24 << 20);
    assert!(graph.lists(Direction::Out, Frontier::All).into_iter().all(|list| list.is_ok()));
    let budget = graph.runtime().budget();
    let _others = budget.reserve("others", budget.available_bytes() - (4 << 20)).unwrap();
    let all: Result<Vec<_>> = graph.lists(Direction::Out, Frontier::All).into_iter().collect();
    assert!(matches!(all, Err(Error::Memory { .. })));
}
