//! Vertex programs, as a user of the crate writes them, and compared with the obvious in memory.

mod common;

use common::{Model, Random, open, open_with};
use outcore_format::{Order, WeightKind};
use outcore_graph::generate::{GenerateOptions, source};
use outcore_graph::import::{ImportOptions, import};
use outcore_graph::{
    Bitmap, Direction, Events, Frontier, Graph, List, ProgramOptions, ProgramRun, Vertex, VertexProgram, program_bytes,
    run_program,
};
use outcore_image::{Error, ImageOptions};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{AtomicF64, Runtime, RuntimeOptions};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

fn options() -> ProgramOptions<'static> {
    ProgramOptions::default()
}

/// The neighbours of every vertex.
fn neighbours(model: &Model, direction: Direction) -> Vec<Vec<u32>> {
    model.lists(direction).into_iter().map(|list| list.into_iter().map(|(neighbour, _)| neighbour).collect()).collect()
}

fn model(vertices: usize, edges: usize, directed: bool) -> Model {
    let order = if directed { Order::Input } else { Order::Degree };
    Model::random(7, vertices, edges, directed, true).with_order(order).with_weights(WeightKind::I64)
}

/// Breadth-first search.
struct Search;

impl VertexProgram for Search {
    type State = u32;
    type Message = ();

    fn run(&self, vertex: &mut Vertex<'_, ()>, level: &mut u32) {
        if *level == u32::MAX {
            *level = vertex.iteration();
            vertex.request(Direction::Out);
        }
    }

    fn on_list(&self, vertex: &mut Vertex<'_, ()>, _level: &mut u32, list: List<'_>) {
        vertex.activate(list.neighbours);
    }
}

#[test]
fn a_search_finds_the_levels_and_reads_no_list_twice() {
    for directed in [true, false] {
        let model = model(30_000, 45_000, directed);
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let lists = neighbours(&model, Direction::Out);
        let mut expected = vec![u32::MAX; lists.len()];
        let mut queue = VecDeque::from([3usize]);
        expected[3] = 0;
        while let Some(vertex) = queue.pop_front() {
            for &next in &lists[vertex] {
                if expected[next as usize] == u32::MAX {
                    expected[next as usize] = expected[vertex] + 1;
                    queue.push_back(next as usize);
                }
            }
        }
        let depth = expected.iter().filter(|&&level| level != u32::MAX).max().unwrap();
        for threads in [1, 3] {
            let graph = open(&image, threads);
            let mut levels = vec![u32::MAX; lists.len()];
            let start = Frontier::List(&[3]);
            let run = run_program(&graph, &Search, &mut levels, &ProgramOptions { start, ..options() }).unwrap();
            assert!(levels == expected, "directed {directed}, {threads} threads");
            assert!(run.finished && run.messages == 0 && run.iterations > *depth, "{run:?}");
            assert_eq!(run.stats.steps.len() as u32, run.iterations);
            assert!(run.stats.passes < 1.5, "{}", run.stats.passes);
            assert_eq!(run.stats.steps[0].active, 1);
        }
    }
}

/// PageRank without dangling vertices' share: a vertex gets 0.15 and 0.85 of what its in-neighbours have per edge.
struct Ranks {
    iterations: u32,
}

#[derive(Clone, Copy, Default)]
struct Rank {
    now: f64,
    next: f64,
}

impl VertexProgram for Ranks {
    type State = Rank;
    type Message = f64;
    const COMBINES: bool = true;

    fn run(&self, vertex: &mut Vertex<'_, f64>, _rank: &mut Rank) {
        vertex.request(Direction::Out);
        vertex.request_end();
    }

    fn on_list(&self, vertex: &mut Vertex<'_, f64>, rank: &mut Rank, list: List<'_>) {
        vertex.multicast(list.neighbours, rank.now / list.neighbours.len() as f64);
    }

    fn on_message(&self, _events: &mut Events<'_, f64>, rank: &mut Rank, sum: f64) {
        rank.next = sum;
    }

    fn on_iteration_end(&self, events: &mut Events<'_, f64>, rank: &mut Rank) {
        *rank = Rank { now: 0.15 + 0.85 * rank.next, next: 0.0 };
        events.activate_self();
    }

