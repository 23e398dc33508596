//! Data and comparisons for tests.
#![allow(dead_code)] // why: each test uses some of it

use outcore_array::{Array, Bytes, ElementType, Goal, ImageGoal, ImageSource, InMemory, compute};
use outcore_io::{Runtime, SPLIT_MIX_STEP, split_mix};
pub use outcore_testkit::runtime_under;
use std::path::Path;
use std::sync::Arc;

pub fn runtime(threads: usize) -> Runtime {
    runtime_under(threads, 256 << 20, None)
}

/// A matrix in memory, or a vector of one column.
pub fn array(numbers: &[f64], shape: &[usize]) -> Array {
    let bytes: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    let shape = shape.iter().map(|&size| size as u64).collect();
    Array::from_memory(InMemory::new(Arc::new(bytes) as Arc<dyn Bytes>, ElementType::Float64, shape))
}

pub fn vector(numbers: &[f64]) -> Array {
    array(numbers, &[numbers.len()])
}

pub fn values(runtime: &Runtime, array: &Array) -> Vec<f64> {
    let goal = Goal::Value(array.cast(ElementType::Float64).unwrap());
    let bytes = compute(runtime, &[goal]).unwrap().values[0].to_vec();
    bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

/// Writes an image of an array, and opens it.
pub fn on_disk(folder: &Path, name: &str, numbers: &Array) -> std::path::PathBuf {
    let path = folder.join(name);
    let goal =
        ImageGoal { array: numbers.clone(), path: path.clone(), replace: false, names: None, made_by: "persist" };
    compute(&runtime(2), &[Goal::Image(goal)]).unwrap();
    path
}

pub fn open(runtime: &Runtime, path: &Path) -> Array {
    Array::from_source(Arc::new(ImageSource::open(runtime, path).unwrap())).unwrap()
}

/// Numbers in [0, 1) from a seed.
pub fn uniform(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        let word = split_mix(state);
        state = state.wrapping_add(SPLIT_MIX_STEP);
        (word >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(|_| next()).collect()
}

/// Roughly normal numbers.
pub fn normal(seed: u64, count: usize) -> Vec<f64> {
    uniform(seed, 12 * count).chunks_exact(12).map(|own| own.iter().sum::<f64>() - 6.0).collect()
}

/// Rows around centres, one after the other.
pub fn blobs(seed: u64, rows: usize, centres: &[&[f64]], spread: f64) -> Vec<f64> {
    let p = centres[0].len();
    let noise = normal(seed, rows * p);
    (0..rows * p).map(|place| centres[place / p % centres.len()][place % p] + spread * noise[place]).collect()
}

#[track_caller]
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let is_close = (found - expected).abs() <= tolerance * (1.0 + expected.abs());
        assert!(is_close || (found.is_nan() && expected.is_nan()), "{place}: expected {expected}, found {found}");
    }
}

/// Runs with 1, 2 and 3 threads and asserts equal bits.
#[track_caller]
pub fn assert_same_bits(run: impl Fn(&Runtime) -> Vec<f64>) {
    let bits = |threads| run(&runtime(threads)).into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let one = bits(1);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(3));
}
