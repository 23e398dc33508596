//! A few rows of a table: the first, the greatest without sorting all of them, and that of one vertex.
//!
//! One pass over values and ids in step keeps a heap of the `k` best rows so far: the greatest value first, the smaller
//! id first among equals. Vertices that those few rows name get their ids by further passes, so nothing grows with the
//! image.

use crate::ids::{Id, IdStream, ids_of, parse_id, vertices_of};
use crate::table::{Column, Table, distance_bits, distance_number, id_array};
use arrow_array::{ArrayRef, RecordBatch};
use outcore_format::Order;
use outcore_image::{Error, Image, Result};
use outcore_io::Reservation;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Approximate memory of a row of the answer.
const ROW_BYTES: u64 = 256;

/// Vertices and their ids, those of the greatest values first.
type Greatest = Vec<(u32, Id<String>)>;

impl Table {
    /// The `k` rows with the greatest values of a column, greatest first; the smaller id first among equals.
    ///
    /// Rows without a value (and those with NaN) are left out, so there may be fewer. One pass over the ids, and one
    /// more if the table has columns of vertices.
    ///
    /// # Errors
    /// [`Error::Usage`] for a column that does not exist or has no order; ids that cannot be read; no memory.
    pub fn top(&self, k: usize, column: &str) -> Result<RecordBatch> {
        let (best, _reservation) = self.best(k, self.ranked(column)?)?;
        let rows: Vec<u32> = best.iter().map(|(vertex, _)| *vertex).collect();
        self.some_rows(&rows, id_array(self.image(), best.iter().map(|(_, id)| Some(id.as_ref()))))
    }

    /// The ids of the rows of [`top`](Self::top), and their values of the column as real numbers, to which integers
    /// beyond 2^53 are rounded. One pass over the ids.
    ///
    /// # Errors
    /// [`Error::Usage`] for a column that does not exist or has no order; ids that cannot be read; no memory.
    pub fn greatest(&self, k: usize, column: &str) -> Result<Vec<(Id<String>, f64)>> {
        let ranked = self.ranked(column)?;
        let (best, _reservation) = self.best(k, ranked)?;
        Ok(best.into_iter().filter_map(|(vertex, id)| Some((id, number(ranked, vertex)?))).collect())
    }

    /// The vertices with the greatest values of a column, their ids, and the reservation of their memory.
    fn best(&self, k: usize, ranked: &Column) -> Result<(Greatest, Reservation)> {
        let k = k.min(self.rows() as usize);
        let reservation = self.image().reserve("the greatest rows", k as u64 * ROW_BYTES)?;
        let members = self.members()?;
        let has_row = |vertex| members.as_ref().is_none_or(|members| members.contains(vertex));
        let best = greatest(self.image(), k, |vertex| rank(ranked, vertex).filter(|_| has_row(vertex)))?;
        Ok((best, reservation))
    }

    /// The row of the vertex with this id in text form: a batch of one row. At most one pass over the ids, and one more
    /// per column of vertices.
    ///
    /// # Errors
    /// [`Error::NoId`], [`Error::Usage`] for a vertex without a row; ids that cannot be read; no memory.
    pub fn row(&self, id: &str) -> Result<RecordBatch> {
        let image = self.image();
        let vertex = vertices_of(image, &[id])?[0];
        if self.order().is_some() && !self.vertices().any(|own| own == vertex) {
            return Err(Error::Usage(format!("the vertex `{id}` has no row in this table")));
        }
        let parsed = parse_id(image, id);
        self.some_rows(&[vertex], id_array(image, std::iter::once(parsed)))
    }

    /// A few rows to look at: the greatest by a column, or the first. At most one pass over the ids, and one more per
    /// column of vertices.
    ///
    /// # Errors
    /// [`Error::Usage`] for a column that does not exist or has no order; ids that cannot be read; no memory.
    pub fn preview(&self, rows: usize, ranked: Option<&str>) -> Result<RecordBatch> {
        if let Some(column) = ranked {
            return self.top(rows, column);
        }
        let image = self.image();
        let rows = rows.min(self.rows() as usize);
        let _reservation = image.reserve("the first rows", rows as u64 * ROW_BYTES)?;
        let rows: Vec<u32> = self.vertices().take(rows).collect();
        let ids = ids_of(image, &rows)?;
        self.some_rows(&rows, id_array(image, ids.iter().map(|id| Some(id.as_ref()))))
    }

    /// A few rows, whose ids are known.
    fn some_rows(&self, rows: &[u32], ids: ArrayRef) -> Result<RecordBatch> {
        self.check_vertices()?;
        let columns = self.columns();
        let mut names: Vec<BTreeMap<u32, Id<String>>> = Vec::new();
        for (_, column) in columns {
            names.push(names_of(self.image(), column, rows)?);
        }
        self.batch(ids, rows, |place, row| {
            let vertex = columns[place].1.named(row)?;
            names[place].get(&vertex).map(Id::as_ref)
        })
    }

