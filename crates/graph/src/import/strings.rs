//! Strings of attributes on their way to numbers, in bounded memory.
//!
//! A worker numbers the strings that it meets by a dictionary like that of ids (`ids/dictionary.rs`), one for all its
//! columns: the number of the column stands in front of each string. The values in the temporary file are numbers of
//! that dictionary. When it is full it becomes a sorted run, and the worker begins another one; it notes which values
//! are numbers of which. Once the input is read the runs are merged (`ids/runs.rs`): that gives the strings of every
//! column in the order of their bytes, and tells every run the places of its strings, which replace the numbers.
//!
//! ```text
//!   part   two words: where values of one column and one dictionary begin in the temporary file, and their number
//!   value  0 where it is missing, else the number that the dictionary gave its string, plus one; in the end the place
//!          of the string
//! ```
//!
//! *Cost.* Every string of a dictionary is written and read with its text once, and 16 bytes for it; the values of
//! columns of strings are read and written once more.

use super::ids::dictionary::{Dictionary, GROUP_EDGES, Group, Hashed};
use super::ids::runs::{MergePlan, Run, RunReader, RunWriter, merge_all};
use super::job::Job;
use outcore_format::{AttributeKind, MAX_STRING_BYTES};
use outcore_image::{Error, Result};
use outcore_ingest::{AttributeField, Ids};
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::{Buffer, Spill, SpillReader, SpillWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PURPOSE: &str = "strings of attributes";
/// Number of strings that are numbered at a time, and about how many bytes they have.
const GROUP_STRINGS: usize = 2 * GROUP_EDGES;
const GROUP_BYTES: usize = 32 << 10;
/// Memory of a worker beside its dictionary, in bytes: a group, its text, values and parts.
const BESIDE_BYTES: u64 = 256 << 10;
/// The buffer of the parts of a worker.
const PARTS_BYTES: usize = 4 << 10;
/// Number of values that are replaced at a time.
const STEP_WORDS: usize = 1 << 13;

/// A dictionary that became a run, and the values that are its numbers.
pub(super) struct StringChunk {
    run: Run,
    parts: Spill,
    parts_bytes: std::ops::Range<u64>,
}

/// The strings of the rows that one worker takes.
pub(super) struct StringNumbering<'a> {
    job: &'a Job<'a>,
    /// The temporary file of the values.
    values: &'a Spill,
    share_bytes: u64,
    dictionary: Option<Dictionary>,
    runs: Arc<Spill>,
    parts: Spill,
    parts_writer: SpillWriter,
    first_part_bytes: u64,
    group: Group,
    /// The strings of a group, each behind the number of its column, and whether each of its rows has one.
    strings: Ids,
    present: Vec<bool>,
    /// Values that are not written yet, where they go, and how many of the part are written.
    words: Vec<u64>,
    at_bytes: u64,
    part_rows: u64,
    chunks: Vec<StringChunk>,
}

impl<'a> StringNumbering<'a> {
    /// A numbering that may use `share_bytes` of memory, for values in `values`. `name` is the beginning of the names
    /// of its files.
    pub fn new(job: &'a Job<'a>, values: &'a Spill, name: &str, share_bytes: u64) -> Result<Self> {
        let spill =
            |what: &str| Spill::create(job.runtime.backend(), &job.workspace.temporary(&format!("{name}-{what}")));
        let (runs, parts) = (Arc::new(spill("runs")?), spill("parts")?);
        Ok(StringNumbering {
            job,
            values,
            share_bytes: share_bytes.saturating_sub(BESIDE_BYTES),
            dictionary: None,
            runs,
            parts_writer: SpillWriter::new(job.runtime, &parts, 0, PARTS_BYTES)?,
            parts,
            first_part_bytes: 0,
            group: Group::new(),
            strings: Ids::strings(),
            present: Vec::with_capacity(GROUP_STRINGS),
            words: Vec::with_capacity(GROUP_STRINGS),
            at_bytes: 0,
            part_rows: 0,
            chunks: Vec::new(),
        })
    }

    /// Writes the values of some rows of a column at an offset in the temporary file: rows have no string where they
    /// are marked in `missing`, which may be empty.
    pub fn take(
        &mut self,
        column: usize,
        (bytes, ends): (&[u8], &[u32]),
        missing: &[bool],
        rows: impl Iterator<Item = usize>,
        offset_bytes: u64,
    ) -> Result<()> {
        self.at_bytes = offset_bytes;
        for row in rows {
            let start = row.checked_sub(1).map_or(0, |before| ends[before]) as usize;
            let is_present = missing.get(row) != Some(&true);
            self.present.push(is_present);
            if let Ids::Text { bytes: group, ends: group_ends } = &mut self.strings
                && is_present
            {
                group.push(column as u8);
                group.extend_from_slice(&bytes[start..ends[row] as usize]);
                group_ends.push(group.len() as u32);
                if group.len() < GROUP_BYTES && self.present.len() < GROUP_STRINGS {
                    continue;
                }
            } else if self.present.len() < GROUP_STRINGS {
                continue;
            }
            self.number_group()?;
        }
        self.number_group()?;
        self.end_part()
    }

