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

pub(crate) mod bicgstab;
pub(crate) mod cg;
pub(crate) mod declared;
pub(crate) mod gmres;
pub(crate) mod inverse;
pub(crate) mod minres;
pub(crate) mod system;

use crate::operator::{Costs, Counted, check_symmetric, space, square_rows};
use crate::systems::inverse::{Inverse, Preconditioner};
use crate::systems::system::{Method, Pause, SolveOptions, State, System};
use crate::tall::{Space, magnitude, power_of_two};
use outcore_image::{Error, Result, Stats};
use outcore_io::Buffer;
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;

const PURPOSE: &str = "vectors of a linear system";
/// The largest share of the residual that a run may leave which ended where its recurrence was small enough.
const STAGNATION_SHARE: f64 = 0.5;
/// The greatest part by which the true residual of such a run may be above that of its recurrence; beyond it rounding
/// makes up the difference, and otherwise the run ended too early.
const MOST_ROUNDING: f64 = 2.0;
/// The largest share of a run that ended because its vectors were full.
const FULL_STAGNATION_SHARE: f64 = 1.0 - 1e-10;
/// Growth of a residual that a method minimises, beyond which squares of products must have underflowed.
const MOST_GROWTH: f64 = 2.0;
/// Least divisor of a system, relative to the greatest magnitude in `x0`: squares of its products stay finite.
const LEAST_SCALE: f64 = 1e-70;

/// A method of linear systems.
pub type Solve = fn(&SparseMatrix, &[f64], &SolveOptions<'_>) -> Result<Solution>;

/// Why a method stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolveEnd {
    /// The residual is small enough.
    Residual,
    /// All iterations that were allowed were made.
    Iterations,
    /// More iterations make the residual no smaller: by rounding, because no vector solves a singular system, or
    /// because [`gmres`](crate::gmres) keeps too few vectors.
    Stagnation,
}

impl SolveEnd {
    /// The name: "residual", "iterations" or "stagnation".
    pub fn name(self) -> &'static str {
        match self {
            SolveEnd::Residual => "residual",
            SolveEnd::Iterations => "iterations",
            SolveEnd::Stagnation => "stagnation",
        }
    }
}

/// The solution of a system of linear equations, or how near a method came.
#[derive(Debug)]
#[non_exhaustive]
pub struct Solution {
    /// The vector, in the order of ids.
    pub x: Buffer<f64>,
    /// The length of `b - A x`, from a product with the vector that is returned.
    pub residual: f64,
    /// The greatest residual that counts as converged.
    pub residual_bound: f64,
    /// Whether the residual is as small as was asked for.
    pub converged: bool,
    /// Why the method stopped.
    pub stopped_by: SolveEnd,
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

pub(crate) fn run<'a, M: Method<'a>>(
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
        state.target = system.tolerance;
        let stopped_by = match length > 0.0 {
            true => {
                let mut method = M::new(&system, options)?;
                let start = if options.x0.is_none() { length } else { set_start(&system, &mut state, options.x0)? };
                state.norms.push(start);
                iterate(&system, &mut method, &mut state, options.x0)?
            }
            false => {
                state.norms.push(0.0);
                SolveEnd::Residual
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
        converged: stopped_by == SolveEnd::Residual,
        stopped_by,
        iterations,
        products: costs.products,
        residuals: norms.iter().map(|norm| scale * norm).collect(),
        stats: costs.stats.finish(matrix.graph().runtime(), matrix.pages_per_pass(Operand::Matrix)),
    })
}

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
    options.check_tolerances()?;
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
    let system = System { operator, space: space.clone(), b, scale, tolerance: 0.0 };
    let mut inverse = match options.preconditioner {
        Preconditioner::None => Inverse::None,
        Preconditioner::Jacobi => Inverse::Diagonal(inverse_diagonal::<M>(&system.operator, &space)?),
        Preconditioner::Function(function) => Inverse::of_function(&system, function)?,
    };
    let (mut x, mut residual) = (space.zeros(PURPOSE)?, space.zeros(PURPOSE)?);
    if M::NEEDS_SYMMETRY {
        inverse.check_symmetric(&system, &mut x, &mut residual)?;
        x.fill(0.0);
    }
    let steps_left = options.max_iterations.unwrap_or(M::STEPS_PER_ROW * space.rows as u64);
    Ok((
        system,
        State { x, residual, inverse, steps_left, iterations: 0, target: 0.0, norms: Vec::new(), is_useless: false },
    ))
}

