//! Mistakes of a user of the crate, and failures in functions of their own: errors that say so, after which the graph
//! is as usable as before.

use crate::common;

use common::{Model, open, open_with};
use outcore_format::{Order, WeightKind};
use outcore_graph::{
    Bitmap, Direction, EdgeBatches, EdgeData, EdgeMapper, Events, Frontier, Graph, Labels, List, ListFold, ListPart,
    NO_LABEL, ProgramOptions, Relaxer, Vertex, VertexProgram, fold, run_program, scan, vertex_map,
};
use outcore_image::{Error, ImageOptions, Result};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Buffer, CancelFlag};
use outcore_table::Column;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const VERTICES: usize = 4000;

fn image(directory: &Path) -> std::path::PathBuf {
    Model::random(11, VERTICES, 60_000, true, false).with_order(Order::Input).write(directory)
}

/// How many edges leave the vertices of a frontier.
struct Degrees;

impl ListFold for Degrees {
    type Value = u64;
    type Total = u64;

    fn part(&self, list: ListPart<'_>) -> u64 {
        list.neighbours.len() as u64
    }

    fn merge(&self, before: u64, after: u64) -> u64 {
        before + after
    }

    fn finish(&self, _vertex: u32, value: Option<u64>, total: &mut u64) {
        *total += value.unwrap_or(0);
    }

    fn add(&self, total: &mut u64, later: u64) {
        *total += later;
    }
}

/// A fold that cannot go on behind a vertex.
struct Fails {
    at: u32,
    failed: AtomicBool,
}

impl ListFold for Fails {
    type Value = ();
    type Total = ();

    fn part(&self, _list: ListPart<'_>) {}

    fn merge(&self, (): (), (): ()) {}

    fn finish(&self, vertex: u32, _value: Option<()>, (): &mut ()) {
        self.failed.fetch_or(vertex == self.at, Ordering::Relaxed);
    }

    fn check(&self) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) { Err(Error::custom("seventy-seven")) } else { Ok(()) }
    }
}

/// A search by pushes from a vertex: how many it reaches.
fn reached(graph: &Graph, mapper: &mut EdgeMapper<'_>, start: u32) -> Result<u64> {
    mapper.restart(Direction::Out, start)?;
    let seen = Bitmap::new(graph.runtime().budget(), "seen", graph.vertices())?;
    seen.insert(start);
    while mapper.active() > 0 {
        mapper.push_step(|_, target, next| {
            if seen.insert(target) {
                next.activate(target);
            }
        })?;
    }
    Ok(seen.count())
}

/// Does nothing.
struct Idle;

impl VertexProgram for Idle {
    type State = ();
    type Message = u32;

    fn run(&self, _vertex: &mut Vertex<'_, u32>, _state: &mut ()) {}
}

fn every_way(graph: &Graph, frontier: Frontier<'_>) -> Vec<Result<()>> {
    let mut states = vec![(); graph.vertices() as usize];
    let lists = || graph.lists(Direction::Out, frontier);
    vec![
        scan(graph, Direction::Out, frontier, || (), |(), _| {}).map(drop),
        fold(graph, Direction::Out, frontier, &Degrees).map(drop),
        lists().par_for_each(|| (), |(), _| {}).map(drop),
        lists().into_iter().next().map_or(Ok(()), |list| list.map(drop)),
        run_program(graph, &Idle, &mut states, &ProgramOptions { start: frontier, ..ProgramOptions::default() })
            .map(drop),
    ]
}

/// An operation of a caller on a graph.
type Operation<'a> = Box<dyn FnMut() + 'a>;

#[test]
fn frontiers_that_cannot_be_are_refused_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 2);
    let end = VERTICES as u32;
    for list in [&[5, 3][..], &[3, 3], &[0, 7, 7, 9]] {
        for outcome in every_way(&graph, Frontier::List(list)) {
            let error = outcome.unwrap_err();
            let text = error.to_string();
            assert!(
                matches!(error, Error::NotRising { before, after } if before >= after) && text.contains("sort"),
                "{text}"
            );
        }
    }
    let larger = Bitmap::new(graph.runtime().budget(), "test", 2 * VERTICES as u64).unwrap();
    let own = Bitmap::new(graph.runtime().budget(), "test", VERTICES as u64).unwrap();
    own.insert(end - 1);
    let beyond = own.words() as u32 * 64 - 1;
    own.insert(beyond);
    let refused = [
        Frontier::List(&[0, end]),
        Frontier::List(&[u32::MAX]),
        Frontier::Range { first: 0, end: end + 1 },
        Frontier::Set(&larger),
        Frontier::Set(&own),
        Frontier::Part { set: &own, first: 0, end: 10 },
    ];
    for frontier in refused {
        for outcome in every_way(&graph, frontier) {
            let error = outcome.unwrap_err();
            assert!(matches!(error, Error::NoVertex { vertices: 4000, .. }), "{frontier:?}: {error}");
        }
    }
    own.remove(beyond);
    for frontier in
        [Frontier::List(&[]), Frontier::List(&[0, end - 1]), Frontier::Range { first: 3, end: 3 }, Frontier::Set(&own)]
    {
        every_way(&graph, frontier).into_iter().for_each(|outcome| outcome.unwrap());
    }
}

