//! A sample of an input, from which an import estimates its size.
//!
//! About sixteen *pieces* are parsed. A plain file of lines or of binary records is cut at regular places, and so are
//! the row groups of Parquet; of any other file the first blocks are read: those of a document behind its vertices. Of
//! many files four are sampled. The pieces pass the conditions of the input.
//!
//! The number of different ids follows from how many of them are in one piece and in two, for samples without
//! replacement (Chao and Lin, *Nonparametric lower bounds for species richness*, Biometrics 2012): exact for ids that
//! stand together, a tenth too low for ids drawn with equal chance, lower where a few are frequent. Integers are at
//! most as many as their range has.

use crate::batch::{
    BLOCK_BYTES, BatchWeights, Block, BlockData, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source,
};
use crate::bipartite::with_sides;
use crate::conditions::with_conditions;
use crate::format::{Cut, Format};
use crate::input::context::InputContext;
use crate::input::file::Input;
use crate::input::partitions::Partitions;
use crate::mix::mix;
use crate::tables::attributes::{AttributeColumn, AttributeValues};
use memchr::{memchr, memchr_iter, memrchr};
use outcore_io::{Runtime, trim_freed_memory};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Number of the pieces of an input; their size in bytes of text or binary records, and in rows of a table.
const PIECES: usize = 16;
const PIECE_BYTES: usize = 64 << 10;
const PIECE_ROWS: usize = 1 << 14;
/// Number of pieces of a block, where blocks are read one after the other; and of blocks, which tell the compression.
const BLOCK_PIECES: usize = 2;
const BLOCKS: usize = 16;
/// Number of row groups whose rows are decoded, and of rows of each.
const GROUPS: usize = 4;
const GROUP_ROWS: usize = 1 << 18;
/// Vertices of a document are read up to here; behind are as many edges as vertices would have room.
const MOST_VERTICES_BYTES: u64 = 64 << 20;
/// Number of vertices whose attributes are sampled.
const VERTICES: f64 = 65536.0;
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
    /// Edges of the whole input that meet its conditions.
    pub edges: u64,
    /// Share of them that are loops.
    pub loops_share: f64,
    /// The pieces are from all over the input, not from its beginning.
    pub is_from_all: bool,
    /// Blocks that readers take, about.
    pub blocks: u64,
    /// The different ids of edges.
    pub ids: Different,
    /// Vertices that the input lists beside its edges.
    pub listed: u64,
    /// The different edges.
    pub pairs: Different,
    /// Bits of the distance of the ends of an edge, on average, where ids are integers.
    pub distance_bits: Option<f64>,
    /// Bits of a weight in an image.
    pub weight_bits: f64,
    /// The different strings of each attribute of edges, or the range of its numbers.
    pub attributes: Vec<Different>,
    /// Attributes of vertices that the input lists, likewise.
    pub vertex_attributes: Vec<Different>,
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

/// The files of an input, which are sampled when their sizes are first wanted. An input that is no files has none.
#[derive(Clone, Debug, Default)]
pub struct SampledFiles(Option<Arc<Sampling>>);

#[derive(Debug)]
struct Sampling {
    paths: Vec<PathBuf>,
    partitions: Partitions,
    /// The options for all, and for the columns that files have beside those of partitions.
    options: [InputOptions; 2],
    sizes: OnceLock<Option<InputSample>>,
}

impl SampledFiles {
    /// Files that are read under these options; the second are for the columns that they have beside their partitions.
    pub(crate) fn new(paths: &[PathBuf], partitions: Partitions, options: [InputOptions; 2]) -> Self {
        SampledFiles(Some(Arc::new(Sampling { paths: paths.to_vec(), partitions, options, sizes: OnceLock::new() })))
    }
}

impl Facts {
    /// Sizes of the input, as a sample suggests, which the first call takes: some milliseconds. `None` where nothing
    /// can be read again, or there is no memory for it.
    pub fn sizes(&self, runtime: &Runtime) -> Option<&InputSample> {
        let sampling = self.sampled.0.as_deref()?;
        sampling.sizes.get_or_init(|| sampling.sample(runtime, self)).as_ref()
    }
}

