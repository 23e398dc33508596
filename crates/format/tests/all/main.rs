//! Tests of the format in one program: the codec, its specification, and images of released versions.

mod golden;
mod guide;
mod lists;
mod specification;
