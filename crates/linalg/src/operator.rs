//! Linear operators of solvers: a matrix, its transpose, or their product, with vectors in the order of the image.

use crate::tall::{Space, ZERO, magnitude};
use faer::c64;
use outcore_graph::{Direction, KeptWeights};
use outcore_image::{Error, Result, StatsBuilder};
use outcore_io::{Buffer, Task, Unit};
use outcore_matrix::{EntrySums, Operand, SparseMatrix};
use std::cell::RefCell;

/// The least magnitude of the greatest eigenvalue: squares of much smaller numbers underflow.
pub(crate) const LEAST_SCALE: f64 = 1e-140;
/// The greatest entry of a small matrix whose values are numbers.
const MOST_SCALE: f64 = 1e300;
/// Relative residual that rounding leaves where rows are short.
const ROUNDING_RESIDUAL: f64 = 1e-13;
/// Sums that a row of a product is added up in, side by side.
const LANES: f64 = 8.0;
/// Largest difference between a row and a column of a symmetric matrix, in units of the greatest sum of a row's
/// magnitudes: rows that are small beside others may be nothing but their rounding.
const LEAST_DIFFERENCE: f64 = 1e-15;

/// A linear operator from vectors to vectors.
pub(crate) trait Operator<'a> {
    /// The operator that multiplies the matrix: it, or the first one that it is made of.
    fn counted(&self) -> &Counted<'a, '_>;

    /// Number of rows and columns.
    fn shape(&self) -> (usize, usize) {
        self.counted().shape()
    }

    /// Writes the product with some vectors, which lie side by side; a complex one is two columns, its parts.
    fn apply(&self, factor: &[f64], columns: usize, product: &mut [f64]) -> Result<()>;

    /// Number of pages that a product reads.
    fn pages(&self) -> u64 {
        self.counted().pages()
    }

    /// The matrix that it is made of.
    fn matrix(&self) -> &'a SparseMatrix {
        self.counted().matrix
    }

    fn costs<'s>(&'s self) -> &'s RefCell<Costs>
    where
        'a: 's,
    {
        self.counted().costs
    }

    /// The error for products that are not finite: images hold finite values only.
    fn too_large(&self) -> Error {
        let image = self.matrix().graph().path().display();
        let expected = "expected products whose squares are finite numbers";
        Error::Unsuitable(format!("{expected}, found larger ones with {image}: divide the matrix by a number first"))
    }

    /// The error for a small matrix whose eigenvalues or singular values were not found: it is too large for numbers,
    /// or the iteration for them does not converge, which no matrix is known to cause.
    fn breakdown(&self, greatest: f64) -> Error {
        if greatest.is_nan() || greatest >= MOST_SCALE {
            return self.too_large();
        }
        let image = self.matrix().graph().path().display();
        let expected = format!("expected values of a projection of the matrix in {image}");
        Error::Unsuitable(format!("{expected}, found an iteration for them that does not converge: give another seed"))
    }
}

/// A sparse matrix as an operator; counts what its products cost.
pub(crate) struct Counted<'a, 'c> {
    pub matrix: &'a SparseMatrix,
    pub operand: Operand,
    pub costs: &'c RefCell<Costs>,
    _weights: KeptWeights,
}

pub(crate) struct Costs {
    pub stats: StatsBuilder,
    /// Vectors that were multiplied.
    pub products: u64,
    /// Progress task that products advance.
    task: Task,
}

impl Costs {
    /// Costs of no products yet; `solver` names the task for the progress display.
    pub fn new(matrix: &SparseMatrix, solver: &str) -> Self {
        Self::by_values(matrix, solver, matrix.has_values())
    }

    /// Costs of products that read the values of entries, or do not.
    pub fn by_values(matrix: &SparseMatrix, solver: &str, by_values: bool) -> Self {
        let task = matrix.graph().runtime().task(solver, Unit::Products, None);
        let mut stats = StatsBuilder::of(matrix.graph().runtime());
        let weights = matrix.graph().manifest().weights().filter(|_| by_values);
        stats.weights(weights.map(|weights| weights.name.as_str()));
        Costs { stats, products: 0, task }
    }

    /// Counts vectors that were multiplied.
    pub fn count(&mut self, products: u64) {
        self.products += products;
        self.task.advance(products);
    }
}

impl<'a, 'c> Counted<'a, 'c> {
    pub fn new(matrix: &'a SparseMatrix, operand: Operand, costs: &'c RefCell<Costs>) -> Result<Self> {
        require_real(matrix)?;
        Self::of_any(matrix, operand, costs)
    }

    /// An operator of a real or complex matrix.
    pub fn of_any(matrix: &'a SparseMatrix, operand: Operand, costs: &'c RefCell<Costs>) -> Result<Self> {
        Ok(Counted { matrix, operand, costs, _weights: matrix.keep_values(operand)? })
    }
}

