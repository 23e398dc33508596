//! A solver as its users see it, declared once beside its kernel.
//!
//! A [`SolverDeclaration`] is a name, its options, the files that it is given and those that it writes. From the list
//! of all declarations ([`SOLVERS`](crate::SOLVERS)) follow the commands of the shell, and the runs of
//! `outcore.linalg`.
//!
//! A run from outside goes like this: the shell or Python makes [`OptionValues`] of texts or objects and opens the
//! input files; `plan` of the declaration checks both for a matrix; [`SolverPlan::needs`] says what the run will need,
//! and [`SolverPlan::run`] does it.

use crate::dense::{Dense, Store};
use crate::tall::basis::temporary_folder;
use crate::tall::vectors::Vectors;
use outcore_declare::{Kind, NamedFact, NotConverged, OptionValues, Parameter};
use outcore_graph::Graph;
use outcore_image::{Error, Result, Stats};
use outcore_ingest::SIDES;
use outcore_matrix::{DenseFile, Operand, SparseMatrix};
use outcore_table::{DenseHeader, Origin, string_ids};
use std::path::{Path, PathBuf};

/// A solver, as it is declared.
pub type SolverDeclaration =
    outcore_declare::Declaration<fn(&SparseMatrix, SolverInput) -> Result<Box<dyn SolverPlan>>>;

/// Options and files as the user gives them.
#[derive(Debug)]
pub struct SolverInput {
    /// The options.
    pub values: OptionValues,
    /// The files that are read, in the order of the declaration.
    pub inputs: Vec<Option<PathBuf>>,
    /// The file of the result that has a row for each row of the matrix. A streamed result is written there directly if
    /// the file is a plain array.
    pub output: Option<PathBuf>,
    /// The folder of the checkpoint.
    pub checkpoint: Option<PathBuf>,
}

impl SolverInput {
    /// Opens one of the files, if it was given; it has a row for each row of the operand.
    pub(crate) fn open(&self, matrix: &SparseMatrix, side: Operand, place: usize) -> Result<Option<DenseFile>> {
        let path = self.inputs.get(place).and_then(Option::as_ref);
        path.map(|path| matrix.open_dense(side, path)).transpose()
    }
}

/// Resources of a run, estimated before it starts.
#[derive(Clone, Debug)]
pub struct Needs {
    /// The memory that it needs at least, in bytes, apart from what the process and the open image hold.
    pub least_bytes: u64,
    /// Bytes of memory for the verification, with `results_bytes`.
    pub verify_bytes: u64,
    /// Bytes that the results hold until all are written, beside the vectors that go to a temporary file.
    pub results_bytes: u64,
    /// The vectors that it keeps: as far as memory has room for them, and otherwise in a temporary file.
    pub vectors: Option<StoredVectors>,
    /// Columns that are multiplied in a pass.
    pub columns_per_pass: usize,
    /// Number of passes, as text.
    pub passes: String,
    /// The bytes that a pass over the rows reads at most, and one over the columns, where there are such.
    pub bytes_per_pass: Vec<u64>,
    /// Traffic of files of dense matrices, if these are streamed.
    pub files: Option<Traffic>,
    /// The results: that of rows, that of columns.
    pub shapes: Vec<DenseHeader>,
}

impl Needs {
    /// The part of a run that takes most memory: the run itself, its verification if that is wanted, or writing its
    /// results to files.
    ///
    /// # Errors
    /// A name whose ending is not that of a format.
    pub fn most_memory(&self, graph: &Graph, outputs: &[Option<&Path>], verify: bool) -> Result<(&'static str, u64)> {
        let mut all = vec![("the run", self.least_bytes)];
        if verify {
            all.push(("the verification of the result", self.verify_bytes));
        }
        for (shape, output) in self.shapes.iter().zip(outputs) {
            if let Some(output) = output.filter(|_| !self.is_written_at_once()) {
                let bytes = self.results_bytes.saturating_add(shape.output_bytes(graph.image(), output)?);
                all.push(("what writes the result", bytes));
            }
        }
        Ok(all.into_iter().reduce(|most, need| if need.1 > most.1 { need } else { most }).unwrap_or_default())
    }

