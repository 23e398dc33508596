//! Systems of linear equations: the common part of the Krylov methods.
//!
//! *Idea.* A method improves `x` for a residual `r = b - A x` that a product just gave, until its own recurrence says
//! that the residual is small enough, or its memory is full. Then a product gives the true residual, which decides
//! whether that is so or the method begins again from there: rounding may keep a recurrence falling when the residual
//! does not. What is returned is the true residual, so nothing is said to be solved that is not.
//!
//! *Numbers.* `b` and `x` are divided by a power of two, so that squares of their numbers neither overflow nor vanish.
//!
//! Saad, *Iterative Methods for Sparse Linear Systems*, second edition, 2003.

use crate::eigsh::check_symmetric;
use crate::inverse::{Inverse, Preconditioner};
use crate::lanczos::{magnitude, power_of_two};
use crate::operator::{Costs, Counted, Operator, space, square_rows};
use crate::tall::{Space, dot};
use outcore_image::{Error, Result, Stats};
use outcore_io::buffer::shared;
use outcore_io::{Array, AtomicF64};
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;

const PURPOSE: &str = "vectors of a linear system";
/// Fall of the residual by the recurrence, beyond which it says nothing of the true residual.
const RECURRENCE: f64 = 1e-14;
/// The largest share of the residual that a run may leave; beyond it rounding allows no further progress.
const ROUNDING_LEFT: f64 = 0.5;
/// The largest such share of a run that ended because its vectors were full.
const FULL_LEFT: f64 = 1.0 - 1e-10;
/// Growth of a residual that a method minimises, beyond which squares of products must have underflowed.
const GROWN: f64 = 2.0;
/// Least divisor of a system, relative to the greatest magnitude in `x0`: squares of its products stay finite.
const LEAST_SCALE: f64 = 1e-70;
/// The least number that `x` may have as its greatest: smaller ones have fewer digits.
const LEAST_SOLUTION: f64 = f64::MIN_POSITIVE;

/// Options of a linear solver.
#[derive(Clone, Copy, Debug)]
pub struct SolveOptions<'a> {
    /// The greatest residual, in units of the length of `b`.
    pub rtol: f64,
    /// The greatest residual; the greater of both counts.
    pub atol: f64,
    /// The most iterations, of [`gmres`](crate::gmres) the most cycles; by default `10 n`, of
    /// [`minres`](crate::minres) `5 n`.
    pub maxiter: Option<u64>,
    /// Initial solution; 0 by default. Rows are in the order of ids.
    pub x0: Option<&'a [f64]>,
    /// Vectors that [`gmres`](crate::gmres) keeps before it begins a new cycle; other methods keep none.
    pub restart: usize,
    /// Preconditioner. For [`cg`](crate::cg) and [`minres`](crate::minres) it is symmetric and positive definite.
    pub preconditioner: Preconditioner<'a>,
}

impl Default for SolveOptions<'_> {
    fn default() -> Self {
        let preconditioner = Preconditioner::default();
        SolveOptions { rtol: 1e-5, atol: 0.0, maxiter: None, x0: None, restart: 20, preconditioner }
    }
}

/// A method of linear systems.
pub type Solve = fn(&SparseMatrix, &[f64], &SolveOptions<'_>) -> Result<Solution>;

/// Why a method stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// The residual is small enough.
    Residual,
    /// All iterations that were allowed were made.
    Iterations,
    /// More iterations make the residual no smaller: by rounding, because no vector solves a singular system, or
    /// because [`gmres`](crate::gmres) keeps too few vectors.
    Stagnation,
}

impl StoppedBy {
    /// The name: "residual", "iterations" or "stagnation".
    pub fn name(self) -> &'static str {
        match self {
            StoppedBy::Residual => "residual",
            StoppedBy::Iterations => "iterations",
            StoppedBy::Stagnation => "stagnation",
        }
    }
}

