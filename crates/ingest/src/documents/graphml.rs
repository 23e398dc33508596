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
use crate::documents::attributed::{Declared, Document, Terms};
use crate::documents::kind_hint::{KIND_HINT, hinted_kind};
use crate::documents::records::{self, Known, ReadRecords, Records, STRING_IDS, WeightRule};
use crate::documents::xml::{Element, Item};
use crate::input::file::{Input, Stream};
use crate::text::number::weight;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};

const TERMS: Terms = Terms {
    format: "GraphML",
    declaration: "key",
    declarations: "keys with names and defaults",
    open: "an edge with its data, or vertices within each other with theirs,",
    is_own: |name| name.contains("://graphml.graphdrawing.org/"),
};

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    records::open("graphml", input, options, |stream| {
        let document = Document::new(stream, options, TERMS);
        Ok(GraphMl { document, in_key: false, weights: None, open_graphs: 0, data_key: None })
    })
}

struct GraphMl {
    document: Document,
    in_key: bool,
    weights: Option<WeightRule>,
    open_graphs: usize,
    data_key: Option<String>,
}

impl GraphMl {
    fn begin(&mut self, element: &Element) -> Result<()> {
        let document = &mut self.document;
        match element.name.as_str() {
            "graphml" => {}
            "key" => self.key(element)?,
            "graph" => self.graph(element)?,
            "hyperedge" => {
                return Err(document
                    .xml
                    .bad("edges between two vertices", "an element `hyperedge`")
                    .advise("make edges of it, or leave it out"));
            }
            "node" => {
                self.choose()?;
                self.document.begin(element, "id", None)?;
            }
            "edge" => {
                let values = [("true", true), ("1", true), ("false", false), ("0", false)];
                let directed = document.xml.one_of(element, "directed", &values, "`true` or `false`")?;
                self.choose()?;
                self.document.begin(element, "source", Some("target"))?.directed = directed;
            }
            "data" => self.data_key = element.get("key").map(str::to_owned),
            "desc" | "default" => {}
            other if document.declared.is_empty() => document.check_format(other)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str, records: &mut Records) -> Result<()> {
        let document = &mut self.document;
        match name {
            "graph" => self.open_graphs = self.open_graphs.saturating_sub(1),
            "default" if self.in_key && self.open_graphs == 0 => document.set_default(text)?,
            "key" => self.in_key = false,
            "data" => {
                let Some(key) = self.data_key.take() else { return Ok(()) };
                match document.weight_mut(&key) {
                    Some(weight) => *weight = Some(text.to_owned()),
                    None => document.set_value(&key, text)?,
                }
            }
            "node" | "edge" => document.end(records)?,
            _ => {}
        }
        Ok(())
    }

    fn key(&mut self, element: &Element) -> Result<()> {
        let document = &mut self.document;
        document.has_string_ids |= element.get("id") == Some(STRING_IDS);
        let of = element.get("for").unwrap_or("all");
        let (of_edges, of_vertices) = (matches!(of, "edge" | "all"), matches!(of, "node" | "all"));
        // Drawings of yEd have types of their own, and no names.
        let is_drawing = element.get("attr.name").is_none() && element.get("yfiles.type").is_some();
        self.in_key = (of_edges || of_vertices) && !is_drawing;
        if !self.in_key {
            return Ok(());
        }
        let id = document.xml.attribute(element, "id")?.to_owned();
        if document.is_chosen {
            return Err(document.xml.bad("all keys before the graph", &format!("the key `{id}` after it")));
        }
        let name = element.get("attr.name").unwrap_or(&id).to_owned();
        let kind = match element.get("attr.type") {
            Some("int" | "long") => AttributeKind::Integer,
            Some("float" | "double") => AttributeKind::Real,
            Some("boolean") => AttributeKind::Boolean,
            _ => element.get(KIND_HINT).and_then(hinted_kind).unwrap_or(AttributeKind::String),
        };
        document.declare(Declared { id, name, kind, default: None, of_edges, of_vertices })
    }

    fn graph(&mut self, element: &Element) -> Result<()> {
        self.open_graphs += 1;
        if self.open_graphs > 1 {
            return Ok(());
        }
        let document = &mut self.document;
        let values = [("directed", true), ("undirected", false)];
        document.begin_graph(document.xml.one_of(element, "edgedefault", &values, "`directed` or `undirected`")?)?;
        self.choose()
    }

    /// Chooses the attributes to keep and the weights, unless they are chosen.
    fn choose(&mut self) -> Result<()> {
        let document = &mut self.document;
        if document.is_chosen {
            return Ok(());
        }
        let of_edges: Vec<&Declared> = document.declared.iter().filter(|key| key.of_edges).collect();
        let mut names: Vec<&str> = Vec::new();
        for key in &of_edges {
            if !names.contains(&key.name.as_str()) {
                names.push(&key.name);
            }
        }
        let place = match document.options.weight.as_deref() {
            Some("none") => None,
            Some(with_weight) => Some(column_asked(document.xml.path(), "weight", with_weight, &names)?),
            None => usual_weight(document.xml.path(), &names, &document.options)?,
        };
        let of_weights = |key: &&&Declared| place.is_some_and(|place| names[place] == key.name);
        let keys: Vec<&Declared> = of_edges.iter().filter(of_weights).copied().collect();
        let weight_ids: Vec<String> = keys.iter().map(|key| key.id.clone()).collect();
        if let Some(key) = keys.iter().find(|key| key.default.is_some()).or(keys.first()) {
            let number = |text: &String| {
                let expected = format!("a number as the default of `{}`", key.name);
                weight(text.trim().as_bytes())
                    .ok_or_else(|| Error::input(document.xml.path(), None, expected, text.trim()))
            };
            let default = key.default.as_ref().map(number).transpose()?;
            self.weights = Some(WeightRule { name: key.name.clone(), default });
        }
        document.choose(weight_ids)
    }
}

impl ReadRecords for GraphMl {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        match self.document.next()? {
            Item::Begin(element) => self.begin(&element)?,
            Item::End(name, text) => self.end(&name, &text, records)?,
            Item::Done => return Ok(false),
        }
        Ok(true)
    }

