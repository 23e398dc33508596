//! A sparse matrix on disk, and its product with a dense one. Dense matrices in files: `streamed.rs`.
//!
//! *Idea.* Semi-external: the sparse matrix is read from the device page by page, the dense one is in memory, in
//! row-major order and in the order of the image's vertices, so that an entry picks adjacent numbers and hubs lie
//! together. A row of the product belongs to one list, so workers share nothing, and rows go straight to their places.
//!
//! *Passes.* Up to 32 columns are multiplied in one pass over the lists; fewer if memory has no room for so many. By
//! the paper's model memory is better spent on columns than on a page cache: each column more saves a share of a pass.
//!
//! *Complex numbers.* A complex column is two adjacent columns of real numbers, its parts: a pass multiplies 16 of
//! them.
//!
//! *Cost.* Per pass one read of the lists and their values; 8 bytes per column of the pass and row of the dense matrix,
//! 4 bytes per row and column of the sparse one for their order, if the image is not in the order of ids.
//!
//! Zheng, *FlashX: massive data analysis using fast I/O*, 2016, chapter 4.

use crate::kernel::{Parts, Picked, add_lists};
use crate::places::places;
use crate::product_file::{Rows, Slot};
use crate::semiring::{MaxTimes, MinPlus, OrAnd, PlusFirst, PlusTimes, Rules, Semiring};
use crate::streamed::FileFactor;
use outcore_format::Lists;
use outcore_graph::{
    Direction, Edges, Frontier, Graph, KeptWeights, ListFold, ListPart, PAGE_BYTES, Weights, fold, vertex_map,
};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_ingest::Choice;
use outcore_io::buffer::{prefetch, shared};
use outcore_io::{AtomicF64, Buffer, CancelFlag, Progress, Reclaim, Runtime, lock};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The most columns of a dense matrix that one pass multiplies; half as many of a complex one.
pub const MOST_COLUMNS: usize = 32;
/// The purpose of the memory of a product.
pub(crate) const PURPOSE: &str = "a product of matrices";
/// Distance of prefetches, in rows, for rows of a factor or product in another order than the image.
const AHEAD_ROWS: usize = 16;

/// The operand of a product: the matrix, its transpose or its adjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The matrix.
    Matrix,
    /// Its transpose.
    Transpose,
    /// The conjugate of its transpose: the transpose, where values are not complex.
    Adjoint,
}

impl Operand {
    /// The operand whose rows are the columns of this one: the transpose of the matrix, or the matrix.
    pub fn transposed(self) -> Self {
        if self == Operand::Matrix { Operand::Transpose } else { Operand::Matrix }
    }
}

/// The vertices that are rows, or those that are columns: all of a square matrix are both.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub first: usize,
    pub count: usize,
}

/// A sparse matrix: an image, read by rows or by columns.
#[derive(Clone)]
pub struct SparseMatrix {
    graph: Graph,
    values: bool,
    is_complex: bool,
    rows: Side,
    columns: Side,
    /// The row and column of every vertex, where the image is not in the order of ids.
    places: Option<Arc<Buffer<u32>>>,
    /// Columns of the last factor, for their memory: fresh memory costs about as much as a product of one column.
    idle: Arc<Idle>,
}

/// Memory for columns of a factor, which nobody uses now.
#[derive(Default)]
struct Idle(Mutex<Option<Buffer<f64>>>);

impl Reclaim for Idle {
    // The holder of the lock may be the thread that needs the memory.
    fn reclaimable_bytes(&self) -> u64 {
        self.0.try_lock().ok().and_then(|idle| Some(idle.as_ref()?.reservation().bytes())).unwrap_or(0)
    }

    fn reclaim(&self) {
        if let Ok(mut idle) = self.0.try_lock() {
            *idle = None;
        }
    }
}

impl std::fmt::Debug for SparseMatrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseMatrix").field("graph", &self.graph).field("values", &self.values).finish_non_exhaustive()
    }
}

