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

use crate::ALGORITHMS;
use crate::declare::Algorithm;
use crate::state::{Layout, array, bitmap};
use outcore_declare::{Kind, OptionValues, Value};
use outcore_format::WeightKind;
use outcore_graph::import::GraphalyticsProperties;
use outcore_graph::{Bitmap, Graph};
use outcore_image::{Error, Result, Stats};
use outcore_io::{Buffer, Input};
use outcore_table::{Column, Id, IdLookup, distance_bits};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

const UNREACHED: i128 = i64::MAX as i128;
/// How far a real number may be from the reference, relatively.
const EPSILON: f64 = 1e-4;
const MOST_LINE_BYTES: u64 = 4096;

/// The kernels of the benchmark, in the order of its reports: their names there, and the algorithms that declare them.
pub fn kernels() -> Vec<(&'static str, &'static Algorithm)> {
    let mut kernels: Vec<_> = ALGORITHMS.iter().filter_map(|one| Some((one.graphalytics.as_ref()?, *one))).collect();
    kernels.sort_by_key(|(kernel, _)| kernel.place);
    kernels.into_iter().map(|(kernel, algorithm)| (kernel.name, algorithm)).collect()
}

/// Runs a kernel with a data set's parameters; nothing if the properties have none for it. Weights are for lengths
/// alone.
///
/// # Errors
/// Parameters that make no sense, and what the algorithm refuses.
pub fn run(
    graph: &Graph,
    algorithm: &Algorithm,
    properties: &GraphalyticsProperties,
) -> Result<Option<(Column, Stats)>> {
    let Some(values) = values(algorithm, properties)? else { return Ok(None) };
    let found = algorithm.plan(graph, OptionValues::new(algorithm, values)?)?.run(graph, false, None)?;
    Ok(found.columns.into_iter().next().map(|(_, column)| (column, found.stats)))
}

/// The options of a kernel, if the properties have all that it needs.
fn values(algorithm: &Algorithm, properties: &GraphalyticsProperties) -> Result<Option<Vec<(&'static str, Value)>>> {
    let Some(kernel) = &algorithm.graphalytics else { return Ok(None) };
    let mut values = Vec::new();
    for (name, property) in kernel.properties {
        let option = algorithm.option(name)?;
        let value = match option.kind {
            Kind::Whole { .. } => properties.value(property, "a whole number")?.map(Value::Whole),
            Kind::Real => properties.value(property, "a number")?.map(Value::Real),
            _ => properties.text(property).map(|text| option.parse(text)).transpose().map_err(Error::Usage)?,
        };
        let Some(value) = value else { return Ok(None) };
        values.push((option.name, value));
    }
    for option in algorithm.options {
        if let Kind::Weight { lengths } = option.kind {
            let weight = properties.weight().filter(|_| lengths);
            if lengths && weight.is_none() {
                return Ok(None);
            }
            values.push((option.name, weight.map_or(Value::Unweighted, |name| Value::Name(name.to_owned()))));
        }
    }
    for (name, text) in kernel.fixed {
        let option = algorithm.option(name)?;
        values.push((option.name, option.parse(text).map_err(Error::Usage)?));
    }
    Ok(Some(values))
}

/// The memory that the largest result and its comparison with a reference take: values of 8 bytes, components with
/// names.
pub fn comparison_bytes(graph: &Graph) -> u64 {
    state_bytes(graph, true).saturating_add(8 * graph.vertices())
}

fn state_bytes(graph: &Graph, components: bool) -> u64 {
    let classes = if components { Classes::layout(graph).bytes() } else { 0 };
    graph.by_id_bytes().max(IdLookup::bytes(graph.image())).saturating_add(classes + seen(graph).bytes())
}

/// The vertices that have had their lines.
fn seen(graph: &Graph) -> impl Layout<Made = Bitmap> {
    bitmap(graph, "a comparison", graph.vertices())
}

/// Compares an output with a reference by the rule that its kind of values has. Lines may come in any order; that of
/// the ids is the fastest.
///
/// # Errors
/// [`Error::Verification`] with the first line that differs or is malformed, or a vertex without a line; a file
/// that cannot be read; too little memory.
pub fn verify_output(graph: &Graph, output: &Column, reference: &Path) -> Result<()> {
    let vertices = graph.vertices();
    let components = matches!(output, Column::Component(_));
    graph.make_room("a comparison", state_bytes(graph, components))?;
    let ids = IdLookup::new(graph.image())?;
    let id = |vertex| number(ids.id(vertex));
    let order = ids.by_id(graph.image())?;
    let at = |place: u64| order.as_ref().map_or(place as u32, |order| order[place as usize]);
    let seen = seen(graph).make()?;
    let mut classes = components.then(|| Classes::layout(graph).make()).transpose()?;
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

/// Compares a vertex's value with the reference; the error is the value.
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
        _ => Err("a column that Graphalytics does not have".into()),
    }
}

/// The names of the components in the reference.
struct Classes {
    names: Buffer<i64>,
    known: Bitmap,
}

impl Classes {
    fn layout(graph: &Graph) -> impl Layout<Made = Self> {
        let (name, vertices) = ("names of components", graph.vertices());
        let parts = (array(graph, name, vertices), bitmap(graph, name, vertices));
        parts.then(|(names, known)| Ok(Classes { names, known }))
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
        rest.read_until(b'\n', &mut self.line).map_err(|error| Error::file(&self.path, "read", error))?;
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
