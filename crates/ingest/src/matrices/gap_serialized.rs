//! Serialized graphs of the GAP benchmark suite: `.sg`, and `.wsg` with weights.
//!
//! | bytes | content, little-endian |
//! |---|---|
//! | 1 | 1 if edges have a direction, else 0 |
//! | 8 | number of neighbours m, `i64` |
//! | 8 | number of vertices n, `i64`, at most 2^31 |
//! | 8 (n + 1) | offset of the first neighbour of every vertex, `i64`, and m |
//! | 4 m, or 8 m | neighbours from 0, `i32`, in a `.wsg` each with its weight, `i32` |
//! | as much again | offsets and neighbours of in-edges, where edges have a direction |
//!
//! Two streams read the file, one its offsets and one its neighbours, so that memory does not depend on n and m; each
//! reads past the part of the other, and a pipe is refused. In-edges are the same edges again: they are checked in the
//! same way, compared with the out-edges by a sum of hashes, and not handed on. Without a direction an edge stands at
//! both of its ends: it is handed on from its smaller one, and both are compared as METIS's are. A self-loop is handed
//! on as often as it stands.
//! Format: Beamer, Asanović, Patterson, "The GAP benchmark suite", arXiv 1508.03619, 2015, and its reference code.

use crate::batch::{
    BLOCK_BYTES, BatchWeights, Block, BlockData, EdgeBatch, Facts, InputOptions, Parser, ReadBlocks, Source, TakeBatch,
};
use crate::input::file::{Input, Stream};
use crate::mix::mix;
use crate::text::source::{Sums, Tally, begin, push_pair, see_end, text_of, weights_wanted};
use outcore_image::{Error, Result};
use outcore_io::random;
use std::cmp::Ordering::{Equal, Greater, Less};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HEADER_BYTES: usize = 17;
const MOST_VERTICES: u64 = 1 << 31;
/// Bytes of offsets that are read at a time.
const OFFSETS_BYTES: usize = 64 << 10;

/// Opens a serialized graph; `format` is the name to report.
pub(crate) fn open(input: &Input, options: &InputOptions, format: &'static str, has_weights: bool) -> Result<Source> {
    let names: &[&str] = if has_weights { &["weight"] } else { &[] };
    let weights_wanted = weights_wanted(options.weight.as_deref(), format, names)? && has_weights;
    let mut offsets = input.stream()?;
    let header = Header::read(&mut offsets)?;
    let record_bytes = if has_weights { 8 } else { 4 };
    header.check_size(&offsets, record_bytes)?;
    let mut neighbours = input.stream()?;
    let first_byte = HEADER_BYTES as u64 + header.offsets_bytes();
    skip(&mut neighbours, first_byte)?;
    let facts = Facts {
        format,
        directed: Some(header.directed),
        weights: weights_wanted.then(|| "weight".to_owned()),
        declared: Some((0, header.vertices)),
        edges: Some(if header.directed { header.neighbours } else { header.neighbours.div_ceil(2) }),
        input_bytes: input.size_bytes(),
        compression: neighbours.compression(),
        ..Facts::default()
    };
    let parser = Arc::new(Serialized {
        path: input.path().to_owned(),
        header,
        record_bytes,
        first_byte,
        weights_wanted,
        tally: Tally::new(),
        key: random(),
    });
    let mut offsets = Offsets::new(offsets, HEADER_BYTES as u64, header);
    offsets.take()?;
    let blocks = SerializedBlocks {
        offsets,
        neighbours,
        parser: Arc::clone(&parser),
        is_in: false,
        to_skip: [0; 2],
        rest: 0,
        next_record: 0,
        sequence: 0,
        ended: false,
    };
    Ok(Source::new(facts, parser, blocks))
}

#[derive(Clone, Copy)]
struct Header {
    directed: bool,
    neighbours: u64,
    vertices: u64,
}

impl Header {
    fn offsets_bytes(self) -> u64 {
        8 * (self.vertices + 1)
    }

    /// Refuses a file that lies on the disk as it is, with more or fewer bytes than the header says.
    fn check_size(self, stream: &Stream, record_bytes: usize) -> Result<()> {
        let Some(size_bytes) = stream.size_bytes().filter(|_| !stream.is_packed()) else { return Ok(()) };
        let of_lists = u128::from(self.offsets_bytes()) + u128::from(self.neighbours) * record_bytes as u128;
        let expected = HEADER_BYTES as u128 + of_lists * if self.directed { 2 } else { 1 };
        match u128::from(size_bytes).cmp(&expected) {
            Less => Err(cut_off(stream.path(), &format!("{expected} bytes, as the header says"), size_bytes)),
            Equal => Ok(()),
            Greater => Err(too_long(stream.path())),
        }
    }

