//! A back end over the system's files, between which and the engine a test comes.

use outcore_io::backend::{Backend, Change, FileStatus, Posix, Queue, Region, What};
use outcore_io::{DataFile, Result};
use std::path::Path;
use std::sync::Arc;

type Hook<F> = Option<Box<F>>;
/// Refuses a change, or lets it pass.
type Refuse = dyn Fn(&Change<'_>) -> std::io::Result<()> + Send + Sync;

/// The files of the system, with hooks; without any it is [`Posix`].
#[derive(Default)]
pub struct Hooked {
    /// Called whenever a queue is made.
    pub queue: Hook<dyn Fn() + Send + Sync>,
    /// Refuses changes by an error.
    pub change: Hook<Refuse>,
    /// Changes what is seen of a path or a file.
    pub look: Hook<dyn Fn(FileStatus) -> FileStatus + Send + Sync>,
    /// Free space of every file system, in bytes.
    pub free_bytes: Hook<dyn Fn() -> u64 + Send + Sync>,
}

impl Backend for Hooked {
    fn name(&self) -> &'static str {
        "hooked"
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, threads: usize) -> Result<Box<dyn Queue>> {
        self.queue.iter().for_each(|hook| hook());
        Posix.queue(files, memory, depth, threads)
    }

    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        self.change.as_ref().map_or(Ok(()), |hook| hook(change))?;
        Posix.change(change)
    }

    fn look(&self, what: What<'_>) -> std::io::Result<FileStatus> {
        let status = Posix.look(what)?;
        Ok(self.look.as_ref().map_or(status, |hook| hook(status)))
    }

    fn free_bytes(&self, path: &Path) -> std::io::Result<u64> {
        self.free_bytes.as_ref().map_or_else(|| Posix.free_bytes(path), |hook| Ok(hook()))
    }
}
