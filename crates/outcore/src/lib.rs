//! Analyse graphs many times larger than memory, on one machine with an SSD, at the speed of in-memory engines.
//!
//! This page has what most programs need, and the rest stands in modules by its purpose. The crate re-exports others
//! and holds no code of its own.
//!
//! | for | look at |
//! |---|---|
//! | images | [`import`] makes one of an edge list, [`generate`] one of nothing; [`Graph`] opens one within the limits of a [`Runtime`], [`export()`] writes one back, [`check()`] verifies its bytes |
//! | ids | [`Graph::ids`] holds all in memory, and finds vertices by ids and ids by vertices; [`Graph::vertex`] finds one |
//! | algorithms | a function, its options and its result each, such as [`pagerank()`], [`PageRankOptions`] and [`PageRank`]; `estimate_` and its name, of the same graph and options, say what it will need, [`verify`] checks what it found |
//! | results | have accessors by vertex, such as [`PageRank::rank`], and `into_table`: a [`Table`] holds columns under the users' ids, finds the greatest, and writes them |
//! | attributes | [`data`] gives edges and vertices as Arrow |
//! | algorithms of your own | [`engine`]: [`Graph::lists`], [`engine::scan`] and [`engine::fold`] visit lists, [`engine::EdgeMapper`] moves a frontier, [`engine::run_program`] runs an [`engine::VertexProgram`] |
//! | matrices and arrays | [`matrix`], [`linalg`], [`mod@array`], [`learn`] |
//! | pages of runs | [`report::page`] makes a page of one: what was asked, planned and done |
//! | memory, devices, the format | [`io`], [`mod@format`] |
//! | shells and bindings | [`front_ends`] |
//!
//! Options are written with `..Default::default()`, so that a new one changes no program.
//!
//! ```no_run
//! use outcore::{Graph, GraphOptions, PageRankOptions, Runtime, RuntimeOptions, pagerank};
//!
//! fn main() -> outcore::Result<()> {
//!     let limits = RuntimeOptions { memory_bytes: Some(256 << 20), ..RuntimeOptions::default() };
//!     let runtime = Runtime::new(limits)?;
//!     let graph = Graph::open(&runtime, "web.oc", GraphOptions::default())?;
//!     let found = pagerank(&graph, &PageRankOptions::default())?;
//!     println!("{} iterations, stopped by {:?}", found.iterations, found.stopped_by);
//!     found.into_table(&graph)?.write("ranks.parquet")
//! }
//! ```
//!
//! Several operations on one graph may run at the same time, and within one another: they share its workers and the
//! limit, and their results are the same as alone.
#![forbid(unsafe_code)]

// A runtime, errors, graphs: opened, imported, generated, exported and checked.
pub use outcore_format::WeightKind;
pub use outcore_graph::{
    CheckReport, Degree, Direction, Edges, ExportReport, Graph, GraphIds, GraphInfo, Neighbour, check, export,
    generate, import,
};
pub use outcore_image::{Error, ErrorKind, ImageOptions as GraphOptions, Result, Stats};
pub use outcore_io::{Progress, Runtime, RuntimeOptions, Unit};

// Algorithms: options, result, function and estimate of each, as `algo` lists them.
pub use outcore_algo::api::*;
pub use outcore_algo::{Bound, Estimate, verify};

// Results, under the users' ids.
pub use outcore_table::{Column, ColumnKind, Id, Table, TableReader};

#[cfg(feature = "array")]
pub use outcore_array as array;
#[cfg(feature = "learn")]
pub use outcore_learn as learn;
#[cfg(feature = "linalg")]
pub use outcore_linalg as linalg;
#[cfg(feature = "matrix")]
pub use outcore_matrix as matrix;
#[cfg(feature = "report")]
pub use outcore_report as report;

/// For algorithms of your own: lists, frontiers, mappers and vertex programs.
///
/// ```
/// use outcore::engine::{Frontier, scan};
/// use outcore::{Direction, Graph, Runtime, import};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// # fn main() -> outcore::Result<()> {
/// let edges = import::from_edges((0_u32..1000).map(|vertex| (vertex, vertex / 2)))?;
/// let graph = Graph::in_memory(&Runtime::new(Default::default())?, edges, &Default::default())?;
/// // On all workers: how many edges lead to a vertex with a smaller number.
/// let back = AtomicU64::new(0);
/// scan(&graph, Direction::Out, Frontier::All, || (), |(), part| {
///     let count = part.neighbours.iter().filter(|&&neighbour| neighbour < part.vertex).count();
///     back.fetch_add(count as u64, Ordering::Relaxed);
/// })?;
/// assert!(back.into_inner() <= graph.edges());
/// # Ok(()) }
/// ```
pub mod engine {
    pub use outcore_format::Lists;
    pub use outcore_graph::{
        Bitmap, Decision, EdgeMap, EdgeMapper, Events, Frontier, Gathered, KeptWeights, List, ListFold, ListLoop,
        ListPart, ListsOf, Loaded, Neighbours, Next, PAGE_BYTES, ProgramOptions, ProgramRun, Stepped, Vertex,
        VertexProgram, Way, Weight, Weights, fold, gather_sum, gather_sums, gather_weighted_sum, gather_weighted_sums,
        program_bytes, run_program, scan, scan_pages, vertex_map, vertex_sum,
    };
    pub use outcore_image::{Outcome, StatsBuilder, Step, SweepStats};
}