    fn read(stream: &mut Stream) -> Result<Self> {
        let start = stream.peek(HEADER_BYTES)?.to_vec();
        let path = stream.path();
        let Some((&[flag], counts)) = start.get(..HEADER_BYTES).and_then(|header| header.split_first_chunk()) else {
            return Err(cut_off(path, &format!("{HEADER_BYTES} bytes of a header"), start.len() as u64));
        };
        let bad = |expected: &str, found: String, at: usize| {
            Err(Error::input(path, None, expected, format!("{found} at byte offset {at}"))
                .advise("the file is damaged, or of another format: see --format"))
        };
        if flag > 1 {
            return bad("0 or 1, for undirected or directed edges", flag.to_string(), 0);
        }
        let count = |at: usize| counts[at..].first_chunk().map_or(-1, |bytes| i64::from_le_bytes(*bytes));
        let (neighbours, vertices) = (count(0), count(8));
        let Ok(neighbours) = u64::try_from(neighbours) else {
            return bad("the number of neighbours", neighbours.to_string(), 1);
        };
        match u64::try_from(vertices) {
            Ok(vertices) if vertices <= MOST_VERTICES => {
                stream.skip(HEADER_BYTES);
                Ok(Header { directed: flag == 1, neighbours, vertices })
            }
            _ => bad("a number of vertices up to 2^31", vertices.to_string(), 9),
        }
    }
}

fn skip(stream: &mut Stream, len_bytes: u64) -> Result<()> {
    let (mut rest, mut bytes) = (len_bytes, Vec::new());
    while rest > 0 {
        let len = rest.min(BLOCK_BYTES as u64);
        bytes.clear();
        stream.fill(&mut bytes, len as usize)?;
        if (bytes.len() as u64) < len {
            let at = len_bytes - rest + bytes.len() as u64;
            return Err(cut_off(stream.path(), &format!("{len_bytes} bytes before the neighbours"), at));
        }
        rest -= len;
    }
    Ok(())
}

fn cut_off(path: &Path, expected: &str, at: u64) -> Error {
    Error::input(path, None, expected, format!("the end of the file at byte offset {at}"))
        .advise("the file is truncated: fetch or copy it again")
}

fn too_long(path: &Path) -> Error {
    Error::input(path, None, "the end of the file behind the neighbours", "more bytes")
        .advise("the file is damaged, or of another format: see --format")
}

/// The offsets of the vertices' neighbours, one after the other.
struct Offsets {
    stream: Stream,
    /// Where in the file they begin.
    first_byte: u64,
    bytes: Vec<u8>,
    at: usize,
    /// Number of offsets taken, and the last of them.
    next: u64,
    before: u64,
    header: Header,
}

impl Offsets {
    fn new(stream: Stream, first_byte: u64, header: Header) -> Self {
        Offsets { stream, first_byte, bytes: Vec::new(), at: 0, next: 0, before: 0, header }
    }

    /// Begins anew, with the offsets that the stream comes to next.
    fn restart(&mut self, first_byte: u64) {
        (self.first_byte, self.at, self.next, self.before) = (first_byte, 0, 0, 0);
        self.bytes.clear();
    }

    /// The next offset, less the one before: the number of neighbours of a vertex.
    fn take(&mut self) -> Result<u64> {
        let at_byte = self.first_byte + 8 * self.next;
        let Header { neighbours, vertices, .. } = self.header;
        if self.at == self.bytes.len() {
            let len = (8 * (vertices + 1 - self.next)).min(OFFSETS_BYTES as u64) as usize;
            self.at = 0;
            self.bytes.clear();
            self.stream.fill(&mut self.bytes, len)?;
        }
        let Some(bytes) = self.bytes[self.at..].first_chunk() else {
            let end = at_byte + (self.bytes.len() - self.at) as u64;
            return Err(cut_off(self.stream.path(), &format!("{} offsets of neighbours", vertices + 1), end));
        };
        let offset = i64::from_le_bytes(*bytes);
        let expected = match self.next {
            next if next == vertices => neighbours..=neighbours,
            0 => 0..=0,
            _ => self.before..=neighbours,
        };
        let Some(offset) = u64::try_from(offset).ok().filter(|offset| expected.contains(offset)) else {
            let expected = match expected.start() == expected.end() {
                true => format!("{} as the offset of neighbours", expected.start()),
                false => format!("an offset of neighbours from {} to {}", expected.start(), expected.end()),
            };
            let found = format!("{offset} at byte offset {at_byte}");
            return Err(Error::input(self.stream.path(), None, expected, found)
                .advise("the file is damaged, or of another format: see --format"));
        };
        let count = offset - self.before;
        (self.at, self.next, self.before) = (self.at + 8, self.next + 1, offset);
        Ok(count)
    }
}

