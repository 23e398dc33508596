//! A thread that the operating system refuses is an error, and work that had begun ends.

use outcore_io::backend::Posix;
use outcore_io::{DataFile, Error, ReadAhead, Reader, Runtime, RuntimeOptions, Writer};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Set for the child process, in which every thread asks for a stack larger than the address space.
const REFUSED: (&str, &str) = ("RUST_MIN_STACK", "4611686018427387904");

#[test]
fn a_thread_that_is_refused_is_an_error() {
    if std::env::var(REFUSED.0).as_deref() == Ok(REFUSED.1) {
        return in_child();
    }
    // With one thread for tests, a test runs on the main thread.
    let test = ["--exact", "a_thread_that_is_refused_is_an_error", "--test-threads=1", "--nocapture"];
    let child = Command::new(std::env::current_exe().unwrap()).args(test).env(REFUSED.0, REFUSED.1).output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && output.contains("every thread was refused"), "{output}");
}

fn posix_runtime(threads: usize) -> Runtime {
    let options = RuntimeOptions {
        memory_bytes: Some(1 << 30),
        threads: Some(threads),
        backend: Some(Arc::new(Posix)),
        ..RuntimeOptions::default()
    };
    Runtime::new(options).unwrap()
}

/// The number of threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn streams_and_writers_side_by_side_have_few_threads() {
    let runtime = posix_runtime(2);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let bytes: Vec<u8> = (0..16 * 4096_u32).map(|place| (place / 4096) as u8).collect();
    std::fs::write(&file, bytes).unwrap();
    let data = Arc::new(DataFile::open(&file).unwrap());
    // Other tests of this process may start some meanwhile.
    let before = threads() + 8;
    let ahead = ReadAhead { extents: 4, extent_bytes: 4096 };
    let mut readers: Vec<Reader> = (0..40).map(|_| Reader::ahead(&runtime, &data, ahead).unwrap()).collect();
    assert!(threads() <= before + 2 * 40, "{}", threads());
    let writer = |number| Writer::create(&runtime, "a test", &directory.path().join(number), 1 << 16).unwrap();
    let mut writers: Vec<Writer> = (0..40).map(|number| writer(format!("{number}"))).collect();
    assert!(threads() <= before + 4 * 40, "{}", threads());
    // Beyond the threads of all queues, whoever waits performs the requests.
    readers.extend((0..200).map(|_| Reader::ahead(&runtime, &data, ahead).unwrap()));
    readers.extend((0..40).map(|_| Reader::new(&runtime, &[Arc::clone(&data)], 4 * 4096).unwrap()));
    assert!(threads() <= before + 256, "{}", threads());
    for reader in &mut readers {
        for page in 0..16 {
            while !reader.push(0, 4096 * page, 4096, page).unwrap() {
                assert!(reader.next().unwrap().is_some());
            }
        }
        reader.submit().unwrap();
        let mut last = 0;
        while let Some(extent) = reader.next().unwrap() {
            assert!(extent.bytes.iter().all(|&byte| u64::from(byte) == extent.tag));
            last = extent.tag;
        }
        assert_eq!(last, 15);
    }
    for mut writer in writers.drain(..) {
        writer.put(&[7; 300_000]).unwrap();
        writer.finish().unwrap();
    }
    assert!((0..40).all(|number| std::fs::read(directory.path().join(format!("{number}"))).unwrap() == [7; 300_000]));
    drop(readers);
    let others = (0..40).map(|_| Reader::ahead(&runtime, &data, ahead).unwrap()).collect::<Vec<_>>();
    assert!(threads() >= 2 * others.len(), "threads that have ended are given back");
}

fn in_child() {
    let runtime = posix_runtime(3);
    let begun = AtomicUsize::new(0);
    let outcome = runtime.run(|_| Ok::<_, Error>(begun.fetch_add(1, Ordering::Relaxed)));
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::ThreadRefused { .. }) && error.to_string().contains("fewer threads"), "{error}");
    assert_eq!(begun.load(Ordering::Relaxed), 0);
    assert_eq!(runtime.run_on(1, Ok::<_, Error>).unwrap(), [0], "the calling thread is there already");
    let file = tempfile::NamedTempFile::new().unwrap();
    let data = Arc::new(DataFile::open(file.path()).unwrap());
    let refused = Reader::new(&runtime, &[data], 4096).err();
    assert!(matches!(refused, Some(Error::ThreadRefused { .. })), "{refused:?}");
    println!("every thread was refused");
}
