//! Lengths of shortest paths by products over min-plus: the method of Bellman, Ford and Moore.
//!
//! *Idea.* With distances d, the least of `d[i] + a[i, j]` over all rows i is an entry of a product of the transpose
//! with d, where sums are minima and products are sums. Distances are lowered by such products until none changes:
//! after t of them they are at most those of paths of t entries. Several sources are columns of one product.
//!
//! *Negative cycles.* Distances that still change after n products have one to thank for that. It is mostly seen much
//! earlier: after 16, 32, 64 and so on products every vertex is asked, in a pass, from which other one its distance is
//! the least; where these make a circle around which distances are lowered, it is a negative one. If they are lowered
//! by no more than rounding does, the circle is one of length 0: from then on falls that are as small do not count.
//!
//! *Cost.* A pass over the columns per product, of which there are one more than the longest of all shortest paths has
//! entries; one over the rows as well, where entries are taken for both directions. 16 bytes per row and source that
//! are multiplied together, at most 8 sources, and 8 per row.
//!
//! Bellman, *On a routing problem*, Quarterly of Applied Mathematics 1958; Kepner and Gilbert (editors), *Graph
//! Algorithms in the Language of Linear Algebra*, 2011, chapter 5; Cherkassky and Goldberg, *Negative-cycle detection
//! algorithms*, Mathematical Programming 1999.

use crate::declare::values_bytes;
use crate::operator::{Costs, column_pages, require_real, square_rows};
use crate::tall::Space;
use outcore_graph::{Direction, Edges, Frontier, KeptWeights, ListFold, ListPart, fold, vertex_map};
use outcore_image::{Error, Result, Stats};
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer};
use outcore_matrix::{Operand, Semiring, SparseMatrix, StoredProduct, StoredTarget};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

const PURPOSE: &str = "distances of shortest paths";
/// The most sources whose distances are multiplied together.
const MOST_SOURCES: usize = 8;
/// Number of products before the first search for negative cycles; it doubles for each further search.
const FIRST_LOOK: u64 = 16;
/// Least fall of the distances around a negative cycle, relative to the sum of their magnitudes.
const ROUNDING: f64 = 1e-12;
const NONE: u32 = u32::MAX;

/// Options of shortest paths: direction and weights.
#[derive(Clone, Copy, Debug)]
pub struct BellmanFordOptions {
    /// Whether an entry in row i and column j leads from i to j only; otherwise also from j to i.
    pub directed: bool,
    /// Whether every entry has length 1, whatever its value.
    pub unweighted: bool,
}

impl Default for BellmanFordOptions {
    fn default() -> Self {
        BellmanFordOptions { directed: true, unweighted: false }
    }
}

/// Statistics of a computation of shortest paths.
#[derive(Debug)]
#[non_exhaustive]
pub struct BellmanFord {
    /// Number of vectors multiplied.
    pub products: u64,
    /// The sources that were multiplied together.
    pub sources_per_pass: usize,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Writes the lengths of shortest paths from some rows to all: `distances` has a row for each source, and in it a
/// number for each row of the matrix, in the order of ids. What no path leads to is infinitely far away. An entry of
/// value 0 is an edge of length 0; of several at one place the least counts.
///
/// *Cost.* Per group of at most 8 sources a pass over the columns for each entry of the longest shortest path, and one
/// more; with `directed: false` and a matrix that is not stored as symmetric, a pass over the rows with each.
/// `16 n` bytes per source that memory has room for, and `8 n`.
///
/// # Errors
/// A matrix that is not square; no such row; no room for `distances` of that size; a negative cycle that a source leads
/// to; distances too far below 0; too little memory for one source; a page that cannot be read or is damaged; a request
/// to stop. Then `distances` are unfinished.
pub fn bellman_ford(
    matrix: &SparseMatrix,
    sources: &[u64],
    options: &BellmanFordOptions,
    distances: &mut [f64],
) -> Result<BellmanFord> {
    let rows = square_rows(matrix)?;
    require_real(matrix)?;
    if let Some(source) = sources.iter().find(|&&source| source >= rows as u64) {
        return Err(Error::Usage(format!("expected sources among {rows} rows, found {source}")));
    }
    if distances.len() != sources.len() * rows {
        let expected = format!("room for {} x {rows} distances", sources.len());
        return Err(Error::Usage(format!("expected {expected}, found {}", distances.len())));
    }
    let by_values = matrix.has_values() && !options.unweighted;
    let mut costs = Costs::by_values(matrix, "shortest paths", by_values);
    let mut width = 0;
    if !sources.is_empty() {
        let mut search = Search::new(matrix, options, by_values, sources.len())?;
        width = search.space.width;
        for (sources, distances) in sources.chunks(width).zip(distances.chunks_mut(width * rows)) {
            search.run(sources, &mut costs)?;
            search.write(sources.len(), distances)?;
        }
    }
    let stats = costs.stats.finish(matrix.graph().runtime(), column_pages(matrix, by_values));
    let products = costs.products;
    Ok(BellmanFord { products, sources_per_pass: width, stats })
}

/// Distances from a few sources, side by side, in the order of the image.
struct Search<'a> {
    matrix: &'a SparseMatrix,
    space: Space,
    /// The matrices that distances are multiplied by, one after the other.
    operands: &'static [Operand],
    by_values: bool,
    distances: Buffer<f64>,
    product: Buffer<f64>,
    /// From which vertex each comes, and when it was seen: circles are looked for there.
    parents: Buffer<u32>,
    seen: Buffer<u32>,
    /// By column: by how much a distance must fall to count. It depends on no other column.
    rounding: [f64; MOST_SOURCES],
    _weights: Vec<KeptWeights>,
}

