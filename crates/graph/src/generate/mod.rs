//! Generated graphs: the same edges for the same options, on any number of workers.
//!
//! Every edge is computed from the seed and its number alone, by a counter-based generator (SplitMix64; Steele, Lea and
//! Flood, OOPSLA 2014), so any block of edges can be made by any worker. A generated graph is a [`Source`] like any
//! input: it can be imported without ever being a file, or written as one.
//!
//! *Kronecker* is the graph of the Graph500 benchmark (Leskovec et al., JMLR 2010): for every bit of the two ids one of
//! four quadrants is drawn, with chances 0.57, 0.19, 0.19 and 0.05; then ids are scrambled, so that they tell nothing.
//! Cost: one 16-bit draw per bit of an id; about 30 nanoseconds per edge at scale 24.

mod file;

pub use file::{GENERATE_ENDINGS, GenerateReport, write};

use outcore_image::{Error, Result};
use outcore_ingest::{
    BatchWeights, Block, BlockData, Choice, EdgeBatch, Facts, Ids, Parser, ReadBlocks, Source, TakeBatch,
};
use outcore_io::{Runtime, SPLIT_MIX_STEP, split_mix};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of edges that are generated at a time.
const BLOCK_EDGES: u64 = 1 << 16;
/// Most bits of an id: vertices are 32-bit numbers.
const MOST_SCALE: u32 = 31;
/// Beginnings of the second, third and fourth quadrant of a Kronecker graph among 16-bit draws.
const QUADRANTS: [u16; 3] = [37356, 49807, 62259];
/// Memory of a worker's edges: their ends and their weights.
const BATCH_BYTES: u64 = 24 * BLOCK_EDGES;

/// Shape of a generated graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// The graph of the Graph500 benchmark: a few hubs, many small vertices.
    Kronecker,
    /// Both ends of every edge at random.
    Uniform,
    /// A rectangle of vertices, each joined with the next to the right and below; edges have no direction.
    Grid,
    /// Every vertex joined with the next.
    Path,
    /// Vertex 0 joined with every other.
    Star,
}

impl Choice for Shape {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Shape::Kronecker, "kronecker", "The graph of the Graph500 benchmark: a few hubs, many small vertices"),
        (Shape::Uniform, "uniform", "Both ends of every edge at random"),
        (Shape::Grid, "grid", "A rectangle, without directions"),
        (Shape::Path, "path", "Every vertex joined with the next"),
        (Shape::Star, "star", "Vertex 0 joined with every other"),
    ];
}

impl Shape {
    /// Whether its edges have a direction, where that follows from the shape.
    fn directed(self) -> Option<bool> {
        (self == Shape::Grid).then_some(false)
    }
}

/// Weights of a generated graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GeneratedWeights {
    /// Whole numbers from 1 to 255, each as likely: GAP's.
    Uniform,
    /// Real numbers from 0 to below 1: Graph500's.
    Unit,
}

impl Choice for GeneratedWeights {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (GeneratedWeights::Uniform, "uniform", "Whole numbers from 1 to 255, as GAP has them"),
        (GeneratedWeights::Unit, "unit", "Real numbers from 0 to below 1, as Graph500 has them"),
    ];
}

outcore_ingest::from_names!(Shape, GeneratedWeights);

/// The graph to generate.
#[derive(Clone, Debug)]
pub struct GenerateOptions {
    /// Its shape.
    pub shape: Shape,
    /// Binary logarithm of the number of vertices; at most 31.
    pub scale: u32,
    /// Number of edges per vertex, in Kronecker and uniform graphs.
    pub edge_factor: u64,
    /// Other seeds give other graphs.
    pub seed: u64,
    /// Weights of the edges, if any.
    pub weights: Option<GeneratedWeights>,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        GenerateOptions { shape: Shape::Kronecker, scale: 20, edge_factor: 16, seed: 1, weights: None }
    }
}

