//! Bookkeeping of Krylov iterations with restarts: seeds, counts, locked values, and the checkpoint that holds them.

use crate::checkpoint::{Checkpoint, Words};
use crate::operator::Operator;
use crate::tall::basis::Basis;
use outcore_image::Result;

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
    checkpoint: Option<Checkpoint<'a>>,
}

impl<'o, 'a> Iteration<'o, 'a> {
    pub fn new(operator: &'o dyn Operator<'a>, seed: u64, checkpoint: Option<Checkpoint<'a>>) -> Self {
        Iteration { operator, norm: 0.0, seed, steps: 0, locked: Vec::new(), restarts: 0, checkpoint }
    }

    /// Loads the basis of the checkpoint, and adds the products of its run to the costs. Returns the rest of its state,
    /// or nothing if there is no checkpoint yet.
    ///
    /// # Errors
    /// Those of [`Checkpoint::load`].
    pub fn load(&mut self, basis: &mut Basis<'a>) -> Result<Option<Words>> {
        let Some(checkpoint) = &mut self.checkpoint else { return Ok(None) };
        let Some(mut words) = checkpoint.load(basis)? else { return Ok(None) };
        let products = words.take().ok_or_else(|| checkpoint.damaged_state())?;
        // Products before the first step, such as that of the fingerprint, are in both numbers.
        let mut costs = self.operator.costs().borrow_mut();
        let repeated = costs.products;
        costs.count(products.saturating_sub(repeated));
        Ok(Some(words))
    }

    /// Refuses a checkpoint from which no state of this run could be restored.
    pub fn check_restored(&self, state: Option<()>) -> Result<()> {
        match (state, &self.checkpoint) {
            (None, Some(checkpoint)) => Err(checkpoint.damaged_state()),
            _ => Ok(()),
        }
    }

    /// The beginning of a state, if one is to be written now.
    pub fn state_if_due(&self) -> Option<Words> {
        self.checkpoint.as_ref().filter(|checkpoint| checkpoint.is_due())?;
        let mut words = Words::default();
        words.put(self.operator.costs().borrow().products);
        Some(words)
    }

    /// Writes a state that [`Iteration::state_if_due`] began, and the basis.
    ///
    /// # Errors
    /// Those of [`Checkpoint::save`].
    pub fn save(&mut self, basis: &mut Basis<'a>, words: &Words) -> Result<()> {
        self.checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.save(basis, words))
    }

    pub fn next_seed(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(SEED_STEP);
        self.seed
    }

    /// Whether these values are those that are locked, but for `floor`.
    pub fn is_locked(&self, values: &[f64], floor: f64) -> bool {
        let mut both = self.locked.iter().zip(values);
        self.locked.len() == values.len() && both.all(|(a, b)| (a - b).abs() <= floor)
    }
}
