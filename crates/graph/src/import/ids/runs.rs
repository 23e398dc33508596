//! Runs: the sorted ids of dictionaries, their merge into all vertices, and the way back.
//!
//! Every dictionary ends as a *run*: its ids in rising order with their counts. Merging all runs gives the vertices in
//! the order of their ids. While runs are merged, each notes where its records went (*positions*); once the vertices
//! have their final numbers, these go back the same way (*numbers*), so that every record of every run learns its
//! number by sequential reading and writing alone. More runs than the memory has buffers for are merged in several
//! levels.
//!
//! ```text
//!   run       id (less the one before it), count as source, count as target, local (if stored), ... in LEB128;
//!             strings: length and bytes instead of a difference
//!   position  one word per record: the record's place in the merged run
//!   number    one word per record: number by degree << 32 | number by id, or in the order near
//! ```
//!
//! Integers are sorted as unsigned; a run notes where those with the highest bit begin, so that it can be read as
//! signed. Cost: for every record about 6 + 16 bytes written once per level, and as much read.

use super::heap::Heap;
use outcore_format::MAX_VERTICES;
use outcore_image::{Error, Result};
use outcore_io::{Runtime, Spill, SpillReader, SpillWriter, SpillWriters};
use std::sync::Arc;

/// Integers with this bit are negative, if any are.
const SIGN: u64 = 1 << 63;

/// The relation of the locals of a chunk to the records of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locals {
    /// The local is the id's distance from a base.
    Direct { base: u64, count: u64 },
    /// The local stands in the record.
    Stored { count: u64 },
    /// There are none: nothing refers to the run's records by local.
    None,
}

/// A sorted sequence of ids with their counts, in a temporary file.
#[derive(Clone)]
pub struct Run {
    spill: Arc<Spill>,
    start_bytes: u64,
    /// Start of the integers with the highest bit.
    split_bytes: u64,
    end_bytes: u64,
    pub records: u64,
    pub locals: Locals,
    /// Ids are as they sort: integers that are signed have their highest bit flipped.
    ordered: bool,
    /// The longest string; 0 where ids are integers.
    pub longest_id_bytes: u64,
}

pub struct RunWriter<'a> {
    spill: &'a Arc<Spill>,
    writer: SpillWriter,
    start_bytes: u64,
    split_bytes: Option<u64>,
    before: u64,
    records: u64,
    ordered: bool,
    longest_id_bytes: u64,
}

impl<'a> RunWriter<'a> {
    /// A run at the end of `spill`, to which no other writer appends.
    pub fn new(runtime: &Runtime, spill: &'a Arc<Spill>, buffer_bytes: usize) -> Result<Self> {
        let start_bytes = spill.len_bytes();
        let writer = SpillWriter::new(runtime, spill, start_bytes, buffer_bytes)?;
        Ok(RunWriter {
            spill,
            writer,
            start_bytes,
            split_bytes: None,
            before: 0,
            records: 0,
            ordered: false,
            longest_id_bytes: 0,
        })
    }

    /// Appends an integer that is greater than the one before, and how many edges have it as source and as target.
    #[inline]
    pub fn integer(&mut self, id: u64, sources: u64, targets: u64) -> Result<()> {
        if id >= SIGN && self.split_bytes.is_none() && !self.ordered {
            self.split_bytes = Some(self.writer.position_bytes());
            self.before = 0;
        }
        self.writer.number(id.wrapping_sub(self.before))?;
        self.before = id;
        self.counts(sources, targets)
    }

    /// Appends a string that is greater than the one before, and its counts.
    pub fn string(&mut self, id: &[u8], sources: u64, targets: u64) -> Result<()> {
        self.longest_id_bytes = self.longest_id_bytes.max(id.len() as u64);
        self.writer.number(id.len() as u64)?;
        self.writer.bytes(id)?;
        self.counts(sources, targets)
    }

    #[inline]
    fn counts(&mut self, sources: u64, targets: u64) -> Result<()> {
        self.records += 1;
        self.writer.number(sources)?;
        self.writer.number(targets)
    }

    /// Appends the local of the record before.
    pub fn local(&mut self, local: u64) -> Result<()> {
        self.writer.number(local)
    }

