//! What estimates say is enough: runs within exactly that memory, which read no more than that.

mod engine;

use engine::*;
use outcore_algo::verify::*;
use outcore_algo::*;
use outcore_graph::import::OrderChoice;
use outcore_graph::{Graph, Stats};

/// The estimate, and a run with these options whose result `verify` checks.
macro_rules! of {
    ($estimate:expr, $graph:expr, $options:expr, $run:ident, $verify:expr) => {{
        let (graph, options) = ($graph, $options);
        let run = move |verified: bool| {
            let found = $run(graph, &options)?;
            if verified {
                $verify(&options, &found)?;
            }
            Ok(found.stats)
        };
        ($estimate, Box::new(run))
    }};
}

/// A run, whose result is verified if that is asked for.
type Run<'g> = Box<dyn Fn(bool) -> Result<Stats> + 'g>;

/// What an algorithm says, and a run of it.
fn runs(algorithm: Algorithm, graph: &Graph) -> (Estimate, Run<'_>) {
    let weights = graph.weight_name().is_some();
    match algorithm {
        Algorithm::Bfs | Algorithm::NearBfs => {
            let depth_limit = (algorithm == Algorithm::NearBfs).then_some(2);
            let options = BfsOptions { depth_limit, ..BfsOptions::default() };
            of!(estimate_bfs(graph), graph, options, bfs, |options, found| verify_bfs(graph, options, found))
        }
        Algorithm::Sssp => {
            let options = SsspOptions { source: 0, weights, delta: None };
            of!(estimate_sssp(graph, &options), graph, options, sssp, |o, found| verify_sssp(graph, o, found))
        }
        Algorithm::PageRank | Algorithm::WeightedPageRank | Algorithm::DeltaPageRank => {
            let weights = weights && algorithm != Algorithm::PageRank;
            let method = match algorithm {
                Algorithm::DeltaPageRank => PageRankMethod::Delta,
                _ => PageRankMethod::Power,
            };
            let options = PageRankOptions { weights, method, ..iterations(5) };
            of!(estimate_pagerank(graph, &options), graph, options, pagerank, |o, found| verify_pagerank(
                graph, o, found
            ))
        }
        Algorithm::PersonalizedPageRank => {
            let options = seeded(graph, 0);
            let estimate = estimate_personalized_pagerank(graph, &options);
            of!(estimate, graph, options, personalized_pagerank, |o, found| verify_personalized_pagerank(
                graph, o, found
            ))
        }
        Algorithm::ScanStatistics => {
            let options = ScanStatisticsOptions { top: 3 };
            let estimate = estimate_scan_statistics(graph, &options);
            of!(estimate, graph, options, scan_statistics, |o, found| verify_scan_statistics(graph, o, found))
        }
        Algorithm::MultiSourceBfs => {
            let options = MultiSourceBfsOptions { sources: from(graph, 0, 70), targets: vec![0], depth_limit: None };
            let estimate = estimate_multi_source_bfs(graph, &options);
            of!(estimate, graph, options, multi_source_bfs, |o, found| verify_multi_source_bfs(graph, o, found))
        }
        Algorithm::AllPairs => {
            let options = AllPairsOptions { sources: Sources::Given(from(graph, 0, 9)) };
            let estimate = estimate_all_pairs(graph, &options);
            let run = move |verified: bool| {
                let found = all_pairs(graph, &options)?;
                if verified {
                    verify_all_pairs(graph, &options, &found)?;
                }
                Ok(found.search.stats)
            };
            (estimate, Box::new(run))
        }
        Algorithm::Betweenness => {
            let sources = Sources::Given(from(graph, 0, 2));
            let options = BetweennessOptions { sources, ..BetweennessOptions::default() };
            let estimate = estimate_betweenness_centrality(graph, &options);
            of!(estimate, graph, options, betweenness_centrality, |o, found| verify_betweenness_centrality(
                graph, o, found
            ))
        }
        other => structures(other, graph),
    }
}

/// The same for components, cores, labels and triangles.
fn structures(algorithm: Algorithm, graph: &Graph) -> (Estimate, Run<'_>) {
    match algorithm {
        Algorithm::Components => {
            let options = ComponentsOptions::default();
            of!(estimate_components(graph), graph, options, components, |_, found| verify_components(graph, found))
        }
        Algorithm::StrongComponents | Algorithm::StrongComponentsByColour => {
            let in_memory_bytes = (algorithm == Algorithm::StrongComponentsByColour).then_some(0);
            let options = StrongComponentsOptions { in_memory_bytes };
            let estimate = estimate_strong_components(graph);
            of!(estimate, graph, options, strong_components, |_, found| verify_strong_components(graph, found))
        }
        Algorithm::CoreNumbers => {
            let options = CoreNumbersOptions::default();
            of!(estimate_core_number(graph), graph, options, core_number, |_, found| verify_core_number(graph, found))
        }
        Algorithm::LabelPropagation => {
            let options = LabelPropagationOptions { max_iter: 5 };
            let estimate = estimate_label_propagation(graph, &options);
            of!(estimate, graph, options, label_propagation, |o, found| verify_label_propagation(graph, o, found))
        }
        Algorithm::Triangles => {
            let options = TrianglesOptions::default();
            of!(estimate_triangles(graph), graph, options, triangles, |_, found| verify_triangles(graph, found))
        }
        Algorithm::Clustering => {
            let options = ClusteringOptions::default();
            of!(estimate_clustering(graph), graph, options, clustering, |_, found| verify_clustering(graph, found))
        }
        Algorithm::Lcc => {
            let options = LccOptions::default();
            of!(estimate_lcc(graph), graph, options, lcc, |_, found| verify_lcc(graph, found))
        }
        other => panic!("{other:?} has no estimate here"),
    }
}

