//! Components of a mixture: their densities, lazily, and what the sums of a pass make of them.

use crate::common::{array_of, columns, mirror, scalar, usage};
use crate::mixture::gaussian_mixture::CovarianceType;
use faer::linalg::solvers::Llt;
use faer::{Mat, MatRef, Side};
use outcore_array::Array;
use outcore_array::kernel::{Binary, Fold, Unary};
use outcore_image::Result;

/// The components while they change.
#[derive(Clone)]
pub(crate) struct Components {
    pub kind: CovarianceType,
    pub weights: Vec<f64>,
    pub means: Vec<f64>,
    pub covariances: Vec<f64>,
    pub precisions_cholesky: Vec<f64>,
}

impl Components {
    /// The logarithms of weighted densities of rows (`n x k`), lazily.
    pub fn logs(&self, x: &Array) -> Result<Array> {
        let (p, k) = (columns(x), self.weights.len());
        let shift = centre(&self.means, p);
        let means: Vec<f64> = self.means.iter().enumerate().map(|(place, mean)| mean - shift[place % p]).collect();
        let factors = &self.precisions_cholesky;
        let factor = |c: usize, i: usize, j: usize| match self.kind {
            CovarianceType::Full => factors[(c * p + i) * p + j],
            _ => factors[i * p + j],
        };
        let product = |c: usize, j: usize| (0..p).map(|i| means[c * p + i] * factor(c, i, j)).sum::<f64>();
        let determinant: Vec<f64> = match self.kind {
            CovarianceType::Full | CovarianceType::Tied => {
                (0..k).map(|c| (0..p).map(|i| factor(c, i, i).ln()).sum()).collect()
            }
            CovarianceType::Diagonal => factors.chunks_exact(p).map(|own| own.iter().map(|f| f.ln()).sum()).collect(),
            CovarianceType::Spherical => factors.iter().map(|factor| p as f64 * factor.ln()).collect(),
        };
        let (places, factors) = match self.kind {
            CovarianceType::Full => {
                let places = (0..k * p).map(|place| product(place / p, place % p)).collect();
                (places, (0..p * k * p).map(|at| factor(at / p % k, at / (k * p), at % p)).collect())
            }
            CovarianceType::Tied => {
                let places = (0..k * p).map(|place| product(place / p, place % p)).collect();
                (places, factors.clone())
            }
            CovarianceType::Diagonal | CovarianceType::Spherical => (means, factors.clone()),
        };
        let constant = |c: usize| self.weights[c].ln() + determinant[c] - 0.5 * p as f64 * std::f64::consts::TAU.ln();
        let constants = (0..k).map(constant).collect();
        Densities { kind: self.kind, shift, factors, places, constants }.logs(x)
    }

    /// The components that are likeliest for the sums of a pass.
    pub fn maximised(&self, sums: &[f64], regularisation: f64) -> Result<Self> {
        let k = self.weights.len();
        let p = self.means.len() / k;
        let (shares, rest) = sums.split_at(k);
        let (deviations, products) = rest.split_at(k * p);
        let total: f64 = shares.iter().sum();
        // As scikit-learn has it, so that components without rows do no harm.
        let shares: Vec<f64> = shares.iter().map(|share| share + 10.0 * f64::EPSILON).collect();
        let steps: Vec<f64> = deviations.iter().enumerate().map(|(at, sum)| sum / shares[at / p]).collect();
        let means = self.means.iter().zip(&steps).map(|(mean, step)| mean + step).collect();
        let weights = shares.iter().map(|share| share / total).collect();
        let middle = centre(&self.means, p);
        let covariances: Vec<f64> = match self.kind {
            CovarianceType::Full => {
                let mut all: Vec<f64> = products
                    .iter()
                    .enumerate()
                    .map(|(at, sum)| {
                        let (c, i, j) = (at / (p * p), at / p % p, at % p);
                        sum / shares[c] - steps[c * p + i] * steps[c * p + j]
                    })
                    .collect();
                for square in all.chunks_exact_mut(p * p) {
                    mirror(square, p);
                    (0..p).for_each(|i| square[i * (p + 1)] += regularisation);
                }
                all
            }
            CovarianceType::Tied => {
                let mut square = products.to_vec();
                for (c, share) in shares.iter().enumerate() {
                    let own: Vec<f64> = (0..p).map(|i| self.means[c * p + i] + steps[c * p + i] - middle[i]).collect();
                    square.iter_mut().enumerate().for_each(|(at, sum)| *sum -= share * own[at / p] * own[at % p]);
                }
                mirror(&mut square, p);
                square.iter_mut().for_each(|sum| *sum /= total);
                (0..p).for_each(|i| square[i * (p + 1)] += regularisation);
                square
            }
            CovarianceType::Diagonal | CovarianceType::Spherical => {
                let variance = |(at, sum): (usize, &f64)| (sum / shares[at / p] - steps[at] * steps[at]).max(0.0);
                let all: Vec<f64> = products.iter().enumerate().map(variance).collect();
                match self.kind {
                    CovarianceType::Diagonal => all.iter().map(|variance| variance + regularisation).collect(),
                    _ => all.chunks_exact(p).map(|own| own.iter().sum::<f64>() / p as f64 + regularisation).collect(),
                }
            }
        };
        Components { kind: self.kind, weights, means, covariances, precisions_cholesky: Vec::new() }.factored(p)
    }

