//! The first rows of a table, for people.

use crate::table::Table;
use arrow_array::RecordBatch;
use outcore_format::{IdColumn, Order};
use outcore_image::Result;

/// Number of rows up to which a pass over the ids takes no noticeable time.
const SMALL_ROWS: u64 = 1 << 16;

impl Table {
    /// The first rows, and the names of the columns that are left out. These name vertices, whose ids may take a pass
    /// over all ids.
    ///
    /// # Errors
    /// Ids that cannot be read, or no memory.
    pub fn preview(&self, rows: usize) -> Result<(RecordBatch, Vec<String>)> {
        let manifest = self.image().manifest();
        let is_known = matches!(manifest.ids, IdColumn::Range { .. }) && manifest.order == Order::Input;
        let is_small = self.rows() <= SMALL_ROWS;
        let (shown, hidden): (Vec<_>, Vec<_>) =
            self.columns().iter().cloned().partition(|(_, column)| is_known || is_small || !column.names_vertices());
        let table = self.with_columns(shown);
        let batch = match table.reader()?.next_batch()? {
            Some(batch) => batch.slice(0, rows.min(batch.num_rows())),
            None => RecordBatch::new_empty(table.schema()),
        };
        Ok((batch, hidden.into_iter().map(|(name, _)| name).collect()))
    }
}
