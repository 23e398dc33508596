//! Sums of squared differences, which are computed as distances to points in memory.

use outcore_array::kernel::{Binary, Fold, Scalar, Unary};
use outcore_array::{Array, Bytes, ElementType, Goal, InMemory, compute};
use outcore_testkit::runtime_under;
use std::sync::Arc;

#[test]
fn distances_of_equal_rows_are_computed() {
    let runtime = runtime_under(2, 64 << 20, None);
    let words: Vec<u64> = (0..6u32).map(|i| f64::from(i).to_bits()).collect();
    let memory = InMemory::new(Arc::new(words) as Arc<dyn Bytes>, ElementType::Float64, vec![1, 2, 3]);
    let rows = Array::full(vec![4000, 1, 3], Scalar::Float64(2.0)).unwrap();
    let differences = rows.binary(Binary::Subtract, &Array::from_memory(memory)).unwrap();
    let squares = differences.unary(Unary::Square).unwrap();
    let distances = squares.fold(Fold::Sum, &[2], false).unwrap();
    let bytes = compute(&runtime, &[Goal::Value(distances)]).unwrap().values[0].to_vec();
    let expected: Vec<u8> = [5.0f64, 14.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(bytes, expected.repeat(4000));
}
