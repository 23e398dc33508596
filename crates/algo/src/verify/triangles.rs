//! Verifiers of triangles, clustering coefficients and scan statistics: triangles at some vertices, counted one vertex
//! after the other.
//!
//! Every vertex has a bit per chosen one that it is a neighbour of. A pair of joined vertices makes a triangle with
//! every chosen one whose bit both have. One loop over the lists finds all pairs; where edges have directions, over the
//! lists of both at the same time.
//!
//! *Cost.* One pass in each direction; 8 bytes per vertex and direction.

use crate::kernels::clustering::{Clustering, Lcc};
use crate::kernels::scan_statistics::{ScanStatistics, ScanStatisticsOptions};
use crate::kernels::triangles::Triangles;
use crate::state::{Layout, array};
use crate::verify::{Contradiction, lists_of_all, loops_bytes};
use crate::visit::for_each_list;
use outcore_graph::{Frontier, Graph};
use outcore_image::{Error, Result};
use outcore_io::{Buffer, Unit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Checks triangles with one loop over all lists, which counts those at 64 vertices, one vertex at a time.
///
/// These are right, no vertex has more triangles than pairs of neighbours, and all vertices together have three times
/// the total.
///
/// # Errors
/// A vertex or a sum that contradicts this, too little memory (8 bytes per vertex, 16 with directions), or a page that
/// cannot be read.
pub fn verify_triangles(graph: &Graph, result: &Triangles) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let count = |vertex: u32| result.counts[vertex as usize];
    let error = |expected: String, vertex| {
        Error::verification(expected, format!("{} at vertex {vertex} of the image", count(vertex)))
    };
    let (wrong, mut sum) = (Contradiction::none(), 0u128);
    let counted = corners(graph, &some(graph), |vertex, neighbours, _| {
        sum += u128::from(count(vertex));
        if u128::from(count(vertex)) > u128::from(neighbours) * u128::from(neighbours.saturating_sub(1)) / 2 {
            wrong.at(vertex);
        }
    })?;
    if let Some(corner) = counted.iter().find(|corner| corner.triangles != count(corner.vertex)) {
        return Err(error(format!("{} triangles", corner.triangles), corner.vertex));
    }
    wrong.check(|vertex| error("no more triangles than pairs of neighbours".to_owned(), vertex))?;
    if sum != 3 * u128::from(result.total) {
        let expected = format!("a third of the sum of all vertices, {sum}, as the total");
        return Err(Error::verification(expected, result.total.to_string()));
    }
    Ok(())
}

/// Checks clustering coefficients with one loop over all lists, which counts the triangles at 64 vertices, one vertex
/// at a time.
///
/// Their coefficients are right, all are from 0 to 1 and a whole number of triangles over what is possible, and so are
/// average and transitivity.
///
/// # Errors
/// A vertex or a sum that contradicts this, too little memory (8 bytes per vertex, 16 with directions), or a page that
/// cannot be read.
pub fn verify_clustering(graph: &Graph, result: &Clustering) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let (possible, closed): (Possible, fn(&Corner) -> u64) = match graph.is_directed() {
        true => (choices, |corner| corner.choices),
        false => (pairs, |corner| 2 * corner.triangles),
    };
    let transitivity = verify_coefficients(graph, &result.coefficients, result.average, possible, closed)?;
    close(transitivity, result.transitivity, "transitivity")
}

/// Checks local clustering coefficients with one loop over all lists, which counts the edges among the neighbours of 64
/// vertices, one vertex at a time.
///
/// Their coefficients are right, all are from 0 to 1 and a whole number of edges over what is possible, and so is the
/// average.
///
/// # Errors
/// A vertex or a sum that contradicts this, too little memory (8 bytes per vertex, 16 with directions), or a page that
/// cannot be read.
pub fn verify_lcc(graph: &Graph, result: &Lcc) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let closed: fn(&Corner) -> u64 = match graph.is_directed() {
        true => |corner| corner.opposite,
        false => |corner| 2 * corner.triangles,
    };
    verify_coefficients(graph, &result.coefficients, result.average, pairs, closed).map(|_| ())
}

/// How many triangles a vertex could close, by how many neighbours it has and how many of them edges join with it both
/// ways.
type Possible = fn(neighbours: u64, both: u64) -> f64;

/// Pairs of neighbours, in either order.
fn pairs(neighbours: u64, _both: u64) -> f64 {
    (u128::from(neighbours) * u128::from(neighbours.saturating_sub(1))) as f64
}

