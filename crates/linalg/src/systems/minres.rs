//! The method of minimal residuals.
//!
//! *Idea.* Lanczos vectors make the matrix tridiagonal, rotations make that triangular, and `x` moves along directions
//! that need the last two only. With a preconditioner the norm that becomes minimal is the preconditioner's own; so the
//! residual itself is kept beside, by its recurrence, and its length is what is compared.
//!
//! *Singular systems.* Of a system that no vector solves the least residual is a null vector, and `x` may have any
//! share of it: that share is taken away, which leaves the shortest vector with this residual if there is no `x0`. A
//! product shows before whether the residual is a null vector, and not an eigenvector for a small eigenvalue.
//!
//! Where the first product is nothing but the rounding of its sums, `b` is a null vector already: steps along it would
//! have any length.
//!
//! An iteration makes four passes over vectors beside the product, with a preconditioner six.
//!
//! Paige and Saunders, *Solution of sparse indefinite systems of linear equations*, SIAM J. Numer. Anal. 1975; Choi,
//! Paige and Saunders, *MINRES-QLP*, SIAM J. Sci. Comput. 2011; Liu, Milzarek and Roosta, *Obtaining pseudo-inverse
//! solutions with MINRES*, 2023.

use crate::declare::SolverDeclaration;
use crate::operator::{Operator, rounding_of_sums};
use crate::systems::declared::{ATOL, PRECONDITIONER, RTOL, maxiter, method, plan};
use crate::systems::inverse::{Inverse, not_definite};
use crate::systems::system::{Method, Pause, SolveOptions, State, System, is_reached};
use crate::systems::{Solution, run};
use crate::tall::{Space, ZERO, dot};
use outcore_image::Result;
use outcore_io::Buffer;
use outcore_matrix::{Operand, SparseMatrix};
use std::mem::swap;

const PURPOSE: &str = "vectors of minimal residuals";
/// Length of the product of matrix and residual, relative to both, below which the residual is the least one. With
/// rounding the recurrence sees little below the root of the precision.
const LEAST: f64 = 1e-7;
/// Growth of the residual, relative to it, up to which `x` is shortened.
const SHORTENING: f64 = 1e-3;

/// Declaration for the shell.
pub(crate) static MINRES: SolverDeclaration = SolverDeclaration {
    options: &[RTOL, ATOL, maxiter("The most iterations; 5 n if not given"), PRECONDITIONER],
    ..method("minres", "The solution of A x = b with a symmetric matrix: minimal residuals", |matrix, given| {
        plan::<Minres>(minres, matrix, given)
    })
};

/// Solves `A x = b` with a symmetric matrix by the method of minimal residuals. Of a singular system that has no
/// solution it finds a vector with the least residual, the shortest one if there is neither an `x0` nor a
/// preconditioner, and says that it has not converged.
///
/// *Cost.* As with [`cg`](crate::cg), and a pass more at the beginning; but 56 bytes per row, with a
/// preconditioner 72, with one that is a function 80.
///
/// # Errors
/// Those of [`cg`](crate::cg), but the matrix may be indefinite; with a preconditioner no entry of its diagonal is 0.
pub fn minres(matrix: &SparseMatrix, b: &[f64], options: &SolveOptions<'_>) -> Result<Solution> {
    run::<Minres>(matrix, b, options)
}

pub(crate) struct Minres {
    /// The last Lanczos vectors, and their product on its way to be the next.
    before: Buffer<f64>,
    now: Buffer<f64>,
    product: Buffer<f64>,
    preconditioned: Option<Buffer<f64>>,
    /// The last directions of `x`.
    direction_before: Buffer<f64>,
    direction: Buffer<f64>,
    longest: f64,
}

/// The tridiagonal matrix on its way to a triangular one, in the words of Paige and Saunders.
struct Rotations {
    cosine: f64,
    sine: f64,
    epsilon: f64,
    delta_bar: f64,
    /// The residual in the preconditioner's norm.
    phi_bar: f64,
    /// The length of the longest column of the tridiagonal matrix, in earlier runs too.
    longest: f64,
}

/// A column of the triangular matrix, and the step along its direction.
struct Column {
    epsilon: f64,
    delta: f64,
    gamma: f64,
    step: f64,
}

impl Rotations {
    /// Takes the next column of the tridiagonal matrix; nothing if the residual is the least already.
    fn rotate(&mut self, diagonal: f64, beside: f64, below: f64) -> Option<Column> {
        let (epsilon, delta) = (self.epsilon, self.cosine * self.delta_bar + self.sine * diagonal);
        let gamma_bar = self.sine * self.delta_bar - self.cosine * diagonal;
        self.epsilon = self.sine * below;
        self.delta_bar = -self.cosine * below;
        self.longest = self.longest.max(beside.hypot(diagonal).hypot(below));
        if gamma_bar.hypot(self.delta_bar) <= LEAST * self.longest {
            return None;
        }
        let gamma = gamma_bar.hypot(below);
        (self.cosine, self.sine) = (gamma_bar / gamma, below / gamma);
        let step = self.cosine * self.phi_bar;
        self.phi_bar *= self.sine;
        Some(Column { epsilon, delta, gamma, step })
    }
}