impl Sampling {
    fn sample(&self, runtime: &Runtime, facts: &Facts) -> Option<InputSample> {
        // A block is decoded beside what is noted of it.
        let reserve = |bytes| runtime.budget().reserve("a sample of the input", facts.block_bytes + bytes).ok();
        let [all, few] = MEMORY_BYTES;
        let (_memory, part) = reserve(all).map(|memory| (memory, 1)).or_else(|| Some((reserve(few)?, 4)))?;
        let context = InputContext::of(runtime);
        let names = |facts: &Facts| facts.attributes.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        let first = Input::file(self.paths.first()?, &context).ok()?;
        // Looking at a pipe takes of it.
        first.size_bytes()?;
        let format = Format::of(&first, &self.options[1]).ok()?;
        let chosen = if format.is_pair { 1 } else { self.paths.len().min(FILES) };
        let mut pieces = Pieces { is_from_all: format.is_pair || chosen == self.paths.len(), ..Pieces::default() };
        let [options, beside] = &self.options;
        let mut beside = beside.clone();
        if facts.string_ids && facts.sides.is_none() && self.paths.len() > 1 {
            // One file of several may look as if its ids were integers.
            beside.ids = IdKind::String;
        }
        let (mut sampled_bytes, mut sampled_edges, mut has_same_attributes) = (0, 0.0, true);
        for number in 0..chosen {
            let input = Input::file(&self.paths[number * self.paths.len() / chosen], &context).ok()?;
            if input.size_bytes()? == 0 {
                continue;
            }
            let source = self.partitions.add_to(format.open(&input, &beside).ok()?, input.path());
            let known = source.facts().edges;
            let source = with_sides(with_conditions(source, options).ok()?, options).ok()?;
            has_same_attributes &= names(source.facts()) == names(facts);
            let is_plain = source.facts().compression.is_none() && !input.is_archive() && !format.is_pair;
            let file = File { input, cut: format.cut(), is_plain, known, wanted: (PIECES / (chosen * part)).max(1) };
            let (edges, bytes) = pieces.add_file(file, source)?;
            (sampled_edges, sampled_bytes) = (sampled_edges + edges, sampled_bytes + bytes);
        }
        let files_share = facts.input_bytes.map_or(1.0, |bytes| bytes as f64 / sampled_bytes.max(1) as f64);
        let mut sample =
            pieces.sizes(facts.edges.map_or(sampled_edges * files_share, |edges| edges as f64), files_share);
        if !has_same_attributes {
            // Values are by the places of columns, which other files move.
            sample.attributes.clear();
        }
        drop(pieces);
        trim_freed_memory();
        Some(sample)
    }
}

/// A file that is sampled.
struct File {
    input: Input,
    cut: Cut,
    /// It lies on the disk as the format has it, alone.
    is_plain: bool,
    /// Number of its edges, before conditions, where the format says it.
    known: Option<u64>,
    /// Number of pieces.
    wanted: usize,
}

/// Blocks that were read one after the other, until some place in the file.
#[derive(Clone, Copy)]
struct Progress {
    /// Bytes or rows of the blocks, and those of them that were parsed.
    all: f64,
    parsed: f64,
    /// Vertices that they list.
    listed: f64,
    position_bytes: u64,
}

/// The pieces of a sample that were parsed.
#[derive(Default)]
struct Pieces {
    count: u32,
    is_from_all: bool,
    edges: u64,
    loops: u64,
    /// Blocks of the files, and vertices that they list, about.
    blocks: f64,
    listed: f64,
    ids: Occurrences,
    pairs: Occurrences,
    distance_bits: f64,
    weights: ValueRange,
    attributes: Vec<Occurrences>,
    /// Attributes of the first vertices, and the number of these.
    vertex_attributes: Vec<Occurrences>,
    with_attributes: f64,
}

impl Pieces {
    /// Parses pieces of a file; returns the number of its edges, as they suggest, and its size in bytes.
    fn add_file(&mut self, file: File, mut source: Source) -> Option<(f64, u64)> {
        let (before, parser) = (self.edges, source.parser());
        self.ids.is_text = source.facts().string_ids;
        let size_bytes = source.facts().input_bytes?;
        let Some(first) = source.next_block().ok()? else { return Some((0.0, size_bytes)) };
        let is_large = size_bytes > (file.wanted * PIECE_BYTES) as u64;
        let edges = match &first.data {
            BlockData::Bytes(_) if file.is_plain && is_large && file.cut != Cut::Blocks => {
                self.add_places(&*parser, source.facts(), &file, first)?
            }
            BlockData::Rows(_) if file.known.is_some() => self.add_groups(&*parser, &mut source, &file, first)?,
            _ => self.add_blocks(&*parser, &mut source, &file, first)?,
        };
        let met = (self.edges - before) as f64;
        let read = met + source.facts().edges_unmet() as f64;
        Some((file.known.map_or(edges, |known| known as f64 * met / read.max(1.0)), size_bytes))
    }

