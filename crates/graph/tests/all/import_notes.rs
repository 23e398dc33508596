//! Notes and refusals of imports that only all edges together tell.

use crate::given;

use given::open;
use outcore_graph::import::{
    Attributes, Condition, Duplicates, ImportOptions, ImportReport, InputOptions, OrderChoice, Part, advise, estimate,
    import, open as open_input, open_inputs, opens_again,
};
use outcore_image::{Error, Result};
use outcore_io::backend::{FileKind, FileStatus, Posix};
use outcore_io::{Backend, Runtime, RuntimeOptions};
use outcore_testkit::{Hooked, random};
use std::path::Path;
use std::sync::Arc;

fn imported(folder: &Path, text: &str, input: &InputOptions, options: &ImportOptions) -> Result<ImportReport> {
    let path = folder.join("edges.csv");
    std::fs::write(&path, text).unwrap();
    let runtime = Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap();
    import(&runtime, open_input(&runtime, &[path], input)?, &folder.join("graph.oc"), options)
}

#[test]
fn weights_that_are_lost_with_duplicates_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let text = "source,target,weight,day\na,b,5,1\na,b,5,2\nb,a,7,3\na,b,6,4\nc,c,1,5\nc,c,2,6\n";
    for (duplicates, directed, [dropped, differing], weights) in [
        (Duplicates::First, true, [3, 2], [5.0, 7.0, 1.0]),
        (Duplicates::Last, true, [3, 2], [6.0, 7.0, 2.0]),
        (Duplicates::First, false, [4, 3], [5.0, 5.0, 1.0]),
        (Duplicates::Last, false, [4, 3], [6.0, 6.0, 2.0]),
    ] {
        let options = ImportOptions {
            duplicates,
            directed: Some(directed),
            order: OrderChoice::Input,
            replace: true,
            ..ImportOptions::default()
        };
        let report = imported(folder, text, &InputOptions::default(), &options).unwrap();
        assert_eq!(report.manifest.import.duplicates, dropped);
        let expected = format!("{dropped} were left out, {differing} of them with another weight");
        assert!(report.notes.iter().any(|note| note.contains(&expected)), "{duplicates:?}: {:?}", report.notes);
        let image = open(&folder.join("graph.oc"));
        assert_eq!(image.out_weights.unwrap(), weights, "{duplicates:?} {directed}");
    }
    // All stay, and are counted; equal weights are no loss, attributes are.
    let keep = ImportOptions { duplicates: Duplicates::Keep, replace: true, ..ImportOptions::default() };
    let report = imported(folder, text, &InputOptions::default(), &keep).unwrap();
    assert_eq!((report.manifest.import.duplicates, report.manifest.edges), (3, 6));
    let is_noted = |report: &ImportReport| report.notes.iter().any(|note| note.contains("were left out"));
    assert!(!is_noted(&report));
    let equal = "source,target,weight,day\na,b,5,1\na,b,5,2\n";
    let first = ImportOptions { replace: true, ..ImportOptions::default() };
    assert!(!is_noted(&imported(folder, equal, &InputOptions::default(), &first).unwrap()));
    let with_days = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let report = imported(folder, equal, &with_days, &first).unwrap();
    assert!(
        report.notes.iter().any(|note| note.contains("1 were left out, with the same weight")),
        "{:?}",
        report.notes
    );
}

#[test]
fn conditions_that_no_edge_meets_make_no_image() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let input = InputOptions { conditions: vec![Condition::parse("amount > 100").unwrap()], ..InputOptions::default() };
    let text = "source,target,amount\n1,2,5\n2,3,7\n";
    let error = imported(folder, text, &input, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("found none among 2 that were read") && error.contains("--allow-empty"), "{error}");
    assert!(!folder.join("graph.oc").exists());
    let empty = ImportOptions { allow_empty: true, ..ImportOptions::default() };
    assert_eq!(imported(folder, text, &input, &empty).unwrap().manifest.edges, 0);
    // A day without any payment is another matter.
    let other = ImportOptions { replace: true, allow_empty: true, ..ImportOptions::default() };
    assert_eq!(imported(folder, "source,target,amount\n", &input, &other).unwrap().manifest.edges, 0);
}

#[test]
fn a_header_declares_no_more_than_its_file_could_hold() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap();
    let opened = |text: &str, name: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        open_input(&runtime, &[path], &InputOptions::default()).map(|source| source.facts().declared)
    };
    let matrix = |size: u64| format!("%%MatrixMarket matrix coordinate pattern general\n{size} {size} 1\n1 2\n");
    for (text, name) in [(matrix(200_000_000), "m.mtx"), ("*Vertices 200000000\n*Arcs\n1 2\n".to_owned(), "n.net")] {
        let error = opened(&text, name).unwrap_err().to_string();
        assert!(error.contains("200000000 declared") && error.contains("correct the size line"), "{error}");
    }
    assert_eq!(opened(&matrix(4_000_000), "m.mtx").unwrap(), Some((1, 4_000_000)));
}

