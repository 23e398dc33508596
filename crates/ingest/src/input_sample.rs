//! A sample of an input, read before an import to estimate its size.
//!
//! Some *pieces* are parsed: of plain text in columns sixteen at regular places, of any other file its first blocks,
//! and of many files those of four. The number of different ids follows from how many of them are in one piece and in
//! two, for samples without replacement (Chao and Lin, *Nonparametric lower bounds for species richness*, Biometrics
//! 2012): exact for ids that stand together, a tenth too low for ids drawn with equal chance, lower where a few are
//! frequent. Integers are at most as many as their range has.

use crate::batch::{BLOCK_BYTES, BatchWeights, Block, BlockData, EdgeBatch, Facts, Ids, InputOptions, Parser, Source};
use crate::format::Format;
use crate::input::context::InputContext;
use crate::input::file::Input;
use crate::mix::mix;
use crate::tables::attributes::AttributeValues;
use memchr::{memchr, memrchr};
use outcore_io::{Runtime, trim_freed_memory};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Number and size of the pieces of plain text.
const PIECES: u64 = 16;
const PIECE_BYTES: usize = 64 << 10;
/// Number of blocks of other files that are parsed, of parts of a block, and of blocks that tell the compression.
const BLOCKS: usize = 4;
const PARTS: usize = 2;
const PACKED_BLOCKS: usize = 16;
/// Number of files that are sampled.
const FILES: usize = 4;
/// Ids by which nothing can be told.
const FEW: f64 = 10.0;
/// Memory of a sample, beside that of decoding a block, and of one of a quarter of the pieces.
const MEMORY_BYTES: [u64; 2] = [36 << 20, 10 << 20];

/// Sizes of an input, as a sample suggests.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputSample {
    /// Edges of the whole input.
    pub edges: u64,
    /// Blocks that readers take, about.
    pub blocks: u64,
    /// The different ids.
    pub ids: Different,
    /// The different edges.
    pub pairs: Different,
    /// Bits of the distance of the ends of an edge, on average, where ids are integers.
    pub distance_bits: Option<f64>,
    /// Bits of a weight in an image.
    pub weight_bits: f64,
    /// The different strings of each attribute of edges, or the range of its numbers.
    pub attributes: Vec<Different>,
}

/// Different ids, or strings of an attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Different {
    /// The number in the sample: there are at least as many.
    pub least: u64,
    /// The number in the whole input, as estimated.
    pub count: u64,
    /// Average length of a string in bytes; 0 for integers.
    pub len_bytes: f64,
    /// Integers from the least to the greatest.
    pub range: u64,
    /// Share of the ids that occur all over the input: 0 where each stands in one place, 1 where they are drawn.
    pub spread: f64,
}

/// A sample of the files that are read; `None` where none can be read again, or there is no memory for it.
pub(crate) fn sample(
    runtime: &Runtime,
    paths: &[PathBuf],
    facts: &Facts,
    options: &InputOptions,
) -> Option<InputSample> {
    let reserve = |bytes| runtime.budget().reserve("a sample of the input", facts.block_bytes + bytes).ok();
    let [all, few] = MEMORY_BYTES;
    let (_memory, part) = reserve(all).map(|memory| (memory, 1)).or_else(|| Some((reserve(few)?, 4)))?;
    let context = InputContext::of(runtime);
    let names = |facts: &Facts| facts.attributes.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
    let (mut pieces, mut has_same_attributes) = (Pieces { part, ..Pieces::default() }, true);
    let (mut sampled_bytes, mut sampled_edges) = (0, 0.0);
    let chosen = paths.len().min(FILES);
    for number in 0..chosen {
        let input = Input::file(&paths[number * paths.len() / chosen], &context).ok()?;
        let size_bytes = input.size_bytes()?;
        let format = Format::of(&input, options).ok().filter(|format| !format.is_pair)?;
        let source = format.open(&input, options).ok()?;
        has_same_attributes &= names(source.facts()) == names(facts);
        sampled_edges += pieces.add_file(&input, source, size_bytes, (PIECES / (chosen * part) as u64).max(1))?;
        sampled_bytes += size_bytes;
    }
    let by_bytes = |bytes: u64| sampled_edges * bytes as f64 / sampled_bytes.max(1) as f64;
    let edges = facts.edges.map_or_else(|| by_bytes(facts.input_bytes.unwrap_or(sampled_bytes)), |edges| edges as f64);
    pieces.blocks *= facts.input_bytes.map_or(1.0, |bytes| bytes as f64 / sampled_bytes.max(1) as f64);
    let mut sample = pieces.sizes(edges);
    if !has_same_attributes {
        // Values are by the places of columns, which other files, partitions and conditions move.
        sample.attributes.clear();
    }
    drop(pieces);
    trim_freed_memory();
    Some(sample)
}

