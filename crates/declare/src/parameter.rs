//! An option: its name, the kind of values that it takes, its default, and how a text becomes its value.

use crate::choice::{Choice, one_of};
use outcore_image::{Error, Result};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// An option of an algorithm, a solver or a statistic.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in Rust, in Python and in the shell, which writes `-` for `_`.
    pub name: &'static str,
    /// Other names that it has in Python and in the shell.
    pub aliases: &'static [&'static str],
    /// The kind of its value.
    pub kind: Kind,
    /// Its value if it is not given.
    pub default: DefaultValue,
    /// Its meaning, in a sentence without a full stop.
    pub help: &'static str,
    /// The options that it stands in the place of: they are not given together.
    pub instead_of: &'static [&'static str],
    /// The option without which the shell does not take it.
    pub needs: Option<&'static str>,
    /// Whether Python takes it by position, as NetworkX does. Required options are taken by position in any case.
    pub is_positional: bool,
}

/// The value of an option that is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// It has to be given.
    Required,
    /// Nothing, which has a meaning of its own.
    None,
    /// A whole number.
    Whole(u64),
    /// A real number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// One of the names of a choice.
    Name(&'static str),
}

/// The kind of the value of an option.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number of `bits` bits, at least `least`.
    Whole {
        /// 32 or 64.
        bits: u32,
        /// The least.
        least: u64,
    },
    /// A real number.
    Real,
    /// Yes or no.
    Flag,
    /// One of these names, each with what it means.
    Choice(fn() -> Vec<(&'static str, &'static str)>),
    /// Real numbers, with commas between them.
    Reals,
    /// A column of an array, by its name or its number.
    Column,
    /// The id of a vertex.
    Vertex,
    /// The ids of vertices.
    Vertices,
    /// Sets of seeds: ids with shares.
    Seeds,
    /// The name of the weights that edges count by, or that are their lengths.
    Weight {
        /// Whether they are lengths of edges. Without a name, the only weights of a graph are, whatever their name.
        lengths: bool,
    },
}

impl Kind {
    /// A whole number of 64 bits.
    pub const WHOLE: Kind = Kind::Whole { bits: 64, least: 0 };

    /// A whole number of 64 bits, at least 1.
    pub const COUNT: Kind = Kind::Whole { bits: 64, least: 1 };

    /// One of the names of a type.
    pub const fn choice<T: Choice>() -> Kind {
        Kind::Choice(|| T::ALL.iter().map(|&(_, name, meaning)| (name, meaning)).collect())
    }
}

/// An option as it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// A real number.
    Real(f64),
    /// Real numbers.
    Reals(Vec<f64>),
    /// Yes or no.
    Flag(bool),
    /// A name of a choice, of weights, or of a column.
    Name(String),
    /// An id.
    Vertex(String),
    /// Ids.
    Vertices(Vec<String>),
    /// The number of ids without the ids themselves: for estimates.
    Counted(u64),
    /// Sets of seeds with their shares.
    Seeds(Vec<Vec<(String, f64)>>),
    /// The weights of edges are ignored.
    Unweighted,
}

/// The most ids of a value that are serialised.
const MOST_IDS: usize = 100;

/// A number, a truth value, a text or a list; of many ids the `first`, and their `count`.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Value::Whole(number) | Value::Counted(number) => number.serialize(serializer),
            Value::Real(number) => number.serialize(serializer),
            Value::Reals(numbers) => numbers.serialize(serializer),
            Value::Flag(flag) => flag.serialize(serializer),
            Value::Name(text) | Value::Vertex(text) => text.serialize(serializer),
            Value::Vertices(ids) => serialize_first(ids, serializer),
            Value::Seeds(sets) => serialize_first(&sets.iter().flatten().collect::<Vec<_>>(), serializer),
            Value::Unweighted => serializer.serialize_none(),
        }
    }
}

