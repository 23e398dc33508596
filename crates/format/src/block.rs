//! Blocks: up to sixteen integers with one width.
//!
//! ```text
//!   width w (1 byte) | value 0 (w bits) | value 1 (w bits) | ...      rounded up to whole bytes
//! ```
//!
//! Values are laid out as one little-endian stream of bits, so a full block is `1 + 2 w` bytes. All sequences of
//! integers in an image are sequences of blocks: the lengths of lists, their first neighbours, their gaps, the values
//! of columns. Sixteen values fill one 512-bit register; the widest of sixteen gaps is seldom far above the others, so
//! a block needs neither exceptions nor a choice of codes (`docs/decisions/0001-page-format.md`).

use crate::error::{Error, Result};

/// Number of values of a block, except for the last of a sequence.
pub const BLOCK: usize = 16;

/// The width of a value in bits.
#[inline]
pub fn width(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// The size of a block of `count` values of `width_bits`, the width byte included.
#[inline]
pub fn block_bytes(count: usize, width_bits: u32) -> usize {
    1 + (count * width_bits as usize).div_ceil(8)
}

/// The size of a sequence of values as blocks.
pub fn sequence_bytes(values: &[u32]) -> usize {
    values.chunks(BLOCK).map(|block| block_bytes(block.len(), block_width(block))).sum()
}

/// The width of a block of these values.
#[inline]
pub fn block_width(values: &[u32]) -> u32 {
    width(u64::from(values.iter().fold(0, |all, value| all | value)))
}

/// Appends one block of at most [`BLOCK`] values, each below `2^width_bits`.
pub fn write_block(values: &[u64], width_bits: u32, out: &mut Vec<u8>) {
    debug_assert!(values.len() <= BLOCK && width_bits <= 64);
    out.push(width_bits as u8);
    let (mut bits, mut pending_bits) = (0u128, 0u32);
    for &value in values {
        debug_assert!(width(value) <= width_bits);
        bits |= u128::from(value) << pending_bits;
        pending_bits += width_bits;
        while pending_bits >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            pending_bits -= 8;
        }
    }
    if pending_bits > 0 {
        out.push(bits as u8);
    }
}

/// Appends a sequence of values as blocks.
pub fn write_sequence(values: &[u32], out: &mut Vec<u8>) {
    let mut wide = [0u64; BLOCK];
    for block in values.chunks(BLOCK) {
        for (slot, &value) in wide.iter_mut().zip(block) {
            *slot = u64::from(value);
        }
        write_block(&wide[..block.len()], block_width(block), out);
    }
}

/// Reads one block of `count` values from the front of `bytes` into `out`; returns the block's size.
///
/// # Errors
/// A width above `max_width_bits`, or a block that ends beyond `bytes`.
pub fn read_block(bytes: &[u8], count: usize, max_width_bits: u32, out: &mut [u64; BLOCK]) -> Result<usize> {
    debug_assert!(count <= BLOCK && max_width_bits <= 64);
    let Some(&width_byte) = bytes.first() else {
        return Err(Error::new(0, "a block", "the end of the page"));
    };
    let width_bits = u32::from(width_byte);
    if width_bits > max_width_bits {
        return Err(Error::new(0, format!("a block width of at most {max_width_bits} bits"), format!("{width_bits}")));
    }
    let size = block_bytes(count, width_bits);
    let Some(data) = bytes.get(1..size) else {
        return Err(Error::new(0, format!("a block of {size} bytes"), format!("{} bytes before the end", bytes.len())));
    };
    let mask = if width_bits == 64 { u64::MAX } else { (1u64 << width_bits) - 1 };
    // Values are read from the word that they begin in, and the next one; the copy has room for it behind the last one.
    let mut copy = [0; BLOCK * 8 + 16];
    let words = match bytes.get(1..size + 16) {
        Some(words) => words,
        None => {
            copy[..data.len()].copy_from_slice(data);
            &copy[..data.len() + 16]
        }
    };
    for (i, slot) in out[..count].iter_mut().enumerate() {
        let bit = i * width_bits as usize;
        *slot = if width_bits <= 57 { word(words, bit / 8) >> (bit % 8) } else { wide_word(words, bit) } & mask;
    }
    Ok(size)
}

/// The eight bytes at `at`, as a number.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// The 64 bits at `bit`, which span nine bytes.
#[inline]
fn wide_word(bytes: &[u8], bit: usize) -> u64 {
    let low = u128::from(word(bytes, bit / 8)) | u128::from(word(bytes, bit / 8 + 8)) << 64;
    (low >> (bit % 8)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::random_word;

    #[test]
    fn every_width_and_count_comes_back() {
        let mut state = 1u64;
        for width_bits in 0..=64 {
            for count in 0..=BLOCK {
                let values: Vec<u64> = (0..count)
                    .map(|_| {
                        let word = random_word(&mut state);
                        if width_bits == 0 { 0 } else { word >> (64 - width_bits) }
                    })
                    .collect();
                let mut bytes = Vec::new();
                write_block(&values, width_bits, &mut bytes);
                assert_eq!(bytes.len(), block_bytes(count, width_bits));
                let mut back = [0; BLOCK];
                let size = read_block(&bytes, count, 64, &mut back).unwrap();
                assert_eq!(size, bytes.len());
                assert_eq!(&back[..count], values, "width {width_bits}, count {count}");
            }
        }
    }

    #[test]
    fn a_short_or_wide_block_is_an_error() {
        let mut out = [0; BLOCK];
        assert!(read_block(&[], 4, 32, &mut out).is_err());
        assert!(read_block(&[8, 1, 2, 3], 4, 32, &mut out).is_err());
        assert!(read_block(&[33, 0, 0, 0, 0, 0, 0, 0, 0], 1, 32, &mut out).is_err());
    }
}
