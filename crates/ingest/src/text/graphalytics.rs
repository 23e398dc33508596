//! LDBC Graphalytics: `NAME.v` with one vertex a line, `NAME.e` with `source target [weight]`, maybe `NAME.properties`.
//!
//! Either of the two may be named; its sibling must lie beside it. The properties say whether edges have a direction
//! and what the weights are called; without them the first edge tells whether there are weights. Format: the LDBC
//! Graphalytics specification (Iosup et al., VLDB 2016).

use crate::batch::{IdKind, InputOptions, Source, bad_record};
use crate::input::coding::plain_name;
use crate::input::context::InputContext;
use crate::input::file::Input;
use crate::text::blocks::LineBlocks;
use crate::text::columns::FixedColumns;
use crate::text::edge_list;
use crate::text::number::{Fields, lines, real};
use crate::vertices::with_vertex_file;
use outcore_image::{Error, Result};
use outcore_io::Runtime;
use std::path::{Path, PathBuf};

/// Opens the graph that `input` belongs to; edges in memory have no siblings.
pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let files = Files::of(input)?;
    let properties = match &files.properties {
        Some(file) => GraphalyticsProperties::of(file)?,
        None => GraphalyticsProperties::default(),
    };
    let edge_blocks = LineBlocks::new(files.edges.stream()?);
    let has_weights = match (properties.weight(), &files.properties) {
        (Some(_), _) => true,
        (None, Some(_)) => false,
        (None, None) => first_edge_has_weight(&files.edges)?,
    };
    let columns = FixedColumns {
        format: "graphalytics",
        count: 0,
        source: 0,
        target: 1,
        weight: has_weights.then_some((2, "weight")),
        has_edge_ids: false,
    };
    let options = options_for(options, properties.weight());
    let mut edges = edge_list::open_blocks(edge_blocks, &options, Some(columns))?;
    edges.facts.directed = properties.value("directed", "`true` or `false`")?;
    if let (Some(name), Some(wanted)) = (properties.weight(), edges.facts.weights.as_mut()) {
        *wanted = name.to_owned();
    }
    match &files.vertices {
        Some(vertices) => with_vertex_file(edges, vertices, false),
        None => Ok(edges),
    }
}

/// The options for the edges: the weights may be asked for by the name in the properties.
fn options_for(options: &InputOptions, weight: Option<&str>) -> InputOptions {
    let mut options = options.clone();
    options.ids = IdKind::Integer;
    if options.weight.is_some() && options.weight.as_deref() == weight {
        options.weight = Some("weight".to_owned());
    }
    options
}

struct Files {
    vertices: Option<Input>,
    edges: Input,
    properties: Option<Input>,
}

impl Files {
    fn of(input: &Input) -> Result<Self> {
        if input.bytes().is_some() {
            return Ok(Files { vertices: None, edges: input.clone(), properties: None });
        }
        let path = input.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plain = plain_name(&name);
        let (stem, sibling_ending) = match (plain.strip_suffix(".v"), plain.strip_suffix(".e")) {
            (Some(stem), _) => (stem, "e"),
            (_, Some(stem)) => (stem, "v"),
            _ => {
                return Err(Error::input(path, None, "a file NAME.v or NAME.e", plain)
                    .advise("Graphalytics graphs are two files of these names, side by side"));
            }
        };
        let sibling_name = format!("{stem}.{sibling_ending}");
        let sibling = input.sibling(sibling_name.as_ref())?.ok_or_else(|| {
            Error::input(path, None, format!("a file {sibling_name} beside it"), format!("only {name}"))
                .advise("a Graphalytics graph is both; a list of edges alone is read with --format edge-list")
        })?;
        let properties = input.sibling(format!("{stem}.properties").as_ref())?;
        let (vertices, edges) = match sibling_ending {
            "e" => (input.clone(), sibling),
            _ => (sibling, input.clone()),
        };
        Ok(Files { vertices: Some(vertices), edges, properties })
    }
}

/// Content of the file `NAME.properties`: facts of a graph, and the parameters of the benchmark.
#[derive(Debug, Default)]
pub struct GraphalyticsProperties {
    path: PathBuf,
    /// Names, values, and the lines that they stand on.
    entries: Vec<(String, String, u64)>,
}

impl GraphalyticsProperties {
    /// Reads a file of properties, of less than a megabyte.
    ///
    /// # Errors
    /// A file that cannot be read or is longer.
    pub fn read(runtime: &Runtime, path: &Path) -> Result<Self> {
        Self::of(&Input::file(path, &InputContext::of(runtime))?)
    }

