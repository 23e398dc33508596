//! Images of released versions are opened and give the answers that are written beside them; damaged twins give none
//! (`crates/format/tests/golden/README.md`).

use crate::engine::*;
use outcore_algo::verify::{verify_bfs, verify_components, verify_pagerank};
use outcore_algo::{BfsOptions, ComponentsOptions, bfs, components, pagerank};
use outcore_graph::import::{
    Duplicates, ImportOptions, InputOptions, OrderChoice, SelfLoops, import, open as read_input,
};
use outcore_graph::{Direction, Graph, check};
use outcore_image::{Error, ImageOptions};
use outcore_table::IdStream;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// All released versions; writers write the last one.
const VERSIONS: [&str; 1] = ["v2"];
const IMAGES: [&str; 3] = ["empty", "hubs", "named"];
/// An image of more vertices than this is described by these many first ones.
const SHOWN: usize = 12;

fn golden(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/golden").join(version)
}

fn making() -> bool {
    std::env::var_os("OUTCORE_MAKE_GOLDEN").is_some()
}

/// Makes an image of the version that is written now, unless it is there.
fn make(name: &str) {
    let folder = golden(VERSIONS[VERSIONS.len() - 1]);
    let image = folder.join(name);
    if image.exists() {
        return println!("{} is there: golden images are never made again", image.display());
    }
    std::fs::create_dir_all(&folder).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("edges.txt");
    let (text, directed, order) = match name {
        "named" => {
            let edges =
                "ann bob 0.5\nbob cat 1.25\ncat ann -2\nann cat 3\ndan dan 7\nbob ann 0.125\neve ann 1e9\neve eve 1\n";
            (edges.to_owned(), true, OrderChoice::Degree)
        }
        "hubs" => {
            let edges = (2..24_000u64).map(|v| format!("{} {v}\n", mix(v) % 2)).collect();
            (edges, false, OrderChoice::Input)
        }
        _ => ("# nothing\n".to_owned(), true, OrderChoice::Auto),
    };
    std::fs::write(&input, text).unwrap();
    let runtime = runtime(1, None);
    let columns = InputOptions { weight: (name == "named").then(|| "3".to_owned()), ..InputOptions::default() };
    let source = read_input(&runtime, &[input], &columns).unwrap();
    let options = ImportOptions {
        directed: Some(directed),
        duplicates: Duplicates::First,
        self_loops: SelfLoops::Keep,
        order,
        replace: true,
        ..ImportOptions::default()
    };
    import(&runtime, source, &image, &options).unwrap();
}

/// All ids, as text.
fn names(graph: &Graph) -> Vec<String> {
    let mut all = Vec::new();
    let mut stream = IdStream::new(graph.image()).unwrap();
    while let Some((_, batch)) = stream.next().unwrap() {
        all.extend(batch.iter().map(|id| id.to_string()));
    }
    all
}

/// Says what the algorithms find, vertex by vertex under the users' ids.
fn describe(graph: &Graph) -> String {
    let names = names(graph);
    let mut text = format!("{} vertices, {} edges\n", graph.vertices(), graph.edges());
    let options = iterations(20);
    let ranks_found = pagerank(graph, &options).unwrap();
    verify_pagerank(graph, &options, &ranks_found).unwrap();
    let joined = components(graph, &ComponentsOptions::default()).unwrap();
    verify_components(graph, &joined).unwrap();
    writeln!(text, "{} components", joined.count).unwrap();
    if names.is_empty() {
        return text;
    }
    let found = bfs(graph, &BfsOptions::default()).unwrap();
    verify_bfs(graph, &BfsOptions::default(), &found).unwrap();
    writeln!(
        text,
        "from {}: {} reached, {:?} by level",
        names[0],
        found.reached,
        found.level_sizes(graph, usize::MAX).unwrap()
    )
    .unwrap();
    let (ranks, labels) = (ranks_found.ranks.to_vec(), joined.labels.to_vec());
    for v in 0..names.len().min(SHOWN) {
        let level = found.level(v as u32).map_or("-".to_owned(), |level| level.to_string());
        let parent = found.parent(v as u32).map_or("-", |parent| &names[parent as usize]);
        let label = &names[labels[v] as usize];
        writeln!(text, "{}: level {level}, parent {parent}, component {label}, rank {:.10}", names[v], ranks[v])
            .unwrap();
    }
    text
}

#[test]
fn images_give_the_answers_that_are_written_beside_them() {
    if making() {
        IMAGES.into_iter().for_each(make);
    }
    for (version, name) in VERSIONS.iter().flat_map(|version| IMAGES.map(|name| (version, name))) {
        let folder = golden(version);
        let graph = open(&folder.join(name), 2, None, None);
        check(&graph).unwrap();
        let description = describe(&graph);
        let path = folder.join(format!("{name}.answers.txt"));
        if making() && !path.exists() {
            std::fs::write(&path, &description).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        same(&expected.lines().collect::<Vec<_>>(), &description.lines().collect::<Vec<_>>(), name);
        if name == "hubs" {
            assert!(graph.pages(Direction::Out) > 3, "lists of more than a page");
        }
    }
}

#[test]
fn damaged_twins_open_with_an_error_or_are_found_by_a_check() {
    for version in VERSIONS {
        let table = std::fs::read_to_string(golden(version).join("twins.txt")).unwrap();
        table.lines().filter(|line| !line.starts_with('#')).for_each(|row| check_twin(&golden(version), row));
    }
}

/// Flips one bit of a copy of an image, as a row of the table says.
fn check_twin(folder: &Path, row: &str) {
    let columns: Vec<&str> = row.split(' ').collect();
    let (image, name) = (columns[0], columns[1]);
    let (byte, bit): (usize, u32) = (columns[2].parse().unwrap(), columns[3].parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    copy(&folder.join(image), directory.path());
    let path = directory.path().join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[byte] ^= 1 << bit;
    std::fs::write(&path, bytes).unwrap();
    let opened = Graph::open(&runtime(1, None), directory.path(), ImageOptions::default());
    match opened.and_then(|graph| check(&graph)) {
        Err(Error::Corrupt { path: found, offset_bytes, .. }) => {
            assert_eq!(found, path, "{row}");
            assert_eq!(offset_bytes, columns[4].parse::<u64>().unwrap(), "{row}");
        }
        // An image of a newer version is not for this reader to judge, whatever else is wrong with it.
        Err(Error::Unsuitable(text)) if row.ends_with("a format version of at most 2") => {
            assert!(text.contains("a newer Outcore may read it"), "{row}: {text}");
        }
        Err(other) => panic!("{row}: {other}"),
        Ok(_) => panic!("{row}: not noticed"),
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
