//! The method of stabilized biconjugate gradients, with the preconditioner on the right.
//!
//! *Idea.* Directions are made conjugate by means of a shadow residual, the first one, so a few vectors are enough for
//! a matrix that is not symmetric; a second product per iteration makes the residual as small as a step along itself
//! can. Where a divisor, which is a scalar product, may be rounding alone, the method begins again: the residual is the
//! next shadow. Residuals may rise on their way.
//!
//! van der Vorst, *Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear
//! systems*, SIAM J. Sci. Stat. Comput. 1992.

use crate::declare::Declaration;
use crate::operator::Operator;
use crate::systems::declared::{ATOL, PRECONDITIONER, RTOL, maxiter, method, plan};
use crate::systems::inverse::Inverse;
use crate::systems::system::{Method, Pause, SolveOptions, State, System};
use crate::systems::{Solution, run};
use crate::tall::{Space, dot};
use outcore_image::Result;
use outcore_io::Array;
use outcore_matrix::SparseMatrix;

const PURPOSE: &str = "vectors of stabilized biconjugate gradients";

/// Declaration for the shell.
pub(crate) static BICGSTAB: Declaration = Declaration {
    options: &[RTOL, ATOL, maxiter("The most iterations; 10 n if not given"), PRECONDITIONER],
    ..method(
        "bicgstab",
        "The solution of A x = b with a square matrix: stabilized biconjugate gradients",
        |matrix, given| plan::<Bicgstab>(bicgstab, matrix, given),
    )
};

/// Solves `A x = b` with a square matrix by the method of stabilized biconjugate gradients. The preconditioner is on
/// the right, so the residual is that of the system itself. Memory does not grow with the number of iterations, as that
/// of [`gmres`](crate::gmres) does with a cycle, but the residual may rise, and the method may stagnate where `gmres`
/// does not.
///
/// *Cost.* Two passes over all lists per iteration, and one for the residual at the end. 48 bytes per row, with a
/// preconditioner 64, with one that is a function 72; a function is called twice per iteration.
///
/// # Errors
/// Those of [`gmres`](crate::gmres), but for a full disk; products whose squares vanish.
pub fn bicgstab(matrix: &SparseMatrix, b: &[f64], options: &SolveOptions<'_>) -> Result<Solution> {
    run::<Bicgstab>(matrix, b, options)
}

pub(crate) struct Bicgstab {
    /// The residual at the beginning, which all later ones are compared with.
    shadow: Array<f64>,
    direction: Array<f64>,
    /// The product with the preconditioned direction.
    product: Array<f64>,
    /// The product with the preconditioned residual.
    second: Array<f64>,
    /// A preconditioned vector, if there is a preconditioner.
    preconditioned: Option<Array<f64>>,
}

impl<'a> Method<'a> for Bicgstab {
    fn bytes(space: &Space<'_>, options: &SolveOptions<'_>) -> u64 {
        let more = u64::from(!options.preconditioner.is_none());
        (4 + more) * space.block_bytes()
    }

    fn new(system: &System<'a, '_>, options: &SolveOptions<'_>) -> Result<Self> {
        let vector = || system.space.zeros(PURPOSE);
        Ok(Bicgstab {
            shadow: vector()?,
            direction: vector()?,
            product: vector()?,
            second: vector()?,
            preconditioned: if options.preconditioner.is_none() { None } else { Some(vector()?) },
        })
    }

    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause> {
        let (space, start) = (&system.space, state.norm());
        let residual = &state.residual;
        space.update([&mut self.shadow, &mut self.direction], |rows, [shadow, direction], []| {
            shadow.copy_from_slice(&residual[rows.clone()]);
            direction.copy_from_slice(&residual[rows]);
        })?;
        let mut shadowed = system.finite(space.dots(&self.shadow, residual)?[0][0])?;
        while state.steps_left > 0 {
            state.steps_left -= 1;
            let Some(step) = self.first_step(system, state, shadowed, start)? else { return Ok(Pause::Full) };
            let norm = self.advance(system, state, step)?;
            if system.is_reached(start, norm) {
                state.iterated(norm);
                return Ok(Pause::End);
            }
            let Some(second_step) = self.second_step(system, state, norm)? else {
                state.iterated(norm);
                return Ok(Pause::Full);
            };
            let (norm, next) = self.stabilize(system, state, second_step)?;
            state.iterated(norm);
            if system.is_reached(start, norm) {
                return Ok(Pause::End);
            }
            if is_rounding(next, start * norm) {
                return Ok(Pause::Full);
            }
            let share = next / shadowed * (step / second_step);
            let (residual, product) = (&state.residual, &self.product);
            space.update([&mut self.direction], |rows, [direction], []| {
                for ((to, product), residual) in direction.iter_mut().zip(&product[rows.clone()]).zip(&residual[rows]) {
                    *to = residual + share * (*to - second_step * product);
                }
            })?;
            shadowed = next;
        }
        Ok(Pause::Full)
    }
}

