//! Results have the same bits for every number of workers, back end and cache size, and are the same under the users'
//! ids for every order.

use crate::engine::*;
use outcore_algo::verify::{
    verify_bfs, verify_clustering, verify_components, verify_core_number, verify_label_propagation, verify_lcc,
    verify_pagerank, verify_strong_components, verify_triangles,
};
use outcore_algo::{
    AllPairsOptions, BetweennessOptions, BfsOptions, ClusteringOptions, CoreNumbersOptions, LabelPropagationOptions,
    LccOptions, MultiSourceBfsOptions, Sources, StrongComponentsOptions, TrianglesOptions, all_pairs,
    betweenness_centrality, clustering, core_number, estimate_betweenness_centrality, estimate_multi_source_bfs,
    label_propagation, lcc, multi_source_bfs, strong_components, triangles,
};
use outcore_graph::import::OrderChoice;
use outcore_graph::{Direction, Graph, PAGE_BYTES};
use outcore_io::backend::{self, Backend, Faults, Posix, Sim};
use std::path::Path;
use std::sync::Arc;

/// How much of the pages is cached.
#[derive(Clone, Copy, Debug)]
enum Cached {
    Nothing,
    Third,
    Everything,
}

/// Workers, back end, cache: every two values of the last two meet but those of `posix`, and all of them are among the
/// first three.
const CASES: [(usize, &str, Cached); 7] = [
    (2, "sim", Cached::Third),
    (8, "best", Cached::Nothing),
    (3, "posix", Cached::Everything),
    (1, "sim", Cached::Everything),
    (8, "sim", Cached::Nothing),
    (3, "best", Cached::Third),
    (2, "best", Cached::Everything),
];

/// Cases that have all values of [`CASES`] in them: enough for samples that are no probes of the engine.
const FEW_CASES: usize = 3;

/// Compares everything with one worker, `posix` and no cache.
fn same_everywhere(image: &Path, source: u32, cases: &[(usize, &str, Cached)]) {
    let plain = open(image, 1, Some(Arc::new(Posix)), Some(0));
    let samples: Vec<_> = Sample::all().collect();
    let expected: Vec<_> = samples.iter().map(|sample| sample.answer(&plain, source).unwrap()).collect();
    let expected_by_colour = strong_components_by_colour(&plain);
    let pages = plain.pages(Direction::Out) + plain.pages(Direction::In);
    for (case, &(threads, name, cached)) in cases.iter().enumerate() {
        let backend: Arc<dyn Backend> = match name {
            // Reorders all reads and cuts some short.
            "sim" => Arc::new(Sim::new(Faults { seed: threads as u64, short_reads_percent: 30, ..Faults::default() })),
            "posix" => Arc::new(Posix),
            _ => backend::best(),
        };
        let cache_bytes = match cached {
            Cached::Nothing => Some(0),
            Cached::Third => Some(pages * PAGE_BYTES / 3),
            Cached::Everything => None,
        };
        let graph = open(image, threads, Some(backend), cache_bytes);
        let what = |sample: &dyn std::fmt::Debug| format!("{sample:?}, {threads} threads, {name}, cached {cached:?}");
        let is_tried = |sample: &Sample| case < FEW_CASES || sample.is_probe();
        for (sample, expected) in samples.iter().zip(&expected).filter(|(sample, _)| is_tried(sample)) {
            same(expected, &sample.answer(&graph, source).unwrap(), &what(sample));
            if sample.algorithm.name == "pagerank" {
                // Once more, now that the cache is warm.
                same(expected, &sample.answer(&graph, source).unwrap(), &format!("{}, again", what(sample)));
            }
        }
        same(&expected_by_colour, &strong_components_by_colour(&graph), &what(&"strong components by colour"));
    }
}

/// Strong components, of which nothing is finished in memory: it may take as many steps as paths are long.
fn strong_components_by_colour(graph: &Graph) -> Vec<u32> {
    strong_components(graph, &StrongComponentsOptions { in_memory_bytes: Some(0) }).unwrap().labels.to_vec()
}

#[test]
fn kronecker_graphs_give_the_same_bits_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        for order in [OrderChoice::Input, OrderChoice::Degree] {
            let image = kronecker(directory.path(), 13, 96, directed, order);
            let graph = open(&image, 1, None, None);
            assert!(graph.pages(Direction::In) > 70, "more than a unit, found {}", graph.pages(Direction::In));
            same_everywhere(&image, 5, &CASES);
        }
    }
}

