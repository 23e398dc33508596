//! Options and report of an import.

use super::read::ReadEdge;
use outcore_format::Manifest;
use outcore_image::{Error, Result};
use outcore_ingest::{Choice, Facts, Files};
use serde::Serialize;

/// Treatment of edges that have the same ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// The first in the input stays.
    #[default]
    First,
    /// One stays, with the sum of the weights.
    Sum,
    /// One stays, with the least weight.
    Min,
    /// One stays, with the greatest weight.
    Max,
    /// All stay.
    Keep,
    /// The import fails.
    Error,
    /// The last in the input stays.
    Last,
}

impl Choice for Duplicates {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Duplicates::First, "first", "The first stays"),
        (Duplicates::Last, "last", "The last stays"),
        (Duplicates::Sum, "sum", "One stays, with the sum of the weights"),
        (Duplicates::Min, "min", "One stays, with the least weight"),
        (Duplicates::Max, "max", "One stays, with the greatest weight"),
        (Duplicates::Keep, "keep", "All stay"),
        (Duplicates::Error, "error", "The import fails"),
    ];
}

/// Treatment of edges from a vertex to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelfLoops {
    /// Self-loops stay.
    #[default]
    Keep,
    /// Self-loops go; their vertices stay.
    Drop,
}

impl Choice for SelfLoops {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(SelfLoops::Keep, "keep", "They stay"), (SelfLoops::Drop, "drop", "They go, their vertices stay")];
}

/// The order in which an image numbers its vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderChoice {
    /// The order with the smallest image, as a sample of the lists tells; by degree if the sizes are close. `Near` is
    /// tried in graphs without hubs, if memory suffices, and is taken if it saves more than its larger ids cost.
    #[default]
    Auto,
    /// As the ids sort.
    Input,
    /// By degree class, hubs first.
    Degree,
    /// Vertices that are near in the graph together. Takes 24 bytes of memory per vertex.
    Near,
}

impl Choice for OrderChoice {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (OrderChoice::Auto, "auto", "Whichever makes the image smaller"),
        (OrderChoice::Input, "input", "As the ids sort"),
        (OrderChoice::Degree, "degree", "By degree, hubs first"),
        (OrderChoice::Near, "near", "Vertices that are near in the graph together"),
    ];
}

outcore_ingest::from_names!(Duplicates, SelfLoops, OrderChoice);

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Whether edges have a direction; `None` takes what the format says, and a direction where it says nothing.
    pub directed: Option<bool>,
    /// Treatment of edges that have the same ends.
    pub duplicates: Duplicates,
    /// Treatment of edges from a vertex to itself.
    pub self_loops: SelfLoops,
    /// The order in which vertices are numbered.
    pub order: OrderChoice,
    /// Number of rows of a rectangular matrix: the first vertices, as their ids sort. The others are its columns.
    /// `None` takes the number that the input gives.
    pub rows: Option<u64>,
    /// Whether an image that has the name already is replaced; otherwise that is an error.
    pub replace: bool,
    /// An input without edges may replace an image or come from a pipe, and conditions may leave no edge.
    pub allow_empty: bool,
    /// The import fails if the input has fewer edges, before duplicates are removed.
    pub require_edges: u64,
    /// The import fails if one of several files has no edge.
    pub refuse_empty_files: bool,
}

/// Report of an import.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportReport {
    /// The image's manifest.
    pub manifest: Manifest,
    /// The first edges as they were understood.
    pub first_edges: Vec<ReadEdge>,
    /// The files that were read, where the input was files, and those in their folders that were not.
    pub files: Files,
    /// Notes for the user about the reading of the input, in whole sentences.
    pub notes: Vec<String>,
    /// Times, memory and temporary files of the import.
    pub stats: ImportStats,
}

/// Times, memory and temporary files of an import.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ImportStats {
    /// All of it, in seconds.
    pub seconds: f64,
    /// Reading and parsing the input, and counting degrees.
    pub read_seconds: f64,
    /// Merging the dictionaries and numbering the vertices.
    pub number_seconds: f64,
    /// Translating edges to numbers and distributing them.
    pub translate_seconds: f64,
    /// Sorting and encoding the lists.
    pub lists_seconds: f64,
    /// Writing ids and manifest, and waiting for the disk.
    pub finish_seconds: f64,
    /// Bytes written to temporary files, all merges of sorted runs included: the writing that the import costs, not the
    /// space that it takes.
    pub temporary_bytes: u64,
    /// Most space on the disk of temporary files at a time. Files in memory take none.
    pub peak_temporary_bytes: u64,
    /// Most space on the disk of temporary files and the image together at a time. An image that is replaced is not in
    /// it.
    pub peak_disk_bytes: u64,
    /// The image's size, and the most space of it: it only grows.
    pub image_bytes: u64,
    /// Dictionaries that were filled, at least one per worker that had something to read.
    pub chunks: u64,
    /// Parts in which the edges of one direction were sorted.
    pub partitions: u64,
    /// The limit for memory.
    pub memory_limit_bytes: u64,
    /// The most memory that the process ever held.
    pub memory_peak_bytes: u64,
}

/// Refuses what rectangular matrices have not.
pub(super) fn check_rectangular(rows: Option<u64>, directed: bool, order: OrderChoice) -> Result<()> {
    let refused = match rows {
        Some(_) if !directed => {
            "expected edges with a direction for a rectangular matrix, which is not its own transpose, found edges without one"
        }
        Some(_) if order == OrderChoice::Near => {
            "expected --order input, degree or auto for a rectangular matrix, found near"
        }
        _ => return Ok(()),
    };
    Err(Error::Usage(refused.to_owned()))
}

/// Refuses an order in which the rows of a matrix under ids do not come first.
pub(super) fn check_sides_of_matrix(facts: &Facts, order: OrderChoice) -> Result<()> {
    match order {
        OrderChoice::Degree | OrderChoice::Near if facts.sides_are_matrix => Err(Error::Usage(format!(
            "expected --order input or auto for a matrix whose rows and columns have ids, found {}",
            order.name()
        ))),
        _ => Ok(()),
    }
}

/// Refuses what complex values have not.
pub(super) fn check_complex(facts: &Facts, duplicates: Duplicates) -> Result<()> {
    let text = match duplicates {
        _ if !facts.is_complex => return Ok(()),
        _ if !facts.attributes.is_empty() => format!(
            "expected a complex matrix without attributes, found {}; leave --attributes out",
            facts.attributes.len()
        ),
        Duplicates::Min | Duplicates::Max => format!(
            "expected --duplicates sum, first, last, keep or error for complex weights, which have no order, found {}",
            duplicates.name()
        ),
        _ => return Ok(()),
    };
    Err(Error::Usage(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{GeneratedWeights, Shape};
    use outcore_ingest::IdKind;

    fn check<T: Choice + std::fmt::Debug>() {
        for &(value, name, _) in T::ALL {
            assert_eq!((value.name(), T::named(name)), (name, Some(value)));
            // And none is called like another.
            let written = format!("{value:?}").to_lowercase();
            assert_eq!(written.trim_start_matches("type(").trim_end_matches(')'), name);
        }
        assert_eq!(T::named("nothing"), None);
    }

    #[test]
    fn values_are_found_by_their_names() {
        check::<Duplicates>();
        check::<IdKind>();
        check::<OrderChoice>();
        check::<SelfLoops>();
        check::<GeneratedWeights>();
        check::<Shape>();
    }
}
