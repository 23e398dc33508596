//! Summary statistics of columns: extremes, means, standard deviations, norms.
//!
//! *Idea.* A vector of real numbers stays in the first level of the cache while all figures are found, in two sweeps,
//! of which the second finds deviations from its mean. Those of whole numbers, which stay exact, are folds of the
//! engine's own. *Cost.* One pass; 9 numbers per column. NaN spreads to the results of its column.

use crate::common::{Costs, matrix, note_rounded, put};
use crate::declare::{Data, Declaration, Found, Plan, Table};
use crate::phases::{Phase, bytes_of};
use outcore_array::kernel::{Element, Fold, Loop, Moments, Unary, Values as Vector, ValuesMut, widest};
use outcore_array::{Array, ElementType, Part, RowBlock, RowFold};
use outcore_declare::{Fact, Values};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;
use std::sync::Arc;

/// Statistics of every column of a matrix.
#[derive(Clone, Debug)]
pub struct Description {
    /// Number of rows.
    pub count: u64,
    /// The least elements.
    pub min: Vec<f64>,
    /// The greatest elements.
    pub max: Vec<f64>,
    /// The means.
    pub mean: Vec<f64>,
    /// The standard deviations, by the count less 1; NaN of a single row.
    pub deviation: Vec<f64>,
    /// The sums of absolute values.
    pub l1: Vec<f64>,
    /// The square roots of sums of squares.
    pub l2: Vec<f64>,
    /// Number of nonzero elements.
    pub nonzeros: Vec<u64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The arrays that describe every column of a vector or matrix, lazily: the least and greatest elements, in the type of
/// the array; means, standard deviations by the count less 1, sums of absolute values and square roots of sums of
/// squares, in its type or float64; counts of what differs from 0.
///
/// # Errors
/// An array without rows; elements of bool.
pub fn figures(x: &Array) -> Result<[Array; 7]> {
    let is_read_along_rows = x.long_axis().is_none_or(|axis| axis == 0);
    if x.element().is_real() && (1..=2).contains(&x.axes()) && x.shape()[0] > 0 && is_read_along_rows {
        let of_columns = &x.shape()[1..];
        let columns: u64 = of_columns.iter().product();
        let all = Array::fold_rows(Figures { columns: columns as usize }, std::slice::from_ref(x))?;
        let figure = |place: usize| {
            let part = Part::Range { start: (place as u64 * columns) as i64, step: 1, count: columns };
            let element = if place == 6 { ElementType::Int64 } else { x.element() };
            all.slice(&[Some(part)])?.reshape(of_columns)?.cast(element)
        };
        return Ok([figure(0)?, figure(1)?, figure(2)?, figure(3)?, figure(4)?, figure(5)?, figure(6)?]);
    }
    let real = if x.element().is_real() { x.clone() } else { x.cast(ElementType::Float64)? };
    let sum = |array: Array| array.fold(Fold::Sum, &[0], false);
    Ok([
        x.fold(Fold::Min, &[0], false)?,
        x.fold(Fold::Max, &[0], false)?,
        x.mean(&[0], false)?,
        x.deviation(&[0], 1.0, false)?,
        sum(real.unary(Unary::Abs)?)?,
        sum(real.unary(Unary::Square)?)?.unary(Unary::Sqrt)?,
        sum(x.cast(ElementType::Bool)?)?,
    ])
}

/// The fold of real numbers: figures of all columns, one after the other.
struct Figures {
    columns: usize,
}

/// The figures of some numbers.
#[derive(Clone, Copy)]
struct Column {
    min: f64,
    max: f64,
    /// The sum, which is infinite where moments of infinities are NaN.
    sum: f64,
    moments: Moments,
    l1: f64,
    squares: f64,
    nonzeros: f64,
}

const NOTHING: Column = Column {
    min: f64::INFINITY,
    max: f64::NEG_INFINITY,
    sum: 0.0,
    moments: Moments { count: 0.0, mean: 0.0, m2: 0.0 },
    l1: 0.0,
    squares: 0.0,
    nonzeros: 0.0,
};

impl Column {
    fn merge(self, next: Column) -> Column {
        // `min` and `max` of the standard library drop NaN.
        let has_nan = self.min.is_nan() || next.min.is_nan();
        let of = |number: f64| if has_nan { f64::NAN } else { number };
        Column {
            min: of(self.min.min(next.min)),
            max: of(self.max.max(next.max)),
            sum: self.sum + next.sum,
            moments: self.moments.merge(next.moments),
            l1: self.l1 + next.l1,
            squares: self.squares + next.squares,
            nonzeros: self.nonzeros + next.nonzeros,
        }
    }
}

/// Numbers that are processed side by side.
const LANES: usize = 16;

struct Sweeps<'a, T> {
    x: &'a [T],
}

