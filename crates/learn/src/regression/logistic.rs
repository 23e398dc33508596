//! Logistic regression, of two classes or of several, with a penalty on the squares of coefficients.
//!
//! *Idea.* The least of `sum w_i loss_i / sum w_i + |coefficients|^2 / (2 c sum w_i)`. Columns are centred (if there is
//! an intercept) and scaled inside, with the penalty of what they were, so that the steps do not depend on units. Steps
//! are Newton's where the matrix of second derivatives is small, and L-BFGS otherwise; a step that does not lessen the
//! value is shortened. *Cost.* One pass for the moments, and one for each step that is tried: value and derivatives
//! together. With `m = k (p + 1)`: Newton takes `n m^2 / 2` multiplications a pass and `m^2` numbers; L-BFGS `2 n m`
//! and `22 m`.
//!
//! Nocedal, Wright, *Numerical Optimization*, 2nd ed., 2006, chapters 3 and 7.

use crate::classes::{Labels, classes_of, named};
use crate::common::{Costs, array, columns, matrix, no_overflow, operands, positive, usage, vector};
use crate::declare::{
    Data, FIT_INTERCEPT, PROBA, StatisticDeclaration, StatisticFinding, StatisticPlan, StatisticTable, TARGET,
    rows_shape, unconverged,
};
use crate::decomposition::pca::projected;
use crate::gaussian_nb::softmax;
use crate::moments::class_moments::{ClassMoments, Classes};
use crate::phases::{Phase, bytes_of, require, require_own};
use crate::regression::linear::linear_terms;
use crate::regression::logistic_loss::Loss;
use crate::regression::separation::Margins;
use crate::regression::steps::{Point, Steps, dot};
use outcore_array::Array;
use outcore_array::kernel::Binary;
use outcore_declare::{Fact, OptionValues, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_io::Runtime;

/// Largest number of parameters for Newton's steps; with more, steps are those of L-BFGS.
const MOST_NEWTON: usize = 200;
/// Most rounds of Newton's steps behind the end that look for a direction that separates classes, and steps of a round.
const MOST_ROUNDS: usize = 5;
const ROUND_STEPS: usize = 3;
/// Most passes that look whether classes are separable: one at the end, and those of rounds.
const MOST_SEPARATION_PASSES: usize = 1 + MOST_ROUNDS * (ROUND_STEPS + 1);
/// Least rise of log odds that a step makes where there is no optimum: Newton's make about 1 there. At an optimum a
/// step is as small as the tolerance.
const LEAST_RISE: f64 = 0.5;
/// Margins of rows on the hyperplane between classes, in units of the greatest margin, as iterations leave them. Those
/// of rows that overlap are greater, even beside a row 10^8 times as far out.
const ROUNDING: f64 = 1e-9;
/// Largest number of halvings of a step.
const HALVINGS: usize = 30;

/// Options of [`logistic_regression`].
#[derive(Clone, Copy, Debug)]
pub struct LogisticRegressionOptions<'a> {
    /// The weight of the losses beside the penalty; infinity for no penalty.
    pub c: f64,
    /// Whether there are intercepts, which are not penalised.
    pub intercept: bool,
    /// The most steps.
    pub max_iterations: usize,
    /// The greatest derivative of a minimum, by scaled columns.
    pub tolerance: f64,
    /// The weights of rows (`n`).
    pub weights: Option<&'a Array>,
}

impl Default for LogisticRegressionOptions<'_> {
    fn default() -> Self {
        LogisticRegressionOptions { c: 1.0, intercept: true, max_iterations: 100, tolerance: 1e-6, weights: None }
    }
}

