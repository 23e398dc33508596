//! Conditions that edges must meet to be read: comparisons of an attribute, or of the weight, with a value.
//!
//! A compared column is read as an attribute is. After the parser of the input, edges that do not meet all conditions
//! leave the batch, and then columns that are not kept do.

use crate::altered::{Alter, Altered, AlteredParser, Declared};
use crate::batch::{EdgeBatch, InputOptions, Source, Weights};
use crate::column_names::listed;
use crate::tables::attributes::{AttributeColumn, AttributeField, AttributeValues, Attributes};
use crate::text::number::{Integer, integer, real};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use outcore_format::{AttributeKind, TimeUnit};
use outcore_image::{Error, Result};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It is one of the values.
    Equal,
    /// It is none of the values.
    NotEqual,
    /// It is below.
    Less,
    /// It is not above.
    LessOrEqual,
    /// It is above.
    Greater,
    /// It is not below.
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

/// A value as a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its text.
    pub text: String,
    /// It was said to be a string, by quotes or by its type.
    pub is_string: bool,
}

impl Condition {
    /// A condition by its parts: a column, a comparison as [`Condition::parse`] has it, and values.
    ///
    /// # Errors
    /// No such comparison; not one value where it is no list; a missing one that is to be less or more.
    pub fn new(column: &str, comparison: &str, values: Vec<Option<Literal>>) -> Result<Self> {
        let found = WRITTEN.iter().find(|(written, _)| written.trim() == comparison);
        let Some(&(_, kind)) = found else {
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

    /// A condition as text: `amount >= 100`, `type in friend,family`, `note != null`. What stands in quotes, single or
    /// double, is taken as it is.
    ///
    /// # Errors
    /// No comparison, nothing before it, or what [`Condition::new`] refuses.
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
        // The first one, and of those there the longest.
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

/// A value as it is written.
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

fn refused(found: &str, expected: &str) -> Error {
    Error::Usage(format!("--where: expected {expected}, found `{found}`"))
}

/// The right side, in the kind of the column.
#[derive(Clone, Debug)]
enum Operand {
    Missing,
    Whole(i64),
    /// A time between two of the column's, behind this one.
    Behind(i64),
    Real(f64),
    Text(Vec<u8>),
}

impl Operand {
    fn of(kind: &AttributeKind, value: Option<&str>) -> Option<Operand> {
        let Some(text) = value else { return Some(Operand::Missing) };
        let whole = || integer(text.as_bytes()).and_then(Integer::signed).map(Operand::Whole);
        let infinite = || match text {
            "inf" | "infinity" => Some(f64::INFINITY),
            "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        };
        let real = || real(text.as_bytes()).or_else(infinite).map(Operand::Real);
        match kind {
            AttributeKind::Integer => whole().or_else(real),
            AttributeKind::Real => real(),
            AttributeKind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(Operand::Whole(1)),
                "false" | "0" => Some(Operand::Whole(0)),
                _ => None,
            },
            AttributeKind::String => Some(Operand::Text(text.as_bytes().to_vec())),
            AttributeKind::Date => {
                let days =
                    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.signed_duration_since(NaiveDate::default());
                Some(Operand::Whole(days.num_days()))
            }
            AttributeKind::Timestamp { unit, .. } => time(text, *unit),
        }
    }
}

/// The values that one may equal.
#[derive(Default)]
struct Set {
    missing: bool,
    wholes: HashSet<i64>,
    /// In rising order, without zeros below 0.
    reals: Vec<f64>,
    texts: HashSet<Vec<u8>>,
}

impl Set {
    fn of(operands: &[Operand]) -> Self {
        let mut set = Set::default();
        for operand in operands {
            match operand {
                Operand::Missing => set.missing = true,
                Operand::Behind(_) => {}
                Operand::Whole(whole) => drop(set.wholes.insert(*whole)),
                Operand::Real(real) => set.reals.push(real + 0.0),
                Operand::Text(text) => drop(set.texts.insert(text.clone())),
            }
        }
        set.reals.sort_by(f64::total_cmp);
        set
    }

    fn has(&self, found: Found<'_>) -> bool {
        let has_real = |real: f64| self.reals.binary_search_by(|one| one.total_cmp(&(real + 0.0))).is_ok();
        match found {
            Found::Missing => self.missing,
            // A real number that a whole one equals has its bits.
            Found::Whole(whole) => {
                self.wholes.contains(&whole)
                    || compare_real(whole, whole as f64) == Some(Ordering::Equal) && has_real(whole as f64)
            }
            Found::Real(real) => {
                let whole = real as i64;
                has_real(real) || compare_real(whole, real) == Some(Ordering::Equal) && self.wholes.contains(&whole)
            }
            Found::Text(text) => self.texts.contains(text),
        }
    }
}

/// A date or a time in what a column counts; UTC, where no offset is said.
fn time(text: &str, unit: TimeUnit) -> Option<Operand> {
    let plain = || {
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
        forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
    };
    let date = || Some(NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_time(NaiveTime::MIN));
    let with_offset = ["%Y-%m-%dT%H:%M%:z", "%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%d %H:%M%:z"];
    let found = DateTime::parse_from_rfc3339(text).ok();
    let found = match found.or_else(|| with_offset.iter().find_map(|form| DateTime::parse_from_str(text, form).ok())) {
        Some(found) => found.to_utc(),
        None => plain().or_else(date)?.and_utc(),
    };
    let (count, nanoseconds) = match unit {
        TimeUnit::Second => (found.timestamp(), 1_000_000_000),
        TimeUnit::Millisecond => (found.timestamp_millis(), 1_000_000),
        TimeUnit::Microsecond => (found.timestamp_micros(), 1000),
        TimeUnit::Nanosecond => (found.timestamp_nanos_opt()?, 1),
    };
    // Counts are rounded down, those before 1970 too.
    let is_whole = found.timestamp_subsec_nanos().is_multiple_of(nanoseconds);
    Some(if is_whole { Operand::Whole(count) } else { Operand::Behind(count) })
}

/// A value of an edge.
#[derive(Clone, Copy)]
enum Found<'a> {
    Missing,
    Whole(i64),
    Real(f64),
    Text(&'a [u8]),
}

impl Found<'_> {
    fn compare(self, operand: &Operand) -> Option<Ordering> {
        match (self, operand) {
            (Found::Whole(found), Operand::Whole(operand)) => Some(found.cmp(operand)),
            (Found::Whole(found), Operand::Behind(operand)) => Some(found.cmp(operand).then(Ordering::Less)),
            (Found::Whole(found), Operand::Real(operand)) => compare_real(found, *operand),
            (Found::Real(found), Operand::Real(operand)) => found.partial_cmp(operand),
            (Found::Real(found), Operand::Whole(operand)) => compare_real(*operand, found).map(Ordering::reverse),
            (Found::Text(found), Operand::Text(operand)) => Some(found.cmp(operand)),
            (Found::Missing, Operand::Missing) => Some(Ordering::Equal),
            _ => None,
        }
    }
}

/// A whole number beside a real one, without rounding.
fn compare_real(whole: i64, real: f64) -> Option<Ordering> {
    const END: f64 = (1u64 << 63) as f64;
    if real.is_nan() || !(-END..END).contains(&real) {
        return 0.0.partial_cmp(&real);
    }
    Some(whole.cmp(&(real.trunc() as i64)).then(0.0.partial_cmp(&real.fract())?))
}

/// A condition on a column of a batch.
struct Check {
    /// Which attribute; none for the weights.
    place: Option<usize>,
    comparison: Comparison,
    /// Values that the column may equal, or the bound that it is compared with.
    set: Set,
    operands: Vec<Operand>,
}

impl Check {
    fn is_met(&self, found: Found<'_>) -> bool {
        let order = || self.operands.first().and_then(|operand| found.compare(operand));
        match self.comparison {
            Comparison::Equal => self.set.has(found),
            // A missing value is neither equal to a value nor different from it.
            Comparison::NotEqual => !matches!(found, Found::Missing) && !self.set.has(found),
            Comparison::Less => order() == Some(Ordering::Less),
            Comparison::LessOrEqual => order().is_some_and(Ordering::is_le),
            Comparison::Greater => order() == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        }
    }

    /// Takes those edges out of `kept` that do not meet the condition.
    fn apply(&self, kind: Option<&AttributeKind>, batch: &EdgeBatch, kept: &mut [bool]) {
        let mut each = |found: &dyn Fn(usize) -> Found<'static>| {
            kept.iter_mut().enumerate().for_each(|(edge, kept)| *kept = *kept && self.is_met(found(edge)));
        };
        let Some(column) = self.place.map(|place| &batch.attributes[place]) else {
            return match &batch.weights {
                Weights::Integer(values) => each(&|edge| Found::Whole(values[edge])),
                Weights::Real(values) => each(&|edge| Found::Real(values[edge])),
                // A graph without weights, or with complex ones, has no condition on them.
                Weights::None | Weights::Complex(_) => {}
            };
        };
        let is_missing = |edge: usize| column.missing.get(edge) == Some(&true);
        match &column.values {
            AttributeValues::Words(words) => {
                let is_real = kind == Some(&AttributeKind::Real);
                each(&|edge| match is_missing(edge) {
                    true => Found::Missing,
                    false if is_real => Found::Real(f64::from_bits(words[edge])),
                    false => Found::Whole(words[edge] as i64),
                });
            }
            AttributeValues::Text { bytes, ends } => {
                let mut start = 0;
                for (edge, (&end, kept)) in ends.iter().zip(kept).enumerate() {
                    let text = &bytes[start..end as usize];
                    start = end as usize;
                    let found = if is_missing(edge) { Found::Missing } else { Found::Text(text) };
                    *kept = *kept && self.is_met(found);
                }
            }
        }
    }
}

/// Leaves the edges of a source of files or tables out that do not meet the conditions. `partitions` are the attributes
/// that the names of folders say.
///
/// # Errors
/// As for [`narrowed`].
pub(crate) fn with_conditions(
    source: Box<dyn Source>,
    options: &InputOptions,
    partitions: &[String],
) -> Result<Box<dyn Source>> {
    if options.conditions.is_empty() { Ok(source) } else { narrowed(source, options, partitions) }
}

/// Leaves the edges of a source out that do not meet the conditions, and then the attributes that are not to be kept:
/// of files, those that were read for conditions only.
///
/// # Errors
/// A condition on what the source has not, or with a value that the column cannot hold.
pub fn narrowed(source: Box<dyn Source>, options: &InputOptions, partitions: &[String]) -> Result<Box<dyn Source>> {
    let mut facts = source.facts().clone();
    let mut checks = Vec::new();
    for condition in &options.conditions {
        checks.push(check(condition, &facts.attributes, facts.weights.as_deref(), facts.is_complex)?);
    }
    let kinds = facts.attributes.iter().map(|field| field.kind.clone()).collect();
    let is_kept = kept_fields(&facts.attributes, &options.attributes, partitions);
    let mut each = is_kept.iter();
    facts.attributes.retain(|_| each.next() == Some(&true));
    facts.edges = facts.edges.filter(|_| checks.is_empty());
    let left_out = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&left_out);
    let alter = Conditional { checks, kinds, is_kept, left_out };
    let parser = Arc::new(AlteredParser { inner: source.parser(), alter });
    let note = move || {
        let count = counted.load(atomic::Ordering::Relaxed);
        (count > 0).then(|| format!("Edges that do not meet --where and were left out: {count}."))
    };
    Ok(Box::new(Altered::new(source, facts, parser, Declared::AsBefore).noting(note)))
}

