//! The order of vertices: degree classes, numbers, and the cuts between buckets.
//!
//! The *class* of a vertex is its degree, in and out together, as far as that matters: exact below 16, and four classes
//! per octave from there on (16-19, 20-23, 24-27, 28-31, 32-39, ...). In the order by degree vertices stand by falling
//! class, and by their ids within a class; so their numbers follow from the number of vertices in each class, without
//! sorting.
//!
//! Where vertices are the rows and columns of a rectangular matrix, rows come before columns in every order: a *slot*
//! is a class of either.
//!
//! A *bucket* is a range of vertices that own about half a million list entries. Every bucket begins a new page in each
//! file, so that workers can write buckets apart. Where buckets end depends on degrees alone: not on the number of
//! workers, nor on the memory.

pub(super) use crate::engine::degree_class::degree_class as class;

/// Number of list entries of a full bucket, duplicates included.
const BUCKET_ENTRIES: u64 = 1 << 19;
/// A bucket has fewer vertices than fit into this many bits, and a partition no more (`partition.rs`): a record names a
/// vertex by its distance from the partition's first one.
pub(super) const VERTEX_BITS: u32 = 24;

/// Slots: classes of columns, or of all vertices, and above them those of rows.
pub(super) const SLOTS: usize = 512;

/// The slot of the vertex with index `by_id` in the order of ids; rows of a matrix have slots of their own.
#[inline]
pub(super) fn slot(degree: u64, by_id: u64, rows: u64) -> usize {
    class(degree) as usize + if by_id < rows { SLOTS / 2 } else { 0 }
}

/// Numbers of vertices and list entries of each slot.
#[derive(Clone)]
pub(super) struct Classes {
    vertices: [u64; SLOTS],
    entries: [u64; SLOTS],
    /// Number of counted vertices, and of those at their beginning that are rows.
    count: u64,
    rows: u64,
}

impl Classes {
    pub(super) fn new(rows: u64) -> Self {
        Classes { vertices: [0; SLOTS], entries: [0; SLOTS], count: 0, rows }
    }

    /// Counts a vertex of that degree; they come in the order of their ids.
    pub(super) fn add(&mut self, degree: u64) {
        let slot = slot(degree, self.count, self.rows);
        self.vertices[slot] += 1;
        self.entries[slot] += degree;
        self.count += 1;
    }

    /// Numbers for vertices that come in the order of their ids.
    pub(super) fn numbering(&self) -> Numbering {
        let mut next = [0; SLOTS];
        let mut start = 0;
        for slot in (0..SLOTS).rev() {
            next[slot] = start;
            start += self.vertices[slot];
        }
        Numbering { next, by_id: 0, rows: self.rows }
    }

    /// The greatest class that has vertices, where there are no rows.
    pub(super) fn greatest(&self) -> Option<u8> {
        (0..=255).rev().find(|&class| self.vertices[class as usize] > 0)
    }

    /// Where slots begin in the order by degree: slot and first number, with falling slots, those without vertices left
    /// out.
    pub(super) fn starts(&self) -> Vec<(usize, u64)> {
        let numbering = self.numbering();
        let filled = (0..SLOTS).rev().filter(|&slot| self.vertices[slot] > 0);
        filled.map(|slot| (slot, numbering.next[slot])).collect()
    }

    /// Pieces of classes with about a bucket of entries each, in the order by degree.
    pub(super) fn pieces(&self) -> Pieces {
        let mut ends = Vec::new();
        let mut first_piece = [0; SLOTS];
        let mut end = 0;
        for slot in (0..SLOTS).rev() {
            first_piece[slot] = ends.len();
            let vertices = self.vertices[slot];
            let most = 1 << (VERTEX_BITS - 1);
            let parts = self.entries[slot].div_ceil(BUCKET_ENTRIES).max(vertices.div_ceil(most)).min(vertices);
            for part in 1..=parts {
                ends.push(end + (u128::from(vertices) * u128::from(part) / u128::from(parts)) as u64);
            }
            end += vertices;
        }
        let count = ends.len();
        Pieces { numbering: self.numbering(), ends, current: first_piece, out: vec![0; count], into: vec![0; count] }
    }
}

pub(super) struct Numbering {
    next: [u64; SLOTS],
    by_id: u64,
    rows: u64,
}

impl Numbering {
    /// The next vertex's number by degree and its number by id.
    #[inline]
    pub(super) fn next(&mut self, degree: u64) -> (u32, u32) {
        let by_degree = &mut self.next[slot(degree, self.by_id, self.rows)];
        let numbers = (*by_degree as u32, self.by_id as u32);
        *by_degree += 1;
        self.by_id += 1;
        numbers
    }
}

