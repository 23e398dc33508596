//! Results as a program reads them: values by vertex, estimates before the run, texts and notes.

use outcore::import::{ImportOptions, from_edges};
use outcore::*;

fn graph(directed: bool) -> Graph {
    let edges = from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]).unwrap();
    let options = ImportOptions { directed: Some(directed), ..ImportOptions::default() };
    Graph::in_memory(&Runtime::new(RuntimeOptions::default()).unwrap(), edges, &options).unwrap()
}

#[test]
fn values_by_vertex() -> Result<()> {
    let graph = &graph(false);
    let (c, d) = (graph.vertex("c")?, graph.vertex("d")?);
    let ranks = pagerank(graph, &Default::default())?;
    assert!(ranks.rank(c) > ranks.rank(d) && ranks.rank(4).is_none());
    let options = PersonalizedPageRankOptions { seeds: vec![vec![(c, 1.0)]], ..Default::default() };
    let near = personalized_pagerank(graph, &options)?;
    assert!(near.rank(0, c) > near.rank(0, d) && near.rank(1, c).is_none() && near.rank(0, 4).is_none());
    let found = components(graph, &Default::default())?;
    assert_eq!((found.label(c), found.label(d), found.label(4)), (Some(0), Some(0), None));
    let found = core_number(graph, &Default::default())?;
    assert_eq!((found.core(c), found.core(d), found.core(u32::MAX)), (Some(2), Some(1), None));
    let found = label_propagation(graph, &Default::default())?;
    assert!(found.label(c).is_some() && found.label(4).is_none());
    let found = triangles(graph, &Default::default())?;
    assert_eq!((found.count(c), found.count(d), found.count(4)), (Some(1), Some(0), None));
    let found = clustering(graph, &Default::default())?;
    assert_eq!((found.coefficient(c), found.coefficient(4)), (Some(1.0 / 3.0), None));
    let found = lcc(graph, &Default::default())?;
    assert_eq!((found.coefficient(c), found.coefficient(4)), (Some(1.0 / 3.0), None));
    let found = betweenness_centrality(graph, &Default::default())?;
    assert_eq!((found.score(d), found.score(4)), (Some(0.0), None));
    let found = degree_centrality(graph, &Default::default())?;
    assert_eq!((found.centrality(c), found.centrality(4)), (Some(1.0), None));
    let options = MultiSourceBfsOptions { sources: vec![c, d], ..Default::default() };
    let found = multi_source_bfs(graph, &options)?;
    assert_eq!((found.reached_by(d), found.distance_sum(d), found.reached_by(4)), (Some(2), Some(1), None));
    let found = scan_statistics(graph, &Default::default())?;
    assert_eq!((found.statistic(c), found.statistic(d)), (Some(4), None));
    Ok(())
}

#[test]
fn estimates_have_one_signature() {
    fn of<O: Default>(graph: &Graph, estimate: fn(&Graph, &O) -> Estimate) {
        assert!(estimate(graph, &O::default()).memory_bytes > 0);
    }
    let graph = &graph(true);
    of(graph, estimate_all_pairs);
    of(graph, estimate_betweenness_centrality);
    of(graph, estimate_bfs);
    of(graph, estimate_clustering);
    of(graph, estimate_components);
    of(graph, estimate_core_number);
    of(graph, estimate_degree_centrality);
    of(graph, estimate_label_propagation);
    of(graph, estimate_lcc);
    of(graph, estimate_multi_source_bfs);
    of(graph, estimate_node_boundary);
    of(graph, estimate_pagerank);
    of(graph, estimate_personalized_pagerank);
    of(graph, estimate_reciprocity);
    of(graph, estimate_scan_statistics);
    of(graph, estimate_sssp);
    of(graph, estimate_strong_components);
    of(graph, estimate_triangles);
}

#[test]
fn texts_of_refusals_and_results() {
    let graph = graph(true);
    let error = sssp(&graph, &Default::default()).unwrap_err().to_string();
    assert!(error.contains("`weights` false"), "{error}");
    let found = format!("{:?}", pagerank(&graph, &PageRankOptions { tol: 0.0, ..Default::default() }).unwrap());
    assert!(found.contains("steps: 200") && found.len() < 2000, "{found}");
    let none = from_edges(Vec::<(u32, u32)>::new()).unwrap();
    let empty = Graph::in_memory(graph.runtime(), none, &Default::default()).unwrap();
    let error = bfs(&empty, &Default::default()).unwrap_err().to_string();
    assert!(error.contains("graph with vertices"), "{error}");
    let operation = graph.for_operation(None);
    operation.runtime().cancel().cancel();
    let error = operation.neighbours(0, Direction::Out).unwrap_err().to_string();
    assert_eq!(error, "stopped on request");
}

#[test]
fn notes_of_imports_into_memory() {
    let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
    let edges = || from_edges([(1_u32, 2, 5.0), (1, 2, 7.5), (2, 3, 1.0)]).unwrap();
    let graph = Graph::in_memory(&runtime, edges(), &Default::default()).unwrap();
    assert_eq!(graph.edges(), 2);
    let notes = runtime.take_notes();
    assert!(notes.iter().any(|note| note.contains("only the first stays")), "{notes:?}");
    let options = ImportOptions { duplicates: import::Duplicates::Sum, ..Default::default() };
    Graph::in_memory(&runtime, edges(), &options).unwrap();
    assert_eq!(runtime.take_notes(), [] as [String; 0]);
}
