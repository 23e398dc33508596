//! Numbers of vertices that a graph does not have, and sizes that nothing has: errors, and never a panic.

use outcore::arrow::array::RecordBatch;
use outcore::data::{EdgeBatches, EdgeData, EdgesFrom, VertexData, first_edges};
use outcore::engine::{Bitmap, EdgeMapper, Frontier, scan, scan_pages};
use outcore::front_ends::{graph500, shown_members};
use outcore::import::{ImportOptions, Part};
use outcore::io::Buffer;
use outcore::learn::{
    GaussianMixtureOptions, GaussianNbOptions, KMeansOptions, LogisticRegressionOptions, PcaOptions,
    TruncatedSvdOptions,
};
use outcore::linalg::{
    EigsOptions, EigshOptions, NmfOptions, RandomizedSvdOptions, SolveOptions, SpectralEmbeddingOptions, SvdsOptions,
};
use outcore::matrix::{Operand, Semiring, SparseMatrix};
use outcore::*;
use std::sync::Arc;

/// The number of vertices; they are numbered from 0.
const END: u32 = 64;

fn graph() -> Graph {
    let options = RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    let options = generate::GenerateOptions { scale: 6, edge_factor: 4, ..generate::GenerateOptions::default() };
    let undirected = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    Graph::in_memory(&runtime, generate::source(&options).unwrap(), &undirected).unwrap()
}

/// Each of these names a vertex that the graph does not have.
#[track_caller]
fn no_vertex<T>(outcome: Result<T>) {
    match outcome.map(drop) {
        Err(Error::NoVertex { vertices: 64, .. }) => {}
        other => panic!("expected a vertex that is not there, found {other:?}"),
    }
}

#[test]
fn looks_at_vertices_that_are_not_there() {
    let graph = graph();
    for vertex in [END, u32::MAX] {
        no_vertex(graph.id(vertex));
        no_vertex(graph.ids().unwrap().id(vertex).map(drop));
        no_vertex(graph.ids_of(&[0, vertex, 3]));
        no_vertex(graph.degree(vertex));
        no_vertex(graph.neighbours(vertex, Direction::In));
        no_vertex(graph.edges_between(vertex, 0));
        no_vertex(graph.edges_between(0, vertex));
        let edges = EdgesFrom::new(&graph).unwrap();
        no_vertex(edges.of(vertex));
        no_vertex(edges.between(0, vertex));
        no_vertex(edges.between(vertex, 0));
        no_vertex(edges.all_between(0, vertex));
        // And what is there is found afterwards.
        assert_eq!(edges.of(0).unwrap().num_rows(), graph.neighbours(0, Direction::Out).unwrap().len());
        let data = VertexData::new(&graph).unwrap();
        no_vertex(data.of(vertex));
        assert_eq!(data.of(END - 1).unwrap().num_rows(), 1);
        no_vertex(Part::of_numbers(&graph, [5, 6, vertex].into_iter()));
    }
}

#[test]
fn sets_and_lists_of_vertices_that_are_not_there() {
    let graph = graph();
    let budget = graph.runtime().budget();
    for size in [10, 10_000] {
        let set = Arc::new(Bitmap::new(budget, "a test", size).unwrap());
        set.insert(0);
        if size < u64::from(END) {
            set.insert(63);
            continue;
        }
        let batches = EdgeBatches::new(&graph, EdgeData::default(), 0).unwrap();
        no_vertex(batches.within(Arc::clone(&set)));
        no_vertex(graph.lists(Direction::Out, Frontier::Set(&set)).into_iter().collect::<Result<Vec<_>>>());
    }
    for frontier in [Frontier::List(&[1, END]), Frontier::Range { first: 0, end: END + 1 }] {
        no_vertex(scan(&graph, Direction::Out, frontier, || (), |(), _| ()));
        no_vertex(scan_pages(&graph, Direction::Out, frontier, || (), |(), _, _| ()));
        no_vertex(graph.lists(Direction::Out, frontier).par_for_each(|| (), |(), _| ()));
        no_vertex(graph.lists(Direction::Out, frontier).into_iter().collect::<Result<Vec<_>>>());
    }
    no_vertex(EdgeMapper::new(&graph, END));
    let mut mapper = EdgeMapper::idle(&graph).unwrap();
    no_vertex(mapper.restart(Direction::Out, END));
    let set = Bitmap::new(budget, "a test", 1000).unwrap();
    no_vertex(mapper.restart_with(Direction::Out, &set));
    mapper.restart(Direction::Out, 0).unwrap();
    no_vertex(mapper.push_step(|_, _, next| next.activate(END)));
}