    fn combine(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    fn end_iteration(&self, iteration: u32, _ranks: &[Rank]) -> bool {
        iteration + 1 < self.iterations
    }
}

#[test]
fn combined_sums_are_the_same_to_the_last_bit_whatever_the_workers_and_the_memory() {
    for directed in [true, false] {
        let model = model(20_000, 400_000, directed);
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let lists = neighbours(&model, Direction::Out);
        let mut expected = vec![1.0; lists.len()];
        for _ in 0..5 {
            let mut sums = vec![0.0; lists.len()];
            for (list, rank) in lists.iter().zip(&expected) {
                list.iter().for_each(|&target| sums[target as usize] += rank / list.len() as f64);
            }
            expected = sums.iter().map(|sum| 0.15 + 0.85 * sum).collect();
        }
        for threads in [1, 2, 5] {
            for message_bytes in [None, Some(100_000), Some(0)] {
                let graph = open(&image, threads);
                let mut ranks = vec![Rank { now: 1.0, next: 0.0 }; lists.len()];
                let options = ProgramOptions { message_bytes, ..options() };
                let run = run_program(&graph, &Ranks { iterations: 5 }, &mut ranks, &options).unwrap();
                let found: Vec<f64> = ranks.iter().map(|rank| rank.now).collect();
                let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
                let first = first.map(|i| (i, found[i], expected[i]));
                assert_eq!(first, None, "directed {directed}, {threads} threads, {message_bytes:?}");
                assert_eq!(run.iterations, 5);
                assert_eq!(run.stats.steps[4].sweep.pages_wanted, graph.pages(Direction::Out));
                let sent: usize = lists.iter().filter(|list| !list.is_empty()).count();
                assert_eq!(run.messages, 5 * sent as u64);
                assert!(message_bytes.is_none() == (run.spilled_bytes == 0), "{run:?}");
            }
        }
    }
}

/// A state that depends on the order of messages, and messages that answer messages.
struct Chain;

fn chained(state: u64, message: u32) -> u64 {
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(message)
}

impl VertexProgram for Chain {
    type State = u64;
    type Message = u32;

    fn run(&self, vertex: &mut Vertex<'_, u32>, _state: &mut u64) {
        vertex.request(Direction::Out);
        let id = vertex.id();
        vertex.send(id / 3, id);
    }

    fn on_list(&self, vertex: &mut Vertex<'_, u32>, _state: &mut u64, list: List<'_>) {
        let id = vertex.id();
        vertex.multicast(list.neighbours, id);
        list.neighbours.iter().rev().for_each(|&target| vertex.send(target, !id));
        if id % 10 == 0 {
            vertex.activate_self();
        }
    }

