//! The plan of a run: `--explain` shows it, and the object has it.

use serde::Serialize;

/// The plan of a run.
#[derive(Default, Serialize)]
pub struct RunPlan {
    /// A memory limit that is enough, also for what verifies and writes the result, in bytes
    pub memory_bytes: u64,
    /// The memory of the run beside that of the process, in bytes: of an algorithm its state
    pub state_bytes: u64,
    /// The rows of a matrix or an array; null for algorithms
    pub rows: Option<u64>,
    /// Their columns
    pub columns: Option<u64>,
    /// The entries of a matrix
    pub entries: Option<u64>,
    /// The vectors that a solver stores
    pub vectors: Option<VectorsPlan>,
    /// The results that are written
    pub outputs: Vec<OutputPlan>,
    /// The memory of the result and its verification, whose reads are not counted, in bytes; null without `--verify`
    pub verify_bytes: Option<u64>,
    /// The columns that a solver multiplies in one pass
    pub columns_per_pass: Option<usize>,
    /// Passes of an algorithm over the lists
    pub passes: Option<f64>,
    /// Passes of a solver or a model, in words where there is no number
    pub passes_text: Option<String>,
    /// Bytes that an algorithm reads
    pub read_bytes: Option<u64>,
    /// The meaning of `passes` and `read_bytes`: "at most", "at least", or that no bound is known
    pub bound: Option<&'static str>,
    /// Bytes that a pass of a solver or a model reads at most; of a solver with passes over columns, these are second
    pub bytes_per_pass: Vec<u64>,
    /// The files of dense matrices that a product reads and writes
    pub files: Option<FilesPlan>,
}

/// Vectors that a solver stores.
#[derive(Serialize)]
pub struct VectorsPlan {
    /// Their number at most
    pub count: usize,
    /// The size of all
    pub bytes: u64,
    /// Whether memory has room for all of them
    pub in_memory: bool,
    /// The folder of the temporary file for those that it has no room for
    pub folder: String,
}

/// A result that is written.
#[derive(Serialize)]
pub struct OutputPlan {
    /// The option that names it
    pub option: &'static str,
    /// Its path
    pub path: String,
    /// Its rows
    pub rows: u64,
    /// Its columns, beside those of ids or names
    pub columns: usize,
    /// The memory that writing it takes, in bytes; null where it is written while the product goes on
    pub memory_bytes: Option<u64>,
}

/// Files of dense matrices that a product reads and writes.
#[derive(Serialize)]
pub struct FilesPlan {
    /// Bytes read of the factor
    pub factor_bytes: u64,
    /// Bytes written to the product's file
    pub product_bytes: u64,
    /// Bytes written to temporary files and read again, about
    pub temporary_bytes: u64,
    /// The folder of temporary files
    pub folder: String,
}