    pub fn finish(self, locals: Locals) -> Result<Run> {
        let end_bytes = self.writer.finish()?;
        Ok(Run {
            spill: Arc::clone(self.spill),
            start_bytes: self.start_bytes,
            split_bytes: self.split_bytes.unwrap_or(end_bytes),
            end_bytes,
            records: self.records,
            locals,
            ordered: self.ordered,
            longest_id_bytes: self.longest_id_bytes,
        })
    }
}

/// An id in a run.
pub trait RunId: Ord + Clone + Default + Send {
    /// The state before the first id of a part of a run.
    fn begin(&mut self, mask: u64);
    /// Reads the id after this one.
    fn read(&mut self, reader: &mut SpillReader<'_>, mask: u64) -> Result<()>;
    /// Writes the id as it sorts.
    fn write(&self, writer: &mut RunWriter<'_>, sources: u64, targets: u64) -> Result<()>;
    /// The id as an integer that sorts as it does, if it is one.
    fn number(&self) -> Option<u64>;
    /// Mixes the id into a fingerprint.
    fn fingerprint(&self, before: u64) -> u64;
    /// The id as the user writes it.
    fn text(&self, signed: bool) -> String;
}

impl RunId for u64 {
    fn begin(&mut self, mask: u64) {
        *self = mask;
    }

    #[inline]
    fn read(&mut self, reader: &mut SpillReader<'_>, mask: u64) -> Result<()> {
        *self = (*self ^ mask).wrapping_add(reader.number()?) ^ mask;
        Ok(())
    }

    #[inline]
    fn write(&self, writer: &mut RunWriter<'_>, sources: u64, targets: u64) -> Result<()> {
        writer.integer(*self, sources, targets)
    }

    #[inline]
    fn number(&self) -> Option<u64> {
        Some(*self)
    }

    fn fingerprint(&self, before: u64) -> u64 {
        (before.rotate_left(5) ^ self).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn text(&self, signed: bool) -> String {
        if signed { ((self ^ SIGN) as i64).to_string() } else { self.to_string() }
    }
}

impl RunId for Vec<u8> {
    fn begin(&mut self, _: u64) {}

    fn read(&mut self, reader: &mut SpillReader<'_>, _: u64) -> Result<()> {
        self.clear();
        let len = reader.number()?;
        reader.bytes(len as usize, self)
    }

    fn write(&self, writer: &mut RunWriter<'_>, sources: u64, targets: u64) -> Result<()> {
        writer.string(self, sources, targets)
    }

    fn number(&self) -> Option<u64> {
        None
    }

    fn fingerprint(&self, before: u64) -> u64 {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.iter().fold(before.rotate_left(5) ^ self.len() as u64, step)
    }

    fn text(&self, _: bool) -> String {
        format!("`{}`", String::from_utf8_lossy(self))
    }
}

/// Reads a run in the order in which its ids sort.
pub struct RunReader<'a, K> {
    reader: SpillReader<'a>,
    later: Option<(u64, u64)>,
    mask: u64,
    locals: Locals,
    /// The id as it sorts.
    pub id: K,
    pub sources: u64,
    pub targets: u64,
    /// Its local, where locals are stored.
    local: u64,
}

impl<'a, K: RunId> RunReader<'a, K> {
    /// A reader of a run; `signed` says whether its integers may be below zero.
    pub fn new(runtime: &Runtime, run: &'a Run, signed: bool, buffer_bytes: usize) -> Result<Self> {
        let mut reader = SpillReader::new(&run.spill, runtime.budget(), buffer_bytes)?;
        let flipped = signed && !run.ordered;
        let (low, high) = ((run.start_bytes, run.split_bytes), (run.split_bytes, run.end_bytes));
        let (first, later) = if flipped { (high, low) } else { (low, high) };
        reader.seek(first.0, first.1);
        let mask = if flipped { SIGN } else { 0 };
        let mut id = K::default();
        id.begin(mask);
        Ok(RunReader { reader, later: Some(later), mask, locals: run.locals, id, sources: 0, targets: 0, local: 0 })
    }

    /// Goes on to the next record; false if there is none.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        while self.reader.is_at_end() {
            let Some((start, end)) = self.later.take() else { return Ok(false) };
            self.reader.seek(start, end);
            self.id.begin(self.mask);
        }
        self.id.read(&mut self.reader, self.mask)?;
        self.sources = self.reader.number()?;
        self.targets = self.reader.number()?;
        if let Locals::Stored { .. } = self.locals {
            self.local = self.reader.number()?;
        }
        Ok(true)
    }

