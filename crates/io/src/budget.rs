//! The ledger of a runtime: the memory under its limit, and who holds how much of it.
//!
//! Whoever needs memory reserves it first, under a purpose; a handle to the ledger may carry an owner, such as a graph,
//! whose name stands beside the purpose in messages. Page caches are memory that can be given back: what they hold
//! counts as available, and they shrink before a reservation is refused. If that is not enough, whoever is [`Spare`]
//! gives back what it holds and does not use.
//!
//! **Invariant:** `reserved <= limit - what the process held at the start, most code of ours apart - slack`. A limit
//! for the runtime alone leaves out what the process held.

use crate::cache::PageCache;
use crate::error::{Error, Holder, Result, bytes_text};
use crate::lock::lock;
use crate::process::check_process;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Memory that operations leave to code, stacks and small things. Most of it is code, of which most counts here and not
/// in what the process holds at its start: an algorithm and its verifier run 9 MiB of it at most.
pub(crate) const SLACK_BYTES: u64 = 9 << 20;
/// The least limit that a refusal advises: with less an image opens, and little else works.
pub const LEAST_ADVICE_BYTES: u64 = 24 << 20;
/// How page caches are called in the ledger.
pub(crate) const CACHE_PURPOSE: &str = "the page cache";

/// A handle to the memory under a limit: who needs some reserves it first.
#[derive(Clone)]
pub struct Budget {
    ledger: Arc<Ledger>,
    owner: Arc<str>,
}

struct Ledger {
    limit_bytes: u64,
    usable_bytes: u64,
    /// What the process held at the start, as far as it counts.
    held_bytes: u64,
    /// The process that made the ledger: a fork shares nothing with it.
    process: u32,
    accounts: Mutex<Accounts>,
}

#[derive(Default)]
struct Accounts {
    reserved_bytes: u64,
    /// What is reserved, by owner and purpose.
    held: BTreeMap<Label, u64>,
    caches: Vec<Weak<PageCache>>,
    spares: Vec<Weak<dyn Spare>>,
}

/// Who holds memory that it can make do without: it is asked before a reservation is refused.
pub trait Spare: Send + Sync {
    /// How much nobody uses now: it counts as available.
    fn spare_bytes(&self) -> u64;

    /// Gives back what nobody uses. It must not wait for whoever reserves memory.
    fn give_back(&self);
}

/// Whose memory it is, if anybody's in particular, and what it is for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    owner: Arc<str>,
    purpose: Arc<str>,
}

impl Budget {
    /// A budget of `limit_bytes`, of which the process holds `held_bytes` already.
    ///
    /// # Errors
    /// A limit that leaves nothing.
    pub fn new(limit_bytes: u64, held_bytes: u64) -> Result<Self> {
        let needed = held_bytes + SLACK_BYTES;
        if limit_bytes <= needed {
            return Err(Error::Memory {
                purpose: match held_bytes {
                    0 => "the least that a runtime can work with".to_owned(),
                    held => format!("the process itself ({} so far)", bytes_text(held)),
                },
                needed_bytes: needed + 1,
                available_bytes: limit_bytes,
                limit_bytes,
                advised_bytes: LEAST_ADVICE_BYTES.max(needed + 1 + held_margin_bytes(held_bytes)),
                holders: Vec::new(),
            });
        }
        let (usable_bytes, process) = (limit_bytes - needed, std::process::id());
        let ledger = Ledger { limit_bytes, usable_bytes, held_bytes, process, accounts: Mutex::default() };
        Ok(Budget { ledger: Arc::new(ledger), owner: "".into() })
    }

    /// A handle to the same memory whose reservations are held in the name of an owner.
    pub fn in_name_of(&self, owner: &str) -> Self {
        Budget { ledger: Arc::clone(&self.ledger), owner: owner.into() }
    }

    /// The limit that the user gave.
    pub fn limit_bytes(&self) -> u64 {
        self.ledger.limit_bytes
    }

    /// How much can still be reserved: what is free, and what page caches and [`Spare`] memory give back.
    pub fn available_bytes(&self) -> u64 {
        self.without_spare_bytes() + self.spares().iter().map(|spare| spare.spare_bytes()).sum::<u64>()
    }

    /// How much can be reserved without [`Spare`] memory.
    fn without_spare_bytes(&self) -> u64 {
        self.free_bytes() + self.caches().iter().map(|cache| cache.memory_bytes()).sum::<u64>()
    }

    /// How much can be reserved without any cache giving something back.
    pub fn free_bytes(&self) -> u64 {
        self.ledger.usable_bytes - self.ledger.accounts().reserved_bytes
    }

    /// How much of the limit is taken: without page caches, and by them. What was left to code, stacks and small things
    /// counts as taken.
    pub fn taken_bytes(&self) -> (u64, u64) {
        let cache_bytes = self.caches().iter().map(|cache| cache.memory_bytes()).sum::<u64>();
        let all = self.limit_bytes() - self.free_bytes();
        (all.saturating_sub(cache_bytes), cache_bytes)
    }