impl<'a> Search<'a> {
    fn new(matrix: &'a SparseMatrix, options: &BellmanFordOptions, by_values: bool, sources: usize) -> Result<Self> {
        let operands: &[Operand] = match options.directed || matrix.is_symmetric() {
            true => &[Operand::Transpose],
            false => &[Operand::Transpose, Operand::Matrix],
        };
        let (graph, rows) = (matrix.graph(), matrix.shape().0 as usize);
        let budget = graph.runtime().budget();
        let more_bytes = 8 * rows as u64 + if by_values { values_bytes(matrix) } else { 0 };
        let bytes = |width: usize| 16 * (width * rows) as u64 + more_bytes;
        let mut width = sources.clamp(1, MOST_SOURCES).next_power_of_two();
        while width > 1 && bytes(width) > budget.available_bytes() {
            width /= 2;
        }
        graph.make_room(PURPOSE, bytes(width))?;
        let weights = operands.iter().filter(|_| by_values).map(|&operand| matrix.keep_values(operand));
        let numbers = || Buffer::zeroed(budget, PURPOSE, rows * width);
        let vertices = || Buffer::zeroed(budget, PURPOSE, rows);
        Ok(Search {
            matrix,
            space: Space { runtime: graph.runtime().clone(), rows, width, is_complex: false },
            operands,
            by_values,
            _weights: weights.collect::<Result<_>>()?,
            distances: numbers()?,
            product: numbers()?,
            parents: vertices()?,
            seen: vertices()?,
            rounding: [0.0; MOST_SOURCES],
        })
    }

    /// Finds the distances from these sources.
    fn run(&mut self, sources: &[u64], costs: &mut Costs) -> Result<()> {
        self.distances.fill(f64::INFINITY);
        self.rounding.fill(0.0);
        let (matrix, width) = (self.matrix, self.space.width);
        self.space.update([&mut self.distances], |rows, [distances], []| {
            for (row, distances) in rows.zip(distances.chunks_exact_mut(width)) {
                let row = matrix.row_at(row) as u64;
                let columns = sources.iter().zip(distances).filter(|&(&source, _)| source == row);
                columns.for_each(|(_, distance)| *distance = 0.0);
            }
        })?;
        let (mut steps, mut look) = (0, FIRST_LOOK);
        loop {
            let changed = self.step(costs)?;
            if !changed.contains(&true) {
                return Ok(());
            }
            steps += 1;
            // Paths of n entries or more have a circle, which a shorter one is without unless it is negative.
            if steps >= self.space.rows as u64 {
                return Err(self.negative_cycle(None));
            }
            if steps == look {
                let mut columns = (0..sources.len()).filter(|&column| changed[column]);
                columns.try_for_each(|column| self.look_for_circles(column, costs))?;
                look *= 2;
            }
        }
    }

    /// Lowers distances by a product with every matrix; says in which columns any changed.
    fn step(&mut self, costs: &mut Costs) -> Result<[bool; MOST_SOURCES]> {
        let mut changed = [false; MOST_SOURCES];
        let (width, rounding) = (self.space.width, self.rounding);
        for &operand in self.operands {
            let how = StoredProduct { semiring: Semiring::MinPlus, operand, by_values: self.by_values };
            let target = StoredTarget::Memory(&mut self.product);
            self.matrix.multiply_stored(how, &self.distances, width, target, &mut costs.stats)?;
            costs.count(width as u64);
            let product = &self.product;
            let lower = |rows: Range<usize>, [distances]: [&mut [f64]; 1], lowered: &mut [f64; MOST_SOURCES]| {
                let product = product[rows.start * width..rows.end * width].chunks_exact(width);
                for (distances, product) in distances.chunks_exact_mut(width).zip(product) {
                    let columns = distances.iter_mut().zip(product).zip(rounding).zip(&mut *lowered);
                    for (((distance, &other), rounding), lowered) in columns {
                        if other < *distance - rounding {
                            *distance = other;
                            *lowered += if other == f64::NEG_INFINITY { f64::INFINITY } else { 1.0 };
                        }
                    }
                }
            };
            let lowered = self.space.update([&mut self.distances], lower)?;
            if lowered.contains(&f64::INFINITY) {
                let image = self.matrix.graph().path().display();
                let text = format!("expected distances that are finite numbers, found lower ones with {image}");
                return Err(Error::Unsuitable(text));
            }
            changed.iter_mut().zip(lowered).for_each(|(changed, lowered)| *changed |= lowered > 0.0);
        }
        Ok(changed)
    }

