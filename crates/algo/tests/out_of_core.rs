//! An image many times larger than the memory limit: import and algorithms stay under the limit and read what they say.
//!
//! The peak of memory is a process's, so the work is done in processes of their own: this binary once more, which runs
//! one ignored test and prints what it measured.

mod engine;

use engine::*;
use outcore_algo::verify::{verify_label_propagation, verify_lcc};
use outcore_algo::{
    ALGORITHMS, Algorithm, BfsOptions, Bound, ComponentsOptions, LabelPropagationOptions, LccOptions, OptionValues,
    StrongComponentsOptions, bfs, components, estimate_label_propagation, estimate_lcc, label_propagation, lcc,
    pagerank, strong_components,
};
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{Duplicates, ImportOptions, OrderChoice, SelfLoops, import};
use outcore_graph::{Direction, Frontier, Graph, List, PAGE_BYTES, ProgramOptions, Vertex, VertexProgram, run_program};
use outcore_image::{ImageOptions, Stats};
use outcore_io::{Runtime, RuntimeOptions, peak_memory_bytes};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The limit for everything that the process holds.
const LIMIT_BYTES: u64 = 27 << 20;
/// The image is larger than the limit by this.
const TIMES: u64 = 8;
/// The image's name.
const IMAGE: &str = "large.oc";
/// Where the children have their image; only the parent sets it.
const DIRECTORY: &str = "OUTCORE_TEST_OUT_OF_CORE";

#[test]
fn an_image_of_eight_times_the_limit_is_made_and_read_under_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let text = ["imports", "runs_everything"].map(|child| run_child(child, directory.path())).concat();
    let measured: BTreeMap<&str, u64> = text
        .lines()
        .filter_map(|line| line.split_once("measured ")?.1.split_once(' '))
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    let get = |name: &str| *measured.get(name).unwrap_or_else(|| panic!("no {name} in {text}"));
    assert!(get("image_bytes") >= TIMES * LIMIT_BYTES, "{text}");
    let peaks: Vec<_> = measured.iter().filter(|(name, _)| name.starts_with("peak_after_")).collect();
    assert!(peaks.len() >= 3 + 12, "{text}");
    for (name, &peak) in peaks {
        assert!(peak < LIMIT_BYTES, "{name} is above the limit of {LIMIT_BYTES}: {text}");
        assert!(peak > LIMIT_BYTES / 8, "{name} is too small to be true: {text}");
    }
    let (in_bytes, out_bytes) = (get("in_pages") * PAGE_BYTES, get("out_pages") * PAGE_BYTES);
    // Each in-page once per iteration.
    assert_eq!(get("pagerank_list_bytes"), 5 * in_bytes, "{text}");
    assert_eq!(get("personalized_pagerank_list_bytes"), 5 * in_bytes, "{text}");
    assert!(get("connected_components_list_bytes") * 20 < in_bytes + out_bytes, "{text}");
    assert!(get("strongly_connected_components_list_bytes") * 4 < in_bytes + out_bytes, "{text}");
    // The second searches from more sources than go together, the third in both directions.
    for (name, times) in [("bfs", 1), ("multi_source_bfs", 2), ("all_pairs", 2)] {
        assert!((1..times * in_bytes).contains(&get(&format!("{name}_list_bytes"))), "{name}: {text}");
    }
    // All lists, and pages with vertices of several levels for each of them.
    let both = in_bytes + out_bytes;
    assert!((10 * both..10 * both / 2 * 3).contains(&get("betweenness_centrality_list_bytes")), "{text}");
    assert!((out_bytes..out_bytes / 2 * 3).contains(&get("vertex_program_list_bytes")), "{text}");
    println!("{text}");
}

