//! The R factor of columns, by a tall and skinny QR factorisation that is streamed.
//!
//! *Idea.* The rows of a block are put below the factor so far, and both are factored together; so are factors of
//! partitions. Where columns are centred, a block is less its own means, and a further row
//! `sqrt(a b / (a + b)) (m_a - m_b)` takes the parts' means to that of all:
//! `R^T R` is the matrix of co-moments then, without it being computed. So small singular values are found with the
//! full precision, which squaring halves, and one pass is enough. *Cost.* One pass, `2 n p^2` multiplications.
//!
//! Demmel, Grigori, Hoemmen, Langou, *Communication-optimal parallel and sequential QR and LU factorizations*, SIAM J.
//! Sci. Comput. 2012.

use crate::common::{columns, finite, no_overflow, pack, put};
use crate::moments::co_moments::centre;
use faer::{Mat, MatRef};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

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
    room: Vec<f64>,
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
        Ok(Factor { count: numbers[0], means: means.to_vec(), r, room: Vec::new() })
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

impl RowFold for Tsqr {
    type State = Factor;

    fn name(&self) -> &str {
        "tsqr"
    }

    fn results(&self) -> usize {
        1 + self.columns * (self.columns + 1)
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        8 * (self.results() + 3 * (509 + self.columns) * self.columns) as u64
    }

    fn begin(&self) -> Factor {
        let p = self.columns;
        Factor { count: 0.0, means: vec![0.0; p], r: Mat::zeros(p, p), room: Vec::new() }
    }

    fn add(&self, state: &mut Factor, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (mut room, mut means) = (std::mem::take(&mut state.room), vec![0.0; self.columns]);
        pack(&block.operands[0], None, &mut room);
        if self.is_centred {
            centre(&mut room, block.rows, None, block.rows as f64, &mut means);
        }
        let rows = MatRef::from_column_major_slice(&room, block.rows, self.columns);
        state.join(rows, block.rows as f64, &means);
        state.room = room;
        Ok(())
    }

    fn close(&self, state: &mut Factor) -> Result<()> {
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