    fn on_message(&self, events: &mut Events<'_, u32>, state: &mut u64, message: u32) {
        *state = chained(*state, message);
        if events.iteration() == 0 && state.is_multiple_of(16) {
            let id = events.id();
            events.send(id / 2, message ^ 1);
        }
    }
}

#[test]
fn messages_come_in_the_order_of_their_senders_from_memory_and_from_files() {
    let model = model(20_000, 200_000, true);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let lists = neighbours(&model, Direction::Out);
    let mut expected = vec![0u64; lists.len()];
    let mut answers = Vec::new();
    for iteration in 0..2 {
        let active = |id: &u32| iteration == 0 || id.is_multiple_of(10);
        let active: Vec<u32> = (0..lists.len() as u32).filter(active).collect();
        // All turns of a batch come before its lists; this graph is one batch.
        let mut mail: Vec<(u32, u32)> = std::mem::take(&mut answers);
        mail.extend(active.iter().map(|&id| (id / 3, id)));
        for &id in &active {
            let list = &lists[id as usize];
            mail.extend(list.iter().map(|&target| (target, id)));
            mail.extend(list.iter().rev().map(|&target| (target, !id)));
        }
        // A worker delivers all messages to a range of vertices in the order in which they were sent.
        mail.sort_by_key(|(target, _)| target / 4096);
        for (target, message) in mail {
            let state = &mut expected[target as usize];
            *state = chained(*state, message);
            if iteration == 0 && state.is_multiple_of(16) {
                answers.push((target / 2, message ^ 1));
            }
        }
    }
    for threads in [1, 2, 5] {
        for message_bytes in [None, Some(300_000), Some(0)] {
            let graph = open(&image, threads);
            let mut states = vec![0; lists.len()];
            let options = ProgramOptions { max_iterations: Some(2), message_bytes, ..options() };
            let run = run_program(&graph, &Chain, &mut states, &options).unwrap();
            let first = states.iter().zip(&expected).position(|(found, expected)| found != expected);
            assert_eq!(first, None, "{threads} threads, {message_bytes:?}");
            assert_eq!(run.spilled_bytes > 0, message_bytes.is_some(), "{run:?}");
            assert!(!run.finished);
        }
    }
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// The smallest number that reaches a vertex, without regard to direction.
struct Smallest;

impl VertexProgram for Smallest {
    type State = u32;
    type Message = u32;
    const COMBINES: bool = true;

    fn run(&self, vertex: &mut Vertex<'_, u32>, _label: &mut u32) {
        vertex.request(Direction::Out);
        vertex.request(Direction::In);
    }

    fn on_list(&self, vertex: &mut Vertex<'_, u32>, label: &mut u32, list: List<'_>) {
        vertex.multicast(list.neighbours, *label);
    }

    fn on_message(&self, events: &mut Events<'_, u32>, label: &mut u32, message: u32) {
        if message < *label {
            *label = message;
            events.activate_self();
        }
    }

    fn combine(&self, before: u32, after: u32) -> u32 {
        before.min(after)
    }
}

#[test]
fn asynchronous_programs_need_fewer_iterations_and_agree_on_any_number_of_workers() {
    // Long enough for several rounds of batches.
    let model = Model::random(5, 2_500_000, 2_600_000, true, false);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let mut parents: Vec<u32> = (0..model.vertices as u32).collect();
    fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
        while parents[vertex as usize] != vertex {
            parents[vertex as usize] = parents[parents[vertex as usize] as usize];
            vertex = parents[vertex as usize];
        }
        vertex
    }
    for (source, target, _) in model.numbered_edges() {
        let (a, b) = (root(&mut parents, source), root(&mut parents, target));
        parents[a.max(b) as usize] = a.min(b);
    }
    let expected: Vec<u32> = (0..model.vertices as u32).map(|vertex| root(&mut parents, vertex)).collect();
    let within = |threads, asynchronous, max_iterations, message_bytes| {
        let graph = open(&image, threads);
        let mut labels: Vec<u32> = (0..model.vertices as u32).collect();
        let options = ProgramOptions { asynchronous, max_iterations, message_bytes, ..options() };
        let run = run_program(&graph, &Smallest, &mut labels, &options).unwrap();
        (labels, run)
    };
    let run = |threads, asynchronous, max_iterations| within(threads, asynchronous, max_iterations, None);
    let (labels, synchronous) = run(2, false, None);
    assert!(labels == expected);
    let (labels, asynchronous) = run(2, true, None);
    assert!(labels == expected);
    assert!(asynchronous.iterations < synchronous.iterations, "{asynchronous:?} {synchronous:?}");
    let after_one = run(1, true, Some(1)).0;
    assert!(after_one == run(3, true, Some(1)).0);
    // Full memory for messages delivers none early.
    for (threads, message_bytes) in [(1, 1 << 18), (3, 1 << 18), (3, 1 << 21)] {
        assert!(after_one == within(threads, true, Some(1), Some(message_bytes)).0, "{threads} {message_bytes}");
    }
    assert!(run(1, true, Some(2)).0 != run(1, false, Some(2)).0);
}

/// How many edges lead on from the neighbours of a vertex: it asks for the lists of others, and long lists come in
/// parts.
struct Reach {
    parts: AtomicU64,
}

impl VertexProgram for Reach {
    type State = u64;
    type Message = u64;
    const COMBINES: bool = true;

    fn run(&self, vertex: &mut Vertex<'_, u64>, _sum: &mut u64) {
        vertex.request(Direction::Out);
    }

    fn on_list(&self, vertex: &mut Vertex<'_, u64>, _sum: &mut u64, list: List<'_>) {
        let id = vertex.id();
        if list.vertex == id {
            self.parts.fetch_add(u64::from(vertex.is_part()), Ordering::Relaxed);
            vertex.request_of(list.neighbours, Direction::Out);
        } else {
            vertex.send(id, list.neighbours.len() as u64);
        }
    }

