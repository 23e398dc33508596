//! Conditions on the ends of edges and on the attributes of vertices, where an image is the input.

use crate::common;

use outcore_graph::Graph;
use outcore_graph::import::{Attributes, Condition, ImportOptions, InputOptions, Part, import, of_graph, open_inputs};
use outcore_image::{ImageOptions, Result};
use outcore_table::Id;
use std::path::{Path, PathBuf};

const EDGES: &str = "payer,payee,amount\nann,bob,5\nbob,cy,7\ncy,ann,9\nann,dan,11\ndan,ann,13\n";
const VERTICES: &str = "id,state,age\nann,AT,41\nbob,DE,35\ncy,AT,\neve,AT,60\n";

fn import_image(directory: &Path, directed: bool) -> PathBuf {
    let how = ImportOptions { directed: Some(directed), ..ImportOptions::default() };
    common::import_tables(directory, EDGES, VERTICES, &how)
}

fn with(conditions: &[&str]) -> InputOptions {
    let conditions = conditions.iter().map(|text| Condition::parse(text).unwrap()).collect();
    InputOptions { conditions, ..InputOptions::default() }
}

/// The vertices and the edges of an image that is made of those that meet conditions.
fn left(image: &Path, part: Part, conditions: &[&str]) -> Result<(Vec<String>, Vec<String>)> {
    let runtime = common::runtime(2);
    let graph = Graph::open(&runtime, image, ImageOptions::default())?;
    let made = image.with_file_name("part.oc");
    let how = ImportOptions { replace: true, ..ImportOptions::default() };
    import(&runtime, of_graph(graph, &with(conditions), part)?, &made, &how)?;
    let graph = Graph::open(&runtime, &made, ImageOptions::default())?;
    outcore_graph::check(&graph)?;
    let text = |vertex| match graph.id(vertex).unwrap() {
        Id::Text(text) => text,
        other => panic!("{other:?}"),
    };
    let mut vertices: Vec<String> = (0..graph.vertices() as u32).map(text).collect();
    let mut edges = Vec::new();
    for vertex in 0..graph.vertices() as u32 {
        let found = graph.neighbours(vertex, outcore_graph::Edges::new(outcore_graph::Direction::Out, false))?;
        edges.extend(found.into_iter().map(|other| match other.id {
            Id::Text(other) => format!("{}-{other}", text(vertex)),
            other => panic!("{other:?}"),
        }));
    }
    vertices.sort();
    edges.sort();
    Ok((vertices, edges))
}

#[test]
fn vertices_and_ends_of_edges_meet_conditions() {
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path(), true);
    let all = &["ann", "bob", "cy", "dan", "eve"][..];
    for (conditions, vertices, edges) in [
        (&["vertex.state = AT"][..], &["ann", "cy", "eve"][..], &["cy-ann"][..]),
        (&["vertex.state != AT"], &["bob"], &[]),
        (&["vertex.state = null"], &["dan"], &[]),
        (&["vertex.age > 40", "vertex.state = AT"], &["ann", "eve"], &[]),
        (&["vertex in ann,dan"], &["ann", "dan"], &["ann-dan", "dan-ann"]),
        (&["vertex != ann", "amount > 5"], &["bob", "cy", "dan", "eve"], &["bob-cy"]),
        (&["source = ann"], all, &["ann-bob", "ann-dan"]),
        (&["target in ann,cy", "amount < 10"], all, &["bob-cy", "cy-ann"]),
        (&["source.state = AT"], all, &["ann-bob", "ann-dan", "cy-ann"]),
        (&["source.state = AT", "target.age > 30"], all, &["ann-bob", "cy-ann"]),
        (&["vertex != eve", "target.state = DE"], &["ann", "bob", "cy", "dan"], &["ann-bob"]),
    ] {
        let how = ImportOptions::default();
        let expected =
            (vertices.iter().map(|&id| id.to_owned()).collect(), edges.iter().map(|&id| id.to_owned()).collect());
        if edges.is_empty() {
            let refused = left(&image, Part::default(), conditions).unwrap_err().to_string();
            assert!(refused.contains("expected edges that meet --where, found none among 5"), "{refused}");
            // An empty one is made where it may be.
            let runtime = common::runtime(2);
            let graph = Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
            let source = of_graph(graph, &with(conditions), Part::default()).unwrap();
            let how = ImportOptions { allow_empty: true, ..how };
            let graph = outcore_graph::Graph::in_memory(&runtime, source, &how).unwrap();
            assert_eq!((graph.vertices(), graph.edges()), (vertices.len() as u64, 0), "{conditions:?}");
            continue;
        }
        assert_eq!(left(&image, Part::default(), conditions).unwrap(), expected, "{conditions:?}");
    }
    // The other way round the ends are those of the new edges.
    let turned = || Part { reversed: true, ..Part::default() };
    assert_eq!(left(&image, turned(), &["source = bob"]).unwrap().1, ["bob-ann"]);
    assert_eq!(left(&image, turned(), &["source.state = DE"]).unwrap().1, ["bob-ann"]);
    // Conditions beside a choice of vertices: both hold.
    let graph = Graph::open(&common::runtime(1), &image, ImageOptions::default()).unwrap();
    let part = Part::of_vertices(&graph, &["ann", "bob", "cy"]).unwrap();
    let (vertices, edges) = left(&image, part, &["vertex.state = AT"]).unwrap();
    assert_eq!((vertices, edges), (vec!["ann".to_owned(), "cy".to_owned()], vec!["cy-ann".to_owned()]));
}

