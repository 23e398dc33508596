//! Non-negative factors of a sparse matrix: `A ~ W H` in the least squares sense, with entries that are not negative.
//!
//! *Idea.* With one factor fixed the rows of the other are problems of their own, of k numbers each, which know `A` by
//! one product: `A H^T` for `W`, `A^T W` for `H`. An iteration improves `W` and then `H`, by one of two rules.
//! *Multiplicative updates* scale every number by the ratio of the gradient's two parts; *HALS*, hierarchical
//! alternating least squares, sets one column after the other to its best values. Neither lets the loss grow.
//!
//! *Loss.* `|A - W H|^2 = |A|^2 - 2 <A^T W, H^T> + <W^T W, H H^T>` takes no pass of its own.
//!
//! *Order.* `W` and `H^T` are tall matrices with rows in the order of the image. Sums over rows are those of stripes
//! in their order, so bits depend on neither threads nor memory.
//!
//! *Cost.* One pass for `|A|^2`, and two for each iteration and 32 columns. `8 k (m + n + max(m, n))` bytes for an m x
//! n matrix; with less memory panels of columns lie in a temporary file, but for `8 (m + n)` bytes for each column of
//! a pass.
//!
//! Lee and Seung, *Algorithms for non-negative matrix factorization*, NIPS 2000; Cichocki and Phan, *Fast local
//! algorithms for large scale nonnegative matrix and tensor factorizations*, IEICE Trans. Fundamentals 2009; Zheng,
//! *FlashX: massive data analysis using fast I/O*, 2016, section 4.4.3.

mod pieces;

use crate::checkpoint::{Blocks, Checkpoint, Get, Put, Resumable, Words, resume, save_if_due};
use crate::declare::{
    Needs, RANDOM_STATE, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, StoredVectors, both_shapes,
    both_sides, pass_bytes, values_bytes,
};
use crate::nmf::pieces::{Gram, Piece, Sums, change, inner_product};
use crate::operator::{Costs, Counted, Operator, check_entries, require_real};
use crate::tall::Space;
use crate::tall::basis::temporary_folder;
use crate::tall::kernels::{MOST_WIDTH, Square};
use crate::tall::panels::{Layout, Panels};
use crate::tall::vectors::Vectors;
use crate::verify::{check_factors, vectors_bytes};
use outcore_declare::{DefaultValue, Fact, Kind, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_ingest::Choice;
use outcore_io::{Buffer, Reservation, lock};
use outcore_matrix::{EntrySums, MOST_COLUMNS, Operand, SparseMatrix};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Mutex;

/// The most components.
pub const MOST_COMPONENTS: usize = 64;
/// Replacement of a zero divisor, as in scikit-learn: the distance from 1 to the next 32-bit floating-point number.
const EPSILON: f64 = f32::EPSILON as f64;
/// Number of iterations of multiplicative updates between two convergence checks.
const CHECKED_ITERATIONS: u64 = 10;

/// The update rule of the factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Solver {
    /// Hierarchical alternating least squares.
    #[default]
    Hals,
    /// Multiplicative updates.
    MultiplicativeUpdates,
}

impl Choice for Solver {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Solver::Hals, "hals", "Hierarchical alternating least squares, which is coordinate descent"),
        (Solver::MultiplicativeUpdates, "mu", "Multiplicative updates"),
    ];
}

outcore_declare::from_names!(Solver);

