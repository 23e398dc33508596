//! Check: every byte of an image, verified, and what its files say of each other.
//!
//! Every page's checksum and content; pages that begin where the one before ended; the index; lists that rise; degree
//! and hub columns against the lists; both directions against each other; weights that are numbers; ids that are unique
//! and sorted as promised; the counts of the manifest. Sets that may be large are compared by sums of 64-bit hashes,
//! which do not depend on an order: edges of out-lists and in-lists, degrees in the column and in the lists. The hashes
//! have a random key, so different sets cannot be constructed whose sums are equal; by chance they are with 2^-64.
//! Damaged bytes are found by checksums, before that.
//!
//! *Cost.* One pass over each file, the lists and weights on all workers; the id column up to twice, or more if there
//! is no memory for 8 bytes per vertex. 5 bytes per vertex for hubs and degree classes.

use crate::check::ids::check_ids;
use crate::check::lists::{Sums, check_lists};
use crate::engine::degree_class::degree_class;
use crate::engine::graph::{Direction, Graph};
use crate::look::attributes::{check_attributes, indexed_values};
use outcore_format::{Manifest, Order};
use outcore_image::{ColumnStream, Error, ImageFile, MANIFEST, Result, corrupt};
use outcore_io::{Buffer, Unit, split_mix};
use serde::Serialize;
use std::hash::{BuildHasher, RandomState};

/// Counts of a complete check; an image with damage has no report but an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// Vertices, all with an id, a degree and a hub.
    pub vertices: u64,
    /// Edges; one without direction counts once.
    pub edges: u64,
    /// Entries of lists, both directions together.
    pub entries: u64,
    /// Pages, of all files together.
    pub pages: u64,
    /// Bytes of the image.
    pub image_bytes: u64,
}

/// Degrees as their columns have them.
struct Degrees {
    /// The class of every vertex.
    classes: Buffer<u8>,
    /// Sums over each direction's column.
    sums: Vec<ColumnSums>,
    isolated: u64,
}

/// Hash, sum and maximum of a degree column.
#[derive(Clone, Copy, Default)]
struct ColumnSums {
    hash: u64,
    entries: u64,
    max: u64,
}

/// Verifies every byte of an image.
///
/// # Errors
/// The first damage, with file and byte; a device that fails; no memory for 5 bytes per vertex; a request to stop.
pub fn check(graph: &Graph) -> Result<CheckReport> {
    let manifest = graph.manifest();
    let pages = manifest.files().iter().map(|&(file, _)| graph.image().file_pages(file)).sum();
    let task = graph.runtime().task("checking", Unit::Bytes, Some(graph.all_pages() * crate::PAGE_BYTES));
    check_manifest(graph)?;
    // Lists have the lengths that the columns say, which is checked below, and so edges within a side have none.
    graph.check_sides()?;
    let hash = KeyedHash::new();
    check_ids(graph, hash)?;
    let degrees = read_degrees(graph, hash)?;
    let exact = classes_are_exact(graph);
    if exact && manifest.order == Order::Degree {
        check_order(graph, &degrees.classes)?;
    }
    let classes = (exact || manifest.order == Order::Degree).then_some(&degrees.classes);
    let (mut lists, mut entries) = (Vec::new(), 0);
    for (&direction, column) in graph.directions().iter().zip(&degrees.sums) {
        let sums = check_lists(graph, direction, classes, hash, &task)?;
        check_direction(graph, direction, &sums, column)?;
        entries += sums.entries;
        lists.push(sums);
    }
    let out = &lists[0];
    if let Some(in_) = lists.get(1) {
        if in_.loops != out.loops {
            let expected = format!("the edges of the out-lists, of which {} are self-loops", out.loops);
            return Err(bad(graph, ImageFile::IN_LISTS, expected, format!("{} self-loops", in_.loops)));
        }
        if in_.edges != out.edges {
            let expected = format!("the edges of the out-lists, whose checksum is {:016x}", out.edges);
            return Err(bad(graph, ImageFile::IN_LISTS, expected, format!("edges with checksum {:016x}", in_.edges)));
        }
    } else {
        if out.up != out.down {
            return Err(bad(
                graph,
                ImageFile::OUT_LISTS,
                "every edge in the lists of both its ends",
                format!(
                    "checksums {:016x} of the entries to greater vertices and {:016x} of those to smaller ones",
                    out.up, out.down
                ),
            ));
        }
        let edges = (out.entries + out.loops) / 2;
        if edges != manifest.edges {
            return Err(bad_manifest(graph, "edges", edges, manifest.edges));
        }
    }
    for (file, sums) in [ImageFile::OUT_HUB, ImageFile::IN_HUB].into_iter().zip(&lists) {
        if let Some((_, expected, found)) = &sums.wrong_hub {
            return Err(bad(graph, file, expected, found.to_string()));
        }
    }
    if degrees.isolated != manifest.import.isolated_vertices {
        return Err(bad_manifest(graph, "isolated vertices", degrees.isolated, manifest.import.isolated_vertices));
    }
    check_loops(graph, out.loops)?;
    check_values(graph)?;
    check_attributes(graph)?;
    let image_bytes = graph.image_bytes();
    Ok(CheckReport { vertices: graph.vertices(), edges: graph.edges(), entries, pages, image_bytes })
}

