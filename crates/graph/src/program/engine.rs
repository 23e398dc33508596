//! The engine of vertex programs: batches of active vertices, the lists that they ask for, and the delivery of their
//! messages.
//!
//! **Invariant:** the state of a vertex is changed by one worker at a time, and read by no other meanwhile. A vertex is
//! in one batch of a round and in one range of a delivery; rounds, deliveries and ends of iterations come one after the
//! other. Parts of a vertex, of which several workers may have one, come in rounds of their own, where states are only
//! read.

use crate::engine::graph::{Direction, DirectionLists, Edges, Graph};
use crate::engine::lists::{visit_here, visit_parts_here};
use crate::engine::scan::Frontier;
use crate::engine::sweep::{Wanted, pages_of_range};
use crate::engine::vertex_set::Bitmap;
use crate::engine::weights::WeightColumn;
use crate::program::messages::{Mail, Outbox};
use crate::program::vertex_program::{Events, ProgramOptions, ProgramRun, Request, Shared, Vertex, VertexProgram};
use crate::steps::active::{Activated, Active, SPARSE_SHARE};
use outcore_image::{Error, Result, Selection, StatsBuilder, SweepStats, Worker};
use outcore_io::buffer::Raw;
use outcore_io::plan::UNIT_PAGES;
use outcore_io::{Buffer, Reservation, ReservedVec, into_inner, lock};
use std::cmp::Reverse;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The most pages of lists, or vertices, of a batch, which may have one vertex more.
const BATCH_PAGES: u64 = 256;
const BATCH_VERTICES: u64 = 1 << 16;
/// Memory of a request, and of the vertex that it is turned into.
const REQUEST_BYTES: u64 = size_of::<Request>() as u64 + 4;
/// Number of batches between deliveries of an asynchronous program.
const ROUND: usize = 16;
/// Number of turns between looks for a request to stop, and of turns that are sorted without one.
const BETWEEN_CHECKS: usize = 1 << 10;
const SORTED_AT_ONCE: usize = 1 << 22;
/// The purpose of the memory of requests.
const REQUESTS: &str = "requests of lists";

enum Work {
    /// The active vertices of a range.
    Range(Range<u32>),
    /// Places in the list of active vertices.
    Listed(Range<usize>),
    /// The pages of one unit that hold a part of the list of a vertex.
    Part { request: Request, pages: Range<u64> },
}

/// The memory that a program needs, its states included, in bytes: what does not depend on what it does.
///
/// Its messages take a quarter of the remaining memory, or what [`ProgramOptions::message_bytes`] says.
pub fn program_bytes<P: VertexProgram>(graph: &Graph) -> u64 {
    let vertices = graph.vertices();
    let inbox = if P::COMBINES { Inbox::<P::Message>::bytes(vertices) } else { 0 };
    let order = (size_of::<Turn>() * turns_at_once::<P>(vertices)) as u64;
    let logs = Mail::<P::Message>::logs_bytes(graph.runtime().threads());
    states_bytes::<P>(graph)
        + Active::bytes(vertices)
        + Bitmap::bytes(vertices)
        + inbox
        + order
        + logs
        + lists_bytes::<P>(graph)
}

/// An active vertex in the order of turns: its priority, greater ones first, and its number.
type Turn = (Reverse<u64>, u32);

/// The most active vertices that are put in an order: lists of them have one already.
fn turns_at_once<P: VertexProgram>(vertices: u64) -> usize {
    (if P::ORDERED { vertices } else { vertices / SPARSE_SHARE + 1 }) as usize
}

/// The memory that the states take, which the caller allocated.
fn states_bytes<P: VertexProgram>(graph: &Graph) -> u64 {
    size_of::<P::State>() as u64 * graph.vertices()
}

/// The memory in which every worker has the longest list, and a request by every vertex of a batch.
fn lists_bytes<P: VertexProgram>(graph: &Graph) -> u64 {
    let edges = graph.directions().iter().map(|&direction| Edges::new(direction, P::WEIGHTS));
    let longest = edges.map(|edges| graph.lists(edges, Frontier::All).longest_bytes()).max().unwrap_or(0);
    graph.runtime().threads() as u64 * (longest + REQUEST_BYTES * requests_of_batch(graph) as u64)
}

/// The requests of a batch whose vertices ask for a list each.
fn requests_of_batch(graph: &Graph) -> usize {
    graph.vertices().min(BATCH_VERTICES) as usize
}

