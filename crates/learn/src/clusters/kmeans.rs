//! k-means: centres with the least sum of squared distances of rows from the next one, by Lloyd's iterations.
//!
//! *Idea.* A fold of rows finds the next centre of each by products, both less a common shift, and sums what is next to
//! each centre, and squared distances exactly (`lloyd.rs`). An iteration that finds the sums of the one before has
//! found its labels. Labels of the result are a lazy array, of distances by differences. Centres without rows go to the
//! rows that are farthest from their centres, which takes a further pass. *Cost.* One pass per iteration, `n k p`
//! multiplications, fewer where rows can be told to stay (`bounds.rs`); `k p` numbers, and 4 bytes per row for bounds
//! where there are 64 centres or more and memory has room. With centres that are given nothing else; otherwise
//! `rounds + 2` passes first (`seeding.rs`). A last pass finds the sum of squares for the last centres, unless labels
//! did not change.
//!
//! Lloyd, *Least squares quantization in PCM*, IEEE Trans. Inf. Theory 1982.

use crate::clusters::bounds::Bounds;
use crate::clusters::lloyd::{Lloyd, Sums, squared_distances};
use crate::clusters::seeding::{Pick, picked, reclustered};
use crate::common::{Costs, array, columns, finite_rows, matrix, no_overflow, operands, positive, scalar, usage};
use crate::declare::{Data, Declaration, Found, N_INIT, Plan, Table, numbered, rows_shape, unconverged};
use crate::moments::class_moments::{ClassMoments, Classes};
use outcore_array::kernel::{Binary, Fold, Scalar};
use outcore_array::{Array, ElementType};
use outcore_declare::{Fact, Parameter, Values};
use outcore_image::{Error, Result, Stats};
use outcore_io::Runtime;
use std::sync::Arc;

/// Method for the initial centres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KMeansStart<'a> {
    /// At rows that are picked by chance, by k-means||.
    Parallel {
        /// Number of rounds; each picks as many rows as there are centres.
        rounds: usize,
    },
    /// At these places, row by row (`k x p`).
    Centres(&'a [f64]),
}

/// Options of [`kmeans`].
#[derive(Clone, Copy, Debug)]
pub struct KMeansOptions<'a> {
    /// Number of centres.
    pub clusters: usize,
    /// Initial centres.
    pub start: KMeansStart<'a>,
    /// Number of starts; the best result is returned.
    pub starts: usize,
    /// The most iterations of each.
    pub most_iterations: usize,
    /// The centres are found if all together move by squared distances of no more than this times the mean variance of
    /// the columns.
    pub tolerance: f64,
    /// Random seed.
    pub seed: u64,
    /// Weight of each row, as a number of rows (`n`).
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
    /// Number of rows nearest to each centre, or the sum of their weights.
    pub counts: Vec<f64>,
    /// Number of iterations of the best start.
    pub iterations: usize,
    /// Whether the centres did not move any more, within the tolerance.
    pub converged: bool,
    /// Statistics of all starts together.
    pub stats: Stats,
}

/// Finds `clusters` centres of the rows of `x` (`n x p`). One pass per iteration, and those for the start.
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
        run.bounds = Bounds::new(runtime, rows, k);
        run.iterate(options, &mut costs)?;
        run.bounds = None;
        if best.as_ref().is_none_or(|best| run.inertia < best.inertia) {
            best = Some(run);
        }
    }
    let Run { shift, centres, counts, inertia, iterations, stopped_by, .. } = best.expect("a start");
    let centres = centres.iter().enumerate().map(|(place, centre)| centre + shift[place % p]).collect();
    let (converged, stats) = (stopped_by != "iterations", costs.finish(Some(stopped_by)));
    Ok(KMeans { centres, inertia, counts, iterations, converged, stats })
}

