//! Arrays eight times as large as the memory limit: passes, bytes and memory, the same bits whatever the limits.

use outcore_array::kernel::{Binary, Fold, Scalar, Unary};
use outcore_array::{
    Array, ArraySource, AxisPart, Computed, Distribution, ElementFunction, ElementType, Goal, ImageGoal, ImageSource,
    InMemory, Landed, Random, SourceReader, compute, explain,
};
use outcore_image::{Error, Result, SweepStats};
use outcore_io::Runtime;
use outcore_io::backend::{Backend, Posix};
use outcore_testkit::runtime_under;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

const MIB: u64 = 1 << 20;
const COLUMNS: u64 = 12;

fn runtime() -> Runtime {
    runtime_under(2, 256 * MIB, None)
}

fn normal(rows: u64, columns: u64, seed: u64) -> Array {
    Array::random(vec![rows, columns], Random { distribution: Distribution::Normal, seed }).unwrap()
}

fn store(runtime: &Runtime, array: &Array, path: &Path) -> Result<Computed> {
    let image =
        ImageGoal { array: array.clone(), path: path.to_owned(), replace: true, names: None, made_by: "a test" };
    compute(runtime, &[Goal::Image(image)])
}

fn open(runtime: &Runtime, path: &Path) -> Result<Array> {
    Array::from_source(Arc::new(ImageSource::open(runtime, path)?))
}

fn number(value: f64) -> Array {
    Array::scalar(Scalar::Float64(value))
}

#[test]
fn few_columns_of_a_wide_image_take_memory_for_those() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let (rows, columns, limit) = (600, 10_000, 24 * MIB);
    let large = runtime_under(1, 1024 * MIB, None);
    let virtual_x = normal(rows, columns, 3);
    store(&large, &virtual_x, &path).unwrap();
    let small = runtime_under(2, limit, None);
    // Columns, from which row on, and how many pages of a group hold them and what lies between.
    let cases: [(&[i64], i64, u64); 5] =
        [(&[3], 0, 1), (&[3, 9000], 0, 2), (&[9000, 3, 5], 0, 4), (&[3], 7, 1), (&[9999, 0], 1, 2)];
    for (places, first_row, pages) in cases {
        let x = open(&small, &path).unwrap();
        let goals = |x: &Array| -> Vec<Goal> {
            let of = |&place: &i64| {
                let rows = AxisPart::Range { start: first_row, step: 1, count: rows - first_row as u64 };
                let column = x.slice(&[Some(rows), Some(AxisPart::Index(place))]).unwrap();
                [Fold::Min, Fold::Max].map(|fold| Goal::Value(column.fold(fold, &[0], false).unwrap()))
            };
            places.iter().flat_map(of).collect()
        };
        let plan = explain(&small, &goals(&x)).unwrap();
        assert!(plan.passes[0].memory_bytes < MIB, "{plan}");
        let found = compute(&small, &goals(&x)).unwrap();
        assert_eq!(found.stats.total.bytes_read, 2 * pages * 4096, "{places:?}");
        assert_eq!(plan.passes[0].reads[0].1, found.stats.total.bytes_read);
        assert_eq!(bits(&found.values), bits(&compute(&large, &goals(&virtual_x)).unwrap().values), "{places:?}");
    }
    // Columns far apart, in steps and backwards.
    let x = open(&small, &path).unwrap();
    let part = |x: &Array| {
        let parts =
            [(0, 1, rows), (9998, -3000, 4)].map(|(start, step, count)| Some(AxisPart::Range { start, step, count }));
        Goal::Value(x.slice(&parts).unwrap())
    };
    let found = compute(&small, &[part(&x)]).unwrap();
    assert_eq!(found.stats.total.bytes_read, 2 * 4 * 4096);
    assert_eq!(bits(&found.values), bits(&compute(&large, &[part(&virtual_x)]).unwrap().values));
    // A pass that needs all columns reports the memory for it.
    let all = Goal::Value(open(&small, &path).unwrap().fold(Fold::Max, &[0, 1], false).unwrap());
    let refused = compute(&small, &[all]).unwrap_err();
    assert!(matches!(refused, Error::Memory { limit_bytes, .. } if limit_bytes == limit));
}