/// Pairs of edges, in either order, that lead to different neighbours: all pairs less those of the two edges that join
/// the same two vertices.
fn choices(neighbours: u64, both: u64) -> f64 {
    let edges = u128::from(neighbours + both);
    (edges * edges.saturating_sub(1) - 2 * u128::from(both)) as f64
}

/// The greatest error of coefficients and their sums.
const TOLERANCE: f64 = 1e-9;

/// Checks coefficients and their average; returns the coefficient of all vertices together: the sum of closed triads
/// over that of possible ones, 0 if there are none.
fn verify_coefficients(
    graph: &Graph,
    coefficients: &[f64],
    average: f64,
    possible: Possible,
    closed: fn(&Corner) -> u64,
) -> Result<f64> {
    let coefficient = |vertex: u32| coefficients[vertex as usize];
    let (wrong, mut sums) = (Contradiction::none(), [0.0; 3]);
    let counted = corners(graph, &some(graph), |vertex, neighbours, both| {
        let (value, possible) = (coefficient(vertex), possible(neighbours, both));
        let whole = value * possible;
        let is_right = (0.0..=1.0).contains(&value) && (whole - whole.round()).abs() <= TOLERANCE * whole.max(1.0);
        if !is_right || (possible == 0.0 && value > 0.0) {
            wrong.at(vertex);
        }
        [value, whole, possible].iter().zip(&mut sums).for_each(|(more, sum)| *sum += more);
    })?;
    for corner in &counted {
        let whole = coefficient(corner.vertex) * possible(corner.neighbours, corner.both);
        if (whole - closed(corner) as f64).abs() > TOLERANCE * whole.max(1.0) {
            wrong.at(corner.vertex);
        }
    }
    wrong.check(|vertex| {
        let expected = format!("the part of what is possible at vertex {vertex} of the image");
        Error::verification(expected, coefficient(vertex).to_string())
    })?;
    let [values, whole, possible] = sums;
    close(values / graph.vertices().max(1) as f64, average, "average")?;
    Ok(if possible == 0.0 { 0.0 } else { whole / possible })
}

fn close(expected: f64, claimed: f64, what: &str) -> Result<()> {
    if (expected - claimed).abs() <= TOLERANCE {
        return Ok(());
    }
    Err(Error::verification(format!("{expected} as the {what}"), claimed.to_string()))
}

/// Checks the greatest locality statistics, with counts of its own, one vertex at a time, for 64 vertices in one loop
/// over all lists.
///
/// There are as many as requested, by falling statistics. They are right: all of up to 1024 vertices, of more 1024 at
/// even distances. Of the vertices that are not in the result, most are ruled out by the degrees of their neighbours.
/// Of the others, the 192 of the greatest bounds are counted too, and those in a sample of 64 vertices: none of them is
/// among the greatest.
///
/// # Errors
/// A vertex or a statistic that contradicts this, too little memory (12 bytes per vertex, 20 with directions, and 4 per
/// vertex found), or a page that cannot be read.
pub fn verify_scan_statistics(graph: &Graph, options: &ScanStatisticsOptions, result: &ScanStatistics) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let wanted = options.top.min(graph.vertices()) as usize;
    let rows = result.vertices.len();
    if (rows, result.statistics.len()) != (wanted, wanted) {
        return Err(Error::verification(format!("{wanted} vertices and their statistics"), rows.to_string()));
    }
    let purpose = "verification of scan statistics";
    graph.make_room(purpose, scan_statistics_bytes(graph, rows as u64))?;
    let _members = graph.runtime().budget().reserve(purpose, 4 * rows as u64)?;
    let mut members: Vec<u32> = result.vertices.clone();
    members.sort_unstable();
    let is_beyond = |&vertex: &u32| u64::from(vertex) >= graph.vertices();
    if members.windows(2).any(|pair| pair[0] == pair[1]) || members.last().is_some_and(is_beyond) {
        let repeated = members.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| format!("{} twice", pair[0]));
        let beyond = || format!("{} of {} vertices", members[rows - 1], graph.vertices());
        return Err(Error::verification("vertices of the image, each once", repeated.unwrap_or_else(beyond)));
    }
    let row = |place: usize| (Reverse(result.statistics[place]), result.vertices[place]);
    if let Some(place) = (1..rows).find(|&place| row(place - 1) > row(place)) {
        let text = format!("{} behind {}", result.statistics[place], result.statistics[place - 1]);
        return Err(Error::verification("falling statistics, and of equal ones the smaller vertex first", text));
    }
    let counted = rows.min(MOST_COUNTED);
    let places = (0..counted).map(|i| if counted == 1 { 0 } else { i * (rows - 1) / (counted - 1) });
    let mut reported: Vec<(u32, u64)> =
        places.map(|place| (result.vertices[place], result.statistics[place])).collect();
    reported.sort_unstable();
    for chosen in reported.chunks(CHOSEN as usize) {
        let vertices: Vec<u32> = chosen.iter().map(|&(vertex, _)| vertex).collect();
        for (corner, &(vertex, edges)) in corners(graph, &vertices, |_, _, _| ())?.iter().zip(chosen) {
            let expected = corner.locality(graph);
            if expected != edges {
                let claimed = format!("{edges} at vertex {vertex} of the image");
                return Err(Error::verification(format!("{expected} edges"), claimed));
            }
        }
    }
    let Some(least) = rows.checked_sub(1).map(row) else { return Ok(()) };
    for chosen in rivals(graph, &members, least)?.chunks(CHOSEN as usize) {
        let corners = corners(graph, chosen, |_, _, _| ())?;
        if let Some(rival) = corners.iter().find(|corner| (Reverse(corner.locality(graph)), corner.vertex) < least) {
            let text = format!("vertex {} of the image, with {} edges", rival.vertex, rival.locality(graph));
            let (Reverse(statistic), vertex) = least;
            let claimed = format!("vertex {vertex} with {statistic} edges as the last of {rows}");
            return Err(Error::verification(format!("{text}, among the greatest"), claimed));
        }
    }
    Ok(())
}

