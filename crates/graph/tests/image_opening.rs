//! Opening images: whole ones while others replace them, and nothing but plain files, without ever waiting.

mod common;
mod given;

use common::{Model, runtime};
use given::{Given, Id};
use outcore_format::{Order, WeightKind};
use outcore_graph::import::{ImportOptions, import};
use outcore_graph::{Direction, Graph, check};
use outcore_image::{ImageFile, ImageOptions, MANIFEST, read_manifest};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Runtime, RuntimeOptions};
use outcore_table::IdStream;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A weighted graph with string ids: an image with every file but in-lists of undirected ones.
fn graph(edges: u64) -> Given {
    let id = |i: u64| Id::Text(format!("v{}", i % 500));
    let edges: Vec<(Id, Id)> = (0..edges).map(|i| (id(i * i), id(i * 7 + i / 500))).collect();
    let weights = Some(edges.iter().enumerate().map(|(i, _)| i as f64 / 2.0).collect());
    Given { edges, weights, strings: true, block_edges: 100, ..Given::default() }
}

fn write(image: &Path, edges: u64) {
    let options = ImportOptions { directed: Some(true), replace: true, ..ImportOptions::default() };
    import(&runtime(1), graph(edges).source(), image, &options).unwrap();
}

/// All that is in a graph, as far as reading goes: every byte is verified, ids and weights are read.
fn read_all(graph: &Graph) -> (u64, u64, u64) {
    let report = check(graph).unwrap();
    let mut ids = IdStream::new(graph.image()).unwrap();
    let mut names = 0;
    while let Some((_, batch)) = ids.next().unwrap() {
        names += batch.len() as u64;
    }
    assert_eq!(names, report.vertices);
    (report.edges, report.entries, report.image_bytes)
}

#[test]
fn the_failure_of_any_operation_while_an_image_is_opened_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    write(&image, 1000);
    for k in 0.. {
        let sim = Arc::new(Sim::new(Faults { fail_at: Some(k), ..Faults::default() }));
        let runtime = common::runtime_under(1, 64 << 20, Some(sim.clone()));
        match Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() }) {
            Err(error) => assert!(error.to_string().contains("Input/output error"), "{error}"),
            Ok(graph) => {
                let operations = sim.operations();
                assert!(operations <= k && k > 15, "operation {k} of {operations} failed, and nobody said so");
                drop(graph);
                break;
            }
        }
    }
}

#[test]
fn readers_see_the_old_image_or_the_new_one_while_it_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    let both: BTreeSet<_> = [2000, 3000]
        .map(|edges| {
            write(&image, edges);
            read_all(&Graph::open(&runtime(1), &image, ImageOptions::default()).unwrap())
        })
        .into();
    assert_eq!(both.len(), 2);
    let (done, opened) = (AtomicBool::new(false), AtomicU64::new(0));
    let seen = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = BTreeSet::new();
                    while !done.load(Ordering::Relaxed) {
                        let graph = Graph::open(&runtime(1), &image, ImageOptions::default()).unwrap();
                        seen.insert(read_all(&graph));
                        opened.fetch_add(1, Ordering::Relaxed);
                    }
                    seen
                })
            })
            .collect();
        let mut replacements = 0;
        while replacements < 60 || opened.load(Ordering::Relaxed) < 60 {
            write(&image, if replacements % 2 == 0 { 2000 } else { 3000 });
            replacements += 1;
        }
        done.store(true, Ordering::Relaxed);
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect::<BTreeSet<_>>()
    });
    assert_eq!(seen, both);
}

#[test]
fn a_graph_stays_what_it_was_opened_as_until_it_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    write(&image, 2000);
    let graph = Graph::open(&runtime(2), &image, ImageOptions::default()).unwrap();
    let (bytes, weights) = (graph.image_bytes(), graph.weight_bytes(Direction::Out));
    let manifest = graph.manifest().clone();
    write(&image, 3000);
    assert_eq!((graph.image_bytes(), graph.weight_bytes(Direction::Out)), (bytes, weights));
    assert_eq!(read_all(&graph), (manifest.edges, 2 * manifest.edges, bytes));
    assert_ne!(read_manifest(&outcore_io::backend::best(), &image).unwrap(), manifest);
    // Not even a removed image is lost for whoever has opened it.
    std::fs::remove_dir_all(&image).unwrap();
    assert_eq!(read_all(&graph), (manifest.edges, 2 * manifest.edges, bytes));
}

/// An image that has every file that an image may have.
fn full_image(directory: &Path) -> PathBuf {
    let model = Model::random(5, 300, 2000, true, true).with_order(Order::Degree);
    let image = model.with_ids(Model::text_ids(300)).with_weights(WeightKind::F64).write(directory);
    ImageFile::all(1).flat_map(|file| [file.name(), file.index_name()]).flatten().for_each(|name| {
        assert!(image.join(&name).is_file(), "{name}");
    });
    image
}

/// Things that may lie where a file should, and a part of the error for each.
const OTHERS: [(&str, &str); 9] = [
    ("nothing", "no such file"),
    ("FIFO", "found a FIFO"),
    ("directory", "found a directory"),
    ("socket", "found a socket"),
    ("device", "found a device"),
    ("link to the file", "found a link"),
    ("link to a device", "found a link"),
    ("link to nowhere", "found a link"),
    ("sparse", "is damaged"),
];

