//! An open image: its files, its page cache, and the read buffers of its workers.

use crate::files::ImageFiles;
use crate::stats::SweepStats;
use crate::{Error, Result};
use outcore_format::{ImageFile, Index, Manifest, Origin, PAGE_BYTES};
use outcore_io::plan::{MEASURED_FROM_PAGES, USUAL_GAP_PAGES, measure_gap};
use outcore_io::{
    Budget, CacheShare, DataFile, LEAST_ADVICE_BYTES, PageCache, PageKey, Progress, Reader, Reservation, Runtime,
    into_inner, lock,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The largest ring of read buffers of a worker.
const MAX_RING_BYTES: u64 = 4 << 20;
/// The smallest: room for one unit of pages.
const MIN_RING_BYTES: u64 = outcore_io::plan::UNIT_PAGES * PAGE_BYTES as u64;
/// Fraction (1/n) of the memory for the rings of all workers.
const RING_SHARE: u64 = 8;

/// Options for opening an image.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageOptions {
    /// Largest size of the page cache for this image; `None` takes all memory that the limit leaves.
    pub cache_bytes: Option<u64>,
    /// The column of values that is used as the weights of edges, if not that of the manifest: one whose values are
    /// numbers for all edges.
    pub weighed_by: Option<usize>,
}

/// An image, opened, as one operation has it. [`Image::for_operation`] makes one for another operation: all of them
/// share files, workers and cache.
pub struct Image {
    runtime: Runtime,
    opened: Arc<Opened>,
}

/// Shared by the operations on an open image.
struct Opened {
    /// The budget of the runtime: it tells which process opened the image.
    budget: Arc<Budget>,
    path: PathBuf,
    files: ImageFiles,
    /// The identity of the files when they were opened.
    identity: u64,
    options: ImageOptions,
    workers: Mutex<Vec<Worker>>,
    /// The image's share in the page cache of the runtime.
    cache: CacheShare,
    closed: AtomicBool,
    /// The memory of each worker, once there are any.
    worker_memory: OnceLock<WorkerMemory>,
    /// The longest gap between pages that is read over, once it was measured.
    merge_gap: OnceLock<u32>,
}

#[derive(Clone, Copy)]
struct WorkerMemory {
    ring_bytes: u64,
    /// Its buffers for decoding pages.
    decoding_bytes: u64,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("path", &self.opened.path).finish_non_exhaustive()
    }
}

/// The resources of one worker for reading.
pub struct Worker {
    /// The reader of the image's files of pages, which are numbered by their places.
    pub reader: Reader,
    /// The memory beside the ring, of a worker that is made while other operations have the permanent ones; `None` for
    /// all others.
    _reservation: Option<Reservation>,
}

/// The workers of an operation. They are returned when it ends, also by an error or by a panic in a function of the
/// caller's.
struct LentWorkers<'i> {
    image: &'i Image,
    slots: Vec<Mutex<Option<Worker>>>,
    /// Set when one of the workers fails: all of them stop.
    stop: AtomicBool,
}

impl<'i> LentWorkers<'i> {
    /// Takes at most `most` of the workers that no other operation has. If there are none, it makes up to `most`
    /// temporary ones, with small rings: at least one, and more if unused memory allows.
    fn take(image: &'i Image, most: usize) -> Result<Self> {
        let most = most.clamp(1, image.runtime.threads());
        let mut workers = {
            let mut idle = lock(&image.opened.workers);
            let from = idle.len() - most.min(idle.len());
            idle.split_off(from)
        };
        workers.iter_mut().for_each(|worker| worker.reader.serve(&image.runtime));
        if workers.is_empty() {
            workers.push(image.extra_worker()?);
            let bytes = MIN_RING_BYTES + image.worker_memory().decoding_bytes;
            while workers.len() < most && image.runtime.budget().free_bytes() >= bytes {
                // One is enough: another operation may have taken the memory since.
                let Ok(worker) = image.extra_worker() else { break };
                workers.push(worker);
            }
        }
        let slots = workers.into_iter().map(|worker| Mutex::new(Some(worker))).collect();
        Ok(LentWorkers { image, slots, stop: AtomicBool::new(false) })
    }

    fn slot(&self, number: usize) -> Option<MutexGuard<'_, Option<Worker>>> {
        self.slots.get(number).map(|slot| lock(slot))
    }

    fn worker(&self, number: usize) -> Option<LentWorker<'_, 'i>> {
        let worker = self.slot(number)?.take()?;
        Some(LentWorker { lent: self, number, worker: Some(worker) })
    }
}