/// The memory that verification of `top` statistics takes beside the result, in bytes.
pub(crate) fn scan_statistics_bytes(graph: &Graph, top: u64) -> u64 {
    let rivals = degrees(graph).bytes() + loops_bytes(graph);
    4 * top + corners_bytes(graph).max(rivals)
}

fn degrees(graph: &Graph) -> impl Layout<Made = Buffer<AtomicU32>> {
    array(graph, "degrees", graph.vertices())
}

/// Vertices, in rising order, beside the members, that may have a greater statistic than the least of them, or an equal
/// one and a smaller number.
fn rivals(graph: &Graph, members: &[u32], least: (Reverse<u64>, u32)) -> Result<Vec<u32>> {
    let degrees = degrees(graph).make()?;
    for_each_vertex(graph, |vertex, out, into| {
        let mut degree = 0u32;
        union(out, into, |other, both| {
            degree = degree.saturating_add(if other == vertex { 0 } else { 1 + u32::from(both) })
        });
        degrees[vertex as usize].store(degree, Ordering::Relaxed);
    })?;
    let degree = |vertex: u32| u64::from(degrees[vertex as usize].load(Ordering::Relaxed));
    let mut greatest = BinaryHeap::new();
    let sample = some(graph);
    let mut rivals = Vec::new();
    for_each_vertex(graph, |vertex, out, into| {
        // An edge of the neighbourhood has two ends in it, and one edge per direction at most joins two vertices.
        let (mut most, mut ends) = (0, degree(vertex));
        union(out, into, |other, _| most += u64::from(other != vertex) * graph.directions().len() as u64);
        union(out, into, |other, _| ends += if other == vertex { 0 } else { degree(other).min(most) });
        let bound = ends / 2;
        if (Reverse(bound), vertex) < least && members.binary_search(&vertex).is_err() {
            greatest.push((Reverse(bound), vertex));
            if greatest.len() > MOST_RIVALS {
                greatest.pop();
            }
            if sample.binary_search(&vertex).is_ok() {
                rivals.push(vertex);
            }
        }
    })?;
    rivals.extend(greatest.into_iter().map(|(_, vertex)| vertex));
    rivals.sort_unstable();
    rivals.dedup();
    Ok(rivals)
}

/// The greatest number of chosen vertices.
const CHOSEN: u64 = 64;
/// The number of vertices of the result whose statistics are counted.
const MOST_COUNTED: usize = 16 * CHOSEN as usize;
/// The number of counted vertices outside the result, those of the greatest bounds.
const MOST_RIVALS: usize = 3 * CHOSEN as usize;

/// The triangles with a corner at one vertex.
#[derive(Clone, Copy, Default)]
struct Corner {
    vertex: u32,
    /// How many neighbours it has, and how many of them edges join with it both ways.
    neighbours: u64,
    both: u64,
    triangles: u64,
    /// How many edges lead between the two other corners, in all.
    opposite: u64,
    /// In how many ways an edge can be chosen on each side, in all.
    choices: u64,
}

impl Corner {
    /// How many edges there are among the vertex and its neighbours.
    fn locality(&self, graph: &Graph) -> u64 {
        self.neighbours + self.both + if graph.is_directed() { self.opposite } else { self.triangles }
    }
}

