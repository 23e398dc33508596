//! Vertex programs: what a vertex does when its turn, a list, a message or the end of an iteration comes.
//!
//! An iteration gives every active vertex its turn ([`VertexProgram::run`]), hands it the lists that it asks for, its
//! own or those of other vertices ([`VertexProgram::on_list`]), delivers messages ([`VertexProgram::on_message`]), and
//! ends ([`VertexProgram::on_iteration_end`]). Vertices that a call activates are active in the next one. A vertex
//! changes nothing but its own state; everything else it says by messages. So a program needs no locks: whatever
//! happens to a vertex happens on one worker at a time.
//!
//! Active vertices come in batches, whose lists together fill a read of some size. A worker gives all vertices of a
//! batch their turn, sorts what they asked for, reads each list once, and does the same again with what was asked for
//! meanwhile. Vertices that ask for many lists each are fewer at a time. Batches, and the order of their messages, do
//! not depend on the workers. So a program that is deterministic by itself gives the same result on any number of them.
//!
//! *Cost.* Three bits per vertex, the states, and for programs that combine messages one message and a bit per vertex.
//! Messages take a quarter of the memory that is left, and temporary files what is beyond that.
//!
//! Zheng, Mhembere, Burns, Vogelstein, Priebe, Szalay, *FlashGraph: processing billion-node graphs on an array of
//! commodity SSDs*, FAST 2015, section 3.

use crate::engine::graph::Direction;
use crate::engine::scan::{Frontier, List};
use crate::engine::vertex_set::Bitmap;
use crate::program::messages::Outbox;
use crate::steps::active::{Activated, Active};
use outcore_image::{Error, Result, Stats};
use outcore_io::buffer::Raw;
use outcore_io::{ReservedVec, lock};
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// An algorithm, told from a vertex's point of view.
///
/// ```no_run
/// # use outcore_io::Runtime;
/// # mod outcore {
/// #     pub use {outcore_graph::*, outcore_image::ImageOptions as GraphOptions, outcore_image::Result};
/// #     pub mod engine { pub use outcore_graph::*; }
/// # }
/// use outcore::{Direction, Graph, GraphOptions};
/// use outcore::engine::{Frontier, List, ProgramOptions, Vertex, VertexProgram, run_program};
///
/// /// How far every vertex is from the first ones: breadth-first search.
/// struct Search;
///
/// impl VertexProgram for Search {
///     type State = u32;
///     type Message = ();
///
///     fn run(&self, vertex: &mut Vertex<'_, ()>, level: &mut u32) {
///         if *level == u32::MAX {
///             *level = vertex.iteration();
///             vertex.request(Direction::Out);
///         }
///     }
///
///     fn on_list(&self, vertex: &mut Vertex<'_, ()>, _level: &mut u32, list: List<'_>) {
///         vertex.activate(list.neighbours);
///     }
/// }
///
/// # fn main() -> outcore::Result<()> {
/// # let runtime = Runtime::new(Default::default())?;
/// # let graph = Graph::open(&runtime, "web.oc", GraphOptions::default())?;
/// let mut levels = vec![u32::MAX; graph.vertices() as usize];
/// let start = Frontier::List(&[0]);
/// run_program(&graph, &Search, &mut levels, &ProgramOptions { start, ..ProgramOptions::default() })?;
/// # Ok(()) }
/// ```
pub trait VertexProgram: Sync {
    /// State of a vertex. All states are in memory.
    type State: Send + Sync;
    /// A message between vertices: a number, an array of numbers, or a structure that derives `bytemuck::Pod`.
    type Message: Raw;

    /// Messages to the same vertex are made one by [`VertexProgram::combine`]. It is delivered at the end of the
    /// iteration.
    const COMBINES: bool = false;
    /// Active vertices get their turns by falling [`VertexProgram::priority`].
    const ORDERED: bool = false;
    /// Lists come with the weights of their edges.
    const WEIGHTS: bool = false;

