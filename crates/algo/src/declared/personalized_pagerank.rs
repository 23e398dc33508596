//! Declaration of `personalized_pagerank`: estimate, options, attributes, texts and report.

use crate::declared::pagerank::{ALPHA, CONVERGENCE, MAX_ITER, STOP, TOL, say_convergence, with_convergence};
use crate::declared::prelude::*;
use crate::kernels::personalized_pagerank::{PersonalizedPageRank, PersonalizedPageRankOptions, personalized_pagerank};
use crate::kernels::ranks::strengths::weight_bytes;

/// The estimate for personalised PageRank over this graph; passes are those of `max_iterations` iterations.
pub fn estimate_personalized_pagerank(graph: &Graph, options: &PersonalizedPageRankOptions) -> Estimate {
    kernels::personalized_pagerank::estimate(graph, options)
        .verified_in(verify::ranks::ranks_bytes(graph, &options.common()) + weight_bytes(graph, &options.common()))
}

/// The declaration of `personalized_pagerank`.
pub static PERSONALIZED_PAGERANK: Algorithm = Algorithm {
    summary: "PageRank where jumps lead to seeds instead of anywhere",
    options: &[
        Parameter {
            aliases: &["seeds"],
            ..Parameter::required(
                "personalization",
                Kind::Seeds,
                "The seeds: vertices that jumps lead to, with their shares. There may be several sets of seeds, for \
                 each of which there are ranks",
            )
        },
        ALPHA,
        TOL,
        STOP,
        MAX_ITER,
        Parameter::WEIGHT,
    ],
    attributes: CONVERGENCE,
    doc: Doc {
        about: "The ranks say how near vertices are to the seeds. Many sets of seeds share the passes. `alpha`, `tol`, \
                `stop` and `max_iter` are as in `pagerank`; iterations go on until all sets have converged.",
        returns: "`vertex` and `pagerank`, for several sets of seeds `pagerank_0`, `pagerank_1`, ... The attributes say \
                  how it went, of the slowest set. Vertices without out-edges pass their rank to the seeds.",
        cost: "one pass over the in-lists per iteration and eight sets. Memory per vertex: 16 bytes for each set of \
               those that are done together (1, 2, 4 or 8), 8 for each set, and 4; with weights 4 more.",
        refuses: "No vertex of that id, no set of seeds, one without any, shares or weights that are negative or \
                  infinite, or an option out of range.",
        differences: "`networkx.pagerank` has the seeds as its option `personalization`.",
        networkx: Some(Oracle {
            options: &[("tol", "1e-12"), ("max_iter", "1000"), ("personalization", "0,1")],
            expression: "nx.pagerank(G, tol=1e-12, max_iter=1000, personalization={0: 1, 1: 1})",
        }),
        references: "Haveliwala: Topic-sensitive PageRank. WWW 2002.",
        example: ">>> near = oc.personalized_pagerank(g, [{'news'}, {'about': 1, 'lone': 3}])\n\
                  >>> near.columns, near.top(1, 'pagerank_1')[0][0]\n\
                  (['vertex', 'pagerank_0', 'pagerank_1'], 'about')",
    },
    must_converge: true,
    counted: Some("personalization"),
    examples: &[&[("personalization", "0,7,7"), ("tol", "0"), ("max_iter", "5")]],
    ..Algorithm::new("personalized_pagerank", "PageRank", &KERNEL)
};

static KERNEL: Typed<PersonalizedPageRankOptions, PersonalizedPageRank> = Typed {
    options: |graph, values| {
        let (alpha, tol, max_iterations) = (values.real("alpha"), values.real("tol"), values.whole_32("max_iter"));
        let (seeds, stop) = (values.seeds(graph, "personalization")?, values.choice("stop"));
        Ok(PersonalizedPageRankOptions { seeds, alpha, tol, stop, max_iterations, weights: values.weights(graph)? })
    },
    estimate: estimate_personalized_pagerank,
    run: personalized_pagerank,
    verify: verify::verify_personalized_pagerank,
    report: |outcome, say| {
        say_convergence(outcome.result.stopped_by, outcome.result.iterations, outcome.result.residual, say);
        Ok(())
    },
    finding: |graph, values, options, result| {
        let (stopped_by, iterations, residual) = (result.stopped_by, result.iterations, result.residual);
        let sets = values.set_names("personalization").into_iter();
        let shown = sets.zip(0..).map(|(set, column)| (format!("from {set}"), column)).collect();
        let finding = Finding { shown, ..Finding::new(graph, Vec::new(), result)? };
        Ok(with_convergence(finding, stopped_by, iterations, residual, (options.alpha, options.tol)))
    },
};
