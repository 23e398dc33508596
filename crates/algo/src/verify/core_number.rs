//! Verifies core numbers by peeling all levels at once.

use crate::kernels::core_number::CoreNumbers;
use crate::state::{Layout, array, bitmap};
use crate::verify::{Contradiction, check_equal};
use crate::visit::{for_each_list, for_each_vertex};
use outcore_graph::{Bitmap, Frontier, Graph};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
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
    result.stats.check_image(graph.image())?;
    graph.make_room("verification of core numbers", core_numbers_bytes(graph))?;
    let (excess, mut free, mut next) = peeled(graph).make()?;
    let core = |v: u32| result.cores[v as usize];
    for &direction in graph.directions() {
        for_each_list(graph, direction, Frontier::All, |list| {
            let own = core(list.vertex);
            let counts = |&&other: &&u32| other != list.vertex && core(other) >= own;
            let count = list.neighbours.iter().filter(counts).count() as u32;
            excess[list.vertex as usize].fetch_add(count, Ordering::Relaxed);
        })?;
    }
    let wrong = Contradiction::none();
    let most = AtomicU32::new(0);
    for_each_vertex(graph, |v| {
        let slot = &excess[v as usize];
        let Some(more) = slot.load(Ordering::Relaxed).checked_sub(core(v)) else { return wrong.at(v) };
        slot.store(more, Ordering::Relaxed);
        most.fetch_max(core(v), Ordering::Relaxed);
        if more == 0 {
            free.insert(v);
        }
    })?;
    let error =
        |expected: &str, v| Error::verification(expected, format!("vertex {v} of the image in core {}", core(v)));
    wrong.check(|v| error("as many neighbours in the core as its number", v))?;
    while free.count() > 0 {
        for &direction in graph.directions() {
            for_each_list(graph, direction, Frontier::Set(&free), |list| {
                let own = core(list.vertex);
                for &other in list.neighbours.iter().filter(|&&other| core(other) == own) {
                    let lower = |excess: u32| excess.checked_sub(1);
                    let before = excess[other as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
                    if before == Ok(1) {
                        next.insert(other);
                    }
                }
            })?;
        }
        free.clear();
        std::mem::swap(&mut free, &mut next);
    }
    for_each_vertex(graph, |v| {
        if excess[v as usize].load(Ordering::Relaxed) > 0 {
            wrong.at(v);
        }
    })?;
    wrong.check(|v| error("the highest core that a vertex is in", v))?;
    check_equal(most.into_inner(), result.max_core, |most| format!("{most} as the greatest core number"))
}

pub(crate) fn core_numbers_bytes(graph: &Graph) -> u64 {
    peeled(graph).bytes()
}

/// Per vertex, the number of remaining neighbours on its own level and above beyond its core number; the vertices that
/// can be removed, and those that can be next.
fn peeled(graph: &Graph) -> impl Layout<Made = (Buffer<AtomicU32>, Bitmap, Bitmap)> {
    let set = || bitmap(graph, "free vertices", graph.vertices());
    (array(graph, "degrees", graph.vertices()), set(), set())
}
