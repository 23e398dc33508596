//! Vertices that wait for their out-lists to be visited, and the batch of them that is visited next.
//!
//! *Encoding.* A waiting vertex is a bit, and a bit per block of 4096 vertices says whether any of the block waits. So
//! a batch of few vertices costs little to choose, and one of many reads each page once.
//!
//! *Cost.* Two bits per vertex, and 4 bytes per vertex of a batch that has few.

use crate::kernels::searches::lengths::NO_PATH;
use crate::state::{Layout, bitmap};
use outcore_graph::{Bitmap, Edges, Frontier, Graph, ListPart, SPARSE_SHARE, scan};
use outcore_image::{Error, Result, SweepStats};
use outcore_io::{into_inner, lock};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Vertices of a block.
const BLOCK: usize = 4096;
/// Up to this number of blocks, one worker searches all of them.
const FEW_BLOCKS: u64 = 16;

/// The waiting vertices, and the batch that was chosen last.
pub(crate) struct Waiting {
    vertices: Bitmap,
    /// The blocks in which there are any.
    blocks: Bitmap,
    batch: Bitmap,
}

/// Vertices that no longer wait, whose lists are visited next.
pub(crate) struct Batch {
    pub count: u64,
    /// The blocks that they are in, in rising order.
    blocks: Vec<u32>,
    /// The least distance of the vertices that still wait.
    pub nearest: u64,
}

impl Waiting {
    pub fn layout(graph: &Graph) -> impl Layout<Made = Self> {
        let vertices = graph.vertices();
        let set = |most| bitmap(graph, "frontiers", most);
        let sets = (set(vertices), set(vertices.div_ceil(BLOCK as u64)), set(vertices));
        sets.then(|(vertices, blocks, batch)| Ok(Waiting { vertices, blocks, batch }))
    }

    /// The memory of a batch of few vertices, as a list, in bytes.
    pub fn list_bytes(graph: &Graph) -> u64 {
        4 * (graph.vertices() / SPARSE_SHARE)
    }

    #[inline]
    pub fn insert(&self, vertex: u32) {
        if self.vertices.insert(vertex) {
            self.blocks.insert(vertex / BLOCK as u32);
        }
    }

    pub fn vertices(&self) -> &Bitmap {
        &self.vertices
    }

    /// Forgets that blocks have waiting vertices, once none waits.
    pub fn clear_blocks(&mut self) {
        self.blocks.clear();
    }

    /// Moves the waiting vertices with distances below the limit into the batch.
    pub fn choose(&self, graph: &Graph, limit: u64, distance: impl Fn(u32) -> u64 + Sync) -> Result<Batch> {
        let (count, nearest) = (AtomicU64::new(0), AtomicU64::new(NO_PATH));
        let touched = Mutex::new(Vec::new());
        let words = self.blocks.words();
        let step = if self.blocks.count() <= FEW_BLOCKS { words.max(1) } else { 1 };
        graph.runtime().for_each_range::<Error>(words, step, |range| {
            let mut own = Vec::new();
            for block in self.blocks.iter(range) {
                let (mut chosen, mut remaining, mut least) = (0, 0, NO_PATH);
                for i in self.words_of(block) {
                    let (mut bits, mut word) = (self.vertices.word(i), 0);
                    while bits != 0 {
                        let bit = bits & bits.wrapping_neg();
                        bits ^= bit;
                        let distance = distance(64 * i as u32 + bit.trailing_zeros());
                        if distance < limit {
                            word |= bit;
                        } else {
                            least = least.min(distance);
                            remaining += 1;
                        }
                    }
                    if word != 0 {
                        chosen += u64::from(word.count_ones());
                        self.vertices.set_word(i, self.vertices.word(i) & !word);
                        self.batch.set_word(i, word);
                    }
                }
                if remaining == 0 {
                    self.blocks.remove(block);
                }
                if chosen > 0 {
                    own.push(block);
                }
                count.fetch_add(chosen, Ordering::Relaxed);
                nearest.fetch_min(least, Ordering::Relaxed);
            }
            lock(&touched).extend(own);
            Ok(())
        })?;
        let mut blocks = into_inner(touched);
        blocks.sort_unstable();
        Ok(Batch { count: count.into_inner(), blocks, nearest: nearest.into_inner() })
    }

    /// The words of the bitmaps that a block has.
    fn words_of(&self, block: u32) -> Range<usize> {
        let first = block as usize * (BLOCK / 64);
        first..(first + BLOCK / 64).min(self.batch.words())
    }

    /// The vertices of the batch, in rising order.
    pub fn vertices_of(&self, batch: &Batch) -> impl Iterator<Item = u32> {
        batch.blocks.iter().flat_map(|&block| self.batch.iter(self.words_of(block)))
    }

    pub fn visit<S: Send>(
        &self,
        graph: &Graph,
        edges: Edges,
        batch: &Batch,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &ListPart<'_>) + Sync,
    ) -> Result<(Vec<S>, SweepStats)> {
        let list: Vec<u32>;
        let frontier = if batch.count <= graph.vertices() / SPARSE_SHARE {
            list = self.vertices_of(batch).collect();
            Frontier::List(&list)
        } else {
            Frontier::Set(&self.batch)
        };
        scan(graph, edges, frontier, make, |state, list| visit(state, &list))
    }

    /// Empties the batch, so that another one can be chosen.
    pub fn clear(&self, batch: &Batch) {
        let words = batch.blocks.iter().flat_map(|&block| self.words_of(block));
        words.for_each(|i| self.batch.set_word(i, 0));
    }
}
