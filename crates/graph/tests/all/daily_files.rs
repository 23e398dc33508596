//! Files of one import that differ from day to day: in what their columns hold, and in whether they are there at all.

use crate::common;

use outcore_graph::Graph;
use outcore_graph::import::{Attributes, ImportOptions, ImportReport, InputOptions, import, open_inputs};
use outcore_image::{ImageFile, ImageOptions, Result};
use outcore_ingest::Nulls;
use outcore_io::ErrorKind;
use std::path::{Path, PathBuf};

fn imported(folder: &Path, files: &[(&str, &str)], options: &InputOptions) -> Result<ImportReport> {
    let write = |(name, text): &(&str, &str)| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<PathBuf> = files.iter().map(write).collect();
    of_paths(folder, &paths, options)
}

fn of_paths(folder: &Path, paths: &[PathBuf], options: &InputOptions) -> Result<ImportReport> {
    let runtime = common::runtime(2);
    let source = open_inputs(&runtime, paths, options, |_| Ok(Default::default()))?;
    let replace = ImportOptions { replace: true, ..ImportOptions::default() };
    import(&runtime, source, &folder.join("graph.oc"), &replace)
}

#[test]
fn whole_numbers_beside_real_ones_are_not_rounded() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
    let [large, real] =
        ["9007199254740993", "1.5"].map(|x| (format!("source,target,x\na,b,{x}\n"), format!("a,c,{x}\n")));
    let lines = "{\"source\":1,\"target\":2,\"x\":1.5}\n{\"source\":1,\"target\":3,\"x\":9007199254740993}\n";
    for files in [
        &[("1.csv", &*large.0), ("2.csv", &*real.0)][..],
        &[("1.csv", &*real.0), ("2.csv", &*large.0)],
        &[("1.csv", &(large.0.clone() + &real.1))],
        &[("1.jsonl", lines)],
    ] {
        let error = imported(folder, files, &all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
        let text = error.to_string();
        assert!(text.contains("2^53 are only if none is rounded") && text.contains("9007199254740993"), "{text}");
    }
    // Real numbers hold these.
    let exact = "source,target,x\na,b,9007199254740994\na,c,1.5\na,d,-9007199254740992\n";
    imported(folder, &[("1.csv", exact)], &all).unwrap();
}

#[test]
fn whole_ids_that_are_written_as_real_numbers_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let skip = InputOptions { nulls: Nulls::Skip, ..InputOptions::default() };
    for text in ["1.0,2\n2.0,3\n3.0,1\n", "source,target\n1.0,2\n,3\n3.0,1\n", "1,2\n1e5,3\n", "1.0,2.0\nNA,1.0\n"] {
        for options in [&InputOptions::default(), &skip] {
            let error = imported(directory.path(), &[("1.csv", text)], options).unwrap_err().to_string();
            assert!(error.contains("without a point") && error.contains("--ids string"), "{text}: {error}");
        }
    }
    for text in ["1.1,2\n2.2,3\n", "1.0,b\nb,c\n"] {
        assert_eq!(imported(directory.path(), &[("1.csv", text)], &skip).unwrap().manifest.edges, 2);
    }
}

#[test]
fn a_day_without_ids_has_those_of_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let skip = InputOptions { nulls: Nulls::Skip, ..InputOptions::default() };
    let [with, without] = ["source,target\na,b\n", "source,target\n,b\n"];
    for files in [[("1.csv", with), ("2.csv", without)], [("1.csv", without), ("2.csv", with)]] {
        let report = imported(directory.path(), &files, &skip).unwrap();
        assert_eq!((report.manifest.edges, report.manifest.vertices), (1, 2));
        assert!(report.notes.iter().any(|note| note.ends_with("that were left out: 1.")), "{:?}", report.notes);
    }
    let lines = ["{\"source\":\"a\",\"target\":\"b\"}\n", "{\"source\":null,\"target\":null}\n"];
    let report = imported(directory.path(), &[("1.jsonl", lines[1]), ("2.jsonl", lines[0])], &skip).unwrap();
    assert_eq!(report.manifest.edges, 1);
}

#[test]
fn a_folder_or_a_pattern_without_files_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["", "*.tsv"] {
        let error = of_paths(directory.path(), &[directory.path().join(name)], &InputOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
        assert!(error.to_string().contains("found no file"), "{error}");
    }
}

#[test]
fn a_manifest_of_another_program_makes_no_image() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("data");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("1.csv"), "1,2\n").unwrap();
    std::fs::write(folder.join("manifest.json"), "{\"entries\":[]}").unwrap();
    let report = of_paths(directory.path(), std::slice::from_ref(&folder), &InputOptions::default()).unwrap();
    assert_eq!(report.manifest.edges, 1);
    let error = Graph::open(&common::runtime(1), &folder, ImageOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
    // Beside pages it is damaged.
    let image = directory.path().join("graph.oc");
    std::fs::write(image.join("manifest.json"), "{\"entries\":[]}").unwrap();
    let error = Graph::open(&common::runtime(1), &image, ImageOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

#[test]
fn an_image_without_one_of_its_files_is_damaged() {
    let directory = tempfile::tempdir().unwrap();
    imported(directory.path(), &[("1.csv", "a,b\n")], &InputOptions::default()).unwrap();
    let image = directory.path().join("graph.oc");
    let names = ImageFile::all(1).flat_map(|file| [file.name(), file.index_name()]).flatten();
    let names: Vec<PathBuf> = names.map(|name| image.join(name)).filter(|path| path.exists()).collect();
    assert!(names.len() > 2);
    for path in names {
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = Graph::open(&common::runtime(1), &image, ImageOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        std::fs::write(&path, bytes).unwrap();
    }
}
