//! Images of pages on disk, opened or being written.
//!
//! An image is a directory of files of pages with a manifest. This crate opens one ([`Image`]), with its page cache and
//! the read buffers of its workers; visits pages of it on all workers ([`sweep()`]) or in order ([`PageStream`],
//! [`ColumnStream`], [`TextStream`]); writes new ones ([`Workspace`], [`PageWriter`]); and replaces files and images
//! whole or not at all ([`AtomicFile`]). Images of dense arrays are read ([`DenseImage`], [`DenseReader`]) and written
//! ([`DenseWriter`]) a group of rows at a time. It knows pages and columns of values, but not the meaning of other
//! pages: a sweep is given the pages to visit and a visitor that decodes them.
#![forbid(unsafe_code)]

mod atomic_file;
mod columns;
mod dense;
mod dense_reader;
mod dense_writer;
mod files;
mod image;
mod partial;
mod placed_file;
mod save;
mod stats;
mod stream;
mod sweep;
mod workspace;
mod writer;

pub use atomic_file::{AtomicFile, BUFFER_BYTES, check_file, is_standard_output, write_file};
pub use dense::DenseImage;
pub use dense_reader::{DensePages, DenseReader};
pub use dense_writer::{DenseHead, DenseWriteWorker, DenseWriter};
pub use files::{AnyManifest, GRAPH_FOLDERS, MANIFEST, corrupt, is_image, read_any_manifest, read_manifest};
pub use image::{Image, ImageOptions, Worker};
pub use outcore_format::ImageFile;
pub use outcore_io::{Error, ErrorKind, Outcome, Result, enough_bytes};
pub use partial::{Partial, require_disk};
pub use placed_file::PlacedFile;
pub use stats::{Stats, StatsBuilder, Step, SweepStats};
pub use stream::{ColumnStream, PageStream, STREAM_BYTES, TextStream};
pub use sweep::{Arrived, Besides, PageVisitor, Pass, Selection, Sweep, UnitPages, pages_within, sweep};
pub use workspace::{Places, TEMPORARY_FOLDER, Workspace};
pub use writer::{IndexWriter, KEYS_BYTES, PageWriter, write_member};
