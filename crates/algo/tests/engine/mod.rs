//! Tools of the engine's tests: graphs given as edges, their images, the ways to open them, and answers as numbers.
#![allow(dead_code)]

use outcore_algo::{
    ALGORITHMS, Algorithm, Bfs, BfsOptions, Components, ComponentsOptions, Datum, Finding, MultiSourceBfs,
    OptionValues, PageRank, PageRankOptions, PersonalizedPageRankOptions, Plan, Result, bfs, components, pagerank,
};
use outcore_graph::Graph;
use outcore_graph::generate::{GenerateOptions, GeneratedWeights, Shape, source as generated};
use outcore_graph::import::{
    BatchWeights, Block, BlockData, Duplicates, EdgeBatch, Facts, Ids, ImportOptions, OrderChoice, Parser, ReadBlocks,
    SelfLoops, Source, TakeBatch, import,
};
use outcore_image::ImageOptions;
use outcore_io::Runtime;
use outcore_io::backend::Backend;
pub use outcore_io::split_mix as mix;
use outcore_table::{Column, IdBatch, IdStream};
pub use outcore_testkit::runtime_under;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A graph as a test gives it: the vertices are `0..vertices`.
#[derive(Clone, Debug)]
pub struct Given {
    pub vertices: u32,
    pub edges: Vec<(u32, u32)>,
    pub directed: bool,
    /// Parallel edges stay.
    pub parallel: bool,
    /// Edges have weights, the same in both directions.
    pub weighted: bool,
    /// The weight of an edge: by default from 0 to below 4.
    pub weight: fn(u32, u32) -> f64,
}

impl Given {
    pub fn new(vertices: u32, edges: Vec<(u32, u32)>, directed: bool) -> Self {
        Given { vertices, edges, directed, parallel: false, weighted: false, weight }
    }

    /// Imports the graph and returns the image.
    pub fn image(&self, directory: &Path, order: OrderChoice) -> PathBuf {
        let facts = Facts {
            format: "by hand",
            declared: Some((0, u64::from(self.vertices))),
            edges: Some(self.edges.len() as u64),
            weights: self.weighted.then(|| "weight".to_owned()),
            ..Facts::default()
        };
        let given = Arc::new(self.clone());
        let source = Source::new(facts, Arc::new(GivenParser(Arc::clone(&given))), GivenSource { given, next: 0 });
        let duplicates = if self.parallel { Duplicates::Keep } else { Duplicates::First };
        import_source(source, directory, self.directed, duplicates, order)
    }
}

const BLOCK_EDGES: usize = 10_000;

/// The weight of an edge of a weighted graph: none in one of eight.
pub fn weight(source: u32, target: u32) -> f64 {
    let mixed = mix(u64::from(source.min(target)) << 32 | u64::from(source.max(target)));
    if mixed.is_multiple_of(8) { 0.0 } else { (mixed >> 11) as f64 / (1u64 << 51) as f64 }
}

struct GivenSource {
    given: Arc<Given>,
    next: usize,
}

impl ReadBlocks for GivenSource {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.next * BLOCK_EDGES >= self.given.edges.len() {
            return Ok(None);
        }
        let sequence = self.next as u64;
        self.next += 1;
        let data = BlockData::Bytes(Vec::new());
        Ok(Some(Block { sequence, first_record: 0, first_vertex: 0, input_bytes: 0, data }))
    }
}

struct GivenParser(Arc<Given>);

impl Parser for GivenParser {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        let Ids::Integer { values, .. } = &mut batch.ids else { panic!("ids are integers") };
        let edges = self.0.edges.chunks(BLOCK_EDGES).nth(block.sequence as usize).unwrap_or_default();
        if self.0.weighted {
            batch.weights =
                BatchWeights::Real(edges.iter().map(|&(source, target)| (self.0.weight)(source, target)).collect());
        }
        values.extend(edges.iter().flat_map(|&(source, target)| [u64::from(source), u64::from(target)]));
        take(batch)
    }

    fn path(&self) -> &Path {
        Path::new("by hand")
    }
}

