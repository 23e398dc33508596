//! Messages between vertices: kept in blocks, by the range of vertices that they go to, and delivered in the order of
//! their senders.
//!
//! A worker writes what its vertices send into a log. Once the log is full, or the work at hand is done, it becomes a
//! block: the same messages, sorted by ranges of targets, so that a range can be delivered by one worker that alone
//! touches its vertices. A message to many vertices is kept once per range. Blocks carry the order of the work that
//! they come from, which does not depend on the workers; so every vertex gets its messages in the same order whatever
//! the number of workers and the memory. Blocks beyond the memory that messages may take go to a temporary file. (Zheng
//! et al., *FlashGraph*, FAST 2015, section 3.4; Matam, Hashemi, Annavaram, *MultiLogVC*, IPDPS 2021, keeps such logs
//! on the device.)

use crate::engine::graph::Graph;
use outcore_image::{Error, Result};
use outcore_io::buffer::{Raw, raw_bytes, raw_bytes_mut};
use outcore_io::{Reservation, Spill, lock};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The most ranges of targets; each has at least 2^[`MIN_RANGE_BITS`] vertices.
const MAX_RANGES: u64 = 256;
const MIN_RANGE_BITS: u32 = 12;
/// Memory of a worker's log and of the block that is made of it, together, in bytes.
const LOG_BYTES: usize = 2 << 20;
/// Marks the first target of a message in a block; the others follow it.
const FIRST: u32 = 1 << 31;

/// All messages under way.
pub(crate) struct Mail<M> {
    /// A range has `1 << range_bits` vertices.
    range_bits: u32,
    vertices: u64,
    blocks: Mutex<Vec<Block<M>>>,
    /// The memory that blocks take, and may take.
    memory_bytes: AtomicU64,
    most_bytes: u64,
    spill: Mutex<Option<Arc<Spill>>>,
    spill_path: PathBuf,
    spilled_bytes: AtomicU64,
    runtime: outcore_io::Runtime,
    _reservation: Reservation,
}

/// Messages sorted by ranges of targets.
struct Block<M> {
    /// Number of the work that sent them: later work has a higher number.
    order: u64,
    /// Beginnings of the targets and the messages of every range.
    starts: Box<[[u32; 2]]>,
    content: Content<M>,
}

enum Content<M> {
    Memory {
        targets: Vec<u32>,
        messages: Vec<M>,
    },
    /// Blocks and the beginnings of their ranges that stay in memory are reserved.
    Disk {
        spill: Arc<Spill>,
        offset_bytes: u64,
        _reservation: Reservation,
    },
}

impl<M: Raw> Mail<M> {
    /// The memory in bytes that the logs of `threads` workers take.
    pub fn logs_bytes(threads: usize) -> u64 {
        (threads * (LOG_BYTES + 24 * MAX_RANGES as usize)) as u64
    }

    /// No messages. Blocks take at most `most_bytes`; what is more goes to a file beside the image, or where temporary
    /// files go.
    ///
    /// # Errors
    /// Messages of which a log does not hold one, or no memory under the budget.
    pub fn new(graph: &Graph, most_bytes: u64) -> Result<Self> {
        if Outbox::<M>::room(0) == 0 {
            let bytes = size_of::<M>();
            return Err(Error::Usage(format!("expected messages of less than 1 MiB, found a type of {bytes} bytes")));
        }
        let runtime = graph.runtime();
        let bytes = most_bytes + Self::logs_bytes(runtime.threads());
        let reservation = runtime.budget().reserve("messages", bytes)?;
        let vertices = graph.vertices();
        let bits = vertices.div_ceil(MAX_RANGES).next_power_of_two().ilog2();
        Ok(Mail {
            range_bits: bits.max(MIN_RANGE_BITS),
            vertices,
            blocks: Mutex::default(),
            memory_bytes: AtomicU64::new(0),
            most_bytes,
            spill: Mutex::default(),
            spill_path: graph.image().temporary_path("messages"),
            spilled_bytes: AtomicU64::new(0),
            runtime: runtime.clone(),
            _reservation: reservation,
        })
    }

    /// Number of ranges of vertices.
    pub fn ranges(&self) -> usize {
        (self.vertices.div_ceil(1 << self.range_bits)) as usize
    }

    /// The vertices of a range.
    pub fn range(&self, range: usize) -> Range<u32> {
        let first = (range as u64) << self.range_bits;
        first as u32..(first + (1 << self.range_bits)).min(self.vertices) as u32
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        lock(&self.blocks).is_empty()
    }

