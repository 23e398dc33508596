//! Verifiers: each checks that a result has the properties that make it right, with another algorithm than computed it.
//!
//! They work out of core like the algorithms: state per vertex in memory, edges by sweeps. What is wrong is reported
//! with the vertex and the values that contradict each other.

pub(crate) mod degree_centrality;
pub(crate) mod ranks;
pub(crate) mod reciprocity;
pub(crate) mod searches;
pub(crate) mod triangles;

pub use degree_centrality::verify_degree_centrality;
pub use ranks::{verify_pagerank, verify_personalized_pagerank};
pub use reciprocity::verify_reciprocity;
pub use searches::{verify_all_pairs, verify_betweenness_centrality, verify_multi_source_bfs};
pub use triangles::{verify_clustering, verify_lcc, verify_scan_statistics, verify_triangles};

use crate::estimate::least_labels;
use crate::kernels::bfs::{Bfs, BfsOptions};
use crate::kernels::components::Components;
use crate::kernels::core_number::CoreNumbers;
use crate::kernels::label_propagation::{LabelPropagation, LabelPropagationOptions};
use crate::kernels::sssp::{Sssp, SsspOptions};
use crate::state::{Layout, array, bitmap, hubs, part, reservation};
use outcore_format::WeightKind;
use outcore_graph::{
    Bitmap, Direction, EdgeMapper, Edges, Frontier, Graph, ListFold, ListPart, Next, fold, scan, vertex_map,
};
use outcore_image::{Error, Result};
use outcore_io::{Array, Reservation};
use outcore_table::{IdLookup, IdStream, distance_bits};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The first contradiction found, in the order of the vertices.
pub(crate) struct Contradiction(AtomicU64);

impl Contradiction {
    pub fn none() -> Self {
        Contradiction(AtomicU64::new(u64::MAX))
    }

    pub fn at(&self, vertex: u32) {
        self.0.fetch_min(u64::from(vertex), Ordering::Relaxed);
    }

    /// The error that `error` makes of it, if there was a contradiction.
    pub fn check(&self, error: impl Fn(u32) -> Error) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => Ok(()),
            vertex => Err(error(vertex as u32)),
        }
    }
}

/// Checks a breadth-first search with one pass over the in-lists.
///
/// The source, and only it, is on level 0 and is its own parent. No edge leads more than one level up, none from a
/// reached vertex to one that is not, unless the search ended on that level: at the greatest depth, or at the target.
/// Every other reached vertex has its parent among its in-neighbours, one level above, and it is the one that the rule
/// names: its hub where that is one level above, else the first such in-neighbour. (These are the rules of Graph500's
/// validator, and one more.)
///
/// # Errors
/// The first vertex that contradicts them, or a page that cannot be read.
pub fn verify_bfs(graph: &Graph, options: &BfsOptions, found: &Bfs) -> Result<()> {
    graph.make_room("verification of a search", bfs_bytes(graph))?;
    let (hubs, _) = hubs(graph, Direction::In).make()?;
    let target_depth = options.target.and_then(|target| found.level(target));
    let last = options.depth_limit.into_iter().chain(target_depth).min().unwrap_or(u32::MAX);
    let check = BfsCheck { source: options.source, last, found, hubs: &hubs, wrong: Contradiction::none() };
    fold(graph, Direction::In, Frontier::All, &check)?;
    check.wrong.check(|vertex| {
        Error::verification(
            format!("a level and a parent of vertex {vertex} of the image that agree with its in-neighbours"),
            format!("level {:?} and parent {:?}", found.level(vertex), found.parent(vertex)),
        )
    })?;
    let (reached, depth) = (AtomicU64::new(0), AtomicU32::new(0));
    vertex_map(graph.runtime(), graph.vertices(), |range| {
        let levels = range.filter_map(|v| found.level(v as u32));
        let (count, most) = levels.fold((0, 0), |(count, most), level| (count + 1, most.max(level)));
        reached.fetch_add(count, Ordering::Relaxed);
        depth.fetch_max(most, Ordering::Relaxed);
        Ok(())
    })?;
    let (reached, depth) = (reached.into_inner(), depth.into_inner());
    if (reached, depth) != (found.reached, found.depth) {
        let said = |reached, depth| format!("{reached} vertices reached up to level {depth}");
        return Err(Error::verification(said(reached, depth), said(found.reached, found.depth)));
    }
    Ok(())
}

