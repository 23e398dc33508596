//! Synchronous steps: a frontier moved along edges, by pushing or by pulling, and functions applied to all vertices.

pub(crate) mod active;
pub(crate) mod edge_map;

use outcore_image::Result;
use outcore_io::Runtime;
use std::ops::Range;

/// Number of vertices that a worker takes at a time: a multiple of 64, so that no word of a bitmap is shared.
pub const RANGE: usize = 1 << 15;

/// Calls `work` with ranges of `0..vertices`, which begin at multiples of [`RANGE`].
///
/// # Errors
/// The first error of `work`, or a request to stop.
pub fn vertex_map(runtime: &Runtime, vertices: u64, work: impl Fn(Range<usize>) -> Result<()> + Sync) -> Result<()> {
    runtime.for_each_range(vertices as usize, RANGE, work)
}

/// Calls `work` with every range and adds up what it returns, range by range in their order.
///
/// So a sum of real numbers is the same for every number of workers.
///
/// # Errors
/// A request to stop.
pub fn vertex_sum(runtime: &Runtime, vertices: u64, work: impl Fn(Range<usize>) -> f64 + Sync) -> Result<f64> {
    use outcore_io::AtomicF64;
    let sums: Vec<AtomicF64> = (0..(vertices as usize).div_ceil(RANGE)).map(|_| AtomicF64::default()).collect();
    vertex_map(runtime, vertices, |range| {
        let place = range.start / RANGE;
        sums[place].store(work(range));
        Ok(())
    })?;
    Ok(sums.iter().map(AtomicF64::load).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::RuntimeOptions;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn sums_do_not_depend_on_the_order_in_which_ranges_end() {
        let runtime = Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap();
        let ended = AtomicUsize::new(0);
        let sum = vertex_sum(&runtime, 3 * RANGE as u64, |range| {
            // The first range ends last. One at the end of the others would be 1, and in its place it is lost.
            while range.start == 0 && ended.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            ended.fetch_add(1, Ordering::Relaxed);
            [1.0, 1e16, -1e16][range.start / RANGE]
        });
        assert_eq!(sum.unwrap(), 0.0);
    }
}