/// Entries of ranges of vertices in the order by degree, counted while vertices come in the order of their ids.
pub(super) struct Pieces {
    numbering: Numbering,
    ends: Vec<u64>,
    /// For each slot, the piece that its next vertex is in.
    current: [usize; SLOTS],
    out: Vec<u64>,
    into: Vec<u64>,
}

impl Pieces {
    pub(super) fn add(&mut self, sources: u64, targets: u64) {
        let degree = sources + targets;
        let (number, by_id) = self.numbering.next(degree);
        let piece = &mut self.current[slot(degree, by_id.into(), self.numbering.rows)];
        while u64::from(number) >= self.ends[*piece] {
            *piece += 1;
        }
        self.out[*piece] += sources;
        self.into[*piece] += targets;
    }

    /// The pieces in order: vertices, entries of out-lists, entries of in-lists.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let sizes = self.ends.iter().zip(starts).map(|(end, start)| end - start);
        sizes.zip(&self.out).zip(&self.into).map(|((vertices, &out), &into)| (vertices, out, into))
    }
}

/// A range of vertices whose lists are written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    /// The vertex after the last one.
    pub end_vertex: u64,
    /// Largest number of list entries.
    pub entries: u64,
}

#[derive(Default)]
pub(super) struct Cutter {
    buckets: Vec<Bucket>,
    end_vertex: u64,
    vertices: u64,
    entries: u64,
}

impl Cutter {
    /// Appends adjacent vertices that own `entries` entries together.
    pub(super) fn add(&mut self, vertices: u64, entries: u64) {
        let full = self.entries + entries > BUCKET_ENTRIES || self.vertices + vertices >= 1 << VERTEX_BITS;
        if full && self.vertices > 0 {
            self.close();
        }
        self.end_vertex += vertices;
        self.vertices += vertices;
        self.entries += entries;
    }

    fn close(&mut self) {
        self.buckets.push(Bucket { end_vertex: self.end_vertex, entries: self.entries });
        self.vertices = 0;
        self.entries = 0;
    }

    pub(super) fn finish(mut self) -> Vec<Bucket> {
        if self.vertices > 0 {
            self.close();
        }
        self.buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_degree_are_a_permutation_by_falling_class_and_pieces_count_them() {
        let degrees: Vec<u64> =
            (0..5000u64).map(|i| i * i % 71 * (i % 3) * if i == 77 { 900_000 } else { 1 }).collect();
        for rows in [0, 1700] {
            numbers_fit(&degrees, rows);
        }
    }

    fn numbers_fit(degrees: &[u64], rows: u64) {
        let mut classes = Classes::new(rows);
        degrees.iter().for_each(|&degree| classes.add(degree));
        let mut numbering = classes.numbering();
        let mut order = vec![None; degrees.len()];
        let mut pieces = classes.pieces();
        for (i, &degree) in degrees.iter().enumerate() {
            let (by_degree, by_id) = numbering.next(degree);
            assert_eq!(by_id as usize, i);
            assert_eq!(order[by_degree as usize].replace(i), None);
            pieces.add(degree / 3, degree - degree / 3);
        }
        let order: Vec<usize> = order.into_iter().map(Option::unwrap).collect();
        for pair in order.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|i| slot(degrees[i], i as u64, rows));
            assert!(one > other || one == other && pair[0] < pair[1]);
        }
        assert!(order[..rows as usize].iter().all(|&i| (i as u64) < rows));
        let mut start = 0;
        for (vertices, out, into) in pieces.iter() {
            let end = start + vertices as usize;
            let sum: u64 = order[start..end].iter().map(|&i| degrees[i]).sum();
            assert_eq!(out + into, sum);
            start = end;
        }
        assert_eq!(start, degrees.len());
    }

    #[test]
    fn buckets_are_bounded_unless_one_vertex_is_larger() {
        let mut cutter = Cutter::default();
        for (vertices, entries) in [(3, 10), (1, BUCKET_ENTRIES + 1), (1, 1), (1 << 23, 0), (1 << 23, 0)] {
            cutter.add(vertices, entries);
        }
        let ends: Vec<u64> = cutter.finish().iter().map(|bucket| bucket.end_vertex).collect();
        assert_eq!(ends, [3, 4, 5 + (1 << 23), 5 + (1 << 24)]);
    }
}
