//! Errors of graphs: the device, the bytes, the input, the result, or the question.

use outcore_io::{differing_texts, escaped};
use std::path::{Path, PathBuf};

/// The result of an operation on a graph.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of an import, an image or an algorithm.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A device, the memory budget, or a request to stop.
    Io(outcore_io::Error),
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

/// The limit that is enough for an operation which needs at least `bytes`: `plan` plans it under every limit that is
/// advised, until it refuses nothing more, or the limit is eight times as great.
pub fn enough_bytes<T>(bytes: u64, plan: impl Fn(u64) -> Result<T>) -> u64 {
    let mut enough_bytes = bytes;
    for _ in 0..MOST_PLANS {
        let Err(Error::Io(again)) = plan(enough_bytes) else { break };
        let Some(more_bytes) = again.advised_bytes().filter(|&more_bytes| more_bytes > enough_bytes) else { break };
        enough_bytes = more_bytes;
        if more_bytes > bytes.saturating_mul(MOST_TIMES) {
            break;
        }
    }
    enough_bytes
}

impl Error {
    /// Bad bytes in a file of an image; the offset in `error` counts from `base_bytes` of the file.
    pub fn corrupt(path: impl AsRef<Path>, base_bytes: u64, error: outcore_format::Error) -> Self {
        Error::Corrupt {
            path: path.as_ref().to_owned(),
            offset_bytes: base_bytes + error.offset_bytes,
            expected: error.expected,
            found: error.found,
        }
    }

    /// Bad bytes at an offset of a file of an image.
    pub fn damaged(
        path: impl AsRef<Path>,
        offset_bytes: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Error::corrupt(path, offset_bytes, outcore_format::Error::new(0, expected, found))
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

    /// The error of a function that the caller supplied: a text, or any error.
    pub fn custom(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Custom(error.into())
    }

    /// Whether there was no memory: under the limit, or of the system. Some operations do without then.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::Io(error) if error.is_out_of_memory())
    }

    /// A refusal of memory with a limit that is enough for a whole operation, whose needs show one after the other:
    /// see [`enough_bytes`]. Any other error is unchanged.
    pub fn planned_again<T>(self, plan: impl Fn(u64) -> Result<T>) -> Self {
        let Error::Io(refused @ outcore_io::Error::Memory { .. }) = self else { return self };
        let outcore_io::Error::Memory { limit_bytes, advised_bytes, .. } = refused else { return refused.into() };
        if advised_bytes > limit_bytes.saturating_mul(MOST_TIMES).max(PLANNED_BYTES) {
            return refused.into();
        }
        refused.advising_at_least(enough_bytes(advised_bytes, plan)).into()
    }

    /// Sets the advice of an [`Input`](Error::Input) error. Any other error is unchanged.
    pub fn advise(mut self, way_out: impl Into<String>) -> Self {
        if let Error::Input { advice, .. } = &mut self {
            *advice = way_out.into();
        }
        self
    }
}

/// Return type of a function that visits lists or edges: nothing, or a result whose error ends the visit.
pub trait Outcome {
    /// The error, if it failed.
    fn outcome(self) -> Result<()>;
}

impl Outcome for () {
    #[inline(always)]
    fn outcome(self) -> Result<()> {
        Ok(())
    }
}

impl<E: Into<Error>> Outcome for std::result::Result<(), E> {
    #[inline(always)]
    fn outcome(self) -> Result<()> {
        self.map_err(Into::into)
    }
}

impl From<outcore_io::Error> for Error {
    fn from(error: outcore_io::Error) -> Self {
        Error::Io(error)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Custom(error) => error.fmt(f),
            _ => escaped(Text(self)).fmt(f),
        }
    }
}

/// The text of an error, with unescaped names and ids.
struct Text<'a>(&'a Error);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Error::Io(error) => error.fmt(f),
            Error::Corrupt { path, offset_bytes, expected, found } => write!(
                f,
                "{} is damaged at byte {offset_bytes}: expected {expected}, found {found}; \
                 restore the image or import it again",
                path.display()
            ),
            Error::Input { path, line, expected, found, advice } => {
                write!(f, "{}", path.display())?;
                if let Some(line) = line {
                    write!(f, ":{line}")?;
                }
                write!(f, ": expected {expected}, found {found}")?;
                if !advice.is_empty() {
                    write!(f, "; {advice}")?;
                }
                Ok(())
            }
            Error::Verification { expected, found } => write!(
                f,
                "verification failed: expected {expected}, found {found}; \
                 the result is wrong: check the image, and report this if it is sound"
            ),
            Error::Usage(text) | Error::Index(text) | Error::Unsuitable(text) => f.write_str(text),
            Error::NoImage { path, found, advice } => {
                write!(f, "{} is no Outcore image: {found}; {advice}", path.display())
            }
            Error::Exists { path, reason, .. } if !reason.is_empty() => {
                write!(f, "{} is in the way: {reason}; remove it or choose another name", path.display())
            }
            Error::Exists { path, is_image: true, .. } => write!(
                f,
                "{} is there already: expected no image of that name, for replacing one was not asked for; \
                 give --replace or choose another name",
                path.display()
            ),
            Error::Exists { path, is_image: false, .. } => write!(
                f,
                "{} is in the way: expected nothing or an Outcore image to replace, found a file or directory that is no image; \
                 remove it or choose another name",
                path.display()
            ),
            Error::DiskSpace { purpose, needed_bytes, free_bytes, directory } => {
                let [needed, free] = differing_texts(*needed_bytes, *free_bytes);
                write!(
                    f,
                    "{purpose} needs {needed}, but {} has {free} left; \
                     free some space, or choose another place (--temporary for temporary files)",
                    directory.display(),
                )
            }
            Error::Closed { path } => write!(f, "the graph {} was closed; open it again", path.display()),
            Error::NoId { path, id, ids } => write!(f, "{} has no vertex `{id}`; {ids}", path.display()),
            Error::NoVertex { vertex, vertices } => {
                write!(f, "expected a vertex below {vertices}, which the graph has, found {vertex}")
            }
            Error::NotRising { before, after } => {
                write!(f, "expected vertices in rising order, each once, found {after} behind {before}; sort them")
            }
            Error::Restart => f.write_str("a step of this edge mapper failed; restart it before another one"),
            Error::Custom(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => error.source(),
            Error::Custom(error) => error.source(),
            _ => None,
        }
    }
}
