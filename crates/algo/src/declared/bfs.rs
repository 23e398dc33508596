//! Declaration of `bfs`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::bfs::{Bfs, BfsOptions, bfs};

/// The estimate for a search over this graph.
pub fn estimate_bfs(graph: &Graph, _options: &BfsOptions) -> Estimate {
    kernels::bfs::estimate(graph).verified_in(verify::bfs::bfs_bytes(graph))
}

/// The option of searches by levels.
pub(crate) const DEPTH_LIMIT: Parameter = Parameter {
    aliases: &["cutoff"],
    ..Parameter::optional(
        "depth_limit",
        Kind::Whole { bits: 32, least: 0 },
        "The greatest level that is searched for; all if not given",
    )
};

/// The attribute of searches with a target.
pub(crate) const PATH: ResultAttribute = ResultAttribute::new(
    "path",
    DatumKind::Path,
    "The ids of the vertices on a shortest path from the source to the target, if there is one; they are looked up \
     when they are first asked for",
);

/// The declaration of `bfs`.
pub static BFS: Algorithm = Algorithm {
    summary: "Breadth-first search: the level and parent of every vertex",
    aliases: &["breadth_first_search", "single_source_shortest_path_length"],
    options: &[
        Parameter::required("source", Kind::Vertex, "The id of the vertex to start from"),
        DEPTH_LIMIT,
        Parameter::optional(
            "target",
            Kind::Vertex,
            "The id of a vertex on whose level the search ends, if there is a path to it; the path is told",
        ),
    ],
    attributes: &[
        ResultAttribute::new("reached", DatumKind::Whole, "How many vertices were reached, the source included"),
        ResultAttribute::new("depth", DatumKind::Whole, "The greatest level that was found"),
        PATH,
    ],
    doc: Doc {
        returns: "`vertex`, `level` (the number of edges from the source) and `parent` (the vertex before it on a \
                  shortest path; the source is its own). Both are missing where there is no path, or only one beyond \
                  `depth_limit` or `target`. Which of several possible parents is named does not depend on threads, \
                  back end or memory, nor on where the search ends. `path` takes some 72 bytes per vertex on the path \
                  while the result lives.",
        cost: "reads every page of the lists at most once in each direction; on graphs with hubs far less than one \
               pass; 12.4 bytes of memory per vertex.",
        refuses: "No vertex of that id.",
        differences: "Unlike `networkx.single_source_shortest_path_length`, unreached vertices are in the result, \
                      without a level; and a path that is not there is `None`, where `networkx.shortest_path` raises \
                      an error. `depth_limit` is what `networkx.bfs_tree` calls so. Weights are not used.",
        networkx: Some(Oracle {
            options: &[("source", "0")],
            expression: "nx.single_source_shortest_path_length(G, 0)",
        }),
        references: "Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search. SC 2012.",
        example: ">>> levels = oc.bfs(g, 'home')\n\
                  >>> levels.reached, levels.depth\n\
                  (3, 1)\n\
                  >>> levels.row('news')\n\
                  {'vertex': 'news', 'level': 1, 'parent': 'home'}\n\
                  >>> oc.bfs(g, 'news', target='about').path\n\
                  ['news', 'home', 'about']",
        ..Doc::NONE
    },
    graphalytics: Some(Graphalytics {
        name: "BFS",
        place: 0,
        properties: &[("source", "bfs.source-vertex")],
        fixed: &[],
    }),
    examples: &[&[("source", "0")], &[("source", "0"), ("depth_limit", "2")]],
    ..Algorithm::new("bfs", "Bfs", &KERNEL)
};

static KERNEL: Typed<BfsOptions, Bfs> = Typed {
    options: |graph, values| {
        let target = values.some_vertex(graph, "target")?;
        Ok(BfsOptions {
            source: values.vertex(graph, "source")?,
            depth_limit: values.some_whole_32("depth_limit"),
            target,
        })
    },
    estimate: estimate_bfs,
    run: bfs,
    verify: verify::verify_bfs,
    report,
    finding: |graph, _, options, result| {
        let path = options.target.map(|target| result.path(graph, target)).transpose()?.flatten();
        let attributes = vec![Datum::Whole(result.reached), Datum::Whole(result.depth.into()), Datum::Path(path)];
        Finding::new(graph, attributes, result)
    },
};

/// The number of levels whose sizes the report lists.
const LISTED_LEVELS: usize = 20;

/// Reports the number of vertices on each level, and the path to the target.
fn report(outcome: Outcome<'_, BfsOptions, Bfs>, say: Say<'_>) -> Result<()> {
    let Outcome { graph, values, options, result } = outcome;
    let source = values.id("source");
    let path = options.target.map(|target| result.path(graph, target)).transpose()?.flatten();
    // The search ends where the target is.
    let until = if path.is_some() { format!(" until {}", values.id("target")) } else { String::new() };
    say(format_args!("reached {} of {} vertices from {source}{until}", result.reached, graph.vertices()));
    for (level, size) in result.level_sizes(graph, LISTED_LEVELS)?.iter().enumerate() {
        say(format_args!("  level {level:<4} {size}"));
    }
    if result.depth as usize >= LISTED_LEVELS {
        say(format_args!("  ... and {} more levels", result.depth as usize - LISTED_LEVELS + 1));
    }
    let id = values.id("target");
    let Some(path) = path else {
        let within = options.depth_limit.map_or(String::new(), |limit| format!(" of at most {limit} edges"));
        if options.target.is_some() {
            say(format_args!("no path{within} from {source} to {id}"));
        }
        return Ok(());
    };
    say(format_args!("path of {} edges from {source} to {id}", path.len() - 1));
    say_ids(graph, &path, say, |_, id| format!("  {id}"))
}
