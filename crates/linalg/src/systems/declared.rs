//! Systems of equations as users call them: the common part of the declarations and plans of all methods.

use crate::declare::{
    Needs, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, StoredVectors, check_vector, pass_bytes,
    required, shape_of, values_bytes,
};
use crate::dense::{Dense, Store};
use crate::operator::{require_real, square_rows};
use crate::systems::inverse::Preconditioner;
use crate::systems::system::{Method, SolveOptions};
use crate::systems::{Solution, Solve, SolveEnd};
use crate::tall::Space;
use crate::verify::{Pushed, check_solution};
use outcore_declare::{DefaultValue, Fact, InputFile, Kind, NotConverged, Parameter};
use outcore_image::Result;
use outcore_matrix::{DenseFile, Operand, SparseMatrix};
use outcore_table::DenseHeader;

pub(crate) const RTOL: Parameter = Parameter::real("rtol", 1e-5, "The greatest residual, in units of the length of b");
pub(crate) const ATOL: Parameter = Parameter::real("atol", 0.0, "The greatest residual; the greater of both counts");
pub(crate) const PRECONDITIONER: Parameter = Parameter::new(
    "preconditioner",
    Kind::choice::<Preconditioner>(),
    DefaultValue::Name("none"),
    "What the matrix is multiplied by, so that fewer iterations are needed",
);

pub(crate) const fn maxiter(help: &'static str) -> Parameter {
    Parameter::new("maxiter", Kind::WHOLE, DefaultValue::None, help)
}

/// A declaration of a method, without options.
pub(crate) const fn method(
    name: &'static str,
    summary: &'static str,
    plan: fn(&SparseMatrix, SolverInput) -> Result<Box<dyn SolverPlan>>,
) -> SolverDeclaration {
    SolverDeclaration {
        inputs: &[
            InputFile {
                name: "rhs",
                is_required: true,
                help: "b, a vector with a number for each row, in the order of ids: .npy; or a table, as results are \
                       written: .parquet, .arrow",
            },
            InputFile { name: "x0", is_required: false, help: "Where to begin; at 0 if not given: as for b" },
        ],
        values: Some("the residual in the beginning and after every iteration"),
        must_converge: true,
        ..SolverDeclaration::new(name, summary, "the solution, one row per vertex", plan)
    }
}

struct Solving {
    solve: Solve,
    method_bytes: fn(&Space, &SolveOptions<'_>) -> u64,
    /// Default limit of steps, per row.
    steps_per_row: u64,
    products_per_step: u64,
    /// Whether a matrix that is not stored as symmetric is compared with its transpose.
    compares: bool,
    first_passes: &'static str,
    /// Whether the method keeps vectors, up to a restart.
    has_restarts: bool,
    b: DenseFile,
    x0: Option<DenseFile>,
    options: SolveOptions<'static>,
}

/// The plan of a method `M`, which `solve` runs.
pub(crate) fn plan<M: Method<'static>>(
    solve: Solve,
    matrix: &SparseMatrix,
    given: SolverInput,
) -> Result<Box<dyn SolverPlan>> {
    let rows = square_rows(matrix)? as u64;
    require_real(matrix)?;
    let b = required(given.open(matrix, Operand::Matrix, 0)?, "rhs")?;
    let x0 = given.open(matrix, Operand::Matrix, 1)?;
    check_vector(&b, rows, "rhs")?;
    x0.iter().try_for_each(|x0| check_vector(x0, rows, "x0"))?;
    let (values, restart) = (&given.values, given.values.some_size("restart"));
    let options = SolveOptions {
        rtol: values.real("rtol"),
        atol: values.real("atol"),
        max_iterations: values.some_whole("maxiter"),
        x0: None,
        restart: restart.unwrap_or(SolveOptions::default().restart),
        preconditioner: values.choice("preconditioner"),
    };
    options.check_tolerances()?;
    Ok(Box::new(Solving {
        solve,
        method_bytes: M::bytes,
        steps_per_row: M::STEPS_PER_ROW,
        products_per_step: M::PRODUCTS_PER_STEP,
        compares: M::NEEDS_SYMMETRY,
        first_passes: M::FIRST_PASSES,
        has_restarts: restart.is_some(),
        b,
        x0,
        options,
    }))
}