#[test]
fn operations_on_one_graph_are_stopped_each_on_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 2);
    let degrees = |graph: &Graph| fold(graph, Direction::Out, Frontier::All, &Degrees).map(|(total, _)| total);
    let expected = degrees(&graph).unwrap();
    let (one, other) = (graph.for_operation(None), graph.for_operation(None));
    one.runtime().cancel().cancel();
    for _ in 0..2 {
        assert!(matches!(degrees(&one), Err(Error::Cancelled)));
        assert_eq!(degrees(&other).unwrap(), expected);
        assert_eq!(degrees(&graph.for_operation(None)).unwrap(), expected);
    }
    // The graph is open as long as one of its handles is.
    drop((graph, one));
    assert_eq!(degrees(&other).unwrap(), expected);
    let table = other.table(Vec::new());
    other.close();
    assert!(matches!(degrees(&other), Err(Error::Closed { .. })) && table.reader().is_ok());
}

#[test]
fn batches_do_not_go_on_after_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let image = Model::random(11, 40_000, 600_000, true, false).with_weights(WeightKind::I64).write(directory.path());
    let graph = open(&image, 2);
    let edges = || {
        let graph = graph.for_operation(None);
        EdgeBatches::new(&graph, EdgeData::all(&graph), 0).map(|batches| (graph, batches)).unwrap()
    };
    let (_, mut all) = edges();
    let batches: Vec<_> = std::iter::from_fn(|| all.next_batch().unwrap()).collect();
    assert!(batches.len() > 3);
    for read in 0..3 {
        let (operation, mut some) = edges();
        (0..read).for_each(|place| assert_eq!(some.next_batch().unwrap().unwrap(), batches[place]));
        operation.runtime().cancel().cancel();
        assert!(matches!(some.next_batch(), Err(Error::Cancelled)));
        operation.runtime().cancel().reset();
        for _ in 0..2 {
            let Err(Error::StreamFailed { earlier }) = some.next_batch() else { panic!("batches go on") };
            assert!(earlier.contains("stopped on request"), "{earlier}");
        }
    }
    let table = graph.table(Vec::new()).for_operation();
    let mut rows = table.reader().unwrap();
    table.image().runtime().cancel().cancel();
    assert!(rows.next_batch().is_err());
    table.image().runtime().cancel().reset();
    assert!(matches!(rows.next_batch(), Err(Error::StreamFailed { .. })));
}

#[test]
fn edge_mappers_know_the_vertices_of_their_graph() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 2);
    let end = VERTICES as u32;
    let no_vertex = |error: Error| matches!(error, Error::NoVertex { vertices: 4000, .. });
    assert!(no_vertex(EdgeMapper::new(&graph, end).map(drop).unwrap_err()));
    let mut mapper = EdgeMapper::new(&graph, 0).unwrap();
    let expected = reached(&graph, &mut mapper, 0).unwrap();
    assert!(no_vertex(mapper.restart(Direction::In, end).unwrap_err()));
    let larger = Bitmap::new(graph.runtime().budget(), "test", 2 * VERTICES as u64).unwrap();
    assert!(no_vertex(mapper.restart_with(Direction::Out, &larger).unwrap_err()));
    mapper.restart(Direction::Out, 0).unwrap();
    assert!(no_vertex(mapper.push_step(|_, _, next| next.activate(u32::MAX)).map(drop).unwrap_err()));
    assert!(matches!(mapper.push_step(|_, _, _| ()), Err(Error::Restart)));
    assert_eq!(reached(&graph, &mut mapper, 0).unwrap(), expected);
}

