//! Summary statistics of columns: extremes, means, standard deviations, norms.
//!
//! *Idea.* All figures of real numbers are found in one sweep, in lanes that last from one block of a partition to the
//! next, with deviations from a pivot (`pivot.rs`). The sum of squares follows from the moments, without cancellation.
//! Figures of whole numbers, which stay exact, are folds of the engine's own. *Cost.* One pass; some 60 numbers per
//! column. NaN spreads to the results of its column.

use crate::common::{Costs, matrix, note_rounded, put, total};
use crate::declare::{Data, Declaration, Found, Plan, Table};
use crate::moments::pivot::{Since, closed, pivot_of};
use crate::phases::{Phase, bytes_of};
use outcore_array::kernel::{Element, Fold, Loop, Moments, Unary, Values as Vector, ValuesMut, widest};
use outcore_array::{Array, ElementType, Part, RowBlock, RowFold};
use outcore_declare::{Fact, Values};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;
use std::hint::black_box;
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
    moments: Moments,
    l1: f64,
    nonzeros: f64,
}

const NOTHING: Column = Column {
    min: f64::INFINITY,
    max: f64::NEG_INFINITY,
    moments: Moments { count: 0.0, mean: 0.0, m2: 0.0 },
    l1: 0.0,
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
            moments: self.moments.merge(next.moments),
            l1: self.l1 + next.l1,
            nonzeros: self.nonzeros + next.nonzeros,
        }
    }

    fn is_infinite(&self) -> bool {
        self.min == f64::NEG_INFINITY || self.max == f64::INFINITY
    }

    /// The mean. Where it is no finite number, moments that were joined are NaN, and the extremes have the sign.
    fn mean(&self) -> f64 {
        let mean = self.moments.mean;
        if mean.is_finite() { mean } else { (self.min + self.max) * f64::INFINITY }
    }

    /// The square root of the sum of squares.
    fn l2(&self) -> f64 {
        let Moments { count, mean, m2 } = self.moments;
        if self.is_infinite() { f64::INFINITY } else { (m2 + count * mean * mean).sqrt() }
    }
}

/// Numbers that are processed side by side.
const LANES: usize = 8;

/// The figures of the rows of a pivot, in lanes.
#[derive(Clone, Copy)]
struct Lanes {
    pivot: f64,
    min: [f64; LANES],
    max: [f64; LANES],
    /// Of deviations from the pivot, and of their squares.
    sums: [f64; LANES],
    squares: [f64; LANES],
    l1: [f64; LANES],
    nonzeros: [f64; LANES],
}

impl Lanes {
    fn about(pivot: f64) -> Self {
        let (min, max, zeros) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES], [0.0; LANES]);
        Lanes { pivot, min, max, sums: zeros, squares: zeros, l1: zeros, nonzeros: zeros }
    }

    /// Adds the first `count` of some numbers.
    #[inline(always)]
    fn add(&mut self, x: [f64; LANES], count: usize) {
        for lane in 0..LANES {
            self.min[lane] = if (lane < count) & (x[lane] < self.min[lane]) { x[lane] } else { self.min[lane] };
        }
        for lane in 0..LANES {
            self.max[lane] = if (lane < count) & (x[lane] > self.max[lane]) { x[lane] } else { self.max[lane] };
        }
        let mut deviations = [0.0; LANES];
        for lane in 0..LANES {
            deviations[lane] = if lane < count { x[lane] - self.pivot } else { 0.0 };
        }
        for lane in 0..LANES {
            self.sums[lane] += deviations[lane];
        }
        for lane in 0..LANES {
            self.squares[lane] += deviations[lane] * deviations[lane];
        }
        for lane in 0..LANES {
            self.l1[lane] += if lane < count { x[lane].abs() } else { 0.0 };
        }
        for lane in 0..LANES {
            self.nonzeros[lane] += if (lane < count) & (x[lane] != 0.0) { 1.0 } else { 0.0 };
        }
    }

    /// The figures of `count` rows.
    fn closed(&self, count: f64) -> Column {
        let (mean, m2) = closed(self.pivot, count, total(&self.sums), total(&self.squares));
        // Comparisons with NaN are false, so that these went past the extremes; a sum of sizes has no other NaN.
        let l1 = total(&self.l1);
        let extreme = |number: f64| if l1.is_nan() { f64::NAN } else { number };
        Column {
            min: extreme(self.min.iter().fold(f64::INFINITY, |least, &x| least.min(x))),
            max: extreme(self.max.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x))),
            moments: Moments { count, mean, m2 },
            l1,
            nonzeros: total(&self.nonzeros),
        }
    }
}

