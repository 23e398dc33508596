//! Attributes of images: what a hostile or damaged image says of them is refused; what is written is what was read.

use crate::common;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use outcore_format::{Attribute, AttributeKind, Manifest, Strings, ValueType};
use outcore_graph::import::{
    Attributes, Condition, ImportOptions, InputOptions, OrderChoice, Part, SIDES, import, open, open_inputs,
    with_vertex_table,
};
use outcore_graph::{EdgeBatches, EdgeData, Graph, VertexBatches, check, export, export_vertices};
use outcore_image::{ImageFile, ImageOptions};
use outcore_ingest::Choice;
use outcore_io::Runtime;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn image(directory: &Path) -> (Runtime, PathBuf) {
    let runtime = common::runtime(2);
    let (edges, vertices, image) = (directory.join("e.csv"), directory.join("v.csv"), directory.join("g.oc"));
    std::fs::write(&edges, "source,target,weight,kind,n\n1,2,5,road,1\n2,3,6,,2\n3,1,7,rail,3\n").unwrap();
    std::fs::write(&vertices, "id,name\n1,one\n9,nine\n").unwrap();
    let options = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let source = open(&runtime, &[edges], &options).unwrap();
    let source = with_vertex_table(&runtime, source, &vertices, &options).unwrap();
    let report = import(&runtime, source, &image, &ImportOptions::default()).unwrap();
    assert_eq!((report.manifest.attributes.len(), report.manifest.vertex_attributes.len()), (2, 1));
    (runtime, image)
}

fn open_and_check(runtime: &Runtime, image: &Path) -> Result<(), String> {
    let graph = Graph::open(runtime, image, ImageOptions::default()).map_err(|error| error.to_string())?;
    check(&graph).map(drop).map_err(|error| error.to_string())
}

/// The ids of a graph's vertices and their sides.
fn sides_of(runtime: &Runtime, image: &Path) -> Vec<(String, i64)> {
    open_and_check(runtime, image).unwrap();
    let graph = Graph::open(runtime, image, ImageOptions::default()).unwrap();
    let mut sides = Vec::new();
    for batch in VertexBatches::new(&graph, None).unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let (ids, values) = (column("vertex").as_string::<i32>(), column("bipartite").as_primitive::<Int64Type>());
        sides.extend((0..batch.num_rows()).map(|row| (ids.value(row).to_owned(), values.value(row))));
    }
    sides.sort();
    sides
}

#[test]
fn a_graph_with_two_sides_says_the_side_of_every_vertex() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(2);
    let (edges, vertices) = (directory.path().join("e.tsv"), directory.path().join("v.csv"));
    let rows: Vec<String> = (0..4000).map(|i| format!("{}\t{}\n", i % 500, i * 7 % 1300)).collect();
    std::fs::write(&edges, rows.concat()).unwrap();
    std::fs::write(&vertices, "id,name\nu:1,one\nu:9999,more\ni:3,three\n").unwrap();
    let bipartite = Some(["u:", "i:"].map(str::to_owned));
    let options = InputOptions { bipartite, ..InputOptions::default() };
    let mut expected: Vec<(String, i64)> = (0..500).map(|user| (format!("u:{user}"), 0)).collect();
    expected.extend((0..1300).filter(|item| (0..4000).any(|i| i * 7 % 1300 == *item)).map(|i| (format!("i:{i}"), 1)));
    expected.sort();
    let mut ids = BTreeSet::new();
    for order in [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
        let image = directory.path().join(format!("{}.oc", order.name()));
        let source = open(&runtime, std::slice::from_ref(&edges), &options).unwrap();
        let how = ImportOptions { order, ..ImportOptions::default() };
        let report = import(&runtime, source, &image, &how).unwrap();
        assert!(!report.manifest.directed && report.manifest.vertex_attributes[0].name == "bipartite");
        assert_eq!(sides_of(&runtime, &image), expected, "{}", order.name());
        ids.insert(report.manifest.image_id);
    }
    // Attributes of a table come behind it; a vertex that only the table has is on the side that its id says.
    let source = open(&runtime, std::slice::from_ref(&edges), &options).unwrap();
    let source = with_vertex_table(&runtime, source, &vertices, &options).unwrap();
    let image = directory.path().join("named.oc");
    let manifest = import(&runtime, source, &image, &ImportOptions::default()).unwrap().manifest;
    let names: Vec<&str> = manifest.vertex_attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["bipartite", "name"]);
    expected.push(("u:9999".to_owned(), 0));
    expected.sort();
    assert_eq!(sides_of(&runtime, &image), expected);
    assert!(image.join("vertices/text_1.pages").exists() && !image.join("vertices/text_0.pages").exists());
    // Equal ids without sides are another image.
    let text: String = rows.iter().map(|row| format!("u:{}", row.replace('\t', "\ti:"))).collect();
    std::fs::write(&edges, text).unwrap();
    let source = open(&runtime, &[edges], &InputOptions::default()).unwrap();
    let how = ImportOptions { directed: Some(false), order: OrderChoice::Input, ..ImportOptions::default() };
    let plain = import(&runtime, source, &directory.path().join("plain.oc"), &how).unwrap().manifest;
    assert!(plain.vertex_attributes.is_empty() && !ids.contains(&plain.image_id));
}