#[test]
fn algorithms_of_vertices_that_are_not_there() {
    let graph = &graph();
    let (beyond, given) = (vec![0, END], || Sources::Given(vec![0, END]));
    let search = BfsOptions { source: 0, target: None, depth_limit: None };
    no_vertex(bfs(graph, &BfsOptions { source: END, ..search }));
    no_vertex(bfs(graph, &BfsOptions { target: Some(END), ..search }));
    let found = bfs(graph, &search).unwrap();
    no_vertex(found.path(graph, END));
    assert_eq!((found.level(END), found.parent(u32::MAX)), (None, None));
    let options = generate::GenerateOptions { scale: 6, edge_factor: 4, ..generate::GenerateOptions::default() };
    no_vertex(graph500::verify_bfs(graph, &options, END, &found));
    let search = SsspOptions { source: 0, weights: false, delta: None };
    no_vertex(sssp(graph, &SsspOptions { source: END, ..search }));
    let found = sssp(graph, &search).unwrap();
    no_vertex(found.path(graph, END));
    assert_eq!((found.distance(END), found.parent(u32::MAX)), (None, None));
    let of_some = MultiSourceBfsOptions { sources: vec![0], targets: vec![1], ..Default::default() };
    no_vertex(multi_source_bfs(graph, &MultiSourceBfsOptions { sources: beyond.clone(), ..of_some.clone() }));
    no_vertex(multi_source_bfs(graph, &MultiSourceBfsOptions { targets: beyond.clone(), ..of_some.clone() }));
    let found = multi_source_bfs(graph, &of_some).unwrap();
    assert_eq!([found.level(1, 0), found.level(0, 1), found.level(usize::MAX, usize::MAX)], [None; 3]);
    no_vertex(all_pairs(graph, &AllPairsOptions { sources: given() }));
    let options = BetweennessOptions { sources: given(), ..BetweennessOptions::default() };
    no_vertex(betweenness_centrality(graph, &options));
    let options = PersonalizedPageRankOptions { seeds: vec![vec![(END, 1.0)]], ..Default::default() };
    no_vertex(personalized_pagerank(graph, &options));
    no_vertex(node_boundary(graph, &NodeBoundaryOptions { vertices: beyond }));
}

#[test]
fn tables_of_vertices_that_are_not_there() {
    let graph = graph();
    let values = |value: u32| {
        let mut values = Buffer::<u32>::zeroed(graph.runtime().budget(), "a test", END as usize).unwrap();
        values[7] = value;
        Arc::new(values)
    };
    let wrong = [Column::Vertex(values(!END)), Column::Component(values(END)), Column::Label(values(u32::MAX - 1))];
    for column in wrong {
        let table = graph.table(vec![("column".to_owned(), column.clone())]);
        no_vertex(table.reader());
        no_vertex(table.preview(3, None));
        no_vertex(table.row("0"));
        if column.names_groups() {
            no_vertex(table.group_sizes(&column));
            no_vertex(table.largest_groups(&column, 3));
        }
    }
    let count = Column::Number(values(3));
    let table = graph.table(vec![("count".to_owned(), count)]).in_order(values(END));
    no_vertex(table.reader());
    no_vertex(table.top(3, "count"));
    no_vertex(table.preview(100, None));
    no_vertex(shown_members(graph.image(), &values(END)));
}