/// Runs a program until no vertex is active and no message under way. `states` has a state for every vertex.
///
/// # Errors
/// A vertex that failed ([`Events::fail`]), a start that [`Frontier::check`] refuses, messages of 1 MiB or more, a page
/// that cannot be read or is damaged, too little memory, a full disk, or a request to stop.
///
/// # Panics
/// `states` has another length.
pub fn run_program<P: VertexProgram>(
    graph: &Graph,
    program: &P,
    states: &mut [P::State],
    options: &ProgramOptions<'_>,
) -> Result<ProgramRun> {
    assert_eq!(states.len() as u64, graph.vertices(), "a state for every vertex");
    let mut stats = StatsBuilder::of_image(graph.image());
    let mut engine = Engine::new(graph, program, states, options)?;
    stats.other(engine.prepared);
    while !engine.is_idle() && options.max_iterations.is_none_or(|most| engine.iteration < most) {
        // Nothing else checks in iterations that read no page.
        graph.runtime().cancel().check()?;
        let active = engine.shared.active.count;
        let sweep = engine.iterate()?;
        stats.step("iteration", active, sweep);
        engine.iteration += 1;
        if !program.end_iteration(engine.iteration - 1, engine.states.all()) {
            break;
        }
    }
    let finished = engine.is_idle();
    let Engine { iteration: iterations, mail, results, .. } = engine;
    let (messages, spilled_bytes) = (into_inner(results).sent, mail.spilled_bytes());
    Ok(ProgramRun {
        iterations,
        finished,
        messages,
        spilled_bytes,
        stats: stats.finish(graph.runtime(), graph.all_pages()),
    })
}

/// Values of vertices, of which each is touched by one worker at a time.
struct Lent<'a, T> {
    first: *mut T,
    len: usize,
    lent: PhantomData<&'a mut [T]>,
}

// SAFETY: workers get disjoint values, which may be sent, or read the same ones, which may be shared; see `Lent::of`
// and `Lent::read`.
unsafe impl<T: Send + Sync> Sync for Lent<'_, T> {}

impl<'a, T> Lent<'a, T> {
    fn new(values: &'a mut [T]) -> Self {
        Lent { first: values.as_mut_ptr(), len: values.len(), lent: PhantomData }
    }

    /// # Safety
    /// No other thread touches the value of this vertex while the borrow lives. A vertex is in one batch of a round and
    /// in one range of a delivery, and batches, deliveries and ends of iterations come one after the other.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    unsafe fn of(&self, vertex: u32) -> &mut T {
        assert!((vertex as usize) < self.len);
        // SAFETY: the value exists, and the caller sees to it that the borrow is the only one.
        unsafe { &mut *self.first.add(vertex as usize) }
    }

    /// # Safety
    /// No thread changes the value of this vertex while the borrow lives.
    #[inline]
    unsafe fn read(&self, vertex: u32) -> &T {
        assert!((vertex as usize) < self.len);
        // SAFETY: the value exists, and the caller sees to it that all borrows are shared ones.
        unsafe { &*self.first.add(vertex as usize) }
    }

    fn all(&mut self) -> &[T] {
        // SAFETY: the slice that this was made of is still lent, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

/// One message per vertex, made of all that came.
struct Inbox<M: Raw> {
    messages: Buffer<M>,
    there: Bitmap,
}

impl<M: Raw> Inbox<M> {
    fn bytes(vertices: u64) -> u64 {
        vertices * size_of::<M>() as u64 + Bitmap::bytes(vertices)
    }

    fn new(graph: &Graph) -> Result<Self> {
        let (budget, vertices) = (graph.runtime().budget(), graph.vertices());
        let messages = Buffer::zeroed(budget, "combined messages", vertices as usize)?;
        Ok(Inbox { messages, there: Bitmap::new(budget, "combined messages", vertices)? })
    }
}

struct Hand<M> {
    outbox: Outbox<M>,
    activated: Activated,
    requests: ReservedVec<Request>,
    /// The requests whose lists are being read; between waves, memory for the next ones.
    wave: ReservedVec<Request>,
}

struct Engine<'a, P: VertexProgram> {
    graph: &'a Graph,
    /// The lists of out- and in-neighbours, and the weights beside them, which the graph keeps as long.
    lists: [Arc<DirectionLists>; 2],
    _weights: Vec<Arc<WeightColumn>>,
    program: &'a P,
    states: Lent<'a, P::State>,
    shared: Shared,
    mail: Arc<Mail<P::Message>>,
    inbox: Option<Inbox<P::Message>>,
    /// Every unit of pages, and every 2^16th vertex, begins a cell; batches of many vertices are made of cells.
    cells: Vec<u32>,
    /// The vertices whose lists span more than a unit of pages, in either direction.
    long: Vec<u32>,
    /// Memory for the order of turns, which is used again in every iteration.
    order: ReservedVec<Turn>,
    asynchronous: bool,
    iteration: u32,
    /// Goes up with every step of an iteration: messages are delivered in the order of steps, and of the work in them.
    step: AtomicU64,
    results: Mutex<IterationResults>,
    /// Statistics of the reads before the first iteration.
    prepared: SweepStats,
    /// The states, and requests of lists.
    _reservations: [Reservation; 2],
}

