//! Comparison of the values of edges with those of a condition, in the kind of the column.

use crate::batch::{BatchWeights, EdgeBatch, Facts, Ids};
use crate::column_names::listed;
use crate::condition::{Comparison, Condition, Literal, refused};
use crate::tables::attributes::{AttributeField, AttributeValues, form};
use crate::text::number::{Integer, integer, real};
use crate::text::times::{Count, Moment};
use outcore_format::{AttributeKind, TimeUnit};
use outcore_image::{Error, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::Path;

/// The columns that conditions compare.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    /// The input, unless it is a graph, whose columns the user knows.
    pub(super) path: Option<&'a Path>,
    pub(super) attributes: &'a [AttributeField],
    /// The name of the weights, unless they are complex.
    pub(super) weights: Option<&'a str>,
    /// Names of ids, and the end of an edge that each is: 0 for the source, 1 for the target.
    pub(super) ends: &'a [(&'a str, usize)],
    /// Ids are strings.
    pub(super) string_ids: bool,
}

/// A column, as a batch has it.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Attribute(usize),
    Weights,
    /// The ids of sources or of targets.
    End(usize),
}

impl<'a> Columns<'a> {
    /// The columns of an input, with the names of its ends.
    pub(super) fn of(facts: &'a Facts, ends: &'a [(&'a str, usize)], path: Option<&'a Path>) -> Self {
        let weights = facts.weights.as_deref().filter(|_| !facts.is_complex);
        Columns { path, attributes: &facts.attributes, weights, ends, string_ids: facts.string_ids }
    }

    /// The column of a name, and its kind.
    fn find(self, name: &str) -> Result<(Column, AttributeKind)> {
        if let Some(place) = self.attributes.iter().position(|field| field.name == name) {
            return Ok((Column::Attribute(place), self.attributes[place].kind.clone()));
        }
        if self.weights == Some(name) {
            return Ok((Column::Weights, AttributeKind::Real));
        }
        // A column without a name is called by its number.
        let is_own = |own: &str| own == name || own.strip_prefix("column ") == Some(name);
        if let Some(&(_, end)) = self.ends.iter().find(|(own, _)| is_own(own)) {
            let kind = if self.string_ids { AttributeKind::String } else { AttributeKind::Integer };
            return Ok((Column::End(end), kind));
        }
        let attributes = self.attributes.iter().map(|field| field.name.as_str());
        let mut names: Vec<&str> = attributes.chain(self.weights).collect();
        for (name, _) in self.ends {
            // Ends may be called as they are called anyway.
            if !names.contains(name) {
                names.push(name);
            }
        }
        Err(self.refused(
            name,
            &format!("the name of an attribute, of the weights or of an end; there are {}", listed(&names)),
        ))
    }

    /// The refusal of a column that an input lacks, or of a value that its column does not have.
    fn refused(self, found: &str, expected: &str) -> Error {
        match self.path {
            Some(path) => Error::input(path, None, format!("in --where {expected}"), format!("`{found}`")),
            None => refused(found, expected),
        }
    }
}

pub(super) struct Check {
    column: Column,
    /// The kind of its values.
    kind: AttributeKind,
    comparison: Comparison,
    /// Values that the column may equal, or the bound that it is compared with.
    set: Set,
    operands: Vec<Value<'static>>,
}

impl Check {
    /// The check of a condition on one of these columns.
    ///
    /// # Errors
    /// A condition on a column that there is not, or with a value that the column cannot have.
    pub(super) fn new(condition: &Condition, columns: Columns<'_>) -> Result<Self> {
        let Condition { column: name, comparison, values } = condition;
        let (column, kind) = columns.find(name)?;
        let is_ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let operand = |value: &Option<Literal>| {
            let text = value.as_ref().map(|value| value.text.as_str());
            let moment = text.and_then(|text| Moment::of(text.as_bytes()));
            if let (Some(text), Some(moment)) = (text, moment)
                && (is_ordered && kind == AttributeKind::String && moment.has_time)
            {
                let expected = format!(
                    "no time, since `{name}` holds strings, which are compared as text, and a blank sorts before a T; \
                     times of one form are read as such in text, as `2024-02-29T18:30:00`: bring the column into that form, \
                     or cast it to timestamps"
                );
                return Err(columns.refused(text, &expected));
            }
            if let Some(Literal { text, is_string: false }) = value
                && (is_ordered && kind == AttributeKind::String)
                && (real(text.as_bytes()).is_some() || moment.is_some())
            {
                let expected =
                    format!("a string, since `{name}` holds strings, which are compared as text: put it in quotes");
                return Err(columns.refused(text, &expected));
            }
            // Whole weights are compared as such, and so are ids.
            let whole = || Value::of(&AttributeKind::Integer, text).filter(|_| column == Column::Weights);
            let is_id = |value: &Value<'_>| !matches!((column, value), (Column::End(_), Value::Real(_)));
            whole().or_else(|| Value::of(&kind, text)).filter(is_id).ok_or_else(|| {
                let expected = format!("a value that `{name}` can have ({})", form(&kind));
                columns.refused(text.unwrap_or("null"), &expected)
            })
        };
        let operands: Vec<Value<'static>> = values.iter().map(operand).collect::<Result<_>>()?;
        let set = if is_ordered { Set::default() } else { Set::of(&operands) };
        Ok(Check { column, kind, comparison: *comparison, set, operands })
    }

    fn is_met(&self, value: &Value<'_>) -> bool {
        let order = || self.operands.first().and_then(|operand| value.compare(operand));
        match self.comparison {
            Comparison::Equal => self.set.has(value),
            // A missing value is neither equal to a value nor different from it.
            Comparison::NotEqual => !matches!(value, Value::Missing) && !self.set.has(value),
            Comparison::Less => order() == Some(Ordering::Less),
            Comparison::LessOrEqual => order().is_some_and(Ordering::is_le),
            Comparison::Greater => order() == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        }
    }

    /// Clears the marks of the edges that do not meet the condition.
    pub(super) fn apply(&self, batch: &EdgeBatch, marks: &mut [bool]) {
        let mut each = |value: &dyn Fn(usize) -> Value<'static>| {
            marks.iter_mut().enumerate().for_each(|(edge, mark)| *mark = *mark && self.is_met(&value(edge)));
        };
        let column = match self.column {
            Column::Attribute(place) => &batch.attributes[place],
            Column::End(end) => return self.apply_to_ids(&batch.ids, end, marks),
            Column::Weights => {
                let unweighted = &batch.unweighted;
                let has_none = |edge: usize| unweighted.binary_search_by_key(&edge, |one| one.edge).is_ok();
                return match &batch.weights {
                    BatchWeights::Integer(values) => each(&|edge| match has_none(edge) {
                        true => Value::Missing,
                        false => Value::Whole(values[edge].into()),
                    }),
                    BatchWeights::Real(values) => each(&|edge| match has_none(edge) {
                        true => Value::Missing,
                        false => Value::Real(values[edge]),
                    }),
                    // A graph without weights, or with complex ones, has no condition on them.
                    BatchWeights::None | BatchWeights::Complex(_) => {}
                };
            }
        };
        let is_missing = |edge: usize| column.missing.get(edge) == Some(&true);
        match &column.values {
            AttributeValues::Missing(_) => each(&|_| Value::Missing),
            AttributeValues::Words(words) => {
                let is_real = self.kind == AttributeKind::Real;
                each(&|edge| match is_missing(edge) {
                    true => Value::Missing,
                    false if is_real => Value::Real(f64::from_bits(words[edge])),
                    false => Value::Whole((words[edge] as i64).into()),
                });
            }
            AttributeValues::Text { bytes, ends } => {
                let mut start = 0;
                for (edge, (&end, mark)) in ends.iter().zip(marks).enumerate() {
                    let text = &bytes[start..end as usize];
                    start = end as usize;
                    let value = if is_missing(edge) { Value::Missing } else { Value::Text(Cow::Borrowed(text)) };
                    *mark = *mark && self.is_met(&value);
                }
            }
        }
    }

    fn apply_to_ids(&self, ids: &Ids, end: usize, marks: &mut [bool]) {
        match ids {
            Ids::Integer { values, negative, .. } => {
                let whole = |bits: u64| if *negative { i128::from(bits as i64) } else { bits.into() };
                for (pair, mark) in values.as_chunks::<2>().0.iter().zip(marks) {
                    *mark = *mark && self.is_met(&Value::Whole(whole(pair[end])));
                }
            }
            Ids::Text { bytes, ends } => {
                for (edge, mark) in marks.iter_mut().enumerate() {
                    let place = 2 * edge + end;
                    let start = place.checked_sub(1).map_or(0, |before| ends[before]);
                    let text = &bytes[start as usize..ends[place] as usize];
                    *mark = *mark && self.is_met(&Value::Text(Cow::Borrowed(text)));
                }
            }
        }
    }

    /// Whether a value of a column, as its text, meets the condition; true if it cannot be compared, which is an error
    /// elsewhere.
    pub(super) fn is_met_by_text(&self, kind: &AttributeKind, text: Option<&str>) -> bool {
        match Value::of(kind, text) {
            None => true,
            Some(Value::Between(whole)) => self.is_met(&Value::Whole(whole.into())),
            Some(value) => self.is_met(&value),
        }
    }
}

impl Value<'static> {
    /// A value in the kind of a column; nothing if the column cannot have it.
    fn of(kind: &AttributeKind, value: Option<&str>) -> Option<Self> {
        let Some(text) = value else { return Some(Value::Missing) };
        let whole = || integer(text.as_bytes()).map(|found| Value::Whole(wide(found)));
        let infinite = || match text {
            "inf" | "infinity" => Some(f64::INFINITY),
            "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        };
        let real = || real(text.as_bytes()).or_else(infinite).map(Value::Real);
        match kind {
            AttributeKind::Integer => whole().or_else(real),
            AttributeKind::Real => real(),
            AttributeKind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(Value::Whole(1)),
                "false" | "0" => Some(Value::Whole(0)),
                _ => None,
            },
            AttributeKind::String => Some(Value::Text(Cow::Owned(text.as_bytes().to_vec()))),
            AttributeKind::Date => Some(Value::Whole(Moment::of(text.as_bytes())?.date()?.into())),
            AttributeKind::Timestamp { unit, .. } => time(text, *unit),
        }
    }
}

