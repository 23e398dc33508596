//! Variances: sums of squared distances from the mean along axes, in one pass.

use crate::array::{Array, Operation};
use crate::block::{Block, Register, for_each_index, register};
use crate::kernel::{self, Binary, Moments, Scalar, Unary, ValuesMut};
use crate::memory::InMemory;
use crate::plan::{Known, Plan, Request, Step, StepOperation, VectorPlace, View, Visits};
use crate::sink::{Partial, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::Result;
use outcore_io::Budget;

/// The sum of squared distances from the mean along some axes; in a plan their sizes, for which the view has strides
/// behind those of the step's axes.
struct SquaredDeviations(Vec<usize>);

const NAME: &str = "squared deviations";

impl Operation for SquaredDeviations {
    fn over(&self) -> &[usize] {
        &self.0
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let (views, over) = plan.folded(array, &self.0, request, known)?;
        Ok(plan.push(array, request, views, SquaredDeviations(over)))
    }

    /// The moments of all vectors that are folded into one are merged.
    fn sink(&self, array: &Array, plan: &mut Plan, axis: usize, known: &Known) -> Result<Sink> {
        let wanted = plan.wanted(&array.operands()[0], &self.0, axis, known)?;
        let begin = |sink: &Sink| Spread(vec![Moments::default(); sink.vectors()]);
        Ok(Sink::folded(array, NAME, wanted, |sink, _| 24 * sink.vectors() as u64, begin))
    }
}

impl StepOperation for SquaredDeviations {
    /// Once for the mean, and once for the distances from it.
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        vec![(&step.views[0], [&step.shape[..], &self.0].concat()); 2]
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        let (slot, rest) = register(registers);
        let ValuesMut::Float64(sums) = to else { unreachable!("squared deviations are float64") };
        let (mut own, rows) = (index.to_vec(), block.rows);
        let (mut means, mut wide) = (vec![0.0; rows], vec![0.0; rows]);
        let count: usize = self.0.iter().product();
        for is_second in [false, true] {
            if is_second {
                means.iter_mut().for_each(|mean| *mean /= count as f64);
                sums.fill(0.0);
            }
            for_each_index(&self.0, |folded| {
                own.truncate(index.len());
                own.extend(folded);
                kernel::cast(block.fetch_vector(&step.views[0], &own, slot, rest)?, ValuesMut::Float64(&mut wide));
                let pairs = wide.iter().zip(&mut means);
                match is_second {
                    false => pairs.for_each(|(value, mean)| *mean += value),
                    true => sums.iter_mut().zip(pairs).for_each(|(sum, (value, mean))| {
                        let distance = value - *mean;
                        *sum += distance * distance;
                    }),
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The moments of the rows so far, per vector.
struct Spread(Vec<Moments>);

impl Partial for Spread {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        for_each_vector(sink, block, registers, |number, vector| {
            self.0[number] = self.0[number].merge(kernel::moments(vector));
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Spread = same(next);
        self.0.iter_mut().zip(next.0).for_each(|(own, next)| *own = own.merge(next));
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory> {
        result(budget, ElementType::Float64, &sink.shape, |bytes| {
            let to = bytes.chunks_exact_mut(8).zip(&self.0);
            to.for_each(|(to, moments)| to.copy_from_slice(&moments.m2.to_ne_bytes()));
        })
    }
}

impl Array {
    /// The variance along some axes: the sum of squared distances from the mean, by the count less `correction`. One
    /// pass; computed in float64, in parts that are merged (Chan, Golub, LeVeque, *Updating formulae and a pairwise
    /// algorithm for computing sample variances*, 1979), so that a mean far from 0 does no harm.
    ///
    /// # Errors
    /// An axis that is not there, or not once.
    pub fn variance(&self, axes: &[usize], correction: f64, keep_axes: bool) -> Result<Self> {
        self.check_axes(axes)?;
        let real = self.to_real()?;
        let (shape, long) = (real.shape_without(axes), real.long_without(axes));
        let count: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        let divisor = Array::scalar(Scalar::Float64((count as f64 - correction).max(0.0)));
        let kind = real.element();
        let operation = (NAME, SquaredDeviations(axes.to_vec()));
        let sum = Array::computed(operation, vec![real], shape, ElementType::Float64, long)?;
        sum.binary(Binary::Divide, &divisor)?.cast(kind)?.with_axes(axes, keep_axes)
    }

    /// The square root of the variance.
    ///
    /// # Errors
    /// An axis that is not there, or not once.
    pub fn deviation(&self, axes: &[usize], correction: f64, keep_axes: bool) -> Result<Self> {
        self.variance(axes, correction, keep_axes)?.unary(Unary::Sqrt)
    }
}
