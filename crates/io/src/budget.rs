//! The ledger of a runtime: the memory under its limit, and the holders of it.
//!
//! Memory is reserved before it is allocated, under a purpose; a handle to the ledger may carry an owner, such as a
//! graph, whose name stands beside the purpose in messages. Page caches are reclaimable: their memory counts as
//! available, and they shrink before a reservation is refused. If that is not enough, every [`Reclaim`] owner gives
//! back its unused memory.
//!
//! **Invariant:** `reserved <= limit - process - slack`, where `process` is the memory of the process at its start,
//! without most of the program's code. It is 0 for a limit that excludes the process.

use crate::cache::PageCache;
use crate::error::{Error, Holder, Result, bytes_text};
use crate::lock::lock;
use crate::process::check_process;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Memory that operations leave free for code, stacks and small allocations. Most of it is code, most of which counts
/// here and not in the process memory at the start: an algorithm and its verifier run at most 9 MiB of it.
pub(crate) const SLACK_BYTES: u64 = 9 << 20;
/// The smallest limit that a refusal advises: with less an image opens, and little else works.
pub const LEAST_ADVICE_BYTES: u64 = 24 << 20;
/// The purpose of page caches in the ledger.
pub(crate) const CACHE_PURPOSE: &str = "the page cache";

/// A handle to the memory under a limit. Memory is reserved here before it is allocated.
#[derive(Clone)]
pub struct Budget {
    ledger: Arc<Ledger>,
    owner: Arc<str>,
}

struct Ledger {
    /// The memory that it is of, which ledgers to plan with share.
    memory: Arc<()>,
    limit_bytes: u64,
    usable_bytes: u64,
    /// Process memory at the start, as far as it counts.
    process_bytes: u64,
    /// The process that created the ledger: a fork must not use it.
    process: u32,
    accounts: Mutex<Accounts>,
    /// Taken while caches and [`Reclaim`] owners give memory back: memory that one thread has reclaimed, and has not
    /// reserved yet, must not make another refuse what it needs.
    reclaiming: Mutex<()>,
}

#[derive(Default)]
struct Accounts {
    reserved_bytes: u64,
    /// Reserved bytes, by owner and purpose.
    reserved: BTreeMap<Label, u64>,
    caches: Vec<Weak<PageCache>>,
    /// The number of caches that were ever added.
    added_caches: u64,
    reclaims: Vec<Weak<dyn Reclaim>>,
}

/// An owner of memory that can be reclaimed. It is called before a reservation is refused.
pub trait Reclaim: Send + Sync {
    /// Unused bytes. They count as available.
    fn reclaimable_bytes(&self) -> u64;

    /// Frees the unused memory. It must not wait for a thread that reserves memory.
    fn reclaim(&self);
}

/// The owner of memory, if it has one, and its purpose.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    owner: Arc<str>,
    purpose: Arc<str>,
}

impl Budget {
    /// A budget of `limit_bytes`, of which the process already holds `process_bytes`.
    ///
    /// # Errors
    /// A limit that leaves no memory.
    pub fn new(limit_bytes: u64, process_bytes: u64) -> Result<Self> {
        Budget::of_memory(Arc::default(), limit_bytes, process_bytes)
    }

    fn of_memory(memory: Arc<()>, limit_bytes: u64, process_bytes: u64) -> Result<Self> {
        let needed = process_bytes + SLACK_BYTES;
        if limit_bytes <= needed {
            return Err(Error::Memory {
                purpose: match process_bytes {
                    0 => "the least that a runtime can work with".to_owned(),
                    process_bytes => format!("the process itself ({} so far)", bytes_text(process_bytes)),
                },
                needed_bytes: needed + 1,
                available_bytes: limit_bytes,
                limit_bytes,
                advised_bytes: LEAST_ADVICE_BYTES.max(needed + 1 + process_margin_bytes(process_bytes)),
                holders: Vec::new(),
            });
        }
        let (usable_bytes, process) = (limit_bytes - needed, std::process::id());
        let (accounts, reclaiming) = (Mutex::default(), Mutex::default());
        let ledger = Ledger { memory, limit_bytes, usable_bytes, process_bytes, process, accounts, reclaiming };
        Ok(Budget { ledger: Arc::new(ledger), owner: "".into() })
    }