/// Results of the workers at the end of an iteration.
#[derive(Default)]
struct IterationResults {
    /// Vertices that they made active in this iteration.
    activated: Vec<Activated>,
    /// Number of messages they sent so far.
    sent: u64,
}

impl<'a, P: VertexProgram> Engine<'a, P> {
    fn new(graph: &'a Graph, program: &'a P, states: &'a mut [P::State], options: &ProgramOptions<'_>) -> Result<Self> {
        options.start.check(graph)?;
        let budget = graph.runtime().budget();
        let bytes = program_bytes::<P>(graph);
        graph.make_room("a vertex program", bytes)?;
        let free_bytes = budget.available_bytes().saturating_sub(bytes);
        let message_bytes = options.message_bytes.unwrap_or((free_bytes / 4).min(1 << 30));
        graph.make_room("a vertex program and its messages", bytes.saturating_add(message_bytes))?;
        let (mut prepared, mut weights) = (SweepStats::default(), Vec::new());
        let states_reservation = budget.reserve("the states of a vertex program", states_bytes::<P>(graph))?;
        let mut active = Active::new(graph)?;
        let ending = Bitmap::new(budget, "frontiers", graph.vertices())?;
        match options.start {
            Frontier::Set(set) => (0..set.words()).for_each(|i| ending.set_word(i, set.word(i))),
            Frontier::List(vertices) => vertices.iter().for_each(|&vertex| _ = ending.insert(vertex)),
            Frontier::Range { first, end } => (first..end).for_each(|vertex| _ = ending.insert(vertex)),
            Frontier::Part { set, first, end } => {
                (first..end).filter(|&vertex| set.contains(vertex)).for_each(|vertex| _ = ending.insert(vertex));
            }
            Frontier::All => ending.insert_all(graph.vertices()),
        }
        active.start_with(&ending);
        ending.clear();
        let mail = Arc::new(Mail::new(graph, message_bytes)?);
        let inbox = if P::COMBINES { Some(Inbox::new(graph)?) } else { None };
        let lists_reservation =
            budget.reserve("requests of lists, and lists that span pages", lists_bytes::<P>(graph))?;
        graph.fill_cache()?;
        // Gaps and columns of weights, which a first sweep would find out, are found out here: it takes all workers.
        for &direction in graph.directions() {
            prepared.add(&graph.merge_gap(direction)?.1);
            if P::WEIGHTS {
                weights.push(graph.weight_column(Edges::new(direction, true))?);
            }
        }
        let (cells, long) = cells_of(graph);
        let turns = turns_at_once::<P>(graph.vertices());
        Ok(Engine {
            order: ReservedVec::with_capacity(budget, "the order of turns", turns)?,
            graph,
            lists: [graph.open_lists(Direction::Out)?, graph.open_lists(Direction::In)?],
            _weights: weights,
            program,
            states: Lent::new(states),
            shared: Shared {
                active,
                ending,
                any_ending: AtomicBool::new(false),
                failed: AtomicBool::new(false),
                error: Mutex::default(),
            },
            mail,
            inbox,
            cells,
            long,
            asynchronous: options.asynchronous,
            iteration: 0,
            step: AtomicU64::new(0),
            results: Mutex::default(),
            prepared,
            _reservations: [states_reservation, lists_reservation],
        })
    }

    fn lists(&self, direction: Direction) -> &DirectionLists {
        &self.lists[usize::from(direction == Direction::In)]
    }

    /// No vertex is active and no message under way.
    fn is_idle(&self) -> bool {
        self.shared.active.count == 0 && self.mail.is_empty()
    }

