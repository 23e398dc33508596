//! LDBC Graphalytics: `NAME.v` with one vertex a line, `NAME.e` with `source target [weight]`, maybe `NAME.properties`.
//!
//! Either of the two may be named; its sibling must lie beside it. The vertices come first, then the edges. The properties
//! say whether edges have a direction and what the weights are called; without them the first edge tells
//! whether there are weights. Format: the LDBC Graphalytics specification (Iosup et al., VLDB 2016).

use super::batch::{Block, EdgeBatch, Facts, IdKind, InputOptions, Parser, Source, Weights, bad_record};
use super::blocks::LineBlocks;
use super::columns::FixedColumns;
use super::edge_list::{self, Shape};
use super::input::Input;
use super::number::{Fields, lines, real};
use super::text_source::{begin, integers_only, text_of};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `first_vertex` of a block of vertices; blocks of edges have 0.
const VERTEX_BLOCK: u64 = 1;

/// Opens the graph that `input` belongs to; edges in memory have no siblings.
pub(super) fn open(input: &Input, options: &InputOptions) -> Result<Box<dyn Source>> {
    integers_only(options.ids, "graphalytics")?;
    let files = Files::of(input)?;
    let properties = match &files.properties {
        Some(path) => Properties::read(path)?,
        None => Properties::default(),
    };
    let edge_blocks = LineBlocks::new(files.edges.stream()?);
    let has_weights = match (&properties.weight, &files.properties) {
        (Some(_), _) => true,
        (None, Some(_)) => false,
        (None, None) => first_edge_has_weight(&files.edges)?,
    };
    let columns =
        FixedColumns { format: "graphalytics", source: 0, target: 1, weight: has_weights.then_some((2, "weight")) };
    let options = options_for(options, &properties);
    let edges = edge_list::open_blocks(edge_blocks, &options, Shape::Fixed(columns))?;
    let vertices = match &files.vertices {
        Some(input) => Some(LineBlocks::new(input.stream()?)),
        None => None,
    };
    let vertex_bytes = vertices.as_ref().and_then(|blocks| blocks.size_bytes());
    let mut facts = edges.facts().clone();
    facts.directed = properties.directed;
    facts.input_bytes = facts.input_bytes.map(|bytes| bytes + vertex_bytes.unwrap_or(0));
    if let (Some(name), Some(wanted)) = (properties.weight, facts.weights.as_mut()) {
        *wanted = name;
    }
    let parser = Arc::new(Graphalytics {
        vertex_path: vertices.as_ref().map_or(PathBuf::new(), |blocks| blocks.path().to_owned()),
        edges: edges.parser(),
    });
    Ok(Box::new(GraphalyticsSource {
        vertices,
        edges,
        facts,
        parser,
        vertex_bytes: vertex_bytes.unwrap_or(0),
        sequence: 0,
        vertex_blocks: 0,
    }))
}

/// The options for the edges: the weights may be asked for by the name in the properties.
fn options_for(options: &InputOptions, properties: &Properties) -> InputOptions {
    let mut options = options.clone();
    options.ids = IdKind::Integer;
    if options.weights.is_some() && options.weights == properties.weight {
        options.weights = Some("weight".to_owned());
    }
    options
}

/// The files of a graph.
struct Files {
    vertices: Option<Input>,
    edges: Input,
    properties: Option<PathBuf>,
}

impl Files {
    fn of(input: &Input) -> Result<Self> {
        if input.bytes().is_some() {
            return Ok(Files { vertices: None, edges: input.clone(), properties: None });
        }
        let path = input.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let (stem, sibling_ending) = match (plain.strip_suffix(".v"), plain.strip_suffix(".e")) {
            (Some(stem), _) => (stem, "e"),
            (_, Some(stem)) => (stem, "v"),
            _ => {
                return Err(Error::input(path, None, "a file NAME.v or NAME.e", "another name")
                    .advise("Graphalytics graphs are two files of these names, side by side"));
            }
        };
        let sibling = sibling_of(path, stem, sibling_ending)?;
        let properties = path.with_file_name(format!("{stem}.properties"));
        let (vertices, edges) = match sibling_ending {
            "e" => (input.clone(), sibling),
            _ => (sibling, input.clone()),
        };
        Ok(Files { vertices: Some(vertices), edges, properties: properties.is_file().then_some(properties) })
    }
}

fn sibling_of(path: &Path, stem: &str, ending: &str) -> Result<Input> {
    for compression in ["", ".gz", ".zst"] {
        let sibling = path.with_file_name(format!("{stem}.{ending}{compression}"));
        if sibling.is_file() {
            return Input::file(&sibling);
        }
    }
    Err(Error::input(path, None, format!("a file {stem}.{ending} beside it"), "none")
        .advise("a Graphalytics graph is both; a list of edges alone is read with --format edge-list"))
}

/// What the properties file says.
#[derive(Default)]
struct Properties {
    directed: Option<bool>,
    weight: Option<String>,
}

