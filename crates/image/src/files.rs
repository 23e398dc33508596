//! The open files of an image.
//!
//! **Invariant:** all files of an image are opened together, from one directory that is opened once, and stay open. A
//! reader therefore has one consistent image, even if the path changes meanwhile. Links are not followed, and only
//! plain files of the expected size are read.

use crate::{Error, Result};
use outcore_format::{
    Claim, DENSE_FORMAT_NAME, DenseManifest, FORMAT_NAME, FORMAT_VERSION, ImageFile, Index, MAX_ATTRIBUTES,
    MAX_VALUE_COLUMNS, Manifest, PAGE_BYTES,
};
use outcore_io::backend::{FileKind, Location, What};
use outcore_io::{Backend, DataFile, Directory, Runtime, differing_texts};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The manifest's name within an image.
pub const MANIFEST: &str = "manifest.json";

/// An image's files, open. A clone has the same files.
#[derive(Clone)]
pub struct ImageFiles {
    directory: Arc<Directory>,
    manifest: Manifest,
    manifest_file: Arc<DataFile>,
    pages: Vec<(ImageFile, Arc<DataFile>)>,
    indexes: Vec<(ImageFile, Arc<DataFile>)>,
}

impl ImageFiles {
    /// Opens the image that has a path now, or the one that has replaced it meanwhile.
    ///
    /// # Errors
    /// A path that is no image, a damaged manifest, files that are missing, of the wrong size or no plain files.
    pub fn open(runtime: &Runtime, path: &Path) -> Result<Self> {
        open_current(runtime, path, &GRAPH, Self::open_in)
    }

    fn open_in(directory: &Arc<Directory>) -> Result<Self> {
        let (manifest_file, manifest) = open_manifest(directory, &GRAPH)?;
        let (mut pages, mut indexes) = (Vec::new(), Vec::new());
        for (file, len_pages) in manifest.files() {
            if let Some(name) = file.name() {
                pages.push((file, Arc::new(open_pages(directory, &name, len_pages)?)));
            }
            if let Some(name) = file.index_name() {
                indexes.push((file, Arc::new(named_file(directory, &name)?)));
            }
        }
        let (directory, manifest_file) = (Arc::clone(directory), Arc::new(manifest_file));
        Ok(ImageFiles { directory, manifest, manifest_file, pages, indexes })
    }

    /// Chooses the column of values that is used as the weights of edges.
    ///
    /// # Errors
    /// A column that is not there, or that algorithms cannot use.
    pub fn weigh_by(&mut self, column: Option<usize>) -> Result<()> {
        if let Some(column) = column {
            let of_attribute = self.manifest.attributes.iter().any(|own| own.counts && own.column == column);
            if !of_attribute && (column > 0 || self.manifest.own_weights().is_none()) {
                let found = format!("column {column} of {}", self.manifest.values.len());
                return Err(Error::Usage(format!(
                    "expected a column of numbers for all edges as weights, found {found}"
                )));
            }
        }
        self.manifest.weighed_by = column;
        Ok(())
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest as bytes of its file.
    pub fn manifest_bytes(&self) -> Result<Vec<u8>> {
        self.manifest_file.read_whole()
    }

    /// All files with their names in the directory; the manifest comes last.
    pub(crate) fn all(&self) -> impl Iterator<Item = (String, &DataFile)> {
        let pages = self.pages.iter().map(|(file, own)| (file.name(), own));
        let indexes = self.indexes.iter().map(|(file, own)| (file.index_name(), own));
        let manifest = [(Some(MANIFEST.to_owned()), &self.manifest_file)];
        pages.chain(indexes).chain(manifest).filter_map(|(name, own)| Some((name?, &**own)))
    }

    /// One of all files, opened once more: readers' own may ask for whole pages.
    ///
    /// # Errors
    /// Another file has the name now, or none.
    pub(crate) fn again(&self, name: &str, own: &DataFile) -> Result<DataFile> {
        match self.directory.file(name) {
            Ok(file) if file.identity()? == own.identity()? => Ok(file),
            Err(error) if io_kind(&error) != Some(ErrorKind::NotFound) => Err(error),
            _ => Err(self.changed()),
        }
    }

    /// The refusal of an image that was changed.
    pub(crate) fn changed(&self) -> Error {
        no_image(self.directory.path(), "one that was changed since it was opened".into(), "open it again".into())
    }

    /// A file of an image that exists in the directory although the manifest names none of its kind.
    pub fn unnamed(&self) -> Option<PathBuf> {
        let named = self.manifest.files();
        // Columns are numbered without gap, so the next one is the first that is not named.
        let values = (self.manifest.values.len() + 1).min(MAX_VALUE_COLUMNS);
        let vertex_values = (self.manifest.vertex_values.len() + 1).min(MAX_VALUE_COLUMNS);
        let attributes = self.manifest.attributes.len().max(self.manifest.vertex_attributes.len());
        let missing = ImageFile::all(values)
            .chain([ImageFile::DENSE])
            .chain(ImageFile::all_of_attributes(vertex_values, (attributes + 1).min(MAX_ATTRIBUTES)))
            .filter(|file| !named.iter().any(|(there, _)| there == file));
        let mut names = missing.flat_map(|file| [file.name(), file.index_name()]).flatten();
        let lies_there = |name: &String| match self.directory.file(name) {
            Err(error) => io_kind(&error) != Some(ErrorKind::NotFound),
            Ok(_) => true,
        };
        names.find(lies_there).map(|name| self.directory.path().join(name))
    }

    /// A number that differs for any other image, and for this one after a change of its manifest or pages.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn identity(&self) -> Result<u64> {
        identity(self.manifest.image_id, &self.manifest_file, self.pages.iter().map(|(_, file)| &**file))
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
        self.indexes.iter().find(|(name, _)| *name == file).map(|(_, index)| &**index)
    }

