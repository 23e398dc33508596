//! Decoding pages of lists with SIMD: the fast twin of `outcore_format::list::decode`.
//!
//! A block is sixteen integers of one width, so it decodes in a handful of instructions: gather the two words that hold
//! each integer, shift them together, mask. Prefix sums turn lengths into ends and gaps into neighbours in the same
//! registers. There are two forms, AVX-512 and AVX2, over one loop; elsewhere the portable decoder works. All three
//! give the same lists, and refuse the same pages, which the tests hold them to.
//!
//! Lemire and Boytsov, *Decoding billions of integers per second through vectorization*, Softw. Pract. Exper. 2015.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use outcore_format::flags::{BEGINS_EARLIER, ENDS_LATER, PARALLEL, RELATIVE};
use outcore_format::guide::{Mark, decode_lists};
#[cfg(target_arch = "x86_64")]
use outcore_format::list::{LENGTH_BITS, neighbour_error, unfold};
use outcore_format::list::{MAX_LISTS, MAX_NEIGHBOURS, check_vertices, decode as decode_portable};
#[cfg(target_arch = "x86_64")]
use outcore_format::{Error, HEADER_BYTES};
use outcore_format::{Lists, Page, Result, Shape};
use std::ops::Range;

/// The lanes of a block.
const LANES: usize = 16;

type Decode = unsafe fn(&Page<'_>, Shape, &mut Lists, &mut [u32]) -> Result<()>;

/// Decodes pages of lists into buffers that it keeps.
pub struct Decoder {
    lists: Lists,
    firsts: Vec<u32>,
    simd: Option<Decode>,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder { lists: Lists::default(), firsts: Vec::new(), simd: best() }
    }
}

/// The memory that a decoder takes at most.
pub const DECODER_BYTES: u64 = 4 * (2 * MAX_LISTS as u64 + MAX_NEIGHBOURS as u64 + 4 * LANES as u64);

/// Most entries of all lists of a graph that is decoded without SIMD, whose buffers are those of full pages.
const SMALL_ENTRIES: u64 = 1 << 12;

impl Decoder {
    /// A decoder for a graph whose lists have `entries` entries in all.
    pub fn for_entries(entries: u64) -> Self {
        if entries <= SMALL_ENTRIES { Self::portable() } else { Self::default() }
    }

    /// The memory in bytes that a decoder takes, by the entries and vertices of the graph.
    pub fn bytes(entries: u64, vertices: u64) -> u64 {
        match entries <= SMALL_ENTRIES {
            // Vectors double as they grow.
            true => 4 * 2 * (2 * vertices.min(MAX_LISTS as u64) + entries + 4 * LANES as u64),
            false => DECODER_BYTES,
        }
    }

    /// A decoder without SIMD.
    pub fn portable() -> Self {
        Decoder { simd: None, ..Decoder::default() }
    }

    /// A decoder for every way that this processor has, by name.
    pub fn all() -> Vec<(&'static str, Self)> {
        let mut all = vec![("portable", Self::portable())];
        for (name, simd) in ways().into_iter().flatten() {
            all.push((name, Decoder { simd: Some(simd), ..Decoder::default() }));
        }
        all
    }

    /// The page that was decoded last, if it was.
    pub(crate) fn last(&self) -> &Lists {
        &self.lists
    }

    /// Decodes a page.
    ///
    /// # Errors
    /// Lengths, widths or neighbours that do not fit.
    #[inline]
    pub fn decode(&mut self, page: &Page<'_>, shape: Shape) -> Result<&Lists> {
        match self.simd {
            None => decode_portable(page, shape, &mut self.lists)?,
            Some(decode) => {
                check_vertices(page, shape)?;
                self.lists.ends.resize(MAX_LISTS + 1 + LANES, 0);
                self.lists.neighbours.resize(MAX_NEIGHBOURS + LANES, 0);
                self.firsts.resize(MAX_LISTS + LANES, 0);
                // SAFETY: `best` and `ways` give only what this processor has, and the buffers have the sizes asked
                // for.
                unsafe { decode(page, shape, &mut self.lists, &mut self.firsts)? }
            }
        }
        Ok(&self.lists)
    }

    /// Decodes the lists at adjacent places of a page, as if it held no others (`guide` of the format).
    ///
    /// # Errors
    /// Lengths, widths or neighbours that do not fit.
    #[inline]
    pub(crate) fn decode_some(
        &mut self,
        page: &Page<'_>,
        shape: Shape,
        mark: (Mark, usize),
        places: Range<usize>,
    ) -> Result<&Lists> {
        decode_lists(page, shape, mark, places, &mut self.lists)?;
        Ok(&self.lists)
    }
}

