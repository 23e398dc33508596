//! The files of an image, open.
//!
//! **Invariant:** all files of an image are opened when the image is, from one directory that is opened once, and stay
//! open. So a reader has one image, whole, whatever becomes of the path meanwhile. Nothing is followed out of the
//! directory, and only plain files of the expected size are read.

use crate::error::{Error, Result};
use outcore_format::{ImageFile, Index, MAX_VALUE_COLUMNS, Manifest, PAGE_BYTES};
use outcore_io::backend::{FileKind, Location, Posix, What};
use outcore_io::{Backend, DataFile, Directory, Runtime, bytes_text};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A manifest larger than this is none.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The manifest's name within an image.
pub const MANIFEST: &str = "manifest.json";

/// An image's files, open.
pub struct ImageFiles {
    directory: Arc<Directory>,
    manifest: Manifest,
    manifest_file: DataFile,
    pages: Vec<(ImageFile, Arc<DataFile>)>,
    indexes: Vec<(ImageFile, DataFile)>,
}

impl ImageFiles {
    /// Opens the image that has a path now, or the one that has replaced it meanwhile.
    ///
    /// # Errors
    /// A path that is no image, a damaged manifest, files that are missing, of the wrong size or no plain files.
    pub fn open(runtime: &Runtime, path: &Path) -> Result<Self> {
        loop {
            runtime.cancel().check()?;
            let directory = Arc::new(open_directory(runtime.backend(), path)?);
            match Self::open_in(&directory) {
                // The files of an image that has been replaced are removed: start again with the one that has the path.
                Err(_) if !directory.is_current() => {}
                other => return other,
            }
        }
    }

    fn open_in(directory: &Arc<Directory>) -> Result<Self> {
        let (manifest_file, manifest) = open_manifest(directory)?;
        let (mut pages, mut indexes) = (Vec::new(), Vec::new());
        for (file, len_pages) in manifest.files() {
            if let Some(name) = file.name() {
                pages.push((file, Arc::new(open_pages(directory, &name, len_pages)?)));
            }
            if let Some(name) = file.index_name() {
                indexes.push((file, directory.file(&name)?));
            }
        }
        Ok(ImageFiles { directory: Arc::clone(directory), manifest, manifest_file, pages, indexes })
    }

    /// What the image is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest as it lies on the disk.
    pub fn manifest_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.manifest_file.read_whole()?)
    }

    /// A file of an image that lies in the directory although the manifest names none of its kind.
    pub fn unnamed(&self) -> Option<PathBuf> {
        let named = self.manifest.files();
        // Columns have numbers without gap, so the next one is the first that would not be named.
        let missing = ImageFile::all((self.manifest.values.len() + 1).min(MAX_VALUE_COLUMNS))
            .filter(|file| !named.iter().any(|(there, _)| there == file));
        let mut names = missing.flat_map(|file| [file.name(), file.index_name()]).flatten();
        let lies_there = |name: &String| match self.directory.file(name) {
            Err(error) => io_kind(&error) != Some(ErrorKind::NotFound),
            Ok(_) => true,
        };
        names.find(lies_there).map(|name| self.directory.path().join(name))
    }

    /// A number that tells the image apart from any other, and from itself when a file of it has changed.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn identity(&self) -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        self.manifest.image_id.hash(&mut hasher);
        self.manifest_file.identity()?.hash(&mut hasher);
        for (_, file) in &self.pages {
            file.identity()?.hash(&mut hasher);
        }
        Ok(hasher.finish())
    }

    /// The files of pages.
    pub fn pages(&self) -> &[(ImageFile, Arc<DataFile>)] {
        &self.pages
    }

    /// The size of all files, in bytes.
    pub fn bytes(&self) -> u64 {
        let pages = self.pages.iter().map(|(_, file)| file.len_bytes());
        let indexes = self.indexes.iter().map(|(_, file)| file.len_bytes());
        pages.chain(indexes).chain([self.manifest_file.len_bytes()]).sum()
    }

    /// The index of a file, not read yet.
    fn index(&self, file: ImageFile) -> Option<&DataFile> {
        self.indexes.iter().find(|(name, _)| *name == file).map(|(_, index)| index)
    }

    /// The size of a file's index, in bytes.
    pub fn index_bytes(&self, file: ImageFile) -> u64 {
        self.index(file).map_or(0, DataFile::len_bytes)
    }

    /// The memory that reading and decoding the index of a file of `pages` pages takes. One that is too large is
    /// refused and not read.
    pub fn index_reading_bytes(&self, file: ImageFile, pages: u64) -> u64 {
        2 * self.index_bytes(file).min(most_index_bytes(pages)).min(u64::MAX / 4)
    }

    /// Where the index of a file lies.
    pub fn index_path(&self, file: ImageFile) -> PathBuf {
        self.index(file).map_or_else(PathBuf::new, |index| index.path().to_owned())
    }

    /// Reads the index of a file of `pages` pages.
    ///
    /// # Errors
    /// An index that cannot be read, is damaged or too large, or is that of another number of pages.
    pub fn read_index(&self, file: ImageFile, pages: u64) -> Result<Index> {
        let path = self.index_path(file);
        let corrupt =
            |expected: String, found: String| Error::Corrupt { path: path.clone(), offset_bytes: 0, expected, found };
        let Some(data) = self.index(file) else {
            return Err(corrupt("an index".into(), "none in the manifest".into()));
        };
        // A larger one is damaged: do not read it into memory.
        let most = most_index_bytes(pages);
        if data.len_bytes() > most {
            return Err(corrupt(format!("an index of at most {most} bytes"), format!("{} bytes", data.len_bytes())));
        }
        let origin = file.origin(self.manifest.image_id);
        let bytes = data.read_whole()?;
        let index = Index::from_bytes(&origin, &bytes).map_err(|error| Error::corrupt(&path, 0, error))?;
        if index.len() != pages {
            return Err(corrupt(format!("an index of {pages} pages"), index.len().to_string()));
        }
        Ok(index)
    }
}

