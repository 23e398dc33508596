//! Steps towards the minimum of a smooth function: Newton's, or those of L-BFGS.
//!
//! Nocedal, Wright, *Numerical Optimization*, 2nd ed., 2006, chapters 3 and 7.

use faer::{Mat, Side, linalg::solvers::Solve};

/// Number of past steps that L-BFGS stores.
const MEMORY: usize = 10;

/// Parameters, with value and derivatives.
pub(crate) struct Point {
    pub place: Vec<f64>,
    pub value: f64,
    pub gradient: Vec<f64>,
    /// Empty if steps are not Newton's.
    pub hessian: Vec<f64>,
}

pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Differences of points and gradients of the last steps.
#[derive(Default)]
pub(crate) struct Steps {
    recent: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Steps {
    /// Newton's direction, or that of L-BFGS.
    pub fn direction(&self, point: &Point) -> Vec<f64> {
        if !point.hessian.is_empty()
            && let Some(newton) = newton(point)
        {
            return newton;
        }
        let mut direction: Vec<f64> = point.gradient.iter().map(|own| -own).collect();
        let mut factors = Vec::new();
        for (step, change) in self.recent.iter().rev() {
            let factor = dot(step, &direction) / dot(step, change);
            direction.iter_mut().zip(change).for_each(|(own, change)| *own -= factor * change);
            factors.push(factor);
        }
        if let Some((step, change)) = self.recent.last() {
            let scale = dot(step, change) / dot(change, change);
            direction.iter_mut().for_each(|own| *own *= scale);
        }
        for ((step, change), factor) in self.recent.iter().zip(factors.iter().rev()) {
            let other = dot(change, &direction) / dot(step, change);
            direction.iter_mut().zip(step).for_each(|(own, step)| *own += (factor - other) * step);
        }
        direction
    }

    /// Stores a step that was taken.
    pub fn note(&mut self, here: &Point, next: &Point) {
        let less = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a - b).collect::<Vec<_>>();
        let (step, change) = (less(&next.place, &here.place), less(&next.gradient, &here.gradient));
        if dot(&step, &change) > f64::EPSILON * dot(&change, &change) {
            self.recent.push((step, change));
            if self.recent.len() > MEMORY {
                self.recent.remove(0);
            }
        }
    }
}

/// Newton's direction; a little is added to the diagonal where the matrix is singular, such as for intercepts of all
/// classes that rise together.
fn newton(point: &Point) -> Option<Vec<f64>> {
    let size = point.place.len();
    let most = (0..size).map(|i| point.hessian[i * (size + 1)]).fold(0.0, f64::max);
    for share in [1e-12, 1e-8, 1e-4] {
        let matrix = Mat::from_fn(size, size, |i, k| {
            // The matrix has the blocks below the diagonal.
            point.hessian[i.max(k) * size + i.min(k)] + if i == k { share * most } else { 0.0 }
        });
        let Ok(factor) = matrix.llt(Side::Lower) else { continue };
        let solution = factor.solve(Mat::from_fn(size, 1, |i, _| -point.gradient[i]));
        let direction: Vec<f64> = (0..size).map(|i| solution[(i, 0)]).collect();
        if direction.iter().all(|own| own.is_finite()) && dot(&direction, &point.gradient) < 0.0 {
            return Some(direction);
        }
    }
    None
}
