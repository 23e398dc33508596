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

/// Writes a line of CSV.
fn put(out: &mut impl Write, cells: impl IntoIterator<Item = String>) -> Result<()> {
    let cells: Vec<String> = cells.into_iter().collect();
    writeln!(out, "{}", cells.join(",")).map_err(output_error)
}

/// A cell with the bytes that `push` appends.
fn cell(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut cell = Vec::new();
    push(&mut cell);
    String::from_utf8_lossy(&cell).into_owned()
}

fn id_cell(id: &Id<String>) -> String {
    match id {
        Id::Text(text) => cell(|into| push_quoted(into, text)),
        number => number.to_string(),
    }
}

fn weight_cell(weight: Weight) -> Option<String> {
    match weight {
        Weight::Integer(weight) => Some(weight.to_string()),
        Weight::Real(weight) => Some(format!("{weight:?}")),
        Weight::None | Weight::Complex(..) => None,
    }
}

pub fn head(args: &HeadArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let edges = outcore::first_edges(&graph, args.edges as usize)?;
    let mut out = BufWriter::new(std::io::stdout());
    put(&mut out, edges.schema().fields().iter().map(|field| cell(|into| push_quoted(into, field.name()))))?;
    for row in 0..edges.num_rows() {
        put(&mut out, edges.columns().iter().map(|column| cell(|into| push_value(into, column, row))))?;
    }
    out.flush().map_err(output_error)
}

pub fn neighbors(args: &NeighborsArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let direction = if args.incoming { Direction::In } else { Direction::Out };
    let edges = Edges::new(direction, graph.weight_name().is_some());
    let vertices = graph.vertices_of(&args.ids)?;
    let mut out = BufWriter::new(std::io::stdout());
    put(&mut out, ["vertex", "neighbor"].into_iter().chain(graph.weight_name()).map(str::to_owned))?;
    for (vertex, id) in vertices.iter().zip(graph.ids(&vertices)?) {
        for neighbour in graph.neighbours(*vertex, edges)? {
            put(&mut out, [id_cell(&id), id_cell(&neighbour.id)].into_iter().chain(weight_cell(neighbour.weight)))?;
        }
    }
    out.flush().map_err(output_error)
}

pub fn degrees(args: &DegreesArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let vertices = graph.vertices_of(&args.ids)?;
    let columns = if graph.is_directed() { 3 } else { 1 };
    let mut out = BufWriter::new(std::io::stdout());
    put(&mut out, ["vertex", "degree", "in_degree", "out_degree"][..=columns].iter().map(ToString::to_string))?;
    for (vertex, id) in vertices.iter().zip(graph.ids(&vertices)?) {
        let counts = graph.degree(*vertex)?;
        let counts = [counts.all, counts.into, counts.from];
        put(&mut out, std::iter::once(id_cell(&id)).chain(counts[..columns].iter().map(u64::to_string)))?;
    }
    out.flush().map_err(output_error)
}
