//! First centres for k-means: k-means||, and k-means++ of what it found.
//!
//! *Idea.* A pass picks `k` rows at once, without replacement, each by its weight times its squared distance from the
//! candidates so far: those with the least `-ln(u) / weight`, `u` a random number of the seed and the row (Efraimidis,
//! Spirakis, *Weighted random sampling with a reservoir*, 2006). That needs no sum in advance, so a round is one pass.
//! It compares rows with the candidates of the round before only, where memory has room for 8 bytes per row: the
//! squared distance from the nearest candidate so far. At the end candidates get the weights of the rows next to them,
//! and k-means++ with Lloyd's iterations picks the centres of them in memory, the best of several tries. *Cost.*
//! `rounds + 2` passes; a try takes no more than a pass over 21 times as many rows as there are candidates, on all
//! workers. Some `10 rounds k (p + 1)` numbers.
//!
//! Bahmani, Moseley, Vattani, Kumar, Vassilvitskii, *Scalable k-means++*, VLDB 2012; Arthur, Vassilvitskii, *k-means++:
//! the advantages of careful seeding*, SODA 2007.

use crate::clusters::bounds::Bounds;
use crate::clusters::lloyd::{Lloyd, MOST_ROWS, Sums};
use crate::common::{finite, put, reals, uniform, weights};
use crate::phases::bytes_of;
use outcore_array::kernel::{Values, ValuesMut, squared_distances};
use outcore_array::{RowBlock, RowFold};
use outcore_image::Result;
use outcore_io::{Reservation, Runtime, into_inner, lock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A fold that picks rows: operands are observations, then the factors of their weights.
pub(crate) struct Pick {
    pub columns: usize,
    pub count: usize,
    /// Seed of a random pick, in proportion to weights; without one, the rows of greatest weight are picked.
    pub seed: Option<u64>,
    /// Number of operands after the first; the weight of a row is their product, 1 if there are none.
    pub factors: usize,
    /// The least numbers of all rows so far, as bits: the first factor is the lesser of both, and replaces them.
    pub nearest: Option<Arc<[AtomicU64]>>,
}

/// The squared distances of all rows from the nearest candidate so far, between passes.
pub(crate) struct Nearest {
    rows: Arc<[AtomicU64]>,
    _memory: Reservation,
}

impl Nearest {
    /// Distances from no candidate; `None` if they take too much memory.
    pub fn new(runtime: &Runtime, rows: u64) -> Option<Self> {
        let (bytes, budget) = (rows.saturating_mul(8), runtime.budget());
        let has_room = bytes <= budget.available_bytes() / MEMORY_PART;
        let memory = has_room.then(|| budget.reserve("distances of k-means", bytes).ok()).flatten()?;
        Some(Nearest { rows: (0..rows).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect(), _memory: memory })
    }

    /// The distances, as bits, for a pass.
    pub fn rows(&self) -> Arc<[AtomicU64]> {
        Arc::clone(&self.rows)
    }
}

/// Distances take at most one part in this number of the available memory.
const MEMORY_PART: u64 = 4;

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
            let (mut weight, place) = (1.0, block.first_row + row as u64);
            for factor in 1..=self.factors {
                let mut own = reals(&block.operands[factor][0])[row];
                if let Some(nearest) = self.nearest.as_ref().filter(|_| factor == 1) {
                    let nearest = &nearest[place as usize];
                    own = own.min(f64::from_bits(nearest.load(Ordering::Relaxed)));
                    nearest.store(own.to_bits(), Ordering::Relaxed);
                }
                weight *= own;
            }
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

    /// The key, number and columns of every row; keys are NaN where there are not as many rows.
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

/// Number of tries of k-means++, up to [`FEW_CENTRES`] and beyond: with many centres tries hardly differ.
const TRIES: (u64, u64) = (8, 1);
const FEW_CENTRES: usize = 200;
/// The most of Lloyd's iterations of a try.
const ITERATIONS: usize = 20;
/// Candidates that a worker takes at a time, at least, and the most parts that there are: sums of parts are merged in
/// their order, whatever the number of workers.
const PART_ROWS: usize = 4 * MOST_ROWS;
const MOST_PARTS: usize = 8;

/// The best `k` centres of weighted candidates (`m x p`, row by row) by k-means++ and Lloyd's iterations, of some
/// tries. Every try takes up to 21 times `m k p` multiplications, on all workers; bounds of distances save most of
/// them where there are many centres.
///
/// # Errors
/// A request to stop; too little memory.
pub(crate) fn reclustered(
    runtime: &Runtime,
    candidates: &[f64],
    shares: &[f64],
    k: usize,
    seed: u64,
) -> Result<Vec<f64>> {
    let candidates = Candidates::new(runtime, candidates, shares);
    let mut best: Option<(f64, Vec<f64>)> = None;
    for number in 0..if k <= FEW_CENTRES { TRIES.0 } else { TRIES.1 } {
        let (cost, centres) = candidates.one_try(k, seed.wrapping_add(number))?;
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, centres));
        }
    }
    Ok(best.expect("a try").1)
}

