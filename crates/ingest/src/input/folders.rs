//! Folders and patterns of names as inputs: the files that they stand for, in sorted order.
//!
//! A folder stands for all files in it and in the folders below, as partitions are written, such as
//! `year=2024/part-0.parquet`. A path that is that of no file may be a pattern: `*`, `?` and `[...]` match within a
//! name, and `**` any folders. Names that begin with a dot or an underscore are left out, as programs that write
//! partitions mean it, unless a pattern begins so; so are the files of vertices that belong to other files; and so are
//! files that hold no data by their names, such as checksums and copies of editors, which are told, unless a pattern
//! ends so. A file that is named itself is always read, but none is read twice unless that is wanted.

use crate::input::coding::plain_name;
use glob::Pattern;
use outcore_image::{Error, Result, is_image};
use outcore_io::Backend;
use outcore_io::backend::{FileKind, Location, What};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

const MOST_FILES: usize = 1 << 16;
const MOST_DEPTH: usize = 64;
/// Ending of a file of vertices, after the name of the file that it belongs to.
const VERTICES: &str = ".vertices";

/// Endings of names of files that hold no data: checksums and signatures, copies, what is not complete, marks, and
/// descriptions.
const OTHER_ENDINGS: [&str; 42] = [
    "~",
    ".bak",
    ".backup",
    ".old",
    ".orig",
    ".rej",
    ".part",
    ".partial",
    ".tmp",
    ".temp",
    ".swp",
    ".crdownload",
    ".filepart",
    ".download",
    ".incomplete",
    ".inprogress",
    "._copying_",
    ".md5",
    ".md5sum",
    ".sha1",
    ".sha1sum",
    ".sha224",
    ".sha224sum",
    ".sha256",
    ".sha256sum",
    ".sha384",
    ".sha384sum",
    ".sha512",
    ".sha512sum",
    ".b2",
    ".b3",
    ".crc",
    ".sfv",
    ".asc",
    ".sig",
    ".lock",
    ".done",
    ".success",
    ".md",
    ".htm",
    ".html",
    ".pdf",
];
/// Names of descriptions, alone or with one of these endings.
const DESCRIPTIONS: [&str; 4] = ["readme", "license", "copying", "changelog"];
const DESCRIPTION_ENDINGS: [&str; 3] = ["", ".txt", ".rst"];
/// Names of files that systems and programs put into folders.
const OF_SYSTEMS: [&str; 3] = ["thumbs.db", "desktop.ini", "manifest.json"];
/// Endings of names of lists of checksums, such as `SHA256SUMS` and `md5sums.txt`, without `.txt`.
const SUMS: [&str; 2] = ["sums", "sum"];

/// The files that paths stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Files {
    /// Files that are read, in their order.
    pub paths: Vec<PathBuf>,
    /// Number of edges that each of them has, once all are read; empty where that is not known.
    pub edges: Vec<u64>,
    /// Files in folders and patterns that are not, since they hold no data by their names.
    pub left_out: Vec<PathBuf>,
    /// Files and folders there that are not, since their names begin with a dot or an underscore.
    pub hidden: Vec<PathBuf>,
    /// Number of further files that are not, whose names are not held.
    pub unnamed: u64,
}

impl Files {
    /// The files that are read of which no edge was.
    pub fn without_edges(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().zip(&self.edges).filter(|(_, edges)| **edges == 0).map(|(path, _)| path)
    }

    /// A note on those that hold no data by their names.
    pub fn note(&self) -> Option<String> {
        let (count, names) = (self.left_out.len(), listed_files(&self.left_out));
        let text = format!("Files that hold no data by their names and were left out: {count}: {names}.");
        (count > 0).then_some(text)
    }

    /// Adds the files of another input.
    pub fn extend(&mut self, other: &Files) {
        self.paths.extend_from_slice(&other.paths);
        self.left_out.extend_from_slice(&other.left_out);
        self.hidden.extend_from_slice(&other.hidden);
        self.unnamed += other.unnamed;
    }

