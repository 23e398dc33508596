//! The fold of an iteration of k-means: counts and sums of the rows next to each centre, and squared distances.
//!
//! *Idea.* A tile of rows stays in the first level of the cache while the nearest centre of each is found, by products,
//! and while it is added to the sums of that. Where rounding of products may have decided, differences do. Where bounds
//! are kept, rows of a block that cannot have left their centre are found first; the others make tiles of their own.
//! Rows are added in their order all the same. *Cost.* `n k p` multiplications, or fewer with bounds; `k (p + 1)`
//! numbers.

use crate::clusters::bounds::Look;
use crate::common::{add, array_of, columns, finite, put, reals, weights};
use outcore_array::kernel::{Binary, Fold, Loop, Unary, ValuesMut, widest};
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// Squared distances of rows from centres (`n x k`), lazily, by differences: products would lose what is less than the
/// rounding of large numbers.
pub(crate) fn squared_distances(x: &Array, centres: Vec<f64>) -> Result<Array> {
    let p = columns(x);
    let count = centres.len() / p;
    let centres = array_of(centres, &[1, count, p]);
    let differences = x.with_axis(1)?.binary(Binary::Subtract, &centres)?;
    differences.unary(Unary::Square)?.fold(Fold::Sum, &[2], false)
}

/// The sum of squares of each centre.
fn squares(centres: &[f64], p: usize) -> Vec<f64> {
    centres.chunks_exact(p).map(|centre| centre.iter().map(|value| value * value).sum()).collect()
}

/// The fold of an iteration: operands are rows, and then weights.
pub(crate) struct Lloyd {
    /// Offset subtracted from rows.
    pub shift: Vec<f64>,
    /// Less the shift.
    pub centres: Vec<f64>,
    pub is_weighted: bool,
    /// Bounds of the rows.
    pub look: Option<Look>,
}

/// Rows of a tile, and of a vector at the same time.
const ROWS: usize = 16;
/// Centres whose products with a tile are in registers.
const CENTRES: usize = 4;
/// Rows and columns of the squares by which a tile is transposed.
const SIDE: usize = 4;
/// Rows of a block at most.
pub(crate) const MOST_ROWS: usize = 512;
/// Sums of squares of a row, side by side.
const LANES: usize = 8;

/// Rows of a block during their comparison with centres.
#[derive(Default)]
struct Space {
    /// Row by row.
    rows: Vec<f64>,
    labels: Vec<usize>,
    /// The rows that are to be compared with all centres.
    open: Vec<usize>,
}

/// The nearest centres of the rows of a tile, by products: squared distances, and those from the second ones, are less
/// the squares of the rows.
struct Nearest {
    labels: [u64; ROWS],
    least: [f64; ROWS],
    seconds: [f64; ROWS],
    squares: [f64; ROWS],
}

/// The rows of a block, tile by tile.
struct Tiles<'a> {
    fold: &'a Lloyd,
    squares: &'a [f64],
    columns: &'a [&'a [f64]],
    shares: Option<&'a [f64]>,
    first_row: u64,
    rows: usize,
    sums: &'a mut Sums,
    space: &'a mut Space,
}

