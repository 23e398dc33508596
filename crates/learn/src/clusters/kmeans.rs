//! k-means: centres with the least sum of squared distances of rows from the next one, by Lloyd's iterations.
//!
//! *Idea.* A fold of rows finds the next centre of each by products, both less a common shift, and sums what is next to
//! each centre, and squared distances exactly (`lloyd.rs`). An iteration that finds the sums of the one before has
//! found its labels. Labels of the result are a lazy array, of distances by differences. Centres without rows go to the
//! rows that are farthest from their centres, which takes a further pass. *Cost.* One pass per iteration, `n k p`
//! multiplications, fewer where rows can be told to stay (`bounds.rs`); `k p` numbers, and 4 bytes per row for bounds
//! where there are 64 centres or more and memory has room. With centres that are given nothing else; otherwise
//! passes for the start, `rounds + 2` of them (`seeding.rs`). A last pass finds the sum of squares for the last
//! centres, unless an iteration found it, and labels did not change.
//!
//! Lloyd, *Least squares quantization in PCM*, IEEE Trans. Inf. Theory 1982.

use crate::clusters::bounds::{Bounds, Look};
use crate::clusters::lloyd::{Lloyd, MOST_MULTIPLIED, Sums, squared_distances};
use crate::clusters::seeding::{Nearest, Pick, picked, reclustered, reclustering_bytes};
use crate::common::{Costs, array_of, columns, finite_rows, matrix, no_overflow, operands, positive, scalar, usage};
use crate::declare::{
    Data, N_INIT, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable, numbered, rows_shape,
    unconverged,
};
use crate::moments::class_moments::{ClassMoments, Classes};
use crate::phases::{Phase, bytes_of, require, require_own};
use outcore_array::kernel::{Binary, Fold, Scalar};
use outcore_array::{Array, ElementType};
use outcore_declare::{Fact, OptionValues, Parameter};
use outcore_image::{Result, Stats};
use outcore_io::Runtime;

/// Method for the initial centres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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
    pub max_iterations: usize,
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
        let (max_iterations, tolerance) = (300, 1e-4);
        KMeansOptions { clusters: 8, start, starts: 1, max_iterations, tolerance, seed: 0, weights: None }
    }
}

/// Centres of clusters.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
pub fn kmeans(runtime: &Runtime, x: &Array, options: &KMeansOptions<'_>) -> Result<KMeans> {
    let x = matrix(x)?;
    let (rows, p, k) = (x.shape()[0], columns(&x), options.clusters);
    if k == 0 || k as u64 > rows {
        return usage(format!("expected 1 to {rows} clusters, as many as rows at most, found {k}"));
    }
    require(runtime, "k-means", &phases(runtime, &x, options)?)?;
    let _memory = runtime.budget().reserve("centres of k-means", own_bytes(options, p))?;
    let mut costs = Costs::default();
    let mut best: Option<Run<'_>> = None;
    let starts = if matches!(options.start, KMeansStart::Centres(_)) { 1 } else { options.starts.max(1) };
    for start in 0..starts as u64 {
        let mut run = Run::new(runtime, &x, options.weights)?;
        run.start(options, options.seed.wrapping_add(start << 32), &mut costs)?;
        run.bounds = Bounds::new(runtime, rows, k);
        run.iterate(options, &mut costs)?;
        run.bounds = None;
        if best.as_ref().is_none_or(|best| run.inertia < best.inertia) {
            best = Some(run);
        }
    }
    let Run { input, centres, counts, inertia, iterations, stopped_by, .. } = best.expect("a start");
    let centres = centres.iter().enumerate().map(|(place, centre)| centre + input.shift[place % p]).collect();
    let (converged, stats) = (stopped_by != "iterations", costs.finish(Some(stopped_by)));
    Ok(KMeans { centres, inertia, counts, iterations, converged, stats })
}

