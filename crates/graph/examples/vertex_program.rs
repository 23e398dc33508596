//! PageRank as a vertex program: `cargo run --release --example vertex_program IMAGE ITERATIONS`.
//!
//! It is the example of `docs/howto/write-an-algorithm.md`, and what its form in Python is timed against.

use outcore_graph::{Direction, Events, Graph, List, ProgramOptions, Vertex, VertexProgram, run_program};
use outcore_image::ImageOptions;
use outcore_io::{Runtime, RuntimeOptions};

struct PageRank;

#[derive(Clone, Copy)]
struct Rank {
    now: f64,
    next: f64,
}

impl VertexProgram for PageRank {
    type State = Rank;
    type Message = f64;
    const COMBINES: bool = true;

    fn run(&self, vertex: &mut Vertex<'_, f64>, _rank: &mut Rank) {
        vertex.request(Direction::Out);
        vertex.request_end();
    }

    fn on_list(&self, vertex: &mut Vertex<'_, f64>, rank: &mut Rank, list: List<'_>) {
        vertex.multicast(list.neighbours, rank.now / list.neighbours.len() as f64);
    }

    fn combine(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    fn on_message(&self, _events: &mut Events<'_, f64>, rank: &mut Rank, sum: f64) {
        rank.next = sum;
    }

    fn on_iteration_end(&self, events: &mut Events<'_, f64>, rank: &mut Rank) {
        *rank = Rank { now: 0.15 + 0.85 * rank.next, next: 0.0 };
        events.activate_self();
    }
}

fn main() -> outcore_image::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, image, iterations] = &arguments[..] else { panic!("expected an image and a number of iterations") };
    let runtime = Runtime::new(RuntimeOptions::default())?;
    let graph = Graph::open(&runtime, image, ImageOptions::default())?;
    let mut ranks = vec![Rank { now: 1.0, next: 0.0 }; graph.vertices() as usize];
    let max_iterations = Some(iterations.parse().expect("a number of iterations"));
    let run = run_program(&graph, &PageRank, &mut ranks, &ProgramOptions { max_iterations, ..Default::default() })?;
    for step in &run.stats.steps {
        println!("{:.3} s, {} pages", step.sweep.seconds, step.sweep.pages_wanted);
    }
    let highest = ranks.iter().map(|rank| rank.now).fold(0.0, f64::max);
    println!("{:.3} s, {} messages, highest rank {highest}", run.stats.total.seconds, run.messages);
    Ok(())
}
