//! Tables: one row per vertex, or per vertex of a selection, under the users' ids.
//!
//! A table shares the result arrays of an algorithm and names them; it stores no rows. Its first column is `vertex`,
//! the users' ids; rows are in vertex order: sorted by id in images of order `input`, by degree class first in those of
//! order `degree`, neighbours together in those of order `near`. [`Table::reader`] makes batches of rows in bounded
//! memory, any number of times; columns whose values are vertices need their ids (`names.rs`).

use crate::ids::{BATCH_IDS, BATCH_TEXT_BYTES, Id, IdBatch, IdStream, string_ids};
use crate::names::{Names, least_bytes};
use crate::origin::Origin;
use arrow_array::{
    ArrayRef, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, RecordBatchReader, StringArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use outcore_format::{IdType, WeightKind};
use outcore_image::{Error, Image, Result};
use outcore_io::buffer::{Raw, raw_bytes};
use outcore_io::{Budget, Buffer, Fuse, Reservation};
use serde::Serialize;
use std::sync::Arc;

/// The values of a column, one per vertex, in an algorithm's encoding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Column {
    /// Real numbers.
    Real(Arc<Buffer<f64>>),
    /// Integers. Users calculate with them, so they are shown as signed.
    Number(Arc<Buffer<u32>>),
    /// Integers that may be large, below 2^63. They are shown as signed, too.
    Count(Arc<Buffer<u64>>),
    /// Integers of 64 bits without a sign, of vertex programs.
    Unsigned(Arc<Buffer<u64>>),
    /// Integers of 64 bits with a sign, of vertex programs.
    Signed(Arc<Buffer<i64>>),
    /// Levels: 0 is none, otherwise the level plus one.
    Level(Arc<Buffer<u32>>),
    /// Distances: the complements of the bits of integers, or of real numbers, that are not negative; 0 is none.
    Distance(Arc<Buffer<u64>>, WeightKind),
    /// Vertices, such as parents: 0 is none, otherwise the bitwise complement of the vertex. Users see its id.
    Vertex(Arc<Buffer<u32>>),
    /// Components: the smallest vertex of each. Users see the component's smallest id, in any order of vertices.
    Component(Arc<Buffer<u32>>),
    /// Labels: a vertex for every vertex. Users see its id.
    Label(Arc<Buffer<u32>>),
}

/// The kind of a column before it has values; see [`Column`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// Real numbers.
    Real,
    /// Whole numbers.
    Number,
    /// Whole numbers that may be large.
    Count,
    /// Levels.
    Level,
    /// Distances.
    Distance,
    /// Vertices.
    Vertex,
    /// Components.
    Component,
    /// Labels.
    Label,
}

impl ColumnKind {
    /// Memory of a value.
    pub fn bytes(self) -> u64 {
        match self {
            ColumnKind::Real | ColumnKind::Count | ColumnKind::Distance => 8,
            ColumnKind::Number | ColumnKind::Level | ColumnKind::Vertex => 4,
            ColumnKind::Component | ColumnKind::Label => 4,
        }
    }

    /// Whether rows with one value are a group, such as a component or a community.
    pub fn names_groups(self) -> bool {
        matches!(self, ColumnKind::Component | ColumnKind::Label)
    }

    pub(crate) fn names_vertices(self) -> bool {
        matches!(self, ColumnKind::Vertex | ColumnKind::Component | ColumnKind::Label)
    }
}

/// Memory for reading the rows of a table with such columns.
pub fn reader_bytes(image: &Image, columns: &[ColumnKind]) -> u64 {
    let components = columns.iter().filter(|column| **column == ColumnKind::Component).count();
    reading_bytes(image, columns.len(), columns.iter().any(|column| column.names_vertices()), components)
}

/// [`reader_bytes`] of so many columns, of which some name vertices or components.
fn reading_bytes(image: &Image, columns: usize, name_vertices: bool, components: usize) -> u64 {
    let ids_bytes = if name_vertices { least_bytes(image, components as u64) } else { 0 };
    (batch_bytes(image, columns) + IdStream::bytes(image)).saturating_add(ids_bytes)
}