/// The phases of a fit: the start, an iteration, and what moves centres without rows.
pub(crate) fn phases(runtime: &Runtime, x: &Array, options: &KMeansOptions<'_>) -> Result<Vec<Phase>> {
    let (p, k, own_bytes) = (columns(x), options.clusters, own_bytes(options, columns(x)));
    require_own(runtime, "k-means", own_bytes)?;
    let input = Input::new(x, options.weights, vec![0.0; p])?;
    let moments = ClassMoments::of(x, options.weights)?;
    let mut passes = vec![
        vec![input.sums(vec![0.0; k * p], false, None)?, moments.clone()],
        vec![input.farthest(vec![0.0; k * p], k)?],
    ];
    if let KMeansStart::Parallel { rounds } = options.start {
        let picks = (rounds.max(1) - 1) * k + 1;
        passes.push(vec![moments, input.picks(None, None, 1, 0)?]);
        passes.push(vec![input.picks(Some(vec![0.0; picks * p]), None, k, 0)?]);
        passes.push(vec![input.sums(vec![0.0; (picks + k) * p], false, None)?]);
    }
    Ok(passes.into_iter().map(|arrays| Phase::pass(arrays, own_bytes)).collect())
}

/// Memory of the centres of a fit: those of each step, sums, and what a pass has of both; of a start the candidates.
fn own_bytes(options: &KMeansOptions<'_>, p: usize) -> u64 {
    let k = options.clusters;
    let iterations = bytes_of(80, &[k, p + 2]);
    match options.start {
        KMeansStart::Parallel { rounds } => {
            let candidates = rounds.max(1).saturating_mul(k).saturating_add(1);
            let (all, passes) = (bytes_of(8, &[candidates, p + 2]), bytes_of(40, &[candidates, p + 2]));
            iterations.max(passes).max(all.saturating_add(reclustering_bytes(candidates, p, k)))
        }
        KMeansStart::Centres(_) => iterations,
    }
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

/// The rows of a fit.
struct Input<'a> {
    x: &'a Array,
    weights: Option<&'a Array>,
    shift: Vec<f64>,
    /// The rows less the shift, lazily.
    shifted: Array,
}

impl<'a> Input<'a> {
    fn new(x: &'a Array, weights: Option<&'a Array>, shift: Vec<f64>) -> Result<Self> {
        let shifted = x.binary(Binary::Subtract, &array_of(shift.clone(), &[shift.len()]))?;
        Ok(Input { x, weights, shift, shifted })
    }

    /// Random rows, lazily: by their squared distances from the nearest of some centres, and of those that are in
    /// `nearest`, times weights.
    fn picks(&self, centres: Option<Vec<f64>>, nearest: Option<&Nearest>, count: usize, seed: u64) -> Result<Array> {
        let mut operands = vec![if centres.is_some() { self.shifted.clone() } else { self.x.clone() }];
        operands.extend(centres.map(|centres| self.squares(centres)).transpose()?);
        operands.extend(self.weights.map(|weights| weights.cast(ElementType::Float64)).transpose()?);
        let (columns, factors, nearest) = (columns(self.x), operands.len() - 1, nearest.map(Nearest::rows));
        Array::fold_rows(Pick { columns, count, seed: Some(seed), factors, nearest }, &operands)
    }

    /// Squared distances of rows from the nearest of some centres, lazily.
    fn squares(&self, centres: Vec<f64>) -> Result<Array> {
        squared_distances(&self.shifted, centres)?.fold(Fold::Min, &[1], false)
    }

    /// The sums over the rows nearest to each centre, lazily, and perhaps that of their squared distances.
    fn sums(&self, centres: Vec<f64>, with_inertia: bool, look: Option<Look>) -> Result<Array> {
        let (shift, is_weighted) = (self.shift.clone(), self.weights.is_some());
        let fold = Lloyd { shift, centres, is_weighted, with_inertia, look };
        Array::fold_rows(fold, &operands(self.x, None, self.weights)?)
    }

    /// The `count` rows that are farthest from their centres, with the number of that and their weights, lazily.
    fn farthest(&self, centres: Vec<f64>, count: usize) -> Result<Array> {
        let p = self.shift.len();
        let labels =
            squared_distances(&self.shifted, centres.clone())?.arg(false, Some(1), true)?.cast(ElementType::Float64)?;
        let mut squares = self.squares(centres)?;
        let shares = match self.weights {
            None => Array::full(vec![self.x.shape()[0]], Scalar::Float64(1.0))?,
            Some(weights) => weights.cast(ElementType::Float64)?,
        };
        squares = shares.binary(Binary::Greater, &scalar(0.0))?.select(&squares, &scalar(0.0))?;
        let rows = Array::join(&[self.shifted.clone(), labels, shares.with_axis(1)?], 1)?;
        Array::fold_rows(Pick { columns: p + 2, count, seed: None, factors: 1, nearest: None }, &[rows, squares])
    }
}