    /// Numbers the strings of the group and empties it.
    fn number_group(&mut self) -> Result<()> {
        let (mut string, mut row) = (0, 0);
        while string < self.strings.len() {
            let numbered = self.map(string)?;
            for &local in &self.group.locals[..numbered] {
                while !self.present[row] {
                    self.words.push(0);
                    row += 1;
                }
                self.words.push(u64::from(local) + 1);
                row += 1;
            }
            string += numbered;
        }
        self.words.resize(self.words.len() + self.present.len() - row, 0);
        self.present.clear();
        self.strings.clear();
        self.write_words()
    }

    /// Numbers strings of the group from one on, at least one; returns of how many. A full dictionary ends before.
    fn map(&mut self, from: usize) -> Result<usize> {
        let mut count = self.strings.len() - from;
        loop {
            if self.dictionary.is_none() {
                let table = Hashed::new(self.job.runtime.budget(), true, self.share_bytes)?;
                self.dictionary = Some(Dictionary::Hashed(table));
            }
            let Some(dictionary) = &mut self.dictionary else { continue };
            let numbered = dictionary.map(&self.strings, from, count, &mut self.group)?;
            if numbered > 0 {
                return Ok(numbered);
            }
            if !dictionary.is_empty() {
                self.end_chunk()?;
            } else if count > 1 {
                count = 1;
            } else {
                let budget = self.job.runtime.budget();
                let limit_bytes = budget.limit_bytes();
                return Err(budget.refusal("the longest string of an attribute", 2 * limit_bytes, limit_bytes));
            }
        }
    }

    fn write_words(&mut self) -> Result<()> {
        self.values.write(raw_bytes(&self.words), self.at_bytes)?;
        self.at_bytes += 8 * self.words.len() as u64;
        self.part_rows += self.words.len() as u64;
        self.words.clear();
        Ok(())
    }

    /// Notes the values so far as numbers of the dictionary.
    fn end_part(&mut self) -> Result<()> {
        self.write_words()?;
        if self.part_rows > 0 {
            self.parts_writer.word(self.at_bytes - 8 * self.part_rows)?;
            self.parts_writer.word(self.part_rows)?;
            self.part_rows = 0;
        }
        Ok(())
    }

    /// Writes the dictionary as a run.
    fn end_chunk(&mut self) -> Result<()> {
        self.end_part()?;
        let parts_bytes = self.first_part_bytes..self.parts_writer.position_bytes();
        self.first_part_bytes = parts_bytes.end;
        if let Some(dictionary) = self.dictionary.take() {
            let writer = RunWriter::new(self.job.runtime, &self.runs, self.job.plan.run_buffer_bytes)?;
            let run = dictionary.finish(writer)?;
            self.chunks.push(StringChunk { run, parts: self.parts.clone(), parts_bytes });
        }
        Ok(())
    }

    /// The dictionaries of all strings that were taken.
    pub fn finish(mut self) -> Result<Vec<StringChunk>> {
        self.end_chunk()?;
        self.parts_writer.finish()?;
        Ok(self.chunks)
    }

    /// Number of dictionaries that are complete.
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }
}

/// The number of strings of a column, and the bytes that they take together.
#[derive(Clone, Copy, Default)]
pub(super) struct StringCount {
    pub count: u64,
    pub text_bytes: u64,
}

/// The different strings of all columns, in the order of columns and of their bytes.
pub(super) struct SortedStrings {
    run: Run,
    /// The strings of each column.
    pub counts: Vec<StringCount>,
}

