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
use crate::documents::declared::{self, Declared, Held, Kept, Values};
use crate::documents::records::{self, Directions, Known, ReadRecords, Records, STRING_IDS, WeightRule};
use crate::documents::xml::{Element, Item, Xml};
use crate::input::file::{Input, Stream};
use crate::tables::attributes::Attributes;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};

/// Purpose of the memory, for messages.
const DECLARED: &str = "attributes with titles and defaults";
const OPEN: &str = "an edge with its values, or vertices within each other with theirs,";
/// Largest number of attributes.
const MOST_ATTRIBUTES: usize = 4096;

/// Opens a GEXF file.
pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Box<dyn Source>> {
    records::open("gexf", input, options, |stream| Ok(Gexf::new(stream, options)))
}

/// The id that stands for labels: no attribute of the document has an id with a leading blank.
const LABEL_ID: &str = " label";

/// An edge that has begun.
struct Edge {
    line: u64,
    source: String,
    target: String,
    kind: Option<String>,
    weight: Option<String>,
    values: Values,
}

/// A vertex that has begun.
struct Vertex {
    line: u64,
    id: String,
    values: Values,
}

struct Gexf {
    xml: Xml,
    options: InputOptions,
    attributes: Vec<Declared>,
    /// Whether the element `meta` is open.
    in_meta: bool,
    /// Memory of the declared attributes and the open elements.
    declared: Held,
    open: Held,
    /// The attributes that have begun are those of edges, or of vertices.
    of_edges: bool,
    of_vertices: bool,
    /// Attributes kept of edges and of vertices, once one of them has begun.
    kept: Option<[Kept; 2]>,
    note: Option<String>,
    directions: Directions,
    has_graph: bool,
    /// An edge has a weight, or the user says so.
    weighted: bool,
    is_dynamic: bool,
    has_string_ids: bool,
    edge: Option<Edge>,
    /// One within the other.
    vertices: Vec<Vertex>,
}

impl Gexf {
    fn new(stream: Stream, options: &InputOptions) -> Self {
        Gexf {
            xml: Xml::new(stream),
            options: options.clone(),
            attributes: Vec::new(),
            in_meta: false,
            declared: Held::default(),
            open: Held::default(),
            of_edges: false,
            of_vertices: false,
            kept: None,
            note: None,
            directions: Directions { usual: false, asked: options.directed },
            has_graph: false,
            weighted: false,
            is_dynamic: false,
            has_string_ids: false,
            edge: None,
            vertices: Vec::new(),
        }
    }

    /// Name of the weights.
    fn weight_name(&self) -> &str {
        self.options.weight.as_deref().unwrap_or("weight")
    }

    /// The attribute that holds the weights, if it is not `weight` of the edges themselves.
    fn weight_attribute(&self) -> Result<Option<&Declared>> {
        let of_edges: Vec<&Declared> = self.attributes.iter().filter(|attribute| attribute.of_edges).collect();
        let titles: Vec<&str> = of_edges.iter().map(|attribute| attribute.name.as_str()).collect();
        let place = match self.options.weight.as_deref() {
            None => usual_weight(&titles, &self.options)?,
            Some(asked) => titles.iter().position(|title| *title == asked),
        };
        match (place, self.options.weight.as_deref()) {
            (None, Some(asked)) if !matches!(asked, "none" | "weight") => Err(Error::Usage(format!(
                "--weight {asked}: there is no such attribute of edges; there are weight, {}",
                listed(&titles)
            ))),
            _ => Ok(place.map(|place| of_edges[place])),
        }
    }

    /// Attributes kept of edges and of vertices: all are declared before the first of them begins. Labels of vertices
    /// are kept if the first vertex has one.
    fn kept(&mut self, first: &Element) -> Result<&[Kept; 2]> {
        if self.kept.is_none() {
            let weights: Vec<String> =
                self.weight_attribute()?.map(|attribute| attribute.id.clone()).into_iter().collect();
            let label = || Declared {
                id: LABEL_ID.to_owned(),
                name: "label".to_owned(),
                kind: AttributeKind::String,
                default: None,
                of_edges: false,
                of_vertices: true,
            };
            let has_labels = first.name == "node" && first.get("label").is_some();
            let is_label_wanted = has_labels && self.options.attributes != Attributes::None;
            let all: Vec<Declared> = self.attributes.iter().cloned().chain(is_label_wanted.then(label)).collect();
            let (kept, note) = declared::choose(&all, &weights, &self.options, self.xml.path())?;
            (self.kept, self.note) = (Some(kept), note);
        }
        Ok(self.kept.as_ref().unwrap_or_else(|| unreachable!("it was chosen above")))
    }

