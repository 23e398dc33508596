//! Estimate of the resources of an import, before it starts.

use super::attributes::AttributesMemory;
use super::edges::edge_words;
use super::ids::dictionary::Hashed;
use super::options::{Duplicates, ImportOptions, SelfLoops};
use outcore_format::AttributeKind;
use outcore_image::{Error, Result, require_disk};
use outcore_ingest::{AttributeField, Different, Facts, InputSample, Plan, enough_bytes, needed_bytes};
use outcore_io::backend::{FileKind, Memory, What};
use outcore_io::{Backend, Runtime, RuntimeOptions, processors};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Bytes of text of an edge, without and with a weight, where neither the format says how many edges there are, nor a
/// sample.
const TEXT_BYTES: [u64; 2] = [12, 18];
/// Approximate size of an image of few edges: the manifest, and some pages.
const LEAST_IMAGE_BYTES: u64 = 48 << 10;
/// Approximate size of the temporary files of an import of few edges.
const LEAST_TEMPORARY_BYTES: u64 = 64 << 10;
/// Edges that are read together, about: with fewer, other readers have nothing to do.
const BLOCK_EDGES: f64 = 80_000.0;
/// Where no sample tells more: the length of a string, the distance of integers, the size of a weight.
const USUAL_ID_BYTES: f64 = 12.0;
const USUAL_GAP: f64 = 128.0;
const USUAL_WEIGHT_BYTES: f64 = 4.0;
/// Memory of an id in a dictionary, see `ids/dictionary.rs`.
const DIRECT_ID_BYTES: f64 = 8.0;
/// The counts of a vertex in a run; and its place in the merged run, and its numbers.
const COUNTS_BYTES: f64 = 2.0;
const PLACES_BYTES: f64 = 16.0;
/// A row with attributes of a vertex: its local and its place.
const VERTEX_ROW_BYTES: f64 = 16.0;
/// Bits of an entry beyond those of the average distance of two entries.
const GAP_BITS: f64 = 2.0;
/// A list's part of pages beside its entries, with degree and hub; and an integer in the column of ids.
const LIST_BYTES: f64 = 3.0;
const ID_COLUMN_BYTES: f64 = 1.5;
/// The least size of an entry of a list, and the least share of the edges that samples of lines suggest.
const LEAST_ENTRY_BYTES: f64 = 0.125;
const LEAST_EDGES_SHARE: f64 = 0.75;

/// Estimated resources of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ImportEstimate {
    /// Edges in the input: known, or guessed from the input's size; none if there is nothing to go by.
    pub edges: Option<u64>,
    /// Most space for temporary files at a time, in bytes.
    pub temporary_bytes: u64,
    /// Space for the image, in bytes.
    pub image_bytes: u64,
    /// Most space for temporary files and the image together at a time, in bytes: less than both, since temporary files
    /// go while the image grows.
    pub peak_disk_bytes: u64,
    /// The least limit for memory with which it works; more makes it faster.
    pub memory_bytes: u64,
}

/// Resources that an import of an input that is open in this runtime will need, by what is known before it is read.
pub fn estimate(runtime: &Runtime, facts: &Facts, options: &ImportOptions) -> ImportEstimate {
    let announced = Announced::new(runtime, facts, options);
    let budget = runtime.budget();
    let memory_bytes = budget.limit_for(needed_bytes(runtime, facts), budget.available_bytes());
    ImportEstimate { memory_bytes, ..announced.space(Workers::of(runtime, facts)) }
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
    let (_, enough_bytes) = Announced::new(runtime, facts, options).in_memory_bytes(runtime);
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

/// Approximate size of a value of an attribute in an image, in bytes: blocks of whole numbers, and of numbers of
/// strings, take as many bits as their range needs.
fn value_bytes(kind: &AttributeKind, different: Option<&Different>) -> f64 {
    let bits = |different: &Different| (1.0 + different.count.max(different.range) as f64).log2();
    match (kind, different) {
        (AttributeKind::Real, _) => 8.0,
        (AttributeKind::Boolean, _) => 0.125,
        (_, Some(different)) => bits(different) / 8.0,
        (AttributeKind::Date, None) => 2.0,
        (AttributeKind::Integer | AttributeKind::String, None) => 4.0,
        (AttributeKind::Timestamp { .. }, None) => 8.0,
    }
}

/// An input that is not read yet, and how it will be imported.
#[derive(Clone, Copy)]
pub(super) struct Announced<'a> {
    facts: &'a Facts,
    sizes: Option<&'a InputSample>,
    options: &'a ImportOptions,
}