#[test]
fn matrices_under_ids_are_joined_with_the_rows_of_all() {
    let directory = tempfile::tempdir().unwrap();
    let (runtime, how) = (common::runtime(2), ImportOptions::default());
    let bipartite = Some(SIDES.map(str::to_owned));
    let of_matrix = InputOptions { bipartite, is_matrix: true, ..InputOptions::default() };
    let path = |name: &str| directory.path().join(name);
    let make = |name: &str, text: &str, options: &InputOptions| {
        let file = path(&format!("{name}.csv"));
        std::fs::write(&file, text).unwrap();
        let image = path(&format!("{name}.oc"));
        import(&runtime, open(&runtime, &[file], options).unwrap(), &image, &how).unwrap();
        image
    };
    let [a, b] = [make("a", "1,5\n2,6\n", &of_matrix), make("b", "3,6\n4,7\n", &of_matrix)];
    let joined = |inputs: &[&PathBuf], options: &InputOptions| {
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
        open_inputs(&runtime, &inputs, options, |_| Ok(Part::default()))
    };
    let plain = InputOptions::default();
    let both = path("both.oc");
    let manifest = import(&runtime, joined(&[&a, &b], &plain).unwrap(), &both, &how).unwrap().manifest;
    assert_eq!((manifest.rows, manifest.vertices, manifest.edges), (Some(4), 7, 4));
    let names: Vec<&str> = manifest.vertex_attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["bipartite"]);
    assert_eq!(sides_of(&runtime, &both).iter().filter(|(_, side)| *side == 0).count(), 4);
    // A table of vertices may add rows, and so may a file.
    let (more, wider) = (path("more.csv"), path("wider.oc"));
    std::fs::write(&more, "id,name\nleft:9,nine\nright:5,five\n").unwrap();
    let source = with_vertex_table(&runtime, joined(&[&a], &plain).unwrap(), &more, &plain).unwrap();
    let manifest = import(&runtime, source, &wider, &how).unwrap().manifest;
    assert_eq!((manifest.rows, manifest.vertices), (Some(3), 5));
    open_and_check(&runtime, &wider).unwrap();
    let source = joined(&[&a, &path("b.csv")], &of_matrix).unwrap();
    let manifest = import(&runtime, source, &path("mixed.oc"), &how).unwrap().manifest;
    assert_eq!((manifest.rows, manifest.vertices), (Some(4), 7));
    open_and_check(&runtime, &path("mixed.oc")).unwrap();
    // A matrix is no graph, and it has directions.
    let graph = InputOptions { is_matrix: false, ..of_matrix.clone() };
    let error = joined(&[&a, &path("b.csv")], &graph).err().unwrap().to_string();
    assert!(error.contains("the same"), "{error}");
    let undirected = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    let error = import(&runtime, joined(&[&a], &plain).unwrap(), &path("u.oc"), &undirected).unwrap_err();
    assert!(error.to_string().contains("expected edges with a direction"), "{error}");
}

