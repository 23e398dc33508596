//! Analyse graphs many times larger than memory, on one machine with an SSD, at the speed of in-memory engines.
//!
//! This crate re-exports what users need and holds no code of its own:
//!
//! | for | look at |
//! |---|---|
//! | images | [`import`] makes one of an edge list, [`Graph`] opens one within the limits of a [`Runtime`], [`export()`] writes one back, [`check()`] verifies its bytes |
//! | ids | [`Graph::ids`] holds all in memory, and finds vertices by ids and ids by vertices; [`Graph::vertex`] reads them for one |
//! | algorithms | a function, its options and its result each, such as [`pagerank()`], [`PageRankOptions`] and [`PageRank`]; `estimate_` and its name say what it will need, [`verify`] checks what it found |
//! | results | [`Table`] holds columns under the users' ids, and writes them |
//! | runs | [`report::page`] makes a page of one: what was asked, planned and done |
//! | new algorithms | [`Graph::lists`], [`scan()`] and [`fold()`] visit lists, [`EdgeMapper`] moves a frontier, [`run_program`] runs a [`VertexProgram`] |
//!
//! Options are written with `..Default::default()`, so that a new one changes no program.
//!
//! ```no_run
//! use outcore::{Column, Graph, GraphOptions, PageRankOptions, Runtime, RuntimeOptions, pagerank};
//! use std::sync::Arc;
//!
//! fn main() -> outcore::Result<()> {
//!     let limits = RuntimeOptions { memory_bytes: Some(256 << 20), ..RuntimeOptions::default() };
//!     let runtime = Runtime::new(limits)?;
//!     let graph = Graph::open(&runtime, "web.oc", GraphOptions::default())?;
//!     let found = pagerank(&graph, &PageRankOptions::default())?;
//!     println!("{} iterations, stopped by {:?}", found.iterations, found.stopped_by);
//!     let ranks = vec![("pagerank".to_owned(), Column::Real(Arc::new(found.ranks)))];
//!     graph.table(ranks).write("ranks.parquet")
//! }
//! ```
//!
//! Several operations on one graph may run at the same time, and within one another: they share its workers and the
//! limit, and their results are the same as alone.
#![forbid(unsafe_code)]

// Images: opened, imported, generated, written back and checked.
pub use outcore_format::{Order, WeightKind};
pub use outcore_graph::{
    CheckReport, Direction, EXPORT_ENDINGS, EdgeBatches, EdgeData, Edges, EdgesFrom, ExportReport, Graph, GraphIds,
    GraphInfo, PAGE_BYTES, VERTEX_ENDINGS, VertexBatches, VertexData, check, check_export_memory, check_vertex_table,
    export, export_vertices, export_with, first_edges, generate, import, takes_results,
};
pub use outcore_image::{
    AtomicFile, Error, ErrorKind, Image, ImageFile, ImageOptions as GraphOptions, MANIFEST, Outcome, Result,
    check_file, enough_bytes, is_standard_output, read_manifest, write_file,
};
pub use outcore_ingest::{Choice, guarded, hide_guarded_panics};
pub use outcore_io::{Progress, Runtime, RuntimeOptions, Unit};

// Algorithms: options, result, function and estimate of each, as `algo` lists them; and how they are declared.
pub use outcore_algo::api::*;
pub use outcore_algo::{
    ALGORITHMS, Algorithm, Attribute, AttributeKind, Bound, Datum, Estimate, Finding, GraphValues, Plan, Remedy, Say,
    Unconverged, graph500, graphalytics, least_limit, verify,
};
pub use outcore_declare::{
    Declared, DefaultValue, Fact, Kind, Parameter, Unconverged as NotConverged, Value, Values, named, option_of,
};
pub use outcore_image::{Stats, StatsBuilder, Step, SweepStats};

// Matrices.
#[cfg(feature = "linalg")]
pub use outcore_linalg as linalg;
#[cfg(feature = "matrix")]
pub use outcore_matrix::{
    DenseFactor, DenseFile, DenseLayout, DenseProduct, MultiplyPlan, Operand, ProductFile, Semiring, SparseMatrix,
    StreamedProduct, UnnamedProduct,
};

// Dense arrays.
#[cfg(feature = "array")]
pub use outcore_array as array;
#[cfg(feature = "learn")]
pub use outcore_learn as learn;

// Runs as pages.
#[cfg(feature = "report")]
pub use outcore_report as report;

// Results, under the users' ids.
pub use outcore_table::{
    Column, ColumnKind, DenseRows, DenseShape, Id, IdBatch, IdLookup, IdStream, OUTPUT_ENDINGS, Table, TableReader,
    cell_text, check_columns, distance_bits, ids_of, push_quoted, push_value, shown_members, signed_count,
    write_columns, write_dense,
};

// New algorithms: lists, frontiers, vertices, vertex programs.
pub use outcore_format::Lists;
pub use outcore_graph::{
    Bitmap, Decision, Degree, EdgeMap, EdgeMapper, Events, Frontier, KeptWeights, List, ListFold, ListLoop, ListPart,
    ListsOf, Neighbour, Neighbours, Next, ProgramOptions, ProgramRun, Stepped, Vertex, VertexProgram, Way, Weight,
    Weights, fold, gather_sum, gather_sums, gather_weighted_sum, gather_weighted_sums, program_bytes, run_program,
    scan, scan_pages, vertex_map, vertex_sum,
};

/// Arrow, whose types stand in the signatures of [`Table`] and of [`import`], in the version that they are of.
pub mod arrow {
    pub use arrow_array as array;
    pub use arrow_schema as schema;
}

/// The format of images: manifests and their facts.
pub mod format {
    pub use outcore_format::{Attribute, AttributeKind, IdColumn, ImportFacts, Manifest, Order, WeightKind};
}

/// Memory under a limit, and devices.
pub mod io {
    pub use outcore_io::{
        Array, AtomicF32, AtomicF64, Backend, Budget, CancelFlag, Fuse, Holder, MOST_SAMPLES, MOST_THREADS,
        Reservation, Sample, Sampler, Task, Turn, Watch, backend,
        buffer::{Plain, Raw, Shared},
        bytes_text, differing_texts, escaped, folder, give_back_freed_memory, into_inner, is_making_rows, limit_arenas,
        limit_text, lock, making_rows, parse_bytes, peak_memory_bytes, simd,
    };
}

/// The programs of the documentation are compiled by the tests, and run unless they need an image that is there.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/write-an-algorithm.md")]
mod write_an_algorithm {}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/embed.md")]
mod embed {}
