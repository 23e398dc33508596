//! Verifies core numbers by peeling all levels at once.

use crate::kernels::core_number::CoreNumbers;
use crate::state::{Layout, array, bitmap};
use crate::verify::Contradiction;
use outcore_graph::{Bitmap, Frontier, Graph, ListPart, scan, vertex_map};
use outcore_image::{Error, Result};
use outcore_io::Array;
use std::sync::atomic::{AtomicU32, Ordering};

/// Checks core numbers by peeling all levels at once.
///
/// At least core(v) neighbours of every vertex v have core numbers of at least core(v), so v is in that core. And v is
/// in no higher one: the vertices of a level can be removed one by one such that each then has no more than core(v)
/// remaining neighbours on its own level and above.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (4.3 bytes per vertex), or a page that cannot be read.
pub fn verify_core_number(graph: &Graph, result: &CoreNumbers) -> Result<()> {
    let vertices = graph.vertices();
    graph.make_room("verification of core numbers", core_numbers_bytes(graph))?;
    let (excess, mut free, mut next) = peeled(graph).make()?;
    let core = |v: u32| result.cores[v as usize];
    for &direction in graph.directions() {
        let add = |(): &mut (), list: ListPart<'_>| {
            let own = core(list.vertex);
            let counts = |&&other: &&u32| other != list.vertex && core(other) >= own;
            let count = list.neighbours.iter().filter(counts).count() as u32;
            excess[list.vertex as usize].fetch_add(count, Ordering::Relaxed);
        };
        scan(graph, direction, Frontier::All, || (), add)?;
    }
    let wrong = Contradiction::none();
    let most = AtomicU32::new(0);
    vertex_map(graph.runtime(), vertices, |range| {
        for v in range.map(|v| v as u32) {
            let slot = &excess[v as usize];
            match slot.load(Ordering::Relaxed).checked_sub(core(v)) {
                None => wrong.at(v),
                Some(more) => {
                    slot.store(more, Ordering::Relaxed);
                    most.fetch_max(core(v), Ordering::Relaxed);
                    if more == 0 {
                        free.insert(v);
                    }
                }
            }
        }
        Ok(())
    })?;
    let error =
        |expected: &str, v| Error::verification(expected, format!("vertex {v} of the image in core {}", core(v)));
    wrong.check(|v| error("as many neighbours in the core as its number", v))?;
    while free.count() > 0 {
        for &direction in graph.directions() {
            let remove = |(): &mut (), list: ListPart<'_>| {
                let own = core(list.vertex);
                for &other in list.neighbours.iter().filter(|&&other| core(other) == own) {
                    let lower = |excess: u32| excess.checked_sub(1);
                    let before = excess[other as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
                    if before == Ok(1) {
                        next.insert(other);
                    }
                }
            };
            scan(graph, direction, Frontier::Set(&free), || (), remove)?;
        }
        free.clear();
        std::mem::swap(&mut free, &mut next);
    }
    vertex_map(graph.runtime(), vertices, |range| {
        range.map(|v| v as u32).filter(|&v| excess[v as usize].load(Ordering::Relaxed) > 0).for_each(|v| wrong.at(v));
        Ok(())
    })?;
    wrong.check(|v| error("the highest core that a vertex is in", v))?;
    let most = most.into_inner();
    if most != result.max_core {
        return Err(Error::verification(format!("{most} as the greatest core number"), result.max_core.to_string()));
    }
    Ok(())
}

/// The memory that verification takes beside the result, in bytes.
pub(crate) fn core_numbers_bytes(graph: &Graph) -> u64 {
    peeled(graph).bytes()
}

/// Per vertex, the number of remaining neighbours on its own level and above beyond its core number; the vertices that
/// can be removed, and those that can be next.
fn peeled(graph: &Graph) -> impl Layout<Made = (Array<AtomicU32>, Bitmap, Bitmap)> {
    let set = || bitmap(graph, "free vertices", graph.vertices());
    (array(graph, "degrees", graph.vertices()), set(), set())
}