/// The solution of a system of linear equations, or how near a method came.
#[derive(Debug)]
pub struct Solution {
    /// The vector, in the order of ids.
    pub x: Array<f64>,
    /// The length of `b - A x`, from a product with the vector that is returned.
    pub residual: f64,
    /// The greatest residual that counts as converged.
    pub residual_bound: f64,
    /// Whether the residual is as small as was asked for.
    pub converged: bool,
    /// Why the method stopped.
    pub stopped_by: StoppedBy,
    /// Steps of the method.
    pub iterations: u64,
    /// Number of vectors multiplied.
    pub products: u64,
    /// The residual at the beginning and after every iteration, as the method's recurrence has it; where a product gave
    /// it, as the last one, that is in its place.
    pub residuals: Vec<f64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// A method.
pub(crate) trait Method<'a>: Sized {
    /// Whether the matrix is to be symmetric.
    const NEEDS_SYMMETRY: bool;
    /// Requirement of Jacobi's preconditioner on entries of the diagonal.
    const DIAGONAL: &'static str;
    /// Whether no step makes the residual greater, but for rounding.
    const IS_MINIMAL: bool;
    /// Default limit of steps, per row.
    const STEPS_PER_ROW: u64;

    /// The memory that it needs.
    fn bytes(space: &Space<'_>, options: &SolveOptions<'_>) -> u64;

    /// The inverse of an entry of the diagonal; not finite if it has none that fits the method.
    fn inverse(entry: f64) -> f64;

    /// The memory of the method.
    fn new(system: &System<'a, '_>, options: &SolveOptions<'_>) -> Result<Self>;

    /// Improves the vector until the method has to know the true residual, or no steps are left.
    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause>;
}

/// Why a method has to know the true residual.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its recurrence says that it is small enough, or that it will not become smaller.
    End,
    /// There is no room for more vectors, or no step is left.
    Full,
}

/// A system of equations, in the order of the image.
pub(crate) struct System<'a, 'c> {
    pub operator: Counted<'a, 'c>,
    pub space: Space<'a>,
    b: &'c [f64],
    /// Divisor of `b`.
    scale: f64,
    /// The greatest residual, divided by the scale.
    tolerance: f64,
}

/// Vectors and scalars of an iteration, divided by the system's scale.
pub(crate) struct State<'c> {
    pub x: Array<f64>,
    /// `b - A x`, as far as the method needs it.
    pub residual: Array<f64>,
    pub inverse: Inverse<'c>,
    /// Remaining number of steps.
    pub steps_left: u64,
    pub iterations: u64,
    /// The lengths of the residuals.
    pub norms: Vec<f64>,
}

impl State<'_> {
    /// The length of the last residual.
    pub fn norm(&self) -> f64 {
        self.norms.last().copied().unwrap_or(0.0)
    }

    /// Takes note of an iteration.
    pub fn iterated(&mut self, norm: f64) {
        self.iterations += 1;
        self.norms.push(norm);
    }
}

impl System<'_, '_> {
    /// Whether a method that began at the first of these residuals knows no more than at the second.
    pub fn is_reached(&self, start: f64, norm: f64) -> bool {
        norm <= self.tolerance.max(RECURRENCE * start)
    }

    /// Says that a number is finite.
    pub fn finite(&self, number: f64) -> Result<f64> {
        if number.is_finite() { Ok(number) } else { Err(self.operator.too_large()) }
    }

    /// The error for products whose squares vanish.
    pub fn too_small(&self) -> Error {
        let image = self.operator.matrix.graph().path().display();
        let expected = "expected products whose squares are no numbers next to zero";
        let advice = "multiply the matrix by a number first, or begin nearer to the solution";
        Error::Unsuitable(format!("{expected}, found smaller ones with {image}: {advice}"))
    }

    /// Writes `b - A x`, or `b` if `x` is known to be 0, and returns its length.
    fn residual(&self, state: &mut State<'_>, is_zero: bool) -> Result<f64> {
        match is_zero {
            true => state.residual.fill(0.0),
            false => self.operator.apply(&state.x, 1, &mut state.residual)?,
        }
        let (matrix, b, scale) = (self.operator.matrix, self.b, self.scale);
        let [square] = self.space.update([&mut state.residual], |rows, [residual], [square]| {
            for (row, number) in rows.zip(residual.iter_mut()) {
                *number = b[matrix.row_at(row)] / scale - *number;
            }
            *square += dot(residual, residual);
        })?;
        Ok(self.finite(square)?.sqrt())
    }

