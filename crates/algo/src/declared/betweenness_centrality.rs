//! Declaration of `betweenness_centrality`: estimate, options, attributes, texts and report.

use crate::declared::all_pairs::SEED;
use crate::declared::prelude::*;
use crate::kernels::betweenness_centrality::{Betweenness, BetweennessOptions, betweenness_centrality};
use crate::sources::Sources;

/// The estimate for betweenness centrality, with the least state that works: one source at a time.
pub fn estimate_betweenness_centrality(graph: &Graph, options: &BetweennessOptions) -> Estimate {
    kernels::betweenness_centrality::estimate(graph, options)
        .verified_in(verify::searches::betweenness_bytes(graph).saturating_add(options.sources.bytes(graph)))
}

/// The declaration of `betweenness_centrality`.
pub static BETWEENNESS_CENTRALITY: Algorithm = Algorithm {
    summary: "Betweenness centrality: which share of the shortest paths between others leads through a vertex",
    aliases: &["betweenness"],
    options: &[
        Parameter {
            is_positional: true,
            ..Parameter::optional(
                "k",
                Kind::COUNT,
                "Start from so many vertices, drawn at random, which stand for all; from all vertices if not given",
            )
        },
        Parameter {
            instead_of: &["k", "seed", "failure"],
            ..Parameter::optional(
                "sources",
                Kind::Vertices,
                "The ids of vertices that are taken as the starts instead of drawn ones",
            )
        },
        Parameter::flag(
            "normalized",
            true,
            "Whether sums are divided by the number of pairs of vertices between which a vertex can be",
        ),
        Parameter::flag("endpoints", false, "Whether the ends of a path count as vertices that it leads through"),
        Parameter { needs: Some("k"), ..SEED },
        Parameter {
            needs: Some("k"),
            ..Parameter::real(
                "failure",
                0.1,
                "The probability that the error of some vertex may exceed the bound that is told for vertices drawn",
            )
        },
    ],
    attributes: &[
        ResultAttribute::new("sources", DatumKind::Vertices, "The ids of the sources, if they were not all vertices"),
        ResultAttribute::new(
            "error_bound",
            DatumKind::Real,
            "How far an estimate may be off; infinite where nothing is known of that",
        ),
    ],
    doc: Doc {
        about: "Names, defaults and meaning are those of `networkx.betweenness_centrality` (since its version 3.6). A \
                vertex counts, for every ordered pair of others, the share of the shortest paths between them that \
                lead through it. Edges without direction are paths both ways, and a pair counts once.",
        returns: "`vertex` and `betweenness`. `sources` are the ids of the starts, `None` if they were all vertices. \
                  `error_bound`: if the starts were drawn, then with probability 1 - `failure` no vertex is off by more \
                  than this; 0 if they were all vertices, infinite if they were given. It is sqrt(ln(2 V / failure) / (2 \
                  (k - 1))) times the greatest value possible, and no more than that value, which it is for a k of 1.",
        cost: "per batch of up to eight sources, as many as the memory limit holds, about two passes over the lists of \
               each direction. 37.3 bytes of memory per vertex, and 28.1 for every source of a batch beyond the first.",
        refuses: "No vertex of one of the ids, one twice, or numbers of shortest paths to vertices at the same distance \
                  that differ by so much that they cannot be held side by side: by 2**900 all can, by more than 2**1800 \
                  none.",
        differences: "Differences from NetworkX: there is no `weight`; other vertices are drawn for a seed; a single \
                      source, of which nothing is known, has 0 where NetworkX has NaN; parallel edges are paths of \
                      their own.",
        networkx: Some(Oracle {
            options: &[("normalized", "false"), ("endpoints", "true")],
            expression: "nx.betweenness_centrality(G, normalized=False, endpoints=True)",
        }),
        references: "Brandes: A faster algorithm for betweenness centrality. J. Mathematical Sociology 2001. Brandes \
                     and Pich: Centrality estimation in large networks. 2007.",
        example: ">>> found = oc.betweenness_centrality(g, verify=True)\n\
                  >>> found.row('home')['betweenness'], found.error_bound\n\
                  (0.3333333333333333, 0.0)",
    },
    counted: Some("sources"),
    examples: &[&[("sources", "0,1,2,3,4,5,6,7,8,9")]],
    ..Algorithm::new("betweenness_centrality", "Betweenness", &KERNEL)
};

static KERNEL: Typed<BetweennessOptions, Betweenness> = Typed {
    options: |graph, values| {
        let (normalized, endpoints) = (values.flag("normalized"), values.flag("endpoints"));
        let (sources, failure) = (values.sources(graph)?, values.real("failure"));
        Ok(BetweennessOptions { sources, normalized, endpoints, failure })
    },
    estimate: estimate_betweenness_centrality,
    run: betweenness_centrality,
    verify: verify::verify_betweenness_centrality,
    report: |outcome, say| {
        let result = outcome.result;
        say(format_args!("from {} of {} vertices", result.sources.len(), outcome.graph.vertices()));
        if result.error_bound.is_finite() && result.error_bound > 0.0 {
            let (sure, bound) = (1.0 - outcome.options.failure, result.error_bound);
            say(format_args!("with probability {sure}, no vertex is off by more than {bound:e}"));
        }
        Ok(())
    },
    finding: |graph, _, options, result| {
        let sources = (!matches!(options.sources, Sources::All)).then(|| result.sources.to_vec());
        let attributes = vec![Datum::Vertices(sources), Datum::Real(result.error_bound)];
        Ok(Finding::new(graph, attributes, result)?.shown(""))
    },
};