#[test]
fn a_mapper_is_right_again_after_a_step_that_was_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    for threads in [1, 3] {
        let graph = open(&image(directory.path()), threads);
        let mut mapper = EdgeMapper::new(&graph, 0).unwrap();
        let expected = reached(&graph, &mut mapper, 0).unwrap();
        assert!(expected > VERTICES as u64 / 2);
        for steps in 0..6 {
            mapper.restart(Direction::Out, 0).unwrap();
            for _ in 0..steps {
                mapper.push_step(|_, target, next| next.activate(target)).unwrap();
            }
            let visited = AtomicU64::new(0);
            let outcome = mapper.push_step(|_, target, next| {
                next.activate(target);
                if visited.fetch_add(1, Ordering::Relaxed) == 3 {
                    graph.runtime().cancel().cancel();
                }
            });
            let cancelled = matches!(outcome, Err(Error::Cancelled));
            assert!(cancelled || outcome.is_ok());
            graph.runtime().cancel().reset();
            if cancelled {
                assert!(matches!(mapper.push_step(|_, _, _| ()), Err(Error::Restart)));
            }
            assert_eq!(reached(&graph, &mut mapper, 0).unwrap(), expected, "{steps} steps, {threads} threads");
        }
    }
}

#[test]
fn a_mapper_is_right_again_after_a_read_that_failed() {
    let directory = tempfile::tempdir().unwrap();
    let image = image(directory.path());
    let expected = {
        let graph = open(&image, 1);
        reached(&graph, &mut EdgeMapper::new(&graph, 0).unwrap(), 0).unwrap()
    };
    let mut failed = 0;
    for k in 0..200 {
        let faults = Faults { fail_at: Some(k), ..Faults::default() };
        // Opening reads too, and may be what fails.
        let opened = catch_unwind(|| open_with(&image, Sim::new(faults)));
        let Ok(graph) = opened else { continue };
        let mut mapper = EdgeMapper::new(&graph, 0).unwrap();
        if reached(&graph, &mut mapper, 0).is_ok() {
            // The search makes fewer operations than that.
            break;
        }
        failed += 1;
        assert_eq!(reached(&graph, &mut mapper, 0).unwrap(), expected, "operation {k}");
    }
    assert!(failed > 0, "no read of a search failed");
}

/// Failure of the worker that visits the first page of a relaxation.
enum Failure {
    None,
    Stops(CancelFlag),
    Panics,
}

/// Numbers of edges from vertex 0.
struct Levels {
    levels: Vec<AtomicU64>,
    failure: Failure,
}

impl Levels {
    fn new(failure: Failure) -> Self {
        let levels =
            (0..VERTICES as u64).map(|vertex| AtomicU64::new(if vertex == 0 { 0 } else { NO_LABEL })).collect();
        Levels { levels, failure }
    }

    fn relax(&self, graph: &Graph, relaxer: &mut Relaxer<'_>) -> Result<Vec<u64>> {
        let active = Bitmap::new(graph.runtime().budget(), "a test", graph.vertices())?;
        active.insert(0);
        relaxer.run(self, &active)?;
        Ok(self.levels.iter().map(|level| level.load(Ordering::Relaxed)).collect())
    }
}

impl Labels for Levels {
    const EVEN: bool = true;

    fn horizon(&self, _least: u64, _narrowing: u32) -> u64 {
        if !matches!(self.failure, Failure::None) {
            // No other page waits: the other workers wait for this one by then.
            std::thread::sleep(Duration::from_millis(100));
        }
        match &self.failure {
            Failure::None => {}
            Failure::Stops(cancel) => cancel.cancel(),
            Failure::Panics => panic!("a test"),
        }
        NO_LABEL
    }

    fn get(&self, vertex: u32) -> u64 {
        self.levels[vertex as usize].load(Ordering::Relaxed)
    }

    fn lower(&self, vertex: u32, label: u64) -> bool {
        self.levels[vertex as usize].fetch_min(label, Ordering::Relaxed) > label
    }

    fn along(&self, _source: u32, label: u64, _weight: u64) -> Option<u64> {
        Some(label + 1)
    }
}