impl SortedStrings {
    /// Sorts the strings of all dictionaries, and replaces numbers of them in `values` by the places of the strings in
    /// their columns.
    pub fn new(job: &Job<'_>, fields: &[AttributeField], values: &Spill, chunks: Vec<StringChunk>) -> Result<Self> {
        let plan = MergePlan {
            runs: Arc::new(job.spill("strings")?),
            positions: job.spill("string-positions")?,
            memory_bytes: job.plan.memory_bytes,
            signed: false,
            // Strings are counted by column.
            most: u64::MAX,
        };
        let mut counts = vec![StringCount::default(); fields.len()];
        let runs = chunks.iter().map(|chunk| chunk.run.clone());
        let mut sorted = merge_all::<Vec<u8>>(job.runtime, runs, plan, |string, _, _| {
            let (column, len) = (usize::from(string[0]), string.len() as u64 - 1);
            let all = &mut counts[column];
            (all.count, all.text_bytes) = (all.count + 1, all.text_bytes + len);
            match all.text_bytes > MAX_STRING_BYTES || all.count >= u64::from(u32::MAX) {
                true => Err(too_many(&fields[column].name, *all)),
                false => Ok(()),
            }
        })?;
        let longest_bytes = chunks.iter().map(|chunk| chunk.run.longest_id_bytes).max().unwrap_or(0);
        let reserve = |readers: usize| job.runtime.budget().reserve(PURPOSE, 2 * longest_bytes * readers as u64);
        let reading = reserve(1)?;
        let mut columns = counts.iter().map(|all| all.count);
        let (mut place, mut left) = (0, 0);
        let numbers = sorted.number::<Vec<u8>>(job.runtime, job.spill("string-places")?, |_, _| {
            while left == 0 {
                (place, left) = (0, columns.next().unwrap_or(u64::MAX));
            }
            (place, left) = (place + 1, left - 1);
            Ok(place - 1)
        })?;
        drop(reading);
        let workers = job.plan.workers.min(chunks.len()).max(1);
        let _reading = reserve(workers)?;
        let next = AtomicUsize::new(0);
        job.runtime.run_on(workers, |_| {
            let mut words: Buffer<u64> = Buffer::zeroed(job.runtime.budget(), PURPOSE, STEP_WORDS)?;
            while let Some((index, chunk)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                chunks.get(index).map(|chunk| (index, chunk))
            } {
                let count = chunk.run.records as usize;
                let mut places: Buffer<u32> = Buffer::zeroed(job.runtime.budget(), PURPOSE, count)?;
                numbers.for_each_local(job.runtime, &chunk.run, index, true, |local, _, place| {
                    places[local as usize] = place;
                })?;
                chunk.replace(job, values, &places, &mut words)?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(SortedStrings { run: sorted.into_run(), counts })
    }

    /// Hands out the strings of all columns, with the column of each.
    pub fn reader(&self, job: &Job<'_>) -> Result<StringReader<'_>> {
        let reader = RunReader::new(job.runtime, &self.run, false, job.plan.run_buffer_bytes)?;
        // A string in the reader, and in a page that is being written: buffers grow to twice what is in them.
        let memory = job.runtime.budget().reserve(PURPOSE, 4 * self.run.longest_id_bytes)?;
        let mut strings = StringReader { reader, has_more: true, _memory: memory };
        strings.has_more = strings.reader.advance()?;
        Ok(strings)
    }
}

/// The strings of one column after the other.
pub(super) struct StringReader<'a> {
    reader: RunReader<'a, Vec<u8>>,
    has_more: bool,
    _memory: outcore_io::Reservation,
}

impl StringReader<'_> {
    /// Visits the strings of a column; those of the columns before were visited.
    pub fn each_of(&mut self, column: usize, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        while self.has_more && usize::from(self.reader.id[0]) == column {
            visit(&self.reader.id[1..])?;
            self.has_more = self.reader.advance()?;
        }
        Ok(())
    }
}

impl StringChunk {
    /// Replaces numbers of the dictionary by the places of their strings.
    fn replace(&self, job: &Job<'_>, values: &Spill, places: &[u32], words: &mut [u64]) -> Result<()> {
        let mut parts = SpillReader::new(&self.parts, job.runtime.budget(), PARTS_BYTES)?;
        parts.seek(self.parts_bytes.start, self.parts_bytes.end);
        while !parts.is_at_end() {
            let (mut at_bytes, mut rows) = (parts.word()?, parts.word()?);
            job.runtime.cancel().check()?;
            while rows > 0 {
                let some = &mut words[..rows.min(STEP_WORDS as u64) as usize];
                values.read(raw_bytes_mut(some), at_bytes)?;
                for word in some.iter_mut().filter(|word| **word != 0) {
                    *word = u64::from(places[*word as usize - 1]);
                }
                values.write(raw_bytes(some), at_bytes)?;
                at_bytes += 8 * some.len() as u64;
                rows -= some.len() as u64;
            }
        }
        Ok(())
    }
}

/// Whether some of these attributes are strings.
pub(super) fn has_strings(fields: &[AttributeField]) -> bool {
    fields.iter().any(|field| field.kind == AttributeKind::String)
}

fn too_many(name: &str, found: StringCount) -> Error {
    Error::Unsuitable(format!(
        "expected at most {} strings of at most {MAX_STRING_BYTES} bytes together in the attribute `{name}`, found at \
         least {} of {} bytes; leave it out",
        u32::MAX - 1,
        found.count,
        found.text_bytes
    ))
}
