//! Declaration of `degree_centrality`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::degree_centrality::{DegreeCentrality, DegreeCentralityOptions, DegreeEdges, degree_centrality};

/// The estimate for computing degree centrality over this graph.
pub fn estimate_degree_centrality(graph: &Graph, options: &DegreeCentralityOptions) -> Estimate {
    kernels::degree_centrality::estimate(graph, options).verified_in(verify::degree_centrality::counts_bytes(graph))
}

/// The declaration of `degree_centrality`.
pub static DEGREE_CENTRALITY: Algorithm = Algorithm {
    summary: "Degree centrality: the number of a vertex's edges over that of the other vertices",
    options: &[Parameter::choice::<DegreeEdges>(
        "edges",
        "both",
        "Which edges of a vertex count; those without direction all do",
    )],
    attributes: &[ResultAttribute::new("max_degree", DatumKind::Whole, "The greatest number of edges of a vertex")],
    doc: Doc {
        about: "It is the number of a vertex's edges over the number of other vertices, as with \
                `networkx.degree_centrality`, `in_degree_centrality` and `out_degree_centrality`. An edge from a vertex \
                to itself counts twice, and parallel edges as often as they are stored.",
        returns: "`vertex` and `degree_centrality`.",
        cost: "columns of degrees only, and in graphs without directions that have edges from a vertex to itself one \
               pass over the lists; 8 bytes of memory per vertex.",
        differences: "With `edges` as 'in' or 'out', NetworkX refuses graphs whose edges have no direction; here all \
                      edges count there.",
        networkx: Some(Oracle { options: &[], expression: "nx.degree_centrality(G)" }),
        references: "Freeman: Centrality in social networks, conceptual clarification. Social Networks, 1978.",
        example: ">>> found = oc.degree_centrality(g, edges='in', verify=True)\n\
                  >>> found.max_degree, found.row('home')\n\
                  (2, {'vertex': 'home', 'degree_centrality': 0.6666666666666666})",
        ..Doc::NONE
    },
    examples: &[&[], &[("edges", "in")], &[("edges", "out")]],
    ..Algorithm::new("degree_centrality", "DegreeCentrality", &KERNEL)
};

static KERNEL: Typed<DegreeCentralityOptions, DegreeCentrality> = Typed {
    options: |_, values| Ok(DegreeCentralityOptions { edges: values.choice("edges") }),
    estimate: estimate_degree_centrality,
    run: degree_centrality,
    verify: verify::verify_degree_centrality,
    report: |outcome, say| say_line(say, format_args!("the greatest degree is {}", outcome.result.max_degree)),
    finding: |graph, _, _, result| Ok(Finding::new(graph, vec![Datum::Whole(result.max_degree)], result)?.shown("")),
};