fn check(condition: &Condition, fields: &[AttributeField], weights: Option<&str>, is_complex: bool) -> Result<Check> {
    let Condition { column, comparison, values } = condition;
    let place = fields.iter().position(|field| field.name == *column);
    let kind = match place {
        Some(place) => fields[place].kind.clone(),
        None if weights == Some(column) && !is_complex => AttributeKind::Real,
        None => {
            let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).chain(weights).collect();
            let there = if names.is_empty() { "no weights and no attributes".to_owned() } else { listed(&names) };
            return Err(refused(column, &format!("the name of an attribute or of the weights; there are {there}")));
        }
    };
    let is_ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let operand = |value: &Option<Literal>| {
        let text = value.as_ref().map(|value| value.text.as_str());
        if let Some(Literal { text, is_string: false }) = value
            && (is_ordered && kind == AttributeKind::String)
            && (real(text.as_bytes()).is_some() || time(text, TimeUnit::Second).is_some())
        {
            let expected =
                format!("a string, since `{column}` holds strings, which are compared as text: put it in quotes");
            return Err(refused(text, &expected));
        }
        // Whole weights are compared as such.
        let whole = || Operand::of(&AttributeKind::Integer, text).filter(|_| place.is_none());
        whole().or_else(|| Operand::of(&kind, text)).ok_or_else(|| {
            let expected = format!("a value that `{column}` can have ({})", kind.name());
            refused(text.unwrap_or("null"), &expected)
        })
    };
    let operands: Vec<Operand> = values.iter().map(operand).collect::<Result<_>>()?;
    let set = if is_ordered { Set::default() } else { Set::of(&operands) };
    Ok(Check { place, comparison: *comparison, set, operands })
}

