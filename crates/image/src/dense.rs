//! An open image of an array: its file of pages, and its share of the runtime's page cache.
//!
//! Each worker reads it with a [`DenseReader`](crate::DenseReader) of its own; all share the image.

use crate::Result;
use crate::files::DenseFiles;
use crate::files::corrupt;
use outcore_format::{DenseManifest, DensePlace, DenseShape, ImageFile, PAGE_BYTES, PageBytes, dense};
use outcore_io::{CacheShare, DataFile, PageCache, PageKey, Runtime};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An image of an array, opened.
pub struct DenseImage {
    runtime: Runtime,
    path: PathBuf,
    files: DenseFiles,
    shape: DenseShape,
    /// The image's share in the page cache of the runtime.
    cache: CacheShare,
}

impl std::fmt::Debug for DenseImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DenseImage").field("path", &self.path).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Drop for DenseImage {
    fn drop(&mut self) {
        if self.check_process().is_ok() {
            self.cache.clear();
        }
    }
}

impl DenseImage {
    /// Opens an image of an array. It has no cache until [`use_cache`](DenseImage::use_cache) gives it one.
    ///
    /// # Errors
    /// A path that is no image, or that of a graph; a damaged manifest, or a file of the wrong size.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Arc<Self>> {
        let path = path.as_ref();
        let files = DenseFiles::open(runtime, path)?;
        let cache = runtime.cache_share(files.identity);
        let runtime = runtime.in_name_of(&path.display().to_string());
        Ok(Arc::new(DenseImage { runtime, path: path.to_owned(), shape: files.manifest.shape(), files, cache }))
    }

    /// The manifest.
    pub fn manifest(&self) -> &DenseManifest {
        &self.files.manifest
    }

    /// The path of the image.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Memory limit, workers and back end.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Element type and size of the array.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.shape.pages()
    }

    /// The page that holds an element.
    pub fn page_of(&self, row: u64, column: u64) -> u64 {
        self.shape.page_of(row, column)
    }

    /// The size of all files of the image, in bytes.
    pub fn image_bytes(&self) -> u64 {
        self.files.bytes
    }

    /// Requests a share of the runtime's page cache, which grows as far as memory is free; the share is limited to the
    /// size of all pages. The cache keeps as many of the first pages as fit.
    ///
    /// # Errors
    /// The machine has less memory than the limit allows; another process than the one that opened the image.
    pub fn use_cache(&self, wanted_bytes: u64) -> Result<()> {
        self.check_process()?;
        // Room for all pages and some more, because the pages of several images do not fill sets evenly.
        let pages = self.pages();
        let most_bytes = pages.saturating_add(pages / 8).saturating_add(64).saturating_mul(PAGE_BYTES as u64 + 64);
        let wanted_bytes = if pages == 0 { 0 } else { wanted_bytes.min(most_bytes) };
        self.cache.fill(&self.runtime, wanted_bytes)
    }

    /// Current memory of the page cache, which shrinks when memory is needed.
    pub fn cache_bytes(&self) -> u64 {
        self.cache.cache().map_or(0, |cache| cache.memory_bytes())
    }

    /// Fails in another process than the one that opened the image: the locks, threads and rings of a fork have no
    /// owner.
    ///
    /// # Errors
    /// This process is a fork.
    pub fn check_process(&self) -> Result<()> {
        self.runtime.budget().check_process()
    }

    pub(crate) fn data_file(&self) -> &Arc<DataFile> {
        &self.files.pages
    }

    /// The page cache, if there is one, and the number of the first pages that it keeps.
    pub(crate) fn cache_part(&self) -> Option<(Arc<PageCache>, u64)> {
        self.cache.part()
    }

    /// The key of a page in the cache.
    pub(crate) fn page_key(&self, page: u64) -> PageKey {
        PageKey { image: self.cache.image(), file: 0, page }
    }

    pub(crate) fn verify(&self, place: &DensePlace, bytes: &PageBytes) -> Result<()> {
        let origin = ImageFile::DENSE.origin(self.manifest().image_id);
        let base_bytes = place.page_number * PAGE_BYTES as u64;
        let verified = dense::verify(&origin, self.shape.element, place, bytes);
        verified.map(drop).map_err(|error| corrupt(self.files.pages.path(), base_bytes, error))
    }
}
