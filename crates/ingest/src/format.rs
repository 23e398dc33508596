//! The formats: their names, what the options for inputs mean to each, and how one is recognized and opened.
//!
//! [`FORMATS`] is the only list of them. An input has the format that `--format` names; else the one that its first
//! bytes say, where they are unmistakable; else the one of its name's ending; else it is an edge list. What the first
//! bytes say and `--format` must not contradict each other. A format that is known but not read is refused by its name
//! (`recognise.rs`).

use crate::batch::{IdKind, InputOptions, Source};
use crate::documents::{dot, gexf, gml, graphml, json_lines, pajek};
use crate::input::file::Input;
use crate::matrices::binary::{self, Record};
use crate::matrices::{gap_serialized, matrix_market};
use crate::recognise::{self, Kind, LOOKED_AT_BYTES};
use crate::tables::arrow_stream;
#[cfg(feature = "parquet")]
use crate::tables::parquet;
use crate::text::{adjacency, ascii_graph, dimacs, edge_list, graphalytics, metis, sif, tntp, vertex_lines};
use crate::vertices::with_vertex_file;
use outcore_image::{Error, Result};

pub(crate) struct Format {
    /// As `--format` has it.
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// Endings of its files, without those of compression.
    endings: &'static [&'static str],
    /// Names of the options for columns that it reads.
    options: &'static [&'static str],
    content: Content,
    /// It lists edges and says nothing else: several files may be read as one graph, and one beside may name more
    /// vertices.
    pub(crate) lists: bool,
    /// Ids are integers, whatever `--ids` says.
    has_integers_only: bool,
    /// A graph is two files, either of which opens it.
    pub(crate) is_pair: bool,
    open: fn(&Input, &InputOptions) -> Result<Source>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Text in columns, which can also be a table of vertices.
    Columns,
    Text,
    /// Text that one thread reads from the beginning to the end.
    Sequence,
    /// A document of a whole graph, which does not say whether parallel edges are meant (DOT says so, by `strict`).
    Document,
    /// A table with types, which can also be one of vertices.
    Table,
    /// Binary numbers that no magic number precedes.
    Records,
}

/// The places at which a file can be cut into pieces that mean the same alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Ends of lines.
    Lines,
    /// Ends of binary records.
    Records,
    /// None but those of the blocks that its reader makes.
    Blocks,
}

/// Text that lists edges.
const LIST: Format = Format {
    name: "",
    summary: "",
    endings: &[],
    options: &["bipartite"],
    content: Content::Text,
    lists: true,
    is_pair: false,
    has_integers_only: false,
    open: |_, _| unreachable!("every format has its own"),
};
const NUMBERED_LIST: Format = Format { has_integers_only: true, ..LIST };
const LINES: Format = Format { options: &["delimiter", "comment", "bipartite"], ..LIST };
const NAMED: Format = Format { options: &["source", "target", "nulls", "attributes", "bipartite"], ..LIST };
const COLUMNS: Format = Format {
    options: &["delimiter", "header", "comment", "source", "target", "nulls", "attributes", "bipartite"],
    content: Content::Columns,
    ..LIST
};
const TABLE: Format = Format { content: Content::Table, ..NAMED };
const RECORDS: Format = Format { content: Content::Records, ..NUMBERED_LIST };
/// Text that holds a whole graph.
const GRAPH: Format = Format { options: &[], lists: false, ..LIST };
const NUMBERED: Format = Format { has_integers_only: true, ..GRAPH };
const SERIALIZED: Format = Format { content: Content::Records, ..NUMBERED };
const SEQUENCE: Format = Format { content: Content::Sequence, ..GRAPH };
const DOCUMENT: Format = Format { content: Content::Document, ..GRAPH };
const XML: Format = Format { options: &["attributes"], ..DOCUMENT };

const fn format(
    name: &'static str,
    summary: &'static str,
    endings: &'static [&'static str],
    kind: Format,
    open: fn(&Input, &InputOptions) -> Result<Source>,
) -> Format {
    Format { name, summary, endings, open, ..kind }
}

