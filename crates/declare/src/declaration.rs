//! Declarations: what an operation is called, which options it takes, and which files it reads and writes.

use crate::parameter::Parameter;
use serde::ser::{Serialize, SerializeSeq, Serializer};

/// An operation with a name and options: an algorithm, a solver, a statistic or a model.
pub trait Declared {
    /// Its name, its texts and its options.
    fn signature(&self) -> Signature;
}

/// The name of an operation, its texts and its options.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Its name in Rust, in Python and in the shell, which writes `-` for `_`.
    pub name: &'static str,
    /// Other names that it has in Python and in the shell.
    pub aliases: &'static [&'static str],
    /// Its result, in a sentence without a full stop.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [Parameter],
    /// Whether a run that did not converge is an error, unless the user allows it.
    pub must_converge: bool,
    /// The option whose number of members the option `k` of estimates stands for.
    pub counted: Option<&'static str>,
}

/// The operation of this name or alias, in Python or in the shell.
pub fn named<T: Declared>(all: &'static [&'static T], name: &str) -> Option<&'static T> {
    let name = name.replace('-', "_");
    let is_meant = |Signature { name: own, aliases, .. }| own == name || aliases.contains(&&*name);
    all.iter().copied().find(|declared| is_meant(declared.signature()))
}

/// A solver, a statistic or a model, as it is declared; `P` is the function that makes a plan of what users give.
pub struct Declaration<P> {
    /// Its name; the shell writes `-` for `_`.
    pub name: &'static str,
    /// Other names that it has.
    pub aliases: &'static [&'static str],
    /// Its result, in a sentence without a full stop.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [Parameter],
    /// The files that it reads beside its matrix or array.
    pub inputs: &'static [InputFile],
    /// Content of its file; of a solver, with a row for each row of the matrix.
    pub output: &'static str,
    /// Content of the file with a row for each column of the matrix, if there is one.
    pub right: Option<&'static str>,
    /// Content of the file with a row for each value, if there is one.
    pub values: Option<&'static str>,
    /// Whether a run can write a checkpoint, and resume from it.
    pub has_checkpoints: bool,
    /// Whether a run that did not converge is an error, unless the user allows it.
    pub must_converge: bool,
    /// Makes a plan of what users give.
    pub plan: P,
}

impl<P> std::fmt::Debug for Declaration<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Declaration").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A file with a dense vector or matrix that an operation reads.
#[derive(Debug)]
pub struct InputFile {
    /// The name of its option.
    pub name: &'static str,
    /// Whether there must be one.
    pub is_required: bool,
    /// Its content, in a sentence without a full stop.
    pub help: &'static str,
}

impl<P> Declaration<P> {
    /// A declaration without options, with one file of results, to be completed.
    pub const fn new(name: &'static str, summary: &'static str, output: &'static str, plan: P) -> Self {
        Declaration {
            name,
            aliases: &[],
            summary,
            options: &[],
            inputs: &[],
            output,
            right: None,
            values: None,
            has_checkpoints: false,
            must_converge: false,
            plan,
        }
    }
}

impl<P> Declared for Declaration<P> {
    fn signature(&self) -> Signature {
        let Declaration { name, aliases, summary, options, must_converge, .. } = *self;
        Signature { name, aliases, summary, options, must_converge, counted: None }
    }
}

/// Error of a run that did not converge.
#[derive(Clone, Debug)]
pub struct NotConverged {
    /// The text of the error: what was expected and what was found.
    pub text: String,
    /// The options that help when they are greater.
    pub raise: &'static [&'static str],
}

/// A fact of a result, under the name that Python has for it.
pub type NamedFact = (&'static str, Fact);

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A whole number.
    Whole(u64),
    /// A real number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A word.
    Text(&'static str),
    /// Names.
    Names(Vec<String>),
    /// An array, row by row, and its shape.
    Array(Vec<f64>, Vec<usize>),
}

impl Fact {
    /// A vector.
    pub fn vector(numbers: &[f64]) -> Self {
        Fact::Array(numbers.to_vec(), vec![numbers.len()])
    }

    /// A matrix of this number of rows.
    pub fn matrix(numbers: &[f64], rows: usize) -> Self {
        Fact::Array(numbers.to_vec(), vec![rows, numbers.len() / rows.max(1)])
    }
}

/// A number, a truth value, a text or nested lists. JSON has null where a number is not finite.
impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Fact::Whole(number) => number.serialize(serializer),
            Fact::Real(number) => number.serialize(serializer),
            Fact::Flag(flag) => flag.serialize(serializer),
            Fact::Text(text) => text.serialize(serializer),
            Fact::Names(names) => names.serialize(serializer),
            Fact::Array(numbers, shape) => Part(numbers, shape).serialize(serializer),
        }
    }
}

/// A part of an array, and its shape. It is written number by number: a tree of them would take ten times their memory.
struct Part<'a>(&'a [f64], &'a [usize]);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Part(numbers, [length, rest @ ..]) = self else { return self.0.serialize(serializer) };
        if rest.is_empty() {
            return numbers.serialize(serializer);
        }
        let size = rest.iter().product::<usize>();
        let mut list = serializer.serialize_seq(Some(*length))?;
        (0..*length).try_for_each(|i| list.serialize_element(&Part(&numbers[i * size..(i + 1) * size], rest)))?;
        list.end()
    }
}
