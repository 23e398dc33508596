//! The engine: an open graph, sweeps over its pages, and the visits of whole lists that are built on them.
//!
//! `graph.rs` is the open image and its indexes; `sweep.rs` selects, reads and decodes pages; `scan.rs` and `lists.rs`
//! hand lists to visitors on all workers; `few.rs` visits a few cached lists on the calling thread, with the marks that
//! `guides.rs` caches; `decode.rs` and `gather.rs` are the SIMD loops.

pub(crate) mod columns;
pub mod decode;
pub(crate) mod degree_class;
pub(crate) mod few;
pub(crate) mod gather;
pub(crate) mod graph;
pub(crate) mod guides;
pub(crate) mod lists;
pub(crate) mod ordered;
pub(crate) mod scan;
pub(crate) mod sweep;
pub(crate) mod vertex_set;
pub(crate) mod weights;
