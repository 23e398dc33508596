//! The R factor of columns, by a tall and skinny QR factorisation that is streamed.
//!
//! *Idea.* Rows are gathered until there are as many as columns, put below the factor so far, and both are
//! factored together; so are factors of partitions. Where columns are centred, rows are less their own means, and a
//! further row
//! `sqrt(a b / (a + b)) (m_a - m_b)` takes the parts' means to that of all:
//! `R^T R` is the matrix of co-moments then, without it being computed. So small singular values are found with the
//! full precision, which squaring halves, and one pass is enough. *Cost.* One pass, `2 n p^2` multiplications.
//!
//! Demmel, Grigori, Hoemmen, Langou, *Communication-optimal parallel and sequential QR and LU factorizations*, SIAM J.
//! Sci. Comput. 2012.

use crate::common::{columns, finite, no_overflow, put, reals, total};
use crate::moments::pivot::pivot;
use faer::{Mat, MatRef};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// The most rows of a block of float64.
const BLOCK_ROWS: usize = 508;

struct Tsqr {
    columns: usize,
    is_centred: bool,
}

/// A factor, and the means that its rows are less.
pub(crate) struct Factor {
    pub count: f64,
    pub means: Vec<f64>,
    /// `p x p`.
    pub r: Mat<f64>,
    /// Rows that are not in the factor yet, column by column, with room for more of them.
    room: Vec<f64>,
    gathered: usize,
}

/// The lazy factor of observations, less their means if they are to be centred.
pub(crate) fn lazy(x: &Array, is_centred: bool) -> Result<Array> {
    Array::fold_rows(Tsqr { columns: columns(x), is_centred }, std::slice::from_ref(x))
}

impl Factor {
    /// The factor that a pass found.
    pub fn of(numbers: &[f64], columns: usize) -> Result<Self> {
        no_overflow(numbers)?;
        let (means, r) = numbers[1..].split_at(columns);
        let r = MatRef::from_row_major_slice(r, columns, columns).to_owned();
        Ok(Factor { count: numbers[0], means: means.to_vec(), r, room: Vec::new(), gathered: 0 })
    }

    /// Joins rows less their means: those of a block, or of a factor.
    fn join(&mut self, rows: MatRef<'_, f64>, count: f64, means: &[f64]) {
        let p = means.len();
        let (all, own) = (self.count + count, self.count);
        let scale = (own * count / all).sqrt();
        let stacked = Mat::from_fn(p + rows.nrows() + 1, p, |i, k| match i {
            _ if i < p => self.r[(i, k)],
            _ if i < p + rows.nrows() => rows[(i - p, k)],
            _ if own > 0.0 => scale * (means[k] - self.means[k]),
            _ => 0.0,
        });
        self.r = upper(&stacked);
        let share = count / all;
        self.means.iter_mut().zip(means).for_each(|(mean, next)| *mean += (next - *mean) * share);
        self.count = all;
    }
}

/// The R factor of a matrix that has not fewer rows than columns.
fn upper(matrix: &Mat<f64>) -> Mat<f64> {
    let qr = matrix.qr();
    let r = qr.thin_R();
    Mat::from_fn(matrix.ncols(), matrix.ncols(), |i, k| if i <= k { r[(i, k)] } else { 0.0 })
}

impl Tsqr {
    /// The most rows that are gathered: as many as columns, less one, and a block.
    fn most_gathered(&self) -> usize {
        self.columns + BLOCK_ROWS
    }

    /// Joins the gathered rows with the factor.
    fn factor(&self, state: &mut Factor) {
        let (rows, most) = (std::mem::take(&mut state.gathered), self.most_gathered());
        if rows == 0 {
            return;
        }
        let mut room = std::mem::take(&mut state.room);
        let means: Vec<f64> = match self.is_centred {
            true => room.chunks_exact_mut(most).map(|column| centre(&mut column[..rows])).collect(),
            false => vec![0.0; self.columns],
        };
        let all = MatRef::from_column_major_slice(&room, most, self.columns);
        state.join(all.subrows(0, rows), rows as f64, &means);
        state.room = room;
    }
}

/// Subtracts the mean of a column, which it returns.
fn centre(column: &mut [f64]) -> f64 {
    let count = column.len() as f64;
    let mean = pivot(column, None, count);
    column.iter_mut().for_each(|value| *value -= mean);
    // Correction for the rounding of the mean.
    mean + total(column) / count
}

impl RowFold for Tsqr {
    type State = Factor;

    fn name(&self) -> &str {
        "tsqr"
    }

    fn results(&self) -> usize {
        1 + self.columns * (self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        // Gathered rows, and twice these below the factor.
        let rows = self.most_gathered() + 2 * (self.most_gathered() + self.columns + 1);
        8 * (self.results() + rows * self.columns) as u64
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        // Columns of a small matrix begin at multiples of 64 bytes.
        8 * (self.results() + 8 * self.columns) as u64
    }

    fn least_rows(&self) -> u64 {
        // A factor has as many rows as there are columns.
        self.columns as u64
    }

    fn begin(&self) -> Factor {
        let p = self.columns;
        Factor { count: 0.0, means: vec![0.0; p], r: Mat::zeros(p, p), room: Vec::new(), gathered: 0 }
    }

    fn add(&self, state: &mut Factor, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let most = self.most_gathered();
        state.room.resize(most * self.columns, 0.0);
        for (column, values) in state.room.chunks_exact_mut(most).zip(&block.operands[0]) {
            column[state.gathered..][..block.rows].copy_from_slice(reals(values));
        }
        state.gathered += block.rows;
        if state.gathered >= self.columns {
            self.factor(state);
        }
        Ok(())
    }

    fn close(&self, state: &mut Factor) -> Result<()> {
        self.factor(state);
        state.room = Vec::new();
        Ok(())
    }

    fn merge(&self, state: &mut Factor, next: Factor) -> Result<()> {
        state.join(next.r.as_ref(), next.count, &next.means);
        Ok(())
    }

    fn finish(&self, state: Factor, result: ValuesMut<'_>) -> Result<()> {
        let mut numbers = vec![state.count];
        numbers.extend(&state.means);
        (0..self.columns).for_each(|i| numbers.extend((0..self.columns).map(|k| state.r[(i, k)])));
        put(&numbers, result)
    }
}
