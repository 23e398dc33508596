//! The runtime: memory limit, workers, device back end, and the flag that stops work.
//!
//! There are no globals: everything that reads, allocates or starts threads is given a [`Runtime`].

use crate::backend::Backend;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::lock::{into_inner, lock};
use crate::process::{current_memory_bytes, free_memory_bytes, machine_memory_bytes};
use crate::shared_cache::{CacheShare, SharedCache};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The most workers that a runtime may have.
pub const MOST_THREADS: usize = 1024;

/// Interval at which a wait for the planning lock checks for a request to stop.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// Limits and resources of a runtime.
#[derive(Clone, Debug, Default)]
pub struct RuntimeOptions {
    /// The limit for all memory of the process, in bytes, at most what the machine has and can swap; `None` takes half
    /// of the free memory of the machine, its cgroup or its resource limits (`ulimit`), plus the memory that counts as
    /// held by the process.
    pub memory_bytes: Option<u64>,
    /// Whether the limit excludes memory that the process already holds, such as that of an interpreter and its
    /// libraries.
    pub beside_process: bool,
    /// The number of workers, from 1 to [`MOST_THREADS`]; `None` takes one per processor.
    pub threads: Option<usize>,
    /// The back end; `None` takes the best that works here.
    pub backend: Option<Arc<dyn Backend>>,
    /// The directory of temporary files; `None` lets the operation choose.
    pub temporary: Option<PathBuf>,
    /// Observer of the progress of long work.
    pub progress: Option<Arc<dyn Progress>>,
}

/// Memory limit, workers, back end, and the flag that stops work. A clone shares all of them.
#[derive(Clone)]
pub struct Runtime {
    budget: Arc<Budget>,
    cache: Arc<SharedCache>,
    threads: usize,
    backend: Arc<dyn Backend>,
    temporary: Option<PathBuf>,
    progress: Option<Arc<dyn Progress>>,
    cancel: CancelFlag,
    planning: Arc<PlanningLock>,
    notes: Arc<Mutex<Vec<String>>>,
    bytes_read: Arc<AtomicU64>,
}

/// The lock of operations that size themselves by the free memory: they run one at a time.
#[derive(Default)]
struct PlanningLock {
    is_locked: Mutex<bool>,
    released: Condvar,
}

/// Fails if no temporary file can be made in a directory.
fn try_temporary(backend: &Arc<dyn Backend>, directory: &Path) -> Result<()> {
    backend.scratch(&directory.join("trial")).map(drop).map_err(|error| match error {
        Error::File { source, .. } => Error::file(directory, "make temporary files in", source),
        other => other,
    })
}

thread_local! {
    /// The planning locks that operations on this thread hold.
    static PLANNING: RefCell<Vec<*const PlanningLock>> = const { RefCell::new(Vec::new()) };
    /// Whether an operation waits for rows that the caller makes on this thread.
    static MAKING_ROWS: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of the caller that makes rows for an operation, such as an import. An operation that this code starts does
/// not wait for a planning lock, for the operation that holds it continues only when the rows are there.
pub fn making_rows<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            MAKING_ROWS.set(self.0);
        }
    }
    let _restore = Restore(MAKING_ROWS.replace(true));
    work()
}

/// Whether this thread makes rows for an operation: see [`making_rows`].
pub fn is_making_rows() -> bool {
    MAKING_ROWS.get()
}

/// The planning lock, held by one operation on this thread until this is dropped.
#[must_use]
pub struct Turn {
    /// None within an operation that has the lock already.
    lock: Option<Arc<PlanningLock>>,
    /// It is dropped on its own thread.
    _thread: PhantomData<*const ()>,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("is_inner", &self.lock.is_none()).finish_non_exhaustive()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(planning) = &self.lock else { return };
        PLANNING.with_borrow_mut(|locks| locks.retain(|&each| each != Arc::as_ptr(planning)));
        *lock(&planning.is_locked) = false;
        planning.released.notify_one();
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut runtime = f.debug_struct("Runtime");
        runtime.field("budget", &self.budget).field("threads", &self.threads).field("backend", &self.backend.name());
        runtime.field("temporary", &self.temporary).finish_non_exhaustive()
    }
}

