//! The method of stabilized biconjugate gradients, with the preconditioner on the right.
//!
//! *Idea.* Directions are made conjugate by means of a shadow residual, the first one, so a few vectors are enough for
//! a matrix that is not symmetric; a second product per iteration makes the residual as small as a step along itself
//! can. Residuals may rise on their way, so the best `x` is stored beside the last one.
//!
//! *Restarts.* Where a divisor, which is a scalar product, may be rounding alone, the method begins again at the last
//! `x`, and the residual there is the next shadow. Where that residual has risen far, it begins again at the best `x`.
//! A run from where another one began has a random shadow, since with the residual it would be that run again.
//!
//! van der Vorst, *Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear
//! systems*, SIAM J. Sci. Stat. Comput. 1992.

use crate::declare::SolverDeclaration;
use crate::operator::Operator;
use crate::systems::declared::{ATOL, PRECONDITIONER, RTOL, maxiter, method, plan};
use crate::systems::inverse::Inverse;
use crate::systems::system::{Growth, Method, Pause, SolveOptions, State, System, is_reached};
use crate::systems::{FULL_STAGNATION_SHARE, Solution, run};
use crate::tall::{Space, dot};
use outcore_image::Result;
use outcore_io::Buffer;
use outcore_matrix::SparseMatrix;

const PURPOSE: &str = "vectors of stabilized biconjugate gradients";
/// Rise of the residual above the least one, beyond which its recurrence has too few digits left.
const MOST_GROWTH: f64 = 1e8;
/// The greatest rounding of `A x`, in units of the first residual, where `x` may be the best one.
const MOST_ROUNDING: f64 = 1e-6;
/// Rise of the residual above the least one, up to which a run begins where the one before ended.
const NEAR: f64 = 100.0;

