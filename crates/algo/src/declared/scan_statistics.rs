//! Declaration of `scan_statistics`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::scan_statistics::{Best, ScanStatistics, ScanStatisticsOptions, scan_statistics};
use crate::state::Layout;
use outcore_table::ColumnKind;

/// The estimate for finding the greatest locality statistics of this graph.
pub fn estimate_scan_statistics(graph: &Graph, options: &ScanStatisticsOptions) -> Estimate {
    let top = options.top.min(graph.vertices());
    // The verification ends before the column is made.
    let bytes = verify::triangles::scan_statistics_bytes(graph, top) + Best::layout(graph, top).bytes();
    let bytes = bytes.saturating_sub(ColumnKind::Count.bytes() * graph.vertices());
    kernels::scan_statistics::estimate(graph, options).verified_in(bytes)
}

/// The declaration of `scan_statistics`.
pub static SCAN_STATISTICS: Algorithm = Algorithm {
    summary: "Scan statistics: the vertices with the most edges among themselves and their neighbours",
    options: &[Parameter::count("top", 1, "How many vertices to find")],
    attributes: &[
        ResultAttribute::new("vertices", DatumKind::Vertices, "The ids of the vertices found, by falling statistics"),
        ResultAttribute::new(
            "statistics",
            DatumKind::Wholes,
            "For each of them the number of edges among itself and its neighbours",
        ),
        ResultAttribute::new("looked_at", DatumKind::Whole, "How many vertices were looked at to find them"),
    ],
    doc: Doc {
        about: "The locality statistic of a vertex is the number of edges of the subgraph that itself and its neighbours \
                induce, those that an edge of any direction joins with it; the scan statistic of a graph is the \
                greatest of all. Parallel edges count once and loops not at all; edges in opposite directions are two.",
        returns: "`vertex` and `edges`, the statistic, missing for all vertices that are not among the greatest. Among \
                  equals the smaller number in the image comes first.",
        cost: "vertices are ruled out by bounds that follow from degrees; at most one pass over the lists per eight \
               vertices that are looked at. Where more than 256 would be left, as in graphs whose vertices all have \
               about the same degree, all are looked at, and it costs what `triangles` costs. 20 to 24 bytes of memory \
               per vertex.",
        refuses: "`top` is 0.",
        differences: "Without loops, `networkx.ego_graph(G, v, undirected=True).number_of_edges()` is the same for one \
                      vertex.",
        references: "Priebe, Conroy, Marchette, Park: Scan statistics on Enron graphs. Computational and Mathematical \
                     Organization Theory, 2005.",
        example: ">>> found = oc.scan_statistics(g, verify=True)\n\
                  >>> found.vertices, found.statistics\n\
                  (['home'], [4])",
        ..Doc::NONE
    },
    counted: Some("top"),
    // Few of the greatest statistics, and more than vertices are looked at one by one.
    examples: &[&[("top", "3")], &[("top", "300")]],
    ..Algorithm::new("scan_statistics", "ScanStatistics", &KERNEL)
};

static KERNEL: Typed<ScanStatisticsOptions, ScanStatistics> = Typed {
    options: |_, values| Ok(ScanStatisticsOptions { top: values.whole("top") }),
    estimate: estimate_scan_statistics,
    run: scan_statistics,
    verify: verify::verify_scan_statistics,
    report: |outcome, say| {
        let Outcome { graph, result, .. } = outcome;
        say(format_args!("looked at {} of {} vertices", result.looked_at, graph.vertices()));
        say_ids(graph, &result.vertices, say, |i, id| format!("  {id:24} {}", result.statistics[i]))
    },
    finding: |graph, _, _, result| {
        let finding = Finding::new(graph, Vec::new(), &result)?;
        let ScanStatistics { vertices, statistics, looked_at, .. } = result;
        let attributes = vec![Datum::Vertices(Some(vertices)), Datum::Wholes(statistics), Datum::Whole(looked_at)];
        Ok(Finding { attributes, ..finding })
    },
};
