//! Products of the exponential of a matrix with a few vectors, without the exponential.
//!
//! *Idea.* `exp(t A) b` is computed as `s` steps of `exp(t A / s)`, each by the first `m` terms of its Taylor series,
//! with `A - mu I` in place of `A`, where `mu` is the mean of the diagonal, and `exp(t mu)` beside it. `m` and `s` are
//! those that need the fewest products among all whose backward error is less than the rounding unit (`norms.rs`).
//!
//! *Columns* end their series each by its own terms, so the bits of one do not depend on others beside it.
//!
//! Al-Mohy and Higham, *Computing the action of the matrix exponential, with an application to exponential
//! integrators*, SIAM J. Sci. Comput. 2011.

pub(crate) mod norms;

use crate::declare::{
    Needs, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, complex_names, pass_bytes, required, shape_of,
    values_bytes, vector_names,
};
use crate::dense::{Dense, Store};
use crate::expm::norms::{Norms, Plan, greater, greatest};
use crate::operator::{Costs, Counted, Operator, require_real, space, square_rows};
use crate::tall::Space;
use crate::verify::{Pushed, check_exponential};
use outcore_declare::{DefaultValue, Fact, InputFile, Kind, OptionValues, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer};
use outcore_matrix::{DenseFile, MOST_COLUMNS, Operand, SparseMatrix};
use outcore_table::DenseHeader;
use std::cell::RefCell;

const PURPOSE: &str = "vectors of a matrix exponential";
/// The rounding unit.
const TOLERANCE: f64 = f64::EPSILON / 2.0;
/// Largest number of products; more are an error.
const MOST_PRODUCTS: f64 = 1e12;

/// Largest number of times; a file has columns for each.
const MOST_TIMES: usize = 1 << 16;

/// Declaration for the shell.
pub(crate) static EXPM_MULTIPLY: SolverDeclaration = SolverDeclaration {
    options: &[
        Parameter::real("t", 1.0, "The time, unless there are several"),
        Parameter::new("start", Kind::Real, DefaultValue::None, "The first of several times; needs --stop"),
        Parameter::new("stop", Kind::Real, DefaultValue::None, "The last of several times; needs --start"),
        Parameter::whole("num", 50, "How many times there are from start to stop"),
        Parameter::flag("endpoint", true, "Whether the last of several times is stop"),
    ],
    inputs: &[InputFile {
        name: "by",
        is_required: true,
        help: "The dense vector or matrix, with a row for each row of the matrix, in the order of ids: .npy; or a \
               table, as results are written: .parquet, .arrow",
    }],
    values: Some("the times, in the order of the products"),
    ..SolverDeclaration::new(
        "expm_multiply",
        "Products of the exponential of a matrix, times t, with a dense vector or matrix",
        "the products, one row per vertex, those of several times side by side",
        plan,
    )
};

/// Products that are to be computed.
struct Multiplying {
    factor: DenseFile,
    times: Vec<f64>,
    /// Whether there may be several times: columns are named by them.
    has_several: bool,
}

fn plan(matrix: &SparseMatrix, given: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let rows = square_rows(matrix)?;
    require_real(matrix)?;
    let times = times(&given.values)?;
    let factor = required(given.open(matrix, Operand::Matrix, 0)?, "by")?;
    let (factor_rows, columns) = factor.shape();
    if factor_rows != rows as u64 || columns == 0 {
        let expected =
            format!("{rows} rows and a column or more to multiply the exponential of a matrix of {rows} x {rows}");
        return Err(Error::input(factor.path(), None, expected, format!("{factor_rows} x {columns}")));
    }
    Ok(Box::new(Multiplying { factor, times, has_several: given.values.some_real("start").is_some() }))
}

/// The times, as NumPy's `linspace` has them.
fn times(values: &OptionValues) -> Result<Vec<f64>> {
    let times = match (values.some_real("start"), values.some_real("stop")) {
        (None, None) => vec![values.real("t")],
        (Some(start), Some(stop)) => {
            let num = values.size("num");
            if !(1..=MOST_TIMES).contains(&num) {
                return Err(Error::Usage(format!("expected num from 1 to {MOST_TIMES}, found {num}")));
            }
            let with_end = values.flag("endpoint");
            let parts = if with_end { num - 1 } else { num };
            let step = (stop - start) / parts.max(1) as f64;
            let mut times: Vec<f64> = (0..num).map(|i| start + i as f64 * step).collect();
            if with_end && num > 1 {
                times[num - 1] = stop;
            }
            times
        }
        _ => return Err(Error::Usage("expected both start and stop, or none of them, found one".to_owned())),
    };
    match times.iter().find(|time| !time.is_finite()) {
        Some(time) => Err(Error::Usage(format!("expected finite times t, found {time}"))),
        None => Ok(times),
    }
}

