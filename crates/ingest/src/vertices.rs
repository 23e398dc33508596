//! Vertices beside the edges of an input: isolated ones, which no edge names.
//!
//! Any source can be given more vertices: a range of integers, which costs nothing, or a file with a line per vertex,
//! or a table of one column. Both are read behind the edges, whose first block tells better what ids are like. The
//! table goes through the parser of edges, as a table of loops whose ends are kept once.

use crate::altered::{Altered, Declared, hull};
use crate::batch::{Block, EdgeBatch, Facts, Ids, Parser, Source, TakeBatch, Weights};
use crate::input::file::Input;
use crate::text::vertex_lines;
use outcore_image::{Error, Result};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Adds the integers from `first` on, `count` of them, to the vertices of a source.
///
/// # Errors
/// A source whose ids are strings.
pub fn with_vertex_range(source: Box<dyn Source>, first: u64, count: u64) -> Result<Box<dyn Source>> {
    let mut facts = source.facts().clone();
    if facts.string_ids {
        return Err(Error::Usage(format!(
            "expected ids of vertices as strings, like those of the edges, found the integers from {first} on"
        )));
    }
    facts.declared = hull(facts.declared, Some((first, count)));
    let parser = source.parser();
    Ok(Box::new(Altered::new(source, facts, parser, Declared::With((first, count)))))
}

/// Adds the ids in the first column of a table to the vertices of a source, and keeps the other columns as attributes:
/// the table was opened with [`InputOptions::of_vertices`](crate::InputOptions::of_vertices), and is called `name` in
/// messages.
///
/// # Errors
/// A column that is not of the kind of the source's ids: integers or strings.
pub fn with_vertices(source: Box<dyn Source>, loops: Box<dyn Source>, name: &str) -> Result<Box<dyn Source>> {
    if loops.facts().string_ids != source.facts().string_ids {
        let kind = |facts: &Facts| if facts.string_ids { "strings" } else { "integers" };
        let expected = format!("ids of vertices that are {}, like those of the edges", kind(source.facts()));
        return Err(Error::input(name, None, expected, kind(loops.facts())));
    }
    let ends = Arc::new(Ends { loops: loops.parser() });
    let mut facts = source.facts().clone();
    if !facts.vertex_attributes.is_empty() && !loops.facts().attributes.is_empty() {
        let names: Vec<&str> = facts.vertex_attributes.iter().map(|field| field.name.as_str()).collect();
        return Err(Error::input(
            name,
            None,
            format!("vertices without attributes, since those of the input have some already ({})", names.join(", ")),
            "a table with columns beside the ids",
        )
        .advise("export the edges, and import them with one table of vertices"));
    }
    if facts.vertex_attributes.is_empty() {
        facts.vertex_attributes.clone_from(&loops.facts().attributes);
    }
    facts.notes.extend(loops.facts().notes.iter().map(|note| format!("{name}: {note}")));
    Ok(follow(source, facts, loops, ends))
}

/// Adds the ids in a file, one a line, to the vertices of a source that says `facts` of itself; the kind of the ids may
/// have been `guessed`.
pub(crate) fn with_vertex_file(
    source: Box<dyn Source>,
    mut facts: Facts,
    file: &Input,
    guessed: bool,
) -> Result<Box<dyn Source>> {
    let vertices = vertex_lines::open(file, facts.string_ids, guessed)?;
    facts.input_bytes = facts.input_bytes.zip(vertices.facts().input_bytes).map(|(edges, more)| edges + more);
    let parser = vertices.parser();
    facts.longest_line_bytes = facts.longest_line_bytes.max(vertices.facts().longest_line_bytes);
    Ok(follow(source, facts, vertices, parser))
}

/// A source of edges, then one of vertices, whose blocks `parser` understands.
fn follow(edges: Box<dyn Source>, facts: Facts, vertices: Box<dyn Source>, parser: Arc<dyn Parser>) -> Box<dyn Source> {
    let (first_of_vertices, begin) = (OnceLock::new(), AtomicU64::new(0));
    let parser = Arc::new(Both { edges: edges.parser(), vertices: parser, first_of_vertices, begin });
    Box::new(WithVertices { edges, vertices, facts, edge_blocks: 0, parser })
}

struct WithVertices {
    edges: Box<dyn Source>,
    vertices: Box<dyn Source>,
    facts: Facts,
    edge_blocks: u64,
    parser: Arc<Both>,
}

impl Source for WithVertices {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.parser.first_of_vertices.get().is_none() {
            if let Some(block) = self.edges.next_block()? {
                self.edge_blocks = block.sequence + block.parts_count();
                return Ok(Some(block));
            }
            // Nobody else sets it: a source is asked for blocks by one thread at a time.
            let _ = self.parser.first_of_vertices.set(self.edge_blocks);
        }
        let edge_bytes = self.edges.facts().input_bytes.unwrap_or(0);
        Ok(self.vertices.next_block()?.map(|block| Block {
            sequence: self.edge_blocks + block.sequence,
            input_bytes: edge_bytes + block.input_bytes,
            ..block
        }))
    }

    fn parser(&self) -> Arc<dyn Parser> {
        self.parser.clone()
    }

    fn begin_at(&mut self, sequence: u64) {
        self.parser.begin.store(sequence, Ordering::Relaxed);
        self.edges.begin_at(sequence);
    }

    fn declared(&self) -> Option<(u64, u64)> {
        self.edges.declared()
    }

    fn late_notes(&self) -> Vec<String> {
        self.edges.late_notes()
    }
}

/// Hands blocks of edges to one parser and blocks of vertices to another.
struct Both {
    edges: Arc<dyn Parser>,
    vertices: Arc<dyn Parser>,
    first_of_vertices: OnceLock<u64>,
    /// First sequence number of the blocks.
    begin: AtomicU64,
}

