//! Edges in order: every edge of a graph once, with its weight, by the lists in the order of their vertices.

use crate::graph::{Direction, Graph};
use crate::ordered::ListStream;
use crate::weights::Weight;
use outcore_format::{Order, WeightKind};
use outcore_image::{ColumnStream, ImageFile, Result, STREAM_BYTES};
use outcore_table::IdLookup;

/// The memory that streaming edges takes, at most.
pub(crate) fn edge_stream_bytes(graph: &Graph) -> u64 {
    let columns = graph.manifest().weight_columns().max(1) as u64;
    (1 + columns) * STREAM_BYTES + crate::decode::DECODER_BYTES + (1 << 20)
}

/// An entry of a list: an edge, as one of its ends sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Whose list it is.
    pub vertex: u32,
    /// The other end.
    pub neighbour: u32,
    /// The edge's weight.
    pub weight: Weight,
}

/// Calls `visit` with every out-list of the graph, entry by entry, and with the end of each list (`None`).
///
/// # Errors
/// The first error of `visit`; a page that cannot be read or is damaged; a request to stop.
pub(crate) fn for_each_entry(graph: &Graph, mut visit: impl FnMut(u32, Option<Entry>) -> Result<()>) -> Result<()> {
    let mut lists = ListStream::new(graph, Direction::Out, 0..u64::MAX)?;
    let entries = graph.manifest().out_lists.entries;
    let count = graph.manifest().weight_columns();
    let kind = if count == 1 { graph.weight_kind()? } else { WeightKind::F64 };
    let columns = (0..count).map(|column| ColumnStream::new(graph, ImageFile::values(column, false), entries));
    let mut columns = columns.collect::<Result<Vec<_>>>()?;
    let mut values = [const { Vec::new() }; 2];
    while let Some((_, page)) = lists.next()? {
        for (column, values) in columns.iter_mut().zip(&mut values) {
            values.clear();
            column.take_into(page.edges(), values)?;
        }
        let real = |column: usize, place: usize| f64::from_bits(values[column][place]);
        let weight = |place: usize| match (count, kind) {
            (0, _) => Weight::None,
            (2, _) => Weight::Complex(real(0, place), real(1, place)),
            (_, WeightKind::I64) => Weight::Integer(values[0][place] as i64),
            (_, WeightKind::F64) => Weight::Real(real(0, place)),
        };
        for i in 0..page.count {
            let vertex = page.first_vertex as u32 + i as u32;
            for (place, &neighbour) in (page.ends[i] as usize..).zip(page.list(i)) {
                visit(vertex, Some(Entry { vertex, neighbour, weight: weight(place) }))?;
            }
            if i + 1 < page.count || !page.continued {
                visit(vertex, None)?;
            }
        }
    }
    lists.finish(graph)
}

/// Calls `visit` with every edge once: those without direction from the end whose id is smaller, or the same.
///
/// # Errors
/// As for [`for_each_entry`].
pub(crate) fn for_each_edge(
    graph: &Graph,
    lookup: &IdLookup,
    mut visit: impl FnMut(Entry) -> Result<()>,
) -> Result<()> {
    let sorted = graph.manifest().order == Order::Input;
    for_each_entry(graph, |vertex, entry| {
        let Some(entry) = entry else { return Ok(()) };
        let rises = graph.is_directed()
            || if sorted { vertex <= entry.neighbour } else { lookup.id(vertex) <= lookup.id(entry.neighbour) };
        if rises { visit(entry) } else { Ok(()) }
    })
}
