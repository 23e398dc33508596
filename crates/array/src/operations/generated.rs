//! Arrays whose elements are functions of their indices: ranges, diagonals and random numbers. They take no memory.

use crate::array::{Array, Operation};
use crate::block::Register;
use crate::kernel::{self, Scalar, Stream, ValuesMut};
use crate::plan::{Known, Plan, Request, Rows, StepOperation, VectorPlace, View};
use outcore_format::ElementType;
use outcore_image::{Error, Result};

/// A function of the indices of an element.
#[derive(Clone, Copy)]
enum Generated {
    /// `start + step i` along the only axis.
    Range {
        start: Scalar,
        step: Scalar,
    },
    /// Ones on a diagonal of a matrix, zeros elsewhere.
    Eye {
        diagonal: i64,
    },
    Random(Random),
}

/// Rows of such an array, along the axis of a pass or as a whole.
struct GeneratedRows {
    function: Generated,
    axis: Option<usize>,
    rows: Rows,
    /// The shape of the array.
    shape: Vec<u64>,
}

impl Operation for Generated {
    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, _known: &Known) -> Result<View> {
        let Request { axis, rows } = request;
        let generated = GeneratedRows { function: *self, axis, rows, shape: array.shape().to_vec() };
        Ok(plan.push(array, request, vec![], generated))
    }
}

impl StepOperation for GeneratedRows {
    fn compute(&self, at: VectorPlace<'_>, mut to: ValuesMut<'_>, _registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        let along = |i: usize| self.rows.at(block.first_row + i as u64);
        match self.function {
            Generated::Range { start, step } => match self.axis {
                Some(_) => kernel::set_each(to, |i| start.plus_times(along(i), step)),
                None => to.fill(start.plus_times(index[0] as u64, step)),
            },
            Generated::Eye { diagonal } => kernel::set_each(to, |i| {
                let (row, column) = match self.axis {
                    Some(0) => (along(i) as i64, index[0] as i64),
                    Some(_) => (index[0] as i64, along(i) as i64),
                    None => (index[0] as i64, index[1] as i64),
                };
                Scalar::Bool(u8::from(column - row == diagonal)).cast(step.element)
            }),
            Generated::Random(random) => match self.axis {
                Some(0) if self.rows.step == 1 => random.fill(self.columns(), self.number(along(0), index), to),
                _ => {
                    for i in 0..to.len() {
                        random.fill(self.columns(), self.number(along(i), index), to.reborrow().slice(i, 1));
                    }
                }
            },
        }
        Ok(())
    }
}

impl GeneratedRows {
    /// Number of elements of each index of the first axis.
    fn columns(&self) -> u64 {
        self.shape.iter().skip(1).fold(1, |columns, &size| columns.wrapping_mul(size))
    }

    /// The number of an element: elements are numbered along the first axis first.
    fn number(&self, along: u64, index: &[usize]) -> u64 {
        let (mut number, mut size, mut own) = (0u64, 1u64, index.iter());
        for (place, &axis_size) in self.shape.iter().enumerate() {
            let i = if Some(place) == self.axis { along } else { own.next().map_or(0, |&i| i as u64) };
            number = number.wrapping_add(i.wrapping_mul(size));
            size = size.wrapping_mul(axis_size);
        }
        number
    }
}

/// The distribution of random elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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

/// A source of random elements: element `i` is a function of the distribution, the seed, the number of columns and `i`.
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

    /// Refuses a distribution whose parameters are those of none.
    fn check(&self) -> Result<()> {
        match self.distribution {
            Distribution::Integers { low, high } if low >= high => {
                Err(Error::Usage(format!("expected low below high, found {low} and {high}")))
            }
            Distribution::Bernoulli { probability } if !(0.0..=1.0).contains(&probability) => {
                Err(Error::Usage(format!("expected a probability from 0 to 1, found {probability}")))
            }
            _ => Ok(()),
        }
    }

    /// Elements of an array of some columns, from number `first` on.
    pub(crate) fn fill(&self, columns: u64, first: u64, to: ValuesMut<'_>) {
        let stream = Stream { seed: self.seed, columns };
        match (self.distribution, to) {
            (Distribution::Uniform, ValuesMut::Float64(to)) => kernel::random_uniform(stream, first, to),
            (Distribution::Normal, ValuesMut::Float64(to)) => kernel::random_normal(stream, first, to),
            (Distribution::Exponential, ValuesMut::Float64(to)) => kernel::random_exponential(stream, first, to),
            (Distribution::Integers { low, high }, ValuesMut::Int64(to)) => {
                kernel::random_integers(stream, first, low, high, to);
            }
            (Distribution::Bernoulli { probability }, ValuesMut::Bool(to)) => {
                kernel::random_bernoulli(stream, first, probability, to);
            }
            _ => unreachable!("room of the type that `element` says"),
        }
    }
}

impl Array {
    /// `start + step i` for `i` below `count`; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be; two types.
    pub fn range(start: Scalar, step: Scalar, count: u64) -> Result<Self> {
        if start.element() != step.element() {
            let (start, step) = (start.element().name(), step.element().name());
            return Err(Error::Usage(format!("expected a start and a step of one type, found {start} and {step}")));
        }
        let long = Array::preferred(&[count]);
        Array::computed(("arange", Generated::Range { start, step }), vec![], vec![count], start.element(), long)
    }

    /// Ones where the column is the row plus `diagonal`, and zeros elsewhere; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be.
    pub fn eye(rows: u64, columns: u64, diagonal: i64, element: ElementType) -> Result<Self> {
        let long = Array::preferred(&[rows, columns]);
        Array::computed(("eye", Generated::Eye { diagonal }), vec![], vec![rows, columns], element, long)
    }

    /// Random elements, which depend on the seed and their place alone; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be; parameters of no distribution: an empty range, or a probability that is none.
    pub fn random(shape: Vec<u64>, random: Random) -> Result<Self> {
        random.check()?;
        let long = Array::preferred(&shape);
        Array::computed((random.name(), Generated::Random(random)), vec![], shape, random.element(), long)
    }
}