/// An index has at most some 130 bits per page.
fn most_index_bytes(pages: u64) -> u64 {
    pages.saturating_mul(17).saturating_add(64)
}

/// Reads an image's manifest.
///
/// # Errors
/// A path that is no image, or a damaged manifest.
pub fn read_manifest(image: &Path) -> Result<Manifest> {
    let system: Arc<dyn Backend> = Arc::new(Posix);
    Ok(open_manifest(&open_directory(&system, image)?)?.1)
}

/// What is in an image's directory and is no file of an image: the first by its name.
///
/// # Errors
/// A directory that cannot be read.
pub(crate) fn foreign_entry(backend: &Arc<dyn Backend>, image: &Path) -> Result<Option<PathBuf>> {
    let files: Vec<String> =
        ImageFile::all(MAX_VALUE_COLUMNS).flat_map(|file| [file.name(), file.index_name()]).flatten().collect();
    let mut foreign = Vec::new();
    let directory = Directory::open(backend, image)?;
    let kind =
        |name: &Path| backend.look(What::Itself(Location::within(&directory, name))).ok().map(|found| found.kind);
    for folder in ["", "columns", "edges"] {
        if kind(Path::new(folder)) != Some(FileKind::Directory) {
            continue;
        }
        for name in directory.names(folder)? {
            let name = Path::new(folder).join(name);
            let is_own = match kind(&name) == Some(FileKind::Directory) {
                true => name == Path::new("columns") || name == Path::new("edges"),
                false => name == Path::new(MANIFEST) || files.iter().any(|file| name == Path::new(file)),
            };
            foreign.extend((!is_own).then(|| image.join(name)));
        }
    }
    foreign.sort();
    Ok(foreign.into_iter().next())
}

fn open_directory(backend: &Arc<dyn Backend>, image: &Path) -> Result<Directory> {
    let path = image.display();
    Directory::open(backend, image).map_err(|error| match io_kind(&error) {
        Some(ErrorKind::NotFound) => Error::NoImage {
            path: image.to_owned(),
            found: "there is no such directory".into(),
            advice: format!("make one with `outcore import INPUT {path}`"),
        },
        Some(ErrorKind::NotADirectory) => Error::NoImage {
            path: image.to_owned(),
            found: "it is a file".into(),
            advice: format!("import it with `outcore import {path} NAME.oc`"),
        },
        _ => error.into(),
    })
}

fn open_manifest(directory: &Directory) -> Result<(DataFile, Manifest)> {
    let path = directory.path().display();
    let file = directory.file(MANIFEST).map_err(|error| match io_kind(&error) {
        Some(ErrorKind::NotFound) => Error::NoImage {
            path: directory.path().to_owned(),
            found: format!("it has no {MANIFEST}"),
            advice: format!("make one with `outcore import INPUT {path}`"),
        },
        _ => error.into(),
    })?;
    if file.len_bytes() > MAX_MANIFEST_BYTES {
        return Err(Error::Corrupt {
            path: file.path().to_owned(),
            offset_bytes: 0,
            expected: format!("a manifest of at most {}", bytes_text(MAX_MANIFEST_BYTES)),
            found: bytes_text(file.len_bytes()),
        });
    }
    let bytes = file.read_whole()?;
    if let Some(found) = Manifest::other_version(&bytes) {
        return Err(Error::Unsuitable(format!("{}: {found}", file.path().display())));
    }
    let manifest = Manifest::from_bytes(&bytes).map_err(|error| Error::corrupt(file.path(), 0, error))?;
    Ok((file, manifest))
}

fn io_kind(error: &outcore_io::Error) -> Option<ErrorKind> {
    match error {
        outcore_io::Error::File { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn open_pages(directory: &Directory, name: &str, pages: u64) -> Result<DataFile> {
    let data = directory.file(name)?;
    if pages.checked_mul(PAGE_BYTES as u64) != Some(data.len_bytes()) {
        return Err(Error::Corrupt {
            path: data.path().to_owned(),
            offset_bytes: data.len_bytes(),
            expected: format!("{pages} pages of {PAGE_BYTES} bytes"),
            found: format!("{} bytes", data.len_bytes()),
        });
    }
    Ok(data.direct())
}