    fn leave_out(&mut self, path: PathBuf, is_hidden: bool) {
        match if is_hidden { &mut self.hidden } else { &mut self.left_out } {
            names if names.len() < MOST_FILES => names.push(path),
            _ => self.unnamed += 1,
        }
    }
}

/// The files that paths stand for: a path to a file or an image stands for itself, and so does an image whose name
/// matches a pattern.
///
/// # Errors
/// A folder or a pattern without files, or with too many of them; a folder that cannot be read; a file that is there
/// twice, unless that is allowed.
pub fn expand(backend: &Arc<dyn Backend>, paths: &[PathBuf], may_repeat: bool) -> Result<Files> {
    let mut all = Files::default();
    for path in paths {
        let mut walk = Walk { backend, files: Files::default(), folders: Vec::new(), has_images: false };
        match backend.named(path).map(|named| named.kind) {
            Some(FileKind::Directory) if !is_image(backend, path) => walk.folder(path)?,
            None if is_pattern(path) => walk.pattern(path)?,
            _ => {
                all.paths.push(path.clone());
                continue;
            }
        }
        let mut own = walk.files;
        own.paths.sort_unstable();
        own.paths.dedup();
        let names: Vec<PathBuf> = own.paths.clone();
        own.paths.retain(|file| owner(file).is_none_or(|owner| names.binary_search(&owner).is_err()));
        if own.paths.is_empty() {
            let found = "expected a folder with files, or a pattern of names of some, found no file; names that begin \
                         with a dot or an underscore are left out, and those of checksums, backups and the like";
            return Err(Error::file(path, "read", std::io::Error::new(std::io::ErrorKind::NotFound, found)));
        }
        all.extend(&own);
        if all.paths.len() > MOST_FILES {
            let found = format!("{} files", all.paths.len());
            return Err(Error::input(path, None, format!("at most {MOST_FILES} files"), found));
        }
    }
    if !may_repeat {
        check_different(backend, &all.paths)?;
    }
    for names in [&mut all.left_out, &mut all.hidden] {
        names.sort_unstable();
        names.dedup();
    }
    Ok(all)
}

/// The images and files that a pattern stands for, if there are images among them.
///
/// # Errors
/// As for [`expand`].
pub fn images_of_pattern(backend: &Arc<dyn Backend>, path: &Path) -> Result<Option<Files>> {
    if backend.named(path).is_some() || !is_pattern(path) {
        return Ok(None);
    }
    let mut walk = Walk { backend, files: Files::default(), folders: Vec::new(), has_images: false };
    walk.pattern(path)?;
    match walk.has_images {
        true => expand(backend, &[path.to_owned()], true).map(Some),
        false => Ok(None),
    }
}

/// Refuses a file or an image that is there twice, also under another name: its edges would count twice.
///
/// # Errors
/// The second one of the same.
pub fn check_different(backend: &Arc<dyn Backend>, files: &[PathBuf]) -> Result<()> {
    let mut known: HashMap<(u64, u64), &PathBuf> = HashMap::new();
    for file in files.iter().filter(|_| files.len() > 1) {
        let is_stored = |kind| matches!(kind, FileKind::File | FileKind::Directory);
        let Some(status) = backend.named(file).filter(|status| is_stored(status.kind)) else { continue };
        if let Some(first) = known.insert(status.identity, file) {
            let found = format!("{}, which is the same file", first.display());
            return Err(Error::input(file, None, "every file once", found).advise(
                "name the files, or give the folder alone; if its edges are to count twice, say --allow-repeated",
            ));
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
    let (stem, plain) = (name.strip_suffix(".txt").unwrap_or(&name), plain_name(&name));
    OTHER_ENDINGS.iter().any(|ending| name.ends_with(ending) || plain.ends_with(ending))
        || SUMS.iter().any(|ending| {
            stem.ends_with(ending) && ["md5", "sha", "b2", "check"].iter().any(|start| stem.starts_with(start))
        })
        || name.len() > 2 && name.starts_with('#') && name.ends_with('#')
        || name.starts_with("~$")
        || OF_SYSTEMS.contains(&&*name)
        || DESCRIPTIONS.iter().any(|own| name.strip_prefix(own).is_some_and(|end| DESCRIPTION_ENDINGS.contains(&end)))
}

fn is_pattern(path: &Path) -> bool {
    path != Path::new("-") && has_wildcard(&path.to_string_lossy())
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

/// A name as text, of which every byte that is not UTF-8 is a character of its own that no name in UTF-8 has.
fn text_of(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|&byte| char::from_u32(0x10_ff00 + u32::from(byte))));
    }
    text
}

