//! XML documents whose elements `node` and `edge` have attributes that are declared before them: GraphML and GEXF.
//!
//! [`Document`] holds the declarations, the open elements and the attributes that the import keeps. The reader of a
//! format passes it the declarations, values and directions that the elements of that format state. Memory is bounded:
//! the texts of all declarations take at most 1 MiB, and so do the values of all open elements.

use crate::batch::InputOptions;
use crate::column_names::{Unread, listed};
use crate::documents::records::{Directions, Known, Records, WeightRule};
use crate::documents::xml::{Element, IsOwn, Item, Xml};
use crate::input::file::Stream;
use crate::tables::attributes::{AttributeField, Attributes};
use outcore_format::{AttributeKind, MAX_ATTRIBUTES};
use outcore_image::{Error, Result};
use std::path::Path;

const MOST_DECLARED: usize = 4096;
/// Largest size of the texts of all declarations of a document, and of the values of all its open elements.
const MOST_TEXT_BYTES: usize = 1 << 20;

/// Words of a format, for messages.
pub(crate) struct Terms {
    pub(crate) format: &'static str,
    pub(crate) declaration: &'static str,
    pub(crate) declarations: &'static str,
    pub(crate) open: &'static str,
    /// Whether a namespace is the format's own.
    pub(crate) is_own: IsOwn,
}

/// An attribute as it is declared: of edges, of vertices, or of both.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: AttributeKind,
    pub(crate) default: Option<String>,
    pub(crate) of_edges: bool,
    pub(crate) of_vertices: bool,
}

/// The values of an edge or a vertex: one for each attribute that is kept.
type Values = Vec<Option<String>>;

fn bytes_of(values: &Values) -> usize {
    values.iter().flatten().map(String::len).sum::<usize>() + size_of_val(values.as_slice())
}

pub(crate) struct Open {
    line: u64,
    /// The id of a vertex, or of the source of an edge.
    id: String,
    /// The id of the target of an edge.
    target: Option<String>,
    pub(crate) directed: Option<bool>,
    /// The edge stands for one in each direction.
    pub(crate) is_mutual: bool,
    pub(crate) weight: Option<String>,
    values: Values,
}

/// A document that is read from its beginning to its end.
pub(crate) struct Document {
    pub(crate) xml: Xml,
    pub(crate) options: InputOptions,
    terms: Terms,
    pub(crate) declared: Vec<Declared>,
    pub(crate) directions: Directions,
    has_graph: bool,
    pub(crate) has_string_ids: bool,
    /// The attributes to keep are chosen, since a vertex or an edge has begun, or may begin.
    pub(crate) is_chosen: bool,
    chosen: [ChosenAttributes; 2],
    note: Option<String>,
    /// Ids of the attributes of the weights: several, where there is one of each type.
    pub(crate) weight_ids: Vec<String>,
    pub(crate) has_weights: bool,
    /// Open edges and vertices, each within the one before it.
    pub(crate) open: Vec<Open>,
    /// Size of the texts of declarations, and of the values of open elements.
    declared_bytes: usize,
    open_bytes: usize,
}

impl Document {
    pub(crate) fn new(stream: Stream, options: &InputOptions, terms: Terms) -> Self {
        Document {
            xml: Xml::new(stream, terms.is_own),
            options: options.clone(),
            terms,
            declared: Vec::new(),
            directions: Directions { usual: false, requested: options.directed },
            has_graph: false,
            has_string_ids: false,
            is_chosen: false,
            chosen: Default::default(),
            note: None,
            weight_ids: Vec::new(),
            has_weights: false,
            open: Vec::new(),
            declared_bytes: 0,
            open_bytes: 0,
        }
    }

    /// The next beginning or end of an element; the end of the document only behind a graph.
    pub(crate) fn next(&mut self) -> Result<Item> {
        match self.xml.next()? {
            Item::Done if !self.has_graph => {
                let expected = format!("a {} document with a graph", self.terms.format);
                Err(Error::input(self.xml.path(), None, expected, "no element `graph`"))
            }
            item => Ok(item),
        }
    }

    /// Begins the graph, whose edges have this direction unless they state their own.
    pub(crate) fn begin_graph(&mut self, is_directed: Option<bool>) -> Result<()> {
        if self.has_graph {
            return Err(self.xml.bad("one graph", "a second element `graph`").advise("make a file of each graph"));
        }
        self.has_graph = true;
        self.directions.usual = is_directed.unwrap_or(false);
        Ok(())
    }

