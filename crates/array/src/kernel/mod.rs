//! Functions of short vectors of about 508 elements: the kernels with which expressions are evaluated, vector by
//! vector.
//!
//! All functions here are pure: no I/O, and no memory of their own. A call finds its loop by one match over function
//! and type; a loop is compiled for several processors (`simd.rs`), and results have the same bits on all of them, but
//! for the bits inside of NaN. A boolean is a byte of 1 or 0.
//!
//! `values.rs` has the vectors, `function.rs` the names and types of functions, `unary.rs` and `binary.rs` their loops,
//! `math.rs` the polynomials. `convert.rs` casts and selects, `fold.rs` and `statistics.rs` reduce, `transpose.rs`
//! turns rows into vectors, and `random.rs` makes random ones.

mod binary;
mod convert;
mod distances;
mod fold;
mod function;
mod group;
mod math;
pub(crate) mod random;
pub(crate) mod simd;
mod statistics;
mod transpose;
mod unary;
mod values;

pub use binary::binary;
pub use convert::{cast, select};
pub use distances::{Real, squared_distances};
pub use fold::{Fold, accumulate, arg_accumulate, arg_reduce, identity, reduce};
pub use function::{Binary, Unary, promote, promote_mixed};
pub use group::{group_accumulate, set_each};
pub use random::{Stream, random_bernoulli, random_exponential, random_integers, random_normal, random_uniform};
pub use simd::{Loop, widest};
pub use statistics::{
    Moments, accumulate_absolute_difference, accumulate_not_equal, accumulate_product, accumulate_squared_difference,
    count_nonzero, moments,
};
pub use transpose::{RowMajor, transpose, transpose_back};
pub use unary::unary;
pub use values::{Argument, Element, Scalar, Values, ValuesMut};