    /// The record's local.
    #[inline]
    fn local(&self) -> u64 {
        match (self.locals, self.id.number()) {
            (Locals::Direct { base, .. }, Some(id)) => (id ^ self.mask).wrapping_sub(base),
            _ => self.local,
        }
    }
}

/// A run and the runs it was merged from.
struct Node {
    run: Run,
    children: Vec<Node>,
    /// Index among the runs given to `merge_all`, if it was not merged.
    leaf: Option<usize>,
    /// Start in their files of its positions in the parent, and later of its numbers.
    positions_bytes: u64,
    numbers_bytes: u64,
}

/// All vertices in the order of their ids, and how the runs they came from learn their numbers.
pub struct Vertices {
    root: Node,
    positions: Spill,
    /// Integers may be below zero.
    pub signed: bool,
    buffer_bytes: usize,
}

/// The numbers of the records of all runs.
pub struct Numbers {
    spill: Spill,
    /// Start of the numbers of each run.
    starts_bytes: Vec<u64>,
    signed: bool,
}

/// Resources of merging: files, and memory for one buffer per run.
pub struct MergePlan {
    pub runs: Arc<Spill>,
    /// The file of the places of records in merged runs.
    pub positions: Spill,
    pub memory_bytes: u64,
    /// Integers may be below zero.
    pub signed: bool,
    /// Most vertices that there may be.
    pub most: u64,
}

/// The least and the most memory for one buffer.
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = PAGE_BYTES..=256 << 10;
const PAGE_BYTES: u64 = 4 << 10;
/// Buffers beside two for each run that is merged: those of the merged run.
const MORE_BUFFERS: u64 = 2;

/// Merges runs; `visit` sees every vertex with its counts.
pub fn merge_all<K: RunId>(
    runtime: &Runtime,
    runs: impl IntoIterator<Item = Run>,
    plan: MergePlan,
    mut visit: impl FnMut(&K, u64, u64) -> Result<()>,
) -> Result<Vertices> {
    let leaf = |(i, run)| Node { run, children: Vec::new(), leaf: Some(i), positions_bytes: 0, numbers_bytes: 0 };
    let mut nodes: Vec<Node> = runs.into_iter().enumerate().map(leaf).collect();
    // Every run that is merged has a buffer for reading it and one for positions, then numbers, and its next id in
    // memory, which has grown to at most twice its length.
    let (least_bytes, more) = (*BUFFER_BYTES.start(), MORE_BUFFERS);
    let id_bytes = 2 * nodes.iter().map(|node| node.run.longest_id_bytes).max().unwrap_or(0);
    let most = plan.memory_bytes.saturating_sub(more * least_bytes + 2 * id_bytes) / (2 * least_bytes + id_bytes);
    let width = most.clamp(2, 1024) as usize;
    let merged = nodes.len().min(width) as u64;
    let _ids = runtime.budget().reserve("merging ids", (merged + 1) * id_bytes)?;
    let buffers_bytes = plan.memory_bytes.saturating_sub((merged + 1) * id_bytes);
    let buffer_bytes = (buffers_bytes / (2 * merged + more)).clamp(least_bytes, *BUFFER_BYTES.end());
    // Whole pages: a page that a buffer uses a little of is held as well, and there may be two thousand buffers.
    let buffer_bytes = (buffer_bytes - buffer_bytes % PAGE_BYTES) as usize;
    let positions = plan.positions;
    let MergePlan { ref runs, signed, most, .. } = plan;
    let merge = Merge { runtime, runs, positions: &positions, signed, most, buffer_bytes };
    while nodes.len() > width {
        let mut merged = Vec::new();
        let mut rest = nodes.into_iter().peekable();
        while rest.peek().is_some() {
            let children: Vec<Node> = rest.by_ref().take(width).collect();
            merged.push(merge.merge(children, |_: &K, _, _| Ok(()))?);
        }
        nodes = merged;
    }
    let root = merge.merge(nodes, &mut visit)?;
    Ok(Vertices { root, positions, signed: plan.signed, buffer_bytes })
}

