//! Shared state of inputs that are read together: budget, decompression windows, longest line, back end, cancel flag.

use crate::plan::longest_line_bytes;
use outcore_io::backend::Posix;
use outcore_io::{Backend, Budget, CancelFlag, Reservation, Result, Runtime, lock};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// Shared state of inputs that are read together.
///
/// The reservation for windows grows to the most that were ever open at a time, and stays: an input that is opened
/// again finds its memory.
pub struct InputContext {
    budget: Arc<Budget>,
    state: Mutex<OpenWindows>,
    threads: usize,
    cancel: CancelFlag,
    backend: Arc<dyn Backend>,
    /// Largest length of a line, as the memory left by the first input's window allows.
    longest_line_bytes: OnceLock<usize>,
}

#[derive(Default)]
struct OpenWindows {
    open_bytes: u64,
    reservation: Option<Reservation>,
}

impl InputContext {
    /// A context for inputs that the workers of a runtime read.
    pub fn of(runtime: &Runtime) -> Arc<Self> {
        let backend = Arc::clone(runtime.backend());
        InputContext::with(runtime.budget(), runtime.threads(), runtime.cancel().clone(), backend)
    }

    /// A context for `threads` workers that share the budget. It is never cancelled.
    pub(crate) fn new(budget: &Arc<Budget>, threads: usize) -> Arc<Self> {
        InputContext::with(budget, threads, CancelFlag::default(), Arc::new(Posix))
    }

    fn with(budget: &Arc<Budget>, threads: usize, cancel: CancelFlag, backend: Arc<dyn Backend>) -> Arc<Self> {
        let (budget, longest_line_bytes) = (Arc::clone(budget), OnceLock::new());
        Arc::new(InputContext { budget, state: Mutex::default(), threads, cancel, backend, longest_line_bytes })
    }

    pub(crate) fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Largest length of a line of text in all inputs that are read together.
    pub(crate) fn longest_line_bytes(&self) -> usize {
        let longest = || longest_line_bytes(self.budget.available_bytes(), self.threads);
        *self.longest_line_bytes.get_or_init(longest)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Reserves `len_bytes` for decompressing a stream, until the window is dropped.
    pub(crate) fn open(self: &Arc<Self>, path: &Path, len_bytes: u64) -> Result<Window> {
        let mut state = self.lock();
        let needed_bytes = state.open_bytes.saturating_add(len_bytes);
        if state.reservation.as_ref().is_none_or(|reservation| reservation.bytes() < needed_bytes) {
            let purpose = format!("decompressing {} (less, if it is compressed with a smaller window)", path.display());
            state.reservation = None;
            state.reservation = Some(self.budget.reserve(&purpose, needed_bytes)?);
        }
        state.open_bytes = needed_bytes;
        Ok(Window { context: Arc::clone(self), len_bytes })
    }

    fn lock(&self) -> MutexGuard<'_, OpenWindows> {
        lock(&self.state)
    }
}

/// Memory of one open stream's window, counted until it is dropped.
pub(crate) struct Window {
    context: Arc<InputContext>,
    len_bytes: u64,
}

impl Window {
    pub(crate) fn len_bytes(&self) -> u64 {
        self.len_bytes
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.context.lock().open_bytes -= self.len_bytes;
    }
}
