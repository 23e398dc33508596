//! Bounds of distances that k-means stores per row, so that most rows keep their centre without further comparisons.
//!
//! *Idea.* When a row is compared with all centres, its distance from the second one is kept. Later no other centre is
//! nearer than that, less what others have moved since (Hamerly), nor than the way from its own centre to the next one,
//! less its distance from its own (Elkan). A row stays where no other centre can be as near as its own, by more than
//! the rounding of distances: so labels, and all that follows, are those that a comparison with all centres finds.
//! *Memory.* 4 bytes per row: the number of its centre, and the bound, rounded down to 8 bits.
//!
//! Elkan, *Using the triangle inequality to accelerate k-means*, ICML 2003; Hamerly, *Making k-means even faster*,
//! SDM 2010.

use crate::clusters::lloyd::rounding;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use outcore_image::Result;
use outcore_io::{Reservation, Runtime, lock};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Least number of centres for bounds: with fewer, comparing a row with all centres takes no longer than the bounds.
const LEAST_CENTRES: usize = 64;
/// Bounds take at most one part in this number of the available memory.
const MEMORY_PART: u64 = 4;
/// The bits of a row's bound, which are the upper ones of a float32; those below are the number of its centre.
const BOUND: u32 = 0xffff_0000;
/// Upper bound of the rounding of a distance, relative to it.
const ROUNDING: f64 = 1e-9;
/// Centres whose products with as many others are computed at a time.
const TILE: usize = 128;

/// The bounds of all rows, between passes.
pub(crate) struct Bounds {
    rows: Arc<[AtomicU32]>,
    /// For each centre the greatest movement among all others, summed over iterations.
    moved: Vec<f64>,
    _memory: Reservation,
}

impl Bounds {
    /// Bounds of which none is known yet; `None` if they would not pay, or take too much memory.
    pub fn new(runtime: &Runtime, rows: u64, centres: usize) -> Option<Self> {
        let (bytes, budget) = (4 * rows + (8 * TILE * TILE * runtime.threads()) as u64, runtime.budget());
        let is_wanted = (LEAST_CENTRES..=1 << 16).contains(&centres) && bytes <= budget.available_bytes() / MEMORY_PART;
        let memory = is_wanted.then(|| budget.reserve("bounds of k-means", bytes).ok()).flatten()?;
        let rows = (0..rows).map(|_| AtomicU32::new(0)).collect();
        Some(Bounds { rows, moved: vec![0.0; centres], _memory: memory })
    }

    /// Adds the movement of the centres, which have `columns` columns, to the sums.
    pub fn follow(&mut self, before: &[f64], after: &[f64], columns: usize) {
        let ways = before.chunks_exact(columns).zip(after.chunks_exact(columns));
        let ways: Vec<f64> = ways.map(|(before, after)| distance(before, after)).collect();
        let most = (0..ways.len()).max_by(|&one, &other| ways[one].total_cmp(&ways[other]));
        let others = ways.iter().enumerate().filter(|&(centre, _)| Some(centre) != most);
        let second = others.fold(0.0, |second: f64, (_, way)| second.max(*way));
        for (own, moved) in self.moved.iter_mut().enumerate() {
            let greatest = most.filter(|&most| most != own).map_or(second, |most| ways[most]);
            *moved += greatest * (1.0 + ROUNDING);
        }
    }

    /// Prepares the comparisons of a pass with these centres.
    ///
    /// # Errors
    /// A request to stop.
    pub fn look(&self, runtime: &Runtime, centres: &[f64], columns: usize) -> Result<Look> {
        let zero = vec![0.0; columns];
        let lengths: Vec<f64> = centres.chunks_exact(columns).map(|centre| distance(centre, &zero)).collect();
        Ok(Look {
            rows: Arc::clone(&self.rows),
            moved: self.moved.clone(),
            apart: apart(runtime, centres, columns)?,
            longest: lengths.iter().fold(0.0, |most, length| most.max(*length)),
            lengths,
            rounding: rounding(columns),
        })
    }
}

