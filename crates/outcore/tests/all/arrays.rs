//! Arrays of a program's own vectors, and options of arrays that cannot be: errors, and never a panic.

use outcore::array::kernel::{Element, Scalar};
use outcore::array::{Array, AxisPart, Distribution, ElementType, Goal, Random, compute};
use outcore::{Error, Result, Runtime};

fn runtime() -> Runtime {
    Runtime::new(Default::default()).unwrap()
}

fn elements<T: Element>(array: &Array) -> Vec<T> {
    compute(&runtime(), &[Goal::Value(array.clone())]).unwrap().values[0].elements().unwrap()
}

/// Each of these is a wrong option, with these words in its text.
#[track_caller]
fn wrong<T>(outcome: Result<T>, words: &str) {
    match outcome.map(drop) {
        Err(Error::Usage(text)) if text.contains(words) => {}
        other => panic!("expected a refusal with `{words}`, found {other:?}"),
    }
}

fn goes_and_comes_back<T: Element + std::fmt::Debug>(numbers: [T; 6]) {
    let array = Array::from_vec(numbers.to_vec(), vec![2, 3]).unwrap();
    assert_eq!((array.element(), array.shape()), (T::TYPE, &[2, 3][..]));
    assert_eq!(elements::<T>(&array), numbers);
    let [a, b, c, d, e, f] = numbers;
    assert_eq!(elements::<T>(&array.permute(&[1, 0]).unwrap()), [a, d, b, e, c, f]);
    wrong(Array::from_vec(numbers.to_vec(), vec![2, 2]), "expected a shape of 6 elements, found [2, 2]");
    wrong(Array::from_vec(numbers.to_vec(), vec![1 << 63, 1 << 63]), "elements");
    assert!(elements::<T>(&Array::from_vec(Vec::<T>::new(), vec![0, 3]).unwrap()).is_empty());
}

#[test]
fn vectors_of_every_type_become_arrays_and_come_back() {
    goes_and_comes_back([1i8, -2, 3, -4, 5, -6]);
    goes_and_comes_back([1i16, -2, 3, -4, 5, -6]);
    goes_and_comes_back([1i32, -2, 3, -4, 5, -6]);
    goes_and_comes_back([1i64, -2, 3, -4, 5, i64::MIN]);
    goes_and_comes_back([1u8, 2, 3, 4, 5, 255]);
    goes_and_comes_back([1u16, 2, 3, 4, 5, 6]);
    goes_and_comes_back([1u32, 2, 3, 4, 5, 6]);
    goes_and_comes_back([1u64, 2, 3, 4, 5, u64::MAX]);
    goes_and_comes_back([0.5f32, -2.0, 3.0, 4.0, 5.0, 6.0]);
    goes_and_comes_back([0.5f64, -2.0, 3.0, 4.0, 5.0, f64::MAX]);
    let truths = Array::from_vec(vec![0u8, 3], vec![2]).unwrap().cast(ElementType::Bool).unwrap();
    assert_eq!(elements::<u8>(&truths), [0, 1]);
    let computed = compute(&runtime(), &[Goal::Value(truths)]).unwrap();
    wrong(computed.values[0].elements::<f64>(), "expected elements of float64, found bool");
}

#[test]
fn parameters_of_no_distribution_are_refused() {
    let random = |distribution| Array::random(vec![10], Random { distribution, seed: u64::MAX });
    for (low, high) in [(0, 0), (1, 0), (i64::MAX, i64::MIN)] {
        wrong(random(Distribution::Integers { low, high }), "expected low below high");
    }
    for probability in [f64::NAN, -1.0, 2.0, f64::INFINITY] {
        wrong(random(Distribution::Bernoulli { probability }), "expected a probability from 0 to 1");
    }
    let all = random(Distribution::Integers { low: i64::MIN, high: i64::MAX }).unwrap();
    assert_eq!(elements::<i64>(&all).len(), 10);
    assert_eq!(elements::<u8>(&random(Distribution::Bernoulli { probability: 1.0 }).unwrap()), [1; 10]);
}

