//! Kinds of errors: one list for exit codes of the command, exceptions in Python, and programs in Rust.

use super::Error;
use std::io::ErrorKind as System;

/// The kind of an [`Error`], by which a program decides how to go on.
///
/// Every kind has a name, an exit code of the command and exceptions in Python. Kinds may be added; names and codes of
/// those that exist stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No other kind, such as the error of a function that the caller supplied.
    Other,
    /// A request that cannot be answered, such as an invalid option or a graph without the weights it takes.
    Usage,
    /// A result that its verification finds wrong: a defect.
    Verification,
    /// A result that did not converge, where that is an error.
    NotConverged,
    /// An input that violates its format.
    Input,
    /// A file, a folder or an image that is missing.
    Missing,
    /// A file, a folder or an image that is in the way of a new one.
    Exists,
    /// An id or a number that no vertex has.
    NoVertex,
    /// More memory than the limit leaves.
    Memory,
    /// A disk that is full, or a quota or limit of a file's size that is reached.
    Disk,
    /// A permission that the operating system denies.
    Permission,
    /// An image whose bytes are damaged.
    Damaged,
    /// Any other failure of a device or of the operating system.
    Device,
    /// A request to stop.
    Interrupted,
}

impl ErrorKind {
    /// All kinds, by their exit codes.
    pub const ALL: [ErrorKind; 14] = [
        ErrorKind::Other,
        ErrorKind::Usage,
        ErrorKind::Verification,
        ErrorKind::NotConverged,
        ErrorKind::Input,
        ErrorKind::Missing,
        ErrorKind::Exists,
        ErrorKind::NoVertex,
        ErrorKind::Memory,
        ErrorKind::Disk,
        ErrorKind::Permission,
        ErrorKind::Damaged,
        ErrorKind::Device,
        ErrorKind::Interrupted,
    ];

    /// The name, such as `not_converged`.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Other => "other",
            ErrorKind::Usage => "usage",
            ErrorKind::Verification => "verification",
            ErrorKind::NotConverged => "not_converged",
            ErrorKind::Input => "input",
            ErrorKind::Missing => "missing",
            ErrorKind::Exists => "exists",
            ErrorKind::NoVertex => "no_vertex",
            ErrorKind::Memory => "memory",
            ErrorKind::Disk => "disk",
            ErrorKind::Permission => "permission",
            ErrorKind::Damaged => "damaged",
            ErrorKind::Device => "device",
            ErrorKind::Interrupted => "interrupted",
        }
    }

    /// The exit code of the command. That of [`ErrorKind::Interrupted`] is 128 and the number of the signal, as shells
    /// have it: this is the code after Ctrl-C.
    pub const fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Interrupted => 130,
            _ => self as u8 + 1,
        }
    }

    /// The meaning, as half a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            ErrorKind::Other => "any other failure",
            ErrorKind::Usage => "a request that cannot be answered, such as an invalid option",
            ErrorKind::Verification => "a result that its verification finds wrong",
            ErrorKind::NotConverged => "ranks or values that did not converge",
            ErrorKind::Input => "an input that violates its format",
            ErrorKind::Missing => "a file, a folder or an image that is missing",
            ErrorKind::Exists => "a file, a folder or an image that is in the way",
            ErrorKind::NoVertex => "an id that no vertex has",
            ErrorKind::Memory => "more memory than the limit leaves",
            ErrorKind::Disk => "a disk that is full, or a quota that is reached",
            ErrorKind::Permission => "a permission that the system denies",
            ErrorKind::Damaged => "an image whose bytes are damaged",
            ErrorKind::Device => "any other failure of a device or of the system",
            ErrorKind::Interrupted => "Ctrl-C; 128 and the number of any other signal, such as 143 after SIGTERM",
        }
    }
}

impl Error {
    /// The kind, by which a program decides how to go on.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::File { source, .. } => match source.kind() {
                System::NotFound | System::NotADirectory => ErrorKind::Missing,
                System::AlreadyExists => ErrorKind::Exists,
                System::PermissionDenied | System::ReadOnlyFilesystem => ErrorKind::Permission,
                System::StorageFull | System::QuotaExceeded | System::FileTooLarge => ErrorKind::Disk,
                _ => ErrorKind::Device,
            },
            Error::Memory { .. } | Error::MemoryRefused { .. } => ErrorKind::Memory,
            Error::ThreadRefused { .. } => ErrorKind::Device,
            Error::Cancelled => ErrorKind::Interrupted,
            Error::Corrupt { .. } => ErrorKind::Damaged,
            Error::Input { .. } => ErrorKind::Input,
            Error::Verification { .. } => ErrorKind::Verification,
            Error::ThreadCount { .. }
            | Error::OtherProcess { .. }
            | Error::Usage(_)
            | Error::Index(_)
            | Error::Unsuitable(_)
            | Error::Closed { .. }
            | Error::NotRising { .. }
            | Error::Restart => ErrorKind::Usage,
            Error::NoImage { .. } => ErrorKind::Missing,
            Error::Exists { .. } => ErrorKind::Exists,
            Error::DiskSpace { .. } => ErrorKind::Disk,
            Error::NoId { .. } | Error::NoVertex { .. } => ErrorKind::NoVertex,
            Error::StreamFailed { .. } | Error::Custom(_) => ErrorKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn codes_rise_and_names_differ() {
        let codes = ErrorKind::ALL.map(ErrorKind::exit_code);
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        // Scripts compare with these.
        assert_eq!(codes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 130]);
        let mut names = ErrorKind::ALL.map(ErrorKind::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ErrorKind::ALL.len());
    }

    #[test]
    fn errors_of_the_system_are_told_apart() {
        let of_file = |kind: io::ErrorKind| Error::file("x", "write", kind.into()).kind();
        assert_eq!(of_file(io::ErrorKind::NotFound), ErrorKind::Missing);
        assert_eq!(of_file(io::ErrorKind::AlreadyExists), ErrorKind::Exists);
        assert_eq!(of_file(io::ErrorKind::PermissionDenied), ErrorKind::Permission);
        assert_eq!(of_file(io::ErrorKind::ReadOnlyFilesystem), ErrorKind::Permission);
        assert_eq!(of_file(io::ErrorKind::StorageFull), ErrorKind::Disk);
        assert_eq!(of_file(io::ErrorKind::QuotaExceeded), ErrorKind::Disk);
        assert_eq!(of_file(io::ErrorKind::FileTooLarge), ErrorKind::Disk);
        assert_eq!(of_file(io::ErrorKind::TimedOut), ErrorKind::Device);
        assert_eq!(Error::Cancelled.kind(), ErrorKind::Interrupted);
        // An error that passed through a function of the caller keeps its kind.
        assert_eq!(Error::custom(Error::NoVertex { vertex: 5, vertices: 3 }).kind(), ErrorKind::NoVertex);
        assert_eq!(Error::custom(Error::Cancelled).kind(), ErrorKind::Interrupted);
        assert_eq!(Error::custom("text").kind(), ErrorKind::Other);
    }
}
