//! Attributes and weights of single vertices and edges, read in place.
//!
//! *Cost.* Once, the indexes of the columns of values and the strings of all attributes, in memory, and a stream per
//! column. Then the pages of a list, and of each column the pages beside it.

use crate::engine::decode::DECODER_BYTES;
use crate::engine::graph::{Direction, Graph};
use crate::engine::ordered::ListStream;
use crate::engine::weights::Weight;
use crate::export::edge_batches::{EdgeData, record, schema};
use crate::export::edge_stream::Entry;
use crate::look::attributes::{AttributeIndex, Attributes, Owner, attribute_bytes, place_indexes};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use outcore_format::list::MAX_NEIGHBOURS;
use outcore_format::{Index, WeightKind};
use outcore_image::{ColumnStream, Error, ImageFile, Result, STREAM_BYTES};
use outcore_io::{Reservation, lock};
use outcore_table::{Id, id_array};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Memory of an edge while a batch of one list is made, beside its values.
const EDGE_BYTES: u64 = 256;

/// The attributes of vertices, one vertex at a time.
pub struct VertexData {
    graph: Graph,
    index: AttributeIndex,
    attributes: Mutex<Attributes>,
}

impl std::fmt::Debug for VertexData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VertexData").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl VertexData {
    /// Takes what is needed to find them.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged; no memory.
    pub fn new(graph: &Graph) -> Result<Self> {
        let index = AttributeIndex::new(graph, Owner::Vertices)?;
        let attributes = Mutex::new(index.part(graph, &(0..0))?);
        Ok(VertexData { graph: graph.clone(), index, attributes })
    }

    /// The attributes of a vertex, as a row of columns under their names.
    ///
    /// # Errors
    /// A vertex that is not there; a page that cannot be read or is damaged.
    pub fn of(&self, vertex: u32) -> Result<RecordBatch> {
        self.graph.check_vertex(vertex)?;
        let range = u64::from(vertex)..u64::from(vertex) + 1;
        let mut attributes = lock(&self.attributes);
        attributes.seek(&self.index, &range);
        let mut words = vec![Vec::new(); attributes.width()];
        attributes.take(1, &mut words)?;
        let words: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        let schema = Arc::new(Schema::new(attributes.fields().collect::<Vec<_>>()));
        let one = RecordBatchOptions::new().with_row_count(Some(1));
        RecordBatch::try_new_with_options(schema, attributes.arrays(&words).collect(), &one).map_err(invalid)
    }
}

/// The edges from a vertex, with weights and attributes, one vertex at a time.
pub struct EdgesFrom {
    graph: Graph,
    attributes: AttributeIndex,
    /// The index of the column of the weights, if there are any.
    weights: Option<Arc<Index>>,
    /// Number of entries before every page of the lists, if something lies beside them.
    before: Option<Arc<Index>>,
    schema: SchemaRef,
    streams: Mutex<Streams>,
    _reservation: Reservation,
}

impl std::fmt::Debug for EdgesFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgesFrom").field("graph", &self.graph).finish_non_exhaustive()
    }
}

/// The lists, and what lies beside them: opened once, and entered anywhere.
struct Streams {
    lists: ListStream,
    weights: Option<ColumnStream>,
    attributes: Attributes,
}

/// The entries of a list, and their attributes column by column.
struct List {
    edges: Vec<Entry>,
    words: Vec<Vec<u64>>,
    _reservation: Reservation,
}

