//! A source that wraps another and replaces its facts or its edges.

use crate::batch::{Block, EdgeBatch, Facts, Parser, Source, TakeBatch};
use outcore_image::Result;
use std::path::Path;
use std::sync::Arc;

/// A source that wraps another and replaces its facts or its edges.
pub struct Altered {
    source: Box<dyn Source>,
    facts: Facts,
    parser: Arc<dyn Parser>,
    declared: Declared,
    late_note: Box<LateNote>,
}

/// Which integers are vertices whether or not an edge names them, once all is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// Those that the source says.
    AsBefore,
    /// Those that the facts say.
    AsFacts,
    /// Those that the source says, these (first, count), and all between.
    With((u64, u64)),
}

/// A note that exists only once the whole input is read.
type LateNote = dyn Fn() -> Option<String> + Send;

impl Altered {
    /// Says `facts` of a source, whose blocks `parser` understands.
    pub fn new(source: Box<dyn Source>, facts: Facts, parser: Arc<dyn Parser>, declared: Declared) -> Self {
        Altered { source, facts, parser, declared, late_note: Box::new(|| None) }
    }

    /// Adds a note at the end.
    pub(crate) fn noting(self, late_note: impl Fn() -> Option<String> + Send + 'static) -> Self {
        Altered { late_note: Box::new(late_note), ..self }
    }
}

impl Source for Altered {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        self.source.next_block()
    }

    fn parser(&self) -> Arc<dyn Parser> {
        Arc::clone(&self.parser)
    }

    fn begin_at(&mut self, sequence: u64) {
        self.source.begin_at(sequence);
    }

    fn declared(&self) -> Option<(u64, u64)> {
        match self.declared {
            Declared::AsBefore => self.source.declared(),
            Declared::AsFacts => self.facts.declared,
            Declared::With(range) => hull(self.source.declared(), Some(range)),
        }
    }

    fn late_notes(&self) -> Vec<String> {
        self.source.late_notes().into_iter().chain((self.late_note)()).collect()
    }
}

/// A change of the edges of every batch.
pub(crate) trait Alter: Send + Sync {
    /// Alters the edges of one.
    fn alter(&self, batch: &mut EdgeBatch);
}

/// Understands blocks as another parser does, and alters their edges.
pub(crate) struct AlteredParser<A> {
    pub(crate) inner: Arc<dyn Parser>,
    pub(crate) alter: A,
}

impl<A: Alter> Parser for AlteredParser<A> {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        self.inner.parse(block, batch)?;
        self.alter.alter(batch);
        Ok(())
    }

    fn parse_in_batches(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        self.inner.parse_in_batches(block, batch, &mut |batch| {
            self.alter.alter(batch);
            take(batch)
        })
    }

    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn comments(&self) -> (u64, Option<String>) {
        self.inner.comments()
    }

    fn left_out(&self) -> u64 {
        self.inner.left_out()
    }
}

/// The smallest range that holds both ranges (first, count).
pub(crate) fn hull(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let (Some(a), Some(b)) = (a, b) else {
        return a.or(b);
    };
    let first = a.0.min(b.0);
    let end = a.0.saturating_add(a.1).max(b.0.saturating_add(b.1));
    Some((first, end - first))
}
