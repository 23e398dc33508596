//! The page index: finds the page of a vertex, in about nine bits per page.
//!
//! The index is the rising sequence of the pages' first keys (twice the first vertex, plus one where the page's first
//! list began earlier), in the code of Elias and Fano: the low bits of every key as they are, the high bits as gaps in
//! unary. Column files have one too, of first ordinals.
//!
//! ```text
//!    0  magic       8 bytes  "OCINDEX1"
//!    8  checksum    u32      crc32c of all bytes after it, seeded with image id, kind and file
//!   12  low_bits    u32      bits per key in the low part: the most with 2^low_bits <= last / count
//!   16  count       u64      number of keys, one per page
//!   24  last        u64      the last key (0 if there is none)
//!   32  low part    u64 x ceil(count low_bits / 64)
//!       high part   u64 x ceil((count + (last >> low_bits) + 1) / 64)
//! ```
//!
//! Keys have one encoding: a reader refuses any other number of low bits, bits that are set behind the low part's last
//! key, and high bits above `last >> low_bits`.
//!
//! Example: keys 3, 4, 9 with low_bits 1 have low bits 1, 0, 1 and high parts 1, 2, 4: the unary gaps are 01, 01, 001.
//!
//! Elias, *Efficient storage and retrieval by content and address of static files*, J. ACM 1974; Vigna, *Quasi-succinct
//! indices*, WSDM 2013.

use crate::error::{Error, Result};
use crate::page::{Origin, read_u32, read_u64};

const MAGIC: &[u8; 8] = b"OCINDEX1";
const HEADER_BYTES: usize = 32;
/// Distance of the ones and zeros of the high part whose positions are sampled.
const SAMPLE: u64 = 256;

/// A rising sequence of keys, one per page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Index {
    count: u64,
    last: u64,
    low_bits: u32,
    low: Vec<u64>,
    high: Vec<u64>,
    /// Position in `high` of every `SAMPLE`-th one.
    ones: Vec<u64>,
    /// Position in `high` of every `SAMPLE`-th zero.
    zeros: Vec<u64>,
}

