//! Arrays in memory: small operands, results, and arrays that the caller owns.
//!
//! The elements lie in shared bytes, with a stride along every axis, as in NumPy. Nothing is copied when an array is
//! transposed, sliced or broadcast.

use crate::kernel::{Element, Scalar, ValuesMut};
use bytemuck::allocation::pod_collect_to_vec;
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Buffer as Large;
use std::sync::Arc;

/// Bytes with an owner that keeps them alive.
pub trait Bytes: Send + Sync {
    /// The bytes.
    fn bytes(&self) -> &[u8];

    /// Whether the bytes are memory of a result, and not a caller's.
    fn is_own(&self) -> bool {
        false
    }
}

impl<T: Element> Bytes for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    /// Vectors of wide elements are aligned for all types.
    fn is_own(&self) -> bool {
        align_of::<T>() == align_of::<u64>()
    }
}

impl Bytes for Large<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn is_own(&self) -> bool {
        true
    }
}

/// An array in memory.
#[derive(Clone)]
pub struct InMemory {
    bytes: Arc<dyn Bytes>,
    /// Offset of the element with all indices 0.
    offset_bytes: usize,
    element: ElementType,
    shape: Vec<u64>,
    /// Distance of successive elements along every axis, in bytes.
    strides_bytes: Vec<isize>,
}

impl std::fmt::Debug for InMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InMemory").field("shape", &self.shape).field("element", &self.element).finish_non_exhaustive()
    }
}

/// The distances between elements of an array that lies row by row without gaps.
pub(crate) fn row_major(shape: &[u64], element: ElementType) -> Vec<isize> {
    let sizes: Vec<usize> = shape.iter().map(|&size| size as usize).collect();
    strides(&sizes).into_iter().map(|stride| stride * element.bytes() as isize).collect()
}

/// The distances between elements of an array that lies row by row, in elements.
pub(crate) fn strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1;
    for (axis, &size) in shape.iter().enumerate().rev() {
        strides[axis] = stride;
        stride *= size.max(1) as isize;
    }
    strides
}

/// Number of elements of an array; `None` if it exceeds all memory.
pub(crate) fn count(shape: &[u64]) -> Option<usize> {
    let product = shape.iter().try_fold(1u64, |count, &size| count.checked_mul(size))?;
    usize::try_from(product).ok().filter(|&count| count <= isize::MAX as usize / 8)
}

impl InMemory {
    /// Elements that lie row by row without gaps.
    ///
    /// # Panics
    /// If there are not as many bytes as the shape needs.
    pub fn new(bytes: Arc<dyn Bytes>, element: ElementType, shape: Vec<u64>) -> Self {
        let strides_bytes = row_major(&shape, element);
        InMemory::strided(bytes, 0, element, shape, strides_bytes)
    }

    /// Elements with any distances between them.
    ///
    /// # Panics
    /// If an element would lie outside of the bytes.
    pub fn strided(
        bytes: Arc<dyn Bytes>,
        offset_bytes: usize,
        element: ElementType,
        shape: Vec<u64>,
        strides_bytes: Vec<isize>,
    ) -> Self {
        assert_eq!(shape.len(), strides_bytes.len(), "a distance for every axis");
        if shape.iter().all(|&size| size > 0) {
            let (mut least, mut most) = (offset_bytes as i128, offset_bytes as i128);
            for (&size, &stride) in shape.iter().zip(&strides_bytes) {
                let reach = (size - 1) as i128 * stride as i128;
                (least, most) = (least + reach.min(0), most + reach.max(0));
            }
            let len = bytes.bytes().len() as i128;
            assert!(least >= 0 && most + element.bytes() as i128 <= len, "elements within {len} bytes");
        }
        InMemory { bytes, offset_bytes, element, shape, strides_bytes }
    }

    /// An array of equal elements, of which one is in memory.
    pub(crate) fn full(value: Scalar, shape: Vec<u64>) -> Self {
        let mut word = vec![0u64];
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut word)[..value.element().bytes()];
        ValuesMut::from_bytes(value.element(), bytes).fill(value);
        let strides_bytes = vec![0; shape.len()];
        InMemory::strided(Arc::new(word), 0, value.element(), shape, strides_bytes)
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Distance of successive elements along an axis, in bytes.
    pub(crate) fn stride_bytes(&self, axis: usize) -> isize {
        self.strides_bytes[axis]
    }