#[test]
fn attributes_of_an_image_are_named_as_it_has_them() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(2);
    let how = ImportOptions { order: OrderChoice::Input, ..ImportOptions::default() };
    let path = |name: &str| directory.path().join(name);
    let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let columns = InputOptions { source: Some("from".into()), target: Some("to".into()), ..all.clone() };
    std::fs::write(path("e.csv"), "from,to,4,5,source\n1,2,40,50,x\n2,3,41,51,y\n").unwrap();
    let image = path("e.oc");
    import(&runtime, open(&runtime, &[path("e.csv")], &columns).unwrap(), &image, &how).unwrap();
    let read = |attributes: &[&str], conditions: &[&str], name: &str| {
        let attributes = Attributes::Named(attributes.iter().map(|&name| name.to_owned()).collect());
        let conditions = conditions.iter().map(|text| Condition::parse(text).unwrap()).collect();
        let options = InputOptions { attributes, conditions, ..InputOptions::default() };
        let source = open_inputs(&runtime, std::slice::from_ref(&image), &options, |_| Ok(Part::default()))?;
        import(&runtime, source, &path(name), &how)?;
        open_and_check(&runtime, &path(name)).unwrap();
        let graph = Graph::open(&runtime, path(name), ImageOptions::default())?;
        let mut edges = EdgeBatches::new(&graph, EdgeData::all(&graph), 0)?;
        let batch = edges.next_batch()?.unwrap();
        let text = |column: &arrow_array::ArrayRef| match column.as_primitive_opt::<Int64Type>() {
            Some(numbers) => numbers.value(0).to_string(),
            None => column.as_string::<i32>().value(0).to_owned(),
        };
        let names = graph.manifest().attributes.iter().map(|attribute| attribute.name.clone());
        Ok::<_, outcore_image::Error>(names.zip(batch.columns()[2..].iter().map(text)).collect::<Vec<_>>())
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    assert_eq!(read(&["5"], &[], "1.oc").unwrap(), pairs(&[("5", "50")]));
    assert_eq!(read(&["5", "4"], &[], "2.oc").unwrap(), pairs(&[("5", "50"), ("4", "40")]));
    assert_eq!(read(&["source", "4"], &[], "3.oc").unwrap(), pairs(&[("source", "x"), ("4", "40")]));
    let chosen = read(&["source"], &["edge.source = y", "source = y", "target = 3", "5 > 50"], "4.oc").unwrap();
    assert_eq!(chosen, pairs(&[("source", "y")]));
    for (names, said) in [(["5", "5"], "is named twice"), (["5", "6"], "has no such attribute of edges")] {
        let error = read(&names, &[], "5.oc").unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// A column that an export renamed is united with that of an image under its own name, in either order.
#[test]
fn renamed_columns_are_united_with_those_of_images() {
    let directory = tempfile::tempdir().unwrap();
    let (runtime, how) = (common::runtime(2), ImportOptions::default());
    let path = |name: &str| directory.path().join(name);
    let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let of_image =
        InputOptions { source: Some("from".into()), target: Some("to".into()), conditions: vec![], ..all.clone() };
    std::fs::write(path("e.csv"), "from,to,source,edge.target\n1,2,x,p\n").unwrap();
    std::fs::write(path("f.csv"), "source,target,edge.source,weight\n2,3,y,1\n").unwrap();
    import(&runtime, open(&runtime, &[path("e.csv")], &of_image).unwrap(), &path("e.oc"), &how).unwrap();
    let united = |inputs: [&str; 2], options: &InputOptions| {
        let inputs = inputs.map(path);
        let source = open_inputs(&runtime, &inputs, options, |_| Ok(Part::default())).unwrap();
        let (how, image) = (ImportOptions { replace: true, ..how.clone() }, path("g.oc"));
        let manifest = import(&runtime, source, &image, &how).unwrap().manifest;
        open_and_check(&runtime, &image).unwrap();
        manifest.attributes.into_iter().map(|attribute| attribute.name).collect::<Vec<_>>()
    };
    let unweighted = InputOptions { weight: Some("none".into()), ..all };
    // The image's own name stays as it is.
    assert_eq!(united(["e.oc", "f.csv"], &unweighted), ["source", "edge.target", "weight"]);
    assert_eq!(united(["f.csv", "e.oc"], &unweighted), ["source", "weight", "edge.target"]);
    let named = |names: &[&str], conditions: &[&str]| InputOptions {
        attributes: Attributes::Named(names.iter().map(|&name| name.to_owned()).collect()),
        conditions: conditions.iter().map(|text| Condition::parse(text).unwrap()).collect(),
        ..unweighted.clone()
    };
    assert_eq!(united(["e.oc", "f.csv"], &named(&["edge.source"], &[])), ["source"]);
    // A number is that of a column of the file.
    assert_eq!(united(["e.oc", "f.csv"], &named(&["3"], &[])), ["source"]);
    let more = open_inputs(&runtime, &[path("e.oc"), path("f.csv")], &named(&["5"], &[]), |_| Ok(Part::default()));
    assert!(
        more.err().unwrap().to_string().contains("f.csv: expected a column `5`, as --attributes says, found no such")
    );
}

/// Numbers of columns are those of the first file, whatever stands where in others and whatever conditions compare.
#[test]
fn columns_by_number_are_the_same_in_all_files() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(2);
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("a.csv"), "source,target,x,y\n1,2,10,20\n").unwrap();
    std::fs::write(path("b.csv"), "source,target,kind,y,x\n3,4,k,21,11\n").unwrap();
    let columns_of = |files: &[&str], names: &[&str], condition: &str| {
        let options = InputOptions {
            attributes: Attributes::Named(names.iter().map(|&name| name.to_owned()).collect()),
            conditions: vec![Condition::parse(condition).unwrap()],
            ..InputOptions::default()
        };
        let source = open(&runtime, &files.iter().map(|file| path(file)).collect::<Vec<_>>(), &options)?;
        Ok::<_, outcore_image::Error>(source.facts().attributes.iter().map(|field| field.name.clone()).collect())
    };
    let columns = |names: &[&str], condition: &str| columns_of(&["a.csv", "b.csv"], names, condition);
    let same = |names: &[&str], condition: &str, expected: &[&str]| {
        let found: Vec<String> = columns(names, condition).unwrap();
        assert_eq!(found, expected, "{names:?} {condition}");
    };
    same(&["3"], "y > 1", &["x"]);
    same(&["kind", "3"], "y > 1", &["kind", "x"]);
    same(&["3", "kind"], "y > 1", &["x", "kind"]);
    same(&["4", "kind"], "x > 1", &["y", "kind"]);
    same(&["3"], "kind = k", &["x"]);
    // A file without rows says nothing, or the names of its columns.
    for text in ["", "# nothing today\n", "\n\n", "source,target,x,y\n"] {
        std::fs::write(path("0.csv"), text).unwrap();
        let found: Vec<String> = columns_of(&["0.csv", "a.csv", "b.csv"], &["3"], "y > 1").unwrap();
        assert_eq!(found, ["x"], "{text:?}");
    }
    let refused: outcore_image::Result<Vec<String>> = columns(&["5"], "y > 1");
    assert!(refused.unwrap_err().to_string().contains("`5`, as --attributes says"));
}

