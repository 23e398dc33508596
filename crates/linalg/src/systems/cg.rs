//! The method of conjugate gradients.
//!
//! An iteration makes three passes over vectors beside the product: for the step's length, for the residual, and for
//! `x` together with the next direction. With a preconditioner there is one more, for the residual in its norm.
//!
//! Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*, J. Research NBS 1952.

use crate::declare::SolverDeclaration;
use crate::operator::Operator;
use crate::systems::declared::{ATOL, PRECONDITIONER, RTOL, maxiter, method, plan};
use crate::systems::system::{Growth, Method, Pause, SolveOptions, State, System, is_reached};
use crate::systems::{Solution, inverse, run};
use crate::tall::{FEW_NUMBERS, Space, dot};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use outcore_matrix::SparseMatrix;

const PURPOSE: &str = "vectors of conjugate gradients";
/// The greatest rounding of `A x`, in units of the first residual, that a step may bring.
const MOST_ROUNDING: f64 = 1e-3;

/// Declaration for the shell.
pub(crate) static CG: SolverDeclaration = SolverDeclaration {
    options: &[RTOL, ATOL, maxiter("The most iterations; 10 n if not given"), PRECONDITIONER],
    ..method(
        "cg",
        "The solution of A x = b with a symmetric, positive definite matrix: conjugate gradients",
        |matrix, given| plan::<Cg>(cg, matrix, given),
    )
};

/// Solves `A x = b` with a symmetric, positive definite matrix by the method of conjugate gradients. Of a singular
/// matrix it solves what has a solution. Where there is none, or the residual falls no further, it stagnates: the
/// vector is where it began, if its residual there is less. [`minres`](crate::minres) finds the least residual.
///
/// *Cost.* A pass over all lists per iteration, and one for the residual at the end. 32 bytes per row, with a
/// preconditioner 40, with one that is a function 48. A matrix that is not stored as its own transpose is compared with
/// that first, by two products and one with magnitudes; a function is, by two calls, and is called once per iteration
/// then.
///
/// # Errors
/// A matrix or a preconditioner that is not square, not symmetric or not positive definite, as far as it is seen;
/// numbers that are not finite; sizes and options that cannot be; too little memory; a page that cannot be read or is
/// damaged; a request to stop; errors of the preconditioner. A method that does not converge is no error.
pub fn cg(matrix: &SparseMatrix, b: &[f64], options: &SolveOptions<'_>) -> Result<Solution> {
    run::<Cg>(matrix, b, options)
}

pub(crate) struct Cg {
    direction: Buffer<f64>,
    product: Buffer<f64>,
    growth: Growth,
}

impl<'a> Method<'a> for Cg {
    const NEEDS_SYMMETRY: bool = true;
    const DIAGONAL: &'static str = "numbers greater than 0";

    fn bytes(space: &Space, _options: &SolveOptions<'_>) -> u64 {
        2 * space.block_bytes()
    }

    fn inverse(entry: f64) -> f64 {
        if entry > 0.0 { 1.0 / entry } else { f64::NAN }
    }

    fn new(system: &System<'a, '_>, _options: &SolveOptions<'_>) -> Result<Self> {
        let vector = || system.space.zeros(PURPOSE);
        Ok(Cg { direction: vector()?, product: vector()?, growth: Growth::new(MOST_ROUNDING) })
    }

    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause> {
        let (space, start) = (&system.space, state.norm());
        let State { x, residual, inverse, .. } = state;
        inverse.prepare(system, residual)?;
        inverse.apply_all(system, residual, &mut self.direction)?;
        let mut weighted = definite(inverse.square(system, residual, state.iterations)?, state.iterations)?;
        // The square of the direction's length in the inverse preconditioner's norm, of parts that are conjugate.
        let mut along = weighted;
        self.growth.begin(weighted.sqrt());
        while state.steps_left > 0 {
            system.operator.apply(&self.direction, 1, &mut self.product)?;
            let curvature = system.finite(space.dots(&self.direction, &self.product)?[0][0])?;
            self.growth.multiplied(curvature / along);
            let step = weighted / curvature;
            state.is_useless = self.growth.is_useless(0.0);
            // Where the direction is a null vector but for rounding, its step has any length and sign.
            let is_null = curvature.abs() < self.growth.rounding(along);
            if is_null || curvature > 0.0 && self.growth.is_useless(step * along.sqrt()) {
                return Ok(Pause::Full);
            }
            if curvature <= 0.0 {
                return Err(not_definite(system, curvature, state.iterations + 1));
            }
            self.growth.length += step * along.sqrt();
            let (product, before) = (&self.product, weighted);
            let [square] = space.update([&mut *residual], |rows, [residual], [square]| {
                residual.iter_mut().zip(&product[rows]).for_each(|(to, number)| *to -= step * number);
                *square += dot(residual, residual);
            })?;
            weighted = system.finite(square)?;
            if !inverse.is_none() && square > 0.0 {
                inverse.prepare(system, residual)?;
                let iteration = state.iterations + 1;
                weighted = definite(inverse.square(system, residual, iteration)?, iteration)?;
            }
            let share = weighted / before;
            along = weighted + share * share * along;
            space.update([&mut *x, &mut self.direction], |rows, [x, direction], []| {
                let mut few = [0.0; FEW_NUMBERS];
                let next = inverse.apply(rows.clone(), &residual[rows], &mut few);
                for ((x, direction), next) in x.iter_mut().zip(direction).zip(next) {
                    *x += step * *direction;
                    *direction = next + share * *direction;
                }
            })?;
            state.steps_left -= 1;
            state.iterations += 1;
            state.norms.push(square.sqrt());
            if is_reached(state.target, start, square.sqrt()) {
                return Ok(Pause::End);
            }
        }
        Ok(Pause::Full)
    }
}

/// The square of a residual in the preconditioner's norm, if it is greater than 0.
fn definite(square: f64, iteration: u64) -> Result<f64> {
    if square > 0.0 { Ok(square) } else { Err(inverse::not_definite(square, iteration)) }
}

fn not_definite(system: &System<'_, '_>, curvature: f64, iteration: u64) -> Error {
    let image = system.operator.matrix().graph().path().display();
    Error::Unsuitable(format!(
        "expected a positive definite matrix in {image}, found a direction p with p^T A p = {curvature:.3e} in \
         iteration {iteration}; minres solves systems with other symmetric matrices, gmres with all square ones"
    ))
}
