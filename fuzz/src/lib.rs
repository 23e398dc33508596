//! Fuzzers for everything in Outcore that reads bytes: parsers, pages, columns, text, indexes, manifests, whole images;
//! and for expressions over arrays, which are compared with a plain interpreter.
//!
//! A [`Target`] is a function of bytes that must return, whatever the bytes are: a panic, a hang or memory without
//! bound is a bug. The runner (`main.rs`) is a plain program: it replays the kept inputs and makes new ones by mutation
//! ([`mutate`]). It needs nothing but stable Rust, so it runs wherever the tests do. A coverage-guided fuzzer
//! (cargo-fuzz) finds more per hour but needs a nightly compiler and a C++ one; it can call the same functions:
//! `fuzz_target!(|bytes: &[u8]| (outcore_fuzz::target("open").unwrap().run)(bytes))`.
//!
//! In place of coverage, targets [`note`] what became of an input, mostly the error's text. Errors say what was
//! expected and what was found, so a text that was not seen before is, numbers aside, a branch that was not taken
//! before, and the input is worth mutating further.
#![forbid(unsafe_code)]

mod expressions;
mod image;
pub mod mutate;
mod pages;
mod parsers;
mod reference;

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Something that reads bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, also of its folder in the corpus.
    pub name: &'static str,
    /// Reads bytes; returns, whatever they are.
    pub run: fn(&[u8]),
    /// Pieces that its inputs are made of.
    pub tokens: &'static [&'static [u8]],
    /// The longest input that is worth making, in bytes.
    pub most_bytes: usize,
    /// A process that holds more has allocated by a number in its input.
    pub most_memory_bytes: u64,
}

/// Memory limit of all targets but one.
const MOST_MEMORY_BYTES: u64 = 1 << 30;

/// All targets.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    parsers::TARGETS.iter().chain(pages::TARGETS).chain(image::TARGETS).chain(expressions::TARGETS)
}

/// The target of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    targets().find(|target| target.name == name)
}

thread_local! {
    static NOTED: Cell<u64> = const { Cell::new(0) };
}

/// Adds what became of an input to what tells it from others; digits do not count, nor what is quoted from the input.
pub fn note(outcome: &str) {
    let mut hasher = DefaultHasher::new();
    NOTED.get().hash(&mut hasher);
    let expected = outcome.split_once(", found `").map_or(outcome, |(expected, _)| expected);
    let unquoted = expected.split(['`', '"']).step_by(2).flat_map(str::bytes);
    unquoted.filter(|byte| !byte.is_ascii_hexdigit()).for_each(|byte| byte.hash(&mut hasher));
    NOTED.set(hasher.finish());
}

/// Runs a target; returns a number that inputs share if the same became of them.
pub fn run(target: &Target, bytes: &[u8]) -> u64 {
    NOTED.set(0);
    (target.run)(bytes);
    NOTED.get()
}

/// Notes an outcome and gives back what there is.
fn noted<T, E: std::fmt::Display>(result: Result<T, E>) -> Option<T> {
    match result {
        Ok(value) => {
            note("ok");
            Some(value)
        }
        Err(error) => {
            note(&error.to_string());
            None
        }
    }
}
