//! The bytes of an image: pages of lists, columns and text, indexes, manifests. What is read is also used, and written
//! once more.
//!
//! A page's bytes are the input, filled up with zeros; its checksum is not looked at, or no damage would get past it.
//! The four bytes of the checksum say how many vertices the image has instead.

use crate::{MOST_MEMORY_BYTES, Target, note, noted};
use outcore_format::{
    HEADER_BYTES, Index, Kind, Lists, Manifest, Origin, PAGE_BYTES, PageBytes, Shape, ValueType, column, text, values,
};
use outcore_graph::decode::Decoder;

fn origin(kind: Kind) -> Origin {
    Origin { image_id: 1, kind, file: 0 }
}

fn page_of(bytes: &[u8]) -> PageBytes {
    let mut page = [0; PAGE_BYTES];
    let len = bytes.len().min(PAGE_BYTES);
    page[..len].copy_from_slice(&bytes[..len]);
    page
}

/// All decoders refuse a page, or all give the same lists, within the image.
fn lists(bytes: &[u8]) {
    let bytes = page_of(bytes);
    let vertices = u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let Some(page) = noted(origin(Kind::OutLists).trust(&bytes)) else { return };
    for parallel in [false, true] {
        let shape = Shape { vertices, parallel };
        let mut decoders = Decoder::all();
        let Some((reference, others)) = decoders.split_first_mut() else { return };
        let expected = noted(reference.1.decode(&page, shape));
        if let Some(lists) = expected {
            check(lists, shape);
        }
        for (name, decoder) in others {
            let found = decoder.decode(&page, shape).ok();
            assert_eq!(expected.is_some(), found.is_some(), "{name} and portable differ in refusing");
            if let (Some(expected), Some(found)) = (expected, found) {
                same(expected, found, name);
            }
        }
    }
}

fn check(lists: &Lists, shape: Shape) {
    assert!(lists.first_vertex + lists.count as u64 <= shape.vertices);
    assert!(lists.ends[..=lists.count].is_sorted() && lists.ends[0] == 0);
    assert!(lists.neighbours[..lists.edges()].iter().all(|&neighbour| u64::from(neighbour) < shape.vertices));
    if lists.continues {
        note("continues");
    }
    if lists.continued {
        note("continued");
    }
}

fn same(expected: &Lists, found: &Lists, name: &str) {
    let facts = |lists: &Lists| (lists.first_vertex, lists.offset, lists.count, lists.continues, lists.continued);
    assert_eq!(facts(expected), facts(found), "{name}");
    assert_eq!(expected.ends[..=expected.count], found.ends[..=found.count], "{name}");
    assert_eq!(expected.neighbours[..expected.edges()], found.neighbours[..found.edges()], "{name}");
}

/// A column's page is refused or gives as many values as it says.
fn column(bytes: &[u8]) {
    let bytes = page_of(bytes);
    let Some(page) = noted(origin(Kind::Column).trust(&bytes)) else { return };
    let mut values = Vec::new();
    if noted(column::decode(&page, &mut values)).is_some() {
        assert_eq!(values.len(), page.count());
    }
    assert!(values.len() <= column::MAX_VALUES);
}

/// A page of values of any type is refused or gives as many values as it says, all of its type.
fn values_of_edges(bytes: &[u8]) {
    let bytes = page_of(bytes);
    let Some(page) = noted(origin(Kind::Values).trust(&bytes)) else { return };
    let kind = ValueType::ALL[usize::from(bytes[0]) % ValueType::ALL.len()];
    let mut decoded = Vec::new();
    if noted(values::decode(&page, kind, &mut decoded)).is_some() {
        assert_eq!(decoded.len(), page.count());
        let is_nan = |value: u64| kind == ValueType::F32 && f64::from_bits(value).is_nan();
        assert!(decoded.iter().all(|&value| kind.holds(value) || is_nan(value)));
    }
    assert!(decoded.len() <= values::MAX_VALUES);
}

/// A text's page is refused or gives as many bytes as it says.
fn text(bytes: &[u8]) {
    let bytes = page_of(bytes);
    let Some(page) = noted(origin(Kind::Text).trust(&bytes)) else { return };
    if let Some(text) = noted(text::decode(&page)) {
        assert_eq!(text.len(), page.count());
    }
}