impl<'a> Announced<'a> {
    /// Takes a sample of the input, which needs memory, unless there is one.
    pub(super) fn new(runtime: &Runtime, facts: &'a Facts, options: &'a ImportOptions) -> Self {
        Announced { facts, sizes: facts.sizes(runtime), options }
    }

    /// Edges of the input: as the format says, as samples suggest, or by the usual length of a line.
    fn edges(self) -> Option<u64> {
        let by_size = || self.facts.input_bytes.map(|bytes| bytes / TEXT_BYTES[self.facts.weights.iter().len()]);
        self.facts.edges.or_else(|| self.sizes.map(|sizes| sizes.edges)).or_else(by_size)
    }

    /// Edges that are read for each one of the input: 2 where it is stored in both directions.
    fn directions(self) -> f64 {
        if self.facts.directed == Some(false) && self.options.directed == Some(true) { 2.0 } else { 1.0 }
    }
}

/// Workers that read the input, and the memory of their dictionaries.
#[derive(Clone, Copy, Debug)]
struct Workers {
    readers: u64,
    dictionary_bytes: u64,
}

impl Workers {
    fn of(runtime: &Runtime, facts: &Facts) -> Self {
        match Plan::new(runtime, facts) {
            Ok(plan) => Workers { readers: plan.readers as u64, dictionary_bytes: plan.dictionary_bytes },
            Err(_) => Workers { readers: runtime.threads() as u64, dictionary_bytes: u64::MAX },
        }
    }
}

/// Bytes of a number in LEB128.
fn number_bytes(number: f64) -> f64 {
    (number.max(1.0).log2() / 7.0).floor() + 1.0
}

/// The ids of an input.
struct IdSizes {
    count: f64,
    /// The number of those that edges name.
    named: f64,
    /// Average length of strings.
    len_bytes: f64,
    /// Distance of integers that follow each other as they sort.
    gap: f64,
    /// Integers from the least to the greatest, where that is known.
    range: Option<f64>,
    are_strings: bool,
    /// Share of the ids that occur all over the input.
    spread: f64,
    /// Blocks of the input, where that is known.
    blocks: Option<f64>,
    /// Integers that a header declares, which are a run of their own.
    declared: f64,
}

impl IdSizes {
    fn of(announced: Announced<'_>, edges: f64) -> Self {
        let Announced { facts, sizes, .. } = announced;
        let declared = facts.declared.map_or(0, |(_, declared)| declared) as f64;
        let (count, len_bytes, range) = match sizes.map(|sizes| sizes.ids) {
            Some(ids) => (ids.count as f64, ids.len_bytes, Some(ids.range as f64)),
            None if declared > 0.0 => (declared, 0.0, Some(declared)),
            None => (edges / 4.0, if facts.string_ids { USUAL_ID_BYTES } else { 0.0 }, None),
        };
        let listed = sizes.map_or(0, |sizes| sizes.listed) as f64;
        let (named, count, are_strings) = (count, count.max(declared).max(listed), facts.string_ids);
        let range = range.filter(|_| !are_strings).map(|range| range.max(count));
        let gap = range.map_or(USUAL_GAP, |range| range / count.max(1.0));
        let spread = sizes.map_or(1.0, |sizes| sizes.ids.spread);
        let blocks = sizes.map(|sizes| sizes.blocks as f64);
        IdSizes { count, named, len_bytes, gap, range, are_strings, spread, blocks, declared }
    }

    /// Bytes of a record of a run of `count` of the ids.
    fn record_bytes(&self, count: f64) -> f64 {
        let id_bytes = match self.are_strings {
            true => 1.0 + self.len_bytes,
            false => number_bytes(self.gap * self.count / count.max(1.0)),
        };
        id_bytes + COUNTS_BYTES
    }

    /// Bytes of an id among those that are distributed: words, of strings one more with the length.
    fn distributed_bytes(&self) -> f64 {
        if self.are_strings { 8.0 + 8.0 * (self.len_bytes / 8.0).ceil() } else { 8.0 }
    }

    /// Whether dictionaries are direct.
    fn are_direct(&self, workers: Workers) -> bool {
        self.range.is_some_and(|range| range * DIRECT_ID_BYTES <= workers.dictionary_bytes as f64)
    }

