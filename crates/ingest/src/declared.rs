//! Attributes that a document declares before its vertices and edges: which of them are kept, and what they are.

use crate::attributes::{AttributeField, Attributes};
use crate::column_names::{listed, unread_columns};
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

/// The values of an edge or a vertex: one for each attribute that is kept.
pub(crate) type Values = Vec<Option<String>>;

/// The attributes that are kept, of edges or of vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    ids: Vec<String>,
    defaults: Values,
    pub(crate) fields: Vec<AttributeField>,
}

impl Kept {
    /// Values where nothing is said.
    pub(crate) fn defaults(&self) -> Values {
        self.defaults.clone()
    }

    /// Takes what is said of the attribute with an id, if it is kept.
    pub(crate) fn take(&self, id: &str, value: &str, values: &mut Values) {
        if let Some(place) = self.ids.iter().position(|own| own == id) {
            values[place] = Some(value.to_owned());
        }
    }

    fn add(&mut self, declared: &Declared) {
        // Of several with a name the first is kept, as a table has it.
        if self.fields.iter().all(|field| field.name != declared.name) {
            self.ids.push(declared.id.clone());
            self.defaults.push(declared.default.clone());
            self.fields.push(AttributeField { name: declared.name.clone(), kind: declared.kind.clone() });
        }
    }
}

/// Which attributes are kept, of edges and of vertices, and a note on those that are not; `weights` is the id of the
/// weights.
pub(crate) fn choose(
    declared: &[Declared],
    weights: Option<&str>,
    asked: &Attributes,
    path: &Path,
) -> Result<([Kept; 2], Option<String>)> {
    let mut kept = [Kept::default(), Kept::default()];
    let mut unread: Vec<String> = Vec::new();
    let is_weight = |one: &Declared| one.of_edges && Some(one.id.as_str()) == weights;
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
        let of = [one.of_edges && !is_weight(one), one.of_vertices];
        if !is_asked {
            if (of[0] || of[1]) && !unread.contains(&one.name) {
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
