//! Sorting records by a number: radix sort in memory, from the lowest digit up.
//!
//! One pass over the records counts all digits; then every digit that varies costs one pass from one array to the
//! other. Constant bits are skipped at any position, so a key may have holes. The sort is stable. Cost: about two
//! nanoseconds per record and pass while both arrays fit the cache.

use crate::buffer::Plain;

/// The widest digit: 2048 counters of one digit stay in the first-level cache.
const DIGIT_BITS: u32 = 11;
/// Digits that cover 64 bits.
const MAX_DIGITS: usize = 6;

/// A record with a sort key.
pub trait Record: Plain + Copy {
    /// The key.
    fn key(&self) -> u64;
}

impl Record for u64 {
    #[inline(always)]
    fn key(&self) -> u64 {
        *self
    }
}

impl<const WORDS: usize> Record for [u64; WORDS] {
    #[inline(always)]
    fn key(&self) -> u64 {
        self[0]
    }
}

/// Sorts `records` by their keys without the lowest `skip_bits`, with a second array as scratch memory.
///
/// Returns the sorted records, which are in one of the two arrays, and the other array.
///
/// # Panics
/// If the arrays differ in length or have 2^32 records or more.
pub fn radix_sort<'a, R: Record>(
    records: &'a mut [R],
    helper: &'a mut [R],
    skip_bits: u32,
) -> (&'a mut [R], &'a mut [R]) {
    assert!(records.len() == helper.len() && u32::try_from(records.len()).is_ok());
    let Some(first) = records.first().map(Record::key) else { return (records, helper) };
    let varying = records.iter().fold(0, |all, record| all | (record.key() ^ first)) & (u64::MAX << skip_bits);
    let digits = digits(varying);
    let mut counts = [[0u32; 1 << DIGIT_BITS]; MAX_DIGITS];
    for record in records.iter() {
        let key = record.key();
        for (count, digit) in counts.iter_mut().zip(&digits) {
            count[digit.of(key)] += 1;
        }
    }
    let (mut from, mut to) = (records, helper);
    for (count, digit) in counts.iter_mut().zip(&digits) {
        let mut start = 0;
        for slot in count.iter_mut() {
            start += std::mem::replace(slot, start);
        }
        for record in from.iter() {
            let place = &mut count[digit.of(record.key())];
            to[*place as usize] = *record;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    (from, to)
}

struct Digit {
    shift: u32,
    mask: u64,
}

impl Digit {
    #[inline(always)]
    fn of(&self, key: u64) -> usize {
        (key >> self.shift & self.mask) as usize & ((1 << DIGIT_BITS) - 1)
    }
}

/// Digits that cover all varying bits, with the fewest passes and then the fewest bits per digit.
fn digits(varying: u64) -> Vec<Digit> {
    let cover = |width: u32| {
        let mut digits = Vec::new();
        let mut rest = varying;
        while rest != 0 {
            let shift = rest.trailing_zeros();
            let mask = (1u64 << width) - 1;
            digits.push(Digit { shift, mask });
            rest &= !(mask << shift);
        }
        digits
    };
    let widest = cover(DIGIT_BITS);
    let narrow = (1..DIGIT_BITS).map(cover).find(|digits| digits.len() == widest.len());
    narrow.unwrap_or(widest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_sorted_and_stable() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        for mask in [0, 1, 0xff, u64::MAX, 0x00ff_ff00_0fff_ff00, 1 << 63 | 1, 0xffff_f000_0000_0000] {
            for len in [0, 1, 2, 100, 5000] {
                for skip_bits in [0, 8] {
                    let mut records: Vec<[u64; 3]> = (0..len).map(|i| [random() & mask, random(), i]).collect();
                    let mut expected = records.clone();
                    expected.sort_by_key(|record| record[0] >> skip_bits);
                    let mut helper = vec![[0; 3]; records.len()];
                    let (sorted, _) = radix_sort(&mut records, &mut helper, skip_bits);
                    assert_eq!(sorted, expected, "mask {mask:x}, {len} records");
                }
            }
        }
    }
}