#[test]
fn workers_that_write_columns_at_once_need_one_folder() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(4);
    let (edges, vertices) = (directory.path().join("e.csv"), directory.path().join("v.csv"));
    std::fs::write(&edges, "source,target,x,y,z\n1,2,3,4,5\n").unwrap();
    std::fs::write(&vertices, "id,a,b,c\n1,2,3,4\n2,3,4,5\n").unwrap();
    let options = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    for round in 0..60 {
        let source = open(&runtime, std::slice::from_ref(&edges), &options).unwrap();
        let source = with_vertex_table(&runtime, source, &vertices, &options).unwrap();
        let image = directory.path().join(format!("{round}.oc"));
        import(&runtime, source, &image, &ImportOptions::default()).unwrap();
    }
}

#[test]
fn a_vertex_column_with_the_name_of_the_sides_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(1);
    let (edges, vertices) = (directory.path().join("e.csv"), directory.path().join("v.csv"));
    std::fs::write(&edges, "1,2\n").unwrap();
    std::fs::write(&vertices, "id,bipartite\nleft:1,7\n").unwrap();
    let options = InputOptions { bipartite: Some(SIDES.map(str::to_owned)), ..InputOptions::default() };
    let source = open(&runtime, &[edges], &options).unwrap();
    let source = with_vertex_table(&runtime, source, &vertices, &options).unwrap();
    let error = import(&runtime, source, &directory.path().join("g.oc"), &ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("rename the column"), "{error}");
}

