//! Export: a whole graph back to a file that this and other programs read, under the users' ids.
//!
//! | ending | what | what it cannot say |
//! |---|---|---|
//! | `.txt` `.edges` | tabs, `#` comments, of which the first says what the columns cannot | vertices without edges, ids with blanks |
//! | `.tsv` `.csv` | a first line with names; Gephi's column `Type` without direction | vertices without edges, ids that are empty or with line ends, that numbers are strings |
//! | `.el` `.wel` | GAP's, without and with weights | as `.txt`; direction, the name of weights |
//! | `.parquet` | columns `source`, `target`, maybe weights; metadata with the rest | vertices without edges |
//! | `.e` | Graphalytics: `NAME.e`, `NAME.v`, `NAME.properties` | ids that are strings or below 0 |
//! | `.mtx` | Matrix Market, vertices from 1; the only one for complex values | ids, unless they are consecutive integers |
//! | `.graph` | METIS, vertices from 1 | direction; ids |
//! | `.sif` | Cytoscape's, the interaction `interacts`, isolated vertices alone on a line | direction; weights; ids with tabs or line ends |
//! | `.jsonl` `.ndjson` | JSON lines, names as in CSV | vertices without edges |
//! | `.graphml` `.gexf` `.gml` `.net` | GraphML, GEXF, GML, Pajek: `records.rs` | see there |
//!
//! All but Parquet and Graphalytics may end in `.gz` or `.zst` too. An edge without direction stands once, the smaller
//! id first (METIS has it in both lines); importing `.el` and `.wel` wants `--undirected` then. Weights go by their
//! name. Attributes of edges are further columns of `.tsv`, `.csv` and `.parquet`, members of `.jsonl`, and data of
//! `.graphml` and `.gexf`, where vertices have theirs, too; the other formats leave them out.
//! Facts of vertices that a format cannot express are written to a file beside it, `FILE.vertices`: ids without edges,
//! which the importer reads again, or, where vertices had to be numbered, all ids by their numbers. Strings stand in
//! quotes there where CSV has them. Where nothing else tells that ids are strings, or whether edges have a direction, a
//! comment in its first line does.
//!
//! *Cost.* One pass over the out-lists and their weights, in order; the ids in memory where edges name them.

use crate::engine::graph::Graph;
use crate::engine::weights::Weight;
use crate::export::cells::{Cells, edge_names, joined};
use crate::export::edge_batches::{EdgeBatches, EdgeData, weight_column};
use crate::export::edge_stream::for_each_entry;
use crate::export::job::{Degrees, ExportReport, Job, beside, push_weight};
use crate::export::records::Form;
use crate::export::table::{vertex_table_bytes, write_parquet};
use outcore_format::IdColumn;
use outcore_image::{Error, Result, is_standard_output};
use outcore_io::Unit;
use outcore_table::{BATCH_IDS, Compression, ENCODER_BYTES, Id, IdLookup, Table, TextFile, push_quoted, string_ids};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Endings of the formats that a graph can be exported to: `--help` and errors list them.
pub const EXPORT_ENDINGS: &str = if cfg!(feature = "parquet") {
    ".txt, .edges, .tsv, .csv, .el, .wel, .mtx, .graph, .jsonl, .graphml, .gexf, .gml, .net, .sif (each maybe with .gz \
     or .zst), .e, .parquet"
} else {
    ".txt, .edges, .tsv, .csv, .el, .wel, .mtx, .graph, .jsonl, .graphml, .gexf, .gml, .net, .sif (each maybe with .gz \
     or .zst), .e"
};

/// Writes all edges of a graph to a file, in the format that its name ends in (see [`EXPORT_ENDINGS`]); to the standard
/// output, as `.txt`, for `-`, and in other forms for `-.csv` and the like. Nothing stands beside that.
///
/// # Errors
/// An unknown ending, a graph that the format cannot hold, a file of vertices beside no file that it belongs to, a full
/// disk, no memory for the ids, a request to stop. Then there is no new file, and an old one of that name is as it was.
pub fn export(graph: &Graph, output: impl AsRef<Path>) -> Result<ExportReport> {
    export_with(graph, output, None)
}

