//! `outcore info` and `check`: what an image is, and whether it is whole.

use crate::args::{CheckArgs, InfoArgs};
use crate::convert::output_error;
use crate::progress::runtime;
use crate::run::say;
use outcore::io::{bytes_text, escaped};
use outcore::{Error, Graph, GraphOptions, Result, Runtime, RuntimeOptions};
use serde_json::Value;
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
    let graph = Graph::open(&runtime, image, GraphOptions { cache_bytes: Some(0) })?;
    serde_json::to_value(graph.info()).map_err(Error::custom)
}

/// `outcore check`.
pub fn check(args: &CheckArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let graph = Graph::open(&runtime, &args.image, GraphOptions { cache_bytes: Some(0) })?;
    outcore::check(&graph)?;
    if args.limits.quiet {
        return Ok(());
    }
    let (image, size) = (args.image.display(), bytes_text(graph.image_bytes()));
    say(format_args!("{image} is whole: {} vertices, {} edges, {size}", graph.vertices(), graph.edges()))
}