/// A generated graph as an input.
///
/// # Errors
/// A scale or a number of edges that is too large.
pub fn source(options: &GenerateOptions) -> Result<Source> {
    let generator = Generator::new(options)?;
    let mut facts = Facts {
        format: options.shape.name(),
        directed: options.shape.directed(),
        weights: options.weights.map(|_| "weight".to_owned()),
        declared: Some((0, 1 << options.scale)),
        // As large as it would be in the binary format: what progress is counted in.
        input_bytes: Some(16 * generator.edges),
        edges: Some(generator.edges),
        ..Facts::default()
    };
    facts.given.set("scale", options.scale.to_string());
    facts.given.set("edge_factor", options.edge_factor.to_string());
    facts.given.set("seed", options.seed.to_string());
    let generator = Arc::new(generator);
    Ok(Source::new(facts, generator.clone(), Generated { generator, next: 0 }))
}

struct Generated {
    generator: Arc<Generator>,
    next: u64,
}

impl ReadBlocks for Generated {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let first_record = self.next * BLOCK_EDGES;
        if first_record >= self.generator.edges {
            return Ok(None);
        }
        let sequence = self.next;
        self.next += 1;
        let edges = BLOCK_EDGES.min(self.generator.edges - first_record);
        let data = BlockData::Bytes(Vec::new());
        Ok(Some(Block { sequence, first_record, first_vertex: 0, input_bytes: 16 * (first_record + edges), data }))
    }
}

/// Makes all edges, some after the other on every worker, and hands them out: both ends of each, and their weights.
///
/// It is what importing the graph reads, without an image. Takes some 2 MiB per worker.
///
/// # Errors
/// A scale or a number of edges that is too large, no memory, or a request to stop.
pub fn for_each_edges(
    runtime: &Runtime,
    options: &GenerateOptions,
    visit: impl Fn(&[u64], &BatchWeights) + Sync,
) -> Result<()> {
    let generator = Generator::new(options)?;
    let next = AtomicU64::new(0);
    let work = |_| {
        let _reservation = runtime.budget().reserve("generating edges", BATCH_BYTES)?;
        let (mut ids, mut weights) = (Vec::new(), BatchWeights::None);
        loop {
            let first = next.fetch_add(BLOCK_EDGES, Ordering::Relaxed);
            if first >= generator.edges {
                return Ok(());
            }
            runtime.cancel().check()?;
            ids.clear();
            weights.clear();
            generator.fill(first..(first + BLOCK_EDGES).min(generator.edges), &mut ids, &mut weights);
            visit(&ids, &weights);
        }
    };
    runtime.run::<(), Error>(work).map(drop)
}

struct Generator {
    options: GenerateOptions,
    edges: u64,
    name: PathBuf,
    key: u64,
}

impl Generator {
    fn new(options: &GenerateOptions) -> Result<Self> {
        if options.scale > MOST_SCALE {
            return Err(Error::Usage(format!("expected a scale of at most {MOST_SCALE}, found {}", options.scale)));
        }
        let vertices = 1u64 << options.scale;
        let edges = match options.shape {
            Shape::Kronecker | Shape::Uniform => options.edge_factor.checked_mul(vertices),
            Shape::Grid => {
                let (rows, columns) = grid(options.scale);
                Some(rows * (columns - 1) + (rows - 1) * columns)
            }
            Shape::Path | Shape::Star => Some(vertices - 1),
        };
        let edges = edges.filter(|&edges| edges < 1 << 48).ok_or_else(|| {
            Error::Usage(format!("expected fewer than 2^48 edges, found an edge factor of {}", options.edge_factor))
        })?;
        let name = PathBuf::from(format!("{} graph", options.shape.name()));
        Ok(Generator { options: options.clone(), edges, name, key: split_mix(options.seed) })
    }