/// The memory that checking a search takes, beside its result.
pub(crate) fn bfs_bytes(graph: &Graph) -> u64 {
    hubs(graph, Direction::In).bytes()
}

struct BfsCheck<'a> {
    source: u32,
    /// The level that the search had to end on.
    last: u32,
    found: &'a Bfs,
    hubs: &'a Array<AtomicU32>,
    wrong: Contradiction,
}

/// The facts that a part of an in-list gives about its vertex.
#[derive(Clone, Copy)]
struct Seen {
    /// The least level among the in-neighbours.
    least: u32,
    /// The first in-neighbour one level above the vertex.
    first_above: u32,
    /// Whether the parent is among them.
    parent: bool,
}

impl ListFold for BfsCheck<'_> {
    type Value = Seen;
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> Seen {
        let ListPart { vertex, neighbours, .. } = list;
        let above = self.found.level(vertex).and_then(|level| level.checked_sub(1));
        let parent = self.found.parent(vertex);
        let mut seen = Seen { least: u32::MAX, first_above: u32::MAX, parent: false };
        for &neighbour in neighbours {
            let level = self.found.level(neighbour);
            seen.least = seen.least.min(level.unwrap_or(u32::MAX));
            seen.parent |= parent == Some(neighbour);
            if level.is_some() && level == above {
                seen.first_above = seen.first_above.min(neighbour);
            }
        }
        seen
    }

    fn merge(&self, before: Seen, after: Seen) -> Seen {
        Seen {
            least: before.least.min(after.least),
            first_above: before.first_above.min(after.first_above),
            parent: before.parent || after.parent,
        }
    }

    fn finish(&self, vertex: u32, seen: Option<Seen>, (): &mut ()) {
        let seen = seen.unwrap_or(Seen { least: u32::MAX, first_above: u32::MAX, parent: false });
        let (level, parent) = (self.found.level(vertex), self.found.parent(vertex));
        let right = match (level, parent) {
            (None, None) => vertex != self.source && seen.least >= self.last,
            (Some(0), Some(parent)) => vertex == self.source && parent == vertex,
            (Some(level), Some(parent)) => {
                let hub = self.hubs[vertex as usize].load(Ordering::Relaxed);
                let hub_is_above = hub != vertex && self.found.level(hub) == Some(level - 1);
                let named = if hub_is_above { hub } else { seen.first_above };
                let rises = level <= self.last && seen.least >= level - 1;
                vertex != self.source && rises && seen.parent && parent == named
            }
            _ => false,
        };
        if !right {
            self.wrong.at(vertex);
        }
    }
}

/// Checks shortest paths with one pass over the in-lists.
///
/// The source, and only it, may be at distance 0 without an edge. The distance of every other vertex is the least that
/// its in-edges offer, and there is none where they offer none. Its parent is an in-neighbour that offers it, and
/// parents lead to the source.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (2 bits per vertex), or a page that cannot be read.
pub fn verify_sssp(graph: &Graph, options: &SsspOptions, found: &Sssp) -> Result<()> {
    graph.make_room("verification of shortest paths", sssp_bytes(graph))?;
    let wrong = Contradiction::none();
    let edges = Edges::new(Direction::In, options.weights);
    let kind = if options.weights { graph.weight_kind()? } else { WeightKind::I64 };
    if found.kind != kind {
        return Err(Error::verification(format!("distances of the kind {kind:?}"), format!("{:?}", found.kind)));
    }
    fold(graph, edges, Frontier::All, &SsspCheck { source: options.source, found, kind, wrong: &wrong })?;
    let contradiction = |vertex: u32| {
        let said = format!("distance {:?} and parent {:?}", found.distance(vertex), found.parent(vertex));
        let expected = format!("what the in-edges of vertex {vertex} of the image offer");
        Error::verification(expected, said)
    };
    wrong.check(contradiction)?;
    // Edges were checked: every vertex on the way has a parent.
    let reached = follow_parents(graph, options.source, |vertex| found.parent(vertex), contradiction)?;
    if reached != found.reached {
        let (expected, found) = (format!("{reached} vertices with a path"), found.reached.to_string());
        return Err(Error::verification(expected, found));
    }
    Ok(())
}

