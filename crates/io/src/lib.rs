//! Devices, memory under a limit, and workers. This crate knows no format.
//!
//! A [`Runtime`] holds the memory limit, the number of workers and the storage; every operation above this crate is
//! given one. Memory is reserved in its [`Budget`] before it is allocated ([`buffer`]), and its page cache
//! ([`CacheShare`]) shrinks for reservations. No crate above this one touches a file by itself: a [`Backend`] opens,
//! reads, writes, syncs, renames and removes, a [`Reader`] keeps a worker's ring full of reads that are planned by
//! [`plan`], and temporary data is written to [`Spill`] and [`Streams`].
#![deny(unsafe_code)]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
compile_error!("Outcore needs Linux on a 64-bit little-endian processor, such as x86-64 or AArch64");

pub mod backend;
mod budget;
pub mod buffer;
mod cache;
mod directory;
mod error;
mod escape;
mod lanes;
mod lock;
mod mix;
mod pipe;
mod placed_writer;
pub mod plan;
mod process;
mod reader;
mod reserved;
mod runtime;
mod sampler;
mod shared_cache;
pub mod simd;
pub mod sort;
mod spill;
mod storage;
mod streams;
mod writer;

pub use backend::{Backend, random};
pub use budget::{Budget, LEAST_ADVICE_BYTES, Reclaim, Reservation};
pub use buffer::{AtomicF32, AtomicF64, Buffer};
pub use cache::{PageCache, PageKey, Pinned, PinnedRun};
pub use directory::{DataFile, Directory, folder};
pub use error::{
    Error, ErrorKind, Fuse, Holder, Outcome, Result, bytes_text, differing_texts, enough_bytes, limit_text, parse_bytes,
};
pub use escape::escaped;
pub use lock::{into_inner, lock};
pub use mix::{SPLIT_MIX_STEP, split_mix};
pub use pipe::PipeReader;
pub use placed_writer::{PlacedOptions, PlacedWriter};
pub use process::{
    cpu_seconds, current_memory_bytes, fill_standard_descriptors, give_back_freed_memory, ignores_signal,
    let_go_of_code, limit_arenas, peak_memory_bytes, trim_freed_memory,
};
pub use reader::{Extent, ReadAhead, Reader, ReaderStats};
pub use reserved::ReservedVec;
pub use runtime::{
    CancelFlag, CancelOnDrop, MOST_THREADS, Progress, Runtime, RuntimeOptions, Task, Turn, Unit, is_making_rows,
    making_rows, processors,
};
pub use sampler::{MOST_SAMPLES, Sample, Sampler, Watch};
pub use shared_cache::CacheShare;
pub use spill::{Spill, SpillReader, SpillWriter, SpillWriters};
pub use storage::Input;
pub use streams::{Chain, Sink, Streams};
pub use writer::Writer;