/// Memory of [`reclustered`] for `m` candidates, without them.
pub(crate) fn reclustering_bytes(m: usize, p: usize, k: usize) -> u64 {
    let parts = m.div_ceil(part_rows(m));
    // The candidates by columns, weights and distances; sums of all parts, and what each compares at a time; centres of
    // this try, the best one, and those that are compared with; bounds.
    let compared = bytes_of(8, &[parts, 16 * (2 * p + 8) + MOST_ROWS * (p + 6)]);
    let numbers = [(m, p + 3), (k, (parts + 6) * (p + 1)), (k, 16 * parts)];
    numbers.iter().fold(compared, |all, &(count, each)| all.saturating_add(bytes_of(8, &[count, each])))
}

fn part_rows(m: usize) -> usize {
    PART_ROWS.max(m.div_ceil(MOST_PARTS).next_multiple_of(MOST_ROWS))
}

/// Weighted rows in memory.
struct Candidates<'a> {
    runtime: &'a Runtime,
    /// Column by column.
    columns: Vec<f64>,
    shares: &'a [f64],
    /// Number of columns.
    width: usize,
}

impl<'a> Candidates<'a> {
    fn new(runtime: &'a Runtime, rows: &[f64], shares: &'a [f64]) -> Self {
        let (count, width) = (shares.len(), rows.len() / shares.len());
        let columns = (0..rows.len()).map(|at| rows[at % count * width + at / count]).collect();
        Candidates { runtime, columns, shares, width }
    }

    fn count(&self) -> usize {
        self.shares.len()
    }

    /// The columns of some candidates.
    fn columns(&self, first: usize, rows: usize) -> Vec<&[f64]> {
        self.columns.chunks_exact(self.count()).map(|column| &column[first..][..rows]).collect()
    }

    /// Calls `work` with parts of the candidates: the number of each, its first candidate, and how many there are.
    fn for_each_part(&self, work: impl Fn(usize, usize, usize) -> Result<()> + Sync) -> Result<()> {
        let rows = part_rows(self.count());
        self.runtime.for_each_range(self.count().div_ceil(rows), 1, |mut parts| {
            parts.try_for_each(|part| work(part, part * rows, rows.min(self.count() - part * rows)))
        })
    }

    /// Centres by k-means++, improved by Lloyd's iterations, and their cost.
    fn one_try(&self, k: usize, seed: u64) -> Result<(f64, Vec<f64>)> {
        let (mut centres, mut cost) = (self.plus_plus(k, seed)?, f64::INFINITY);
        let mut bounds = Bounds::new(self.runtime, self.count() as u64, k);
        for _ in 0..ITERATIONS {
            let found = self.assigned(&centres, bounds.as_ref())?;
            if found.inertia >= cost {
                break;
            }
            cost = found.inertia;
            let before = centres.clone();
            for (place, centre) in centres.iter_mut().enumerate() {
                let weight = found.counts[place / self.width];
                if weight > 0.0 {
                    *centre = found.sums[place] / weight;
                }
            }
            if let Some(bounds) = &mut bounds {
                bounds.follow(&before, &centres, self.width);
            }
        }
        Ok((cost, centres))
    }