    fn on_message(&self, _events: &mut Events<'_, u64>, sum: &mut u64, message: u64) {
        *sum = message;
    }

    fn combine(&self, before: u64, after: u64) -> u64 {
        before + after
    }

    fn part(&self, sum: &u64) -> Option<u64> {
        Some(*sum)
    }
}

#[test]
fn lists_of_any_vertex_come_to_whoever_asks_and_long_ones_in_parts() {
    // A hub whose list takes more than a unit of pages, and vertices with three edges beside it.
    let mut model = Model::random(1, 10, 0, true, false);
    let mut random = Random(9);
    model.vertices = 2_000_000;
    model.edges = (1..2_000_000).filter(|_| random.below(3) == 0).map(|v| (0, v, 1.0)).collect();
    model.edges.extend((1..100_000u32).flat_map(|v| (1..4).map(move |i| (v, (v * 7 * i) % 2_000_000, 1.0))));
    model.edges.retain(|&(source, target, _)| source != target);
    model.edges.sort_unstable_by_key(|&(source, target, _)| (source, target));
    model.edges.dedup_by_key(|&mut (source, target, _)| (source, target));
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let lists = neighbours(&model, Direction::Out);
    let mut start: Vec<u32> = (0..120_000).step_by(7).collect();
    start.sort_unstable();
    let sum = |&vertex: &u32| lists[vertex as usize].iter().map(|&other| lists[other as usize].len() as u64).sum();
    let expected: Vec<u64> = start.iter().map(sum).collect();
    for threads in [1, 3] {
        let graph = open(&image, threads);
        assert!(graph.pages(Direction::Out) > 64);
        let mut sums = vec![0; model.vertices];
        let program = Reach { parts: AtomicU64::new(0) };
        let options = ProgramOptions { start: Frontier::List(&start), ..options() };
        run_program(&graph, &program, &mut sums, &options).unwrap();
        let found: Vec<u64> = start.iter().map(|&vertex| sums[vertex as usize]).collect();
        let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!(first.map(|i| (start[i], found[i], expected[i])), None, "{threads} threads");
        assert!(program.parts.into_inner() > 64, "{threads} threads");
    }
}

/// Triangles below every vertex: keeps its own list while it looks at those of its neighbours.
struct Triangles(AtomicU64);

impl VertexProgram for Triangles {
    type State = Vec<u32>;
    type Message = ();

    fn run(&self, vertex: &mut Vertex<'_, ()>, _higher: &mut Vec<u32>) {
        vertex.request(Direction::Out);
    }

    fn on_list(&self, vertex: &mut Vertex<'_, ()>, higher: &mut Vec<u32>, list: List<'_>) {
        let id = vertex.id();
        if list.vertex == id {
            *higher = list.neighbours.iter().copied().filter(|&other| other > id).collect();
            vertex.request_of(higher, Direction::Out);
        } else {
            let beyond = list.neighbours.iter().filter(|&&third| third > list.vertex);
            let closed = beyond.filter(|third| higher.binary_search(third).is_ok()).count();
            self.0.fetch_add(closed as u64, Ordering::Relaxed);
            if higher.last() == Some(&list.vertex) {
                *higher = Vec::new();
            }
        }
    }
}

#[test]
fn triangles_are_counted_by_asking_for_the_lists_of_neighbours() {
    let model = model(2000, 30_000, false);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 3);
    let lists = neighbours(&model, Direction::Out);
    let mut expected = 0;
    for (v, list) in (0..).zip(&lists) {
        for &u in list.iter().filter(|&&u| u > v) {
            expected += lists[u as usize].iter().filter(|w| **w > u && list.binary_search(w).is_ok()).count() as u64;
        }
    }
    let program = Triangles(AtomicU64::new(0));
    let mut states = vec![Vec::new(); lists.len()];
    let run = run_program(&graph, &program, &mut states, &options()).unwrap();
    assert!(expected > 1000);
    assert_eq!(program.0.into_inner(), expected);
    assert!(states.iter().all(Vec::is_empty) && run.iterations == 1);
}

/// Turns by falling weight of the list; the weights come beside the neighbours.
struct Heaviest {
    turns: Mutex<Vec<u32>>,
    sum: AtomicF64,
}

