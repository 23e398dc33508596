//! Partitions: columns whose values are names of folders, such as in `year=2024/month=1/part-0.parquet`.
//!
//! Columns of that kind are attributes where they are asked for: integers, dates or times, if all folders have such of
//! one form, else strings. They are no ends or weights of edges.

use crate::batch::{InputOptions, Source};
use crate::column_names::{ends_by_name, may_mean_end};
use crate::conditions::is_met;
use crate::tables::attributes::{AttributeColumn, AttributeField, Attributes};
use crate::text::times::kind_of_moments;
use outcore_format::AttributeKind;
use outcore_image::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns in the names of the folders of all files, and those that are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partitions {
    pub(crate) names: Vec<String>,
    wanted: Vec<AttributeField>,
    /// The options name both ends.
    are_ends_named: bool,
}

impl Partitions {
    /// The partitions of these files, and the options to read the files with.
    ///
    /// # Errors
    /// A folder named as the column of the ends or the weights of edges.
    pub(crate) fn of(paths: &[PathBuf], options: &InputOptions) -> Result<(Self, InputOptions)> {
        let mut values: Vec<(String, BTreeSet<String>)> = Vec::new();
        for (name, value) in paths.iter().flat_map(|path| values_of(path)) {
            let place = values.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                values.push((name, BTreeSet::new()));
                values.len() - 1
            });
            values[place].1.extend(value);
        }
        let field = |(name, values): (String, BTreeSet<String>)| AttributeField { name, kind: kind_of(&values) };
        let mut all: Vec<AttributeField> = values.into_iter().map(field).collect();
        let names: Vec<String> = all.iter().map(|field| field.name.clone()).collect();
        let named = [&options.source, &options.target, &options.weight].into_iter().flatten().map(String::as_str);
        for part in ["source", "target", "weight"].into_iter().chain(named) {
            if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(part)) {
                return Err(called_as_an_end(name));
            }
        }
        let mut beside = options.clone();
        beside.conditions.retain(|condition| !names.contains(&condition.column));
        if let Attributes::Named(requested) = &mut beside.attributes {
            requested.retain(|name| !names.contains(name));
            if requested.is_empty() {
                beside.attributes = Attributes::None;
            }
        }
        all.retain(|field| {
            let is_compared = options.conditions.iter().any(|condition| condition.column == field.name);
            is_compared
                || match &options.attributes {
                    Attributes::None => false,
                    Attributes::All => true,
                    Attributes::Named(asked) => asked.contains(&field.name),
                }
        });
        let are_ends_named = options.source.is_some() && options.target.is_some();
        Ok((Partitions { names, wanted: all, are_ends_named }, beside))
    }

    /// Refuses folders that are called as an end of edges or the weights, or may mean an end that files do not have.
    pub(crate) fn check_ends(&self, source: &Source) -> Result<()> {
        let facts = &source.facts;
        let Some([first, second]) = &facts.ends else { return Ok(()) };
        let are_known = self.are_ends_named || ends_by_name(&[first, second]).is_some();
        let is_used = |name: &&String| {
            let own = [first, second].into_iter().chain(&facts.weights);
            own.into_iter().any(|own| own.eq_ignore_ascii_case(name)) || !are_known && may_mean_end(name)
        };
        self.names.iter().find(is_used).map_or(Ok(()), |name| Err(called_as_an_end(name)))
    }

    pub(crate) fn is_read(&self, path: &Path, options: &InputOptions) -> bool {
        let values = values_of(path);
        options.conditions.iter().all(|condition| {
            let field = self.wanted.iter().find(|field| field.name == condition.column);
            field.is_none_or(|field| is_met(condition, field, value_in(&values, &field.name)))
        })
    }

    pub(crate) fn add_to(&self, mut source: Source, path: &Path) -> Source {
        if self.wanted.is_empty() {
            return source;
        }
        let (own, attributes) = (values_of(path), &mut source.facts.attributes);
        let mut values = Vec::new();
        for field in &self.wanted {
            let value = value_in(&own, &field.name).map(|text| match field.kind {
                AttributeKind::Integer => whole(text).map_or_else(|| text.to_owned(), |whole| whole.to_string()),
                _ => text.to_owned(),
            });
            // A column of the file that has the same name is not meant.
            let place = attributes.iter().position(|attribute| attribute.name == field.name);
            match place {
                Some(place) => attributes[place] = field.clone(),
                None => attributes.push(field.clone()),
            }
            values.push((place, field.kind.clone(), value));
        }
        source.map(move |batch, _| {
            for (place, kind, value) in &values {
                let mut column = AttributeColumn::new(kind);
                (0..batch.ids.len() / 2).for_each(|_| _ = column.push_value(kind, value.as_deref()));
                match place {
                    Some(place) => batch.attributes[*place] = column,
                    None => batch.attributes.push(column),
                }
            }
            Ok(())
        });
        source
    }
}

