//! Columns by their names: which hold the ends of edges, and which one an option asks for. Tables and text files share
//! this.

use crate::batch::InputOptions;
use crate::tables::attributes::AttributeField;
use outcore_image::{Error, Result};
use std::path::Path;

/// Usual names of the ends of an edge, in pairs: in lower case, only letters and digits.
const END_NAMES: [(&str, &str); 14] = [
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("sourceid", "targetid"),
    ("srcid", "dstid"),
    ("fromid", "toid"),
    ("fromnodeid", "tonodeid"),
    ("sourcenode", "targetnode"),
    ("fromnode", "tonode"),
    ("source", "destination"),
    ("src", "dest"),
    ("node1", "node2"),
    ("vertex1", "vertex2"),
    ("u", "v"),
];

/// Names that mean the ends of an edge only together.
const PAIRED_NAMES: [(&str, &str); 12] = [
    ("protein1", "protein2"),
    ("id1", "id2"),
    ("v1", "v2"),
    ("payer", "payee"),
    ("payerid", "payeeid"),
    ("sender", "receiver"),
    ("senderid", "receiverid"),
    ("origin", "destination"),
    ("user", "item"),
    ("userid", "itemid"),
    ("row", "col"),
    ("row", "column"),
];

/// Words for the ends of an edge that stand before what the ends are.
const PREFIXES: [(&str, &str); 7] = [
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("origin", "destination"),
    ("sender", "receiver"),
];

/// Pairs whose columns count things of two kinds.
const KINDS: [&str; 2] = ["user", "userid"];

const MOST_NAMES_SHOWN: usize = 50;

/// The columns whose names mean source and target, if it is clear which.
///
/// A pair of names comes before names of different pairs, such as `from` and `target`. Two complete pairs contradict
/// each other.
pub(crate) fn ends_by_name(names: &[&str]) -> Option<(usize, usize)> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let only = |wanted: &dyn Fn(&str) -> bool| {
        let mut places = (0..plain.len()).filter(|&place| wanted(&plain[place]));
        places.next().filter(|_| places.next().is_none())
    };
    let mut pairs = END_NAMES.iter().chain(&PAIRED_NAMES).filter_map(|(source, target)| {
        only(&|name| name == *source).zip(only(&|name| name == *target)) //
    });
    match pairs.next() {
        Some(pair) => Some(pair).filter(|_| pairs.next().is_none()),
        None => only(&means_source).zip(only(&means_target)).or_else(|| ends_by_prefix(&plain)),
    }
}

/// The columns whose names are the two words of a pair with the same behind them, such as `src_ip` and `dst_ip`, if
/// there is one such pair.
fn ends_by_prefix(plain: &[String]) -> Option<(usize, usize)> {
    let mut found = None;
    for (source, target) in PREFIXES {
        for (place, name) in plain.iter().enumerate() {
            let Some(rest) = name.strip_prefix(source) else { continue };
            let others = plain.iter().enumerate().filter(|(_, other)| other.strip_prefix(target) == Some(rest));
            for (other, _) in others.filter(|&(other, _)| other != place) {
                if found.replace((place, other)).is_some() {
                    return None;
                }
            }
        }
    }
    found
}

/// Whether the names of columns hold a pair that means source and target, clear or not.
pub(crate) fn has_pair(names: &[&str]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| plain(name) == wanted);
    END_NAMES.iter().chain(&PAIRED_NAMES).any(|(source, target)| has(source) && has(target))
        || ends_by_prefix(&names.iter().map(|name| plain(name)).collect::<Vec<_>>()).is_some()
}

/// A note on columns whose ids are of two kinds: equal integers in both are one vertex, or one row and column of a
/// matrix.
pub(crate) fn kinds_note(source: &str, target: &str, strings: bool, is_matrix: bool) -> Option<String> {
    let one = if is_matrix { "row and column" } else { "vertex" };
    (!strings && KINDS.contains(&plain(source).as_str())).then(|| {
        format!("Equal numbers in `{source}` and `{target}` are one {one}: if they count apart, say --bipartite.")
    })
}

/// The column that holds the weights if nobody says which: `weight`; of a matrix `value`, if there is no such.
///
/// # Errors
/// Several columns have that name.
pub(crate) fn usual_weight(path: &Path, names: &[&str], options: &InputOptions) -> Result<Option<usize>> {
    let wanted = ["weight", "value"].into_iter().take(if options.is_matrix { 2 } else { 1 });
    let called = |wanted: &str| names.iter().find(|name| name.eq_ignore_ascii_case(wanted));
    wanted.filter_map(called).next().map(|name| column_asked(path, "weight", name, names)).transpose()
}

/// Whether a name means an end of edges, alone or beside another name.
pub(crate) fn may_mean_end(name: &str) -> bool {
    let name = plain(name);
    END_NAMES.iter().chain(&PAIRED_NAMES).any(|(source, target)| name == *source || name == *target)
}

