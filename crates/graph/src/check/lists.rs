//! Checking lists: one pass over the pages of a direction and over the weights beside them, on all workers.
//!
//! Every worker takes a stretch of adjacent pages. The position of the next page and a list that crosses the end of a
//! stretch are merged afterwards; everything else adds up.

use crate::check::image::{KeyedHash, bad};
use crate::engine::graph::{Direction, DirectionLists, Graph};
use crate::engine::ordered::{ListPosition, ListStream};
use crate::engine::weights::{WeightIndexes, read_weight_indexes};
use outcore_format::{Index, Lists, Order, PAGE_BYTES};
use outcore_image::{ColumnStream, Error, ImageFile, Result, STREAM_BYTES, corrupt};
use outcore_io::{Buffer, Task};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Fewest pages that a worker takes.
const MIN_PAGES: u64 = 64;

/// Counts and hash sums over the lists of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// Entries, all together, and those that name the list's own vertex.
    pub entries: u64,
    pub loops: u64,
    /// Hashes of all edges as (source, target, weight), added up.
    pub edges: u64,
    /// Hashes of the entries to greater vertices and to smaller ones, as (smaller, greater, weight), added up.
    pub up: u64,
    pub down: u64,
    /// Hashes of every vertex and the length of its list, added up.
    pub degrees: u64,
    /// The first vertex with a wrong hub: what was expected and found. It is told last, for wrong degrees make hubs
    /// wrong too.
    pub wrong_hub: Option<(u64, String, u32)>,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.entries += other.entries;
        self.loops += other.loops;
        self.edges = self.edges.wrapping_add(other.edges);
        self.up = self.up.wrapping_add(other.up);
        self.down = self.down.wrapping_add(other.down);
        self.degrees = self.degrees.wrapping_add(other.degrees);
        self.note_hub(other.wrong_hub.clone());
    }

    fn note_hub(&mut self, wrong: Option<(u64, String, u32)>) {
        let earlier = |(vertex, ..): &(u64, String, u32)| self.wrong_hub.as_ref().is_none_or(|own| *vertex < own.0);
        if let Some(wrong) = wrong.filter(earlier) {
            self.wrong_hub = Some(wrong);
        }
    }
}

/// Data that all workers share.
struct Context<'a> {
    graph: &'a Graph,
    direction: Direction,
    /// The lists, whose index stays in memory as long.
    lists: Arc<DirectionLists>,
    file: ImageFile,
    /// Degree classes, where it is known that hubs were chosen by them.
    classes: Option<&'a Buffer<u8>>,
    hubs: Buffer<AtomicU32>,
    weights: Option<Weights>,
    hash: KeyedHash,
    task: &'a Task,
}

struct Weights {
    /// Their columns of values: two if they are complex.
    columns: Vec<(ImageFile, Arc<Index>)>,
    /// Number of entries before every page of lists.
    before: Index,
}

/// Facts of a list of which a part has been read.
#[derive(Clone, Copy, Debug)]
struct PartialList {
    vertex: u64,
    degree: u64,
    /// Its first neighbour and its last one.
    first: Option<u32>,
    last: Option<u32>,
    /// The neighbour, other than the vertex itself, of the greatest class; the smallest of those.
    best: Option<(u8, u32)>,
    /// The vertex's hub is among the neighbours.
    has_hub: bool,
    /// It began in an earlier stretch.
    headless: bool,
    /// The page that it was last seen in.
    page: u64,
}

/// Counts and hash sums over a stretch of adjacent pages.
struct Stretch {
    begin: Option<ListPosition>,
    end: Option<ListPosition>,
    sums: Sums,
    /// The end of a list that began in an earlier stretch, if it ends here.
    head: Option<PartialList>,
    /// A list that goes on in the next stretch.
    tail: Option<PartialList>,
}

