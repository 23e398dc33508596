//! Columns of numbers in Parquet files, of which any rows are read.
//!
//! *Idea.* When a file is opened, the headers of all pages of the columns that are taken are read
//! (`ingest/src/tables/parquet_pages.rs`): they tell what decoding takes, and where pages begin. With that the library
//! that decodes skips to the page that has the first row, and neither reads nor unpacks those before it. It is handed
//! a file of one column and one row group: it looks at all columns that it knows of for every run of rows, which in a
//! wide file would be the square of their number.
//!
//! *Cost.* One small read per page when the file is opened, and 24 bytes of memory for it; a page that rows begin or
//! end in is decoded for those before and behind it again.

use crate::placed_table::{Packing, PlacedColumns};
use arrow_array::Array;
use arrow_schema::{Schema, SchemaRef};
use outcore_image::Result;
use outcore_ingest::parts::{Chunks, CountedFile, Input, VALUE_BYTES, damaged, guarded, load_parquet, placed_pages};
use outcore_io::{Budget, Reservation};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelectionPolicy,
};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, RowGroupMetaData};
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

const DECODED_ROWS: usize = 1 << 14;

/// Memory of a column beside its name, in schemas and lists of columns.
const FIELD_BYTES: usize = 768;
/// Memory of the plan of a column, with its own schemas, beside its name.
const PLAN_BYTES: usize = 1024;

pub(crate) struct ParquetColumns {
    path: PathBuf,
    metadata: Arc<ParquetMetaData>,
    /// The plans of the columns that are read.
    columns: Vec<ColumnPlan>,
    /// The first rows of the groups, and how many rows there are.
    first_rows: Vec<u64>,
    _reservation: Reservation,
}

struct ColumnPlan {
    leaf: usize,
    /// The schema of a file that has this column only, and what the column becomes.
    parquet: SchemaDescPtr,
    arrow: SchemaRef,
    /// The pages of each row group; of a group without them, all is decoded.
    pages: Vec<Option<OffsetIndexMetaData>>,
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
        let (metadata, _, reservation) = load_parquet(&reader, input)?;
        let chosen = choose(metadata.schema())?;
        let schema = metadata.schema().project(&chosen).map_err(|error| failed(error.to_string()))?;
        let parquet = metadata.parquet_schema();
        let (groups, all) = (metadata.metadata().num_row_groups(), parquet.num_columns());
        let purpose = format!("the places of pages of {}", path.display());
        let keep = |bytes: usize| match reservation.grow(bytes as u64) {
            true => Ok(()),
            false => Err(input.budget().refusal(&purpose, bytes as u64, input.budget().available_bytes())),
        };
        let names: usize = metadata.schema().fields().iter().map(|field| field.name().len()).sum();
        let plans_bytes = PLAN_BYTES + groups * size_of::<Option<OffsetIndexMetaData>>();
        keep(chosen.len() * plans_bytes + all * FIELD_BYTES + 6 * names)?;
        // The first value of each column; one of numbers has no other.
        let mut leaves = vec![None; metadata.schema().fields().len()];
        for leaf in (0..all).rev() {
            if let Some(first) = leaves.get_mut(parquet.get_column_root_idx(leaf)) {
                *first = Some(leaf);
            }
        }
        let mut columns = Vec::with_capacity(chosen.len());
        for &column in &chosen {
            let leaf = leaves[column].ok_or_else(|| failed("a column without values".to_owned()))?;
            let found = guarded(|| placed_pages(&reader, metadata.metadata(), leaf)).map_err(failed)?;
            let (pages_bytes, pages) = found;
            let places_bytes = |group: &OffsetIndexMetaData| group.page_locations.len() * size_of::<PageLocation>();
            keep(pages.iter().flatten().map(places_bytes).sum())?;
            // A reader has a copy of the places of its group.
            let copied_bytes = pages.iter().flatten().map(places_bytes).max().unwrap_or(0);
            let decoding_bytes = pages_bytes + (VALUE_BYTES * DECODED_ROWS + copied_bytes) as u64;
            let alone = alone(parquet.get_column_root_ptr(leaf)).map_err(failed)?;
            let arrow = Arc::new(Schema::new(vec![Arc::clone(&metadata.schema().fields()[column])]));
            columns.push(ColumnPlan { leaf, parquet: alone, arrow, pages, decoding_bytes });
        }
        let mut first_rows = vec![0u64];
        for group in metadata.metadata().row_groups() {
            let before = first_rows[first_rows.len() - 1];
            first_rows.push(before.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0)));
        }
        let (path, metadata) = (path.to_owned(), Arc::clone(metadata.metadata()));
        Ok((ParquetColumns { path, metadata, columns, first_rows, _reservation: reservation }, schema))
    }

    /// The metadata of a row group and one of its columns.
    fn metadata_of(&self, column: usize, group: usize) -> parquet::errors::Result<ArrowReaderMetadata> {
        let plan = &self.columns[column];
        let (file, whole) = (self.metadata.file_metadata(), self.metadata.row_group(group));
        let schema = || Arc::clone(&plan.parquet);
        let own = RowGroupMetaData::builder(schema())
            .set_num_rows(whole.num_rows())
            .set_total_byte_size(whole.column(plan.leaf).uncompressed_size())
            .set_column_metadata(vec![whole.column(plan.leaf).clone()])
            .build()?;
        let created_by = file.created_by().map(str::to_owned);
        let file = FileMetaData::new(file.version(), whole.num_rows(), created_by, None, schema(), None);
        let pages = plan.pages[group].clone().map(|pages| vec![vec![pages]]);
        let metadata = ParquetMetaDataBuilder::new(file).set_row_groups(vec![own]).set_offset_index(pages).build();
        let options = ArrowReaderOptions::new().with_schema(Arc::clone(&plan.arrow));
        ArrowReaderMetadata::try_new(Arc::new(metadata), options)
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
        let metadata = self.metadata_of(column, group).map_err(|error| error.to_string())?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(Chunks(file.clone()), metadata);
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
        let groups = self.metadata.row_groups().iter();
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
        let (group, plan) = (self.group_of(run.start), &self.columns[column]);
        let (start, len) = self.metadata.row_group(group).column(plan.leaf).byte_range();
        let places = plan.pages[group].as_ref();
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

/// The schema of a file that has one column.
fn alone(root: TypePtr) -> std::result::Result<SchemaDescPtr, String> {
    let schema = Type::group_type_builder("schema").with_fields(vec![root]).build();
    schema.map(|schema| Arc::new(SchemaDescriptor::new(Arc::new(schema)))).map_err(|error| error.to_string())
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