impl<'a> Method<'a> for Minres {
    const NEEDS_SYMMETRY: bool = true;
    const IS_MINIMAL: bool = true;
    const FIRST_PASSES: &'static str = "one for the rounding of products, ";
    const STEPS_PER_ROW: u64 = 5;

    fn bytes(space: &Space, options: &SolveOptions<'_>) -> u64 {
        let more = u64::from(!options.preconditioner.is_none());
        (5 + more) * space.block_bytes()
    }

    fn inverse(entry: f64) -> f64 {
        1.0 / entry.abs()
    }

    fn new(system: &System<'a, '_>, options: &SolveOptions<'_>) -> Result<Self> {
        let is_plain = options.preconditioner.is_none();
        let vector = || system.space.zeros(PURPOSE);
        Ok(Minres {
            before: vector()?,
            now: vector()?,
            product: vector()?,
            preconditioned: if is_plain { None } else { Some(vector()?) },
            direction_before: vector()?,
            direction: vector()?,
            longest: 0.0,
        })
    }

    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause> {
        let start = state.norm();
        let length = self.begin(system, state)?;
        let (cosine, sine, longest) = (-1.0, 0.0, self.longest);
        let mut rotations = Rotations { cosine, sine, epsilon: 0.0, delta_bar: 0.0, phi_bar: length, longest };
        let mut beside = 0.0;
        while state.steps_left > 0 {
            let next = self.extend(system, state, beside)?;
            let Some((column, below)) =
                next.and_then(|(diagonal, below)| Some((rotations.rotate(diagonal, beside, below)?, below)))
            else {
                if state.inverse.is_none() {
                    self.shorten(system, state)?;
                }
                return Ok(Pause::End);
            };
            (beside, self.longest) = (below, rotations.longest);
            let norm = self.advance(system, state, &rotations, &column, below)?;
            state.steps_left -= 1;
            state.iterated(norm);
            if is_reached(state.target, start, norm) {
                return Ok(Pause::End);
            }
        }
        Ok(Pause::Full)
    }
}

impl Minres {
    /// Makes the residual the first Lanczos vector; returns its length in the preconditioner's norm.
    fn begin(&mut self, system: &System<'_, '_>, state: &mut State<'_>) -> Result<f64> {
        let Minres { before, now, direction_before, direction, .. } = self;
        system.space.update([before, direction_before, direction], |_, zeros, []| {
            zeros.into_iter().for_each(|zeros| zeros.fill(0.0));
        })?;
        let (residual, iteration) = (&state.residual, state.iterations);
        state.inverse.prepare(system, residual)?;
        let square = state.inverse.square(system, residual, iteration)?;
        if square <= 0.0 {
            return Err(not_definite(square, iteration));
        }
        let length = square.sqrt();
        system.space.update([now], |rows, [now], []| {
            now.iter_mut().zip(&residual[rows]).for_each(|(now, residual)| *now = residual / length);
        })?;
        self.precondition(system, &state.inverse, 1.0 / length)?;
        Ok(length)
    }

    /// Writes the preconditioned last Lanczos vector, if there is a preconditioner. A function has multiplied the
    /// vector before it was scaled, so its product is multiplied by `scale`.
    fn precondition(&mut self, system: &System<'_, '_>, inverse: &Inverse<'_>, scale: f64) -> Result<()> {
        let (now, Some(preconditioned)) = (&self.now, &mut self.preconditioned) else { return Ok(()) };
        let Some(product) = inverse.product() else { return inverse.apply_all(system, now, preconditioned) };
        system.space.update([preconditioned], |rows, [to], []| {
            to.iter_mut().zip(&product[rows]).for_each(|(to, number)| *to = scale * number);
        })?;
        Ok(())
    }

