//! A copy of an image under another path: whole, or not at all.

use crate::files::GRAPH_FOLDERS;
use crate::image::Image;
use crate::partial::require_disk;
use crate::workspace::{Places, Workspace};
use crate::{Error, Result};
use outcore_io::backend::{Location, Open};
use outcore_io::{DataFile, Unit};
use std::path::Path;

/// Bytes that are copied at a time.
const COPIED_BYTES: usize = 1 << 20;

impl Image {
    /// Copies all files of the image to `path`, a directory, which appears only when it is complete and synced. An
    /// image of that name is replaced if `replace`; anything else of that name is an error.
    ///
    /// # Errors
    /// Something that has the name already; an image that was replaced, removed or written to since it was opened
    /// ([`Error::NoImage`]); a full disk, a file that cannot be read, a request to stop. Nothing is left behind then,
    /// and an older image stays.
    pub fn save(&self, path: &Path, replace: bool) -> Result<()> {
        self.check_process()?;
        let (runtime, files) = (self.runtime(), self.unchanged_files()?);
        let _room = self.reserve("a copy of an image", COPIED_BYTES as u64)?;
        let workspace = Workspace::create_plain(runtime, Places::new(runtime, path, replace)?)?;
        let task = runtime.task("save", Unit::Bytes, Some(self.image_bytes()));
        for folder in GRAPH_FOLDERS {
            runtime.backend().create_directory(&workspace.partial().join(folder))?;
        }
        let bytes = self.image_bytes();
        require_disk(runtime.backend(), "a copy of an image", bytes, bytes, workspace.partial())?;
        let mut bytes = vec![0; COPIED_BYTES];
        for (name, own) in files.all() {
            let from = files.again(&name, own)?;
            let to = workspace.partial().join(&name);
            let file = DataFile::open_as(runtime.backend(), Location::at(&to), Open::Create)?;
            let failed = |operation, error| Error::file(&to, operation, error);
            file.allocate(from.len_bytes()).map_err(|error| failed("allocate", error))?;
            let mut at = 0;
            while at < from.len_bytes() {
                runtime.cancel().check()?;
                let part = &mut bytes[..(from.len_bytes() - at).min(COPIED_BYTES as u64) as usize];
                from.read_at(part, at).map_err(|error| Error::file_at(from.path(), "read", at, error))?;
                file.write_at(part, at).map_err(|error| failed("write", error))?;
                at += part.len() as u64;
                task.advance(part.len() as u64);
            }
            file.sync().map_err(|error| failed("sync", error))?;
        }
        workspace.finish(runtime)?.into_iter().for_each(|note| runtime.note(note));
        Ok(())
    }
}