impl Properties {
    fn read(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        let limit_bytes = 1 << 20;
        Input::file(path)?.stream()?.fill(&mut bytes, limit_bytes)?;
        if bytes.len() >= limit_bytes {
            return Err(Error::input(path, None, "less than a megabyte of properties", "more"));
        }
        let mut properties = Properties::default();
        for (number, line) in (1u64..).zip(lines(&bytes)) {
            let text = String::from_utf8_lossy(line);
            let Some((key, value)) = text.split_once('=').filter(|_| !text.trim_start().starts_with('#')) else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            if !key.starts_with("graph.") {
                continue;
            }
            if key.ends_with(".directed") {
                properties.directed = Some(match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(bad_record(path, number, "`true` or `false`", line)),
                });
            }
            if key.ends_with(".edge-properties.names") && !value.is_empty() {
                let first = value.split(',').next().unwrap_or(value);
                properties.weight = Some(first.trim().to_owned());
            }
        }
        Ok(properties)
    }
}

/// Whether the first edge has a third column that is a number.
fn first_edge_has_weight(edges: &Input) -> Result<bool> {
    let mut stream = edges.stream()?;
    let start = stream.peek(1 << 16)?;
    let line = lines(start).find(|line| super::columns::is_data(line)).unwrap_or_default();
    let mut fields = Fields::new(line);
    fields.token();
    fields.token();
    Ok(fields.token().and_then(real).is_some())
}

struct GraphalyticsSource {
    /// Until all vertices are read.
    vertices: Option<LineBlocks>,
    edges: Box<dyn Source>,
    facts: Facts,
    parser: Arc<Graphalytics>,
    vertex_bytes: u64,
    sequence: u64,
    vertex_blocks: u64,
}

impl Source for GraphalyticsSource {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        if let Some(vertices) = &mut self.vertices {
            if let Some(lines) = vertices.next_lines()? {
                let block = lines.into_block(self.sequence, VERTEX_BLOCK);
                self.sequence += 1;
                self.vertex_blocks += 1;
                return Ok(Some(block));
            }
            self.vertices = None;
        }
        let Some(mut block) = self.edges.next_block()? else {
            return Ok(None);
        };
        block.sequence += self.vertex_blocks;
        block.input_bytes += self.vertex_bytes;
        Ok(Some(block))
    }

    fn parser(&self) -> Arc<dyn Parser> {
        self.parser.clone()
    }
}

/// Parses both kinds of blocks.
struct Graphalytics {
    vertex_path: PathBuf,
    edges: Arc<dyn Parser>,
}

impl Parser for Graphalytics {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        if block.first_vertex != VERTEX_BLOCK {
            return self.edges.parse(block, batch);
        }
        begin(batch, block, false);
        batch.weights = Weights::None;
        let text = text_of(block, &self.vertex_path)?;
        for (number, line) in (block.first_record..).zip(lines(text)) {
            if !super::columns::is_data(line) {
                continue;
            }
            let mut fields = Fields::new(line);
            let vertex = fields.unsigned().filter(|_| fields.is_empty());
            let vertex =
                vertex.ok_or_else(|| bad_record(&self.vertex_path, number, "one vertex, a number from 0", line))?;
            if let super::Ids::Integer { values, huge, .. } = &mut batch.vertices {
                values.push(vertex);
                *huge |= vertex >> 63 != 0;
            }
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        self.edges.path()
    }
}

#[cfg(test)]
mod tests {
    use super::super::open::open;
    use super::super::testing::collect;
    use super::*;

    #[test]
    fn a_graph_is_found_by_either_of_its_files() {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let vertices = write("g.v", "1\n2\n9\n");
        let lonely = open(std::slice::from_ref(&vertices), &InputOptions::default());
        assert!(lonely.err().expect("no edges yet").to_string().contains("g.e"));
        let edges = write("g.e", "1 2 0.5\n2 1 0.25\n");
        for paths in [vec![vertices.clone()], vec![edges.clone()], vec![vertices.clone(), edges.clone()]] {
            let read = collect(open(&paths, &InputOptions::default()).unwrap()).unwrap();
            assert_eq!((read.pairs, read.vertices), (vec![(1, 2), (2, 1)], vec![1, 2, 9]));
            assert_eq!((read.weights, read.facts.directed), (vec![0.5, 0.25], None));
        }
        write(
            "g.properties",
            "graph.g.directed = false\n# graph.g.directed = true\ngraph.g.edge-properties.names = km\n",
        );
        let facts = open(std::slice::from_ref(&edges), &InputOptions::default()).unwrap().facts().clone();
        assert_eq!((facts.directed, facts.weights.as_deref()), (Some(false), Some("km")));
        write("g.v", "1\n2 7\n9\n");
        let error = collect(open(&[edges], &InputOptions::default()).unwrap()).err().expect("two on a line");
        assert!(error.to_string().contains("g.v:2: expected one vertex"), "{error}");
    }
}
