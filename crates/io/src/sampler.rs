//! Resource samples over a run: bytes read, CPU time, memory.
//!
//! Steps record their own cost (`image/src/stats.rs`), but a pass of minutes is one step. Samples show the course
//! within it. They cost no worker anything: the thread that waits for the run reads existing counters a few times a
//! second. In Python that is the thread that checks for signals, so every result has its samples; in the shell it is a
//! thread of its own ([`Watch`]), only with a report. Memory is bounded: at [`MOST_SAMPLES`], every second sample is
//! dropped, and the interval doubles. A run of an hour keeps as many as one of a minute.

use crate::process::cpu_seconds;
use crate::runtime::Runtime;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Initial sampling interval.
const EVERY: Duration = Duration::from_millis(50);
/// Largest number of samples.
pub const MOST_SAMPLES: usize = 512;

/// The resources of a run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// Seconds since the run began.
    pub seconds: f64,
    /// The CPU time of the process, since the run began.
    pub seconds_cpu: f64,
    /// The bytes that readers of the runtime read, since the run began.
    pub bytes_read: u64,
    /// Memory in use under the limit, page caches excluded.
    pub memory_bytes: u64,
    /// The memory of page caches.
    pub cache_bytes: u64,
}

/// Samples a run.
#[derive(Debug)]
pub struct Sampler {
    start: Instant,
    every: Duration,
    /// CPU time and bytes read when the run began.
    before: (f64, u64),
    samples: Vec<Sample>,
}

impl Sampler {
    /// Begins a run with a first sample.
    pub fn start(runtime: &Runtime) -> Self {
        let before = (cpu_seconds(), runtime.bytes_read());
        let mut sampler = Sampler { start: Instant::now(), every: EVERY, before, samples: Vec::new() };
        sampler.take(runtime);
        sampler
    }

    /// Takes a sample if the interval has passed.
    pub fn look(&mut self, runtime: &Runtime) {
        let last = self.samples.last().map_or(0.0, |sample| sample.seconds);
        if self.start.elapsed().as_secs_f64() - last >= self.every.as_secs_f64() {
            self.take(runtime);
        }
    }

    /// Ends the run with a last sample.
    pub fn finish(mut self, runtime: &Runtime) -> Vec<Sample> {
        self.take(runtime);
        self.samples
    }

    fn take(&mut self, runtime: &Runtime) {
        if self.samples.len() >= MOST_SAMPLES {
            let mut place = 0;
            self.samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every *= 2;
        }
        let budget = runtime.budget();
        let (memory_bytes, cache_bytes) = budget.used_bytes();
        self.samples.push(Sample {
            seconds: self.start.elapsed().as_secs_f64(),
            seconds_cpu: cpu_seconds() - self.before.0,
            bytes_read: runtime.bytes_read() - self.before.1,
            memory_bytes,
            cache_bytes,
        });
    }
}

/// A thread that takes samples until it is finished or dropped.
#[derive(Debug)]
#[must_use]
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Vec<Sample>>>,
}

impl Watch {
    /// Begins a run. If the thread cannot be started, there are no samples.
    pub fn start(runtime: &Runtime) -> Self {
        let (stop, is_stopped) = channel();
        let (runtime, mut sampler) = (runtime.clone(), Sampler::start(runtime));
        let watch = move || {
            while is_stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                sampler.look(&runtime);
            }
            sampler.finish(&runtime)
        };
        let thread = std::thread::Builder::new().name("samples".to_owned()).spawn(watch).ok();
        Watch { stop: Some(stop), thread }
    }

    /// Ends the run.
    pub fn finish(mut self) -> Vec<Sample> {
        self.stop = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::RuntimeOptions;
    use std::sync::Arc;

    #[test]
    fn samples_are_bounded_and_reach_from_the_start_to_the_end() {
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let mut sampler = Sampler::start(&runtime);
        for _ in 0..10 * MOST_SAMPLES {
            sampler.take(&runtime);
            assert!(sampler.samples.len() <= MOST_SAMPLES);
        }
        assert!(sampler.every >= 8 * EVERY, "{:?}", sampler.every);
        let (first, length) = (sampler.samples[0], sampler.samples.len());
        // The next one is not due yet.
        sampler.look(&runtime);
        assert_eq!(sampler.samples.len(), length);
        let samples = sampler.finish(&runtime);
        assert_eq!(samples[0], first);
        assert!(samples.is_sorted_by_key(|sample| sample.seconds));
        assert!(samples.is_sorted_by_key(|sample| sample.seconds_cpu));
        assert!(samples.iter().all(|sample| sample.memory_bytes <= runtime.budget().limit_bytes()));
    }

    #[test]
    fn a_watch_ends_when_it_is_asked_to_and_when_it_is_dropped() {
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let samples = Watch::start(&runtime).finish();
        assert!(samples.len() >= 2 && samples[0].seconds <= samples[1].seconds, "{samples:?}");
        drop(Watch::start(&runtime));
        let begin = Instant::now();
        while Arc::strong_count(runtime.budget()) > 1 {
            assert!(begin.elapsed() < Duration::from_secs(60), "the thread goes on");
            std::thread::yield_now();
        }
    }
}