    /// Whether messages take half of the memory that they may take: time to deliver them.
    pub fn is_half_full(&self) -> bool {
        2 * self.memory_bytes.load(Ordering::Relaxed) >= self.most_bytes
    }

    /// Bytes written to temporary files so far.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    /// Takes all messages out, to be delivered range by range.
    pub fn take(&self) -> Delivery<'_, M> {
        let mut blocks = std::mem::take(&mut *lock(&self.blocks));
        // Sorting is stable: blocks of the same work were added in their order.
        blocks.sort_by_key(|block| block.order);
        *lock(&self.spill) = None;
        Delivery { mail: self, blocks }
    }

    fn add(&self, block: Block<M>) -> Result<()> {
        let bytes = block.memory_bytes();
        let sum_bytes = self.memory_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let block = if sum_bytes <= self.most_bytes { block } else { self.write(block)? };
        lock(&self.blocks).push(block);
        Ok(())
    }

    /// Moves a block to the temporary file.
    fn write(&self, block: Block<M>) -> Result<Block<M>> {
        let bytes = block.memory_bytes();
        let Content::Memory { targets, messages } = &block.content else { return Ok(block) };
        let place_bytes = (size_of_val(&block.starts[..]) + size_of::<Block<M>>()) as u64;
        let _reservation = self.runtime.budget().reserve("places of messages in temporary files", place_bytes)?;
        let spill = self.spill()?;
        let (targets, messages) = (raw_bytes(targets), raw_bytes(messages));
        let offset_bytes = spill.take((targets.len() + messages.len()) as u64);
        spill.write(targets, offset_bytes)?;
        spill.write(messages, offset_bytes + targets.len() as u64)?;
        self.spilled_bytes.fetch_add((targets.len() + messages.len()) as u64, Ordering::Relaxed);
        let content = Content::Disk { spill, offset_bytes, _reservation };
        self.memory_bytes.fetch_sub(bytes, Ordering::Relaxed);
        Ok(Block { order: block.order, starts: block.starts, content })
    }

    fn spill(&self) -> Result<Arc<Spill>> {
        let mut spill = lock(&self.spill);
        if let Some(spill) = &*spill {
            return Ok(Arc::clone(spill));
        }
        let created = Arc::new(Spill::create(self.runtime.backend(), &self.spill_path)?);
        *spill = Some(Arc::clone(&created));
        Ok(created)
    }
}

impl<M> Block<M> {
    /// The memory that it takes of that which messages may take.
    fn memory_bytes(&self) -> u64 {
        let Content::Memory { targets, messages } = &self.content else { return 0 };
        let messages = size_of_val(&targets[..]) + size_of_val(&messages[..]);
        (messages + size_of_val(&self.starts[..]) + size_of::<Self>()) as u64
    }
}

/// Messages that are being delivered; they are gone when this is dropped.
pub(crate) struct Delivery<'a, M> {
    mail: &'a Mail<M>,
    blocks: Vec<Block<M>>,
}

impl<M: Raw> Delivery<'_, M> {
    /// Calls `visit` with the messages to the vertices of a range, in the order in which they were sent, and their
    /// targets.
    ///
    /// # Errors
    /// A temporary file that cannot be read, or a request to stop.
    pub fn deliver(&self, range: usize, mut visit: impl FnMut(u32, M)) -> Result<()> {
        let first = self.mail.range(range).start;
        let (mut read_targets, mut read_messages) = (Vec::new(), Vec::new());
        for block in &self.blocks {
            self.mail.runtime.cancel().check()?;
            let ([t0, m0], [t1, m1]) = (block.starts[range], block.starts[range + 1]);
            if t0 == t1 {
                continue;
            }
            let (targets, messages) = match &block.content {
                Content::Memory { targets, messages } => {
                    (&targets[t0 as usize..t1 as usize], &messages[m0 as usize..m1 as usize])
                }
                Content::Disk { spill, offset_bytes, .. } => {
                    let all_targets = u64::from(block.starts[self.mail.ranges()][0]);
                    read_targets.resize((t1 - t0) as usize, 0);
                    read_messages.resize((m1 - m0) as usize, M::zeroed());
                    spill.read(raw_bytes_mut(&mut read_targets), offset_bytes + 4 * u64::from(t0))?;
                    let offset = offset_bytes + 4 * all_targets + size_of::<M>() as u64 * u64::from(m0);
                    spill.read(raw_bytes_mut(&mut read_messages), offset)?;
                    (&read_targets[..], &read_messages[..])
                }
            };
            let mut remaining = messages.iter();
            let mut message = M::zeroed();
            for &target in targets {
                if target & FIRST != 0 {
                    message = *remaining.next().expect("a message per mark");
                }
                visit(first + (target & !FIRST), message);
            }
        }
        Ok(())
    }
}

