//! Parquet and Arrow files in place: the bits of an import, whatever the threads, the memory and the stretches; devices
//! that fail, and damaged bytes. Tables of text, which are imported by several threads, in order.

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use outcore_array::kernel::Fold;
use outcore_array::{
    Array, ArrayImportOptions, AxisPart, Goal, ImageSource, InMemory, compute, explain, import_array_file,
};
use outcore_image::{Error, Result};
use outcore_io::Runtime;
use outcore_io::backend::{Backend, Faults, Sim};
use outcore_testkit::runtime_under;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::path::Path;
use std::sync::Arc;

const MIB: u64 = 1 << 20;
/// So far are bytes apart that are damaged one at a time; all were, once.
const STEP: usize = 13;

/// Numbers of which some are missing, whole numbers, and words.
fn table(rows: usize) -> RecordBatch {
    let real =
        |row: usize| (row % 11 != 3).then(|| ((row * 7919 % 10_007) as f64).sqrt() * 1e3f64.powi((row % 5) as i32));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("real", Arc::new((0..rows).map(real).collect::<Float64Array>())),
        ("word", Arc::new((0..rows).map(|row| Some(format!("w{}", row % 5))).collect::<StringArray>())),
        ("whole", Arc::new((0..rows as i32).map(|row| row * 31 % 1009).collect::<Int32Array>())),
        ("last", Arc::new((0..rows).map(|row| row as f64 / 3.0).collect::<Float64Array>())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// The format of a table.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Parquet { group_rows: usize, page_rows: usize, is_packed: bool },
    Arrow { batch_rows: usize, is_packed: bool },
}

fn write(path: &Path, rows: &RecordBatch, kind: Kind) {
    let file = std::fs::File::create(path).unwrap();
    match kind {
        Kind::Parquet { group_rows, page_rows, is_packed } => {
            let codec = if is_packed { Compression::ZSTD(ZstdLevel::default()) } else { Compression::UNCOMPRESSED };
            let properties = WriterProperties::builder()
                .set_max_row_group_row_count(Some(group_rows))
                .set_data_page_row_count_limit(page_rows)
                .set_write_batch_size(page_rows.min(1024))
                .set_dictionary_enabled(is_packed)
                .set_compression(codec);
            let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).unwrap();
            writer.write(rows).unwrap();
            writer.close().unwrap();
        }
        Kind::Arrow { batch_rows, is_packed } => {
            let codec = is_packed.then_some(arrow_ipc::CompressionType::ZSTD);
            let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(codec).unwrap();
            let mut writer =
                arrow_ipc::writer::FileWriter::try_new_with_options(file, &rows.schema(), options).unwrap();
            for start in (0..rows.num_rows()).step_by(batch_rows) {
                writer.write(&rows.slice(start, batch_rows.min(rows.num_rows() - start))).unwrap();
            }
            writer.finish().unwrap();
        }
    }
}

fn kinds() -> Vec<Kind> {
    vec![
        Kind::Parquet { group_rows: 1 << 20, page_rows: 5000, is_packed: false },
        Kind::Parquet { group_rows: 70_001, page_rows: 900, is_packed: true },
        Kind::Arrow { batch_rows: 1 << 20, is_packed: false },
        Kind::Arrow { batch_rows: 9000, is_packed: true },
    ]
}

fn open(runtime: &Runtime, path: &Path) -> Result<Array> {
    Array::from_source(outcore_array::open(runtime, path)?)
}

fn imported(runtime: &Runtime, path: &Path, image: &Path) -> Result<Array> {
    let options = ArrayImportOptions { replace: true, ..ArrayImportOptions::default() };
    import_array_file(runtime, path, image, &options)?;
    Array::from_source(Arc::new(ImageSource::open(runtime, image)?))
}

fn goals(x: &Array) -> Vec<Goal> {
    let sum = x.fold(Fold::Sum, &[0], false).unwrap();
    let gram = x.permute(&[1, 0]).unwrap().matmul(x).unwrap();
    let row_sums = x.fold(Fold::Sum, &[1], false).unwrap().fold(Fold::Max, &[0], false).unwrap();
    [sum, gram, row_sums].into_iter().map(Goal::Value).collect()
}

fn bits(values: &[InMemory]) -> Vec<Vec<u8>> {
    values.iter().map(InMemory::to_vec).collect()
}

