//! The result of a run as a page shows it: its attributes, what the shell says of it, and tables of a few rows.

use outcore_algo::{Algorithm, Datum};
use outcore_graph::Graph;
use outcore_image::Result;
use outcore_table::{ColumnKind, Id, Table, cell_text};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The most rows of a table, and members of an attribute, that are shown.
pub(crate) const MOST_ROWS: usize = 10;

/// The memory of a group while the largest are found: its value in the result, its size, its id, and its place among
/// all groups.
const GROUP_BYTES: u64 = 4 + 4 + 4 + 8;

/// A result, in short.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The attributes of the result, in the order of their declaration.
    pub attributes: Map<String, Value>,
    /// Sentences about the result, a line each.
    pub lines: Vec<String>,
    /// A few rows of the result.
    pub tables: Vec<SomeRows>,
}

/// A few rows of a table, as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SomeRows {
    /// A title, which says what rows they are.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Summary {
    /// The attributes of a result of an algorithm. `ids` are those of some vertices: the first of each attribute that
    /// names vertices, one after the other.
    ///
    /// # Errors
    /// Those of `ids`.
    pub fn of_attributes(
        algorithm: &Algorithm,
        data: &[Datum],
        mut ids: impl FnMut(&[u32]) -> Result<Vec<Id<String>>>,
    ) -> Result<Self> {
        let mut attributes = Map::new();
        for (attribute, datum) in algorithm.attributes.iter().zip(data) {
            attributes.insert(attribute.name.to_owned(), value_of(datum, &mut ids)?);
        }
        Ok(Summary { attributes, ..Summary::default() })
    }

    /// The memory of a result with such columns while [`Summary::add_rows`] counts its groups, and its purpose; `None`
    /// for results without groups.
    pub fn needs(graph: &Graph, columns: &[ColumnKind]) -> Option<(&'static str, u64)> {
        let counts = columns.iter().any(|column| column.names_groups());
        counts.then(|| ("groups of vertices and their sizes", GROUP_BYTES * graph.vertices()))
    }

    /// Adds the rows with the greatest values of the column `ranked`, or the first rows; and for columns that name
    /// groups, such as components and communities, the largest of them.
    ///
    /// # Errors
    /// Ids that cannot be read, or no memory: 4 bytes per vertex and 8 per group where there are groups.
    pub fn add_rows(&mut self, table: &Table, ranked: Option<&str>) -> Result<()> {
        for (name, column) in table.columns().iter().filter(|(_, column)| column.names_groups()) {
            let groups = table.largest_groups(column, MOST_ROWS)?;
            let row = |(id, size): &(Id<String>, u32)| vec![id.to_string(), size.to_string()];
            self.tables.push(SomeRows {
                title: format!("The largest groups with one {name}"),
                columns: vec![name.clone(), "vertices".to_owned()],
                rows: groups.iter().map(row).collect(),
            });
        }
        let batch = table.preview(MOST_ROWS, ranked)?;
        let cells = |row| (0..batch.num_columns()).map(|column| cell_text(batch.column(column), row)).collect();
        let title = match ranked {
            Some(column) => format!("The rows with the greatest {column}, of {}", table.rows()),
            None => format!("The first rows, of {}", table.rows()),
        };
        self.tables.push(SomeRows {
            title,
            columns: batch.schema().fields().iter().map(|field| field.name().clone()).collect(),
            rows: (0..batch.num_rows()).map(cells).collect(),
        });
        Ok(())
    }
}

/// An attribute as JSON: of many members the first, of a path the number of its edges, of distances how many there are.
/// Ids are texts.
fn value_of(datum: &Datum, ids: &mut impl FnMut(&[u32]) -> Result<Vec<Id<String>>>) -> Result<Value> {
    Ok(match datum {
        Datum::Whole(value) => json!(value),
        Datum::Wholes(values) => json!(values[..values.len().min(MOST_ROWS)]),
        Datum::Bounds(least, most) => json!([least, most]),
        Datum::Real(value) => json!(value),
        Datum::Flag(value) => json!(value),
        Datum::Text(value) => json!(value),
        Datum::Vertices(None) | Datum::Path(None) => Value::Null,
        Datum::Vertices(Some(vertices)) => {
            let ids = ids(&vertices[..vertices.len().min(MOST_ROWS)])?;
            json!(ids.iter().map(ToString::to_string).collect::<Vec<_>>())
        }
        Datum::Path(Some(vertices)) => json!({ "edges": vertices.len().saturating_sub(1) }),
        Datum::Distances { sources, targets, .. } => json!({ "sources": sources, "targets": targets }),
    })
}