/// Sums, extremes, products, groups and places of rows: everything that a pass can make.
fn goals(x: &Array, centres: &Array) -> Result<Vec<Goal>> {
    let columns = x.shape()[1];
    let distances = x.with_axis(1)?.binary(Binary::Subtract, &centres.with_axis(0)?)?;
    let distances = distances.unary(Unary::Square)?.fold(Fold::Sum, &[2], false)?;
    let labels = distances.arg(false, Some(1), false)?;
    let ten = (0..10).try_fold(x.clone(), |x, _| x.binary(Binary::Multiply, &number(0.5))?.unary(Unary::Abs))?;
    let results = [
        x.fold(Fold::Sum, &[0], false)?,
        x.fold(Fold::Min, &[0], false)?,
        x.fold(Fold::Max, &[0, 1], false)?,
        x.variance(&[0], 1.0, false)?,
        x.arg(true, Some(0), false)?,
        x.permute(&[1, 0])?.matmul(x)?,
        x.group_fold(Fold::Sum, &labels, centres.shape()[0])?,
        distances.fold(Fold::Min, &[1], false)?.fold(Fold::Sum, &[0], false)?,
        ten.fold(Fold::Sum, &[0], false)?,
        x.cast(ElementType::Float32)?.matmul(&centres.cast(ElementType::Float32)?.permute(&[1, 0])?)?.fold(
            Fold::Sum,
            &[0],
            false,
        )?,
    ];
    assert_eq!(columns, COLUMNS);
    Ok(results.into_iter().map(Goal::Value).collect())
}

fn bits(values: &[InMemory]) -> Vec<Vec<u8>> {
    values.iter().map(InMemory::to_vec).collect()
}

#[test]
fn one_pass_over_an_array_eight_times_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let (large, limit) = (runtime(), 24 * MIB);
    let rows = 8 * limit / (8 * COLUMNS);
    let (virtual_x, centres) = (normal(rows, COLUMNS, 7), normal(5, COLUMNS, 8));
    store(&large, &virtual_x, &path).unwrap();
    let centres = compute(&large, &[Goal::Value(centres)]).unwrap().values.remove(0);
    let centres = Array::from_memory(centres);
    // The reference, computed without a file.
    let expected = compute(&large, &goals(&virtual_x, &centres).unwrap()).unwrap();
    let image_bytes = ImageSource::open(&large, &path).unwrap().image().pages() * 4096;
    assert!(image_bytes > 8 * limit);
    let small = runtime_under(2, limit, None);
    let x = open(&small, &path).unwrap();
    let goals = goals(&x, &centres).unwrap();
    let plan = explain(&small, &goals).unwrap();
    assert_eq!(plan.passes.len(), 1, "{plan}");
    assert_eq!(plan.passes[0].reads[0].1, image_bytes);
    assert!(plan.passes[0].memory_bytes < limit && plan.svg().starts_with("<svg"));
    let found = compute(&small, &goals).unwrap();
    assert_eq!(found.stats.steps.len(), 1);
    assert_eq!(found.stats.total.bytes_read, image_bytes);
    // Partitions of what is in memory are others, so sums are rounded otherwise.
    for (place, (found, expected)) in found.values.iter().zip(&expected.values).enumerate() {
        let numbers = |memory: &InMemory| -> Vec<f64> {
            let bytes = memory.to_vec();
            match memory.element() {
                ElementType::Float64 => bytes.chunks(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect(),
                ElementType::Float32 => {
                    bytes.chunks(4).map(|b| f64::from(f32::from_ne_bytes(b.try_into().unwrap()))).collect()
                }
                _ => bytes.chunks(8).map(|b| i64::from_ne_bytes(b.try_into().unwrap()) as f64).collect(),
            }
        };
        let scale = rows as f64;
        for (found, expected) in numbers(found).iter().zip(numbers(expected)) {
            let tolerance = if place == 10 { 1e-7 } else { 1e-12 };
            assert!((found - expected).abs() <= tolerance * scale, "{place}: {found}, {expected}");
        }
    }
    // If everything fits, the second pass caches its pages, and the third reads nothing.
    let source = Arc::new(ImageSource::open(&large, &path).unwrap());
    let x = Array::from_source(source.clone()).unwrap();
    let sum = [Goal::Value(x.fold(Fold::Sum, &[0], false).unwrap())];
    let mut first = None;
    for (bytes_read, is_kept) in [(image_bytes, false), (image_bytes, true), (0, true)] {
        let found = compute(&large, &sum).unwrap();
        assert_eq!(found.stats.total.bytes_read, bytes_read);
        assert_eq!(source.image().cache_bytes() >= image_bytes, is_kept);
        assert_eq!(*first.get_or_insert_with(|| bits(&found.values)), bits(&found.values));
    }
}