    /// Parses pieces from regular places of a plain file. The first one is of the first block, which lacks what is no
    /// line of an edge.
    fn add_places(&mut self, parser: &dyn Parser, facts: &Facts, file: &File, mut first: Block) -> Option<f64> {
        let (plain, size_bytes, before) = (file.input.open_file().ok()?, file.input.size_bytes()?, self.edges);
        let record_bytes = file.known.filter(|_| file.cut == Cut::Records).map(|known| size_bytes / known.max(1));
        let (first_vertex, vertices) = (first.first_vertex, facts.declared.map_or(0, |(_, count)| count));
        let mut sampled_bytes = 0;
        for place in 0..file.wanted as u64 {
            let BlockData::Bytes(bytes) = &mut first.data else { return None };
            if place > 0 {
                let offset_bytes = size_bytes / file.wanted as u64 * place;
                let offset_bytes = record_bytes.map_or(offset_bytes, |record| offset_bytes / record * record);
                bytes.resize(PIECE_BYTES, 0);
                let len = plain.read_some(bytes, offset_bytes).ok()?;
                bytes.truncate(len);
                let skipped = if record_bytes.is_some() { 0 } else { memchr(b'\n', bytes).map_or(len, |end| end + 1) };
                bytes.drain(..skipped);
                first.sequence += 1;
                first.first_vertex = first_vertex + (vertices as f64 * offset_bytes as f64 / size_bytes as f64) as u64;
            }
            let most = bytes.len().min(PIECE_BYTES);
            let end = record_bytes.map_or_else(
                || memrchr(b'\n', &bytes[..most]).map_or(0, |end| end + 1),
                |record| most - most % record as usize,
            );
            bytes.truncate(end);
            if self.add(parser, &first) {
                sampled_bytes += end as u64;
            }
        }
        self.blocks += (size_bytes as f64 / BLOCK_BYTES as f64).ceil();
        (sampled_bytes > 0).then(|| (self.edges - before) as f64 * size_bytes as f64 / sampled_bytes as f64)
    }

    /// Parses rows of some row groups, which are decoded alone; their number is known.
    fn add_groups(&mut self, parser: &dyn Parser, source: &mut Source, file: &File, first: Block) -> Option<f64> {
        let mut groups = vec![first];
        while let Some(group) = source.next_block().ok()? {
            groups.push(group);
        }
        self.blocks += groups.len() as f64;
        let chosen = groups.len().min(GROUPS).min(file.wanted);
        let places: Vec<usize> = (0..chosen).map(|number| number * groups.len() / chosen).collect();
        for (_, group) in groups.into_iter().enumerate().filter(|(place, _)| places.contains(place)) {
            self.add_rows(parser, group, file.wanted / chosen)?;
        }
        file.known.map(|known| known as f64)
    }

    /// Parses the first blocks; returns the number of edges in all.
    fn add_blocks(&mut self, parser: &dyn Parser, source: &mut Source, file: &File, first: Block) -> Option<f64> {
        let size_bytes = source.facts().input_bytes?;
        let (before, most) = (self.edges, self.count as usize + file.wanted);
        let mut progress = Progress { all: 0.0, parsed: 0.0, listed: 0.0, position_bytes: 0 };
        // At the end of the first block with edges.
        let mut start = None;
        let (mut next, mut blocks, mut has_ended) = (Some(first), 0, false);
        while let Some(block) = next {
            let (position_bytes, listed_before, count_before) = (block.input_bytes, self.listed, self.count);
            let is_wanted = (self.count as usize) < most;
            let [all, parsed] = match &block.data {
                BlockData::Bytes(bytes) if !is_wanted => [bytes.len() as f64, 0.0],
                BlockData::Bytes(_) => self.add_bytes(parser, block, file.cut),
                _ if !is_wanted => break,
                _ => self.add_rows(parser, block, BLOCK_PIECES)?,
            };
            progress = Progress {
                all: progress.all + all,
                parsed: progress.parsed + parsed,
                listed: progress.listed + self.listed - listed_before,
                position_bytes,
            };
            if start.is_none() && self.edges + source.facts().edges_unmet() == before {
                // Vertices, which come first in a document.
                (progress.all, progress.parsed, self.count) = (0.0, 0.0, count_before);
                if position_bytes > MOST_VERTICES_BYTES {
                    return Some(progress.listed * (size_bytes as f64 / position_bytes as f64 - 1.0));
                }
            } else {
                start.get_or_insert(progress);
                blocks += 1;
            }
            if blocks == BLOCKS {
                break;
            }
            next = source.next_block().ok()?;
            has_ended = next.is_none();
        }
        let start = start.or((progress.listed > 0.0).then_some(progress))?;
        // A decoder has read ahead of each block by about the same.
        let behind_bytes = size_bytes.saturating_sub(start.position_bytes) as f64;
        let read_bytes = progress.position_bytes - start.position_bytes;
        self.is_from_all &= has_ended;
        let factor = match read_bytes {
            _ if has_ended => 1.0,
            0 => size_bytes as f64 / start.position_bytes.max(1) as f64,
            _ => (start.all + (progress.all - start.all) * behind_bytes / read_bytes as f64) / progress.all.max(1.0),
        };
        let factor = factor.max(1.0);
        self.blocks += blocks as f64 * factor;
        self.listed += (progress.listed - start.listed) * (factor - 1.0);
        Some((self.edges - before) as f64 * progress.all / progress.parsed.max(1.0) * factor)
    }

