//! A vector whose memory is reserved before it grows.

use crate::budget::{Budget, Reservation};
use crate::error::Result;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Fewest bytes by which a vector grows.
const LEAST_GROWTH_BYTES: usize = 1 << 14;

/// A vector under a budget. While it grows, its old and its new memory are reserved.
pub struct ReservedVec<T> {
    values: Vec<T>,
    /// The capacity for which the owner has reserved memory.
    owned: usize,
    reservation: Reservation,
    budget: Arc<Budget>,
    purpose: &'static str,
}

impl<T> std::fmt::Debug for ReservedVec<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReservedVec: {} values, {:?}", self.values.len(), self.reservation)
    }
}

impl<T> ReservedVec<T> {
    /// An empty vector with room for `capacity` values.
    ///
    /// # Errors
    /// Too little memory under the budget.
    pub fn with_capacity(budget: &Arc<Budget>, purpose: &'static str, capacity: usize) -> Result<Self> {
        let reservation = budget.reserve(purpose, bytes::<T>(capacity))?;
        let values = Vec::with_capacity(capacity);
        Ok(ReservedVec { values, owned: 0, reservation, budget: Arc::clone(budget), purpose })
    }

    /// An empty vector, for whose first `owned` values its owner has reserved memory.
    ///
    /// # Errors
    /// Another process, after a fork.
    pub fn beside(budget: &Arc<Budget>, purpose: &'static str, owned: usize) -> Result<Self> {
        Ok(ReservedVec { owned, ..ReservedVec::with_capacity(budget, purpose, 0)? })
    }

    /// Makes room for `more` further values.
    ///
    /// # Errors
    /// Too little memory under the budget; the vector stays as it is.
    pub fn make_room(&mut self, more: usize) -> Result<()> {
        let needed = self.values.len().saturating_add(more);
        if needed <= self.values.capacity() {
            return Ok(());
        }
        let doubled = self.values.capacity().saturating_mul(2);
        if needed <= self.owned {
            let capacity = needed.max(doubled).min(self.owned);
            self.values.reserve_exact(capacity - self.values.len());
            return Ok(());
        }
        let capacity = needed.max(doubled).max(LEAST_GROWTH_BYTES / size_of::<T>().max(1));
        let reserve =
            |capacity| Ok::<_, crate::Error>((capacity, self.budget.reserve(self.purpose, bytes::<T>(capacity))?));
        let (capacity, reservation) = reserve(capacity).or_else(|_| reserve(needed))?;
        let mut grown = Vec::with_capacity(capacity);
        grown.append(&mut self.values);
        (self.values, self.reservation) = (grown, reservation);
        Ok(())
    }

    /// Appends a value.
    ///
    /// # Errors
    /// Too little memory under the budget; the vector stays as it is.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<()> {
        if self.values.len() == self.values.capacity() {
            self.make_room(1)?;
        }
        self.values.push(value);
        Ok(())
    }

    /// Appends values.
    ///
    /// # Errors
    /// Too little memory under the budget; the vector stays as it is.
    pub fn extend(&mut self, values: impl ExactSizeIterator<Item = T>) -> Result<()> {
        self.make_room(values.len())?;
        self.values.extend(values);
        Ok(())
    }

    /// Removes all values. Their memory stays.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// The values, to be shortened, or taken out and put back: what is appended here is not reserved.
    pub fn as_mut_vec(&mut self) -> &mut Vec<T> {
        &mut self.values
    }
}

fn bytes<T>(capacity: usize) -> u64 {
    (capacity as u64).saturating_mul(size_of::<T>() as u64)
}

impl<T> Deref for ReservedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T> DerefMut for ReservedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_no_memory_that_is_not_reserved() {
        let budget = Arc::new(Budget::new(64 << 20, 0).unwrap());
        let free_bytes = budget.available_bytes();
        let mut values = ReservedVec::<u64>::with_capacity(&budget, "numbers", 10).unwrap();
        let mut count = 0;
        let refusal = loop {
            assert!(budget.available_bytes() + 8 * values.values.capacity() as u64 <= free_bytes);
            match values.push(count) {
                Ok(()) => count += 1,
                Err(error) => break error,
            }
        };
        // The old and the new memory are there together, and the new one has one value more at least.
        assert!(16 * count > free_bytes - 4096 && refusal.to_string().contains("numbers"), "{count}: {refusal}");
        assert!(values.iter().copied().eq(0..count));
        values.clear();
        values.push(7).unwrap();
        assert_eq!(*values, [7]);
        drop(values);
        assert_eq!(budget.available_bytes(), free_bytes);
    }
}
