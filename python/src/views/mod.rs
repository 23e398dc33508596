//! Views of a graph: its vertices, its edges and its degrees, as NetworkX has them, but streamed: batches of Arrow, or
//! ids and tuples of Python's one batch after the other.

mod data;
mod degrees;
mod edges;
mod nodes;
mod rows;

pub use data::Data;
pub use degrees::PyDegrees;
pub use edges::PyEdges;
pub use nodes::PyNodes;
pub use rows::Rows;
