//! Exports to forms of records: JSON lines, GraphML, GEXF, GML and Pajek, as their other readers take them.
//!
//! All but JSON lines name every vertex, so nothing stands beside the file. Ids are the elements' in XML; in GML and
//! Pajek vertices are numbered and the ids are their labels, as NetworkX writes them. In GML what is not ASCII stands
//! as numbers of characters. Edges have their attributes in XML and in JSON lines, and vertices theirs and the columns
//! of results in XML (`xml.rs`); the other formats leave them out. Where ids are strings of which some are written as
//! numbers are, a key, a keyword or a comment says that they are strings, and the importer honours it. Empty ids are
//! refused, and so are characters that XML cannot hold, and quotes and line ends in Pajek.
//!
//! *Cost.* One pass over the ids and one over the out-lists and their weights; the ids in memory where edges name them.

use crate::engine::weights::Weight;
use crate::export::cells::{Cells, edge_names};
use crate::export::edge_batches::weight_column;
use crate::export::job::{Degrees, ExportReport, Job, push_weight};
use crate::export::xml::in_xml;
use arrow_array::Array;
use outcore_image::Result;
use outcore_ingest::STRING_IDS;
use outcore_table::{Id, IdLookup, IdStream, TextFile, push_json, push_json_value, string_ids};
use std::io::Write as _;

/// The interaction of edges that have none of their own, as igraph and Cytoscape write it.
const USUAL_INTERACTION: &str = "interacts";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    JsonLines,
    GraphMl,
    Gexf,
    Gml,
    Pajek,
    Sif,
}

impl Form {
    /// The form of a file whose name ends so.
    pub(crate) fn of(ending: &str) -> Option<Self> {
        match ending {
            "jsonl" | "ndjson" => Some(Form::JsonLines),
            "graphml" => Some(Form::GraphMl),
            "gexf" => Some(Form::Gexf),
            "gml" => Some(Form::Gml),
            "net" => Some(Form::Pajek),
            "sif" => Some(Form::Sif),
            _ => None,
        }
    }

    /// Whether edges have attributes in it.
    pub(crate) fn has_attributes(self) -> bool {
        self.has_vertex_attributes() || self == Form::JsonLines
    }

    /// Whether vertices have attributes in it.
    pub(crate) fn has_vertex_attributes(self) -> bool {
        matches!(self, Form::GraphMl | Form::Gexf)
    }

    /// Why an id cannot be held, if it cannot.
    fn refusal(self, id: &str) -> Option<&'static str> {
        match self {
            _ if id.is_empty() => Some("it has no empty ids"),
            Form::GraphMl | Form::Gexf if !id.chars().all(in_xml) => Some("XML cannot hold all characters of the id"),
            Form::Sif if id.trim_ascii() != id => Some("blanks at the ends of an id would be lost, as in"),
            Form::Sif if id.contains(['\t', '\n', '\r', '\0']) => {
                Some("between tabs it cannot hold tabs or line ends, as in")
            }
            Form::Pajek if id.contains(['"', '\n', '\r', '\0']) => {
                Some("its labels cannot hold quotes or line ends, as in")
            }
            // NetworkX reads a backslash before another one, or before the last quote, as an escape.
            Form::Pajek if id.ends_with('\\') || id.contains("\\\\") => {
                Some("its labels cannot hold a backslash at their end, or two together, as in")
            }
            _ => None,
        }
    }

    /// Appends an id so that it stands between quotes.
    pub(crate) fn push(self, id: Id<&str>, line: &mut Vec<u8>) {
        let Id::Text(text) = id else {
            // Writing into memory does not fail.
            let _ = write!(line, "{id}");
            return;
        };
        for c in text.chars() {
            let _ = match (self, c) {
                (Form::GraphMl | Form::Gexf | Form::Gml, '&') => write!(line, "&amp;"),
                (Form::GraphMl | Form::Gexf | Form::Gml, '"') => write!(line, "&quot;"),
                (Form::GraphMl | Form::Gexf, '<') => write!(line, "&lt;"),
                (Form::GraphMl | Form::Gexf, '>') => write!(line, "&gt;"),
                (Form::GraphMl | Form::Gexf, '\t' | '\n' | '\r') => write!(line, "&#{};", c as u32),
                (Form::Gml, c) if !(' '..='~').contains(&c) => write!(line, "&#{};", c as u32),
                (_, c) => write!(line, "{c}"),
            };
        }
    }
}

