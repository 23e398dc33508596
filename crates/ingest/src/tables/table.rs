//! Tables: which columns hold what, and record batches from Python; `parquet.rs` and `arrow_stream.rs` read files.
//!
//! The ends are the columns that `--source` and `--target` name, else those whose names mean source and target, else
//! the only two beside the weights; the weights are the column that `--weight` names, else one called `weight`.
//! Anything else is refused: no column is taken for what it may not be. Ids are integers of any width or strings, in
//! dictionaries too. Only the columns needed are read. A null is an error and never a vertex. The libraries that decode
//! the files may panic on damaged ones; that is caught here and becomes an error. A block is at most 65,536 rows, or
//! 8192 with strings, whose edges are handed over in batches of bounded size. How long an id may be follows from the
//! memory, as the length of a line of text does.

use crate::batch::LeftOut;
use crate::batch::{
    BatchWeights, Block, BlockData, EdgeBatch, FULL_BYTES, Facts, IdKind, Ids, InputOptions, Nulls, Parser, ReadBlocks,
    Rows, Source, TakeBatch, Unweighted,
};
use crate::bipartite::with_sides;
use crate::column_names::{Unread, column_asked, find_ends, kinds_note, usual_weight};
use crate::conditions::with_conditions;
use crate::plan::ATTRIBUTES_BYTES;
use crate::tables::attribute_columns::{column_of, find_attributes};
use crate::tables::attributes::{AttributeColumn, AttributeField, Attributes};
use crate::tables::batches::{Batch, Batches, checked_batches};
use crate::tables::values::{
    column_names, complex_numbers, each_integer, each_real, is_complex, is_integer, is_real, kind_name, strings_of,
    texts_of,
};
use crate::text::sample::{other_direction, says_directed};
use crate::text::source::begin;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema};
use outcore_format::{AttributeKind, IdType};
use outcore_image::{Error, Result};
use outcore_io::differing_texts;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The entry of a Parquet file's metadata that says whether edges have a direction, as an export writes it.
pub const DIRECTED_KEY: &str = "outcore.directed";
/// The entry that says whether parallel edges are meant to be kept.
pub const PARALLEL_KEY: &str = "outcore.parallel";
/// The entry that says which column holds the weights.
pub const WEIGHT_KEY: &str = "outcore.weight";

pub(crate) const BLOCK_ROWS: usize = 1 << 16;
/// And how many with strings: a dictionary of few bytes may hold long strings many times.
pub(crate) const STRING_ROWS: usize = 1 << 13;

/// Number of rows that decide whether a column gives the direction.
pub(crate) const FIRST_ROWS: usize = 1000;

/// Largest length of an id in a table from memory, which is not read under a limit.
const LONGEST_ID_BYTES: usize = 1 << 20;

/// Takes edges from record batches, as Python hands them over; `name` stands for a path in messages.
pub fn from_batches(
    mut reader: Box<dyn RecordBatchReader + Send>,
    name: &str,
    options: &InputOptions,
) -> Result<Source> {
    let path = PathBuf::from(name);
    options.check_taken(&["source", "target", "nulls", "attributes", "bipartite"], &path, "a table")?;
    let schema = reader.schema();
    let found = TableColumns::find(&schema, &path, options, options.is_matrix);
    let mut columns = found.or_else(|error| {
        // Without rows there is nothing of the wrong type.
        let has_rows = reader.any(|batch| batch.map_or(true, |batch| batch.num_rows() > 0));
        if has_rows { Err(error) } else { TableColumns::without_rows(&schema, &path, options) }
    })?;
    let batches = columns.see_direction(checked_batches(reader, columns.chosen(), &path))?;
    let facts = columns.facts("arrow");
    let left_out = LeftOut::new(options.nulls);
    let parser = TableParser { path, columns, longest_id_bytes: LONGEST_ID_BYTES, left_out };
    let mut source = with_sides(with_conditions(TableBlocks::source(facts, parser, batches), options)?, options)?;
    source.facts.given.set_all(options);
    source.with_id_type(options.ids)
}

