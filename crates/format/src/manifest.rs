//! The manifest: description of an image in JSON, and the proof that it is complete.
//!
//! `manifest.json` is written last. It names no paths: every file of an image has a fixed name, so nothing in
//! a manifest can lead out of the image's directory.

use crate::attribute::{self, Attribute};
use crate::error::{Error, Result};
use crate::files::ImageFile;
use crate::id_type::IdType;
use crate::sealed::{self, FORMAT_NAME};
use crate::values::{MAX_VALUE_COLUMNS, ValueColumn, ValueDomain, ValueRule, ValueType};
use serde::de::{MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt::Formatter;

/// Vertices are 32-bit numbers in memory, and the last one stands for "none".
pub const MAX_VERTICES: u64 = u32::MAX as u64;

/// The manifest of an image of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`FORMAT_NAME`].
    pub format: String,
    /// The version of the format.
    pub format_version: u32,
    /// A number that depends on all imported data and ties the files of the image together, in hexadecimal.
    #[serde(with = "sealed::hexadecimal")]
    pub image_id: u64,
    /// The number of vertices.
    pub vertices: u64,
    /// The number of edges: an undirected edge counts once.
    pub edges: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether parallel edges were kept.
    pub parallel_edges: bool,
    /// For a rectangular matrix, the number of rows: the first vertices are the rows and the others the columns, and
    /// every edge leads from a row to a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Internal numbering of the vertices.
    pub order: Order,
    /// Storage of the user's ids.
    pub ids: IdColumn,
    /// The type of integer ids that the user brought, however they are stored. Images of older writers lack it; beside
    /// strings it is only in a matrix, where integers stand behind the prefixes of rows and columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_type: Option<IdType>,
    /// The values that edges have, one column after the other; the first is their weight, unless it is an attribute.
    pub values: Vec<ValueColumn>,
    /// Index of the column of values that is used as the weights: that of an attribute, if it was chosen when the image
    /// was opened.
    #[serde(skip)]
    pub weighed_by: Option<usize>,
    /// The attributes of the edges, whose columns of values follow those of the weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// The values that vertices have, one column after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vertex_values: Vec<ValueColumn>,
    /// The attributes of the vertices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vertex_attributes: Vec<Attribute>,
    /// The entries of the lists are complex: the first column of values holds real parts, the second imaginary ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complex: bool,
    /// The lists of out-neighbours (of neighbours, where edges have no direction).
    pub out_lists: ListFile,
    /// The lists of in-neighbours, where edges have a direction.
    pub in_lists: Option<ListFile>,
    /// Facts about the import.
    #[serde(serialize_with = "without_nulls")]
    pub import: ImportFacts,
}

/// Internal numbering of the vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// In the order of their ids.
    Input,
    /// By degree class, hubs first; within a class in the order of their ids.
    Degree,
    /// Vertices that are near in the graph are adjacent.
    Near,
}

impl Order {
    /// The name in the manifest.
    pub fn name(self) -> &'static str {
        ["input", "degree", "near"][self as usize]
    }
}

/// Storage of the user's ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum IdColumn {
    /// Vertex `v` has the id `first + v`: there is no column.
    Range {
        /// The id of vertex 0.
        first: i64,
    },
    /// Whole numbers from 0 on.
    U64 {
        /// The size of the column.
        pages: u64,
    },
    /// Whole numbers of either sign.
    I64 {
        /// The size of the column.
        pages: u64,
    },
    /// Strings in UTF-8.
    String {
        /// The size of the column of ends.
        end_pages: u64,
        /// The size of the text.
        text_pages: u64,
        /// The text in bytes.
        text_bytes: u64,
    },
}

/// A file of list pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListFile {
    /// Its size in pages.
    pub pages: u64,
    /// Number of neighbours of all lists.
    pub entries: u64,
    /// The longest list.
    pub max_degree: u64,
    /// The size of the degree column.
    pub degree_pages: u64,
    /// The size of the hub column.
    pub hub_pages: u64,
}

