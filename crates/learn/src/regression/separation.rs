//! Separation of classes, complete or quasi-complete: a fold of the margins of all rows along some directions.
//!
//! *Idea.* There is no optimum without a penalty if and only if the margins along some direction are 0 or more for all
//! rows, and above 0 for one. A margin is the rise of the logarithm of the odds of a row's own class against another
//! one. Rows with a margin of 0 lie on the hyperplane between classes: if there are any, the separation is
//! quasi-complete. *Cost.* `n k (p + 1)` multiplications for each direction.
//!
//! Albert, Anderson, *On the existence of maximum likelihood estimates in logistic regression models*, Biometrika 1984.

use crate::common::{Room, classes, finite, put, weights};
use crate::regression::logistic_loss::{scaled, score};
use outcore_array::kernel::ValuesMut;
use outcore_array::{Array, RowBlock, RowFold};
use outcore_image::Result;

/// The margin of a row that is certain: its probability is 1 but for rounding.
const FAR: f64 = 40.0;

/// The fold: operands are observations, labels, and then weights. Rows of weight 0 do not count.
pub(crate) struct Margins {
    /// 1 for two classes, else how many classes there are.
    pub rows: usize,
    /// The parameters of a row.
    pub width: usize,
    pub shift: Vec<f64>,
    pub scale: Vec<f64>,
    /// The directions, each as long as the parameters.
    pub directions: Vec<Vec<f64>>,
    pub is_weighted: bool,
}

impl Margins {
    /// The least and the greatest margin along each direction, lazily. Greatest are only those of rows that the first
    /// direction does not put far on their own side: one row far out would hide what all others lack.
    pub fn lazy(self, operands: &[Array]) -> Result<Array> {
        Array::fold_rows(self, operands)
    }
}

impl RowFold for Margins {
    type State = (Vec<[f64; 2]>, Room, Vec<f64>);

    fn name(&self) -> &str {
        "margins of classes"
    }

    fn results(&self) -> usize {
        2 * self.directions.len()
    }

    fn state_bytes(&self, rows: u64) -> u64 {
        8 * (self.results() as u64 + rows * (self.width + 2 * self.rows + 1) as u64)
    }

    fn closed_bytes(&self, _rows: u64) -> u64 {
        8 * self.results() as u64
    }

    fn begin(&self) -> Self::State {
        (vec![[f64::INFINITY, f64::NEG_INFINITY]; self.directions.len()], Room::default(), Vec::new())
    }

    fn add(&self, (ends, (values, scores), first): &mut Self::State, block: &RowBlock<'_>) -> Result<()> {
        finite(block, 0)?;
        let (n, mut labels) = (block.rows, Vec::new());
        classes(block, 1, self.rows.max(2), &mut labels)?;
        let shares = weights(block, self.is_weighted.then_some(2))?;
        scaled(block, (&self.shift, &self.scale), self.width, values);
        score(values, &self.directions[0], n, first);
        for (place, (direction, [least, most])) in self.directions.iter().zip(ends).enumerate() {
            let scores: &[f64] = match place {
                0 => first,
                _ => {
                    score(values, direction, n, scores);
                    scores
                }
            };
            for (row, &label) in labels.iter().enumerate().filter(|&(row, _)| shares.is_none_or(|all| all[row] > 0.0)) {
                let mut note = |margin: &dyn Fn(&[f64]) -> f64| {
                    *least = least.min(margin(scores));
                    if margin(first) < FAR {
                        *most = most.max(margin(scores));
                    }
                };
                match self.rows {
                    1 => note(&|scores| if label == 1 { scores[row] } else { -scores[row] }),
                    classes => (0..classes)
                        .filter(|&other| other != label)
                        .for_each(|other| note(&|scores| scores[label * n + row] - scores[other * n + row])),
                }
            }
        }
        Ok(())
    }

    fn close(&self, state: &mut Self::State) -> Result<()> {
        (state.1, state.2) = Default::default();
        Ok(())
    }

    fn merge(&self, state: &mut Self::State, next: Self::State) -> Result<()> {
        for ([least, most], next) in state.0.iter_mut().zip(next.0) {
            (*least, *most) = (least.min(next[0]), most.max(next[1]));
        }
        Ok(())
    }

    fn finish(&self, state: Self::State, result: ValuesMut<'_>) -> Result<()> {
        put(state.0.as_flattened(), result)
    }
}
