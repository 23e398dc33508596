//! Rules of an image that its bytes may break under right checksums: `check` and whoever reads the part refuse it by
//! the same rule.

use crate::common;

use outcore_format::text::TextWriter;
use outcore_format::values::ValueWriter;
use outcore_format::{Manifest, ValueType, index_bytes};
use outcore_graph::import::{Attributes, ImportOptions, InputOptions, import, open};
use outcore_graph::{
    Direction, EdgeBatches, EdgeData, Edges, EdgesFrom, Frontier, Graph, ListPart, VertexBatches, VertexData, check,
    first_edges, scan,
};
use outcore_image::{ImageFile, ImageOptions, Result};
use std::path::{Path, PathBuf};

const EDGES: &str = "source,target,weight,kind,n,open,day,rest\n\
                     1,2,5.5,road,1.5,true,2024-02-29,7\n2,3,6.25,rail,2.5,false,2024-03-01,\n3,1,7,road,4.5,true,1969-12-31,9\n";
const VERTICES: &str = "id,name,open,day\n1,one,true,2024-02-29\n2,two,false,2024-02-28\n3,three,,\n";

fn import_image(directory: &Path) -> PathBuf {
    common::import_tables(directory, EDGES, VERTICES, &ImportOptions::default())
}

fn open_image(image: &Path) -> Result<Graph> {
    Graph::open(&common::runtime(2), image, ImageOptions::default())
}

/// Writes a column of values anew, in one page of this type.
fn rewrite(image: &Path, file: ImageFile, kind: ValueType, values: &[u64]) {
    let mut id = 0;
    common::edit_manifest(image, |manifest| {
        id = manifest.image_id;
        match (file.value_column(), file.vertex_value_column()) {
            (Some(column), _) => manifest.values[column].kind = kind,
            (_, Some(column)) => manifest.vertex_values[column].kind = kind,
            _ => unreachable!("a column of values"),
        }
    });
    let origin = file.origin(id);
    let mut writer = ValueWriter::new(origin, kind, 0);
    values.iter().for_each(|&value| writer.push(value, |_, _| unreachable!("it fits a page")).unwrap());
    writer.finish(|_, page| std::fs::write(file.path(image), page).unwrap());
    std::fs::write(image.join(file.index_name().unwrap()), index_bytes(&origin, &[0])).unwrap();
}

fn rewrite_strings(image: &Path, file: ImageFile, strings: &[&str]) {
    let id = open_image(image).unwrap().manifest().image_id;
    let mut writer = TextWriter::new(file.origin(id));
    for text in strings {
        writer.push(&(text.len() as u32).to_le_bytes(), |_| unreachable!("they fit a page"));
        writer.push(text.as_bytes(), |_| unreachable!("they fit a page"));
    }
    writer.finish(|page| std::fs::write(file.path(image), page).unwrap());
}

/// The answers of whoever reads the edges and their values.
fn readers_of_edges(graph: &Graph) -> Vec<(&'static str, Result<()>)> {
    let exported = || {
        let mut batches = EdgeBatches::new(graph, EdgeData::all(graph), 0)?;
        while batches.next_batch()?.is_some() {}
        Ok(())
    };
    let looked_up = || EdgesFrom::new(graph)?.of(0).map(drop);
    vec![("export", exported()), ("head", first_edges(graph, 10).map(drop)), ("lookup", looked_up())]
}

fn readers_of_vertices(graph: &Graph) -> Vec<(&'static str, Result<()>)> {
    let exported = || {
        let mut batches = VertexBatches::new(graph, None)?;
        while batches.next_batch()?.is_some() {}
        Ok(())
    };
    let looked_up = || {
        let data = VertexData::new(graph)?;
        (0..3).try_for_each(|vertex| data.of(vertex).map(drop))
    };
    vec![("export", exported()), ("lookup", looked_up())]
}

/// The answer of an algorithm that counts by the weights.
fn sweep(graph: &Graph, direction: Direction) -> Result<()> {
    let visit = |sum: &mut f64, list: ListPart<'_>| {
        (0..list.neighbours.len()).for_each(|place| *sum += list.weights.real(place)); //
    };
    scan(graph, Edges::new(direction, true), Frontier::All, || 0.0, visit).map(drop)
}