/// Checks the lists of a direction, with their index, hubs and weights.
pub(crate) fn check_lists(
    graph: &Graph,
    direction: Direction,
    classes: Option<&Buffer<u8>>,
    hash: KeyedHash,
    task: &Task,
) -> Result<Sums> {
    let file = graph.list_file(direction);
    let pages = graph.pages(direction);
    let weights = graph.manifest().weights().map(|_| {
        let WeightIndexes { before, columns } = read_weight_indexes(graph, direction)?;
        let columns = columns.into_iter().map(|(file, index)| (file, Arc::new(index))).collect();
        Ok::<_, Error>(Weights { columns, before })
    });
    let context = Context {
        graph,
        direction,
        lists: graph.open_lists(direction)?,
        file,
        classes,
        hubs: graph.hubs(direction)?.0,
        weights: weights.transpose()?,
        hash,
        task,
    };
    let workers = (graph.runtime().threads() as u64).min(pages.div_ceil(MIN_PAGES)).max(1);
    let streams = 1 + graph.manifest().weight_columns().max(1) as u64;
    graph.make_room("checking lists", workers * (streams * STREAM_BYTES + crate::engine::decode::DECODER_BYTES))?;
    let stop = AtomicBool::new(false);
    let mut stretches = graph.runtime().run_on(workers as usize, |worker| {
        let worker = worker as u64;
        let range = pages * worker / workers..pages * (worker + 1) / workers;
        let stretch = context.stretch(range, &stop);
        if stretch.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        stretch
    })?;
    context.join(&mut stretches)
}

