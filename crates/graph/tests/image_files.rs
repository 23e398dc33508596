//! The files of an image have the names, numbers, kinds and indexes that `docs/format.md` says.

use outcore_graph::{ImageFile, MANIFEST};

#[test]
fn the_table_of_files_is_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format.md");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (_, rest) = text.split_once("| file | number | kind | index | holds |\n").unwrap();
    let rows: Vec<Vec<String>> = rest
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect())
        .collect();
    assert_eq!(rows.len(), ImageFile::ALL.len());
    for (row, file) in rows.iter().zip(ImageFile::ALL) {
        let origin = file.origin(1);
        let found = [file.name(), &origin.file.to_string(), &(origin.kind as u8).to_string()].map(str::to_owned);
        assert_eq!(row[..3], found);
        assert_eq!(row[3], file.index_name().unwrap_or_default());
    }
    assert!(text.contains(&format!("`{MANIFEST}` is one JSON object")));
}