impl VertexProgram for Heaviest {
    type State = u32;
    type Message = ();
    const ORDERED: bool = true;
    const WEIGHTS: bool = true;

    fn run(&self, vertex: &mut Vertex<'_, ()>, _degree: &mut u32) {
        self.turns.lock().unwrap().push(vertex.id());
        vertex.request(Direction::Out);
    }

    fn on_list(&self, vertex: &mut Vertex<'_, ()>, degree: &mut u32, list: List<'_>) {
        assert!(vertex.direction() == Direction::Out && *degree as usize == list.neighbours.len());
        self.sum.add((0..list.neighbours.len()).map(|i| list.weights.real(i)).sum());
    }

    fn priority(&self, _vertex: u32, degree: &u32) -> u64 {
        u64::from(*degree)
    }
}

#[test]
fn turns_follow_the_priority_and_weights_come_with_the_lists() {
    let model = model(5000, 60_000, true);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 1);
    let lists = model.lists(Direction::Out);
    let mut degrees: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
    let program = Heaviest { turns: Mutex::default(), sum: AtomicF64::default() };
    run_program(&graph, &program, &mut degrees, &options()).unwrap();
    let turns = program.turns.into_inner().unwrap();
    let mut expected: Vec<u32> = (0..lists.len() as u32).collect();
    expected.sort_by_key(|&vertex| (std::cmp::Reverse(lists[vertex as usize].len()), vertex));
    assert!(turns == expected);
    assert_eq!(program.sum.load(), lists.iter().flatten().map(|&(_, weight)| weight).sum::<f64>());
}

/// A program that asks for no list: turns, ends, activation.
struct Clock;

impl VertexProgram for Clock {
    type State = Vec<(char, u32)>;
    type Message = [u32; 2];

    fn run(&self, vertex: &mut Vertex<'_, [u32; 2]>, seen: &mut Self::State) {
        seen.push(('r', vertex.iteration()));
        let id = vertex.id();
        if id % 2 == 0 {
            vertex.request_end();
        }
        vertex.send(id + 1, [id, 5]);
    }

    fn on_message(&self, events: &mut Events<'_, [u32; 2]>, seen: &mut Self::State, message: [u32; 2]) {
        assert_eq!(message, [events.id() - 1, 5]);
        seen.push(('m', events.iteration()));
    }

    fn on_iteration_end(&self, events: &mut Events<'_, [u32; 2]>, seen: &mut Self::State) {
        seen.push(('e', events.iteration()));
        let next = events.id() + 2;
        if next < 8 {
            events.activate(&[next]);
        }
    }
}

#[test]
fn turns_messages_and_ends_happen_when_they_should() {
    let model = model(1000, 100, true);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 2);
    let start = Bitmap::new(graph.runtime().budget(), "a test", 1000).unwrap();
    assert!(start.insert(0) && start.insert(3));
    let mut seen = vec![Vec::new(); 1000];
    let options = ProgramOptions { start: Frontier::Set(&start), ..options() };
    let run = run_program(&graph, &Clock, &mut seen, &options).unwrap();
    assert!(run.finished && run.iterations == 4 && run.messages == 5, "{run:?}");
    assert_eq!(seen[0], [('r', 0), ('e', 0)]);
    assert_eq!(seen[3], [('r', 0), ('m', 1)]);
    assert_eq!(seen[4], [('m', 0), ('r', 2), ('e', 2)]);
    assert_eq!(seen[7], [('m', 3)]);
    assert!(seen[8..].iter().all(Vec::is_empty));
    assert_eq!(run.stats.total.pages_wanted, 0);
    let limited = ProgramOptions { max_iterations: Some(2), ..options };
    assert!(!run_program(&graph, &Clock, &mut vec![Vec::new(); 1000], &limited).unwrap().finished);
    let none = ProgramOptions { start: Frontier::List(&[]), ..options };
    assert!(run_program(&graph, &Clock, &mut vec![Vec::new(); 1000], &none).unwrap().finished);
    let empty = Model::random(1, 10, 0, true, false).empty().write(&directory.path().join("empty"));
    let run = run_program(&open(&empty, 2), &Search, &mut [], &ProgramOptions::default()).unwrap();
    assert!(run.finished && run.iterations == 0);
}

