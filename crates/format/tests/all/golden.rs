//! Files of released versions are decoded to the recorded contents, and their damaged copies are refused
//! (`../golden/README.md`).

use outcore_format::{
    DenseManifest, ElementType, Error, ImageFile, ImportFacts, Index, Kind, ListFile, Lists, Manifest, Origin,
    PAGE_BYTES, PageBytes, Result, Shape, column, dense, list, text,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const IMAGES: [&str; 3] = ["empty", "hubs", "named"];
/// Files: number, name, kind, index.
const FILES: [(u16, Option<&str>, Kind, Option<&str>); 12] = [
    (0, Some("out.pages"), Kind::OutLists, Some("out.index")),
    (1, Some("in.pages"), Kind::InLists, Some("in.index")),
    (2, Some("columns/out_degree.pages"), Kind::Column, None),
    (3, Some("columns/out_hub.pages"), Kind::Column, None),
    (4, Some("columns/in_degree.pages"), Kind::Column, None),
    (5, Some("columns/in_hub.pages"), Kind::Column, None),
    (6, Some("columns/id.pages"), Kind::Column, None),
    (7, Some("columns/id.text.pages"), Kind::Text, None),
    (8, None, Kind::OutLists, Some("edges/out_entries.index")),
    (9, None, Kind::InLists, Some("edges/in_entries.index")),
    (16, Some("edges/out_0.pages"), Kind::Values, Some("edges/out_0.index")),
    (17, Some("edges/in_0.pages"), Kind::Values, Some("edges/in_0.index")),
];
/// Images of arrays: one for every type of elements, and a vector.
fn arrays() -> impl Iterator<Item = String> {
    ElementType::ALL.into_iter().map(|element| format!("arrays/{}", element.name())).chain(["arrays/vector".to_owned()])
}

/// A line of more values than this is cut and ends in their checksum.
const MOST_VALUES: usize = 24;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v2")
}

/// Values as text, cut where they are many.
fn values<T: std::fmt::Display>(values: &[T]) -> String {
    let words: Vec<String> = values.iter().map(T::to_string).collect();
    if words.len() <= MOST_VALUES {
        return words.join(" ");
    }
    let checksum = crc32c::crc32c(words.join(" ").as_bytes());
    format!("{} ... {} values with checksum {checksum:08x}", words[..MOST_VALUES].join(" "), words.len())
}

fn origin(manifest: &Manifest, place: usize) -> Origin {
    Origin { image_id: manifest.image_id, kind: FILES[place].2, file: FILES[place].0 }
}

/// Decodes the bytes of one file of pages into a text.
fn describe_pages(manifest: &Manifest, place: usize, bytes: &[u8]) -> Result<String> {
    let origin = origin(manifest, place);
    let shape = Shape { vertices: manifest.vertices, parallel: manifest.parallel_edges };
    let mut lines = String::new();
    let (pages, rest) = bytes.as_chunks::<PAGE_BYTES>();
    assert!(rest.is_empty());
    for (number, page) in pages.iter().enumerate() {
        let described = describe_page(&origin, number as u64, page, shape, manifest);
        lines += &described
            .map_err(|error| Error { offset_bytes: error.offset_bytes + (PAGE_BYTES * number) as u64, ..error })?;
    }
    Ok(lines)
}

fn describe_page(origin: &Origin, number: u64, bytes: &PageBytes, shape: Shape, manifest: &Manifest) -> Result<String> {
    let page = origin.verify(number, bytes)?;
    let mut lines = format!(
        "  page {number}: flags {}, {} from {}, base {}\n",
        page.flags(),
        page.count(),
        page.first(),
        page.base()
    );
    match origin.kind {
        Kind::OutLists | Kind::InLists => {
            let mut lists = Lists::default();
            list::decode(&page, shape, &mut lists)?;
            let shown = if lists.count > MOST_VALUES { 3 } else { lists.count };
            for i in 0..shown {
                writeln!(lines, "    {}: {}", lists.first_vertex + i as u64, values(lists.list(i))).unwrap();
            }
            writeln!(lines, "    ends {}", values(&lists.ends)).unwrap();
            writeln!(lines, "    all {}", values(&lists.neighbours)).unwrap();
        }
        Kind::Column => {
            let mut decoded = Vec::new();
            column::decode(&page, &mut decoded)?;
            writeln!(lines, "    {}", values(&decoded)).unwrap();
        }
        Kind::Values => {
            let mut decoded = Vec::new();
            outcore_format::values::decode(&page, manifest.values[0].kind, &mut decoded)?;
            writeln!(lines, "    {}", values(&decoded)).unwrap();
        }
        Kind::Dense => panic!("no graph has a file of that kind"),
        Kind::Text => writeln!(lines, "    {:?}", String::from_utf8_lossy(text::decode(&page)?)).unwrap(),
    }
    Ok(lines)
}

