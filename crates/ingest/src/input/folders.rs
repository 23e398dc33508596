//! Folders and patterns of names as inputs: the files that they stand for, in sorted order.
//!
//! A folder stands for all files in it and in the folders below, as partitions are written, such as
//! `year=2024/part-0.parquet`. A path that is that of no file may be a pattern: `*`, `?` and `[...]` match within a
//! name, and `**` any folders. Names that begin with a dot or an underscore are left out, as programs that write
//! partitions mean it, unless a pattern begins so; so are the files of vertices that belong to other files; and so are
//! files that hold no data by their names, such as checksums and copies of editors, which are told, unless a pattern
//! ends so. A file that is named itself is always read, but none is read twice.

use crate::input::coding::plain_name;
use glob::Pattern;
use outcore_image::{Error, Result};
use outcore_io::Backend;
use outcore_io::backend::{FileKind, Location, What};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

const MOST_FILES: usize = 1 << 16;
const MOST_DEPTH: usize = 64;
/// Ending of a file of vertices, after the name of the file that it belongs to.
const VERTICES: &str = ".vertices";

/// Endings of names of files that hold no data: checksums and signatures, copies, and what is not complete.
const OTHER_ENDINGS: [&str; 20] = [
    "~",
    ".bak",
    ".old",
    ".orig",
    ".part",
    ".partial",
    ".tmp",
    ".temp",
    ".swp",
    ".crdownload",
    ".filepart",
    ".md5",
    ".sha1",
    ".sha256",
    ".sha512",
    ".b2",
    ".crc",
    ".asc",
    ".sig",
    ".lock",
];
/// Endings of names of lists of checksums, such as `SHA256SUMS` and `md5sums.txt`, without `.txt`.
const SUMS: [&str; 2] = ["sums", "sum"];

/// The files that paths stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Files that are read, in their order.
    pub paths: Vec<PathBuf>,
    /// Files in folders and patterns that are not, since they hold no data by their names.
    pub left_out: Vec<PathBuf>,
}

/// The files that paths stand for: a path to a file or an image stands for itself.
///
/// # Errors
/// A folder or a pattern without files, or with too many of them; a folder that cannot be read; a file that is there
/// twice.
pub fn expand(backend: &Arc<dyn Backend>, paths: &[PathBuf]) -> Result<Files> {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        let mut walk = Walk { backend, files: Vec::new(), left_out: Vec::new() };
        match backend.named(path).map(|named| named.kind) {
            Some(FileKind::Directory) if !is_image(backend, path) => walk.folder(path, 0)?,
            None if is_pattern(path) => walk.pattern(path)?,
            _ => {
                files.push(path.clone());
                continue;
            }
        }
        let mut own_files = walk.files;
        own_files.sort_unstable();
        own_files.dedup();
        let names: Vec<PathBuf> = own_files.clone();
        own_files.retain(|file| owner(file).is_none_or(|owner| names.binary_search(&owner).is_err()));
        if own_files.is_empty() {
            let expected = "a folder with files, or a pattern of names of some";
            return Err(Error::input(path, None, expected, "no file").advise(
                "names that begin with a dot or an underscore are left out, and those of checksums, backups and the like",
            ));
        }
        files.append(&mut own_files);
        left_out.append(&mut walk.left_out);
        if files.len() > MOST_FILES {
            return Err(Error::input(
                path,
                None,
                format!("at most {MOST_FILES} files"),
                format!("{} files", files.len()),
            ));
        }
    }
    check_different(backend, &files)?;
    left_out.sort_unstable();
    left_out.dedup();
    Ok(Files { paths: files, left_out })
}

/// Refuses a file that is there twice, also under another name: its edges would count twice.
fn check_different(backend: &Arc<dyn Backend>, files: &[PathBuf]) -> Result<()> {
    let mut known: HashMap<(u64, u64), &PathBuf> = HashMap::new();
    for file in files.iter().filter(|_| files.len() > 1) {
        let Some(status) = backend.named(file).filter(|status| status.kind == FileKind::File) else { continue };
        if let Some(first) = known.insert(status.identity, file) {
            let found = format!("{}, which is the same file", first.display());
            return Err(Error::input(file, None, "every file once", found)
                .advise("name the files, or give the folder alone; for edges that count twice, copy the file"));
        }
    }
    Ok(())
}

/// Most files that a note names.
const MOST_NAMED: usize = 5;

/// Names of files, of which only the first are given where there are many.
pub(crate) fn listed_files(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().take(MOST_NAMED).map(|file| file.display().to_string()).collect();
    let more = if files.len() > MOST_NAMED { ", ..." } else { "" };
    names.join(", ") + more
}

