//! `docs/format.md` says what the code does: its tables against constants and encoded bytes, its examples against the
//! codec.

use outcore_format::text::TextWriter;
use outcore_format::{
    Attribute, AttributeKind, DENSE_FORMAT_NAME, DenseManifest, DenseShape, ElementType, FORMAT_NAME, FORMAT_VERSION,
    GROUP_BYTES, HEADER_BYTES, IdColumn, IdType, ImageFile, ImportFacts, Index, Kind, ListFile, ListWriter, Lists,
    MAX_ATTRIBUTES, MAX_VALUE_COLUMNS, MAX_VERTICES, Manifest, Order, Origin, PAGE_BYTES, PageBytes, Shape, Strings,
    ValueColumn, ValueType, block, column, dense, flags, index_bytes, list, text, values,
};
use std::collections::{BTreeMap, BTreeSet};

/// The image of the examples.
const IMAGE_ID: u64 = 0x0123_4567_89ab_cdef;
const OUT_LISTS: Origin = Origin { image_id: IMAGE_ID, kind: Kind::OutLists, file: 0 };

fn specification() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format.md");
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows of all tables whose first heading is `heading`, cells without code marks.
fn tables(heading: &str) -> Vec<Vec<Vec<String>>> {
    let text = specification();
    let mut all: Vec<Vec<Vec<String>>> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let Some(row) = line.strip_prefix("| ").or_else(|| line.strip_prefix("|--")) else {
            open = false;
            continue;
        };
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        if !open && cells[0] == heading {
            all.push(Vec::new());
            open = true;
        } else if open && !cells[0].starts_with('-') {
            all.last_mut().unwrap().push(cells);
        }
    }
    all
}

/// The only table with that heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let mut all = tables(heading);
    assert_eq!(all.len(), 1, "tables that begin with {heading}");
    all.remove(0)
}