    /// A budget to plan with under another limit, of which as much is reserved as here now. Nothing may be allocated
    /// that is reserved in it.
    ///
    /// # Errors
    /// A limit that leaves no memory, or less than is reserved.
    pub fn within(&self, limit_bytes: u64) -> Result<Self> {
        let reserved_bytes = self.reserved_bytes();
        let planned = Budget::of_memory(Arc::clone(&self.ledger.memory), limit_bytes, self.ledger.process_bytes)?;
        planned.require("what is reserved already", reserved_bytes)?;
        planned.ledger.accounts().reserved_bytes = reserved_bytes;
        Ok(planned)
    }

    /// Whether another budget is of the same memory, or one to plan with.
    pub fn is_of_same_memory(&self, other: &Budget) -> bool {
        Arc::ptr_eq(&self.ledger.memory, &other.ledger.memory)
    }

    /// A handle to the same memory whose reservations carry the name of an owner.
    pub fn in_name_of(&self, owner: &str) -> Self {
        Budget { ledger: Arc::clone(&self.ledger), owner: owner.into() }
    }

    /// The limit that the user gave.
    pub fn limit_bytes(&self) -> u64 {
        self.ledger.limit_bytes
    }

    /// The largest possible reservation: free memory, and the memory that page caches and [`Reclaim`] owners can give
    /// back.
    pub fn available_bytes(&self) -> u64 {
        self.bytes_without_reclaim() + self.reclaims().iter().map(|owner| owner.reclaimable_bytes()).sum::<u64>()
    }

    /// The largest possible reservation without [`Reclaim`] memory. Caches are not resized meanwhile: the memory that a
    /// cache gives back leaves the cache before it is free, and what it takes is reserved before it is the cache's.
    fn bytes_without_reclaim(&self) -> u64 {
        loop {
            let (caches, added) = self.caches();
            let _not_resizing: Vec<_> = caches.iter().map(|cache| cache.lock_size()).collect();
            let accounts = self.ledger.accounts();
            // A cache that was added meanwhile may have taken memory that was free.
            if accounts.added_caches == added {
                let free_bytes = self.ledger.usable_bytes - accounts.reserved_bytes;
                return free_bytes + caches.iter().map(|cache| cache.memory_bytes()).sum::<u64>();
            }
        }
    }

    /// The largest possible reservation that takes nothing from caches or [`Reclaim`] owners.
    pub fn free_bytes(&self) -> u64 {
        self.ledger.usable_bytes - self.ledger.accounts().reserved_bytes
    }

    /// Memory in use under the limit: without page caches, and by page caches. The slack for code, stacks and small
    /// allocations counts as in use.
    pub fn used_bytes(&self) -> (u64, u64) {
        let cache_bytes = self.caches().0.iter().map(|cache| cache.memory_bytes()).sum::<u64>();
        let all = self.limit_bytes() - self.free_bytes();
        (all.saturating_sub(cache_bytes), cache_bytes)
    }

    /// Checks that `bytes` can be reserved; [`Reclaim`] memory is given back if that needs it.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers and the largest holders; [`Error::OtherProcess`] after a fork.
    pub fn require(&self, purpose: &str, bytes: u64) -> Result<()> {
        self.check_process()?;
        let reclaiming = lock(&self.ledger.reclaiming);
        self.require_alone(&reclaiming, purpose, bytes)
    }

    fn require_alone(&self, _reclaiming: &MutexGuard<'_, ()>, purpose: &str, bytes: u64) -> Result<()> {
        if bytes > self.bytes_without_reclaim() {
            self.reclaims().iter().for_each(|owner| owner.reclaim());
        }
        let available = self.available_bytes();
        if bytes <= available { Ok(()) } else { Err(self.refusal(purpose, bytes, available)) }
    }

    /// The error for a reservation that is not possible.
    pub fn refusal(&self, purpose: &str, needed_bytes: u64, available_bytes: u64) -> Error {
        let limit_bytes = self.limit_bytes();
        Error::Memory {
            purpose: purpose.to_owned(),
            needed_bytes,
            available_bytes,
            limit_bytes,
            advised_bytes: LEAST_ADVICE_BYTES.max(limit_bytes).max(self.limit_for(needed_bytes, available_bytes)),
            holders: self.holders(),
        }
    }

