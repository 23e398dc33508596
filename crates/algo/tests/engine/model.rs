//! The obvious way to every answer, in memory, from nothing but the edges.

use super::engine::{Given, weight};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A graph as neighbours in memory.
pub struct Model {
    pub out: Vec<Vec<u32>>,
    pub into: Vec<Vec<u32>>,
    /// Degrees of the input, both ways together, before duplicates are removed: a loop counts twice.
    given_degrees: Vec<u64>,
}

/// Triangles of a vertex, and its coefficients.
#[derive(Clone, Copy)]
pub struct Triads {
    pub triangles: u64,
    pub clustering: f64,
    pub lcc: f64,
    /// Numerator of `clustering`, whose denominator is `possible`.
    pub choices: u64,
    pub possible: u64,
}

impl Model {
    pub fn new(given: &Given) -> Self {
        let count = given.vertices as usize;
        let (mut out, mut into) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut given_degrees = vec![0; count];
        for &(source, target) in &given.edges {
            given_degrees[source as usize] += 1;
            given_degrees[target as usize] += 1;
            out[source as usize].push(target);
            into[target as usize].push(source);
            if !given.directed && source != target {
                out[target as usize].push(source);
                into[source as usize].push(target);
            }
        }
        for list in out.iter_mut().chain(&mut into) {
            list.sort_unstable();
            if !given.parallel {
                list.dedup();
            }
        }
        Model { out, into, given_degrees }
    }

    /// Distances from a source.
    pub fn levels(&self, source: u32) -> Vec<Option<u32>> {
        let mut levels = vec![None; self.out.len()];
        levels[source as usize] = Some(0);
        let mut queue = VecDeque::from([source]);
        while let Some(vertex) = queue.pop_front() {
            let next = levels[vertex as usize].map(|level| level + 1);
            for &target in &self.out[vertex as usize] {
                if levels[target as usize].is_none() {
                    levels[target as usize] = next;
                    queue.push_back(target);
                }
            }
        }
        levels
    }

    /// Distances from a source, over the weights of edges if there are any.
    pub fn distances(&self, source: u32, weighted: bool) -> Vec<Option<f64>> {
        let mut distances: Vec<Option<f64>> = vec![None; self.out.len()];
        distances[source as usize] = Some(0.0);
        let mut queue = BTreeSet::from([(0u64, source)]);
        while let Some((bits, vertex)) = queue.pop_first() {
            for &target in &self.out[vertex as usize] {
                let length = if weighted { weight(vertex, target) } else { 1.0 };
                let distance = f64::from_bits(bits) + length;
                let slot = &mut distances[target as usize];
                if slot.is_none_or(|before| distance < before) {
                    *slot = Some(distance);
                    queue.insert((distance.to_bits(), target));
                }
            }
        }
        distances
    }

    /// Betweenness, not scaled: for every pair of a source and another vertex, the share of the shortest paths that
    /// lead through each vertex.
    pub fn betweenness(&self, sources: &[u32], endpoints: bool) -> Vec<f64> {
        let mut sums = vec![0.0; self.out.len()];
        for &source in sources {
            let levels = self.levels(source);
            let mut order: Vec<usize> = (0..levels.len()).filter(|&v| levels[v].is_some()).collect();
            order.sort_by_key(|&v| levels[v]);
            let mut paths = vec![0.0; levels.len()];
            paths[source as usize] = 1.0;
            let levels = &levels;
            let after = |v: usize| {
                let behind = levels[v].map(|level| level + 1);
                self.out[v].iter().map(|&w| w as usize).filter(move |&w| levels[w] == behind)
            };
            for &v in &order {
                after(v).for_each(|w| paths[w] += paths[v]);
            }
            let mut depends = vec![0.0; levels.len()];
            for &v in order.iter().rev() {
                depends[v] = after(v).map(|w| paths[v] / paths[w] * (1.0 + depends[w])).sum();
                if v != source as usize {
                    sums[v] += depends[v] + f64::from(u8::from(endpoints));
                } else if endpoints {
                    sums[v] += (order.len() - 1) as f64;
                }
            }
        }
        sums
    }

