//! Dictionaries: from the user's ids to a worker's own numbers, in bounded memory.
//!
//! A worker numbers the vertices that it meets with *locals*, small numbers of its own, and counts how often each is a
//! source and a target. There are two ways:
//!
//! - *direct*: the local of an integer is its distance from a base. Nothing is looked up or stored but the two counts,
//!   so an id costs 8 bytes, met or not. Works while all ids lie in a range that fits the memory.
//! - *hashed*: an open-addressing table of ids, integers or strings, whose locals are consecutive.
//!
//! When an id does not fit, the dictionary is written out as a sorted run (`runs.rs`) and the worker begins another
//! one: that, and not the number of vertices, bounds the memory.

use super::runs::{Locals, Run, RunWriter};
use outcore_image::Result;
use outcore_ingest::{Ids, mix};
use outcore_io::buffer::prefetch;
use outcore_io::{Budget, Buffer};
use std::sync::{Arc, OnceLock};

/// Number of edges mapped at a time: their locals stay in the first-level cache.
pub const GROUP_EDGES: usize = 1024;
const SLOTS_PURPOSE: &str = "numbering vertices";
/// The first size of a hash table, in slots.
const FIRST_SLOTS: usize = 1 << 13;
/// Largest load of a hash table, in eighths.
const FULL_EIGHTHS: usize = 5;
const SLOT_BYTES: usize = 24;
/// Bytes in front of a string.
const LENGTH_BYTES: f64 = 4.0;

/// The ids of a group of edges, as locals.
pub struct Group {
    pub locals: Vec<u32>,
    /// One well-mixed number per id, the same in every dictionary.
    pub hashes: Vec<u32>,
    /// Places of the ids in a hash table.
    slots: Vec<u32>,
}

impl Group {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let empty = || vec![0; 2 * GROUP_EDGES];
        Group { locals: empty(), hashes: empty(), slots: empty() }
    }
}

pub enum Dictionary {
    Direct(Direct),
    Hashed(Hashed),
}

impl Dictionary {
    /// Finds or makes the locals of `count` ids from place `from` on; returns of how many: fewer, and perhaps none, if
    /// the dictionary is full or an id does not fit. It is always an even number if `count` is.
    pub fn map(&mut self, ids: &Ids, from: usize, count: usize, group: &mut Group) -> Result<usize> {
        match (self, ids) {
            (Dictionary::Direct(direct), Ids::Integer { values, .. }) => {
                Ok(direct.map(&values[from..from + count], group))
            }
            (Dictionary::Direct(_), Ids::Text { .. }) => Ok(0),
            (Dictionary::Hashed(hashed), Ids::Integer { values, .. }) => {
                hashed.map_integers(&values[from..from + count], group)
            }
            (Dictionary::Hashed(hashed), Ids::Text { bytes, ends }) => {
                hashed.map_strings(bytes, ends, from, count, group)
            }
        }
    }

    /// Counts the ends of the first `edges` edges of a group that was just mapped, but not of self-loops if
    /// `drop_loops`.
    pub fn count(&mut self, group: &Group, edges: usize, drop_loops: bool) {
        match self {
            Dictionary::Direct(direct) => direct.count(&group.locals[..2 * edges], drop_loops),
            Dictionary::Hashed(hashed) => hashed.count(&group.slots[..2 * edges], drop_loops),
        }
    }

    /// Notes that the first `count` ids of a group that was just mapped are vertices, in an edge or not.
    pub fn mark(&mut self, group: &Group, count: usize) {
        if let Dictionary::Direct(direct) = self {
            for &local in &group.locals[..count] {
                direct.marks[local as usize / 64] |= 1 << (local % 64);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Dictionary::Direct(direct) => direct.last_local.is_none(),
            Dictionary::Hashed(hashed) => hashed.used == 0,
        }
    }

    /// Writes all ids and counts as a sorted run.
    pub fn finish(self, writer: RunWriter<'_>) -> Result<Run> {
        match self {
            Dictionary::Direct(direct) => direct.finish(writer),
            Dictionary::Hashed(hashed) => hashed.finish(writer),
        }
    }
}

pub struct Direct {
    base: u64,
    /// Occurrences as source and as target.
    counts: Buffer<[u32; 2]>,
    /// Vertices that need no edge.
    marks: Buffer<u64>,
    last_local: Option<u32>,
}

impl Direct {
    /// A dictionary of ids from `base` on.
    pub fn new(budget: &Arc<Budget>, base: u64, count: usize) -> Result<Self> {
        Ok(Direct {
            base,
            counts: Buffer::zeroed(budget, "counting degrees", count)?,
            marks: Buffer::zeroed(budget, "marking vertices", count.div_ceil(64))?,
            last_local: None,
        })
    }

    /// Memory that a dictionary of `count` ids needs, in bytes.
    pub fn needed_bytes(count: u64) -> u64 {
        count.saturating_mul(8) + count / 8 + 16
    }

