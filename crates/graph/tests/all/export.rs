//! Export: what is written, read back by the importer's own parsers, is the graph.

use crate::common;

use common::{Model, ModelIds, open};
use outcore_format::{Order, WeightKind};
use outcore_graph::import::{BatchWeights, Block, EdgeBatch, Ids, ImportOptions, InputOptions};
use outcore_graph::{ExportReport, Graph, check_export_memory, export, export_vertices, export_with};
use outcore_image::Error;
use outcore_io::Buffer;
use outcore_table::{Column, Table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Edges as text: source, target, weight; those without direction with the ends in order.
type Edges = BTreeSet<(String, String, String)>;

fn text_of(ids: &Ids, i: usize) -> String {
    match ids {
        Ids::Integer { values, negative: true, .. } => (values[i] as i64).to_string(),
        Ids::Integer { values, .. } => values[i].to_string(),
        Ids::Text { bytes, ends } => {
            let start = if i == 0 { 0 } else { ends[i - 1] as usize };
            String::from_utf8(bytes[start..ends[i] as usize].to_vec()).unwrap()
        }
    }
}

fn edge(one: String, other: String, weight: Option<f64>, directed: bool) -> (String, String, String) {
    let (one, other) = if directed || one <= other { (one, other) } else { (other, one) };
    (one, other, weight.map_or(String::new(), |weight| format!("{weight:?}")))
}

/// Edges and vertices of a file, by the importer's parsers.
fn read(path: &Path, directed: bool) -> (Edges, BTreeSet<String>, Option<bool>) {
    let mut source =
        outcore_graph::import::open(&common::runtime(1), &[path.to_owned()], &InputOptions::default()).unwrap();
    let (parser, facts) = (source.parser(), source.facts().clone());
    let (mut edges, mut vertices) = (Edges::new(), BTreeSet::new());
    let mut blocks = std::iter::from_fn(|| source.next_block().unwrap()).flat_map(Block::parts);
    while let Some(block) = blocks.next().transpose().unwrap() {
        let mut batch = EdgeBatch::new(facts.string_ids);
        parser.parse(&block, &mut batch, &mut |_| Ok(())).unwrap();
        for i in 0..batch.ids.len() / 2 {
            let weight = match &batch.weights {
                BatchWeights::None => None,
                BatchWeights::Integer(values) => Some(values[i] as f64),
                BatchWeights::Real(values) => Some(values[i]),
                BatchWeights::Complex(_) => panic!("graphs have no complex weights"),
            };
            let (one, other) = (text_of(&batch.ids, 2 * i), text_of(&batch.ids, 2 * i + 1));
            vertices.extend([one.clone(), other.clone()]);
            assert!(edges.insert(edge(one, other, weight, directed)), "every edge once");
        }
        vertices.extend((0..batch.vertices.len()).map(|i| text_of(&batch.vertices, i)));
    }
    drop(blocks);
    if let Some((first, count)) = source.declared().filter(|(_, count)| *count > 0) {
        vertices.extend((0..count).map(|i| first.wrapping_add(i).to_string()));
    }
    (edges, vertices, facts.directed)
}

fn expected(model: &Model, name: impl Fn(usize) -> String) -> Edges {
    let weight = |weight: f64| model.weights.map(|_| weight);
    let named =
        |&(one, other, w): &(u32, u32, f64)| edge(name(one as usize), name(other as usize), weight(w), model.directed);
    model.edges.iter().map(named).collect()
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn exported(model: &Model, directory: &Path, name: &str) -> Result<(ExportReport, PathBuf), Error> {
    let image = model.write(directory);
    let output = directory.join(name);
    let report = export(&open(&image, 2), &output)?;
    assert_eq!(report.edges, model.edges.len() as u64);
    assert_eq!(report.files.last(), Some(&output));
    assert!(report.files.iter().all(|file| file.is_file()));
    let partial =
        |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().to_str().unwrap().contains("partial");
    assert!(!std::fs::read_dir(directory).unwrap().any(partial));
    Ok((report, output))
}

fn models(vertices: usize) -> Vec<Model> {
    let mut models = Vec::new();
    for (i, directed) in [true, false, true, false, true, false].into_iter().enumerate() {
        for order in [Order::Input, Order::Degree] {
            let model = Model::random(i as u64, vertices, 4000, directed, i % 3 > 0).with_order(order);
            let model = match i % 3 {
                0 => model,
                1 => model.with_weights(WeightKind::I64),
                _ => model.with_weights(WeightKind::F64),
            };
            for ids in
                [ModelIds::Range(1), ModelIds::Range(7), Model::sparse_ids(vertices), Model::signed_ids(vertices)]
            {
                models.push(model.clone().with_ids(ids));
            }
            models.push(model.with_ids(Model::text_ids(vertices)));
        }
    }
    models
}

#[test]
fn edge_lists_come_back_and_so_do_vertices_without_edges() {
    for (i, model) in models(1000).iter().enumerate() {
        let weighted = if model.weights.is_some() { "edges.wel" } else { "edges.el" };
        let endings =
            ["edges.txt", "edges.tsv", "edges.csv", "edges.csv.gz", "edges.txt.zst", "edges.parquet", weighted];
        for name in [endings[i % 7], endings[(i + 3) % 7], "edges.parquet"] {
            let directory = tempfile::tempdir().unwrap();
            let (report, output) = exported(model, directory.path(), name).unwrap();
            let (edges, vertices, directed) = read(&output, model.directed);
            assert!(edges == expected(model, |place| model.id(place)), "model {i} as {name}");
            if name.contains("txt") || name.contains("parquet") {
                assert_eq!(directed, Some(model.directed), "model {i} as {name}");
            }
            assert_eq!(lines(&report.files[0]).len() as u64, report.isolated_vertices);
            assert_eq!(vertices, (0..model.vertices).map(|place| model.id(place)).collect(), "model {i} as {name}");
            assert!(!report.renumbered);
        }
    }
}

#[test]
fn all_strings_come_back_without_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let model =
        |ids: [&str; 3]| Model::random(1, 3, 0, true, false).with_ids(ModelIds::Text(ids.map(str::to_owned).to_vec()));
    // Nobody but the vertices tells what ids are like.
    let alone = model(["anna", "ben li", "carl"]);
    for name in ["alone.csv", "alone.tsv", "alone.txt", "alone.parquet"] {
        let (_, output) = exported(&alone, directory.path(), name).unwrap();
        let vertices = read(&output, true).1;
        assert_eq!(vertices, ["anna", "ben li", "carl"].map(str::to_owned).into(), "{name}");
    }
    // A first line that could name columns, or be numbers of vertices and edges, is an edge.
    for ids in [["a", "source", "target"], ["1", "2", "source"], ["0", "2", "x"]] {
        let mut model = model(ids);
        model.edges = vec![(1, 2, 0.0), (1, 0, 0.0), (0, 1, 0.0)];
        let (_, output) = exported(&model, directory.path(), "edges.txt").unwrap();
        assert_eq!(read(&output, true).0, expected(&model, |place| model.id(place)), "{ids:?}");
        let source = outcore_graph::import::open(&common::runtime(1), &[output], &InputOptions::default()).unwrap();
        assert_eq!(source.facts().notes, Vec::<String>::new());
    }
}

#[test]
fn directions_and_string_ids_come_back_from_files_without_edges() {
    let directory = tempfile::tempdir().unwrap();
    let ids = |ids: [&str; 3]| ModelIds::Text(ids.map(str::to_owned).to_vec());
    // Neither edges nor their column tell that these are strings, or the direction.
    for (name, is_said) in [("e.csv", true), ("e.tsv", true), ("e.el", true), ("e.txt", false), ("e.parquet", false)] {
        for directed in [true, false] {
            let alone = Model::random(1, 3, 0, directed, false);
            for (model, strings) in [(alone.clone().with_ids(ids(["007", "7", "8"])), true), (alone, false)] {
                let (report, output) = exported(&model, directory.path(), name).unwrap();
                let (edges, vertices, found) = read(&output, directed);
                assert_eq!((edges.len(), found), (0, Some(directed)), "{name}");
                assert_eq!(vertices, (0..3).map(|place| model.id(place)).collect(), "{name}");
                let first = &lines(&report.files[0])[0];
                assert_eq!(first.contains("ids=string"), is_said && strings, "{name}: {first}");
            }
        }
    }
    let mut digits = Model::random(1, 3, 0, true, false).with_ids(ids(["1", "2", "3"]));
    digits.edges = vec![(0, 1, 0.0), (1, 2, 0.0)];
    for name in ["d.csv", "d.tsv.gz", "d.el", "d.txt"] {
        let (_, output) = exported(&digits, directory.path(), name).unwrap();
        let source =
            outcore_graph::import::open(&common::runtime(1), std::slice::from_ref(&output), &InputOptions::default());
        assert!(source.unwrap().facts().string_ids, "{name}");
        assert_eq!(read(&output, true).0, expected(&digits, |place| digits.id(place)), "{name}");
    }
    // An edge between vertices that are called as the columns are.
    let mut named = Model::random(1, 3, 0, true, false).with_ids(ids(["a", "source", "target"]));
    named.edges = vec![(0, 1, 0.0), (1, 2, 0.0)];
    for name in ["n.csv", "n.tsv"] {
        let (_, output) = exported(&named, directory.path(), name).unwrap();
        assert_eq!(read(&output, true).0, expected(&named, |place| named.id(place)), "{name}");
    }
}

#[test]
fn graphs_come_back_from_every_form_of_records() {
    for (i, model) in models(300).iter().enumerate() {
        for name in ["e.jsonl.zst", "e.graphml", "e.gexf", "e.gml.gz", "e.net"] {
            let directory = tempfile::tempdir().unwrap();
            let (report, output) = exported(model, directory.path(), name).unwrap();
            let (edges, vertices, directed) = read(&output, model.directed);
            assert!(edges == expected(model, |place| model.id(place)), "model {i} as {name}");
            assert_eq!(vertices, (0..model.vertices).map(|place| model.id(place)).collect(), "model {i} as {name}");
            let is_silent = name.contains("jsonl") && model.directed;
            assert_eq!(directed, Some(model.directed).filter(|_| !is_silent), "model {i} as {name}");
            assert!(!report.renumbered && report.renamed_weights.is_none());
        }
    }
}

#[test]
fn records_hold_odd_ids_and_no_edges() {
    let directory = tempfile::tempdir().unwrap();
    let ids = |ids: [&str; 3]| ModelIds::Text(ids.map(str::to_owned).to_vec());
    for name in ["e.jsonl", "e.graphml", "e.gexf", "e.gml", "e.net"] {
        for (odd, edges) in [
            (["1", "2", "3"], vec![(0, 1, 0.0)]),
            (["007", "7", "8"], vec![]),
            (["<a & b>", "c'd \\ e", "\u{e9}\u{1f600} ]"], vec![(0, 0, 0.0), (0, 2, 0.0), (1, 2, 0.0)]),
        ] {
            for directed in [true, false] {
                let mut model = Model::random(1, 3, 0, directed, false).with_ids(ids(odd));
                model.edges = edges.clone();
                let (_, output) = exported(&model, directory.path(), name).unwrap();
                let source = outcore_graph::import::open(
                    &common::runtime(1),
                    std::slice::from_ref(&output),
                    &InputOptions::default(),
                );
                assert!(source.unwrap().facts().string_ids, "{name}: {odd:?}");
                let (edges, vertices, _) = read(&output, directed);
                assert_eq!(edges, expected(&model, |place| model.id(place)), "{name}");
                assert_eq!(vertices, odd.map(str::to_owned).into(), "{name}");
            }
        }
        for (bad, refused) in [
            ("", &["e.jsonl", "e.graphml", "e.gexf", "e.gml", "e.net"][..]),
            ("a\u{1}b", &["e.graphml", "e.gexf"]),
            ("a\"b", &["e.net"]),
            ("a\nb", &["e.net"]),
            ("q\\", &["e.net"]),
            ("a\\\\b", &["e.net"]),
        ] {
            let mut model = Model::random(1, 3, 0, true, false).with_ids(ids([bad, "x", "y"]));
            model.edges = vec![(0, 1, 0.0)];
            let result = exported(&model, directory.path(), name);
            if refused.contains(&name) {
                let error = result.unwrap_err().to_string();
                assert!(error.contains("export to .parquet instead"), "{error}");
            } else {
                assert_eq!(read(&result.unwrap().1, true).0, expected(&model, |place| model.id(place)), "{name}");
            }
        }
    }
}

#[test]
fn graphs_come_back_from_graphalytics() {
    for (i, model) in models(1000).iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        if let ModelIds::Text(_) | ModelIds::Signed(_) = model.ids {
            let text = exported(model, directory.path(), "graph.e").unwrap_err().to_string();
            assert!(text.contains("whole numbers from 0 on") && text.contains(".csv"), "{text}");
            let files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
            assert_eq!(files.len(), 1, "only the image: {files:?}");
            continue;
        }
        let (report, output) = exported(model, directory.path(), "graph.e").unwrap();
        let (edges, vertices, directed) = read(&output, model.directed);
        assert!(edges == expected(model, |place| model.id(place)), "model {i}");
        assert_eq!(vertices, (0..model.vertices).map(|place| model.id(place)).collect());
        assert_eq!((directed, report.renumbered), (Some(model.directed), false));
    }
}

