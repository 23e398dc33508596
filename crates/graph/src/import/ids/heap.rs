//! A heap of sorted sequences: the merging half of an external sort.

/// A heap of readers by the key that each shows: indices into a slice that the caller keeps.
pub struct Heap {
    order: Vec<usize>,
}

impl Heap {
    /// A heap of the indices below `count`.
    pub fn new(count: usize, less: impl Fn(usize, usize) -> bool) -> Self {
        let mut heap = Heap { order: (0..count).collect() };
        for place in (0..count / 2).rev() {
            heap.sink(place, &less);
        }
        heap
    }

    /// The index whose key is least.
    pub fn top(&self) -> Option<usize> {
        self.order.first().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Restores the order after the top's key rose, or removes the top if it has no more keys.
    #[inline]
    pub fn settle(&mut self, more: bool, less: impl Fn(usize, usize) -> bool) {
        if !more {
            self.order.swap_remove(0);
        }
        self.sink(0, &less);
    }

    fn sink(&mut self, mut place: usize, less: &impl Fn(usize, usize) -> bool) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.order.len() && less(self.order[child], self.order[least]) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.order.swap(place, least);
            place = least;
        }
    }
}
