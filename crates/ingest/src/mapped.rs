//! A parser that changes the batches of another one.

use crate::batch::{Block, BlockData, EdgeBatch, Parser, TakeBatch};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Understands blocks as another parser does, and changes its batches.
pub(crate) struct MappedParser<M> {
    pub(crate) inner: Arc<dyn Parser>,
    pub(crate) map: M,
}

impl<M: Fn(&mut EdgeBatch, Option<u64>) -> Result<()> + Send + Sync> Parser for MappedParser<M> {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        // Lines of text may be no edges.
        let mut row = matches!(block.data, BlockData::Table(_)).then_some(block.first_record);
        self.inner.parse(block, batch, &mut |batch| {
            let count = batch.ids.len() as u64 / 2;
            (self.map)(batch, row)?;
            row = row.map(|first| first + count);
            take(batch)
        })
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