#[test]
fn matrices_and_metis_keep_every_vertex_under_its_number() {
    for (i, model) in models(1000).iter().enumerate() {
        for name in ["graph.mtx", "graph.mtx.gz", "graph.graph"] {
            let directory = tempfile::tempdir().unwrap();
            if model.directed && name == "graph.graph" {
                let text = exported(model, directory.path(), name).unwrap_err().to_string();
                assert!(text.contains("direction"), "{text}");
                continue;
            }
            let (report, output) = exported(model, directory.path(), name).unwrap();
            let (edges, vertices, directed) = read(&output, model.directed);
            assert_eq!(vertices, (1..=model.vertices).map(|number| number.to_string()).collect());
            assert_eq!(directed, Some(model.directed));
            let numbers: std::collections::BTreeMap<String, usize> = match report.files.len() {
                1 => {
                    let ModelIds::Range(first) = model.ids else { panic!("model {i} has no range as ids") };
                    assert_eq!(report.renumbered, first != 1);
                    (0..model.vertices).map(|place| (model.id(place), place + 1)).collect()
                }
                _ => {
                    assert!(report.renumbered);
                    (1..).zip(lines(&report.files[0])).map(|(number, id)| (id, number)).collect()
                }
            };
            let expected = expected(model, |place| numbers[&model.id(place)].to_string());
            assert!(edges == expected, "model {i} as {name}");
        }
    }
}

