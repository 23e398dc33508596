//! The fold of an iteration of k-means: counts and sums of the rows next to each centre, and squared distances.
//!
//! *Idea.* A tile of rows stays in the first level of the cache while the nearest centre of each is found, by products,
//! and while it is added to the sums of that. Where rounding of products may have decided, differences do. Where bounds
//! are kept, rows of a block that cannot have left their centre are found first; the others make tiles of their own.
//! Rows are added in their order all the same. Of few centres, the sums are products of the rows with columns that are
//! the rows' weights at their own centre and 0 at others (`products.rs`); the sum of squared distances is then left
//! out, for all passes but the last one. *Cost.* `n k p` multiplications, or fewer with bounds; `k (p + 1)` numbers,
//! and up to 8 times as many of few centres.
#![allow(clippy::needless_range_loop)] // why: lanes of several arrays are indexed together

use crate::clusters::bounds::Look;
use crate::common::{add, array_of, columns, finite, put, reals, total, weights};
use crate::moments::products::{self, Square, add_products, for_each_sum, packed_columns};
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
    /// Whether the sum of squared distances is found; otherwise it is one of products, if there are few centres.
    pub with_inertia: bool,
    /// Bounds of the rows.
    pub look: Option<Look>,
}

impl Lloyd {
    /// Whether rows are added as products with weights.
    fn is_by_products(&self) -> bool {
        self.centres.len() <= MOST_MULTIPLIED * self.shift.len() && !self.with_inertia && self.look.is_none()
    }

    /// Numbers of the columns of a block, and of weights: one set behind the other.
    fn packed(&self, rows: usize) -> (usize, usize) {
        let (p, k) = (self.shift.len(), self.centres.len() / self.shift.len());
        let stride = stride_of(rows);
        (stride * packed_columns(p), stride * packed_columns(k))
    }
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
/// The most centres for which rows are added as products: more of these take longer than to add up each row.
pub(crate) const MOST_MULTIPLIED: usize = 16;

/// Numbers of a packed column: whole tiles, and not a multiple of a page, for then columns would share few lines of the
/// first-level cache.
fn stride_of(rows: usize) -> usize {
    rows.next_multiple_of(ROWS) + products::ROWS
}

/// Rows of a block during their comparison with centres.
#[derive(Default)]
struct Space {
    /// Row by row.
    rows: Vec<f64>,
    labels: Vec<usize>,
    /// The rows that are to be compared with all centres.
    open: Vec<usize>,
    /// Column by column, of few centres, the rows, and their weights for every centre.
    packed: Vec<f64>,
    shares: Vec<f64>,
}

/// A tile of rows, as columns.
#[derive(Clone, Copy)]
struct Tile<'a> {
    numbers: &'a [f64],
    /// The distance between columns.
    stride: usize,
}

impl<'a> Tile<'a> {
    /// A tile by itself.
    #[inline(always)]
    fn of(columns: &'a [[f64; ROWS]]) -> Self {
        Tile { numbers: columns.as_flattened(), stride: ROWS }
    }

    #[inline(always)]
    fn column(self, column: usize) -> &'a [f64; ROWS] {
        self.numbers[column * self.stride..][..ROWS].try_into().expect("as many rows")
    }
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
    /// Sums by products.
    products: &'a mut [Square],
    space: &'a mut Space,
}

