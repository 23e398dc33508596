//! Means of columns and the sums of products of their deviations: what covariances, principal components and linear
//! models are made of.
//!
//! *Idea.* Columns are copied in one sweep, less a pivot (`pivot.rs`), and multiplied with each other: up to
//! [`MOST_SQUARES`] of them by squares (`products.rs`), more by a general product. What a pivot other than the mean
//! adds to the sums of products is subtracted when the pivot ends, by which they lose no more than those of squares do.
//! Sets of rows are joined so that means far from 0 do no harm. A row of weight `w` counts as `w` rows. Of a matrix of
//! float32 blocks are multiplied in float32, about their own means, and added up in float64: sums are right to some
//! 10^-7 of the deviations of both columns. *Cost.* One pass, `n p^2` multiplications, half of which symmetry saves;
//! `p^2` numbers per partition, and up to 8 times as many where there are few.
#![allow(clippy::needless_range_loop)] // why: lanes of several arrays are indexed together

use crate::common::{
    add, add_half, add_square_by_float32, are_finite, columns, finite, mirror, no_overflow, operands, positive, put,
    reals, total, weights,
};
use crate::moments::pivot::{Since, pivot_of};
use crate::moments::products::{ROWS, Square, add_products, for_each_sum, packed_columns, squares};
use outcore_array::kernel::{Loop, Values, ValuesMut, widest};
use outcore_array::{Array, AxisPart, ElementType, RowBlock, RowFold};
use outcore_image::Result;

/// The most columns whose products are computed by squares.
const MOST_SQUARES: usize = 64;
/// Numbers that are added side by side; as many zeros fill the last rows.
const LANES: usize = 16;

/// The fold: operands are matrices of observations, whose columns count on, and then weights.
pub(crate) struct CoMoments {
    pub columns: usize,
    pub matrices: usize,
    pub is_weighted: bool,
    /// Whether NaN and infinities spread to the results of their columns; otherwise they are refused.
    pub spreads_nan: bool,
}

/// Folded moments of some rows, and buffers for a block.
pub(crate) struct Folded {
    /// The sum of weights, the means, and the lower half of the sums of products.
    numbers: Vec<f64>,
    columns: usize,
    /// The rows since the last pivots, whose products are not centred yet, or in `squares`.
    since: Since,
    pivots: Vec<f64>,
    sums: Vec<[f64; LANES]>,
    squares: Vec<Square>,
    room: Room,
}

/// Rows less their pivots, the same scaled by weights, and columns and products of float32.
type Room = (Vec<f64>, Vec<f64>, (Vec<f32>, Vec<f32>));

pub(crate) struct Moments {
    pub weight: f64,
    pub means: Vec<f64>,
    /// Row by row.
    pub sums: Vec<f64>,
}

/// The sums of products of deviations of columns from their means, `p x p`, of a matrix of `n x p`, lazily. One pass.
/// NaN and infinities spread to the results of their columns.
///
/// # Errors
/// Anything else than a matrix; one that is streamed along its columns.
pub fn co_moments(x: &Array) -> Result<Array> {
    let &[_, p] = x.shape() else {
        return crate::common::usage(format!("expected a matrix, found {} axes", x.axes()));
    };
    let x = if x.element() == ElementType::Float32 { x.clone() } else { x.cast(ElementType::Float64)? };
    let fold = CoMoments { columns: p as usize, matrices: 1, is_weighted: false, spreads_nan: true };
    let sums = AxisPart::Range { start: 1 + p as i64, step: 1, count: p * p };
    Array::fold_rows(fold, &[x])?.slice(&[Some(sums)])?.reshape(&[p, p])
}

/// Largest norm, relative to that of the column, that rounding leaves of a constant column less its mean.
pub(crate) const NOISE: f64 = 64.0 * f64::EPSILON;

impl Moments {
    /// The norm that rounding alone may leave of each column less its mean.
    pub fn noise(&self) -> Vec<f64> {
        let p = self.means.len();
        let square = |i: usize| self.sums[i * (p + 1)] + self.weight * self.means[i].powi(2);
        (0..p).map(|i| NOISE * square(i).sqrt()).collect()
    }

    /// The moments that a pass found.
    pub fn of(numbers: &[f64], columns: usize) -> Result<Self> {
        no_overflow(numbers)?;
        let (means, sums) = numbers[1..].split_at(columns);
        Ok(Moments { weight: positive(numbers[0])?, means: means.to_vec(), sums: sums.to_vec() })
    }

