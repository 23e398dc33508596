//! Images as inputs of an import: all of a graph, its edges the other way round, or a part of its vertices with the
//! edges between them; alone, or before files whose edges are added.
//!
//! *Cost.* One pass over the out-lists and their weights; the ids in memory (8 bytes per vertex, strings and their text
//! beside that), and a bit per vertex where only some are wanted.

use crate::engine::graph::Graph;
use crate::engine::vertex_set::Bitmap;
use crate::export::edge_batches::{EdgeBatches, EdgeData};
use crate::export::vertex_batches::VertexBatches;
use outcore_image::{Error, ImageOptions, MANIFEST, Result};
use outcore_ingest::{Attributes, InputOptions, Source, chained, from_batches, narrowed, with_vertices};
use outcore_io::Runtime;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The part of a graph that is imported into another one.
#[derive(Debug, Default)]
pub struct Part {
    /// These vertices and the edges between them; all if not given.
    pub vertices: Option<Arc<Bitmap>>,
    /// Edges lead the other way.
    pub reversed: bool,
}

impl Part {
    /// Some vertices of a graph, by their ids as text, with the edges between them.
    ///
    /// # Errors
    /// An id that no vertex has, or no memory.
    pub fn of_vertices(graph: &Graph, ids: &[impl AsRef<str>]) -> Result<Self> {
        Self::of_numbers(graph, graph.vertices_of(ids)?.into_iter())
    }

    /// Some vertices by their places in the order of results, with the edges between them.
    ///
    /// # Errors
    /// No memory.
    pub fn of_numbers(graph: &Graph, numbers: impl Iterator<Item = u32>) -> Result<Self> {
        let vertices = Bitmap::new(graph.runtime().budget(), "the vertices of a part", graph.vertices())?;
        numbers.for_each(|vertex| {
            vertices.insert(vertex);
        });
        Ok(Part { vertices: Some(Arc::new(vertices)), reversed: false })
    }
}

/// Whether a path is that of an image, rather than of a file.
pub fn is_image(runtime: &Runtime, path: &Path) -> bool {
    runtime.backend().named(&path.join(MANIFEST)).is_some()
}

/// Opens inputs as one source of edges: files as [`outcore_ingest::open`] does, and images, of which there may be
/// several, before or behind files. `part` says what of the images is wanted.
///
/// # Errors
/// As for [`outcore_ingest::open`], [`Graph::open`] and [`of_graph`]; a part of files that are no images.
pub fn open_inputs(
    runtime: &Arc<Runtime>,
    paths: &[PathBuf],
    options: &InputOptions,
    part: impl Fn(&Graph) -> Result<Part>,
) -> Result<Source> {
    if !paths.iter().any(|path| is_image(runtime, path)) {
        return outcore_ingest::open(runtime, paths, options);
    }
    let mut sources = Vec::new();
    // An image is a group of its own; files that follow each other are one.
    for group in paths.chunk_by(|one, other| !is_image(runtime, one) && !is_image(runtime, other)) {
        let source = if is_image(runtime, &group[0]) {
            let graph = Arc::new(Graph::open(runtime, &group[0], ImageOptions::default())?);
            let part = part(&graph)?;
            of_graph(graph, options, part)?
        } else {
            outcore_ingest::open(runtime, group, options)?
        };
        sources.push((group[0].clone(), source));
    }
    if sources.len() == 1 { Ok(sources.remove(0).1) } else { chained(sources) }
}

/// The edges of a graph as a source, with its vertices.
///
/// # Errors
/// A graph with complex weights, options for files, or no memory.
pub fn of_graph(graph: Arc<Graph>, options: &InputOptions, part: Part) -> Result<Source> {
    let given = [
        ("format", options.format.is_some()),
        ("source", options.source.is_some()),
        ("target", options.target.is_some()),
        ("delimiter", options.delimiter.is_some()),
        ("header", options.header.is_some()),
        ("comment", options.comment.is_some()),
        ("bipartite", options.bipartite.is_some()),
    ];
    if let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let path = graph.path().display();
        return Err(Error::Usage(format!("{path}: an image has its own columns; leave --{name} out")));
    }
    let name = graph.path().display().to_string();
    let own = &graph.manifest().attributes;
    if let Attributes::Named(names) = &options.attributes
        && let Some(other) = names.iter().find(|name| own.iter().all(|own| own.name != **name))
    {
        let names: Vec<&str> = own.iter().map(|own| own.name.as_str()).collect();
        return Err(Error::Usage(format!(
            "--attributes {other}: {name} has no such attribute of edges; there are {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        )));
    }
    let weights = graph.manifest().weights().is_some() && options.weight.as_deref() != Some("none");
    let (source, target) = if part.reversed { ("target", "source") } else { ("source", "target") };
    let columns = InputOptions {
        source: Some(source.into()),
        target: Some(target.into()),
        weight: options.weight.clone().filter(|name| name != "none"),
        attributes: Attributes::All,
        ..InputOptions::default()
    };
    let mut edges = EdgeBatches::new(Arc::clone(&graph), EdgeData { weights, attributes: true }, 0)?;
    if let Some(vertices) = &part.vertices {
        edges = edges.within(Arc::clone(vertices));
    }
    let ids = VertexBatches::new(Arc::clone(&graph), part.vertices.clone())?;
    let of_vertices = InputOptions { of_vertices: true, ..InputOptions::default() };
    let ids = from_batches(Box::new(ids), &name, &of_vertices)?;
    let mut source = with_vertices(from_batches(Box::new(edges), &name, &columns)?, ids, &name)?;
    let manifest = graph.manifest();
    let facts = source.facts_mut();
    let is_whole = part.vertices.is_none();
    facts.format = "image";
    facts.directed_by = Some(format!("the image {name}"));
    facts.ends = None;
    facts.edges = is_whole.then(|| graph.edges());
    facts.input_bytes = Some(graph.image_bytes());
    facts.rows = manifest.rows.filter(|_| is_whole && !part.reversed);
    facts.keeps_parallel = manifest.parallel_edges;
    facts.notes.clear();
    let attributes = match &options.attributes {
        // All are kept unless the options name some.
        Attributes::None => Attributes::All,
        chosen => chosen.clone(),
    };
    narrowed(source, &InputOptions { attributes, ..options.clone() }, &[])
}