/// Blocks of neighbours. A block begins with the number of its runs, `u32`, and for each run its vertex and its number
/// of neighbours, both `u32`; then come the neighbours of all runs as they are in the file.
struct SerializedBlocks {
    offsets: Offsets,
    neighbours: Stream,
    parser: Arc<Serialized>,
    /// The lists of in-edges are read, not those of out-edges.
    is_in: bool,
    /// Bytes that the streams of offsets and of neighbours read past before those lists.
    to_skip: [u64; 2],
    /// Number of neighbours of the last vertex that are still to come.
    rest: u64,
    next_record: u64,
    sequence: u64,
    ended: bool,
}

impl SerializedBlocks {
    fn runs(&mut self) -> Result<(Vec<u8>, usize)> {
        let (mut runs, mut count) = (Vec::new(), 0);
        let most = BLOCK_BYTES / self.parser.record_bytes;
        while count < most && runs.len() < BLOCK_BYTES {
            if self.rest == 0 {
                if self.offsets.next > self.parser.header.vertices {
                    break;
                }
                self.rest = self.offsets.take()?;
                continue;
            }
            let len = self.rest.min((most - count) as u64);
            // Before the last offset that was taken stand the neighbours of the vertex two offsets back.
            let vertex = self.offsets.next - 2;
            runs.extend_from_slice(&(vertex as u32).to_le_bytes());
            runs.extend_from_slice(&(len as u32).to_le_bytes());
            self.rest -= len;
            count += len as usize;
        }
        Ok((runs, count))
    }

    /// Goes on where no neighbour of these lists is left: to the lists of in-edges, or to the end of the file.
    fn advance(&mut self) -> Result<()> {
        let Header { directed, neighbours, .. } = self.parser.header;
        if !directed || self.is_in {
            let mut bytes = Vec::new();
            self.neighbours.fill(&mut bytes, 1)?;
            if !bytes.is_empty() {
                return Err(too_long(self.neighbours.path()));
            }
            self.ended = true;
            return Ok(());
        }
        let out_bytes = neighbours.checked_mul(self.parser.record_bytes as u64);
        let out_bytes = out_bytes.ok_or_else(|| too_long(self.neighbours.path()))?;
        self.is_in = true;
        self.to_skip = [out_bytes, self.parser.header.offsets_bytes()];
        self.offsets.restart(self.parser.first_byte + out_bytes);
        Ok(())
    }

