//! Values of edges or vertices as parts of lines, in the order in which an export has them.
//!
//! *Cost.* A batch of rows, and what its source takes: the strings of attributes, and for edges the ids again.

use crate::engine::graph::Graph;
use crate::export::edge_batches::{EdgeBatches, EdgeData, weight_column};
use crate::export::vertex_batches::{NextBatch, vertices_with};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use outcore_image::{Error, Result};
use outcore_ingest::is_whole;
use outcore_table::{Table, push_value};
use std::sync::Arc;

pub(crate) const INTERACTION: &str = "interaction";

/// Values of edges or vertices, row by row.
pub(crate) struct Cells<'a> {
    next_batch: NextBatch<'a>,
    /// The columns of values, which stand behind those of the ids.
    fields: Vec<Field>,
    id_columns: usize,
    batch: Option<RecordBatch>,
    row: usize,
}

impl<'a> Cells<'a> {
    /// The attributes of all edges; nothing if there are none.
    pub fn of_edges(graph: &'a Graph) -> Result<Option<Self>> {
        if graph.manifest().attributes.is_empty() {
            return Ok(None);
        }
        let mut batches = EdgeBatches::new(graph, EdgeData { weights: false, attributes: true }, 0)?;
        let schema = Arc::clone(batches.schema());
        Ok(Some(Self::new(&schema, 2, Box::new(move || batches.next_batch()))))
    }

    /// The attributes of all vertices, and the columns of results; nothing if there are neither.
    pub fn of_vertices(graph: &'a Graph, results: Option<&Table>) -> Result<Option<Self>> {
        if graph.manifest().vertex_attributes.is_empty() && results.is_none() {
            return Ok(None);
        }
        let (schema, next_batch) = vertices_with(graph, results)?;
        Ok(Some(Self::new(&schema, 1, next_batch)))
    }

    fn new(schema: &Schema, id_columns: usize, next_batch: NextBatch<'a>) -> Self {
        let fields = schema.fields().iter().skip(id_columns).map(|field| Field::clone(field)).collect();
        Cells { next_batch, fields, id_columns, batch: None, row: 0 }
    }

    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Goes to the next row.
    pub fn advance(&mut self) -> Result<()> {
        while self.batch.as_ref().is_none_or(|batch| self.row == batch.num_rows()) {
            // Two batches would take the memory of one more.
            self.batch = None;
            self.batch = (self.next_batch)()?;
            self.row = 0;
            if self.batch.is_none() {
                return Err(Error::custom("expected values for every row, found fewer; this is a defect"));
            }
        }
        self.row += 1;
        Ok(())
    }

    /// The values of the row: each column, and the place of the row in it.
    pub fn values(&self) -> impl Iterator<Item = (&ArrayRef, usize)> {
        let columns = self.batch.iter().flat_map(|batch| &batch.columns()[self.id_columns..]);
        columns.map(|column| (column, self.row - 1))
    }

    /// Appends the cells of the next row, each behind a separator.
    pub fn push(&mut self, separator: u8, line: &mut Vec<u8>) -> Result<()> {
        self.advance()?;
        for (column, row) in self.values() {
            line.push(separator);
            push_value(line, column, row);
        }
        Ok(())
    }

    /// Appends the [`INTERACTION`] of the next edge, or `usual`.
    pub fn push_interaction(&mut self, usual: &str, line: &mut Vec<u8>) -> Result<()> {
        self.advance()?;
        let place = self.fields.iter().position(|field| field.name() == INTERACTION);
        let column = place.and_then(|place| self.values().nth(place));
        let texts = column.and_then(|(column, row)| column.as_string_opt::<i32>().map(|texts| (texts, row)));
        let own = texts.filter(|(texts, row)| texts.is_valid(*row)).map(|(texts, row)| texts.value(row).trim());
        let text = own.filter(|text| !text.is_empty()).unwrap_or(usual);
        if text.contains(['\t', '\n', '\r', '\0']) || is_whole(text.as_bytes()) || text.parse::<f64>().is_ok() {
            return Err(Error::Unsuitable(format!(
                "expected interactions that are words without tabs and line ends, found {text:?}; export to .csv instead"
            )));
        }
        line.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Names of attributes of edges in a file that an import reads: `edge.` stands before one that would be taken for the
/// weights, or, where a member or a column `Type` is the direction, for that.
pub(crate) fn edge_names(graph: &Graph, fields: &[Field], has_direction: bool) -> Vec<String> {
    let weights = weight_column(graph).unwrap_or("weight");
    let is_other = |name: &str| {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        is("weight") || is(weights) || has_direction && is("type")
    };
    let called = |name: &String| if is_other(name) { format!("edge.{name}") } else { name.clone() };
    fields.iter().map(|field| called(field.name())).collect()
}

/// Results whose columns an export joins to the vertices: in the order of the vertices, whatever that of the rows.
///
/// # Errors
/// Results of another graph, or of some of its vertices; a column of the name of an attribute.
pub(crate) fn joined(graph: &Graph, results: &Table) -> Result<Table> {
    let (own, other) = (graph.manifest(), results.image().manifest());
    if (other.image_id, other.vertices) != (own.image_id, own.vertices) {
        let (graph, other) = (graph.path().display(), results.image().path().display());
        return Err(Error::Usage(format!("expected results of {graph}, found some of {other}")));
    }
    if results.rows() < own.vertices {
        let found = results.rows();
        return Err(Error::Usage(format!("expected results of all {} vertices, found {found} rows", own.vertices)));
    }
    let names: Vec<&String> = own.vertex_attributes.iter().map(|attribute| &attribute.name).collect();
    if let Some((name, _)) = results.columns().iter().find(|(name, _)| names.contains(&name)) {
        let text = format!("expected results under other names than attributes of vertices, found `{name}` twice");
        return Err(Error::Usage(text));
    }
    // A column has a value per vertex, in their order, also where the rows of the table are sorted.
    Ok(Table::new(Arc::clone(results.image()), results.columns().to_vec()))
}