impl Runtime {
    /// A runtime with these limits.
    ///
    /// # Errors
    /// A limit below the memory that the process already holds; [`Error::ThreadCount`]; a directory of temporary files
    /// in which none can be made.
    pub fn new(options: RuntimeOptions) -> Result<Self> {
        let threads = thread_count(options.threads, processors().min(MOST_THREADS))?;
        let process_bytes = if options.beside_process { 0 } else { current_memory_bytes() };
        let limit = match options.memory_bytes {
            Some(bytes) => bytes.min(machine_memory_bytes()),
            None => process_bytes + free_memory_bytes() / 2,
        };
        let budget = Arc::new(Budget::new(limit, process_bytes)?);
        let backend = options.backend.unwrap_or_else(crate::backend::best);
        options.temporary.as_ref().map_or(Ok(()), |directory| try_temporary(&backend, directory))?;
        Ok(Runtime {
            budget,
            cache: Arc::default(),
            threads,
            backend,
            temporary: options.temporary,
            progress: options.progress,
            cancel: CancelFlag::default(),
            planning: Arc::default(),
            notes: Arc::default(),
            bytes_read: Arc::default(),
        })
    }

    /// A runtime of the same memory, workers and back end, whose reservations carry the name of an owner.
    #[must_use]
    pub fn in_name_of(&self, owner: &str) -> Self {
        Runtime { budget: Arc::new(self.budget.in_name_of(owner)), ..self.clone() }
    }

    /// A runtime of the same memory, workers and back end for one operation: it is stopped on its own, or with all
    /// others by the runtime that [`Runtime::new`] made; it shows its progress to `progress` alone, and has its own
    /// notes and its own count of bytes read.
    #[must_use]
    pub fn for_operation(&self, progress: Option<Arc<dyn Progress>>) -> Self {
        let (notes, bytes_read) = Default::default();
        Runtime { progress, cancel: self.cancel.of_operation(), notes, bytes_read, ..self.clone() }
    }

    /// [`Runtime::for_operation`] for work that is a part of other work: it is stopped as that is, and shows no
    /// progress.
    #[must_use]
    pub fn stopped_by(&self, cancel: &CancelFlag) -> Self {
        Runtime { cancel: cancel.clone(), ..self.for_operation(None) }
    }

    /// [`Runtime::for_operation`] with options: one that is not `None` replaces that of this runtime, except for the
    /// limit of memory, which stays.
    ///
    /// # Errors
    /// [`Error::ThreadCount`].
    pub fn for_work(&self, options: RuntimeOptions) -> Result<Self> {
        let same = self.in_name_of("").for_operation(options.progress);
        Ok(Runtime {
            threads: thread_count(options.threads, self.threads)?,
            backend: options.backend.unwrap_or_else(|| Arc::clone(&same.backend)),
            temporary: options.temporary.or_else(|| same.temporary.clone()),
            ..same
        })
    }

    /// A runtime of the same memory and work with another back end, on at most `most_threads` workers.
    #[must_use]
    pub fn with_backend(&self, backend: Arc<dyn Backend>, most_threads: usize) -> Self {
        Runtime { backend, threads: self.threads.min(most_threads).max(1), ..self.in_name_of("") }
    }