/// The diagonal of Jacobi's preconditioner.
fn inverse_diagonal<'a, M: Method<'a>>(operator: &Counted<'a, '_>, space: &Space) -> Result<Buffer<f64>> {
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

/// Writes where to begin, and the residual there; returns its length.
fn set_start(system: &System<'_, '_>, state: &mut State<'_>, x0: Option<&[f64]>) -> Result<f64> {
    let Some(x0) = x0 else {
        state.x.fill(0.0);
        return system.residual(state, true);
    };
    let (matrix, scale) = (system.operator.matrix, system.scale);
    system.space.update([&mut state.x], |rows, [x], []| {
        rows.zip(x).for_each(|(row, number)| *number = x0[matrix.column_at(row)] / scale);
    })?;
    system.residual(state, false)
}

/// Runs a method until the true residual is small enough, or will not become so.
fn iterate<'a, M: Method<'a>>(
    system: &System<'a, '_>,
    method: &mut M,
    state: &mut State<'_>,
    x0: Option<&[f64]>,
) -> Result<SolveEnd> {
    let stopped_by = improve(system, method, state, x0)?;
    if stopped_by == SolveEnd::Residual || M::IS_MINIMAL {
        return Ok(stopped_by);
    }
    if method.rewind(system, state)? {
        let norm = measure::<M>(system, state, x0)?;
        state.measured(norm);
    }
    // Conjugate gradients that are stopped early are nearer to the solution, though their residual may have risen.
    let is_worse = state.norm() > state.norms[0] && (M::MAY_DIVERGE || stopped_by == SolveEnd::Stagnation);
    if state.is_useless || is_worse {
        let norm = set_start(system, state, x0)?;
        state.measured(norm);
    }
    Ok(if state.norm() <= system.tolerance { SolveEnd::Residual } else { stopped_by })
}

fn improve<'a, M: Method<'a>>(
    system: &System<'a, '_>,
    method: &mut M,
    state: &mut State<'_>,
    x0: Option<&[f64]>,
) -> Result<SolveEnd> {
    let (mut least, mut idle_runs) = (state.norm(), 0);
    loop {
        let before = state.norm();
        if before <= system.tolerance {
            return Ok(SolveEnd::Residual);
        }
        if state.steps_left == 0 {
            return Ok(SolveEnd::Iterations);
        }
        let pause = method.run(system, state)?;
        let foretold = state.norm();
        let norm = measure::<M>(system, state, x0)?;
        state.measured(norm);
        if M::IS_MINIMAL && norm > MOST_GROWTH * before {
            return Err(system.too_small());
        }
        idle_runs = if norm < FULL_STAGNATION_SHARE * least { 0 } else { idle_runs + 1 };
        least = least.min(norm);
        let is_end = pause == Pause::End && norm > system.tolerance;
        let is_rounding = is_end && norm >= STAGNATION_SHARE * before && norm > MOST_ROUNDING * foretold;
        if is_end {
            state.target *= STAGNATION_SHARE;
        }
        if norm > system.tolerance && (is_rounding || idle_runs > M::IDLE_RUNS) && state.steps_left > 0 {
            return Ok(SolveEnd::Stagnation);
        }
    }
}

/// Writes the true residual, and returns its length. Where `x` has left the range of numbers it is set to `x0` first,
/// if the method may diverge.
fn measure<'a, M: Method<'a>>(system: &System<'a, '_>, state: &mut State<'_>, x0: Option<&[f64]>) -> Result<f64> {
    let norm = system.any_residual(state, false)?;
    if M::MAY_DIVERGE && !norm.is_finite() { set_start(system, state, x0) } else { system.finite(norm) }
}