    fn of(file: &Input) -> Result<Self> {
        let path = file.path();
        let mut bytes = Vec::new();
        let limit_bytes = 1 << 20;
        file.stream()?.fill(&mut bytes, limit_bytes)?;
        if bytes.len() >= limit_bytes {
            return Err(Error::input(
                path,
                None,
                "less than 1 MiB of properties",
                format!("{} bytes or more", bytes.len()),
            ));
        }
        let mut entries = Vec::new();
        for (number, line) in (1u64..).zip(lines(&bytes)) {
            let text = String::from_utf8_lossy(line);
            if let Some((name, value)) =
                text.split_once('=').filter(|(name, _)| name.trim_start().starts_with("graph."))
            {
                entries.push((name.trim().to_owned(), value.trim().to_owned(), number));
            }
        }
        Ok(GraphalyticsProperties { path: path.to_owned(), entries })
    }

    /// The value of the property `graph.NAME.` and then `name`, if it is there and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.entry(name).map(|(_, value, _)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Parses a property as a number or a truth value.
    ///
    /// # Errors
    /// An invalid value; `expected` describes a valid one.
    pub fn value<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>> {
        let Some((_, value, line)) = self.entry(name) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| bad_record(&self.path, *line, expected, value.as_bytes()))
    }

    /// Name of the weights, if there are any.
    pub fn weight(&self) -> Option<&str> {
        self.text("edge-properties.names").and_then(|names| names.split(',').next()).map(str::trim)
    }

    fn entry(&self, name: &str) -> Option<&(String, String, u64)> {
        let named = |full: &str| full.strip_suffix(name).is_some_and(|graph| graph.ends_with('.'));
        self.entries.iter().rev().find(|(full, ..)| named(full))
    }
}

/// Whether the first edge has a third column that is a number.
fn first_edge_has_weight(edges: &Input) -> Result<bool> {
    let mut stream = edges.stream()?;
    let start = stream.peek(1 << 16)?;
    let line = lines(start).find(|line| crate::text::columns::is_data(line)).unwrap_or_default();
    let mut fields = Fields::new(line);
    fields.token();
    fields.token();
    Ok(fields.token().and_then(real).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open;
    use crate::testing::collect;

    #[test]
    fn a_graph_is_found_by_either_of_its_files() {
        let runtime = outcore_io::Runtime::new(outcore_io::RuntimeOptions::default()).unwrap();
        let directory = tempfile::tempdir().expect("a scratch directory");
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let vertices = write("g.v", "1\n2\n9\n");
        let lonely = open(&runtime, std::slice::from_ref(&vertices), &InputOptions::default());
        assert!(lonely.expect_err("no edges yet").to_string().contains("g.e"));
        let edges = write("g.e", "1 2 0.5\n2 1 0.25\n");
        for paths in [vec![vertices.clone()], vec![edges.clone()], vec![vertices.clone(), edges.clone()]] {
            let read = collect(open(&runtime, &paths, &InputOptions::default()).unwrap()).unwrap();
            assert_eq!((read.pairs, read.vertices), (vec![(1, 2), (2, 1)], vec![1, 2, 9]));
            assert_eq!((read.weights, read.facts.directed), (vec![0.5, 0.25], None));
        }
        write(
            "g.properties",
            "graph.g.directed = false\n# graph.g.directed = true\ngraph.g.edge-properties.names = km\n",
        );
        let facts = open(&runtime, std::slice::from_ref(&edges), &InputOptions::default()).unwrap().facts().clone();
        assert_eq!((facts.directed, facts.weights.as_deref()), (Some(false), Some("km")));
        let properties = write("g.properties", "graph.g.bfs.source-vertex = 9\n\ngraph.g.cdlp.max-iterations = x\n");
        let properties = GraphalyticsProperties::read(&runtime, &properties).unwrap();
        assert_eq!((properties.text("bfs.source-vertex"), properties.text("source-vertex")), (Some("9"), Some("9")));
        assert_eq!((properties.text("vertex"), properties.weight()), (None, None));
        let error = properties.value::<u32>("cdlp.max-iterations", "a number").unwrap_err().to_string();
        assert!(error.contains("g.properties:3: expected a number, found `x`"), "{error}");
        write("g.v", "1\n2 7\n9\n");
        let error = collect(open(&runtime, &[edges], &InputOptions::default()).unwrap()).err().expect("two on a line");
        assert!(error.to_string().contains("g.v:2: expected one vertex"), "{error}");
    }
}