impl Tiles<'_> {
    /// The products of a tile with some centres.
    #[inline(always)]
    fn multiply<const C: usize>(&self, tile: &[[f64; ROWS]], first: usize, to: &mut [[f64; ROWS]]) {
        let p = self.columns.len();
        let centres: [&[f64]; C] = std::array::from_fn(|c| &self.fold.centres[(first + c) * p..][..p]);
        let mut products = [[0.0; ROWS]; C];
        for (column, values) in tile[..p].iter().enumerate() {
            for c in 0..C {
                products[c] = each(*values, products[c], |value, product| value.mul_add(centres[c][column], product));
            }
        }
        to[first..first + C].copy_from_slice(&products);
    }

    /// The nearest centres; `products` has a place for each centre.
    #[inline(always)]
    fn nearest(&self, tile: &[[f64; ROWS]], products: &mut [[f64; ROWS]]) -> Nearest {
        let whole = products.len() / CENTRES * CENTRES;
        for first in (0..whole).step_by(CENTRES) {
            self.multiply::<CENTRES>(tile, first, products);
        }
        match products.len() - whole {
            0 => {}
            1 => self.multiply::<1>(tile, whole, products),
            2 => self.multiply::<2>(tile, whole, products),
            _ => self.multiply::<3>(tile, whole, products),
        }
        let (mut least, mut seconds, mut labels) = ([f64::INFINITY; ROWS], [f64::INFINITY; ROWS], [0; ROWS]);
        for (label, (products, &square)) in products.iter().zip(self.squares).enumerate() {
            for i in 0..ROWS {
                let score = square - 2.0 * products[i];
                let is_less = score < least[i];
                let other = if is_less { least[i] } else { score };
                seconds[i] = if other < seconds[i] { other } else { seconds[i] };
                least[i] = if is_less { score } else { least[i] };
                labels[i] = if is_less { label as u64 } else { labels[i] };
            }
        }
        let mut squares = [0.0; ROWS];
        for values in &tile[..self.columns.len()] {
            squares = each(squares, *values, |square, value| square + value * value);
        }
        Nearest { labels, least, seconds, squares }
    }

    /// The number of the centre next to a row, which is row `i` of a tile.
    ///
    /// The error of products is relative to the row's square. If a centre is so far that its own square is larger, the
    /// error is relative to its distance.
    #[inline(always)]
    fn settled(&self, nearest: &Nearest, i: usize, row: &[f64]) -> usize {
        let (least, second) = (nearest.least[i], nearest.seconds[i]);
        let error = rounding(row.len()) * (nearest.squares[i] + least.abs() + second.abs());
        if second - least > error || self.squares.len() == 1 { nearest.labels[i] as usize } else { self.compared(row) }
    }

    /// The number of the centre next to a row, by differences: the first one of those that are equally near.
    #[inline(always)]
    fn compared(&self, row: &[f64]) -> usize {
        let (mut least, mut label) = (f64::INFINITY, 0);
        for (own, centre) in self.fold.centres.chunks_exact(row.len()).enumerate() {
            let square = squared_distance(row, centre).iter().sum();
            (least, label) = if square < least { (square, own) } else { (least, label) };
        }
        label
    }

    /// A tile of rows less the shift, from `first` on; how many there are.
    #[inline(always)]
    fn load(&self, first: usize, tile: &mut [[f64; ROWS]]) -> usize {
        let count = ROWS.min(self.rows - first);
        for (column, values) in self.columns.iter().enumerate() {
            let (shift, tile) = (self.fold.shift[column], &mut tile[column]);
            match <&[f64; ROWS]>::try_from(&values[first..first + count]) {
                Ok(values) => *tile = each(*values, *tile, |value, _| value - shift),
                Err(_) => {
                    for i in 0..count {
                        tile[i] = values[first + i] - shift;
                    }
                }
            }
        }
        count
    }

    /// Computes the labels of all rows: by their bounds where these suffice, by products otherwise.
    #[inline(always)]
    fn labelled(&mut self, look: &Look, tile: &mut [[f64; ROWS]], products: &mut [[f64; ROWS]]) {
        let (p, stride) = (self.columns.len(), tile.len());
        let mut space = std::mem::take(self.space);
        space.rows.resize(self.rows.next_multiple_of(ROWS) * stride, 0.0);
        space.labels.clear();
        space.open.clear();
        for first in (0..self.rows).step_by(ROWS) {
            let count = self.load(first, tile);
            let rows = &mut space.rows[first * stride..][..ROWS * stride];
            transpose(tile, rows, stride);
            for i in 0..count {
                let known = look.known(self.first_row + (first + i) as u64);
                let centre = &self.fold.centres[known.1 * p..][..p];
                let square = squared_distance(&rows[i * stride..][..p], centre);
                if !look.stays(known, square.iter().sum()) {
                    space.open.push(first + i);
                }
                space.labels.push(known.1);
            }
        }
        for open in space.open.chunks(ROWS) {
            gather(&space.rows, open, tile);
            let nearest = self.nearest(tile, products);
            for (i, &row) in open.iter().enumerate() {
                let label = self.settled(&nearest, i, &space.rows[row * stride..][..p]);
                let (square, second) = (nearest.squares[i], nearest.seconds[i]);
                look.remember(self.first_row + row as u64, label as u64, square, square + second);
                space.labels[row] = label;
            }
        }
        *self.space = space;
    }

    /// Adds a row, less the shift, to the sums of its centre, and its squared distance to the inertia.
    #[inline(always)]
    fn add(&mut self, row: &[f64], label: usize, share: f64, inertia: &mut [f64; LANES]) {
        let p = self.columns.len();
        let places = label * p..(label + 1) * p;
        let squares = squared_distance(&row[..p], &self.fold.centres[places.clone()]);
        let ((row, rest), (sums, sums_rest)) =
            (row[..p].as_chunks::<LANES>(), self.sums.sums[places].as_chunks_mut::<LANES>());
        for (row, sums) in row.iter().zip(sums) {
            *sums = each(*sums, *row, |sum, value| sum + share * value);
        }
        for (value, sum) in rest.iter().zip(sums_rest) {
            *sum += share * value;
        }
        *inertia = each(*inertia, squares, |sum, square| sum + share * square);
        self.sums.counts[label] += share;
    }
}

