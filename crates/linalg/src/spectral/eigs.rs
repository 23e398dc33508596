//! Eigenvalues of unsymmetric matrices, and what belongs to them.

use crate::checkpoint::Checkpoint;
use crate::declare::{
    K, MAXITER, NCV, Needs, SEED, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, StoredVectors, TOL,
    complex_shape, pass_bytes, values_bytes,
};
use crate::dense::{Dense, Store};
use crate::operator::{Costs, Counted, Operator, require_real, rounding, space, square_rows};
use crate::spectral::krylov_schur::{Goal, KrylovSchur};
use crate::spectral::schur::Schur;
use crate::spectral::small::{DENSE_ROWS, entries, greatest};
use crate::spectral::symmetric::{check_scale, usual_columns};
use crate::spectral::{ComplexPairs, Ending, Limit, SpectralOptions, steps_text};
use crate::tall::basis::{Basis, Room};
use crate::tall::kernels::Square;
use crate::tall::vectors::{ComplexVectors, Parts, Vectors};
use crate::tall::{Space, ZERO};
use crate::verify::{check_complex_pairs, vectors_bytes};
use faer::{Mat, c64};
use outcore_declare::{DefaultValue, Kind, Parameter};
use outcore_image::{Error, Result};
use outcore_ingest::Choice;
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;

/// The smallest tolerance of the iteration, in units of the greatest eigenvalue or the longest product.
const LEAST_TOLERANCE: f64 = 4e-14;
/// Small dense matrices that are in memory at once.
const DENSE_COPIES: u64 = 6;
/// Least number of columns of a subspace beyond the wanted ones.
const MORE_COLUMNS: usize = 3;

/// The part of the spectrum of an unsymmetric matrix that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spectrum {
    /// The eigenvalues of greatest magnitude.
    #[default]
    LargestMagnitude,
    /// The eigenvalues with the greatest real parts.
    LargestReal,
    /// The eigenvalues with the least real parts.
    SmallestReal,
    /// The eigenvalues whose imaginary parts are greatest in absolute terms.
    LargestImaginary,
    /// The eigenvalues whose imaginary parts are least in absolute terms.
    SmallestImaginary,
}

impl Choice for Spectrum {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Spectrum::LargestMagnitude, "LM", "Those of greatest magnitude"),
        (Spectrum::LargestReal, "LR", "Those with the greatest real parts"),
        (Spectrum::SmallestReal, "SR", "Those with the least real parts"),
        (Spectrum::LargestImaginary, "LI", "Those whose imaginary parts are greatest in absolute terms"),
        (Spectrum::SmallestImaginary, "SI", "Those whose imaginary parts are least in absolute terms"),
    ];
}

outcore_declare::from_names!(Spectrum);

impl Spectrum {
    /// The part of the spectrum that SciPy calls so.
    ///
    /// # Errors
    /// Another name. `SM`, the least magnitude, is none: its method solves systems, which products cannot.
    pub fn from_name(name: &str) -> Result<Self> {
        let names = || Self::ALL.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().join(", ");
        Self::named(name).ok_or_else(|| {
            let reason = match name {
                "SM" => " (eigenvalues near zero need solutions of systems with the matrix, not products)",
                _ => "",
            };
            Error::Usage(format!("expected one of {} for which, found {name:?}{reason}", names()))
        })
    }

    /// Sort key of an eigenvalue: the most wanted one has the greatest.
    pub(crate) fn key(self, value: c64) -> f64 {
        match self {
            Spectrum::LargestMagnitude => value.norm(),
            Spectrum::LargestReal => value.re,
            Spectrum::SmallestReal => -value.re,
            Spectrum::LargestImaginary => value.im.abs(),
            Spectrum::SmallestImaginary => -value.im.abs(),
        }
    }

    /// Whether one is wanted more than the other; of equals that of greater magnitude.
    pub(crate) fn is_before(self, one: c64, other: c64) -> bool {
        let keys = |value: c64| (self.key(value), value.norm());
        keys(one) > keys(other)
    }

    /// The name in checkpoints.
    fn checkpoint_name(self) -> String {
        format!("{self:?}").replace("LargestMagnitude", "Magnitude")
    }
}

