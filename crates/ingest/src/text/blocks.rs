//! Cuts a stream of text into blocks of whole lines.
//!
//! This runs on one thread while all others parse, so it touches bytes only to look for line ends (`memchr`). Every
//! block knows the number of its first line, whoever parses it. A block holds about 1 MiB, or one line if that is
//! longer. How long a line may be follows from the memory of the import ([`longest_line_bytes`](super::plan)).
//! Adjacency formats, whose lines are as long as the greatest degree, allow a cut at a separator inside a line: the
//! next block then starts in the middle of the same line, and lines have no limit.

use crate::batch::{BLOCK_BYTES, Block, BlockData, Facts, bad_record};
use crate::input::file::Stream;
use crate::plan::MOST_LINE_BYTES;
use crate::text::columns::Comments;
use crate::text::number::{Quoting, lines, record_end, trim};
use memchr::{memchr, memchr_iter, memrchr, memrchr2, memrchr3};
use outcore_image::{Error, Result};
use outcore_io::{Reservation, bytes_text};
use std::path::Path;

/// Whole lines, and where they stand.
pub struct Lines {
    /// The number of the first line, from 1.
    pub first_line: u64,
    /// The lines; the last one of the input may lack its line end.
    pub bytes: Vec<u8>,
    /// Bytes of the input up to the end of these lines, as they lie on disk.
    pub input_bytes: u64,
}

impl Lines {
    /// Takes the first line off, up to and including the line that ends at `end` bytes.
    pub fn drop_front(&mut self, end: usize) {
        self.first_line += memchr_iter(b'\n', &self.bytes[..end]).count() as u64;
        self.bytes.drain(..end);
    }