impl Bicgstab {
    /// Multiplies the direction, and returns the length of the step along it; nothing if that is rounding.
    fn first_step(
        &mut self,
        system: &System<'_, '_>,
        state: &mut State<'_>,
        shadowed: f64,
        start: f64,
    ) -> Result<Option<f64>> {
        multiply(system, &mut state.inverse, &self.direction, &mut self.preconditioned, &mut self.product)?;
        let (shadow, product) = (&self.shadow, &self.product);
        let [along, square] = system.space.update([], |rows, [], [along, square]| {
            *along += dot(&shadow[rows.clone()], &product[rows.clone()]);
            *square += dot(&product[rows.clone()], &product[rows]);
        })?;
        let (along, length) = (system.finite(along)?, system.finite(square)?.sqrt());
        Ok((!is_rounding(along, start * length)).then(|| shadowed / along))
    }

    /// Moves `x` along the direction, and returns the length of the residual.
    fn advance(&self, system: &System<'_, '_>, state: &mut State<'_>, step: f64) -> Result<f64> {
        let direction = self.preconditioned.as_ref().unwrap_or(&self.direction);
        let (product, State { x, residual, .. }) = (&self.product, state);
        let [square] = system.space.update([&mut *x, &mut *residual], |rows, [x, residual], [square]| {
            x.iter_mut().zip(&direction[rows.clone()]).for_each(|(x, number)| *x += step * number);
            residual.iter_mut().zip(&product[rows]).for_each(|(to, number)| *to -= step * number);
            *square += dot(residual, residual);
        })?;
        Ok(system.finite(square)?.sqrt())
    }

    /// Multiplies the residual, whose length is `norm`, and returns the length of the step along it; nothing if that is
    /// rounding.
    fn second_step(&mut self, system: &System<'_, '_>, state: &mut State<'_>, norm: f64) -> Result<Option<f64>> {
        multiply(system, &mut state.inverse, &state.residual, &mut self.preconditioned, &mut self.second)?;
        let (residual, second) = (&state.residual, &self.second);
        let [along, square, sum] = system.space.update([], |rows, [], [along, square, sum]| {
            *along += dot(&second[rows.clone()], &residual[rows.clone()]);
            *square += dot(&second[rows.clone()], &second[rows.clone()]);
            *sum += second[rows].iter().map(|number| number.abs()).sum::<f64>();
        })?;
        let (along, square) = (system.finite(along)?, system.finite(square)?);
        if square < f64::MIN_POSITIVE && sum > 0.0 {
            return Err(system.too_small());
        }
        Ok((!is_rounding(along, norm * square.sqrt())).then(|| along / square))
    }

    /// Moves `x` along the residual. Returns the length of the next residual, and its product with the shadow.
    fn stabilize(&self, system: &System<'_, '_>, state: &mut State<'_>, step: f64) -> Result<(f64, f64)> {
        let State { x, residual, .. } = state;
        let (shadow, second, preconditioned) = (&self.shadow, &self.second, self.preconditioned.as_ref());
        let [square, next] =
            system.space.update([&mut *x, &mut *residual], |rows, [x, residual], [square, next]| {
                let along = preconditioned.map_or(&*residual, |vector| &vector[rows.clone()]);
                x.iter_mut().zip(along).for_each(|(x, number)| *x += step * number);
                residual.iter_mut().zip(&second[rows.clone()]).for_each(|(to, number)| *to -= step * number);
                *square += dot(residual, residual);
                *next += dot(&shadow[rows], residual);
            })?;
        Ok((system.finite(square)?.sqrt(), system.finite(next)?))
    }
}

/// Writes the product of the matrix with a vector that is preconditioned first.
fn multiply(
    system: &System<'_, '_>,
    inverse: &mut Inverse<'_>,
    vector: &[f64],
    preconditioned: &mut Option<Array<f64>>,
    product: &mut Array<f64>,
) -> Result<()> {
    let Some(preconditioned) = preconditioned else { return system.operator.apply(vector, 1, product) };
    inverse.prepare(system, vector)?;
    inverse.apply_all(system, vector, preconditioned)?;
    system.operator.apply(preconditioned, 1, product)
}

/// Whether a scalar product of vectors with this product of lengths may be rounding alone.
fn is_rounding(product: f64, lengths: f64) -> bool {
    product.abs() <= f64::EPSILON * lengths
}
