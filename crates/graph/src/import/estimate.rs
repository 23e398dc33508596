//! Estimate of the resources of an import, before it starts.

use super::attributes::AttributesMemory;
use super::edges::edge_words;
use super::options::ImportOptions;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result, require_disk};
use outcore_ingest::{Facts, Plan, enough_bytes, needed_bytes};
use outcore_io::backend::{FileKind, Memory, What};
use outcore_io::{Backend, Runtime, RuntimeOptions, processors};
use std::path::Path;
use std::sync::Arc;

/// Bytes of text of an edge, without and with a weight, where neither the format says how many edges there are, nor a
/// sample.
const TEXT_BYTES: [u64; 2] = [12, 18];
/// Approximate size of an entry of a list in an image, and the least that is assumed.
const ENTRY_BYTES: u64 = 3;
const LEAST_ENTRY_BYTES: u64 = 1;
/// Size of an edge's temporary file, at which it is removed while edges are distributed.
const SEGMENT_BYTES: u64 = 64 << 20;
/// Approximate size of an image of few edges: the manifest, and some pages.
const LEAST_IMAGE_BYTES: u64 = 32 << 10;
/// Approximate size of a vertex in temporary files.
const VERTEX_BYTES: u64 = 40;
/// Approximate size of the temporary files of an import of few edges.
const LEAST_TEMPORARY_BYTES: u64 = 1 << 20;

/// Estimated resources of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportEstimate {
    /// Edges in the input: known, or guessed from the input's size; none if there is nothing to go by.
    pub edges: Option<u64>,
    /// Space for temporary files, in bytes.
    pub temporary_bytes: u64,
    /// Space for the image, in bytes.
    pub image_bytes: u64,
    /// The least limit for memory with which it works; more makes it faster.
    pub memory_bytes: u64,
}

/// Resources that an import of an input that is open in this runtime will need, by what is known before it is read.
pub fn estimate(runtime: &Runtime, facts: &Facts, options: &ImportOptions) -> ImportEstimate {
    let budget = runtime.budget();
    let memory_bytes = budget.limit_for(needed_bytes(runtime, facts), budget.available_bytes());
    ImportEstimate { memory_bytes, ..space(facts, options) }
}

/// Refuses an import of an input that is open in this runtime for which there is too little memory, before it is read.
///
/// # Errors
/// Too little memory.
pub fn check_memory(runtime: &Runtime, facts: &Facts) -> Result<()> {
    let _attributes = AttributesMemory::reserve(runtime, facts)?;
    Plan::new(runtime, facts).map(drop)
}

/// [`check_memory`] for a graph in memory.
///
/// # Errors
/// Too little memory.
pub fn check_memory_of_graph(runtime: &Runtime, facts: &Facts, options: &ImportOptions) -> Result<()> {
    let (budget, available_bytes) = (runtime.budget(), runtime.budget().available_bytes());
    let (_, enough_bytes) = in_memory_bytes(runtime, facts, options);
    // The number of vertices is a guess.
    let enough_bytes = enough_bytes.saturating_add(enough_bytes / 8);
    if enough_bytes > available_bytes {
        return Err(budget.refusal("making a graph in memory", enough_bytes, available_bytes));
    }
    check_memory(runtime, facts)
}

/// Whether an input can be opened again: a file, a folder or an image. A pipe may be readable only once.
pub fn opens_again(backend: &Arc<dyn Backend>, input: &Path) -> bool {
    let kinds = [FileKind::File, FileKind::Directory];
    backend.look(What::Named(input)).is_ok_and(|status| kinds.contains(&status.kind))
}

/// A refusal of memory for the runtime of an import, with a limit that leaves room for what every import needs.
/// [`Error::planned_again`] raises it to what these inputs take. Any other error stays as it is.
pub fn advise(error: Error, runtime: &RuntimeOptions) -> Error {
    let threads = runtime.threads.unwrap_or_else(processors);
    error.advising(enough_bytes(0, threads, Some(0)))
}

