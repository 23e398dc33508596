//! Cost of an operation: passes, bytes, requests, cache hits, time waiting, peak memory.

use crate::image::Image;
use crate::{Error, Result};
use outcore_format::PAGE_BYTES;
use outcore_io::{Budget, ReaderStats, Runtime, cpu_seconds, peak_memory_bytes};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Cost of one sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
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
    /// The cost of reads whose pages were all wanted or read over.
    #[doc(hidden)]
    pub fn of_reads(stats: ReaderStats) -> Self {
        SweepStats {
            seconds_io_wait: stats.wait_ns as f64 / 1e9,
            requests: stats.requests,
            bytes_read: stats.read_bytes,
            pages_read: stats.read_bytes / PAGE_BYTES as u64,
            ..SweepStats::default()
        }
    }

    /// Adds another sweep, or another worker's share of this one; waiting times add up, `seconds` too.
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
#[non_exhaustive]
pub struct Step {
    /// The kind of step: "push", "pull", "iteration".
    pub name: &'static str,
    /// Number of vertices that it processed.
    pub active: u64,
    /// Cost of its reads.
    #[serde(flatten)]
    pub sweep: SweepStats,
    /// End of the step, in seconds since the operation began.
    pub seconds_end: f64,
    /// The CPU time of the process since the operation began, at the end of the step. Measured at most once a
    /// millisecond: a shorter step may repeat the value of the one before it.
    pub seconds_cpu_end: f64,
    /// Memory in use under the limit at the end of the step, page caches excluded; measured as often.
    pub memory_bytes: u64,
}

/// Cost of an operation. Serialised, it is one flat object with a list of steps; `Debug` shows how many there are.
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// All sweeps together; `seconds` is the time from start to end.
    #[serde(flatten)]
    pub total: SweepStats,
    /// Bytes of pages read, in units of all pages of the lists that the algorithm uses.
    pub passes: f64,
    /// The memory limit in bytes.
    pub memory_limit_bytes: u64,
    /// The peak memory of the process so far, in bytes.
    pub memory_peak_bytes: u64,
    /// The CPU time of all threads of the process from start to end, in seconds, including unrelated work.
    pub seconds_cpu: f64,
    /// The number of workers.
    pub threads: usize,
    /// The back end that read the files.
    pub backend: &'static str,
    /// The reason why an iteration until convergence ended: "residual", "networkx", "iterations" or "rounding".
    pub stopped_by: Option<&'static str>,
    /// One entry per step or iteration; beyond 4096 of them the last entry is the sum of the rest.
    pub steps: Vec<Step>,
    /// The name of the weights; `None` if all edges counted alike.
    pub weights: Option<String>,
    /// The id of the image whose lists it read, where it is one.
    #[serde(skip)]
    image_id: Option<u64>,
}

impl std::fmt::Debug for Stats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut stats = f.debug_struct("Stats");
        stats.field("total", &self.total).field("passes", &self.passes).field("steps", &self.steps.len());
        stats.field("memory_limit_bytes", &self.memory_limit_bytes);
        stats.field("memory_peak_bytes", &self.memory_peak_bytes).field("seconds_cpu", &self.seconds_cpu);
        stats.field("threads", &self.threads).field("backend", &self.backend).field("stopped_by", &self.stopped_by);
        stats.field("weights", &self.weights).finish_non_exhaustive()
    }
}

impl Stats {
    /// Refuses an image other than the one that the operation read. A copy of it, or another import of the same, is the
    /// same.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check_image(&self, image: &Image) -> Result<()> {
        let (own, other) = (image.manifest().image_id, self.image_id);
        if other == Some(own) {
            return Ok(());
        }
        let other = other.map_or("none".to_owned(), |id| format!("{id:016x}"));
        Err(Error::Usage(format!("expected a result of this graph, whose image is {own:016x}, found one of {other}")))
    }

    /// Adds the cost of another operation, which began when this one ended. The limit and the workers stay.
    pub fn append(&mut self, next: Stats) {
        let (seconds, seconds_cpu) = (self.total.seconds, self.seconds_cpu);
        self.total.add(&next.total);
        self.seconds_cpu += next.seconds_cpu;
        self.passes += next.passes;
        self.memory_peak_bytes = self.memory_peak_bytes.max(next.memory_peak_bytes);
        for step in next.steps {
            let (seconds_end, seconds_cpu_end) = (seconds + step.seconds_end, seconds_cpu + step.seconds_cpu_end);
            let (step, is_full) = (Step { seconds_end, seconds_cpu_end, ..step }, self.steps.len() == MOST_STEPS);
            match self.steps.last_mut() {
                Some(rest) if is_full => {
                    let (name, active, mut sweep) = (rest.name, rest.active + step.active, rest.sweep);
                    sweep.add(&step.sweep);
                    *rest = Step { name, active, sweep, ..step };
                }
                _ => self.steps.push(step),
            }
        }
    }
}

/// Largest number of distinct steps: a long path has a step per vertex.
const MOST_STEPS: usize = 4096;

/// Shortest interval between two measurements of CPU time and memory: steps may take microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Collects the cost of an operation, from its start on.
#[derive(Debug)]
pub struct StatsBuilder {
    start: Instant,
    /// The CPU time of the process when the operation began.
    cpu_before: f64,
    /// The budget whose memory is measured, if any.
    budget: Option<Arc<Budget>>,
    /// Time, CPU time and memory of the last measurement.
    looked: (Duration, f64, u64),
    steps: Vec<Step>,
    other: SweepStats,
    weights: Option<String>,
    image_id: Option<u64>,
}

