//! Variances: sums of squared distances from the mean along axes, in one pass.

use super::fold;
use crate::array::{Along, Array, Operation, Requests};
use crate::block::{Block, Register, for_each_index, register};
use crate::kernel::{self, Binary, Moments, Scalar, Unary, ValuesMut};
use crate::memory::Memory;
use crate::plan::{Compute, Known, Plan, Request, VectorPlace, View, outer};
use crate::sink::{Partial, Reduction, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::Result;
use outcore_io::Budget;

/// The sum of squared distances from the mean along some axes.
struct SquaredDeviations<O> {
    input: O,
    /// The axes; in a plan their sizes, for which the view has strides behind those of the step's axes.
    over: Vec<usize>,
}

const NAME: &str = "squared deviations";

impl Operation for SquaredDeviations<Array> {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn operands(&self) -> Vec<&Array> {
        vec![&self.input]
    }

    fn pass_axis(&self, array: &Array) -> Option<Along> {
        fold::pass_axis(array, &self.input, &self.over)
    }

    fn requests(&self, _array: &Array, axis: usize) -> Requests<'_> {
        fold::requests(&self.input, &self.over, axis)
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let (input, over) = plan.folded(&self.input, &self.over, request, known)?;
        Ok(plan.push(array, outer(array.shape(), request.axis), SquaredDeviations { input, over }))
    }

    /// The moments of all vectors that are folded into one are merged.
    fn sink(&self, array: &Array, plan: &mut Plan, axis: usize, known: &Known) -> Result<Sink> {
        let wanted = plan.wanted(&self.input, &self.over, axis, known)?;
        Ok(Sink::reduced(array, wanted, SquaredDeviationsOfRows))
    }
}

impl Compute for SquaredDeviations<View> {
    fn views(&self) -> Vec<&View> {
        vec![&self.input]
    }

    /// Once for the mean, and once for the distances from it.
    fn visits(&self, shape: &[usize]) -> Vec<(&View, Vec<usize>)> {
        vec![(&self.input, [shape, &self.over].concat()); 2]
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, index, .. } = at;
        let (slot, rest) = register(registers);
        let ValuesMut::Float64(sums) = to else { unreachable!("squared deviations are float64") };
        let (mut own, rows) = (index.to_vec(), block.rows);
        let (mut means, mut wide) = (vec![0.0; rows], vec![0.0; rows]);
        let count: usize = self.over.iter().product();
        for is_second in [false, true] {
            if is_second {
                means.iter_mut().for_each(|mean| *mean /= count as f64);
                sums.fill(0.0);
            }
            for_each_index(&self.over, |folded| {
                own.truncate(index.len());
                own.extend(folded);
                kernel::cast(block.fetch_vector(&self.input, &own, slot, rest)?, ValuesMut::Float64(&mut wide));
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

/// The sum of squared distances of all rows.
struct SquaredDeviationsOfRows;

impl Reduction for SquaredDeviationsOfRows {
    fn name(&self) -> &str {
        NAME
    }

    fn partial_bytes(&self, sink: &Sink, _partition_rows: u64) -> u64 {
        24 * sink.vectors() as u64
    }

    fn begin(&self, sink: &Sink) -> Box<dyn Partial> {
        Box::new(Spread { moments: vec![Moments::default(); sink.vectors()] })
    }
}

/// Of every vector the moments of the rows so far.
struct Spread {
    moments: Vec<Moments>,
}

impl Partial for Spread {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        for_each_vector(sink, block, registers, |number, vector| {
            self.moments[number] = self.moments[number].merge(kernel::moments(vector));
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Spread = same(next);
        self.moments.iter_mut().zip(next.moments).for_each(|(own, next)| *own = own.merge(next));
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        result(budget, ElementType::Float64, &sink.shape, |bytes| {
            let to = bytes.chunks_exact_mut(8).zip(&self.moments);
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
    /// An axis that is not there.
    pub fn variance(&self, axes: &[usize], correction: f64, keep_axes: bool) -> Result<Self> {
        let real = self.to_real()?;
        let (shape, long) = (real.shape_without(axes), real.long_without(axes));
        let count: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        let divisor = Array::scalar(Scalar::Float64((count as f64 - correction).max(0.0)));
        let kind = real.element();
        let operation = SquaredDeviations { input: real, over: axes.to_vec() };
        let sum = Array::computed(operation, shape, ElementType::Float64, long)?;
        sum.binary(Binary::Divide, &divisor)?.cast(kind)?.with_axes(axes, keep_axes)
    }

    /// The square root of the variance.
    ///
    /// # Errors
    /// An axis that is not there.
    pub fn deviation(&self, axes: &[usize], correction: f64, keep_axes: bool) -> Result<Self> {
        self.variance(axes, correction, keep_axes)?.unary(Unary::Sqrt)
    }
}