/// Puts something else in the place of a file; `false` where this machine does not allow it.
fn put(what: &str, path: &Path, aside: &Path) -> bool {
    let link = |target: &Path| std::os::unix::fs::symlink(target, path).is_ok();
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let name = path.to_str().unwrap();
    match what {
        "FIFO" => run("mkfifo", &[name]),
        "directory" => std::fs::create_dir(path).is_ok(),
        "socket" => std::os::unix::net::UnixListener::bind(path).is_ok(),
        // Only root may, and not everywhere.
        "device" => run("mknod", &[name, "c", "1", "5"]),
        "link to the file" => link(aside),
        "link to a device" => link(Path::new("/dev/zero")),
        "link to nowhere" => link(Path::new("nowhere")),
        "sparse" => std::fs::File::create(path).and_then(|file| file.set_len(1 << 40)).is_ok(),
        _ => true,
    }
}

#[test]
fn every_file_of_an_image_is_a_plain_file_or_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let image = full_image(directory.path());
    let aside = directory.path().join("aside");
    let names: Vec<String> = ImageFile::all(1).flat_map(|file| [file.name(), file.index_name()]).flatten().collect();
    for name in names.iter().map(String::as_str).chain([MANIFEST]) {
        let path = image.join(name);
        std::fs::rename(&path, &aside).unwrap();
        for (what, found) in OTHERS {
            if !put(what, &path, &aside) {
                assert_eq!(what, "device", "{what} at {name}");
                continue;
            }
            let opened = Graph::open(&runtime(1), &image, ImageOptions::default());
            // An index of weights is read when weights are.
            let error = match opened.and_then(|graph| check(&graph)) {
                Ok(_) => panic!("{what} at {name} passes"),
                Err(error) => error.to_string(),
            };
            let missing_manifest = what == "nothing" && name == MANIFEST;
            let expected = if missing_manifest { "is no Outcore image: it has no manifest.json" } else { found };
            assert!(error.contains(name) && error.contains(expected), "{what} at {name}: {error}");
            if name == MANIFEST {
                let error = read_manifest(&outcore_io::backend::best(), &image).unwrap_err().to_string();
                assert!(error.contains(expected), "{what}: {error}");
            }
            drop(std::fs::remove_dir(&path).or_else(|_| std::fs::remove_file(&path)));
        }
        std::fs::rename(&aside, &path).unwrap();
    }
    check(&Graph::open(&runtime(1), &image, ImageOptions::default()).unwrap()).unwrap();
}

#[test]
fn directories_of_an_image_are_not_followed_out_of_it_but_the_image_may_be_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let image = full_image(directory.path());
    let aside = directory.path().join("aside");
    for name in ["columns", "edges"] {
        std::fs::rename(image.join(name), &aside).unwrap();
        std::os::unix::fs::symlink(&aside, image.join(name)).unwrap();
        let error = Graph::open(&runtime(1), &image, ImageOptions::default()).expect_err("a link").to_string();
        assert!(error.contains(&format!("{name}/")), "{error}");
        std::fs::remove_file(image.join(name)).unwrap();
        std::fs::rename(&aside, image.join(name)).unwrap();
    }
    let link = directory.path().join("link.oc");
    std::os::unix::fs::symlink(&image, &link).unwrap();
    check(&Graph::open(&runtime(1), &link, ImageOptions::default()).unwrap()).unwrap();
}

#[test]
fn a_path_that_is_no_image_says_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let error = |path: &Path| Graph::open(&runtime(1), path, ImageOptions::default()).err().unwrap().to_string();
    assert!(error(&directory.path().join("none")).contains("there is no such directory"));
    assert!(error(directory.path()).contains("it has no manifest.json"));
    let file = directory.path().join("edges.txt");
    std::fs::write(&file, "1 2\n").unwrap();
    assert!(error(&file).contains("is no Outcore image: it is a file"));
    let fifo = directory.path().join("fifo");
    assert!(put("FIFO", &fifo, &fifo));
    assert!(error(&fifo).contains("is no Outcore image: it is a file"));
}

/// A sound manifest may promise more pages than there is memory for their index: it is refused before it is read.
#[test]
fn an_index_is_reserved_before_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let image = common::Model::random(5, 50, 200, false, true).write(directory.path());
    let pages = 1 << 24;
    common::edit_manifest(&image, |manifest| manifest.out_lists.pages = pages);
    let stretch = |name: &str, len| {
        std::fs::OpenOptions::new().write(true).open(image.join(name)).unwrap().set_len(len).unwrap();
    };
    stretch(&outcore_image::ImageFile::OUT_LISTS.name().unwrap(), pages * outcore_graph::PAGE_BYTES);
    stretch(&outcore_image::ImageFile::OUT_LISTS.index_name().unwrap(), 17 * pages);
    let memory_bytes = Some(64 << 20);
    let options = RuntimeOptions { memory_bytes, beside_process: true, threads: Some(1), ..RuntimeOptions::default() };
    let before = outcore_io::peak_memory_bytes();
    let opened = Graph::open(&Runtime::new(options).unwrap(), &image, ImageOptions::default());
    let error = opened.map(|_| ()).unwrap_err();
    let outcore_image::Error::Memory { needed_bytes, .. } = error else { panic!("{error}") };
    // Its bytes, the words in memory, and the samples.
    assert_eq!(needed_bytes, 2 * 17 * pages + outcore_format::Index::most_samples_bytes(pages));
    assert!(outcore_io::peak_memory_bytes() < before + (32 << 20), "nothing of it was read");
}
