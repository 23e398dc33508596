//! Report of an import, as one object for programs: what Python returns, and the shell writes as JSON.

use super::options::{ImportReport, ImportStats};
use crate::look::info::named;
use outcore_format::{ImportFacts, Order};
use serde::Serialize;
use std::path::PathBuf;

/// Report of an import.
#[derive(Clone, Debug, Serialize)]
pub struct ImportSummary {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of stored edges.
    pub edges: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Name of the weights, if there are any.
    pub weights: Option<String>,
    /// The names of attributes of edges, and what they are.
    pub attributes: Vec<(String, &'static str)>,
    /// The names of attributes of vertices, and what they are.
    pub vertex_attributes: Vec<(String, &'static str)>,
    /// The order in which vertices are numbered.
    pub order: Order,
    /// How the input was read.
    #[serde(flatten)]
    pub facts: ImportFacts,
    /// Type of the ids: `string`, or that of integers, such as `int64`.
    pub ids: &'static str,
    /// Source, target and weight of the first edges, as they were understood.
    pub first_edges: Vec<(String, String, Option<String>)>,
    /// The files that were read, where the input was files.
    pub files: Vec<String>,
    /// Files in their folders that were not read.
    pub files_left_out: Vec<String>,
    /// Notes for the user, in whole sentences.
    pub notes: Vec<String>,
    /// Times, memory and temporary files of the import.
    pub stats: ImportStats,
}

impl ImportSummary {
    /// The summary of a report.
    pub fn of(report: ImportReport) -> Self {
        let ImportReport { manifest, first_edges, files, notes, stats } = report;
        let names = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect();
        ImportSummary {
            vertices: manifest.vertices,
            edges: manifest.edges,
            directed: manifest.directed,
            weights: manifest.weights().map(|weights| weights.name.clone()),
            attributes: named(&manifest.attributes),
            vertex_attributes: named(&manifest.vertex_attributes),
            order: manifest.order,
            ids: manifest.id_type_name(),
            facts: manifest.import,
            first_edges: first_edges.into_iter().map(|edge| (edge.source, edge.target, edge.weight)).collect(),
            files: names(files.paths),
            files_left_out: names(files.left_out),
            notes,
            stats,
        }
    }
}
