//! The files of an image have the names, numbers, kinds and indexes that `docs/format.md` says.

use outcore_image::{ImageFile, MANIFEST};

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
    let numbered = &rows[fixed.len()..];
    for (row, file) in rows.iter().zip(fixed) {
        assert_eq!(row[..4], cells(file));
    }
    // The last rows are of columns and strings by their number: how that of the file follows from it, and which it is.
    type Numbered = fn(usize) -> ImageFile;
    let files: [(char, usize, &[usize], Numbered); 5] = [
        ('C', 2, &[0, 1, 255], |column| ImageFile::values(column, false)),
        ('C', 2, &[0, 1, 255], |column| ImageFile::values(column, true)),
        ('C', 1, &[0, 1, 255], ImageFile::vertex_values),
        ('A', 2, &[0, 1, 99], |attribute| ImageFile::strings(attribute, false)),
        ('A', 2, &[0, 1, 99], |attribute| ImageFile::strings(attribute, true)),
    ];
    assert_eq!(numbered.len(), files.len());
    for (row, (letter, step, places, file)) in numbered.iter().zip(files) {
        for &place in places {
            let (first, rest) = row[1].split_once(" + ").unwrap();
            assert_eq!(rest, if step == 1 { letter.to_string() } else { format!("{step} {letter}") });
            let number = first.parse::<usize>().unwrap() + step * place;
            let [name, index] = [&row[0], &row[3]].map(|name| name.replace(letter, &place.to_string()));
            assert_eq!([name, number.to_string(), row[2].clone(), index], cells(file(place)));
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