#[test]
fn graphs_that_a_format_cannot_hold_are_refused() {
    let odd = |id: &str| {
        let mut ids = vec!["a".to_owned(), "b".to_owned(), id.to_owned()];
        ids.sort();
        let mut model = Model::random(1, 3, 0, true, false).with_ids(ModelIds::Text(ids));
        model.edges = vec![(0, 1, 1.0), (0, 2, 1.0), (1, 0, 1.0), (2, 0, 1.0), (2, 1, 1.0)];
        model
    };
    for id in ["x y", "#x", "x,y", "x\ty", "\"x"] {
        let directory = tempfile::tempdir().unwrap();
        for name in ["edges.txt", "edges.el"] {
            let text = exported(&odd(id), directory.path(), name).unwrap_err().to_string();
            assert!(text.contains(".parquet") && !directory.path().join(name).exists(), "{text}");
        }
        for name in ["edges.csv", "edges.tsv", "edges.parquet"] {
            let (_, output) = exported(&odd(id), directory.path(), name).unwrap();
            assert_eq!(read(&output, true).0, expected(&odd(id), |place| odd(id).id(place)), "{id:?} as {name}");
        }
    }
    // Between blanks another separator would be found; between tabs there is no doubt.
    let directory = tempfile::tempdir().unwrap();
    let text = exported(&odd("x|y"), directory.path(), "edges.el").unwrap_err().to_string();
    assert!(text.contains("cannot hold the id \"x|y\"") && text.contains(".csv or .parquet"), "{text}");
    for name in ["edges.txt", "edges.tsv", "edges.csv"] {
        let (_, output) = exported(&odd("x|y"), directory.path(), name).unwrap();
        assert_eq!(read(&output, true).0, expected(&odd("x|y"), |place| odd("x|y").id(place)), "{name}");
    }
    for id in ["", "x\0y", "x\ny"] {
        let directory = tempfile::tempdir().unwrap();
        for name in ["edges.csv", "edges.tsv", "edges.txt", "edges.el"] {
            let text = exported(&odd(id), directory.path(), name).unwrap_err().to_string();
            let place = (0..3).find(|&place| odd(id).id(place) == id).unwrap();
            let expected = format!("cannot hold the id {id:?}, that of vertex {place} of the image; export to");
            assert!(text.contains(&format!("{expected} .parquet instead")), "{text}");
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "only the image");
        }
        let (_, output) = exported(&odd(id), directory.path(), "edges.parquet").unwrap();
        assert_eq!(read(&output, true).0, expected(&odd(id), |place| odd(id).id(place)));
    }
    let directory = tempfile::tempdir().unwrap();
    // Without an edge, the empty id and others stand in a file of their own.
    let mut alone = odd("");
    alone.edges = vec![(1, 2, 1.0)];
    let (_, output) = exported(&alone, directory.path(), "alone.csv").unwrap();
    assert_eq!(read(&output, true).1, (0..3).map(|place| alone.id(place)).collect());
    exported(&odd("x\ny"), directory.path(), "edges.parquet").unwrap();
    let plain = Model::random(1, 10, 10, true, false);
    let weighted = plain.clone().with_weights(WeightKind::I64);
    for (model, name, advice) in [(&plain, "a.wel", ".el"), (&weighted, "a.el", ".wel"), (&plain, "a.xyz", ".mtx")] {
        let text = exported(model, directory.path(), name).unwrap_err().to_string();
        assert!(text.contains(advice), "{text}");
    }
}

