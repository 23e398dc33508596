//! Importing: files, and tables in memory.

use crate::chunks::{Raised, interrupt, or_raised, reader};
use crate::convert::id_text;
use crate::errors::{raise, usage};
use crate::exit;
use crate::graph::PyGraph;
use crate::page::PyRun;
use crate::progress::Wanted;
use crate::result::PyTable;
use crate::runtime::{Limits, run_watched, settings};
use numpy::{PyArray1, PyArrayMethods};
use outcore::arrow::array::RecordBatchReader;
use outcore::front_ends::{Choice, enough_bytes};
use outcore::import::{
    self, Attributes, Condition, Duplicates, Facts, ImportEstimate, ImportOptions, ImportSummary, Input, InputOptions,
    Literal, Part, Source,
};
use outcore::io::backend::Memory;
use outcore::io::{Sampler, backend};
use outcore::{Error, Graph, GraphOptions, Result, Runtime, RuntimeOptions, Table};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A value of a condition as text, and whether it is a string.
type Operand = (Option<String>, bool);

/// The keyword arguments of `outcore.import_graph`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    directed: Option<bool>,
    format: Option<String>,
    source: Option<String>,
    target: Option<String>,
    weight: Option<String>,
    /// All, or the columns of these names and numbers.
    attributes: (bool, Vec<String>),
    /// Columns, comparisons and values that edges must have.
    conditions: Vec<(String, String, Vec<Operand>)>,
    delimiter: Option<String>,
    header: Option<bool>,
    comment: Option<String>,
    ids: String,
    nulls: String,
    /// The prefixes of two sides.
    bipartite: Option<[String; 2]>,
    duplicates: Option<String>,
    self_loops: String,
    order: String,
    replace: bool,
    allow_empty: bool,
    require_edges: u64,
    refuse_empty_files: bool,
    allow_repeated: bool,
    explain: bool,
    is_matrix: bool,
    rows: Option<u64>,
    shape: Option<[u64; 2]>,
    limits: Limits,
}

/// One of several values, by its name.
pub fn choose<T: Choice>(py: Python<'_>, option: &str, found: &str) -> PyResult<T> {
    T::named(found).ok_or_else(|| {
        let names: Vec<_> = T::ALL.iter().map(|(_, name, _)| format!("'{name}'")).collect();
        usage(py, format!("expected {option} to be one of {}, found '{found}'", names.join(", ")))
    })
}

/// Opens the input of an import again, for a limit that is advised.
type Open<'a> = dyn Fn(&Runtime, &InputOptions) -> Result<Source> + Sync + 'a;

/// Further vertices: a table or the file of one, or how many integers from 0 on.
type Vertices<'py> = (Option<Bound<'py, PyAny>>, Option<u64>);

/// See `outcore.import_graph`: from files and images.
#[pyfunction]
pub fn import_files<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    image: Option<PathBuf>,
    vertices: Vertices<'py>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let open = |runtime: &Runtime, input: &InputOptions| {
        import::open_inputs(runtime, &paths, input, |_| Ok(Part::default())) //
    };
    let again = opens_again(&paths).then_some(&open as &Open);
    Job::new(py, image, settings(options)?, Given { vertices, again, ..Given::default() })?.run(py, open)
}

/// See `outcore.import_graph`: from tables in memory, called `name` in messages.
#[pyfunction]
pub fn import_tables<'py>(
    py: Python<'py>,
    edges: &Bound<'py, PyAny>,
    name: &str,
    image: Option<PathBuf>,
    vertices: Vertices<'py>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let raised = Raised::default();
    let edges = reader(edges, &raised)?;
    let given = Given { name: Some(name.to_owned()), vertices, raised, ..Given::default() };
    Job::new(py, image, settings(options)?, given)?.run(py, |_, input| import::from_batches(edges, name, input))
}