/// The memory that checking shortest paths takes, beside their result.
pub(crate) fn sssp_bytes(graph: &Graph) -> u64 {
    ways(graph).bytes()
}

/// Vertices from which parents lead to the root, and those that were passed.
pub(crate) fn ways(graph: &Graph) -> impl Layout<Made = (Bitmap, Bitmap)> {
    let set = || bitmap(graph, "ways to the root", graph.vertices());
    (set(), set())
}

/// Follows parents from every vertex that has one: each way must end at the root, and every vertex on it have a parent.
/// Returns how many vertices have one.
///
/// # Errors
/// `error` of a vertex on a circle, or too little memory (2 bits per vertex).
pub(crate) fn follow_parents(
    graph: &Graph,
    root: u32,
    parent: impl Fn(u32) -> Option<u32>,
    error: impl Fn(u32) -> Error,
) -> Result<u64> {
    let (rooted, passed) = ways(graph).make()?;
    rooted.insert(root);
    let mut count = 0;
    for start in 0..graph.vertices() as u32 {
        let Some(mut above) = parent(start) else { continue };
        count += 1;
        passed.insert(start);
        while !rooted.contains(above) {
            if !passed.insert(above) {
                return Err(error(above));
            }
            above = parent(above).unwrap_or(root);
        }
        let mut vertex = start;
        while rooted.insert(vertex) {
            vertex = parent(vertex).unwrap_or(root);
        }
    }
    Ok(count)
}

struct SsspCheck<'a> {
    source: u32,
    found: &'a Sssp,
    kind: WeightKind,
    wrong: &'a Contradiction,
}

impl SsspCheck<'_> {
    fn distance(&self, vertex: u32) -> Option<u64> {
        distance_bits(self.found.distances[vertex as usize])
    }

    /// The distance over one more edge, in the bits of its kind; `None` if that is no distance. Neither kind is
    /// negative, so bits have the order of the numbers.
    fn over(&self, before: u64, list: &ListPart<'_>, i: usize) -> Option<u64> {
        match (self.kind, list.weights.bits().get(i)) {
            (WeightKind::I64, weight) => {
                let sum = i128::from(before as i64) + weight.map_or(1, |&weight| i128::from(weight as i64));
                u64::try_from(sum).ok().filter(|&sum| i64::try_from(sum).is_ok())
            }
            (WeightKind::F64, weight) => {
                let sum = f64::from_bits(before) + weight.map_or(1.0, |&weight| f64::from_bits(weight));
                (sum >= 0.0 && sum.is_finite()).then(|| (sum + 0.0).to_bits())
            }
        }
    }
}

impl ListFold for SsspCheck<'_> {
    /// The least distance that a part of the in-edges offers, and whether the parent offers it.
    type Value = (Option<u64>, bool);
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> Self::Value {
        let (distance, parent) = (self.distance(list.vertex), self.found.parent(list.vertex));
        let (mut least, mut explained) = (None, false);
        for (i, &source) in list.neighbours.iter().enumerate() {
            let offered = self.distance(source).and_then(|before| self.over(before, &list, i));
            explained |= parent == Some(source) && offered.is_some() && offered == distance;
            least = least.into_iter().chain(offered).min();
        }
        (least, explained)
    }

    fn merge(&self, before: Self::Value, after: Self::Value) -> Self::Value {
        (before.0.into_iter().chain(after.0).min(), before.1 || after.1)
    }

    fn finish(&self, vertex: u32, value: Option<Self::Value>, (): &mut ()) {
        let (offered, explained) = value.unwrap_or((None, false));
        let (distance, parent) = (self.distance(vertex), self.found.parent(vertex));
        let right = if vertex == self.source {
            distance == Some(0) && parent == Some(vertex)
        } else {
            distance == offered && (explained || (distance, parent) == (None, None))
        };
        if !right {
            self.wrong.at(vertex);
        }
    }
}

