//! Tests of arrays in one program. Those of the memory of the process (`out_of_core.rs`) and of its level of vector
//! instructions (`levels.rs`) have programs of their own.

mod axes;
mod distances;
mod element_folds;
mod failures;
mod golden;
mod kernels;
mod npy;
mod row_folds;
mod spaced;
mod sparse;
mod table;
