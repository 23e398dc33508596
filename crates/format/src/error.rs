//! Errors of damaged or unexpected bytes.

/// The result of reading bytes.
pub type Result<T> = std::result::Result<T, Error>;

/// Damaged or unexpected bytes at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Offset from the first byte that the reader was given.
    pub offset_bytes: u64,
    /// Description of the expected contents.
    pub expected: String,
    /// Description of the actual contents.
    pub found: String,
}

impl Error {
    /// Bad bytes at an offset.
    pub fn new(offset_bytes: u64, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Error { offset_bytes, expected: expected.into(), found: found.into() }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at byte {}: expected {}, found {}", self.offset_bytes, self.expected, self.found)
    }
}

impl std::error::Error for Error {}