/// Checks components with one pass over the out-lists, joining vertices over every edge in a forest of its own.
///
/// No edge leads from one component to another, every component is connected, and its label is its smallest vertex.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (4 bytes per vertex), or a page that cannot be read.
pub fn verify_components(graph: &Graph, found: &Components) -> Result<()> {
    let vertices = graph.vertices();
    graph.make_room("verification of components", components_bytes(graph))?;
    let label = |v: u32| found.labels[v as usize];
    let wrong = Contradiction::none();
    let roots = forest(graph, |vertex, neighbour| {
        if label(neighbour) != label(vertex) {
            wrong.at(vertex);
        }
    })?;
    let count = AtomicU64::new(0);
    vertex_map(graph.runtime(), vertices, |range| {
        for v in range {
            let v = v as u32;
            let root = find(&roots, v);
            count.fetch_add(u64::from(root == v), Ordering::Relaxed);
            // Trees hang under their smallest vertex, so the root is what the label must be.
            if label(v) != root {
                wrong.at(v);
            }
        }
        Ok(())
    })?;
    wrong.check(|vertex| {
        let (label, root) = (label(vertex), find(&roots, vertex));
        let expected = format!("label {root} of vertex {vertex} of the image, where its edges lead");
        Error::verification(expected, label.to_string())
    })?;
    let count = count.into_inner();
    if count != found.count {
        return Err(Error::verification(format!("{count} components"), found.count.to_string()));
    }
    Ok(())
}

/// The memory that checking components takes, beside the result.
pub(crate) fn components_bytes(graph: &Graph) -> u64 {
    trees(graph).bytes()
}

/// Checks strongly connected components by searches from all labels at once, and by peeling components off.
///
/// A label is the smallest vertex that has it. It reaches every vertex of its component, and each of them reaches it,
/// along edges within the component. Between components there is no cycle: those without incoming edges from others are
/// taken away, then those whom that leaves without, until none is left. About two passes over the lists of each
/// direction, and more where paths are long.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (12.5 bytes per vertex), or a page that cannot be read.
pub fn verify_strong_components(graph: &Graph, found: &Components) -> Result<()> {
    graph.make_room("verification of strong components", strong_components_bytes(graph))?;
    let (reached, mut mapper) = searching(graph).make()?;
    let check = StrongCheck { graph, labels: &found.labels, reached, wrong: Contradiction::none() };
    check.for_each(|v, label| label <= v && check.label(label) == label)?;
    let wrong = |expected: String, v| {
        Error::verification(expected, format!("vertex {v} of the image with label {}", check.label(v)))
    };
    check.wrong.check(|v| wrong("labels that are the smallest vertices of their components".into(), v))?;
    for (onwards, way) in [(Direction::Out, "from"), (Direction::In, "to")] {
        check.mark(|v, label| v == label)?;
        let count = check.reached.count();
        if count != found.count {
            let (expected, found) = (format!("{count} components"), found.count.to_string());
            return Err(Error::verification(expected, found));
        }
        mapper.restart_with(onwards, &check.reached)?;
        check.spread(&mut mapper, |source, target, next| {
            if check.label(source) == check.label(target) && check.reached.insert(target) {
                next.activate(target);
            }
        })?;
        check.wrong.check(|v| wrong(format!("a path {way} its label in every vertex's component"), v))?;
    }
    let (incoming, members) = peeling(graph).make()?;
    check.link(&members);
    let count = |(): &mut (), list: ListPart<'_>| {
        let others = list.neighbours.iter().map(|&target| check.label(target));
        for label in others.filter(|&label| label != check.label(list.vertex)) {
            incoming[label as usize].fetch_add(1, Ordering::Relaxed);
        }
    };
    scan(graph, Direction::Out, Frontier::All, || (), count)?;
    check.mark(|_, label| incoming[label as usize].load(Ordering::Relaxed) == 0)?;
    mapper.restart_with(Direction::Out, &check.reached)?;
    check.spread(&mut mapper, |source, target, next| {
        let label = check.label(target);
        if label != check.label(source) && incoming[label as usize].fetch_sub(1, Ordering::Relaxed) == 1 {
            let member_after = |v: &u32| Some(members[*v as usize].load(Ordering::Relaxed)).filter(|&v| v != 0);
            for member in std::iter::successors(Some(label), member_after) {
                check.reached.insert(member);
                next.activate(member);
            }
        }
    })?;
    check.wrong.check(|v| wrong("no paths from a component to others and back".into(), v))
}

