//! The ids of an open graph in memory, so that looks into it need not pass over the column of ids each time.
//!
//! *Idea.* An id is searched in two steps: first among the first eight bytes, behind those that all ids have in common,
//! of every 64th id in order, which are an eighth of a byte per vertex and stay in the caches of a processor; then
//! among the ids between two of these. Six of some millions of ids are compared, where a binary search compares
//! twenty, each of them far from the other.

use outcore_format::IdColumn;
use outcore_image::{Image, Result};
use outcore_io::{Buffer, Reclaim, lock};
use outcore_table::{Id, IdLookup, by_id_bytes, parse_id, vertices_of};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// The cache reads ids if they take at most this part, 1/n, of the free memory.
const IDS_PART: u64 = 2;

/// The ids of a graph, from the first look into it until another reservation needs their memory.
#[derive(Default)]
pub(crate) struct IdCache(Mutex<Option<Arc<Ids>>>);

/// All ids, and the vertices in the order of their ids unless they are numbered in it.
pub(crate) struct Ids {
    pub lookup: IdLookup,
    by_id: Option<Buffer<u32>>,
    sample: Sample,
    bytes: u64,
}

/// The ids of a graph in memory, for many look-ups of ids and of vertices; [`Graph::ids`](crate::Graph::ids) has it.
#[derive(Clone)]
pub struct GraphIds {
    image: Arc<Image>,
    ids: Arc<Ids>,
}

impl std::fmt::Debug for GraphIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let vertices = self.image.manifest().vertices;
        f.debug_struct("GraphIds").field("path", &self.image.path()).field("vertices", &vertices).finish()
    }
}

impl GraphIds {
    pub(crate) fn new(image: Arc<Image>, ids: Arc<Ids>) -> Self {
        GraphIds { image, ids }
    }

    /// The vertex of an id that is written as text, if there is one.
    pub fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(&self.image, parse_id(&self.image, id)?)
    }

    /// The vertex of an id that is written as text.
    ///
    /// # Errors
    /// [`Error::NoId`](outcore_image::Error::NoId).
    pub fn vertex(&self, id: &str) -> Result<u32> {
        // The error of an unknown id describes the others.
        self.find(id).map_or_else(|| Ok(vertices_of(&self.image, &[id])?[0]), Ok)
    }

    /// The id of a vertex.
    ///
    /// # Errors
    /// [`Error::NoVertex`](outcore_image::Error::NoVertex).
    pub fn id(&self, vertex: u32) -> Result<Id<&str>> {
        self.image.check_vertex(vertex)?;
        Ok(self.ids.lookup.id(vertex))
    }
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

    /// The ids, for which there must be room.
    pub fn read(&self, image: &Image) -> Result<Arc<Ids>> {
        let mut ids = lock(&self.0);
        if let Some(ids) = &*ids {
            return Ok(Arc::clone(ids));
        }
        image.make_room("the ids of a graph", Ids::making_bytes(image))?;
        Ok(Arc::clone(ids.insert(Arc::new(Ids::new(image)?))))
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
        IdLookup::bytes(image).max(by_id_bytes(image)) + Sample::bytes(image)
    }

    fn new(image: &Image) -> Result<Self> {
        let lookup = IdLookup::new(image)?;
        let by_id = lookup.by_id(image)?;
        let vertex = |place: usize| by_id.as_ref().map_or(place as u32, |vertices| vertices[place]);
        let sample = Sample::new(image, |place| lookup.id(vertex(place)))?;
        let bytes = IdLookup::bytes(image) + by_id.as_ref().map_or(0, |vertices| size_of_val(&vertices[..]) as u64);
        Ok(Ids { lookup, by_id, sample, bytes: bytes + Sample::bytes(image) })
    }

    /// The vertex of an id, if there is one.
    pub fn find(&self, image: &Image, id: Id<&str>) -> Option<u32> {
        let vertices = image.manifest().vertices;
        if let (IdColumn::Range { first }, Some(id)) = (&image.manifest().ids, id.number()) {
            let place = u64::try_from(id - i128::from(*first)).ok();
            return place.filter(|&place| place < vertices).map(|place| place as u32);
        }
        let vertex = |place: usize| self.by_id.as_ref().map_or(place as u32, |vertices| vertices[place]);
        let Range { start: mut first, mut end } = self.sample.places_of(id, vertices as usize);
        while first < end {
            let middle = first + (end - first) / 2;
            if self.lookup.id(vertex(middle)) < id { first = middle + 1 } else { end = middle }
        }
        let candidate = (first < vertices as usize).then(|| vertex(first));
        candidate.filter(|&vertex| self.lookup.id(vertex) == id)
    }
}

