//! Bookkeeping of Krylov iterations with restarts: seeds, counts, locked values.

use crate::checkpoint::Words;
use crate::operator::Operator;

/// Distance of consecutive seeds: those of one block are between them.
const SEED_STEP: u64 = 0x1_0000;

/// The state that all Krylov iterations have, whatever their projections are.
pub(crate) struct Iteration<'o, 'a> {
    pub operator: &'o dyn Operator<'a>,
    /// The greatest length of a product with a vector so far.
    pub norm: f64,
    pub seed: u64,
    /// Steps since the last random start.
    pub steps: u64,
    /// The locked eigenvalues, or their sort keys.
    pub locked: Vec<f64>,
    pub restarts: u64,
}

impl<'o, 'a> Iteration<'o, 'a> {
    pub fn new(operator: &'o dyn Operator<'a>, seed: u64) -> Self {
        Iteration { operator, norm: 0.0, seed, steps: 0, locked: Vec::new(), restarts: 0 }
    }

    /// Writes the number of products to a state, or adds that of the resumed run to the costs.
    pub fn products(&self, words: &mut Words) -> Option<()> {
        let mut costs = self.operator.costs().borrow_mut();
        let mut products = costs.products;
        words.word(&mut products)?;
        // Products before the first step, such as that of the fingerprint, are in both numbers.
        let repeated = costs.products;
        costs.count(products.saturating_sub(repeated));
        Some(())
    }

    pub fn next_seed(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(SEED_STEP);
        self.seed
    }

    /// Whether these values are those that are locked, but for `floor` of each.
    pub fn is_locked(&self, values: &[f64], floor: impl Fn(f64) -> f64) -> bool {
        let mut both = self.locked.iter().zip(values);
        self.locked.len() == values.len() && both.all(|(a, &b)| (a - b).abs() <= floor(b))
    }
}
