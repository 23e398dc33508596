//! The characters of a text that is read from its beginning to its end, one by one, with the number of the line.

use crate::input::file::Stream;
use outcore_image::{Error, Result};
use std::path::Path;

pub(crate) const MOST_BYTES: usize = 1 << 20;
const READ_BYTES: usize = 128 << 10;

pub(crate) const END: &str = "the end of the file";

pub(crate) fn shown(text: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(&text[..text.len().min(80)]))
}

/// A stream of characters with line numbers, read in pieces.
pub(crate) struct Characters {
    stream: Stream,
    buffer: Vec<u8>,
    place: usize,
    has_begun: bool,
    /// The line that the next character is on, from 1.
    pub(crate) line: u64,
}

impl Characters {
    pub(crate) fn new(stream: Stream) -> Self {
        Characters { stream, buffer: Vec::new(), place: 0, has_begun: false, line: 1 }
    }

    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        if self.place == self.buffer.len() {
            self.buffer.clear();
            self.place = 0;
            self.stream.fill(&mut self.buffer, READ_BYTES)?;
            if !std::mem::replace(&mut self.has_begun, true) && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.place = 3;
            }
        }
        Ok(self.buffer.get(self.place).copied())
    }

    /// The next character, or the end of the file, for messages.
    pub(crate) fn next_shown(&mut self) -> Result<String> {
        let next = self.peek()?.map(|byte| format!("`{}`", String::from_utf8_lossy(&[byte]).escape_default()));
        Ok(next.unwrap_or(END.to_owned()))
    }

    /// Passes over the character that `peek` returned.
    pub(crate) fn skip(&mut self) {
        self.line += u64::from(self.buffer[self.place] == b'\n');
        self.place += 1;
    }

    /// The bytes before the first one for which `is_end` holds. The end of the file counts as a line end: if that does
    /// not end them, there are none.
    pub(crate) fn until(&mut self, is_end: impl Fn(u8) -> bool) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        while let Some(byte) = self.peek()? {
            if is_end(byte) {
                return Ok(Some(bytes));
            }
            self.push(&mut bytes, byte)?;
            self.skip();
        }
        Ok(Some(bytes).filter(|_| is_end(b'\n')))
    }

    pub(crate) fn push(&self, bytes: &mut Vec<u8>, byte: u8) -> Result<()> {
        if bytes.len() == MOST_BYTES {
            let found = format!("more than 1 MiB from {} on", shown(bytes));
            return Err(self.bad("a word or a text of at most 1 MiB", &found));
        }
        bytes.push(byte);
        Ok(())
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(crate) fn path(&self) -> &Path {
        self.stream.path()
    }

    pub(crate) fn bad(&self, expected: &str, found: &str) -> Error {
        Error::input(self.stream.path(), Some(self.line), expected, found)
    }

    pub(crate) fn truncated(&self, expected: &str) -> Error {
        self.bad(expected, END).advise("the file is truncated or damaged: fetch or write it again")
    }
}
