//! Declared operations: names, options and files, the kinds of values that options take, and the values of a run.
//!
//! Algorithms, solvers, statistics and models are [`Declared`]: they have a name, a summary and options, which are
//! [`Parameter`]s. The shell and Python turn texts and objects into [`Value`]s, which a parameter checks;
//! [`OptionValues`] add the defaults.
#![forbid(unsafe_code)]

mod choice;
mod declaration;
mod parameter;
mod values;

pub use choice::Choice;
pub use declaration::{Declaration, Declared, Fact, InputFile, NamedFact, NotConverged, Signature, named};
pub use parameter::{DefaultValue, Kind, Parameter, Value, option_of, real_text};
pub use values::{Names, OptionValues};

#[doc(hidden)]
pub use outcore_image::{Error, Result};