#[derive(Clone, Debug)]
pub(crate) struct TableColumns {
    source: usize,
    target: usize,
    names: [String; 2],
    weight: Option<(usize, String)>,
    has_real_weights: bool,
    /// Whether weights are complex numbers, each a list of two real ones.
    is_complex: bool,
    pub(crate) strings: bool,
    /// An end has no value in any row, so none tells whether ids are strings.
    are_ids_open: bool,
    /// The type of ids that are integers.
    id_type: IdType,
    /// Whether edges have a direction, where the table is an export that says so.
    directed: Option<bool>,
    keeps_parallel: bool,
    /// Gephi's column `Type`, if there is one.
    kind: Option<KindColumn>,
    attributes: Vec<(usize, AttributeField)>,
    /// The attribute of the column `Type`, if the column does not give the direction and is wanted.
    kind_field: Option<AttributeField>,
    unread: Unread,
    /// Conditions may leave out rows without a weight.
    has_conditions: bool,
    /// Rows are the entries of a matrix.
    is_matrix: bool,
}

/// A column that may say on every row whether the edge has a direction.
#[derive(Clone, Debug)]
pub(crate) struct KindColumn {
    pub(crate) column: usize,
    name: String,
    /// The direction, once the first rows were read.
    directed: Option<bool>,
}

impl TableColumns {
    /// The columns of a table of vertices: each id in the first one is read as an edge to itself, and the others are
    /// its attributes.
    fn of_vertices(schema: &Schema, path: &Path) -> Result<Self> {
        if schema.fields().is_empty() {
            return Err(Error::input(path, None, "a column of ids", "no column"));
        }
        let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
        let attributes = find_attributes(schema, path, &all, &[Some(0)])?;
        let is_unread = |column: &usize| *column > 0 && attributes.iter().all(|(kept, _)| kept != column);
        let unread = (0..schema.fields().len()).filter(is_unread).map(|column| schema.field(column).name().clone());
        let unread = Unread { names: unread.collect(), ..Unread::default() };
        let id = schema.field(0).name().clone();
        Ok(TableColumns {
            source: 0,
            target: 0,
            names: [id.clone(), id],
            weight: None,
            has_real_weights: false,
            is_complex: false,
            strings: id_kind(schema, 0, path)?,
            are_ids_open: false,
            id_type: id_type(schema, 0),
            directed: None,
            keeps_parallel: false,
            kind: None,
            unread,
            attributes,
            kind_field: None,
            has_conditions: false,
            is_matrix: false,
        })
    }

    /// Finds the columns by the options and by their names; weights are complex only if they may be.
    pub(crate) fn find(schema: &Schema, path: &Path, options: &InputOptions, may_be_complex: bool) -> Result<Self> {
        if options.of_vertices {
            return Self::of_vertices(schema, path);
        }
        let weight = find_weight(schema, path, options, may_be_complex)?;
        let (source, target) = find_ends(&column_names(schema), weight, path, options)?;
        let kind_of = |column: usize| match value_kind(schema, column) {
            // All of its rows are left out.
            DataType::Null if options.nulls == Nulls::Skip => Ok(None),
            _ => id_kind(schema, column, path).map(Some),
        };
        let kinds = [kind_of(source)?, kind_of(target)?];
        let are_ids_open = kinds.contains(&None);
        let wants_strings = options.ids.wants_strings();
        let strings = wants_strings.filter(|_| are_ids_open).or(kinds[0]).or(kinds[1]).unwrap_or(false);
        if !are_ids_open && kinds[0] != kinds[1] {
            let names = [source, target].map(|column| schema.field(column).name());
            let expected = format!("ids of one kind in the columns `{}` and `{}`", names[0], names[1]);
            return Err(Error::input(path, None, expected, "integers and strings")
                .advise("cast one of them, or name other columns with --source and --target"));
        }
        if wants_strings.is_some_and(|wants_strings| wants_strings != strings) {
            let found = if strings { "strings" } else { "integers" };
            return Err(Error::input(path, None, "ids of the kind that --ids says", found).advise("leave --ids out"));
        }
        let name = |column: usize| schema.field(column).name().clone();
        let directed = schema.metadata().get(DIRECTED_KEY).and_then(|directed| directed.parse().ok());
        let is_kind = |&column: &usize| {
            let is_free = ![Some(source), Some(target), weight].contains(&Some(column));
            is_free && name(column).eq_ignore_ascii_case("type") && is_text(value_kind(schema, column))
        };
        let kind = (0..schema.fields().len()).find(is_kind).filter(|_| directed.is_none());
        let used = [Some(source), Some(target), weight, kind];
        let mut attributes = find_attributes(schema, path, options, &used[..3])?;
        let of_kind = attributes.iter().position(|&(column, _)| Some(column) == kind);
        let kind_field = of_kind.map(|place| attributes.remove(place).1);
        let is_kept = |column: usize| attributes.iter().any(|&(kept, _)| kept == column);
        let is_other = |column: &usize| !used.contains(&Some(*column)) && !is_kept(*column);
        let others = || (0..schema.fields().len()).filter(is_other);
        let may_be_weights = weight.is_none() && options.weight.is_none();
        let weights = others().find(|&column| may_be_weights && value_kind(schema, column).is_numeric()).map(name);
        let may_keep = options.attributes == Attributes::None;
        let unread = Unread { names: others().map(name).collect(), weights, may_keep };
        Ok(TableColumns {
            source,
            target,
            names: [source, target].map(name),
            weight: weight.map(|column| (column, name(column))),
            has_real_weights: weight.is_some_and(|column| is_real(value_kind(schema, column))),
            is_complex: weight.is_some_and(|column| is_complex(value_kind(schema, column))),
            strings,
            are_ids_open,
            id_type: id_type(schema, source).common(id_type(schema, target)),
            directed,
            keeps_parallel: schema.metadata().get(PARALLEL_KEY).is_some_and(|parallel| parallel == "true"),
            kind: kind.map(|column| KindColumn { column, name: name(column), directed: None }),
            attributes,
            kind_field,
            unread,
            has_conditions: !options.conditions.is_empty(),
            is_matrix: options.is_matrix,
        })
    }

