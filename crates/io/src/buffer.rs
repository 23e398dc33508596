//! Large arrays: zeroed, page-aligned, on huge pages where the kernel has them, and counted in the budget.
//!
//! A [`Buffer`] is a fixed number of plain values. Arrays that workers share hold atomics; their relaxed loads and
//! stores cost the same as plain ones.

use crate::budget::{Budget, Reservation};
use crate::error::{Error, Result};
use crate::process::resource_limits;
use bytemuck::{Pod, Zeroable};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// For arrays of at least this size that are reserved in part, one huge page too many does not matter.
const SMALL_BYTES: usize = 256 << 20;
/// Arrays of at least this size ask for huge pages.
const HUGE_BYTES: usize = 2 << 20;
/// A page: alignment of mappings, and unit of direct reads and writes.
pub(crate) const PAGE_BYTES: usize = 4096;

/// A value for which all-zero bytes are valid. It must need no drop either, which is checked where an array is made.
pub trait Plain: Zeroable + Send + Sync {}

impl<T: Zeroable + Send + Sync> Plain for T {}

/// A real number that workers share. All accesses are relaxed.
#[derive(Default, Debug)]
#[repr(transparent)]
pub struct AtomicF64(AtomicU64);

// SAFETY: zero bytes are the number 0.
#[allow(unsafe_code)]
unsafe impl Zeroable for AtomicF64 {}

impl AtomicF64 {
    /// The value.
    #[inline]
    pub fn load(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Adds to the value. The last bits of a sum depend on the order in which workers add.
    #[inline]
    pub fn add(&self, value: f64) {
        let sum = |bits| Some((f64::from_bits(bits) + value).to_bits());
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }

    /// Replaces the value by a smaller one; returns whether it was smaller.
    #[inline]
    pub fn lower(&self, value: f64) -> bool {
        let smaller = |bits| (value < f64::from_bits(bits)).then_some(value.to_bits());
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, smaller).is_ok()
    }