/// Which attributes are kept: those that are asked for, by name or, as columns of tables, by number. What tables are
/// asked for comes first, in that order.
fn kept_fields(fields: &[AttributeField], asked: &Attributes, partitions: &[String]) -> Vec<bool> {
    let Attributes::Named(names) = asked else { return vec![*asked == Attributes::All; fields.len()] };
    let of_file: Vec<&String> = names.iter().filter(|name| !partitions.contains(name)).collect();
    let is_asked = |(place, field): (usize, &AttributeField)| {
        let by_number = of_file.get(place).is_some_and(|name| name.parse::<usize>().is_ok());
        names.contains(&field.name) || by_number
    };
    fields.iter().enumerate().map(is_asked).collect()
}

/// Whether a value of a column, as its text, meets a condition; also if it cannot be compared, which is told later.
pub(crate) fn is_met(condition: &Condition, field: &AttributeField, value: Option<&str>) -> bool {
    let Ok(check) = check(condition, std::slice::from_ref(field), None, false) else { return true };
    match Operand::of(&field.kind, value) {
        None => true,
        Some(Operand::Missing) => check.is_met(Found::Missing),
        Some(Operand::Whole(whole) | Operand::Behind(whole)) => check.is_met(Found::Whole(whole)),
        Some(Operand::Real(real)) => check.is_met(Found::Real(real)),
        Some(Operand::Text(text)) => check.is_met(Found::Text(&text)),
    }
}

