//! k-means: centres with the least sum of squared distances of rows from the next one, by Lloyd's iterations.
//!
//! *Idea.* A fold of rows finds the next centre of each by products, both less a common shift, and sums what is next to
//! each centre, and squared distances exactly (`lloyd.rs`). An iteration that finds the sums of the one before has
//! found its labels. Labels of the result are a lazy array, of the same products. Centres without rows go to the rows
//! that are farthest from their centres, which takes a further pass. *Cost.* One pass per iteration, `n k p`
//! multiplications; `k p` numbers. With centres that are given nothing else; otherwise `rounds + 2` passes first
//! (`seeding.rs`). A last pass finds the sum of squares for the last centres, unless labels did not change. Nothing of
//! the size of `n` is kept. Bounds on distances, which would save products, are open.
//!
//! Lloyd, *Least squares quantization in PCM*, IEEE Trans. Inf. Theory 1982.

use crate::class_moments::{ClassMoments, Classes};
use crate::common::{Costs, array, columns, matrix, no_overflow, operands, positive, scalar, usage};
use crate::declare::{
    Data, Declaration, Fact, Found, N_INIT, Plan, SEED, Table, count, numbered, real, rows_shape, size, unconverged,
};
use crate::finite::finite_rows;
use crate::lloyd::{Lloyd, Sums, scores};
use crate::seeding::{Pick, picked, reclustered};
use outcore_algo::Values;
use outcore_array::kernel::{Binary, Fold, Unary};
use outcore_array::{Array, ElementType};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;
use std::sync::Arc;

/// Where centres begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KMeansStart<'a> {
    /// At rows that are picked by chance, by k-means||.
    Parallel {
        /// How often rows are picked, one for each centre at a time.
        rounds: usize,
    },
    /// At these places, row by row (`k x p`).
    Centres(&'a [f64]),
}

/// Options of [`kmeans`].
#[derive(Clone, Copy, Debug)]
pub struct KMeansOptions<'a> {
    /// How many centres.
    pub clusters: usize,
    /// Where they begin.
    pub start: KMeansStart<'a>,
    /// How many starts are tried; the best result counts.
    pub starts: usize,
    /// The most iterations of each.
    pub most_iterations: usize,
    /// The centres are found if all together move by squared distances of no more than this times the mean variance of
    /// the columns.
    pub tolerance: f64,
    /// What decides by chance.
    pub seed: u64,
    /// As how many rows each row counts (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for KMeansOptions<'_> {
    fn default() -> Self {
        let start = KMeansStart::Parallel { rounds: 5 };
        let (most_iterations, tolerance) = (300, 1e-4);
        KMeansOptions { clusters: 8, start, starts: 1, most_iterations, tolerance, seed: 0, weights: None }
    }
}

/// Centres of clusters.
#[derive(Clone, Debug)]
pub struct KMeans {
    /// The centres, row by row (`k x p`).
    pub centres: Vec<f64>,
    /// The sum of squared distances of rows from the next centre, times weights.
    pub inertia: f64,
    /// How many rows are next to each centre, or the sum of their weights.
    pub counts: Vec<f64>,
    /// How many iterations the best start took.
    pub iterations: usize,
    /// Whether the centres did not move any more, within the tolerance.
    pub converged: bool,
    /// What rows and centres are lessened by where they are multiplied.
    shift: Vec<f64>,
    /// What it cost: all starts together.
    pub stats: Stats,
}

/// Finds `clusters` centres of the rows of `x` (`n x p`). One pass per iteration, see above.
///
/// # Errors
/// NaN or infinite elements; no cluster, or more than rows; centres of another number of columns; weights below 0.
pub fn kmeans(runtime: &Arc<Runtime>, x: &Array, options: &KMeansOptions<'_>) -> Result<KMeans> {
    let x = matrix(x)?;
    let (rows, p, k) = (x.shape()[0], columns(&x), options.clusters);
    if k == 0 || k as u64 > rows {
        return usage(format!("expected 1 to {rows} clusters, as many as rows at most, found {k}"));
    }
    let mut costs = Costs::default();
    let mut best: Option<Run<'_>> = None;
    let starts = if matches!(options.start, KMeansStart::Centres(_)) { 1 } else { options.starts.max(1) };
    for start in 0..starts as u64 {
        let mut run = Run::new(runtime, &x, options, options.seed.wrapping_add(start << 32), &mut costs)?;
        run.iterate(options, &mut costs)?;
        if best.as_ref().is_none_or(|best| run.inertia < best.inertia) {
            best = Some(run);
        }
    }
    let Run { shift, centres, counts, inertia, iterations, stopped_by, .. } = best.expect("a start");
    let centres = centres.iter().enumerate().map(|(place, centre)| centre + shift[place % p]).collect();
    let (converged, stats) = (stopped_by != "iterations", costs.finish(Some(stopped_by)));
    Ok(KMeans { centres, inertia, counts, iterations, converged, shift, stats })
}

