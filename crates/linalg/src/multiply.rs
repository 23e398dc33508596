//! A product with a dense matrix as users call it, from a file to a file, and its verification.

use crate::declare::{
    Declaration, Found, Given, InputFile, Needs, SolverPlan, complex_names, pass_bytes, required, shape_of,
    values_bytes, vector_names,
};
use crate::dense::Dense;
use crate::verify::{push, sizes};
use outcore_algo::{DefaultValue, Kind, Parameter};
use outcore_graph::{Choice, DenseShape, Error, Result};
use outcore_io::buffer::shared;
use outcore_io::{Array, AtomicF64};
use outcore_matrix::{DenseFile, Operand, Semiring, SparseMatrix};

/// By how much sums may differ, in units of the sum of what their terms are in absolute terms.
const ROUNDING: f64 = 1e-11;

/// What users call it.
pub(crate) static MULTIPLY: Declaration = Declaration {
    name: "multiply",
    summary: "The product with a dense vector or matrix, by any of several semirings",
    options: &[
        Parameter::new(
            "semiring",
            Kind::choice::<Semiring>(),
            DefaultValue::Name("plus-times"),
            "What adds and what multiplies",
        ),
        Parameter::new("transpose", Kind::Flag, DefaultValue::Flag(false), "Multiply the transpose"),
    ],
    inputs: &[InputFile {
        name: "by",
        is_required: true,
        help: "The dense vector or matrix, with a row for each column of the matrix, in the order of ids: .npy",
    }],
    left: "the product, one row per row of the matrix, or per column with --transpose",
    right: None,
    values: None,
    has_checkpoints: false,
    must_converge: false,
    plan,
};

/// A product that is to be computed.
struct Multiplying {
    semiring: Semiring,
    operand: Operand,
    factor: DenseFile,
    /// Factor and product are complex.
    is_complex: bool,
}

fn plan(matrix: &SparseMatrix, mut given: Given) -> Result<Box<dyn SolverPlan>> {
    let factor = required(given.take(0), "by")?;
    let semiring: Semiring = given.values.choice("semiring");
    let operand = if given.values.flag("transpose") { Operand::Transpose } else { Operand::Matrix };
    let is_complex = matrix.is_complex() || factor.is_complex();
    if is_complex && semiring != Semiring::PlusTimes {
        let text = format!("expected real numbers for the semiring {}, found complex ones", semiring.name());
        return Err(Error::Usage(text));
    }
    let ((rows, inner), (found, columns)) = (sizes(matrix, operand), factor.shape());
    if found != inner as u64 || columns == 0 {
        let what = if operand == Operand::Matrix { "a matrix" } else { "the transpose, which is" };
        let expected = format!("{inner} rows and a column or more to multiply {what} of {rows} x {inner}");
        return Err(Error::input(factor.path(), None, expected, format!("{found} x {columns}")));
    }
    Ok(Box::new(Multiplying { semiring, operand, factor, is_complex }))
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

    fn shape(&self, matrix: &SparseMatrix) -> DenseShape {
        let count = self.factor.shape().1 as usize;
        let names = if self.is_complex { complex_names(count) } else { vector_names(count) };
        let shape = shape_of(matrix, self.operand, names);
        DenseShape { is_complex: self.is_complex, is_vector: self.factor.is_vector(), ..shape }
    }
}

