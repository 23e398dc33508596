//! Places: where in the input the edge of every entry of the lists stood, in the order of the entries.
//!
//! Places are written as a column of values is, by the same encoder, and read once or twice before the image is
//! complete; then they go.

use super::job::Job;
use outcore_format::{ImageFile, MAX_VALUE_COLUMNS, PAGE_BYTES, PageBytes, ValueType, values};
use outcore_image::{Error, Result, corrupt};
use std::io::Read;

pub(super) const PLACE_TYPE: ValueType = ValueType::U64;

/// The file of the places of a direction, among columns of values.
pub(super) fn file(incoming: bool) -> ImageFile {
    ImageFile::values(MAX_VALUE_COLUMNS - 1, incoming)
}

/// Calls `visit` with the place of every entry.
pub(super) fn for_each(job: &Job<'_>, incoming: bool, visit: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
    let (file, runtime) = (file(incoming), job.runtime);
    let (path, origin) = (file.path(job.workspace.partial()), file.origin(job.image_id));
    let mut input = std::io::BufReader::with_capacity(64 * PAGE_BYTES, runtime.backend().input(&path)?);
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
    let mut places = Vec::new();
    let pages = runtime.backend().named(&path).map_or(0, |status| status.len_bytes / PAGE_BYTES as u64);
    for number in 0..pages {
        if number % 64 == 0 {
            runtime.cancel().check()?;
        }
        input.read_exact(&mut bytes[..]).map_err(|error| Error::file(&path, "read", error))?;
        places.clear();
        let page = origin.verify(number, &bytes).and_then(|page| values::decode(&page, PLACE_TYPE, &mut places));
        page.map_err(|error| corrupt(&path, number * PAGE_BYTES as u64, error))?;
        places.iter().try_for_each(|&place| visit(place))?;
    }
    Ok(())
}

/// Removes the places of a direction.
pub(super) fn remove(job: &Job<'_>, incoming: bool) -> Result<()> {
    let file = file(incoming);
    for name in [file.name(), file.index_name()].into_iter().flatten() {
        job.runtime.backend().remove(&job.workspace.partial().join(name))?;
    }
    Ok(())
}