/// A Kronecker graph with weights as an image.
pub fn kronecker(directory: &Path, scale: u32, edge_factor: u64, directed: bool, order: OrderChoice) -> PathBuf {
    let options = GenerateOptions {
        shape: Shape::Kronecker,
        scale,
        edge_factor,
        seed: 7,
        weights: Some(GeneratedWeights::Uniform),
    };
    import_source(generated(&options).unwrap(), directory, directed, Duplicates::First, order)
}

/// Imports into a directory, under a name that says the options.
pub fn import_source(
    source: Source,
    directory: &Path,
    directed: bool,
    duplicates: Duplicates,
    order: OrderChoice,
) -> PathBuf {
    let image = directory.join(format!("{directed}-{duplicates:?}-{order:?}.oc"));
    let options = ImportOptions {
        directed: Some(directed),
        duplicates,
        self_loops: SelfLoops::Keep,
        order,
        replace: true,
        ..ImportOptions::default()
    };
    import(&runtime(2, None), source, &image, &options).unwrap();
    image
}

/// A runtime with ample memory.
pub fn runtime(threads: usize, backend: Option<Arc<dyn Backend>>) -> Runtime {
    runtime_under(threads, 512 << 20, backend)
}

/// Opens an image: with all pages cached unless `cache_bytes` says otherwise.
pub fn open(image: &Path, threads: usize, backend: Option<Arc<dyn Backend>>, cache_bytes: Option<u64>) -> Graph {
    Graph::open(&runtime(threads, backend), image, ImageOptions { cache_bytes, ..ImageOptions::default() }).unwrap()
}

/// An algorithm with the options of one of its examples, whose answer is compared.
#[derive(Clone, Copy)]
pub struct Sample {
    pub algorithm: &'static Algorithm,
    pub options: &'static [(&'static str, &'static str)],
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.algorithm.name)?;
        self.options.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// Algorithms whose first examples go every way through the engine: steps of a frontier that push and pull, single
/// pages, gathered sums over all lists, scans with hubs, values beside lists, and lists read in pairs.
pub const PROBES: [&str; 6] =
    ["bfs", "pagerank", "connected_components", "sssp", "triangles", "betweenness_centrality"];

/// `make soak` sets `OUTCORE_SOAK`: then every algorithm is tried in every case, not the probes alone.
pub fn is_soak() -> bool {
    std::env::var_os("OUTCORE_SOAK").is_some()
}

impl Sample {
    /// Whether this sample is tried in all cases: those of the other samples take the same ways through the engine.
    pub fn is_probe(self) -> bool {
        let first = self.algorithm.examples.first().is_some_and(|&options| std::ptr::eq(options, self.options));
        is_soak() || first && PROBES.contains(&self.algorithm.name)
    }

    /// All examples of all algorithms.
    pub fn all() -> impl Iterator<Item = Sample> {
        ALGORITHMS
            .iter()
            .flat_map(|&algorithm| algorithm.examples.iter().map(move |&options| Sample { algorithm, options }))
    }

    /// The run; `first` is the vertex that its options call 0.
    pub fn plan(self, graph: &Graph, first: u32) -> Result<Box<dyn Plan>> {
        self.algorithm.plan(graph, OptionValues::of_example(self.algorithm, self.options, first)?)
    }

    /// Runs it and writes all of its answer as numbers, real ones by their bits.
    pub fn answer(self, graph: &Graph, first: u32) -> Result<Vec<u64>> {
        Ok(numbers(&self.plan(graph, first)?.run(graph, false, None)?))
    }
}

/// All that was found, as numbers.
fn numbers(found: &Finding) -> Vec<u64> {
    let columns = found.columns.iter().flat_map(|(_, column)| -> Vec<u64> {
        match column {
            Column::Real(values) => values.iter().map(|value| value.to_bits()).collect(),
            Column::Signed(values) => values.iter().map(|&value| value as u64).collect(),
            Column::Count(values) | Column::Unsigned(values) | Column::Distance(values, _) => values.to_vec(),
            Column::Number(values) | Column::Level(values) | Column::Vertex(values) => wide(values),
            Column::Component(values) | Column::Label(values) => wide(values),
            column => panic!("{column:?} is of no known kind"),
        }
    });
    let attributes = found.attributes.iter().flat_map(|datum| match datum {
        Datum::Whole(value) => vec![*value],
        Datum::Wholes(values) => values.clone(),
        Datum::Bounds(least, most) => vec![*least, *most],
        Datum::Real(value) => vec![value.to_bits()],
        Datum::Flag(value) => vec![u64::from(*value)],
        Datum::Text(text) => text.bytes().map(u64::from).collect(),
        Datum::Vertices(vertices) | Datum::Path(vertices) => wide(vertices.as_deref().unwrap_or(&[])),
        Datum::Distances { levels, .. } => wide(levels),
    });
    columns.chain(attributes).collect()
}

