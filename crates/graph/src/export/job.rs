//! The parts of an export that all text formats share: ids, edges, vertices without edges, and the files that are
//! written.

use crate::engine::graph::Graph;
use crate::engine::weights::Weight;
use crate::export::cells::INTERACTION;
use crate::export::edge_batches::{EdgeBatches, EdgeData, weight_column};
use crate::export::edge_stream::{Entry, edge_stream_bytes, for_each_edge};
use crate::export::records::Form;
use crate::export::table::parquet_file_bytes;
use crate::export::vertex_batches::VertexBatches;
use outcore_image::{AtomicFile, BUFFER_BYTES, ColumnStream, Error, Result, STREAM_BYTES, is_standard_output};
use outcore_ingest::{OwnComment, is_whole};
use outcore_io::{Unit, folder};
use outcore_table::{BATCH_IDS, Compression, Id, IdLookup, IdStream, Table, TextFile, push_quoted, string_ids};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Report of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// Edges written; one without direction counts once.
    pub edges: u64,
    /// Vertices without edges.
    pub isolated_vertices: u64,
    /// Vertices stand under numbers from 1 that are not their ids.
    pub renumbered: bool,
    /// Name of the weights in an import of it, if that is not their name in the graph.
    pub renamed_weights: Option<&'static str>,
    /// Parallel edges are kept, which the format cannot express: an import of the file needs the option for it.
    pub unsaid_parallel: bool,
    /// Ids are strings of which some look like numbers, which a file beside the standard output would say.
    pub unsaid_strings: bool,
    /// Edges have attributes, which the format cannot hold.
    pub without_attributes: bool,
    /// Vertices have attributes, or results are joined to them, which the format cannot hold.
    pub without_vertex_attributes: bool,
    /// Attributes have numbers that are not finite, which the format cannot hold.
    pub has_infinite: bool,
    /// The files, the asked one last.
    pub files: Vec<PathBuf>,
    /// Files of vertices that belonged to the file that was replaced, and went with it.
    pub removed: Vec<PathBuf>,
}

impl ExportReport {
    /// Notes for the user on what an import of the file has to say again, and on what is not in it. `has_table` if a
    /// table of vertices is written, too.
    pub fn notes(&self, has_table: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |is_so: bool, text: &str| notes.extend(is_so.then(|| text.to_owned()));
        note(
            self.without_attributes,
            "attributes were left out: .csv, .tsv, .parquet, .jsonl, .graphml and .gexf are written with them",
        );
        note(
            self.without_vertex_attributes && !has_table,
            "attributes of vertices were left out: --vertex-table FILE writes them, and so do .graphml and .gexf",
        );
        note(
            self.has_infinite,
            "numbers that are not finite were written as null, for this format has none: export to .csv or .parquet",
        );
        for file in &self.removed {
            let text = format!("removed {}, which belonged to the file that this one replaces", file.display());
            note(true, &text);
        }
        if let Some(name) = self.renamed_weights {
            note(true, &format!("an import of it calls the weights `{name}`, for it cannot hold their name"));
        }
        note(
            self.unsaid_parallel,
            "parallel edges were written, which this format cannot say: import it with --duplicates keep",
        );
        note(
            self.unsaid_strings,
            "ids are strings of which some look like numbers: import this with --ids string", //
        );
        note(self.renumbered, "vertices stand under numbers from 1, for this format has no other ids");
        notes
    }
}

/// An export to one file.
pub(crate) struct Job<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) output: &'a Path,
    pub(crate) compression: Compression,
    /// Ending of the output's name, before that of the compression.
    pub(crate) ending: &'a str,
    /// The columns are joined to the vertices.
    pub(crate) results: Option<Table>,
}

