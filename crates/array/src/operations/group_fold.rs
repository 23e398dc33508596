//! Rows folded by their labels into groups.

use super::check::Check;
use crate::array::{Along, Array, Operation};
use crate::block::{Block, Register, register};
use crate::kernel::{self, Fold, Values, ValuesMut};
use crate::memory::InMemory;
use crate::plan::{Known, Plan};
use crate::sink::{Partial, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;

/// Rows of the first operand, folded by their labels, the second one, into as many groups.
struct GroupFold {
    fold: Fold,
    groups: usize,
}

impl Operation for GroupFold {
    fn pass_axis(&self, _array: &Array) -> Option<Along> {
        Some(Along::Folded(0))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, _axis: usize, known: &Known) -> Result<Sink> {
        let [input, labels] = array.operands() else { unreachable!("rows and labels") };
        let (labels, _) = plan.wanted(labels, &[], 0, known)?;
        let rows = plan.wanted(input, &[], 0, known)?;
        let GroupFold { fold, groups } = *self;
        let bytes = move |sink: &Sink, _: u64| (groups * sink.vectors() * sink.element.bytes()) as u64;
        let begin = move |sink: &Sink| Groups::new(fold, sink.element, sink.vectors(), groups);
        Ok(Sink::folded(array, "groups", rows, bytes, begin).with_others(vec![labels], false))
    }
}

/// The groups of the rows so far.
struct Groups {
    fold: Fold,
    element: ElementType,
    groups: usize,
    /// The values of all groups, per vector.
    words: Vec<u64>,
}

impl Groups {
    fn new(fold: Fold, element: ElementType, vectors: usize, groups: usize) -> Self {
        let count = vectors * groups;
        let mut own = Groups { fold, element, groups, words: vec![0; (count * element.bytes()).div_ceil(8)] };
        own.values(0, count).fill(kernel::identity(fold, element));
        own
    }

    fn values(&mut self, from: usize, count: usize) -> ValuesMut<'_> {
        let size = self.element.bytes();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        ValuesMut::from_bytes(self.element, &mut bytes[from * size..(from + count) * size])
    }
}

impl Partial for Groups {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        let (slot, rest) = register(registers);
        let labels = block.fetch_vector(&sink.others[0].view, &[], slot, rest)?;
        let Values::Int64(labels) = labels else { unreachable!("labels are int64") };
        let (fold, groups) = (self.fold, self.groups);
        for_each_vector(sink, block, rest, |number, vector| {
            kernel::group_accumulate(fold, vector, labels, self.values(number * groups, groups));
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let mut next: Groups = same(next);
        let count = self.words.len() * 8 / self.element.bytes();
        let fold = self.fold;
        kernel::accumulate(fold, next.values(0, count).as_values(), self.values(0, count));
        Ok(())
    }

    fn finish(mut self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory> {
        let (groups, vectors, size) = (self.groups, sink.vectors(), self.element.bytes());
        let bytes = self.values(0, groups * vectors).into_bytes();
        result(budget, sink.element, &sink.shape, |to| {
            for (place, to) in to.chunks_exact_mut(size).enumerate() {
                let from = (place % vectors) * groups + place / vectors;
                to.copy_from_slice(&bytes[from * size..][..size]);
            }
        })
    }
}

/// The most numbers of a result: the memory of more, and of what is folded meanwhile, may not fit 64 bits.
const MOST_RESULTS: u64 = 1 << 48;

impl Array {
    /// Rows folded by their labels: row `k` of the result is made of the rows whose label is `k`, of `groups` groups.
    /// A label out of range is an error when it is computed, which names the first one.
    ///
    /// # Errors
    /// Labels that are no whole numbers, or not as many as rows; rows that lie across the long axis of a file; a fold
    /// that elements of this type do not have.
    pub fn group_fold(&self, fold: Fold, labels: &Array, groups: u64) -> Result<Self> {
        let labels = self.checked_labels(labels, groups)?;
        let input = self.to_fold(fold)?;
        let mut shape = vec![groups];
        shape.extend(&self.shape()[1..]);
        let (element, name) = (input.element(), format!("groupby {}", fold.name()));
        let operation = GroupFold { fold, groups: groups as usize };
        Array::computed((name, operation), vec![input, labels], shape, element, None)
    }

    /// The labels of the rows as int64, which are checked when they are computed.
    ///
    /// # Errors
    /// Labels that are no whole numbers, or not as many as rows; rows that lie across the long axis of a file.
    pub(crate) fn checked_labels(&self, labels: &Array, groups: u64) -> Result<Self> {
        let Some(&rows) = self.shape().first() else {
            return Err(Error::Usage("expected an array with rows to group, found a single value".to_owned()));
        };
        let columns = self.shape()[1..].iter().try_fold(1, |columns: u64, &size| columns.checked_mul(size));
        if columns.and_then(|columns| columns.max(1).checked_mul(groups)).is_none_or(|results| results > MOST_RESULTS) {
            let text =
                format!("expected groups whose results are at most {MOST_RESULTS} numbers, found {groups} groups");
            return Err(Error::Usage(text));
        }
        if labels.shape() != [rows] || !(labels.element().is_signed() || labels.element().is_unsigned()) {
            let (shape, kind) = (labels.shape(), labels.element().name());
            let advice =
                if labels.element().is_real() { "; astype(\"int64\") makes whole numbers of them" } else { "" };
            return Err(Error::Usage(format!(
                "expected {rows} labels of whole numbers, found {shape:?} of {kind}{advice}"
            )));
        }
        if self.long().is_some_and(|long| long.axis != 0 && long.is_fixed) {
            return Err(Error::Usage(
                "expected labels along the long axis, along which the file is read, or labels in memory, found lazy \
                 ones along another axis; compute() them first"
                    .to_owned(),
            ));
        }
        labels.checked(Check::Label { groups }, ElementType::Int64)
    }
}