    /// The parent that the rule names: the hub where it is one level above, else the first such in-neighbour.
    pub fn parents(&self, source: u32, levels: &[Option<u32>]) -> Vec<Option<u32>> {
        let parent = |vertex: u32| {
            if vertex == source {
                return Some(source);
            }
            let above = levels[vertex as usize]?.checked_sub(1)?;
            let is_above = |&other: &u32| levels[other as usize] == Some(above);
            let hub = self.hub(vertex).filter(is_above);
            hub.or_else(|| self.into[vertex as usize].iter().copied().find(is_above))
        };
        (0..self.into.len() as u32).map(parent).collect()
    }

    /// The in-neighbour, other than the vertex, of the greatest degree class; ties go to the smaller number.
    fn hub(&self, vertex: u32) -> Option<u32> {
        let others = self.into[vertex as usize].iter().copied().filter(|&other| other != vertex);
        others.min_by_key(|&other| (Reverse(class(self.given_degrees[other as usize])), other))
    }

    /// The smallest vertex of every vertex's component.
    pub fn labels(&self) -> Vec<u32> {
        let mut labels: Vec<u32> = (0..self.out.len() as u32).collect();
        let mut seen = BTreeSet::new();
        for start in 0..self.out.len() as u32 {
            if !seen.insert(start) {
                continue;
            }
            let mut stack = vec![start];
            while let Some(vertex) = stack.pop() {
                labels[vertex as usize] = start;
                for &other in self.out[vertex as usize].iter().chain(&self.into[vertex as usize]) {
                    if seen.insert(other) {
                        stack.push(other);
                    }
                }
            }
        }
        labels
    }

