//! States that a power failure may leave of a recorded directory, derived from a trace.
//!
//! The model is that of ALICE (Pillai et al., *All File Systems Are Not Created Equal*, OSDI 2014), as strict as POSIX
//! allows ([`Backend`](super::Backend), 3 and 4). An operation is *durable* once the file that it changed, or every
//! directory whose names it changed, was synced after it; otherwise it is *pending*. A power failure may follow any
//! number of operations. It leaves all durable ones and any subset of the pending ones: a rename without the bytes of
//! the file, bytes without the size that they need, a size without the bytes, or some sectors of a write, while the
//! other sectors hold the old bytes or garbage.
//!
//! | states, after every number of operations | of the pending operations |
//! |---|---|
//! | two | none is kept; all are |
//! | two for each | it alone is kept; it alone is lost |
//! | up to eight for each write | torn three ways, alone and beside all others; without its growth; its growth only |
//! | [`subsets`](CrashStates::subsets) | a seeded choice for each: lost, kept, torn, garbage, growth |

use super::record::{Before, Entry, Node, Operation, Trace};
use crate::mix::split_mix;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Smallest unit that a device writes atomically.
const SECTOR_BYTES: usize = 512;

/// Outcome of a pending operation at a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fate {
    Lost,
    Kept,
    /// A seeded subset of a write's sectors is lost; these hold garbage or the old bytes.
    Torn {
        seed: u64,
        garbage: bool,
    },
    /// A write without the growth of its file.
    NotGrown,
    /// The growth of a file without the bytes.
    OnlyGrown,
}

/// The contents of a file.
#[derive(Clone)]
struct Content {
    bytes: Arc<[u8]>,
    fingerprint: u64,
}

impl Content {
    fn new(bytes: Arc<[u8]>) -> Self {
        Content { fingerprint: fingerprint(&bytes), bytes }
    }
}

fn fingerprint(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Contents of a directory after a power failure.
pub struct State {
    /// Paths below the directory, in order: the bytes of files, and directories.
    entries: BTreeMap<PathBuf, Option<Content>>,
    done: usize,
    fates: Vec<(usize, Fate)>,
}

impl State {
    /// A hash of everything below a path, `None` where the path does not exist. Equal contents have equal hashes. An
    /// empty path is the whole directory.
    pub fn fingerprint(&self, below: &Path) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        let mut any = below.as_os_str().is_empty();
        for (path, content) in self.entries.range(below.to_owned()..) {
            let Ok(rest) = path.strip_prefix(below) else { break };
            (rest, content.as_ref().map(|content| content.fingerprint)).hash(&mut hasher);
            any = true;
        }
        any.then(|| hasher.finish())
    }

    /// The bytes of a file, if there is one of that path.
    pub fn file(&self, path: &Path) -> Option<&[u8]> {
        self.entries.get(path)?.as_ref().map(|content| &content.bytes[..])
    }

    /// The paths of all files and directories.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// A description of the state: the number of operations done, and the pending ones that were not kept, by their
    /// indices in the trace, with their outcomes.
    pub fn story(&self) -> String {
        let lost: Vec<_> = self.fates.iter().filter(|(_, fate)| *fate != Fate::Kept).collect();
        format!("{} operations done; pending and not kept: {lost:?}", self.done)
    }

    /// Writes everything below a path into a directory.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn write(&self, below: &Path, directory: &Path) -> std::io::Result<()> {
        for (path, content) in self.entries.range(below.to_owned()..) {
            if path.strip_prefix(below).is_err() {
                break;
            }
            match content {
                Some(content) => std::fs::write(directory.join(path), &content.bytes)?,
                None => std::fs::create_dir_all(directory.join(path))?,
            }
        }
        Ok(())
    }
}

/// The states that a power failure may leave, of one trace.
pub struct CrashStates<'a> {
    trace: &'a Trace,
    subsets: u64,
    /// For each operation, the index of the sync that makes it durable; `usize::MAX` if none does.
    durable: Vec<usize>,
    /// The operations that change the contents of each file, in order.
    changes: HashMap<Node, Vec<usize>>,
    contents: HashMap<(Node, usize, Vec<Fate>), Content>,
}

