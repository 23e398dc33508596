//! Verifiers of solvers: products that are computed in another way, and sums by plain loops.
//!
//! A solver gathers: a row of the matrix picks numbers of the vector. A verifier pushes: every list of the *other* side
//! adds what its number of the vector makes of each entry to where it belongs. For a directed graph these are other
//! lists in other files of the image, and in any case other code and another order of sums. That vectors belong to the
//! values, and are orthonormal, is proven so; that no value is missing among them is not.

use crate::declare::values_bytes;
use crate::tall::for_each_row;
use crate::tall::vectors::{ComplexVectors, Parts, Vectors};
use faer::c64;
use outcore_graph::{Direction, Edges, Frontier, ListPart, scan};
use outcore_image::{Error, Result};
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer, SPLIT_MIX_STEP, split_mix};
use outcore_matrix::{Operand, SparseMatrix};
use outcore_table::SWEPT_NUMBERS;
use std::fmt::Display;

/// Largest difference between a stated residual and the computed one, relative to the size of the matrix.
const ROUNDING: f64 = 1e-11;
/// Relative row sum without its loop below which it counts as rounding.
pub(crate) const LONE: f64 = 1e-14;
/// By how much dot products of orthonormal vectors may differ from 0 and 1.
const ORTHONORMAL: f64 = 1e-10;
/// Most bytes of vectors that are in memory while dot products are computed.
const MOST_VECTORS_BYTES: u64 = 8 * SWEPT_NUMBERS as u64;

/// Products that are pushed, and room for them.
pub(crate) struct Pushed<'a> {
    matrix: &'a SparseMatrix,
    operand: Operand,
    /// The factor, in the order of the image.
    pub factor: Buffer<f64>,
    pub product: Buffer<f64>,
}

/// The error for numbers that differ from the expected ones.
fn refuse(expected: String, found: impl Display) -> Error {
    Error::verification(expected, found.to_string())
}

impl<'a> Pushed<'a> {
    pub fn new(matrix: &'a SparseMatrix, operand: Operand) -> Result<Self> {
        let (rows, columns) = matrix.shape_of(operand);
        Ok(Pushed { matrix, operand, factor: zeros(matrix, columns)?, product: zeros(matrix, rows)? })
    }

    pub fn bytes(matrix: &SparseMatrix) -> u64 {
        8 * (matrix.shape().0 + matrix.shape().1)
    }

    /// Computes the product with what `term` makes of an entry and a number.
    pub fn multiply(&mut self, term: impl Fn(f64, f64) -> f64 + Sync) -> Result<()> {
        self.product.fill(0.0);
        let product = shared::<AtomicF64>(&mut self.product);
        push(self.matrix, self.operand, false, |to, from, entry| product[to].add(term(entry[0], self.factor[from])))
    }

    /// The length of the product minus `value` times a vector, and that of the product.
    fn lengths(&self, minus: impl Fn(usize) -> f64) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (row, number) in self.product.iter().enumerate() {
            sums[0] += (number - minus(row)).powi(2);
            sums[1] += number.powi(2);
        }
        sums.map(f64::sqrt)
    }
}

/// Zeros, one for each row or column, or a few.
fn zeros(matrix: &SparseMatrix, count: usize) -> Result<Buffer<f64>> {
    Buffer::zeroed(matrix.graph().runtime().budget(), "vectors of a verification", count)
}

/// Calls `add` with the row, the column and the value of every entry of an operand, column by column, on all workers.
pub(crate) fn push(
    matrix: &SparseMatrix,
    operand: Operand,
    complex: bool,
    add: impl Fn(usize, usize, [f64; 2]) + Sync,
) -> Result<()> {
    let graph = matrix.graph();
    let (vertices, split) = (graph.vertices() as u32, graph.manifest().rows.map(|rows| rows as u32));
    let of_rows = (Direction::Out, Frontier::Range { first: 0, end: split.unwrap_or(vertices) }, 0);
    let start = split.unwrap_or(0);
    let of_columns = (Direction::In, Frontier::Range { first: start, end: vertices }, start);
    let ((direction, frontier, first), to_first) = match operand {
        Operand::Matrix => (of_columns, 0),
        Operand::Transpose | Operand::Adjoint => (of_rows, start),
    };
    let rows = matrix.shape_of(operand).0;
    let edges = Edges { direction, weights: matrix.has_values(), complex };
    let visit = |(): &mut (), list: ListPart<'_>| {
        for (i, &neighbour) in list.neighbours.iter().enumerate() {
            let to = (neighbour.wrapping_sub(to_first)) as usize;
            let real = if list.weights.is_empty() { 1.0 } else { list.weights.real(i) };
            let imaginary = list.weights.imaginary_bits().get(i).map_or(0.0, |&bits| f64::from_bits(bits));
            if to < rows {
                add(to, (list.vertex - first) as usize, [real, imaginary]);
            }
        }
    };
    let frontier = if split.is_none() { Frontier::All } else { frontier };
    scan(graph, edges, frontier, || (), visit)?;
    Ok(())
}

