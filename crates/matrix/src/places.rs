//! Row or column of a vertex: its place in the order of the ids.

use outcore_graph::{Bitmap, Graph};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use outcore_table::{IdBatch, IdStream};

const PURPOSE: &str = "rows of vertices";

/// The places of all vertices, or nothing if they are numbered in that order.
///
/// Ids that are adjacent whole numbers say their places themselves: two passes over the column, 4 bytes per vertex and
/// a bit. Others are sorted.
pub(crate) fn places(graph: &Graph) -> Result<Option<Buffer<u32>>> {
    if graph.by_id_bytes() == 0 {
        return Ok(None);
    }
    let budget = graph.runtime().budget();
    let count = graph.vertices() as usize;
    let Some(least) = least_of_adjacent(graph)? else {
        let Some(by_id) = graph.by_id()? else { return Ok(None) };
        let mut places = Buffer::zeroed(budget, PURPOSE, count)?;
        by_id.iter().zip(0..).for_each(|(&vertex, place)| places[vertex as usize] = place);
        return Ok(Some(places));
    };
    graph.make_room(PURPOSE, 4 * count as u64 + Bitmap::bytes(count as u64))?;
    let mut places = Buffer::zeroed(budget, PURPOSE, count)?;
    let seen = Bitmap::new(budget, PURPOSE, count as u64)?;
    let mut twice = None;
    for_each_number(graph, |vertex, id| {
        let place = (id - least) as u32;
        if !seen.insert(place) {
            twice = Some(id);
        }
        places[vertex] = place;
    })?;
    match twice {
        None => Ok(Some(places)),
        Some(id) => Err(Error::damaged(graph.path(), 0, "one vertex with every id", format!("several with {id}"))),
    }
}

/// The least id, if ids are as many whole numbers as lie between the least and the greatest.
fn least_of_adjacent(graph: &Graph) -> Result<Option<i128>> {
    let (mut least, mut greatest) = (i128::MAX, i128::MIN);
    let are_numbers = for_each_number(graph, |_, id| (least, greatest) = (least.min(id), greatest.max(id)))?;
    Ok((are_numbers && greatest.checked_sub(least) == Some(i128::from(graph.vertices()) - 1)).then_some(least))
}

/// Calls `visit` with every vertex and its id, or says that ids are no numbers.
fn for_each_number(graph: &Graph, mut visit: impl FnMut(usize, i128)) -> Result<bool> {
    let mut ids = IdStream::new(graph.image())?;
    while let Some((first, batch)) = ids.next()? {
        graph.runtime().cancel().check()?;
        let vertices = first as usize..;
        match batch {
            IdBatch::Unsigned(ids) => vertices.zip(ids).for_each(|(vertex, &id)| visit(vertex, id.into())),
            IdBatch::Signed(ids) => vertices.zip(ids).for_each(|(vertex, &id)| visit(vertex, id.into())),
            IdBatch::Text { .. } => return Ok(false),
        }
    }
    Ok(true)
}