#[test]
fn files_of_vertices_are_replaced_only_with_their_edges() {
    let mut model = Model::random(1, 20, 0, true, false);
    model.edges = (0..20).map(|vertex| (vertex, (vertex + 1) % 20, 1.0)).collect();
    for ending in ["csv", "txt.gz", "parquet", "mtx"] {
        for compression in ["", ".gz", ".zst"] {
            let directory = tempfile::tempdir().unwrap();
            let name = format!("roster.{ending}");
            let roster = directory.path().join(format!("{name}.vertices{compression}"));
            std::fs::write(&roster, "alice\nbob\n").unwrap();
            let error = exported(&model, directory.path(), &name).unwrap_err().to_string();
            assert!(error.contains("there is ") && error.contains(".vertices"), "{error}");
            assert!(!directory.path().join(&name).exists() && roster.exists());
            std::fs::write(directory.path().join(&name), "old").unwrap();
            let (report, _) = exported(&model, directory.path(), &name).unwrap();
            assert_eq!((report.removed, roster.exists()), (vec![roster.clone()], false), "{name}");
            let (report, _) = exported(&model, directory.path(), &name).unwrap();
            assert!(report.removed.is_empty());
        }
    }
}

#[test]
fn a_first_edge_is_not_taken_for_the_size() {
    // "2 1", with one edge below it: as a first line of numbers it would say 2 vertices and 1 edge.
    let mut model = Model::random(1, 3, 0, true, false);
    model.edges = vec![(2, 1, 0.0), (2, 0, 0.0)];
    model.edges.swap(0, 1);
    model.edges[0] = (2, 1, 0.0);
    model.edges[1] = (2, 2, 0.0);
    let directory = tempfile::tempdir().unwrap();
    let (_, output) = exported(&model, directory.path(), "edges.txt").unwrap();
    assert_eq!(read(&output, true).0, expected(&model, |place| model.id(place)));
}