impl Job<'_> {
    pub(crate) fn records(&self, form: Form) -> Result<ExportReport> {
        let lookup = self.lookup()?;
        if form == Form::Sif && self.graph.manifest().weights().is_some() {
            return Err(self.refuse("it has no weights, but the graph does", ".csv or .graphml"));
        }
        let mut has_blanks = false;
        let has_numbers = string_ids(self.graph.image())
            && self.check_strings(&lookup, |vertex, id| match form.refusal(id) {
                Some(why) => Err(self.refuse_id(why, id, vertex, ".parquet")),
                None => {
                    has_blanks |= has_blank(id);
                    Ok(())
                }
            })?;
        let mut file = TextFile::create(self.graph.image(), self.output, self.compression)?;
        let (isolated, beside) = match form {
            Form::JsonLines => {
                let is_unclear = self.graph.edges() == 0;
                let head = if is_unclear { format!("{}\n", self.own_comment(None).line()) } else { String::new() };
                self.write_isolated(&head)?
            }
            _ => (self.isolated()?, Vec::new()),
        };
        let mut of_edges = if form.has_attributes() || form == Form::Sif { Cells::of_edges(self.graph)? } else { None };
        let has_values = form.has_vertex_attributes();
        let mut of_vertices = if has_values { Cells::of_vertices(self.graph, self.results.as_ref())? } else { None };
        let head = match has_values {
            true => self.xml_head(form, has_numbers, [of_vertices.as_ref(), of_edges.as_ref()])?,
            false => self.head(form, has_numbers),
        };
        file.put(head.as_bytes())?;
        self.put_vertices(form, of_vertices.as_mut(), &mut file)?;
        drop(of_vertices);
        let between: &str = match (form, self.graph.is_directed()) {
            (Form::Gexf, _) => "</nodes>\n<edges>\n",
            (Form::Pajek, true) => "*Arcs\n",
            (Form::Pajek, false) => "*Edges\n",
            _ => "",
        };
        file.put(between.as_bytes())?;
        let (edges, has_infinite) = self.put_records(form, &lookup, of_edges.as_mut(), &mut file)?;
        if form == Form::Sif {
            self.put_isolated(&mut file, edges == 0 && has_blanks)?;
        }
        file.put(match form {
            Form::GraphMl => b"</graph>\n</graphml>\n",
            Form::Gexf => b"</edges>\n</graph>\n</gexf>\n",
            Form::Gml => b"]\n",
            Form::JsonLines | Form::Pajek | Form::Sif => b"",
        })?;
        let unsaid_strings = form == Form::Sif && has_numbers;
        Ok(ExportReport { has_infinite, unsaid_strings, ..self.done(edges, isolated, false, beside, Some(file))? })
    }

    /// The header before the vertices, where it is no XML; `marked` if it must say that ids are strings.
    fn head(&self, form: Form, marked: bool) -> String {
        let directed = self.graph.is_directed();
        let mark = |text: String| if marked { text } else { String::new() };
        match form {
            Form::JsonLines | Form::Sif | Form::GraphMl | Form::Gexf => String::new(),
            Form::Gml => {
                let mark = mark(format!("{STRING_IDS} 1\n"));
                // Without that word readers refuse parallel edges.
                let parallel = self.graph.manifest().import.duplicates_policy == "keep";
                let parallel = if parallel { "multigraph 1\n" } else { "" };
                format!("graph [\n{mark}directed {}\n{parallel}", u8::from(directed))
            }
            Form::Pajek => format!("{}*Vertices {}\n", mark(format!("% {STRING_IDS}\n")), self.graph.vertices()),
        }
    }

    fn put_vertices(&self, form: Form, mut cells: Option<&mut Cells<'_>>, file: &mut TextFile) -> Result<()> {
        if matches!(form, Form::JsonLines | Form::Sif) {
            return Ok(());
        }
        let mut stream = IdStream::new(self.graph.image())?;
        let mut line = Vec::new();
        while let Some((first, batch)) = stream.next()? {
            for (number, id) in (first..).zip(batch.iter()) {
                line.clear();
                let (before, after) = match form {
                    Form::Gml => (format!("node [ id {number} label \""), "\" ]\n"),
                    Form::Pajek => (format!("{} \"", number + 1), "\"\n"),
                    _ => {
                        self.push_xml_vertex(form, id, cells.as_deref_mut(), &mut line)?;
                        file.put(&line)?;
                        continue;
                    }
                };
                line.extend_from_slice(before.as_bytes());
                form.push(id, &mut line);
                line.extend_from_slice(after.as_bytes());
                file.put(&line)?;
            }
        }
        Ok(())
    }

    /// Vertices without edges, alone on their lines. A tab ends a line whose id has blanks, which would separate
    /// columns otherwise; `all_tabs` if no edge shows that tabs do.
    fn put_isolated(&self, file: &mut TextFile, all_tabs: bool) -> Result<()> {
        let (mut degrees, mut stream) = (Degrees::new(self.graph)?, IdStream::new(self.graph.image())?);
        let mut line = Vec::new();
        while let Some((_, batch)) = stream.next()? {
            for id in batch.iter() {
                if degrees.next()? == 0 {
                    line.clear();
                    Form::Sif.push(id, &mut line);
                    let is_tabbed = all_tabs || matches!(id, Id::Text(text) if has_blank(text));
                    line.extend_from_slice(if is_tabbed { b"\t\n" } else { b"\n" });
                    file.put(&line)?;
                }
            }
        }
        Ok(())
    }

    /// Writes every edge. Returns the number of edges, and whether a number was left out since it is not finite.
    fn put_records(
        &self,
        form: Form,
        lookup: &IdLookup,
        mut cells: Option<&mut Cells<'_>>,
        file: &mut TextFile,
    ) -> Result<(u64, bool)> {
        let names = self.member_names(cells.as_deref());
        let weight_key = self.gml_weight();
        let mut has_infinite = false;
        let edges = self.put_edges(lookup, file, |edge, before, line| {
            let ids = [lookup.id(edge.vertex), lookup.id(edge.neighbour)];
            let numbers = [edge.vertex, edge.neighbour].map(u64::from);
            self.check_weight(edge.weight)?;
            match form {
                Form::JsonLines => has_infinite |= push_object(&names, ids, edge.weight, cells.as_deref_mut(), line)?,
                Form::GraphMl | Form::Gexf => {
                    self.push_xml_edge(form, (ids, edge.weight, before), cells.as_deref_mut(), line)?;
                }
                Form::Gml => {
                    line.extend_from_slice(format!("edge [ source {} target {}", numbers[0], numbers[1]).as_bytes());
                    push_gml_weight(&weight_key, edge.weight, line);
                    line.extend_from_slice(b" ]\n");
                }
                Form::Sif => {
                    form.push(ids[0], line);
                    line.push(b'\t');
                    match &mut cells {
                        Some(cells) => cells.push_interaction(USUAL_INTERACTION, line)?,
                        None => line.extend_from_slice(USUAL_INTERACTION.as_bytes()),
                    }
                    line.push(b'\t');
                    form.push(ids[1], line);
                    line.push(b'\n');
                }
                Form::Pajek => {
                    line.extend_from_slice(format!("{} {}", numbers[0] + 1, numbers[1] + 1).as_bytes());
                    push_weight(b' ', edge.weight, line);
                    line.push(b'\n');
                }
            }
            Ok(())
        })?;
        Ok((edges, has_infinite))
    }

    fn member_names(&self, cells: Option<&Cells<'_>>) -> MemberNames {
        let member = |name: &str| {
            let mut member = b", ".to_vec();
            push_json(&mut member, name);
            member.push(b':');
            member
        };
        let weight = member(weight_column(self.graph).unwrap_or("weight"));
        let attributes = edge_names(self.graph, cells.map_or(&[], Cells::fields), true);
        let attributes = attributes.iter().map(|name| [member(name), b" ".to_vec()].concat()).collect();
        let end: &[u8] = if self.graph.is_directed() { b"}\n" } else { b", \"Type\": \"Undirected\"}\n" };
        MemberNames { weight, attributes, end }
    }

    /// Name of the weights in GML: their own, if it can be a key.
    fn gml_weight(&self) -> String {
        let name = weight_column(self.graph).unwrap_or("weight");
        let is_key = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric())
            && !matches!(name, "id" | "label" | "key");
        if is_key { name.to_owned() } else { "weight".to_owned() }
    }
}

