//! Where an import works: a directory beside the image to be, which takes its name in the end or vanishes.
//!
//! The image is written as `.NAME.PROCESS-NUMBER.partial`. When it is complete and synced it is renamed, or, where an older
//! image has the name, the two exchange their names and the older one is removed. What killed processes left behind is removed
//! by the next import of the same image.

use crate::error::{Error, Result};
use crate::image::read_manifest;
use outcore_io::{Error as IoError, Runtime, process_exists};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells imports of one process apart.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// The directories of a running import; what is left of them vanishes when this is dropped.
pub(super) struct Workspace {
    image: PathBuf,
    parent: PathBuf,
    partial: PathBuf,
    temporary: PathBuf,
}

impl Workspace {
    /// Makes the directories for an import to `image`, which must be free or an image.
    pub(super) fn create(runtime: &Runtime, image: &Path) -> Result<Self> {
        // A link keeps pointing to where the image is.
        let image = if image.is_symlink() {
            std::fs::canonicalize(image).map_err(|error| IoError::file(image, "follow", error))?
        } else {
            image.to_owned()
        };
        let Some(name) = image.file_name() else {
            return Err(Error::Usage(format!("expected a path for the image, found {}", image.display())));
        };
        check_target(&image)?;
        let parent = match image.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let spills = runtime.temporary().unwrap_or(&parent);
        for directory in [&parent, spills] {
            remove_leftovers(directory, &prefix);
        }
        let own = loop {
            let mut own = prefix.clone();
            own.push(format!("{}-{}.partial", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
            match std::fs::create_dir(parent.join(&own)) {
                Ok(()) => break own,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(IoError::file(parent.join(&own), "create", error).into()),
            }
        };
        let partial = parent.join(&own);
        let temporary = match runtime.temporary() {
            Some(directory) => directory.join(&own).join("temporary"),
            None => partial.join("temporary"),
        };
        let workspace = Workspace { image, parent, partial, temporary };
        for directory in [&workspace.temporary, &workspace.partial.join("columns")] {
            std::fs::create_dir_all(directory).map_err(|error| IoError::file(directory, "create", error))?;
        }
        Ok(workspace)
    }

    /// The directory that becomes the image.
    pub(super) fn partial(&self) -> &Path {
        &self.partial
    }

    /// A temporary file's path.
    pub(super) fn temporary(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// The directory of temporary files.
    pub(super) fn temporary_directory(&self) -> &Path {
        &self.temporary
    }

    /// Gives the finished directory the image's name.
    pub(super) fn finish(self, runtime: &Runtime) -> Result<()> {
        let backend = runtime.backend();
        std::fs::remove_dir_all(&self.temporary).map_err(|error| IoError::file(&self.temporary, "remove", error))?;
        for directory in ["columns", "edges", ""].map(|name| self.partial.join(name)) {
            if directory.is_dir() {
                backend.sync_directory(&directory)?;
            }
        }
        runtime.cancel().check()?;
        check_target(&self.image)?;
        let replaced = std::fs::symlink_metadata(&self.image).is_ok();
        if replaced {
            self.exchange(runtime)?;
        } else {
            backend.rename(&self.partial, &self.image)?;
        }
        if let Err(error) = backend.sync_directory(&self.parent) {
            // Nobody was told of the new image yet: go back.
            let undone = if replaced { self.exchange(runtime) } else { Ok(()) };
            if undone.is_ok() && !replaced {
                let _ = std::fs::rename(&self.image, &self.partial);
            }
            return Err(error.into());
        }
        Ok(())
    }

    /// Lets the new image and the old one exchange their names.
    fn exchange(&self, runtime: &Runtime) -> Result<()> {
        let backend = runtime.backend();
        match backend.exchange(&self.partial, &self.image) {
            Err(IoError::File { source, .. }) if source.kind() == ErrorKind::Unsupported => {}
            other => return Ok(other?),
        }
        // This file system cannot exchange names: for a moment there is only the partial directory and the old one aside.
        let aside = self.partial.with_extension("old");
        backend.rename(&self.image, &aside)?;
        if let Err(error) = backend.rename(&self.partial, &self.image) {
            let _ = std::fs::rename(&aside, &self.image);
            return Err(error.into());
        }
        Ok(backend.rename(&aside, &self.partial)?)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // After a success these are the old image, or nothing. What resists is removed by the next import.
        let _ = std::fs::remove_dir_all(&self.partial);
        let _ = std::fs::remove_dir_all(&self.temporary);
        if let Some(parent) = self.temporary.parent() {
            let _ = std::fs::remove_dir(parent);
        }
    }
}

/// An error if something is in the way that is not an image.
fn check_target(image: &Path) -> Result<()> {
    if std::fs::symlink_metadata(image).is_err() {
        return Ok(());
    }
    let known = read_manifest(image).is_ok();
    if known {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{} is in the way: expected nothing or an Outcore image to replace, found neither; remove it or choose another name",
        image.display()
    )))
}

/// Removes what imports to the same image left in a directory when they were killed.
fn remove_leftovers(directory: &Path, prefix: &std::ffi::OsStr) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let middle = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let Some(middle) = middle.and_then(|name| name.strip_suffix(b".partial")) else { continue };
        let Some((process, _)) = std::str::from_utf8(middle).ok().and_then(|text| text.split_once('-')) else {
            continue;
        };
        if process.parse().is_ok_and(|process| !process_exists(process)) {
            // What resists is in nobody's way.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
