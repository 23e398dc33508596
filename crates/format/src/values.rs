//! Values beside the entries of lists: typed, at their own width or packed.
//!
//! ```text
//!   section 0   plain:   count values of the type, each at its own width, little-endian
//!               PACKED:  values, less the page's base, as blocks of up to 64-bit numbers
//! ```
//!
//! Plain pages are read without a branch per value. A page is packed if that takes three quarters of the plain bytes or
//! less, and only if the type is an integer. In memory a value has 64 bits: integers in two's complement, real numbers
//! as `f64`.

use crate::block::{BLOCK, block_bytes, width};
use crate::error::{Error, Result};
use crate::flags::PACKED;
use crate::page::{HEADER_BYTES, Origin, PAGE_BYTES, Page, PageBytes};
pub use crate::series::MAX_VALUES;
use crate::series::{Draft, Series, read_blocks, write_blocks};
use serde::{Deserialize, Serialize};

/// Largest number of columns of values.
pub const MAX_VALUE_COLUMNS: usize = 256;
/// Room for the values of a page.
const ROOM_BYTES: usize = PAGE_BYTES - HEADER_BYTES;

/// The type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// Whole numbers of 8 bits with a sign.
    I8,
    /// Whole numbers of 16 bits with a sign.
    I16,
    /// Whole numbers of 32 bits with a sign.
    I32,
    /// Whole numbers of 64 bits with a sign.
    I64,
    /// Whole numbers of 8 bits from 0 on.
    U8,
    /// Whole numbers of 16 bits from 0 on.
    U16,
    /// Whole numbers of 32 bits from 0 on.
    U32,
    /// Whole numbers of 64 bits from 0 on.
    U64,
    /// Real numbers of 32 bits.
    F32,
    /// Real numbers of 64 bits.
    F64,
}

/// Values of one kind that all edges have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueColumn {
    /// Their name in the input.
    pub name: String,
    /// Their type.
    #[serde(rename = "type")]
    pub kind: ValueType,
    /// The size of the column beside the out-lists.
    pub out_pages: u64,
    /// The size of the column beside the in-lists; 0 where there is none.
    pub in_pages: u64,
}

/// The type of the values of a column, and the rule that they keep beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueDomain {
    /// Their type.
    pub kind: ValueType,
    /// Their rule.
    pub rule: ValueRule,
}

/// A rule for single values of a column. Whoever decodes a page applies it, so readers refuse what a check refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRule {
    /// All values of the type.
    Any,
    /// Not NaN: weights.
    Number,
    /// Neither NaN nor infinite: attributes that algorithms count by.
    Finite,
    /// 0 or 1: marks of missing values.
    Mark,
}

impl ValueDomain {
    /// Appends the values of a page to `out`, in 64 bits each.
    ///
    /// # Errors
    /// As for [`decode`]; a value that breaks the rule.
    pub fn decode(self, page: &Page<'_>, out: &mut Vec<u64>) -> Result<()> {
        let first = out.len();
        decode(page, self.kind, out)?;
        let values = &out[first..];
        let is_real = self.kind.is_real();
        let real = |&value: &u64| f64::from_bits(value);
        // No branch per value: pages are read again and again.
        let is_kept = match self.rule {
            ValueRule::Number if is_real => !values.iter().fold(false, |any, value| any | real(value).is_nan()),
            ValueRule::Finite if is_real => values.iter().fold(true, |all, value| all & real(value).is_finite()),
            ValueRule::Mark => values.iter().fold(0, |all, value| all | value) <= 1,
            _ => true,
        };
        if is_kept { Ok(()) } else { Err(self.rule.broken(values)) }
    }
}

impl ValueRule {
    #[cold]
    fn broken(self, values: &[u64]) -> Error {
        let (expected, is_bad): (_, fn(&u64) -> bool) = match self {
            ValueRule::Mark => ("0 or 1 as the mark of a missing value", |&value| value > 1),
            ValueRule::Finite => ("finite numbers to count by", |&value| !f64::from_bits(value).is_finite()),
            _ => ("weights that are numbers", |&value| f64::from_bits(value).is_nan()),
        };
        let bad = values.iter().copied().find(is_bad).unwrap_or_default();
        let found = if self == ValueRule::Mark { bad.to_string() } else { f64::from_bits(bad).to_string() };
        Error::new(HEADER_BYTES as u64, expected, found)
    }
}

