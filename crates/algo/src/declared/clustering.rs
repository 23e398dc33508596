//! Declaration of `clustering`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::clustering::{Clustering, ClusteringOptions, clustering};

/// The estimate for the clustering coefficients of this graph; the passes are what the memory limit leaves room
/// for.
pub fn estimate_clustering(graph: &Graph, _options: &ClusteringOptions) -> Estimate {
    kernels::clustering::estimate(graph).verified_in(verify::triangles::corners_bytes(graph))
}

/// The declaration of `clustering`.
pub static CLUSTERING: Algorithm = Algorithm {
    summary: "Clustering coefficients, their average, and transitivity",
    attributes: &[
        ResultAttribute::new(
            "average",
            DatumKind::Real,
            "The mean of the coefficients, as `networkx.average_clustering`",
        ),
        ResultAttribute::new(
            "transitivity",
            DatumKind::Real,
            "The triangles of all vertices over those that all could have, as `networkx.transitivity` for graphs \
             without directions",
        ),
    ],
    doc: Doc {
        about: "The coefficient of a vertex is the share of the pairs of its neighbours that an edge joins, as in \
                `networkx.clustering`. With directions it is Fagiolo's, as there. Parallel edges and loops are ignored.",
        returns: "`vertex` and `clustering`, from 0 to 1.",
        cost: "one pass over the lists in each direction and one more per block, which is as large as memory allows; \
               `estimate` says how many that are. 20 to 24 bytes of memory per vertex, the longest list twice, and what \
               the blocks take: 4 bytes per edge for a single one, 5 with directions.",
        differences: "Differences from NetworkX: weights are not used, and `average` of a graph without vertices is 0.",
        networkx: Some(Oracle {
            options: &[],
            expression: "nx.clustering(nx.restricted_view(G, [], nx.selfloop_edges(G)))",
        }),
        references: "Fagiolo: Clustering in complex directed networks. Physical Review E, 2007.",
        example: ">>> found = oc.clustering(g, verify=True)\n\
                  >>> found.average, found.transitivity\n\
                  (0.0, 0.0)",
        ..Doc::NONE
    },
    ..Algorithm::new("clustering", "Clustering", &KERNEL)
};

static KERNEL: Typed<ClusteringOptions, Clustering> = Typed {
    options: |_, _| Ok(ClusteringOptions {}),
    estimate: estimate_clustering,
    run: clustering,
    verify: |graph, _, result| verify::verify_clustering(graph, result),
    report: |outcome, say| {
        say_line(say, format_args!("average {}, transitivity {}", outcome.result.average, outcome.result.transitivity))
    },
    finding: |graph, _, _, result| {
        let attributes = vec![Datum::Real(result.average), Datum::Real(result.transitivity)];
        Ok(Finding::new(graph, attributes, result)?.shown(""))
    },
};
