//! Images as inputs of an import: all of a graph, its edges the other way round, or a part of its vertices with the
//! edges between them; alone, or before files whose edges are added.
//!
//! *Cost.* One pass over the out-lists and their weights; the ids in memory (8 bytes per vertex, strings and their text
//! beside that), and a bit per vertex where only some are wanted.

use crate::engine::graph::Graph;
use crate::engine::vertex_set::Bitmap;
use crate::export::edge_batches::{EdgeBatches, EdgeData, LeftOut};
use crate::export::vertex_batches::VertexBatches;
use crate::import::names::{name_numbers, restore_names};
use crate::import::sides;
use arrow_array::{RecordBatchIterator, RecordBatchReader};
use arrow_schema::Schema;
use outcore_format::IdType;
use outcore_image::{Error, ImageOptions, Result};
use outcore_ingest::{
    Attributes, Condition, Facts, Files, Given, InputOptions, SIDES, Source, WhichVertices, chained, check_different,
    from_batches, images_of_pattern, narrowed, rows_that_meet, with_attributes, with_vertices,
};
use outcore_io::Runtime;
use outcore_table::{BATCH_IDS, BATCH_TEXT_BYTES, from_arrow, string_ids};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Memory of a value of a vertex while conditions are compared with it.
const ROW_BYTES: u64 = 16;

/// The column of the ids of vertices. An attribute of that name has it twice, with a dot.
const ID_NAME: &str = "vertex";

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
    /// A vertex that the graph does not have, or no memory.
    pub fn of_numbers(graph: &Graph, mut numbers: impl Iterator<Item = u32>) -> Result<Self> {
        let vertices = Bitmap::new(graph.runtime().budget(), "the vertices of a part", graph.vertices())?;
        numbers.try_for_each(|vertex| {
            graph.check_vertex(vertex)?;
            vertices.insert(vertex);
            Ok::<_, Error>(())
        })?;
        Ok(Part { vertices: Some(Arc::new(vertices)), reversed: false })
    }
}

/// Whether a path is that of an image, rather than of a file.
pub fn is_image(runtime: &Runtime, path: &Path) -> bool {
    outcore_image::is_image(runtime.backend(), path)
}

/// An input of an import.
pub enum Input {
    /// Files, folders, images, and patterns of their names.
    Paths(Vec<PathBuf>),
    /// An open graph.
    Graph(Graph),
    /// Rows of a table, and its name in messages.
    Rows(Box<dyn RecordBatchReader + Send>, String),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Input::Paths(paths) => f.debug_tuple("Paths").field(paths).finish(),
            Input::Graph(graph) => f.debug_tuple("Graph").field(&graph.path()).finish(),
            Input::Rows(_, name) => f.debug_tuple("Rows").field(name).finish(),
        }
    }
}

/// Opens paths as one source of edges: files as [`open`](outcore_ingest::open) does, and images, of which there may be
/// several, before or behind files. `part` says what of the images is wanted.
///
/// # Errors
/// As for [`open_several`].
pub fn open_inputs(
    runtime: &Runtime,
    paths: &[PathBuf],
    options: &InputOptions,
    part: impl Fn(&Graph) -> Result<Part>,
) -> Result<Source> {
    open_several(runtime, vec![Input::Paths(paths.to_vec())], options, part)
}

