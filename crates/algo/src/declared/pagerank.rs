//! Declaration of `pagerank`: estimate, options, attributes, texts and report.

use crate::convergence::{Stop, StoppedBy};
use crate::declared::prelude::*;
use crate::kernels::pagerank::{Dangling, PageRank, PageRankMethod, PageRankOptions, pagerank};
use crate::kernels::ranks::strengths::weight_bytes;

/// The estimate for PageRank over this graph; passes are those of `max_iterations` iterations.
pub fn estimate_pagerank(graph: &Graph, options: &PageRankOptions) -> Estimate {
    kernels::pagerank::estimate(graph, options)
        .verified_in(verify::ranks::ranks_bytes(graph, options) + weight_bytes(graph, options))
}

/// The declaration of `pagerank`.
pub static PAGERANK: Algorithm = Algorithm {
    summary: "PageRank: how often a walk along the edges is at a vertex",
    options: &[
        ALPHA,
        TOL,
        STOP,
        MAX_ITER,
        Parameter::choice::<PageRankMethod>("method", "power", "By which method ranks are computed"),
        Parameter::WEIGHT,
        Parameter::choice::<Dangling>("dangling", "networkx", "What becomes of the rank of vertices without out-edges"),
    ],
    attributes: CONVERGENCE,
    doc: Doc {
        about: "The names are those of `networkx.pagerank`, and ranks are right to several digits on graphs of any \
                size. Edges without direction count as one in each.",
        returns: "`vertex` and `pagerank`. The ranks are the same to the last bit for every number of threads.",
        cost: "one pass over the in-lists per iteration; 20 bytes of memory per vertex. With weights each pass reads \
               them too, one pass over the out-lists comes first, and it is 24 bytes. By `delta`, which is for slow \
               devices and graphs much larger than memory: pages of the out-lists, on Kronecker graphs less than half \
               to the same error, and several times the time per page; 24 bytes per vertex, 32 with weights; \
               `iterations` counts rounds.",
        refuses: "An option out of range, no weights of that name, or weights that are negative or infinite.",
        differences: "Differences from NetworkX: the residual is compared with `tol` itself unless `stop` is \
                      'networkx', `personalization` is `personalized_pagerank`, there is no `nstart`, `tol=0` is \
                      allowed, negative weights are refused, and so is the name of weights that are not there, unless \
                      it is the default.",
        networkx: Some(Oracle {
            options: &[("tol", "1e-12"), ("max_iter", "1000")],
            expression: "nx.pagerank(G, tol=1e-12, max_iter=1000)",
        }),
        references: "Page, Brin, Motwani, Winograd: The PageRank citation ranking. 1999. McSherry: A uniform approach \
                     to accelerated PageRank computation. WWW 2005.",
        example: ">>> ranks = oc.pagerank(g)\n\
                  >>> ranks.top(1)[0][0], ranks.converged\n\
                  ('home', True)",
    },
    must_converge: true,
    graphalytics: Some(Graphalytics {
        name: "PR",
        place: 1,
        properties: &[("alpha", "pr.damping-factor"), ("max_iter", "pr.num-iterations")],
        // Ranks that do not change any more are final.
        fixed: &[("tol", "0")],
    }),
    examples: &[
        &[("tol", "0"), ("max_iter", "5"), ("weight", "")],
        &[("tol", "0"), ("max_iter", "5")],
        &[("tol", "0"), ("max_iter", "5"), ("method", "delta")],
        &[("tol", "1e-6"), ("max_iter", "5"), ("stop", "networkx"), ("dangling", "gap")],
    ],
    ..Algorithm::new("pagerank", "PageRank", &KERNEL)
};

/// Options of convergence, which personalised PageRank has too.
pub(crate) const ALPHA: Parameter =
    Parameter::real("alpha", 0.85, "The probability of following an edge rather than jumping");
