//! Summary statistics of columns: extremes, means, standard deviations, norms.
//!
//! *Idea.* All figures of real numbers are found in one sweep, in lanes that last from one block of a partition to the
//! next, with deviations from a pivot (`pivot.rs`). The sum of squares follows from the moments, without cancellation.
//! Figures of whole numbers, which stay exact, are folds of the engine's own. *Missing values.* NaN is counted and left
//! out of the other figures. *Cost.* One pass; some 70 numbers per column.
#![allow(clippy::needless_range_loop)] // why: lanes of several arrays are indexed side by side

use crate::common::{Costs, matrix, note_rounded, put, reals, total};
use crate::declare::{Data, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable};
use crate::moments::pivot::{Since, closed, pivot};
use crate::phases::{Phase, bytes_of};
use outcore_array::kernel::{Binary, Element, Fold, Loop, Moments, Scalar, Unary, Values as Vector, ValuesMut, widest};
use outcore_array::{Array, AxisPart, ElementType, RowBlock, RowFold};
use outcore_declare::{Fact, OptionValues};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;
use std::hint::black_box;

/// The names of the figures, and the place of the first that is a count.
const FIGURES: [&str; 8] = ["min", "max", "mean", "std", "l1", "l2", "nonzeros", "missing"];
const COUNTS: usize = 6;

/// Statistics of every column of a matrix.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// Number of rows.
    pub count: u64,
    /// The least elements.
    pub min: Vec<f64>,
    /// The greatest elements.
    pub max: Vec<f64>,
    /// The means.
    pub mean: Vec<f64>,
    /// The standard deviations, by the count of numbers less 1; NaN of a single one.
    pub deviation: Vec<f64>,
    /// The sums of absolute values.
    pub l1: Vec<f64>,
    /// The square roots of sums of squares.
    pub l2: Vec<f64>,
    /// Number of nonzero elements.
    pub nonzeros: Vec<u64>,
    /// Number of missing elements, which are NaN. All figures above are of the others: where there are none, extremes,
    /// means and deviations are NaN, and sums are 0.
    pub missing: Vec<u64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The arrays that describe every column of a vector or matrix, lazily: the least and greatest elements, in the type of
/// the array; means, standard deviations by the count less 1, sums of absolute values and square roots of sums of
/// squares, in its type or float64; counts of what differs from 0, and of what is missing, which is left out of all
/// others.
///
/// # Errors
/// An array without rows; elements of bool.
pub fn figures(x: &Array) -> Result<[Array; FIGURES.len()]> {
    let is_read_along_rows = x.long_axis().is_none_or(|axis| axis == 0);
    if x.element().is_real() && (1..=2).contains(&x.axes()) && x.shape()[0] > 0 && is_read_along_rows {
        let of_columns = &x.shape()[1..];
        let columns: u64 = of_columns.iter().product();
        let all = Array::fold_rows(Figures { columns: columns as usize }, std::slice::from_ref(x))?;
        let figure = |place: usize| {
            let part = AxisPart::Range { start: (place as u64 * columns) as i64, step: 1, count: columns };
            let element = if place >= COUNTS { ElementType::Int64 } else { x.element() };
            all.slice(&[Some(part)])?.reshape(of_columns)?.cast(element)
        };
        return Ok([figure(0)?, figure(1)?, figure(2)?, figure(3)?, figure(4)?, figure(5)?, figure(6)?, figure(7)?]);
    }
    if x.element().is_real() {
        return figures_across(x);
    }
    let real = x.cast(ElementType::Float64)?;
    let sum = |array: Array| array.fold(Fold::Sum, &[0], false);
    Ok([
        x.fold(Fold::Min, &[0], false)?,
        x.fold(Fold::Max, &[0], false)?,
        x.mean(&[0], false)?,
        x.deviation(&[0], 1.0, false)?,
        sum(real.unary(Unary::Abs)?)?,
        sum(real.unary(Unary::Square)?)?.unary(Unary::Sqrt)?,
        sum(x.cast(ElementType::Bool)?)?,
        Array::full(x.shape()[1..].to_vec(), Scalar::Int64(0))?,
    ])
}