#[test]
fn a_worker_that_fails_ends_those_that_wait_for_its_page() {
    let directory = tempfile::tempdir().unwrap();
    let image = image(directory.path());
    fn new_relaxer(graph: &Graph) -> Relaxer<'_> {
        Relaxer::new(graph, Direction::Out.into()).unwrap().expect("there is memory for it")
    }
    let expected = {
        let graph = open(&image, 1);
        Levels::new(Failure::None).relax(&graph, &mut new_relaxer(&graph)).unwrap()
    };
    for panics in [false, true] {
        let graph = open(&image, 3);
        let (mut relaxer, cancel) = (new_relaxer(&graph), graph.runtime().cancel());
        let failing = Levels::new(if panics { Failure::Panics } else { Failure::Stops(cancel.clone()) });
        match catch_unwind(AssertUnwindSafe(|| failing.relax(&graph, &mut relaxer))) {
            Ok(stopped) => {
                assert!(matches!(stopped, Err(Error::Cancelled)) && !panics, "{stopped:?}");
            }
            Err(_) => assert!(panics),
        }
        cancel.reset();
        assert_eq!(Levels::new(Failure::None).relax(&graph, &mut relaxer).unwrap(), expected);
    }
}

/// Panics, or fails, where lists come.
struct Breaks {
    panics: bool,
}

impl VertexProgram for Breaks {
    type State = ();
    type Message = u32;

    fn run(&self, vertex: &mut Vertex<'_, u32>, _state: &mut ()) {
        vertex.request(Direction::Out);
    }

    fn on_list(&self, vertex: &mut Vertex<'_, u32>, _state: &mut (), list: List<'_>) {
        assert!(!self.panics || list.vertex != 1234, "mine");
        if list.vertex >= 1234 {
            let id = vertex.id();
            vertex.fail(Error::custom(format!("vertex {id} failed")));
        }
    }
}

impl ListFold for Breaks {
    type Value = ();
    type Total = ();

    fn part(&self, list: ListPart<'_>) {
        assert!(list.vertex != 1234, "mine");
    }

    fn merge(&self, (): (), (): ()) {}

    fn finish(&self, _vertex: u32, _value: Option<()>, (): &mut ()) {}
}

/// Closes the graph, and asks for lists after that.
struct Closes<'a>(&'a Graph);

impl VertexProgram for Closes<'_> {
    type State = ();
    type Message = u32;

    fn run(&self, vertex: &mut Vertex<'_, u32>, _state: &mut ()) {
        self.0.close();
        vertex.request(Direction::Out);
    }
}

#[test]
fn a_graph_that_is_closed_meanwhile_is_told_and_not_taken_for_one_without_lists() {
    let directory = tempfile::tempdir().unwrap();
    let image = image(directory.path());
    for frontier in [Frontier::List(&[7]), Frontier::All] {
        let graph = open(&image, 1);
        let mut states = vec![(); VERTICES];
        let options = ProgramOptions { start: frontier, ..ProgramOptions::default() };
        let error = run_program(&graph, &Closes(&graph), &mut states, &options).unwrap_err();
        assert!(matches!(error, Error::Closed { .. }), "{error}");
        for outcome in every_way(&graph, Frontier::List(&[7])).into_iter().take(4) {
            let error = outcome.unwrap_err();
            assert!(matches!(error, Error::Closed { .. }), "{error}");
        }
    }
}

#[test]
fn a_panic_in_a_function_leaves_the_graph_usable() {
    let directory = tempfile::tempdir().unwrap();
    let image = image(directory.path());
    for threads in [1, 3] {
        let graph = open(&image, threads);
        let mut mapper = EdgeMapper::new(&graph, 0).unwrap();
        let expected = reached(&graph, &mut mapper, 0).unwrap();
        let breaks = |vertex: u32| assert!(vertex != 1234, "mine");
        let lists = || graph.lists(Direction::Out, Frontier::All);
        let all = Bitmap::new(graph.runtime().budget(), "all", graph.vertices()).unwrap();
        all.insert_all(graph.vertices());
        mapper.restart_with(Direction::Out, &all).unwrap();
        let mut states = vec![(); VERTICES];
        let mut operations: Vec<(&str, Operation<'_>)> = vec![
            (
                "scan",
                Box::new(|| drop(scan(&graph, Direction::Out, Frontier::All, || (), |(), list| breaks(list.vertex)))),
            ),
            ("fold", Box::new(|| drop(fold(&graph, Direction::Out, Frontier::All, &Breaks { panics: true })))),
            ("par_for_each", Box::new(|| drop(lists().par_for_each(|| (), |(), list| breaks(list.vertex))))),
            ("loop", Box::new(|| lists().into_iter().for_each(|list| breaks(list.unwrap().0)))),
            ("push_step", Box::new(|| drop(mapper.push_step(|source, _, _| breaks(source))))),
            (
                "degrees",
                Box::new(|| {
                    drop(vertex_map(graph.runtime(), graph.vertices(), |range| {
                        range.for_each(|vertex| breaks(vertex as u32));
                        Ok(())
                    }))
                }),
            ),
            (
                "program",
                Box::new(|| {
                    drop(run_program(&graph, &Breaks { panics: true }, &mut states, &ProgramOptions::default()));
                }),
            ),
        ];
        for (name, operation) in &mut operations {
            let panic = catch_unwind(AssertUnwindSafe(operation)).expect_err(name);
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            let text = panic.downcast_ref::<&str>().map_or(text, |&text| text.to_owned());
            assert!(text.contains("mine"), "{name}: {text}");
            let total = fold(&graph, Direction::Out, Frontier::All, &Degrees).unwrap().0;
            assert_eq!(total, graph.edges(), "after a panic in {name}, {threads} threads");
        }
        drop(operations);
        assert!(matches!(mapper.push_step(|_, _, _| ()), Err(Error::Restart)));
        assert_eq!(reached(&graph, &mut mapper, 0).unwrap(), expected);
    }
}