    /// The columns of a table without rows, found by their names alone where their types are none that could be read.
    pub(crate) fn without_rows(schema: &Schema, path: &Path, options: &InputOptions) -> Result<Self> {
        if let Ok(columns) = Self::find(schema, path, options, false) {
            return Ok(columns);
        }
        let any = |field: &Arc<Field>| field.as_ref().clone().with_data_type(DataType::Int64);
        let of_integers =
            Schema::new_with_metadata(schema.fields().iter().map(any).collect::<Vec<_>>(), schema.metadata().clone());
        let options = InputOptions { ids: IdKind::Auto, ..options.clone() };
        Self::find(&of_integers, path, &options, false)
    }

    /// The columns to read: source, target, weight, what says the direction, and attributes.
    pub(crate) fn chosen(&self) -> Vec<usize> {
        let mut chosen = vec![self.source, self.target];
        chosen.extend(self.weight.as_ref().map(|(column, _)| *column));
        chosen.extend(self.kind.as_ref().map(|kind| kind.column));
        chosen.extend(self.attributes.iter().map(|(column, _)| *column));
        chosen
    }

    /// Gephi's column `Type`, if there is one.
    #[cfg(feature = "parquet")]
    pub(crate) fn kind(&self) -> Option<&KindColumn> {
        self.kind.as_ref()
    }

    fn attributes_place(&self) -> usize {
        2 + usize::from(self.weight.is_some()) + usize::from(self.kind.is_some())
    }

    fn kind_place(&self) -> Option<usize> {
        self.kind.as_ref().map(|_| 2 + usize::from(self.weight.is_some()))
    }

    /// Takes the direction that all first rows of the column `Type` say; what says anything else is an attribute, the
    /// last of all, or not read.
    pub(crate) fn set_direction(&mut self, rows: Option<&ArrayRef>) {
        let first = rows.map(|rows| rows.slice(0, rows.len().min(FIRST_ROWS)));
        let texts = first.as_ref().map(|rows| texts_of(rows)).unwrap_or_default();
        let directions: Option<Vec<bool>> = texts.iter().map(|text| says_directed(text.as_bytes())).collect();
        let directed = directions.and_then(|directions| directions.first().copied());
        let Some(kind) = self.kind.take() else { return };
        let field = self.kind_field.take();
        match (directed, field) {
            (Some(_), _) => self.kind = Some(KindColumn { directed, ..kind }),
            (None, Some(field)) => self.attributes.push((kind.column, field)),
            (None, None) => self.unread.names.push(kind.name),
        }
    }