    /// The size of a file's index, in bytes.
    pub fn index_bytes(&self, file: ImageFile) -> u64 {
        self.index(file).map_or(0, DataFile::len_bytes)
    }

    /// Memory that reading and decoding the index of a file of `pages` pages takes. An index that is too large is
    /// refused without being read.
    pub fn index_reading_bytes(&self, file: ImageFile, pages: u64) -> u64 {
        let file_bytes = self.index_bytes(file).min(most_index_bytes(pages)).min(u64::MAX / 4);
        2 * file_bytes + Index::most_samples_bytes(pages)
    }

    /// The path of a file's index.
    pub fn index_path(&self, file: ImageFile) -> PathBuf {
        self.index(file).map_or_else(PathBuf::new, |index| index.path().to_owned())
    }

    /// Reads the index of a file of `pages` pages.
    ///
    /// # Errors
    /// An index that cannot be read, is damaged or too large, or is that of another number of pages.
    pub fn read_index(&self, file: ImageFile, pages: u64) -> Result<Index> {
        let path = self.index_path(file);
        let damaged = |expected: String, found: String| Error::damaged(&path, 0, expected, found);
        let Some(data) = self.index(file) else {
            return Err(damaged("an index".into(), "none in the manifest".into()));
        };
        // A larger one is damaged: do not read it into memory.
        let most = most_index_bytes(pages);
        if data.len_bytes() > most {
            return Err(damaged(format!("an index of at most {most} bytes"), format!("{} bytes", data.len_bytes())));
        }
        let origin = file.origin(self.manifest.image_id);
        let bytes = data.read_whole()?;
        let index = Index::from_bytes(&origin, &bytes).map_err(|error| corrupt(&path, 0, error))?;
        if index.len() != pages {
            return Err(damaged(format!("an index of {pages} pages"), index.len().to_string()));
        }
        Ok(index)
    }
}

/// An index has at most some 130 bits per page.
fn most_index_bytes(pages: u64) -> u64 {
    pages.saturating_mul(17).saturating_add(64)
}

/// The files of an image of an array, open.
pub(crate) struct DenseFiles {
    pub manifest: DenseManifest,
    pub pages: Arc<DataFile>,
    /// A number that differs for any other image, and for this one after a change of its manifest or pages.
    pub identity: u64,
    /// The size of all files, in bytes.
    pub bytes: u64,
}

impl DenseFiles {
    /// Opens the image that has a path now, or the one that has replaced it meanwhile.
    ///
    /// # Errors
    /// As for [`ImageFiles::open`].
    pub fn open(runtime: &Runtime, path: &Path) -> Result<Self> {
        open_current(runtime, path, &ARRAY, |directory| {
            let (manifest_file, manifest) = open_manifest(directory, &ARRAY)?;
            let name = ImageFile::DENSE.name().unwrap_or_default();
            let pages = Arc::new(open_pages(directory, &name, manifest.shape().pages())?);
            let identity = identity(manifest.image_id, &manifest_file, [&*pages])?;
            let bytes = manifest_file.len_bytes() + pages.len_bytes();
            Ok(DenseFiles { manifest, pages, identity, bytes })
        })
    }
}