/// A disk with little space.
fn small() -> Option<Arc<dyn Backend>> {
    Some(Arc::new(Hooked { free_bytes: Some(Box::new(|| 100 << 20)), ..Hooked::default() }))
}

#[test]
fn reading_ends_before_the_disk_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let options = RuntimeOptions { threads: Some(1), backend: small(), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    // A few megabytes of text are edges of many.
    let set = |letter: char| (0..4000).map(|i| format!("{letter}{i} ")).collect::<String>();
    let statement = format!("{{{}}} -- {{{}}}\n", set('a'), set('b'));
    let path = directory.path().join("sets.dot");
    std::fs::write(&path, format!("graph {{ {} }}", statement.repeat(2))).unwrap();
    let source = open_input(&runtime, &[path], &InputOptions::default()).unwrap();
    let error = import(&runtime, source, &directory.path().join("graph.oc"), &ImportOptions::default()).unwrap_err();
    assert!(matches!(error, Error::DiskSpace { free_bytes, .. } if free_bytes == 100 << 20), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "something was left behind");
}

#[test]
fn wide_rows_are_few_edges_for_the_disk_and_packed_ones_are_many() {
    let directory = tempfile::tempdir().unwrap();
    let options = RuntimeOptions { threads: Some(1), backend: small(), ..RuntimeOptions::default() };
    let runtime = Runtime::new(options).unwrap();
    let mut state = 1;
    let mut note = || (0..64).map(|_| format!("{:016x}", random(&mut state))).collect::<String>();
    let rows: String = (0..4000).map(|row| format!("{},{},{}\n", row % 99, row / 7, note())).collect();
    let text = format!("source,target,note\n{rows}");
    let narrow: String = (0..4000).map(|number| format!("{} {}\n", number % 999, number / 7)).collect();
    let files = [
        ("wide.csv", text.clone().into_bytes()),
        ("wide.csv.zst", zstd::encode_all(text.as_bytes(), 1).unwrap()),
        ("narrow.txt", narrow.clone().into_bytes()),
        ("narrow.txt.zst", zstd::encode_all(narrow.as_bytes(), 1).unwrap()),
    ];
    for (name, bytes) in files {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let source = open_input(&runtime, &[path], &InputOptions::default()).unwrap();
        let edges = estimate(&runtime, source.facts(), &ImportOptions::default()).edges.unwrap();
        assert!((2800..5600).contains(&edges), "{name}: {edges}");
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        import(&runtime, source, &directory.path().join("graph.oc"), &options).unwrap();
    }
}

#[test]
fn files_that_were_read_are_told_and_those_without_edges_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("days");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("a.csv", "source,target,amount\n1,2,5\n");
    write("b.csv", "source,target,amount\n");
    write("c.csv", "");
    write("d.csv", "source,target,amount\n2,3,7\n");
    write("SHA256SUMS", "0123  a.csv\n");
    write("a.csv~", "source,target,amount\n1,9,5\n");
    let made = |paths: &[&str]| {
        let runtime = Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap();
        let paths: Vec<_> = paths.iter().map(|path| folder.join(path)).collect();
        let source = open_input(&runtime, &paths, &InputOptions::default())?;
        let options = ImportOptions { replace: true, ..ImportOptions::default() };
        import(&runtime, source, &directory.path().join("graph.oc"), &options)
    };
    let report = made(&[""]).unwrap();
    assert_eq!((report.manifest.edges, report.files.paths.len()), (2, 4));
    assert_eq!(report.files.left_out, [folder.join("SHA256SUMS"), folder.join("a.csv~")]);
    let is_noted = |text: &str| report.notes.iter().any(|note| note.contains(text) && note.contains("b.csv"));
    assert!(is_noted("Files without edges: 2 of 4"), "{:?}", report.notes);
    assert!(report.notes.iter().any(|note| note.contains("left out: 2: ")), "{:?}", report.notes);
    assert!(made(&["a.csv", "a.csv"]).unwrap_err().to_string().contains("every file once"));
    // Other columns are refused, although nothing is in them.
    write("b.csv", "source,target,price,weight\n");
    let error = made(&[""]).unwrap_err().to_string();
    assert!(error.contains("b.csv") && error.contains("the columns source, target"), "{error}");
}

