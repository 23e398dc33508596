//! The ledger of `sim`: files and directories that were changed and not synced since, so that a power failure may undo
//! the change.
//!
//! **Rule:** a file or directory is synced with all that it contains before it gets its final name, and the directory
//! of that name is synced before the name is reported. The first half is asserted at every rename; for the second half,
//! tests ask for all unsynced paths.

use crate::directory::folder;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Changed paths, and whether each was synced since.
#[derive(Default)]
pub(super) struct Ledger {
    synced: Mutex<BTreeMap<PathBuf, bool>>,
    /// The paths of files that were created or opened for writing, by their identity.
    paths: Mutex<BTreeMap<(u64, u64), PathBuf>>,
}

impl Ledger {
    /// A file or a directory was created.
    pub fn created(&self, path: &Path) {
        self.changed(path);
        self.changed(folder(path));
    }

    /// A file has this path.
    pub fn opened(&self, identity: (u64, u64), path: &Path) {
        lock(&self.paths).insert(identity, path.to_owned());
    }

    /// A file has no name.
    pub fn nameless(&self, identity: (u64, u64)) {
        lock(&self.paths).remove(&identity);
    }

    /// The path of an open file; none if it has no name.
    pub fn path_of(&self, identity: (u64, u64)) -> Option<PathBuf> {
        lock(&self.paths).get(&identity).cloned()
    }

    /// A file was written, or the names in a directory changed.
    pub fn changed(&self, path: &Path) {
        lock(&self.synced).insert(path.to_owned(), false);
    }

    /// A file or directory was synced.
    pub fn synced(&self, path: &Path) {
        lock(&self.synced).insert(path.to_owned(), true);
    }

    /// Changed paths that still exist and were not synced.
    pub fn unsynced(&self) -> Vec<PathBuf> {
        let synced = lock(&self.synced);
        let unsynced = synced.iter().filter(|&(path, &synced)| !synced && std::fs::symlink_metadata(path).is_ok());
        unsynced.map(|(path, _)| path.clone()).collect()
    }

    /// A file or directory got another name.
    pub fn renamed(&self, from: &Path, to: &Path) {
        let mut synced = lock(&self.synced);
        take(&mut synced, to);
        let moved = take(&mut synced, from);
        put(&mut synced, to, moved);
        for path in lock(&self.paths).values_mut() {
            if let Ok(below) = path.strip_prefix(from) {
                *path = joined(to, below);
            }
        }
        synced.insert(folder(from).to_owned(), false);
        synced.insert(folder(to).to_owned(), false);
    }

    /// Two files or directories exchanged their names.
    pub fn exchanged(&self, one: &Path, other: &Path) {
        let mut synced = lock(&self.synced);
        let (first, second) = (take(&mut synced, one), take(&mut synced, other));
        put(&mut synced, other, first);
        put(&mut synced, one, second);
        synced.insert(folder(one).to_owned(), false);
        synced.insert(folder(other).to_owned(), false);
    }

    /// Asserts that a file or directory is synced with everything in it, unless nothing of it was changed under this
    /// ledger.
    ///
    /// # Panics
    /// If it is not.
    pub fn assert_synced(&self, path: &Path) {
        let synced = lock(&self.synced);
        if synced.keys().any(|known| known.starts_with(path)) {
            let mut within = vec![path.to_owned()];
            while let Some(path) = within.pop() {
                assert_eq!(synced.get(&path), Some(&true), "{} gets its name and is not synced", path.display());
                // A file has no entries.
                within.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
        }
    }
}

/// Removes the entries of a path and of all paths below it; returns them relative to it.
fn take(synced: &mut BTreeMap<PathBuf, bool>, path: &Path) -> Vec<(PathBuf, bool)> {
    let known: Vec<PathBuf> = synced.keys().filter(|known| known.starts_with(path)).cloned().collect();
    let entries =
        known.into_iter().filter_map(|known| Some((known.strip_prefix(path).ok()?.to_owned(), synced.remove(&known)?)));
    entries.collect()
}

fn put(synced: &mut BTreeMap<PathBuf, bool>, path: &Path, entries: Vec<(PathBuf, bool)>) {
    synced.extend(entries.into_iter().map(|(below, is)| (joined(path, &below), is)));
}

fn joined(path: &Path, below: &Path) -> PathBuf {
    // Joining an empty path would add a slash.
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}