/// The memory that checking strong components takes, beside the result.
pub(crate) fn strong_components_bytes(graph: &Graph) -> u64 {
    (searching(graph), peeling(graph)).bytes()
}

/// The vertices that searches reached, and the frontier.
fn searching(graph: &Graph) -> impl Layout<Made = (Bitmap, EdgeMapper<'_>)> {
    let mapper = part(EdgeMapper::bytes(graph.vertices()), || EdgeMapper::idle(graph));
    (bitmap(graph, "vertices reached", graph.vertices()), mapper)
}

/// Edges from other components, and the members of components.
fn peeling(graph: &Graph) -> impl Layout<Made = (Array<AtomicU64>, Array<AtomicU32>)> {
    (array(graph, "edges between components", graph.vertices()), array(graph, "members", graph.vertices()))
}

struct StrongCheck<'a> {
    graph: &'a Graph,
    labels: &'a [u32],
    reached: Bitmap,
    wrong: Contradiction,
}

impl StrongCheck<'_> {
    fn label(&self, vertex: u32) -> u32 {
        self.labels[vertex as usize]
    }

    /// Notes the vertices for which `right` is not.
    fn for_each(&self, right: impl Fn(u32, u32) -> bool + Sync) -> Result<()> {
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            let range = range.start as u32..range.end as u32;
            range.filter(|&v| !right(v, self.label(v))).for_each(|v| self.wrong.at(v));
            Ok(())
        })
    }

    /// Makes `reached` the vertices for which, and for whose labels, `chosen` holds.
    fn mark(&self, chosen: impl Fn(u32, u32) -> bool + Sync) -> Result<()> {
        self.reached.clear();
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            let range = range.start as u32..range.end as u32;
            range.filter(|&v| chosen(v, self.label(v))).for_each(|v| _ = self.reached.insert(v));
            Ok(())
        })
    }

    /// Takes steps until no vertex is active, and notes those that were not reached.
    fn spread(&self, mapper: &mut EdgeMapper<'_>, visit: impl Fn(u32, u32, &mut Next<'_>) + Sync) -> Result<()> {
        while mapper.active() > 0 {
            mapper.push_step(&visit)?;
        }
        self.for_each(|v, _| self.reached.contains(v))
    }

    /// Notes for every vertex the one after it in its component, beginning at the label; 0 at the end.
    fn link(&self, members: &[AtomicU32]) {
        for v in (0..self.labels.len() as u32).rev() {
            let label = self.label(v) as usize;
            if label != v as usize {
                members[v as usize].store(members[label].swap(v, Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }
}

/// The vertex that every vertex hangs under.
pub(crate) fn trees(graph: &Graph) -> impl Layout<Made = Array<AtomicU32>> {
    array(graph, "trees", graph.vertices())
}

/// Joins vertices over every edge; the root of every tree is the smallest vertex of its weakly connected component.
pub(crate) fn forest(graph: &Graph, visit: impl Fn(u32, u32) + Sync) -> Result<Array<AtomicU32>> {
    let vertices = graph.vertices();
    let roots = trees(graph).make()?;
    vertex_map(graph.runtime(), vertices, |range| {
        range.for_each(|v| roots[v].store(v as u32, Ordering::Relaxed));
        Ok(())
    })?;
    let join = |(): &mut (), list: ListPart<'_>| {
        for &neighbour in list.neighbours {
            visit(list.vertex, neighbour);
            union(&roots, list.vertex, neighbour);
        }
    };
    scan(graph, Direction::Out, Frontier::All, || (), join)?;
    Ok(roots)
}

/// The root of a vertex's tree, whose path is halved on the way.
pub(crate) fn find(roots: &[AtomicU32], mut vertex: u32) -> u32 {
    loop {
        let above = roots[vertex as usize].load(Ordering::Relaxed);
        if above == vertex {
            return vertex;
        }
        let higher = roots[above as usize].load(Ordering::Relaxed);
        roots[vertex as usize].fetch_min(higher, Ordering::Relaxed);
        vertex = higher;
    }
}

fn union(roots: &[AtomicU32], a: u32, b: u32) {
    loop {
        let (a, b) = (find(roots, a), find(roots, b));
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        let hung = roots[high as usize].compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed);
        if hung.is_ok() {
            return;
        }
    }
}

/// Checks core numbers by peeling all levels at once.
///
/// At least core(v) neighbours of every vertex v have core numbers of at least core(v), so v is in that core. And v is
/// in no higher one: the vertices of a level can be taken away one by one such that each then has no more than core(v)
/// neighbours left on its own level and above.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (4.3 bytes per vertex), or a page that cannot be read.
pub fn verify_core_number(graph: &Graph, found: &CoreNumbers) -> Result<()> {
    let vertices = graph.vertices();
    graph.make_room("verification of core numbers", core_numbers_bytes(graph))?;
    let (excess, mut free, mut next) = peeled(graph).make()?;
    let core = |v: u32| found.cores[v as usize];
    for &direction in graph.directions() {
        let add = |(): &mut (), list: ListPart<'_>| {
            let own = core(list.vertex);
            let counts = |&&other: &&u32| other != list.vertex && core(other) >= own;
            let count = list.neighbours.iter().filter(counts).count() as u32;
            excess[list.vertex as usize].fetch_add(count, Ordering::Relaxed);
        };
        scan(graph, direction, Frontier::All, || (), add)?;
    }
    let wrong = Contradiction::none();
    let most = AtomicU32::new(0);
    vertex_map(graph.runtime(), vertices, |range| {
        for v in range.map(|v| v as u32) {
            let slot = &excess[v as usize];
            match slot.load(Ordering::Relaxed).checked_sub(core(v)) {
                None => wrong.at(v),
                Some(more) => {
                    slot.store(more, Ordering::Relaxed);
                    most.fetch_max(core(v), Ordering::Relaxed);
                    if more == 0 {
                        free.insert(v);
                    }
                }
            }
        }
        Ok(())
    })?;
    let error =
        |expected: &str, v| Error::verification(expected, format!("vertex {v} of the image in core {}", core(v)));
    wrong.check(|v| error("as many neighbours in the core as its number", v))?;
    while free.count() > 0 {
        for &direction in graph.directions() {
            let take = |(): &mut (), list: ListPart<'_>| {
                let own = core(list.vertex);
                for &other in list.neighbours.iter().filter(|&&other| core(other) == own) {
                    let lower = |left: u32| left.checked_sub(1);
                    let before = excess[other as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
                    if before == Ok(1) {
                        next.insert(other);
                    }
                }
            };
            scan(graph, direction, Frontier::Set(&free), || (), take)?;
        }
        free.clear();
        std::mem::swap(&mut free, &mut next);
    }
    vertex_map(graph.runtime(), vertices, |range| {
        range.map(|v| v as u32).filter(|&v| excess[v as usize].load(Ordering::Relaxed) > 0).for_each(|v| wrong.at(v));
        Ok(())
    })?;
    wrong.check(|v| error("the highest core that a vertex is in", v))?;
    let most = most.into_inner();
    if most != found.max_core {
        return Err(Error::verification(format!("{most} as the greatest core number"), found.max_core.to_string()));
    }
    Ok(())
}