fn best() -> Option<Decode> {
    ways().into_iter().flatten().next().map(|(_, decode)| decode)
}

/// A form for vector instructions, by name.
type Way = Option<(&'static str, Decode)>;

#[cfg(target_arch = "x86_64")]
fn ways() -> [Way; 2] {
    let has_avx512 = outcore_io::has_simd!(Avx512, "avx512f", "avx512bw", "avx512vl", "avx512vbmi2", "bmi2", "popcnt");
    let has_avx2 = outcore_io::has_simd!(Avx2, "avx2", "bmi2", "popcnt");
    [has_avx512.then_some(("avx512", x86::decode_avx512)), has_avx2.then_some(("avx2", x86::decode_avx2))]
}

#[cfg(not(target_arch = "x86_64"))]
fn ways() -> [Way; 2] {
    [None; 2]
}

/// Sixteen lanes of 32 bits, and what a block needs of them.
#[cfg(target_arch = "x86_64")]
trait Lanes: Copy {
    /// All lanes `value`.
    unsafe fn splat(value: u32) -> Self;
    /// Sixteen integers of `width_bits` from the 64 bytes at `from`.
    unsafe fn unpack(from: *const u8, width_bits: usize) -> Self;
    /// Lane by lane sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Every lane becomes the sum of itself and those before it.
    unsafe fn prefix_sum(self) -> Self;
    /// All lanes become the last one.
    unsafe fn broadcast_last(self) -> Self;
    /// The larger of both, in the first `count` lanes; `self` in the others.
    unsafe fn max_in(self, other: Self, count: usize) -> Self;
    /// The largest lane.
    unsafe fn greatest(self) -> u32;
    /// Number of the first `count` lanes that are not zero.
    unsafe fn count_nonzero(self, count: usize) -> usize;
    /// Writes sixteen lanes.
    unsafe fn store(self, to: *mut u32);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use std::arch::x86_64::*;

    /// Offset of lane i in a block of width w, in bits.
    static BITS: [[u32; LANES]; 33] = {
        let mut table = [[0; LANES]; 33];
        let mut width = 0;
        while width < 33 {
            let mut lane = 0;
            while lane < LANES {
                table[width][lane] = (width * lane) as u32;
                lane += 1;
            }
            width += 1;
        }
        table
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
    pub unsafe fn decode_avx512(page: &Page<'_>, shape: Shape, out: &mut Lists, firsts: &mut [u32]) -> Result<()> {
        // SAFETY: the features are those that the lanes need.
        unsafe { decode_with::<Wide>(page, shape, out, firsts) }
    }

    #[target_feature(enable = "avx2,bmi2,popcnt")]
    pub unsafe fn decode_avx2(page: &Page<'_>, shape: Shape, out: &mut Lists, firsts: &mut [u32]) -> Result<()> {
        // SAFETY: the features are those that the lanes need.
        unsafe { decode_with::<Pair>(page, shape, out, firsts) }
    }

    /// One register of AVX-512.
    #[derive(Clone, Copy)]
    struct Wide(__m512i);

    // SAFETY (all of it): only called from functions that enable the features; pointers are as the trait says.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Lanes for Wide {
        #[inline(always)]
        unsafe fn splat(value: u32) -> Self {
            unsafe { Wide(_mm512_set1_epi32(value as i32)) }
        }

        #[inline(always)]
        unsafe fn unpack(from: *const u8, width_bits: usize) -> Self {
            unsafe {
                let bytes = _mm512_loadu_si512(from.cast());
                let bits = _mm512_loadu_si512(BITS[width_bits].as_ptr().cast());
                let word = _mm512_srli_epi32::<5>(bits);
                let low = _mm512_permutexvar_epi32(word, bytes);
                let high = _mm512_permutexvar_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(1)), bytes);
                let value = _mm512_shrdv_epi32(low, high, bits);
                // Shifting a 64-bit one keeps width 32 free of a special case.
                let mask = _mm512_set1_epi32(((1u64 << width_bits) - 1) as i32);
                Wide(_mm512_and_si512(value, mask))
            }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { Wide(_mm512_add_epi32(self.0, other.0)) }
        }

        #[inline(always)]
        unsafe fn prefix_sum(self) -> Self {
            unsafe {
                let zero = _mm512_setzero_si512();
                let mut x = self.0;
                x = _mm512_add_epi32(x, _mm512_alignr_epi32::<15>(x, zero));
                x = _mm512_add_epi32(x, _mm512_alignr_epi32::<14>(x, zero));
                x = _mm512_add_epi32(x, _mm512_alignr_epi32::<12>(x, zero));
                x = _mm512_add_epi32(x, _mm512_alignr_epi32::<8>(x, zero));
                Wide(x)
            }
        }

        #[inline(always)]
        unsafe fn broadcast_last(self) -> Self {
            unsafe { Wide(_mm512_permutexvar_epi32(_mm512_set1_epi32(15), self.0)) }
        }

        #[inline(always)]
        unsafe fn max_in(self, other: Self, count: usize) -> Self {
            unsafe {
                let mask = _bzhi_u32(0xffff, count as u32) as u16;
                Wide(_mm512_mask_max_epu32(self.0, mask, self.0, other.0))
            }
        }

        #[inline(always)]
        unsafe fn greatest(self) -> u32 {
            unsafe { _mm512_reduce_max_epu32(self.0) }
        }

        #[inline(always)]
        unsafe fn count_nonzero(self, count: usize) -> usize {
            unsafe {
                let mask = _bzhi_u32(0xffff, count as u32) as u16;
                (_mm512_test_epi32_mask(self.0, self.0) & mask).count_ones() as usize
            }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u32) {
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }
    }

    /// Two registers of AVX2.
    #[derive(Clone, Copy)]
    struct Pair(__m256i, __m256i);

    #[inline(always)]
    unsafe fn unpack_eight(from: *const u8, width_bits: usize, mask: __m256i) -> __m256i {
        // SAFETY: called with AVX2 enabled, and 32 bytes are readable at `from`.
        unsafe {
            let bytes = _mm256_loadu_si256(from.cast());
            let bits = _mm256_loadu_si256(BITS[width_bits].as_ptr().cast());
            let word = _mm256_srli_epi32::<5>(bits);
            let shift = _mm256_and_si256(bits, _mm256_set1_epi32(31));
            let low = _mm256_permutevar8x32_epi32(bytes, word);
            let high = _mm256_permutevar8x32_epi32(bytes, _mm256_add_epi32(word, _mm256_set1_epi32(1)));
            let low = _mm256_srlv_epi32(low, shift);
            let high = _mm256_sllv_epi32(high, _mm256_sub_epi32(_mm256_set1_epi32(32), shift));
            _mm256_and_si256(_mm256_or_si256(low, high), mask)
        }
    }

    #[inline(always)]
    unsafe fn prefix_sum_eight(x: __m256i) -> __m256i {
        // SAFETY: called with AVX2 enabled.
        unsafe {
            let x = _mm256_add_epi32(x, _mm256_slli_si256::<4>(x));
            let x = _mm256_add_epi32(x, _mm256_slli_si256::<8>(x));
            // Lane 3 is the sum of the lower half: add it to the upper one.
            let lower = _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(3));
            _mm256_add_epi32(x, _mm256_blend_epi32::<0xf0>(_mm256_setzero_si256(), lower))
        }
    }

    /// Ones in the first `count` of eight lanes.
    #[inline(always)]
    unsafe fn first_lanes(count: usize) -> __m256i {
        // SAFETY: called with AVX2 enabled.
        unsafe {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes)
        }
    }

    // SAFETY (all of it): only called from functions that enable the features; pointers are as the trait says.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Lanes for Pair {
        #[inline(always)]
        unsafe fn splat(value: u32) -> Self {
            unsafe { Pair(_mm256_set1_epi32(value as i32), _mm256_set1_epi32(value as i32)) }
        }

        #[inline(always)]
        unsafe fn unpack(from: *const u8, width_bits: usize) -> Self {
            unsafe {
                let mask = _mm256_set1_epi32(((1u64 << width_bits) - 1) as i32);
                // Eight integers of w bits are w bytes.
                Pair(unpack_eight(from, width_bits, mask), unpack_eight(from.add(width_bits), width_bits, mask))
            }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { Pair(_mm256_add_epi32(self.0, other.0), _mm256_add_epi32(self.1, other.1)) }
        }

        #[inline(always)]
        unsafe fn prefix_sum(self) -> Self {
            unsafe {
                let first = prefix_sum_eight(self.0);
                let second = prefix_sum_eight(self.1);
                let carry = _mm256_permutevar8x32_epi32(first, _mm256_set1_epi32(7));
                Pair(first, _mm256_add_epi32(second, carry))
            }
        }

        #[inline(always)]
        unsafe fn broadcast_last(self) -> Self {
            unsafe {
                let last = _mm256_permutevar8x32_epi32(self.1, _mm256_set1_epi32(7));
                Pair(last, last)
            }
        }

        #[inline(always)]
        unsafe fn max_in(self, other: Self, count: usize) -> Self {
            unsafe {
                let first = _mm256_and_si256(other.0, first_lanes(count));
                let second = _mm256_and_si256(other.1, first_lanes(count.saturating_sub(8)));
                Pair(_mm256_max_epu32(self.0, first), _mm256_max_epu32(self.1, second))
            }
        }

        #[inline(always)]
        unsafe fn greatest(self) -> u32 {
            unsafe {
                let both = _mm256_max_epu32(self.0, self.1);
                let four = _mm_max_epu32(_mm256_castsi256_si128(both), _mm256_extracti128_si256::<1>(both));
                let two = _mm_max_epu32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
                let one = _mm_max_epu32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
                _mm_cvtsi128_si32(one) as u32
            }
        }

        #[inline(always)]
        unsafe fn count_nonzero(self, count: usize) -> usize {
            unsafe {
                let zero = _mm256_setzero_si256();
                let first = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(self.0, zero))) as u32;
                let second = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(self.1, zero))) as u32;
                _bzhi_u32(!(first | second << 8), count as u32).count_ones() as usize
            }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u32) {
            unsafe {
                _mm256_storeu_si256(to.cast(), self.0);
                _mm256_storeu_si256(to.add(8).cast(), self.1);
            }
        }
    }
}

