//! What an operation will need, said before it starts.

use outcore_graph::Graph;

/// What an operation will need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The memory of its state, in bytes, apart from what the process and the open graph hold.
    pub state_bytes: u64,
    /// The memory that the process needs in all: the least limit that works, in bytes.
    pub memory_bytes: u64,
    /// How many passes over the lists it makes at most, or per iteration.
    pub passes: f64,
    /// The bytes that those passes read.
    pub read_bytes: u64,
}

impl Estimate {
    pub(crate) fn new(graph: &Graph, state_bytes: u64, passes: f64, pages_per_pass: u64) -> Self {
        let budget = graph.runtime().budget();
        let used = budget.limit_bytes() - budget.available_bytes();
        let missing = state_bytes.saturating_sub(budget.available_bytes());
        Estimate {
            state_bytes,
            memory_bytes: match missing {
                0 => used.saturating_add(state_bytes),
                missing => budget.limit_bytes().saturating_add(graph.more_bytes(missing)),
            },
            passes,
            read_bytes: (passes * pages_per_pass as f64) as u64 * outcore_graph::PAGE_BYTES,
        }
    }
}

/// The entries of all lists that hold a vertex's edges.
pub(crate) fn all_entries(graph: &Graph) -> u64 {
    let manifest = graph.manifest();
    manifest.out_lists.entries + manifest.in_lists.as_ref().map_or(0, |lists| lists.entries)
}

/// The most entries that the lists of one vertex can have together.
pub(crate) fn longest_lists(graph: &Graph) -> u64 {
    let manifest = graph.manifest();
    manifest.out_lists.max_degree + manifest.in_lists.as_ref().map_or(0, |lists| lists.max_degree)
}