fn wide(integer: Integer) -> i128 {
    if integer.negative { i128::from(integer.bits as i64) } else { integer.bits.into() }
}

/// The values of an equality.
#[derive(Default)]
struct Set {
    missing: bool,
    wholes: HashSet<i128>,
    /// In rising order; a zero is positive.
    reals: Vec<f64>,
    texts: HashSet<Vec<u8>>,
}

impl Set {
    fn of(operands: &[Value<'_>]) -> Self {
        let mut set = Set::default();
        for operand in operands {
            match operand {
                Value::Missing => set.missing = true,
                Value::Between(_) => {}
                Value::Whole(whole) => drop(set.wholes.insert(*whole)),
                Value::Real(real) => set.reals.push(real + 0.0),
                Value::Text(text) => drop(set.texts.insert(text.to_vec())),
            }
        }
        set.reals.sort_by(f64::total_cmp);
        set
    }

    fn has(&self, value: &Value<'_>) -> bool {
        let has_real = |real: f64| self.reals.binary_search_by(|one| one.total_cmp(&(real + 0.0))).is_ok();
        match value {
            Value::Missing => self.missing,
            // A real number that a whole one equals has its bits.
            Value::Whole(whole) => {
                self.wholes.contains(whole)
                    || compare_real(*whole, *whole as f64) == Some(Ordering::Equal) && has_real(*whole as f64)
            }
            Value::Between(_) => false,
            Value::Real(real) => {
                let whole = *real as i128;
                has_real(*real) || compare_real(whole, *real) == Some(Ordering::Equal) && self.wholes.contains(&whole)
            }
            Value::Text(text) => self.texts.contains(&**text),
        }
    }
}

/// The number of units of a column from 1970 to a date or a time: in UTC, unless the text states an offset.
fn time(text: &str, unit: TimeUnit) -> Option<Value<'static>> {
    Some(match Moment::of(text.as_bytes())?.count(unit)? {
        Count::Exactly(count) => Value::Whole(count.into()),
        Count::Above(count) => Value::Between(count),
    })
}