/// Plan of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiplyPlan {
    /// Number of columns of the dense matrix that are multiplied together: complex ones, if the sparse matrix is
    /// complex.
    pub columns_per_pass: usize,
    /// Passes over the sparse matrix.
    pub passes: u64,
    /// Bytes of memory for the columns of a pass.
    pub state_bytes: u64,
    /// Bytes of the pages of a pass, values included: at most this number is read per pass.
    pub bytes_per_pass: u64,
    /// Bytes read of a factor in a file.
    pub factor_bytes: u64,
    /// Bytes written of a product in a file.
    pub product_bytes: u64,
    /// Approximate bytes that are written to temporary files, and read again.
    pub temporary_bytes: u64,
}

impl SparseMatrix {
    /// Takes a graph for a matrix whose values are its weights if `values` says so, and 1 otherwise.
    ///
    /// # Errors
    /// Values are wanted and there are none, or they are `u64`; an edge that does not lead from a row to a column; a
    /// column of ids or degrees that cannot be read or is damaged; too little memory: 4 bytes per vertex where vertices
    /// are not in the order of their ids, and where these are not adjacent whole numbers, [`Graph::by_id_bytes`] while
    /// they are sorted.
    pub fn new(graph: &Graph, values: bool) -> Result<Self> {
        let is_complex = values && graph.is_complex();
        if values && !is_complex {
            graph.weight_kind()?;
        }
        graph.check_sides()?;
        let places = places(graph)?.map(Arc::new);
        let vertices = graph.vertices() as usize;
        let all = Side { first: 0, count: vertices };
        let (rows, columns) = match graph.manifest().rows.map(|rows| rows as usize) {
            None => (all, all),
            Some(rows) => (Side { first: 0, count: rows }, Side { first: rows, count: vertices - rows }),
        };
        if let Some(places) = &places
            && let Some(row) = places[..rows.count].iter().position(|&place| place as usize >= rows.count)
        {
            let expected = "rows whose ids sort before those of columns";
            let found = format!("place {} of {} rows for row {row}", places[row], rows.count);
            return Err(Error::damaged(graph.path(), 0, expected, found));
        }
        let idle = Arc::<Idle>::default();
        let owner: Weak<dyn Reclaim> = Arc::downgrade(&idle) as Weak<Idle>;
        graph.runtime().budget().add_reclaim(owner);
        Ok(SparseMatrix { graph: graph.clone(), values, is_complex, rows, columns, places, idle })
    }

    /// The matrix for one operation, which is stopped on its own and shows its progress to `progress` alone.
    #[must_use]
    pub fn for_operation(&self, progress: Option<Arc<dyn Progress>>) -> Self {
        self.with_graph(self.graph.for_operation(progress))
    }

    /// The matrix for work that is a part of other work: it is stopped as that is, and shows no progress.
    #[must_use]
    pub fn stopped_by(&self, cancel: &CancelFlag) -> Self {
        self.with_graph(self.graph.with_runtime(self.graph.runtime().stopped_by(cancel)))
    }

    fn with_graph(&self, graph: Graph) -> Self {
        let (graph, places, idle) = (graph, self.places.clone(), Arc::clone(&self.idle));
        SparseMatrix { graph, places, idle, ..*self }
    }

    /// The graph whose matrix it is.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Whether entries have values of their own; otherwise each is 1.
    pub fn has_values(&self) -> bool {
        self.values
    }

    /// Whether its values are complex numbers: then so are factors and products.
    pub fn is_complex(&self) -> bool {
        self.is_complex
    }

    /// Number of rows and columns.
    pub fn shape(&self) -> (u64, u64) {
        (self.rows.count as u64, self.columns.count as u64)
    }

    /// Number of rows and columns of an operand.
    pub fn shape_of(&self, operand: Operand) -> (usize, usize) {
        let (_, rows, columns) = self.rows_of(operand);
        (rows.count, columns.count)
    }

    /// Whether rows and columns are the same vertices. Others are stored as those of a rectangular matrix, even if they
    /// are as many.
    pub fn is_square(&self) -> bool {
        self.graph.manifest().rows.is_none()
    }

    /// Number of stored entries.
    pub fn entries(&self) -> u64 {
        self.graph.manifest().out_lists.entries
    }

    /// Whether the matrix is stored as one that is its own transpose.
    pub fn is_symmetric(&self) -> bool {
        !self.graph.is_directed()
    }

    /// The row and column of every vertex, where the image is not in the order of ids.
    pub(crate) fn places(&self) -> Option<&Buffer<u32>> {
        self.places.as_deref()
    }

