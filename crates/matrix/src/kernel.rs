//! The inner loop: rows of a dense matrix, picked by the entries of a list and added up.
//!
//! *Order.* Of the terms of a list, or of the part of one that a page holds, term `i` of as many whole blocks of eight
//! as there are goes to lane `i mod 8`; then lanes are added pairwise, and what is left of the terms one after the
//! other. It is the same for every number of columns: so a product has the same bits whether it is computed column by
//! column or all at once. Nor do the bits depend on the processor: a product and a sum are rounded apart.
//!
//! *Complex numbers.* A complex column is two adjacent real ones. The four products of a term are rounded, and so are
//! their difference, the real part, and their sum, the imaginary part. Both parts go to the same lane.
//!
//! *Memory.* What lists pick is asked for some entries ahead, over the ends of lists. Terms of a single column are
//! fetched for a page as a whole, as PageRank does it (`graph/src/engine/gather.rs`).
#![allow(unsafe_code)]

use crate::semiring::Rules;
use outcore_format::WeightKind;
use outcore_graph::{Weights, gather};
use outcore_io::buffer::prefetch;
use std::ops::Range;

/// The lanes that terms are spread over.
const LANES: usize = 8;
/// Distance of prefetches ahead of the terms, in cache lines.
const AHEAD_LINES: usize = 64;
/// Numbers of a cache line.
const LINE: usize = 8;

/// A dense matrix in row-major order whose rows lists pick.
#[derive(Clone, Copy)]
pub(crate) struct Picked<'a, const W: usize> {
    pub rows: &'a [[f64; W]],
    /// The neighbour that picks the first row.
    pub base: u32,
}

impl<const W: usize> Picked<'_, W> {
    #[inline(always)]
    fn ask(&self, neighbour: u32) {
        let (numbers, place) = (self.rows.as_flattened(), (neighbour - self.base) as usize * W);
        (0..W).step_by(LINE).for_each(|column| prefetch(numbers, place + column));
    }

    /// Elements of a single column that neighbours select.
    fn fetch(&self, neighbours: &[u32]) -> Vec<f64> {
        match self.base {
            0 => gather(self.rows.as_flattened(), neighbours),
            base => {
                let moved: Vec<u32> = neighbours.iter().map(|&neighbour| neighbour - base).collect();
                gather(self.rows.as_flattened(), &moved)
            }
        }
    }

    /// The sum over some entries, for `G` columns from `from` on.
    #[inline(always)]
    fn total<S: Rules, E: Entries, const G: usize>(
        &self,
        neighbours: &[u32],
        range: Range<usize>,
        values: E,
        from: usize,
    ) -> [f64; G] {
        let neighbours = &neighbours[range.clone()];
        total::<S, G>(neighbours.len(), |i| {
            let row = &self.rows[(neighbours[i] - self.base) as usize][from..from + G];
            values.terms::<S, G>(range.start + i, row.try_into().expect("as many as are asked for"))
        })
    }
}

/// The values of adjacent entries.
trait Entries: Copy {
    /// The value of an entry that is not complex.
    fn value(self, i: usize) -> f64;

    /// The terms of an entry, for the row that it picks.
    #[inline(always)]
    fn terms<S: Rules, const G: usize>(self, i: usize, row: &[f64; G]) -> [f64; G] {
        let value = self.value(i);
        std::array::from_fn(|column| S::multiply(value, row[column]))
    }
}

#[derive(Clone, Copy)]
struct Ones;

impl Entries for Ones {
    #[inline(always)]
    fn value(self, _i: usize) -> f64 {
        1.0
    }
}

#[derive(Clone, Copy)]
struct Whole<'a>(&'a [u64]);

impl Entries for Whole<'_> {
    #[inline(always)]
    fn value(self, i: usize) -> f64 {
        self.0[i] as i64 as f64
    }
}

#[derive(Clone, Copy)]
struct Real<'a>(&'a [u64]);

impl Entries for Real<'_> {
    #[inline(always)]
    fn value(self, i: usize) -> f64 {
        f64::from_bits(self.0[i])
    }
}

