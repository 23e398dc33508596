//! A first line of two integers: an edge, or the numbers of vertices and edges?
//!
//! It is the size `n m` if exactly m edges follow and the largest id fits n: ids are 0..n if 0 appears, else 1..=n. If
//! m edges follow but the ids end before n, it may be either, and the user is asked. That shows only at the end of the
//! input, so the line is held back. Nearly every edge fails as a size within the first block (its second number is
//! smaller than the number of lines below it), so the cutter rarely reads on; where a file does have such a line, the
//! cutter reads all ids once, at several hundred megabytes a second. A number of vertices above 2^32 is an edge of a
//! graph with sparse ids; so is a line `n 0`.

use crate::batch::{Block, BlockData, ReadBlocks, bad_record};
use crate::text::blocks::{LineBlocks, Lines};
use crate::text::columns::{Columns, Field, split};
use crate::text::number::{Fields, lines, trim, unsigned};
use crate::text::sample::end_of_line;
use outcore_image::Result;

/// A line that may be `n m`, and what has been seen below it.
pub(crate) struct SizeLine {
    vertices: u64,
    edges: u64,
    columns: Columns,
    seen_edges: u64,
    smallest: u64,
    largest: u64,
    refuted: bool,
}

/// The meaning of a first line of two integers.
pub(crate) enum Verdict {
    Edge,
    /// The numbers of vertices, counted from `first`, and edges; certain if the largest id fits too.
    Size {
        first: u64,
        count: u64,
        is_certain: bool,
    },
}

impl SizeLine {
    /// The two numbers of `line`, which are refuted at once if they can be no size.
    pub(crate) fn new(line: &[u8], columns: &Columns) -> Self {
        let two = Columns { count: 2, source: 0, target: 1, ..columns.clone() };
        let (vertices, edges) = pair(line, &two).unwrap_or_default();
        SizeLine {
            vertices,
            edges,
            columns: columns.clone(),
            seen_edges: 0,
            smallest: u64::MAX,
            largest: 0,
            refuted: edges == 0 || vertices == 0 || vertices > 1 << 32,
        }
    }

    pub(crate) fn see(&mut self, bytes: &[u8]) {
        for line in lines(bytes) {
            if self.refuted {
                return;
            }
            if !self.columns.comments.is_data(line) {
                continue;
            }
            let Some((source, target)) = pair(line, &self.columns) else {
                self.refuted = true;
                return;
            };
            self.seen_edges += 1;
            self.smallest = self.smallest.min(source).min(target);
            self.largest = self.largest.max(source).max(target);
            self.refuted = self.seen_edges > self.edges || self.largest > self.vertices;
        }
    }

    pub(crate) fn is_refuted(&self) -> bool {
        self.refuted
    }

    /// The meaning of the line, now that the whole input is read.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.refuted || self.seen_edges != self.edges {
            return Verdict::Edge;
        }
        let first = u64::from(self.smallest > 0);
        match (first + (self.vertices - 1)).cmp(&self.largest) {
            std::cmp::Ordering::Less => Verdict::Edge,
            order => Verdict::Size { first, count: self.vertices, is_certain: order.is_eq() },
        }
    }
}

/// The ids of an edge, if they are numbers without a sign.
fn pair(line: &[u8], columns: &Columns) -> Option<(u64, u64)> {
    if (columns.source, columns.target) == (0, 1) && !columns.separator.is_csv() {
        let mut fields = Fields::new(line);
        return Some((fields.unsigned()?, fields.unsigned()?));
    }
    let mut fields: Vec<Field<'_>> = Vec::new();
    split(line, columns.separator, columns.source.max(columns.target) + 1, &mut fields).ok()?;
    let number = |column: usize| unsigned(trim(fields.get(column)?.raw));
    Some((number(columns.source)?, number(columns.target)?))
}

/// The first data line and where it ends in the block, unless the lines below it show that it is an edge and the user
/// does not say that it `is_header`.
pub(crate) fn hold_back(first: &Lines, columns: &Columns, is_header: bool) -> Option<(SizeLine, Lines, usize)> {
    let (place, line) = (0u64..).zip(lines(&first.bytes)).find(|(_, line)| columns.comments.is_data(line))?;
    let mut trial = SizeLine::new(line, columns);
    let end = end_of_line(&first.bytes, place);
    trial.see(&first.bytes[end..]);
    if trial.is_refuted() && !is_header {
        return None;
    }
    let size_line = SizeLine::new(line, columns);
    let line = Lines { first_line: first.first_line + place, bytes: line.to_vec(), input_bytes: first.input_bytes };
    Some((size_line, line, end))
}

/// The blocks of a list of edges, whose first line may come last.
pub(crate) struct EdgeListBlocks {
    pub(crate) blocks: LineBlocks,
    /// The first line while its meaning is in doubt.
    pub(crate) size_line: Option<(SizeLine, Lines)>,
    /// The user says that it is no edge.
    pub(crate) is_header: bool,
    /// The first line once its meaning is known: an edge, or else empty.
    pub(crate) first_edge: Option<Lines>,
    pub(crate) declared: Option<(u64, u64)>,
    pub(crate) note: Option<String>,
    pub(crate) sequence: u64,
}

impl EdgeListBlocks {
    /// Decides at the end of the input what the first line is; it loses its content if it is no edge.
    fn decide(&mut self) -> Result<()> {
        let Some((size_line, mut line)) = self.size_line.take() else { return Ok(()) };
        let text = String::from_utf8_lossy(&line.bytes).trim().to_owned();
        match size_line.verdict() {
            Verdict::Size { first, count, is_certain } if is_certain || self.is_header => {
                self.declared = Some((first, count));
                self.note = Some(format!(
                    "The first line, `{text}`, was read as the numbers of vertices and edges: so many edges follow, between \
                     vertices from {first} to {}.",
                    first + (count - 1)
                ));
                line.bytes.clear();
            }
            Verdict::Size { .. } => {
                let expected = "an edge, or the numbers of vertices and edges";
                return Err(bad_record(self.blocks.path(), line.first_line, expected, &line.bytes).advise(
                    "so many edges follow, but not all of the vertices are in one: say --header yes if the line is no edge, \
                     --header no if it is one",
                ));
            }
            Verdict::Edge if self.is_header => {
                self.note = Some(format!("The first line, `{text}`, was skipped, as --header yes says."));
                line.bytes.clear();
            }
            Verdict::Edge => {
                self.note = Some(format!(
                    "The first line, `{text}`, was read as an edge: it is not the numbers of vertices and edges below it."
                ));
            }
        }
        self.first_edge = Some(line);
        Ok(())
    }
}

impl ReadBlocks for EdgeListBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        if self.first_edge.is_none() {
            if let Some(lines) = self.blocks.next_lines()? {
                if let Some((size_line, _)) = &mut self.size_line {
                    size_line.see(&lines.bytes);
                    if size_line.is_refuted() && !self.is_header {
                        self.first_edge = self.size_line.take().map(|(_, line)| line);
                    }
                }
                let block = lines.into_block(self.sequence, 0);
                self.sequence += 1;
                return Ok(Some(block));
            }
            self.decide()?;
        }
        Ok(self.first_edge.take().map(|line| Block {
            sequence: 0,
            first_record: line.first_line,
            first_vertex: 0,
            input_bytes: line.input_bytes,
            data: BlockData::Bytes(line.bytes),
        }))
    }

    fn declared(&self) -> Option<(u64, u64)> {
        self.declared
    }

    fn late_notes(&self) -> Vec<String> {
        self.note.clone().into_iter().collect()
    }
}
