//! Report of an import, as one object for programs: what Python returns, and the shell writes as JSON.

use super::options::{ImportOptions, ImportReport, ImportStats, OrderChoice, SelfLoops};
use crate::look::info::named;
use outcore_format::{ImportFacts, Order, version_text};
use outcore_ingest::{Choice, Facts, Files};
use outcore_io::Backend;
use outcore_io::backend::{FileKind, calendar_text};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Number of files whose names stand in an image, of each kind; and that of columns that were not read.
const FIRST_FILES: usize = 20;
const FIRST_COLUMNS: usize = 100;
/// Number of conditions and options that stand in an image, of each.
const FIRST_OPTIONS: usize = 100;
/// Most characters of the name of a column, and of a condition or the value of an option.
const COLUMN_CHARACTERS: usize = 200;
const OPTION_CHARACTERS: usize = 2000;

/// Report of an import.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
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
    /// Number of edges of each of them, before conditions; none where that is not known.
    pub file_edges: Vec<u64>,
    /// Files in their folders that were not read.
    pub files_left_out: Vec<String>,
    /// Notes for the user, in whole sentences.
    pub notes: Vec<String>,
    /// Times, memory and temporary files of the import.
    pub stats: ImportStats,
}

/// The name of a table of vertices for messages.
pub(super) const TABLE_OF_VERTICES: &str = "the table of vertices";

/// The name of an input for messages: its first file, and the number of others.
pub(super) fn name_of(facts: &Facts) -> PathBuf {
    match &facts.files.paths[..] {
        [] => PathBuf::from("the input"),
        [file] => file.clone(),
        [first, others @ ..] => PathBuf::from(format!("{} and {} more", first.display(), others.len())),
    }
}

impl ImportSummary {
    /// The summary of a report.
    pub fn of(report: ImportReport) -> Self {
        let ImportReport { manifest, first_edges, files, notes, stats } = report;
        let names = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect();
        let mut left_out = [files.left_out, files.hidden].concat();
        left_out.sort_unstable();
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
            file_edges: files.edges,
            files_left_out: names(left_out),
            notes,
            stats,
        }
    }
}

/// The files and columns that were read and that were not, of an input that was read to its end.
pub(super) fn of_files(facts: &Facts) -> ImportFacts {
    let files = &facts.files;
    let name = |path: &PathBuf| path.display().to_string();
    let first = |names: Vec<&PathBuf>| names.into_iter().map(name).take(FIRST_FILES).collect();
    let edges = files.edges.iter().copied().map(Some).chain(std::iter::repeat(None));
    let empty: Vec<&PathBuf> = files.without_edges().collect();
    let mut not_read: Vec<&PathBuf> = files.left_out.iter().chain(&files.hidden).collect();
    not_read.sort_unstable();
    let (are_files, are_counted) = (!files.paths.is_empty(), !files.edges.is_empty());
    let columns = facts.unread.names.iter().map(|name| name.chars().take(COLUMN_CHARACTERS).collect());
    let images = facts.given.images.iter().map(|(path, id)| (name(path), format!("{id:016x}")));
    let conditions = facts.given.conditions.iter().map(|text| text.chars().take(OPTION_CHARACTERS).collect());
    ImportFacts {
        files_read: are_files.then_some(files.paths.len() as u64),
        first_files: are_files.then(|| files.paths.iter().map(name).zip(edges).take(FIRST_FILES).collect()),
        files_without_edges: are_counted.then_some(empty.len() as u64),
        first_files_without_edges: are_counted.then(|| first(empty)),
        files_not_read: are_files.then_some(not_read.len() as u64 + files.unnamed),
        first_files_not_read: are_files.then(|| first(not_read)),
        columns_not_read: Some(columns.take(FIRST_COLUMNS).collect()),
        edges_left_out: Some(facts.edges_unmet()),
        images_read: (images.len() > 0).then(|| images.take(FIRST_FILES).collect()),
        conditions: Some(conditions.take(FIRST_OPTIONS).collect()),
        outcore_version: Some(version_text()),
        ..ImportFacts::default()
    }
}

/// When the first of the files were last written to, where the input is files.
pub(super) fn times_of_files(backend: &Arc<dyn Backend>, files: &Files) -> Option<Vec<Option<String>>> {
    let time = |path: &PathBuf| {
        let file = backend.named(path).filter(|file| file.kind == FileKind::File);
        file.and_then(|file| file.modified).map(calendar_text)
    };
    (!files.paths.is_empty()).then(|| files.paths.iter().take(FIRST_FILES).map(time).collect())
}

/// The options of an import that were given, beside those that other facts tell.
pub(super) fn given_options(facts: &Facts, options: &ImportOptions) -> Vec<(String, String)> {
    let mut given = facts.given.clone();
    if options.self_loops != SelfLoops::default() {
        given.set("self_loops", options.self_loops.name());
    }
    if options.order != OrderChoice::default() {
        given.set("order", options.order.name());
    }
    if options.require_edges > 0 {
        given.set("require_edges", options.require_edges.to_string());
    }
    given.set_flag("refuse_empty_files", options.refuse_empty_files);
    let cut = |(name, value): (String, String)| (name, value.chars().take(OPTION_CHARACTERS).collect());
    given.options.into_iter().take(FIRST_OPTIONS).map(cut).collect()
}
