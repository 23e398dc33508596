//! The fold of an iteration of k-means: counts and sums of the rows next to each centre, and squared distances.
//!
//! *Idea.* A tile of rows stays in the first level of the cache while the nearest centre of each is found, and while it
//! is added to the sums of that. *Cost.* `n k p` multiplications; `k (p + 1)` numbers.

use crate::common::{add, array, columns, finite, put, reals, weights};
use crate::pca::projected;
use outcore_array::kernel::{Binary, Loop, ValuesMut, widest};
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// Squared distances of rows from centres, less the squares of the rows (`n x k`), lazily.
pub(crate) fn scores(shifted: &Array, centres: &[f64]) -> Result<Array> {
    let p = columns(shifted);
    let doubled: Vec<f64> = centres.iter().map(|centre| -2.0 * centre).collect();
    projected(shifted, &doubled, p)?.binary(Binary::Add, &array(&squares(centres, p), &[centres.len() / p]))
}

/// The sum of squares of each centre.
fn squares(centres: &[f64], p: usize) -> Vec<f64> {
    centres.chunks_exact(p).map(|centre| centre.iter().map(|value| value * value).sum()).collect()
}

/// The fold of an iteration: operands are rows, and then weights.
pub(crate) struct Lloyd {
    /// What rows are lessened by.
    pub shift: Vec<f64>,
    /// Less the shift.
    pub centres: Vec<f64>,
    pub is_weighted: bool,
}

/// Rows of a tile, and of a vector at the same time.
const ROWS: usize = 16;
/// Centres whose products with a tile are in registers.
const CENTRES: usize = 4;
/// Rows and columns of the squares by which a tile is transposed.
const SIDE: usize = 4;
/// Sums of squares of a row, side by side.
const LANES: usize = 8;

/// The rows of a block, tile by tile.
struct Tiles<'a> {
    fold: &'a Lloyd,
    squares: &'a [f64],
    columns: &'a [&'a [f64]],
    shares: Option<&'a [f64]>,
    rows: usize,
    sums: &'a mut Sums,
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

    /// The numbers of the nearest centres; `products` has a place for each centre.
    #[inline(always)]
    fn nearest(&self, tile: &[[f64; ROWS]], products: &mut [[f64; ROWS]]) -> [u64; ROWS] {
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
        let (mut least, mut labels) = ([f64::INFINITY; ROWS], [0; ROWS]);
        for (label, (products, &square)) in products.iter().zip(self.squares).enumerate() {
            for i in 0..ROWS {
                let score = square - 2.0 * products[i];
                let is_less = score < least[i];
                least[i] = if is_less { score } else { least[i] };
                labels[i] = if is_less { label as u64 } else { labels[i] };
            }
        }
        labels
    }

    /// Adds a row, less the shift, to what is next to a centre, and its squared distance to that of all.
    #[inline(always)]
    fn add(&mut self, row: &[f64], label: usize, share: f64, inertia: &mut [f64; LANES]) {
        let p = self.columns.len();
        let places = label * p..(label + 1) * p;
        let (row, centre, sums) = (&row[..p], &self.fold.centres[places.clone()], &mut self.sums.sums[places]);
        let ((row, rest), (centre, centre_rest)) = (row.as_chunks::<LANES>(), centre.as_chunks::<LANES>());
        let (sums, sums_rest) = sums.as_chunks_mut::<LANES>();
        let mut squares = [0.0; LANES];
        for ((row, centre), sums) in row.iter().zip(centre).zip(sums) {
            let distances = each(*row, *centre, |value, centre| value - centre);
            squares = each(squares, distances, |square, distance| square + distance * distance);
            *sums = each(*sums, *row, |sum, value| sum + share * value);
        }
        for (((value, centre), sum), square) in rest.iter().zip(centre_rest).zip(sums_rest).zip(&mut squares) {
            *square += (value - centre) * (value - centre);
            *sum += share * value;
        }
        *inertia = each(*inertia, squares, |sum, square| sum + share * square);
        self.sums.counts[label] += share;
    }
}

impl Loop for Tiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let stride = self.columns.len().next_multiple_of(SIDE);
        let (mut tile, mut rows) = (vec![[0.0; ROWS]; stride], vec![0.0; ROWS * stride]);
        let (mut products, mut inertia) = (vec![[0.0; ROWS]; self.squares.len()], [0.0; LANES]);
        for first in (0..self.rows).step_by(ROWS) {
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
            let labels = self.nearest(&tile, &mut products);
            transpose(&tile, &mut rows, stride);
            for i in 0..count {
                let share = self.shares.map_or(1.0, |shares| shares[first + i]);
                self.add(&rows[i * stride..(i + 1) * stride], labels[i] as usize, share, &mut inertia);
            }
        }
        self.sums.inertia += inertia.iter().sum::<f64>();
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

/// Makes the columns of a tile rows of so many elements.
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

/// What is next to each centre.
#[derive(Clone, PartialEq)]
pub(crate) struct Sums {
    pub inertia: f64,
    pub counts: Vec<f64>,
    pub sums: Vec<f64>,
}

impl RowFold for Lloyd {
    type State = Sums;

    fn name(&self) -> &str {
        "k-means"
    }

    fn results(&self) -> usize {
        1 + self.centres.len() / self.shift.len() + self.centres.len()
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        // With a tile, its rows and its products.
        let (p, k) = (self.shift.len(), self.centres.len() / self.shift.len());
        8 * (self.results() + ROWS * (2 * p.next_multiple_of(SIDE) + k)) as u64
    }

    fn begin(&self) -> Sums {
        let (counts, sums) = (vec![0.0; self.centres.len() / self.shift.len()], vec![0.0; self.centres.len()]);
        Sums { inertia: 0.0, counts, sums }
    }

    fn add(&self, state: &mut Sums, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let shares = weights(block, self.is_weighted.then_some(1))?;
        let columns: Vec<&[f64]> = block.operands[0].iter().map(reals).collect();
        let squares = squares(&self.centres, self.shift.len());
        widest(Tiles { fold: self, squares: &squares, columns: &columns, shares, rows: block.rows, sums: state });
        Ok(())
    }

    fn merge(&self, state: &mut Sums, next: Sums) -> Result<()> {
        state.inertia += next.inertia;
        add(&mut state.counts, &next.counts);
        add(&mut state.sums, &next.sums);
        Ok(())
    }

    fn finish(&self, state: Sums, result: ValuesMut<'_>) -> Result<()> {
        put(&[vec![state.inertia], state.counts, state.sums].concat(), result)
    }
}