    /// The vector in the order of ids, as it is without the scale.
    fn ordered(&self, x: &[f64]) -> Result<Array<f64>> {
        let (matrix, scale) = (self.operator.matrix, self.scale);
        let mut ordered = Array::zeroed(self.space.runtime.budget(), "the solution of a linear system", x.len())?;
        let numbers = shared::<AtomicF64>(&mut ordered);
        let greatest = self.space.stripes(|_, rows| {
            let mut greatest = 0.0f64;
            for row in rows {
                greatest = greatest.max(x[row].abs());
                numbers[matrix.column_at(row)].store(x[row] * scale);
            }
            Ok(greatest)
        })?;
        let greatest = greatest.into_iter().fold(0.0, f64::max);
        if greatest == 0.0 || (LEAST_SOLUTION..=f64::MAX).contains(&(greatest * scale)) {
            return Ok(ordered);
        }
        let (image, most) = (matrix.graph().path().display(), f64::MAX);
        Err(Error::Unsuitable(format!(
            "expected a solution whose greatest number is from {LEAST_SOLUTION:.1e} to {most:.1e}, found one outside \
             with {image}: scale b first"
        )))
    }
}

/// Solves a system by a method.
pub(crate) fn solve<'a, M: Method<'a>>(
    matrix: &'a SparseMatrix,
    b: &[f64],
    options: &SolveOptions<'_>,
) -> Result<Solution> {
    check(matrix, b, options)?;
    let costs = RefCell::new(Costs::new(matrix, "solving"));
    let (x, iterations, norms, scale, tolerance, stopped_by) = {
        let (mut system, mut state) = begin::<M>(matrix, b, options, &costs)?;
        let length = system.residual(&mut state, true)?;
        if length == 0.0 && b.iter().any(|&number| number != 0.0) {
            let text = "expected numbers in x0 that are less than 10^200 times those in b, found larger ones";
            return Err(Error::Usage(text.to_owned()));
        }
        system.tolerance = (options.rtol * length).max(options.atol / system.scale);
        let stopped_by = match length > 0.0 {
            true => {
                let mut method = M::new(&system, options)?;
                set_start(&system, &mut state, options.x0, length)?;
                iterate(&system, &mut method, &mut state)?
            }
            false => {
                state.norms.push(0.0);
                StoppedBy::Residual
            }
        };
        let State { x, residual, inverse, iterations, norms, .. } = state;
        drop((residual, inverse));
        (system.ordered(&x)?, iterations, norms, system.scale, system.tolerance, stopped_by)
    };
    let costs = costs.into_inner();
    Ok(Solution {
        x,
        residual: scale * norms.last().copied().unwrap_or(0.0),
        residual_bound: scale * tolerance,
        converged: stopped_by == StoppedBy::Residual,
        stopped_by,
        iterations,
        products: costs.products,
        residuals: norms.iter().map(|norm| scale * norm).collect(),
        stats: costs.stats.finish(matrix.graph().runtime(), matrix.pages_per_pass(Operand::Matrix)),
    })
}

/// Refuses what cannot be.
fn check(matrix: &SparseMatrix, b: &[f64], options: &SolveOptions<'_>) -> Result<()> {
    let rows = square_rows(matrix)?;
    let usage = |text: String| Err(Error::Usage(text));
    for (name, numbers) in [("b", Some(b)), ("x0", options.x0)] {
        let Some(numbers) = numbers else { continue };
        if numbers.len() != rows {
            let found = numbers.len();
            return usage(format!("expected {rows} numbers in {name} for a matrix of {rows} x {rows}, found {found}"));
        }
        if let Some(row) = numbers.iter().position(|number| !number.is_finite()) {
            return usage(format!("expected finite numbers in {name}, found {} in row {row}", numbers[row]));
        }
    }
    for (name, number) in [("rtol", options.rtol), ("atol", options.atol)] {
        if !(number >= 0.0 && number.is_finite()) {
            return usage(format!("expected {name} of 0 or more, found {number}"));
        }
    }
    match options.restart {
        0 => usage("expected restart of 1 or more, found 0".to_owned()),
        _ => Ok(()),
    }
}