impl Table {
    /// Memory for reading the rows.
    pub fn reader_bytes(&self) -> u64 {
        let columns = || self.columns().iter().map(|(_, column)| column);
        let components = columns().filter(|column| matches!(column, Column::Component(_))).count();
        let name_vertices = self.order.is_some() || columns().any(Column::names_vertices);
        reading_bytes(self.image(), self.columns().len(), name_vertices, components)
    }
}

fn batch_bytes(image: &Image, columns: usize) -> u64 {
    let columns = columns as u64 + 1;
    let texts = if string_ids(image) { columns } else { 0 };
    let rows = image.manifest().vertices.min(BATCH_IDS as u64);
    16 * rows * columns + 2 * BATCH_TEXT_BYTES as u64 * texts
}

impl Column {
    /// Number of values, and the reservation of their memory.
    fn memory(&self) -> (usize, &Reservation) {
        match self {
            Column::Real(values) => (values.len(), values.reservation()),
            Column::Count(values) | Column::Unsigned(values) | Column::Distance(values, _) => {
                (values.len(), values.reservation())
            }
            Column::Signed(values) => (values.len(), values.reservation()),
            Column::Number(values) | Column::Level(values) | Column::Vertex(values) => {
                (values.len(), values.reservation())
            }
            Column::Component(values) | Column::Label(values) => (values.len(), values.reservation()),
        }
    }

    /// The number of values: one per vertex.
    pub fn rows(&self) -> u64 {
        self.memory().0 as u64
    }

    /// The vertex that a row names, if the column holds vertices.
    pub fn named(&self, row: u32) -> Option<u32> {
        match self {
            Column::Vertex(values) => match values[row as usize] {
                0 => None,
                value => Some(!value),
            },
            Column::Component(values) | Column::Label(values) => Some(values[row as usize]),
            _ => None,
        }
    }

    /// Consecutive rows as an array in the memory of the column, if its numbers are shown without conversion.
    fn in_place(&self, rows: &[u32]) -> Option<ArrayRef> {
        let first = *rows.first().filter(|_| follow_each_other(rows))? as usize;
        Some(match self {
            Column::Real(values) => Arc::new(Float64Array::new(shared(values, first, rows.len()), None)),
            Column::Signed(values) => Arc::new(Int64Array::new(shared(values, first, rows.len()), None)),
            Column::Unsigned(values) => Arc::new(UInt64Array::new(shared(values, first, rows.len()), None)),
            _ => return None,
        })
    }

    /// Whether rows with one value are a group, such as a component or a community.
    pub fn names_groups(&self) -> bool {
        matches!(self, Column::Component(_) | Column::Label(_))
    }

    /// Whether users see ids in it.
    pub fn names_vertices(&self) -> bool {
        matches!(self, Column::Vertex(_) | Column::Component(_) | Column::Label(_))
    }
}

/// One row per vertex, all of them or some: its id, and a value of every column.
#[derive(Clone, Debug)]
pub struct Table {
    image: Arc<Image>,
    columns: Arc<Vec<(String, Column)>>,
    schema: SchemaRef,
    /// The vertices in the order of the rows, unless they are all vertices in their own order.
    order: Option<Arc<Buffer<u32>>>,
}

/// A set of vertices, one bit per vertex of the graph.
pub(crate) struct Members(Buffer<u64>);

impl Members {
    /// An empty set of vertices below `vertices`, reserved under the name `purpose`.
    ///
    /// # Errors
    /// Too little memory under the budget.
    pub fn none_of(budget: &Budget, purpose: &str, vertices: usize) -> outcore_io::Result<Self> {
        Ok(Members(Buffer::zeroed(budget, purpose, vertices.div_ceil(64))?))
    }

    pub fn insert(&mut self, vertex: u32) {
        self.0[vertex as usize / 64] |= 1 << (vertex % 64);
    }

