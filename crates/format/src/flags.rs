//! Flags of pages, by kind (`docs/format.md`).

/// Lists: the page's first list began in an earlier page.
pub const BEGINS_EARLIER: u8 = 1;
/// Lists: the page's last list goes on in the next page.
pub const ENDS_LATER: u8 = 2;
/// Lists: first neighbours are stored relative to their list's vertex.
pub const RELATIVE: u8 = 4;
/// Lists: gaps may be zero: the image keeps parallel edges.
pub const PARALLEL: u8 = 8;
/// Columns: values are distances between successive ones.
pub const DELTA: u8 = 1;
/// Values: they are stored minus the page's base, as blocks.
pub const PACKED: u8 = 1;
