//! The `outcore` command as a program of its own.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    outcore_cli::run().into()
}
