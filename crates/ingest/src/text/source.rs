//! The source that text formats share: blocks of lines, numbered the way the format needs it.
//!
//! Edge lists need nothing but line numbers. Adjacency formats need to know which vertex a block starts with, and dense
//! matrices which entry: the cutter counts those, because only it sees the blocks in order.

use crate::batch::{BatchWeights, Block, BlockData, EdgeBatch, Facts, Ids, Parser, ReadBlocks, Source, bad_record};
use crate::mix::mix;
use crate::text::blocks::{LineBlocks, Lines};
use crate::text::number::lines;
use memchr::{memchr_iter, memmem};
use outcore_image::{Error, Result};
use std::cmp::Ordering::{Equal, Greater, Less};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The meaning of `first_vertex` of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    None,
    /// Lines that are neither blank nor comments, from 0.
    Entries,
    /// Lines, from `first`, of which there must be `count`; lines that start with `%` do not count if `comments`.
    Adjacency {
        first: u64,
        count: u64,
        comments: bool,
    },
}

/// A source of blocks of lines. With a tally, the input ends with an empty block, so that the counts are compared.
pub(crate) fn text_source(
    blocks: LineBlocks,
    facts: Facts,
    parser: Arc<dyn Parser>,
    numbering: Numbering,
    tally: Option<Arc<Tally>>,
) -> Source {
    let input_bytes = facts.input_bytes.unwrap_or(0);
    let (counted, sequence, mid_line, ended) = (0, 0, false, false);
    let text = TextBlocks { blocks, numbering, tally, input_bytes, counted, sequence, mid_line, ended };
    Source::new(facts, parser, text)
}

struct TextBlocks {
    blocks: LineBlocks,
    numbering: Numbering,
    tally: Option<Arc<Tally>>,
    input_bytes: u64,
    counted: u64,
    sequence: u64,
    mid_line: bool,
    ended: bool,
}

impl TextBlocks {
    /// Gives `lines` the next number, counts what they hold, and makes them a block.
    fn number(&mut self, lines: Lines) -> Block {
        let counted_before = self.counted;
        let first = match self.numbering {
            Numbering::None => 0,
            Numbering::Entries => {
                self.counted += data_lines(&lines.bytes).count() as u64;
                counted_before
            }
            Numbering::Adjacency { first, comments, .. } => {
                self.count_adjacency(&lines.bytes, comments);
                first.saturating_add(counted_before)
            }
        };
        let block = lines.into_block(self.sequence, first);
        self.sequence += 1;
        block
    }

    fn count_adjacency(&mut self, bytes: &[u8], comments: bool) {
        self.counted += memchr_iter(b'\n', bytes).count() as u64;
        if comments {
            let inside = memmem::find_iter(bytes, b"\n%").count() as u64;
            let in_front = !self.mid_line && bytes.starts_with(b"%");
            let last_line = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
            // The last comment of a file may lack the line end that was counted above.
            let cut_off = bytes[last_line..].starts_with(b"%") && !(self.mid_line && last_line == 0);
            self.counted -= inside + in_front as u64 - cut_off as u64;
            self.mid_line = !bytes.ends_with(b"\n") && !cut_off;
        } else {
            self.mid_line = !bytes.ends_with(b"\n");
        }
    }

    /// Compares the number of adjacency lines with the header, at the end of the input.
    fn check_count(&mut self) -> Result<()> {
        if let Numbering::Adjacency { count, .. } = self.numbering {
            let found = self.counted + self.mid_line as u64;
            if found != count {
                return Err(Error::input(
                    self.blocks.path(),
                    None,
                    format!("{count} lines of neighbours, as the first line says"),
                    format!("{found}"),
                )
                .advise("a vertex without neighbours has an empty line; the file may be truncated"));
            }
        }
        Ok(())
    }
}

impl ReadBlocks for TextBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        if let Some(lines) = self.blocks.next_lines()? {
            let has_comments = matches!(self.numbering, Numbering::Adjacency { comments: true, .. });
            if has_comments && self.mid_line && lines.bytes.starts_with(b"%") {
                // Parsers see a comment in a block that starts so; the middle of a line must not look like one.
                return Err(bad_record(self.blocks.path(), lines.first_line, "a vertex", &lines.bytes));
            }
            return Ok(Some(self.number(lines)));
        }
        self.ended = true;
        self.check_count()?;
        let Some(tally) = &self.tally else {
            return Ok(None);
        };
        tally.end(self.sequence + 1);
        Ok(Some(Block {
            sequence: self.sequence,
            first_record: 0,
            first_vertex: 0,
            input_bytes: self.input_bytes,
            data: BlockData::Bytes(Vec::new()),
        }))
    }
}

/// The lines that are neither blank nor `%` comments, with their numbers from 0.
pub(crate) fn data_lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (0u64..).zip(lines(bytes)).filter(|(_, line)| {
        let first = line.iter().find(|b| !crate::text::number::is_blank(**b));
        first.is_some_and(|&b| b != b'%')
    })
}