/// The checksum of an index, as `docs/format.md` has it.
pub(crate) fn index_checksum(origin: &Origin, bytes: &[u8]) -> u32 {
    let mut seed = origin.image_id.to_le_bytes().to_vec();
    seed.push(origin.kind as u8);
    seed.extend(origin.file.to_le_bytes());
    seed.push(0);
    crc32c::crc32c_append(crc32c::crc32c(&seed), &bytes[12..])
}

/// An index is refused, or finds all of its keys.
fn index(bytes: &[u8]) {
    let origin = origin(Kind::OutLists);
    let mut bytes = bytes.to_vec();
    noted(Index::from_bytes(&origin, &bytes));
    if bytes.len() >= HEADER_BYTES {
        bytes[..8].copy_from_slice(b"OCINDEX1");
        let checksum = index_checksum(&origin, &bytes);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    }
    let Some(index) = noted(Index::from_bytes(&origin, &bytes)) else { return };
    let keys: Vec<u64> = index.iter_from(0).collect();
    assert_eq!(keys.len() as u64, index.len());
    for (place, &key) in keys.iter().enumerate() {
        assert_eq!(index.get(place as u64), key);
        for probe in [key.saturating_sub(1), key, key.saturating_add(1)] {
            let expected = keys.partition_point(|&other| other <= probe).checked_sub(1).map(|place| place as u64);
            assert_eq!(index.last_at_most(probe), expected, "key {probe}");
        }
    }
    assert_eq!(index.iter_from(keys.len() as u64 / 2).count(), keys.len() - keys.len() / 2);
}

/// A manifest is refused, or comes back from what it is written as.
fn manifest(bytes: &[u8]) {
    noted(Manifest::from_bytes(bytes));
    let mut sealed =
        format!("{{\"checksum\": \"{:08x}\", \"manifest\": ", crc32c::crc32c(bytes.trim_ascii())).into_bytes();
    sealed.extend(bytes.trim_ascii());
    sealed.push(b'}');
    if let Some(manifest) = noted(Manifest::from_bytes(&sealed)) {
        assert_eq!(Manifest::from_bytes(&manifest.to_bytes()).as_ref(), Ok(&manifest));
    }
}

const HEADERS: &[&[u8]] = &[
    b"\x20\0\x20\0\x20\0",
    b"\x22\0\x24\0\x26\0",
    b"\0\x10\0\x10\0\x10",
    b"\x01\0",
    b"\x10\0",
    b"\xff\xff",
    b"\x11",
    b"\x20",
    b"\x40",
    b"\x21",
    b"\0\0\0\0\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
];
const INDEXES: &[&[u8]] = &[
    b"OCINDEX1",
    b"\0\0\0\0\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x3f\0\0\0",
    b"\x01\0\0\0",
    b"\0\0\0\x80",
];
pub(crate) const MEMBERS: &[&[u8]] = &[
    b"\"format\": \"outcore graph\",",
    b"\"format_version\": 2,",
    b"\"vertices\": ",
    b"\"edges\": ",
    b"\"directed\": true,",
    b"\"ids\": ",
    b"{\"type\": \"range\", \"first\": -1}",
    b"{\"type\": \"u64\", \"pages\": 1}",
    b"null",
    b"true",
    b"false",
    b"\"in_lists\": null,",
    b"18446744073709551615",
    b"4294967295",
    b"4294967296",
    b"-1",
    b"1e30",
    b"[",
    b"{",
    b"}",
    b"\"",
    b"\\u0000",
];

pub(crate) static TARGETS: [Target; 6] = [
    Target { name: "page", run: lists, tokens: HEADERS, most_bytes: PAGE_BYTES, most_memory_bytes: MOST_MEMORY_BYTES },
    Target {
        name: "column",
        run: column,
        tokens: HEADERS,
        most_bytes: PAGE_BYTES,
        most_memory_bytes: MOST_MEMORY_BYTES,
    },
    Target {
        name: "values",
        run: values_of_edges,
        tokens: HEADERS,
        most_bytes: PAGE_BYTES,
        most_memory_bytes: MOST_MEMORY_BYTES,
    },
    Target { name: "text", run: text, tokens: HEADERS, most_bytes: PAGE_BYTES, most_memory_bytes: MOST_MEMORY_BYTES },
    Target { name: "index", run: index, tokens: INDEXES, most_bytes: 1024, most_memory_bytes: MOST_MEMORY_BYTES },
    Target { name: "manifest", run: manifest, tokens: MEMBERS, most_bytes: 4096, most_memory_bytes: MOST_MEMORY_BYTES },
];