/// All formats. The first one is taken where neither the name nor the content of an input says another.
static FORMATS: &[Format] = &[
    format(
        "edge-list",
        "text, an edge a line, columns between blanks, tabs, commas, semicolons or bars",
        &[".txt", ".edges", ".edgelist", ".tsv", ".csv"],
        COLUMNS,
        |input, options| edge_list::open(input, options, None),
    ),
    format(
        "adjacency",
        "text, a vertex and its neighbours a line, `u v1 v2` or `u<TAB>v1,v2`",
        &[".adj", ".adjlist"],
        LINES,
        adjacency::open,
    ),
    format("tntp", "TNTP road networks", &[".tntp"], NUMBERED, tntp::open),
    format("el", "GAP's text edges, `source target`", &[".el"], LINES, |input, options| {
        edge_list::open(input, options, Some(edge_list::EL))
    }),
    format("wel", "GAP's weighted text edges, `source target weight`", &[".wel"], LINES, |input, options| {
        edge_list::open(input, options, Some(edge_list::WEL))
    }),
    format("cedge", "road networks, `edge_id u v length`", &[".cedge"], LINES, |input, options| {
        edge_list::open(input, options, Some(edge_list::CEDGE))
    }),
    format("dimacs", "DIMACS, `a u v w` or `e u v`", &[".gr", ".col", ".dimacs"], NUMBERED_LIST, dimacs::open),
    format(
        "matrix-market",
        "Matrix Market, patterns and matrices of integers or reals; as a graph they are square",
        &[".mtx"],
        NUMBERED,
        matrix_market::open,
    ),
    format("metis", "METIS, a line of neighbours per vertex, from 1", &[".graph", ".metis"], NUMBERED, metis::open),
    format(
        "ascii-graph",
        "WebGraph's ASCIIGraph, a line of successors per vertex, from 0",
        &[".graph-txt"],
        NUMBERED,
        ascii_graph::open,
    ),
    format(
        "graphalytics",
        "LDBC Graphalytics, NAME.v and NAME.e side by side",
        &[".v", ".e"],
        Format { is_pair: true, ..NUMBERED },
        graphalytics::open,
    ),
    format(
        "graph500",
        "binary records of two little-endian i64",
        &[".graph500", ".tuples", ".bin16"],
        RECORDS,
        |input, options| binary::open(input, options, "graph500", Record::Signed64),
    ),
    format(
        "graph500-packed",
        "binary records of 12 bytes with two 48-bit vertices",
        &[".packed"],
        RECORDS,
        |input, options| binary::open(input, options, "graph500-packed", Record::Packed48),
    ),
    format("binary64", "the same as graph500", &[], RECORDS, |input, options| {
        binary::open(input, options, "binary64", Record::Signed64)
    }),
    format("binary32", "binary records of two little-endian u32", &[], RECORDS, |input, options| {
        binary::open(input, options, "binary32", Record::Unsigned32)
    }),
    format("sg", "GAP's serialized graphs", &[".sg"], SERIALIZED, |input, options| {
        gap_serialized::open(input, options, "sg", false)
    }),
    format("wsg", "GAP's serialized graphs with weights", &[".wsg"], SERIALIZED, |input, options| {
        gap_serialized::open(input, options, "wsg", true)
    }),
    #[cfg(feature = "parquet")]
    format("parquet", "Parquet, columns source, target and maybe weight", &[".parquet", ".pq"], TABLE, parquet::open),
    format(
        "arrow",
        "Arrow file or stream, columns as for parquet",
        &[".arrow", ".feather", ".ipc", ".arrows"],
        TABLE,
        arrow_stream::open,
    ),
    format(
        "jsonl",
        "JSON lines, an object a line, `{\"source\": 1, \"target\": 2, \"weight\": 3.5}`",
        &[".jsonl", ".ndjson"],
        NAMED,
        json_lines::open,
    ),
    format("graphml", "GraphML, the weights of the key `weight`", &[".graphml"], XML, graphml::open),
    format("gexf", "GEXF, Gephi's form", &[".gexf"], XML, gexf::open),
    format("gml", "GML, `graph [ node [ id 1 ] edge [ source 1 target 1 ] ]`", &[".gml"], DOCUMENT, gml::open),
    format(
        "pajek",
        "Pajek networks, sections such as `*Vertices` and `*Arcs`",
        &[".net", ".paj"],
        DOCUMENT,
        pajek::open,
    ),
    format("dot", "DOT, Graphviz's `graph { a -- b }` and `digraph { a -> b }`", &[".dot", ".gv"], SEQUENCE, dot::open),
    format(
        "sif",
        "SIF, a vertex, an interaction and other vertices a line",
        &[".sif"],
        Format { options: XML.options, ..SEQUENCE },
        sif::open,
    ),
];

