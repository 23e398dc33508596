//! Rows that lie far apart are read one by one: bytes, memory, and the same elements.

use outcore_array::kernel::{Binary, Fold, Scalar};
use outcore_array::{
    Array, AxisPart, Computed, Distribution, ElementType, Goal, ImageGoal, ImageSource, InMemory, Random, compute,
    explain,
};
use outcore_io::Runtime;
use outcore_testkit::runtime_under;
use std::path::Path;
use std::sync::Arc;

const MIB: u64 = 1 << 20;
const ROWS: u64 = 200_000;
const COLUMNS: u64 = 40;
const ROW_BYTES: u64 = COLUMNS * 4096;

fn store(runtime: &Runtime, array: &Array, path: &Path) -> Computed {
    let (array, path) = (array.clone(), path.to_owned());
    let image = ImageGoal { array, path, replace: true, names: None, made_by: "a test" };
    compute(runtime, &[Goal::Image(image)]).unwrap()
}

fn whole(array: Array) -> Goal {
    Goal::Value(array)
}

/// Rows of all columns, or of some.
fn part(x: &Array, (start, step, count): (i64, i64, u64), columns: (i64, u64)) -> Array {
    let columns = AxisPart::Range { start: columns.0, step: 1, count: columns.1 };
    x.slice(&[Some(AxisPart::Range { start, step, count }), Some(columns)]).unwrap()
}

fn bits(computed: &Computed) -> Vec<Vec<u8>> {
    computed.values.iter().map(InMemory::to_vec).collect()
}

#[test]
fn rows_far_apart_are_read_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let large = runtime_under(2, 512 * MIB, None);
    let made = Array::random(vec![ROWS, COLUMNS], Random { distribution: Distribution::Normal, seed: 5 }).unwrap();
    store(&large, &made, &path);
    let (all, last) = ((0, COLUMNS), ROWS as i64 - 1);
    // Rows and columns, and the bytes that are read: where there are two places, each is read.
    let cases = [
        ((0, last, 2), all, 2 * ROW_BYTES),
        ((last, -last, 2), all, 2 * ROW_BYTES),
        ((3, 5000, 40), all, 40 * ROW_BYTES),
        ((last, -1016, 100), all, 100 * ROW_BYTES),
        ((507, 1017, 150), (7, 3), 150 * 3 * 4096),
    ];
    for threads in [1, 2, 3] {
        for (rows, columns, bytes_read) in cases {
            let small = runtime_under(threads, 16 * MIB, None);
            let x = Array::from_source(Arc::new(ImageSource::open(&small, &path).unwrap())).unwrap();
            let goals = |x: &Array| {
                let picked = part(x, rows, columns);
                [whole(picked.fold(Fold::Max, &[0], false).unwrap()), whole(picked)]
            };
            let plan = explain(&small, &goals(&x)).unwrap();
            assert_eq!(plan.passes[0].reads.iter().map(|read| read.1).sum::<u64>(), bytes_read, "{plan}");
            assert!(plan.passes[0].memory_bytes < 12 * MIB, "{plan}");
            let found = compute(&small, &goals(&x)).unwrap();
            assert_eq!(found.stats.total.bytes_read, bytes_read, "{rows:?}");
            assert_eq!(bits(&found), bits(&compute(&large, &goals(&made)).unwrap()), "{rows:?} {columns:?}");
        }
    }
}

#[test]
fn rows_of_several_places_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let large = runtime_under(2, 512 * MIB, None);
    let made = Array::random(vec![ROWS, COLUMNS], Random { distribution: Distribution::Normal, seed: 6 }).unwrap();
    store(&large, &made, &path);
    let small = runtime_under(2, 20 * MIB, None);
    let x = Array::from_source(Arc::new(ImageSource::open(&small, &path).unwrap())).unwrap();
    let all = (0, COLUMNS);
    let sum = |x: &Array, one, other| part(x, one, all).binary(Binary::Add, &part(x, other, all)).unwrap();
    // Groups of pages have 508 rows.
    let half = 508 * 190;
    let goals = |x: &Array| {
        let near = sum(x, (0, 4000, 50), (1, 4000, 50));
        let apart = sum(x, (0, 4000, 50), (199_999, -3000, 50));
        let joined = Array::join(&[part(x, (9, 2000, 20), all), part(x, (0, 1, 30), all)], 0).unwrap();
        [whole(near), whole(apart), whole(joined)]
    };
    let found = compute(&small, &goals(&x)).unwrap();
    assert_eq!(bits(&found), bits(&compute(&large, &goals(&made)).unwrap()));
    // The first rows are read once for both sums; what is cached is not read.
    assert_eq!(4096 * found.stats.total.pages_wanted, (3 * 50 + 20) * ROW_BYTES + ROW_BYTES);
    // Halves of a file are read apart, and each row once.
    let halves =
        |x: &Array| [whole(sum(x, (0, 1, half), (half as i64, 1, half)).fold(Fold::Max, &[0], false).unwrap())];
    let found = compute(&small, &halves(&x)).unwrap();
    assert_eq!(bits(&found), bits(&compute(&large, &halves(&made)).unwrap()));
    assert_eq!(found.stats.total.bytes_read, 2 * 190 * ROW_BYTES);
}

#[test]
fn rows_far_apart_are_stored_and_damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("x.oc"), folder.path().join("y.oc"));
    let runtime = runtime_under(2, 64 * MIB, None);
    let numbers =
        Array::range(Scalar::Int64(0), Scalar::Int64(1), 1_000_000).unwrap().cast(ElementType::Float32).unwrap();
    store(&runtime, &numbers, &path);
    let open = |path: &Path| Array::from_source(Arc::new(ImageSource::open(&runtime, path).unwrap())).unwrap();
    let rows = AxisPart::Range { start: 1, step: 20_000, count: 50 };
    store(&runtime, &open(&path).slice(&[Some(rows)]).unwrap(), &other);
    let found = compute(&runtime, &[whole(open(&other).cast(ElementType::Int64).unwrap())]).unwrap();
    let expected: Vec<u8> = (0..50i64).flat_map(|i| (1 + 20_000 * i).to_ne_bytes()).collect();
    assert_eq!(bits(&found), [expected]);
    // A page that is not wanted, and one that is; a page has 1016 rows.
    let pages = path.join("values.pages");
    let mut bytes = std::fs::read(&pages).unwrap();
    for (row, is_wanted) in [(30_000, false), (40_001, true)] {
        bytes[4096 * (row / 1016) + 100] ^= 1;
        std::fs::write(&pages, &bytes).unwrap();
        let picked = open(&path).slice(&[Some(rows)]).unwrap();
        assert_eq!(compute(&runtime, &[whole(picked)]).is_err(), is_wanted, "row {row}");
    }
}