/// A place in a page, from which blocks are read.
#[cfg(target_arch = "x86_64")]
struct Cursor<'a> {
    page: &'a [u8; 4096],
    at: usize,
    end: usize,
}

#[cfg(target_arch = "x86_64")]
impl Cursor<'_> {
    /// The next block, of `count` integers.
    #[inline(always)]
    unsafe fn block<L: Lanes>(&mut self, count: usize, max_width_bits: u32) -> Result<L> {
        if self.at >= self.end {
            return Err(self.bad("a block", "the end of a section"));
        }
        let width_bits = u32::from(self.page[self.at & 4095]);
        let next = self.at + 1 + (count * width_bits as usize).div_ceil(8);
        if width_bits > max_width_bits || next > self.end {
            return Err(self.bad("a block that fits its section", &format!("{count} values of {width_bits} bits")));
        }
        let data = self.at + 1;
        self.at = next;
        // SAFETY: 64 bytes are readable, in the page or in the copy of its end.
        unsafe {
            if data + 64 <= self.page.len() {
                return Ok(L::unpack(self.page.as_ptr().add(data), width_bits as usize));
            }
            let mut copy = [0u8; 64];
            let rest = &self.page[data..];
            copy[..rest.len()].copy_from_slice(rest);
            Ok(L::unpack(copy.as_ptr(), width_bits as usize))
        }
    }

    #[cold]
    fn bad(&self, expected: &str, found: &str) -> Error {
        Error::new(self.at as u64, expected, found)
    }

    fn finish(&self) -> Result<()> {
        if self.at == self.end {
            return Ok(());
        }
        Err(self.bad("the end of a section", &format!("{} more bytes", self.end - self.at)))
    }
}