    /// The bytes from an element on, which is given by the distance from the first one.
    pub(crate) fn from(&self, distance_bytes: isize) -> &[u8] {
        &self.bytes.bytes()[self.offset_bytes.wrapping_add_signed(distance_bytes)..]
    }

    /// The bytes of one element.
    pub(crate) fn at(&self, distance_bytes: isize) -> &[u8] {
        &self.from(distance_bytes)[..self.element.bytes()]
    }

    /// Whether elements lie row by row without gaps.
    pub(crate) fn is_row_major(&self) -> bool {
        let expected = row_major(&self.shape, self.element);
        let same = |axis: usize| self.shape[axis] <= 1 || expected[axis] == self.strides_bytes[axis];
        self.shape.contains(&0) || (0..self.shape.len()).all(same)
    }

    /// The elements row by row in memory of their own: this array, or a copy if a caller owns its memory.
    #[must_use]
    pub fn owned(self) -> Self {
        if self.bytes.is_own() { self.packed() } else { self.copied() }
    }

    /// A copy, row by row, in words, so that elements are aligned.
    fn copied(&self) -> Self {
        InMemory::of_bytes(&self.to_vec(), self.element, self.shape.clone())
    }

    /// Elements row by row, which are copied into words.
    pub(crate) fn of_bytes(bytes: &[u8], element: ElementType, shape: Vec<u64>) -> Self {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        InMemory::new(Arc::new(words), element, shape)
    }

    /// The elements of a type that is known, if they lie row by row.
    pub(crate) fn slice<T: bytemuck::Pod>(&self) -> &[T] {
        let count = count(&self.shape).unwrap_or(0);
        assert!(self.is_row_major(), "elements row by row");
        if count == 0 { &[] } else { bytemuck::cast_slice(&self.from(0)[..count * size_of::<T>()]) }
    }

    /// The address of the first element.
    pub fn address(&self) -> usize {
        self.bytes.bytes().as_ptr() as usize + self.offset_bytes
    }

    /// The size of all elements in bytes.
    pub fn len_bytes(&self) -> usize {
        count(&self.shape).unwrap_or(0) * self.element.bytes()
    }

    /// The bytes of the elements, row by row.
    pub fn to_vec(&self) -> Vec<u8> {
        let size = self.element.bytes();
        let Some(count) = count(&self.shape).filter(|&count| count > 0) else { return Vec::new() };
        if self.is_row_major() {
            return self.from(0)[..count * size].to_vec();
        }
        let mut out = Vec::with_capacity(count * size);
        let mut index = vec![0u64; self.shape.len()];
        for _ in 0..count {
            let place: isize = index.iter().zip(&self.strides_bytes).map(|(&i, &stride)| i as isize * stride).sum();
            out.extend_from_slice(self.at(place));
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < self.shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        out
    }

    /// The elements, row by row. Booleans are bytes of 1 or 0.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn elements<T: Element>(&self) -> Result<Vec<T>> {
        let is_bool = self.element == ElementType::Bool && T::TYPE == ElementType::UInt8;
        if self.element != T::TYPE && !is_bool {
            let (own, asked) = (self.element.name(), T::TYPE.name());
            return Err(Error::Usage(format!("expected elements of {asked}, found {own}; cast the array first")));
        }
        let packed = self.packed();
        Ok(pod_collect_to_vec(&packed.from(0)[..packed.len_bytes()]))
    }

    /// A matrix whose rows are this one's columns.
    pub(crate) fn transposed(&self) -> Self {
        let reversed = |values: &[u64]| values.iter().rev().copied().collect();
        let strides_bytes = self.strides_bytes.iter().rev().copied().collect();
        InMemory { shape: reversed(&self.shape), strides_bytes, ..self.clone() }
    }

    /// The elements row by row without gaps: this array, or a copy.
    pub(crate) fn packed(&self) -> Self {
        if self.is_row_major() { self.clone() } else { self.copied() }
    }

    /// The bytes in another shape with the same number of elements.
    pub(crate) fn reshaped(&self, shape: Vec<u64>) -> Self {
        InMemory { strides_bytes: row_major(&shape, self.element), shape, ..self.packed() }
    }
}
