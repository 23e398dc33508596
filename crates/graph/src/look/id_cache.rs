//! The ids of an open graph in memory, so that looks into it need not pass over the column of ids each time.

use outcore_image::{Image, Result};
use outcore_io::{Array, Reclaim, lock};
use outcore_table::{Id, IdLookup, by_id_bytes};
use std::sync::{Arc, Mutex, MutexGuard};

/// The cache reads ids if they take at most this part, 1/n, of the free memory.
const IDS_PART: u64 = 2;

/// The ids of a graph, from the first look into it until another reservation needs their memory.
#[derive(Default)]
pub(crate) struct IdCache(Mutex<Option<Arc<Ids>>>);

/// All ids, and the vertices in the order of their ids unless they are numbered in it.
pub(crate) struct Ids {
    pub lookup: IdLookup,
    by_id: Option<Array<u32>>,
    bytes: u64,
}

impl IdCache {
    /// Locks the ids if no look uses them. It never waits: the thread that holds the lock may be the one whose
    /// reservation asks for the memory.
    fn unused(&self) -> Option<MutexGuard<'_, Option<Arc<Ids>>>> {
        let ids = self.0.try_lock().ok()?;
        ids.as_ref().is_none_or(|ids| Arc::strong_count(ids) == 1).then_some(ids)
    }

    /// The ids, read if there is room for them; nothing if there is none.
    pub fn get(&self, image: &Image) -> Result<Option<Arc<Ids>>> {
        let mut ids = lock(&self.0);
        if ids.is_none() && Ids::making_bytes(image) <= image.runtime().budget().available_bytes() / IDS_PART {
            *ids = Some(Arc::new(Ids::new(image)?));
        }
        Ok(ids.clone())
    }

    pub fn forget(&self) {
        *lock(&self.0) = None;
    }
}

impl Reclaim for IdCache {
    fn reclaimable_bytes(&self) -> u64 {
        self.unused().and_then(|ids| Some(ids.as_ref()?.bytes)).unwrap_or(0)
    }

    fn reclaim(&self) {
        if let Some(mut ids) = self.unused() {
            *ids = None;
        }
    }
}

impl Ids {
    /// Memory in bytes that reading and sorting the ids takes.
    fn making_bytes(image: &Image) -> u64 {
        IdLookup::bytes(image).max(by_id_bytes(image))
    }

    fn new(image: &Image) -> Result<Self> {
        let lookup = IdLookup::new(image)?;
        let by_id = lookup.by_id(image)?;
        let bytes = IdLookup::bytes(image) + by_id.as_ref().map_or(0, |vertices| size_of_val(&vertices[..]) as u64);
        Ok(Ids { lookup, by_id, bytes })
    }

    /// The vertex of an id, if there is one.
    pub fn find(&self, image: &Image, id: Id<&str>) -> Option<u32> {
        let vertex = |place: u32| self.by_id.as_ref().map_or(place, |vertices| vertices[place as usize]);
        let (mut first, mut end) = (0u32, image.manifest().vertices as u32);
        while first < end {
            let middle = first + (end - first) / 2;
            if self.lookup.id(vertex(middle)) < id { first = middle + 1 } else { end = middle }
        }
        let candidate = (u64::from(first) < image.manifest().vertices).then(|| vertex(first));
        candidate.filter(|&vertex| self.lookup.id(vertex) == id)
    }
}
