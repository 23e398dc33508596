//! The options of an algorithm as users give them: what they take, their defaults, and how typed options are made of
//! them.

use crate::declare::Algorithm;
use crate::has_lengths;
use crate::sources::Sources;
use outcore_graph::Graph;
use outcore_image::{Error, Result};
use outcore_ingest::Choice;
use std::sync::Arc;

/// An option of an algorithm.
pub struct Parameter {
    /// Its name in Rust, in Python and in the shell, which writes `-` for `_`.
    pub name: &'static str,
    /// Other names that it has in Python and in the shell.
    pub aliases: &'static [&'static str],
    /// What it takes.
    pub kind: Kind,
    /// What it is if it is not given.
    pub default: DefaultValue,
    /// What it says, in a sentence without a full stop.
    pub help: &'static str,
    /// The options that it stands in the place of: they are not given together.
    pub instead_of: &'static [&'static str],
    /// The option without which the shell does not take it.
    pub needs: Option<&'static str>,
    /// Python takes it without its name, as NetworkX does. What must be given it takes so in any case.
    pub is_positional: bool,
}

/// What an option is if it is not given.
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

/// What an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number of so many bits, at least this.
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
        /// The only ones of a graph are lengths, whatever they are called.
        lengths: bool,
    },
}

impl Kind {
    /// A whole number of 64 bits.
    pub const WHOLE: Kind = Kind::Whole { bits: 64, least: 0 };

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
    /// So many ids, whatever they are: for estimates.
    Counted(u64),
    /// Sets of seeds with their shares.
    Seeds(Vec<Vec<(String, f64)>>),
    /// Edges have no weights, even if they do.
    Unweighted,
}

impl Parameter {
    /// An option that has to be given.
    pub const fn required(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Parameter {
            name,
            aliases: &[],
            kind,
            default: DefaultValue::Required,
            help,
            instead_of: &[],
            needs: None,
            is_positional: false,
        }
    }

    /// An option that may be given.
    pub const fn new(name: &'static str, kind: Kind, default: DefaultValue, help: &'static str) -> Self {
        Parameter { name, aliases: &[], kind, default, help, instead_of: &[], needs: None, is_positional: false }
    }

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
    /// What the option takes, and what was found.
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

