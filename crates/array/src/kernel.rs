//! Functions of vectors of elements.