    /// The different ids of so many edges, if they are drawn.
    fn different(&self, edges: f64) -> f64 {
        self.named * (1.0 - (-2.0 * edges / self.named.max(1.0)).exp())
    }

    /// Number of chunks: one for each reader that has something to do, or more where dictionaries fill up.
    fn chunks(&self, edges: f64, workers: Workers) -> f64 {
        let readers = self.blocks.unwrap_or((edges / BLOCK_EDGES).ceil()).clamp(1.0, workers.readers as f64);
        let most = Hashed::most_ids(self.are_strings, self.len_bytes, workers.dictionary_bytes);
        if self.are_direct(workers) || self.different(edges / readers) <= most || most >= self.named {
            return readers;
        }
        (2.0 * edges / (-self.named * (1.0 - most / self.named).ln())).max(readers)
    }

    /// Bytes of temporary files of the ids until lists are complete: runs, positions, numbers and merged vertices.
    fn temporary_bytes(&self, edges: f64, workers: Workers) -> f64 {
        let chunks = self.chunks(edges, workers);
        let in_chunk = self.different(edges / chunks);
        let local_bytes = if self.are_direct(workers) { 0.0 } else { number_bytes(in_chunk / 2.0) };
        let record_bytes = self.record_bytes(in_chunk) + local_bytes + PLACES_BYTES;
        // Ids that stand in one place of the input are in one chunk, the others in all.
        let in_one = if self.blocks.is_some() { self.named } else { in_chunk };
        let in_chunks = in_one + self.spread * (chunks * in_chunk - in_one).max(0.0);
        let declared_bytes = self.declared * (1.0 + COUNTS_BYTES + PLACES_BYTES);
        in_chunks * record_bytes + declared_bytes + self.count * self.record_bytes(self.count)
    }
}

/// Approximate size of the values of a row in an image, in bytes, of attributes of these kinds.
fn values_bytes(fields: &[AttributeField], different: &[Different], is_wanted: fn(&AttributeKind) -> bool) -> f64 {
    let different = different.iter().map(Some).chain(std::iter::repeat(None));
    let wanted = fields.iter().zip(different).filter(|(field, _)| is_wanted(&field.kind));
    wanted.map(|(field, different)| value_bytes(&field.kind, different)).sum()
}

/// Size of the strings of attributes, each with the number of the attribute and its length, in bytes.
fn texts_bytes(different: &[Different]) -> f64 {
    different.iter().map(|text| text.count as f64 * (text.len_bytes + 2.0)).sum()
}

