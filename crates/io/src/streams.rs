//! Streams: many sequences of words in one temporary file.
//!
//! This is the distribution half of an external sort: every worker has a [`Sink`] with one block of memory per stream;
//! a full block goes to the file as it is. Which blocks belong to a stream is noted in memory, eight bytes per block.
//! Reading a stream back gives the blocks of one worker in the order in which they were written.

use crate::backend::Backend;
use crate::budget::Budget;
use crate::buffer::{Array, raw_bytes, raw_bytes_mut};
use crate::error::Result;
use crate::spill::Spill;
use std::path::Path;
use std::sync::Arc;

/// A temporary file of blocks of words.
pub struct Streams {
    spill: Spill,
    block_words: usize,
}

/// A block of a stream that lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    block: u32,
    /// How many words of the block are used.
    pub words: u32,
}

impl Streams {
    /// A file whose blocks hold so many words.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn create(backend: &Arc<dyn Backend>, path: &Path, block_words: usize) -> Result<Self> {
        Ok(Streams { spill: Spill::create(backend, path)?, block_words })
    }

    /// How many words a block holds.
    pub fn block_words(&self) -> usize {
        self.block_words
    }

    /// The file's size so far.
    pub fn len_bytes(&self) -> u64 {
        self.spill.len_bytes()
    }

    /// Where one worker puts words into `count` streams.
    ///
    /// # Errors
    /// No memory under the budget.
    pub fn sink(&self, budget: &Arc<Budget>, count: usize) -> Result<Sink<'_>> {
        Ok(Sink {
            streams: self,
            buffer: Array::zeroed(budget, "distributing to a temporary file", count * self.block_words)?,
            used: vec![0; count],
            pieces: vec![Vec::new(); count],
        })
    }

    /// Reads a block to the front of `words`; returns how many words it has.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn read(&self, piece: Piece, words: &mut [u64]) -> Result<usize> {
        let count = piece.words as usize;
        let offset = u64::from(piece.block) * 8 * self.block_words as u64;
        self.spill.read(raw_bytes_mut(&mut words[..count]), offset)?;
        Ok(count)
    }

    fn write(&self, words: &[u64]) -> Result<Piece> {
        let block_bytes = 8 * self.block_words as u64;
        let offset = self.spill.take(block_bytes);
        self.spill.write(raw_bytes(words), offset)?;
        Ok(Piece { block: (offset / block_bytes) as u32, words: words.len() as u32 })
    }
}

/// Where one worker puts words into streams.
pub struct Sink<'a> {
    streams: &'a Streams,
    buffer: Array<u64>,
    used: Vec<u32>,
    pieces: Vec<Vec<Piece>>,
}

impl Sink<'_> {
    /// Appends a word to a stream.
    ///
    /// # Errors
    /// A full disk.
    #[inline(always)]
    pub fn push(&mut self, stream: usize, word: u64) -> Result<()> {
        let block_words = self.streams.block_words;
        let used = self.used[stream] as usize;
        self.buffer[stream * block_words + used] = word;
        self.used[stream] = used as u32 + 1;
        if used + 1 == block_words { self.flush(stream) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self, stream: usize) -> Result<()> {
        let start = stream * self.streams.block_words;
        let used = std::mem::take(&mut self.used[stream]) as usize;
        if used > 0 {
            let piece = self.streams.write(&self.buffer[start..start + used])?;
            self.pieces[stream].push(piece);
        }
        Ok(())
    }

    /// Writes what is left; returns the blocks of every stream.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(mut self) -> Result<Vec<Vec<Piece>>> {
        for stream in 0..self.used.len() {
            self.flush(stream)?;
        }
        Ok(self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Posix;

    #[test]
    fn every_stream_comes_back_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        let streams = Streams::create(&backend, &directory.path().join("streams"), 5).unwrap();
        let mut sinks = [streams.sink(&budget, 3).unwrap(), streams.sink(&budget, 3).unwrap()];
        for i in 0..100u64 {
            sinks[(i / 7 % 2) as usize].push(if i % 10 == 0 { 0 } else { 2 }, i).unwrap();
        }
        let mut found = vec![Vec::new(); 3];
        for sink in sinks {
            for (stream, pieces) in sink.finish().unwrap().into_iter().enumerate() {
                let mut before = None;
                for piece in pieces {
                    let mut words = [0; 5];
                    let count = streams.read(piece, &mut words).unwrap();
                    for &word in &words[..count] {
                        assert!(before < Some(word));
                        before = Some(word);
                        found[stream].push(word);
                    }
                }
            }
        }
        found.iter_mut().for_each(|words| words.sort_unstable());
        assert_eq!(found[0], (0..100).step_by(10).collect::<Vec<_>>());
        assert_eq!(found[1], Vec::<u64>::new());
        assert_eq!(found[2].len(), 90);
    }
}