/// A start, under way.
struct Run<'a> {
    runtime: &'a Arc<Runtime>,
    x: &'a Array,
    weights: Option<&'a Array>,
    shift: Vec<f64>,
    /// The rows less the shift, lazily.
    shifted: Array,
    /// Less the shift.
    centres: Vec<f64>,
    counts: Vec<f64>,
    inertia: f64,
    /// The mean variance of columns, once it is known.
    spread: Option<f64>,
    iterations: usize,
    stopped_by: &'static str,
}

impl<'a> Run<'a> {
    fn new(
        runtime: &'a Arc<Runtime>,
        x: &'a Array,
        options: &KMeansOptions<'a>,
        seed: u64,
        costs: &mut Costs,
    ) -> Result<Self> {
        let (p, k) = (columns(x), options.clusters);
        let with = |shift: Vec<f64>| -> Result<Self> {
            let shifted = x.binary(Binary::Subtract, &array(&shift, &[p]))?;
            let (centres, counts, weights) = (Vec::new(), Vec::new(), options.weights);
            let (inertia, stopped_by) = (f64::INFINITY, "iterations");
            let spread = None;
            Ok(Run { runtime, x, weights, shift, shifted, centres, counts, inertia, spread, iterations: 0, stopped_by })
        };
        let rounds = match options.start {
            KMeansStart::Centres(centres) => {
                if centres.len() != k * p || centres.iter().any(|number| !number.is_finite()) {
                    return usage(format!("expected centres of {k} x {p} finite numbers, found {}", centres.len()));
                }
                let shift = (0..p).map(|i| centres.iter().skip(i).step_by(p).sum::<f64>() / k as f64).collect();
                let mut run = with(shift)?;
                run.centres = centres.iter().enumerate().map(|(i, centre)| centre - run.shift[i % p]).collect();
                return Ok(run);
            }
            KMeansStart::Parallel { rounds } => rounds.max(1),
        };
        // The first candidate, with the moments.
        let factors = usize::from(options.weights.is_some());
        let pick = Pick { columns: p, count: 1, seed: Some(seed), factors };
        let first = Array::fold_rows(pick, &operands(x, options.weights)?)?;
        let found = costs.compute(runtime, &[ClassMoments::of(x, options.weights)?, first])?;
        let moments = Classes::of(&found[0], 1)?;
        let weight = positive(moments.weights[0])?;
        let mut run = with(moments.means.clone())?;
        run.spread = Some(moments.squares.iter().map(|square| square / weight).sum::<f64>() / p as f64);
        run.centres = picked(&found[1], p).remove(0).columns;
        run.centres.iter_mut().zip(&run.shift).for_each(|(centre, shift)| *centre -= shift);
        for round in 1..=rounds as u64 {
            let mut operands = vec![run.shifted.clone(), run.squares(&run.centres)?];
            operands.extend(options.weights.map(|weights| weights.cast(ElementType::Float64)).transpose()?);
            let factors = operands.len() - 1;
            let pick = Pick { columns: p, count: k, seed: Some(seed.wrapping_add(round)), factors };
            let rows = picked(&costs.one(runtime, Array::fold_rows(pick, &operands)?)?, p);
            if rows.is_empty() {
                break;
            }
            rows.into_iter().for_each(|row| run.centres.extend(row.columns));
        }
        let shares = run.assigned(costs, false)?.counts;
        let candidates: Vec<Vec<f64>> = run.centres.chunks_exact(p).map(<[f64]>::to_vec).collect();
        run.centres = reclustered(&candidates, &shares, k, seed).concat();
        Ok(run)
    }