    pub fn contains(&self, vertex: u32) -> bool {
        self.0[vertex as usize / 64] >> (vertex % 64) & 1 == 1
    }
}

impl Table {
    /// A table of the same rows with other columns.
    ///
    /// # Panics
    /// If a column has not one value per vertex.
    #[must_use]
    pub fn with_columns(&self, columns: Vec<(String, Column)>) -> Self {
        Table { order: self.order.clone(), ..Table::new(Arc::clone(&self.image), columns) }
    }

    /// The table for one operation, which is stopped on its own.
    #[must_use]
    pub fn for_operation(&self) -> Self {
        Table { image: Arc::new(self.image.for_operation(None)), ..self.clone() }
    }

    /// A table of these columns.
    ///
    /// # Panics
    /// If a column has not one value per vertex.
    pub fn new(image: Arc<Image>, columns: Vec<(String, Column)>) -> Self {
        for (name, column) in &columns {
            let (rows, reservation) = column.memory();
            assert_eq!(rows as u64, image.manifest().vertices, "column {name} has one value per vertex");
            reservation.rename(&format!("the result column {name}"));
        }
        let mut fields = vec![Field::new("vertex", id_type(&image), false)];
        fields.extend(columns.iter().map(|(name, column)| match column {
            Column::Real(_) => Field::new(name, DataType::Float64, false),
            Column::Number(_) | Column::Count(_) | Column::Signed(_) => Field::new(name, DataType::Int64, false),
            Column::Unsigned(_) => Field::new(name, DataType::UInt64, false),
            Column::Level(_) => Field::new(name, DataType::Int64, true),
            Column::Distance(_, WeightKind::I64) => Field::new(name, DataType::Int64, true),
            Column::Distance(_, WeightKind::F64) => Field::new(name, DataType::Float64, true),
            Column::Vertex(_) => Field::new(name, id_type(&image), true),
            Column::Component(_) | Column::Label(_) => Field::new(name, id_type(&image), false),
        }));
        Table { image, columns: Arc::new(columns), schema: Arc::new(Schema::new(fields)), order: None }
    }

    /// The table with what it was computed by, which files of Parquet and Arrow will have.
    #[must_use]
    pub fn made_by(mut self, name: &str, options: impl Serialize) -> Self {
        let origin = Origin::new(name, options, self.image.path(), Some(self.image.manifest().image_id));
        self.schema = Arc::new(Schema::clone(&self.schema).with_metadata(origin.metadata()));
        self
    }

    /// The names and types of the columns, `vertex` first.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The rows of these vertices, in their order.
    #[must_use]
    pub fn in_order(&self, order: Arc<Buffer<u32>>) -> Self {
        Table { order: Some(order), ..self.clone() }
    }

    /// The vertices in the order of the rows, unless they are all vertices in their own order.
    pub fn order(&self) -> Option<&Arc<Buffer<u32>>> {
        self.order.as_ref()
    }

    /// Number of rows: one per vertex of the table.
    pub fn rows(&self) -> u64 {
        self.order.as_ref().map_or(self.image.manifest().vertices, |order| order.len() as u64)
    }

    /// The vertices of the rows.
    pub fn vertices(&self) -> impl Iterator<Item = u32> {
        (0..self.rows() as usize).map(|row| self.order.as_ref().map_or(row as u32, |order| order[row]))
    }

    /// The rows whose mask is true, in the same order. Takes 4 bytes for each of them.
    ///
    /// # Errors
    /// A mask of another length; no memory; a request to stop.
    pub fn filtered(&self, mask: &[bool]) -> Result<Table> {
        if mask.len() as u64 != self.rows() {
            let (expected, found) = (self.rows(), mask.len());
            return Err(Error::Usage(format!(
                "expected a mask with a value for each of {expected} rows, found {found}"
            )));
        }
        let count = mask.iter().filter(|is_chosen| **is_chosen).count();
        self.image.make_room("the rows of a table", 4 * count as u64)?;
        let mut order = Buffer::<u32>::zeroed(self.image.runtime().budget(), "the rows of a table", count)?;
        let chosen = self.vertices().zip(mask).filter(|(_, is_chosen)| **is_chosen);
        order.iter_mut().zip(chosen).for_each(|(slot, (vertex, _))| *slot = vertex);
        Ok(self.in_order(Arc::new(order)))
    }

