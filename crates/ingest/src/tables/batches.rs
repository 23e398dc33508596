//! Batches of rows of tables, and those that the caller's reader makes, validated.

use crate::tables::guarded::guarded;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use outcore_image::{Error, Result};
use outcore_io::{Reservation, making_rows};
use std::path::Path;
use std::sync::Arc;

/// Batches that a reader of tables yields.
pub type Batches = Box<dyn Iterator<Item = Result<Batch>> + Send>;

/// Rows in memory.
pub struct Batch {
    /// The rows.
    pub rows: RecordBatch,
    /// Memory set aside for them, where they do not hold it themselves.
    pub unpacked: Vec<Arc<Reservation>>,
    /// Size of the rows in memory, in bytes.
    pub len_bytes: u64,
    /// Position in the input, as it lies on disk, at which the rows end.
    pub position_bytes: u64,
}

/// The chosen columns of record batches, which are validated; `path` stands for them in messages.
pub fn checked_batches(mut reader: Box<dyn RecordBatchReader + Send>, chosen: Vec<usize>, path: &Path) -> Batches {
    let source = path.to_owned();
    let invalid = move |error: &str| {
        Error::input(&source, None, "rows of a table", format!("what is no valid Arrow data ({error})"))
            .advise("have the library that made the table copy or validate it")
    };
    let batches = std::iter::from_fn(move || {
        // A part without rows of a larger batch may have offsets that are those of no array.
        let mut batches = reader.by_ref().skip_while(|batch| batch.as_ref().is_ok_and(|batch| batch.num_rows() == 0));
        let batch = match making_rows(|| batches.next())? {
            Ok(batch) => batch,
            // Data of another library that cannot be imported.
            Err(error @ ArrowError::CDataInterface(_)) => return Some(Err(invalid(&error.to_string()))),
            // An error of our own, such as that of a damaged image whose edges are read, or of the caller's reader.
            Err(ArrowError::ExternalError(error)) => return Some(Err(Error::custom(error))),
            Err(error) => return Some(Err(Error::custom(error))),
        };
        let rows = guarded(|| {
            let batch = batch.project(&chosen).map_err(|error| error.to_string())?;
            // Tables of other libraries are validated: an offset beyond its buffer would be read.
            for column in batch.columns() {
                column.to_data().validate_full().map_err(|error| error.to_string())?;
            }
            Ok(batch)
        });
        let batch = |rows| Batch { rows, unpacked: Vec::new(), len_bytes: 0, position_bytes: 0 };
        Some(rows.map(batch).map_err(|error| invalid(&error)))
    });
    Box::new(batches)
}