    /// The lists that hold the rows of the operand, whether their values are read, and the operand's rows and columns.
    pub(crate) fn rows_of(&self, operand: Operand) -> (Edges, Side, Side) {
        let (direction, rows, columns) = match operand {
            Operand::Matrix => (Direction::Out, self.rows, self.columns),
            Operand::Transpose | Operand::Adjoint => (Direction::In, self.columns, self.rows),
        };
        (Edges { direction, weights: self.values, complex: self.is_complex }, rows, columns)
    }

    /// The lists that hold the rows of the operand, and whether their values are read.
    pub(crate) fn edges_of(&self, operand: Operand) -> Edges {
        self.rows_of(operand).0
    }

    /// The vertices whose lists are the rows of the operand.
    pub(crate) fn lists_of(&self, operand: Operand) -> Frontier<'static> {
        let (_, Side { first, count }, _) = self.rows_of(operand);
        match self.graph.manifest().rows {
            None => Frontier::All,
            Some(_) => Frontier::Range { first: first as u32, end: (first + count) as u32 },
        }
    }

    /// The vertices of the first row and of the first column of the operand.
    pub(crate) fn first_vertices(&self, operand: Operand) -> [usize; 2] {
        let (_, rows, columns) = self.rows_of(operand);
        [rows.first, columns.first]
    }

    /// Column of a neighbour in the lists of the rows, if it is one.
    pub(crate) fn column_of(&self, neighbour: u32) -> Option<usize> {
        (neighbour as usize).checked_sub(self.columns.first).map(|place| self.column_at(place))
    }

    /// Number of real numbers in an element of the dense matrix.
    pub(crate) fn parts(&self) -> usize {
        if self.is_complex { 2 } else { 1 }
    }

    /// Plans a product with a dense matrix of this number of columns in the memory that is free now, less `taken_bytes`
    /// for other uses such as the product.
    ///
    /// # Errors
    /// There is no room for one column.
    pub fn plan(&self, operand: Operand, columns: usize, taken_bytes: u64) -> Result<MultiplyPlan> {
        let available_bytes = self.graph.runtime().budget().available_bytes().saturating_sub(taken_bytes);
        let plan = self.plan_within(operand, columns, available_bytes);
        self.graph.make_room(PURPOSE, taken_bytes.saturating_add(plan.state_bytes))?;
        Ok(plan)
    }

    /// Plans a product in this memory. One column is planned even if there is no room for it.
    pub(crate) fn plan_within(&self, operand: Operand, columns: usize, available_bytes: u64) -> MultiplyPlan {
        let ((_, _, inner), keeps) = (self.rows_of(operand), self.values_bytes(operand));
        let bytes = |columns: usize| 8 * (columns * self.parts() * inner.count) as u64;
        let mut columns_per_pass = columns.clamp(1, MOST_COLUMNS / self.parts()).next_power_of_two();
        while columns_per_pass > 1 && bytes(columns_per_pass) > available_bytes.saturating_sub(keeps) {
            columns_per_pass /= 2;
        }
        MultiplyPlan {
            columns_per_pass,
            passes: columns.div_ceil(columns_per_pass) as u64,
            state_bytes: bytes(columns_per_pass) + keeps,
            bytes_per_pass: PAGE_BYTES * self.pages_per_pass(operand),
            factor_bytes: 0,
            product_bytes: 0,
            temporary_bytes: 0,
        }
    }

    /// The matrix with the graph in another runtime of the same memory, to plan with.
    #[must_use]
    pub fn planned_in(&self, runtime: &Runtime) -> Self {
        self.with_graph(self.graph.with_runtime(runtime.clone()))
    }

    /// Writes the product with the dense matrix `factor` to `product`. Both are in row-major order and have `columns`
    /// columns; rows are in the order of ids. If the matrix is complex, so are both: every number of theirs is two, the
    /// real and the imaginary part.
    ///
    /// The bits do not depend on threads, memory, cache or the number of columns: the terms of a row are added in the
    /// order of the image, page by page.
    ///
    /// # Errors
    /// Shapes that do not fit; a complex matrix and a semiring other than [`Semiring::PlusTimes`]; too little memory
    /// for one column; a page that cannot be read or is damaged; a request to stop. The product is then unfinished.
    pub fn multiply(
        &self,
        semiring: Semiring,
        operand: Operand,
        factor: &[f64],
        columns: usize,
        product: &mut [f64],
    ) -> Result<Stats> {
        self.check_shapes(semiring, operand, factor, columns, product.len())?;
        let graph = &self.graph;
        let mut stats = StatsBuilder::of(graph.runtime());
        stats.weights(graph.manifest().weights().filter(|_| self.values).map(|weights| weights.name.as_str()));
        let plan = self.plan(operand, columns, 0)?;
        let (places, columns) = (self.places(), columns * self.parts());
        let factor = Source::Memory(factor);
        let given = Given { factor, columns, places, product_places: places, by_values: true, only: None };
        let product = Target::Memory(shared(product));
        self.multiply_given(semiring, operand, given, product, plan.columns_per_pass, &mut stats)?;
        Ok(stats.finish(graph.runtime(), plan.bytes_per_pass / PAGE_BYTES))
    }

    /// Multiplies at most `most` columns in each pass.
    pub(crate) fn multiply_given(
        &self,
        semiring: Semiring,
        operand: Operand,
        given: Given<'_>,
        product: Target<'_, '_>,
        most: usize,
        stats: &mut StatsBuilder,
    ) -> Result<()> {
        let (mut edges, rows, inner) = self.rows_of(operand);
        let rows = given.only.map_or(rows, |only| Side { first: rows.first + only.first, count: only.count });
        let _weights = if given.by_values { Some(self.keep_values(operand)?) } else { None };
        edges.weights &= given.by_values;
        let width = most * self.parts();
        for from in (0..given.columns).step_by(width) {
            Part { matrix: self, operand, edges, rows, inner, given, product, from }
                .multiply(semiring, width, stats)?;
            if let Target::Rows(rows) = product {
                rows.end_pass()?;
            }
        }
        Ok(())
    }

    /// Refuses shapes that do not fit, and semirings that complex values have not.
    pub(crate) fn check_shapes(
        &self,
        semiring: Semiring,
        operand: Operand,
        factor: &[f64],
        columns: usize,
        product: usize,
    ) -> Result<()> {
        let (_, rows, inner) = self.rows_of(operand);
        check_semiring(semiring, self.is_complex)?;
        let numbers = columns as u128 * self.parts() as u128;
        let has = |len: usize, rows: usize| len as u128 == rows as u128 * numbers;
        if !has(factor.len(), inner.count) || !has(product, rows.count) {
            let kind = if self.is_complex { "complex " } else { "" };
            let expected = format!("a matrix of {} x {} and {columns} {kind}columns", rows.count, inner.count);
            let found = format!("{} numbers for {product}", factor.len());
            return Err(Error::Usage(format!("expected numbers for {expected}, found {found}")));
        }
        Ok(())
    }

    /// Keeps the indexes of the values in memory until the returned guard is dropped, for repeated products.
    ///
    /// # Errors
    /// Too little memory, an index that cannot be read or is damaged.
    pub fn keep_values(&self, operand: Operand) -> Result<KeptWeights> {
        let direction = self.rows_of(operand).0.direction;
        match self.is_complex {
            true => self.graph.keep_values(direction),
            false => self.graph.keep_weights(&[direction][..usize::from(self.values)]),
        }
    }

    /// The memory that [`SparseMatrix::keep_values`] takes.
    pub fn values_bytes(&self, operand: Operand) -> u64 {
        if self.values { self.graph.weight_bytes(self.rows_of(operand).0.direction) } else { 0 }
    }

    /// Largest number of pages of lists and values that a product reads.
    pub fn pages_per_pass(&self, operand: Operand) -> u64 {
        let direction = self.rows_of(operand).0.direction;
        self.graph.pages(direction) + if self.values { self.graph.weight_pages(direction) } else { 0 }
    }

    /// Whether rows and columns are in the order of the ids in the image, too.
    pub fn is_in_order(&self) -> bool {
        self.places.is_none()
    }

    /// The row of the matrix, in the order of ids, at this place of the image.
    ///
    /// # Panics
    /// If the matrix has no more rows than that.
    pub fn row_at(&self, place: usize) -> usize {
        place_of(self.places(), self.rows, place)
    }

    /// The row of an operand, in the order of ids, at this place of the image.
    ///
    /// # Panics
    /// If the operand has no more rows than that.
    pub fn row_of(&self, operand: Operand, place: usize) -> usize {
        if operand == Operand::Matrix { self.row_at(place) } else { self.column_at(place) }
    }

    /// The column of the matrix, in the order of ids, at this place of the image.
    ///
    /// # Panics
    /// If the matrix has no more columns than that.
    pub fn column_at(&self, place: usize) -> usize {
        place_of(self.places(), self.columns, place)
    }
}