    /// The vertices of the table, unless it has all of them.
    pub(crate) fn members(&self) -> Result<Option<Members>> {
        let Some(order) = self.order.as_ref().filter(|_| self.rows() < self.image.manifest().vertices) else {
            return Ok(None);
        };
        self.check_vertices()?;
        let (purpose, vertices) = ("which vertices have a row", self.image.manifest().vertices);
        self.image.make_room(purpose, 8 * vertices.div_ceil(64))?;
        let mut members = Members::none_of(self.image.runtime().budget(), purpose, vertices as usize)?;
        order.iter().for_each(|&vertex| members.insert(vertex));
        Ok(Some(members))
    }

    /// The graph that the rows are vertices of.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// The columns beside `vertex`, with their names.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// Refuses rows of vertices that the graph does not have, and columns that name such.
    ///
    /// # Errors
    /// [`Error::NoVertex`].
    pub(crate) fn check_vertices(&self) -> Result<()> {
        let all = |vertices: &mut dyn Iterator<Item = u32>| match vertices.max() {
            Some(greatest) => self.image.check_vertex(greatest),
            None => Ok(()),
        };
        if let Some(order) = &self.order {
            all(&mut order.iter().copied())?;
        }
        self.columns.iter().try_for_each(|(_, column)| match column {
            // The complement of a vertex, and 0 for none.
            Column::Vertex(values) => all(&mut values.iter().filter(|value| **value != 0).map(|value| !value)),
            Column::Component(values) | Column::Label(values) => all(&mut values.iter().copied()),
            _ => Ok(()),
        })
    }

    /// All rows, in batches of at most [`BATCH_IDS`]. May be called again.
    ///
    /// # Errors
    /// Rows or columns of vertices that the graph does not have, ids that cannot be read, or no memory for the ids that
    /// columns of vertices need.
    pub fn reader(&self) -> Result<TableReader> {
        self.check_vertices()?;
        let reservation = self.image.reserve("a batch of rows", batch_bytes(&self.image, self.columns.len()))?;
        let names = match self.order.is_some() || self.columns.iter().any(|(_, column)| column.names_vertices()) {
            true => Some(Names::new(&self.image, &self.columns, self.order.clone())?),
            false => None,
        };
        let ids = IdStream::new(&self.image)?;
        let (table, fuse) = (self.clone(), Fuse::default());
        Ok(TableReader { table, ids, names, waiting: None, next: 0, fuse, _reservation: reservation })
    }

    /// The rows of some vertices as a batch; `name` returns the id of the vertex that a row of a column names.
    pub fn batch<'a>(
        &self,
        ids: ArrayRef,
        rows: &[u32],
        name: impl Fn(usize, u32) -> Option<Id<&'a str>>,
    ) -> Result<RecordBatch> {
        let mut arrays = vec![ids];
        for (place, (_, column)) in self.columns.iter().enumerate() {
            if let Some(array) = column.in_place(rows) {
                arrays.push(array);
                continue;
            }
            arrays.push(match column {
                Column::Real(values) => Arc::new(Float64Array::from_iter_values(at(values, rows))),
                Column::Number(values) => Arc::new(Int64Array::from_iter_values(at(values, rows).map(i64::from))),
                Column::Count(values) => Arc::new(Int64Array::from_iter_values(at(values, rows).map(signed_count))),
                Column::Unsigned(values) => Arc::new(UInt64Array::from_iter_values(at(values, rows))),
                Column::Signed(values) => Arc::new(Int64Array::from_iter_values(at(values, rows))),
                Column::Level(values) => {
                    let levels = at(values, rows).map(|level| level.checked_sub(1).map(i64::from));
                    Arc::new(levels.collect::<Int64Array>())
                }
                Column::Distance(values, kind) => {
                    let bits = at(values, rows).map(distance_bits);
                    match kind {
                        WeightKind::I64 => Arc::new(bits.map(|bits| Some(bits? as i64)).collect::<Int64Array>()),
                        WeightKind::F64 => {
                            Arc::new(bits.map(|bits| bits.map(f64::from_bits)).collect::<Float64Array>())
                        }
                    }
                }
                Column::Vertex(_) | Column::Component(_) | Column::Label(_) => {
                    id_array(&self.image, rows.iter().map(|&row| name(place, row)))
                }
            });
        }
        RecordBatch::try_new(self.schema(), arrays).map_err(from_arrow)
    }
}

