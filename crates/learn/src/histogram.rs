//! How many elements of each column lie between given edges.
//!
//! Bins are half-open but for the last one, which has both of its edges, as NumPy has it. *Cost.* One pass, `log b`
//! comparisons per element; `p b` numbers.

use crate::common::{Costs, add, columns, matrix, operands, reals, usage, weights};
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;
use std::sync::Arc;

/// Options of [`histogram`].
#[derive(Clone, Copy, Debug, Default)]
pub struct HistogramOptions<'a> {
    /// What each row counts (`n`).
    pub weights: Option<&'a Array>,
}

/// The counts of bins.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// The edges, one more than there are bins.
    pub edges: Vec<f64>,
    /// Column by column the count of every bin, or its sum of weights.
    pub counts: Vec<f64>,
    /// Of every column what lies in no bin: beyond the edges, or NaN.
    pub outside: Vec<f64>,
    /// What it cost.
    pub stats: Stats,
}

/// Counts the elements of every column of `x` (`n x p`) between `edges`, which ascend. One pass.
///
/// # Errors
/// Edges that do not ascend, or fewer than two; weights below 0.
pub fn histogram(
    runtime: &Arc<Runtime>,
    x: &Array,
    edges: &[f64],
    options: &HistogramOptions<'_>,
) -> Result<Histogram> {
    let x = matrix(x)?;
    // NaN is not less either.
    if edges.len() < 2 || !edges.windows(2).all(|pair| pair[0] < pair[1]) {
        return usage(format!("expected two edges or more, each greater than the one before, found {edges:?}"));
    }
    let fold = Bins { edges: edges.to_vec(), columns: columns(&x), is_weighted: options.weights.is_some() };
    let mut costs = Costs::default();
    let found = costs.one(runtime, Array::fold_rows(fold, &operands(&x, options.weights)?)?)?;
    let (counts, outside) = found.split_at(columns(&x) * (edges.len() - 1));
    let stats = costs.finish(None);
    Ok(Histogram { edges: edges.to_vec(), counts: counts.to_vec(), outside: outside.to_vec(), stats })
}

struct Bins {
    edges: Vec<f64>,
    columns: usize,
    is_weighted: bool,
}

impl RowFold for Bins {
    type State = Vec<f64>;

    fn name(&self) -> &str {
        "histogram"
    }

    fn results(&self) -> usize {
        self.columns * self.edges.len()
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn begin(&self) -> Vec<f64> {
        vec![0.0; self.results()]
    }

    fn add(&self, state: &mut Vec<f64>, block: &RowBlock<'_>) -> Result<()> {
        let weights = weights(block, self.is_weighted.then_some(1))?;
        let bins = self.edges.len() - 1;
        let last = self.edges[bins];
        let (counts, outside) = state.split_at_mut(self.columns * bins);
        for (column, values) in block.operands[0].iter().enumerate() {
            let counts = &mut counts[column * bins..][..bins];
            for (row, &value) in reals(values).iter().enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[row]);
                let place = if value == last { bins } else { self.edges.partition_point(|&edge| edge <= value) };
                match place {
                    // NaN is not greater than any edge.
                    1.. if place <= bins => counts[place - 1] += weight,
                    _ => outside[column] += weight,
                }
            }
        }
        Ok(())
    }

    fn merge(&self, state: &mut Vec<f64>, next: Vec<f64>) -> Result<()> {
        add(state, &next);
        Ok(())
    }

    fn finish(&self, state: Vec<f64>) -> Result<Vec<f64>> {
        Ok(state)
    }
}
