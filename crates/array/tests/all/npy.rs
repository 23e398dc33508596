//! Arrays in .npy files, read in place: by rows and by columns, of every type, in either order of bytes; and the
//! checksum of one in an archive, whose rows are read in any order.

use outcore_array::internal::Checksum;
use outcore_array::kernel::Fold;
use outcore_array::{Array, AxisPart, ElementType, Goal, InMemory, NpySource, compute};
use outcore_io::Runtime;
use outcore_testkit::runtime_under;
use std::path::Path;
use std::sync::Arc;

fn runtime(threads: usize) -> Runtime {
    runtime_under(threads, 160 << 20, None)
}

/// A file of NumPy's, of elements that follow from their row and column, and the elements row by row.
fn write(path: &Path, element: ElementType, shape: (u64, u64), by_columns: bool, big_endian: bool) -> Vec<u8> {
    let kind = match element {
        ElementType::Bool => "b1",
        ElementType::Int32 => "i4",
        ElementType::UInt16 => "u2",
        ElementType::Float32 => "f4",
        _ => "f8",
    };
    let one = |row: u64, column: u64| {
        let number = (row * 31 + column * 7) % 1000;
        match element {
            ElementType::Bool => vec![u8::from(number > 500)],
            ElementType::Int32 => (number as i32 - 500).to_ne_bytes().to_vec(),
            ElementType::UInt16 => (number as u16).to_ne_bytes().to_vec(),
            ElementType::Float32 => (number as f32 / 4.0).to_ne_bytes().to_vec(),
            _ => (number as f64 / 4.0).to_ne_bytes().to_vec(),
        }
    };
    let rows: Vec<Vec<u8>> =
        (0..shape.0).flat_map(|row| (0..shape.1).map(move |column| (row, column))).map(|(r, c)| one(r, c)).collect();
    let stored: Vec<Vec<u8>> = match by_columns {
        true => (0..shape.1).flat_map(|column| (0..shape.0).map(move |row| one(row, column))).collect(),
        false => rows.clone(),
    };
    let swapped = stored.into_iter().flat_map(|mut bytes| {
        if big_endian {
            bytes.reverse();
        }
        bytes
    });
    let order = if big_endian { '>' } else { '<' };
    let by_columns = if by_columns { "True" } else { "False" };
    let head = format!("{{'descr': '{order}{kind}', 'fortran_order': {by_columns}, 'shape': {shape:?}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.extend(swapped);
    std::fs::write(path, bytes).unwrap();
    // A file that was written to just now is not cached.
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(earlier).unwrap();
    rows.concat()
}

#[test]
fn files_of_numpy_are_read_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let types =
        [ElementType::Bool, ElementType::Int32, ElementType::UInt16, ElementType::Float32, ElementType::Float64];
    for element in types {
        for shape in [(0, 3), (1, 1), (507, 2), (5000, 5), (70_000, 1), (3000, 300)] {
            for (by_columns, big_endian) in [(false, false), (true, false), (false, true), (true, true)] {
                let rows = write(&path, element, shape, by_columns, big_endian);
                let runtime = runtime(2);
                let x = Array::from_source(Arc::new(NpySource::open(&runtime, &path).unwrap())).unwrap();
                assert_eq!((x.element(), x.shape()), (element, &[shape.0, shape.1][..]));
                let all = AxisPart::Range { start: 0, step: 1, count: shape.1 };
                let back = AxisPart::Range { start: shape.0.max(1) as i64 - 1, step: -1, count: shape.0 };
                let part = AxisPart::Range { start: 0, step: 3, count: shape.0.div_ceil(3) };
                let goals = [
                    x.clone(),
                    x.slice(&[Some(back), Some(all)]).unwrap(),
                    x.slice(&[Some(part), Some(all)]).unwrap(),
                    x.cast(ElementType::Int64).unwrap().fold(Fold::Sum, &[0], false).unwrap(),
                ]
                .map(Goal::Value);
                let found = compute(&runtime, &goals).unwrap().values;
                let row_bytes = shape.1 as usize * element.bytes();
                let lines: Vec<&[u8]> = rows.chunks(row_bytes).collect();
                let reversed: Vec<u8> = lines.iter().rev().flat_map(|line| line.to_vec()).collect();
                let third: Vec<u8> = lines.iter().step_by(3).flat_map(|line| line.to_vec()).collect();
                let same = |found: &InMemory, expected: &[u8]| {
                    assert!(found.to_vec() == expected, "{element:?} {shape:?} {by_columns} {big_endian}");
                };
                same(&found[0], &rows);
                same(&found[1], &reversed);
                same(&found[2], &third);
                assert_eq!(found[3].shape(), [shape.1]);
            }
        }
    }
}