impl EdgesFrom {
    /// Takes what is needed to find them.
    ///
    /// # Errors
    /// Complex weights; what cannot be read or is damaged; no memory.
    pub fn new(graph: &Graph) -> Result<Self> {
        if graph.is_complex() {
            let text = "expected weights that are real numbers, found complex ones, which no Arrow column holds";
            return Err(Error::Usage(text.to_owned()));
        }
        let EdgeData { weights, .. } = EdgeData::all(graph);
        let file = weights.then(|| ImageFile::values(graph.manifest().first_weight_column(), false));
        let entries = (!graph.manifest().values.is_empty()).then_some(ImageFile::OUT_ENTRIES);
        let (mut indexes, _reservation) = place_indexes(graph, entries.into_iter().chain(file))?;
        let before = entries.map(|_| indexes.remove(0));
        let weights = file.map(|_| indexes.remove(0));
        let streams = 1 + u64::from(weights.is_some());
        let all_bytes = attribute_bytes(graph, Owner::Edges).saturating_add(streams * STREAM_BYTES + DECODER_BYTES);
        graph.make_room("reading the edges of vertices", all_bytes)?;
        let attributes = AttributeIndex::new(graph, Owner::Edges)?;
        let entries = graph.manifest().out_lists.entries;
        let column = |(file, index)| ColumnStream::part(graph.image(), file, index, 0..0, entries);
        let streams = Streams {
            lists: ListStream::new(graph, Direction::Out, 0..0)?,
            weights: file.zip(weights.as_ref()).map(column).transpose()?,
            attributes: attributes.part(graph, &(0..0))?,
        };
        let schema = schema(graph, weights.is_some(), streams.attributes.fields());
        Ok(EdgesFrom {
            graph: graph.clone(),
            attributes,
            weights,
            before,
            schema,
            streams: Mutex::new(streams),
            _reservation,
        })
    }

    /// The edges from a vertex, by the ids of their other ends, in the columns that
    /// [`EdgeBatches`](crate::EdgeBatches) has; where edges have no direction, all of its edges.
    ///
    /// # Errors
    /// A vertex that is not there; a page or column that cannot be read or is damaged; no memory.
    pub fn of(&self, vertex: u32) -> Result<RecordBatch> {
        let mut streams = lock(&self.streams);
        let list = self.list(&mut streams, vertex, None)?;
        let ends: Vec<u32> = list.edges.iter().map(|edge| edge.neighbour).chain([vertex]).collect();
        let ids = self.graph.known_ids(&ends)?;
        let mut order: Vec<usize> = (0..list.edges.len()).collect();
        order.sort_by(|&one, &other| ids[one].cmp(&ids[other]));
        let ordered: Vec<Id<&str>> = order.iter().map(|&place| ids[place].as_ref()).collect();
        self.rows(&streams.attributes, &list, &order, (ids[list.edges.len()].as_ref(), &ordered))
    }

    /// The first edge from one vertex to another, as one row; nothing if there is none.
    ///
    /// # Errors
    /// As for [`EdgesFrom::of`].
    pub fn between(&self, source: u32, target: u32) -> Result<Option<RecordBatch>> {
        let all = self.all_between(source, target)?;
        Ok((all.num_rows() > 0).then(|| all.slice(0, 1)))
    }

    /// All edges from one vertex to another, a row each.
    ///
    /// # Errors
    /// As for [`EdgesFrom::of`].
    pub fn all_between(&self, source: u32, target: u32) -> Result<RecordBatch> {
        let mut streams = lock(&self.streams);
        let list = self.list(&mut streams, source, Some(target))?;
        let ids = self.graph.known_ids(&[source, target])?;
        let order: Vec<usize> = (0..list.edges.len()).collect();
        let targets: Vec<Id<&str>> = order.iter().map(|_| ids[1].as_ref()).collect();
        self.rows(&streams.attributes, &list, &order, (ids[0].as_ref(), &targets))
    }

    /// Some edges of the list of a vertex: its own id, and those of the other ends.
    fn rows(
        &self,
        attributes: &Attributes,
        list: &List,
        order: &[usize],
        (own, ids): (Id<&str>, &[Id<&str>]),
    ) -> Result<RecordBatch> {
        let own = id_array(self.graph.image(), order.iter().map(|_| Some(own)));
        let ends = [own, id_array(self.graph.image(), ids.iter().map(|&id| Some(id)))];
        let edges: Vec<Entry> = order.iter().map(|&place| list.edges[place]).collect();
        let of_column = |words: &Vec<u64>| order.iter().map(|&place| words[place]).collect();
        let words: Vec<Vec<u64>> = list.words.iter().map(of_column).collect();
        let words: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        let data = Some((attributes, &words[..]));
        record(&self.schema, ends, &edges, self.weights.is_some(), data).map_err(invalid)
    }

