//! DIMACS graphs: `c` comments, an optional `p WORD n m`, then arcs `a u v w` or edges `e u v`.
//!
//! Arcs (shortest paths, `.gr`) are directed and may carry a weight; edges (colouring, `.col`) are not directed. With a
//! `p` line the vertices are 1..n and the lines are counted against m (colouring files count an edge once or twice);
//! without one, as some files are, any number from 0 may be a vertex.
//! Format: the DIMACS implementation challenges, 2nd (1993) and 9th (2006).

use crate::batch::{Block, EdgeBatch, Facts, InputOptions, Parser, Source, TakeBatch, bad_record};
use crate::input::file::Input;
use crate::text::blocks::LineBlocks;
use crate::text::number::{self, Fields, lines, weight_expected};
use crate::text::source::Tally;
use crate::text::source::{
    Numbering, begin, begin_weights, first_data_block, parse_lines, push_pair, text_source, weights_wanted,
};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let mut blocks = LineBlocks::new(input.stream()?);
    let is_data = |line: &[u8]| matches!(Fields::new(line).first_byte(), Some(b'p' | b'a' | b'e'));
    let Some(first) = first_data_block(&mut blocks, is_data)? else {
        return Err(Error::input(blocks.path(), None, "a line `a u v w` or `e u v`", "the end of the file"));
    };
    let mut problem = None;
    let mut edge_line: Option<&[u8]> = None;
    for (number, line) in (first.first_line..).zip(lines(&first.bytes)) {
        match Fields::new(line).first_byte() {
            Some(b'p') => {
                problem = Some(
                    parse_problem(line, number)
                        .ok_or_else(|| bad_record(blocks.path(), number, "`p WORD n m`", line))?,
                );
            }
            Some(b'a' | b'e') => {
                edge_line = Some(line);
                break;
            }
            _ => {}
        }
    }
    let letter = edge_line.and_then(|line| Fields::new(line).first_byte());
    let has_weights = letter == Some(b'a')
        && edge_line.is_some_and(|line| {
            let mut fields = Fields::new(line);
            (0..4).all(|_| fields.token().is_some())
        });
    let names: &[&str] = if has_weights { &["weight"] } else { &[] };
    let wanted = weights_wanted(options.weight.as_deref(), "dimacs", names)? && has_weights;
    let tally = Arc::new(Tally::new());
    let facts = Facts {
        format: "dimacs",
        directed: letter.map(|letter| letter == b'a'),
        weights: wanted.then(|| "weight".to_owned()),
        declared: problem.map(|problem| (1, problem.vertices)),
        // Colouring files may count edges twice, so only arcs are known beforehand.
        edges: problem.filter(|_| letter == Some(b'a')).map(|problem| problem.edges),
        ..blocks.facts()
    };
    let parser = Arc::new(Dimacs {
        path: blocks.path().to_owned(),
        letter: letter.unwrap_or(b'a'),
        problem,
        has_weights,
        weights_wanted: wanted,
        tally: tally.clone(),
    });
    blocks.give_back(first);
    Ok(text_source(blocks, facts, parser, Numbering::None, Some(tally)))
}

/// Content and place of the `p` line.
#[derive(Clone, Copy)]
struct Problem {
    line: u64,
    vertices: u64,
    edges: u64,
}

fn parse_problem(line: &[u8], number: u64) -> Option<Problem> {
    let mut fields = Fields::new(line);
    if fields.token()? != b"p" {
        return None;
    }
    fields.token()?;
    let vertices = fields.unsigned()?;
    let edges = fields.unsigned()?;
    vertices.checked_add(1)?;
    fields.is_empty().then_some(Problem { line: number, vertices, edges })
}

struct Dimacs {
    path: PathBuf,
    letter: u8,
    problem: Option<Problem>,
    has_weights: bool,
    weights_wanted: bool,
    tally: Arc<Tally>,
}

