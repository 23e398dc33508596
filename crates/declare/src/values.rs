//! The options of a run: the values that were given, checked, and the defaults of all others.

use crate::choice::Choice;
use crate::declaration::{Declared, Signature};
use crate::parameter::{DefaultValue, Kind, Value, option_of, typed_id};
use outcore_image::{Error, Result};
use serde::ser::{Serialize, Serializer};

/// The vertices that ids stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// The vertices with these ids in the input.
    Ids,
    /// The vertices of these numbers, counted from the given vertex on, and from 0 again after the last: for tests.
    Places(u32),
    /// Any: estimates only count them.
    Any,
}

/// The options of a run, defaults included.
#[derive(Clone, Debug)]
pub struct OptionValues {
    given: Vec<(&'static str, Value)>,
    names: Names,
}

/// The most sources and sets of seeds that an estimate is made of: a run of so many would take years.
const MOST_SOURCES: u64 = 1 << 28;
const MOST_SETS: u64 = 1 << 20;

/// The options by their names.
impl Serialize for OptionValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.given.iter().map(|(name, value)| (name, value)))
    }
}

impl OptionValues {
    /// The options that were given; the others are their defaults.
    ///
    /// # Errors
    /// One that is missing, out of range, or given beside one that it stands in the place of.
    pub fn new(declared: &impl Declared, given: Vec<(&'static str, Value)>) -> Result<Self> {
        Self::checked(declared.signature(), given, Names::Ids)
    }

    /// The options of an example; `first` is the vertex that is called 0.
    ///
    /// # Errors
    /// An example whose options are invalid.
    pub fn of_example(algorithm: &impl Declared, example: &[(&str, &str)], first: u32) -> Result<Self> {
        let signature = algorithm.signature();
        let parsed = |&(name, text): &(&str, &str)| {
            let option = option_of(signature.name, signature.options, name)?;
            Ok((option.name, option.parse(text).map_err(Error::Usage)?))
        };
        let given = example.iter().map(parsed).collect::<Result<_>>()?;
        Self::checked(signature, given, Names::Places(first))
    }

    /// Options for an estimate, for which no ids need to be given. `k` is the option of that name, or the number of
    /// members of the option that [`counted`](crate::Signature::counted) names.
    ///
    /// # Errors
    /// As with [`OptionValues::new`], and `k` beside the option whose members it counts.
    pub fn of_estimate(
        algorithm: &impl Declared,
        mut given: Vec<(&'static str, Value)>,
        k: Option<u64>,
    ) -> Result<Self> {
        let signature = algorithm.signature();
        if let Some(k) = k {
            given.push(counted(signature, &given, k)?);
        }
        for option in signature.options.iter().filter(|option| option.default == DefaultValue::Required) {
            if !given.iter().any(|(name, _)| *name == option.name) {
                let one = || String::from("0");
                let value = match option.kind {
                    Kind::Vertices => Value::Vertices(vec![one()]),
                    Kind::Seeds => Value::Seeds(one_seed_each(1)),
                    _ => Value::Vertex(one()),
                };
                given.push((option.name, value));
            }
        }
        Self::checked(signature, given, Names::Any)
    }

    fn checked(signature: Signature, mut given: Vec<(&'static str, Value)>, names: Names) -> Result<Self> {
        let Signature { name: owner, options, .. } = signature;
        let has = |given: &[(&str, Value)], name: &str| given.iter().any(|(other, _)| *other == name);
        for option in options {
            let instead = option.instead_of.iter().find(|other| has(&given, option.name) && has(&given, other));
            if let Some(other) = instead {
                return Err(Error::Usage(format!("expected {other} or {}, found both", option.name)));
            }
        }
        for (name, value) in &given {
            option_of(owner, options, name)?.check(value).map_err(Error::Usage)?;
        }
        for option in options.iter().filter(|option| !has(&given, option.name)).collect::<Vec<_>>() {
            let value = match option.default {
                DefaultValue::Required => {
                    return Err(Error::Usage(format!("expected the option {}, found none", option.name)));
                }
                // Weights of the usual name are taken only if they are there.
                DefaultValue::Name("weight") => None,
                default => default.value(),
            };
            given.extend(value.map(|value| (option.name, value)));
        }
        Ok(OptionValues { given, names })
    }

    /// The vertices that ids stand for.
    pub fn names(&self) -> Names {
        self.names
    }

    /// An option, if it was given or has a default.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    /// A whole number, if it was given or has a default.
    pub fn some_whole(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Whole(value) => Some(*value),
            other => unreachable!("{name} is a whole number, not {other:?}"),
        }
    }

    /// A whole number of 32 bits, if it was given or has a default.
    pub fn some_whole_32(&self, name: &str) -> Option<u32> {
        self.some_whole(name).and_then(|value| u32::try_from(value).ok())
    }

    /// A whole number that has a default.
    pub fn whole(&self, name: &str) -> u64 {
        self.some_whole(name).unwrap_or_else(|| unreachable!("{name} has a default"))
    }

    /// A size, if it was given or has a default.
    pub fn some_size(&self, name: &str) -> Option<usize> {
        self.some_whole(name).map(|size| usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// A size that has a default.
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.whole(name)).unwrap_or(usize::MAX)
    }

    /// A whole number of 32 bits that has a default.
    pub fn whole_32(&self, name: &str) -> u32 {
        self.some_whole_32(name).unwrap_or_else(|| unreachable!("{name} has a default of 32 bits"))
    }

    /// A real number, if it was given or has a default.
    pub fn some_real(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Real(value) => Some(*value),
            other => unreachable!("{name} is a real number, not {other:?}"),
        }
    }

    /// A real number that has a default.
    pub fn real(&self, name: &str) -> f64 {
        self.some_real(name).unwrap_or_else(|| unreachable!("{name} has a default"))
    }

    /// Real numbers, if they were given.
    pub fn some_reals(&self, name: &str) -> Option<&[f64]> {
        match self.get(name)? {
            Value::Reals(values) => Some(values),
            other => unreachable!("{name} is a list of numbers, not {other:?}"),
        }
    }

    /// A name, if it was given or has a default: of a choice, or of a column.
    pub fn some_name(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Name(value) => Some(value),
            other => unreachable!("{name} is a name, not {other:?}"),
        }
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Flag(true))
    }

    /// One of the values of a choice.
    pub fn choice<T: Choice>(&self, name: &str) -> T {
        match self.get(name) {
            Some(Value::Name(name)) => T::named(name).unwrap_or_else(|| unreachable!("{name} was checked")),
            other => unreachable!("{name} is a choice with a default, not {other:?}"),
        }
    }

    /// The id of a vertex, as it was given; empty if none was.
    pub fn id(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Value::Vertex(id)) => id,
            _ => "",
        }
    }

    /// The ids of vertices, as they were given.
    pub fn ids(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::Vertices(ids)) => ids,
            _ => &[],
        }
    }

    /// The ids of each set of seeds, as they would be typed.
    pub fn set_names(&self, name: &str) -> Vec<String> {
        let Some(Value::Seeds(sets)) = self.get(name) else { return Vec::new() };
        let text = |set: &Vec<(String, f64)>| set.iter().map(|(id, _)| typed_id(id)).collect::<Vec<_>>().join(",");
        sets.iter().map(text).collect()
    }
}