impl Both {
    /// The parser that understands a block.
    fn parser_of(&self, block: &Block) -> &dyn Parser {
        let own = block.sequence - self.begin.load(Ordering::Relaxed);
        let is_edges = self.first_of_vertices.get().is_none_or(|&first| own < first);
        if is_edges { &*self.edges } else { &*self.vertices }
    }
}

impl Parser for Both {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        self.parser_of(block).parse(block, batch)
    }

    fn parse_in_batches(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        self.parser_of(block).parse_in_batches(block, batch, take)
    }

    fn path(&self) -> &Path {
        self.edges.path()
    }

    fn comments(&self) -> (u64, Option<String>) {
        self.edges.comments()
    }

    fn left_out(&self) -> u64 {
        self.edges.left_out()
    }
}

/// Takes the ends of loops as vertices.
struct Ends {
    loops: Arc<dyn Parser>,
}

impl Parser for Ends {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        self.loops.parse(block, batch)?;
        keep_ends(batch);
        Ok(())
    }

    fn parse_in_batches(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        self.loops.parse_in_batches(block, batch, &mut |batch| {
            keep_ends(batch);
            take(batch)
        })
    }

    fn path(&self) -> &Path {
        self.loops.path()
    }
}

/// Makes vertices of loops.
fn keep_ends(batch: &mut EdgeBatch) {
    std::mem::swap(&mut batch.ids, &mut batch.vertices);
    batch.ids.clear();
    batch.weights = Weights::None;
    std::mem::swap(&mut batch.attributes, &mut batch.vertex_attributes);
    batch.attributes.clear();
    keep_once(&mut batch.vertices);
}

/// Keeps every other id: of each loop one end.
fn keep_once(ids: &mut Ids) {
    match ids {
        Ids::Integer { values, .. } => {
            for i in 0..values.len() / 2 {
                values[i] = values[2 * i];
            }
            values.truncate(values.len() / 2);
        }
        Ids::Text { bytes, ends } => {
            let (all, all_ends) = (std::mem::take(bytes), std::mem::take(ends));
            let mut start = 0;
            for pair in all_ends.chunks_exact(2) {
                bytes.extend_from_slice(&all[start..pair[0] as usize]);
                ends.push(bytes.len() as u32);
                start = pair[1] as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::InputOptions;
    use crate::tables::table::from_batches;
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray};

    fn table(columns: Vec<(&str, ArrayRef)>) -> Box<dyn RecordBatchReader + Send> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let schema = batch.schema();
        Box::new(RecordBatchIterator::new([Ok(batch)], schema))
    }

    fn listed(columns: Vec<(&str, ArrayRef)>) -> Box<dyn Source> {
        let options = InputOptions { of_vertices: true, ..InputOptions::default() };
        from_batches(table(columns), "vertices", &options).unwrap()
    }

    fn integers(values: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    fn strings(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    /// All edges and vertices of a source, and the numbers of its blocks.
    fn read(mut source: Box<dyn Source>, empty: &Ids) -> (Vec<Ids>, Vec<Ids>, Vec<u64>) {
        let parser = source.parser();
        let (mut edges, mut vertices, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(block) = source.next_block().unwrap() {
            let mut batch = EdgeBatch::new(matches!(empty, Ids::Text { .. }));
            parser.parse(&block, &mut batch).unwrap();
            sequences.push(batch.sequence);
            edges.push(batch.ids);
            vertices.push(batch.vertices);
        }
        (edges, vertices, sequences)
    }

    #[test]
    fn a_table_of_vertices_follows_the_edges() {
        let edges = table(vec![("source", integers(&[1, 2])), ("target", integers(&[2, 3]))]);
        let edges = from_batches(edges, "edges", &InputOptions::default()).unwrap();
        let source = with_vertices(edges, listed(vec![("vertex", integers(&[7, -8, 9]))]), "vertices").unwrap();
        let (edges, vertices, sequences) = read(source, &Ids::integers());
        assert_eq!(sequences, [0, 1]);
        assert_eq!(edges[0], Ids::Integer { values: vec![1, 2, 2, 3], negative: false, huge: false });
        assert!(edges[1].is_empty() && vertices[0].is_empty());
        assert_eq!(vertices[1], Ids::Integer { values: vec![7, -8i64 as u64, 9], negative: true, huge: false });
    }

    #[test]
    fn strings_are_kept_once_and_kinds_must_agree() {
        let edges = || {
            let edges = table(vec![("source", strings(&["a"])), ("target", strings(&["bc"]))]);
            from_batches(edges, "edges", &InputOptions::default()).unwrap()
        };
        let source = with_vertices(edges(), listed(vec![("vertex", strings(&["", "lone", "é"]))]), "vertices").unwrap();
        let (_, vertices, _) = read(source, &Ids::strings());
        assert_eq!(vertices[1], Ids::Text { bytes: "loneé".into(), ends: vec![0, 4, 6] });
        let Err(error) = with_vertices(edges(), listed(vec![("vertex", integers(&[1]))]), "vertices") else {
            panic!("integers are no strings");
        };
        assert!(error.to_string().contains("strings, like those of the edges, found integers"), "{error}");
        assert!(with_vertex_range(edges(), 0, 3).is_err());
    }

    #[test]
    fn a_range_widens_what_is_declared() {
        let edges = table(vec![("source", integers(&[1])), ("target", integers(&[2]))]);
        let edges = from_batches(edges, "edges", &InputOptions::default()).unwrap();
        let source = with_vertex_range(with_vertex_range(edges, 5, 2).unwrap(), 0, 3).unwrap();
        assert_eq!((source.facts().declared, source.declared()), (Some((0, 7)), Some((0, 7))));
    }
}
