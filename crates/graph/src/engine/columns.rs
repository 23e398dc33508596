//! The columns that a graph has for its vertices: degrees and hubs.

use crate::engine::graph::{Direction, Graph};
use outcore_image::{Error, ImageFile, MANIFEST, Result, SweepStats};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

impl Graph {
    /// The length of every list of a direction, and what reading it cost. Takes 4 bytes per vertex.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged, or no memory.
    pub fn degrees(&self, direction: Direction) -> Result<(Buffer<AtomicU32>, SweepStats)> {
        let degrees = Buffer::<AtomicU32>::zeroed(self.runtime().budget(), "degrees", self.vertices() as usize)?;
        let visit = |vertex, degree| degrees[vertex as usize].store(degree, Ordering::Relaxed);
        let stats = self.for_each_degree(direction, visit)?;
        Ok((degrees, stats))
    }

    /// Calls `visit` with every vertex and the length of its list, on all workers and in no order, without keeping the
    /// column in memory.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged.
    pub fn for_each_degree(&self, direction: Direction, visit: impl Fn(u32, u32) + Sync) -> Result<SweepStats> {
        let most = self.list_facts(direction).max_degree;
        self.image().read_column(self.degree_file(direction), self.vertices(), |first, page| {
            for (vertex, &degree) in (first as u32..).zip(page) {
                // Buffers are as long as the longest list is said to be.
                let fits = u32::try_from(degree).ok().filter(|_| degree <= most);
                visit(vertex, fits.ok_or(degree)?);
            }
            Ok(())
        })
    }

    /// Checks the sides of a rectangular matrix: its rows, the first vertices, have no in-neighbours, and its columns
    /// no out-neighbours. Reads both columns of degrees.
    ///
    /// # Errors
    /// An edge that does not lead from a row to a column; a column that cannot be read or is damaged.
    pub fn check_sides(&self) -> Result<()> {
        let Some(rows) = self.manifest().rows else { return Ok(()) };
        for (direction, has_rows, noun) in [(Direction::Out, true, "from"), (Direction::In, false, "to")] {
            let wrong = AtomicU64::new(u64::MAX);
            self.for_each_degree(direction, |vertex, degree| {
                if degree > 0 && (u64::from(vertex) < rows) != has_rows {
                    wrong.fetch_min(vertex.into(), Ordering::Relaxed);
                }
            })?;
            let wrong = wrong.into_inner();
            if wrong < u64::MAX {
                let found = format!("an edge {noun} vertex {wrong}, where {rows} vertices are rows");
                let manifest = self.path().join(MANIFEST);
                return Err(Error::damaged(manifest, 0, "edges from rows to columns", found));
            }
        }
        Ok(())
    }

    /// The hub of every list of a direction: the neighbour of the greatest degree, the vertex itself if it has none.
    /// Takes 4 bytes per vertex.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged, or no memory.
    pub fn hubs(&self, direction: Direction) -> Result<(Buffer<AtomicU32>, SweepStats)> {
        let hubs = Buffer::<AtomicU32>::zeroed(self.runtime().budget(), "hubs", self.vertices() as usize)?;
        let stats = self.for_each_hub(direction, |vertex, hub| hubs[vertex as usize].store(hub, Ordering::Relaxed))?;
        Ok((hubs, stats))
    }

    /// Calls `visit` with every vertex and its hub, on all workers and in no order, without keeping the column in
    /// memory.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged.
    pub fn for_each_hub(&self, direction: Direction, visit: impl Fn(u32, u32) + Sync) -> Result<SweepStats> {
        let vertices = self.vertices();
        self.image().read_column(self.hub_file(direction), vertices, |first, page| {
            for (vertex, &hub) in (first as u32..).zip(page) {
                if hub >= vertices {
                    return Err(hub);
                }
                visit(vertex, hub as u32);
            }
            Ok(())
        })
    }

    /// Number of pages of the column of degrees of a direction.
    pub fn degree_pages(&self, direction: Direction) -> u64 {
        self.image().file_pages(self.degree_file(direction))
    }

    /// Number of pages of the column of hubs of a direction.
    pub fn hub_pages(&self, direction: Direction) -> u64 {
        self.image().file_pages(self.hub_file(direction))
    }

    pub(crate) fn degree_file(&self, direction: Direction) -> ImageFile {
        if self.has_in_files(direction) { ImageFile::IN_DEGREE } else { ImageFile::OUT_DEGREE }
    }

    fn hub_file(&self, direction: Direction) -> ImageFile {
        if self.has_in_files(direction) { ImageFile::IN_HUB } else { ImageFile::OUT_HUB }
    }
}