    fn map(&mut self, values: &[u64], group: &mut Group) -> usize {
        let count = self.counts.len() as u64;
        let farthest = values.iter().fold(0, |most: u64, value| most.max(value.wrapping_sub(self.base)));
        if farthest >= count {
            return 0;
        }
        self.last_local = self.last_local.max(Some(farthest as u32));
        let slots = group.locals.iter_mut().zip(&mut group.hashes);
        for (&value, (local, hash)) in values.iter().zip(slots) {
            *local = value.wrapping_sub(self.base) as u32;
            *hash = mix(value) as u32;
            prefetch(&self.counts, *local as usize);
        }
        values.len()
    }

    fn count(&mut self, locals: &[u32], drop_loops: bool) {
        for edge in locals.chunks_exact(2) {
            let (source, target) = (edge[0] as usize, edge[1] as usize);
            if drop_loops && source == target {
                self.marks[source / 64] |= 1 << (source % 64);
                continue;
            }
            self.counts[source][0] += 1;
            self.counts[target][1] += 1;
        }
    }

    fn finish(self, mut writer: RunWriter<'_>) -> Result<Run> {
        let end = self.last_local.map_or(0, |last| last as usize + 1);
        for local in 0..end {
            let [sources, targets] = self.counts[local];
            if sources | targets != 0 || self.marks[local / 64] >> (local % 64) & 1 != 0 {
                writer.integer(self.base.wrapping_add(local as u64), u64::from(sources), u64::from(targets))?;
            }
        }
        writer.finish(Locals::Direct { base: self.base, count: end as u64 })
    }
}

/// A hash table of integers or strings.
///
/// A slot is: the integer, or where the string begins in `text`; the count as source and, above it, as target; the
/// local plus one (zero: the slot is free) and, above it, half of the hash.
pub struct Hashed {
    /// Makes slots unforeseeable: ids that share them cannot be made up. The order of ids in the runs is by their
    /// values.
    seed: u64,
    budget: Arc<Budget>,
    /// The most memory for slots, a table that is being outgrown included.
    slots_bytes: usize,
    slots: Buffer<[u64; 3]>,
    used: usize,
    /// Every string: its length in four bytes, then its bytes.
    text: Option<Buffer<u8>>,
    text_used: usize,
}

impl Hashed {
    /// An empty table that may use `share_bytes` of memory.
    pub fn new(budget: &Arc<Budget>, strings: bool, share_bytes: u64) -> Result<Self> {
        let share = usize::try_from(share_bytes).unwrap_or(usize::MAX / 4);
        let text_bytes = if strings { share / 2 } else { 0 };
        let slots = Buffer::zeroed(budget, SLOTS_PURPOSE, FIRST_SLOTS)?;
        let text = if strings { Some(Buffer::zeroed(budget, "keeping ids", text_bytes)?) } else { None };
        let slots_bytes = (share - text_bytes).min((3 * SLOT_BYTES) << 30);
        Ok(Hashed { seed: seed(), budget: Arc::clone(budget), slots_bytes, slots, used: 0, text, text_used: 0 })
    }

    /// The number of ids that a table of so much memory holds; strings are of this length on average.
    pub fn most_ids(strings: bool, len_bytes: f64, share_bytes: u64) -> f64 {
        let slots_bytes = if strings { share_bytes / 2 } else { share_bytes };
        // It doubles once more while the memory has room for both tables.
        let doublings = (slots_bytes / (3 * SLOT_BYTES as u64) / FIRST_SLOTS as u64).max(1).ilog2();
        let doublings = if slots_bytes < (3 * SLOT_BYTES * FIRST_SLOTS) as u64 { 0 } else { doublings + 1 };
        let ids = (FIRST_SLOTS * FULL_EIGHTHS / 8) as f64 * f64::from(doublings).exp2();
        if strings { ids.min((share_bytes / 2) as f64 / (len_bytes + LENGTH_BYTES)) } else { ids }
    }

    /// Makes room for `count` more ids, if the memory allows. Where others hold it, a table with ids is full.
    fn room(&mut self, count: usize) -> Result<bool> {
        while (self.used + count) * 8 > self.slots.len() * FULL_EIGHTHS {
            if self.slots.len() * 3 * SLOT_BYTES > self.slots_bytes {
                return Ok(false);
            }
            let mut slots: Buffer<[u64; 3]> = match Buffer::zeroed(&self.budget, SLOTS_PURPOSE, 2 * self.slots.len()) {
                Err(error) if error.is_out_of_memory() && self.used > 0 => return Ok(false),
                made => made?,
            };
            let mask = slots.len() - 1;
            for slot in self.slots.iter().filter(|slot| slot[2] != 0) {
                let hash = match &self.text {
                    None => mix(slot[0] ^ self.seed),
                    Some(text) => hash_bytes(self.seed, string_at(text, slot[0] as usize)),
                };
                let mut place = (hash >> 32) as usize & mask;
                while slots[place][2] != 0 {
                    place = (place + 1) & mask;
                }
                slots[place] = *slot;
            }
            self.slots = slots;
        }
        Ok(true)
    }