/// Approximate size of a value of an attribute in an image, in bytes.
fn value_bytes(kind: &AttributeKind) -> u64 {
    match kind {
        AttributeKind::Boolean => 1,
        AttributeKind::Date => 2,
        AttributeKind::Integer | AttributeKind::String => 4,
        AttributeKind::Real | AttributeKind::Timestamp { .. } => 8,
    }
}

/// Edges of an input: as the format says, as a sample suggests, or by the usual length of a line.
fn edges_of(facts: &Facts) -> Option<u64> {
    let [sampled, sample_bytes] = facts.sample.unwrap_or([1, TEXT_BYTES[facts.weights.iter().len()]]);
    let sampled_of = |bytes: u64| u128::from(bytes) * u128::from(sampled) / u128::from(sample_bytes.max(1));
    let by_size = || facts.input_bytes.map(|bytes| u64::try_from(sampled_of(bytes)).unwrap_or(u64::MAX));
    facts.edges.or_else(by_size)
}

/// Estimated disk space of an import, without its memory.
fn space(facts: &Facts, options: &ImportOptions) -> ImportEstimate {
    let edges = edges_of(facts);
    let count = edges.unwrap_or(0);
    let vertices = facts.declared.map_or(count / 4, |(_, declared)| declared);
    let record_bytes = 8 * edge_words(facts, options.duplicates) as u64;
    let weight_bytes = [0, 4, 16][facts.weights.iter().len() + usize::from(facts.is_complex)];
    // A number for each attribute of an edge; in the image most take less.
    let attributes = facts.attributes.len() as u64;
    let values_bytes = |is_wanted: fn(&AttributeKind) -> bool| -> u64 {
        facts.attributes.iter().filter(|field| is_wanted(&field.kind)).map(|field| value_bytes(&field.kind)).sum()
    };
    let directed = options.directed.or(facts.directed).unwrap_or(true);
    // Either way there are two entries per edge. Beside those of one direction lie edges as they were read, or what
    // is sorted.
    let entries = count.saturating_mul(2);
    let columns = if directed { 4 } else { 2 };
    // Beside in-lists lie numbers only.
    let once_bytes = if directed { values_bytes(|kind| !kind.is_number()) } else { 0 };
    let twice_bytes = values_bytes(|_| true) - once_bytes;
    let edges_bytes = count.saturating_mul(record_bytes);
    let segments_bytes = edges_bytes.min((2 * SEGMENT_BYTES).max(edges_bytes / 2));
    ImportEstimate {
        edges,
        memory_bytes: 0,
        temporary_bytes: (edges_bytes.saturating_mul(2))
            .saturating_add(segments_bytes)
            .saturating_add(count.saturating_mul(8 * attributes))
            .saturating_add(vertices.saturating_mul(VERTEX_BYTES + 8 * facts.vertex_attributes.len() as u64))
            .saturating_add(LEAST_TEMPORARY_BYTES),
        image_bytes: entries
            .saturating_mul(ENTRY_BYTES + weight_bytes + twice_bytes)
            .saturating_add(count.saturating_mul(once_bytes))
            .saturating_add(vertices.saturating_mul(4 + 2 * columns))
            .saturating_add(LEAST_IMAGE_BYTES),
    }
}

/// An error if the temporary files of an import will not fit into a directory, or the image into its folder, by what is
/// known before it begins. Images are smaller than announced where lists are long and values small: a byte for an entry
/// must be free, and of the space for temporary files a half. Once edges are read it is known what they need.
pub(super) fn check_space(
    backend: &Arc<dyn Backend>,
    facts: &Facts,
    options: &ImportOptions,
    [directory, folder]: [&Path; 2],
) -> Result<()> {
    let needed = space(facts, options);
    let least_bytes = needed.edges.unwrap_or(0).saturating_mul(2 * LEAST_ENTRY_BYTES).min(needed.image_bytes);
    require_disk(backend, "the image", needed.image_bytes, least_bytes, folder)?;
    let what = match (needed.edges, facts.declared) {
        (Some(edges), Some((_, vertices))) => format!("about {edges} edges and {vertices} vertices"),
        (None, Some((_, vertices))) => format!("{vertices} vertices"),
        (edges, None) => format!("about {} edges", edges.unwrap_or(0)),
    };
    require_temporary(backend, &what, needed.temporary_bytes, needed.temporary_bytes / 2, directory)
}