/// The formats that can be read: the name that `--format` takes, and a description of each.
pub fn formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().map(|format| (format.name, format.summary)).collect()
}

/// Whether the format of this name holds a whole graph as a document (GraphML, GEXF, GML, Pajek) that does not say
/// whether parallel edges are meant.
pub fn is_document(name: &str) -> bool {
    has_content(name, Content::Document)
}

/// Whether files of the format of this name are tables with types: Parquet or Arrow.
pub(crate) fn is_table(name: &str) -> bool {
    has_content(name, Content::Table)
}

fn has_content(name: &str, content: Content) -> bool {
    FORMATS.iter().any(|format| format.name == name && format.content == content)
}

impl Format {
    /// The format of this name.
    ///
    /// # Errors
    /// [`Error::Usage`] with all names, if there is none.
    pub(crate) fn named(name: &str) -> Result<&'static Self> {
        FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
            Error::Usage(format!("--format {name}: there is no such format; there are {}", names.join(", ")))
        })
    }

    /// The format whose files have names, in lower case and without endings of compression, that end so.
    pub(crate) fn by_ending(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.endings.iter().any(|ending| name.ends_with(ending)))
    }

    /// The format of an input.
    ///
    /// # Errors
    /// An input of a format that is not read, or of another one than `--format` says.
    pub(crate) fn of(input: &Input, options: &InputOptions) -> Result<&'static Self> {
        let named = options.format.as_deref().map(Format::named).transpose()?;
        let name = input.plain_name();
        if named.is_none()
            && let Some(Kind::Foreign(what, advice)) = recognise::by_name(&name)
        {
            return Err(foreign(input, "a format that is read", what, advice));
        }
        let start = input.start(LOOKED_AT_BYTES)?;
        let format = named.or_else(|| Format::by_ending(&name)).unwrap_or(&FORMATS[0]);
        match (named, recognise::by_start(&start)) {
            (None, Some(Kind::Read(recognized))) => Format::named(recognized),
            _ => match format.check(input, &start) {
                Err(error) if options.of_vertices && recognise::by_magic(&start).is_none() && start.contains(&0) => {
                    Err(error.advise("a table of vertices is text in columns, Parquet or Arrow"))
                }
                checked => checked.map(|()| format),
            },
        }
    }

    /// Refuses an input whose first bytes are of another format.
    pub(crate) fn check(&self, input: &Input, start: &[u8]) -> Result<()> {
        let expected = format!("an input of format {}", self.name);
        let is_binary = self.content == Content::Records;
        let is_table = self.content == Content::Table;
        match recognise::by_magic(start) {
            // A stream of Arrow begins with bytes 0xff, and so may the records of a vertex with such a number.
            Some(Kind::Read(found)) if found != self.name && !(is_binary && start.starts_with(&[0xff])) => {
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
            Some(Kind::Read(found)) if found != self.name => {
                Err(foreign(input, &expected, found, "leave --format out, or name the right one"))
            }
            Some(Kind::Foreign(what, advice)) => Err(foreign(input, &expected, what, advice)),
            None if recognise::is_wide_text(start) => {
                Err(foreign(input, &expected, "text in UTF-16", "convert the file to UTF-8"))
            }
            None if start.contains(&0) => {
                let records = FORMATS.iter().filter(|format| format.content == Content::Records);
                let names: Vec<_> = records.map(|format| format.name).collect();
                let advice = format!("say which binary format it is: --format {}", names.join(", or "));
                Err(foreign(input, &expected, "binary data", &advice))
            }
            _ => Ok(()),
        }
    }

    /// The places at which a file can be cut.
    pub(crate) fn cut(&self) -> Cut {
        match self.content {
            Content::Columns | Content::Text => Cut::Lines,
            Content::Records if self.lists => Cut::Records,
            _ => Cut::Blocks,
        }
    }

    /// Whether it is text with an edge a line, of which a part is as good a file.
    pub(crate) fn is_list_in_text(&self) -> bool {
        self.lists && matches!(self.content, Content::Columns | Content::Text)
    }

    /// Opens an input, together with the file beside it that names more vertices, as exports make one.
    ///
    /// # Errors
    /// Options that the format does not read; what the format refuses.
    pub(crate) fn open(&self, input: &Input, options: &InputOptions) -> Result<Source> {
        let path = input.path().display().to_string();
        self.open_with_vertices(input, options).map_err(|error| match error {
            Error::Usage(text) if !text.contains(&path) => Error::Usage(format!("{path}: {text}")),
            error => error,
        })
    }

    fn open_with_vertices(&self, input: &Input, options: &InputOptions) -> Result<Source> {
        options.check_taken(self.options, input.path(), &format!("of format {}", self.name))?;
        if options.of_vertices && !matches!(self.content, Content::Columns | Content::Table) {
            let expected = "a table of vertices in CSV or other text in columns, Parquet or Arrow";
            return Err(Error::input(input.path(), None, expected, self.name));
        }
        let mut name = input.path().file_name().unwrap_or_default().to_owned();
        name.push(".vertices");
        let beside = if self.lists { input.sibling(&name)? } else { None };
        let Some(beside) = beside else { return self.open_alone(input, options) };
        let own = vertex_lines::own_comment(&beside)?;
        let is_guessed = options.ids == IdKind::Auto;
        let strings = InputOptions { ids: IdKind::String, ..options.clone() };
        let says_strings = is_guessed && own.as_ref().is_some_and(|own| own.string_ids);
        let mut source = self.open_alone(input, if says_strings { &strings } else { options })?;
        // Without rows the edges do not tell what ids are like.
        if is_guessed && source.facts().are_ids_open && vertex_lines::has_strings(&beside)? {
            source = self.open_alone(input, &strings)?;
        }
        let facts = &mut source.facts;
        if let (None, Some(own)) = (facts.directed, own) {
            facts.directed = Some(own.directed);
            facts.directed_by = Some(format!("the first line of {}, which Outcore wrote,", beside.path().display()));
        }
        facts.notes.push(format!("{} beside it is read too: it names more vertices.", beside.path().display()));
        with_vertex_file(source, &beside, is_guessed)
    }

    fn open_alone(&self, input: &Input, options: &InputOptions) -> Result<Source> {
        if self.has_integers_only && options.ids == IdKind::String {
            let text = format!("--ids string: format {} numbers its vertices; use --ids auto or integer", self.name);
            return Err(Error::Usage(text));
        }
        (self.open)(input, options)
    }
}

fn foreign(input: &Input, expected: &str, found: &str, advice: &str) -> Error {
    Error::input(input.path(), None, expected, found).advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_are_of_one_format() {
        let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let mut endings: Vec<&str> = FORMATS.iter().flat_map(|format| format.endings).copied().collect();
        for all in [&mut names, &mut endings] {
            all.sort_unstable();
            assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        }
        assert!(FORMATS.iter().all(|format| !format.name.is_empty() && !format.summary.is_empty()));
        // Names that `generate` writes.
        for name in ["g.bin16", "g.graph500"] {
            assert_eq!(Format::by_ending(name).map(|format| format.name), Some("graph500"));
        }
    }

    #[test]
    fn what_is_recognized_as_read_is_a_format() {
        for start in [
            &b"PAR1"[..],
            b"ARROW1",
            b"%%MatrixMarket",
            b"<number of zones> 3",
            b"<graphml>",
            b"<gexf>",
            b"{\"source\": 1}",
            b"*vertices 3",
            b"p sp 3 2",
            b"graph [ ]",
            b"digraph { }",
        ] {
            let Some(Kind::Read(name)) = recognise::by_start(start) else { panic!("{start:?}") };
            assert_eq!(Format::named(name).unwrap().name, name);
        }
    }
}
