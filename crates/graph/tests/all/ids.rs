//! Ids: streamed, looked for and held, of every kind and in both orders.

use crate::common;

use common::{Model, ModelIds, open};
use outcore_format::{IdType, Order, WeightKind};
use outcore_graph::Graph;
use outcore_image::{Error, ImageFile, ImageOptions};
use outcore_table::{Id, IdLookup, IdStream};

fn all_models() -> Vec<Model> {
    let vertices = 70_000;
    let mut models = Vec::new();
    for order in [Order::Input, Order::Degree] {
        for ids in [
            ModelIds::Range(-5),
            Model::sparse_ids(vertices),
            Model::signed_ids(vertices),
            Model::text_ids(vertices),
            ModelIds::Text((0..vertices).map(|i| format!("{i:040}{}", "x".repeat(i % 50))).collect()),
        ] {
            let model = Model::random(1, vertices, 30_000, false, true).with_ids(ids).with_order(order);
            models.push(model.with_weights(WeightKind::I64));
        }
    }
    models
}

fn streamed(graph: &Graph) -> Result<Vec<String>, Error> {
    let mut stream = IdStream::new(graph.image())?;
    let mut all = Vec::new();
    while let Some((first, batch)) = stream.next()? {
        assert_eq!(first, all.len() as u64);
        all.extend(batch.iter().map(|id| id.to_string()));
    }
    Ok(all)
}

#[test]
fn every_kind_of_id_comes_back_and_is_found() {
    for model in all_models() {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&model.write(directory.path()), 2);
        let expected: Vec<String> = model.places().into_iter().map(|place| model.id(place)).collect();
        assert_eq!(streamed(&graph).unwrap(), expected);
        let before = graph.runtime().budget().available_bytes();
        let lookup = IdLookup::new(graph.image()).unwrap();
        assert_eq!(before - graph.runtime().budget().available_bytes(), IdLookup::bytes(graph.image()));
        for vertex in (0..expected.len()).step_by(977).chain([expected.len() - 1]) {
            assert_eq!(lookup.id(vertex as u32).to_string(), expected[vertex]);
            assert_eq!(graph.vertex(&expected[vertex]).unwrap(), vertex as u32);
        }
        let (ids, bytes) = (graph.ids().unwrap(), graph.runtime().bytes_read());
        for (vertex, id) in expected.iter().enumerate() {
            assert_eq!((ids.vertex(id).unwrap(), ids.find(id)), (vertex as u32, Some(vertex as u32)));
            assert_eq!(ids.id(vertex as u32).unwrap().to_string(), *id);
        }
        let beyond = ids.id(expected.len() as u32).map(|id| id.to_string());
        assert!(matches!(beyond, Err(Error::NoVertex { .. })), "{beyond:?}");
        assert_eq!(graph.runtime().bytes_read(), bytes, "look-ups read nothing");
        // Ids in use stay, whoever needs their memory.
        let budget = graph.runtime().budget();
        assert!(budget.require("a test", budget.available_bytes() + 1).is_err());
        assert_eq!(ids.find(&expected[0]), Some(0));
        for unknown in ["", "nobody", "-77777777", "99999999999999999999999999", "1.5"] {
            assert_eq!(ids.find(unknown), None);
            assert_eq!(ids.vertex(unknown).unwrap_err().to_string(), graph.vertex(unknown).unwrap_err().to_string());
            let error = graph.vertex(unknown).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, Error::NoId { .. }), "{text}");
            assert!(text.contains(&format!("`{unknown}`")) && text.contains(&format!("`{}`", expected[0])), "{text}");
        }
    }
}

#[test]
fn a_graph_without_vertices_has_no_ids() {
    for ids in [ModelIds::Range(0), ModelIds::Unsigned(Vec::new()), ModelIds::Text(Vec::new())] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&Model::random(1, 1, 0, true, false).with_ids(ids).empty().write(directory.path()), 1);
        assert!(streamed(&graph).unwrap().is_empty());
        let text = graph.vertex("1").unwrap_err().to_string();
        assert!(text.contains("no vertices"), "{text}");
    }
}

#[test]
fn text_that_is_not_utf_8_and_ends_that_fall_are_refused() {
    let model = Model::random(1, 40, 60, false, false).with_ids(Model::text_ids(40));
    let cases: [(&str, Vec<&[u8]>); 2] = [
        ("UTF-8", (0..40).map(|i| if i == 30 { &b"a\xff"[..] } else { &b"ab"[..] }).collect()),
        // Together the bytes are a character, but an id ends in the middle of it.
        (
            "middle",
            (0..40).map(|i| [&b"ab"[..], &b"\xc3"[..], &b"\xa9"[..]][if i < 30 { 0 } else { i % 2 + 1 }]).collect(),
        ),
    ];
    for (what, strings) in cases {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let ids = common::write_text(&image, strings.into_iter());
        common::edit_manifest(&image, |manifest| manifest.ids = ids);
        let error = streamed(&open(&image, 1)).unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(error, Error::Corrupt { .. }) && text.contains(what) && text.contains("id.text.pages"),
            "{text}"
        );
        assert!(IdLookup::new(open(&image, 1).image()).is_err());
    }
    for ends in [vec![3, 2], vec![1, u64::MAX], vec![0, 0]] {
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let ends: Vec<u64> = ends.into_iter().chain(std::iter::repeat(3)).take(40).collect();
        common::write_column(&image, ImageFile::ID, &ends, false);
        let text = streamed(&open(&image, 1)).unwrap_err().to_string();
        assert!(text.contains("columns/id.pages"), "{text}");
    }
}