/// Describes the members of a manifest of version 2, so that members of later versions change nothing here.
fn describe_manifest(manifest: &Manifest) -> String {
    let lists = |lists: &ListFile| {
        let ListFile { pages, entries, max_degree, degree_pages, hub_pages } = lists;
        format!("{pages} pages, {entries} entries, at most {max_degree}; degrees {degree_pages}, hubs {hub_pages}")
    };
    let weights = manifest.weights();
    let weights = weights.map(|all| format!("{} {:?} {} {}", all.name, all.kind, all.out_pages, all.in_pages));
    let import = &manifest.import;
    let ImportFacts { input_format, edges_read, duplicates, duplicates_policy, .. } = import;
    [
        format!("version {}, image {:016x}", manifest.format_version, manifest.image_id),
        format!("{} vertices, {} edges, directed {}", manifest.vertices, manifest.edges, manifest.directed),
        format!("parallel edges {}, order {:?}, ids {:?}", manifest.parallel_edges, manifest.order, manifest.ids),
        format!("weights {}", weights.unwrap_or_default()),
        format!("out {}", lists(&manifest.out_lists)),
        format!("in {}", manifest.in_lists.as_ref().map(lists).unwrap_or_default()),
        format!("from {input_format}: {edges_read} edges, {duplicates} duplicates, {duplicates_policy}"),
        format!("{} loops, kept {}, {} isolated", import.self_loops, import.self_loops_kept, import.isolated_vertices),
        String::new(),
    ]
    .join("\n")
}

/// Describes the contents of an image.
fn describe(image: &Path) -> String {
    let manifest = Manifest::from_bytes(&std::fs::read(image.join("manifest.json")).unwrap()).unwrap();
    let mut lines = describe_manifest(&manifest);
    for (place, (_, name, _, index)) in FILES.iter().enumerate() {
        if let Some((name, bytes)) = name.and_then(|name| Some((name, std::fs::read(image.join(name)).ok()?))) {
            writeln!(lines, "{name}").unwrap();
            lines += &describe_pages(&manifest, place, &bytes).unwrap();
        }
        if let Some(index) = index {
            let Ok(bytes) = std::fs::read(image.join(index)) else { continue };
            writeln!(lines, "{index}").unwrap();
            let index = Index::from_bytes(&origin(&manifest, place), &bytes).unwrap();
            writeln!(lines, "  keys {}", values(&index.iter_from(0).collect::<Vec<_>>())).unwrap();
        }
    }
    lines
}

#[test]
fn images_hold_what_they_held_when_they_were_written() {
    let graphs = IMAGES.map(|image| (image.to_owned(), describe(&golden().join(image))));
    for (image, lines) in graphs.into_iter().chain(arrays().map(|name| (name.clone(), describe_array(&name)))) {
        let path = golden().join(format!("{image}.txt"));
        if std::env::var_os("OUTCORE_MAKE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, &lines).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (line, (expected, lines)) in expected.lines().zip(lines.lines()).enumerate() {
            assert_eq!(expected, lines, "{}, line {}", path.display(), line + 1);
        }
        assert_eq!(expected.lines().count(), lines.lines().count(), "{}", path.display());
    }
}

/// Decodes the bytes of the pages of an array into a text: elements as the digits of their bits.
fn describe_elements(manifest: &DenseManifest, bytes: &[u8]) -> Result<String> {
    let (origin, shape) = (ImageFile::DENSE.origin(manifest.image_id), manifest.shape());
    let (pages, rest) = bytes.as_chunks::<PAGE_BYTES>();
    assert!(rest.is_empty() && pages.len() as u64 == shape.pages());
    let mut lines = String::new();
    for (number, page) in pages.iter().enumerate() {
        let place = shape.place(number as u64);
        let found = dense::verify(&origin, shape.element, &place, page)
            .map_err(|error| Error { offset_bytes: error.offset_bytes + (PAGE_BYTES * number) as u64, ..error })?;
        let digits = |one: &[u8]| one.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
        let found: Vec<String> = found.chunks_exact(shape.element.bytes()).map(digits).collect();
        writeln!(lines, "  page {number}: column {}, {} from {}", place.column, place.rows, place.first_row).unwrap();
        writeln!(lines, "    {}", values(&found)).unwrap();
    }
    Ok(lines)
}

/// The parts of an image of an array.
fn array(name: &str) -> (DenseManifest, Vec<u8>, Vec<u8>) {
    let image = golden().join(name);
    let [manifest, pages] = ["manifest.json", "values.pages"].map(|file| std::fs::read(image.join(file)).unwrap());
    (DenseManifest::from_bytes(&manifest).unwrap(), manifest, pages)
}