/// Some vertices, in rising order, more of which have small numbers.
fn some(graph: &Graph) -> Vec<u32> {
    let vertices = graph.vertices();
    let mut chosen: Vec<u32> =
        (0..CHOSEN).map(|i| (u128::from(i * i) * u128::from(vertices) / u128::from(CHOSEN * CHOSEN)) as u32).collect();
    chosen.dedup();
    chosen.truncate(vertices as usize);
    chosen
}

/// Counts the triangles at chosen vertices, which rise, and calls `each` with every vertex, the number of its
/// neighbours, and how many of them edges join with it both ways.
fn corners(graph: &Graph, chosen: &[u32], mut each: impl FnMut(u32, u64, u64)) -> Result<Vec<Corner>> {
    let vertices = graph.vertices();
    graph.make_room("verification of triangles", corners_bytes(graph))?;
    let marks = marks(graph).make()?;
    for (&direction, marks) in graph.directions().iter().zip(&marks) {
        for_each_list(graph, direction, Frontier::List(chosen), |list| {
            let place = chosen.partition_point(|&vertex| vertex < list.vertex);
            for &neighbour in list.neighbours.iter().filter(|&&neighbour| neighbour != list.vertex) {
                marks[neighbour as usize].fetch_or(1 << place, Ordering::Relaxed);
            }
        })?;
    }
    let mut counted: Vec<_> = chosen.iter().map(|&vertex| Corner { vertex, ..Corner::default() }).collect();
    let task = graph.runtime().task("verification of triangles", Unit::Vertices, Some(vertices));
    for_each_vertex(graph, |vertex, out, into| {
        let mut here = Corner { vertex, ..Corner::default() };
        union(out, into, |other, both| {
            if other == vertex {
                return;
            }
            here.neighbours += 1;
            here.both += u64::from(both);
            if other < vertex {
                pair(&marks, vertex, other, 1 + u64::from(both), &mut counted);
            }
        });
        each(vertex, here.neighbours, here.both);
        if let Ok(place) = counted.binary_search_by_key(&vertex, |corner| corner.vertex) {
            (counted[place].neighbours, counted[place].both) = (here.neighbours, here.both);
        }
        task.advance(1);
    })?;
    Ok(counted)
}

/// The memory of counting at chosen vertices, in bytes.
pub(crate) fn corners_bytes(graph: &Graph) -> u64 {
    marks(graph).bytes() + loops_bytes(graph)
}

/// Per direction, and for every vertex, a bit per chosen one that has it in its list.
fn marks(graph: &Graph) -> impl Layout<Made = Vec<Buffer<AtomicU64>>> {
    graph.directions().iter().map(|_| array(graph, "marks", graph.vertices())).collect::<Vec<_>>()
}

/// Calls `visit` with every vertex, in rising order, and its lists: of out-neighbours, and of in-neighbours where edges
/// have directions.
fn for_each_vertex(graph: &Graph, mut visit: impl FnMut(u32, &[u32], &[u32])) -> Result<()> {
    for lists in lists_of_all(graph) {
        let (vertex, out, into) = lists?;
        visit(vertex, &out, into.as_deref().unwrap_or_default());
    }
    Ok(())
}

/// Counts the triangles of two vertices, joined by `edges` edges, with the chosen ones.
fn pair(marks: &[Buffer<AtomicU64>], one: u32, other: u32, edges: u64, counted: &mut [Corner]) {
    let at = |side: usize, vertex: u32| marks[side][vertex as usize].load(Ordering::Relaxed);
    let last = marks.len() - 1;
    let mut common = (at(0, one) | at(last, one)) & (at(0, other) | at(last, other));
    while common != 0 {
        let place = common.trailing_zeros();
        common &= common - 1;
        let beside =
            |vertex: u32| if last == 0 { 1 } else { (at(0, vertex) >> place & 1) + (at(1, vertex) >> place & 1) };
        let corner = &mut counted[place as usize];
        corner.triangles += 1;
        corner.opposite += edges;
        corner.choices += edges * beside(one) * beside(other);
    }
}

/// Calls `visit` with all that two lists in rising order hold, each once, and whether both hold it.
fn union(one: &[u32], other: &[u32], mut visit: impl FnMut(u32, bool)) {
    let (mut one, mut other) = (one, other);
    while let Some(&next) = one.first().into_iter().chain(other.first()).min() {
        let (behind_one, behind_other) = (one.partition_point(|&v| v <= next), other.partition_point(|&v| v <= next));
        visit(next, behind_one > 0 && behind_other > 0);
        (one, other) = (&one[behind_one..], &other[behind_other..]);
    }
}
