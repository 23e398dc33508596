//! GraphML: vertices and edges of XML, with keys that say what their data are.
//!
//! The ids are those of the elements `node`. Edges have the direction that `edgedefault` says, or none if it says
//! nothing. The weights are the data of the key whose name is `weight`, or what the user names; a key may have a
//! default. The data of other keys are attributes, if they are asked for. Graphs within vertices are read with the
//! graph that they are in. Ports are not read.
//!
//! Format: Brandes et al., "GraphML Progress Report", Graph Drawing 2001; http://graphml.graphdrawing.org has the
//! schema.

use crate::batch::{InputOptions, Source};
use crate::column_names::{column_asked, usual_weight};
use crate::documents::declared::{self, Declared, Held, Kept, Values};
use crate::documents::records::{self, Directions, Known, ReadRecords, Records, STRING_IDS, WeightRule};
use crate::documents::xml::{Element, Item, Xml};
use crate::input::file::{Input, Stream};
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};

/// Purpose of the memory, for messages.
const KEYS: &str = "keys with names and defaults";
const OPEN: &str = "an edge with its data, or vertices within each other with theirs,";
/// Largest number of keys.
const MOST_KEYS: usize = 4096;

/// Opens a GraphML file.
pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Box<dyn Source>> {
    records::open("graphml", input, options, |stream| Ok(GraphMl::new(stream, options)))
}

/// An edge that has begun.
struct Edge {
    line: u64,
    source: String,
    target: String,
    directed: Option<bool>,
    weight: Option<String>,
    values: Values,
}

/// A vertex that has begun.
struct Vertex {
    line: u64,
    id: String,
    values: Values,
}

struct GraphMl {
    xml: Xml,
    options: InputOptions,
    keys: Vec<Declared>,
    in_key: bool,
    /// Memory of the keys and the open elements.
    declared: Held,
    open: Held,
    /// Attributes kept of edges and of vertices.
    kept: [Kept; 2],
    note: Option<String>,
    directions: Directions,
    /// The ids of the keys of the weights: several, where there is one of each type.
    weight_ids: Vec<String>,
    weights: Option<WeightRule>,
    /// Number of open graphs, and whether there was one.
    graphs: usize,
    has_graph: bool,
    has_string_ids: bool,
    edge: Option<Edge>,
    /// One within the other.
    vertices: Vec<Vertex>,
    /// The key of the data that have begun.
    data_key: Option<String>,
}

impl GraphMl {
    fn new(stream: Stream, options: &InputOptions) -> Self {
        GraphMl {
            xml: Xml::new(stream),
            options: options.clone(),
            keys: Vec::new(),
            in_key: false,
            declared: Held::default(),
            open: Held::default(),
            kept: Default::default(),
            note: None,
            directions: Directions { usual: false, asked: options.directed },
            weight_ids: Vec::new(),
            weights: None,
            graphs: 0,
            has_graph: false,
            has_string_ids: false,
            edge: None,
            vertices: Vec::new(),
            data_key: None,
        }
    }

