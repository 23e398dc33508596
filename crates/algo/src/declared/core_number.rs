//! Declaration of `core_number`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::core_number::{CoreNumbers, CoreNumbersOptions, core_number};

/// The estimate for finding core numbers of this graph.
pub fn estimate_core_number(graph: &Graph, _options: &CoreNumbersOptions) -> Estimate {
    kernels::core_number::estimate(graph).verified_in(verify::core_number::core_numbers_bytes(graph))
}

/// The declaration of `core_number`.
pub static CORE_NUMBER: Algorithm = Algorithm {
    summary: "Core numbers: the greatest k such that a vertex is in the k-core",
    attributes: &[ResultAttribute::new("max_core", DatumKind::Whole, "The greatest core number")],
    doc: Doc {
        about: "The k-core is the largest part of the graph in which every vertex has at least k edges. As with \
                `networkx.core_number`, the degree of a vertex in a directed graph is its in-degree plus its \
                out-degree, so two edges in opposite directions count twice.",
        returns: "`vertex` and `core`.",
        cost: "every list once; a page is read as often as there are rounds that remove vertices of it, less what the \
               page cache holds: on a Kronecker graph of scale 24 three passes with half of the pages cached, ten with \
               none, and on long graphs (paths, roads) that the cache does not hold thousands. 4.4 bytes of memory per \
               vertex, 4.6 in directed graphs.",
        differences: "Differences from NetworkX: edges from a vertex to itself, which it refuses, are left out, and \
                      parallel edges, which it refuses too, count as often as they are stored.",
        networkx: Some(Oracle {
            options: &[],
            expression: "nx.core_number(nx.restricted_view(G, [], nx.selfloop_edges(G)))",
        }),
        references: "Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks. 2003. Dasari, Ranjan, \
                     Zubair: ParK. IEEE BigData 2014.",
        example: ">>> cores = oc.core_number(g, verify=True)\n\
                  >>> cores.max_core, cores.to_dict()\n\
                  (2, {'about': 2, 'home': 2, 'news': 2, 'lone': 0})",
        ..Doc::NONE
    },
    ..Algorithm::new("core_number", "CoreNumbers", &KERNEL)
};

static KERNEL: Typed<CoreNumbersOptions, CoreNumbers> = Typed {
    options: |_, _| Ok(CoreNumbersOptions {}),
    estimate: estimate_core_number,
    run: core_number,
    verify: |graph, _, result| verify::verify_core_number(graph, result),
    report: |outcome, say| say_line(say, format_args!("the greatest core number is {}", outcome.result.max_core)),
    finding: |graph, _, _, result| {
        Ok(Finding::new(graph, vec![Datum::Whole(result.max_core.into())], result)?.shown(""))
    },
};
