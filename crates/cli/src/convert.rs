//! `outcore import`, `generate` and `export`: graphs into images and back.

use crate::args::{ExportArgs, GenerateArgs, ImportArgs, Limits};
use crate::progress::runtime;
use outcore::generate::{self, GenerateOptions};
use outcore::import::{self, Facts, ImportOptions, ImportReport, InputOptions};
use outcore::io::bytes_text;
use outcore::{Error, Graph, GraphOptions, Result};

/// `outcore import`.
pub fn import(args: &ImportArgs) -> Result<()> {
    let runtime = runtime(&args.limits, args.temporary.clone())?;
    let input = InputOptions {
        format: args.format.clone(),
        ids: args.ids,
        source: args.source.clone(),
        target: args.target.clone(),
        weight: args.weight.clone(),
    };
    let source = import::open(&runtime, &args.inputs, &input)?;
    let options = ImportOptions {
        directed: if args.directed { Some(true) } else { args.undirected.then_some(false) },
        duplicates: args.duplicates,
        self_loops: args.self_loops,
        order: args.order,
        replace: args.replace,
    };
    announce(source.facts(), &options, args.explain, &args.limits);
    if args.explain {
        return Ok(());
    }
    let report = import::import(&runtime, source, &args.image, &options)?;
    tell(&report, &args.limits);
    Ok(())
}

/// `outcore generate`.
pub fn generate(args: &GenerateArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let options = GenerateOptions {
        shape: args.shape,
        scale: args.scale,
        edge_factor: args.edge_factor,
        seed: args.seed,
        weights: args.weights,
    };
    if args.output.extension().is_none_or(|ending| ending != "oc") {
        return generate::write(&runtime, &options, &args.output).map(|_| ());
    }
    let import_options = ImportOptions {
        directed: args.undirected.then_some(false),
        order: args.order,
        replace: args.replace,
        ..ImportOptions::default()
    };
    let report = import::import(&runtime, generate::source(&options)?, &args.output, &import_options)?;
    tell(&report, &args.limits);
    Ok(())
}

/// `outcore export`.
pub fn export(args: &ExportArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let graph = Graph::open(&runtime, &args.image, GraphOptions::default())?;
    let report = outcore::export(&graph, &args.output)?;
    if !args.limits.quiet {
        let files: Vec<_> = report.files.iter().map(|file| file.display().to_string()).collect();
        eprintln!("{} edges, {} isolated vertices in {}", report.edges, report.isolated_vertices, files.join(" and "));
        if report.renumbered {
            eprintln!("note: vertices stand under numbers from 1, for this format has no other ids");
        }
    }
    Ok(())
}

/// Says beforehand what an import will need.
fn announce(facts: &Facts, options: &ImportOptions, explain: bool, limits: &Limits) {
    let need = import::estimate(facts, options);
    if explain {
        let edges = need.edges.map_or("unknown".to_owned(), |edges| format!("about {edges}"));
        println!("format           {}", facts.format);
        println!("edges            {edges}");
        println!("temporary space  {}", bytes_text(need.temporary_bytes));
        println!("image            {}", bytes_text(need.image_bytes));
        println!("memory           {} or more", bytes_text(need.memory_bytes));
    } else if !limits.quiet {
        eprintln!(
            "importing {}: temporary space about {}, image about {}",
            facts.format,
            bytes_text(need.temporary_bytes),
            bytes_text(need.image_bytes)
        );
        facts.notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
}

/// Says what an import made of the input.
fn tell(report: &ImportReport, limits: &Limits) {
    if limits.quiet {
        return;
    }
    let (manifest, stats) = (&report.manifest, &report.stats);
    for path in &report.removed {
        eprintln!("note: removed {}, which a killed process had left", path.display());
    }
    let direction = if manifest.directed { "directed" } else { "undirected" };
    eprintln!("{} vertices, {} {direction} edges", manifest.vertices, manifest.edges);
    let facts = &manifest.import;
    if facts.duplicates > 0 {
        eprintln!("{} duplicate edges: {}", facts.duplicates, facts.duplicates_policy);
    }
    if facts.self_loops > 0 {
        eprintln!("{} self-loops: {}", facts.self_loops, if facts.self_loops_kept { "kept" } else { "dropped" });
    }
    if facts.isolated_vertices > 0 {
        eprintln!("{} isolated vertices", facts.isolated_vertices);
    }
    let entries = manifest.out_lists.entries + manifest.in_lists.map_or(0, |lists| lists.entries);
    eprintln!(
        "image of {} in {} order, {:.2} bytes per stored edge; {:.1} s, peak memory {}",
        bytes_text(stats.image_bytes),
        crate::image::order_name(manifest.order),
        stats.image_bytes as f64 / entries.max(1) as f64,
        stats.seconds,
        bytes_text(stats.memory_peak_bytes)
    );
}

/// A failure to write to the standard output.
pub fn output_error(error: std::io::Error) -> Error {
    outcore::io::Error::file("the standard output", "write to", error).into()
}
