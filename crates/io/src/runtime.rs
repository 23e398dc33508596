//! The runtime: how much memory, how many workers, which device back end, and whether to stop.
//!
//! There are no globals: everything that reads, allocates or starts threads is given a [`Runtime`].

use crate::backend::Backend;
use crate::error::{Error, Result, bytes_text};
use crate::process::{current_memory_bytes, free_memory_bytes};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// What a runtime may use.
#[derive(Clone, Default)]
pub struct RuntimeOptions {
    /// The limit for all memory of the process, in bytes; `None` takes half of what the machine or its cgroup has left.
    pub memory_bytes: Option<u64>,
    /// The number of workers; `None` takes one per processor.
    pub threads: Option<usize>,
    /// How files are read; `None` takes the best that works here.
    pub backend: Option<Arc<dyn Backend>>,
    /// Where temporary files go; `None` lets the operation choose.
    pub temporary: Option<PathBuf>,
    /// Who is told how far long work has come.
    pub progress: Option<Arc<dyn Progress>>,
}

/// How much memory, how many workers, which back end, and whether to stop.
pub struct Runtime {
    budget: Arc<Budget>,
    threads: usize,
    backend: Arc<dyn Backend>,
    temporary: Option<PathBuf>,
    progress: Option<Arc<dyn Progress>>,
    cancel: CancelFlag,
}

impl Runtime {
    /// A runtime with these limits.
    ///
    /// # Errors
    /// A limit below what the process holds already.
    pub fn new(options: RuntimeOptions) -> Result<Self> {
        let held = current_memory_bytes();
        let limit = match options.memory_bytes {
            Some(bytes) => bytes,
            None => held + free_memory_bytes() / 2,
        };
        let budget = Arc::new(Budget::new(limit, held)?);
        let threads = options.threads.unwrap_or_else(processors).max(1);
        let backend = options.backend.unwrap_or_else(crate::backend::best);
        Ok(Runtime {
            budget,
            threads,
            backend,
            temporary: options.temporary,
            progress: options.progress,
            cancel: CancelFlag::default(),
        })
    }

    /// The same runtime with a budget of its own, which counts what the process holds by now: an operation that has ended may have left memory with the
    /// allocator. Nothing of the old budget may be in use.
    ///
    /// # Errors
    /// A limit below what the process holds already.
    pub fn renewed(&self) -> Result<Self> {
        Ok(Runtime {
            budget: Arc::new(Budget::new(self.budget.limit_bytes(), current_memory_bytes())?),
            threads: self.threads,
            backend: Arc::clone(&self.backend),
            temporary: self.temporary.clone(),
            progress: self.progress.clone(),
            cancel: self.cancel.clone(),
        })
    }

    /// The memory under the limit.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The number of workers.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How files are read.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Where temporary files go, if the user said so.
    pub fn temporary(&self) -> Option<&PathBuf> {
        self.temporary.as_ref()
    }

    /// The flag that asks work to stop.
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// Announces long work; the returned task is advanced as the work goes on and ends when it is dropped.
    pub fn task(&self, name: &str, unit: Unit, total: Option<u64>) -> Task {
        if let Some(progress) = &self.progress {
            progress.start(name, unit, total);
        }
        Task { progress: self.progress.clone() }
    }

    /// Runs `work` once on every worker and returns what each of them found, in the order of the workers.
    ///
    /// Worker 0 is the calling thread.
    ///
    /// # Errors
    /// The error of the first worker that failed.
    pub fn run<T: Send, E: Send>(
        &self,
        work: impl Fn(usize) -> std::result::Result<T, E> + Sync,
    ) -> std::result::Result<Vec<T>, E> {
        self.run_on(self.threads, work)
    }

    /// Like [`run`](Runtime::run), on at most `most` workers: for work of which there may be little.
    ///
    /// # Errors
    /// The error of the first worker that failed.
    pub fn run_on<T: Send, E: Send>(
        &self,
        most: usize,
        work: impl Fn(usize) -> std::result::Result<T, E> + Sync,
    ) -> std::result::Result<Vec<T>, E> {
        let workers = most.clamp(1, self.threads);
        if workers == 1 {
            return Ok(vec![work(0)?]);
        }
        let work = &work;
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|worker| scope.spawn(move || work(worker))).collect();
            let mut results = vec![work(0)];
            results.extend(others.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            results.into_iter().collect()
        })
    }

    /// Splits `0..count` into runs of `step` and hands them to the workers as they become free.
    ///
    /// # Errors
    /// The first error of `work`, or a request to stop, which is looked for before every run.
    pub fn for_each_range<E: Send + From<Error>>(
        &self,
        count: usize,
        step: usize,
        work: impl Fn(std::ops::Range<usize>) -> std::result::Result<(), E> + Sync,
    ) -> std::result::Result<(), E> {
        let next = AtomicUsize::new(0);
        self.run_on::<(), E>(count.div_ceil(step.max(1)), |_| {
            loop {
                let start = next.fetch_add(step, Ordering::Relaxed);
                if start >= count {
                    return Ok(());
                }
                self.cancel.check()?;
                work(start..(start + step).min(count))?;
            }
        })?;
        Ok(())
    }
}

