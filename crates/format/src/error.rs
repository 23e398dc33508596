//! Bytes that are not what they should be.

/// The result of reading bytes.
pub type Result<T> = std::result::Result<T, Error>;

/// Bytes that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Where, counted from the first byte given to the reader.
    pub offset_bytes: u64,
    /// What should have been there.
    pub expected: String,
    /// What was there.
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
