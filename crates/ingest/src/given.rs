//! The request of an import, as its image records it: conditions, options, and images among the inputs.

use crate::batch::{IdKind, InputOptions, Nulls};
use crate::tables::attributes::Attributes;
use outcore_declare::Choice;
use std::path::PathBuf;

/// The request of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Given {
    /// Conditions that edges must meet, as text.
    pub conditions: Vec<String>,
    /// Options that are not the default, by their names, and their values as text.
    pub options: Vec<(String, String)>,
    /// Images among the inputs, and their ids.
    pub images: Vec<(PathBuf, u64)>,
}

impl Given {
    /// Records an option, in place of an earlier one of that name.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.options.retain(|(other, _)| other != name);
        self.options.push((name.to_owned(), value.into()));
    }

    /// Records an option that is a flag, if it is on.
    pub fn set_flag(&mut self, name: &str, is_on: bool) {
        if is_on {
            self.set(name, "true");
        }
    }

    /// Records options for reading an input.
    pub fn set_all(&mut self, options: &InputOptions) {
        self.conditions = options.conditions.iter().map(ToString::to_string).collect();
        let attributes = match &options.attributes {
            Attributes::None => None,
            Attributes::All => Some("all".to_owned()),
            Attributes::Named(names) => Some(names.join(",")),
        };
        let given = [
            ("format", options.format.clone()),
            ("source", options.source.clone()),
            ("target", options.target.clone()),
            ("weight", options.weight.clone()),
            ("attributes", attributes),
            ("delimiter", options.delimiter.clone()),
            ("header", options.header.map(|header| header.to_string())),
            ("comment", options.comment.clone()),
            ("ids", (options.ids != IdKind::default()).then(|| options.ids.name().to_owned())),
            ("nulls", (options.nulls != Nulls::default()).then(|| options.nulls.name().to_owned())),
            ("bipartite", options.bipartite.as_ref().map(|prefixes| prefixes.join(","))),
            ("as", options.is_matrix.then(|| "matrix".to_owned())),
            ("directed", options.directed.map(|directed| directed.to_string())),
        ];
        given
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .for_each(|(name, value)| self.set(name, value));
        self.set_flag("allow_repeated", options.allow_repeated);
    }

    /// Adds the request of another input.
    pub(crate) fn extend(&mut self, other: &Given) {
        other.options.iter().for_each(|(name, value)| self.set(name, value.clone()));
        self.images.extend_from_slice(&other.images);
    }
}