    /// Candidates, each picked by its weight times its squared distance from those before.
    fn plus_plus(&self, k: usize, seed: u64) -> Result<Vec<f64>> {
        let mut nearest = vec![f64::INFINITY; self.count()];
        let mut centres = Vec::with_capacity(k * self.width);
        for number in 0..k {
            let weight = |i: usize| if number == 0 { self.shares[i] } else { self.shares[i] * nearest[i] };
            let total: f64 = (0..self.count()).map(weight).sum();
            let (mut behind, mut chosen) = (uniform(seed ^ 0x5eed, number as u64) * total, None);
            for i in (0..self.count()).filter(|&i| weight(i) > 0.0) {
                chosen = Some(i);
                behind -= weight(i);
                if behind < 0.0 {
                    break;
                }
            }
            // If all candidates are centres already, one is repeated.
            let chosen = chosen.unwrap_or(0);
            let centre: Vec<f64> = self.columns.iter().skip(chosen).step_by(self.count()).copied().collect();
            self.approach(&centre, &mut nearest)?;
            centres.extend(centre);
        }
        Ok(centres)
    }

    /// Lowers the squared distances from the nearest centre to those from this one.
    fn approach(&self, centre: &[f64], nearest: &mut [f64]) -> Result<()> {
        let parts: Vec<_> = nearest.chunks_mut(part_rows(self.count())).map(Mutex::new).collect();
        self.for_each_part(|part, first, rows| {
            let mut squares = vec![0.0; rows];
            squared_distances(&self.columns(first, rows), centre, &mut squares, rows);
            lock(&parts[part]).iter_mut().zip(&squares).for_each(|(least, square)| *least = least.min(*square));
            Ok(())
        })
    }

    /// The sums over the candidates nearest to each centre.
    fn assigned(&self, centres: &[f64], bounds: Option<&Bounds>) -> Result<Sums> {
        let look = bounds.map(|bounds| bounds.look(self.runtime, centres, self.width)).transpose()?;
        let fold = Lloyd {
            shift: vec![0.0; self.width],
            centres: centres.to_vec(),
            is_weighted: true,
            with_inertia: true,
            look,
        };
        let parts: Vec<_> = (0..self.count().div_ceil(part_rows(self.count()))).map(|_| Mutex::new(None)).collect();
        self.for_each_part(|part, first, rows| {
            let mut state = fold.begin();
            for start in (first..first + rows).step_by(MOST_ROWS) {
                self.runtime.cancel().check()?;
                let rows = MOST_ROWS.min(first + rows - start);
                let columns = self.columns(start, rows).into_iter().map(Values::Float64).collect();
                let operands = vec![columns, vec![Values::Float64(&self.shares[start..][..rows])]];
                fold.add(&mut state, &RowBlock { first_row: start as u64, rows, operands })?;
            }
            fold.close(&mut state)?;
            *lock(&parts[part]) = Some(state);
            Ok(())
        })?;
        let mut all = fold.begin();
        parts.into_iter().filter_map(into_inner).try_for_each(|state| fold.merge(&mut all, state))?;
        Ok(all.sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_image::Error;
    use outcore_io::RuntimeOptions;

    /// One try and several, one part of candidates and several.
    #[test]
    fn a_request_to_stop_is_heard_while_centres_are_picked() {
        for (m, k) in [(100, 20), (9000, 20), (9000, 300)] {
            let options = RuntimeOptions { memory_bytes: Some(64 << 20), beside_process: true, ..Default::default() };
            let runtime = Runtime::new(options).unwrap();
            let candidates: Vec<f64> = (0..3 * m).map(|place| uniform(1, place)).collect();
            let shares = vec![1.0; m as usize];
            assert_eq!(reclustered(&runtime, &candidates, &shares, k, 1).unwrap().len(), 3 * k);
            runtime.cancel().cancel();
            let found = reclustered(&runtime, &candidates, &shares, k, 1);
            assert!(matches!(found, Err(Error::Cancelled)), "{m} candidates, {k} centres");
        }
    }
}
