//! A graph on its way out: its edges and vertices in order, as Arrow batches, and as files of other programs.

pub(crate) mod cells;
pub(crate) mod edge_batches;
pub(crate) mod edge_stream;
pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod records;
pub(crate) mod table;
pub(crate) mod vertex_batches;
pub(crate) mod xml;
