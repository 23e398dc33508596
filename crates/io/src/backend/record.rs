//! The recorder of `sim`: every operation that changes a file or a directory, in order, and the state before the first.
//!
//! Files and directories are *nodes*; a name is an entry of a directory that leads to a node. A trace therefore says
//! which file a rename moves, independent of its earlier names.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A file or a directory of a trace, by its number. The recorded directory is number 0.
pub type Node = usize;

/// State of a node before the first operation.
#[derive(Clone, Debug)]
pub(super) enum Before {
    File(Arc<[u8]>),
    Directory(BTreeMap<OsString, Node>),
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The directory.
    pub directory: Node,
    /// The name.
    pub name: OsString,
}

/// One operation that changed a file or a directory, or made changes durable.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An empty file or directory was created, with a name.
    Create {
        /// Its name.
        entry: Entry,
        /// The new node.
        node: Node,
    },
    /// A file was created that has no name.
    CreateNameless {
        /// The new node.
        node: Node,
    },
    /// Bytes were written.
    Write {
        /// The file.
        node: Node,
        /// Offset in the file.
        offset_bytes: u64,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A file was given a size.
    Truncate {
        /// The file.
        node: Node,
        /// Its size.
        len_bytes: u64,
    },
    /// Space was reserved: the file has at least this size.
    Allocate {
        /// The file.
        node: Node,
        /// End of the space.
        end_bytes: u64,
    },
    /// Space was freed, and reads as zeros.
    Punch {
        /// The file.
        node: Node,
        /// Offset in the file.
        offset_bytes: u64,
        /// Length of the range.
        len_bytes: u64,
    },
    /// A node was renamed; a node that had the new name lost it.
    Rename {
        /// Its old name.
        from: Entry,
        /// Its new name.
        to: Entry,
        /// The node.
        node: Node,
    },
    /// Two nodes exchanged their names.
    Exchange {
        /// The name that the first had.
        one: Entry,
        /// The name that the second had.
        other: Entry,
        /// The nodes that had these names.
        nodes: [Node; 2],
    },
    /// A file got a name.
    Link {
        /// The name.
        entry: Entry,
        /// The file.
        node: Node,
    },
    /// A name was removed.
    Remove {
        /// The name.
        entry: Entry,
        /// The node that had it.
        node: Node,
    },
    /// The contents of a file were made durable.
    Sync {
        /// The file.
        node: Node,
    },
    /// The names in a directory were made durable.
    SyncDirectory {
        /// The directory.
        node: Node,
    },
}

/// Operations below a directory, and its state before them.
#[derive(Clone, Debug)]
pub struct Trace {
    pub(super) before: Vec<Before>,
    pub(super) operations: Vec<Operation>,
    /// The directories that were created.
    pub(super) directories: HashSet<Node>,
}

impl Trace {
    /// The operations, in order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The indices of syncs, of files and directories, among the operations.
    pub fn syncs(&self) -> Vec<usize> {
        let is_sync =
            |&i: &usize| matches!(self.operations[i], Operation::Sync { .. } | Operation::SyncDirectory { .. });
        (0..self.operations.len()).filter(is_sync).collect()
    }
}

/// Records operations below a directory; operations elsewhere are ignored.
pub(super) struct Recorder {
    root: PathBuf,
    trace: Trace,
    /// The directories as they are now.
    entries: HashMap<Node, BTreeMap<OsString, Node>>,
    /// The files that are or were open, by their identity in the file system.
    files: HashMap<(u64, u64), Node>,
    nodes: usize,
}

