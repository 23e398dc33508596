//! Conditions that edges must meet to be read: comparisons of an attribute, of the weight or of an end with a value.
//!
//! The ends are compared as the input has them, before prefixes of two sides. A compared column is read as an attribute
//! is. After the parser of the input, edges that do not meet all conditions leave the batch, and then columns that are
//! not kept do. An edge without a weight is refused only if it stays.

mod compare;

use crate::batch::{EdgeBatch, Facts, InputOptions, Source};
use crate::condition::Condition;
use crate::tables::attributes::{AttributeField, Attributes, retain};
use compare::{Check, Columns};
use outcore_image::Result;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Leaves the edges of a source of files or tables out that do not meet the conditions.
///
/// # Errors
/// As for [`narrowed`].
pub(crate) fn with_conditions(source: Source, options: &InputOptions) -> Result<Source> {
    let path = source.parser().path().to_owned();
    if options.conditions.is_empty() { Ok(source) } else { narrow(source, options, Some(&path)) }
}

/// Refuses a condition that the united columns of several inputs cannot meet, with the first input whose own cannot.
pub(crate) fn check_united(united: &Facts, inputs: &[(&Path, &Facts)], conditions: &[Condition]) -> Result<()> {
    for condition in conditions {
        if Check::new(condition, Columns::of(united, &[], None)).is_ok() {
            continue;
        }
        for (path, facts) in inputs {
            let is_own = facts.attributes.iter().any(|field| field.name == condition.column);
            if is_own && !facts.untyped.contains(&condition.column) {
                Check::new(condition, Columns::of(facts, &[], Some(path)))?;
            }
        }
    }
    Ok(())
}

/// Leaves the edges of a graph out that do not meet the conditions, and then the attributes that are not to be kept:
/// of files, those that were read for conditions only.
///
/// # Errors
/// A condition on a column that the source has not, or with a value that the column cannot have.
pub fn narrowed(source: Source, options: &InputOptions) -> Result<Source> {
    narrow(source, options, None)
}