/// Interpretation of a value in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightKind {
    /// Whole numbers, in two's complement.
    I64,
    /// Real numbers.
    F64,
}

impl WeightKind {
    /// The real number that 64 bits stand for. Integers beyond 2^53 are rounded.
    #[inline]
    pub fn real(self, bits: u64) -> f64 {
        match self {
            WeightKind::I64 => bits as i64 as f64,
            WeightKind::F64 => f64::from_bits(bits),
        }
    }
}

impl ValueType {
    /// All types.
    pub const ALL: [ValueType; 10] = {
        use ValueType::*;
        [I8, I16, I32, I64, U8, U16, U32, U64, F32, F64]
    };

    /// The name in the manifest.
    pub fn name(self) -> &'static str {
        ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"][self as usize]
    }

    /// The size of a value in bytes.
    pub fn bytes(self) -> usize {
        match self {
            ValueType::I8 | ValueType::U8 => 1,
            ValueType::I16 | ValueType::U16 => 2,
            ValueType::I32 | ValueType::U32 | ValueType::F32 => 4,
            ValueType::I64 | ValueType::U64 | ValueType::F64 => 8,
        }
    }

    /// Whether values are real numbers.
    pub fn is_real(self) -> bool {
        matches!(self, ValueType::F32 | ValueType::F64)
    }

    /// Interpretation of values in 64 bits; `None` for `u64`, which exceeds signed integers.
    pub fn weight_kind(self) -> Option<WeightKind> {
        match self {
            ValueType::U64 => None,
            kind if kind.is_real() => Some(WeightKind::F64),
            _ => Some(WeightKind::I64),
        }
    }

    /// The narrowest type of whole numbers that holds `least` and `most`.
    pub fn of_range(least: i64, most: i64) -> Self {
        let signed = [ValueType::I8, ValueType::I16, ValueType::I32, ValueType::I64];
        let unsigned = [ValueType::U8, ValueType::U16, ValueType::U32, ValueType::I64];
        let fits = |kind: &&ValueType| match kind {
            ValueType::I64 => true,
            kind if least < 0 => {
                let half = 1i64 << (8 * kind.bytes() - 1);
                least >= -half && most < half
            }
            kind => most >> (8 * kind.bytes()) == 0,
        };
        let types = if least < 0 { signed } else { unsigned };
        types.iter().find(fits).copied().unwrap_or(ValueType::I64)
    }

    /// Whether a value, in 64 bits, is one of this type.
    pub fn holds(self, value: u64) -> bool {
        let (bits, signed) = (8 * self.bytes() as u32, value as i64);
        match self {
            ValueType::F32 => {
                let real = f64::from_bits(value);
                f64::from(real as f32).to_bits() == value
            }
            ValueType::I8 | ValueType::I16 | ValueType::I32 => signed >> (bits - 1) == 0 || signed >> (bits - 1) == -1,
            ValueType::U8 | ValueType::U16 | ValueType::U32 => value >> bits == 0,
            ValueType::I64 | ValueType::U64 | ValueType::F64 => true,
        }
    }
}