#[test]
fn bits_do_not_depend_on_threads_memory_or_back_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    store(&runtime(), &normal(100_000, COLUMNS, 1), &path).unwrap();
    let centres = compute(&runtime(), &[Goal::Value(normal(3, COLUMNS, 2))]).unwrap().values.remove(0);
    let mut expected = None;
    let backends: [Option<Arc<dyn Backend>>; 2] = [None, Some(Arc::new(Posix))];
    for backend in backends {
        for (threads, bytes) in [(1, 20 * MIB), (2, 20 * MIB), (3, 256 * MIB), (1, 256 * MIB), (5, 64 * MIB)] {
            let runtime = runtime_under(threads, bytes, backend.clone());
            let x = open(&runtime, &path).unwrap();
            let goals = goals(&x, &Array::from_memory(centres.clone())).unwrap();
            for _ in 0..2 {
                let found = bits(&compute(&runtime, &goals).unwrap().values);
                assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "{threads} threads, {bytes} bytes");
            }
        }
    }
}

#[test]
fn an_expression_is_stored_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let x = normal(70_001, 3, 5);
    for element in ElementType::ALL {
        let path = folder.path().join(format!("{}.oc", element.name()));
        let scaled = x.binary(Binary::Multiply, &number(10.0)).unwrap().unary(Unary::Abs).unwrap();
        let narrow = scaled.cast(element).unwrap();
        store(&runtime, &narrow, &path).unwrap();
        let back = open(&runtime, &path).unwrap();
        assert_eq!((back.element(), back.shape()), (element, x.shape()));
        let found = compute(&runtime, &[Goal::Value(back.clone()), Goal::Value(narrow)]).unwrap();
        assert_eq!(found.values[0].to_vec(), found.values[1].to_vec(), "{element:?}");
        // Parts of it, backwards and forwards.
        let range = |start, step, count| {
            let all = outcore_array::AxisPart::Range { start: 0, step: 1, count: 3 };
            back.slice(&[Some(outcore_array::AxisPart::Range { start, step, count }), Some(all)]).unwrap()
        };
        let parts = [range(70_000, -1, 70_001), range(1, 3, 20_000), range(4063, 1, 2), range(33, 1, 0)];
        let joined = Array::join(&[range(10, 1, 5000), back.clone(), range(69_999, -2, 30_000)], 0).unwrap();
        let goals: Vec<Goal> = parts.into_iter().chain([joined]).map(Goal::Value).collect();
        let whole = found.values[0].to_vec();
        let row = |row: i64| &whole[row as usize * 3 * element.bytes()..][..3 * element.bytes()];
        let rows =
            |start: i64, step: i64, count: i64| (0..count).flat_map(|i| row(start + step * i).to_vec()).collect();
        let expected: [Vec<u8>; 5] = [
            rows(70_000, -1, 70_001),
            rows(1, 3, 20_000),
            rows(4063, 1, 2),
            Vec::new(),
            [rows(10, 1, 5000), whole.clone(), rows(69_999, -2, 30_000)].concat(),
        ];
        assert!(bits(&compute(&runtime, &goals).unwrap().values) == expected, "{element:?}");
    }
}

/// A function that fails in a given row.
struct Wrong {
    panics: bool,
}

impl ElementFunction for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }

    fn call(
        &self,
        operands: &[outcore_array::kernel::Values<'_>],
        mut results: outcore_array::kernel::ValuesMut<'_>,
    ) -> Result<()> {
        let first = operands[0].get(0).to_f64();
        if first > 50_000.0 {
            assert!(!self.panics, "a function of a test panics");
            return Err(Error::Usage("a function of a test fails".to_owned()));
        }
        results.fill(operands[0].get(0));
        Ok(())
    }
}

#[test]
fn functions_that_fail_or_panic_are_errors() {
    let x = Array::range(Scalar::Int64(0), Scalar::Int64(1), 300_000).unwrap();
    for threads in [1, 3] {
        let runtime = runtime_under(threads, 64 * MIB, None);
        for panics in [false, true] {
            let wrong = Array::user(Arc::new(Wrong { panics }), std::slice::from_ref(&x), ElementType::Int64).unwrap();
            let error = compute(&runtime, &[Goal::Value(wrong.fold(Fold::Sum, &[0], false).unwrap())]).unwrap_err();
            let panicked = "expected wrong to return, found that it panicked: a function of a test panics";
            assert_eq!(error.to_string(), if panics { panicked } else { "a function of a test fails" });
        }
        // The memory is there again.
        compute(&runtime, &[Goal::Value(x.fold(Fold::Sum, &[0], false).unwrap())]).unwrap();
    }
}

/// A file whose reader breaks.
struct Broken;