/// Describes the contents of an image of an array.
fn describe_array(name: &str) -> String {
    let (manifest, _, pages) = array(name);
    let DenseManifest { format_version, image_id, element, rows, columns, dimensions, .. } = &manifest;
    let mut lines = format!("version {format_version}, image {image_id:016x}\n");
    writeln!(lines, "{rows} rows, {columns} columns, {dimensions} dimensions of {}", element.name()).unwrap();
    writeln!(lines, "names {:?}, made by {:?}", manifest.names, manifest.made_by).unwrap();
    lines + &describe_elements(&manifest, &pages).unwrap()
}

#[test]
fn arrays_are_written_as_they_were() {
    for name in arrays() {
        let (manifest, bytes, pages) = array(&name);
        assert_eq!(String::from_utf8(manifest.to_bytes()), String::from_utf8(bytes), "{name}");
        let (origin, shape) = (ImageFile::DENSE.origin(manifest.image_id), manifest.shape());
        for (number, page) in pages.as_chunks::<PAGE_BYTES>().0.iter().enumerate() {
            let (place, mut built) = (shape.place(number as u64), [0xa5; PAGE_BYTES]);
            let elements = dense::verify(&origin, shape.element, &place, page).unwrap();
            dense::build(&origin, shape.element, &place, elements, &mut built);
            assert!(built == *page, "{name}: page {number}");
        }
    }
}

/// Reads any file of an image as the kind that its name implies.
fn read(manifest: &Manifest, name: &str, bytes: &[u8]) -> Result<()> {
    if name == "manifest.json" {
        return Manifest::from_bytes(bytes).map(drop);
    }
    for (place, (_, pages, _, index)) in FILES.iter().enumerate() {
        if *pages == Some(name) {
            return describe_pages(manifest, place, bytes).map(drop);
        }
        if *index == Some(name) {
            return Index::from_bytes(&origin(manifest, place), bytes).map(drop);
        }
    }
    panic!("no file {name}")
}

#[test]
fn damaged_twins_are_refused_where_they_are_damaged() {
    let table = std::fs::read_to_string(golden().join("twins.txt")).unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| !line.starts_with('#')).map(|line| line.splitn(6, ' ').collect()).collect();
    assert!(rows.len() >= 20);
    for row in rows {
        let [image, name, byte, bit, offset, expected] = row[..] else { panic!("{row:?}: expected six columns") };
        let directory = golden().join(image);
        let manifest = Manifest::from_bytes(&std::fs::read(directory.join("manifest.json")).unwrap()).unwrap();
        let mut bytes = std::fs::read(directory.join(name)).unwrap();
        read(&manifest, name, &bytes).unwrap();
        bytes[byte.parse::<usize>().unwrap()] ^= 1 << bit.parse::<u32>().unwrap();
        let error = read(&manifest, name, &bytes).expect_err(&row.join(" "));
        assert_eq!(error.offset_bytes, offset.parse::<u64>().unwrap(), "{row:?}: {error}");
        assert!(error.expected.contains(expected), "{row:?}: {error}");
    }
}

#[test]
fn every_bit_of_every_small_file_counts() {
    for image in IMAGES {
        let directory = golden().join(image);
        let manifest = Manifest::from_bytes(&std::fs::read(directory.join("manifest.json")).unwrap()).unwrap();
        let indexes = FILES.iter().filter_map(|(.., index)| *index);
        for name in indexes.chain(["manifest.json"]) {
            let Ok(good) = std::fs::read(directory.join(name)) else { continue };
            for bit in 0..8 * good.len() {
                let mut bytes = good.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(read(&manifest, name, &bytes).is_err(), "{image}/{name}: bit {bit}");
            }
        }
    }
}

#[test]
fn every_bit_of_every_array_counts() {
    for name in arrays() {
        let (manifest, head, pages) = array(&name);
        for bit in 0..8 * head.len() {
            let mut bytes = head.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(DenseManifest::from_bytes(&bytes).is_err(), "{name}: bit {bit} of the manifest");
        }
        // The bits of a page's header, and every seventh of the others, which are all covered by one checksum.
        let is_looked_at = |bit: &usize| bit / 8 % PAGE_BYTES < 40 || bit.is_multiple_of(7);
        for bit in (0..8 * pages.len()).filter(is_looked_at) {
            let mut page = *pages[bit / 8 / PAGE_BYTES * PAGE_BYTES..].first_chunk::<PAGE_BYTES>().unwrap();
            page[bit / 8 % PAGE_BYTES] ^= 1 << (bit % 8);
            let place = manifest.shape().place((bit / 8 / PAGE_BYTES) as u64);
            let origin = ImageFile::DENSE.origin(manifest.image_id);
            assert!(dense::verify(&origin, manifest.element, &place, &page).is_err(), "{name}: bit {bit}");
        }
    }
}
