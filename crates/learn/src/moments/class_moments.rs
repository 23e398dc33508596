//! Weights, means and sums of squared deviations of columns, for each of some classes: what scalers, naive Bayes and
//! the starts of iterative models need.
//!
//! *Idea.* Rows are summed in one sweep about a pivot (`pivot.rs`), those of several classes in one for each class,
//! with weights that are 0 for rows of another one. Where classes are many, every block is summed about its own means
//! instead, row by row. Sets of rows are joined so that means far from 0 do no harm. *Cost.* One pass; `k (2 p + 1)`
//! numbers, and while a partition is summed some 35 for each mean of up to 16 classes.

use crate::common::{classes, columns, finite, no_overflow, operands, put, reals, total, weights};
use crate::moments::pivot::{AddColumns, Lanes, Since, pivot};
use outcore_array::kernel::{ValuesMut, widest};
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// The most classes of which each has a sweep of its own.
const MOST_SWEEPS: usize = 16;

/// The fold: operands are observations, then labels if there are several classes, then weights.
pub(crate) struct ClassMoments {
    pub columns: usize,
    /// Number of classes; none if all rows are of one.
    pub classes: Option<usize>,
    pub is_weighted: bool,
}

/// The moments of every class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// The sum of weights of every class.
    pub weights: Vec<f64>,
    /// Class by class, of every column.
    pub means: Vec<f64>,
    /// Sums of squared deviations, in the same order.
    pub squares: Vec<f64>,
}

/// Folded moments of some rows, and buffers for a block.
pub(crate) struct Folded {
    all: Classes,
    /// The rows of every class that are not in `all` yet.
    since: Vec<Since>,
    /// Sums of these rows, class by class.
    lanes: Vec<Lanes>,
    labels: Vec<usize>,
    shares: Vec<f64>,
}

impl Classes {
    fn new(classes: usize, columns: usize) -> Self {
        let numbers = vec![0.0; classes * columns];
        Classes { weights: vec![0.0; classes], means: numbers.clone(), squares: numbers }
    }

    /// The moments that a pass found.
    pub fn of(numbers: &[f64], classes: usize) -> Result<Self> {
        no_overflow(numbers)?;
        let (weights, rest) = numbers.split_at(classes);
        let (means, squares) = rest.split_at(rest.len() / 2);
        let (weights, means, squares) = (weights.to_vec(), means.to_vec(), squares.to_vec());
        Ok(Classes { weights, means, squares })
    }

    fn join(&mut self, other: &Classes) {
        let columns = self.means.len() / self.weights.len();
        for class in 0..self.weights.len() {
            let place = class * columns;
            let moments = |column: usize| (other.means[place + column], other.squares[place + column]);
            self.join_class(class, other.weights[class], moments);
        }
    }

    /// Joins rows of a class, of which `moments` gives each column's mean and squared deviations.
    fn join_class(&mut self, class: usize, next: f64, moments: impl Fn(usize) -> (f64, f64)) {
        let (columns, own) = (self.means.len() / self.weights.len(), self.weights[class]);
        if next == 0.0 {
            return;
        }
        let (all, share) = (own + next, next / (own + next));
        for column in 0..columns {
            let (place, (mean, square)) = (class * columns + column, moments(column));
            let distance = mean - self.means[place];
            self.squares[place] += square + distance * distance * (own * share);
            // The first rows leave no rounding.
            self.means[place] = if own == 0.0 { mean } else { self.means[place] + distance * share };
        }
        self.weights[class] = all;
    }

    /// The moments of all classes together.
    pub fn together(&self) -> Classes {
        let columns = self.means.len() / self.weights.len();
        let mut all = Classes::new(1, columns);
        for class in 0..self.weights.len() {
            let place = class * columns;
            let moments = |column: usize| (self.means[place + column], self.squares[place + column]);
            all.join_class(0, self.weights[class], moments);
        }
        all
    }
}

impl ClassMoments {
    /// The fold of observations without classes.
    pub fn of(x: &Array, own_weights: Option<&Array>) -> Result<Array> {
        let fold = ClassMoments { columns: columns(x), classes: None, is_weighted: own_weights.is_some() };
        Array::fold_rows(fold, &operands(x, None, own_weights)?)
    }

    fn count(&self) -> usize {
        self.classes.unwrap_or(1)
    }

    /// The sums since the last pivots.
    fn lanes(&self) -> usize {
        if self.count() <= MOST_SWEEPS { self.count() * self.columns } else { 0 }
    }

