//! The directory in which an image is made, beside the final path: it gets that name in the end or vanishes.
//!
//! The image is written under a temporary name (`partial.rs`). When it is complete and synced it is renamed, or, if an
//! older image has the name and may be replaced, the two exchange their names and the older one is removed. All that is
//! tried before the work begins, for a refusal at its end would cost the work. Leftovers of killed processes are
//! removed, or put back, by the next import in the same folder.

use crate::files::{GRAPH_FOLDERS, MANIFEST, Occupant, occupant};
use crate::partial::{Partial, check_place, put_back, remove_leftovers, try_place};
use crate::{Error, Result};
use outcore_io::backend::{FileKind, Lock};
use outcore_io::{Backend, Directory, Runtime, folder};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The name of the folder of temporary files of an import.
pub const TEMPORARY_FOLDER: &str = "temporary";
/// Interval at which a wait for the lock of an image checks for a request to stop.
const LOCK_CHECK: Duration = Duration::from_millis(20);

/// The directories of a running import; on drop all vanish that did not become the image.
pub struct Workspace {
    image: PathBuf,
    replace: bool,
    partial: Partial,
    /// The directory of temporary files, if the user chose one.
    elsewhere: Option<Partial>,
    temporary: PathBuf,
    removed: Vec<PathBuf>,
    restored: Vec<PathBuf>,
}

/// Output locations of an import.
pub struct Places {
    /// The image's path, with links resolved: a link to the image stays a link.
    image: PathBuf,
    /// Whether it may replace an existing image.
    replace: bool,
    /// The directory of temporary files.
    temporary: PathBuf,
    /// The images that were put back.
    restored: Vec<PathBuf>,
}

impl Places {
    /// Locations of an import to `image`, which must be free, or an image if it may be replaced. Whether it can be made
    /// and replaced is tried, and nothing is written yet; but an image whose replacement was interrupted by a killed
    /// process gets its name back.
    ///
    /// # Errors
    /// Something that has the path and must not, or cannot, be replaced; a folder in which nothing can be made.
    pub fn new(runtime: &Runtime, image: &Path, replace: bool) -> Result<Self> {
        let backend = runtime.backend();
        let image = match backend.named_itself(image).map(|status| status.kind) {
            Some(FileKind::Link) => backend.resolved(image)?,
            _ => image.to_owned(),
        };
        if image.file_name().is_none() {
            return Err(Error::Usage(format!("expected a path for the image, found {}", image.display())));
        }
        check_place(backend, &image)?;
        let restored = put_back(backend, folder(&image));
        check_target(backend, &image, replace)?;
        try_place(backend, &image)?;
        let temporary = runtime.temporary().map_or(folder(&image), |directory| directory).to_owned();
        Ok(Places { image, replace, temporary, restored })
    }

    /// The directory that temporary files are made in.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The directory that the image is made in.
    pub fn folder(&self) -> &Path {
        folder(&self.image)
    }
}

impl Workspace {
    /// Makes the directories of an import.
    pub fn create(runtime: &Runtime, places: Places) -> Result<Self> {
        let Places { image, replace, temporary, restored } = places;
        let (folder, name) = (folder(&image), image.file_name().unwrap_or_else(|| OsStr::new("image")));
        let mut removed = remove_leftovers(runtime.backend(), folder);
        let partial = Partial::successor(runtime.backend(), &image)?;
        let elsewhere = match runtime.temporary() {
            None => None,
            Some(_) => {
                removed.extend(remove_leftovers(runtime.backend(), &temporary));
                Some(Partial::directory(runtime.backend(), &temporary, name)?)
            }
        };
        let temporary = elsewhere.as_ref().unwrap_or(&partial).path().join(TEMPORARY_FOLDER);
        let workspace = Workspace { image, replace, partial, elsewhere, temporary, removed, restored };
        for directory in [&workspace.temporary, &workspace.partial().join("columns")] {
            runtime.backend().create_directory(directory)?;
        }
        Ok(workspace)
    }

    /// Makes an empty directory for an image that is made without temporary files and has no folders.
    pub fn create_plain(runtime: &Runtime, places: Places) -> Result<Self> {
        let Places { image, replace, restored, .. } = places;
        let removed = remove_leftovers(runtime.backend(), folder(&image));
        let partial = Partial::successor(runtime.backend(), &image)?;
        let temporary = partial.path().join(TEMPORARY_FOLDER);
        Ok(Workspace { image, replace, partial, elsewhere: None, temporary, removed, restored })
    }

    /// The leftovers of killed imports in the same folders that were removed.
    pub fn removed(&self) -> &[PathBuf] {
        &self.removed
    }

    /// The images that got their names back after a killed import.
    pub fn restored(&self) -> &[PathBuf] {
        &self.restored
    }