impl SolverPlan for Multiplying {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let (rows, inner) = sizes(matrix, self.operand);
        let dense_bytes = (8 * self.numbers() as u64).saturating_mul((rows + inner) as u64);
        let parts = if matrix.is_complex() { 2 } else { 1 };
        let columns = self.columns(matrix);
        // Where there is no room for a single column, that is what it is planned for.
        let plan = matrix.plan(self.operand, columns, dense_bytes);
        let columns_per_pass = plan.map_or(1, |plan| plan.columns_per_pass);
        let checked = if matrix.is_complex() { 2 * inner + 3 * rows } else { inner + 2 * rows };
        Ok(Needs {
            least_bytes: dense_bytes.saturating_add((8 * parts * inner) as u64) + values_bytes(matrix),
            verify_bytes: dense_bytes.saturating_add(8 * checked as u64),
            kept: None,
            columns_per_pass: columns_per_pass.min(columns),
            passes: columns.div_ceil(columns_per_pass).to_string(),
            bytes_per_pass: vec![pass_bytes(matrix, self.operand)],
            shapes: vec![self.shape(matrix)],
        })
    }

    fn run<'a>(&self, matrix: &'a SparseMatrix, verify: bool) -> Result<Found<'a>> {
        let runtime = matrix.graph().runtime();
        let (rows, columns) = (sizes(matrix, self.operand).0, self.columns(matrix));
        let factor = self.factor.read(runtime, "a dense matrix", self.is_complex)?;
        let mut product = Array::zeroed(runtime.budget(), "a product of matrices", rows * self.numbers())?;
        let stats = matrix.multiply(self.semiring, self.operand, &factor, columns, &mut product)?;
        if verify {
            let width = if matrix.is_complex() { 2 } else { 1 };
            for column in (0..self.numbers()).step_by(width) {
                self.check(matrix, &factor, &product, column)?;
            }
        }
        let (m, n) = sizes(matrix, self.operand);
        Ok(Found {
            lines: vec![format!("a product of {m} x {n} and {} columns", self.factor.shape().1)],
            values: Vec::new(),
            dense: vec![Dense::held(product, matrix, self.operand, self.shape(matrix))],
            unconverged: None,
            stats,
        })
    }
}

/// A column that is multiplied once more.
struct Column<'a> {
    matrix: &'a SparseMatrix,
    operand: Operand,
    /// Its numbers in the order of the image; real and imaginary parts if the matrix is complex.
    parts: Vec<Array<f64>>,
}

impl Column<'_> {
    /// Calls `add` with the row of every entry, the parts of its value, and those of the number that it multiplies.
    fn push(&self, add: impl Fn(usize, [f64; 2], [f64; 2]) + Sync) -> Result<()> {
        push(self.matrix, self.operand, self.matrix.is_complex(), |to, from, entry| {
            add(to, entry, [self.parts[0][from], self.parts.get(1).map_or(0.0, |part| part[from])]);
        })
    }

    /// A row of the product in the order of the ids, for one in that of the image.
    fn place(&self, row: usize) -> usize {
        match self.operand {
            Operand::Matrix => self.matrix.row_at(row),
            Operand::Transpose | Operand::Adjoint => self.matrix.column_at(row),
        }
    }
}