impl<'a> Operator<'a> for Counted<'a, '_> {
    fn counted(&self) -> &Counted<'a, '_> {
        self
    }

    fn shape(&self) -> (usize, usize) {
        self.matrix.shape_of(self.operand)
    }

    fn pages(&self) -> u64 {
        self.matrix.pages_per_pass(self.operand)
    }

    fn apply(&self, factor: &[f64], columns: usize, product: &mut [f64]) -> Result<()> {
        let costs = &mut *self.costs.borrow_mut();
        let columns = if self.matrix.is_complex() { columns / 2 } else { columns };
        self.matrix.multiply_as_stored(self.operand, factor, columns, product, &mut costs.stats)?;
        costs.count(columns as u64);
        Ok(())
    }
}

/// A matrix times its transpose, or the other way round: symmetric, and without negative eigenvalues.
pub(crate) struct Squared<'a, 'c> {
    pub first: Counted<'a, 'c>,
    pub second: Counted<'a, 'c>,
    /// The product with the first.
    pub between: RefCell<Buffer<f64>>,
}

impl<'a, 'c> Squared<'a, 'c> {
    /// `A^T A` for the operand `A`, for this number of vectors at a time.
    pub fn new(matrix: &'a SparseMatrix, operand: Operand, width: usize, costs: &'c RefCell<Costs>) -> Result<Self> {
        let first = Counted::new(matrix, operand, costs)?;
        let second = Counted::new(matrix, operand.transposed(), costs)?;
        let budget = matrix.graph().runtime().budget();
        let between = Buffer::zeroed(budget, "vectors between two products", first.shape().0 * width)?;
        Ok(Squared { first, second, between: RefCell::new(between) })
    }
}

impl<'a> Operator<'a> for Squared<'a, '_> {
    fn counted(&self) -> &Counted<'a, '_> {
        &self.first
    }

    fn shape(&self) -> (usize, usize) {
        let size = self.first.shape().1;
        (size, size)
    }

    fn pages(&self) -> u64 {
        self.first.pages() + self.second.pages()
    }

    fn apply(&self, factor: &[f64], columns: usize, product: &mut [f64]) -> Result<()> {
        let between = &mut self.between.borrow_mut()[..self.first.shape().0 * columns];
        self.first.apply(factor, columns, between)?;
        self.second.apply(between, columns, product)
    }
}

/// The pages of a pass over the columns.
pub(crate) fn column_pages(matrix: &SparseMatrix, by_values: bool) -> u64 {
    let (graph, direction) = (matrix.graph(), Direction::In);
    graph.pages(direction) + if by_values { graph.weight_pages(direction) } else { 0 }
}

/// Length of the rounding of a product with a vector of length 1, in units of the greatest eigenvalue or singular
/// value. Each addition to a sum rounds by half a unit in its last digit at most, and no row is longer than that value:
/// so the longest list decides.
pub(crate) fn rounding(matrix: &SparseMatrix) -> f64 {
    ROUNDING_RESIDUAL.max(f64::EPSILON / 2.0 * (longest_list(matrix) as f64 / LANES))
}

/// Length of the rounding of the sums of a product, in units of that of the sums of magnitudes.
pub(crate) fn rounding_of_sums(matrix: &SparseMatrix) -> f64 {
    f64::EPSILON * (1.0 + longest_list(matrix) as f64 / LANES)
}

fn longest_list(matrix: &SparseMatrix) -> u64 {
    let manifest = matrix.graph().manifest();
    let lists = manifest.in_lists.iter().chain([&manifest.out_lists]);
    lists.map(|lists| lists.max_degree).max().unwrap_or(0)
}

pub(crate) fn require_real(matrix: &SparseMatrix) -> Result<()> {
    if !matrix.is_complex() {
        return Ok(());
    }
    let image = matrix.graph().path().display();
    Err(Error::Unsuitable(format!("expected real values in {image}, found complex ones")))
}

/// Number of rows, which is that of columns, of a square matrix.
///
/// # Errors
/// It is not square, or stored as one whose rows are other vertices than its columns.
pub(crate) fn square_rows(matrix: &SparseMatrix) -> Result<usize> {
    let (rows, columns) = matrix.shape();
    if matrix.is_square() {
        return Ok(rows as usize);
    }
    let stored = if rows == columns { " that is stored as a rectangular one" } else { "" };
    Err(Error::Usage(format!("expected a square matrix, found one of {rows} x {columns}{stored}")))
}

