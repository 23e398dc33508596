//! Facts of an image, in one flat object for people and programs: `outcore info`, and `Graph.info()` in Python.

use crate::engine::graph::Graph;
use outcore_format::Attribute;
use serde::Serialize;

/// Facts of an image. Serialised, the names of the fields are the names of the facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GraphInfo {
    /// The number of vertices.
    pub vertices: u64,
    /// The number of edges: one without direction counts once.
    pub edges: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether parallel edges were kept.
    pub parallel_edges: bool,
    /// Number of rows of a rectangular matrix, if it is one.
    pub rows: Option<u64>,
    /// Number of its columns.
    pub columns: Option<u64>,
    /// The name of the weights, if there are any.
    pub weights: Option<String>,
    /// Their type as it is stored: `i8` to `i64`, `u8` to `u64`, `f32` or `f64`; or `complex`, two `f64`.
    pub weight_type: Option<&'static str>,
    /// The names of the attributes of edges, and what they are.
    pub attributes: Vec<(String, &'static str)>,
    /// The names of the attributes of vertices, and what they are.
    pub vertex_attributes: Vec<(String, &'static str)>,
    /// The type of the users' ids: `string`, or that of integers, such as `int64`.
    pub ids: &'static str,
    /// Internal order of vertices: `input`, `degree` or `near`.
    pub order: &'static str,
    /// The longest list of out-neighbours.
    pub max_out_degree: u64,
    /// The longest list of in-neighbours.
    pub max_in_degree: u64,
    /// Vertices without any edge.
    pub isolated_vertices: u64,
    /// Edges from a vertex to itself; those of the input in images of older writers.
    pub self_loops: u64,
    /// Whether they were kept.
    pub self_loops_kept: bool,
    /// Edges of the input with the same ends as an earlier one.
    pub duplicates: u64,
    /// The policy for duplicates at the import.
    pub duplicates_policy: String,
    /// Edges read from the input.
    pub edges_read: u64,
    /// The format of the input.
    pub input_format: String,
    /// Its compression, if any.
    pub compression: Option<String>,
    /// Separator of the columns of a text file.
    pub separator: Option<String>,
    /// Whether its first line named them.
    pub header: Option<bool>,
    /// The column that was taken as source, where the format has columns.
    pub source: Option<String>,
    /// The column that was taken as target.
    pub target: Option<String>,
    /// The origin of the choice whether edges have a direction: the user, the input, its format, or the default.
    pub direction_from: Option<String>,
    /// Comments that were skipped.
    pub comments: Option<u64>,
    /// The first of them.
    pub first_comment: Option<String>,
    /// Number of files that were read, if the input was files.
    pub files_read: Option<u64>,
    /// The names of the first of them, and their edges.
    pub first_files: Option<Vec<(String, Option<u64>)>>,
    /// When they were last written to before the import, in ISO 8601 and UTC.
    pub first_files_modified: Option<Vec<Option<String>>>,
    /// The paths and ids of the first images among the inputs.
    pub images_read: Option<Vec<(String, String)>>,
    /// Number of those without edges.
    pub files_without_edges: Option<u64>,
    /// The names of the first of these.
    pub first_files_without_edges: Option<Vec<String>>,
    /// Number of files in folders and patterns that were not read.
    pub files_not_read: Option<u64>,
    /// The names of the first of these.
    pub first_files_not_read: Option<Vec<String>>,
    /// Names of columns that were not read.
    pub columns_not_read: Option<Vec<String>>,
    /// Rows that were left out since an end has no value.
    pub rows_left_out: Option<u64>,
    /// Edges that were left out since they do not meet conditions.
    pub edges_left_out: Option<u64>,
    /// The first conditions that edges had to meet.
    pub conditions: Option<Vec<String>>,
    /// Other options of the import that were given, and their values as text.
    pub options: Option<Vec<(String, String)>>,
    /// The version of Outcore that made the image, and the commit of a release.
    pub outcore_version: Option<String>,
    /// Entries of all lists: an edge has two.
    pub stored_edges: u64,
    /// Pages of all lists.
    pub pages: u64,
    /// The size of everything in the image.
    pub image_bytes: u64,
    /// The size of everything in the image per entry of a list.
    pub bytes_per_edge: Option<f64>,
    /// The memory that the page indexes take.
    pub index_bytes: u64,
    /// The version of the format.
    pub format_version: u32,
    /// The id, 16 digits that follow from the content.
    pub image_id: String,
}

/// The names of attributes, and what they are.
pub(crate) fn named(attributes: &[Attribute]) -> Vec<(String, &'static str)> {
    attributes.iter().map(|attribute| (attribute.name.clone(), attribute.kind.name())).collect()
}

impl Graph {
    /// The facts of this graph's image.
    pub fn info(&self) -> GraphInfo {
        let manifest = self.manifest();
        let import = &manifest.import;
        let (out, in_lists) = (&manifest.out_lists, manifest.in_lists.as_ref());
        let stored_edges = out.entries + in_lists.map_or(0, |lists| lists.entries);
        let image_bytes = self.image_bytes();
        GraphInfo {
            vertices: manifest.vertices,
            edges: manifest.edges,
            directed: manifest.directed,
            parallel_edges: manifest.parallel_edges,
            rows: manifest.rows,
            columns: manifest.rows.map(|rows| manifest.vertices - rows),
            weights: manifest.weights().map(|weights| weights.name.clone()),
            weight_type: manifest.weights().map(|all| if manifest.complex { "complex" } else { all.kind.name() }),
            attributes: named(&manifest.attributes),
            vertex_attributes: named(&manifest.vertex_attributes),
            ids: manifest.id_type_name(),
            order: manifest.order.name(),
            max_out_degree: out.max_degree,
            max_in_degree: in_lists.unwrap_or(out).max_degree,
            isolated_vertices: import.isolated_vertices,
            self_loops: import.self_loops_stored.unwrap_or(import.self_loops),
            self_loops_kept: import.self_loops_kept,
            duplicates: import.duplicates,
            duplicates_policy: import.duplicates_policy.clone(),
            edges_read: import.edges_read,
            input_format: import.input_format.clone(),
            compression: import.compression.clone(),
            separator: import.separator.clone(),
            header: import.header,
            source: import.source.clone(),
            target: import.target.clone(),
            direction_from: import.direction_from.clone(),
            comments: import.comments,
            first_comment: import.first_comment.clone(),
            files_read: import.files_read,
            first_files: import.first_files.clone(),
            first_files_modified: import.first_files_modified.clone(),
            images_read: import.images_read.clone(),
            files_without_edges: import.files_without_edges,
            first_files_without_edges: import.first_files_without_edges.clone(),
            files_not_read: import.files_not_read,
            first_files_not_read: import.first_files_not_read.clone(),
            columns_not_read: import.columns_not_read.clone(),
            rows_left_out: import.rows_left_out,
            edges_left_out: import.edges_left_out,
            conditions: import.conditions.clone(),
            options: import.options.clone(),
            outcore_version: import.outcore_version.clone(),
            stored_edges,
            pages: out.pages + in_lists.map_or(0, |lists| lists.pages),
            image_bytes,
            bytes_per_edge: (stored_edges > 0).then(|| image_bytes as f64 / stored_edges as f64),
            index_bytes: self.index_bytes(),
            format_version: manifest.format_version,
            image_id: format!("{:016x}", manifest.image_id),
        }
    }
}