/// The memory that checking core numbers takes, beside the result.
pub(crate) fn core_numbers_bytes(graph: &Graph) -> u64 {
    peeled(graph).bytes()
}

/// How many more neighbours vertices have on their own level and above than they may have when they are taken away, the
/// vertices that may be, and those that may be next.
fn peeled(graph: &Graph) -> impl Layout<Made = (Array<AtomicU32>, Bitmap, Bitmap)> {
    let set = || bitmap(graph, "free vertices", graph.vertices());
    (array(graph, "degrees", graph.vertices()), set(), set())
}

/// Checks labels by propagating them once more: vertex by vertex in a single loop over whole lists, sorting, with the
/// ids themselves for what is smaller.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (8 bytes per vertex, the ids, and the longest lists of a
/// vertex), or a page that cannot be read.
pub fn verify_label_propagation(
    graph: &Graph,
    options: &LabelPropagationOptions,
    found: &LabelPropagation,
) -> Result<()> {
    let count = graph.vertices() as usize;
    graph.make_room("verification of labels", label_propagation_bytes(graph))?;
    let ids = IdLookup::new(graph)?;
    let (mut labels, mut next, _held) = propagating(graph).make()?;
    labels.iter_mut().zip(0..).for_each(|(label, vertex)| *label = vertex);
    let (mut iterations, mut converged) = (0, count == 0);
    while iterations < options.max_iter && !converged {
        propagate(graph, &ids, &labels, &mut next)?;
        std::mem::swap(&mut labels, &mut next);
        iterations += 1;
        converged = labels[..] == next[..];
    }
    let wrong = Contradiction::none();
    let claimed = |v: u32| found.labels[v as usize];
    (0..count as u32).filter(|&v| claimed(v) != labels[v as usize]).for_each(|v| wrong.at(v));
    wrong.check(|v| {
        let expected = format!("vertex {v} of the image with the label of vertex {}", labels[v as usize]);
        Error::verification(expected, format!("that of vertex {}", claimed(v)))
    })?;
    labels.sort_unstable();
    let distinct = labels.chunk_by(|a, b| a == b).count() as u64;
    if (found.count, found.iterations, found.converged) != (distinct, iterations, converged) {
        let said = |count, iterations, converged| {
            format!("{count} labels after {iterations} iterations, converged: {converged}")
        };
        let expected = said(distinct, iterations, converged);
        return Err(Error::verification(expected, said(found.count, found.iterations, found.converged)));
    }
    Ok(())
}