    /// Adds rows to the sums of a class, and returns whether these are finite.
    fn sweep(&self, state: &mut Folded, class: usize, columns: &[&[f64]], shares: Option<&[f64]>) -> bool {
        let weight = shares.map_or(columns[0].len() as f64, total);
        if weight == 0.0 {
            return false;
        }
        if state.since[class].is_over(false) {
            self.end(state, class);
            let lanes = state.lanes[class * self.columns..].iter_mut().zip(columns);
            lanes.for_each(|(lanes, values)| *lanes = Lanes::about(pivot(values, shares, weight)));
        }
        state.since[class].add(weight);
        let lanes = &mut state.lanes[class * self.columns..][..self.columns];
        widest(AddColumns { columns, shares, lanes })
    }

    /// Joins the sums of a class with those before.
    fn end(&self, state: &mut Folded, class: usize) {
        let (since, lanes) = (std::mem::take(&mut state.since[class]), &state.lanes[class * self.columns..]);
        state.all.join_class(class, since.weight, |column| lanes[column].closed(since.weight));
    }

    /// Adds rows to the moments of their classes, row by row, about the means of the block.
    fn scatter(&self, state: &mut Folded, columns: &[&[f64]]) {
        let (count, mut part) = (self.count(), Classes::new(self.count(), self.columns));
        let (labels, shares) = (&state.labels, &state.shares);
        labels.iter().zip(shares).for_each(|(&class, share)| part.weights[class] += share);
        let (mut sums, mut firsts) = (vec![0.0; count], vec![0; count]);
        for row in (0..labels.len()).rev().filter(|&row| shares[row] > 0.0) {
            firsts[labels[row]] = row;
        }
        for (column, values) in columns.iter().enumerate() {
            sums.fill(0.0);
            let rows = || values.iter().zip(labels).zip(shares);
            // About the first value of the class, so that sums round as little as deviations do.
            let first = |class: usize| values[firsts[class]];
            rows().for_each(|((value, &class), share)| sums[class] += (value - first(class)) * share);
            for (class, sum) in sums.iter().enumerate().filter(|&(class, _)| part.weights[class] > 0.0) {
                part.means[class * self.columns + column] = first(class) + sum / part.weights[class];
            }
            for ((value, &class), share) in rows() {
                let place = class * self.columns + column;
                let distance = value - part.means[place];
                part.squares[place] += distance * distance * share;
            }
        }
        state.all.join(&part);
    }
}

impl RowFold for ClassMoments {
    type State = Folded;

    fn name(&self) -> &str {
        "moments by class"
    }

    fn results(&self) -> usize {
        self.count() * (2 * self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        let lanes = self.lanes() * size_of::<Lanes>() + self.count() * size_of::<Since>();
        16 * self.results() as u64 + lanes as u64 + (24 << 9)
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn begin(&self) -> Folded {
        let all = Classes::new(self.count(), self.columns);
        Folded { all, since: Vec::new(), lanes: Vec::new(), labels: Vec::new(), shares: Vec::new() }
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        let shares = weights(block, self.is_weighted.then_some(block.operands.len() - 1))?;
        let columns: Vec<&[f64]> = block.operands[0].iter().map(reals).collect();
        if state.since.is_empty() {
            state.since.resize(self.count(), Since::default());
            state.lanes.resize(self.lanes(), Lanes::about(0.0));
        }
        let Some(count) = self.classes else {
            // Sums that are not finite may be those of elements that are none, or of large ones.
            return if self.sweep(state, 0, &columns, shares) { Ok(()) } else { finite(block, 0) };
        };
        finite(block, 0)?;
        classes(block, 1, count, &mut state.labels)?;
        if count > MOST_SWEEPS {
            state.shares.clear();
            state.shares.extend((0..block.rows).map(|row| shares.map_or(1.0, |shares| shares[row])));
            self.scatter(state, &columns);
            return Ok(());
        }
        for class in 0..count {
            let mut own = std::mem::take(&mut state.shares);
            own.clear();
            match shares {
                None => own.extend(state.labels.iter().map(|&label| f64::from(u8::from(label == class)))),
                Some(shares) => {
                    let pairs = state.labels.iter().zip(shares);
                    own.extend(pairs.map(|(&label, &share)| if label == class { share } else { 0.0 }));
                }
            }
            self.sweep(state, class, &columns, Some(&own));
            state.shares = own;
        }
        Ok(())
    }

    fn close(&self, state: &mut Folded) -> Result<()> {
        if !state.lanes.is_empty() {
            (0..self.count()).for_each(|class| self.end(state, class));
        }
        let all = std::mem::take(&mut state.all);
        *state = Folded { all, since: Vec::new(), lanes: Vec::new(), labels: Vec::new(), shares: Vec::new() };
        Ok(())
    }

    fn merge(&self, state: &mut Folded, next: Folded) -> Result<()> {
        state.all.join(&next.all);
        Ok(())
    }

    fn finish(&self, Folded { all, .. }: Folded, result: ValuesMut<'_>) -> Result<()> {
        put(&[all.weights, all.means, all.squares].concat(), result)
    }
}
