//! A product with a dense matrix as users call it, from a file to a file, and its verification. Both files may be
//! larger than memory.
//!
//! *Verification* multiplies once more, by pushing along the lists of the other side what the product gathers: as many
//! columns together as memory has room for, three vectors each. Where that takes more than one group, of sums of finite
//! products random combinations of all columns are compared instead, `A (X r)` with `Y r`: one pass over the matrix,
//! one over the factor, one over the product. A wrong number goes unseen there if it is wrong by less than rounding
//! allows all numbers of its row together.
//!
//! Freivalds, *Probabilistic machines can use less running time*, IFIP Congress 1977.

use crate::declare::{
    Needs, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, Traffic, complex_names, pass_bytes, required,
    shape_of, values_bytes, vector_names,
};
use crate::dense::{Dense, Store};
use crate::tall::basis::temporary_folder;
use crate::verify::{chance, push};
use outcore_declare::{DefaultValue, Fact, InputFile, Kind, Parameter};
use outcore_image::{Error, Result};
use outcore_ingest::Choice;
use outcore_io::buffer::shared;
use outcore_io::{AtomicF64, Buffer};
use outcore_matrix::{DenseFactor, DenseFile, MOST_COLUMNS, Operand, ProductFile, Semiring, SparseMatrix};
use outcore_table::{DenseHeader, is_array_file};
use std::ops::Range;
use std::path::PathBuf;

/// Largest difference between sums, relative to the sum of the absolute values of their terms.
const ROUNDING: f64 = 1e-11;

/// Declaration for the shell.
pub(crate) static MULTIPLY: SolverDeclaration = SolverDeclaration {
    options: &[
        Parameter::new(
            "semiring",
            Kind::choice::<Semiring>(),
            DefaultValue::Name("plus-times"),
            "What adds and what multiplies",
        ),
        Parameter::flag("transpose", false, "Multiply the transpose"),
    ],
    inputs: &[InputFile {
        name: "by",
        is_required: true,
        help: "The dense vector or matrix, with a row for each column of the matrix, in the order of ids: .npy; or a \
               table, as results are written: .parquet, .arrow",
    }],
    ..SolverDeclaration::new(
        "multiply",
        "The product with a dense vector or matrix, by any of several semirings; both may be larger than memory",
        "the product, one row per row of the matrix, or per column with --transpose",
        plan,
    )
};

/// A product that is to be computed.
pub struct Multiplying {
    /// The semiring.
    pub semiring: Semiring,
    /// The operand: the matrix, its transpose or its adjoint.
    pub operand: Operand,
    /// The dense factor.
    pub factor: DenseFile,
    /// Factor and product are complex.
    pub is_complex: bool,
    /// The plain array that the product goes to; otherwise it goes to a temporary file first.
    pub output: Option<PathBuf>,
}

fn plan(matrix: &SparseMatrix, given: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let semiring: Semiring = given.values.choice("semiring");
    let operand = if given.values.flag("transpose") { Operand::Transpose } else { Operand::Matrix };
    let factor = required(given.open(matrix, operand.transposed(), 0)?, "by")?;
    let is_complex = matrix.is_complex() || factor.is_complex();
    if is_complex && semiring != Semiring::PlusTimes {
        let text = format!("expected real numbers for the semiring {}, found complex ones", semiring.name());
        return Err(Error::Usage(text));
    }
    let ((rows, inner), (factor_rows, columns)) = (matrix.shape_of(operand), factor.shape());
    if factor_rows != inner as u64 || columns == 0 {
        let what = if operand == Operand::Matrix { "a matrix" } else { "the transpose, which is" };
        let expected = format!("{inner} rows and a column or more to multiply {what} of {rows} x {inner}");
        return Err(Error::input(factor.path(), None, expected, format!("{factor_rows} x {columns}")));
    }
    let output = given.output.filter(|output| is_array_file(output));
    Ok(Box::new(Multiplying { semiring, operand, factor, is_complex, output }))
}

impl Multiplying {
    /// Real numbers in a row of the factor and of the product.
    fn numbers(&self) -> usize {
        self.factor.shape().1 as usize * if self.is_complex { 2 } else { 1 }
    }

    /// The columns that the matrix is multiplied by: those of a real one are the parts of complex ones.
    fn columns(&self, matrix: &SparseMatrix) -> usize {
        if matrix.is_complex() { self.factor.shape().1 as usize } else { self.numbers() }
    }

    fn shape(&self, matrix: &SparseMatrix) -> DenseHeader {
        let count = self.factor.shape().1 as usize;
        let names = if self.is_complex { complex_names(count) } else { vector_names(count) };
        let shape = shape_of(matrix, self.operand, names);
        DenseHeader { is_complex: self.is_complex, is_vector: self.factor.is_vector(), ..shape }
    }

