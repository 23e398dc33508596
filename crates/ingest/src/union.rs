//! Attributes of several inputs, united by their names: an input without one has missing values there.
//!
//! Whole numbers in one input and real ones in another are real numbers. A column of text that is of different kinds in
//! different files is one of strings, as a column of a single file would be. Other kinds contradict each other. A
//! column without a value in the first rows of a file takes the kind that it has in others.

use crate::batch::{Facts, Source};
use crate::tables::attributes::{AttributeColumn, AttributeField, form};
use outcore_format::{AttributeKind, MAX_ATTRIBUTES};
use outcore_image::{Error, Result};
use std::path::Path;

/// An attribute of some inputs, and the one that decides its kind.
struct United<'a> {
    field: AttributeField,
    decided_by: &'a Path,
    /// No input told a kind so far.
    is_untyped: bool,
    /// Number of inputs that have it.
    count: usize,
}

/// The attributes of all inputs, in the order in which they first stand, and a note on those that some inputs lack.
/// Text that will be opened again has strings where kinds differ.
///
/// # Errors
/// An attribute of kinds that contradict each other; too many attributes.
pub(crate) fn union(inputs: &[(&Path, &Facts)], may_reopen: bool) -> Result<(Vec<AttributeField>, Option<String>)> {
    let mut all: Vec<United<'_>> = Vec::new();
    for &(path, facts) in inputs {
        for field in &facts.attributes {
            let is_untyped = facts.untyped.contains(&field.name);
            let Some(known) = all.iter_mut().find(|known| known.field.name == field.name) else {
                all.push(United { field: field.clone(), decided_by: path, is_untyped, count: 1 });
                continue;
            };
            known.count += 1;
            if is_untyped {
                continue;
            }
            if std::mem::take(&mut known.is_untyped) {
                (known.field.kind, known.decided_by) = (field.kind.clone(), path);
                continue;
            }
            let kind = common_kind(&known.field.kind, &field.kind, may_reopen && facts.text.is_some());
            let kind = kind.ok_or_else(|| differs(known, field, path))?;
            if kind != known.field.kind {
                (known.field.kind, known.decided_by) = (kind, path);
            }
        }
    }
    if all.len() > MAX_ATTRIBUTES {
        let found = format!("{} columns in all files together", all.len());
        return Err(Error::input(inputs[0].0, None, format!("at most {MAX_ATTRIBUTES} attributes"), found)
            .advise("name those that you need: --attributes NAME,NAME"));
    }
    let lacking = all.iter().filter(|one| one.count < inputs.len());
    let lacking: Vec<String> =
        lacking.map(|one| format!("{} ({} of {})", one.field.name, one.count, inputs.len())).collect();
    let note = (!lacking.is_empty()).then(|| {
        format!(
            "Attributes that only some inputs have, and whose values are missing in the others: {}.",
            lacking.join(", ")
        )
    });
    Ok((all.into_iter().map(|one| one.field).collect(), note))
}

/// The kind that holds the values of both; strings hold what stands in text that is opened again.
fn common_kind(one: &AttributeKind, other: &AttributeKind, may_be_strings: bool) -> Option<AttributeKind> {
    match (one, other) {
        _ if one == other => Some(one.clone()),
        (AttributeKind::Integer, AttributeKind::Real) | (AttributeKind::Real, AttributeKind::Integer) => {
            Some(AttributeKind::Real)
        }
        _ => may_be_strings.then_some(AttributeKind::String),
    }
}

fn differs(known: &United<'_>, found: &AttributeField, path: &Path) -> Error {
    let (name, kind, first) = (&found.name, form(&known.field.kind), known.decided_by.display());
    let expected = format!("the attribute `{name}` ({kind}), as in {first}");
    let found = format!("`{name}` ({})", form(&found.kind));
    Error::input(path, None, expected, found)
        .advise("import the files one by one, bring the columns into one form, or name those to keep")
}

