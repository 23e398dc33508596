//! What an operation cost: passes, bytes, requests, cache hits, time waiting, peak memory.

use outcore_format::PAGE_BYTES;
use outcore_io::{ReaderStats, Runtime, peak_memory_bytes};
use serde::Serialize;
use std::time::Instant;

/// What one sweep cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SweepStats {
    /// Time from start to end, in seconds.
    pub seconds: f64,
    /// Time that workers waited for reads, summed over the workers, in seconds.
    pub seconds_io_wait: f64,
    /// Pages that hold a wanted list.
    pub pages_wanted: u64,
    /// Pages read from the device, gaps that were read over included.
    pub pages_read: u64,
    /// Reads.
    pub requests: u64,
    /// Wanted pages found in the cache.
    pub cache_hits: u64,
    /// Bytes read from the device.
    pub bytes_read: u64,
}

impl SweepStats {
    /// What a reader read.
    pub(crate) fn of_reads(stats: ReaderStats) -> Self {
        SweepStats {
            seconds_io_wait: stats.wait_ns as f64 / 1e9,
            requests: stats.requests,
            bytes_read: stats.read_bytes,
            pages_read: stats.read_bytes / PAGE_BYTES as u64,
            ..SweepStats::default()
        }
    }

    /// Adds another sweep, or another worker's share of this one; times to wait add up, `seconds` too.
    pub fn add(&mut self, other: &SweepStats) {
        self.seconds += other.seconds;
        self.seconds_io_wait += other.seconds_io_wait;
        self.pages_wanted += other.pages_wanted;
        self.pages_read += other.pages_read;
        self.requests += other.requests;
        self.cache_hits += other.cache_hits;
        self.bytes_read += other.bytes_read;
    }
}

/// One step or iteration of an algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// What was done: "push", "pull", "iteration".
    pub name: &'static str,
    /// How many vertices it worked on.
    pub active: u64,
    /// What it read.
    #[serde(flatten)]
    pub sweep: SweepStats,
}

/// What an operation cost. Serialised, it is one flat object with a list of steps.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// All sweeps together; `seconds` is the time from start to end.
    #[serde(flatten)]
    pub total: SweepStats,
    /// Bytes of pages read, in units of all pages of the lists that the algorithm uses.
    pub passes: f64,
    /// The memory limit in bytes.
    pub memory_limit_bytes: u64,
    /// The most memory that the process held so far, in bytes.
    pub memory_peak_bytes: u64,
    /// The number of workers.
    pub threads: usize,
    /// The back end that read the files.
    pub backend: &'static str,
    /// What ended the iterations of an algorithm that goes on until its values hardly change: "residual", "networkx",
    /// "iterations" or "rounding".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<&'static str>,
    /// One entry per step or iteration; beyond 4096 of them the last entry is the sum of the rest.
    pub steps: Vec<Step>,
    /// The name of the weights that edges counted by; none where all edges counted alike.
    pub weights: Option<String>,
}

/// So many steps are told apart: a long path has a step per vertex.
const MOST_STEPS: usize = 4096;

/// Collects what an operation costs, from its start on.
#[derive(Debug)]
pub struct StatsBuilder {
    start: Instant,
    steps: Vec<Step>,
    other: SweepStats,
    weights: Option<String>,
}

impl Default for StatsBuilder {
    fn default() -> Self {
        StatsBuilder { start: Instant::now(), steps: Vec::new(), other: SweepStats::default(), weights: None }
    }
}

impl StatsBuilder {
    /// Starts the clock.
    pub fn start() -> Self {
        Self::default()
    }

    /// Notes the name of the weights that edges count by.
    pub fn weights(&mut self, name: Option<&str>) {
        self.weights = name.map(str::to_owned);
    }

    /// Adds a step.
    pub fn step(&mut self, name: &'static str, active: u64, sweep: SweepStats) {
        let full = self.steps.len() == MOST_STEPS;
        match self.steps.last_mut() {
            Some(rest) if full => {
                rest.active += active;
                rest.sweep.add(&sweep);
            }
            _ => self.steps.push(Step { name, active, sweep }),
        }
    }

    /// Adds reads that belong to no step, such as columns.
    pub fn other(&mut self, sweep: SweepStats) {
        self.other.add(&sweep);
    }

    /// Stops the clock. `pages_per_pass` is how many pages the lists have that the algorithm reads.
    pub fn finish(self, runtime: &Runtime, pages_per_pass: u64) -> Stats {
        let mut total = self.other;
        let mut list_pages = 0;
        for step in &self.steps {
            total.add(&step.sweep);
            list_pages += step.sweep.pages_read;
        }
        total.seconds = self.start.elapsed().as_secs_f64();
        Stats {
            total,
            passes: list_pages as f64 / pages_per_pass.max(1) as f64,
            memory_limit_bytes: runtime.budget().limit_bytes(),
            memory_peak_bytes: peak_memory_bytes(),
            threads: runtime.threads(),
            backend: runtime.backend().name(),
            stopped_by: None,
            steps: self.steps,
            weights: self.weights,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_beyond_the_most_are_summed_up() {
        let mut stats = StatsBuilder::start();
        for active in 0..10_000 {
            stats.step("push", active, SweepStats { pages_read: 1, ..SweepStats::default() });
        }
        assert_eq!(stats.steps.len(), MOST_STEPS);
        assert_eq!(stats.steps.iter().map(|step| step.active).sum::<u64>(), 9_999 * 5_000);
        assert_eq!(stats.steps.iter().map(|step| step.sweep.pages_read).sum::<u64>(), 10_000);
    }
}
