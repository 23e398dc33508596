//! Semirings: addition and multiplication in a product of matrices.
//!
//! Kepner and Gilbert (editors), *Graph Algorithms in the Language of Linear Algebra*, 2011.

use outcore_ingest::Choice;

/// A semiring: addition and multiplication in a product of matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// A semiring as a type, so that products are monomorphized.
pub(crate) trait Rules: Copy + Sync {
    /// The additive identity: the product of a row without entries.
    const NOTHING: f64;
    /// Whether it is defined for complex numbers.
    const HAS_COMPLEX: bool = false;

    fn add(sum: f64, term: f64) -> f64;

    fn multiply(entry: f64, factor: f64) -> f64;
}

#[derive(Clone, Copy)]
pub(crate) struct PlusTimes;

impl Rules for PlusTimes {
    const NOTHING: f64 = 0.0;
    const HAS_COMPLEX: bool = true;

    #[inline(always)]
    fn add(sum: f64, term: f64) -> f64 {
        sum + term
    }

    #[inline(always)]
    fn multiply(entry: f64, factor: f64) -> f64 {
        entry * factor
    }
}

#[derive(Clone, Copy)]
pub(crate) struct MinPlus;

impl Rules for MinPlus {
    const NOTHING: f64 = f64::INFINITY;

    #[inline(always)]
    fn add(least: f64, term: f64) -> f64 {
        // NaN is kept, as in sums.
        if term < least || term.is_nan() { term } else { least }
    }

    #[inline(always)]
    fn multiply(entry: f64, factor: f64) -> f64 {
        entry + factor
    }
}

#[derive(Clone, Copy)]
pub(crate) struct OrAnd;

impl Rules for OrAnd {
    const NOTHING: f64 = 0.0;

    #[inline(always)]
    fn add(any: f64, term: f64) -> f64 {
        if any != 0.0 { any } else { term }
    }

    #[inline(always)]
    fn multiply(entry: f64, factor: f64) -> f64 {
        if entry != 0.0 && factor != 0.0 { 1.0 } else { 0.0 }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct MaxTimes;

impl Rules for MaxTimes {
    const NOTHING: f64 = f64::NEG_INFINITY;

    #[inline(always)]
    fn add(greatest: f64, term: f64) -> f64 {
        if term > greatest || term.is_nan() { term } else { greatest }
    }

    #[inline(always)]
    fn multiply(entry: f64, factor: f64) -> f64 {
        entry * factor
    }
}

#[derive(Clone, Copy)]
pub(crate) struct PlusFirst;

impl Rules for PlusFirst {
    const NOTHING: f64 = 0.0;

    #[inline(always)]
    fn add(sum: f64, term: f64) -> f64 {
        sum + term
    }

    #[inline(always)]
    fn multiply(entry: f64, _factor: f64) -> f64 {
        entry
    }
}
