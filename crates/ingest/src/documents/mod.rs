//! Formats of nested records: XML, JSON, and the languages of graph tools.
//!
//! One thread reads a document from its beginning to its end, because a record may refer to an earlier one. JSON lines
//! are the exception: every line is a document of its own.

pub(crate) mod attributed;
pub(crate) mod characters;
pub(crate) mod dot;
pub(crate) mod gexf;
pub(crate) mod gml;
pub(crate) mod graphml;
pub(crate) mod json_lines;
pub(crate) mod kind_hint;
pub(crate) mod numbered;
pub(crate) mod pajek;
pub(crate) mod records;
pub(crate) mod xml;