/// The row or column, in the order of ids, at this place of the image.
fn place_of(places: Option<&Buffer<u32>>, side: Side, place: usize) -> usize {
    assert!(place < side.count, "expected a place below {}, found {place}", side.count);
    in_order(places, side.first + place) - side.first
}

/// The place of a vertex in the order of the ids, or in that of the image.
fn in_order(places: Option<&Buffer<u32>>, vertex: usize) -> usize {
    places.map_or(vertex, |places| places[vertex] as usize)
}

/// An error for complex numbers and a semiring that has none.
pub(crate) fn check_semiring(semiring: Semiring, is_complex: bool) -> Result<()> {
    match is_complex && semiring != Semiring::PlusTimes {
        false => Ok(()),
        true => {
            let text = format!("expected the semiring plus-times, as values are complex, found {}", semiring.name());
            Err(Error::Usage(text))
        }
    }
}

/// Source of a product's factor.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Memory(&'a [f64]),
    File(&'a FileFactor<'a>),
}

/// Destination of a product.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a, 's> {
    Memory(&'a [AtomicF64]),
    Rows(&'a Rows<'s>),
}

/// The factor of a product.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub factor: Source<'a>,
    /// Columns of numbers: two for each complex one.
    pub columns: usize,
    /// Positions of the factor's rows, if their order is not that of the image.
    pub places: Option<&'a Buffer<u32>>,
    /// Positions of the product's rows, if their order is not that of the image.
    pub product_places: Option<&'a Buffer<u32>>,
    /// Whether entries count by their values, and not each as 1.
    pub by_values: bool,
    /// The rows of the product that are wanted, in the order of the image; all if there is nothing.
    pub only: Option<Side>,
}