impl Index {
    /// Number of keys.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether the index has no keys.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Memory of the index in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let words = [&self.low, &self.high, &self.ones, &self.zeros].map(Vec::capacity);
        8 * words.iter().sum::<usize>() as u64
    }

    /// The most bytes of memory that an index of `count` keys takes beyond the size of its file: its samples. The high
    /// part has a one per key, and at most two zeros and what remains of a word.
    pub fn most_samples_bytes(count: u64) -> u64 {
        (count.saturating_mul(3) / SAMPLE).saturating_add(3).saturating_mul(8)
    }

    /// The last key; 0 if there is none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Key `i`.
    pub fn get(&self, i: u64) -> u64 {
        debug_assert!(i < self.count);
        (self.select_one(i) - i) << self.low_bits | self.get_low(i)
    }

    /// The last place whose key is at most `key`.
    pub fn last_at_most(&self, key: u64) -> Option<u64> {
        if self.count == 0 || key >= self.last {
            return self.count.checked_sub(1);
        }
        self.first_above(key, key >> self.low_bits).checked_sub(1)
    }

    /// The last place whose key is at most `key`, and the keys behind it.
    pub fn seek(&self, key: u64) -> Option<(u64, Keys<'_>)> {
        let none_behind = Keys { index: self, next: self.count, bit: 0 };
        if self.count == 0 || key >= self.last {
            return Some((self.count.checked_sub(1)?, none_behind));
        }
        let part = key >> self.low_bits;
        let next = self.first_above(key, part);
        // The ones up to `next` and the zeros up to `part` precede the key of the search.
        Some((next.checked_sub(1)?, Keys { index: self, next, bit: next + part }))
    }

    /// The first place whose key is above `key`, whose high part is `part`; there is one.
    fn first_above(&self, key: u64, part: u64) -> u64 {
        // Keys with that high part lie between the zero before it and the zero after; their low bits rise.
        let low = key & low_mask(self.low_bits);
        let start = if part == 0 { 0 } else { self.select_zero(part - 1) + 1 };
        let (mut from, mut to) = (start - part, self.bit_from(start, u64::MAX) - part);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get_low(middle) <= low {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Position of the first one of the high part (`flip` 0), or zero (`flip` all ones), at or after `bit`.
    #[inline]
    fn bit_from(&self, bit: u64, flip: u64) -> u64 {
        let mut i = (bit / 64) as usize;
        let mut word = (self.high[i] ^ flip) & (u64::MAX << (bit % 64));
        while word == 0 {
            i += 1;
            word = self.high[i] ^ flip;
        }
        64 * i as u64 + u64::from(word.trailing_zeros())
    }

    /// All keys from place `from` on.
    pub fn iter_from(&self, from: u64) -> Keys<'_> {
        let bit = if from < self.count { self.select_one(from) } else { 0 };
        Keys { index: self, next: from, bit }
    }

    /// Reads an index and checks it.
    ///
    /// # Errors
    /// A wrong magic, size or checksum, or a number of keys that differs from the header.
    pub fn from_bytes(origin: &Origin, bytes: &[u8]) -> Result<Self> {
        if bytes.len() < HEADER_BYTES {
            return Err(Error::new(0, "an index of at least 32 bytes", format!("{} bytes", bytes.len())));
        }
        if &bytes[..8] != MAGIC {
            return Err(Error::new(0, "the magic OCINDEX1", format!("{:?}", &bytes[..8])));
        }
        let (stored, computed) = (read_u32(bytes, 8), checksum(origin, bytes));
        if stored != computed {
            return Err(Error::new(8, format!("checksum {computed:08x}"), format!("{stored:08x}")));
        }
        let (low_bits, count, last) = (read_u32(bytes, 12), read_u64(bytes, 16), read_u64(bytes, 24));
        let words = (bytes.len() - HEADER_BYTES) / 8;
        let fits = low_bits == best_low_bits(count, last)
            && count <= 64 * words as u64
            && last >> low_bits <= 64 * words as u64
            && low_words(count, low_bits) + high_words(count, last, low_bits) == words
            && bytes.len().is_multiple_of(8);
        if !fits {
            let found = format!("{count} keys up to {last} with {low_bits} low bits");
            return Err(Error::new(12, format!("an index that fills {} bytes", bytes.len()), found));
        }
        let word = |i: usize| read_u64(bytes, HEADER_BYTES + 8 * i);
        let low_count = low_words(count, low_bits);
        let mut index = Index {
            count,
            last,
            low_bits,
            low: (0..low_count).map(word).collect(),
            high: (low_count..words).map(word).collect(),
            ones: Vec::new(),
            zeros: Vec::new(),
        };
        let ones: u64 = index.high.iter().map(|word| u64::from(word.count_ones())).sum();
        if ones != count {
            return Err(Error::new(HEADER_BYTES as u64, format!("{count} keys"), ones.to_string()));
        }
        let used_bits = (u128::from(count) * u128::from(low_bits) % 64) as u32;
        if let Some(&word) = index.low.last().filter(|&&word| used_bits > 0 && word >> used_bits != 0) {
            let at = (HEADER_BYTES + 8 * (low_count - 1)) as u64;
            return Err(Error::new(at, format!("zeros behind {used_bits} bits of low parts"), format!("{word:016x}")));
        }
        index.sample();
        index.check_rising()?;
        Ok(index)
    }

    fn check_rising(&self) -> Result<()> {
        let mut before = 0;
        let mut keys = self.iter_from(0);
        while let Some(key) = keys.next() {
            // Higher bits than those of the last key would be shifted out of a key.
            let (i, high) = (keys.next - 1, keys.bit - keys.next);
            if key < before || key > self.last || high > self.last >> self.low_bits {
                let expected = format!("keys that rise to {}", self.last);
                let found = format!("{key} with high bits {high} at {i} after {before}");
                return Err(Error::new(HEADER_BYTES as u64, expected, found));
            }
            before = key;
        }
        if before != self.last {
            return Err(Error::new(24, format!("last key {before}"), self.last.to_string()));
        }
        Ok(())
    }

    fn sample(&mut self) {
        let (mut ones, mut zeros) = (0u64, 0u64);
        let all_zeros = 64 * self.high.len() as u64 - self.count;
        self.ones = Vec::with_capacity(self.count.div_ceil(SAMPLE) as usize);
        self.zeros = Vec::with_capacity(all_zeros.div_ceil(SAMPLE) as usize);
        for (i, &word) in self.high.iter().enumerate() {
            let count = u64::from(word.count_ones());
            for (seen, in_word, set, samples) in
                [(ones, count, true, &mut self.ones), (zeros, 64 - count, false, &mut self.zeros)]
            {
                let mut rank = seen.next_multiple_of(SAMPLE);
                while rank < seen + in_word {
                    let bits = if set { word } else { !word };
                    samples.push(64 * i as u64 + u64::from(select_in_word(bits, (rank - seen) as u32)));
                    rank += SAMPLE;
                }
            }
            ones += count;
            zeros += 64 - count;
        }
    }

    fn select_one(&self, rank: u64) -> u64 {
        self.select(rank, &self.ones, 0)
    }

    fn select_zero(&self, rank: u64) -> u64 {
        self.select(rank, &self.zeros, u64::MAX)
    }

    /// Position of the bit with that rank, among ones (`flip` 0) or zeros (`flip` all ones).
    fn select(&self, rank: u64, samples: &[u64], flip: u64) -> u64 {
        let sample = samples[(rank / SAMPLE) as usize];
        let mut remaining = rank % SAMPLE;
        let mut i = (sample / 64) as usize;
        let mut word = (self.high[i] ^ flip) & (u64::MAX << (sample % 64));
        loop {
            let count = u64::from(word.count_ones());
            if remaining < count {
                return 64 * i as u64 + u64::from(select_in_word(word, remaining as u32));
            }
            remaining -= count;
            i += 1;
            word = self.high[i] ^ flip;
        }
    }

    fn get_low(&self, i: u64) -> u64 {
        if self.low_bits == 0 {
            return 0;
        }
        let bit = i * u64::from(self.low_bits);
        let (word, shift) = ((bit / 64) as usize, bit % 64);
        let mut value = self.low[word] >> shift;
        if shift + u64::from(self.low_bits) > 64 {
            value |= self.low[word + 1] << (64 - shift);
        }
        value & low_mask(self.low_bits)
    }
}