/// A number that differs for any other image, and for this one after a change of its manifest or pages.
fn identity<'a>(image_id: u64, manifest: &DataFile, pages: impl IntoIterator<Item = &'a DataFile>) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    image_id.hash(&mut hasher);
    manifest.identity()?.hash(&mut hasher);
    for file in pages {
        file.identity()?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// A kind of manifest.
pub(crate) struct ManifestKind<M> {
    /// Advice on making an image of that kind, for a user who named a path without one.
    advice: fn(&str) -> String,
    /// Advice on making an image of that kind, for a user who named a file.
    advice_for_file: fn(&str) -> String,
    /// Advice on a manifest of another version, or of another kind, if it is one.
    other_version: fn(&[u8]) -> Option<String>,
    from_bytes: fn(&[u8]) -> outcore_format::Result<M>,
}

const GRAPH: ManifestKind<Manifest> = ManifestKind {
    advice: |place| format!("make one with `outcore import INPUT {place}`"),
    advice_for_file: |file| match is_npy(file) {
        true => {
            "a .npy file is a dense array: write a graph or a sparse matrix as a list of edges or as Matrix Market \
                 (.mtx), and import that"
                .into()
        }
        false => format!("import it with `outcore import {file} NAME.oc`"),
    },
    other_version: Manifest::other_version,
    from_bytes: Manifest::from_bytes,
};
const ARRAY: ManifestKind<DenseManifest> = ManifestKind {
    advice: |_| "save an array there first, or name another place".into(),
    advice_for_file: |_| "import it as an array".into(),
    other_version: DenseManifest::other_version,
    from_bytes: DenseManifest::from_bytes,
};
const ANY: ManifestKind<AnyManifest> = ManifestKind {
    advice: GRAPH.advice,
    advice_for_file: |file| match is_npy(file) {
        true => (ARRAY.advice_for_file)(file),
        false => (GRAPH.advice_for_file)(file),
    },
    other_version: |bytes| match DenseManifest::is_array(bytes) {
        true => DenseManifest::other_version(bytes),
        false => Manifest::other_version(bytes),
    },
    from_bytes: |bytes| match DenseManifest::is_array(bytes) {
        true => DenseManifest::from_bytes(bytes).map(AnyManifest::Array),
        false => Manifest::from_bytes(bytes).map(|manifest| AnyManifest::Graph(Box::new(manifest))),
    },
};

fn is_npy(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| ending == "npy")
}

/// The manifest of an image of any kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyManifest {
    /// A graph.
    Graph(Box<Manifest>),
    /// A dense array.
    Array(DenseManifest),
}

/// Reads a graph's manifest.
///
/// # Errors
/// A path that is no image, or that of an array, or a damaged manifest.
pub fn read_manifest(backend: &Arc<dyn Backend>, image: &Path) -> Result<Manifest> {
    read_manifest_of(backend, image, &GRAPH)
}

/// Reads the manifest of a graph or of an array.
///
/// # Errors
/// A path that is no image, or a damaged manifest.
pub fn read_any_manifest(backend: &Arc<dyn Backend>, image: &Path) -> Result<AnyManifest> {
    read_manifest_of(backend, image, &ANY)
}

fn read_manifest_of<M>(backend: &Arc<dyn Backend>, image: &Path, kind: &ManifestKind<M>) -> Result<M> {
    Ok(open_manifest(&open_directory(backend, image, kind)?, kind)?.1)
}

/// The folders within the directory of a graph's image.
pub const GRAPH_FOLDERS: [&str; 3] = ["columns", "edges", "vertices"];

/// Whether a path is that of an image, also of a damaged one: not where another program's `manifest.json` lies beside
/// no pages.
pub fn is_image(backend: &Arc<dyn Backend>, path: &Path) -> bool {
    let is_another = || {
        let directory = Directory::open(backend, path)?;
        let manifest = manifest_of_occupant(&directory.file(MANIFEST)?)?;
        Ok::<_, Error>(is_of_others(&directory, &manifest))
    };
    backend.named(&path.join(MANIFEST)).is_some() && !is_another().unwrap_or(false)
}

