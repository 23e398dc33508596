//! Graphs in memory, and any others, written as images.

use outcore::import::from_edges;
use outcore::{Error, ErrorKind, Graph, Result, Runtime, check};
use std::fs;
use std::path::Path;

#[test]
fn a_graph_is_saved_whole_or_not_at_all() -> Result<()> {
    let runtime = Runtime::new(Default::default())?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring.oc");
    let ring = (0..5000_u32).map(|vertex| (vertex, (vertex + 1) % 5000, f64::from(vertex)));
    let graph = Graph::in_memory(&runtime, from_edges(ring)?, &Default::default())?;
    graph.save(&path, false)?;
    let saved = Graph::open(&runtime, &path, Default::default())?;
    check(&saved)?;
    assert_eq!((saved.vertices(), saved.edges(), saved.image_bytes()), (5000, 5000, graph.image_bytes()));
    assert_eq!(saved.ids()?.id(4999)?.to_string(), graph.ids()?.id(4999)?.to_string());
    // A name that is in use is refused, unless it is an image that may be replaced; a file is refused always.
    assert!(graph.save(&path, false).is_err());
    let small = Graph::in_memory(&runtime, from_edges([("ada", "bob")])?, &Default::default())?;
    small.save(&path, true)?;
    assert_eq!(Graph::open(&runtime, &path, Default::default())?.vertices(), 2);
    fs::write(folder.path().join("file"), "mine").unwrap();
    assert!(graph.save(folder.path().join("file"), true).is_err());
    // A stopped copy leaves nothing behind.
    let stopped = graph.for_operation(None);
    stopped.runtime().cancel().cancel();
    assert!(matches!(stopped.save(folder.path().join("other.oc"), false), Err(Error::Cancelled)));
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["file", "ring.oc"]);
    Ok(())
}

type Change = (&'static str, fn(&Path));

/// Changes of the directory of an open graph.
const CHANGES: [Change; 5] = [
    ("removed", |image| fs::remove_dir_all(image).unwrap()),
    ("removed and made again", |image| {
        let other = image.with_extension("other");
        copy(image, &other);
        fs::remove_dir_all(image).unwrap();
        fs::rename(other, image).unwrap();
    }),
    ("one file removed", |image| fs::remove_file(image.join("columns/out_degree.pages")).unwrap()),
    ("one file written again", |image| {
        let manifest = image.join("manifest.json");
        let bytes = fs::read(&manifest).unwrap();
        fs::remove_file(&manifest).unwrap();
        fs::write(manifest, bytes).unwrap();
    }),
    ("one file changed", |image| {
        let file = fs::OpenOptions::new().append(true).open(image.join("columns/out_degree.pages"));
        std::io::Write::write_all(&mut file.unwrap(), b"more").unwrap();
    }),
];

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        match entry.path() {
            path if path.is_dir() => copy(&path, &to.join(entry.file_name())),
            path => _ = fs::copy(path, to.join(entry.file_name())).unwrap(),
        }
    }
}

#[test]
fn a_graph_whose_directory_changed_is_not_saved() -> Result<()> {
    let runtime = Runtime::new(Default::default())?;
    for (change, make) in CHANGES {
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (folder.path().join("links.oc"), folder.path().join("copy.oc"));
        Graph::in_memory(&runtime, from_edges([("ada", "bob")])?, &Default::default())?.save(&path, false)?;
        let graph = Graph::open(&runtime, &path, Default::default())?;
        Graph::in_memory(&runtime, from_edges([(1_u32, 2), (2, 3)])?, &Default::default())?.save(&target, false)?;
        make(&path);
        for replaced in [&target, &folder.path().join("new.oc")] {
            let error = graph.save(replaced, true).expect_err(change);
            assert_eq!(error.kind(), ErrorKind::Missing, "{change}: {error}");
        }
        assert_eq!(Graph::open(&runtime, &target, Default::default())?.edges(), 2, "{change}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), if path.exists() { 2 } else { 1 }, "{change}");
    }
    Ok(())
}

#[test]
fn a_graph_that_was_renamed_or_replaces_itself_is_saved() -> Result<()> {
    let runtime = Runtime::new(Default::default())?;
    let folder = tempfile::tempdir().unwrap();
    let (path, renamed) = (folder.path().join("links.oc"), folder.path().join("renamed.oc"));
    Graph::in_memory(&runtime, from_edges([("ada", "bob")])?, &Default::default())?.save(&path, false)?;
    let graph = Graph::open(&runtime, &path, Default::default())?;
    fs::rename(&path, &renamed).unwrap();
    graph.save(&path, false)?;
    graph.save(&renamed, true)?;
    for path in [path, renamed] {
        check(&Graph::open(&runtime, path, Default::default())?)?;
    }
    // Its own directory is gone now.
    assert_eq!(graph.save(folder.path().join("copy.oc"), false).unwrap_err().kind(), ErrorKind::Missing);
    Ok(())
}