/// The option that an algorithm counts by, and its value for `k` of them.
fn counted(algorithm: Signature, given: &[(&'static str, Value)], k: u64) -> Result<(&'static str, Value)> {
    let option_of = |name| option_of(algorithm.name, algorithm.options, name);
    let option = option_of("k").or_else(|error| option_of(algorithm.counted.ok_or(error)?))?;
    let most = match option.kind {
        Kind::Vertices => MOST_SOURCES,
        Kind::Seeds => MOST_SETS,
        _ => u64::MAX,
    };
    let refused = |text: String| Err(Error::Usage(text));
    match k {
        0 => return refused("expected k of at least 1, found 0".into()),
        _ if given.iter().any(|(name, _)| *name == option.name) => {
            return refused(format!("expected k or {}, found both", option.name));
        }
        _ if k > most => return refused(format!("expected k from 1 to {most}, found {k}")),
        _ => {}
    }
    let value = match option.kind {
        Kind::Vertices => Value::Counted(k),
        Kind::Seeds => Value::Seeds(one_seed_each(k)),
        _ => Value::Whole(k),
    };
    Ok((option.name, value))
}

/// A number of sets of one seed each.
fn one_seed_each(sets: u64) -> Vec<Vec<(String, f64)>> {
    vec![vec![(String::new(), 1.0)]; sets as usize]
}
