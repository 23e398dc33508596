//! Lines one by one, for readers of records.

use crate::batch::bad_record;
use crate::input::file::Stream;
use crate::text::blocks::{LineBlocks, Lines};
use crate::text::number::{lines, trim};
use outcore_image::{Error, Result};

/// The lines of an input that are not blank, without blanks around them.
pub(crate) struct RecordLines {
    pub(crate) blocks: LineBlocks,
    /// The lines that are being read, and where reading stands in them.
    block: Option<Lines>,
    place: usize,
    /// The number of the line that was read last.
    pub(crate) line: u64,
}

impl RecordLines {
    pub(crate) fn new(stream: Stream) -> Self {
        RecordLines { blocks: LineBlocks::new(stream), block: None, place: 0, line: 0 }
    }

    /// The next line; nothing at the end.
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
