//! Adjacency lists: a vertex and its neighbours a line, `u v1 v2 ...` or `u<TAB>v1,v2,...`, integers or strings.
//!
//! One separator between neighbours holds for the whole file: a comma if what stands behind the tab (or, without tabs, the whole
//! line) has one, else tabs if a line has several, else blanks. A vertex alone on its line has no neighbours. `#` and `%` begin
//! comments. A line is at most 64 MiB long. NetworkX calls the form with blanks `adjlist`.

use super::batch::{Block, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source, Weights, bad_record};
use super::blocks::{LineBlocks, Lines};
use super::columns::{Comments, Separator, Skipped, split};
use super::detect::{first_comments, is_padded, looks_like_integer, padded_id};
use super::input::Stream;
use super::number::{integer, lines, real, trim};
use super::text_source::{TextSource, begin, first_data_block, text_of, weights_wanted};
use crate::error::{Error, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many lines decide.
const SAMPLE_LINES: usize = 1000;

/// Opens an adjacency list.
pub(super) fn open(stream: Stream, options: &InputOptions) -> Result<Box<dyn Source>> {
    weights_wanted(options.weight.as_deref(), "adjacency", &[])?;
    let mut blocks = LineBlocks::new(stream);
    let comments = first_comments(blocks.path(), options)?;
    // Blocks of comments alone are not counted: they would have to be larger than a megabyte.
    let first = first_data_block(&mut blocks, |line| comments.is_data(line))?;
    let first = first.unwrap_or(Lines { first_line: 1, bytes: Vec::new(), input_bytes: 0 });
    let sample: Vec<(u64, &[u8])> = (first.first_line..)
        .zip(lines(&first.bytes))
        .filter(|(_, line)| comments.is_data(line))
        .take(SAMPLE_LINES)
        .collect();
    let separator = match &options.delimiter {
        Some(asked) => Separator::named(asked)?,
        None => separator(&sample),
    };
    let mut list = Adjacency {
        path: blocks.path().to_owned(),
        separator,
        comments,
        strings: options.ids == IdKind::String,
        guessed_integers: false,
        skipped: Arc::new(Skipped::default()),
    };
    list.check_owners(&sample)?;
    if options.ids == IdKind::Auto {
        list.decide_ids(&sample)?;
    }
    let name = list.separator.name();
    let facts = Facts {
        format: "adjacency",
        string_ids: list.strings,
        notes: vec![format!("Every line was read as a vertex and its neighbours, between {name}.")],
        ..blocks.facts()
    };
    if !first.bytes.is_empty() {
        blocks.give_back(first);
    }
    Ok(Box::new(TextSource::new(blocks, facts, Arc::new(list))))
}

/// Whether an id is a number that is not whole.
fn is_fraction(id: &[u8]) -> bool {
    id.iter().any(u8::is_ascii_digit) && real(id).is_some() && !looks_like_integer(id)
}

/// What separates neighbours.
fn separator(sample: &[(u64, &[u8])]) -> Separator {
    let behind = |line: &[u8]| memchr::memchr(b'\t', line).map_or(0, |tab| tab + 1);
    if sample.iter().any(|(_, line)| line[behind(line)..].contains(&b',')) {
        return Separator::Byte(b',');
    }
    match sample.iter().any(|(_, line)| line[behind(line)..].contains(&b'\t')) {
        true => Separator::Byte(b'\t'),
        false => Separator::Blanks,
    }
}

/// Parses lines of neighbours.
struct Adjacency {
    path: PathBuf,
    /// What separates neighbours.
    separator: Separator,
    comments: Comments,
    strings: bool,
    /// Ids are integers because the first lines looked so.
    guessed_integers: bool,
    skipped: Arc<Skipped>,
}

impl Adjacency {
    /// The vertex of a line and its neighbours, none of them empty; an error is what was expected.
    fn ids<'a>(&self, line: &'a [u8], ids: &mut Vec<&'a [u8]>) -> std::result::Result<(), &'static str> {
        ids.clear();
        let mut rest = line;
        if let Some(tab) = memchr::memchr(b'\t', line)
            && !trim(&line[..tab]).is_empty()
        {
            let own = trim(&line[..tab]);
            ids.push(own.strip_suffix(b":").unwrap_or(own));
            rest = &line[tab + 1..];
        }
        let mut fields = Vec::new();
        split(rest, self.separator, usize::MAX, &mut fields)?;
        let listed = fields.iter().map(|field| trim(field.raw));
        let before = ids.len();
        ids.extend(listed);
        // A line may end with its separator, and a vertex may have no neighbours.
        if ids.len() > before && ids.last().is_some_and(|id| id.is_empty()) {
            ids.pop();
        }
        if before == 0
            && let Some(own) = ids.first_mut()
        {
            *own = own.strip_suffix(b":").unwrap_or(own);
        }
        match ids.iter().any(|id| id.is_empty()) || ids.is_empty() {
            true => Err("a vertex and its neighbours, none of them empty"),
            false => Ok(()),
        }
    }

    /// Refuses lists of edges: there a vertex is at the front of several lines.
    fn check_owners(&self, sample: &[(u64, &[u8])]) -> Result<()> {
        let (mut owners, mut ids) = (HashSet::new(), Vec::new());
        for &(number, line) in sample {
            self.ids(line, &mut ids).map_err(|expected| bad_record(&self.path, number, expected, line))?;
            if !owners.insert(ids[0]) {
                return Err(bad_record(&self.path, number, "every vertex at the front of one line only", line)
                    .advise("if every line is an edge, say --format edge-list"));
            }
        }
        Ok(())
    }

    /// Whether ids are integers, by the first lines.
    fn decide_ids(&mut self, sample: &[(u64, &[u8])]) -> Result<()> {
        let mut ids = Vec::new();
        let (mut integers, mut other) = (0, None);
        for &(number, line) in sample {
            self.ids(line, &mut ids).map_err(|expected| bad_record(&self.path, number, expected, line))?;
            match ids.iter().find(|id| !looks_like_integer(id)) {
                None => integers += 1,
                Some(id) => other = other.or(Some((number, *id))),
            }
        }
        self.strings = other.is_some();
        self.guessed_integers = other.is_none();
        match other {
            Some((number, id)) if is_fraction(id) => Err(bad_record(&self.path, number, "ids and no weights", id)
                .advise("adjacency lists have no weights; read it as another --format, or say --ids string")),
            Some((number, id)) if 2 * integers >= sample.len() => {
                Err(bad_record(&self.path, number, "an integer id, as most lines have", id)
                    .advise("take the line out, or read all ids as strings with --ids string"))
            }
            _ => Ok(()),
        }
    }

    fn push(&self, id: &[u8], number: u64, ids: &mut Ids) -> Result<()> {
        match ids {
            Ids::Integer { values, negative, huge } => {
                if self.guessed_integers && is_padded(id) {
                    return Err(padded_id(&self.path, number, id));
                }
                let id = integer(id).ok_or_else(|| {
                    bad_record(&self.path, number, "an integer id", id).advise("if ids are names, say --ids string")
                })?;
                values.push(id.bits);
                *negative |= id.negative;
                *huge |= !id.negative && id.bits >> 63 != 0;
            }
            Ids::Text { bytes, ends } => {
                if std::str::from_utf8(id).is_err() {
                    return Err(
                        bad_record(&self.path, number, "an id in UTF-8", id).advise("convert the file to UTF-8")
                    );
                }
                bytes.extend_from_slice(id);
                let end = u32::try_from(bytes.len());
                ends.push(end.map_err(|_| bad_record(&self.path, number, "a shorter line", id))?);
            }
        }
        Ok(())
    }
}

impl Parser for Adjacency {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        begin(batch, block, self.strings);
        batch.weights = Weights::None;
        let mut ids = Vec::new();
        for (number, line) in (block.first_record..).zip(lines(text_of(block, &self.path)?)) {
            if !self.comments.is_data(line) {
                if self.comments.has(line) {
                    self.skipped.add(number, line);
                }
                continue;
            }
            self.ids(line, &mut ids).map_err(|expected| bad_record(&self.path, number, expected, line))?;
            let (own, neighbours) = (ids[0], &ids[1..]);
            if neighbours.is_empty() {
                self.push(own, number, &mut batch.vertices)?;
            }
            for neighbour in neighbours {
                self.push(own, number, &mut batch.ids)?;
                self.push(neighbour, number, &mut batch.ids)?;
            }
        }
        let mixed = |ids: &Ids| matches!(ids, Ids::Integer { negative: true, huge: true, .. });
        if mixed(&batch.ids) || mixed(&batch.vertices) {
            let expected = "ids that all fit one kind, from -2^63 up or up to 2^64 - 1";
            return Err(Error::input(&self.path, Some(block.first_record), expected, "both").advise("say --ids string"));
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn comments(&self) -> (u64, Option<String>) {
        self.skipped.all()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{edges_of, edges_with, failure_of};
    use super::*;

    #[test]
    fn lists_in_all_their_forms() {
        for text in [
            "# c\n1 2 3\n2 3\n4\n",
            "1\t2,3\n2\t3\n4\t\n",
            "1\t2\t3\n2\t3\n4\n",
            "1,2,3\r\n2,3\r\n4\r\n",
            "1: 2 3\n2: 3\n4:\n",
            "1\t2, 3,\n\n2\t3\n4\n",
        ] {
            let read = edges_of("adjacency", text.as_bytes());
            assert_eq!((read.pairs, read.vertices), (vec![(1, 2), (1, 3), (2, 3)], vec![4]), "{text:?}");
        }
        let read = edges_of("adjacency", b"ann\tben li,carl\nben li\tann\n");
        let names = [("ann", "ben li"), ("ann", "carl"), ("ben li", "ann")];
        assert_eq!(read.names, names.map(|(one, other)| (one.to_owned(), other.to_owned())));
    }

    #[test]
    fn what_is_unclear_is_refused() {
        for (text, expected) in [
            ("1 2 3\n2 x\n3 1\n", ":2: expected an integer id, as most lines have, found `x`"),
            ("1 02\n2 3\n", ":1: expected integer ids without leading zeros"),
            ("1 2\n1 3\n", ":2: expected every vertex at the front of one line only"),
            ("0 1 2 0.5\n1 2 3 0.25\n", ":1: expected ids and no weights, found `0.5`"),
            ("1,,2\n", ":1: expected a vertex and its neighbours"),
        ] {
            let error = failure_of("adjacency", text.as_bytes());
            assert!(error.contains(expected), "{expected}: {error}");
        }
        let strings = InputOptions { ids: IdKind::String, ..InputOptions::default() };
        assert_eq!(edges_with("adjacency", b"1 02\n2 x\n", &strings).names.len(), 2);
    }
}