    /// The turn of an active vertex. Nothing is read for it before: it requests the lists that it needs.
    fn run(&self, vertex: &mut Vertex<'_, Self::Message>, state: &mut Self::State);

    /// A list that the vertex asked for has come; for a part of a vertex ([`Vertex::is_part`]), a part of its list.
    fn on_list(&self, _vertex: &mut Vertex<'_, Self::Message>, _state: &mut Self::State, _list: List<'_>) {}

    /// A message has come, be the vertex active or not. Those of one iteration come in the order of the turns of their
    /// senders.
    fn on_message(&self, _events: &mut Events<'_, Self::Message>, _state: &mut Self::State, _message: Self::Message) {}

    /// The iteration ends; called for vertices that asked for it.
    fn on_iteration_end(&self, _events: &mut Events<'_, Self::Message>, _state: &mut Self::State) {}

    /// The message that stands for two to the same vertex.
    fn combine(&self, _before: Self::Message, after: Self::Message) -> Self::Message {
        after
    }

    /// The priority of a vertex: higher ones get their turns first, and vertices of equal priority by their numbers.
    fn priority(&self, _vertex: u32, _state: &Self::State) -> u64 {
        0
    }

    /// The state for a part of a vertex whose own list spans more than 256 KiB; `None` if it wants that list as a
    /// whole.
    ///
    /// Parts of a vertex get parts of its list, on all workers at once, each with a state of its own, which is dropped
    /// in the end: what a part finds out it sends to itself as a message.
    fn part(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// All vertices are done with the iteration; `false` ends the program.
    fn end_iteration(&self, _iteration: u32, _states: &[Self::State]) -> bool {
        true
    }
}

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOptions<'a> {
    /// The vertices that are active first.
    pub start: Frontier<'a>,
    /// The most iterations.
    pub max_iterations: Option<u32>,
    /// Messages are delivered while the iteration goes on, after every 16 batches, so that vertices whose turn comes
    /// later know of them. Programs that may be run so often need fewer iterations.
    pub asynchronous: bool,
    /// The memory that messages may take, in bytes; `None` takes a quarter of the free memory, at most 1 GiB.
    pub message_bytes: Option<u64>,
}

impl Default for ProgramOptions<'_> {
    fn default() -> Self {
        ProgramOptions { start: Frontier::All, max_iterations: None, asynchronous: false, message_bytes: None }
    }
}

/// Report of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramRun {
    /// Number of iterations.
    pub iterations: u32,
    /// Whether it ended because no vertex was active and no message under way.
    pub finished: bool,
    /// Number of messages sent, those to many vertices counted once.
    pub messages: u64,
    /// Bytes of them that were written to temporary files.
    pub spilled_bytes: u64,
    /// Statistics of its reads, one step per iteration.
    pub stats: Stats,
}

/// A vertex that something happens to, and what it can do.
pub struct Events<'a, M: Raw> {
    pub(crate) id: u32,
    pub(crate) iteration: u32,
    pub(crate) shared: &'a Shared,
    pub(crate) outbox: &'a mut Outbox<M>,
    pub(crate) activated: &'a mut Activated,
}

/// Data that all workers of a program share.
pub(crate) struct Shared {
    pub active: Active,
    /// The vertices that asked for the end of the iteration.
    pub ending: Bitmap,
    pub any_ending: AtomicBool,
    /// Some vertex failed, and the first error.
    pub failed: AtomicBool,
    pub error: Mutex<Option<Error>>,
}