    /// Adds a note to the user about the input, in whole sentences. The operation that began the work reports it, once.
    pub fn note(&self, text: String) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// The notes of all work since the last call.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.notes))
    }

    /// A runtime with a budget of its own, which counts the memory that the process holds now: an operation that has
    /// ended may have left memory with the allocator. Nothing of the old budget may be in use.
    ///
    /// # Errors
    /// A limit below the memory that the process already holds.
    pub fn renewed(&self) -> Result<Self> {
        let budget = Budget::new(self.budget.limit_bytes(), current_memory_bytes())?;
        Ok(Runtime { budget: Arc::new(budget), cache: Arc::default(), ..self.in_name_of("") })
    }

    /// A runtime to plan with under another limit: see [`Budget::within`].
    ///
    /// # Errors
    /// A limit that leaves no memory, or less than is reserved.
    pub fn within(&self, limit_bytes: u64) -> Result<Self> {
        let budget = Arc::new(self.budget.within(limit_bytes)?);
        Ok(Runtime { budget, cache: Arc::default(), ..self.stopped_by(&self.cancel) })
    }

    /// The memory under the limit.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// A share in the page cache for an image; `identity` tells it apart from any other and from itself after a change.
    #[doc(hidden)]
    pub fn cache_share(&self, identity: u64) -> CacheShare {
        self.cache.share(identity)
    }

    /// The number of workers.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The back end.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// The directory of temporary files, if the user chose one.
    pub fn temporary(&self) -> Option<&PathBuf> {
        self.temporary.as_ref()
    }

    /// The flag that asks work to stop.
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// The bytes that readers of this runtime have read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The counter behind [`bytes_read`](Runtime::bytes_read), for readers.
    pub(crate) fn bytes_read_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    /// Observer of the progress of long work.
    pub fn progress(&self) -> Option<&Arc<dyn Progress>> {
        self.progress.as_ref()
    }

    /// Waits for the planning lock of this memory and takes it: for operations that size themselves by the free memory,
    /// such as imports. Other operations continue meanwhile. Within an operation that holds the lock on this thread, or
    /// that waits for rows made on it ([`making_rows`]), nothing is waited for.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn turn(&self) -> Result<Turn> {
        let place = Arc::as_ptr(&self.planning);
        if is_making_rows() || PLANNING.with_borrow(|locks| locks.contains(&place)) {
            return Ok(Turn { lock: None, _thread: PhantomData });
        }
        let mut is_locked = lock(&self.planning.is_locked);
        while *is_locked {
            self.cancel.check()?;
            let waited = self.planning.released.wait_timeout(is_locked, CANCEL_CHECK);
            is_locked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_locked = true;
        PLANNING.with_borrow_mut(|locks| locks.push(place));
        Ok(Turn { lock: Some(Arc::clone(&self.planning)), _thread: PhantomData })
    }

    /// Announces long work; the returned task is advanced as the work goes on and ends when it is dropped.
    pub fn task(&self, name: &str, unit: Unit, total: Option<u64>) -> Task {
        if let Some(progress) = &self.progress {
            progress.start(name, unit, total);
        }
        Task { progress: self.progress.clone() }
    }

    /// Runs `work` once on every worker and returns the results in the order of the workers.
    ///
    /// Worker 0 is the calling thread.
    ///
    /// # Errors
    /// The error of the first worker that failed, or [`Error::ThreadRefused`].
    pub fn run<T: Send, E: Send + From<Error>>(
        &self,
        work: impl Fn(usize) -> std::result::Result<T, E> + Sync,
    ) -> std::result::Result<Vec<T>, E> {
        self.run_on(self.threads, work)
    }

    /// Like [`run`](Runtime::run), on at most `most` workers: for work that may be small.
    ///
    /// # Errors
    /// The error of the first worker that failed, or [`Error::ThreadRefused`]: no worker has begun in this case.
    pub fn run_on<T: Send, E: Send + From<Error>>(
        &self,
        most: usize,
        work: impl Fn(usize) -> std::result::Result<T, E> + Sync,
    ) -> std::result::Result<Vec<T>, E> {
        let workers = most.clamp(1, self.threads);
        if workers == 1 {
            return Ok(vec![work(0)?]);
        }
        let results: Vec<_> = (0..workers).map(|_| Mutex::new(None)).collect();
        on_threads(workers, &|worker| *lock(&results[worker]) = Some(work(worker)))?;
        results.into_iter().filter_map(into_inner).collect()
    }

    /// Splits `0..count` into runs of `step` and assigns them to the workers as they become free.
    ///
    /// # Errors
    /// The error of the first worker that failed, or a request to stop. Both are checked before every run: the other
    /// workers end with the runs that they have begun.
    ///
    /// # Panics
    /// If `step` is 0.
    pub fn for_each_range<E: Send + From<Error>>(
        &self,
        count: usize,
        step: usize,
        work: impl Fn(std::ops::Range<usize>) -> std::result::Result<(), E> + Sync,
    ) -> std::result::Result<(), E> {
        self.for_each_run(count, step, &work)
    }

    /// [`Runtime::for_each_range`], compiled once per type of error: the call per range costs nothing beside its work.
    fn for_each_run<E: Send + From<Error>>(
        &self,
        count: usize,
        step: usize,
        work: &(dyn Fn(std::ops::Range<usize>) -> std::result::Result<(), E> + Sync),
    ) -> std::result::Result<(), E> {
        assert!(step > 0, "runs of {count} places have a length");
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        self.run_on::<(), E>(count.div_ceil(step), |_| {
            loop {
                let start = next.fetch_add(step, Ordering::Relaxed);
                if start >= count || stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.cancel.check()?;
                work(start..start.saturating_add(step).min(count))
                    .inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
        })?;
        Ok(())
    }
}

