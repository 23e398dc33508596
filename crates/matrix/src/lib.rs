//! Sparse matrices larger than memory, times dense ones that fit.
//!
//! A [`SparseMatrix`] is an image of a graph, read as a matrix: vertices in the order of their ids are rows and
//! columns, an edge from `u` to `v` is the entry in row `u` and column `v`, and its weight is the entry's value.
//! [`SparseMatrix::multiply`] reads the image once for as many columns as memory has room for. What adds and what
//! multiplies is a [`Semiring`]. [`SparseMatrix::multiply_streamed`] takes factors and products in files.
//! Solvers multiply in the order of the image: [`SparseMatrix::multiply_stored`].
//!
//! Why lists and no tiles: `docs/decisions/0016-matrices-are-lists.md`.

mod dense;
mod dense_table;
mod diagonal;
mod kernel;
mod magnitudes;
mod npy;
mod places;
mod product_file;
mod semiring;
mod sparse;
mod stored;
mod streamed;
mod sums;

pub use dense::{DenseFile, DenseLayout};
pub use product_file::ProductFile;
pub use semiring::Semiring;
pub use sparse::{MOST_COLUMNS, MultiplyPlan, Operand, SparseMatrix};
pub use stored::{StoredFile, StoredProduct, StoredTarget};
pub use streamed::{DenseFactor, DenseProduct, StreamedProduct, UnnamedProduct};
pub use sums::EntrySums;
