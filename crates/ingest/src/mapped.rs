//! Parsers that change the batches of another one.

use crate::batch::{Block, BlockData, EdgeBatch, Parser, TakeBatch};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parser that has `parse` in place of that of another one, which `parse` gets.
pub(crate) fn parsing(
    inner: Arc<dyn Parser>,
    parse: impl Fn(&dyn Parser, &Block, &mut EdgeBatch, &mut TakeBatch<'_>) -> Result<()> + Send + Sync + 'static,
) -> Arc<dyn Parser> {
    Arc::new(MappedParser { inner, parse })
}

/// A parser whose batches are those of another one, changed by `map`, which also gets the number of the first edge's
/// row, in tables.
pub(crate) fn mapping(
    inner: Arc<dyn Parser>,
    map: impl Fn(&mut EdgeBatch, Option<u64>) -> Result<()> + Send + Sync + 'static,
) -> Arc<dyn Parser> {
    parsing(inner, move |inner, block, batch, take| {
        // Lines of text may be no edges.
        let mut row = matches!(block.data, BlockData::Table(_)).then_some(block.first_record);
        inner.parse(block, batch, &mut |batch| {
            let count = batch.ids.len() as u64 / 2;
            map(batch, row)?;
            row = row.map(|first| first + count);
            take(batch)
        })
    })
}

/// All but `parse` is that of another parser.
struct MappedParser<P> {
    inner: Arc<dyn Parser>,
    parse: P,
}

impl<P> Parser for MappedParser<P>
where
    P: Fn(&dyn Parser, &Block, &mut EdgeBatch, &mut TakeBatch<'_>) -> Result<()> + Send + Sync,
{
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        (self.parse)(&*self.inner, block, batch, take)
    }

    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn path_of(&self, sequence: u64) -> PathBuf {
        self.inner.path_of(sequence)
    }

    fn comments(&self) -> (u64, Option<String>) {
        self.inner.comments()
    }

    fn no_weight(&self, sequence: u64, record: u64) -> Error {
        self.inner.no_weight(sequence, record)
    }

    fn check(&self) -> Result<()> {
        self.inner.check()
    }

    fn left_out(&self) -> u64 {
        self.inner.left_out()
    }
}