impl Drop for LentWorkers<'_> {
    fn drop(&mut self) {
        let workers = (0..self.slots.len()).filter_map(|number| self.slot(number)?.take());
        // The permanent ones are returned; others were for this operation alone.
        let usual: Vec<Worker> = workers.filter(|worker| worker._reservation.is_none()).collect();
        lock(&self.image.opened.workers).extend(usual);
        if self.image.is_closed() {
            self.image.close();
        }
    }
}

/// One of the workers of an operation.
struct LentWorker<'l, 'i> {
    lent: &'l LentWorkers<'i>,
    number: usize,
    /// `None` only after it was returned.
    worker: Option<Worker>,
}

impl LentWorker<'_, '_> {
    fn get(&mut self) -> &mut Worker {
        self.worker.as_mut().expect("a worker goes back only when this is dropped")
    }
}

impl Drop for LentWorker<'_, '_> {
    fn drop(&mut self) {
        let Some(mut worker) = self.worker.take() else { return };
        if std::thread::panicking() {
            self.lent.stop.store(true, Ordering::Relaxed);
        }
        if self.lent.stop.load(Ordering::Relaxed) {
            worker.reader.clear();
        }
        if let Some(mut slot) = self.lent.slot(self.number) {
            *slot = Some(worker);
        }
    }
}

impl Worker {
    fn new(runtime: &Runtime, files: &ImageFiles, ring_bytes: u64) -> Result<Self> {
        let open: Vec<_> = files.pages().iter().map(|(_, file)| Arc::clone(file)).collect();
        Ok(Worker { reader: Reader::new(runtime, &open, ring_bytes as usize)?, _reservation: None })
    }

    /// Statistics since the last call.
    pub fn take_stats(&mut self) -> SweepStats {
        SweepStats::of_reads(self.reader.take_stats())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.budget.check_process().is_ok() {
            self.cache.clear();
        }
    }
}

