//! Verifies reciprocities.

use crate::kernels::reciprocity::Reciprocity;
use crate::verify::lists_of_all;
use outcore_graph::Graph;
use outcore_image::{Error, Result};
use outcore_table::distance_bits;

/// Checks reciprocities with a loop over the lists of both directions, side by side, each as a set.
///
/// # Errors
/// A vertex of another reciprocity, another overall reciprocity, too little memory for the longest lists, or a page
/// that cannot be read.
pub fn verify_reciprocity(graph: &Graph, result: &Reciprocity) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let (mut all_both, mut all_ends, mut loops) = (0, 0, 0);
    for lists in lists_of_all(graph) {
        let (vertex, out, into) = lists?;
        let (out, behind) = (&*out, into.as_deref().unwrap_or(&out));
        // Lists rise: of parallel edges the first counts.
        let others = |list: &[u32]| list.chunk_by(|a, b| a == b).filter(|same| same[0] != vertex).count() as u64;
        let is_both = |other: u32| other != vertex && behind.binary_search(&other).is_ok();
        let both = out.chunk_by(|a, b| a == b).filter(|same| is_both(same[0])).count() as u64;
        // Edges that lead back, and all edges, each counted at both ends; an edge to itself leads back.
        let own = u64::from(out.binary_search(&vertex).is_ok());
        let ends = others(out) + others(behind);
        (all_both, all_ends, loops) = (all_both + both, all_ends + ends, loops + own);
        let expected = (ends + own > 0).then(|| (2 * both + 2 * own) as f64 / (ends + 2 * own) as f64);
        let stored = distance_bits(result.reciprocities[vertex as usize]).map(f64::from_bits);
        if expected.map(f64::to_bits) != stored.map(f64::to_bits) {
            let claimed = format!("{stored:?} at vertex {vertex} of the image");
            return Err(Error::verification(format!("a reciprocity of {expected:?}"), claimed));
        }
    }
    // Edges without direction from a vertex to itself lead back as well.
    let expected =
        if graph.is_directed() || graph.edges() == 0 { all_both as f64 / (all_ends / 2 + loops) as f64 } else { 1.0 };
    match expected.to_bits() == result.overall.to_bits() || expected.is_nan() && result.overall.is_nan() {
        true => Ok(()),
        false => Err(Error::verification(format!("an overall reciprocity of {expected}"), result.overall.to_string())),
    }
}
