//! Gathering: the sums of the values that the neighbours of lists point at, the inner loop of PageRank.
//!
//! Neighbour `i` of a list goes to lane `i mod 8`; then lanes are added pairwise. The order is fixed, so the sums have
//! the same bits everywhere.
//!
//! A page is gathered as a whole: first the values of all its neighbours, one behind the other, then the sums of the
//! lists. Most lists are short, and the processor mispredicts where they end; in the first loop, which waits for
//! memory, there is nothing to mispredict. Values are asked for some hundred neighbours before they are needed, but for
//! those of the first vertices: in an image in degree order they are the hubs, of which most of what is gathered comes,
//! and they stay near. (`docs/performance.md` has the figures.)
#![allow(unsafe_code)]

use crate::engine::weights::Weights;
use outcore_format::Lists;
use outcore_io::buffer::prefetch;
use outcore_io::{AtomicF32, AtomicF64};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Range;

/// A number that sums gather.
pub trait Gathered: sealed::Sealed + Sync {
    /// The type of a loaded value.
    type Loaded: Loaded;

    /// The number.
    fn loaded(&self) -> Self::Loaded;
}

/// The value of a number that sums gather.
pub trait Loaded: sealed::Sealed + Copy + Into<f64> {
    /// The first of eight numbers that the mask names, in double precision, and zeros.
    ///
    /// # Safety
    /// The processor has AVX-512, and as many numbers as the mask has ones lie at `from`.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    unsafe fn eight(from: *const Self, mask: __mmask8) -> __m512d;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for AtomicF64 {}
impl sealed::Sealed for AtomicF32 {}
impl sealed::Sealed for f64 {}
impl sealed::Sealed for f32 {}

impl Gathered for AtomicF64 {
    type Loaded = f64;

    #[inline(always)]
    fn loaded(&self) -> f64 {
        self.load()
    }
}

impl Gathered for AtomicF32 {
    type Loaded = f32;

    #[inline(always)]
    fn loaded(&self) -> f32 {
        self.load()
    }
}

impl Gathered for f64 {
    type Loaded = f64;

    #[inline(always)]
    fn loaded(&self) -> f64 {
        *self
    }
}

impl Loaded for f64 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn eight(from: *const f64, mask: __mmask8) -> __m512d {
        // SAFETY: by the contract of this function.
        unsafe { _mm512_maskz_loadu_pd(mask, from) }
    }
}

impl Loaded for f32 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn eight(from: *const f32, mask: __mmask8) -> __m512d {
        // SAFETY: by the contract of this function.
        unsafe { _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, from)) }
    }
}

/// The lanes that sums are spread over.
const LANES: usize = 8;
/// Prefetch distance in neighbours: few enough to stay in the nearest cache.
const AHEAD: usize = 512;
/// Number of neighbours that are fetched between two looks ahead.
const STEP: usize = 256;
/// Size of the first bytes of the values that are not prefetched: the second-level cache holds them.
#[cfg(target_arch = "x86_64")]
const NEAR_BYTES: usize = 1 << 20;

/// The values of all neighbours of a page, one behind the other.
///
/// # Panics
/// If a neighbour is beyond `values`.
pub fn gather<T: Gathered>(values: &[T], neighbours: &[u32]) -> Vec<T::Loaded> {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the processor has the features.
        return unsafe { x86::wide_fetch(values, neighbours) };
    }
    fetch(values, neighbours, |ahead| ahead.iter().for_each(|&place| prefetch(values, place as usize)))
}

/// Whether the processor has what the wide forms need.
#[cfg(target_arch = "x86_64")]
fn is_wide() -> bool {
    outcore_io::has_simd!(Avx512, "avx512f", "avx512vl", "bmi2")
}

/// The sums of `values[neighbour]` over adjacent lists of a page.
///
/// # Panics
/// If a neighbour is beyond `values`.
pub fn gather_sums<T: Gathered>(values: &[T], lists: &Lists, range: Range<usize>) -> Vec<f64> {
    let ends = &lists.ends[range.start..=range.end];
    let neighbours = &lists.neighbours[ends[0] as usize..ends[range.len()] as usize];
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the processor has the features.
        return unsafe { x86::wide_sums(values, neighbours, ends) };
    }
    plain_sums(values, neighbours, ends)
}