/// The keys of an index, one after the other.
pub struct Keys<'a> {
    index: &'a Index,
    next: u64,
    bit: u64,
}

impl Iterator for Keys<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.next >= self.index.count {
            return None;
        }
        let place = self.index.bit_from(self.bit, 0);
        let key = (place - self.next) << self.index.low_bits | self.index.get_low(self.next);
        self.bit = place + 1;
        self.next += 1;
        Some(key)
    }
}

/// The result of a step that may fail with the caller's error.
type Outcome<E> = std::result::Result<(), E>;
/// Passes all keys, in order, to its argument.
type EachKey<'a, E> = &'a mut dyn FnMut(&mut dyn FnMut(u64) -> Outcome<E>) -> Outcome<E>;
/// Writes bytes.
type Put<'a, E> = &'a mut dyn FnMut(&[u8]) -> Outcome<E>;

/// Writes the index of `count` keys, the last of which is `last`, in the format of its file; the keys themselves need
/// not be in memory.
///
/// `keys` passes all of them to its argument, in order, and is called four times: the checksum of all that follows
/// comes first in the file. `put` receives the bytes in order, a few at a time.
///
/// # Errors
/// Those of `keys` and of `put`.
///
/// # Panics
/// If a key is below the one before it.
pub fn write_index<E>(
    origin: &Origin,
    (count, last): (u64, u64),
    mut keys: impl FnMut(&mut dyn FnMut(u64) -> Outcome<E>) -> Outcome<E>,
    mut put: impl FnMut(&[u8]) -> Outcome<E>,
) -> Outcome<E> {
    let low_bits = best_low_bits(count, last);
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[12..16].copy_from_slice(&low_bits.to_le_bytes());
    header[16..24].copy_from_slice(&count.to_le_bytes());
    header[24..].copy_from_slice(&last.to_le_bytes());
    let mut checksum = checksum(origin, &header);
    let mut words = |put: &mut dyn FnMut(&[u8]) -> Outcome<E>| {
        write_low(low_bits, &mut keys, put)?;
        write_high(low_bits, high_words(count, last, low_bits) as u64, &mut keys, put)
    };
    words(&mut |bytes| {
        checksum = crc32c::crc32c_append(checksum, bytes);
        Ok(())
    })?;
    header[8..12].copy_from_slice(&checksum.to_le_bytes());
    put(&header)?;
    words(&mut put)
}

