//! Sums over the entries of a sparse matrix.
//!
//! Parallel edges of a graph are one entry, whose value is their sum: so products have it, too. Terms are added in the
//! order of the image, page by page, so the bits depend on nothing else.

use crate::sparse::{Operand, SparseMatrix};
use outcore_graph::{Direction, Edges, ListFold, ListPart, fold};
use outcore_image::{Result, StatsBuilder};

/// Sums and extremes of all entries, from one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EntrySums {
    /// The sum of the entries.
    pub sum: f64,
    /// The sum of their squares: the square of the Frobenius norm.
    pub sum_of_squares: f64,
    /// The least value that is stored; infinity if there is none.
    pub least: f64,
    /// The greatest magnitude of a value that is stored; 0 if there is none.
    pub greatest: f64,
}

impl Default for EntrySums {
    fn default() -> Self {
        EntrySums { sum: 0.0, sum_of_squares: 0.0, least: f64::INFINITY, greatest: 0.0 }
    }
}

impl EntrySums {
    fn plus(self, other: EntrySums) -> Self {
        EntrySums {
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }
}

impl SparseMatrix {
    /// The sum of the squares of all entries, which is the square of the Frobenius norm. One pass.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged; a request to stop.
    pub fn sum_of_squares(&self) -> Result<f64> {
        Ok(self.entry_sums(&mut StatsBuilder::start())?.sum_of_squares)
    }

    /// Sums and extremes of the entries; `stats` counts the costs of the pass.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::sum_of_squares`].
    pub fn entry_sums(&self, stats: &mut StatsBuilder) -> Result<EntrySums> {
        let graph = self.graph();
        let _weights = self.keep_values(Operand::Matrix)?;
        graph.fill_cache()?;
        let edges = Edges::new(Direction::Out, self.has_values());
        let (sums, sweep) = fold(graph, edges, self.lists_of(Operand::Matrix), &Summed)?;
        stats.step("sum", self.shape().0, sweep);
        Ok(sums)
    }
}

/// The sums of a part of a row; its first and last entries may continue in the adjacent parts.
#[derive(Clone, Copy)]
struct RowPart {
    sums: EntrySums,
    first: (u32, f64),
    last: (u32, f64),
}

impl RowPart {
    fn edge(column: u32, value: f64) -> Self {
        let sums = EntrySums { sum: value, sum_of_squares: value * value, least: value, greatest: value.abs() };
        RowPart { sums, first: (column, value), last: (column, value) }
    }

    fn is_one_entry(&self) -> bool {
        self.first.0 == self.last.0
    }

    /// Joins this part and the one behind it.
    #[inline(always)]
    fn with(mut self, after: RowPart) -> Self {
        let sums = self.sums.plus(after.sums);
        let ((column, one), (next, other)) = (self.last, after.first);
        if column != next {
            return RowPart { sums, first: self.first, last: after.last };
        }
        self.sums = sums;
        self.sums.sum_of_squares += 2.0 * one * other;
        if self.is_one_entry() {
            self.first.1 = one + other;
        }
        self.last = if after.is_one_entry() { (column, one + other) } else { after.last };
        self
    }
}

struct Summed;

impl ListFold for Summed {
    type Value = RowPart;
    type Total = EntrySums;

    fn part(&self, list: ListPart<'_>) -> RowPart {
        let value = |i: usize| if list.weights.is_empty() { 1.0 } else { list.weights.real(i) };
        let edges = list.neighbours.iter().enumerate().map(|(i, &column)| RowPart::edge(column, value(i)));
        match edges.reduce(RowPart::with) {
            Some(part) => part,
            None => unreachable!("a part of a list is not empty"),
        }
    }

    fn merge(&self, before: RowPart, after: RowPart) -> RowPart {
        before.with(after)
    }

    fn finish(&self, _vertex: u32, value: Option<RowPart>, total: &mut EntrySums) {
        if let Some(part) = value {
            *total = total.plus(part.sums);
        }
    }

    fn add(&self, total: &mut EntrySums, later: EntrySums) {
        *total = total.plus(later);
    }
}