/// Refuses a residual that differs from the stated one by more than rounding.
fn check_residual(name: &str, stated: f64, computed: f64, rounding: f64) -> Result<()> {
    if (stated - computed).abs() <= rounding {
        return Ok(());
    }
    Err(refuse(format!("a residual of {stated:e} for {name}, but for {rounding:e}"), format!("{computed:e}")))
}

/// Refuses vectors that are not orthonormal.
pub fn check_orthonormal(vectors: &Vectors, matrix: &SparseMatrix) -> Result<()> {
    check_unit(&gram(vectors, matrix)?, vectors.shape().1)
}

fn gram(vectors: &Vectors, matrix: &SparseMatrix) -> Result<Vec<f64>> {
    let count = vectors.shape().1;
    let mut gram = vec![0.0; count * count];
    for_each_vector_row(vectors, matrix, |row| {
        for (one, sums) in row.iter().zip(gram.chunks_exact_mut(count)) {
            sums.iter_mut().zip(row).for_each(|(sum, other)| *sum += one * other);
        }
        Ok(())
    })?;
    Ok(gram)
}

/// Calls `work` with every row of some vectors.
fn for_each_vector_row(
    vectors: &Vectors,
    matrix: &SparseMatrix,
    mut work: impl FnMut(&[f64]) -> Result<()>,
) -> Result<()> {
    let copy = |rows, numbers: &mut [f64]| vectors.copy_rows(rows, 0..vectors.shape().1, numbers);
    for_each_row(matrix.graph().runtime(), "rows of a verification", vectors.shape(), copy, |_, row| work(row))
}

/// The bytes of memory for verifying this number of vectors, with those of entry values.
pub(crate) fn vectors_bytes(matrix: &SparseMatrix, count: usize) -> u64 {
    let more = matrix.shape().0.max(matrix.shape().1);
    Pushed::bytes(matrix) + 8 * more + MOST_VECTORS_BYTES + 16 * (count * count) as u64 + values_bytes(matrix)
}

/// Checks real eigenpairs: residuals, and that vectors are orthonormal.
pub fn check_eigenpairs(matrix: &SparseMatrix, values: &[f64], vectors: &mut Vectors, residuals: &[f64]) -> Result<()> {
    vectors.leave(vectors_bytes(matrix, values.len()))?;
    let scale = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let mut pushed = Pushed::new(matrix, Operand::Matrix)?;
    let rows = vectors.shape().0;
    for (i, (&value, &stated)) in values.iter().zip(residuals).enumerate() {
        vectors.copy_rows(0..rows, i..i + 1, &mut pushed.factor)?;
        pushed.multiply(|entry, number| entry * number)?;
        let [residual, length] = pushed.lengths(|row| value * pushed.factor[row]);
        check_residual(&format!("eigenvalue {value}"), stated, residual, ROUNDING * scale.max(length))?;
    }
    check_orthonormal(vectors, matrix)
}

/// Checks eigenpairs of a graph's Laplacian, normalised or not, the last vector of which has the first eigenvalue:
/// residuals, and that vectors are orthonormal. Degrees are summed once more, from the other side and without loops.
pub fn check_laplacian(
    matrix: &SparseMatrix,
    is_normalised: bool,
    values: &[f64],
    vectors: &mut Vectors,
    residuals: &[f64],
) -> Result<()> {
    let (rows, count) = vectors.shape();
    vectors.leave(vectors_bytes(matrix, count) + 16 * rows as u64)?;
    let mut pushed = Pushed::new(matrix, Operand::Matrix)?;
    let (mut degrees, mut vector) = (zeros(matrix, rows)?, zeros(matrix, rows)?);
    pushed.multiply(|entry, _| entry)?;
    degrees.fill(0.0);
    let sums = shared::<AtomicF64>(&mut degrees);
    push(matrix, Operand::Matrix, false, |to, from, entry| {
        if to != from {
            sums[to].add(entry[0]);
        }
    })?;
    for (degree, sum) in degrees.iter_mut().zip(pushed.product.iter()) {
        *degree = if *degree > LONE * sum { *degree } else { 0.0 };
    }
    let scale = |row: usize| if is_normalised && degrees[row] > 0.0 { degrees[row].sqrt() } else { 1.0 };
    for (i, (&value, &stated)) in values.iter().zip(residuals).enumerate() {
        vectors.copy_rows(0..rows, count - 1 - i..count - i, &mut vector)?;
        (0..rows).for_each(|row| pushed.factor[row] = vector[row] / scale(row));
        pushed.product.fill(0.0);
        let (product, factor) = (shared::<AtomicF64>(&mut pushed.product), &pushed.factor);
        push(matrix, Operand::Matrix, false, |to, from, entry| {
            if to != from {
                product[to].add(entry[0] * factor[from]);
            }
        })?;
        let (mut square, mut most) = (0.0, 1.0 + value.powi(2));
        for row in 0..rows {
            let own = if is_normalised { vector[row] } else { degrees[row] * vector[row] };
            square += (own - pushed.product[row] / scale(row) - value * vector[row]).powi(2);
            most += own.powi(2);
        }
        check_residual(&format!("eigenvalue {value}"), stated, square.sqrt(), ROUNDING * most.sqrt())?;
    }
    check_orthonormal(vectors, matrix)
}

