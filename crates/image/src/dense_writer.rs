//! Writing an image of an array, complete or absent, on all workers.
//!
//! The file of pages gets its size and its space first, so that a disk that is too small is noticed before anything is
//! computed. Each worker seals pages in blocks of its own and writes them asynchronously, at their offsets: pages of a
//! group in the order of columns are adjacent, and so are consecutive groups, so writes are large. The manifest is
//! written last, and then the directory gets its name. If the number of rows is unknown, the file grows with them.

use crate::files::{MANIFEST, MAX_MANIFEST_BYTES};
use crate::partial::require_disk;
use crate::workspace::{Places, Workspace};
use crate::writer::write_member;
use crate::{Error, Result};
use outcore_format::{
    DENSE_FORMAT_NAME, DenseManifest, DenseShape, ElementType, FORMAT_VERSION, ImageFile, Origin, PAGE_BYTES, dense,
    version_text,
};
use outcore_io::backend::{Location, Open};
use outcore_io::{DataFile, PlacedOptions, PlacedWriter, Runtime, differing_texts, random};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest block of a worker.
///
/// Measured with 2 GiB of float64 on the disk of a virtual machine with two processors, sealing and syncing included:
/// past the kernel's cache 3.2 GB/s (one worker) and 2.5 GB/s (two); in blocks of 256 KiB 2.2 and 1.5 GB/s; through the
/// kernel's cache 0.4 to 2.0 GB/s. `dd` writes 1.5 GB/s there, in blocks of 1 MiB past the cache.
const MAX_BLOCK_BYTES: u64 = 1 << 20;
/// The smallest block of a worker.
const MIN_BLOCK_BYTES: u64 = 64 << 10;
/// Blocks of a worker that may be under way while it fills another one.
const SPARE_BLOCKS: usize = 3;
/// Fraction (1/n) of the memory for the blocks of all workers.
const BLOCKS_SHARE: u64 = 8;

/// Description of an array to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseHead {
    /// The type of the elements.
    pub element: ElementType,
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: u64,
    /// 2, or 1 for a vector, which has one column.
    pub dimensions: u32,
    /// The names of the columns, if there are any.
    pub names: Option<Vec<String>>,
    /// The operation that makes the image: "import", "persist".
    pub made_by: Option<String>,
}

/// An image of an array that is being written; without a commit it vanishes on drop.
pub struct DenseWriter {
    runtime: Runtime,
    manifest: DenseManifest,
    file: Arc<DataFile>,
    block_bytes: usize,
    /// Number of pages that finished workers wrote.
    written_pages: Arc<AtomicU64>,
    /// The number of rows is known only at the end.
    is_growing: bool,
    /// Dropped last, because it removes the file.
    workspace: Workspace,
}

impl DenseWriter {
    /// Begins an image that will be named `target`; `replace` allows it to replace an existing image.
    ///
    /// # Errors
    /// An invalid array, a target that must not be replaced, a disk with too little space, or errors of the operating
    /// system.
    pub fn create(runtime: &Runtime, target: &Path, head: DenseHead, replace: bool) -> Result<Self> {
        DenseWriter::begin(runtime, target, head, replace, false)
    }

    /// [`create`](DenseWriter::create) for an array whose number of rows is known only at
    /// [`commit_rows`](DenseWriter::commit_rows); that of `head` is ignored. No space is reserved.
    ///
    /// # Errors
    /// As for [`create`](DenseWriter::create), except for the space.
    pub fn create_growing(runtime: &Runtime, target: &Path, head: DenseHead, replace: bool) -> Result<Self> {
        DenseWriter::begin(runtime, target, DenseHead { rows: 0, ..head }, replace, true)
    }

    fn begin(runtime: &Runtime, target: &Path, head: DenseHead, replace: bool, is_growing: bool) -> Result<Self> {
        let DenseHead { element, rows, columns, dimensions, names, made_by } = head;
        let manifest = DenseManifest {
            format: DENSE_FORMAT_NAME.into(),
            format_version: FORMAT_VERSION,
            image_id: random(),
            element,
            rows,
            columns,
            dimensions,
            names,
            made_by,
            outcore_version: Some(version_text()),
        };
        check(&manifest)?;
        let len_bytes = manifest.shape().pages() * PAGE_BYTES as u64;
        let places = Places::new(runtime, target, replace)?;
        require_disk(runtime.backend(), "the array", len_bytes, len_bytes, places.folder())?;
        let workspace = Workspace::create_plain(runtime, places)?;
        let path = ImageFile::DENSE.path(workspace.partial());
        let file = DataFile::open_as(runtime.backend(), Location::at(&path), Open::Create)?;
        file.allocate(len_bytes).map_err(|error| Error::file(&path, "write", error))?;
        let len_bytes = if is_growing { u64::MAX } else { len_bytes };
        let block_bytes = block_bytes(runtime, len_bytes) as usize;
        Ok(DenseWriter {
            runtime: runtime.clone(),
            manifest,
            file: Arc::new(file.direct()),
            block_bytes,
            written_pages: Arc::default(),
            is_growing,
            workspace,
        })
    }

    /// The manifest of the image.
    pub fn manifest(&self) -> &DenseManifest {
        &self.manifest
    }

