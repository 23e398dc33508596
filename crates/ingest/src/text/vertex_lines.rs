//! Files of vertices: one id a line, as they stand beside lists of edges; `#` and `%` begin comments.
//!
//! An id may stand in double quotes, as in CSV: one with blanks at its ends, or one that would be a comment.

use crate::batch::{Block, EdgeBatch, Facts, Ids, Parser, Source, TakeBatch, bad_record};
use crate::input::file::Input;
use crate::text::blocks::LineBlocks;
use crate::text::columns::{Separator, is_data, split};
use crate::text::number::{integer, is_padded, lines, trim};
use crate::text::own_comment::OwnComment;
use crate::text::sample::padded_id;
use crate::text::source::{Numbering, begin, begin_weights, text_of, text_source};
use outcore_image::Result;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens a file of vertices whose ids are strings, or integers, which may have been `guessed`.
pub(crate) fn open(input: &Input, string_ids: bool, guessed: bool) -> Result<Source> {
    let blocks = LineBlocks::new(input.stream()?);
    let facts = Facts { string_ids, ..blocks.facts() };
    let parser = Arc::new(VertexLines { path: input.path().to_owned(), string_ids, guessed });
    Ok(text_source(blocks, facts, parser, Numbering::None, None))
}

/// Whether the first lines hold ids that are no integers.
pub(crate) fn has_strings(input: &Input) -> Result<bool> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let (_, start) = blocks.peek()?;
    Ok(lines(start).filter(|line| is_data(line)).any(|line| integer(trim(line)).is_none()))
}

/// The first line, if Outcore wrote it.
pub(crate) fn own_comment(input: &Input) -> Result<Option<OwnComment>> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let (_, start) = blocks.peek()?;
    Ok(lines(start).next().and_then(OwnComment::of))
}

/// Visits every id as text, with the number of its line.
pub(crate) fn each_id(input: &Input, visit: &mut dyn FnMut(&str, u64) -> Result<()>) -> Result<()> {
    let parser = VertexLines { path: input.path().to_owned(), string_ids: true, guessed: false };
    let (mut blocks, mut ids) = (LineBlocks::new(input.stream()?), Ids::strings());
    while let Some(block) = blocks.next_lines()? {
        for (number, line) in (block.first_line..).zip(lines(&block.bytes)).filter(|(_, line)| is_data(line)) {
            ids.clear();
            parser.push(line, number, &mut ids)?;
            if let Ids::Text { bytes, .. } = &ids {
                visit(&String::from_utf8_lossy(bytes), number)?;
            }
        }
    }
    Ok(())
}

/// Whether the first line of a file names the column `vertex`, before others or alone: it is a table of results.
pub(crate) fn begins_table(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let line = lines(start).next().unwrap_or_default();
    let name = line.split(|byte| b",;\t".contains(byte)).next().map(trim).unwrap_or_default();
    matches!(name, b"vertex" | b"\"vertex\"")
}

struct VertexLines {
    path: PathBuf,
    string_ids: bool,
    /// The kind of the ids is guessed.
    guessed: bool,
}

impl VertexLines {
    fn push(&self, line: &[u8], number: u64, vertices: &mut Ids) -> Result<()> {
        match vertices {
            Ids::Integer { values, negative, huge } => {
                let id = integer(trim(line)).ok_or_else(|| {
                    bad_record(&self.path, number, "one vertex, an integer as the ids of the edges are", line)
                })?;
                if self.guessed && is_padded(trim(line)) {
                    return Err(padded_id(&self.path, number, trim(line)));
                }
                values.push(id.bits);
                *negative |= id.negative;
                *huge |= !id.negative && id.bits >> 63 != 0;
            }
            Ids::Text { bytes, ends } => {
                let mut fields = Vec::new();
                // No line holds the separator, so there is one field, which may be in quotes.
                split(trim(line), Separator::Byte(b'\n'), 1, &mut fields)
                    .map_err(|expected| bad_record(&self.path, number, expected, line))?;
                if std::str::from_utf8(line).is_err() {
                    return Err(bad_record(&self.path, number, "an id in UTF-8", line));
                }
                fields.iter().for_each(|field| field.push_to(bytes));
                let end = u32::try_from(bytes.len());
                ends.push(end.map_err(|_| bad_record(&self.path, number, "a shorter line", line))?);
            }
        }
        Ok(())
    }
}

impl Parser for VertexLines {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, self.string_ids);
        begin_weights(batch, false);
        for (number, line) in (block.first_record..).zip(lines(text_of(block, &self.path)?)) {
            if is_data(line) {
                self.push(line, number, &mut batch.vertices)?;
            }
        }
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::unlimited;

    fn read(text: &[u8], string_ids: bool) -> Result<Ids> {
        let mut source = open(&Input::memory("v", text, &unlimited()), string_ids, true)?;
        let mut batch = EdgeBatch::new(string_ids);
        let parser = source.parser();
        while let Some(block) = source.next_block()? {
            parser.parse(&block, &mut batch, &mut |_| Ok(()))?;
        }
        Ok(batch.vertices)
    }

    #[test]
    fn ids_of_both_kinds_and_comments() {
        let integers = read(b"# alone\n 7 \r\n\n-8\n% more\n9", false).unwrap();
        assert_eq!(integers, Ids::Integer { values: vec![7, -8i64 as u64, 9], negative: true, huge: false });
        let strings = read("a b\n# no\n\"# \"\"yes\"\n\"\"\n é,\n".as_bytes(), true).unwrap();
        assert_eq!(strings, Ids::Text { bytes: "a b# \"yesé,".into(), ends: vec![3, 9, 9, 12] });
    }

    #[test]
    fn other_lines_are_refused() {
        let bad: [(&[u8], bool, &str); 5] = [
            (b"1\n2 3\n", false, "v:2: expected one vertex"),
            (b"7\n007\n", false, "v:2: expected integer ids without leading zeros"),
            (b"anna\n", false, "v:1: expected one vertex"),
            (b"\xff\n", true, "v:1: expected an id in UTF-8"),
            (b"a\n\"b\n", true, "v:2: expected a closing quote"),
        ];
        for (text, string_ids, expected) in bad {
            let error = read(text, string_ids).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
