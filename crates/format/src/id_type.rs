//! The types of integer ids, as Arrow and NumPy name them: those that the user brought and gets back.
//!
//! A type does not decide how ids are stored (`IdColumn` in `manifest.rs`): the same ids of type `int32` may be a
//! range, a column of u64, or one of i64.

use serde::{Deserialize, Serialize};

/// A type of integer ids. The default is that of inputs without types, such as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdType {
    /// Whole numbers of 8 bits with a sign.
    Int8,
    /// Whole numbers of 16 bits with a sign.
    Int16,
    /// Whole numbers of 32 bits with a sign.
    Int32,
    /// Whole numbers of 64 bits with a sign.
    #[default]
    Int64,
    /// Whole numbers of 8 bits from 0 on.
    UInt8,
    /// Whole numbers of 16 bits from 0 on.
    UInt16,
    /// Whole numbers of 32 bits from 0 on.
    UInt32,
    /// Whole numbers of 64 bits from 0 on.
    UInt64,
}

impl IdType {
    /// All types, signed ones first, narrow ones before wide ones.
    pub const ALL: [IdType; 8] = {
        use IdType::*;
        [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64]
    };
    const NAMES: [&str; 8] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];

    /// The name in the manifest, in Arrow and in NumPy.
    pub fn name(self) -> &'static str {
        IdType::NAMES[self as usize]
    }

    /// Whether ids may be below zero.
    pub fn is_signed(self) -> bool {
        (self as usize) < IdType::UInt8 as usize
    }

    /// The least and the greatest id.
    pub fn range(self) -> [i128; 2] {
        let bits = 8 << (self as usize % 4);
        match self.is_signed() {
            true => [-(1 << (bits - 1)), (1 << (bits - 1)) - 1],
            false => [0, (1 << bits) - 1],
        }
    }

    /// Whether the type has these ids, and so all between them.
    pub fn holds(self, least: i128, greatest: i128) -> bool {
        let [first, last] = self.range();
        first <= least && greatest <= last
    }

    /// The type of ids of both types: the narrowest that holds all of either, or `Int64` where none does, which
    /// [`IdType::wide_enough`] changes if the ids are large.
    #[must_use]
    pub fn common(self, other: IdType) -> IdType {
        let both = [self, other];
        let [least, greatest] =
            [both.map(|kind| kind.range()[0]).into_iter().min(), both.map(|kind| kind.range()[1]).into_iter().max()];
        let (least, greatest) = (least.unwrap_or_default(), greatest.unwrap_or_default());
        let narrow = IdType::ALL.into_iter().filter(|kind| kind.is_signed() || both.iter().all(|one| !one.is_signed()));
        narrow.rev().filter(|kind| kind.holds(least, greatest)).min_by_key(|kind| kind.range()[1]).unwrap_or_default()
    }

    /// This type if it holds these ids, else one of 64 bits: `UInt64` if one is above those of `Int64`.
    #[must_use]
    pub fn wide_enough(self, least: i128, greatest: i128) -> IdType {
        match self {
            kind if kind.holds(least, greatest) => kind,
            _ if greatest > i64::MAX.into() => IdType::UInt64,
            _ => IdType::Int64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IdType::{self, *};

    #[test]
    fn the_common_type_is_the_narrowest_that_holds_both() {
        for (one, other, common) in [
            (Int32, Int32, Int32),
            (Int32, Int64, Int64),
            (UInt8, UInt32, UInt32),
            (UInt64, UInt64, UInt64),
            (UInt32, Int8, Int64),
            (Int16, UInt8, Int16),
            (Int8, UInt8, Int16),
            (Int64, UInt64, Int64),
            (Int8, UInt64, Int64),
        ] {
            assert_eq!([one.common(other), other.common(one)], [common; 2], "{one:?} and {other:?}");
        }
        for (one, other, third) in [(Int8, UInt8, UInt64), (UInt64, UInt64, Int32), (UInt32, Int32, UInt16)] {
            assert_eq!(one.common(other).common(third), one.common(other.common(third)));
        }
    }

    #[test]
    fn ids_beyond_a_type_widen_it_to_64_bits() {
        let range = |kind: IdType| kind.range();
        assert_eq!([range(Int8), range(UInt16)], [[-128, 127], [0, 65535]]);
        assert_eq!([range(Int64)[0], range(UInt64)[1]], [i64::MIN.into(), u64::MAX.into()]);
        assert_eq!([Int8.wide_enough(-1, 127), Int8.wide_enough(-1, 128)], [Int8, Int64]);
        assert_eq!([UInt8.wide_enough(0, 256), Int64.wide_enough(0, 1 << 63)], [Int64, UInt64]);
        for kind in IdType::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
