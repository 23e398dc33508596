//! Declaration of `triangles`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::triangles::{Triangles, TrianglesOptions, triangles};

/// The estimate for counting the triangles of this graph; the passes are what the memory limit leaves room for.
pub fn estimate_triangles(graph: &Graph, _options: &TrianglesOptions) -> Estimate {
    kernels::triangles::estimate(graph).verified_in(verify::triangles::corners_bytes(graph))
}

/// The declaration of `triangles`.
pub static TRIANGLES: Algorithm = Algorithm {
    summary: "Triangles: how many every vertex is a corner of, whatever the direction of edges",
    attributes: &[ResultAttribute::new("total", DatumKind::Whole, "How many triangles there are")],
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
    ..Algorithm::new("triangles", "Triangles", &KERNEL)
};

static KERNEL: Typed<TrianglesOptions, Triangles> = Typed {
    options: |_, _| Ok(TrianglesOptions {}),
    estimate: estimate_triangles,
    run: triangles,
    verify: |graph, _, result| verify::verify_triangles(graph, result),
    report: |outcome, say| say_line(say, format_args!("{} triangles", outcome.result.total)),
    finding: |graph, _, _, result| Ok(Finding::new(graph, vec![Datum::Whole(result.total)], result)?.shown("")),
};