/// Number of ranges of rows that it has read.
#[derive(Default)]
struct BrokenReader(usize);

impl ArraySource for Broken {
    fn shape(&self) -> &[u64] {
        &[1 << 21]
    }

    fn element(&self) -> ElementType {
        ElementType::Float64
    }

    fn describe(&self) -> String {
        "broken".to_owned()
    }

    fn unit_rows(&self) -> u64 {
        508
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        8 * rows
    }

    fn reader<'a>(&'a self, _runtime: &Runtime, _rows: u64, _depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        Ok(Box::new(BrokenReader::default()))
    }

    fn reader_bytes(&self, _most_rows: u64, _depth: usize) -> u64 {
        0
    }
}

impl SourceReader for BrokenReader {
    fn push(&mut self, _rows: Range<u64>) -> Result<bool> {
        Ok(true)
    }

    fn next(&mut self) -> Result<Box<dyn Landed + '_>> {
        self.0 += 1;
        assert!(self.0 < 3, "an assertion of a test");
        Ok(Box::new(Zeros))
    }

    fn take_stats(&mut self) -> SweepStats {
        SweepStats::default()
    }
}

struct Zeros;

impl Landed for Zeros {
    fn vector(&self, _column: usize, _rows: Range<u64>) -> Option<&[u8]> {
        None
    }

    fn copy(&self, _first: u64, _step: i64, _count: usize, to: &mut [u8], _stride_bytes: usize) -> Result<()> {
        to.fill(0);
        Ok(())
    }
}

#[test]
fn assertions_of_the_engine_stay_panics_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for threads in [1, 3] {
        let runtime = runtime_under(threads, 64 * MIB, None);
        let available = runtime.budget().available_bytes();
        let x = Array::from_source(Arc::new(Broken)).unwrap();
        let sum = || compute(&runtime, &[Goal::Value(x.fold(Fold::Sum, &[0], false)?)]);
        let image = || store(&runtime, &x, &folder.path().join("x.oc"));
        for work in [&sum as &dyn Fn() -> Result<Computed>, &image] {
            let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("the reader panics");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"an assertion of a test"));
        }
        assert_eq!(runtime.budget().available_bytes(), available);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_computation_under_a_smaller_limit_shrinks_the_cache_that_an_image_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let (large, small) = (runtime(), runtime_under(2, 28 * MIB, None));
    store(&large, &normal(750_000, 4, 1), &path).unwrap();
    let source = Arc::new(ImageSource::open(&large, &path).unwrap());
    let x = Array::from_source(Arc::clone(&source) as Arc<dyn ArraySource>).unwrap();
    let sum = |runtime| {
        let sum = x.fold(Fold::Sum, &[0], false).unwrap();
        (bits(&compute(runtime, &[Goal::Value(sum)]).unwrap().values), source.image().cache_bytes())
    };
    // The first pass keeps nothing.
    let (expected, cached) = sum(&large);
    assert_eq!(cached, 0);
    let (found, cached) = sum(&large);
    assert!(cached > 20 * MIB, "{cached}");
    assert_eq!(found, expected);
    let (found, cached) = sum(&small);
    // The readers of two workers take some MiB of what is left.
    assert!(cached > 0 && cached < small.budget().available_bytes() - 4 * MIB, "{cached}");
    assert_eq!(found, expected);
    let (found, cached) = sum(&large);
    assert!(cached > 20 * MIB, "{cached}");
    assert_eq!(found, expected);
}

#[test]
fn distances_in_registers_are_sums_of_squares() {
    for (rows, columns, points) in [(2000, 5, 3), (1017, 1, 1), (600, 1, 4), (5000, 32, 1), (3, 300, 2)] {
        for element in [ElementType::Float64, ElementType::Float32] {
            let cast = |array: Array| array.cast(element).unwrap();
            let (x, p) = (cast(normal(rows, columns, 3)), cast(normal(points, columns, 4)));
            let (x, p) = (x.with_axis(1).unwrap(), p.with_axis(0).unwrap());
            let goals: Vec<Goal> = [(&x, &p), (&p, &x)]
                .into_iter()
                .flat_map(|(left, right)| {
                    let difference = left.binary(Binary::Subtract, right).unwrap();
                    let square = difference.unary(Unary::Square).unwrap();
                    // A product that is used twice is not a function of two operands that are added up in one sweep.
                    let product = difference.binary(Binary::Multiply, &difference).unwrap();
                    [square, product].map(|terms| Goal::Value(terms.fold(Fold::Sum, &[2], false).unwrap()))
                })
                .collect();
            let found = bits(&compute(&runtime(), &goals).unwrap().values);
            assert!(found.iter().all(|other| *other == found[0]), "{rows} {columns} {points} {element:?}");
        }
    }
}

