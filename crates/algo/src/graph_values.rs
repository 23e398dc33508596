//! Options that only a graph gives a meaning: ids of vertices, names of weights, sources of searches.

use crate::declare::Algorithm;
use crate::declare::sealed::Sealed;
use crate::has_lengths;
use crate::kernels::personalized_pagerank::seeds_with;
use crate::sources::Sources;
use outcore_declare::{Kind, Names, OptionValues, Value};
use outcore_graph::Graph;
use outcore_image::Result;

/// The values of options in a graph.
pub trait GraphValues: Sealed {
    /// The values, whatever the graph.
    fn values(&self) -> &OptionValues;

    /// A vertex, if its id was given.
    ///
    /// # Errors
    /// There is no vertex of that id.
    fn some_vertex(&self, graph: &Graph, name: &str) -> Result<Option<u32>> {
        match self.values().get(name) {
            Some(Value::Vertex(id)) => Ok(numbers(self.values(), graph, std::slice::from_ref(id))?.first().copied()),
            _ => Ok(None),
        }
    }

    /// A vertex whose id must be given.
    ///
    /// # Errors
    /// There is no vertex of that id.
    fn vertex(&self, graph: &Graph, name: &str) -> Result<u32> {
        Ok(self.some_vertex(graph, name)?.unwrap_or_default())
    }

    /// Vertices by their ids; none if they were not given.
    ///
    /// # Errors
    /// There is no vertex of one of these ids.
    fn vertices(&self, graph: &Graph, name: &str) -> Result<Vec<u32>> {
        match self.values().get(name) {
            Some(&Value::Counted(count)) => Ok(vec![0; count as usize]),
            _ => numbers(self.values(), graph, self.values().ids(name)),
        }
    }

    /// Sets of seeds, whose vertices are named by their ids.
    ///
    /// # Errors
    /// There is no vertex of one of these ids.
    fn seeds(&self, graph: &Graph, name: &str) -> Result<Vec<Vec<(u32, f64)>>> {
        let Some(Value::Seeds(sets)) = self.values().get(name) else { return Ok(Vec::new()) };
        let ids: Vec<_> = sets.iter().flatten().map(|(id, _)| id.clone()).collect();
        Ok(seeds_with(sets, numbers(self.values(), graph, &ids)?))
    }

    /// The sources of searches: from `sources`, from `k` vertices that are drawn, or from all.
    ///
    /// # Errors
    /// There is no vertex of one of these ids.
    fn sources(&self, graph: &Graph) -> Result<Sources> {
        match (self.values().get("sources"), self.values().some_whole("k")) {
            (Some(_), _) => Ok(Sources::Given(self.vertices(graph, "sources")?)),
            (None, Some(k)) => Ok(Sources::Drawn { k, seed: self.values().whole("seed") }),
            (None, None) => Ok(Sources::All),
        }
    }

    /// The graph with the weights of the requested name: where those are an attribute of the edges, the image is opened
    /// once more, with that attribute as its weights.
    ///
    /// # Errors
    /// As for [`Graph::open`].
    fn weighing(&self, graph: Graph) -> Result<Graph> {
        match self.values().get("weight") {
            Some(Value::Name(name)) if graph.weight_name() != Some(name) => Ok(graph.weighing(name)?.unwrap_or(graph)),
            _ => Ok(graph),
        }
    }

    /// Whether edges count by their weights.
    ///
    /// # Errors
    /// There are no weights of the name that was given.
    fn weights(&self, graph: &Graph) -> Result<bool> {
        named_weights(self.values(), |name| graph.has_weights(name))
    }

    /// Whether weights are the lengths of edges. Without a name, the only weights of a graph are, whatever their name.
    ///
    /// # Errors
    /// There are no weights of the name that was given.
    fn lengths(&self, graph: &Graph) -> Result<bool> {
        named_weights(self.values(), |name| has_lengths(graph, name))
    }

    /// A note on weights that the image has and the run does not use.
    fn unused_weights(&self, algorithm: &Algorithm, graph: &Graph) -> Option<String> {
        let takes = algorithm.options.iter().any(|option| matches!(option.kind, Kind::Weight { lengths: false }));
        let is_used = || self.weights(graph).unwrap_or(true);
        let name = graph.weight_name()?;
        (takes && self.values().get("weight") != Some(&Value::Unweighted) && !is_used())
            .then(|| format!("Every edge counts 1: its weight, `{name}`, is not used; the option `weight` uses it."))
    }
}

impl GraphValues for OptionValues {
    fn values(&self) -> &OptionValues {
        self
    }
}

fn named_weights(values: &OptionValues, has: impl Fn(Option<&str>) -> Result<bool>) -> Result<bool> {
    match values.get("weight") {
        Some(Value::Unweighted) => Ok(false),
        Some(Value::Name(name)) => has(Some(name)),
        _ => has(None),
    }
}

fn numbers(values: &OptionValues, graph: &Graph, ids: &[String]) -> Result<Vec<u32>> {
    let place = |id: &String, first: u32| {
        let number = id.parse::<u64>().unwrap_or_default() + u64::from(first);
        (number % graph.vertices().max(1)) as u32
    };
    match values.names() {
        Names::Ids => graph.vertices_of(ids),
        Names::Places(first) => Ok(ids.iter().map(|id| place(id, first)).collect()),
        Names::Any => Ok(vec![0; ids.len()]),
    }
}
