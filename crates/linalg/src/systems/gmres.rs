//! The method of generalized minimal residuals, restarted, with the preconditioner on the right.
//!
//! *Idea.* A cycle makes an orthonormal basis of the Krylov space: of the residual and its products with powers of the
//! matrix. It changes `x` by the vector of that space that leaves the least residual. Each new
//! vector is made orthogonal to all others twice, so they are orthogonal to the last digits (Giraud, Langou and
//! Rozložník, *The loss of orthogonality in the Gram-Schmidt orthogonalization process*, Comput. Math. Appl. 2005).
//!
//! Saad and Schultz, *GMRES: a generalized minimal residual algorithm*, SIAM J. Sci. Stat. Comput. 1986.

use crate::declare::SolverDeclaration;
use crate::operator::Operator;
use crate::systems::declared::{ATOL, PRECONDITIONER, RTOL, maxiter, method, plan};
use crate::systems::system::{Method, Pause, SolveOptions, State, System, is_reached};
use crate::systems::{Solution, run};
use crate::tall::basis::{Basis, Room};
use crate::tall::{FEW_NUMBERS, Space, ZERO};
use outcore_declare::Parameter;
use outcore_image::Result;
use outcore_io::Buffer;
use outcore_matrix::SparseMatrix;

/// Relative length below which the remainder of a vector counts as rounding.
const ROUNDING: f64 = 1e-14;
/// The least part of the residual that a column takes, in units of the rounding that its coefficients add. Where no
/// vector solves a singular system, coefficients of columns that take nothing but rounding grow without limit.
const LEAST_GAIN: f64 = 100.0;
/// Vectors whose dot products are computed at once: their sums take memory in every stripe.
const DOTS_TOGETHER: usize = 16;

/// Declaration for the shell.
pub(crate) static GMRES: SolverDeclaration = SolverDeclaration {
    options: &[
        RTOL,
        ATOL,
        maxiter("The most cycles; 10 n if not given"),
        Parameter::count("restart", 20, "Vectors that a cycle keeps"),
        PRECONDITIONER,
    ],
    ..method(
        "gmres",
        "The solution of A x = b with a square matrix: generalized minimal residuals, restarted",
        |matrix, given| plan::<Gmres>(gmres, matrix, given),
    )
};

/// Solves `A x = b` with a square matrix by the method of generalized minimal residuals, restarted. The preconditioner
/// is on the right, so the residual that is made small is that of the system itself.
///
/// The vectors of a cycle are in memory as far as there is room, and otherwise in a temporary file beside the image, or
/// where the runtime says. The bits of the result depend on neither.
///
/// *Cost.* A pass over all lists per iteration, and one for the residual at the end of every cycle. 16 bytes per row,
/// with a preconditioner 24, with one that is a function 32, and 8 for each vector of a cycle, of which two at least
/// are in memory.
///
/// # Errors
/// Those of [`minres`](crate::minres), but the matrix need not be symmetric; a full disk.
pub fn gmres(matrix: &SparseMatrix, b: &[f64], options: &SolveOptions<'_>) -> Result<Solution> {
    run::<Gmres>(matrix, b, options)
}

pub(crate) struct Gmres {
    basis: Basis,
    /// Vectors of a cycle.
    restart: usize,
    longest: f64,
}

/// The least-squares problem of a cycle: a triangular matrix, whose columns grow, and the right-hand side.
struct Triangle {
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
    /// The least residuals with the first columns: none, one, two and so on.
    norms: Vec<f64>,
    /// The length of the longest column, in earlier cycles too.
    longest: f64,
}

impl Triangle {
    fn new(norm: f64, longest: f64) -> Self {
        Triangle { columns: Vec::new(), rotations: Vec::new(), right: vec![norm], norms: vec![norm], longest }
    }

    /// Appends a column with this entry below its diagonal; returns the least residual, or nothing if the column
    /// depends on the others, and then it is not appended.
    fn append(&mut self, mut column: Vec<f64>, below: f64) -> Option<f64> {
        let length = column.iter().fold(below, |length: f64, entry| length.hypot(*entry));
        self.longest = self.longest.max(length);
        for (i, &(cosine, sine)) in self.rotations.iter().enumerate() {
            let (one, other) = (column[i], column[i + 1]);
            (column[i], column[i + 1]) = (cosine * one + sine * other, cosine * other - sine * one);
        }
        let last = self.rotations.len();
        let diagonal = column[last].hypot(below);
        if diagonal <= ROUNDING * self.longest {
            return None;
        }
        let (cosine, sine) = (column[last] / diagonal, below / diagonal);
        column[last] = diagonal;
        self.columns.push(column);
        self.rotations.push((cosine, sine));
        let rest = self.right[last];
        self.right[last] = cosine * rest;
        self.right.push(-sine * rest);
        self.norms.push((sine * rest).abs());
        self.norms.last().copied()
    }

