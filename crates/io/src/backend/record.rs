//! The recorder of `sim`: every operation that changes a file or a directory, in order, and what was there before.
//!
//! Files and directories are *nodes*; a name is an entry of a directory that leads to a node, so that a trace says
//! which file a rename moves, whatever it was called before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A file or a directory of a trace, by its number. The recorded directory is number 0.
pub type Node = usize;

/// What a node was before the first operation.
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
        /// What it is from now on.
        node: Node,
    },
    /// A file was created that has no name.
    CreateNameless {
        /// What it is from now on.
        node: Node,
    },
    /// Bytes were written.
    Write {
        /// The file.
        node: Node,
        /// Where.
        offset_bytes: u64,
        /// What.
        bytes: Arc<[u8]>,
    },
    /// A file was given a size.
    Truncate {
        /// The file.
        node: Node,
        /// Its size.
        len_bytes: u64,
    },
    /// Space was taken: the file is at least this large.
    Allocate {
        /// The file.
        node: Node,
        /// Where the space ends.
        end_bytes: u64,
    },
    /// Space was given back, and is zero.
    Punch {
        /// The file.
        node: Node,
        /// Where.
        offset_bytes: u64,
        /// How much.
        len_bytes: u64,
    },
    /// Something got another name, and what had that name has none any more.
    Rename {
        /// Its old name.
        from: Entry,
        /// Its new name.
        to: Entry,
        /// What it is.
        node: Node,
    },
    /// Two exchanged their names.
    Exchange {
        /// The name that the first had.
        one: Entry,
        /// The name that the second had.
        other: Entry,
        /// What had these names.
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
        /// What had it.
        node: Node,
    },
    /// What a file holds was made durable.
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

/// What happened below a directory, and what was there before.
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

    /// Where the syncs of files and directories are among the operations.
    pub fn syncs(&self) -> Vec<usize> {
        let is_sync =
            |&i: &usize| matches!(self.operations[i], Operation::Sync { .. } | Operation::SyncDirectory { .. });
        (0..self.operations.len()).filter(is_sync).collect()
    }
}

/// Takes note of operations below a directory; what is elsewhere is not noted.
pub(super) struct Recorder {
    root: PathBuf,
    trace: Trace,
    /// The directories as they are now.
    entries: HashMap<Node, BTreeMap<OsString, Node>>,
    /// The files that are open or were, by what the file system knows them by.
    files: HashMap<(u64, u64), Node>,
    nodes: usize,
}

impl Recorder {
    /// A recorder of a directory, of which everything is taken to be durable.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let trace = Trace { before: Vec::new(), operations: Vec::new(), directories: HashSet::new() };
        let mut recorder =
            Recorder { root: root.to_owned(), trace, entries: HashMap::new(), files: HashMap::new(), nodes: 0 };
        recorder.take(root)?;
        recorder.nodes = recorder.trace.before.len();
        Ok(recorder)
    }

    /// Notes what is below a directory; returns its node.
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

    /// What happened so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The directory and the name of a path that is recorded; of a path that is not, nothing.
    fn entry(&self, path: &Path) -> Option<Entry> {
        let (name, directory) = (path.file_name()?, self.node(path.parent()?)?);
        Some(Entry { directory, name: name.to_owned() })
    }

    /// What has a path now.
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

    /// A file that was there was opened to be written.
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

    /// Something got another name.
    pub fn renamed(&mut self, from: &Path, to: &Path) {
        let (Some(node), Some(from), Some(to)) = (self.node(from), self.entry(from), self.entry(to)) else { return };
        self.unset(&from);
        self.set(&to, node);
        self.note(Operation::Rename { from, to, node });
    }

    /// Two exchanged their names.
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
