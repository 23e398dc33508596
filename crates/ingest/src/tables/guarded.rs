//! Decoders of other libraries, which may panic on damaged files: that is caught here and becomes an error.

use outcore_image::Error;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread is caught and becomes an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics that become errors from the standard error, for programs: sets the panic hook of the process, once, to
/// one that passes all other panics on. Libraries leave the hook alone; without this, a damaged file prints what the
/// decoder panicked about, and is refused all the same.
pub fn hide_guarded_panics() {
    static HIDE: Once = Once::new();
    HIDE.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                print(panic);
            }
        }));
    });
}

/// Runs a decoder of another library; its panic is an error of the file.
pub fn guarded<T>(work: impl FnOnce() -> std::result::Result<T, String>) -> std::result::Result<T, String> {
    let was_guarded = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    outcome.unwrap_or_else(|_| Err("the decoder broke down on the data".to_owned()))
}

/// A file that a decoder refuses.
pub fn damaged(path: &Path, expected: &str, error: &str) -> Error {
    let found = |what: &str| Error::input(path, None, expected, format!("{what} ({error})"));
    if error.contains("(os error ") {
        return found("a failure of the operating system")
            .advise("the file need not be damaged: mend the cause and try again");
    }
    if error.contains("Disabled feature at compile time") {
        return found("a compression that is not read").advise("write the file again with zstd, lz4, snappy or gzip");
    }
    found("damaged or unsupported data").advise(
        "the file is truncated or damaged, has columns of a type that is not read, such as integers of 128 bits, or is \
         in another format: see --format",
    )
}
