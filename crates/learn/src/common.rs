//! Shared by all models: checked operands, packed blocks of rows, results as numbers, small matrices.

use faer::{Accum, MatMut, MatRef, Par};
use outcore_array::kernel::{self, Element as _, Fold, Loop, Scalar, Values, ValuesMut, widest};
use outcore_array::{Array, Computed, ElementFunction, ElementType, Goal, InMemory, RowBlock, RowFold, compute};
use outcore_image::{Error, Result, Stats};
use outcore_io::{Runtime, SPLIT_MIX_STEP, split_mix};
use std::sync::Arc;

/// The error for an option or an array that cannot be.
pub(crate) fn usage<T>(text: impl Into<String>) -> Result<T> {
    Err(Error::Usage(text.into()))
}

/// A matrix of observations as float64; a vector is one of one column.
pub(crate) fn matrix(x: &Array) -> Result<Array> {
    let x = match x.axes() {
        1 => x.with_axis(1)?,
        2 => x.clone(),
        axes => return usage(format!("expected a matrix of observations, found {axes} axes")),
    };
    if x.shape().contains(&0) {
        return usage(format!("expected observations of at least one variable, found shape {:?}", x.shape()));
    }
    x.cast(ElementType::Float64)
}

/// Notes whole numbers beyond 2^53, which real numbers show rounded. `shown` has numbers of all columns of `x` in turn.
pub(crate) fn note_rounded(runtime: &Runtime, x: &Array, names: &[String], shown: &[f64]) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_wide = matches!(x.element(), ElementType::Int64 | ElementType::UInt64);
    if let Some(place) = shown.iter().position(|number| number.abs() >= EXACT).filter(|_| is_wide) {
        runtime.note(format!(
            "Whole numbers beyond 2^53 are shown rounded to float64, in column `{}` first: oc.array.min and \
             oc.array.max in Python are exact",
            names[place % names.len()]
        ));
    }
}

pub(crate) fn columns(x: &Array) -> usize {
    x.shape()[1] as usize
}

/// A vector of as many numbers as there are observations, as float64.
pub(crate) fn vector(x: &Array, vector: &Array, name: &str) -> Result<Array> {
    if vector.shape() != [x.shape()[0]] {
        let found = vector.shape();
        return usage(format!("expected a vector of {} {name}, found shape {found:?}", x.shape()[0]));
    }
    vector.cast(ElementType::Float64)
}

/// Observations, then labels or targets, and then weights, as far as they are given.
pub(crate) fn operands(x: &Array, targets: Option<&Array>, weights: Option<&Array>) -> Result<Vec<Array>> {
    let weights = weights.map(|weights| vector(x, weights, "weights")).transpose()?;
    Ok([Some(x.clone()), targets.cloned(), weights].into_iter().flatten().collect())
}

/// An array in memory, of float64, row by row.
pub(crate) fn array(numbers: &[f64], shape: &[usize]) -> Array {
    array_of(numbers.to_vec(), shape)
}

/// [`array`] of numbers that it takes over. Fresh zeros stay untouched, so a stand-in takes no memory.
pub(crate) fn array_of(numbers: Vec<f64>, shape: &[usize]) -> Array {
    let shape = shape.iter().map(|&size| size as u64).collect();
    Array::from_vec(numbers, shape).expect("as many numbers as the shape has")
}

pub(crate) fn scalar(number: f64) -> Array {
    Array::scalar(Scalar::Float64(number))
}

/// The costs of several computations together.
#[derive(Default)]
pub(crate) struct Costs(Option<Stats>);

impl Costs {
    /// Computes arrays in one call, adds its costs, and returns the numbers of each array.
    pub fn compute(&mut self, runtime: &Runtime, arrays: &[Array]) -> Result<Vec<Vec<f64>>> {
        let goals: Vec<Goal> = arrays.iter().cloned().map(Goal::Value).collect();
        let Computed { values, stats, .. } = compute(runtime, &goals)?;
        self.include(stats);
        values.iter().map(InMemory::elements).collect()
    }