    /// Coefficients of the columns: all of them, or the first ones if large coefficients, as of a nearly singular
    /// system, would add more rounding than they take from the residual.
    fn solve(&self) -> Vec<f64> {
        let count = self.columns.len();
        let cost = |factors: &[f64]| {
            let length = factors.iter().fold(0.0, |length: f64, factor| length.hypot(*factor));
            LEAST_GAIN * f64::EPSILON * self.longest * length
        };
        let all = self.solve_first(count);
        let last_gain = self.norms[count.saturating_sub(1)] - self.norms[count];
        if cost(&all) <= last_gain {
            return all;
        }
        let ways = (0..=count).map(|count| self.solve_first(count));
        let residual = |factors: &[f64]| self.norms[factors.len()] + cost(factors);
        ways.min_by(|a, b| residual(a).total_cmp(&residual(b))).unwrap_or(all)
    }

    fn solve_first(&self, count: usize) -> Vec<f64> {
        let mut factors = self.right[..count].to_vec();
        for i in (0..count).rev() {
            factors[i] /= self.columns[i][i];
            for row in 0..i {
                factors[row] -= self.columns[i][row] * factors[i];
            }
        }
        factors
    }
}

impl<'a> Method<'a> for Gmres {
    const IS_MINIMAL: bool = true;

    fn bytes(space: &Space, options: &SolveOptions<'_>) -> u64 {
        Basis::least_bytes(space, options.restart.min(space.rows) + 1)
    }

    fn new(system: &System<'a, '_>, options: &SolveOptions<'_>) -> Result<Self> {
        let restart = options.restart.min(system.space.rows);
        let basis = Basis::new(system.space.clone(), Room::of(&system.operator), restart + 1)?;
        Ok(Gmres { basis, restart, longest: 0.0 })
    }

    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause> {
        state.steps_left -= 1;
        let start = state.norm();
        self.basis.truncate(0);
        let mut first = self.basis.fresh()?;
        let residual = &state.residual;
        system.space.update([&mut first], |rows, [first], []| {
            first.iter_mut().zip(&residual[rows]).for_each(|(first, residual)| *first = residual / start);
        })?;
        self.basis.push(first);
        let mut triangle = Triangle::new(start, self.longest);
        let pause = loop {
            let mut next = self.basis.fresh()?;
            let (column, length, below) = self.extend(system, state, &mut next)?;
            let Some(norm) = triangle.append(column, below) else {
                self.basis.give_back(next);
                break Pause::End;
            };
            state.iterated(norm);
            let is_end = is_reached(state.target, start, norm) || below <= ROUNDING * length;
            if is_end || triangle.columns.len() == self.restart {
                self.basis.give_back(next);
                break if is_end { Pause::End } else { Pause::Full };
            }
            system.space.update([&mut next], |_, [next], []| next.iter_mut().for_each(|number| *number /= below))?;
            self.basis.push(next);
        };
        self.longest = triangle.longest;
        self.move_along(system, state, &triangle.solve())?;
        Ok(pause)
    }
}

impl Gmres {
    /// Multiplies the last vector and projects the basis out of the product. Returns the coefficients of the basis, the
    /// length of the product, and the length of the remainder. The memory of the residual is overwritten.
    fn extend(
        &self,
        system: &System<'_, '_>,
        state: &mut State<'_>,
        next: &mut Buffer<f64>,
    ) -> Result<(Vec<f64>, f64, f64)> {
        let (mut factor, inverse, room) = (self.basis.last(), &mut state.inverse, &mut state.residual);
        if !inverse.is_none() {
            inverse.prepare(system, factor)?;
            inverse.apply_all(system, factor, room)?;
            factor = room;
        }
        system.operator.apply(factor, 1, next)?;
        let square = system.finite(system.space.dots(next, next)?[0][0])?;
        system.check_square(square, next)?;
        let length = square.sqrt();
        let mut column = self.project_out(next)?;
        let again = self.project_out(next)?;
        column.iter_mut().zip(again).for_each(|(share, again)| *share += again);
        let below = system.finite(system.space.dots(next, next)?[0][0])?.sqrt();
        Ok((column, length, below))
    }

    fn project_out(&self, vector: &mut [f64]) -> Result<Vec<f64>> {
        let (count, mut shares) = (self.basis.len(), Vec::new());
        for first in (0..count).step_by(DOTS_TOGETHER) {
            shares.extend(self.basis.dots(first..count.min(first + DOTS_TOGETHER), vector)?);
        }
        self.basis.subtract(0..count, &shares, vector)?;
        Ok(shares.iter().map(|share| share[0][0]).collect())
    }

    /// Adds a sum of the vectors, with these factors, to `x`.
    fn move_along(&self, system: &System<'_, '_>, state: &mut State<'_>, factors: &[f64]) -> Result<()> {
        let negative = |&factor: &f64| {
            let mut square = ZERO;
            square[0][0] = -factor;
            square
        };
        let factors: Vec<_> = factors.iter().map(negative).collect();
        state.residual.fill(0.0);
        self.basis.subtract(0..factors.len(), &factors, &mut state.residual)?;
        let (sum, inverse) = (&state.residual, &mut state.inverse);
        inverse.prepare(system, sum)?;
        let inverse = &*inverse;
        system.space.update([&mut state.x], |rows, [x], []| {
            let mut few = [0.0; FEW_NUMBERS];
            let step = inverse.apply(rows.clone(), &sum[rows], &mut few);
            x.iter_mut().zip(step).for_each(|(x, step)| *x += step);
        })?;
        Ok(())
    }
}
