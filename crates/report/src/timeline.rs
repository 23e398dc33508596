//! Rates over time: between samples, or between steps where there are few samples.

use crate::Report;
use outcore_io::Sample;

/// With fewer samples, steps tell more.
const LEAST_SAMPLES: usize = 10;
/// CPU time and memory of steps are looked at once a millisecond, so that shorter times say nothing about them.
const LEAST_SECONDS: f64 = 2e-3;
/// The most times that a chart tells apart.
const MOST_TIMES: f64 = 400.0;

/// Times, and what happened between each and the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The source of the points: "samples" or "steps".
    pub of: &'static str,
    /// One more than there are values.
    pub seconds: Vec<f64>,
    /// Bytes read in a second.
    pub bytes_per_second: Vec<f64>,
    /// CPU seconds in a second.
    pub busy_cores: Vec<f64>,
    /// Memory taken at the end, without page caches.
    pub memory_bytes: Vec<u64>,
    /// Memory of page caches at the end; empty where steps are all that is known.
    pub cache_bytes: Vec<u64>,
}

impl Timeline {
    /// The timeline of a run.
    pub fn of(report: &Report) -> Self {
        if report.samples.len() >= LEAST_SAMPLES || report.stats.steps.is_empty() {
            return Timeline::of_samples(&report.samples);
        }
        let least = LEAST_SECONDS.max(report.stats.total.seconds / MOST_TIMES);
        let mut timeline = Timeline { of: "steps", ..Timeline::default() };
        let mut last = Sample::default();
        let (mut before, mut now) = (last, last);
        for step in &report.stats.steps {
            now.bytes_read += step.sweep.bytes_read;
            (now.seconds, now.seconds_cpu) = (step.seconds_end, step.seconds_cpu_end);
            now.memory_bytes = step.memory_bytes;
            if now.seconds - last.seconds >= least {
                before = last;
                timeline.push(&mut last, now);
            }
        }
        let mut end = now;
        (end.seconds, end.seconds_cpu) = (report.stats.total.seconds, report.stats.seconds_cpu);
        // A short stretch at the end belongs to the one before it.
        if end.seconds - last.seconds < least && timeline.pop() {
            last = before;
        }
        timeline.push(&mut last, end);
        timeline
    }

    fn of_samples(samples: &[Sample]) -> Self {
        let mut timeline = Timeline { of: "samples", ..Timeline::default() };
        let Some(mut last) = samples.first().copied() else { return timeline };
        for sample in &samples[1..] {
            // The last one may come right behind the one before it.
            if sample.seconds - last.seconds >= LEAST_SECONDS {
                timeline.push(&mut last, *sample);
                timeline.cache_bytes.push(sample.cache_bytes);
            }
        }
        timeline
    }

    /// Takes the last stretch away, if there is one.
    fn pop(&mut self) -> bool {
        self.seconds.pop();
        self.busy_cores.pop();
        self.memory_bytes.pop();
        self.bytes_per_second.pop().is_some()
    }

    fn push(&mut self, last: &mut Sample, now: Sample) {
        let seconds = now.seconds - last.seconds;
        if seconds <= 0.0 {
            return;
        }
        if self.seconds.is_empty() {
            self.seconds.push(last.seconds);
        }
        self.seconds.push(now.seconds);
        self.bytes_per_second.push((now.bytes_read - last.bytes_read) as f64 / seconds);
        self.busy_cores.push(((now.seconds_cpu - last.seconds_cpu) / seconds).max(0.0));
        self.memory_bytes.push(now.memory_bytes);
        *last = now;
    }
}