    /// Takes the direction that the first batch with rows says, whose columns are the chosen ones.
    pub(crate) fn see_direction(&mut self, mut batches: Batches) -> Result<Batches> {
        let Some(place) = self.kind_place() else { return Ok(batches) };
        let has_rows = |batch: &Result<Batch>| batch.as_ref().map_or(true, |batch| batch.rows.num_rows() > 0);
        let first = batches.find(has_rows).transpose()?;
        self.set_direction(first.as_ref().map(|batch| batch.rows.column(place)));
        let batches = first.into_iter().map(Ok).chain(batches);
        if self.kind.is_some() {
            return Ok(Box::new(batches));
        }
        // A column read for the direction that gives none is the last attribute, or is dropped.
        let width = self.chosen().len();
        let order = move |columns: usize| -> Vec<usize> {
            (0..columns).filter(|&column| column != place).chain([place]).take(width).collect()
        };
        Ok(Box::new(batches.map(move |batch| {
            let batch = batch?;
            let rows = batch.rows.project(&order(batch.rows.num_columns())).map_err(Error::custom)?;
            Ok(Batch { rows, ..batch })
        })))
    }

    pub(crate) fn facts(&self, format: &'static str) -> Facts {
        let weights = self.weight.as_ref().map(|(_, name)| name.clone());
        Facts {
            format,
            directed: self.directed.or(self.kind.as_ref().and_then(|kind| kind.directed)),
            directed_by: self.kind.as_ref().map(|kind| format!("the column `{}`", kind.name)),
            string_ids: self.strings,
            are_ids_open: self.are_ids_open,
            id_type: self.id_type,
            ends: Some(self.names.clone()),
            weights,
            has_real_weights: self.has_real_weights,
            is_complex: self.is_complex,
            keeps_parallel: self.keeps_parallel,
            attributes: self.attributes.iter().map(|(_, field)| field.clone()).collect(),
            unread: self.unread.clone(),
            notes: kinds_note(&self.names[0], &self.names[1], self.strings, self.is_matrix)
                .into_iter()
                .chain(self.unread.note())
                .collect(),
            ..Facts::default()
        }
    }

    pub(crate) fn has_text(&self) -> bool {
        let is_text = |(_, field): &(usize, AttributeField)| field.kind == AttributeKind::String;
        self.strings || self.kind.is_some() || self.attributes.iter().any(is_text)
    }

    /// Whether a column is read as a view of strings.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_view(&self, column: usize) -> bool {
        let is_id = self.strings && !self.are_ids_open && (column == self.source || column == self.target);
        is_id || self.kind.as_ref().is_some_and(|kind| kind.column == column)
    }

    /// Largest number of rows of a block, or of a part of one.
    pub(crate) fn block_rows(&self) -> usize {
        let rows = if self.has_text() { STRING_ROWS } else { BLOCK_ROWS };
        let row_bytes = 8 * self.attributes.len().max(1);
        rows.min(ATTRIBUTES_BYTES as usize / row_bytes)
    }

    /// Order of source, target and weight among themselves in the file.
    #[cfg(feature = "parquet")]
    pub(crate) fn order_in_file(&self) -> Vec<usize> {
        places_in_file(&self.chosen())
    }
}

/// Order of columns among themselves in a file.
#[cfg(feature = "parquet")]
pub(crate) fn places_in_file(chosen: &[usize]) -> Vec<usize> {
    // One column may be chosen twice.
    let mut different = chosen.to_vec();
    different.sort_unstable();
    different.dedup();
    chosen.iter().map(|column| different.partition_point(|other| other < column)).collect()
}

/// The type of a column's values, whether or not they stand in a dictionary.
fn value_kind(schema: &Schema, column: usize) -> &DataType {
    match schema.field(column).data_type() {
        DataType::Dictionary(_, values) => values.as_ref(),
        other => other,
    }
}

/// Whether an id column holds strings (true) or integers (false); anything else is refused.
fn id_kind(schema: &Schema, column: usize, path: &Path) -> Result<bool> {
    match value_kind(schema, column) {
        kind if is_integer(kind) => Ok(false),
        kind if is_text(kind) => Ok(true),
        other => {
            let expected = format!("integers or strings in column `{}`", schema.field(column).name());
            let advice = match other {
                DataType::Struct(_) => "take one field of it as the id",
                kind if is_real(kind) => "cast the column to integers, if all are whole numbers, or to strings",
                _ => "cast the column to strings",
            };
            Err(Error::input(path, None, expected, kind_name(other)).advise(advice))
        }
    }
}