/// Runs an ignored test in a process of its own; returns what it printed.
fn run_child(name: &str, directory: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Breadth-first search as a vertex program.
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

/// Under the limit; alone they do nothing, since only the test above says where.
fn options(directory: &Path) -> RuntimeOptions {
    RuntimeOptions {
        memory_bytes: Some(LIMIT_BYTES),
        threads: Some(2),
        temporary: Some(directory.to_owned()),
        ..RuntimeOptions::default()
    }
}

fn say(name: &str, value: u64) {
    println!("measured {name} {value}");
}

/// Most passes of an algorithm that is run.
const MOST_PASSES: f64 = 11.0;
/// Most passes of an algorithm whose result is verified.
const MOST_PASSES_VERIFIED: f64 = 2.5;

/// Runs the first example of an algorithm, unless it needs more than the limit or makes many passes, and says what it
/// cost.
fn run_within_the_limit(graph: &Graph, algorithm: &Algorithm) {
    let plan = algorithm.plan(graph, OptionValues::of_example(algorithm, algorithm.examples[0], 5).unwrap()).unwrap();
    let estimate = plan.estimate(graph);
    if estimate.passes > MOST_PASSES || graph.make_room("a run", estimate.state_bytes).is_err() {
        return println!("{} is left out: {} passes, {} bytes", algorithm.name, estimate.passes, estimate.state_bytes);
    }
    let verify = estimate.passes <= MOST_PASSES_VERIFIED && estimate.check_result(graph, true, None).is_ok();
    let found = plan.run(graph, verify, None).unwrap();
    let most = match estimate.bound {
        Bound::AtMost => estimate.passes,
        // The estimate is for vertices whose pages have no others of other levels.
        Bound::Usual => 1.5 * estimate.passes,
        _ => f64::INFINITY,
    };
    cost(algorithm.name, &found.stats, most);
}

/// Says what a run cost, which is no more than what was estimate before it.
fn cost(name: &str, stats: &Stats, most_passes: f64) {
    assert!(stats.passes <= most_passes, "{name}: {} passes, {most_passes} estimated", stats.passes);
    say(&format!("{name}_list_bytes"), list_bytes(stats));
    say(&format!("peak_after_{name}"), stats.memory_peak_bytes);
}

#[test]
#[ignore = "run by the first test, in a process of its own"]
fn imports() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let image = directory.join(IMAGE);
    let generate = GenerateOptions { shape: Shape::Kronecker, scale: 18, edge_factor: 922, seed: 3, weights: None };
    let how = ImportOptions {
        directed: Some(true),
        duplicates: Duplicates::First,
        self_loops: SelfLoops::Keep,
        order: OrderChoice::Degree,
        ..ImportOptions::default()
    };
    let report = import(&Runtime::new(options(&directory)).unwrap(), source(&generate).unwrap(), &image, &how).unwrap();
    println!("imported in {:.1} s", report.stats.seconds);
    say("image_bytes", report.stats.image_bytes);
    say("peak_after_import", peak_memory_bytes());

    let runtime = Runtime::new(options(&directory)).unwrap();
    let graph =
        Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() }).unwrap();
    say("in_pages", graph.pages(Direction::In));
    say("out_pages", graph.pages(Direction::Out));
}

#[test]
#[ignore = "run by the first test, in a process of its own"]
fn runs_everything() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let runtime = Runtime::new(options(&directory)).unwrap();
    let graph =
        Graph::open(&runtime, directory.join(IMAGE), ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() })
            .unwrap();
    for algorithm in ALGORITHMS {
        run_within_the_limit(&graph, algorithm);
    }
    {
        let found = bfs(&graph, &BfsOptions::default()).unwrap();
        let expected: Vec<_> = found.levels().map(|level| level.unwrap_or(u32::MAX)).collect();
        drop(found);
        let mut levels = vec![u32::MAX; graph.vertices() as usize];
        let options = ProgramOptions { start: Frontier::List(&[0]), ..ProgramOptions::default() };
        // The page cache takes what the program leaves.
        drop(graph);
        let graph = Graph::open(&runtime, directory.join(IMAGE), ImageOptions::default()).unwrap();
        let run = run_program(&graph, &Search, &mut levels, &options).unwrap();
        assert!(run.finished);
        same(&expected, &levels, "levels of the program");
        // Out-lists are half of all.
        cost("vertex_program", &run.stats, 0.75);
    }
    say("peak_after_all", peak_memory_bytes());
}

/// Bytes that were read of lists; the rest is columns.
fn list_bytes(stats: &Stats) -> u64 {
    let lists = stats.steps.iter().filter(|step| !["link hubs", "hubs"].contains(&step.name));
    lists.map(|step| step.sweep.bytes_read).sum()
}

#[test]
fn sparse_kronecker_graphs_are_read_as_little_as_promised() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let image = kronecker(directory.path(), 16, 16, directed, OrderChoice::Degree);
        let graph = open(&image, 2, None, Some(0));
        let in_pages = graph.pages(Direction::In);
        let pages = if directed { in_pages + graph.pages(Direction::Out) } else { in_pages };
        let found = pagerank(&graph, &iterations(3)).unwrap();
        assert_eq!(found.stats.steps.len(), 3);
        for step in &found.stats.steps {
            assert_eq!(step.sweep.pages_wanted, in_pages);
            assert_eq!(step.sweep.bytes_read, in_pages * PAGE_BYTES);
            assert!(step.sweep.requests <= in_pages.div_ceil(64), "{} reads", step.sweep.requests);
        }
        let found = components(&graph, &ComponentsOptions::default()).unwrap();
        let read = list_bytes(&found.stats);
        assert!(read * 20 < pages * PAGE_BYTES, "components read {read} of {} bytes", pages * PAGE_BYTES);
        let found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
        let read = list_bytes(&found.stats);
        assert!(read * 4 < 3 * pages * PAGE_BYTES, "strong components read {read} of {} bytes", pages * PAGE_BYTES);
        let found = bfs(&graph, &BfsOptions::default()).unwrap();
        let read = list_bytes(&found.stats);
        assert!(found.reached > 1 << 14, "reached {}", found.reached);
        assert!(read * 2 < pages * PAGE_BYTES, "a search read {read} of {} bytes", pages * PAGE_BYTES);
    }
}