/// Whether a manifest is that of another program, beside no pages. One of ours that is damaged still claims a format or
/// its version.
fn is_of_others(directory: &Directory, manifest: &[u8]) -> bool {
    let is_other = |claim: Claim| !claim.format.starts_with("outcore ") && claim.version.is_none();
    Claim::read(manifest).is_some_and(is_other) && !has_pages(directory)
}

/// The bytes of what has the name of a manifest; none if it is too large to be one.
fn manifest_of_occupant(file: &DataFile) -> Result<Vec<u8>> {
    if file.len_bytes() <= MAX_MANIFEST_BYTES { file.read_whole() } else { Ok(Vec::new()) }
}

/// Something that has the path of a new image.
pub(crate) enum Occupant {
    /// An image, of this version or an older one, perhaps with a damaged manifest; and the first entry, by name, of its
    /// directory that is no file of an image of its kind.
    Image(Option<PathBuf>),
    /// The description, as half a sentence, of an image that a newer program may be using.
    Unknown(String),
    /// Anything else.
    Other,
}

/// Tells what has a path. An image is known by its manifest, or where that is illegible by the names of its files and
/// their first pages.
///
/// # Errors
/// A directory or a manifest that cannot be read.
pub(crate) fn occupant(backend: &Arc<dyn Backend>, path: &Path) -> Result<Occupant> {
    let directory = match Directory::open(backend, path) {
        Err(error) if io_kind(&error) == Some(ErrorKind::NotADirectory) => return Ok(Occupant::Other),
        directory => directory?,
    };
    let manifest = match directory.file(MANIFEST) {
        Err(error) if io_kind(&error) == Some(ErrorKind::NotFound) => return Ok(Occupant::Other),
        manifest => manifest?,
    };
    match Claim::read(&manifest_of_occupant(&manifest)?) {
        Some(claim) if claim.is_known() => Ok(Occupant::Image(foreign_entry(&directory, &claim.format)?)),
        Some(Claim { format, version }) if format.starts_with("outcore ") => {
            let version = version.map_or(String::new(), |version| format!(" of version {version}"));
            Ok(Occupant::Unknown(format!(
                "expected an image of at most version {FORMAT_VERSION} to replace, found an `{format}`{version}, which \
                 a newer Outcore made: it may be in use, or have parts in other places"
            )))
        }
        Some(_) => Ok(Occupant::Other),
        None => match foreign_entry(&directory, "")? {
            None if has_pages(&directory) => Ok(Occupant::Image(None)),
            _ => Ok(Occupant::Other),
        },
    }
}

/// Whether some file of a directory begins with a page of the kind that a file of an image with that name has.
fn has_pages(directory: &Directory) -> bool {
    files_of("").any(|image_file| {
        let Some(file) = image_file.name().and_then(|name| directory.file(&name).ok()) else { return false };
        let mut page = [0; PAGE_BYTES];
        file.len_bytes() % PAGE_BYTES as u64 == 0
            && file.read_at(&mut page, 0).is_ok()
            && image_file.origin(0).trust(&page).is_ok()
    })
}

/// The files that an image of a format may have; of any format if it is empty.
fn files_of(format: &str) -> impl Iterator<Item = ImageFile> {
    let (graph, array) = (format != DENSE_FORMAT_NAME, format != FORMAT_NAME);
    let attributes = ImageFile::all_of_attributes(MAX_VALUE_COLUMNS, MAX_ATTRIBUTES);
    let of_graph = ImageFile::all(MAX_VALUE_COLUMNS).chain(attributes).filter(move |_| graph);
    of_graph.chain(array.then_some(ImageFile::DENSE))
}

/// The first entry, by name, of an image's directory that is not a file of an image of its format.
fn foreign_entry(directory: &Directory, format: &str) -> Result<Option<PathBuf>> {
    let folders: &[&str] = if format == DENSE_FORMAT_NAME { &[] } else { &GRAPH_FOLDERS };
    let files: Vec<String> = files_of(format).flat_map(|file| [file.name(), file.index_name()]).flatten().collect();
    let (mut foreign, backend) = (Vec::new(), directory.backend());
    let kind =
        |name: &Path| backend.look(What::Itself(Location::within(directory, name))).ok().map(|status| status.kind);
    for folder in folders.iter().chain(&[""]) {
        if kind(Path::new(folder)) != Some(FileKind::Directory) {
            continue;
        }
        for name in directory.names(folder)? {
            let name = Path::new(folder).join(name);
            let is_own = match kind(&name) == Some(FileKind::Directory) {
                true => folders.iter().any(|folder| name == Path::new(folder)),
                false => name == Path::new(MANIFEST) || files.iter().any(|file| name == Path::new(file)),
            };
            foreign.extend((!is_own).then(|| directory.path().join(name)));
        }
    }
    foreign.sort();
    Ok(foreign.into_iter().next())
}

