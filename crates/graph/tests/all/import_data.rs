//! Real graphs, imported, hold the edges of their files.
//!
//! Real data is read where it is present: the directory in `OUTCORE_DATA`, else `../shared/data` beside the repository.

use crate::given;

use given::{Id, open};
use outcore_graph::import::{Block, EdgeBatch, Ids, ImportOptions, InputOptions, import};
use outcore_io::{Runtime, RuntimeOptions};
use std::path::{Path, PathBuf};

/// Options for a file: its columns by number where they have no names.
fn options_for(path: &Path) -> InputOptions {
    let ends = ["1", "2"].map(|number| path.to_string_lossy().contains("bitcoinotc").then(|| number.to_owned()));
    let [source, target] = ends;
    InputOptions { source, target, ..InputOptions::default() }
}

/// All edges of a file as they stand there, and whether they have a direction.
fn edges_of(runtime: &Runtime, path: &Path) -> (Vec<(u64, u64)>, bool) {
    let mut source = outcore_graph::import::open(runtime, &[path.to_owned()], &options_for(path)).unwrap();
    let parser = source.parser();
    let mut edges = Vec::new();
    let mut blocks = std::iter::from_fn(|| source.next_block().unwrap()).flat_map(Block::parts);
    while let Some(block) = blocks.next().transpose().unwrap() {
        let mut batch = EdgeBatch::new(false);
        parser.parse(&block, &mut batch, &mut |_| Ok(())).unwrap();
        let Ids::Integer { values, .. } = &batch.ids else { panic!("{path:?} has string ids") };
        edges.extend(values.chunks_exact(2).map(|edge| (edge[0], edge[1])));
    }
    drop(blocks);
    (edges, source.facts().directed.unwrap_or(true))
}

fn pairs(ids: &[Id], lists: &[Vec<u32>]) -> Vec<(u64, u64)> {
    let number = |vertex: usize| match &ids[vertex] {
        Id::Integer(id) => *id as u64,
        Id::Text(id) => panic!("{id} is no number"),
    };
    let list = |(vertex, list): (usize, &Vec<u32>)| {
        let source = number(vertex);
        list.iter().map(|&neighbour| (source, number(neighbour as usize))).collect::<Vec<_>>()
    };
    let mut pairs: Vec<(u64, u64)> = lists.iter().enumerate().flat_map(list).collect();
    pairs.sort_unstable();
    pairs
}

fn sorted_once(mut edges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn check(path: &Path, directory: &Path) {
    let image = directory.join("graph.oc");
    let options = RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    let (edges, directed) = edges_of(&runtime, path);
    let source = outcore_graph::import::open(&runtime, &[path.to_owned()], &options_for(path)).unwrap();
    let report =
        import(&runtime, source, &image, &ImportOptions { replace: true, ..ImportOptions::default() }).unwrap();
    let read = open(&image);
    let mirrored = |edges: &[(u64, u64)]| edges.iter().map(|&(source, target)| (target, source)).collect::<Vec<_>>();
    let once = sorted_once(edges.clone());
    let expected = if directed { once.clone() } else { sorted_once([once.clone(), mirrored(&once)].concat()) };
    assert!(pairs(&read.ids, &read.out) == expected, "{path:?}");
    if let Some(into) = &read.into {
        assert!(pairs(&read.ids, into) == sorted_once(mirrored(&once)), "{path:?}");
    }
    let facts = &report.manifest.import;
    assert_eq!(facts.edges_read, edges.len() as u64);
    assert_eq!(facts.edges_read - facts.duplicates, report.manifest.edges);
    println!(
        "{}: {} vertices, {} edges, order {:?}, {:.2} bytes per entry",
        path.file_name().unwrap().to_string_lossy(),
        report.manifest.vertices,
        report.manifest.edges,
        report.manifest.order,
        report.stats.image_bytes as f64 / expected.len() as f64 / if directed { 2.0 } else { 1.0 },
    );
}

#[test]
fn shared_graphs_come_back() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let graphs = std::env::var_os("OUTCORE_DATA").map_or_else(beside, PathBuf::from).join("graphs");
    let Ok(files) = std::fs::read_dir(&graphs) else {
        return println!("skipped: {} is not here; set OUTCORE_DATA", graphs.display());
    };
    let directory = tempfile::tempdir().unwrap();
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file()) {
        check(path, directory.path());
    }
}