    fn iterate(&mut self) -> Result<SweepStats> {
        let start = Instant::now();
        let parts = Mutex::default();
        let plan = self.plan()?;
        let mut sweep = self.rounds(&plan, &parts)?;
        let mut parts = into_inner(parts);
        parts.sort_unstable();
        let plan: Vec<Work> = parts.into_iter().flat_map(|request| self.parts_of(request)).collect();
        sweep.add(&self.rounds(&plan, &Mutex::default())?);
        if !self.asynchronous {
            // Messages that combine have been put into the inbox on the way, if there were many.
            self.collect()?;
            self.hand_out()?;
        }
        if self.shared.any_ending.swap(false, Ordering::Relaxed) {
            let ending = &self.shared.ending;
            self.each_range(|hand, _, words| {
                for (i, vertex) in ending.iter(words).enumerate() {
                    self.check_stop(i)?;
                    ending.remove(vertex);
                    let state = self.state(vertex);
                    self.program.on_iteration_end(&mut self.events(vertex, hand), state);
                }
                Ok(())
            })?;
        }
        let activated = std::mem::take(&mut self.results.get_mut().unwrap_or_else(PoisonError::into_inner).activated);
        self.shared.active.advance_to(activated);
        sweep.seconds = start.elapsed().as_secs_f64();
        Ok(sweep)
    }

    /// The active vertices by batches; where these are places in an order, that is made.
    fn plan(&mut self) -> Result<Vec<Work>> {
        let active = &self.shared.active;
        let mut plan = Filling::default();
        if !P::ORDERED
            && let Frontier::Set(set) = active.frontier()
        {
            for (place, cell) in self.cells.windows(2).enumerate() {
                let words = Bitmap::words_of(&(cell[0] as usize / 64 * 64..cell[1] as usize));
                let count = words.map(|i| u64::from(set.word(i).count_ones())).sum::<u64>();
                plan.add(place, count.min(UNIT_PAGES), count);
            }
            let vertices = |cells: Range<usize>| Work::Range(self.cells[cells.start]..self.cells[cells.end]);
            return Ok(plan.batches.into_iter().map(vertices).collect());
        }
        let mut order = std::mem::take(self.order.as_mut_vec());
        let (active, lists) = (&self.shared.active, self.lists(Direction::Out));
        order.clear();
        let mut add = |vertex: u32| {
            self.check_stop(order.len())?;
            let priority = if P::ORDERED { self.program.priority(vertex, self.shared_state(vertex)) } else { 0 };
            order.push((Reverse(priority), vertex));
            Ok::<_, Error>(())
        };
        match active.frontier() {
            Frontier::List(list) => list.iter().copied().try_for_each(&mut add)?,
            _ => active.set.iter(0..active.set.words()).try_for_each(&mut add)?,
        }
        if P::ORDERED {
            self.sort(&mut order)?;
        }
        let mut last = u64::MAX;
        for (place, &(_, vertex)) in order.iter().enumerate() {
            let pages = pages_of_range(lists, vertex, vertex + 1);
            let shared = u64::from(pages.start == last);
            last = pages.end.wrapping_sub(1);
            plan.add(place, (pages.end - pages.start).saturating_sub(shared), 1);
        }
        *self.order.as_mut_vec() = order;
        Ok(plan.batches.into_iter().map(Work::Listed).collect())
    }

    /// Sorts turns by halves, so that a request to stop is heard.
    fn sort(&self, turns: &mut [Turn]) -> Result<()> {
        self.graph.runtime().cancel().check()?;
        if turns.len() <= SORTED_AT_ONCE {
            turns.sort_unstable();
            return Ok(());
        }
        let middle = turns.len() / 2;
        turns.select_nth_unstable(middle);
        let (before, after) = turns.split_at_mut(middle);
        self.sort(before)?;
        self.sort(after)
    }

    /// Hears a request to stop at some of the places.
    #[inline]
    fn check_stop(&self, place: usize) -> Result<()> {
        if place.is_multiple_of(BETWEEN_CHECKS) { Ok(self.graph.runtime().cancel().check()?) } else { Ok(()) }
    }

    fn hand(&self) -> Result<Hand<P::Message>> {
        let (budget, owned) = (self.graph.runtime().budget(), requests_of_batch(self.graph));
        let (requests, wave) =
            (ReservedVec::beside(budget, REQUESTS, owned)?, ReservedVec::beside(budget, REQUESTS, 0)?);
        Ok(Hand { outbox: Outbox::new(&self.mail), activated: Activated::default(), requests, wave })
    }

