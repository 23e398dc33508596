//! LDBC Graphalytics: its six kernels with a data set's parameters, and its rules for outputs that are right.
//!
//! A reference output is a file of lines `vertex value`. Output and reference must have the same vertices, and then:
//! levels and labels are equal (an unreached vertex is 2^63 - 1); components are the same sets under whatever names;
//! ranks, coefficients and distances are within 1e-4 of the reference, relatively, or both infinite.
//!
//! *Cost.* A reference is read line by line. Ids take 8 bytes per vertex, their order 4, and 4 more while it is made,
//! where vertices are not numbered as their ids sort, and components 8 more.
//!
//! Iosup et al., *LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed platforms*,
//! VLDB 2016.

use crate::bfs::{BfsOptions, bfs};
use crate::components::{ComponentsOptions, components};
use crate::label_propagation::{LabelPropagationOptions, label_propagation};
use crate::lcc::{LccOptions, lcc};
use crate::pagerank::{PageRankOptions, pagerank};
use crate::sssp::{SsspOptions, sssp};
use outcore_graph::import::GraphalyticsProperties;
use outcore_graph::{Bitmap, Choice, Column, Error, Graph, Id, IdLookup, Result, Stats, WeightKind, distance_bits};
use outcore_io::{Array, Error as IoError, Input};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The level of a vertex that was not reached.
const UNREACHED: i128 = i64::MAX as i128;
/// How far a real number may be from the reference, relatively.
const EPSILON: f64 = 1e-4;
/// No line of a reference is longer, in bytes.
const MOST_LINE_BYTES: u64 = 4096;

/// A kernel of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Breadth-first search.
    Bfs,
    /// PageRank.
    Pr,
    /// Weakly connected components.
    Wcc,
    /// Community detection by label propagation.
    Cdlp,
    /// Local clustering coefficients.
    Lcc,
    /// Shortest paths from one vertex.
    Sssp,
}

impl Choice for Kernel {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Kernel::Bfs, "BFS", "Breadth-first search"),
        (Kernel::Pr, "PR", "PageRank"),
        (Kernel::Wcc, "WCC", "Weakly connected components"),
        (Kernel::Cdlp, "CDLP", "Community detection by label propagation"),
        (Kernel::Lcc, "LCC", "Local clustering coefficients"),
        (Kernel::Sssp, "SSSP", "Shortest paths from one vertex"),
    ];
}

/// Runs a kernel with a data set's parameters; nothing if the properties have none for it. Weights are for shortest
/// paths alone.
///
/// # Errors
/// Parameters that make no sense, and what the algorithm refuses.
pub fn run(graph: &Graph, kernel: Kernel, properties: &GraphalyticsProperties) -> Result<Option<(Column, Stats)>> {
    let source = |name| properties.text(name).map(|id| graph.vertex(id)).transpose();
    let steps = |name| properties.value::<u32>(name, "a number of iterations");
    let (column, stats) = match kernel {
        Kernel::Bfs => {
            let Some(source) = source("bfs.source-vertex")? else { return Ok(None) };
            let found = bfs(graph, &BfsOptions { source, ..BfsOptions::default() })?;
            (Column::Level(Arc::new(found.levels)), found.stats)
        }
        Kernel::Pr => {
            let alpha = properties.value("pr.damping-factor", "a probability")?;
            let (Some(alpha), Some(max_iter)) = (alpha, steps("pr.num-iterations")?) else { return Ok(None) };
            // Ranks that do not change any more are final.
            let options = PageRankOptions { alpha, tol: 0.0, max_iter, ..PageRankOptions::default() };
            let found = pagerank(graph, &options)?;
            (Column::Real(Arc::new(found.ranks)), found.stats)
        }
        Kernel::Wcc => {
            let found = components(graph, &ComponentsOptions::default())?;
            (Column::Component(Arc::new(found.labels)), found.stats)
        }
        Kernel::Cdlp => {
            let Some(max_iter) = steps("cdlp.max-iterations")? else { return Ok(None) };
            let found = label_propagation(graph, &LabelPropagationOptions { max_iter })?;
            (Column::Label(Arc::new(found.labels)), found.stats)
        }
        Kernel::Lcc => {
            let found = lcc(graph, &LccOptions::default())?;
            (Column::Real(Arc::new(found.coefficients)), found.stats)
        }
        Kernel::Sssp => {
            let (Some(source), Some(name)) = (source("sssp.source-vertex")?, properties.weight()) else {
                return Ok(None);
            };
            let options = SsspOptions { source, weights: graph.has_weights(Some(name))?, delta: None };
            let found = sssp(graph, &options)?;
            (Column::Distance(Arc::new(found.distances), found.kind), found.stats)
        }
    };
    Ok(Some((column, stats)))
}

