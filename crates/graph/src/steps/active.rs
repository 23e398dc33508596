//! The active vertices of a step, and those of the next one as workers find them.
//!
//! The active ones are a sorted list while they are few and a bitmap when they are many, so that a step over ten
//! vertices of a billion costs ten, and a step over half of them a bit each.

use crate::engine::graph::Graph;
use crate::engine::scan::Frontier;
use crate::engine::vertex_set::Bitmap;
use outcore_image::Result;
use outcore_io::Reservation;
use std::sync::atomic::{AtomicU64, Ordering};

/// Active vertices are a bitmap if they are more than one in `SPARSE_SHARE`, and a list otherwise.
pub const SPARSE_SHARE: u64 = 128;
/// Number of vertices of a block of a worker's list.
const BLOCK: usize = 256;

/// The active vertices, and the next ones. Takes two bits per vertex.
pub(crate) struct Active {
    pub vertices: u64,
    /// The active ones as a list, while they are few.
    list: Option<Vec<u32>>,
    /// Number of active vertices.
    pub count: u64,
    /// The active ones as a bitmap, while they are many or [`Active::mark`] was called; empty otherwise.
    pub set: Bitmap,
    /// The vertices that are active next; empty between steps.
    pub next: Bitmap,
    /// The vertices for which workers have blocks of lists in this step: all together have room for no more than a list
    /// may have.
    listed: AtomicU64,
    /// The list, and the blocks of the workers.
    _reservation: Reservation,
}

impl Active {
    /// The memory that it takes.
    pub fn bytes(vertices: u64) -> u64 {
        2 * Bitmap::bytes(vertices) + list_bytes(vertices)
    }

    /// No vertex is active.
    pub fn new(graph: &Graph) -> Result<Self> {
        let vertices = graph.vertices();
        let budget = graph.runtime().budget();
        let bitmap = || Bitmap::new(budget, "frontiers", vertices);
        let (set, next, reservation) = (bitmap()?, bitmap()?, budget.reserve("frontiers", list_bytes(vertices))?);
        let (list, listed) = (Some(Vec::new()), AtomicU64::new(0));
        Ok(Active { vertices, list, count: 0, set, next, listed, _reservation: reservation })
    }

    /// No vertex is active, and none will be: what a step left that did not end is forgotten.
    pub fn reset(&mut self) {
        self.set.clear();
        self.next.clear();
        (self.list, self.count) = (Some(Vec::new()), 0);
        *self.listed.get_mut() = 0;
    }

    /// Makes one vertex the only active one.
    pub fn start(&mut self, vertex: u32) {
        self.set.clear();
        (self.list, self.count) = (Some(vec![vertex]), 1);
    }

    /// Makes the vertices of a set the active ones.
    pub fn start_with(&mut self, vertices: &Bitmap) {
        (0..vertices.words()).for_each(|i| self.next.set_word(i, vertices.word(i)));
        self.advance(vertices.count());
    }

