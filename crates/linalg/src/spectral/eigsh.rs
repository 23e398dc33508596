//! Eigenvalues of symmetric matrices, and what belongs to them.

use crate::declare::{
    BLOCK, K, MAXITER, NCV, Needs, SEED, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, StoredVectors, TOL,
    complex_shape, pass_bytes, shape_of, values_bytes, vector_names,
};
use crate::dense::{Dense, Store};
use crate::operator::{Costs, Counted, Operator, check_symmetric, square_rows};
use crate::spectral::hermitian::{self, eigsh_complex};
use crate::spectral::nearest::nearest;
use crate::spectral::symmetric::{EigshOptions, Solved, Which, goal, is_small, most_blocks, solve};
use crate::spectral::{Eigenpairs, steps_text};
use crate::tall::Space;
use crate::tall::basis::Basis;
use crate::tall::vectors::Vectors;
use crate::verify::{check_eigenpairs, check_hermitian_pairs, hermitian_bytes, vectors_bytes};
use outcore_declare::{DefaultValue, Kind, Parameter};
use outcore_image::Result;
use outcore_matrix::{Operand, SparseMatrix};
use outcore_table::DenseHeader;
use std::cell::RefCell;

/// Declaration for the shell.
pub(crate) static EIGSH: SolverDeclaration = SolverDeclaration {
    options: &[
        K,
        Parameter::new("which", Kind::choice::<Which>(), DefaultValue::Name("LM"), "Which eigenvalues"),
        TOL,
        NCV,
        BLOCK,
        MAXITER,
        SEED,
    ],
    values: Some("the eigenvalues and residuals, in the order of the vectors"),
    has_checkpoints: true,
    must_converge: true,
    ..SolverDeclaration::new(
        "eigsh",
        "Eigenvalues and eigenvectors of a symmetric matrix, or a complex Hermitian one",
        "the eigenvectors, one row per vertex",
        plan,
    )
};

/// Advice where eigenvalues at an end do not come.
const STIFF: &str = "; where an end of the spectrum is crowded beside its width, as the lower one of a stiff matrix, \
                     it takes solutions of systems rather than products: SciPy's eigsh with sigma";

fn plan(matrix: &SparseMatrix, given: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let which = given.values.choice("which");
    let options = EigshOptions::given(given, "k", which);
    if matrix.is_complex() {
        hermitian::check(matrix, &options)?;
    } else {
        options.check(square_rows(matrix)?)?;
    }
    Ok(Box::new(options))
}

impl SolverPlan for EigshOptions {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let (rows, &EigshOptions { k, block, .. }) = (matrix.shape().0 as usize, self);
        let is_complex = matrix.is_complex();
        let width = if is_complex { 2 * block } else { block };
        let space = Space { runtime: matrix.graph().runtime().clone(), rows, width, is_complex };
        let goal = if is_complex { hermitian::goal(rows, self) } else { goal(rows, self) };
        let (most_blocks, least_bytes) = most_blocks(&space, &goal);
        let (is_small, results_bytes) = (is_small(rows, &goal), Basis::piece_bytes(&space));
        // Vectors for the comparison of a matrix with its transpose or adjoint.
        let compared_bytes = match is_complex {
            true => 48 * rows as u64,
            false if matrix.is_symmetric() => 0,
            false => 24 * rows as u64,
        };
        Ok(Needs {
            least_bytes: least_bytes.max(compared_bytes) + values_bytes(matrix),
            verify_bytes: results_bytes
                + if is_complex { hermitian_bytes(matrix, k) } else { vectors_bytes(matrix, k) },
            results_bytes,
            vectors: (!is_small)
                .then(|| StoredVectors::new(matrix, most_blocks * block, most_blocks as u64 * space.block_bytes())),
            columns_per_pass: block,
            passes: steps_text(is_small, rows, block),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix)],
            files: None,
            shapes: vec![self.shape(matrix)],
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let mut found = self.run_any(matrix, verify)?;
        if let Some(unconverged) = found.unconverged.as_mut().filter(|_| self.which != Which::LargestMagnitude) {
            unconverged.text += STIFF;
        }
        Ok(found)
    }
}

impl EigshOptions {
    fn run_any(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let columns = |values| vec![("eigenvalue", values)];
        let dense = |store| Ok(vec![Dense::new(matrix, Operand::Matrix, self.shape(matrix), store)]);
        if matrix.is_complex() {
            let mut pairs = eigsh_complex(matrix, self)?;
            if verify {
                check_hermitian_pairs(matrix, &pairs.values, &mut pairs.vectors, &pairs.residuals)?;
            }
            return pairs.into_found(self.k, columns, |vectors| dense(Store::Complex(vectors)));
        }
        let mut pairs = eigsh(matrix, self)?;
        if verify {
            check_eigenpairs(matrix, &pairs.values, &mut pairs.vectors, &pairs.residuals)?;
        }
        pairs.into_found(self.k, columns, |vectors| dense(Store::Vectors(vectors)))
    }

    /// Shape and names of the eigenvectors.
    fn shape(&self, matrix: &SparseMatrix) -> DenseHeader {
        match matrix.is_complex() {
            true => complex_shape(matrix, self.k),
            false => shape_of(matrix, Operand::Matrix, vector_names(self.k)),
        }
    }
}

/// Finds some eigenvalues of a symmetric matrix, and their vectors.
///
/// Repeated eigenvalues are found as often as they are there, but for a probability of 10^-3 to the power of the block.
/// The subspace is in memory as far as there is room, and otherwise in a temporary file beside the image, or where the
/// runtime says. The bits of the result depend on neither.
///
/// *Cost.* At least two blocks of `8 n` bytes per column in memory. `(k + some) / block` and more passes, each over all
/// lists.
///
/// # Errors
/// A matrix that is not square, not symmetric, or complex: that is for [`eigsh_complex`](crate::eigsh_complex). Options
/// that cannot be; entries that are not finite; too little memory; a page that cannot be read or is damaged; a full
/// disk; a request to stop.
pub fn eigsh(matrix: &SparseMatrix, options: &EigshOptions) -> Result<Eigenpairs> {
    options.check(square_rows(matrix)?)?;
    let costs = RefCell::new(Costs::new(matrix, "eigsh"));
    let solved = {
        let operator = Counted::new(matrix, Operand::Matrix, &costs)?;
        check_symmetric(&operator)?;
        let rows = operator.shape().1;
        match options.which == Which::SmallestMagnitude && !is_small(rows, &goal(rows, options)) {
            true => nearest(&operator, options)?,
            false => solve(&operator, options, "eigsh")?,
        }
    };
    let Solved { values, basis, residuals, ending, .. } = solved;
    let vectors = Vectors::new(basis, matrix, values.len(), Operand::Matrix);
    let costs = (costs.into_inner(), matrix.pages_per_pass(Operand::Matrix));
    Ok(Eigenpairs::new(matrix, costs, (values, vectors, residuals), ending))
}