    /// An error if the vertices that distances in a column come from make a circle that lowers them; takes note of what
    /// rounding does.
    fn look_for_circles(&mut self, column: usize, costs: &mut Costs) -> Result<()> {
        let (graph, width, rows) = (self.matrix.graph(), self.space.width, self.space.rows);
        self.parents.fill(NONE);
        // Products are not needed until the next one: their first numbers are the least distances over a neighbour.
        self.product[..rows].fill(f64::INFINITY);
        for operand in self.operands {
            let direction = if *operand == Operand::Matrix { Direction::Out } else { Direction::In };
            let edges = Edges::new(direction, self.by_values);
            let nearest = Nearest {
                distances: &self.distances,
                width,
                column,
                least: shared(&mut self.product[..rows]),
                parents: shared(&mut self.parents),
            };
            let ((), sweep) = fold(graph, edges, Frontier::All, &nearest)?;
            costs.stats.step("circles", graph.vertices(), sweep);
        }
        self.seen.fill(0);
        for start in 0..rows {
            if start % (1 << 16) == 0 {
                self.space.runtime.cancel().check()?;
            }
            let (mark, mut vertex) = (start as u32 + 1, start);
            while self.seen[vertex] == 0 && self.parents[vertex] != NONE {
                self.seen[vertex] = mark;
                vertex = self.parents[vertex] as usize;
            }
            if self.seen[vertex] != mark || self.parents[vertex] == NONE {
                continue;
            }
            let (lowered, rounding) = self.around(vertex, column);
            if lowered > rounding {
                return Err(self.negative_cycle(Some(self.matrix.row_at(vertex))));
            }
            if lowered > 0.0 {
                self.rounding[column] = self.rounding[column].max(rounding);
            }
        }
        Ok(())
    }

    /// By how much a circle through this vertex lowers distances, and how much of that rounding may do.
    fn around(&self, start: usize, column: usize) -> (f64, f64) {
        let (mut lowered, mut magnitude, mut vertex) = (0.0, 0.0, start);
        loop {
            let distance = self.distances[vertex * self.space.width + column];
            lowered += distance - self.product[vertex];
            magnitude += distance.abs() + self.product[vertex].abs();
            vertex = self.parents[vertex] as usize;
            if vertex == start {
                return (lowered, ROUNDING * magnitude);
            }
        }
    }

    fn negative_cycle(&self, row: Option<usize>) -> Error {
        let image = self.matrix.graph().path().display();
        let place = row.map_or(String::new(), |row| format!(" through row {row}"));
        let text = format!("expected no negative cycle that a source leads to in {image}, found one{place}");
        Error::Unsuitable(format!("{text}: paths along it have no least length"))
    }

    /// Writes the distances of the first columns, column after column, with rows in the order of ids.
    fn write(&self, sources: usize, distances: &mut [f64]) -> Result<()> {
        let (rows, width) = (self.space.rows, self.space.width);
        let places: &[AtomicF64] = shared(distances);
        vertex_map(&self.space.runtime, rows as u64, |range| {
            for vertex in range {
                let (row, lengths) = (self.matrix.row_at(vertex), &self.distances[vertex * width..][..sources]);
                lengths.iter().enumerate().for_each(|(source, &length)| places[source * rows + row].store(length));
            }
            Ok(())
        })
    }
}

/// A pass that finds from which neighbour each vertex is nearest.
struct Nearest<'b> {
    distances: &'b [f64],
    width: usize,
    column: usize,
    least: &'b [AtomicF64],
    parents: &'b [AtomicU32],
}

impl ListFold for Nearest<'_> {
    /// A distance and a neighbour.
    type Value = (f64, u32);
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> (f64, u32) {
        let length = |i: usize| if list.weights.is_empty() { 1.0 } else { list.weights.real(i) };
        let over = |(i, &neighbour): (usize, &u32)| {
            (self.distances[neighbour as usize * self.width + self.column] + length(i), neighbour)
        };
        let neighbours = list.neighbours.iter().enumerate().map(over);
        neighbours.fold((f64::INFINITY, NONE), |before, after| self.merge(before, after))
    }

    fn merge(&self, before: (f64, u32), after: (f64, u32)) -> (f64, u32) {
        if after.0 < before.0 { after } else { before }
    }

    fn finish(&self, vertex: u32, value: Option<(f64, u32)>, (): &mut ()) {
        let (vertex, (least, neighbour)) = (vertex as usize, value.unwrap_or((f64::INFINITY, NONE)));
        // A source that nothing lowered comes from nowhere.
        let distance = self.distances[vertex * self.width + self.column];
        if least <= distance && least < self.least[vertex].load() {
            self.least[vertex].store(least);
            self.parents[vertex].store(neighbour, Ordering::Relaxed);
        }
    }
}