/// [`figures`] of real numbers that are read across their columns.
fn figures_across(x: &Array) -> Result<[Array; FIGURES.len()]> {
    let number = |value: f64| Array::scalar(Scalar::Float64(value));
    let sum = |array: Array| array.fold(Fold::Sum, &[0], false);
    let wide = x.cast(ElementType::Float64)?;
    let is_missing = x.unary(Unary::Isnan)?;
    let instead = |value: f64| is_missing.select(&number(value), &wide);
    let missing = sum(is_missing.clone())?;
    let count = number(x.shape()[0] as f64).binary(Binary::Subtract, &missing.cast(ElementType::Float64)?)?;
    let is_there = count.cast(ElementType::Bool)?;
    let real = |figure: Array| is_there.select(&figure, &number(f64::NAN))?.cast(x.element());
    let numbers = instead(0.0)?;
    let mean = sum(numbers.clone())?.binary(Binary::Divide, &count)?;
    let distances = is_missing.select(&number(0.0), &wide.binary(Binary::Subtract, &mean.with_axis(0)?)?)?;
    let others = count.binary(Binary::Subtract, &number(1.0))?;
    let variance = sum(distances.unary(Unary::Square)?)?.binary(Binary::Divide, &others)?;
    Ok([
        real(instead(f64::INFINITY)?.fold(Fold::Min, &[0], false)?)?,
        real(instead(f64::NEG_INFINITY)?.fold(Fold::Max, &[0], false)?)?,
        real(mean)?,
        real(variance.unary(Unary::Sqrt)?)?,
        sum(numbers.unary(Unary::Abs)?)?.cast(x.element())?,
        sum(numbers.unary(Unary::Square)?)?.unary(Unary::Sqrt)?.cast(x.element())?,
        sum(numbers.cast(ElementType::Bool)?)?,
        missing,
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
    missing: f64,
}

const NOTHING: Column = Column {
    min: f64::INFINITY,
    max: f64::NEG_INFINITY,
    moments: Moments { count: 0.0, mean: 0.0, m2: 0.0 },
    l1: 0.0,
    nonzeros: 0.0,
    missing: 0.0,
};

impl Column {
    fn merge(self, next: Column) -> Column {
        Column {
            min: self.min.min(next.min),
            max: self.max.max(next.max),
            moments: self.moments.merge(next.moments),
            l1: self.l1 + next.l1,
            nonzeros: self.nonzeros + next.nonzeros,
            missing: self.missing + next.missing,
        }
    }

    fn is_infinite(&self) -> bool {
        self.min == f64::NEG_INFINITY || self.max == f64::INFINITY
    }

    /// A figure that there is of at least so many numbers.
    fn of(&self, least: f64, figure: f64) -> f64 {
        if self.moments.count >= least { figure } else { f64::NAN }
    }

    /// The mean. Of infinities, moments that were joined are NaN, and the extremes have the sign.
    fn mean(&self) -> f64 {
        let mean = self.moments.mean;
        self.of(1.0, if self.is_infinite() { (self.min + self.max) * f64::INFINITY } else { mean })
    }

    /// The standard deviation.
    fn deviation(&self) -> f64 {
        self.of(2.0, (self.moments.m2 / (self.moments.count - 1.0)).sqrt())
    }

    /// The square root of the sum of squares.
    fn l2(&self) -> f64 {
        let Moments { count, mean, m2 } = self.moments;
        if mean.is_finite() { (m2 + count * mean * mean).sqrt() } else { f64::INFINITY }
    }
}

/// Numbers that are processed side by side.
const LANES: usize = 8;

/// The figures of the rows of a pivot, in lanes.
#[derive(Clone, Copy)]
struct Lanes {
    /// NaN until there is a number.
    pivot: f64,
    min: [f64; LANES],
    max: [f64; LANES],
    /// Sums of deviations from the pivot, and of their squares.
    sums: [f64; LANES],
    squares: [f64; LANES],
    l1: [f64; LANES],
    nonzeros: [f64; LANES],
    missing: [f64; LANES],
}

impl Lanes {
    fn about(pivot: f64) -> Self {
        let (min, max, zeros) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES], [0.0; LANES]);
        Lanes { pivot, min, max, sums: zeros, squares: zeros, l1: zeros, nonzeros: zeros, missing: zeros }
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
            deviations[lane] = if (lane < count) & !x[lane].is_nan() { x[lane] - self.pivot } else { 0.0 };
        }
        for lane in 0..LANES {
            self.sums[lane] += deviations[lane];
        }
        for lane in 0..LANES {
            self.squares[lane] += deviations[lane] * deviations[lane];
        }
        for lane in 0..LANES {
            self.l1[lane] += if (lane < count) & !x[lane].is_nan() { x[lane].abs() } else { 0.0 };
        }
        for lane in 0..LANES {
            self.nonzeros[lane] += if (lane < count) & (x[lane].abs() > 0.0) { 1.0 } else { 0.0 };
        }
        for lane in 0..LANES {
            self.missing[lane] += if (lane < count) & x[lane].is_nan() { 1.0 } else { 0.0 };
        }
    }

    /// The figures of so many rows.
    fn closed(&self, rows: f64) -> Column {
        let missing = total(&self.missing);
        let count = rows - missing;
        if count == 0.0 {
            return Column { missing, ..NOTHING };
        }
        let (mean, m2) = closed(self.pivot, count, total(&self.sums), total(&self.squares));
        Column {
            // Comparisons with NaN are false.
            min: self.min.iter().fold(f64::INFINITY, |least, &x| least.min(x)),
            max: self.max.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x)),
            moments: Moments { count, mean, m2 },
            l1: total(&self.l1),
            nonzeros: total(&self.nonzeros),
            missing,
        }
    }
}