/// Lower bounds of the distances from each centre to the nearest other one, by products of all centres. Their rounding
/// errors, relative to the sum of both squares, are subtracted.
fn apart(runtime: &Runtime, centres: &[f64], columns: usize) -> Result<Vec<f64>> {
    let count = centres.len() / columns;
    let squares: Vec<f64> =
        centres.chunks_exact(columns).map(|centre| centre.iter().map(|value| value * value).sum()).collect();
    let matrix = |first: usize, rows: usize| {
        MatRef::from_row_major_slice(&centres[first * columns..][..rows * columns], rows, columns)
    };
    let mut apart = vec![f64::INFINITY; count];
    let parts: Vec<_> = apart.chunks_mut(TILE).map(Mutex::new).collect();
    runtime.for_each_range(parts.len(), 1, |range| {
        let mut room = vec![0.0; TILE * TILE];
        for (part, start) in range.flat_map(|part| (0..count).step_by(TILE).map(move |start| (part, start))) {
            runtime.cancel().check()?;
            let (mut own, first) = (lock(&parts[part]), part * TILE);
            let (rows, others) = (own.len(), TILE.min(count - start));
            let products = &mut room[..rows * others];
            let to = MatMut::from_row_major_slice_mut(products, rows, others);
            matmul(to, Accum::Replace, matrix(first, rows), matrix(start, others).transpose(), 1.0, Par::Seq);
            for (i, products) in products.chunks_exact(others).enumerate() {
                for (k, product) in products.iter().enumerate().filter(|&(k, _)| start + k != first + i) {
                    let sum = squares[first + i] + squares[start + k];
                    let square = sum - 2.0 * product - rounding(columns) * sum - 1e-300;
                    // Nothing is known of squares that overflow.
                    own[i] = if square > 0.0 && square.is_finite() { own[i].min(square) } else { 0.0 };
                }
            }
        }
        Ok::<_, outcore_image::Error>(())
    })?;
    drop(parts);
    apart.iter_mut().for_each(|square| *square = square.sqrt());
    Ok(apart)
}

fn distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum::<f64>().sqrt()
}

/// The bounds, while a pass compares rows with centres.
pub(crate) struct Look {
    rows: Arc<[AtomicU32]>,
    moved: Vec<f64>,
    /// Lower bound of the distance from each centre to the nearest other one.
    apart: Vec<f64>,
    /// The distance of each centre from the origin, and the greatest of these.
    lengths: Vec<f64>,
    longest: f64,
    /// Error of products, relative to the square of the sum of both lengths.
    rounding: f64,
}

impl Look {
    /// Bounds of a row, and the number of its former centre.
    #[inline(always)]
    pub fn known(&self, row: u64) -> (u32, usize) {
        let known = self.rows[row as usize].load(Ordering::Relaxed);
        (known, (known & !BOUND) as usize)
    }

    /// Whether a row with this squared distance from its centre stays there, by the bounds alone.
    #[inline(always)]
    pub fn stays(&self, (known, centre): (u32, usize), square: f64) -> bool {
        let distance = square.sqrt();
        let second = f64::from(f32::from_bits(known & BOUND)) - self.moved[centre];
        let others = second.max(self.apart[centre] - distance) * (1.0 - ROUNDING);
        others > 0.0 && others * others - square > self.error(distance + self.lengths[centre])
    }

    /// Largest error of the squared distances of a row of this length, and of their differences.
    #[inline(always)]
    fn error(&self, length: f64) -> f64 {
        // Subnormal numbers have larger rounding errors than the relative bound: hence the constant.
        self.rounding * (length + self.longest) * (length + self.longest) + 1e-300
    }

