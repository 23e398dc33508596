//! METIS graphs: `n m [fmt [ncon]]`, then one line of neighbours per vertex, counted from 1.
//!
//! `fmt` has up to three digits: edge weights (1), vertex weights (10, `ncon` of them), vertex sizes (100); the last
//! two are skipped. Lines that start with `%` are comments, an empty line is a vertex without neighbours. Every edge
//! stands in the lines of both its ends; it is handed on from its smaller end, and the number of both kinds is compared
//! with the header, so that an edge that stands in one line only does not pass. A self-loop stands once or twice. Lines
//! without weights may have any length; with weights, they are limited as in all text. Format: the METIS manual,
//! version 5, section 4.1.1.

use crate::batch::{Block, EdgeBatch, Facts, InputOptions, Parser, Source, TakeBatch, bad_record};
use crate::input::file::Input;
use crate::text::blocks::{LineBlocks, Lines};
use crate::text::columns::Comments;
use crate::text::number::{self, Fields, lines, weight_expected};
use crate::text::sample::end_of_line;
use crate::text::source::{
    Numbering, begin, begin_weights, data_lines, first_data_block, push_pair, text_of, text_source, weights_wanted,
};
use crate::text::source::{Sums, Tally, see_end};
use outcore_image::{Error, Result};
use outcore_io::random;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    vertices: u64,
    edges: u64,
    has_edge_weights: bool,
    /// Number of numbers before the neighbours.
    skipped_columns: u64,
}

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let is_data = |line: &[u8]| data_lines(line).next().is_some();
    let Some(mut first) = first_data_block(&mut blocks, is_data)? else {
        return Err(Error::input(blocks.path(), None, "a line `n m`", "an empty file"));
    };
    let header = take_header(&mut first, blocks.path())?;
    let wanted = header.has_edge_weights && weights_wanted(options.weight.as_deref(), "metis", &["weight"])?;
    if !header.has_edge_weights {
        blocks.split_long_lines([b' ', b'\t'], Comments::named("%")?);
    }
    let tally = Arc::new(Tally::new());
    let parser = Arc::new(Metis {
        path: blocks.path().to_owned(),
        header,
        weights_wanted: wanted,
        tally: tally.clone(),
        key: random(),
    });
    let facts = Facts {
        format: "metis",
        directed: Some(false),
        weights: wanted.then(|| "weight".to_owned()),
        declared: Some((1, header.vertices)),
        edges: Some(header.edges),
        ..blocks.facts()
    };
    blocks.give_back(first);
    let numbering = Numbering::Adjacency { first: 1, count: header.vertices, comments: true };
    Ok(text_source(blocks, facts, parser, numbering, Some(tally)))
}

/// Takes the header and the comments before it off the first block.
fn take_header(first: &mut Lines, path: &Path) -> Result<Header> {
    let (skipped, line) = data_lines(&first.bytes).next().expect("the block holds a data line");
    let line_number = first.first_line + skipped;
    let header = parse_header(line).ok_or_else(|| {
        let advice = "fmt has up to three digits 0 or 1, and ncon is a small number";
        bad_record(path, line_number, "`n m [fmt [ncon]]`", line).advise(advice)
    })?;
    first.drop_front(end_of_line(&first.bytes, skipped));
    Ok(header)
}

fn parse_header(line: &[u8]) -> Option<Header> {
    let mut fields = Fields::new(line);
    let vertices = fields.unsigned()?;
    let edges = fields.unsigned()?;
    let format = fields.token().unwrap_or(b"0");
    let has_constraints = !fields.is_empty();
    let constraints = if has_constraints { fields.unsigned()? } else { 1 };
    if format.len() > 3 || format.iter().any(|b| !matches!(b, b'0' | b'1')) || !fields.is_empty() {
        return None;
    }
    // The declared range must exist, and so must the number of arcs.
    vertices.checked_add(1)?;
    edges.checked_mul(2)?;
    let digit = |place: usize| format.len() > place && format[format.len() - 1 - place] == b'1';
    let weights = if digit(1) { constraints } else { 0 };
    Some(Header { vertices, edges, has_edge_weights: digit(0), skipped_columns: weights.checked_add(digit(2) as u64)? })
}