/// The values of some rows.
fn at<T: Raw>(values: &Buffer<T>, rows: &[u32]) -> impl Iterator<Item = T> {
    rows.iter().map(|&row| values[row as usize])
}

/// A count as it is shown to users.
#[inline]
pub fn signed_count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The bits of a distance as [`Column::Distance`] stores it, if there is one.
#[inline]
pub fn distance_bits(stored: u64) -> Option<u64> {
    (stored != 0).then_some(!stored)
}

/// A distance as [`Column::Distance`] stores it, if there is one. Integers beyond 2^53 are rounded.
#[inline]
pub fn distance_number(stored: u64, kind: WeightKind) -> Option<f64> {
    distance_bits(stored).map(|bits| match kind {
        WeightKind::I64 => bits as f64,
        WeightKind::F64 => f64::from_bits(bits),
    })
}

/// The rows of a table, batch by batch.
pub struct TableReader {
    table: Table,
    ids: IdStream,
    names: Option<Names>,
    /// Ids whose rows have not all been returned: the vertex of the first, and the number of returned ones.
    waiting: Option<(u64, usize, IdBatch)>,
    /// The next row, if the table has an order of its own.
    next: usize,
    fuse: Fuse,
    _reservation: Reservation,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("table", &self.table).finish_non_exhaustive()
    }
}

