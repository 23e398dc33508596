//! Results as users of the library take them: by vertex, as tables, and the greatest of them.

use crate::engine::*;
use outcore_algo::*;
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use outcore_ingest::Choice;
use outcore_table::Table;

/// A path of three vertices, and a vertex for itself.
fn path(directory: &std::path::Path) -> Graph {
    let given = Given { weighted: true, weight: |_, _| 2.5, ..Given::new(4, vec![(0, 1), (1, 2)], true) };
    open(&given.image(directory, OrderChoice::Input), 1, None, None)
}

fn written(table: &Table) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.csv");
    table.write(&file).unwrap();
    std::fs::read_to_string(file).unwrap()
}

fn pairs(table: &Table, k: usize, column: &str) -> Vec<(String, f64)> {
    table.greatest(k, column).unwrap().into_iter().map(|(id, value)| (id.to_string(), value)).collect()
}

#[test]
fn values_come_by_vertex_and_in_the_order_of_vertices_without_a_code() {
    let directory = tempfile::tempdir().unwrap();
    let graph = path(directory.path());
    let found = bfs(&graph, &BfsOptions::default()).unwrap();
    assert_eq!(found.levels().collect::<Vec<_>>(), [Some(0), Some(1), Some(2), None]);
    assert_eq!(found.parents().collect::<Vec<_>>(), [Some(0), Some(0), Some(1), None]);
    assert_eq!((found.levels().len(), found.level(2), found.level(3), found.level(4)), (4, Some(2), None, None));
    let found = sssp(&graph, &SsspOptions::default()).unwrap();
    assert_eq!(found.distances().collect::<Vec<_>>(), [Some(0.0), Some(2.5), Some(5.0), None]);
    assert_eq!(found.parents().collect::<Vec<_>>(), [Some(0), Some(0), Some(1), None]);
    assert_eq!((found.distance(1), found.distance(3), found.distance(4)), (Some(2.5), None, None));
    let found = node_boundary(&graph, &NodeBoundaryOptions { vertices: vec![0, 1] }).unwrap();
    assert_eq!(found.edges().collect::<Vec<_>>(), [None, None, Some(1), None]);
    assert_eq!((found.edges_to(2), found.edges_to(1), found.edges_to(4)), (Some(1), None, None));
    let found = reciprocity(&graph, &ReciprocityOptions::default()).unwrap();
    assert_eq!(found.reciprocities().collect::<Vec<_>>(), [Some(0.0), Some(0.0), Some(0.0), None]);
    assert_eq!((found.reciprocity(0), found.reciprocity(3), found.reciprocity(4)), (Some(0.0), None, None));
    let undirected = Given::new(4, vec![(0, 1), (1, 2)], false).image(directory.path(), OrderChoice::Input);
    let found = two_colours(&open(&undirected, 1, None, None)).unwrap();
    assert_eq!(found.colours().collect::<Vec<_>>(), [Some(0), Some(1), Some(0), Some(0)]);
    assert_eq!((found.colour(1), found.colour(4)), (Some(1), None));
}

#[test]
fn tables_have_ids_and_missing_values() {
    let directory = tempfile::tempdir().unwrap();
    let graph = path(directory.path());
    let table = sssp(&graph, &SsspOptions::default()).unwrap().into_table(&graph).unwrap();
    assert_eq!(written(&table), "vertex,distance,parent\n0,0.0,0\n1,2.5,0\n2,5.0,1\n3,,\n");
    let table = bfs(&graph, &BfsOptions::default()).unwrap().into_table(&graph).unwrap();
    assert_eq!(written(&table), "vertex,level,parent\n0,0,0\n1,1,0\n2,2,1\n3,,\n");
}

