//! Declaration of `lcc`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::clustering::{Lcc, LccOptions, lcc};

/// The estimate for computing the local clustering coefficients of this graph; the passes are what the memory limit
/// leaves room for.
pub fn estimate_lcc(graph: &Graph, _options: &LccOptions) -> Estimate {
    kernels::clustering::estimate(graph).verified_in(verify::triangles::corners_bytes(graph))
}

/// The declaration of `lcc`.
pub static LCC: Algorithm = Algorithm {
    summary: "Local clustering coefficients as Graphalytics defines them",
    attributes: &[ResultAttribute::new("average", DatumKind::Real, "The mean of the coefficients")],
    doc: Doc {
        about: "The neighbours of a vertex are those that an edge of any direction joins with it. The coefficient is the \
                number of edges from one of its d neighbours to another, over d (d - 1); 0 if d is below 2. Parallel \
                edges and loops are ignored.",
        returns: "`vertex` and `lcc`, from 0 to 1.",
        cost: "that of `clustering`.",
        differences: "Without directions it is the same as `clustering`; with them, `clustering` also counts which way \
                      the edges of the vertex itself lead.",
        references: "Iosup et al.: LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and \
                     distributed platforms. VLDB 2016.",
        example: ">>> oc.lcc(g, verify=True).row('home')\n\
                  {'vertex': 'home', 'lcc': 0.0}",
        ..Doc::NONE
    },
    graphalytics: Some(Graphalytics { name: "LCC", place: 4, properties: &[], fixed: &[] }),
    ..Algorithm::new("lcc", "Lcc", &KERNEL)
};

static KERNEL: Typed<LccOptions, Lcc> = Typed {
    options: |_, _| Ok(LccOptions {}),
    estimate: estimate_lcc,
    run: lcc,
    verify: |graph, _, result| verify::verify_lcc(graph, result),
    report: |outcome, say| say_line(say, format_args!("average {}", outcome.result.average)),
    finding: |graph, _, _, result| Ok(Finding::new(graph, vec![Datum::Real(result.average)], result)?.shown("")),
};
