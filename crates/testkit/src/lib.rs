//! Helpers that tests of several crates share: runtimes with a limit of their own, a back end with hooks, random
//! numbers, bits of numbers.

mod hooked;

pub use hooked::Hooked;

use outcore_io::backend::Backend;
use outcore_io::{Runtime, RuntimeOptions};
use std::sync::Arc;

/// A runtime that may use `bytes` more than the process holds now, so that tests of one process do not disturb each
/// other; on `backend` if one is given.
pub fn runtime_under(threads: usize, bytes: u64, backend: Option<Arc<dyn Backend>>) -> Runtime {
    let options = RuntimeOptions {
        memory_bytes: Some(bytes),
        beside_process: true,
        threads: Some(threads),
        backend,
        ..RuntimeOptions::default()
    };
    Runtime::new(options).unwrap()
}

/// The next 64 bits of a linear congruential generator (Knuth's MMIX), whose state is the seed at first. Low bits are
/// less random than high ones.
pub fn random_word(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state
}

/// The next 31 random bits: the high ones of [`random_word`].
pub fn random(state: &mut u64) -> u64 {
    random_word(state) >> 33
}

/// A random number below `end`, from [`random`].
pub fn random_below(state: &mut u64, end: u64) -> u64 {
    random(state) % end
}

/// The bits of numbers: equal bits are the same answer, NaN and signs of zero included.
pub fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}
