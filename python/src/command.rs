//! The command, for the launcher of the wheel (`python/packaging/launcher.c`), which loads this module for it. No
//! interpreter runs then, so nothing here may call Python.
#![allow(unsafe_code)] // why: `no_mangle` counts as unsafe, as a name may be taken twice

use std::ffi::{CStr, c_char, c_int};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!(),
};

/// The version of the package, for a launcher that has to tell its module from another.
#[unsafe(no_mangle)]
extern "C" fn outcore_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Runs the command with the arguments of the process, and returns its exit code: that of Rust if it panics.
#[unsafe(no_mangle)]
extern "C" fn outcore_command() -> c_int {
    std::panic::catch_unwind(outcore_cli::run).map_or(101, c_int::from)
}
