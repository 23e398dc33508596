//! The method of conjugate gradients.
//!
//! An iteration makes three passes over vectors beside the product: for the step's length, for the residual with both
//! of its sums, and for `x` together with the next direction.
//!
//! Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*, J. Research NBS 1952.

use crate::operator::Operator;
use crate::systems::{Method, Pause, SolveOptions, State, System};
use crate::tall::{FEW_NUMBERS, Space, dot};
use outcore_graph::{Error, Result};
use outcore_io::Array;

const PURPOSE: &str = "vectors of conjugate gradients";

pub(crate) struct Cg {
    direction: Array<f64>,
    product: Array<f64>,
}

impl<'a> Method<'a> for Cg {
    const NEEDS_SYMMETRY: bool = true;
    const DIAGONAL: &'static str = "numbers greater than 0";
    const STEPS_PER_ROW: u64 = 10;

    fn bytes(space: &Space<'_>, _options: &SolveOptions<'_>) -> u64 {
        2 * space.block_bytes()
    }

    fn inverse(entry: f64) -> f64 {
        if entry > 0.0 { 1.0 / entry } else { f64::NAN }
    }

    fn new(system: &System<'a, '_>, _options: &SolveOptions<'_>) -> Result<Self> {
        let vector = || Array::zeroed(system.space.runtime.budget(), PURPOSE, system.space.numbers());
        Ok(Cg { direction: vector()?, product: vector()? })
    }

    fn run(&mut self, system: &System<'a, '_>, state: &mut State) -> Result<Pause> {
        let (space, inverse, start) = (&system.space, &system.inverse, state.norm());
        let residual = &state.residual;
        let [mut weighted] = space.update([&mut self.direction], |rows, [direction], [weighted]| {
            let residual = &residual[rows.clone()];
            let mut few = [0.0; FEW_NUMBERS];
            direction.copy_from_slice(inverse.apply(rows, residual, &mut few));
            *weighted += dot(residual, direction);
        })?;
        while state.steps_left > 0 {
            state.steps_left -= 1;
            system.operator.apply(&self.direction, 1, &mut self.product)?;
            let curvature = system.finite(space.dots(&self.direction, &self.product)?[0][0])?;
            if curvature <= 0.0 {
                return Err(not_definite(system, curvature, state.iterations + 1));
            }
            let step = weighted / curvature;
            let (product, before) = (&self.product, weighted);
            let [square, sum] = space.update([&mut state.residual], |rows, [residual], [square, sum]| {
                residual.iter_mut().zip(&product[rows.clone()]).for_each(|(to, number)| *to -= step * number);
                *square += dot(residual, residual);
                *sum += dot(residual, inverse.apply(rows, residual, &mut [0.0; FEW_NUMBERS]));
            })?;
            weighted = system.finite(sum)?;
            let (residual, share) = (&state.residual, weighted / before);
            space.update([&mut state.x, &mut self.direction], |rows, [x, direction], []| {
                let mut few = [0.0; FEW_NUMBERS];
                let next = inverse.apply(rows.clone(), &residual[rows], &mut few);
                for ((x, direction), next) in x.iter_mut().zip(direction).zip(next) {
                    *x += step * *direction;
                    *direction = next + share * *direction;
                }
            })?;
            state.iterated(system.finite(square)?.sqrt());
            if system.is_reached(start, state.norm()) {
                return Ok(Pause::End);
            }
        }
        Ok(Pause::Full)
    }
}

fn not_definite(system: &System<'_, '_>, curvature: f64, iteration: u64) -> Error {
    let image = system.operator.matrix().graph().path().display();
    Error::Unsuitable(format!(
        "expected a positive definite matrix in {image}, found a direction p with p^T A p = {curvature:.3e} in \
         iteration {iteration}; minres solves systems with other symmetric matrices, gmres with all square ones"
    ))
}
