//! Estimates of memory, passes and reads, made before an operation starts.

use outcore_graph::{Graph, PAGE_BYTES};
use outcore_image::Result;
use outcore_table::{ColumnKind, IdStream};

/// The memory of the ids that a report looks up, a few at a time.
const REPORT_BYTES: u64 = 1 << 20;

/// The estimated memory, passes and reads of an operation. Options out of range are refused by the run, not by its
/// estimate, which means nothing then.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Estimate {
    /// The memory of its state, in bytes, apart from what the process and the open graph hold.
    pub state_bytes: u64,
    /// The memory that the process needs in all: the least limit that works, in bytes.
    pub memory_bytes: u64,
    /// How many passes over the lists it makes; see `bound`.
    pub passes: f64,
    /// The bytes that it reads: those passes, and columns beside the lists.
    pub read_bytes: u64,
    /// The kind of bound that `passes` is.
    pub bound: Bound,
    /// The memory of the result and its report, in bytes.
    pub result_bytes: u64,
    /// The memory of the result and of its verification together, in bytes. The rest of the state is freed by then.
    pub verify_bytes: u64,
    /// The columns of the result.
    pub columns: Vec<ColumnKind>,
}

/// The kind of bound on the number of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// There are no more on any graph.
    AtMost,
    /// No bound is known: the number depends on weights or on the lengths of paths, and is at worst that of levels or
    /// distances. On graphs with hubs there are no more than `passes`.
    Usual,
    /// There are no fewer.
    AtLeast,
}

impl Bound {
    /// The words that stand before the number of passes.
    pub fn words(self) -> &'static str {
        match self {
            Bound::AtMost => "at most",
            Bound::Usual => "no bound is known beforehand; often",
            Bound::AtLeast => "at least",
        }
    }
}

/// The reads of an operation: passes over lists, each of some pages, and the pages of columns beside them.
#[derive(Clone, Copy)]
pub(crate) struct Reads {
    pub passes: f64,
    pub bound: Bound,
    pub pages_per_pass: u64,
    pub column_pages: u64,
}

impl Reads {
    /// The estimate of an operation with this state, whose result has a value of each column for every vertex.
    pub fn estimate(self, graph: &Graph, state_bytes: u64, columns: Vec<ColumnKind>) -> Estimate {
        let Reads { passes, bound, pages_per_pass, column_pages } = self;
        let pages = ((passes * pages_per_pass as f64).ceil() as u64).saturating_add(column_pages);
        let read_bytes = pages.saturating_mul(PAGE_BYTES);
        let verify_bytes = columns.iter().map(|column| column.bytes()).sum::<u64>().saturating_mul(graph.vertices());
        let result_bytes = verify_bytes.saturating_add(IdStream::bytes(graph.image()) + REPORT_BYTES);
        let memory_bytes = least_limit(graph, state_bytes.max(result_bytes));
        Estimate { state_bytes, memory_bytes, passes, read_bytes, bound, result_bytes, verify_bytes, columns }
    }
}

impl Estimate {
    /// Adds the memory of the result beside its columns, in bytes.
    pub(crate) fn with_more_result(mut self, graph: &Graph, bytes: u64) -> Self {
        self.verify_bytes = self.verify_bytes.saturating_add(bytes);
        self.result_bytes = self.result_bytes.saturating_add(bytes);
        self.memory_bytes = self.memory_bytes.max(least_limit(graph, self.result_bytes));
        self
    }

    /// Adds the memory that verification takes beside the result, in bytes.
    pub(crate) fn verified_in(mut self, bytes: u64) -> Self {
        self.verify_bytes = self.verify_bytes.saturating_add(bytes);
        self
    }

    /// Raises the state to at least `bytes`, and the memory limit with it: a use of the result may need more than the
    /// run.
    pub fn with_state(mut self, graph: &Graph, bytes: u64) -> Self {
        self.state_bytes = self.state_bytes.max(bytes);
        self.memory_bytes = self.memory_bytes.max(least_limit(graph, bytes));
        self
    }

    /// Includes the memory of verification. Its passes are not counted.
    pub fn with_verification(mut self, graph: &Graph) -> Self {
        self.memory_bytes = self.memory_bytes.max(least_limit(graph, self.verify_bytes));
        self
    }

    /// Includes the memory of writing the result to a file, see [`Graph::output_bytes`].
    pub fn with_output(mut self, graph: &Graph, output_bytes: u64) -> Self {
        self.memory_bytes = self.memory_bytes.max(least_limit(graph, output_bytes));
        self
    }

    /// Refuses a run before it starts if memory will not suffice to report, verify or write its result; writing takes
    /// `output_bytes`, see [`Graph::output_bytes`].
    ///
    /// # Errors
    /// Too little memory. The error names the greatest need, the run included, so the limit that it names is enough.
    pub fn check_result(&self, graph: &Graph, verified: bool, output_bytes: Option<u64>) -> Result<()> {
        let reported = ("the result and the ids that are told of it", self.result_bytes);
        let verified = verified.then_some(("the result and its verification", self.verify_bytes));
        let written = output_bytes.map(|bytes| ("the result and what writes it", bytes));
        let needs = || [Some(reported), verified, written].into_iter().flatten();
        if needs().all(|(purpose, bytes)| graph.make_room(purpose, bytes).is_ok()) {
            return Ok(());
        }
        let run = ("the run", self.state_bytes);
        let (purpose, bytes) = needs().fold(run, |most, need| if need.1 > most.1 { need } else { most });
        graph.make_room(purpose, bytes)
    }
}

/// The least memory limit of the process under which `bytes` more can be reserved, also by a process that holds a
/// little more at its start.
pub fn least_limit(graph: &Graph, bytes: u64) -> u64 {
    let budget = graph.runtime().budget();
    match bytes.saturating_sub(budget.available_bytes()) {
        0 => budget.limit_for(bytes, budget.available_bytes()),
        missing => {
            let more_bytes = graph.image().more_bytes(missing).saturating_add(budget.margin_bytes());
            budget.limit_bytes().saturating_add(more_bytes)
        }
    }
}

/// The number of pages of the degree columns.
pub(crate) fn degree_pages(graph: &Graph) -> u64 {
    graph.directions().iter().map(|&direction| graph.degree_pages(direction)).sum()
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

/// The least capacity of a buffer of labels, unless the graph has fewer entries.
pub(crate) const LEAST_LABELS: u64 = 1 << 16;

/// The least capacity of a buffer that holds the labels of any vertex.
pub(crate) fn least_labels(graph: &Graph) -> u64 {
    longest_lists(graph).max(LEAST_LABELS.min(all_entries(graph)))
}
