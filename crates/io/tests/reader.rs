//! Every back end reads the same bytes, in order, on any device, or reports what failed.

use outcore_io::backend::{Backend, Faults, Posix, Sim};
use outcore_io::{DataFile, Error, Reader, Result, Runtime, RuntimeOptions};
use std::io::Write;
use std::sync::Arc;

const PAGES: usize = 300;

fn file() -> (tempfile::NamedTempFile, Vec<u8>) {
    let bytes: Vec<u8> = (0..PAGES * 4096).map(|i| (i * 31 + i / 4096 * 7) as u8).collect();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    (file, bytes)
}

fn backends(seed: u64) -> Vec<Arc<dyn Backend>> {
    let sim = Sim::new(Faults { seed, short_reads_percent: 40, ..Faults::default() });
    vec![Arc::new(Posix), Arc::new(sim), outcore_io::backend::best()]
}

fn runtime(backend: &Arc<dyn Backend>) -> Result<Runtime> {
    let (memory_bytes, backend) = (Some(1 << 30), Some(Arc::clone(backend)));
    Runtime::new(RuntimeOptions { memory_bytes, backend, ..RuntimeOptions::default() })
}

/// Reads extents of many sizes through a ring of `ring_pages` and compares them with the file.
fn read_all(backend: &Arc<dyn Backend>, ring_pages: usize) -> Result<u64> {
    let (temporary, bytes) = file();
    let data = Arc::new(DataFile::open(temporary.path())?.direct());
    let mut reader = Reader::new(&runtime(backend)?, &[data], ring_pages * 4096)?;
    let extents: Vec<(usize, usize)> =
        (0..500).map(|i| ((i * 37) % PAGES, 1 + (i * i) % 8)).map(|(at, len)| (at, len.min(PAGES - at))).collect();
    let (mut pushed, mut seen) = (0, 0);
    while seen < extents.len() {
        while pushed < extents.len() {
            let (at, len) = extents[pushed];
            if !reader.push(0, at as u64 * 4096, len * 4096, pushed as u64)? {
                break;
            }
            pushed += 1;
        }
        reader.submit()?;
        let extent = reader.next()?.expect("an extent is under way");
        assert_eq!(extent.tag, seen as u64);
        let (at, len) = extents[seen];
        assert!(
            extent.bytes == &bytes[at * 4096..(at + len) * 4096],
            "{} ring {ring_pages} extent {seen} at {at} len {len}",
            backend.name()
        );
        seen += 1;
    }
    assert!(reader.next()?.is_none());
    Ok(reader.take_stats().read_bytes)
}

#[test]
fn all_back_ends_bring_the_same_bytes() {
    for seed in 0..5 {
        for backend in backends(seed) {
            for ring_pages in [8, 9, 64, 1000] {
                assert!(read_all(&backend, ring_pages).unwrap() > 4096, "{}", backend.name());
            }
        }
    }
}

#[test]
fn the_failure_of_any_read_is_reported() {
    let mut failures = 0;
    for k in (0..).step_by(17) {
        let sim =
            Arc::new(Sim::new(Faults { seed: k, fail_at: Some(k), short_reads_percent: 10, ..Faults::default() }));
        let backend: Arc<dyn Backend> = sim.clone();
        match read_all(&backend, 16) {
            Ok(_) => {
                assert!(sim.operations() <= k);
                break;
            }
            Err(Error::File { operation, offset_bytes, .. }) => {
                assert_eq!(operation, "read");
                assert!(offset_bytes.is_some());
                failures += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(failures > 20);
}

#[test]
fn a_file_that_ends_early_is_reported() {
    let (temporary, _) = file();
    for backend in backends(1) {
        let data = Arc::new(DataFile::open(temporary.path()).unwrap().direct());
        let mut reader = Reader::new(&runtime(&backend).unwrap(), &[data], 64 * 4096).unwrap();
        assert!(reader.push(0, (PAGES as u64 - 1) * 4096, 3 * 4096, 0).unwrap());
        reader.submit().unwrap();
        let error = reader.next().err().expect("the file has only one of three pages").to_string();
        assert!(error.contains("ends 8192 bytes too early"), "{}: {error}", backend.name());
        // It does not wait for reads that will not come, nor go on behind them, until it is cleared.
        for _ in 0..2 {
            let failed = |again: Result<()>| matches!(again, Err(Error::StreamFailed { earlier }) if earlier == error);
            assert!(failed(reader.next().map(drop)) && failed(reader.push(0, 0, 4096, 1).map(drop)));
        }
        reader.clear();
        assert!(reader.push(0, 0, 4096, 1).unwrap());
        reader.submit().unwrap();
        assert_eq!(reader.next().unwrap().map(|extent| extent.tag), Some(1));
    }
}

#[test]
fn a_reader_serves_one_operation_after_the_other() {
    let (temporary, _) = file();
    let runtime = runtime(&outcore_io::backend::best()).unwrap();
    let data = Arc::new(DataFile::open(temporary.path()).unwrap().direct());
    let mut reader = Reader::new(&runtime, &[data], 64 * 4096).unwrap();
    let operations = [runtime.for_operation(None), runtime.for_operation(None)];
    for (operation, pages) in operations.iter().zip([1, 3]) {
        reader.serve(operation);
        assert!(reader.push(0, 0, pages * 4096, 0).unwrap());
        reader.submit().unwrap();
        assert!(reader.next().unwrap().is_some());
    }
    assert_eq!([&operations[0], &operations[1], &runtime].map(Runtime::bytes_read), [4096, 3 * 4096, 0]);
}

#[test]
fn a_file_that_becomes_shorter_while_it_is_open_is_reported_by_every_back_end() {
    for backend in backends(1) {
        // Inside a page, at a page, and before all that is read.
        for len_bytes in [4096 * 200 + 700, 4096 * 200, 4096 * 199 + 1, 17, 0] {
            let (temporary, _) = file();
            let data = Arc::new(DataFile::open(temporary.path()).unwrap().direct());
            let mut reader = Reader::new(&runtime(&backend).unwrap(), &[data], 64 * 4096).unwrap();
            temporary.as_file().set_len(len_bytes).unwrap();
            assert!(reader.push(0, 199 * 4096, 3 * 4096, 0).unwrap());
            reader.submit().unwrap();
            let error = reader.next().err().expect("the file has become shorter").to_string();
            let missing = 202 * 4096 - len_bytes;
            assert!(error.contains(&format!("ends {missing} bytes too early")), "{}: {error}", backend.name());
        }
    }
}

#[test]
fn reads_that_never_bring_a_page_end_with_an_error_or_a_request_to_stop() {
    let (temporary, _) = file();
    let sim: Arc<dyn Backend> = Arc::new(Sim::new(Faults { short_reads_percent: 100, ..Faults::default() }));
    for cancelled in [false, true] {
        let runtime = runtime(&sim).unwrap();
        let data = Arc::new(DataFile::open(temporary.path()).unwrap().direct());
        let mut reader = Reader::new(&runtime, &[data], 64 * 4096).unwrap();
        assert!(reader.push(0, 4096, 4096, 0).unwrap());
        if cancelled {
            runtime.cancel().cancel();
        }
        match reader.next().err().expect("no page is ever whole") {
            Error::Cancelled => assert!(cancelled),
            error => assert!(!cancelled && error.to_string().contains("end inside a page"), "{error}"),
        }
    }
}
