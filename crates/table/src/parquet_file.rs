//! The writer of Parquet files, for tables and for exports of graphs.

use crate::output::refuse;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use outcore_image::{AtomicFile, Result};

#[cfg(feature = "parquet")]
pub use encoder::ParquetWriter;
#[cfg(not(feature = "parquet"))]
pub use no_encoder::ParquetWriter;

/// Begins a Parquet file in `file`.
///
/// # Errors
/// What the encoder refuses, which `refused` then says; a build without the feature `parquet`.
pub fn parquet_writer<'a>(
    file: &'a mut AtomicFile,
    schema: SchemaRef,
    refused: &mut Option<String>,
) -> Result<ParquetWriter<'a>> {
    ParquetWriter::new(file, schema).map_err(|error| refuse(refused, error))
}

#[cfg(feature = "parquet")]
mod encoder {
    use super::*;
    use crate::ids::BATCH_IDS;
    use crate::output::GROUP_BYTES;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::errors::Result;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use std::collections::BTreeMap;

    /// Largest number of rows of a row group.
    const GROUP_ROWS: usize = 4 * BATCH_IDS;

    /// A writer of Parquet whose row groups stay small.
    pub struct ParquetWriter<'a> {
        writer: ArrowWriter<&'a mut AtomicFile>,
    }

    impl<'a> ParquetWriter<'a> {
        pub(super) fn new(file: &'a mut AtomicFile, schema: SchemaRef) -> Result<Self> {
            // In the order of the keys, for the same bytes every time.
            let metadata: BTreeMap<_, _> = schema.metadata.iter().collect();
            let metadata = metadata.into_iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
            let properties = WriterProperties::builder()
                .set_key_value_metadata(Some(metadata.collect()))
                .set_created_by(concat!("outcore ", env!("CARGO_PKG_VERSION")).to_owned())
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_dictionary_enabled(false)
                .set_max_row_group_row_count(Some(GROUP_ROWS))
                .build();
            Ok(ParquetWriter { writer: ArrowWriter::try_new(file, schema, Some(properties))? })
        }

        /// Appends rows.
        ///
        /// # Errors
        /// What the encoder refuses.
        pub fn put(&mut self, batch: &RecordBatch) -> Result<()> {
            self.writer.write(batch)?;
            if self.writer.in_progress_size() > GROUP_BYTES { self.writer.flush() } else { Ok(()) }
        }

        /// Writes the remaining rows and the footer.
        ///
        /// # Errors
        /// What the encoder refuses.
        pub fn finish(mut self) -> Result<()> {
            self.writer.finish().map(|_| ())
        }
    }
}

#[cfg(not(feature = "parquet"))]
mod no_encoder {
    use super::*;
    use std::convert::Infallible;
    use std::marker::PhantomData;

    /// Without the feature `parquet` there is no such writer.
    pub struct ParquetWriter<'a>(Infallible, PhantomData<&'a mut AtomicFile>);

    impl<'a> ParquetWriter<'a> {
        pub(super) fn new(_: &'a mut AtomicFile, _: SchemaRef) -> std::result::Result<Self, &'static str> {
            Err("this build of Outcore writes no Parquet files, for it lacks the feature `parquet`")
        }

        /// Appends rows.
        ///
        /// # Errors
        /// None.
        pub fn put(&mut self, _: &RecordBatch) -> std::result::Result<(), Infallible> {
            match self.0 {}
        }

        /// Writes the remaining rows and the footer.
        ///
        /// # Errors
        /// None.
        pub fn finish(self) -> std::result::Result<(), Infallible> {
            match self.0 {}
        }
    }
}
