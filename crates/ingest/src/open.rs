//! Finds out what an input is and opens it.
//!
//! The format is what `--format` says; else what the first bytes say, where they are unmistakable; else what the name
//! ends in; else an edge list. What the first bytes say and `--format` must not contradict each other, and what is
//! known but not read is refused by its name (`recognise.rs`).

use crate::altered::{Altered, Declared};
use crate::batch::{EdgeBatch, IdKind, InputOptions, Source};
use crate::bipartite::with_sides;
use crate::chain;
use crate::conditions::with_conditions;
use crate::documents::{dot, gexf, gml, graphml, json_lines, pajek};
use crate::input::context::InputContext;
use crate::input::file::Input;
use crate::input::folders::expand;
use crate::input::partitions::Partitions;
use crate::matrices::binary::{self, Record};
use crate::matrices::matrix_market;
use crate::recognise::{self, Kind, LOOKED_AT_BYTES};
use crate::tables::{arrow_stream, parquet};
use crate::text::edge_list::{self, Shape};
use crate::text::{adjacency, ascii_graph, dimacs, graphalytics, metis, sif, tntp, vertex_lines};
use crate::vertices::with_vertex_file;
use outcore_image::{Error, Result};
use outcore_io::{Budget, Runtime};
use std::path::PathBuf;
use std::sync::Arc;

/// Memory limit for reading an input that is given as bytes in memory.
const MOST_MEMORY_BYTES: u64 = 1 << 30;

/// A format that can be read.
pub(crate) struct Format {
    /// As `--format` has it.
    pub(crate) name: &'static str,
    /// Endings of its files, without those of compression.
    endings: &'static [&'static str],
    /// It lists edges and says nothing else: several files may be read as one graph, and one beside may name more
    /// vertices.
    lists: bool,
    open: fn(&Input, &InputOptions) -> Result<Box<dyn Source>>,
}

impl Format {
    /// Refuses options that this format does not read.
    fn check_options(&self, input: &Input, options: &InputOptions) -> Result<()> {
        let taken: &[&str] = match self.name {
            "edge-list" => &["delimiter", "header", "comment", "source", "target", "nulls", "attributes", "bipartite"],
            "adjacency" | "el" | "wel" | "cedge" => &["delimiter", "comment", "bipartite"],
            "parquet" | "arrow" => &["source", "target", "nulls", "attributes", "bipartite"],
            "jsonl" => &["source", "target", "nulls", "attributes", "bipartite"],
            "graphml" | "gexf" | "sif" => &["attributes"],
            _ if self.lists => &["bipartite"],
            _ => &[],
        };
        options.check_taken(taken, input.path(), &format!("of format {}", self.name))
    }
}

/// The names of all formats and what they are, for `--help` and for errors.
const NAMES: [(&str, &str); 24] = [
    ("edge-list", "text, an edge a line, columns between blanks, tabs, commas, semicolons or bars"),
    ("adjacency", "text, a vertex and its neighbours a line, `u v1 v2` or `u<TAB>v1,v2`"),
    ("tntp", "TNTP road networks"),
    ("el", "GAP's text edges, `source target`"),
    ("wel", "GAP's weighted text edges, `source target weight`"),
    ("cedge", "road networks, `edge_id u v length`"),
    ("dimacs", "DIMACS, `a u v w` or `e u v`"),
    ("matrix-market", "Matrix Market, patterns and matrices of integers or reals; as a graph they are square"),
    ("metis", "METIS, a line of neighbours per vertex, from 1"),
    ("ascii-graph", "WebGraph's ASCIIGraph, a line of successors per vertex, from 0"),
    ("graphalytics", "LDBC Graphalytics, NAME.v and NAME.e side by side"),
    ("graph500", "binary records of two little-endian i64"),
    ("graph500-packed", "binary records of 12 bytes with two 48-bit vertices"),
    ("binary64", "the same as graph500"),
    ("binary32", "binary records of two little-endian u32"),
    ("parquet", "Parquet, columns source, target and maybe weight"),
    ("arrow", "Arrow file or stream, columns as for parquet"),
    ("jsonl", "JSON lines, an object a line, `{\"source\": 1, \"target\": 2, \"weight\": 3.5}`"),
    ("graphml", "GraphML, the weights of the key `weight`"),
    ("gexf", "GEXF, Gephi's form"),
    ("gml", "GML, `graph [ node [ id 1 ] edge [ source 1 target 1 ] ]`"),
    ("pajek", "Pajek networks, sections such as `*Vertices` and `*Arcs`"),
    ("dot", "DOT, Graphviz's `graph { a -- b }` and `digraph { a -> b }`"),
    ("sif", "SIF, a vertex, an interaction and other vertices a line"),
];

