//! Verifies propagated labels by propagating them once more, in a single loop over whole lists.

use crate::estimate::least_labels;
use crate::kernels::label_propagation::{LabelPropagation, LabelPropagationOptions};
use crate::state::{Layout, array, reservation};
use crate::verify::{Contradiction, lists_of_all, loops_bytes};
use outcore_graph::Graph;
use outcore_image::{Error, Result};
use outcore_io::{Buffer, Reservation};
use outcore_table::{IdLookup, IdStream};

/// Checks labels by propagating them once more: vertex by vertex in a single loop over whole lists, sorting, with the
/// ids themselves for what is smaller.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (8 bytes per vertex, the ids, and the longest lists of a
/// vertex), or a page that cannot be read.
pub fn verify_label_propagation(
    graph: &Graph,
    options: &LabelPropagationOptions,
    result: &LabelPropagation,
) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let count = graph.vertices() as usize;
    graph.make_room("verification of labels", label_propagation_bytes(graph))?;
    let ids = IdLookup::new(graph.image())?;
    let (mut labels, mut next, _held) = propagating(graph).make()?;
    labels.iter_mut().zip(0..).for_each(|(label, vertex)| *label = vertex);
    let (mut iterations, mut converged) = (0, count == 0);
    while iterations < options.max_iterations && !converged {
        propagate(graph, &ids, &labels, &mut next)?;
        std::mem::swap(&mut labels, &mut next);
        iterations += 1;
        converged = labels[..] == next[..];
    }
    let wrong = Contradiction::none();
    let claimed = |v: u32| result.labels[v as usize];
    (0..count as u32).filter(|&v| claimed(v) != labels[v as usize]).for_each(|v| wrong.at(v));
    wrong.check(|v| {
        let expected = format!("vertex {v} of the image with the label of vertex {}", labels[v as usize]);
        Error::verification(expected, format!("that of vertex {}", claimed(v)))
    })?;
    labels.sort_unstable();
    let distinct = labels.chunk_by(|a, b| a == b).count() as u64;
    if (result.count, result.iterations, result.converged) != (distinct, iterations, converged) {
        let text = |count, iterations, converged| {
            format!("{count} labels after {iterations} iterations, converged: {converged}")
        };
        let expected = text(distinct, iterations, converged);
        return Err(Error::verification(expected, text(result.count, result.iterations, result.converged)));
    }
    Ok(())
}

pub(crate) fn label_propagation_bytes(graph: &Graph) -> u64 {
    IdLookup::bytes(graph.image())
        + (propagating(graph).bytes() + loops_bytes(graph)).max(IdStream::bytes(graph.image()))
}

/// Labels, next ones, and room for those of a vertex's neighbours.
fn propagating(graph: &Graph) -> impl Layout<Made = (Buffer<u32>, Buffer<u32>, Reservation)> {
    let labels = || array(graph, "labels", graph.vertices());
    (labels(), labels(), reservation(graph, "labels of neighbours", 4 * least_labels(graph)))
}

fn propagate(graph: &Graph, ids: &IdLookup, labels: &[u32], next: &mut [u32]) -> Result<()> {
    let mut own = Vec::new();
    for lists in lists_of_all(graph) {
        let (vertex, out, into) = lists?;
        let neighbours = out.iter().chain(into.as_deref().unwrap_or_default());
        own.clear();
        own.extend(neighbours.map(|&other| labels[other as usize]));
        own.sort_unstable();
        let runs = own.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
        let best = runs.max_by(|a, b| a.0.cmp(&b.0).then_with(|| ids.id(b.1).cmp(&ids.id(a.1))));
        next[vertex as usize] = best.map_or(labels[vertex as usize], |(_, label)| label);
    }
    Ok(())
}