/// The type of an id column of integers; decimals are read as integers of 64 bits.
fn id_type(schema: &Schema, column: usize) -> IdType {
    match value_kind(schema, column) {
        DataType::Int8 => IdType::Int8,
        DataType::Int16 => IdType::Int16,
        DataType::Int32 => IdType::Int32,
        DataType::UInt8 => IdType::UInt8,
        DataType::UInt16 => IdType::UInt16,
        DataType::UInt32 => IdType::UInt32,
        DataType::UInt64 => IdType::UInt64,
        _ => IdType::Int64,
    }
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The column of the weights: the one asked for, else the one that an export names, else one that is called so.
fn find_weight(schema: &Schema, path: &Path, options: &InputOptions, may_be_complex: bool) -> Result<Option<usize>> {
    let names = column_names(schema);
    let column = match options.weight.as_deref() {
        Some("none") => None,
        Some(asked) => Some(column_asked(path, "weight", asked, &names)?),
        // An export without weights says so.
        None if schema.metadata().get(WEIGHT_KEY).is_some_and(String::is_empty) => None,
        None => match schema.metadata().get(WEIGHT_KEY).and_then(|own| names.iter().position(|name| name == own)) {
            None => usual_weight(path, &names, options)?,
            own => own,
        },
    };
    let Some(column) = column else {
        return Ok(None);
    };
    let kind = value_kind(schema, column);
    if !(is_integer(kind) || is_real(kind) || may_be_complex && is_complex(kind)) {
        let expected = format!("numbers in the weight column `{}`", names[column]);
        let cast = match kind {
            DataType::Boolean => "cast the column to integers",
            kind if kind.is_temporal() => {
                "cast the column to integers or float64, in the unit that the weights should have"
            }
            _ => "cast the column to float64",
        };
        let advice = format!("{cast}, or leave it out with --weight none");
        return Err(Error::input(path, None, expected, kind_name(kind)).advise(advice));
    }
    Ok(Some(column))
}

pub(crate) struct TableBlocks {
    batches: Batches,
    most_rows: usize,
    rest: Option<Batch>,
    next_row: u64,
    sequence: u64,
    ended: bool,
}

impl TableBlocks {
    pub(crate) fn source(facts: Facts, parser: TableParser, batches: Batches) -> Source {
        let most_rows = parser.columns.block_rows();
        let blocks = TableBlocks { batches, most_rows, rest: None, next_row: 0, sequence: 0, ended: false };
        Source::new(facts, Arc::new(parser), blocks)
    }
}

impl ReadBlocks for TableBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let Some(batch) = self.rest.take().map(Ok).or_else(|| self.batches.next()).transpose()? else {
            self.ended = true;
            return Ok(None);
        };
        let Batch { rows, unpacked, position_bytes: input_bytes, .. } = batch;
        let (count, most) = (rows.num_rows(), self.most_rows);
        let table = rows.slice(0, count.min(most));
        if count > most {
            self.rest = Some(Batch { rows: rows.slice(most, count - most), unpacked: unpacked.clone(), ..batch });
        }
        let (sequence, first_record) = (self.sequence, self.next_row);
        self.sequence += 1;
        self.next_row += table.num_rows() as u64;
        let data = if unpacked.is_empty() {
            BlockData::Table(table)
        } else {
            let mut table = Some(table);
            let batches = std::iter::from_fn(move || {
                // The memory is set aside until the table has been parsed, when the iterator is dropped.
                let _ = &unpacked;
                table.take().map(Ok)
            });
            BlockData::Rows(Rows { batches: Box::new(batches), parts: 1 })
        };
        Ok(Some(Block { sequence, first_record, first_vertex: 0, input_bytes, data }))
    }
}

/// Takes edges from the columns source, target and weight, in this order.
pub(crate) struct TableParser {
    pub(crate) path: PathBuf,
    pub(crate) columns: TableColumns,
    pub(crate) longest_id_bytes: usize,
    pub(crate) left_out: LeftOut,
}