    /// Replaces the value.
    #[inline]
    pub fn store(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// A real number of single precision that workers share. All accesses are relaxed.
#[derive(Default, Debug)]
#[repr(transparent)]
pub struct AtomicF32(AtomicU32);

// SAFETY: zero bytes are the number 0.
#[allow(unsafe_code)]
unsafe impl Zeroable for AtomicF32 {}

impl AtomicF32 {
    /// The value.
    #[inline]
    pub fn load(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Replaces the value.
    #[inline]
    pub fn store(&self, value: f32) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

impl From<f64> for AtomicF64 {
    fn from(value: f64) -> Self {
        AtomicF64(AtomicU64::new(value.to_bits()))
    }
}

/// A fixed number of values in large memory, counted in the budget.
#[must_use]
pub struct Buffer<T: Plain> {
    start: *mut T,
    len: usize,
    mapped_bytes: usize,
    reservation: Reservation,
}

impl<T: Plain> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer<{}>[{}]", std::any::type_name::<T>(), self.len)
    }
}

// SAFETY: an array owns its memory, and `Plain` values may be sent and shared.
#[allow(unsafe_code)]
unsafe impl<T: Plain> Send for Buffer<T> {}
// SAFETY: as for `Send`.
#[allow(unsafe_code)]
unsafe impl<T: Plain> Sync for Buffer<T> {}

impl<T: Plain> Buffer<T> {
    /// `len` zeroed values, reserved under the name `purpose`.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if the budget or the machine does not have that much.
    pub fn zeroed(budget: &Budget, purpose: &str, len: usize) -> Result<Self> {
        Self::zeroed_in_part(budget, purpose, len, len, true)
    }

    /// `len` zeroed values, of which only the memory of the first `reserved` is set aside. The caller grows the
    /// reservation before it uses more of them: of all, or perhaps of a part.
    pub(crate) fn zeroed_in_part(
        budget: &Budget,
        purpose: &str,
        len: usize,
        reserved: usize,
        of_all: bool,
    ) -> Result<Self> {
        const { assert!(!std::mem::needs_drop::<T>()) };
        let bytes = len.saturating_mul(size_of::<T>());
        let reservation = budget.reserve(purpose, reserved.saturating_mul(size_of::<T>()) as u64)?;
        let (start, mapped_bytes) = map_zeroed(bytes).ok_or_else(|| Error::MemoryRefused {
            purpose: purpose.to_owned(),
            needed_bytes: bytes as u64,
            most_bytes: resource_limits().into_iter().flatten().min(),
        })?;
        // A huge page at the end of the reserved part would take up to 2 MiB that are not reserved.
        #[allow(unsafe_code)]
        if !of_all && bytes < SMALL_BYTES && !cfg!(miri) {
            // SAFETY: the mapping is new, and the size of its pages changes no value.
            unsafe { libc::madvise(start.cast(), mapped_bytes, libc::MADV_NOHUGEPAGE) };
        }
        Ok(Buffer { start: start.cast(), len, mapped_bytes, reservation })
    }

    /// The reservation of the array's memory.
    pub fn reservation(&self) -> &Reservation {
        &self.reservation
    }

    /// Returns the pages of some values to the system, as far as no other value lies in them; `page_bytes` is the size
    /// of its pages, or a multiple. Returns the values whose memory the system took, which are zero now; the others are
    /// as they were. The reservation does not change.
    ///
    /// # Safety
    /// No thread reads or writes these values meanwhile.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn discard(&self, values: Range<usize>, page_bytes: usize) -> Range<usize> {
        assert!(values.start <= values.end && values.end <= self.len && page_bytes.is_multiple_of(size_of::<T>()));
        let mut bytes = whole_pages(values.start * size_of::<T>()..values.end * size_of::<T>(), page_bytes);
        if values.end == self.len {
            // Nothing else lies in the last page.
            bytes.end = bytes.start.max(values.end * size_of::<T>());
        }
        let pages = bytes.start / size_of::<T>()..bytes.end / size_of::<T>();
        if cfg!(miri) || bytes.is_empty() {
            return pages;
        }
        // SAFETY: the range lies within the mapping, and zeroes are valid values that no thread reads now.
        let is_free = unsafe {
            let start = self.start.cast::<u8>().add(bytes.start).cast();
            // Memory that is locked is not discarded, but it can be replaced by other memory.
            libc::madvise(start, bytes.len(), libc::MADV_DONTNEED) == 0 || is_mapped_anew(start, bytes.len())
        };
        if is_free { pages } else { values.start..values.start }
    }

    /// Pointer to the first value, for workers that write some values while others read others. A pointer made from
    /// `&[T]` must not be written through.
    pub(crate) fn start(&self) -> *mut T {
        self.start
    }

    /// The number of values. Unlike the length of a slice, it makes no reference to the values.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }
}

/// A value that workers share, with the memory layout of a plain one.
///
/// # Safety
/// The bytes of every `Self` are a valid `Value` and the other way round, and both have the same size and alignment.
#[allow(unsafe_code)]
pub unsafe trait Shared: Plain {
    /// The plain value.
    type Value: Plain + Copy;
}

macro_rules! shared {
    ($($kind:ty => $value:ty),*) => {$(
        // SAFETY: the standard library guarantees it for its atomics; the other types are transparent around those, and
        // hold the bits of a real number.
        #[allow(unsafe_code)]
        unsafe impl Shared for $kind {
            type Value = $value;
        }
    )*};
}
shared!(AtomicU8 => u8, AtomicU32 => u32, AtomicU64 => u64, AtomicF32 => f32, AtomicF64 => f64);

impl<T: Shared> Buffer<T> {
    /// Converts to plain values once no worker changes them any more: the memory and the reservation stay.
    #[allow(unsafe_code)]
    pub fn into_values(self) -> Buffer<T::Value> {
        const { assert!(size_of::<T>() == size_of::<T::Value>() && align_of::<T>() == align_of::<T::Value>()) };
        let shared = ManuallyDrop::new(self);
        // SAFETY: `shared` is not dropped, so the reservation is moved out of it and has one owner.
        let reservation = unsafe { std::ptr::read(&shared.reservation) };
        Buffer { start: shared.start.cast(), len: shared.len, mapped_bytes: shared.mapped_bytes, reservation }
    }
}

/// Views plain values as shared ones.
#[allow(unsafe_code)]
pub fn shared<T: Shared>(values: &mut [T::Value]) -> &[T] {
    const { assert!(size_of::<T>() == size_of::<T::Value>() && align_of::<T>() == align_of::<T::Value>()) };
    // SAFETY: the bytes of plain values are valid shared ones, and the borrow is exclusive.
    unsafe { std::slice::from_raw_parts(values.as_mut_ptr().cast(), values.len()) }
}

/// Numbers, arrays of them or structures without padding, whose bytes may be written to temporary files and read back:
/// all that is [`bytemuck::Pod`].
pub trait Raw: Pod + Send + Sync {}

impl<T: Pod + Send + Sync> Raw for T {}

/// The bytes of numbers in native byte order: for temporary files only.
pub fn raw_bytes<T: Raw>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// The bytes of numbers, to be filled from a temporary file.
pub fn raw_bytes_mut<T: Raw>(values: &mut [T]) -> &mut [u8] {
    bytemuck::cast_slice_mut(values)
}

/// Prefetches the value at `place` into the processor's cache, if there is one.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(values: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and may name any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(values.as_ptr().wrapping_add(place).cast(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, place);
}