impl Context<'_> {
    fn stretch(&self, pages: Range<u64>, stop: &AtomicBool) -> Result<Stretch> {
        let mut stretch = Stretch { begin: None, end: None, sums: Sums::default(), head: None, tail: None };
        let mut stream = ListStream::new(self.graph, self.direction, pages.clone())?;
        let mut columns: Vec<ColumnStream> = Vec::new();
        let (mut weights, mut imaginary) = (Vec::new(), Vec::new());
        while let Some((number, lists)) = stream.next()? {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            stretch.begin.get_or_insert(ListPosition::start_of(lists));
            let edges = lists.edges();
            weights.clear();
            if let Some(source) = &self.weights {
                self.check_entries(source, number, edges)?;
                if columns.is_empty() {
                    let (range, entries) = (self.entries(source, &pages), self.graph.manifest().out_lists.entries);
                    let open = |(file, index): &(ImageFile, Arc<Index>)| {
                        ColumnStream::part(self.graph.image(), *file, index, range.clone(), entries)
                    };
                    columns = source.columns.iter().map(open).collect::<Result<_>>()?;
                }
                imaginary.clear();
                for (column, values) in columns.iter_mut().zip([&mut weights, &mut imaginary]) {
                    column.take_into(edges, values)?;
                }
                // Weights are compared by their hashes alone.
                let pairs = weights.iter_mut().zip(&imaginary);
                pairs.for_each(|(weight, &imaginary)| *weight = self.hash.pair(*weight, imaginary));
            }
            self.task.advance(PAGE_BYTES as u64);
            self.check_page(number, lists, &weights, &mut stretch)?;
        }
        stretch.end = stream.place();
        if !stop.load(Ordering::Relaxed) {
            columns.iter_mut().try_for_each(|column| column.peek(1).map(|_| ()))?;
        }
        Ok(stretch)
    }

    /// The entries of some pages of lists, as their index says.
    fn entries(&self, weights: &Weights, pages: &Range<u64>) -> Range<u64> {
        let all = self.graph.manifest().out_lists.entries;
        let before = |page| if page < weights.before.len() { weights.before.get(page) } else { all };
        before(pages.start)..before(pages.end)
    }

    /// Checks that a page of lists has as many entries as their index says.
    fn check_entries(&self, weights: &Weights, page: u64, edges: usize) -> Result<()> {
        let range = self.entries(weights, &(page..page + 1));
        if range.end - range.start == edges as u64 {
            return Ok(());
        }
        let file = if self.file == ImageFile::IN_LISTS { ImageFile::IN_ENTRIES } else { ImageFile::OUT_ENTRIES };
        let found = format!("{} entries", range.end - range.start);
        Err(bad(self.graph, file, format!("{edges} entries in page {page} of the lists"), found))
    }

    fn check_page(&self, number: u64, lists: &Lists, weights: &[u64], stretch: &mut Stretch) -> Result<()> {
        let indexed_key = self.lists.index.get(number);
        if 2 * lists.first_vertex + u64::from(lists.begins_earlier) != indexed_key {
            let expected = format!("vertex {}, as the index says", indexed_key / 2);
            let error = outcore_format::Error::new(8, expected, format!("vertex {}", lists.first_vertex));
            return Err(self.corrupt(number, error));
        }
        for i in 0..lists.count {
            let vertex = lists.first_vertex + i as u64;
            let neighbours = lists.list(i);
            let first = lists.ends[i] as usize;
            let beside = weights.get(first..first + neighbours.len()).unwrap_or(&[]);
            self.add_edges(vertex as u32, neighbours, beside, &mut stretch.sums);
            let mut part = self.part(vertex, neighbours, number)?;
            if i == 0 && lists.begins_earlier {
                match stretch.tail.take() {
                    Some(before) => part = self.merge(before, part)?,
                    None => part.headless = true,
                }
            }
            if i + 1 == lists.count && lists.ends_later {
                stretch.tail = Some(part);
            } else if part.headless {
                stretch.head = Some(part);
            } else {
                self.finish(part, &mut stretch.sums);
            }
        }
        Ok(())
    }

    fn add_edges(&self, vertex: u32, neighbours: &[u32], weights: &[u64], sums: &mut Sums) {
        let reversed = self.file == ImageFile::IN_LISTS;
        sums.entries += neighbours.len() as u64;
        for (i, &neighbour) in neighbours.iter().enumerate() {
            let weight = weights.get(i).copied().unwrap_or(0);
            let key = |one: u32, other: u32| u64::from(one) << 32 | u64::from(other);
            let edge = |one, other| self.hash.pair(key(one, other), weight);
            if !self.graph.is_directed() {
                match neighbour.cmp(&vertex) {
                    std::cmp::Ordering::Greater => sums.up = sums.up.wrapping_add(edge(vertex, neighbour)),
                    std::cmp::Ordering::Less => sums.down = sums.down.wrapping_add(edge(neighbour, vertex)),
                    std::cmp::Ordering::Equal => sums.loops += 1,
                }
                continue;
            }
            sums.loops += u64::from(neighbour == vertex);
            let hash = if reversed { edge(neighbour, vertex) } else { edge(vertex, neighbour) };
            sums.edges = sums.edges.wrapping_add(hash);
        }
    }

    fn part(&self, vertex: u64, neighbours: &[u32], page: u64) -> Result<PartialList> {
        let parallel = self.graph.manifest().parallel_edges;
        if let Some(pair) = neighbours.windows(2).find(|pair| pair[0] > pair[1] || pair[0] == pair[1] && !parallel) {
            return Err(self.falling(page, vertex, pair));
        }
        let mut best: Option<(u8, u32)> = None;
        let others = || neighbours.iter().copied().filter(|&other| u64::from(other) != vertex);
        match self.classes {
            // Where vertices are numbered by class, the first of them has the greatest class.
            Some(_) if self.graph.manifest().order == Order::Degree => best = others().next().map(|other| (0, other)),
            Some(classes) => {
                for other in others() {
                    let class = classes[other as usize];
                    if best.is_none_or(|(greatest, _)| class > greatest) {
                        best = Some((class, other));
                    }
                }
            }
            None => best = others().next().map(|other| (0, other)),
        }
        let hub = self.hubs[vertex as usize].load(Ordering::Relaxed);
        let has_hub = neighbours.binary_search(&hub).is_ok();
        Ok(PartialList {
            vertex,
            degree: neighbours.len() as u64,
            first: neighbours.first().copied(),
            last: neighbours.last().copied(),
            best,
            has_hub,
            headless: false,
            page,
        })
    }

    fn merge(&self, before: PartialList, after: PartialList) -> Result<PartialList> {
        if let (Some(last), Some(first)) = (before.last, after.first)
            && (last > first || last == first && !self.graph.manifest().parallel_edges)
        {
            return Err(self.falling(after.page, before.vertex, &[last, first]));
        }
        let best = match (before.best, after.best) {
            (Some(one), Some(other)) if other.0 > one.0 => Some(other),
            (one, other) => one.or(other),
        };
        Ok(PartialList {
            degree: before.degree + after.degree,
            first: before.first.or(after.first),
            last: after.last.or(before.last),
            best,
            has_hub: before.has_hub || after.has_hub,
            page: after.page,
            ..before
        })
    }

    /// Adds a whole list to the sums.
    fn finish(&self, part: PartialList, sums: &mut Sums) {
        sums.degrees = sums.degrees.wrapping_add(self.hash.pair(part.vertex, part.degree));
        let hub = self.hubs[part.vertex as usize].load(Ordering::Relaxed);
        let right = match (part.best, self.classes) {
            (None, _) => u64::from(hub) == part.vertex,
            (Some((_, best)), Some(_)) => hub == best,
            (Some(_), None) => part.has_hub && u64::from(hub) != part.vertex,
        };
        if !right {
            let expected = match part.best {
                Some((_, best)) if self.classes.is_some() => format!("vertex {} with hub {best}", part.vertex),
                Some(_) => format!("vertex {} with a neighbour as its hub", part.vertex),
                None => format!("vertex {} as its own hub", part.vertex),
            };
            sums.note_hub(Some((part.vertex, expected, hub)));
        }
    }

    /// Merges lists that cross the ends of stretches, and adds up the rest.
    fn join(&self, stretches: &mut [Stretch]) -> Result<Sums> {
        let mut sums = Sums::default();
        let mut place = ListPosition::START;
        let mut open: Option<PartialList> = None;
        for stretch in stretches {
            let (Some(begin), Some(end)) = (stretch.begin, stretch.end) else { continue };
            if begin != place {
                return Err(bad(
                    self.graph,
                    self.file,
                    format!("a page that begins at {}", place.text()),
                    begin.text(),
                ));
            }
            place = end;
            sums.add(&stretch.sums);
            for (part, ends) in [(stretch.head, true), (stretch.tail, false)] {
                let Some(part) = part else { continue };
                let joined = match open.take().filter(|_| part.headless) {
                    Some(before) => self.merge(before, part),
                    None => Ok(part),
                };
                match ends {
                    true => self.finish(joined?, &mut sums),
                    false => open = Some(joined?),
                }
            }
        }
        let end = ListPosition { vertex: self.graph.vertices(), offset: 0 };
        if place != end {
            return Err(bad(self.graph, self.file, format!("lists up to {}", end.text()), place.text()));
        }
        let entries = self.graph.manifest().out_lists.entries;
        if sums.entries != entries {
            return Err(bad(self.graph, self.file, format!("{entries} entries"), sums.entries.to_string()));
        }
        Ok(sums)
    }

    fn corrupt(&self, page: u64, error: outcore_format::Error) -> Error {
        corrupt(self.file.path(self.graph.path()), page * PAGE_BYTES as u64, error)
    }

    fn falling(&self, page: u64, vertex: u64, pair: &[u32]) -> Error {
        let expected = format!("rising neighbours in the list of vertex {vertex}");
        self.corrupt(page, outcore_format::Error::new(32, expected, format!("{pair:?}")))
    }
}