    /// Multiplies the last Lanczos vector and projects the last two out of the product; returns the entries of the
    /// tridiagonal matrix on and below the diagonal, or nothing if the product is rounding.
    fn extend(&mut self, system: &System<'_, '_>, state: &mut State<'_>, beside: f64) -> Result<Option<(f64, f64)>> {
        let factor = self.preconditioned.as_ref().unwrap_or(&self.now);
        system.operator.apply(factor, 1, &mut self.product)?;
        if self.longest == 0.0 && self.is_rounding(system)? {
            return Ok(None);
        }
        let factor = self.preconditioned.as_ref().unwrap_or(&self.now);
        let (before, now) = (&self.before, &self.now);
        let [diagonal] = system.space.update([&mut self.product], |rows, [product], [diagonal]| {
            product.iter_mut().zip(&before[rows.clone()]).for_each(|(to, number)| *to -= beside * number);
            *diagonal += dot(product, &factor[rows]);
        })?;
        let [mut square] = system.space.update([&mut self.product], |rows, [product], [square]| {
            product.iter_mut().zip(&now[rows]).for_each(|(to, number)| *to -= diagonal * number);
            *square += dot(product, product);
        })?;
        if !state.inverse.is_none() {
            system.finite(square)?;
            state.inverse.prepare(system, &self.product)?;
            square = state.inverse.square(system, &self.product, state.iterations + 1)?;
        }
        Ok(Some((system.finite(diagonal)?, system.finite(square)?.sqrt())))
    }

    /// Whether the first product, beside which there is no other one yet, is nothing but the rounding of its sums.
    fn is_rounding(&mut self, system: &System<'_, '_>) -> Result<bool> {
        let (matrix, factor) = (system.operator.matrix, self.preconditioned.as_ref().unwrap_or(&self.now));
        // Directions are zeros still.
        let (magnitudes, sums) = (&mut self.direction, &mut self.direction_before);
        system.space.update([&mut *magnitudes], |rows, [to], []| {
            to.iter_mut().zip(&factor[rows]).for_each(|(to, number)| *to = number.abs());
        })?;
        {
            let stats = &mut system.operator.costs.borrow_mut().stats;
            matrix.multiply_magnitudes_as_stored(Operand::Matrix, magnitudes, sums, stats)?;
        }
        let product = &self.product;
        let [square, most] = system.space.update([magnitudes, sums], |rows, [magnitudes, sums], [square, most]| {
            *square += dot(&product[rows.clone()], &product[rows]);
            *most += dot(sums, sums);
            magnitudes.fill(0.0);
            sums.fill(0.0);
        })?;
        system.check_square(system.finite(square)?, product)?;
        Ok(most.is_finite() && square.sqrt() <= rounding_of_sums(matrix) * most.sqrt())
    }

    /// Moves `x` along the next direction, and makes the next Lanczos vector; returns the length of the residual.
    fn advance(
        &mut self,
        system: &System<'_, '_>,
        state: &mut State<'_>,
        rotations: &Rotations,
        column: &Column,
        below: f64,
    ) -> Result<f64> {
        let &Column { epsilon, delta, gamma, step } = column;
        let (residual_share, product_share) = (rotations.sine * rotations.sine, rotations.phi_bar * rotations.cosine);
        let scale = if below > 0.0 { 1.0 / below } else { 0.0 };
        let (factor, last) = (self.preconditioned.as_ref().unwrap_or(&self.now), &self.direction);
        let x_and_direction = [&mut state.x[..], &mut self.direction_before];
        system.space.update(x_and_direction, |rows, [x, direction], []| {
            let numbers = x.iter_mut().zip(direction).zip(&factor[rows.clone()]).zip(&last[rows]);
            for (((x, direction), factor), last) in numbers {
                *direction = (factor - epsilon * *direction - delta * last) / gamma;
                *x += step * *direction;
            }
        })?;
        let next_and_residual = [&mut self.product[..], &mut state.residual];
        let [square] = system.space.update(next_and_residual, |_, [next, residual], [square]| {
            for (next, residual) in next.iter_mut().zip(residual.iter_mut()) {
                *next *= scale;
                *residual = residual_share * *residual - product_share * *next;
            }
            *square += dot(residual, residual);
        })?;
        swap(&mut self.direction_before, &mut self.direction);
        swap(&mut self.before, &mut self.now);
        swap(&mut self.now, &mut self.product);
        self.precondition(system, &state.inverse, scale)?;
        Ok(system.finite(square)?.sqrt())
    }

    /// Takes the share of the residual out of `x`, if the residual is a null vector.
    fn shorten(&mut self, system: &System<'_, '_>, state: &mut State<'_>) -> Result<()> {
        let (product, State { x, residual, .. }) = (&mut self.product, state);
        system.operator.apply(residual, 1, product)?;
        let [along, square, product_square] =
            system.space.update([], |rows, [], [along, square, product_square]| {
                let residual = &residual[rows.clone()];
                *along += dot(residual, &x[rows.clone()]);
                *square += dot(residual, residual);
                *product_square += dot(&product[rows.clone()], &product[rows]);
            })?;
        let mut share = ZERO;
        share[0][0] = -along / square;
        let growth = share[0][0].abs() * (product_square / square).sqrt();
        match share[0][0].is_finite() && growth <= SHORTENING {
            true => system.space.add_product(residual, &share, x),
            false => Ok(()),
        }
    }
}