/// The first block that holds a data line, with what is before it in the same block.
pub(crate) fn first_data_block(blocks: &mut LineBlocks, is_data: impl Fn(&[u8]) -> bool) -> Result<Option<Lines>> {
    while let Some(found) = blocks.next_lines()? {
        if lines(&found.bytes).any(&is_data) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Makes `batch` ready for a block of integer or string ids, keeping its memory where the kind is the same.
pub(crate) fn begin(batch: &mut EdgeBatch, block: &Block, strings: bool) {
    begin_at(batch, block.sequence, strings);
}

/// Empties a batch for the ids of the block of that number.
pub(crate) fn begin_at(batch: &mut EdgeBatch, sequence: u64, strings: bool) {
    batch.sequence = sequence;
    for ids in [&mut batch.ids, &mut batch.vertices] {
        if matches!(ids, Ids::Text { .. }) == strings {
            ids.clear();
        } else {
            *ids = if strings { Ids::strings() } else { Ids::integers() };
        }
    }
}

/// Makes the weights of a batch ready: real numbers, in the memory of the last batch if it held some, or none.
pub(crate) fn begin_weights(batch: &mut EdgeBatch, are_wanted: bool) {
    match are_wanted {
        true => batch.weights.reals().clear(),
        false => batch.weights = BatchWeights::None,
    }
}

/// Parses the lines of a block and returns their number of edges; the error of `parse` is the expected part of the
/// message.
pub(crate) fn parse_lines(
    block: &Block,
    path: &Path,
    mut parse: impl FnMut(&[u8], u64) -> std::result::Result<u64, String>,
) -> Result<u64> {
    let mut edges = 0;
    for (number, line) in (block.first_record..).zip(lines(text_of(block, path)?)) {
        edges += parse(line, number).map_err(|expected| bad_record(path, number, &expected, line))?;
    }
    Ok(edges)
}

pub(crate) fn text_of<'a>(block: &'a Block, path: &Path) -> Result<&'a [u8]> {
    match &block.data {
        BlockData::Bytes(bytes) => Ok(bytes),
        _ => Err(Error::input(path, None, "a block of bytes", "a table")),
    }
}

/// Appends a pair of vertices without a sign.
#[inline]
pub(crate) fn push_pair(ids: &mut Ids, source: u64, target: u64) {
    if let Ids::Integer { values, huge, .. } = ids {
        values.push(source);
        values.push(target);
        *huge |= (source | target) >> 63 != 0;
    }
}

/// Whether the weights of a format with one kind of weights are wanted; `names` are what they may be called.
pub(crate) fn weights_wanted(weights: Option<&str>, format: &str, names: &[&str]) -> Result<bool> {
    match weights {
        None => Ok(true),
        Some("none") => Ok(false),
        Some(name) if names.contains(&name) => Ok(true),
        Some(name) if names.is_empty() => {
            Err(Error::Usage(format!("--weight {name}: format {format} has no weights; leave the option out")))
        }
        Some(name) => Err(Error::Usage(format!(
            "--weight {name}: the weights of format {format} are called {}; or leave them out with --weight none",
            names.join(" or "),
        ))),
    }
}

// Parsing is spread over workers and no block is the last one in time, so each worker adds what it found, and whoever
// completes the last block gets the sums. The source makes that possible by ending every counted input with an empty
// block, before which it says how many blocks there are. Cost: four additions per block.

/// Sums over one block, or over the whole input; the format defines the meaning of each number.
pub(crate) type Sums = [u64; 4];

pub(crate) struct Tally {
    sums: [AtomicU64; 4],
    parsed_blocks: AtomicU64,
    /// `u64::MAX` until the source has reached the end.
    total_blocks: AtomicU64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Tally {
            sums: [const { AtomicU64::new(0) }; 4],
            parsed_blocks: AtomicU64::new(0),
            total_blocks: AtomicU64::new(u64::MAX),
        }
    }

    /// The source has cut the whole input into this many blocks; called before it hands out the last of them.
    pub(crate) fn end(&self, total_blocks: u64) {
        self.total_blocks.store(total_blocks, Ordering::SeqCst);
    }

    /// Adds what one block holds; the sums come back from the call that completes the input.
    pub(crate) fn add(&self, block: Sums) -> Option<Sums> {
        for (sum, found) in self.sums.iter().zip(block) {
            sum.fetch_add(found, Ordering::SeqCst);
        }
        let parsed = self.parsed_blocks.fetch_add(1, Ordering::SeqCst) + 1;
        (parsed == self.total_blocks.load(Ordering::SeqCst)).then(|| self.sums())
    }

    /// The sums of all blocks that were added.
    pub(crate) fn sums(&self) -> Sums {
        [0, 1, 2, 3].map(|i: usize| self.sums[i].load(Ordering::SeqCst))
    }
}

/// Counts an undirected edge at one of its ends, `vertex`: arcs to larger vertices, to smaller ones, self-loops, and
/// the difference between the sums of the hashes of the first two, with a random key. False at the larger end of an
/// edge, which is handed on from the smaller one.
#[inline]
pub(crate) fn see_end(sums: &mut Sums, key: u64, [vertex, neighbour]: [u64; 2], weight_bits: u64) -> bool {
    let hash = |one, other| mix(mix(mix(key ^ one).wrapping_add(other)).wrapping_add(weight_bits));
    match neighbour.cmp(&vertex) {
        Less => (sums[1], sums[3]) = (sums[1] + 1, sums[3].wrapping_sub(hash(neighbour, vertex))),
        Equal => sums[2] += 1,
        Greater => (sums[0], sums[3]) = (sums[0] + 1, sums[3].wrapping_add(hash(vertex, neighbour))),
    }
    neighbour >= vertex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_in_time_gets_the_sums() {
        let tally = Tally::new();
        let one = [3, 1, 0, 1 << 63];
        assert_eq!(tally.add(one), None);
        assert_eq!(tally.add(one), None);
        tally.end(3);
        assert_eq!(tally.add(one), Some([9, 3, 0, 1 << 63]));
    }
}