/// Declaration for the shell.
pub(crate) static EIGS: SolverDeclaration = SolverDeclaration {
    options: &[
        K,
        Parameter::new("which", Kind::choice::<Spectrum>(), DefaultValue::Name("LM"), "Which eigenvalues"),
        TOL,
        NCV,
        MAXITER,
        SEED,
    ],
    values: Some("the parts of the eigenvalues, and residuals, in the order of the vectors"),
    has_checkpoints: true,
    must_converge: true,
    ..SolverDeclaration::new(
        "eigs",
        "Eigenvalues and eigenvectors of a square matrix that need not be symmetric",
        "the eigenvectors, real and imaginary parts side by side, one row per vertex",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, given: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let which = given.values.choice("which");
    let options = EigsOptions::given(given, "k", which);
    require_real(matrix)?;
    options.check(square_rows(matrix)?)?;
    Ok(Box::new(options))
}

impl SolverPlan for EigsOptions {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let rows = matrix.shape().0 as usize;
        let space = Space { runtime: matrix.graph().runtime().clone(), rows, width: 1, is_complex: false };
        let Sizes { is_small, most_blocks, bytes, .. } = Sizes::of(&space, self);
        Ok(Needs {
            least_bytes: bytes + values_bytes(matrix),
            verify_bytes: vectors_bytes(matrix, 1) + Basis::piece_bytes(&space),
            results_bytes: Basis::piece_bytes(&space),
            vectors: (!is_small)
                .then(|| StoredVectors::new(matrix, most_blocks, most_blocks as u64 * space.block_bytes())),
            columns_per_pass: 1,
            passes: steps_text(is_small, rows, 1),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix)],
            files: None,
            shapes: vec![complex_shape(matrix, self.k)],
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let mut pairs = eigs(matrix, self)?;
        if verify {
            check_complex_pairs(matrix, &pairs.values, &mut pairs.vectors, &pairs.residuals)?;
        }
        let columns = |values: Vec<c64>| {
            vec![
                ("eigenvalue_real", values.iter().map(|value| value.re).collect()),
                ("eigenvalue_imag", values.iter().map(|value| value.im).collect()),
            ]
        };
        let count = pairs.values.len();
        let shape = complex_shape(matrix, count);
        let dense = |vectors| Ok(vec![Dense::new(matrix, Operand::Matrix, shape, Store::Complex(vectors))]);
        pairs.into_found(count, columns, dense)
    }
}

/// Options of the computation of eigenvalues of an unsymmetric matrix.
pub type EigsOptions = SpectralOptions<Spectrum>;

impl Default for EigsOptions {
    fn default() -> Self {
        Self::usual(6, Spectrum::default(), 1)
    }
}

/// Finds some eigenvalues of a square matrix, and their vectors, by the Krylov-Schur method.
///
/// When all wanted ones have converged the method begins again with a random vector beside them, for as many steps as
/// before: so copies of repeated eigenvalues are found, too, though nothing proves that none is missed. Where a
/// spectrum is crowded and `ncv` not much larger than `k`, some may be. Eigenvalues whose vectors are nearly parallel
/// are only as exact as they can be, whatever their residuals; and no residual is asked to be less than the rounding
/// of the longest product. The subspace is in memory as far as there is room, and otherwise in a temporary file beside
/// the image, or where the runtime says. The bits of the result depend on neither.
///
/// *Cost.* At least four vectors of `8 n` bytes in memory, and six small dense matrices of `ncv` columns. A pass over
/// all lists for each vector that is multiplied, and four reads of the subspace where that is on disk.
///
/// # Errors
/// A matrix that is not square; options that cannot be; entries that are not finite, or so small that their squares
/// vanish; too little memory; a page that cannot be read or is damaged; a full disk; a request to stop.
pub fn eigs(matrix: &SparseMatrix, options: &EigsOptions) -> Result<ComplexPairs> {
    options.check(square_rows(matrix)?)?;
    if options.block != 1 {
        return Err(Error::Usage(format!("expected a block of 1 column for eigs, found {}", options.block)));
    }
    let costs = RefCell::new(Costs::new(matrix, "eigs"));
    let Solved { mut pairs, basis, limit, restarts, is_complete } =
        solve(&Counted::new(matrix, Operand::Matrix, &costs)?, options)?;
    let key = |pair: &Pair| options.which.key(pair.value);
    pairs.sort_by(|one, other| key(other).total_cmp(&key(one)));
    pairs.truncate(options.k);
    let count = basis.len();
    let vectors = Vectors::new(basis, matrix, count, Operand::Matrix);
    let values = pairs.iter().map(|pair| pair.value).collect();
    let vectors = ComplexVectors::new(vectors, pairs.iter().map(|pair| pair.parts).collect());
    let residuals = pairs.iter().map(|pair| pair.residual).collect();
    let converged = pairs.iter().filter(|pair| pair.residual <= limit.of(pair.value.norm())).count();
    let residual_bound = limit.of(pairs.iter().map(|pair| pair.value.norm()).fold(0.0, f64::max));
    let ending = Ending { converged, residual_bound, restarts, is_complete };
    let costs = (costs.into_inner(), matrix.pages_per_pass(Operand::Matrix));
    Ok(ComplexPairs::new(matrix, costs, (values, vectors, residuals), ending))
}