impl TableParser {
    fn integer_ids(&self, table: &RecordBatch, first_record: u64, ids: &mut Ids) -> Result<()> {
        let Ids::Integer { values, negative, huge } = ids else {
            unreachable!("`begin` makes integer ids");
        };
        let rows = table.num_rows();
        values.resize(rows * 2, 0);
        for end in 0..2 {
            let (column, name) = self.column(table, end, first_record)?;
            let mut places = values.iter_mut().skip(end).step_by(2);
            let (mut row, mut wide) = (first_record, None);
            let known = each_integer(column, |id| {
                // An id is kept by its 64 bits, whichever kind it is of.
                places.next().into_iter().for_each(|place| *place = id as u64);
                *negative |= id < 0;
                *huge |= id > i64::MAX.into();
                if id < i64::MIN.into() || id > u64::MAX.into() {
                    wide.get_or_insert((row, id));
                }
                row += 1;
            });
            if let Some((row, id)) = wide {
                let expected = format!("integers of 64 bits in column `{name}`");
                return Err(Error::input(&self.path, Some(row), expected, format!("{id} in row {row}"))
                    .advise("cast the columns of ids to strings; rows count from 0"));
            }
            if !known {
                let expected = format!("integers in column `{name}`");
                return Err(Error::input(&self.path, Some(first_record), expected, column.data_type().to_string()));
            }
        }
        ids.check_one_kind(&self.path, first_record, "cast the columns of ids to strings")
    }