    /// Remembers the nearest centre of a row, whose square this is, and the squared distance from the second one.
    #[inline(always)]
    pub fn remember(&self, row: u64, centre: u64, square: f64, second: f64) {
        let second = (second - self.error(square.sqrt())).max(0.0).sqrt();
        let bound = (second + self.moved[centre as usize]) * (1.0 - ROUNDING);
        let bound = bound.min(f64::from(f32::MAX)) as f32 * (1.0 - f32::EPSILON);
        self.rows[row as usize].store(bound.to_bits() & BOUND | centre as u32, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::uniform;
    use outcore_io::RuntimeOptions;

    fn look(centres: &[f64], moved: f64) -> Look {
        let rows: Arc<[AtomicU32]> = (0..4).map(|_| AtomicU32::new(0)).collect();
        let count = centres.len();
        let bounds = Bounds { rows, moved: vec![moved; count], _memory: reservation() };
        bounds.look(&runtime(), centres, 1).unwrap()
    }

    fn runtime() -> Runtime {
        let options = RuntimeOptions { memory_bytes: Some(64 << 20), beside_process: true, ..Default::default() };
        Runtime::new(options).unwrap()
    }

    /// Tiles that are not full, and centres so far from 0 that products lose their distances.
    #[test]
    fn centres_are_at_least_as_far_apart_as_the_bounds() {
        for (count, columns, far) in [(2, 1, 0.0), (129, 3, 0.0), (300, 7, 1e3), (130, 2, 1e12)] {
            let place = |at: usize| uniform(7, at as u64) + if (at / columns).is_multiple_of(2) { far } else { 0.0 };
            let centres: Vec<f64> = (0..count * columns).map(place).collect();
            let bounds = apart(&runtime(), &centres, columns).unwrap();
            for (own, bound) in bounds.iter().enumerate() {
                let way = |other: usize| {
                    distance(&centres[own * columns..][..columns], &centres[other * columns..][..columns])
                };
                let nearest = (0..count).filter(|&other| other != own).map(way).fold(f64::INFINITY, f64::min);
                assert!(*bound <= nearest, "{own} of {count}: {bound} for {nearest}");
                assert!(far > 1e3 || *bound >= 0.999 * nearest, "{own} of {count}: {bound} for {nearest}");
            }
        }
    }

    fn reservation() -> Reservation {
        outcore_io::Budget::new(1 << 30, 0).unwrap().reserve("a test", 0).unwrap()
    }

    #[test]
    fn a_row_stays_while_no_other_centre_can_be_as_near() {
        let centres = [0.0, 10.0];
        // Nothing is known: half the way to the next centre counts.
        let own = look(&centres, 0.0);
        assert!(own.stays(own.known(0), 4.9 * 4.9));
        assert!(!own.stays(own.known(0), 5.0 * 5.0));
        // The second centre was at a distance of 8, of which 8 bits are kept.
        own.remember(1, 0, 4.0, 64.0);
        assert!(own.stays(own.known(1), 7.9 * 7.9));
        assert!(!own.stays(own.known(1), 8.0 * 8.0));
        // Others have moved by 1 before, and by 1 since then.
        let before = look(&centres, 1.0);
        before.remember(1, 0, 4.0, 64.0);
        let (known, after) = (before.known(1), look(&centres, 2.0));
        assert!(after.stays(known, 6.9 * 6.9));
        assert!(!after.stays(known, 7.0 * 7.0));
    }

    #[test]
    fn what_is_too_large_or_no_number_tells_nothing() {
        let own = look(&[0.0, 10.0], 0.0);
        own.remember(0, 0, 1e300, f64::INFINITY);
        assert!(!own.stays(own.known(0), f64::INFINITY));
        assert!(!own.stays(own.known(0), f64::NAN));
        own.remember(0, 1, f64::NAN, f64::NAN);
        assert_eq!(own.known(0).1, 1);
        assert!(!own.stays(own.known(0), 5.0 * 5.0));
    }

    #[test]
    fn centres_follow_the_greatest_way_of_the_others() {
        let rows: Arc<[AtomicU32]> = (0..1).map(|_| AtomicU32::new(0)).collect();
        let mut bounds = Bounds { rows, moved: vec![0.0; 3], _memory: reservation() };
        bounds.follow(&[0.0, 10.0, 20.0], &[3.0, 10.0, 21.0], 1);
        bounds.follow(&[3.0, 10.0, 21.0], &[3.0, 12.0, 21.0], 1);
        for (moved, expected) in bounds.moved.iter().zip([1.0 + 2.0, 3.0, 3.0 + 2.0]) {
            assert!(*moved >= expected && *moved <= expected * (1.0 + 3.0 * ROUNDING), "{moved} for {expected}");
        }
    }
}