    /// Refuses an unknown element before the graph, since the document is of another format.
    pub(crate) fn check_format(&self, name: &str) -> Result<()> {
        if self.has_graph {
            return Ok(());
        }
        Err(self.xml.bad(format!("a {} document", self.terms.format), &format!("an element `{name}`")))
    }

    pub(crate) fn declare(&mut self, attribute: Declared) -> Result<()> {
        if self.declared.len() == MOST_DECLARED {
            let (word, id) = (self.terms.declaration, &attribute.id);
            return Err(self.xml.bad(format!("at most {MOST_DECLARED} {word}s"), &format!("a further {word} `{id}`")));
        }
        self.declared_bytes += attribute.id.len() + attribute.name.len();
        self.declared.push(attribute);
        self.check_bytes(self.declared_bytes, self.terms.declarations)
    }

    /// Sets the default of the attribute that was declared last.
    pub(crate) fn set_default(&mut self, text: &str) -> Result<()> {
        self.declared_bytes += text.len();
        self.declared.last_mut().into_iter().for_each(|attribute| attribute.default = Some(text.to_owned()));
        self.check_bytes(self.declared_bytes, self.terms.declarations)
    }

    fn check_bytes(&self, bytes: usize, texts: &str) -> Result<()> {
        if bytes <= MOST_TEXT_BYTES {
            return Ok(());
        }
        Err(self.xml.bad(format!("{texts} that take at most 1 MiB together"), &format!("{bytes} bytes")))
    }

    /// Chooses the attributes to keep, since all are declared; the attributes of `weight_ids` are the weights.
    pub(crate) fn choose(&mut self, weight_ids: Vec<String>) -> Result<()> {
        (self.chosen, self.note) = choose(&self.declared, &weight_ids, &self.options, self.xml.path())?;
        (self.weight_ids, self.is_chosen) = (weight_ids, true);
        Ok(())
    }

    /// Begins a vertex, whose id is an attribute of its element, or an edge with an attribute for its target, too.
    pub(crate) fn begin(&mut self, element: &Element, id: &str, target: Option<&str>) -> Result<&mut Open> {
        let id = self.xml.attribute(element, id)?.to_owned();
        let target = target.map(|target| self.xml.attribute(element, target).map(str::to_owned)).transpose()?;
        let values = vec![None; self.chosen[usize::from(target.is_none())].fields.len()];
        self.open_bytes += bytes_of(&values);
        self.check_bytes(self.open_bytes, self.terms.open)?;
        let line = self.xml.line();
        self.open.push(Open { line, id, target, directed: None, is_mutual: false, weight: None, values });
        Ok(self.open.last_mut().unwrap_or_else(|| unreachable!("it was pushed above")))
    }

    /// The weight of the innermost open element, if it is an edge and the attribute with this id holds weights.
    pub(crate) fn weight_mut(&mut self, id: &str) -> Option<&mut Option<String>> {
        let is_weight = self.weight_ids.iter().any(|own| own == id);
        self.open.last_mut().filter(|open| is_weight && open.target.is_some()).map(|edge| &mut edge.weight)
    }

    /// Sets the value of an attribute of the innermost open element, if it is kept.
    pub(crate) fn set_value(&mut self, id: &str, text: &str) -> Result<()> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        self.chosen[usize::from(open.target.is_none())].set(id, text, &mut open.values, &mut self.open_bytes);
        self.check_bytes(self.open_bytes, self.terms.open)
    }

    pub(crate) fn end(&mut self, records: &mut Records) -> Result<()> {
        let Some(Open { line, id, target, directed, is_mutual, weight, mut values }) = self.open.pop() else {
            return Ok(());
        };
        self.open_bytes -= bytes_of(&values);
        self.chosen[usize::from(target.is_none())].fill(&mut values);
        let Some(target) = target else {
            records.vertex(line, id.as_bytes(), &values);
            return Ok(());
        };
        self.has_weights |= weight.is_some();
        let (weight, ends) = (weight.as_ref().map(String::as_bytes), [id.as_bytes(), target.as_bytes()]);
        let mut push = |ends| self.directions.push(directed, (self.xml.path(), line), ends, weight, &values, records);
        push(ends)?;
        if is_mutual && ends[0] != ends[1] && self.directions.of_graph() {
            push([ends[1], ends[0]])?;
        }
        Ok(())
    }

    pub(crate) fn known(&self, weights: Option<WeightRule>) -> Known {
        Known {
            directed: Some(self.directions.of_graph()),
            weights,
            notes: self.note.clone().into_iter().collect(),
            attributes: self.chosen.each_ref().map(|one| one.fields.clone()),
            strings: self.has_string_ids.then_some(true),
            ..Known::default()
        }
    }
}