/// Number of ids from one of the sample to the next.
const SAMPLED: usize = 64;

/// Some of the ids in order, shortened to 64 bits that sort as they do.
struct Sample {
    /// The bytes with which all ids begin.
    common: Box<[u8]>,
    keys: Buffer<u64>,
}

impl Sample {
    fn bytes(image: &Image) -> u64 {
        match &image.manifest().ids {
            IdColumn::Range { .. } => 0,
            _ => 8 * image.manifest().vertices.div_ceil(SAMPLED as u64),
        }
    }

    /// A sample of the ids that `id` has by their places in order.
    fn new<'a>(image: &Image, id: impl Fn(usize) -> Id<&'a str>) -> Result<Self> {
        let vertices = image.manifest().vertices as usize;
        let ends = [0, vertices.saturating_sub(1)].map(|place| (place < vertices).then(|| id(place)));
        let common = match ends {
            [Some(Id::Text(first)), Some(Id::Text(last))] => {
                let same = first.bytes().zip(last.bytes()).take_while(|(one, other)| one == other).count();
                first.as_bytes()[..same].into()
            }
            _ => Box::default(),
        };
        let count = (Sample::bytes(image) / 8) as usize;
        let keys = Buffer::<u64>::zeroed(image.runtime().budget(), "a sample of the ids", count)?;
        let mut sample = Sample { common, keys };
        for place in 0..count {
            sample.keys[place] = sample.key(id(SAMPLED * place)).unwrap_or(0);
        }
        Ok(sample)
    }

    /// An id as 64 bits; nothing if it begins otherwise than all ids.
    fn key(&self, id: Id<&str>) -> Option<u64> {
        match id {
            Id::Unsigned(id) => Some(id),
            Id::Signed(id) => Some(id as u64 ^ 1 << 63),
            Id::Text(id) => {
                let rest = id.as_bytes().strip_prefix(&*self.common)?;
                let mut first = [0; 8];
                let len = rest.len().min(8);
                first[..len].copy_from_slice(&rest[..len]);
                Some(u64::from_be_bytes(first))
            }
        }
    }

    /// The places among which an id is, if it is one of `count` in order; the end of them is its place if it follows
    /// all ids at these.
    fn places_of(&self, id: Id<&str>, count: usize) -> Range<usize> {
        let Some(key) = self.key(id) else { return count..count };
        let first = self.keys.partition_point(|&other| other < key);
        let end = first + self.keys[first..].partition_point(|&other| other == key);
        SAMPLED * first.saturating_sub(1)..(SAMPLED * end).min(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::Budget;

    /// A sample of ids that are in order.
    fn sample(ids: &[String]) -> Sample {
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        let same = |(one, other): &(u8, u8)| one == other;
        let common = ids[0].bytes().zip(ids[ids.len() - 1].bytes()).take_while(same).count();
        let keys = Buffer::<u64>::zeroed(&budget, "a test", ids.len().div_ceil(SAMPLED)).unwrap();
        let mut sample = Sample { common: ids[0].as_bytes()[..common].into(), keys };
        for (place, id) in ids.iter().step_by(SAMPLED).enumerate() {
            sample.keys[place] = sample.key(Id::Text(id)).unwrap();
        }
        sample
    }

    #[test]
    fn an_id_is_among_few_places_whatever_all_ids_begin_with() {
        for begin in ["", "user:", "a much longer beginning of all of them/"] {
            let mut ids: Vec<String> = (0..100_000u64).map(|i| format!("{begin}{}", i * 7919 % 1_000_003)).collect();
            ids.sort_unstable();
            let sample = sample(&ids);
            for (place, id) in ids.iter().enumerate() {
                let places = sample.places_of(Id::Text(id), ids.len());
                assert!(places.contains(&place) && places.len() <= 2 * SAMPLED, "{id}: {places:?}");
            }
            for other in ["", "user", "zebra", "user:9999999999", "0"] {
                let places = sample.places_of(Id::Text(other), ids.len());
                assert!(places.len() <= 2 * SAMPLED && places.end <= ids.len(), "{other}: {places:?}");
            }
        }
        // Ids whose first bytes are the same are searched among all of these.
        let mut ids: Vec<String> = (0..1000).map(|i| format!("{}:the same for many:{i:04}", i % 2)).collect();
        ids.sort_unstable();
        let sample = sample(&ids);
        for (place, id) in ids.iter().enumerate() {
            assert!(sample.places_of(Id::Text(id), ids.len()).contains(&place), "{id}");
        }
    }
}