    /// Adds the costs of another model.
    pub fn include(&mut self, stats: Stats) {
        match &mut self.0 {
            None => self.0 = Some(stats),
            Some(all) => all.append(stats),
        }
    }

    /// Computes one array and returns its numbers.
    pub fn one(&mut self, runtime: &Runtime, array: Array) -> Result<Vec<f64>> {
        Ok(self.compute(runtime, &[array])?.remove(0))
    }

    pub fn finish(self, stopped_by: Option<&'static str>) -> Stats {
        let mut stats = self.0.expect("a computation");
        stats.stopped_by = stopped_by;
        stats
    }
}

/// The numbers of a column.
pub(crate) fn reals<'a>(values: &Values<'a>) -> &'a [f64] {
    match values {
        Values::Float64(values) => values,
        _ => unreachable!("operands are float64"),
    }
}

/// Copies the columns of an operand one after the other, each less its shift.
pub(crate) fn pack(columns: &[Values<'_>], shifts: Option<&[f64]>, to: &mut Vec<f64>) {
    to.clear();
    for (column, values) in columns.iter().enumerate() {
        match shifts {
            None => match values {
                Values::Float32(values) => to.extend(values.iter().map(|&value| f64::from(value))),
                values => to.extend_from_slice(reals(values)),
            },
            Some(shifts) => to.extend(reals(values).iter().map(|value| value - shifts[column])),
        }
    }
}

/// The weights of a block, which are checked.
pub(crate) fn weights<'a>(block: &RowBlock<'a>, operand: Option<usize>) -> Result<Option<&'a [f64]>> {
    let Some(operand) = operand else { return Ok(None) };
    let weights = reals(&block.operands[operand][0]);
    match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        Some(weight) => usage(format!("expected weights from 0 on, found {weight} in {}", rows(block))),
        None => Ok(Some(weights)),
    }
}

/// The labels of a block: classes below `classes`.
pub(crate) fn classes(block: &RowBlock<'_>, operand: usize, classes: usize, to: &mut Vec<usize>) -> Result<()> {
    to.clear();
    for &label in reals(&block.operands[operand][0]) {
        if !(label >= 0.0 && label < classes as f64) {
            return usage(format!("expected classes from 0 to below {classes}, found {label} in {}", rows(block)));
        }
        to.push(label as usize);
    }
    Ok(())
}

fn rows(block: &RowBlock<'_>) -> String {
    format!("rows {} to {}", block.first_row, block.first_row + block.rows as u64 - 1)
}

/// NaN or an infinity where numbers are to be finite.
#[derive(Debug)]
pub(crate) struct NotFinite {
    /// Index of the operand.
    operand: usize,
    /// The column of this operand, from 0.
    column: usize,
    rows: String,
}

impl NotFinite {
    /// The error text, with the column's name.
    fn text(&self, column: &str) -> String {
        format!("expected finite numbers, found NaN or an infinity in {column}, {}", self.rows)
    }
}

/// An error of a fit in which columns have their names.
pub fn with_names(error: Error, names: &[String]) -> Error {
    let Error::Custom(custom) = error else { return error };
    match custom.downcast::<NotFinite>() {
        Ok(found) => Error::Usage(found.text(&match (found.operand, names.get(found.column)) {
            (0, Some(name)) => format!("column `{name}`"),
            (0, None) => format!("column {}", found.column),
            _ => "the target".to_owned(),
        })),
        Err(other) => Error::Custom(other),
    }
}

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text(&format!("column {}", self.column)))
    }
}

impl std::error::Error for NotFinite {}

/// Refuses NaN and infinities.
pub(crate) fn finite(block: &RowBlock<'_>, operand: usize) -> Result<()> {
    match block.operands[operand].iter().position(|values| !are_finite(reals(values))) {
        Some(column) => Err(Error::Custom(Box::new(NotFinite { operand, column, rows: rows(block) }))),
        None => Ok(()),
    }
}

/// Numbers that are added side by side. Loops with lanes index these by constants alone: otherwise they are in memory,
/// and no vectors.
const LANES: usize = 32;

struct Zeros<'a>(&'a [f64]);

