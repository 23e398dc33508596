//! Incomplete files and directories: they have a temporary name until they are complete, and vanish if they never are.
//!
//! `NAME` is made as `.NAME.RANDOM.outcore-partial` in the same folder. Its process holds a lock on it, which the
//! operating system releases however the process ends, and also if processes of several containers share a folder. An
//! unlocked one is therefore the leftover of a killed process, and the next operation that makes something in the same
//! folder removes it.
//!
//! If names cannot be exchanged, an image that is being replaced is `.NAME.RANDOM.outcore-replaced` for a moment
//! ([`Partial::replace`]). Under that name an image is whole: after a killed process or a power failure it is renamed
//! back if `NAME` is missing, and removed otherwise.

use crate::files::{GRAPH_FOLDERS, MANIFEST, Occupant, occupant};
use crate::{Error, Result};
use outcore_io::backend::{FileKind, Location, Lock, Memory};
use outcore_io::{Backend, folder, random};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Suffix of temporary names.
const ENDING: &str = ".outcore-partial";
/// Suffix of the names of images that are being replaced.
const REPLACED_ENDING: &str = ".outcore-replaced";
/// Bytes of a name that are kept, because file systems limit the length of names.
const MOST_NAME_BYTES: usize = 100;

/// Fails if a file must not be written, or replaced, at a path.
fn check_target(backend: &Arc<dyn Backend>, target: &Path) -> Result<()> {
    let refused = |found: &str, advice: &str| {
        let path = target.display();
        Err(Error::Usage(format!(
            "{path}: expected the name of a file to write or to replace, found {found}; {advice}"
        )))
    };
    if target.file_name().is_none() || backend.named(target).is_some_and(|status| status.kind == FileKind::Directory) {
        return Err(Error::Usage(format!("expected the name of a file to write, found {}", target.display())));
    }
    match backend.named_itself(target).map(|status| status.kind) {
        Some(FileKind::Link) => return refused("a link", "name the file that it leads to"),
        Some(FileKind::Directory | FileKind::Other) => {
            return refused("a device, a pipe or something else", "write a file, and copy it there");
        }
        Some(FileKind::File) | None => {}
    }
    if is_within_image(backend, target) { refused("a place within an image", "choose another folder") } else { Ok(()) }
}

/// Whether a path is within an image, which has folders of its own, to which a link may lead.
fn is_within_image(backend: &Arc<dyn Backend>, target: &Path) -> bool {
    let within = backend.resolve(folder(target)).unwrap_or_else(|_| folder(target).to_owned());
    within.ancestors().take(2).any(|folder| backend.named_itself(&folder.join(MANIFEST)).is_some())
}

/// Fails if an image must not be made at a path.
pub fn check_place(backend: &Arc<dyn Backend>, image: &Path) -> Result<()> {
    if !is_within_image(backend, image) {
        return Ok(());
    }
    let path = image.display();
    Err(Error::Usage(format!(
        "{path}: expected a place for an image, found a place within an image; choose another folder"
    )))
}

/// A file or directory under a temporary name; if it still has that name on drop, it is removed.
pub struct Partial {
    backend: Arc<dyn Backend>,
    path: PathBuf,
    is_kept: bool,
    _lock: Option<Lock>,
}

impl Partial {
    /// An empty directory in `parent`, which will perhaps be named `name`.
    pub fn directory(backend: &Arc<dyn Backend>, parent: &Path, name: &OsStr) -> Result<Self> {
        let created = Partial::create(backend, parent, name, |path| backend.create_directory(path));
        created.map(|(partial, ())| partial)
    }

    /// An empty directory that will replace `target`, if there is one; it is accessible to the same users from the
    /// beginning.
    pub fn successor(backend: &Arc<dyn Backend>, target: &Path) -> Result<Self> {
        let partial = Partial::directory(backend, folder(target), target.file_name().unwrap_or_default())?;
        partial.permit_as(target)?;
        Ok(partial)
    }

    /// Gives this file or directory the mode, the owner and the group of the one that it will replace, if there is one.
    fn permit_as(&self, target: &Path) -> Result<()> {
        match self.backend.named_itself(target) {
            Some(_) => Ok(self.backend.permit_as(&self.path, target)?),
            None => Ok(()),
        }
    }

