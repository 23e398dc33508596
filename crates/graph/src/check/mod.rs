//! Verification of an image: every byte of its pages, lists and ids, and the agreement of its files.

pub(crate) mod ids;
pub(crate) mod image;
pub(crate) mod lists;