/// The beginnings of both halves of a block of lines.
fn halves(block: Block) -> Vec<Block> {
    let BlockData::Bytes(lines) = &block.data else { return vec![block] };
    let cut = |from: &[u8]| {
        let most = from.len().min(PIECE_BYTES);
        from[..memrchr(b'\n', &from[..most]).map_or(most, |end| end + 1)].to_vec()
    };
    if lines.len() <= 2 * PIECE_BYTES {
        return vec![block];
    }
    let middle = lines.len() / 2;
    let second = middle + memchr(b'\n', &lines[middle..]).map_or(0, |end| end + 1);
    let Block { sequence, first_record, first_vertex, input_bytes, .. } = block;
    let piece = |bytes| Block { sequence, first_record, first_vertex, input_bytes, data: BlockData::Bytes(bytes) };
    vec![piece(cut(lines)), piece(cut(&lines[second..]))]
}

/// The pieces of a sample that were parsed.
#[derive(Default)]
struct Pieces {
    /// One in this many pieces is parsed.
    part: usize,
    count: u32,
    edges: u64,
    /// Blocks of the files, about.
    blocks: f64,
    ids: Occurrences,
    pairs: Occurrences,
    distance_bits: f64,
    weights: ValueRange,
    attributes: Vec<Occurrences>,
}

impl Pieces {
    /// Parses pieces of a file of this size; returns the number of its edges, as they suggest.
    fn add_file(&mut self, input: &Input, mut source: Source, size_bytes: u64, pieces: u64) -> Option<f64> {
        let parser = source.parser();
        self.ids.is_text = source.facts().string_ids;
        let is_text = source.facts().text.is_some() && source.facts().compression.is_none();
        let first = source.next_block().ok()?;
        let Some(mut first) = first else { return Some(0.0) };
        if source.facts().text.is_none() && source.facts().edges.is_none() {
            // Other formats tell edges by a sample of their own, or all of them, or have their vertices first.
            return None;
        }
        let is_small = size_bytes <= pieces * PIECE_BYTES as u64;
        let file = if is_text && !is_small && !input.is_archive() { input.open_file().ok() } else { None };
        let (Some(file), BlockData::Bytes(lines)) = (file, &mut first.data) else {
            return self.add_blocks(&*parser, source, first, size_bytes);
        };
        // The first block, for it lacks what is no line of an edge.
        lines.truncate(memrchr(b'\n', &lines[..lines.len().min(PIECE_BYTES)])? + 1);
        let mut sampled_bytes = lines.len() as u64;
        self.blocks += (size_bytes as f64 / BLOCK_BYTES as f64).ceil();
        let before = self.edges;
        self.add(&*parser, &first)?;
        for place in 1..pieces {
            let mut bytes = vec![0; PIECE_BYTES];
            let len = file.read_some(&mut bytes, size_bytes / pieces * place).ok()?;
            bytes.truncate(memrchr(b'\n', &bytes[..len])? + 1);
            bytes.drain(..memchr(b'\n', &bytes)? + 1);
            sampled_bytes += bytes.len() as u64;
            let data = BlockData::Bytes(bytes);
            self.add(&*parser, &Block { sequence: place, first_record: 1, first_vertex: 0, input_bytes: 0, data })?;
        }
        Some((self.edges - before) as f64 * size_bytes as f64 / sampled_bytes.max(1) as f64)
    }

