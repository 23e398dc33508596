//! Cuts a stream of text into blocks of whole lines.
//!
//! This runs on one thread while all others parse, so it touches bytes only to look for line ends (`memchr`). Every
//! block knows the number of its first line, whoever parses it. A block holds about 1 MiB, or one line if that is
//! longer, up to 64 MiB. Adjacency formats, whose lines are as long as the greatest degree, allow a cut at a blank
//! inside a line: the next block then starts in the middle of the same line, and lines have no limit.

use super::batch::{Block, BlockData, Facts};
use super::input::Stream;
use crate::error::{Error, Result};
use memchr::{memchr_iter, memrchr, memrchr2};
use std::path::Path;

/// How large a block is, unless its lines are longer.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// How long a line may be where it must stay whole.
pub(super) const LONGEST_LINE_BYTES: usize = 64 << 20;

/// Whole lines, and where they stand.
pub(super) struct Lines {
    /// The number of the first line, from 1.
    pub(super) first_line: u64,
    /// The lines; the last one of the input may lack its line end.
    pub(super) bytes: Vec<u8>,
    /// Bytes of the input up to the end of these lines, as they lie on disk.
    pub(super) input_bytes: u64,
}

impl Lines {
    /// Takes the first line off, up to and including the line that ends at `end` bytes.
    pub(super) fn drop_front(&mut self, end: usize) {
        self.first_line += memchr_iter(b'\n', &self.bytes[..end]).count() as u64;
        self.bytes.drain(..end);
    }

    /// The lines as a block.
    pub(super) fn into_block(self, sequence: u64, first_vertex: u64) -> Block {
        Block {
            sequence,
            first_record: self.first_line,
            first_vertex,
            input_bytes: self.input_bytes,
            data: BlockData::Bytes(self.bytes),
        }
    }
}

/// A stream of text, block by block.
pub(super) struct LineBlocks {
    stream: Stream,
    /// The beginning of the next block.
    carry: Vec<u8>,
    next_line: u64,
    started: bool,
    ended: bool,
    splits_lines: bool,
    returned: Option<Lines>,
}

impl LineBlocks {
    /// Cuts `stream` at line ends.
    pub(super) fn new(stream: Stream) -> Self {
        LineBlocks {
            stream,
            carry: Vec::new(),
            next_line: 1,
            started: false,
            ended: false,
            splits_lines: false,
            returned: None,
        }
    }

    /// From now on, cuts lines longer than a block at a blank; comment lines, which start with `%`, stay whole.
    pub(super) fn split_long_lines(&mut self) {
        self.splits_lines = true;
    }

    /// The input, for messages.
    pub(super) fn path(&self) -> &Path {
        self.stream.path()
    }

    /// What the stream says of the input.
    pub(super) fn facts(&self) -> Facts {
        Facts { input_bytes: self.stream.size_bytes(), compression: self.stream.compression(), ..Facts::default() }
    }

    /// Gives lines back: they come again with the next call of `next_lines`.
    pub(super) fn give_back(&mut self, lines: Lines) {
        debug_assert!(self.returned.is_none(), "only one block is given back");
        self.returned = Some(lines);
    }

    /// The next lines, or nothing at the end of the input.
    pub(super) fn next_lines(&mut self) -> Result<Option<Lines>> {
        if let Some(lines) = self.returned.take() {
            return Ok(Some(lines));
        }
        if self.ended && self.carry.is_empty() {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(BLOCK_BYTES.max(self.carry.len()));
        bytes.append(&mut self.carry);
        let mut wanted = BLOCK_BYTES.max(bytes.len());
        let mut searched = 0;
        let cut = loop {
            self.stream.fill(&mut bytes, wanted)?;
            if !self.started {
                self.started = true;
                if bytes.starts_with(b"\xef\xbb\xbf") {
                    bytes.drain(..3);
                    continue;
                }
            }
            if bytes.len() < wanted {
                self.ended = true;
                break bytes.len();
            }
            if let Some(end) = memrchr(b'\n', &bytes[searched..]) {
                break searched + end + 1;
            }
            if self.splits_lines
                && bytes.first() != Some(&b'%')
                && let Some(blank) = memrchr2(b' ', b'\t', &bytes)
            {
                break blank + 1;
            }
            searched = bytes.len();
            if searched >= LONGEST_LINE_BYTES {
                return Err(self.line_too_long());
            }
            wanted = (searched * 2).min(LONGEST_LINE_BYTES);
        };
        self.carry.extend_from_slice(&bytes[cut..]);
        bytes.truncate(cut);
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.next_line;
        self.next_line += memchr_iter(b'\n', &bytes).count() as u64;
        Ok(Some(Lines { first_line, bytes, input_bytes: self.stream.position_bytes() }))
    }

    fn line_too_long(&self) -> Error {
        Error::input(
            self.path(),
            Some(self.next_line),
            format!("a line of at most {LONGEST_LINE_BYTES} bytes"),
            "a longer one",
        )
        .advise("the file is not text, or not in this format: name the right one with --format")
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::Input;
    use super::super::testing::unlimited;
    use super::*;

    fn blocks(text: &[u8]) -> LineBlocks {
        LineBlocks::new(Input::memory("test", text, &unlimited()).stream().expect("memory opens"))
    }

    #[test]
    fn blocks_join_to_the_input_and_know_their_lines() {
        let text: Vec<u8> = (0..400_000u32).flat_map(|i| format!("{i} x\n").into_bytes()).collect();
        let mut blocks = blocks(&text);
        let (mut joined, mut line, mut count) = (Vec::new(), 1, 0);
        while let Some(lines) = blocks.next_lines().unwrap() {
            assert_eq!(lines.first_line, line);
            assert!(lines.bytes.len() <= BLOCK_BYTES && lines.bytes.ends_with(b"\n"));
            line += lines.bytes.iter().filter(|&&b| b == b'\n').count() as u64;
            joined.extend(lines.bytes);
            count += 1;
        }
        assert!(count > 2, "{count} blocks");
        assert!(joined == text, "the blocks do not join to the input");
    }

    #[test]
    fn a_byte_order_mark_and_a_missing_line_end_do_no_harm() {
        let lines = blocks(b"\xef\xbb\xbf1 2\n3 4").next_lines().unwrap().unwrap();
        assert_eq!(lines.bytes, b"1 2\n3 4");
        assert!(blocks(b"\xef\xbb\xbf").next_lines().unwrap().is_none());
        assert!(blocks(b"").next_lines().unwrap().is_none());
    }

    #[test]
    fn long_lines_grow_the_block_or_are_split_or_refused() {
        let mut text = vec![b'7'; 3 * BLOCK_BYTES];
        text.extend(b"\n8\n");
        let mut whole = blocks(&text);
        let first = whole.next_lines().unwrap().unwrap();
        assert!(first.bytes.len() > 3 * BLOCK_BYTES && first.bytes.ends_with(b"\n"));

        let text = b"12 ".repeat(BLOCK_BYTES);
        let mut split = blocks(&text);
        split.split_long_lines();
        let (mut len, mut count) = (0, 0);
        while let Some(lines) = split.next_lines().unwrap() {
            assert_eq!(lines.first_line, 1);
            assert!(lines.bytes.ends_with(b" "));
            len += lines.bytes.len();
            count += 1;
        }
        assert_eq!((len, count), (text.len(), 4));

        let error = blocks(&vec![b'7'; LONGEST_LINE_BYTES + 1]).next_lines().err().expect("too long");
        assert!(error.to_string().contains("at most 67108864 bytes"), "{error}");
    }
}