/// Reads the columns of attributes beside the in-lists: [`check_attributes`] reads the others, and those of the weights
/// are checked beside the lists.
fn check_values(graph: &Graph) -> Result<()> {
    let manifest = graph.manifest();
    for column in (manifest.weight_columns()..manifest.values.len()).filter(|&column| manifest.has_in_values(column)) {
        let mut values = indexed_values(graph, ImageFile::values(column, true), manifest.out_lists.entries)?;
        loop {
            let some = values.peek(usize::MAX)?.len();
            if some == 0 {
                break;
            }
            values.take(some);
        }
    }
    if manifest.weights().is_none() && !manifest.values.is_empty() {
        check_entries(graph)?;
    }
    Ok(())
}

/// Reads the indexes of entries, which are compared with the lists where there are weights.
fn check_entries(graph: &Graph) -> Result<()> {
    for (file, &direction) in [ImageFile::OUT_ENTRIES, ImageFile::IN_ENTRIES].into_iter().zip(graph.directions()) {
        let index = graph.image().read_indexes(&[file], "reading the index of entries")?.remove(0);
        let pages = graph.list_pages(direction).pages;
        if index.len() != pages {
            let error = outcore_format::Error::new(0, format!("{pages} pages of lists"), index.len().to_string());
            return Err(corrupt(graph.image().index_path(file), 0, error));
        }
    }
    Ok(())
}

/// Reads the manifest again, and looks for files that it does not name.
fn check_manifest(graph: &Graph) -> Result<()> {
    let path = graph.path().join(MANIFEST);
    let manifest = Manifest::from_bytes(&graph.image().manifest_bytes()?);
    let manifest = manifest.map_err(|error| corrupt(&path, 0, error))?;
    if manifest != *graph.manifest() {
        let opened = graph.manifest().image_id;
        let found = match manifest.image_id == opened {
            true => format!("that of image {opened:016x} with other members"),
            false => format!("that of image {:016x}", manifest.image_id),
        };
        let expected = format!("the manifest of image {opened:016x} as it was opened");
        return Err(corrupt(path, 0, outcore_format::Error::new(0, expected, found)));
    }
    match graph.image().unnamed() {
        None => Ok(()),
        Some(path) => {
            let error = outcore_format::Error::new(0, "no file of that name, for the manifest names none", "a file");
            Err(corrupt(path, 0, error))
        }
    }
}

/// Whether the degrees in the columns are those that classes were made of: not if edges were dropped at import, nor if
/// lists name a loop once that counts twice.
fn classes_are_exact(graph: &Graph) -> bool {
    let facts = &graph.manifest().import;
    let is_complete = facts.duplicates == 0 || facts.duplicates_policy == "keep";
    is_complete && (facts.self_loops == 0 || graph.is_directed() && facts.self_loops_kept)
}

fn read_degrees(graph: &Graph, hash: KeyedHash) -> Result<Degrees> {
    let vertices = graph.vertices();
    graph.make_room("degree classes and hubs", 5 * vertices)?;
    let mut classes = Buffer::<u8>::zeroed(graph.runtime().budget(), "degree classes", vertices as usize)?;
    let column = |&direction| ColumnStream::new(graph.image(), graph.degree_file(direction), vertices);
    let mut columns = graph.directions().iter().map(column).collect::<Result<Vec<_>>>()?;
    let (mut sums, mut isolated) = (vec![ColumnSums::default(); columns.len()], 0);
    for (vertex, class) in classes.iter_mut().enumerate() {
        let mut total = 0;
        for (column, sums) in columns.iter_mut().zip(&mut sums) {
            let degree = column.value()?;
            total += sums.add(hash.pair(vertex as u64, degree), degree, column, graph)?;
        }
        isolated += u64::from(total == 0);
        *class = degree_class(total);
    }
    columns.iter_mut().try_for_each(|column| column.peek(1).map(|_| ()))?;
    Ok(Degrees { classes, sums, isolated })
}