/// `check` refuses the image by this rule, and so do these readers.
#[track_caller]
fn assert_refused(graph: &Graph, rule: &str, readers: Vec<(&'static str, Result<()>)>) {
    let text = check(graph).expect_err(rule).to_string();
    assert!(text.contains(rule), "check, {rule}: {text}");
    for (reader, answer) in readers {
        let text = answer.expect_err(&format!("{reader}, {rule}")).to_string();
        assert!(text.contains(rule), "{reader}, {rule}: {text}");
    }
}

#[test]
fn values_that_an_attribute_cannot_have() {
    let real = |value: f64| value.to_bits();
    // Columns of edges: weight, kind, n, open, day, rest, and what is missing in rest.
    type Case<'a> = (&'a str, ImageFile, ValueType, [u64; 3]);
    let values = |column| ImageFile::values(column, false);
    let of_edges: [Case<'_>; 7] = [
        ("0 or 1 for true and false in the attribute `open`", values(3), ValueType::U8, [1, 74, 0]),
        ("days since 1970 in 32 bits in the attribute `day`", values(4), ValueType::I64, [5, 1 << 31, 6]),
        ("numbers of 2 strings in the attribute `kind`", values(1), ValueType::U8, [0, 2, 1]),
        ("finite numbers to count by", values(2), ValueType::F32, [real(1.0), real(f64::INFINITY), real(2.0)]),
        ("weights that are numbers", values(0), ValueType::F32, [real(1.0), real(f64::NAN), real(2.0)]),
        ("weights that are numbers", values(0), ValueType::F64, [real(1.0), real(2.0), real(-f64::NAN)]),
        ("0 or 1 as the mark of a missing value", values(6), ValueType::U8, [0, 1, 7]),
    ];
    for (rule, file, kind, values) in of_edges {
        let directory = tempfile::tempdir().unwrap();
        let image = import_image(directory.path());
        let whole = open_image(&image).unwrap();
        check(&whole).unwrap();
        readers_of_edges(&whole).into_iter().for_each(|(reader, answer)| answer.expect(reader));
        rewrite(&image, file, kind, &values);
        let graph = open_image(&image).unwrap();
        let mut readers = readers_of_edges(&graph);
        if file == ImageFile::values(0, false) {
            readers.push(("an algorithm", sweep(&graph, Direction::Out)));
            // The second pass has pages from the cache.
            readers.push(("another algorithm", sweep(&graph, Direction::Out)));
        }
        if file == ImageFile::values(2, false) {
            readers.push(("an algorithm", sweep(&graph.weighing("n").unwrap().unwrap(), Direction::Out)));
        }
        assert_refused(&graph, rule, readers);
    }
    // Columns of vertices: name, open, and what is missing there, day, and what is missing there.
    let of_vertices: [Case<'_>; 3] = [
        ("0 or 1 for true and false in the attribute `open`", ImageFile::vertex_values(1), ValueType::U8, [74; 3]),
        (
            "days since 1970 in 32 bits in the attribute `day`",
            ImageFile::vertex_values(3),
            ValueType::I64,
            [1 << 40; 3],
        ),
        ("0 or 1 as the mark of a missing value", ImageFile::vertex_values(2), ValueType::U8, [2; 3]),
    ];
    for (rule, file, kind, values) in of_vertices {
        let directory = tempfile::tempdir().unwrap();
        let image = import_image(directory.path());
        rewrite(&image, file, kind, &values);
        let graph = open_image(&image).unwrap();
        assert_refused(&graph, rule, readers_of_vertices(&graph));
    }
}

#[test]
fn weights_beside_in_lists_and_values_that_mean_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path());
    let nan = [1.0, f64::NAN, 2.0].map(f64::to_bits);
    rewrite(&image, ImageFile::values(0, true), ValueType::F32, &nan);
    let graph = open_image(&image).unwrap();
    assert_refused(&graph, "weights that are numbers", vec![("an algorithm", sweep(&graph, Direction::In))]);
    // Where a value is missing, the number in its place is no value.
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path());
    rewrite(&image, ImageFile::vertex_values(1), ValueType::U8, &[74; 3]);
    rewrite(&image, ImageFile::vertex_values(2), ValueType::U8, &[1; 3]);
    let graph = open_image(&image).unwrap();
    check(&graph).unwrap();
    readers_of_vertices(&graph).into_iter().for_each(|(reader, answer)| answer.expect(reader));
}

#[test]
fn strings_that_are_unsorted_or_there_twice() {
    for strings in [["road", "rail"], ["rail", "rail"]] {
        let directory = tempfile::tempdir().unwrap();
        let image = import_image(directory.path());
        rewrite_strings(&image, ImageFile::strings(0, false), &strings);
        let graph = open_image(&image).unwrap();
        assert_refused(&graph, "different strings in the order of their bytes", readers_of_edges(&graph));
    }
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path());
    rewrite_strings(&image, ImageFile::strings(0, true), &["two", "three", "one"]);
    let graph = open_image(&image).unwrap();
    assert_refused(&graph, "different strings in the order of their bytes", readers_of_vertices(&graph));
}