/// Opens the image that has a path now, or the one that has replaced it meanwhile: `open` opens its files in the
/// directory.
fn open_current<M, T>(
    runtime: &Runtime,
    path: &Path,
    kind: &ManifestKind<M>,
    open: impl Fn(&Arc<Directory>) -> Result<T>,
) -> Result<T> {
    loop {
        runtime.cancel().check()?;
        let directory = Arc::new(open_directory(runtime.backend(), path, kind)?);
        match open(&directory) {
            // The files of an image that has been replaced are removed: start again with the one that has the path.
            Err(_) if !directory.is_current() => {}
            other => return other,
        }
    }
}

fn open_directory<M>(backend: &Arc<dyn Backend>, image: &Path, kind: &ManifestKind<M>) -> Result<Directory> {
    let path = image.display().to_string();
    Directory::open(backend, image).map_err(|error| match io_kind(&error) {
        Some(ErrorKind::NotFound) => no_image(image, "there is no such directory".into(), (kind.advice)(&path)),
        Some(ErrorKind::NotADirectory) => no_image(image, "it is a file".into(), (kind.advice_for_file)(&path)),
        _ => error,
    })
}

fn no_image(path: &Path, found: String, advice: String) -> Error {
    Error::NoImage { path: path.to_owned(), found, advice }
}

fn open_manifest<M>(directory: &Directory, kind: &ManifestKind<M>) -> Result<(DataFile, M)> {
    let path = directory.path();
    let file = directory.file(MANIFEST).map_err(|error| match io_kind(&error) {
        Some(ErrorKind::NotFound) => {
            no_image(path, format!("it has no {MANIFEST}"), (kind.advice)(&path.display().to_string()))
        }
        _ => error,
    })?;
    if file.len_bytes() > MAX_MANIFEST_BYTES {
        let [most, found] = differing_texts(MAX_MANIFEST_BYTES, file.len_bytes());
        return Err(Error::damaged(file.path(), 0, format!("a manifest of at most {most}"), found));
    }
    let bytes = file.read_whole()?;
    if let Some(advice) = (kind.other_version)(&bytes) {
        return Err(Error::Unsuitable(format!("{}: {advice}", file.path().display())));
    }
    let manifest = (kind.from_bytes)(&bytes).map_err(|error| match is_of_others(directory, &bytes) {
        true => {
            let found = format!("its {MANIFEST} is that of another program");
            no_image(path, found, (kind.advice)(&path.display().to_string()))
        }
        false => corrupt(file.path(), 0, error),
    })?;
    Ok((file, manifest))
}

/// Bad bytes in a file of an image; the offset in `error` counts from `base_bytes` of the file.
pub fn corrupt(path: impl AsRef<Path>, base_bytes: u64, error: outcore_format::Error) -> Error {
    Error::damaged(path, base_bytes + error.offset_bytes, error.expected, error.found)
}

fn io_kind(error: &Error) -> Option<ErrorKind> {
    match error {
        Error::File { source, .. } => Some(source.kind()),
        _ => None,
    }
}

/// A file that the manifest names: without it the image is damaged.
fn named_file(directory: &Directory, name: &str) -> Result<DataFile> {
    directory.file(name).map_err(|error| match io_kind(&error) {
        Some(ErrorKind::NotFound) => {
            Error::damaged(directory.path().join(name), 0, "a file, which the manifest names", "no such file")
        }
        _ => error,
    })
}

fn open_pages(directory: &Directory, name: &str, pages: u64) -> Result<DataFile> {
    let data = named_file(directory, name)?;
    if pages.checked_mul(PAGE_BYTES as u64) != Some(data.len_bytes()) {
        let (expected, len) = (format!("{pages} pages of {PAGE_BYTES} bytes"), data.len_bytes());
        return Err(Error::damaged(data.path(), len, expected, format!("{len} bytes")));
    }
    Ok(data.direct())
}
