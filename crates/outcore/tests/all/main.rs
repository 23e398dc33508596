//! Integration tests of the facade as a library, one module each, in one program.

mod arrays;
mod closures;
mod embedding;
mod extremes;
mod names;
mod refusals;
mod results;
mod saving;
mod surface;
mod tasks;
mod verifiers;
