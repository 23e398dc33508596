//! GEXF, Gephi's form: vertices and edges of XML, with attributes that have titles.
//!
//! The ids are those of the elements `node`, also of those within others. Edges have the direction that
//! `defaultedgetype` says, or none if it says nothing; one of type `mutual` is two. The weights are the attributes
//! `weight` of edges, or the values of the attribute whose title is `weight` or what the user names. An edge without
//! either has weight 1, as the format says, if another edge has one. Other attributes are kept if they are asked for,
//! and so are labels of vertices, as an attribute `label`. Times are not read.
//!
//! Format: "GEXF 1.3 Primer", Gephi consortium, 2022.

use crate::batch::{InputOptions, Source};
use crate::column_names::{listed, usual_weight};
use crate::documents::attributed::{Declared, Document, Terms};
use crate::documents::kind_hint::{KIND_HINT, hinted_kind};
use crate::documents::records::{self, Known, ReadRecords, Records, STRING_IDS, WeightRule};
use crate::documents::xml::{Element, Item};
use crate::input::file::{Input, Stream};
use crate::tables::attributes::Attributes;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};

const TERMS: Terms = Terms {
    format: "GEXF",
    declaration: "attribute",
    declarations: "attributes with titles and defaults",
    open: "an edge with its values, or vertices within each other with theirs,",
    // How a vertex looks is in a namespace below.
    is_own: |name| name.contains("gexf.net/") && !name.ends_with("/viz"),
};

/// The id that stands for labels: no attribute of the document has an id with a leading blank.
const LABEL_ID: &str = " label";

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    records::open("gexf", input, options, |stream| {
        let document = Document::new(stream, options, TERMS);
        Ok(Gexf { document, in_meta: false, of_edges: false, of_vertices: false, is_dynamic: false })
    })
}

struct Gexf {
    document: Document,
    in_meta: bool,
    /// The attributes that have begun are those of edges, or of vertices.
    of_edges: bool,
    of_vertices: bool,
    is_dynamic: bool,
}

impl Gexf {
    fn weight_name(&self) -> &str {
        self.document.options.weight.as_deref().unwrap_or("weight")
    }

    /// The attribute that holds the weights, if it is not `weight` of the edges themselves.
    fn weight_attribute(&self) -> Result<Option<&Declared>> {
        let options = &self.document.options;
        let of_edges: Vec<&Declared> = self.document.declared.iter().filter(|attribute| attribute.of_edges).collect();
        let titles: Vec<&str> = of_edges.iter().map(|attribute| attribute.name.as_str()).collect();
        let place = match options.weight.as_deref() {
            None => usual_weight(self.document.xml.path(), &titles, options)?,
            Some("none") => None,
            Some(wanted) => titles.iter().position(|title| *title == wanted),
        };
        match (place, options.weight.as_deref()) {
            (None, Some(wanted)) if !matches!(wanted, "none" | "weight") => Err(Error::input(
                self.document.xml.path(),
                None,
                format!("an attribute `{wanted}` of edges, as --weight says"),
                "no such attribute",
            )
            .advise(format!("there are weight, {}", listed(&titles)))),
            _ => Ok(place.map(|place| of_edges[place])),
        }
    }

    fn weight_ids(&self) -> Result<Vec<String>> {
        Ok(self.weight_attribute()?.map(|attribute| attribute.id.clone()).into_iter().collect())
    }

    /// Chooses the attributes to keep, unless they are chosen: all are declared before the first vertex or edge begins.
    /// Labels of vertices are an attribute if the first vertex has one.
    fn choose(&mut self, first: &Element) -> Result<()> {
        if self.document.is_chosen {
            return Ok(());
        }
        let has_labels = first.name == "node" && first.get("label").is_some();
        if has_labels && self.document.options.attributes != Attributes::None {
            let (id, name, kind) = (LABEL_ID.to_owned(), "label".to_owned(), AttributeKind::String);
            self.document.declared.push(Declared { id, name, kind, default: None, of_edges: false, of_vertices: true });
        }
        self.document.choose(self.weight_ids()?)
    }

