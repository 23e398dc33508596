//! Facts of a run beside its result, and the page that shows them.

use outcore::io::Sample;
use outcore::report::{self, Given, Planned, Report};
use outcore::{Graph, GraphInfo, Stats, Table};

/// Facts of a run beside its result and cost, for its report.
pub struct About {
    /// The name of the function.
    pub name: &'static str,
    pub options: Vec<Given>,
    pub info: GraphInfo,
    pub plan: Planned,
    pub samples: Vec<Sample>,
}

impl About {
    /// The run of a vertex program, whose options are functions.
    pub fn of_program(graph: &Graph) -> Self {
        let (options, plan, samples) = (Vec::new(), Planned::default(), Vec::new());
        About { name: "vertex_program", options, info: graph.info(), plan, samples }
    }

    /// The page of the run.
    pub fn page(&self, table: &Table, cost: &Stats) -> String {
        let About { name, options, info, plan, samples } = self;
        let input = table.image().path().display().to_string();
        let facts = match serde_json::to_value(info) {
            Ok(serde_json::Value::Object(facts)) => facts,
            _ => serde_json::Map::new(),
        };
        report::page(&Report {
            name: (*name).to_owned(),
            call: report::call_text(name, &input, options),
            input,
            options: options.clone(),
            facts,
            plan: plan.clone(),
            stats: cost.clone(),
            samples: samples.clone(),
        })
    }
}
