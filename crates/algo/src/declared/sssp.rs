//! Declaration of `sssp`: estimate, options, attributes, texts and report.

use crate::declared::bfs::PATH;
use crate::declared::prelude::*;
use crate::kernels::sssp::{Sssp, SsspOptions, sssp, weight_bytes};

/// The estimate for a search over this graph; how many passes it makes depends on the weights.
pub fn estimate_sssp(graph: &Graph, options: &SsspOptions) -> Estimate {
    kernels::sssp::estimate(graph, options).verified_in(verify::sssp::sssp_bytes(graph) + weight_bytes(graph, options))
}

/// The declaration of `sssp`.
pub static SSSP: Algorithm = Algorithm {
    summary: "Shortest paths from one vertex, over the weights of the edges",
    aliases: &["single_source_dijkstra"],
    options: &[
        Parameter::required("source", Kind::Vertex, "The id of the vertex to start from"),
        Parameter {
            kind: Kind::Weight { lengths: true },
            help: "The name of the weights that are lengths; by default the only ones that the graph has, whatever they \
                   are called. Where edges have none, every length is 1",
            ..Parameter::WEIGHT
        },
        Parameter::optional(
            "delta",
            Kind::Real,
            "How much farther than the nearest waiting vertex others may be that are relaxed together with it; chosen \
             by the weights if not given. It changes the time and nothing else",
        ),
        Parameter::optional(
            "target",
            Kind::Vertex,
            "The id of a vertex, the path to which is told; the search goes on to all others",
        ),
    ],
    attributes: &[
        ResultAttribute::new(
            "reached",
            DatumKind::Whole,
            "How many vertices have a path from the source, itself included",
        ),
        PATH,
    ],
    doc: Doc {
        about: "The length of an edge is its weight, which `stats['weights']` names.",
        returns: "`vertex`, `distance` (whole if the weights are, else real) and `parent` (the vertex before it on a \
                  shortest path; the source is its own). Both are missing where there is no path. `path` takes some \
                  72 bytes per vertex on the path while the result lives.",
        cost: "every page of lists and weights as often as a distance in it falls, about two passes on graphs with \
               hubs, and one pass over the in-lists for the parents; 12.5 bytes of memory per vertex, and what reading \
               weights takes.",
        refuses: "No vertex of that id, no weights of that name, or a negative weight that a path leads to, named with \
                  its edge, or a distance beyond 2^63 - 1 or the greatest real number.",
        differences: "Like `networkx.single_source_dijkstra`, but unreached vertices are in the result, without a \
                      distance; and a path that is not there is `None`, where `networkx.dijkstra_path` raises an error.",
        networkx: Some(Oracle {
            options: &[("source", "0")],
            expression: "nx.single_source_dijkstra_path_length(G, 0)",
        }),
        references: "Meyer and Sanders: Delta-stepping, a parallelizable shortest path algorithm. Journal of \
                     Algorithms, 2003.",
        example: ">>> paths = oc.sssp(g, 'home')\n\
                  >>> paths.reached, paths.row('news')\n\
                  (3, {'vertex': 'news', 'distance': 1, 'parent': 'home'})\n\
                  >>> oc.sssp(g, 'news', target='about').path\n\
                  ['news', 'home', 'about']",
    },
    graphalytics: Some(Graphalytics {
        name: "SSSP",
        place: 5,
        properties: &[("source", "sssp.source-vertex")],
        fixed: &[],
    }),
    examples: &[&[("source", "0")], &[("source", "0"), ("delta", "0.5")]],
    ..Algorithm::new("sssp", "Sssp", &KERNEL)
};

static KERNEL: Typed<SsspOptions, Sssp> = Typed {
    options: |graph, values| {
        let source = values.vertex(graph, "source")?;
        // An unknown target is refused before the search.
        values.some_vertex(graph, "target")?;
        Ok(SsspOptions { source, weights: values.lengths(graph)?, delta: values.some_real("delta") })
    },
    estimate: estimate_sssp,
    run: sssp,
    verify: verify::verify_sssp,
    report: |outcome, say| {
        let (reached, vertices) = (outcome.result.reached, outcome.graph.vertices());
        let (source, id) = (outcome.values.id("source"), outcome.values.id("target"));
        say(format_args!("{reached} of {vertices} vertices have a path from {source}"));
        let Some(target) = outcome.values.some_vertex(outcome.graph, "target")? else { return Ok(()) };
        let Some(path) = outcome.result.path(outcome.graph, target)? else {
            say(format_args!("no path from {source} to {id}"));
            return Ok(());
        };
        let distance = outcome.result.distance(target).unwrap_or_default();
        say(format_args!("path of {} edges and length {distance} from {source} to {id}", path.len() - 1));
        say_ids(outcome.graph, &path, say, |_, id| format!("  {id}"))
    },
    finding: |graph, values, _, result| {
        let target = values.some_vertex(graph, "target")?;
        let path = target.map(|target| result.path(graph, target)).transpose()?.flatten();
        Ok(Finding::new(graph, vec![Datum::Whole(result.reached), Datum::Path(path)], result)?.shown("farthest"))
    },
};