/// A logistic model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogisticRegression {
    /// The coefficients of all columns, row by row: of class 1 if there are two classes, and of every class otherwise.
    pub coefficients: Vec<f64>,
    /// The intercepts, as many as there are rows of coefficients.
    pub intercept: Vec<f64>,
    /// Number of classes.
    pub classes: usize,
    /// Number of steps.
    pub iterations: usize,
    /// Whether a minimum was found, within the tolerance.
    pub converged: bool,
    /// Whether there is no penalty and a hyperplane separates a class from others, perhaps with rows of several classes
    /// on it (quasi-complete separation): then there is no minimum, for the loss falls as coefficients grow. With more
    /// than 200 parameters, too few iterations, or rows 10^6 times as far out as others, only a model that separates
    /// all classes itself counts for certain.
    pub is_separable: bool,
    /// The value at the minimum.
    pub loss: f64,
    /// Offset subtracted from columns before they are multiplied.
    shift: Vec<f64>,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// The logistic model of `labels` (`n`, from 0 to below `classes`) by `x` (`n x p`). One pass, and one per step;
/// without a penalty one more, and up to 21 where classes are separable.
///
/// # Errors
/// NaN or infinite elements; labels of no class; fewer than 2 classes; weights below 0, or all 0; `c` not above 0.
pub fn logistic_regression(
    runtime: &Runtime,
    x: &Array,
    labels: &Array,
    classes: usize,
    options: &LogisticRegressionOptions<'_>,
) -> Result<LogisticRegression> {
    let x = matrix(x)?;
    if classes < 2 {
        return usage(format!("expected 2 classes or more, found {classes}"));
    }
    if options.c.is_nan() || options.c <= 0.0 {
        return usage(format!("expected c above 0, found {}", options.c));
    }
    let operands = operands(&x, Some(&vector(&x, labels, "labels")?), options.weights)?;
    let (p, rows) = (columns(&x), if classes == 2 { 1 } else { classes });
    let width = p + usize::from(options.intercept);
    require_own(runtime, "logistic regression", own_bytes(rows, width))?;
    require(runtime, "logistic regression", &phases(&x, &operands, rows, width, options)?)?;
    let _memory = runtime.budget().reserve("steps of logistic regression", own_bytes(rows, width))?;
    let mut costs = Costs::default();
    let moments = Classes::of(&costs.one(runtime, ClassMoments::of(&x, options.weights)?)?, 1)?;
    let weight = positive(moments.weights[0])?;
    let scale = |i: usize| {
        let mean = if options.intercept { 0.0 } else { moments.means[i] };
        let scale = (moments.squares[i] / weight + mean * mean).sqrt();
        if scale > 0.0 { 1.0 / scale } else { 1.0 }
    };
    let scale: Vec<f64> = (0..p).map(scale).collect();
    let shift = if options.intercept { moments.means } else { vec![0.0; p] };
    let size = rows * width;
    let mut problem = Problem { runtime, operands: &operands, rows, width, shift, scale, weight, options, costs };
    let Minimum { point: here, iterations, stopped_by } = problem.minimum(size)?;
    let is_separable = options.c.is_infinite() && problem.is_separable(&here)?;
    let Problem { shift, scale, costs, .. } = problem;
    let coefficients: Vec<f64> =
        here.place.chunks_exact(width).flat_map(|row| row.iter().zip(&scale).map(|(own, scale)| own * scale)).collect();
    let at_mean = here.place.chunks_exact(width).map(|row| if options.intercept { row[p] } else { 0.0 });
    let at_shift = |row: &[f64]| row.iter().zip(&shift).map(|(own, shift)| own * shift).sum::<f64>();
    let intercept = balanced(at_mean.zip(coefficients.chunks_exact(p)).map(|(own, row)| own - at_shift(row)).collect());
    let (loss, converged, stats) = (here.value, stopped_by == "residual", costs.finish(Some(stopped_by)));
    Ok(LogisticRegression { coefficients, intercept, classes, iterations, converged, is_separable, loss, shift, stats })
}

