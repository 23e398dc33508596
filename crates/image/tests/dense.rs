//! Images of dense arrays: written and read back, damaged, replaced, and on devices that fail.

use outcore_format::{DENSE_FORMAT_NAME, ElementType, ImageFile, PAGE_BYTES};
use outcore_image::{
    AnyManifest, DenseHead, DenseImage, DenseReader, DenseWriter, Error, Image, ImageOptions, MANIFEST, Result,
    SweepStats, read_any_manifest, read_manifest,
};
use outcore_io::backend::{Backend, Faults, Posix, Sim};
use outcore_io::{Progress, Runtime, Unit};
use outcore_testkit::runtime_under;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const MIB: u64 = 1 << 20;

fn runtime(threads: usize) -> Runtime {
    runtime_under(threads, 128 * MIB, None)
}

/// An array in memory, of elements that follow from their row and column.
#[derive(Clone, Copy, Debug)]
struct Model {
    element: ElementType,
    rows: u64,
    columns: u64,
    seed: u64,
}

impl Model {
    fn new(element: ElementType, rows: u64, columns: u64) -> Self {
        Model { element, rows, columns, seed: 1 }
    }

    fn head(&self) -> DenseHead {
        let names = Some((0..self.columns).map(|column| format!("c{column}")).collect());
        let Model { element, rows, columns, .. } = *self;
        DenseHead { element, rows, columns, dimensions: 2, names, made_by: Some("a test".into()) }
    }