impl Loop for Tiles<'_> {
    /// The sum of squared distances from the nearest centres, times weights: no finite number if a row has none.
    type Output = f64;

    #[inline(always)]
    fn run(mut self) -> f64 {
        let stride = self.columns.len().next_multiple_of(SIDE);
        let mut tile = vec![[0.0; ROWS]; stride];
        let (mut products, mut inertia) = (vec![[0.0; ROWS]; self.squares.len()], [0.0; LANES]);
        let share = |shares: Option<&[f64]>, row: usize| shares.map_or(1.0, |shares| shares[row]);
        if let Some(look) = &self.fold.look {
            self.labelled(look, &mut tile, &mut products);
            let space = std::mem::take(self.space);
            for (row, &label) in space.labels.iter().enumerate() {
                self.add(&space.rows[row * stride..][..stride], label, share(self.shares, row), &mut inertia);
            }
            *self.space = space;
        } else {
            let mut rows = vec![0.0; ROWS * stride];
            for first in (0..self.rows).step_by(ROWS) {
                let count = self.load(first, &mut tile);
                let nearest = self.nearest(&tile, &mut products);
                transpose(&tile, &mut rows, stride);
                for i in 0..count {
                    let row = &rows[i * stride..][..self.columns.len()];
                    let label = self.settled(&nearest, i, row);
                    self.add(row, label, share(self.shares, first + i), &mut inertia);
                }
            }
        }
        inertia.iter().sum()
    }
}

/// A function of each two numbers.
#[inline(always)]
fn each<const N: usize>(left: [f64; N], right: [f64; N], function: impl Fn(f64, f64) -> f64) -> [f64; N] {
    let mut all = [0.0; N];
    for i in 0..N {
        all[i] = function(left[i], right[i]);
    }
    all
}

/// Largest error of squared distances, and of their differences, that are computed by products of this number of
/// columns: relative to the sum of the squares that they are computed from.
#[inline(always)]
pub(crate) fn rounding(columns: usize) -> f64 {
    16.0 * (columns + 16) as f64 * f64::EPSILON
}