/// Appends the values of a page to `out`, in 64 bits each.
///
/// # Errors
/// Widths or counts that do not fit, or a value beyond the type.
pub fn decode(page: &Page<'_>, kind: ValueType, out: &mut Vec<u64>) -> Result<()> {
    if page.flags() & PACKED != 0 {
        return decode_packed(page, kind, out);
    }
    let bytes = page.section(0);
    if bytes.len() != page.count() * kind.bytes() {
        let expected = format!("{} values of {} bytes", page.count(), kind.bytes());
        return Err(Error::new(HEADER_BYTES as u64, expected, format!("{} bytes", bytes.len())));
    }
    if page.base() != 0 {
        return Err(Error::new(16, "zero", page.base().to_string()));
    }
    match kind {
        ValueType::I8 => extend(bytes, out, |value| i64::from(i8::from_le_bytes(value)) as u64),
        ValueType::I16 => extend(bytes, out, |value| i64::from(i16::from_le_bytes(value)) as u64),
        ValueType::I32 => extend(bytes, out, |value| i64::from(i32::from_le_bytes(value)) as u64),
        ValueType::U8 => extend(bytes, out, |value| u64::from(u8::from_le_bytes(value))),
        ValueType::U16 => extend(bytes, out, |value| u64::from(u16::from_le_bytes(value))),
        ValueType::U32 => extend(bytes, out, |value| u64::from(u32::from_le_bytes(value))),
        ValueType::F32 => extend(bytes, out, |value| f64::from(f32::from_le_bytes(value)).to_bits()),
        ValueType::I64 | ValueType::U64 | ValueType::F64 => extend(bytes, out, u64::from_le_bytes),
    }
    Ok(())
}

#[inline]
fn extend<const BYTES: usize>(bytes: &[u8], out: &mut Vec<u64>, value: impl Fn([u8; BYTES]) -> u64) {
    out.extend(bytes.as_chunks::<BYTES>().0.iter().map(|&bytes| value(bytes)));
}

fn decode_packed(page: &Page<'_>, kind: ValueType, out: &mut Vec<u64>) -> Result<()> {
    let (base, first) = (page.base(), out.len());
    if kind.is_real() {
        return Err(Error::new(5, "real numbers at their own width", "packed ones"));
    }
    read_blocks(page, |block| out.extend(block.iter().map(|&value| value.wrapping_add(base))))?;
    match out[first..].iter().find(|&&value| !kind.holds(value)) {
        None => Ok(()),
        Some(&bad) => Err(not_of_type(kind, bad)),
    }
}

#[cold]
fn not_of_type(kind: ValueType, value: u64) -> Error {
    let found = if kind.is_real() { f64::from_bits(value).to_string() } else { (value as i64).to_string() };
    Error::new(HEADER_BYTES as u64, format!("values of type {}", kind.name()), found)
}

/// Puts values into pages.
pub struct ValueWriter {
    series: Series,
    kind: ValueType,
}

impl ValueWriter {
    /// A writer whose first page has number 0 and whose first value has the ordinal `first`.
    pub fn new(origin: Origin, kind: ValueType, first: u64) -> Self {
        ValueWriter { series: Series::new(origin, first), kind }
    }

    /// Appends a value. Every full page is passed to `emit` with the ordinal of its first value.
    ///
    /// # Errors
    /// A value that is not one of the type; nothing is appended.
    pub fn push(&mut self, value: u64, mut emit: impl FnMut(u64, &PageBytes)) -> Result<()> {
        let kind = self.kind;
        if !kind.holds(value) {
            return Err(not_of_type(kind, value));
        }
        self.series.push(value, |waiting| kind.draft(waiting), &mut emit);
        // The capacity for real numbers is fixed, so few need to wait.
        let plain = ROOM_BYTES / kind.bytes();
        if kind.is_real() && self.series.waiting() >= 2 * plain {
            self.series.close_down_to(plain, |waiting| kind.draft(waiting), emit);
        }
        Ok(())
    }

    /// Writes the remaining values.
    pub fn finish(mut self, emit: impl FnMut(u64, &PageBytes)) {
        self.series.close_down_to(1, |waiting| self.kind.draft(waiting), emit);
    }
}

impl ValueType {
    /// A page of as many of the waiting values as fit.
    fn draft(self, waiting: &[u64]) -> Draft {
        let mut bytes = Vec::with_capacity(PAGE_BYTES);
        if let Some((count, base)) = self.packed(waiting) {
            write_blocks(&waiting[..count], &mut bytes, |value| value.wrapping_sub(base));
            return Draft { count, flags: PACKED, base, bytes };
        }
        let count = waiting.len().min(ROOM_BYTES / self.bytes());
        for &value in &waiting[..count] {
            let narrow = match self {
                ValueType::F32 => u64::from((f64::from_bits(value) as f32).to_bits()),
                _ => value,
            };
            bytes.extend_from_slice(&narrow.to_le_bytes()[..self.bytes()]);
        }
        Draft { count, flags: 0, base: 0, bytes }
    }