pub(crate) const TOL: Parameter = Parameter::real(
    "tol",
    1e-8,
    "Stop when the residual, the sum over all vertices of the absolute change in an iteration, is below this; 0 makes \
     exactly `max_iter` iterations",
);
pub(crate) const STOP: Parameter = Parameter::choice::<Stop>("stop", "residual", "With what the residual is compared");
pub(crate) const MAX_ITER: Parameter = Parameter::new(
    "max_iter",
    Kind::Whole { bits: 32, least: 0 },
    DefaultValue::Whole(200),
    "The most iterations; by pushes, as many pages as that many passes have",
);

/// Attributes that tell how ranks converged.
pub(crate) const CONVERGENCE: &[ResultAttribute] = &[
    ResultAttribute::new("iterations", DatumKind::Whole, "How many iterations were made"),
    ResultAttribute::new(
        "residual",
        DatumKind::Real,
        "The sum over all vertices of the absolute change in the last iteration. All ranks together are at most alpha \
         / (1 - alpha) times that away from exact ones",
    ),
    ResultAttribute::new("converged", DatumKind::Flag, "Whether the ranks converged"),
    ResultAttribute::new(
        "stopped_by",
        DatumKind::Text,
        "What ended the iterations: 'residual' or 'networkx', the rule by which the ranks converged, or, if they did \
         not, 'iterations', all that are allowed, or 'rounding', which keeps pushed ranks from coming nearer",
    ),
];

static KERNEL: Typed<PageRankOptions, PageRank> = Typed {
    options: |graph, values| {
        let (alpha, tol, max_iterations) = (values.real("alpha"), values.real("tol"), values.whole_32("max_iter"));
        let (stop, method, dangling) = (values.choice("stop"), values.choice("method"), values.choice("dangling"));
        Ok(PageRankOptions { alpha, tol, stop, max_iterations, method, dangling, weights: values.weights(graph)? })
    },
    estimate: estimate_pagerank,
    run: pagerank,
    verify: verify::verify_pagerank,
    report: |outcome, say| {
        let result = &outcome.result;
        say_convergence(result.stopped_by, result.iterations, result.residual, say);
        Ok(())
    },
    finding: |graph, _, options, result| {
        let (stopped_by, iterations, residual) = (result.stopped_by, result.iterations, result.residual);
        let finding = Finding::new(graph, Vec::new(), result)?.shown("");
        Ok(with_convergence(finding, stopped_by, iterations, residual, (options.alpha, options.tol)))
    },
};

/// Reports the reason that the iterations ended, and whether ranks converged.
pub(crate) fn say_convergence(stopped_by: StoppedBy, iterations: u32, residual: f64, say: Say<'_>) {
    let (outcome, rule) = match stopped_by {
        StoppedBy::Iterations => ("did not converge", "stopped by the number of iterations".to_owned()),
        StoppedBy::Rounding => ("did not converge", "stopped where rounding hides what is left".to_owned()),
        rule => ("converged", format!("stopped by the rule {}", rule.name())),
    };
    let times = if iterations == 1 { "iteration" } else { "iterations" };
    say(format_args!("{outcome} after {iterations} {times}, residual {residual:e}, {rule}"));
}

/// Adds the convergence of ranks to a result. A tolerance of 0 requests exactly `max_iter` iterations, not convergence.
pub(crate) fn with_convergence(
    finding: Finding,
    stopped_by: StoppedBy,
    iterations: u32,
    residual: f64,
    (alpha, tol): (f64, f64),
) -> Finding {
    let converged = stopped_by.converged();
    let attributes = vec![
        Datum::Whole(iterations.into()),
        Datum::Real(residual),
        Datum::Flag(converged),
        Datum::Text(stopped_by.name()),
    ];
    let remedy = match stopped_by {
        StoppedBy::Rounding => Remedy::Precision,
        _ if alpha == 1.0 => Remedy::Jumps,
        _ => Remedy::Iterations,
    };
    let unconverged = (!converged && tol > 0.0).then_some(Unconverged { tol, residual, iterations, remedy });
    Finding { attributes, unconverged, ..finding }
}
