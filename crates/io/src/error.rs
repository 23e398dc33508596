//! The one error type of all crates: the device, the memory, the bytes, the input, the result, or the question.

mod fields;
mod kind;
mod sizes;
mod text;

use serde::Serialize;
use std::path::{Path, PathBuf};

pub use kind::ErrorKind;
pub use sizes::{bytes_text, differing_texts, limit_text, parse_bytes};

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of an operation. [`Error::kind`] sorts it for programs.
///
/// Texts name options as the command has them: `--require-edges` is the field `require_edges` of the options in Rust.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused or broke off an operation on a file.
    File {
        /// The file.
        path: PathBuf,
        /// The failed operation, as a verb: "read", "create", "rename".
        operation: &'static str,
        /// Offset in the file, in bytes, where that applies.
        offset_bytes: Option<u64>,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// An operation needs more memory than the limit leaves.
    Memory {
        /// Purpose of the memory.
        purpose: String,
        /// Bytes that it needs.
        needed_bytes: u64,
        /// Bytes that can be reserved under the limit.
        available_bytes: u64,
        /// The limit.
        limit_bytes: u64,
        /// The smallest limit that is enough, as far as it is known.
        advised_bytes: u64,
        /// Holders of the memory that is not available, the largest first.
        holders: Vec<Holder>,
    },
    /// Memory that the limit leaves, and that the operating system refused.
    MemoryRefused {
        /// Purpose of the memory.
        purpose: String,
        /// Bytes that it needs.
        needed_bytes: u64,
        /// The limit of the process's addresses, if it has one.
        most_bytes: Option<u64>,
    },
    /// An object was used in another process than the one that opened it, as happens after a fork.
    OtherProcess {
        /// Its name, if it has one.
        name: String,
        /// The process that opened it.
        opened_by: u32,
    },
    /// A number of threads that a runtime cannot have.
    ThreadCount {
        /// Largest number of threads.
        most: usize,
        /// The requested number.
        found: usize,
    },
    /// The operating system refused to start a thread.
    ThreadRefused {
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The user asked to stop.
    Cancelled,
    /// A stream is used again after it failed: what it had read by then is lost.
    StreamFailed {
        /// The error that ended it, as text.
        earlier: String,
    },
    /// An image with damaged or unexpected bytes.
    Corrupt {
        /// The file of the image.
        path: PathBuf,
        /// Offset in the file, in bytes.
        offset_bytes: u64,
        /// Description of the expected contents.
        expected: String,
        /// Description of the actual contents.
        found: String,
    },
    /// An input file that violates its format.
    Input {
        /// The file, or a name for a stream.
        path: PathBuf,
        /// The line (from 1), or the row or record of a binary file.
        line: Option<u64>,
        /// Description of the expected contents.
        expected: String,
        /// Description of the actual contents.
        found: String,
        /// Advice; may be empty.
        advice: String,
    },
    /// A wrong result, detected by its verification: a defect.
    Verification {
        /// The property of a right result.
        expected: String,
        /// The property of this result.
        found: String,
    },
    /// An invalid option, or options that exclude each other.
    Usage(String),
    /// An index that an axis does not have.
    Index(String),
    /// A graph that lacks a requirement, such as weights, or exceeds a limit, such as that of paths.
    Unsuitable(String),
    /// A path where there is no image.
    NoImage {
        /// The path.
        path: PathBuf,
        /// Description of the path's contents.
        found: String,
        /// Advice.
        advice: String,
    },
    /// The target of a new image, where something exists that must not be replaced.
    Exists {
        /// The path.
        path: PathBuf,
        /// Whether it is an image.
        is_image: bool,
        /// The reason why it cannot be replaced, if there is one besides.
        reason: String,
    },
    /// A disk with less free space than an operation needs.
    DiskSpace {
        /// Purpose of the space.
        purpose: String,
        /// Bytes that it needs.
        needed_bytes: u64,
        /// Bytes that are free.
        free_bytes: u64,
        /// A directory on that disk.
        directory: PathBuf,
    },
    /// A graph that was closed.
    Closed {
        /// The image.
        path: PathBuf,
    },
    /// An id that no vertex has.
    NoId {
        /// The image.
        path: PathBuf,
        /// The id.
        id: String,
        /// Description of the graph's ids.
        ids: String,
    },
    /// A number of a vertex that the graph does not have.
    NoVertex {
        /// The vertex that was named.
        vertex: u64,
        /// Number of vertices: they are numbered from 0.
        vertices: u64,
    },
    /// Vertices of a frontier that are not strictly rising.
    NotRising {
        /// A vertex of the list.
        before: u32,
        /// The next one.
        after: u32,
    },
    /// A step of an edge mapper after one that failed.
    Restart,
    /// The error of a function that the caller supplied.
    Custom(Box<dyn std::error::Error + Send + Sync>),
}

/// Largest number of limits under which an operation is planned before one is advised.
const MOST_PLANS: usize = 8;
/// Greatest limit under which a refused operation is planned, as a multiple of its own: plans hold some memory.
const MOST_TIMES: u64 = 8;
/// A limit up to which it is planned in any case.
const PLANNED_BYTES: u64 = 256 << 20;
/// The part (1/n) of a limit that the next process may hold in addition at its start: where a plan just fits without
/// it, the limit is not enough.
const NEXT_PROCESS_SHARE: u64 = 64;

/// The limit that is enough for an operation which needs at least `bytes`: `plan` plans it under every limit that is
/// advised, and under a little less, until it refuses nothing more, or the limit is eight times as great.
pub fn enough_bytes<T>(bytes: u64, plan: impl Fn(u64) -> Result<T>) -> u64 {
    let mut enough_bytes = bytes;
    for _ in 0..MOST_PLANS {
        let next_bytes = enough_bytes - enough_bytes / NEXT_PROCESS_SHARE;
        let Some(again) = plan(enough_bytes).err().or_else(|| plan(next_bytes).err()) else { break };
        let Some(more_bytes) = again.advised_bytes().filter(|&more_bytes| more_bytes > enough_bytes) else { break };
        enough_bytes = more_bytes;
        if more_bytes > bytes.saturating_mul(MOST_TIMES) {
            break;
        }
    }
    enough_bytes
}

impl Error {
    /// A failed operation on a file as a whole.
    pub fn file(path: impl AsRef<Path>, operation: &'static str, source: std::io::Error) -> Self {
        Error::of_file(path.as_ref(), operation, None, source)
    }

    /// A failed operation at an offset of a file.
    pub fn file_at(path: impl AsRef<Path>, operation: &'static str, offset_bytes: u64, source: std::io::Error) -> Self {
        Error::of_file(path.as_ref(), operation, Some(offset_bytes), source)
    }

    /// Unwraps an error of this crate, such as too little memory for a file in memory; wraps any other.
    fn of_file(path: &Path, operation: &'static str, offset_bytes: Option<u64>, source: std::io::Error) -> Self {
        source.downcast().unwrap_or_else(|source| Error::File {
            path: path.to_owned(),
            operation,
            offset_bytes,
            source,
        })
    }

    /// Raises the advised limit of a refusal of memory so that it is enough for later steps that need `later_bytes`.
    /// Any other error is unchanged.
    pub fn advising(mut self, later_bytes: u64) -> Self {
        if let Error::Memory { advised_bytes, .. } = &mut self {
            *advised_bytes = advised_bytes.saturating_add(later_bytes);
        }
        self
    }

    /// Raises the advised limit of a refusal of memory to at least `limit_bytes`. Any other error is unchanged.
    pub fn advising_at_least(mut self, limit_bytes: u64) -> Self {
        if let Error::Memory { advised_bytes, .. } = &mut self {
            *advised_bytes = limit_bytes.max(*advised_bytes);
        }
        self
    }

    /// Whether there was no memory: under the limit, or of the system. Some operations do without then.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::Memory { .. } | Error::MemoryRefused { .. })
    }

    /// The limit that a refusal of memory advises.
    pub fn advised_bytes(&self) -> Option<u64> {
        if let Error::Memory { advised_bytes, .. } = self { Some(*advised_bytes) } else { None }
    }

    /// A copy of the error, if it is a refusal of memory.
    pub fn refused_again(&self) -> Option<Self> {
        let Error::Memory { purpose, needed_bytes, available_bytes, limit_bytes, advised_bytes, holders } = self else {
            return None;
        };
        Some(Error::Memory {
            purpose: purpose.clone(),
            needed_bytes: *needed_bytes,
            available_bytes: *available_bytes,
            limit_bytes: *limit_bytes,
            advised_bytes: *advised_bytes,
            holders: holders.clone(),
        })
    }

    /// Replaces the purpose in a refusal of memory. Any other error is unchanged.
    pub fn called(mut self, name: &str) -> Self {
        if let Error::Memory { purpose, .. } = &mut self {
            *purpose = name.to_owned();
        }
        self
    }

    /// Bad bytes at an offset of a file of an image.
    pub fn damaged(
        path: impl AsRef<Path>,
        offset_bytes: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Error::Corrupt { path: path.as_ref().to_owned(), offset_bytes, expected: expected.into(), found: found.into() }
    }

    /// A bad record in an input file.
    pub fn input(
        path: impl AsRef<Path>,
        line: Option<u64>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Error::Input {
            path: path.as_ref().to_owned(),
            line,
            expected: expected.into(),
            found: found.into(),
            advice: String::new(),
        }
    }

    /// A wrong result.
    pub fn verification(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Error::Verification { expected: expected.into(), found: found.into() }
    }

    /// The error of a function that the caller supplied: a text, or any error. One of this type stays as it is.
    pub fn custom(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        error.into().downcast().map_or_else(Error::Custom, |error| *error)
    }

    /// Whether it is a request to stop.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Error::Cancelled)
    }

    /// A refusal of memory with a limit that is enough for a whole operation, whose needs show one after the other:
    /// see [`enough_bytes`]. Any other error is unchanged.
    pub fn planned_again<T>(self, plan: impl Fn(u64) -> Result<T>) -> Self {
        let Error::Memory { limit_bytes, advised_bytes, .. } = self else { return self };
        if advised_bytes > limit_bytes.saturating_mul(MOST_TIMES).max(PLANNED_BYTES) {
            return self;
        }
        self.advising_at_least(enough_bytes(advised_bytes, plan))
    }

    /// Sets the advice of an [`Input`](Error::Input) error. Any other error is unchanged.
    pub fn advise(mut self, way_out: impl Into<String>) -> Self {
        if let Error::Input { advice, .. } = &mut self {
            *advice = way_out.into();
        }
        self
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The text of an error ends with that of its cause, so the chain goes on behind the cause.
        match self {
            Error::File { source, .. } | Error::ThreadRefused { source } => source.source(),
            Error::Custom(error) => error.source(),
            _ => None,
        }
    }
}

