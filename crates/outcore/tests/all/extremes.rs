//! The greatest numbers that options can have: they mean "no limit", or are refused, and nothing overflows.

use outcore::engine::{Events, ProgramOptions, Vertex, VertexProgram, run_program};
use outcore::import::{BatchWeights, Block, BlockData, EdgeBatch, Facts, Ids, Parser, ReadBlocks, Source, TakeBatch};
use outcore::import::{ImportOptions, InputOptions, from_edges, import, open};
use outcore::*;
use std::path::Path;
use std::sync::Arc;

fn runtime() -> Runtime {
    Runtime::new(RuntimeOptions { memory_bytes: Some(u64::MAX), ..RuntimeOptions::default() }).unwrap()
}

fn graph() -> Graph {
    let edges = from_edges((0_u32..300).map(|i| (i % 100, i * 7 % 100, i))).unwrap();
    let options = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    Graph::in_memory(&runtime(), edges, &options).unwrap()
}

#[test]
fn memory_without_a_limit() {
    let runtime = runtime();
    assert!(runtime.budget().limit_bytes() < 1 << 50, "no more than the machine has");
    let folder = tempfile::tempdir().unwrap();
    let (text, image) = (folder.path().join("names.csv"), folder.path().join("names.oc"));
    std::fs::write(&text, "source,target\nada,bob\nbob,cy\n").unwrap();
    let source = open(&runtime, &[text], &InputOptions::default()).unwrap();
    assert_eq!(import(&runtime, source, &image, &ImportOptions::default()).unwrap().manifest.vertices, 3);
    let options = GraphOptions { cache_bytes: Some(u64::MAX), ..GraphOptions::default() };
    let graph = Graph::open(&runtime, &image, options).unwrap();
    graph.image().fill_cache(u64::MAX).unwrap();
    assert_eq!(graph.vertex("cy").unwrap(), graph.find("cy").unwrap().unwrap());
    let reversed = std::ops::Range { start: 1, end: 0 };
    assert_eq!(graph.begun_in(Direction::Out, reversed), (0..0, 0));
    assert_eq!(graph.begun_in(Direction::Out, 0..u64::MAX), (0..3, graph.pages(Direction::Out)));
}

struct Idle;

impl VertexProgram for Idle {
    type State = u32;
    type Message = u32;

    fn run(&self, _vertex: &mut Vertex<'_, u32>, _state: &mut u32) {}

    fn on_message(&self, _events: &mut Events<'_, u32>, _state: &mut u32, _message: u32) {}
}

#[test]
fn greatest_options() {
    let graph = &graph();
    let sizes = ProgramOptions { message_bytes: Some(u64::MAX), ..ProgramOptions::default() };
    let outcome = run_program(graph, &Idle, &mut vec![0; graph.vertices() as usize], &sizes);
    assert_eq!(outcome.map(drop).map_err(|error| error.kind()), Err(ErrorKind::Memory));
    let most = u32::MAX;
    let search = BfsOptions { depth_limit: Some(most), ..Default::default() };
    let found = bfs(graph, &search).unwrap();
    verify::verify_bfs(graph, &search, &found).unwrap();
    let search = MultiSourceBfsOptions { sources: vec![0], targets: vec![1], depth_limit: Some(most) };
    let found = multi_source_bfs(graph, &search).unwrap();
    verify::verify_multi_source_bfs(graph, &search, &found).unwrap();
    let drawn = || Sources::Drawn { k: u64::MAX, seed: u64::MAX };
    assert_eq!(all_pairs(graph, &AllPairsOptions { sources: drawn() }).unwrap().sources.len(), 100);
    let between = BetweennessOptions { sources: drawn(), ..Default::default() };
    assert_eq!(betweenness_centrality(graph, &between).unwrap().sources.len(), 100);
    let paths = SsspOptions { delta: Some(f64::INFINITY), ..Default::default() };
    let found = sssp(graph, &paths).unwrap();
    verify::verify_sssp(graph, &paths, &found).unwrap();
    for method in [PageRankMethod::Power, PageRankMethod::Delta] {
        let ranks = PageRankOptions { max_iterations: most, method, ..Default::default() };
        assert!(estimate_pagerank(graph, &ranks).passes >= f64::from(most));
        assert_eq!(pagerank(graph, &ranks).unwrap().stopped_by, StoppedBy::Residual);
    }
    let labels = LabelPropagationOptions { max_iterations: 1000 };
    assert!(estimate_label_propagation(graph, &LabelPropagationOptions { max_iterations: most }).passes > 1e9);
    assert!(label_propagation(graph, &labels).unwrap().iterations <= 1000);
    let top = ScanStatisticsOptions { top: u64::MAX };
    let found = scan_statistics(graph, &top).unwrap();
    verify::verify_scan_statistics(graph, &top, &found).unwrap();
    let strong = StrongComponentsOptions { in_memory_bytes: Some(u64::MAX) };
    assert!(strong_components(graph, &strong).unwrap().count > 0);
    let huge = generate::GenerateOptions { scale: most, edge_factor: u64::MAX, ..Default::default() };
    assert!(generate::source(&huge).is_err());
    assert!(generate::source(&generate::GenerateOptions { scale: 31, ..huge }).is_err());
}

/// A source of one block with two edges.
struct TwoEdges(bool);

impl ReadBlocks for TwoEdges {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let data = BlockData::Bytes(Vec::new());
        let block = Block { sequence: 0, first_record: 0, first_vertex: 0, input_bytes: 1, data };
        Ok(std::mem::take(&mut self.0).then_some(block))
    }
}

struct Weighed(BatchWeights);

impl Parser for Weighed {
    fn parse(&self, _block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        let Ids::Integer { values, .. } = &mut batch.ids else { panic!("integers") };
        values.extend([0, 1, 1, 2]);
        batch.weights = self.0.clone();
        take(batch)
    }

