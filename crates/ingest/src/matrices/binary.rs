//! Binary edges: records of two vertex numbers, little-endian, without a header.
//!
//! | name | record | bytes |
//! |---|---|---|
//! | `graph500`, `binary64` | source and target, each `i64` | 16 |
//! | `graph500-packed` | low 32 bits of source, of target, then 16 high bits of source and of target | 12 |
//! | `binary32` | source and target, each `u32` | 8 |
//!
//! A block is about 1 MiB of whole records; parsing copies and looks for negative numbers, which are not vertices.
//! Format: the Graph500 reference code, `packed_edge` in both of its forms.

use crate::batch::{
    BLOCK_BYTES, Block, BlockData, EdgeBatch, Facts, Ids, InputOptions, Parser, ReadBlocks, Source, TakeBatch,
};
use crate::input::file::{Input, Stream};
use crate::text::source::{begin, begin_weights, text_of, weights_wanted};
use outcore_format::IdType;
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    Signed64,
    /// Two 48-bit numbers in three `u32`.
    Packed48,
    Unsigned32,
}

impl Record {
    fn len_bytes(self) -> usize {
        match self {
            Record::Signed64 => 16,
            Record::Packed48 => 12,
            Record::Unsigned32 => 8,
        }
    }
}

/// Opens a file of records; `format` is the name to report.
pub(crate) fn open(input: &Input, options: &InputOptions, format: &'static str, record: Record) -> Result<Source> {
    let stream = input.stream()?;
    weights_wanted(options.weight.as_deref(), format, &[])?;
    let size_bytes = stream.size_bytes();
    let edges = size_bytes.filter(|_| !stream.is_packed());
    let facts = Facts {
        format,
        input_bytes: size_bytes,
        is_pipe: size_bytes.is_none(),
        edges: edges.map(|bytes| bytes / record.len_bytes() as u64),
        id_type: if record == Record::Unsigned32 { IdType::UInt32 } else { IdType::Int64 },
        ..Facts::default()
    };
    let parser = Arc::new(BinaryParser { path: stream.path().to_owned(), record });
    let blocks = BinaryBlocks { stream, record_bytes: record.len_bytes(), next_record: 0, sequence: 0, ended: false };
    Ok(Source::new(facts, parser, blocks))
}

struct BinaryBlocks {
    stream: Stream,
    record_bytes: usize,
    next_record: u64,
    sequence: u64,
    ended: bool,
}

impl ReadBlocks for BinaryBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let record_bytes = self.record_bytes;
        let wanted = BLOCK_BYTES / record_bytes * record_bytes;
        let mut bytes = Vec::new();
        self.stream.fill(&mut bytes, wanted)?;
        self.ended = bytes.len() < wanted;
        if bytes.is_empty() {
            return Ok(None);
        }
        let torn_bytes = bytes.len() % record_bytes;
        let first_record = self.next_record;
        self.next_record += (bytes.len() / record_bytes) as u64;
        if torn_bytes != 0 {
            let at = self.next_record * record_bytes as u64;
            return Err(Error::input(
                self.stream.path(),
                Some(self.next_record),
                format!("whole records of {record_bytes} bytes"),
                format!("the end of the file {torn_bytes} bytes into the record at byte offset {at}"),
            )
            .advise("the file is truncated, or its records are of another kind: see --format"));
        }
        let block = Block {
            sequence: self.sequence,
            first_record,
            first_vertex: 0,
            input_bytes: self.stream.position_bytes(),
            data: BlockData::Bytes(bytes),
        };
        self.sequence += 1;
        Ok(Some(block))
    }
}

struct BinaryParser {
    path: PathBuf,
    record: Record,
}

impl BinaryParser {
    /// Names the first record with a negative number; `ids` holds two numbers per record.
    fn negative(&self, block: &Block, ids: &[u64]) -> Error {
        let place = ids.iter().position(|&id| id >> 63 != 0).unwrap_or(0);
        let record = block.first_record + place as u64 / 2;
        let at = record * self.record.len_bytes() as u64;
        let vertex = ids.get(place).map_or(0, |&id| id as i64);
        Error::input(
            &self.path,
            Some(record),
            "a vertex from 0 up",
            format!("{vertex} in the record at byte offset {at}"),
        )
        .advise("the file is damaged, or its records are of another kind: see --format")
    }
}

impl Parser for BinaryParser {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        begin_weights(batch, false);
        let bytes = text_of(block, &self.path)?;
        let Ids::Integer { values, .. } = &mut batch.ids else {
            unreachable!("`begin` makes integer ids");
        };
        values.reserve(bytes.len() / self.record.len_bytes() * 2);
        match self.record {
            Record::Signed64 => {
                let numbers = bytes.as_chunks::<8>().0;
                values.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)));
            }
            Record::Unsigned32 => {
                let numbers = bytes.as_chunks::<4>().0;
                values.extend(numbers.iter().map(|number| u32::from_le_bytes(*number) as u64));
            }
            Record::Packed48 => {
                for record in bytes.as_chunks::<12>().0 {
                    let [source, target, high] = [0, 4, 8]
                        .map(|at| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]));
                    // The high halves are signed: the reference code marks unused records by -1.
                    let join = |low: u32, high: u16| ((high as i16 as i64 as u64) << 32) | low as u64;
                    values.push(join(source, high as u16));
                    values.push(join(target, (high >> 16) as u16));
                }
            }
        }
        let any = values.iter().fold(0, |any, &value| any | value);
        if any >> 63 != 0 {
            return Err(self.negative(block, values));
        }
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{edges_of, failure_of};

    fn tuples(edges: &[(i64, i64)]) -> Vec<u8> {
        edges.iter().flat_map(|e| [e.0.to_le_bytes(), e.1.to_le_bytes()].concat()).collect()
    }

    #[test]
    fn records_of_every_kind() {
        let bytes = tuples(&[(0, 7), (1 << 40, i64::MAX)]);
        for format in ["graph500", "binary64"] {
            assert_eq!(edges_of(format, &bytes).pairs, [(0, 7), (1 << 40, i64::MAX as u64)]);
        }
        let packed: Vec<u8> = [5u32, 6, 0x0002_0001].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(edges_of("graph500-packed", &packed).pairs, [(5 | 1 << 32, 6 | 2 << 32)]);
        let narrow: Vec<u8> = [u32::MAX, 3].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(edges_of("binary32", &narrow).pairs, [(u32::MAX as u64, 3)]);
        assert_eq!(edges_of("graph500", b"").pairs, []);
    }

    #[test]
    fn many_blocks_keep_their_order() {
        let edges: Vec<(i64, i64)> = (0..200_000).map(|i| (i, i * i)).collect();
        let read = edges_of("graph500", &tuples(&edges));
        assert!(read.blocks > 2, "{} blocks", read.blocks);
        assert!(read.pairs.iter().copied().eq(edges.iter().map(|e| (e.0 as u64, e.1 as u64))));
    }

    #[test]
    fn a_torn_record_and_a_negative_number_are_refused_with_their_place() {
        let mut bytes = tuples(&vec![(1, 2); 100_000]);
        bytes.pop();
        let error = failure_of("graph500", &bytes);
        assert!(error.contains("15 bytes into the record at byte offset 1599984"), "{error}");
        let mut edges = vec![(1, 2); 100_000];
        edges[90_001].1 = -5;
        let error = failure_of("graph500", &tuples(&edges));
        assert!(error.contains("-5 in the record at byte offset 1440016"), "{error}");
        let unused = [0xff; 12];
        assert!(failure_of("graph500-packed", &unused).contains("-1 in the record"));
    }
}
