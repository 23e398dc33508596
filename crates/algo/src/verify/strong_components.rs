//! Verifies strongly connected components by searches from all labels at once, and by peeling components off.

use crate::kernels::components::Components;
use crate::state::{Layout, array, bitmap, part};
use crate::verify::{Contradiction, check_equal};
use crate::visit::{for_each_list, for_each_vertex};
use outcore_graph::{Bitmap, Direction, EdgeMapper, Frontier, Graph, Next};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Checks strongly connected components by searches from all labels at once, and by peeling components off.
///
/// A label is the smallest vertex that has it. It reaches every vertex of its component, and each of them reaches it,
/// along edges within the component. Between components there is no cycle: components without incoming edges from
/// others are removed, then those that this leaves without such edges, until none remains. About two passes over the
/// lists of each direction, and more where paths are long.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (12.5 bytes per vertex), or a page that cannot be read.
pub fn verify_strong_components(graph: &Graph, result: &Components) -> Result<()> {
    result.stats.check_image(graph.image())?;
    graph.make_room("verification of strong components", strong_components_bytes(graph))?;
    let (reached, mut mapper) = searching(graph).make()?;
    let check = StrongCheck { graph, labels: &result.labels, reached, wrong: Contradiction::none() };
    check.for_each(|v, label| label <= v && check.label(label) == label)?;
    let wrong = |expected: String, v| {
        Error::verification(expected, format!("vertex {v} of the image with label {}", check.label(v)))
    };
    check.wrong.check(|v| wrong("labels that are the smallest vertices of their components".into(), v))?;
    for (onwards, way) in [(Direction::Out, "from"), (Direction::In, "to")] {
        check.mark(|v, label| v == label)?;
        check_equal(check.reached.count(), result.count, |count| format!("{count} components"))?;
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
    for_each_list(graph, Direction::Out, Frontier::All, |list| {
        let others = list.neighbours.iter().map(|&target| check.label(target));
        for label in others.filter(|&label| label != check.label(list.vertex)) {
            incoming[label as usize].fetch_add(1, Ordering::Relaxed);
        }
    })?;
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

pub(crate) fn strong_components_bytes(graph: &Graph) -> u64 {
    (searching(graph), peeling(graph)).bytes()
}

/// The vertices that searches reached, and the frontier.
fn searching(graph: &Graph) -> impl Layout<Made = (Bitmap, EdgeMapper<'_>)> {
    let mapper = part(EdgeMapper::bytes(graph.vertices()), || EdgeMapper::idle(graph));
    (bitmap(graph, "vertices reached", graph.vertices()), mapper)
}

/// Edges from other components, and the members of components.
fn peeling(graph: &Graph) -> impl Layout<Made = (Buffer<AtomicU64>, Buffer<AtomicU32>)> {
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
        for_each_vertex(self.graph, |v| {
            if !right(v, self.label(v)) {
                self.wrong.at(v);
            }
        })
    }

    /// Makes `reached` the vertices for which, and for whose labels, `chosen` holds.
    fn mark(&self, chosen: impl Fn(u32, u32) -> bool + Sync) -> Result<()> {
        self.reached.clear();
        for_each_vertex(self.graph, |v| {
            if chosen(v, self.label(v)) {
                self.reached.insert(v);
            }
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