    /// Squared distances from the next of some centres, lazily.
    fn squares(&self, centres: &[f64]) -> Result<Array> {
        let least = scores(&self.shifted, centres)?.fold(Fold::Min, &[1], false)?;
        let own = self.shifted.unary(Unary::Square)?.fold(Fold::Sum, &[1], false)?;
        least.binary(Binary::Add, &own)?.binary(Binary::Maximum, &scalar(0.0))
    }

    /// A pass: sums of what is next to each centre.
    fn assigned(&mut self, costs: &mut Costs, with_spread: bool) -> Result<Sums> {
        let (shift, centres) = (self.shift.clone(), self.centres.clone());
        let fold = Lloyd { shift, centres, is_weighted: self.weights.is_some() };
        let k = self.centres.len() / self.shift.len();
        let mut all = vec![Array::fold_rows(fold, &operands(self.x, self.weights)?)?];
        if with_spread {
            all.push(ClassMoments::of(self.x, self.weights)?);
        }
        let found = costs.compute(self.runtime, &all)?;
        if let Some(moments) = found.get(1) {
            let moments = Classes::of(moments, 1)?;
            let mean = moments.squares.iter().sum::<f64>() / moments.squares.len() as f64;
            self.spread = Some(mean / positive(moments.weights[0])?);
        }
        no_overflow(&found[0])?;
        let (counts, sums) = found[0][1..].split_at(k);
        Ok(Sums { inertia: found[0][0], counts: counts.to_vec(), sums: sums.to_vec() })
    }

    fn iterate(&mut self, options: &KMeansOptions<'_>, costs: &mut Costs) -> Result<()> {
        let p = self.shift.len();
        let mut before: Option<Sums> = None;
        while self.iterations < options.most_iterations {
            let found = self.assigned(costs, self.spread.is_none())?;
            self.iterations += 1;
            let is_same =
                before.as_ref().is_some_and(|before| before.sums == found.sums && before.counts == found.counts);
            if is_same {
                (self.inertia, self.counts, self.stopped_by) = (found.inertia, found.counts, "residual");
                return Ok(());
            }
            let mut moved = found.clone();
            if found.counts.contains(&0.0) {
                self.fill_empty(&mut moved, costs)?;
            }
            let mut change = 0.0;
            for (place, centre) in self.centres.iter_mut().enumerate() {
                if moved.counts[place / p] > 0.0 {
                    let next = moved.sums[place] / moved.counts[place / p];
                    change += (next - *centre) * (next - *centre);
                    *centre = next;
                }
            }
            before = Some(found);
            if change <= options.tolerance * self.spread.unwrap_or(0.0) {
                self.stopped_by = "residual";
                break;
            }
        }
        let last = self.assigned(costs, false)?;
        (self.inertia, self.counts) = (last.inertia, last.counts);
        Ok(())
    }

    /// Moves centres without rows to the rows that are farthest from theirs.
    fn fill_empty(&self, sums: &mut Sums, costs: &mut Costs) -> Result<()> {
        let (p, empty) = (self.shift.len(), sums.counts.iter().filter(|count| **count == 0.0).count());
        let labels = scores(&self.shifted, &self.centres)?.arg(false, 1, true)?.cast(ElementType::Float64)?;
        let mut squares = self.squares(&self.centres)?;
        let shares = match self.weights {
            None => Array::full(vec![self.x.shape()[0]], outcore_array::kernel::Scalar::Float64(1.0))?,
            Some(weights) => weights.cast(ElementType::Float64)?,
        };
        squares = shares.binary(Binary::Greater, &scalar(0.0))?.select(&squares, &scalar(0.0))?;
        let rows = Array::join(&[self.shifted.clone(), labels, shares.with_axis(1)?], 1)?;
        let pick = Pick { columns: p + 2, count: empty, seed: None, factors: 1 };
        let found = costs.one(self.runtime, Array::fold_rows(pick, &[rows, squares])?)?;
        let empty: Vec<usize> = (0..sums.counts.len()).filter(|&own| sums.counts[own] == 0.0).collect();
        for (to, row) in empty.into_iter().zip(picked(&found, p + 2)) {
            let (from, share) = (row.columns[p] as usize, row.columns[p + 1]);
            // Less than rounding of distances leaves is none.
            let size: f64 = row.columns[..p].iter().map(|value| value * value).sum();
            if -row.key <= 1e-14 * size || sums.counts[from] <= share {
                continue;
            }
            for i in 0..p {
                sums.sums[from * p + i] -= share * row.columns[i];
                sums.sums[to * p + i] = share * row.columns[i];
            }
            sums.counts[from] -= share;
            sums.counts[to] = share;
        }
        Ok(())
    }
}