/// Declaration for the shell.
pub(crate) static NMF: SolverDeclaration = SolverDeclaration {
    options: &[
        Parameter::whole("n_components", 8, "How many columns W has, and rows H; at most 64").with_aliases(&["k"]),
        Parameter::new("solver", Kind::choice::<Solver>(), DefaultValue::Name("hals"), "How factors are improved"),
        Parameter::real(
            "tol",
            1e-4,
            "When it ends. hals: the sum of the lengths of all derivatives that lead to less loss, in units of that of \
             the first iteration; mu: by how much the loss's root falls in ten iterations",
        ),
        Parameter::whole("max_iter", 200, "The most iterations"),
        Parameter::real("alpha_w", 0.0, "A penalty for W, for each column of the matrix"),
        Parameter::real("alpha_h", 0.0, "A penalty for H, for each row of the matrix"),
        Parameter::real("l1_ratio", 0.0, "The share of the penalties that is for the sum of the numbers"),
        RANDOM_STATE,
    ],
    right: Some("the transpose of H, one row per column of the matrix"),
    values: Some("the loss, |A - W H|^2, in the beginning and after every iteration"),
    has_checkpoints: true,
    ..SolverDeclaration::new(
        "nmf",
        "Non-negative factors W and H of a matrix without negative entries",
        "W, one row per row of the matrix",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, SolverInput { values, checkpoint, .. }: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let options = NmfOptions {
        checkpoint,
        n_components: values.size("n_components"),
        solver: values.choice("solver"),
        tol: values.real("tol"),
        max_iterations: values.whole("max_iter"),
        alpha_w: values.real("alpha_w"),
        alpha_h: values.real("alpha_h"),
        l1_ratio: values.real("l1_ratio"),
        seed: values.whole("random_state"),
    };
    require_real(matrix)?;
    check_options(&options)?;
    Ok(Box::new(options))
}

impl SolverPlan for NmfOptions {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let sizes = Sizes::of(matrix, self.n_components);
        let least_bytes = Sizes::with(matrix, self.n_components, 1).least_bytes;
        let panels = sizes.layout.panels() as u64;
        // A larger limit may have room for wider panels.
        let widest = self.n_components.next_power_of_two().min(MOST_COLUMNS);
        let results_bytes = 2 * Sizes::with(matrix, self.n_components, widest).layout.buffer_bytes();
        Ok(Needs {
            least_bytes: least_bytes + values_bytes(matrix),
            verify_bytes: vectors_bytes(matrix, self.n_components) + results_bytes,
            results_bytes,
            vectors: Some(StoredVectors {
                in_memory: sizes.is_in_memory,
                ..StoredVectors::new(matrix, 3 * self.n_components, sizes.panels_bytes)
            }),
            columns_per_pass: sizes.layout.panel_columns,
            passes: format!(
                "at most {}: one, and {} over rows and {} over columns for each of at most {} iterations",
                self.max_iterations.saturating_mul(2 * panels).saturating_add(1),
                panels,
                panels,
                self.max_iterations
            ),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix), pass_bytes(matrix, Operand::Transpose)],
            files: None,
            shapes: both_shapes(matrix, self.n_components),
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let mut factors = nmf(matrix, self)?;
        let loss = factors.losses.last().copied().unwrap_or(0.0);
        if verify {
            check_factors(matrix, &mut factors.w, &mut factors.h_transposed, loss)?;
        }
        let Nmf { w, h_transposed, losses, iterations, converged, products, stats } = factors;
        let stopped_by = if converged { "tol" } else { "max_iter" };
        let (error, first) = (loss.sqrt(), losses[0].sqrt());
        Ok(SolverFinding {
            lines: vec![
                format!("error {error}, the root of |A - W H|^2; in the beginning {first}"),
                format!("{iterations} iterations, stopped by {stopped_by}; {products} products"),
            ],
            values: vec![("loss", losses)],
            facts: vec![
                ("iterations", Fact::Whole(iterations)),
                ("converged", Fact::Flag(converged)),
                ("products", Fact::Whole(products)),
            ],
            dense: both_sides(matrix, w, h_transposed),
            unconverged: None,
            stats,
        })
    }
}

