//! Verifies a breadth-first search: the rules of Graph500, and the choice among possible parents.

use crate::kernels::bfs::{Bfs, BfsOptions};
use crate::sources::check_vertices;
use crate::state::{Layout, hubs};
use crate::verify::Contradiction;
use crate::visit::count_vertices;
use outcore_graph::{Direction, Frontier, Graph, ListFold, ListPart, fold};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU32, Ordering};

/// Checks a breadth-first search with one pass over the in-lists.
///
/// The source, and only it, is on level 0 and is its own parent. No edge leads more than one level up, none from a
/// reached vertex to one that is not, unless the search ended on that level: at the greatest depth, or at the target.
/// Every other reached vertex has its parent among its in-neighbours, one level above, and it is the one that the rule
/// names: its hub where that is one level above, else the first such in-neighbour. (These are the rules of Graph500's
/// validator, and one more.)
///
/// # Errors
/// The first vertex that contradicts them, or a page that cannot be read.
pub fn verify_bfs(graph: &Graph, options: &BfsOptions, result: &Bfs) -> Result<()> {
    result.stats.check_image(graph.image())?;
    check_vertices(graph, &[options.source])?;
    check_vertices(graph, options.target.as_slice())?;
    graph.make_room("verification of a search", bfs_bytes(graph))?;
    let (hubs, _) = hubs(graph, Direction::In).make()?;
    let target_depth = options.target.and_then(|target| result.level(target));
    let last = options.depth_limit.into_iter().chain(target_depth).min().unwrap_or(u32::MAX);
    let check = BfsCheck { source: options.source, last, result, hubs: &hubs, wrong: Contradiction::none() };
    fold(graph, Direction::In, Frontier::All, &check)?;
    check.wrong.check(|vertex| {
        Error::verification(
            format!("a level and a parent of vertex {vertex} of the image that agree with its in-neighbours"),
            format!("level {:?} and parent {:?}", result.level(vertex), result.parent(vertex)),
        )
    })?;
    let depth = AtomicU32::new(0);
    let reached = count_vertices(graph, |vertex| {
        let level = result.level(vertex);
        depth.fetch_max(level.unwrap_or(0), Ordering::Relaxed);
        level.is_some()
    })?;
    let depth = depth.into_inner();
    if (reached, depth) != (result.reached, result.depth) {
        let text = |reached, depth| format!("{reached} vertices reached up to level {depth}");
        return Err(Error::verification(text(reached, depth), text(result.reached, result.depth)));
    }
    Ok(())
}

pub(crate) fn bfs_bytes(graph: &Graph) -> u64 {
    hubs(graph, Direction::In).bytes()
}

struct BfsCheck<'a> {
    source: u32,
    /// The level that the search had to end on.
    last: u32,
    result: &'a Bfs,
    hubs: &'a Buffer<AtomicU32>,
    wrong: Contradiction,
}

/// The facts that a part of an in-list gives about its vertex.
#[derive(Clone, Copy)]
struct Seen {
    /// The least level among the in-neighbours.
    least: u32,
    /// The first in-neighbour one level above the vertex.
    first_above: u32,
    /// Whether the parent is among them.
    parent: bool,
}

impl ListFold for BfsCheck<'_> {
    type Value = Seen;
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> Seen {
        let ListPart { vertex, neighbours, .. } = list;
        let above = self.result.level(vertex).and_then(|level| level.checked_sub(1));
        let parent = self.result.parent(vertex);
        let mut seen = Seen { least: u32::MAX, first_above: u32::MAX, parent: false };
        for &neighbour in neighbours {
            let level = self.result.level(neighbour);
            seen.least = seen.least.min(level.unwrap_or(u32::MAX));
            seen.parent |= parent == Some(neighbour);
            if level.is_some() && level == above {
                seen.first_above = seen.first_above.min(neighbour);
            }
        }
        seen
    }

    fn merge(&self, before: Seen, after: Seen) -> Seen {
        Seen {
            least: before.least.min(after.least),
            first_above: before.first_above.min(after.first_above),
            parent: before.parent || after.parent,
        }
    }

    fn finish(&self, vertex: u32, seen: Option<Seen>, (): &mut ()) {
        let seen = seen.unwrap_or(Seen { least: u32::MAX, first_above: u32::MAX, parent: false });
        let (level, parent) = (self.result.level(vertex), self.result.parent(vertex));
        let right = match (level, parent) {
            (None, None) => vertex != self.source && seen.least >= self.last,
            (Some(0), Some(parent)) => vertex == self.source && parent == vertex,
            (Some(level), Some(parent)) => {
                let hub = self.hubs[vertex as usize].load(Ordering::Relaxed);
                let hub_is_above = hub != vertex && self.result.level(hub) == Some(level - 1);
                let named = if hub_is_above { hub } else { seen.first_above };
                let rises = level <= self.last && seen.least >= level - 1;
                vertex != self.source && rises && seen.parent && parent == named
            }
            _ => false,
        };
        if !right {
            self.wrong.at(vertex);
        }
    }
}
