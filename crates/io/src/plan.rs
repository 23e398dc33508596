//! From wanted pages to reads: a bitmap of pages becomes few, sorted, merged extents.
//!
//! Pages are planned in units of 64, one machine word each: a unit is the largest read, and the piece of work
//! that goes to a worker. Within a unit, wanted pages a short gap apart are read together, since reading the gap costs
//! less than another request. (Liu and Huang, *Graphene*, FAST 2017, section 3.)

/// The pages of a unit.
pub const UNIT_PAGES: u64 = 64;

/// The longest gap that is read over: one page fewer than what costs as much as another request.
///
/// On the SSD this was measured on, requests below 16 KiB cost the same whatever their size, and 16 KiB more cost as
/// much as a second request (`docs/decisions/0002-reads.md`).
pub const MERGE_GAP_PAGES: u32 = 3;

/// Adjacent pages of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first page, counted from the unit's first.
    pub start: u32,
    /// How many pages.
    pub len: u32,
}

/// The extents that bring the pages of `wanted`, in order.
pub fn extents(wanted: u64, merge_gap_pages: u32) -> impl Iterator<Item = Span> {
    let mut left = wanted;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let start = left.trailing_zeros();
        let mut end = start;
        loop {
            end += (left >> end).trailing_ones();
            if end >= 64 {
                break;
            }
            let rest = left >> end;
            if rest == 0 || rest.trailing_zeros() > merge_gap_pages {
                break;
            }
            end += rest.trailing_zeros();
        }
        left = if end >= 64 { 0 } else { left & (u64::MAX << end) };
        Some(Span { start, len: end - start })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(wanted: u64, gap: u32) -> Vec<(u32, u32)> {
        extents(wanted, gap).map(|span| (span.start, span.len)).collect()
    }

    #[test]
    fn short_gaps_are_read_over() {
        assert_eq!(spans(0, 3), []);
        assert_eq!(spans(u64::MAX, 3), [(0, 64)]);
        assert_eq!(spans(0b1000_1001, 3), [(0, 8)]);
        assert_eq!(spans(0b1_0000_1001, 3), [(0, 4), (8, 1)]);
        assert_eq!(spans(0b1001, 0), [(0, 1), (3, 1)]);
        assert_eq!(spans(1 << 63 | 1, 3), [(0, 1), (63, 1)]);
        assert_eq!(spans(1 << 63 | 1, 62), [(0, 64)]);
        assert_eq!(spans(!1, 0), [(1, 63)]);
    }

    #[test]
    fn every_wanted_page_is_in_exactly_one_extent() {
        let mut state = 5u64;
        for round in 0..10_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let wanted = state & state.rotate_left(17) | state & state.rotate_left(31);
            let gap = round % 6;
            let mut covered = 0u64;
            let mut end_before = 0;
            for span in extents(wanted, gap) {
                assert!(span.len > 0 && (end_before == 0 || span.start > end_before + gap));
                let mask = (u64::MAX >> (64 - span.len)) << span.start;
                assert!(wanted >> span.start & 1 == 1 && wanted >> (span.start + span.len - 1) & 1 == 1);
                covered |= mask;
                end_before = span.start + span.len;
            }
            assert_eq!(wanted & !covered, 0);
        }
    }
}
