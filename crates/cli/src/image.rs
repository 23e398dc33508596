//! `outcore info` and `check`: what an image is, or a file for arrays, and whether an image is whole.

use crate::answer::{output_error, say};
use crate::args::{CheckArgs, InfoArgs};
use crate::object::{Call, Found, image_of, members};
use crate::progress::runtime;
use outcore::array::{
    AnyManifest, ArraySource, ImageSource, NpySource, NumberFacts, NumberOptions, NumberTable, PlacedTable,
    read_any_manifest,
};
use outcore::io::backend::FileKind;
use outcore::io::{bytes_text, escaped};
use outcore::{Graph, GraphOptions, Result, Runtime, RuntimeOptions};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{Read, Write};
use std::path::Path;

/// Number of first bytes of a file that decide what it is.
const START_BYTES: u64 = 8;
/// Notes on reading tables in place, and on the number of passes from which an image is faster (docs/arrays.md).
const PARQUET: &str = "in place: columns are decoded in every pass; import it if you pass over it more than about 3 \
                       times and the image fits into memory";
const PACKED_ARROW: &str = "in place: columns are decompressed in every pass, a batch at once; import it if you pass \
                            over it more than about 3 times and the image fits into memory";
const PLAIN_ARROW: &str = "in place: columns are copied in every pass; import it if you pass over it more than about 4 \
                           times and the image fits into memory";

pub fn info(args: &InfoArgs, call: &Call) -> Result<()> {
    let (facts, id) = facts(&args.image)?;
    if args.json {
        call.known().image = image_of(&args.image, id);
        call.known().result = Some(Found::Values(members(facts)));
        return call.say();
    }
    let mut out = std::io::stdout().lock();
    for (name, value) in facts.as_object().into_iter().flatten() {
        let text = match (name.as_str(), value) {
            ("image_bytes", Value::Number(bytes)) => bytes_text(bytes.as_u64().unwrap_or(0)),
            ("bytes_per_edge", Value::Number(bytes)) => format!("{:.3}", bytes.as_f64().unwrap_or(0.0)),
            (_, Value::String(text)) => text.clone(),
            // Facts that files of other formats have.
            (_, Value::Null) if id.is_none() => continue,
            (_, Value::Null) => "none".to_owned(),
            (_, value) => value.to_string(),
        };
        writeln!(out, "{name:20} {}", escaped(text)).map_err(output_error)?;
    }
    Ok(())
}

/// The facts of an image or a file, and the id of an image.
fn facts(image: &Path) -> Result<(Value, Option<u64>)> {
    let runtime = Runtime::new(RuntimeOptions { threads: Some(1), ..RuntimeOptions::default() })?;
    if let Some(id) = array_id(&runtime, image) {
        return Ok((array_facts(&ImageSource::open(&runtime, image)?), Some(id)));
    }
    if runtime.backend().named(image).is_some_and(|found| found.kind == FileKind::File) {
        return Ok((file_facts(&runtime, image)?, None));
    }
    let graph = Graph::open(&runtime, image, GraphOptions { cache_bytes: Some(0), ..GraphOptions::default() })?;
    Ok((members(graph.info()).into(), Some(graph.manifest().image_id)))
}

/// The id of an image of an array; one that cannot be read is reported by the code that opens it.
pub fn array_id(runtime: &Runtime, image: &Path) -> Option<u64> {
    match read_any_manifest(runtime.backend(), image) {
        Ok(AnyManifest::Array(manifest)) => Some(manifest.image_id),
        _ => None,
    }
}

/// Facts of a file as an array, and how it is read.
fn file_facts(runtime: &Runtime, path: &Path) -> Result<Value> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy")) {
        let source = NpySource::open(runtime, path)?;
        let reading = match (source.shape().len(), source.is_by_columns()) {
            (1, _) => "in place: a vector, with no work beside reading it",
            (_, true) => "in place, by columns: a read for every column of a block",
            (_, false) => "in place, by rows: every block is transposed when it is read",
        };
        let (rows, columns) = (source.shape()[0], source.shape().get(1).copied().unwrap_or(1));
        let facts = FileFacts {
            element: Some(source.element().name()),
            format: "npy",
            rows: Some(rows),
            columns,
            reading,
            ..FileFacts::default()
        };
        return Ok(members(facts).into());
    }
    let mut start = Vec::new();
    let read = runtime.backend().input(path)?.take(START_BYTES).read_to_end(&mut start);
    read.map_err(|error| outcore::Error::file_at(path, "read", 0, error))?;
    if PlacedTable::begins_so(&start) {
        return Ok(members(table_facts(&PlacedTable::open(runtime, path, &NumberOptions::default())?)).into());
    }
    let table = NumberTable::open(runtime, path, &NumberOptions::default())?;
    Ok(members(number_facts(table.facts(), "not in place: `outcore import --as array` makes an image of it")).into())
}

