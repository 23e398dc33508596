//! Shares: how much a triangle counts at each of its corners, by which `triangles`, `clustering` and `lcc` differ.

/// The contribution of a triangle to one of its corners.
pub(crate) trait Share: Sync {
    /// Whether shares depend on which edges go both ways.
    const BOTH: bool;

    /// The share of a corner. `opposite` is the number of edges that join the two other corners, and `beside` the
    /// product of the numbers of edges that join the corner with either of them.
    fn of(opposite: u64, beside: u64) -> u64;
}

/// Every triangle counts 1, whatever the direction of its edges.
pub(crate) struct One;

impl Share for One {
    const BOTH: bool = false;

    #[inline(always)]
    fn of(_opposite: u64, _beside: u64) -> u64 {
        1
    }
}

/// A triangle counts the edges between the two other corners.
pub(crate) struct Opposite;

impl Share for Opposite {
    const BOTH: bool = true;

    #[inline(always)]
    fn of(opposite: u64, _beside: u64) -> u64 {
        opposite
    }
}

/// A triangle counts the ways to choose one edge on each of its sides.
pub(crate) struct Choices;

impl Share for Choices {
    const BOTH: bool = true;

    #[inline(always)]
    fn of(opposite: u64, beside: u64) -> u64 {
        opposite * beside
    }
}
