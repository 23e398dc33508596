//! Graphs with two sides, such as users and items, whose ids are two spaces: user 1 is not item 1.
//!
//! Sources are one side and targets the other. Behind the parser of the input, every id becomes a string with the
//! prefix of its side, so that one graph holds both. What side a vertex is on is told by its id from then on.

use crate::batch::{EdgeBatch, Ids, InputOptions, Source};
use crate::column_names::kinds_note;
use crate::mapped::parsing;
use crate::text::source::begin_at;
use outcore_image::{Error, Result};
use std::io::Write;
use std::path::Path;

/// Default prefixes of the ids of sources and of targets. Those of sources sort first, as rows of a matrix do.
pub const SIDES: [&str; 2] = ["left:", "right:"];

/// Largest length of a prefix: the bytes that prefixes add to a batch of ids are planned for.
const MOST_PREFIX_BYTES: usize = 32;

/// Puts a prefix before the ids of sources, and another before those of targets, if the user or the input says that
/// they are two sides. Those of a matrix are its rows and its columns.
///
/// # Errors
/// Prefixes of which one begins with the other; other prefixes than [`SIDES`] for a matrix.
pub(crate) fn with_sides(mut source: Source, options: &InputOptions) -> Result<Source> {
    let is_told = options.bipartite.is_none();
    let Some(prefixes) = options.bipartite.clone().or(source.facts.sides.clone()) else { return Ok(source) };
    if options.is_matrix {
        check_matrix(&prefixes, options)?;
        (source.facts.directed, source.facts.directed_by) = (Some(true), Some("the two sides".to_owned()));
        source.facts.sides_are_matrix = true;
    }
    let [left, right] = &prefixes;
    if left.starts_with(right.as_str()) || right.starts_with(left.as_str()) {
        return Err(Error::Usage(format!(
            "--bipartite: expected two prefixes of which none begins with the other, found `{left}` and `{right}`"
        )));
    }
    if let Some(long) = prefixes.iter().find(|prefix| prefix.len() > MOST_PREFIX_BYTES) {
        return Err(Error::Usage(format!(
            "--bipartite: expected prefixes of at most {MOST_PREFIX_BYTES} bytes, found a prefix of {}",
            long.len()
        )));
    }
    let (inner, strings, facts) = (source.parser(), source.facts.string_ids, &mut source.facts);
    (facts.sides, facts.string_ids, facts.declared) = (Some(prefixes.clone()), true, None);
    facts.sides_are_integers = !strings;
    // If the user wants directions, edges have those of the list.
    if facts.directed.is_none() && options.directed.is_none() {
        (facts.directed, facts.directed_by) = (Some(false), Some("the two sides".to_owned()));
    }
    // Equal ids of both sides are two vertices here.
    let as_ids = facts.ends.as_ref().and_then(|[source, target]| kinds_note(source, target, false, options.is_matrix));
    facts.notes.retain(|note| Some(note) != as_ids.as_ref());
    if is_told {
        facts.notes.push(format!("Ids of sources begin with `{left}`, ids of targets with `{right}`."));
    }
    source.declares_late = false;
    source.parser = parsing(inner, move |inner, block, batch, take| {
        let mut own = EdgeBatch::new(strings);
        inner.parse(block, &mut own, &mut |own| {
            convert(inner.path(), &prefixes, own, batch)?;
            take(batch)
        })
    });
    Ok(source)
}

/// Refuses what a matrix has not whose rows are one side and whose columns are the other. Its image has no other
/// prefixes, so that readers know the ids without them.
fn check_matrix(prefixes: &[String; 2], options: &InputOptions) -> Result<()> {
    let text = match options.directed {
        Some(false) => "--bipartite: expected a matrix whose rows and columns are apart, found one that is symmetric",
        _ if *prefixes != SIDES => "--bipartite: expected no prefixes for a matrix, whose ids come back without any",
        _ => return Ok(()),
    };
    Err(Error::Usage(text.to_owned()))
}