#[test]
fn bits_are_those_of_the_image_whatever_the_threads_and_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (path, image) = (folder.path().join("t"), folder.path().join("t.oc"));
    let rows = table(400_000);
    for kind in kinds() {
        write(&path, &rows, kind);
        let large = runtime_under(2, 512 * MIB, None);
        let x = imported(&large, &path, &image).unwrap();
        assert_eq!(x.shape(), [400_000, 3]);
        let expected = bits(&compute(&large, &goals(&x)).unwrap().values);
        let elements = compute(&large, &[Goal::Value(x.clone())]).unwrap().values[0].to_vec();
        let found = compute(&large, &[Goal::Value(open(&large, &path).unwrap())]).unwrap();
        assert!(found.values[0].to_vec() == elements, "{kind:?}");
        let mut least_read = u64::MAX;
        for (threads, bytes) in [(1, 16 * MIB), (2, 20 * MIB), (3, 512 * MIB), (1, 512 * MIB)] {
            let runtime = runtime_under(threads, bytes, None);
            let x = open(&runtime, &path).unwrap();
            let plan = explain(&runtime, &goals(&x)).unwrap();
            assert!(plan.passes.len() == 1 && plan.passes[0].memory_bytes < bytes, "{plan}");
            assert!(plan.passes[0].reads[0].0.contains("decoded in every pass"), "{plan}");
            let found = compute(&runtime, &goals(&x)).unwrap();
            assert_eq!(bits(&found.values), expected, "{kind:?}, {threads} threads, {bytes} bytes");
            least_read = least_read.min(found.stats.total.bytes_read);
        }
        let size = std::fs::metadata(&path).unwrap().len();
        // The words are not read.
        assert!(least_read > size / 2 && least_read <= size, "{kind:?}: {least_read} of {size}");
    }
}

#[test]
fn the_kth_failure_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let rows = table(20_000);
    for kind in [
        Kind::Parquet { group_rows: 7000, page_rows: 2500, is_packed: true },
        Kind::Arrow { batch_rows: 9000, is_packed: false },
        Kind::Arrow { batch_rows: 9000, is_packed: true },
    ] {
        write(&path, &rows, kind);
        let run = |sim: &Arc<Sim>| {
            let runtime = runtime_under(2, 64 * MIB, Some(Arc::clone(sim) as Arc<dyn Backend>));
            let available_bytes = runtime.budget().available_bytes();
            let found = open(&runtime, &path).and_then(|x| Ok(bits(&compute(&runtime, &goals(&x))?.values)));
            assert_eq!(runtime.budget().available_bytes(), available_bytes, "{kind:?}: memory is given back");
            found
        };
        let expected = run(&Arc::new(Sim::new(Faults::default()))).unwrap();
        let (mut failed, mut unsaid) = (0, 0);
        for k in 0.. {
            let faults = Faults { fail_at: Some(k), short_reads_percent: 20, seed: k, ..Faults::default() };
            let sim = Arc::new(Sim::new(faults));
            match run(&sim) {
                Ok(found) => {
                    assert_eq!(found, expected, "{kind:?}, {k}");
                    if sim.operations() <= k {
                        break;
                    }
                    // The size of metadata is checked twice.
                    unsaid += 1;
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("Input/output error") && !text.contains("is truncated"), "{k}: {text}");
                    failed += 1;
                }
            }
        }
        assert!(failed >= 12 && unsaid <= 3, "{kind:?}: {failed} operations failed, {unsaid} unsaid");
    }
}

/// Damages each byte: a file that an import refuses is refused in place, and otherwise both have equal elements.
#[test]
fn damage_has_the_outcome_that_it_has_for_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let (path, image) = (folder.path().join("t"), folder.path().join("t.oc"));
    let runtime = runtime_under(1, 256 * MIB, Some(Arc::new(Sim::new(Faults::default())) as Arc<dyn Backend>));
    let (mut refused, mut right) = (0, 0);
    let mut different = Vec::new();
    for kind in [
        Kind::Parquet { group_rows: 40, page_rows: 20, is_packed: true },
        Kind::Parquet { group_rows: 64, page_rows: 64, is_packed: false },
        Kind::Arrow { batch_rows: 30, is_packed: false },
        Kind::Arrow { batch_rows: 64, is_packed: true },
    ] {
        write(&path, &table(64), kind);
        let good = std::fs::read(&path).unwrap();
        let mut damaged = |bytes: &[u8], what: &str| {
            std::fs::write(&path, bytes).unwrap();
            let all = |x: Result<Array>| {
                let x = x?;
                let shape = x.shape().to_vec();
                Ok::<_, Error>((shape, bits(&compute(&runtime, &[Goal::Value(x)])?.values)))
            };
            let (by_import, in_place) = (all(imported(&runtime, &path, &image)), all(open(&runtime, &path)));
            match (by_import, in_place) {
                (Ok(expected), Ok(found)) => {
                    different.extend((expected != found).then(|| format!("{what}: other elements")));
                    1
                }
                (Err(_), Err(_)) => 0,
                // Parts that are not read are not checked: columns of strings, and their description in a batch of all
                // columns.
                (Err(_), Ok(_)) => 0,
                // An import takes batches as they come, and does not look at what the table of contents lists.
                (Ok(_), Err(error)) if error.to_string().contains("table of contents") => 0,
                (Ok(_), Err(error)) => {
                    different.push(format!("{what}: refused in place alone: {error}"));
                    0
                }
            }
        };
        for at in (0..good.len()).step_by(STEP) {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            let is_right = damaged(&bytes, &format!("{kind:?}, byte {at}"));
            right += is_right;
            refused += 1 - is_right;
        }
        for len in (0..good.len()).step_by(397) {
            assert_eq!(damaged(&good[..len], &format!("{kind:?}, {len} bytes")), 0, "{kind:?}: a cut file is refused");
        }
    }
    assert!(different.is_empty(), "{} differ: {}", different.len(), different.join("\n"));
    println!("{refused} refused, {right} read");
    assert!(refused > 50 && right > 50, "{refused} refused, {right} read");
}

