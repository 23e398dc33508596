//! The ids of the vertices that rows name, such as components and parents.
//!
//! All ids are read into memory if they fit. Otherwise rows are processed in groups: as many as name vertices whose ids
//! fit, which one pass over the ids finds. Users see the smallest id of a component; if vertices are not numbered in
//! the order of their ids, it is found by the same method, some components at a time.
//!
//! *Cost.* 8 bytes per vertex and the text of strings, or a sixteenth of that and up to some dozens of passes over the
//! ids; for components 4 bytes per vertex more. These are reserved first: all ids are read only if they fit what is
//! left, so a larger limit never fails where a smaller one is enough.

use crate::ids::{BATCH_IDS, Id, IdBatch, IdLookup, IdStream};
use crate::table::{Column, Members};
use outcore_format::{IdColumn, Order};
use outcore_image::{Error, Image, Result};
use outcore_io::{Buffer, Reservation};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory set aside for a group: at least this fraction (1/n) of that of all ids, plus this number of bytes.
const LEAST_PART: u64 = 16;
const LEAST_BYTES: u64 = 1 << 20;
/// Memory of an id in a group beside its text: its vertex twice, its end, and a place in the order.
const ID_BYTES: u64 = 32;
/// Ratio of peak memory to length of a growing text buffer.
const GROWTH_FACTOR: u64 = 3;
/// Memory of the smallest id of a component beside its text.
const SMALLEST_BYTES: u64 = 128;
const PURPOSE: &str = "the ids that rows name";

/// Memory with which vertices can be named, by so many columns of components among others.
pub(crate) fn least_bytes(image: &Image, components: u64) -> u64 {
    let vertices = image.manifest().vertices;
    // The smallest members of each column, and while they are searched a bit per vertex.
    let of_components = match components {
        1.. if image.manifest().order != Order::Input => 4 * vertices * components + 8 * vertices.div_ceil(64),
        _ => 0,
    };
    IdLookup::bytes(image).min(least_part(image) + IdStream::bytes(image)).saturating_add(of_components)
}

/// Lower bound of the memory of a group.
fn least_part(image: &Image) -> u64 {
    LEAST_BYTES + IdLookup::bytes(image) / LEAST_PART
}

/// The ids of the vertices that rows name, all of them or one group at a time.
pub(crate) struct Names {
    columns: Vec<(Column, Option<Buffer<u32>>)>,
    /// The vertices of the rows, if these have an order of their own: each row then names its own vertex too. `None`
    /// for all vertices in vertex order.
    order: Option<Arc<Buffer<u32>>>,
    rows: usize,
    loaded: LoadedIds,
    /// Memory reserved for the next group, beside that of the current one: fewer ids at a time would be many passes.
    spare: Option<Reservation>,
}

/// The ids in memory.
enum LoadedIds {
    All(IdLookup),
    /// The ids that rows up to `end` name.
    Group {
        ids: Group,
        end: usize,
    },
}

impl Names {
    /// Names for the columns of a table.
    ///
    /// # Errors
    /// Ids that cannot be read or are damaged; no memory.
    pub fn new(image: &Image, columns: &[(String, Column)], order: Option<Arc<Buffer<u32>>>) -> Result<Self> {
        let mut named = Vec::new();
        for (_, column) in columns {
            let smallest = match column {
                Column::Component(_) if image.manifest().order != Order::Input => Some(room_for_smallest(image)?),
                _ => None,
            };
            named.push((column.clone(), smallest));
        }
        let lookup = lookup(image)?;
        for (column, smallest) in &mut named {
            if let (Column::Component(values), Some(smallest)) = (column, smallest) {
                find_smallest(image, lookup.as_ref(), values, smallest)?;
            }
        }
        let rows = order.as_ref().map_or(image.manifest().vertices as usize, |order| order.len());
        let spare = match &lookup {
            None => Some(image.reserve(PURPOSE, least_part(image) + IdStream::bytes(image))?),
            Some(_) => None,
        };
        let loaded = lookup.map_or_else(|| LoadedIds::Group { ids: Group::default(), end: 0 }, LoadedIds::All);
        Ok(Names { columns: named, order, rows, loaded, spare })
    }

