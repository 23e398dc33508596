//! Columns: values in the order of their ordinals, read from the image into memory by all workers.

use crate::files::corrupt;
use crate::image::Image;
use crate::stats::SweepStats;
use crate::{Error, Result};
use outcore_format::{ImageFile, PAGE_BYTES, column};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of pages of a column that are read at once.
const READ_PAGES: u64 = 64;

impl Image {
    /// Reads a column of `count` values: `visit` receives the first ordinal and the values of every page, in any order,
    /// and may refuse a value.
    ///
    /// # Errors
    /// A column that cannot be read, is damaged, or has another number of values.
    pub fn read_column(
        &self,
        file: ImageFile,
        count: u64,
        visit: impl Fn(u64, &[u64]) -> std::result::Result<(), u64> + Sync,
    ) -> Result<SweepStats> {
        let seen = AtomicU64::new(0);
        let origin = file.origin(self.manifest().image_id);
        let stats = self.read_pages(file, |number, bytes, values: &mut Vec<u64>| {
            let page = origin.verify(number, bytes)?;
            values.clear();
            column::decode(&page, values)?;
            if page.first() > count || values.len() as u64 > count - page.first() {
                let found = format!("{} from {}", values.len(), page.first());
                return Err(outcore_format::Error::new(8, format!("values below {count}"), found));
            }
            seen.fetch_add(values.len() as u64, Ordering::Relaxed);
            visit(page.first(), values)
                .map_err(|value| outcore_format::Error::new(32, "a value that fits the column", value.to_string()))
        })?;
        let seen = seen.into_inner();
        if seen != count {
            return Err(self.bad_column(file, format!("{count} values"), seen.to_string()));
        }
        Ok(stats)
    }

    /// Reads all pages of a file on all workers, each with a scratch value of its own.
    #[doc(hidden)]
    pub fn read_pages<S: Default>(
        &self,
        file: ImageFile,
        visit: impl Fn(u64, &[u8; PAGE_BYTES], &mut S) -> outcore_format::Result<()> + Sync,
    ) -> Result<SweepStats> {
        let start = Instant::now();
        let place = self.file(file).ok_or_else(|| self.bad_column(file, "a column".into(), "none".into()))?;
        let data = self.data_file(place);
        let pages = data.len_bytes() / PAGE_BYTES as u64;
        let next = AtomicU64::new(0);
        let (_, mut stats) = self.with_workers(pages.div_ceil(READ_PAGES) as usize, |worker, stop| {
            let reader = &mut worker.reader;
            let mut scratch = S::default();
            // A read that did not fit the ring yet.
            let mut pending = None;
            loop {
                self.runtime().cancel().check()?;
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                loop {
                    let first = *pending.get_or_insert_with(|| next.fetch_add(READ_PAGES, Ordering::Relaxed));
                    let len = READ_PAGES.min(pages.saturating_sub(first)) as usize * PAGE_BYTES;
                    if len == 0 || !reader.push(place, first * PAGE_BYTES as u64, len, first)? {
                        break;
                    }
                    pending = None;
                }
                reader.submit()?;
                let Some(extent) = reader.next()? else { return Ok(()) };
                for (number, bytes) in (extent.tag..).zip(extent.bytes.as_chunks::<PAGE_BYTES>().0) {
                    visit(number, bytes, &mut scratch)
                        .map_err(|error| corrupt(data.path(), number * PAGE_BYTES as u64, error))?;
                }
            }
        })?;
        stats.pages_wanted = pages;
        stats.seconds = start.elapsed().as_secs_f64();
        Ok(stats)
    }

    fn bad_column(&self, file: ImageFile, expected: String, found: String) -> Error {
        Error::damaged(file.path(self.path()), 0, expected, found)
    }
}