#[test]
fn a_file_is_complete_or_absent() {
    let directory = tempfile::tempdir().unwrap();
    let model =
        Model::random(3, 800, 3000, false, false).with_ids(Model::sparse_ids(800)).with_weights(WeightKind::F64);
    let image = model.write(directory.path());
    for name in ["a.txt", "a.csv.gz", "a.mtx.zst", "a.graph", "a.parquet", "a.e"] {
        let files = directory.path().join("files");
        std::fs::create_dir(&files).unwrap();
        let faults = outcore_io::backend::Faults { full_after_bytes: Some(9000), ..Default::default() };
        let graph = common::open_with(&image, outcore_io::backend::Sim::new(faults));
        let text = export(&graph, files.join(name)).unwrap_err().to_string();
        assert!(text.contains("No space left"), "{name}: {text}");
        assert_eq!(std::fs::read_dir(&files).unwrap().count(), 0, "{name}");
        let graph = open(&image, 1);
        graph.runtime().cancel().cancel();
        assert!(matches!(export(&graph, files.join(name)), Err(Error::Cancelled)), "{name}");
        std::fs::remove_dir_all(&files).unwrap();
    }
}

/// A graph with strings as ids and attributes of edges and vertices, and results for its vertices.
fn with_attributes(directory: &Path) -> (Graph, Table) {
    const VERTICES: usize = 6000;
    let row = |i: usize| format!("v{},v{},road {i},{i}\n", i % VERTICES, (7 * i + 1) % VERTICES);
    let edges = format!("source,target,kind,n\n{}", (0..9000).map(row).collect::<String>());
    let row = |i: usize| format!("v{i},place {},{i}\n", "x".repeat(i % 700));
    let vertices = format!("id,name,size\n{}", (0..VERTICES + 50).map(row).collect::<String>());
    let how = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    let graph = common::open(&common::import_tables(directory, &edges, &vertices, &how), 2);
    let runtime = graph.runtime();
    let count = graph.vertices() as usize;
    let ranks = Buffer::<f64>::zeroed(runtime.budget(), "test", count).unwrap();
    let components = Buffer::<u32>::zeroed(runtime.budget(), "test", count).unwrap();
    let columns = vec![
        ("rank".to_owned(), Column::Real(Arc::new(ranks))),
        ("component".to_owned(), Column::Component(Arc::new(components))),
    ];
    let results = graph.table(columns);
    (graph, results)
}

