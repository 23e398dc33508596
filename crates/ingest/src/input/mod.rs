//! Files, standard input and bytes in memory, from a name to a stream of decompressed bytes.
//!
//! Folders and patterns are expanded to files; archives of one file and the usual codings are unpacked on the way,
//! within the memory that the budget grants.

pub(crate) mod archive;
#[cfg(feature = "bzip2")]
pub(crate) mod bzip2_streams;
pub(crate) mod coding;
pub(crate) mod context;
pub(crate) mod counted_file;
pub(crate) mod file;
pub(crate) mod folders;
pub(crate) mod gzip_members;
pub(crate) mod partitions;
#[cfg(feature = "xz")]
pub(crate) mod xz_streams;
pub(crate) mod zip_member;
pub(crate) mod zstd_frames;
