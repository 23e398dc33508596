//! External numbering of vertices: ids of any type become dense numbers in bounded memory.
//!
//! Every worker numbers the ids it reads with a dictionary. Full dictionaries become sorted runs on disk; the merge of
//! all runs gives every id its final number.

pub(crate) mod dictionary;
pub(crate) mod heap;
pub(crate) mod runs;
