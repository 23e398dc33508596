//! Replacing: it works, or is refused before the work begins; what is replaced keeps its modes, and nothing stays.

use crate::given;

use given::{Given, Id, open};
use outcore_graph::import::{ImportOptions, ImportReport, import};
use outcore_image::{Error, ErrorKind, MANIFEST, write_file};
use outcore_io::backend::{Change, Location, Posix};
use outcore_io::{Backend, Runtime, RuntimeOptions, folder};
use outcore_testkit::Hooked;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

// Numbers of errors, which are those of every system that is supported.
const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const EXDEV: i32 = 18;

fn runtime(backend: Option<Arc<dyn Backend>>) -> Runtime {
    let options = RuntimeOptions {
        threads: Some(1),
        memory_bytes: Some(64 << 20),
        beside_process: true,
        backend,
        ..RuntimeOptions::default()
    };
    Runtime::new(options).unwrap()
}

fn graph() -> Given {
    let edge = |i: i128| (Id::Integer(i * i % 31), Id::Integer(i * 7 % 23));
    Given { edges: (0..60).map(edge).collect(), block_edges: 25, ..Given::default() }
}

fn replace_with(backend: Option<Arc<dyn Backend>>, given: &Given, image: &Path) -> outcore_image::Result<ImportReport> {
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    import(&runtime(backend), given.source(), image, &options)
}

fn image() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("graph.oc");
    replace_with(None, &graph(), &image).unwrap();
    (directory, image)
}

fn names(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A system that refuses some changes, as another user's files, mount points and overlays make it do.
fn refusing(errno: i32, refuses: impl Fn(&Change<'_>) -> bool + Send + Sync + 'static) -> Option<Arc<dyn Backend>> {
    let change = move |change: &Change<'_>| match refuses(change) {
        true => Err(std::io::Error::from_raw_os_error(errno)),
        false => Ok(()),
    };
    Some(Arc::new(Hooked { change: Some(Box::new(change)), ..Hooked::default() }))
}

#[test]
fn modes_of_images_and_files_stay() {
    let (directory, image) = image();
    let (stats, pages) = (directory.path().join("stats.json"), image.join("columns/out_degree.pages"));
    std::fs::write(&stats, "old").unwrap();
    let files = [(&image, 0o700), (&image.join(MANIFEST), 0o640), (&image.join("columns"), 0o750), (&stats, 0o600)];
    files.iter().for_each(|(path, mode)| set_mode(path, *mode));
    set_mode(&pages, 0o600);
    replace_with(None, &graph(), &image).unwrap();
    write_file(&runtime(None), &stats, b"new").unwrap();
    files.iter().for_each(|(path, expected)| assert_eq!(mode(path), *expected, "{}", path.display()));
    assert_eq!(mode(&pages), 0o600);
    assert_eq!(std::fs::read(&stats).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["graph.oc", "stats.json"]);
}

#[test]
fn images_of_older_versions_and_with_damaged_manifests_are_replaced() {
    let (directory, image) = image();
    let manifest = std::fs::read_to_string(image.join(MANIFEST)).unwrap();
    let older = manifest.replace("\"format_version\": 2", "\"format_version\": 1");
    assert_ne!(older, manifest);
    let flipped = manifest.replace("\"edges\"", "\"egdes\"");
    for text in [&older, &flipped, &manifest[..manifest.len() / 2], &manifest[..20], ""] {
        std::fs::write(image.join(MANIFEST), text).unwrap();
        let refused = import(&runtime(None), graph().source(), &image, &ImportOptions::default()).unwrap_err();
        assert!(matches!(refused, Error::Exists { is_image: true, .. }), "{refused}");
        replace_with(None, &graph(), &image).unwrap();
        assert_eq!(open(&image).manifest.import.edges_read, 60);
    }
    // Nothing but files of an image is removed.
    std::fs::write(image.join(MANIFEST), "").unwrap();
    std::fs::write(image.join("mine.txt"), "precious").unwrap();
    let refused = replace_with(None, &graph(), &image).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Exists, "{refused}");
    assert_eq!(names(directory.path()), ["graph.oc"]);
}