static FORMATS: [Format; 24] = [
    Format {
        name: "edge-list",
        endings: &[".txt", ".edges", ".edgelist", ".tsv", ".csv"],
        lists: true,
        open: |input, options| edge_list::open(input.stream()?, options, Shape::Free),
    },
    Format {
        name: "adjacency",
        endings: &[".adj", ".adjlist"],
        lists: true,
        open: |input, options| adjacency::open(input.stream()?, options),
    },
    Format {
        name: "tntp",
        endings: &[".tntp"],
        lists: false,
        open: |input, options| tntp::open(input.stream()?, options),
    },
    Format {
        name: "el",
        endings: &[".el"],
        lists: true,
        open: |input, options| edge_list::open(input.stream()?, options, Shape::Fixed(edge_list::EL)),
    },
    Format {
        name: "wel",
        endings: &[".wel"],
        lists: true,
        open: |input, options| edge_list::open(input.stream()?, options, Shape::Fixed(edge_list::WEL)),
    },
    Format {
        name: "cedge",
        endings: &[".cedge"],
        lists: true,
        open: |input, options| edge_list::open(input.stream()?, options, Shape::Fixed(edge_list::CEDGE)),
    },
    Format {
        name: "dimacs",
        endings: &[".gr", ".col", ".dimacs"],
        lists: true,
        open: |input, options| dimacs::open(input.stream()?, options),
    },
    Format {
        name: "matrix-market",
        endings: &[".mtx"],
        lists: false,
        open: |input, options| matrix_market::open(input.stream()?, options),
    },
    Format {
        name: "metis",
        endings: &[".graph", ".metis"],
        lists: false,
        open: |input, options| metis::open(input.stream()?, options),
    },
    Format {
        name: "ascii-graph",
        endings: &[".graph-txt"],
        lists: false,
        open: |input, options| ascii_graph::open(input.stream()?, options),
    },
    Format { name: "graphalytics", endings: &[".v", ".e"], lists: false, open: graphalytics::open },
    Format {
        name: "graph500",
        endings: &[".graph500", ".tuples"],
        lists: true,
        open: |input, options| binary::open(input.stream()?, options, "graph500", Record::Signed64),
    },
    Format {
        name: "graph500-packed",
        endings: &[".packed"],
        lists: true,
        open: |input, options| binary::open(input.stream()?, options, "graph500-packed", Record::Packed48),
    },
    Format {
        name: "binary64",
        endings: &[],
        lists: true,
        open: |input, options| binary::open(input.stream()?, options, "binary64", Record::Signed64),
    },
    Format {
        name: "binary32",
        endings: &[],
        lists: true,
        open: |input, options| binary::open(input.stream()?, options, "binary32", Record::Unsigned32),
    },
    Format { name: "parquet", endings: &[".parquet", ".pq"], lists: true, open: parquet::open },
    Format {
        name: "arrow",
        endings: &[".arrow", ".feather", ".ipc", ".arrows"],
        lists: true,
        open: arrow_stream::open,
    },
    Format {
        name: "jsonl",
        endings: &[".jsonl", ".ndjson"],
        lists: true,
        open: |input, options| json_lines::open(input.stream()?, options),
    },
    Format { name: "graphml", endings: &[".graphml"], lists: false, open: graphml::open },
    Format { name: "gexf", endings: &[".gexf"], lists: false, open: gexf::open },
    Format { name: "gml", endings: &[".gml"], lists: false, open: gml::open },
    Format { name: "pajek", endings: &[".net", ".paj"], lists: false, open: pajek::open },
    Format { name: "dot", endings: &[".dot", ".gv"], lists: false, open: dot::open },
    Format { name: "sif", endings: &[".sif"], lists: false, open: sif::open },
];

/// The formats that can be read, by the name that `--format` takes, and what each is.
pub fn formats() -> &'static [(&'static str, &'static str)] {
    &NAMES
}