impl Multiplying {
    /// Columns of numbers: the parts of complex ones are columns of their own, for the matrix is real.
    fn columns(&self) -> usize {
        self.factor.shape().1 as usize * if self.factor.is_complex() { 2 } else { 1 }
    }

    fn shape(&self, matrix: &SparseMatrix) -> DenseHeader {
        let (count, is_complex) = (self.factor.shape().1 as usize, self.factor.is_complex());
        let names = if is_complex { complex_names(count) } else { vector_names(count) };
        let names = match self.has_several {
            false => names,
            true => (0..self.times.len()).flat_map(|i| names.iter().map(move |name| format!("t{i}_{name}"))).collect(),
        };
        let is_vector = self.factor.is_vector() && !self.has_several;
        DenseHeader { is_complex, is_vector, ..shape_of(matrix, Operand::Matrix, names) }
    }
}

impl SolverPlan for Multiplying {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let (rows, columns, graph) = (matrix.shape().0, self.columns(), matrix.graph());
        let dense_bytes = (8 * rows).saturating_mul((columns * (1 + self.times.len())) as u64);
        let mut width = columns.min(MOST_COLUMNS).next_power_of_two();
        let available_bytes = graph.runtime().budget().available_bytes().saturating_sub(dense_bytes);
        while width > 1 && 24 * rows * width as u64 > available_bytes {
            width /= 2;
        }
        let groups = columns.div_ceil(width);
        Ok(Needs {
            least_bytes: dense_bytes.saturating_add(32 * rows) + values_bytes(matrix),
            verify_bytes: dense_bytes.saturating_add(Pushed::bytes(matrix) + 8 * rows) + values_bytes(matrix),
            results_bytes: (8 * rows).saturating_mul((columns * self.times.len()) as u64),
            vectors: None,
            columns_per_pass: width.min(columns),
            passes: format!(
                "up to eleven for norms, then about the 1-norm of t (A - mu I), or up to 55 if that is below 10, for \
                 each of {groups} groups of columns"
            ),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix)],
            files: None,
            shapes: vec![self.shape(matrix)],
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let (runtime, columns) = (matrix.graph().runtime(), self.columns());
        let b = self.factor.read(runtime, "a dense matrix", self.factor.is_complex())?;
        let mut results =
            Buffer::zeroed(runtime.budget(), "products of a matrix exponential", b.len() * self.times.len())?;
        let ExpmMultiply { products, stats } = expm_multiply(matrix, &b, columns, &self.times, &mut results)?;
        if verify {
            let mut order = Vec::new();
            steps(&self.times).iter().for_each(|step| order.push((step.result, step.is_first, step.time)));
            check_exponential(matrix, &b, columns, &order, &results)?;
        }
        let lines = vec![format!("{} times; {products} products", self.times.len())];
        Ok(SolverFinding {
            lines,
            values: vec![("t", self.times.clone())],
            facts: vec![("products", Fact::Whole(products))],
            dense: vec![Dense::new(
                matrix,
                Operand::Matrix,
                self.shape(matrix),
                Store::Ordered(results, self.times.len()),
            )],
            unconverged: None,
            stats,
        })
    }
}

/// Statistics of a product with a matrix exponential.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExpmMultiply {
    /// Number of vectors multiplied.
    pub products: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Writes `exp(t A) B` for each of several times t, one matrix behind the other. `b` and each result have `columns`