    /// An empty file in the folder of `target`, which it will perhaps replace. `make` creates it. It has the mode and
    /// the owner of an older file from the beginning, and whether that can be replaced is tried.
    ///
    /// # Errors
    /// An existing target that is not a plain file: a device, a pipe or a link must not be replaced. A folder that is
    /// an image, to which such a file does not belong.
    pub fn file<T>(
        backend: &Arc<dyn Backend>,
        target: &Path,
        make: impl Fn(&Path) -> outcore_io::Result<T>,
    ) -> Result<(Self, T)> {
        check_target(backend, target)?;
        remove_leftovers(backend, folder(target));
        let created = Partial::create(backend, folder(target), target.file_name().unwrap_or_default(), make)?;
        if backend.named_itself(target).is_some() {
            try_place(backend, target)?;
            created.0.permit_as(target)?;
        }
        Ok(created)
    }

    fn create<T>(
        backend: &Arc<dyn Backend>,
        parent: &Path,
        name: &OsStr,
        make: impl Fn(&Path) -> outcore_io::Result<T>,
    ) -> Result<(Self, T)> {
        let partial = |path, lock| Partial { backend: Arc::clone(backend), path, is_kept: false, _lock: lock };
        loop {
            let stem = OsStr::from_bytes(&name.as_bytes()[..name.len().min(MOST_NAME_BYTES)]);
            let path = parent.join(hidden(stem, ENDING));
            let made = match make(&path) {
                Err(Error::File { source, .. }) if source.kind() == ErrorKind::AlreadyExists => continue,
                // Users know the final name, not the temporary one.
                Err(Error::File { source, operation, .. }) => {
                    return Err(Error::file(parent.join(name), operation, source));
                }
                made => made?,
            };
            match backend.lock(&path) {
                Ok(Some(lock)) => return Ok((partial(path, Some(lock)), made)),
                // Another process took it for a leftover, and removes it.
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // Without locks nothing is removed either.
                Err(_) => return Ok((partial(path, None), made)),
            }
        }
    }

    /// Leaves the file or directory, under its temporary name, to the next operation that makes something in the same
    /// folder.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes the file or directory.
    ///
    /// # Errors
    /// Errors of the operating system; then the rest stays under the temporary name.
    pub fn remove(mut self) -> Result<()> {
        self.backend.remove_all(&self.path)?;
        self.is_kept = true;
        Ok(())
    }

    /// The temporary name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives this file the name of `target` and makes that durable. An older file has the temporary name afterwards.
    ///
    /// # Errors
    /// A target that is not a plain file any more, or errors of the operating system. The names are as before then,
    /// unless an older file was replaced in a file system that cannot exchange names.
    pub fn take_name(&mut self, target: &Path) -> Result<()> {
        let backend = Arc::clone(&self.backend);
        check_target(&backend, target)?;
        let is_new = backend.named_itself(target).is_none();
        let is_exchanged = !is_new && self.exchange_file(target)?;
        if !is_exchanged {
            backend.rename(&self.path, target)?;
        }
        let Err(error) = backend.sync_directory(folder(target)) else { return Ok(()) };
        // The file has not been reported yet: undo.
        let undone = match (is_exchanged, is_new) {
            (true, _) => backend.exchange(&self.path, target),
            (false, true) => backend.rename(target, &self.path),
            (false, false) => return Err(error),
        };
        // While it is unknown which file a power failure would leave under the name, both must stay.
        self.is_kept |= undone.is_err() || backend.sync_directory(folder(target)).is_err();
        Err(error)
    }

    /// Exchanges the names of this file and another one; false if the file system cannot do that.
    fn exchange_file(&self, target: &Path) -> Result<bool> {
        let backend = &self.backend;
        match backend.exchange(&self.path, target) {
            Err(Error::File { source, .. }) if source.kind() == ErrorKind::Unsupported => return Ok(false),
            other => other?,
        }
        // A file with the temporary name is removed: it must not be a directory that was made at the last moment.
        if backend.named_itself(&self.path).is_none_or(|status| status.kind == FileKind::File) {
            return Ok(true);
        }
        backend.exchange(&self.path, target)?;
        check_target(backend, target).map(|()| false)
    }