impl Image {
    /// Opens the files of an image; [`Image::add_workers`] makes it ready to be swept.
    ///
    /// # Errors
    /// A path that is no image, a damaged manifest, or files of the wrong size.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>, options: ImageOptions) -> Result<Self> {
        let files = ImageFiles::open(runtime, path.as_ref())?;
        Image::of_files(runtime, path.as_ref(), files, options)
    }

    /// The image with other options, in its own name and with the same files: another image may have the path by now.
    ///
    /// # Errors
    /// An image that was closed; errors of the operating system.
    pub fn opened_again(&self, options: ImageOptions) -> Result<Self> {
        self.check_process()?;
        if self.is_closed() {
            return Err(Error::Closed { path: self.path().to_owned() });
        }
        Image::of_files(&self.runtime, self.path(), self.opened.files.clone(), options)
    }

    fn of_files(runtime: &Runtime, path: &Path, mut files: ImageFiles, options: ImageOptions) -> Result<Self> {
        files.weigh_by(options.weighed_by)?;
        let identity = files.identity()?;
        let cache = runtime.cache_share(identity);
        let runtime = runtime.in_name_of(&path.display().to_string());
        let opened = Opened {
            budget: Arc::clone(runtime.budget()),
            path: path.to_owned(),
            files,
            identity,
            options,
            workers: Mutex::default(),
            cache,
            closed: AtomicBool::new(false),
            worker_memory: OnceLock::new(),
            merge_gap: OnceLock::new(),
        };
        Ok(Image { runtime, opened: Arc::new(opened) })
    }

    /// The image for one operation, which is stopped on its own and shows its progress to `progress` alone.
    #[must_use]
    pub fn for_operation(&self, progress: Option<Arc<dyn Progress>>) -> Self {
        self.with_runtime(self.runtime.for_operation(progress))
    }

    /// The image for work of a runtime that was made of its own, such as [`Runtime::stopped_by`].
    #[must_use]
    pub fn with_runtime(&self, runtime: Runtime) -> Self {
        Image { runtime, opened: Arc::clone(&self.opened) }
    }

    fn worker_memory(&self) -> WorkerMemory {
        let none = WorkerMemory { ring_bytes: MAX_RING_BYTES, decoding_bytes: 0 };
        self.opened.worker_memory.get().copied().unwrap_or(none)
    }

    /// The options of opening.
    pub fn options(&self) -> ImageOptions {
        self.opened.options
    }

    /// Makes read buffers for every thread of the runtime, from a share of the memory that is available now.
    /// `decoding_bytes` is the memory of a worker beside them; the caller has reserved it for these workers, and it is
    /// reserved for temporary ones when they are made.
    ///
    /// # Errors
    /// Too little memory.
    pub fn add_workers(&self, decoding_bytes: u64) -> Result<()> {
        let threads = self.runtime.threads() as u64;
        let share = self.runtime.budget().available_bytes() / RING_SHARE / threads;
        let share = (share / MIN_RING_BYTES * MIN_RING_BYTES).max(MIN_RING_BYTES);
        let ring_bytes = share.min(self.largest_ring_bytes());
        self.opened.worker_memory.get_or_init(|| WorkerMemory { ring_bytes, decoding_bytes });
        let worker = |_| Worker::new(&self.runtime, &self.opened.files, ring_bytes);
        let workers = (0..threads).map(worker).collect::<Result<Vec<_>>>()?;
        *lock(&self.opened.workers) = workers;
        Ok(())
    }

    /// The largest ring of a worker, at most all pages of the image.
    fn largest_ring_bytes(&self) -> u64 {
        let all: u64 = self.opened.files.pages().iter().map(|(_, file)| file.len_bytes()).sum();
        all.next_multiple_of(PAGE_BYTES as u64).clamp(PAGE_BYTES as u64, MAX_RING_BYTES)
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        self.opened.files.manifest()
    }

    /// Refuses the number of a vertex that the graph does not have.
    ///
    /// # Errors
    /// [`Error::NoVertex`].
    pub fn check_vertex(&self, vertex: u32) -> Result<()> {
        let vertices = self.manifest().vertices;
        if u64::from(vertex) < vertices { Ok(()) } else { Err(Error::NoVertex { vertex: vertex.into(), vertices }) }
    }

    /// The manifest as bytes of its file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn manifest_bytes(&self) -> Result<Vec<u8>> {
        self.opened.files.manifest_bytes()
    }

    /// The files of the image, if nothing has changed them since they were opened.
    pub(crate) fn unchanged_files(&self) -> Result<&ImageFiles> {
        let files = &self.opened.files;
        if files.identity()? == self.opened.identity { Ok(files) } else { Err(files.changed()) }
    }

    /// A file that exists in the image's directory although the manifest names none of its kind.
    pub fn unnamed(&self) -> Option<PathBuf> {
        self.opened.files.unnamed()
    }

    /// The path of the image.
    pub fn path(&self) -> &Path {
        &self.opened.path
    }

    /// The size of all files of the image, in bytes.
    pub fn image_bytes(&self) -> u64 {
        self.opened.files.bytes()
    }

    /// A path for a temporary file: beside the image, unless the user chose a directory.
    pub fn temporary_path(&self, what: &str) -> PathBuf {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".outcore-{}-{number}.{what}", std::process::id());
        match self.runtime.temporary() {
            Some(directory) => directory.join(name),
            None => self.opened.path.with_file_name(name),
        }
    }

    /// Memory limit, workers and back end.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The place of a file among the readers' files.
    pub fn file(&self, file: ImageFile) -> Option<usize> {
        self.opened.files.pages().iter().position(|(name, _)| *name == file)
    }

    /// The open file at a place among the readers' files.
    pub fn data_file(&self, place: usize) -> &Arc<DataFile> {
        &self.opened.files.pages()[place].1
    }

    /// The seed of the checksums of the file at a place.
    #[doc(hidden)]
    pub fn origin(&self, place: usize) -> Origin {
        self.opened.files.pages()[place].0.origin(self.manifest().image_id)
    }

    /// Number of pages of a file; 0 if the image has no such file.
    pub fn file_pages(&self, file: ImageFile) -> u64 {
        self.file(file).map_or(0, |place| self.data_file(place).len_bytes() / PAGE_BYTES as u64)
    }

    /// The size of a file's index, in bytes.
    pub fn index_bytes_of(&self, file: ImageFile) -> u64 {
        self.opened.files.index_bytes(file)
    }

    /// The path of a file's index.
    pub fn index_path(&self, file: ImageFile) -> PathBuf {
        self.opened.files.index_path(file)
    }

    /// Reads the indexes of some files. Memory for their encoded and decoded forms is reserved first.
    ///
    /// # Errors
    /// Too little memory; an index that cannot be read, is damaged or too large, or belongs to another number of pages.
    #[doc(hidden)]
    pub fn read_indexes(&self, files: &[ImageFile], purpose: &str) -> Result<Vec<Index>> {
        let all = self.manifest().files();
        let keys = |file| all.iter().find(|(there, _)| *there == file).map_or(0, |(_, pages)| *pages);
        let bytes = files.iter().map(|&file| self.opened.files.index_reading_bytes(file, keys(file))).sum();
        let _reading = self.runtime.budget().reserve(purpose, bytes)?;
        files.iter().map(|&file| self.opened.files.read_index(file, keys(file))).collect()
    }

    /// A worker beside the permanent ones, with a ring of its own. Nothing else is reserved for it.
    ///
    /// # Errors
    /// Too little memory.
    #[doc(hidden)]
    pub fn new_worker(&self, ring_bytes: u64) -> Result<Worker> {
        Worker::new(&self.runtime, &self.opened.files, ring_bytes)
    }

    /// A temporary worker for an operation while others have the permanent ones.
    fn extra_worker(&self) -> Result<Worker> {
        let reservation = self.reserve("another operation at the same time", self.worker_memory().decoding_bytes)?;
        Ok(Worker { _reservation: Some(reservation), ..self.new_worker(MIN_RING_BYTES)? })
    }

    /// Runs `work` on at most `most` workers with their buffers, and adds up their statistics. Several operations may
    /// run at the same time, also nested: they share the workers, and the first ones have most of them.
    ///
    /// # Errors
    /// The error of the first worker that failed, after which all reads are abandoned; no memory for a worker while
    /// other operations have all; an image that was closed.
    #[doc(hidden)]
    pub fn with_workers<T: Send>(
        &self,
        most: usize,
        work: impl Fn(&mut Worker, &AtomicBool) -> Result<T> + Sync,
    ) -> Result<(Vec<T>, SweepStats)> {
        let values: Vec<Mutex<Option<T>>> =
            (0..most.clamp(1, self.runtime.threads())).map(|_| Mutex::default()).collect();
        let total = self.on_workers(most, &|number, worker, stop| {
            let value = work(worker, stop)?;
            *lock(&values[number]) = Some(value);
            Ok(())
        })?;
        Ok((values.into_iter().filter_map(into_inner).collect(), total))
    }

    /// [`Image::with_workers`], compiled once.
    fn on_workers(
        &self,
        most: usize,
        work: &(dyn Fn(usize, &mut Worker, &AtomicBool) -> Result<()> + Sync),
    ) -> Result<SweepStats> {
        self.check_process()?;
        if self.is_closed() {
            return Err(Error::Closed { path: self.opened.path.clone() });
        }
        let lent = LentWorkers::take(self, most)?;
        let outcome: Result<Vec<SweepStats>> = self.runtime.run_on(lent.slots.len(), |number| {
            let mut worker = lent.worker(number).expect("every number is given out once");
            let result = work(number, worker.get(), &lent.stop);
            if result.is_err() {
                lent.stop.store(true, Ordering::Relaxed);
            }
            let stats = worker.get().take_stats();
            result.map(|()| stats)
        });
        drop(lent);
        let mut total = SweepStats::default();
        outcome?.iter().for_each(|stats| total.add(stats));
        Ok(total)
    }

    /// The longest gap between wanted pages that is read over: measured on the image's device at the first call, if the
    /// file is large enough for that to matter. Also returns the statistics of the measurement.
    ///
    /// # Errors
    /// As with [`Image::with_workers`].
    pub fn merge_gap(&self, place: usize) -> Result<(u32, SweepStats)> {
        if let Some(&gap) = self.opened.merge_gap.get() {
            return Ok((gap, SweepStats::default()));
        }
        let pages = self.data_file(place).len_bytes() / PAGE_BYTES as u64;
        if pages < MEASURED_FROM_PAGES {
            return Ok((USUAL_GAP_PAGES, SweepStats::default()));
        }
        let measure = |worker: &mut Worker, _: &AtomicBool| measure_gap(&mut worker.reader, place, pages);
        let (measured, stats) = self.with_workers(1, measure)?;
        Ok((*self.opened.merge_gap.get_or_init(|| measured[0]), stats))
    }

    /// The page cache, if there is one, and the number of pages that a full pass keeps in it.
    pub(crate) fn cache_part(&self) -> Option<(Arc<PageCache>, u64)> {
        self.opened.cache.part()
    }

    /// The page cache, if there is one.
    #[doc(hidden)]
    pub fn cache(&self) -> Option<Arc<PageCache>> {
        self.opened.cache.cache()
    }

    /// Number of pages that the image's part of the page cache has room for.
    pub fn cache_pages(&self) -> u64 {
        self.cache_part().map_or(0, |(_, pages)| pages)
    }

    /// The key of a page in the cache.
    #[doc(hidden)]
    pub fn page_key(&self, file: usize, page: u64) -> PageKey {
        PageKey { image: self.opened.cache.image(), file: file as u32, page }
    }

    /// Current memory of the page cache, which shrinks when memory is needed.
    pub fn cache_bytes(&self) -> u64 {
        self.cache().map_or(0, |cache| cache.memory_bytes())
    }

    /// Checks that `bytes` can be reserved. Page caches shrink at the reservation; if that is not enough,
    /// [`Reclaim`](outcore_io::Reclaim) memory is given back now.
    ///
    /// Algorithms call this with the size of their whole state, before they allocate any of it.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers and the largest holders.
    pub fn make_room(&self, purpose: &str, bytes: u64) -> Result<()> {
        let advise = |mut error| {
            if let Error::Memory { needed_bytes, available_bytes, limit_bytes, advised_bytes, .. } = &mut error {
                let more_bytes = self.more_bytes(*needed_bytes - *available_bytes);
                let enough_bytes =
                    limit_bytes.saturating_add(more_bytes).saturating_add(self.runtime.budget().margin_bytes());
                *advised_bytes = LEAST_ADVICE_BYTES.max(enough_bytes);
            }
            error
        };
        self.runtime.budget().require(purpose, bytes).map_err(advise)
    }

    /// Reserves memory, or refuses it with the advice of [`Image::make_room`].
    ///
    /// # Errors
    /// As with [`Image::make_room`].
    pub fn reserve(&self, purpose: &str, bytes: u64) -> Result<Reservation> {
        self.make_room(purpose, bytes)?;
        self.runtime.budget().reserve(purpose, bytes)
    }

    /// The increase of the limit that makes `missing_bytes` more available: under a larger limit an image has larger
    /// read buffers too.
    pub fn more_bytes(&self, missing_bytes: u64) -> u64 {
        let threads = self.runtime.threads() as u64;
        let most = threads * self.largest_ring_bytes().saturating_sub(self.worker_memory().ring_bytes);
        let grown = missing_bytes.saturating_add(threads * MIN_RING_BYTES).div_ceil(RING_SHARE - 1);
        missing_bytes.saturating_add(most.min(grown.saturating_add(threads * MIN_RING_BYTES)))
    }

    /// Sets this image's share of the runtime's page cache to room for `pages` pages, at most
    /// [`ImageOptions::cache_bytes`]. The cache grows as far as memory is free.
    ///
    /// # Errors
    /// The machine has less memory than the limit allows; a request to stop while pages move to a larger cache.
    pub fn fill_cache(&self, pages: u64) -> Result<()> {
        self.check_process()?;
        if self.is_closed() {
            return Ok(());
        }
        // Room for all pages and some more, because files do not fill sets evenly.
        let wanted = pages.saturating_add(pages / 4 + 64).saturating_mul(PAGE_BYTES as u64 + 64);
        let wanted = wanted.min(self.opened.options.cache_bytes.unwrap_or(u64::MAX));
        self.opened.cache.fill(&self.runtime, wanted)
    }

    /// Releases its share of the page cache and the read buffers, as soon as no operation uses them. Streams have
    /// buffers of their own; no other reads are possible afterwards.
    pub fn close(&self) {
        self.opened.closed.store(true, Ordering::Relaxed);
        if self.check_process().is_ok() {
            self.opened.cache.clear();
            lock(&self.opened.workers).clear();
        }
    }

    /// Whether the image was closed.
    pub fn is_closed(&self) -> bool {
        self.opened.closed.load(Ordering::Relaxed)
    }

    /// Fails in another process than the one that opened the image: the locks, threads and rings of a fork have no
    /// owner.
    ///
    /// # Errors
    /// This process is a fork.
    pub fn check_process(&self) -> Result<()> {
        self.runtime.budget().check_process()
    }
}