struct Conditional {
    checks: Vec<Check>,
    /// Kinds of the attributes of the input.
    kinds: Vec<AttributeKind>,
    /// Whether each of these attributes is kept.
    is_kept: Vec<bool>,
    left_out: Arc<AtomicU64>,
}

impl Alter for Conditional {
    fn alter(&self, batch: &mut EdgeBatch) {
        let edges = batch.ids.len() / 2;
        let mut kept = vec![true; edges];
        if edges > 0 {
            for check in &self.checks {
                check.apply(check.place.map(|place| &self.kinds[place]), batch, &mut kept);
            }
            batch.retain(&kept);
        }
        let left_out = kept.iter().filter(|kept| !**kept).count() as u64;
        self.left_out.fetch_add(left_out, atomic::Ordering::Relaxed);
        let mut is_kept = self.is_kept.iter();
        batch.attributes.retain(|_| is_kept.next() == Some(&true));
    }
}

impl AttributeColumn {
    /// Forgets the values that are not kept.
    pub(crate) fn retain(&mut self, kept: &[bool]) {
        match &mut self.values {
            AttributeValues::Words(words) => retain(words, kept),
            AttributeValues::Text { bytes, ends } => retain_text(bytes, ends, kept, 1),
        }
        if !self.missing.is_empty() {
            retain(&mut self.missing, kept);
        }
    }
}

/// Forgets the values that are not kept.
pub(crate) fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
    let mut each = kept.iter();
    values.retain(|_| each.next() == Some(&true));
}

