//! Texts of errors.

use super::sizes::differing;
use super::{Error, Holder, bytes_text, differing_texts};
use crate::escape::escaped;
use std::fmt::Formatter;
use std::path::Path;

/// Number of holders that a message names.
const NAMED_HOLDERS: usize = 4;

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Custom(error) => error.fmt(f),
            _ => escaped(Text(self)).fmt(f),
        }
    }
}

/// The text of an error, with unescaped names and ids.
struct Text<'a>(&'a Error);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Error::File { path, operation, offset_bytes, source } => file(f, path, operation, *offset_bytes, source),
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
                refused_by_system(f, purpose, *needed_bytes, *most_bytes)
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
            Error::Cancelled => write!(f, "stopped on request"),
            Error::StreamFailed { earlier } => {
                write!(f, "cannot go on after an error, since what was read by then is lost; begin anew ({earlier})")
            }
            Error::Corrupt { path, offset_bytes, expected, found } => write!(
                f,
                "{} is damaged at byte {offset_bytes}: expected {expected}, found {found}; \
                 restore the image or import it again",
                path.display()
            ),
            Error::Input { path, line, expected, found, advice } => {
                let line = line.map_or_else(String::new, |line| format!(":{line}"));
                let advice = if advice.is_empty() { String::new() } else { format!("; {advice}") };
                write!(f, "{}{line}: expected {expected}, found {found}{advice}", path.display())
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
            Error::Exists { path, is_image, reason } => in_the_way(f, path, *is_image, reason),
            Error::DiskSpace { purpose, needed_bytes, free_bytes, directory } => {
                disk_space(f, purpose, [*needed_bytes, *free_bytes], directory)
            }
            Error::Closed { path } => write!(f, "the graph {} was closed; open it again", path.display()),
            Error::NoId { path, id, ids } => write!(f, "{} has no vertex `{id}`; {ids}", path.display()),
            Error::NoVertex { vertex, vertices: 0 } => {
                write!(f, "expected a graph with vertices, found none; there is no vertex {vertex}")
            }
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

fn file(
    f: &mut Formatter<'_>,
    path: &Path,
    operation: &str,
    offset_bytes: Option<u64>,
    source: &std::io::Error,
) -> std::fmt::Result {
    let place = offset_bytes.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    write!(f, "cannot {operation} {}{place}: {source}", path.display())
}

fn refused_by_system(
    f: &mut Formatter<'_>,
    purpose: &str,
    needed_bytes: u64,
    most_bytes: Option<u64>,
) -> std::fmt::Result {
    write!(f, "{purpose} needs {}, which the operating system refused; ", bytes_text(needed_bytes))?;
    match most_bytes.map(bytes_text) {
        Some(bytes) => {
            write!(f, "the memory of this process is limited to {bytes}: raise that limit (ulimit -v, or -d)")
        }
        None => f.write_str("free some memory, or choose a smaller limit"),
    }
}

fn in_the_way(f: &mut Formatter<'_>, path: &Path, is_image: bool, reason: &str) -> std::fmt::Result {
    let path = path.display();
    match (reason, is_image) {
        ("", true) => write!(
            f,
            "{path} is there already: expected no image of that name, for replacing one was not asked for; \
             give --replace or choose another name"
        ),
        ("", false) => write!(
            f,
            "{path} is in the way: expected nothing or an Outcore image to replace, found a file or directory that is \
             no image; remove it or choose another name"
        ),
        (reason, _) => write!(f, "{path} is in the way: {reason}; remove it or choose another name"),
    }
}

fn disk_space(f: &mut Formatter<'_>, purpose: &str, [needed, free]: [u64; 2], directory: &Path) -> std::fmt::Result {
    let [needed, free] = differing_texts(needed, free);
    write!(
        f,
        "{purpose} needs {needed}, but {} has {free} left; free some space, or choose another place (--temporary for \
         temporary files)",
        directory.display(),
    )
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