/// The pivot of a vector: the mean of its numbers, NaN if there are none, 0 if it is no finite number.
fn pivot_of_numbers(values: &Vector<'_>) -> f64 {
    let mut numbers: Vec<f64> = match values {
        Vector::Float32(values) => values.iter().map(|&value| value.into()).collect(),
        values => reals(values).to_vec(),
    };
    numbers.retain(|number| !number.is_nan());
    if numbers.is_empty() { f64::NAN } else { pivot(&numbers, None, numbers.len() as f64) }
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
        FIGURES.len() * self.columns
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        (self.columns * (size_of::<Column>() + size_of::<Lanes>())) as u64
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        (self.columns * size_of::<Column>()) as u64
    }

    fn begin(&self) -> Folded {
        Folded { columns: vec![NOTHING; self.columns], since: Since::default(), lanes: Vec::new() }
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        let columns = &block.operands[0];
        if state.since.is_over(false) {
            state.end();
            state.lanes.clear();
            state.lanes.extend(columns.iter().map(|_| Lanes::about(f64::NAN)));
        }
        state.since.add(block.rows as f64);
        for (lanes, values) in state.lanes.iter_mut().zip(columns) {
            if lanes.pivot.is_nan() {
                lanes.pivot = pivot_of_numbers(values);
            }
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
        let figures: [fn(&Column) -> f64; FIGURES.len()] = [
            |column| column.of(1.0, column.min),
            |column| column.of(1.0, column.max),
            Column::mean,
            Column::deviation,
            |column| column.l1,
            Column::l2,
            |column| column.nonzeros,
            |column| column.missing,
        ];
        put(&figures.iter().flat_map(|figure| columns.iter().map(figure)).collect::<Vec<_>>(), result)
    }
}

/// Describes the columns of `x` (`n x p`). One pass.
///
/// # Errors
/// An array that is no vector or matrix, or is empty; what [`compute`](outcore_array::compute) refuses.
pub fn describe(runtime: &Runtime, x: &Array) -> Result<Description> {
    let x = matrix(x)?;
    let mut all = figures(&x)?;
    for counts in &mut all[COUNTS..] {
        *counts = counts.cast(ElementType::Float64)?;
    }
    let mut costs = Costs::default();
    let figures = <[Vec<f64>; FIGURES.len()]>::try_from(costs.compute(runtime, &all)?);
    let [min, max, mean, deviation, l1, l2, nonzeros, missing] = figures.expect("a result for each figure");
    let [nonzeros, missing] = [nonzeros, missing].map(|counts| counts.iter().map(|&count| count as u64).collect());
    let (count, stats) = (x.shape()[0], costs.finish(None));
    Ok(Description { count, min, max, mean, deviation, l1, l2, nonzeros, missing, stats })
}

pub(crate) static DESCRIBE: StatisticDeclaration = StatisticDeclaration::new(
    "describe",
    "Extremes, mean, standard deviation, norms, non-zeros and missing values of every column, in one pass",
    "a row for each column",
    plan,
);

fn plan(data: &Data, _: OptionValues) -> Result<StatisticPlan> {
    let (x, columns) = (data.array.clone(), data.names.clone());
    let table = move |figures| StatisticTable {
        labels: ("column", columns.clone()),
        names: FIGURES.map(str::to_owned).to_vec(),
        columns: figures,
    };
    let result_bytes = bytes_of(272, &[data.names.len()]);
    let phases = vec![Phase::pass(figures(&matrix(&x)?)?.to_vec(), result_bytes)];
    let output = table(Vec::new()).shape();
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let found = describe(runtime, &x)?;
        let [nonzeros, missing] =
            [found.nonzeros, found.missing].map(|counts| counts.iter().map(|&count| count as f64).collect());
        let Description { min, max, mean, deviation, l1, l2, .. } = found;
        let table = table(vec![min, max, mean, deviation, l1, l2, nonzeros, missing]);
        note_rounded(runtime, &x, &table.labels.1, &table.columns[..2].concat());
        let mut facts = vec![("rows", Fact::Whole(found.count)), ("columns", Fact::Names(table.labels.1.clone()))];
        facts.extend(FIGURES.into_iter().zip(table.columns.iter().map(|column| Fact::vector(column))));
        let (lines, stats) = (vec![format!("{} rows", found.count)], found.stats);
        Ok(StatisticFinding { lines, table, facts, rows: None, unconverged: None, stats })
    };
    let columns = data.names.clone();
    Ok(StatisticPlan { phases, result_bytes, passes: "1".to_owned(), output, rows: None, columns, run: Box::new(run) })
}