    /// The elements of a column in some rows.
    fn values(&self, first_row: u64, column: u64, rows: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in first_row..first_row + rows as u64 {
            let bits = (row * 31 + column * 7 + self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let value = if self.element == ElementType::Bool { bits >> 63 } else { bits };
            bytes.extend(&value.to_le_bytes()[..self.element.bytes()]);
        }
        bytes
    }

    /// Writes it; every worker takes a few groups at a time.
    fn write_with(&self, runtime: &Runtime, target: &Path, replace: bool) -> Result<()> {
        let writer = DenseWriter::create(runtime, target, self.head(), replace)?;
        let shape = writer.manifest().shape();
        let next = AtomicU64::new(0);
        runtime.run(|_| {
            let mut worker = writer.worker()?;
            loop {
                let first = next.fetch_add(3, Ordering::Relaxed);
                if first >= shape.groups() {
                    return worker.finish();
                }
                for group in first..(first + 3).min(shape.groups()) {
                    for column in 0..self.columns {
                        let place = shape.place_of(group, column);
                        worker.put(place.first_row, column, &self.values(place.first_row, column, place.rows))?;
                    }
                }
            }
        })?;
        writer.commit()
    }

    fn write(&self, target: &Path) {
        self.write_with(&runtime(2), target, false).unwrap();
    }

    /// Reads all pages in runs on as many workers as the runtime has, and compares them.
    fn compare(&self, image: &Arc<DenseImage>, run_pages: u64) -> Result<SweepStats> {
        let next = AtomicU64::new(0);
        let parts = image.runtime().run(|_| {
            let mut reader = DenseReader::new(image, 64 << 10)?;
            self.compare_runs(&mut reader, &next, run_pages)?;
            Ok::<_, Error>(reader.take_stats())
        })?;
        let mut stats = SweepStats::default();
        parts.iter().for_each(|part| stats.add(part));
        Ok(stats)
    }

    fn compare_runs(&self, reader: &mut DenseReader, next: &AtomicU64, run_pages: u64) -> Result<()> {
        let shape = reader.image().shape();
        let mut waiting = None;
        loop {
            loop {
                let first = waiting.take().unwrap_or_else(|| next.fetch_add(run_pages, Ordering::Relaxed));
                if first >= shape.pages() {
                    break;
                }
                if !reader.push(first..(first + run_pages).min(shape.pages()), first / run_pages)? {
                    waiting = Some(first);
                    break;
                }
            }
            reader.submit()?;
            let Some(pages) = reader.next()? else { return Ok(()) };
            assert_eq!(pages.tag(), pages.pages().start / run_pages);
            for number in pages.pages() {
                let place = shape.place(number);
                assert!(pages.values(number) == self.values(place.first_row, place.column, place.rows), "{place:?}");
            }
            if let Some(bytes) = pages.contiguous() {
                assert_eq!(bytes.len() as u64, pages.pages().end - pages.pages().start);
                assert!(std::ptr::eq(&bytes[0], pages.page(pages.pages().start)));
            }
        }
    }
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn temporary() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("array.oc");
    (directory, image)
}

#[test]
fn arrays_of_every_type_and_shape_come_back() {
    for element in ElementType::ALL {
        let (directory, path) = temporary();
        let full = 4064 / element.bytes() as u64;
        for rows in [0, 1, 507, 508, 509, full - 1, full, full + 1, 2 * full, 4064, 4065] {
            for columns in [0, 1, 3] {
                let model = Model::new(element, rows, columns);
                model.write_with(&runtime(2), &path, true).unwrap();
                let image = DenseImage::open(&runtime(2), &path).unwrap();
                let shape = image.shape();
                assert_eq!((shape.element, shape.rows, shape.columns), (element, rows, columns));
                assert_eq!(image.pages(), rows.div_ceil(full) * columns);
                let length = |name: &str| std::fs::metadata(path.join(name)).unwrap().len();
                assert_eq!(image.image_bytes(), length("values.pages") + length(MANIFEST));
                let head = model.head();
                assert_eq!((&image.manifest().names, &image.manifest().made_by), (&head.names, &head.made_by));
                let stats = model.compare(&image, 2).unwrap();
                assert_eq!((stats.pages_wanted, stats.cache_hits), (image.pages(), 0));
                assert_eq!((stats.pages_read, stats.bytes_read), (image.pages(), image.pages() * 4096));
                if rows * columns > 0 {
                    assert_eq!(image.page_of(rows - 1, columns - 1), image.pages() - 1);
                }
            }
        }
        assert_eq!(names(directory.path()), ["array.oc"]);
        assert_eq!(names(&path), [MANIFEST, "values.pages"]);
    }
}

#[test]
fn any_number_of_workers_and_any_back_end_write_and_read_the_same() {
    let model = Model::new(ElementType::Float64, 100_000, 7);
    let sim = Sim::new(Faults { short_reads_percent: 30, ..Faults::default() });
    let backends: [Option<Arc<dyn Backend>>; 3] = [None, Some(Arc::new(Posix)), Some(Arc::new(sim))];
    for backend in backends {
        for threads in [1, 2, 5] {
            let (_directory, path) = temporary();
            let runtime = runtime_under(threads, 64 * MIB, backend.clone());
            let available_bytes = runtime.budget().available_bytes();
            model.write_with(&runtime, &path, false).unwrap();
            let image = DenseImage::open(&runtime, &path).unwrap();
            for run_pages in [1, 7, 16] {
                let stats = model.compare(&image, run_pages).unwrap();
                assert_eq!((stats.pages_wanted, stats.cache_hits), (image.pages(), 0));
                assert!(stats.requests >= image.pages().div_ceil(run_pages));
            }
            drop(image);
            assert_eq!(runtime.budget().available_bytes(), available_bytes);
        }
    }
}

#[test]
fn vectors_have_one_column_and_what_cannot_be_is_refused() {
    let (directory, path) = temporary();
    let head = DenseHead { dimensions: 1, names: None, ..Model::new(ElementType::Int8, 10, 1).head() };
    let writer = DenseWriter::create(&runtime(1), &path, head.clone(), false).unwrap();
    let mut worker = writer.worker().unwrap();
    worker.put(0, 0, &[3; 10]).unwrap();
    worker.finish().unwrap();
    writer.commit().unwrap();
    assert_eq!(DenseImage::open(&runtime(1), &path).unwrap().manifest().dimensions, 1);
    let refused = |head| DenseWriter::create(&runtime(1), &path, head, true).err().expect("it is refused");
    for bad in [
        DenseHead { columns: 2, ..head.clone() },
        DenseHead { dimensions: 3, ..head.clone() },
        DenseHead { rows: 1 << 62, ..head.clone() },
        DenseHead { names: Some(Vec::new()), ..head.clone() },
    ] {
        let error = refused(bad);
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
    let error = refused(DenseHead { rows: 1 << 55, ..head });
    assert!(matches!(error, Error::DiskSpace { .. }), "{error}");
    assert_eq!(names(directory.path()), ["array.oc"]);
}

#[test]
fn the_cache_keeps_all_pages_or_as_many_first_ones_as_it_has_room_for() {
    let (_directory, path) = temporary();
    // 1970 pages: 7.7 MiB.
    let model = Model::new(ElementType::Float64, 100_000, 10);
    model.write(&path);
    let image = DenseImage::open(&runtime(2), &path).unwrap();
    let pages = image.pages();
    image.use_cache(u64::MAX).unwrap();
    for pass in 0..3 {
        let stats = model.compare(&image, 10).unwrap();
        let cached = if pass == 0 { 0 } else { pages };
        assert_eq!((stats.pages_wanted, stats.cache_hits), (pages, cached), "pass {pass}");
        assert_eq!((stats.pages_read, stats.requests > 0), (pages - cached, pass == 0));
    }
    assert!(image.cache_bytes() >= pages * 4096);
    // A smaller one.
    let runtime = runtime(2);
    let image = DenseImage::open(&runtime, &path).unwrap();
    image.use_cache(3 * MIB).unwrap();
    let cached_pages = image.cache_bytes() / 4096;
    assert!((600..800).contains(&cached_pages), "{cached_pages}");
    for pass in 0..3 {
        let stats = model.compare(&image, 1).unwrap();
        let cached = if pass == 0 { 0 } else { cached_pages };
        assert_eq!((stats.cache_hits, stats.pages_read), (cached, pages - cached), "pass {pass}");
    }
    // A run of which one page is missing is read whole.
    let stats = model.compare(&image, 10).unwrap();
    assert_eq!((stats.cache_hits, stats.pages_read), (cached_pages / 10 * 10, pages - cached_pages / 10 * 10));
    drop(image);
    assert_eq!(runtime.budget().free_bytes(), runtime.budget().available_bytes());
}

#[test]
fn images_share_the_cache_by_what_they_could_use() {
    let (directory, path) = temporary();
    let other_path = directory.path().join("other.oc");
    let models = [1, 2].map(|seed| Model { seed, ..Model::new(ElementType::Float32, 200_000, 5) });
    models[0].write(&path);
    models[1].write(&other_path);
    let runtime = runtime(1);
    let images = [&path, &other_path].map(|path| DenseImage::open(&runtime, path).unwrap());
    images.iter().for_each(|image| image.use_cache(2 * MIB).unwrap());
    let capacity = images[0].cache_bytes() / 4096;
    let pass = |i: usize| models[i].compare(&images[i], 1).unwrap();
    for _ in 0..3 {
        assert!((0..2).all(|i| pass(i).pages_wanted == images[i].pages()));
    }
    // Both have most of their parts, though together they do not fill sets evenly.
    let hits = [0, 1].map(|i| pass(i).cache_hits);
    assert!(hits.iter().all(|&hits| hits > capacity / 4 && hits <= capacity / 2), "{hits:?} of {capacity}");
}

#[test]
fn runs_come_in_order_whether_they_are_cached_or_read_and_a_ring_has_its_limit() {
    let (_directory, path) = temporary();
    let model = Model::new(ElementType::UInt64, 508 * 100, 1);
    model.write(&path);
    let image = DenseImage::open(&runtime(1), &path).unwrap();
    image.use_cache(u64::MAX).unwrap();
    let mut reader = DenseReader::new(&image, 10 * PAGE_BYTES - 5).unwrap();
    assert_eq!(reader.ring_pages(), 10);
    assert!(reader.push(20..30, 0).unwrap() && reader.next().unwrap().is_some());
    // Pages 20 to 29 are cached now; the ring has room for ten others, and as many may be pinned.
    let pushed = [(0..8, 1), (20..25, 2), (40..42, 3), (25..30, 4)];
    for (pages, tag) in pushed.clone() {
        assert!(reader.push(pages, tag).unwrap());
    }
    assert!(!reader.push(50..51, 5).unwrap() && !reader.push(20..21, 5).unwrap());
    reader.submit().unwrap();
    for (expected, tag) in pushed {
        let pages = reader.next().unwrap().unwrap();
        assert_eq!((pages.pages(), pages.tag()), (expected.clone(), tag));
        assert_eq!(pages.contiguous().is_some(), [1, 3].contains(&tag));
        for page in expected {
            assert!(pages.values(page) == model.values(page * 508, 0, 508));
        }
    }
    assert!(reader.next().unwrap().is_none());
    let stats = reader.take_stats();
    assert_eq!((stats.pages_wanted, stats.cache_hits, stats.pages_read), (30, 10, 20));
    // Abandoned pages are not returned later.
    assert!(reader.push(60..70, 6).unwrap());
    reader.clear();
    assert!(reader.next().unwrap().is_none());
    assert!(reader.push(60..70, 7).unwrap());
    assert_eq!(reader.next().unwrap().unwrap().tag(), 7);
}

#[test]
fn flipped_bytes_are_refused() {
    let (_directory, path) = temporary();
    let model = Model::new(ElementType::Bool, 100, 2);
    model.write(&path);
    let runtime = runtime(1);
    for name in [MANIFEST, "values.pages"] {
        let good = std::fs::read(path.join(name)).unwrap();
        // Headers and elements of pages, and a sample of the zeros behind them, which the same checksum covers.
        for at in (0..good.len()).filter(|at| name == MANIFEST || at % PAGE_BYTES < 140 || at % 61 == 0) {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            std::fs::write(path.join(name), &bytes).unwrap();
            let read = DenseImage::open(&runtime, &path).and_then(|image| model.compare(&image, 2));
            let error = match read {
                Ok(_) => panic!("{name}: byte {at} passes"),
                Err(error) => error.to_string(),
            };
            assert!(error.contains(name), "{name}: byte {at}: {error}");
        }
        std::fs::write(path.join(name), &good).unwrap();
    }
    model.compare(&DenseImage::open(&runtime, &path).unwrap(), 2).unwrap();
}

/// Gives a worker that fails time to do so.
struct Slow;

impl Progress for Slow {
    fn start(&self, _: &str, _: Unit, _: Option<u64>) {}

    fn advance(&self, _: u64) {
        std::thread::sleep(Duration::from_millis(20));
    }

    fn finish(&self) {}
}

#[test]
fn a_check_reads_little_behind_a_damaged_page() {
    let (_directory, path) = temporary();
    Model::new(ElementType::UInt64, 508 * 256 * 30, 1).write(&path);
    let file = path.join("values.pages");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    for threads in [1, 2] {
        let runtime = runtime(threads).for_operation(Some(Arc::new(Slow)));
        let error = DenseImage::open(&runtime, &path).unwrap().check().expect_err("the first page is damaged");
        assert!(error.to_string().contains("checksum"), "{error}");
        let (read, all) = (runtime.bytes_read(), bytes.len() as u64);
        assert!(read > 0 && read < all / 2, "{read} of {all} bytes on {threads} workers");
    }
}

#[test]
fn pages_of_other_places_and_images_are_refused_and_so_are_files_of_other_sizes() {
    let (directory, path) = temporary();
    let other = directory.path().join("other.oc");
    let model = Model::new(ElementType::Int32, 3000, 2);
    model.write(&path);
    model.write(&other);
    let (runtime, file) = (runtime(1), path.join("values.pages"));
    let good = std::fs::read(&file).unwrap();
    let foreign = std::fs::read(other.join("values.pages")).unwrap();
    let origin = ImageFile::DENSE.origin(DenseImage::open(&runtime, &path).unwrap().manifest().image_id);
    let read = || DenseImage::open(&runtime, &path).and_then(|image| model.compare(&image, 3)).map(drop);
    for place in 0..good.len() / PAGE_BYTES {
        let at = place * PAGE_BYTES..(place + 1) * PAGE_BYTES;
        let swap = (place + 1) % (good.len() / PAGE_BYTES) * PAGE_BYTES;
        let mut wrong = [good.clone(), good.clone(), good.clone()];
        wrong[0][at.clone()].copy_from_slice(&foreign[at.clone()]);
        wrong[1][at.clone()].copy_from_slice(&good[swap..swap + PAGE_BYTES]);
        // Another page of the image, sealed for this place.
        let mut page: [u8; PAGE_BYTES] = good[swap..swap + PAGE_BYTES].try_into().unwrap();
        origin.place(place as u64, 0, &mut page);
        wrong[2][at.clone()].copy_from_slice(&page);
        for (bytes, expected) in wrong.iter().zip(["checksum", "checksum", "expected"]) {
            std::fs::write(&file, bytes).unwrap();
            let error = read().unwrap_err();
            assert!(error.to_string().contains(expected), "{place}: {error}");
            let Error::Corrupt { offset_bytes, .. } = error else { panic!("{error}") };
            assert!(at.contains(&(offset_bytes as usize)), "{place}: byte {offset_bytes}");
        }
    }
    for len in [0, 1, good.len() - 4096, good.len() - 1, good.len() + 1, good.len() + 4096] {
        let mut bytes = good.clone();
        bytes.resize(len, 0);
        std::fs::write(&file, bytes).unwrap();
        let error = read().unwrap_err().to_string();
        assert!(error.contains("6 pages of 4096 bytes") && error.contains("values.pages"), "{error}");
    }
    std::fs::write(&file, &good).unwrap();
    read().unwrap();
}

#[test]
fn an_image_is_replaced_whole_and_stays_for_those_who_have_it() {
    let (directory, path) = temporary();
    let [old, new] = [1, 2].map(|seed| Model { seed, ..Model::new(ElementType::Float64, 5000, 3) });
    old.write(&path);
    let runtime = runtime(2);
    let error = new.write_with(&runtime, &path, false).unwrap_err();
    assert!(matches!(error, Error::Exists { is_image: true, .. }), "{error}");
    let image = DenseImage::open(&runtime, &path).unwrap();
    image.use_cache(u64::MAX).unwrap();
    old.compare(&image, 3).unwrap();
    new.write_with(&runtime, &path, true).unwrap();
    let replaced = DenseImage::open(&runtime, &path).unwrap();
    replaced.use_cache(u64::MAX).unwrap();
    for _ in 0..2 {
        new.compare(&replaced, 3).unwrap();
        old.compare(&image, 3).unwrap();
    }
    assert_eq!(names(directory.path()), ["array.oc"]);
    // Files of other programs are not removed.
    std::fs::create_dir(path.join("columns")).unwrap();
    let error = old.write_with(&runtime, &path, true).unwrap_err().to_string();
    assert!(error.contains("nothing but files of the image") && error.contains("columns"), "{error}");
    std::fs::remove_dir(path.join("columns")).unwrap();
    std::fs::write(path.join("out.pages"), "x").unwrap();
    assert!(old.write_with(&runtime, &path, true).unwrap_err().to_string().contains("out.pages"));
    std::fs::remove_file(path.join("out.pages")).unwrap();
    old.write_with(&runtime, &path, true).unwrap();
}

#[test]
fn an_image_that_another_process_replaces_is_replaced_afterwards() {
    let (directory, path) = temporary();
    let [old, new] = [1, 2].map(|seed| Model { seed, ..Model::new(ElementType::Float64, 100, 2) });
    old.write(&path);
    let (runtime, is_free) = (runtime(1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let lock = Posix.lock(&path).unwrap().expect("no process has it");
        let replacing = scope.spawn(|| {
            new.write_with(&runtime, &path, true).unwrap();
            assert!(is_free.load(Ordering::Relaxed), "it was replaced while another process had the lock");
        });
        std::thread::sleep(Duration::from_millis(200));
        is_free.store(true, Ordering::Relaxed);
        drop(lock);
        replacing.join().unwrap();
    });
    new.compare(&DenseImage::open(&runtime, &path).unwrap(), 1).unwrap();
    // The wait ends on request, and leaves the older image.
    let _lock = Posix.lock(&path).unwrap().expect("no process has it");
    std::thread::scope(|scope| {
        let replacing = scope.spawn(|| old.write_with(&runtime, &path, true));
        std::thread::sleep(Duration::from_millis(50));
        runtime.cancel().cancel();
        assert!(replacing.join().unwrap().is_err());
    });
    runtime.cancel().reset();
    new.compare(&DenseImage::open(&runtime, &path).unwrap(), 1).unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn graphs_and_arrays_are_not_taken_for_each_other() {
    let (_directory, path) = temporary();
    Model::new(ElementType::Float64, 10, 1).write(&path);
    let runtime = runtime(1);
    let errors = [
        Image::open(&runtime, &path, ImageOptions::default()).unwrap_err().to_string(),
        read_manifest(runtime.backend(), &path).unwrap_err().to_string(),
    ];
    for error in errors {
        assert!(error.contains("manifest.json: expected a graph, found an array: "), "{error}");
    }
    assert!(
        matches!(read_any_manifest(runtime.backend(), &path).unwrap(), AnyManifest::Array(found) if found.rows == 10)
    );
    let text = std::fs::read_to_string(path.join(MANIFEST)).unwrap();
    let refused = |from: &str, to: &str| {
        std::fs::write(path.join(MANIFEST), text.replace(from, to)).unwrap();
        DenseImage::open(&runtime, &path).unwrap_err().to_string()
    };
    let error = refused(DENSE_FORMAT_NAME, "outcore graph");
    assert!(error.contains("manifest.json: expected an array, found a graph: "), "{error}");
    let error = refused("\"format_version\": 2", "\"format_version\": 3");
    assert!(error.contains("a newer Outcore may read it"), "{error}");
    for (name, advice) in [("nothing.oc", "save an array"), ("array.oc/values.pages", "import it as an array")] {
        let error = DenseImage::open(&runtime, path.with_file_name(name)).unwrap_err().to_string();
        assert!(error.contains(advice), "{error}");
    }
    std::fs::remove_file(path.join(MANIFEST)).unwrap();
    let error = DenseImage::open(&runtime, &path).unwrap_err().to_string();
    assert!(error.contains("it has no manifest.json"), "{error}");
}

/// Writes an image on a device whose operation `k` fails, and checks the files afterwards; returns whether it failed.
fn write_failing(k: u64, replace: bool) -> bool {
    let [old, new] = [1, 2].map(|seed| Model { seed, ..Model::new(ElementType::Float64, 40_000, 2) });
    let (directory, path) = temporary();
    if replace {
        old.write(&path);
    }
    let sim = Arc::new(Sim::new(Faults { fail_at: Some(k), seed: k, ..Faults::default() }));
    let written = new.write_with(&runtime_under(1, 32 * MIB, Some(sim.clone())), &path, replace);
    let there = names(directory.path());
    let hidden = there.iter().filter(|name| name.starts_with('.')).count();
    let has_failed = sim.operations() > k;
    // Files that cannot be removed stay, for the next operation.
    assert!(hidden <= usize::from(has_failed), "{k}: {there:?}");
    assert_eq!(there.len() - hidden, usize::from(replace || written.is_ok()), "{k}: {there:?}");
    if replace || written.is_ok() {
        let image = DenseImage::open(&runtime(1), &path).unwrap();
        if written.is_ok() { new } else { old }.compare(&image, 4).unwrap();
    }
    match written {
        Err(error) => assert!(error.to_string().contains("Input/output error"), "{k}: {error}"),
        // A failure to remove the old image need not be reported.
        Ok(()) => assert!(replace || !has_failed, "operation {k} failed, and nobody said so"),
    }
    if !has_failed {
        assert!(k > 10, "{k} operations");
        assert_eq!(sim.unsynced(), Vec::<PathBuf>::new());
    }
    has_failed
}

#[test]
fn any_failure_while_writing_leaves_the_old_image_or_the_new_one() {
    for replace in [false, true] {
        assert!((0..1000).any(|k| !write_failing(k, replace)));
    }
}

#[test]
fn any_failure_while_reading_is_reported_and_reading_can_go_on() {
    let (_directory, path) = temporary();
    let model = Model::new(ElementType::Int16, 50_000, 3);
    model.write(&path);
    for k in 0.. {
        let faults = Faults { fail_at: Some(k), short_reads_percent: 40, seed: k, ..Faults::default() };
        let sim = Arc::new(Sim::new(faults));
        let runtime = runtime_under(1, 32 * MIB, Some(sim.clone()));
        let image = match DenseImage::open(&runtime, &path) {
            Ok(image) => image,
            Err(error) => {
                assert!(error.to_string().contains("Input/output error"), "{k}: {error}");
                continue;
            }
        };
        image.use_cache(MIB / 8).unwrap();
        let mut reader = DenseReader::new(&image, 16 * PAGE_BYTES).unwrap();
        match model.compare_runs(&mut reader, &AtomicU64::new(0), 4) {
            Ok(()) => {
                assert!(sim.operations() <= k && k > 20, "{k} of {}", sim.operations());
                break;
            }
            Err(error) => {
                assert!(error.to_string().contains("Input/output error"), "{k}: {error}");
                // There is one failure only, and the runs pushed before it are abandoned.
                assert!(reader.next().unwrap().is_none());
                model.compare_runs(&mut reader, &AtomicU64::new(0), 4).unwrap();
            }
        }
    }
}

#[test]
fn what_the_device_damages_is_noticed_and_never_cached() {
    let (_directory, path) = temporary();
    let model = Model::new(ElementType::Float64, 20_000, 2);
    model.write(&path);
    for (k, is_torn) in (0..30).flat_map(|k| [(k, false), (k, true)]) {
        let (flip_at, tear_at) = if is_torn { (None, Some(k)) } else { (Some(k), None) };
        let sim = Arc::new(Sim::new(Faults { flip_at, tear_at, seed: k, ..Faults::default() }));
        let image = DenseImage::open(&runtime_under(1, 32 * MIB, Some(sim)), &path).unwrap();
        image.use_cache(u64::MAX).unwrap();
        let damaged = |_: &i32| matches!(model.compare(&image, 2), Err(Error::Corrupt { .. }));
        assert_eq!((0..2).filter(damaged).count(), 1, "read {k}");
        model.compare(&image, 2).unwrap();
    }
}

#[test]
fn a_full_disk_leaves_nothing() {
    let (directory, path) = temporary();
    let model = Model::new(ElementType::Float64, 40_000, 3);
    for full_after_bytes in [0, 4096, 100_000, 900_000] {
        let sim = Arc::new(Sim::new(Faults { full_after_bytes: Some(full_after_bytes), ..Faults::default() }));
        let error = model.write_with(&runtime_under(2, 32 * MIB, Some(sim)), &path, false).unwrap_err().to_string();
        assert!(error.contains("No space") || error.contains("an earlier write failed"), "{error}");
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
fn a_writer_that_is_dropped_or_has_not_all_pages_leaves_nothing() {
    let (directory, path) = temporary();
    let model = Model::new(ElementType::Float64, 40_000, 3);
    let runtime = runtime(2);
    let available_bytes = runtime.budget().available_bytes();
    for put in [0, 1, 200] {
        let writer = DenseWriter::create(&runtime, &path, model.head(), false).unwrap();
        let mut worker = writer.worker().unwrap();
        let shape = writer.manifest().shape();
        for place in (0..put).map(|page| shape.place(page)) {
            let values = model.values(place.first_row, place.column, place.rows);
            worker.put(place.first_row, place.column, &values).unwrap();
        }
        assert_eq!(names(directory.path()).len(), 1);
        if put == 1 {
            // The worker still exists, and its unwritten pages vanish too.
            drop(writer);
        } else {
            worker.finish().unwrap();
            let error = writer.commit().unwrap_err().to_string();
            assert!(error.contains("237 pages") && error.contains(&format!("{put} that were put")), "{error}");
        }
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
    assert_eq!(runtime.budget().available_bytes(), available_bytes);
}

#[test]
fn leftovers_of_killed_writers_are_removed_and_images_put_back() {
    let (directory, path) = temporary();
    let model = Model::new(ElementType::UInt8, 10_000, 2);
    model.write(&path);
    let left = directory.path().join(".array.oc.00000000000000aa.outcore-partial");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("values.pages"), "x").unwrap();
    // A process was killed while it replaced the image on a file system that cannot exchange names.
    std::fs::rename(&path, directory.path().join(".array.oc.00000000000000bb.outcore-replaced")).unwrap();
    let error = model.write_with(&runtime(1), &path, false).unwrap_err();
    assert!(matches!(error, Error::Exists { is_image: true, .. }), "{error}");
    let other = Model { seed: 2, ..model };
    let sim = Arc::new(Sim::new(Faults { no_exchange: true, ..Faults::default() }));
    other.write_with(&runtime_under(1, 32 * MIB, Some(sim)), &path, true).unwrap();
    assert_eq!(names(directory.path()), ["array.oc"]);
    other.compare(&DenseImage::open(&runtime(1), &path).unwrap(), 2).unwrap();
}
