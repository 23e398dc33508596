//! The rows of a lazy array, given to whoever writes them while they are computed.
//!
//! *Idea.* A fold whose states are rows: merging, which goes in the order of partitions, sends them to the thread that
//! writes. It takes one block after the other, so that no more than a few are in memory. *Cost.* The pass; three times
//! the rows of a partition, per partition under way.

use crate::common::{columns, matrix, reals};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, Goal, RowBlock, RowFold, compute};
use outcore_image::{Result, Stats};
use outcore_io::{Error as IoError, Runtime, lock};
use outcore_table::PutRows;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

struct Rows {
    columns: usize,
    to: Mutex<SyncSender<Vec<Vec<f64>>>>,
}

/// Calls `put` with all rows of a vector or matrix in their order, as float64. What it cost.
///
/// # Errors
/// What `put` and the computation return.
pub fn for_each_rows(runtime: &Arc<Runtime>, array: &Array, put: PutRows<'_>) -> Result<Stats> {
    let (to, from) = sync_channel(0);
    let goal = Goal::Value(lazy_rows(array, to)?);
    std::thread::scope(|scope| {
        // The sender goes when the computation ends.
        let computing = scope.spawn(move || compute(runtime, &[goal]).map(|computed| computed.stats));
        let mut written = Ok(());
        while let Ok(block) = from.recv() {
            written = put(&block);
            if written.is_err() {
                break;
            }
        }
        drop(from);
        let computed = computing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written?;
        computed
    })
}

/// What sends rows when it is computed.
pub(crate) fn lazy_rows(array: &Array, to: SyncSender<Vec<Vec<f64>>>) -> Result<Array> {
    let x = matrix(array)?;
    Array::fold_rows(Rows { columns: columns(&x), to: Mutex::new(to) }, &[x])
}

impl RowFold for Rows {
    type State = Vec<Vec<f64>>;

    fn name(&self) -> &str {
        "rows"
    }

    fn results(&self) -> usize {
        1
    }

    fn state_bytes(&self, rows: u64) -> u64 {
        3 * 8 * rows * self.columns as u64
    }

    fn begin(&self) -> Vec<Vec<f64>> {
        vec![Vec::new(); self.columns]
    }

    fn add(&self, state: &mut Vec<Vec<f64>>, block: &RowBlock<'_>) -> Result<()> {
        state.iter_mut().zip(&block.operands[0]).for_each(|(own, values)| own.extend_from_slice(reals(values)));
        Ok(())
    }

    fn merge(&self, _state: &mut Vec<Vec<f64>>, next: Vec<Vec<f64>>) -> Result<()> {
        // Whoever writes has an error of its own if it does not listen any more.
        Ok(lock(&self.to).send(next).map_err(|_| IoError::Cancelled)?)
    }

    fn finish(&self, _state: Vec<Vec<f64>>, _result: ValuesMut<'_>) -> Result<()> {
        Ok(())
    }
}
