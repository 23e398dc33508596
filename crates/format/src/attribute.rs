//! Attributes: named columns of a table that an image stores beside its edges or vertices.
//!
//! An attribute is one column of values, a number for each edge or vertex. Optional parts are a column that marks
//! missing values, and the strings that the numbers stand for.

use crate::error::{Error, Result};
use crate::values::{ValueColumn, ValueType};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Largest number of attributes of the edges, or of the vertices, of an image.
pub const MAX_ATTRIBUTES: usize = 100;
/// The longest text of an attribute's strings, in bytes: an Arrow array of them has offsets of 31 bits.
pub const MAX_STRING_BYTES: u64 = i32::MAX as u64;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name in the input.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: AttributeKind,
    /// Index of its column of values.
    pub column: usize,
    /// Whether algorithms may use it as a weight: every edge has a number, which is finite. Then lists of both
    /// directions store its values. False for attributes of vertices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
    /// Index of the column that is 1 where the value is missing, if any is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<usize>,
    /// The strings that the values index, sorted by their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strings: Option<Strings>,
}

impl Attribute {
    /// Whether a column of values belongs to it.
    pub fn has_column(&self, column: usize) -> bool {
        self.column == column || self.missing == Some(column)
    }
}

/// The type of an attribute's values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeKind {
    /// Whole numbers of at most 64 bits with a sign.
    Integer,
    /// Real numbers.
    Real,
    /// True, 1, or false, 0.
    Boolean,
    /// Strings in UTF-8.
    String,
    /// Days since 1 January 1970.
    Date,
    /// Times since 1 January 1970.
    Timestamp {
        /// Their unit.
        unit: TimeUnit,
        /// The time zone for display, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        zone: Option<String>,
    },
}

/// The unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Thousandths of seconds.
    #[serde(rename = "ms")]
    Millisecond,
    /// Millionths of seconds.
    #[serde(rename = "us")]
    Microsecond,
    /// Thousand-millionths of seconds.
    #[serde(rename = "ns")]
    Nanosecond,
}

impl AttributeKind {
    /// The name in the output of `outcore info`.
    pub fn name(&self) -> &'static str {
        match self {
            AttributeKind::Integer => "integer",
            AttributeKind::Real => "real",
            AttributeKind::Boolean => "boolean",
            AttributeKind::String => "string",
            AttributeKind::Date => "date",
            AttributeKind::Timestamp { .. } => "timestamp",
        }
    }

    /// Whether values are plain numbers rather than codes of something else.
    pub fn is_number(&self) -> bool {
        matches!(self, AttributeKind::Integer | AttributeKind::Real)
    }

    /// Whether values may be of this type.
    fn fits(&self, kind: ValueType) -> bool {
        match self {
            AttributeKind::Real => kind.is_real(),
            AttributeKind::Boolean => kind == ValueType::U8,
            _ => kind.weight_kind().is_some() && !kind.is_real(),
        }
    }
}

/// The strings of an attribute: the length of each, in four bytes, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strings {
    /// Number of strings.
    pub count: u64,
    /// Size of all strings, without their lengths.
    pub text_bytes: u64,
    /// The size of the file that holds them.
    pub pages: u64,
}

impl Strings {
    /// The size of the text with the lengths.
    pub fn file_bytes(&self) -> u64 {
        self.text_bytes.saturating_add(self.count.saturating_mul(4))
    }
}

/// Checks that attributes, all of the edges or all of the vertices, have names, and that their columns have different
/// ones where they are read. There `edge.` stands before a name that another column has already, and `vertex.` before
/// `vertex`: a name that this would make of another one is reserved.
///
/// # Errors
/// An empty name, one that is there twice, a reserved one.
pub fn check_attribute_names(names: &[&str], of_vertices: bool) -> Result<()> {
    let bad = |expected: &str, found: String| Err(Error::new(0, expected, found));
    let all: HashSet<&str> = names.iter().copied().collect();
    if all.contains("") {
        return bad("attributes with names", "one without".to_owned());
    }
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(**name)) {
        return bad("attributes with different names", format!("`{twice}` twice"));
    }
    let prefix = if of_vertices { "vertex." } else { "edge." };
    let is_renamed = |name: &str| (!of_vertices || name == "vertex") && all.contains(name);
    match names.iter().find(|name| name.strip_prefix(prefix).is_some_and(is_renamed)) {
        None => Ok(()),
        Some(name) => {
            let found = format!("`{name}` beside `{}`", &name[prefix.len()..]);
            bad("attributes with names that are not reserved", found)
        }
    }
}

/// Checks that attributes have columns of their own, from column `first` on.
///
/// # Errors
/// Columns that are missing, or are there twice; strings beside numbers.
pub(crate) fn check(attributes: &[Attribute], values: &[ValueColumn], first: usize) -> Result<()> {
    let bad = |expected: &str, found: &str| Err(Error::new(0, expected, found.to_owned()));
    if attributes.len() > MAX_ATTRIBUTES {
        return bad(&format!("at most {MAX_ATTRIBUTES} attributes"), &attributes.len().to_string());
    }
    let mut next = first;
    for attribute in attributes {
        if attribute.column != next {
            return bad(&format!("column {next} of the values for an attribute"), &attribute.column.to_string());
        }
        if let Some(missing) = attribute.missing.filter(|&missing| missing != next + 1) {
            return bad(&format!("column {} for what is missing in an attribute", next + 1), &missing.to_string());
        }
        next += 1 + usize::from(attribute.missing.is_some());
        let kinds = values.get(attribute.column..next).unwrap_or_default();
        let fit = kinds.first().is_some_and(|column| attribute.kind.fits(column.kind))
            && kinds.len() == next - attribute.column
            && kinds[1..].iter().all(|column| column.kind == ValueType::U8);
        if !fit {
            return bad("columns of values that fit an attribute", attribute.kind.name());
        }
        if attribute.counts && (!attribute.kind.is_number() || attribute.missing.is_some()) {
            let missing = if attribute.missing.is_some() { ", some of them missing" } else { "" };
            let found = format!("{}{missing}", attribute.kind.name());
            return bad("numbers for all edges in an attribute that algorithms count by", &found);
        }
        if attribute.strings.is_some() != (attribute.kind == AttributeKind::String) {
            let strings = if attribute.strings.is_some() { "strings" } else { "no strings" };
            let found = format!("{strings} for one of type {}", attribute.kind.name());
            return bad("strings for attributes that are strings, and for no others", &found);
        }
        // Sizes bound counts before anything is allocated.
        let most_bytes = |strings: &Strings| strings.pages.saturating_mul(crate::text::TEXT_BYTES as u64);
        let too_long = |strings: &Strings| strings.text_bytes > MAX_STRING_BYTES;
        let is_bad = |strings: &&Strings| strings.file_bytes() > most_bytes(strings) || too_long(strings);
        if let Some(strings) = attribute.strings.as_ref().filter(is_bad) {
            let found =
                format!("{} pages for {} strings of {} bytes", strings.pages, strings.count, strings.text_bytes);
            return bad("pages for all strings of an attribute", &found);
        }
    }
    match next == values.len() {
        true => Ok(()),
        false => bad(&format!("{next} columns of values"), &values.len().to_string()),
    }
}