/// Options of a non-negative factorization; names are those of scikit-learn.
#[derive(Clone, Debug)]
pub struct NmfOptions {
    /// Number of columns of W and rows of H.
    pub n_components: usize,
    /// The update rule.
    pub solver: Solver,
    /// When it ends. For HALS: the sum of the lengths of all derivatives that lead to less loss, in units of that of
    /// the first iteration. For multiplicative updates: by how much the loss's root falls in ten iterations, in units
    /// of what it was in the beginning.
    pub tol: f64,
    /// The most iterations.
    pub max_iterations: u64,
    /// A penalty for W, for each column of the matrix.
    pub alpha_w: f64,
    /// A penalty for H, for each row of the matrix.
    pub alpha_h: f64,
    /// The share of the penalties that is for the sum of the numbers; the rest is for half the sum of their squares.
    pub l1_ratio: f64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Folder of a checkpoint, as in [`EigshOptions`](crate::EigshOptions).
    pub checkpoint: Option<PathBuf>,
}

impl NmfOptions {
    /// The parameters that decide the bits of a run beside the matrix.
    fn text(&self) -> String {
        let &NmfOptions { n_components, solver, tol, alpha_w, alpha_h, l1_ratio, seed, .. } = self;
        format!(
            "nmf, n_components {n_components}, {solver:?}, tol {tol:e}, alpha_w {alpha_w:e}, alpha_h {alpha_h:e}, \
             l1_ratio {l1_ratio}, seed {seed}"
        )
    }
}

impl Default for NmfOptions {
    fn default() -> Self {
        NmfOptions {
            n_components: 8,
            solver: Solver::default(),
            tol: 1e-4,
            max_iterations: 200,
            alpha_w: 0.0,
            alpha_h: 0.0,
            l1_ratio: 0.0,
            seed: 0,
            checkpoint: None,
        }
    }
}

