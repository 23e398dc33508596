//! A system of equations, the state of an iteration, and the trait of the methods that advance it.

use crate::operator::{Counted, Operator};
use crate::systems::inverse::{Inverse, Preconditioner};
use crate::tall::{Space, dot};
use outcore_image::{Error, Result};
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer};

/// Fall of the residual by the recurrence, beyond which it says nothing of the true residual.
const RECURRENCE: f64 = 1e-14;
/// The least number that `x` may have as its greatest: smaller ones have fewer digits.
const LEAST_SOLUTION: f64 = f64::MIN_POSITIVE;

/// Options of a linear solver.
#[derive(Clone, Copy, Debug)]
pub struct SolveOptions<'a> {
    /// The greatest residual, in units of the length of `b`.
    pub rtol: f64,
    /// The greatest residual; the greater of both counts.
    pub atol: f64,
    /// The most iterations, of [`gmres`](crate::gmres) the most cycles; by default `10 n`, of [`minres`](crate::minres)
    /// `5 n`.
    pub max_iterations: Option<u64>,
    /// Initial solution; 0 by default. Rows are in the order of ids.
    pub x0: Option<&'a [f64]>,
    /// Vectors that [`gmres`](crate::gmres) keeps before it begins a new cycle; other methods keep none.
    pub restart: usize,
    /// Preconditioner. For [`cg`](crate::cg) and [`minres`](crate::minres) it is symmetric and positive definite.
    pub preconditioner: Preconditioner<'a>,
}

impl SolveOptions<'_> {
    pub(crate) fn check_tolerances(&self) -> Result<()> {
        let is_wrong = |&(_, number): &(&str, f64)| !(number >= 0.0 && number.is_finite());
        match [("rtol", self.rtol), ("atol", self.atol)].into_iter().find(is_wrong) {
            Some((name, number)) => Err(Error::Usage(format!("expected {name} of 0 or more, found {number}"))),
            None => Ok(()),
        }
    }
}

impl Default for SolveOptions<'_> {
    fn default() -> Self {
        let preconditioner = Preconditioner::default();
        SolveOptions { rtol: 1e-5, atol: 0.0, max_iterations: None, x0: None, restart: 20, preconditioner }
    }
}

pub(crate) trait Method<'a>: Sized {
    const NEEDS_SYMMETRY: bool = false;
    /// Requirement of Jacobi's preconditioner on entries of the diagonal.
    const DIAGONAL: &'static str = "numbers other than 0";
    /// Whether no step makes the residual greater, but for rounding.
    const IS_MINIMAL: bool = false;
    /// Default limit of steps, per row.
    const STEPS_PER_ROW: u64 = 10;
    /// Products with the matrix in an iteration.
    const PRODUCTS_PER_STEP: u64 = 1;
    /// Passes before the first step, for the plan.
    const FIRST_PASSES: &'static str = "";
    /// Runs in a row that may leave the residual as it is, before the method counts as stagnated.
    const IDLE_RUNS: u32 = 0;
    /// Whether residuals may rise without bound. Then a solution that has not converged is the best one on the way, and
    /// never worse than where the method began.
    const MAY_DIVERGE: bool = false;

    /// The memory that it needs.
    fn bytes(space: &Space, options: &SolveOptions<'_>) -> u64;

    /// The inverse of an entry of the diagonal; not finite if it has none that fits the method.
    fn inverse(entry: f64) -> f64 {
        1.0 / entry
    }

    /// The memory of the method.
    fn new(system: &System<'a, '_>, options: &SolveOptions<'_>) -> Result<Self>;

    /// Improves the vector until the method has to know the true residual, or no steps are left.
    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause>;

    /// Writes the best vector so far to the state, if that has another one; returns whether it did.
    fn rewind(&mut self, _system: &System<'a, '_>, _state: &mut State<'_>) -> Result<bool> {
        Ok(false)
    }
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
    pub space: Space,
    pub b: &'c [f64],
    pub scale: f64,
    /// The greatest residual, divided by the scale.
    pub tolerance: f64,
}

/// Vectors and scalars of an iteration, divided by the system's scale.
pub(crate) struct State<'c> {
    pub x: Buffer<f64>,
    /// `b - A x`, as far as the method needs it.
    pub residual: Buffer<f64>,
    pub inverse: Inverse<'c>,
    pub steps_left: u64,
    pub iterations: u64,
    /// The residual that recurrences end at: the tolerance, or less where the true residual was above it.
    pub target: f64,
    /// The lengths of the residuals.
    pub norms: Vec<f64>,
    /// Whether `x` is useless, for rounding outweighs what its size solves.
    pub is_useless: bool,
}