    /// The parts of a long list.
    fn parts_of(&self, request: Request) -> impl Iterator<Item = Work> + use<P> {
        let pages = pages_of_range(self.lists(request.direction), request.vertex, request.vertex + 1);
        let units = pages.start / UNIT_PAGES..pages.end.div_ceil(UNIT_PAGES);
        units.map(move |unit| {
            let (first, end) = (unit * UNIT_PAGES, (unit + 1) * UNIT_PAGES);
            Work::Part { request, pages: pages.start.max(first)..pages.end.min(end) }
        })
    }

    /// Works off batches, and delivers messages in between where that may be.
    fn rounds(&mut self, plan: &[Work], parts: &Mutex<Vec<Request>>) -> Result<SweepStats> {
        let next = AtomicUsize::new(0);
        let (mut total, mut end) = (SweepStats::default(), 0);
        loop {
            let begin = next.load(Ordering::Relaxed);
            if begin >= plan.len() {
                return Ok(total);
            }
            // A round that ended early, since messages took their memory, goes on.
            if begin >= end {
                end = if self.asynchronous { plan.len().min(begin + ROUND) } else { plan.len() };
            }
            let step = self.next_step();
            let (results, sweep) = self.graph.image().with_workers(end - begin, |worker, stop| {
                let (mut hand, mut sweep) = (self.hand()?, SweepStats::default());
                while !stop.load(Ordering::Relaxed) && !self.shared.has_failed() {
                    let take = |place: usize| (place < end).then_some(place + 1);
                    let Ok(place) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else { break };
                    self.graph.runtime().cancel().check()?;
                    hand.outbox.begin(step | place as u64)?;
                    sweep.add(&self.batch(&plan[place], worker, &mut hand, parts)?);
                    if P::COMBINES && self.mail.is_half_full() {
                        break;
                    }
                }
                self.lay_down(hand)?;
                Ok(sweep)
            })?;
            self.shared.check()?;
            results.iter().chain([&sweep]).for_each(|sweep| total.add(sweep));
            let is_over = next.load(Ordering::Relaxed) >= end;
            if P::COMBINES || (self.asynchronous && is_over) {
                self.collect()?;
            }
            // Not where the memory of messages ends a part of a round: results would depend on it.
            if self.asynchronous && is_over {
                self.hand_out()?;
            }
        }
    }

    /// Gives the vertices of a batch their turn, and all lists that are asked for.
    fn batch(
        &self,
        batch: &Work,
        worker: &mut Worker,
        hand: &mut Hand<P::Message>,
        parts: &Mutex<Vec<Request>>,
    ) -> Result<SweepStats> {
        let mut total = SweepStats::default();
        let turn = |(place, vertex): (usize, u32)| {
            self.check_stop(place)?;
            let state = self.state(vertex);
            self.program.run(&mut self.vertex(vertex, hand, Direction::Out, false), state);
            // Depends on the program alone, as all that decides on the order of messages.
            if hand.requests.len() as u64 >= BATCH_VERTICES {
                total.add(&self.waves(worker, hand, None, parts)?);
            }
            Ok::<_, Error>(())
        };
        match batch {
            Work::Range(range) => {
                let words = Bitmap::words_of(&(range.start as usize / 64 * 64..range.end as usize));
                let vertices = self.shared.active.set.iter(words).filter(|vertex| range.contains(vertex));
                vertices.enumerate().try_for_each(turn)?;
            }
            Work::Listed(places) => {
                self.order[places.clone()].iter().map(|(_, vertex)| *vertex).enumerate().try_for_each(turn)?;
            }
            Work::Part { request, pages } => {
                let whole = self.shared_state(request.vertex);
                let Some(mut state) = self.program.part(whole) else { return Ok(SweepStats::default()) };
                let edges = Edges::new(request.direction, P::WEIGHTS);
                let frontier = Frontier::Range { first: request.vertex, end: request.vertex + 1 };
                let wanted = Wanted::Pages(Selection::Pages(pages.clone()));
                let mut sweep = visit_parts_here(self.graph, worker, edges, wanted, frontier, |list| {
                    let mut vertex = self.vertex(request.vertex, hand, request.direction, true);
                    self.program.on_list(&mut vertex, &mut state, list.alone());
                    Ok(())
                })?;
                sweep.add(&self.waves(worker, hand, Some(&mut state), parts)?);
                return Ok(sweep);
            }
        }
        total.add(&self.waves(worker, hand, None, parts)?);
        Ok(total)
    }