    /// Whether the result goes to its file while it is computed.
    pub fn is_written_at_once(&self) -> bool {
        self.files.as_ref().is_some_and(|files| files.product_bytes > 0)
    }
}

/// Bytes of dense matrices that a product reads and writes.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Bytes read of the factor.
    pub factor_bytes: u64,
    /// Bytes written of the product, if it goes to its place at once.
    pub product_bytes: u64,
    /// About how many bytes are written to temporary files, and read again.
    pub temporary_bytes: u64,
    /// The folder of temporary files.
    pub folder: PathBuf,
}

/// Vectors that a solver keeps.
#[derive(Clone, Debug)]
pub struct StoredVectors {
    /// Largest number of vectors.
    pub count: usize,
    /// Bytes of all vectors.
    pub bytes: u64,
    /// Whether memory has room for all of them.
    pub in_memory: bool,
    /// The folder of the temporary file for those that it has no room for.
    pub folder: PathBuf,
}

impl StoredVectors {
    /// Vectors of a run; they are in memory if the free memory has room for them beside all pages.
    pub(crate) fn new(matrix: &SparseMatrix, count: usize, bytes: u64) -> Self {
        let graph = matrix.graph();
        let pages_bytes = pass_bytes(matrix, Operand::Matrix);
        let in_memory = bytes.saturating_add(pages_bytes) <= graph.runtime().budget().available_bytes();
        StoredVectors { count, bytes, in_memory, folder: temporary_folder(graph) }
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct SolverFinding {
    /// Summary for the user.
    pub lines: Vec<String>,
    /// The values, as columns.
    pub values: Vec<(&'static str, Vec<f64>)>,
    /// Further facts of the run, by the names that Python has for them.
    pub facts: Vec<NamedFact>,
    /// The results, in the order of [`Needs::shapes`].
    pub dense: Vec<Dense>,
    /// The error, if the run did not converge.
    pub unconverged: Option<NotConverged>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// A run with its options.
pub trait SolverPlan: Send {
    /// Resources that the run needs.
    ///
    /// # Errors
    /// Indexes that cannot be read; too little memory for a single column.
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs>;

    /// Runs it, and verifies what it found by products that are computed in another way, if that is asked for.
    ///
    /// # Errors
    /// Those of the solver, and of the verification.
    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding>;
}

/// Shape and names of a dense matrix that has a row for each row of the operand.
pub(crate) fn shape_of(matrix: &SparseMatrix, side: Operand, names: Vec<String>) -> DenseHeader {
    let (rows, vertices) = (matrix.shape().0, matrix.graph().vertices());
    let [of_rows, of_columns] = SIDES;
    let (vertices, id_name, id_base, id_prefix) = match (side, matrix.is_square()) {
        (_, true) => (0..vertices, "vertex", 0, ""),
        (Operand::Matrix, false) => (0..rows, "row", 0, of_rows),
        (Operand::Transpose | Operand::Adjoint, false) => (rows..vertices, "column", rows, of_columns),
    };
    let id_prefix = if string_ids(matrix.graph().image()) { id_prefix } else { "" };
    let (is_complex, is_vector, origin) = (false, false, Origin::default());
    DenseHeader { vertices, id_name, id_base, id_prefix, names, is_complex, is_vector, origin }
}

/// The names of this number of vectors, in the order of their values.
pub(crate) fn vector_names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("v{i}")).collect()
}

/// The names of the parts of this number of complex vectors.
pub(crate) fn complex_names(count: usize) -> Vec<String> {
    (0..count).flat_map(|i| [format!("v{i}_real"), format!("v{i}_imag")]).collect()
}

/// Shape and names of complex eigenvectors, real and imaginary parts side by side.
pub(crate) fn complex_shape(matrix: &SparseMatrix, count: usize) -> DenseHeader {
    DenseHeader { is_complex: true, ..shape_of(matrix, Operand::Matrix, complex_names(count)) }
}

/// Largest number of bytes read in a pass.
pub(crate) fn pass_bytes(matrix: &SparseMatrix, operand: Operand) -> u64 {
    outcore_graph::PAGE_BYTES * matrix.pages_per_pass(operand)
}

/// Largest number of values shown.
const SHOWN_VALUES: usize = 10;

/// The first values, line by line under their names, and how many there are beside these.
pub(crate) fn table_lines(values: &[(&str, Vec<f64>)]) -> Vec<String> {
    let heading: String = values.iter().map(|(name, _)| format!(" {name:>24}")).collect();
    let count = values.first().map_or(0, |(_, numbers)| numbers.len());
    let row = |i: usize| {
        let cells: String = values.iter().map(|(_, numbers)| format!(" {:>24?}", numbers[i])).collect();
        format!("  {:6}{cells}", format!("v{i}"))
    };
    let mut lines = vec![format!("  {:6}{heading}", "")];
    lines.extend((0..count.min(SHOWN_VALUES)).map(row));
    if count > SHOWN_VALUES {
        lines.push(format!("  and {} more", count - SHOWN_VALUES));
    }
    lines
}

/// A file that must be there; the shell asks for it.
pub(crate) fn required(file: Option<DenseFile>, name: &str) -> Result<DenseFile> {
    file.ok_or_else(|| Error::Usage(format!("expected the option {name}, found none")))
}

/// Refuses a file unless it has a vector of this number of real numbers.
pub(crate) fn check_vector(file: &DenseFile, rows: u64, name: &str) -> Result<()> {
    let (found, columns) = file.shape();
    if file.is_complex() {
        return Err(Error::input(file.path(), None, "real numbers", "complex ones"));
    }
    if found != rows || columns != 1 {
        let expected = format!("a vector of {rows} numbers for {name}");
        return Err(Error::input(file.path(), None, expected, format!("{found} x {columns}")));
    }
    Ok(())
}

/// Number of values.
pub(crate) const K: Parameter = Parameter::whole("k", 6, "How many");
/// The tolerance of values.
pub(crate) const TOL: Parameter = Parameter::real(
    "tol",
    0.0,
    "The greatest residual of a pair, in units of its value's magnitude; 0 for what rounding allows",
);
/// The columns of a subspace.
pub(crate) const NCV: Parameter = Parameter::optional(
    "ncv",
    Kind::WHOLE,
    "The most columns of the subspace; if not given, 2 k + 96, if 64 GiB of disk hold so many",
);
/// The columns of a block.
pub(crate) const BLOCK: Parameter = Parameter::whole(
    "block",
    2,
    "Columns that are multiplied together: 1, 2, 4 or 8. More make fewer passes, and more products",
);
/// Restarts.
pub(crate) const MAXITER: Parameter = Parameter::whole("maxiter", 1000, "The most restarts of a full subspace");
/// Random numbers.
pub(crate) const SEED: Parameter = Parameter::SEED;
/// Random numbers, under the name that scikit-learn has for them.
pub(crate) const RANDOM_STATE: Parameter = Parameter { name: "random_state", aliases: &["seed"], ..Parameter::SEED };

/// Bytes of entry values that products keep in memory.
pub(crate) fn values_bytes(matrix: &SparseMatrix) -> u64 {
    let graph = matrix.graph();
    let bytes = |&direction: &outcore_graph::Direction| graph.weight_bytes(direction);
    if matrix.has_values() { graph.directions().iter().map(bytes).sum() } else { 0 }
}

/// Shapes of the vectors of both sides.
pub(crate) fn both_shapes(matrix: &SparseMatrix, count: usize) -> Vec<DenseHeader> {
    [Operand::Matrix, Operand::Transpose].map(|side| shape_of(matrix, side, vector_names(count))).to_vec()
}

/// Vectors of both sides as results.
pub(crate) fn both_sides(matrix: &SparseMatrix, left: Vectors, right: Vectors) -> Vec<Dense> {
    let shapes = both_shapes(matrix, left.shape().1);
    let sides = [Operand::Matrix, Operand::Transpose].into_iter().zip([left, right]);
    sides.zip(shapes).map(|((side, vectors), shape)| Dense::new(matrix, side, shape, Store::Vectors(vectors))).collect()
}