/// The memory that checking labels takes, beside the result.
pub(crate) fn label_propagation_bytes(graph: &Graph) -> u64 {
    IdLookup::bytes(graph) + (propagating(graph).bytes() + loops_bytes(graph)).max(IdStream::bytes(graph))
}

/// Labels, next ones, and room for those of a vertex's neighbours.
fn propagating(graph: &Graph) -> impl Layout<Made = (Array<u32>, Array<u32>, Reservation)> {
    let labels = || array(graph, "labels", graph.vertices());
    (labels(), labels(), reservation(graph, "labels of neighbours", 4 * least_labels(graph)))
}

/// The memory of a loop over the lists of every direction, all at the same time.
pub(crate) fn loops_bytes(graph: &Graph) -> u64 {
    graph.directions().iter().map(|&direction| graph.lists(direction, Frontier::All).loop_bytes()).sum()
}

/// One iteration of label propagation.
fn propagate(graph: &Graph, ids: &IdLookup, labels: &[u32], next: &mut [u32]) -> Result<()> {
    let mut own = Vec::new();
    let mut incoming = graph.is_directed().then(|| graph.lists(Direction::In, Frontier::All).into_iter());
    for list in graph.lists(Direction::Out, Frontier::All) {
        let (vertex, neighbours) = list?;
        own.clear();
        own.extend(neighbours.iter().map(|&other| labels[other as usize]));
        if let Some(list) = incoming.as_mut().and_then(Iterator::next) {
            own.extend(list?.1.iter().map(|&other| labels[other as usize]));
        }
        own.sort_unstable();
        let runs = own.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
        let best = runs.max_by(|a, b| a.0.cmp(&b.0).then_with(|| ids.id(b.1).cmp(&ids.id(a.1))));
        next[vertex as usize] = best.map_or(labels[vertex as usize], |(_, label)| label);
    }
    Ok(())
}