/// Opens inputs of any kinds as one source of edges. Options for columns are for the files and tables: an image beside
/// them has columns of its own. `part` says what of the images is wanted.
///
/// # Errors
/// As for [`open`](outcore_ingest::open), [`from_batches`], [`Graph::open`] and [`of_graph`].
pub fn open_several(
    runtime: &Runtime,
    inputs: Vec<Input>,
    options: &InputOptions,
    part: impl Fn(&Graph) -> Result<Part>,
) -> Result<Source> {
    let (inputs, not_read) = expanded(runtime, inputs)?;
    let is_image = |input: &Input| match input {
        Input::Paths(paths) => paths.iter().any(|path| is_image(runtime, path)),
        Input::Graph(_) => true,
        Input::Rows(..) => false,
    };
    let united = if inputs.len() > 1 { Some(Vec::new()) } else { options.united.clone() };
    let mut given = InputOptions { united, ..options.clone() };
    let inputs = inputs.into_iter().enumerate();
    let (images, others): (Vec<_>, Vec<_>) = inputs.partition(|(_, input)| is_image(input));
    let (are_alone, mut opened) = (others.is_empty(), Vec::with_capacity(images.len() + others.len()));
    // Files first: they tell the names of columns that are given by number.
    for (place, input) in others {
        let (name, source) = match input {
            Input::Rows(rows, name) => (PathBuf::from(&name), from_batches(rows, &name, &given)?),
            Input::Paths(paths) => {
                (paths.first().cloned().unwrap_or_default(), outcore_ingest::open(runtime, &paths, &given)?)
            }
            Input::Graph(_) => unreachable!("a graph is an image"),
        };
        name_numbers(&mut given.attributes, source.facts());
        opened.push((place, name, source));
    }
    let mut names_of_images = Vec::with_capacity(images.len());
    let mut own_names = given.clone();
    opened.iter_mut().for_each(|(.., source)| restore_names(source.facts_mut(), &mut own_names.attributes));
    for (place, input) in images {
        let graph = match input {
            Input::Graph(graph) => graph,
            Input::Paths(paths) => Graph::open(runtime, &paths[0], ImageOptions::default())?,
            Input::Rows(..) => unreachable!("rows are no image"),
        };
        let (name, part) = (graph.path().to_owned(), part(&graph)?);
        let source = match are_alone {
            true => of_graph(graph, &own_names, part)?,
            false => {
                let own = beside_files(&graph, &own_names);
                source_of(graph, &own, part, options.bipartite.as_ref())?
            }
        };
        names_of_images.push(name.clone());
        opened.push((place, name, source));
    }
    if !options.allow_repeated && opened.len() > 1 {
        let files = opened.iter().flat_map(|(.., source)| &source.facts().files.paths);
        check_different(runtime.backend(), &names_of_images.into_iter().chain(files.cloned()).collect::<Vec<_>>())?;
    }
    opened.sort_by_key(|(place, ..)| *place);
    let mut sources: Vec<_> = opened.into_iter().map(|(_, name, source)| (name, source)).collect();
    let attributes = own_names.attributes;
    let mut source = match sources.len() {
        1 => sources.remove(0).1,
        _ => chained(sources, &InputOptions { attributes, ..options.clone() })?,
    };
    let facts = source.facts_mut();
    facts.notes.extend(not_read.note());
    facts.files.extend(&not_read);
    facts.given.set_all(options);
    Ok(source)
}

/// The inputs, of which those by paths are images, one by one, and files that follow each other; and the files that
/// patterns of images leave out.
fn expanded(runtime: &Runtime, inputs: Vec<Input>) -> Result<(Vec<Input>, Files)> {
    let (mut all, mut not_read) = (Vec::with_capacity(inputs.len()), Files::default());
    for input in inputs {
        let Input::Paths(paths) = input else {
            all.push(input);
            continue;
        };
        let mut own = Vec::with_capacity(paths.len());
        for path in paths {
            match images_of_pattern(runtime.backend(), &path)? {
                Some(mut found) => {
                    own.append(&mut found.paths);
                    not_read.extend(&found);
                }
                None => own.push(path),
            }
        }
        let groups = own.chunk_by(|one, other| !is_image(runtime, one) && !is_image(runtime, other));
        all.extend(groups.map(|group| Input::Paths(group.to_vec())));
    }
    match all.is_empty() {
        true => Err(Error::Usage("expected inputs, found none".to_owned())),
        false => Ok((all, not_read)),
    }
}

/// The options for a graph beside files: those for columns are for the files. Its weights are those that the options
/// name, if it has such, else its own.
fn beside_files(graph: &Graph, options: &InputOptions) -> InputOptions {
    let manifest = graph.manifest();
    let is_own = |name: &String| {
        let is_weights = manifest.weights().is_some_and(|weights| weights.name == *name);
        name == "none" || is_weights || manifest.attributes.iter().any(|attribute| attribute.name == *name)
    };
    InputOptions {
        format: None,
        source: None,
        target: None,
        weight: options.weight.clone().filter(is_own),
        delimiter: None,
        header: None,
        comment: None,
        bipartite: None,
        ..options.clone()
    }
}