    /// Parses the first blocks, of text in columns two pieces of each; returns the number of edges in all.
    fn add_blocks(&mut self, parser: &dyn Parser, mut source: Source, first: Block, size_bytes: u64) -> Option<f64> {
        let is_text = source.facts().text.is_some();
        let len_of = |block: &Block| if let BlockData::Bytes(bytes) = &block.data { bytes.len() as u64 } else { 0 };
        let before = self.edges;
        let (first_position, first_len) = (first.input_bytes, len_of(&first));
        let (mut position, mut len, mut parsed_len) = (first_position, 0, 0);
        let (mut next, mut number, mut is_whole) = (Some(first), 0, true);
        while let Some(block) = next {
            (position, len, number) = (block.input_bytes, len + len_of(&block), number + 1);
            if number <= (BLOCKS / self.part / if is_text { 1 } else { 2 }).max(1) {
                let pieces = if is_text { halves(block) } else { vec![block] };
                for piece in pieces {
                    parsed_len += len_of(&piece);
                    let mut parts = piece.parts();
                    for part in parts.by_ref().take(PARTS) {
                        self.add(parser, &part.ok()?)?;
                    }
                    is_whole &= parts.next().is_none();
                }
            }
            is_whole &= parsed_len == len;
            next = if number < PACKED_BLOCKS { source.next_block().ok()? } else { None };
        }
        let has_ended = number < PACKED_BLOCKS;
        // A decoder has read ahead of each block by about the same.
        let share = match (has_ended, len > first_len) {
            (true, _) => 1.0,
            (false, true) => {
                let behind_bytes = size_bytes.saturating_sub(first_position) as f64;
                let all_len = first_len as f64
                    + (len - first_len) as f64 * behind_bytes / (position - first_position).max(1) as f64;
                len as f64 / all_len
            }
            (false, false) => position as f64 / size_bytes.max(1) as f64,
        };
        self.blocks += number as f64 / share.min(1.0);
        let edges = (self.edges - before) as f64;
        Some(if is_whole { edges } else { edges * len as f64 / parsed_len.max(1) as f64 / share })
    }

    /// Parses a piece.
    fn add(&mut self, parser: &dyn Parser, block: &Block) -> Option<()> {
        self.count += 1;
        let is_text = self.ids.is_text;
        let mut batch = EdgeBatch::new(is_text);
        let parsed = parser.parse(block, &mut batch, &mut |batch| {
            self.take(batch);
            batch.clear();
            Ok(())
        });
        parsed.ok()
    }

    fn take(&mut self, batch: &EdgeBatch) {
        self.edges += batch.ids.len() as u64 / 2;
        match &batch.ids {
            Ids::Integer { values, huge, .. } => {
                for ends in values.chunks_exact(2) {
                    ends.iter().for_each(|&id| self.ids.add(mix(id), 0, self.count));
                    let distance = if *huge { ends[0].abs_diff(ends[1]) } else { distance(ends[0], ends[1]) };
                    self.distance_bits += (1.0 + distance as f64).log2();
                    self.pairs.add(mix(mix(ends[0]) ^ ends[1]), 0, self.count);
                }
                self.ids.widen(values, *huge);
            }
            Ids::Text { bytes, ends } => {
                self.ids.add_texts(bytes, ends, 1, self.count);
                self.pairs.add_texts(bytes, ends, 2, self.count);
            }
        }
        self.weights.take(&batch.weights);
        self.attributes.resize_with(batch.attributes.len().max(self.attributes.len()), Occurrences::default);
        for (occurrences, column) in self.attributes.iter_mut().zip(&batch.attributes) {
            match &column.values {
                AttributeValues::Text { bytes, ends } => occurrences.add_texts(bytes, ends, 1, self.count),
                AttributeValues::Words(words) => occurrences.widen(words, false),
                AttributeValues::Missing(_) => {}
            }
        }
    }

    /// Sizes that the pieces suggest of an input with so many edges.
    fn sizes(&self, edges: f64) -> InputSample {
        let share = (self.edges as f64 / edges.max(1.0)).min(1.0);
        let mut ids = self.ids.different(share, self.count, 2.0 * edges);
        if ids.range > 0 {
            ids.count = ids.count.min(ids.range.saturating_add(ids.range / 1000));
        }
        InputSample {
            edges: edges as u64,
            blocks: self.blocks.ceil() as u64,
            ids,
            pairs: self.pairs.different(share, self.count, edges),
            distance_bits: (ids.range > 0).then(|| self.distance_bits / self.edges.max(1) as f64),
            weight_bits: self.weights.value_bits(),
            attributes: self.attributes.iter().map(|strings| strings.different(share, self.count, edges)).collect(),
        }
    }
}

/// The pieces that ids or strings occur in.
#[derive(Default)]
struct Occurrences {
    is_text: bool,
    /// By hash, the number of pieces, and the last one of them.
    pieces: HashMap<u64, [u32; 2]>,
    text_bytes: u64,
    /// The least and the greatest integer.
    range: Option<(i128, i128)>,
}

/// The distance of two integers with signs.
fn distance(one: u64, other: u64) -> u64 {
    (one as i64).abs_diff(other as i64)
}

impl Occurrences {
    fn add(&mut self, hash: u64, len_bytes: usize, piece: u32) {
        let [count, last] = self.pieces.entry(hash).or_insert_with(|| {
            self.text_bytes += len_bytes as u64;
            [0, 0]
        });
        if *last != piece {
            (*count, *last) = (*count + 1, piece);
        }
    }