/// The memory that the largest result and its comparison with a reference take: values of 8 bytes, components with
/// names.
pub fn comparison_bytes(graph: &Graph) -> u64 {
    state_bytes(graph, true).saturating_add(8 * graph.vertices())
}

/// The memory of a comparison.
fn state_bytes(graph: &Graph, components: bool) -> u64 {
    let vertices = graph.vertices();
    let state = if components { 8 * vertices } else { 0 } + 2 * Bitmap::bytes(vertices);
    graph.by_id_bytes().max(IdLookup::bytes(graph)).saturating_add(state)
}

/// Compares an output with a reference by the rule that its kind of values has. Lines may come in any order; that of
/// the ids is the fastest.
///
/// # Errors
/// [`Error::Verification`] with the first line that says otherwise or says nothing, or a vertex without a line; a file
/// that cannot be read; too little memory.
pub fn verify_output(graph: &Graph, output: &Column, reference: &Path) -> Result<()> {
    let vertices = graph.vertices();
    let components = matches!(output, Column::Component(_));
    graph.make_room("a comparison", state_bytes(graph, components))?;
    let budget = graph.runtime().budget();
    let ids = IdLookup::new(graph)?;
    let id = |vertex| number(ids.id(vertex));
    let order = ids.by_id(graph)?;
    let at = |place: u64| order.as_ref().map_or(place as u32, |order| order[place as usize]);
    let seen = Bitmap::new(budget, "a comparison", vertices)?;
    let mut classes = if components { Some(Classes::new(graph)?) } else { None };
    let mut lines = Lines::open(graph, reference)?;
    let mut next = 0;
    while let Some((named, value)) = lines.next(graph)? {
        if next == vertices || id(at(next)) != named {
            next = partition_point(vertices, |place| id(at(place)) < named);
        }
        if next == vertices || id(at(next)) != named {
            return Err(lines.contradict("a vertex of the graph", named));
        }
        let vertex = at(next);
        next += 1;
        if !seen.insert(vertex) {
            return Err(lines.contradict("every vertex once", format!("{named} again")));
        }
        if let Err(found) = matches(output, vertex, &value, id, classes.as_mut()) {
            return Err(lines.contradict(&format!("{value} at vertex {named}"), found));
        }
    }
    if let Some(missing) = (0..vertices as u32).find(|&vertex| !seen.contains(vertex)) {
        return Err(lines.contradict("a line for every vertex", format!("none for {}", id(missing))));
    }
    match classes.and_then(Classes::shared) {
        Some(name) => Err(lines.contradict("names of one component each", format!("two components called {name}"))),
        None => Ok(()),
    }
}