/// See `outcore.import_graph`: from several inputs: paths of files or images, open graphs, and tables with their names.
#[pyfunction]
pub fn import_several<'py>(
    py: Python<'py>,
    inputs: Vec<(Bound<'py, PyAny>, String)>,
    image: Option<PathBuf>,
    vertices: Vertices<'py>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let raised = Raised::default();
    let (mut opened, mut base, mut paths, mut names) = (Vec::new(), None, Vec::new(), Vec::new());
    for (given, name) in inputs {
        names.push(name.clone());
        opened.push(if let Ok(graph) = given.cast::<PyGraph>() {
            let graph = graph.get().open(py)?;
            base.get_or_insert_with(|| graph.runtime().clone());
            Input::Graph(graph)
        } else if let Ok(path) = given.extract::<PathBuf>() {
            paths.push(path.clone());
            Input::Paths(vec![path])
        } else {
            Input::Rows(reader(&given, &raised)?, name)
        });
    }
    // Rows and graphs come once: what files take beside them can be planned.
    let open = |runtime: &Runtime, input: &InputOptions| {
        import::open_inputs(runtime, &paths, input, |_| Ok(Part::default())) //
    };
    let again = (!paths.is_empty() && opens_again(&paths)).then_some(&open as &Open);
    let given = Given { name: Some(names.join(", ")), vertices, raised, again, base: base.as_ref() };
    let job = Job::new(py, image, settings(options)?, given)?;
    job.run(py, |runtime, input| import::open_several(runtime, opened, input, |_| Ok(Part::default())))
}

/// See `outcore.Graph.subgraph` and its like: a graph, or a part of it, as an image or into memory.
#[pyfunction]
pub fn import_part<'py>(
    py: Python<'py>,
    graph: &PyGraph,
    vertices: Option<Bound<'py, PyAny>>,
    reversed: bool,
    excluded: bool,
    image: Option<PathBuf>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let graph = graph.open(py)?;
    let chosen = vertices.map(|given| Chosen::of(py, &graph, &given)).transpose()?;
    let open = |graph: &Graph, input: &InputOptions| {
        let mut part = match &chosen {
            None => Part::default(),
            Some(Chosen::Ids(ids)) => Part::of_vertices(graph, ids)?,
            Some(Chosen::Numbers(numbers)) => Part::of_numbers(graph, numbers.iter().copied())?,
            Some(Chosen::Rows(table)) => Part::of_numbers(graph, table.vertices())?,
        };
        if let Some(given) = part.vertices.take_if(|_| excluded) {
            let others = (0..graph.vertices() as u32).filter(|&vertex| !given.contains(vertex));
            part = Part::of_numbers(graph, others)?;
        }
        part.reversed = reversed;
        import::of_graph(graph.clone(), input, part)
    };
    let again = |runtime: &Runtime, input: &InputOptions| {
        open(&Graph::open(runtime, graph.path(), GraphOptions::default())?, input)
    };
    let again = (!graph.path().starts_with(Memory::folder())).then_some(&again as &Open);
    let given = Given { again, base: Some(graph.runtime()), ..Given::default() };
    Job::new(py, image, settings(options)?, given)?.run(py, |_, input| open(&graph, input))
}

/// Whether all of these can be opened again.
fn opens_again(paths: &[PathBuf]) -> bool {
    let backend = backend::best();
    paths.iter().all(|path| import::opens_again(&backend, path))
}

/// Some vertices: by their ids, or by their numbers in the image.
enum Chosen {
    Ids(Vec<String>),
    Numbers(Vec<u32>),
    Rows(Table),
}

impl Chosen {
    fn of(py: Python<'_>, graph: &Graph, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(rows) = given.cast::<PyTable>() {
            let (table, own) = (&rows.get().table, graph.manifest());
            let of = table.image().manifest();
            if (of.image_id, of.vertices) != (own.image_id, own.vertices) {
                return Err(usage(py, "expected rows of a result of this graph, found those of another graph"));
            }
            return Ok(Chosen::Rows(table.clone()));
        }
        if let Ok(numbers) = given.cast::<PyArray1<u32>>() {
            return Ok(Chosen::Numbers(numbers.readonly().as_array().to_vec()));
        }
        let ids = given.extract::<Vec<Bound<'_, PyAny>>>()?;
        Ok(Chosen::Ids(ids.iter().map(id_text).collect::<PyResult<_>>()?))
    }
}

/// The input of an import beside what opens it: its name, unless it is files alone; further vertices, and the exception
/// that Python raised while it made rows; what opens the edges again, where they can be read more than once; the
/// runtime of a graph among them.
#[derive(Default)]
struct Given<'a, 'py> {
    name: Option<String>,
    vertices: Vertices<'py>,
    raised: Raised,
    again: Option<&'a Open<'a>>,
    base: Option<&'a Runtime>,
}

/// An input that can be opened again, for a limit that is advised.
struct Again<'a> {
    open: &'a Open<'a>,
    input: InputOptions,
    /// The file with a table of vertices.
    table: Option<PathBuf>,
    /// A graph in memory is made.
    in_memory: bool,
}