impl Solving {
    fn shape(&self, matrix: &SparseMatrix) -> DenseHeader {
        DenseHeader { is_vector: true, ..shape_of(matrix, Operand::Matrix, vec!["x".to_owned()]) }
    }
}

impl SolverPlan for Solving {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let rows = matrix.shape().0 as usize;
        let space = Space { runtime: matrix.graph().runtime().clone(), rows, width: 1, is_complex: false };
        let vector = space.block_bytes();
        let given_bytes = vector * (1 + u64::from(self.x0.is_some()));
        let is_jacobi = self.options.preconditioner == Preconditioner::Jacobi;
        let state_bytes =
            vector * (2 + u64::from(is_jacobi)) + (self.method_bytes)(&space, &self.options).max(3 * vector);
        let restart = self.options.restart.min(rows) + 1;
        let most = self.options.max_iterations.unwrap_or(self.steps_per_row * rows as u64);
        let first = self.first_passes;
        let (each, end, unit) = match (self.has_restarts, self.products_per_step) {
            (true, _) => ("one", "end of every cycle", "steps, or as many cycles if that is given"),
            (false, 2) => ("two", "end and at every restart", "iterations"),
            _ => ("one", "end", "iterations"),
        };
        let comparison =
            if self.compares && !matrix.is_symmetric() { "three to see whether it is symmetric, " } else { "" };
        Ok(Needs {
            least_bytes: given_bytes + state_bytes + values_bytes(matrix),
            verify_bytes: given_bytes + vector + Pushed::bytes(matrix) + values_bytes(matrix),
            results_bytes: vector,
            vectors: self
                .has_restarts
                .then(|| StoredVectors::new(matrix, restart, vector.saturating_mul(restart as u64))),
            columns_per_pass: 1,
            passes: format!(
                "{comparison}{first}{each} per iteration, and one for the residual at the {end}; at most {most} {unit}"
            ),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix)],
            files: None,
            shapes: vec![self.shape(matrix)],
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let runtime = matrix.graph().runtime();
        let b = self.b.read(runtime, "the right side of a linear system", false)?;
        let x0 = self.x0.as_ref().map(|x0| x0.read(runtime, "where a solver begins", false)).transpose()?;
        let options = SolveOptions { x0: x0.as_deref(), ..self.options };
        let solution = (self.solve)(matrix, &b, &options)?;
        if verify {
            check_solution(matrix, &solution.x, &b, solution.residual)?;
        }
        let Solution { x, residual, residual_bound, stopped_by, iterations, products, residuals, stats, .. } = solution;
        let is_plain = options.preconditioner == Preconditioner::None;
        let unconverged = || NotConverged {
            text: format!(
                "expected a residual of at most {residual_bound:e}, found {residual:e} after {iterations} iterations, \
                 stopped by {}{}",
                stopped_by.name(),
                if stopped_by == SolveEnd::Stagnation && is_plain { ", where a preconditioner may help" } else { "" }
            ),
            raise: match stopped_by {
                SolveEnd::Iterations => &["maxiter", "rtol"],
                _ if self.has_restarts => &["restart", "rtol"],
                _ => &["rtol"],
            },
        };
        Ok(SolverFinding {
            lines: vec![
                format!("residual {residual:e} of at most {residual_bound:e}"),
                format!("{iterations} iterations, stopped by {}; {products} products", stopped_by.name()),
            ],
            values: vec![("residual", residuals)],
            facts: vec![
                ("iterations", Fact::Whole(iterations)),
                ("converged", Fact::Flag(stopped_by == SolveEnd::Residual)),
                ("stopped_by", Fact::Text(stopped_by.name())),
                ("residual", Fact::Real(residual)),
                ("residual_bound", Fact::Real(residual_bound)),
                ("products", Fact::Whole(products)),
            ],
            dense: vec![Dense::new(matrix, Operand::Matrix, self.shape(matrix), Store::Ordered(x, 1))],
            unconverged: (stopped_by != SolveEnd::Residual).then(unconverged),
            stats,
        })
    }
}