/// Opens inputs of one format, which together are one graph in the order given. A folder or a pattern of names stands
/// for its files in sorted order.
///
/// Reads the first megabyte of each to find out what it is; nothing of the rest. What reading takes beside blocks of
/// text, now and later, is counted in the runtime's budget.
pub fn open(runtime: &Runtime, paths: &[PathBuf], options: &InputOptions) -> Result<Box<dyn Source>> {
    let mut files = expand(runtime.backend(), paths)?;
    let (partitions, beside) = Partitions::of(&files, options)?;
    let (count, first) = (files.len(), files.first().cloned());
    files.retain(|file| partitions.is_read(file, options));
    let unread = count - files.len();
    if files.is_empty() {
        // It tells what there is, though none of its rows is read.
        files.extend(first);
    }
    let source = with_conditions(open_all(runtime, &files, &beside, &partitions)?, options, &partitions.names)?;
    let source = with_sides(source, options)?;
    if unread == 0 {
        return Ok(source);
    }
    let (mut facts, parser) = (source.facts().clone(), source.parser());
    facts.notes.push(format!("Files in folders that do not meet --where, which were left out: {unread} of {count}."));
    Ok(Box::new(Altered::new(source, facts, parser, Declared::AsBefore)))
}

fn open_all(
    runtime: &Runtime,
    paths: &[PathBuf],
    options: &InputOptions,
    partitions: &Partitions,
) -> Result<Box<dyn Source>> {
    let Some(first) = paths.first() else {
        return Err(Error::Usage("expected at least one input file, found none".to_owned()));
    };
    let context = InputContext::of(runtime);
    let first = Input::file(first, &context)?;
    if paths.len() == 1 {
        // A pipe can be read only once, so what is peeked at stays with the source.
        let format = format_of(&first, options)?;
        return Ok(partitions.add_to(open_one(&first, format, options)?, first.path()));
    }
    let mut inputs = Vec::with_capacity(paths.len());
    let mut formats = Vec::with_capacity(paths.len());
    for path in paths {
        let input = Input::file(path, &context)?;
        formats.push(format_of(&input, options)?);
        inputs.push(input);
    }
    let format = formats[0];
    if let Some(place) = formats.iter().position(|other| other.name != format.name) {
        return Err(Error::input(
            inputs[place].path(),
            None,
            format!("the format of {}, {}", inputs[0].path().display(), format.name),
            formats[place].name,
        )
        .advise("give inputs of one format, or name it with --format"));
    }
    if format.name == "graphalytics" && inputs.len() == 2 && is_same_graph(&inputs[0], &inputs[1]) {
        return open_one(&inputs[0], format, options);
    }
    if !format.lists {
        return Err(Error::Usage(format!(
            "expected one input of format {}, found {}: each holds a whole graph",
            format.name,
            inputs.len()
        )));
    }
    chain::open(inputs, format, options, partitions)
}

/// Opens one input of a known format, together with the file beside it that names more vertices, as exports make one.
pub(crate) fn open_one(input: &Input, format: &Format, options: &InputOptions) -> Result<Box<dyn Source>> {
    format.check_options(input, options)?;
    if options.of_vertices && !matches!(format.name, "edge-list" | "parquet" | "arrow") {
        let expected = "a table of vertices in CSV or other text in columns, Parquet or Arrow";
        return Err(Error::input(input.path(), None, expected, format.name));
    }
    let mut name = input.path().file_name().unwrap_or_default().to_owned();
    name.push(".vertices");
    let beside = if format.lists { input.sibling(&name)? } else { None };
    let Some(beside) = beside else { return (format.open)(input, options) };
    let own = vertex_lines::own_comment(&beside)?;
    let is_guessed = options.ids == IdKind::Auto;
    let strings = InputOptions { ids: IdKind::String, ..options.clone() };
    let says_strings = is_guessed && own.as_ref().is_some_and(|own| own.string_ids);
    let mut source = (format.open)(input, if says_strings { &strings } else { options })?;
    // Without rows the edges do not tell what ids are like.
    let is_open = source.facts().text.as_ref().is_some_and(|text| !text.has_rows) && !source.facts().string_ids;
    if is_guessed && is_open && vertex_lines::has_strings(&beside)? {
        source = (format.open)(input, &strings)?;
    }
    let mut facts = source.facts().clone();
    if let (None, Some(own)) = (facts.directed, own) {
        facts.directed = Some(own.directed);
        facts.directed_by = Some(format!("the first line of {}, which Outcore wrote,", beside.path().display()));
    }
    facts.notes.push(format!("{} beside it is read too: it names more vertices.", beside.path().display()));
    with_vertex_file(source, facts, &beside, is_guessed)
}

