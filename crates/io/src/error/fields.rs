//! Errors as one object for programs: the kind, the message, and the fields of each by their names.

use super::Error;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Serialised, an error has the keys `kind`, `exit_code` and `message`, and those of its own fields: such as `path` and
/// `line`, or `needed_bytes` and `advised_bytes`. `docs/objects.py` makes the table of the keys of the entries below
/// and of the comments of the fields.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind.name())?;
        map.serialize_entry("exit_code", &kind.exit_code())?;
        map.serialize_entry("message", &self.to_string())?;
        fields(self, &mut map)?;
        map.end()
    }
}

/// Writes entries of a map, each under its name.
macro_rules! entries {
    ($map:ident, $($name:ident: $value:expr),*) => {{
        $($map.serialize_entry(stringify!($name), $value)?;)*
    }};
}

fn fields<M: SerializeMap>(error: &Error, map: &mut M) -> Result<(), M::Error> {
    let text = |path: &std::path::Path| path.display().to_string();
    match error {
        Error::Corrupt { path, offset_bytes, expected, found } => {
            entries!(map, path: &text(path), offset_bytes: offset_bytes, expected: expected, found: found)
        }
        Error::Input { path, line, expected, found, advice } => {
            entries!(map, path: &text(path), line: line, expected: expected, found: found, advice: advice)
        }
        Error::Verification { expected, found } => entries!(map, expected: expected, found: found),
        Error::NoImage { path, found, advice } => {
            entries!(map, path: &text(path), found: found, advice: advice)
        }
        Error::Exists { path, is_image, reason } => {
            entries!(map, path: &text(path), is_image: is_image, reason: reason)
        }
        Error::DiskSpace { purpose, needed_bytes, free_bytes, directory } => {
            entries!(map, purpose: purpose, needed_bytes: needed_bytes, free_bytes: free_bytes, path: &text(directory))
        }
        Error::Closed { path } => entries!(map, path: &text(path)),
        Error::NoId { path, id, ids } => entries!(map, path: &text(path), id: id, ids: ids),
        Error::NoVertex { vertex, vertices } => entries!(map, vertex: vertex, vertices: vertices),
        Error::NotRising { before, after } => entries!(map, before: before, after: after),
        Error::File { path, operation, offset_bytes, source } => entries!(
            map, path: &text(path), operation: operation, offset_bytes: offset_bytes, os_error: &source.raw_os_error()
        ),
        Error::Memory { purpose, needed_bytes, available_bytes, limit_bytes, advised_bytes, holders } => entries!(
            map, purpose: purpose, needed_bytes: needed_bytes, available_bytes: available_bytes,
            limit_bytes: limit_bytes, advised_bytes: advised_bytes, holders: holders
        ),
        Error::MemoryRefused { purpose, needed_bytes, most_bytes } => {
            entries!(map, purpose: purpose, needed_bytes: needed_bytes, most_bytes: most_bytes)
        }
        Error::OtherProcess { name, opened_by } => entries!(map, name: name, opened_by: opened_by),
        Error::ThreadCount { most, found } => entries!(map, most: most, found: found),
        Error::ThreadRefused { source } => entries!(map, os_error: &source.raw_os_error()),
        Error::StreamFailed { earlier } => entries!(map, earlier: earlier),
        Error::Usage(_)
        | Error::Index(_)
        | Error::Unsuitable(_)
        | Error::Restart
        | Error::Cancelled
        | Error::Custom(_) => {}
    }
    Ok(())
}