/// Whether a vertex's value is what the reference says; the value if not.
fn matches(
    output: &Column,
    vertex: u32,
    expected: &str,
    id: impl Fn(u32) -> i128,
    classes: Option<&mut Classes>,
) -> std::result::Result<(), String> {
    let place = vertex as usize;
    let whole = |found: i128| if expected.parse() == Ok(found) { Ok(()) } else { Err(found.to_string()) };
    let real = |found: f64| match expected.parse::<f64>() {
        Ok(expected) if found == expected => Ok(()),
        Ok(expected) if expected.is_finite() && (found - expected).abs() <= EPSILON * expected => Ok(()),
        _ => Err(found.to_string()),
    };
    match output {
        Column::Real(values) => real(values[place]),
        Column::Distance(values, kind) => real(match (distance_bits(values[place]), kind) {
            (None, _) => f64::INFINITY,
            (Some(bits), WeightKind::I64) => bits as f64,
            (Some(bits), WeightKind::F64) => f64::from_bits(bits),
        }),
        Column::Number(values) => whole(values[place].into()),
        Column::Count(values) | Column::Unsigned(values) => whole(values[place].into()),
        Column::Signed(values) => whole(values[place].into()),
        Column::Level(values) => match values[place] {
            0 => whole(UNREACHED),
            stored => whole((stored - 1).into()),
        },
        Column::Vertex(values) => match values[place] {
            0 => whole(UNREACHED),
            stored => whole(id(!stored)),
        },
        Column::Label(values) => whole(id(values[place])),
        Column::Component(values) => {
            let component = values[place];
            let Ok(name) = expected.parse::<i64>() else { return Err("a component".into()) };
            match classes.map_or(Ok(()), |classes| classes.add(component, name)) {
                Ok(()) => Ok(()),
                Err(other) => Err(format!("a vertex of the component called {other}")),
            }
        }
    }
}

/// What the reference calls the components.
struct Classes {
    names: Array<i64>,
    known: Bitmap,
}

impl Classes {
    fn new(graph: &Graph) -> Result<Self> {
        let (budget, vertices) = (graph.runtime().budget(), graph.vertices());
        let names = Array::zeroed(budget, "names of components", vertices as usize)?;
        Ok(Classes { names, known: Bitmap::new(budget, "names of components", vertices)? })
    }

    /// A vertex of a component has this name; another one is an error if an earlier vertex has it.
    fn add(&mut self, component: u32, name: i64) -> std::result::Result<(), i64> {
        let slot = &mut self.names[component as usize];
        if self.known.insert(component) {
            *slot = name;
        }
        if *slot == name { Ok(()) } else { Err(*slot) }
    }

    /// A name that two components have.
    fn shared(mut self) -> Option<i64> {
        let mut count = 0;
        for component in self.known.iter(0..self.known.words()) {
            self.names[count] = self.names[component as usize];
            count += 1;
        }
        let names = &mut self.names[..count];
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

/// The lines of a reference.
struct Lines {
    path: PathBuf,
    reader: BufReader<Input>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    fn open(graph: &Graph, path: &Path) -> Result<Self> {
        let file = graph.runtime().backend().input(path)?;
        Ok(Lines { path: path.to_owned(), reader: BufReader::new(file), line: Vec::new(), number: 0 })
    }

    /// The next vertex and its value.
    fn next(&mut self, graph: &Graph) -> Result<Option<(i128, String)>> {
        if self.number.is_multiple_of(1 << 16) {
            graph.runtime().cancel().check()?;
        }
        self.number += 1;
        self.line.clear();
        let mut rest = self.reader.by_ref().take(MOST_LINE_BYTES);
        rest.read_until(b'\n', &mut self.line).map_err(|error| IoError::file(&self.path, "read", error))?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&self.line);
        let mut words = text.split_ascii_whitespace();
        match (words.next().map(str::parse), words.next(), words.next()) {
            (Some(Ok(vertex)), Some(value), None) => Ok(Some((vertex, value.to_owned()))),
            _ => {
                let shown: String = text.trim_end().chars().take(80).collect();
                Err(self.contradict("a vertex and a value", format!("`{shown}`")))
            }
        }
    }

    /// The error that the line which was read last makes.
    fn contradict(&self, expected: &str, found: impl std::fmt::Display) -> Error {
        let line = format!("{expected} ({}:{})", self.path.display(), self.number);
        Error::verification(line, found.to_string())
    }
}

/// An id as a number; ids of this benchmark are.
fn number(id: Id<&str>) -> i128 {
    match id {
        Id::Unsigned(id) => id.into(),
        Id::Signed(id) => id.into(),
        Id::Text(_) => i128::MIN,
    }
}

/// The first place of which something does not hold; it holds of all before.
fn partition_point(places: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, places);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
