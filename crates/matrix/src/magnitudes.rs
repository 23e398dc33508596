//! Products of the magnitudes of entries with a vector, which bound norms: with ones they are the 1-norms of columns,
//! or of rows.

use crate::sparse::{Operand, SparseMatrix};
use outcore_graph::{ListFold, ListPart, fold};
use outcore_image::{Error, Result, StatsBuilder};
use outcore_io::AtomicF64;
use outcore_io::buffer::shared;

impl SparseMatrix {
    /// Writes the product of the matrix of the entries' magnitudes with a vector; rows of both are in the order of the
    /// image. Entries at one place count one by one, so the product is not less than it is otherwise.
    ///
    /// *Cost.* One pass.
    ///
    /// # Errors
    /// Numbers that do not fit the shape; a page that cannot be read or is damaged; a request to stop.
    pub fn multiply_magnitudes_as_stored(
        &self,
        operand: Operand,
        factor: &[f64],
        product: &mut [f64],
        stats: &mut StatsBuilder,
    ) -> Result<()> {
        let (rows, columns) = self.shape();
        let (rows, inner) = if operand == Operand::Matrix { (rows, columns) } else { (columns, rows) };
        if (factor.len() as u64, product.len() as u64) != (inner, rows) {
            let found = format!("{} numbers for {}", factor.len(), product.len());
            return Err(Error::Usage(format!("expected numbers for a matrix of {rows} x {inner}, found {found}")));
        }
        let _weights = self.keep_values(operand)?;
        let ((), sweep) = {
            let [first_row, first] = self.first_vertices(operand);
            let pass = Magnitudes { factor, first, product: shared(product), first_row };
            fold(self.graph(), self.edges_of(operand), self.lists_of(operand), &pass)?
        };
        stats.step("magnitudes", rows, sweep);
        Ok(())
    }
}

/// The pass.
struct Magnitudes<'a> {
    factor: &'a [f64],
    /// The vertex that the first number of the factor belongs to.
    first: usize,
    product: &'a [AtomicF64],
    first_row: usize,
}

impl ListFold for Magnitudes<'_> {
    type Value = f64;
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> f64 {
        let imaginary = list.weights.imaginary_bits();
        let magnitude = |i: usize| match (list.weights.is_empty(), imaginary.get(i)) {
            (true, _) => 1.0,
            (false, None) => list.weights.real(i).abs(),
            (false, Some(&bits)) => list.weights.real(i).hypot(f64::from_bits(bits)),
        };
        // Neighbours outside the columns, in a damaged image, do not count.
        let number = |&vertex: &u32| (vertex as usize).checked_sub(self.first).and_then(|place| self.factor.get(place));
        let terms = list.neighbours.iter().enumerate().map(|(i, vertex)| (magnitude(i), number(vertex)));
        terms.map(|(magnitude, number)| magnitude * number.copied().unwrap_or(0.0)).sum()
    }

    fn merge(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    fn finish(&self, vertex: u32, value: Option<f64>, (): &mut ()) {
        self.product[vertex as usize - self.first_row].store(value.unwrap_or(0.0));
    }
}