#[test]
fn label_propagation_reads_what_may_change_and_no_more() {
    const ITERATIONS: u32 = 50;
    const CLIQUES: u32 = 20_000;
    // Cliques of eight, which agree at once; paths that hang on a few of them, along which labels wander for long;
    // pairs, which swap labels for ever.
    let clique = |c: u32| (0..8).flat_map(move |a| (0..a).map(move |b| (8 * c + b, 8 * c + a)));
    let path = |p: u32| {
        (0..40).map(move |i| (if i == 0 { 800 * p } else { 8 * CLIQUES + 40 * p + i - 1 }, 8 * CLIQUES + 40 * p + i))
    };
    let first_pair = 8 * CLIQUES + 40 * 20;
    let pairs = (0..5000).map(|i| (first_pair + 2 * i, first_pair + 2 * i + 1));
    let edges: Vec<_> = (0..CLIQUES).flat_map(clique).chain((0..20).flat_map(path)).chain(pairs).collect();
    let options = LabelPropagationOptions { max_iterations: ITERATIONS };
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let image =
            Given::new(first_pair + 10_000, edges.clone(), directed).image(directory.path(), OrderChoice::Input);
        let graph = open(&image, 2, None, Some(0));
        let pages = graph.all_pages();
        let found = label_propagation(&graph, &options).unwrap();
        assert!(found.iterations == ITERATIONS && !found.converged);
        verify_label_propagation(&graph, &options, &found).unwrap();
        let read = |step: usize| found.stats.steps[step].sweep.pages_read;
        assert!(pages > 100 && read(0) == pages && read(1) == pages, "{pages} pages");
        assert!(found.stats.passes < 6.0, "{} passes", found.stats.passes);
        // Labels that swap for ever cost nothing, those that still wander a few pages.
        assert!((5..35).all(|step| (1..pages / 4).contains(&read(step))), "{:?}", found.stats.steps);
        assert_eq!(read(ITERATIONS as usize - 1), 0);
        // And in blocks.
        let budget = graph.runtime().budget();
        let state_bytes = estimate_label_propagation(&graph, &options).state_bytes;
        let _reservation = budget.reserve("all but the least", budget.available_bytes() - state_bytes).unwrap();
        let least = label_propagation(&graph, &options).unwrap();
        same(&found.labels, &least.labels, "labels with the least memory");
        let (passes, estimated) = (least.stats.passes, estimate_label_propagation(&graph, &options).passes);
        assert!(
            passes > found.stats.passes && passes < 7.0 && passes <= estimated,
            "{passes} passes, {estimated} estimated"
        );
    }
}

#[test]
fn triangles_are_counted_in_as_many_blocks_as_the_limit_asks_for() {
    let directory = tempfile::tempdir().unwrap();
    for (directed, order) in [(true, OrderChoice::Degree), (false, OrderChoice::Degree), (true, OrderChoice::Input)] {
        let image = kronecker(directory.path(), 13, 96, directed, order);
        let mut answers = Vec::new();
        for (least_times, most_blocks) in [(1.05, 40), (1.5, 8), (30.0, 1)] {
            let open = |bytes: u64| {
                Graph::open(
                    &runtime_under(2, bytes, None),
                    &image,
                    ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() },
                )
                .unwrap()
            };
            // With a limit that is ample first, to learn what is needed at least.
            let graph = open(256 << 20);
            let needs = estimate_lcc(&graph, &LccOptions::default());
            let left = graph.runtime().budget().available_bytes();
            let wanted = (needs.state_bytes as f64 * least_times) as u64;
            let _rest = graph.runtime().budget().reserve("a test", left - wanted).unwrap();
            let estimate = estimate_lcc(&graph, &LccOptions::default());
            let found = lcc(&graph, &LccOptions::default()).unwrap();
            let blocks = found.stats.steps.iter().filter(|step| step.name == "block").count();
            let (passes, estimated) = (found.stats.passes, estimate.passes);
            assert!(passes <= estimated, "{passes} passes, {estimated} estimated");
            assert!(blocks <= most_blocks && (blocks > 1) == (most_blocks > 1), "{least_times}: {blocks} blocks");
            answers.push(found.coefficients.to_vec());
            verify_lcc(&graph, &found).map_or_else(|error| assert!(error.to_string().contains("memory")), |()| ());
        }
        let [least, some, ample] = &answers[..] else { unreachable!() };
        same(ample, least, "with the least memory");
        same(ample, some, "with half more");
    }
}

#[test]
fn a_limit_below_the_need_is_refused_with_the_numbers_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let image = kronecker(directory.path(), 18, 2, false, OrderChoice::Input);
    let graph = Graph::open(
        &runtime_under(1, 12 << 20, None),
        &image,
        ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() },
    )
    .unwrap();
    let error = pagerank(&graph, &iterations(1)).map(|_| ()).unwrap_err();
    assert!(matches!(error, outcore_image::Error::Memory { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("PageRank") && text.contains("raise the limit"), "{text}");
}