/// Checks complex eigenpairs: residuals, and the length of the vectors.
pub fn check_complex_pairs(
    matrix: &SparseMatrix,
    values: &[c64],
    vectors: &mut ComplexVectors,
    residuals: &[f64],
) -> Result<()> {
    vectors.leave(vectors_bytes(matrix, 1))?;
    let (parts, columns) = vectors.parts();
    let rows = parts.shape().0;
    let mut pushed = Pushed::new(matrix, Operand::Matrix)?;
    let mut other = zeros(matrix, rows)?;
    for ((&value, column), &stated) in values.iter().zip(columns).zip(residuals) {
        // The square of the residual is that of its real part and of its imaginary one.
        let (mut square, mut product, mut length) = (0.0, 0.0, 0.0);
        for is_imaginary in [false, true] {
            let one = |place: usize, numbers: &mut [f64]| match place == 1 && column.sign == 0.0 {
                true => {
                    numbers.fill(0.0);
                    Ok(())
                }
                false => parts.copy_rows(0..rows, column.re + place..column.re + place + 1, numbers),
            };
            one(usize::from(is_imaginary), &mut pushed.factor)?;
            one(usize::from(!is_imaginary), &mut other)?;
            pushed.multiply(|entry, number| entry * number)?;
            // (a + ib)(x + is y) has the parts ax - bsy and s(ay + bsx), for s either 1 or -1.
            let b = if is_imaginary { value.im * column.sign } else { -value.im * column.sign };
            let lengths = pushed.lengths(|row| value.re * pushed.factor[row] + b * other[row]);
            square += lengths[0].powi(2);
            product += lengths[1].powi(2);
            length += pushed.factor.iter().map(|number| number.powi(2)).sum::<f64>();
        }
        let scale = product.sqrt().max(value.re.hypot(value.im)).max(stated);
        check_residual(&format!("eigenvalue {value}"), stated, square.sqrt(), ROUNDING * scale)?;
        if (length - 1.0).abs() > ORTHONORMAL {
            return Err(refuse(format!("a vector of length 1 for eigenvalue {value}"), length.sqrt()));
        }
    }
    Ok(())
}

/// The bytes of memory for verifying this number of complex vectors.
pub(crate) fn hermitian_bytes(matrix: &SparseMatrix, count: usize) -> u64 {
    32 * matrix.shape().0 + MOST_VECTORS_BYTES + 16 * (count * count) as u64 + values_bytes(matrix)
}

