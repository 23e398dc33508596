//! Verifiers that are given what is not of the graph, a result or a vertex: errors that say so, and never a panic, nor
//! a verdict.

use outcore::import::{ImportOptions, from_edges};
use outcore::verify::*;
use outcore::*;

fn graph(vertices: u32, directed: bool) -> Graph {
    let edges = from_edges((0..3 * vertices).map(move |i| (i % vertices, (i * 7 + i / vertices) % vertices))).unwrap();
    let options = ImportOptions { directed: Some(directed), ..ImportOptions::default() };
    Graph::in_memory(&Runtime::new(RuntimeOptions::default()).unwrap(), edges, &options).unwrap()
}

fn given(vertices: &[u32]) -> Sources {
    Sources::Given(vertices.to_vec())
}

/// The check of a result of the first graph by a second one.
type Check = fn(&Graph, &Graph) -> Result<()>;

macro_rules! checks {
    ($($run:ident $verify:ident $options:expr;)+ @ $($alone:ident $verify_alone:ident;)+) => {
        &[
            $((stringify!($verify), |one, other| $verify(other, &$options, &$run(one, &$options)?)),)+
            $((stringify!($verify_alone), |one, other| $verify_alone(other, &$alone(one, &Default::default())?)),)+
        ]
    };
}

const CHECKS: &[(&str, Check)] = checks! {
    bfs verify_bfs BfsOptions::default();
    sssp verify_sssp SsspOptions { weights: false, ..Default::default() };
    multi_source_bfs verify_multi_source_bfs MultiSourceBfsOptions { sources: vec![0, 3], ..Default::default() };
    all_pairs verify_all_pairs AllPairsOptions { sources: given(&[0, 3]) };
    betweenness_centrality verify_betweenness_centrality
        BetweennessOptions { sources: given(&[0, 3]), ..Default::default() };
    degree_centrality verify_degree_centrality DegreeCentralityOptions::default();
    pagerank verify_pagerank PageRankOptions::default();
    personalized_pagerank verify_personalized_pagerank
        PersonalizedPageRankOptions { seeds: vec![vec![(3, 1.0)]], ..Default::default() };
    label_propagation verify_label_propagation LabelPropagationOptions::default();
    scan_statistics verify_scan_statistics ScanStatisticsOptions::default();
    node_boundary verify_node_boundary NodeBoundaryOptions { vertices: vec![0, 3] };
    @
    components verify_components;
    strong_components verify_strong_components;
    core_number verify_core_number;
    triangles verify_triangles;
    clustering verify_clustering;
    lcc verify_lcc;
    reciprocity verify_reciprocity;
};

#[test]
fn results_of_other_graphs() {
    for directed in [false, true] {
        let (small, large) = (graph(9, directed), graph(400, directed));
        for (name, check) in CHECKS {
            check(&small, &small).unwrap_or_else(|error| panic!("{name}: {error}"));
            for (one, other) in [(&small, &large), (&large, &small)] {
                let error = check(one, other).map_err(|error| error.kind());
                assert_eq!(error, Err(ErrorKind::Usage), "{name} with edges directed: {directed}");
            }
        }
    }
}

#[test]
fn no_verifier_is_left_out() {
    let listed = include_str!("../../../algo/src/lib.rs");
    let names = listed.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| name.starts_with("verify_"));
    let missing: Vec<_> = names.filter(|name| CHECKS.iter().all(|(checked, _)| checked != name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn vertices_that_are_not_there() {
    let graph = &graph(9, true);
    for beyond in [9, u32::MAX] {
        let no_vertex = |outcome: Result<()>| match outcome {
            Err(Error::NoVertex { vertices: 9, .. }) => {}
            other => panic!("expected a vertex that is not there, found {other:?}"),
        };
        let found = bfs(graph, &Default::default()).unwrap();
        no_vertex(verify_bfs(graph, &BfsOptions { source: beyond, ..Default::default() }, &found));
        no_vertex(verify_bfs(graph, &BfsOptions { target: Some(beyond), ..Default::default() }, &found));
        let options = SsspOptions { weights: false, ..Default::default() };
        let found = sssp(graph, &options).unwrap();
        no_vertex(verify_sssp(graph, &SsspOptions { source: beyond, ..options }, &found));
        let options = MultiSourceBfsOptions { sources: vec![0], targets: vec![0], ..Default::default() };
        let found = multi_source_bfs(graph, &options).unwrap();
        let wrong = MultiSourceBfsOptions { sources: vec![beyond], ..options.clone() };
        no_vertex(verify_multi_source_bfs(graph, &wrong, &found));
        let wrong = MultiSourceBfsOptions { targets: vec![beyond], ..options };
        no_vertex(verify_multi_source_bfs(graph, &wrong, &found));
        let found = all_pairs(graph, &AllPairsOptions { sources: given(&[0]) }).unwrap();
        no_vertex(verify_all_pairs(graph, &AllPairsOptions { sources: given(&[beyond]) }, &found));
        let options = |vertex| BetweennessOptions { sources: given(&[vertex]), ..Default::default() };
        let found = betweenness_centrality(graph, &options(0)).unwrap();
        no_vertex(verify_betweenness_centrality(graph, &options(beyond), &found));
        let options = |vertex| PersonalizedPageRankOptions { seeds: vec![vec![(vertex, 1.0)]], ..Default::default() };
        let found = personalized_pagerank(graph, &options(0)).unwrap();
        no_vertex(verify_personalized_pagerank(graph, &options(beyond), &found));
        let found = node_boundary(graph, &NodeBoundaryOptions { vertices: vec![0] }).unwrap();
        no_vertex(verify_node_boundary(graph, &NodeBoundaryOptions { vertices: vec![beyond, 0] }, &found));
    }
}