    /// A column without nulls, and its name.
    fn column<'a>(&self, table: &'a RecordBatch, place: usize, first_record: u64) -> Result<(&'a ArrayRef, &'a str)> {
        let (column, name) = self.any_column(table, place, first_record)?;
        // Nulls may be in a dictionary's values, hence the logical ones.
        if let Some(nulls) = column.logical_nulls()
            && nulls.null_count() > 0
        {
            let row = nulls.iter().position(|is_valid| !is_valid).unwrap_or(0) as u64 + first_record;
            return Err(self.no_value(name, "null", row, place < 2));
        }
        Ok((column, name))
    }

    /// A column, which may have nulls, and its name.
    fn any_column<'a>(&self, table: &'a RecordBatch, place: usize, first: u64) -> Result<(&'a ArrayRef, &'a str)> {
        let column = table.columns().get(place);
        let column = column.ok_or_else(|| {
            Error::input(&self.path, Some(first), format!("column {place}"), "no such column") //
        })?;
        Ok((column, table.schema_ref().field(place).name()))
    }

    /// The refusal of what is no value, in a column of ids or of weights.
    fn no_value(&self, column: &str, found: &str, row: u64, is_id: bool) -> Error {
        let (expected, found) = (format!("a value in column `{column}`"), format!("{found} in row {row}"));
        let advice = match is_id {
            true => "say --nulls skip to leave such rows out; rows count from 0",
            false => {
                "leave such rows out with --where, as in `--where 'COLUMN != null'`, or leave weights out with --weight \
                 none; rows count from 0"
            }
        };
        Error::input(&self.path, Some(row), expected, found).advise(advice)
    }

    /// The rows without a weight, null or NaN, where conditions may leave them out.
    fn unweighted(&self, table: &RecordBatch, first_record: u64) -> Result<Vec<Unweighted>> {
        if self.columns.weight.is_none() || !self.columns.has_conditions || self.columns.is_complex {
            return Ok(Vec::new());
        }
        let (column, _) = self.any_column(table, 2, first_record)?;
        let mut is_missing: Vec<bool> = match column.logical_nulls() {
            Some(nulls) => nulls.iter().map(|is_valid| !is_valid).collect(),
            None => vec![false; column.len()],
        };
        let mut places = is_missing.iter_mut();
        each_real(column, |value| places.by_ref().take(1).for_each(|is_missing| *is_missing |= value.is_nan()));
        let missing = is_missing.into_iter().enumerate().filter(|(_, is_missing)| *is_missing);
        Ok(missing.map(|(edge, _)| Unweighted { edge, record: first_record + edge as u64 }).collect())
    }

    fn both_ends<'a>(&self, table: &'a RecordBatch, first_record: u64) -> Result<[Vec<&'a str>; 2]> {
        Ok([self.strings(table, 0, first_record)?, self.strings(table, 1, first_record)?])
    }

    fn strings<'a>(&self, table: &'a RecordBatch, place: usize, first_record: u64) -> Result<Vec<&'a str>> {
        let (column, name) = self.column(table, place, first_record)?;
        let rows: Vec<usize> = (0..table.num_rows()).collect();
        strings_of(column, &rows).ok_or_else(|| {
            let expected = format!("strings in column `{name}`");
            Error::input(&self.path, Some(first_record), expected, column.data_type().to_string())
        })
    }

    fn string_ids(&self, [sources, targets]: [&[&str]; 2], first_record: u64, ids: &mut Ids) -> Result<()> {
        let Ids::Text { bytes, ends } = ids else {
            unreachable!("`begin` makes string ids");
        };
        bytes.reserve_exact(sources.iter().chain(targets).map(|id| id.len()).sum());
        for (row, (source, target)) in (first_record..).zip(sources.iter().zip(targets)) {
            for id in [source, target] {
                if id.len() > self.longest_id_bytes {
                    return Err(self.id_too_long(id, row));
                }
                bytes.extend_from_slice(id.as_bytes());
                let end = u32::try_from(bytes.len()).map_err(|_| {
                    Error::input(
                        &self.path,
                        Some(row),
                        "ids of less than 4 GiB in 8192 rows",
                        format!("{} bytes of ids up to this row", bytes.len()),
                    )
                })?;
                ends.push(end);
            }
        }
        Ok(())
    }

    fn id_too_long(&self, id: &str, row: u64) -> Error {
        let [most, found] = differing_texts(self.longest_id_bytes as u64, id.len() as u64);
        Error::input(&self.path, Some(row), format!("an id of at most {most}"), format!("{found} in row {row}"))
            .advise("give shorter ids; those of files may be longer under a higher memory limit; rows count from 0")
    }

    fn rows<'a>(&self, block: &'a Block) -> Result<&'a RecordBatch> {
        match &block.data {
            BlockData::Table(table) => Ok(table),
            _ => Err(Error::input(&self.path, None, "rows of a table", "bytes")),
        }
    }

    /// Refuses rows whose column `Type` says another direction than the first.
    fn check_direction(&self, table: &RecordBatch, first_record: u64) -> Result<()> {
        let (Some(kind), Some(place)) = (&self.columns.kind, self.columns.kind_place()) else { return Ok(()) };
        let texts = table.columns().get(place).map(|column| texts_of(column)).unwrap_or_default();
        match texts.iter().position(|text| says_directed(text.as_bytes()) != kind.directed) {
            None => Ok(()),
            Some(row) => {
                let (column, directed) = (format!("column `{}`", kind.name), kind.directed == Some(true));
                let row_number = first_record + row as u64;
                Err(other_direction(&self.path, row_number, directed, &column, texts[row].as_bytes()))
            }
        }
    }

    fn attributes(&self, table: &RecordBatch, first_record: u64) -> Result<Vec<AttributeColumn>> {
        let columns = table.columns().get(self.columns.attributes_place()..).unwrap_or_default();
        let fields = columns.iter().zip(&self.columns.attributes);
        fields.map(|(column, (_, field))| column_of(column, field, &self.path, first_record)).collect()
    }

    /// The weights of rows, 0 for those without one.
    fn weights(&self, table: &RecordBatch, first_record: u64, unweighted: &[Unweighted]) -> Result<BatchWeights> {
        if self.columns.weight.is_none() {
            return Ok(BatchWeights::None);
        }
        let has_none = |edge: usize| unweighted.binary_search_by_key(&edge, |one| one.edge).is_ok();
        let (column, name) = match unweighted.is_empty() {
            true => self.column(table, 2, first_record)?,
            false => self.any_column(table, 2, first_record)?,
        };
        if self.columns.is_complex {
            let values = complex_numbers(column).ok_or_else(|| {
                let expected = format!("complex numbers in the column `{name}`");
                Error::input(&self.path, Some(first_record), expected, column.data_type().to_string())
            })?;
            let found = values.iter().position(|parts| parts.iter().any(|part| !part.is_finite()));
            let text = |place: usize| format!("{} + {}i", values[place][0], values[place][1]);
            self.check_finite(found.map(|place| (place, text(place))), name, first_record)?;
            return Ok(BatchWeights::Complex(values));
        }
        let (mut integers, mut wide) = (Vec::with_capacity(table.num_rows()), None);
        let is_integer = each_integer(column, |value| {
            let value = if has_none(integers.len()) { 0 } else { value };
            if i64::try_from(value).is_err() {
                wide.get_or_insert((integers.len() as u64, value));
            }
            integers.push(value as i64);
        });
        if let Some((place, value)) = wide {
            let row = first_record + place;
            let expected = format!("integers up to {} in column `{name}`", i64::MAX);
            return Err(Error::input(&self.path, Some(row), expected, format!("{value} in row {row}"))
                .advise("cast the column to float64; rows count from 0"));
        }
        if is_integer {
            return Ok(BatchWeights::Integer(integers));
        }
        let mut values = Vec::with_capacity(table.num_rows());
        if !each_real(column, |value| values.push(if has_none(values.len()) { 0.0 } else { value })) {
            let expected = format!("numbers in the weight column `{name}`");
            return Err(Error::input(&self.path, Some(first_record), expected, column.data_type().to_string()));
        }
        let found = values.iter().position(|value| !value.is_finite());
        self.check_finite(found.map(|place| (place, values[place].to_string())), name, first_record)?;
        Ok(BatchWeights::Real(values))
    }

    /// Refuses a weight that is not finite: its place in a block, and what it is.
    fn check_finite(&self, found: Option<(usize, String)>, name: &str, first_record: u64) -> Result<()> {
        let Some((place, found)) = found else { return Ok(()) };
        let row = first_record + place as u64;
        let expected = format!("finite numbers in the weight column `{name}`");
        Err(Error::input(&self.path, Some(row), expected, format!("{found} in row {row}"))
            .advise("leave such rows out first; rows count from 0"))
    }
}