    fn begin(&mut self, element: &Element) -> Result<()> {
        match element.name.as_str() {
            "graph" => self.graph(element)?,
            "attributes" => {
                let class = element.get("class");
                (self.of_edges, self.of_vertices) = (class == Some("edge"), class == Some("node"));
            }
            "attribute" if self.is_declaring() => self.declare(element)?,
            "node" => {
                self.choose(element)?;
                self.document.begin(element, "id", None)?;
                if let Some(label) = element.get("label") {
                    self.document.set_value(LABEL_ID, label)?;
                }
            }
            "edge" => self.edge(element)?,
            "attvalue" => self.value(element)?,
            "gexf" => {}
            "meta" => self.in_meta = true,
            other if !self.in_meta => self.document.check_format(other)?,
            _ => {}
        }
        Ok(())
    }

    fn graph(&mut self, element: &Element) -> Result<()> {
        let document = &mut self.document;
        self.is_dynamic = element.get("mode") == Some("dynamic");
        let values = [("directed", true), ("mutual", true), ("undirected", false)];
        document.begin_graph(document.xml.one_of(element, "defaultedgetype", &values, "a direction")?)
    }

    fn edge(&mut self, element: &Element) -> Result<()> {
        self.choose(element)?;
        let own_weight = element.get("weight").filter(|_| self.weight_name() == "weight");
        let values = [("directed", true), ("undirected", false), ("mutual", true)];
        let directed = self.document.xml.one_of(element, "type", &values, "`directed`, `undirected` or `mutual`")?;
        let edge = self.document.begin(element, "source", Some("target"))?;
        (edge.directed, edge.weight) = (directed, own_weight.map(str::to_owned));
        edge.is_mutual = element.get("type") == Some("mutual");
        Ok(())
    }

    fn declare(&mut self, element: &Element) -> Result<()> {
        let document = &mut self.document;
        let id = document.xml.attribute(element, "id")?.to_owned();
        if document.is_chosen && document.options.attributes != Attributes::None {
            let found = format!("the attribute `{id}` after the first of them");
            return Err(document.xml.bad("all attributes before the vertices and edges", &found));
        }
        let name = element.get("title").unwrap_or(&id).to_owned();
        let kind = match element.get("type") {
            Some("integer" | "long" | "int" | "short" | "byte") => AttributeKind::Integer,
            Some("float" | "double") => AttributeKind::Real,
            Some("boolean") => AttributeKind::Boolean,
            _ => element.get(KIND_HINT).and_then(hinted_kind).unwrap_or(AttributeKind::String),
        };
        let (of_edges, of_vertices) = (self.of_edges, self.of_vertices);
        document.declare(Declared { id, name, kind, default: None, of_edges, of_vertices })?;
        if self.document.is_chosen {
            self.document.weight_ids = self.weight_ids()?;
        }
        Ok(())
    }

    fn is_declaring(&self) -> bool {
        (self.of_edges || self.of_vertices) && self.document.open.is_empty()
    }

    /// Sets the value of an attribute of the edge or vertex that has begun.
    fn value(&mut self, element: &Element) -> Result<()> {
        let (Some(key), Some(value)) = (element.get("for").or(element.get("id")), element.get("value")) else {
            return Ok(());
        };
        match self.document.weight_mut(key) {
            Some(weight) => _ = weight.get_or_insert_with(|| value.to_owned()),
            None => self.document.set_value(key, value)?,
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str, records: &mut Records) -> Result<()> {
        match name {
            "default" if self.is_declaring() => self.document.set_default(text.trim())?,
            "node" | "edge" => self.document.end(records)?,
            "keywords" => self.document.has_string_ids |= text.trim() == STRING_IDS,
            "meta" => self.in_meta = false,
            "attributes" => (self.of_edges, self.of_vertices) = (false, false),
            _ => {}
        }
        Ok(())
    }
}

impl ReadRecords for Gexf {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        match self.document.next()? {
            Item::Begin(element) => self.begin(&element)?,
            Item::End(name, text) => self.end(&name, &text, records)?,
            Item::Done => return Ok(false),
        }
        Ok(true)
    }