/// Calls `work` with every number below `workers`, 0 on this thread and the others on threads of their own, which begin
/// when all exist. Compiled once: its callers are generic, and the code that starts threads is long.
fn on_threads(workers: usize, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
    let all_started = &OnceLock::<bool>::new();
    std::thread::scope(|scope| {
        let mut others = Vec::with_capacity(workers - 1);
        for worker in 1..workers {
            let begin = move || {
                if *all_started.wait() {
                    work(worker);
                }
            };
            match std::thread::Builder::new().spawn_scoped(scope, begin) {
                Ok(thread) => others.push(thread),
                Err(source) => {
                    all_started.get_or_init(|| false);
                    return Err(Error::ThreadRefused { source });
                }
            }
        }
        all_started.get_or_init(|| true);
        work(0);
        others.into_iter().for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok(())
    })
}

/// The requested number of threads, or the usual one; fails if it is out of range.
fn thread_count(threads: Option<usize>, usual: usize) -> Result<usize> {
    match threads {
        None => Ok(usual),
        Some(threads @ 1..=MOST_THREADS) => Ok(threads),
        Some(found) => Err(Error::ThreadCount { most: MOST_THREADS, found }),
    }
}

/// The number of processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// Asks work to stop. Clones share the flag.
#[derive(Clone, Default, Debug)]
pub struct CancelFlag {
    own: Arc<AtomicBool>,
    /// The flag that stops all operations of a runtime; none if this is that flag.
    of_all: Option<Arc<AtomicBool>>,
}

impl CancelFlag {
    /// A flag of one operation more, which stops with all others, too.
    fn of_operation(&self) -> Self {
        let of_all = self.of_all.as_ref().unwrap_or(&self.own);
        CancelFlag { own: Arc::default(), of_all: Some(Arc::clone(of_all)) }
    }

    /// Asks to stop.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// A guard that asks to stop when it is dropped, as with the future of a request that nobody waits for any more.
    pub fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }

    /// Withdraws the request, but not one to stop all operations of the runtime.
    pub fn reset(&self) {
        self.own.store(false, Ordering::Relaxed);
    }

    /// Whether a stop was requested, of this work or of all.
    pub fn is_cancelled(&self) -> bool {
        self.own.load(Ordering::Relaxed) || self.of_all.as_ref().is_some_and(|all| all.load(Ordering::Relaxed))
    }

    /// Fails if a stop was requested.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Asks work to stop when it is dropped: [`CancelFlag::cancel_on_drop`].
#[derive(Debug)]
#[must_use = "the work is asked to stop when this is dropped"]
pub struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Unit of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes of input or of pages.
    Bytes,
    /// Edges.
    Edges,
    /// Vertices.
    Vertices,
    /// Iterations or steps.
    Steps,
    /// Products with vectors.
    Products,
    /// Rows of an array.
    Rows,
}