    /// The active vertices.
    pub fn frontier(&self) -> Frontier<'_> {
        match &self.list {
            Some(list) => Frontier::List(list),
            None => Frontier::Set(&self.set),
        }
    }

    /// Writes the active vertices into the bitmap as well.
    pub fn mark(&self) {
        for &vertex in self.list.iter().flatten() {
            self.set.insert(vertex);
        }
    }

    /// Makes a vertex active next, on account of a worker; `listed` says whether the worker has to remember which it
    /// was.
    #[inline]
    pub fn activate(&self, vertex: u32, listed: bool, activated: &mut Activated) {
        if self.next.insert(vertex) {
            activated.count += 1;
            if !listed {
                return;
            }
            match activated.blocks.last_mut() {
                Some(block) if block.len() < BLOCK => block.push(vertex),
                _ => self.begin_block(vertex, activated),
            }
        }
    }

    /// Begins a block of a worker's list, unless the workers list too many vertices already.
    #[cold]
    fn begin_block(&self, vertex: u32, activated: &mut Activated) {
        let most = self.most_listed();
        // In a wide step it is called for nearly every vertex, and only reads.
        let has_room = self.listed.load(Ordering::Relaxed) < most;
        if has_room && self.listed.fetch_add(BLOCK as u64, Ordering::Relaxed) < most {
            let mut block = Vec::with_capacity(BLOCK);
            block.push(vertex);
            activated.blocks.push(block);
        }
    }

    /// The most vertices that are a list.
    fn most_listed(&self) -> u64 {
        self.vertices / SPARSE_SHARE + 1
    }

    /// Makes the vertices that the workers activated the active ones.
    pub fn advance_to(&mut self, parts: Vec<Activated>) {
        let count = parts.iter().map(|part| part.count).sum();
        let mut list: Vec<u32> = match count < self.most_listed() {
            true => parts.into_iter().flat_map(|part| part.blocks).flatten().collect(),
            false => Vec::new(),
        };
        if list.len() as u64 != count {
            return self.advance(count);
        }
        list.sort_unstable();
        list.iter().for_each(|&vertex| self.next.remove(vertex));
        if self.list.is_none() {
            self.set.clear();
        }
        self.count = count;
        self.list = Some(list);
        *self.listed.get_mut() = 0;
    }

    /// Makes the `count` vertices in `next` the active ones.
    pub fn advance(&mut self, count: u64) {
        self.set.clear();
        std::mem::swap(&mut self.set, &mut self.next);
        self.count = count;
        *self.listed.get_mut() = 0;
        self.list = (count < self.most_listed()).then(|| {
            let list: Vec<u32> = self.set.iter(0..self.set.words()).collect();
            list.iter().for_each(|&vertex| self.set.remove(vertex));
            list
        });
    }
}

/// The vertices that a worker activated: how many, and which, unless they are many.
#[derive(Default)]
pub(crate) struct Activated {
    pub count: u64,
    /// A vertex that does not exist.
    pub beyond: Option<u32>,
    /// Full blocks, but for the last.
    blocks: Vec<Vec<u32>>,
}

/// Memory of a list of active vertices, and of the blocks that it is made of.
fn list_bytes(vertices: u64) -> u64 {
    2 * 4 * (vertices / SPARSE_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::Budget;
    use std::sync::Arc;

    #[test]
    fn workers_list_no_more_vertices_than_are_reserved() {
        let vertices = 1 << 20;
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        let bitmap = || Bitmap::new(&budget, "a test", vertices).unwrap();
        let mut active = Active {
            vertices,
            list: Some(Vec::new()),
            count: 0,
            set: bitmap(),
            next: bitmap(),
            listed: AtomicU64::new(0),
            _reservation: budget.reserve("a test", list_bytes(vertices)).unwrap(),
        };
        let most = active.most_listed();
        for (workers, count) in
            [(16, 100), (3, most - 1), (16, most - 1), (1, most), (16, 100_000), (5, vertices), (2, 7)]
        {
            let mut parts: Vec<Activated> = (0..workers).map(|_| Activated::default()).collect();
            let vertex = |i: u64| (i * 7 % vertices) as u32;
            for i in 0..count {
                let part = &mut parts[i as usize % workers];
                // Every vertex is found twice.
                (0..2).for_each(|_| active.activate(vertex(i), true, part));
            }
            let listed: usize = parts.iter().flat_map(|part| &part.blocks).map(Vec::capacity).sum();
            assert!(4 * listed as u64 <= list_bytes(vertices) / 2 + 4 * BLOCK as u64, "{listed} of {count} vertices");
            active.advance_to(parts);
            let (is_list, found) = match active.frontier() {
                Frontier::List(list) => (true, list.to_vec()),
                _ => (false, active.set.iter(0..active.set.words()).collect()),
            };
            assert_eq!((is_list, active.count, active.next.count()), (count < most, count, 0));
            let mut expected: Vec<u32> = (0..count).map(vertex).collect();
            expected.sort_unstable();
            assert!(found == expected, "{count} vertices by {workers} workers");
        }
    }
}
