//! A condition as the user writes it: a column, a comparison and values.
//!
//! `conditions/mod.rs` applies conditions to the edges of an input.

use outcore_image::{Error, Result};
use std::fmt::{Display, Formatter};

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Comparison {
    /// Equal to one of the values.
    Equal,
    /// Equal to none of the values, and not missing.
    NotEqual,
    /// Below the value.
    Less,
    /// Below the value, or equal to it.
    LessOrEqual,
    /// Above the value.
    Greater,
    /// Above the value, or equal to it.
    GreaterOrEqual,
}

/// The comparisons as they are written; those that begin as others do come first.
const WRITTEN: [(&str, Comparison); 10] = [
    (" not in ", Comparison::NotEqual),
    (" in ", Comparison::Equal),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("!=", Comparison::NotEqual),
    ("<>", Comparison::NotEqual),
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// A condition that an edge must meet to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// An attribute of the input, or its weights, by their names.
    pub column: String,
    /// The operator.
    pub comparison: Comparison,
    /// The right side: one value, or several that the column may equal; `None` is a missing value.
    pub values: Vec<Option<Literal>>,
}

/// The vertices that a condition is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhichVertices {
    /// All vertices.
    All,
    /// Vertices that edges lead from.
    Sources,
    /// Vertices that edges lead to.
    Targets,
}

/// A value as a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its text.
    pub text: String,
    /// It is a string, by its quotes or by its type.
    pub is_string: bool,
}

impl Condition {
    /// A condition by its parts: a column, a comparison as [`Condition::parse`] has it, and values.
    ///
    /// # Errors
    /// An unknown comparison; several values, or none, without a list; a missing value for an order.
    pub fn new(column: &str, comparison: &str, values: Vec<Option<Literal>>) -> Result<Self> {
        let Some(&(_, kind)) = WRITTEN.iter().find(|(written, _)| written.trim() == comparison) else {
            let names: Vec<&str> = WRITTEN.iter().map(|(written, _)| written.trim()).collect();
            return Err(refused(comparison, &format!("one of the comparisons {}", names.join(" "))));
        };
        let is_list = matches!(comparison, "in" | "not in");
        let is_ordered = !matches!(kind, Comparison::Equal | Comparison::NotEqual);
        if !is_list && values.len() != 1 {
            return Err(refused(comparison, "one value"));
        }
        if is_ordered && values == [None] {
            return Err(refused("null", "a value that is less or more than another"));
        }
        Ok(Condition { column: column.to_owned(), comparison: kind, values })
    }

    /// The condition on vertices that it is, and which: `vertex` or `vertex.NAME` are all of them, which go with their
    /// edges, `source.NAME` and `target.NAME` those at one end of edges. Nothing if it is one on edges alone.
    pub fn of_vertices(&self) -> Option<(WhichVertices, Condition)> {
        let named = |prefix| Some(self.column.strip_prefix(prefix)?.strip_prefix('.')?.to_owned());
        let all = || (self.column == "vertex").then(|| self.column.clone()).or_else(|| named("vertex"));
        let (which, column) = all()
            .map(|column| (WhichVertices::All, column))
            .or_else(|| Some((WhichVertices::Sources, named("source")?)))
            .or_else(|| Some((WhichVertices::Targets, named("target")?)))?;
        Some((which, Condition { column, ..self.clone() }))
    }

    /// A condition as text: `amount >= 100`, `type in friend,family`, `note != null`. Text in quotes, single or double,
    /// is a name or a string as it stands.
    ///
    /// # Errors
    /// No comparison, no column before it, or an error of [`Condition::new`].
    pub fn parse(text: &str) -> Result<Self> {
        let (column, behind) = match text.trim_start().strip_prefix(['"', '\'']) {
            None => None,
            Some(inner) => {
                let quote = text.trim_start().as_bytes()[0] as char;
                inner.split_once(quote)
            }
        }
        .map_or((None, text), |(column, behind)| (Some(column), behind));
        let places = WRITTEN.iter().filter_map(|(written, _)| Some((behind.find(written)?, *written)));
        // The first comparison, and the longest of those that begin there.
        let Some((place, written)) = places.min_by_key(|(place, written)| (*place, usize::MAX - written.len())) else {
            return Err(refused(text, "a column, a comparison and a value, such as `amount >= 100`"));
        };
        let (before, value) = (behind[..place].trim(), behind[place + written.len()..].trim());
        let column = column.filter(|_| before.is_empty()).unwrap_or(before);
        if column.is_empty() {
            return Err(refused(text, "the name of a column before the comparison"));
        }
        let written = written.trim();
        let values = if written.ends_with("in") {
            // As in SQL and in Python.
            let within = |open, close| value.strip_prefix(open)?.strip_suffix(close);
            split(within('(', ')').or_else(|| within('[', ']')).unwrap_or(value))
        } else {
            vec![value]
        };
        Condition::new(column, written, values.into_iter().map(value_of).collect::<Result<_>>()?)
    }
}