    /// The lazy moments of observations.
    pub fn lazy(x: &Array, targets: Option<&Array>, own_weights: Option<&Array>) -> Result<Array> {
        let (matrices, is_weighted) = (1 + usize::from(targets.is_some()), own_weights.is_some());
        let columns = columns(x) + targets.map_or(0, columns);
        let fold = CoMoments { columns, matrices, is_weighted, spreads_nan: false };
        Array::fold_rows(fold, &operands(x, targets, own_weights)?)
    }
}

impl Folded {
    fn begin(columns: usize) -> Self {
        Folded {
            numbers: vec![0.0; 1 + columns * (columns + 1)],
            columns,
            since: Since::default(),
            pivots: Vec::new(),
            sums: Vec::new(),
            squares: Vec::new(),
            room: Default::default(),
        }
    }

    fn products(&mut self) -> &mut [f64] {
        &mut self.numbers[1 + self.columns..]
    }

    /// Centres the rows since the last pivots, and joins them with those before.
    fn end(&mut self) {
        let (weight, p) = (std::mem::take(&mut self.since).weight, self.columns);
        if weight == 0.0 {
            return;
        }
        // Sums of infinities would leave infinities in products, or NaN.
        let sum = |lanes: &[f64; LANES]| Some(total(lanes)).filter(|sum| sum.is_finite()).unwrap_or(f64::NAN);
        let sums: Vec<f64> = self.sums.iter().map(sum).collect();
        let means: Vec<f64> = self.pivots.iter().zip(&sums).map(|(pivot, sum)| pivot + sum / weight).collect();
        let squares = std::mem::take(&mut self.squares);
        let products = self.products();
        for (i, own) in sums.iter().enumerate() {
            let mean = own / weight;
            let products = products[i * p..][..=i].iter_mut().zip(&sums);
            products.for_each(|(product, other)| *product -= mean * other);
        }
        if !squares.is_empty() {
            for_each_sum(&squares, p, p, true, |i, k, sum| products[i * p + k] += sum);
        }
        self.join(weight, &means);
    }

    /// Merges the moments of two sets of rows, whose sums of products are already added.
    fn join(&mut self, weight: f64, means: &[f64]) {
        let (head, rest) = self.numbers.split_at_mut(1);
        let (own_means, sums) = rest.split_at_mut(self.columns);
        if weight == 0.0 {
            return;
        }
        let own = head[0];
        head[0] += weight;
        if own == 0.0 {
            own_means.copy_from_slice(means);
            return;
        }
        let share = weight / head[0];
        let distances: Vec<f64> = means.iter().zip(&*own_means).map(|(next, own)| next - own).collect();
        for (row, &distance) in distances.iter().enumerate() {
            let scaled = distance * (own * share);
            let sums = &mut sums[row * distances.len()..][..=row];
            sums.iter_mut().zip(&distances).for_each(|(sum, &other)| *sum += scaled * other);
        }
        own_means.iter_mut().zip(&distances).for_each(|(mean, &distance)| *mean += distance * share);
    }
}

/// Copies a column less its pivot, and adds it up.
struct Pack<'a, T> {
    values: &'a [T],
    pivot: f64,
    shares: Option<&'a [f64]>,
    /// Whole chunks, of which the last may be filled with zeros.
    to: &'a mut [f64],
    /// Deviations times weights, in as many chunks.
    scaled: &'a mut [f64],
    sums: &'a mut [f64; LANES],
}

impl<T: Copy + Into<f64>> Loop for Pack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Pack { values, pivot, shares, to, scaled, sums } = self;
        let (rows, mut lanes) = (values.len(), *sums);
        for (to, &value) in to.iter_mut().zip(values) {
            *to = value.into() - pivot;
        }
        to[rows..].fill(0.0);
        if let Some(shares) = shares {
            for ((scaled, value), share) in scaled.iter_mut().zip(&*to).zip(shares) {
                *scaled = value * share;
            }
            scaled[rows..].fill(0.0);
        }
        let (chunks, _) = if shares.is_some() { scaled } else { to }.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                lanes[lane] += chunk[lane];
            }
        }
        *sums = lanes;
    }
}

impl CoMoments {
    fn is_by_squares(&self) -> bool {
        self.columns <= MOST_SQUARES
    }

