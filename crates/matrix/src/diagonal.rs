//! The diagonal of a square matrix: one pass over the lists, in each of which the vertex itself is looked up.

use crate::sparse::{Operand, SparseMatrix};
use outcore_graph::{Direction, Edges, Error, Frontier, ListFold, ListPart, Result, StatsBuilder, fold};
use outcore_io::buffer::shared;
use outcore_io::{Array, AtomicF64};

impl SparseMatrix {
    /// The entries of the diagonal, 0 where there is none, in the order of the image: [`SparseMatrix::row_at`] says
    /// which row each belongs to. Entries at one place are added up.
    ///
    /// *Cost.* One pass, 8 bytes per row.
    ///
    /// # Errors
    /// A matrix that is not square; too little memory; a page that cannot be read or is damaged; a request to stop.
    pub fn diagonal(&self, stats: &mut StatsBuilder) -> Result<Array<f64>> {
        let (graph, (rows, columns)) = (self.graph(), self.shape());
        if !self.is_square() {
            return Err(Error::Usage(format!("expected a square matrix, found one of {rows} x {columns}")));
        }
        let mut diagonal = Array::zeroed(graph.runtime().budget(), "the diagonal of a matrix", rows as usize)?;
        let _kept = self.keep_values(Operand::Matrix)?;
        let edges = Edges::new(Direction::Out, self.has_values());
        let ((), sweep) = fold(graph, edges, Frontier::All, &Diagonal { numbers: shared(&mut diagonal) })?;
        stats.step("diagonal", graph.vertices(), sweep);
        Ok(diagonal)
    }
}

/// The pass.
struct Diagonal<'a> {
    numbers: &'a [AtomicF64],
}

impl ListFold for Diagonal<'_> {
    type Value = f64;
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> f64 {
        let first = list.neighbours.partition_point(|&neighbour| neighbour < list.vertex);
        let entries = list.neighbours[first..].iter().take_while(|&&neighbour| neighbour == list.vertex);
        match list.weights.is_empty() {
            true => entries.count() as f64,
            false => (first..).zip(entries).map(|(i, _)| list.weights.real(i)).sum(),
        }
    }

    fn merge(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    fn finish(&self, vertex: u32, value: Option<f64>, (): &mut ()) {
        self.numbers[vertex as usize].store(value.unwrap_or(0.0));
    }
}