/// From the second pass on, turned rows are in the cache: the same bits, fewer reads, and none of a file that changed.
#[test]
fn rows_that_were_turned_are_cached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let cases = [
        (ElementType::Float64, (30_000, 9), false),
        (ElementType::Float64, (2_000, 700), true),
        (ElementType::Float32, (30_000, 9), false),
        (ElementType::UInt16, (30_000, 17), true),
        (ElementType::Bool, (40_000, 3), false),
        (ElementType::Float32, (9_000, 256), false),
    ];
    for (element, shape, big_endian) in cases {
        let rows = write(&path, element, shape, false, big_endian);
        let runtime = runtime_under(2, 160 << 20, None);
        let x = Array::from_source(Arc::new(NpySource::open(&runtime, &path).unwrap())).unwrap();
        let rows_from = |start: i64, count: u64| Some(AxisPart::Range { start, step: 1, count });
        let goals = [(0, shape.0), (7, shape.0 - 9), (0, 5)]
            .map(|(start, count)| x.slice(&[rows_from(start, count), rows_from(0, shape.1)]).unwrap())
            .map(Goal::Value);
        let (row_bytes, mut read) = (shape.1 as usize * element.bytes(), Vec::new());
        for _ in 0..4 {
            let computed = compute(&runtime, &goals).unwrap();
            let parts = [0..shape.0, 7..shape.0 - 2, 0..5].map(|rows| rows.start as usize..rows.end as usize);
            for (value, part) in computed.values.iter().zip(parts) {
                let expected = &rows[part.start * row_bytes..part.end * row_bytes];
                assert!(value.to_vec() == expected, "{element:?} {shape:?}");
            }
            read.push(computed.stats.total.bytes_read);
        }
        assert!(read[0] >= rows.len() as u64 && read[2] < read[0], "{element:?} {shape:?}: {read:?}");
        let runtime = runtime_under(1, 160 << 20, None);
        let x = Array::from_source(Arc::new(NpySource::open(&runtime, &path).unwrap())).unwrap();
        let value = || compute(&runtime, &[Goal::Value(x.clone())]).unwrap().values[0].to_vec();
        (0..3).for_each(|_| assert!(value() == rows));
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - rows.len();
        bytes[last..].fill(0);
        std::fs::write(&path, bytes).unwrap();
        assert!(value().iter().all(|&byte| byte == 0), "numbers of a file that changed");
        assert!(value().iter().all(|&byte| byte == 0), "numbers of a file that changed");
    }
}