/// The phases of a fit for `rows` rows of `width` parameters: the moments, a step, and margins if there is no penalty.
fn phases(
    x: &Array,
    operands: &[Array],
    rows: usize,
    width: usize,
    options: &LogisticRegressionOptions<'_>,
) -> Result<Vec<Phase>> {
    let (p, size, own_bytes) = (columns(x), rows * width, own_bytes(rows, width));
    let (shift, scale, place) = (vec![0.0; p], vec![1.0; p], vec![0.0; size]);
    let (is_newton, is_weighted) = (size <= MOST_NEWTON, options.weights.is_some());
    let loss =
        Loss { rows, width, shift: shift.clone(), scale: scale.clone(), place: place.clone(), is_newton, is_weighted };
    let mut passes = vec![ClassMoments::of(x, options.weights)?, loss.lazy(operands)?];
    if options.c.is_infinite() {
        let margins = Margins { rows, width, shift, scale, directions: vec![place; 2], is_weighted };
        passes.push(margins.lazy(operands)?);
    }
    Ok(passes.into_iter().map(|pass| Phase::pass(vec![pass], own_bytes)).collect())
}

/// Memory of the parameters of a fit: points and directions, past steps, or second derivatives and their factor.
fn own_bytes(rows: usize, width: usize) -> u64 {
    let size = rows.saturating_mul(width);
    bytes_of(320, &[size]).saturating_add(if size <= MOST_NEWTON { bytes_of(64, &[size, size]) } else { 0 })
}

/// Intercepts that add up to 0, as scikit-learn's do, where there are several: only differences matter of them.
fn balanced(mut intercept: Vec<f64>) -> Vec<f64> {
    if intercept.len() > 1 {
        let mean = intercept.iter().sum::<f64>() / intercept.len() as f64;
        intercept.iter_mut().for_each(|own| *own -= mean);
    }
    intercept
}

/// The objective that is minimised.
struct Problem<'a> {
    runtime: &'a Runtime,
    operands: &'a [Array],
    rows: usize,
    /// The parameters of a row: coefficients of scaled columns, and the intercept.
    width: usize,
    shift: Vec<f64>,
    scale: Vec<f64>,
    weight: f64,
    options: &'a LogisticRegressionOptions<'a>,
    costs: Costs,
}

/// The end of the steps.
struct Minimum {
    point: Point,
    iterations: usize,
    stopped_by: &'static str,
}