impl ColumnSums {
    fn add(&mut self, hash: u64, degree: u64, column: &ColumnStream, graph: &Graph) -> Result<u64> {
        let most = graph.manifest().out_lists.entries;
        if degree > most {
            return Err(column.bad_value(format!("degrees up to {most}"), degree.to_string()));
        }
        self.hash = self.hash.wrapping_add(hash);
        self.entries = self.entries.saturating_add(degree);
        self.max = self.max.max(degree);
        Ok(degree)
    }
}

fn check_order(graph: &Graph, classes: &Buffer<u8>) -> Result<()> {
    // Rows of a rectangular matrix are ordered apart from columns.
    let first_column = graph.manifest().rows.unwrap_or(0) as usize;
    let rises = |(vertex, pair): &(usize, &[u8])| pair[0] < pair[1] && vertex + 1 != first_column;
    match classes.windows(2).enumerate().find(rises) {
        None => Ok(()),
        Some((vertex, _)) => Err(bad(
            graph,
            ImageFile::OUT_DEGREE,
            "degree classes that never rise, for vertices are numbered by degree",
            format!("class {} at vertex {} after class {}", classes[vertex + 1], vertex + 1, classes[vertex]),
        )),
    }
}

/// Compares the lists of one direction with their degree column and with the manifest.
fn check_direction(graph: &Graph, direction: Direction, lists: &Sums, column: &ColumnSums) -> Result<()> {
    let (facts, degree) = (graph.list_facts(direction), graph.degree_file(direction));
    if lists.degrees != column.hash || column.entries != lists.entries {
        let found = if column.entries == lists.entries {
            format!(
                "as many entries ({}) distributed otherwise: checksum {:016x} of the degrees, {:016x} of the lengths",
                lists.entries, column.hash, lists.degrees
            )
        } else {
            format!("degrees that sum up to {} instead of {}", column.entries, lists.entries)
        };
        return Err(bad(graph, degree, "the lengths of the lists", found));
    }
    if lists.entries != facts.entries {
        return Err(bad_manifest(graph, "entries of lists", lists.entries, facts.entries));
    }
    if column.max != facts.max_degree {
        return Err(bad_manifest(graph, "as the greatest degree", column.max, facts.max_degree));
    }
    Ok(())
}

/// Compares the loops in the lists of one direction with what the import says that it did with them.
fn check_loops(graph: &Graph, loops: u64) -> Result<()> {
    let facts = &graph.manifest().import;
    if let Some(stored) = facts.self_loops_stored.filter(|&stored| stored != loops) {
        return Err(bad_manifest(graph, "stored self-loops", loops, stored));
    }
    // Duplicates of a loop are loops of the input too.
    let fits = match facts.self_loops_kept {
        true => loops <= facts.self_loops && (loops > 0) == (facts.self_loops > 0),
        false => loops == 0,
    };
    if fits {
        return Ok(());
    }
    let treatment = if facts.self_loops_kept { "kept" } else { "dropped" };
    let expected = format!("self-loops that fit the {loops} of the lists");
    Err(Error::damaged(graph.path().join(MANIFEST), 0, expected, format!("{}, {treatment}", facts.self_loops)))
}

/// The error for a file whose content does not fit the others.
pub(crate) fn bad(graph: &Graph, file: ImageFile, expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::damaged(file.path(graph.path()), 0, expected, found)
}

fn bad_manifest(graph: &Graph, what: &str, counted: u64, stored: u64) -> Error {
    let expected = format!("{counted} {what}, as the other files have");
    Error::damaged(graph.path().join(MANIFEST), 0, expected, stored.to_string())
}

/// Hashes of numbers with a random key: each check has its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedHash {
    keys: [u64; 2],
}

impl KeyedHash {
    pub(crate) fn new() -> Self {
        // Seeds of the standard library's tables are random once per process, and different at every call.
        let random = RandomState::new();
        KeyedHash { keys: [random.hash_one(0u64), random.hash_one(1u64)] }
    }

    /// A well-mixed number of a number.
    #[inline]
    pub(crate) fn one(&self, value: u64) -> u64 {
        split_mix(split_mix(value ^ self.keys[0]) ^ self.keys[1])
    }

    /// A well-mixed number of two, which are not interchangeable.
    #[inline]
    pub(crate) fn pair(&self, one: u64, other: u64) -> u64 {
        self.one(self.one(one) ^ other)
    }
}
