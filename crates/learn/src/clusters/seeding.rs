//! First centres for k-means: k-means||, and k-means++ of what it found.
//!
//! *Idea.* A pass picks `k` rows at once, without replacement, each by its weight times its squared distance from the
//! candidates so far: those with the least `-ln(u) / weight`, `u` a random number of the seed and the row (Efraimidis,
//! Spirakis, *Weighted random sampling with a reservoir*, 2006). That needs no sum in advance, so a round is one pass.
//! At the end candidates get the weights of the rows next to them, and k-means++ with Lloyd's iterations picks the
//! centres of them in memory, the best of several tries. *Cost.* `rounds + 2` passes; `rounds k (p + 1)` numbers.
//!
//! Bahmani, Moseley, Vattani, Kumar, Vassilvitskii, *Scalable k-means++*, VLDB 2012; Arthur, Vassilvitskii, *k-means++:
//! the advantages of careful seeding*, SODA 2007.

use crate::common::{finite, put, reals, uniform, weights};
use outcore_array::kernel::ValuesMut;
use outcore_array::{RowBlock, RowFold};
use outcore_image::Result;

/// A fold that picks rows: operands are observations, then the factors of their weights.
pub(crate) struct Pick {
    pub columns: usize,
    pub count: usize,
    /// Seed of a random pick, in proportion to weights; without one, the rows of greatest weight are picked.
    pub seed: Option<u64>,
    /// Number of operands after the first; the weight of a row is their product, 1 if there are none.
    pub factors: usize,
}

/// Rows with their keys and numbers, the least key first.
type Picked = Vec<(f64, u64, Vec<f64>)>;

impl Pick {
    fn put(&self, rows: &mut Picked, row: (f64, u64, Vec<f64>)) {
        rows.insert(rows.partition_point(|other| other.0 <= row.0), row);
        rows.truncate(self.count);
    }
}

impl RowFold for Pick {
    type State = Picked;

    fn name(&self) -> &str {
        "pick rows"
    }

    fn results(&self) -> usize {
        self.count * (self.columns + 2)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        (2 * self.count * (8 * self.columns + 48)) as u64
    }

    fn begin(&self) -> Picked {
        Picked::new()
    }

    fn add(&self, state: &mut Picked, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        for factor in 1..=self.factors {
            weights(block, Some(factor))?;
        }
        for row in 0..block.rows {
            let mut weight = 1.0;
            for factor in 1..=self.factors {
                weight *= reals(&block.operands[factor][0])[row];
            }
            let place = block.first_row + row as u64;
            if weight <= 0.0 {
                continue;
            }
            // With a seed by chance, and otherwise the greatest weights.
            let key = self.seed.map_or(-weight, |seed| -(1.0 - uniform(seed, place)).ln() / weight);
            if state.len() < self.count || state.last().is_none_or(|last| key < last.0) {
                self.put(state, (key, place, block.operands[0].iter().map(|own| reals(own)[row]).collect()));
            }
        }
        Ok(())
    }

    fn merge(&self, state: &mut Picked, next: Picked) -> Result<()> {
        next.into_iter().for_each(|row| self.put(state, row));
        Ok(())
    }

    /// Of every row its key, number and columns; keys are NaN where there are not as many rows.
    fn finish(&self, state: Picked, result: ValuesMut<'_>) -> Result<()> {
        let mut numbers = vec![f64::NAN; self.results()];
        for (to, (key, place, row)) in numbers.chunks_exact_mut(self.columns + 2).zip(&state) {
            (to[0], to[1]) = (*key, *place as f64);
            to[2..].copy_from_slice(row);
        }
        put(&numbers, result)
    }
}

/// The rows that a pass picked: of each its key, and its columns.
pub(crate) fn picked(numbers: &[f64], columns: usize) -> impl Iterator<Item = (f64, &[f64])> {
    numbers.chunks_exact(columns + 2).filter(|row| !row[0].is_nan()).map(|row| (row[0], &row[2..]))
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The best `k` centres of weighted candidates by k-means++ and Lloyd's iterations, of some tries.
pub(crate) fn reclustered(candidates: &[Vec<f64>], shares: &[f64], k: usize, seed: u64) -> Vec<Vec<f64>> {
    const TRIES: u64 = 8;
    let tries = (0..TRIES).map(|number| one_try(candidates, shares, k, seed.wrapping_add(number)));
    let best = tries.min_by(|one, other| one.0.total_cmp(&other.0));
    best.expect("a try").1
}

fn one_try(candidates: &[Vec<f64>], shares: &[f64], k: usize, seed: u64) -> (f64, Vec<Vec<f64>>) {
    const ITERATIONS: usize = 20;
    let mut nearest = vec![f64::INFINITY; candidates.len()];
    let mut centres: Vec<Vec<f64>> = Vec::new();
    while centres.len() < k {
        let weight = |i: usize| if centres.is_empty() { shares[i] } else { shares[i] * nearest[i] };
        let total: f64 = (0..candidates.len()).map(weight).sum();
        let mut left = uniform(seed ^ 0x5eed, centres.len() as u64) * total;
        let mut chosen = None;
        for i in (0..candidates.len()).filter(|&i| weight(i) > 0.0) {
            chosen = Some(i);
            left -= weight(i);
            if left < 0.0 {
                break;
            }
        }
        // All candidates are centres already: the same again.
        let centre = candidates[chosen.unwrap_or(0)].clone();
        for (nearest, candidate) in nearest.iter_mut().zip(candidates) {
            *nearest = nearest.min(distance(candidate, &centre));
        }
        centres.push(centre);
    }
    let mut cost = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let (mut sums, mut weights, mut now) = (vec![vec![0.0; centres[0].len()]; k], vec![0.0; k], 0.0);
        for (candidate, &share) in candidates.iter().zip(shares) {
            let all = centres.iter().map(|centre| distance(candidate, centre)).enumerate();
            let (label, least) = all.min_by(|one, other| one.1.total_cmp(&other.1)).expect("a centre");
            now += share * least;
            weights[label] += share;
            sums[label].iter_mut().zip(candidate).for_each(|(sum, value)| *sum += share * value);
        }
        if now >= cost {
            break;
        }
        cost = now;
        for (centre, (sum, weight)) in centres.iter_mut().zip(sums.iter().zip(&weights)) {
            if *weight > 0.0 {
                *centre = sum.iter().map(|sum| sum / weight).collect();
            }
        }
    }
    (cost, centres)
}