    /// The smallest vertex of every vertex's strongly connected component (Kosaraju's way).
    pub fn strong_labels(&self) -> Vec<u32> {
        let count = self.out.len();
        let (mut order, mut seen) = (Vec::new(), vec![false; count]);
        for start in 0..count as u32 {
            let mut path = if seen[start as usize] { Vec::new() } else { vec![(start, 0)] };
            seen[start as usize] = true;
            while let Some((vertex, next)) = path.last_mut() {
                match self.out[*vertex as usize].get(*next) {
                    Some(&other) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[other as usize], true) {
                            path.push((other, 0));
                        }
                    }
                    None => {
                        order.push(*vertex);
                        path.pop();
                    }
                }
            }
        }
        let mut labels = vec![u32::MAX; count];
        for &start in order.iter().rev() {
            if labels[start as usize] != u32::MAX {
                continue;
            }
            let (mut members, mut done) = (vec![start], 0);
            labels[start as usize] = start;
            while done < members.len() {
                for &other in &self.into[members[done] as usize] {
                    if labels[other as usize] == u32::MAX {
                        labels[other as usize] = start;
                        members.push(other);
                    }
                }
                done += 1;
            }
            let smallest = members.iter().copied().min().unwrap_or(start);
            members.iter().for_each(|&member| labels[member as usize] = smallest);
        }
        labels
    }

    /// Core numbers: a vertex is in the k-core if it is left when those of fewer than k edges are taken away again and
    /// again.
    pub fn cores(&self, directed: bool) -> Vec<u32> {
        let count = self.out.len();
        let edges = |v: usize| {
            let both = self.out[v].iter().chain(if directed { &self.into[v][..] } else { &[] });
            both.map(|&other| other as usize).filter(move |&other| other != v)
        };
        let mut degrees: Vec<usize> = (0..count).map(|v| edges(v).count()).collect();
        let (mut cores, mut left, mut k) = (vec![0; count], count, 0);
        let mut gone = vec![false; count];
        while left > 0 {
            let mut stack: Vec<usize> = (0..count).filter(|&v| !gone[v] && degrees[v] <= k).collect();
            stack.iter().for_each(|&v| gone[v] = true);
            while let Some(v) = stack.pop() {
                (cores[v], left) = (k as u32, left - 1);
                for other in edges(v) {
                    degrees[other] -= 1;
                    if !gone[other] && degrees[other] <= k {
                        gone[other] = true;
                        stack.push(other);
                    }
                }
            }
            k = (0..count).filter(|&v| !gone[v]).map(|v| degrees[v]).min().unwrap_or(0);
        }
        cores
    }

    /// Labels after at most so many iterations, how many were made, and whether another would change nothing.
    pub fn propagated(&self, directed: bool, iterations: u32) -> (Vec<u32>, u32, bool) {
        let mut labels: Vec<u32> = (0..self.out.len() as u32).collect();
        for made in 0..iterations {
            let next: Vec<u32> = (0..self.out.len()).map(|v| self.most_frequent(v, directed, &labels)).collect();
            if next == labels {
                return (labels, (made + 1).min(iterations), true);
            }
            labels = next;
        }
        (labels, iterations, false)
    }

    fn most_frequent(&self, v: usize, directed: bool, labels: &[u32]) -> u32 {
        let mut counts = BTreeMap::new();
        let both = self.out[v].iter().chain(if directed { &self.into[v][..] } else { &[] });
        both.for_each(|&other| *counts.entry(labels[other as usize]).or_insert(0) += 1);
        counts.into_iter().max_by_key(|&(label, count)| (count, Reverse(label))).map_or(labels[v], |(label, _)| label)
    }

    /// Triangles, Fagiolo's clustering coefficient and Graphalytics' local one of every vertex, by their definitions.
    pub fn triads(&self) -> Vec<Triads> {
        let all: Vec<Vec<u32>> = self.out.iter().zip(&self.into).map(|(a, b)| union(a, b)).collect();
        let has = |list: &[u32], vertex: u32| list.binary_search(&vertex).is_ok();
        let leads = |a: u32, b: u32| u64::from(has(&self.out[a as usize], b));
        let edges = |a: u32, b: u32| leads(a, b) + leads(b, a);
        let triads = |v: u32| {
            let others: Vec<u32> = all[v as usize].iter().copied().filter(|&u| u != v).collect();
            let (mut ordered, mut opposite, mut choices, mut both) = (0, 0, 0, 0);
            for &u in &others {
                let (few, many) = (&all[u as usize], &others);
                let (few, many) = if few.len() < many.len() { (few, many) } else { (many, few) };
                let beside = edges(v, u);
                both += beside - 1;
                for &w in few.iter().filter(|&&w| w != u && w != v && has(many, w)) {
                    ordered += 1;
                    opposite += leads(u, w);
                    choices += beside * edges(v, w) * edges(u, w);
                }
            }
            let over = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
            let count = others.len() as u64;
            let (pairs, total) = (count * count.saturating_sub(1), count + both);
            let possible = 2 * (total * total.saturating_sub(1) - 2 * both);
            let triangles = ordered / 2;
            Triads { triangles, clustering: over(choices, possible), lcc: over(opposite, pairs), choices, possible }
        };
        (0..self.out.len() as u32).map(triads).collect()
    }

    /// Ranks after so many iterations; dangling rank is spread evenly, or dropped.
    pub fn ranks(&self, alpha: f64, iterations: u32, spread: bool) -> Vec<f64> {
        let even = vec![1.0 / self.out.len() as f64; self.out.len()];
        self.walk(alpha, iterations, spread, &even)
    }

    /// Personalised PageRank of a set of seeds with shares.
    pub fn personalized_ranks(&self, seeds: &[(u32, f64)], alpha: f64, iterations: u32) -> Vec<f64> {
        let all = sum(seeds.iter().map(|seed| seed.1));
        let mut jumps = vec![0.0; self.out.len()];
        seeds.iter().for_each(|&(vertex, share)| jumps[vertex as usize] += share / all);
        self.walk(alpha, iterations, true, &jumps)
    }

    /// Ranks after `iterations` steps of a walk whose jumps lead to vertices by these shares.
    fn walk(&self, alpha: f64, iterations: u32, spread: bool, jumps: &[f64]) -> Vec<f64> {
        let count = self.out.len() as f64;
        let mut ranks = vec![1.0 / count; self.out.len()];
        for _ in 0..iterations {
            let dangling = self.out.iter().zip(&ranks).filter(|(list, _)| list.is_empty()).map(|(_, rank)| *rank);
            let jumping = 1.0 - alpha + if spread { alpha * sum(dangling) } else { 0.0 };
            let share = |source: &u32| ranks[*source as usize] / self.out[*source as usize].len() as f64;
            let next =
                self.into.iter().zip(jumps).map(|(list, jump)| jumping * jump + alpha * sum(list.iter().map(share)));
            let next = next.collect();
            ranks = next;
        }
        ranks
    }
}

/// All that two lists hold, each once.
fn union(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// A sum whose rounding errors are summed as well, so that it is as good as exact (Neumaier 1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Degrees below 16 are classes of their own; above, there are four to an octave.
fn class(degree: u64) -> u64 {
    if degree < 16 {
        return degree;
    }
    let octave = degree.ilog2();
    4 * u64::from(octave) + (degree - (1 << octave)) / (1 << (octave - 2))
}
