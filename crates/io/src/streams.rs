//! Streams: many sequences of words in one temporary file.
//!
//! This is the distribution half of an external sort: every worker has a [`Sink`] with one block of memory per stream;
//! a full block is written to the file (`lanes.rs`). The last word of a block on disk is the number of the next one of
//! its stream, which is allocated when the block is written, so that memory holds the first block of a stream and its
//! length, however long it is. Reading a stream back returns the blocks of one worker in the order in which they were
//! written.

use crate::backend::Backend;
use crate::buffer::{raw_bytes, raw_bytes_mut};
use crate::error::Result;
use crate::lanes::{Lanes, LanesOptions};
use crate::runtime::Runtime;
use crate::spill::Spill;
use std::path::Path;
use std::sync::Arc;

/// A temporary file of blocks of words.
pub struct Streams {
    spill: Spill,
    block_words: usize,
}

/// One worker's part of a stream, or its unread rest: a linked list of blocks in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The first block.
    block: u64,
    /// Number of words.
    pub words: u64,
}

impl Streams {
    /// A file whose blocks hold `block_words` words.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn create(backend: &Arc<dyn Backend>, path: &Path, block_words: usize) -> Result<Self> {
        Ok(Streams { spill: Spill::create(backend, path)?, block_words })
    }

    /// Number of words of a block.
    pub fn block_words(&self) -> usize {
        self.block_words
    }

    /// The file's size so far.
    pub fn len_bytes(&self) -> u64 {
        self.spill.len_bytes()
    }

    /// One worker's sink of `count` streams, with memory for a block of each.
    ///
    /// # Errors
    /// Too little memory under the budget, or errors of the operating system.
    pub fn sink(&self, runtime: &Runtime, count: usize) -> Result<Sink<'_>> {
        let block_bytes = 8 * self.block_words;
        let options = LanesOptions { lanes: count, spare_blocks: 0, block_bytes, tail_bytes: 8 };
        let lanes = self.spill.lanes(runtime, "distributing to a temporary file", &options)?;
        Ok(Sink { streams: self, lanes, next: vec![None; count], chains: vec![Chain::default(); count] })
    }

    /// Reads the next block of a chain to the front of `words`, and removes it from the chain; returns its number of
    /// words. `words` has room for one word more than a block.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn read(&self, chain: &mut Chain, words: &mut [u64]) -> Result<usize> {
        let count = chain.words.min(self.block_words as u64) as usize;
        let goes_on = chain.words > count as u64;
        self.spill.read(raw_bytes_mut(&mut words[..count + usize::from(goes_on)]), self.offset(chain.block))?;
        *chain = Chain { block: if goes_on { words[count] } else { 0 }, words: chain.words - count as u64 };
        Ok(count)
    }

    fn offset(&self, block: u64) -> u64 {
        block * 8 * (self.block_words as u64 + 1)
    }

    fn take(&self) -> u64 {
        let block_bytes = self.offset(1);
        self.spill.take(block_bytes) / block_bytes
    }
}

/// One worker's buffers of all streams.
pub struct Sink<'a> {
    streams: &'a Streams,
    lanes: Lanes,
    /// The allocated next block of every stream, if one was written before.
    next: Vec<Option<u64>>,
    chains: Vec<Chain>,
}

impl Sink<'_> {
    /// Appends a word to a stream.
    ///
    /// # Errors
    /// A full disk.
    #[inline(always)]
    pub fn push(&mut self, stream: usize, word: u64) -> Result<()> {
        while !self.lanes.put(stream, &word.to_ne_bytes()) {
            self.flush(stream, true)?;
        }
        Ok(())
    }

    /// Appends words to a stream.
    ///
    /// # Errors
    /// A full disk.
    #[inline(always)]
    pub fn push_all<const WORDS: usize>(&mut self, stream: usize, words: [u64; WORDS]) -> Result<()> {
        if self.lanes.put_words(stream, words) {
            return Ok(());
        }
        // A block may end within them.
        words.into_iter().try_for_each(|word| self.push(stream, word))
    }

    /// Appends numbers to a stream.
    ///
    /// # Errors
    /// A full disk.
    pub fn numbers(&mut self, stream: usize, numbers: &[f64]) -> Result<()> {
        let bytes = raw_bytes(numbers);
        let mut put = self.lanes.put_some(stream, bytes);
        while put < bytes.len() {
            self.flush(stream, true)?;
            put += self.lanes.put_some(stream, &bytes[put..]);
        }
        Ok(())
    }

    /// Writes the block of a stream, followed by the number of the next one if the stream continues.
    #[cold]
    #[inline(never)]
    fn flush(&mut self, stream: usize, goes_on: bool) -> Result<()> {
        let used_bytes = self.lanes.used_bytes(stream);
        let block = match self.next[stream] {
            Some(next) => next,
            None if used_bytes == 0 => return self.lanes.write(stream, 0, &[]),
            None => self.streams.take(),
        };
        if self.chains[stream].words == 0 {
            self.chains[stream].block = block;
        }
        self.chains[stream].words += used_bytes as u64 / 8;
        let offset_bytes = self.streams.offset(block);
        if !goes_on {
            return self.lanes.write(stream, offset_bytes, &[]);
        }
        let next = self.streams.take();
        self.next[stream] = Some(next);
        self.lanes.write(stream, offset_bytes, &next.to_ne_bytes())
    }

    /// Writes the remaining words; returns the chain of every stream.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(mut self) -> Result<Vec<Chain>> {
        (0..self.chains.len()).try_for_each(|stream| self.flush(stream, false))?;
        self.lanes.finish()?;
        Ok(self.chains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::RuntimeOptions;

    #[test]
    fn every_stream_comes_back_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let streams = Streams::create(runtime.backend(), &directory.path().join("streams"), 5).unwrap();
        let mut sinks = [streams.sink(&runtime, 3).unwrap(), streams.sink(&runtime, 3).unwrap()];
        for i in 0..100u64 {
            sinks[(i / 7 % 2) as usize].push(if i % 10 == 0 { 0 } else { 2 }, i).unwrap();
        }
        let mut words_of = vec![Vec::new(); 3];
        for sink in sinks {
            for (stream, mut chain) in sink.finish().unwrap().into_iter().enumerate() {
                let mut before = None;
                while chain.words > 0 {
                    let mut words = [0; 6];
                    let count = streams.read(&mut chain, &mut words).unwrap();
                    for &word in &words[..count] {
                        assert!(before < Some(word));
                        before = Some(word);
                        words_of[stream].push(word);
                    }
                }
            }
        }
        words_of.iter_mut().for_each(|words| words.sort_unstable());
        assert_eq!(words_of[0], (0..100).step_by(10).collect::<Vec<_>>());
        assert_eq!(words_of[1], Vec::<u64>::new());
        assert_eq!(words_of[2].len(), 90);
    }

    #[test]
    fn a_chain_of_any_length_is_one_place_and_one_length() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        for count in [0u64, 1, 2, 20_000] {
            let streams = Streams::create(runtime.backend(), &directory.path().join("streams"), 1).unwrap();
            let mut sink = streams.sink(&runtime, 1).unwrap();
            (0..count).for_each(|word| sink.push(0, word).unwrap());
            let mut chain = sink.finish().unwrap()[0];
            assert_eq!(chain.words, count);
            // A block is a word and the number of the next block.
            assert!(streams.len_bytes() <= 16 * (count + 1));
            let mut words = [0; 2];
            for word in 0..count {
                assert_eq!((streams.read(&mut chain, &mut words).unwrap(), words[0]), (1, word));
            }
            assert_eq!(chain, Chain::default());
        }
    }
}