/// The edges of a graph as a source, with its vertices.
///
/// # Errors
/// A graph with complex weights, options for files, or no memory.
pub fn of_graph(graph: Graph, options: &InputOptions, part: Part) -> Result<Source> {
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
        let text = format!("{path}: an image has its own columns; leave --{name} out, which is for files beside it");
        return Err(Error::Usage(text));
    }
    let mut source = source_of(graph, options, part, None)?;
    source.facts_mut().given.set_all(options);
    Ok(source)
}

/// The edges of a graph, whose ids begin with these prefixes if it has two sides: then an import names the side of each
/// vertex anew.
fn source_of(graph: Graph, options: &InputOptions, part: Part, sides: Option<&[String; 2]>) -> Result<Source> {
    let name = graph.path().display().to_string();
    check_own(&graph, options, sides)?;
    let weights = graph.manifest().weights().is_some() && options.weight.as_deref() != Some("none");
    let (source, target) = if part.reversed { ("target", "source") } else { ("source", "target") };
    let columns = InputOptions {
        source: Some(source.into()),
        target: Some(target.into()),
        weight: options.weight.clone().filter(|name| name != "none"),
        attributes: Attributes::All,
        ..InputOptions::default()
    };
    let Wanted { vertices, left_out, has_met, ends, conditions } = Wanted::of(&graph, &options.conditions, &part)?;
    let mut given = Given::default();
    given.images.push((graph.path().to_owned(), graph.manifest().image_id));
    given.set_flag("reverse", part.reversed);
    if let Some(vertices) = &part.vertices {
        given.set("vertices", format!("{} of {}", vertices.count(), graph.vertices()));
    }
    let has_all = ends.iter().all(Option::is_none);
    let unmet = (options.conditions.len() > conditions.len()).then(|| Arc::new(AtomicU64::new(0)));
    let rows = graph.manifest().rows.filter(|_| vertices.is_none() && !part.reversed);
    // Other inputs may have more rows under ids: they are counted when all are read.
    let is_matrix = rows.is_some() && has_sides(&graph);
    let sides = if is_matrix { Some(SIDES.map(str::to_owned)) } else { sides.cloned() };
    let note = left_out.filter(|&left_out| left_out > 0).map(|left_out| {
        format!("Vertices that do not meet --where and were left out, with their edges: {left_out}.") //
    });
    let mut edges = EdgeBatches::new(&graph, EdgeData { weights, attributes: true }, 0)?.between(ends)?;
    if let Some(count) = &unmet {
        edges = edges.counting(LeftOut { within: part.vertices.clone(), count: Arc::clone(count) });
    }
    let ids = VertexBatches::new(&graph, vertices)?;
    let ids: Box<dyn RecordBatchReader + Send> =
        if sides.is_some() { without(ids, sides::NAME)? } else { Box::new(ids) };
    let of_vertices = InputOptions { of_vertices: true, ..InputOptions::default() };
    let mut ids = from_batches(ids, &name, &of_vertices)?;
    // Batches call one otherwise, since the column of ids has its name.
    let own = &graph.manifest().vertex_attributes;
    let own = own.iter().filter(|attribute| sides.is_none() || attribute.name != sides::NAME);
    ids.facts_mut().attributes.iter_mut().zip(own).for_each(|(field, own)| field.name.clone_from(&own.name));
    let schema = Arc::clone(edges.schema());
    let mut edges = from_batches(Box::new(edges), &name, &columns)?;
    edges.facts_mut().ends = None;
    edges.facts_mut().edges = has_all.then(|| graph.edges());
    let conditions = conditions.into_iter().map(|condition| in_batches(condition, &graph, &schema)).collect();
    let on_edges = InputOptions { attributes: Attributes::All, conditions, ..options.clone() };
    let edges = narrowed(edges, &on_edges)?;
    let chosen = in_order(&graph, edges.facts(), &schema, &options.attributes);
    let mut source = with_vertices(with_attributes(edges, &chosen), ids, &name)?;
    let facts = source.facts_mut();
    (facts.format, facts.has_own_names) = ("image", true);
    facts.directed_by = Some(format!("the image {name}"));
    facts.input_bytes = Some(graph.image_bytes());
    facts.rows = rows.filter(|_| !is_matrix);
    facts.keeps_parallel = graph.manifest().parallel_edges;
    (facts.sides, facts.sides_are_matrix) = (sides, is_matrix);
    // An image of an older writer says no type: that of its storage is wider than its ids may need.
    let unsaid = graph.manifest().integer_ids().map(|_| IdType::default());
    if let Some(kind) = graph.manifest().id_type.or(unsaid) {
        (facts.id_type, facts.sides_are_integers) = (kind, is_matrix);
    }
    facts.notes = Vec::from_iter(note);
    facts.given = given;
    facts.unmet.extend(unmet);
    facts.unmet_vertices = left_out.filter(|_| !has_met).unwrap_or(0);
    source.with_id_type(options.ids)
}