#[test]
fn few_columns_are_read_alone_and_any_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let rows = table(300_000);
    let column = |name: &str| {
        let column = rows.column_by_name(name).unwrap();
        column.as_any().downcast_ref::<Float64Array>().unwrap().clone()
    };
    let last = column("last");
    let runtime = runtime_under(2, 64 * MIB, None);
    for kind in kinds() {
        write(&path, &rows, kind);
        let x = open(&runtime, &path).unwrap();
        let part = |start: u64, step: i64, count: u64| {
            x.slice(&[Some(AxisPart::Range { start: start as i64, step, count }), Some(AxisPart::Index(2))]).unwrap()
        };
        for (start, step, count) in [(0, 1, 300_000), (299_999, -1, 300_000), (123_457, 1, 9), (5, 7, 40_000)] {
            let found = compute(&runtime, &[Goal::Value(part(start, step, count))]).unwrap();
            let expected = (0..count as i64).map(|i| last.value((start as i64 + step * i) as usize));
            let expected: Vec<u8> = expected.flat_map(f64::to_ne_bytes).collect();
            assert!(found.values[0].to_vec() == expected, "{kind:?}: {start}, {step}, {count}");
        }
        // Nine rows lie in one page; a batch that is compressed is read as a whole.
        let few = compute(&runtime, &[Goal::Value(part(123_457, 1, 9))]).unwrap().stats.total.bytes_read;
        assert!(few < 120_000, "{kind:?}: {few}");
    }
}

#[test]
fn rows_stay_in_order_whoever_parses_them() {
    let folder = tempfile::tempdir().unwrap();
    let (input, image) = (folder.path().join("t.csv"), folder.path().join("t.oc"));
    for (rows, last) in [(1, ""), (507, ""), (508, ""), (509, "7,.5\n"), (300_000, ""), (300_000, "7,\n")] {
        let mut text = String::from("a,b\n");
        (0..rows).for_each(|row| text += &format!("{row},{}\n", 3 * row % 1013));
        std::fs::write(&input, text + last).unwrap();
        let mut expected: Vec<f64> = (0..rows).flat_map(|row| [row, 3 * row % 1013]).map(f64::from).collect();
        match last {
            "" => {}
            "7,\n" => expected.extend([7.0, f64::NAN]),
            _ => expected.extend([7.0, 0.5]),
        }
        for threads in [1, 3] {
            let runtime = runtime_under(threads, 1024 * MIB, None);
            let options = ArrayImportOptions { replace: true, ..Default::default() };
            let report = import_array_file(&runtime, &input, &image, &options).unwrap();
            assert_eq!(report.names, Some(vec!["a".to_owned(), "b".to_owned()]));
            assert_eq!((report.rows, report.element == "int64"), (expected.len() as u64 / 2, last.is_empty()));
            let x = Array::from_source(Arc::new(ImageSource::open(&runtime, &image).unwrap())).unwrap();
            let found = compute(&runtime, &[Goal::Value(x)]).unwrap().values[0].to_vec();
            let found: Vec<f64> = match last {
                "" => found.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as f64).collect(),
                _ => found.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
            };
            assert!(found.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())), "{rows} {last}");
        }
    }
}

#[test]
fn the_first_mistake_is_reported_and_no_image_remains() {
    let folder = tempfile::tempdir().unwrap();
    let (input, image) = (folder.path().join("t.csv"), folder.path().join("t.oc"));
    let good = "1\n".repeat(600_000);
    std::fs::write(&input, format!("{good}x\n{good}y\n")).unwrap();
    for threads in [1, 3] {
        let error = import_array_file(&runtime_under(threads, 1024 * MIB, None), &input, &image, &Default::default())
            .unwrap_err();
        assert!(error.to_string().contains("600001: expected a number in column `1`, found `x`"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the table");
    }
    let stopped = runtime_under(2, 1024 * MIB, None);
    stopped.cancel().cancel();
    let error = import_array_file(&stopped, &input, &image, &Default::default()).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
}