impl Loop for Zeros<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (chunks, rest) = self.0.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for chunk in chunks {
            for lane in 0..LANES {
                lanes[lane] += chunk[lane] * 0.0;
            }
        }
        lanes.iter().chain(rest).map(|value| value * 0.0).sum::<f64>() == 0.0
    }
}

/// Whether there is no NaN and no infinity: a product with 0 is 0 or NaN, and its sums cannot overflow.
pub(crate) fn are_finite(values: &[f64]) -> bool {
    widest(Zeros(values))
}

struct Products<'a>(&'a [f64], &'a [f64]);

impl Loop for Products<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let ((left, left_rest), (right, right_rest)) = (self.0.as_chunks::<LANES>(), self.1.as_chunks::<LANES>());
        let mut lanes = [0.0; LANES];
        for (left, right) in left.iter().zip(right) {
            for lane in 0..LANES {
                lanes[lane] += left[lane] * right[lane];
            }
        }
        let rest = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum::<f64>();
        lanes.iter().sum::<f64>() + rest
    }
}

/// The sum of products of two vectors, in lanes.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    widest(Products(left, right))
}

/// The sum of some numbers, in the lanes of all vectors.
pub(crate) fn total(values: &[f64]) -> f64 {
    kernel::reduce(Fold::Sum, Values::Float64(values), Scalar::Float64(0.0)).to_f64()
}

/// Writes the numbers of a fold of rows as its result.
pub(crate) fn put(numbers: &[f64], result: ValuesMut<'_>) -> Result<()> {
    f64::slice_mut(result).copy_from_slice(numbers);
    Ok(())
}

/// Buffers for the columns of a block.
pub(crate) type Room = (Vec<f64>, Vec<f64>);