    /// Adds the Cholesky factors of the precisions.
    pub fn factored(mut self, p: usize) -> Result<Self> {
        self.precisions_cholesky = match self.kind {
            CovarianceType::Full | CovarianceType::Tied => {
                let mut all = Vec::new();
                for square in self.covariances.chunks_exact(p * p) {
                    let factor = cholesky("covariances", square, p, "; add more to variances (reg_covar)")?;
                    let mut inverse = Mat::<f64>::identity(p, p);
                    factor.L().solve_lower_triangular_in_place(inverse.as_mut());
                    all.extend((0..p * p).map(|at| inverse[(at % p, at / p)]));
                }
                all
            }
            _ => {
                if let Some(variance) = self.covariances.iter().find(|variance| **variance <= 0.0) {
                    return usage(format!(
                        "expected covariances that are positive definite, found the variance {variance}; add more to \
                         variances (reg_covar)"
                    ));
                }
                self.covariances.iter().map(|variance| 1.0 / variance.sqrt()).collect()
            }
        };
        Ok(self)
    }
}

/// Numbers of which the logarithms of densities are computed, as they lie in a pass.
struct Densities {
    kind: CovarianceType,
    /// Offset subtracted from rows.
    shift: Vec<f64>,
    /// Factors of precisions: of full ones side by side, `p x (k p)`.
    factors: Vec<f64>,
    /// The means less the offset; multiplied by the factors if these are matrices.
    places: Vec<f64>,
    constants: Vec<f64>,
}

impl Densities {
    fn logs(self, x: &Array) -> Result<Array> {
        let (p, k) = (columns(x), self.constants.len());
        let shifted = x.binary(Binary::Subtract, &array_of(self.shift, &[p]))?;
        let deviations = match self.kind {
            CovarianceType::Full => {
                let all = shifted.matmul(&array_of(self.factors, &[p, k * p]))?;
                let all = all.binary(Binary::Subtract, &array_of(self.places, &[k * p]))?;
                all.reshape(&[x.shape()[0], k as u64, p as u64])?
            }
            CovarianceType::Tied => {
                let all = shifted.matmul(&array_of(self.factors, &[p, p]))?.with_axis(1)?;
                all.binary(Binary::Subtract, &array_of(self.places, &[k, p]))?
            }
            CovarianceType::Diagonal | CovarianceType::Spherical => {
                let all = shifted.with_axis(1)?.binary(Binary::Subtract, &array_of(self.places, &[k, p]))?;
                let width = self.factors.len() / k;
                all.binary(Binary::Multiply, &array_of(self.factors, &[k, width]))?
            }
        };
        let squares = deviations.unary(Unary::Square)?.fold(Fold::Sum, &[2], false)?;
        squares.binary(Binary::Multiply, &scalar(-0.5))?.binary(Binary::Add, &array_of(self.constants, &[k]))
    }
}

/// Logarithms of densities that take the memory of those of `k` components, lazily.
pub(crate) fn stand_in(x: &Array, kind: CovarianceType, k: usize) -> Result<Array> {
    let p = columns(x);
    let (shift, places, constants) = (vec![0.0; p], vec![0.0; k * p], vec![0.0; k]);
    Densities { kind, shift, factors: vec![0.0; kind.numbers(k, p)], places, constants }.logs(x)
}

/// The mean of the means: the offset of rows, so that numbers far from 0 do not cancel.
pub(crate) fn centre(means: &[f64], p: usize) -> Vec<f64> {
    let k = means.len() / p;
    (0..p).map(|i| (0..k).map(|c| means[c * p + i]).sum::<f64>() / k as f64).collect()
}

/// The Cholesky factor of a symmetric matrix, of which there are several, called `name`.
fn cholesky(name: &str, square: &[f64], p: usize, advice: &str) -> Result<Llt<f64>> {
    let matrix = MatRef::from_row_major_slice(square, p, p);
    matrix.llt(Side::Lower).or_else(|_| {
        // The iteration for eigenvalues fails only on NaN and infinities.
        let least = matrix.self_adjoint_eigenvalues(Side::Lower).map_or(f64::NAN, |values| values[0]);
        usage(format!("expected {name} that are positive definite, found the least eigenvalue {least}{advice}"))
    })
}

pub(crate) fn inverses(kind: CovarianceType, precisions: &[f64], p: usize) -> Result<Vec<f64>> {
    use faer::linalg::solvers::DenseSolveCore;
    if matches!(kind, CovarianceType::Diagonal | CovarianceType::Spherical) {
        return Ok(precisions.iter().map(|precision| 1.0 / precision).collect());
    }
    let mut all = Vec::new();
    for square in precisions.chunks_exact(p * p) {
        let inverse = cholesky("precisions", square, p, "")?.inverse();
        all.extend((0..p * p).map(|at| inverse[((at / p).max(at % p), (at / p).min(at % p))]));
    }
    Ok(all)
}
