//! Random arrays: element `i` is a function of the seed and `i`, so any part is computed without the others.

use crate::kernel;
use crate::kernel::ValuesMut;
use outcore_format::ElementType;

/// The distribution of random elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Uniformly in [0, 1).
    Uniform,
    /// Normally, with mean 0 and variance 1.
    Normal,
    /// Exponentially, with mean 1.
    Exponential,
    /// Whole numbers from `low` to below `high`, uniformly.
    Integers {
        /// The least number.
        low: i64,
        /// Exclusive upper bound.
        high: i64,
    },
    /// True with this probability.
    Bernoulli {
        /// The probability.
        probability: f64,
    },
}

/// A source of random elements: element `i` is a function of the seed and of `i`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Random {
    /// The distribution.
    pub distribution: Distribution,
    /// The seed: equal seeds give equal elements.
    pub seed: u64,
}

impl Random {
    /// The type of its elements.
    pub fn element(&self) -> ElementType {
        match self.distribution {
            Distribution::Uniform | Distribution::Normal | Distribution::Exponential => ElementType::Float64,
            Distribution::Integers { .. } => ElementType::Int64,
            Distribution::Bernoulli { .. } => ElementType::Bool,
        }
    }

    /// The name of the distribution, for plans.
    pub fn name(&self) -> &'static str {
        match self.distribution {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
            Distribution::Exponential => "exponential",
            Distribution::Integers { .. } => "integers",
            Distribution::Bernoulli { .. } => "bernoulli",
        }
    }

    /// Elements from number `first` on.
    pub(crate) fn fill(&self, first: u64, to: ValuesMut<'_>) {
        match (self.distribution, to) {
            (Distribution::Uniform, ValuesMut::Float64(to)) => kernel::random_uniform(self.seed, first, to),
            (Distribution::Normal, ValuesMut::Float64(to)) => kernel::random_normal(self.seed, first, to),
            (Distribution::Exponential, ValuesMut::Float64(to)) => kernel::random_exponential(self.seed, first, to),
            (Distribution::Integers { low, high }, ValuesMut::Int64(to)) => {
                kernel::random_integers(self.seed, first, low, high, to);
            }
            (Distribution::Bernoulli { probability }, ValuesMut::Bool(to)) => {
                kernel::random_bernoulli(self.seed, first, probability, to);
            }
            _ => unreachable!("room of the type that `element` says"),
        }
    }
}