/// Whether a name is left out unless a pattern begins so.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

struct Walk<'a> {
    backend: &'a Arc<dyn Backend>,
    files: Files,
    /// The folder that is being read and those that it lies in, with their identities.
    folders: Vec<(PathBuf, (u64, u64))>,
    /// There are images that match a pattern.
    has_images: bool,
}

impl Walk<'_> {
    fn names(&self, folder: &Path) -> Result<Vec<OsString>> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let names = self.backend.list(Location::at(here));
        names.map_err(|error| Error::file(here, "list", error))
    }

    fn folder(&mut self, folder: &Path) -> Result<()> {
        self.enter(folder, true)?;
        for name in self.names(folder)? {
            let path = folder.join(&name);
            match is_hidden(&name.to_string_lossy()) {
                true => self.files.leave_out(path, true),
                false => self.take_data(path)?,
            }
        }
        self.folders.pop();
        Ok(())
    }

    /// Notes that a folder is read until it is taken from the list. Where all folders below it are read it is refused
    /// if it lies in itself, through a link.
    fn enter(&mut self, folder: &Path, with_all_below: bool) -> Result<()> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let identity = self.backend.look(What::Named(here)).map(|found| found.identity);
        let identity = identity.map_err(|error| Error::file(here, "open", error))?;
        let outer = self.folders.iter().find(|(_, own)| *own == identity);
        if let Some((outer, _)) = outer.filter(|_| with_all_below) {
            let found = format!("a symbolic link that leads back to {}", outer.display());
            return Err(Error::input(folder, None, "folders without a loop", found)
                .advise("remove the link, or name the files or the folders that are to be read"));
        }
        if self.folders.len() >= MOST_DEPTH {
            let (expected, found) = (format!("folders at most {MOST_DEPTH} deep"), "a folder below these");
            return Err(Error::input(folder, None, expected, found).advise("name the inner folders"));
        }
        self.folders.push((here.to_owned(), identity));
        Ok(())
    }

    fn take(&mut self, path: PathBuf) -> Result<()> {
        let file = self.backend.look(What::Named(&path));
        match file.map_err(|error| Error::file(&path, "open", error))?.kind {
            FileKind::Directory if is_image(self.backend, &path) => {
                Err(Error::input(&path, None, "a file or a folder", "an Outcore image").advise(
                    "name images one by one, or by a pattern such as 'FOLDER/*.oc', beside the folder or in its place",
                ))
            }
            FileKind::Directory => self.folder(&path),
            _ if self.files.paths.len() > MOST_FILES => {
                let found = format!("{} files so far", self.files.paths.len());
                Err(Error::input(&path, None, format!("at most {MOST_FILES} files"), found))
            }
            FileKind::Other => {
                let expected = "plain files in a folder";
                Err(Error::input(&path, None, expected, "a pipe, a device or a socket")
                    .advise("give it by its own path"))
            }
            _ => {
                self.files.paths.push(path);
                Ok(())
            }
        }
    }

    /// Takes what a pattern names: an image, a file, or a folder.
    fn take_matching(&mut self, path: PathBuf) -> Result<()> {
        if !is_image(self.backend, &path) {
            return self.take(path);
        }
        self.has_images = true;
        self.files.paths.push(path);
        Ok(())
    }

    /// Whether a file holds no data by its name, and so was left out.
    fn is_left_out(&mut self, path: &Path) -> bool {
        let is_other = path.file_name().is_some_and(|name| holds_no_data(&name.to_string_lossy()));
        let is_file = || self.backend.named(path).is_some_and(|named| named.kind == FileKind::File);
        let is_left_out = is_other && is_file();
        if is_left_out {
            self.files.leave_out(path.to_owned(), false);
        }
        is_left_out
    }

    /// Takes a file, unless it holds no data by its name.
    fn take_data(&mut self, path: PathBuf) -> Result<()> {
        if self.is_left_out(&path) { Ok(()) } else { self.take(path) }
    }

    fn pattern(&mut self, pattern: &Path) -> Result<()> {
        let parts: Vec<Component<'_>> = pattern.components().collect();
        self.matching(PathBuf::new(), &parts)
    }

    /// Adds the files in a folder that match the remaining parts of a pattern.
    fn matching(&mut self, folder: PathBuf, parts: &[Component<'_>]) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else { return self.take_matching(folder) };
        let name = text_of(part.as_os_str());
        if !has_wildcard(&name) {
            let path = folder.join(part);
            let is_there = rest.iter().any(|part| has_wildcard(&part.as_os_str().to_string_lossy()))
                || self.backend.named(&path).is_some();
            return if is_there { self.matching(path, rest) } else { Ok(()) };
        }
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        if self.backend.named(here).map(|named| named.kind) != Some(FileKind::Directory) {
            return Ok(());
        }
        let wanted = Pattern::new(&name).map_err(|error| {
            Error::Usage(format!(
                "{}: expected the name of a file or a pattern, found a pattern with an error: {error}",
                part.as_os_str().display()
            ))
        })?;
        if name == "**" {
            self.matching(folder.clone(), rest)?;
        }
        self.enter(&folder, name == "**")?;
        for entry in self.names(&folder)? {
            self.matching_entry((folder.join(&entry), &text_of(&entry)), (&name, &wanted), parts)?;
        }
        self.folders.pop();
        Ok(())
    }

    /// Takes an entry of a folder, by its path and name, that matches the first of the parts of a pattern.
    fn matching_entry(
        &mut self,
        (path, entry): (PathBuf, &str),
        (name, wanted): (&str, &Pattern),
        parts: &[Component<'_>],
    ) -> Result<()> {
        let rest = &parts[1..];
        if !(name == "**" || wanted.matches(entry)) {
            return Ok(());
        }
        if is_hidden(entry) && !is_hidden(name) {
            if rest.is_empty() {
                self.files.leave_out(path, true);
            }
            return Ok(());
        }
        if name == "**" {
            let is_folder = self.backend.named(&path).is_some_and(|named| named.kind == FileKind::Directory);
            return match is_folder && !is_image(self.backend, &path) {
                true => self.matching(path, parts),
                false if rest.is_empty() => self.take_data(path),
                false => Ok(()),
            };
        }
        if rest.is_empty() && !holds_no_data(name) && self.is_left_out(&path) {
            return Ok(());
        }
        self.matching(path, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::backend::Posix;

    fn expanded(folder: &Path, pattern: &str) -> std::result::Result<Vec<String>, String> {
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let files = expand(&backend, &[folder.join(pattern)], false).map_err(|error| error.to_string())?;
        let inside = |file: PathBuf| file.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        Ok(files.paths.into_iter().map(inside).collect())
    }

    #[test]
    fn files_that_hold_no_data_are_left_out_and_none_is_read_twice() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let others = [
            "#a.csv#",
            "README",
            "SHA256SUMS",
            "a.csv._COPYING_",
            "a.csv.bak.gz",
            "a.csv.done",
            "a.csv.md5",
            "a.csv~",
            "b.csv.bak",
            "b.csv.part",
            "md5sums.txt",
            "notes.md",
            "readme.txt",
            "~$a.csv",
        ];
        let hidden = [".DS_Store", "._a.csv", "_SUCCESS", "_temporary"];
        std::fs::create_dir(folder.join("_temporary")).unwrap();
        let files = ["a.csv", "b.csv", "license_plates.csv", "sums.csv", "#"];
        for file in others.into_iter().chain(files).chain(hidden).filter(|name| *name != "_temporary") {
            std::fs::write(folder.join(file), "1,2\n").unwrap();
        }
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let all_with = |paths: &[&str], may_repeat| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| folder.join(path)).collect();
            expand(&backend, &paths, may_repeat).map_err(|error| error.to_string())
        };
        let all = |paths: &[&str]| all_with(paths, false);
        let found = all(&[""]).unwrap();
        let in_folder = |names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        assert_eq!(found.paths, in_folder(&["#", "a.csv", "b.csv", "license_plates.csv", "sums.csv"]));
        assert_eq!((found.left_out, found.hidden), (in_folder(&others), in_folder(&hidden)));
        assert_eq!(all(&["a*"]).unwrap().paths, [folder.join("a.csv")]);
        // A file that is named is read.
        assert_eq!(all(&["*.md5"]).unwrap().paths, [folder.join("a.csv.md5")]);
        assert_eq!(all(&["a.csv~"]).unwrap(), Files { paths: in_folder(&["a.csv~"]), ..Files::default() });
        std::os::unix::fs::symlink(folder.join("a.csv"), folder.join("latest.csv")).unwrap();
        for twice in
            [&["a.csv", "a.csv"][..], &["a.csv", "./a.csv"], &["*.csv"], &["", "b.csv"], &["a.csv", "latest.csv"]]
        {
            let error = all(twice).unwrap_err();
            assert!(error.contains("every file once") && error.contains("the same file"), "{error}");
            assert!(all_with(twice, true).unwrap().paths.len() > 1);
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
        // A pattern names images, too.
        assert_eq!(expanded(folder, "*.oc").unwrap(), ["x.oc"]);
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let images =
            |pattern: &str| images_of_pattern(&backend, &folder.join(pattern)).unwrap().map(|files| files.paths);
        assert_eq!(images("x.*"), Some(vec![folder.join("x.oc")]));
        assert_eq!((images("*.csv"), images("x.oc")), (None, None));
        std::fs::remove_dir_all(folder.join("x.oc")).unwrap();
        let deep: PathBuf = ["d"; 70].iter().collect();
        std::fs::create_dir_all(folder.join("empty").join(&deep)).unwrap();
        assert!(expanded(folder, "empty").unwrap_err().contains("64 deep"));
        std::fs::remove_dir_all(folder.join("empty")).unwrap();
        // A link to a folder is followed, but not in circles.
        std::os::unix::fs::symlink("y=1", folder.join("z")).unwrap();
        assert_eq!(expanded(folder, "z").unwrap(), ["z/p.csv"]);
        std::os::unix::fs::symlink(folder, folder.join("y=1/loop")).unwrap();
        for pattern in ["", "**", "y=*"] {
            let error = expanded(folder, pattern).unwrap_err();
            assert!(error.contains("loop: expected folders without a loop, found a symbolic link"), "{error}");
        }
        let twice = expanded(folder, "y=*/../*.csv").unwrap_err();
        assert!(twice.contains("every file once"), "{twice}");
    }

    #[test]
    fn names_that_are_not_utf_8_match_patterns() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<PathBuf> =
            [&b"d\xe9.csv"[..], b"d\xff.csv"].map(|name| folder.path().join(OsStr::from_bytes(name))).to_vec();
        names.iter().for_each(|name| std::fs::write(name, "1,2\n").unwrap());
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        for (pattern, expected) in [(&b"d*.csv"[..], &names[..]), (b"d?.csv", &names), (b"*\xe9.csv", &names[..1])] {
            let pattern = folder.path().join(OsStr::from_bytes(pattern));
            assert_eq!(expand(&backend, &[pattern], false).unwrap().paths, expected);
        }
    }
}