impl Announced<'_> {
    /// Share of the edges that are read and not stored, for they are loops.
    fn dropped(self) -> f64 {
        let sizes = self.sizes.filter(|_| self.options.self_loops == SelfLoops::Drop);
        sizes.map_or(0.0, |sizes| sizes.loops_share)
    }

    /// Share of the stored edges that are loops.
    fn loops_stored(self) -> f64 {
        self.sizes.map_or(0.0, |sizes| sizes.loops_share) - self.dropped()
    }

    /// Estimated disk space of the import, without its memory.
    fn space(self, workers: Workers) -> ImportEstimate {
        let Announced { facts, sizes, options } = self;
        let count = self.edges();
        let all_edges = count.unwrap_or(0) as f64 * self.directions();
        let ids = IdSizes::of(self, all_edges);
        let edges = all_edges * (1.0 - self.dropped());
        let record_bytes = 8.0 * edge_words(facts, options.duplicates) as f64;
        let weight_bytes = match (facts.weights.is_some(), facts.is_complex) {
            (_, true) => 16.0,
            (true, false) => sizes.map_or(USUAL_WEIGHT_BYTES, |sizes| sizes.weight_bits / 8.0),
            (false, false) => 0.0,
        };
        let [of_edges, of_vertices] =
            sizes.map_or([&[][..]; 2], |sizes| [&sizes.attributes[..], &sizes.vertex_attributes]);
        let texts_bytes = texts_bytes(of_edges) + texts_bytes(of_vertices);
        let directed = options.directed.or(facts.directed).unwrap_or(true);
        // Either way there are two entries per edge, of which one stays where several have the same ends.
        let stored = match sizes.filter(|_| options.duplicates != Duplicates::Keep) {
            Some(sizes) => edges.min(sizes.pairs.count as f64 * (1.0 - self.dropped())),
            None => edges,
        };
        // A loop without direction is one entry.
        let per_edge = 2.0 - if directed { 0.0 } else { self.loops_stored() };
        let (entries, sides) = (per_edge * stored, if directed { 2.0 } else { 1.0 });
        // Beside in-lists lie numbers only.
        let all_bytes = values_bytes(&facts.attributes, of_edges, |_| true);
        let numbers_bytes = values_bytes(&facts.attributes, of_edges, AttributeKind::is_number);
        let once_bytes = if directed { all_bytes - numbers_bytes } else { 0.0 };
        let twice_bytes = all_bytes - once_bytes;
        let vertex_bytes = values_bytes(&facts.vertex_attributes, of_vertices, |_| true);
        let degree = entries / sides / ids.count.max(1.0);
        let gap_bits = (ids.count / degree.max(1.0)).max(1.0).log2();
        // Lists are no longer than in the order of the ids.
        let gap_bits = sizes.and_then(|sizes| sizes.distance_bits).map_or(gap_bits, |bits| bits.min(gap_bits));
        let entry_bytes = (gap_bits + GAP_BITS) / 8.0;
        let list_bytes = LIST_BYTES.min(2.0 * entry_bytes);
        let lists_bytes = entries * (entry_bytes + weight_bytes) + ids.count * sides * list_bytes;
        let id_bytes =
            if ids.are_strings { ids.len_bytes + 1.0 } else { ID_COLUMN_BYTES + ids.gap.max(1.0).log2() / 8.0 };
        let image_bytes = lists_bytes
            + entries * twice_bytes
            + stored * once_bytes
            + texts_bytes
            + ids.count * (id_bytes + vertex_bytes);
        // Rows of attributes stay to the end, and beside lists lie the places of their rows.
        let rows_bytes = all_edges * 8.0 * facts.attributes.len() as f64
            + ids.count * 8.0 * facts.vertex_attributes.len() as f64
            + texts_bytes;
        let places_bytes = if facts.attributes.is_empty() { 0.0 } else { 8.0 * entries };
        // The space of edges as they were read is freed while records of both directions come.
        let records_bytes = per_edge * edges * record_bytes;
        let vertex_rows_bytes = if facts.vertex_attributes.is_empty() { 0.0 } else { VERTEX_ROW_BYTES * ids.count };
        let beside_bytes = ids.temporary_bytes(all_edges, workers) + rows_bytes;
        let lists_peak_bytes = beside_bytes + records_bytes + (lists_bytes + places_bytes) / sides;
        // Ids are distributed by the numbers of their vertices when the lists are complete.
        let sorted_bytes = ids.count * ids.distributed_bytes();
        let ids_peak_bytes = beside_bytes + sorted_bytes + lists_bytes + places_bytes + ids.count * id_bytes;
        let temporary_bytes = beside_bytes + sorted_bytes.max(records_bytes + vertex_rows_bytes);
        let end_bytes = image_bytes + rows_bytes + places_bytes;
        let bytes = |bytes: f64| bytes as u64;
        ImportEstimate {
            edges: count,
            memory_bytes: 0,
            temporary_bytes: bytes(temporary_bytes).saturating_add(LEAST_TEMPORARY_BYTES),
            image_bytes: bytes(image_bytes).saturating_add(LEAST_IMAGE_BYTES),
            peak_disk_bytes: bytes(lists_peak_bytes.max(ids_peak_bytes).max(end_bytes))
                .saturating_add(LEAST_TEMPORARY_BYTES),
        }
    }

    /// The least that the import may take, as far as it is known before it begins: no ids but those of the sample, and
    /// lists whose neighbours follow each other.
    fn least_space(self) -> ImportEstimate {
        let Announced { facts, sizes, options } = self;
        // Conditions may leave no edge, nor may self-loops of a file; a few blocks say little of others, and so do a
        // few files.
        let drops_loops = options.self_loops == SelfLoops::Drop && sizes.is_some();
        let share = match facts.edges {
            _ if !facts.unmet.is_empty() || drops_loops => 0.0,
            Some(_) => 1.0,
            None if sizes.is_some_and(|sizes| sizes.is_from_all) => LEAST_EDGES_SHARE,
            None => 0.0,
        };
        let edges = self.edges().unwrap_or(0) as f64 * self.directions() * share;
        let ids = IdSizes::of(self, 0.0);
        let sizes = sizes.filter(|_| share > 0.0);
        let named = sizes.map_or(0.0, |sizes| sizes.ids.least as f64);
        let ids = IdSizes { count: named.max(ids.declared), named, gap: 1.0, ..ids };
        let stored = match (options.duplicates, sizes) {
            (Duplicates::Keep, _) => edges,
            (_, Some(sizes)) => edges.min(sizes.pairs.least as f64),
            // Generators and images say their edges; of what says none, and has no sample, there are none here.
            (_, None) => edges,
        };
        let workers = Workers { readers: 1, dictionary_bytes: u64::MAX };
        let edges_bytes = 8.0 * edge_words(facts, options.duplicates) as f64 * edges;
        let temporary_bytes = (2.0 * edges_bytes + ids.temporary_bytes(edges, workers)) as u64;
        let image_bytes = (2.0 * stored * LEAST_ENTRY_BYTES) as u64;
        let peak_disk_bytes = temporary_bytes.saturating_add(image_bytes / 2);
        ImportEstimate { edges: Some(edges as u64), memory_bytes: 0, temporary_bytes, image_bytes, peak_disk_bytes }
    }

    /// An error if the temporary files of the import will not fit into a directory, or the image into its folder, by
    /// what is known before it begins. It announces what is likely, and refuses only where the least that is possible
    /// does not fit. Once edges are read it is known what they need.
    pub(super) fn check_space(self, runtime: &Runtime, [directory, folder]: [&Path; 2]) -> Result<()> {
        let backend = runtime.backend();
        let (needed, least) = (self.space(Workers::of(runtime, self.facts)), self.least_space());
        require_disk(backend, "the image", needed.image_bytes, least.image_bytes, folder)?;
        let what = match (needed.edges, self.facts.declared) {
            (Some(edges), Some((_, vertices))) => format!("about {edges} edges and {vertices} vertices"),
            (None, Some((_, vertices))) => format!("{vertices} vertices"),
            (edges, None) => format!("about {} edges", edges.unwrap_or(0)),
        };
        require_temporary(backend, &what, needed.temporary_bytes, least.temporary_bytes, directory)?;
        let disk_of = |path: &Path| backend.named(path).map(|status| status.identity.0);
        if disk_of(directory) != disk_of(folder) {
            return Ok(());
        }
        let what = format!("the image and temporary files of an import of {what}");
        require_disk(backend, &what, needed.peak_disk_bytes, least.peak_disk_bytes, folder)
    }

    /// Memory in bytes that an import into memory needs for its files and beside them, as estimated before it begins:
    /// the least without which it cannot end, and an amount that should be enough.
    pub(super) fn in_memory_bytes(self, runtime: &Runtime) -> (u64, u64) {
        let ImportEstimate { temporary_bytes, image_bytes, .. } = self.space(Workers::of(runtime, self.facts));
        let beside_bytes = needed_bytes(runtime, self.facts);
        let least_bytes = beside_bytes.saturating_add(self.least_space().peak_disk_bytes);
        (least_bytes, beside_bytes.saturating_add(temporary_bytes).saturating_add(image_bytes))
    }
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
        let workers = Workers { readers: 2, dictionary_bytes: 1 << 30 };
        let space_of = |facts: Facts| Announced { facts: &facts, sizes: None, options: &options }.space(workers);
        let small = space_of(facts(1 << 20, false));
        assert!(space_of(facts(1 << 24, false)).temporary_bytes > 2 * small.temporary_bytes);
        assert!(space_of(facts(1 << 20, true)).temporary_bytes > small.temporary_bytes);
        assert_eq!(space_of(Facts { input_bytes: Some(1200), ..Facts::default() }).edges, Some(100));
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let check_with = |options: &ImportOptions, facts: Facts, folder| {
            Announced { facts: &facts, sizes: None, options }.check_space(&runtime, [directory.path(), folder])
        };
        let check = |facts, folder| check_with(&options, facts, folder);
        assert!(check(facts(1 << 21, false), directory.path()).is_ok());
        let error = check(facts(1 << 58, false), Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("288230376151711744 edges needs") && error.contains("left"), "{error}");
        let keep = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
        let image = check_with(&keep, facts(1 << 58, false), directory.path()).unwrap_err();
        assert!(image.to_string().starts_with("the image needs"), "{image}");
        // Vertices that a header declares take space without any edge.
        let declared = |count| Facts { edges: Some(0), declared: Some((1, count)), ..Facts::default() };
        assert!(space_of(declared(1 << 32)).temporary_bytes > 80 << 30);
        assert!(check(declared(1 << 10), directory.path()).is_ok());
        let error = check(declared(1 << 50), Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("0 edges and 1125899906842624 vertices needs") && error.contains("left"), "{error}");
    }
}