/// Complex values, or their conjugates.
#[derive(Clone, Copy)]
struct Complex<'a, const CONJUGATE: bool> {
    real: &'a [u64],
    imaginary: &'a [u64],
}

impl<const CONJUGATE: bool> Entries for Complex<'_, CONJUGATE> {
    #[inline(always)]
    fn value(self, i: usize) -> f64 {
        f64::from_bits(self.real[i])
    }

    #[inline(always)]
    fn terms<S: Rules, const G: usize>(self, i: usize, row: &[f64; G]) -> [f64; G] {
        let (real, imaginary) = (self.value(i), f64::from_bits(self.imaginary[i]));
        let imaginary = if CONJUGATE { -imaginary } else { imaginary };
        let mut terms = [0.0; G];
        for ([to_real, to_imaginary], [x, y]) in terms.as_chunks_mut().0.iter_mut().zip(row.as_chunks().0) {
            *to_real = real * x - imaginary * y;
            *to_imaginary = real * y + imaginary * x;
        }
        terms
    }
}

/// Meaning of the columns of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// Each is a column of the matrix.
    Real,
    /// Two columns are the parts of a complex one, as are values of entries.
    Complex,
    /// As above, and the conjugates of the values count.
    Conjugate,
}

/// Adds up adjacent lists, whose neighbours end where `ends` says after the first, and hands each its number and row of
/// sums. Entries without values count as 1.
///
/// `finish` is of one type for a semiring and a width, or the loops are compiled again.
///
/// # Panics
/// If a neighbour picks no row.
pub(crate) fn add_lists<S: Rules, const W: usize>(
    picked: Picked<'_, W>,
    neighbours: &[u32],
    ends: &[u32],
    values: Weights<'_>,
    parts: Parts,
    finish: impl FnMut(usize, &[f64; W]),
) {
    // A complex column is two, and other semirings have no complex numbers.
    if const { S::HAS_COMPLEX && W.is_multiple_of(2) } && parts != Parts::Real {
        let (real, imaginary) = (values.bits(), values.imaginary_bits());
        return match parts {
            Parts::Conjugate => {
                dispatch::<S, _, W>(picked, neighbours, ends, Complex::<'_, true> { real, imaginary }, finish)
            }
            _ => dispatch::<S, _, W>(picked, neighbours, ends, Complex::<'_, false> { real, imaginary }, finish),
        };
    }
    match (values.is_empty(), values.kind()) {
        (true, _) => dispatch::<S, _, W>(picked, neighbours, ends, Ones, finish),
        (false, WeightKind::I64) => dispatch::<S, _, W>(picked, neighbours, ends, Whole(values.bits()), finish),
        (false, WeightKind::F64) => dispatch::<S, _, W>(picked, neighbours, ends, Real(values.bits()), finish),
    }
}

#[inline(always)]
fn dispatch<S: Rules, E: Entries, const W: usize>(
    picked: Picked<'_, W>,
    neighbours: &[u32],
    ends: &[u32],
    values: E,
    finish: impl FnMut(usize, &[f64; W]),
) {
    #[cfg(target_arch = "x86_64")]
    {
        if (W == 1 || W >= 8) && outcore_io::has_simd!(Avx512, "avx512f") {
            // SAFETY: the processor has the feature.
            return unsafe { with_avx512::<S, E, W>(picked, neighbours, ends, values, finish) };
        }
        if (W == 1 || W >= 4) && outcore_io::has_simd!(Avx2, "avx") {
            // SAFETY: as above.
            return unsafe { with_avx::<S, E, W>(picked, neighbours, ends, values, finish) };
        }
    }
    add::<S, E, W>(picked, neighbours, ends, values, finish);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn with_avx512<S: Rules, E: Entries, const W: usize>(
    picked: Picked<'_, W>,
    neighbours: &[u32],
    ends: &[u32],
    values: E,
    finish: impl FnMut(usize, &[f64; W]),
) {
    add::<S, E, W>(picked, neighbours, ends, values, finish);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn with_avx<S: Rules, E: Entries, const W: usize>(
    picked: Picked<'_, W>,
    neighbours: &[u32],
    ends: &[u32],
    values: E,
    finish: impl FnMut(usize, &[f64; W]),
) {
    add::<S, E, W>(picked, neighbours, ends, values, finish);
}

#[inline(always)]
fn add<S: Rules, E: Entries, const W: usize>(
    picked: Picked<'_, W>,
    neighbours: &[u32],
    ends: &[u32],
    values: E,
    mut finish: impl FnMut(usize, &[f64; W]),
) {
    let first = ends[0] as usize;
    let lists = ends.windows(2).map(|pair| pair[0] as usize - first..pair[1] as usize - first).enumerate();
    if W == 1 {
        let mut terms = picked.fetch(neighbours);
        (0..).zip(&mut terms).for_each(|(i, term)| *term = S::multiply(values.value(i), *term));
        for (list, range) in lists {
            finish(list, &[column_total::<S>(&terms[range]); W]);
        }
        return;
    }
    let ahead = AHEAD_LINES / W.div_ceil(LINE);
    neighbours.iter().take(ahead).for_each(|&neighbour| picked.ask(neighbour));
    for (list, range) in lists {
        for &neighbour in neighbours.get(range.start + ahead..).into_iter().flatten().take(range.len()) {
            picked.ask(neighbour);
        }
        let mut sums = [S::ZERO; W];
        // Columns are processed in groups whose lanes fit the registers.
        let (groups, rest) = sums.as_chunks_mut::<LINE>();
        for (group, sums) in groups.iter_mut().enumerate() {
            *sums = picked.total::<S, E, LINE>(neighbours, range.clone(), values, group * LINE);
        }
        match rest.len() {
            0 => {}
            2 => rest.copy_from_slice(&picked.total::<S, E, 2>(neighbours, range, values, 0)),
            _ => rest.copy_from_slice(&picked.total::<S, E, 4>(neighbours, range, values, 0)),
        }
        finish(list, &sums);
    }
}

/// The sum of this number of terms, for some columns.
///
/// Loops here are plain ones: the compiler may leave an iterator's function out of line, and then it is one for every
/// processor, without the instructions of this one.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn total<S: Rules, const G: usize>(count: usize, term: impl Fn(usize) -> [f64; G]) -> [f64; G] {
    let blocks = count / LANES;
    let mut sum = [S::ZERO; G];
    if blocks > 0 {
        let mut lanes = [[0.0; G]; LANES];
        for lane in 0..LANES {
            lanes[lane] = term(lane);
        }
        for block in 1..blocks {
            for lane in 0..LANES {
                add_terms::<S, G>(&mut lanes[lane], term(block * LANES + lane));
            }
        }
        for half in [4, 2, 1] {
            for lane in 0..half {
                let other = lanes[lane + half];
                add_terms::<S, G>(&mut lanes[lane], other);
            }
        }
        sum = lanes[0];
    }
    for i in blocks * LANES..count {
        add_terms::<S, G>(&mut sum, term(i));
    }
    sum
}

/// The sum of a single column, whose lanes are adjacent.
#[inline(always)]
fn column_total<S: Rules>(terms: &[f64]) -> f64 {
    let (blocks, rest) = terms.as_chunks::<LANES>();
    let mut sum = [S::ZERO];
    if let Some((first, blocks)) = blocks.split_first() {
        let mut lanes = *first;
        for block in blocks {
            add_terms::<S, LANES>(&mut lanes, *block);
        }
        for half in [4, 2, 1] {
            for lane in 0..half {
                lanes[lane] = S::add(lanes[lane], lanes[lane + half]);
            }
        }
        sum = [lanes[0]];
    }
    for term in rest {
        add_terms::<S, 1>(&mut sum, [*term]);
    }
    sum[0]
}

#[inline(always)]
fn add_terms<S: Rules, const G: usize>(sums: &mut [f64; G], terms: [f64; G]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum = S::add(*sum, term);
    }
}