/// Hands over the attributes of a source as these, which are a union with its own. `path` is its name in messages.
pub(crate) fn united(mut source: Source, fields: &[AttributeField], path: &Path) -> Source {
    let own = std::mem::replace(&mut source.facts.attributes, fields.to_vec());
    if own == fields {
        return source;
    }
    let place = |field: &AttributeField| own.iter().position(|one| one.name == field.name);
    let columns: Vec<_> = fields.iter().map(|field| (field.clone(), place(field))).collect();
    let path = path.to_owned();
    source.map(move |batch, first_row| {
        let rows = batch.ids.len() / 2;
        let mut old: Vec<_> = std::mem::take(&mut batch.attributes).into_iter().map(Some).collect();
        for (field, place) in &columns {
            let column = place.and_then(|place| Some((old.get_mut(place)?.take()?, &own[place].kind)));
            batch.attributes.push(match column {
                None => AttributeColumn::all_missing(rows),
                Some((column, kind)) => column.widened(kind, &field.kind).map_err(|(row, found)| {
                    let row = first_row.map(|first| first + row);
                    let expected = format!("a value of the attribute `{}` as {}", field.name, form(&field.kind));
                    Error::input(&path, row, expected, found)
                        .advise("bring the column into one form in all files, or leave it out")
                })?,
            });
        }
        Ok(())
    });
    source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::TextFacts;
    use crate::tables::attributes::AttributeValues;

    fn facts(fields: &[(&str, AttributeKind)], untyped: &[&str]) -> Facts {
        let field = |(name, kind): &(&str, AttributeKind)| AttributeField { name: (*name).into(), kind: kind.clone() };
        let untyped = untyped.iter().map(|name| (*name).to_owned()).collect();
        Facts { attributes: fields.iter().map(field).collect(), untyped, ..Facts::default() }
    }

    #[test]
    fn kinds_are_united_where_one_holds_the_other() {
        use AttributeKind::{Boolean, Date, Integer, Real, String};
        let [one, other] = [Path::new("one"), Path::new("other")];
        let a = facts(&[("x", Integer), ("y", Date), ("z", String)], &["z"]);
        let b = facts(&[("new", Boolean), ("x", Real), ("z", Integer)], &[]);
        let (fields, note) = union(&[(one, &a), (other, &b)], true).unwrap();
        assert_eq!(fields, facts(&[("x", Real), ("y", Date), ("z", Integer), ("new", Boolean)], &[]).attributes);
        assert!(note.unwrap().ends_with("y (1 of 2), new (1 of 2)."));
        let c = facts(&[("y", Integer)], &[]);
        let error = union(&[(one, &a), (other, &c)], true).unwrap_err().to_string();
        assert!(error.starts_with("other: expected the attribute `y` (date"), "{error}");
        assert!(error.contains("as in one, found `y` (integer)"), "{error}");
        let text = |facts: Facts| {
            let (separator, weight_column) = (",".to_owned(), None);
            let text = TextFacts { separator, header: true, weight_column, columns: 3, has_rows: true };
            Facts { text: Some(text), ..facts }
        };
        let (fields, note) = union(&[(one, &text(facts(&[("y", Date)], &[]))), (other, &text(c))], true).unwrap();
        assert_eq!((fields, note), (facts(&[("y", String)], &[]).attributes, None));
        // Without a second opening, the values were read as what they are.
        assert!(
            union(&[(one, &text(facts(&[("y", Date)], &[]))), (other, &text(facts(&[("y", Real)], &[])))], false)
                .is_err()
        );
    }

    #[test]
    fn whole_numbers_become_real_ones_that_equal_them() {
        let words = |values: &[i64]| AttributeValues::Words(values.iter().map(|&value| value as u64).collect());
        let column =
            |values: &[i64], missing: &[bool]| AttributeColumn { values: words(values), missing: missing.into() };
        let widened = |column: AttributeColumn| column.widened(&AttributeKind::Integer, &AttributeKind::Real);
        let found = widened(column(&[-3, 0, 1 << 53], &[false, true, false])).unwrap();
        let reals = [-3.0f64, 0.0, (1u64 << 53) as f64].map(f64::to_bits);
        assert_eq!((found.values, found.missing), (AttributeValues::Words(reals.into()), vec![false, true, false]));
        assert_eq!(widened(column(&[1, (1 << 53) + 1], &[])).unwrap_err(), (1, "9007199254740993".to_owned()));
        let text = AttributeColumn {
            values: AttributeValues::Text { bytes: b"5x".into(), ends: vec![0, 1, 2] },
            missing: vec![true, false, false],
        };
        let found = text.widened(&AttributeKind::String, &AttributeKind::Integer);
        assert_eq!(found.unwrap_err(), (2, "`x`".to_owned()));
    }
}