/// A value of an edge, or of a condition in the kind of the column.
#[derive(Clone, Debug)]
enum Value<'a> {
    Missing,
    /// A whole number of 64 bits, with a sign or without.
    Whole(i128),
    /// A time of a condition, between this count of the column's unit and the next one.
    Between(i64),
    Real(f64),
    Text(Cow<'a, [u8]>),
}

impl Value<'_> {
    fn compare(&self, operand: &Value<'_>) -> Option<Ordering> {
        match (self, operand) {
            (Value::Whole(value), Value::Whole(operand)) => Some(value.cmp(operand)),
            (Value::Whole(value), Value::Between(operand)) => {
                Some(value.cmp(&i128::from(*operand)).then(Ordering::Less))
            }
            (Value::Whole(value), Value::Real(operand)) => compare_real(*value, *operand),
            (Value::Real(value), Value::Real(operand)) => value.partial_cmp(operand),
            (Value::Real(value), Value::Whole(operand)) => compare_real(*operand, *value).map(Ordering::reverse),
            (Value::Text(value), Value::Text(operand)) => Some(value.cmp(operand)),
            (Value::Missing, Value::Missing) => Some(Ordering::Equal),
            _ => None,
        }
    }
}

/// A whole number of 64 bits beside a real one, without rounding.
fn compare_real(whole: i128, real: f64) -> Option<Ordering> {
    const END: f64 = (1u128 << 127) as f64;
    if real.is_nan() || !(-END..END).contains(&real) {
        return 0.0.partial_cmp(&real);
    }
    Some(whole.cmp(&(real.trunc() as i128)).then(0.0.partial_cmp(&real.fract())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_real_ones_are_compared_exactly() {
        let big = (1i128 << 53) + 1;
        assert_eq!(compare_real(big, (1i64 << 53) as f64), Some(Ordering::Greater));
        for (whole, real, order) in [
            (2, 2.5, Some(Ordering::Less)),
            (-2, -2.5, Some(Ordering::Greater)),
            (3, 3.0, Some(Ordering::Equal)),
            (i64::MAX.into(), f64::INFINITY, Some(Ordering::Less)),
            (i64::MAX.into(), 9_223_372_036_854_775_808.0, Some(Ordering::Less)),
            (i64::MIN.into(), -9_223_372_036_854_775_808.0, Some(Ordering::Equal)),
            (i64::MIN.into(), -1e300, Some(Ordering::Greater)),
            (u64::MAX.into(), 18_446_744_073_709_551_616.0, Some(Ordering::Less)),
            (0, f64::NAN, None),
        ] {
            assert_eq!(compare_real(whole, real), order, "{whole} {real}");
        }
    }

    #[test]
    fn times_lie_at_a_unit_or_between_two() {
        let day = Value::of(&AttributeKind::Date, Some("1969-12-31"));
        assert!(matches!(day, Some(Value::Whole(-1))));
        let seconds = AttributeKind::Timestamp { unit: TimeUnit::Second, zone: None };
        assert!(Value::of(&seconds, Some("2024")).is_none(), "a year, or seconds");
        let between = Value::of(&seconds, Some("1970-01-01T00:00:07.5")).unwrap();
        assert_eq!(
            [7, 8].map(|time| Value::Whole(time).compare(&between)),
            [Ordering::Less, Ordering::Greater].map(Some)
        );
        assert!(!Set::of(&[between]).has(&Value::Whole(7)));
    }
}