    /// An error unless the value is in the option's range.
    ///
    /// # Errors
    /// What the option takes, and what was found.
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
                let names: Vec<_> = names().iter().map(|(name, _)| format!("'{name}'")).collect();
                Err(format!("expected {name} to be one of {}, found '{found}'", names.join(", ")))
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

/// The option that has this name, among those of `owner`.
pub(crate) fn option_of(owner: &str, options: &'static [Parameter], name: &str) -> Result<&'static Parameter> {
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
pub(crate) fn real_text(value: f64) -> String {
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
fn typed_id(id: &str) -> String {
    if id.contains(',') || id.starts_with('"') { format!("\"{}\"", id.replace('"', "\"\"")) } else { id.to_owned() }
}

/// Which vertices ids stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// Those of the users.
    Ids,
    /// The vertices of these numbers, counted from one on and around: for tests.
    Places(u32),
    /// Any: estimates only count them.
    Any,
}

/// The options of a run, defaults included.
#[derive(Clone, Debug)]
pub struct Values {
    given: Vec<(&'static str, Value)>,
    names: Names,
}

/// The most sources and sets of seeds that an estimate is made of: a run of so many would take years.
const MOST_SOURCES: u64 = 1 << 28;
const MOST_SETS: u64 = 1 << 20;

impl Values {
    /// The options that were given; the others are their defaults.
    ///
    /// # Errors
    /// One that is missing, out of range, or given beside one that it stands in the place of.
    pub fn new(algorithm: &Algorithm, given: Vec<(&'static str, Value)>) -> Result<Self> {
        Self::of(algorithm.name, algorithm.options, given)
    }

    /// The same for anything else that has options and a name.
    ///
    /// # Errors
    /// As with [`Values::new`].
    pub fn of(owner: &str, options: &'static [Parameter], given: Vec<(&'static str, Value)>) -> Result<Self> {
        Self::checked(owner, options, given, Names::Ids)
    }

    /// The options of an example; `first` is the vertex that is called 0.
    ///
    /// # Errors
    /// An example that cannot be.
    pub fn of_example(algorithm: &Algorithm, example: &[(&str, &str)], first: u32) -> Result<Self> {
        let parsed = |&(name, text): &(&str, &str)| {
            let option = algorithm.option(name)?;
            Ok((option.name, option.parse(text).map_err(Error::Usage)?))
        };
        let given = example.iter().map(parsed).collect::<Result<_>>()?;
        Self::checked(algorithm.name, algorithm.options, given, Names::Places(first))
    }

    /// Options for an estimate, for which ids need not be there; `k` stands for so many of what the algorithm counts.
    ///
    /// # Errors
    /// As with [`Values::new`], and `k` beside what it is the number of.
    pub fn of_estimate(algorithm: &Algorithm, mut given: Vec<(&'static str, Value)>, k: Option<u64>) -> Result<Self> {
        if let Some(k) = k {
            given.push(counted(algorithm, &given, k)?);
        }
        for option in algorithm.options.iter().filter(|option| option.default == DefaultValue::Required) {
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
        Self::checked(algorithm.name, algorithm.options, given, Names::Any)
    }

    fn checked(
        owner: &str,
        options: &'static [Parameter],
        mut given: Vec<(&'static str, Value)>,
        names: Names,
    ) -> Result<Self> {
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
            given.push(match option.default {
                DefaultValue::Required => {
                    return Err(Error::Usage(format!("expected the option {}, found none", option.name)));
                }
                // Weights of the usual name are taken only if they are there.
                DefaultValue::None | DefaultValue::Name("weight") => continue,
                DefaultValue::Whole(value) => (option.name, Value::Whole(value)),
                DefaultValue::Real(value) => (option.name, Value::Real(value)),
                DefaultValue::Flag(value) => (option.name, Value::Flag(value)),
                DefaultValue::Name(name) => (option.name, Value::Name(name.to_owned())),
            });
        }
        Ok(Values { given, names })
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

    /// A vertex, if its id was given.
    ///
    /// # Errors
    /// There is no vertex of that id.
    pub fn some_vertex(&self, graph: &Graph, name: &str) -> Result<Option<u32>> {
        match self.get(name) {
            Some(Value::Vertex(id)) => Ok(self.numbers(graph, std::slice::from_ref(id))?.first().copied()),
            _ => Ok(None),
        }
    }

    /// A vertex whose id must be given.
    ///
    /// # Errors
    /// There is no vertex of that id.
    pub fn vertex(&self, graph: &Graph, name: &str) -> Result<u32> {
        Ok(self.some_vertex(graph, name)?.unwrap_or_default())
    }

    /// Vertices by their ids; none if they were not given.
    ///
    /// # Errors
    /// There is no vertex of one of these ids.
    pub fn vertices(&self, graph: &Graph, name: &str) -> Result<Vec<u32>> {
        match self.get(name) {
            Some(&Value::Counted(count)) => Ok(vec![0; count as usize]),
            _ => self.numbers(graph, self.ids(name)),
        }
    }

    /// Sets of seeds, whose vertices are named by their ids.
    ///
    /// # Errors
    /// There is no vertex of one of these ids.
    pub fn seeds(&self, graph: &Graph, name: &str) -> Result<Vec<Vec<(u32, f64)>>> {
        let Some(Value::Seeds(sets)) = self.get(name) else { return Ok(Vec::new()) };
        let ids: Vec<_> = sets.iter().flatten().map(|(id, _)| id.clone()).collect();
        let mut vertices = self.numbers(graph, &ids)?.into_iter();
        // Seeds first: a set that ends must not take a vertex more.
        let set = |set: &Vec<(String, f64)>| {
            set.iter().zip(vertices.by_ref()).map(|(seed, vertex)| (vertex, seed.1)).collect()
        };
        Ok(sets.iter().map(set).collect())
    }

    /// The ids of each set of seeds, as they would be typed.
    pub(crate) fn set_names(&self, name: &str) -> Vec<String> {
        let Some(Value::Seeds(sets)) = self.get(name) else { return Vec::new() };
        let text = |set: &Vec<(String, f64)>| set.iter().map(|(id, _)| typed_id(id)).collect::<Vec<_>>().join(",");
        sets.iter().map(text).collect()
    }

    /// From where searches start: from `sources`, from `k` vertices that are drawn, or from all.
    ///
    /// # Errors
    /// There is no vertex of one of these ids.
    pub fn sources(&self, graph: &Graph) -> Result<Sources> {
        match (self.get("sources"), self.some_whole("k")) {
            (Some(_), _) => Ok(Sources::Given(self.vertices(graph, "sources")?)),
            (None, Some(k)) => Ok(Sources::Drawn { k, seed: self.whole("seed") }),
            (None, None) => Ok(Sources::All),
        }
    }

    /// The graph with the weights that are asked for by their name: where those are an attribute of the edges, the
    /// image is opened once more, with that attribute as its weights.
    ///
    /// # Errors
    /// As for [`Graph::open`].
    pub fn weighing(&self, graph: Arc<Graph>) -> Result<Arc<Graph>> {
        match self.get("weight") {
            Some(Value::Name(name)) if graph.weight_name() != Some(name) => {
                Ok(graph.weighing(name)?.map_or(graph, Arc::new))
            }
            _ => Ok(graph),
        }
    }

    /// Whether edges count by their weights.
    ///
    /// # Errors
    /// There are no weights of the name that was given.
    pub fn weights(&self, graph: &Graph) -> Result<bool> {
        self.named_weights(|name| graph.has_weights(name))
    }

    /// Whether weights are the lengths of edges: the only ones of a graph are, whatever they are called.
    ///
    /// # Errors
    /// There are no weights of the name that was given.
    pub fn lengths(&self, graph: &Graph) -> Result<bool> {
        self.named_weights(|name| has_lengths(graph, name))
    }

    /// The name of weights that edges might count by, and do not because it was not asked for.
    pub fn unused_weights<'a>(&self, algorithm: &Algorithm, graph: &'a Graph) -> Option<&'a str> {
        let takes = algorithm.options.iter().any(|option| matches!(option.kind, Kind::Weight { lengths: false }));
        let is_used = || self.weights(graph).unwrap_or(true);
        graph.weight_name().filter(|_| takes && self.get("weight") != Some(&Value::Unweighted) && !is_used())
    }

    fn named_weights(&self, has: impl Fn(Option<&str>) -> Result<bool>) -> Result<bool> {
        match self.get("weight") {
            Some(Value::Unweighted) => Ok(false),
            Some(Value::Name(name)) => has(Some(name)),
            _ => has(None),
        }
    }

    fn numbers(&self, graph: &Graph, ids: &[String]) -> Result<Vec<u32>> {
        let place = |id: &String, first: u32| {
            let number = id.parse::<u64>().unwrap_or_default() + u64::from(first);
            (number % graph.vertices().max(1)) as u32
        };
        match self.names {
            Names::Ids if ids.len() == 1 => Ok(vec![graph.vertex(&ids[0])?]),
            Names::Ids => graph.vertices_of(ids),
            Names::Places(first) => Ok(ids.iter().map(|id| place(id, first)).collect()),
            Names::Any => Ok(vec![0; ids.len()]),
        }
    }
}

/// What stands for so many of what an algorithm counts.
fn counted(algorithm: &Algorithm, given: &[(&'static str, Value)], k: u64) -> Result<(&'static str, Value)> {
    let option = match (algorithm.option("k"), algorithm.counted) {
        (Ok(option), _) => option,
        (Err(_), Some(name)) => algorithm.option(name)?,
        (Err(error), None) => return Err(error),
    };
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

/// So many sets of one seed.
fn one_seed_each(sets: u64) -> Vec<Vec<(String, f64)>> {
    vec![vec![(String::new(), 1.0)]; sets as usize]
}