    /// The list of a vertex, or what of it leads to one other.
    fn list(&self, streams: &mut Streams, vertex: u32, only: Option<u32>) -> Result<List> {
        let graph = &self.graph;
        graph.check_vertex(vertex)?;
        only.map_or(Ok(()), |other| graph.check_vertex(other))?;
        let pages = self.pages_of(vertex)?;
        let range = self.entries_of(&pages);
        let Streams { lists, weights, attributes } = streams;
        let width = attributes.width() as u64 + 1;
        let edges = match only {
            None => graph.most_neighbours(vertex, Direction::Out)?,
            Some(_) if !graph.manifest().parallel_edges => 1,
            Some(other) => graph.edges_between(vertex, other)?,
        };
        // The edges, and the values beside all lists of a page.
        let page_bytes = 16 * width * (range.end - range.start).min(MAX_NEIGHBOURS as u64);
        let bytes = edges * (EDGE_BYTES + 16 * width) + page_bytes;
        let reservation = graph.reserve("the edges from a vertex", bytes)?;
        lists.seek(pages);
        attributes.seek(&self.attributes, &range);
        if let Some((weights, index)) = weights.as_mut().zip(self.weights.as_ref()) {
            weights.seek(index, range);
        }
        let kind = if weights.is_some() { graph.weight_kind()? } else { WeightKind::I64 };
        let mut edges = Vec::new();
        let mut words = vec![Vec::new(); attributes.width()];
        let (mut page_words, mut values) = (words.clone(), Vec::new());
        while let Some((_, page)) = lists.next()? {
            let count = page.edges();
            page_words.iter_mut().for_each(Vec::clear);
            attributes.take(count, &mut page_words)?;
            values.clear();
            weights.as_mut().map_or(Ok(()), |weights| weights.take_into(count, &mut values))?;
            let Some(place) = u64::from(vertex).checked_sub(page.first_vertex).filter(|&i| i < page.count as u64)
            else {
                continue;
            };
            let (list, first) = (page.list(place as usize), page.ends[place as usize] as usize);
            let wanted = match only {
                None => 0..list.len(),
                Some(other) => list.partition_point(|&one| one < other)..list.partition_point(|&one| one <= other),
            };
            let (list, first) = (&list[wanted.clone()], first + wanted.start);
            edges.extend(list.iter().zip(first..).map(|(&neighbour, place)| Entry {
                vertex,
                neighbour,
                weight: match values.get(place) {
                    None => Weight::None,
                    Some(&bits) if kind == WeightKind::I64 => Weight::Integer(bits as i64),
                    Some(&bits) => Weight::Real(f64::from_bits(bits)),
                },
                place: place as u32,
            }));
            for (words, page_words) in words.iter_mut().zip(&page_words) {
                words.extend_from_slice(&page_words[first..first + list.len()]);
            }
        }
        Ok(List { edges, words, _reservation: reservation })
    }

    fn pages_of(&self, vertex: u32) -> Result<Range<u64>> {
        let lists = self.graph.open_lists(Direction::Out)?;
        // A page that begins within a list has a key that is odd.
        let page = |key| lists.index.last_at_most(key).unwrap_or_default();
        Ok(page(2 * u64::from(vertex))..page(2 * u64::from(vertex) + 1) + 1)
    }

    /// The entries of some pages, as values are counted; none where there are no values.
    fn entries_of(&self, pages: &Range<u64>) -> Range<u64> {
        let entries = self.graph.manifest().out_lists.entries;
        let Some(before) = &self.before else { return 0..0 };
        let before = |page: u64| if page < before.len() { before.get(page) } else { entries };
        before(pages.start)..before(pages.end)
    }
}

fn invalid(error: arrow_schema::ArrowError) -> Error {
    Error::Usage(format!("rows as an Arrow batch: {error}"))
}