struct Merge<'a> {
    runtime: &'a Runtime,
    runs: &'a Arc<Spill>,
    positions: &'a Spill,
    signed: bool,
    most: u64,
    buffer_bytes: usize,
}

impl Merge<'_> {
    fn merge<K: RunId>(
        &self,
        mut children: Vec<Node>,
        mut visit: impl FnMut(&K, u64, u64) -> Result<()>,
    ) -> Result<Node> {
        let mut out = RunWriter::new(self.runtime, self.runs, self.buffer_bytes)?;
        out.ordered = true;
        let mut starts_bytes = Vec::new();
        for child in &mut children {
            child.positions_bytes = self.positions.take(8 * child.run.records);
            starts_bytes.push(child.positions_bytes);
        }
        let mut places = SpillWriters::new(self.runtime, self.positions, starts_bytes, self.buffer_bytes)?;
        let mut readers = Vec::new();
        let mut open = Vec::new();
        for (i, child) in children.iter().enumerate() {
            let mut reader = RunReader::<K>::new(self.runtime, &child.run, self.signed, self.buffer_bytes)?;
            if reader.advance()? {
                readers.push(reader);
                open.push(i);
            }
        }
        let mut heap = Heap::new(readers.len(), |one, other| readers[one].id < readers[other].id);
        let mut id = K::default();
        while let Some(first) = heap.top() {
            id.clone_from(&readers[first].id);
            let (mut sources, mut targets) = (0u64, 0u64);
            while let Some(top) = heap.top().filter(|&top| readers[top].id == id) {
                sources += readers[top].sources;
                targets += readers[top].targets;
                places.word(open[top], out.records)?;
                let more = readers[top].advance()?;
                let less = |one: usize, other: usize| readers[one].id < readers[other].id;
                heap.settle(more, less);
            }
            if out.records == self.most {
                return Err(too_many_vertices(format!("at least {}", MAX_VERTICES + 1)));
            }
            if out.records % (1 << 16) == 0 {
                self.runtime.cancel().check()?;
            }
            visit(&id, sources, targets)?;
            id.write(&mut out, sources, targets)?;
        }
        drop(readers);
        places.finish()?;
        let run = out.finish(Locals::None)?;
        Ok(Node { run, children, leaf: None, positions_bytes: 0, numbers_bytes: 0 })
    }
}

/// The error for a graph that does not fit 32-bit numbers.
pub fn too_many_vertices(found: String) -> Error {
    Error::Unsuitable(format!(
        "expected at most {MAX_VERTICES} vertices, found {found}; split the graph, or map its ids to fewer vertices"
    ))
}

impl Vertices {
    pub fn count(&self) -> u64 {
        self.root.run.records
    }

    /// Size of the vertices as records, in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.root.run.end_bytes - self.root.run.start_bytes
    }

    /// An integer as the user gave it, from the one that sorts as it does.
    pub fn integer(&self, id: u64) -> i128 {
        if self.signed { ((id ^ SIGN) as i64).into() } else { id.into() }
    }

    /// All of them as a run, without the way back.
    pub fn into_run(self) -> Run {
        self.root.run
    }

    /// All of them in the order of their ids.
    pub fn reader<K: RunId>(&self, runtime: &Runtime) -> Result<RunReader<'_, K>> {
        RunReader::new(runtime, &self.root.run, self.signed, self.buffer_bytes)
    }

    /// Tells every record of every run its number, once or again. `number` is given the counts of each vertex in the
    /// order of ids.
    pub fn number<K: RunId>(
        &mut self,
        runtime: &Runtime,
        spill: Spill,
        mut number: impl FnMut(u64, u64) -> Result<u64>,
    ) -> Result<Numbers> {
        let mut vertices = RunReader::<K>::new(runtime, &self.root.run, self.signed, self.buffer_bytes)?;
        let descent = Descent { runtime, positions: &self.positions, numbers: &spill, buffer_bytes: self.buffer_bytes };
        descent.tell(&mut self.root.children, || {
            vertices.advance()?;
            number(vertices.sources, vertices.targets)
        })?;
        drop(vertices);
        let mut starts_bytes = Vec::new();
        let mut below: Vec<&mut Node> = self.root.children.iter_mut().collect();
        while let Some(node) = below.pop() {
            match node.leaf {
                Some(leaf) => {
                    starts_bytes.resize(starts_bytes.len().max(leaf + 1), 0);
                    starts_bytes[leaf] = node.numbers_bytes;
                }
                None => {
                    let mut parent = SpillReader::new(&spill, runtime.budget(), self.buffer_bytes)?;
                    parent.seek(node.numbers_bytes, node.numbers_bytes + 8 * node.run.records);
                    descent.tell(&mut node.children, || parent.word())?;
                    below.extend(node.children.iter_mut());
                }
            }
        }
        Ok(Numbers { spill, starts_bytes, signed: self.signed })
    }
}