/// Non-negative factors.
#[derive(Debug)]
#[non_exhaustive]
pub struct Nmf {
    /// W, with a row for each row of the matrix.
    pub w: Vectors,
    /// The transpose of H, with a row for each column of the matrix.
    pub h_transposed: Vectors,
    /// The sum of the squares of `A - W H` in the beginning and after every iteration, without penalties. A loss below
    /// about 10^-15 of the sum of the squares of `A` is rounding.
    pub losses: Vec<f64>,
    /// Number of iterations.
    pub iterations: u64,
    /// Whether it ended because of `tol`.
    pub converged: bool,
    /// Number of vectors multiplied by the matrix or its transpose.
    pub products: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Finds non-negative factors W and H of a matrix without negative entries.
///
/// Factors begin with random numbers between 0 and the root of the entries' mean by `n_components`. The bits of the
/// result depend on neither threads nor memory.
///
/// # Errors
/// Negative entries; options that cannot be; entries that are too large, or so small that their squares vanish; too
/// little memory for a column of each factor; a page that cannot be read or is damaged; a full disk; a request to stop.
pub fn nmf(matrix: &SparseMatrix, options: &NmfOptions) -> Result<Nmf> {
    check_options(options)?;
    let costs = RefCell::new(Costs::new(matrix, "nmf"));
    require_real(matrix)?;
    let sums = matrix.entry_sums(&mut costs.borrow_mut().stats)?;
    check_entries(matrix, &sums)?;
    if sums.least < 0.0 {
        let (image, least) = (matrix.graph().path().display(), sums.least);
        return Err(Error::Unsuitable(format!("expected entries that are not negative in {image}, found {least}")));
    }
    let (run, converged) = {
        let forward = Counted::new(matrix, Operand::Matrix, &costs)?;
        let backward = Counted::new(matrix, Operand::Transpose, &costs)?;
        let checkpoint = Checkpoint::open(&forward, options.checkpoint.as_deref(), &options.text())?;
        let mut run = Run::new(matrix, options, &sums)?;
        let converged = run.run(&forward, &backward, options, sums.sum_of_squares, checkpoint)?;
        (run, converged)
    };
    let (costs, iterations) = (costs.into_inner(), run.iterations());
    Ok(Nmf {
        w: Vectors::of_panels(run.w.panels, matrix, Operand::Matrix),
        h_transposed: Vectors::of_panels(run.h.panels, matrix, Operand::Transpose),
        losses: run.losses,
        iterations,
        converged,
        products: 2 * iterations * options.n_components as u64,
        stats: costs.stats.finish(matrix.graph().runtime(), matrix.pages_per_pass(Operand::Matrix)),
    })
}

fn check_options(options: &NmfOptions) -> Result<()> {
    let &NmfOptions { n_components, tol, max_iterations, alpha_w, alpha_h, l1_ratio, .. } = options;
    let usage = |text: String| Err(Error::Usage(text));
    if !(1..=MOST_COMPONENTS).contains(&n_components) {
        return usage(format!("expected n_components from 1 to {MOST_COMPONENTS}, found {n_components}"));
    }
    if !(0.0..=1.0).contains(&tol) {
        return usage(format!("expected tol from 0 to 1, found {tol}"));
    }
    if max_iterations == 0 {
        return usage("expected max_iter of at least 1, found 0".to_owned());
    }
    for (name, alpha) in [("alpha_w", alpha_w), ("alpha_h", alpha_h)] {
        if !(0.0..f64::INFINITY).contains(&alpha) {
            return usage(format!("expected {name} of at least 0, found {alpha}"));
        }
    }
    match (0.0..=1.0).contains(&l1_ratio) {
        true => Ok(()),
        false => usage(format!("expected l1_ratio from 0 to 1, found {l1_ratio}")),
    }
}

/// W, or the transpose of H.
struct Factor {
    panels: Panels,
    /// Its transpose times itself.
    gram: Gram,
    /// Penalties added to the gradient and to the second derivatives.
    penalty: [f64; 2],
    /// Room for a panel of it, or of a product with as many rows, if there are any on disk.
    hold: Buffer<f64>,
}

struct Run {
    solver: Solver,
    w: Factor,
    h: Factor,
    product: Panels,
    buffers: Vec<Mutex<Buffer<f64>>>,
    /// The loss in the beginning and after every iteration.
    losses: Vec<f64>,
    /// The violation of the first iteration, and the root of the loss that was checked last.
    first_violation: f64,
    checked: f64,
    /// Memory for the sums of stripes.
    _reservation: Reservation,
}

/// Layout of the factors and the memory they need.
struct Sizes {
    layout: Layout,
    /// Whether memory has room for both factors and the product.
    is_in_memory: bool,
    /// The numbers that a worker works on.
    worker_numbers: usize,
    sums_bytes: u64,
    panels_bytes: u64,
    /// Bytes needed if no column stays in memory.
    least_bytes: u64,
    work_bytes: u64,
}

impl Sizes {
    /// The sizes for this number of columns in the free memory: a panel has as many of them as fit.
    fn of(matrix: &SparseMatrix, columns: usize) -> Self {
        let available = matrix.graph().runtime().budget().available_bytes();
        let mut panel_columns = columns.next_power_of_two().min(MOST_COLUMNS);
        let mut sizes = Sizes::with(matrix, columns, panel_columns);
        sizes.is_in_memory = sizes.panels_bytes.saturating_add(sizes.work_bytes) <= available;
        while !sizes.is_in_memory && panel_columns > 1 && sizes.least_bytes > available {
            panel_columns /= 2;
            sizes = Sizes::with(matrix, columns, panel_columns);
        }
        sizes
    }

    /// The sizes for these numbers of columns in all and in a panel; `is_in_memory` is false.
    fn with(matrix: &SparseMatrix, columns: usize, panel_columns: usize) -> Self {
        let (m, n) = (matrix.shape().0 as usize, matrix.shape().1 as usize);
        let (runtime, most_rows) = (matrix.graph().runtime(), m.max(n));
        let layout = Layout::new(columns, panel_columns, most_rows);
        let worker_numbers = 3 * layout.piece_numbers() + layout.piece_rows * layout.panel_columns;
        let space = Space { runtime: runtime.clone(), rows: most_rows, width: layout.block_width(), is_complex: false };
        let sums_bytes = (space.most_stripes() * layout.blocks().pow(2) * size_of::<Square>()) as u64;
        let buffers_bytes = 3 * layout.buffer_bytes();
        let work_bytes = 8 * (runtime.threads() * worker_numbers) as u64 + buffers_bytes + sums_bytes;
        let panels_bytes = 8 * (layout.padded_columns() * (m + n + most_rows)) as u64;
        let least_bytes = 8 * (layout.panel_columns * (m + n)) as u64 + work_bytes;
        Sizes { layout, is_in_memory: false, worker_numbers, sums_bytes, panels_bytes, least_bytes, work_bytes }
    }

