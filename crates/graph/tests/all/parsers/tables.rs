//! Tables: Arrow files and streams, Parquet, and batches in memory.

use super::*;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int8Array,
    Int32Array, Int64Array, LargeStringArray, RecordBatch, RecordBatchIterator, StringArray, StringViewArray,
    UInt64Array,
};
use std::sync::Arc;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(batch).expect("written");
    writer.close().expect("closed");
    bytes
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("written");
    writer.finish().expect("finished");
    writer.into_inner().expect("the bytes")
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("written");
    writer.finish().expect("finished");
    writer.into_inner().expect("the bytes")
}

/// Reads a table in every form it may come in; all must agree.
fn every_way(batch: &RecordBatch, options: &InputOptions) -> Result<Read> {
    let scratch = Scratch::new();
    let file = read_with(&scratch.write("t.arrow", arrow_file(batch)), options);
    let stream = read_with(&scratch.write("t.ipc", arrow_stream(batch)), options);
    let parquet = read_with(&scratch.write("t.parquet", parquet(batch)), options);
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let direct = from_batches(Box::new(reader), "a table", options).and_then(collect);
    let first = file?;
    for other in [stream?, parquet?, direct?] {
        assert!(other.pairs == first.pairs && other.weights == first.weights && other.strings == first.strings);
    }
    Ok(first)
}

fn weights(name: &str) -> InputOptions {
    InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() }
}

#[test]
fn columns_are_found_by_name_in_any_order_and_width() {
    let table = batch(vec![
        ("Weight", Arc::new(Float32Array::from(vec![0.5, 1.5])) as ArrayRef),
        ("dst", Arc::new(Int8Array::from(vec![2, -3]))),
        ("km", Arc::new(Int32Array::from(vec![7, 8]))),
        ("src", Arc::new(Int64Array::from(vec![1, i64::MIN]))),
    ]);
    let read = every_way(&table, &InputOptions::default()).expect("reads");
    assert_eq!(read.pairs, [(1, 2), (1 << 63, -3i64 as u64)]);
    assert_eq!(read.weights, [0.5, 1.5]);
    assert_eq!(every_way(&table, &weights("km")).expect("reads").weights, [7.0, 8.0]);
    assert!(every_way(&table, &weights("none")).expect("reads").weights.is_empty());
    assert!(failure(every_way(&table, &weights("mm"))).contains("found no such column"));
    assert!(failure(every_way(&table, &weights("src"))).contains("holds the ids"));
}

fn columns(source: Option<&str>, target: Option<&str>, weight: Option<&str>) -> InputOptions {
    let [source, target, weight] = [source, target, weight].map(|name| name.map(str::to_owned));
    InputOptions { source, target, weight, ..InputOptions::default() }
}