/// Some columns of a product.
struct Part<'a, 's> {
    matrix: &'a SparseMatrix,
    operand: Operand,
    edges: Edges,
    rows: Side,
    /// The columns of the operand, which are the rows of the factor.
    inner: Side,
    given: Given<'a>,
    product: Target<'a, 's>,
    from: usize,
}

impl Part<'_, '_> {
    fn range(&self, width: usize) -> Range<usize> {
        self.from..self.given.columns.min(self.from + width)
    }

    /// Multiplies at most this number of columns.
    fn multiply(&self, semiring: Semiring, most: usize, stats: &mut StatsBuilder) -> Result<()> {
        match self.range(most).len().next_power_of_two() {
            1 => self.multiply_wide::<1>(semiring, stats),
            2 => self.multiply_wide::<2>(semiring, stats),
            4 => self.multiply_wide::<4>(semiring, stats),
            8 => self.multiply_wide::<8>(semiring, stats),
            16 => self.multiply_wide::<16>(semiring, stats),
            _ => self.multiply_wide::<MOST_COLUMNS>(semiring, stats),
        }
    }

    fn multiply_wide<const W: usize>(&self, semiring: Semiring, stats: &mut StatsBuilder) -> Result<()> {
        let graph = &self.matrix.graph;
        // A factor that lies as it is needed is not copied.
        let as_it_is = match self.given.factor {
            Source::Memory(factor) if W == self.given.columns && self.given.places.is_none() => Some(factor),
            _ => None,
        };
        let ordered = if as_it_is.is_none() { Some(self.ordered::<W>()?) } else { None };
        let numbers = as_it_is.or(ordered.as_deref()).unwrap_or_default();
        let (rows, _) = numbers[..self.inner.count * W].as_chunks::<W>();
        graph.fill_cache()?;
        match semiring {
            Semiring::PlusTimes => self.pass::<PlusTimes, W>(rows, stats),
            Semiring::MinPlus => self.pass::<MinPlus, W>(rows, stats),
            Semiring::OrAnd => self.pass::<OrAnd, W>(rows, stats),
            Semiring::MaxTimes => self.pass::<MaxTimes, W>(rows, stats),
            Semiring::PlusFirst => self.pass::<PlusFirst, W>(rows, stats),
        }?;
        if ordered.is_some() {
            *lock(&self.matrix.idle.0) = ordered;
        }
        Ok(())
    }

