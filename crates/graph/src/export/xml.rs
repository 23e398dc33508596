//! GraphML and GEXF on the way out: declarations, vertices, and edges with their values.
//!
//! A value that is missing has no element. Dates and times are declared as strings, with a hint that Outcore reads
//! ([`KIND_HINT`]). Infinite numbers are spelled as Java and Python read them.

use crate::engine::weights::Weight;
use crate::export::cells::{Cells, edge_names};
use crate::export::edge_batches::weight_column;
use crate::export::job::{Job, push_weight};
use crate::export::records::Form;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use outcore_format::AttributeKind;
use outcore_image::Result;
use outcore_ingest::{KIND_HINT, STRING_IDS, kind_hint, kind_of};
use outcore_table::{Id, push_value};
use std::io::Write as _;

/// The attribute of vertices whose strings GEXF has as labels of its own.
const LABEL: &str = "label";

/// Edges or vertices, whose declarations are numbered apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Edges,
    Vertices,
}

impl Of {
    fn letter(self) -> char {
        if self == Of::Edges { 'e' } else { 'v' }
    }
}

/// Whether XML can hold a character.
pub(crate) fn in_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

impl Job<'_> {
    /// The document up to the first vertex; `marked` if it must say that ids are strings.
    pub(crate) fn xml_head(
        &self,
        form: Form,
        marked: bool,
        [of_vertices, of_edges]: [Option<&Cells<'_>>; 2],
    ) -> Result<String> {
        let kind = if self.graph.is_directed() { "directed" } else { "undirected" };
        let vertices = of_vertices.map_or(&[][..], Cells::fields);
        let edges = of_edges.map_or(&[][..], Cells::fields);
        let vertex_names: Vec<String> = vertices.iter().map(|field| field.name().clone()).collect();
        let edge_names = edge_names(self.graph, edges, false);
        let declared = [
            self.declarations(form, Of::Vertices, vertices, &vertex_names)?,
            self.declarations(form, Of::Edges, edges, &edge_names)?,
        ]
        .concat();
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        if form == Form::Gexf {
            let mark = format!("<meta><keywords>{STRING_IDS}</keywords></meta>\n");
            let mark = if marked { mark } else { String::new() };
            return Ok(format!(
                "{head}<gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">\n{mark}\
                 <graph mode=\"static\" defaultedgetype=\"{kind}\">\n{declared}<nodes>\n"
            ));
        }
        let mark =
            format!("<key id=\"{STRING_IDS}\" for=\"graph\" attr.name=\"{STRING_IDS}\" attr.type=\"boolean\"/>\n");
        let mark = if marked { mark } else { String::new() };
        let weights = self.graph.manifest().weights().map(|weights| {
            let kind = if weights.kind.is_real() { "double" } else { "long" };
            let name = self.escaped(form, weight_column(self.graph).unwrap_or("weight"));
            format!("<key id=\"w\" for=\"edge\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n")
        });
        Ok(format!(
            "{head}<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n{mark}{}{declared}\
             <graph edgedefault=\"{kind}\">\n",
            weights.unwrap_or_default()
        ))
    }

    fn declarations(&self, form: Form, of: Of, fields: &[Field], names: &[String]) -> Result<String> {
        let mut text = String::new();
        let (letter, class) = (of.letter(), if of == Of::Edges { "edge" } else { "node" });
        for (place, (field, name)) in fields.iter().zip(names).enumerate() {
            if !name.chars().all(in_xml) {
                let why = format!("XML cannot hold all characters of the name of the attribute {name:?}");
                return Err(self.refuse(&why, ".parquet"));
            }
            let kind = kind_of(field.data_type()).unwrap_or(AttributeKind::String);
            let called = match kind {
                AttributeKind::Integer => "long",
                AttributeKind::Real => "double",
                AttributeKind::Boolean => "boolean",
                _ => "string",
            };
            let hint = kind_hint(&kind).map_or(String::new(), |hint| {
                format!(" {KIND_HINT}=\"{}\"", self.escaped(form, &hint)) //
            });
            let name = self.escaped(form, name);
            text += &match form {
                Form::Gexf => {
                    format!("<attribute id=\"{letter}{place}\" title=\"{name}\" type=\"{called}\"{hint}/>\n")
                }
                _ => format!(
                    "<key id=\"{letter}{place}\" for=\"{class}\" attr.name=\"{name}\" attr.type=\"{called}\"{hint}/>\n"
                ),
            };
        }
        if form == Form::Gexf && !text.is_empty() {
            text = format!("<attributes class=\"{class}\">\n{text}</attributes>\n");
        }
        Ok(text)
    }

    fn escaped(&self, form: Form, text: &str) -> String {
        let mut bytes = Vec::new();
        form.push(Id::Text(text), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Appends a vertex with its values, which are those of the next row.
    pub(crate) fn push_xml_vertex(
        &self,
        form: Form,
        id: Id<&str>,
        mut cells: Option<&mut Cells<'_>>,
        line: &mut Vec<u8>,
    ) -> Result<()> {
        line.extend_from_slice(b"<node id=\"");
        form.push(id, line);
        line.push(b'"');
        let mut content = Vec::new();
        if let Some(cells) = &mut cells {
            cells.advance()?;
            if form == Form::Gexf {
                self.push_label(cells, line)?;
            }
            self.push_values(form, Of::Vertices, cells, &mut content)?;
        }
        finish("node", &content, line);
        Ok(())
    }

    /// Appends what Gephi shows beside a vertex: the string of an attribute of that name.
    fn push_label(&self, cells: &Cells<'_>, line: &mut Vec<u8>) -> Result<()> {
        let Some(place) = cells.fields().iter().position(|field| field.name() == LABEL) else { return Ok(()) };
        let Some((column, row)) = cells.values().nth(place) else { return Ok(()) };
        if column.is_valid(row) && *column.data_type() == DataType::Utf8 {
            line.extend_from_slice(b" label=\"");
            self.push_text(Form::Gexf, LABEL, column, row, line)?;
            line.push(b'"');
        }
        Ok(())
    }

    /// Appends an edge with its weight and its values, which are those of the next row; `before` counts the edges
    /// before it.
    pub(crate) fn push_xml_edge(
        &self,
        form: Form,
        (ids, weight, before): ([Id<&str>; 2], Weight, u64),
        cells: Option<&mut Cells<'_>>,
        line: &mut Vec<u8>,
    ) -> Result<()> {
        let id = if form == Form::Gexf { format!("id=\"{before}\" ") } else { String::new() };
        line.extend_from_slice(format!("<edge {id}source=\"").as_bytes());
        form.push(ids[0], line);
        line.extend_from_slice(b"\" target=\"");
        form.push(ids[1], line);
        line.push(b'"');
        let mut content = Vec::new();
        match (form, weight) {
            (_, Weight::None) => {}
            (Form::Gexf, _) => {
                line.extend_from_slice(b" weight=");
                push_weight(b'"', weight, line);
                line.push(b'"');
            }
            _ => {
                content.extend_from_slice(b"<data key=\"w\"");
                push_weight(b'>', weight, &mut content);
                content.extend_from_slice(b"</data>");
            }
        }
        if let Some(cells) = cells {
            cells.advance()?;
            self.push_values(form, Of::Edges, cells, &mut content)?;
        }
        finish("edge", &content, line);
        Ok(())
    }

    /// Appends the values of a row, but for missing ones.
    fn push_values(&self, form: Form, of: Of, cells: &Cells<'_>, content: &mut Vec<u8>) -> Result<()> {
        let start = content.len();
        for (place, (column, row)) in cells.values().enumerate().filter(|(_, (column, row))| column.is_valid(*row)) {
            let (before, after) = match form {
                Form::Gexf => (format!("<attvalue for=\"{}{place}\" value=\"", of.letter()), "\"/>"),
                _ => (format!("<data key=\"{}{place}\">", of.letter()), "</data>"),
            };
            content.extend_from_slice(before.as_bytes());
            self.push_text(form, cells.fields()[place].name(), column, row, content)?;
            content.extend_from_slice(after.as_bytes());
        }
        if form == Form::Gexf && content.len() > start {
            content.splice(start..start, *b"<attvalues>");
            content.extend_from_slice(b"</attvalues>");
        }
        Ok(())
    }

    /// Appends a value as text between tags or quotes.
    fn push_text(&self, form: Form, name: &str, column: &ArrayRef, row: usize, line: &mut Vec<u8>) -> Result<()> {
        match column.data_type() {
            DataType::Utf8 => {
                let text = column.as_string::<i32>().value(row);
                if !text.chars().all(in_xml) {
                    let shown: String = text.chars().take(100).collect();
                    let why = format!("XML cannot hold all characters of {shown:?} in the attribute {name:?}");
                    return Err(self.refuse(&why, ".parquet"));
                }
                form.push(Id::Text(text), line);
            }
            DataType::Float64 if column.as_primitive::<Float64Type>().value(row).is_infinite() => {
                let sign = if column.as_primitive::<Float64Type>().value(row) < 0.0 { "-" } else { "" };
                // Writing into memory does not fail.
                let _ = write!(line, "{sign}Infinity");
            }
            _ => push_value(line, column, row),
        }
        Ok(())
    }
}

/// Ends a tag that is open, with its content.
fn finish(name: &str, content: &[u8], line: &mut Vec<u8>) {
    if content.is_empty() {
        return line.extend_from_slice(b"/>\n");
    }
    line.push(b'>');
    line.extend_from_slice(content);
    line.extend_from_slice(format!("</{name}>\n").as_bytes());
}