    fn map_integers(&mut self, values: &[u64], group: &mut Group) -> Result<usize> {
        if !self.room(values.len())? {
            return Ok(0);
        }
        let mask = self.slots.len() - 1;
        for ((&value, hash), place) in values.iter().zip(&mut group.hashes).zip(&mut group.slots) {
            let mixed = mix(value ^ self.seed);
            *hash = mixed as u32;
            *place = ((mixed >> 32) as usize & mask) as u32;
            prefetch(&self.slots, *place as usize);
        }
        for ((&value, local), place) in values.iter().zip(&mut group.locals).zip(&mut group.slots) {
            let mut at = *place as usize;
            loop {
                let slot = &mut self.slots[at];
                if slot[2] == 0 {
                    self.used += 1;
                    *slot = [value, 0, self.used as u64];
                    break;
                }
                if slot[0] == value {
                    break;
                }
                at = (at + 1) & mask;
            }
            *local = self.slots[at][2] as u32 - 1;
            *place = at as u32;
        }
        Ok(values.len())
    }

    fn map_strings(
        &mut self,
        bytes: &[u8],
        ends: &[u32],
        from: usize,
        count: usize,
        group: &mut Group,
    ) -> Result<usize> {
        if !self.room(count)? {
            return Ok(0);
        }
        let Some(text) = &mut self.text else { return Ok(0) };
        // Both ends of an edge fit, or neither is taken. All strings of a group may be new.
        let start = |i: usize| if i == 0 { 0 } else { ends[i - 1] as usize };
        let mut fits = 0;
        let step = if count.is_multiple_of(2) { 2 } else { 1 };
        while fits < count {
            let next = (fits + step).min(count);
            let needed = ends[from + next - 1] as usize - start(from) + 4 * next;
            if self.text_used + needed > text.len() {
                break;
            }
            fits = next;
        }
        let mask = self.slots.len() - 1;
        for i in 0..fits {
            let string = &bytes[start(from + i)..ends[from + i] as usize];
            let hash = hash_bytes(self.seed, string);
            let tag = hash << 32;
            let mut at = (hash >> 32) as usize & mask;
            loop {
                let slot = &mut self.slots[at];
                if slot[2] == 0 {
                    self.used += 1;
                    *slot = [self.text_used as u64, 0, tag | self.used as u64];
                    let end = self.text_used + 4;
                    text[self.text_used..end].copy_from_slice(&(string.len() as u32).to_le_bytes());
                    text[end..end + string.len()].copy_from_slice(string);
                    self.text_used = end + string.len();
                    break;
                }
                if slot[2] >> 32 == tag >> 32 && string_at(text, slot[0] as usize) == string {
                    break;
                }
                at = (at + 1) & mask;
            }
            group.hashes[i] = hash as u32;
            group.locals[i] = self.slots[at][2] as u32 - 1;
            group.slots[i] = at as u32;
        }
        Ok(fits)
    }

    fn count(&mut self, places: &[u32], drop_loops: bool) {
        for edge in places.chunks_exact(2) {
            if drop_loops && edge[0] == edge[1] {
                continue;
            }
            self.slots[edge[0] as usize][1] += 1;
            self.slots[edge[1] as usize][1] += 1 << 32;
        }
    }

    fn finish(mut self, mut writer: RunWriter<'_>) -> Result<Run> {
        let mut used = 0;
        for i in 0..self.slots.len() {
            if self.slots[i][2] != 0 {
                self.slots[used] = self.slots[i];
                used += 1;
            }
        }
        let slots = &mut self.slots[..used];
        let counts = |slot: &[u64; 3]| (slot[1] & u64::from(u32::MAX), slot[1] >> 32);
        let local = |slot: &[u64; 3]| (slot[2] & u64::from(u32::MAX)) - 1;
        let string = |slot: &[u64; 3]| self.text.as_ref().map(|text| string_at(text, slot[0] as usize));
        match self.text {
            None => slots.sort_unstable_by_key(|slot| slot[0]),
            Some(_) => slots.sort_unstable_by(|one, other| string(one).cmp(&string(other))),
        }
        for slot in slots.iter() {
            let (sources, targets) = counts(slot);
            match string(slot) {
                None => writer.integer(slot[0], sources, targets)?,
                Some(string) => writer.string(string, sources, targets)?,
            }
            writer.local(local(slot))?;
        }
        writer.finish(Locals::Stored { count: used as u64 })
    }
}

/// A random number, the same as long as the process runs.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(outcore_io::random)
}

fn string_at(text: &[u8], start: usize) -> &[u8] {
    let mut len = [0; 4];
    len.copy_from_slice(&text[start..start + 4]);
    &text[start + 4..start + 4 + u32::from_le_bytes(len) as usize]
}

fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = seed ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        hash = mix(hash.rotate_left(5) ^ u64::from_le_bytes(eight));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    mix(hash.rotate_left(5) ^ u64::from_le_bytes(last))
}