    /// Parses a block of bytes, of lines some pieces; returns its bytes, and those of the pieces.
    fn add_bytes(&mut self, parser: &dyn Parser, block: Block, cut: Cut) -> [f64; 2] {
        let BlockData::Bytes(bytes) = &block.data else { return [0.0; 2] };
        let all = bytes.len();
        if cut != Cut::Lines || all <= BLOCK_PIECES * PIECE_BYTES {
            let is_parsed = self.add(parser, &block);
            return [all as f64, if is_parsed { all as f64 } else { 0.0 }];
        }
        let mut parsed = 0;
        for place in 0..BLOCK_PIECES {
            let start = all / BLOCK_PIECES * place;
            let start = if place == 0 { 0 } else { start + memchr(b'\n', &bytes[start..]).map_or(0, |end| end + 1) };
            let most = (all - start).min(PIECE_BYTES);
            let piece = &bytes[start..][..most];
            let piece = &piece[..memrchr(b'\n', piece).map_or(most, |end| end + 1)];
            let lines = memchr_iter(b'\n', &bytes[..start]).count() as u64;
            let Block { sequence, first_record, first_vertex, input_bytes, .. } = block;
            let (first_record, first_vertex) = (first_record + lines, first_vertex + lines);
            let data = BlockData::Bytes(piece.to_vec());
            let piece_bytes = piece.len();
            if self.add(parser, &Block { sequence, first_record, first_vertex, input_bytes, data }) {
                parsed += piece_bytes;
            }
        }
        [all as f64, parsed as f64]
    }

    /// Parses pieces of the rows of a block, about as many as are wanted; returns the rows that were decoded, and those
    /// that were parsed.
    fn add_rows(&mut self, parser: &dyn Parser, block: Block, wanted: usize) -> Option<[f64; 2]> {
        let (parts, mut rows, mut parsed, mut pieces) = (block.parts_count() as usize, 0, 0, 0);
        let mut most_parts = 1;
        for (number, part) in block.parts().enumerate() {
            let part = part.ok()?;
            let BlockData::Table(table) = &part.data else { return None };
            let count = table.num_rows();
            rows += count;
            if number == 0 {
                most_parts = GROUP_ROWS.div_ceil(count.max(1)).min(parts).max(1);
            }
            // As many as there should be by now.
            let here = (wanted * (number + 1)).div_ceil(most_parts) - pieces;
            for place in 0..here {
                let start = count * place / here;
                let len = (count * (place + 1) / here - start).min(PIECE_ROWS);
                let (sequence, first_record) = (part.sequence, part.first_record + start as u64);
                let data = BlockData::Table(table.slice(start, len));
                let piece = Block { sequence, first_record, first_vertex: 0, input_bytes: 0, data };
                parsed += if self.add(parser, &piece) { len } else { 0 };
            }
            pieces += here;
            if number + 1 == most_parts {
                break;
            }
        }
        Some([rows as f64, parsed as f64])
    }

    /// Parses a piece; false where it cannot be parsed, as where it begins within quotes.
    fn add(&mut self, parser: &dyn Parser, block: &Block) -> bool {
        let before = self.edges;
        self.count += 1;
        let mut batch = EdgeBatch::new(self.ids.is_text);
        let parsed = parser.parse(block, &mut batch, &mut |batch| {
            self.take(batch);
            batch.clear();
            Ok(())
        });
        if parsed.is_err() {
            self.edges = before;
        }
        parsed.is_ok()
    }