impl Job<'_> {
    /// Refuses a whole weight that an import of text would refuse, for it reads weights as real numbers first.
    pub(crate) fn check_weight(&self, weight: Weight) -> Result<()> {
        match weight {
            Weight::Integer(value) if (value as f64) as i128 != i128::from(value) => {
                let why = format!("text holds whole weights that a real number of 64 bits equals, unlike {value}");
                Err(self.refuse(&why, ".mtx or .parquet"))
            }
            _ => Ok(()),
        }
    }

    /// Name of the weights in an import of the file, if that is not their name in the graph.
    fn renamed_weights(&self) -> Option<&'static str> {
        let weights = self.graph.manifest().weights()?;
        let renamed = match self.ending {
            "txt" | "edges" | "e" | "sif" => return None,
            "mtx" => "value",
            "csv" | "tsv" | "parquet" | "jsonl" | "ndjson" | "graphml" | "gml"
                if weight_column(self.graph) == Some(&weights.name) =>
            {
                return None;
            }
            _ => "weight",
        };
        (weights.name != renamed).then_some(renamed)
    }

    /// The comment with facts that columns cannot express, with this name of the weights.
    pub(crate) fn own_comment(&self, weight: Option<String>) -> OwnComment {
        let parallel = self.graph.manifest().parallel_edges;
        OwnComment { directed: self.graph.is_directed(), string_ids: string_ids(self.graph.image()), parallel, weight }
    }

    /// Memory of the export: the ids, the files, and what reads vertices or edges, with attributes where they are
    /// written.
    pub(crate) fn bytes(&self) -> u64 {
        let graph = self.graph;
        let form = Form::of(self.ending);
        let has_attributes =
            matches!(self.ending, "csv" | "tsv" | "sif" | "parquet") || form.is_some_and(Form::has_attributes);
        let batches_bytes = if has_attributes && !graph.manifest().attributes.is_empty() || self.ending == "parquet" {
            EdgeBatches::bytes(graph, EdgeData::all(graph))
        } else {
            0
        };
        if self.ending == "parquet" {
            return batches_bytes.saturating_add(parquet_file_bytes() + BUFFER_BYTES as u64);
        }
        // While vertices are read, their degrees are, and a file beside the output is written.
        let has_values = self.results.is_some() || !graph.manifest().vertex_attributes.is_empty();
        let has_columns = has_values && form.is_some_and(Form::has_vertex_attributes);
        let columns_bytes = if has_columns { VertexBatches::bytes(graph) } else { 0 };
        let vertices_bytes =
            columns_bytes.saturating_add(IdStream::bytes(graph.image()) + 2 * STREAM_BYTES + BUFFER_BYTES as u64);
        let edges_bytes = edge_stream_bytes(graph).saturating_add(batches_bytes) + BUFFER_BYTES as u64;
        // Attributes of edges are open while vertices are written that have some, too.
        let vertices_bytes = if has_columns { vertices_bytes.saturating_add(batches_bytes) } else { vertices_bytes };
        let results = self.results.as_ref().filter(|_| has_columns);
        let results_bytes = results.map_or(0, Table::reader_bytes);
        // METIS has numbers in the place of ids.
        let ids_bytes = if self.ending == "graph" { 0 } else { IdLookup::bytes(graph.image()) };
        ids_bytes
            .saturating_add(results_bytes)
            .saturating_add(self.compression.file_bytes())
            .saturating_add(vertices_bytes.max(edges_bytes))
    }

    pub(crate) fn lookup(&self) -> Result<IdLookup> {
        IdLookup::new(self.graph.image())
    }

    /// Calls `check` with every vertex and its id, if ids are strings; whether any id is written like a number.
    pub(crate) fn check_strings(
        &self,
        lookup: &IdLookup,
        mut check: impl FnMut(u64, &str) -> Result<()>,
    ) -> Result<bool> {
        let mut has_numbers = false;
        for vertex in 0..self.graph.vertices() {
            if vertex % BATCH_IDS as u64 == 0 {
                self.graph.runtime().cancel().check()?;
            }
            let Id::Text(id) = lookup.id(vertex as u32) else { continue };
            has_numbers |= is_whole(id.as_bytes());
            check(vertex, id)?;
        }
        Ok(has_numbers)
    }

    /// The error for an id that the format cannot hold.
    pub(crate) fn refuse_id(&self, why: &str, id: &str, vertex: u64, instead: &str) -> Error {
        let shown: String = id.chars().take(100).collect();
        self.refuse(&format!("{why} {shown:?}, that of vertex {vertex} of the image"), instead)
    }

    /// Writes every edge once; `push` appends the line of an edge, given the number of edges before it. Returns the
    /// number of edges.
    pub(crate) fn put_edges(
        &self,
        lookup: &IdLookup,
        file: &mut TextFile,
        mut push: impl FnMut(&Entry, u64, &mut Vec<u8>) -> Result<()>,
    ) -> Result<u64> {
        let task = self.graph.runtime().task("exporting", Unit::Edges, Some(self.graph.edges()));
        let (mut line, mut edges) = (Vec::new(), 0);
        for_each_edge(self.graph, lookup, |edge| {
            line.clear();
            push(&edge, edges, &mut line)?;
            edges += 1;
            task.advance(1);
            file.put(&line)
        })?;
        Ok(edges)
    }

    /// Number of vertices without edges.
    pub(crate) fn isolated(&self) -> Result<u64> {
        let mut count = 0;
        let mut degrees = Degrees::new(self.graph)?;
        for _ in 0..self.graph.vertices() {
            count += u64::from(degrees.next()? == 0);
        }
        Ok(count)
    }

    /// Writes the ids without edges beside the output below a first line, if there are any or such a line.
    pub(crate) fn write_isolated(&self, head: &str) -> Result<(u64, Vec<Beside>)> {
        let count = self.isolated()?;
        if count == 0 && head.is_empty() || is_standard_output(self.output) {
            return Ok((count, Vec::new()));
        }
        let mut degrees = Degrees::new(self.graph)?;
        let file = self.write_ids(beside(self.output), head, |_| Ok(degrees.next()? == 0))?;
        Ok((count, vec![file]))
    }

    pub(crate) fn write_all_ids(&self) -> Result<Beside> {
        if is_standard_output(self.output) {
            return Err(self.refuse("its vertices are numbers from 1, and their ids go to a file beside it", "a file"));
        }
        self.write_ids(beside(self.output), "", |_| Ok(true))
    }

    /// Writes the wanted ids to a file of their own, one a line, below `head`.
    pub(crate) fn write_ids(
        &self,
        path: PathBuf,
        head: &str,
        mut wanted: impl FnMut(u64) -> Result<bool>,
    ) -> Result<Beside> {
        let mut file = TextFile::create(self.graph.image(), &path, Compression::None)?;
        file.put(head.as_bytes())?;
        let mut stream = IdStream::new(self.graph.image())?;
        let mut line = Vec::new();
        while let Some((first, batch)) = stream.next()? {
            for (i, id) in batch.iter().enumerate() {
                if !wanted(first + i as u64)? {
                    continue;
                }
                line.clear();
                self.push_alone(id, &mut line)?;
                file.put(&line)?;
            }
        }
        Ok((path, file))
    }

    /// Appends an id as a line of its own, in quotes where it could be taken for something else.
    fn push_alone(&self, id: Id<&str>, line: &mut Vec<u8>) -> Result<()> {
        match id {
            Id::Text(text) if text.contains(['\n', '\r']) => {
                return Err(Error::Unsuitable(format!(
                    "cannot export to {}: lines of {} cannot hold the id {text:?}; rename the vertex first",
                    self.output.display(),
                    beside(self.output).display()
                )));
            }
            Id::Text(text) => push_quoted(line, text),
            // Writing into memory does not fail.
            number => drop(write!(line, "{number}")),
        }
        line.push(b'\n');
        Ok(())
    }

    /// The files of vertices beside the output: an import of it would read the first.
    fn files_beside(&self) -> Vec<PathBuf> {
        if self.ending == "e" || is_standard_output(self.output) {
            // Its vertices stand in another file, or nowhere.
            return Vec::new();
        }
        let backend = self.graph.runtime().backend();
        let named = ["", ".gz", ".zst"].map(|compression| {
            let mut name = beside(self.output).into_os_string();
            name.push(compression);
            PathBuf::from(name)
        });
        named.into_iter().filter(|path| backend.named_itself(path).is_some()).collect()
    }

    /// Refuses an output beside whose name there are vertices already: those of a file that is replaced go with it, but
    /// others belong to the user.
    pub(crate) fn check_beside(&self) -> Result<()> {
        let is_new = self.graph.runtime().backend().named_itself(self.output).is_none();
        match self.files_beside().first() {
            Some(existing) if is_new => Err(Error::Unsuitable(format!(
                "cannot export to {}: there is {} already, whose vertices an import would add; remove it first, or export \
                 under another name",
                self.output.display(),
                existing.display()
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn refuse(&self, why: &str, instead: &str) -> Error {
        Error::Unsuitable(format!("cannot export to {}: {why}; export to {instead} instead", self.output.display()))
    }

    /// Completes all files, the asked one last.
    pub(crate) fn done(
        &self,
        edges: u64,
        isolated_vertices: u64,
        renumbered: bool,
        beside: Vec<Beside>,
        file: Option<TextFile>,
    ) -> Result<ExportReport> {
        let (mut files, mut whole) = (Vec::new(), Vec::new());
        for (path, file) in beside {
            whole.push(file.finish()?);
            files.push(path);
        }
        if let Some(file) = file {
            whole.push(file.finish()?);
        }
        // Only now that all of them are on the disk does the first get its name.
        whole.into_iter().try_for_each(AtomicFile::commit)?;
        // A file of vertices beside the replaced file would add its vertices to this graph.
        let mut removed = self.files_beside();
        removed.retain(|path| !files.contains(path));
        let backend = self.graph.runtime().backend();
        for stale in &removed {
            backend.remove(stale)?;
            backend.sync_directory(folder(stale))?;
        }
        files.push(self.output.to_owned());
        let renamed_weights = self.renamed_weights();
        let form = Form::of(self.ending);
        let manifest = self.graph.manifest();
        let without_attributes = match self.ending {
            "csv" | "tsv" | "parquet" => false,
            "sif" => manifest.attributes.iter().any(|attribute| attribute.name != INTERACTION),
            _ => !form.is_some_and(Form::has_attributes) && !manifest.attributes.is_empty(),
        };
        let has_columns = self.results.is_some() || !manifest.vertex_attributes.is_empty();
        let without_vertex_attributes = has_columns && !form.is_some_and(Form::has_vertex_attributes);
        let unsaid_parallel =
            self.graph.manifest().parallel_edges && !matches!(self.ending, "txt" | "edges" | "parquet" | "gml");
        Ok(ExportReport {
            edges,
            isolated_vertices,
            renumbered,
            renamed_weights,
            unsaid_parallel,
            unsaid_strings: false,
            without_attributes,
            without_vertex_attributes,
            has_infinite: false,
            files,
            removed,
        })
    }
}

/// A file beside the asked one, not yet complete.
pub(crate) type Beside = (PathBuf, TextFile);

/// Total degrees, in the order of the vertices.
pub(crate) struct Degrees(Vec<ColumnStream>);

impl Degrees {
    pub(crate) fn new(graph: &Graph) -> Result<Self> {
        let column = |&direction| ColumnStream::new(graph.image(), graph.degree_file(direction), graph.vertices());
        graph.directions().iter().map(column).collect::<Result<_>>().map(Degrees)
    }

    pub(crate) fn next(&mut self) -> Result<u64> {
        self.0.iter_mut().try_fold(0u64, |sum, column| Ok(sum.saturating_add(column.value()?)))
    }
}

/// The file beside an output that says what its format cannot.
pub(crate) fn beside(output: &Path) -> PathBuf {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".vertices");
    output.with_file_name(name)
}

/// Appends a weight, if there is one; real ones in the shortest form that reads back the same.
pub(crate) fn push_weight(separator: u8, weight: Weight, line: &mut Vec<u8>) {
    // Writing into memory does not fail.
    let _ = match weight {
        Weight::None => Ok(()),
        Weight::Integer(value) => write!(line, "{}{value}", separator as char),
        Weight::Real(value) => write!(line, "{}{value:?}", separator as char),
        Weight::Complex(real, imaginary) => write!(line, "{0}{real:?}{0}{imaginary:?}", separator as char),
    };
}
