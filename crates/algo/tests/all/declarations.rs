//! Declarations agree with the typed options and results, with each other, and with the documentation.

use crate::engine::*;
use outcore_algo::*;
use outcore_graph::import::OrderChoice;
use std::collections::BTreeSet;
use std::path::Path;

/// The graph of these tests, directed.
fn graph(directory: &Path) -> outcore_graph::Graph {
    graph_with(directory, true)
}

/// Vertices 0 to 9, some of them joined.
fn graph_with(directory: &Path, directed: bool) -> outcore_graph::Graph {
    let given = Given { weighted: true, ..Given::new(10, vec![(0, 1), (1, 2), (2, 0), (2, 3), (5, 6)], directed) };
    open(&given.image(directory, OrderChoice::Input), 1, None, None)
}

/// Whether an algorithm takes a graph: it may be for directed graphs only, or for undirected ones.
fn takes(algorithm: &'static Algorithm, graph: &outcore_graph::Graph) -> bool {
    let values = OptionValues::of_example(algorithm, algorithm.examples[0], 0).unwrap();
    let found = algorithm.plan(graph, values).and_then(|plan| plan.run(graph, false, None).map(drop));
    !matches!(found, Err(Error::Usage(_)))
}

/// The typed options that come of these texts.
fn options(graph: &outcore_graph::Graph, name: &str, given: &[(&str, &str)]) -> String {
    let algorithm = Algorithm::named(name).unwrap();
    algorithm.plan(graph, OptionValues::of_example(algorithm, given, 0).unwrap()).unwrap().options()
}

#[test]
fn declared_defaults_are_those_of_the_typed_options() {
    let directory = tempfile::tempdir().unwrap();
    let graph = graph(directory.path());
    let same = |name, given: &[_], typed: &dyn std::fmt::Debug| {
        assert_eq!(options(&graph, name, given), format!("{typed:?}"), "{name}");
    };
    let unweighted = ("weight", "");
    same("bfs", &[("source", "0")], &BfsOptions::default());
    same("multi_source_bfs", &[("sources", "3")], &MultiSourceBfsOptions { sources: vec![3], ..Default::default() });
    same("all_pairs", &[], &AllPairsOptions::default());
    same("betweenness_centrality", &[], &BetweennessOptions::default());
    same("pagerank", &[unweighted], &PageRankOptions::default());
    let personalized = PersonalizedPageRankOptions { seeds: vec![vec![(4, 1.0)]], ..Default::default() };
    same("personalized_pagerank", &[("seeds", "4"), unweighted], &personalized);
    same("label_propagation", &[], &LabelPropagationOptions::default());
    same("scan_statistics", &[], &ScanStatisticsOptions::default());
    same("node_boundary", &[("vertices", "3,1")], &NodeBoundaryOptions { vertices: vec![3, 1] });
    same("sssp", &[("source", "1")], &SsspOptions { source: 1, weights: true, delta: None });
}