    fn place(&self) -> ProductFile {
        match &self.output {
            Some(path) => ProductFile::New { path: path.clone(), is_vector: self.factor.is_vector() },
            None => ProductFile::Temporary { as_stored: true },
        }
    }
}

impl SolverPlan for Multiplying {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let (graph, columns, factor) = (matrix.graph(), self.columns(matrix), DenseFactor::File(&self.factor));
        // If memory has no room for a single column, the plan is made for one column all the same.
        let plan = matrix.plan_streamed(self.operand, factor, Some(&self.place()), 0).ok();
        let columns_per_pass = plan.as_ref().map_or(1, |plan| plan.columns_per_pass).min(columns);
        Ok(Needs {
            least_bytes: matrix.least_streamed_bytes(self.operand, factor, Some(&self.place()))?,
            verify_bytes: self.verify_bytes(matrix, parts(matrix)),
            results_bytes: 0,
            vectors: None,
            columns_per_pass,
            passes: columns.div_ceil(columns_per_pass).to_string(),
            bytes_per_pass: vec![pass_bytes(matrix, self.operand)],
            files: plan.map(|plan| {
                let at_once = if self.output.is_some() { plan.product_bytes } else { 0 };
                Traffic {
                    factor_bytes: plan.factor_bytes,
                    product_bytes: at_once,
                    temporary_bytes: plan.temporary_bytes + plan.product_bytes - at_once,
                    folder: temporary_folder(graph),
                }
            }),
            shapes: vec![self.shape(matrix)],
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let factor = DenseFactor::File(&self.factor);
        let product = matrix.multiply_to_file(self.semiring, self.operand, factor, &self.place())?;
        if verify {
            let numbers = product.numbers(matrix.graph().runtime())?;
            self.check(matrix, &numbers, product.is_as_stored())?;
        }
        let (m, n) = matrix.shape_of(self.operand);
        let stats = product.cost().stats.clone();
        let shape = self.shape(matrix);
        let store = match self.output.clone() {
            Some(output) => Store::Written(product, output),
            None => Store::Product(product),
        };
        Ok(SolverFinding {
            lines: vec![format!("a product of {m} x {n} and {} columns", self.factor.shape().1)],
            values: Vec::new(),
            facts: vec![
                ("rows", Fact::Whole(m as u64)),
                ("inner", Fact::Whole(n as u64)),
                ("columns", Fact::Whole(self.factor.shape().1)),
            ],
            dense: vec![Dense::new(matrix, self.operand, shape, store)],
            unconverged: None,
            stats,
        })
    }
}

/// Columns that are multiplied once more, side by side: those of the factor in the order of the image, and their
/// product, with the sums of its terms in absolute terms where they are rounded.
struct Columns {
    width: usize,
    factor: Buffer<f64>,
    /// Absolute values of the factor, where it is a combination of others.
    magnitudes: Option<Buffer<f64>>,
    sums: Buffer<f64>,
    bounds: Buffer<f64>,
}

/// Numbers of an element that belong together: the parts of complex ones if the matrix is complex.
fn parts(matrix: &SparseMatrix) -> usize {
    if matrix.is_complex() { 2 } else { 1 }
}

impl Multiplying {
    /// Bytes for verifying this number of columns together, or a combination of all; with the order of rows and pieces
    /// of files.
    fn verify_bytes(&self, matrix: &SparseMatrix, width: usize) -> u64 {
        let ((rows, inner), parts) = (matrix.shape_of(self.operand), parts(matrix));
        let vectors = ((inner + 2 * rows) * width).max((2 * inner + 3 * rows) * parts) as u64;
        let order_bytes = 4 * (rows + inner) as u64;
        8 * vectors + order_bytes + DenseFile::scan_bytes(matrix.graph().runtime()) + values_bytes(matrix)
    }

    /// Computes the product once more. `as_stored` says whether its rows are in the order of the image.
    pub fn check(&self, matrix: &SparseMatrix, product: &DenseFile, as_stored: bool) -> Result<()> {
        let all = self.numbers();
        let budget = matrix.graph().runtime().budget();
        let mut width = parts(matrix);
        let most = all.min(MOST_COLUMNS);
        while width < most && self.verify_bytes(matrix, most.min(2 * width)) <= budget.available_bytes() {
            width = most.min(2 * width);
        }
        matrix.graph().make_room("the verification of the result", self.verify_bytes(matrix, width))?;
        let places = places(matrix, self.operand.transposed())?;
        let comparison = Comparison { multiplying: self, matrix, product, as_stored };
        if width < all && self.semiring == Semiring::PlusTimes {
            let mut columns = self.combined(matrix, &places)?;
            if columns.magnitudes.iter().flat_map(|numbers| numbers.iter()).all(|number| number.is_finite()) {
                self.push(matrix, &mut columns)?;
                return comparison.of_combination(&columns);
            }
        }
        for first in (0..all).step_by(width) {
            let range = first..all.min(first + width);
            let mut columns = self.columns_of(matrix, range.clone(), &places)?;
            self.push(matrix, &mut columns)?;
            comparison.of_columns(range, &columns)?;
        }
        Ok(())
    }

