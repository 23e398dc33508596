//! Read planning: a bitmap of wanted pages becomes few, sorted, merged extents.
//!
//! Pages are planned in units of 64, one machine word each: a unit is the largest read, and the unit of work of a
//! worker. Within a unit, wanted pages a short gap apart are read together, since reading the gap costs less than
//! another request. (Liu and Huang, *Graphene*, FAST 2017, section 3.)

use crate::error::Result;
use crate::reader::Reader;
use std::time::Instant;

const PAGE_BYTES: u64 = crate::buffer::PAGE_BYTES as u64;

/// Number of pages of a unit.
pub const UNIT_PAGES: u64 = 64;

/// The gap that is read over on a device without measurement: right for one on which requests below 16 KiB cost the
/// same independent of their size, and 16 KiB more cost as much as a second request (`docs/decisions/0002-reads.md`).
pub const USUAL_GAP_PAGES: u32 = 3;
/// The longest gap that is ever read over.
const MOST_GAP_PAGES: u32 = 8;
/// Smallest number of pages of a file whose device is measured: a smaller file is read in less time than a measurement.
pub const MEASURED_FROM_PAGES: u64 = 8192;
/// The number of requests of one page in a measurement; a fourth as many long ones follow.
const MEASURED_REQUESTS: u64 = 128;
const LONG_PAGES: u64 = 16;

/// Measures what requests and pages cost on the device of a file of `pages` pages, at least [`MEASURED_FROM_PAGES`]:
/// the longest gap that costs no more to read over than another request.
///
/// Reads 640 pages, which takes some milliseconds.
///
/// # Errors
/// A read that fails.
pub fn measure_gap(reader: &mut Reader, file: usize, pages: u64) -> Result<u32> {
    let short = seconds_per_request(reader, file, pages, MEASURED_REQUESTS, 1)?;
    let long = seconds_per_request(reader, file, pages, MEASURED_REQUESTS / 4, LONG_PAGES)?;
    Ok(gap(short, long))
}

/// The gap, from the seconds that a request of one page and a long one take.
fn gap(short: f64, long: f64) -> u32 {
    let page = (long - short) / (LONG_PAGES - 1) as f64;
    let request = short - page;
    // Without cost of pages this is infinite, without cost of requests negative: both are clamped.
    (request / page.max(0.0)).clamp(0.0, f64::from(MOST_GAP_PAGES)) as u32
}

fn seconds_per_request(reader: &mut Reader, file: usize, pages: u64, requests: u64, len: u64) -> Result<f64> {
    let start = Instant::now();
    let mut pushed = 0;
    for _ in 0..requests {
        while pushed < requests {
            // Spread over the file, those of one page and the long ones at different places.
            let page = (pushed * 2 + u64::from(len == 1)) * ((pages - len) / (2 * requests));
            if !reader.push(file, page * PAGE_BYTES, (len * PAGE_BYTES) as usize, pushed)? {
                break;
            }
            pushed += 1;
        }
        reader.submit()?;
        reader.next()?;
    }
    Ok(start.elapsed().as_secs_f64() / requests as f64)
}

/// Adjacent pages of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first page, counted from the unit's first.
    pub start: u32,
    /// The number of pages.
    pub len: u32,
}

/// The extents that cover the pages of `wanted`, in order.
pub fn extents(wanted: u64, merge_gap_pages: u32) -> impl Iterator<Item = Span> {
    let mut remaining = wanted;
    std::iter::from_fn(move || {
        if remaining == 0 {
            return None;
        }
        let start = remaining.trailing_zeros();
        let mut end = start;
        loop {
            end += (remaining >> end).trailing_ones();
            if end >= 64 {
                break;
            }
            let rest = remaining >> end;
            if rest == 0 || rest.trailing_zeros() > merge_gap_pages {
                break;
            }
            end += rest.trailing_zeros();
        }
        remaining = if end >= 64 { 0 } else { remaining & (u64::MAX << end) };
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
    fn gaps_cost_no_more_than_a_request() {
        // A request of one page costs 12 and one of sixteen 42: a page costs 2 and a request 10.
        assert_eq!(gap(12.0, 42.0), 5);
        assert_eq!(gap(2.0, 32.0), 0, "only pages cost");
        assert_eq!(gap(12.0, 12.0), MOST_GAP_PAGES, "only requests cost");
        assert_eq!(gap(12.0, 10.0), MOST_GAP_PAGES);
        assert_eq!(gap(1.0, 100.0), 0);
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