/// A condition as [`Condition::parse`] reads it.
impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let is_plain = self.column.chars().all(|c| c.is_alphanumeric() || ['_', '.', '-'].contains(&c));
        let column = if is_plain { self.column.clone() } else { quoted(&self.column) };
        let is_list = self.values.len() != 1;
        let written = match self.comparison {
            Comparison::Equal if is_list => "in",
            Comparison::NotEqual if is_list => "not in",
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        };
        let value = |value: &Option<Literal>| match value {
            None => "null".to_owned(),
            Some(literal) if literal.is_string => quoted(&literal.text),
            Some(literal) => literal.text.clone(),
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        write!(f, "{column} {written} {}", values.join(","))
    }
}

/// A text in quotes that it does not contain, if there are such.
fn quoted(text: &str) -> String {
    let quote = if text.contains('"') { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}

/// Values between commas, which do not count within quotes.
fn split(text: &str) -> Vec<&str> {
    let mut quote = None;
    text.split(|c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        c == ',' && quote.is_none()
    })
    .collect()
}

fn value_of(text: &str) -> Result<Option<Literal>> {
    let text = text.trim();
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = text[1..].strip_suffix(quote).filter(|inner| !inner.contains(quote));
        let text = inner.ok_or_else(|| refused(text, "a value in quotes with nothing behind the closing one"))?;
        return Ok(Some(Literal { text: text.to_owned(), is_string: true }));
    }
    if text.starts_with(['=', '<', '>', '!', '~']) {
        let known = WRITTEN.map(|(written, _)| written.trim()).join(" ");
        return Err(refused(text, &format!("a value behind one of {known}; put it in quotes if it begins so")));
    }
    let lower = text.to_ascii_lowercase();
    if lower.contains(" and ") || lower.contains(" or ") {
        return Err(refused(text, "one value; for further conditions say --where again, or put the value in quotes"));
    }
    Ok((lower != "null").then(|| Literal { text: text.to_owned(), is_string: false }))
}

pub(crate) fn refused(found: &str, expected: &str) -> Error {
    Error::Usage(format!("--where: expected {expected}, found `{found}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Comparison, Vec<Option<String>>) {
        let Condition { column, comparison, values } = Condition::parse(text).unwrap();
        (column, comparison, values.into_iter().map(|value| Some(value?.text)).collect())
    }

    fn values(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|&value| Some(value.to_owned())).collect()
    }

    fn literals(values: &[&str]) -> Vec<Option<Literal>> {
        values.iter().map(|&value| Some(Literal { text: value.to_owned(), is_string: true })).collect()
    }

    #[test]
    fn conditions_are_text() {
        assert_eq!(parsed("amount >= 100"), ("amount".into(), Comparison::GreaterOrEqual, values(&["100"])));
        assert_eq!(parsed("a<b"), ("a".into(), Comparison::Less, values(&["b"])));
        assert_eq!(parsed("a <> b"), ("a".into(), Comparison::NotEqual, values(&["b"])));
        assert_eq!(parsed("the kind == x=y"), ("the kind".into(), Comparison::Equal, values(&["x=y"])));
        assert_eq!(parsed("\"a = b\" != ' c '"), ("a = b".into(), Comparison::NotEqual, values(&[" c "])));
        assert_eq!(
            parsed("kind in a, 'b,c' ,\"null\""),
            ("kind".into(), Comparison::Equal, values(&["a", "b,c", "null"]))
        );
        assert_eq!(parsed("kind not in a"), ("kind".into(), Comparison::NotEqual, values(&["a"])));
        assert_eq!(parsed("x = null").2, [None]);
        assert_eq!(parsed("x =").2, values(&[""]));
        assert_eq!(parsed("kind in ('a', b)").2, values(&["a", "b"]));
        assert_eq!(parsed("kind in [a]").2, values(&["a"]));
        assert_eq!(parsed("kind = '> a'").2, values(&["> a"]));
        assert_eq!(parsed("kind = 'rock and roll'").2, values(&["rock and roll"]));
        for text in ["", "x", "= 3", "x < null", "x = 'a", "x = 'a' b", "x = a AND n > 1", "x = a or b"] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
        for text in ["x => a", "x =< a", "x =! a", "x === a", "x >> a", "x =~ a"] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
        assert!(Condition::new("x", "=", literals(&["1", "2"])).is_err());
        assert!(Condition::new("x", "in", Vec::new()).is_ok());
        assert!(Condition::new("x", "is", literals(&["1"])).is_err());
    }
}