/// Each of these has a size that nothing has.
#[track_caller]
fn refused<T>(outcome: Result<T>) {
    match outcome.map(drop) {
        Err(Error::Usage(_) | Error::Memory { .. } | Error::Unsuitable(_)) => {}
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn sizes_that_overflow() {
    let graph = graph();
    let budget = graph.runtime().budget();
    for size in [usize::MAX, 1 << 58] {
        refused(budget.reserve("a test", size as u64));
        refused(graph.make_room("a test", size as u64));
        refused(Buffer::<u64>::zeroed(budget, "a test", size));
        refused(EdgeBatches::new(&graph, EdgeData::default(), size as u64));
        let matrix = SparseMatrix::new(&graph, false).unwrap();
        let mut product = vec![0.0; END as usize];
        for operand in [Operand::Matrix, Operand::Transpose] {
            let factor = vec![0.0; END as usize];
            refused(matrix.multiply(Semiring::PlusTimes, operand, &factor, size, &mut product));
        }
        refused(linalg::eigsh(&matrix, &EigshOptions { ncv: Some(size), ..EigshOptions::default() }));
        refused(linalg::eigsh(&matrix, &EigshOptions { k: size, ..EigshOptions::default() }));
        refused(linalg::eigs(&matrix, &EigsOptions { ncv: Some(size), ..EigsOptions::default() }));
        refused(linalg::svds(&matrix, &SvdsOptions { ncv: Some(size), k: 2, ..SvdsOptions::default() }));
        let ones = array::Array::full(vec![4, 3], array::kernel::Scalar::Float64(1.0)).unwrap();
        let labels = array::Array::full(vec![4], array::kernel::Scalar::Int64(0)).unwrap();
        refused(ones.group_fold(array::kernel::Fold::Sum, &labels, size as u64));
        // Sizes of answers are those of what there is.
        let rows = |batch: Result<RecordBatch>| batch.unwrap().num_rows() as u64;
        let degrees = degree_centrality(&graph, &DegreeCentralityOptions::default()).unwrap();
        let table = graph.table(vec![("centrality".to_owned(), Column::Real(Arc::new(degrees.centralities)))]);
        assert_eq!(rows(table.preview(size, None)), u64::from(END));
        assert_eq!(rows(table.top(size, "centrality")), u64::from(END));
        assert_eq!(rows(first_edges(&graph, size)), graph.edges());
    }
}

/// Numbers of classes, clusters, components, columns, iterations and seeds.
#[test]
fn models_of_sizes_that_overflow() {
    let runtime = &Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap();
    let x = &array::Array::from_vec((0..40).map(f64::from).collect(), vec![20, 2]).unwrap();
    let labels = &array::Array::from_vec((0..20).map(|i| i % 2).collect::<Vec<i64>>(), vec![20]).unwrap();
    for size in [usize::MAX, 1 << 62, 1 << 40] {
        let logistic = LogisticRegressionOptions { max_iterations: size, ..Default::default() };
        refused(learn::logistic_regression(runtime, x, labels, size, &logistic));
        learn::logistic_regression(runtime, x, labels, 2, &logistic).unwrap();
        refused(learn::gaussian_nb(runtime, x, labels, size, &GaussianNbOptions::default()));
        let kmeans =
            KMeansOptions { clusters: 2, starts: 2, max_iterations: size, seed: u64::MAX, ..Default::default() };
        learn::kmeans(runtime, x, &kmeans).unwrap();
        refused(learn::kmeans(runtime, x, &KMeansOptions { clusters: size, ..kmeans }));
        let mixture = GaussianMixtureOptions {
            components: 2,
            starts: 2,
            max_iterations: size,
            regularisation: 1.0,
            seed: u64::MAX,
            ..Default::default()
        };
        learn::gaussian_mixture(runtime, x, &mixture).unwrap();
        refused(learn::gaussian_mixture(runtime, x, &GaussianMixtureOptions { components: size, ..mixture }));
        refused(learn::pca(runtime, x, &PcaOptions { components: Some(size), ..Default::default() }));
        let factors = TruncatedSvdOptions { components: size, ..Default::default() };
        refused(learn::truncated_svd(runtime, x, &factors));
    }
}

#[test]
fn solvers_of_sizes_that_overflow() {
    let graph = graph();
    let matrix = &SparseMatrix::new(&graph, false).unwrap();
    let ones = &vec![1.0; END as usize];
    for size in [usize::MAX, 1 << 62, 1 << 40] {
        let mut result = ones.clone();
        refused(linalg::expm_multiply(matrix, ones, size, &[1.0], &mut result));
        refused(linalg::expm_multiply(matrix, &[], size, &[1.0], &mut []));
        refused(linalg::spectral_embedding(matrix, &SpectralEmbeddingOptions { k: size, ..Default::default() }));
        let embedding = SpectralEmbeddingOptions { ncv: Some(size), ..Default::default() };
        refused(linalg::spectral_embedding(matrix, &embedding));
        refused(linalg::eigsh(matrix, &EigshOptions { block: size, ..Default::default() }));
        refused(linalg::randomized_svd(matrix, &RandomizedSvdOptions { k: size, ..Default::default() }));
        refused(linalg::nmf(matrix, &NmfOptions { n_components: size, ..Default::default() }));
        let most = EigshOptions { k: 1, max_iterations: size as u64, seed: u64::MAX, ..Default::default() };
        linalg::eigsh(matrix, &most).unwrap();
        // More than the matrix has rows is as many.
        linalg::randomized_svd(matrix, &RandomizedSvdOptions { k: 2, oversamples: size, ..Default::default() })
            .unwrap();
        linalg::gmres(matrix, ones, &SolveOptions { restart: size, ..Default::default() }).unwrap();
        linalg::minres(matrix, ones, &SolveOptions { max_iterations: Some(size as u64), ..Default::default() })
            .unwrap();
        refused(linalg::bellman_ford(matrix, &[size as u64], &Default::default(), &mut result));
        for operand in [Operand::Matrix, Operand::Transpose] {
            refused(matrix.plan(operand, 1, size as u64));
            assert!(matrix.plan(operand, size, 0).unwrap().passes > 0);
        }
    }
}