/// Slices of rows begin and end within groups, forwards, backwards and in steps: from the third pass on none is read.
#[test]
fn slices_are_cached_as_whole_files_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let cases = [
        (ElementType::Float64, (40_000, 9), false),
        (ElementType::Float32, (40_000, 9), true),
        (ElementType::UInt16, (60_000, 17), false),
        (ElementType::Bool, (100_000, 3), false),
    ];
    for (element, shape, big_endian) in cases {
        let rows = write(&path, element, shape, false, big_endian);
        let count = shape.0 - 9;
        for (start, step, count) in [(7, 1, count), (shape.0 as i64 - 3, -1, count), (5, 3, count / 3)] {
            let runtime = runtime(2);
            let x = Array::from_source(Arc::new(NpySource::open(&runtime, &path).unwrap())).unwrap();
            let columns = AxisPart::Range { start: 0, step: 1, count: shape.1 };
            let slice = x.slice(&[Some(AxisPart::Range { start, step, count }), Some(columns)]).unwrap();
            let row_bytes = shape.1 as usize * element.bytes();
            let row = |i: u64| &rows[(start + step * i as i64) as usize * row_bytes..][..row_bytes];
            let expected: Vec<u8> = (0..count).flat_map(|i| row(i).iter().copied()).collect();
            let read: Vec<u64> = (0..4)
                .map(|_| {
                    let computed = compute(&runtime, &[Goal::Value(slice.clone())]).unwrap();
                    assert!(computed.values[0].to_vec() == expected, "{element:?} {start} {step}");
                    computed.stats.total.bytes_read
                })
                .collect();
            assert!(read[0] > 0 && read[2..] == [0, 0], "{element:?} {start} {step}: {read:?}");
        }
    }
}

/// A cache that holds a part of the rows: the same sums, fewer reads.
#[test]
fn a_part_of_the_rows_is_cached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    write(&path, ElementType::Float64, (200_000, 9), false, false);
    let mut found = Vec::new();
    for bytes in [160 << 20, 26 << 20] {
        let runtime = runtime_under(2, bytes, None);
        let x = Array::from_source(Arc::new(NpySource::open(&runtime, &path).unwrap())).unwrap();
        let goals = [Fold::Sum, Fold::Min].map(|fold| Goal::Value(x.fold(fold, &[0], false).unwrap()));
        let passes: Vec<_> = (0..4).map(|_| compute(&runtime, &goals).unwrap()).collect();
        found.extend(passes.iter().map(|pass| pass.values[0].to_vec()));
        let read: Vec<u64> = passes.iter().map(|pass| pass.stats.total.bytes_read).collect();
        let least = if bytes > 100 << 20 { 0..=0 } else { 1..=read[0] * 9 / 10 };
        assert!(read[0] == read[1] && read[2] == read[3] && least.contains(&read[3]), "{bytes}: {read:?}");
    }
    assert!(found.iter().all(|sums| *sums == found[0]));
}

#[test]
fn files_that_are_too_short_or_not_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    write(&path, ElementType::Float64, (1000, 2), false, false);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(NpySource::open(&runtime(1), &path).is_err());
    let text = String::from_utf8_lossy(&bytes[..80]).replace("<f8", "<c8");
    let mut other = text.into_bytes();
    other.extend(&bytes[80..]);
    std::fs::write(&path, other).unwrap();
    assert!(NpySource::open(&runtime(1), &path).is_err());
    assert!(NpySource::open(&runtime(1), folder.path().join("none.npy")).is_err());
    // A file that becomes shorter while it is open.
    std::fs::write(&path, &bytes).unwrap();
    let runtime = runtime(2);
    let x = Array::from_source(Arc::new(NpySource::open(&runtime, &path).unwrap())).unwrap();
    std::fs::write(&path, &bytes[..5000]).unwrap();
    let outcome = compute(&runtime, &[Goal::Value(x.fold(Fold::Sum, &[0], false).unwrap())]);
    assert!(outcome.unwrap_err().to_string().contains("too early"));
}

#[test]
fn parts_in_any_order_make_the_whole() {
    let bytes: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(7)).collect();
    let right = crc32fast::hash(&bytes);
    let head = (crc32fast::hash(&bytes[..10]), 10);
    let parts = |checksum: &Checksum| -> Vec<Result<(), (u32, u32)>> {
        let all = [60..90, 20..60, 20..60, 0..20, 5..7];
        all.map(|rows| checksum.add(&(rows.start as u64..rows.end as u64), &bytes[rows.start + 10..rows.end + 10]))
            .to_vec()
    };
    assert_eq!(parts(&Checksum::new(head, right, 90)), [Ok(()); 5]);
    let wrong = Err((right ^ 1, right));
    assert_eq!(parts(&Checksum::new(head, right ^ 1, 90)), [Ok(()), Ok(()), Ok(()), wrong, wrong]);
}
