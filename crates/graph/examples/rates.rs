//! How fast lists come: decoding with checksum, one pass over all pages, random pages.
//!
//! usage: `cargo run --release -p outcore-graph --example rates -- IMAGE.oc [THREADS]`
//!
//! Compare the passes with `fio` on the same device: `--rw=read --bs=256k --iodepth=32` for the pass, `--rw=randread
//! --bs=4k --iodepth=128` for random pages, both with `--direct=1 --ioengine=io_uring`.

use outcore_format::{Lists, PAGE_BYTES, Shape};
use outcore_graph::decode::Decoder;
use outcore_graph::{Direction, Frontier, Graph, scan};
use outcore_image::{ImageFile, ImageOptions, Result};
use outcore_io::{Runtime, RuntimeOptions};
use std::path::Path;
use std::time::Instant;

/// How many pages are held in memory for decoding.
const DECODED_PAGES: usize = 40_000;
/// Random pages are so many pages apart on average: more than any gap that is read over.
const STRIDE: u64 = 8;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let image = arguments.next().expect("usage: rates IMAGE.oc [THREADS]");
    let threads = arguments.next().and_then(|text| text.parse().ok());
    let runtime = Runtime::new(RuntimeOptions { threads, ..RuntimeOptions::default() })?;
    let graph = Graph::open(&runtime, &image, ImageOptions { cache_bytes: Some(0), ..ImageOptions::default() })?;
    decode_rate(&graph, Path::new(&image));
    for _ in 0..3 {
        pass_rate(&graph)?;
    }
    let vertices = sparse_frontier(&graph);
    for _ in 0..5 {
        random_rate(&graph, &vertices)?;
    }
    Ok(())
}

/// Verifies and decodes the image's first pages on one core, by every way that this processor has.
fn decode_rate(graph: &Graph, image: &Path) {
    let bytes = std::fs::read(ImageFile::OUT_LISTS.path(image)).expect("the image has lists");
    let (pages, _) = bytes.as_chunks::<PAGE_BYTES>();
    let pages = &pages[..pages.len().min(DECODED_PAGES)];
    let origin = ImageFile::OUT_LISTS.origin(graph.manifest().image_id);
    let shape = Shape { vertices: graph.vertices(), parallel: graph.manifest().parallel_edges };
    for (name, mut decoder) in Decoder::all() {
        let mut best = 0.0f64;
        let mut neighbours = 0;
        for _ in 0..5 {
            neighbours = 0;
            let start = Instant::now();
            for (number, page) in (0..).zip(pages) {
                let page = origin.verify(number, page).expect("the image is whole");
                neighbours += decoder.decode(&page, shape).map(Lists::edges).expect("the image is whole");
            }
            best = best.max(neighbours as f64 / start.elapsed().as_secs_f64());
        }
        println!("decode with checksum, {name:9} {:6.2} G neighbours/s and core ({neighbours} neighbours)", best / 1e9);
    }
}

/// Reads and decodes all pages once.
fn pass_rate(graph: &Graph) -> Result<()> {
    let (_, stats) = scan(graph, Direction::Out, Frontier::All, || (), |(), _| {})?;
    let rate = stats.bytes_read as f64 / stats.seconds / 1e6;
    println!("one pass    {:8.1} MB/s ({} pages in {:.3} s)", rate, stats.pages_read, stats.seconds);
    Ok(())
}

/// Reads one page in [`STRIDE`], too far apart to be read together, as a sparse frontier does.
fn random_rate(graph: &Graph, vertices: &[u32]) -> Result<()> {
    let (_, stats) = scan(graph, Direction::Out, Frontier::List(vertices), || (), |(), _| {})?;
    let rate = stats.requests as f64 / stats.seconds;
    println!(
        "random      {:8.0} requests/s ({} pages wanted, {} read in {:.3} s)",
        rate, stats.pages_wanted, stats.pages_read, stats.seconds
    );
    Ok(())
}

/// Vertices whose lists lie [`STRIDE`] pages apart.
fn sparse_frontier(graph: &Graph) -> Vec<u32> {
    let pages = graph.pages(Direction::Out);
    // The first vertex whose list begins in each of these pages: a list that spans pages would bring all of them.
    let mut vertices: Vec<u32> = (0..pages)
        .step_by(STRIDE as usize)
        .map(|page| graph.begun_in(Direction::Out, page..page + 1))
        .filter(|(begun, pages)| begun.len() > 1 && *pages == 1)
        .map(|(begun, _)| begun.start)
        .collect();
    vertices.dedup();
    vertices
}