struct Pair {
    value: c64,
    parts: Parts,
    residual: f64,
}

/// Eigenpairs in any order, conjugate pairs complete.
struct Solved {
    pairs: Vec<Pair>,
    /// The vectors, real and imaginary parts side by side.
    basis: Basis,
    limit: Limit,
    restarts: u64,
    is_complete: bool,
}

struct Sizes {
    /// Whether the matrix is solved as a dense one.
    is_small: bool,
    most_columns: usize,
    most_blocks: usize,
    small_bytes: u64,
    /// Least bytes of memory of a run.
    bytes: u64,
}

impl Sizes {
    fn of(space: &Space, options: &EigsOptions) -> Self {
        let k = options.k;
        let most_columns = options.ncv.unwrap_or_else(|| usual_columns(space.rows, k)).max(k + MORE_COLUMNS);
        let is_small = space.rows <= DENSE_ROWS.max(2 * (most_columns + 1));
        let (most_blocks, small) = if is_small { (k + 1, space.rows) } else { (most_columns + 2, most_columns + 1) };
        let small_bytes = DENSE_COPIES * 8 * (small * small) as u64;
        // Two vectors and their products are checked at the end.
        let vector_bytes = Basis::least_bytes(space, most_blocks).saturating_add(2 * space.block_bytes());
        let bytes = vector_bytes.saturating_add(small_bytes);
        Sizes { is_small, most_columns, most_blocks, small_bytes, bytes }
    }
}

fn solve(operator: &dyn Operator<'_>, options: &EigsOptions) -> Result<Solved> {
    let (k, space, graph) = (options.k, space(operator, 1), operator.matrix().graph());
    let Sizes { is_small, most_columns, most_blocks, small_bytes, bytes } = Sizes::of(&space, options);
    graph.make_room("eigenvectors", bytes)?;
    let _reservation = space.runtime.budget().reserve("small dense matrices", small_bytes)?;
    let mut basis = Basis::new(space, Room::of(operator), most_blocks)?;
    let (which, cancel) = (options.which, graph.runtime().cancel());
    let (schur, wanted, norm, (restarts, is_complete)) = if is_small {
        let matrix = entries(operator, &mut basis)?;
        let mut schur = Schur::new(&matrix, cancel)?.ok_or_else(|| operator.breakdown(greatest(&matrix)))?;
        schur.sort(k, cancel, |one, other| which.is_before(one, other))?;
        let wanted = schur.end_of_block(k);
        push_columns(&mut basis, &(schur.space(wanted) * schur.eigenvectors(wanted, cancel)?))?;
        let norm = matrix.col_iter().map(|column| column.norm_l2()).fold(0.0, f64::max);
        (schur, wanted, norm, (0, true))
    } else {
        let goal = Goal {
            count: k,
            which,
            // Residuals of locked vectors and of those found after them add up.
            tolerance: options.tol / 2.0,
            least_tolerance: LEAST_TOLERANCE,
            most_columns,
            most_restarts: options.max_iterations,
            seed: options.seed,
        };
        let (part, tol, seed) = (which.checkpoint_name(), options.tol, options.seed);
        let run = format!("eigs, k {k}, {part}, tol {tol:e}, ncv {most_columns}, seed {seed}");
        let checkpoint = Checkpoint::open(operator, options.checkpoint.as_deref(), &run)?;
        let mut run = KrylovSchur::new(operator, basis, goal);
        let (schur, wanted, is_complete) = run.run(checkpoint)?;
        basis = run.basis;
        basis.truncate(basis.len() - 1);
        basis.rotate(&(schur.space(wanted) * schur.eigenvectors(wanted, cancel)?))?;
        (schur, wanted, run.iteration.norm, (run.iteration.restarts, is_complete))
    };
    check_scale(operator, norm, &mut basis)?;
    let pairs = measured(operator, &mut basis, &schur, wanted)?;
    let rounding = rounding(operator.matrix()) * schur.largest().max(norm);
    let limit = Limit { relative: options.tol, rounding };
    Ok(Solved { pairs, basis, limit, restarts, is_complete })
}

