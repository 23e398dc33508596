//! A thread that the operating system refuses is an error, and work that had begun ends.

use outcore_io::backend::Posix;
use outcore_io::{DataFile, Error, Reader, Runtime, RuntimeOptions};
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

fn in_child() {
    let options = RuntimeOptions {
        memory_bytes: Some(1 << 30),
        threads: Some(3),
        backend: Some(Arc::new(Posix)),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(options).unwrap();
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