#[test]
fn columns_are_never_guessed() {
    let column = |first: i64| Arc::new(Int64Array::from(vec![first, first + 1])) as ArrayRef;
    let table = |names: &[&'static str]| {
        batch(names.iter().zip([10, 20, 30, 40]).map(|(name, first)| (*name, column(first))).collect())
    };
    let none = InputOptions::default();
    let columns_of = |names: &[&'static str], options: &InputOptions| {
        let read = every_way(&table(names), options).unwrap_or_else(|error| panic!("{names:?}: {error}"));
        let ends = read.facts.ends.unwrap().to_vec();
        (ends, read.facts.weights, read.pairs[0], read.weights.first().copied())
    };
    let ends = |source: &str, target: &str| vec![source.to_owned(), target.to_owned()];
    let named = columns_of(&["edge_id", "source_id", "target_id"], &none);
    assert_eq!(named, (ends("source_id", "target_id"), None, (20, 30), None));
    assert_eq!(columns_of(&["a", "b"], &none), (ends("a", "b"), None, (10, 20), None));
    assert_eq!(columns_of(&["payee", "source"], &none), (ends("source", "payee"), None, (20, 10), None));
    let weight = || Some("weight".to_owned());
    assert_eq!(columns_of(&["weight", "a", "b"], &none), (ends("a", "b"), weight(), (20, 30), Some(10.0)));
    let given = columns(Some("payer"), Some("3"), Some("amount"));
    let amount = Some("amount".to_owned());
    let payments = ["id", "payer", "payee", "amount"];
    assert_eq!(columns_of(&payments, &given), (ends("payer", "payee"), amount.clone(), (20, 30), Some(40.0)));
    assert_eq!(columns_of(&payments, &none), (ends("payer", "payee"), None, (20, 30), None));
    let one = columns(None, Some("a"), None);
    assert_eq!(columns_of(&["a", "b"], &one), (ends("b", "a"), None, (20, 10), None));
    // Without a name that means it, a third column is no weight, and two of three columns are no ends.
    let two_pairs = ["payer", "payee", "from", "to"];
    for names in [&["edge_id", "a", "b"][..], &["a", "b", "c", "d"], &["source", "a", "b"], &["a"], &two_pairs] {
        let text = failure(every_way(&table(names), &none));
        assert!(text.contains(&names.join(", ")) && text.contains("--source and --target"), "{text}");
    }
    for (options, expected) in [
        (
            columns(Some("x"), None, None),
            "a column `x`, as --source says, found no such column; the columns are id, payer",
        ),
        (columns(Some("payer"), Some("payer"), None), "found `payer` for both"),
        (columns(Some("payer"), Some("payee"), Some("payee")), "that column holds the weights"),
    ] {
        let text = failure(every_way(&table(&payments), &options));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn files_of_one_import_agree_in_their_columns() {
    let scratch = Scratch::new();
    let table = |names: [&str; 3]| {
        let columns = names.into_iter().zip([1, 2, 3]);
        batch(columns.map(|(name, id)| (name, Arc::new(Int64Array::from(vec![id])) as ArrayRef)).collect())
    };
    let first = scratch.write("1.parquet", parquet(&table(["source", "target", "weight"])));
    let cases = [
        ("2.parquet", ["from", "to", "weight"], "found the columns from, to, weight"),
        ("3.parquet", ["source", "target", "cost"], "expected weights, `weight`, as in"),
    ];
    for (name, names, expected) in cases {
        let second = scratch.write(name, parquet(&table(names)));
        let text = failure(super::open(&[first.clone(), second], &InputOptions::default()).and_then(collect));
        assert!(text.contains(expected) && text.contains(name), "{text}");
    }
}

#[test]
fn decimals_are_read_where_they_have_one_meaning() {
    let decimals = |values: Vec<i128>, scale: i8| {
        let array = Decimal128Array::from(values).with_precision_and_scale(38, scale).expect("decimals");
        Arc::new(array) as ArrayRef
    };
    let table =
        |id: ArrayRef, weight: ArrayRef| batch(vec![("source", id.clone()), ("target", id), ("weight", weight)]);
    let read = every_way(&table(decimals(vec![7, 9], 0), decimals(vec![10, 1995], 2)), &InputOptions::default());
    let read = read.expect("reads");
    assert_eq!((read.pairs, read.weights), (vec![(7, 7), (9, 9)], vec![0.1, 19.95]));
    let ones = || Arc::new(Int64Array::from(vec![1, 1])) as ArrayRef;
    let cases: [(ArrayRef, ArrayRef, &str); 6] = [
        (decimals(vec![7, 1 << 64], 0), ones(), "18446744073709551616 in row 1; cast the columns of ids to strings"),
        (decimals(vec![70, 90], 1), ones(), "cast the column to integers"),
        (Arc::new(BooleanArray::from(vec![true, false])), ones(), "cast the column to strings"),
        (ones(), Arc::new(BooleanArray::from(vec![true, false])), "cast the column to integers"),
        (ones(), Arc::new(Date32Array::from(vec![1, 2])), "in the unit that the weights should have"),
        (ones(), Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])), "inf in row 1"),
    ];
    for (id, weight, expected) in cases {
        let text = failure(every_way(&table(id, weight), &InputOptions::default()));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn strings_of_every_kind() {
    let dictionary: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
    let columns: [ArrayRef; 4] = [
        Arc::new(StringArray::from(vec!["x", "", "z"])),
        Arc::new(LargeStringArray::from(vec!["x", "", "z"])),
        Arc::new(StringViewArray::from(vec!["x", "a string longer than twelve bytes", "z"])),
        Arc::new(dictionary),
    ];
    for column in &columns {
        let table = batch(vec![("p", column.clone()), ("q", columns[0].clone())]);
        let read = every_way(&table, &InputOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read.strings, 6);
        assert!(read.facts.string_ids);
    }
    let mixed = batch(vec![("p", columns[0].clone()), ("q", Arc::new(Int64Array::from(vec![1, 2, 3])))]);
    assert!(failure(every_way(&mixed, &InputOptions::default())).contains("of one kind"));
}

#[test]
fn large_tables_come_in_blocks() {
    let count = 300_000u64;
    let source = UInt64Array::from_iter_values((0..count).map(|i| i + (1 << 63)));
    let target = UInt64Array::from_iter_values(0..count);
    let table = batch(vec![("from", Arc::new(source) as ArrayRef), ("to", Arc::new(target))]);
    let read = every_way(&table, &InputOptions::default()).expect("reads");
    assert!(read.blocks > 3);
    assert!(read.pairs.iter().copied().eq((0..count).map(|i| (i + (1 << 63), i))));
}

#[test]
fn nulls_floats_and_nan_are_refused() {
    let ones = || Arc::new(Int64Array::from(vec![1, 1, 1])) as ArrayRef;
    let cases: [(ArrayRef, ArrayRef, &str); 5] = [
        (Arc::new(Int64Array::from(vec![Some(1), Some(2), None])), ones(), "null in row 2"),
        (Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0])), ones(), "integers or strings in column `source`"),
        (ones(), Arc::new(Float64Array::from(vec![1.0, f64::NAN, 3.0])), "NaN in row 1"),
        (ones(), Arc::new(Int64Array::from(vec![Some(1), None, Some(2)])), "null in row 1"),
        (ones(), Arc::new(UInt64Array::from(vec![1, u64::MAX, 2])), "in column `weight`"),
    ];
    for (source, weight, expected) in cases {
        let table = batch(vec![("source", source), ("target", ones()), ("weight", weight)]);
        let error = failure(every_way(&table, &InputOptions::default()));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_schema_without_mark_and_length_is_read() {
    let table = batch(vec![
        ("source", Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef),
        ("target", Arc::new(StringArray::from(vec!["b", "a"]))),
    ]);
    let whole = arrow_file(&table);
    // The magic number is padded, and then comes the mark, the length, the schema.
    let start = (0..whole.len()).step_by(8).find(|&start| whole[start..].starts_with(&[0xff; 4])).expect("a mark");
    let bare = [&whole[..start], &whole[start + 8..]].concat();
    assert_eq!(count_edges("arrow", &bare, &InputOptions::default()).expect("reads"), 2);
    for cut in [start, start + 20, start + 100, bare.len() - 1] {
        assert!(count_edges("arrow", &bare[..cut], &InputOptions::default()).is_err(), "cut at {cut}");
    }
}

#[test]
fn damaged_arrow_schemas_in_parquet_are_errors() {
    // As programs do; a library leaves the hook alone.
    outcore_ingest::hide_guarded_panics();
    let whole = parquet(&batch(vec![
        ("source", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("target", Arc::new(DictionaryArray::<Int32Type>::from_iter(["b"]))),
    ]));
    let key = b"ARROW:schema";
    let start = whole.windows(key.len()).rposition(|bytes| bytes == key).expect("a schema of Arrow") + key.len();
    let mut broken = 0;
    for place in start..whole.len() - 8 {
        // Base64, so that many of the changes are read.
        for letter in [b'A', b'/', b'Q', b'g'] {
            let mut changed = whole.clone();
            changed[place] = letter;
            match count_edges("parquet", &changed, &InputOptions::default()) {
                Ok(edges) => assert!(edges <= 1, "{edges} edges with byte {place} changed"),
                Err(error) => broken += u64::from(error.to_string().contains("the decoder broke down")),
            }
        }
    }
    assert!(broken > 0, "no decoder panicked: what is caught is not tested");
}

#[test]
fn a_decoder_that_panics_prints_nothing() {
    // Output of a test is kept back unless the test is alone in a process that is told not to.
    let test = ["--exact", "parsers::tables::damaged_arrow_schemas_in_parquet_are_errors", "--nocapture"];
    let child = std::process::Command::new(std::env::current_exe().unwrap()).args(test).output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && output.contains("1 passed") && !output.contains("panicked"), "{output}");
}

#[test]
fn damaged_tables_are_errors_wherever_they_are_cut_or_changed() {
    let numbers = || Arc::new(Int64Array::from_iter_values(0..5000)) as ArrayRef;
    let table = batch(vec![("source", numbers()), ("target", numbers())]);
    for (format, whole) in
        [("parquet", parquet(&table)), ("arrow", arrow_file(&table)), ("arrow", arrow_stream(&table))]
    {
        assert_eq!(count_edges(format, &whole, &InputOptions::default()).expect("whole"), 5000);
        for tenth in 0..10 {
            let cut = whole.len() * tenth / 10;
            assert!(
                count_edges(format, &whole[..cut], &InputOptions::default()).is_err(),
                "{format} cut at {cut} of {}",
                whole.len()
            );
        }
        // A changed byte may change a value, so the only claim is that nothing breaks.
        for place in (0..whole.len()).step_by(whole.len() / 300) {
            let mut changed = whole.clone();
            changed[place] ^= 0x5a;
            if let Ok(edges) = count_edges(format, &changed, &InputOptions::default()) {
                assert!(edges <= 5000, "{format}: {edges} edges with byte {place} changed");
            }
        }
    }
}
