//! Declaration of `all_pairs`: estimate, options, attributes, texts and report.

use crate::declared::multi_source_bfs::shared;
use crate::declared::prelude::*;
use crate::kernels::all_pairs::{AllPairs, AllPairsOptions, all_pairs};

/// The estimate for searching from chosen sources.
pub fn estimate_all_pairs(graph: &Graph, options: &AllPairsOptions) -> Estimate {
    kernels::all_pairs::estimate(graph, options)
        .verified_in(verify::searches::searches_bytes(graph).saturating_add(options.sources.bytes(graph)))
}

/// The seed of vertices that are drawn.
pub(crate) const SEED: Parameter = Parameter::whole(
    "seed",
    1,
    "Other seeds draw other vertices; the same draws the same ids, whatever the order of the image",
);

/// The declaration of `all_pairs`.
pub static ALL_PAIRS: Algorithm = Algorithm {
    summary: "Distances between chosen vertices, their eccentricities, and bounds on the diameter",
    options: &[
        Parameter {
            instead_of: &["k", "seed"],
            ..Parameter::optional(
                "sources",
                Kind::Vertices,
                "The ids of the vertices to start from; some are drawn if not given",
            )
        },
        Parameter::count("k", 32, "How many vertices are drawn; all if there are no more"),
        SEED,
    ],
    attributes: &[
        ResultAttribute::new("sources", DatumKind::Vertices, "The ids of the sources"),
        ResultAttribute::new(
            "eccentricities",
            DatumKind::Wholes,
            "Per source, the greatest distance of a vertex with a path from it",
        ),
        ResultAttribute::new(
            "distances",
            DatumKind::Distances,
            "A row and a column per source: the distance, masked where there is no path. The array is made when it is \
             first asked for; it takes 9 bytes per pair of sources",
        ),
        ResultAttribute::new(
            "diameter",
            DatumKind::Bounds,
            "The greatest distance between two vertices with a path: at least and at most",
        ),
    ],
    doc: Doc {
        returns: "that of `multi_source_bfs`: `vertex`, `reached_by` and `distance_sum`. `diameter` is a pair: the \
                  greatest distance between any two vertices of the graph that have a path is at least the first and \
                  at most the second; both are the same if all vertices are sources.",
        cost: "that of `multi_source_bfs`, twice in directed graphs, and that of `connected_components`; 40.4 bytes of \
               memory per vertex.",
        refuses: "No vertex of one of the ids, or `sources` beside `k` or `seed`.",
        differences: "`networkx.eccentricity` and `networkx.diameter` refuse graphs in which some vertices have no path \
                      to others; here those pairs are left out.",
        references: "Liu and Huang: Graphene. FAST 2017. Magnien, Latapy, Habib: Fast computation of empirically tight \
                     bounds for the diameter of massive graphs. JEA 2009.",
        example: ">>> found = oc.all_pairs(g, sources=['home', 'news'], verify=True)\n\
                  >>> found.eccentricities, found.diameter\n\
                  ([1, 2], (2, 2))",
        ..Doc::NONE
    },
    counted: Some("sources"),
    examples: &[&[("sources", "0,1,2,3,4,5,6,7,8")]],
    ..Algorithm::new("all_pairs", "AllPairs", &KERNEL)
};

static KERNEL: Typed<AllPairsOptions, AllPairs> = Typed {
    options: |graph, values| Ok(AllPairsOptions { sources: values.sources(graph)? }),
    estimate: estimate_all_pairs,
    run: all_pairs,
    verify: verify::verify_all_pairs,
    report: |outcome, say| {
        let result = outcome.result;
        say(format_args!("the diameter is at least {} and at most {}", result.diameter_least, result.diameter_most));
        say_ids(outcome.graph, &result.sources, say, |i, id| {
            let reach = &result.search.reach[i];
            format!("  {id:<24} reaches {} vertices, eccentricity {}", reach.reached, reach.depth)
        })
    },
    finding: |graph, _, _, result| {
        let AllPairs { sources, search, diameter_least, diameter_most } = result;
        let diameter = Datum::Bounds(diameter_least.into(), diameter_most.into());
        shared(graph, search, vec![Datum::Vertices(Some(sources.to_vec()))], vec![diameter])
    },
};