/// Graphs with hubs and without, with long paths, cliques, and vertices without edges.
fn shapes() -> Vec<(&'static str, Given)> {
    let random = |count: u64, vertices: u64| -> Vec<(u32, u32)> {
        (0..count).map(|i| ((mix(i) % vertices) as u32, (mix(!i) % vertices / (1 + i % 7)) as u32)).collect()
    };
    let shuffled = |v: u32| (u64::from(v) * 7919 % 5003) as u32;
    let cliques = (0..600).flat_map(|c| (0..16).flat_map(move |a| (0..a).map(move |b| (16 * c + b, 16 * c + a))));
    let grid =
        (0..3600u32).flat_map(|v| [(v, v + 1), (v, v + 60)]).filter(|&(a, b)| b < 3600 && (b > a + 1 || b % 60 > 0));
    let mut weighted = Given::new(5000, random(60_000, 5000), true);
    weighted.weighted = true;
    let mut parallel = Given::new(3000, random(30_000, 1500), false);
    parallel.parallel = true;
    vec![
        ("hubs", Given::new(20_000, random(200_000, 20_000), true)),
        ("hubs without directions", Given::new(20_000, random(200_000, 20_000), false)),
        ("weights", weighted),
        ("parallel edges", parallel),
        ("star", Given::new(30_000, (1..30_000).map(|v| (0, v)).collect(), true)),
        ("path at the end", Given::new(20_000, (19_400..20_000).map(|v| (v - 1, v)).collect(), true)),
        ("shuffled path", Given::new(5003, (1..600).map(|v| (shuffled(v - 1), shuffled(v))).collect(), false)),
        ("cliques", Given::new(9600, cliques.collect(), false)),
        ("grid", Given::new(3600, grid.collect(), false)),
        ("no edges", Given::new(1000, Vec::new(), true)),
    ]
}

/// Runs every algorithm over every graph within exactly the memory that `memory` says of its estimate.
fn within(
    memory: impl Fn(&Estimate) -> u64,
    verified: bool,
    check: impl Fn(&str, Algorithm, &Graph, &Estimate, &Stats),
) {
    for (name, given) in shapes() {
        for order in [OrderChoice::Input, OrderChoice::Degree] {
            let directory = tempfile::tempdir().unwrap();
            let image = given.image(directory.path(), order);
            for algorithm in Algorithm::ALL {
                let graph = open(&image, 2, None, Some(0));
                let (said, _) = runs(algorithm, &graph);
                let budget = graph.runtime().budget();
                let _held = budget.reserve("a test", budget.available_bytes() - memory(&said)).unwrap();
                // Triangles are counted in as many passes as the memory asks for.
                let (said, run) = runs(algorithm, &graph);
                let what = format!("{name}, order {order:?}, {algorithm:?}");
                let stats = run(verified).unwrap_or_else(|error| panic!("{what}: {error}"));
                check(&what, algorithm, &graph, &said, &stats);
            }
        }
    }
}

#[test]
fn the_memory_that_estimates_say_is_enough_and_passes_and_bytes_are_bounds() {
    within(
        |said| said.state_bytes,
        false,
        |what, algorithm, graph, said, stats| {
            let (passes, read) = (stats.passes, stats.total.bytes_read);
            let expected = match algorithm {
                // As many passes as levels or distances at worst.
                Algorithm::Bfs
                | Algorithm::NearBfs
                | Algorithm::Sssp
                | Algorithm::MultiSourceBfs
                | Algorithm::AllPairs
                | Algorithm::Betweenness => Bound::Usual,
                Algorithm::StrongComponents | Algorithm::StrongComponentsByColour if graph.is_directed() => {
                    Bound::Usual
                }
                Algorithm::CoreNumbers => Bound::AtLeast,
                _ => Bound::AtMost,
            };
            assert_eq!(said.bound, expected, "{what}");
            if said.bound == Bound::AtMost {
                assert!(passes <= said.passes, "{what}: {passes} passes, {} said", said.passes);
                assert!(read <= said.read_bytes, "{what}: {read} bytes read, {} said", said.read_bytes);
            }
        },
    );
}

#[test]
fn verification_fits_the_memory_that_estimates_say() {
    within(|said| said.state_bytes.max(said.verify_bytes), true, |_, _, _, _, _| ());
}

#[test]
fn a_run_whose_result_cannot_be_verified_is_refused_beforehand() {
    let directory = tempfile::tempdir().unwrap();
    let image = shapes().swap_remove(0).1.image(directory.path(), OrderChoice::Input);
    let mut larger = 0;
    for algorithm in Algorithm::ALL {
        let graph = open(&image, 2, None, Some(0));
        let (said, run) = runs(algorithm, &graph);
        let enough = said.state_bytes.max(said.result_bytes);
        if said.verify_bytes <= enough {
            continue;
        }
        larger += 1;
        let budget = graph.runtime().budget();
        let _held = budget.reserve("a test", budget.available_bytes() - enough).unwrap();
        said.check_result(&graph, false).unwrap();
        run(false).unwrap();
        assert!(run(true).is_err(), "{algorithm:?} is verified with less than {} bytes", said.verify_bytes);
        let error = said.check_result(&graph, true).unwrap_err().to_string();
        assert!(error.contains("the result and its verification") && error.contains("raise the limit"), "{error}");
    }
    assert!(larger > 3, "{larger} algorithms need more memory for verification");
}
