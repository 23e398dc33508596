//! Comparison of the values of edges with those of a condition, in the kind of the column.

use crate::batch::{EdgeBatch, Weights};
use crate::column_names::listed;
use crate::condition::{Comparison, Condition, Literal, refused};
use crate::tables::attributes::{AttributeField, AttributeValues};
use crate::text::number::{Integer, integer, real};
use crate::text::times::{Count, Moment};
use outcore_format::{AttributeKind, TimeUnit};
use outcore_image::Result;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

pub(super) struct Check {
    /// The attribute; `None` for the weights.
    pub(super) place: Option<usize>,
    comparison: Comparison,
    /// Values that the column may equal, or the bound that it is compared with.
    set: Set,
    operands: Vec<Value<'static>>,
}

impl Check {
    /// The check of a condition on one of these attributes, or on the weights by their name.
    ///
    /// # Errors
    /// A condition on a column that there is not, or with a value that the column cannot have.
    pub(super) fn new(
        condition: &Condition,
        fields: &[AttributeField],
        weights: Option<&str>,
        is_complex: bool,
    ) -> Result<Self> {
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
            let moment = text.and_then(|text| Moment::of(text.as_bytes()));
            if let (Some(text), Some(moment)) = (text, moment)
                && (is_ordered && kind == AttributeKind::String && moment.has_time)
            {
                let expected = format!(
                    "no time, since `{column}` holds strings, which are compared as text, and a blank sorts before a T; \
                     times of one form are read as such in text, as `2024-02-29T18:30:00`: bring the column into that form, \
                     or cast it to timestamps"
                );
                return Err(refused(text, &expected));
            }
            if let Some(Literal { text, is_string: false }) = value
                && (is_ordered && kind == AttributeKind::String)
                && (real(text.as_bytes()).is_some() || moment.is_some())
            {
                let expected =
                    format!("a string, since `{column}` holds strings, which are compared as text: put it in quotes");
                return Err(refused(text, &expected));
            }
            // Whole weights are compared as such.
            let whole = || Value::of(&AttributeKind::Integer, text).filter(|_| place.is_none());
            whole().or_else(|| Value::of(&kind, text)).ok_or_else(|| {
                let expected = format!("a value that `{column}` can have ({})", kind.name());
                refused(text.unwrap_or("null"), &expected)
            })
        };
        let operands: Vec<Value<'static>> = values.iter().map(operand).collect::<Result<_>>()?;
        let set = if is_ordered { Set::default() } else { Set::of(&operands) };
        Ok(Check { place, comparison: *comparison, set, operands })
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

    /// Clears the marks of the edges that do not meet the condition; `kind` is that of the attribute.
    pub(super) fn apply(&self, kind: Option<&AttributeKind>, batch: &EdgeBatch, marks: &mut [bool]) {
        let mut each = |value: &dyn Fn(usize) -> Value<'static>| {
            marks.iter_mut().enumerate().for_each(|(edge, mark)| *mark = *mark && self.is_met(&value(edge)));
        };
        let Some(column) = self.place.map(|place| &batch.attributes[place]) else {
            let unweighted = &batch.unweighted;
            let has_none = |edge: usize| unweighted.binary_search_by_key(&edge, |one| one.edge).is_ok();
            return match &batch.weights {
                Weights::Integer(values) => each(&|edge| match has_none(edge) {
                    true => Value::Missing,
                    false => Value::Whole(values[edge]),
                }),
                Weights::Real(values) => each(&|edge| match has_none(edge) {
                    true => Value::Missing,
                    false => Value::Real(values[edge]),
                }),
                // A graph without weights, or with complex ones, has no condition on them.
                Weights::None | Weights::Complex(_) => {}
            };
        };
        let is_missing = |edge: usize| column.missing.get(edge) == Some(&true);
        match &column.values {
            AttributeValues::Words(words) => {
                let is_real = kind == Some(&AttributeKind::Real);
                each(&|edge| match is_missing(edge) {
                    true => Value::Missing,
                    false if is_real => Value::Real(f64::from_bits(words[edge])),
                    false => Value::Whole(words[edge] as i64),
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

    /// Whether a value of a column, as its text, meets the condition; true if it cannot be compared, which is an error
    /// elsewhere.
    pub(super) fn is_met_by_text(&self, kind: &AttributeKind, text: Option<&str>) -> bool {
        match Value::of(kind, text) {
            None => true,
            Some(Value::Between(whole)) => self.is_met(&Value::Whole(whole)),
            Some(value) => self.is_met(&value),
        }
    }
}

impl Value<'static> {
    /// A value in the kind of a column; nothing if the column cannot have it.
    fn of(kind: &AttributeKind, value: Option<&str>) -> Option<Self> {
        let Some(text) = value else { return Some(Value::Missing) };
        let whole = || integer(text.as_bytes()).and_then(Integer::signed).map(Value::Whole);
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
            AttributeKind::Date => Some(Value::Whole(Moment::of(text.as_bytes())?.date()?)),
            AttributeKind::Timestamp { unit, .. } => time(text, *unit),
        }
    }
}

/// The values of an equality.
#[derive(Default)]
struct Set {
    missing: bool,
    wholes: HashSet<i64>,
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
                let whole = *real as i64;
                has_real(*real) || compare_real(whole, *real) == Some(Ordering::Equal) && self.wholes.contains(&whole)
            }
            Value::Text(text) => self.texts.contains(&**text),
        }
    }
}

/// The number of units of a column from 1970 to a date or a time: in UTC, unless the text states an offset.
fn time(text: &str, unit: TimeUnit) -> Option<Value<'static>> {
    Some(match Moment::of(text.as_bytes())?.count(unit)? {
        Count::Exactly(count) => Value::Whole(count),
        Count::Above(count) => Value::Between(count),
    })
}

/// A value of an edge, or of a condition in the kind of the column.
#[derive(Clone, Debug)]
enum Value<'a> {
    Missing,
    Whole(i64),
    /// A time of a condition, between this count of the column's unit and the next one.
    Between(i64),
    Real(f64),
    Text(Cow<'a, [u8]>),
}

impl Value<'_> {
    fn compare(&self, operand: &Value<'_>) -> Option<Ordering> {
        match (self, operand) {
            (Value::Whole(value), Value::Whole(operand)) => Some(value.cmp(operand)),
            (Value::Whole(value), Value::Between(operand)) => Some(value.cmp(operand).then(Ordering::Less)),
            (Value::Whole(value), Value::Real(operand)) => compare_real(*value, *operand),
            (Value::Real(value), Value::Real(operand)) => value.partial_cmp(operand),
            (Value::Real(value), Value::Whole(operand)) => compare_real(*operand, *value).map(Ordering::reverse),
            (Value::Text(value), Value::Text(operand)) => Some(value.cmp(operand)),
            (Value::Missing, Value::Missing) => Some(Ordering::Equal),
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

#[cfg(test)]
mod tests {
    use super::*;

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
