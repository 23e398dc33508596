//! WebGraph's ASCIIGraph: the number of vertices, then one line of successors per vertex, counted from 0.
//!
//! Vertex i's line may be empty. Lines may have any length: a block may start in the middle of one.
//! Format: the documentation of `ASCIIGraph` in the WebGraph framework (Boldi and Vigna, WWW 2004).

use crate::batch::{BatchWeights, Block, EdgeBatch, Facts, InputOptions, Parser, Source, TakeBatch, bad_record};
use crate::input::file::Input;
use crate::text::blocks::LineBlocks;
use crate::text::columns::Comments;
use crate::text::number::{Fields, lines, trim, unsigned};
use crate::text::sample::end_of_line;
use crate::text::source::{Numbering, begin, push_pair, text_of, text_source, weights_wanted};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    weights_wanted(options.weight.as_deref(), "ascii-graph", &[])?;
    let mut blocks = LineBlocks::new(input.stream()?);
    let Some(mut first) = blocks.next_lines()? else {
        return Err(Error::input(blocks.path(), None, "the number of vertices", "an empty file"));
    };
    let line = lines(&first.bytes).next().unwrap_or_default();
    let Some(vertices) = unsigned(trim(line)) else {
        return Err(bad_record(blocks.path(), 1, "the number of vertices", line));
    };
    first.drop_front(end_of_line(&first.bytes, 0));
    blocks.split_long_lines([b' ', b'\t'], Comments::none());
    let facts = Facts { format: "ascii-graph", directed: Some(true), declared: Some((0, vertices)), ..blocks.facts() };
    let parser = Arc::new(AsciiGraph { path: blocks.path().to_owned(), vertices });
    blocks.give_back(first);
    let numbering = Numbering::Adjacency { first: 0, count: vertices, comments: false };
    Ok(text_source(blocks, facts, parser, numbering, None))
}

struct AsciiGraph {
    path: PathBuf,
    vertices: u64,
}

impl Parser for AsciiGraph {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        batch.weights = BatchWeights::None;
        let numbers = (block.first_record..).zip(block.first_vertex..);
        for ((number, vertex), line) in numbers.zip(lines(text_of(block, &self.path)?)) {
            if vertex >= self.vertices {
                let expected = format!("only {} lines of successors", self.vertices);
                return Err(bad_record(&self.path, number, &expected, line));
            }
            let mut fields = Fields::new(line);
            while !fields.is_empty() {
                let successor = fields.unsigned().filter(|&s| s < self.vertices).ok_or_else(|| {
                    let found = fields.token().unwrap_or_default();
                    bad_record(&self.path, number, &format!("a vertex from 0 to {}", self.vertices - 1), found)
                })?;
                push_pair(&mut batch.ids, vertex, successor);
                if batch.is_full() {
                    take(batch)?;
                }
            }
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

    #[test]
    fn lines_are_vertices() {
        let read = edges_of("ascii-graph", b"4\r\n1 2\r\n\r\n0 2\r\n\r\n");
        assert_eq!(read.pairs, [(0, 1), (0, 2), (2, 0), (2, 2)]);
        assert_eq!((read.declared, read.facts.directed), (Some((0, 4)), Some(true)));
        assert_eq!(edges_of("ascii-graph", b"2\n\n0").pairs, [(1, 0)]);
        assert_eq!(edges_of("ascii-graph", b"0\n").pairs, []);
    }

    #[test]
    fn lines_that_contradict_the_first_line_are_refused() {
        for (text, expected) in [
            (&b""[..], "empty file"),
            (b"n\n", "number of vertices"),
            (b"2\n1\n", "2 lines"),
            (b"1\n0\n0\n", "1 lines"),
            (b"2\n1\n2\n", ":3: expected a vertex from 0 to 1"),
            (b"2\n1\n-1\n", "a vertex from 0 to 1"),
            (b"18446744073709551615\n1\n", "lines"),
        ] {
            let error = failure_of("ascii-graph", text);
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn a_line_longer_than_a_block_keeps_its_vertex() {
        let n = 500_000u64;
        let mut text = format!("{n}\n\n");
        for successor in 0..n {
            text += &format!("{successor} ");
        }
        text += &"\n7".repeat(n as usize - 2);
        let read = edges_of("ascii-graph", text.as_bytes());
        assert!(read.blocks > 3, "{} blocks", read.blocks);
        let expected = (0..n).map(|s| (1, s)).chain((2..n).map(|v| (v, 7)));
        assert!(read.pairs.iter().copied().eq(expected));
    }
}