    fn needed_bytes(&self) -> u64 {
        if self.is_in_memory { self.panels_bytes + self.work_bytes } else { self.least_bytes }
    }
}

impl Run {
    /// A run with random factors. Memory is taken for as many columns of a pass as there is room for, and then for
    /// panels.
    fn new(matrix: &SparseMatrix, options: &NmfOptions, sums: &EntrySums) -> Result<Self> {
        let (graph, columns) = (matrix.graph(), options.n_components);
        let (m, n) = (matrix.shape().0 as usize, matrix.shape().1 as usize);
        let (runtime, most_rows) = (graph.runtime(), m.max(n));
        let budget = runtime.budget();
        let sizes = Sizes::of(matrix, columns);
        let Sizes { layout: chosen, is_in_memory, .. } = sizes;
        graph.make_room("non-negative factors", sizes.needed_bytes())?;
        let mut room_bytes = sizes.panels_bytes;
        if !is_in_memory {
            room_bytes = budget.available_bytes() - sizes.least_bytes;
        }
        let reservation = budget.reserve("sums of stripes", sizes.sums_bytes)?;
        let array = |purpose, numbers| Buffer::zeroed(budget, purpose, numbers);
        let buffer = |_| Ok(Mutex::new(array("pieces of factors", sizes.worker_numbers)?));
        let buffers = (0..runtime.threads()).map(buffer).collect::<Result<_>>()?;
        let mut panels = |rows| {
            let space = Space { runtime: runtime.clone(), rows, width: chosen.block_width(), is_complex: false };
            Panels::new(space, chosen, temporary_folder(graph), &mut room_bytes)
        };
        let factor = |panels: Panels, alpha: f64, hold_rows: usize| {
            let penalty = [alpha * options.l1_ratio, alpha * (1.0 - options.l1_ratio)];
            let hold_numbers = if is_in_memory { 0 } else { hold_rows * chosen.panel_columns };
            Ok::<_, Error>(Factor { panels, gram: Gram::new(), penalty, hold: array("a panel", hold_numbers)? })
        };
        let w = factor(panels(m)?, options.alpha_w * n as f64, m)?;
        let h = factor(panels(n)?, options.alpha_h * m as f64, n)?;
        let mut run = Run {
            solver: options.solver,
            w,
            h,
            product: panels(most_rows)?,
            buffers,
            losses: Vec::new(),
            first_violation: 0.0,
            checked: 0.0,
            _reservation: reservation,
        };
        let mean = sums.sum / (m as f64 * n as f64).max(1.0);
        run.randomize((mean / columns as f64).sqrt(), options.seed)?;
        Ok(run)
    }

    /// Fills the factors with random numbers, which the seed and their places decide.
    fn randomize(&mut self, scale: f64, seed: u64) -> Result<()> {
        let first = [0, self.w.panels.space.rows];
        for (factor, first) in [&mut self.w, &mut self.h].into_iter().zip(first) {
            let sums = change(&self.buffers, &mut factor.panels, None, &|piece| piece.randomize(first, scale, seed))?;
            factor.gram = sums.gram;
        }
        Ok(())
    }