impl Parser for TableParser {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        if !self.left_out.is_wanted() {
            return self.parse_rows(block, batch, take);
        }
        let table = self.rows(block)?;
        for rows in self.rows_with_ends(table) {
            let part = Block {
                sequence: block.sequence,
                first_record: block.first_record + rows.start as u64,
                first_vertex: block.first_vertex,
                input_bytes: block.input_bytes,
                data: BlockData::Table(table.slice(rows.start, rows.len())),
            };
            self.parse_rows(&part, batch, take)?;
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn no_weight(&self, _: u64, record: u64) -> Error {
        let column = self.columns.weight.as_ref().map_or("weight", |(_, name)| name);
        self.no_value(column, "null or NaN", record, false)
    }

    fn left_out(&self) -> u64 {
        self.left_out.count()
    }
}

impl TableParser {
    /// The rows that have a value at both ends, in runs; the others are counted.
    fn rows_with_ends(&self, table: &RecordBatch) -> Vec<std::ops::Range<usize>> {
        let nulls = |place: usize| table.columns().get(place).and_then(|column| column.logical_nulls());
        let Some(nulls) = NullBuffer::union(nulls(0).as_ref(), nulls(1).as_ref()) else {
            return std::iter::once(0..table.num_rows()).collect();
        };
        self.left_out.add(nulls.null_count() as u64);
        nulls.valid_slices().map(|(start, end)| start..end).collect()
    }

    /// Parses rows, whose edges are handed over in batches of bounded size.
    fn parse_rows(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, self.columns.strings);
        let table = self.rows(block)?;
        self.check_direction(table, block.first_record)?;
        if !self.columns.strings {
            self.integer_ids(table, block.first_record, &mut batch.ids)?;
            batch.unweighted = self.unweighted(table, block.first_record)?;
            batch.weights = self.weights(table, block.first_record, &batch.unweighted)?;
            batch.attributes = self.attributes(table, block.first_record)?;
            return take(batch);
        }
        let [sources, targets] = self.both_ends(table, block.first_record)?;
        let mut start = 0;
        while start < sources.len() {
            let mut len_bytes = 0;
            let lens =
                sources[start..].iter().zip(&targets[start..]).map(|(source, target)| source.len() + target.len());
            let more = lens.take_while(|len| {
                len_bytes += len;
                len_bytes < FULL_BYTES
            });
            let rows = start..(start + more.count().max(1)).min(sources.len());
            let first_record = block.first_record + start as u64;
            self.string_ids([&sources[rows.clone()], &targets[rows.clone()]], first_record, &mut batch.ids)?;
            let table = table.slice(start, rows.len());
            batch.unweighted = self.unweighted(&table, first_record)?;
            batch.weights = self.weights(&table, first_record, &batch.unweighted)?;
            batch.attributes = self.attributes(&table, first_record)?;
            take(batch)?;
            start = rows.end;
        }
        Ok(())
    }
}