    fn path(&self) -> &Path {
        Path::new("queue of mine")
    }
}

#[test]
fn weights_of_a_parser_that_are_not_finite() {
    let import_them = |weights: BatchWeights, edges| {
        let is_complex = matches!(weights, BatchWeights::Complex(_));
        let facts = Facts { format: "mine", weights: Some("weight".to_owned()), is_complex, edges, ..Facts::default() };
        let source = Source::new(facts, Arc::new(Weighed(weights)), TwoEdges(true));
        Graph::in_memory(&runtime(), source, &ImportOptions::default())
    };
    for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for weights in [BatchWeights::Real(vec![1.5, weight]), BatchWeights::Complex(vec![[1.5, 0.0], [2.0, weight]])] {
            let error = import_them(weights, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Input);
            assert!(error.to_string().contains("queue of mine"), "{error}");
        }
    }
    let real = || BatchWeights::Real(vec![1.5, f64::MAX]);
    check(&import_them(real(), Some(2)).unwrap()).unwrap();
    // A source that promises more edges than any memory holds is refused.
    assert_eq!(import_them(real(), Some(u64::MAX)).map(drop).map_err(|error| error.kind()), Err(ErrorKind::Memory));
}

#[test]
fn edges_that_lead_elsewhere_than_from_rows_to_columns() {
    let of_rows = |rows, edges: &[(u32, u32)]| {
        let options = ImportOptions { rows: Some(rows), ..ImportOptions::default() };
        Graph::in_memory(&runtime(), from_edges(edges.to_vec()).unwrap(), &options)
    };
    check(&of_rows(3, &[(0, 3), (1, 4), (2, 3)]).unwrap()).unwrap();
    // Vertices 0, 1, 3 and 4: the third of them is the target 3.
    for (rows, edges, found) in [(3, [(0, 3), (1, 4)], "to a row"), (1, [(0, 3), (1, 4)], "from a column")] {
        let error = of_rows(rows, &edges).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains("from rows to columns") && error.to_string().contains(found), "{error}");
    }
    let weighed = from_edges([(0_u32, 3, 1.5), (1, 4, 2.5)]).unwrap();
    let options = ImportOptions { rows: Some(3), ..ImportOptions::default() };
    assert_eq!(Graph::in_memory(&runtime(), weighed, &options).unwrap_err().kind(), ErrorKind::Usage);
}