impl<'a> CrashStates<'a> {
    /// The states of a trace.
    pub fn new(trace: &'a Trace) -> Self {
        let mut states = CrashStates {
            trace,
            subsets: 32,
            durable: vec![usize::MAX; trace.operations.len()],
            changes: HashMap::new(),
            contents: HashMap::new(),
        };
        let mut synced: HashMap<Node, usize> = HashMap::new();
        for (i, operation) in trace.operations.iter().enumerate().rev() {
            match operation {
                Operation::Sync { node } | Operation::SyncDirectory { node } => {
                    synced.insert(*node, i);
                }
                _ => {}
            }
            let last = nodes_of(operation).into_iter().map(|node| synced.get(&node).copied().unwrap_or(usize::MAX));
            states.durable[i] = last.max().unwrap_or(usize::MAX);
        }
        let named = named(trace);
        for (i, operation) in trace.operations.iter().enumerate() {
            if let Some(node) = changed_file(operation).filter(|node| named.contains(node)) {
                states.changes.entry(node).or_default().push(i);
            }
        }
        states
    }

    /// Sets the number of seeded subsets of the pending operations that are kept after every number of operations. The
    /// default is 32.
    #[must_use]
    pub fn subsets(self, subsets: u64) -> Self {
        CrashStates { subsets, ..self }
    }

    /// Calls `visit` with every state of a failure after `done` operations, until it returns `false`; returns the
    /// number of calls. Equal states may be visited more than once.
    pub fn visit(&mut self, done: usize, mut visit: impl FnMut(&State) -> bool) -> u64 {
        let pending: Vec<usize> = (0..done).filter(|&i| self.is_pending(i, done)).collect();
        let mut states = 0;
        for fates in self.fates(&pending, done as u64) {
            states += 1;
            let state = self.state(done, &pending, &fates);
            if !visit(&state) {
                break;
            }
        }
        states
    }

    /// Whether operation `i` is pending after `done` operations, and matters: nodes that never have a name do not.
    fn is_pending(&self, i: usize, done: usize) -> bool {
        let operation = &self.trace.operations[i];
        let matters = match changed_file(operation) {
            Some(node) => self.changes.contains_key(&node),
            None => !nodes_of(operation).is_empty(),
        };
        matters && self.durable[i] >= done
    }

    /// Combinations of outcomes of the pending operations that are tried.
    fn fates(&self, pending: &[usize], seed: u64) -> Vec<Vec<Fate>> {
        let count = pending.len();
        let mut all = vec![vec![Fate::Lost; count], vec![Fate::Kept; count]];
        for (place, &i) in pending.iter().enumerate() {
            let mut put = |others: Fate, own: Fate| {
                let mut fates = vec![others; count];
                fates[place] = own;
                all.push(fates);
            };
            put(Fate::Lost, Fate::Kept);
            put(Fate::Kept, Fate::Lost);
            if let Operation::Write { .. } = self.trace.operations[i] {
                let seed = split_mix(seed ^ (i as u64) << 32);
                let torn = |n, garbage| Fate::Torn { seed: split_mix(seed + n), garbage };
                for own in [torn(0, false), torn(1, false), torn(2, true)] {
                    put(Fate::Kept, own);
                    put(Fate::Lost, own);
                }
                put(Fate::Kept, Fate::NotGrown);
                put(Fate::Kept, Fate::OnlyGrown);
            }
        }
        for subset in 0..self.subsets {
            let draw = |i: &usize| {
                let draw = split_mix(split_mix(seed ^ subset << 20) ^ *i as u64);
                match (&self.trace.operations[*i], draw % 8) {
                    (_, 0..3) => Fate::Lost,
                    (Operation::Write { .. }, 3) => Fate::Torn { seed: split_mix(draw), garbage: false },
                    (Operation::Write { .. }, 4) => Fate::Torn { seed: split_mix(draw), garbage: true },
                    (Operation::Write { .. }, 5) if draw & 256 == 0 => Fate::NotGrown,
                    (Operation::Write { .. }, 5) => Fate::OnlyGrown,
                    _ => Fate::Kept,
                }
            };
            all.push(pending.iter().map(draw).collect());
        }
        all
    }

