//! Edges in order: every edge of a graph once, with its weight, by the lists in the order of their vertices.

use crate::engine::graph::{Direction, Graph};
use crate::engine::ordered::ListStream;
use crate::engine::weights::Weight;
use outcore_format::{Order, WeightKind};
use outcore_image::{ColumnStream, ImageFile, Result, STREAM_BYTES};
use outcore_table::IdLookup;

/// The memory that streaming edges takes, at most.
pub(crate) fn edge_stream_bytes(graph: &Graph) -> u64 {
    let columns = graph.manifest().weight_columns().max(1) as u64;
    (1 + columns) * STREAM_BYTES + crate::engine::decode::DECODER_BYTES + (1 << 20)
}

/// An entry of a list: an edge, as one of its ends sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The vertex of the list.
    pub vertex: u32,
    /// The vertex at the other end of the edge.
    pub neighbour: u32,
    pub weight: Weight,
    /// Index of the entry in its page of lists.
    pub place: u32,
}

/// The entries of all out-lists, page by page in order.
pub(crate) struct EntryPages {
    lists: ListStream,
    columns: Vec<ColumnStream>,
    kind: WeightKind,
    /// The weights of the page that was read last.
    values: [Vec<u64>; 2],
}

impl EntryPages {
    /// All pages, from the first on, perhaps with the weights. Takes [`edge_stream_bytes`].
    pub fn new(graph: &Graph, weights: bool) -> Result<Self> {
        let lists = ListStream::new(graph, Direction::Out, 0..u64::MAX)?;
        let entries = graph.manifest().out_lists.entries;
        let count = if weights { graph.manifest().weight_columns() } else { 0 };
        let kind = if count == 1 { graph.weight_kind()? } else { WeightKind::F64 };
        let first = graph.manifest().first_weight_column();
        let file = |column| ImageFile::values(column, false);
        let columns = (first..first + count).map(|column| ColumnStream::new(graph.image(), file(column), entries));
        Ok(EntryPages { lists, columns: columns.collect::<Result<_>>()?, kind, values: Default::default() })
    }

    /// Calls `visit` with the entries of the next page and with the ends of its lists (`None`); how many entries those
    /// were, and nothing behind the last page.
    ///
    /// # Errors
    /// The first error of `visit`; a page that cannot be read or is damaged, lists that end too early; a request to
    /// stop.
    pub fn next(
        &mut self,
        graph: &Graph,
        visit: &mut impl FnMut(u32, Option<Entry>) -> Result<()>,
    ) -> Result<Option<usize>> {
        let EntryPages { lists, columns, kind, values } = self;
        let Some((_, page)) = lists.next()? else { return lists.finish(graph).map(|()| None) };
        let count = page.edges();
        for (column, values) in columns.iter_mut().zip(values.iter_mut()) {
            values.clear();
            column.take_into(count, values)?;
        }
        let real = |column: usize, place: usize| f64::from_bits(values[column][place]);
        let weight = |place: usize| match (columns.len(), *kind) {
            (0, _) => Weight::None,
            (2, _) => Weight::Complex(real(0, place), real(1, place)),
            (_, WeightKind::I64) => Weight::Integer(values[0][place] as i64),
            (_, WeightKind::F64) => Weight::Real(real(0, place)),
        };
        for i in 0..page.count {
            let vertex = page.first_vertex as u32 + i as u32;
            for (place, &neighbour) in (page.ends[i] as usize..).zip(page.list(i)) {
                visit(vertex, Some(Entry { vertex, neighbour, weight: weight(place), place: place as u32 }))?;
            }
            if i + 1 < page.count || !page.ends_later {
                visit(vertex, None)?;
            }
        }
        Ok(Some(count))
    }
}

/// Calls `visit` with every out-list of the graph, entry by entry, and with the end of each list (`None`).
pub(crate) fn for_each_entry(graph: &Graph, mut visit: impl FnMut(u32, Option<Entry>) -> Result<()>) -> Result<()> {
    let mut pages = EntryPages::new(graph, true)?;
    while pages.next(graph, &mut visit)?.is_some() {}
    Ok(())
}

/// Whether an entry stands for its edge: one without direction has an entry at both ends, of which that of the end
/// whose id is smaller, or the same, counts.
pub(crate) fn stands_for_edge(graph: &Graph, lookup: &IdLookup, entry: &Entry) -> bool {
    let Entry { vertex, neighbour, .. } = *entry;
    graph.is_directed()
        || if graph.manifest().order == Order::Input {
            vertex <= neighbour
        } else {
            lookup.id(vertex) <= lookup.id(neighbour)
        }
}

/// Calls `visit` with every edge once.
pub(crate) fn for_each_edge(
    graph: &Graph,
    lookup: &IdLookup,
    mut visit: impl FnMut(Entry) -> Result<()>,
) -> Result<()> {
    for_each_entry(graph, |_, entry| match entry {
        Some(entry) if stands_for_edge(graph, lookup, &entry) => visit(entry),
        _ => Ok(()),
    })
}