/// Edges and vertices with their attributes, as Arrow; tables of vertices.
///
/// ```
/// use outcore::data::{EdgeBatches, EdgeData};
/// use outcore::{Error, Graph, Runtime, import};
///
/// # fn main() -> outcore::Result<()> {
/// let edges = import::from_edges([("ada", "bob", 1.5), ("bob", "cy", 2.0)])?;
/// let graph = Graph::in_memory(&Runtime::new(Default::default())?, edges, &Default::default())?;
/// for batch in EdgeBatches::new(&graph, EdgeData::all(&graph), 0)? {
///     let batch = batch.map_err(Error::custom)?;
///     assert_eq!((batch.num_rows(), batch.num_columns()), (2, 3)); // source, target, weight
/// }
/// # Ok(()) }
/// ```
pub mod data {
    pub use outcore_graph::{
        EdgeBatches, EdgeData, EdgesFrom, VertexBatches, VertexData, export_vertices, first_edges,
    };
    pub use outcore_table::{
        DenseHeader, DenseRows, IdBatch, IdLookup, IdStream, NumbersShape, RowLabels, ids_of, write_dense,
    };
}

/// Arrow, whose types stand in the signatures of [`Table`] and of [`import`], in the version that they are of.
pub mod arrow {
    pub use arrow_array as array;
    pub use arrow_schema as schema;
}

/// The format of images: manifests and their facts.
///
/// ```
/// use outcore::format::IdType;
/// use outcore::{Graph, Runtime, import};
///
/// # fn main() -> outcore::Result<()> {
/// let edges = import::from_edges([(7_u32, 8), (8, 9)])?;
/// let graph = Graph::in_memory(&Runtime::new(Default::default())?, edges, &Default::default())?;
/// assert_eq!((graph.manifest().vertices, graph.manifest().id_type), (3, Some(IdType::UInt32)));
/// # Ok(()) }
/// ```
pub mod format {
    pub use outcore_format::{
        Attribute, AttributeKind, DenseManifest, IdColumn, IdType, ImportFacts, ListFile, Manifest, Order, Strings,
        TimeUnit, ValueColumn, ValueType,
    };
    pub use outcore_image::{Image, ImageFile, MANIFEST, read_manifest};
}

/// Memory under a limit, devices, and the process.
///
/// ```
/// use outcore::io::Buffer;
/// use outcore::{ErrorKind, Runtime, RuntimeOptions};
///
/// # fn main() -> outcore::Result<()> {
/// let limits = RuntimeOptions { memory_bytes: Some(64 << 20), beside_process: true, ..Default::default() };
/// let runtime = Runtime::new(limits)?;
/// // Counts in the limit of the runtime until it is dropped.
/// let sums = Buffer::<f64>::zeroed(runtime.budget(), "sums of my own", 1 << 20)?;
/// assert_eq!(sums.len(), 1 << 20);
/// let error = Buffer::<f64>::zeroed(runtime.budget(), "too many", 1 << 30).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Memory);
/// # Ok(()) }
/// ```
pub mod io {
    pub use outcore_ingest::hide_guarded_panics;
    pub use outcore_io::{
        AtomicF32, AtomicF64, Budget, Buffer, CancelFlag, CancelOnDrop, Fuse, Holder, MOST_SAMPLES, MOST_THREADS,
        Reservation, Sample, Sampler, Task, Turn, Watch,
        buffer::{Plain, Raw, Shared},
        bytes_text, differing_texts, escaped, fill_standard_descriptors, folder, give_back_freed_memory,
        ignores_signal, into_inner, is_making_rows, let_go_of_code, limit_arenas, limit_text, lock, making_rows,
        parse_bytes, peak_memory_bytes, simd,
    };

    /// Ways to reach files: those that there are, and what one of your own implements.
    pub mod backend {
        pub use outcore_io::backend::{
            Access, Backend, Change, Completion, FileKind, FileStatus, Handle, Location, Lock, Memory, MemoryFile,
            NAMES, Open, Posix, Queue, Region, Request, Transfer, Uring, What, best, by_name,
        };
        pub use outcore_io::{DataFile, Directory};
    }
}

/// For programs that offer all of Outcore, as the command and the Python package do: declarations of algorithms and
/// options, checks before a run, and forms of output. No other program needs them, and they change most often.
pub mod front_ends {
    pub use outcore_algo::{
        ALGORITHMS, Algorithm, Datum, DatumKind, Doc, Finding, GraphValues, Graphalytics, Kernel, Oracle, Plan, Remedy,
        ReportNeeds, ResultAttribute, Say, Unconverged, graph500, graphalytics, least_limit,
    };
    pub use outcore_declare::{
        Choice, Declaration, Declared, DefaultValue, Fact, InputFile, Kind, NamedFact, Names, NotConverged,
        OptionValues, Parameter, Signature, Value, named, option_of,
    };
    pub use outcore_format::{COMMIT, version_text};
    pub use outcore_graph::{
        EXPORT_ENDINGS, VERTEX_ENDINGS, check_export_memory, check_vertex_table, export_with, takes_results,
    };
    pub use outcore_image::{AtomicFile, check_file, enough_bytes, is_standard_output, write_file};
    pub use outcore_ingest::guarded;
    pub use outcore_io::backend::calendar_text;
    pub use outcore_table::{
        NamedImage, OUTPUT_ENDINGS, Origin, cell_text, check_columns, distance_bits, push_quoted, push_value,
        shown_members, signed_count, write_columns,
    };
}

/// The programs of the documentation are compiled by the tests, and run unless they need an image that is there.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/write-an-algorithm.md")]
mod write_an_algorithm {}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/embed.md")]
mod embed {}

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