/// Images by a pattern name what lies beside them, as files do.
#[test]
fn files_beside_images_of_a_pattern_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("days");
    std::fs::create_dir(&folder).unwrap();
    for day in ["day1", "day2"] {
        imported(&folder, "source,target\n1,2\n", &InputOptions::default(), &ImportOptions::default()).unwrap();
        std::fs::rename(folder.join("graph.oc"), folder.join(format!("{day}.oc"))).unwrap();
    }
    std::fs::write(folder.join("day2.oc.md5"), "0123  day2.oc\n").unwrap();
    let runtime = Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).map(Arc::new).unwrap();
    let source = open_inputs(&runtime, &[folder.join("day*")], &InputOptions::default(), |_| Ok(Part::default()));
    let report =
        import(&runtime, source.unwrap(), &directory.path().join("all.oc"), &ImportOptions::default()).unwrap();
    assert_eq!(report.files.left_out, [folder.join("day2.oc.md5")]);
    assert!(report.notes.iter().any(|note| note.contains("left out: 1: ")), "{:?}", report.notes);
}

/// Thousands of files may each have a note.
#[test]
fn notes_of_many_files_are_counted_beyond_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("days");
    std::fs::create_dir(&folder).unwrap();
    for day in 0..50 {
        std::fs::write(folder.join(format!("{day}.txt")), format!("{} 3\n1 2\n2 3\n", day + 3)).unwrap();
        std::fs::write(folder.join(format!("{day}.txt.vertices")), "9\n").unwrap();
    }
    let runtime = Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap();
    let source = open_input(&runtime, &[folder], &InputOptions::default()).unwrap();
    let count = |notes: &[String], text: &str| notes.iter().filter(|note| note.contains(text)).count();
    assert_eq!(count(&source.facts().notes, "beside it is read too"), 20);
    assert_eq!(count(&source.facts().notes, "30 more notes on other inputs"), 1, "{:?}", source.facts().notes);
    let report = import(&runtime, source, &directory.path().join("graph.oc"), &ImportOptions::default()).unwrap();
    assert_eq!(count(&report.notes, "The first line"), 20, "{:?}", report.notes);
    assert_eq!(count(&report.notes, "30 more notes on other inputs"), 2);
}

/// An input that may be read only once is not opened for advice; the back end of the import says which is one.
#[test]
fn the_back_end_of_an_import_says_what_can_be_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("edges.csv");
    std::fs::write(&path, "a,b\n").unwrap();
    let as_pipe = |status| FileStatus { kind: FileKind::Other, ..status };
    let pipes = Hooked { look: Some(Box::new(as_pipe)), ..Hooked::default() };
    let [files, pipes]: [Arc<dyn Backend>; 2] = [Arc::new(Posix), Arc::new(pipes)];
    assert!(opens_again(&files, &path) && !opens_again(&pipes, &path));
}

/// A refusal of a runtime is raised to what every import needs, without a look at any file.
#[test]
fn a_refused_runtime_has_advice_for_an_import() {
    let limits = RuntimeOptions { memory_bytes: Some(1 << 20), threads: Some(1), ..RuntimeOptions::default() };
    let refusal = Runtime::new(limits.clone()).map(drop).unwrap_err();
    let advised = |error: &Error| error.advised_bytes().unwrap();
    let before = advised(&refusal);
    let after = advise(refusal, &limits);
    assert!(advised(&after) > before, "{after}");
    // A limit of a few times the first one is planned under, whatever the first one was.
    let refusal = |advised_bytes| Runtime::new(limits.clone()).unwrap_err().advising_at_least(advised_bytes);
    let below = |least_bytes: u64, advised_bytes: u64| {
        move |bytes| if bytes < least_bytes { Err(refusal(advised_bytes)) } else { Ok(()) }
    };
    let planned = after.planned_again(below(250 << 20, 250 << 20));
    assert_eq!(advised(&planned), 250 << 20);
    // One that just fits is not enough: the next process may hold a little more.
    let planned = planned.planned_again(below(250 << 20, 260 << 20));
    assert_eq!(advised(&planned), 260 << 20);
}

#[test]
fn attributes_that_are_lost_with_combined_weights_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let text = "source,target,weight,day\na,b,5,1\na,b,5,2\nb,a,7,3\n";
    let with_days = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    for duplicates in [Duplicates::Sum, Duplicates::Min, Duplicates::Max] {
        let options = ImportOptions { duplicates, replace: true, ..ImportOptions::default() };
        let is_noted = |input: &InputOptions| {
            let report = imported(directory.path(), text, input, &options).unwrap();
            report.notes.iter().any(|note| note.contains("attributes of the first: those of 1 were left out"))
        };
        assert!(is_noted(&with_days) && !is_noted(&InputOptions::default()), "{duplicates:?}");
    }
}
