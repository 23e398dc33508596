//! Graphs in memory, and any others, written as images.

use outcore::import::from_edges;
use outcore::{Error, Graph, Result, Runtime, check};
use std::fs;

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
    // One whose files were replaced meanwhile is refused, and what has the name now stays.
    assert!(saved.save(&path, true).is_err());
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