#[test]
fn ranges_beyond_an_axis_are_refused() {
    let numbers: Vec<i64> = (0..100).collect();
    let array = Array::from_vec(numbers, vec![100]).unwrap();
    let part = |start, step, count| array.slice(&[Some(AxisPart::Range { start, step, count })]);
    let beyond = [
        (5, i64::MAX, 3),
        (0, -6_148_914_691_236_517_205, 4),
        (0, i64::MIN, 3),
        (i64::MIN, 1, 1),
        (i64::MAX, i64::MAX, u64::MAX),
        (0, 0, 0),
        (0, 1, u64::MAX),
        (99, -1, 101),
    ];
    for (start, step, count) in beyond {
        match count {
            0 => assert_eq!(part(start, step, count).unwrap().shape(), [0]),
            _ => wrong(part(start, step, count), "expected an index below 100 of axis 0"),
        }
    }
    for step in [i64::MIN, i64::MAX, 0] {
        let one = part(7, step, 1).unwrap();
        assert_eq!(elements::<i64>(&one), [7]);
        let range = AxisPart::Range { start: 0, step, count: 1 };
        assert_eq!(elements::<i64>(&one.slice(&[Some(range)]).unwrap()), [7]);
    }
    // A step of 0 repeats an element, as many times as an array has room for.
    assert_eq!(elements::<i64>(&part(3, 0, 4).unwrap()), [3; 4]);
    wrong(part(3, 0, u64::MAX), "elements");
}

#[test]
fn diagonals_of_no_matrix_are_zeros() {
    for diagonal in [i64::MAX, i64::MIN, 3, -3] {
        let zeros = Array::eye(3, 3, diagonal, ElementType::Float64).unwrap();
        assert_eq!(elements::<f64>(&zeros), [0.0; 9]);
    }
    let below = Array::eye(3, 3, -2, ElementType::Int8).unwrap();
    assert_eq!(elements::<i8>(&below), [0, 0, 0, 0, 0, 0, 1, 0, 0]);
}

/// Sizes, axes and numbers that no array has.
#[test]
fn numbers_that_no_array_has_are_refused() {
    let numbers = Array::from_vec(vec![1.0, 2.0, 3.0, 4.0], vec![2, 2]).unwrap();
    let huge = Array::full(vec![1 << 59], Scalar::Float64(1.0)).unwrap();
    let range = |start, step| Array::range(Scalar::Int64(start), Scalar::Int64(step), 3).unwrap();
    wrong(Array::join(&vec![huge.clone(); 64], 0), "elements");
    wrong(huge.broadcast_to(&[1 << 59, 1 << 59]), "");
    wrong(Array::full(vec![u64::MAX, u64::MAX], Scalar::Float64(1.0)), "elements");
    wrong(Array::eye(u64::MAX, u64::MAX, 0, ElementType::Bool), "elements");
    wrong(Array::range(Scalar::Int64(0), Scalar::Int64(1), u64::MAX), "elements");
    wrong(numbers.reshape(&[u64::MAX, u64::MAX]), "shape");
    assert_eq!(elements::<i64>(&range(i64::MAX, i64::MAX)).len(), 3);
    for axis in [2, usize::MAX] {
        wrong(numbers.with_axis(axis.saturating_add(1)), "place");
        wrong(numbers.without_axis(axis), "axis");
        wrong(numbers.permute(&[0, axis]), "axes");
        wrong(numbers.mean(&[axis], true), "axis");
        wrong(numbers.variance(&[axis], 1.0, false), "axis");
        wrong(numbers.arg(true, Some(axis), false), "axis");
        wrong(numbers.cumulative(outcore::array::kernel::Fold::Sum, axis), "axis");
        wrong(Array::join(&[numbers.clone(), numbers.clone()], axis), "axis");
    }
    for axis in [2, -3, i64::MAX, i64::MIN] {
        wrong(numbers.axes_of(Some(&[axis])), "axis");
    }
    let indices = Array::from_vec(vec![0, 1, i64::MIN, i64::MAX], vec![4]).unwrap();
    let found = compute(&runtime(), &[Goal::Value(indices.indices(u64::MAX, usize::MAX).unwrap())]);
    assert!(matches!(found, Err(Error::Index(_))), "{found:?}");
}