/// Two hubs, one with edges to every third vertex and one with edges from every third.
fn hubs(vertices: u32, directed: bool) -> Given {
    let out = (2..vertices).filter(|&v| mix(u64::from(v)).is_multiple_of(3)).map(|v| (0, v));
    let into = (2..vertices).filter(|&v| mix(u64::from(v)) % 3 == 1 || v % 1000 == 0).map(|v| (v, 1));
    Given { weighted: true, ..Given::new(vertices, out.chain(into).collect(), directed) }
}

#[test]
fn chains_of_strong_components_give_the_same_bits_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    // Rings of one to five vertices, numbered without order, each with edges to later ones.
    let (vertices, places) = (5000u32, |v: u32| mix(u64::from(v)) as u32 % 5);
    let number = |v: u32| v * 1237 % 5000;
    let mut edges = Vec::new();
    let mut first = 0;
    for v in 0..vertices {
        let ends = places(v) == 0 || v + 1 == vertices;
        edges.push((number(v), number(if ends { first } else { v + 1 })));
        edges.extend(
            (1..4)
                .map(|i| v + 1 + mix(u64::from(v * i)) as u32 % 300)
                .filter(|&w| w < vertices)
                .map(|w| (number(v), number(w))),
        );
        first = if ends { v + 1 } else { first };
    }
    let given = Given { weighted: true, ..Given::new(vertices, edges, true) };
    same_everywhere(&given.image(directory.path(), OrderChoice::Degree), 5, &CASES);
}

#[test]
fn lists_of_more_than_a_unit_of_pages_give_the_same_bits_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let image = hubs(1 << 21, directed).image(directory.path(), OrderChoice::Input);
        let graph = open(&image, 1, None, None);
        // Beside the pages of the other lists, some forty, a hub's list takes more than 64.
        assert!(graph.pages(Direction::In) > 110, "found {}", graph.pages(Direction::In));
        same_everywhere(&image, 0, &CASES[..3]);
    }
}

#[test]
fn orders_give_the_same_answers_under_the_users_ids() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let orders = [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near, OrderChoice::Auto];
        let answers = orders.map(|order| {
            let graph = open(&kronecker(directory.path(), 12, 16, directed, order), 2, None, None);
            let ids = ids(&graph);
            let source = ids.iter().position(|&id| id == 77).unwrap() as u32;
            let options = iterations(30);
            let results = run(&graph, source, &options);
            verify_bfs(&graph, &BfsOptions { source, ..BfsOptions::default() }, &results.bfs).unwrap();
            verify_pagerank(&graph, &options, &results.pagerank).unwrap();
            verify_components(&graph, &results.components).unwrap();
            let strong = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
            verify_strong_components(&graph, &strong).unwrap();
            let cores = core_number(&graph, &CoreNumbersOptions::default()).unwrap();
            verify_core_number(&graph, &cores).unwrap();
            let options = LabelPropagationOptions { max_iterations: 3 };
            let propagated = label_propagation(&graph, &options).unwrap();
            verify_label_propagation(&graph, &options, &propagated).unwrap();
            let counted = triangles(&graph, &TrianglesOptions::default()).unwrap();
            verify_triangles(&graph, &counted).unwrap();
            let clustered = clustering(&graph, &ClusteringOptions::default()).unwrap();
            verify_clustering(&graph, &clustered).unwrap();
            let local = lcc(&graph, &LccOptions::default()).unwrap();
            verify_lcc(&graph, &local).unwrap();
            let (triangles, clustered, local) =
                (counted.counts.to_vec(), clustered.coefficients.to_vec(), local.coefficients.to_vec());
            let mut all = under_ids(&ids, &results);
            let values = cores.cores.iter().copied().zip(propagated.labels.to_vec());
            for (vertex, (&id, (core, label))) in ids.iter().zip(values).enumerate() {
                all.cores[id as usize] = core;
                all.labels[id as usize] = ids[label as usize];
                all.triads[id as usize] = [triangles[vertex], clustered[vertex].to_bits(), local[vertex].to_bits()];
            }
            (all, smallest_ids(&ids, &strong.labels))
        });
        let [(input, strong), degree, near, auto] = &answers;
        for (name, (other, other_strong)) in [("degree", degree), ("near", near), ("auto", auto)] {
            same(strong, other_strong, &format!("strong components in order {name}"));
            same(&input.levels, &other.levels, &format!("levels in order {name}"));
            same(&input.components, &other.components, &format!("components in order {name}"));
            same(&input.cores, &other.cores, &format!("core numbers in order {name}"));
            same(&input.labels, &other.labels, &format!("labels in order {name}"));
            same(&input.triads, &other.triads, &format!("triangles and coefficients in order {name}"));
            for (id, (one, two)) in input.ranks.iter().zip(&other.ranks).enumerate() {
                assert!((one - two).abs() <= 1e-12, "order {name}: id {id} has rank {one}, and {two}");
            }
        }
        assert!(input.levels.iter().flatten().count() > 1000);
    }
}