/// The table of every declared algorithm, run on `graph`, made of the vertices of another or the same; under its name,
/// with the texts of the options that it has.
type Tables = Vec<(&'static str, Vec<(&'static str, &'static str)>, Result<Table>)>;

fn tables(graph: &Graph, of: &Graph) -> Result<Tables> {
    let mut tables = vec![
        ("all_pairs", vec![], all_pairs(graph, &AllPairsOptions::default())?.into_table(of)),
        (
            "betweenness_centrality",
            vec![],
            betweenness_centrality(graph, &BetweennessOptions::default())?.into_table(of),
        ),
        ("degree_centrality", vec![], degree_centrality(graph, &DegreeCentralityOptions::default())?.into_table(of)),
        ("pagerank", vec![("weight", "")], pagerank(graph, &PageRankOptions::default())?.into_table(of)),
        ("connected_components", vec![], components(graph, &ComponentsOptions::default())?.into_table(of)),
        (
            "strongly_connected_components",
            vec![],
            strong_components(graph, &StrongComponentsOptions::default())?.into_table(of),
        ),
        ("core_number", vec![], core_number(graph, &CoreNumbersOptions::default())?.into_table(of)),
        ("label_propagation", vec![], label_propagation(graph, &LabelPropagationOptions::default())?.into_table(of)),
        ("triangles", vec![], triangles(graph, &TrianglesOptions::default())?.into_table(of)),
        ("clustering", vec![], clustering(graph, &ClusteringOptions::default())?.into_table(of)),
        ("lcc", vec![], lcc(graph, &LccOptions::default())?.into_table(of)),
        ("reciprocity", vec![], reciprocity(graph, &ReciprocityOptions::default())?.into_table(of)),
        ("scan_statistics", vec![], scan_statistics(graph, &ScanStatisticsOptions::default())?.into_table(of)),
    ];
    if graph.vertices() == 0 {
        return Ok(tables);
    }
    let searches = MultiSourceBfsOptions { sources: vec![0], ..Default::default() };
    let seeds = PersonalizedPageRankOptions { seeds: vec![vec![(0, 1.0)]], ..Default::default() };
    let boundary = NodeBoundaryOptions { vertices: vec![0] };
    tables.extend([
        ("bfs", vec![("source", "0")], bfs(graph, &BfsOptions::default())?.into_table(of)),
        (
            "sssp",
            vec![("source", "0")],
            sssp(graph, &SsspOptions { weights: false, ..Default::default() })?.into_table(of),
        ),
        ("multi_source_bfs", vec![("sources", "0")], multi_source_bfs(graph, &searches)?.into_table(of)),
        (
            "personalized_pagerank",
            vec![("personalization", "0"), ("weight", "")],
            personalized_pagerank(graph, &seeds)?.into_table(of),
        ),
        ("node_boundary", vec![("vertices", "0")], node_boundary(graph, &boundary)?.into_table(of)),
    ]);
    Ok(tables)
}

#[test]
fn tables_are_those_of_the_declared_algorithms() {
    let isolated = vec![(0, 1), (1, 2), (2, 0), (4, 4)];
    for (vertices, edges) in [(0, vec![]), (1, vec![]), (7, isolated)] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&Given::new(vertices, edges, true).image(directory.path(), OrderChoice::Input), 2, None, None);
        let tables = tables(&graph, &graph).unwrap();
        assert!(vertices == 0 || tables.len() == ALGORITHMS.len());
        for (name, options, table) in tables {
            let algorithm = Algorithm::named(name).unwrap();
            let plan = algorithm.plan(&graph, OptionValues::of_example(algorithm, &options, 0).unwrap()).unwrap();
            let declared = graph.table(plan.run(&graph, false, None).unwrap().columns);
            let table = table.unwrap();
            assert_eq!(table.rows(), u64::from(vertices), "{name}");
            assert_eq!(written(&table), written(&declared), "{name}");
            for (column, _) in table.columns() {
                assert!(algorithm.doc.returns.contains(&format!("`{column}`")), "{name}: its page lacks {column}");
            }
        }
    }
}

#[test]
fn several_sets_of_seeds_and_the_colours_have_columns_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let graph = path(directory.path());
    let options = PersonalizedPageRankOptions { seeds: vec![vec![(0, 1.0)], vec![(3, 1.0)]], ..Default::default() };
    let table = personalized_pagerank(&graph, &options).unwrap().into_table(&graph).unwrap();
    assert!(written(&table).starts_with("vertex,pagerank_0,pagerank_1\n"));
    assert_eq!(pairs(&table, 1, "pagerank_1"), [("3".to_owned(), 1.0)]);
    let edgeless = open(&Given::new(2, vec![], false).image(directory.path(), OrderChoice::Input), 1, None, None);
    let table = two_colours(&edgeless).unwrap().into_table(&edgeless).unwrap();
    assert_eq!(written(&table), "vertex,colour\n0,0\n1,0\n");
}