    fn widen(&mut self, values: &[u64], are_unsigned: bool) {
        for &value in values {
            let value = if are_unsigned { i128::from(value) } else { i128::from(value as i64) };
            let (least, most) = self.range.unwrap_or((value, value));
            self.range = Some((least.min(value), most.max(value)));
        }
    }

    /// Adds strings, so many at a time.
    fn add_texts(&mut self, bytes: &[u8], ends: &[u32], together: usize, piece: u32) {
        let mut start = 0;
        for &end in ends.iter().skip(together - 1).step_by(together) {
            let text = &bytes[start..end as usize];
            start = end as usize;
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            self.add(hasher.finish(), text.len(), piece);
        }
    }

    /// The different ones of all, of which the pieces are a share; there are `most` with repetitions.
    fn different(&self, share: f64, pieces: u32, most: f64) -> Different {
        let in_pieces = |wanted: u32| self.pieces.values().filter(|[count, _]| *count == wanted).count() as f64;
        let (once, twice, least) = (in_pieces(1), in_pieces(2), self.pieces.len() as u64);
        let pieces = f64::from(pieces.max(1));
        let chance = if pieces > 1.0 { 2.0 * twice * pieces / (pieces - 1.0) } else { 0.0 };
        let others = match once > 0.0 && share < 1.0 {
            true => once * once / (chance + once * share / (1.0 - share)),
            false => 0.0,
        };
        let len_bytes = self.text_bytes as f64 / least.max(1) as f64;
        let count = (least as f64 + others).min(most);
        // The number of ids in two pieces, if all occur anywhere.
        let in_piece = 1.0 - (-most * share / pieces / count.max(1.0)).exp();
        let pairs = pieces * (pieces - 1.0) / 2.0;
        let anywhere = count * pairs * in_piece.powi(2) * (1.0 - in_piece).powf((pieces - 2.0).max(0.0));
        let spread = if anywhere < FEW { 1.0 } else { (twice / anywhere).min(1.0) };
        let range = self.range.map_or(0, |(least, most)| u64::try_from(most - least + 1).unwrap_or(u64::MAX));
        Different { least, count: count as u64, len_bytes, range, spread }
    }
}

/// The values of weights.
#[derive(Default)]
struct ValueRange {
    range: Option<(i64, i64)>,
    has_fractions: bool,
    is_wide: bool,
}

impl ValueRange {
    fn take(&mut self, weights: &BatchWeights) {
        let widened = |range: Option<(i64, i64)>, value: i64| {
            let (least, most) = range.unwrap_or((value, value));
            Some((least.min(value), most.max(value)))
        };
        match weights {
            BatchWeights::None | BatchWeights::Complex(_) => {}
            BatchWeights::Integer(values) => self.range = values.iter().copied().fold(self.range, widened),
            BatchWeights::Real(values) => {
                self.range = values.iter().map(|&value| value as i64).fold(self.range, widened);
                self.has_fractions |= values.iter().any(|value| value.trunc() != *value);
                self.is_wide |= values.iter().any(|&value| f64::from(value as f32) != value);
            }
        }
    }

    /// Bits of a value in an image, where blocks of whole numbers take as many as their range needs.
    fn value_bits(&self) -> f64 {
        let (least, most) = self.range.unwrap_or_default();
        match (self.has_fractions, self.is_wide) {
            (true, true) => 64.0,
            (true, false) => 32.0,
            (false, _) => (1.0 + most.abs_diff(least) as f64).log2(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of a list of ids, from regular places.
    fn estimated(ids: &[u64]) -> f64 {
        let mut all = Occurrences::default();
        let (step, len) = (ids.len() / 16, ids.len() / 160);
        for piece in 0..16 {
            ids[piece * step..][..len].iter().for_each(|&id| all.add(mix(id), 0, piece as u32 + 1));
        }
        all.different(16.0 * len as f64 / ids.len() as f64, 16, ids.len() as f64).count as f64
    }

    #[test]
    fn different_ids_are_estimated_by_those_in_one_piece_and_in_two() {
        let drawn: Vec<u64> = (0..1_000_000).map(|place| mix(place) % 200_000).collect();
        let together: Vec<u64> = (0..1_000_000).map(|place| place / 5).collect();
        let once: Vec<u64> = (0..200_000).collect();
        for ids in [&drawn, &together, &once] {
            let ratio = estimated(ids) / 200_000.0;
            assert!((0.85..1.1).contains(&ratio), "{ratio}");
        }
    }
}