struct Metis {
    path: PathBuf,
    header: Header,
    weights_wanted: bool,
    tally: Arc<Tally>,
    key: u64,
}

impl Metis {
    /// Parses one line, or the part of it that is in this block, and hands the batch over whenever it is full.
    fn parse_line(
        &self,
        (line, number): (&[u8], u64),
        vertex: u64,
        batch: &mut EdgeBatch,
        sums: &mut Sums,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        let bad = |expected| bad_record(&self.path, number, expected, line);
        let mut fields = Fields::new(line);
        for _ in 0..self.header.skipped_columns {
            fields.unsigned().ok_or_else(|| bad("the weights of the vertex, as fmt says"))?;
        }
        while !fields.is_empty() {
            let neighbour = fields.unsigned().ok_or_else(|| bad("a vertex"))?;
            if neighbour == 0 || neighbour > self.header.vertices {
                return Err(bad("a vertex from 1 to n"));
            }
            let weight = if self.header.has_edge_weights {
                let token = fields.token().ok_or_else(|| bad("a weight after every neighbour, as fmt says"))?;
                number::weight(token).ok_or_else(|| bad(weight_expected(token)))?
            } else {
                0.0
            };
            let weight_bits = if self.weights_wanted { weight.to_bits() } else { 0 };
            if !see_end(sums, self.key, [vertex, neighbour], weight_bits) {
                continue;
            }
            push_pair(&mut batch.ids, vertex, neighbour);
            if self.weights_wanted {
                batch.weights.reals().push(weight);
            }
            if batch.is_full() {
                take(batch)?;
            }
        }
        Ok(())
    }

    /// Compares arcs with those in the other direction, and all of them with the header.
    fn check(&self, [up, down, loops, difference]: Sums) -> Result<()> {
        if up != down || difference != 0 {
            let found = match up == down {
                true => "arcs whose reverse is missing or has another weight".to_owned(),
                false => format!("{up} arcs to larger vertices and {down} to smaller ones"),
            };
            return Err(Error::input(&self.path, None, "every edge in the lines of both its ends", found)
                .advise("METIS graphs are undirected: give a directed graph as an edge list"));
        }
        let m = self.header.edges;
        // A loop has one line to stand in; some writers put it there twice.
        if up + loops != m && (loops % 2 != 0 || up + loops / 2 != m) {
            return Err(Error::input(
                &self.path,
                None,
                format!("{m} edges ({} neighbours), as the first line says", m * 2),
                format!("{} neighbours ({loops} of them self-loops)", up + down + loops),
            )
            .advise("the file is truncated or its first line is wrong"));
        }
        Ok(())
    }
}

