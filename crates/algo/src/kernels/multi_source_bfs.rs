//! Breadth-first search from many sources at once.
//!
//! *Idea.* A vertex has a bit for every source, so one look at a neighbour serves 64 searches (Then et al., *The more
//! the merrier: efficient multi-source graph traversal*, VLDB 2014). All searches go level by level together; those
//! that do not fit at once follow in further batches.
//!
//! *Direction, per source.* All searches push as long as following the edges of their active vertices costs less than a
//! look at all vertices, as on grids and roads. Otherwise a search with few active vertices pushes and one with many
//! pulls, both in the same step: on graphs with hubs most searches are wide on the same two or three levels, but some
//! lag behind, and pulling for these would read the lists of nearly all vertices. Before lists are read, the hub column
//! decides what it can: a vertex needs no list if its hub, its neighbour of the greatest degree, became active in all
//! searches that pull and have not reached the vertex. Pulling from a list ends when all these searches have reached
//! the vertex.
//!
//! *Encoding.* `seen`, `visit` and `next` have one row of bits per vertex (`searches/rows.rs`): the searches that have
//! reached it, those in which it is active, those in which it becomes active. While few vertices are active they are a
//! list, and a step costs only its lists, not a look at all vertices.
//!
//! *Cost.* 16.4 bytes per vertex, and 24 for every 64 sources of a batch. Every step reads each page it wants once per
//! direction.

use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::searches::reach::{MultiSourceBfs, MultiSourceBfsOptions, Reach, Reached, levels, results};
use crate::kernels::searches::rows::{BitRow, Rows, Tally, any};
use crate::sources::check_vertices;
use crate::state::{Layout, array, bitmap, hubs};
use crate::visit::for_each_list;
use outcore_graph::{Bitmap, Direction, Frontier, Graph, RANGE, SPARSE_SHARE, is_small_push, scan, vertex_map};
use outcore_image::{Result, StatsBuilder, SweepStats};
use outcore_io::Buffer;
use outcore_io::buffer::prefetched;
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The most words of a row: searches from 512 sources.
const MOST_WORDS: u64 = 8;
/// A search pulls if more than one vertex in `PULL_SHARE` is active.
const PULL_SHARE: u64 = 1 << 11;

/// The estimate for searches from the sources, with the least state that works: 64 sources at a time.
pub(crate) fn estimate(graph: &Graph, options: &MultiSourceBfsOptions) -> Estimate {
    let passes = options.sources.len().div_ceil(64) as f64;
    Reads { passes, bound: Bound::Usual, pages_per_pass: graph.all_pages(), column_pages: 0 }
        .estimate(graph, bytes(graph, options, 1), vec![ColumnKind::Number, ColumnKind::Count])
        .with_more_result(graph, levels(graph, options).bytes())
}

/// Hubs; the rows `seen`, `visit` and `next`; and the vertices that push and that pull.
type State = ((Buffer<AtomicU32>, SweepStats), Bits, Bits, Bits, (Bitmap, Bitmap));
type Bits = Buffer<AtomicU64>;

/// The state of searches against a direction, with rows of `words` words.
fn state(graph: &Graph, backwards: Direction, words: u64) -> impl Layout<Made = State> {
    let rows = || array(graph, "bits of searches", words * graph.vertices());
    let set = || bitmap(graph, "frontiers", graph.vertices());
    (hubs(graph, backwards), rows(), rows(), rows(), (set(), set()))
}

fn bytes(graph: &Graph, options: &MultiSourceBfsOptions, words: u64) -> u64 {
    let lists = 8 * (graph.vertices() / SPARSE_SHARE + 1);
    (results(graph, options), state(graph, Direction::In, words)).bytes().saturating_add(lists)
}

/// Searches breadth-first from many sources at once, along the direction of the edges.
///
/// # Errors
/// A source or target that the graph does not have, too little memory (40.4 bytes per vertex, and 4 per source and
/// target), a page that cannot be read or is damaged, a request to stop.
pub fn multi_source_bfs(graph: &Graph, options: &MultiSourceBfsOptions) -> Result<MultiSourceBfs> {
    let mut stats = StatsBuilder::of_image(graph.image());
    let answer = search(graph, options, Direction::Out, &mut stats)?;
    Ok(answer.finish(graph, stats))
}

