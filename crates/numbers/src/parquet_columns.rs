//! Columns of numbers in Parquet files, of which any rows are read.
//!
//! *Idea.* When a file is opened, the headers of all pages of the columns that are taken are read
//! (`ingest/src/tables/parquet_pages.rs`): they tell what decoding takes, and where pages begin. With that the library
//! that decodes skips to the page that has the first row, and neither reads nor unpacks those before it.
//!
//! *Cost.* One small read per page when the file is opened, and 24 bytes of memory for it; a page that rows begin or
//! end in is decoded for those before and behind it again.

use crate::placed_table::{Packing, PlacedColumns};
use arrow_array::Array;
use arrow_schema::Schema;
use outcore_image::Result;
use outcore_ingest::parts::{Chunks, CountedFile, Input, VALUE_BYTES, damaged, guarded, load_parquet, placed_pages};
use outcore_io::{Budget, Reservation};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelectionPolicy,
};
use parquet::basic::{Compression, Encoding};
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

const DECODED_ROWS: usize = 1 << 14;

/// Memory of a column beside its name, in schemas and lists of columns.
const FIELD_BYTES: usize = 768;

pub(crate) struct ParquetColumns {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// The plans of the columns that are read.
    columns: Vec<ColumnPlan>,
    /// The first rows of the groups, and how many rows there are.
    first_rows: Vec<u64>,
    _reservation: Reservation,
}

struct ColumnPlan {
    leaf: usize,
    /// Memory for decoding, in bytes.
    decoding_bytes: u64,
}

impl ParquetColumns {
    /// Opens a file, of which `choose` takes columns that hold numbers, by its schema.
    pub(crate) fn open(
        input: &Input,
        file: &CountedFile,
        choose: impl FnOnce(&Schema) -> Result<Vec<usize>>,
    ) -> Result<(Self, Schema)> {
        let (path, reader) = (input.path(), Chunks(file.clone()));
        let failed = |error: String| damaged(path, "a Parquet file", &error);
        let (metadata, options, reservation) = load_parquet(&reader, input)?;
        let chosen = choose(metadata.schema())?;
        let schema = metadata.schema().project(&chosen).map_err(|error| failed(error.to_string()))?;
        let parquet = metadata.parquet_schema();
        let leaves = |mask: &ProjectionMask| (0..parquet.num_columns()).find(|&leaf| mask.leaf_included(leaf));
        let (groups, all) = (metadata.metadata().num_row_groups(), parquet.num_columns());
        let purpose = format!("the places of pages of {}", path.display());
        let keep = |bytes: usize| match reservation.grow(bytes as u64) {
            true => Ok(()),
            false => Err(input.budget().refusal(&purpose, bytes as u64, input.budget().available_bytes())),
        };
        let names: usize = metadata.schema().fields().iter().map(|field| field.name().len()).sum();
        keep(groups * all * size_of::<OffsetIndexMetaData>() + all * FIELD_BYTES + 4 * names)?;
        let none = OffsetIndexMetaData { page_locations: Vec::new(), unencoded_byte_array_data_bytes: None };
        let mut places = vec![vec![none; all]; groups];
        let mut columns = Vec::with_capacity(chosen.len());
        for &column in &chosen {
            let mask = ProjectionMask::roots(parquet, [column]);
            let leaf = leaves(&mask).ok_or_else(|| failed("a column without values".to_owned()))?;
            let found = guarded(|| placed_pages(&reader, metadata.metadata(), leaf)).map_err(failed)?;
            let (pages_bytes, own) = found;
            keep(own.iter().flatten().map(|group| group.page_locations.len() * size_of::<PageLocation>()).sum())?;
            for (group, own) in places.iter_mut().zip(own) {
                match (own, group.get_mut(leaf)) {
                    (Some(own), Some(place)) => *place = own,
                    // The group is read without an index.
                    _ => group.clear(),
                }
            }
            let decoding_bytes = pages_bytes + (VALUE_BYTES * DECODED_ROWS) as u64;
            columns.push(ColumnPlan { leaf, decoding_bytes });
        }
        let mut first_rows = vec![0u64];
        for group in metadata.metadata().row_groups() {
            let before = first_rows[first_rows.len() - 1];
            first_rows.push(before.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0)));
        }
        let own = Arc::clone(metadata.metadata());
        drop(metadata);
        // Nobody else has it now, so that it is no copy.
        let placed = Arc::unwrap_or_clone(own).into_builder().set_offset_index(Some(places)).build();
        let placed = || ArrowReaderMetadata::try_new(placed.into(), options).map_err(|error| error.to_string());
        let metadata = guarded(placed).map_err(failed)?;
        let path = path.to_owned();
        Ok((ParquetColumns { path, metadata, columns, first_rows, _reservation: reservation }, schema))
    }

    fn group_of(&self, row: u64) -> usize {
        self.first_rows.partition_point(|&first| first <= row) - 1
    }

    fn reader(
        &self,
        file: &CountedFile,
        column: usize,
        group: usize,
        rows: &Range<u64>,
    ) -> std::result::Result<ParquetRecordBatchReader, String> {
        let (first, count) = (rows.start - self.first_rows[group], rows.end - rows.start);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(Chunks(file.clone()), self.metadata.clone());
        // A mask has a flag for every column of the file, so that none is kept for each.
        let mask = ProjectionMask::leaves(self.metadata.parquet_schema(), [self.columns[column].leaf]);
        let builder = builder.with_row_groups(vec![group]).with_projection(mask);
        let builder = builder.with_row_selection_policy(RowSelectionPolicy::Selectors).with_batch_size(DECODED_ROWS);
        let builder = builder.with_offset(first as usize).with_limit(count as usize);
        builder.build().map_err(|error| error.to_string())
    }
}

