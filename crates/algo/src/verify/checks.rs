//! Parts that verifiers share: the first contradiction, walks along parents, and the memory of loops over lists.

use crate::state::{Layout, bitmap};
use outcore_graph::{Bitmap, Direction, Frontier, Graph, Neighbours};
use outcore_image::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// The first contradiction, in the order of the vertices.
pub(crate) struct Contradiction(AtomicU64);

impl Contradiction {
    pub fn none() -> Self {
        Contradiction(AtomicU64::new(u64::MAX))
    }

    pub fn at(&self, vertex: u32) {
        self.0.fetch_min(u64::from(vertex), Ordering::Relaxed);
    }

    /// The error that `error` makes of it, if there was a contradiction.
    pub fn check(&self, error: impl Fn(u32) -> Error) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => Ok(()),
            vertex => Err(error(vertex as u32)),
        }
    }
}

/// Refuses a value that is not the expected one; `in_words` describes the latter.
pub(crate) fn check_equal<T: PartialEq + std::fmt::Display>(
    expected: T,
    claimed: T,
    in_words: impl Fn(&T) -> String,
) -> Result<()> {
    if expected == claimed { Ok(()) } else { Err(Error::verification(in_words(&expected), claimed.to_string())) }
}

/// Vertices from which parents lead to the root, and those that were passed.
pub(crate) fn ways(graph: &Graph) -> impl Layout<Made = (Bitmap, Bitmap)> {
    let set = || bitmap(graph, "ways to the root", graph.vertices());
    (set(), set())
}

/// Follows parents from every vertex that has one: each way must end at the root, and every vertex on it have a parent.
/// Returns how many vertices have one.
///
/// # Errors
/// `error` of a vertex on a circle, or too little memory (2 bits per vertex).
pub(crate) fn follow_parents(
    graph: &Graph,
    root: u32,
    parent: impl Fn(u32) -> Option<u32>,
    error: impl Fn(u32) -> Error,
) -> Result<u64> {
    let (rooted, passed) = ways(graph).make()?;
    rooted.insert(root);
    let mut count = 0;
    for start in 0..graph.vertices() as u32 {
        let Some(mut above) = parent(start) else { continue };
        count += 1;
        passed.insert(start);
        while !rooted.contains(above) {
            if !passed.insert(above) {
                return Err(error(above));
            }
            above = parent(above).unwrap_or(root);
        }
        let mut vertex = start;
        while rooted.insert(vertex) {
            vertex = parent(vertex).unwrap_or(root);
        }
    }
    Ok(count)
}

/// Every vertex, in rising order, with the list of its out-neighbours, and where edges have directions that of its
/// in-neighbours.
pub(crate) fn lists_of_all(graph: &Graph) -> impl Iterator<Item = Result<(u32, Neighbours, Option<Neighbours>)>> {
    let mut incoming = graph.is_directed().then(|| graph.lists(Direction::In, Frontier::All).into_iter());
    graph.lists(Direction::Out, Frontier::All).into_iter().map(move |list| {
        let (vertex, out) = list?;
        let into = incoming.as_mut().and_then(Iterator::next).transpose()?;
        Ok((vertex, out, into.map(|(_, list)| list)))
    })
}

/// The memory of a loop over the lists of every direction, all at the same time.
pub(crate) fn loops_bytes(graph: &Graph) -> u64 {
    graph.directions().iter().map(|&direction| graph.lists(direction, Frontier::All).loop_bytes()).sum()
}