impl Unit {
    /// Its name, in the plural.
    pub fn name(self) -> &'static str {
        ["bytes", "edges", "vertices", "steps", "products", "rows"][self as usize]
    }
}

/// An observer of the progress of long work. Workers call it: it must be quick. As it is [`Any`], its creator gets it
/// back through [`Runtime::progress`].
pub trait Progress: Any + Send + Sync {
    /// Work begins; `total` is in the same unit, if it is known.
    fn start(&self, name: &str, unit: Unit, total: Option<u64>);
    /// Counts `amount` more units of progress.
    fn advance(&self, amount: u64);
    /// Work ends.
    fn finish(&self);
}

impl std::fmt::Debug for dyn Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

/// A long operation that reports its progress.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Task {
    progress: Option<Arc<dyn Progress>>,
}

impl Task {
    /// Counts `amount` more units of progress.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_a_runtime_cannot_have_are_refused() {
        let options = |threads| RuntimeOptions { threads: Some(threads), ..RuntimeOptions::default() };
        let sound = Runtime::new(options(MOST_THREADS)).unwrap();
        for wrong in [0, MOST_THREADS + 1, usize::MAX] {
            for refused in [Runtime::new(options(wrong)), sound.for_work(options(wrong))] {
                let error = refused.expect_err("too few or too many");
                assert_eq!(error.to_string(), format!("expected threads from 1 to 1024, found {wrong}"));
            }
        }
        assert_eq!(sound.for_work(options(3)).unwrap().threads(), 3);
        assert_eq!(sound.for_work(RuntimeOptions::default()).unwrap().threads(), MOST_THREADS);
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

    #[test]
    fn an_operation_stops_on_its_own_or_with_all_others() {
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let [first, second] = [&runtime, &runtime].map(|runtime| runtime.for_operation(None));
        let part = second.for_operation(None);
        let stopped = || [&runtime, &first, &second, &part].map(|each| each.cancel().is_cancelled());
        drop(second.cancel().cancel_on_drop());
        assert_eq!(stopped(), [false, false, true, false]);
        second.cancel().reset();
        runtime.cancel().cancel();
        assert_eq!(stopped(), [true; 4]);
        first.cancel().reset();
        assert_eq!(stopped(), [true; 4], "the request to all stays");
        runtime.cancel().reset();
        assert_eq!(stopped(), [false; 4]);
    }

    #[test]
    fn results_are_in_the_order_of_workers_and_the_error_of_any_of_them_is_returned() {
        let runtime = Runtime::new(RuntimeOptions { threads: Some(3), ..RuntimeOptions::default() }).unwrap();
        assert_eq!(runtime.run::<_, Error>(Ok).unwrap(), [0, 1, 2]);
        for failing in 0..3 {
            let outcome = runtime.run(|worker| if worker == failing { Err(Error::Cancelled) } else { Ok(()) });
            assert!(matches!(outcome, Err(Error::Cancelled)), "worker {failing}");
        }
    }

    #[test]
    fn a_failed_range_ends_all_workers() {
        for threads in [1, 2, 4] {
            let runtime = Runtime::new(RuntimeOptions { threads: Some(threads), ..RuntimeOptions::default() }).unwrap();
            let (begun, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
            let outcome = runtime.for_each_range::<Error>(1 << 40, 1, |range| {
                begun.fetch_add(1, Ordering::Relaxed);
                if range.start == 10 {
                    failed.store(true, Ordering::Relaxed);
                    return Err(Error::Cancelled);
                }
                // The others wait for the failure: each of them has one range then.
                while range.start > 10 && !failed.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                Ok(())
            });
            assert!(matches!(outcome, Err(Error::Cancelled)), "{threads} threads");
            // Between the error and its notice a worker may begin some.
            assert!(begun.load(Ordering::Relaxed) < 1 << 20, "{threads} threads");
        }
    }

    #[test]
    #[should_panic(expected = "runs of 10 places have a length")]
    fn ranges_without_a_length_are_refused() {
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let _ = runtime.for_each_range::<Error>(10, 0, |_| Ok(()));
    }
}