    /// Appends edges with these numbers.
    fn fill(&self, numbers: std::ops::Range<u64>, ids: &mut Vec<u64>, weights: &mut BatchWeights) {
        let scale = self.options.scale;
        ids.reserve(2 * (numbers.end - numbers.start) as usize);
        let (rows, columns) = grid(scale);
        let to_the_right = rows * (columns - 1);
        for number in numbers.clone() {
            let ends = match self.options.shape {
                Shape::Kronecker => self.kronecker(number),
                Shape::Uniform => {
                    let draw = split_mix(self.key ^ split_mix(number));
                    [(draw >> 32) >> (32 - scale), (draw & u64::from(u32::MAX)) >> (32 - scale)]
                }
                Shape::Grid if number >= to_the_right => {
                    let upper = number - to_the_right;
                    [upper, upper + columns]
                }
                Shape::Grid => {
                    let left = number / (columns - 1) * columns + number % (columns - 1);
                    [left, left + 1]
                }
                Shape::Path => [number, number + 1],
                Shape::Star => [0, number + 1],
            };
            ids.extend_from_slice(&ends);
        }
        let draw = |number| split_mix(!self.key ^ split_mix(number));
        match self.options.weights {
            None => {}
            Some(GeneratedWeights::Uniform) => {
                weights.integers().extend(numbers.map(|number| 1 + (((draw(number) >> 32) * 255) >> 32) as i64));
            }
            // 53 bits are what a real number holds.
            Some(GeneratedWeights::Unit) => {
                weights.reals().extend(numbers.map(|number| (draw(number) >> 11) as f64 / (1u64 << 53) as f64));
            }
        }
    }

    #[inline]
    fn kronecker(&self, number: u64) -> [u64; 2] {
        let mut state = split_mix(self.key ^ split_mix(number));
        let mut ends = [0u64; 2];
        let mut levels = self.options.scale;
        while levels > 0 {
            state = state.wrapping_add(SPLIT_MIX_STEP);
            let mut draws = split_mix(state);
            for _ in 0..levels.min(4) {
                let draw = draws as u16;
                let [second, third, fourth] = [draw >= QUADRANTS[0], draw >= QUADRANTS[1], draw >= QUADRANTS[2]];
                // The third and fourth quadrant have the source's bit, the second and fourth the target's.
                ends[0] = (ends[0] << 1) + u64::from(third);
                ends[1] = (ends[1] << 1) + u64::from(second) - u64::from(third) + u64::from(fourth);
                draws >>= 16;
            }
            levels = levels.saturating_sub(4);
        }
        [self.scramble(ends[0]), self.scramble(ends[1])]
    }

    /// Another id of as many bits; no two ids become the same one: each step can be undone.
    #[inline]
    fn scramble(&self, id: u64) -> u64 {
        let scale = self.options.scale;
        let mask = (1u64 << scale) - 1;
        let shift = scale / 2 + 1;
        let mut id = id ^ (self.key & mask);
        id = id.wrapping_mul(0xd6e8_feb8_6659_fd93) & mask;
        id ^= id >> shift;
        id = id.wrapping_mul(self.key | 1) & mask;
        id ^= id >> shift;
        id = id.wrapping_mul(0xff51_afd7_ed55_8ccd) & mask;
        id ^ id >> shift
    }
}

impl Parser for Generator {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        let first = block.sequence * BLOCK_EDGES;
        if let Ids::Integer { values, .. } = &mut batch.ids {
            self.fill(first..(first + BLOCK_EDGES).min(self.edges), values, &mut batch.weights);
        }
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.name
    }
}