    fn room(&self, matrix: &SparseMatrix, width: usize, with_magnitudes: bool) -> Result<Columns> {
        let (rows, inner) = matrix.shape_of(self.operand);
        let budget = matrix.graph().runtime().budget();
        let array = |count: usize| Buffer::<f64>::zeroed(budget, "vectors of a verification", count * width);
        let magnitudes = if with_magnitudes { Some(array(inner)?) } else { None };
        Ok(Columns { width, factor: array(inner)?, magnitudes, sums: array(rows)?, bounds: array(rows)? })
    }

    /// Some columns of the factor.
    fn columns_of(&self, matrix: &SparseMatrix, range: Range<usize>, places: &[u32]) -> Result<Columns> {
        let mut columns = self.room(matrix, range.len(), false)?;
        let (width, factor) = (columns.width, shared::<AtomicF64>(&mut columns.factor));
        let runtime = matrix.graph().runtime();
        self.factor.scan(runtime, range.clone(), self.is_complex, |rows, piece, numbers| {
            let wanted = range.start.max(piece.start)..range.end.min(piece.end);
            for (row, numbers) in rows.zip(numbers.chunks_exact(piece.len())) {
                let start = places[row] as usize * width;
                for column in wanted.clone() {
                    factor[start + column - range.start].store(numbers[column - piece.start]);
                }
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// A random combination of all columns of the factor.
    fn combined(&self, matrix: &SparseMatrix, places: &[u32]) -> Result<Columns> {
        let parts = parts(matrix);
        let mut columns = self.room(matrix, parts, true)?;
        let factor = shared::<AtomicF64>(&mut columns.factor);
        let magnitudes = shared::<AtomicF64>(columns.magnitudes.as_deref_mut().unwrap_or_default());
        self.factor.scan(matrix.graph().runtime(), 0..self.numbers(), self.is_complex, |rows, piece, numbers| {
            for (row, numbers) in rows.zip(numbers.chunks_exact(piece.len())) {
                let start = places[row] as usize * parts;
                for (column, number) in piece.clone().zip(numbers) {
                    let term = chance(column / parts) * number;
                    factor[start + column % parts].add(term);
                    magnitudes[start + column % parts].add(term.abs());
                }
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// Multiplies columns: every sum begins as that of a row without entries, and the terms of all entries are added.
    fn push(&self, matrix: &SparseMatrix, columns: &mut Columns) -> Result<()> {
        let Columns { width, factor, magnitudes, sums, bounds } = columns;
        let (width, factor, magnitudes) = (*width, &**factor, magnitudes.as_deref());
        bounds.fill(0.0);
        sums.fill(match self.semiring {
            Semiring::MinPlus | Semiring::MaxTimes => f64::INFINITY,
            _ => 0.0,
        });
        let (shared_sums, shared_bounds) = (shared::<AtomicF64>(sums), shared::<AtomicF64>(bounds));
        push(matrix, self.operand, matrix.is_complex(), |to, from, entry| {
            let row = &factor[from * width..][..width];
            let sums = &shared_sums[to * width..][..width];
            let bounds = &shared_bounds[to * width..][..width];
            let most = magnitudes.map_or(row, |magnitudes| &magnitudes[from * width..][..width]);
            if matrix.is_complex() {
                add_complex(entry, row, most, sums, bounds);
            } else {
                self.add(entry[0], row, most, sums, bounds);
            }
        })?;
        if self.semiring == Semiring::MaxTimes {
            sums.iter_mut().for_each(|number| *number = -*number);
        }
        Ok(())
    }

    /// Adds the terms of an entry to a row.
    fn add(&self, entry: f64, row: &[f64], most: &[f64], sums: &[AtomicF64], bounds: &[AtomicF64]) {
        let lower = |sum: &AtomicF64, number: f64| match number.is_nan() {
            true => sum.store(number),
            false => _ = sum.lower(number),
        };
        for (i, (&factor, sum)) in row.iter().zip(sums).enumerate() {
            match self.semiring {
                Semiring::PlusTimes => {
                    sum.add(entry * factor);
                    bounds[i].add((entry * most[i]).abs());
                }
                Semiring::PlusFirst => {
                    sum.add(entry);
                    bounds[i].add(entry.abs());
                }
                Semiring::MinPlus => lower(sum, entry + factor),
                Semiring::MaxTimes => lower(sum, -(entry * factor)),
                Semiring::OrAnd if entry != 0.0 && factor != 0.0 => sum.store(1.0),
                Semiring::OrAnd => {}
                other => unreachable!("{other:?} has no verifier"),
            }
        }
    }
}

/// Position in the image of each row of an operand, rows in the order of ids.
fn places(matrix: &SparseMatrix, operand: Operand) -> Result<Buffer<u32>> {
    let rows = matrix.shape_of(operand).0;
    let mut places = Buffer::zeroed(matrix.graph().runtime().budget(), "rows of a verification", rows)?;
    (0..rows).for_each(|place| places[matrix.row_of(operand, place)] = place as u32);
    Ok(places)
}

/// A comparison of a product with what was computed once more.
struct Comparison<'m> {
    multiplying: &'m Multiplying,
    matrix: &'m SparseMatrix,
    product: &'m DenseFile,
    /// Whether the rows of the product are in the order of the image.
    as_stored: bool,
}

impl Comparison<'_> {
    /// Position in the image of each row of the product, rows in the order of its file; none if the orders are equal.
    fn places(&self) -> Result<Option<Buffer<u32>>> {
        match self.as_stored || self.matrix.is_in_order() {
            true => Ok(None),
            false => places(self.matrix, self.multiplying.operand).map(Some),
        }
    }

    /// Calls `work` with the row, the columns and the numbers of pieces of the product.
    fn scan(
        &self,
        columns: Range<usize>,
        work: impl Fn(usize, Range<usize>, &[f64]) -> Result<()> + Sync,
    ) -> Result<()> {
        let runtime = self.matrix.graph().runtime();
        self.product.scan(runtime, columns, self.multiplying.is_complex, |rows, piece, numbers| {
            rows.zip(numbers.chunks_exact(piece.len())).try_for_each(|(row, numbers)| work(row, piece.clone(), numbers))
        })
    }

    /// Compares some columns of the product.
    fn of_columns(&self, range: Range<usize>, columns: &Columns) -> Result<()> {
        let places = self.places()?;
        self.scan(range.clone(), |row, piece, numbers| {
            let place = places.as_ref().map_or(row, |places| places[row] as usize) * columns.width;
            (range.start.max(piece.start)..range.end.min(piece.end)).try_for_each(|column| {
                let at = place + column - range.start;
                let number = numbers[column - piece.start];
                self.check_number(row, Some(column), [columns.sums[at], number, columns.bounds[at]])
            })
        })
    }

    /// Compares a random combination of all columns of the product.
    fn of_combination(&self, columns: &Columns) -> Result<()> {
        let (places, parts) = (self.places()?, parts(self.matrix));
        let rows = self.matrix.shape_of(self.multiplying.operand).0;
        let budget = self.matrix.graph().runtime().budget();
        let mut sums = Buffer::<f64>::zeroed(budget, "a verification", rows * parts)?;
        let all = shared::<AtomicF64>(&mut sums);
        self.scan(0..self.multiplying.numbers(), |row, piece, numbers| {
            for (column, number) in piece.zip(numbers) {
                all[row * parts + column % parts].add(chance(column / parts) * number);
            }
            Ok(())
        })?;
        for (at, &computed) in sums.iter().enumerate() {
            let (row, part) = (at / parts, at % parts);
            let place = places.as_ref().map_or(row, |places| places[row] as usize) * parts + part;
            self.check_number(row, None, [columns.sums[place], computed, columns.bounds[place]])?;
        }
        Ok(())
    }

    /// Refuses a number that is not the expected one, but for rounding, in units of a bound of its terms; without a
    /// column it is a combination of all.
    fn check_number(&self, row: usize, column: Option<usize>, [expected, computed, bound]: [f64; 3]) -> Result<()> {
        let is_same = expected == computed || expected.is_nan() && computed.is_nan();
        let bound = ROUNDING * bound;
        // Values that are not finite may come from sums that overflow in one order only.
        if !bound.is_finite() || is_same || (expected - computed).abs() <= bound {
            return Ok(());
        }
        let row = if self.as_stored { self.matrix.row_of(self.multiplying.operand, row) } else { row };
        let what = column.map_or("a sum of all columns".to_owned(), |column| format!("column {column}"));
        let text = format!("{expected} in row {row} of {what} of the product, but for {bound:e}");
        Err(Error::verification(text, computed.to_string()))
    }
}

/// Adds the terms of a complex entry to a row of complex numbers.
fn add_complex([a, b]: [f64; 2], row: &[f64], most: &[f64], sums: &[AtomicF64], bounds: &[AtomicF64]) {
    for i in (0..row.len()).step_by(2) {
        let [x, y] = [row[i], row[i + 1]];
        sums[i].add(a * x - b * y);
        sums[i + 1].add(a * y + b * x);
        let bound = (a.abs() + b.abs()) * (most[i].abs() + most[i + 1].abs());
        bounds[i].add(bound);
        bounds[i + 1].add(bound);
    }
}