fn serialize_first<T: Serialize, S: Serializer>(all: &[T], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    if all.len() <= MOST_IDS {
        return all.serialize(serializer);
    }
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("first", &all[..MOST_IDS])?;
    map.serialize_entry("count", &all.len())?;
    map.end()
}

impl DefaultValue {
    /// The value, if there is one.
    pub fn value(self) -> Option<Value> {
        match self {
            DefaultValue::Required | DefaultValue::None => None,
            DefaultValue::Whole(value) => Some(Value::Whole(value)),
            DefaultValue::Real(value) => Some(Value::Real(value)),
            DefaultValue::Flag(value) => Some(Value::Flag(value)),
            DefaultValue::Name(value) => Some(Value::Name(value.to_owned())),
        }
    }
}

impl Parameter {
    /// An option that may be given.
    pub const fn new(name: &'static str, kind: Kind, default: DefaultValue, help: &'static str) -> Self {
        Parameter { name, aliases: &[], kind, default, help, instead_of: &[], needs: None, is_positional: false }
    }

    /// An option that has to be given.
    pub const fn required(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self::new(name, kind, DefaultValue::Required, help)
    }

    /// An option without a default.
    pub const fn optional(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self::new(name, kind, DefaultValue::None, help)
    }

    /// A whole number.
    pub const fn whole(name: &'static str, default: u64, help: &'static str) -> Self {
        Self::new(name, Kind::WHOLE, DefaultValue::Whole(default), help)
    }

    /// A whole number from 1 on.
    pub const fn count(name: &'static str, default: u64, help: &'static str) -> Self {
        Self::new(name, Kind::COUNT, DefaultValue::Whole(default), help)
    }

    /// A real number.
    pub const fn real(name: &'static str, default: f64, help: &'static str) -> Self {
        Self::new(name, Kind::Real, DefaultValue::Real(default), help)
    }

    /// Yes or no.
    pub const fn flag(name: &'static str, default: bool, help: &'static str) -> Self {
        Self::new(name, Kind::Flag, DefaultValue::Flag(default), help)
    }

