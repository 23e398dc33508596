//! Declaration of `reciprocity`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::reciprocity::{Reciprocity, ReciprocityOptions, reciprocity};

/// The estimate for computing reciprocities over this graph.
pub fn estimate_reciprocity(graph: &Graph, _options: &ReciprocityOptions) -> Estimate {
    kernels::reciprocity::estimate(graph).verified_in(verify::loops_bytes(graph))
}

/// The declaration of `reciprocity`.
pub static RECIPROCITY: Algorithm = Algorithm {
    summary: "Reciprocity: the share of a vertex's edges whose opposite edge is there, too",
    aliases: &["overall_reciprocity"],
    attributes: &[ResultAttribute::new(
        "overall",
        DatumKind::Real,
        "The share of all edges whose opposite edge is there, too, as `networkx.overall_reciprocity`; not a number if \
         there are no edges",
    )],
    doc: Doc {
        about: "It is the share of a vertex's edges, to it and from it, whose opposite edge is there, too. Parallel \
                edges count once. Where edges have no direction, all of them have their opposites.",
        returns: "`vertex` and `reciprocity`, missing where a vertex has no edges.",
        cost: "one pass over the lists of both directions, and one more where edges from a vertex to itself were \
               imported; 16.2 bytes of memory per vertex, and a chunk of lists; without directions no pass.",
        differences: "`networkx.reciprocity` and `overall_reciprocity` refuse graphs whose edges have no direction, and \
                      the latter those without edges. As there, an edge from a vertex to itself is its own opposite at \
                      the vertex, and is none in `overall`.",
        networkx: Some(Oracle { options: &[], expression: "nx.reciprocity(G.to_directed(), G)" }),
        references: "Garlaschelli, Loffredo: Patterns of link reciprocity in directed networks. Physical Review \
                     Letters 93, 2004.",
        example: ">>> found = oc.reciprocity(g, verify=True)\n\
                  >>> found.overall, found.row('home')\n\
                  (0.8, {'vertex': 'home', 'reciprocity': 1.0})",
        ..Doc::NONE
    },
    ..Algorithm::new("reciprocity", "Reciprocity", &KERNEL)
};

static KERNEL: Typed<ReciprocityOptions, Reciprocity> = Typed {
    options: |_, _| Ok(ReciprocityOptions {}),
    estimate: estimate_reciprocity,
    run: reciprocity,
    verify: |graph, _, result| verify::verify_reciprocity(graph, result),
    report: |outcome, say| say_line(say, format_args!("overall reciprocity {}", outcome.result.overall)),
    finding: |graph, _, _, result| Ok(Finding::new(graph, vec![Datum::Real(result.overall)], result)?.shown("")),
};
