//! `outcore info` and `check`: what an image is, or a file for arrays, and whether an image is whole.

use crate::answer::{output_error, say};
use crate::args::{CheckArgs, InfoArgs};
use crate::progress::runtime;
use outcore::array::{
    AnyManifest, ImageSource, NpySource, NumberFacts, NumberOptions, NumberTable, PlacedTable, Source,
    read_any_manifest,
};
use outcore::io::backend::FileKind;
use outcore::io::{bytes_text, escaped};
use outcore::{Error, Graph, GraphOptions, Result, Runtime, RuntimeOptions};
use serde_json::{Value, json};
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

pub fn info(args: &InfoArgs) -> Result<()> {
    let facts = facts(&args.image)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let text = serde_json::to_string_pretty(&facts).unwrap_or_default();
        return writeln!(out, "{text}").map_err(output_error);
    }
    for (name, value) in facts.as_object().into_iter().flatten() {
        let text = match (name.as_str(), value) {
            ("image_bytes", Value::Number(bytes)) => bytes_text(bytes.as_u64().unwrap_or(0)),
            ("bytes_per_edge", Value::Number(bytes)) => format!("{:.3}", bytes.as_f64().unwrap_or(0.0)),
            (_, Value::String(text)) => text.clone(),
            (_, Value::Null) => "none".to_owned(),
            (_, value) => value.to_string(),
        };
        writeln!(out, "{name:20} {}", escaped(text)).map_err(output_error)?;
    }
    Ok(())
}

fn facts(image: &Path) -> Result<Value> {
    let runtime = Runtime::new(RuntimeOptions { threads: Some(1), ..RuntimeOptions::default() })?;
    if is_array(&runtime, image) {
        return Ok(array_facts(&ImageSource::open(&runtime, image)?));
    }
    if runtime.backend().named(image).is_some_and(|found| found.kind == FileKind::File) {
        return file_facts(&runtime, image);
    }
    let graph = Graph::open(&runtime, image, GraphOptions { cache_bytes: Some(0), ..GraphOptions::default() })?;
    serde_json::to_value(graph.info()).map_err(Error::custom)
}

/// Whether there is an image of an array; one that cannot be read is reported by the code that opens it.
fn is_array(runtime: &Runtime, image: &Path) -> bool {
    matches!(read_any_manifest(runtime.backend(), image), Ok(AnyManifest::Array(_)))
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
        return Ok(json!({
            "format": "npy",
            "element": source.element().name(),
            "rows": source.shape()[0],
            "columns": source.shape().get(1).copied().unwrap_or(1),
            "reading": reading,
        }));
    }
    let mut start = Vec::new();
    let read = runtime.backend().input(path)?.take(START_BYTES).read_to_end(&mut start);
    read.map_err(|error| Error::file_at(path, "read", 0, error))?;
    if PlacedTable::begins_so(&start) {
        return Ok(table_facts(&PlacedTable::open(runtime, path, &NumberOptions::default())?));
    }
    let table = NumberTable::open(runtime, path, &NumberOptions::default())?;
    Ok(number_facts(table.facts(), "not in place: `outcore import --as array` makes an image of it"))
}

fn number_facts(facts: &NumberFacts, reading: &str) -> Value {
    json!({
        "format": facts.format,
        "columns": facts.kinds.len(),
        "names": facts.names,
        "elements": facts.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "rows": facts.rows,
        "notes": facts.notes,
        "reading": reading,
    })
}

/// Facts of a table in Parquet or Arrow, and how it is read.
fn table_facts(table: &PlacedTable) -> Value {
    let packing = table.packing();
    let is_arrow = table.facts().format == "arrow";
    let reading = match (is_arrow, packing.codecs.iter().all(|codec| codec == "none")) {
        (true, true) => PLAIN_ARROW,
        (true, false) => PACKED_ARROW,
        (false, _) => PARQUET,
    };
    let mut facts = number_facts(table.facts(), reading);
    facts[packing.group_name.replace(' ', "_")] = packing.groups.into();
    facts["compression"] = packing.codecs.join(", ").into();
    if !is_arrow {
        facts["encodings"] = packing.encodings.join(", ").into();
    }
    facts
}

fn array_facts(source: &ImageSource) -> Value {
    let (image, manifest) = (source.image(), source.image().manifest());
    json!({
        "format": manifest.format,
        "format_version": manifest.format_version,
        "image_id": format!("{:016x}", manifest.image_id),
        "element": manifest.element.name(),
        "rows": manifest.rows,
        "columns": manifest.columns,
        "dimensions": manifest.dimensions,
        "names": manifest.names,
        "made_by": manifest.made_by,
        "image_bytes": image.image_bytes(),
    })
}

pub fn check(args: &CheckArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    if is_array(&runtime, &args.image) {
        let source = ImageSource::open(&runtime, &args.image)?;
        source.image().check()?;
        if args.limits.quiet {
            return Ok(());
        }
        let (path, size) = (args.image.display(), bytes_text(source.image().image_bytes()));
        let manifest = source.image().manifest();
        let (rows, columns, element) = (manifest.rows, manifest.columns, manifest.element.name());
        return say(format_args!("{path} is whole: {rows} x {columns} elements of {element}, {size}"));
    }
    let graph = Graph::open(&runtime, &args.image, GraphOptions { cache_bytes: Some(0), ..GraphOptions::default() })?;
    outcore::check(&graph)?;
    if args.limits.quiet {
        return Ok(());
    }
    let (image, size) = (args.image.display(), bytes_text(graph.image_bytes()));
    say(format_args!("{image} is whole: {} vertices, {} edges, {size}", graph.vertices(), graph.edges()))
}