#[test]
fn newer_versions_and_other_formats_stay() {
    let (directory, image) = image();
    let manifest = std::fs::read_to_string(image.join(MANIFEST)).unwrap();
    let newer = manifest.replace("\"format_version\": 2", "\"format_version\": 3");
    let store = manifest.replace("outcore graph", "outcore store");
    let cut = &newer[..newer.len() - 40];
    for (text, reason) in [(&*newer, "version 3"), (cut, "version 3"), (&store, "outcore store")] {
        std::fs::write(image.join(MANIFEST), text).unwrap();
        let before = given::files(&image);
        let refused = replace_with(None, &graph(), &image).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Exists, "{refused}");
        let message = refused.to_string();
        assert!(message.contains(reason) && message.contains("may be in use"), "{refused}");
        assert!(given::files(&image) == before);
    }
    std::fs::write(image.join(MANIFEST), "{\"name\": \"a web site\"}").unwrap();
    let refused = replace_with(None, &graph(), &image).unwrap_err().to_string();
    assert!(refused.contains("no image"), "{refused}");
    assert_eq!(names(directory.path()), ["graph.oc"]);
}

#[test]
fn what_cannot_be_replaced_is_refused_before_the_input_is_read() {
    let (directory, image) = image();
    // The input cannot even be parsed, which nobody notices.
    let given = Given { bad_block: Some(0), ..graph() };
    let before = given::files(&image);
    for (errno, reason, kind) in [
        (EXDEV, "overlay", ErrorKind::Device),
        (EBUSY, "mount point", ErrorKind::Device),
        (EPERM, "another user's", ErrorKind::Permission),
        (EACCES, "another user's", ErrorKind::Permission),
    ] {
        // The image itself, as in a sticky folder; a file in it, as in a directory that is write-protected.
        for path in [image.clone(), image.join(MANIFEST)] {
            let is_inner = path != image;
            let own = path.clone();
            let backend = refusing(errno, move |change| match *change {
                Change::Rename { from, .. } => from == own,
                Change::Exchange { one, other } => one == own || other == own,
                Change::Remove { place } => place.path().file_name() == own.file_name(),
                _ => false,
            });
            let outcome = replace_with(backend, &given, &image);
            if is_inner && errno == EXDEV {
                // Removing is not renaming.
                assert!(outcome.unwrap_err().to_string().contains("by hand"));
                continue;
            }
            let refused = outcome.unwrap_err();
            assert_eq!(refused.kind(), kind, "{refused}");
            let message = refused.to_string();
            assert!(message.contains(reason) && message.contains(&path.display().to_string()), "{refused}");
        }
        // Files likewise.
        let stats = directory.path().join("stats.json");
        std::fs::write(&stats, "old").unwrap();
        let own = stats.clone();
        let backend = refusing(errno, move |change| matches!(*change, Change::Rename { from, .. } if from == own));
        let refused = outcore_image::AtomicFile::within(&runtime(backend), &stats).err().unwrap();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    assert!(given::files(&image) == before);
    assert_eq!(names(directory.path()), ["graph.oc", "stats.json"]);
}

#[test]
fn what_could_not_be_removed_is_named() {
    let (directory, image) = image();
    let backend = refusing(EACCES, |change| {
        let is_left = |path: &Path| folder(path).to_string_lossy().ends_with(".outcore-partial");
        matches!(*change, Change::Remove { place } if is_left(&place.path()) && place.path().ends_with(MANIFEST))
    });
    let report = replace_with(backend, &graph(), &image).unwrap();
    let note = report.notes.iter().find(|note| note.contains("left behind")).expect("a note");
    assert!(note.contains(".outcore-partial"), "{note}");
    let left = Posix.list(Location::at(directory.path())).unwrap();
    assert_eq!(left.len(), 2);
    // The next import removes it.
    replace_with(None, &graph(), &image).unwrap();
    assert_eq!(names(directory.path()), ["graph.oc"]);
}

#[test]
fn a_check_is_refused_like_the_import_and_leaves_nothing() {
    let (directory, image) = image();
    let check = |image: &Path, replace: bool| {
        let options = ImportOptions { replace, ..ImportOptions::default() };
        outcore_graph::import::check(&runtime(None), &graph().source(), image, &options)
    };
    assert_eq!(check(&image, false).unwrap_err().kind(), ErrorKind::Exists);
    assert_eq!(check(&directory.path().join("none/graph.oc"), false).unwrap_err().kind(), ErrorKind::Missing);
    check(&image, true).unwrap();
    check(&directory.path().join("other.oc"), false).unwrap();
    assert_eq!(names(directory.path()), ["graph.oc"]);
}
