//! An asynchronous writer of pages at any offsets of a file.
//!
//! Adjacent pages are gathered in a block of a lane (`lanes.rs`); a full block, or one followed by a gap, becomes a
//! request, and spare blocks are filled while requests are under way. Several writers may write the same file, each on
//! a thread of its own.

use crate::buffer::PAGE_BYTES;
use crate::directory::DataFile;
use crate::error::Result;
use crate::lanes::{Lanes, LanesOptions};
use crate::runtime::Runtime;
use std::sync::Arc;

/// The memory of a writer.
#[derive(Clone, Copy, Debug)]
pub struct PlacedOptions {
    /// The size of a block, and of the largest write: whole pages.
    pub block_bytes: usize,
    /// Blocks beyond the one that is filled: as many may be under way. At least one.
    pub spare_blocks: usize,
}

/// Writes pages at any offsets of a file.
pub struct PlacedWriter {
    lanes: Lanes,
    /// Offset in the file of the block that is being filled.
    offset_bytes: u64,
}

impl PlacedWriter {
    /// A writer to an open file.
    ///
    /// # Panics
    /// If a block is not a number of pages, or no block is spare.
    ///
    /// # Errors
    /// Too little memory under the budget, or a queue that the operating system refuses.
    pub fn new(runtime: &Runtime, purpose: &str, file: &Arc<DataFile>, options: PlacedOptions) -> Result<Self> {
        let PlacedOptions { block_bytes, spare_blocks } = options;
        assert!(block_bytes > 0 && block_bytes % PAGE_BYTES == 0 && spare_blocks > 0, "{options:?}");
        let options = LanesOptions { lanes: 1, spare_blocks, block_bytes, tail_bytes: 0 };
        Ok(PlacedWriter { lanes: Lanes::new(runtime, purpose, Arc::clone(file), &options)?, offset_bytes: 0 })
    }

    /// The memory of the page at an offset of the file, with arbitrary contents, to be filled by the caller. It is
    /// written when the block is full, when a page elsewhere is requested, or at the end.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one: a full disk, most likely.
    #[inline]
    pub fn page(&mut self, offset_bytes: u64) -> Result<&mut [u8; PAGE_BYTES]> {
        let used_bytes = self.lanes.used_bytes(0);
        if used_bytes >= self.lanes.block_bytes() || offset_bytes != self.offset_bytes + used_bytes as u64 {
            self.flush()?;
            self.offset_bytes = offset_bytes;
        }
        match self.lanes.has_room(0, PAGE_BYTES) {
            true => Ok(self.lanes.room(0).expect("there is room")),
            // After a failure there is no room, and this returns the error.
            false => Err(self.lanes.write(0, offset_bytes, &[]).expect_err("a lane without room has failed")),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.lanes.write(0, self.offset_bytes, &[])
    }

    /// Writes the remaining pages, and waits until all are in the file; they are not durable.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.lanes.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Faults, Location, Open, Posix, Sim};
    use crate::runtime::RuntimeOptions;
    use std::path::Path;

    fn runtime(backend: Arc<dyn Backend>) -> Runtime {
        let memory_bytes = Some(1 << 30);
        Runtime::new(RuntimeOptions { memory_bytes, backend: Some(backend), ..Default::default() }).unwrap()
    }

    fn create(runtime: &Runtime, path: &Path, pages: u64, direct: bool) -> Arc<DataFile> {
        let file = DataFile::open_as(runtime.backend(), Location::at(path), Open::Create).unwrap();
        file.allocate(pages * 4096).unwrap();
        Arc::new(if direct { file.direct() } else { file })
    }

    const OPTIONS: PlacedOptions = PlacedOptions { block_bytes: 3 * 4096, spare_blocks: 2 };

    /// Writes the pages of these numbers, each filled with its number.
    fn write(runtime: &Runtime, file: &Arc<DataFile>, pages: impl Iterator<Item = u64>) -> Result<()> {
        let mut writer = PlacedWriter::new(runtime, "a test", file, OPTIONS)?;
        for page in pages {
            writer.page(page * 4096)?.fill(page as u8);
        }
        writer.finish()
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls that Miri does not know")]
    fn pages_get_to_their_places_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Posix), Arc::new(Sim::new(Faults::default()))];
        if crate::backend::Uring::works() {
            backends.push(Arc::new(crate::backend::Uring));
        }
        for (backend, direct) in backends.iter().flat_map(|backend| [(backend, false), (backend, true)]) {
            let runtime = runtime(Arc::clone(backend));
            let available_bytes = runtime.budget().available_bytes();
            let path = directory.path().join("file");
            let file = create(&runtime, &path, 200, direct);
            // Backwards, in pieces of seven, and all the even ones; two writers at once.
            write(&runtime, &file, (0..40).rev()).unwrap();
            let runs = || (0..10).rev().flat_map(|run| 40 + 7 * run..47 + 7 * run);
            let even = || (110..200).step_by(2).chain((110..200).skip(1).step_by(2));
            std::thread::scope(|scope| {
                let other = scope.spawn(|| write(&runtime, &file, even()));
                write(&runtime, &file, runs()).unwrap();
                other.join().unwrap().unwrap();
            });
            let expected: Vec<u8> = (0..200u64).flat_map(|page| [page as u8; 4096]).collect();
            assert!(std::fs::read(&path).unwrap() == expected, "{} {direct}", backend.name());
            std::fs::remove_file(&path).unwrap();
            assert_eq!(runtime.budget().available_bytes(), available_bytes);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls that Miri does not know")]
    fn every_failure_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        for k in 0.. {
            let sim = Arc::new(Sim::new(Faults { seed: k, fail_at: Some(k), ..Faults::default() }).asleep());
            let runtime = runtime(sim.clone());
            let file = create(&runtime, &directory.path().join(k.to_string()), 40, false);
            sim.wake();
            let mut writer = PlacedWriter::new(&runtime, "a test", &file, OPTIONS).unwrap();
            let put = (0..20).chain(30..40).try_for_each(|page| writer.page(page * 4096).map(|bytes| bytes.fill(1)));
            if let Err(error) = &put {
                assert!(error.to_string().contains("Input/output error"), "{error}");
                let error = writer.page(0).unwrap_err();
                assert!(error.to_string().contains("an earlier write failed"), "{error}");
            }
            let finished = writer.finish();
            match k < 11 {
                true => assert!(finished.is_err(), "request {k}"),
                false => {
                    assert_eq!(sim.operations(), 11, "seven blocks of the first pages, four of the others");
                    finished.unwrap();
                    break;
                }
            }
        }
    }
}