    /// Loads the ids that the row at `place` names, and perhaps those of later rows; returns the number of rows from
    /// `place` on whose ids are loaded.
    ///
    /// # Errors
    /// Ids that cannot be read or are damaged; no memory.
    pub fn load(&mut self, image: &Image, place: usize) -> Result<usize> {
        let behind = match &self.loaded {
            LoadedIds::All(_) => self.rows,
            LoadedIds::Group { end, .. } if *end > place => *end,
            LoadedIds::Group { .. } => {
                // Frees the memory of the previous group.
                self.loaded = LoadedIds::Group { ids: Group::default(), end: 0 };
                self.spare = None;
                let (ids, end) = self.group(image, place)?;
                let bytes = least_part(image).saturating_sub(ids.bytes()) + IdStream::bytes(image);
                self.spare = Some(image.reserve(PURPOSE, bytes)?);
                self.loaded = LoadedIds::Group { ids, end };
                end
            }
        };
        Ok(behind - place)
    }

    /// The ids that rows from `place` on name: as many as fit.
    fn group(&self, image: &Image, place: usize) -> Result<(Group, usize)> {
        let (budget, least_bytes) = (image.runtime().budget(), least_part(image));
        let mut memory_bytes = (budget.available_bytes().saturating_sub(IdStream::bytes(image)) / 2).max(least_bytes);
        // The ids of one row.
        let fewest = 2 + self.columns.len() as u64;
        loop {
            let most = (memory_bytes / (ID_BYTES + GROWTH_FACTOR * mean_bytes(image))).max(fewest);
            let (vertices, end) = self.wanted(image, place, most as usize)?;
            match Group::new(image, vertices) {
                Ok(ids) => return Ok((ids, end)),
                // These ids are longer than the mean.
                Err(error) if error.is_out_of_memory() && most > fewest => memory_bytes /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// The vertices that rows from `place` on name, at most `most` distinct ones, and the end of these rows.
    fn wanted(&self, image: &Image, place: usize, most: usize) -> Result<(Vec<u32>, usize)> {
        let mut vertices: Vec<u32> = Vec::with_capacity(most);
        let mut end = place;
        let width = self.columns.len() + 1;
        while end < self.rows {
            if end.is_multiple_of(BATCH_IDS) {
                image.runtime().cancel().check()?;
            }
            if vertices.len() + width > most {
                vertices.sort_unstable();
                vertices.dedup();
                // Sorting again for a few more is not worth it.
                if 4 * (vertices.len() + width) > 3 * most && end > place {
                    break;
                }
            }
            let row = self.order.as_ref().map_or(end as u32, |order| order[end]);
            vertices.extend((0..self.columns.len()).filter_map(|column| self.named(column, row)));
            vertices.extend(self.order.as_ref().map(|_| row));
            end += 1;
        }
        vertices.sort_unstable();
        vertices.dedup();
        Ok((vertices, end))
    }

    /// The vertex that a row names in a column.
    fn named(&self, column: usize, row: u32) -> Option<u32> {
        let (column, smallest) = &self.columns[column];
        let vertex = column.named(row)?;
        Some(smallest.as_ref().map_or(vertex, |smallest| !smallest[vertex as usize]))
    }

    /// The id of the vertex that a row names in a column, if it is loaded.
    pub fn name(&self, column: usize, row: u32) -> Option<Id<&str>> {
        self.id(self.named(column, row)?)
    }

    /// The id of a vertex, if it is loaded.
    pub fn id(&self, vertex: u32) -> Option<Id<&str>> {
        match &self.loaded {
            LoadedIds::All(lookup) => Some(lookup.id(vertex)),
            LoadedIds::Group { ids, .. } => ids.id(vertex),
        }
    }
}

/// Mean size of an id in bytes.
fn mean_bytes(image: &Image) -> u64 {
    let manifest = image.manifest();
    match &manifest.ids {
        IdColumn::String { text_bytes, .. } => text_bytes / manifest.vertices.max(1) + 1,
        _ => 8,
    }
}

/// The ids of some vertices.
#[derive(Default)]
struct Group {
    /// In rising order.
    vertices: Vec<u32>,
    ids: Option<IdBatch>,
    reservation: Option<Reservation>,
}

impl Group {
    /// Finds the ids of vertices in rising order, by one pass.
    fn new(image: &Image, vertices: Vec<u32>) -> Result<Self> {
        let reservation = image.reserve(PURPOSE, ID_BYTES * vertices.len() as u64)?;
        let mut stream = IdStream::new(image)?;
        let mut ids: Option<IdBatch> = None;
        let mut next = vertices.iter().copied().peekable();
        while next.peek().is_some() {
            let Some((first, batch)) = stream.next()? else { break };
            let all = ids.get_or_insert_with(|| IdBatch::empty(image, vertices.len()));
            let end = first + batch.len() as u64;
            while let Some(vertex) = next.next_if(|&vertex| u64::from(vertex) < end) {
                match (&mut *all, batch.get((u64::from(vertex) - first) as usize)) {
                    (IdBatch::Unsigned(ids), Id::Unsigned(id)) => ids.push(id),
                    (IdBatch::Signed(ids), Id::Signed(id)) => ids.push(id),
                    (IdBatch::Text { text, ends }, Id::Text(id)) => {
                        // Room is reserved before it is allocated: twice the capacity, as strings grow.
                        if text.len() + id.len() > text.capacity() {
                            let more = (text.capacity() / 2).max(id.len()).max(1 << 16);
                            if !reservation.grow(2 * more as u64) {
                                let free_bytes = image.runtime().budget().available_bytes();
                                let refusal = image.runtime().budget().refusal(PURPOSE, 2 * more as u64, free_bytes);
                                return Err(refusal);
                            }
                            text.reserve_exact(more);
                        }
                        text.push_str(id);
                        ends.push(text.len());
                    }
                    _ => {
                        return Err(Error::custom(
                            "expected ids of one kind, found strings beside numbers; this is a defect",
                        ));
                    }
                }
            }
        }
        Ok(Group { vertices, ids, reservation: Some(reservation) })
    }

    fn bytes(&self) -> u64 {
        self.reservation.as_ref().map_or(0, Reservation::bytes)
    }

    fn id(&self, vertex: u32) -> Option<Id<&str>> {
        let place = self.vertices.binary_search(&vertex).ok()?;
        self.ids.as_ref().filter(|ids| place < ids.len()).map(|ids| ids.get(place))
    }
}

/// For every component its member with the smallest id, under which [`Column::Component`] is shown: indexed by its
/// smallest vertex, the complement of that member; `None` if it is always that vertex itself.
///
/// # Errors
/// A vertex that the graph does not have, ids that cannot be read or are damaged; no memory.
pub fn shown_members(image: &Image, components: &Buffer<u32>) -> Result<Option<Buffer<u32>>> {
    components.iter().max().map_or(Ok(()), |&greatest| image.check_vertex(greatest))?;
    if image.manifest().order == Order::Input {
        return Ok(None);
    }
    let mut smallest = room_for_smallest(image)?;
    find_smallest(image, lookup(image)?.as_ref(), components, &mut smallest)?;
    Ok(Some(smallest))
}

/// All ids, if they fit the memory.
fn lookup(image: &Image) -> Result<Option<IdLookup>> {
    match IdLookup::new(image) {
        Ok(lookup) => Ok(Some(lookup)),
        Err(error) if error.is_out_of_memory() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The memory of the smallest members of components, before they are known: 0.
fn room_for_smallest(image: &Image) -> Result<Buffer<u32>> {
    const SMALLEST: &str = "the smallest ids of components";
    let vertices = image.manifest().vertices;
    image.make_room(SMALLEST, 4 * vertices)?;
    Buffer::zeroed(image.runtime().budget(), SMALLEST, vertices as usize)
}

/// Finds, for the smallest vertex of every component, the complement of the member with the smallest id.
///
/// If vertices are numbered in the order of their ids, that is the smallest vertex itself; otherwise it is searched,
/// some components at a time if the ids are not in memory.
fn find_smallest(
    image: &Image,
    lookup: Option<&IdLookup>,
    components: &Buffer<u32>,
    smallest: &mut Buffer<u32>,
) -> Result<()> {
    let Some(lookup) = lookup else { return members_by_passes(image, components, smallest) };
    for (vertex, &component) in components.iter().enumerate() {
        if vertex % BATCH_IDS == 0 {
            image.runtime().cancel().check()?;
        }
        let best = &mut smallest[component as usize];
        if *best == 0 || lookup.id(vertex as u32) < lookup.id(!*best) {
            *best = !(vertex as u32);
        }
    }
    Ok(())
}

/// Finds the members with the smallest ids by passes over the ids: each handles the next components of more than one
/// vertex, as many as fit the memory.
fn members_by_passes(image: &Image, components: &Buffer<u32>, smallest: &mut Buffer<u32>) -> Result<()> {
    let budget = image.runtime().budget();
    // The components of more than one vertex, by their smallest vertices.
    let purpose = "components of several vertices";
    image.make_room(purpose, 8 * (components.len() as u64).div_ceil(64))?;
    let mut shared = Members::none_of(budget, purpose, components.len())?;
    for (vertex, &component) in components.iter().enumerate() {
        if vertex % BATCH_IDS == 0 {
            image.runtime().cancel().check()?;
        }
        match smallest[component as usize] {
            0 => smallest[component as usize] = !(vertex as u32),
            _ => shared.insert(component),
        }
    }
    let (mut from, end) = (0u32, components.len() as u32);
    let mut memory_bytes = (budget.available_bytes().saturating_sub(IdStream::bytes(image)) / 2).max(LEAST_BYTES);
    while from < end {
        let most = (memory_bytes / (SMALLEST_BYTES + 2 * mean_bytes(image))).max(1);
        let mut to = from;
        let mut count = 0;
        while to < end && count < most {
            count += u64::from(shared.contains(to));
            to += 1;
        }
        let is_wanted = |component| (from..to).contains(&component) && shared.contains(component);
        let members = match smallest_of(image, components, is_wanted) {
            Err(error) if error.is_out_of_memory() && count > 1 => {
                memory_bytes /= 2;
                continue;
            }
            members => members?,
        };
        members.into_iter().for_each(|(component, vertex)| smallest[component as usize] = !vertex);
        from = to;
    }
    Ok(())
}

/// The members with the smallest ids, of the wanted components, by one pass over the ids.
fn smallest_of(image: &Image, components: &Buffer<u32>, is_wanted: impl Fn(u32) -> bool) -> Result<Vec<(u32, u32)>> {
    let reservation = image.reserve(PURPOSE, 0)?;
    let mut best: BTreeMap<u32, (u32, Id<String>)> = BTreeMap::new();
    let mut stream = IdStream::new(image)?;
    while let Some((first, batch)) = stream.next()? {
        image.runtime().cancel().check()?;
        for (vertex, id) in (first as u32..).zip(batch.iter()) {
            let component = components[vertex as usize];
            if !is_wanted(component) || best.get(&component).is_some_and(|(_, known)| known.as_ref() <= id) {
                continue;
            }
            let text_bytes = if let Id::Text(text) = id { 2 * text.len() as u64 } else { 0 };
            // The memory of a longer id is not released when a shorter one replaces it: that is rare.
            let bytes = text_bytes + if best.contains_key(&component) { 0 } else { SMALLEST_BYTES };
            if !reservation.grow(bytes) {
                let free_bytes = image.runtime().budget().available_bytes();
                return Err(image.runtime().budget().refusal(PURPOSE, bytes, free_bytes));
            }
            best.insert(component, (vertex, id.to_owned()));
        }
    }
    Ok(best.into_iter().map(|(component, (vertex, _))| (component, vertex)).collect())
}