    /// One of the names of a type.
    pub const fn choice<T: Choice>(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::choice::<T>(), DefaultValue::Name(default), help)
    }

    /// The option, with other names in Python and in the shell.
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        Parameter { aliases, ..self }
    }

    /// The seed of random numbers.
    pub const SEED: Parameter = Parameter::whole("seed", 0, "Where random numbers begin");

    /// The weights that edges count by.
    pub const WEIGHT: Parameter = Parameter::new(
        "weight",
        Kind::Weight { lengths: false },
        DefaultValue::Name("weight"),
        "The name of the weights that edges count by; where edges have none named `weight`, all count the same",
    );

    /// The value of a text.
    ///
    /// # Errors
    /// A text that is no value of the option; the message has the expected value and the text.
    pub fn parse(&self, text: &str) -> std::result::Result<Value, String> {
        let wrong = |what: &str| Err(format!("expected {what}, found {text}"));
        let value = match self.kind {
            Kind::Whole { bits, .. } => text.parse().map(Value::Whole).or_else(|_| wrong(&whole_words(bits)))?,
            Kind::Real => Value::Real(real_of(text)?),
            Kind::Reals => Value::Reals(text.split(',').map(real_of).collect::<std::result::Result<_, _>>()?),
            Kind::Flag => text.parse().map(Value::Flag).or_else(|_| wrong("true or false"))?,
            // Nothing, where a name is expected, is the name of no weights.
            Kind::Weight { .. } if text.is_empty() => Value::Unweighted,
            Kind::Choice(_) | Kind::Column | Kind::Weight { .. } => Value::Name(text.to_owned()),
            Kind::Vertex => Value::Vertex(text.to_owned()),
            Kind::Vertices => Value::Vertices(ids_of(text)?),
            Kind::Seeds => Value::Seeds(vec![ids_of(text)?.into_iter().map(|id| (id, 1.0)).collect()]),
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Checks that the value is in the option's range.
    ///
    /// # Errors
    /// A value out of range; the message has the range and the value.
    pub fn check(&self, value: &Value) -> std::result::Result<(), String> {
        let name = self.name;
        match (self.kind, value) {
            (Kind::Whole { bits, .. }, &Value::Whole(found)) if bits < 64 && found >> bits > 0 => {
                Err(format!("expected {name} as {}, found {found}", whole_words(bits)))
            }
            (Kind::Whole { least, .. }, &Value::Whole(found)) if found < least => {
                Err(format!("expected {name} of at least {least}, found {found}"))
            }
            (Kind::Choice(names), Value::Name(found)) if !names().iter().any(|(name, _)| name == found) => {
                let names = names();
                let names = one_of(names.iter().map(|(name, _)| *name));
                Err(format!("expected {name} to be {names}, found '{found}'"))
            }
            (Kind::Whole { .. }, Value::Whole(_))
            | (Kind::Real, Value::Real(_))
            | (Kind::Reals, Value::Reals(_))
            | (Kind::Flag, Value::Flag(_))
            | (Kind::Choice(_) | Kind::Column | Kind::Weight { .. }, Value::Name(_))
            | (Kind::Weight { .. }, Value::Unweighted)
            | (Kind::Vertex, Value::Vertex(_))
            | (Kind::Vertices, Value::Vertices(_) | Value::Counted(_))
            | (Kind::Seeds, Value::Seeds(_)) => Ok(()),
            (kind, found) => Err(format!("expected {name} as {kind:?}, found {found:?}")),
        }
    }
}

/// The option of this name or alias, among those of `owner`.
///
/// # Errors
/// No option has this name.
pub fn option_of(owner: &str, options: &'static [Parameter], name: &str) -> Result<&'static Parameter> {
    let is = |option: &&Parameter| option.name == name || option.aliases.contains(&name);
    let all = || options.iter().map(|option| option.name).collect::<Vec<_>>().join(", ");
    let missing = || Error::Usage(format!("{owner} has no option '{name}'; it has {}", all()));
    options.iter().find(is).ok_or_else(missing)
}

/// The real number of a text.
fn real_of(text: &str) -> std::result::Result<f64, String> {
    match text.parse().ok() {
        Some(value) if !is_rounded_away(text, value) => Ok(value),
        Some(_) => Err(format!("expected 0 or a number from 4.9e-324 to 1.7e308, whatever its sign, found {text}")),
        None => Err(format!("expected a number, found {text}")),
    }
}

/// Whether a text is a number that doubles do not come near: it would be 0 or infinite.
fn is_rounded_away(text: &str, value: f64) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_number = digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    is_number && (value == 0.0 || value.is_infinite())
}

/// A real number as messages have it: with an exponent where it would be long otherwise.
pub fn real_text(value: f64) -> String {
    let is_short = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if is_short { value.to_string() } else { format!("{value:e}") }
}

fn whole_words(bits: u32) -> String {
    format!("a whole number from 0 to 2^{bits}-1")
}

/// Ids as they are typed: with commas between them, and in double quotes where an id has a comma or begins with a quote
/// itself.
fn ids_of(text: &str) -> std::result::Result<Vec<String>, String> {
    let (mut ids, mut rest) = (Vec::new(), text);
    loop {
        let (id, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_id(quoted).ok_or("expected a closing quote behind an id, found none")?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        ids.push(id);
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(ids),
            None => return Err(format!("expected a comma behind an id in quotes, found {after}")),
        }
    }
}

/// The id up to the closing quote, where two quotes are one, and what is behind it.
fn quoted_id(text: &str) -> Option<(String, &str)> {
    let (mut id, mut rest) = (String::new(), text);
    loop {
        let end = rest.find('"')?;
        id.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                id.push('"');
                rest = more;
            }
            None => return Some((id, rest)),
        }
    }
}

/// An id as it is typed in a list.
pub(crate) fn typed_id(id: &str) -> String {
    if id.contains(',') || id.starts_with('"') { format!("\"{}\"", id.replace('"', "\"\"")) } else { id.to_owned() }
}