/// The bytes of the example of that name.
fn example(name: &str) -> Vec<u8> {
    let text = specification();
    let start = format!("```hex {name}\n");
    let (_, rest) = text.split_once(&start).unwrap_or_else(|| panic!("no example {name}"));
    let (hex, _) = rest.split_once("```").unwrap();
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// The example as a whole page: the rest is zero.
fn example_page(name: &str) -> PageBytes {
    let mut page = [0; PAGE_BYTES];
    let bytes = example(name);
    page[..bytes.len()].copy_from_slice(&bytes);
    page
}

#[test]
fn constants_are_those_of_the_code() {
    let expected: BTreeMap<&str, u64> = BTreeMap::from([
        ("FORMAT_VERSION", u64::from(FORMAT_VERSION)),
        ("MAX_VERTICES", MAX_VERTICES),
        ("PAGE_BYTES", PAGE_BYTES as u64),
        ("HEADER_BYTES", HEADER_BYTES as u64),
        ("BLOCK", block::BLOCK as u64),
        ("LENGTH_BITS", u64::from(list::LENGTH_BITS)),
        ("MAX_LISTS", list::MAX_LISTS as u64),
        ("MAX_NEIGHBOURS", list::MAX_NEIGHBOURS as u64),
        ("MAX_VALUES", column::MAX_VALUES as u64),
        ("MAX_VALUE_COLUMNS", MAX_VALUE_COLUMNS as u64),
        ("MAX_ATTRIBUTES", MAX_ATTRIBUTES as u64),
        ("TEXT_BYTES", text::TEXT_BYTES as u64),
        ("GROUP_BYTES", GROUP_BYTES as u64),
    ]);
    let documented: BTreeMap<String, u64> =
        table("constant").into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    assert_eq!(documented.iter().map(|(name, &value)| (name.as_str(), value)).collect::<BTreeMap<_, _>>(), expected);
}

#[test]
fn flags_are_those_of_the_code() {
    let documented: BTreeMap<String, u8> =
        tables("flag").into_iter().flatten().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    let expected = [
        ("BEGINS_EARLIER", flags::BEGINS_EARLIER),
        ("ENDS_LATER", flags::ENDS_LATER),
        ("RELATIVE", flags::RELATIVE),
        ("PARALLEL", flags::PARALLEL),
        ("DELTA", flags::DELTA),
        ("PACKED", flags::PACKED),
    ];
    assert_eq!(documented, expected.map(|(name, bit)| (name.to_owned(), bit)).into());
}

/// Fields of a table of offsets: name, offset, size in bytes.
fn fields(rows: &[Vec<String>]) -> BTreeMap<String, (usize, usize)> {
    let size = |kind: &str| match kind {
        "u8" => 1,
        "u16" => 2,
        "u32" => 4,
        "u64" | "bytes" | "u64s" => 8,
        other => panic!("no such type: {other}"),
    };
    rows.iter().map(|row| (row[1].clone(), (row[0].parse().unwrap(), size(&row[2])))).collect()
}

fn read(bytes: &[u8], (offset, size): (usize, usize)) -> u64 {
    bytes[offset..offset + size].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The tables of offsets in their order: page header, page seed, index.
fn offset_tables() -> [BTreeMap<String, (usize, usize)>; 3] {
    let all: Vec<_> = tables("offset").iter().map(|rows| fields(rows)).collect();
    all.try_into().unwrap()
}

/// Fields leave no gap and do not overlap.
fn check_gapless(fields: &BTreeMap<String, (usize, usize)>, end: usize) {
    let mut places: Vec<_> = fields.values().copied().collect();
    places.sort_unstable();
    let mut at = 0;
    for (offset, size) in places {
        assert_eq!(offset, at, "{fields:?}");
        at = offset + size;
    }
    assert_eq!(at, end);
}

/// Pages in which every field of the header has another value.
fn telling_pages() -> Vec<PageBytes> {
    let mut pages = Vec::new();
    let mut writer = ListWriter::new(OUT_LISTS, false, 0, 70_000, 0x1122_3344_5566);
    writer.push(&[1, 5, 900, 70_000], |_, page| pages.push(*page));
    writer.push(&[], |_, page| pages.push(*page));
    writer.push(&(0..90_000).map(|i| 7 * i).collect::<Vec<u32>>(), |_, page| pages.push(*page));
    writer.finish(|_, page| pages.push(*page));
    pages
}

#[test]
fn every_field_of_a_page_lies_where_the_table_says() {
    let [header, seed, _] = offset_tables();
    check_gapless(&header, HEADER_BYTES);
    check_gapless(&seed, 20);
    let pages = telling_pages();
    assert!(pages.len() > 2);
    let shape = Shape { vertices: 1 << 20, parallel: false };
    let mut lists = Lists::default();
    for (number, bytes) in pages.iter().enumerate() {
        let page = OUT_LISTS.verify(number as u64, bytes).unwrap();
        list::decode(&page, shape, &mut lists).unwrap();
        let field = |name: &str| read(bytes, header[name]);
        assert_eq!(field("kind"), Kind::OutLists as u64);
        assert_eq!(field("flags") & u64::from(flags::BEGINS_EARLIER) != 0, lists.begins_earlier);
        assert_eq!(field("flags") & u64::from(flags::ENDS_LATER) != 0, lists.ends_later);
        assert_eq!((lists.begins_earlier, lists.ends_later), (number > 0, number + 1 < pages.len()));
        assert_eq!(field("count"), lists.count as u64);
        assert_eq!(field("first"), lists.first_vertex);
        assert_eq!(field("base"), lists.offset);
        assert_eq!(lists.offset > 0, lists.begins_earlier);
        for section in 0..3 {
            assert_eq!(field(&format!("end{section}")), page.section_end(section) as u64);
        }
        assert_eq!(field("zero"), 0);
        assert!(bytes[page.section_end(2)..].iter().all(|&byte| byte == 0));
        // The checksum is of the seed, field by field, and the bytes from 4 on.
        let mut seeds = [0; 20];
        for (name, value) in
            [("image_id", IMAGE_ID), ("page_number", number as u64), ("kind", Kind::OutLists as u64), ("file", 0)]
        {
            let (offset, size) = seed[name];
            seeds[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        let expected = checksum(&[&seeds, &bytes[4..]]);
        assert_eq!(field("checksum"), u64::from(expected));
    }
    assert_eq!(lists.first_vertex, 70_002);
}

/// CRC-32C, bit by bit, to be independent of the code.
fn checksum(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for byte in parts.concat() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

#[test]
fn every_field_of_an_index_lies_where_the_table_says() {
    assert_eq!(checksum(&[b"123456789"]), 0xe306_9283);
    let [_, _, fields] = offset_tables();
    check_gapless(&fields, HEADER_BYTES + 8);
    let keys: Vec<u64> = (0..300).map(|i| 37 * i).collect();
    let origin = Origin { image_id: IMAGE_ID, kind: Kind::Column, file: 8 };
    let bytes = index_bytes(&origin, &keys);
    let field = |name: &str| read(&bytes, fields[name]);
    assert_eq!(&bytes[fields["magic"].0..8], b"OCINDEX1");
    let low_bits = field("low_bits");
    assert!(1 << low_bits <= 37 * 299 / 300 && 2 << low_bits > 37 * 299 / 300);
    assert_eq!((field("count"), field("last")), (300, 37 * 299));
    let low_words = (300 * low_bits).div_ceil(64);
    let high_words = (300 + ((37 * 299) >> low_bits) + 1u64).div_ceil(64);
    assert_eq!(bytes.len() as u64, 32 + 8 * (low_words + high_words));
    let high = &bytes[32 + 8 * low_words as usize..];
    for (i, key) in keys.iter().enumerate() {
        let place = (key >> low_bits) as usize + i;
        assert_eq!(high[place / 8] >> (place % 8) & 1, 1, "key {i}");
    }
    let mut seed = IMAGE_ID.to_le_bytes().to_vec();
    seed.extend([Kind::Column as u8, 8, 0, 0]);
    assert_eq!(field("checksum"), u64::from(checksum(&[&seed, &bytes[12..]])));
}

#[test]
fn the_example_of_a_block_is_right() {
    let mut bytes = Vec::new();
    block::write_block(&[3, 0, 1], 2, &mut bytes);
    assert_eq!(bytes, example("block"));
}

#[test]
fn the_example_of_lists_is_right() {
    let given: [&[u32]; 3] = [&[1, 2, 5], &[], &[0]];
    let mut pages = Vec::new();
    let mut writer = ListWriter::new(OUT_LISTS, false, 0, 0, 0);
    given.iter().for_each(|list| writer.push(list, |_, page| pages.push(*page)));
    writer.finish(|_, page| pages.push(*page));
    assert_eq!(pages, [example_page("lists")]);
    let mut lists = Lists::default();
    let page = OUT_LISTS.verify(0, &pages[0]).unwrap();
    list::decode(&page, Shape { vertices: 6, parallel: false }, &mut lists).unwrap();
    assert_eq!([0, 1, 2].map(|i| lists.list(i)), given);
}

#[test]
fn the_examples_of_columns_are_right() {
    let degrees = Origin { image_id: IMAGE_ID, kind: Kind::Column, file: 2 };
    let mut pages = Vec::new();
    let mut writer = column::ColumnWriter::new(degrees, false);
    [100, 103, 101, 100, 100].iter().for_each(|&value| writer.push(value, |_, page| pages.push(*page)));
    writer.finish(|_, page| pages.push(*page));
    assert_eq!(pages, [example_page("column")]);
    let mut values = Vec::new();
    column::decode(&degrees.verify(0, &pages[0]).unwrap(), &mut values).unwrap();
    assert_eq!(values, [100, 103, 101, 100, 100]);
    let ids = Origin { image_id: IMAGE_ID, kind: Kind::Column, file: 6 };
    values.clear();
    column::decode(&ids.verify(0, &example_page("delta")).unwrap(), &mut values).unwrap();
    assert_eq!(values, [10, 11, 13]);
}

#[test]
fn the_examples_of_values_are_right() {
    let origin = ImageFile::values(0, false).origin(IMAGE_ID);
    let examples: [(&str, ValueType, &[u64]); 2] =
        [("values", ValueType::U8, &[7, 200, 13]), ("packed", ValueType::I64, &[1_000_001, 1_000_000, 1_000_003])];
    for (name, kind, expected) in examples {
        let mut pages = Vec::new();
        let mut writer = values::ValueWriter::new(origin, kind, 0);
        expected.iter().for_each(|&value| writer.push(value, |_, page| pages.push(*page)).unwrap());
        writer.finish(|_, page| pages.push(*page));
        if std::env::var_os("OUTCORE_SHOW_EXAMPLES").is_some() {
            let hex = pages[0][..48]
                .chunks(16)
                .map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "));
            println!("{name}\n{}", hex.collect::<Vec<_>>().join("\n"));
        }
        assert_eq!(pages, [example_page(name)], "{name}");
        let mut decoded = Vec::new();
        values::decode(&origin.verify(0, &pages[0]).unwrap(), kind, &mut decoded).unwrap();
        assert_eq!(decoded, expected);
    }
}

#[test]
fn the_types_of_values_are_those_of_the_code() {
    let text = specification();
    let (_, rest) = text.split_once("The manifest says the type of a column: ").unwrap();
    let documented: Vec<&str> = rest.split_once("Section 0").unwrap().0.split('`').skip(1).step_by(2).collect();
    assert_eq!(documented, ValueType::ALL.map(ValueType::name));
}

#[test]
fn the_example_of_text_is_right() {
    let origin = Origin { image_id: IMAGE_ID, kind: Kind::Text, file: 7 };
    let mut pages = Vec::new();
    let mut writer = TextWriter::new(origin);
    ["a", "né"].iter().for_each(|id| writer.push(id.as_bytes(), |page| pages.push(*page)));
    writer.finish(|page| pages.push(*page));
    assert_eq!(pages, [example_page("text")]);
    assert_eq!(text::decode(&origin.verify(0, &pages[0]).unwrap()).unwrap(), "ané".as_bytes());
}

#[test]
fn the_example_of_an_index_is_right() {
    assert_eq!(index_bytes(&OUT_LISTS, &[0, 3, 8]), example("index"));
    let index = Index::from_bytes(&OUT_LISTS, &example("index")).unwrap();
    assert_eq!(index.iter_from(0).collect::<Vec<_>>(), [0, 3, 8]);
}

fn manifest(ids: IdColumn) -> Manifest {
    let lists = ListFile { pages: 1, entries: 3, max_degree: 3, degree_pages: 1, hub_pages: 1 };
    let column = |name: &str| ValueColumn { name: name.into(), kind: ValueType::F64, out_pages: 1, in_pages: 1 };
    let small = |name: &str| ValueColumn { kind: ValueType::U8, in_pages: 0, ..column(name) };
    let attribute = |column| Attribute {
        name: "kind".into(),
        kind: AttributeKind::String,
        column,
        counts: false,
        missing: Some(column + 1),
        strings: Some(Strings { count: 1, text_bytes: 4, pages: 1 }),
    };
    Manifest {
        format: FORMAT_NAME.into(),
        format_version: FORMAT_VERSION,
        image_id: IMAGE_ID,
        vertices: 3,
        edges: 3,
        directed: true,
        parallel_edges: false,
        rows: Some(2),
        order: Order::Degree,
        ids,
        id_type: Some(IdType::Int32),
        values: vec![column("w"), column("imaginary"), small("kind"), small("kind")],
        weighed_by: None,
        attributes: vec![attribute(2)],
        vertex_values: vec![small("kind"), small("kind")],
        vertex_attributes: vec![attribute(0)],
        complex: true,
        out_lists: lists,
        in_lists: Some(lists),
        import: facts(),
    }
}

/// Facts of which none is missing.
fn facts() -> ImportFacts {
    let text = || Some("text".to_owned());
    ImportFacts {
        self_loops_stored: Some(1),
        compression: text(),
        separator: text(),
        header: Some(true),
        source: text(),
        target: text(),
        direction_from: text(),
        comments: Some(1),
        first_comment: text(),
        files_read: Some(1),
        first_files: Some(vec![("a.csv".to_owned(), Some(1))]),
        first_files_modified: Some(vec![text()]),
        images_read: Some(vec![("a.oc".to_owned(), "0123456789abcdef".to_owned())]),
        files_without_edges: Some(1),
        first_files_without_edges: Some(vec!["b.csv".to_owned()]),
        files_not_read: Some(1),
        first_files_not_read: Some(vec!["c.csv".to_owned()]),
        columns_not_read: Some(vec!["d".to_owned()]),
        rows_left_out: Some(1),
        edges_left_out: Some(1),
        conditions: Some(vec!["amount >= 100".to_owned()]),
        options: Some(vec![("weight".to_owned(), "amount".to_owned())]),
        outcore_version: text(),
        ..ImportFacts::default()
    }
}

fn members(value: &serde_json::Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// The words in code marks of one row of the specification.
fn marked(prefix: &str) -> BTreeSet<String> {
    let text = specification();
    let line = text.lines().find(|line| line.starts_with(prefix)).unwrap_or_else(|| panic!("no row {prefix}"));
    let rest = &line[prefix.len()..];
    let names = rest.split('`').skip(1).step_by(2).filter(|word| !["i64", "f64", "directed"].contains(word));
    names.map(str::to_owned).collect()
}

#[test]
fn a_manifest_has_the_members_that_the_tables_name() {
    let bytes = manifest(IdColumn::Range { first: 0 }).to_bytes();
    let text = String::from_utf8(bytes).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(members(&all), ["checksum", "manifest"].map(str::to_owned).into());
    let body = &text[text.find("\"manifest\": ").unwrap() + 12..text.rfind('}').unwrap()];
    assert_eq!(all["checksum"], format!("{:08x}", checksum(&[body.trim_end().as_bytes()])));
    let inner = &all["manifest"];
    check_members(inner, &tables("member")[0]);
    assert_eq!(inner["image_id"], "0123456789abcdef");
    assert_eq!((&inner["format"], &inner["order"]), (&FORMAT_NAME.into(), &"degree".into()));
    assert_eq!(members(&inner["values"][0]), marked("| `values` |"));
    assert_eq!(members(&inner["vertex_values"][0]), marked("| `values` |"));
    let mut of_attributes = members(&inner["attributes"][0]);
    of_attributes.insert("counts".to_owned());
    assert_eq!(of_attributes, marked("| `attributes` |"));
    assert_eq!(inner["attributes"][0]["type"], "string");
    for part in ["out_lists", "import"] {
        assert_eq!(members(&inner[part]), marked(&format!("| `{part}` |")), "{part}");
    }
}

/// A manifest has the members that a table names, of the types that it says.
fn check_members(inner: &serde_json::Value, rows: &[Vec<String>]) {
    let documented: BTreeMap<String, String> = rows.iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(members(inner), documented.keys().cloned().collect());
    for (name, kind) in documented {
        let value = &inner[&name];
        let right = match kind.as_str() {
            "string" => value.is_string(),
            "number" => value.is_u64(),
            "boolean" => value.is_boolean(),
            "object" | "object or null" => value.is_object(),
            "array" => value.is_array(),
            other => panic!("no such type: {other}"),
        };
        assert!(right, "{name} is said to be a {kind} and is {value}");
    }
}

#[test]
fn the_manifest_of_an_array_has_the_members_that_the_table_names() {
    let manifest = DenseManifest {
        format: DENSE_FORMAT_NAME.into(),
        format_version: FORMAT_VERSION,
        image_id: IMAGE_ID,
        element: ElementType::Int16,
        rows: 3,
        columns: 2,
        dimensions: 2,
        names: Some(vec!["a".into(), "b".into()]),
        made_by: Some("persist".into()),
        outcore_version: Some("1.0.0".into()),
    };
    let all: serde_json::Value = serde_json::from_slice(&manifest.to_bytes()).unwrap();
    assert_eq!(members(&all), ["checksum", "manifest"].map(str::to_owned).into());
    let tables = tables("member");
    assert_eq!(tables.len(), 2, "of a graph, and of an array");
    check_members(&all["manifest"], &tables[1]);
    assert_eq!(all["manifest"]["image_id"], "0123456789abcdef");
    for (table, name) in tables.iter().zip([FORMAT_NAME, DENSE_FORMAT_NAME]) {
        assert!(table[0][0] == "format" && table[0][2].contains(name), "{:?}", table[0]);
    }
}

#[test]
fn the_types_of_elements_are_those_of_the_code() {
    let rows = table("type of element");
    assert_eq!(rows.len(), ElementType::ALL.len());
    for (row, element) in rows.iter().zip(ElementType::ALL) {
        let expected = [element.name().to_owned(), element.bytes().to_string()];
        assert_eq!(row[..2], expected);
        assert_eq!(row[2], dense::rows_per_page(element).to_string());
    }
}

#[test]
fn the_example_of_an_array_is_right() {
    let shape = DenseShape { element: ElementType::Int16, rows: 3, columns: 2 };
    let origin = ImageFile::DENSE.origin(IMAGE_ID);
    let elements: Vec<u8> = [-1i16, 0, 300].into_iter().flat_map(i16::to_le_bytes).collect();
    let place = shape.place(shape.page_of(2, 1));
    let mut page = [0; PAGE_BYTES];
    dense::build(&origin, shape.element, &place, &elements, &mut page);
    if std::env::var_os("OUTCORE_SHOW_EXAMPLES").is_some() {
        let rows = page[..48].chunks(16);
        rows.for_each(|row| println!("{}", row.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")));
    }
    assert_eq!(page, example_page("dense"));
    assert_eq!(dense::verify(&origin, shape.element, &place, &page).unwrap(), elements);
    let [header, ..] = offset_tables();
    let field = |name: &str| read(&page, header[name]);
    let fields = ["kind", "flags", "count", "first", "base", "end0", "end1", "end2", "zero"].map(field);
    assert_eq!(fields, [6, 0, 3, 0, 1, 38, 38, 38, 0]);
}

#[test]
fn every_kind_of_ids_has_the_members_that_the_table_names() {
    let kinds = [
        IdColumn::Range { first: -5 },
        IdColumn::U64 { pages: 1 },
        IdColumn::I64 { pages: 1 },
        IdColumn::String { end_pages: 1, text_pages: 1, text_bytes: 5 },
    ];
    let documented = table("type");
    assert_eq!(documented.len(), kinds.len());
    for (row, kind) in documented.iter().zip(kinds) {
        let value = serde_json::to_value(&kind).unwrap();
        let mut expected: BTreeSet<String> = row[1].split(", ").map(str::to_owned).collect();
        expected.insert("type".into());
        assert_eq!(members(&value), expected);
        assert_eq!(value["type"], row[0].as_str());
        let back = Manifest::from_bytes(&manifest(kind.clone()).to_bytes()).unwrap();
        assert_eq!(back.ids, kind);
    }
}

#[test]
fn a_newer_version_is_called_newer_and_unknown_members_are_ignored() {
    let good = String::from_utf8(manifest(IdColumn::Range { first: 0 }).to_bytes()).unwrap();
    let newer = good.replace("\"format_version\": 2", "\"format_version\": 3");
    assert!(Manifest::from_bytes(newer.as_bytes()).is_err());
    let found = Manifest::other_version(newer.as_bytes()).unwrap();
    assert!(found.contains("newer Outcore") && found.contains("found 3"), "{found}");
    assert_eq!(Manifest::other_version(good.as_bytes()), None);
    let older = good.replace("\"format_version\": 2", "\"format_version\": 1");
    assert!(Manifest::from_bytes(older.as_bytes()).is_err());
    let found = Manifest::other_version(older.as_bytes()).unwrap();
    assert!(found.contains("import the input again") && found.contains("found 1"), "{found}");
    let with_more = good.replace("\"vertices\": 3", "\"colour\": [1, {}], \"vertices\": 3");
    let body = &with_more[with_more.find("\"manifest\": ").unwrap() + 12..with_more.rfind('}').unwrap()];
    let sealed = format!(
        "{{\"manifest\": {}, \"checksum\": \"{:08x}\"}}",
        body.trim_end(),
        checksum(&[body.trim_end().as_bytes()])
    );
    assert_eq!(Manifest::from_bytes(sealed.as_bytes()).unwrap(), manifest(IdColumn::Range { first: 0 }));
}

/// The manifest with other text in place of some, sealed.
fn edited(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(manifest(IdColumn::Range { first: 0 }).to_bytes()).unwrap();
    assert!(text.contains(from), "no {from} in {text}");
    let text = text.replace(from, to);
    let body = text[text.find("\"manifest\": ").unwrap() + 12..text.rfind('}').unwrap()].trim_end();
    format!("{{\"manifest\": {body}, \"checksum\": \"{:08x}\"}}", checksum(&[body.as_bytes()])).into_bytes()
}

#[test]
fn the_type_of_ids_is_a_fact_beside_their_storage() {
    let row = specification().lines().find(|line| line.starts_with("| `id_type` |")).unwrap().to_owned();
    for kind in IdType::ALL {
        assert!(row.contains(&format!("`{}`", kind.name())), "{row}");
        let named = edited("\"int32\"", &format!("\"{}\"", kind.name()));
        let read = Manifest::from_bytes(&named).unwrap();
        assert_eq!((read.id_type, read.id_type_name()), (Some(kind), kind.name()));
        assert_eq!(Manifest::from_bytes(&read.to_bytes()).unwrap(), read);
    }
    let unknown = Manifest::from_bytes(&edited("\"int32\"", "\"int128\"")).unwrap_err().to_string();
    assert!(unknown.contains("int128"), "{unknown}");
    let older = Manifest::from_bytes(&edited("  \"id_type\": \"int32\",\n", "")).unwrap();
    assert_eq!((older.id_type, older.id_type_name()), (None, "int64"));
    let beyond = Manifest::from_bytes(&edited("\"first\": 0", "\"first\": 2147483646")).unwrap_err().to_string();
    assert!(beyond.contains("ids of type int32") && beyond.contains("2147483648"), "{beyond}");
    let strings = IdColumn::String { end_pages: 1, text_pages: 1, text_bytes: 5 };
    let of_graph = Manifest { rows: None, ..manifest(strings) };
    assert!(Manifest::from_bytes(&of_graph.to_bytes()).unwrap_err().to_string().contains("that are strings"));
}