    /// The columns of a packed block.
    fn packed_columns(&self) -> usize {
        if self.is_by_squares() { packed_columns(self.columns) } else { self.columns }
    }

    /// Refuses NaN and infinities, unless they spread.
    fn check(&self, block: &RowBlock<'_>) -> Result<()> {
        let matrices = if self.spreads_nan { 0 } else { self.matrices };
        (0..matrices).try_for_each(|operand| finite(block, operand))
    }
}

/// Numbers of a packed column: rows, and zeros up to whole chunks. Columns are not a multiple of a page apart, for then
/// they would share few lines of the first-level cache.
fn stride_of(rows: usize) -> usize {
    rows.next_multiple_of(LANES) + ROWS
}

impl RowFold for CoMoments {
    type State = Folded;

    fn name(&self) -> &str {
        "co-moments"
    }

    fn results(&self) -> usize {
        1 + self.columns * (self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        // Room for float32 takes as much as that for scaled rows, and a product.
        let room = 2 * stride_of(508) * self.packed_columns() + self.columns * self.columns / 2;
        let squares = if self.is_by_squares() { squares(self.columns, self.columns, true) } else { 0 };
        let lanes = (1 + LANES) * self.columns;
        8 * (self.results() + room + lanes) as u64 + (squares * size_of::<Square>()) as u64
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn least_rows(&self) -> u64 {
        // A state has `p^2` numbers, as `p` rows have.
        self.columns as u64
    }

    fn begin(&self) -> Folded {
        Folded::begin(self.columns)
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        let shares = weights(block, self.is_weighted.then_some(self.matrices))?;
        let weight = shares.map_or(block.rows as f64, total);
        if weight == 0.0 {
            return self.check(block);
        }
        let columns = block.operands[..self.matrices].concat();
        let is_narrow = matches!(columns.first(), Some(Values::Float32(_)));
        if state.since.is_over(is_narrow) {
            state.end();
            state.pivots.clear();
            state.pivots.extend(columns.iter().map(|values| pivot_of(values, shares, weight)));
            state.sums.clear();
            state.sums.resize(self.columns, [0.0; LANES]);
            if self.is_by_squares() && !is_narrow {
                state.squares.resize(squares(self.columns, self.columns, true), Square::default());
            }
        }
        state.since.add(weight);
        let (mut packed, mut scaled, mut narrow) = std::mem::take(&mut state.room);
        let stride = stride_of(block.rows);
        let len = stride * self.packed_columns();
        for (room, len) in [(&mut packed, len), (&mut scaled, if shares.is_some() { len } else { 0 })] {
            if room.len() != len {
                room.clear();
                room.resize(len, 0.0);
            }
        }
        for (column, values) in columns.iter().enumerate() {
            let place = column * stride..(column + 1) * stride;
            let (pivot, sums) = (state.pivots[column], &mut state.sums[column]);
            let (to, scaled) = (&mut packed[place.clone()], scaled.get_mut(place).unwrap_or_default());
            match *values {
                Values::Float32(values) => widest(Pack { values, pivot, shares, to, scaled, sums }),
                ref values => widest(Pack { values: reals(values), pivot, shares, to, scaled, sums }),
            }
        }
        if !self.spreads_nan && !state.sums.iter().all(|lanes| are_finite(lanes)) {
            self.check(block)?;
        }
        let right = if shares.is_some() { &scaled } else { &packed };
        if is_narrow {
            add_square_by_float32(&packed[..stride * self.columns], stride, state.products(), &mut narrow);
        } else if self.is_by_squares() {
            add_products(&packed, right, stride, true, &mut state.squares);
        } else {
            add_half(&packed, right, stride, state.products());
        }
        state.room = (packed, scaled, narrow);
        Ok(())
    }

    fn close(&self, state: &mut Folded) -> Result<()> {
        state.end();
        let numbers = std::mem::take(&mut state.numbers);
        *state = Folded { numbers, ..Folded::begin(0) };
        state.columns = self.columns;
        Ok(())
    }

    fn merge(&self, state: &mut Folded, mut next: Folded) -> Result<()> {
        add(state.products(), next.products());
        state.join(next.numbers[0], &next.numbers[1..=self.columns]);
        Ok(())
    }

    fn finish(&self, mut state: Folded, result: ValuesMut<'_>) -> Result<()> {
        mirror(state.products(), self.columns);
        put(&state.numbers, result)
    }
}
