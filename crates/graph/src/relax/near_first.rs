//! Items by label, the nearest first, but in no order among labels that are about the same: a row of buckets.
//!
//! An item is in one bucket at most, in a list that is linked both ways, so that it can be taken out when its label
//! falls. Which buckets are filled is a word of bits. So whatever is done takes a few instructions, where a heap moves
//! items past each other.

/// Number of buckets: bits of a word.
const BUCKETS: u64 = 64;
/// No item, and no bucket.
const NONE: u32 = u32::MAX;

/// Items `0..items`, some of which wait.
pub(crate) struct NearFirst {
    /// The label of the first bucket, and how far labels reach in a bucket, as a power of two.
    least: u64,
    shift: u32,
    heads: [u32; BUCKETS as usize],
    filled: u64,
    links: Vec<Link>,
}

#[derive(Clone, Copy)]
struct Link {
    before: u32,
    next: u32,
    bucket: u32,
}

impl NearFirst {
    /// The memory that an item takes.
    pub const ITEM_BYTES: u64 = size_of::<Link>() as u64;

    /// None of `0..items` waits.
    pub fn new(items: usize) -> Self {
        let links = vec![Link { before: NONE, next: NONE, bucket: NONE }; items];
        NearFirst { least: 0, shift: 0, heads: [NONE; BUCKETS as usize], filled: 0, links }
    }

    /// Says how near and how far labels will be, while nothing waits.
    pub fn restart(&mut self, least: u64, most: u64) {
        debug_assert!(self.filled == 0 && least <= most);
        self.least = least;
        self.shift = (64 - (most - least).leading_zeros()).saturating_sub(BUCKETS.ilog2());
    }

    /// Lets an item wait with this label, or with a smaller one than before.
    #[inline]
    pub fn lower(&mut self, item: u32, label: u64) {
        let bucket = (label.saturating_sub(self.least) >> self.shift).min(BUCKETS - 1) as u32;
        let current = self.links[item as usize].bucket;
        if current <= bucket {
            return;
        }
        if current != NONE {
            self.take_out(item);
        }
        let next = std::mem::replace(&mut self.heads[bucket as usize], item);
        self.links[item as usize] = Link { before: NONE, next, bucket };
        if next != NONE {
            self.links[next as usize].before = item;
        }
        self.filled |= 1 << bucket;
    }

    /// Takes one of the items in the nearest bucket.
    #[inline]
    pub fn take(&mut self) -> Option<u32> {
        if self.filled == 0 {
            return None;
        }
        let item = self.heads[self.filled.trailing_zeros() as usize];
        self.take_out(item);
        Some(item)
    }

    #[inline]
    fn take_out(&mut self, item: u32) {
        let Link { before, next, bucket } = self.links[item as usize];
        match before {
            NONE => {
                self.heads[bucket as usize] = next;
                self.filled ^= u64::from(next == NONE) << bucket;
            }
            before => self.links[before as usize].next = next,
        }
        if next != NONE {
            self.links[next as usize].before = before;
        }
        self.links[item as usize].bucket = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::random_below;

    #[test]
    fn items_come_by_bucket_and_once_whatever_falls_meanwhile() {
        let mut state = 1u64;
        let mut random = |end: u64| random_below(&mut state, end);
        let mut queue = NearFirst::new(50);
        for (least, most) in [(0, 0), (7, 70), (1000, 1_000_000), (5, u64::MAX)] {
            queue.restart(least, most);
            let width = (most - least) / 32;
            let mut model = std::collections::BTreeMap::<u32, u64>::new();
            for _ in 0..20_000 {
                if random(3) > 0 {
                    let (item, label) = (random(50) as u32, least + random((most - least).saturating_add(1)));
                    queue.lower(item, label);
                    let there = model.entry(item).or_insert(label);
                    *there = label.min(*there);
                } else {
                    let nearest = model.values().min().copied();
                    match queue.take() {
                        Some(item) => {
                            let label = model.remove(&item).expect("it waited");
                            assert!(label - nearest.unwrap() <= width, "{label} before {nearest:?}");
                        }
                        None => assert!(model.is_empty()),
                    }
                }
            }
            while let Some(item) = queue.take() {
                assert!(model.remove(&item).is_some());
            }
            assert!(model.is_empty());
        }
    }
}
