//! Folds of elements by a function of the user's: along the rows, over all elements, and of rows by their labels.
//!
//! *Order.* A partition of rows begins with the initial value, to which its elements are added from the first row to
//! the last, and of a row from the first element to the last. The results of the other partitions
//! are merged into that of the first one in their order. Partitions depend on the files that a pass reads and on the
//! images that it writes, not on the number of workers or the memory: so neither do the bits of a result, even if
//! nothing about the functions is associative. It does not depend on the partitions either if the initial value is
//! neutral for merging, and merging gives what adding the elements of both in their order would.

use super::elementwise::caught;
use super::row_fold::{RowBlock, RowFold};
use crate::array::Array;
use crate::kernel::{Element, Scalar, Values, ValuesMut};
use crate::plan::BLOCK_ROWS;
use outcore_format::ElementType;
use outcore_image::Result;
use std::marker::PhantomData;
use std::sync::Arc;

/// A fold of elements by functions that a user wrote. If one panics, that is an error with the fold's name.
///
/// [`element_fold`] makes one of two closures.
pub trait ElementFold: Send + Sync + 'static {
    /// Its name, for plans and errors.
    fn name(&self) -> &str;

    /// The result of no elements. Its type is that of all results.
    fn initial(&self) -> Scalar;

    /// Adds the elements of adjacent rows, which are those of every vector, to results: row by row, and of a row
    /// vector by vector. Row `i` is added to result `labels[i]`, and without labels to the only one.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn add(&self, vectors: &[Values<'_>], labels: Option<&[i64]>, results: ValuesMut<'_>) -> Result<()>;

    /// Merges results of some rows, each with the one of the rows behind that is at the same place.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn merge(&self, before: Values<'_>, behind: Values<'_>, results: ValuesMut<'_>) -> Result<()>;
}

/// A fold of elements of type `T` by closures: `add` makes the next result of one and of an element, `merge` one of
/// two. Bytes are elements of `uint8` and of `bool`.
///
/// ```
/// # mod outcore {
/// #     pub use {outcore_image::Result, outcore_io::Runtime};
/// #     pub mod array { pub use outcore_array::*; }
/// # }
/// use outcore::Runtime;
/// use outcore::array::{Array, Goal, compute, element_fold};
/// use std::sync::Arc;
///
/// # fn main() -> outcore::Result<()> {
/// let x = Array::from_vec((1..=20i64).collect(), vec![20])?;
/// // How often elements are divisible by 3.
/// let thirds = element_fold("thirds", 0i64, |count, x: i64| count + i64::from(x % 3 == 0), |a, b| a + b);
/// let goal = Goal::Value(x.fold_elements(Arc::new(thirds), None)?);
/// let computed = compute(&Runtime::new(Default::default())?, &[goal])?;
/// assert_eq!(computed.values[0].elements::<i64>()?, [6]);
/// # Ok(()) }
/// ```
pub fn element_fold<T: Element, R: Element>(
    name: &str,
    initial: R,
    add: impl Fn(R, T) -> R + Send + Sync + 'static,
    merge: impl Fn(R, R) -> R + Send + Sync + 'static,
) -> impl ElementFold {
    Closures { name: name.to_owned(), initial, add, merge, of: PhantomData }
}

struct Closures<T, R, A, M> {
    name: String,
    initial: R,
    add: A,
    merge: M,
    of: PhantomData<fn(T)>,
}

impl<T, R, A, M> ElementFold for Closures<T, R, A, M>
where
    T: Element,
    R: Element,
    A: Fn(R, T) -> R + Send + Sync + 'static,
    M: Fn(R, R) -> R + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn initial(&self) -> Scalar {
        self.initial.scalar()
    }

    fn add(&self, vectors: &[Values<'_>], labels: Option<&[i64]>, results: ValuesMut<'_>) -> Result<()> {
        let vectors: Vec<&[T]> = vectors.iter().map(|&vector| T::slice(vector)).collect();
        let results = R::slice_mut(results);
        for row in 0..vectors.first().map_or(0, |vector| vector.len()) {
            let result = &mut results[labels.map_or(0, |labels| labels[row] as usize)];
            *result = vectors.iter().fold(*result, |result, vector| (self.add)(result, vector[row]));
        }
        Ok(())
    }

    fn merge(&self, before: Values<'_>, behind: Values<'_>, results: ValuesMut<'_>) -> Result<()> {
        let pairs = R::slice(before).iter().zip(R::slice(behind));
        R::slice_mut(results).iter_mut().zip(pairs).for_each(|(to, (&a, &b))| *to = (self.merge)(a, b));
        Ok(())
    }
}