/// Facts of a file that is read as an array.
#[derive(Default, Serialize)]
struct FileFacts<'a> {
    /// The format: `npy`, `parquet`, `arrow` or `text`
    format: &'static str,
    /// The type of the elements of a `.npy` file; null of tables
    element: Option<&'static str>,
    /// The number of rows; null where that is not known
    rows: Option<u64>,
    /// The number of columns
    columns: u64,
    /// The names of the columns of a table; null where they have none
    names: Option<&'a [String]>,
    /// Their types; null of a `.npy` file
    elements: Option<Vec<&'static str>>,
    /// Notes on the table
    notes: &'a [String],
    /// How it is read
    reading: &'a str,
    /// The number of row groups of a Parquet file; null of other formats, as are the facts that follow
    row_groups: Option<usize>,
    /// The number of record batches of an Arrow file
    batches: Option<usize>,
    /// Compressions of a Parquet or Arrow file
    compression: Option<String>,
    /// Encodings of a Parquet file
    encodings: Option<String>,
}

fn number_facts<'a>(facts: &'a NumberFacts, reading: &'a str) -> FileFacts<'a> {
    FileFacts {
        format: facts.format,
        columns: facts.kinds.len() as u64,
        names: facts.names.as_deref(),
        elements: Some(facts.kinds.iter().map(|kind| kind.name()).collect()),
        rows: facts.rows,
        notes: &facts.notes,
        reading,
        ..FileFacts::default()
    }
}

/// Facts of a table in Parquet or Arrow, and how it is read.
fn table_facts(table: &PlacedTable) -> FileFacts<'_> {
    let packing = table.packing();
    let is_arrow = table.facts().format == "arrow";
    let reading = match (is_arrow, packing.codecs.iter().all(|codec| codec == "none")) {
        (true, true) => PLAIN_ARROW,
        (true, false) => PACKED_ARROW,
        (false, _) => PARQUET,
    };
    let mut facts = number_facts(table.facts(), reading);
    let groups = Some(packing.groups);
    *(if is_arrow { &mut facts.batches } else { &mut facts.row_groups }) = groups;
    facts.compression = Some(packing.codecs.join(", "));
    facts.encodings = (!is_arrow).then(|| packing.encodings.join(", "));
    facts
}

/// Facts of an image of an array.
#[derive(Serialize)]
struct ArrayFacts<'a> {
    /// The format of the image
    format: &'a str,
    /// The version of the format
    format_version: u32,
    /// The id of the image
    image_id: String,
    /// The type of the elements
    element: &'static str,
    /// The number of rows
    rows: u64,
    /// The number of columns
    columns: u64,
    /// The number of axes
    dimensions: u32,
    /// The names of the columns, if they have any
    names: Option<&'a [String]>,
    /// The operation that made it: `import` or `persist`
    made_by: Option<&'a str>,
    /// The version of Outcore that made it, and the commit of a release
    outcore_version: Option<&'a str>,
    /// The size of everything in the image
    image_bytes: u64,
}

/// Facts of an image of an array that was checked.
#[derive(Serialize)]
struct ArrayCheck {
    /// The number of rows
    rows: u64,
    /// The number of columns
    columns: u64,
    /// The type of the elements
    element: &'static str,
    /// The size of everything in the image
    image_bytes: u64,
}

fn array_facts(source: &ImageSource) -> Value {
    let (image, manifest) = (source.image(), source.image().manifest());
    let facts = ArrayFacts {
        format: &manifest.format,
        format_version: manifest.format_version,
        image_id: format!("{:016x}", manifest.image_id),
        element: manifest.element.name(),
        rows: manifest.rows,
        columns: manifest.columns,
        dimensions: manifest.dimensions,
        names: manifest.names.as_deref(),
        made_by: manifest.made_by.as_deref(),
        outcore_version: manifest.outcore_version.as_deref(),
        image_bytes: image.image_bytes(),
    };
    members(facts).into()
}

pub fn check(args: &CheckArgs, call: &Call) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let found = |facts: Map<String, Value>| {
        call.known().result = Some(Found::Values(facts));
        call.say()
    };
    if let Some(id) = array_id(&runtime, &args.image) {
        call.known().image = image_of(&args.image, Some(id));
        let source = ImageSource::open(&runtime, &args.image)?;
        source.image().check()?;
        let (manifest, image_bytes) = (source.image().manifest(), source.image().image_bytes());
        let (rows, columns, element) = (manifest.rows, manifest.columns, manifest.element.name());
        if args.json {
            return found(members(ArrayCheck { rows, columns, element, image_bytes }));
        }
        if args.limits.quiet {
            return Ok(());
        }
        let (path, size) = (args.image.display(), bytes_text(image_bytes));
        return say(format_args!("{path} is whole: {rows} x {columns} elements of {element}, {size}"));
    }
    let graph = Graph::open(&runtime, &args.image, GraphOptions { cache_bytes: Some(0), ..GraphOptions::default() })?;
    call.known().image = image_of(&args.image, Some(graph.manifest().image_id));
    let report = outcore::check(&graph)?;
    if args.json {
        return found(members(report));
    }
    if args.limits.quiet {
        return Ok(());
    }
    let (image, size) = (args.image.display(), bytes_text(graph.image_bytes()));
    say(format_args!("{image} is whole: {} vertices, {} edges, {size}", graph.vertices(), graph.edges()))
}