#[test]
fn failures_of_the_device_end_a_program_and_the_next_one_is_right() {
    let model = model(20_000, 100_000, true);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let run = |graph: &Graph| -> Result<(Vec<u64>, ProgramRun), Error> {
        let mut states = vec![0; model.vertices];
        let options = ProgramOptions { max_iterations: Some(2), message_bytes: Some(10_000), ..options() };
        let run = run_program(graph, &Chain, &mut states, &options)?;
        Ok((states, run))
    };
    let (expected, _) = run(&open(&image, 2)).unwrap();
    let mut k = 0;
    loop {
        let sim = Sim::new(Faults { fail_at: Some(k), short_reads_percent: 50, seed: k, ..Faults::default() });
        let graph = open_with(&image, sim);
        match run(&graph) {
            Ok((states, _)) => {
                assert!(states == expected && k > 10, "operation {k}");
                break;
            }
            Err(error) => {
                assert!(matches!(error, Error::File { .. }), "operation {k}: {error}");
                assert!(run(&graph).unwrap().0 == expected, "operation {k}");
            }
        }
        k += 1 + k / 8;
    }
    let full = open_with(&image, Sim::new(Faults { full_after_bytes: Some(50_000), ..Faults::default() }));
    let error = run(&full).unwrap_err().to_string();
    assert!(error.contains("space"), "{error}");
}

/// A worker fills its log many times after the disk is full: that must not keep it busy for ever.
#[test]
fn a_full_disk_ends_a_program_however_much_it_goes_on_to_send() {
    let model = model(20_000, 400_000, true);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let full = open_with(&image, Sim::new(Faults { full_after_bytes: Some(50_000), ..Faults::default() }));
    let options = ProgramOptions { max_iterations: Some(2), message_bytes: Some(10_000), ..options() };
    let error = run_program(&full, &Chain, &mut vec![0; model.vertices], &options).unwrap_err().to_string();
    assert!(error.contains("space"), "{error}");
}

#[test]
fn messages_that_exceed_the_limit_are_refused_before_the_run() {
    let model = model(20_000, 100_000, true);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 2);
    let message_bytes = Some(graph.runtime().budget().limit_bytes());
    let mut ranks = vec![Rank::default(); model.vertices];
    let options = ProgramOptions { message_bytes, ..options() };
    let error = run_program(&graph, &Ranks { iterations: 1 }, &mut ranks, &options).unwrap_err().to_string();
    assert!(error.contains("vertex program") && error.contains("messages"), "{error}");
}

#[test]
fn a_page_cache_leaves_the_memory_for_requests() {
    // Vertices are so many on so few pages that a batch has as many of them as it can.
    let model = model(150_000, 30_000, false);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 2);
    let run = || {
        let mut ranks = vec![Rank::default(); model.vertices];
        let options = ProgramOptions { message_bytes: Some(1 << 16), ..options() };
        run_program(&graph, &Ranks { iterations: 1 }, &mut ranks, &options).map(|_| ranks)
    };
    let budget = graph.runtime().budget();
    // Beside the messages, the places of those that go to a file.
    let needed = program_bytes::<Ranks>(&graph) + (1 << 16) + (1 << 14);
    let _rest = budget.reserve("all but that", budget.available_bytes() - needed).unwrap();
    assert_eq!(run().unwrap().len(), model.vertices);
}

/// Every vertex asks for the lists of many others.
struct Curious {
    turns: AtomicU64,
    /// The turn at which the user asks to stop.
    stop: Option<(u64, Runtime)>,
}

impl VertexProgram for Curious {
    type State = u64;
    type Message = u64;

    fn run(&self, vertex: &mut Vertex<'_, u64>, _sum: &mut u64) {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        if let Some((last, runtime)) = &self.stop {
            if turn == *last {
                runtime.cancel().cancel();
            }
            return;
        }
        let (first, end) = (vertex.id() / 100 * 100, vertex.id() / 100 * 100 + 100);
        vertex.request_of(&(first..end).collect::<Vec<_>>(), Direction::Out);
    }

    fn on_list(&self, _vertex: &mut Vertex<'_, u64>, sum: &mut u64, list: List<'_>) {
        *sum = sum.wrapping_mul(31).wrapping_add(u64::from(list.vertex) << 8 | list.neighbours.len() as u64);
    }
}