/// Moves the edges of a batch to another one, with prefixes before their ids.
fn convert(path: &Path, prefixes: &[String; 2], inner: &mut EdgeBatch, batch: &mut EdgeBatch) -> Result<()> {
    if !inner.vertices.is_empty() {
        let expected = "an input that lists edges only, since nothing says on which side a vertex is";
        return Err(Error::input(path, None, expected, "a list of vertices")
            .advise("leave --bipartite out, or the list of vertices"));
    }
    begin_at(batch, inner.sequence, true);
    let Ids::Text { bytes, ends } = &mut batch.ids else { unreachable!("they were made so") };
    let long = || Error::input(path, None, "shorter ids", "ids that take 4 GiB with their prefixes");
    let mut push = |place: usize, put: &dyn Fn(&mut Vec<u8>)| {
        bytes.extend_from_slice(prefixes[place % 2].as_bytes());
        put(bytes);
        ends.push(u32::try_from(bytes.len()).map_err(|_| long())?);
        Ok::<_, Error>(())
    };
    match &inner.ids {
        Ids::Text { bytes: own, ends } => {
            let mut start = 0;
            for (place, &end) in ends.iter().enumerate() {
                push(place, &|bytes| bytes.extend_from_slice(&own[start..end as usize]))?;
                start = end as usize;
            }
        }
        Ids::Integer { values, negative, .. } => {
            for (place, &value) in values.iter().enumerate() {
                // Writing to memory does not fail.
                push(place, &|bytes| {
                    _ = if *negative { write!(bytes, "{}", value as i64) } else { write!(bytes, "{value}") };
                })?;
            }
        }
    }
    std::mem::swap(&mut batch.weights, &mut inner.weights);
    std::mem::swap(&mut batch.attributes, &mut inner.attributes);
    inner.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edges_with, failure_with};

    fn options(left: &str, right: &str) -> InputOptions {
        InputOptions { bipartite: Some([left, right].map(str::to_owned)), ..InputOptions::default() }
    }

    #[test]
    fn ids_of_both_sides_are_apart() {
        let names = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        let read = edges_with("edge-list", b"source,target,weight\n1,1,2.5\n-3,1,4\n", &options("u", "i"));
        assert_eq!((read.names, read.weights), (names(&[("u1", "i1"), ("u-3", "i1")]), vec![2.5, 4.0]));
        assert_eq!((read.facts.directed, read.facts.string_ids), (Some(false), true));
        let huge = edges_with("edge-list", b"18446744073709551615 7\n", &options("u", "i"));
        assert_eq!(huge.names, names(&[("u18446744073709551615", "i7")]));
        let words = edges_with("edge-list", "anna\tanna\n\u{e9}\tb\n".as_bytes(), &options("\u{e9}", "b"));
        assert_eq!(words.names, names(&[("\u{e9}anna", "banna"), ("\u{e9}\u{e9}", "bb")]));
        // The direction of the input stands, and the option does not turn an edge into two.
        let directed = InputOptions { directed: Some(true), ..options("u", "i") };
        assert_eq!(edges_with("edge-list", b"1 2\n", &directed).facts.directed, None);
        let directed = edges_with("edge-list", b"Source,Target,Type\n1,2,Directed\n", &options("u", "i"));
        assert_eq!(directed.facts.directed, Some(true));
        assert_eq!(edges_with("binary32", &[1, 0, 0, 0, 1, 0, 0, 0], &options("u", "i")).names, names(&[("u1", "i1")]));
        assert_eq!(edges_with("edge-list", b"", &options("u", "i")).names, []);
    }

    #[test]
    fn sides_that_cannot_be_are_refused() {
        for (left, right) in [("u", "u"), ("u", "us"), ("us", "u"), ("", "i"), ("u", "")] {
            let error = failure_with("edge-list", b"1 2\n", &options(left, right));
            assert!(error.contains("none begins with the other"), "{left} {right}: {error}");
        }
        assert!(failure_with("edge-list", b"1 2\n", &options("u", &"i".repeat(33))).contains("at most 32 bytes"));
        let matrix = InputOptions { is_matrix: true, ..options("u", "i") };
        assert!(failure_with("edge-list", b"1 2\n", &matrix).contains("expected no prefixes for a matrix"));
        let symmetric = InputOptions { directed: Some(false), bipartite: Some(SIDES.map(str::to_owned)), ..matrix };
        assert!(failure_with("edge-list", b"1 2\n", &symmetric).contains("found one that is symmetric"));
        for (format, text) in [("gml", "graph [ node [ id 1 ] ]"), ("metis", "1 0\n\n")] {
            let error = failure_with(format, text.as_bytes(), &options("u", "i"));
            assert!(error.contains("--bipartite: expected an input that it is for"), "{format}: {error}");
        }
    }
}