    fn begin(&mut self, element: &Element) -> Result<()> {
        let line = self.xml.line();
        let wants_weights = self.options.weight.as_deref() != Some("none");
        match element.name.as_str() {
            "graph" if self.has_graph => {
                return Err(self.xml.bad("one graph", "a second one").advise("make a file of each graph"));
            }
            "graph" => {
                self.has_graph = true;
                self.is_dynamic = element.get("mode") == Some("dynamic");
                self.directions.usual = match element.get("defaultedgetype") {
                    Some("directed" | "mutual") => true,
                    Some("undirected") | None => false,
                    Some(other) => return Err(self.xml.bad("a direction as `defaultedgetype`", other)),
                };
            }
            "attributes" => {
                let class = element.get("class");
                (self.of_edges, self.of_vertices) = (class == Some("edge"), class == Some("node"));
            }
            "attribute" if self.is_declaring() => self.declare(element)?,
            "node" => {
                let id = self.xml.attribute(element, "id")?.to_owned();
                let mut values = self.kept(element)?[1].empty();
                if let (Some([_, kept]), Some(label)) = (&self.kept, element.get("label")) {
                    kept.take(LABEL_ID, label, &mut values, &mut self.open);
                }
                self.open.add(id.len(), OPEN, &self.xml)?;
                self.vertices.push(Vertex { line, id, values });
            }
            "edge" => {
                let values = self.kept(element)?[0].empty();
                if let Some(left) = self.edge.take() {
                    self.open.remove("", &left.values);
                }
                let end = |name| self.xml.attribute(element, name).map(str::to_owned);
                let own = element.get("weight").filter(|_| wants_weights && self.weight_name() == "weight");
                self.edge = Some(Edge {
                    line,
                    source: end("source")?,
                    target: end("target")?,
                    kind: element.get("type").map(str::to_owned),
                    weight: own.map(str::to_owned),
                    values,
                });
            }
            "attvalue" => self.value(element)?,
            "gexf" => {}
            "meta" => self.in_meta = true,
            other if !self.has_graph && !self.in_meta => {
                return Err(self.xml.bad("a GEXF document", &format!("an element `{other}`")));
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes an attribute that is declared.
    fn declare(&mut self, element: &Element) -> Result<()> {
        let id = self.xml.attribute(element, "id")?.to_owned();
        let title = element.get("title").unwrap_or(&id).to_owned();
        if self.attributes.len() == MOST_ATTRIBUTES {
            return Err(self
                .xml
                .bad(format!("at most {MOST_ATTRIBUTES} attributes"), &format!("a further attribute `{id}`")));
        }
        let kind = match element.get("type") {
            Some("integer" | "long" | "int" | "short" | "byte") => AttributeKind::Integer,
            Some("float" | "double") => AttributeKind::Real,
            Some("boolean") => AttributeKind::Boolean,
            _ => AttributeKind::String,
        };
        if self.kept.is_some() && self.options.attributes != Attributes::None {
            return Err(self.xml.bad("all attributes before the vertices and edges", "one behind them"));
        }
        self.declared.add(id.len() + title.len(), DECLARED, &self.xml)?;
        let (of_edges, of_vertices) = (self.of_edges, self.of_vertices);
        self.attributes.push(Declared { id, name: title, kind, default: None, of_edges, of_vertices });
        Ok(())
    }

    /// Whether attributes are declared here.
    fn is_declaring(&self) -> bool {
        (self.of_edges || self.of_vertices) && self.edge.is_none() && self.vertices.is_empty()
    }

    /// Takes the value of an attribute of the edge or vertex that has begun.
    fn value(&mut self, element: &Element) -> Result<()> {
        let (Some(key), Some(value)) = (element.get("for").or(element.get("id")), element.get("value")) else {
            return Ok(());
        };
        let wants_weights = self.options.weight.as_deref() != Some("none");
        let is_weight = wants_weights && self.weight_attribute()?.is_some_and(|attribute| attribute.id == key);
        let Some([of_edges, of_vertices]) = &self.kept else { return Ok(()) };
        match (&mut self.edge, self.vertices.last_mut()) {
            (Some(edge), _) if is_weight => edge.weight = edge.weight.take().or(Some(value.to_owned())),
            (Some(edge), _) => of_edges.take(key, value, &mut edge.values, &mut self.open),
            (None, Some(vertex)) => of_vertices.take(key, value, &mut vertex.values, &mut self.open),
            (None, None) => {}
        }
        self.open.check(OPEN, &self.xml)
    }

    fn end(&mut self, name: &str, text: &str, records: &mut Records) -> Result<()> {
        match name {
            "default" if self.is_declaring() => {
                self.declared.add(text.len(), DECLARED, &self.xml)?;
                if let Some(attribute) = self.attributes.last_mut() {
                    attribute.default = Some(text.trim().to_owned());
                }
            }
            "node" => {
                let Some(Vertex { line, id, mut values }) = self.vertices.pop() else { return Ok(()) };
                self.open.remove(&id, &values);
                self.kept.iter().for_each(|[_, of_vertices]| of_vertices.fill(&mut values));
                records.vertex(line, id.as_bytes(), &values);
            }
            "keywords" => self.has_string_ids |= text.trim() == STRING_IDS,
            "meta" => self.in_meta = false,
            "attributes" => (self.of_edges, self.of_vertices) = (false, false),
            "edge" => self.end_edge(records)?,
            _ => {}
        }
        Ok(())
    }

    fn end_edge(&mut self, records: &mut Records) -> Result<()> {
        let Some(mut edge) = self.edge.take() else { return Ok(()) };
        self.open.remove("", &edge.values);
        self.kept.iter().for_each(|[of_edges, _]| of_edges.fill(&mut edge.values));
        self.weighted |= edge.weight.is_some();
        let (own, is_mutual) = match edge.kind.as_deref() {
            None => (None, false),
            Some("directed") => (Some(true), false),
            Some("undirected") => (Some(false), false),
            Some("mutual") => (Some(true), true),
            Some(other) => return Err(self.xml.bad("`directed`, `undirected` or `mutual` as `type`", other)),
        };
        let ends = [edge.source.as_bytes(), edge.target.as_bytes()];
        let weight = edge.weight.as_ref().map(String::as_bytes);
        let place = (self.xml.path(), edge.line);
        self.directions.push(own, place, ends, weight, &edge.values, records)?;
        if is_mutual && ends[0] != ends[1] && self.directions.of_graph() {
            self.directions.push(own, place, [ends[1], ends[0]], weight, &edge.values, records)?;
        }
        Ok(())
    }
}

impl ReadRecords for Gexf {
    fn read(&mut self, records: &mut Records) -> Result<bool> {
        match self.xml.next()? {
            Item::Begin(element) => self.begin(&element)?,
            Item::End(name, text) => self.end(&name, &text, records)?,
            Item::Done if !self.has_graph => {
                return Err(Error::input(self.xml.path(), None, "a GEXF document with a graph", "none"));
            }
            Item::Done => return Ok(false),
        }
        Ok(true)
    }

    fn known(&self) -> Result<Known> {
        let attribute = self.weight_attribute()?;
        let is_weighted = self.options.weight.as_ref().map_or(self.weighted, |asked| asked != "none");
        let default = attribute.and_then(|attribute| attribute.default.as_ref());
        let default = default.and_then(|text| crate::text::number::weight(text.as_bytes())).unwrap_or(1.0);
        let weights = is_weighted.then(|| WeightRule { name: self.weight_name().to_owned(), default: Some(default) });
        let times = "The graph is dynamic: its times are not read.";
        let notes = self.is_dynamic.then(|| times.to_owned()).into_iter().chain(self.note.clone()).collect();
        let fields = |kept: &Kept| kept.fields.clone();
        Ok(Known {
            directed: Some(self.directions.of_graph()),
            weights,
            notes,
            attributes: self.kept.as_ref().map(|kept| kept.each_ref().map(fields)).unwrap_or_default(),
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
    fn what_comes_before_the_first_edge_is_read_twice() {
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
            ("</graph><graph>", "a second one"),
        ] {
            assert!(failure_of("gexf", &document("", content)).contains(expected), "{content}");
        }
        assert!(failure_of("gexf", b"<gexf><x/></gexf>").contains("a GEXF document"));
    }
}
