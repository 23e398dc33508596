//! Verifies shortest paths: every distance is the least that the in-edges offer, and parents lead to the source.

use crate::kernels::sssp::{Sssp, SsspOptions};
use crate::sources::check_vertices;
use crate::state::Layout;
use crate::verify::{Contradiction, check_equal, follow_parents, ways};
use outcore_format::WeightKind;
use outcore_graph::{Direction, Edges, Frontier, Graph, ListFold, ListPart, fold};
use outcore_image::{Error, Result};
use outcore_table::distance_bits;

/// Checks shortest paths with one pass over the in-lists.
///
/// The source, and only it, may be at distance 0 without an edge. The distance of every other vertex is the least that
/// its in-edges offer, and there is none where they offer none. Its parent is an in-neighbour that offers it, and
/// parents lead to the source.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (2 bits per vertex), or a page that cannot be read.
pub fn verify_sssp(graph: &Graph, options: &SsspOptions, result: &Sssp) -> Result<()> {
    result.stats.check_image(graph.image())?;
    check_vertices(graph, &[options.source])?;
    graph.make_room("verification of shortest paths", sssp_bytes(graph))?;
    let wrong = Contradiction::none();
    let edges = Edges::new(Direction::In, options.weights);
    let kind = if options.weights { graph.weight_kind()? } else { WeightKind::I64 };
    if result.kind != kind {
        return Err(Error::verification(format!("distances of the kind {kind:?}"), format!("{:?}", result.kind)));
    }
    fold(graph, edges, Frontier::All, &SsspCheck { source: options.source, result, kind, wrong: &wrong })?;
    let contradiction = |vertex: u32| {
        let claimed = format!("distance {:?} and parent {:?}", result.distance(vertex), result.parent(vertex));
        let expected = format!("what the in-edges of vertex {vertex} of the image offer");
        Error::verification(expected, claimed)
    };
    wrong.check(contradiction)?;
    // Edges were checked: every vertex on the way has a parent.
    let reached = follow_parents(graph, options.source, |vertex| result.parent(vertex), contradiction)?;
    check_equal(reached, result.reached, |reached| format!("{reached} vertices with a path"))
}

pub(crate) fn sssp_bytes(graph: &Graph) -> u64 {
    ways(graph).bytes()
}

struct SsspCheck<'a> {
    source: u32,
    result: &'a Sssp,
    kind: WeightKind,
    wrong: &'a Contradiction,
}

impl SsspCheck<'_> {
    fn distance(&self, vertex: u32) -> Option<u64> {
        distance_bits(self.result.distances[vertex as usize])
    }

    /// The distance over one more edge, in the bits of its kind; `None` if that is no distance. Neither kind is
    /// negative, so bits have the order of the numbers.
    fn over(&self, before: u64, list: &ListPart<'_>, i: usize) -> Option<u64> {
        match (self.kind, list.weights.bits().get(i)) {
            (WeightKind::I64, weight) => {
                let sum = i128::from(before as i64) + weight.map_or(1, |&weight| i128::from(weight as i64));
                u64::try_from(sum).ok().filter(|&sum| i64::try_from(sum).is_ok())
            }
            (WeightKind::F64, weight) => {
                let sum = f64::from_bits(before) + weight.map_or(1.0, |&weight| f64::from_bits(weight));
                (sum >= 0.0 && sum.is_finite()).then(|| (sum + 0.0).to_bits())
            }
        }
    }
}

impl ListFold for SsspCheck<'_> {
    /// The least distance that a part of the in-edges offers, and whether the parent offers it.
    type Value = (Option<u64>, bool);
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> Self::Value {
        let (distance, parent) = (self.distance(list.vertex), self.result.parent(list.vertex));
        let (mut least, mut explained) = (None, false);
        for (i, &source) in list.neighbours.iter().enumerate() {
            let offered = self.distance(source).and_then(|before| self.over(before, &list, i));
            explained |= parent == Some(source) && offered.is_some() && offered == distance;
            least = least.into_iter().chain(offered).min();
        }
        (least, explained)
    }

    fn merge(&self, before: Self::Value, after: Self::Value) -> Self::Value {
        (before.0.into_iter().chain(after.0).min(), before.1 || after.1)
    }

    fn finish(&self, vertex: u32, value: Option<Self::Value>, (): &mut ()) {
        let (offered, explained) = value.unwrap_or((None, false));
        let (distance, parent) = (self.distance(vertex), self.result.parent(vertex));
        let right = if vertex == self.source {
            distance == Some(0) && parent == Some(vertex)
        } else {
            distance == offered && (explained || (distance, parent) == (None, None))
        };
        if !right {
            self.wrong.at(vertex);
        }
    }
}