/// Appends the columns of a small matrix with as many rows as the vectors.
fn push_columns(basis: &mut Basis, columns: &Mat<f64>) -> Result<()> {
    for column in columns.col_iter() {
        let mut vector = basis.fresh()?;
        vector.iter_mut().zip(column.iter()).for_each(|(to, &number)| *to = number);
        basis.push(vector);
    }
    Ok(())
}

/// Vectors that are multiplied together: two real ones, the parts of a complex one, or a real one.
struct Group {
    first: usize,
    columns: usize,
    is_complex: bool,
}

fn groups(schur: &Schur, wanted: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for first in schur.blocks(wanted) {
        let is_complex = schur.rows_at(first) == 2;
        match groups.last_mut() {
            Some(last) if !is_complex && last.columns == 1 => last.columns = 2,
            _ => groups.push(Group { first, columns: schur.rows_at(first), is_complex }),
        }
    }
    groups
}

/// Makes the vectors length 1, and computes the eigenvalues and residuals that belong to them from products.
fn measured(operator: &dyn Operator<'_>, basis: &mut Basis, schur: &Schur, wanted: usize) -> Result<Vec<Pair>> {
    let rows = basis.space.rows;
    let space = Space { width: 2, ..basis.space.clone() };
    basis.leave(2 * space.block_bytes())?;
    let block = || space.zeros("eigenvectors");
    let (mut factor, mut product) = (block()?, block()?);
    let (mut pairs, mut scales) = (Vec::new(), Mat::<f64>::zeros(wanted, wanted));
    for group in groups(schur, wanted) {
        factor.fill(0.0);
        for column in 0..group.columns {
            basis.copy(group.first + column, &mut product[..rows])?;
            factor.iter_mut().skip(column).step_by(2).zip(&*product).for_each(|(to, &number)| *to = number);
        }
        operator.apply(&factor, 2, &mut product)?;
        let (gram, dots) = (space.dots(&factor, &factor)?, space.dots(&factor, &product)?);
        if !(0..4).all(|at| dots[at / 2][at % 2].is_finite()) {
            return Err(operator.too_large());
        }
        let (values, lengths) = group.values(&gram, &dots);
        space.add_product(&factor, &group.minus(&values), &mut product)?;
        let errors = space.dots(&product, &product)?;
        if !(0..2).all(|at| errors[at][at].is_finite()) {
            return Err(operator.too_large());
        }
        group.pairs(&values, &lengths, &errors, &mut pairs);
        (group.first..).zip(lengths).for_each(|(column, length)| scales[(column, column)] = 1.0 / length);
    }
    drop((factor, product));
    basis.rotate(&scales)?;
    Ok(pairs)
}

impl Group {
    /// The Rayleigh quotients, and the length of the vector that each column belongs to.
    fn values(&self, gram: &Square, dots: &Square) -> (Vec<c64>, Vec<f64>) {
        if self.is_complex {
            let square = gram[0][0] + gram[1][1];
            let value = c64::new(dots[0][0] + dots[1][1], dots[0][1] - dots[1][0]) / square;
            return (vec![value], vec![square.sqrt(); 2]);
        }
        let value = |i: usize| c64::new(dots[i][i] / gram[i][i], 0.0);
        ((0..self.columns).map(value).collect(), (0..self.columns).map(|i| gram[i][i].sqrt()).collect())
    }

    /// The negated eigenvalues as a small matrix: products plus the columns times it are the residuals.
    fn minus(&self, values: &[c64]) -> Square {
        let mut minus = ZERO;
        match *values {
            [c64 { re, im }] if self.is_complex => {
                [minus[0][0], minus[0][1], minus[1][0], minus[1][1]] = [-re, -im, im, -re];
            }
            _ => values.iter().enumerate().for_each(|(i, value)| minus[i][i] = -value.re),
        }
        minus
    }

    fn pairs(&self, values: &[c64], lengths: &[f64], errors: &Square, pairs: &mut Vec<Pair>) {
        for (i, (&value, length)) in values.iter().zip(lengths).enumerate() {
            let error = if self.is_complex { errors[0][0] + errors[1][1] } else { errors[i][i] };
            let residual = error.sqrt() / length;
            let sign = if self.is_complex { 1.0f64.copysign(value.im) } else { 0.0 };
            let (re, value) = (self.first + i, c64::new(value.re, value.im.abs()));
            pairs.push(Pair { value, parts: Parts { re, sign }, residual });
            if self.is_complex {
                pairs.push(Pair { value: value.conj(), parts: Parts { re, sign: -sign }, residual });
            }
        }
    }
}
