//! Conditions that edges must meet to be read: comparisons of an attribute, or of the weight, with a value.
//!
//! A compared column is read as an attribute is. After the parser of the input, edges that do not meet all conditions
//! leave the batch, and then columns that are not kept do.

mod compare;

use crate::batch::{InputOptions, Source};
use crate::condition::Condition;
use crate::tables::attributes::{AttributeField, Attributes, retain};
use compare::Check;
use outcore_format::AttributeKind;
use outcore_image::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Leaves the edges of a source of files or tables out that do not meet the conditions. `partitions` are the attributes
/// in the names of folders.
///
/// # Errors
/// As for [`narrowed`].
pub(crate) fn with_conditions(source: Source, options: &InputOptions, partitions: &[String]) -> Result<Source> {
    if options.conditions.is_empty() { Ok(source) } else { narrowed(source, options, partitions) }
}

/// Leaves the edges of a source out that do not meet the conditions, and then the attributes that are not to be kept:
/// of files, those that were read for conditions only.
///
/// # Errors
/// A condition on a column that the source has not, or with a value that the column cannot have.
pub fn narrowed(mut source: Source, options: &InputOptions, partitions: &[String]) -> Result<Source> {
    let facts = &mut source.facts;
    let mut checks = Vec::new();
    for condition in &options.conditions {
        checks.push(Check::new(condition, &facts.attributes, facts.weights.as_deref(), facts.is_complex)?);
    }
    let kinds: Vec<AttributeKind> = facts.attributes.iter().map(|field| field.kind.clone()).collect();
    let is_kept = kept_fields(&facts.attributes, &options.attributes, partitions);
    retain(&mut facts.attributes, &is_kept);
    facts.edges = facts.edges.filter(|_| checks.is_empty());
    let left_out = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&left_out);
    source.map(move |batch, _| {
        let mut marks = vec![true; batch.ids.len() / 2];
        if !marks.is_empty() {
            for check in &checks {
                check.apply(check.place.map(|place| &kinds[place]), batch, &mut marks);
            }
            batch.retain(&marks);
        }
        left_out.fetch_add(marks.iter().filter(|mark| !**mark).count() as u64, Ordering::Relaxed);
        retain(&mut batch.attributes, &is_kept);
        Ok(())
    });
    source.note_late(move || {
        let count = counted.load(Ordering::Relaxed);
        (count > 0).then(|| format!("Edges that do not meet --where and were left out: {count}."))
    });
    Ok(source)
}

/// Whether each attribute is kept: it is asked for by name or, as a column of a table, by number. Tables
/// hand over first the attributes that are asked for, in that order.
fn kept_fields(fields: &[AttributeField], asked: &Attributes, partitions: &[String]) -> Vec<bool> {
    let Attributes::Named(names) = asked else { return vec![*asked == Attributes::All; fields.len()] };
    let of_file: Vec<&String> = names.iter().filter(|name| !partitions.contains(name)).collect();
    let is_asked = |(place, field): (usize, &AttributeField)| {
        let by_number = of_file.get(place).is_some_and(|name| name.parse::<usize>().is_ok());
        names.contains(&field.name) || by_number
    };
    fields.iter().enumerate().map(is_asked).collect()
}

/// Whether a value of a column, as its text, meets a condition; true if it cannot be compared, which is an error
/// elsewhere.
pub(crate) fn is_met(condition: &Condition, field: &AttributeField, value: Option<&str>) -> bool {
    let check = Check::new(condition, std::slice::from_ref(field), None, false);
    check.map_or(true, |check| check.is_met_by_text(&field.kind, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attributes::AttributeValues;
    use crate::testing::{edges_with, failure_with};

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
