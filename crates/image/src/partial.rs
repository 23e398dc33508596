//! Files and directories under way: they have a temporary name until they are complete, and vanish if they never are.
//!
//! `NAME` is made as `.NAME.RANDOM.outcore-partial` beside its place. Its process holds a lock on it, which the
//! operating system gives back however the process ends, and also where processes of several containers share a folder.
//! So what is not locked is what a killed process left, and whoever makes something in the same folder removes it.

use crate::error::{Error, Result};
use crate::files::MANIFEST;
use outcore_io::backend::Output;
use outcore_io::{Backend, Error as IoError, folder, free_disk_bytes, lock_path, random};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What temporary names end in.
const ENDING: &str = ".outcore-partial";
/// So many bytes of a name are kept, for file systems limit the length of names.
const MOST_NAME_BYTES: usize = 100;

/// An error if a file is not to be written, or replaced, at a path.
fn check_target(target: &Path) -> Result<()> {
    let refused = |found: &str, advice: &str| {
        let path = target.display();
        Err(Error::Usage(format!(
            "{path}: expected the name of a file to write or to replace, found {found}; {advice}"
        )))
    };
    if target.file_name().is_none() || target.is_dir() {
        return Err(Error::Usage(format!("expected the name of a file to write, found {}", target.display())));
    }
    match std::fs::symlink_metadata(target) {
        Ok(there) if there.is_symlink() => return refused("a link", "name the file that it leads to"),
        Ok(there) if !there.is_file() => {
            return refused("a device, a pipe or something else", "write a file, and copy it there");
        }
        _ => {}
    }
    match std::fs::symlink_metadata(folder(target).join(MANIFEST)) {
        Ok(_) => refused("a place within an image", "choose another folder"),
        Err(_) => Ok(()),
    }
}

/// A file or directory under a temporary name; what still has that name when this is dropped is removed.
pub struct Partial {
    path: PathBuf,
    _lock: Option<File>,
}

impl Partial {
    /// An empty directory in `parent`, which will perhaps be named `name`.
    pub fn directory(parent: &Path, name: &OsStr) -> Result<Self> {
        let created = Partial::create(parent, name, |path| {
            std::fs::create_dir(path).map_err(|error| IoError::file(path, "create", error))
        });
        created.map(|(partial, ())| partial)
    }

    /// An empty file in the folder of `target`, which it will perhaps replace.
    ///
    /// # Errors
    /// What is there already and is no plain file: whoever named a device, a pipe or a link did not want it replaced.
    /// A folder that is an image, which such a file does not belong into.
    pub fn file(backend: &dyn Backend, target: &Path) -> Result<(Self, Box<dyn Output>)> {
        check_target(target)?;
        remove_leftovers(folder(target));
        Partial::create(folder(target), target.file_name().unwrap_or_default(), |path| backend.create(path))
    }

    fn create<T>(parent: &Path, name: &OsStr, make: impl Fn(&Path) -> outcore_io::Result<T>) -> Result<(Self, T)> {
        loop {
            let mut own = OsString::from(".");
            own.push(OsStr::from_bytes(&name.as_bytes()[..name.len().min(MOST_NAME_BYTES)]));
            own.push(format!(".{:016x}{ENDING}", random()));
            let path = parent.join(own);
            let made = match make(&path) {
                Err(IoError::File { source, .. }) if source.kind() == ErrorKind::AlreadyExists => continue,
                // Users know the name that it is to have, not the one that it has until it is complete.
                Err(IoError::File { source, operation, .. }) => {
                    return Err(IoError::file(parent.join(name), operation, source).into());
                }
                made => made?,
            };
            match lock_path(&path) {
                Ok(Some(lock)) => return Ok((Partial { path, _lock: Some(lock) }, made)),
                // Another process took it for what somebody left, and removes it.
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // Where nothing can be locked nothing is removed either.
                Err(_) => return Ok((Partial { path, _lock: None }, made)),
            }
        }
    }

    /// The temporary name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // What resists is removed by whoever comes next.
        remove(&self.path);
    }
}

/// An error if a directory has less left than is the least of what is announced.
pub fn require_disk(purpose: &str, needed_bytes: u64, least_bytes: u64, directory: &Path) -> Result<()> {
    // A file system that does not tell how much it has left may have enough.
    let free_bytes = free_disk_bytes(directory).unwrap_or(u64::MAX);
    if least_bytes <= free_bytes {
        return Ok(());
    }
    let (purpose, directory) = (purpose.to_owned(), directory.to_owned());
    Err(Error::DiskSpace { purpose, needed_bytes, free_bytes, directory })
}

/// Removes what killed processes left in a directory; returns what that was.
pub fn remove_leftovers(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.flatten().filter(|entry| is_temporary(&entry.file_name())).map(|entry| entry.path());
    let mut removed: Vec<PathBuf> =
        paths.filter(|path| matches!(lock_path(path), Ok(Some(_lock)) if remove(path))).collect();
    removed.sort();
    removed
}

fn is_temporary(name: &OsStr) -> bool {
    let rest = name.as_bytes().strip_prefix(b".").and_then(|name| name.strip_suffix(ENDING.as_bytes()));
    let number = rest.and_then(|rest| rest.rsplit(|&byte| byte == b'.').next());
    number.is_some_and(|number| number.len() == 16 && number.iter().all(u8::is_ascii_hexdigit))
}

fn remove(path: &Path) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path).is_ok(),
        Ok(_) => std::fs::remove_file(path).is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let long = "x".repeat(250);
        let held = [
            Partial::directory(directory.path(), "held.oc".as_ref()).unwrap(),
            Partial::file(&outcore_io::backend::Posix, &at("held.csv")).unwrap().0,
            Partial::directory(directory.path(), long.as_ref()).unwrap(),
        ];
        let others = ["graph.oc", ".x.0123456789abcdef.partial", ".x.01234567.outcore-partial", "x.outcore-partial"];
        others.iter().for_each(|name| std::fs::create_dir(at(name)).unwrap());
        let left = [".a.oc.00000000000000aa.outcore-partial", ".b.csv.00000000000000bb.outcore-partial"].map(at);
        std::fs::create_dir_all(left[0].join("columns")).unwrap();
        std::fs::write(left[0].join("columns/file"), "x").unwrap();
        std::fs::write(&left[1], "x").unwrap();
        // A link is not followed, whatever its name is.
        std::os::unix::fs::symlink(at("graph.oc"), at(".c.00000000000000cc.outcore-partial")).unwrap();
        assert_eq!(remove_leftovers(directory.path()), left);
        assert_eq!(remove_leftovers(directory.path()), Vec::<PathBuf>::new());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3 + 4 + 1);
        drop(held);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 4 + 1);
    }
}