impl PlacedColumns for ParquetColumns {
    fn rows(&self) -> u64 {
        self.first_rows[self.first_rows.len() - 1]
    }

    fn packing(&self) -> Packing {
        let (mut codecs, mut encodings) = (BTreeSet::new(), BTreeSet::new());
        let groups = self.metadata.metadata().row_groups().iter();
        for chunk in groups.flat_map(|group| self.columns.iter().map(|column| group.column(column.leaf))) {
            codecs.insert(codec_name(chunk.compression()));
            // Levels, which say what is missing, have encodings of their own.
            let all = chunk.encodings().filter(|encoding| *encoding != Encoding::RLE);
            encodings.extend(all.map(|encoding| encoding.to_string().to_lowercase().replace('_', " ")));
        }
        let (codecs, encodings) = (codecs.into_iter().collect(), encodings.into_iter().collect());
        Packing { groups: self.first_rows.len() - 1, group_name: "row groups", codecs, encodings }
    }

    fn run_end(&self, row: u64, most_rows: u64) -> u64 {
        self.first_rows[self.group_of(row) + 1].min(row + most_rows)
    }

    fn read_bytes(&self, column: usize, run: Range<u64>) -> u64 {
        let (group, leaf) = (self.group_of(run.start), self.columns[column].leaf);
        let (start, len) = self.metadata.metadata().row_group(group).column(leaf).byte_range();
        let places = self.metadata.metadata().offset_index().and_then(|groups| groups.get(group)?.get(leaf));
        let Some(pages) = places.map(|index| index.page_locations()).filter(|pages| !pages.is_empty()) else {
            return len;
        };
        let [first, end] = [run.start, run.end].map(|row| (row - self.first_rows[group]) as i64);
        let before = |row: i64| pages.partition_point(|page| page.first_row_index < row);
        let pages_between = &pages[before(first + 1).saturating_sub(1)..before(end)];
        let dictionary_bytes = (pages[0].offset as u64).saturating_sub(start);
        pages_between.iter().map(|page| u64::try_from(page.compressed_page_size).unwrap_or(0)).sum::<u64>()
            + dictionary_bytes
    }

    fn decoding_bytes(&self, column: usize) -> u64 {
        self.columns[column].decoding_bytes
    }

    fn read(
        &self,
        file: &CountedFile,
        _: &Budget,
        (column, rows): (usize, Range<u64>),
        take: &mut dyn FnMut(&dyn Array) -> Result<()>,
    ) -> Result<()> {
        let damaged = |error: String| damaged(&self.path, "rows of a table", &error);
        let group = self.group_of(rows.start);
        let mut reader = guarded(|| self.reader(file, column, group, &rows)).map_err(damaged)?;
        let mut left = rows.end - rows.start;
        while left > 0 {
            let next = || reader.next().transpose().map_err(|error| error.to_string());
            let batch = guarded(next).map_err(damaged)?;
            let found = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
            let Some(batch) = batch.filter(|_| found == left.min(DECODED_ROWS as u64)) else {
                return Err(damaged(format!("{found} rows where {left} of row group {group} are left")));
            };
            take(batch.column(0))?;
            left -= found;
        }
        Ok(())
    }
}

fn codec_name(codec: Compression) -> String {
    match codec {
        Compression::UNCOMPRESSED => "none".to_owned(),
        Compression::ZSTD(_) => "zstd".to_owned(),
        Compression::GZIP(_) => "gzip".to_owned(),
        Compression::LZ4 | Compression::LZ4_RAW => "lz4".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}