impl Parser for Metis {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        begin_weights(batch, self.weights_wanted);
        let mut vertex = block.first_vertex;
        let mut sums: Sums = [0; 4];
        for (number, line) in (block.first_record..).zip(lines(text_of(block, &self.path)?)) {
            if line.starts_with(b"%") {
                continue;
            }
            if vertex > self.header.vertices {
                let expected = format!("only {} lines of neighbours", self.header.vertices);
                return Err(bad_record(&self.path, number, &expected, line));
            }
            self.parse_line((line, number), vertex, batch, &mut sums, take)?;
            vertex += 1;
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
    use super::*;
    use crate::batch::BatchWeights;
    use crate::open::open_memory;
    use crate::testing::{edges_of, failure_of};

    #[test]
    fn every_edge_comes_once_from_its_smaller_end() {
        let read = edges_of("metis", b"% a comment\n4 3\n2 3\n% another\n1 3\n1 2\n\n");
        assert_eq!(read.pairs, [(1, 2), (1, 3), (2, 3)]);
        assert_eq!(read.declared, Some((1, 4)));
        assert_eq!(read.facts.directed, Some(false));
    }

    #[test]
    fn weights_are_read_and_vertex_weights_skipped() {
        let read = edges_of("metis", b"2 1 111 2\n9 7 7 2 2.5\n9 7 7 1 2.5");
        assert_eq!((read.pairs, read.weights), (vec![(1, 2)], vec![2.5]));
    }

    #[test]
    fn loops_may_stand_once_or_twice() {
        assert_eq!(edges_of("metis", b"2 2\n1 2\n1\n").pairs.len(), 2);
        assert_eq!(edges_of("metis", b"2 2\n1 1 2\n1\n").pairs.len(), 3);
    }

    #[test]
    fn malformed_metis_is_refused() {
        for (text, expected) in [
            (&b""[..], "empty file"),
            (b"x y\n", "n m"),
            (b"3 2 12\n", "n m"),
            (b"18446744073709551615 1\n", "n m"),
            (b"3 2\n2\n1 3\n", "3 lines"),
            (b"2 1\n2\n1\n\n", "found 3"),
            (b"2 1\n2\n1\n1\n", "2 lines"),
            (b"2 2\n2\n1\n", "4 neighbours"),
            (b"2 1\n2\n\n", "both its ends"),
            (b"4 1\n2\n\n\n3\n", "whose reverse is missing"),
            (b"4 2\n2 3\n\n\n2 3\n", "whose reverse is missing"),
            (b"2 1 1\n2 5\n1 7\n", "or has another weight"),
            (b"2 1\n3\n1\n", "from 1 to n"),
            (b"2 1\n0\n1\n", "from 1 to n"),
            (b"2 1\nx\n1\n", "a vertex"),
            (b"2 1 1\n2\n1 1\n", "a weight"),
            (b"2 1 1\n2 nan\n1 nan\n", "a weight"),
            (b"2 1 1\n2 9007199254740993\n1 9007199254740993\n", "such as all up to 2^53"),
            (b"2 1 1\n2 inf\n1 inf\n", "a weight that is a finite number"),
        ] {
            let error = failure_of("metis", text);
            assert!(error.contains(expected), "{expected}: {error}");
        }
        assert!(failure_of("metis", b"2 1\n2\nx\n").contains(":3:"));
    }

    #[test]
    fn batches_are_bounded_however_short_the_numbers_are() {
        // Two bytes of text are sixteen of ids, and eight of weights.
        let n = 300_000;
        for (format, text) in [
            ("metis", format!("1 {n} 1\n{}\n", "1 5 ".repeat(n))),
            ("metis", format!("1 {}\n{}\n", 2 * n, "1 ".repeat(2 * n))),
            ("ascii-graph", format!("1\n{}\n", "0 ".repeat(2 * n))),
        ] {
            let mut source = open_memory(format, text.as_bytes(), &InputOptions::default()).unwrap();
            let (mut edges, mut weights) = (0, 0);
            while let Some(block) = source.next_block().unwrap() {
                let mut batch = EdgeBatch::new(false);
                let mut take = |batch: &mut EdgeBatch| {
                    assert!(batch.ids.len() <= (1 << 20) / 8, "{format}: {} ids", batch.ids.len());
                    edges += batch.ids.len() / 2;
                    if let BatchWeights::Real(reals) = &batch.weights {
                        assert!(reals.iter().all(|&weight| weight == 5.0) && 2 * reals.len() == batch.ids.len());
                        weights += reals.len();
                    }
                    batch.clear();
                    Ok(())
                };
                source.parser().parse(&block, &mut batch, &mut take).unwrap();
            }
            assert!((edges, weights) == (n, n) || (edges, weights) == (2 * n, 0), "{format}: {edges}, {weights}");
        }
    }

    #[test]
    fn a_line_longer_than_a_block_keeps_its_vertex() {
        // A star: the centre's line is several blocks long, and comments stand around it.
        let n = 600_000;
        let mut text = format!("{n} {}\n% comment\n", n - 1);
        for leaf in 2..=n {
            text += &format!("{leaf} ");
        }
        text += "\n% comment\n";
        text += &"1\n".repeat(n - 1);
        let read = edges_of("metis", text.as_bytes());
        assert!(read.blocks > 5, "{} blocks", read.blocks);
        assert!(read.pairs.iter().copied().eq((2..=n as u64).map(|leaf| (1, leaf))));
    }
}
