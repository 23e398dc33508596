//! The diagonal of a matrix: one pass over the lists, in each of which the row's own column is looked up.

use crate::sparse::{Operand, SparseMatrix};
use outcore_graph::{ListFold, ListPart, fold};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer};

impl SparseMatrix {
    /// The entries of the diagonal, 0 where there is none, in the order of the image: [`SparseMatrix::row_at`] says
    /// which row each belongs to. Entries at one place are added up. Of a complex matrix every number is two, the real
    /// and the imaginary part.
    ///
    /// *Cost.* One pass, 8 bytes per row, or 16.
    ///
    /// # Errors
    /// A matrix that is not square; too little memory; a page that cannot be read or is damaged; a request to stop.
    pub fn diagonal(&self, stats: &mut StatsBuilder) -> Result<Buffer<f64>> {
        let (rows, columns) = self.shape();
        if !self.is_square() {
            return Err(Error::Usage(format!("expected a square matrix, found one of {rows} x {columns}")));
        }
        let (budget, numbers) = (self.graph().runtime().budget(), rows as usize * self.parts());
        let mut diagonal = Buffer::zeroed(budget, "the diagonal of a matrix", numbers)?;
        self.pass_diagonal(&mut diagonal, false, stats)?;
        Ok(diagonal)
    }

    /// Writes the diagonal in the order of ids. That of a rectangular matrix ends with its shorter side.
    ///
    /// # Errors
    /// Those of [`SparseMatrix::diagonal`], but the matrix need not be square; too few or too many numbers.
    pub fn write_diagonal(&self, diagonal: &mut [f64]) -> Result<Stats> {
        let (graph, (rows, columns)) = (self.graph(), self.shape());
        let (numbers, found) = (rows.min(columns) as usize * self.parts(), diagonal.len());
        if found != numbers {
            return Err(Error::Usage(format!("expected room for {numbers} numbers, found {found}")));
        }
        let mut stats = StatsBuilder::start();
        stats.weights(graph.manifest().weights().filter(|_| self.has_values()).map(|weights| weights.name.as_str()));
        diagonal.fill(0.0);
        self.pass_diagonal(diagonal, true, &mut stats)?;
        Ok(stats.finish(graph.runtime(), self.pages_per_pass(Operand::Matrix)))
    }

    fn pass_diagonal(&self, diagonal: &mut [f64], by_id: bool, stats: &mut StatsBuilder) -> Result<()> {
        let graph = self.graph();
        let _weights = self.keep_values(Operand::Matrix)?;
        let entries = Diagonal { matrix: self, by_id, numbers: shared(diagonal) };
        let ((), sweep) = fold(graph, self.edges_of(Operand::Matrix), self.lists_of(Operand::Matrix), &entries)?;
        stats.step("diagonal", self.shape().0, sweep);
        Ok(())
    }
}

/// The pass.
struct Diagonal<'a> {
    matrix: &'a SparseMatrix,
    by_id: bool,
    numbers: &'a [AtomicF64],
}

impl ListFold for Diagonal<'_> {
    /// The real and the imaginary part.
    type Value = [f64; 2];
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> [f64; 2] {
        let part = |i: usize| match (list.weights.is_empty(), list.weights.imaginary_bits().get(i)) {
            (true, _) => [1.0, 0.0],
            (false, imaginary) => [list.weights.real(i), imaginary.map_or(0.0, |&bits| f64::from_bits(bits))],
        };
        let add = |sum: [f64; 2], i| self.merge(sum, part(i));
        if !self.matrix.is_square() {
            // Columns are in an order of their own.
            let row = Some(self.matrix.row_at(list.vertex as usize));
            let own = |i: &usize| self.matrix.column_of(list.neighbours[*i]) == row;
            return (0..list.neighbours.len()).filter(own).fold([0.0; 2], add);
        }
        let first = list.neighbours.partition_point(|&neighbour| neighbour < list.vertex);
        let entries = list.neighbours[first..].iter().take_while(|&&neighbour| neighbour == list.vertex);
        (first..).zip(entries).map(|(i, _)| i).fold([0.0; 2], add)
    }

    fn merge(&self, before: [f64; 2], after: [f64; 2]) -> [f64; 2] {
        [before[0] + after[0], before[1] + after[1]]
    }

    fn finish(&self, vertex: u32, value: Option<[f64; 2]>, (): &mut ()) {
        let place = if self.by_id { self.matrix.row_at(vertex as usize) } else { vertex as usize };
        let parts = self.matrix.parts();
        // Rows below the last column have no place.
        if let Some(numbers) = self.numbers.get(place * parts..(place + 1) * parts) {
            numbers.iter().zip(value.unwrap_or_default()).for_each(|(number, part)| number.store(part));
        }
    }
}