impl Again<'_> {
    /// A refusal of memory with a limit that is enough for all of the import.
    fn advise(again: Option<&Self>, options: &RuntimeOptions, error: Error) -> Error {
        match again {
            Some(again) => error.planned_again(|bytes| again.plan(options, bytes)),
            None => error,
        }
    }

    /// Plans the import under another limit than that of the options.
    fn plan(&self, options: &RuntimeOptions, bytes: u64) -> Result<()> {
        let options =
            RuntimeOptions { memory_bytes: Some(bytes), beside_process: true, progress: None, ..options.clone() };
        let runtime = Runtime::new(options)?;
        let mut source = (self.open)(&runtime, &self.input)?;
        if let Some(table) = &self.table {
            source = import::with_vertex_table(&runtime, source, table, &self.input)?;
        }
        match self.in_memory {
            true => import::check_memory_of_graph(&runtime, source.facts(), &ImportOptions::default()),
            false => import::check_memory(&runtime, source.facts()),
        }
    }
}

/// A table of vertices.
enum Listed {
    Rows(Box<dyn RecordBatchReader + Send>),
    File(PathBuf),
}

impl Listed {
    fn of(given: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Self> {
        Ok(match given.extract::<PathBuf>() {
            Ok(path) => Listed::File(path),
            Err(_) => Listed::Rows(reader(given, raised)?),
        })
    }

    fn file(&self) -> Option<PathBuf> {
        if let Listed::File(path) = self { Some(path.clone()) } else { None }
    }
}

/// The attributes that are wanted: all, or some by name.
fn attributes_of(given: (bool, Vec<String>)) -> Attributes {
    match given {
        (true, _) => Attributes::All,
        (false, names) if names.is_empty() => Attributes::None,
        (false, names) => Attributes::Named(names),
    }
}

/// Conditions by their parts, or as text.
fn conditions_of(given: Vec<(String, String, Vec<Operand>)>) -> Result<Vec<Condition>> {
    let literal = |(text, is_string): Operand| text.map(|text| Literal { text, is_string });
    let condition = |(column, comparison, values): (String, String, Vec<Operand>)| match &*comparison {
        "" => Condition::parse(&column),
        comparison => Condition::new(&column, comparison, values.into_iter().map(literal).collect()),
    };
    given.into_iter().map(condition).collect()
}

/// The outcome of a job.
enum Outcome {
    /// The needs of an import that was only estimated.
    Estimated(Value),
    /// The summary of an import, its estimated needs, and the graph if it is in memory.
    Imported(Box<ImportSummary>, ImportEstimate, Option<Graph>),
}

/// An import to an image, or into memory if there is none: then the report has the open graph as `graph`.
struct Job<'a> {
    name: Option<String>,
    image: Option<PathBuf>,
    input: InputOptions,
    again: Option<Again<'a>>,
    options: ImportOptions,
    /// Whether the user said what is done with duplicates.
    says_duplicates: bool,
    explain: bool,
    shape: Option<[u64; 2]>,
    runtime: Runtime,
    /// The progress that operations on a graph in memory show.
    progress: Wanted,
    /// Further vertices: rows, or how many integers from 0 on.
    listed: Option<Listed>,
    counted: Option<u64>,
    /// The exception that Python raised while it made rows.
    raised: Raised,
}