fn wide(values: &[u32]) -> Vec<u64> {
    values.iter().copied().map(u64::from).collect()
}

/// The source and those after it, or all vertices if there are no more.
pub fn from(graph: &Graph, source: u32, count: u32) -> Vec<u32> {
    let vertices = graph.vertices() as u32;
    (0..count.min(vertices)).map(|i| (source + i) % vertices).collect()
}

/// All that searches from many sources found.
pub fn searches(mut found: MultiSourceBfs) -> Vec<u64> {
    let levels = found.stored().to_vec();
    let sums = found.distance_sums.iter().copied();
    let counts = found.reached_by.iter().copied().chain(levels).map(u64::from);
    let reach = found.reach.iter().flat_map(|reach| [reach.reached, reach.depth.into()]);
    sums.chain(counts).chain(reach).collect()
}

/// A graph with hubs, chains and vertices out of reach, for tampering.
pub fn tampering(directed: bool) -> Given {
    let mut edges: Vec<(u32, u32)> =
        (0..1500u64).map(|i| ((mix(i) % 200) as u32, (mix(!i) % 200 / (1 + i % 4)) as u32)).collect();
    edges.extend((200..230).map(|v| (v - 1, v)));
    edges.extend([(231, 232), (232, 231), (233, 233)]);
    Given::new(235, edges, directed)
}

/// Options of exactly `count` iterations: no residual is below a tolerance of 0.
pub fn iterations(count: u32) -> PageRankOptions {
    PageRankOptions { tol: 0.0, max_iterations: count, ..PageRankOptions::default() }
}

/// Five iterations from three sets of seeds.
pub fn seeded(graph: &Graph, source: u32) -> PersonalizedPageRankOptions {
    let last = graph.vertices() as u32 - 1;
    let seeds = vec![vec![(source, 1.0)], vec![(last, 2.0), (source, 0.5), (0, 0.0), (last, 1.5)], vec![(0, 3.0)]];
    let weights = graph.weight_name().is_some();
    PersonalizedPageRankOptions {
        seeds,
        tol: 0.0,
        max_iterations: 5,
        weights,
        ..PersonalizedPageRankOptions::default()
    }
}

/// All three results.
pub struct Results {
    pub bfs: Bfs,
    pub pagerank: PageRank,
    pub components: Components,
}

/// Runs all three.
pub fn run(graph: &Graph, source: u32, options: &PageRankOptions) -> Results {
    Results {
        bfs: bfs(graph, &BfsOptions { source, ..BfsOptions::default() }).unwrap(),
        pagerank: pagerank(graph, options).unwrap(),
        components: components(graph, &ComponentsOptions::default()).unwrap(),
    }
}

/// The id of every vertex of an image whose ids are small integers.
pub fn ids(graph: &Graph) -> Vec<u32> {
    let mut all = Vec::new();
    let mut stream = IdStream::new(graph.image()).unwrap();
    while let Some((_, batch)) = stream.next().unwrap() {
        match batch {
            IdBatch::Unsigned(values) => all.extend(values.iter().map(|&id| id as u32)),
            IdBatch::Signed(values) => all.extend(values.iter().map(|&id| id as u32)),
            IdBatch::Text { .. } => panic!("ids are integers"),
        }
    }
    all
}

/// Fails with the first difference, if there is one.
pub fn same<T: PartialEq + std::fmt::Debug>(expected: &[T], found: &[T], what: &str) {
    let first = expected.iter().zip(found).position(|(expected, found)| expected != found);
    if let Some(place) = first {
        panic!("{what}: at {place} expected {:?}, found {:?}", expected[place], found[place]);
    }
    assert_eq!(expected.len(), found.len(), "{what}: lengths");
}
