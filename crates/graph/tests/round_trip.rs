//! Images that the importer makes pass the check, and exports of them import to the same graph again.

mod common;

use common::{Model, ModelIds, open, runtime};
use outcore_format::WeightKind;
use outcore_graph::generate::{GenerateOptions, GeneratedWeights, Shape, source};
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, OrderChoice, SelfLoops, import};
use outcore_graph::{Frontier, Graph, check, export, scan};
use outcore_image::Error;
use outcore_ingest::Choice;
use outcore_table::IdLookup;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SUFFIXES: [&str; 6] = ["txt", "csv.zst", "parquet", "mtx", "e", "graph"];

/// Edges by their ends' ids and how often each stands, without direction or with it.
fn edges(graph: &Graph) -> BTreeMap<(String, String), usize> {
    let lookup = IdLookup::new(graph.image()).unwrap();
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
            Err(Error::Unsuitable(_)) => continue,
            Err(error) => panic!("{suffix}: {error}"),
        };
        let again = directory.join("again.oc");
        let input =
            outcore_graph::import::open(&runtime(2), std::slice::from_ref(&output), &InputOptions::default()).unwrap();
        let options = ImportOptions {
            directed: Some(graph.is_directed()),
            duplicates: Duplicates::Keep,
            replace: true,
            ..ImportOptions::default()
        };
        import(&runtime(2), input, &again, &options).unwrap();
        let back = open(&again, 2);
        check(&back).unwrap();
        assert_eq!(
            (back.edges(), back.vertices()),
            (graph.edges(), graph.vertices()),
            "{suffix} of {}",
            image.display()
        );
        if !report.renumbered {
            assert!(edges(&back) == before, "{suffix} of {}", image.display());
        }
    }
}

#[test]
fn generated_graphs_pass_and_come_back() {
    for (i, &(shape, ..)) in Shape::ALL.iter().enumerate() {
        for order in [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
            for (self_loops, duplicates) in [
                (SelfLoops::Keep, Duplicates::First),
                (SelfLoops::Drop, Duplicates::Sum),
                (SelfLoops::Keep, Duplicates::Keep),
            ] {
                let weights = [Some(GeneratedWeights::Uniform), None, Some(GeneratedWeights::Unit), None][i % 4];
                let options = GenerateOptions { shape, scale: 9, edge_factor: 8, seed: 3, weights };
                let directory = tempfile::tempdir().unwrap();
                let image = directory.path().join("graph.oc");
                for directed in [true, false] {
                    let options_of_import = ImportOptions {
                        directed: Some(directed),
                        self_loops,
                        duplicates,
                        order,
                        replace: true,
                        allow_empty: false,
                        require_edges: 0,
                        refuse_empty_files: false,
                        rows: None,
                    };
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

/// The ids of all vertices.
fn vertices(graph: &Graph) -> BTreeSet<String> {
    let lookup = IdLookup::new(graph.image()).unwrap();
    (0..graph.vertices()).map(|vertex| lookup.id(vertex as u32).to_string()).collect()
}

#[test]
fn isolated_vertices_come_back_from_lists_of_edges() {
    let mut strange = Model::random(1, 9, 0, true, false);
    let odd = ["", " blank ", "# no comment", "%", "\"quoted\"", "a,b;c", "a", "b", "plain"];
    let mut odd: Vec<String> = odd.map(str::to_owned).to_vec();
    odd.sort();
    let place = |id: &str| odd.iter().position(|other| other == id).unwrap() as u32;
    strange.edges = vec![(place("a"), place("b"), 1.0)];
    let strange = strange.with_ids(ModelIds::Text(odd));
    let plain = Model::random(2, 500, 700, false, true);
    let models = [
        strange,
        plain.clone().with_ids(ModelIds::Range(-40)),
        plain.clone().with_ids(Model::sparse_ids(500)).with_weights(WeightKind::I64),
        plain.clone().with_ids(Model::signed_ids(500)),
        plain.with_ids(Model::text_ids(500)),
    ];
    for (i, model) in models.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&model.write(directory.path()), 2);
        let isolated = graph.manifest().import.isolated_vertices;
        assert!(isolated > 5, "model {i}: {isolated}");
        let edges_file = if graph.manifest().weights().is_some() { "e.wel" } else { "e.el" };
        for name in ["e.txt", "e.csv", "e.tsv.gz", "e.txt.zst", "e.parquet", edges_file] {
            let output = directory.path().join(name);
            assert_eq!(export(&graph, &output).unwrap().isolated_vertices, isolated);
            let again = directory.path().join("again.oc");
            let input =
                outcore_graph::import::open(&runtime(2), std::slice::from_ref(&output), &InputOptions::default())
                    .unwrap();
            let notes = input.facts().notes.concat();
            assert!(notes.contains(&format!("{name}.vertices")), "{notes}");
            let options =
                ImportOptions { directed: Some(graph.is_directed()), replace: true, ..ImportOptions::default() };
            let report = import(&runtime(2), input, &again, &options).unwrap();
            assert_eq!(report.manifest.import.isolated_vertices, isolated, "model {i} as {name}");
            let back = open(&again, 2);
            check(&back).unwrap();
            assert!(vertices(&back) == vertices(&graph) && edges(&back) == edges(&graph), "model {i} as {name}");
        }
    }
}

#[test]
fn several_files_have_each_their_own_vertices_beside_and_wrong_ones_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = [write("a.txt", "1 2\n"), write("b.txt", "2 3\n")];
    write("a.txt.vertices", "# more\n7\n2\n");
    let last = write("b.txt.vertices", "8\n");
    let image = directory.path().join("graph.oc");
    let import = |files: &[PathBuf]| {
        let input = outcore_graph::import::open(&runtime(2), files, &InputOptions::default()).unwrap();
        import(&runtime(2), input, &image, &ImportOptions { replace: true, ..ImportOptions::default() })
    };
    import(&files).unwrap();
    assert_eq!(vertices(&open(&image, 1)), ["1", "2", "3", "7", "8"].map(str::to_owned).into());
    std::fs::write(last, "8\n\nanna\n").unwrap();
    let error = import(&files[1..]).unwrap_err().to_string();
    assert!(error.contains("b.txt.vertices:3: expected one vertex"), "{error}");
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
        for order in [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
            let directory = tempfile::tempdir().unwrap();
            let image = directory.path().join("graph.oc");
            let [source, target, weight] =
                ["1", "2", "3"].map(|number| name.ends_with(".csv.zst").then(|| number.to_owned()));
            let columns = InputOptions { source, target, weight, ..InputOptions::default() };
            let input = outcore_graph::import::open(&runtime(2), std::slice::from_ref(&path), &columns).unwrap();
            let options = ImportOptions { directed: Some(directed), order, replace: true, ..ImportOptions::default() };
            import(&runtime(2), input, &image, &options).unwrap();
            check(&open(&image, 2)).unwrap();
            exports_import_again(&image, directory.path());
        }
    }
}