/// The space of an operator's factors, in blocks of this number of columns; a complex column counts as two.
pub(crate) fn space(operator: &dyn Operator<'_>, width: usize) -> Space {
    let matrix = operator.matrix();
    Space {
        runtime: matrix.graph().runtime().clone(),
        rows: operator.shape().1,
        width,
        is_complex: matrix.is_complex(),
    }
}

/// Refuses a matrix if a row of its product with a random vector differs by more than rounding from that of its
/// transpose, or adjoint. A real matrix that is stored as symmetric is not checked.
pub(crate) fn check_symmetric(operator: &Counted<'_, '_>) -> Result<()> {
    let matrix = operator.matrix;
    let (width, other) = match matrix.is_complex() {
        false if matrix.is_symmetric() => return Ok(()),
        false => (1, Operand::Transpose),
        true => (2, Operand::Adjoint),
    };
    let space = space(operator, width);
    let vector = || space.zeros("random vectors");
    let (mut factor, mut one, mut two) = (vector()?, vector()?, vector()?);
    space.randomize(&mut factor, |_| true, 1)?;
    operator.apply(&factor, width, &mut one)?;
    let other = Counted::of_any(matrix, other, operator.costs)?;
    other.apply(&factor, width, &mut two)?;
    if !space.dots(&one, &one)?[0][0].is_finite() {
        return Err(operator.too_large());
    }
    let mut minus = ZERO;
    (0..width).for_each(|column| minus[column][column] = -1.0);
    space.add_product(&one, &minus, &mut two)?;
    // The rounding of each row, in memory that is in use no more.
    let length =
        |numbers: &[f64], row: usize| numbers[row * width..][..width].iter().fold(0.0, |a: f64, b| a.hypot(*b));
    (0..space.rows).for_each(|row| factor[row] = length(&factor, row));
    let sums = &mut one[..space.rows];
    {
        let stats = &mut operator.costs.borrow_mut().stats;
        matrix.multiply_magnitudes_as_stored(Operand::Matrix, &factor[..space.rows], sums, stats)?;
    }
    let (rounding, greatest) = (2.0 * rounding(matrix), magnitude(sums));
    let excess = |row: usize| length(&two, row) - (rounding * sums[row] + LEAST_DIFFERENCE * greatest);
    let worst = (0..space.rows).max_by(|&a, &b| excess(a).total_cmp(&excess(b)));
    let Some(row) = worst.filter(|&row| excess(row) > 0.0) else { return Ok(()) };
    Err(unsymmetric([operator, &other], &space, [&mut factor, &mut one, &mut two], row)?)
}

/// The error for a matrix one of whose rows differs from the column of the same number: the place where they differ
/// most, by products with a unit vector.
fn unsymmetric(
    operators: [&Counted<'_, '_>; 2],
    space: &Space,
    [unit, of_column, of_row]: [&mut [f64]; 3],
    row: usize,
) -> Result<Error> {
    let (matrix, width) = (operators[0].matrix, space.width);
    unit.fill(0.0);
    unit[row * width] = 1.0;
    operators[0].apply(unit, width, of_column)?;
    operators[1].apply(unit, width, of_row)?;
    let entry = |numbers: &[f64], place: usize| match numbers[place * width..][..width] {
        [re, im] => c64::new(re, im),
        ref real => c64::new(real[0], 0.0),
    };
    let distance = |place: usize| (entry(of_column, place) - entry(of_row, place)).norm();
    let place = (0..space.rows).max_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(row);
    let text = |number: c64| match width {
        1 => format!("{:?}", number.re),
        _ => format!("{:?}{:+?}i", number.re, number.im),
    };
    let (image, by) = (matrix.graph().path().display(), distance(place));
    let name = if matrix.is_complex() { "Hermitian" } else { "symmetric" };
    let (one, other) = (text(entry(of_row, place).conj()), text(entry(of_column, place)));
    let (row, column) = (matrix.row_at(row), matrix.column_at(place));
    Ok(Error::Unsuitable(format!(
        "expected a {name} matrix in {image}, found {one} in row {row} and column {column}, and {other} in row \
         {column} and column {row}, which differ by {by:.3e}"
    )))
}

/// Refuses a matrix whose entries are so small that squares of them vanish, unless all are 0.
pub(crate) fn check_entries(matrix: &SparseMatrix, sums: &EntrySums) -> Result<()> {
    match sums.greatest > 0.0 && sums.greatest < LEAST_SCALE {
        true => Err(too_small(matrix)),
        false => Ok(()),
    }
}

pub(crate) fn too_small(matrix: &SparseMatrix) -> Error {
    let (image, least) = (matrix.graph().path().display(), LEAST_SCALE);
    let expected = format!("expected products of at least {least:e} in {image}, found smaller ones");
    Error::Unsuitable(format!("{expected}: multiply the matrix by a number first"))
}
