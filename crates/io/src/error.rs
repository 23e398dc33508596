//! Errors of devices, memory and workers.

use crate::escape::escaped;
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

/// A holder of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Purpose and owner of the memory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Number of holders that a message names.
const NAMED_HOLDERS: usize = 4;

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
}

impl Error {
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
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        escaped(Text(self)).fmt(f)
    }
}

/// The text of an error, with unescaped names of files.
struct Text<'a>(&'a Error);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Error::File { path, operation, offset_bytes, source } => {
                write!(f, "cannot {operation} {}", path.display())?;
                if let Some(offset) = offset_bytes {
                    write!(f, " at byte {offset}")?;
                }
                write!(f, ": {source}")
            }
            Error::Memory { purpose, needed_bytes, available_bytes, limit_bytes, advised_bytes, holders } => {
                let [needed, available] = differing_texts(*needed_bytes, *available_bytes);
                let [limit, advised] = differing(*limit_bytes, *advised_bytes, f64::ceil);
                let by = holders_text(holders);
                write!(
                    f,
                    "{purpose} needs {needed}, but only {available} of the memory limit of {limit} are left{by}; raise \
                     the limit to at least {advised}",
                )
            }
            Error::MemoryRefused { purpose, needed_bytes, most_bytes } => {
                write!(f, "{purpose} needs {}, which the operating system refused; ", bytes_text(*needed_bytes))?;
                match most_bytes {
                    Some(bytes) => {
                        let bytes = bytes_text(*bytes);
                        write!(f, "the addresses of this process are limited to {bytes}: raise that limit (ulimit -v)")
                    }
                    None => f.write_str("free some memory, or choose a smaller limit"),
                }
            }
            Error::OtherProcess { name, opened_by } => write!(
                f,
                "{name} was opened by process {opened_by}, and this is process {}: a fork has neither its workers nor its \
                 buffers; open it again in this process",
                std::process::id()
            ),
            Error::ThreadCount { most, found } => write!(f, "expected threads from 1 to {most}, found {found}"),
            Error::ThreadRefused { source } => write!(
                f,
                "cannot start a thread: {source}; ask for fewer threads, or raise the limits of processes and memory \
                 (ulimit -u, ulimit -v)"
            ),
            Error::Cancelled => write!(f, "stopped on request; no unfinished file was left behind"),
            Error::StreamFailed { earlier } => {
                write!(f, "cannot go on after an error, since what was read by then is lost; begin anew ({earlier})")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The text of an error ends with that of its cause, so the chain goes on behind the cause.
        match self {
            Error::File { source, .. } | Error::ThreadRefused { source } => source.source(),
            _ => None,
        }
    }
}

/// The holders of memory, as part of a sentence.
fn holders_text(holders: &[Holder]) -> String {
    let mut text = String::new();
    for (i, Holder { name, bytes }) in holders.iter().take(NAMED_HOLDERS).enumerate() {
        let between = if i == 0 { ": " } else { ", " };
        let verb = if i == 0 { " are held" } else { "" };
        text += &format!("{between}{}{verb} by {name}", bytes_text(*bytes));
    }
    let rest: u64 = holders.iter().skip(NAMED_HOLDERS).map(|holder| holder.bytes).sum();
    if rest > 0 {
        text += &format!(", {} by others", bytes_text(rest));
    }
    text
}

/// A number of bytes in text: `512 MiB`, `1.5 GiB`, `17 bytes`.
pub fn bytes_text(bytes: u64) -> String {
    rounded_text(bytes, 1, f64::round)
}

/// Two numbers of bytes that a sentence compares, as [`bytes_text`] writes them, with as many digits as it takes for
/// the texts to differ where the numbers do: `9.02 MiB` and `9 MiB`.
pub fn differing_texts(one: u64, other: u64) -> [String; 2] {
    differing(one, other, f64::round)
}

/// The most digits behind the point of two numbers that differ: beyond them both are written as whole bytes.
const MOST_DIGITS: i32 = 3;

/// [`differing_texts`] of which the second is rounded by `round`.
fn differing(one: u64, other: u64, round: fn(f64) -> f64) -> [String; 2] {
    let texts = |digits| [rounded_text(one, digits, f64::round), rounded_text(other, digits, round)];
    let mut all = (1..=MOST_DIGITS).map(texts);
    all.find(|[first, second]| one == other || first != second)
        .unwrap_or_else(|| [one, other].map(|bytes| format!("{bytes} bytes")))
}

/// A limit in a unit that people read, rounded up: it is enough if `bytes` are.
pub fn limit_text(bytes: u64) -> String {
    rounded_text(bytes, 1, f64::ceil)
}

/// A number of bytes with so many digits behind the point below 100, and one less above.
fn rounded_text(bytes: u64, digits: i32, round: impl Fn(f64) -> f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let scale = 10f64.powi(if value < 100.0 { digits } else { digits - 1 });
    format!("{} {}", round(value * scale) / scale, units[unit])
}