/// The index of keys in memory, in the format of its file; see [`write_index`].
///
/// # Panics
/// If a key is below the one before it.
pub fn index_bytes(origin: &Origin, keys: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let shape = (keys.len() as u64, keys.last().copied().unwrap_or(0));
    let written = write_index::<std::convert::Infallible>(
        origin,
        shape,
        |visit| keys.iter().try_for_each(|&key| visit(key)),
        |part| {
            bytes.extend_from_slice(part);
            Ok(())
        },
    );
    written.map_or_else(|never| match never {}, |()| bytes)
}

fn write_low<E>(low_bits: u32, keys: EachKey<'_, E>, put: Put<'_, E>) -> Outcome<E> {
    let (mut word, mut used_bits, mut before) = (0u64, 0, 0);
    keys(&mut |key| {
        assert!(before <= key, "index keys fall from {before} to {key}");
        before = key;
        let low = key & low_mask(low_bits);
        word |= low << used_bits;
        used_bits += low_bits;
        if used_bits >= 64 {
            put(&word.to_le_bytes())?;
            used_bits -= 64;
            word = low >> (low_bits - used_bits);
        }
        Ok(())
    })?;
    if used_bits > 0 { put(&word.to_le_bytes()) } else { Ok(()) }
}

fn write_high<E>(low_bits: u32, words: u64, keys: EachKey<'_, E>, put: Put<'_, E>) -> Outcome<E> {
    let (mut word, mut written, mut i) = (0u64, 0, 0);
    keys(&mut |key| {
        let place = (key >> low_bits) + i;
        i += 1;
        while written < place / 64 {
            put(&word.to_le_bytes())?;
            word = 0;
            written += 1;
        }
        word |= 1 << (place % 64);
        Ok(())
    })?;
    for _ in written..words {
        put(&word.to_le_bytes())?;
        word = 0;
    }
    Ok(())
}

/// The number of low bits per key: the largest with `2^low_bits <= last / count`, or 0.
fn best_low_bits(count: u64, last: u64) -> u32 {
    (last / count.max(1)).checked_ilog2().unwrap_or(0)
}

fn low_mask(low_bits: u32) -> u64 {
    (1u64 << low_bits) - 1
}

fn low_words(count: u64, low_bits: u32) -> usize {
    (u128::from(count) * u128::from(low_bits)).div_ceil(64) as usize
}

fn high_words(count: u64, last: u64, low_bits: u32) -> usize {
    (count + (last >> low_bits) + 1).div_ceil(64) as usize
}

/// The place of the set bit with that rank.
///
/// (Vigna, *Broadword implementation of rank/select queries*, WEA 2008.)
fn select_in_word(word: u64, rank: u32) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    // Number of ones in every byte and those below it.
    let sums = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES);
    // The bytes that end before the bit: their sums are at most the rank.
    let before = ((((u64::from(rank) * ONES) | TOPS) - sums) & TOPS).count_ones() * 8;
    let remaining = rank - ((sums << 8) >> before & 0xff) as u32;
    let mut byte = word >> before;
    for _ in 0..remaining {
        byte &= byte - 1;
    }
    before + byte.trailing_zeros()
}

