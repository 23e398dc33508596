//! The rows of a lazy array, passed to a writer while they are computed; arrays as files.
//!
//! *Idea.* A fold whose states are rows: merging, which goes in the order of partitions, sends them to the thread that
//! writes. It takes one block after the other, so that no more than a few are in memory. *Cost.* The pass; three times
//! the rows of a partition that is computed, and those of partitions that wait.

use crate::common::usage;
use crate::phases::{Phase, most_bytes};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, ElementType, Goal, RowBlock, RowFold, compute};
use outcore_image::{Result, Stats, StatsBuilder};
use outcore_io::{Error, Runtime, lock};
use outcore_table::{NumbersShape, Origin, PutRows, RowLabels, is_array_file, write_numbers};
use std::cell::Cell;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

/// The bytes of the elements, per column.
type Bytes = Vec<Vec<u8>>;

struct RowSender {
    columns: usize,
    element: ElementType,
    to: Mutex<SyncSender<Bytes>>,
}

/// Calls `put` with all rows of a vector or matrix in their order; returns the statistics of the computation.
///
/// # Errors
/// Those of `put` and of the computation.
pub fn for_each_rows(runtime: &Runtime, array: &Array, put: PutRows<'_>) -> Result<Stats> {
    let (to, from) = sync_channel(0);
    let goal = Goal::Value(lazy_rows(array, to)?);
    std::thread::scope(|scope| {
        // The sender goes when the computation ends.
        let computing = scope.spawn(move || compute(runtime, &[goal]).map(|computed| computed.stats));
        let mut written = Ok(());
        while let Ok(block) = from.recv() {
            written = put(&block.iter().map(Vec::as_slice).collect::<Vec<_>>());
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

/// An array that sends rows as they are computed.
pub(crate) fn lazy_rows(array: &Array, to: SyncSender<Bytes>) -> Result<Array> {
    let columns = array.shape().get(1).copied().unwrap_or(1) as usize;
    let rows = RowSender { columns, element: array.element(), to: Mutex::new(to) };
    Array::fold_rows(rows, std::slice::from_ref(array))
}

impl RowFold for RowSender {
    type State = Bytes;

    fn name(&self) -> &str {
        "rows"
    }

    fn results(&self) -> usize {
        1
    }

    fn state_bytes(&self, rows: u64) -> u64 {
        3 * self.closed_bytes(rows)
    }

    fn closed_bytes(&self, rows: u64) -> u64 {
        self.element.bytes() as u64 * rows * self.columns as u64
    }

    fn begin(&self) -> Bytes {
        vec![Vec::new(); self.columns]
    }

    fn add(&self, state: &mut Bytes, block: &RowBlock<'_>) -> Result<()> {
        state.iter_mut().zip(&block.operands[0]).for_each(|(own, values)| own.extend_from_slice(values.bytes()));
        Ok(())
    }

    fn close(&self, state: &mut Bytes) -> Result<()> {
        state.iter_mut().for_each(Vec::shrink_to_fit);
        Ok(())
    }

    fn merge(&self, _state: &mut Bytes, next: Bytes) -> Result<()> {
        // A writer that stopped receiving has an error of its own.
        lock(&self.to).send(next).map_err(|_| Error::Cancelled)
    }

    fn finish(&self, _state: Bytes, _result: ValuesMut<'_>) -> Result<()> {
        Ok(())
    }
}

/// Writes an array to a file, in the format that its name ends in, while it is computed, in its own type. A `.npy` file
/// is what NumPy reads as this array: by rows, or by columns if the last axis is the long one. Other files are tables
/// of a vector or a matrix, with columns of these names, or x0, x1 and so on.
///
/// # Errors
/// An ending that is none, more axes or fewer than a table has, not as many names as columns, or two that are the same;
/// what the computation returns, a full disk, a request to stop. Then there is no new file, and an old one of that name
/// is as it was.
pub fn save(runtime: &Runtime, array: &Array, names: Option<Vec<String>>, output: &Path) -> Result<Stats> {
    let axes = array.shape().to_vec();
    let is_array = is_array_file(output);
    if !is_array && !(1..=2).contains(&axes.len()) {
        return usage(format!(
            "expected a vector or a matrix for a table, or a file that ends in .npy, found {axes:?}"
        ));
    }
    let is_transposed = is_array && axes.len() > 1 && array.long_axis() == Some(axes.len() - 1);
    let order: Vec<usize> = if is_transposed { (0..axes.len()).rev().collect() } else { (0..axes.len()).collect() };
    let rows = array.permute(&order)?;
    let count = rows.shape().first().copied().unwrap_or(1);
    let columns = rows.shape().get(1..).unwrap_or(&[]).iter().product();
    let rows = rows.reshape(&[count, columns])?;
    let names = names.unwrap_or_else(|| (0..columns).map(|column| format!("x{column}")).collect());
    if names.len() as u64 != columns {
        return usage(format!("expected {columns} names of columns, found {}", names.len()));
    }
    let element = array.element();
    let shape = NumbersShape {
        rows: count,
        names,
        labels: RowLabels::None,
        element,
        axes,
        is_transposed,
        origin: Origin::default(),
    };
    shape.check(runtime, output)?;
    let sent = if array.count() > 0 { vec![lazy_rows(&rows, sync_channel(0).0)?] } else { Vec::new() };
    let needed_bytes = most_bytes(runtime, &[Phase::pass(sent, 0)])?;
    runtime.budget().require("what writes the result", needed_bytes + shape.output_bytes(output)?)?;
    let cost = Cell::new(None);
    write_numbers(runtime, &shape, output, &|put| {
        if array.count() > 0 {
            cost.set(Some(for_each_rows(runtime, &rows, put)?));
        }
        Ok(())
    })?;
    Ok(cost.take().unwrap_or_else(|| StatsBuilder::start().finish(runtime, 1)))
}
