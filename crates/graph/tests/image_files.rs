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
    let fixed: Vec<ImageFile> = ImageFile::all(0).chain([ImageFile::DENSE]).collect();
    assert_eq!(rows.len(), fixed.len() + 2);
    for (row, file) in rows.iter().zip(fixed) {
        assert_eq!(row[..4], cells(file));
    }
    // The last two rows are of columns of values, by their number.
    for column in [0, 1, 255] {
        for (row, incoming) in rows[rows.len() - 2..].iter().zip([false, true]) {
            let number = row[1].split_once(" + 2 C").unwrap().0.parse::<usize>().unwrap() + 2 * column;
            let [name, index] = [&row[0], &row[3]].map(|name| name.replace('C', &column.to_string()));
            assert_eq!([name, number.to_string(), row[2].clone(), index], cells(ImageFile::values(column, incoming)));
        }
    }
    assert!(text.contains(&format!("`{MANIFEST}` is one JSON object")));
}

/// Name, number, kind and index of a file, as a row has them.
fn cells(file: ImageFile) -> [String; 4] {
    let origin = file.origin(1);
    let name = file.name().unwrap_or_default();
    [name, origin.file.to_string(), (origin.kind as u8).to_string(), file.index_name().unwrap_or_default()]
}