impl Tiles<'_> {
    /// The products of a tile with some centres.
    #[inline(always)]
    fn multiply<const C: usize>(&self, tile: Tile<'_>, first: usize, to: &mut [[f64; ROWS]]) {
        let p = self.columns.len();
        let centres: [&[f64]; C] = std::array::from_fn(|c| &self.fold.centres[(first + c) * p..][..p]);
        let mut products = [[0.0; ROWS]; C];
        for column in 0..p {
            let values = *tile.column(column);
            for c in 0..C {
                products[c] = each(values, products[c], |value, product| value.mul_add(centres[c][column], product));
            }
        }
        to[first..first + C].copy_from_slice(&products);
    }

    /// The nearest centres; `products` has a place for each centre.
    #[inline(always)]
    fn nearest(&self, tile: Tile<'_>, products: &mut [[f64; ROWS]]) -> Nearest {
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
        for column in 0..self.columns.len() {
            squares = each(squares, *tile.column(column), |square, value| square + value * value);
        }
        Nearest { labels, least, seconds, squares }
    }

    /// The number of the centre next to a row, which is row `i` of a tile.
    ///
    /// The error of products is relative to the row's square. If a centre is so far that its own square is larger, the
    /// error is relative to its distance.
    #[inline(always)]
    fn settled(&self, nearest: &Nearest, i: usize, row: &[f64]) -> usize {
        if self.is_settled(nearest, i) { nearest.labels[i] as usize } else { self.compared(row) }
    }

    /// Whether rounding of products cannot have decided which centre is next to row `i` of a tile.
    #[inline(always)]
    fn is_settled(&self, nearest: &Nearest, i: usize) -> bool {
        let (least, second) = (nearest.least[i], nearest.seconds[i]);
        let error = rounding(self.columns.len()) * (nearest.squares[i] + least.abs() + second.abs());
        second - least > error || self.squares.len() == 1
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
            let nearest = self.nearest(Tile::of(tile), products);
            for (i, &row) in open.iter().enumerate() {
                let label = self.settled(&nearest, i, &space.rows[row * stride..][..p]);
                let (square, second) = (nearest.squares[i], nearest.seconds[i]);
                look.remember(self.first_row + row as u64, label as u64, square, square + second);
                space.labels[row] = label;
            }
        }
        *self.space = space;
    }

    /// Adds all rows as products with their weights. Returns the sum of squared distances by products.
    #[inline(always)]
    fn add_by_products(&mut self, products: &mut [[f64; ROWS]]) -> f64 {
        let (p, k, stride) = (self.columns.len(), products.len(), stride_of(self.rows));
        let (packed, shares) = self.fold.packed(self.rows);
        let mut space = std::mem::take(self.space);
        for (room, len) in [(&mut space.packed, packed), (&mut space.shares, shares)] {
            if room.len() != len {
                room.clear();
                room.resize(len, 0.0);
            }
        }
        for (column, (values, to)) in self.columns.iter().zip(space.packed.chunks_exact_mut(stride)).enumerate() {
            let shift = self.fold.shift[column];
            for (to, value) in to.iter_mut().zip(*values) {
                *to = value - shift;
            }
        }
        space.shares.fill(0.0);
        let (mut row, mut inertia) = (vec![0.0; p], 0.0);
        for first in (0..self.rows).step_by(ROWS) {
            let nearest = self.nearest(Tile { numbers: &space.packed[first..], stride }, products);
            for i in 0..ROWS.min(self.rows - first) {
                let mut label = nearest.labels[i] as usize;
                if !self.is_settled(&nearest, i) {
                    let own = space.packed[first + i..].iter().step_by(stride);
                    row.iter_mut().zip(own).for_each(|(to, value)| *to = *value);
                    label = self.compared(&row);
                }
                let share = self.shares.map_or(1.0, |shares| shares[first + i]);
                space.shares[label * stride + first + i] = share;
                inertia += share * (nearest.squares[i] + nearest.least[i]);
            }
        }
        let counts = self.sums.counts.iter_mut().zip(space.shares.chunks_exact(stride).take(k));
        counts.for_each(|(count, shares)| *count += total(shares));
        add_products(&space.shares, &space.packed, stride, false, self.products);
        *self.space = space;
        inertia
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
        if self.fold.is_by_products() {
            return self.add_by_products(&mut vec![[0.0; ROWS]; self.squares.len()]);
        }
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
                let nearest = self.nearest(Tile::of(&tile), &mut products);
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
    /// Sums of few centres that are not in `sums` yet.
    products: Vec<Square>,
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
        let (packed, products) = match self.is_by_products() {
            true => (self.packed(MOST_ROWS), products::squares(k, p, false)),
            false => ((0, 0), 0),
        };
        let numbers = self.results() + ROWS * (2 * stride + k) + block + packed.0 + packed.1;
        (8 * numbers + products * size_of::<Square>()) as u64
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn begin(&self) -> Folded {
        let (counts, sums) = (vec![0.0; self.centres.len() / self.shift.len()], vec![0.0; self.centres.len()]);
        Folded { sums: Sums { inertia: 0.0, counts, sums }, products: Vec::new(), space: Space::default() }
    }

    fn add(&self, state: &mut Folded, block: &RowBlock<'_>) -> Result<()> {
        let shares = weights(block, self.is_weighted.then_some(1))?;
        let columns: Vec<&[f64]> = block.operands[0].iter().map(reals).collect();
        let squares = squares(&self.centres, self.shift.len());
        if self.is_by_products() && state.products.is_empty() {
            state.products.resize(products::squares(squares.len(), columns.len(), false), Square::default());
        }
        let inertia = widest(Tiles {
            fold: self,
            squares: &squares,
            columns: &columns,
            shares,
            first_row: block.first_row,
            rows: block.rows,
            sums: &mut state.sums,
            products: &mut state.products,
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
        let (products, sums) = (std::mem::take(&mut state.products), &mut state.sums.sums);
        if !products.is_empty() {
            let (p, k) = (self.shift.len(), self.centres.len() / self.shift.len());
            for_each_sum(&products, k, p, false, |centre, column, sum| sums[centre * p + column] += sum);
        }
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