    fn known(&self) -> Result<Known> {
        Ok(self.document.known(self.weights.clone()))
    }

    fn stream(&self) -> &Stream {
        self.document.xml.stream()
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
        // Attributes are chosen at the first vertex, even where that is not in the graph.
        let head = "<graphml><key id='k' attr.name='size' attr.type='int'/><node id='9'><data key='k'>4</data></node>";
        let read = edges_with("graphml", format!("{head}<graph/></graphml>").as_bytes(), &with(Attributes::All));
        assert_eq!(read.vertex_attributes[0].values, AttributeValues::Words(vec![4]));
        let none = with(Attributes::Named(vec!["weight".to_owned()]));
        assert!(failure_with("graphml", &text, &none).contains("there are kind, size, open"));
        let bad = String::from_utf8(text).unwrap().replace(" 5 ", "five");
        let error = failure_with("graphml", bad.as_bytes(), &with(Attributes::All));
        assert!(error.contains("graphml:5: expected integer as `size`, found `five`"), "{error}");
    }

    #[test]
    fn memory_of_declarations_and_open_elements_is_bounded() {
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
        // Values that are not set take memory, too.
        let keys_of_100: String = (0..100).map(|i| key(i, "")).collect();
        let deep = "<node id=\"1\"><graph>".repeat(500) + &"</graph></node>".repeat(500);
        let deep = document("directed", &keys_of_100, &deep);
        assert!(failure_with("graphml", &deep, &with(Attributes::All)).contains("vertices within each other"));
        assert_eq!(edges_of("graphml", &deep).vertices.len(), 500);
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
        let with_weight = InputOptions { weight: Some("cost".to_owned()), ..InputOptions::default() };
        let error = failure_with("graphml", &document("directed", KEY, content), &with_weight);
        assert!(error.contains("the columns are weight"), "{error}");
    }

    #[test]
    fn references_to_characters_are_resolved_in_ids() {
        let content =
            "<edge source=\"a&amp;b &#233;\" target=\"&lt;x&gt;\"/><node id='7'><graph><node id='8'/></graph></node>";
        let read = edges_of("graphml", &document("undirected", "", content));
        assert_eq!(read.names, [("a&b \u{e9}".to_owned(), "<x>".to_owned())]);
        assert_eq!(read.facts.directed, Some(false));
        let prefixed =
            b"<g:graphml xmlns:g=\"http://x\"><g:graph><g:edge source='1' target='2'/></g:graph></g:graphml>";
        assert_eq!(edges_of("graphml", prefixed).pairs, [(1, 2)]);
        // The elements have a prefix, and the root has none.
        for root in ["", " xmlns=\"http://graphml.graphdrawing.org/xmlns\""] {
            let text = format!(
                "<graphml{root} xmlns:gm=\"http://graphml.graphdrawing.org/xmlns/1.0rc\" xmlns:y=\"http://y\">\
                 <gm:graph edgedefault=\"directed\"><gm:node id=\"1\"/><gm:edge source=\"1\" target=\"2\"/>\
                 <y:edge source=\"3\" target=\"4\"/></gm:graph></graphml>"
            );
            let read = edges_of("graphml", text.as_bytes());
            assert_eq!((read.pairs, read.facts.directed), (vec![(1, 2)], Some(true)), "{root}");
        }
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
    fn malformed_graphml_is_refused() {
        let key = KEY.replace("<default>2</default>", "");
        for (document, expected) in [
            (document("directed", &key, "<edge source='1' target='2'/>"), "the weight `weight`"),
            (document("directed", KEY, "<edge source='1' target='2'><data key='d1'>x</data></edge>"), "finite number"),
            (document("directed", "", "<edge source='1'/>"), "the attribute `target`"),
            (document("sideways", "", ""), "`edgedefault`"),
            (document("directed", "", "<hyperedge/>"), "hyperedge"),
            (document("directed", "", "<node id='&x;'/>"), "well-formed"),
            (document("directed", "", "</graph><graph>"), "a second element `graph`"),
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