    /// The columns of the factor, side by side, with rows in the order of vertices, and zeros up to the width.
    fn ordered<const W: usize>(&self) -> Result<Buffer<f64>> {
        let graph = &self.matrix.graph;
        let (first, count) = (self.inner.first, self.inner.count * W);
        let idle = lock(&self.matrix.idle.0).take().filter(|idle| idle.len() >= count);
        let mut ordered = match idle {
            Some(idle) => idle,
            None => Buffer::zeroed(graph.runtime().budget(), "columns of a dense matrix", count)?,
        };
        let (range, numbers) = (self.range(W), shared::<AtomicF64>(&mut ordered[..count]));
        let factor = match self.given.factor {
            Source::Memory(factor) => factor,
            Source::File(factor) => {
                factor.load(range, W, numbers)?;
                return Ok(ordered);
            }
        };
        let start_of = |row: usize| (in_order(self.given.places, first + row) - first) * self.given.columns;
        vertex_map(graph.runtime(), self.inner.count as u64, |range_of_rows| {
            let rows = numbers[range_of_rows.start * W..range_of_rows.end * W].chunks_exact(W);
            let last = range_of_rows.end.saturating_sub(1);
            for (i, row) in range_of_rows.zip(rows) {
                // A row may lie in two cache lines.
                let ahead = start_of(last.min(i + AHEAD_ROWS));
                prefetch(factor, ahead + range.start);
                prefetch(factor, ahead + range.end - 1);
                let start = start_of(i);
                let (to, beyond) = row.split_at(range.len());
                to.iter().zip(&factor[start + range.start..]).for_each(|(to, &number)| to.store(number));
                beyond.iter().for_each(|to| to.store(0.0));
            }
            Ok(())
        })?;
        Ok(ordered)
    }

    fn pass<S: Rules, const W: usize>(&self, rows: &[[f64; W]], stats: &mut StatsBuilder) -> Result<()> {
        let graph = &self.matrix.graph;
        let product = Product::<S, W> {
            part: self,
            range: self.range(W),
            picked: Picked { rows, base: self.inner.first as u32 },
            wrong: AtomicU64::new(0),
            rules: std::marker::PhantomData,
        };
        let lists = match self.given.only {
            None => self.matrix.lists_of(self.operand),
            Some(_) => {
                let Side { first, count } = self.rows;
                Frontier::Range { first: first as u32, end: (first + count) as u32 }
            }
        };
        let ((), sweep) = fold(graph, self.edges, lists, &product)?;
        stats.step("multiply", graph.vertices(), sweep);
        Ok(())
    }
}

/// One pass over the lists.
struct Product<'a, 's, S, const W: usize> {
    part: &'a Part<'a, 's>,
    /// The columns that it is for.
    range: Range<usize>,
    picked: Picked<'a, W>,
    /// 1 plus a vertex whose list has a neighbour that is no column; 0 if there is none.
    wrong: AtomicU64,
    rules: std::marker::PhantomData<S>,
}