/// Decodes a page. The buffers are as long as `Decoder::decode` makes them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn decode_with<L: Lanes>(page: &Page<'_>, shape: Shape, out: &mut Lists, firsts: &mut [u32]) -> Result<()> {
    let count = page.count();
    out.first_vertex = page.first();
    out.offset = page.base();
    out.begins_earlier = page.flags() & BEGINS_EARLIER != 0;
    out.ends_later = page.flags() & ENDS_LATER != 0;
    out.count = count;
    if count > MAX_LISTS {
        return Err(Error::new(6, format!("at most {MAX_LISTS} lists"), count.to_string()));
    }
    // SAFETY: every store of sixteen lanes begins within `count`, `filled` or the checked number of neighbours, and the
    // buffers are sixteen lanes longer than the largest of those.
    unsafe {
        let filled = decode_ends::<L>(page, &mut out.ends)?;
        out.check_parts()?;
        decode_firsts::<L>(page, filled, firsts)?;
        decode_gaps::<L>(page, shape, out, firsts)
    }
}

/// Turns lengths into ends; returns how many lists are not empty.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn decode_ends<L: Lanes>(page: &Page<'_>, ends: &mut [u32]) -> Result<usize> {
    let count = page.count();
    let mut cursor = Cursor { page: page.bytes(), at: HEADER_BYTES, end: page.section_end(0) };
    let mut filled = 0;
    ends[0] = 0;
    // SAFETY: see `decode_with`.
    unsafe {
        let mut carry = L::splat(0);
        let mut done = 0;
        while done < count {
            let take = (count - done).min(LANES);
            let lengths = cursor.block::<L>(take, LENGTH_BITS)?;
            filled += lengths.count_nonzero(take);
            let sums = lengths.prefix_sum().add(carry);
            sums.store(ends.as_mut_ptr().add(done + 1));
            // A block adds less than 2^21, so sums are found too large before they wrap.
            if ends[done + take] as usize > MAX_NEIGHBOURS {
                let found = format!("{} in {} lists", ends[done + take], done + take);
                return Err(cursor.bad(&format!("at most {MAX_NEIGHBOURS} neighbours"), &found));
            }
            carry = sums.broadcast_last();
            done += take;
        }
    }
    cursor.finish()?;
    Ok(filled)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn decode_firsts<L: Lanes>(page: &Page<'_>, filled: usize, firsts: &mut [u32]) -> Result<()> {
    let mut cursor = Cursor { page: page.bytes(), at: page.section_end(0), end: page.section_end(1) };
    let mut done = 0;
    while done < filled {
        let take = (filled - done).min(LANES);
        // SAFETY: see `decode_with`.
        unsafe { cursor.block::<L>(take, 32)?.store(firsts.as_mut_ptr().add(done)) };
        done += take;
    }
    cursor.finish()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn decode_gaps<L: Lanes>(page: &Page<'_>, shape: Shape, out: &mut Lists, firsts: &[u32]) -> Result<()> {
    let mut cursor = Cursor { page: page.bytes(), at: page.section_end(1), end: page.section_end(2) };
    let relative = page.flags() & RELATIVE != 0;
    let (ends, neighbours) = (&out.ends[..=out.count], &mut out.neighbours);
    let mut next_first = firsts.iter();
    let mut vertex = out.first_vertex as u32;
    let mut largest_first = 0;
    // SAFETY: see `decode_with`.
    unsafe {
        let step = L::splat(u32::from(page.flags() & PARALLEL == 0));
        let mut largest = L::splat(0);
        for pair in ends.windows(2) {
            let (mut at, end) = (pair[0] as usize, pair[1] as usize);
            if at < end {
                let stored = next_first.next().copied().unwrap_or(0);
                let first = if relative { unfold(stored, vertex) } else { stored };
                largest_first = largest_first.max(first);
                *neighbours.get_unchecked_mut(at) = first;
                at += 1;
                let mut carry = L::splat(first);
                while at < end {
                    let take = (end - at).min(LANES);
                    let gaps = cursor.block::<L>(take, 32)?;
                    let block = gaps.add(step).prefix_sum().add(carry);
                    block.store(neighbours.as_mut_ptr().add(at));
                    largest = largest.max_in(block, take);
                    carry = block.broadcast_last();
                    at += take;
                }
            }
            vertex = vertex.wrapping_add(1);
        }
        cursor.finish()?;
        let largest = largest.greatest().max(largest_first);
        if out.ends[out.count] > 0 && u64::from(largest) >= shape.vertices {
            return Err(neighbour_error(largest, shape));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_format::{Kind, ListWriter, Origin};
    use outcore_testkit::random;

    // Miri takes a thousand times as long.
    const LISTS: u64 = if cfg!(miri) { 60 } else { 3000 };
    const BAD_PAGES: usize = if cfg!(miri) { 100 } else { 30_000 };
    const ORIGIN: Origin = Origin { image_id: 5, kind: Kind::OutLists, file: 0 };

    fn pages(state: &mut u64, vertices: u64, parallel: bool) -> Vec<Box<[u8; 4096]>> {
        let mut pages = Vec::new();
        let mut writer = ListWriter::new(ORIGIN, parallel, 0, 0, 0);
        for _ in 0..vertices {
            let length = match random(state) % 10 {
                0..3 => 0,
                3..8 => random(state) % 40,
                8 => random(state) % 3000,
                _ => 1,
            };
            let near = random(state) % vertices;
            let mut list: Vec<u32> =
                (0..length)
                    .map(|i| {
                        if i % 3 == 0 {
                            random(state) % vertices
                        } else {
                            (near + random(state) % 50).min(vertices - 1)
                        }
                    })
                    .map(|neighbour| neighbour as u32)
                    .collect();
            list.sort_unstable();
            if !parallel {
                list.dedup();
            }
            writer.push(&list, |_, page| pages.push(Box::new(*page)));
        }
        writer.finish(|_, page| pages.push(Box::new(*page)));
        pages
    }

    fn same(a: &Lists, b: &Lists) {
        assert_eq!((a.first_vertex, a.offset, a.count), (b.first_vertex, b.offset, b.count));
        assert_eq!((a.begins_earlier, a.ends_later), (b.begins_earlier, b.ends_later));
        assert_eq!(a.ends[..=a.count], b.ends[..=b.count]);
        assert_eq!(a.neighbours[..a.edges()], b.neighbours[..b.edges()]);
    }

    #[test]
    fn all_decoders_agree_on_good_pages() {
        let mut state = 1;
        for (vertices, parallel) in [(1u64, false), (300, true), (5000, false), (u64::from(u32::MAX) / 4, false)] {
            let shape = Shape { vertices, parallel };
            for bytes in pages(&mut state, vertices.min(LISTS), parallel) {
                let page = ORIGIN.trust(&bytes).unwrap();
                let mut reference = Decoder::portable();
                let reference = reference.decode(&page, shape).unwrap();
                for (_, mut decoder) in Decoder::all() {
                    same(reference, decoder.decode(&page, shape).unwrap());
                }
            }
        }
    }

    #[test]
    fn all_decoders_refuse_empty_parts_of_lists() {
        let shape = Shape { vertices: 3, parallel: false };
        // The lists are {}, {0, 2} and {}: the outer ones are empty, so neither may be a part of a list.
        let mut pages = Vec::new();
        let mut writer = ListWriter::new(ORIGIN, false, 0, 0, 0);
        [&[][..], &[0, 2], &[]].iter().for_each(|list| writer.push(list, |_, _| ()));
        writer.finish(|_, page| pages.push(*page));
        for (flags, right) in
            [(0, true), (BEGINS_EARLIER, false), (ENDS_LATER, false), (BEGINS_EARLIER | ENDS_LATER, false)]
        {
            let mut bytes = pages[0];
            bytes[5] |= flags;
            for (name, mut decoder) in Decoder::all() {
                let decoded = decoder.decode(&ORIGIN.trust(&bytes).unwrap(), shape);
                assert_eq!(decoded.is_ok(), right, "{name}, flags {flags}");
            }
        }
        // A page without any list has none that goes on.
        let mut bytes = pages[0];
        bytes[6..8].fill(0);
        (24..30).step_by(2).for_each(|at| bytes[at..at + 2].copy_from_slice(&32u16.to_le_bytes()));
        for (name, mut decoder) in Decoder::all() {
            assert!(decoder.decode(&ORIGIN.trust(&bytes).unwrap(), shape).is_ok(), "{name}");
            bytes[5] |= ENDS_LATER;
            assert!(decoder.decode(&ORIGIN.trust(&bytes).unwrap(), shape).is_err(), "{name}");
            bytes[5] &= !ENDS_LATER;
        }
    }

    #[test]
    fn all_decoders_refuse_the_same_pages() {
        let mut state = 2;
        let shape = Shape { vertices: LISTS, parallel: false };
        let pages = pages(&mut state, LISTS, false);
        let mut decoders = Decoder::all();
        let mut refused = 0;
        for _ in 0..BAD_PAGES {
            let mut bad = pages[random(&mut state) as usize % pages.len()].clone();
            for _ in 0..1 + random(&mut state) % 3 {
                let reach = [28, 300, 4092][random(&mut state) as usize % 3];
                bad[4 + random(&mut state) as usize % reach] = random(&mut state) as u8;
            }
            let Ok(page) = ORIGIN.trust(&bad) else { continue };
            let (reference, others) = decoders.split_first_mut().unwrap();
            let expected = reference.1.decode(&page, shape);
            for (name, decoder) in others {
                match (&expected, decoder.decode(&page, shape)) {
                    (Ok(expected), Ok(found)) => same(expected, found),
                    (Err(_), Err(_)) => refused += 1,
                    (expected, found) => panic!("{name}: {:?} but portable {:?}", found.is_ok(), expected.is_ok()),
                }
            }
        }
        assert!(refused > BAD_PAGES / 30, "{refused}");
    }
}