/// Answers by the users' ids.
struct UnderIds {
    levels: Vec<Option<u32>>,
    /// The smallest id of the component.
    components: Vec<u32>,
    ranks: Vec<f64>,
    cores: Vec<u32>,
    /// The id that is the label.
    labels: Vec<u32>,
    /// Triangles, and the bits of both coefficients: quotients of the same whole numbers.
    triads: Vec<[u64; 3]>,
}

fn under_ids(ids: &[u32], results: &Results) -> UnderIds {
    let count = ids.len();
    let (levels, labels): (Vec<_>, _) = (results.bfs.levels().collect(), results.components.labels.to_vec());
    let found_ranks = results.pagerank.ranks.to_vec();
    let components = smallest_ids(ids, &labels);
    let zeros = || vec![0; count];
    let mut all = UnderIds {
        levels: vec![None; count],
        components,
        ranks: vec![0.0; count],
        cores: zeros(),
        labels: zeros(),
        triads: vec![[0; 3]; count],
    };
    for (vertex, &id) in ids.iter().enumerate() {
        all.levels[id as usize] = levels[vertex];
        all.ranks[id as usize] = found_ranks[vertex];
    }
    all
}

/// For every id the smallest id of its component.
fn smallest_ids(ids: &[u32], labels: &[u32]) -> Vec<u32> {
    let (mut smallest, mut all) = (vec![u32::MAX; ids.len()], vec![0; ids.len()]);
    for (&label, &id) in labels.iter().zip(ids) {
        smallest[label as usize] = smallest[label as usize].min(id);
    }
    for (&label, &id) in labels.iter().zip(ids) {
        all[id as usize] = smallest[label as usize];
    }
    all
}

#[test]
fn the_number_of_sources_per_batch_changes_no_bit() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let graph = open(&kronecker(directory.path(), 12, 16, directed, OrderChoice::Degree), 2, None, Some(0));
        let sources = from(&graph, 5, 700);
        let searches_of = |options: &MultiSourceBfsOptions| searches(multi_source_bfs(&graph, options).unwrap());
        let options =
            MultiSourceBfsOptions { sources: sources.clone(), targets: sources[..3].to_vec(), depth_limit: None };
        let sampled = BetweennessOptions { sources: Sources::Given(sources[..21].to_vec()), ..Default::default() };
        let scores_of = |options: &BetweennessOptions| betweenness_centrality(&graph, options).unwrap().scores.to_vec();
        let (expected, expected_scores) = (searches_of(&options), scores_of(&sampled));
        let budget = graph.runtime().budget();
        let least = |bytes: u64| budget.reserve("all but so much", budget.available_bytes() - bytes).unwrap();
        for times in [1, 2, 4] {
            let reservation = least(times * estimate_multi_source_bfs(&graph, &options).state_bytes);
            same(&expected, &searches_of(&options), &format!("searches with {times} times the least memory"));
            drop(reservation);
            let reservation = least(times * estimate_betweenness_centrality(&graph, &sampled).state_bytes);
            let scores: Vec<_> = scores_of(&sampled);
            same(&expected_scores, &scores, &format!("betweenness with {times} times the least memory"));
            drop(reservation);
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_ids_in_every_order() {
    let directory = tempfile::tempdir().unwrap();
    let drawn = |order, count, seed| {
        let graph = open(&kronecker(directory.path(), 12, 16, true, order), 2, None, None);
        let found = all_pairs(&graph, &AllPairsOptions { sources: Sources::Drawn { k: count, seed } }).unwrap();
        let ids = ids(&graph);
        found.sources.iter().map(|&source| ids[source as usize]).collect::<Vec<_>>()
    };
    let (input, degree) = (drawn(OrderChoice::Input, 40, 3), drawn(OrderChoice::Degree, 40, 3));
    same(&input, &degree, "ids drawn");
    let mut sorted = input.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 40);
    assert_eq!(drawn(OrderChoice::Input, 7, 3), input[..7]);
    assert_ne!(drawn(OrderChoice::Input, 40, 4), input);
}
