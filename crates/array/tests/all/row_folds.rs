//! The memory of folds of rows: what their plans say, beside what their states have at once.

use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, Distribution, Goal, Random, RowBlock, RowFold, compute, explain};
use outcore_image::Result;
use outcore_testkit::runtime_under;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const OPEN_BYTES: u64 = 1 << 20;
const CLOSED_BYTES: u64 = 1 << 10;

/// The memory of all states, the most that it was, and the partitions that were closed.
#[derive(Default)]
struct Counts {
    now: AtomicU64,
    most: AtomicU64,
    closed: AtomicU64,
}

/// The memory of a state, as a fold that gives back most of it when a partition ends has it.
struct Counted(Arc<Counts>, u64);

impl Counted {
    fn set(&mut self, bytes: u64) {
        let now = self.0.now.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        self.0.now.fetch_sub(std::mem::replace(&mut self.1, bytes), Ordering::SeqCst);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(self.1, Ordering::SeqCst);
    }
}

/// A fold whose first partition takes so long that all others which may do so wait for it.
struct Slow {
    counts: Arc<Counts>,
    waiting: u64,
}

impl RowFold for Slow {
    type State = Counted;

    fn name(&self) -> &str {
        "slow"
    }

    fn results(&self) -> usize {
        1
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        OPEN_BYTES
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        CLOSED_BYTES
    }

    fn begin(&self) -> Counted {
        Counted(Arc::clone(&self.counts), 0)
    }

    fn add(&self, state: &mut Counted, block: &RowBlock<'_>) -> Result<()> {
        state.set(OPEN_BYTES);
        while block.first_row == 0 && self.counts.closed.load(Ordering::SeqCst) < self.waiting {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn close(&self, state: &mut Counted) -> Result<()> {
        state.set(CLOSED_BYTES);
        self.counts.closed.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn merge(&self, _state: &mut Counted, _next: Counted) -> Result<()> {
        Ok(())
    }

    fn finish(&self, _state: Counted, _result: ValuesMut<'_>) -> Result<()> {
        Ok(())
    }
}

fn uniform(shape: &[u64]) -> Array {
    Array::random(shape.to_vec(), Random { distribution: Distribution::Uniform, seed: 1 }).unwrap()
}

#[test]
fn partial_results_that_wait_take_the_memory_of_closed_ones() {
    let (threads, counts) = (4, Arc::<Counts>::default());
    let x = uniform(&[800_000]);
    // Two per worker wait to be merged, and three workers wait with another one.
    let fold = Slow { counts: Arc::clone(&counts), waiting: 2 * threads - 1 + 3 };
    let goal = [Goal::Value(Array::fold_rows(fold, &[x]).unwrap())];
    let runtime = runtime_under(threads as usize, 256 << 20, None);
    let planned_bytes = explain(&runtime, &goal).unwrap().passes[0].memory_bytes;
    compute(&runtime, &goal).unwrap();
    let most_bytes = counts.most.load(Ordering::SeqCst);
    assert!(most_bytes <= planned_bytes, "{most_bytes} of {planned_bytes}");
    // An open one for each worker, and the total.
    let (open_bytes, blocks_bytes) = ((threads + 1) * OPEN_BYTES, threads << 16);
    assert!(planned_bytes <= open_bytes + 2 * threads * CLOSED_BYTES + blocks_bytes, "{planned_bytes}");
    assert_eq!(counts.now.load(Ordering::SeqCst), 0);
}

#[test]
fn products_of_columns_count_what_they_pack() {
    let x = uniform(&[100_000, 300]);
    let product = Goal::Value(x.permute(&[1, 0]).unwrap().matmul(&x).unwrap());
    let planned_bytes = explain(&runtime_under(1, 256 << 20, None), &[product]).unwrap().passes[0].memory_bytes;
    // Sums and a product of each worker, two sums that wait, the total, and the columns of a block, which are packed.
    assert!(planned_bytes >= 5 * 8 * 300 * 300 + 8 * 508 * 300, "{planned_bytes}");
}