/// The medians of the columns of centres: a centre that is far away does not move them.
fn middle(centres: &[f64], columns: usize) -> Vec<f64> {
    let median = |column: usize| {
        let mut own: Vec<f64> = centres.iter().skip(column).step_by(columns).copied().collect();
        own.sort_by(f64::total_cmp);
        own[own.len() / 2]
    };
    (0..columns).map(median).collect()
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
    /// Bounds of the rows during the iterations.
    bounds: Option<Bounds>,
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
            Ok(Run {
                runtime,
                x,
                weights: options.weights,
                shift,
                shifted,
                centres: Vec::new(),
                counts: Vec::new(),
                inertia: f64::INFINITY,
                bounds: None,
                spread: None,
                iterations: 0,
                stopped_by: "iterations",
            })
        };
        let rounds = match options.start {
            KMeansStart::Centres(centres) => {
                if centres.len() != k * p || centres.iter().any(|number| !number.is_finite()) {
                    return usage(format!("expected centres of {k} x {p} finite numbers, found {}", centres.len()));
                }
                let mut run = with(middle(centres, p))?;
                run.centres = centres.iter().enumerate().map(|(i, centre)| centre - run.shift[i % p]).collect();
                return Ok(run);
            }
            KMeansStart::Parallel { rounds } => rounds.max(1),
        };
        // The first candidate, with the moments.
        let factors = usize::from(options.weights.is_some());
        let pick = Pick { columns: p, count: 1, seed: Some(seed), factors };
        let first = Array::fold_rows(pick, &operands(x, None, options.weights)?)?;
        let found = costs.compute(runtime, &[ClassMoments::of(x, options.weights)?, first])?;
        let moments = Classes::of(&found[0], 1)?;
        let weight = positive(moments.weights[0])?;
        let mut run = with(moments.means.clone())?;
        run.spread = Some(moments.squares.iter().map(|square| square / weight).sum::<f64>() / p as f64);
        let (_, row) = picked(&found[1], p).next().expect("a row");
        run.centres = row.iter().zip(&run.shift).map(|(centre, shift)| centre - shift).collect();
        for round in 1..=rounds as u64 {
            let mut operands = vec![run.shifted.clone(), run.squares(&run.centres)?];
            operands.extend(options.weights.map(|weights| weights.cast(ElementType::Float64)).transpose()?);
            let factors = operands.len() - 1;
            let pick = Pick { columns: p, count: k, seed: Some(seed.wrapping_add(round)), factors };
            let found = costs.one(runtime, Array::fold_rows(pick, &operands)?)?;
            let before = run.centres.len();
            picked(&found, p).for_each(|(_, row)| run.centres.extend(row));
            if run.centres.len() == before {
                break;
            }
        }
        let shares = run.assigned(costs, false)?.counts;
        let candidates: Vec<Vec<f64>> = run.centres.chunks_exact(p).map(<[f64]>::to_vec).collect();
        run.centres = reclustered(&candidates, &shares, k, seed).concat();
        Ok(run)
    }

    /// Squared distances of rows from the nearest of some centres, lazily.
    fn squares(&self, centres: &[f64]) -> Result<Array> {
        squared_distances(&self.shifted, centres)?.fold(Fold::Min, &[1], false)
    }

    /// A pass: the sums over the rows nearest to each centre.
    fn assigned(&mut self, costs: &mut Costs, with_spread: bool) -> Result<Sums> {
        let (shift, centres, k) = (self.shift.clone(), self.centres.clone(), self.centres.len() / self.shift.len());
        let look = self.bounds.as_ref().map(|bounds| bounds.look(&centres, shift.len()));
        let fold = Lloyd { shift, centres, is_weighted: self.weights.is_some(), look };
        let mut all = vec![Array::fold_rows(fold, &operands(self.x, None, self.weights)?)?];
        if with_spread {
            all.push(ClassMoments::of(self.x, self.weights)?);
        }
        let found = match costs.compute(self.runtime, &all) {
            Err(Error::Io(outcore_io::Error::Memory { .. })) if self.bounds.is_some() => {
                self.bounds = None;
                return self.assigned(costs, with_spread);
            }
            found => found?,
        };
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
            if before.as_ref().is_some_and(|before| before.sums == found.sums && before.counts == found.counts) {
                (self.inertia, self.counts, self.stopped_by) = (found.inertia, found.counts, "residual");
                return Ok(());
            }
            let mut moved = found.clone();
            if found.counts.contains(&0.0) {
                self.fill_empty(&mut moved, costs)?;
            }
            let (mut change, centres) = (0.0, self.centres.clone());
            for (place, centre) in self.centres.iter_mut().enumerate() {
                if moved.counts[place / p] > 0.0 {
                    let next = moved.sums[place] / moved.counts[place / p];
                    change += (next - *centre) * (next - *centre);
                    *centre = next;
                }
            }
            if let Some(bounds) = &mut self.bounds {
                bounds.follow(&centres, &self.centres, p);
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
        let p = self.shift.len();
        let empty: Vec<usize> = (0..sums.counts.len()).filter(|&own| sums.counts[own] == 0.0).collect();
        let labels =
            squared_distances(&self.shifted, &self.centres)?.arg(false, 1, true)?.cast(ElementType::Float64)?;
        let mut squares = self.squares(&self.centres)?;
        let shares = match self.weights {
            None => Array::full(vec![self.x.shape()[0]], Scalar::Float64(1.0))?,
            Some(weights) => weights.cast(ElementType::Float64)?,
        };
        squares = shares.binary(Binary::Greater, &scalar(0.0))?.select(&squares, &scalar(0.0))?;
        let rows = Array::join(&[self.shifted.clone(), labels, shares.with_axis(1)?], 1)?;
        let pick = Pick { columns: p + 2, count: empty.len(), seed: None, factors: 1 };
        let found = costs.one(self.runtime, Array::fold_rows(pick, &[rows, squares])?)?;
        for (to, (key, row)) in empty.into_iter().zip(picked(&found, p + 2)) {
            let (from, share) = (row[p] as usize, row[p + 1]);
            // Less than rounding of distances leaves is none.
            let size: f64 = row[..p].iter().map(|value| value * value).sum();
            if -key <= 1e-14 * size || sums.counts[from] <= share {
                continue;
            }
            for (i, value) in row[..p].iter().enumerate() {
                sums.sums[from * p + i] -= share * value;
                sums.sums[to * p + i] = share * value;
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
        squared_distances(&finite_rows(x)?, &self.centres)?.arg(false, 1, false)
    }
}

pub(crate) static KMEANS: Declaration = Declaration {
    aliases: &["k_means"],
    options: &[
        Parameter::count("n_clusters", 8, "How many clusters"),
        N_INIT,
        Parameter::count("max_iter", 300, "The most iterations"),
        Parameter::real(
            "tol",
            1e-4,
            "It ends when centres move by no more than so many times the mean variance, in squares",
        ),
        Parameter::SEED,
    ],
    must_converge: true,
    ..Declaration::new(
        "kmeans",
        "Clusters of rows by k-means, one pass per iteration",
        "the number of every row's cluster",
        plan,
    )
};

fn plan(data: &Data, values: Values) -> Result<Plan> {
    let (x, columns, rows) = (matrix(&data.array)?, data.names.clone(), data.rows());
    let (clusters, starts, seed) = (values.size("n_clusters"), values.size("n_init"), values.whole("seed"));
    let (most_iterations, tolerance) = (values.size("max_iter"), values.real("tol"));
    if clusters as u64 > rows {
        return usage(format!("expected 1 to {rows} clusters, as many as rows at most, found {clusters}"));
    }
    let centres = vec![0.0; clusters * columns.len()];
    let written = squared_distances(&x, &centres)?.arg(false, 1, false)?;
    let fold = Lloyd { shift: vec![0.0; columns.len()], centres, is_weighted: false, look: None };
    let pass = vec![Array::fold_rows(fold, std::slice::from_ref(&x))?, ClassMoments::of(&x, None)?];
    let (output, fitted) = (rows_shape(data, vec!["label".to_owned()], true), columns.clone());
    let run = move |runtime: &Arc<Runtime>| -> Result<Found> {
        let start = KMeansStart::Parallel { rounds: 5 };
        let options = KMeansOptions { clusters, start, starts, most_iterations, tolerance, seed, weights: None };
        let found = kmeans(runtime, &x, &options)?;
        let mut table = Table::of_rows(("cluster", numbered("", clusters)), columns.clone(), &found.centres);
        table.columns.insert(0, found.counts.clone());
        table.names.insert(0, "count".to_owned());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::uniform;
    use outcore_io::RuntimeOptions;

    /// Asserts equal bits of fits with and without bounds. Returns the share of rows that the bounds keep at their
    /// centre at the end.
    fn check(numbers: &[f64], p: usize, centres: &[f64], weights: Option<&Array>) -> f64 {
        let rows = numbers.len() / p;
        let options = RuntimeOptions { memory_bytes: Some(256 << 20), beside_process: true, ..Default::default() };
        let runtime = Arc::new(Runtime::new(options).unwrap());
        let (x, start) = (array(numbers, &[rows, p]), KMeansStart::Centres(centres));
        let clusters = centres.len() / p;
        let options = KMeansOptions { clusters, start, tolerance: 0.0, weights, ..KMeansOptions::default() };
        let mut found = Vec::new();
        let mut stay = 0.0;
        for with_bounds in [false, true] {
            let mut run = Run::new(&runtime, &x, &options, 0, &mut Costs::default()).unwrap();
            if with_bounds {
                run.bounds = Bounds::new(&runtime, rows as u64, clusters);
                assert!(run.bounds.is_some());
            }
            run.iterate(&options, &mut Costs::default()).unwrap();
            found.push([run.centres.clone(), run.counts.clone(), vec![run.inertia, run.iterations as f64]].concat());
            if let Some(bounds) = &run.bounds {
                let look = bounds.look(&run.centres, p);
                let count = (0..rows).filter(|&row| {
                    let known = look.known(row as u64);
                    let own = numbers[row * p..][..p].iter().zip(&run.shift).zip(&run.centres[known.1 * p..][..p]);
                    look.stays(known, own.map(|((value, shift), centre)| (value - shift - centre).powi(2)).sum())
                });
                stay = count.count() as f64 / rows as f64;
            }
        }
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found[0]), bits(&found[1]), "{rows} x {p}, {clusters} clusters");
        stay
    }

    fn uniforms(seed: u64, count: usize) -> Vec<f64> {
        (0..count as u64).map(|place| uniform(seed, place)).collect()
    }

    #[test]
    fn bounds_change_nothing() {
        for (rows, p, k) in [(1500, 3, 65), (9001, 8, 64), (2100, 17, 70)] {
            for scale in [1.0, 1e-160, 1e150] {
                let numbers: Vec<f64> = uniforms(p as u64, rows * p).iter().map(|number| number * scale).collect();
                let weights: Vec<f64> = (0..rows).map(|row| (row % 3) as f64).collect();
                check(&numbers, p, &numbers[..k * p], None);
                check(&numbers, p, &numbers[..k * p], Some(&array(&weights, &[rows])));
            }
        }
    }

    /// Rows that lie in the midst between centres, and that occur several times; centres without rows.
    #[test]
    fn bounds_leave_ties_as_they_are() {
        let grid: Vec<f64> = (0..41 * 41).flat_map(|cell| [(cell % 41) as f64, (cell / 41) as f64]).collect();
        let numbers = [grid.clone(), grid].concat();
        let mut centres: Vec<f64> = (0..64).flat_map(|cell| [(cell % 8 * 5) as f64, (cell / 8 * 5) as f64]).collect();
        check(&numbers, 2, &centres, None);
        centres[..8].copy_from_slice(&[1e3, 1e3, 1e3, 1e3, -1e3, 0.0, 0.0, 0.0]);
        check(&numbers, 2, &centres, None);
    }

    /// Rows around centres mostly stay with them: otherwise bounds would cost more than they save.
    #[test]
    fn rows_of_clusters_stay() {
        let (p, k) = (8, 64);
        let places: Vec<f64> = uniforms(1, k * p).iter().map(|number| 100.0 * number).collect();
        let noise = uniforms(2, 20_000 * p);
        let numbers: Vec<f64> = noise.iter().enumerate().map(|(i, noise)| places[i % (k * p)] + 8.0 * noise).collect();
        let stay = check(&numbers, p, &numbers[..k * p], None);
        assert!(stay > 0.99, "{stay}");
        // Halves of the ways between centres are not enough.
        let stay = check(&noise, p, &noise[..k * p], None);
        assert!(stay > 0.5, "{stay}");
    }
}
