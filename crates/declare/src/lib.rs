//! Declared options: the kinds of values that they take, their defaults, and the values of a run.
//!
//! Algorithms, solvers and statistics declare their options as [`Parameter`]s. The shell and Python turn texts and
//! objects into [`Value`]s, which a parameter checks; [`Values`] add the defaults. Whatever has a name and options is
//! [`Declared`].
#![forbid(unsafe_code)]

mod choice;
mod parameter;
mod values;

pub use choice::Choice;
pub use parameter::{DefaultValue, Kind, Parameter, Value, option_of, real_text};
pub use values::{Declared, Names, Values};