#[test]
fn columns_of_the_wrong_length_are_refused() {
    for count in [0, 39, 41, 100_000] {
        let model = Model::random(1, 40, 60, false, false).with_ids(Model::sparse_ids(40));
        let directory = tempfile::tempdir().unwrap();
        let image = model.write(directory.path());
        let values: Vec<u64> = (0..count).map(|i| i * i).collect();
        let (pages, _) = common::write_column(&image, ImageFile::ID, &values, false);
        common::edit_manifest(&image, |manifest| manifest.ids = outcore_format::IdColumn::U64 { pages });
        let text = streamed(&open(&image, 1)).unwrap_err().to_string();
        assert!(text.contains("columns/id.pages is damaged"), "{count}: {text}");
    }
    let directory = tempfile::tempdir().unwrap();
    let image = Model::random(1, 40, 60, false, false).write(directory.path());
    common::edit_manifest(&image, |manifest| manifest.ids = outcore_format::IdColumn::Range { first: i64::MAX - 38 });
    let opened = Graph::open(&common::runtime(1), &image, ImageOptions::default());
    assert!(opened.unwrap_err().to_string().contains("ids of type int64"));
}

#[test]
fn ids_are_of_one_kind_and_type_however_they_are_stored() {
    let small = |first: u64| ModelIds::Unsigned((first..first + 50).map(|id| 3 * id).collect());
    let huge = ModelIds::Unsigned((0..50).map(|id| (1 << 63) - 25 + id).collect());
    let range = ModelIds::Range(7);
    for (ids, stored, read, is_signed) in [
        (small(0), None, "uint64", false),
        (huge, None, "uint64", false),
        (small(0), Some(IdType::Int32), "int32", true),
        (range, Some(IdType::UInt8), "uint8", false),
        (Model::signed_ids(50), Some(IdType::Int16), "int16", true),
    ] {
        for order in [Order::Input, Order::Degree] {
            let model = Model::random(1, 50, 60, false, false).with_ids(ids.clone()).with_order(order);
            let directory = tempfile::tempdir().unwrap();
            let image = model.write(directory.path());
            common::edit_manifest(&image, |manifest| manifest.id_type = stored);
            let graph = open(&image, 1);
            assert_eq!(graph.info().ids, read);
            assert_eq!(outcore_table::id_type(graph.image()).to_string().to_lowercase(), read);
            let expected: Vec<String> = model.places().into_iter().map(|place| model.id(place)).collect();
            assert_eq!(streamed(&graph).unwrap(), expected);
            let lookup = IdLookup::new(graph.image()).unwrap();
            assert!((0..50).all(|vertex| matches!(lookup.id(vertex), Id::Signed(_)) == is_signed));
            for (vertex, id) in expected.iter().enumerate() {
                assert_eq!(graph.vertex(id).unwrap(), vertex as u32, "{read}");
            }
        }
    }
    for (ids, stored) in [
        (small(1 << 20), IdType::Int16),
        (small(u64::MAX / 4), IdType::Int64),
        (Model::signed_ids(50), IdType::UInt64),
        (Model::signed_ids(50), IdType::Int8),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let image = Model::random(1, 50, 60, false, false).with_ids(ids).write(directory.path());
        common::edit_manifest(&image, |manifest| manifest.id_type = Some(stored));
        let text = streamed(&open(&image, 1)).unwrap_err().to_string();
        assert!(text.contains(&format!("ids of type {}", stored.name())), "{text}");
    }
}

#[test]
fn images_of_older_writers_are_opened_without_a_pass_over_their_ids() {
    let model = Model::random(1, 40_000, 60, false, false).with_ids(Model::sparse_ids(40_000));
    let directory = tempfile::tempdir().unwrap();
    let image = model.write(directory.path());
    let read = |kind| {
        common::edit_manifest(&image, |manifest| manifest.id_type = kind);
        open(&image, 1).runtime().bytes_read()
    };
    assert_eq!(read(None), read(Some(IdType::Int64)));
}

#[test]
fn a_request_to_stop_is_heard() {
    let model = Model::random(1, 40_000, 60, false, false).with_ids(Model::sparse_ids(40_000));
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&model.write(directory.path()), 1);
    graph.runtime().cancel().cancel();
    assert!(matches!(streamed(&graph), Err(Error::Cancelled)));
}