#[test]
fn functions_that_fail_end_the_operation_with_their_error() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 2);
    let fails = |vertex: u32| if vertex == 77 { Err(Error::custom("seventy-seven")) } else { Ok(()) };
    let mut mapper = EdgeMapper::new(&graph, 77).unwrap();
    let mut states = vec![(); VERTICES];
    let outcomes = [
        scan(&graph, Direction::Out, Frontier::All, || (), |(), list| fails(list.vertex)).map(drop),
        graph.lists(Direction::Out, Frontier::All).par_for_each(|| (), |(), list| fails(list.vertex)).map(drop),
        mapper.push_step(|source, _, _| fails(source)).map(drop),
        fold(&graph, Direction::Out, Frontier::All, &Fails { at: 77, failed: AtomicBool::new(false) }).map(drop),
        // The last vertex of all, and a list that is finished behind the last unit.
        fold(&graph, Direction::Out, Frontier::All, &Fails { at: VERTICES as u32 - 1, failed: AtomicBool::new(false) })
            .map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Custom(_)) && error.to_string() == "seventy-seven", "{error}");
    }
    let options = ProgramOptions { max_iterations: Some(3), ..ProgramOptions::default() };
    let error = run_program(&graph, &Breaks { panics: false }, &mut states, &options).unwrap_err();
    assert!(error.to_string().ends_with("failed"), "{error}");
    run_program(&graph, &Idle, &mut states, &ProgramOptions::default()).unwrap();
}

#[test]
fn the_error_of_any_worker_is_returned() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 3);
    for failing in 0..3 {
        let begun = AtomicU64::new(0);
        let outcome = graph.image().with_workers(3, |_, _| match begun.fetch_add(1, Ordering::Relaxed) == failing {
            true => Err(Error::custom("no")),
            false => Ok(()),
        });
        assert_eq!(outcome.unwrap_err().to_string(), "no");
    }
}

#[test]
fn operations_within_one_another_and_side_by_side_see_the_same_lists() {
    let directory = tempfile::tempdir().unwrap();
    let image = image(directory.path());
    for threads in [1, 2, 5] {
        let graph = open(&image, threads);
        let sum = |list: ListPart<'_>| list.neighbours.iter().map(|&other| u64::from(other)).sum::<u64>();
        let all = || -> u64 {
            let (sums, _) = scan(&graph, Direction::Out, Frontier::All, || 0, |all, list| *all += sum(list)).unwrap();
            sums.iter().sum()
        };
        let expected = all();
        let free = graph.runtime().budget().available_bytes();
        // Every worker of the outer scan has others of the inner one, twice.
        let nested = |inner: &mut Vec<u64>, list: ListPart<'_>| -> Result<()> {
            if list.vertex % 97 == 7 {
                let own = Frontier::List(std::slice::from_ref(&list.vertex));
                let (sums, _) = scan(&graph, Direction::In, own, Vec::new, |sums, _| sums.push(all()))?;
                inner.extend(sums.concat());
            }
            Ok(())
        };
        let (inner, _) = scan(&graph, Direction::Out, Frontier::All, Vec::new, nested).unwrap();
        let inner: Vec<u64> = inner.concat();
        assert!(inner.len() >= VERTICES / 97 && inner.iter().all(|&sum| sum == expected), "{threads}");
        std::thread::scope(|scope| {
            let several: Vec<_> = (0..6).map(|_| scope.spawn(|| (0..20).map(|_| all()).collect::<Vec<_>>())).collect();
            for thread in several {
                assert!(thread.join().unwrap().iter().all(|&sum| sum == expected));
            }
        });
        assert_eq!(graph.runtime().budget().available_bytes(), free, "workers for the moment are gone");
    }
}