impl<'a> Job<'a> {
    fn new<'py>(
        py: Python<'py>,
        image: Option<PathBuf>,
        settings: Settings,
        Given { name, vertices: (listed, counted), raised, again, base }: Given<'a, 'py>,
    ) -> PyResult<Self> {
        let Settings { conditions, attributes, directed, duplicates, ids, nulls, self_loops, order, .. } = settings;
        let Settings { format, source, target, weight, delimiter, header, comment, bipartite, is_matrix, .. } =
            settings;
        let Settings { replace, allow_empty, require_edges, refuse_empty_files, allow_repeated, .. } = settings;
        let Settings { explain, rows, shape, limits, .. } = settings;
        let ids = choose(py, "ids", &ids)?;
        let input = InputOptions {
            format,
            ids,
            source,
            target,
            weight,
            attributes: attributes_of(attributes),
            conditions: conditions_of(conditions).map_err(|error| raise(py, error))?,
            of_vertices: false,
            delimiter,
            header,
            comment,
            nulls: choose(py, "nulls", &nulls)?,
            bipartite,
            directed,
            allow_repeated,
            united: None,
            is_matrix,
        };
        let options = ImportOptions {
            directed,
            duplicates: choose(py, "duplicates", duplicates.as_deref().unwrap_or("first"))?,
            self_loops: choose(py, "self_loops", &self_loops)?,
            order: choose(py, "order", &order)?,
            rows,
            replace,
            allow_empty,
            require_edges,
            refuse_empty_files,
        };
        let progress = limits.progress.clone_ref(py);
        let listed = listed.map(|given| Listed::of(&given, &raised)).transpose()?;
        let (table, in_memory) = (listed.as_ref().and_then(Listed::file), image.is_none());
        let again = again.map(|open| Again { open, input: input.clone(), table, in_memory });
        let refused = |error, options: &RuntimeOptions| {
            Again::advise(again.as_ref(), options, import::advise(error, options)) //
        };
        let runtime = match base {
            Some(base) => limits.runtime_beside_or(py, base, refused),
            None => limits.runtime_or(py, refused),
        }?;
        let says_duplicates = duplicates.is_some();
        Ok(Job {
            name,
            image,
            input,
            again,
            options,
            says_duplicates,
            explain,
            shape,
            runtime,
            progress,
            listed,
            counted,
            raised,
        })
    }

    /// Imports what `open` opens.
    fn run<'py>(
        mut self,
        py: Python<'py>,
        open: impl FnOnce(&Runtime, &InputOptions) -> Result<Source> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (runtime, raised) = (self.runtime.clone(), Arc::clone(&self.raised));
        let (progress, name) = (std::mem::take(&mut self.progress), self.name.take());
        let (cancel, mut sampler) = (runtime.cancel().clone(), Sampler::start(&runtime));
        let look = || {
            sampler.look(&runtime);
            // At the end of the interpreter nobody hears an exception.
            if cancel.is_cancelled() && !exit::is_ending() {
                interrupt(&raised);
            }
        };
        let outcome = run_watched(py, &runtime, look, || {
            let _turn = runtime.turn()?;
            let (threads, backend) = (Some(runtime.threads()), Some(Arc::clone(runtime.backend())));
            let options = RuntimeOptions { threads, backend, ..RuntimeOptions::default() };
            let again = self.again.take();
            let enough = |bytes| match &again {
                Some(again) => enough_bytes(bytes, |bytes| again.plan(&options, bytes)),
                None => bytes,
            };
            let outcome = open(&runtime, &self.input).and_then(|source| self.import(source, enough));
            outcome.map_err(|error| Again::advise(again.as_ref(), &options, error))
        });
        let (summary, needs, graph) = match or_raised(outcome, &raised)? {
            Outcome::Estimated(needs) => return crate::to_dict(py, &needs),
            Outcome::Imported(summary, needs, graph) => (summary, needs, graph),
        };
        let dict = crate::to_dict(py, &summary)?;
        let run = PyRun::of_import(&runtime, name, (&summary, &needs), sampler.finish(&runtime));
        dict.set_item("run", run)?;
        graph.map(|graph| dict.set_item("graph", PyGraph::of(&graph, progress))).transpose()?;
        Ok(dict)
    }

    /// Imports a source, or estimates that. `enough` makes the limit that is enough of one that is too small.
    fn import(self, mut source: Source, enough: impl Fn(u64) -> u64) -> Result<Outcome> {
        let Job { image, mut options, runtime, .. } = self;
        if let Some(shape) = self.shape {
            source = import::with_shape(source, shape)?;
        }
        match self.listed {
            None => {}
            Some(Listed::File(path)) => source = import::with_vertex_table(&runtime, source, &path, &self.input)?,
            Some(Listed::Rows(rows)) => {
                let name = "the given vertices";
                let nulls = self.input.nulls;
                let of_vertices = InputOptions { of_vertices: true, nulls, ..InputOptions::default() };
                source = import::with_vertices(source, import::from_batches(rows, name, &of_vertices)?, name)?;
            }
        }
        if let Some(count) = self.counted {
            source = import::with_vertex_range(source, 0, count)?;
        }
        if !self.says_duplicates && source.facts().keeps_parallel {
            options.duplicates = Duplicates::Keep;
        }
        let mut needs = import::estimate(&runtime, source.facts(), &options);
        if self.explain {
            needs.memory_bytes = enough(needs.memory_bytes);
            let Facts { format, notes, .. } = source.facts();
            let mut estimated = json!(needs);
            (estimated["format"], estimated["notes"]) = (json!(format), json!(notes));
            return Ok(Outcome::Estimated(estimated));
        }
        let (report, graph) = match image {
            Some(image) => (import::import(&runtime, source, &image, &options)?, None),
            None => {
                let (graph, report) = import::import_into_memory(&runtime, source, &options)?;
                (report, Some(graph))
            }
        };
        Ok(Outcome::Imported(Box::new(ImportSummary::of(report)), needs, graph))
    }
}