    fn take(&mut self, batch: &EdgeBatch) {
        self.edges += batch.ids.len() as u64 / 2;
        self.listed += batch.vertices.len() as f64;
        match &batch.ids {
            Ids::Integer { values, huge, .. } => {
                for ends in values.chunks_exact(2) {
                    ends.iter().for_each(|&id| self.ids.add(mix(id), 0, self.count));
                    self.loops += u64::from(ends[0] == ends[1]);
                    let distance = if *huge { ends[0].abs_diff(ends[1]) } else { distance(ends[0], ends[1]) };
                    self.distance_bits += (1.0 + distance as f64).log2();
                    self.pairs.add(mix(mix(ends[0]) ^ ends[1]), 0, self.count);
                }
                self.ids.widen(values, *huge);
            }
            Ids::Text { bytes, ends } => {
                let mut start = 0;
                for pair in ends.chunks_exact(2) {
                    let [middle, end] = [pair[0] as usize, pair[1] as usize];
                    self.loops += u64::from(bytes[start..middle] == bytes[middle..end]);
                    start = end;
                }
                self.ids.add_texts(bytes, ends, 1, self.count);
                self.pairs.add_texts(bytes, ends, 2, self.count);
            }
        }
        self.weights.take(&batch.weights);
        take_columns(&mut self.attributes, &batch.attributes, self.count);
        if self.with_attributes < VERTICES {
            take_columns(&mut self.vertex_attributes, &batch.vertex_attributes, self.count);
            self.with_attributes = self.listed;
        }
    }

    /// Sizes that the pieces suggest of an input with so many edges, so many times as large as the files of the sample.
    fn sizes(&self, edges: f64, files_share: f64) -> InputSample {
        let share = (self.edges as f64 / edges.max(1.0)).min(1.0);
        let mut ids = self.ids.different(share, self.count, 2.0 * edges);
        if !self.is_from_all {
            // Where each id stands in one place, others are beyond those of the beginning.
            ids.range =
                (ids.range as f64 * (1.0 + (1.0 - ids.spread) * (1.0 / share.max(f64::MIN_POSITIVE) - 1.0))) as u64;
        }
        if ids.range > 0 {
            ids.count = ids.count.min(ids.range.saturating_add(ids.range / 1000));
        }
        let listed = self.listed * files_share;
        let listed_share = (self.with_attributes / listed.max(1.0)).min(1.0);
        let of_vertices = |strings: &Occurrences| strings.different(listed_share, self.count, listed);
        InputSample {
            edges: edges as u64,
            loops_share: self.loops as f64 / self.edges.max(1) as f64,
            is_from_all: self.is_from_all,
            blocks: (self.blocks * files_share).ceil() as u64,
            ids,
            listed: listed as u64,
            pairs: self.pairs.different(share, self.count, edges),
            distance_bits: (ids.range > 0).then(|| self.distance_bits / self.edges.max(1) as f64),
            weight_bits: self.weights.value_bits(),
            attributes: self.attributes.iter().map(|strings| strings.different(share, self.count, edges)).collect(),
            vertex_attributes: self.vertex_attributes.iter().map(of_vertices).collect(),
        }
    }
}