    /// Reads what was asked for, until nothing more is; `part` is the state of the part of a vertex that asks.
    fn waves(
        &self,
        worker: &mut Worker,
        hand: &mut Hand<P::Message>,
        mut part: Option<&mut P::State>,
        parts: &Mutex<Vec<Request>>,
    ) -> Result<SweepStats> {
        let mut total = SweepStats::default();
        let is_part = part.is_some();
        let budget = self.graph.runtime().budget();
        let mut is_swapped = false;
        while !hand.requests.is_empty() && !self.shared.has_failed() {
            std::mem::swap(&mut hand.requests, &mut hand.wave);
            is_swapped = !is_swapped;
            let mut wave = std::mem::take(hand.wave.as_mut_vec());
            if !wave.is_sorted() {
                wave.sort_unstable();
            }
            wave.dedup();
            if !is_part && !self.long.is_empty() {
                wave.retain(|request| !self.set_aside(request, parts));
            }
            for requests in wave.chunk_by(|a, b| a.direction == b.direction) {
                let Some(&Request { direction, .. }) = requests.first() else { continue };
                let mut vertices = ReservedVec::beside(budget, REQUESTS, requests_of_batch(self.graph))?;
                vertices.extend(requests.iter().map(|request| request.vertex))?;
                vertices.as_mut_vec().dedup();
                let edges = Edges::new(direction, P::WEIGHTS);
                let mut remaining = requests;
                let sweep = visit_here(self.graph, worker, edges, Frontier::List(&vertices), |list| {
                    let count = remaining.iter().take_while(|request| request.vertex == list.vertex).count();
                    let (now, later) = remaining.split_at(count);
                    remaining = later;
                    for request in now {
                        let state = match &mut part {
                            Some(state) => &mut **state,
                            None => self.state(request.by),
                        };
                        self.program.on_list(&mut self.vertex(request.by, hand, direction, is_part), state, list);
                    }
                })?;
                total.add(&sweep);
            }
            wave.clear();
            *hand.wave.as_mut_vec() = wave;
        }
        hand.requests.clear();
        // The next batch has the memory that is set aside for it.
        if is_swapped {
            std::mem::swap(&mut hand.requests, &mut hand.wave);
        }
        Ok(total)
    }

    /// Whether the vertex gets its list by parts, later.
    fn set_aside(&self, request: &Request, parts: &Mutex<Vec<Request>>) -> bool {
        let Request { direction, vertex, by } = *request;
        if vertex != by || self.long.binary_search(&vertex).is_err() {
            return false;
        }
        let pages = pages_of_range(self.lists(direction), vertex, vertex + 1);
        let apart = pages.end - pages.start > UNIT_PAGES && self.program.part(self.shared_state(vertex)).is_some();
        if apart {
            lock(parts).push(*request);
        }
        apart
    }

    /// Takes messages out: those that combine go to the inbox, others to their vertices.
    fn collect(&mut self) -> Result<()> {
        if self.mail.is_empty() {
            return Ok(());
        }
        let (delivery, program) = (self.mail.take(), self.program);
        let Some(inbox) = &mut self.inbox else {
            return self.each_range(|hand, range, _| {
                delivery.deliver(range, |vertex, message| {
                    let state = self.state(vertex);
                    program.on_message(&mut self.events(vertex, hand), state, message);
                })
            });
        };
        let (messages, there) = (Lent::new(&mut inbox.messages), &inbox.there);
        self.graph.runtime().for_each_range(self.mail.ranges(), 1, |ranges| {
            delivery.deliver(ranges.start, |vertex, message| {
                // SAFETY: the vertex is in one range, which one worker has.
                let slot = unsafe { messages.of(vertex) };
                *slot = if there.insert(vertex) { message } else { program.combine(*slot, message) };
            })
        })
    }

    /// Gives the vertices what is in the inbox.
    fn hand_out(&self) -> Result<()> {
        let Some(Inbox { messages, there }) = &self.inbox else { return Ok(()) };
        self.each_range(|hand, _, words| {
            for (i, vertex) in there.iter(words).enumerate() {
                self.check_stop(i)?;
                there.remove(vertex);
                let state = self.state(vertex);
                self.program.on_message(&mut self.events(vertex, hand), state, messages[vertex as usize]);
            }
            Ok(())
        })
    }