    /// The limit that leaves `needed_bytes`, where this one leaves `available_bytes`, with [`Budget::margin_bytes`].
    pub fn limit_for(&self, needed_bytes: u64, available_bytes: u64) -> u64 {
        let used_bytes = self.limit_bytes().saturating_sub(available_bytes);
        used_bytes.saturating_add(needed_bytes).saturating_add(self.margin_bytes())
    }

    /// The margin of a limit that is advised: the next process may hold a little more at its start.
    pub fn margin_bytes(&self) -> u64 {
        process_margin_bytes(self.ledger.process_bytes)
    }

    /// Reserved bytes, page caches and unused [`Reclaim`] memory excluded.
    pub fn reserved_bytes(&self) -> u64 {
        self.ledger.usable_bytes.saturating_sub(self.available_bytes())
    }

    /// Holders of memory other than page caches, the largest first. The process at its start is one of them.
    pub fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<_> = {
            let accounts = self.ledger.accounts();
            let lasting = accounts.reserved.iter().filter(|(label, _)| &*label.purpose != CACHE_PURPOSE);
            lasting.map(|(label, &bytes)| Holder { name: label.name(), bytes }).collect()
        };
        let process_bytes = self.ledger.process_bytes;
        holders.extend(
            (process_bytes > 0).then(|| Holder { name: "the process at its start".into(), bytes: process_bytes }),
        );
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
        holders
    }

    /// Fails in another process than the one that made the budget.
    ///
    /// # Errors
    /// [`Error::OtherProcess`].
    pub fn check_process(&self) -> Result<()> {
        let name = if self.owner.is_empty() { "this runtime" } else { &*self.owner };
        check_process(self.ledger.process, name)
    }

    /// Reserves memory until the reservation is dropped. Page caches shrink if too little is free, then [`Reclaim`]
    /// memory is given back.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers and the largest holders; [`Error::OtherProcess`] after a fork.
    pub fn reserve(&self, purpose: &str, bytes: u64) -> Result<Reservation> {
        self.check_process()?;
        let label = Label { owner: Arc::clone(&self.owner), purpose: purpose.into() };
        if self.ledger.take(&label, bytes).is_err() {
            let reclaiming = lock(&self.ledger.reclaiming);
            while let Err(missing) = self.ledger.take(&label, bytes) {
                self.require_alone(&reclaiming, purpose, bytes)?;
                // Another thread may have freed memory in between, or reserved some: try again.
                self.shrink_caches(missing);
            }
        }
        Ok(Reservation { ledger: Arc::clone(&self.ledger), label: Mutex::new(label), bytes: AtomicU64::new(bytes) })
    }

    /// Shrinks caches by `missing` bytes, the largest first.
    fn shrink_caches(&self, mut missing: u64) {
        let (mut caches, _) = self.caches();
        caches.sort_by_key(|cache| std::cmp::Reverse(cache.memory_bytes()));
        for cache in caches {
            missing = missing.saturating_sub(cache.give_back(missing));
            if missing == 0 {
                break;
            }
        }
    }

    pub(crate) fn add_cache(&self, cache: &Arc<PageCache>) {
        let mut accounts = self.ledger.accounts();
        accounts.caches.retain(|cache| cache.strong_count() > 0);
        accounts.caches.push(Arc::downgrade(cache));
        accounts.added_caches += 1;
    }

    /// Registers an owner whose spare memory is given back before a reservation is refused.
    #[doc(hidden)]
    pub fn add_reclaim(&self, owner: Weak<dyn Reclaim>) {
        let mut accounts = self.ledger.accounts();
        accounts.reclaims.retain(|owner| owner.strong_count() > 0);
        accounts.reclaims.push(owner);
    }

    fn reclaims(&self) -> Vec<Arc<dyn Reclaim>> {
        self.ledger.accounts().reclaims.iter().filter_map(Weak::upgrade).collect()
    }

    /// All live caches, and the number of those ever added. None of them is dropped under the lock, because its
    /// destructor takes the lock.
    fn caches(&self) -> (Vec<Arc<PageCache>>, u64) {
        let accounts = self.ledger.accounts();
        (accounts.caches.iter().filter_map(Weak::upgrade).collect(), accounts.added_caches)
    }
}

#[cfg(test)]
impl Budget {
    /// Calls `work` while the lock of the ledger is taken, as a fork may find it.
    pub(crate) fn with_locked_ledger<T>(&self, work: impl FnOnce() -> T) -> T {
        let _accounts = self.ledger.accounts();
        work()
    }
}

