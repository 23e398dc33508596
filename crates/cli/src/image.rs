//! `outcore info` and `check`: what an image is, and whether it is whole.

use crate::args::{CheckArgs, InfoArgs};
use crate::convert::output_error;
use crate::progress::runtime;
use outcore::format::{IdColumn, Order, WeightKind};
use outcore::io::bytes_text;
use outcore::{Graph, GraphOptions, Result, Runtime, RuntimeOptions};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The name of an order of vertices.
pub fn order_name(order: Order) -> &'static str {
    match order {
        Order::Input => "input",
        Order::Degree => "degree",
    }
}

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
        writeln!(out, "{name:20} {text}").map_err(output_error)?;
    }
    Ok(())
}

fn facts(image: &Path) -> Result<Value> {
    let runtime = Arc::new(Runtime::new(RuntimeOptions { threads: Some(1), ..RuntimeOptions::default() })?);
    let graph = Graph::open(&runtime, image, GraphOptions { cache_bytes: Some(0) })?;
    let manifest = graph.manifest();
    let in_lists = manifest.in_lists.as_ref();
    let entries = manifest.out_lists.entries + in_lists.map_or(0, |lists| lists.entries);
    let bytes = graph.image_bytes();
    Ok(json!({
        "vertices": manifest.vertices,
        "edges": manifest.edges,
        "directed": manifest.directed,
        "parallel_edges": manifest.parallel_edges,
        "weights": manifest.weights.as_ref().map(|weights| weights.name.as_str()),
        "weight_type": manifest.weights.as_ref().map(|weights| match weights.kind {
            WeightKind::I64 => "i64",
            WeightKind::F64 => "f64",
        }),
        "ids": match &manifest.ids {
            IdColumn::Range { .. } | IdColumn::I64 { .. } => "i64",
            IdColumn::U64 { .. } => "u64",
            IdColumn::String { .. } => "string",
        },
        "order": order_name(manifest.order),
        "max_out_degree": manifest.out_lists.max_degree,
        "max_in_degree": in_lists.map_or(manifest.out_lists.max_degree, |lists| lists.max_degree),
        "isolated_vertices": manifest.import.isolated_vertices,
        "self_loops": manifest.import.self_loops,
        "self_loops_kept": manifest.import.self_loops_kept,
        "duplicates": manifest.import.duplicates,
        "duplicates_policy": manifest.import.duplicates_policy,
        "input_format": manifest.import.input_format,
        "stored_edges": entries,
        "pages": manifest.out_lists.pages + in_lists.map_or(0, |lists| lists.pages),
        "image_bytes": bytes,
        "bytes_per_edge": bytes as f64 / entries.max(1) as f64,
        "index_bytes": graph.index_bytes(),
        "format_version": manifest.format_version,
    }))
}

/// `outcore check`.
pub fn check(args: &CheckArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let graph = Graph::open(&runtime, &args.image, GraphOptions { cache_bytes: Some(0) })?;
    outcore::check(&graph)?;
    println!(
        "{} is whole: {} vertices, {} edges, {}",
        args.image.display(),
        graph.vertices(),
        graph.edges(),
        bytes_text(graph.image_bytes())
    );
    Ok(())
}
