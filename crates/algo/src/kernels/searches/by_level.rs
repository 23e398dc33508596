//! The vertices that a search reaches, level by level, and a level that moves forwards and back.
//!
//! *Encoding.* The vertices stand in one array, within a level in rising order; a bit marks the first of each level.
//!
//! *Cost.* 4 bytes and a bit per vertex.

use crate::kernels::bfs::Bfs;
use crate::state::{Layout, array, bitmap};
use outcore_graph::{Bitmap, Graph};
use outcore_io::Buffer;
use std::ops::Range;

/// The vertices that a source reaches, in the order of their levels.
pub(crate) struct ByLevel {
    order: Buffer<u32>,
    firsts: Bitmap,
    /// The number of reached vertices, the source included.
    pub count: usize,
    pub depth: u32,
    /// The places of the current level.
    level: Range<usize>,
}

impl ByLevel {
    pub fn layout(graph: &Graph) -> impl Layout<Made = Self> {
        let (name, vertices) = ("vertices by level", graph.vertices());
        let parts = (array(graph, name, vertices), bitmap(graph, name, vertices));
        parts.then(|(order, firsts)| Ok(ByLevel { order, firsts, count: 0, depth: 0, level: 0..0 }))
    }

    /// Sorts the vertices that a search reached by level; the source is the current level. The array of the parents is
    /// scratch space for the ends of the levels.
    pub fn sort(&mut self, search: Bfs) {
        let Bfs { levels, parents: mut ends, reached, depth, .. } = search;
        let deepest = depth as usize;
        ends[..=deepest].fill(0);
        let level = |v: usize| levels[v].checked_sub(1).map(|level| level as usize);
        (0..levels.len()).filter_map(level).for_each(|level| ends[level] += 1);
        self.firsts.clear();
        let mut start = 0;
        for end in &mut ends[..=deepest] {
            self.firsts.insert(start);
            (start, *end) = (start + *end, start);
        }
        for v in 0..levels.len() {
            if let Some(level) = level(v) {
                let end = &mut ends[level];
                self.order[*end as usize] = v as u32;
                *end += 1;
            }
        }
        (self.count, self.depth) = (reached as usize, depth);
        self.level = 0..self.end_of(0);
    }

    fn end_of(&self, start: usize) -> usize {
        let mut place = start + 1;
        while place < self.count {
            let word = self.firsts.word(place / 64) >> (place % 64);
            if word != 0 {
                return place + word.trailing_zeros() as usize;
            }
            place = (place / 64 + 1) * 64;
        }
        self.count
    }

    /// Moves to the level behind the current one.
    pub fn next(&mut self) {
        self.level = self.level.end..self.end_of(self.level.end);
    }

    /// Moves to the level before the current one.
    pub fn previous(&mut self) {
        let end = self.level.start;
        let mut place = end - 1;
        loop {
            let word = self.firsts.word(place / 64) << (63 - place % 64);
            if word != 0 {
                self.level = place - word.leading_zeros() as usize..end;
                return;
            }
            place = place / 64 * 64 - 1;
        }
    }

    /// The vertices of the current level, in rising order.
    pub fn vertices(&self) -> &[u32] {
        &self.order[self.level.clone()]
    }

    pub fn source(&self) -> u32 {
        self.order[0]
    }
}
