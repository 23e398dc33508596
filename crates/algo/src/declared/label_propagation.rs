//! Declaration of `label_propagation`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::label_propagation::{LabelPropagation, LabelPropagationOptions, label_propagation};

/// The estimate for propagating labels over this graph; passes are those of `max_iterations` iterations.
pub fn estimate_label_propagation(graph: &Graph, options: &LabelPropagationOptions) -> Estimate {
    kernels::label_propagation::estimate(graph, options)
        .verified_in(verify::label_propagation::label_propagation_bytes(graph))
}

/// The declaration of `label_propagation`.
pub static LABEL_PROPAGATION: Algorithm = Algorithm {
    summary: "Label propagation: communities, as Graphalytics defines them (CDLP)",
    options: &[Parameter::new(
        "max_iter",
        Kind::Whole { bits: 32, least: 0 },
        DefaultValue::Whole(10),
        "The most iterations; fewer are made if nothing changes any more, which gives the same labels",
    )],
    attributes: &[
        ResultAttribute::new("count", DatumKind::Whole, "How many labels there are"),
        ResultAttribute::new("iterations", DatumKind::Whole, "How many iterations were made"),
        ResultAttribute::new("converged", DatumKind::Flag, "Whether another iteration would change nothing"),
    ],
    doc: Doc {
        about: "Every vertex starts with its own id as its label. In every iteration all vertices at the same time take \
                the label that most of their neighbours have, the smallest of those if there are several. In a directed \
                graph in- and out-neighbours count, and one that is both counts twice. A vertex without neighbours \
                keeps its label.",
        returns: "`vertex` and `label`, an id.",
        cost: "at most one pass per iteration, in directed graphs over the lists of both directions, and less where \
               labels stay or swap for ever; 12.3 bytes of memory per vertex (16.3, and the ids for a while, in images \
               in degree order), and a buffer.",
        differences: "`networkx.community.asyn_lpa_communities` and igraph's `community_label_propagation` draw lots \
                      where this takes the smallest label, and change labels one after the other. Edges from a vertex \
                      to itself and parallel edges count as often as they are stored; weights are not used.",
        references: "Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures in large-scale \
                     networks. Physical Review E 76, 2007.",
        example: ">>> found = oc.label_propagation(g, max_iter=1, verify=True)\n\
                  >>> found.count, found.to_dict()\n\
                  (3, {'about': 'about', 'home': 'about', 'news': 'home', 'lone': 'lone'})",
        ..Doc::NONE
    },
    graphalytics: Some(Graphalytics {
        name: "CDLP",
        place: 3,
        properties: &[("max_iter", "cdlp.max-iterations")],
        fixed: &[],
    }),
    examples: &[&[("max_iter", "3")]],
    ..Algorithm::new("label_propagation", "LabelPropagation", &KERNEL)
};

static KERNEL: Typed<LabelPropagationOptions, LabelPropagation> = Typed {
    options: |_, values| Ok(LabelPropagationOptions { max_iterations: values.whole_32("max_iter") }),
    estimate: estimate_label_propagation,
    run: label_propagation,
    verify: verify::verify_label_propagation,
    report: |outcome, say| {
        let LabelPropagation { count, iterations, converged, .. } = outcome.result;
        let outcome = if *converged { "nothing changes any more" } else { "some labels still change" };
        say(format_args!("{count} labels after {iterations} iterations, {outcome}"));
        Ok(())
    },
    finding: |graph, _, _, result| {
        let (count, iterations) = (Datum::Whole(result.count), Datum::Whole(result.iterations.into()));
        Finding::new(graph, vec![count, iterations, Datum::Flag(result.converged)], result)
    },
};