#[test]
fn every_file_of_attributes_is_named_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let (runtime, image) = image(directory.path());
    open_and_check(&runtime, &image).unwrap();
    let graph = Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
    let names: Vec<String> = graph.manifest().files().into_iter().filter_map(|(file, _)| file.name()).collect();
    // Strings lie beside the out-lists only; what algorithms count by, beside both.
    for (name, is_there) in [
        ("edges/out_1.pages", true),
        ("edges/in_1.pages", false),
        ("edges/out_2.pages", true),
        ("edges/in_2.pages", false),
        ("edges/out_3.pages", true),
        ("edges/in_3.pages", true),
        ("edges/text_0.pages", true),
        ("edges/text_1.pages", false),
        ("vertices/0.pages", true),
        ("vertices/1.pages", true),
        ("vertices/text_0.pages", true),
    ] {
        assert_eq!(names.contains(&name.to_owned()), is_there, "{name}");
        assert_eq!(image.join(name).exists(), is_there, "{name}");
    }
    // Places of edges are gone.
    assert!(!image.join(ImageFile::values(255, false).name().unwrap()).exists());
    // A file of a kind that the manifest does not name is foreign.
    std::fs::write(image.join("vertices/text_1.pages"), []).unwrap();
    let error = open_and_check(&runtime, &image).unwrap_err();
    assert!(error.contains("text_1") || error.contains("names none"), "{error}");
}

#[test]
fn manifests_that_contradict_themselves_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (runtime, image) = image(directory.path());
    let whole = std::fs::read(image.join("manifest.json")).unwrap();
    fn strings(attribute: &mut Attribute) -> &mut Strings {
        attribute.strings.as_mut().unwrap()
    }
    type Edit = fn(&mut Manifest);
    let edits: [(&str, Edit); 9] = [
        ("column 1 for what is missing", |manifest| manifest.attributes[0].column = 0),
        ("column 3 of the values", |manifest| manifest.attributes[1].column = 2),
        ("strings for attributes", |manifest| manifest.attributes[1].strings = manifest.attributes[0].strings),
        ("fit an attribute", |manifest| manifest.attributes[0].kind = AttributeKind::Real),
        ("fit an attribute", |manifest| manifest.values[2].kind = ValueType::I64),
        ("numbers for all edges", |manifest| manifest.attributes[0].counts = true),
        ("pages for all strings", |manifest| strings(&mut manifest.attributes[0]).text_bytes = 1 << 40),
        ("pages for all strings", |manifest| strings(&mut manifest.vertex_attributes[0]).count = 1 << 60),
        ("columns of values", |manifest| manifest.attributes.truncate(1)),
    ];
    for (expected, edit) in edits {
        common::edit_manifest(&image, edit);
        let error = open_and_check(&runtime, &image).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
        std::fs::write(image.join("manifest.json"), &whole).unwrap();
    }
    // Fewer strings than numbers of them.
    common::edit_manifest(&image, |manifest| {
        let strings = strings(&mut manifest.attributes[0]);
        (strings.count, strings.text_bytes) = (1, 4);
    });
    let error = open_and_check(&runtime, &image).unwrap_err();
    assert!(error.contains("text"), "{error}");
}

#[test]
fn attributes_follow_their_edges_in_batches() {
    let directory = tempfile::tempdir().unwrap();
    let (runtime, image) = image(directory.path());
    let graph = Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
    let mut batches = EdgeBatches::new(&graph, EdgeData::all(&graph), 0).unwrap();
    let batch = batches.next_batch().unwrap().unwrap();
    let schema = batch.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["source", "target", "weight", "kind", "n"]);
    let text = format!("{batch:?}");
    assert!(text.contains("road") && text.contains("rail"), "{text}");
    assert_eq!(batch.column(3).null_count(), 1);
    assert!(batches.next_batch().unwrap().is_none());
    let weighing = graph.weighing("n").unwrap().unwrap();
    assert_eq!(weighing.weight_name(), Some("n"));
    assert_eq!(weighing.weighing("weight").unwrap().unwrap().weight_name(), Some("weight"));
    assert!(graph.weighing("kind").unwrap().is_none() && graph.weighing("none").unwrap().is_none());
    for column in [1, 2, 4, usize::MAX] {
        let options = ImageOptions { weighed_by: Some(column), ..ImageOptions::default() };
        let error = Graph::open(&runtime, &image, options).unwrap_err();
        assert_eq!(error.kind(), outcore_image::ErrorKind::Usage, "{error}");
    }
    // An open graph has its files even if its image was replaced.
    std::fs::remove_dir_all(&image).unwrap();
    assert_eq!(graph.weighing("n").unwrap().unwrap().weight_name(), Some("n"));
}

