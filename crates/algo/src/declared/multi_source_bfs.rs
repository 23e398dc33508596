//! Declaration of `multi_source_bfs`: estimate, options, attributes, texts and report.

use crate::declared::bfs::DEPTH_LIMIT;
use crate::declared::prelude::*;
use crate::kernels::multi_source_bfs::multi_source_bfs;
use crate::kernels::searches::reach::{MultiSourceBfs, MultiSourceBfsOptions};

/// The estimate for searches from the sources, with the least state that works: 64 sources at a time.
pub fn estimate_multi_source_bfs(graph: &Graph, options: &MultiSourceBfsOptions) -> Estimate {
    kernels::multi_source_bfs::estimate(graph, options).verified_in(verify::searches::searches_bytes(graph))
}

/// The declaration of `multi_source_bfs`.
pub static MULTI_SOURCE_BFS: Algorithm = Algorithm {
    summary: "Breadth-first search from many sources at once: by how many each vertex is reached, and its distances from them",
    options: &[
        Parameter::required("sources", Kind::Vertices, "The ids of the vertices to start from"),
        Parameter::optional(
            "targets",
            Kind::Vertices,
            "The ids of the vertices whose distances from every source are told",
        ),
        DEPTH_LIMIT,
    ],
    attributes: &[
        ResultAttribute::new(
            "reached",
            DatumKind::Wholes,
            "Per source, how many vertices were reached, itself included",
        ),
        ResultAttribute::new(
            "depths",
            DatumKind::Wholes,
            "Per source, the greatest distance of a vertex that was reached",
        ),
        ResultAttribute::new(
            "distances",
            DatumKind::Distances,
            "A row per source and a column per target: the distance, masked where there is no path. The array is made \
             when it is first asked for; it takes 9 bytes per source and target",
        ),
    ],
    doc: Doc {
        returns: "`vertex`, `reached_by` (how many of the sources have a path to it) and `distance_sum` (the sum of its \
                  distances from those). Per source, in their order, `reached`, `depths` and `distances` say how far \
                  the search came.",
        cost: "up to 512 sources, as many as the memory limit holds, share one search, which reads the lists about \
               once on graphs with hubs, and at most once per level, of which long graphs (paths, grids, \
               roads) have thousands: from few sources, `bfs` one after the other reads less there. 16.4 bytes of \
               memory per vertex, and 24 for every \
               64 sources that go together; 4 bytes per source and target, and 9 more when `distances` are asked for. \
               If there is no room for those, asking raises MemoryLimitError, and the rest of the result is as useful \
               as before.",
        refuses: "No vertex of one of the ids.",
        differences: "`networkx.all_pairs_shortest_path_length` and `networkx.single_source_shortest_path_length` give \
                      the same distances, as dicts.",
        networkx: Some(Oracle {
            options: &[("sources", "0,1,2")],
            expression: "{v: sum(v in nx.single_source_shortest_path_length(G, s) for s in (0, 1, 2)) for v in G}",
        }),
        references: "Then et al.: The more the merrier, efficient multi-source graph traversal. VLDB 2014.",
        example: ">>> found = oc.multi_source_bfs(g, ['home', 'news'], targets=['about'], verify=True)\n\
                  >>> found.distances.tolist(), found.depths\n\
                  ([[1], [2]], [1, 2])\n\
                  >>> found.row('home')\n\
                  {'vertex': 'home', 'reached_by': 2, 'distance_sum': 1}",
        ..Doc::NONE
    },
    counted: Some("sources"),
    examples: &[
        // More sources than a word has bits.
        &[
            (
                "sources",
                "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,\
             38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69",
            ),
            ("targets", "0,1,2,3,4"),
        ],
    ],
    ..Algorithm::new("multi_source_bfs", "MultiSourceBfs", &KERNEL)
};

static KERNEL: Typed<MultiSourceBfsOptions, MultiSourceBfs> = Typed {
    options: |graph, values| {
        let (sources, targets) = (values.vertices(graph, "sources")?, values.vertices(graph, "targets")?);
        Ok(MultiSourceBfsOptions { sources, targets, depth_limit: values.some_whole_32("depth_limit") })
    },
    estimate: estimate_multi_source_bfs,
    run: multi_source_bfs,
    verify: verify::verify_multi_source_bfs,
    report: |outcome, say| {
        let (sources, targets) = (outcome.values.ids("sources"), outcome.values.ids("targets"));
        for (i, (source, reach)) in sources.iter().zip(&outcome.result.reach).enumerate() {
            say(format_args!("{source} reaches {} vertices, the farthest at distance {}", reach.reached, reach.depth));
            for (j, target) in targets.iter().enumerate() {
                match outcome.result.level(i, j) {
                    Some(level) => say(format_args!("  {target:24} {level}")),
                    None => say(format_args!("  {target:24} no path")),
                }
            }
        }
        Ok(())
    },
    finding: |graph, _, _, result| shared(graph, result, Vec::new(), Vec::new()),
};

/// The result of searches, with further attributes before and after its own.
pub(crate) fn shared(graph: &Graph, result: MultiSourceBfs, before: Vec<Datum>, behind: Vec<Datum>) -> Result<Finding> {
    let (columns, reach, levels) = result.split();
    let mut attributes = before;
    if attributes.is_empty() {
        attributes.push(Datum::Wholes(reach.iter().map(|reach| reach.reached).collect()));
    }
    attributes.push(Datum::Wholes(reach.iter().map(|reach| reach.depth.into()).collect()));
    let sources = reach.len();
    let targets = levels.len().checked_div(sources).unwrap_or(0);
    attributes.push(Datum::Distances { levels, sources, targets });
    attributes.extend(behind);
    Finding::new(graph, attributes, columns)
}
