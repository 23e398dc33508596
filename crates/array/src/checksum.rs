//! The checksum of an array in a file: rows are read in any order, by any worker, and once all of them were read the
//! checksums of their parts become that of the whole (the CRC-32 of archives allows that).

use crc32fast::Hasher;
use outcore_io::lock;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Largest number of parts that wait for earlier ones. A pass with more does not read all rows in order; further parts
/// are ignored.
const MOST_WAITING: usize = 4096;

/// The expected checksum of the bytes of an array, and the computed one of those that were read.
pub struct Checksum {
    expected: u32,
    rows: u64,
    state: Mutex<Progress>,
}

enum Progress {
    Unknown {
        /// Number of the first rows that `so_far` covers.
        first_rows: u64,
        so_far: Hasher,
        /// Parts behind these, by their first row: where they end.
        waiting: BTreeMap<u64, (u64, Hasher)>,
    },
    Known(u32),
}

impl Checksum {
    /// The expected checksum of a head, of which the CRC-32 and the length are given, and of `rows` rows behind it.
    pub fn new(head: (u32, u64), expected: u32, rows: u64) -> Self {
        let so_far = Hasher::new_with_initial_len(head.0, head.1);
        let state = Mutex::new(Progress::Unknown { first_rows: 0, so_far, waiting: BTreeMap::new() });
        Checksum { expected, rows, state }
    }

    /// Adds the checksum of rows that were read. Once all rows are covered, a mismatch returns the expected and the
    /// computed checksum.
    pub fn add(&self, rows: &Range<u64>, bytes: &[u8]) -> Result<(), (u32, u32)> {
        if let Progress::Unknown { first_rows, waiting, .. } = &*lock(&self.state)
            && (rows.start < *first_rows || waiting.len() >= MOST_WAITING || waiting.contains_key(&rows.start))
        {
            return Ok(());
        }
        if let Progress::Known(computed) = *lock(&self.state) {
            return self.compare(computed);
        }
        let mut part = Hasher::new();
        part.update(bytes);
        let mut state = lock(&self.state);
        let Progress::Unknown { first_rows, so_far, waiting } = &mut *state else { return Ok(()) };
        waiting.insert(rows.start, (rows.end, part));
        while let Some((end, part)) = waiting.remove(first_rows) {
            so_far.combine(&part);
            *first_rows = end;
        }
        if *first_rows < self.rows {
            return Ok(());
        }
        let computed = so_far.clone().finalize();
        *state = Progress::Known(computed);
        self.compare(computed)
    }

    fn compare(&self, computed: u32) -> Result<(), (u32, u32)> {
        if computed == self.expected { Ok(()) } else { Err((self.expected, computed)) }
    }
}