/// Rows and columns of a grid.
fn grid(scale: u32) -> (u64, u64) {
    (1 << (scale / 2), 1 << (scale - scale / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(options: &GenerateOptions) -> Vec<u64> {
        let generator = Generator::new(options).unwrap();
        let mut ids = Vec::new();
        generator.fill(0..generator.edges, &mut ids, &mut BatchWeights::None);
        assert!(ids.iter().all(|&id| id < 1 << options.scale));
        ids
    }

    #[test]
    fn scrambled_ids_are_a_permutation_that_depends_on_the_seed() {
        for scale in 0..12 {
            let scrambled = |seed| {
                let generator = Generator::new(&GenerateOptions { scale, seed, ..GenerateOptions::default() }).unwrap();
                (0..1 << scale).map(|id| generator.scramble(id)).collect::<Vec<u64>>()
            };
            let mut ids = scrambled(1);
            assert!(scale < 4 || ids != scrambled(2));
            assert!(scale < 4 || !ids.is_sorted());
            ids.sort_unstable();
            assert_eq!(ids, (0..1 << scale).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn kronecker_quadrants_are_as_likely_as_they_should_be() {
        let generator = Generator::new(&GenerateOptions { scale: 1, ..GenerateOptions::default() }).unwrap();
        let zero = generator.scramble(0);
        let mut counts = [0u32; 4];
        for number in 0..200_000 {
            let [source, target] = generator.kronecker(number);
            counts[usize::from(source != zero) * 2 + usize::from(target != zero)] += 1;
        }
        for (count, chance) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            let share = f64::from(count) / 200_000.0;
            assert!((share - chance).abs() < 0.005, "{counts:?}");
        }
    }

    #[test]
    fn regular_shapes_have_the_edges_they_should_have() {
        let options = |shape, scale| GenerateOptions { shape, scale, ..GenerateOptions::default() };
        assert_eq!(edges(&options(Shape::Path, 2)), [0, 1, 1, 2, 2, 3]);
        assert_eq!(edges(&options(Shape::Star, 2)), [0, 1, 0, 2, 0, 3]);
        assert_eq!(edges(&options(Shape::Grid, 3)), [0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6, 7, 0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(edges(&options(Shape::Grid, 1)), [0, 1]);
        for shape in [Shape::Path, Shape::Star, Shape::Grid] {
            assert!(edges(&options(shape, 0)).is_empty());
        }
        assert_eq!(edges(&options(Shape::Uniform, 10)).len(), 2 << 14);
        assert_eq!(edges(&options(Shape::Uniform, 0)), vec![0; 32]);
    }

    #[test]
    fn any_part_can_be_made_alone() {
        for kind in [GeneratedWeights::Uniform, GeneratedWeights::Unit] {
            let options =
                GenerateOptions { scale: 13, edge_factor: 20, weights: Some(kind), ..GenerateOptions::default() };
            let generator = Generator::new(&options).unwrap();
            let (mut ids, mut weights) = (Vec::new(), BatchWeights::None);
            generator.fill(0..1000, &mut ids, &mut weights);
            let (mut later, mut later_weights) = (Vec::new(), BatchWeights::None);
            generator.fill(700..1000, &mut later, &mut later_weights);
            assert_eq!(later, ids[1400..]);
            match kind {
                GeneratedWeights::Uniform => {
                    assert_eq!(later_weights.integers()[..], weights.integers()[700..]);
                    assert!(weights.integers().iter().all(|weight| (1..=255).contains(weight)));
                }
                GeneratedWeights::Unit => {
                    assert_eq!(later_weights.reals()[..], weights.reals()[700..]);
                    assert!(weights.reals().iter().all(|weight| (0.0..1.0).contains(weight)));
                    let mean = weights.reals().iter().sum::<f64>() / 1000.0;
                    assert!((mean - 0.5).abs() < 0.05, "{mean}");
                }
            }
        }
    }

    #[test]
    fn all_edges_are_handed_out_once() {
        let options = GenerateOptions { scale: 14, edge_factor: 9, ..GenerateOptions::default() };
        let expected = edges(&options);
        let expected = expected.chunks_exact(2).map(|edge| (edge[0], edge[1]));
        for threads in [1, 3] {
            let options_ = outcore_io::RuntimeOptions { threads: Some(threads), ..Default::default() };
            let runtime = Runtime::new(options_).unwrap();
            let edges = std::sync::Mutex::new(Vec::new());
            for_each_edges(&runtime, &options, |ids, weights| {
                assert_eq!(weights, &BatchWeights::None);
                edges.lock().unwrap().extend(ids.chunks_exact(2).map(|edge| (edge[0], edge[1])));
            })
            .unwrap();
            let mut edges = edges.into_inner().unwrap();
            edges.sort_unstable();
            let mut expected: Vec<_> = expected.clone().collect();
            expected.sort_unstable();
            assert!(edges == expected);
        }
    }

    #[test]
    fn too_much_is_refused() {
        let refuse = |options: GenerateOptions| assert!(source(&options).is_err(), "{options:?}");
        refuse(GenerateOptions { scale: 32, ..GenerateOptions::default() });
        refuse(GenerateOptions { edge_factor: u64::MAX, ..GenerateOptions::default() });
    }
}