impl<M> Drop for Delivery<'_, M> {
    fn drop(&mut self) {
        let bytes = self.blocks.iter().map(Block::memory_bytes).sum();
        self.mail.memory_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The messages that one worker sends.
pub(crate) struct Outbox<M> {
    mail: Arc<Mail<M>>,
    order: u64,
    targets: Vec<u32>,
    /// A message, and where its targets end.
    messages: Vec<(M, u32)>,
    /// Number of targets and messages for every range.
    counts: Box<[[u32; 2]]>,
    /// Size of the future block in bytes.
    block_bytes: usize,
    /// Number of messages sent, those to many vertices counted once.
    pub sent: u64,
    failed: Result<()>,
}

impl<M: Raw> Outbox<M> {
    /// An empty one.
    pub fn new(mail: &Arc<Mail<M>>) -> Self {
        let counts = vec![[0; 2]; mail.ranges() + 1].into();
        Outbox {
            mail: Arc::clone(mail),
            order: 0,
            targets: Vec::new(),
            messages: Vec::new(),
            counts,
            block_bytes: 0,
            sent: 0,
            failed: Ok(()),
        }
    }

    /// Number of vertices that messages can be sent to.
    #[inline]
    pub fn vertices(&self) -> u64 {
        self.mail.vertices
    }

    /// From now on messages are sent by work that has this place in the order of all work.
    ///
    /// # Errors
    /// A full disk.
    pub fn begin(&mut self, order: u64) -> Result<()> {
        self.end()?;
        self.order = order;
        Ok(())
    }

    /// Number of targets of one more message that fit a log and its block, of which `used` bytes are in use.
    #[inline]
    fn room(used: usize) -> usize {
        // A target in the log, and in the block a target and a copy of the message at most.
        LOG_BYTES.saturating_sub(used + size_of::<(M, u32)>()) / (8 + size_of::<M>())
    }

    /// Sends a message to vertices, of which each must exist.
    #[inline]
    pub fn send(&mut self, mut targets: &[u32], message: M) {
        self.sent += u64::from(!targets.is_empty());
        while !targets.is_empty() {
            let used = 4 * self.targets.len() + size_of::<(M, u32)>() * self.messages.len() + self.block_bytes;
            let room = Self::room(used);
            if room == 0 {
                self.close();
                continue;
            }
            let (now, later) = targets.split_at(room.min(targets.len()));
            let mut last = u32::MAX;
            for &target in now {
                let range = target >> self.mail.range_bits;
                let count = &mut self.counts[range as usize];
                count[0] += 1;
                if range != last {
                    last = range;
                    count[1] += 1;
                    self.block_bytes += size_of::<M>();
                }
            }
            self.block_bytes += 4 * now.len();
            self.targets.extend_from_slice(now);
            self.messages.push((message, self.targets.len() as u32));
            targets = later;
        }
    }

    #[cold]
    #[inline(never)]
    fn close(&mut self) {
        if let Err(error) = self.end() {
            // The sender cannot receive an error; the end of the work returns it. Until then there is room again.
            self.failed = Err(error);
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.targets.clear();
        self.messages.clear();
        self.counts.fill([0; 2]);
        self.block_bytes = 0;
    }

    /// Makes a block of what was sent.
    ///
    /// # Errors
    /// A full disk, now or earlier.
    pub fn end(&mut self) -> Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        if self.targets.is_empty() {
            return Ok(());
        }
        let mut sum = [0; 2];
        for count in &mut self.counts {
            let here = std::mem::replace(count, sum);
            sum = [sum[0] + here[0], sum[1] + here[1]];
        }
        let starts = self.counts.clone();
        let mut targets = vec![0; sum[0] as usize];
        let mut messages = vec![M::zeroed(); sum[1] as usize];
        let bits = self.mail.range_bits;
        let mut begin = 0;
        for &(message, end) in &self.messages {
            let mut last = u32::MAX;
            for &target in &self.targets[begin..end as usize] {
                let range = target >> bits;
                let place = &mut self.counts[range as usize];
                let mut local = target & ((1 << bits) - 1);
                if range != last {
                    last = range;
                    local |= FIRST;
                    messages[place[1] as usize] = message;
                    place[1] += 1;
                }
                targets[place[0] as usize] = local;
                place[0] += 1;
            }
            begin = end as usize;
        }
        self.clear();
        self.mail.add(Block { order: self.order, starts, content: Content::Memory { targets, messages } })
    }
}
