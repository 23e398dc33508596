//! Integration tests of the facade as a library, one module each, in one program.

mod embedding;
mod refusals;