pub(crate) fn means_source(name: &str) -> bool {
    END_NAMES.iter().any(|(source, _)| plain(name) == *source)
}

pub(crate) fn means_target(name: &str) -> bool {
    END_NAMES.iter().any(|(_, target)| plain(name) == *target)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The columns of source and target: those that options ask for, else those whose names mean it, else the only two
/// beside `weight`. Anything else is refused.
pub(crate) fn find_ends(
    names: &[&str],
    weight: Option<usize>,
    path: &Path,
    options: &InputOptions,
) -> Result<(usize, usize)> {
    let column_of = |option: &str, name: &Option<String>| {
        let column = name.as_deref().map(|name| column_asked(path, option, name, names)).transpose()?;
        match (column, weight) {
            (Some(column), Some(weight)) if column == weight => {
                Err(Error::Usage(format!("--{option} {}: that column holds the weights", names[column])))
            }
            _ => Ok(column),
        }
    };
    let chosen = (column_of("source", &options.source)?, column_of("target", &options.target)?);
    let rest: Vec<usize> = (0..names.len()).filter(|&column| Some(column) != weight).collect();
    let only_two = <[usize; 2]>::try_from(rest).ok();
    let named = ends_by_name(names);
    if let (Some(ends), Some(weight)) = (named, weight)
        && (ends.0 == weight && chosen.0.is_none() || ends.1 == weight && chosen.1.is_none())
    {
        return Err(Error::Usage(format!("--weight {}: that column holds the ids", names[weight])));
    }
    let other = |column: usize| {
        let [one, other] = only_two?;
        Some(if one == column { other } else { one })
    };
    let ends = match chosen {
        (Some(source), Some(target)) => Some((source, target)),
        (Some(source), None) => named.map(|ends| ends.1).or_else(|| other(source)).map(|target| (source, target)),
        (None, Some(target)) => named.map(|ends| ends.0).or_else(|| other(target)).map(|source| (source, target)),
        (None, None) => named.or_else(|| {
            let [one, other] = only_two?;
            let is_swapped = means_target(names[one]) || means_source(names[other]);
            Some(if is_swapped { (other, one) } else { (one, other) })
        }),
    };
    match ends {
        Some((source, target)) if source != target => Ok((source, target)),
        Some((source, _)) => Err(Error::Usage(format!(
            "expected two columns with the ends of edges, found `{}` for both; say which with --source and --target; \
             the columns are {}",
            names[source],
            listed(names)
        ))),
        None => Err(Error::input(
            path,
            None,
            "two columns, or columns with names such as source and target",
            if names.is_empty() { "no columns".to_owned() } else { format!("the columns {}", listed(names)) },
        )
        .advise("say with --source and --target which hold the ends of edges")),
    }
}

/// The column that an option asks for, by its name or its number from 1.
///
/// # Errors
/// [`Error::Input`] if the file has no such column, as for [`column_called`].
pub fn column_asked(path: &Path, option: &str, name: &str, names: &[&str]) -> Result<usize> {
    column_called(name, names).map_err(|[found, advice]| {
        Error::input(path, None, format!("a column `{name}`, as --{option} says"), found).advise(advice)
    })
}

/// The column of a name, or of a number from 1.
///
/// # Errors
/// The columns found, and advice, if there is no such column, if several have that name, or if it is the name of one
/// and the number of another.
pub fn column_called(name: &str, names: &[&str]) -> std::result::Result<usize, [String; 2]> {
    let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let by_number = by_number.filter(|&place| place < names.len());
    let mut by_name = (0..names.len()).filter(|&place| names[place] == name);
    if let Some(place) = by_name.next() {
        return match by_name.next() {
            None if by_number.is_some_and(|number| number != place) => Err([
                format!("column {}, which has that name, and another of that number", place + 1),
                "rename the columns".to_owned(),
            ]),
            None => Ok(place),
            Some(other) => Err([
                format!("the columns {} and {}, which have that name", place + 1, other + 1),
                "give the number of one".to_owned(),
            ]),
        };
    }
    by_number.ok_or_else(|| ["no such column".to_owned(), format!("the columns are {}", listed(names))])
}

/// The column that an option asks for, if there is one: an input among others may lack a name.
///
/// # Errors
/// As for [`column_asked`], but none for a name that is not there.
pub(crate) fn column_if_any(path: &Path, option: &str, name: &str, names: &[&str]) -> Result<Option<usize>> {
    let by_number = name.parse::<usize>().is_ok();
    if by_number || names.contains(&name) { column_asked(path, option, name, names).map(Some) } else { Ok(None) }
}

/// Names in a message.
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(MOST_NAMES_SHOWN).map(|name| name.chars().take(100).collect::<String>()).collect();
    let more = names.len().saturating_sub(MOST_NAMES_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The columns of an input that are not read.
#[derive(Clone, Debug, Default)]
pub struct Unread {
    /// Their names; `column 3` and the like where they have none.
    pub names: Vec<String>,
    /// The name or number of the first that may hold weights, if the user says nothing of weights.
    pub(crate) weights: Option<String>,
    /// The user did not choose attributes.
    pub(crate) may_keep: bool,
}

impl Unread {
    /// Adds the columns of another input.
    pub(crate) fn add(&mut self, other: &Unread) {
        for name in &other.names {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        self.weights = self.weights.take().or_else(|| other.weights.clone());
        self.may_keep |= other.may_keep;
    }

    /// Leaves out those that are attributes, since another input has values in them.
    pub(crate) fn retain_others(&mut self, attributes: &[AttributeField]) {
        let is_other = |name: &String| attributes.iter().all(|field| field.name != *name);
        self.names.retain(is_other);
        self.weights = self.weights.take().filter(is_other);
    }

    /// A note on them, if there are some.
    pub(crate) fn note(&self) -> Option<String> {
        let listed: Vec<&str> = self.names.iter().take(20).map(String::as_str).collect();
        let hint = self.weights.as_ref().map_or(String::new(), |called| {
            let quote = if called.bytes().all(|byte| byte.is_ascii_digit()) { "" } else { "'" };
            format!(" They are no weights unless you say so, such as --weight {quote}{called}{quote}.")
        });
        let keep = if self.may_keep { " To keep them, say --attributes all, or name some." } else { "" };
        (!listed.is_empty()).then(|| format!("Columns that are not read: {}.{hint}{keep}", listed.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_by_what_their_names_mean() {
        assert_eq!(ends_by_name(&["edge_id", "source_id", "target_id"]), Some((1, 2)));
        for (target, source) in [("dst_node", "src_node"), ("dst_ip", "src_ip"), ("target name", "source name")] {
            assert_eq!(ends_by_name(&[target, "rank", source]), Some((2, 0)), "{target}");
        }
        assert_eq!(ends_by_name(&["src_ip", "dst_ip", "src_port", "dst_port"]), None);
        assert_eq!(ends_by_name(&["from_a", "to_b"]), None);
        assert_eq!(ends_by_name(&["To", "weight", "FROM"]), Some((2, 0)));
        assert_eq!(ends_by_name(&["from", "to", "source", "target"]), None, "two pairs");
        assert!(has_pair(&["from", "to", "source", "target"]) && !has_pair(&["from", "target"]));
        assert_eq!(ends_by_name(&["target", "from"]), Some((1, 0)), "names of two pairs");
        assert_eq!(ends_by_name(&["#FromNodeId", "ToNodeId"]), Some((0, 1)));
        assert_eq!(ends_by_name(&["source", "source", "target"]), None, "two sources");
        assert_eq!(ends_by_name(&["edge_id", "a", "b"]), None);
        assert_eq!(ends_by_name(&["source", "a"]), None);
        for (names, ends) in [
            (["combined_score", "protein1", "protein2"], Some((1, 2))),
            (["payment_id", "Payee", "Payer"], Some((2, 1))),
            (["Origin", "Destination", "flights"], Some((0, 1))),
            (["user", "item", "rating"], Some((0, 1))),
            (["\"V1\"", "\"V2\"", "\"V3\""], Some((0, 1))),
            (["node1", "node2", "time"], Some((0, 1))),
            (["payer", "amount", "target"], None),
            (["user", "name", "destination"], None),
        ] {
            assert_eq!(ends_by_name(&names), ends, "{names:?}");
        }
        let note = |is_matrix| kinds_note("user_id", "item_id", false, is_matrix).unwrap();
        assert!(note(false).contains("`user_id` and `item_id`") && note(false).ends_with("say --bipartite."));
        assert!(note(true).ends_with("are one row and column: if they count apart, say --bipartite."));
        assert_eq!((kinds_note("user", "item", true, false), kinds_note("payer", "payee", false, false)), (None, None));
        assert!(means_target("Target ID") && !means_target("source"));
    }

    #[test]
    fn columns_are_asked_for_by_name_or_number() {
        let names = ["a", "b", "1", "b", "77", "6"];
        let find = |name: &str| column_asked(Path::new("f"), "source", name, &names);
        assert_eq!(find("77").unwrap(), 4, "a name");
        assert_eq!(find("6").unwrap(), 5, "a name and its number");
        assert_eq!(find("2").unwrap(), 1);
        for (name, expected) in [
            ("b", "columns 2 and 4"),
            ("1", "column 3, which has that name"),
            ("7", "the columns are a, b, 1, b, 77, 6"),
            ("0", "no such"),
        ] {
            let text = find(name).unwrap_err().to_string();
            assert!(text.starts_with("f: ") && text.contains("as --source says") && text.contains(expected), "{text}");
        }
        assert!(listed(&["x"; 402]).ends_with("x and 352 more"));
    }
}