/// Memory that the process may hold in addition at its start when it is started again.
fn process_margin_bytes(process_bytes: u64) -> u64 {
    process_bytes / 16
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let free = bytes_text(self.free_bytes());
        f.debug_struct("Budget").field("limit", &bytes_text(self.limit_bytes())).field("free", &free).finish()
    }
}

impl Ledger {
    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        lock(&self.accounts)
    }

    /// Adds bytes to a label, or returns the number of missing bytes.
    fn take(&self, label: &Label, bytes: u64) -> std::result::Result<(), u64> {
        let mut accounts = self.accounts();
        let free = self.usable_bytes - accounts.reserved_bytes;
        if bytes > free {
            return Err(bytes - free);
        }
        accounts.reserved_bytes += bytes;
        accounts.add(label, bytes);
        Ok(())
    }

    fn give_back(&self, label: &Label, bytes: u64) {
        let mut accounts = self.accounts();
        accounts.reserved_bytes -= bytes;
        accounts.subtract(label, bytes);
    }
}

impl Accounts {
    fn add(&mut self, label: &Label, bytes: u64) {
        if bytes > 0 {
            *self.reserved.entry(label.clone()).or_default() += bytes;
        }
    }

    fn subtract(&mut self, label: &Label, bytes: u64) {
        if let Some(reserved) = self.reserved.get_mut(label) {
            *reserved -= bytes;
            if *reserved == 0 {
                self.reserved.remove(label);
            }
        }
    }
}

impl Label {
    fn name(&self) -> String {
        if self.owner.is_empty() { self.purpose.to_string() } else { format!("{} of {}", self.purpose, self.owner) }
    }
}

/// Reserved memory; it is released on drop.
#[must_use = "the memory is given back when it is dropped"]
pub struct Reservation {
    ledger: Arc<Ledger>,
    label: Mutex<Label>,
    bytes: AtomicU64,
}

impl Reservation {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Changes the purpose of the memory. In a fork it does nothing, as the other methods.
    pub fn rename(&self, purpose: &str) {
        if self.is_foreign() {
            return;
        }
        let mut label = self.label();
        let renamed = Label { owner: Arc::clone(&label.owner), purpose: purpose.into() };
        let mut accounts = self.ledger.accounts();
        accounts.subtract(&label, self.bytes());
        accounts.add(&renamed, self.bytes());
        *label = renamed;
    }

    /// Whether this is a fork: it has a copy of the ledger, whose lock may be held by a thread that does not exist in
    /// it.
    fn is_foreign(&self) -> bool {
        check_process(self.ledger.process, "").is_err()
    }

    /// Reserves more, if it is free.
    pub fn grow(&self, bytes: u64) -> bool {
        self.grow_up_to(bytes, bytes) == bytes
    }

    /// Reserves more, up to `bytes` and as far as memory is free, in whole steps; returns how much.
    pub(crate) fn grow_up_to(&self, bytes: u64, step_bytes: u64) -> u64 {
        if self.is_foreign() {
            return 0;
        }
        let label = self.label();
        let mut more = bytes;
        while let Err(missing) = self.ledger.take(&label, more) {
            let free = more - missing;
            // Less than a whole step is nothing.
            more = free / step_bytes * step_bytes;
        }
        self.bytes.fetch_add(more, Ordering::Relaxed);
        more
    }

    /// Releases a part.
    pub fn shrink(&self, bytes: u64) {
        if self.is_foreign() {
            return;
        }
        let label = self.label();
        let bytes = bytes.min(self.bytes());
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.ledger.give_back(&label, bytes);
    }