    /// The state after `done` operations, with these outcomes of the pending ones.
    fn state(&mut self, done: usize, pending: &[usize], fates: &[Fate]) -> State {
        let trace = self.trace;
        let fate_of = |i: usize| pending.binary_search(&i).map_or(Fate::Kept, |place| fates[place]);
        let names = names(trace, done, |i| fate_of(i) == Fate::Kept);
        let mut entries = BTreeMap::new();
        let mut folders = vec![(0, PathBuf::new())];
        while let Some((folder, path)) = folders.pop() {
            let below = names.range((folder, OsStr::new(""))..).take_while(|((directory, _), _)| *directory == folder);
            for (&(_, name), &node) in below {
                let path = path.join(name);
                if is_directory(trace, node) {
                    folders.push((node, path.clone()));
                    entries.insert(path, None);
                } else {
                    entries.insert(path, Some(self.content(node, done, &fate_of)));
                }
            }
        }
        let fates = pending.iter().copied().zip(fates.iter().copied()).collect();
        State { entries, done, fates }
    }

    /// Contents of a file in that state.
    fn content(&mut self, node: Node, done: usize, fate_of: &impl Fn(usize) -> Fate) -> Content {
        let changes = self.changes.get(&node).map_or(&[][..], Vec::as_slice);
        let changes = &changes[..changes.partition_point(|&i| i < done)];
        let durable = changes.iter().take_while(|&&i| self.durable[i] < done).count();
        let fates: Vec<Fate> = changes[durable..].iter().map(|&i| fate_of(i)).collect();
        let key = (node, durable, fates);
        if let Some(content) = self.contents.get(&key) {
            return content.clone();
        }
        let mut bytes = match self.trace.before.get(node) {
            Some(Before::File(bytes)) => bytes.to_vec(),
            _ => Vec::new(),
        };
        for (k, &i) in changes.iter().enumerate() {
            let fate = if k < durable { Fate::Kept } else { key.2[k - durable] };
            apply(&self.trace.operations[i], fate, &mut bytes);
        }
        let content = Content::new(bytes.into());
        self.contents.insert(key, content.clone());
        content
    }
}

/// The file whose contents an operation changes.
fn changed_file(operation: &Operation) -> Option<Node> {
    match *operation {
        Operation::Write { node, .. }
        | Operation::Truncate { node, .. }
        | Operation::Allocate { node, .. }
        | Operation::Punch { node, .. } => Some(node),
        _ => None,
    }
}

/// The nodes whose sync makes an operation durable.
fn nodes_of(operation: &Operation) -> Vec<Node> {
    match operation {
        Operation::Create { entry, .. } | Operation::Link { entry, .. } | Operation::Remove { entry, .. } => {
            vec![entry.directory]
        }
        Operation::Rename { from: one, to: other, .. } | Operation::Exchange { one, other, .. } => {
            vec![one.directory, other.directory]
        }
        Operation::Sync { .. } | Operation::SyncDirectory { .. } | Operation::CreateNameless { .. } => Vec::new(),
        _ => changed_file(operation).into_iter().collect(),
    }
}

/// All nodes that ever have a name.
fn named(trace: &Trace) -> HashSet<Node> {
    let created = trace.operations.iter().filter_map(|operation| match operation {
        Operation::Create { node, .. } | Operation::Link { node, .. } => Some(*node),
        _ => None,
    });
    (0..trace.before.len()).chain(created).collect()
}

/// Whether a node is a directory.
fn is_directory(trace: &Trace, node: Node) -> bool {
    match trace.before.get(node) {
        Some(before) => matches!(before, Before::Directory(_)),
        None => trace.directories.contains(&node),
    }
}

/// The names after `done` operations, of which only those with `survives` are applied.
fn names(trace: &Trace, done: usize, survives: impl Fn(usize) -> bool) -> BTreeMap<(Node, &OsStr), Node> {
    fn key(entry: &Entry) -> (Node, &OsStr) {
        (entry.directory, &entry.name)
    }
    let mut names = BTreeMap::new();
    for (directory, before) in trace.before.iter().enumerate() {
        if let Before::Directory(entries) = before {
            names.extend(entries.iter().map(|(name, &node)| ((directory, name.as_os_str()), node)));
        }
    }
    for (i, operation) in trace.operations[..done].iter().enumerate() {
        if nodes_of(operation).is_empty() || changed_file(operation).is_some() || !survives(i) {
            continue;
        }
        match operation {
            Operation::Create { entry, node } | Operation::Link { entry, node } => {
                names.insert(key(entry), *node);
            }
            Operation::Rename { from, to, node } => {
                if names.get(&key(from)) == Some(node) {
                    names.remove(&key(from));
                }
                names.insert(key(to), *node);
            }
            Operation::Exchange { one, other, nodes } => {
                names.insert(key(one), nodes[1]);
                names.insert(key(other), nodes[0]);
            }
            Operation::Remove { entry, node } if names.get(&key(entry)) == Some(node) => {
                names.remove(&key(entry));
            }
            _ => {}
        }
    }
    names
}

