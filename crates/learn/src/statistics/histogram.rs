//! Histograms: number of elements of each column between given edges.
//!
//! Bins are half-open but for the last one, which has both of its edges, as NumPy has it. *Cost.* One pass, `log b`
//! comparisons per element; `p b` numbers.

use crate::common::{Costs, columns, matrix, operands, reals, sum_rows, usage};
use crate::declare::{Data, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable};
use crate::phases::{Phase, bytes_of};
use outcore_array::kernel::Fold;
use outcore_array::{Array, AxisPart, ElementType};
use outcore_declare::{DefaultValue, Fact, Kind, OptionValues, Parameter};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Options of [`histogram`].
#[derive(Clone, Copy, Debug, Default)]
pub struct HistogramOptions<'a> {
    /// Weight of each row (`n`).
    pub weights: Option<&'a Array>,
}

/// The counts of bins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// The edges, one more than there are bins.
    pub edges: Vec<f64>,
    /// Column by column the count of every bin, or its sum of weights.
    pub counts: Vec<f64>,
    /// For every column the count of elements in no bin, which are beyond the edges or NaN, or their sum of weights.
    pub outside: Vec<f64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Counts the elements of every column of `x` (`n x p`) between `edges`, which do not fall. One pass.
///
/// # Errors
/// Edges that fall, or fewer than two; weights below 0.
pub fn histogram(runtime: &Runtime, x: &Array, edges: &[f64], options: &HistogramOptions<'_>) -> Result<Histogram> {
    let x = matrix(x)?;
    let mut costs = Costs::default();
    let found = costs.one(runtime, lazy_bins(&x, edges, options.weights)?)?;
    let (counts, outside) = found.split_at(columns(&x) * (edges.len() - 1));
    let stats = costs.finish(None);
    Ok(Histogram { edges: edges.to_vec(), counts: counts.to_vec(), outside: outside.to_vec(), stats })
}

/// The counts of the bins between `edges` of every column of a matrix (`p x b`), lazily. One pass.
///
/// # Errors
/// Those of [`histogram`].
pub fn bins(x: &Array, edges: &[f64]) -> Result<Array> {
    let x = x.cast(ElementType::Float64)?;
    let found = lazy_bins(&x, edges, None)?;
    let (p, bins) = (x.shape()[1], edges.len() as u64 - 1);
    found.slice(&[Some(AxisPart::Range { start: 0, step: 1, count: p * bins })])?.reshape(&[p, bins])
}

/// The counts of bins, and of what lies in none, of a matrix of float64.
pub(crate) fn lazy_bins(x: &Array, edges: &[f64], weights: Option<&Array>) -> Result<Array> {
    // NaN is not less either.
    if edges.len() < 2 || !edges.windows(2).all(|pair| pair[0] <= pair[1]) {
        return usage(format!("expected two edges or more, none less than the one before, found {edges:?}"));
    }
    let (edges, columns, is_weighted) = (edges.to_vec(), columns(x), weights.is_some());
    let operands = operands(x, None, weights)?;
    sum_rows("histogram", columns * edges.len(), 0, &operands, move |sums, _, block| {
        let weights = crate::common::weights(block, is_weighted.then_some(1))?;
        let bins = edges.len() - 1;
        let last = edges[bins];
        let (counts, outside) = sums.split_at_mut(columns * bins);
        for (column, values) in block.operands[0].iter().enumerate() {
            let counts = &mut counts[column * bins..][..bins];
            for (row, &value) in reals(values).iter().enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[row]);
                let place = if value == last { bins } else { edges.partition_point(|&edge| edge <= value) };
                match place {
                    // NaN is not greater than any edge.
                    1.. if place <= bins => counts[place - 1] += weight,
                    _ => outside[column] += weight,
                }
            }
        }
        Ok(())
    })
}

pub(crate) static HISTOGRAM: StatisticDeclaration = StatisticDeclaration {
    options: &[
        Parameter::count("bins", 10, "How many bins, all as wide"),
        Parameter::new(
            "range",
            Kind::Reals,
            DefaultValue::None,
            "The ends of the first and the last bin; if not given, the least and greatest of all elements, found by a \
             pass more",
        ),
    ],
    ..StatisticDeclaration::new(
        "histogram",
        "How many elements of every column lie in each of several bins",
        "a row for each bin, with its ends and the counts of all columns",
        plan,
    )
};

/// The most bins: more are a mistake.
const MOST_BINS: usize = 1 << 24;

fn plan(data: &Data, values: OptionValues) -> Result<StatisticPlan> {
    let (x, names, rows, count) = (matrix(&data.array)?, data.names.clone(), data.rows(), values.size("bins"));
    let range = match values.some_reals("range") {
        None => None,
        Some(&[low, high]) if low <= high && (high - low).is_finite() => Some([low, high]),
        Some(other) => return usage(format!("expected range as two finite numbers that do not fall, found {other:?}")),
    };
    if count > MOST_BINS {
        return usage(format!("expected at most {MOST_BINS} bins, found {count}"));
    }
    let result_bytes = bytes_of(32, &[count, columns(&x) + 2]);
    let pass = vec![lazy_bins(&x, &even_edges(count, range.unwrap_or([0.0, 1.0])), None)?];
    let phases = vec![Phase::pass(pass, result_bytes)];
    let labels = (0..count).map(|bin| bin.to_string()).collect();
    let names: Vec<String> = ["from".to_owned(), "to".to_owned()].into_iter().chain(names).collect();
    let empty = StatisticTable { labels: ("bin", labels), names, columns: Vec::new() };
    let output = empty.shape();
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let mut costs = Costs::default();
        let range = match range {
            Some(range) => range,
            None => {
                let all = [x.fold(Fold::Min, &[0, 1], false)?, x.fold(Fold::Max, &[0, 1], false)?];
                let found = costs.compute(runtime, &all)?.concat();
                if !(found[1] - found[0]).is_finite() {
                    let ends = format!("{} to {}", found[0], found[1]);
                    return usage(format!("expected finite elements, or the option range, found {ends}"));
                }
                [found[0], found[1]]
            }
        };
        let found = histogram(runtime, &x, &even_edges(count, range), &HistogramOptions::default())?;
        costs.include(found.stats);
        let mut columns = vec![found.edges[..count].to_vec(), found.edges[1..].to_vec()];
        columns.extend(found.counts.chunks_exact(count).map(<[f64]>::to_vec));
        let outside: f64 = found.outside.iter().sum();
        let lines = vec![format!("{rows} rows, {outside} elements in no bin")];
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(empty.names[2..].to_vec())),
            ("edges", Fact::vector(&found.edges)),
            ("counts", Fact::matrix(&found.counts, empty.names.len() - 2)),
            ("outside", Fact::vector(&found.outside)),
        ];
        let table = StatisticTable { columns, ..empty.clone() };
        Ok(StatisticFinding { lines, table, facts, rows: None, unconverged: None, stats: costs.finish(None) })
    };
    let passes = if values.some_reals("range").is_some() { "1" } else { "2" };
    let columns = data.names.clone();
    Ok(StatisticPlan {
        phases,
        result_bytes,
        passes: passes.to_owned(),
        output,
        rows: None,
        columns,
        run: Box::new(run),
    })
}

/// The edges of bins of one width, as NumPy has them: around one value the range is as wide as 1.
fn even_edges(bins: usize, [low, high]: [f64; 2]) -> Vec<f64> {
    let [low, high] = if low == high { [low - 0.5, high + 0.5] } else { [low, high] };
    let step = (high - low) / bins as f64;
    (0..=bins).map(|edge| if edge == bins { high } else { edge as f64 * step + low }).collect()
}