impl Shared {
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// The first error of a vertex, if there was one.
    pub fn check(&self) -> Result<()> {
        match lock(&self.error).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl<M: Raw> Events<'_, M> {
    /// The number of the vertex.
    #[inline]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Number of earlier iterations.
    #[inline]
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// Sends a message to a vertex. What is sent while messages are delivered, or at the end of an iteration, comes in
    /// the next one.
    ///
    /// # Panics
    /// There is no such vertex.
    #[inline]
    pub fn send(&mut self, target: u32, message: M) {
        self.multicast(&[target], message);
    }

    /// Sends the same message to many vertices.
    ///
    /// # Panics
    /// There is no such vertex.
    #[inline]
    pub fn multicast(&mut self, targets: &[u32], message: M) {
        self.check(targets);
        self.outbox.send(targets, message);
    }

    /// Makes vertices active in the next iteration.
    ///
    /// # Panics
    /// There is no such vertex.
    #[inline]
    pub fn activate(&mut self, vertices: &[u32]) {
        self.check(vertices);
        vertices.iter().for_each(|&vertex| self.shared.active.activate(vertex, true, self.activated));
    }

    /// Makes this vertex active in the next iteration.
    #[inline]
    pub fn activate_self(&mut self) {
        self.shared.active.activate(self.id, true, self.activated);
    }

    /// Ends the program with an error of any type, or a text: [`run_program`](crate::run_program()) returns the first
    /// one. Calls that run at the same time may finish.
    #[cold]
    pub fn fail(&mut self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) {
        lock(&self.shared.error).get_or_insert(Error::custom(error));
        self.shared.failed.store(true, Ordering::Relaxed);
    }

    /// Asks for [`VertexProgram::on_iteration_end`].
    #[inline]
    pub fn request_end(&mut self) {
        self.shared.ending.insert(self.id);
        self.shared.any_ending.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn check(&self, vertices: &[u32]) {
        let count = self.outbox.vertices();
        let highest = vertices.iter().copied().max();
        assert!(highest.is_none_or(|vertex| u64::from(vertex) < count), "vertex {highest:?} of {count}");
    }
}

/// A vertex whose turn it is, or whose list has come, and what it can do.
pub struct Vertex<'a, M: Raw> {
    pub(crate) events: Events<'a, M>,
    pub(crate) requests: &'a mut ReservedVec<Request>,
    pub(crate) direction: Direction,
    pub(crate) is_part: bool,
}

impl<M: Raw> std::fmt::Debug for Events<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut events = f.debug_struct("Events");
        events.field("id", &self.id).field("iteration", &self.iteration).finish_non_exhaustive()
    }
}

impl<M: Raw> std::fmt::Debug for Vertex<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut vertex = f.debug_struct("Vertex");
        vertex.field("id", &self.id).field("iteration", &self.iteration).field("is_part", &self.is_part);
        vertex.finish_non_exhaustive()
    }
}

impl<'a, M: Raw> Deref for Vertex<'a, M> {
    type Target = Events<'a, M>;

    #[inline]
    fn deref(&self) -> &Events<'a, M> {
        &self.events
    }
}

impl<'a, M: Raw> DerefMut for Vertex<'a, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Events<'a, M> {
        &mut self.events
    }
}

impl<M: Raw> Vertex<'_, M> {
    /// Asks for the vertex's own list.
    #[inline]
    pub fn request(&mut self, direction: Direction) {
        let vertex = self.events.id;
        if let Err(error) = self.requests.push(Request { direction, vertex, by: vertex }) {
            self.events.fail(error);
        }
    }

    /// Asks for the lists of any vertices. They come in the order of these vertices, each once, however often it is
    /// asked for at a time. A request takes 12 bytes until the list comes; without memory for it the program ends.
    ///
    /// # Panics
    /// There is no such vertex.
    #[inline]
    pub fn request_of(&mut self, vertices: &[u32], direction: Direction) {
        self.events.check(vertices);
        let by = self.events.id;
        let requests = vertices.iter().map(|&vertex| Request { direction, vertex, by });
        if let Err(error) = self.requests.extend(requests) {
            self.events.fail(error);
        }
    }

    /// The direction of the list that has come.
    #[inline]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether this is a part of a vertex.
    #[inline]
    pub fn is_part(&self) -> bool {
        self.is_part
    }
}

/// A list that a vertex asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Request {
    pub direction: Direction,
    pub vertex: u32,
    pub by: u32,
}
