//! Arrays in files of all supported formats.

use crate::image_source::ImageSource;
use crate::npy::NpySource;
use crate::source::ArraySource;
use crate::table::TableSource;
use outcore_image::{Error, Result};
use outcore_io::Runtime;
use outcore_io::backend::FileKind;
use outcore_numbers::PlacedTable;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The number of the operating system's error for a file that is not there.
const NO_ENTRY: i32 = 2;
/// Magic bytes of a .npy file.
const NPY: &[u8] = b"\x93NUMPY";

/// Opens an array in a file: an image, a .npy file, or a table in Parquet or Arrow, under any name.
///
/// # Errors
/// Errors of the operating system; another kind of file, or a damaged one; no memory.
pub fn open(runtime: &Runtime, path: &Path) -> Result<Arc<dyn ArraySource>> {
    let is_named_npy = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let entry = runtime.backend().named(path);
    let is_named_image = path.extension().is_none_or(|ending| ending.eq_ignore_ascii_case("oc"));
    if entry.is_none() && !is_named_image {
        // The error is that of a missing file, not of a missing image.
        return Err(Error::file(path, "open", std::io::Error::from_raw_os_error(NO_ENTRY)));
    }
    if entry.is_none_or(|entry| entry.kind != FileKind::File) {
        return Ok(match is_named_npy {
            true => Arc::new(NpySource::open(runtime, path)?),
            false => Arc::new(ImageSource::open(runtime, path)?),
        });
    }
    let mut start = Vec::new();
    let mut file = runtime.backend().input(path)?.take(8);
    file.read_to_end(&mut start).map_err(|error| Error::file_at(path, "read", 0, error))?;
    if PlacedTable::begins_so(&start) {
        return Ok(Arc::new(TableSource::open(runtime, path)?));
    }
    if is_named_npy || start.starts_with(NPY) {
        return Ok(Arc::new(NpySource::open(runtime, path)?));
    }
    let expected = "an image of an array, or a file of .npy, Parquet or Arrow";
    let start = if start.is_empty() {
        "an empty file".to_owned()
    } else {
        format!("a file that begins with {}", start.escape_ascii())
    };
    Err(Error::input(path, None, expected, start).advise(
        "text in columns (CSV), and what is compressed as a whole, is no array in place: import it first, with \
         `outcore import --as array` or oc.array.from_columns",
    ))
}