/// Iterates over places of values; each value is prefetched `AHEAD` places before its turn.
#[inline]
pub fn prefetched<T>(values: &[T], places: &[u32]) -> impl Iterator<Item = u32> {
    /// Prefetch distance: long enough for memory to answer, short enough for the values to stay in the cache.
    const AHEAD: usize = 16;
    places.iter().enumerate().map(move |(i, &place)| {
        if let Some(&ahead) = places.get(i + AHEAD) {
            prefetch(values, ahead as usize);
        }
        place
    })
}

/// The size of a page of the system, a multiple of [`PAGE_BYTES`].
#[allow(unsafe_code)]
pub(crate) fn system_page_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    // SAFETY: the call has no conditions.
    *BYTES.get_or_init(|| if cfg!(miri) { PAGE_BYTES } else { unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize } })
}

/// The part of a range of bytes that is whole pages.
fn whole_pages(bytes: Range<usize>, page_bytes: usize) -> Range<usize> {
    let (start, end) = (bytes.start.next_multiple_of(page_bytes), bytes.end / page_bytes * page_bytes);
    start..end.max(start)
}

/// Replaces the memory of whole pages of a mapping by zeroed memory.
///
/// # Safety
/// The pages belong to a mapping of the caller's, and no thread reads or writes them.
#[allow(unsafe_code)]
unsafe fn is_mapped_anew(start: *mut libc::c_void, bytes: usize) -> bool {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: nothing else lies in these pages.
    unsafe { libc::mmap(start, bytes, access, flags | libc::MAP_FIXED | libc::MAP_NORESERVE, -1, 0) == start }
}

#[allow(unsafe_code)]
fn map_zeroed(bytes: usize) -> Option<(*mut u8, usize)> {
    // One cache line more: vector loads may read, but not use, bytes behind the end.
    let wanted = bytes.checked_add(64)?.checked_next_multiple_of(system_page_bytes())?;
    // Miri knows neither huge pages nor memory that is not reserved.
    let slack = if bytes >= HUGE_BYTES && !cfg!(miri) { HUGE_BYTES } else { 0 };
    let lazily = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches nothing that exists.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            wanted + slack,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | lazily,
            -1,
            0,
        )
    };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    let start = mapped.cast::<u8>();
    if slack == 0 {
        return Some((start, wanted));
    }
    // Cut the mapping down to one that begins on a huge page.
    let skip = start.align_offset(HUGE_BYTES);
    // SAFETY: both pieces lie within the new mapping, to which no reference exists yet.
    unsafe {
        if skip > 0 {
            libc::munmap(start.cast(), skip);
        }
        if slack > skip {
            libc::munmap(start.add(skip + wanted).cast(), slack - skip);
        }
        libc::madvise(start.add(skip).cast(), wanted, libc::MADV_HUGEPAGE);
        Some((start.add(skip), wanted))
    }
}

impl<T: Plain> Drop for Buffer<T> {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map_zeroed` with this size, and no borrow outlives the array.
        unsafe {
            libc::munmap(self.start.cast(), self.mapped_bytes);
        }
    }
}

impl<T: Plain> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    #[allow(unsafe_code)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` values lie at `start`, zeroed at first, which is valid for `Plain`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: Plain> DerefMut for Buffer<T> {
    #[inline]
    #[allow(unsafe_code)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_zeroed_aligned_and_counted() {
        let budget = Budget::new(1 << 30, 0).unwrap();
        let before = budget.available_bytes();
        let large = if cfg!(miri) { 3 << 10 } else { 3 << 20 };
        for len in [0usize, 1, 1000, large] {
            let mut array = Buffer::<u64>::zeroed(&budget, "test", len).unwrap();
            assert_eq!(array.len(), len);
            assert_eq!(array.as_ptr() as usize % PAGE_BYTES, 0);
            assert!(array.iter().all(|&value| value == 0));
            assert_eq!(before - budget.available_bytes(), 8 * len as u64);
            array.iter_mut().for_each(|value| *value = 7);
            assert!(array.iter().all(|&value| value == 7));
        }
        assert_eq!(before, budget.available_bytes());
        assert!(Buffer::<u64>::zeroed(&budget, "too much", 1 << 40).is_err());
    }