    pub(crate) fn ranked(&self, name: &str) -> Result<&Column> {
        let column = self.columns().iter().find(|(own, _)| own == name);
        let wrong = |what: String| {
            let ordered = self.columns().iter().filter(|(_, column)| !column.names_vertices());
            let names: Vec<_> = ordered.map(|(own, _)| format!("`{own}`")).collect();
            let known = match names.is_empty() {
                true => "none of its columns can rank this table".to_owned(),
                false => format!("this table can be ranked by {}", names.join(", ")),
            };
            Error::Usage(format!("{what}; {known}"))
        };
        match column {
            None if name == "vertex" => Err(wrong("rows cannot be ranked by ids, as in `vertex`".to_owned())),
            None => Err(wrong(format!("there is no column `{name}`"))),
            Some((_, column)) if column.names_vertices() => {
                Err(wrong(format!("rows cannot be ranked by vertices, as in `{name}`")))
            }
            Some((_, column)) => Ok(column),
        }
    }
}

/// A number with the order of the rows of one column, or `None` for a row without a value.
pub(crate) fn rank(column: &Column, row: u32) -> Option<u64> {
    let row = row as usize;
    match column {
        Column::Real(values) => real_rank(values[row]),
        Column::Number(values) => Some(u64::from(values[row])),
        Column::Count(values) | Column::Unsigned(values) => Some(values[row]),
        Column::Signed(values) => Some(values[row] as u64 ^ 1 << 63),
        Column::Level(values) => values[row].checked_sub(1).map(u64::from),
        // The bits of nonnegative numbers have their order.
        Column::Distance(values, _) => distance_bits(values[row]),
        Column::Vertex(_) | Column::Component(_) | Column::Label(_) => None,
    }
}

/// The number that users see in a row of a column, if there is one.
fn number(column: &Column, row: u32) -> Option<f64> {
    let row = row as usize;
    match column {
        Column::Real(values) => Some(values[row]),
        Column::Number(values) => Some(values[row].into()),
        Column::Count(values) | Column::Unsigned(values) => Some(values[row] as f64),
        Column::Signed(values) => Some(values[row] as f64),
        Column::Level(values) => values[row].checked_sub(1).map(f64::from),
        Column::Distance(values, kind) => distance_number(values[row], *kind),
        Column::Vertex(_) | Column::Component(_) | Column::Label(_) => None,
    }
}

/// A number with the order of real numbers; both zeros are equal.
fn real_rank(value: f64) -> Option<u64> {
    let bits = (value + 0.0).to_bits();
    let negative = bits >> 63 == 1;
    (!value.is_nan()).then_some(if negative { !bits } else { bits | 1 << 63 })
}

/// The vertices with the greatest ranks, and their ids.
fn greatest(image: &Image, k: usize, rank: impl Fn(u32) -> Option<u64>) -> Result<Greatest> {
    // The worst of the best is on top: the smallest rank, the greatest id.
    let mut heap: BinaryHeap<(Reverse<u64>, Id<String>, u32)> = BinaryHeap::new();
    let mut stream = IdStream::new(image)?;
    while let Some((first, ids)) = stream.next()? {
        for (i, vertex) in (0..ids.len()).zip(first as u32..) {
            let Some(rank) = rank(vertex) else { continue };
            if heap.len() == k {
                let Some((Reverse(worst), id, _)) = heap.peek() else { continue };
                if rank < *worst || rank == *worst && ids.get(i) > id.as_ref() {
                    continue;
                }
                heap.pop();
            }
            heap.push((Reverse(rank), ids.get(i).to_owned(), vertex));
        }
    }
    Ok(heap.into_sorted_vec().into_iter().map(|(_, id, vertex)| (vertex, id)).collect())
}

/// The ids of the vertices that some rows name.
fn names_of(image: &Image, column: &Column, rows: &[u32]) -> Result<BTreeMap<u32, Id<String>>> {
    let mut names = BTreeMap::new();
    let mut wanted: Vec<u32> = rows.iter().filter_map(|&row| column.named(row)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(names);
    }
    // A component has the smallest id of its members, which need not be that of its smallest vertex.
    let members = match column {
        Column::Component(values) if image.manifest().order != Order::Input => Some(values),
        _ => None,
    };
    let mut stream = IdStream::new(image)?;
    while let Some((first, ids)) = stream.next()? {
        for (i, vertex) in (0..ids.len()).zip(first as u32..) {
            let named = members.map_or(vertex, |values| values[vertex as usize]);
            if wanted.binary_search(&named).is_err() {
                continue;
            }
            let id = ids.get(i);
            if names.get(&named).is_none_or(|best: &Id<String>| id < best.as_ref()) {
                names.insert(named, id.to_owned());
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_order_as_numbers_do() {
        let rising = [f64::NEG_INFINITY, -1e300, -2.0, -1e-300, 0.0, 1e-300, 1.0, 2.0, f64::INFINITY];
        assert!(rising.windows(2).all(|pair| real_rank(pair[0]) < real_rank(pair[1])));
        assert_eq!(real_rank(-0.0), real_rank(0.0));
        assert_eq!(real_rank(f64::NAN), None);
    }
}
