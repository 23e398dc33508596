//! Adjacency lists: a vertex and its neighbours a line, `u v1 v2 ...` or `u<TAB>v1,v2,...`, integers or strings.
//!
//! One separator between neighbours holds for the whole file: a comma if what stands behind the tab (or, without tabs,
//! the whole line) has one, else tabs if a line has several, else blanks. What another separator would cut further, as
//! in `1 2,3`, is refused unless an option names the separator. A vertex alone on its line has no neighbours.
//! `#` and `%` begin comments. Lines may have any length: one longer than a block is cut behind a separator, and each
//! part is parsed as a line of the same vertex. NetworkX calls the form with blanks `adjlist`.

use crate::batch::{
    Block, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, ReadBlocks, Source, TakeBatch, bad_record,
};
use crate::input::file::Input;
use crate::text::blocks::LineBlocks;
use crate::text::columns::{Comments, Cut, Separator, Skipped, begins_with_word};
use crate::text::number::{integer, is_padded, is_whole, lines, real, trim};
use crate::text::sample::{first_comments, first_lines, padded_id};
use crate::text::source::{begin, begin_weights, text_of, weights_wanted};
use outcore_image::Result;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    weights_wanted(options.weight.as_deref(), "adjacency", &[])?;
    let mut blocks = LineBlocks::new(input.stream()?);
    let comments = first_comments(blocks.path(), options)?;
    // Blocks of comments alone are not counted: they would have to be larger than a megabyte.
    while blocks.peek()?.1.iter().len() > 0 && !lines(blocks.peek()?.1).any(|line| comments.is_data(line)) {
        blocks.next_lines()?;
    }
    let path = blocks.path().to_owned();
    let (first_line, start) = blocks.peek()?;
    let sample = first_lines(first_line, start, |line| comments.is_data(line));
    let separator = match &options.delimiter {
        Some(asked) => Separator::named(asked)?,
        None => separator(&sample),
    };
    let strings = options.ids == IdKind::String;
    let skipped = Arc::new(Skipped::default());
    let guesses_comments = options.comment.is_none();
    let guessed_separator = options.delimiter.is_none();
    let mut list = Adjacency {
        path,
        separator,
        guessed_separator,
        comments,
        guesses_comments,
        strings,
        guessed_integers: false,
        skipped,
    };
    list.check_owners(&sample)?;
    if options.ids == IdKind::Auto {
        list.decide_ids(&sample)?;
    }
    blocks.split_long_lines(separator.bytes(), list.comments.clone());
    let name = list.separator.name();
    let facts = Facts {
        format: "adjacency",
        string_ids: list.strings,
        notes: vec![format!("Every line was read as a vertex and its neighbours, between {name}.")],
        ..blocks.facts()
    };
    let list = Arc::new(list);
    let skipped = Arc::clone(&list.skipped);
    let mut source = Source::new(facts, list.clone(), AdjacencyBlocks { blocks, list, owner: None, sequence: 0 });
    source.note_late(move || skipped.note());
    Ok(source)
}

/// Blocks of lines. What continues a line that was cut begins with the line's vertex, as a line of its own would.
struct AdjacencyBlocks {
    blocks: LineBlocks,
    list: Arc<Adjacency>,
    /// The vertex of the line that was cut at the end of the last block.
    owner: Option<Vec<u8>>,
    sequence: u64,
}

impl ReadBlocks for AdjacencyBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let Some(mut lines) = self.blocks.next_lines()? else { return Ok(None) };
        let before = self.owner.take();
        if self.blocks.is_mid_line() {
            // Only a line that fills the block is cut.
            let own = || {
                let cut = self.list.cut(&lines.bytes);
                let line = lines.first_line;
                cut.map(|(own, _)| own.to_vec())
                    .map_err(|expected| bad_record(&self.list.path, line, expected, &lines.bytes))
            };
            self.owner = Some(before.clone().map_or_else(own, Ok)?);
        }
        if let Some(own) = before {
            lines.bytes.splice(..0, own.into_iter().chain(*b":\t"));
        }
        self.sequence += 1;
        Ok(Some(lines.into_block(self.sequence - 1, 0)))
    }
}

fn is_fraction(id: &[u8]) -> bool {
    id.iter().any(u8::is_ascii_digit) && real(id).is_some() && !is_whole(id)
}

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

struct Adjacency {
    path: PathBuf,
    separator: Separator,
    /// Nobody said so.
    guessed_separator: bool,
    comments: Comments,
    /// Nobody said what begins comments.
    guesses_comments: bool,
    strings: bool,
    /// Ids are integers because the first lines looked so.
    guessed_integers: bool,
    skipped: Arc<Skipped>,
}

const LINE: &str = "a vertex and its neighbours, none of them empty";

/// The neighbours on a line; an error is what was expected.
struct Neighbours<'a>(Cut<'a>);