    /// Does something for every range of vertices, on all workers; `work` gets the number of the range and the words of
    /// a bitmap that it is.
    fn each_range(&self, work: impl Fn(&mut Hand<P::Message>, usize, Range<usize>) -> Result<()> + Sync) -> Result<()> {
        let (step, next, count) = (self.next_step(), AtomicUsize::new(0), self.mail.ranges());
        self.graph.runtime().run_on(count, |_| {
            let mut hand = self.hand()?;
            loop {
                self.graph.runtime().cancel().check()?;
                let range = next.fetch_add(1, Ordering::Relaxed);
                if range >= count || self.shared.has_failed() {
                    return self.lay_down(hand);
                }
                hand.outbox.begin(step | range as u64)?;
                let vertices = self.mail.range(range);
                work(&mut hand, range, Bitmap::words_of(&(vertices.start as usize..vertices.end as usize)))?;
            }
        })?;
        self.shared.check()
    }

    /// The state of a vertex that this worker owns in this round.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    fn state(&self, vertex: u32) -> &mut P::State {
        // SAFETY: no other worker has it, by this module's invariant.
        unsafe { self.states.of(vertex) }
    }

    /// The state of a vertex that no worker changes now: this worker has the vertex, no worker has any, or all have
    /// parts.
    #[inline]
    fn shared_state(&self, vertex: u32) -> &P::State {
        // SAFETY: no worker changes it, by this module's invariant.
        unsafe { self.states.read(vertex) }
    }

    fn next_step(&self) -> u64 {
        self.step.fetch_add(1, Ordering::Relaxed) << 32
    }

    fn lay_down(&self, mut hand: Hand<P::Message>) -> Result<()> {
        hand.outbox.end()?;
        let mut results = lock(&self.results);
        results.sent += hand.outbox.sent;
        results.activated.push(hand.activated);
        Ok(())
    }

    #[inline]
    fn events<'h>(&'h self, id: u32, hand: &'h mut Hand<P::Message>) -> Events<'h, P::Message> {
        self.vertex(id, hand, Direction::Out, false).events
    }

    #[inline]
    fn vertex<'h>(
        &'h self,
        id: u32,
        hand: &'h mut Hand<P::Message>,
        direction: Direction,
        is_part: bool,
    ) -> Vertex<'h, P::Message> {
        let Hand { outbox, activated, requests, .. } = hand;
        let events = Events { id, iteration: self.iteration, shared: &self.shared, outbox, activated };
        Vertex { events, requests, direction, is_part }
    }
}

/// Beginnings of the cells, the end behind them, and the vertices whose lists span more than a unit of pages.
fn cells_of(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let (mut cells, mut long) = (Vec::new(), Vec::new());
    for &direction in graph.directions() {
        let lists = graph.list_pages(direction);
        for key in lists.index.iter_from(0).step_by(UNIT_PAGES as usize) {
            let vertex = (key / 2) as u32;
            let pages = pages_of_range(&lists, vertex, vertex + 1);
            if pages.end - pages.start > UNIT_PAGES {
                long.push(vertex);
            }
            if direction == Direction::Out {
                cells.push(vertex);
            }
        }
    }
    cells.extend((0..graph.vertices()).step_by(BATCH_VERTICES as usize).map(|vertex| vertex as u32));
    cells.push(graph.vertices() as u32);
    for vertices in [&mut cells, &mut long] {
        vertices.sort_unstable();
        vertices.dedup();
    }
    (cells, long)
}

/// Makes batches of adjacent places, full ones but for the last.
#[derive(Default)]
struct Filling {
    batches: Vec<Range<usize>>,
    pages: u64,
    vertices: u64,
}

impl Filling {
    /// Adds the vertices at a place, `vertices` of them, and the `pages` pages of their lists.
    fn add(&mut self, place: usize, pages: u64, vertices: u64) {
        if vertices == 0 {
            return;
        }
        match self.batches.last_mut() {
            Some(batch) if self.pages < BATCH_PAGES && self.vertices < BATCH_VERTICES => batch.end = place + 1,
            _ => {
                self.batches.push(place..place + 1);
                (self.pages, self.vertices) = (0, 0);
            }
        }
        self.pages += pages;
        self.vertices += vertices;
    }
}