struct Descent<'a> {
    runtime: &'a Runtime,
    positions: &'a Spill,
    numbers: &'a Spill,
    buffer_bytes: usize,
}

impl Descent<'_> {
    /// Passes the numbers of a merged run, one after the other, on to the runs it was merged from.
    fn tell(&self, children: &mut [Node], mut next: impl FnMut() -> Result<u64>) -> Result<()> {
        let mut starts_bytes = Vec::new();
        let mut readers = Vec::new();
        let mut heads = Vec::new();
        for child in children.iter_mut() {
            child.numbers_bytes = self.numbers.take(8 * child.run.records);
            if child.run.records == 0 {
                continue;
            }
            starts_bytes.push(child.numbers_bytes);
            let mut reader = SpillReader::new(self.positions, self.runtime.budget(), self.buffer_bytes)?;
            reader.seek(child.positions_bytes, child.positions_bytes + 8 * child.run.records);
            heads.push(reader.word()?);
            readers.push(reader);
        }
        let mut writers = SpillWriters::new(self.runtime, self.numbers, starts_bytes, self.buffer_bytes)?;
        let mut heap = Heap::new(heads.len(), |one, other| heads[one] < heads[other]);
        let mut position = 0;
        while !heap.is_empty() {
            let number = next()?;
            while let Some(top) = heap.top().filter(|&top| heads[top] == position) {
                writers.word(top, number)?;
                let more = !readers[top].is_at_end();
                if more {
                    heads[top] = readers[top].word()?;
                }
                let less = |one: usize, other: usize| heads[one] < heads[other];
                heap.settle(more, less);
            }
            position += 1;
            if position % (1 << 16) == 0 {
                self.runtime.cancel().check()?;
            }
        }
        writers.finish()
    }
}

impl Numbers {
    /// Calls `visit` with every local of run `index` and its numbers: by degree, and the other one.
    pub fn for_each_local(
        &self,
        runtime: &Runtime,
        run: &Run,
        index: usize,
        strings: bool,
        visit: impl FnMut(u64, u32, u32),
    ) -> Result<()> {
        let visit_all = if strings { Self::visit::<Vec<u8>> } else { Self::visit::<u64> };
        visit_all(self, runtime, run, index, visit)
    }