/// columns, row by row, with rows in the order of ids. Each result is made of the next one on the way to time 0, where
/// there is one, and otherwise of `b`: what fades away in time is not called back.
///
/// *Cost.* Per column that memory has room for, 24 bytes per row; as many columns are multiplied together as there is
/// room for, at most 32. A pass for the diagonal, one for the norm and up to eight for norms of powers; per group of
/// columns and time step about as many passes as the 1-norm of `t (A - mu I)`, where that is greater than 10.
///
/// # Errors
/// A matrix that is not square; numbers that are not finite, or too few or many of them; results that are too large;
/// too little memory for one column; a page that cannot be read or is damaged; a request to stop.
pub fn expm_multiply(
    matrix: &SparseMatrix,
    b: &[f64],
    columns: usize,
    times: &[f64],
    results: &mut [f64],
) -> Result<ExpmMultiply> {
    let rows = square_rows(matrix)?;
    let numbers = rows as u128 * columns as u128;
    if b.len() as u128 != numbers || results.len() as u128 != numbers * times.len() as u128 {
        let expected = format!("{rows} x {columns} numbers and room for {} such results", times.len());
        let found = format!("{} numbers and room for {}", b.len(), results.len());
        return Err(Error::Usage(format!("expected {expected}, found {found}")));
    }
    if let Some(place) = b.iter().position(|number| !number.is_finite()) {
        let (number, row) = (b[place], place / columns);
        return Err(Error::Usage(format!("expected finite numbers to multiply, found {number} in row {row}")));
    }
    if let Some(time) = times.iter().find(|time| !time.is_finite()) {
        return Err(Error::Usage(format!("expected finite times t, found {time}")));
    }
    let costs = RefCell::new(Costs::new(matrix, "expm_multiply"));
    if !b.is_empty() && !times.is_empty() {
        let operator = Counted::new(matrix, Operand::Matrix, &costs)?;
        let longest = steps(times).iter().fold(0.0f64, |most, step| most.max(step.time.abs()));
        let norms = Norms::new(&operator, longest)?;
        let series = Series::new(operator, norms, columns)?;
        series.all(b, columns, times, results)?;
    }
    let costs = costs.into_inner();
    let stats = costs.stats.finish(matrix.graph().runtime(), matrix.pages_per_pass(Operand::Matrix));
    Ok(ExpmMultiply { products: costs.products, stats })
}

/// A step in time.
struct Step {
    result: usize,
    /// Whether it begins at time 0.
    is_first: bool,
    time: f64,
}

fn steps(times: &[f64]) -> Vec<Step> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |time: f64| (time < 0.0, time.abs());
        let ((side, one), (other_side, other)) = (key(times[a]), key(times[b]));
        side.cmp(&other_side).then(one.total_cmp(&other))
    });
    let mut before = None;
    let step = |result: usize| {
        let (time, last) = (times[result], before.replace(times[result]));
        let start = last.filter(|last| (*last < 0.0) == (time < 0.0));
        Step { result, is_first: start.is_none(), time: time - start.unwrap_or(0.0) }
    };
    order.into_iter().map(step).collect()
}

/// The series of some columns at a time, in the order of the image.
struct Series<'a, 'c> {
    operator: Counted<'a, 'c>,
    norms: Norms,
    space: Space,
    /// The last term, its product with the matrix, and the sum of the terms.
    vectors: RefCell<[Buffer<f64>; 3]>,
}

impl<'a, 'c> Series<'a, 'c> {
    /// The memory of as many columns as there is room for.
    fn new(operator: Counted<'a, 'c>, norms: Norms, columns: usize) -> Result<Self> {
        let graph = operator.matrix.graph();
        let one = space(&operator, 1);
        let mut width = columns.min(MOST_COLUMNS).next_power_of_two();
        while width > 1 && 3 * one.block_bytes() * width as u64 > graph.runtime().budget().available_bytes() {
            width /= 2;
        }
        graph.make_room(PURPOSE, 3 * one.block_bytes() * width as u64)?;
        let space = Space { width, ..one };
        let vector = || space.zeros(PURPOSE);
        let vectors = RefCell::new([vector()?, vector()?, vector()?]);
        Ok(Series { operator, norms, space, vectors })
    }

    fn all(&self, b: &[f64], columns: usize, times: &[f64], results: &mut [f64]) -> Result<()> {
        for first in (0..columns).step_by(self.space.width) {
            let count = self.space.width.min(columns - first);
            for Step { result, is_first, time } in steps(times) {
                if is_first {
                    self.load(b, columns, first, count)?;
                }
                self.advance(time, count)?;
                self.store(&mut results[result * b.len()..][..b.len()], columns, first, count)?;
            }
        }
        Ok(())
    }