impl Recorder {
    /// A recorder of a directory, whose contents are taken to be durable.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let trace = Trace { before: Vec::new(), operations: Vec::new(), directories: HashSet::new() };
        let mut recorder =
            Recorder { root: root.to_owned(), trace, entries: HashMap::new(), files: HashMap::new(), nodes: 0 };
        recorder.take(root)?;
        recorder.nodes = recorder.trace.before.len();
        Ok(recorder)
    }

    /// Records everything below a directory; returns its node.
    fn take(&mut self, directory: &Path) -> std::io::Result<Node> {
        let node = self.trace.before.len();
        self.trace.before.push(Before::Directory(BTreeMap::new()));
        let mut entries = BTreeMap::new();
        for entry in std::fs::read_dir(directory)? {
            let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            let below = if std::fs::symlink_metadata(&path)?.is_dir() {
                self.take(&path)?
            } else {
                self.trace.before.push(Before::File(std::fs::read(&path)?.into()));
                self.trace.before.len() - 1
            };
            entries.insert(name, below);
        }
        self.trace.before[node] = Before::Directory(entries.clone());
        self.entries.insert(node, entries);
        Ok(node)
    }

    /// The operations so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Directory and name of a recorded path; `None` for other paths.
    fn entry(&self, path: &Path) -> Option<Entry> {
        let (name, directory) = (path.file_name()?, self.node(path.parent()?)?);
        Some(Entry { directory, name: name.to_owned() })
    }

    /// The node that has a path now.
    fn node(&self, path: &Path) -> Option<Node> {
        path.strip_prefix(&self.root).ok()?.components().try_fold(0, |node, name| match name {
            Component::Normal(name) => self.entries.get(&node)?.get(name).copied(),
            _ => None,
        })
    }

    fn set(&mut self, entry: &Entry, node: Node) {
        if let Some(entries) = self.entries.get_mut(&entry.directory) {
            entries.insert(entry.name.clone(), node);
        }
    }

    fn unset(&mut self, entry: &Entry) {
        if let Some(entries) = self.entries.get_mut(&entry.directory) {
            entries.remove(&entry.name);
        }
    }

    fn new_node(&mut self) -> Node {
        self.nodes += 1;
        self.nodes - 1
    }

    fn note(&mut self, operation: Operation) {
        self.trace.operations.push(operation);
    }

    /// A file was created under a path.
    pub fn created(&mut self, identity: (u64, u64), path: &Path) {
        let Some(entry) = self.entry(path) else { return };
        let node = self.new_node();
        self.files.insert(identity, node);
        self.set(&entry, node);
        self.note(Operation::Create { entry, node });
    }

    /// A file without a name was created in a directory.
    pub fn created_nameless(&mut self, identity: (u64, u64), directory: &Path) {
        if self.node(directory).is_some() {
            let node = self.new_node();
            self.files.insert(identity, node);
            self.note(Operation::CreateNameless { node });
        }
    }

    /// An existing file was opened for writing.
    pub fn opened(&mut self, identity: (u64, u64), path: &Path) {
        if let Some(node) = self.node(path) {
            self.files.insert(identity, node);
        }
    }

    /// A directory was created.
    pub fn created_directory(&mut self, path: &Path) {
        let Some(entry) = self.entry(path) else { return };
        let node = self.new_node();
        self.entries.insert(node, BTreeMap::new());
        self.trace.directories.insert(node);
        self.set(&entry, node);
        self.note(Operation::Create { entry, node });
    }

    /// An open file was changed or synced.
    pub fn changed(&mut self, identity: (u64, u64), operation: impl FnOnce(Node) -> Operation) {
        if let Some(&node) = self.files.get(&identity) {
            self.note(operation(node));
        }
    }

    /// The names in a directory were synced.
    pub fn synced_directory(&mut self, path: &Path) {
        if let Some(node) = self.node(path) {
            self.note(Operation::SyncDirectory { node });
        }
    }

    /// A node was renamed.
    pub fn renamed(&mut self, from: &Path, to: &Path) {
        let (Some(node), Some(from), Some(to)) = (self.node(from), self.entry(from), self.entry(to)) else { return };
        self.unset(&from);
        self.set(&to, node);
        self.note(Operation::Rename { from, to, node });
    }

    /// Two nodes exchanged their names.
    pub fn exchanged(&mut self, one: &Path, other: &Path) {
        let (Some(first), Some(second)) = (self.node(one), self.node(other)) else { return };
        let (Some(one), Some(other)) = (self.entry(one), self.entry(other)) else { return };
        self.set(&one, second);
        self.set(&other, first);
        self.note(Operation::Exchange { one, other, nodes: [first, second] });
    }

    /// An open file got a name.
    pub fn linked(&mut self, identity: (u64, u64), path: &Path) {
        let (Some(&node), Some(entry)) = (self.files.get(&identity), self.entry(path)) else { return };
        self.set(&entry, node);
        self.note(Operation::Link { entry, node });
    }

    /// A name was removed.
    pub fn removed(&mut self, path: &Path) {
        let (Some(node), Some(entry)) = (self.node(path), self.entry(path)) else { return };
        self.unset(&entry);
        self.note(Operation::Remove { entry, node });
    }
}