/// The squared distance of a row from a centre, in lanes that are still to be summed.
#[inline(always)]
fn squared_distance(row: &[f64], centre: &[f64]) -> [f64; LANES] {
    let ((row, rest), (centre, centre_rest)) = (row.as_chunks::<LANES>(), centre.as_chunks::<LANES>());
    let mut squares = [0.0; LANES];
    for (row, centre) in row.iter().zip(centre) {
        let distances = each(*row, *centre, |value, centre| value - centre);
        squares = each(squares, distances, |square, distance| square + distance * distance);
    }
    for ((value, centre), square) in rest.iter().zip(centre_rest).zip(&mut squares) {
        *square += (value - centre) * (value - centre);
    }
    squares
}

/// Makes rows, of all that there are, the columns of a tile.
#[inline(always)]
fn gather(rows: &[f64], chosen: &[usize], tile: &mut [[f64; ROWS]]) {
    let stride = tile.len();
    for (i, row) in chosen.iter().enumerate() {
        for (column, value) in rows[row * stride..][..stride].iter().enumerate() {
            tile[column][i] = *value;
        }
    }
}

/// Transposes a tile: its columns become rows, `stride` elements apart.
#[inline(always)]
fn transpose(tile: &[[f64; ROWS]], rows: &mut [f64], stride: usize) {
    for column in (0..stride).step_by(SIDE) {
        for row in (0..ROWS).step_by(SIDE) {
            let mut square = [[0.0; SIDE]; SIDE];
            for k in 0..SIDE {
                square[k].copy_from_slice(&tile[column + k][row..row + SIDE]);
            }
            for i in 0..SIDE {
                let to = &mut rows[(row + i) * stride + column..][..SIDE];
                for k in 0..SIDE {
                    to[k] = square[k][i];
                }
            }
        }
    }
}

/// Sums over the rows nearest to each centre.
#[derive(Clone, PartialEq)]
pub(crate) struct Sums {
    pub inertia: f64,
    pub counts: Vec<f64>,
    pub sums: Vec<f64>,
}

/// Folded sums of some rows, and buffers for the next ones.
pub(crate) struct Folded {
    pub sums: Sums,
    space: Space,
}

impl RowFold for Lloyd {
    type State = Folded;

    fn name(&self) -> &str {
        "k-means"
    }

    fn results(&self) -> usize {
        1 + self.centres.len() / self.shift.len() + self.centres.len()
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        // With a tile, its rows and its products.
        let (p, k) = (self.shift.len(), self.centres.len() / self.shift.len());
        let stride = p.next_multiple_of(SIDE);
        let block = if self.look.is_some() { MOST_ROWS * (stride + 2) } else { 0 };
        8 * (self.results() + ROWS * (2 * stride + k) + block) as u64
    }

    fn begin(&self) -> Folded {
        let (counts, sums) = (vec![0.0; self.centres.len() / self.shift.len()], vec![0.0; self.centres.len()]);
        Folded { sums: Sums { inertia: 0.0, counts, sums }, space: Space::default() }
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        let shares = weights(block, self.is_weighted.then_some(1))?;
        let columns: Vec<&[f64]> = block.operands[0].iter().map(reals).collect();
        let squares = squares(&self.centres, self.shift.len());
        let inertia = widest(Tiles {
            fold: self,
            squares: &squares,
            columns: &columns,
            shares,
            first_row: block.first_row,
            rows: block.rows,
            sums: &mut state.sums,
            space: &mut state.space,
        });
        if !inertia.is_finite() {
            finite(block, 0)?;
        }
        state.sums.inertia += inertia;
        Ok(())
    }

    fn close(&self, state: &mut Folded) -> Result<()> {
        state.space = Space::default();
        Ok(())
    }

    fn merge(&self, state: &mut Folded, next: Folded) -> Result<()> {
        let (state, next) = (&mut state.sums, next.sums);
        state.inertia += next.inertia;
        add(&mut state.counts, &next.counts);
        add(&mut state.sums, &next.sums);
        Ok(())
    }

    fn finish(&self, Folded { sums, .. }: Folded, result: ValuesMut<'_>) -> Result<()> {
        put(&[vec![sums.inertia], sums.counts, sums.sums].concat(), result)
    }
}