fn take_columns(all: &mut Vec<Occurrences>, columns: &[AttributeColumn], piece: u32) {
    all.resize_with(columns.len().max(all.len()), Occurrences::default);
    for (occurrences, column) in all.iter_mut().zip(columns) {
        match &column.values {
            AttributeValues::Text { bytes, ends } => occurrences.add_texts(bytes, ends, 1, piece),
            AttributeValues::Words(words) => occurrences.widen(words, false),
            AttributeValues::Missing(_) => {}
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
    use crate::condition::Condition;
    use crate::open::open;
    use outcore_io::RuntimeOptions;
    use std::path::Path;

    const VERTICES: u64 = 9_000;
    const EDGES: u64 = 200_000;

    /// Files of the same edges between vertices from 1 on, in many formats.
    fn files() -> Vec<(&'static str, String)> {
        let edges = || (0..EDGES).map(|edge| [2 * edge, 2 * edge + 1].map(|end| 1 + mix(end) % VERTICES));
        let lines = |line: &dyn Fn([u64; 2]) -> String| edges().map(line).collect::<String>();
        let nodes = |node: &dyn Fn(u64) -> String| (1..=VERTICES).map(node).collect::<String>();
        let plain = lines(&|[a, b]| format!("{a} {b}\n"));
        let lists = |first: u64| {
            let mut lists = vec![String::new(); VERTICES as usize];
            edges().for_each(|[a, b]| lists[a as usize - 1].push_str(&format!(" {}", b - 1 + first)));
            lists
        };
        let owned = lists(1).iter().zip(1..).map(|(list, owner)| format!("{owner}{list}\n")).collect();
        let element = |[a, b]: [u64; 2]| format!("<edge source=\"{a}\" target=\"{b}\"/>\n");
        let (elements, listed) = (lines(&element), nodes(&|node| format!("<node id=\"{node}\"/>\n")));
        vec![
            ("g.txt", plain.clone()),
            ("g.adj", owned),
            ("g.graph-txt", format!("{VERTICES}\n{}\n", lists(0).join("\n"))),
            ("g.gr", format!("p sp {VERTICES} {EDGES}\n{}", lines(&|[a, b]| format!("a {a} {b} 5\n")))),
            (
                "g.mtx",
                format!("%%MatrixMarket matrix coordinate pattern general\n{VERTICES} {VERTICES} {EDGES}\n{plain}"),
            ),
            ("g.jsonl", lines(&|[a, b]| format!("{{\"source\": {a}, \"target\": {b}}}\n"))),
            ("g.graphml", format!("<graphml><graph edgedefault=\"directed\">{listed}{elements}</graph></graphml>")),
            ("g.gexf", format!("<gexf><graph><nodes>{listed}</nodes><edges>{elements}</edges></graph></gexf>")),
            (
                "g.gml",
                format!(
                    "graph [\n{}{}]\n",
                    nodes(&|node| format!("node [ id {node} ]\n")),
                    lines(&|[a, b]| format!("edge [ source {a} target {b} ]\n"))
                ),
            ),
            ("g.net", format!("*Vertices {VERTICES}\n*Arcs\n{plain}")),
            ("g.dot", format!("digraph {{\n{}}}\n", lines(&|[a, b]| format!("{a} -> {b}\n")))),
            ("g.sif", lines(&|[a, b]| format!("{a} to {b}\n"))),
        ]
    }

    fn sizes_of(path: &Path, condition: Option<&str>) -> InputSample {
        let runtime = Runtime::new(RuntimeOptions { threads: Some(1), ..RuntimeOptions::default() }).unwrap();
        let conditions = condition.map(|text| Condition::parse(text).unwrap()).into_iter().collect();
        let options = InputOptions { conditions, ..InputOptions::default() };
        let source = open(&runtime, &[path.to_owned()], &options).unwrap();
        source.facts().sizes(&runtime).unwrap_or_else(|| panic!("no sample of {}", path.display())).clone()
    }

    #[test]
    fn files_of_all_formats_tell_edges_and_ids() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files() {
            for packed in [false, true] {
                let path = folder.path().join(if packed { format!("{name}.zst") } else { name.to_owned() });
                let bytes =
                    if packed { zstd::encode_all(text.as_bytes(), 1).unwrap() } else { text.clone().into_bytes() };
                std::fs::write(&path, bytes).unwrap();
                let sizes = sizes_of(&path, None);
                let ids = sizes.ids.count.max(sizes.listed);
                for (found, expected) in [(sizes.edges, EDGES), (ids, VERTICES)] {
                    let ratio = found as f64 / expected as f64;
                    // One or two of the sixteen pieces of a Pajek file lie in its list of vertices.
                    assert!((0.82..1.1).contains(&ratio), "{}: {ratio} of {expected}, {sizes:?}", path.display());
                }
            }
        }
    }

    #[test]
    fn pieces_meet_conditions_and_count_loops() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.csv");
        let line = |edge: u64| {
            format!("{},{},{}\n", edge % 500, if edge.is_multiple_of(4) { edge % 500 } else { 501 }, edge % 10)
        };
        let lines: String = (0..EDGES).map(line).collect();
        std::fs::write(&path, format!("source,target,weight\n{lines}")).unwrap();
        let sizes = sizes_of(&path, Some("weight < 3"));
        let edges = sizes.edges as f64 / EDGES as f64;
        assert!((0.29..0.31).contains(&edges) && (0.2..0.4).contains(&sizes.loops_share), "{sizes:?}");
        assert!((sizes_of(&path, None).loops_share - 0.25).abs() < 0.01);
    }

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