#[test]
fn conditions_on_vertices_that_there_are_not_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path(), true);
    for (condition, said) in [
        ("vertex.country = AT", "there are state, age, vertex"),
        ("vertex.age = old", "a value that `age` can have (integer)"),
        ("vertex.state = IT", "expected vertices that meet --where, found none among 5"),
        ("source.state = IT", "expected edges that meet --where, found none among 5"),
        ("state = AT", "there are amount, source, target"),
    ] {
        let error = left(&image, Part::default(), &[condition]).unwrap_err().to_string();
        assert!(error.contains(said), "{condition}: {error}");
    }
    let image = import_image(tempfile::tempdir().unwrap().keep().as_path(), false);
    for condition in ["source = ann", "target.state = AT"] {
        let error = left(&image, Part::default(), &[condition]).unwrap_err().to_string();
        assert!(error.contains("expected edges with a direction") && error.contains("say `vertex`"), "{error}");
    }
    let (_, edges) = left(&image, Part::default(), &["vertex.state = AT"]).unwrap();
    assert_eq!(edges, ["ann-cy", "cy-ann"]);
    std::fs::remove_dir_all(image.parent().unwrap()).unwrap();
}

#[test]
fn an_attribute_with_the_name_of_the_ids_is_compared() {
    let directory = tempfile::tempdir().unwrap();
    let (edges, vertices) = ("payer,payee\nann,bob\nbob,cy\ncy,ann\n", "id,vertex\nann,x\nbob,ann\ncy,x\n");
    let image = common::import_tables(directory.path(), edges, vertices, &ImportOptions::default());
    for (condition, edges) in [
        ("vertex.vertex = x", &["cy-ann"][..]),
        ("source.vertex = ann", &["bob-cy"]),
        ("target.vertex = ann", &["ann-bob"]),
        ("target = ann", &["cy-ann"]),
        ("vertex in ann,bob", &["ann-bob"]),
    ] {
        assert_eq!(left(&image, Part::default(), &[condition]).unwrap().1, edges, "{condition}");
    }
}

#[test]
fn what_meets_no_condition_is_empty_where_it_may_be() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(2);
    let open_graph = |image: &Path| Graph::open(&runtime, image, ImageOptions::default()).unwrap();
    let (image, empty) = (import_image(directory.path(), true), directory.path().join("empty.oc"));
    let make = |graph: &Graph, condition: &str, part: Part, allow_empty: bool| {
        let how = ImportOptions { allow_empty, replace: true, ..ImportOptions::default() };
        let source = of_graph(graph.clone(), &with(&[condition]), part)?;
        import(&runtime, source, &empty, &how).map(|report| (report.manifest.vertices, report.manifest.edges))
    };
    let graph = open_graph(&image);
    for (condition, count) in [("vertex != zoe", 0), ("vertex != eve", 1)] {
        let source = of_graph(graph.clone(), &with(&[condition]), Part::default()).unwrap();
        let notes = &source.facts().notes;
        assert_eq!(notes.iter().filter(|note| note.contains("do not meet --where")).count(), count, "{notes:?}");
    }
    for (condition, vertices) in [("vertex.state = IT", 0), ("source.state = IT", 5), ("vertex.state = null", 1)] {
        make(&graph, condition, Part::default(), false).unwrap_err();
        assert_eq!(make(&graph, condition, Part::default(), true).unwrap(), (vertices, 0), "{condition}");
    }
    // Without edges or vertices there is nothing that does not meet conditions; an image that is replaced is another
    // matter.
    let made = open_graph(&empty);
    assert_eq!((made.vertices(), made.edges()), (1, 0));
    for (condition, vertices) in [("source.state = IT", 1), ("vertex.state = null", 1)] {
        let source = of_graph(made.clone(), &with(&[condition]), Part::default()).unwrap();
        let other = directory.path().join(format!("{condition}.oc"));
        let report = import(&runtime, source, &other, &ImportOptions::default()).unwrap();
        assert_eq!((report.manifest.vertices, report.manifest.edges), (vertices, 0), "{condition}");
    }
    // Edges that a choice of vertices leaves out meet conditions, for all that is known.
    let part = Part::of_vertices(&graph, &["eve", "bob"]).unwrap();
    let source = of_graph(graph.clone(), &with(&["source.state = AT"]), part).unwrap();
    let report = import(&runtime, source, &directory.path().join("part.oc"), &ImportOptions::default()).unwrap();
    assert_eq!((report.manifest.vertices, report.manifest.edges), (2, 0));
}

#[test]
fn conditions_of_an_image_beside_files() {
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path(), true);
    let (runtime, more) = (common::runtime(2), directory.path().join("more.csv"));
    std::fs::write(&more, "payer,payee,amount\neve,ann,20\nann,eve,30\n").unwrap();
    let options = InputOptions { attributes: Attributes::All, ..with(&["source = ann"]) };
    let source = open_inputs(&runtime, &[image, more], &options, |_| Ok(Part::default())).unwrap();
    let report = import(&runtime, source, &directory.path().join("both.oc"), &ImportOptions::default()).unwrap();
    assert_eq!(report.manifest.edges, 3);
}