    pub(crate) fn into_block(self, sequence: u64, first_vertex: u64) -> Block {
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
pub struct LineBlocks {
    stream: Stream,
    /// The beginning of the next block.
    carry: Vec<u8>,
    next_line: u64,
    started: bool,
    ended: bool,
    /// Carriage returns alone end lines.
    has_returns: bool,
    /// The next block starts in the middle of a line.
    mid_line: bool,
    cuts: Option<Cuts>,
    /// Fields in quotes may have line ends.
    keeps_quoted: Option<Quoting>,
    /// Memory of long lines beside the block that holds them, from the first one on.
    long_lines: Option<Reservation>,
    returned: Option<Lines>,
}

/// Places where lines longer than a block may be cut.
struct Cuts {
    /// Behind one of these.
    separators: [u8; 2],
    comments: Comments,
}

impl LineBlocks {
    /// Cuts `stream` at line ends.
    pub fn new(stream: Stream) -> Self {
        LineBlocks {
            stream,
            carry: Vec::new(),
            next_line: 1,
            started: false,
            ended: false,
            has_returns: false,
            mid_line: false,
            cuts: None,
            keeps_quoted: None,
            long_lines: None,
            returned: None,
        }
    }

    /// From now on, cuts lines longer than a block behind a separator. Comments stay whole, and so do lines with
    /// quotes, which may have separators between them.
    pub(crate) fn split_long_lines(&mut self, separators: [u8; 2], comments: Comments) {
        self.cuts = Some(Cuts { separators, comments });
    }

    /// From now on, keeps lines together where a field in quotes has line ends.
    pub(crate) fn keep_quoted(&mut self, quoting: Quoting) {
        self.keeps_quoted = Some(quoting);
    }

    /// End of the last record that ends within whole lines; 0 if there is none.
    fn last_end(&self, lines: &[u8]) -> usize {
        let Some(quoting) = self.keeps_quoted.filter(|_| memchr(b'"', lines).is_some()) else {
            return lines.len();
        };
        let mut last = 0;
        while let Some(end) = record_end(&lines[last..], quoting).filter(|end| *end > 0) {
            last += end;
        }
        last
    }

    /// Whether the last line given out was cut: the next one is the rest of it.
    pub(crate) fn is_mid_line(&self) -> bool {
        self.mid_line
    }

    /// The input, for messages.
    pub fn path(&self) -> &Path {
        self.stream.path()
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The facts that the stream knows of the input.
    pub fn facts(&self) -> Facts {
        Facts {
            input_bytes: self.stream.size_bytes(),
            is_pipe: self.stream.size_bytes().is_none(),
            compression: self.stream.compression(),
            longest_line_bytes: self.stream.longest_line_bytes() as u64,
            ..Facts::default()
        }
    }

    /// Gives lines back: they come again with the next call of `next_lines`.
    pub fn give_back(&mut self, lines: Lines) {
        debug_assert!(self.returned.is_none(), "only one block is given back");
        self.returned = Some(lines).filter(|lines| !lines.bytes.is_empty());
    }

    /// The number of the next line, and the beginning of the next block without taking it: whole lines, or the front of
    /// one.
    pub(crate) fn peek(&mut self) -> Result<(u64, &[u8])> {
        let mut start = std::mem::take(&mut self.carry);
        let filled = self.fill(&mut start);
        self.carry = start;
        filled?;
        let whole = if self.ended { Some(self.carry.len()) } else { memrchr(b'\n', &self.carry).map(|end| end + 1) };
        let cut = whole.or_else(|| memrchr3(b' ', b'\t', b',', &self.carry).map(|end| end + 1));
        Ok((self.next_line, &self.carry[..cut.unwrap_or(self.carry.len())]))
    }

    /// Reads up to the size of a block, unless that much is there.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        while bytes.len() < BLOCK_BYTES && !self.ended {
            bytes.reserve_exact(BLOCK_BYTES - bytes.len());
            let is_first = !std::mem::replace(&mut self.started, true);
            self.read(bytes, BLOCK_BYTES, is_first)?;
            if is_first && bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
        }
        Ok(())
    }

    /// Reads until there are `wanted` bytes, or the input ends.
    fn read(&mut self, bytes: &mut Vec<u8>, wanted: usize, is_first: bool) -> Result<()> {
        let start = bytes.len();
        self.stream.fill(bytes, wanted)?;
        self.ended = bytes.len() < wanted;
        if is_first && memchr(b'\n', bytes).is_none() {
            // A line feed may follow a return at the end of the block.
            let end = if self.ended { bytes.len() } else { bytes.len() - 1 };
            self.has_returns = memchr(b'\r', &bytes[..end]).is_some();
        }
        if self.has_returns {
            bytes[start..].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(())
    }

    /// The next lines, or nothing at the end of the input.
    pub fn next_lines(&mut self) -> Result<Option<Lines>> {
        if let Some(lines) = self.returned.take() {
            return Ok(Some(lines));
        }
        let mut bytes = std::mem::take(&mut self.carry);
        self.fill(&mut bytes)?;
        let mut searched = 0;
        let cut = loop {
            if self.ended {
                break bytes.len();
            }
            if let Some(end) = memrchr(b'\n', &bytes[searched..]) {
                match self.last_end(&bytes[..searched + end + 1]) {
                    0 => {}
                    end => break end,
                }
            } else if let Some(cut) = self.cut_inside(&bytes) {
                break cut;
            }
            searched = bytes.len();
            let wanted = (searched * 2).min(self.stream.longest_line_bytes());
            if wanted <= searched {
                return Err(self.line_too_long());
            }
            self.reserve_long_line()?;
            self.read(&mut bytes, wanted, false)?;
        };
        self.carry = bytes[cut..].to_vec();
        bytes.truncate(cut);
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.next_line;
        self.next_line += memchr_iter(b'\n', &bytes).count() as u64;
        self.mid_line = !self.ended && !bytes.ends_with(b"\n");
        if self.ended && !bytes.ends_with(b"\n") {
            self.stream.note_lacking_end();
        }
        Ok(Some(Lines { first_line, bytes, input_bytes: self.stream.position_bytes() }))
    }

    /// The place where the line that fills a block may be cut.
    fn cut_inside(&self, bytes: &[u8]) -> Option<usize> {
        let Cuts { separators: [one, other], comments } = self.cuts.as_ref()?;
        let is_whole = memchr(b'"', bytes).is_some() || !self.mid_line && comments.has(bytes);
        let end = if is_whole { None } else { memrchr2(*one, *other, bytes) };
        end.map(|end| end + 1)
    }

    /// Sets memory aside for what is read behind a long line; the line itself is counted by whoever parses it.
    fn reserve_long_line(&mut self) -> Result<()> {
        if self.long_lines.is_none() {
            let purpose = format!("a long line of {}", self.path().display());
            let bytes = self.stream.longest_line_bytes() as u64;
            self.long_lines = Some(self.stream.budget().reserve(&purpose, bytes)?);
        }
        Ok(())
    }

    fn line_too_long(&self) -> Error {
        let longest_bytes = self.stream.longest_line_bytes();
        let longest = bytes_text(longest_bytes as u64);
        let (limit, advice) = if longest_bytes < MOST_LINE_BYTES {
            let limit = bytes_text(self.stream.budget().limit_bytes());
            let advice = "raise the limit for longer lines; or, if the file is not made of such lines, name its format \
                          with --format";
            (format!(", as the memory limit of {limit} allows"), advice)
        } else {
            (String::new(), "the file is not text, or not in this format: name the right one with --format")
        };
        let error = Error::input(
            self.path(),
            Some(self.next_line),
            format!("a line of at most {longest}{limit}"),
            format!("more than {longest} without a line end"),
        );
        error.advise(match self.keeps_quoted.is_some() {
            true => format!("{advice}; or a closing quote is missing"),
            false => advice.to_owned(),
        })
    }
}

/// The lines of an input that are not blank, without blanks around them.
pub(crate) struct RecordLines {
    pub(crate) blocks: LineBlocks,
    /// The lines that are being read, and where reading stands in them.
    block: Option<Lines>,
    place: usize,
    /// The number of the line that was read last, and whether it ended in a tab, which is trimmed.
    pub(crate) line: u64,
    pub(crate) ends_in_tab: bool,
}

impl RecordLines {
    pub(crate) fn new(stream: Stream) -> Self {
        RecordLines { blocks: LineBlocks::new(stream), block: None, place: 0, line: 0, ends_in_tab: false }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let Some(block) = &self.block else {
                self.block = self.blocks.next_lines()?;
                let Some(block) = &self.block else { return Ok(None) };
                (self.place, self.line) = (0, block.first_line - 1);
                continue;
            };
            let rest = &block.bytes[self.place..];
            let Some(line) = lines(rest).next() else {
                self.block = None;
                continue;
            };
            self.place += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            self.line += 1;
            self.ends_in_tab = line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\t");
            let line = trim(line);
            if !line.is_empty() {
                return Ok(Some(line.to_vec()));
            }
        }
    }

    pub(crate) fn bad(&self, expected: &str, found: &[u8]) -> Error {
        bad_record(self.blocks.path(), self.line, expected, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::file::Input;
    use crate::testing::unlimited;

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
    fn what_is_peeked_at_comes_again() {
        let text =
            b"\xef\xbb\xbf1 2\n".iter().copied().chain((0..BLOCK_BYTES as u32 * 2).map(|i| b"7 "[i as usize % 2]));
        let mut blocks = blocks(&text.collect::<Vec<u8>>());
        for _ in 0..2 {
            assert_eq!(blocks.peek().unwrap(), (1, &b"1 2\n"[..]));
        }
        assert_eq!(blocks.next_lines().unwrap().unwrap().bytes, b"1 2\n");
        let (line, front) = blocks.peek().unwrap();
        assert_eq!((line, front.len()), (2, BLOCK_BYTES));
        assert_eq!(blocks.next_lines().unwrap().unwrap().bytes.len(), 2 * BLOCK_BYTES);
    }

    #[test]
    fn a_byte_order_mark_and_a_missing_line_end_do_no_harm() {
        let lines = blocks(b"\xef\xbb\xbf1 2\n3 4").next_lines().unwrap().unwrap();
        assert_eq!(lines.bytes, b"1 2\n3 4");
        assert!(blocks(b"\xef\xbb\xbf").next_lines().unwrap().is_none());
        assert!(blocks(b"").next_lines().unwrap().is_none());
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        let text = b"1 2\r".repeat(BLOCK_BYTES);
        let mut old = blocks(&text);
        let mut count = 0;
        while let Some(lines) = old.next_lines().unwrap() {
            assert_eq!(lines.first_line, 1 + count);
            assert!(lines.bytes.len() <= BLOCK_BYTES && lines.bytes.ends_with(b"1 2\n"));
            count += lines.bytes.len() as u64 / 4;
        }
        assert_eq!(count, BLOCK_BYTES as u64);
        // The ends of these lines are cut by that of a block.
        let mut long = vec![b'7'; BLOCK_BYTES - 1];
        long.extend(b"\r\n8\r\n");
        assert!(blocks(&long).next_lines().unwrap().unwrap().bytes.ends_with(b"7\r\n8\r\n"));
        assert_eq!(blocks(b"1\r").next_lines().unwrap().unwrap().bytes, b"1\n");
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
        split.split_long_lines([b' ', b'\t'], Comments::none());
        let (mut len, mut count) = (0, 0);
        while let Some(lines) = split.next_lines().unwrap() {
            assert_eq!(lines.first_line, 1);
            assert!(lines.bytes.ends_with(b" "));
            len += lines.bytes.len();
            count += 1;
        }
        assert_eq!((len, count), (text.len(), 4));

        // Quotes may have separators between them, and comments are no lines of ids.
        for start in ["\"", "# "] {
            let mut whole = blocks(&[start.as_bytes(), &text[..]].concat());
            whole.split_long_lines([b' ', b'\t'], Comments::usual());
            assert_eq!(whole.next_lines().unwrap().unwrap().bytes.len(), start.len() + text.len());
            assert!(!whole.is_mid_line());
        }

        let error = blocks(&vec![b'7'; MOST_LINE_BYTES + 1]).next_lines().err().expect("too long");
        assert!(
            error
                .to_string()
                .contains("a line of at most 64 MiB, found more than 64 MiB without a line end; the file is not"),
            "{error}"
        );
    }
}