/// Adds a vector to the figures of its column.
struct Sweep<'a, T> {
    x: &'a [T],
    lanes: &'a mut Lanes,
}

impl<T: Element + Into<f64>> Loop for Sweep<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut lanes, (chunks, rest)) = (*self.lanes, self.x.as_chunks::<LANES>());
        for chunk in chunks {
            let mut x = [0.0; LANES];
            for lane in 0..LANES {
                x[lane] = chunk[lane].into();
            }
            lanes.add(x, LANES);
        }
        if !rest.is_empty() {
            let mut x = [0.0; LANES];
            x.iter_mut().zip(rest).for_each(|(to, &x)| *to = x.into());
            // Lanes that are known to be empty would keep all of them from being one vector.
            lanes.add(black_box(x), black_box(rest.len()));
        }
        *self.lanes = lanes;
    }
}

/// Figures of the rows so far.
struct Folded {
    columns: Vec<Column>,
    /// The rows that are not in `columns` yet, and their figures.
    since: Since,
    lanes: Vec<Lanes>,
}

impl Folded {
    /// Merges the figures since the last pivots with those before.
    fn end(&mut self) {
        let since = std::mem::take(&mut self.since);
        if since.weight > 0.0 {
            let pairs = self.columns.iter_mut().zip(&self.lanes);
            pairs.for_each(|(column, lanes)| *column = column.merge(lanes.closed(since.weight)));
        }
    }
}

impl RowFold for Figures {
    type State = Folded;

    fn name(&self) -> &str {
        "figures"
    }

    fn results(&self) -> usize {
        7 * self.columns
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        (self.columns * (size_of::<Column>() + size_of::<Lanes>())) as u64
    }

    fn begin(&self) -> Folded {
        Folded { columns: vec![NOTHING; self.columns], since: Since::default(), lanes: Vec::new() }
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        let columns = &block.operands[0];
        if state.since.is_over(false) {
            state.end();
            state.lanes.clear();
            state.lanes.extend(columns.iter().map(|values| Lanes::about(pivot_of(values, None, block.rows as f64))));
        }
        state.since.add(block.rows as f64);
        for (lanes, values) in state.lanes.iter_mut().zip(columns) {
            match *values {
                Vector::Float64(x) => widest(Sweep { x, lanes }),
                Vector::Float32(x) => widest(Sweep { x, lanes }),
                _ => unreachable!("elements are real numbers"),
            }
        }
        Ok(())
    }

    fn close(&self, state: &mut Folded) -> Result<()> {
        state.end();
        state.lanes = Vec::new();
        Ok(())
    }

    fn merge(&self, state: &mut Folded, next: Folded) -> Result<()> {
        state.columns.iter_mut().zip(next.columns).for_each(|(column, next)| *column = column.merge(next));
        Ok(())
    }

    fn finish(&self, Folded { columns, .. }: Folded, result: ValuesMut<'_>) -> Result<()> {
        let figures: [fn(&Column) -> f64; 7] = [
            |column| column.min,
            |column| column.max,
            Column::mean,
            |column| (column.moments.m2 / (column.moments.count - 1.0)).sqrt(),
            |column| column.l1,
            Column::l2,
            |column| column.nonzeros,
        ];
        put(&figures.iter().flat_map(|figure| columns.iter().map(figure)).collect::<Vec<_>>(), result)
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