fn plain_sums<T: Gathered>(values: &[T], neighbours: &[u32], ends: &[u32]) -> Vec<f64> {
    let ask = |ahead: &[u32]| ahead.iter().for_each(|&place| prefetch(values, place as usize));
    add(&fetch(values, neighbours, ask), ends, sum)
}

/// The sum of `values[neighbour]` over one list.
///
/// # Panics
/// If a neighbour is beyond `values`.
pub fn gather_sum<T: Gathered>(values: &[T], neighbours: &[u32]) -> f64 {
    sum(&fetch(values, neighbours, |_| ()))
}

/// The sums of `values[neighbour]` times the weight of the edge over adjacent lists of a page.
///
/// # Panics
/// If a neighbour is beyond `values`, or there are no weights.
pub fn gather_weighted_sums<T: Gathered>(
    values: &[T],
    lists: &Lists,
    weights: Weights<'_>,
    range: Range<usize>,
) -> Vec<f64> {
    let list = |i: usize| (lists.list(i), weights.part(lists.ends[i] as usize..lists.ends[i + 1] as usize));
    range.map(list).map(|(neighbours, weights)| gather_weighted_sum(values, neighbours, weights)).collect()
}

/// The sum of `values[neighbour]` times the weight of the edge over one list.
///
/// # Panics
/// If a neighbour is beyond `values`, or there are no weights.
pub fn gather_weighted_sum<T: Gathered>(values: &[T], neighbours: &[u32], weights: Weights<'_>) -> f64 {
    let loaded = fetch(values, neighbours, |ahead| ahead.iter().for_each(|&place| prefetch(values, place as usize)));
    let products: Vec<f64> = (0..).zip(loaded).map(|(i, value)| weights.real(i) * value.into()).collect();
    sum(&products)
}

/// The values of neighbours; `ask` is called with neighbours some time before they are needed.
#[inline(always)]
fn fetch<T: Gathered>(values: &[T], neighbours: &[u32], ask: impl Fn(&[u32])) -> Vec<T::Loaded> {
    let largest = neighbours.iter().fold(0, |largest, &neighbour| largest.max(neighbour));
    assert!(neighbours.is_empty() || (largest as usize) < values.len(), "neighbour {largest} of {}", values.len());
    let mut loaded = Vec::with_capacity(neighbours.len());
    let mut prefetched = 0;
    for (start, step) in (0..).step_by(STEP).zip(neighbours.chunks(STEP)) {
        let until = (start + STEP + AHEAD).min(neighbours.len());
        neighbours[prefetched..until].chunks(STEP).for_each(&ask);
        prefetched = until;
        // SAFETY: no neighbour is above `largest`, which was checked.
        loaded.extend(step.iter().map(|&place| unsafe { values.get_unchecked(place as usize) }.loaded()));
    }
    loaded
}

/// The sums of lists that end where `ends` says after the first.
#[inline(always)]
fn add<V>(mut loaded: &[V], ends: &[u32], sum: impl Fn(&[V]) -> f64) -> Vec<f64> {
    let list = |pair: &[u32]| {
        let (list, rest) = loaded.split_at((pair[1] - pair[0]) as usize);
        loaded = rest;
        sum(list)
    };
    ends.windows(2).map(list).collect()
}