fn narrow(mut source: Source, options: &InputOptions, path: Option<&Path>) -> Result<Source> {
    let facts = &mut source.facts;
    let mut checks = Vec::new();
    let has_rows = facts.edges != Some(0) && facts.text.as_ref().is_none_or(|text| text.has_rows);
    let ends = ends_of(facts.ends.as_ref());
    let columns = Columns::of(facts, &ends, path);
    for condition in &options.conditions {
        let is_known = |name: &str| *name == condition.column;
        let attributes = facts.attributes.iter().map(|field| field.name.as_str());
        let names = attributes.chain(facts.weights.as_deref()).chain(ends.iter().map(|(name, _)| *name));
        if !has_rows && names.into_iter().any(is_known) {
            // Nobody knows the kind of no values.
            continue;
        }
        checks.push(Check::new(condition, columns)?);
    }
    let is_kept = kept_fields(&facts.attributes, &options.attributes);
    retain(&mut facts.attributes, &is_kept);
    facts.edges = facts.edges.filter(|_| checks.is_empty());
    let left_out = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&left_out);
    if !options.conditions.is_empty() {
        source.facts.unmet.push(Arc::clone(&left_out));
    }
    let parser = source.parser();
    source.map(move |batch, _| {
        let mut marks = vec![true; batch.ids.len() / 2];
        if !marks.is_empty() {
            for check in &checks {
                check.apply(batch, &mut marks);
            }
            if let Some(edge) = batch.unweighted.iter().find(|edge| marks[edge.edge]) {
                return Err(parser.no_weight(batch.sequence, edge.record));
            }
            batch.unweighted.clear();
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

/// Keeps some attributes of edges, each by its place until now, in another order and under other names.
///
/// # Panics
/// If there is no attribute at a place.
pub fn with_attributes(mut source: Source, kept: &[(usize, String)]) -> Source {
    let old = std::mem::take(&mut source.facts.attributes);
    let named = |(place, name): &(usize, String)| AttributeField { name: name.clone(), ..old[*place].clone() };
    source.facts.attributes = kept.iter().map(named).collect();
    let places: Vec<usize> = kept.iter().map(|(place, _)| *place).collect();
    if !places.iter().copied().eq(0..old.len()) {
        source.map(move |batch, _| {
            let mut old: Vec<_> = std::mem::take(&mut batch.attributes).into_iter().map(Some).collect();
            batch.attributes = places.iter().filter_map(|&place| old.get_mut(place)?.take()).collect();
            Ok(())
        });
    }
    source
}

/// Puts the attributes of edges into the order in which options name them. Numbers among the names stand for attributes
/// that no name stands for.
pub(crate) fn in_named_order(source: Source, asked: &Attributes) -> Source {
    let Attributes::Named(names) = asked else { return source };
    let fields = &source.facts.attributes;
    let mut by_number = (0..fields.len()).filter(|&place| !names.contains(&fields[place].name));
    let place = |name: &String| {
        let by_name = fields.iter().position(|field| field.name == *name);
        by_name.or_else(|| if name.parse::<usize>().is_ok() { by_number.next() } else { None })
    };
    let order: Vec<usize> = names.iter().filter_map(place).collect();
    if order.len() < fields.len() {
        return source;
    }
    let named: Vec<_> = order.iter().map(|&place| (place, fields[place].name.clone())).collect();
    with_attributes(source, &named)
}

/// The names of the ends of edges: those of their columns, and those that every input has.
fn ends_of(columns: Option<&[String; 2]>) -> Vec<(&str, usize)> {
    let own = columns.into_iter().flatten().map(String::as_str).zip(0..);
    own.chain(END_NAMES.into_iter().zip(0..)).collect()
}

/// Names of the ends of edges in every input, for conditions.
pub(crate) const END_NAMES: [&str; 2] = ["source", "target"];

/// Calls `visit` with every row of a table of vertices, by its number from 0, and whether it meets all conditions: on
/// `vertex`, the ids, and on attributes. The table is read as [`InputOptions::of_vertices`] has it.
///
/// # Errors
/// As for [`narrowed`]; rows that cannot be read.
pub fn rows_that_meet(mut source: Source, conditions: &[Condition], mut visit: impl FnMut(u64, bool)) -> Result<()> {
    let facts = source.facts();
    let ends = [("vertex", 0)];
    let columns = Columns { weights: None, ..Columns::of(facts, &ends, None) };
    let checks: Vec<Check> =
        conditions.iter().map(|condition| Check::new(condition, columns)).collect::<Result<_>>()?;
    let (parser, mut batch, mut row) = (source.parser(), EdgeBatch::new(facts.string_ids), 0);
    while let Some(block) = source.next_block()? {
        for part in block.parts() {
            batch.clear();
            parser.parse(&part?, &mut batch, &mut |batch| {
                row = visit_rows(&checks, batch, row, &mut visit);
                batch.clear();
                Ok(())
            })?;
            row = visit_rows(&checks, &batch, row, &mut visit);
        }
    }
    Ok(())
}

/// Visits the rows of a batch, of which `first` come before; returns the number of those up to its end.
fn visit_rows(checks: &[Check], batch: &EdgeBatch, first: u64, visit: &mut impl FnMut(u64, bool)) -> u64 {
    let mut marks = vec![true; batch.ids.len() / 2];
    if !marks.is_empty() {
        checks.iter().for_each(|check| check.apply(batch, &mut marks));
    }
    (first..).zip(&marks).for_each(|(row, &is_met)| visit(row, is_met));
    first + marks.len() as u64
}

/// Whether each attribute is kept: it is asked for by name or, as a column of a table, by number. Tables hand over
/// first the attributes that are asked for.
fn kept_fields(fields: &[AttributeField], asked: &Attributes) -> Vec<bool> {
    let Attributes::Named(names) = asked else { return vec![*asked == Attributes::All; fields.len()] };
    let is_number = |name: &&String| name.parse::<usize>().is_ok() && fields.iter().all(|field| field.name != **name);
    let mut numbers = names.iter().filter(is_number);
    fields.iter().map(|field| names.contains(&field.name) || numbers.next().is_some()).collect()
}

/// Whether a value of a column, as its text, meets a condition; true if it cannot be compared, which is an error
/// elsewhere.
pub(crate) fn is_met(condition: &Condition, field: &AttributeField, value: Option<&str>) -> bool {
    let columns =
        Columns { path: None, attributes: std::slice::from_ref(field), weights: None, ends: &[], string_ids: false };
    let check = Check::new(condition, columns);
    check.map_or(true, |check| check.is_met_by_text(&field.kind, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attributes::AttributeValues;
    use crate::testing::{edges_with, failure_with};

    #[test]
    fn a_missing_weight_is_refused_only_where_its_edge_stays() {
        let with = |conditions: &[&str], weight: &str| InputOptions {
            conditions: conditions.iter().map(|text| Condition::parse(text).unwrap()).collect(),
            weight: Some(weight.to_owned()),
            ..InputOptions::default()
        };
        let json = b"{\"source\":1,\"target\":2,\"dist\":5,\"label\":\"route\"}\n\
                     {\"source\":2,\"target\":3,\"dist\":null,\"label\":\"city\"}\n\
                     {\"source\":3,\"target\":4,\"label\":\"city\"}\n\
                     {\"source\":4,\"target\":5,\"dist\":7.5,\"label\":\"route\"}\n";
        let graphml = "<graphml><key id='d' for='edge' attr.name='dist' attr.type='double'/>\n\
                       <key id='l' for='edge' attr.name='label'/><graph edgedefault='directed'>\n\
                       <edge source='1' target='2'><data key='d'>5</data><data key='l'>route</data></edge>\n\
                       <edge source='2' target='3'><data key='l'>city</data></edge>\n\
                       <edge source='4' target='5'><data key='d'>7.5</data><data key='l'>route</data></edge>\n\
                       </graph></graphml>";
        for (format, text) in [
            ("edge-list", &b"source,target,dist,label\n1,2,5,route\n2,3,,city\n3,4,NA,city\n4,5,7.5,route\n"[..]),
            ("edge-list", b"source target dist label\n1 2 5 route\n2 3 nan city\n4 5 7.5 route\n"),
            ("jsonl", json),
            ("graphml", graphml.as_bytes()),
        ] {
            for condition in ["label = route", "dist != null", "dist > 1"] {
                let read = edges_with(format, text, &with(&[condition], "dist"));
                assert_eq!((read.pairs, read.weights), (vec![(1, 2), (4, 5)], vec![5.0, 7.5]), "{format}: {condition}");
            }
            for condition in ["label = city", "dist = null", "label != x"] {
                let error = failure_with(format, text, &with(&[condition], "dist"));
                assert!(error.contains("dist") && error.contains("--weight none"), "{format}: {condition}: {error}");
            }
            assert!(failure_with(format, text, &with(&[], "dist")).contains("dist"), "{format}");
        }
    }

    #[test]
    fn dates_and_times_in_text_are_compared_as_such() {
        let rows = [("2025-03-15 18:00:00", "2025-03-15"), ("2025-03-15T09:30:00.5", "2025-03-16"), ("", "")];
        let csv = rows.iter().zip(1..).map(|((time, day), id)| format!("{id},{},{time},{day}\n", id + 1));
        let csv = format!("source,target,at,day\n{}", csv.collect::<String>());
        let json = rows.iter().zip(1..).map(|((time, day), id)| match *time {
            "" => format!("{{\"source\":{id},\"target\":{},\"at\":null}}\n", id + 1),
            _ => format!("{{\"source\":{id},\"target\":{},\"at\":\"{time}\",\"day\":\"{day}\"}}\n", id + 1),
        });
        let json = json.collect::<String>();
        let with = |condition: &str| InputOptions {
            conditions: vec![Condition::parse(condition).unwrap()],
            attributes: Attributes::All,
            ..InputOptions::default()
        };
        for (format, text) in [("edge-list", &csv), ("jsonl", &json)] {
            for (condition, sources) in [
                ("at >= '2025-03-15T12:00:00'", vec![1]),
                ("at < 2025-03-15T12:00+01:00", vec![2]),
                ("at = 2025-03-15T18:00", vec![1]),
                ("at > 2025-03-15", vec![1, 2]),
                ("at = null", vec![3]),
                ("day > 2025-03-15", vec![2]),
                ("day in 2025-03-15,2025-03-16", vec![1, 2]),
            ] {
                let read = edges_with(format, text.as_bytes(), &with(condition));
                assert_eq!(read.pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), sources, "{format}: {condition}");
                let kinds: Vec<&str> = read.facts.attributes.iter().map(|field| field.kind.name()).collect();
                assert_eq!(kinds, ["timestamp", "date"], "{format}");
            }
        }
        let late = format!("{csv}{}5,6,soon,\n", "4,5,2025-03-15 18:00:00,\n".repeat(1000));
        let error = failure_with("edge-list", late.as_bytes(), &with("day != null"));
        assert!(error.contains(":1005: expected an attribute of the kind timestamp"), "{error}");
    }

    #[test]
    fn ids_are_compared_under_the_names_of_their_columns() {
        let with = |condition: &str| InputOptions {
            conditions: vec![Condition::parse(condition).unwrap()],
            ..InputOptions::default()
        };
        let text = b"payer,payee,source\nann,bob,x\nbob,cy,y\nann,cy,x\n";
        let ann_to = |ids: &[&str]| ids.iter().map(|id| ("ann".to_owned(), (*id).to_owned())).collect::<Vec<_>>();
        for (condition, ids) in [
            ("payer = ann", &["bob", "cy"][..]),
            ("payer = \"ann\"", &["bob", "cy"]),
            ("payee in bob, dan", &["bob"]),
            ("target < bz", &["bob"]),
            // A column of that name is meant before an end.
            ("source = x", &["bob", "cy"]),
            ("payer != bob", &["bob", "cy"]),
            ("payer = null", &[]),
        ] {
            let read = edges_with("edge-list", text, &with(condition));
            assert_eq!(read.names, ann_to(ids), "{condition}");
            assert!(read.facts.attributes.is_empty());
        }
        let rows = b"{\"source\":-7,\"target\":2}\n{\"source\":12,\"target\":-9}\n";
        assert_eq!(edges_with("jsonl", rows, &with("source < 0")).pairs.len(), 1);
        let text = b"1 18446744073709551615\n2 9223372036854775808\n3 4\n";
        for (condition, sources) in [
            ("target = 18446744073709551615", vec![1]),
            ("target > 9223372036854775807", vec![1, 2]),
            ("source in 1,3", vec![1, 3]),
            ("1 >= 2", vec![2, 3]),
            ("2 = 4", vec![3]),
        ] {
            let read = edges_with("edge-list", text, &with(condition));
            assert_eq!(read.pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), sources, "{condition}");
        }
        let sides = InputOptions { bipartite: Some(crate::SIDES.map(str::to_owned)), ..with("source = 3") };
        let read = edges_with("edge-list", text, &sides);
        assert_eq!(read.names, [("left:3".to_owned(), "right:4".to_owned())]);
        for (format, text, condition, said) in [
            ("edge-list", &text[..], "source > 1.5", "a value that `source` can have (integer)"),
            ("edge-list", text, "source = ann", "a value that `source` can have (integer)"),
            ("edge-list", b"source,target,n\na,b,1\n", "source > 5", "put it in quotes"),
            ("edge-list", b"source,target,n\na,b,1\n", "vertex.state = x", "conditions on vertices are for images"),
            ("el", b"1 2\n", "payer = 1", "the columns are 1, 2"),
        ] {
            let error = failure_with(format, text, &with(condition));
            assert!(error.contains(said), "{condition}: {error}");
        }
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
            ("kind < '2024-02-29 10:00'", "holds strings"),
            ("speed > 3", "a column `speed`, as --where says"),
        ] {
            assert!(failure_with("edge-list", text, &with(&[condition], Attributes::None)).contains(said));
        }
        let pairs = edges_with("wel", b"1 2 5\n2 3 6.5\n", &with(&["weight >= 6"], Attributes::None));
        assert_eq!((pairs.pairs, pairs.weights), (vec![(2, 3)], vec![6.5]));
        let none = failure_with("el", b"1 2\n", &with(&["weight >= 6"], Attributes::None));
        assert!(none.contains("there are source, target") || none.contains("no such column"), "{none}");
    }
}