/// Applies an operation to the bytes of a file, as far as its fate lets it.
fn apply(operation: &Operation, fate: Fate, bytes: &mut Vec<u8>) {
    if fate == Fate::Lost {
        return;
    }
    let grow = |bytes: &mut Vec<u8>, end: usize| bytes.resize(bytes.len().max(end), 0);
    match operation {
        Operation::Write { offset_bytes, bytes: written, .. } => {
            let start = *offset_bytes as usize;
            let end = start + written.len();
            if fate != Fate::NotGrown {
                grow(bytes, end);
            }
            match fate {
                Fate::Torn { seed, garbage } => tear(bytes, start, written, seed, garbage),
                Fate::OnlyGrown => {}
                _ => {
                    let len = bytes.len().clamp(start, end) - start;
                    if len > 0 {
                        bytes[start..start + len].copy_from_slice(&written[..len]);
                    }
                }
            }
        }
        Operation::Truncate { len_bytes, .. } => bytes.resize(*len_bytes as usize, 0),
        Operation::Allocate { end_bytes, .. } => grow(bytes, *end_bytes as usize),
        Operation::Punch { offset_bytes, len_bytes, .. } => {
            let start = (*offset_bytes as usize).min(bytes.len());
            let end = start.saturating_add(*len_bytes as usize).min(bytes.len());
            bytes[start..end].fill(0);
        }
        _ => {}
    }
}

