//! A first line of two integers: an edge, or the numbers of vertices and edges?
//!
//! It is the size `n m` if exactly m edges follow and the largest id fits n: ids are 0..n if 0 appears, else 1..=n. If
//! m edges follow but the ids end before n, it may be either, and the user is asked. That shows only at the end of the
//! input, so the line is held back. Nearly every edge fails as a size within the first block (its second number is
//! smaller than the number of lines below it), so the cutter rarely reads on; where a file does have such a line, the
//! cutter reads all ids once, at several hundred megabytes a second. A number of vertices above 2^32 is an edge of a
//! graph with sparse ids; so is a line `n 0`.

use crate::text::columns::{Columns, Field, split};
use crate::text::number::{Fields, lines, trim, unsigned};

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
