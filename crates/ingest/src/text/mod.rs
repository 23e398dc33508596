//! Formats of lines, and their shared parts: blocks of whole lines, columns, numbers, detection.
//!
//! A reader of a format decides how lines are read from the first lines of the file. Blocks of whole lines are then
//! parsed by all workers at a time.
//!
//! A format whose lines can be parsed apart from each other is a `text_source` (`source.rs`), with a parser of blocks.
//! Where a line depends on earlier ones it is opened with `records::open` (`documents/records.rs`), as a document that
//! one thread reads. SIF, whose lines name an interaction for several vertices, is read as records, too.

pub(crate) mod adjacency;
pub(crate) mod ascii_graph;
pub(crate) mod blocks;
pub(crate) mod columns;
pub(crate) mod detect;
pub(crate) mod dimacs;
pub(crate) mod doubts;
pub(crate) mod edge_list;
pub(crate) mod graphalytics;
pub(crate) mod konect;
pub(crate) mod metis;
pub(crate) mod number;
pub(crate) mod own_comment;
pub(crate) mod sample;
pub(crate) mod separator;
pub(crate) mod sif;
pub(crate) mod size_line;
pub(crate) mod source;
pub(crate) mod times;
pub(crate) mod tntp;
pub(crate) mod vertex_lines;
