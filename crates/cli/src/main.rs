//! The `outcore` command as a program of its own.
#![allow(unsafe_code)] // why: the section of a static counts as unsafe

/// Runs before the start of Rust, which opens standard descriptors that are closed.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_START: extern "C" fn() = {
    extern "C" fn fill() {
        outcore_cli::fill_standard_descriptors();
    }
    fill
};

fn main() -> std::process::ExitCode {
    outcore_cli::run().into()
}
