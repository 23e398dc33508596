//! `outcore head`, `neighbors` and `degrees`: a look into a graph, as lines of CSV under the users' ids.

use crate::answer::output_error;
use crate::args::{DegreesArgs, HeadArgs, NeighborsArgs};
use crate::common::Limits;
use crate::progress::runtime;
use outcore::arrow::array::RecordBatch;
use outcore::data::EdgesFrom;
use outcore::engine::Weight;
use outcore::front_ends::{push_quoted, push_value};
use outcore::io::{Buffer, escaped};
use outcore::{Direction, Edges, Graph, GraphOptions, Id, Result};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

fn open(image: &Path, limits: &Limits) -> Result<Graph> {
    Graph::open(&runtime(limits, None)?, image, GraphOptions::default())
}

/// Writes a line of CSV. A terminal would obey the control characters of ids and names: they are escaped there.
fn put(out: &mut impl Write, cells: impl IntoIterator<Item = String>) -> Result<()> {
    let line = cells.into_iter().collect::<Vec<String>>().join(",");
    match std::io::stdout().is_terminal() {
        true => writeln!(out, "{}", escaped(line)),
        false => writeln!(out, "{line}"),
    }
    .map_err(output_error)
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
        _ => None,
    }
}

pub fn head(args: &HeadArgs) -> Result<()> {
    let first = |limits: &Limits| outcore::data::first_edges(&open(&args.image, limits)?, args.edges as usize);
    let edges = first(&args.limits).map_err(|error| args.limits.advise(error, first))?;
    let mut out = BufWriter::new(std::io::stdout());
    put(&mut out, edges.schema().fields().iter().map(|field| cell(|into| push_quoted(into, field.name()))))?;
    for row in 0..edges.num_rows() {
        put(&mut out, edges.columns().iter().map(|column| cell(|into| push_value(into, column, row))))?;
    }
    out.flush().map_err(output_error)
}

pub fn neighbors(args: &NeighborsArgs) -> Result<()> {
    let shown = show_neighbors(args, &args.limits, args.hops, &mut BufWriter::new(std::io::stdout()));
    // A limit is advised that the first hop does with.
    shown.map_err(|error| args.limits.advise(error, |limits| show_neighbors(args, limits, 1, &mut std::io::sink())))
}

fn show_neighbors(args: &NeighborsArgs, limits: &Limits, hops: u32, out: &mut impl Write) -> Result<()> {
    let look = Look::new(args, limits)?;
    let graph = &look.graph;
    let start = graph.vertices_of(&args.ids)?;
    let attributes = graph.manifest().attributes.iter().map(|attribute| attribute.name.as_str());
    let names = look.before.iter().copied().chain(["vertex", "neighbor"]).chain(graph.weight_name()).chain(attributes);
    put(out, names.map(|name| cell(|into| push_quoted(into, name))))?;
    // Sets of vertices with a bit each: those that were reached, and those whose edges the next hop shows.
    let words = if hops > 1 { (graph.vertices() as usize).div_ceil(64) } else { 0 };
    let set = || Buffer::<u64>::zeroed(graph.runtime().budget(), "vertices within some hops", words);
    let (mut reached, mut next) = (set()?, set()?);
    if hops > 1 {
        start.iter().for_each(|&vertex| _ = insert(&mut reached, vertex));
    }
    look.visit(out, (1, hops), &mut start.into_iter(), (&mut reached, &mut next))?;
    for hop in 2..=hops {
        let frontier = std::mem::replace(&mut next, set()?);
        if frontier.iter().all(|&word| word == 0) {
            break;
        }
        look.visit(out, (hop, hops), &mut members(&frontier), (&mut reached, &mut next))?;
    }
    out.flush().map_err(output_error)
}

/// Number of vertices whose ids are looked up together.
const IDS_AT_ONCE: usize = 4096;

/// The edges of single vertices, in one direction or both.
struct Look {
    graph: Graph,
    /// Edges with their attributes, if they have any.
    edges: Option<EdgesFrom>,
    directions: &'static [(&'static str, Direction)],
    /// The columns before the ends of an edge.
    before: Vec<&'static str>,
}

impl Look {
    fn new(args: &NeighborsArgs, limits: &Limits) -> Result<Self> {
        let graph = open(&args.image, limits)?;
        let directions: &[_] = match (args.incoming, args.both) {
            _ if !graph.is_directed() => &[("both", Direction::Out)],
            (_, true) => &[("out", Direction::Out), ("in", Direction::In)],
            (true, _) => &[("in", Direction::In)],
            _ => &[("out", Direction::Out)],
        };
        let has_attributes = !graph.manifest().attributes.is_empty();
        let edges = has_attributes.then(|| EdgesFrom::new(&graph)).transpose()?;
        let before = [(args.hops > 1, "hop"), (args.both, "direction")];
        let before = before.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect();
        Ok(Look { graph, edges, directions, before })
    }