/// Searches along the direction of the edges or against it.
pub(crate) fn search(
    graph: &Graph,
    options: &MultiSourceBfsOptions,
    onwards: Direction,
    stats: &mut StatsBuilder,
) -> Result<Reached> {
    check_vertices(graph, &options.sources)?;
    check_vertices(graph, &options.targets)?;
    let available = graph.runtime().budget().available_bytes();
    // As many sources at once as there are and as the memory holds.
    let mut words = (options.sources.len().div_ceil(64).next_power_of_two() as u64).min(MOST_WORDS);
    while words > 1 && bytes(graph, options, words) > available {
        words /= 2;
    }
    graph.make_room("searches from many sources", bytes(graph, options, words))?;
    let (reached_by, distance_sums, levels, _targets) = results(graph, options).make()?;
    let mut answer = Reached {
        reached_by,
        distance_sums,
        levels,
        reach: Vec::with_capacity(options.sources.len()),
        targets: options.targets.iter().copied().zip(0..).collect(),
    };
    answer.targets.sort_unstable();
    match words {
        1 => Searches::<1>::run(graph, options, onwards, &mut answer, stats)?,
        2 => Searches::<2>::run(graph, options, onwards, &mut answer, stats)?,
        4 => Searches::<4>::run(graph, options, onwards, &mut answer, stats)?,
        _ => Searches::<8>::run(graph, options, onwards, &mut answer, stats)?,
    }
    Ok(answer)
}

/// Searches from `64 W` sources at a time.
struct Searches<'a, const W: usize> {
    graph: &'a Graph,
    onwards: Direction,
    /// Per vertex, the neighbour of the greatest degree from which steps lead to it.
    hubs: Buffer<AtomicU32>,
    seen: Rows<AtomicU64, W>,
    visit: Rows<AtomicU64, W>,
    next: Rows<AtomicU64, W>,
    /// The active vertices in rising order, while they are few.
    list: Option<Vec<u32>>,
    /// The vertices that push. Empty while there is a list.
    pushing: Bitmap,
    /// The vertices whose lists are pulled from; while there is a list, those that a push makes active.
    pulling: Bitmap,
    level: u32,
}

impl<'a, const W: usize> Searches<'a, W> {
    fn run(
        graph: &'a Graph,
        options: &MultiSourceBfsOptions,
        onwards: Direction,
        answer: &mut Reached,
        stats: &mut StatsBuilder,
    ) -> Result<()> {
        let ((hubs, sweep), seen, visit, next, (pushing, pulling)) =
            state(graph, onwards.reversed(), W as u64).make()?;
        stats.other(sweep);
        let (seen, visit, next) = (Rows::<_, W>(seen), Rows(visit), Rows(next));
        let mut searches = Searches { graph, onwards, hubs, seen, visit, next, list: None, pushing, pulling, level: 0 };
        graph.fill_cache()?;
        for sources in options.sources.chunks(64 * W) {
            searches.start(sources)?;
            let first = answer.reach.len();
            answer.reach.resize(first + sources.len(), Reach::default());
            loop {
                let counts = searches.settle(answer)?;
                searches.store_levels(answer, first);
                for (reach, &count) in answer.reach[first..].iter_mut().zip(&counts) {
                    reach.reached += count;
                    reach.depth = if count > 0 { searches.level } else { reach.depth };
                }
                let active = counts.iter().sum();
                if active == 0 || options.depth_limit.is_some_and(|limit| searches.level >= limit) {
                    break;
                }
                searches.level += 1;
                searches.step(&counts, active, stats)?;
            }
        }
        Ok(())
    }

