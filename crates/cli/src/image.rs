//! `outcore info` and `check`: what an image is, and whether it is whole.

use crate::args::{CheckArgs, InfoArgs};
use crate::convert::output_error;
use crate::progress::runtime;
use crate::run::say;
use outcore::array::{AnyManifest, ImageSource, read_any_manifest};
use outcore::io::{bytes_text, escaped};
use outcore::{Error, Graph, GraphOptions, Result, Runtime, RuntimeOptions};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// `outcore info`.
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
    let runtime = Arc::new(Runtime::new(RuntimeOptions { threads: Some(1), ..RuntimeOptions::default() })?);
    if is_array(image) {
        return Ok(array_facts(&ImageSource::open(&runtime, image)?));
    }
    let graph = Graph::open(&runtime, image, GraphOptions { cache_bytes: Some(0) })?;
    serde_json::to_value(graph.info()).map_err(Error::custom)
}

/// Whether there is an image of an array; whatever else there may be is the business of who opens it.
fn is_array(image: &Path) -> bool {
    matches!(read_any_manifest(image), Ok(AnyManifest::Array(_)))
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

/// `outcore check`.
pub fn check(args: &CheckArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    if is_array(&args.image) {
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
    let graph = Graph::open(&runtime, &args.image, GraphOptions { cache_bytes: Some(0) })?;
    outcore::check(&graph)?;
    if args.limits.quiet {
        return Ok(());
    }
    let (image, size) = (args.image.display(), bytes_text(graph.image_bytes()));
    say(format_args!("{image} is whole: {} vertices, {} edges, {size}", graph.vertices(), graph.edges()))
}