#[test]
fn texts_of_options_become_typed_options() {
    let directory = tempfile::tempdir().unwrap();
    let graph = graph(directory.path());
    let text = options(&graph, "bfs", &[("source", "2"), ("cutoff", "7"), ("target", "3")]);
    assert_eq!(text, format!("{:?}", BfsOptions { source: 2, depth_limit: Some(7), target: Some(3) }));
    let drawn = Sources::Drawn { k: 5, seed: 9 };
    let expected = BetweennessOptions { sources: drawn, normalized: false, endpoints: true, failure: 0.25 };
    let given = [("k", "5"), ("seed", "9"), ("normalized", "false"), ("endpoints", "true"), ("failure", "0.25")];
    assert_eq!(options(&graph, "betweenness_centrality", &given), format!("{expected:?}"));
    for (name, given, expected) in [
        ("bfs", [("depth_limit", "4294967296")], "a whole number from 0 to 2^32-1, found 4294967296"),
        ("scan_statistics", [("top", "0")], "expected top of at least 1, found 0"),
        ("pagerank", [("stop", "never")], "expected stop to be one of 'residual', 'networkx', found 'never'"),
        ("pagerank", [("alfa", "1")], "pagerank has no option 'alfa'; it has alpha, tol,"),
        ("bfs", [("target", "1")], "expected the option source, found none"),
    ] {
        let error = OptionValues::of_example(Algorithm::named(name).unwrap(), &given, 0).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let both = [("sources", "1,2"), ("seed", "3")];
    let error = OptionValues::of_example(Algorithm::named("all-pairs").unwrap(), &both, 0).unwrap_err().to_string();
    assert_eq!(error, "expected seed or sources, found both");
}

#[test]
fn real_numbers_that_doubles_do_not_hold_are_refused() {
    let option = Parameter::new("tol", Kind::Real, DefaultValue::Real(0.0), "");
    for (text, value) in [("0", 0.0), ("0e5", 0.0), ("-0.000", 0.0), ("-1e-9", -1e-9), ("5e-324", 5e-324)] {
        assert_eq!(option.parse(text), Ok(Value::Real(value)));
    }
    assert_eq!(option.parse("inf"), Ok(Value::Real(f64::INFINITY)));
    for text in ["1e-400", "-0.1e-400", "1e400"] {
        let refused = option.parse(text).unwrap_err();
        assert_eq!(
            refused,
            format!("expected 0 or a number from 4.9e-324 to 1.7e308, whatever its sign, found {text}")
        );
    }
    assert_eq!(option.parse("one").unwrap_err(), "expected a number, found one");
}

#[test]
fn long_numbers_in_messages_have_exponents() {
    let directory = tempfile::tempdir().unwrap();
    let graph = graph(directory.path());
    for (failure, text) in [
        (1e308, "1e308"),
        (-5e-324, "-5e-324"),
        (0.0, "0"),
        (1.5, "1.5"),
        (-3.0, "-3"),
        (1e15, "1000000000000000"),
        (1e16, "1e16"),
        (-0.0001, "-0.0001"),
        (f64::INFINITY, "inf"),
    ] {
        let options = BetweennessOptions { failure, ..BetweennessOptions::default() };
        let error = betweenness_centrality(&graph, &options).map(drop).unwrap_err().to_string();
        assert!(error.ends_with(&format!("expected a probability between 0 and 1, found {text}")), "{error}");
    }
}

#[test]
fn names_are_unique_and_results_have_what_was_declared() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let graphs = [graph_with(directories[0].path(), true), graph_with(directories[1].path(), false)];
    let mut names = BTreeSet::new();
    for algorithm in ALGORITHMS {
        for name in algorithm.aliases.iter().chain([&algorithm.name]) {
            assert!(names.insert(*name), "{name} is the name of two algorithms");
        }
        let mut own = BTreeSet::new();
        for option in algorithm.options {
            let all = option.aliases.iter().chain([&option.name]);
            assert!(all.clone().all(|name| own.insert(*name)), "{}: two options {}", algorithm.name, option.name);
            option.instead_of.iter().chain(&option.needs).for_each(|other| _ = algorithm.option(other).unwrap());
            assert!(!option.help.ends_with('.'), "{}: {}", algorithm.name, option.help);
        }
        let graph = graphs.iter().find(|graph| takes(algorithm, graph));
        let graph = graph.unwrap_or_else(|| panic!("{} takes no graph", algorithm.name));
        for example in algorithm.examples {
            let plan = algorithm.plan(graph, OptionValues::of_example(*algorithm, example, 0).unwrap()).unwrap();
            let estimate = plan.estimate(graph);
            let mut lines = Vec::new();
            let found = plan.run(graph, true, Some(&mut |line| lines.push(line.to_string()))).unwrap();
            assert!(!lines.is_empty(), "{} reports nothing", algorithm.name);
            assert!(!found.columns.is_empty(), "{} has no value per vertex", algorithm.name);
            assert_eq!(found.columns.len(), estimate.columns.len(), "{}", algorithm.name);
            assert_eq!(found.attributes.len(), algorithm.attributes.len(), "{}", algorithm.name);
            for (datum, attribute) in found.attributes.iter().zip(algorithm.attributes) {
                let (kind, found) = (format!("{:?}", attribute.kind), format!("{datum:?}"));
                assert!(found.starts_with(&kind), "{}: {} is {found}", algorithm.name, attribute.name);
            }
            assert!(found.shown.iter().all(|(_, column)| *column < found.columns.len()));
        }
    }
}

/// Between these the table of the documentation stands.
const BEGIN: &str =
    "<!-- made of the declarations: OUTCORE_WRITE=1 cargo test -p outcore-algo --test all declarations -->\n";
const END: &str = "<!-- end -->\n";

#[test]
fn the_documentation_has_every_algorithm() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut table = String::from("| name | what it finds | options | also called |\n|---|---|---|---|\n");
    for algorithm in ALGORITHMS {
        let quoted = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let options = quoted(algorithm.options.iter().map(|option| option.name).collect());
        let (name, summary, aliases) = (algorithm.name, algorithm.summary, quoted(algorithm.aliases.to_vec()));
        table += &format!("| [`{name}`](#{name}) | {summary} | {options} | {aliases} |\n");
        assert!(text.contains(&format!("\n## {name}\n")), "docs/algorithms.md has no section {name}");
    }
    let (before, rest) = text.split_once(BEGIN).expect("the place of the table");
    let (old, after) = rest.split_once(END).expect("the end of the table");
    if std::env::var_os("OUTCORE_WRITE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, table, "the table is old; write it with OUTCORE_WRITE=1");
    }
}