    fn known(&self) -> Result<Known> {
        let attribute = self.weight_attribute()?;
        let wanted = self.document.options.weight.as_ref();
        let is_weighted = wanted.map_or(self.document.has_weights, |wanted| wanted != "none");
        let default = attribute.and_then(|attribute| attribute.default.as_ref());
        let default = default.and_then(|text| crate::text::number::weight(text.as_bytes())).unwrap_or(1.0);
        let weights = is_weighted.then(|| WeightRule { name: self.weight_name().to_owned(), default: Some(default) });
        let mut known = self.document.known(weights);
        if self.is_dynamic {
            known.notes.insert(0, "The graph is dynamic: its times are not read.".to_owned());
        }
        Ok(known)
    }

    fn stream(&self) -> &Stream {
        self.document.xml.stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_of, edges_with, failure_of, failure_with};

    fn document(graph: &str, content: &str) -> Vec<u8> {
        format!(
            "<?xml version=\"1.0\"?><gexf xmlns=\"http://www.gexf.net/1.2draft\" xmlns:viz=\"http://viz\">\n\
             <meta><creator>x</creator></meta><graph {graph}>\n{content}</graph></gexf>"
        )
        .into_bytes()
    }

    fn weight(name: &str) -> InputOptions {
        InputOptions { weight: Some(name.to_owned()), ..InputOptions::default() }
    }

    #[test]
    fn vertices_edges_and_weights() {
        let content = "<attributes class='edge'><attribute id='0' title='cost' type='double'><default>7</default></attribute>\
                       </attributes><nodes><node id='5' label='five'><viz:size value='3'/><nodes><node id='6'/></nodes></node>\
                       </nodes><edges><edge id='0' source='1' target='2' weight='0.5'><attvalues><attvalue for='0' \
                       value='4'/></attvalues></edge><edge id='1' source='2' target='3'/></edges>";
        let directed = document("defaultedgetype='directed' mode='dynamic'", content);
        let read = edges_of("gexf", &directed);
        assert_eq!((read.pairs, read.weights), (vec![(1, 2), (2, 3)], vec![0.5, 1.0]));
        assert_eq!((read.vertices, read.facts.directed), (vec![6, 5], Some(true)));
        assert!(read.facts.notes[0].contains("times"));
        assert_eq!(edges_with("gexf", &directed, &weight("cost")).weights, [4.0, 7.0]);
        assert!(edges_with("gexf", &directed, &weight("none")).weights.is_empty());
        assert!(failure_with("gexf", &directed, &weight("size")).contains("there are weight, cost"));
        assert_eq!(edges_of("gexf", &document("", content)).facts.directed, Some(false));
    }

    #[test]
    fn vertices_before_the_first_edge_are_read_twice() {
        let nodes: String = (0..40_000).map(|i| format!("<node id='n{i}'/>")).collect();
        let edges = "<edge source='1' target='2' weight='3'/>";
        let read = edges_of("gexf", &document("", &format!("<nodes>{nodes}</nodes><edges>{edges}</edges>")));
        assert_eq!((read.names, read.weights), (vec![("1".to_owned(), "2".to_owned())], vec![3.0]));
        assert!(read.blocks > 2);
    }

    #[test]
    fn directions_of_edges() {
        let mutual = document("defaultedgetype='directed'", "<edge source='1' target='2' type='mutual'/>");
        assert_eq!(edges_of("gexf", &mutual).pairs, [(1, 2), (2, 1)]);
        let mixed = document("", "<edge source='1' target='2'/><edge source='1' target='3' type='directed'/>");
        assert!(failure_of("gexf", &mixed).contains("--directed"));
        let both = InputOptions { directed: Some(true), ..InputOptions::default() };
        assert_eq!(edges_with("gexf", &mixed, &both).pairs, [(1, 2), (2, 1), (1, 3)]);
        for (content, expected) in [
            ("<edge source='1' target='2' type='odd'/>", "`type`"),
            ("<edge source='1' target='2' weight='x'/>", "finite number"),
            ("</graph><graph>", "a second element `graph`"),
        ] {
            assert!(failure_of("gexf", &document("", content)).contains(expected), "{content}");
        }
        assert!(failure_of("gexf", b"<gexf><x/></gexf>").contains("a GEXF document"));
    }
}
