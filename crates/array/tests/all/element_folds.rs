//! Folds of elements by functions of the user's, against loops over partitions that are known.

use outcore_array::kernel::{Element, Scalar, Values, ValuesMut};
use outcore_array::{
    Array, AxisPart, Bytes, Distribution, ElementFold, ElementType, Goal, ImageGoal, ImageSource, InMemory, Random,
    compute, element_fold, explain,
};
use outcore_image::{Error, Result};
use outcore_io::Runtime;
use outcore_testkit::runtime_under;
use std::path::Path;
use std::sync::Arc;

const MIB: u64 = 1 << 20;
/// The rows of a partition of arrays in memory.
const PARTITION: usize = 64 * 508;

fn runtime(bytes: u64, threads: usize) -> Runtime {
    runtime_under(threads, bytes, None)
}

fn of<T: Element>(elements: &[T], shape: &[usize]) -> Array {
    let bytes: &[u8] = bytemuck::cast_slice(elements);
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    let shape = shape.iter().map(|&size| size as u64).collect();
    Array::from_memory(InMemory::new(Arc::new(words) as Arc<dyn Bytes>, T::TYPE, shape))
}

fn values<T: Element>(runtime: &Runtime, array: &Array) -> Result<Vec<T>> {
    assert_eq!(array.element(), T::TYPE);
    let bytes = compute(runtime, &[Goal::Value(array.clone())])?.values[0].to_vec();
    Ok(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}

/// A fold whose result tells the order of all calls.
fn add(result: i64, x: i64) -> i64 {
    result.wrapping_mul(31).wrapping_add(x)
}

fn merge(before: i64, behind: i64) -> i64 {
    before.wrapping_mul(1_000_003) ^ behind.rotate_left(17)
}

fn ordered() -> Arc<dyn ElementFold> {
    Arc::new(element_fold("ordered", 7i64, add, merge))
}

/// The result of elements in order: of each partition, and then merged.
fn expected(partitions: impl IntoIterator<Item = Vec<i64>>) -> i64 {
    let folded = partitions.into_iter().map(|own| own.into_iter().fold(7, add));
    folded.reduce(merge).unwrap_or(7)
}

#[test]
fn calls_go_in_the_order_of_rows_and_of_partitions() {
    for rows in [1, 507, 509, PARTITION, PARTITION + 1, 3 * PARTITION - 5] {
        let elements: Vec<i64> = (0..3 * rows as i64).map(|i| (i * i) % 1_000_033 - 500_000).collect();
        let x = of(&elements, &[rows, 3]);
        let parts = || elements.chunks(3 * PARTITION);
        let columns: Vec<i64> =
            (0..3).map(|k| expected(parts().map(|part| part.iter().skip(k).step_by(3).copied().collect()))).collect();
        let all = expected(parts().map(<[i64]>::to_vec));
        for threads in [1, 2, 3] {
            let runtime = runtime(64 * MIB, threads);
            let by_rows = x.fold_elements(ordered(), Some(0)).unwrap();
            assert_eq!(by_rows.shape(), [3]);
            assert_eq!(values::<i64>(&runtime, &by_rows).unwrap(), columns, "{rows} rows");
            let transposed = x.permute(&[1, 0]).unwrap().fold_elements(ordered(), Some(1)).unwrap();
            assert_eq!(values::<i64>(&runtime, &transposed).unwrap(), columns, "{rows} rows");
            let whole = x.fold_elements(ordered(), None).unwrap();
            assert!(whole.shape().is_empty());
            if rows > 200 {
                assert_eq!(values::<i64>(&runtime, &whole).unwrap(), [all], "{rows} rows");
            }
            let vector = of(&elements[..rows], &[rows]).fold_elements(ordered(), Some(0)).unwrap();
            let own = expected(elements[..rows].chunks(PARTITION).map(<[i64]>::to_vec));
            assert!(vector.shape().is_empty());
            assert_eq!(values::<i64>(&runtime, &vector).unwrap(), [own]);
        }
    }
}

#[test]
fn more_axes_and_other_orders_of_axes() {
    let (rows, a, b) = (2000, 2, 3);
    let elements: Vec<i64> = (0..(rows * a * b) as i64).map(|i| i * 7919 % 104_729).collect();
    let x = of(&elements, &[rows, a, b]);
    let runtime = runtime(64 * MIB, 2);
    let columns: Vec<i64> = (0..a * b).map(|k| elements.iter().skip(k).step_by(a * b).copied().fold(7, add)).collect();
    let found = x.fold_elements(ordered(), Some(0)).unwrap();
    assert_eq!((found.shape(), values::<i64>(&runtime, &found).unwrap()), (&[2, 3][..], columns.clone()));
    // The rows come last: results keep the order of the other axes.
    let last = x.permute(&[2, 1, 0]).unwrap().fold_elements(ordered(), Some(2)).unwrap();
    let swapped: Vec<i64> = (0..b).flat_map(|k| (0..a).map(move |i| (i, k))).map(|(i, k)| columns[i * b + k]).collect();
    assert_eq!((last.shape(), values::<i64>(&runtime, &last).unwrap()), (&[3, 2][..], swapped));
    // Rows backwards, and every other one.
    let part = AxisPart::Range { start: rows as i64 - 1, step: -2, count: 1000 };
    let whole = |size| Some(AxisPart::Range { start: 0, step: 1, count: size });
    let backwards = x.slice(&[Some(part), whole(2), whole(3)]).unwrap().fold_elements(ordered(), None).unwrap();
    let in_order: Vec<i64> = elements.chunks(a * b).rev().step_by(2).flat_map(|row| row.iter().copied()).collect();
    assert_eq!(values::<i64>(&runtime, &backwards).unwrap(), [expected([in_order])]);
    let refused = x.fold_elements(ordered(), Some(3)).unwrap_err().to_string();
    assert!(refused.contains("expected an axis of an array of 3 axes, found 3"), "{refused}");
}

/// Elements of a type are folded exactly into results of another one.
fn exact<T: Element, R: Element + std::fmt::Debug>(elements: Vec<T>, initial: R, with: fn(R, T) -> R) {
    let rows = elements.len();
    let merge = move |_before: R, behind: R| behind;
    let fold = Arc::new(element_fold("with", initial, with, merge));
    let x = of(&elements, &[rows]);
    let last = elements[(rows - 1) / PARTITION * PARTITION..].iter().fold(initial, |result, &x| with(result, x));
    let found = values::<R>(&runtime(64 * MIB, 2), &x.fold_elements(fold, Some(0)).unwrap()).unwrap();
    assert_eq!(found, [last]);
}

#[test]
fn all_types_are_exact() {
    let rows = PARTITION as i64 + 600;
    exact((0..rows).map(|i| i + (1 << 60) + 1).collect(), 0i64, |a, x: i64| a.max(x));
    exact((0..rows as u64).map(|i| u64::MAX - i).collect(), 0u64, |a, x: u64| a.wrapping_add(x));
    exact((0..rows).map(|i| i as i8).collect(), 0i16, |a, x: i8| a.wrapping_sub(i16::from(x)));
    exact((0..rows).map(|i| i as u8).collect(), 0u8, |a, x: u8| a.wrapping_add(x));
    exact((0..rows).map(|i| i as i16).collect(), 0i8, |a, x: i16| a ^ x as i8);
    exact((0..rows).map(|i| i as u16).collect(), 0u32, |a, x: u16| a + u32::from(x));
    exact((0..rows).map(|i| i as i32).collect(), 0.5f32, |a, x: i32| a * 0.99 + x as f32);
    exact((0..rows).map(|i| i as u32).collect(), 0.5f64, |a, x: u32| a * 0.99 + f64::from(x));
    exact((0..rows).map(|i| i as f32).collect(), 0i32, |a, x: f32| a.wrapping_add(x as i32));
    exact((0..rows).map(|i| i as f64 * 0.1).collect(), -0.0f64, |_, x: f64| -x * 0.0);
    exact((0..rows).map(|i| (i % 3) as u8).collect(), 0u16, |a, x: u8| a + u16::from(x == 0));
}

#[test]
fn rows_are_folded_by_their_labels() {
    let (rows, groups) = (PARTITION * 2 + 77, 5usize);
    let elements: Vec<i64> = (0..2 * rows as i64).map(|i| i * i % 1_000_003).collect();
    let labels: Vec<i16> = (0..rows).map(|i| [0, 3, 1, 3][i % 4] + i16::from(i % 977 == 0)).collect();
    let (x, names) = (of(&elements, &[rows, 2]), of(&labels, &[rows]));
    let mut wanted = Vec::new();
    for group in 0..groups {
        for column in 0..2 {
            let parts = (0..rows).collect::<Vec<_>>();
            let own = parts.chunks(PARTITION).map(|part| {
                let mine = part.iter().filter(|&&row| labels[row] as usize == group);
                mine.map(|&row| elements[2 * row + column]).collect()
            });
            wanted.push(expected(own));
        }
    }
    for threads in [1, 2] {
        let runtime = runtime(64 * MIB, threads);
        let found = x.group_fold_elements(ordered(), &names, groups as u64).unwrap();
        assert_eq!((found.shape(), values::<i64>(&runtime, &found).unwrap()), (&[5, 2][..], wanted.clone()));
        // A vector, of which the first column is one.
        let all = Some(AxisPart::Range { start: 0, step: 1, count: rows as u64 });
        let column = x.slice(&[all, Some(AxisPart::Index(0))]).unwrap();
        let found = column.group_fold_elements(ordered(), &names, groups as u64).unwrap();
        let firsts: Vec<i64> = wanted.iter().step_by(2).copied().collect();
        assert_eq!((found.shape(), values::<i64>(&runtime, &found).unwrap()), (&[5][..], firsts));
        let refused = values::<i64>(&runtime, &x.group_fold_elements(ordered(), &names, 4).unwrap()).unwrap_err();
        let first = labels.iter().position(|&label| label > 3).unwrap();
        assert!(refused.to_string().ends_with(&format!("which is 4, found 4 in row {first}")), "{refused}");
    }
    let refused = x.group_fold_elements(ordered(), &names.cast(ElementType::Float64).unwrap(), 5).unwrap_err();
    assert!(refused.to_string().contains("labels of whole numbers"), "{refused}");
}

#[test]
fn no_rows_give_what_a_fold_begins_with() {
    let runtime = runtime(64 * MIB, 2);
    let none = of::<i64>(&[], &[0, 3]);
    assert_eq!(values::<i64>(&runtime, &none.fold_elements(ordered(), Some(0)).unwrap()).unwrap(), [7, 7, 7]);
    assert_eq!(values::<i64>(&runtime, &none.fold_elements(ordered(), None).unwrap()).unwrap(), [7]);
    let labels = of::<u8>(&[], &[0]);
    let grouped = none.group_fold_elements(ordered(), &labels, 2).unwrap();
    assert_eq!((grouped.shape(), values::<i64>(&runtime, &grouped).unwrap()), (&[2, 3][..], vec![7; 6]));
    let groups = of(&[1i64, 2], &[2, 1]).group_fold_elements(ordered(), &of(&[0u8, 0], &[2]), 0).unwrap();
    assert!(values::<i64>(&runtime, &groups).unwrap_err().to_string().contains("number of groups, which is 0"));
    // Rows without columns.
    let bare = of::<i64>(&[], &[5, 0]);
    assert_eq!(values::<i64>(&runtime, &bare.fold_elements(ordered(), Some(0)).unwrap()).unwrap(), Vec::<i64>::new());
    assert_eq!(values::<i64>(&runtime, &bare.fold_elements(ordered(), None).unwrap()).unwrap(), [7]);
    // A single number.
    let one = Array::scalar(Scalar::Int64(5)).fold_elements(ordered(), None).unwrap();
    assert_eq!(values::<i64>(&runtime, &one).unwrap(), [add(7, 5)]);
}

#[test]
fn panics_are_errors_with_the_name_of_the_fold() {
    let x = of(&(0..3 * PARTITION as i64).collect::<Vec<_>>(), &[3 * PARTITION]);
    for threads in [1, 2] {
        let runtime = runtime(64 * MIB, threads);
        let folds: [(Arc<dyn ElementFold>, &str); 3] = [
            (
                Arc::new(element_fold("adds", 0i64, |_, x: i64| if x == 40_000 { panic!("at {x}") } else { x }, merge)),
                "expected adds to return, found that it panicked: at 40000",
            ),
            (
                Arc::new(element_fold("merges", 0i64, add, |_: i64, _: i64| -> i64 { panic!("no") })),
                "expected merges to return, found that it panicked: no",
            ),
            (
                Arc::new(element_fold("of reals", 0i64, |a: i64, _: f64| a, merge)),
                "expected of reals to return, found that it panicked: a vector of int64 where float64 is due",
            ),
        ];
        for (fold, text) in folds {
            let error = values::<i64>(&runtime, &x.fold_elements(fold, Some(0)).unwrap()).unwrap_err();
            assert!(matches!(error, Error::Usage(_)), "{error}");
            assert_eq!(error.to_string(), text);
        }
        // A single partition is not merged.
        let merges = Arc::new(element_fold("merges", 7i64, add, |_: i64, _: i64| -> i64 { panic!("no") }));
        let part = x.slice(&[Some(AxisPart::Range { start: 0, step: 1, count: 600 })]).unwrap();
        let found = values::<i64>(&runtime, &part.fold_elements(merges, Some(0)).unwrap()).unwrap();
        assert_eq!(found, [(0..600).fold(7, add)]);
    }
}

/// A fold that says where it fails.
struct Failing;

impl ElementFold for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn initial(&self) -> Scalar {
        Scalar::Int64(0)
    }

    fn add(&self, vectors: &[Values<'_>], _labels: Option<&[i64]>, results: ValuesMut<'_>) -> Result<()> {
        i64::slice_mut(results)[0] = i64::slice(vectors[0])[0] / PARTITION as i64;
        Ok(())
    }

    fn merge(&self, _before: Values<'_>, behind: Values<'_>, results: ValuesMut<'_>) -> Result<()> {
        i64::slice_mut(results).copy_from_slice(i64::slice(behind));
        match i64::slice(behind)[0] {
            partition @ 3.. => Err(Error::Usage(format!("partition {partition} is not merged"))),
            _ => Ok(()),
        }
    }
}

#[test]
fn the_first_partition_that_cannot_be_merged_is_the_error() {
    let x = of(&(0..9 * PARTITION as i64).collect::<Vec<_>>(), &[9 * PARTITION]);
    for threads in [1, 2, 3, 3, 3] {
        let sum = x.fold_elements(Arc::new(Failing), Some(0)).unwrap();
        let error = values::<i64>(&runtime(64 * MIB, threads), &sum).unwrap_err();
        assert_eq!(error.to_string(), "partition 3 is not merged");
    }
}

fn open(runtime: &Runtime, path: &Path) -> Array {
    Array::from_source(Arc::new(ImageSource::open(runtime, path).unwrap())).unwrap()
}

#[test]
fn an_image_four_times_the_limit_is_folded_in_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let (rows, columns, groups) = (1_100_000, 12, 1000);
    let random = |shape| Array::random(shape, Random { distribution: Distribution::Normal, seed: 1 }).unwrap();
    let array = random(vec![rows, columns]);
    let image = ImageGoal { array, path: path.clone(), replace: false, names: None, made_by: "a test" };
    compute(&runtime(64 * MIB, 2), &[Goal::Image(image)]).unwrap();
    // Sums of which every order has others.
    let sum = || Arc::new(element_fold("sum", 0.0f64, |a, x: f64| a * 0.999 + x, |a, b| a * 0.5 + b));
    let goals = |runtime: &Runtime| {
        let x = open(runtime, &path);
        let labels = Array::range(Scalar::Int64(0), Scalar::Int64(1), rows).unwrap();
        let labels = labels.binary(outcore_array::kernel::Binary::Remainder, &of(&[groups], &[1])).unwrap();
        vec![
            Goal::Value(x.fold_elements(sum(), Some(0)).unwrap()),
            Goal::Value(x.fold_elements(sum(), None).unwrap()),
            Goal::Value(x.group_fold_elements(sum(), &labels, groups as u64).unwrap()),
        ]
    };
    let mut bits = Vec::new();
    for (limit_bytes, threads) in [(26 * MIB, 1), (26 * MIB, 2), (400 * MIB, 2), (400 * MIB, 3)] {
        let runtime = runtime(limit_bytes, threads);
        let plan = explain(&runtime, &goals(&runtime)).unwrap();
        assert_eq!(plan.passes.len(), 1, "{plan}");
        let computed = compute(&runtime, &goals(&runtime)).unwrap();
        let file_bytes = std::fs::metadata(path.join("values.pages")).unwrap().len();
        assert!(file_bytes > 4 * 26 * MIB - 4 * MIB && computed.stats.total.bytes_read <= file_bytes);
        assert!(computed.stats.total.bytes_read > file_bytes - MIB, "all pages are read");
        bits.push(computed.values.iter().map(InMemory::to_vec).collect::<Vec<_>>());
    }
    assert!(bits.iter().all(|own| *own == bits[0]), "results differ");
    let refused = compute(&runtime(26 * MIB, 2), &{
        let x = open(&runtime(26 * MIB, 2), &path);
        let labels = Array::full(vec![rows], Scalar::Int64(0)).unwrap();
        vec![Goal::Value(x.group_fold_elements(sum(), &labels, 1 << 20).unwrap())]
    });
    assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
}
