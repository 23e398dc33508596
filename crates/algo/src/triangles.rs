//! Triangles: how many each vertex is a corner of.
//!
//! *Idea.* Every triangle is found once, from its corner of middle degree, and counted at all three (`triads.rs`, which
//! says what it costs and whose idea it is).
//!
//! *Directions* of edges, parallel edges and loops are ignored, as in NetworkX, which refuses graphs with directions.

use crate::declare::{Algorithm, Attribute, AttributeKind, Datum, Doc, Finding, Oracle, Typed};
use crate::estimate::Estimate;
use crate::triads::{self, One};
use crate::verify_triangles;
use outcore_graph::Graph;
use outcore_image::{Result, Stats};
use outcore_io::Array;
use outcore_table::Column;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How triangles are counted: there is nothing to choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrianglesOptions {}

/// The triangles at every vertex.
#[derive(Debug)]
pub struct Triangles {
    /// Per vertex: how many triangles it is a corner of.
    pub counts: Array<u64>,
    /// How many triangles there are.
    pub total: u64,
    /// What it cost.
    pub stats: Stats,
}

/// What counting the triangles of this graph will need; the passes are what the memory limit leaves room for.
pub fn estimate_triangles(graph: &Graph) -> Estimate {
    triads::cost::<One>(graph, false).estimate(graph)
}

/// Counts the triangles: three vertices, each joined with both others by an edge of any direction.
///
/// # Errors
/// Too little memory (12 to 16 bytes per vertex, and the longest list), a page that cannot be read or is damaged, a
/// request to stop.
pub fn triangles(graph: &Graph, _options: &TrianglesOptions) -> Result<Triangles> {
    let found = triads::count::<One>(graph, "triangles", None)?;
    let corners: u64 = found.closed.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    Ok(Triangles { counts: found.closed.into_values(), total: corners / 3, stats: found.stats })
}

/// Its declaration.
pub static TRIANGLES: Algorithm = Algorithm {
    attributes: &[Attribute::new("total", AttributeKind::Whole, "How many triangles there are")],
    doc: Doc {
        about: "They are counted as `networkx.triangles` does. Directions of edges, parallel edges and loops are ignored.",
        returns: "`vertex` and `triangles`.",
        cost: "one pass over the lists in each direction and one more per block, which is as large as memory allows; \
               `estimate` says how many that are. 12 to 16 bytes of memory per vertex, the longest list twice, and what \
               the blocks take: 4 bytes per edge for a single one.",
        differences: "Unlike NetworkX, which refuses graphs whose edges have directions, this counts the triangles of \
                      the graph without them.",
        networkx: Some(Oracle {
            options: &[],
            expression: "nx.triangles(nx.restricted_view(nx.Graph(G), [], nx.selfloop_edges(G)))",
        }),
        references: "Latapy: Main-memory triangle computations for very large (sparse (power-law)) graphs. Theoretical \
                     Computer Science, 2008.",
        example: ">>> found = oc.triangles(g, verify=True)\n\
                  >>> found.total, found.to_dict()\n\
                  (0, {'about': 0, 'home': 0, 'news': 0, 'lone': 0})",
        ..Doc::NONE
    },
    ..Algorithm::new(
        "triangles",
        "Triangles",
        "Triangles: how many every vertex is a corner of, whatever the direction of edges",
        &KERNEL,
    )
};

static KERNEL: Typed<TrianglesOptions, Triangles> = Typed {
    options: |_, _| Ok(TrianglesOptions {}),
    estimate: |graph, _| estimate_triangles(graph),
    run: triangles,
    verify: |graph, _, found| verify_triangles::verify_triangles(graph, found),
    report: |told, say| {
        say(format_args!("{} triangles", told.found.total));
        Ok(())
    },
    found: |_, _, _, found| {
        let counts = vec![("triangles", Column::Count(Arc::new(found.counts)))];
        Ok(Finding::new(counts, vec![Datum::Whole(found.total)], found.stats).shown(""))
    },
};