/// Facts about the import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportFacts {
    /// The format of the input.
    pub input_format: String,
    /// Edges read from the input.
    pub edges_read: u64,
    /// Duplicates: edges of the input that repeat another one.
    pub duplicates: u64,
    /// The policy that was applied to them.
    pub duplicates_policy: String,
    /// Edges from a vertex to itself in the input.
    pub self_loops: u64,
    /// Whether they were kept.
    pub self_loops_kept: bool,
    /// Edges from a vertex to itself in the image. This and what follows is not in images of older writers.
    #[serde(default)]
    pub self_loops_stored: Option<u64>,
    /// Vertices without any edge.
    pub isolated_vertices: u64,
    /// The compression of the input, if any.
    #[serde(default)]
    pub compression: Option<String>,
    /// The separator of the columns of a text file.
    #[serde(default)]
    pub separator: Option<String>,
    /// Whether the first line is a header.
    #[serde(default)]
    pub header: Option<bool>,
    /// The source column, if the format has columns.
    #[serde(default)]
    pub source: Option<String>,
    /// The target column.
    #[serde(default)]
    pub target: Option<String>,
    /// The option or part of the input that decided whether edges are directed.
    #[serde(default)]
    pub direction_from: Option<String>,
    /// Number of skipped comments.
    #[serde(default)]
    pub comments: Option<u64>,
    /// The first of them.
    #[serde(default)]
    pub first_comment: Option<String>,
    /// Number of files that were read, if the input was files.
    #[serde(default)]
    pub files_read: Option<u64>,
    /// The names of the first of them, and their edges where these are known, before conditions.
    #[serde(default)]
    pub first_files: Option<Vec<(String, Option<u64>)>>,
    /// When they were last written to before the import, in ISO 8601 and UTC.
    #[serde(default)]
    pub first_files_modified: Option<Vec<Option<String>>>,
    /// The paths and ids of the first images among the inputs.
    #[serde(default)]
    pub images_read: Option<Vec<(String, String)>>,
    /// Number of those without edges.
    #[serde(default)]
    pub files_without_edges: Option<u64>,
    /// The names of the first of these.
    #[serde(default)]
    pub first_files_without_edges: Option<Vec<String>>,
    /// Number of files in folders and patterns that were not read.
    #[serde(default)]
    pub files_not_read: Option<u64>,
    /// The names of the first of these.
    #[serde(default)]
    pub first_files_not_read: Option<Vec<String>>,
    /// Names of columns that were not read.
    #[serde(default)]
    pub columns_not_read: Option<Vec<String>>,
    /// Rows that were left out since an end has no value.
    #[serde(default)]
    pub rows_left_out: Option<u64>,
    /// Edges that were left out since they do not meet conditions.
    #[serde(default)]
    pub edges_left_out: Option<u64>,
    /// The first conditions that edges had to meet.
    #[serde(default)]
    pub conditions: Option<Vec<String>>,
    /// Other options of the import that were given, and their values as text.
    #[serde(default)]
    pub options: Option<Vec<(String, String)>>,
    /// The version of Outcore that made the image, and the commit of a release.
    #[serde(default)]
    pub outcore_version: Option<String>,
}

/// Writes the members that are known: reports have all of them.
fn without_nulls<S: Serializer>(facts: &ImportFacts, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let text = serde_json::to_string(facts).map_err(S::Error::custom)?;
    let Members(members) = serde_json::from_str(&text).map_err(S::Error::custom)?;
    serializer.collect_map(members.into_iter().filter(|(_, value)| !value.is_null()))
}

/// The members of an object, in their order.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Members;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Members, A::Error> {
        std::iter::from_fn(|| map.next_entry().transpose()).collect::<std::result::Result<_, _>>().map(Members)
    }
}

impl Manifest {
    /// The weights of the edges, if they have any: the column that was chosen, or their own.
    pub fn weights(&self) -> Option<&ValueColumn> {
        match self.weighed_by {
            Some(column) => self.values.get(column),
            None => self.own_weights(),
        }
    }

    /// The weights that are no attribute, if edges have such: the first column of values, unless it is an attribute.
    pub fn own_weights(&self) -> Option<&ValueColumn> {
        self.values.first().filter(|_| self.attributes.first().is_none_or(|attribute| attribute.column > 0))
    }

    /// The type of the user's ids, unless they are strings. Where the manifest has none it is that of their storage.
    pub fn integer_ids(&self) -> Option<IdType> {
        match self.ids {
            IdColumn::String { .. } => None,
            IdColumn::U64 { .. } => Some(self.id_type.unwrap_or(IdType::UInt64)),
            IdColumn::Range { .. } | IdColumn::I64 { .. } => Some(self.id_type.unwrap_or(IdType::Int64)),
        }
    }