    /// An error unless that much can be reserved; [`Spare`] memory is given back if it is needed for that.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers, and who holds the rest; [`Error::OtherProcess`] behind a fork.
    pub fn require(&self, purpose: &str, bytes: u64) -> Result<()> {
        self.check_process()?;
        if bytes > self.without_spare_bytes() {
            self.spares().iter().for_each(|spare| spare.give_back());
        }
        let available = self.available_bytes();
        if bytes <= available { Ok(()) } else { Err(self.refusal(purpose, bytes, available)) }
    }

    /// The error for memory that is not there.
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

    /// The limit that leaves so much, where this one leaves `available_bytes`; also to a process that holds a little
    /// more at its start, as the next one may.
    pub fn limit_for(&self, needed_bytes: u64, available_bytes: u64) -> u64 {
        let taken_bytes = self.limit_bytes().saturating_sub(available_bytes);
        taken_bytes.saturating_add(needed_bytes).saturating_add(held_margin_bytes(self.ledger.held_bytes))
    }

    /// How much is reserved, page caches apart.
    pub fn reserved_bytes(&self) -> u64 {
        self.ledger.usable_bytes.saturating_sub(self.available_bytes())
    }

    /// Who holds memory that is not given back, the largest first.
    pub fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<_> = {
            let accounts = self.ledger.accounts();
            let lasting = accounts.held.iter().filter(|(label, _)| &*label.purpose != CACHE_PURPOSE);
            lasting.map(|(label, &bytes)| Holder { name: label.name(), bytes }).collect()
        };
        let held = self.ledger.held_bytes;
        holders.extend((held > 0).then(|| Holder { name: "the process at its start".into(), bytes: held }));
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
        holders
    }

    /// An error in another process than the one that made the budget.
    ///
    /// # Errors
    /// [`Error::OtherProcess`].
    pub fn check_process(&self) -> Result<()> {
        let name = if self.owner.is_empty() { "this runtime" } else { &*self.owner };
        check_process(self.ledger.process, name)
    }

    /// Sets memory aside until the reservation is dropped. Page caches shrink if there is too little otherwise, then
    /// [`Spare`] memory is given back.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers, and who holds the rest; [`Error::OtherProcess`] behind a fork.
    pub fn reserve(&self, purpose: &str, bytes: u64) -> Result<Reservation> {
        self.check_process()?;
        let label = Label { owner: Arc::clone(&self.owner), purpose: purpose.into() };
        loop {
            let missing = match self.ledger.take(&label, bytes) {
                Ok(()) => {
                    let (ledger, bytes) = (Arc::clone(&self.ledger), AtomicU64::new(bytes));
                    return Ok(Reservation { ledger, label: Mutex::new(label), bytes });
                }
                Err(missing) => missing,
            };
            self.require(purpose, bytes)?;
            // Somebody may have given memory back in between, or taken it: look again.
            self.shrink_caches(missing);
        }
    }

    /// Asks caches to give back memory, the largest first.
    fn shrink_caches(&self, mut missing: u64) {
        let mut caches = self.caches();
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
    }

    /// Asks somebody, before a reservation is refused, to give back memory.
    pub fn add_spare(&self, spare: Weak<dyn Spare>) {
        let mut accounts = self.ledger.accounts();
        accounts.spares.retain(|spare| spare.strong_count() > 0);
        accounts.spares.push(spare);
    }

    fn spares(&self) -> Vec<Arc<dyn Spare>> {
        self.ledger.accounts().spares.iter().filter_map(Weak::upgrade).collect()
    }

    /// The caches that there are. None of them is dropped under the lock, for that would take it again.
    fn caches(&self) -> Vec<Arc<PageCache>> {
        self.ledger.accounts().caches.iter().filter_map(Weak::upgrade).collect()
    }
}

/// What a process may hold more at its start when it is started again.
fn held_margin_bytes(held_bytes: u64) -> u64 {
    held_bytes / 16
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

    /// Notes that somebody holds that much more, or says how much is missing.
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
            *self.held.entry(label.clone()).or_default() += bytes;
        }
    }

    fn subtract(&mut self, label: &Label, bytes: u64) {
        if let Some(held) = self.held.get_mut(label) {
            *held -= bytes;
            if *held == 0 {
                self.held.remove(label);
            }
        }
    }
}

impl Label {
    fn name(&self) -> String {
        if self.owner.is_empty() { self.purpose.to_string() } else { format!("{} of {}", self.purpose, self.owner) }
    }
}

/// Memory that was set aside; it is given back when this is dropped.
pub struct Reservation {
    ledger: Arc<Ledger>,
    label: Mutex<Label>,
    bytes: AtomicU64,
}