/// Whether an id has blanks, which separate columns of SIF where no line has a tab.
fn has_blank(id: &str) -> bool {
    id.contains(|c: char| c.is_ascii_whitespace())
}

/// Texts of JSON's members: what stands before a weight and before each attribute, and how an edge ends.
struct MemberNames {
    weight: Vec<u8>,
    attributes: Vec<Vec<u8>>,
    end: &'static [u8],
}

/// Appends an edge as an object, with its values, which are those of the next row. Returns whether a number is left
/// out, since JSON has none that are not finite.
fn push_object(
    names: &MemberNames,
    ids: [Id<&str>; 2],
    weight: Weight,
    cells: Option<&mut Cells<'_>>,
    line: &mut Vec<u8>,
) -> Result<bool> {
    for (name, id) in [&b"{\"source\": "[..], b", \"target\": "].into_iter().zip(ids) {
        line.extend_from_slice(name);
        match id {
            Id::Text(text) => push_json(line, text),
            // Writing into memory does not fail.
            number => drop(write!(line, "{number}")),
        }
    }
    if !matches!(weight, Weight::None) {
        line.extend_from_slice(&names.weight);
        push_weight(b' ', weight, line);
    }
    let mut has_infinite = false;
    if let Some(cells) = cells {
        cells.advance()?;
        for (name, (column, row)) in names.attributes.iter().zip(cells.values()) {
            line.extend_from_slice(name);
            push_json_value(line, column, row);
            has_infinite |= column.is_valid(row) && line.ends_with(b"null");
        }
    }
    line.extend_from_slice(names.end);
    Ok(has_infinite)
}

/// Appends a key and a weight; real numbers have a point in GML.
fn push_gml_weight(key: &str, weight: Weight, line: &mut Vec<u8>) {
    if matches!(weight, Weight::None) {
        return;
    }
    line.push(b' ');
    line.extend_from_slice(key.as_bytes());
    let start = line.len();
    push_weight(b' ', weight, line);
    let exponent = line[start..].iter().position(|&byte| byte == b'e');
    if let Some(place) = exponent.filter(|&place| !line[start..start + place].contains(&b'.')) {
        line.splice(start + place..start + place, *b".0");
    }
}