/// Checks eigenpairs of a matrix of complex numbers: residuals, and that vectors are orthonormal. The parts of each
/// vector are adjacent columns.
pub fn check_hermitian_pairs(
    matrix: &SparseMatrix,
    values: &[f64],
    vectors: &mut ComplexVectors,
    residuals: &[f64],
) -> Result<()> {
    vectors.leave(hermitian_bytes(matrix, values.len()))?;
    let (parts, columns) = vectors.parts();
    let (rows, count) = (parts.shape().0, values.len());
    let (mut factor, mut product) = (zeros(matrix, 2 * rows)?, zeros(matrix, 2 * rows)?);
    let scale = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    for ((&value, column), &stated) in values.iter().zip(columns).zip(residuals) {
        parts.copy_rows(0..rows, column.re..column.re + 2, &mut factor)?;
        product.fill(0.0);
        let sums = shared::<AtomicF64>(&mut product);
        push(matrix, Operand::Matrix, true, |to, from, [a, b]| {
            let (x, y) = (factor[2 * from], factor[2 * from + 1]);
            sums[2 * to].add(a * x - b * y);
            sums[2 * to + 1].add(a * y + b * x);
        })?;
        let errors = product.iter().zip(factor.iter()).map(|(number, part)| (number - value * part).powi(2));
        let (residual, length) = (errors.sum::<f64>().sqrt(), product.iter().map(|n| n.powi(2)).sum::<f64>().sqrt());
        check_residual(&format!("eigenvalue {value}"), stated, residual, ROUNDING * scale.max(length))?;
    }
    let mut gram = vec![c64::new(0.0, 0.0); count * count];
    for_each_vector_row(parts, matrix, |row| {
        let number = |column: &Parts| c64::new(row[column.re], column.sign * row[column.re + 1]);
        for (one, sums) in columns.iter().zip(gram.chunks_exact_mut(count)) {
            let one = number(one).conj();
            sums.iter_mut().zip(columns).for_each(|(sum, other)| *sum += one * number(other));
        }
        Ok(())
    })?;
    check_unit(&gram, count)
}

/// Refuses real or complex dot products that are not those of orthonormal vectors.
fn check_unit<T: Copy + Display + Into<c64>>(gram: &[T], count: usize) -> Result<()> {
    for (at, &number) in gram.iter().enumerate() {
        let expected = if at / count == at % count { 1.0 } else { 0.0 };
        let parts: c64 = number.into();
        let error = (parts.re - expected).hypot(parts.im);
        if error.is_nan() || error > ORTHONORMAL {
            let text = format!("a dot product of {expected} for the vectors {} and {}", at / count, at % count);
            return Err(refuse(text, number));
        }
    }
    Ok(())
}

/// Checks one side of singular vectors: that the product with each vector `from` is its value times the vector `to`,
/// but for the stated residual. Means of columns are taken from the matrix if there are any, in the order of the
/// image.
pub fn check_singular(
    matrix: &SparseMatrix,
    operand: Operand,
    values: &[f64],
    [from, to]: [&Vectors; 2],
    most: impl Fn(usize) -> f64,
    means: Option<&[f64]>,
) -> Result<()> {
    let scale = values.iter().fold(0.0f64, |most, &value| most.max(value));
    let mut pushed = Pushed::new(matrix, operand)?;
    let (rows, columns) = matrix.shape_of(operand);
    let mut other = zeros(matrix, rows)?;
    for (i, &value) in values.iter().enumerate() {
        from.copy_rows(0..columns, i..i + 1, &mut pushed.factor)?;
        to.copy_rows(0..rows, i..i + 1, &mut other)?;
        pushed.multiply(|entry, number| entry * number)?;
        // The transpose of a matrix without its means takes the sum of the vector's numbers, times the means.
        let sum: f64 = if means.is_some() { pushed.factor.iter().sum() } else { 0.0 };
        let mean = |row: usize| means.map_or(0.0, |means| sum * means[row]);
        let [residual, length] = pushed.lengths(|row| value * other[row] + mean(row));
        let bound = most(i) + ROUNDING * scale.max(length);
        if residual.is_nan() || residual > bound {
            let text = format!("a residual of at most {bound:e} for singular value {value}");
            return Err(refuse(text, format!("{residual:e}")));
        }
    }
    Ok(())
}

/// Checks non-negative factors: that they are, and the loss.
pub fn check_factors(matrix: &SparseMatrix, w: &mut Vectors, h_transposed: &mut Vectors, stated: f64) -> Result<()> {
    let count = w.shape().1;
    w.leave(vectors_bytes(matrix, count))?;
    h_transposed.leave(vectors_bytes(matrix, count))?;
    for (name, vectors) in [("W", &*w), ("H", &*h_transposed)] {
        for_each_vector_row(vectors, matrix, |row| {
            match row.iter().find(|number| number.is_nan() || **number < 0.0) {
                Some(number) => Err(refuse(format!("no number below 0 in {name}"), number)),
                None => Ok(()),
            }
        })?;
    }
    let grams = [gram(w, matrix)?, gram(h_transposed, matrix)?];
    let of_product: f64 = grams[0].iter().zip(&grams[1]).map(|(one, other)| one * other).sum();
    let mut pushed = Pushed::new(matrix, Operand::Matrix)?;
    let mut other = zeros(matrix, w.shape().0)?;
    let mut inner = 0.0;
    for i in 0..count {
        h_transposed.copy_rows(0..h_transposed.shape().0, i..i + 1, &mut pushed.factor)?;
        w.copy_rows(0..w.shape().0, i..i + 1, &mut other)?;
        pushed.multiply(|entry, number| entry * number)?;
        inner += pushed.product.iter().zip(other.iter()).map(|(one, other)| one * other).sum::<f64>();
    }
    let squares = matrix.sum_of_squares()?;
    let loss = (squares - 2.0 * inner + of_product).max(0.0);
    let rounding = ROUNDING * (squares + of_product);
    if (loss - stated).abs() <= rounding {
        return Ok(());
    }
    Err(refuse(format!("a loss of {stated:e}, but for {rounding:e}"), format!("{loss:e}")))
}