/// A holder of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Holder {
    /// Purpose and owner of the memory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Return type of a function that visits lists or edges: nothing, or a result, whose error of any type ends the visit.
pub trait Outcome: sealed::Sealed {
    /// The error, if it failed.
    fn outcome(self) -> Result<()>;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for () {}
    impl<E> Sealed for std::result::Result<(), E> {}
}

impl Outcome for () {
    #[inline(always)]
    fn outcome(self) -> Result<()> {
        Ok(())
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> Outcome for std::result::Result<(), E> {
    #[inline(always)]
    fn outcome(self) -> Result<()> {
        self.map_err(Error::custom)
    }
}

/// The state of a stream that may fail: after an error all later calls fail too, for its parts may be out of step.
#[derive(Debug, Default)]
pub struct Fuse(Option<String>);

impl Fuse {
    /// Fails if an earlier call has failed.
    ///
    /// # Errors
    /// [`Error::StreamFailed`].
    pub fn check(&self) -> Result<()> {
        self.0.clone().map_or(Ok(()), |earlier| Err(Error::StreamFailed { earlier }))
    }

    /// Passes the outcome of a call on; if it is an error, all later calls fail.
    ///
    /// # Errors
    /// That of the outcome.
    pub fn after<T, E: std::fmt::Display>(&mut self, outcome: std::result::Result<T, E>) -> std::result::Result<T, E> {
        outcome.inspect_err(|error| self.0 = Some(self.0.take().unwrap_or_else(|| error.to_string())))
    }

    /// Forgets the failure: for a stream that begins anew.
    pub fn renew(&mut self) {
        self.0 = None;
    }
}
