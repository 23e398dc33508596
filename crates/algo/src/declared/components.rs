//! Declaration of `components`: estimate, options, attributes, texts and report.

use crate::declared::prelude::*;
use crate::kernels::components::{Components, ComponentsOptions, components};

/// The estimate for finding components of this graph.
pub fn estimate_components(graph: &Graph, _options: &ComponentsOptions) -> Estimate {
    kernels::components::estimate(graph).verified_in(verify::components::components_bytes(graph))
}

/// The declaration of `components`.
pub static CONNECTED_COMPONENTS: Algorithm = Algorithm {
    summary: "Weakly connected components",
    aliases: &["weakly_connected_components", "components"],
    attributes: COUNT,
    report_needs: SIZES,
    doc: Doc {
        about: "They are what remains connected when edges lose their direction.",
        returns: "`vertex` and `component`, the smallest id in its component.",
        cost: "a few per cent of the pages on graphs with hubs, at most one pass per direction on any graph; 4.2 bytes \
               of memory per vertex.",
        differences: "Where NetworkX (`weakly_connected_components`, `connected_components`) yields a set per \
                      component, this names it for each vertex.",
        networkx: Some(Oracle {
            options: &[],
            expression: "{v: min(c) for c in (nx.weakly_connected_components if G.is_directed() else nx.connected_components)(G) \
             for v in c}",
        }),
        references: "Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. \
                     IPDPS 2018.",
        example: ">>> found = oc.connected_components(g, verify=True)\n\
                  >>> found.count, found.to_dict()\n\
                  (2, {'about': 'about', 'home': 'about', 'news': 'about', 'lone': 'lone'})",
        ..Doc::NONE
    },
    graphalytics: Some(Graphalytics { name: "WCC", place: 2, properties: &[], fixed: &[] }),
    ..Algorithm::new("connected_components", "Components", &KERNEL)
};

/// The attributes of components.
pub(crate) const COUNT: &[ResultAttribute] =
    &[ResultAttribute::new("count", DatumKind::Whole, "How many components there are")];

/// The memory of a report on components: labels and sizes.
pub(crate) const SIZES: Option<ReportNeeds> =
    Some(ReportNeeds { purpose: "the components and their sizes", bytes: |graph| 8 * graph.vertices() });

static KERNEL: Typed<ComponentsOptions, Components> = Typed {
    options: |_, _| Ok(ComponentsOptions {}),
    estimate: estimate_components,
    run: components,
    verify: |graph, _, result| verify::verify_components(graph, result),
    report: |outcome, say| outcome.result.report(outcome.graph, say),
    finding: |graph, _, _, result| Finding::new(graph, vec![Datum::Whole(result.count)], result),
};

/// The number of the largest components whose sizes the report lists.
const LISTED: usize = 10;

impl Components {
    /// Reports the number of components, and the sizes of the largest.
    pub(crate) fn report(&self, graph: &Graph, say: Say<'_>) -> Result<()> {
        say(format_args!("{} component{}", self.count, if self.count == 1 { "" } else { "s" }));
        let sizes = self.sizes(graph)?;
        let mut largest: Vec<u32> = Vec::with_capacity(LISTED + 1);
        for &size in sizes.iter() {
            if size > 0 && (largest.len() < LISTED || size > largest[LISTED - 1]) {
                largest.insert(largest.partition_point(|&other| other >= size), size);
                largest.truncate(LISTED);
            }
        }
        let text: Vec<String> = largest.iter().map(u32::to_string).collect();
        say(format_args!("  largest: {} vertices", text.join(", ")));
        Ok(())
    }
}