/// The number of processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Asks work to stop. Clones share the flag.
#[derive(Clone, Default, Debug)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes the request back.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error if somebody asked to stop.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// What progress is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input or of pages.
    Bytes,
    /// Edges.
    Edges,
    /// Vertices.
    Vertices,
    /// Iterations or steps.
    Steps,
}

/// Somebody who is told how far long work has come.
pub trait Progress: Send + Sync {
    /// Work begins; `total` is in the same unit, if it is known.
    fn start(&self, name: &str, unit: Unit, total: Option<u64>);
    /// So much more is done.
    fn advance(&self, amount: u64);
    /// Work ends.
    fn finish(&self);
}

/// Work that reports how far it has come.
pub struct Task {
    progress: Option<Arc<dyn Progress>>,
}

impl Task {
    /// So much more is done.
    pub fn advance(&self, amount: u64) {
        if let Some(progress) = &self.progress {
            progress.advance(amount);
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.finish();
        }
    }
}

/// Memory that operations leave to code, stacks and small things.
const SLACK_BYTES: u64 = 6 << 20;

/// The memory under the limit: who needs some reserves it first.
///
/// **Invariant:** `reserved <= limit - what the process held at the start - slack`.
#[derive(Debug)]
pub struct Budget {
    limit_bytes: u64,
    usable_bytes: u64,
    reserved_bytes: AtomicU64,
}

impl Budget {
    /// A budget of `limit_bytes`, of which the process holds `held_bytes` already.
    ///
    /// # Errors
    /// A limit that leaves nothing.
    pub fn new(limit_bytes: u64, held_bytes: u64) -> Result<Self> {
        let needed = held_bytes + SLACK_BYTES;
        if limit_bytes <= needed {
            return Err(Error::Memory {
                purpose: format!("the process itself ({} so far)", bytes_text(held_bytes)),
                needed_bytes: needed + 1,
                available_bytes: limit_bytes,
                limit_bytes,
            });
        }
        Ok(Budget { limit_bytes, usable_bytes: limit_bytes - needed, reserved_bytes: AtomicU64::new(0) })
    }

    /// The limit that the user gave.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// How much can still be reserved.
    pub fn available_bytes(&self) -> u64 {
        self.usable_bytes.saturating_sub(self.reserved_bytes.load(Ordering::Relaxed))
    }

    /// An error unless that much can be reserved.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers.
    pub fn require(&self, purpose: &str, bytes: u64) -> Result<()> {
        let available = self.available_bytes();
        if bytes <= available {
            return Ok(());
        }
        Err(Error::Memory {
            purpose: purpose.to_owned(),
            needed_bytes: bytes,
            available_bytes: available,
            limit_bytes: self.limit_bytes,
        })
    }

    /// Sets memory aside until the reservation is dropped.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers.
    pub fn reserve(self: &Arc<Self>, purpose: &str, bytes: u64) -> Result<Reservation> {
        let add = |reserved: u64| reserved.checked_add(bytes).filter(|&sum| sum <= self.usable_bytes);
        match self.reserved_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(_) => Ok(Reservation { budget: Arc::clone(self), bytes }),
            Err(_) => {
                self.require(purpose, bytes)?;
                // Somebody gave memory back in between: there is room now.
                self.reserve(purpose, bytes)
            }
        }
    }
}

/// Memory that was set aside; it is given back when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Reservation {
    /// How much is set aside.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.reserved_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_are_given_back_and_refusals_say_the_numbers() {
        let budget = Arc::new(Budget::new(100 << 20, 10 << 20).unwrap());
        let usable = budget.available_bytes();
        assert_eq!(usable, (90 << 20) - SLACK_BYTES);
        let half = budget.reserve("half", usable / 2).unwrap();
        let error = budget.reserve("the ranks", usable).unwrap_err().to_string();
        assert!(error.contains("the ranks") && error.contains("84 MiB") && error.contains("42 MiB"), "{error}");
        drop(half);
        drop(budget.reserve("all", usable).unwrap());
        assert!(budget.reserve("overflow", u64::MAX).is_err());
        assert!(Budget::new(10 << 20, 10 << 20).is_err());
    }

    #[test]
    fn every_range_is_visited_once() {
        for threads in [1, 3] {
            let runtime = Runtime::new(RuntimeOptions { threads: Some(threads), ..RuntimeOptions::default() }).unwrap();
            let visits: Vec<AtomicUsize> = (0..1001).map(|_| AtomicUsize::new(0)).collect();
            runtime
                .for_each_range::<Error>(1001, 10, |range| {
                    range.for_each(|i| {
                        visits[i].fetch_add(1, Ordering::Relaxed);
                    });
                    Ok(())
                })
                .unwrap();
            assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            runtime.cancel().cancel();
            let stopped = runtime.for_each_range::<Error>(10, 1, |_| Ok(()));
            assert!(matches!(stopped, Err(Error::Cancelled)));
        }
    }
}