/// Like [`export`], with the columns of results as attributes of the vertices, behind their own. Formats that have none
/// of vertices leave them out, which the report says.
///
/// # Errors
/// As for [`export`]; results of another graph or of some of its vertices, or under the name of an attribute.
pub fn export_with(graph: &Graph, output: impl AsRef<Path>, results: Option<&Table>) -> Result<ExportReport> {
    let output = output.as_ref();
    let small = small_name(output);
    let (compression, ending) = ending_of(&small);
    let results = results.map(|results| joined(graph, results)).transpose()?;
    let job = Job { graph, output, compression, ending, results };
    if graph.is_complex() && ending != "mtx" {
        return Err(job.refuse("it has no complex numbers, but the graph does", ".mtx"));
    }
    job.check_beside()?;
    graph.make_room("exporting", job.bytes())?;
    match (ending, compression) {
        ("txt" | "edges", _) => job.edge_list(&Text { separator: b'\t', names: false, weights: None }),
        ("tsv", _) => job.edge_list(&Text { separator: b'\t', names: true, weights: None }),
        ("csv", _) => job.edge_list(&Text { separator: b',', names: true, weights: None }),
        ("el", _) => job.edge_list(&Text { separator: b' ', names: false, weights: Some(false) }),
        ("wel", _) => job.edge_list(&Text { separator: b' ', names: false, weights: Some(true) }),
        ("mtx", _) => job.matrix_market(),
        ("graph", _) => job.metis(),
        ("e", Compression::None) if !is_standard_output(output) => job.graphalytics(name_of_data_set(output)?),
        ("parquet", Compression::None) if cfg!(feature = "parquet") => job.parquet(),
        (ending, _) if Form::of(ending).is_some() => job.records(Form::of(ending).unwrap_or(Form::JsonLines)),
        _ => Err(Error::Usage(format!(
            "expected a file to export to that ends in one of {EXPORT_ENDINGS}, found {}",
            output.display()
        ))),
    }
}

/// The name of a data set of Graphalytics, which stands in its files.
fn name_of_data_set(output: &Path) -> Result<&str> {
    let name = output.file_stem().and_then(|name| name.to_str());
    let expected = "expected a name in UTF-8 for a data set of Graphalytics, in whose files it stands";
    name.ok_or_else(|| Error::Usage(format!("{expected}, found {}", output.display())))
}

/// Whether the format that a file's name stands for has attributes of vertices, and so takes results.
pub fn takes_results(output: &Path) -> bool {
    Form::of(ending_of(&small_name(output)).1).is_some_and(Form::has_vertex_attributes)
}

/// Refuses an export, and that of a table of vertices beside it, each with results, for which there is too little
/// memory, before anything is read: so the limit that the refusal advises is enough for both.
///
/// # Errors
/// Too little memory; results that [`export_with`] refuses.
pub fn check_export_memory(
    graph: &Graph,
    output: &Path,
    vertex_table: Option<&Path>,
    results: Option<&Table>,
) -> Result<()> {
    let name = small_name(output);
    let (compression, ending) = ending_of(&name);
    let results = results.map(|results| joined(graph, results)).transpose()?;
    let results_bytes = results.as_ref().map_or(0, Table::reader_bytes);
    let job = Job { graph, output, compression, ending, results };
    let vertices_bytes = vertex_table.map_or(0, |table| {
        let name = small_name(table);
        let (compression, ending) = ending_of(&name);
        vertex_table_bytes(graph, compression, ending).saturating_add(results_bytes)
    });
    graph.make_room("exporting", job.bytes().max(vertices_bytes))
}

/// The name of a file in small letters. Endings are ASCII, whatever comes before them.
pub(crate) fn small_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// The compression and the format's ending of a name in small letters.
pub(crate) fn ending_of(name: &str) -> (Compression, &str) {
    let (compression, bare) = Compression::of(name);
    let ending = match bare.rsplit_once('.') {
        Some((_, ending)) => ending,
        None if bare == "-" => "txt",
        None => "",
    };
    (compression, ending)
}

/// Layout of a list of edges.
struct Text {
    separator: u8,
    /// The first line names the columns.
    names: bool,
    /// Whether the format has weights, where it says so.
    weights: Option<bool>,
}

impl Text {
    /// Whether fields may stand in quotes, as in CSV: where a first line names the columns.
    fn has_quotes(&self) -> bool {
        self.names
    }

    /// Whether a column can hold an id so that it is read as the same again.
    fn can_hold(&self, id: &str) -> bool {
        // Between blanks an import looks for other separators first.
        let is_bar = |c: char| c == '|' && self.separator == b' ';
        let special = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';' | '"') || is_bar(c);
        match self.has_quotes() {
            true => !id.is_empty() && !id.contains(['\n', '\r', '\0']),
            false => !id.is_empty() && !id.starts_with(['#', '%']) && !id.contains(special),
        }
    }
}

