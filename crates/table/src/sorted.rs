//! The rows of a table in the order of a column.
//!
//! *Cost.* A permutation of 4 bytes per vertex, which the sorted table keeps; 12 bytes per vertex during the sort, and
//! all ids if vertices are not numbered in their order. Reading the rows takes all ids in memory.

use crate::ids::by_id;
use crate::table::Table;
use crate::top::rank;
use outcore_image::Result;
use outcore_io::Buffer;
use std::sync::Arc;

impl Table {
    /// A table of these rows, sorted by a column, `vertex` or one of numbers: the smallest values first, or the
    /// greatest. Missing values and NaN come last; among equals the smaller id comes first.
    ///
    /// # Errors
    /// [`Error::Usage`](outcore_image::Error::Usage) for a column that does not exist or has no order; ids that cannot
    /// be read; no memory.
    pub fn sorted(&self, column: &str, descending: bool) -> Result<Table> {
        let (image, count) = (self.image(), self.image().manifest().vertices as usize);
        let budget = image.runtime().budget();
        let mut order = match by_id(image)? {
            Some(order) => order,
            None => {
                let mut order = Buffer::<u32>::zeroed(budget, "the order of rows", count)?;
                order.iter_mut().zip(0..).for_each(|(slot, vertex)| *slot = vertex);
                order
            }
        };
        order.reservation().rename("the order of rows");
        if let Some(members) = self.members()? {
            let mut own = Buffer::<u32>::zeroed(budget, "the order of rows", self.rows() as usize)?;
            let chosen = order.iter().copied().filter(|&vertex| members.contains(vertex));
            own.iter_mut().zip(chosen).for_each(|(slot, vertex)| *slot = vertex);
            order = own;
        }
        if column == "vertex" {
            if descending {
                order.reverse();
            }
            return Ok(self.in_order(Arc::new(order)));
        }
        let ranked = self.ranked(column)?;
        let scratch_bytes = 12 * self.rows();
        image.make_room("sorting rows", scratch_bytes)?;
        let _scratch = budget.reserve("sorting rows", scratch_bytes)?;
        // A stable sort leaves equals in the order of their ids.
        let key = |&row: &u32| match rank(ranked, row) {
            None => (true, 0),
            Some(rank) => (false, if descending { !rank } else { rank }),
        };
        order.sort_by_key(key);
        Ok(self.in_order(Arc::new(order)))
    }
}
