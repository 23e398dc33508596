//! Rows of a file that lie far apart, such as every thousandth, which are read one by one.
//!
//! A plan reads rows like this if the source reports that it is cheaper than reading everything in between. Rows are
//! copied as they land, so memory is taken for them only.

use crate::plan::{Kind, PassSource, Plan, Rows};
use crate::source::{ArraySource, ColumnsInMemory, Landed, SourceReader};
use outcore_format::ElementType;
use outcore_image::{Result, SweepStats};
use outcore_io::{CancelFlag, Runtime};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The cost of a request, as the number of bytes that are read in the same time.
const REQUEST_BYTES: u64 = 32 << 10;
/// Approximate size, and largest number, of the rows that a reader has under way.
const UNDER_WAY_BYTES: u64 = 1 << 20;
const MOST_UNDER_WAY: u64 = 256;

/// Whether reading rows by `requests` requests costs less than one request for them and the bytes between.
pub(crate) fn is_worth(requests: u64, bytes_between: u64) -> bool {
    bytes_between > requests.saturating_mul(REQUEST_BYTES)
}

impl Plan {
    /// Replaces sources whose rows lie far apart by ones that read row by row, where that costs less than reading all
    /// rows between.
    pub fn space(&mut self) {
        for place in 0..self.sources.len() {
            let PassSource { source: all, rows: Rows { step, .. }, active, columns } = &self.sources[place];
            let Some(row_bytes) = all.row_alone_bytes(step.unsigned_abs()) else { continue };
            let (all, active, columns) = (Arc::clone(all), active.clone(), columns.clone());
            // Steps share what they read where they begin at about one row: here each beginning has reads of its own.
            let mut spaced_sources: Vec<(i64, usize)> = Vec::new();
            for own in &mut self.steps {
                let Kind::Source { source, rows } = &mut own.kind else { continue };
                if *source != place {
                    continue;
                }
                let same = spaced_sources.iter().find(|(start, _)| *start == rows.start).map(|&(_, place)| place);
                *source = same.unwrap_or_else(|| {
                    let shape = [&[active.end][..], &all.shape()[1..]].concat();
                    let spaced = SpacedSource { all: Arc::clone(&all), rows: *rows, shape, row_bytes };
                    let (active, columns) = (active.clone(), columns.clone());
                    let spaced = PassSource { source: Arc::new(spaced), rows: Rows::ALL, active, columns };
                    // The first one takes the place of the source.
                    let own = if spaced_sources.is_empty() { place } else { self.sources.len() };
                    if own == place {
                        self.sources[place] = spaced;
                    } else {
                        self.sources.push(spaced);
                    }
                    spaced_sources.push((rows.start, own));
                    own
                });
                *rows = Rows::ALL;
            }
        }
    }
}

/// The rows of a source that a pass needs, by their numbers in the pass.
struct SpacedSource {
    all: Arc<dyn ArraySource>,
    rows: Rows,
    shape: Vec<u64>,
    /// Bytes that are read for a row.
    row_bytes: u64,
}

impl SpacedSource {
    /// Number of rows that a reader has under way.
    fn depth(&self, most_rows: u64, depth: usize) -> usize {
        let most = (UNDER_WAY_BYTES / self.row_bytes.max(1)).clamp(2, MOST_UNDER_WAY);
        most_rows.saturating_mul(depth as u64).min(most) as usize
    }
}

impl ArraySource for SpacedSource {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> ElementType {
        self.all.element()
    }

    fn describe(&self) -> String {
        format!("{}, one row in {}", self.all.describe(), self.rows.step.unsigned_abs())
    }

    fn unit_rows(&self) -> u64 {
        1
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        rows.saturating_mul(self.row_bytes)
    }

    fn reader<'a>(&'a self, runtime: &Runtime, most_rows: u64, depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        Ok(Box::new(SpacedReader {
            source: self,
            rows: self.all.reader(runtime, 1, self.depth(most_rows, depth))?,
            pushed: VecDeque::new(),
            begun: (0, 0),
            under_way: 0,
            most_under_way: self.depth(most_rows, depth),
            copied: Vec::new(),
            cancel: runtime.cancel().clone(),
        }))
    }

    fn reader_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        let columns: u64 = self.shape[1..].iter().product();
        let copied = most_rows * columns * self.element().bytes() as u64;
        self.all.reader_bytes(1, self.depth(most_rows, depth)) + copied.next_multiple_of(8)
    }

    fn use_cache(&self, most_bytes: u64) -> Result<()> {
        self.all.use_cache(most_bytes)
    }
}

struct SpacedReader<'a> {
    source: &'a SpacedSource,
    /// The reader of single rows.
    rows: Box<dyn SourceReader + 'a>,
    /// Rows of the pass that were pushed and have not landed, the oldest first.
    pushed: VecDeque<Range<u64>>,
    /// Number of ranges that have begun completely, and number of rows of the next one.
    begun: (usize, u64),
    /// Number of rows under way.
    under_way: usize,
    most_under_way: usize,
    /// The rows that landed last, as vectors of one column after the other, in words.
    copied: Vec<u64>,
    cancel: CancelFlag,
}

impl SpacedReader<'_> {
    /// Begins to read as many rows as there is room for.
    fn begin(&mut self) -> Result<()> {
        while let Some(rows) = self.pushed.get(self.begun.0) {
            let row = rows.start + self.begun.1;
            if row == rows.end {
                self.begun = (self.begun.0 + 1, 0);
                continue;
            }
            let own = self.source.rows.at(row);
            if self.under_way == self.most_under_way || !self.rows.push(own..own + 1)? {
                break;
            }
            (self.under_way, self.begun.1) = (self.under_way + 1, self.begun.1 + 1);
        }
        Ok(())
    }
}

impl SourceReader for SpacedReader<'_> {
    fn push(&mut self, rows: Range<u64>) -> Result<bool> {
        self.pushed.push_back(rows);
        self.begin()?;
        Ok(true)
    }

    fn next(&mut self) -> Result<Box<dyn Landed + '_>> {
        let rows = self.pushed.front().expect("rows were pushed").clone();
        let columns = self.source.shape[1..].iter().product::<u64>() as usize;
        let (count, size) = ((rows.end - rows.start) as usize, self.source.element().bytes());
        self.copied.resize((count * columns * size).div_ceil(8), 0);
        for (i, row) in rows.clone().enumerate() {
            self.cancel.check()?;
            self.begin()?;
            let landed = self.rows.next()?;
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.copied);
            let to = &mut bytes[..count * columns * size];
            landed.copy(self.source.rows.at(row), 1, 1, to.get_mut(i * size..).unwrap_or_default(), count * size)?;
            drop(landed);
            self.under_way -= 1;
        }
        self.begin()?;
        self.pushed.pop_front();
        self.begun.0 -= 1;
        Ok(Box::new(ColumnsInMemory { rows, columns, size, bytes: bytemuck::cast_slice(&self.copied) }))
    }

    fn take_stats(&mut self) -> SweepStats {
        self.rows.take_stats()
    }
}
