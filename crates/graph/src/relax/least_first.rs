//! Items by key, the least first: a binary heap that knows where each item stands, so that a key can fall.

/// Items `0..items`, some of which wait with a key.
pub(crate) struct LeastFirst {
    keys: Vec<u64>,
    /// Index of an item in the heap, plus one; 0 if it does not wait.
    places: Vec<u32>,
    heap: Vec<u32>,
}

impl LeastFirst {
    /// The memory that it takes.
    pub fn bytes(items: u64) -> u64 {
        16 * items
    }

    /// None of `0..items` waits.
    pub fn new(items: usize) -> Self {
        LeastFirst { keys: vec![0; items], places: vec![0; items], heap: Vec::with_capacity(items) }
    }

    /// Whether no item waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Lets an item wait with this key, or lowers the key that it waits with.
    #[inline]
    pub fn lower(&mut self, item: u32, key: u64) {
        let mut at = match self.places[item as usize].checked_sub(1) {
            Some(_) if self.keys[item as usize] <= key => return,
            Some(at) => at as usize,
            None => {
                self.heap.push(item);
                self.heap.len() - 1
            }
        };
        self.keys[item as usize] = key;
        while at > 0 {
            let above = self.heap[(at - 1) / 2];
            if self.keys[above as usize] <= key {
                break;
            }
            self.put(at, above);
            at = (at - 1) / 2;
        }
        self.put(at, item);
    }

    /// The item with the least key.
    pub fn first(&self) -> Option<u32> {
        self.heap.first().copied()
    }

    /// Takes the item with the least key.
    #[inline]
    pub fn take(&mut self) -> Option<(u32, u64)> {
        let least = *self.heap.first()?;
        let last = self.heap.pop()?;
        self.places[least as usize] = 0;
        if least != last {
            self.sink(last);
        }
        Some((least, self.keys[least as usize]))
    }

    /// Puts an item into the empty place at the top.
    fn sink(&mut self, item: u32) {
        let key = self.keys[item as usize];
        let mut at = 0;
        loop {
            let below = 2 * at + 1;
            let Some(&one) = self.heap.get(below) else { break };
            let one_key = self.keys[one as usize];
            let (child, child_key, place) = match self.heap.get(below + 1) {
                Some(&other) if self.keys[other as usize] < one_key => (other, self.keys[other as usize], below + 1),
                _ => (one, one_key, below),
            };
            if key <= child_key {
                break;
            }
            self.put(at, child);
            at = place;
        }
        self.put(at, item);
    }

    fn put(&mut self, at: usize, item: u32) {
        self.heap[at] = item;
        self.places[item as usize] = at as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::random_below;

    #[test]
    fn items_come_by_rising_key_and_keys_fall_only() {
        let mut state = 1u64;
        let mut random = |end: u64| random_below(&mut state, end);
        let mut queue = LeastFirst::new(50);
        let mut model = std::collections::BTreeMap::<u32, u64>::new();
        for _ in 0..20_000 {
            if random(3) > 0 {
                let (item, key) = (random(50) as u32, random(1000));
                queue.lower(item, key);
                let there = model.entry(item).or_insert(key);
                *there = key.min(*there);
            } else {
                let least = model.values().min().copied();
                match queue.take() {
                    Some((item, key)) => assert_eq!((model.remove(&item), least), (Some(key), Some(key))),
                    None => assert!(model.is_empty()),
                }
            }
            assert_eq!(queue.is_empty(), model.is_empty());
        }
        assert!(!model.is_empty(), "the last items are taken too");
        let rest: Vec<u64> = std::iter::from_fn(|| queue.take()).map(|(_, key)| key).collect();
        assert!(rest.is_sorted() && rest.len() == model.len());
    }
}