/// Writes some sectors of a write; at least one is lost.
fn tear(bytes: &mut [u8], start: usize, written: &[u8], seed: u64, garbage: bool) {
    let (first, end) = (start / SECTOR_BYTES, start + written.len());
    let sectors = first..end.div_ceil(SECTOR_BYTES);
    let lost = first as u64 + split_mix(seed) % (sectors.len() as u64).max(1);
    for sector in sectors {
        let from = (sector * SECTOR_BYTES).max(start);
        let to = ((sector + 1) * SECTOR_BYTES).min(end);
        let draw = split_mix(seed ^ sector as u64);
        if sector as u64 != lost && draw & 1 == 0 {
            bytes[from..to].copy_from_slice(&written[from - start..to - start]);
        } else if garbage {
            for (place, byte) in bytes[from..to].iter_mut().enumerate() {
                *byte = split_mix(draw ^ place as u64) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Change, Faults, Handle, Location, Open, Sim};
    use std::collections::BTreeSet;

    /// Contents that a file may have after all operations; `None` is a file without a name.
    fn outcomes(sim: &Sim, name: &str) -> BTreeSet<Option<Vec<u8>>> {
        let trace = sim.trace().unwrap();
        let mut outcomes = BTreeSet::new();
        CrashStates::new(&trace).visit(trace.operations().len(), |state| {
            outcomes.insert(state.file(Path::new(name)).map(<[u8]>::to_vec));
            true
        });
        outcomes
    }

    fn write(sim: &Sim, file: &Handle, offset_bytes: u64, bytes: &[u8]) {
        sim.change(&Change::Write { file, offset_bytes, bytes }).unwrap();
    }

    #[test]
    fn what_is_not_synced_is_there_in_part_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let [part, file] = ["part", "file"].map(|name| directory.path().join(name));
        std::fs::write(&file, "old").unwrap();
        let faults = Faults { forget_sync: Some(0), ..Faults::default() };
        let sim = Sim::recording(faults, directory.path()).unwrap();
        let old = Some(b"old".to_vec());
        let new = [[1; 512], [2; 512]].concat();
        let opened = sim.open(Location::at(&part), Open::Create).unwrap();
        write(&sim, &opened, 0, &new);
        assert_eq!(outcomes(&sim, "file"), BTreeSet::from([old.clone()]));
        let parts = outcomes(&sim, "part");
        for (what, expected) in
            [("no name", None), ("no bytes", Some(Vec::new())), ("growth only", Some(vec![0; 1024]))]
        {
            assert!(parts.contains(&expected), "{what}");
        }
        let torn = [[[1; 512], [0; 512]].concat(), [[0; 512], [2; 512]].concat()].map(Some);
        assert!(parts.contains(&Some(new.clone())) && torn.iter().any(|torn| parts.contains(torn)));
        assert!(parts.iter().flatten().any(|bytes| bytes.len() == 1024 && bytes[512..].iter().any(|&byte| byte > 2)));
        // The name without the bytes, which is the reason to sync the file: this sync is forgotten.
        sim.change(&Change::Sync { file: &opened }).unwrap();
        sim.change(&Change::Rename { from: &part, to: &file }).unwrap();
        let renamed = outcomes(&sim, "file");
        assert!([old.clone(), Some(Vec::new()), Some(new.clone())].iter().all(|one| renamed.contains(one)));
        assert!(!renamed.contains(&None), "a rename is done whole or not at all");
        sim.change(&Change::Sync { file: &opened }).unwrap();
        assert_eq!(outcomes(&sim, "file"), BTreeSet::from([old, Some(new.clone())]));
        sim.change(&Change::SyncDirectory { directory: directory.path() }).unwrap();
        assert_eq!(outcomes(&sim, "file"), BTreeSet::from([Some(new)]));
        assert_eq!(outcomes(&sim, "part"), BTreeSet::from([None]));
    }

    #[test]
    fn directories_links_and_holes_are_of_the_trace_too() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("folder");
        let name = folder.join("file");
        let sim = Sim::recording(Faults::default(), directory.path()).unwrap();
        let created = |sim: &Sim| sim.change(&Change::CreateDirectory { directory: &folder });
        created(&sim).unwrap();
        let file = sim.open(Location::at(&folder), Open::Nameless).unwrap();
        write(&sim, &file, 0, &[7; 8192]);
        sim.change(&Change::Truncate { file: &file, len_bytes: 4097 }).unwrap();
        sim.change(&Change::Allocate { file: &file, offset_bytes: 0, len_bytes: 5000 }).unwrap();
        let punched = sim.change(&Change::Punch { file: &file, offset_bytes: 0, len_bytes: 4096 });
        assert_eq!(outcomes(&sim, "folder/file"), BTreeSet::from([None]), "it has no name");
        if sim.change(&Change::Link { file: &file, path: &name }).is_err() || punched.is_err() {
            return;
        }
        sim.change(&Change::Sync { file: &file }).unwrap();
        let whole = [vec![0; 4096], vec![7], vec![0; 903]].concat();
        assert_eq!(std::fs::read(&name).unwrap(), whole);
        assert_eq!(outcomes(&sim, "folder/file"), BTreeSet::from([None, Some(whole.clone())]));
        sim.change(&Change::SyncDirectory { directory: &folder }).unwrap();
        assert_eq!(outcomes(&sim, "folder/file"), BTreeSet::from([None, Some(whole.clone())]), "the folder's own name");
        sim.change(&Change::SyncDirectory { directory: directory.path() }).unwrap();
        assert_eq!(outcomes(&sim, "folder/file"), BTreeSet::from([Some(whole.clone())]));
        sim.change(&Change::Remove { place: Location::at(&name) }).unwrap();
        assert_eq!(outcomes(&sim, "folder/file"), BTreeSet::from([None, Some(whole)]));
    }

    #[test]
    fn a_sync_that_is_forgotten_is_not_in_the_trace() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("file");
        for forgotten in [None, Some(0), Some(1)] {
            let sim = Sim::recording(Faults { forget_sync: forgotten, ..Faults::default() }, directory.path()).unwrap();
            let file = sim.open(Location::at(&name), Open::Create).unwrap();
            write(&sim, &file, 0, b"bytes");
            sim.change(&Change::Sync { file: &file }).unwrap();
            sim.change(&Change::SyncDirectory { directory: directory.path() }).unwrap();
            assert_eq!(sim.syncs(), 2);
            assert_eq!(sim.trace().unwrap().syncs().len(), 2 - usize::from(forgotten.is_some()));
            let (states, whole) = (outcomes(&sim, "file"), Some(b"bytes".to_vec()));
            match forgotten {
                None => assert_eq!(states, BTreeSet::from([whole])),
                Some(0) => assert!(!states.contains(&None) && states.contains(&Some(Vec::new())), "{states:?}"),
                Some(_) => assert_eq!(states, BTreeSet::from([None, whole])),
            }
            sim.change(&Change::Remove { place: Location::at(&name) }).unwrap();
        }
    }
}