impl Job<'_> {
    fn edge_list(&self, text: &Text) -> Result<ExportReport> {
        let weighted = self.graph.manifest().weights().is_some();
        match text.weights {
            Some(false) if weighted => return Err(self.refuse("it has no weights, but the graph does", ".wel or .csv")),
            Some(true) if !weighted => return Err(self.refuse("it has weights, but the graph does not", ".el")),
            _ => {}
        }
        let lookup = self.lookup()?;
        let has_numbers = self.check_ids(text, &lookup)?;
        let has_comments = !text.names && text.weights.is_none();
        let is_unclear = self.graph.edges() == 0 || string_ids(self.graph.image()) && has_numbers;
        let head =
            if is_unclear && !has_comments { format!("{}\n", self.own_comment(None).line()) } else { String::new() };
        let mut file = TextFile::create(self.graph.image(), self.output, self.compression)?;
        let (isolated, beside) = self.write_isolated(&head)?;
        let mut names = Vec::new();
        let mut cells = if text.names { Cells::of_edges(self.graph)? } else { None };
        if text.names {
            self.push_names(text, cells.as_ref(), &mut names);
        } else if has_comments {
            self.push_comments(isolated, &mut names);
        }
        let kind: &[u8] = if text.names && !self.graph.is_directed() { b"Undirected" } else { b"" };
        file.put(&names)?;
        let edges = self.put_edges(&lookup, &mut file, |edge, before, line| {
            let (source, target) = (lookup.id(edge.vertex), lookup.id(edge.neighbour));
            // A first line of two numbers can look like the size of the graph: then name the columns before it.
            if before == 0 && !text.names && text.weights.is_none() && !weighted && may_be_size(self.graph, target) {
                self.push_names(text, None, line);
            }
            self.push_edge(text, [source, target], edge.weight, line)?;
            if !kind.is_empty() {
                line.push(text.separator);
                line.extend_from_slice(kind);
            }
            cells.as_mut().map_or(Ok(()), |cells| cells.push(text.separator, line))?;
            line.push(b'\n');
            if *line == names {
                // An import would take the line for the names of the columns again.
                let separator = text.separator as char;
                *line = format!("\"{source}\"{separator}\"{target}\"\n").into_bytes();
            }
            Ok(())
        })?;
        let unsaid_strings = !head.is_empty() && string_ids(self.graph.image()) && is_standard_output(self.output);
        Ok(ExportReport { unsaid_strings, ..self.done(edges, isolated, false, beside, Some(file))? })
    }

    /// Appends the ends and the weight of an edge.
    fn push_edge(
        &self,
        text: &Text,
        [source, target]: [Id<&str>; 2],
        weight: Weight,
        line: &mut Vec<u8>,
    ) -> Result<()> {
        push_id(text, source, line);
        line.push(text.separator);
        push_id(text, target, line);
        self.check_weight(weight)?;
        push_weight(text.separator, weight, line);
        Ok(())
    }

    fn push_names(&self, text: &Text, cells: Option<&Cells<'_>>, line: &mut Vec<u8>) {
        let weight = weight_column(self.graph);
        // Gephi's name of the column that says whether edges have a direction.
        let kind = if text.names && !self.graph.is_directed() { Some("Type") } else { None };
        for (place, name) in ["source", "target"].into_iter().chain(weight).chain(kind).enumerate() {
            line.extend((place > 0).then_some(text.separator));
            push_quoted(line, name);
        }
        for name in edge_names(self.graph, cells.map_or(&[], Cells::fields), true) {
            line.push(text.separator);
            push_quoted(line, &name);
        }
        line.push(b'\n');
    }

    fn push_comments(&self, isolated: u64, line: &mut Vec<u8>) {
        let own = self.own_comment(self.graph.manifest().weights().map(|weights| weights.name.clone()));
        let (vertices, edges) = (self.graph.vertices(), self.graph.edges());
        line.extend_from_slice(format!("{}\n# {vertices} vertices, {edges} edges\n", own.line()).as_bytes());
        if isolated > 0 && !is_standard_output(self.output) {
            let beside = beside(self.output);
            let name = beside.file_name().unwrap_or_default().to_string_lossy();
            line.extend_from_slice(format!("# {isolated} vertices have no edge: see {name}\n").as_bytes());
        }
    }

    /// Refuses ids of edges that no column can hold, and says whether any id is written like a number.
    fn check_ids(&self, text: &Text, lookup: &IdLookup) -> Result<bool> {
        if !string_ids(self.graph.image()) {
            return Ok(true);
        }
        let mut degrees = Degrees::new(self.graph)?;
        self.check_strings(lookup, |vertex, id| {
            if degrees.next()? > 0 && !text.can_hold(id) {
                let csv = Text { separator: b',', names: true, ..*text };
                let instead = if csv.can_hold(id) { ".csv or .parquet" } else { ".parquet" };
                return Err(self.refuse_id("its columns cannot hold the id", id, vertex, instead));
            }
            Ok(())
        })
    }

    fn matrix_market(&self) -> Result<ExportReport> {
        self.graph.check_sides()?;
        let lookup = self.lookup()?;
        let first = consecutive_from(self.graph, &lookup)?;
        let mut file = TextFile::create(self.graph.image(), self.output, self.compression)?;
        let renumbered = first != Some(1);
        let beside = if first.is_none() { vec![self.write_all_ids()?] } else { Vec::new() };
        let values = match self.graph.manifest().weights().map(|weights| weights.kind) {
            None => "pattern",
            Some(_) if self.graph.is_complex() => "complex",
            Some(kind) if kind.is_real() => "real",
            Some(_) => "integer",
        };
        let (vertices, edges) = (self.graph.vertices(), self.graph.edges());
        let symmetry = if self.graph.is_directed() { "general" } else { "symmetric" };
        let comment = self.numbering_comment(first);
        // The columns of a rectangular matrix are vertices behind its rows.
        let rows = self.graph.manifest().rows;
        let [height, width] = rows.map_or([vertices; 2], |rows| [rows, vertices - rows]);
        let before_columns = rows.unwrap_or(0);
        let head = format!("%%MatrixMarket matrix coordinate {values} {symmetry}\n{comment}{height} {width} {edges}\n");
        file.put(head.as_bytes())?;
        let number = |vertex: u32| match (first, lookup.id(vertex)) {
            (Some(first), Id::Signed(id)) => (i128::from(id) - first + 1) as u64,
            (Some(first), Id::Unsigned(id)) => (i128::from(id) - first + 1) as u64,
            _ => u64::from(vertex) + 1,
        };
        let written = self.put_edges(&lookup, &mut file, |edge, _, line| {
            let (mut row, mut column) = (number(edge.vertex), number(edge.neighbour).saturating_sub(before_columns));
            // A symmetric matrix is given by its lower triangle.
            if !self.graph.is_directed() && row < column {
                (row, column) = (column, row);
            }
            let _ = write!(line, "{row} {column}");
            push_weight(b' ', edge.weight, line);
            line.push(b'\n');
            Ok(())
        })?;
        self.done(written, self.isolated()?, renumbered, beside, Some(file))
    }

    fn metis(&self) -> Result<ExportReport> {
        if self.graph.is_directed() {
            return Err(self.refuse("METIS graphs have no direction, but this one does", ".mtx or .txt"));
        }
        let first = match self.graph.manifest().ids {
            IdColumn::Range { first } => Some(i128::from(first)),
            _ => None,
        };
        let mut file = TextFile::create(self.graph.image(), self.output, self.compression)?;
        let beside = if first.is_none() { vec![self.write_all_ids()?] } else { Vec::new() };
        let format = if self.graph.manifest().weights().is_some() { " 001" } else { "" };
        let (vertices, edges) = (self.graph.vertices(), self.graph.edges());
        file.put(format!("{}{vertices} {edges}{format}\n", self.numbering_comment(first)).as_bytes())?;
        let task = self.graph.runtime().task("exporting", Unit::Vertices, Some(vertices));
        let mut field = Vec::new();
        let mut begun = false;
        for_each_entry(self.graph, |_, entry| {
            field.clear();
            match entry {
                None => {
                    field.push(b'\n');
                    task.advance(1);
                }
                Some(entry) => {
                    field.extend(begun.then_some(b' '));
                    let _ = write!(field, "{}", u64::from(entry.neighbour) + 1);
                    self.check_weight(entry.weight)?;
                    push_weight(b' ', entry.weight, &mut field);
                }
            }
            begun = entry.is_some();
            file.put(&field)
        })?;
        self.done(edges, self.isolated()?, first != Some(1), beside, Some(file))
    }

    fn graphalytics(&self, stem: &str) -> Result<ExportReport> {
        if string_ids(self.graph.image()) {
            return Err(self.refuse_graphalytics("strings"));
        }
        let sibling = |ending: &str| self.output.with_file_name(format!("{stem}.{ending}"));
        let mut properties = TextFile::create(self.graph.image(), &sibling("properties"), Compression::None)?;
        let (directed, vertices) = (self.graph.is_directed(), self.graph.vertices());
        let mut lines = format!(
            "graph.{stem}.vertex-file = {stem}.v\ngraph.{stem}.edge-file = {stem}.e\n\
             graph.{stem}.meta.vertices = {vertices}\ngraph.{stem}.meta.edges = {}\ngraph.{stem}.directed = {directed}\n",
            self.graph.edges()
        );
        if let Some(weights) = self.graph.manifest().weights() {
            let kind = if weights.kind.is_real() { "real" } else { "int" };
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            let name = Some(weights.name.as_str()).filter(|name| !name.is_empty() && name.chars().all(is_plain));
            lines.push_str(&format!("graph.{stem}.edge-properties.names = {}\n", name.unwrap_or("weight")));
            lines.push_str(&format!("graph.{stem}.edge-properties.types = {kind}\n"));
        }
        properties.put(lines.as_bytes())?;
        let vertices_file = self.write_ids(sibling("v"), "", |_| Ok(true))?;
        let lookup = self.lookup()?;
        let text = Text { separator: b' ', names: false, weights: Some(self.graph.manifest().weights().is_some()) };
        let mut file = TextFile::create(self.graph.image(), self.output, Compression::None)?;
        if (0..vertices).any(|vertex| matches!(lookup.id(vertex as u32), Id::Signed(..0))) {
            return Err(self.refuse_graphalytics("numbers below 0"));
        }
        let edges = self.put_edges(&lookup, &mut file, |edge, _, line| {
            let ends = [lookup.id(edge.vertex), lookup.id(edge.neighbour)];
            self.push_edge(&text, ends, edge.weight, line)?;
            line.push(b'\n');
            Ok(())
        })?;
        let beside = vec![vertices_file, (sibling("properties"), properties)];
        self.done(edges, self.isolated()?, false, beside, Some(file))
    }

    fn numbering_comment(&self, first: Option<i128>) -> String {
        match first {
            Some(1) => String::new(),
            Some(first) => format!("% number 1 is the vertex with id {first}, and so on\n"),
            None => {
                let beside = beside(self.output);
                let name = beside.file_name().unwrap_or_default().to_string_lossy();
                format!("% number i is the vertex with the id in line i of {name}\n")
            }
        }
    }

    fn refuse_graphalytics(&self, kind: &str) -> Error {
        let why = format!("Graphalytics graphs have whole numbers from 0 on as ids, but this one has {kind}");
        self.refuse(&why, ".csv or .parquet")
    }

    fn parquet(&self) -> Result<ExportReport> {
        let (isolated, beside) = self.write_isolated("")?;
        let mut batches = EdgeBatches::new(self.graph, EdgeData::all(self.graph), ENCODER_BYTES)?;
        let task = self.graph.runtime().task("exporting", Unit::Edges, Some(self.graph.edges()));
        let edges = write_parquet(self.graph, self.output, Arc::clone(batches.schema()), || {
            let batch = batches.next_batch()?;
            task.advance(batch.iter().map(|batch| batch.num_rows() as u64).sum());
            Ok(batch)
        })?;
        self.done(edges, isolated, false, beside, None)
    }
}

