//! The columns of files that a pass reads: only those that its steps use, where these are few.

use crate::plan::{Kind, PassSource, Plan, Step, View, Wanted, outer};
use std::ops::Range;

/// Largest number of runs of columns of a file that a plan tracks per view.
const MOST_SPANS: usize = 1024;

/// Sorts runs, and merges those with at most `between` columns between them.
pub(crate) fn joined(mut runs: Vec<Range<usize>>, between: usize) -> Vec<Range<usize>> {
    runs.sort_unstable_by_key(|run| run.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match merged.last_mut().filter(|last| run.start <= last.end + between) {
            Some(last) => last.end = last.end.max(run.end),
            None => merged.push(run),
        }
    }
    merged
}

impl View {
    /// Runs of vectors that indices below these sizes refer to, in any order. There are few runs; they may cover unused
    /// vectors.
    fn spans(&self, sizes: &[usize]) -> Vec<Range<usize>> {
        if sizes.contains(&0) {
            return Vec::new();
        }
        let mut axes: Vec<(usize, isize)> = sizes.iter().copied().zip(self.strides.iter().copied()).collect();
        axes.sort_unstable_by_key(|&(_, stride)| stride.abs());
        // The first vectors of the runs, all of which have one length.
        let (mut starts, mut len) = (vec![self.offset], 1);
        for (size, stride) in axes.into_iter().filter(|&(size, stride)| size > 1 && stride != 0) {
            if stride.abs() > len && starts.len() * size <= MOST_SPANS {
                let along = |start: isize| (0..size as isize).map(move |i| start + i * stride);
                starts = starts.into_iter().flat_map(along).collect();
            } else {
                let reach = (size as isize - 1) * stride;
                starts.iter_mut().for_each(|start| *start += reach.min(0));
                len += reach.abs();
            }
        }
        starts.into_iter().map(|start| start as usize..(start + len) as usize).collect()
    }
}

impl PassSource {
    /// The place of a column among those that are read.
    pub fn place(&self, column: usize) -> usize {
        let mut before = 0;
        for run in &self.columns {
            if run.contains(&column) {
                return before + column - run.start;
            }
            before += run.len();
        }
        column
    }
}

impl Plan {
    /// Restricts sources to the columns that the plan uses, if these are few.
    pub fn narrow(&mut self, wanted: &[&Wanted]) {
        let mut spans: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.sources.len()];
        let wanted = wanted.iter().map(|wanted| (&wanted.view, wanted.sizes.clone()));
        for (view, sizes) in self.steps.iter().flat_map(Step::visits).chain(wanted) {
            if let Kind::Source { source, .. } = self.steps[view.step].kind {
                spans[source].extend(view.spans(&sizes));
            }
        }
        for (own, spans) in self.sources.iter_mut().zip(spans) {
            if let Some((narrow, columns)) = own.source.of_columns(spans) {
                (own.source, own.columns) = (narrow, columns);
            }
        }
        for step in &mut self.steps {
            if let Kind::Source { source, .. } = step.kind
                && !self.sources[source].columns.is_empty()
            {
                step.shape = outer(self.sources[source].source.shape(), Some(0));
            }
        }
    }
}