#[test]
fn requests_of_many_lists_take_little_memory() {
    let model = model(150_000, 30_000, true);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let run = |free_bytes: Option<u64>| {
        let graph = open(&image, 2);
        let budget = graph.runtime().budget();
        let rest_bytes =
            free_bytes.map_or(0, |bytes| budget.available_bytes() - program_bytes::<Curious>(&graph) - bytes);
        let _rest = budget.reserve("all but that", rest_bytes).unwrap();
        let mut sums = vec![0; model.vertices];
        let options = ProgramOptions { message_bytes: Some(1 << 16), ..options() };
        let program = Curious { turns: AtomicU64::new(0), stop: None };
        run_program(&graph, &program, &mut sums, &options).map(|_| sums)
    };
    let lists = neighbours(&model, Direction::Out);
    let sums = run(None).unwrap();
    let sum = |vertex: usize| {
        let group = vertex / 100 * 100..vertex / 100 * 100 + 100;
        group.fold(0u64, |sum, v| sum.wrapping_mul(31).wrapping_add((v as u64) << 8 | lists[v].len() as u64))
    };
    assert!((0..model.vertices).all(|vertex| sums[vertex] == sum(vertex)));
    // All requests of a batch together would take 80 MB.
    assert!(run(Some(3 << 20)).unwrap() == sums);
}

#[test]
fn a_request_to_stop_is_heard_within_a_batch() {
    let model = model(150_000, 30_000, true);
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 2);
    let stop = Some((5000, graph.runtime().clone()));
    let program = Curious { turns: AtomicU64::new(0), stop };
    let error = run_program(&graph, &program, &mut vec![0; model.vertices], &options()).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    let turns = program.turns.into_inner();
    assert!(turns < 5001 + 2 * 1024 + 2, "{turns} turns");
}

#[test]
#[should_panic(expected = "of 1000")]
fn vertices_that_do_not_exist_are_refused() {
    struct Wrong;
    impl VertexProgram for Wrong {
        type State = ();
        type Message = ();
        fn run(&self, vertex: &mut Vertex<'_, ()>, _state: &mut ()) {
            vertex.activate(&[1000]);
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model(1000, 100, true).write(directory.path()), 1);
    let _ = run_program(&graph, &Wrong, &mut [(); 1000], &options());
}

/// A runtime of its own, whatever other tests hold.
fn runtime(mib: u64) -> Runtime {
    let (memory_bytes, threads) = (Some(mib << 20), Some(2));
    let options = RuntimeOptions { memory_bytes, beside_process: true, threads, ..RuntimeOptions::default() };
    Runtime::new(options).unwrap()
}

/// The program of `docs/howto/write-an-algorithm.md`, over an image larger than the memory, with default options:
/// requests, states and messages find room beside a page cache that has all the rest.
#[test]
fn programs_work_out_of_core_by_default() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("kronecker.oc");
    let generated = GenerateOptions { scale: 17, edge_factor: 160, ..GenerateOptions::default() };
    let undirected = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    import(&runtime(256), source(&generated).unwrap(), &image, &undirected).unwrap();
    let ranks_within = |mib| {
        let graph = Graph::open(&runtime(mib), &image, ImageOptions::default())?;
        let mut ranks = vec![Rank { now: 1.0, next: 0.0 }; graph.vertices() as usize];
        let run = run_program(&graph, &Ranks { iterations: 3 }, &mut ranks, &options())?;
        assert_eq!(run.iterations, 3);
        let read = run.stats.total.bytes_read;
        Ok::<_, Error>((ranks.iter().map(|rank| rank.now.to_bits()).collect::<Vec<_>>(), read, graph.image_bytes()))
    };
    let (expected, _, image_bytes) = ranks_within(256).unwrap();
    // The first limit that is not refused is below the size of the image, and none above it is refused or changes a
    // bit.
    let least = (10..64).find(|&mib| ranks_within(mib).is_ok()).expect("a limit that is enough");
    assert!(least << 20 < image_bytes, "{least} MiB for an image of {image_bytes} bytes");
    for mib in [least, least + 1, least + 2, least + 4, least + 8, 2 * least] {
        let (ranks, read, _) = ranks_within(mib).unwrap_or_else(|error| panic!("{mib} MiB: {error}"));
        assert!(ranks == expected, "with {mib} MiB");
        assert!(mib << 20 > image_bytes || read > image_bytes, "{read} bytes read with {mib} MiB");
    }
}

