//! Eigenpairs of a symmetric matrix whose eigenvalues are next to zero.
//!
//! *Idea.* Where no eigenvalue is below zero they are the least, and where none is above it they are the greatest: most
//! matrices of which they are asked for, such as Laplacians, are of that kind, and a few products tell which are not.
//! Otherwise they are those of the least squares, and so of the product of the matrix with itself, whose products cost
//! two. These do not tell eigenvalues of the same magnitude and of either sign from each other: what they find may be
//! mixtures of both. The matrix maps the space of such vectors and of their products to itself, so a projection of the
//! matrix on that space parts them.

use crate::operator::{Counted, Operator, Squared, space};
use crate::spectral::lanczos::{Goal, Lanczos};
use crate::spectral::symmetric::{EigshOptions, Solved, Subspace, Which, goal, refine, solve, subspace};
use crate::tall::basis::{Basis, Room};
use crate::tall::orthonormal::orthonormalize;
use outcore_image::Result;
use outcore_matrix::Operand;

/// Number of basis vectors for the estimate of both ends of the spectrum.
const PROBED: usize = 32;
/// Largest number of projections on vectors and their products: the first one parts mixtures, a further one brings
/// residuals down to rounding.
const MOST_JOINED: usize = 3;
/// Least distance, relative to the greatest magnitude, by which a spectrum that reaches beyond zero does so.
const LEAST_OVERHANG: f64 = 1e-3;

/// Finds the eigenpairs next to zero of a symmetric matrix.
pub(crate) fn nearest(operator: &Counted<'_, '_>, options: &EigshOptions) -> Result<Solved> {
    let (least, greatest) = ends(operator, options)?;
    let beyond = LEAST_OVERHANG * greatest.abs().max(least.abs());
    let which = match (least >= -beyond, greatest <= beyond) {
        (true, _) => Some(Which::SmallestAlgebraic),
        (false, true) => Some(Which::LargestAlgebraic),
        (false, false) => None,
    };
    if let Some(which) = which {
        let pairs = solve(operator, &EigshOptions { which, ..options.clone() }, "eigsh")?;
        let bound = pairs.limit.rounding;
        let is_one_sided = match which {
            Which::SmallestAlgebraic => pairs.values[0] >= -bound,
            _ => pairs.values[pairs.values.len() - 1] <= bound,
        };
        if is_one_sided || pairs.ending.converged < options.k || !pairs.ending.is_complete {
            return Ok(pairs);
        }
    }
    // Vectors kept during the search for the least or the greatest belong to that search.
    let folder =
        options.checkpoint.as_ref().map(|folder| if which.is_some() { folder.join("squares") } else { folder.clone() });
    by_squares(operator, &EigshOptions { checkpoint: folder, ..options.clone() })
}

/// Estimates of the least and of the greatest eigenvalue.
fn ends(operator: &Counted<'_, '_>, options: &EigshOptions) -> Result<(f64, f64)> {
    let few = Goal {
        count: 1,
        which: Which::SmallestAlgebraic,
        most_columns: PROBED,
        most_restarts: 0,
        ..goal_of(operator, options)
    };
    let basis = Basis::new(space(operator, options.block), Room::of(operator), few.most_columns / options.block + 2)?;
    let ritz = Lanczos::new(operator, basis, few).run(None)?;
    Ok((ritz.values[0], ritz.values[ritz.values.len() - 1]))
}

fn goal_of(operator: &Counted<'_, '_>, options: &EigshOptions) -> Goal {
    goal(operator.shape().1, options)
}

/// Finds the eigenpairs whose eigenvalues have the least squares.
fn by_squares(operator: &Counted<'_, '_>, options: &EigshOptions) -> Result<Solved> {
    let (wanted, width) = (goal_of(operator, options), options.block);
    // The last of the squares may belong to two eigenvalues of either sign, of which one was left out.
    let count = (options.k + width).next_multiple_of(width);
    let goal = Goal { count, which: Which::SmallestAlgebraic, is_of_squares: true, ..wanted };
    let goal = Goal { most_columns: goal.most_columns.max(count + 3 * width), ..goal };
    let subspace = {
        let squared = Squared::new(operator.matrix, Operand::Matrix, width, operator.costs)?;
        let checkpoint = goal.checkpoint(&squared, options.checkpoint.as_deref(), "eigsh of squares", width)?;
        subspace(&squared, &goal, width, checkpoint)?
    };
    let (scale, restarts, is_complete) = (subspace.scale.sqrt(), subspace.restarts, subspace.is_complete);
    let mut pairs = refine(operator, Subspace { scale, ..subspace }, &Goal { count, ..wanted })?;
    for _ in 0..MOST_JOINED {
        let converged: Vec<usize> = pairs.converged().collect();
        if best(&pairs, options.k).iter().all(|i| converged.contains(i)) {
            break;
        }
        let (some, bound) = (best(&pairs, count), pairs.limit.rounding);
        let basis = with_products(operator, pairs.pick(&some)?.basis, bound, options.seed)?;
        let subspace = Subspace { basis, scale, restarts, is_complete };
        pairs = refine(operator, subspace, &Goal { count: 2 * count, ..wanted })?;
    }
    let best = best(&pairs, options.k);
    pairs.pick(&best)
}

/// Indices of the pairs next to zero, by the length of the product of the matrix with the vector: for a mixture of two
/// eigenvectors that is the magnitude of their eigenvalues.
fn best(pairs: &Solved, count: usize) -> Vec<usize> {
    let length = |i: usize| pairs.values[i].hypot(pairs.residuals[i]);
    let mut order: Vec<usize> = (0..pairs.values.len()).collect();
    order.sort_by(|&a, &b| length(a).total_cmp(&length(b)));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// Extends an orthonormal basis by the products with its vectors. A product of which no more than `floor` lies outside
/// of the space is replaced by a random vector.
fn with_products(operator: &Counted<'_, '_>, mut basis: Basis, floor: f64, seed: u64) -> Result<Basis> {
    let space = basis.space.clone();
    basis.leave(2 * space.block_bytes())?;
    let mut factor = space.zeros("eigenvectors")?;
    for at in 0..basis.len() {
        basis.copy(at, &mut factor)?;
        let (mut product, known) = (basis.fresh()?, basis.len());
        operator.apply(&factor, space.width, &mut product)?;
        basis.project_out(0..known, &mut product)?;
        basis.project_out(0..known, &mut product)?;
        orthonormalize(&basis, known, &mut product, floor, seed.wrapping_add(at as u64))?;
        basis.push(product);
    }
    Ok(basis)
}