    /// Capacity and base of a packed page, if packing is worth it.
    fn packed(self, waiting: &[u64]) -> Option<(usize, u64)> {
        if self.is_real() {
            return None;
        }
        let unsigned = self == ValueType::U64;
        let order = |value: u64| if unsigned { value } else { value ^ (1 << 63) };
        let least = |values: &[u64]| values.iter().copied().min_by_key(|&value| order(value));
        let most = waiting.len().min(MAX_VALUES);
        // With the base of those that fit beside the smallest of all, more may fit.
        let (some, _) = fitting(&waiting[..most], least(&waiting[..most])?);
        let base = least(&waiting[..some])?;
        let (count, used) = fitting(&waiting[..most], base);
        (count > 0 && 4 * used <= 3 * count * self.bytes()).then_some((count, base))
    }
}

/// Number of values that fit into a page as blocks relative to a base, and their size.
fn fitting(values: &[u64], base: u64) -> (usize, usize) {
    let (mut count, mut used) = (0, 0);
    for block in values.chunks(BLOCK) {
        let all = block.iter().fold(0, |all, value| all | value.wrapping_sub(base));
        let bytes = block_bytes(block.len(), width(all));
        if used + bytes > ROOM_BYTES {
            break;
        }
        count += block.len();
        used += bytes;
    }
    (count, used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Header, Kind, build};
    use outcore_testkit::random_word;

    const ORIGIN: Origin = Origin { image_id: 7, kind: Kind::Values, file: 16 };

    fn pages_of(kind: ValueType, values: &[u64]) -> Vec<Box<PageBytes>> {
        let mut pages = Vec::new();
        let mut writer = ValueWriter::new(ORIGIN, kind, 5);
        let mut next = 5;
        let mut keep = |first, page: &PageBytes| {
            assert_eq!(first, next);
            next += ORIGIN.trust(page).unwrap().count() as u64;
            pages.push(Box::new(*page));
        };
        values.iter().for_each(|&value| writer.push(value, &mut keep).unwrap());
        writer.finish(&mut keep);
        assert_eq!(next, 5 + values.len() as u64);
        let mut back = Vec::new();
        for (number, bytes) in pages.iter().enumerate() {
            decode(&ORIGIN.verify(number as u64, bytes).unwrap(), kind, &mut back).unwrap();
        }
        assert!(back == values, "{kind:?}");
        pages
    }

    fn noise(count: usize) -> impl Iterator<Item = u64> {
        let mut state = 9u64;
        (0..count).map(move |_| {
            let word = random_word(&mut state);
            word ^ (word >> 31)
        })
    }

    #[test]
    fn values_of_every_type_come_back() {
        for kind in ValueType::ALL {
            let narrow = |value: u64| match kind {
                ValueType::F32 => f64::from((value as i32) as f32 / 8.0).to_bits(),
                ValueType::F64 => ((value as i64) as f64 / 8.0).to_bits(),
                ValueType::I8 | ValueType::I16 | ValueType::I32 | ValueType::I64 => {
                    ((value as i64) >> (64 - 8 * kind.bytes())) as u64
                }
                _ => value >> (64 - 8 * kind.bytes()),
            };
            for count in [0, 1, 15, 16, 17, 4064, 4065, 70_000, 200_000] {
                let values: Vec<u64> = noise(count).map(narrow).collect();
                let pages = pages_of(kind, &values);
                assert_eq!(pages.len(), count.div_ceil(ROOM_BYTES / kind.bytes()), "{kind:?}, noise is not packed");
                let same: Vec<u64> = vec![narrow(u64::MAX / 3); count];
                pages_of(kind, &same);
            }
            let extremes = match kind {
                ValueType::F32 => [f32::MIN, -0.0, f32::INFINITY].map(|value| f64::from(value).to_bits()),
                ValueType::F64 => [f64::MIN, -0.0, f64::INFINITY].map(f64::to_bits),
                ValueType::U8 | ValueType::U16 | ValueType::U32 | ValueType::U64 => {
                    [0, u64::MAX >> (64 - 8 * kind.bytes()), 1]
                }
                _ => [i64::MIN >> (64 - 8 * kind.bytes()), i64::MAX >> (64 - 8 * kind.bytes()), -1]
                    .map(|value| value as u64),
            };
            pages_of(kind, &extremes);
            assert!(extremes.iter().all(|&value| kind.holds(value)));
        }
    }

    #[test]
    fn narrow_blocks_of_a_wide_type_are_packed() {
        let values: Vec<u64> = noise(100_000).map(|value| 1_000_000 + (value >> 60)).collect();
        // A block of sixteen has 9 bytes where 128 would be plain.
        assert_eq!(pages_of(ValueType::I64, &values).len(), 100_000usize.div_ceil(ROOM_BYTES / 9 * 16));
        assert!(pages_of(ValueType::U32, &values).len() < 20);
        let negative: Vec<u64> = noise(5000).map(|value| (-3 - (value >> 61) as i64) as u64).collect();
        assert!(pages_of(ValueType::I64, &negative).len() < 3);
    }

    #[test]
    fn the_narrowest_type_is_chosen() {
        let all = [
            (0, 255, ValueType::U8),
            (0, 256, ValueType::U16),
            (0, 65536, ValueType::U32),
            (0, 1 << 32, ValueType::I64),
            (-128, 127, ValueType::I8),
            (-129, 0, ValueType::I16),
            (-1, 32768, ValueType::I32),
            (-1, i64::MAX, ValueType::I64),
        ];
        for (least, most, kind) in all {
            assert_eq!(ValueType::of_range(least, most), kind, "{least}..={most}");
            assert!(kind.holds(least as u64) && kind.holds(most as u64));
        }
    }

    #[test]
    fn values_beyond_their_type_are_refused() {
        for (kind, value, found) in [
            (ValueType::U8, 256, "256"),
            (ValueType::I16, (-40_000_i64) as u64, "-40000"),
            (ValueType::F32, 0.1_f64.to_bits(), "0.1"),
        ] {
            let mut writer = ValueWriter::new(ORIGIN, kind, 0);
            let error = writer.push(value, |_, _| {}).unwrap_err();
            assert_eq!((error.expected, error.found), (format!("values of type {}", kind.name()), found.to_owned()));
            let mut pages = 0;
            writer.finish(|_, _| pages += 1);
            assert_eq!(pages, 0, "nothing was appended");
        }
    }

    #[test]
    fn pages_that_contradict_their_type_are_refused() {
        let page =
            |flags, base, count, bytes: &[u8]| build(&ORIGIN, 0, Header { flags, count, first: 0, base }, &[bytes]);
        let refused = |page: Box<PageBytes>, kind| {
            let page = ORIGIN.verify(0, &page).unwrap();
            decode(&page, kind, &mut Vec::new()).unwrap_err().expected
        };
        assert!(refused(page(0, 0, 3, &[0; 2]), ValueType::U8).contains("3 values of 1 bytes"));
        assert!(refused(page(0, 0, 1, &[0; 2]), ValueType::U8).contains("1 values"));
        assert!(refused(page(0, 1, 2, &[0; 2]), ValueType::U8).contains("zero"));
        assert!(refused(page(PACKED, 0, 2, &[0; 1]), ValueType::F64).contains("own width"));
        assert!(refused(page(PACKED, 0, 20, &[0; 1]), ValueType::U8).contains("room"));
        assert!(refused(page(PACKED, 0, 2, &[0, 0]), ValueType::U8).contains("end of the values"));
        assert!(refused(page(PACKED, 255, 2, &[1, 2]), ValueType::U8).contains("type u8"));
        assert!(refused(page(PACKED, 0, 2, &[65, 2]), ValueType::U64).contains("at most 64 bits"));
    }
}
