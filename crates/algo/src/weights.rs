//! The use of weights by an algorithm, and the refusal of weights that it cannot work with, with their edge.

use crate::visit::for_each_list;
use outcore_declare::real_text;
use outcore_format::WeightKind;
use outcore_graph::{Edges, Frontier, Graph, Weights};
use outcore_image::{Error, Result, StatsBuilder};
use outcore_io::{into_inner, lock};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether shortest paths use weights: those of a name, or without a name the only ones of the image.
///
/// # Errors
/// There are no weights of that name.
pub fn has_lengths(graph: &Graph, name: Option<&str>) -> Result<bool> {
    match name {
        None => Ok(graph.weight_name().is_some()),
        name => graph.has_weights(name),
    }
}

/// Notes the name of the used weights in the statistics, if weights are used.
pub(crate) fn note(stats: &mut StatsBuilder, graph: &Graph, used: bool) {
    stats.weights(graph.weight_name().filter(|_| used));
}

/// A weight as text. Integers beyond 2^53 keep all their digits.
fn weight_text(weights: Weights<'_>, i: usize) -> String {
    match weights.kind() {
        WeightKind::I64 => (weights.bits()[i] as i64).to_string(),
        WeightKind::F64 => real_text(weights.real(i)),
    }
}

/// The first vertex with a weight that is refused.
pub(crate) struct Refused {
    /// The accepted weights, in words.
    expected: &'static str,
    accepts: fn(f64) -> bool,
    vertex: AtomicU64,
}

impl Refused {
    pub fn new(expected: &'static str, accepts: fn(f64) -> bool) -> Self {
        Refused { expected, accepts, vertex: AtomicU64::new(u64::MAX) }
    }

    /// Whether the weight of an edge of the vertex is refused; notes the vertex if it is.
    #[inline]
    pub fn look(&self, vertex: u32, weight: f64) -> bool {
        let refused = !(self.accepts)(weight);
        if refused {
            self.vertex.fetch_min(u64::from(vertex), Ordering::Relaxed);
        }
        refused
    }

    /// An error that names an edge, if a weight was refused. `edges` are the edges whose weights were looked at.
    pub fn check(&self, graph: &Graph, edges: Edges) -> Result<()> {
        let Ok(vertex) = u32::try_from(self.vertex.load(Ordering::Relaxed)) else { return Ok(()) };
        let first = Mutex::new((u32::MAX, String::new()));
        for_each_list(graph, edges, Frontier::List(&[vertex]), |list| {
            for (i, &neighbour) in list.neighbours.iter().enumerate() {
                let mut first = lock(&first);
                if !(self.accepts)(list.weights.real(i)) && neighbour < first.0 {
                    *first = (neighbour, weight_text(list.weights, i));
                }
            }
        })?;
        let (neighbour, weight) = into_inner(first);
        let (one, other) = (graph.id(vertex)?, graph.id(neighbour)?);
        Err(Error::Unsuitable(format!(
            "expected {}, found {weight} at the edge between {one} and {other}",
            self.expected
        )))
    }
}
