//! The steps of a run, summed up where there are too many to show.

use outcore_graph::PAGE_BYTES;
use outcore_image::{Stats, Step, SweepStats};

/// The table has at most so many rows.
pub const MOST_ROWS: usize = 200;
/// A row names at most so many kinds of steps.
const MOST_NAMES: usize = 4;

/// Adjacent steps, summed up.
#[derive(Clone, Debug)]
pub struct Row {
    /// The numbers of the first and the last step, from 1.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// Name of the steps.
    pub name: String,
    /// The most vertices that one of them worked on.
    pub active: u64,
    /// When the first began, and the last ended.
    pub seconds_begin: f64,
    /// When the last ended.
    pub seconds_end: f64,
    /// The CPU time from the end of the step before to the end of the last one.
    pub seconds_cpu: f64,
    /// Statistics of their reads.
    pub sweep: SweepStats,
    /// The memory taken at the end.
    pub memory_bytes: u64,
}

/// The rows of the table of steps: one each, or so many adjacent ones that the table is short.
pub fn rows(steps: &[Step]) -> Vec<Row> {
    let size = steps.len().div_ceil(MOST_ROWS).max(1);
    let mut before = (0.0, 0.0);
    let mut rows = Vec::new();
    for (place, group) in steps.chunks(size).enumerate() {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let mut names: Vec<&str> = group.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
        names.truncate(MOST_NAMES);
        let mut sweep = SweepStats::default();
        group.iter().for_each(|step| sweep.add(&step.sweep));
        rows.push(Row {
            first: place * size + 1,
            last: place * size + group.len(),
            name: names.join(", ") + more,
            active: group.iter().map(|step| step.active).max().unwrap_or(0),
            seconds_begin: begin(first, before.0),
            seconds_end: last.seconds_end,
            seconds_cpu: last.seconds_cpu_end - before.1,
            sweep,
            memory_bytes: last.memory_bytes,
        });
        before = (last.seconds_end, last.seconds_cpu_end);
    }
    rows
}

/// When a step began: it read from then on, or from the end of the step before it.
pub fn begin(step: &Step, end_before: f64) -> f64 {
    (step.seconds_end - step.sweep.seconds).max(end_before)
}

/// The bytes that had to come from the device: wanted pages that no cache had.
pub fn bytes_wanted(sweep: &SweepStats) -> u64 {
    sweep.pages_wanted.saturating_sub(sweep.cache_hits) * PAGE_BYTES
}

/// Bytes read over bytes wanted, of steps that say what they wanted; nothing where nothing was.
pub fn amplification(stats: &Stats) -> Option<f64> {
    let known = stats.steps.iter().filter(|step| step.sweep.pages_wanted > 0);
    let (read, wanted) =
        known.fold((0, 0), |(read, wanted), step| (read + step.sweep.bytes_read, wanted + bytes_wanted(&step.sweep)));
    (wanted > 0).then(|| read as f64 / wanted as f64)
}