impl Problem<'_> {
    /// Steps from 0 on, until derivatives are small, or no step lessens the value.
    fn minimum(&mut self, size: usize) -> Result<Minimum> {
        let mut steps = Steps::default();
        let mut here = self.at(vec![0.0; size])?;
        let mut iterations = 0;
        let stopped_by = loop {
            let most = here.gradient.iter().fold(0.0f64, |most, own| most.max(own.abs()));
            let direction = steps.direction(&here);
            let slope = dot(&direction, &here.gradient);
            // If the second derivatives are small as well, small first ones make large steps.
            if most <= self.options.tolerance && (here.hessian.is_empty() || -slope <= self.options.tolerance) {
                break "residual";
            }
            if iterations == self.options.max_iterations {
                break "iterations";
            }
            let (mut length, mut next) = (1.0, None);
            for _ in 0..HALVINGS {
                let place = here.place.iter().zip(&direction).map(|(own, step)| own + length * step).collect();
                let there = self.at(place)?;
                // Values differ by rounding as well.
                if there.value <= here.value + 1e-4 * length * slope + 4.0 * f64::EPSILON * here.value.abs() {
                    next = Some(there);
                    break;
                }
                length /= 2.0;
            }
            // No step lessens the value: that is as far as numbers reach.
            let Some(next) = next else { break "rounding" };
            steps.note(&here, &next);
            here = next;
            iterations += 1;
        };
        Ok(Minimum { point: here, iterations, stopped_by })
    }

    /// Whether there is no minimum without a penalty, because a direction separates classes: the model itself, or
    /// Newton's, which turns to such a direction as coefficients grow: each step makes the margins of rows on the
    /// hyperplane 1/e of what they were, in units of the others, but not those of rows that overlap.
    fn is_separable(&mut self, end: &Point) -> Result<bool> {
        let (mut place, mut direction) = (end.place.clone(), Steps::default().direction(end));
        for round in 0..=MOST_ROUNDS {
            for _ in 0..if round == 0 { 0 } else { ROUND_STEPS } {
                place.iter_mut().zip(&direction).for_each(|(own, step)| *own += step);
                direction = match self.at(place.clone()) {
                    Ok(point) => Steps::default().direction(&point),
                    // Squares overflow on the way.
                    Err(Error::Usage(_)) => return Ok(false),
                    Err(error) => return Err(error),
                };
            }
            let directions =
                if end.hessian.is_empty() { vec![place.clone()] } else { vec![place.clone(), direction.clone()] };
            let margins = self.margins(directions)?;
            if margins[0] > 0.0 {
                return Ok(true);
            }
            let [_, _, least_rise, rise] = margins[..] else { return Ok(false) };
            if rise < LEAST_RISE || !rise.is_finite() {
                return Ok(false);
            }
            if least_rise >= -ROUNDING * rise {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A pass: the least and the greatest margin along each direction.
    fn margins(&mut self, directions: Vec<Vec<f64>>) -> Result<Vec<f64>> {
        let (shift, scale, is_weighted) = (self.shift.clone(), self.scale.clone(), self.operands.len() > 2);
        let fold = Margins { rows: self.rows, width: self.width, shift, scale, directions, is_weighted };
        self.costs.one(self.runtime, fold.lazy(self.operands)?)
    }

    /// A pass: value and derivatives.
    fn at(&mut self, place: Vec<f64>) -> Result<Point> {
        let size = place.len();
        let fold = Loss {
            rows: self.rows,
            width: self.width,
            shift: self.shift.clone(),
            scale: self.scale.clone(),
            place: place.clone(),
            is_newton: size <= MOST_NEWTON,
            is_weighted: self.operands.len() > 2,
        };
        let mut found = self.costs.one(self.runtime, fold.lazy(self.operands)?)?;
        no_overflow(&found)?;
        found.iter_mut().for_each(|number| *number /= self.weight);
        let mut point =
            Point { value: found[0], gradient: found[1..=size].to_vec(), hessian: found[size + 1..].to_vec(), place };
        for (i, &own) in point.place.iter().enumerate() {
            if let Some(scale) = self.scale.get(i % self.width) {
                let penalty = scale * scale / (self.options.c * self.weight);
                point.value += 0.5 * penalty * own * own;
                point.gradient[i] += penalty * own;
                if let Some(entry) = point.hessian.get_mut(i * (size + 1)) {
                    *entry += penalty;
                }
            }
        }
        Ok(point)
    }
}

impl LogisticRegression {
    /// The logarithms of odds (`n x 1`), or of what probabilities are proportional to (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn decision_function(&self, x: &Array) -> Result<Array> {
        linear_terms(x, &self.shift, &self.coefficients, &self.intercept)
    }

    /// The decision function of all classes: of two that of the first is 0.
    fn of_classes(&self, x: &Array) -> Result<Array> {
        let scores = self.decision_function(x)?;
        match self.classes {
            2 => scores.binary(Binary::Multiply, &array(&[0.0, 1.0], &[2])),
            _ => Ok(scores),
        }
    }

    /// The likeliest classes (`n`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict(&self, x: &Array) -> Result<Array> {
        self.of_classes(x)?.arg(true, Some(1), false)
    }

    /// The probabilities of classes (`n x k`), lazily.
    ///
    /// # Errors
    /// Another number of columns.
    pub fn predict_proba(&self, x: &Array) -> Result<Array> {
        softmax(&self.of_classes(x)?)
    }
}

pub(crate) static LOGISTIC: StatisticDeclaration = StatisticDeclaration {
    aliases: &["logistic_regression"],
    options: &[
        TARGET,
        Parameter::real(
            "c",
            1.0,
            "The weight of the losses beside the penalty on squares of coefficients; inf for no penalty",
        ),
        Parameter::real("tol", 1e-6, "It ends when no derivative of the mean loss, by scaled columns, is greater"),
        Parameter::count("max_iter", 100, "The most steps"),
        FIT_INTERCEPT,
        PROBA,
    ],
    must_converge: true,
    ..StatisticDeclaration::new(
        "logistic",
        "Logistic regression of classes, which are whole numbers of a column, by all others; one pass per step",
        "the likeliest class of every row",
        plan,
    )
};