impl TableReader {
    /// The next rows; `None` after the last one. The division into batches does not depend on the memory.
    ///
    /// # Errors
    /// Ids that cannot be read or are damaged, or a request to stop; an earlier error.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.fuse.check()?;
        let batch = self.read_batch();
        self.fuse.after(batch)
    }

    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        // The ids of a batch are one piece, unless they do not fit the memory together.
        let mut pieces = Vec::new();
        let mut filled = Filled { is_empty: true, text_bytes: vec![0; self.table.columns.len() + 1] };
        loop {
            self.table.image.runtime().cancel().check()?;
            let piece = match self.table.order.clone() {
                Some(order) => self.next_in_order(&order, &mut filled)?,
                None => self.next_by_vertex(&mut filled)?,
            };
            let Some((piece, is_last)) = piece else { break };
            pieces.push(piece);
            if is_last {
                break;
            }
        }
        match pieces.len() {
            0 => Ok(None),
            1 => Ok(pieces.pop()),
            _ => concat_batches(&self.table.schema(), &pieces).map(Some).map_err(from_arrow),
        }
    }

    /// The next rows of a batch whose ids are loaded together, and whether they are its last.
    fn next_by_vertex(&mut self, filled: &mut Filled) -> Result<Option<(RecordBatch, bool)>> {
        let (first, done, batch) = match self.waiting.take() {
            Some(waiting) => waiting,
            None => match self.ids.next()? {
                Some((first, batch)) => (first, 0, batch.clone()),
                None => return Ok(None),
            },
        };
        let start = first as u32 + done as u32;
        let mut rows: Vec<u32> = (start..=start + (batch.len() - done - 1) as u32).collect();
        if let Some(names) = &mut self.names {
            rows.truncate(names.load(&self.table.image, start as usize)?);
        }
        let (count, is_full) = self.fitting(&rows, filled);
        let some = done..done + count;
        let kind = id_type(&self.table.image);
        let ids: ArrayRef = match &batch {
            IdBatch::Signed(ids) if kind == DataType::Int64 => Arc::new(Int64Array::from(ids[some].to_vec())),
            IdBatch::Unsigned(ids) if kind == DataType::UInt64 => Arc::new(UInt64Array::from(ids[some].to_vec())),
            _ => id_array(&self.table.image, some.map(|i| Some(batch.get(i)))),
        };
        let names = self.names.as_ref();
        let record = self.table.batch(ids, &rows[..count], |place, row| names?.name(place, row))?;
        let is_last = is_full || done + count == batch.len();
        if done + count < batch.len() {
            self.waiting = Some((first, done + count, batch));
        }
        Ok(Some((record, is_last)))
    }

    /// [`next_by_vertex`](Self::next_by_vertex) for a table with an order of its own; the ids of the rows are looked
    /// up.
    fn next_in_order(&mut self, order: &[u32], filled: &mut Filled) -> Result<Option<(RecordBatch, bool)>> {
        let names = self.names.as_mut().expect("a table with an order is read with ids");
        let batch_end = order.len().min((self.next / BATCH_IDS + 1) * BATCH_IDS);
        if self.next == batch_end {
            return Ok(None);
        }
        let loaded_end = batch_end.min(self.next + names.load(&self.table.image, self.next)?);
        let (count, is_full) = self.fitting(&order[self.next..loaded_end], filled);
        let rows = &order[self.next..self.next + count];
        let names = self.names.as_ref().expect("it was there above");
        let ids = id_array(&self.table.image, rows.iter().map(|&vertex| names.id(vertex)));
        let record = self.table.batch(ids, rows, |place, row| names.name(place, row))?;
        self.next += count;
        Ok(Some((record, is_full || self.next == batch_end)))
    }

    /// Number of rows that fit into a partly filled batch, and whether it is full then: all, unless many name a vertex
    /// with a long id. A batch has at least one row.
    fn fitting(&self, rows: &[u32], filled: &mut Filled) -> (usize, bool) {
        let Some(names) = self.names.as_ref().filter(|_| string_ids(&self.table.image)) else {
            return (rows.len(), false);
        };
        let mut more = vec![0; filled.text_bytes.len()];
        for (i, &row) in rows.iter().enumerate() {
            for (place, bytes) in more.iter_mut().enumerate() {
                let id = match place.checked_sub(1) {
                    Some(column) => names.name(column, row),
                    // Rows in vertex order have their ids from the stream, a batch at a time.
                    None => self.table.order.as_ref().and_then(|_| names.id(row)),
                };
                *bytes = if let Some(Id::Text(text)) = id { text.len() } else { 0 };
            }
            let is_crowded = filled.text_bytes.iter().zip(&more).any(|(bytes, more)| bytes + more > BATCH_TEXT_BYTES);
            if is_crowded && !filled.is_empty {
                return (i, true);
            }
            filled.text_bytes.iter_mut().zip(&more).for_each(|(bytes, more)| *bytes += more);
            filled.is_empty = false;
        }
        (rows.len(), false)
    }
}

/// Size of a batch so far.
struct Filled {
    is_empty: bool,
    /// The text of each column.
    text_bytes: Vec<usize>,
}

impl Iterator for TableReader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        arrow_item(self.next_batch())
    }
}

impl RecordBatchReader for TableReader {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }
}

/// Whether the rows are consecutive numbers.
fn follow_each_other(rows: &[u32]) -> bool {
    let ends = rows.first().zip(rows.last());
    ends.is_none_or(|(&first, &last)| {
        rows.is_sorted_by(|one, other| one < other) && (last - first) as usize + 1 == rows.len()
    })
}

/// A column of numbers as the bytes that batches share.
struct SharedBytes<T: Raw>(Arc<Buffer<T>>);

impl<T: Raw> AsRef<[u8]> for SharedBytes<T> {
    fn as_ref(&self) -> &[u8] {
        raw_bytes(&self.0)
    }
}