/// The system, and a state in which x is 0.
fn begin<'a, 'c, M: Method<'a>>(
    matrix: &'a SparseMatrix,
    b: &'c [f64],
    options: &SolveOptions<'c>,
    costs: &'c RefCell<Costs>,
) -> Result<(System<'a, 'c>, State<'c>)> {
    let operator = Counted::new(matrix, Operand::Matrix, costs)?;
    let space = space(&operator, 1);
    let vectors = 2 + options.preconditioner.vectors();
    matrix.graph().make_room(PURPOSE, vectors * space.block_bytes() + M::bytes(&space, options))?;
    if M::NEEDS_SYMMETRY {
        check_symmetric(&operator)?;
    }
    let scale = power_of_two(magnitude(b).max(LEAST_SCALE * options.x0.map_or(0.0, magnitude)));
    let system = System { operator, space, b, scale, tolerance: 0.0 };
    let mut inverse = match options.preconditioner {
        Preconditioner::None => Inverse::None,
        Preconditioner::Jacobi => Inverse::Diagonal(inverse_diagonal::<M>(&system.operator, &space)?),
        Preconditioner::Function(function) => Inverse::of_function(&system, function)?,
    };
    let vector = || Array::zeroed(space.runtime.budget(), PURPOSE, space.numbers());
    let (mut x, mut residual) = (vector()?, vector()?);
    if M::NEEDS_SYMMETRY {
        inverse.check_symmetric(&system, &mut x, &mut residual)?;
        x.fill(0.0);
    }
    let steps_left = options.maxiter.unwrap_or(M::STEPS_PER_ROW * space.rows as u64);
    Ok((system, State { x, residual, inverse, steps_left, iterations: 0, norms: Vec::new() }))
}

/// The diagonal of Jacobi's preconditioner.
fn inverse_diagonal<'a, M: Method<'a>>(operator: &Counted<'a, '_>, space: &Space<'a>) -> Result<Array<f64>> {
    let matrix = operator.matrix;
    let mut diagonal = matrix.diagonal(&mut operator.costs.borrow_mut().stats)?;
    if let Some(place) = diagonal.iter().position(|&entry| !M::inverse(entry).is_finite()) {
        let (expected, found, row) = (M::DIAGONAL, diagonal[place], matrix.row_at(place));
        let image = matrix.graph().path().display();
        return Err(Error::Unsuitable(format!(
            "expected {expected} on the diagonal of {image} for the preconditioner, found {found} in row {row}"
        )));
    }
    space.update([&mut diagonal], |_, [entries], []| {
        entries.iter_mut().for_each(|entry| *entry = M::inverse(*entry));
    })?;
    Ok(diagonal)
}

/// Writes where to begin, and the residual there; `length` is that at 0.
fn set_start(system: &System<'_, '_>, state: &mut State<'_>, x0: Option<&[f64]>, length: f64) -> Result<()> {
    let Some(x0) = x0 else {
        state.norms.push(length);
        return Ok(());
    };
    let (matrix, scale) = (system.operator.matrix, system.scale);
    system.space.update([&mut state.x], |rows, [x], []| {
        rows.zip(x).for_each(|(row, number)| *number = x0[matrix.column_at(row)] / scale);
    })?;
    let norm = system.residual(state, false)?;
    state.norms.push(norm);
    Ok(())
}

/// Runs a method until the true residual is small enough, or will not become so.
fn iterate<'a, M: Method<'a>>(system: &System<'a, '_>, method: &mut M, state: &mut State<'_>) -> Result<StoppedBy> {
    loop {
        let before = state.norm();
        if before <= system.tolerance {
            return Ok(StoppedBy::Residual);
        }
        if state.steps_left == 0 {
            return Ok(StoppedBy::Iterations);
        }
        let pause = method.run(system, state)?;
        let norm = system.residual(state, false)?;
        if let Some(last) = state.norms.last_mut() {
            *last = norm;
        }
        let left = match pause {
            Pause::End => ROUNDING_LEFT,
            Pause::Full => FULL_LEFT,
        };
        if M::IS_MINIMAL && norm > GROWN * before {
            return Err(system.too_small());
        }
        if norm > system.tolerance && norm >= left * before && state.steps_left > 0 {
            return Ok(StoppedBy::Stagnation);
        }
    }
}
