//! Exports to forms of records: JSON lines, GraphML, GEXF, GML and Pajek, as their other readers take them.
//!
//! All but JSON lines name every vertex, so nothing stands beside the file. Ids are the elements' in XML; in GML and
//! Pajek vertices are numbered and the ids are their labels, as NetworkX writes them. In GML what is not ASCII stands
//! as numbers of characters. Where ids are strings of which some are written as numbers are, a key, a keyword or a
//! comment says that they are strings, and the importer honours it. Empty ids are refused, and so are characters that
//! XML cannot hold, and quotes and line ends in Pajek.
//!
//! *Cost.* One pass over the ids and one over the out-lists and their weights; the ids in memory where edges name them.

use crate::engine::weights::Weight;
use crate::export::edge_batches::weight_column;
use crate::export::job::{Degrees, ExportReport, Job, push_weight};
use crate::export::table::Cells;
use outcore_image::Result;
use outcore_ingest::STRING_IDS;
use outcore_table::{Id, IdLookup, IdStream, TextFile, push_json, string_ids};
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

    /// Why an id cannot be held, if it cannot.
    fn refusal(self, id: &str) -> Option<&'static str> {
        let in_xml = |c: char| matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
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
            _ => None,
        }
    }

    /// Appends an id so that it stands between quotes.
    fn push(self, id: Id<&str>, line: &mut Vec<u8>) {
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
        let has_numbers = string_ids(self.graph)
            && self.check_strings(&lookup, |vertex, id| match form.refusal(id) {
                Some(why) => Err(self.refuse_id(why, id, vertex, ".parquet")),
                None => Ok(()),
            })?;
        let mut file = TextFile::create(self.graph, self.output, self.compression)?;
        let (isolated, beside) = match form {
            Form::JsonLines => {
                let is_unclear = self.graph.edges() == 0;
                let head = if is_unclear { format!("{}\n", self.own_comment(None).line()) } else { String::new() };
                self.write_isolated(&head)?
            }
            _ => (self.isolated()?, Vec::new()),
        };
        file.put(self.head(form, has_numbers).as_bytes())?;
        self.put_vertices(form, &mut file)?;
        let between: &str = match (form, self.graph.is_directed()) {
            (Form::Gexf, _) => "</nodes>\n<edges>\n",
            (Form::Pajek, true) => "*Arcs\n",
            (Form::Pajek, false) => "*Edges\n",
            _ => "",
        };
        file.put(between.as_bytes())?;
        let edges = self.put_records(form, &lookup, &mut file)?;
        if form == Form::Sif {
            self.put_isolated(&mut file)?;
        }
        file.put(match form {
            Form::GraphMl => b"</graph>\n</graphml>\n",
            Form::Gexf => b"</edges>\n</graph>\n</gexf>\n",
            Form::Gml => b"]\n",
            Form::JsonLines | Form::Pajek | Form::Sif => b"",
        })?;
        self.done(edges, isolated, false, beside, Some(file))
    }

    /// The header before the vertices; `marked` if it must say that ids are strings.
    fn head(&self, form: Form, marked: bool) -> String {
        let directed = self.graph.is_directed();
        let kind = if directed { "directed" } else { "undirected" };
        let mark = |text: String| if marked { text } else { String::new() };
        match form {
            Form::JsonLines | Form::Sif => String::new(),
            Form::GraphMl => {
                let mark = mark(format!(
                    "<key id=\"{STRING_IDS}\" for=\"graph\" attr.name=\"{STRING_IDS}\" attr.type=\"boolean\"/>\n"
                ));
                let weights = self.graph.manifest().weights();
                let key = weights.map_or(String::new(), |weights| {
                    let kind = if weights.kind.is_real() { "double" } else { "long" };
                    let mut name = Vec::new();
                    form.push(Id::Text(weight_column(self.graph).unwrap_or("weight")), &mut name);
                    let name = String::from_utf8_lossy(&name);
                    format!("<key id=\"w\" for=\"edge\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n")
                });
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
                     {mark}{key}<graph edgedefault=\"{kind}\">\n"
                )
            }
            Form::Gexf => {
                let mark = mark(format!("<meta><keywords>{STRING_IDS}</keywords></meta>\n"));
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gexf xmlns=\"http://www.gexf.net/1.2draft\" \
                     version=\"1.2\">\n{mark}<graph mode=\"static\" defaultedgetype=\"{kind}\">\n<nodes>\n"
                )
            }
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

    fn put_vertices(&self, form: Form, file: &mut TextFile) -> Result<()> {
        if matches!(form, Form::JsonLines | Form::Sif) {
            return Ok(());
        }
        let mut stream = IdStream::new(self.graph)?;
        let mut line = Vec::new();
        while let Some((first, batch)) = stream.next()? {
            for (number, id) in (first..).zip(batch.iter()) {
                let (before, after) = match form {
                    Form::Gml => (format!("node [ id {number} label \""), "\" ]\n"),
                    Form::Pajek => (format!("{} \"", number + 1), "\"\n"),
                    _ => ("<node id=\"".to_owned(), "\"/>\n"),
                };
                line.clear();
                line.extend_from_slice(before.as_bytes());
                form.push(id, &mut line);
                line.extend_from_slice(after.as_bytes());
                file.put(&line)?;
            }
        }
        Ok(())
    }

    /// Vertices without edges, alone on their lines.
    fn put_isolated(&self, file: &mut TextFile) -> Result<()> {
        let (mut degrees, mut stream) = (Degrees::new(self.graph)?, IdStream::new(self.graph)?);
        let mut line = Vec::new();
        while let Some((_, batch)) = stream.next()? {
            for id in batch.iter() {
                if degrees.next()? == 0 {
                    line.clear();
                    Form::Sif.push(id, &mut line);
                    line.push(b'\n');
                    file.put(&line)?;
                }
            }
        }
        Ok(())
    }

    fn put_records(&self, form: Form, lookup: &IdLookup, file: &mut TextFile) -> Result<u64> {
        let names = self.member_names();
        let weight_key = self.gml_weight();
        let mut interactions = if form == Form::Sif { Cells::new(self.graph)? } else { None };
        self.put_edges(lookup, file, |edge, before, line| {
            let ids = [lookup.id(edge.vertex), lookup.id(edge.neighbour)];
            let numbers = [edge.vertex, edge.neighbour].map(u64::from);
            self.check_weight(edge.weight)?;
            match form {
                Form::JsonLines => push_object(&names, ids, edge.weight, line),
                Form::GraphMl | Form::Gexf => {
                    let id = if form == Form::Gexf { format!("id=\"{before}\" ") } else { String::new() };
                    line.extend_from_slice(format!("<edge {id}source=\"").as_bytes());
                    form.push(ids[0], line);
                    line.extend_from_slice(b"\" target=\"");
                    form.push(ids[1], line);
                    push_xml_weight(form, edge.weight, line);
                }
                Form::Gml => {
                    line.extend_from_slice(format!("edge [ source {} target {}", numbers[0], numbers[1]).as_bytes());
                    push_gml_weight(&weight_key, edge.weight, line);
                    line.extend_from_slice(b" ]\n");
                }
                Form::Sif => {
                    form.push(ids[0], line);
                    line.push(b'\t');
                    match &mut interactions {
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
        })
    }

    /// The names of JSON's members: how an edge begins, what stands before its weight, and how it ends.
    fn member_names(&self) -> [Vec<u8>; 2] {
        let mut weight = b", ".to_vec();
        push_json(&mut weight, weight_column(self.graph).unwrap_or("weight"));
        weight.push(b':');
        let end: &[u8] = if self.graph.is_directed() { b"}\n" } else { b", \"Type\": \"Undirected\"}\n" };
        [weight, end.to_vec()]
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

/// Appends an edge as an object.
fn push_object([weight_name, end]: &[Vec<u8>; 2], ids: [Id<&str>; 2], weight: Weight, line: &mut Vec<u8>) {
    for (name, id) in [&b"{\"source\": "[..], b", \"target\": "].into_iter().zip(ids) {
        line.extend_from_slice(name);
        match id {
            Id::Text(text) => push_json(line, text),
            // Writing into memory does not fail.
            number => drop(write!(line, "{number}")),
        }
    }
    if !matches!(weight, Weight::None) {
        line.extend_from_slice(weight_name);
        push_weight(b' ', weight, line);
    }
    line.extend_from_slice(end);
}

/// Ends the tag of an edge, with its weight.
fn push_xml_weight(form: Form, weight: Weight, line: &mut Vec<u8>) {
    let (before, after): (&[u8], &[u8]) = match (form, weight) {
        (_, Weight::None) => return line.extend_from_slice(b"\"/>\n"),
        (Form::Gexf, _) => (b"\" weight=", b"\"/>\n"),
        _ => (b"\"><data key=\"w\"", b"</data></edge>\n"),
    };
    line.extend_from_slice(before);
    push_weight(if form == Form::Gexf { b'"' } else { b'>' }, weight, line);
    line.extend_from_slice(after);
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