impl Multiplying {
    /// Computes a column once more, by pushing what the solver gathers.
    fn check(&self, matrix: &SparseMatrix, factor: &[f64], product: &[f64], column: usize) -> Result<()> {
        let (budget, width) = (matrix.graph().runtime().budget(), self.numbers());
        let (rows, inner) = sizes(matrix, self.operand);
        let array = |count| Array::<f64>::zeroed(budget, "vectors of a verification", count);
        let mut parts = Vec::new();
        for part in 0..if matrix.is_complex() { 2 } else { 1 } {
            let mut numbers = array(inner)?;
            for (place, number) in numbers.iter_mut().enumerate() {
                let row = match self.operand {
                    Operand::Matrix => matrix.column_at(place),
                    Operand::Transpose | Operand::Adjoint => matrix.row_at(place),
                };
                *number = factor[row * width + column + part];
            }
            parts.push(numbers);
        }
        let pushed = Column { matrix, operand: self.operand, parts };
        let (mut sums, mut bounds) = (array(rows)?, array(rows)?);
        for part in 0..pushed.parts.len() {
            self.push(&pushed, part, &mut sums, &mut bounds)?;
            for row in 0..rows {
                let (expected, found) = (sums[row], product[pushed.place(row) * width + column + part]);
                let is_same = expected == found || expected.is_nan() && found.is_nan();
                let bound = ROUNDING * bounds[row];
                // What is not finite may come from sums that are too large in one order only.
                let is_near = (expected - found).abs() <= bound;
                if bound.is_finite() && !is_same && !is_near {
                    let place = pushed.place(row);
                    let text =
                        format!("{expected} in row {place} of column {column} of the product, but for {bound:e}");
                    return Err(Error::verification(text, found.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Writes a part of the product, and the sum of its terms in absolute terms where they are rounded.
    fn push(&self, column: &Column<'_>, part: usize, sums: &mut [f64], bounds: &mut [f64]) -> Result<()> {
        bounds.fill(0.0);
        sums.fill(match self.semiring {
            Semiring::PlusTimes | Semiring::OrAnd | Semiring::PlusFirst => 0.0,
            Semiring::MinPlus | Semiring::MaxTimes => f64::INFINITY,
        });
        let (shared_sums, shared_bounds) = (shared::<AtomicF64>(sums), shared::<AtomicF64>(bounds));
        let lower = |row: usize, number: f64| match number.is_nan() {
            true => shared_sums[row].store(number),
            false => _ = shared_sums[row].lower(number),
        };
        column.push(|row, entry, factor| match self.semiring {
            Semiring::PlusTimes => {
                let [a, b, x, y] = [entry[0], entry[1], factor[0], factor[1]];
                let is_real = column.parts.len() == 1;
                let term = if is_real { a * x } else { [a * x - b * y, a * y + b * x][part] };
                shared_sums[row].add(term);
                shared_bounds[row].add(if is_real { term.abs() } else { (a.abs() + b.abs()) * (x.abs() + y.abs()) });
            }
            Semiring::PlusFirst => {
                shared_sums[row].add(entry[0]);
                shared_bounds[row].add(entry[0].abs());
            }
            Semiring::MinPlus => lower(row, entry[0] + factor[0]),
            Semiring::MaxTimes => lower(row, -(entry[0] * factor[0])),
            Semiring::OrAnd if entry[0] != 0.0 && factor[0] != 0.0 => shared_sums[row].store(1.0),
            Semiring::OrAnd => {}
        })?;
        if self.semiring == Semiring::MaxTimes {
            sums.iter_mut().for_each(|number| *number = -*number);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_graph::import::{ImportOptions, InputOptions, import, open};
    use outcore_graph::{Graph, GraphOptions};
    use outcore_io::{Runtime, RuntimeOptions};
    use std::sync::Arc;

    #[test]
    fn products_that_are_wrong_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (file, image, dense) =
            (folder.path().join("m.mtx"), folder.path().join("m.oc"), folder.path().join("x.npy"));
        let text = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 3 0.5\n2 3 -1\n3 1 4\n";
        std::fs::write(&file, text).unwrap();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n";
        let numbers = [1.0f64, 2.0, 3.0].map(f64::to_le_bytes).concat();
        let start = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
        std::fs::write(&dense, [start, numbers].concat()).unwrap();
        let runtime = Arc::new(Runtime::new(RuntimeOptions { threads: Some(2), ..RuntimeOptions::default() }).unwrap());
        let input = InputOptions { is_matrix: true, ..InputOptions::default() };
        import(&runtime, open(&runtime, &[file], &input).unwrap(), &image, &ImportOptions::default()).unwrap();
        let graph = Graph::open(&runtime, &image, GraphOptions::default()).unwrap();
        let matrix = SparseMatrix::new(Arc::new(graph), true).unwrap();
        for &(semiring, ..) in Semiring::ALL {
            for operand in [Operand::Matrix, Operand::Transpose] {
                let factor = DenseFile::open(&runtime, &dense).unwrap();
                let planned = Multiplying { semiring, operand, factor, is_complex: false };
                let factor = [1.0, 2.0, 3.0];
                let mut product = [f64::NAN; 3];
                matrix.multiply(semiring, operand, &factor, 1, &mut product).unwrap();
                planned.check(&matrix, &factor, &product, 0).unwrap();
                for row in 0..3 {
                    for wrong in [f64::NAN, f64::INFINITY, 1e-3] {
                        let mut product = product;
                        product[row] = if product[row] == wrong { 7.0 } else { wrong };
                        planned.check(&matrix, &factor, &product, 0).unwrap_err();
                    }
                }
            }
        }
    }
}