/// Parses a number of bytes: `512`, `512MiB`, `512 MiB`, `1g` (binary, as in `1GiB`), `1GB` (decimal), `1.5GiB`.
///
/// Case does not matter. A unit of one letter is binary, as is one that ends in `iB`; one that ends in plain `B` is
/// decimal.
///
/// # Errors
/// Text that is not such a number, a negative one, or one that does not fit 64 bits; the message says which forms are
/// right.
pub fn parse_bytes(text: &str) -> std::result::Result<u64, String> {
    let wrong = || {
        format!(
            "expected a number of bytes such as 536870912, 512MiB, 1.5GiB (1024-based) or 1GB (1000-based), found `{text}`"
        )
    };
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..digits], trimmed[digits..].trim_start().to_ascii_lowercase());
    let (prefix, base) = match unit.as_str() {
        "" | "b" | "byte" | "bytes" => ("", 1),
        unit => match (unit.strip_suffix("ib"), unit.strip_suffix('b')) {
            (Some(prefix), _) => (prefix, 1024),
            (None, Some(prefix)) => (prefix, 1000),
            (None, None) => (unit, 1024),
        },
    };
    let power = match ["k", "m", "g", "t", "p"].iter().position(|&unit| unit == prefix) {
        Some(place) => place as u32 + 1,
        None if prefix.is_empty() && base == 1 => 0,
        None => return Err(wrong()),
    };
    let scale = u64::pow(base, power);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && (fraction.is_empty() || base == 1)) {
        return Err(wrong());
    }
    let bytes = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(scale));
    // A fraction of a unit is at most 2^50 bytes, which f64 holds exactly.
    let rest = if fraction.is_empty() { 0.0 } else { format!("0.{fraction}").parse::<f64>().map_err(|_| wrong())? };
    bytes.and_then(|bytes| bytes.checked_add((rest * scale as f64) as u64)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let right = [
            ("512", 512),
            ("0", 0),
            ("17 bytes", 17),
            ("512MiB", 512 << 20),
            (" 512 MiB ", 512 << 20),
            ("1g", 1 << 30),
            ("1G", 1 << 30),
            ("64k", 64 << 10),
            ("1GB", 1_000_000_000),
            ("1 kB", 1000),
            ("1.5GiB", 3 << 29),
            ("0.5t", 1 << 39),
            ("2pib", 1 << 51),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in right {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_and_quoted() {
        let wrong = [
            "",
            " ",
            "MiB",
            "-1",
            "+1",
            "1.5",
            "1.5 bytes",
            ".5g",
            "1.g",
            "1.2.3g",
            "1e9",
            "1x",
            "1ibib",
            "1bb",
            "1 ib",
            "1Mi",
            "0x10",
            "1 g g",
            "18446744073709551616",
            "99999999p",
            "١",
            "1,5g",
            "1ĸ",
        ];
        for text in wrong {
            let error = parse_bytes(text).expect_err(text);
            assert!(error.contains(&format!("`{text}`")) && error.contains("512MiB"), "{error}");
        }
    }

    #[test]
    fn what_is_shown_can_be_given_back() {
        for bytes in [0, 17, 1 << 10, 512 << 20, 3 << 29, 1 << 50] {
            assert_eq!(parse_bytes(&bytes_text(bytes)), Ok(bytes));
        }
        assert_eq!([1023, 1126, 48_000_000].map(bytes_text), ["1023 bytes", "1.1 KiB", "45.8 MiB"]);
    }

    #[test]
    fn sizes_that_a_refusal_compares_differ_and_the_advised_limit_is_enough() {
        let sizes = (1 << 20..1 << 40).step_by(7_777_777_777).chain([1 << 23, 9 << 20, 9 << 30, 9 << 40]);
        let more = [1, 2, 1000, 5000, 60_000, 1 << 20];
        for (bytes, more) in sizes.flat_map(|bytes| more.map(|more| (bytes, more))) {
            let error = Error::Memory {
                purpose: "x".into(),
                needed_bytes: bytes + more,
                available_bytes: bytes,
                limit_bytes: bytes,
                advised_bytes: bytes + more,
                holders: Vec::new(),
            };
            let text = error.to_string();
            let (advised, rest) = (text.rsplit("at least ").next().unwrap(), text.strip_prefix("x needs ").unwrap());
            assert!(parse_bytes(advised).unwrap() >= bytes + more, "{text}");
            let (needed, rest) = rest.split_once(", but only ").unwrap();
            let (available, rest) = rest.split_once(" of the memory limit of ").unwrap();
            let limit = rest.split_once(" are left").unwrap().0;
            assert!(needed != available && limit != advised, "{text}");
        }
        assert_eq!(differing_texts((9 << 20) + 20_000, 9 << 20), ["9.02 MiB", "9 MiB"]);
        assert_eq!(differing_texts((9 << 30) + 1, 9 << 30), ["9663676417 bytes", "9663676416 bytes"]);
        assert_eq!(differing_texts(9 << 20, 9 << 20), ["9 MiB", "9 MiB"]);
    }
}