fn called_as_an_end(name: &str) -> Error {
    Error::Usage(format!(
        "expected folders that say attributes of edges, found some called `{name}=...`, as the column of their ends or \
         weights is, or may be; write that column into the files, and rename the folders"
    ))
}

/// The kind of a column whose values are these, and perhaps missing ones.
fn kind_of(values: &BTreeSet<String>) -> AttributeKind {
    match values.iter().all(|value| whole(value).is_some()) {
        true => AttributeKind::Integer,
        false => kind_of_moments(values.iter().map(String::as_bytes)).unwrap_or(AttributeKind::String),
    }
}

/// Names and values of the folders of a file, from the outermost on.
fn values_of(path: &Path) -> Vec<(String, Option<String>)> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let pairs = folders.filter_map(|folder| match folder {
        Component::Normal(name) => name.to_str()?.split_once('='),
        _ => None,
    });
    pairs
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, value)| (decoded(name), (value != MISSING).then(|| decoded(value))))
        .collect()
}

fn value_in<'a>(values: &'a [(String, Option<String>)], name: &str) -> Option<&'a str> {
    values.iter().rev().find(|(own, _)| own == name).and_then(|(_, value)| value.as_deref())
}

/// A whole number, perhaps with zeros before it, as months have them.
fn whole(text: &str) -> Option<i64> {
    let are_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| are_digits(text.strip_prefix('-').unwrap_or(text)))
}

/// A name with its escapes resolved, such as `%2F`: names of folders cannot have all characters.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_say_what_all_rows_of_a_file_have() {
        let values =
            values_of(Path::new("/data/year=2024/city=S%C3%A3o%2FPaulo/none=__HIVE_DEFAULT_PARTITION__/x=1.csv"));
        let expected = [("year", Some("2024")), ("city", Some("S\u{e3}o/Paulo")), ("none", None)];
        assert_eq!(values, expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))));
        assert_eq!(super::values_of(Path::new("=5/a.csv")), []);
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%ff"), "%zz%ff");
        assert_eq!(
            [whole("007"), whole("-0"), whole("+1"), whole(""), whole("-")],
            [Some(7), Some(0), None, None, None]
        );
        let of = |values: &[&str]| kind_of(&values.iter().map(|value| (*value).to_owned()).collect());
        assert_eq!(of(&["2026-10-01", "2026-10-02"]), AttributeKind::Date);
        assert!(matches!(of(&["2026-10-01 05:00"]), AttributeKind::Timestamp { .. }));
        assert_eq!(
            [of(&["2026-10-01", "soon"]), of(&["7", "2026-10-01"])],
            [AttributeKind::String, AttributeKind::String]
        );
        assert_eq!(of(&[]), AttributeKind::Integer);
        let paths = ["a=1/b=x/p.csv", "a=2/b=7/p.csv", "p.csv"].map(PathBuf::from);
        let all = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
        let (partitions, _) = Partitions::of(&paths, &all).unwrap();
        let kinds: Vec<_> = partitions.wanted.iter().map(|field| (field.name.as_str(), field.kind.clone())).collect();
        assert_eq!(kinds, [("a", AttributeKind::Integer), ("b", AttributeKind::String)]);
        let named =
            InputOptions { attributes: Attributes::Named(vec!["b".into(), "c".into()]), ..InputOptions::default() };
        let (partitions, beside) = Partitions::of(&paths, &named).unwrap();
        assert_eq!((partitions.wanted.len(), partitions.names.len()), (1, 2));
        assert_eq!(beside.attributes, Attributes::Named(vec!["c".into()]));
        let weights = InputOptions { weight: Some("a".into()), ..InputOptions::default() };
        assert!(Partitions::of(&paths, &weights).is_err());
        for folder in ["source=1", "Target=1", "weight=1"] {
            assert!(Partitions::of(&[Path::new(folder).join("p.csv")], &InputOptions::default()).is_err());
        }
    }
}