/// Some values of a column, in its own memory.
fn shared<T: Raw + ArrowNativeType>(values: &Arc<Buffer<T>>, first: usize, len: usize) -> ScalarBuffer<T> {
    let bytes = Bytes::from_owner(SharedBytes(Arc::clone(values)));
    ScalarBuffer::new(arrow_buffer::Buffer::from(bytes), first, len)
}

/// The type of the users' ids in a table.
pub fn id_type(image: &Image) -> DataType {
    data_type(image.manifest().integer_ids())
}

/// The type of integer ids in a table; of strings without one.
pub(crate) fn data_type(kind: Option<IdType>) -> DataType {
    match kind {
        None => DataType::Utf8,
        Some(IdType::Int8) => DataType::Int8,
        Some(IdType::Int16) => DataType::Int16,
        Some(IdType::Int32) => DataType::Int32,
        Some(IdType::Int64) => DataType::Int64,
        Some(IdType::UInt8) => DataType::UInt8,
        Some(IdType::UInt16) => DataType::UInt16,
        Some(IdType::UInt32) => DataType::UInt32,
        Some(IdType::UInt64) => DataType::UInt64,
    }
}

/// Ids as an array of their type, which holds all ids that were read from the image.
///
/// # Panics
/// If an id is of another kind than those of the image.
pub fn id_array<'a>(image: &Image, ids: impl Iterator<Item = Option<Id<&'a str>>>) -> ArrayRef {
    array_of(image.manifest().integer_ids(), ids)
}

/// Ids as an array of this type of integers, or as strings.
///
/// # Panics
/// If an id is of another kind.
pub(crate) fn array_of<'a>(kind: Option<IdType>, ids: impl Iterator<Item = Option<Id<&'a str>>>) -> ArrayRef {
    match kind {
        None => Arc::new(ids.map(|id| id.map(|id| text(id))).collect::<StringArray>()),
        Some(IdType::Int8) => Arc::new(integers(ids, |bits| bits as i8).collect::<Int8Array>()),
        Some(IdType::Int16) => Arc::new(integers(ids, |bits| bits as i16).collect::<Int16Array>()),
        Some(IdType::Int32) => Arc::new(integers(ids, |bits| bits as i32).collect::<Int32Array>()),
        Some(IdType::Int64) => Arc::new(integers(ids, |bits| bits as i64).collect::<Int64Array>()),
        Some(IdType::UInt8) => Arc::new(integers(ids, |bits| bits as u8).collect::<UInt8Array>()),
        Some(IdType::UInt16) => Arc::new(integers(ids, |bits| bits as u16).collect::<UInt16Array>()),
        Some(IdType::UInt32) => Arc::new(integers(ids, |bits| bits as u32).collect::<UInt32Array>()),
        Some(IdType::UInt64) => Arc::new(integers(ids, |bits| bits).collect::<UInt64Array>()),
    }
}

/// Ids that are integers, made of the lowest of their bits.
fn integers<'a, T>(
    ids: impl Iterator<Item = Option<Id<&'a str>>>,
    of_bits: impl Fn(u64) -> T,
) -> impl Iterator<Item = Option<T>> {
    ids.map(move |id| match id? {
        Id::Unsigned(value) => Some(of_bits(value)),
        Id::Signed(value) => Some(of_bits(value as u64)),
        Id::Text(_) => unreachable!("{ONE_KIND}"),
    })
}

fn text(id: Id<&str>) -> &str {
    let Id::Text(text) = id else { unreachable!("{ONE_KIND}") };
    text
}

const ONE_KIND: &str = "ids of one graph are of one kind";

/// The next item of a reader of Arrow, whose error is ours within one of Arrow.
pub fn arrow_item(next: Result<Option<RecordBatch>>) -> Option<std::result::Result<RecordBatch, ArrowError>> {
    next.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
}

/// The error inside an Arrow error, or one with its text.
pub fn from_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::Custom(other),
        },
        other => Error::custom(other),
    }
}
