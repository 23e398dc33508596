//! Declaration of `node_boundary`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::node_boundary::{NodeBoundary, NodeBoundaryOptions, node_boundary};

/// The estimate for the node boundary of a set.
pub fn estimate_node_boundary(graph: &Graph, options: &NodeBoundaryOptions) -> Estimate {
    kernels::node_boundary::estimate(graph, options).verified_in(verify::node_boundary::node_boundary_bytes(graph))
}

/// The declaration of `node_boundary`.
pub static NODE_BOUNDARY: Algorithm = Algorithm {
    summary: "Node boundary: the vertices outside a set to which edges lead from it, and the number of these edges",
    options: &[Parameter::required("vertices", Kind::Vertices, "The ids of the vertices of the set")],
    attributes: &[ResultAttribute::new("count", DatumKind::Whole, "How many vertices are in the boundary")],
    doc: Doc {
        about: "A vertex is in the boundary of a set if it is outside the set and an edge leads to it from the set. \
                Edges without direction lead both ways.",
        returns: "`vertex` and `edges`, the number of edges that lead from the set to a vertex of the boundary; missing \
                  at all other vertices. Parallel edges count as often as they are stored.",
        cost: "the pages of the set's out-lists, at most one pass; 8 bytes of memory per vertex, and 8 per vertex of \
               the set.",
        refuses: "No vertex of one of the ids.",
        differences: "`networkx.node_boundary` returns the vertices of the boundary as a set. There is no `nbunch2`: \
                      select rows of the result.",
        networkx: Some(Oracle {
            options: &[("vertices", "0,1,2,3,4,5,6,7")],
            expression: "{v: sum(v in G[u] for u in range(8)) for v in nx.node_boundary(G, range(8))}",
        }),
        references: "Hoory, Linial, Wigderson: Expander graphs and their applications. Bulletin of the AMS 43, 2006.",
        example: ">>> boundary = oc.node_boundary(g, ['home'], verify=True)\n\
                  >>> boundary.count, boundary.row('news')\n\
                  (2, {'vertex': 'news', 'edges': 1})",
    },
    counted: Some("vertices"),
    examples: &[&[("vertices", "0,1,2,3,4")]],
    ..Algorithm::new("node_boundary", "NodeBoundary", &KERNEL)
};

static KERNEL: Typed<NodeBoundaryOptions, NodeBoundary> = Typed {
    options: |graph, values| Ok(NodeBoundaryOptions { vertices: values.vertices(graph, "vertices")? }),
    estimate: estimate_node_boundary,
    run: node_boundary,
    verify: verify::verify_node_boundary,
    report: |outcome, say| {
        let (count, vertices) = (outcome.result.count, outcome.graph.vertices());
        say(format_args!("{count} of {vertices} vertices are in the boundary"));
        Ok(())
    },
    finding: |graph, _, _, result| Ok(Finding::new(graph, vec![Datum::Whole(result.count)], result)?.shown("")),
};
