//! `outcore head`, `neighbors` and `degrees`: a look into a graph, as lines of CSV under the users' ids.

use crate::answer::output_error;
use crate::args::{DegreesArgs, HeadArgs, NeighborsArgs};
use crate::common::Limits;
use crate::progress::runtime;
use outcore::{Direction, Edges, Graph, GraphOptions, Id, Result, Weight, push_quoted, push_value};
use std::io::{BufWriter, Write};
use std::path::Path;

fn open(image: &Path, limits: &Limits) -> Result<Graph> {
    Graph::open(&runtime(limits, None)?, image, GraphOptions::default())
}

/// Lines of CSV on the standard output.
struct Lines(BufWriter<std::io::Stdout>);

impl Lines {
    /// Lines under the names of their columns.
    fn new(names: &[&str]) -> Result<Self> {
        let mut lines = Lines(BufWriter::new(std::io::stdout()));
        lines.put(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
        Ok(lines)
    }

    fn put(&mut self, cells: &[String]) -> Result<()> {
        self.0.write_all(format!("{}\n", cells.join(",")).as_bytes()).map_err(output_error)
    }

    fn end(mut self) -> Result<()> {
        self.0.flush().map_err(output_error)
    }
}

fn id_cell(id: &Id<String>) -> String {
    let mut cell = Vec::new();
    match id {
        Id::Text(text) => push_quoted(&mut cell, text),
        number => return number.to_string(),
    }
    String::from_utf8(cell).expect("a string in quotes")
}

fn weight_cell(weight: Weight) -> Option<String> {
    match weight {
        Weight::Integer(weight) => Some(weight.to_string()),
        Weight::Real(weight) => Some(format!("{weight:?}")),
        Weight::None | Weight::Complex(..) => None,
    }
}

/// The names of columns, with that of the weights where there are some.
fn with_weights<'a>(graph: &'a Graph, names: [&'a str; 2]) -> Vec<&'a str> {
    names.into_iter().chain(graph.weight_name()).collect()
}

pub fn head(args: &HeadArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let edges = outcore::first_edges(&graph, args.edges as usize)?;
    let cell = |push: &dyn Fn(&mut Vec<u8>)| {
        let mut cell = Vec::new();
        push(&mut cell);
        String::from_utf8_lossy(&cell).into_owned()
    };
    let schema = edges.schema();
    let names: Vec<String> =
        schema.fields().iter().map(|field| cell(&|into| push_quoted(into, field.name()))).collect();
    let mut lines = Lines::new(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
    for row in 0..edges.num_rows() {
        let cells = edges.columns().iter().map(|column| cell(&|into| push_value(into, column, row)));
        lines.put(&cells.collect::<Vec<_>>())?;
    }
    lines.end()
}

pub fn neighbors(args: &NeighborsArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let direction = if args.incoming { Direction::In } else { Direction::Out };
    let edges = Edges::new(direction, graph.weight_name().is_some());
    let vertices = graph.vertices_of(&args.ids)?;
    let mut lines = Lines::new(&with_weights(&graph, ["vertex", "neighbor"]))?;
    for (vertex, id) in vertices.iter().zip(graph.ids(&vertices)?) {
        for neighbour in graph.neighbours(*vertex, edges)? {
            let cells = [id_cell(&id), id_cell(&neighbour.id)].into_iter().chain(weight_cell(neighbour.weight));
            lines.put(&cells.collect::<Vec<_>>())?;
        }
    }
    lines.end()
}

pub fn degrees(args: &DegreesArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let vertices = graph.vertices_of(&args.ids)?;
    let names = ["vertex", "degree", "in_degree", "out_degree"];
    let mut lines = Lines::new(if graph.is_directed() { &names } else { &names[..2] })?;
    for (vertex, id) in vertices.iter().zip(graph.ids(&vertices)?) {
        let counts = graph.degree(*vertex)?;
        let own = if graph.is_directed() { vec![counts.all, counts.into, counts.from] } else { vec![counts.all] };
        lines.put(&std::iter::once(id_cell(&id)).chain(own.iter().map(u64::to_string)).collect::<Vec<_>>())?;
    }
    lines.end()
}