fn plan(data: &Data, values: OptionValues) -> Result<StatisticPlan> {
    let (own, y) = data.split(values.some_name("target").unwrap_or_default())?;
    let (x, columns, rows, proba) = (matrix(&own.array)?, own.names, data.rows(), values.flag("proba"));
    let (intercept, max_iterations) = (values.flag("fit_intercept"), values.size("max_iter"));
    let (c, tolerance) = (values.real("c"), values.real("tol"));
    let options = LogisticRegressionOptions { c, intercept, max_iterations, tolerance, weights: None };
    // The number of classes is not known yet.
    let (p, width) = (columns.len(), columns.len() + usize::from(intercept));
    let phases = phases(&x, &[x.clone(), vector(&x, &y, "labels")?], 1, width, &options)?;
    let result_bytes = bytes_of(64, &[width]);
    let (output, fitted) = (rows_shape(data, vec!["class".to_owned()], false), columns.clone());
    let scores = projected(&x, &vec![0.0; 2 * p], p)?;
    let written = if proba { softmax(&scores)? } else { scores.arg(true, Some(1), false)? };
    let run = move |runtime: &Runtime| -> Result<StatisticFinding> {
        let Labels { classes, numbers, stats } = classes_of(runtime, &y)?;
        if classes.len() < 2 {
            return usage(format!("expected two classes or more, found only {}", classes[0]));
        }
        let found = logistic_regression(runtime, &x, &numbers, classes.len(), &options)?;
        if found.is_separable {
            let text = "Classes are separable and there is no penalty: there is no optimum, for the loss falls as \
                        coefficients grow without end; give --c a finite number";
            runtime.note(text.to_owned());
        }
        let mut costs = Costs::default();
        costs.include(found.stats.clone());
        costs.include(stats);
        let all: Vec<String> = classes.iter().map(f64::to_string).collect();
        let mut of_rows: Vec<Vec<f64>> = found.coefficients.chunks_exact(p).map(<[f64]>::to_vec).collect();
        of_rows.iter_mut().zip(&found.intercept).for_each(|(row, intercept)| row.push(*intercept));
        let labels = columns.iter().cloned().chain(["(intercept)".to_owned()]).collect();
        let names = all[all.len() - of_rows.len()..].to_vec();
        let table = StatisticTable { labels: ("column", labels), names, columns: of_rows };
        let facts = vec![
            ("rows", Fact::Whole(rows)),
            ("columns", Fact::Names(columns.clone())),
            ("classes", Fact::vector(&classes)),
            ("coef", Fact::matrix(&found.coefficients, found.intercept.len())),
            ("intercept", Fact::vector(&found.intercept)),
            ("n_iter", Fact::Whole(found.iterations as u64)),
            ("converged", Fact::Flag(found.converged)),
        ];
        let (count, iterations) = (classes.len(), found.iterations);
        let lines = vec![format!("{count} classes of {rows} rows, {iterations} steps")];
        let rows = match proba {
            true => (found.predict_proba(&x)?, all),
            false => (named(&classes, &found.predict(&x)?)?, vec!["class".to_owned()]),
        };
        // If rounding ends the steps, no better point is reachable.
        let is_done = found.converged || iterations < max_iterations;
        let (unconverged, stats) = (unconverged(is_done, iterations), costs.finish(found.stats.stopped_by));
        Ok(StatisticFinding { lines, table, facts, rows: Some(rows), unconverged, stats })
    };
    // Scales, and where the steps begin.
    let all =
        format!("2 over the target, 2, and 1 for each of up to {max_iterations} steps or more, if one is shortened");
    let check = match c.is_infinite() {
        true => format!("; 1 to {MOST_SEPARATION_PASSES} that look whether classes are separable"),
        false => String::new(),
    };
    let passes = format!("{all}{check}; one to write rows");
    Ok(StatisticPlan { phases, result_bytes, passes, output, rows: Some(written), columns: fitted, run: Box::new(run) })
}