    /// Improves both factors until they are good enough; returns whether they are.
    fn run(
        &mut self,
        forward: &Counted<'_, '_>,
        backward: &Counted<'_, '_>,
        options: &NmfOptions,
        squares: f64,
        mut checkpoint: Option<Checkpoint<'_>>,
    ) -> Result<bool> {
        resume(&mut checkpoint, self)?;
        let loss = |inner: f64, w: &Gram, h: &Gram| match squares - 2.0 * inner + inner_product(w, h) {
            loss if loss.is_finite() => Ok(loss.max(0.0)),
            _ => Err(forward.too_large()),
        };
        for iteration in self.iterations() + 1.. {
            save_if_due(&mut checkpoint, self)?;
            let before = self.w.gram.clone();
            let of_w = improve(forward, self.solver, &self.buffers, &mut self.product, &mut self.h, &mut self.w)?;
            if iteration == 1 {
                self.losses.push(loss(of_w.inner[0], &before, &self.h.gram)?);
                self.checked = self.losses[0].sqrt();
            }
            let of_h = improve(backward, self.solver, &self.buffers, &mut self.product, &mut self.w, &mut self.h)?;
            let now = loss(of_h.inner[1], &self.w.gram, &self.h.gram)?;
            self.losses.push(now);
            let violation = of_w.violation + of_h.violation;
            if iteration == 1 {
                self.first_violation = violation;
            }
            let is_good = match self.solver {
                Solver::Hals => violation <= options.tol * self.first_violation,
                Solver::MultiplicativeUpdates if iteration % CHECKED_ITERATIONS == 0 => {
                    let fall = std::mem::replace(&mut self.checked, now.sqrt()) - now.sqrt();
                    fall <= options.tol * self.losses[0].sqrt()
                }
                Solver::MultiplicativeUpdates => false,
            };
            if is_good || iteration >= options.max_iterations {
                return Ok(is_good);
            }
        }
        unreachable!("there is an iteration that is the last")
    }

    /// Number of iterations made: there is a loss before the first, too.
    fn iterations(&self) -> u64 {
        self.losses.len().saturating_sub(1) as u64
    }
}

impl Resumable for Run {
    fn blocks(&mut self) -> &mut dyn Blocks {
        self
    }

    fn state(&mut self, words: &mut Words) -> Option<()> {
        for factor in [&mut self.w, &mut self.h] {
            words.slice(factor.gram.as_flattened_mut().as_flattened_mut())?;
        }
        let mut numbers = [self.first_violation, self.checked];
        words.slice(&mut numbers)?;
        [self.first_violation, self.checked] = numbers;
        words.list(&mut self.losses)
    }
}

impl Blocks for Run {
    fn serials(&self) -> Vec<u64> {
        vec![2 * self.iterations(), 2 * self.iterations() + 1]
    }

    fn give(&mut self, block: usize, put: Put<'_>) -> Result<()> {
        let memory = &mut lock(&self.buffers[0]);
        [&mut self.w, &mut self.h][block].panels.give(memory, put)
    }

    fn take(&mut self, serial: u64, get: Get<'_>) -> Result<()> {
        let memory = &mut lock(&self.buffers[0]);
        [&mut self.w, &mut self.h][serial as usize % 2].panels.take(memory, get)
    }
}

/// Improves a factor, with the other one fixed.
fn improve(
    operator: &Counted<'_, '_>,
    solver: Solver,
    buffers: &[Mutex<Buffer<f64>>],
    product: &mut Panels,
    fixed: &mut Factor,
    free: &mut Factor,
) -> Result<Sums> {
    product.set_rows(free.panels.space.rows);
    for panel in 0..product.layout.panels() {
        let factor = fixed.panels.panel(panel, &mut fixed.hold)?;
        let width = product.layout.width(panel);
        product.replace(panel, &mut free.hold, |found| operator.apply(factor, width, found))?;
    }
    let (mut gram, [push, shift]) = (fixed.gram.clone(), free.penalty);
    let blocks = product.layout.blocks();
    for square in gram.iter_mut().step_by(blocks + 1) {
        (0..MOST_WIDTH).for_each(|i| square[i][i] += shift);
    }
    let sums = match solver {
        Solver::Hals => {
            change(buffers, &mut free.panels, Some(product), &|piece: &mut Piece<'_>| piece.descend(&gram, push))
        }
        Solver::MultiplicativeUpdates => {
            change(buffers, &mut free.panels, Some(product), &|piece: &mut Piece<'_>| piece.scale(&gram, push))
        }
    }?;
    free.gram.clone_from(&sums.gram);
    Ok(sums)
}
