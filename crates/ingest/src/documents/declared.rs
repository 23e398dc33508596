//! Attributes that a document declares before its vertices and edges: which of them are kept, and what they are.

use crate::batch::InputOptions;
use crate::column_names::{listed, unread_columns};
use crate::documents::xml::Xml;
use crate::tables::attributes::{AttributeField, Attributes};
use outcore_format::{AttributeKind, MAX_ATTRIBUTES};
use outcore_image::{Error, Result};
use std::path::Path;

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

/// Largest number of bytes of texts in all declarations of a document, and in all its open elements.
const MOST_HELD_BYTES: usize = 1 << 20;

/// The bytes of texts that are held.
#[derive(Debug, Default)]
pub(crate) struct Held(usize);

impl Held {
    /// Counts more; an error if that is too much of `what`.
    pub(crate) fn add(&mut self, bytes: usize, what: &str, xml: &Xml) -> Result<()> {
        self.0 += bytes;
        self.check(what, xml)
    }

    /// An error if what is held is too much of `what`.
    pub(crate) fn check(&self, what: &str, xml: &Xml) -> Result<()> {
        if self.0 <= MOST_HELD_BYTES {
            return Ok(());
        }
        Err(xml.bad(format!("{what} that take at most 1 MiB together"), &format!("{} bytes", self.0)))
    }

    /// Counts those of an element that has ended no more.
    pub(crate) fn remove(&mut self, id: &str, values: &Values) {
        self.0 = self.0.saturating_sub(id.len() + values.iter().flatten().map(String::len).sum::<usize>());
    }
}

/// The values of an edge or a vertex: one for each attribute that is kept.
pub(crate) type Values = Vec<Option<String>>;

/// The attributes that are kept, of edges or of vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// The places of attributes by the ids that documents give them: several, where a document has one of each type.
    ids: Vec<(String, usize)>,
    defaults: Values,
    pub(crate) fields: Vec<AttributeField>,
}

impl Kept {
    /// Values of which nothing is said yet.
    pub(crate) fn empty(&self) -> Values {
        vec![None; self.fields.len()]
    }

    /// Puts the defaults where nothing was said.
    pub(crate) fn fill(&self, values: &mut Values) {
        for (value, default) in values.iter_mut().zip(&self.defaults).filter(|(value, _)| value.is_none()) {
            value.clone_from(default);
        }
    }

    /// Takes what is said of the attribute with an id, if it is kept, and counts it.
    pub(crate) fn take(&self, id: &str, value: &str, values: &mut Values, held: &mut Held) {
        if let Some((_, place)) = self.ids.iter().find(|(own, _)| own == id) {
            let text = match (&self.fields[*place].kind, value.trim()) {
                // As XML writes them, too.
                (AttributeKind::Boolean, "1") => "true",
                (AttributeKind::Boolean, "0") => "false",
                _ => value,
            };
            let before = values[*place].replace(text.to_owned());
            held.0 = (held.0 + text.len()).saturating_sub(before.map_or(0, |before| before.len()));
        }
    }

    fn add(&mut self, declared: &Declared) {
        let found = self.fields.iter().position(|field| field.name == declared.name);
        let place = found.unwrap_or(self.fields.len());
        self.ids.push((declared.id.clone(), place));
        match found {
            None => {
                self.defaults.push(declared.default.clone());
                self.fields.push(AttributeField { name: declared.name.clone(), kind: declared.kind.clone() });
            }
            Some(place) => {
                let default = self.defaults[place].take();
                self.defaults[place] = default.or_else(|| declared.default.clone());
                let kind = &mut self.fields[place].kind;
                *kind = match (&*kind, &declared.kind) {
                    (one, other) if one == other => one.clone(),
                    (AttributeKind::Integer | AttributeKind::Real, AttributeKind::Integer | AttributeKind::Real) => {
                        AttributeKind::Real
                    }
                    _ => AttributeKind::String,
                };
            }
        }
    }
}

/// Which attributes are kept, of edges and of vertices, and a note on those that are not; `weights` are the ids of the
/// weights.
pub(crate) fn choose(
    declared: &[Declared],
    weights: &[String],
    options: &InputOptions,
    path: &Path,
) -> Result<([Kept; 2], Option<String>)> {
    let asked = &options.attributes;
    let mut kept = [Kept::default(), Kept::default()];
    let mut unread: Vec<String> = Vec::new();
    let is_weight = |one: &Declared| one.of_edges && weights.contains(&one.id);
    if let Attributes::Named(names) = asked {
        let free: Vec<&str> = declared.iter().filter(|one| !is_weight(one)).map(|one| one.name.as_str()).collect();
        if let Some(missing) = names.iter().find(|name| !free.contains(&name.as_str())) {
            return Err(Error::Usage(format!(
                "--attributes {missing}: there is no such attribute beside the weights; there are {}",
                if free.is_empty() { "none".to_owned() } else { listed(&free) }
            )));
        }
    }
    for one in declared {
        let is_asked = match asked {
            Attributes::None => false,
            Attributes::All => true,
            Attributes::Named(names) => names.contains(&one.name),
        };
        let is_compared = options.conditions.iter().any(|condition| condition.column == one.name);
        let of = [one.of_edges && !is_weight(one) && (is_asked || is_compared), one.of_vertices && is_asked];
        let is_unread = (one.of_edges && !is_weight(one) || one.of_vertices) && of == [false; 2];
        if is_unread {
            if !unread.contains(&one.name) {
                unread.push(one.name.clone());
            }
            continue;
        }
        kept.iter_mut().zip(of).filter(|(_, is_of)| *is_of).for_each(|(kept, _)| kept.add(one));
    }
    if let Some(many) = kept.iter().find(|kept| kept.fields.len() > MAX_ATTRIBUTES) {
        let found = format!("{} of them", many.fields.len());
        return Err(Error::input(path, None, format!("at most {MAX_ATTRIBUTES} attributes"), found)
            .advise("name those that you need: --attributes NAME,NAME"));
    }
    let may_keep = *asked == Attributes::None;
    let note = unread_columns(unread.into_iter(), None, may_keep).map(|note| note.replacen("Columns", "Attributes", 1));
    Ok((kept, note))
}