    fn label(&self) -> MutexGuard<'_, Label> {
        lock(&self.label)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_foreign() {
            let label = self.label.get_mut().unwrap_or_else(PoisonError::into_inner);
            self.ledger.give_back(label, *self.bytes.get_mut());
        }
    }
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for {}", bytes_text(self.bytes()), self.label().name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::PageKey;

    const MIB: u64 = 1 << 20;

    #[test]
    fn reservations_are_given_back_and_refusals_say_the_numbers() {
        let budget = Budget::new(100 * MIB, 10 * MIB).unwrap();
        let usable = budget.available_bytes();
        assert_eq!(usable, 90 * MIB - SLACK_BYTES);
        let half = budget.reserve("half", usable / 2).unwrap();
        let error = budget.reserve("the ranks", usable).unwrap_err().to_string();
        assert!(error.contains("the ranks") && error.contains("81 MiB") && error.contains("40.5 MiB"), "{error}");
        drop(half);
        drop(budget.reserve("all", usable).unwrap());
        assert!(budget.reserve("overflow", u64::MAX).is_err());
        assert!(Budget::new(10 * MIB, 10 * MIB).is_err());
    }

    #[test]
    fn the_advised_limit_is_enough_for_a_process_of_a_sixteenth_more() {
        let Err(Error::Memory { advised_bytes, .. }) = Budget::new(200 * MIB, 196 * MIB) else {
            panic!("4 MiB are too little beside the process");
        };
        let larger_bytes = 196 * MIB / 16 * 17;
        assert!(Budget::new(advised_bytes, larger_bytes).is_ok());
        assert!(Budget::new(advised_bytes - 1, larger_bytes).is_err());
        let budget = Budget::new(300 * MIB, 196 * MIB).unwrap();
        assert_eq!(budget.limit_for(3 * MIB, MIB), 302 * MIB + 196 * MIB / 16);
        let holders = budget.holders();
        assert!(holders.len() == 1 && holders[0].bytes == 196 * MIB, "the process is one: {holders:?}");
        assert!(Budget::new(300 * MIB, 0).unwrap().holders().is_empty());
    }

    #[test]
    fn a_refusal_says_who_holds_the_memory() {
        let budget = Budget::new(100 * MIB, 0).unwrap();
        let web = budget.in_name_of("web.oc");
        let levels = web.reserve("levels", 20 * MIB).unwrap();
        let _ranks = web.reserve("ranks", 30 * MIB).unwrap();
        let _more = web.reserve("ranks", 10 * MIB).unwrap();
        let _roads = budget.in_name_of("roads.oc").reserve("ranks", MIB).unwrap();
        levels.rename("column level of a result");
        let text = budget.reserve("distances", 80 * MIB).unwrap_err().to_string();
        let reserved = "40 MiB are held by ranks of web.oc, 20 MiB by column level of a result of web.oc, 1 MiB by ranks of roads.oc";
        assert!(text.contains(reserved), "{text}");
        levels.shrink(19 * MIB);
        assert_eq!(levels.bytes(), MIB);
        assert!(budget.reserve("distances", 80 * MIB).is_err(), "42 MiB are held, 7 left to small things");
        drop(levels);
        assert!(!budget.holders().iter().any(|holder| holder.name.contains("level")), "{:?}", budget.holders());
    }

    #[test]
    fn caches_shrink_before_a_reservation_is_refused_and_keep_what_they_can() {
        let budget = Budget::new(100 * MIB, 0).unwrap();
        let usable = budget.available_bytes();
        let cache = PageCache::new(&budget, usable).unwrap().expect("room for a cache");
        let (full, key) = (cache.capacity_pages(), |page| PageKey { image: 0, file: 0, page });
        (0..full).for_each(|page| cache.insert(key(page), &[page as u8; 4096]));
        assert!(budget.free_bytes() < MIB && budget.available_bytes() > usable - MIB);
        let cache_bytes = cache.memory_bytes();
        assert_eq!(budget.used_bytes(), (100 * MIB - budget.free_bytes() - cache_bytes, cache_bytes));
        let half = budget.reserve("half", usable / 2).unwrap();
        let cached =
            (0..full).filter(|&page| cache.get(key(page)).is_some_and(|found| found[99] == page as u8)).count();
        assert!(cached as u64 >= full / 4 && cached as u64 <= full / 2 + 8, "{cached} of {full} pages are left");
        assert_eq!(cached as u64, cache.capacity_pages());
        assert!(budget.reserve("too much", usable).is_err());
        assert_eq!(cached as u64, cache.capacity_pages(), "a refusal takes nothing away");
        drop(budget.reserve("all else", budget.available_bytes()).unwrap());
        assert_eq!((cache.capacity_pages(), cache.get(key(0)).is_none()), (0, true));
        drop(half);
        cache.grow(usable);
        assert_eq!(cache.capacity_pages(), full, "what was given back is taken again");
        (0..full).for_each(|page| cache.insert(key(page), &[!page as u8; 4096]));
        assert!((0..full).all(|page| cache.get(key(page)).is_some_and(|found| found[7] == !page as u8)));
        drop(cache);
        assert_eq!(budget.free_bytes(), usable);
    }

    /// Owner of half of the memory, of which a part may be in use.
    struct Half {
        reserved: Mutex<Option<Reservation>>,
    }

    impl Reclaim for Half {
        fn reclaimable_bytes(&self) -> u64 {
            self.reserved.try_lock().map_or(0, |reserved| reserved.as_ref().map_or(0, Reservation::bytes))
        }

        fn reclaim(&self) {
            if let Ok(mut reserved) = self.reserved.try_lock() {
                *reserved = None;
            }
        }
    }

    #[test]
    fn spare_memory_is_given_back_before_a_refusal_and_not_earlier() {
        let budget = Budget::new(100 * MIB, 0).unwrap();
        let usable = budget.available_bytes();
        let half = || Mutex::new(Some(budget.reserve("half", usable / 2).unwrap()));
        let spare = Arc::new(Half { reserved: half() });
        let as_spare: Weak<dyn Reclaim> = Arc::downgrade(&spare) as Weak<Half>;
        budget.add_reclaim(as_spare);
        let without = Arc::new(Half { reserved: Mutex::default() });
        let as_spare: Weak<dyn Reclaim> = Arc::downgrade(&without) as Weak<Half>;
        budget.add_reclaim(as_spare);
        drop(budget.reserve("a third", usable / 3).unwrap());
        budget.require("the other half", usable - usable / 2).unwrap();
        assert!(lock(&spare.reserved).is_some(), "there was enough");
        let in_use = lock(&spare.reserved);
        let error = budget.reserve("all", usable).unwrap_err().to_string();
        assert!(error.contains("are held by half"), "{error}");
        assert_eq!(budget.available_bytes(), usable - usable / 2);
        drop(in_use);
        assert_eq!(budget.available_bytes(), usable);
        let cache = PageCache::new(&budget, usable / 4).unwrap().expect("room for a cache");
        drop(budget.reserve("all", budget.available_bytes()).unwrap());
        assert!(lock(&spare.reserved).is_none() && cache.memory_bytes() == 0);
        drop(spare);
        assert!(budget.reserve("too much", usable + 1).is_err());
    }

    #[test]
    fn nothing_is_refused_while_a_cache_comes_and_goes() {
        let runtime = crate::runtime::Runtime::new(crate::runtime::RuntimeOptions {
            memory_bytes: Some(100 * MIB),
            beside_process: true,
            ..Default::default()
        });
        let runtime = runtime.unwrap();
        let (budget, usable) = (runtime.budget(), runtime.budget().available_bytes());
        let at_work = AtomicU64::new(2);
        std::thread::scope(|scope| {
            for bytes in [8 * MIB, usable * 85 / 100] {
                let at_work = &at_work;
                scope.spawn(move || {
                    for _ in 0..300 {
                        let reserved = budget.reserve("a part", bytes);
                        if let Err(error) = reserved {
                            at_work.fetch_sub(1, Ordering::Relaxed);
                            panic!("{error}");
                        }
                    }
                    at_work.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while at_work.load(Ordering::Relaxed) > 0 {
                let share = runtime.cache_share(1);
                share.fill(&runtime, usable).unwrap();
                share.clear();
            }
        });
        assert_eq!(budget.free_bytes(), usable);
    }

    #[test]
    fn pinned_pages_are_given_back_when_they_are_let_go() {
        let budget = Budget::new(20 * MIB, 0).unwrap();
        let cache = PageCache::new(&budget, 8 * MIB).unwrap().expect("room for a cache");
        let key = |page| PageKey { image: 0, file: 0, page };
        (0..cache.capacity_pages()).for_each(|page| cache.insert(key(page), &[3; 4096]));
        let before = budget.free_bytes();
        let reserved: Vec<_> = (0..5).filter_map(|page| cache.get(key(page))).collect();
        let all = cache.memory_bytes();
        cache.give_back(all);
        assert_eq!(budget.free_bytes(), before + all - 5 * 4096);
        assert!(reserved.iter().all(|page| page.iter().all(|&byte| byte == 3)), "pinned pages stay where they are");
        assert!(cache.get(key(0)).is_none(), "but nobody else gets them");
        cache.grow(all);
        assert_eq!(budget.free_bytes(), before);
        assert!(reserved.iter().all(|page| page.iter().all(|&byte| byte == 3)));
        cache.give_back(all);
        drop(reserved);
        assert_eq!(budget.free_bytes(), before + all);
    }
}