impl KMeans {
    /// The numbers of the next centres (`n`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict(&self, x: &Array) -> Result<Array> {
        let p = self.shift.len();
        let shifted = finite_rows(x)?.binary(Binary::Subtract, &array(&self.shift, &[p]))?;
        let centres: Vec<f64> =
            self.centres.iter().enumerate().map(|(place, centre)| centre - self.shift[place % p]).collect();
        scores(&shifted, &centres)?.arg(false, 1, false)
    }
}

/// The command of the shell.
pub(crate) const KMEANS: Declaration = Declaration {
    name: "kmeans",
    aliases: &["k_means"],
    summary: "Clusters of rows by k-means, one pass per iteration",
    options: &[
        count("n_clusters", 8, "How many clusters"),
        N_INIT,
        count("max_iter", 300, "The most iterations"),
        real("tol", 1e-4, "It ends when centres move by no more than so many times the mean variance, in squares"),
        SEED,
    ],
    output: "the number of every row's cluster",
    must_converge: true,
    plan,
};

fn plan(data: &Data, values: Values) -> Result<Plan> {
    let (x, columns, rows) = (matrix(&data.array)?, data.names.clone(), data.rows());
    let (clusters, starts, seed) = (size(&values, "n_clusters"), size(&values, "n_init"), values.whole("seed"));
    let (most_iterations, tolerance) = (size(&values, "max_iter"), values.real("tol"));
    if clusters as u64 > rows {
        return usage(format!("expected 1 to {rows} clusters, as many as rows at most, found {clusters}"));
    }
    let centres = vec![0.0; clusters * columns.len()];
    let shift = array(&vec![0.0; columns.len()], &[columns.len()]);
    let written = scores(&x.binary(Binary::Subtract, &shift)?, &centres)?.arg(false, 1, false)?;
    let fold = Lloyd { shift: vec![0.0; columns.len()], centres, is_weighted: false };
    let pass = vec![Array::fold_rows(fold, std::slice::from_ref(&x))?, ClassMoments::of(&x, None)?];
    let (output, fitted) = (rows_shape(data, vec!["label".to_owned()], true), columns.clone());
    let run = move |runtime: &Arc<Runtime>| -> Result<Found> {
        let start = KMeansStart::Parallel { rounds: 5 };
        let options = KMeansOptions { clusters, start, starts, most_iterations, tolerance, seed, weights: None };
        let found = kmeans(runtime, &x, &options)?;
        let names = ["count".to_owned()].into_iter().chain(columns.clone()).collect();
        let mut table = Table::of_rows(("cluster", numbered("", clusters)), columns.clone(), &found.centres);
        table.columns.insert(0, found.counts.clone());
        table.names = names;
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(columns.clone())),
            ("cluster_centers", Fact::matrix(&found.centres, clusters)),
            ("counts", Fact::vector(&found.counts)),
            ("inertia", Fact::Real(found.inertia)),
            ("n_iter", Fact::Whole(found.iterations as u64)),
            ("converged", Fact::Flag(found.converged)),
        ];
        let (iterations, inertia) = (found.iterations, found.inertia);
        let lines = vec![format!("{clusters} clusters of {rows} rows, inertia {inertia}, {iterations} iterations")];
        let (rows, unconverged) = (found.predict(&x)?, unconverged(found.converged, iterations));
        let rows = Some((rows, vec!["label".to_owned()]));
        Ok(Found { lines, table, facts, rows, unconverged, stats: found.stats })
    };
    let all = format!("7 to begin, up to {most_iterations} iterations, and 1 or 2 more");
    let passes = format!("{all}, for each of {starts} starts; one to write labels");
    Ok(Plan { pass, passes, output, rows: Some(written), columns: fitted, run: Box::new(run) })
}
