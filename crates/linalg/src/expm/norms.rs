//! Norms of powers of a matrix, and the series with the fewest products that they allow.
//!
//! The backward error of a Taylor series depends on `d_p = ||A^p||^(1/p)` for some p, which Al-Mohy and Higham estimate
//! by random vectors. Here it is bounded by the norm of the p-th power of the matrix of magnitudes, which is the
//! greatest entry of p products of its transpose with ones: a pass each. So nothing is random and no bound too small.
//! Where the norm of A alone promises few products, no more is asked for.

use crate::operator::{Counted, space};
use outcore_image::{Error, Result};
use outcore_matrix::{MOST_COLUMNS, Operand};

const PURPOSE: &str = "vectors of a matrix exponential";
/// Pairs of a number of terms and the greatest norm for which it suffices (Al-Mohy and Higham, table 3.1).
#[rustfmt::skip]
pub const ENOUGH: [(u32, f64); 35] = [
    (1, 2.29e-16), (2, 2.58e-8), (3, 1.39e-5), (4, 3.40e-4), (5, 2.40e-3), (6, 9.07e-3), (7, 2.38e-2), (8, 5.00e-2),
    (9, 8.96e-2), (10, 1.44e-1), (11, 2.14e-1), (12, 3.00e-1), (13, 4.00e-1), (14, 5.14e-1), (15, 6.41e-1),
    (16, 7.81e-1), (17, 9.31e-1), (18, 1.09), (19, 1.26), (20, 1.44), (21, 1.62), (22, 1.82), (23, 2.01), (24, 2.22),
    (25, 2.43), (26, 2.64), (27, 2.86), (28, 3.08), (29, 3.31), (30, 3.54), (35, 4.7), (40, 6.0), (45, 7.2), (50, 8.5),
    (55, 9.9),
];
/// The greatest power p in [`Norms::bounds`], and the number of passes that its norms take.
const MOST_POWER: u32 = 8;
/// Norms of powers are estimated if more products than this would be made without them.
const FEW_PRODUCTS: f64 = 20.0;
/// The least root of a power's norm, in units of the norm: less may have been lost on the way.
const LEAST_ROOT: f64 = 1e-30;

/// Facts about `A - mu I`.
pub struct Norms {
    /// `mu`, the mean of the diagonal.
    pub mean: f64,
    /// `max(d_p, d_(p+1))` for powers p, the first of which is 1; that is the norm.
    pub bounds: Vec<f64>,
}

/// Scheme of a step in time: number of substeps and of terms in each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of terms of the series in each substep.
    pub terms: u32,
    /// Number of substeps.
    pub steps: f64,
}

impl Norms {
    /// Norms for a step of this length.
    pub(crate) fn new(operator: &Counted<'_, '_>, longest: f64) -> Result<Self> {
        let (matrix, space) = (operator.matrix, space(operator, 1));
        let transpose = Counted::new(matrix, Operand::Transpose, operator.costs)?;
        let mut diagonal = matrix.diagonal(&mut operator.costs.borrow_mut().stats)?;
        let rows = space.rows as f64;
        let [mean] = space.update([&mut diagonal], |_, [diagonal], [mean]| {
            *mean += diagonal.iter().map(|entry| entry / rows).sum::<f64>();
        })?;
        let vector = || space.zeros(PURPOSE);
        let (mut factor, mut product) = (vector()?, vector()?);
        factor.fill(1.0);
        // Powers are those of the matrix divided by its norm, so that they neither overflow nor vanish.
        let (mut roots, mut divisor) = (Vec::new(), 1.0);
        for power in 1..=MOST_POWER + 1 {
            let stats = &mut operator.costs.borrow_mut().stats;
            matrix.multiply_magnitudes_as_stored(transpose.operand, &factor, &mut product, stats)?;
            let (of, entries) = (&factor, &diagonal);
            space.update([&mut product], |rows, [product], []| {
                for (row, to) in rows.zip(product) {
                    let entry = entries[row];
                    *to = (*to + ((entry - mean).abs() - entry.abs()) * of[row]).max(0.0) / divisor;
                }
            })?;
            let norm = space.stripes(|_, rows| Ok(greatest(&product[rows], 1)[0]))?;
            let norm = norm.into_iter().fold(0.0, greater);
            if !norm.is_finite() || !mean.is_finite() {
                let image = matrix.graph().path().display();
                let expected = "expected sums of a column's magnitudes that are finite numbers";
                let advice = "divide the matrix by a number and multiply t by it";
                return Err(Error::Unsuitable(format!("{expected}, found larger ones in {image}: {advice}")));
            }
            if power == 1 {
                let alone = Norms { mean, bounds: vec![norm] };
                if norm == 0.0 || alone.plan(longest).products() <= FEW_PRODUCTS {
                    return Ok(alone);
                }
                divisor = norm;
                product.iter_mut().for_each(|number| *number /= divisor);
                roots.push(norm);
            } else {
                roots.push(divisor * norm.powf(1.0 / f64::from(power)).max(LEAST_ROOT));
            }
            std::mem::swap(&mut factor, &mut product);
        }
        // A norm of a power is no more than the power of the norm; rounding may see that otherwise.
        let bounds = roots.windows(2).skip(1).map(|pair| pair[0].max(pair[1]).min(roots[0]));
        Ok(Norms { mean, bounds: [roots[0]].into_iter().chain(bounds).collect() })
    }

    /// The fewest products for a step in time.
    pub fn plan(&self, step: f64) -> Plan {
        let mut best = Plan { terms: 0, steps: 1.0 };
        if self.bounds[0] * step.abs() == 0.0 {
            return best;
        }
        best.steps = f64::INFINITY;
        best.terms = 1;
        for (power, bound) in (1..).zip(&self.bounds) {
            let least = if power == 1 { 1 } else { power * (power - 1) - 1 };
            for &(terms, enough) in ENOUGH.iter().filter(|(terms, _)| *terms >= least) {
                let plan = Plan { terms, steps: (bound * step.abs() / enough).ceil().max(1.0) };
                if plan.products() < best.products() {
                    best = plan;
                }
            }
        }
        best
    }
}

impl Plan {
    /// Number of products for each column.
    pub fn products(self) -> f64 {
        f64::from(self.terms) * self.steps
    }
}

/// The greater of two numbers; not a number if one is not.
pub(crate) fn greater(one: f64, other: f64) -> f64 {
    if other <= one || one.is_nan() { one } else { other }
}

/// The greatest magnitude in each column.
pub(crate) fn greatest(numbers: &[f64], width: usize) -> [f64; MOST_COLUMNS] {
    let mut most = [0.0f64; MOST_COLUMNS];
    for row in numbers.chunks_exact(width) {
        for (most, number) in most.iter_mut().zip(row) {
            *most = greater(*most, number.abs());
        }
    }
    most
}