/// Declaration for the shell.
pub(crate) static BICGSTAB: SolverDeclaration = SolverDeclaration {
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
/// does not. Where it does not converge, the vector is the best one on its way.
///
/// *Cost.* Two passes over all lists per iteration, and one for the residual at the end and at every restart. 56 bytes
/// per row, with a preconditioner 72, with one that is a function 80; a function is called twice per iteration.
///
/// # Errors
/// Those of [`gmres`](crate::gmres), but for a full disk; products whose squares vanish.
pub fn bicgstab(matrix: &SparseMatrix, b: &[f64], options: &SolveOptions<'_>) -> Result<Solution> {
    run::<Bicgstab>(matrix, b, options)
}

pub(crate) struct Bicgstab {
    /// The residual at the beginning, or random numbers, which all later residuals are compared with.
    shadow: Buffer<f64>,
    direction: Buffer<f64>,
    /// The product with the preconditioned direction.
    product: Buffer<f64>,
    /// The product with the preconditioned residual.
    second: Buffer<f64>,
    /// A preconditioned vector, if there is a preconditioner.
    preconditioned: Option<Buffer<f64>>,
    /// The `x` with the least residual.
    best: Buffer<f64>,
    /// The length of that residual.
    best_norm: f64,
    /// Whether the last `x` is the best one.
    is_best: bool,
    growth: Growth,
    /// The sum of the lengths of all steps of `x`, which is that of the growth if there is no preconditioner.
    way: f64,
    /// The growth and the way of the best `x`.
    best_lengths: (f64, f64),
    runs: u64,
    /// Whether another run began at the same `x`.
    is_repeated: bool,
}

/// The numbers of a run.
struct Run {
    /// The length of the shadow.
    shadow: f64,
    /// The length of the direction.
    direction: f64,
    /// Whether directions are residuals still, so that products with them are finite unless the matrix is too large.
    is_first: bool,
}

impl<'a> Method<'a> for Bicgstab {
    const PRODUCTS_PER_STEP: u64 = 2;
    const IDLE_RUNS: u32 = 10;
    const MAY_DIVERGE: bool = true;

    fn bytes(space: &Space, options: &SolveOptions<'_>) -> u64 {
        let more = u64::from(!options.preconditioner.is_none());
        (5 + more) * space.block_bytes()
    }

    fn new(system: &System<'a, '_>, options: &SolveOptions<'_>) -> Result<Self> {
        let vector = || system.space.zeros(PURPOSE);
        Ok(Bicgstab {
            shadow: vector()?,
            direction: vector()?,
            product: vector()?,
            second: vector()?,
            preconditioned: if options.preconditioner.is_none() { None } else { Some(vector()?) },
            best: vector()?,
            best_norm: f64::INFINITY,
            is_best: false,
            growth: Growth::new(MOST_ROUNDING),
            way: 0.0,
            best_lengths: (0.0, 0.0),
            runs: 0,
            is_repeated: false,
        })
    }

    fn run(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<Pause> {
        let (start, steps_left) = (state.norm(), state.steps_left);
        self.growth.begin(start);
        if self.is_best || self.is_better(system, state, start)? {
            self.store_best(system, state, start)?;
        }
        let pause = self.advance_all(system, state)?;
        let norm = state.norm();
        // No step was made.
        self.is_repeated = state.steps_left == steps_left;
        let is_far = norm.is_nan() || norm > NEAR * self.best_norm || state.steps_left == 0;
        if pause == Pause::Full && is_far {
            self.rewind(system, state)?;
        }
        Ok(pause)
    }

    fn rewind(&mut self, system: &System<'a, '_>, state: &mut State<'_>) -> Result<bool> {
        if self.is_best || self.is_better(system, state, state.norm())? {
            return Ok(false);
        }
        let best = &self.best;
        system.space.update([&mut state.x], |rows, [x], []| x.copy_from_slice(&best[rows]))?;
        (self.is_best, self.is_repeated) = (true, true);
        (self.growth.length, self.way) = self.best_lengths;
        Ok(true)
    }
}

impl Bicgstab {
    /// Iterates until a divisor may be rounding.
    fn advance_all(&mut self, system: &System<'_, '_>, state: &mut State<'_>) -> Result<Pause> {
        let (start, mut run) = (state.norm(), Run { shadow: 0.0, direction: state.norm(), is_first: true });
        let mut shadowed = self.begin(system, state, &mut run)?;
        while state.steps_left > 0 {
            let Some(step) = self.first_step(system, state, &run, shadowed)? else { return Ok(Pause::Full) };
            state.steps_left -= 1;
            let norm = self.advance(system, state, step)?;
            self.growth.length += step.abs() * run.direction;
            if is_reached(state.target, start, norm) {
                state.iterated(norm);
                return Ok(Pause::End);
            }
            let Some(second_step) = self.second_step(system, state, &run, norm)? else {
                self.iterated(system, state, norm)?;
                return Ok(Pause::Full);
            };
            let (before, (norm, next)) = (norm, self.stabilize(system, state, second_step)?);
            self.growth.length += second_step.abs() * before;
            self.iterated(system, state, norm)?;
            if is_reached(state.target, start, norm) {
                return Ok(Pause::End);
            }
            let share = next / shadowed * (step / second_step);
            if is_rounding(next, run.shadow * norm) || !share.is_finite() || norm > MOST_GROWTH * self.best_norm {
                return Ok(Pause::Full);
            }
            let (residual, product) = (&state.residual, &self.product);
            let [square] = system.space.update([&mut self.direction], |rows, [direction], [square]| {
                let numbers = direction.iter_mut().zip(&product[rows.clone()]).zip(&residual[rows]);
                numbers.for_each(|((to, product), residual)| *to = residual + share * (*to - second_step * product));
                *square += dot(direction, direction);
            })?;
            // Where the matrix is singular directions may grow without a trace in the residuals.
            if square.is_nan() || f64::EPSILON * square.sqrt() > norm {
                return Ok(Pause::Full);
            }
            (shadowed, run.direction, run.is_first) = (next, square.sqrt(), false);
        }
        Ok(Pause::Full)
    }

    /// Writes the shadow and the first direction; returns the product of shadow and residual.
    fn begin(&mut self, system: &System<'_, '_>, state: &State<'_>, run: &mut Run) -> Result<f64> {
        let (space, residual) = (&system.space, &state.residual);
        self.runs += 1;
        space.update([&mut self.shadow, &mut self.direction], |rows, [shadow, direction], []| {
            shadow.copy_from_slice(&residual[rows.clone()]);
            direction.copy_from_slice(&residual[rows]);
        })?;
        if self.is_repeated {
            space.randomize(&mut self.shadow, |_| true, self.runs)?;
        }
        let shadow = &self.shadow;
        let [square, shadowed] = space.update([], |rows, [], [square, shadowed]| {
            let shadow = &shadow[rows.clone()];
            *square += dot(shadow, shadow);
            *shadowed += dot(shadow, &residual[rows]);
        })?;
        run.shadow = system.finite(square)?.sqrt();
        system.finite(shadowed)
    }

    /// Counts an iteration, and stores an `x` that is the best one.
    fn iterated(&mut self, system: &System<'_, '_>, state: &mut State<'_>, norm: f64) -> Result<()> {
        state.iterated(norm);
        if self.is_better(system, state, norm)? { self.store_best(system, state, norm) } else { Ok(()) }
    }

    /// Whether a residual is less than the least one by more than rounding, which vectors without bound may leave too,
    /// and its `x` is of a size that is useful.
    fn is_better(&mut self, system: &System<'_, '_>, state: &State<'_>, norm: f64) -> Result<bool> {
        if norm.is_nan() || norm >= FULL_STAGNATION_SHARE * self.best_norm {
            return Ok(false);
        }
        if self.growth.is_useless(0.0) {
            // The sum of all steps is more than the length after a detour: about as many times in every norm.
            let x = &state.x;
            let [square] = system.space.update([], |rows, [], [square]| *square += dot(&x[rows.clone()], &x[rows]))?;
            let share = (square.sqrt() / self.way).min(1.0);
            (self.growth.length, self.way) = (share * self.growth.length, share * self.way);
        }
        Ok(!self.growth.is_useless(0.0))
    }

    fn store_best(&mut self, system: &System<'_, '_>, state: &State<'_>, norm: f64) -> Result<()> {
        let x = &state.x;
        system.space.update([&mut self.best], |rows, [best], []| best.copy_from_slice(&x[rows]))?;
        (self.best_norm, self.best_lengths, self.is_best) = (norm, (self.growth.length, self.way), true);
        Ok(())
    }

    /// Multiplies the direction, and returns the length of the step along it; nothing if that is rounding.
    fn first_step(
        &mut self,
        system: &System<'_, '_>,
        state: &mut State<'_>,
        run: &Run,
        shadowed: f64,
    ) -> Result<Option<f64>> {
        multiply(system, &mut state.inverse, &self.direction, &mut self.preconditioned, &mut self.product)?;
        let (shadow, product) = (&self.shadow, &self.product);
        let [along, square] = system.space.update([], |rows, [], [along, square]| {
            *along += dot(&shadow[rows.clone()], &product[rows.clone()]);
            *square += dot(&product[rows.clone()], &product[rows]);
        })?;
        if run.is_first {
            system.check_square(square, product)?;
        }
        self.growth.multiplied(square.sqrt() / run.direction);
        let step = shadowed / along;
        let is_usable = run.has_room(system, along + square)? && step.is_finite();
        Ok((is_usable && !is_rounding(along, run.shadow * square.sqrt())).then_some(step))
    }

    /// Moves `x` along the direction, and returns the length of the residual.
    fn advance(&mut self, system: &System<'_, '_>, state: &mut State<'_>, step: f64) -> Result<f64> {
        let direction = self.preconditioned.as_ref().unwrap_or(&self.direction);
        let (product, State { x, residual, .. }) = (&self.product, state);
        self.is_best = false;
        let [square, way] = system.space.update([&mut *x, &mut *residual], |rows, [x, residual], [square, way]| {
            let direction = &direction[rows.clone()];
            x.iter_mut().zip(direction).for_each(|(x, number)| *x += step * number);
            *way += dot(direction, direction);
            residual.iter_mut().zip(&product[rows]).for_each(|(to, number)| *to -= step * number);
            *square += dot(residual, residual);
        })?;
        self.way += step.abs() * way.sqrt();
        Ok(square.sqrt())
    }

    /// Multiplies the residual, whose length is `norm`, and returns the length of the step along it; nothing if that is
    /// rounding.
    fn second_step(
        &mut self,
        system: &System<'_, '_>,
        state: &mut State<'_>,
        run: &Run,
        norm: f64,
    ) -> Result<Option<f64>> {
        if !run.has_room(system, norm)? {
            return Ok(None);
        }
        multiply(system, &mut state.inverse, &state.residual, &mut self.preconditioned, &mut self.second)?;
        let (residual, second) = (&state.residual, &self.second);
        let [along, square, sum] = system.space.update([], |rows, [], [along, square, sum]| {
            *along += dot(&second[rows.clone()], &residual[rows.clone()]);
            *square += dot(&second[rows.clone()], &second[rows.clone()]);
            *sum += second[rows].iter().map(|number| number.abs()).sum::<f64>();
        })?;
        if !run.has_room(system, along + square)? {
            return Ok(None);
        }
        if run.is_first && square < f64::MIN_POSITIVE && sum > 0.0 {
            return Err(system.too_small());
        }
        self.growth.multiplied(square.sqrt() / norm);
        let step = along / square;
        Ok((step.is_finite() && !is_rounding(along, norm * square.sqrt())).then_some(step))
    }

    /// Moves `x` along the residual. Returns the length of the next residual, and its product with the shadow.
    fn stabilize(&mut self, system: &System<'_, '_>, state: &mut State<'_>, step: f64) -> Result<(f64, f64)> {
        let State { x, residual, .. } = state;
        let (shadow, second, preconditioned) = (&self.shadow, &self.second, self.preconditioned.as_ref());
        let [square, next, way] =
            system.space.update([&mut *x, &mut *residual], |rows, [x, residual], [square, next, way]| {
                let along = preconditioned.map_or(&*residual, |vector| &vector[rows.clone()]);
                x.iter_mut().zip(along).for_each(|(x, number)| *x += step * number);
                *way += dot(along, along);
                residual.iter_mut().zip(&second[rows.clone()]).for_each(|(to, number)| *to -= step * number);
                *square += dot(residual, residual);
                *next += dot(&shadow[rows], residual);
            })?;
        self.way += step.abs() * way.sqrt();
        Ok((square.sqrt(), next))
    }
}

impl Run {
    /// Whether sums are finite. Where they are not in the first iteration, the matrix is too large; later the
    /// directions have grown, and the method begins again.
    fn has_room(&self, system: &System<'_, '_>, sums: f64) -> Result<bool> {
        match self.is_first {
            true => system.finite(sums).map(|_| true),
            false => Ok(sums.is_finite()),
        }
    }
}

/// Writes the product of the matrix with a vector that is preconditioned first.
fn multiply(
    system: &System<'_, '_>,
    inverse: &mut Inverse<'_>,
    vector: &[f64],
    preconditioned: &mut Option<Buffer<f64>>,
    product: &mut Buffer<f64>,
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