impl Array {
    /// Elements folded along an axis by functions of the user's; without an axis all of them, along the long axis.
    ///
    /// # Errors
    /// An axis that is not there, or across the long axis of an array in a file.
    pub fn fold_elements(&self, fold: Arc<dyn ElementFold>, axis: Option<usize>) -> Result<Self> {
        self.check_axes(axis.as_slice())?;
        let along = axis.or(self.long_axis()).unwrap_or(0);
        let (rows, others) = self.as_rows(along)?;
        let shape = if axis.is_some() { others } else { vec![] };
        Array::fold_rows(Folded { fold, groups: 1, is_all: axis.is_none(), shape }, &[rows])
    }

    /// Rows folded by their labels, column by column, by functions of the user's: row `k` of the result is made of the
    /// rows whose label is `k`, of `groups` groups. A label out of range is an error when it is computed, which names
    /// the first one.
    ///
    /// # Errors
    /// Labels that are no whole numbers, or not as many as rows; rows across the long axis of an array in a file.
    pub fn group_fold_elements(&self, fold: Arc<dyn ElementFold>, labels: &Array, groups: u64) -> Result<Self> {
        let labels = self.checked_labels(labels, groups)?;
        let (rows, others) = self.as_rows(0)?;
        let shape = [vec![groups], others].concat();
        Array::fold_rows(Folded { fold, groups: groups as usize, is_all: false, shape }, &[rows, labels])
    }

    /// The elements as a matrix whose rows lie along an axis, and the sizes of the other axes.
    fn as_rows(&self, along: usize) -> Result<(Self, Vec<u64>)> {
        let others: Vec<usize> = (0..self.axes()).filter(|&axis| axis != along).collect();
        let sizes: Vec<u64> = others.iter().map(|&axis| self.shape()[axis]).collect();
        let count = self.shape().get(along).copied().unwrap_or(1);
        let order: Vec<usize> = [along].into_iter().filter(|&axis| axis < self.axes()).chain(others).collect();
        let rows = self.permute(&order)?.reshape(&[count, sizes.iter().product()])?;
        Ok((rows, sizes))
    }
}

/// The fold of rows that a fold of elements is.
struct Folded {
    fold: Arc<dyn ElementFold>,
    /// Number of results of a column.
    groups: usize,
    /// Whether all columns of the operand are folded into one result.
    is_all: bool,
    shape: Vec<u64>,
}

/// The results of all groups, per column.
struct Partial {
    /// Whether there is a row, or a partition without any.
    is_begun: bool,
    words: Vec<u64>,
}

impl Folded {
    fn values<'a>(&self, state: &'a mut Partial) -> ValuesMut<'a> {
        let element = self.element();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut state.words);
        ValuesMut::from_bytes(element, &mut bytes[..self.results() * element.bytes()])
    }
}

impl RowFold for Folded {
    type State = Partial;

    fn name(&self) -> &str {
        self.fold.name()
    }

    fn results(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn element(&self) -> ElementType {
        self.fold.initial().element()
    }

    fn state_bytes(&self, _rows: u64) -> u64 {
        (self.results() as u64 * self.element().bytes() as u64).next_multiple_of(8)
    }

    fn begin(&self) -> Partial {
        let mut state = Partial { is_begun: false, words: vec![0; self.state_bytes(0) as usize / 8] };
        self.values(&mut state).fill(self.fold.initial());
        state
    }

    fn add(&self, state: &mut Partial, block: &RowBlock<'_>) -> Result<()> {
        state.is_begun = true;
        let (vectors, labels) = (&block.operands[0], block.operands.get(1).map(|labels| i64::slice(labels[0])));
        let mut results = self.values(state);
        caught(self.name(), || match self.is_all {
            true => self.fold.add(vectors, labels, results),
            false => vectors.chunks(1).enumerate().try_for_each(|(column, vector)| {
                self.fold.add(vector, labels, results.reborrow().slice(column * self.groups, self.groups))
            }),
        })
    }

    fn merge(&self, state: &mut Partial, mut next: Partial) -> Result<()> {
        if !state.is_begun {
            *state = next;
            return Ok(());
        }
        let (mut own, next) = (self.values(state), self.values(&mut next));
        let mut words = [0u64; BLOCK_ROWS];
        for start in (0..own.len()).step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(own.len() - start);
            let results = own.reborrow().slice(start, count);
            let before = &mut bytemuck::cast_slice_mut(&mut words)[..count * self.element().bytes()];
            before.copy_from_slice(results.as_values().bytes());
            let before = Values::from_bytes(self.element(), before);
            caught(self.name(), || self.fold.merge(before, next.as_values().slice(start, count), results))?;
        }
        Ok(())
    }

    fn finish(&self, mut state: Partial, result: ValuesMut<'_>) -> Result<()> {
        let size = self.element().bytes();
        let from = self.values(&mut state).into_bytes();
        let columns = self.results() / self.groups.max(1);
        for (place, to) in result.into_bytes().chunks_exact_mut(size).enumerate() {
            let (group, column) = (place / columns, place % columns);
            to.copy_from_slice(&from[(column * self.groups + group) * size..][..size]);
        }
        Ok(())
    }
}