/// A fold whose result is numbers that are summed over the rows, lazily. `add` adds a block to `results` numbers;
/// `room` is the count of numbers in its buffers.
pub(crate) fn sum_rows<F>(name: &'static str, results: usize, room: usize, operands: &[Array], add: F) -> Result<Array>
where
    F: Fn(&mut [f64], &mut Room, &RowBlock<'_>) -> Result<()> + Send + Sync + 'static,
{
    Array::fold_rows(SumFold { name, results, room, add }, operands)
}

struct SumFold<F> {
    name: &'static str,
    results: usize,
    room: usize,
    add: F,
}

impl<F: Fn(&mut [f64], &mut Room, &RowBlock<'_>) -> Result<()> + Send + Sync + 'static> RowFold for SumFold<F> {
    type State = (Vec<f64>, Room);

    fn name(&self) -> &str {
        self.name
    }

    fn results(&self) -> usize {
        self.results
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        8 * (self.results + self.room) as u64
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn begin(&self) -> Self::State {
        (vec![0.0; self.results], Room::default())
    }

    fn add(&self, (sums, room): &mut Self::State, block: &RowBlock<'_>) -> Result<()> {
        (self.add)(sums, room, block)
    }

    fn close(&self, state: &mut Self::State) -> Result<()> {
        state.1 = Room::default();
        Ok(())
    }

    fn merge(&self, state: &mut Self::State, next: Self::State) -> Result<()> {
        add(&mut state.0, &next.0);
        Ok(())
    }

    fn finish(&self, state: Self::State, result: ValuesMut<'_>) -> Result<()> {
        put(&state.0, result)
    }
}

/// Refuses results that overflowed.
pub(crate) fn no_overflow(numbers: &[f64]) -> Result<()> {
    if numbers.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    usage("expected numbers whose squares do not overflow, found larger ones; scale them")
}

/// Sums of observations, of all weights.
pub(crate) fn positive(weight: f64) -> Result<f64> {
    if weight > 0.0 { Ok(weight) } else { usage("expected weights of which one is greater than 0, found none") }
}

/// The product of a block's transposed columns with others of as many rows: `p x q`, added to sums row by row.
pub(crate) fn add_product(left: &[f64], right: &[f64], rows: usize, sums: &mut [f64]) {
    let (p, q) = (left.len() / rows, right.len() / rows);
    let left = MatRef::from_column_major_slice(left, rows, p);
    let right = MatRef::from_column_major_slice(right, rows, q);
    let sums = MatMut::from_row_major_slice_mut(sums, p, q);
    faer::linalg::matmul::matmul(sums, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
}

/// The lower half of the product of a block's transposed columns with others, if it is symmetric, added to sums of
/// `p x p`.
pub(crate) fn add_half(left: &[f64], right: &[f64], rows: usize, sums: &mut [f64]) {
    half_product(left, right, rows, sums, Accum::Add, 1.0);
}

/// [`add_half`] of columns with themselves, which are multiplied in float32, and added in float64. Each is scaled by a
/// power of two, so that products neither overflow nor vanish. `room` is for columns and products.
pub(crate) fn add_square_by_float32(left: &[f64], rows: usize, sums: &mut [f64], room: &mut (Vec<f32>, Vec<f32>)) {
    let (narrow, product) = room;
    narrow.clear();
    let scale = |column: &[f64]| {
        let most = column.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        // NaN and infinities go on as they are.
        let scale = if most > 0.0 && most.is_finite() { most.log2().floor().exp2() } else { 1.0 };
        narrow.extend(column.iter().map(|value| (value / scale) as f32));
        scale
    };
    let scales: Vec<f64> = left.chunks_exact(rows).map(scale).collect();
    let p = scales.len();
    product.resize(p * p, 0.0);
    half_product(narrow, narrow, rows, product, Accum::Replace, 1.0);
    for row in 0..p {
        let places = row * p..row * p + row + 1;
        let terms = product[places.clone()].iter().zip(&scales).map(|(&term, scale)| f64::from(term) * scale);
        sums[places].iter_mut().zip(terms).for_each(|(sum, term)| *sum += term * scales[row]);
    }
}

fn half_product<T: faer::traits::ComplexField>(
    left: &[T],
    right: &[T],
    rows: usize,
    to: &mut [T],
    accum: Accum,
    one: T,
) {
    use faer::linalg::matmul::triangular::{BlockStructure, matmul};
    let p = left.len() / rows;
    let left = MatRef::from_column_major_slice(left, rows, p);
    let right = MatRef::from_column_major_slice(right, rows, p);
    let to = MatMut::from_row_major_slice_mut(to, p, p);
    let (all, half) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    matmul(to, half, accum, left.transpose(), all, right, all, one, Par::Seq);
}

/// Copies the lower half of a square matrix to its upper half.
pub(crate) fn mirror(square: &mut [f64], size: usize) {
    for row in 0..size {
        for column in row + 1..size {
            square[row * size + column] = square[column * size + row];
        }
    }
}

/// Adds the numbers of `from` to those of `to`.
pub(crate) fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// A number in [0, 1) that looks random, of a seed and a place.
pub(crate) fn uniform(seed: u64, place: u64) -> f64 {
    let state = seed.wrapping_mul(0xd134_2543_de82_ef95) ^ (place + 1).wrapping_mul(SPLIT_MIX_STEP);
    (split_mix(state.wrapping_sub(SPLIT_MIX_STEP)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Refuses NaN and infinities in the rows that a model is applied to, as a fit does: otherwise the likeliest class of
/// NaN would be class 0.
struct Finite;

impl ElementFunction for Finite {
    fn name(&self) -> &str {
        "finite"
    }

    fn call(&self, operands: &[Values<'_>], results: ValuesMut<'_>) -> Result<()> {
        let values = reals(&operands[0]);
        if !are_finite(values) {
            return usage("expected finite numbers in rows that a model is applied to, found NaN or an infinity");
        }
        if let ValuesMut::Float64(results) = results {
            results.copy_from_slice(values);
        }
        Ok(())
    }
}

/// A matrix of observations as float64, lazily. NaN or an infinity is an error when it is computed.
///
/// # Errors
/// Another number of axes; no row or no column.
pub fn finite_rows(x: &Array) -> Result<Array> {
    let rows = matrix(x)?;
    match x.element() {
        ElementType::Float32 | ElementType::Float64 => Array::user(Arc::new(Finite), &[rows], ElementType::Float64),
        _ => Ok(rows),
    }
}
