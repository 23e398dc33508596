//! Declaration of `strong_components`: estimate, options, attributes, texts and report.

use crate::declared::components;
use crate::declared::prelude::*;
use crate::kernels::components::Components;
use crate::kernels::strong_components::{StrongComponentsOptions, strong_components};

/// The estimate for finding strongly connected components of this graph; the passes are those of most graphs.
pub fn estimate_strong_components(graph: &Graph, _options: &StrongComponentsOptions) -> Estimate {
    kernels::strong_components::estimate(graph).verified_in(verify::strong_components::strong_components_bytes(graph))
}

/// The declaration of `strong_components`.
pub static STRONGLY_CONNECTED_COMPONENTS: Algorithm = Algorithm {
    summary: "Strongly connected components",
    aliases: &["strong_components"],
    attributes: components::COUNT,
    report_needs: components::SIZES,
    doc: Doc {
        about: "Vertices are together if there are paths between them both ways, along the direction of the edges. \
                Where edges have no direction, the result is that of `connected_components`.",
        returns: "`vertex` and `component`, the smallest id in its component.",
        cost: "on graphs with hubs about a tenth of a pass over the lists of both directions, on most others one pass \
               or two; 12.8 bytes of memory per vertex. What is left once the largest component is known takes 8 bytes \
               more per edge if the limit leaves them; if not, it is found in a number of further passes.",
        differences: "Where NetworkX (`strongly_connected_components`) yields a set per component, this names it for \
                      each vertex; NetworkX refuses graphs whose edges have no direction.",
        networkx: Some(Oracle {
            options: &[],
            expression: "{v: min(c) for c in nx.strongly_connected_components(G.to_directed()) for v in c}",
        }),
        references: "Slota, Rajamanickam, Madduri: BFS and coloring-based parallel algorithms for strongly connected \
                     components and related problems. IPDPS 2014.",
        example: ">>> found = oc.strongly_connected_components(g, verify=True)\n\
                  >>> found.count, found.to_dict()\n\
                  (2, {'about': 'about', 'home': 'about', 'news': 'about', 'lone': 'lone'})",
        ..Doc::NONE
    },
    ..Algorithm::new("strongly_connected_components", "Components", &KERNEL)
};

static KERNEL: Typed<StrongComponentsOptions, Components> = Typed {
    options: |_, _| Ok(StrongComponentsOptions::default()),
    estimate: estimate_strong_components,
    run: strong_components,
    verify: |graph, _, result| verify::verify_strong_components(graph, result),
    report: |outcome, say| outcome.result.report(outcome.graph, say),
    finding: |graph, _, _, result| Finding::new(graph, vec![Datum::Whole(result.count)], result),
};
