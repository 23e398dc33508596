//! Groups of rows that name the same vertex, such as components and communities, and their sizes.
//!
//! *Cost.* 4 bytes per vertex for the counts. [`Table::largest_groups`] takes 8 bytes per group beside them, and the
//! ids of the groups that it returns.

use crate::ids::{Id, ids_of};
use crate::names::shown_members;
use crate::table::{Column, Table};
use outcore_image::Result;
use outcore_io::Buffer;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Number of rows between two checks for a cancelled run.
const CHECKED_ROWS: usize = 1 << 20;

/// Memory of a group while groups are sorted.
const GROUP_BYTES: u64 = size_of::<(Reverse<u32>, u32)>() as u64;

impl Table {
    /// The number of groups of each size. The column is one that names vertices.
    ///
    /// # Errors
    /// No memory, or a cancelled run.
    pub fn group_sizes(&self, column: &Column) -> Result<BTreeMap<u32, u64>> {
        let counts = self.group_counts(column)?;
        let mut sizes = BTreeMap::new();
        counts.iter().filter(|&&count| count > 0).for_each(|&count| *sizes.entry(count).or_insert(0) += 1);
        Ok(sizes)
    }

    /// The `k` largest groups: the id of the vertex that a group is called by, and the number of rows. The larger group
    /// comes first, and among equals the smaller id. The column is one that names vertices.
    ///
    /// # Errors
    /// No memory, a cancelled run, or ids that cannot be read.
    pub fn largest_groups(&self, column: &Column, k: usize) -> Result<Vec<(Id<String>, u32)>> {
        let counts = self.group_counts(column)?;
        let image = self.image();
        let some = || (0..).zip(counts.iter()).filter(|(_, count)| **count > 0);
        let count = some().count();
        let _reservation = image.reserve("the groups of a column", GROUP_BYTES * count as u64)?;
        let mut groups: Vec<(Reverse<u32>, u32)> = Vec::with_capacity(count);
        groups.extend(some().map(|(vertex, &count)| (Reverse(count), vertex)));
        // Ids decide among those that are as large as the last.
        groups.sort_unstable();
        let last = groups.get(k.saturating_sub(1)).map(|(size, _)| *size);
        groups.retain(|(size, _)| last.is_none_or(|last| *size <= last));
        // Components are called by their smallest ids.
        let shown = if let Column::Component(values) = column { shown_members(image, values)? } else { None };
        let name = |vertex: u32| shown.as_ref().map_or(vertex, |shown| !shown[vertex as usize]);
        let _ids = image.reserve("the ids of groups", (size_of::<Id<String>>() as u64 + 12) * groups.len() as u64)?;
        let ids = ids_of(image, &groups.iter().map(|(_, vertex)| name(*vertex)).collect::<Vec<_>>())?;
        let mut named: Vec<_> = groups.into_iter().zip(ids).map(|((size, _), id)| (size, id)).collect();
        named.sort();
        named.truncate(k);
        Ok(named.into_iter().map(|(Reverse(size), id)| (id, size)).collect())
    }

    /// The number of rows that name each vertex.
    fn group_counts(&self, column: &Column) -> Result<Buffer<u32>> {
        let (image, vertices) = (self.image(), self.image().manifest().vertices as usize);
        self.check_vertices()?;
        let mut counts = Buffer::<u32>::zeroed(image.runtime().budget(), "the sizes of groups", vertices)?;
        for (row, vertex) in self.vertices().enumerate() {
            if row % CHECKED_ROWS == 0 {
                image.runtime().cancel().check()?;
            }
            if let Some(vertex) = column.named(vertex) {
                image.check_vertex(vertex)?;
                counts[vertex as usize] += 1;
            }
        }
        Ok(counts)
    }
}
