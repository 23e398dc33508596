//! The active vertices of a step, and those of the next one as workers find them.
//!
//! The active ones are a sorted list while they are few and a bitmap when they are many, so that a step over ten
//! vertices of a billion costs ten, and a step over half of them a bit each.

use crate::engine::graph::Graph;
use crate::engine::scan::Frontier;
use crate::engine::vertex_set::Bitmap;
use outcore_image::Result;

/// Active vertices are a bitmap if they are more than one in `SPARSE_SHARE`, and a list otherwise.
pub const SPARSE_SHARE: u64 = 128;

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
}

impl Active {
    /// The memory that it takes.
    pub fn bytes(vertices: u64) -> u64 {
        2 * Bitmap::bytes(vertices) + 4 * (vertices / SPARSE_SHARE)
    }

    /// No vertex is active.
    pub fn new(graph: &Graph) -> Result<Self> {
        let vertices = graph.vertices();
        let bitmap = || Bitmap::new(graph.runtime().budget(), "frontiers", vertices);
        Ok(Active { vertices, list: Some(Vec::new()), count: 0, set: bitmap()?, next: bitmap()? })
    }

    /// No vertex is active, and none will be: what a step left that did not end is forgotten.
    pub fn reset(&mut self) {
        self.set.clear();
        self.next.clear();
        (self.list, self.count) = (Some(Vec::new()), 0);
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
            if listed && (activated.list.len() as u64) < self.most_listed() {
                activated.list.push(vertex);
            }
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
            true => parts.into_iter().flat_map(|part| part.list).collect(),
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
    }

    /// Makes the `count` vertices in `next` the active ones.
    pub fn advance(&mut self, count: u64) {
        self.set.clear();
        std::mem::swap(&mut self.set, &mut self.next);
        self.count = count;
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
    list: Vec<u32>,
}