    /// Reads past a block of what stands before the lists of in-edges; false if there is nothing more.
    fn skip_some(&mut self) -> Result<bool> {
        let streams = [&mut self.offsets.stream, &mut self.neighbours];
        for (stream, to_skip) in streams.into_iter().zip(&mut self.to_skip) {
            if *to_skip > 0 {
                let len = (*to_skip).min(BLOCK_BYTES as u64);
                skip(stream, len)?;
                *to_skip -= len;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl ReadBlocks for SerializedBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let is_skipping = self.skip_some()?;
        let (runs, count) = if is_skipping { (Vec::new(), 0) } else { self.runs()? };
        if count > 0 {
            let len = 4 + runs.len() + count * self.parser.record_bytes;
            bytes.reserve_exact(len);
            bytes.extend_from_slice(&(runs.len() as u32 / 8).to_le_bytes());
            bytes.extend_from_slice(&runs);
            self.neighbours.fill(&mut bytes, len)?;
            if bytes.len() < len {
                let end = self.parser.byte_of(self.next_record) + (bytes.len() - 4 - runs.len()) as u64;
                let expected = format!("{} neighbours", self.parser.header.neighbours);
                return Err(cut_off(self.neighbours.path(), &expected, end));
            }
        } else if !is_skipping {
            // Empty blocks let the caller show progress, or stop.
            self.advance()?;
        }
        if self.ended {
            self.parser.tally.end(self.sequence + 1);
        }
        let first_record = self.next_record;
        self.next_record += count as u64;
        self.sequence += 1;
        Ok(Some(Block {
            sequence: self.sequence - 1,
            first_record,
            first_vertex: 0,
            input_bytes: self.neighbours.position_bytes(),
            data: BlockData::Bytes(bytes),
        }))
    }
}

struct Serialized {
    path: PathBuf,
    header: Header,
    record_bytes: usize,
    first_byte: u64,
    weights_wanted: bool,
    tally: Tally,
    key: u64,
}

impl Serialized {
    /// Whether a record is one of the in-edges, which stand behind all others.
    fn is_in(&self, number: u64) -> bool {
        self.header.directed && number >= self.header.neighbours
    }

    /// Where a record begins in the file.
    fn byte_of(&self, number: u64) -> u64 {
        let between = if self.is_in(number) { self.header.offsets_bytes() } else { 0 };
        self.first_byte + between + number * self.record_bytes as u64
    }

    /// The neighbour in a record and its weight; `number` is that of the record in the file.
    fn record(&self, record: &[u8], number: u64) -> Result<(u64, i32)> {
        let word = |at: usize| record[at..].first_chunk().map_or(-1, |bytes| i32::from_le_bytes(*bytes));
        let neighbour = word(0);
        let weight = if self.record_bytes == 8 { word(4) } else { 0 };
        let valid = u64::try_from(neighbour).ok().filter(|&neighbour| neighbour < self.header.vertices);
        let valid = valid.ok_or_else(|| {
            let expected = format!("a vertex from 0 to {}", self.header.vertices.saturating_sub(1));
            let found = format!("{neighbour} at byte offset {}", self.byte_of(number));
            Error::input(&self.path, None, expected, found)
                .advise("the file is damaged, or of another format: see --format")
        })?;
        Ok((valid, weight))
    }

    /// Adds an edge to the sums that are compared at the end; whether it is handed on.
    fn see(&self, sums: &mut Sums, [vertex, neighbour]: [u64; 2], weight_bits: u64, is_in: bool) -> bool {
        if !self.header.directed {
            return see_end(sums, self.key, [vertex, neighbour], weight_bits);
        }
        let hash = |source, target| mix(mix(mix(self.key ^ source).wrapping_add(target)).wrapping_add(weight_bits));
        sums[3] = match is_in {
            false => sums[3].wrapping_add(hash(vertex, neighbour)),
            true => sums[3].wrapping_sub(hash(neighbour, vertex)),
        };
        !is_in
    }

    fn check(&self, [up, down, _, difference]: Sums) -> Result<()> {
        if up == down && difference == 0 {
            return Ok(());
        }
        if self.header.directed {
            let expected = "lists of in-edges with the edges of the out-lists";
            return Err(Error::input(&self.path, None, expected, "others, or other weights")
                .advise("the file is damaged: serialize the graph again"));
        }
        let found = match up == down {
            true => "edges of which some have none back, or one of another weight".to_owned(),
            false => format!("{up} neighbours above their vertices and {down} below"),
        };
        Err(Error::input(&self.path, None, "every undirected edge at both of its ends", found)
            .advise("the file is damaged: serialize the graph again"))
    }
}

impl Parser for Serialized {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        batch.weights = if self.weights_wanted { BatchWeights::Integer(Vec::new()) } else { BatchWeights::None };
        let bytes = text_of(block, &self.path)?;
        let (count, bytes) = bytes.split_first_chunk().map_or((0, bytes), |(count, rest)| {
            (u32::from_le_bytes(*count) as usize, rest) //
        });
        let (runs, records) = bytes.split_at(8 * count);
        let mut records = (block.first_record..).zip(records.chunks_exact(self.record_bytes));
        let mut sums: Sums = [0; 4];
        let is_in = self.is_in(block.first_record);
        for run in runs.as_chunks::<4>().0.chunks_exact(2) {
            let [vertex, len] = [run[0], run[1]].map(u32::from_le_bytes);
            let vertex = u64::from(vertex);
            for (number, record) in records.by_ref().take(len as usize) {
                let (neighbour, weight) = self.record(record, number)?;
                let weight_bits = if self.weights_wanted { u64::from(weight as u32) } else { 0 };
                if !self.see(&mut sums, [vertex, neighbour], weight_bits, is_in) {
                    continue;
                }
                push_pair(&mut batch.ids, vertex, neighbour);
                if self.weights_wanted {
                    batch.weights.integers().push(i64::from(weight));
                }
                if batch.is_full() {
                    take(batch)?;
                }
            }
        }
        self.tally.add(sums).map_or(Ok(()), |all| self.check(all))?;
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::BLOCK_BYTES;
    use crate::testing::{edges_of, failure_of};
    use std::io::Write;

    /// Offsets and neighbours of lists, each neighbour with a weight if there are weights.
    fn lists(lists: &[Vec<(i32, i32)>], has_weights: bool) -> Vec<u8> {
        let mut bytes = 0i64.to_le_bytes().to_vec();
        let mut place = 0;
        for list in lists {
            place += list.len() as i64;
            bytes.extend(place.to_le_bytes());
        }
        for (neighbour, weight) in lists.iter().flatten() {
            bytes.extend(neighbour.to_le_bytes());
            bytes.extend(weight.to_le_bytes().iter().filter(|_| has_weights));
        }
        bytes
    }

    fn graph(directed: bool, has_weights: bool, out: &[Vec<(i32, i32)>]) -> Vec<u8> {
        let mut bytes = vec![u8::from(directed)];
        bytes.extend((out.iter().map(Vec::len).sum::<usize>() as i64).to_le_bytes());
        bytes.extend((out.len() as i64).to_le_bytes());
        bytes.extend(lists(out, has_weights));
        if directed {
            let mut back = vec![Vec::new(); out.len()];
            for (vertex, list) in out.iter().enumerate() {
                list.iter().for_each(|&(target, weight)| back[target as usize].push((vertex as i32, weight)));
            }
            bytes.extend(lists(&back, has_weights));
        }
        bytes
    }

    /// Three vertices: 0 -> 2, 0 -> 1, 2 -> 2.
    fn small() -> Vec<Vec<(i32, i32)>> {
        vec![vec![(2, 5), (1, -3)], vec![], vec![(2, i32::MAX)]]
    }

    #[test]
    fn directed_edges_with_and_without_weights() {
        let read = edges_of("sg", &graph(true, false, &small()));
        assert_eq!((read.pairs, read.declared), (vec![(0, 2), (0, 1), (2, 2)], Some((0, 3))));
        assert_eq!((read.facts.directed, read.weights.len()), (Some(true), 0));
        let bytes = graph(true, true, &small());
        let read = edges_of("wsg", &bytes);
        assert_eq!((read.facts.format, read.facts.weights.as_deref()), ("wsg", Some("weight")));
        assert_eq!((read.facts.input_bytes, read.facts.compression), (Some(bytes.len() as u64), None));
        assert_eq!(read.pairs, [(0, 2), (0, 1), (2, 2)]);
        assert_eq!(read.weights, [5.0, -3.0, f64::from(i32::MAX)]);
        for empty in [vec![], vec![vec![]; 4]] {
            let read = edges_of("sg", &graph(false, false, &empty));
            assert_eq!((read.pairs.len(), read.declared), (0, Some((0, empty.len() as u64))));
        }
    }

    #[test]
    fn weights_of_in_edges_are_those_of_out_edges() {
        let mut bytes = graph(true, true, &small());
        let last = bytes.len() - 4;
        bytes[last] ^= 1;
        let error = failure_of("wsg", &bytes);
        assert!(error.contains("found others, or other weights"), "{error}");
    }

    #[test]
    fn the_header_says_how_many_edges_there_are() {
        assert_eq!(edges_of("sg", &graph(true, false, &small())).facts.edges, Some(3));
        let both = vec![vec![(1, 7), (2, 8)], vec![(0, 7)], vec![(0, 8)]];
        assert_eq!(edges_of("wsg", &graph(false, true, &both)).facts.edges, Some(2));
    }

    #[test]
    fn undirected_edges_come_once_and_stand_twice() {
        let both = vec![vec![(1, 7), (2, 8)], vec![(0, 7), (1, 4)], vec![(0, 8)]];
        let read = edges_of("wsg", &graph(false, true, &both));
        assert_eq!((read.pairs, read.weights), (vec![(0, 1), (0, 2), (1, 1)], vec![7.0, 8.0, 4.0]));
        assert_eq!(read.facts.directed, Some(false));
        let error = failure_of("sg", &graph(false, false, &[vec![(1, 0)], vec![]]));
        assert!(error.contains("1 neighbours above their vertices and 0 below"), "{error}");
        let error = failure_of("sg", &graph(false, false, &[vec![(1, 0)], vec![], vec![(1, 0)]]));
        assert!(error.contains("some have none back"), "{error}");
        let error = failure_of("wsg", &graph(false, true, &[vec![(1, 5)], vec![(0, 6)]]));
        assert!(error.contains("of another weight"), "{error}");
    }

    #[test]
    fn many_blocks_keep_the_vertices_of_long_lists() {
        let count = 600_000;
        let mut out: Vec<Vec<(i32, i32)>> = vec![Vec::new(); count];
        out[5] = (0..count as i32).map(|target| (target, 0)).collect();
        out[6] = (0..500_000).map(|target| (target, 0)).collect();
        out[count - 1] = vec![(7, 0), (5, 0)];
        let bytes = graph(true, false, &out);
        let lists = out.iter().enumerate();
        let expected = lists.flat_map(|(v, list)| list.iter().map(move |&(target, _)| (v as u64, target as u64)));
        let read = edges_of("sg", &bytes);
        assert!(read.pairs.iter().copied().eq(expected));
        // Every part of the file is read in blocks of some size.
        let (places_bytes, neighbours_bytes) = (8 * (count + 1), 4 * read.pairs.len());
        assert!(read.blocks > 2 * neighbours_bytes.div_ceil(BLOCK_BYTES), "{} blocks", read.blocks);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&bytes).unwrap();
        let unpacked = edges_of("sg", &packed.finish().unwrap());
        assert_eq!((unpacked.pairs == read.pairs, unpacked.facts.compression), (true, Some("gzip")));
        // Offsets count all blocks before.
        let end = 17 + places_bytes + neighbours_bytes;
        let error = failure_of("sg", &bytes[..end - 1]);
        assert!(error.contains(&format!("the end of the file at byte offset {}", end - 1)), "{error}");
        let mut damaged = bytes;
        damaged[end - 4..end].fill(0xff);
        let error = failure_of("sg", &damaged);
        assert!(error.contains(&format!("found -1 at byte offset {}", end - 4)), "{error}");
    }

    #[test]
    fn every_truncated_file_is_refused_with_its_place() {
        let both = [vec![(1, 2)], vec![(0, 2)]];
        for bytes in [graph(true, true, &small()), graph(false, true, &both)] {
            for len in 0..bytes.len() {
                let error = failure_of("wsg", &bytes[..len]);
                assert!(error.contains(&format!("the end of the file at byte offset {len}")), "{len}: {error}");
            }
            let error = failure_of("wsg", &[&bytes[..], b"x"].concat());
            assert!(error.contains("more bytes"), "{error}");
        }
    }

    #[test]
    fn bad_counts_offsets_and_neighbours_are_refused_with_their_offsets() {
        let good = graph(true, false, &small());
        for (at, bytes, expected) in [
            (0, &[2u8][..], "2 at byte offset 0"),
            (1, &(-1i64).to_le_bytes(), "-1 at byte offset 1"),
            (9, &(-1i64).to_le_bytes(), "-1 at byte offset 9"),
            (9, &(1i64 << 40).to_le_bytes(), "1099511627776 at byte offset 9"),
            (17, &1i64.to_le_bytes(), "expected 0 as the offset of neighbours, found 1 at byte offset 17"),
            (25, &4i64.to_le_bytes(), "from 0 to 3, found 4 at byte offset 25"),
            (33, &1i64.to_le_bytes(), "from 2 to 3, found 1 at byte offset 33"),
            (41, &2i64.to_le_bytes(), "expected 3 as the offset of neighbours, found 2 at byte offset 41"),
            (53, &3i32.to_le_bytes(), "a vertex from 0 to 2, found 3 at byte offset 53"),
            (57, &(-2i32).to_le_bytes(), "found -2 at byte offset 57"),
            // The second half: offsets from byte 61 on, neighbours from byte 93 on.
            (61, &1i64.to_le_bytes(), "expected 0 as the offset of neighbours, found 1 at byte offset 61"),
            (69, &5i64.to_le_bytes(), "from 0 to 3, found 5 at byte offset 69"),
            (85, &2i64.to_le_bytes(), "expected 3 as the offset of neighbours, found 2 at byte offset 85"),
            (93, &77i32.to_le_bytes(), "a vertex from 0 to 2, found 77 at byte offset 93"),
            (93, &1i32.to_le_bytes(), "lists of in-edges with the edges of the out-lists"),
            (69, &1i64.to_le_bytes(), "lists of in-edges with the edges of the out-lists"),
        ] {
            let mut damaged = good.clone();
            damaged[at..at + bytes.len()].copy_from_slice(bytes);
            let error = failure_of("sg", &damaged);
            assert!(error.contains(expected) && error.contains("sg: expected"), "{expected}: {error}");
        }
    }
}