    /// Copies columns of a matrix in the order of ids to the sum of the terms.
    fn load(&self, b: &[f64], columns: usize, first: usize, count: usize) -> Result<()> {
        let (matrix, width) = (self.operator.matrix, self.space.width);
        let [_, _, sum] = &mut *self.vectors.borrow_mut();
        self.space.update([sum], |rows, [sum], []| {
            for (row, to) in rows.zip(sum.chunks_exact_mut(width)) {
                to.fill(0.0);
                to[..count].copy_from_slice(&b[matrix.row_at(row) * columns + first..][..count]);
            }
        })?;
        Ok(())
    }

    /// Copies the sum of the terms to columns of a matrix in the order of ids.
    fn store(&self, result: &mut [f64], columns: usize, first: usize, count: usize) -> Result<()> {
        let (matrix, width, space) = (self.operator.matrix, self.space.width, &self.space);
        let sum = &self.vectors.borrow()[2];
        let result = shared::<AtomicF64>(result);
        space.stripes(|_, rows| {
            for (row, numbers) in rows.clone().zip(sum[space.place(&rows)].chunks_exact(width)) {
                let to = &result[matrix.row_at(row) * columns + first..][..count];
                to.iter().zip(numbers).for_each(|(to, &number)| to.store(number));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Multiplies the sum by the exponential of the matrix times a step in time.
    fn advance(&self, step: f64, count: usize) -> Result<()> {
        let Plan { terms, steps } = self.norms.plan(step);
        if f64::from(terms) * steps > MOST_PRODUCTS {
            return Err(Error::Unsuitable(format!(
                "expected a matrix and times t that take at most {MOST_PRODUCTS:.0e} products, found norms of {:.3e}",
                self.norms.bounds[0] * step.abs()
            )));
        }
        let growth = (step * self.norms.mean / steps).exp();
        for _ in 0..steps as u64 {
            self.sum(step / steps, terms, growth, count)?;
        }
        Ok(())
    }

    /// One substep: adds up this number of terms of the series, or fewer for columns whose terms became small.
    fn sum(&self, step: f64, terms: u32, growth: f64, count: usize) -> Result<()> {
        let (space, width, mean) = (&self.space, self.space.width, self.norms.mean);
        let [term, product, sum] = &mut *self.vectors.borrow_mut();
        space.change(term, |rows, term| term.copy_from_slice(&sum[space.place(&rows)]))?;
        let mut before = self.greatest(term)?;
        let mut goes_on: [bool; MOST_COLUMNS] = std::array::from_fn(|column| column < count && before[column] > 0.0);
        for number in 1..=terms {
            if !goes_on.contains(&true) {
                break;
            }
            self.operator.apply(term, width, product)?;
            let factor = step / f64::from(number);
            let (product, goes_on_now) = (&*product, goes_on);
            space.update([&mut *term, &mut *sum], |rows, [term, sum], []| {
                let products = product[space.place(&rows)].chunks_exact(width);
                let rows = term.chunks_exact_mut(width).zip(sum.chunks_exact_mut(width)).zip(products);
                for ((term, sum), product) in rows {
                    for column in (0..width).filter(|&column| goes_on_now[column]) {
                        term[column] = factor * (product[column] - mean * term[column]);
                        sum[column] += term[column];
                    }
                }
            })?;
            let (last, whole) = (self.greatest(term)?, self.greatest(sum)?);
            for column in 0..count {
                goes_on[column] &= before[column] + last[column] > TOLERANCE * whole[column];
            }
            before = last;
        }
        space.update([sum], |_, [sum], []| sum.iter_mut().for_each(|number| *number *= growth))?;
        self.greatest(sum)?;
        Ok(())
    }

    /// The greatest magnitude in each column.
    ///
    /// # Errors
    /// It is not finite.
    fn greatest(&self, block: &[f64]) -> Result<[f64; MOST_COLUMNS]> {
        let space = &self.space;
        let stripes = space.stripes(|_, rows| Ok(greatest(&block[space.place(&rows)], space.width)))?;
        let mut most = [0.0f64; MOST_COLUMNS];
        for stripe in stripes {
            for (most, number) in most.iter_mut().zip(stripe) {
                *most = greater(*most, number);
            }
        }
        match most.iter().all(|number| number.is_finite()) {
            true => Ok(most),
            false => {
                let image = self.operator.matrix.graph().path().display();
                let expected = "expected products of the exponential that are finite numbers";
                let advice = "take a lesser t, or divide the dense matrix by a number";
                Err(Error::Unsuitable(format!("{expected}, found larger ones with {image}: {advice}")))
            }
        }
    }
}