fn checksum(origin: &Origin, bytes: &[u8]) -> u32 {
    let mut seed = [0u8; 12];
    seed[..8].copy_from_slice(&origin.image_id.to_le_bytes());
    seed[8] = origin.kind as u8;
    seed[9..11].copy_from_slice(&origin.file.to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c(&seed), &bytes[12..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Kind;

    const ORIGIN: Origin = Origin { image_id: 7, kind: Kind::OutLists, file: 0 };

    fn check(keys: &[u64]) {
        let bytes = index_bytes(&ORIGIN, keys);
        let index = Index::from_bytes(&ORIGIN, &bytes).unwrap();
        assert_eq!(index.iter_from(0).collect::<Vec<_>>(), keys);
        let samples_bytes = index.memory_bytes() - (bytes.len() - HEADER_BYTES) as u64;
        assert!(samples_bytes <= Index::most_samples_bytes(keys.len() as u64), "{samples_bytes} of {}", keys.len());
        for (i, &key) in keys.iter().enumerate() {
            assert_eq!(index.get(i as u64), key);
        }
        let last = keys.last().copied().unwrap_or(0);
        for probe in (0..last.min(3000) + 2).chain(keys.iter().flat_map(|&k| [k.saturating_sub(1), k, k + 1])) {
            let expected = keys.partition_point(|&key| key <= probe).checked_sub(1).map(|i| i as u64);
            assert_eq!(index.last_at_most(probe), expected, "probe {probe} in {keys:?}");
            let actual = index.seek(probe).map(|(place, behind)| (place, behind.collect::<Vec<_>>()));
            assert_eq!(actual, expected.map(|place| (place, keys[place as usize + 1..].to_vec())), "probe {probe}");
        }
    }

    #[test]
    fn keys_come_back_and_are_found() {
        check(&[]);
        check(&[0]);
        check(&[5]);
        check(&[3, 4, 9]);
        check(&[0, 0, 0, 7, 7, 7, 7, 1 << 40]);
        check(&(0..2000).collect::<Vec<_>>());
        check(&(0..2000).map(|i| i * i / 7).collect::<Vec<_>>());
        check(&(0..700).map(|i| i / 300 * 1000).collect::<Vec<_>>());
    }

    /// An index of these words with a checksum that is right.
    fn forged(low_bits: u32, count: u64, last: u64, words: &[u64]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(low_bits.to_le_bytes());
        [count, last].iter().chain(words).for_each(|word| bytes.extend(word.to_le_bytes()));
        let checksum = checksum(&ORIGIN, &bytes);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    #[test]
    fn other_encodings_of_the_same_keys_are_refused() {
        // Keys 3, 4, 9: low bits 1, 0, 1 and ones at 1, 3, 6.
        let (low, high) = (0b101, 0b100_1010);
        assert_eq!(index_bytes(&ORIGIN, &[3, 4, 9]), forged(1, 3, 9, &[low, high]));
        // No low bits: ones at 3, 5, 11.
        assert!(Index::from_bytes(&ORIGIN, &forged(0, 3, 9, &[0b1000_0010_1000])).is_err());
        // Bits behind the low parts, and ones behind the last key.
        assert!(Index::from_bytes(&ORIGIN, &forged(1, 3, 9, &[low | 1 << 3, high])).is_err());
        assert!(Index::from_bytes(&ORIGIN, &forged(1, 3, 9, &[low, high | 1 << 20])).is_err());
        // The whole key in the low part and 2 as every key's high bits, which a shift by 63 loses: the keys look right.
        let whole: u128 = [3u128, 4, 9].iter().rev().fold(0, |all, key| all << 63 | key);
        let words = [whole as u64, (whole >> 64) as u64, 0, 0b11100];
        assert!(Index::from_bytes(&ORIGIN, &forged(63, 3, 9, &words)).is_err());
        // If the keys need 63 low bits, the high bits are checked all the same.
        let top = 1 << 63;
        let sound = index_bytes(&ORIGIN, &[top]);
        assert_eq!(sound, forged(63, 1, top, &[0, 0b10]));
        assert!(Index::from_bytes(&ORIGIN, &forged(63, 1, top, &[0, 0b1000])).is_err());
    }

    #[test]
    fn errors_say_which_key_and_where() {
        // Keys 3, 2, 9: low bits 1, 0, 1 and ones at 1, 2, 6.
        let falling = Index::from_bytes(&ORIGIN, &forged(1, 3, 9, &[0b101, 0b100_0110])).unwrap_err();
        assert_eq!(falling.found, "2 with high bits 1 at 1 after 3");
        // Two keys of 62 low bits fill 60 bits of the second word.
        let last = (1 << 63) + 5;
        let sound = index_bytes(&ORIGIN, &[1 << 63, last]);
        let mut words: Vec<u64> = (HEADER_BYTES..sound.len()).step_by(8).map(|at| read_u64(&sound, at)).collect();
        assert_eq!(sound, forged(62, 2, last, &words));
        words[1] |= 1 << 60;
        let behind = Index::from_bytes(&ORIGIN, &forged(62, 2, last, &words)).unwrap_err();
        assert_eq!(behind.offset_bytes, HEADER_BYTES as u64 + 8);
        assert!(behind.expected.contains("behind 60 bits"), "{behind}");
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = index_bytes(&ORIGIN, &[3, 4, 9, 200]);
        for i in 0..bytes.len() {
            for bit in 0..8 {
                let mut bad = bytes.clone();
                bad[i] ^= 1 << bit;
                assert!(Index::from_bytes(&ORIGIN, &bad).is_err(), "byte {i} bit {bit}");
            }
        }
        for end in 0..bytes.len() {
            assert!(Index::from_bytes(&ORIGIN, &bytes[..end]).is_err());
        }
        let other = Origin { image_id: 8, ..ORIGIN };
        assert!(Index::from_bytes(&other, &bytes).is_err());
    }
}