#[test]
fn the_least_memory_that_is_not_refused_is_enough_for_every_ending() {
    let directory = tempfile::tempdir().unwrap();
    let (graph, results) = with_attributes(directory.path());
    let budget = graph.runtime().budget();
    let leave = |bytes: u64| budget.reserve("others", budget.available_bytes() - bytes).unwrap();
    let endings =
        ["txt", "csv", "csv.gz", "tsv.zst", "el", "mtx", "graph", "jsonl", "graphml", "gexf.gz", "gml", "net"];
    for ending in endings.into_iter().chain(["sif", "parquet"]) {
        for (results, table) in
            [(None, None), (Some(&results), None), (Some(&results), Some("parquet")), (None, Some("csv"))]
        {
            let output = directory.path().join(format!("edges.{ending}"));
            let table = table.map(|ending| directory.path().join(format!("vertices.{ending}")));
            let write = || {
                check_export_memory(&graph, &output, table.as_deref(), results)?;
                export_with(&graph, &output, results)?;
                if let Some(table) = &table {
                    export_vertices(&graph, table, results)?;
                }
                let files = [Some(&output), table.as_ref()].into_iter().flatten();
                let contents = files.map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>();
                [Some(&output), table.as_ref()]
                    .into_iter()
                    .flatten()
                    .for_each(|file| std::fs::remove_file(file).unwrap());
                let _ = std::fs::remove_file(directory.path().join(format!("edges.{ending}.vertices")));
                Ok::<_, Error>(contents)
            };
            let expected = write().unwrap();
            let (mut refused, mut enough) = (0, budget.available_bytes());
            while enough - refused > 1 {
                let bytes = refused.midpoint(enough);
                let _others = leave(bytes);
                match check_export_memory(&graph, &output, table.as_deref(), results) {
                    Ok(()) => enough = bytes,
                    Err(_) => refused = bytes,
                }
            }
            let _others = leave(enough);
            let case = format!("{ending}, results: {}, table: {table:?}, {enough} bytes", results.is_some());
            assert!(write().unwrap_or_else(|error| panic!("{case}: {error}")) == expected, "{case}");
        }
    }
}