/// Checks the solution of a system, in the order of ids as `b`: its residual.
pub fn check_solution(matrix: &SparseMatrix, x: &[f64], b: &[f64], stated: f64) -> Result<()> {
    let mut pushed = Pushed::new(matrix, Operand::Matrix)?;
    (0..x.len()).for_each(|place| pushed.factor[place] = x[matrix.column_at(place)]);
    // Rounding depends on the terms, which may be larger than their sum.
    pushed.multiply(|entry, number| (entry * number).abs())?;
    let scale = pushed.lengths(|_| 0.0)[1] + b.iter().map(|number| number.powi(2)).sum::<f64>().sqrt();
    pushed.multiply(|entry, number| entry * number)?;
    let [residual, _] = pushed.lengths(|row| b[matrix.row_at(row)]);
    check_residual("the solution", stated, residual, ROUNDING * scale)
}

/// Coefficient of a column in a combination of all: a pseudorandom number of magnitude 1 to 2.
pub(crate) fn chance(column: usize) -> f64 {
    let bits = split_mix((column as u64).wrapping_mul(SPLIT_MIX_STEP));
    let magnitude = 1.0 + (bits >> 12) as f64 / (1u64 << 52) as f64;
    if bits & 1 == 0 { magnitude } else { -magnitude }
}

/// Terms of the plain series for a step in time, where the norm times the step is 1 at most: 1 / 20! is nothing.
const TERMS: u32 = 20;
/// By how much products of an exponential may differ, in units of the greatest number that there was on the way.
const EXPONENTIAL: f64 = 1e-9;

/// Checks products of a matrix exponential for some steps in time: where each result is, whether it is made of `b`, and
/// not of the one before, and how much time there is between. A random combination of all columns is taken through all
/// of them, by the plain series in as many parts as make the norm 1 at most.
pub fn check_exponential(
    matrix: &SparseMatrix,
    b: &[f64],
    columns: usize,
    steps: &[(usize, bool, f64)],
    results: &[f64],
) -> Result<()> {
    let mut pushed = Pushed::new(matrix, Operand::Matrix)?;
    pushed.multiply(|entry, _| entry.abs())?;
    let norm = pushed.product.iter().fold(0.0f64, |most, sum| most.max(*sum));
    let rows = pushed.factor.len();
    let mut sum = zeros(matrix, rows)?;
    let combined = |numbers: &[f64], row: usize, size: fn(f64) -> f64| {
        let row = &numbers[matrix.row_at(row) * columns..][..columns];
        row.iter().enumerate().map(|(column, number)| size(chance(column) * number)).sum::<f64>()
    };
    let mut most = 0.0f64;
    for &(result, is_first, time) in steps {
        if is_first {
            most = 0.0;
            for (row, number) in sum.iter_mut().enumerate() {
                *number = combined(b, row, |number| number);
                most = most.max(combined(b, row, f64::abs));
            }
        }
        let parts = (norm * time.abs()).ceil().max(1.0);
        for _ in 0..parts as u64 {
            matrix.graph().runtime().cancel().check()?;
            pushed.factor.copy_from_slice(&sum);
            for term in 1..=TERMS {
                pushed.multiply(|entry, number| entry * number)?;
                let by = time / parts / f64::from(term);
                for ((factor, product), sum) in pushed.factor.iter_mut().zip(pushed.product.iter()).zip(sum.iter_mut())
                {
                    *factor = by * product;
                    *sum += *factor;
                }
            }
            most = sum.iter().fold(most, |most, number| most.max(number.abs()));
        }
        let computed = &results[result * b.len()..][..b.len()];
        for (row, &expected) in sum.iter().enumerate() {
            let number = combined(computed, row, |number| number);
            let bound = EXPONENTIAL * most.max(combined(computed, row, f64::abs));
            if number.is_nan() || (expected - number).abs() > bound {
                let row = matrix.row_at(row);
                let text = format!("{expected} in row {row} of a sum of all columns, but for {bound:e}");
                return Err(refuse(text, number));
            }
        }
    }
    Ok(())
}