    fn visit<K: RunId>(
        &self,
        runtime: &Runtime,
        run: &Run,
        index: usize,
        mut visit: impl FnMut(u64, u32, u32),
    ) -> Result<()> {
        const BUFFER_BYTES: usize = 64 << 10;
        let mut records = RunReader::<K>::new(runtime, run, self.signed, BUFFER_BYTES)?;
        let mut numbers = SpillReader::new(&self.spill, runtime.budget(), BUFFER_BYTES)?;
        numbers.seek(self.starts_bytes[index], self.starts_bytes[index] + 8 * run.records);
        while records.advance()? {
            let number = numbers.word()?;
            visit(records.local(), (number >> 32) as u32, number as u32);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::RuntimeOptions;
    use outcore_testkit::random_word;
    use std::collections::BTreeMap;

    /// Merges runs in so little memory that it takes several levels, and checks what every record learns.
    fn check(count: usize, signed: bool) {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let spill = |name: &str| Spill::create(runtime.backend(), &directory.path().join(name)).unwrap();
        let file = Arc::new(spill("runs"));
        let mut state = 3u64;
        let (mut runs, mut records) = (Vec::new(), Vec::new());
        let mut expected: BTreeMap<i128, (u64, u64)> = BTreeMap::new();
        for _ in 0..count {
            let mut ids: Vec<u64> = (0..state % 200)
                .map(|_| ((random_word(&mut state) >> 40) % 1000).wrapping_sub(500).wrapping_mul(1 << 53))
                .collect();
            ids.sort_unstable();
            ids.dedup();
            let mut writer = RunWriter::new(&runtime, &file, 100).unwrap();
            for (i, &id) in ids.iter().enumerate() {
                writer.integer(id, id % 7, 1).unwrap();
                writer.local(i as u64).unwrap();
                let sorts_as = if signed { i128::from(id as i64) } else { i128::from(id) };
                let counts = expected.entry(sorts_as).or_insert((0, 0));
                *counts = (counts.0 + id % 7, counts.1 + 1);
            }
            runs.push(writer.finish(Locals::Stored { count: ids.len() as u64 }).unwrap());
            records.push(ids);
            state = state.wrapping_add(77);
        }
        let plan = MergePlan {
            runs: Arc::new(spill("merged")),
            positions: spill("positions"),
            memory_bytes: 0,
            signed,
            most: u64::MAX,
        };
        let mut merged = Vec::new();
        let mut vertices = merge_all::<u64>(&runtime, runs.clone(), plan, |&id, sources, targets| {
            let id = if signed { i128::from((id ^ SIGN) as i64) } else { i128::from(id) };
            merged.push((id, (sources, targets)));
            Ok(())
        })
        .unwrap();
        assert!(merged.iter().copied().eq(expected.clone()));
        assert_eq!(vertices.count(), expected.len() as u64);
        let mut next = 0u64;
        let number = |_, _| {
            next += 1;
            Ok((next * 1000) << 32 | (next - 1))
        };
        let numbers = vertices.number::<u64>(&runtime, spill("numbers"), number).unwrap();
        let place: BTreeMap<i128, usize> = expected.keys().enumerate().map(|(i, &id)| (id, i)).collect();
        for (index, (run, ids)) in runs.iter().zip(&records).enumerate() {
            let mut seen = 0;
            let visit = |local: u64, by_degree, by_id| {
                let id = ids[local as usize];
                let id = if signed { i128::from(id as i64) } else { i128::from(id) };
                assert_eq!(by_id as usize, place[&id]);
                assert_eq!(by_degree, (by_id + 1) * 1000);
                seen += 1;
            };
            numbers.for_each_local(&runtime, run, index, false, visit).unwrap();
            assert_eq!(seen, ids.len());
        }
    }

    #[test]
    fn long_ids_count_in_how_many_runs_are_merged_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let spill = |name: &str| Spill::create(runtime.backend(), &directory.path().join(name)).unwrap();
        let file = Arc::new(spill("runs"));
        let mut runs = Vec::new();
        for run in 0..20u8 {
            let mut writer = RunWriter::new(&runtime, &file, 1 << 16).unwrap();
            writer.string(&vec![b'a' + run; 1 << 18], 1, 0).unwrap();
            writer.local(0).unwrap();
            runs.push(writer.finish(Locals::Stored { count: 1 }).unwrap());
        }
        let mut order = Vec::new();
        let mut merge = |most| {
            order.clear();
            let (merged, positions) = (Arc::new(spill("merged")), spill("positions"));
            // Room for the ids of three runs, beside that of the run they become and the one that is visited.
            let memory_bytes = 5 * (1 << 19) + (64 << 10);
            let plan = MergePlan { runs: merged, positions, memory_bytes, signed: false, most };
            merge_all::<Vec<u8>>(&runtime, runs.clone(), plan, |id, _, _| {
                order.push(id[0]);
                Ok(())
            })
        };
        let refused = merge(19).err().unwrap().to_string();
        assert!(refused.contains("vertices"), "{refused}");
        let vertices = merge(20).unwrap();
        assert!(order.iter().copied().eq(b'a'..b'a' + 20));
        assert!(vertices.root.children.len() <= 3, "{} at once", vertices.root.children.len());
    }

    #[test]
    fn many_runs_are_merged_in_several_levels() {
        for count in [0, 1, 2, 3, 4, 37] {
            check(count, false);
            check(count, true);
        }
    }
}