    /// Exchanges the names of this file or directory and the image `target`. If the file system cannot do that, the
    /// image has no name for a moment, and then another one, which is returned: once the new name is durable, it must
    /// get the temporary one.
    pub fn replace(&self, target: &Path) -> Result<Option<PathBuf>> {
        let backend = &self.backend;
        match backend.exchange(&self.path, target) {
            Err(Error::File { source, .. }) if source.kind() == ErrorKind::Unsupported => {}
            other => return other.map(|()| None),
        }
        // The whole name is kept, because the image may have to get it back; a name that is too long for that is
        // refused.
        let aside = folder(target).join(hidden(target.file_name().unwrap_or_default(), REPLACED_ENDING));
        backend.rename(target, &aside)?;
        if let Err(error) = backend.rename(&self.path, target) {
            let _ = backend.rename(&aside, target);
            return Err(error);
        }
        Ok(Some(aside))
    }
}

/// Tries whether something can be made beside `target` and get its name, and whether a file or an image that has the
/// name can be renamed and removed as a whole. Nothing is changed.
///
/// # Errors
/// The error that making or replacing it would end with.
pub(crate) fn try_place(backend: &Arc<dyn Backend>, target: &Path) -> Result<()> {
    let trial = Partial::directory(backend, folder(target), target.file_name().unwrap_or_default())?;
    if let Some(status) = backend.named_itself(target) {
        // A directory with an entry is replaced by nothing.
        backend.create_directory(&trial.path().join("entry"))?;
        backend.try_rename(target, trial.path()).map_err(|error| refused("replace", error))?;
        if status.kind == FileKind::Directory {
            try_removal(backend, target, trial.path())?;
        }
    }
    trial.remove()
}

/// Tries whether the files and folders of an image can be removed. `obstacle` is a directory with an entry.
fn try_removal(backend: &Arc<dyn Backend>, image: &Path, obstacle: &Path) -> Result<()> {
    for directory in GRAPH_FOLDERS.into_iter().map(|name| image.join(name)).chain([image.to_owned()]) {
        if backend.named_itself(&directory).is_none() {
            continue;
        }
        let failed = |error| refused("look into", Error::file(&directory, "list", error));
        for name in backend.list(Location::at(&directory)).map_err(failed)? {
            match backend.try_rename(&directory.join(name), obstacle) {
                // Removing is not renaming: what lies in a lower layer of an overlay can be removed.
                Err(Error::File { source, .. }) if source.kind() == ErrorKind::CrossesDevices => {}
                outcome => outcome.map_err(|error| refused("remove", error))?,
            }
        }
    }
    Ok(())
}

/// An error of a trial, with the reason.
fn refused(operation: &'static str, error: Error) -> Error {
    let Error::File { path, source, .. } = error else { return error };
    let advice = match source.kind() {
        ErrorKind::ResourceBusy => "it is a mount point: mount the folder that it is in, or choose another name",
        ErrorKind::CrossesDevices => {
            "it lies in a lower layer of an overlay, such as the image of a container, and cannot be renamed: remove \
             it, or choose another name"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "it is write-protected or another user's, and would be left behind: have its owner remove it or permit \
             that, or choose another name"
        }
        _ => return Error::file(path, operation, source),
    };
    Error::file(path, operation, std::io::Error::new(source.kind(), format!("{source}; {advice}")))
}

/// A hidden name for the file that is, or will be, called `name`.
fn hidden(name: &OsStr, ending: &str) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{:016x}{ending}", random()));
    hidden
}

/// The name from which a hidden one was made; empty if there was none.
fn name_of<'a>(hidden: &'a OsStr, ending: &str) -> Option<&'a OsStr> {
    let rest = hidden.as_bytes().strip_prefix(b".")?.strip_suffix(ending.as_bytes())?;
    let (name, number) = rest.split_at(rest.len().checked_sub(16)?);
    let name = if name.is_empty() { name } else { name.strip_suffix(b".")? };
    number.iter().all(u8::is_ascii_hexdigit).then(|| OsStr::from_bytes(name))
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_kept {
            // If this fails, the next operation that makes something in the folder removes it.
            let _ = self.backend.remove_all(&self.path);
        }
    }
}

/// Fails if a directory's disk has less free space than `least_bytes`, the lower bound of the needed space. Files in
/// memory have no disk: their memory is reserved.
pub fn require_disk(
    backend: &Arc<dyn Backend>,
    purpose: &str,
    needed_bytes: u64,
    least_bytes: u64,
    directory: &Path,
) -> Result<()> {
    if directory.starts_with(Memory::folder()) {
        return Ok(());
    }
    // A file system that does not report its free space may have enough.
    let free_bytes = backend.free_bytes(directory).unwrap_or(u64::MAX);
    if least_bytes <= free_bytes {
        return Ok(());
    }
    let (purpose, directory) = (purpose.to_owned(), directory.to_owned());
    Err(Error::DiskSpace { purpose, needed_bytes, free_bytes, directory })
}