    /// The directory that becomes the image.
    pub fn partial(&self) -> &Path {
        self.partial.path()
    }

    /// A temporary file's path.
    pub fn temporary(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// The directory of temporary files.
    pub fn temporary_directory(&self) -> &Path {
        &self.temporary
    }

    /// Gives the finished directory the image's name, and what is in it the modes of the older image. Waits while
    /// another process replaces the older image. Returns a note for the user if the older image could not be removed.
    pub fn finish(mut self, runtime: &Runtime) -> Result<Option<String>> {
        let backend = runtime.backend();
        if backend.named_itself(&self.temporary).is_some() {
            backend.remove_all(&self.temporary)?;
        }
        drop(self.elsewhere.take());
        let _old = lock_image(runtime, &self.image)?;
        check_target(backend, &self.image, self.replace)?;
        let replaced = backend.named_itself(&self.image).is_some();
        for directory in GRAPH_FOLDERS.into_iter().chain([""]) {
            let path = self.partial().join(directory);
            if backend.named(&path).is_some() {
                if replaced {
                    permit_as(backend, &self.image, self.partial(), directory)?;
                }
                backend.sync_directory(&path)?;
            }
        }
        let aside = match replaced {
            true => self.partial.replace(&self.image)?,
            false => {
                backend.rename(self.partial(), &self.image)?;
                None
            }
        };
        if let Err(error) = backend.sync_directory(folder(&self.image)) {
            // The new image has not been reported yet: undo.
            let undone = match (&aside, replaced) {
                (None, true) => backend.exchange(self.partial(), &self.image),
                (None, false) => backend.rename(&self.image, self.partial()),
                (Some(aside), _) => {
                    let removed = backend.rename(&self.image, self.partial());
                    removed.and_then(|()| backend.rename(aside, &self.image))
                }
            };
            // While it is unknown which image a power failure would leave under the name, both must stay.
            if undone.is_err() || backend.sync_directory(folder(&self.image)).is_err() {
                self.partial.keep();
            }
            return Err(error);
        }
        if let Some(aside) = aside {
            // From now on it is a leftover. If it keeps its name, the next import removes it.
            let _ = backend.rename(&aside, self.partial());
        }
        match self.partial.remove() {
            Err(error) if replaced => {
                Ok(Some(format!("The older image is left behind, hidden beside the new one: {error}")))
            }
            _ => Ok(None),
        }
    }
}

/// Gives the files and folders in a directory of a new image the modes and owners that those of the older image have;
/// what that has not is like its manifest, or a folder like the image.
fn permit_as(backend: &Arc<dyn Backend>, older: &Path, new: &Path, directory: &str) -> Result<()> {
    for name in Directory::open(backend, new)?.names(directory)? {
        let below = Path::new(directory).join(name);
        let is_folder = backend.named_itself(&new.join(&below)).is_some_and(|it| it.kind == FileKind::Directory);
        let same = backend.named_itself(&older.join(&below)).filter(|it| (it.kind == FileKind::Directory) == is_folder);
        let like = match same {
            Some(_) => older.join(&below),
            None if is_folder => older.to_owned(),
            None => older.join(MANIFEST),
        };
        backend.permit_as(&new.join(&below), &like)?;
    }
    Ok(())
}

/// The lock of the image that has a path, if there is one. No other process may remove that image while it has the
/// temporary name, because it may have to be put back. A process that has just made it, or is replacing it, has the
/// lock until it has ended that.
fn lock_image(runtime: &Runtime, image: &Path) -> Result<Option<Lock>> {
    loop {
        runtime.cancel().check()?;
        match runtime.backend().lock(image) {
            Ok(None) if runtime.backend().named_itself(image).is_some() => std::thread::sleep(LOCK_CHECK),
            // In a file system without locks nothing is removed either.
            lock => return Ok(lock.ok().flatten()),
        }
    }
}

/// Fails if the path is occupied and must not be replaced.
fn check_target(backend: &Arc<dyn Backend>, image: &Path, replace: bool) -> Result<()> {
    if backend.named_itself(image).is_none() {
        return Ok(());
    }
    let exists = |is_image, reason| Err(Error::Exists { path: image.to_owned(), is_image, reason });
    match occupant(backend, image)? {
        Occupant::Image(None) if replace => Ok(()),
        Occupant::Image(Some(entry)) if replace => Err(Error::Usage(format!(
            "{}: expected nothing but files of the image in a directory that is to be replaced, for all of it is \
             removed, found {}; move that elsewhere, or choose another name for the new image",
            image.display(),
            entry.display()
        ))),
        Occupant::Image(_) => exists(true, String::new()),
        Occupant::Unknown(reason) => exists(false, reason),
        Occupant::Other => exists(false, String::new()),
    }
}