    /// The memory that [`worker`](DenseWriter::worker) will take for an image of this shape.
    pub fn worker_bytes(runtime: &Runtime, shape: DenseShape) -> u64 {
        (SPARE_BLOCKS as u64 + 1) * block_bytes(runtime, shape.pages() * PAGE_BYTES as u64)
    }

    /// The writer of one worker. Its memory is reserved: a few blocks of at most 1 MiB.
    ///
    /// # Errors
    /// Too little memory under the budget, or a queue that the operating system refuses.
    pub fn worker(&self) -> Result<DenseWriteWorker> {
        let options = PlacedOptions { block_bytes: self.block_bytes, spare_blocks: SPARE_BLOCKS };
        Ok(DenseWriteWorker {
            shape: DenseShape {
                rows: if self.is_growing { u64::MAX } else { self.manifest.rows },
                ..self.manifest.shape()
            },
            origin: ImageFile::DENSE.origin(self.manifest.image_id),
            writer: PlacedWriter::new(&self.runtime, "writing an array", &self.file, options)?,
            pages: 0,
            written_pages: Arc::clone(&self.written_pages),
        })
    }

    /// Gives the image its name. All workers have finished, and every page was put once.
    ///
    /// # Errors
    /// Pages that are missing, errors of the operating system, or a request to stop; then there is no new image, and an
    /// older one of that name is unchanged.
    pub fn commit(self) -> Result<()> {
        let rows = self.manifest.rows;
        self.commit_rows(rows)
    }

    /// [`commit`](DenseWriter::commit) for an array that has grown to `rows` rows.
    ///
    /// # Errors
    /// As for [`commit`](DenseWriter::commit); more rows than an array may have.
    pub fn commit_rows(self, rows: u64) -> Result<()> {
        let DenseWriter { runtime, mut manifest, file, written_pages, workspace, .. } = self;
        manifest.rows = rows;
        check(&manifest)?;
        let (pages, written) = (manifest.shape().pages(), written_pages.load(Ordering::Acquire));
        if written != pages {
            return Err(Error::verification(format!("an array of {pages} pages"), format!("{written} that were put")));
        }
        file.sync().map_err(|error| Error::file(file.path(), "sync", error))?;
        drop(file);
        write_member(&runtime, &workspace.partial().join(MANIFEST), &manifest.to_bytes())?;
        workspace.finish(&runtime)?.into_iter().for_each(|note| runtime.note(note));
        Ok(())
    }
}

/// The size of a block for an image of `len_bytes`.
fn block_bytes(runtime: &Runtime, len_bytes: u64) -> u64 {
    let share = runtime.budget().available_bytes() / BLOCKS_SHARE / runtime.threads() as u64;
    let most_bytes = (share / (SPARE_BLOCKS as u64 + 1)).clamp(MIN_BLOCK_BYTES, MAX_BLOCK_BYTES);
    most_bytes.min(len_bytes.max(1)).next_multiple_of(PAGE_BYTES as u64)
}

fn check(manifest: &DenseManifest) -> Result<()> {
    let refused = |error: outcore_format::Error| {
        Error::Usage(format!("expected an array of {}, found {}", error.expected, error.found))
    };
    manifest.check().map_err(refused)?;
    // A longer manifest could not be read, and the replaced image would be lost.
    let len_bytes = manifest.to_bytes().len() as u64;
    if len_bytes <= MAX_MANIFEST_BYTES {
        return Ok(());
    }
    let [most, found] = differing_texts(MAX_MANIFEST_BYTES, len_bytes);
    Err(Error::Usage(format!(
        "expected names of columns that take at most {most} together, found {found}; give shorter ones, or none"
    )))
}

/// The writer of one worker.
pub struct DenseWriteWorker {
    shape: DenseShape,
    origin: Origin,
    writer: PlacedWriter,
    pages: u64,
    written_pages: Arc<AtomicU64>,
}

impl DenseWriteWorker {
    /// Seals the page of a column in the group of rows that begins with `first_row`, and writes it asynchronously.
    /// Pages that are put in the order of their numbers are written together. The last group of an array that grows may
    /// have fewer rows than a page has room for.
    ///
    /// # Panics
    /// If no group begins with that row, which is a multiple of
    /// [`rows_per_page`](outcore_format::dense::rows_per_page); if there is no such column; or if these are not the
    /// elements of all rows of the group.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one: a full disk, most likely.
    pub fn put(&mut self, first_row: u64, column: u64, values: &[u8]) -> Result<()> {
        let group = first_row / self.shape.rows_per_page();
        let mut place = self.shape.place_of(group, column);
        if self.shape.rows == u64::MAX {
            place.rows = place.rows.min(values.len() / self.shape.element.bytes());
        }
        assert!(place.first_row == first_row && place.rows > 0, "a group of {:?} from row {first_row}", self.shape);
        assert!(column < self.shape.columns, "column {column} of {:?}", self.shape);
        let page = self.writer.page(place.page_number * PAGE_BYTES as u64)?;
        dense::build(&self.origin, self.shape.element, &place, values, page);
        self.pages += 1;
        Ok(())
    }

    /// Writes the remaining pages, and waits until all are in the file.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one.
    pub fn finish(self) -> Result<()> {
        self.writer.finish()?;
        self.written_pages.fetch_add(self.pages, Ordering::Release);
        Ok(())
    }
}
