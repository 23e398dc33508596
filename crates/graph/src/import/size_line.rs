//! A first line of two integers: an edge, or the numbers of vertices and edges?
//!
//! It is the size `n m` if exactly m edges follow and no id reaches beyond n: ids are 0..n if 0 appears, else 1..=n. That
//! shows only at the end of the input, so the line is held back. Nearly every edge fails as a size within the
//! first block (its second number is smaller than the number of lines below it), so the cutter rarely reads on; where
//! a file does have such a line, the cutter reads all ids once, at several hundred megabytes a second.
//! A number of vertices above 2^32 is an edge of a graph with sparse ids; so is a line `n 0`.

use super::columns::{Separator, is_data};
use super::number::{Fields, lines, trim, unsigned};

/// A line that may be `n m`, and what has been seen below it.
pub(super) struct SizeLine {
    vertices: u64,
    edges: u64,
    separator: Separator,
    seen_edges: u64,
    smallest: u64,
    largest: u64,
    refuted: bool,
}

impl SizeLine {
    /// The two numbers of `line`, if they can be a size.
    pub(super) fn new(line: &[u8], separator: Separator) -> Option<Self> {
        let (vertices, edges) = pair(line, separator)?;
        (edges > 0 && vertices <= 1 << 32).then_some(SizeLine {
            vertices,
            edges,
            separator,
            seen_edges: 0,
            smallest: u64::MAX,
            largest: 0,
            refuted: false,
        })
    }

    /// Looks at the next lines of the input.
    pub(super) fn see(&mut self, bytes: &[u8]) {
        for line in lines(bytes) {
            if self.refuted {
                return;
            }
            if !is_data(line) {
                continue;
            }
            let Some((source, target)) = pair(line, self.separator) else {
                self.refuted = true;
                return;
            };
            self.seen_edges += 1;
            self.smallest = self.smallest.min(source).min(target);
            self.largest = self.largest.max(source).max(target);
            self.refuted = self.seen_edges > self.edges || self.largest > self.vertices;
        }
    }

    /// Whether the line is certainly an edge.
    pub(super) fn is_refuted(&self) -> bool {
        self.refuted
    }

    /// The vertices that the line declares (first, count), now that the whole input has been seen.
    pub(super) fn declared(&self) -> Option<(u64, u64)> {
        if self.refuted || self.seen_edges != self.edges {
            return None;
        }
        if self.smallest > 0 {
            return Some((1, self.vertices));
        }
        (self.largest < self.vertices).then_some((0, self.vertices))
    }
}

/// The first two columns, if they are numbers without a sign.
fn pair(line: &[u8], separator: Separator) -> Option<(u64, u64)> {
    match separator {
        Separator::Blanks => {
            let mut fields = Fields::new(line);
            Some((fields.unsigned()?, fields.unsigned()?))
        }
        Separator::Byte(separator) => {
            let mut fields = line.split(|&b| b == separator);
            let mut number = || unsigned(trim(fields.next()?));
            Some((number()?, number()?))
        }
    }
}