    fn begin(&mut self, element: &Element) -> Result<()> {
        let line = self.xml.line();
        match element.name.as_str() {
            "graphml" => {}
            "key" => {
                self.has_string_ids |= element.get("id") == Some(STRING_IDS);
                self.key(element)?;
            }
            "graph" => self.graph(element)?,
            "hyperedge" => {
                return Err(self
                    .xml
                    .bad("edges between two vertices", "an element `hyperedge`")
                    .advise("make edges of it, or leave it out"));
            }
            "node" => {
                let id = self.xml.attribute(element, "id")?.to_owned();
                self.open.add(id.len(), OPEN, &self.xml)?;
                self.vertices.push(Vertex { line, id, values: self.kept[1].empty() });
            }
            "edge" => {
                let directed = match element.get("directed") {
                    None => None,
                    Some("true" | "1") => Some(true),
                    Some("false" | "0") => Some(false),
                    Some(other) => return Err(self.xml.bad("`true` or `false` as `directed`", other)),
                };
                let end = |name| self.xml.attribute(element, name).map(str::to_owned);
                let (source, target) = (end("source")?, end("target")?);
                let values = self.kept[0].empty();
                if let Some(left) = self.edge.take() {
                    self.open.remove("", &left.values);
                }
                self.edge = Some(Edge { line, source, target, directed, weight: None, values });
            }
            "data" => self.data_key = element.get("key").map(str::to_owned),
            _ if !self.has_graph && self.keys.is_empty() && !matches!(&*element.name, "desc" | "default") => {
                return Err(self.xml.bad("a GraphML document", &format!("an element `{}`", element.name)));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str, records: &mut Records) -> Result<()> {
        match name {
            "graph" => self.graphs = self.graphs.saturating_sub(1),
            "default" if self.in_key && self.graphs == 0 => {
                self.declared.add(text.len(), KEYS, &self.xml)?;
                self.keys.last_mut().into_iter().for_each(|key| key.default = Some(text.to_owned()));
            }
            "key" => self.in_key = false,
            "data" => {
                let Some(key) = self.data_key.take() else { return Ok(()) };
                match (&mut self.edge, self.vertices.last_mut()) {
                    (Some(edge), _) if self.weight_ids.contains(&key) => edge.weight = Some(text.to_owned()),
                    (Some(edge), _) => self.kept[0].take(&key, text, &mut edge.values, &mut self.open),
                    (None, Some(vertex)) => self.kept[1].take(&key, text, &mut vertex.values, &mut self.open),
                    (None, None) => {}
                }
                self.open.check(OPEN, &self.xml)?;
            }
            "node" => {
                let Some(Vertex { line, id, mut values }) = self.vertices.pop() else { return Ok(()) };
                self.open.remove(&id, &values);
                self.kept[1].fill(&mut values);
                records.vertex(line, id.as_bytes(), &values);
            }
            "edge" => {
                let Some(mut edge) = self.edge.take() else { return Ok(()) };
                self.open.remove("", &edge.values);
                self.kept[0].fill(&mut edge.values);
                let ends = [edge.source.as_bytes(), edge.target.as_bytes()];
                let weight = edge.weight.as_ref().map(String::as_bytes);
                let place = (self.xml.path(), edge.line);
                self.directions.push(edge.directed, place, ends, weight, &edge.values, records)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn key(&mut self, element: &Element) -> Result<()> {
        let of = element.get("for").unwrap_or("all");
        let (of_edges, of_vertices) = (matches!(of, "edge" | "all"), matches!(of, "node" | "all"));
        // Drawings of yEd have types of their own, and no names.
        let is_drawing = element.get("attr.name").is_none() && element.get("yfiles.type").is_some();
        self.in_key = (of_edges || of_vertices) && !is_drawing;
        if self.in_key {
            let id = self.xml.attribute(element, "id")?.to_owned();
            let name = element.get("attr.name").unwrap_or(&id).to_owned();
            if self.keys.len() == MOST_KEYS {
                return Err(self.xml.bad(format!("at most {MOST_KEYS} keys"), &format!("a further key `{id}`")));
            }
            if self.has_graph {
                return Err(self.xml.bad("all keys before the graph", &format!("the key `{id}` after it")));
            }
            let kind = match element.get("attr.type") {
                Some("int" | "long") => AttributeKind::Integer,
                Some("float" | "double") => AttributeKind::Real,
                Some("boolean") => AttributeKind::Boolean,
                _ => AttributeKind::String,
            };
            self.declared.add(id.len() + name.len(), KEYS, &self.xml)?;
            self.keys.push(Declared { id, name, kind, default: None, of_edges, of_vertices });
        }
        Ok(())
    }

    fn graph(&mut self, element: &Element) -> Result<()> {
        self.graphs += 1;
        if self.graphs > 1 {
            return Ok(());
        }
        if self.has_graph {
            return Err(self.xml.bad("one graph", "a second one").advise("make a file of each graph"));
        }
        self.has_graph = true;
        self.directions.usual = match element.get("edgedefault") {
            Some("directed") => true,
            Some("undirected") | None => false,
            Some(other) => return Err(self.xml.bad("`directed` or `undirected` as `edgedefault`", other)),
        };
        let of_edges: Vec<&Declared> = self.keys.iter().filter(|key| key.of_edges).collect();
        let mut names: Vec<&str> = Vec::new();
        for key in &of_edges {
            if !names.contains(&key.name.as_str()) {
                names.push(&key.name);
            }
        }
        let place = match self.options.weight.as_deref() {
            Some("none") => None,
            Some(asked) => Some(column_asked("weight", asked, &names)?),
            None => usual_weight(&names, &self.options)?,
        };
        let of_weights = |key: &&&Declared| place.is_some_and(|place| names[place] == key.name);
        let keys: Vec<&Declared> = of_edges.iter().filter(of_weights).copied().collect();
        let weight_ids: Vec<String> = keys.iter().map(|key| key.id.clone()).collect();
        (self.kept, self.note) = declared::choose(&self.keys, &weight_ids, &self.options, self.xml.path())?;
        let Some(key) = keys.iter().find(|key| key.default.is_some()).or(keys.first()) else { return Ok(()) };
        let default = match &key.default {
            None => None,
            Some(text) => Some(crate::text::number::weight(text.trim().as_bytes()).ok_or_else(|| {
                Error::input(self.xml.path(), None, format!("a number as the default of `{}`", key.name), text.trim())
            })?),
        };
        self.weights = Some(WeightRule { name: key.name.clone(), default });
        self.weight_ids = weight_ids;
        Ok(())
    }
}

impl ReadRecords for GraphMl {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        match self.xml.next()? {
            Item::Begin(element) => self.begin(&element)?,
            Item::End(name, text) => self.end(&name, &text, records)?,
            Item::Done if !self.has_graph => {
                return Err(Error::input(self.xml.path(), None, "a GraphML document with a graph", "none"));
            }
            Item::Done => return Ok(false),
        }
        Ok(true)
    }

    fn known(&self) -> Result<Known> {
        Ok(Known {
            directed: Some(self.directions.of_graph()),
            weights: self.weights.clone(),
            notes: self.note.clone().into_iter().collect(),
            attributes: self.kept.each_ref().map(|kept| kept.fields.clone()),
            strings: self.has_string_ids.then_some(true),
            ..Known::default()
        })
    }

    fn stream(&self) -> &Stream {
        self.xml.stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attributes::{AttributeField, AttributeValues, Attributes};
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    fn document(default: &str, keys: &str, content: &str) -> Vec<u8> {
        format!(
            "<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE graphml [<!ENTITY x \"y\">]>\n\
             <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:y=\"http://yed\">{keys}\n\
             <graph edgedefault=\"{default}\">\n{content}</graph></graphml>"
        )
        .into_bytes()
    }

    const KEY: &str =
        "<key id=\"d1\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"><default>2</default></key>";

    #[test]
    fn data_are_attributes_where_they_are_asked_for() {
        let keys = "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\
                    <key id=\"k\" for=\"edge\" attr.name=\"kind\" attr.type=\"string\"><default>road</default></key>\
                    <key id=\"n\" for=\"node\" attr.name=\"size\" attr.type=\"long\"/>\
                    <key id=\"b\" for=\"all\" attr.name=\"open\" attr.type=\"boolean\"/>";
        let content = "<node id=\"1\"><data key=\"n\"> 5 </data><graph><node id=\"2\"><data key=\"b\">true</data></node>\
                       </graph><data key=\"b\">false</data></node><node id=\"3\"/>\
                       <edge source=\"1\" target=\"2\"><data key=\"w\">2</data><data key=\"k\">rail</data></edge>\
                       <edge source=\"2\" target=\"3\"><data key=\"w\">3</data><data key=\"b\">true</data></edge>";
        let text = document("directed", keys, content);
        let with = |attributes| InputOptions { attributes, ..InputOptions::default() };
        let read = edges_with("graphml", &text, &with(Attributes::All));
        assert_eq!((read.pairs, read.weights, read.vertices), (vec![(1, 2), (2, 3)], vec![2.0, 3.0], vec![2, 1, 3]));
        let names = |fields: &[AttributeField]| fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&read.facts.attributes), ["kind", "open"]);
        assert_eq!(names(&read.facts.vertex_attributes), ["size", "open"]);
        let text_of = |bytes: &[u8], ends: &[u32]| AttributeValues::Text { bytes: bytes.into(), ends: ends.into() };
        assert_eq!(read.attributes[0].values, text_of(b"railroad", &[4, 8]));
        assert_eq!(read.attributes[1].missing, [true, false]);
        assert_eq!(read.vertex_attributes[0].values, AttributeValues::Words(vec![0, 5, 0]));
        assert_eq!(read.vertex_attributes[0].missing, [true, false, true]);
        assert_eq!(read.vertex_attributes[1].values, AttributeValues::Words(vec![1, 0, 0]));
        let read = edges_of("graphml", &text);
        assert!(read.attributes.is_empty() && read.facts.vertex_attributes.is_empty());
        assert!(read.facts.notes[0].starts_with("Attributes that are not read: kind, size, open. To keep them"));
        let one = with(Attributes::Named(vec!["open".to_owned()]));
        let read = edges_with("graphml", &text, &one);
        assert_eq!((read.facts.attributes.len(), read.facts.vertex_attributes.len()), (1, 1));
        let none = with(Attributes::Named(vec!["weight".to_owned()]));
        assert!(failure_with("graphml", &text, &none).contains("there are kind, size, open"));
        let bad = String::from_utf8(text).unwrap().replace(" 5 ", "five");
        let error = failure_with("graphml", bad.as_bytes(), &with(Attributes::All));
        assert!(error.contains("graphml:5: expected integer as `size`, found `five`"), "{error}");
    }

    #[test]
    fn what_is_held_of_a_document_is_bounded() {
        let with = |attributes| InputOptions { attributes, ..InputOptions::default() };
        let long = "x".repeat(400_000);
        let key = |i: usize, default: &str| {
            format!("<key id=\"k{i}\" attr.name=\"n{i}\" attr.type=\"string\"><default>{default}</default></key>")
        };
        let many: String = (0..3).map(|i| key(i, &long)).collect();
        let error = failure_of("graphml", &document("directed", &many, "<edge source=\"1\" target=\"2\"/>"));
        assert!(error.contains("keys with names and defaults that take at most 1 MiB"), "{error}");
        let data: String = (0..3).map(|i| format!("<data key=\"k{i}\">{long}</data>")).collect();
        let keys: String = (0..3).map(|i| key(i, "")).collect();
        let edge = document("directed", &keys, &format!("<edge source=\"1\" target=\"2\">{data}</edge>"));
        assert!(failure_with("graphml", &edge, &with(Attributes::All)).contains("an edge with its data"));
        assert_eq!(edges_of("graphml", &edge).pairs, [(1, 2)]);
        let node = |inner: &str| format!("<node id=\"{}\"><data key=\"k0\">{long}</data>{inner}</node>", inner.len());
        let nested = node(&format!("<graph>{}</graph>", node(&format!("<graph>{}</graph>", node("")))));
        let nested = document("directed", &keys, &nested);
        assert!(failure_with("graphml", &nested, &with(Attributes::All)).contains("vertices within each other"));
        // A replacement of a value is counted once.
        let again =
            document("directed", &keys, &format!("<node id=\"7\">{}</node>", data.replace("k1", "k0").repeat(9)));
        assert_eq!(edges_with("graphml", &again, &with(Attributes::All)).vertices, [7]);
        let beside: String = (0..9).map(|_| node("")).collect::<String>().replace("id=\"0\"", "id=\"7\"");
        let beside = document("directed", &keys, &beside);
        assert_eq!(edges_with("graphml", &beside, &with(Attributes::All)).vertices, [7; 9]);
    }

    #[test]
    fn vertices_edges_and_weights() {
        let content = "<node id=\"7\"/><node id=\"1\"><data key=\"d1\">9</data></node>\n\
                       <edge source=\"1\" target=\"2\"><data key=\"d0\">x</data><data key=\"d1\"> 3.5\n</data></edge>\
                       <edge source=\"2\" target=\"1\"/><!-- no edge --><y:edge source=\"5\" target=\"6\"/>";
        let read = edges_of("graphml", &document("directed", KEY, content));
        assert_eq!(read.pairs, [(1, 2), (2, 1)]);
        assert_eq!((read.weights, read.vertices), (vec![3.5, 2.0], vec![7, 1]));
        assert_eq!((read.facts.directed, read.facts.weights.as_deref()), (Some(true), Some("weight")));
        let none = InputOptions { weight: Some("none".to_owned()), ..InputOptions::default() };
        assert!(edges_with("graphml", &document("directed", KEY, content), &none).weights.is_empty());
        let asked = InputOptions { weight: Some("cost".to_owned()), ..InputOptions::default() };
        let error = failure_with("graphml", &document("directed", KEY, content), &asked);
        assert!(error.contains("the columns are weight"), "{error}");
    }

    #[test]
    fn ids_are_what_xml_makes_of_them() {
        let content =
            "<edge source=\"a&amp;b &#233;\" target=\"&lt;x&gt;\"/><node id='7'><graph><node id='8'/></graph></node>";
        let read = edges_of("graphml", &document("undirected", "", content));
        assert_eq!(read.names, [("a&b \u{e9}".to_owned(), "<x>".to_owned())]);
        assert_eq!(read.facts.directed, Some(false));
        let prefixed =
            b"<g:graphml xmlns:g=\"http://x\"><g:graph><g:edge source='1' target='2'/></g:graph></g:graphml>";
        assert_eq!(edges_of("graphml", prefixed).pairs, [(1, 2)]);
        let cdata = KEY.replace("<default>2</default>", "");
        let content = "<edge source='1' target='2'><data key='d1'><![CDATA[4]]>&#50;</data></edge>";
        assert_eq!(edges_of("graphml", &document("directed", &cdata, content)).weights, [42.0]);
    }

    #[test]
    fn edges_of_both_kinds_are_the_users_choice() {
        let content = "<edge source='1' target='2'/><edge source='2' target='3' directed='false'/>";
        let mixed = document("directed", "", content);
        let error = failure_of("graphml", &mixed);
        assert!(error.contains("--undirected") && error.contains("graphml:5"), "{error}");
        let with = |directed| InputOptions { directed: Some(directed), ..InputOptions::default() };
        let read = edges_with("graphml", &mixed, &with(false));
        assert_eq!((read.pairs, read.facts.directed), (vec![(1, 2), (2, 3)], Some(false)));
        let read = edges_with("graphml", &mixed, &with(true));
        assert_eq!((read.pairs, read.facts.directed), (vec![(1, 2), (2, 3), (3, 2)], Some(true)));
    }

    #[test]
    fn what_is_not_read_is_refused() {
        let key = KEY.replace("<default>2</default>", "");
        for (document, expected) in [
            (document("directed", &key, "<edge source='1' target='2'/>"), "the weight `weight`"),
            (document("directed", KEY, "<edge source='1' target='2'><data key='d1'>x</data></edge>"), "finite number"),
            (document("directed", "", "<edge source='1'/>"), "the attribute `target`"),
            (document("sideways", "", ""), "`edgedefault`"),
            (document("directed", "", "<hyperedge/>"), "hyperedge"),
            (document("directed", "", "<node id='&x;'/>"), "well-formed"),
            (document("directed", "", "</graph><graph>"), "a second one"),
            (document("directed", "", "<node id='1'>"), "well-formed"),
            (document("directed", "", &format!("<node id='{}'/>", "x".repeat(2 << 20))), "at most 1 MiB"),
            (document("directed", "", &"<a>".repeat(400_000)), "nests elements deeper"),
            (document("directed", "", &format!("<a x='{}'>", "x".repeat(10_000)).repeat(200)), "at most 1 MiB in all"),
            (document("directed", "", &format!("<data>{}", "&amp;x<!-- -->".repeat(1 << 20))), "1 MiB of text"),
            (document("directed", "", "").split_last_chunk::<10>().unwrap().0.to_vec(), "the end of the file"),
            (b"<graphml></graphml>".to_vec(), "with a graph"),
        ] {
            let error = failure_of("graphml", &document);
            assert!(error.contains(expected), "{expected}: {error}");
        }
        let words = document("directed", "", &"<edge source='1' target='2'/>".repeat(20_000));
        let mut words = String::from_utf8(words).unwrap();
        words.insert_str(words.len() - "</graph></graphml>".len(), "<edge source='a' target='1'/>");
        assert!(failure_of("graphml", words.as_bytes()).contains("--ids string"));
    }
}
