//! The types of the elements of dense arrays, as the Python array API names them.

use serde::{Deserialize, Serialize};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// True or false, a byte of 1 or 0.
    Bool,
    /// Whole numbers of 8 bits with a sign.
    Int8,
    /// Whole numbers of 16 bits with a sign.
    Int16,
    /// Whole numbers of 32 bits with a sign.
    Int32,
    /// Whole numbers of 64 bits with a sign.
    Int64,
    /// Whole numbers of 8 bits from 0 on.
    UInt8,
    /// Whole numbers of 16 bits from 0 on.
    UInt16,
    /// Whole numbers of 32 bits from 0 on.
    UInt32,
    /// Whole numbers of 64 bits from 0 on.
    UInt64,
    /// Real numbers of 32 bits.
    Float32,
    /// Real numbers of 64 bits.
    Float64,
}

impl ElementType {
    /// All types.
    pub const ALL: [ElementType; 11] = {
        use ElementType::*;
        [Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float32, Float64]
    };
    /// The names, in the order of the types.
    const NAMES: [&str; 11] =
        ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"];

    /// The name in the manifest and in the array API.
    pub fn name(self) -> &'static str {
        ElementType::NAMES[self as usize]
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        ElementType::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The size of an element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            ElementType::Bool | ElementType::Int8 | ElementType::UInt8 => 1,
            ElementType::Int16 | ElementType::UInt16 => 2,
            ElementType::Int32 | ElementType::UInt32 | ElementType::Float32 => 4,
            ElementType::Int64 | ElementType::UInt64 | ElementType::Float64 => 8,
        }
    }

    /// Whether elements are real numbers.
    pub fn is_real(self) -> bool {
        matches!(self, ElementType::Float32 | ElementType::Float64)
    }

    /// Whether elements are whole numbers with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, ElementType::Int8 | ElementType::Int16 | ElementType::Int32 | ElementType::Int64)
    }

    /// Whether elements are whole numbers from 0 on.
    pub fn is_unsigned(self) -> bool {
        matches!(self, ElementType::UInt8 | ElementType::UInt16 | ElementType::UInt32 | ElementType::UInt64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_types() {
        for kind in ElementType::ALL {
            assert_eq!(ElementType::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("{:?}", kind.name()));
            let kinds = [kind.is_real(), kind.is_signed(), kind.is_unsigned(), kind == ElementType::Bool];
            assert_eq!(kinds.into_iter().filter(|&is| is).count(), 1);
        }
        assert_eq!(ElementType::from_name("complex128"), None);
    }
}
