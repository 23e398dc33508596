//! What can go wrong with devices, memory and workers.

use std::path::{Path, PathBuf};

/// The result of an operation on devices, memory or workers.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of a device, of the memory budget, or a request to stop.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused or broke off an operation on a file.
    File {
        /// The file.
        path: PathBuf,
        /// What was being done, as a verb: "read", "create", "rename".
        operation: &'static str,
        /// Where in the file, in bytes, if that means something.
        offset_bytes: Option<u64>,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// An operation needs more memory than the limit leaves.
    Memory {
        /// What the memory is for.
        purpose: String,
        /// How many bytes it needs.
        needed_bytes: u64,
        /// How many bytes are left under the limit.
        available_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The user asked to stop.
    Cancelled,
}

impl Error {
    /// A failed operation on a file as a whole.
    pub fn file(path: impl AsRef<Path>, operation: &'static str, source: std::io::Error) -> Self {
        Error::File { path: path.as_ref().to_owned(), operation, offset_bytes: None, source }
    }

    /// A failed operation at one place of a file.
    pub fn file_at(path: impl AsRef<Path>, operation: &'static str, offset_bytes: u64, source: std::io::Error) -> Self {
        Error::File { path: path.as_ref().to_owned(), operation, offset_bytes: Some(offset_bytes), source }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::File { path, operation, offset_bytes, source } => {
                write!(f, "cannot {operation} {}", path.display())?;
                if let Some(offset) = offset_bytes {
                    write!(f, " at byte {offset}")?;
                }
                write!(f, ": {source}")
            }
            Error::Memory { purpose, needed_bytes, available_bytes, limit_bytes } => write!(
                f,
                "{purpose} needs {}, but only {} of the memory limit of {} are left; \
                 raise the limit to at least {}",
                bytes_text(*needed_bytes),
                bytes_text(*available_bytes),
                bytes_text(*limit_bytes),
                bytes_text(limit_bytes.saturating_add(needed_bytes.saturating_sub(*available_bytes))),
            ),
            Error::Cancelled => write!(f, "stopped on request; nothing was left behind"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A number of bytes as people write it: `512 MiB`, `1.5 GiB`, `17 bytes`.
pub fn bytes_text(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() < 0.05 || value >= 100.0 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}
