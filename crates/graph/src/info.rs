//! What an image is, in one flat object for people and programs: `outcore info --json`, and `Graph.info()` in Python.

use crate::graph::Graph;
use outcore_format::{IdColumn, Order, WeightKind};
use serde::Serialize;

/// What an image is. Serialised, the names of the fields are the names of the facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphInfo {
    /// The number of vertices.
    pub vertices: u64,
    /// The number of edges: one without direction counts once.
    pub edges: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether parallel edges were kept.
    pub parallel_edges: bool,
    /// The name of the weights, if there are any.
    pub weights: Option<String>,
    /// Their type: `i64` or `f64`.
    pub weight_type: Option<&'static str>,
    /// The type of the users' ids: `i64`, `u64` or `string`.
    pub ids: &'static str,
    /// How vertices are numbered inside: `input` or `degree`.
    pub order: &'static str,
    /// The longest list of out-neighbours.
    pub max_out_degree: u64,
    /// The longest list of in-neighbours.
    pub max_in_degree: u64,
    /// Vertices without any edge.
    pub isolated_vertices: u64,
    /// Edges from a vertex to itself in the input.
    pub self_loops: u64,
    /// Whether they were kept.
    pub self_loops_kept: bool,
    /// Edges of the input that say what another one says.
    pub duplicates: u64,
    /// What was done with them.
    pub duplicates_policy: String,
    /// The format of the input.
    pub input_format: String,
    /// Entries of all lists: an edge has two.
    pub stored_edges: u64,
    /// Pages of all lists.
    pub pages: u64,
    /// The size of everything in the image.
    pub image_bytes: u64,
    /// The size of everything in the image per entry of a list.
    pub bytes_per_edge: f64,
    /// The memory that the page indexes take.
    pub index_bytes: u64,
    /// The version of the format.
    pub format_version: u32,
}

impl Graph {
    /// What this graph's image is.
    pub fn info(&self) -> GraphInfo {
        let manifest = self.manifest();
        let (out, in_lists) = (&manifest.out_lists, manifest.in_lists.as_ref());
        let stored_edges = out.entries + in_lists.map_or(0, |lists| lists.entries);
        let image_bytes = self.image_bytes();
        GraphInfo {
            vertices: manifest.vertices,
            edges: manifest.edges,
            directed: manifest.directed,
            parallel_edges: manifest.parallel_edges,
            weights: manifest.weights.as_ref().map(|weights| weights.name.clone()),
            weight_type: manifest.weights.as_ref().map(|weights| match weights.kind {
                WeightKind::I64 => "i64",
                WeightKind::F64 => "f64",
            }),
            ids: match &manifest.ids {
                IdColumn::Range { .. } | IdColumn::I64 { .. } => "i64",
                IdColumn::U64 { .. } => "u64",
                IdColumn::String { .. } => "string",
            },
            order: match manifest.order {
                Order::Input => "input",
                Order::Degree => "degree",
            },
            max_out_degree: out.max_degree,
            max_in_degree: in_lists.unwrap_or(out).max_degree,
            isolated_vertices: manifest.import.isolated_vertices,
            self_loops: manifest.import.self_loops,
            self_loops_kept: manifest.import.self_loops_kept,
            duplicates: manifest.import.duplicates,
            duplicates_policy: manifest.import.duplicates_policy.clone(),
            input_format: manifest.import.input_format.clone(),
            stored_edges,
            pages: out.pages + in_lists.map_or(0, |lists| lists.pages),
            image_bytes,
            bytes_per_edge: image_bytes as f64 / stored_edges.max(1) as f64,
            index_bytes: self.index_bytes(),
            format_version: manifest.format_version,
        }
    }
}