/// Opens bytes in memory as a format.
pub(crate) fn open_memory(format: &str, bytes: &[u8], options: &InputOptions) -> Result<Box<dyn Source>> {
    let format = named(format)?;
    let budget = Arc::new(Budget::new(MOST_MEMORY_BYTES, 0)?);
    let input = Input::memory(format.name, bytes, &InputContext::new(&budget, 1)).with_member()?;
    check_kind(&input, &input.start(LOOKED_AT_BYTES)?, format)?;
    with_sides(with_conditions(open_one(&input, format, options)?, options, &[])?, options)
}

/// Reads bytes in memory as a format and counts the edges; for the fuzzers.
#[doc(hidden)]
pub fn parse_bytes(format: &str, bytes: &[u8], options: &InputOptions) -> Result<u64> {
    let mut source = open_memory(format, bytes, options)?;
    let parser = source.parser();
    let mut batch = EdgeBatch::new(false);
    let mut edges = 0;
    while let Some(block) = source.next_block()? {
        for part in block.parts() {
            parser.parse(&part?, &mut batch)?;
            edges += batch.ids.len() as u64 / 2;
        }
    }
    Ok(edges)
}

fn named(name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        Error::Usage(format!("--format {name}: there is no such format; there are {}", names.join(", ")))
    })
}

/// Decides the format of an input.
fn format_of(input: &Input, options: &InputOptions) -> Result<&'static Format> {
    let asked = options.format.as_deref().map(named).transpose()?;
    let name = input.plain_name();
    let by_name = || FORMATS.iter().find(|format| format.endings.iter().any(|ending| name.ends_with(ending)));
    if asked.is_none()
        && let Some(Kind::Foreign(what, advice)) = recognise::by_name(&name)
    {
        return Err(foreign(input, "a format that is read", what, advice));
    }
    let start = input.start(LOOKED_AT_BYTES)?;
    let format = match asked.or_else(by_name) {
        Some(format) => format,
        None => named("edge-list")?,
    };
    let kind = recognise::by_magic(&start).or_else(|| recognise::by_text(&start));
    match (asked, kind) {
        (None, Some(Kind::Read(found))) => named(found),
        _ => check_kind(input, &start, format).map(|()| format),
    }
}

/// Refuses an input whose first bytes are of another format.
fn check_kind(input: &Input, start: &[u8], format: &Format) -> Result<()> {
    let expected = format!("an input of format {}", format.name);
    let is_binary = format.name.starts_with("graph500") || format.name.starts_with("binary");
    let is_table = matches!(format.name, "parquet" | "arrow");
    match recognise::by_magic(start) {
        Some(Kind::Read(found)) if found != format.name && !(is_binary && start.starts_with(&[0xff])) => {
            return Err(foreign(input, &expected, found, "leave --format out, or name the right one"));
        }
        Some(Kind::Foreign(what, advice)) if !is_binary => return Err(foreign(input, &expected, what, advice)),
        _ => {}
    }
    if is_binary && !start.is_empty() && recognise::is_text(start) {
        return Err(foreign(input, &expected, "text", "name the right format with --format"));
    }
    if is_binary || is_table {
        return Ok(());
    }
    match recognise::by_text(start) {
        Some(Kind::Read(found)) if found != format.name => {
            Err(foreign(input, &expected, found, "leave --format out, or name the right one"))
        }
        Some(Kind::Foreign(what, advice)) => Err(foreign(input, &expected, what, advice)),
        None if start.contains(&0) => {
            let is_wide = |first: usize| start.iter().skip(first).step_by(2).take(16).all(|&b| b == 0);
            match start.len() >= 4 && (is_wide(0) || is_wide(1)) {
                true => Err(foreign(input, &expected, "text in UTF-16", "convert the file to UTF-8")),
                false => Err(foreign(input, &expected, "binary data", "name the right format with --format")),
            }
        }
        _ => Ok(()),
    }
}

fn foreign(input: &Input, expected: &str, found: &str, advice: &str) -> Error {
    Error::input(input.path(), None, expected, found).advise(advice)
}

/// Whether two names differ in `.v` and `.e` only.
fn is_same_graph(a: &Input, b: &Input) -> bool {
    let stem = |input: &Input| {
        let name = input.plain_name();
        input.path().with_file_name(&name[..name.len().saturating_sub(2)])
    };
    let is_pair = a.plain_name() != b.plain_name();
    is_pair && stem(a) == stem(b)
}