#[test]
fn graphs_and_what_is_made_of_them_can_be_shown_and_columns_have_names_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 1);
    assert!(
        Graph::open(graph.runtime(), directory.path().join("none.oc"), ImageOptions::default())
            .unwrap_err()
            .to_string()
            .contains("none.oc")
    );
    let mapper = EdgeMapper::new(&graph, 0).unwrap();
    let column = || {
        let values = Buffer::<f64>::zeroed(graph.runtime().budget(), "values", VERTICES).unwrap();
        Column::Real(Arc::new(values))
    };
    let table = graph.table(vec![("a".into(), column()), ("b".into(), column())]);
    let shown = format!(
        "{graph:?} {mapper:?} {table:?} {:?} {:?}",
        Frontier::Range { first: 1, end: 2 },
        graph.lists(Direction::Out, Frontier::All)
    );
    for part in ["vertices: 4000", "active: 1", "(\"a\", Real(Buffer<f64>[4000])), (\"b\", "] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    table.write(directory.path().join("two.csv")).unwrap();
    for name in ["a", "vertex"] {
        let table = graph.table(vec![("a".into(), column()), (name.into(), column())]);
        let output = directory.path().join("same.csv");
        let error = table.write(&output).unwrap_err().to_string();
        assert!(error.contains(&format!("two called `{name}`")) && !output.exists(), "{error}");
    }
}

/// Sends itself a message of a size.
struct Sends<const BYTES: usize>;

impl<const BYTES: usize> VertexProgram for Sends<BYTES> {
    type State = u64;
    type Message = [u8; BYTES];

    fn run(&self, vertex: &mut Vertex<'_, [u8; BYTES]>, _state: &mut u64) {
        let id = vertex.id();
        vertex.send(id, [id as u8; BYTES]);
    }

    fn on_message(&self, events: &mut Events<'_, [u8; BYTES]>, state: &mut u64, message: [u8; BYTES]) {
        assert!(message.iter().all(|&byte| byte == events.id() as u8));
        *state += 1;
    }
}

#[test]
fn messages_that_no_log_holds_are_refused_and_smaller_ones_arrive() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 2);
    let mut states = vec![0; VERTICES];
    let options = ProgramOptions { start: Frontier::List(&[3, 9]), ..ProgramOptions::default() };
    let error = run_program(&graph, &Sends::<{ 1 << 20 }>, &mut states, &options).unwrap_err();
    assert!(error.to_string().contains("less than 1 MiB, found a type of 1048576 bytes"), "{error}");
    // A message is moved over the stack: the one of a main thread has room for copies of this size, a test's has not.
    std::thread::scope(|scope| {
        let run = || run_program(&graph, &Sends::<1_000_000>, &mut states, &options).map(drop).unwrap();
        std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, run).unwrap().join().unwrap();
    });
    assert_eq!((states[3], states[9], states.iter().sum::<u64>()), (1, 1, 2));
}

/// Answers every message of the first iteration, and looks at the memory that is left when iterations end.
struct Answers {
    graph: Graph,
    left: [AtomicU64; 2],
}

impl VertexProgram for Answers {
    type State = ();
    type Message = u64;

    fn run(&self, vertex: &mut Vertex<'_, u64>, _state: &mut ()) {
        let id = vertex.id();
        vertex.send(id, 1);
    }

    fn on_message(&self, events: &mut Events<'_, u64>, _state: &mut (), _message: u64) {
        if events.iteration() == 0 {
            let id = events.id();
            events.send(id, 2);
        }
    }

    fn end_iteration(&self, iteration: u32, _states: &[()]) -> bool {
        self.left[iteration as usize].store(self.graph.runtime().budget().available_bytes(), Ordering::Relaxed);
        true
    }
}

#[test]
fn blocks_of_messages_on_the_disk_count_in_the_memory_limit() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&image(directory.path()), 1);
    let program = Answers { graph: graph.clone(), left: Default::default() };
    let mut states = vec![(); VERTICES];
    let options = ProgramOptions { message_bytes: Some(0), ..ProgramOptions::default() };
    let run = run_program(&graph, &program, &mut states, &options).unwrap();
    assert!(run.spilled_bytes > 0 && run.iterations == 2);
    let [during, after] = program.left.map(AtomicU64::into_inner);
    // Where the one range of targets begins and ends, at least.
    assert!(during + 16 <= after, "{during} and {after} bytes are left");
}