#[test]
fn the_limit_that_a_refused_program_asks_for_is_enough() {
    let model = model(200_000, 20_000, false);
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let run = |limit_bytes: u64| {
        let options = RuntimeOptions {
            memory_bytes: Some(limit_bytes),
            beside_process: true,
            threads: Some(1),
            ..RuntimeOptions::default()
        };
        let graph = Graph::open(&Runtime::new(options).unwrap(), &image, ImageOptions::default()).unwrap();
        run_program(&graph, &Ranks { iterations: 2 }, &mut vec![Rank::default(); model.vertices], &self::options())
    };
    // The states alone are 3.2 million bytes.
    for too_little in [11 << 20, 13 << 20] {
        let Err(Error::Memory { needed_bytes, advised_bytes, .. }) = run(too_little) else {
            panic!("{too_little} bytes are too little")
        };
        assert!(needed_bytes > 16 * model.vertices as u64);
        run(advised_bytes).map(|_| ()).unwrap_or_else(|error| panic!("{advised_bytes} bytes: {error}"));
    }
}

/// Two graphs of one runtime work at the same time, beside a result that is kept, and find what each finds alone.
#[test]
fn graphs_of_one_runtime_share_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let generated = GenerateOptions { scale: 15, edge_factor: 220, ..GenerateOptions::default() };
    let image = directory.path().join("kronecker.oc");
    import(&runtime(256), source(&generated).unwrap(), &image, &ImportOptions::default()).unwrap();
    let run = |graph: &Graph| {
        let mut ranks = vec![Rank { now: 1.0, next: 0.0 }; graph.vertices() as usize];
        run_program(graph, &Ranks { iterations: 2 }, &mut ranks, &options()).unwrap();
        ranks.iter().map(|rank| rank.now.to_bits()).collect::<Vec<_>>()
    };
    let open = |runtime: &Runtime| Graph::open(runtime, &image, ImageOptions::default()).unwrap();
    let expected = run(&open(&runtime(256)));
    let shared = runtime(42);
    let (one, other) = (open(&shared), open(&shared));
    let result = outcore_io::Buffer::<u64>::zeroed(one.runtime().budget(), "a result", 100_000).unwrap();
    // Both runs fit whenever each looks at what is available: a run takes its own memory and a quarter of the rest.
    let (available, own) = (shared.budget().available_bytes(), program_bytes::<Ranks>(&one));
    assert!(2 * (own + (available - own) / 4) < available, "{available} bytes for two runs of {own} bytes");
    std::thread::scope(|scope| {
        let runs = [&one, &other].map(|graph| scope.spawn(|| (0..2).map(|_| run(graph)).collect::<Vec<_>>()));
        runs.into_iter().flat_map(|run| run.join().unwrap()).for_each(|ranks| assert!(ranks == expected));
    });
    let text = shared.budget().reserve("all of it", 34 << 20).unwrap_err().to_string();
    assert!(
        text.contains("a result of ") && text.contains("kronecker.oc") && !text.contains("by the page cache"),
        "{text}"
    );
    // Beside full caches there is memory for whoever needs it; closed graphs give it all back.
    one.fill_cache().unwrap();
    other.fill_cache().unwrap();
    assert!(
        one.image().cache_bytes() > 0 && other.image().cache_bytes() == one.image().cache_bytes(),
        "both have the same cache"
    );
    let budget = shared.budget();
    let cached = one.image().cache_bytes();
    drop(Bitmap::new(budget, "a set", 8 * (budget.free_bytes() + (1 << 20))).unwrap());
    assert!(one.image().cache_bytes() < cached, "it shrank");
    drop(open(&shared).degrees(Direction::Out).unwrap());
    [&one, &other].into_iter().for_each(Graph::close);
    let all = budget.reserve("what closed graphs gave back", 32 << 20);
    drop(all.unwrap_or_else(|error| panic!("{error}")));
    let error =
        run_program(&one, &Ranks { iterations: 1 }, &mut vec![Rank::default(); 1 << 15], &options()).unwrap_err();
    assert!(error.to_string().contains("was closed"), "{error}");
    drop(result);
}