/// Refuses integers where ids are to begin with prefixes, and names of attributes that the edges of a graph have not.
fn check_own(graph: &Graph, options: &InputOptions, sides: Option<&[String; 2]>) -> Result<()> {
    if let Some([left, right]) = sides.filter(|_| !string_ids(graph.image())) {
        let expected = format!("a graph with two sides, whose ids begin with `{left}` and `{right}`");
        return Err(Error::input(graph.path(), None, expected, "integers as ids")
            .advise("import its files with --bipartite, too"));
    }
    let own = &graph.manifest().attributes;
    if let (Attributes::Named(names), None) = (&options.attributes, &options.united)
        && let Some(other) = names.iter().find(|name| own.iter().all(|own| own.name != **name))
    {
        let names: Vec<&str> = own.iter().map(|own| own.name.as_str()).collect();
        let path = graph.path().display();
        return Err(Error::Usage(format!(
            "--attributes {other}: {path} has no such attribute of edges; there are {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        )));
    }
    if let Attributes::Named(names) = &options.attributes
        && let Some((_, twice)) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name))
    {
        return Err(Error::Usage(format!("--attributes {twice}: that column is named twice")));
    }
    Ok(())
}

/// Whether a graph says of its vertices on which side each is, by its id.
fn has_sides(graph: &Graph) -> bool {
    string_ids(graph.image())
        && graph.manifest().vertex_attributes.iter().any(|attribute| attribute.name == sides::NAME)
}

/// The wanted vertices and ends of edges, and the conditions that edges are still to meet.
struct Wanted {
    vertices: Option<Arc<Bitmap>>,
    /// Number of vertices that conditions leave out, if there are such on all vertices.
    left_out: Option<u64>,
    /// There are vertices that meet these conditions.
    has_met: bool,
    /// Vertices from which edges of the image lead, and those to which.
    ends: [Option<Arc<Bitmap>>; 2],
    conditions: Vec<Condition>,
}

impl Wanted {
    /// Tells conditions on vertices from others, and finds the vertices that meet them.
    fn of(graph: &Graph, conditions: &[Condition], part: &Part) -> Result<Self> {
        let manifest = graph.manifest();
        let (mut on_vertices, mut on_edges) = (Vec::new(), Vec::new());
        for condition in conditions {
            let column = &condition.column;
            let is_own = manifest.weights().is_some_and(|weights| weights.name == *column)
                || manifest.attributes.iter().any(|attribute| attribute.name == *column);
            let of_vertices = condition.of_vertices().filter(|_| !is_own);
            let is_end = of_vertices.as_ref().is_some_and(|(which, _)| *which != WhichVertices::All)
                || !is_own && ["source", "target"].contains(&column.as_str());
            if is_end && !graph.is_directed() {
                return Err(Error::Usage(format!(
                    "--where {column}: expected edges with a direction, found {}, whose edges have none; say `vertex` for \
                     both ends",
                    graph.path().display()
                )));
            }
            match of_vertices {
                Some((which, own)) => on_vertices.push((which, on_attribute(own, column, graph))),
                None => on_edges.push(condition.clone()),
            }
        }
        let meeting = |which, within: Option<Arc<Bitmap>>| {
            let own = on_vertices.iter().filter(|(of, _)| *of == which).map(|(_, condition)| condition.clone());
            let own: Vec<Condition> = own.collect();
            if own.is_empty() {
                return Ok((within, None, true));
            }
            let (found, left_out, has_met) = vertices_that_meet(graph, &own, within.as_deref())?;
            Ok::<_, Error>((Some(found), Some(left_out), has_met))
        };
        let (vertices, left_out, has_met) = meeting(WhichVertices::All, part.vertices.clone())?;
        let mut ends = [
            meeting(WhichVertices::Sources, vertices.clone())?.0,
            meeting(WhichVertices::Targets, vertices.clone())?.0,
        ];
        if part.reversed {
            ends.reverse();
        }
        Ok(Wanted { vertices, left_out, has_met, ends, conditions: on_edges })
    }
}

/// A condition of vertices, written as one on `column`: on the attribute `vertex` if there is one and the column has
/// the prefix of an attribute, since the column of ids has that name.
fn on_attribute(mut condition: Condition, column: &str, graph: &Graph) -> Condition {
    let is_attribute = column != ID_NAME && condition.column == ID_NAME;
    if is_attribute && graph.manifest().vertex_attributes.iter().any(|attribute| attribute.name == ID_NAME) {
        condition.column = format!("{ID_NAME}.{ID_NAME}");
    }
    condition
}

/// The vertices, of some or of all, that meet all conditions, the number of those that do not, and whether any does:
/// one pass over the ids and the attributes.
fn vertices_that_meet(
    graph: &Graph,
    conditions: &[Condition],
    within: Option<&Bitmap>,
) -> Result<(Arc<Bitmap>, u64, bool)> {
    let name = graph.path().display().to_string();
    let rows = VertexBatches::new(graph, None)?;
    let bytes = ROW_BYTES * (1 + rows.schema().fields().len() as u64) * BATCH_IDS as u64 + 2 * BATCH_TEXT_BYTES as u64;
    let _batch = graph.reserve("conditions on vertices", bytes)?;
    let of_vertices = InputOptions { of_vertices: true, ..InputOptions::default() };
    let found = Bitmap::new(graph.runtime().budget(), "vertices that meet --where", graph.vertices())?;
    let (mut left_out, mut has_met) = (0, false);
    rows_that_meet(from_batches(Box::new(rows), &name, &of_vertices)?, conditions, |row, is_met| {
        if within.is_none_or(|within| within.contains(row as u32)) {
            has_met |= is_met;
            left_out += u64::from(!is_met);
            if is_met {
                found.insert(row as u32);
            }
        }
    })?;
    Ok((Arc::new(found), left_out, has_met))
}

/// A condition on edges with the name that batches have for its attribute: another one where a column has its own.
fn in_batches(mut condition: Condition, graph: &Graph, schema: &Schema) -> Condition {
    let own = &graph.manifest().attributes;
    if let Some(place) = own.iter().position(|own| own.name == condition.column) {
        condition.column.clone_from(schema.field(schema.fields().len() - own.len() + place).name());
    }
    condition
}

/// The places of the attributes that are kept of batches of edges, with the names that the image has for them, those
/// first that are chosen by name: a file beside it has them in this order.
fn in_order(graph: &Graph, facts: &Facts, schema: &Schema, chosen: &Attributes) -> Vec<(usize, String)> {
    let own = &graph.manifest().attributes;
    let columns = schema.fields().len();
    let weight = facts.weights.as_deref();
    let weight = (2..columns).find(|&column| Some(schema.field(column).name().as_str()) == weight);
    // Batches may call some otherwise, since another column has their name.
    let name = |column: usize| match column.checked_sub(columns - own.len()) {
        Some(place) => own[place].name.clone(),
        None => schema.field(column).name().clone(),
    };
    let mut order: Vec<_> = (2..columns).filter(|&column| Some(column) != weight).map(name).enumerate().collect();
    // All are kept unless the options name some.
    if let Attributes::Named(names) = chosen {
        order.retain(|(_, name)| names.contains(name));
        order.sort_by_key(|(_, name)| names.iter().position(|chosen| chosen == name));
    }
    order
}

/// Batches without a column.
fn without(batches: VertexBatches, name: &str) -> Result<Box<dyn RecordBatchReader + Send>> {
    let schema = Arc::clone(batches.schema());
    let others: Vec<usize> = (0..schema.fields().len()).filter(|&place| schema.field(place).name() != name).collect();
    let schema = Arc::new(schema.project(&others).map_err(from_arrow)?);
    let rows = batches.map(move |batch| batch?.project(&others));
    Ok(Box::new(RecordBatchIterator::new(rows, schema)))
}