impl Reservation {
    /// How much is set aside.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Says what the memory is for from now on.
    pub fn rename(&self, purpose: &str) {
        let mut label = self.label();
        let renamed = Label { owner: Arc::clone(&label.owner), purpose: purpose.into() };
        let mut accounts = self.ledger.accounts();
        accounts.subtract(&label, self.bytes());
        accounts.add(&renamed, self.bytes());
        *label = renamed;
    }

    /// Sets more aside, if it is free.
    pub fn grow(&self, bytes: u64) -> bool {
        let label = self.label();
        let is_free = self.ledger.take(&label, bytes).is_ok();
        if is_free {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        is_free
    }

    /// Gives a part back.
    pub fn shrink(&self, bytes: u64) {
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
        // A fork has a copy of the ledger, whose lock may be held by a thread that it does not have.
        if check_process(self.ledger.process, "").is_ok() {
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
    fn a_refusal_says_who_holds_the_memory() {
        let budget = Budget::new(100 * MIB, 0).unwrap();
        let web = budget.in_name_of("web.oc");
        let levels = web.reserve("levels", 20 * MIB).unwrap();
        let _ranks = web.reserve("ranks", 30 * MIB).unwrap();
        let _more = web.reserve("ranks", 10 * MIB).unwrap();
        let _roads = budget.in_name_of("roads.oc").reserve("ranks", MIB).unwrap();
        levels.rename("column level of a result");
        let text = budget.reserve("distances", 80 * MIB).unwrap_err().to_string();
        let held = "40 MiB are held by ranks of web.oc, 20 MiB by column level of a result of web.oc, 1 MiB by ranks of roads.oc";
        assert!(text.contains(held), "{text}");
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
        let half = budget.reserve("half", usable / 2).unwrap();
        let kept = (0..full).filter(|&page| cache.get(key(page)).is_some_and(|found| found[99] == page as u8)).count();
        assert!(kept as u64 >= full / 4 && kept as u64 <= full / 2 + 8, "{kept} of {full} pages are left");
        assert_eq!(kept as u64, cache.capacity_pages());
        assert!(budget.reserve("too much", usable).is_err());
        assert_eq!(kept as u64, cache.capacity_pages(), "a refusal takes nothing away");
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

    /// Half of the memory, of which a part may be in use.
    struct Half {
        held: Mutex<Option<Reservation>>,
    }

    impl Spare for Half {
        fn spare_bytes(&self) -> u64 {
            self.held.try_lock().map_or(0, |held| held.as_ref().map_or(0, Reservation::bytes))
        }

        fn give_back(&self) {
            if let Ok(mut held) = self.held.try_lock() {
                *held = None;
            }
        }
    }

    #[test]
    fn spare_memory_is_given_back_before_a_refusal_and_not_earlier() {
        let budget = Budget::new(100 * MIB, 0).unwrap();
        let usable = budget.available_bytes();
        let half = || Mutex::new(Some(budget.reserve("half", usable / 2).unwrap()));
        let spare = Arc::new(Half { held: half() });
        let as_spare: Weak<dyn Spare> = Arc::downgrade(&spare) as Weak<Half>;
        budget.add_spare(as_spare);
        drop(budget.reserve("a third", usable / 3).unwrap());
        assert!(lock(&spare.held).is_some(), "there was enough");
        let in_use = lock(&spare.held);
        let error = budget.reserve("all", usable).unwrap_err().to_string();
        assert!(error.contains("are held by half"), "{error}");
        assert_eq!(budget.available_bytes(), usable - usable / 2);
        drop(in_use);
        assert_eq!(budget.available_bytes(), usable);
        let cache = PageCache::new(&budget, usable / 4).unwrap().expect("room for a cache");
        drop(budget.reserve("all", budget.available_bytes()).unwrap());
        assert!(lock(&spare.held).is_none() && cache.memory_bytes() == 0);
        drop(spare);
        assert!(budget.reserve("too much", usable + 1).is_err());
    }

    #[test]
    fn pinned_pages_are_given_back_when_they_are_let_go() {
        let budget = Budget::new(20 * MIB, 0).unwrap();
        let cache = PageCache::new(&budget, 8 * MIB).unwrap().expect("room for a cache");
        let key = |page| PageKey { image: 0, file: 0, page };
        (0..cache.capacity_pages()).for_each(|page| cache.insert(key(page), &[3; 4096]));
        let before = budget.free_bytes();
        let held: Vec<_> = (0..5).filter_map(|page| cache.get(key(page))).collect();
        let all = cache.memory_bytes();
        cache.give_back(all);
        assert_eq!(budget.free_bytes(), before + all - 5 * 4096);
        assert!(held.iter().all(|page| page.iter().all(|&byte| byte == 3)), "pinned pages stay where they are");
        assert!(cache.get(key(0)).is_none(), "but nobody else gets them");
        cache.grow(all);
        assert_eq!(budget.free_bytes(), before);
        assert!(held.iter().all(|page| page.iter().all(|&byte| byte == 3)));
        cache.give_back(all);
        drop(held);
        assert_eq!(budget.free_bytes(), before + all);
    }
}