#[derive(Default)]
struct ChosenAttributes {
    /// The places of attributes by the ids that documents give them: several, where a document has one of each type.
    ids: Vec<(String, usize)>,
    defaults: Values,
    fields: Vec<AttributeField>,
}

impl ChosenAttributes {
    /// Puts the defaults where no value is set.
    fn fill(&self, values: &mut Values) {
        for (value, default) in values.iter_mut().zip(&self.defaults).filter(|(value, _)| value.is_none()) {
            value.clone_from(default);
        }
    }

    /// Sets the value of the attribute with an id, if it is kept, and counts its bytes instead of the replaced ones.
    fn set(&self, id: &str, value: &str, values: &mut Values, bytes: &mut usize) {
        let Some((_, place)) = self.ids.iter().find(|(own, _)| own == id) else { return };
        let text = match (&self.fields[*place].kind, value.trim()) {
            // As XML writes them, too.
            (AttributeKind::Boolean, "1") => "true",
            (AttributeKind::Boolean, "0") => "false",
            _ => value,
        };
        *bytes += text.len();
        *bytes -= values[*place].replace(text.to_owned()).map_or(0, |replaced| replaced.len());
    }

    fn add(&mut self, declared: &Declared) {
        let place = self.fields.iter().position(|field| field.name == declared.name).unwrap_or(self.fields.len());
        self.ids.push((declared.id.clone(), place));
        let Some(field) = self.fields.get_mut(place) else {
            self.defaults.push(declared.default.clone());
            self.fields.push(AttributeField { name: declared.name.clone(), kind: declared.kind.clone() });
            return;
        };
        let default = &mut self.defaults[place];
        *default = default.take().or_else(|| declared.default.clone());
        field.kind = match (&field.kind, &declared.kind) {
            (one, other) if one == other => one.clone(),
            (AttributeKind::Integer | AttributeKind::Real, AttributeKind::Integer | AttributeKind::Real) => {
                AttributeKind::Real
            }
            _ => AttributeKind::String,
        };
    }
}

/// The attributes to keep, of edges and of vertices, and a note on the others; `weights` are the ids of the weights.
fn choose(
    declared: &[Declared],
    weights: &[String],
    options: &InputOptions,
    path: &Path,
) -> Result<([ChosenAttributes; 2], Option<String>)> {
    let wanted = &options.attributes;
    let mut chosen = <[ChosenAttributes; 2]>::default();
    let mut unread: Vec<String> = Vec::new();
    let is_weight = |one: &Declared| one.of_edges && weights.contains(&one.id);
    if let Attributes::Named(names) = wanted {
        let free: Vec<&str> = declared.iter().filter(|one| !is_weight(one)).map(|one| one.name.as_str()).collect();
        if let Some(missing) = names.iter().find(|name| !free.contains(&name.as_str())) {
            let expected = format!("an attribute `{missing}` beside the weights, as --attributes says");
            let free = if free.is_empty() { "none".to_owned() } else { listed(&free) };
            return Err(Error::input(path, None, expected, "no such attribute").advise(format!("there are {free}")));
        }
    }
    let mut declared: Vec<&Declared> = declared.iter().collect();
    if let Attributes::Named(names) = wanted {
        declared.sort_by_key(|one| names.iter().position(|name| *name == one.name).unwrap_or(usize::MAX));
    }
    for one in declared {
        let is_asked = match wanted {
            Attributes::None => false,
            Attributes::All => !one.name.is_empty(),
            Attributes::Named(names) => names.contains(&one.name),
        };
        let is_compared = options.conditions.iter().any(|condition| condition.column == one.name);
        let of = [one.of_edges && !is_weight(one) && (is_asked || is_compared), one.of_vertices && is_asked];
        let is_unread = (one.of_edges && !is_weight(one) || one.of_vertices) && of == [false; 2];
        if is_unread && !unread.contains(&one.name) {
            unread.push(one.name.clone());
        }
        chosen.iter_mut().zip(of).filter(|(_, is_of)| *is_of).for_each(|(chosen, _)| chosen.add(one));
    }
    if let Some(many) = chosen.iter().find(|one| one.fields.len() > MAX_ATTRIBUTES) {
        let found = format!("{} attributes", many.fields.len());
        return Err(Error::input(path, None, format!("at most {MAX_ATTRIBUTES} attributes"), found)
            .advise("name those that you need: --attributes NAME,NAME"));
    }
    let may_keep = *wanted == Attributes::None;
    let note =
        Unread { names: unread, weights: None, may_keep }.note().map(|note| note.replacen("Columns", "Attributes", 1));
    Ok((chosen, note))
}