/// An error if a directory has less space than the temporary files of an import need.
pub(super) fn require_temporary(
    backend: &Arc<dyn Backend>,
    what: &str,
    bytes: u64,
    least_bytes: u64,
    directory: &Path,
) -> Result<()> {
    require_disk(backend, &format!("temporary files of an import of {what}"), bytes, least_bytes, directory)
}

/// Memory in bytes that an import into memory needs for its files and beside them, as estimated before it begins: the
/// least without which it cannot end, and an amount that should be enough.
pub(super) fn in_memory_bytes(runtime: &Runtime, facts: &Facts, options: &ImportOptions) -> (u64, u64) {
    let ImportEstimate { temporary_bytes, image_bytes, .. } = space(facts, options);
    let beside_bytes = needed_bytes(runtime, facts);
    let least_bytes = beside_bytes.saturating_add(temporary_bytes / 2).saturating_add(image_bytes / 3);
    (least_bytes, beside_bytes.saturating_add(temporary_bytes).saturating_add(image_bytes))
}

/// The plan of an import. In an import into memory, temporary files take a part of the memory too: at most half.
pub(super) fn plan(runtime: &Runtime, facts: &Facts, image: &Path) -> Result<Plan> {
    let budget = runtime.budget();
    if image.starts_with(Memory::folder()) {
        let files = budget.reserve("files of a graph in memory", budget.available_bytes() / 2);
        if let (Ok(_files), Ok(plan)) = (files, Plan::new(runtime, facts)) {
            return Ok(plan);
        }
    }
    Plan::new(runtime, facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_edges_and_weights_need_more_and_too_much_is_refused_with_the_numbers() {
        let facts = |edges, weights: bool| Facts {
            edges: Some(edges),
            weights: weights.then(|| "weight".to_owned()),
            ..Facts::default()
        };
        let options = ImportOptions::default();
        let small = space(&facts(1 << 20, false), &options);
        assert!(space(&facts(1 << 24, false), &options).temporary_bytes > 2 * small.temporary_bytes);
        assert!(space(&facts(1 << 20, true), &options).temporary_bytes > small.temporary_bytes);
        assert_eq!(space(&Facts { input_bytes: Some(1200), ..Facts::default() }, &options).edges, Some(100));
        // Rows are as wide as those of a sample, and few bytes where it is compressed.
        let wide = Facts { input_bytes: Some(1 << 30), sample: Some([1000, 640_000]), ..Facts::default() };
        assert_eq!(space(&wide, &options).edges, Some((1 << 30) / 640));
        let packed = Facts { sample: Some([3, 2]), ..wide };
        assert_eq!(space(&packed, &options).edges, Some((1 << 29) * 3));
        let directory = tempfile::tempdir().unwrap();
        let system = outcore_io::backend::best();
        let check = |facts: &Facts, folder: &Path| check_space(&system, facts, &options, [directory.path(), folder]);
        assert!(check(&facts(1 << 21, false), directory.path()).is_ok());
        let error = check(&facts(1 << 58, false), Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("288230376151711744 edges needs") && error.contains("left"), "{error}");
        let image = check(&facts(1 << 58, false), directory.path()).unwrap_err();
        assert!(image.to_string().starts_with("the image needs"), "{image}");
        // Vertices that a header declares take space without any edge.
        let declared = |count| Facts { edges: Some(0), declared: Some((1, count)), ..Facts::default() };
        assert!(space(&declared(1 << 32), &options).temporary_bytes > 100 << 30);
        assert!(check(&declared(1 << 10), directory.path()).is_ok());
        let error = check(&declared(1 << 50), Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("0 edges and 1125899906842624 vertices needs") && error.contains("left"), "{error}");
    }
}