#[test]
fn a_batch_of_vertices_has_little_text() {
    let directory = tempfile::tempdir().unwrap();
    let name = |i: usize| format!("{}{}", i % 3, "x".repeat(1000 * (i % 3)));
    let rows: String = (0..20_000).map(|i| format!("{i},{},{i}\n", name(i))).collect();
    let (edges, vertices) = ("source,target\n0,1\n1,2\n", format!("id,name,n\n{rows}"));
    let image = common::import_tables(directory.path(), edges, &vertices, &ImportOptions::default());
    let graph = common::open(&image, 2);
    let free = graph.runtime().budget().available_bytes();
    let mut rows = Vec::new();
    let batches = VertexBatches::new(&graph, None).unwrap();
    assert!(graph.runtime().budget().available_bytes() + (1 << 20) < free, "a batch is reserved");
    for batch in batches {
        let batch = batch.unwrap();
        let names = batch.column_by_name("name").unwrap().as_string::<i32>();
        let numbers = batch.column_by_name("n").unwrap().as_primitive::<Int64Type>();
        assert!(names.value_data().len() <= outcore_table::BATCH_TEXT_BYTES + 2001, "{}", names.value_data().len());
        rows.extend((0..batch.num_rows()).map(|row| (numbers.value(row) as usize, names.value(row).to_owned())));
    }
    rows.sort_unstable();
    assert!(rows.len() == 20_000 && rows.iter().enumerate().all(|(i, row)| *row == (i, name(i))));
    assert_eq!(graph.runtime().budget().available_bytes(), free, "memory is given back");
}

/// Names that stand for something else in a table of edges or of vertices, as names of attributes.
#[test]
fn attributes_of_any_name_keep_it_in_copies_and_files() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = common::runtime(2);
    let path = |name: &str| directory.path().join(name);
    let of_edges = ["source", "target", "weight", "id", "vertex", "neighbor"];
    let of_vertices = ["vertex", "source", "target", "weight", "id"];
    let (row, vertex) = (|first: &str| first.to_owned() + ",x,y,z,p,q,r\n", |id: &str| id.to_owned() + ",a,b,c,d,e\n");
    std::fs::write(path("e.csv"), format!("from,to,km,{}\n{}{}", of_edges.join(","), row("1,2,5"), row("2,3,6")))
        .unwrap();
    std::fs::write(path("v.csv"), format!("key,{}\n{}{}", of_vertices.join(","), vertex("1"), vertex("2"))).unwrap();
    let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let [source, target, weight] = ["from", "to", "km"].map(|name| Some(name.to_owned()));
    let columns = InputOptions { source, target, weight, ..all.clone() };
    let named = |image: &Path| {
        open_and_check(&runtime, image).unwrap();
        let graph = Graph::open(&runtime, image, ImageOptions::default()).unwrap();
        let names = |all: &[Attribute]| all.iter().map(|attribute| attribute.name.clone()).collect::<Vec<_>>();
        let manifest = graph.manifest();
        assert_eq!(manifest.weights().unwrap().name, "km", "{}", image.display());
        (names(&manifest.attributes), names(&manifest.vertex_attributes))
    };
    let expected = (of_edges.map(str::to_owned).to_vec(), of_vertices.map(str::to_owned).to_vec());
    let (first, how) = (path("first.oc"), ImportOptions::default());
    let source = open(&runtime, &[path("e.csv")], &columns).unwrap();
    let source = with_vertex_table(&runtime, source, &path("v.csv"), &all).unwrap();
    import(&runtime, source, &first, &how).unwrap();
    assert_eq!(named(&first), expected);
    let copy = open_inputs(&runtime, std::slice::from_ref(&first), &InputOptions::default(), |_| Ok(Part::default()));
    import(&runtime, copy.unwrap(), &path("copy.oc"), &how).unwrap();
    assert_eq!(named(&path("copy.oc")), expected);
    let graph = Graph::open(&runtime, &first, ImageOptions::default()).unwrap();
    for (edges, vertices) in
        [("x.csv", "xv.csv"), ("x.tsv", "xv.parquet"), ("x.parquet", "xw.csv"), ("x.jsonl", "xu.csv")]
    {
        export(&graph, path(edges)).unwrap();
        export_vertices(&graph, path(vertices), None).unwrap();
        let weights = (edges != "x.parquet").then(|| "km".to_owned());
        let options = InputOptions { weight: weights, ..all.clone() };
        let source = open(&runtime, &[path(edges)], &options).unwrap();
        let source = with_vertex_table(&runtime, source, &path(vertices), &all).unwrap();
        let back = path(&format!("{edges}.oc"));
        import(&runtime, source, &back, &how).unwrap();
        assert_eq!(named(&back), expected, "{edges}, {vertices}");
    }
}