fn sum<V: Copy + Into<f64>>(list: &[V]) -> f64 {
    let mut lanes = [0.0f64; LANES];
    for block in list.chunks(LANES) {
        lanes.iter_mut().zip(block).for_each(|(lane, &value)| *lane += value.into());
    }
    let pairs = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3])
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    /// # Safety
    /// The processor has the features.
    #[target_feature(enable = "avx512f,avx512vl,bmi2,popcnt")]
    pub unsafe fn wide_sums<T: Gathered>(values: &[T], neighbours: &[u32], ends: &[u32]) -> Vec<f64> {
        // SAFETY: the processor has the features.
        let loaded = unsafe { wide_fetch(values, neighbours) };
        // SAFETY: as above.
        add(&loaded, ends, |list| unsafe { wide_sum(list) })
    }

    /// # Safety
    /// The processor has the features.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,bmi2,popcnt")]
    pub unsafe fn wide_fetch<T: Gathered>(values: &[T], neighbours: &[u32]) -> Vec<T::Loaded> {
        // SAFETY: the processor has the features.
        fetch(values, neighbours, |ahead| unsafe { ask_far(values, ahead) })
    }

    /// Asks for the values of at most `STEP` neighbours that are not near.
    #[inline(always)]
    unsafe fn ask_far<T>(values: &[T], neighbours: &[u32]) {
        let mut far = [0u32; STEP + 16];
        let mut count = 0;
        let (blocks, rest) = neighbours.as_chunks::<16>();
        for block in blocks {
            // SAFETY: the processor has the features, and there are no more than `STEP` neighbours.
            unsafe {
                let near = _mm512_set1_epi32((NEAR_BYTES / size_of::<T>()) as i32);
                let places = _mm512_loadu_si512(block.as_ptr().cast());
                let mask = _mm512_cmpge_epu32_mask(places, near);
                let there = far.as_mut_ptr().add(count).cast();
                _mm512_storeu_si512(there, _mm512_maskz_compress_epi32(mask, places));
                count += mask.count_ones() as usize;
            }
        }
        far[..count].iter().chain(rest).for_each(|&place| prefetch(values, place as usize));
    }

    /// As `sum`, eight lanes at once.
    #[inline(always)]
    unsafe fn wide_sum<V: Loaded>(list: &[V]) -> f64 {
        // SAFETY: the processor has the features, and masks name no more than the list has.
        unsafe {
            let mut lanes = _mm512_setzero_pd();
            for block in list.chunks(LANES) {
                let mask = _bzhi_u32(0xff, block.len() as u32) as __mmask8;
                lanes = _mm512_add_pd(lanes, V::eight(block.as_ptr(), mask));
            }
            let four = _mm256_add_pd(_mm512_castpd512_pd256(lanes), _mm512_extractf64x4_pd::<1>(lanes));
            let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(lengths: impl Iterator<Item = u32>) -> Lists {
        let mut lists = Lists { ends: vec![0], ..Lists::default() };
        for length in lengths {
            lists.neighbours.extend((0..length).map(|i| (i * 37 + length) % 1000));
            lists.ends.push(lists.neighbours.len() as u32);
            lists.count += 1;
        }
        lists
    }

    #[test]
    fn sums_are_right_for_every_length_and_the_same_with_and_without_simd() {
        let values: Vec<AtomicF64> = (0..1000).map(|i| AtomicF64::from(f64::from(i * i % 71) / 7.0)).collect();
        let lists = lists((0..100).chain([0, 0, 3]));
        let plain = plain_sums(&values, &lists.neighbours, &lists.ends);
        let all = (0..lists.count).map(|i| lists.list(i));
        let expected: Vec<f64> =
            all.map(|list| list.iter().map(|&neighbour| values[neighbour as usize].load()).sum()).collect();
        for range in [0..lists.count, 3..lists.count - 2, 50..50] {
            let sums = gather_sums(&values, &lists, range.clone());
            assert_eq!(sums, plain[range.clone()]);
            let pairs = sums.iter().zip(&expected[range]);
            assert!(pairs.into_iter().all(|(sum, expected)| (sum - expected).abs() <= 1e-9 * expected));
        }
    }

    #[test]
    #[should_panic(expected = "neighbour")]
    fn a_neighbour_beyond_the_values_is_refused() {
        let values: Vec<AtomicF32> = (0..3).map(|_| AtomicF32::default()).collect();
        let lists = Lists { ends: vec![0, 2], neighbours: vec![1, 3], count: 1, ..Lists::default() };
        gather_sums(&values, &lists, 0..1);
    }
}
