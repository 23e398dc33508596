//! Looking into a graph: which vertex has an id, what its neighbours are, and how many it has.
//!
//! *Idea.* Lists name vertices by their numbers, users by their ids. The first look caches all ids with their order
//! (`id_cache.rs`), where memory has room for them; then an id is found by a binary search. Without room each look
//! passes over the ids, once to find vertices and once to name their neighbours.
//!
//! *Cost.* Cached ids take 8 bytes per vertex, their text beside that, and 4 for their order unless vertices are
//! numbered in it. Then a look reads the pages of one list, or finds them in the page cache, which the first look fills
//! with free memory.

use crate::engine::graph::{Direction, Edges, Graph};
use crate::engine::scan::{Frontier, ListPart, scan};
use crate::engine::weights::Weight;
use outcore_image::{Error, Result};
use outcore_io::lock;
use outcore_table::{Id, parse_id};
use std::sync::Mutex;

/// Memory of a neighbour in bytes while a list of them is made, and the greatest degree up to which none are counted
/// before.
const NEIGHBOUR_BYTES: u64 = 192;
const FEW_NEIGHBOURS: u64 = 4096;

/// A neighbour of a vertex.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Neighbour {
    /// Its number in the image.
    pub vertex: u32,
    /// Its id.
    pub id: Id<String>,
    /// The weight of the edge, if it was asked for.
    pub weight: Weight,
}

/// Number of edges of a vertex. One from the vertex to itself counts twice, as in NetworkX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Degree {
    /// All edges of the vertex.
    pub all: u64,
    /// Edges that lead to the vertex; all of them where edges have no direction.
    pub into: u64,
    /// Edges that lead from the vertex; all of them where edges have no direction.
    pub from: u64,
}

impl Graph {
    /// The vertex of an id that is written as text, if there is one: among the ids in memory, which the first look
    /// reads, or where there is no room for them by a pass over the id column.
    ///
    /// # Errors
    /// A column that cannot be read or is damaged.
    pub fn find(&self, id: &str) -> Result<Option<u32>> {
        let Some(parsed) = parse_id(self.image(), id) else { return Ok(None) };
        if let Some(ids) = self.id_cache().get(self.image())? {
            return Ok(ids.find(self.image(), parsed));
        }
        match self.vertices_of(&[id]) {
            Ok(vertices) => Ok(vertices.first().copied()),
            Err(Error::NoId { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The vertex of an id that is written as text, as [`Graph::find`] finds it; for many of them, [`Graph::ids`].
    ///
    /// # Errors
    /// [`Error::NoId`]; a column that cannot be read or is damaged.
    pub fn vertex(&self, id: &str) -> Result<u32> {
        // The error of an unknown vertex describes the ids.
        match self.find(id)? {
            Some(vertex) => Ok(vertex),
            None => Ok(self.vertices_of(&[id])?[0]),
        }
    }

    /// The neighbours of a vertex, by their ids: where edges lead to, or where they come from. An edge that is there
    /// several times has its neighbour as often.
    ///
    /// Memory for the list, its weights and the ids.
    ///
    /// # Errors
    /// A vertex that is not there, weights that there are none of, a page or column that cannot be read or is damaged,
    /// or no memory.
    pub fn neighbours(&self, vertex: u32, edges: impl Into<Edges>) -> Result<Vec<Neighbour>> {
        let edges = edges.into();
        self.begin_looks()?;
        let count = self.most_neighbours(vertex, edges.direction)?;
        let _reservation = self.reserve("the neighbours of a vertex", count * NEIGHBOUR_BYTES)?;
        let parts = Mutex::new(Vec::<(u64, Vec<u32>, Vec<Weight>)>::new());
        let frontier = [vertex];
        scan(
            self,
            edges,
            Frontier::List(&frontier),
            || (),
            |(), part| {
                let weights = (0..part.neighbours.len()).map(|i| part.weights.at(i)).collect();
                lock(&parts).push((part.offset, part.neighbours.to_vec(), weights));
            },
        )?;
        let mut parts = outcore_io::into_inner(parts);
        parts.sort_unstable_by_key(|&(offset, ..)| offset);
        let vertices: Vec<u32> = parts.iter().flat_map(|(_, vertices, _)| vertices).copied().collect();
        let weights = parts.iter().flat_map(|(.., weights)| weights).copied();
        let ids = self.known_ids(&vertices)?;
        let neighbour = |((&vertex, id), weight)| Neighbour { vertex, id, weight };
        let mut neighbours: Vec<Neighbour> = vertices.iter().zip(ids).zip(weights).map(neighbour).collect();
        neighbours.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(neighbours)
    }

    /// The ids of vertices, from the cache of ids or by one pass over their column.
    pub(crate) fn known_ids(&self, vertices: &[u32]) -> Result<Vec<Id<String>>> {
        match self.id_cache().get(self.image())? {
            Some(ids) => Ok(vertices.iter().map(|&vertex| ids.lookup.id(vertex).to_owned()).collect()),
            None => self.ids_of(vertices),
        }
    }

    /// Number of edges of a vertex.
    ///
    /// # Errors
    /// A vertex that is not there, or a page that cannot be read or is damaged.
    pub fn degree(&self, vertex: u32) -> Result<Degree> {
        let from = self.count_in_list(vertex, Direction::Out, <[u32]>::len)?;
        if self.is_directed() {
            let into = self.count_in_list(vertex, Direction::In, <[u32]>::len)?;
            return Ok(Degree { all: from + into, into, from });
        }
        // An edge from a vertex to itself is in its list once.
        let all = from + self.edges_between(vertex, vertex)?;
        Ok(Degree { all, into: all, from: all })
    }

    /// Number of edges from one vertex to another.
    ///
    /// # Errors
    /// As with [`Graph::degree`].
    pub fn edges_between(&self, from: u32, to: u32) -> Result<u64> {
        self.check_vertex(to)?;
        self.count_in_list(from, Direction::Out, |part| times(part, to))
    }

    /// Upper bound of the length of a list: if lists may be long, this one is counted.
    pub(crate) fn most_neighbours(&self, vertex: u32, direction: Direction) -> Result<u64> {
        match self.list_facts(direction).max_degree {
            most if most <= FEW_NEIGHBOURS => Ok(most),
            _ => self.count_in_list(vertex, direction, <[u32]>::len),
        }
    }

    fn count_in_list(&self, vertex: u32, direction: Direction, of: impl Fn(&[u32]) -> usize + Sync) -> Result<u64> {
        self.begin_looks()?;
        let frontier = [vertex];
        let visit = |count: &mut u64, part: ListPart<'_>| *count += of(part.neighbours) as u64;
        let (counts, _) = scan(self, direction, Frontier::List(&frontier), || 0, visit)?;
        Ok(counts.into_iter().sum())
    }
}

/// Number of occurrences of a neighbour in a part of a list.
fn times(part: &[u32], neighbour: u32) -> usize {
    part.partition_point(|&other| other <= neighbour) - part.partition_point(|&other| other < neighbour)
}