impl<T: Element + Into<f64>> Loop for Sweeps<'_, T> {
    type Output = Column;

    #[inline(always)]
    fn run(self) -> Column {
        let (chunks, rest) = self.x.as_chunks::<LANES>();
        let (mut min, mut max) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let [mut sum, mut l1, mut squares, mut nonzeros] = [[0.0; LANES]; 4];
        let mut add = |lane: usize, x: f64| {
            min[lane] = if x < min[lane] { x } else { min[lane] };
            max[lane] = if x > max[lane] { x } else { max[lane] };
            sum[lane] += x;
            l1[lane] += x.abs();
            squares[lane] += x * x;
            nonzeros[lane] += if x != 0.0 { 1.0 } else { 0.0 };
        };
        for chunk in chunks {
            for (lane, &x) in chunk.iter().enumerate() {
                add(lane, x.into());
            }
        }
        for (lane, &x) in rest.iter().enumerate() {
            add(lane, x.into());
        }
        let total = |lanes: [f64; LANES]| lanes.iter().sum::<f64>();
        let (count, sum) = (self.x.len() as f64, total(sum));
        let (mean, mut m2) = (sum / count, [0.0; LANES]);
        for chunk in chunks {
            for lane in 0..LANES {
                let deviation = Into::<f64>::into(chunk[lane]) - mean;
                m2[lane] += deviation * deviation;
            }
        }
        for (lane, &x) in rest.iter().enumerate() {
            let deviation = Into::<f64>::into(x) - mean;
            m2[lane] += deviation * deviation;
        }
        // Comparisons with NaN are false, so that these went past the extremes.
        let has_nan = sum.is_nan() && self.x.iter().any(|&x| Into::<f64>::into(x).is_nan());
        let extreme = |number: f64| if has_nan { f64::NAN } else { number };
        Column {
            min: extreme(min.iter().fold(f64::INFINITY, |least, &x| least.min(x))),
            max: extreme(max.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x))),
            sum,
            moments: Moments { count, mean, m2: total(m2) },
            l1: total(l1),
            squares: total(squares),
            nonzeros: total(nonzeros),
        }
    }
}

impl RowFold for Figures {
    type State = Vec<Column>;

    fn name(&self) -> &str {
        "figures"
    }

    fn results(&self) -> usize {
        7 * self.columns
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        (self.columns * size_of::<Column>()) as u64
    }

    fn begin(&self) -> Vec<Column> {
        vec![NOTHING; self.columns]
    }

    fn add(&self, state: &mut Vec<Column>, block: &RowBlock<'_>) -> Result<()> {
        for (column, values) in state.iter_mut().zip(&block.operands[0]) {
            *column = column.merge(match values {
                Vector::Float64(x) => widest(Sweeps { x }),
                Vector::Float32(x) => widest(Sweeps { x }),
                _ => unreachable!("elements are real numbers"),
            });
        }
        Ok(())
    }

    fn merge(&self, state: &mut Vec<Column>, next: Vec<Column>) -> Result<()> {
        state.iter_mut().zip(next).for_each(|(column, next)| *column = column.merge(next));
        Ok(())
    }

    fn finish(&self, state: Vec<Column>, result: ValuesMut<'_>) -> Result<()> {
        let figures: [fn(&Column) -> f64; 7] = [
            |column| column.min,
            |column| column.max,
            |column| column.sum / column.moments.count,
            |column| (column.moments.m2 / (column.moments.count - 1.0)).sqrt(),
            |column| column.l1,
            |column| column.squares.sqrt(),
            |column| column.nonzeros,
        ];
        put(&figures.iter().flat_map(|figure| state.iter().map(figure)).collect::<Vec<_>>(), result)
    }
}

/// Describes the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// An array that is no vector or matrix, or is empty; what [`outcore_array::compute`] refuses.
pub fn describe(runtime: &Arc<Runtime>, x: &Array) -> Result<Description> {
    let x = matrix(x)?;
    let mut all = figures(&x)?;
    all[6] = all[6].cast(ElementType::Float64)?;
    let mut costs = Costs::default();
    let figures = <[Vec<f64>; 7]>::try_from(costs.compute(runtime, &all)?);
    let [min, max, mean, deviation, l1, l2, nonzeros] = figures.expect("seven results");
    let nonzeros = nonzeros.iter().map(|&count| count as u64).collect();
    let (count, stats) = (x.shape()[0], costs.finish(None));
    Ok(Description { count, min, max, mean, deviation, l1, l2, nonzeros, stats })
}

pub(crate) static DESCRIBE: Declaration = Declaration::new(
    "describe",
    "Extremes, mean, standard deviation, norms and non-zeros of every column, in one pass",
    "a row for each column",
    plan,
);

fn plan(data: &Data, _: Values) -> Result<Plan> {
    const FIGURES: [&str; 7] = ["min", "max", "mean", "std", "l1", "l2", "nonzeros"];
    let (x, columns) = (data.array.clone(), data.names.clone());
    let table = move |figures| Table {
        labels: ("column", columns.clone()),
        names: FIGURES.map(str::to_owned).to_vec(),
        columns: figures,
    };
    let result_bytes = bytes_of(240, &[data.names.len()]);
    let phases = vec![Phase::pass(figures(&matrix(&x)?)?.to_vec(), result_bytes)];
    let output = table(Vec::new()).shape();
    let run = move |runtime: &Arc<Runtime>| -> Result<Found> {
        let found = describe(runtime, &x)?;
        let nonzeros = found.nonzeros.iter().map(|&count| count as f64).collect();
        let table = table(vec![found.min, found.max, found.mean, found.deviation, found.l1, found.l2, nonzeros]);
        note_rounded(runtime, &x, &table.labels.1, &table.columns[..2].concat());
        let mut facts = vec![("rows", Fact::Whole(found.count)), ("columns", Fact::Names(table.labels.1.clone()))];
        facts.extend(FIGURES.into_iter().zip(table.columns.iter().map(|column| Fact::vector(column))));
        let (lines, stats) = (vec![format!("{} rows", found.count)], found.stats);
        Ok(Found { lines, table, facts, rows: None, unconverged: None, stats })
    };
    let columns = data.names.clone();
    Ok(Plan { phases, result_bytes, passes: "1".to_owned(), output, rows: None, columns, run: Box::new(run) })
}