impl<'a> Iterator for Neighbours<'a> {
    type Item = std::result::Result<&'a [u8], &'static str>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let id = match self.0.next()? {
            Ok(field) => trim(field.raw),
            Err(expected) => return Some(Err(expected)),
        };
        match id.is_empty() {
            false => Some(Ok(id)),
            // A line may end with its separator, and a vertex may have no neighbours.
            true => self.0.next().map(|_| Err(LINE)),
        }
    }
}

impl Adjacency {
    /// The vertex of a line, and its neighbours; an error is what was expected.
    fn cut<'a>(&self, line: &'a [u8]) -> std::result::Result<(&'a [u8], Neighbours<'a>), &'static str> {
        let front = memchr::memchr(b'\t', line).filter(|&tab| !trim(&line[..tab]).is_empty());
        let (own, neighbours) = match front {
            Some(tab) => (trim(&line[..tab]), Neighbours(Cut::new(&line[tab + 1..], self.separator))),
            None => {
                let mut ids = Neighbours(Cut::new(line, self.separator));
                (ids.next().unwrap_or(Err(LINE))?, ids)
            }
        };
        let own = own.strip_suffix(b":").unwrap_or(own);
        if own.is_empty() { Err(LINE) } else { Ok((own, neighbours)) }
    }

    /// Whether a comment may be a vertex and its neighbours: where ids are strings, they may begin with its sign.
    fn may_be_list(&self, line: &[u8]) -> bool {
        let has_neighbours = || self.cut(line).is_ok_and(|(_, mut ids)| matches!(ids.next(), Some(Ok(_))));
        self.guesses_comments && self.strings && begins_with_word(line) && has_neighbours()
    }

    /// Refuses lists of edges: there a vertex is at the front of several lines.
    fn check_owners(&self, sample: &[(u64, &[u8])]) -> Result<()> {
        let mut owners = HashSet::new();
        for &(number, line) in sample {
            let (own, _) = self.cut(line).map_err(|expected| bad_record(&self.path, number, expected, line))?;
            if !owners.insert(own) {
                return Err(bad_record(&self.path, number, "every vertex at the front of one line only", line)
                    .advise("if every line is an edge, say --format edge-list"));
            }
        }
        Ok(())
    }

    fn decide_ids(&mut self, sample: &[(u64, &[u8])]) -> Result<()> {
        let (mut integers, mut other) = (0, None);
        for &(number, line) in sample {
            let bad = |expected| bad_record(&self.path, number, expected, line);
            let (own, neighbours) = self.cut(line).map_err(bad)?;
            let mut no_integer = None;
            for id in std::iter::once(Ok(own)).chain(neighbours) {
                no_integer = no_integer.or(Some(id.map_err(bad)?).filter(|id| !is_whole(id)));
            }
            match no_integer {
                None => integers += 1,
                Some(id) => other = other.or(Some((number, id, line))),
            }
        }
        if let Some((number, id, line)) = other {
            self.check_uncut(id, line, number)?;
        }
        self.strings = other.is_some();
        self.guessed_integers = other.is_none();
        match other {
            Some((number, id, _)) if is_fraction(id) => Err(bad_record(&self.path, number, "ids and no weights", id)
                .advise("adjacency lists have no weights; read it as another --format, or say --ids string")),
            Some((number, id, _)) if 2 * integers >= sample.len() => {
                Err(bad_record(&self.path, number, "an integer id, as most lines have", id)
                    .advise("take the line out, or read all ids as strings with --ids string"))
            }
            _ => Ok(()),
        }
    }

    /// Appends the edges of a line to `batch`, and hands the batch over whenever it is full.
    fn list(&self, line: &[u8], number: u64, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        let bad = |expected| bad_record(&self.path, number, expected, line);
        let (own, mut neighbours) = self.cut(line).map_err(bad)?;
        let Some(first) = neighbours.next() else { return self.push(own, (line, number), &mut batch.vertices) };
        for neighbour in std::iter::once(first).chain(neighbours) {
            self.push(own, (line, number), &mut batch.ids)?;
            self.push(neighbour.map_err(bad)?, (line, number), &mut batch.ids)?;
            if batch.is_full() {
                self.hand_over(number, batch, take)?;
            }
        }
        Ok(())
    }

    fn hand_over(&self, number: u64, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        for ids in [&batch.ids, &batch.vertices] {
            ids.check_one_kind(&self.path, number, "say --ids string")?;
        }
        take(batch)
    }

    /// Refuses an id that another separator would cut, where nobody said which it is. Quotes say where ids end, and on
    /// lines with a tab blanks are part of ids between commas.
    fn check_uncut(&self, id: &[u8], line: &[u8], number: u64) -> Result<()> {
        let is_other = |byte: &u8| match byte {
            b',' | b';' | b'|' => self.separator != Separator::Byte(*byte),
            b' ' => !line.contains(&b'\t'),
            _ => false,
        };
        if !self.guessed_separator || !id.iter().any(is_other) || line.contains(&b'"') {
            return Ok(());
        }
        let expected = format!("ids between {}, and no other separator in them", self.separator.name());
        Err(bad_record(&self.path, number, &expected, id).advise(
            "put a tab between a vertex and its neighbours, as in u<TAB>v1,v2, or one separator everywhere; or, if that \
             is one id, say --delimiter",
        ))
    }

    fn push(&self, id: &[u8], (line, number): (&[u8], u64), ids: &mut Ids) -> Result<()> {
        match ids {
            Ids::Integer { values, negative, huge } => {
                let value = integer(id).ok_or_else(|| {
                    bad_record(&self.path, number, "an integer id", id).advise("if ids are names, say --ids string")
                })?;
                if self.guessed_integers && is_padded(id) {
                    return Err(padded_id(&self.path, number, id));
                }
                values.push(value.bits);
                *negative |= value.negative;
                *huge |= !value.negative && value.bits >> 63 != 0;
            }
            Ids::Text { bytes, ends } => {
                self.check_uncut(id, line, number)?;
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
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, self.strings);
        begin_weights(batch, false);
        for (number, line) in (block.first_record..).zip(lines(text_of(block, &self.path)?)) {
            if self.comments.is_data(line) {
                self.list(line, number, batch, take)?;
            } else if self.comments.has(line) {
                self.skipped.add(number, line, self.may_be_list(line));
            }
        }
        self.hand_over(block.first_record, batch, take)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn comments(&self) -> (u64, Option<String>) {
        self.skipped.all()
    }

    fn check(&self) -> Result<()> {
        self.skipped.check(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open_memory;
    use crate::testing::{edges_of, edges_with, failure_of};

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
    fn a_line_longer_than_a_block_keeps_its_vertex() {
        let count = 600_000u64;
        for (front, separator) in [("7:", " "), ("7\t", ", "), ("7\t", "\t"), ("7,", ","), ("7\t", " ")] {
            let ids: Vec<String> = (0..count).map(|id| id.to_string()).collect();
            let text = format!("# c\n1{separator}2\n{front}{separator}{}\n8{separator}9\n", ids.join(separator));
            // Nothing stands between two commas; a tab in front of another is a neighbour without a name.
            let text =
                text.replacen(&format!("{front}{separator}"), front.trim_end_matches(':'), usize::from(front != "7:"));
            let read = edges_of("adjacency", text.as_bytes());
            assert!(read.blocks > 3, "{} blocks", read.blocks);
            let expected = std::iter::once((1, 2)).chain((0..count).map(|id| (7, id))).chain([(8, 9)]);
            assert!(read.pairs.into_iter().eq(expected), "{front:?} {separator:?}");
        }
        let error = failure_of("adjacency", format!("1 2\n7 {}x\n", "3 ".repeat(1 << 20)).as_bytes());
        assert!(error.contains(":2: expected an integer id, found `x`"), "{error}");
    }

    #[test]
    fn batches_are_bounded_however_long_an_id_is() {
        let (own, neighbours) = ("v".repeat(50_000), "w ".repeat(10_000));
        let mut source = open_memory("adjacency", format!("{own} {neighbours}\n").as_bytes(), &InputOptions::default());
        let source = source.as_mut().unwrap();
        let block = source.next_block().unwrap().unwrap();
        let (mut edges, mut batches) = (0, 0);
        let mut batch = EdgeBatch::new(true);
        let mut take = |batch: &mut EdgeBatch| {
            let Ids::Text { bytes, ends } = &batch.ids else { panic!("integers") };
            assert!(bytes.len() < 2 << 20, "{} bytes", bytes.len());
            assert!(*ends.last().unwrap() as usize == bytes.len());
            edges += ends.len() / 2;
            batches += 1;
            batch.clear();
            Ok(())
        };
        source.parser().parse(&block, &mut batch, &mut take).unwrap();
        assert_eq!(edges, 10_000);
        assert!(batches > 300, "{batches} batches");
    }

    #[test]
    fn unclear_adjacency_lists_are_refused_with_their_lines() {
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
        let many: String = (0..1000).map(|id| format!("{id} {}\n", id + 1)).collect();
        for (id, expected) in [("0x", "an integer id, found"), ("007", "integer ids without leading zeros")] {
            let error = failure_of("adjacency", format!("{many}1000 {id}\n").as_bytes());
            assert!(error.contains(&format!(":1001: expected {expected}")), "{error}");
        }
        let strings = InputOptions { ids: IdKind::String, ..InputOptions::default() };
        assert_eq!(edges_with("adjacency", b"1 02\n2 x\n", &strings).names.len(), 2);
    }
}