impl Dimacs {
    /// Parses a line and returns its number of edges; the error is the expected part of the message.
    fn parse_line(&self, line: &[u8], number: u64, batch: &mut EdgeBatch) -> std::result::Result<u64, String> {
        let mut fields = Fields::new(line);
        let kind = match fields.token() {
            None | Some(b"c") => return Ok(0),
            // Values of vertices in colouring files.
            Some(b"n") => return Ok(0),
            Some(b"p") if self.problem.is_some_and(|p| p.line == number) => return Ok(0),
            Some(b"p") => {
                return Err("the line `p` once, before all edges and in the first megabyte".to_owned());
            }
            Some(kind) if kind.starts_with(b"c") => return Ok(0),
            Some(kind) => kind,
        };
        if kind != [self.letter] {
            return Err(format!("a line `{}`, like the first edge, or `c`", self.letter as char));
        }
        let range = self.problem.map_or((0, u64::MAX), |p| (1, p.vertices));
        let mut vertex = || {
            let vertex = fields.unsigned().filter(|v| (range.0..=range.1).contains(v));
            vertex.ok_or_else(|| match self.problem {
                None => "two vertices, which are numbers from 0".to_owned(),
                Some(_) => format!("two vertices from 1 to {}, as the line `p` says", range.1),
            })
        };
        let (source, target) = (vertex()?, vertex()?);
        if self.has_weights {
            let token = fields.token().unwrap_or_default();
            let weight = number::weight(token).ok_or_else(|| weight_expected(token))?;
            if self.weights_wanted {
                batch.weights.reals().push(weight);
            }
        }
        if !fields.is_empty() {
            return Err("the end of the line".to_owned());
        }
        push_pair(&mut batch.ids, source, target);
        Ok(1)
    }

    fn check(&self, count: u64) -> Result<()> {
        let Some(Problem { line, edges, .. }) = self.problem else {
            return Ok(());
        };
        let may_differ =
            self.letter == b'e' && (count.checked_mul(2) == Some(edges) || edges.checked_mul(2) == Some(count));
        if count == edges || may_differ {
            return Ok(());
        }
        let expected = format!("{edges} edges, as line {line} says");
        Err(Error::input(&self.path, None, expected, count.to_string())
            .advise("the file is truncated or its line `p` is wrong"))
    }
}

impl Parser for Dimacs {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, false);
        begin_weights(batch, self.weights_wanted);
        let edges = parse_lines(block, &self.path, |line, number| self.parse_line(line, number, batch))?;
        self.tally.add([edges, 0, 0, 0]).map_or(Ok(()), |[edges, ..]| self.check(edges))?;
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
    fn arcs_with_and_without_a_problem_line() {
        let read = edges_of("dimacs", b"c hello\np sp 4 2\na 1 2 5\n\nc\na 2 1 0.5\n");
        assert_eq!((read.pairs, read.weights), (vec![(1, 2), (2, 1)], vec![5.0, 0.5]));
        assert_eq!((read.declared, read.facts.directed, read.facts.edges), (Some((1, 4)), Some(true), Some(2)));
        let read = edges_of("dimacs", b"a 0 7 1\r\na 7 0 2");
        assert_eq!((read.pairs, read.declared), (vec![(0, 7), (7, 0)], None));
    }

    #[test]
    fn edges_are_undirected_and_may_be_counted_twice() {
        for m in [1, 2, 4] {
            let read = edges_of("dimacs", format!("p edge 3 {m}\ne 1 2\ne 2 3\n").as_bytes());
            assert_eq!((read.pairs, read.facts.directed), (vec![(1, 2), (2, 3)], Some(false)));
        }
    }

    #[test]
    fn malformed_dimacs_is_refused() {
        for (text, expected) in [
            (&b""[..], "found the end of the file"),
            (b"c only\n", "found the end of the file"),
            (b"p sp 3\n", ":1: expected `p WORD n m`"),
            (b"p sp 3 1\na 0 1 1\n", ":2: expected two vertices from 1 to 3"),
            (b"p sp 3 1\na 1 4 1\n", ":2: expected two vertices from 1 to 3"),
            (b"p sp 3 2\na 1 2 1\n", "expected 2 edges, as line 1 says, found 1"),
            (b"a 1 2 1\ne 1 2\n", ":2: expected a line `a`"),
            (b"a 1 2 1\nx 1 2\n", ":2:"),
            (b"a 1 2 1\np sp 2 1\n", ":2:"),
            (b"a 1 2 nan\n", "a weight"),
            (b"a 1 2 9007199254740993\n", "such as all up to 2^53"),
            (b"a 1 2 1e-400\n", "large enough"),
            (b"a 1 2 1\na 1 2\n", "a weight"),
            (b"a 1 -2 1\n", "two vertices"),
            (b"a 1 2 1 1\n", "end of the line"),
            (b"a 1 99999999999999999999 1\n", "two vertices"),
        ] {
            let error = failure_of("dimacs", text);
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