/// Destination of the sums of adjacent lists.
enum Sums<'a, 's, 'r, const W: usize> {
    Memory(&'a [AtomicF64]),
    Rows(&'a Rows<'s>, &'r mut Slot<'s>),
    /// The sums of a single list, or of a part of one.
    Part(&'r mut [f64; W]),
}

impl<S: Rules, const W: usize> Product<'_, '_, S, W> {
    /// Whether all neighbours are columns of the operand; notes the vertex in `wrong` if not. Readers of lists make
    /// sure only that neighbours are vertices.
    fn fits(&self, vertex: usize, neighbours: &[u32]) -> bool {
        let (first, end) = (self.picked.base, self.picked.base as u64 + self.picked.rows.len() as u64);
        let fits = self.part.matrix.graph.manifest().rows.is_none()
            || neighbours.iter().fold(true, |fits, &other| fits & (other >= first) & (u64::from(other) < end));
        if !fits {
            self.wrong.store(vertex as u64 + 1, Ordering::Relaxed);
        }
        fits
    }

    /// Adds up adjacent lists from `first` on, and hands their sums to `sums`.
    fn add(&self, neighbours: &[u32], ends: &[u32], values: Weights<'_>, first: usize, sums: &mut Sums<'_, '_, '_, W>) {
        let parts = match (self.part.matrix.is_complex, self.part.operand) {
            (false, _) => Parts::Real,
            (true, Operand::Adjoint) => Parts::Conjugate,
            (true, _) => Parts::Complex,
        };
        let last = (ends.len() - 1).saturating_sub(1);
        let width = self.range.len();
        add_lists::<S, W>(self.picked, neighbours, ends, values, parts, |list, row| match sums {
            Sums::Memory(product) => {
                self.ask(product, first + last.min(list + AHEAD_ROWS));
                self.store(product, first + list, row);
            }
            Sums::Rows(rows, slot) => rows.put(slot, self.row(first + list), &row[..width]),
            Sums::Part(sum) => **sum = *row,
        });
    }

    /// Row of the product that belongs to a vertex.
    #[inline(always)]
    fn row(&self, vertex: usize) -> usize {
        in_order(self.part.given.product_places, vertex) - self.part.rows.first
    }

    /// Asks for the place of a row of the product that is written some rows later, unless rows are written in order.
    #[inline(always)]
    fn ask(&self, product: &[AtomicF64], vertex: usize) {
        if self.part.given.product_places.is_none() {
            return;
        }
        let start = self.row(vertex) * self.part.given.columns;
        prefetch(product, start + self.range.start);
        prefetch(product, start + self.range.end - 1);
    }

    #[inline(always)]
    fn store(&self, product: &[AtomicF64], vertex: usize, sums: &[f64; W]) {
        let start = self.row(vertex) * self.part.given.columns;
        let row = &product[start + self.range.start..start + self.range.end];
        row.iter().zip(sums).for_each(|(to, &sum)| to.store(sum));
    }
}

impl<S: Rules, const W: usize> ListFold for Product<'_, '_, S, W> {
    type Value = [f64; W];
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> [f64; W] {
        let mut row = [S::ZERO; W];
        let ends = [0, list.neighbours.len() as u32];
        if !self.fits(list.vertex as usize, list.neighbours) {
            return row;
        }
        self.add(list.neighbours, &ends, list.weights, 0, &mut Sums::Part(&mut row));
        row
    }

    fn merge(&self, before: [f64; W], after: [f64; W]) -> [f64; W] {
        std::array::from_fn(|column| S::add(before[column], after[column]))
    }

    fn finish(&self, vertex: u32, value: Option<[f64; W]>, (): &mut ()) {
        let (vertex, sums) = (vertex as usize, value.unwrap_or([S::ZERO; W]));
        match self.part.product {
            Target::Memory(product) => self.store(product, vertex, &sums),
            Target::Rows(rows) => {
                let row = self.row(vertex);
                rows.put(&mut rows.slot(row), row, &sums[..self.range.len()]);
            }
        }
    }

    fn check(&self) -> Result<()> {
        let graph = &self.part.matrix.graph;
        if let Target::Rows(rows) = self.part.product {
            rows.check()?;
        }
        match self.wrong.load(Ordering::Relaxed) {
            0 => Ok(()),
            vertex => {
                let found = format!("an edge within one side in a list at vertex {} or behind it", vertex - 1);
                Err(Error::damaged(graph.path(), 0, "edges from rows to columns", found))
            }
        }
    }

    fn whole(&self, lists: &Lists, weights: Weights<'_>, range: Range<usize>, (): &mut ()) {
        let ends = &lists.ends[range.start..=range.end];
        let edges = ends[0] as usize..ends[range.len()] as usize;
        let first = lists.first_vertex as usize + range.start;
        if !self.fits(first, &lists.neighbours[edges.clone()]) {
            return;
        }
        let (neighbours, weights) = (&lists.neighbours[edges.clone()], weights.part(edges));
        let mut slot;
        let mut sums = match self.part.product {
            Target::Memory(product) => Sums::Memory(product),
            Target::Rows(rows) => {
                slot = rows.slot(self.row(first));
                Sums::Rows(rows, &mut slot)
            }
        };
        self.add(neighbours, ends, weights, first, &mut sums);
    }
}