/// Rules of the manifest are kept by whoever opens the image, `check` among them.
#[test]
fn names_and_pages_that_a_manifest_cannot_have() {
    let directory = tempfile::tempdir().unwrap();
    let image = import_image(directory.path());
    let whole = std::fs::read(image.join("manifest.json")).unwrap();
    type Edit = fn(&mut Manifest);
    let edits: [(&str, Edit); 8] = [
        ("attributes with names, found one without", |manifest| manifest.attributes[1].name.clear()),
        ("different names, found `kind` twice", |manifest| manifest.attributes[2].name = "kind".into()),
        ("not reserved, found `edge.kind` beside `kind`", |manifest| manifest.attributes[1].name = "edge.kind".into()),
        ("attributes with names, found one without", |manifest| manifest.vertex_attributes[0].name.clear()),
        ("different names, found `day` twice", |manifest| manifest.vertex_attributes[1].name = "day".into()),
        ("not reserved, found `vertex.vertex` beside `vertex`", |manifest| {
            manifest.vertex_attributes[0].name = "vertex".into();
            manifest.vertex_attributes[1].name = "vertex.vertex".into();
        }),
        ("no pages of `kind` beside in-lists, found 1", |manifest| manifest.values[1].in_pages = 1),
        ("no pages of `name` beside in-lists, found 3", |manifest| manifest.vertex_values[0].in_pages = 3),
    ];
    for (rule, edit) in edits {
        common::edit_manifest(&image, edit);
        let text = open_image(&image).expect_err(rule).to_string();
        assert!(text.contains(rule), "{rule}: {text}");
        std::fs::write(image.join("manifest.json"), &whole).unwrap();
    }
    // Names that readers put `edge.` or nothing before are good ones.
    common::edit_manifest(&image, |manifest| {
        manifest.attributes[1].name = "edge.source".into();
        manifest.attributes[2].name = "target".into();
        manifest.vertex_attributes[1].name = "vertex.name".into();
    });
    let graph = open_image(&image).unwrap();
    check(&graph).unwrap();
    readers_of_edges(&graph).into_iter().for_each(|(reader, answer)| answer.expect(reader));
}

#[test]
fn an_import_makes_no_names_that_a_manifest_cannot_have() {
    let runtime = common::runtime(1);
    let directory = tempfile::tempdir().unwrap();
    let (edges, image) = (directory.path().join("e.csv"), directory.path().join("g.oc"));
    let make = |text: &str, attributes| {
        std::fs::write(&edges, text).unwrap();
        let options = InputOptions { attributes, ..InputOptions::default() };
        let source = open(&runtime, std::slice::from_ref(&edges), &options)?;
        let replace = ImportOptions { replace: true, ..ImportOptions::default() };
        import(&runtime, source, &image, &replace).map(|report| report.manifest.attributes)
    };
    // As a frame with an index is written: what has no name is left out.
    let attributes = make("source,target,,kind\n1,2,0,a\n", Attributes::All).unwrap();
    assert_eq!(attributes.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>(), ["kind"]);
    for (text, rule) in [
        ("source,target,kind,kind\n1,2,a,b\n", "different names, found `kind` twice; rename the column"),
        ("source,target,kind,edge.kind\n1,2,a,b\n", "found `edge.kind` beside `kind`; rename the column"),
    ] {
        let error = make(text, Attributes::All).unwrap_err().to_string();
        assert!(error.contains(rule), "{error}");
    }
    let unnamed = Attributes::Named(vec!["3".to_owned()]);
    let error = make("source,target,,kind\n1,2,0,a\n", unnamed).unwrap_err().to_string();
    assert!(error.contains("attributes with names, found one without"), "{error}");
}

/// A matrix of 2 rows and 3 columns.
#[test]
fn rows_that_are_none() {
    for (rows, found) in [(1, "an edge from vertex 1, where 1"), (3, "an edge to vertex 2, where 3")] {
        let directory = tempfile::tempdir().unwrap();
        let (file, image) = (directory.path().join("m.mtx"), directory.path().join("m.oc"));
        std::fs::write(&file, "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n").unwrap();
        let runtime = common::runtime(2);
        let options = InputOptions { is_matrix: true, ..InputOptions::default() };
        let source = open(&runtime, &[file], &options).unwrap();
        import(&runtime, source, &image, &ImportOptions::default()).unwrap();
        check(&open_image(&image).unwrap()).unwrap();
        common::edit_manifest(&image, |manifest| manifest.rows = Some(rows));
        let graph = open_image(&image).unwrap();
        let output = directory.path().join("again.mtx");
        let readers =
            vec![("sides", graph.check_sides()), ("export", outcore_graph::export(&graph, &output).map(drop))];
        assert_refused(&graph, &format!("edges from rows to columns, found {found}"), readers);
    }
}
