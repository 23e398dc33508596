//! Semirings: addition and multiplication in a product of matrices.
//!
//! Kepner and Gilbert (editors), *Graph Algorithms in the Language of Linear Algebra*, 2011.

use outcore_ingest::Choice;

/// A semiring: addition and multiplication in a product of matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Semiring {
    /// Sums of products: the usual product of matrices.
    #[default]
    PlusTimes,
    /// The least of sums: a step of shortest paths.
    MinPlus,
    /// Whether any two are both other than 0, as 1 or 0: a step of a search.
    OrAnd,
    /// The greatest of products.
    MaxTimes,
    /// Sums of entries, whatever they are multiplied by.
    PlusFirst,
}

impl Choice for Semiring {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Semiring::PlusTimes, "plus-times", "Sums of products"),
        (Semiring::MinPlus, "min-plus", "The least of sums"),
        (Semiring::OrAnd, "or-and", "Whether any two are both other than 0, as 1 or 0"),
        (Semiring::MaxTimes, "max-times", "The greatest of products"),
        (Semiring::PlusFirst, "plus-first", "Sums of entries, whatever they are multiplied by"),
    ];
}

outcore_ingest::from_names!(Semiring);

/// A semiring as a type, so that products are monomorphized.
pub(crate) trait Rules: Copy + Sync {
    /// The additive identity: the product of a row without entries.
    const ZERO: f64;
    /// Whether it is defined for complex numbers.
    const HAS_COMPLEX: bool;

    fn add(sum: f64, term: f64) -> f64;

    fn multiply(entry: f64, factor: f64) -> f64;
}

/// Declares semirings as types: the additive identity, whether there are complex numbers, the sum, and the product of
/// an entry and a factor.
macro_rules! rules {
    ($(
        $name:ident: $zero:expr, $complex:expr, |$sum:ident, $term:ident| $add:expr,
            |$entry:ident, $factor:ident| $product:expr;
    )*) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Rules for $name {
            const ZERO: f64 = $zero;
            const HAS_COMPLEX: bool = $complex;

            #[inline(always)]
            fn add($sum: f64, $term: f64) -> f64 {
                $add
            }

            #[inline(always)]
            fn multiply($entry: f64, $factor: f64) -> f64 {
                $product
            }
        }
    )*};
}

// A sum, a minimum or a maximum that is NaN remains so.
rules! {
    PlusTimes: 0.0, true, |sum, term| sum + term, |entry, factor| entry * factor;
    MinPlus: f64::INFINITY, false, |least, term| if term < least || term.is_nan() { term } else { least },
        |entry, factor| entry + factor;
    OrAnd: 0.0, false, |any, term| if any != 0.0 { any } else { term },
        |entry, factor| if entry != 0.0 && factor != 0.0 { 1.0 } else { 0.0 };
    MaxTimes: f64::NEG_INFINITY, false, |greatest, term| if term > greatest || term.is_nan() { term } else { greatest },
        |entry, factor| entry * factor;
    PlusFirst: 0.0, false, |sum, term| sum + term, |entry, _factor| entry;
}