/// Removes leftovers of killed processes from a directory; returns their paths.
///
/// The directory is synced before. A process that was killed between giving a name and syncing the directory left an
/// older image under its temporary name: if a power failure could still undo the exchange of names, that image would
/// be the only one.
pub(crate) fn remove_leftovers(backend: &Arc<dyn Backend>, directory: &Path) -> Vec<PathBuf> {
    put_back(backend, directory);
    let Ok(names) = backend.list(Location::at(directory)) else { return Vec::new() };
    let paths = names.iter().filter(|name| name_of(name, ENDING).is_some()).map(|name| directory.join(name));
    let leftovers = paths.filter_map(|path| Some((backend.lock(&path).ok()??, path)));
    let mut leftovers: Vec<(Lock, PathBuf)> = leftovers.collect();
    if leftovers.is_empty() || backend.sync_directory(directory).is_err() {
        return Vec::new();
    }
    leftovers.retain(|(_, path)| backend.remove_all(path).is_ok());
    let mut removed: Vec<PathBuf> = leftovers.into_iter().map(|(_, path)| path).collect();
    removed.sort();
    removed
}

/// Completes the replacement of an image by a killed process: an image that is aside gets its name back if the name is
/// free, and becomes a leftover if an image has it. Returns the images that got their names back; if a power failure
/// undoes that, it is repeated.
pub(crate) fn put_back(backend: &Arc<dyn Backend>, directory: &Path) -> Vec<PathBuf> {
    let Ok(names) = backend.list(Location::at(directory)) else { return Vec::new() };
    let mut restored = Vec::new();
    for hidden_name in &names {
        let Some(name) = name_of(hidden_name, REPLACED_ENDING).filter(|name| !name.is_empty()) else { continue };
        let (aside, target) = (directory.join(hidden_name), directory.join(name));
        // A process that is replacing an image now holds its lock.
        let Ok(Some(_lock)) = backend.lock(&aside) else { continue };
        // Files of other programs are neither moved nor removed.
        if !is_image(backend, &aside) {
            continue;
        }
        if backend.named_itself(&target).is_none() {
            if backend.rename(&aside, &target).is_ok() {
                restored.push(target);
            }
        } else if is_image(backend, &target) {
            let stem = OsStr::from_bytes(&name.as_bytes()[..name.len().min(MOST_NAME_BYTES)]);
            // If this fails, it stays until the next time.
            let _ = backend.rename(&aside, &directory.join(hidden(stem, ENDING)));
        }
    }
    restored
}

fn is_image(backend: &Arc<dyn Backend>, path: &Path) -> bool {
    matches!(occupant(backend, path), Ok(Occupant::Image(None)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::DataFile;
    use outcore_io::backend::{Open, Posix};

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let system: Arc<dyn Backend> = Arc::new(Posix);
        let at = |name: &str| directory.path().join(name);
        let long = "x".repeat(250);
        let create = |path: &Path| DataFile::open_as(&system, Location::at(path), Open::Create);
        let partials = [
            Partial::directory(&system, directory.path(), "held.oc".as_ref()).unwrap(),
            Partial::file(&system, &at("held.csv"), create).unwrap().0,
            Partial::directory(&system, directory.path(), long.as_ref()).unwrap(),
        ];
        let others = [
            "graph.oc",
            ".x.0123456789abcdef.partial",
            ".x.01234567.outcore-partial",
            "x.outcore-partial",
            ".x.0123456789abcdef.outcore-replaced",
        ];
        others.iter().for_each(|name| std::fs::create_dir(at(name)).unwrap());
        let leftovers = [".a.oc.00000000000000aa.outcore-partial", ".b.csv.00000000000000bb.outcore-partial"].map(at);
        std::fs::create_dir_all(leftovers[0].join("columns")).unwrap();
        std::fs::write(leftovers[0].join("columns/file"), "x").unwrap();
        std::fs::write(&leftovers[1], "x").unwrap();
        // A link is not followed, under any name.
        std::os::unix::fs::symlink(at("graph.oc"), at(".c.00000000000000cc.outcore-partial")).unwrap();
        assert_eq!(remove_leftovers(&system, directory.path()), leftovers);
        assert_eq!(remove_leftovers(&system, directory.path()), Vec::<PathBuf>::new());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3 + 5 + 1);
        drop(partials);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 5 + 1);
    }
}
