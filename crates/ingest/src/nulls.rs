//! Rows without a value at an end of the edge: refused, or left out and counted.

use crate::choice::Choice;
use std::sync::atomic::{AtomicU64, Ordering};

/// Treatment of rows whose source or target has no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// The first one is an error.
    #[default]
    Error,
    /// They are left out.
    Skip,
}

impl Choice for Nulls {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Nulls::Error, "error", "The first one is an error"), (Nulls::Skip, "skip", "They are left out and counted")];
}

/// Number of rows that were left out.
#[derive(Debug)]
pub(crate) struct LeftOut {
    nulls: Nulls,
    count: AtomicU64,
}

impl LeftOut {
    pub(crate) fn new(nulls: Nulls) -> Self {
        LeftOut { nulls, count: AtomicU64::new(0) }
    }

    /// Whether rows are left out.
    pub(crate) fn is_wanted(&self) -> bool {
        self.nulls == Nulls::Skip
    }

    pub(crate) fn add(&self, rows: u64) {
        self.count.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
