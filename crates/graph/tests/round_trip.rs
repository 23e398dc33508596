//! What the importer makes passes the check, and what is exported from it imports to the same graph again.

mod common;

use common::{open, runtime};
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, OrderChoice, SelfLoops, import};
use outcore_graph::{Error, Frontier, Graph, IdLookup, check, export, scan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SUFFIXES: [&str; 6] = ["txt", "csv.zst", "parquet", "mtx", "e", "graph"];

/// Edges by their ends' ids and how often each stands, without direction or with it.
fn edges(graph: &Graph) -> BTreeMap<(String, String), usize> {
    let lookup = IdLookup::new(graph).unwrap();
    let (parts, _) = scan(graph, outcore_graph::Direction::Out, Frontier::All, Vec::new, |all: &mut Vec<_>, list| {
        all.extend(list.neighbours.iter().map(|&neighbour| (list.vertex, neighbour)));
    })
    .unwrap();
    let mut counts = BTreeMap::new();
    for (source, target) in parts.into_iter().flatten() {
        *counts.entry((lookup.id(source).to_string(), lookup.id(target).to_string())).or_insert(0) += 1;
    }
    counts
}

fn exports_import_again(image: &Path, directory: &Path) {
    let graph = open(image, 2);
    let before = edges(&graph);
    for suffix in SUFFIXES {
        let output = directory.join(format!("again.{suffix}"));
        let report = match export(&graph, &output) {
            Ok(report) => report,
            // METIS has no direction, Graphalytics no strings and no numbers below 0.
            Err(Error::Usage(_)) => continue,
            Err(error) => panic!("{suffix}: {error}"),
        };
        let again = directory.join("again.oc");
        let input = outcore_graph::import::open(std::slice::from_ref(&output), &InputOptions::default()).unwrap();
        let options = ImportOptions {
            directed: Some(graph.is_directed()),
            duplicates: Duplicates::Keep,
            ..ImportOptions::default()
        };
        import(&runtime(2), input, &again, &options).unwrap();
        let back = open(&again, 2);
        check(&back).unwrap();
        assert_eq!(back.edges(), graph.edges(), "{suffix} of {}", image.display());
        if !report.renumbered {
            assert!(edges(&back) == before, "{suffix} of {}", image.display());
        }
    }
}

#[test]
fn generated_graphs_pass_and_come_back() {
    for (i, shape) in Shape::ALL.into_iter().enumerate() {
        for order in [OrderChoice::Input, OrderChoice::Degree] {
            for (self_loops, duplicates) in [
                (SelfLoops::Keep, Duplicates::First),
                (SelfLoops::Drop, Duplicates::Sum),
                (SelfLoops::Keep, Duplicates::Keep),
            ] {
                let options = GenerateOptions { shape, scale: 9, edge_factor: 8, seed: 3, weights: i % 2 == 0 };
                let directory = tempfile::tempdir().unwrap();
                let image = directory.path().join("graph.oc");
                for directed in [true, false] {
                    let options_of_import = ImportOptions { directed: Some(directed), self_loops, duplicates, order };
                    import(&runtime(2), source(&options).unwrap(), &image, &options_of_import).unwrap();
                    let report = check(&open(&image, 2))
                        .unwrap_or_else(|error| panic!("{shape:?} {order:?} {duplicates:?} {directed}: {error}"));
                    assert_eq!(report.vertices, 512);
                    if duplicates == Duplicates::First && matches!(shape, Shape::Kronecker | Shape::Grid) {
                        exports_import_again(&image, directory.path());
                    }
                }
            }
        }
    }
}

#[test]
fn real_graphs_pass_and_come_back() {
    let root = std::env::var_os("OUTCORE_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    for (name, directed) in
        [("wiki-Vote.txt.zst", true), ("blogcatalog.edgelist.zst", false), ("soc-sign-bitcoinotc.csv.zst", true)]
    {
        let path = root.join("graphs").join(name);
        if !path.is_file() {
            println!("skipped: there is no {}", path.display());
            continue;
        }
        for order in [OrderChoice::Input, OrderChoice::Degree] {
            let directory = tempfile::tempdir().unwrap();
            let image = directory.path().join("graph.oc");
            let input = outcore_graph::import::open(std::slice::from_ref(&path), &InputOptions::default()).unwrap();
            let options = ImportOptions { directed: Some(directed), order, ..ImportOptions::default() };
            import(&runtime(2), input, &image, &options).unwrap();
            check(&open(&image, 2)).unwrap();
            exports_import_again(&image, directory.path());
        }
    }
}