/// The smallest id, if ids are consecutive integers.
fn consecutive_from(graph: &Graph, lookup: &IdLookup) -> Result<Option<i128>> {
    if string_ids(graph.image()) || graph.vertices() == 0 {
        return Ok((graph.vertices() == 0).then_some(1));
    }
    let (mut least, mut most) = (i128::MAX, i128::MIN);
    for vertex in 0..graph.vertices() {
        if vertex % BATCH_IDS as u64 == 0 {
            graph.runtime().cancel().check()?;
        }
        let id = match lookup.id(vertex as u32) {
            Id::Unsigned(id) => i128::from(id),
            Id::Signed(id) => i128::from(id),
            Id::Text(_) => return Ok(None),
        };
        (least, most) = (least.min(id), most.max(id));
    }
    // Ids are unique, so as many as fit between the least and the greatest are all of those.
    Ok((most - least + 1 == i128::from(graph.vertices())).then_some(least))
}

/// Whether a first line whose second number is this may be taken for the numbers of vertices and edges.
fn may_be_size(graph: &Graph, second: Id<&str>) -> bool {
    let edges = graph.edges() - 1;
    match second {
        Id::Unsigned(id) => id == edges,
        Id::Signed(id) => u64::try_from(id) == Ok(edges),
        // The comment in the first line says that ids are strings.
        Id::Text(_) => false,
    }
}

/// Appends an id that a column can hold.
fn push_id(text: &Text, id: Id<&str>, line: &mut Vec<u8>) {
    match id {
        Id::Text(string) if text.has_quotes() => push_quoted(line, string),
        Id::Text(string) => line.extend_from_slice(string.as_bytes()),
        // Writing into memory does not fail.
        number => drop(write!(line, "{number}")),
    }
}