    /// The name of the type of the user's ids.
    pub fn id_type_name(&self) -> &'static str {
        self.integer_ids().map_or("string", IdType::name)
    }

    /// The first column of values of the weights, if there are any.
    pub fn first_weight_column(&self) -> usize {
        self.weighed_by.unwrap_or(0)
    }

    /// Number of columns of values of the weights: two if they are complex.
    pub fn weight_columns(&self) -> usize {
        if self.complex { 2 } else { self.weights().iter().len() }
    }

    /// Whether the in-lists store a column of values too: if edges are directed, and the column does not belong to an
    /// attribute that algorithms cannot use.
    pub fn has_in_values(&self, column: usize) -> bool {
        let of_attribute = self.attributes.iter().find(|attribute| attribute.has_column(column));
        self.directed && of_attribute.is_none_or(|attribute| attribute.counts)
    }

    /// The type of the values in a file, and their rule; nothing if it is no column of values of the image.
    #[doc(hidden)]
    pub fn domain(&self, file: ImageFile) -> Option<ValueDomain> {
        let (column, place, attributes) = match (file.value_column(), file.vertex_value_column()) {
            (Some(place), _) => (self.values.get(place)?, place, &self.attributes),
            (_, Some(place)) => (self.vertex_values.get(place)?, place, &self.vertex_attributes),
            _ => return None,
        };
        let rule = match attributes.iter().find(|attribute| attribute.has_column(place)) {
            None => ValueRule::Number,
            Some(attribute) if attribute.missing == Some(place) => ValueRule::Mark,
            Some(attribute) if attribute.counts => ValueRule::Finite,
            Some(_) => ValueRule::Any,
        };
        Some(ValueDomain { kind: column.kind, rule })
    }

    /// The manifest as bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        sealed::to_bytes(self)
    }

    /// Advice on a manifest that seems intact, but is of another version of the format, or of an array. There is no
    /// version 0.
    pub fn other_version(bytes: &[u8]) -> Option<String> {
        sealed::other_version(bytes, FORMAT_NAME)
    }

    /// Parses a manifest and checks its consistency.
    ///
    /// # Errors
    /// Text that is not a manifest, that of an array, another version, counts that contradict each other.
    #[doc(hidden)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let manifest: Manifest = sealed::from_bytes(bytes, FORMAT_NAME)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<()> {
        let bad = |expected: &str, found: u64| Err(Error::new(0, expected, found.to_string()));
        if self.vertices > MAX_VERTICES {
            return bad(&format!("at most {MAX_VERTICES} vertices"), self.vertices);
        }
        if self.directed != self.in_lists.is_some() {
            let found = match self.directed {
                true => "edges with a direction and no in-lists",
                false => "edges without direction and in-lists",
            };
            return Err(Error::new(0, "in-lists exactly where edges have a direction", found));
        }
        if let Some(rows) = self.rows.filter(|&rows| rows > self.vertices || !self.directed) {
            return bad(&format!("rows among {} vertices with directed edges", self.vertices), rows);
        }
        self.check_id_type()?;
        if self.values.len() > MAX_VALUE_COLUMNS {
            return bad(&format!("at most {MAX_VALUE_COLUMNS} columns of values"), self.values.len() as u64);
        }
        let are_real = self.values.len() >= 2 && self.values[..2].iter().all(|column| column.kind == ValueType::F64);
        if self.complex && !are_real {
            let kinds: Vec<_> = self.values.iter().take(2).map(|column| column.kind.name()).collect();
            let expected = "two columns of real numbers of 64 bits for complex values";
            return Err(Error::new(0, expected, format!("columns of the types [{}]", kinds.join(", "))));
        }
        attribute::check(&self.attributes, &self.values, self.weight_columns())?;
        attribute::check(&self.vertex_attributes, &self.vertex_values, 0)?;
        for (attributes, of_vertices) in [(&self.attributes, false), (&self.vertex_attributes, true)] {
            let names: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
            attribute::check_attribute_names(&names, of_vertices)?;
        }
        let edges = self.values.iter().enumerate().filter(|(place, _)| !self.has_in_values(*place));
        let mut beside_none = edges.map(|(_, column)| column).chain(&self.vertex_values);
        if let Some(column) = beside_none.find(|column| column.in_pages > 0) {
            let expected = format!("no pages of `{}` beside in-lists", column.name);
            return bad(&expected, column.in_pages);
        }
        let entries = self.out_lists.entries;
        if self.in_lists.is_some_and(|lists| lists.entries != entries) {
            return bad(&format!("{entries} entries in the in-lists"), self.in_lists.map_or(0, |lists| lists.entries));
        }
        let edges_fit = if self.directed {
            entries == self.edges
        } else {
            entries >= self.edges && entries <= self.edges.saturating_mul(2)
        };
        if !edges_fit {
            return bad(&format!("entries that fit {} edges", self.edges), entries);
        }
        // A page has room for at most this many lists or neighbours, so sizes bound counts before anything is
        // allocated.
        let most = crate::list::MAX_NEIGHBOURS as u64;
        for lists in std::iter::once(&self.out_lists).chain(&self.in_lists) {
            if lists.pages.saturating_mul(most) < lists.entries.max(self.vertices) {
                return bad("enough pages for the lists", lists.pages);
            }
            // Buffers have the length of the longest list in the manifest.
            let longest = if self.parallel_edges { lists.entries } else { lists.entries.min(self.vertices) };
            if lists.max_degree > longest {
                return bad(&format!("a greatest degree of at most {longest}"), lists.max_degree);
            }
        }
        Ok(())
    }

    /// Refuses a type of integers for strings that no prefix makes of them, and a range of ids beyond its type.
    fn check_id_type(&self) -> Result<()> {
        match (&self.ids, self.integer_ids(), self.id_type) {
            (IdColumn::String { .. }, _, Some(kind)) if self.rows.is_none() => {
                Err(Error::new(0, "no type of integers for ids that are strings", kind.name()))
            }
            (&IdColumn::Range { first }, Some(kind), _) => {
                let last = i128::from(first) + i128::from(self.vertices.max(1)) - 1;
                if kind.holds(first.into(), last) {
                    return Ok(());
                }
                Err(Error::new(0, format!("ids of type {}", kind.name()), format!("{first} to {last}")))
            }
            _ => Ok(()),
        }
    }
}