#[test]
fn operations_that_cannot_be_streamed_or_lack_memory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.oc");
    let rows = 1_000_000;
    store(&runtime(), &normal(rows, 4, 1), &path).unwrap();
    let small = runtime_under(2, 20 * MIB, None);
    let x = open(&small, &path).unwrap();
    let outcome = compute(&small, &[Goal::Value(x.clone())]);
    assert!(matches!(outcome, Err(Error::Memory { .. })), "{outcome:?}");
    // Two long axes.
    let square = x.permute(&[1, 0]).unwrap();
    let error = x.matmul(&square).unwrap_err().to_string();
    assert!(error.contains("found axis 0 of shape [1000000, 4] and axis 1 of shape [4, 1000000]; compute"), "{error}");
    let error = x.cumulative(Fold::Sum, 0).unwrap_err().to_string();
    assert!(error.ends_with("found axis 0 of shape [1000000, 4]"), "{error}");
    assert!(x.reshape(&[2, rows / 2, 4]).is_err());
    assert_eq!(x.reshape(&[rows, 2, 2]).unwrap().long_axis(), Some(0));
    // Operations upon operations.
    let deep = (0..600).try_fold(x.clone(), |x, _| x.unary(Unary::Negative));
    assert!(deep.unwrap_err().to_string().contains("compute or persist"));
    let deep = (0..480).try_fold(x.clone(), |x, _| x.unary(Unary::Negative)).unwrap();
    let sums = [&deep, &x].map(|x| Goal::Value(x.fold(Fold::Sum, &[0], false).unwrap()));
    let sums = bits(&compute(&small, &sums).unwrap().values);
    assert_eq!(sums[0], sums[1]);
    // A pass needs a row of every operand at once: the mean is a pass of its own.
    let centred = x.binary(Binary::Subtract, &x.mean(&[0], false).unwrap()).unwrap();
    let goal = [Goal::Value(centred.fold(Fold::Max, &[0], false).unwrap())];
    assert_eq!(explain(&small, &goal).unwrap().passes.len(), 2);
    assert_eq!(compute(&small, &goal).unwrap().stats.steps.len(), 2);
}

#[test]
fn arrays_without_elements_are_not_read_for_any_number_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    for shape in [[1 << 40, 0], [0, 1 << 40], [0, 3], [3, 0]] {
        let path = folder.path().join("x.oc");
        store(&runtime, &Array::full(shape.to_vec(), Scalar::Int16(0)).unwrap(), &path).unwrap();
        let x = open(&runtime, &path).unwrap();
        assert_eq!((x.shape(), x.element()), (&shape[..], ElementType::Int16));
        let (sum, all) = (x.fold(Fold::Sum, &[1], false).unwrap(), x.fold(Fold::Sum, &[0, 1], false).unwrap());
        let goals = [x.clone(), x.fold(Fold::Sum, &[0], false).unwrap(), sum, all].map(Goal::Value);
        // The sums of no elements are as many zeros as a shape says: those that memory has no room for are left out.
        let goals: Vec<Goal> =
            goals.into_iter().filter(|goal| matches!(goal, Goal::Value(array) if array.count() < 1 << 20)).collect();
        let found = compute(&runtime, &goals).unwrap();
        assert!(found.values.iter().all(|value| value.to_vec().iter().all(|&byte| byte == 0)));
        store(&runtime, &x, &folder.path().join("y.oc")).unwrap();
        assert_eq!(open(&runtime, &folder.path().join("y.oc")).unwrap().shape(), shape);
    }
}

#[test]
fn an_array_of_one_row_is_stored_whatever_it_is_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let (path, runtime) = (folder.path().join("one.oc"), runtime());
    let x = normal(1000, 2, 3);
    // The rows of the last operand are not those of the file.
    let maxima = x.fold(Fold::Max, &[0], false).unwrap();
    let one = maxima.reshape(&[2, 1]).unwrap().fold(Fold::Min, &[0], false).unwrap();
    for array in [one, maxima.reshape(&[1, 2]).unwrap(), x.fold(Fold::Sum, &[0], true).unwrap()] {
        store(&runtime, &array, &path).unwrap();
        let goals = [open(&runtime, &path).unwrap(), array].map(Goal::Value);
        let found = bits(&compute(&runtime, &goals).unwrap().values);
        assert_eq!(found[0], found[1]);
    }
}