    /// Writes the edges of the vertices of a hop. Unless it is the last one, neighbours that were not reached before
    /// are added to `next`.
    fn visit(
        &self,
        out: &mut impl Write,
        (hop, last): (u32, u32),
        vertices: &mut dyn Iterator<Item = u32>,
        (reached, next): (&mut [u64], &mut [u64]),
    ) -> Result<()> {
        loop {
            let part: Vec<u32> = vertices.take(IDS_AT_ONCE).collect();
            if part.is_empty() {
                return Ok(());
            }
            for (&vertex, id) in part.iter().zip(self.graph.ids_of(&part)?) {
                self.put_edges(out, hop, (vertex, &id))?;
                for &(_, direction) in self.directions.iter().filter(|_| hop < last) {
                    for neighbour in self.graph.neighbours(vertex, direction)? {
                        if insert(reached, neighbour.vertex) {
                            insert(next, neighbour.vertex);
                        }
                    }
                }
            }
        }
    }

    /// Writes a line for each edge of a vertex.
    fn put_edges(&self, out: &mut impl Write, hop: u32, (vertex, id): (u32, &Id<String>)) -> Result<()> {
        let graph = &self.graph;
        for &(name, direction) in self.directions {
            let before =
                self.before.iter().map(|&column| if column == "hop" { hop.to_string() } else { name.to_owned() });
            let front: Vec<String> = before.chain([id_cell(id)]).collect();
            match (&self.edges, direction) {
                (None, _) => {
                    for neighbour in graph.neighbours(vertex, Edges::new(direction, graph.weight_name().is_some()))? {
                        let cells = [id_cell(&neighbour.id)].into_iter().chain(weight_cell(neighbour.weight));
                        put(out, front.iter().cloned().chain(cells))?;
                    }
                }
                (Some(edges), Direction::Out) => put_rows(out, &front, &edges.of(vertex)?, 1)?,
                // Attributes lie beside the lists of out-neighbours.
                (Some(edges), Direction::In) => {
                    let mut sources = graph.neighbours(vertex, direction)?;
                    sources.dedup_by_key(|source| source.vertex);
                    for source in sources {
                        put_rows(out, &front, &edges.all_between(source.vertex, vertex)?, 0)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Adds a vertex to a set of one bit per vertex, and returns whether it is new there.
fn insert(reached: &mut [u64], vertex: u32) -> bool {
    let (word, bit) = (&mut reached[vertex as usize / 64], 1 << (vertex % 64));
    let is_new = *word & bit == 0;
    *word |= bit;
    is_new
}

/// The vertices of such a set, in rising order.
fn members(set: &[u64]) -> impl Iterator<Item = u32> {
    let of_word = |(place, &word): (usize, &u64)| {
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| (64 * place) as u32 + bit)
    };
    set.iter().enumerate().flat_map(of_word)
}

/// Writes the rows of a batch of edges behind the cells of `front`; the neighbour is in the column of that place.
fn put_rows(out: &mut impl Write, front: &[String], rows: &RecordBatch, neighbour: usize) -> Result<()> {
    for row in 0..rows.num_rows() {
        let columns = std::iter::once(neighbour).chain(2..rows.num_columns());
        let cells = columns.map(|column| cell(|into| push_value(into, rows.column(column), row)));
        put(out, front.iter().cloned().chain(cells))?;
    }
    Ok(())
}

pub fn degrees(args: &DegreesArgs) -> Result<()> {
    let graph = open(&args.image, &args.limits)?;
    let vertices = graph.vertices_of(&args.ids)?;
    let columns = if graph.is_directed() { 3 } else { 1 };
    let mut out = BufWriter::new(std::io::stdout());
    put(&mut out, ["vertex", "degree", "in_degree", "out_degree"][..=columns].iter().map(ToString::to_string))?;
    for (vertex, id) in vertices.iter().zip(graph.ids_of(&vertices)?) {
        let counts = graph.degree(*vertex)?;
        let counts = [counts.all, counts.into, counts.from];
        put(&mut out, std::iter::once(id_cell(&id)).chain(counts[..columns].iter().map(u64::to_string)))?;
    }
    out.flush().map_err(output_error)
}