#[test]
fn the_greatest_are_those_of_sorting_all_of_them() {
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(true).image(directory.path(), order), 2, None, None);
        let ids = ids(&graph);
        let found = degree_centrality(&graph, &DegreeCentralityOptions::default()).unwrap();
        let mut all: Vec<_> = ids.iter().copied().zip(found.centralities.iter().copied()).collect();
        all.sort_by(|(id, value), (other, greater)| greater.total_cmp(value).then(id.cmp(other)));
        let all: Vec<_> = all.into_iter().map(|(id, value)| (id.to_string(), value)).collect();
        let table = found.into_table(&graph).unwrap();
        for k in [0, 1, 10, 234, 235, 1000] {
            assert_eq!(pairs(&table, k, "degree_centrality"), all[..k.min(235)], "{k}");
        }
        // Vertices out of reach have no level.
        let found = bfs(&graph, &BfsOptions { source: 0, ..Default::default() }).unwrap();
        let (reached, depth) = (found.reached as usize, f64::from(found.depth));
        let table = found.into_table(&graph).unwrap();
        let levels = pairs(&table, 235, "level");
        assert!(levels.len() == reached && reached < 235 && levels[0].1 == depth, "{levels:?}");
        assert_eq!(levels[reached - 1], (ids[0].to_string(), 0.0));
        let error = table.greatest(1, "parent").unwrap_err().to_string();
        assert!(error.contains("can be ranked by `level`"), "{error}");
        let error = table.greatest(1, "depth").unwrap_err().to_string();
        assert!(error.contains("there is no column `depth`"), "{error}");
        let error = table.greatest(1, "vertex").unwrap_err().to_string();
        assert!(error.starts_with("rows cannot be ranked by ids, as in `vertex`"), "{error}");
        let error = table.sorted("parent", false).unwrap_err().to_string();
        assert!(error.starts_with("rows cannot be ranked by vertices, as in `parent`"), "{error}");
    }
}

#[test]
fn results_of_other_graphs_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let folder = directory.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    };
    let graph = path(&at("graph"));
    let same = path(&at("same"));
    let edges = vec![(0, 2), (2, 3)];
    let other = Given { weighted: true, weight: |_, _| 2.5, ..Given::new(4, edges, true) };
    let other = open(&other.image(&at("other"), OrderChoice::Input), 1, None, None);
    for (name, _, table) in tables(&graph, &same).unwrap() {
        assert!(table.is_ok(), "{name}: an import of the same is the same");
    }
    for (name, _, table) in tables(&graph, &other).unwrap() {
        let error = table.expect_err(name);
        let text = "expected a result of this graph, whose image is";
        assert!(matches!(error, Error::Usage(_)) && error.to_string().contains(text), "{name}: {error}");
    }
    let found = bfs(&graph, &BfsOptions::default()).unwrap();
    assert!(matches!(found.path(&other, 2), Err(Error::Usage(_))));
    let found = sssp(&graph, &SsspOptions::default()).unwrap();
    assert!(matches!(found.path(&other, 2), Err(Error::Usage(_))));
    let found = components(&graph, &ComponentsOptions::default()).unwrap();
    assert!(matches!(found.sizes(&other), Err(Error::Usage(_))));
}

#[test]
fn choices_come_from_the_names_that_the_shell_has() {
    fn check<T: Choice + std::str::FromStr<Err = Error> + std::fmt::Debug>(refused: &str) {
        for &(value, name, _) in T::ALL {
            assert_eq!(name.parse::<T>().unwrap(), value);
        }
        let error = "sideways".parse::<T>().unwrap_err();
        assert!(matches!(error, Error::Usage(_)) && error.to_string().contains(refused), "{error}");
    }
    check::<Stop>("expected one of 'residual', 'networkx', found 'sideways'");
    check::<Dangling>("expected one of 'networkx', 'gap', found 'sideways'");
    check::<PageRankMethod>("expected one of 'power', 'delta', found 'sideways'");
    check::<DegreeEdges>("expected one of 'both', 'in', 'out', found 'sideways'");
    assert_eq!(
        PageRankOptions { method: "delta".parse().unwrap(), ..Default::default() }.method,
        PageRankMethod::Delta
    );
}