    /// Clears all rows and makes the sources active next.
    fn start(&mut self, sources: &[u32]) -> Result<()> {
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            for rows in [&self.seen, &self.visit, &self.next] {
                let set = rows.0[W * range.start..W * range.end].iter().filter(|word| word.load(Relaxed) != 0);
                set.for_each(|word| word.store(0, Relaxed));
            }
            Ok(())
        })?;
        self.level = 0;
        self.pushing.clear();
        self.pulling.clear();
        for (i, &source) in sources.iter().enumerate() {
            self.next.of(source)[i / 64].fetch_or(1 << (i % 64), Relaxed);
        }
        let mut list = sources.to_vec();
        list.sort_unstable();
        list.dedup();
        self.list = Some(list);
        Ok(())
    }

    /// The greatest length of a list of active vertices; only that of the sources may be longer.
    fn most_listed(&self) -> usize {
        (self.graph.vertices() / SPARSE_SHARE + 1) as usize
    }

    /// Makes the next vertices the active ones; returns the number of active vertices of each search.
    fn settle(&mut self, answer: &Reached) -> Result<Vec<u64>> {
        let (runtime, vertices) = (self.graph.runtime(), self.graph.vertices());
        let counts: Vec<AtomicU64> = (0..64 * W).map(|_| AtomicU64::new(0)).collect();
        if let Some(list) = &self.list {
            runtime.for_each_range(list.len(), RANGE, |range| -> Result<()> {
                let mut tally = Tally::<W>::default();
                list[range].iter().for_each(|&v| _ = self.settle_one(v, answer, &mut tally));
                tally.add_to(&counts);
                Ok(())
            })?;
        } else {
            let active = AtomicU64::new(0);
            vertex_map(runtime, vertices, |range| {
                let mut tally = Tally::<W>::default();
                for i in Bitmap::words_of(&range) {
                    let mut word = 0;
                    for v in 64 * i..range.end.min(64 * i + 64) {
                        word |= u64::from(self.settle_one(v as u32, answer, &mut tally)) << (v % 64);
                    }
                    self.pushing.set_word(i, word);
                    active.fetch_add(word.count_ones().into(), Relaxed);
                }
                tally.add_to(&counts);
                Ok(())
            })?;
            if active.into_inner() < self.most_listed() as u64 {
                self.list = Some(self.pushing.iter(0..self.pushing.words()).collect());
                self.pushing.clear();
                self.pulling.clear();
            }
        }
        Ok(counts.into_iter().map(AtomicU64::into_inner).collect())
    }

    /// Makes a vertex active if it is one of the next; returns whether it is.
    #[inline(always)]
    fn settle_one(&self, v: u32, answer: &Reached, tally: &mut Tally<W>) -> bool {
        let new = self.next.load(v);
        // Unchanged bits are not written, so the memory of unreached vertices is never touched.
        if self.visit.load(v) != new {
            self.visit.store(v, &new);
        }
        if !any(&new) {
            return false;
        }
        self.next.store(v, &[0; W]);
        let seen = self.seen.load(v);
        self.seen.store(v, &std::array::from_fn(|w| seen[w] | new[w]));
        let count: u32 = new.iter().map(|word| word.count_ones()).sum();
        let (reached_by, sum) = (&answer.reached_by[v as usize], &answer.distance_sums[v as usize]);
        reached_by.store(reached_by.load(Relaxed) + count, Relaxed);
        sum.store(sum.load(Relaxed) + u64::from(count) * u64::from(self.level), Relaxed);
        tally.count(&new);
        true
    }

    /// Stores the distances of the targets that are active.
    fn store_levels(&self, answer: &Reached, first: usize) {
        let store = |&(target, place): &(u32, usize)| {
            for (w, mut word) in self.visit.load(target).into_iter().enumerate() {
                while word != 0 {
                    let source = first + 64 * w + word.trailing_zeros() as usize;
                    answer.levels[source * answer.targets.len() + place].store(self.level + 1, Relaxed);
                    word &= word - 1;
                }
            }
        };
        match &self.list {
            Some(list) if list.len() < answer.targets.len() => {
                for &v in list {
                    let from = answer.targets.partition_point(|&(target, _)| target < v);
                    answer.targets[from..].iter().take_while(|&&(target, _)| target == v).for_each(store);
                }
            }
            _ => answer.targets.iter().for_each(store),
        }
    }

    /// One step from the active vertices: fills `next`.
    fn step(&mut self, counts: &[u64], active: u64, stats: &mut StatsBuilder) -> Result<()> {
        let mut pull = [0; W];
        for (i, &count) in counts.iter().enumerate() {
            pull[i / 64] |= u64::from(count * PULL_SHARE > self.graph.vertices()) << (i % 64);
        }
        if let Some(list) = self.list.take()
            && (!any(&pull) || is_small_push(self.graph, self.onwards, list.len() as u64))
        {
            let sweep = self.push_list(list)?;
            stats.step("push", active, sweep);
            return Ok(());
        }
        self.decide(&pull)?;
        let mut sweep = self.pull(&pull)?;
        sweep.add(&self.push(&pull)?);
        stats.step("pull", active, sweep);
        Ok(())
    }

    /// Pushes from the vertices of a list, and makes a list of those that become active, unless they are many.
    fn push_list(&mut self, list: Vec<u32>) -> Result<SweepStats> {
        let most = self.most_listed();
        let (lists, sweep) = scan(self.graph, self.onwards, Frontier::List(&list), Vec::new, |activated, part| {
            let give = self.visit.load(part.vertex);
            self.offer(&give, part.neighbours, |target| {
                if activated.len() <= most && self.pulling.insert(target) {
                    activated.push(target);
                }
            });
        })?;
        let count: usize = lists.iter().map(Vec::len).sum();
        if count <= most {
            list.iter().for_each(|&v| self.visit.store(v, &[0; W]));
            let mut next = lists.concat();
            next.sort_unstable();
            next.iter().for_each(|&v| self.pulling.remove(v));
            self.list = Some(next);
        }
        Ok(sweep)
    }

    /// Offers bits to the targets, and calls `gained` with those for which some are new.
    #[inline(always)]
    fn offer(&self, give: &BitRow<W>, targets: &[u32], mut gained: impl FnMut(u32)) {
        let ahead = prefetched(self.seen.all(), targets).zip(prefetched(self.next.all(), targets));
        for (target, _) in ahead {
            let (seen, next) = (self.seen.load(target), self.next.load(target));
            let new = std::array::from_fn(|w| give[w] & !seen[w] & !next[w]);
            if any(&new) {
                self.next.set(target, &new);
                gained(target);
            }
        }
    }

    /// Decides without lists: gives vertices the bits of their hubs, and finds the vertices that must still pull and
    /// those that push.
    fn decide(&self, pull: &BitRow<W>) -> Result<()> {
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            for i in Bitmap::words_of(&range) {
                let (mut pulling, mut pushing) = (0, 0);
                for v in (64 * i..range.end.min(64 * i + 64)).map(|v| v as u32) {
                    let (visit, seen) = (self.visit.load(v), self.seen.load(v));
                    pushing |= u64::from((0..W).any(|w| visit[w] & !pull[w] != 0)) << (v % 64);
                    let hub = self.hubs[v as usize].load(Relaxed);
                    // A vertex that is its own hub has no other in-neighbour.
                    if hub == v || (0..W).all(|w| pull[w] & !seen[w] == 0) {
                        continue;
                    }
                    let offered = self.visit.load(hub);
                    let new = std::array::from_fn(|w| offered[w] & pull[w] & !seen[w]);
                    if any(&new) {
                        self.next.store(v, &new);
                    }
                    pulling |= u64::from((0..W).any(|w| pull[w] & !seen[w] & !new[w] != 0)) << (v % 64);
                }
                self.pulling.set_word(i, pulling);
                self.pushing.set_word(i, pushing);
            }
            Ok(())
        })
    }

    fn pull(&self, pull: &BitRow<W>) -> Result<SweepStats> {
        for_each_list(self.graph, self.onwards.reversed(), Frontier::Set(&self.pulling), |part| {
            let (seen, next) = (self.seen.load(part.vertex), self.next.load(part.vertex));
            let wanted: BitRow<W> = std::array::from_fn(|w| pull[w] & !seen[w] & !next[w]);
            let mut missing = wanted;
            for source in prefetched(self.visit.all(), part.neighbours) {
                let offered = self.visit.load(source);
                (0..W).for_each(|w| missing[w] &= !offered[w]);
                if !any(&missing) {
                    break;
                }
            }
            self.next.set(part.vertex, &std::array::from_fn(|w| wanted[w] & !missing[w]));
        })
    }

    fn push(&self, pull: &BitRow<W>) -> Result<SweepStats> {
        for_each_list(self.graph, self.onwards, Frontier::Set(&self.pushing), |part| {
            let visit = self.visit.load(part.vertex);
            let give = std::array::from_fn(|w| visit[w] & !pull[w]);
            self.offer(&give, part.neighbours, |_| ());
        })
    }
}