/// Forgets the strings that are not kept, of which `group` at a time are one.
pub(crate) fn retain_text(bytes: &mut Vec<u8>, ends: &mut Vec<u32>, kept: &[bool], group: usize) {
    let (mut start, mut end, mut count) = (0, 0, 0);
    for (place, &is_kept) in kept.iter().enumerate() {
        for string in group * place..group * (place + 1) {
            let next = ends[string] as usize;
            if is_kept {
                bytes.copy_within(start..next, end);
                end += next - start;
                ends[count] = end as u32;
                count += 1;
            }
            start = next;
        }
    }
    bytes.truncate(end);
    ends.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_with, failure_with};

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

    #[test]
    fn whole_numbers_and_real_ones_are_compared_exactly() {
        let big = (1i64 << 53) + 1;
        assert_eq!(compare_real(big, (1i64 << 53) as f64), Some(Ordering::Greater));
        for (whole, real, order) in [
            (2, 2.5, Some(Ordering::Less)),
            (-2, -2.5, Some(Ordering::Greater)),
            (3, 3.0, Some(Ordering::Equal)),
            (i64::MAX, f64::INFINITY, Some(Ordering::Less)),
            (i64::MAX, 9_223_372_036_854_775_808.0, Some(Ordering::Less)),
            (i64::MIN, -9_223_372_036_854_775_808.0, Some(Ordering::Equal)),
            (i64::MIN, -1e300, Some(Ordering::Greater)),
            (0, f64::NAN, None),
        ] {
            assert_eq!(compare_real(whole, real), order, "{whole} {real}");
        }
    }

    #[test]
    fn times_count_from_1970() {
        let count = |text, unit| match time(text, unit) {
            Some(Operand::Whole(count)) => Some((count, true)),
            Some(Operand::Behind(count)) => Some((count, false)),
            _ => None,
        };
        assert_eq!(count("1970-01-02", TimeUnit::Second), Some((86_400, true)));
        assert_eq!(count("1970-01-01T00:00:01.5Z", TimeUnit::Millisecond), Some((1500, true)));
        assert_eq!(count("1970-01-01T00:00:01.5Z", TimeUnit::Second), Some((1, false)));
        assert_eq!(count("1969-12-31T23:59:59.5Z", TimeUnit::Second), Some((-1, false)));
        assert_eq!(count("1969-12-31T23:59:59.9999995", TimeUnit::Microsecond), Some((-1, false)));
        assert_eq!(count("1970-01-01T01:00:00+01:00", TimeUnit::Microsecond), Some((0, true)));
        assert_eq!(count("1969-12-31 23:59", TimeUnit::Nanosecond), Some((-60_000_000_000, true)));
        assert_eq!(count("9999-01-01", TimeUnit::Nanosecond), None);
        assert_eq!(count("noon", TimeUnit::Second), None);
        let day = Operand::of(&AttributeKind::Date, Some("1969-12-31"));
        assert!(matches!(day, Some(Operand::Whole(-1))));
        let seconds = AttributeKind::Timestamp { unit: TimeUnit::Second, zone: None };
        assert!(Operand::of(&seconds, Some("2024")).is_none(), "a year, or seconds");
        let between = Operand::of(&seconds, Some("1970-01-01T00:00:07.5")).unwrap();
        assert_eq!(
            [7, 8].map(|time| Found::Whole(time).compare(&between)),
            [Ordering::Less, Ordering::Greater].map(Some)
        );
        assert!(!Set::of(&[between]).has(Found::Whole(7)));
    }

    #[test]
    fn edges_that_do_not_meet_all_conditions_are_left_out() {
        let text = b"source,target,weight,kind,n\na,bb,5,x,1\nccc,d,7,y,\na,d,9,x,3\n";
        let with = |conditions: &[&str], attributes| InputOptions {
            conditions: conditions.iter().map(|text| Condition::parse(text).unwrap()).collect(),
            attributes,
            ..InputOptions::default()
        };
        let read = edges_with("edge-list", text, &with(&["kind = x"], Attributes::None));
        let names = [("a", "bb"), ("a", "d")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!((read.names, read.weights), (names.to_vec(), vec![5.0, 9.0]));
        assert!(read.attributes.is_empty() && read.facts.attributes.is_empty());
        let read = edges_with("edge-list", text, &with(&["weight > 5", "n != 3"], Attributes::All));
        assert!(read.names.is_empty(), "a missing value is not another one");
        assert_eq!(read.attributes.iter().map(|column| column.values.len()).collect::<Vec<_>>(), [0, 0]);
        let read = edges_with("edge-list", text, &with(&["n = null"], Attributes::Named(vec!["5".into()])));
        assert_eq!(read.names, [("ccc".to_owned(), "d".to_owned())]);
        assert_eq!(read.facts.attributes[0].name, "n");
        assert_eq!(read.attributes[0].missing, [true]);
        let read = edges_with("edge-list", text, &with(&["weight in 5, 7"], Attributes::Named(vec!["kind".into()])));
        let kinds = AttributeValues::Text { bytes: b"xy".to_vec(), ends: vec![1, 2] };
        assert_eq!((read.weights, &read.attributes[0].values), (vec![5.0, 7.0], &kinds));
        let read = edges_with("edge-list", text, &with(&["kind > '1'"], Attributes::None));
        assert_eq!(read.names.len(), 3);
        for (condition, said) in [
            ("n > x", "that `n` can have"),
            ("kind > 1", "holds strings"),
            ("kind < 2024-02-29T10:00-05:00", "holds strings"),
            ("speed > 3", "there is no such column"),
        ] {
            assert!(failure_with("edge-list", text, &with(&[condition], Attributes::None)).contains(said));
        }
        let pairs = edges_with("wel", b"1 2 5\n2 3 6.5\n", &with(&["weight >= 6"], Attributes::None));
        assert_eq!((pairs.pairs, pairs.weights), (vec![(2, 3)], vec![6.5]));
        let none = failure_with("el", b"1 2\n", &with(&["weight >= 6"], Attributes::None));
        assert!(none.contains("no weights and no attributes") || none.contains("no such column"), "{none}");
    }
}
