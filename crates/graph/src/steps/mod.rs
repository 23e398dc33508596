//! Synchronous steps: a frontier moved along edges, by pushing or by pulling, and functions applied to all vertices.

pub(crate) mod active;
pub(crate) mod edge_map;
pub(crate) mod vertex_map;