impl StatsBuilder {
    /// Starts the clock, for a nested operation or a few products: the `memory_bytes` of its steps are 0.
    pub fn start() -> Self {
        StatsBuilder {
            start: Instant::now(),
            cpu_before: cpu_seconds(),
            budget: None,
            looked: (Duration::ZERO, 0.0, 0),
            steps: Vec::new(),
            other: SweepStats::default(),
            weights: None,
            image_id: None,
        }
    }

    /// Starts the clock of an operation in this runtime, whose memory every step measures.
    pub fn of(runtime: &Runtime) -> Self {
        let mut stats = StatsBuilder { budget: Some(Arc::clone(runtime.budget())), ..Self::start() };
        stats.look(Duration::ZERO);
        stats
    }

    /// Starts the clock of an operation on an image, to which its result belongs.
    pub fn of_image(image: &Image) -> Self {
        StatsBuilder { image_id: Some(image.manifest().image_id), ..Self::of(image.runtime()) }
    }

    /// Sets the name of the weights.
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
            _ => {
                let end = self.start.elapsed();
                if end - self.looked.0 >= LOOK_EVERY {
                    self.look(end);
                }
                let (_, seconds_cpu_end, memory_bytes) = self.looked;
                let seconds_end = end.as_secs_f64();
                self.steps.push(Step { name, active, sweep, seconds_end, seconds_cpu_end, memory_bytes });
            }
        }
    }

    /// Measures CPU time and memory.
    fn look(&mut self, now: Duration) {
        let memory_bytes = self.budget.as_ref().map_or(0, |budget| budget.used_bytes().0);
        self.looked = (now, cpu_seconds() - self.cpu_before, memory_bytes);
    }

    /// Adds reads that belong to no step, such as columns.
    pub fn other(&mut self, sweep: SweepStats) {
        self.other.add(&sweep);
    }

    /// Stops the clock. `pages_per_pass` is the number of pages of the lists that the algorithm reads.
    pub fn finish(mut self, runtime: &Runtime, pages_per_pass: u64) -> Stats {
        if self.steps.len() == MOST_STEPS {
            // The last step is the sum of the steps beyond the limit, which end now.
            self.look(self.start.elapsed());
            let (end, seconds_cpu_end, memory_bytes) = self.looked;
            if let Some(rest) = self.steps.last_mut() {
                (rest.seconds_end, rest.seconds_cpu_end) = (end.as_secs_f64(), seconds_cpu_end);
                rest.memory_bytes = memory_bytes;
            }
        }
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
            seconds_cpu: cpu_seconds() - self.cpu_before,
            threads: runtime.threads(),
            backend: runtime.backend().name(),
            stopped_by: None,
            steps: self.steps,
            weights: self.weights,
            image_id: self.image_id,
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

    #[test]
    fn costs_of_several_operations_have_as_few_steps() {
        let runtime = Runtime::new(outcore_io::RuntimeOptions::default()).unwrap();
        let stats = |first: u64, count: u64| {
            let mut stats = StatsBuilder::start();
            for active in first..first + count {
                stats.step("pass", active, SweepStats { pages_read: 1, ..SweepStats::default() });
            }
            stats.finish(&runtime, 1)
        };
        let mut all = stats(0, 3000);
        let next = stats(3000, 1096);
        all.append(next.clone());
        assert_eq!(all.steps.len(), MOST_STEPS);
        let last = all.steps.last().unwrap();
        assert_eq!((last.active, last.sweep.pages_read), (4095, 1));
        let before = all.total.seconds;
        all.append(next);
        all.append(stats(4096, 2));
        assert_eq!(all.steps.len(), MOST_STEPS);
        let last = all.steps.last().unwrap();
        assert_eq!((last.name, last.sweep.pages_read), ("pass", 1 + 1096 + 2));
        assert_eq!(last.active, 4095 + (3000..4096).sum::<u64>() + 4096 + 4097);
        assert!(last.seconds_end >= before && last.seconds_end <= all.total.seconds, "{last:?}");
        assert!(all.steps.is_sorted_by_key(|step| step.seconds_end));
        assert_eq!((all.total.pages_read, all.passes), (5194, 5194.0));
    }

    #[test]
    fn steps_say_when_they_ended_and_what_was_taken_by_then() {
        let runtime = Runtime::new(outcore_io::RuntimeOptions::default()).unwrap();
        let (before, _) = runtime.budget().used_bytes();
        let mut stats = StatsBuilder::of(&runtime);
        stats.step("short", 1, SweepStats::default());
        let reservation = runtime.budget().reserve("a test", 1 << 20).unwrap();
        // Longer than the measuring interval, in CPU time too.
        let mut sum = 0u64;
        while stats.start.elapsed() < 4 * LOOK_EVERY {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        stats.step("long", 1, SweepStats::default());
        drop(reservation);
        for active in 2..MOST_STEPS as u64 + 10 {
            stats.step("push", active, SweepStats::default());
        }
        std::thread::sleep(2 * LOOK_EVERY);
        let stats = stats.finish(&runtime, 1);
        let steps = &stats.steps;
        assert!(steps.is_sorted_by_key(|step| step.seconds_end), "{steps:?}");
        assert!(steps.is_sorted_by_key(|step| step.seconds_cpu_end), "{steps:?}");
        let (short, long, rest) = (&steps[0], &steps[1], &steps[MOST_STEPS - 1]);
        assert!(long.seconds_cpu_end > 0.0 && long.seconds_end >= 4e-3 && rest.seconds_end >= 6e-3, "{rest:?}");
        assert_eq!([short.memory_bytes, long.memory_bytes, rest.memory_bytes], [before, before + (1 << 20), before]);
        assert!(stats.seconds_cpu >= rest.seconds_cpu_end);
    }
}
