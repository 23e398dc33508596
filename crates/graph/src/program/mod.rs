//! Vertex programs: their interface, the engine that runs them, and the messages between vertices.

pub(crate) mod engine;
pub(crate) mod messages;
pub(crate) mod vertex_program;