impl State<'_> {
    pub fn norm(&self) -> f64 {
        self.norms.last().copied().unwrap_or(0.0)
    }

    pub fn iterated(&mut self, norm: f64) {
        self.iterations += 1;
        self.norms.push(norm);
    }

    /// Replaces the last length by that of a true residual.
    pub fn measured(&mut self, norm: f64) {
        if let Some(last) = self.norms.last_mut() {
            *last = norm;
        }
    }
}

/// Growth of `x` along its steps, in the norm of the preconditioner, and the rounding that its size brings to `A x`.
///
/// Where no vector solves a singular system, methods go along its null space without end.
pub(crate) struct Growth {
    /// The greatest rounding that a useful `x` brings, in units of the first residual.
    most_rounding: f64,
    /// The length of the first residual.
    start: f64,
    /// A lower bound of the matrix's norm: the greatest growth of a direction by a product.
    matrix: f64,
    /// An upper bound of the length of `x`, less its start: the sum of the lengths of all steps.
    pub length: f64,
}

impl Growth {
    pub fn new(most_rounding: f64) -> Self {
        Growth { most_rounding, start: 0.0, matrix: 0.0, length: 0.0 }
    }

    /// Notes the residual where a run begins.
    pub fn begin(&mut self, residual: f64) {
        if self.start == 0.0 {
            self.start = residual;
        }
    }

    /// Notes the growth of a direction by a product.
    pub fn multiplied(&mut self, growth: f64) {
        self.matrix = self.matrix.max(growth);
    }

    /// The rounding of a product with a vector of this length.
    pub fn rounding(&self, length: f64) -> f64 {
        f64::EPSILON * self.matrix * length
    }

    /// Whether `x` is useless after a step of this length.
    pub fn is_useless(&self, step: f64) -> bool {
        let rounding = self.rounding(self.length + step);
        rounding.is_nan() || rounding > self.most_rounding * self.start
    }
}

/// Whether a method with this target that began at the residual `start` knows no more than at `norm`.
pub(crate) fn is_reached(target: f64, start: f64, norm: f64) -> bool {
    norm <= target.max(RECURRENCE * start)
}

impl System<'_, '_> {
    /// Says that a number is finite.
    pub fn finite(&self, number: f64) -> Result<f64> {
        if number.is_finite() { Ok(number) } else { Err(self.operator.too_large()) }
    }

    /// Refuses a product whose squares, of this sum, vanish where it is not 0.
    pub fn check_square(&self, square: f64, product: &[f64]) -> Result<()> {
        match square < f64::MIN_POSITIVE && product.iter().any(|&number| number != 0.0) {
            true => Err(self.too_small()),
            false => Ok(()),
        }
    }

    /// The error for products whose squares vanish.
    pub fn too_small(&self) -> Error {
        let image = self.operator.matrix.graph().path().display();
        let expected = "expected products whose squares are no numbers next to zero";
        let advice = "multiply the matrix by a number first, or begin nearer to the solution";
        Error::Unsuitable(format!("{expected}, found smaller ones with {image}: {advice}"))
    }

    /// Writes `b - A x`, or `b` if `x` is known to be 0, and returns its length, which is finite.
    pub fn residual(&self, state: &mut State<'_>, is_zero: bool) -> Result<f64> {
        self.finite(self.any_residual(state, is_zero)?)
    }

    /// Writes `b - A x`, or `b` if `x` is known to be 0, and returns its length, finite or not.
    pub fn any_residual(&self, state: &mut State<'_>, is_zero: bool) -> Result<f64> {
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
        Ok(square.sqrt())
    }

    /// The vector in the order of ids, as it is without the scale.
    pub fn ordered(&self, x: &[f64]) -> Result<Buffer<f64>> {
        let (matrix, scale) = (self.operator.matrix, self.scale);
        let mut ordered = Buffer::zeroed(self.space.runtime.budget(), "the solution of a linear system", x.len())?;
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