    #[test]
    fn only_pages_without_other_values_are_discarded() {
        assert_eq!(whole_pages(4096..12288, 4096), 4096..12288);
        assert_eq!(whole_pages(4096..12288, 65536), 65536..65536);
        assert_eq!(whole_pages(4096..200_000, 65536), 65536..196_608);
        assert!(whole_pages(0..4095, 4096).is_empty() && whole_pages(1..8191, 4096).is_empty());
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    #[allow(unsafe_code)]
    fn locked_memory_is_discarded_too() {
        let budget = Budget::new(1 << 30, 0).unwrap();
        let page = system_page_bytes();
        let mut array = Buffer::<u8>::zeroed(&budget, "test", 5 * page).unwrap();
        array.fill(7);
        // SAFETY: the pages are those of the array. If the system refuses the lock, they are discarded the usual way.
        unsafe { libc::mlock(array.start().add(2 * page).cast(), page) };
        // SAFETY: no thread uses the array.
        assert_eq!(unsafe { array.discard(page..4 * page, page) }, page..4 * page);
        let are = |pages: Range<usize>, value| array[pages.start * page..pages.end * page].iter().all(|&b| b == value);
        assert!(are(0..1, 7) && are(1..4, 0) && are(4..5, 7));
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    #[allow(unsafe_code)]
    fn whole_pages_of_any_size_are_discarded_and_nothing_else() {
        let budget = Budget::new(1 << 30, 0).unwrap();
        let sizes = [4096_usize, 16_384, 65_536].into_iter();
        for page_bytes in sizes.filter(|bytes| bytes.is_multiple_of(system_page_bytes())) {
            let mut array = Buffer::<[u8; PAGE_BYTES]>::zeroed(&budget, "test", 100).unwrap();
            array.fill([7; PAGE_BYTES]);
            // SAFETY: no thread uses the array.
            let discarded = unsafe { array.discard(3..90, page_bytes) };
            let of_page = page_bytes / PAGE_BYTES;
            assert_eq!(discarded, 3_usize.next_multiple_of(of_page)..90 / of_page * of_page);
            assert!((0..100).all(|i| array[i] == [if discarded.contains(&i) { 0 } else { 7 }; PAGE_BYTES]));
            // SAFETY: as before.
            assert_eq!(unsafe { array.discard(96..100, page_bytes) }, 96..100, "the last page has no more values");
            // SAFETY: as before.
            assert!(unsafe {
                array.discard(5..5, page_bytes).is_empty() && array.discard(91..92, page_bytes).len() < 2
            });
            assert!(of_page == 1 || array[91] == [7; PAGE_BYTES]);
        }
    }

    #[test]
    fn plain_values_are_shared_for_a_while() {
        let mut values = [1.0, -2.0, 3.0];
        shared::<AtomicF64>(&mut values)[1].store(7.5);
        assert_eq!(values, [1.0, 7.5, 3.0]);
    }

    #[test]
    fn shared_values_become_plain_ones_where_they_are() {
        let budget = Budget::new(1 << 30, 0).unwrap();
        let before = budget.available_bytes();
        let shared = Buffer::<AtomicF64>::zeroed(&budget, "test", 1000).unwrap();
        shared.iter().zip(0..).for_each(|(value, i)| value.store(f64::from(i) - 0.5));
        let (place, available_bytes) = (shared.as_ptr() as usize, budget.available_bytes());
        let mut values = shared.into_values();
        assert_eq!((values.as_ptr() as usize, budget.available_bytes()), (place, available_bytes));
        assert!(values.iter().zip(0..).all(|(&value, i)| value == f64::from(i) - 0.5));
        values[3] = 7.0;
        assert_eq!(values[3], 7.0);
        drop(values);
        assert_eq!(before, budget.available_bytes());
    }
}