/// A start, under way.
struct Run<'a> {
    runtime: &'a Runtime,
    input: Input<'a>,
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
    /// A start without centres.
    fn new(runtime: &'a Runtime, x: &'a Array, weights: Option<&'a Array>) -> Result<Self> {
        Ok(Run {
            runtime,
            input: Input::new(x, weights, vec![0.0; columns(x)])?,
            centres: Vec::new(),
            counts: Vec::new(),
            inertia: f64::INFINITY,
            bounds: None,
            spread: None,
            iterations: 0,
            stopped_by: "iterations",
        })
    }

    /// Finds the first centres.
    fn start(&mut self, options: &KMeansOptions<'a>, seed: u64, costs: &mut Costs) -> Result<()> {
        let (p, k) = (columns(self.input.x), options.clusters);
        let rounds = match options.start {
            KMeansStart::Centres(centres) => {
                if centres.len() != k * p || centres.iter().any(|number| !number.is_finite()) {
                    return usage(format!("expected centres of {k} x {p} finite numbers, found {}", centres.len()));
                }
                self.input = Input::new(self.input.x, self.input.weights, middle(centres, p))?;
                self.centres = centres.iter().enumerate().map(|(i, centre)| centre - self.input.shift[i % p]).collect();
                return Ok(());
            }
            KMeansStart::Parallel { rounds } => rounds.max(1),
        };
        // The first candidate, with the moments.
        let found = costs.compute(
            self.runtime,
            &[ClassMoments::of(self.input.x, self.input.weights)?, self.input.picks(None, None, 1, seed)?],
        )?;
        let moments = Classes::of(&found[0], 1)?;
        let weight = positive(moments.weights[0])?;
        self.input = Input::new(self.input.x, self.input.weights, moments.means.clone())?;
        self.spread = Some(moments.squares.iter().map(|square| square / weight).sum::<f64>() / p as f64);
        let (_, row) = picked(&found[1], p).next().expect("a row");
        self.centres = row.iter().zip(&self.input.shift).map(|(centre, shift)| centre - shift).collect();
        let (mut nearest, mut before) = (Nearest::new(self.runtime, self.input.x.shape()[0]), 0);
        for round in 1..=rounds as u64 {
            // Distances from candidates before are stored.
            let first = if nearest.is_some() { before } else { 0 };
            let seed = seed.wrapping_add(round);
            let pick = |first: usize, nearest: Option<&Nearest>| {
                self.input.picks(Some(self.centres[first..].to_vec()), nearest, k, seed)
            };
            let found = match costs.one(self.runtime, pick(first, nearest.as_ref())?) {
                Err(error) if error.is_out_of_memory() && nearest.is_some() => {
                    nearest = None;
                    costs.one(self.runtime, pick(0, None)?)?
                }
                found => found?,
            };
            before = self.centres.len();
            picked(&found, p).for_each(|(_, row)| self.centres.extend(row));
            if self.centres.len() == before {
                break;
            }
        }
        drop(nearest);
        let shares = self.assigned(costs, false, false)?.counts;
        self.centres = reclustered(self.runtime, &self.centres, &shares, k, seed)?;
        Ok(())
    }

    /// A pass: the sums over the rows nearest to each centre, and perhaps that of squared distances.
    fn assigned(&mut self, costs: &mut Costs, with_spread: bool, with_inertia: bool) -> Result<Sums> {
        let k = self.centres.len() / self.input.shift.len();
        let look = self.bounds.as_ref().map(|bounds| bounds.look(self.runtime, &self.centres, self.input.shift.len()));
        let mut all = vec![self.input.sums(self.centres.clone(), with_inertia, look.transpose()?)?];
        if with_spread {
            all.push(ClassMoments::of(self.input.x, self.input.weights)?);
        }
        let found = match costs.compute(self.runtime, &all) {
            Err(error) if error.is_out_of_memory() && self.bounds.is_some() => {
                self.bounds = None;
                return self.assigned(costs, with_spread, with_inertia);
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
        let p = self.input.shift.len();
        let mut before: Option<Sums> = None;
        while self.iterations < options.max_iterations {
            let found = self.assigned(costs, self.spread.is_none(), false)?;
            self.iterations += 1;
            if before.as_ref().is_some_and(|before| before.sums == found.sums && before.counts == found.counts) {
                self.stopped_by = "residual";
                if found.counts.len() > MOST_MULTIPLIED {
                    (self.inertia, self.counts) = (found.inertia, found.counts);
                    return Ok(());
                }
                break;
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
        let last = self.assigned(costs, false, true)?;
        (self.inertia, self.counts) = (last.inertia, last.counts);
        Ok(())
    }

    /// Moves centres without rows to the rows that are farthest from theirs.
    fn fill_empty(&mut self, sums: &mut Sums, costs: &mut Costs) -> Result<()> {
        let p = self.input.shift.len();
        let empty: Vec<usize> = (0..sums.counts.len()).filter(|&own| sums.counts[own] == 0.0).collect();
        let farthest = self.input.farthest(self.centres.clone(), empty.len())?;
        let found = match costs.one(self.runtime, farthest.clone()) {
            Err(error) if error.is_out_of_memory() && self.bounds.is_some() => {
                self.bounds = None;
                costs.one(self.runtime, farthest)?
            }
            found => found?,
        };
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
        squared_distances(&finite_rows(x)?, self.centres.clone())?.arg(false, Some(1), false)
    }
}

pub(crate) static KMEANS: StatisticDeclaration = StatisticDeclaration {
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
    ..StatisticDeclaration::new(
        "kmeans",
        "Clusters of rows by k-means, one pass per iteration",
        "the number of every row's cluster",
        plan,
    )
};

fn plan(data: &Data, values: OptionValues) -> Result<StatisticPlan> {
    let (x, columns, rows) = (matrix(&data.array)?, data.names.clone(), data.rows());
    let (clusters, starts, seed) = (values.size("n_clusters"), values.size("n_init"), values.whole("seed"));
    let (max_iterations, tolerance) = (values.size("max_iter"), values.real("tol"));
    if clusters as u64 > rows {
        return usage(format!("expected 1 to {rows} clusters, as many as rows at most, found {clusters}"));
    }
    let start = KMeansStart::Parallel { rounds: 5 };
    let options = KMeansOptions { clusters, start, starts, max_iterations, tolerance, seed, weights: None };
    let (p, phases) = (columns.len(), phases(&data.runtime, &x, &options)?);
    let written = squared_distances(&x, vec![0.0; clusters * p])?.arg(false, Some(1), false)?;
    let (output, fitted) = (rows_shape(data, vec!["label".to_owned()], true), columns.clone());
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let found = kmeans(runtime, &x, &options)?;
        let mut table = StatisticTable::of_rows(("cluster", numbered("", clusters)), columns.clone(), &found.centres);
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
        Ok(StatisticFinding { lines, table, facts, rows, unconverged, stats: found.stats })
    };
    let all = format!("7 to begin, up to {max_iterations} iterations, and 1 or 2 more");
    let passes = format!("{all}, for each of {starts} starts; one to write labels");
    let result_bytes = bytes_of(32, &[clusters, p + 1]);
    Ok(StatisticPlan { phases, result_bytes, passes, output, rows: Some(written), columns: fitted, run: Box::new(run) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{array, uniform};
    use outcore_io::RuntimeOptions;

    /// Asserts equal bits of fits with and without bounds. Returns the share of rows that the bounds keep at their
    /// centre at the end.
    fn check(numbers: &[f64], p: usize, centres: &[f64], weights: Option<&Array>) -> f64 {
        let rows = numbers.len() / p;
        let options = RuntimeOptions { memory_bytes: Some(256 << 20), beside_process: true, ..Default::default() };
        let runtime = Runtime::new(options).unwrap();
        let (x, start) = (array(numbers, &[rows, p]), KMeansStart::Centres(centres));
        let clusters = centres.len() / p;
        let options = KMeansOptions { clusters, start, tolerance: 0.0, weights, ..KMeansOptions::default() };
        let mut found = Vec::new();
        let mut stay = 0.0;
        for with_bounds in [false, true] {
            let mut run = Run::new(&runtime, &x, options.weights).unwrap();
            run.start(&options, 0, &mut Costs::default()).unwrap();
            if with_bounds {
                run.bounds = Bounds::new(&runtime, rows as u64, clusters);
                assert!(run.bounds.is_some());
            }
            run.iterate(&options, &mut Costs::default()).unwrap();
            found.push([run.centres.clone(), run.counts.clone(), vec![run.inertia, run.iterations as f64]].concat());
            if let Some(bounds) = &run.bounds {
                let look = bounds.look(&runtime, &run.centres, p).unwrap();
                let count = (0..rows).filter(|&row| {
                    let known = look.known(row as u64);
                    let own =
                        numbers[row * p..][..p].iter().zip(&run.input.shift).zip(&run.centres[known.1 * p..][..p]);
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

    /// Rows that are picked by all candidates at once, and by those of each round.
    #[test]
    fn stored_distances_change_no_pick() {
        let (rows, p, k) = (9001, 5, 7);
        let numbers = uniforms(3, rows * p);
        let options = RuntimeOptions { memory_bytes: Some(256 << 20), beside_process: true, ..Default::default() };
        let runtime = Runtime::new(options).unwrap();
        let weights: Vec<f64> = (0..rows).map(|row| (row % 3) as f64).collect();
        let (x, weights) = (array(&numbers, &[rows, p]), array(&weights, &[rows]));
        let input = Input::new(&x, Some(&weights), vec![0.5; p]).unwrap();
        let nearest = Nearest::new(&runtime, rows as u64).unwrap();
        for round in 0..3 {
            let (before, behind) = (round * k * p, (round + 1) * k * p);
            let mut costs = Costs::default();
            let all = input.picks(Some(numbers[..behind].to_vec()), None, k, round as u64).unwrap();
            let own = input.picks(Some(numbers[before..behind].to_vec()), Some(&nearest), k, round as u64).unwrap();
            let (all, own) = (costs.one(&runtime, all).unwrap(), costs.one(&runtime, own).unwrap());
            assert!(all.iter().zip(&own).all(|(one, other)| one.to_bits() == other.to_bits()), "round {round}");
        }
    }

    /// Centres that rows are added to as products with weights, and one by one.
    #[test]
    fn few_centres_are_those_of_rows_that_are_added_one_by_one() {
        for (rows, p, k, scale) in [(1500, 3, 16, 1.0), (9001, 8, 5, 1e8), (2100, 17, 1, 1e-3), (9, 33, 4, 1.0)] {
            let numbers: Vec<f64> = uniforms(p as u64, rows * p).iter().map(|number| number * scale).collect();
            let options = RuntimeOptions { memory_bytes: Some(256 << 20), beside_process: true, ..Default::default() };
            let runtime = Runtime::new(options).unwrap();
            let shares: Vec<f64> = (0..rows).map(|row| (row % 4) as f64 * 0.25).collect();
            let (x, shares) = (array(&numbers, &[rows, p]), array(&shares, &[rows]));
            for weights in [None, Some(&shares)] {
                let input = Input::new(&x, weights, vec![0.5 * scale; p]).unwrap();
                let centres: Vec<f64> = numbers[..k * p].iter().map(|number| number - 0.5 * scale).collect();
                let found = [false, true].map(|with_inertia| {
                    let sums = input.sums(centres.clone(), with_inertia, None).unwrap();
                    Costs::default().one(&runtime, sums).unwrap()
                });
                // Counts are the same, and sums but for the order of additions; the inertia is one of products.
                assert_eq!(found[0][1..=k], found[1][1..=k], "{rows} {p} {k}");
                let bound = 1e-13 * scale * rows as f64;
                let pairs = found[0][k + 1..].iter().zip(&found[1][k + 1..]);
                assert!(pairs.clone().all(|(one, other)| (one - other).abs() <= bound), "{rows} {p} {k}");
                assert!((found[0][0] / found[1][0] - 1.0).abs() < 1e-9, "{rows} {p} {k}");
            }
        }
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
