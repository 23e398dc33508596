//! Generated edge files hold the edges of the generated source, on any number of workers.

use crate::given;

use given::{entries, files, open};
use outcore_graph::generate::{GenerateOptions, GeneratedWeights, Shape, source, write};
use outcore_graph::import::{self, ImportOptions, InputOptions, OrderChoice, import};
use outcore_io::backend::{Faults, Sim};
use outcore_io::{Runtime, RuntimeOptions};
use std::sync::Arc;

fn runtime(threads: usize) -> Runtime {
    Runtime::new(RuntimeOptions { threads: Some(threads), ..RuntimeOptions::default() }).unwrap()
}

#[test]
fn files_of_every_format_hold_the_same_graph() {
    let directory = tempfile::tempdir().unwrap();
    for (weights, names) in [
        (None, &["g.el", "g.txt", "g.csv", "g.graph500", "g.txt.gz", "g.csv.zst"][..]),
        (Some(GeneratedWeights::Uniform), &["g.wel", "g.txt", "g.csv.gz"][..]),
        (Some(GeneratedWeights::Unit), &["g.wel", "g.csv.zst"][..]),
    ] {
        let options = GenerateOptions { scale: 14, edge_factor: 9, weights, ..GenerateOptions::default() };
        let image = directory.path().join("direct.oc");
        import(
            &runtime(2),
            source(&options).unwrap(),
            &image,
            &ImportOptions { replace: true, ..ImportOptions::default() },
        )
        .unwrap();
        let direct = open(&image);
        for name in names {
            let path = directory.path().join(name);
            let report = write(&runtime(1), &options, &ImportOptions::default(), &path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!((report.edges, report.bytes), (9 << 14, bytes.len() as u64));
            write(&runtime(3), &options, &ImportOptions::default(), &path).unwrap();
            assert!(std::fs::read(&path).unwrap() == bytes, "{name}");
            let input = match name.ends_with("graph500") {
                true => InputOptions { format: Some("graph500".into()), ..InputOptions::default() },
                false => InputOptions::default(),
            };
            let image = directory.path().join("file.oc");
            let input = import::open(&runtime(2), &[path], &input).unwrap();
            import(&runtime(2), input, &image, &ImportOptions { replace: true, ..ImportOptions::default() }).unwrap();
            let from_file = open(&image);
            assert!(entries(&from_file, false) == entries(&direct, false), "{name}");
            // The file names no isolated vertices; the generator declares all of them.
            let isolated = direct.manifest.import.isolated_vertices;
            assert_eq!(from_file.manifest.vertices + isolated, direct.manifest.vertices);
        }
    }
    assert!(files(directory.path()).keys().all(|name| !name.to_string_lossy().contains("partial")));
}

#[test]
fn empty_graphs_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let options = GenerateOptions { shape: Shape::Path, scale: 0, ..GenerateOptions::default() };
    for (name, expected) in [("p.el", &b""[..]), ("p.csv", b"source,target\n"), ("p.graph500", b"")] {
        let path = directory.path().join(name);
        assert_eq!(write(&runtime(2), &options, &ImportOptions::default(), &path).unwrap().edges, 0);
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    }
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (name, weights) in
        [("g.exe", false), ("g", false), ("g.el", true), ("g.wel", false), ("g.graph500", true), ("g.bin16.gz", false)]
    {
        let weights = weights.then_some(GeneratedWeights::Uniform);
        let options = GenerateOptions { scale: 3, weights, ..GenerateOptions::default() };
        let error = write(&runtime(1), &options, &ImportOptions::default(), &directory.path().join(name))
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected a name") || error.contains("choose another name"), "{name}: {error}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn text_files_say_whether_edges_have_a_direction() {
    let directory = tempfile::tempdir().unwrap();
    let weights = Some(GeneratedWeights::Uniform);
    for (shape, weights, directed, first) in [
        (Shape::Kronecker, None, Some(false), "# outcore undirected\n"),
        (Shape::Kronecker, weights, Some(false), "# outcore undirected weight=weight\n"),
        (Shape::Kronecker, weights, None, "# outcore directed weight=weight\n"),
        (Shape::Path, None, Some(true), "# outcore directed\n0 1\n"),
        (Shape::Path, None, None, "0 1\n1 2\n"),
        (Shape::Grid, None, None, "# outcore undirected\n0 1\n"),
        (Shape::Grid, weights, Some(false), "# outcore undirected weight=weight\n0 1 "),
    ] {
        let options = GenerateOptions { shape, scale: 8, weights, ..GenerateOptions::default() };
        let how = ImportOptions { directed, replace: true, ..ImportOptions::default() };
        let images = ["direct.oc", "file.oc"].map(|name| directory.path().join(name));
        import(&runtime(2), source(&options).unwrap(), &images[0], &how).unwrap();
        for name in ["g.txt", "g.txt.gz", "g.txt.zst"] {
            let path = directory.path().join(name);
            write(&runtime(2), &options, &how, &path).unwrap();
            if name == "g.txt" {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(text.starts_with(first), "{shape:?} {directed:?}: {}", &text[..60]);
            }
            let input = import::open(&runtime(2), &[path], &InputOptions::default()).unwrap();
            import(&runtime(2), input, &images[1], &ImportOptions { replace: true, ..ImportOptions::default() })
                .unwrap();
            let [direct, from_file] = [open(&images[0]), open(&images[1])];
            assert_eq!(from_file.manifest.directed, direct.manifest.directed, "{name} of {shape:?}, {directed:?}");
            assert!(entries(&from_file, false) == entries(&direct, false), "{name} of {shape:?}, {directed:?}");
        }
    }
}

#[test]
fn options_that_a_generated_file_cannot_express_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = |shape, how: &ImportOptions, name: &str| {
        let options = GenerateOptions { shape, scale: 3, ..GenerateOptions::default() };
        write(&runtime(1), &options, how, &directory.path().join(name)).unwrap_err().to_string()
    };
    let undirected = ImportOptions { directed: Some(false), ..ImportOptions::default() };
    for name in ["g.csv", "g.el", "g.graph500", "g.bin16", "g.csv.gz"] {
        let text = refusal(Shape::Kronecker, &undirected, name);
        assert!(text.contains("--undirected") && text.contains("choose .txt") && text.contains(name), "{text}");
    }
    let directed = ImportOptions { directed: Some(true), ..ImportOptions::default() };
    let text = refusal(Shape::Grid, &directed, "g.txt");
    assert!(text.contains("expected no direction in a file of a grid"), "{text}");
    let orders = [OrderChoice::Degree, OrderChoice::Input, OrderChoice::Near];
    for (order, named) in orders.into_iter().zip(["found degree", "found input", "found near"]) {
        let text = refusal(Shape::Path, &ImportOptions { order, ..ImportOptions::default() }, "g.txt");
        assert!(text.contains("--order") && text.contains(named) && text.contains(".oc"), "{text}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.txt.zst");
    std::fs::write(&path, "old").unwrap();
    let options = GenerateOptions { scale: 13, edge_factor: 30, ..GenerateOptions::default() };
    let mut failed = 0;
    loop {
        let sim = Sim::new(Faults { fail_at: Some(failed), ..Faults::default() });
        let options_ = RuntimeOptions { threads: Some(2), backend: Some(Arc::new(sim)), ..RuntimeOptions::default() };
        let result = write(&Runtime::new(options_).unwrap(), &options, &ImportOptions::default(), &path);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        if result.is_ok() {
            break;
        }
        // The last operation makes the rename last: the new file is in place by then, whole.
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes == b"old" || bytes.len() > 1000, "operation {failed}");
        failed += 1;
    }
    assert!(failed >= 6, "{failed}");
}
