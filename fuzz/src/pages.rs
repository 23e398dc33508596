//! The bytes of an image: pages of lists, columns, text and arrays, indexes, manifests. What is read is also used, and
//! written once more.
//!
//! A page's bytes are the input, filled up with zeros; its checksum is not looked at, or no damage would get past it.
//! The four bytes of the checksum say how many vertices the image has instead.

use crate::{MOST_MEMORY_BYTES, Target, note, noted};
use outcore_format::{
    DenseManifest, DenseShape, ElementType, HEADER_BYTES, Index, Kind, Lists, Manifest, Origin, PAGE_BYTES, PageBytes,
    Shape, ValueType, column, dense, text, values,
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
    if lists.begins_earlier {
        note("begins_earlier");
    }
    if lists.ends_later {
        note("ends_later");
    }
}

fn same(expected: &Lists, found: &Lists, name: &str) {
    let facts = |lists: &Lists| (lists.first_vertex, lists.offset, lists.count, lists.begins_earlier, lists.ends_later);
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

/// A page of an array is refused, or gives as many elements as its place has rows, of which it is made once more.
fn elements(bytes: &[u8]) {
    let mut bytes = page_of(bytes);
    let [element, rows, columns, page] = [bytes[0], bytes[1], bytes[2], bytes[3]].map(u64::from);
    let element = ElementType::ALL[element as usize % ElementType::ALL.len()];
    let shape = DenseShape { element, rows: 1 + rows * 31, columns: 1 + columns % 4 };
    let place = shape.place(page % shape.pages());
    let origin = origin(Kind::Dense);
    noted(dense::verify(&origin, element, &place, &bytes));
    origin.place(place.page_number, 0, &mut bytes);
    let Some(found) = noted(dense::verify(&origin, element, &place, &bytes)) else { return };
    assert_eq!(found.len(), place.rows * element.bytes());
    assert_eq!(found, dense::trusted(&bytes));
    let mut built = [0xa5; PAGE_BYTES];
    dense::build(&origin, element, &place, found, &mut built);
    assert!(built == bytes, "a page that is made of the same elements");
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
    if let Some(manifest) = noted(Manifest::from_bytes(&sealed(bytes))) {
        assert_eq!(Manifest::from_bytes(&manifest.to_bytes()).as_ref(), Ok(&manifest));
    }
}

/// Fuzzes the manifest of an array, which then has a size that a file may have.
fn array_manifest(bytes: &[u8]) {
    noted(DenseManifest::from_bytes(bytes));
    let sealed = sealed(bytes);
    if let Some(manifest) = noted(DenseManifest::from_bytes(&sealed)) {
        assert!(DenseManifest::is_array(&sealed));
        assert_eq!(DenseManifest::from_bytes(&manifest.to_bytes()).as_ref(), Ok(&manifest));
        assert!(manifest.shape().pages() < 1 << 51);
    }
}

/// A manifest behind a checksum that is right.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let body = bytes.trim_ascii();
    let head = format!("{{\"checksum\": \"{:08x}\", \"manifest\": ", crc32c::crc32c(body));
    [head.as_bytes(), body, b"}"].concat()
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

const ELEMENTS: &[&[u8]] = &[
    b"\x06\0\x20\0\0\0",
    b"\x06\0\xfc\x01",
    b"\0\x10\0\x10\0\x10\0\0",
    b"\x3f\0\x3f\0\x3f\0\0\0",
    b"\0\0\0\0\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x01\0\0\0\0\0\0\0",
    b"\x02",
];
pub(crate) const ARRAY_MEMBERS: &[&[u8]] = &[
    b"\"format\": \"outcore array\",",
    b"\"format_version\": 2,",
    b"\"image_id\": \"0000000000000001\",",
    b"\"element\": \"float32\",",
    b"\"rows\": ",
    b"\"columns\": ",
    b"\"dimensions\": 1",
    b"\"names\": [\"a\"],",
    b"\"bool\"",
    b"\"int64\"",
    b"18446744073709551615",
    b"1152921504606846976",
    b"2251799813685248",
    b"null",
    b"-1",
    b"1e3",
    b"0",
    b"{",
    b"}",
    b"\"",
];

const fn of(name: &'static str, run: fn(&[u8]), tokens: &'static [&'static [u8]], most_bytes: usize) -> Target {
    Target { name, run, tokens, most_bytes, most_memory_bytes: MOST_MEMORY_BYTES }
}

pub(crate) static TARGETS: &[Target] = &[
    of("page", lists, HEADERS, PAGE_BYTES),
    of("column", column, HEADERS, PAGE_BYTES),
    of("values", values_of_edges, HEADERS, PAGE_BYTES),
    of("text", text, HEADERS, PAGE_BYTES),
    of("elements", elements, ELEMENTS, PAGE_BYTES),
    of("index", index, INDEXES, 1024),
    of("manifest", manifest, MEMBERS, 4096),
    of("array-manifest", array_manifest, ARRAY_MEMBERS, 1024),
];