/// Whether a file holds no data by its name.
fn holds_no_data(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name.strip_suffix(".txt").unwrap_or(&name);
    OTHER_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SUMS.iter().any(|ending| {
            stem.ends_with(ending) && ["md5", "sha", "b2", "check"].iter().any(|start| stem.starts_with(start))
        })
        || name.len() > 2 && name.starts_with('#') && name.ends_with('#')
}

fn is_image(backend: &Arc<dyn Backend>, path: &Path) -> bool {
    backend.named(&path.join("manifest.json")).is_some()
}

fn is_pattern(path: &Path) -> bool {
    path != Path::new("-") && path.to_str().is_some_and(has_wildcard)
}

fn has_wildcard(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The file that a file of vertices belongs to, if its name is one's.
fn owner(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let owner = plain_name(name).strip_suffix(VERTICES)?;
    Some(file.with_file_name(owner))
}

/// Whether a name is left out unless a pattern begins so.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

struct Walk<'a> {
    backend: &'a Arc<dyn Backend>,
    files: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
}

impl Walk<'_> {
    fn names(&self, folder: &Path) -> Result<Vec<OsString>> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let names = self.backend.list(Location::at(here));
        Ok(names.map_err(|error| outcore_io::Error::file(here, "list", error))?)
    }

    fn folder(&mut self, folder: &Path, depth: usize) -> Result<()> {
        for name in self.names(folder)? {
            if !is_hidden(&name.to_string_lossy()) {
                self.take_data(folder.join(name), depth)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, path: PathBuf, depth: usize) -> Result<()> {
        let file = self.backend.look(What::Named(&path));
        match file.map_err(|error| outcore_io::Error::file(&path, "open", error))?.kind {
            FileKind::Directory if is_image(self.backend, &path) => {
                Err(Error::input(&path, None, "a file or a folder", "an Outcore image")
                    .advise("name images one by one, beside the folder or in its place"))
            }
            FileKind::Directory if depth == MOST_DEPTH => Err(Error::input(
                &path,
                None,
                format!("folders at most {MOST_DEPTH} deep"),
                format!("a folder at depth {}", depth + 1),
            )),
            FileKind::Directory => self.folder(&path, depth + 1),
            _ if self.files.len() > MOST_FILES => {
                let found = format!("{} files so far", self.files.len());
                Err(Error::input(&path, None, format!("at most {MOST_FILES} files"), found))
            }
            FileKind::Other => {
                let expected = "plain files in a folder";
                Err(Error::input(&path, None, expected, "a pipe, a device or a socket")
                    .advise("give it by its own path"))
            }
            _ => {
                self.files.push(path);
                Ok(())
            }
        }
    }

    /// Takes a file, unless it holds no data by its name.
    fn take_data(&mut self, path: PathBuf, depth: usize) -> Result<()> {
        let is_other = path.file_name().is_some_and(|name| holds_no_data(&name.to_string_lossy()));
        let is_file = |named: outcore_io::backend::FileStatus| named.kind == FileKind::File;
        if is_other && self.backend.named(&path).is_some_and(is_file) {
            self.left_out.push(path);
            return Ok(());
        }
        self.take(path, depth)
    }

    fn pattern(&mut self, pattern: &Path) -> Result<()> {
        let parts: Vec<Component<'_>> = pattern.components().collect();
        self.matching(PathBuf::new(), &parts, 0)
    }

    /// Adds the files in a folder that match the remaining parts of a pattern.
    fn matching(&mut self, folder: PathBuf, parts: &[Component<'_>], depth: usize) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else { return self.take(folder, 0) };
        let name = part.as_os_str().to_str().unwrap_or_default();
        if !has_wildcard(name) {
            let path = folder.join(part);
            let is_there = rest.iter().any(|part| part.as_os_str().to_str().is_some_and(has_wildcard))
                || self.backend.named(&path).is_some();
            return if is_there { self.matching(path, rest, depth) } else { Ok(()) };
        }
        if self
            .backend
            .named(if folder.as_os_str().is_empty() { Path::new(".") } else { &folder })
            .map(|named| named.kind)
            != Some(FileKind::Directory)
        {
            return Ok(());
        }
        if depth == MOST_DEPTH {
            return Err(Error::input(
                &folder,
                None,
                format!("folders at most {MOST_DEPTH} deep"),
                format!("a folder at depth {}", depth + 1),
            ));
        }
        if name == "**" {
            self.matching(folder.clone(), rest, depth + 1)?;
        }
        let wanted = Pattern::new(name).map_err(|error| {
            Error::Usage(format!(
                "{name}: expected the name of a file or a pattern, found a pattern with an error: {error}"
            ))
        })?;
        for entry in self.names(&folder)? {
            let entry = entry.to_string_lossy().into_owned();
            if is_hidden(&entry) && !is_hidden(name) {
                continue;
            }
            let path = folder.join(&entry);
            if name == "**" {
                let is_folder = self.backend.named(&path).is_some_and(|named| named.kind == FileKind::Directory);
                if is_folder {
                    self.matching(path, parts, depth + 1)?;
                } else if rest.is_empty() {
                    self.take_data(path, 0)?;
                }
            } else if wanted.matches(&entry) && rest.is_empty() && !holds_no_data(name) {
                self.take_data(path, 0)?;
            } else if wanted.matches(&entry) {
                self.matching(path, rest, depth + 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::backend::Posix;

    fn expanded(folder: &Path, pattern: &str) -> std::result::Result<Vec<String>, String> {
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let files = expand(&backend, &[folder.join(pattern)]).map_err(|error| error.to_string())?;
        let inside = |file: PathBuf| file.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        Ok(files.paths.into_iter().map(inside).collect())
    }

    #[test]
    fn files_that_hold_no_data_are_left_out_and_none_is_read_twice() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let others = ["#a.csv#", "SHA256SUMS", "a.csv.md5", "a.csv~", "b.csv.bak", "b.csv.part", "md5sums.txt"];
        for file in others.into_iter().chain(["a.csv", "b.csv", "sums.csv", "#"]) {
            std::fs::write(folder.join(file), "1,2\n").unwrap();
        }
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let all = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| folder.join(path)).collect();
            expand(&backend, &paths).map_err(|error| error.to_string())
        };
        let found = all(&[""]).unwrap();
        assert_eq!(found.paths, ["#", "a.csv", "b.csv", "sums.csv"].map(|name| folder.join(name)));
        assert_eq!(found.left_out, others.map(|name| folder.join(name)));
        assert_eq!(all(&["a*"]).unwrap().paths, [folder.join("a.csv")]);
        // A file that is named is read.
        assert_eq!(all(&["*.md5"]).unwrap().paths, [folder.join("a.csv.md5")]);
        assert_eq!(all(&["a.csv~"]).unwrap(), Files { paths: vec![folder.join("a.csv~")], left_out: Vec::new() });
        std::os::unix::fs::symlink(folder.join("a.csv"), folder.join("latest.csv")).unwrap();
        for twice in
            [&["a.csv", "a.csv"][..], &["a.csv", "./a.csv"], &["*.csv"], &["", "b.csv"], &["a.csv", "latest.csv"]]
        {
            let error = all(twice).unwrap_err();
            assert!(error.contains("every file once") && error.contains("the same file"), "{error}");
        }
    }

    #[test]
    fn folders_and_patterns_stand_for_their_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for file in [
            "b.csv",
            "a.csv",
            "a.csv.vertices",
            "c.txt",
            "_SUCCESS",
            ".hidden",
            "y=1/p.csv",
            "y=2/p.csv",
            "y=2/_x/q.csv",
        ] {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "1,2\n").unwrap();
        }
        for (pattern, expected) in [
            ("", &["a.csv", "b.csv", "c.txt", "y=1/p.csv", "y=2/p.csv"][..]),
            ("*.csv", &["a.csv", "b.csv"]),
            ("[bc].*", &["b.csv", "c.txt"]),
            ("y=*/?.csv", &["y=1/p.csv", "y=2/p.csv"]),
            ("y=*", &["y=1/p.csv", "y=2/p.csv"]),
            ("**/*.csv", &["a.csv", "b.csv", "y=1/p.csv", "y=2/p.csv"]),
            ("**", &["a.csv", "b.csv", "c.txt", "y=1/p.csv", "y=2/p.csv"]),
            ("_S*", &["_SUCCESS"]),
            ("nothing.csv", &["nothing.csv"]),
            ("a.csv.vertices", &["a.csv.vertices"]),
            ("*/p.csv", &["y=1/p.csv", "y=2/p.csv"]),
        ] {
            assert_eq!(expanded(folder, pattern).unwrap(), expected, "{pattern}");
        }
        for pattern in ["*.parquet", "no*/x", "a.csv/*"] {
            assert!(expanded(folder, pattern).unwrap_err().contains("no file"), "{pattern}");
        }
        assert!(expanded(folder, "[").unwrap_err().contains("a pattern with an error"));
        std::fs::create_dir(folder.join("empty")).unwrap();
        assert!(expanded(folder, "empty").unwrap_err().contains("no file"));
        std::fs::create_dir(folder.join("x.oc")).unwrap();
        std::fs::write(folder.join("x.oc/manifest.json"), "").unwrap();
        assert!(expanded(folder, "").unwrap_err().contains("an Outcore image"));
        assert_eq!(expanded(folder, "x.oc").unwrap(), ["x.oc"]);
        std::os::unix::fs::symlink(folder, folder.join("y=1/loop")).unwrap();
        std::fs::remove_dir_all(folder.join("x.oc")).unwrap();
        assert!(expanded(folder, "").unwrap_err().contains("64 deep"));
    }
}
